"""Stability of steady motions and rests, and the modes about them: closed forms, and the same part beside others."""

import numpy as np
import pytest

import mechanics
from mechanics import Body, Frame, Inertia, JointData, Mechanism, ModelError, Tree
from mechanics.constraints.loops import spherical
from mechanics.constraints.wheels import wheel
from mechanics.forces import joint_spring, servo, spring_damper, thruster
from mechanics.joints import (
    Free,
    Gimbal,
    Motion,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
)
from mechanics.linear import EquilibriumError

G = 9.81
Y = (0.0, 1.0, 0.0)


def bob(mass=1.0, length=1.0):
    return Inertia.about_com(mass, (0, 0, -length), np.zeros((3, 3)))


def double_pendulum():
    return Tree([Body("a", Revolute(Y), inertia=bob()), Body("b", Revolute(Y), "a", (0, 0, -1), inertia=bob())])


# --- steady motions ---------------------------------------------------------------------------------------------------


def test_sleeping_top():
    """Stable above ω² = 4 A m g l/C²; below it λ = ±√(m g l/A − (Cω/2A)²) + i(…) in the axes of the top."""
    A, C, m, length = 0.05, 0.02, 1.0, 0.2
    top = Tree([Body("top", Spherical(), inertia=Inertia.about_origin(m, (0, 0, length), np.diag([A, A, C])))])
    critical = np.sqrt(4 * A * m * G * length) / C
    for part, verdict in ((0.9, "unstable"), (0.999, "unstable"), (1.001, "marginal"), (1.3, "marginal")):
        w = part * critical
        found = mechanics.stability(top, (top.neutral(), np.array([0, 0, w])))
        root = np.sqrt(complex(m * G * length / A - (C * w / (2 * A)) ** 2))
        true = 1j * (C / (2 * A) - 1) * w + np.array([root, -root])
        assert (found.verdict, found.zeros) == (verdict, 2)
        for value in true:
            assert np.abs(found.eigenvalues - value).min() < 1e-9 * critical


def test_conical_pendulum():
    """Ω² = g/(l cos θ); it nods with Ω √(1 + 3 cos²θ)."""
    length, angle = 0.8, 0.6
    inertia = Inertia.about_com(1.0, (0, 0, -length), np.zeros((3, 3)))
    tree = Tree([
        Body("turn", Revolute((0, 0, 1)), inertia=Inertia.about_com(1e-9, (0, 0, 0), np.diag([1e-9] * 3))),
        Body("rod", Revolute(Y), "turn", inertia=inertia),
    ])  # fmt: skip
    rate = np.sqrt(G / (length * np.cos(angle)))
    found = mechanics.stability(tree, (np.array([0.0, angle]), np.array([rate, 0.0])))
    assert found.verdict == "marginal"
    assert found.eigenvalues.imag.max() == pytest.approx(rate * np.sqrt(1 + 3 * np.cos(angle) ** 2), rel=1e-7)


def test_rolling_disk():
    """Upright it is stable above ω² = D m g r/(C (C + m r²))."""
    r, m = 0.3, 2.0
    C, D = 0.5 * m * r * r, 0.25 * m * r * r
    tree = Tree([
        Body("carriage", Planar()),
        Body("lift", Prismatic((0, 0, 1)), "carriage", (0, 0, r)),
        Body("lean", Revolute((1, 0, 0)), "lift"),
        Body("disk", Revolute(Y), "lean", inertia=Inertia.about_com(m, (0, 0, 0), np.diag([D, C, D]))),
    ])  # fmt: skip
    made = Mechanism(tree, [wheel(Frame.with_axis("disk", axis=Y), r, name="disk")])
    critical = np.sqrt(D * m * G * r / (C * (C + m * r * r)))
    for part, verdict in ((0.5, "unstable"), (0.99, "unstable"), (1.01, "marginal"), (2.0, "marginal")):
        w = part * critical
        found = mechanics.stability(made, (made.home, made.velocities(made.home, {"disk_joint": w}).v))
        true = np.sqrt(complex((m * G * r - (C + m * r * r) * C * w * w / D) / (D + m * r * r)))
        assert found.verdict == verdict
        assert np.abs(found.eigenvalues - true).min() < 1e-11


def test_what_is_no_steady_motion():
    spinning = Tree([Body("rod", Revolute(Y), inertia=bob())])
    with pytest.raises(ModelError, match=r"does not persist"):
        mechanics.stability(spinning, (np.array([0.3]), np.array([1.0])))
    for asked in (mechanics.stability, mechanics.modes):
        with pytest.raises(ModelError, match=r"no steady motion|does not persist"):
            asked(spinning, (np.array([0.0]), np.array([1.0])))
    uneven = Tree([Body("top", Spherical(), inertia=Inertia.about_origin(1.0, (0, 0, 0), np.diag([0.05, 0.04, 0.02])))])
    assert mechanics.stability(uneven, (uneven.neutral(), np.array([0, 3.0, 0]))).verdict == "unstable"
    shaken = Mechanism(
        spinning, elements=[servo("rod_joint", stiffness=5.0, damping=0.0, target=Motion((0.0,), ((0.3, 2.0, 0.0),)))]
    )
    with pytest.raises(ModelError, match="does not persist"):
        mechanics.modes(shaken, [0.0])


@pytest.mark.parametrize("mode", [2, -3, 0.5, "a"])
def test_modes_that_are_not_there_are_named(mode):
    found = mechanics.modes(double_pendulum(), np.zeros(2))
    assert found.shape(-1) == found.shape(1)
    with pytest.raises(IndexError, match=r"mode: .*, of 2 modes, numbered from 0"):
        found.shape(mode)


ARM = Inertia.about_com(1.0, (0.3, 0.0, 0.0), np.diag([0.01, 0.02, 0.03]))


def test_equilibria_are_found_beyond_the_lock_of_a_gimbal():
    """There forces seem to balance that turn the body about the axis that is lost: Newton's method ended there."""
    generator = np.random.default_rng(0)
    for _ in range(25):
        point, guess = generator.normal(size=3) * 0.5, generator.uniform(-1.0, 1.0, 3)
        spring = spring_damper(Frame(None, point), Frame("b", (0.3, 0.1, 0.0)), 5.0, length=0.1)
        for joint in (Gimbal(), Spherical()):
            mechanism = Mechanism(Tree([Body("b", joint, inertia=ARM)]), elements=[spring])
            found = mechanics.equilibrium(mechanism, guess if isinstance(joint, Gimbal) else None)
            R = mechanics.body_poses(mechanism, found.q)[1][0]
            end = R @ (0.3, 0.1, 0.0)
            away = end - point
            pull = -5.0 * (np.linalg.norm(away) - 0.1) * away / np.linalg.norm(away)
            moment = np.cross(end, pull) + np.cross(R @ (0.3, 0.0, 0.0), (0.0, 0.0, -G))
            assert np.abs(moment).max() < 1e-7  # about all three axes


def test_an_equilibrium_in_the_lock_of_a_gimbal_is_refused():
    tree = Tree([Body("b", Gimbal(), inertia=ARM)])  # yaw, pitch, roll: it hangs where yaw and roll are one
    for guess in ([0.1, 0.2, 0.3], [0.1, 1.2, 0.3]):
        with pytest.raises(EquilibriumError, match=r"motions of 'b_joint' move no inertia there.*Spherical"):
            mechanics.equilibrium(tree, guess)


def test_a_guess_that_moves_no_inertia_is_a_guess():
    """A mass on a slide that turns, drawn in to the axis."""
    tree = Tree(
        [Body("arm", Revolute(Y)), Body("bob", Prismatic((0, 0, 1)), "arm", inertia=Inertia.point(1.0, (0, 0, 0)))]
    )
    spring = spring_damper(Frame(None, (0.0, 0.0, 0.3)), Frame("bob"), 50.0, length=0.1)
    found = mechanics.equilibrium(Mechanism(tree, elements=[spring]), [0.0, 0.0])
    length = 0.2 - G / 50.0  # the spring hangs down to it, from 0.3 m
    assert found.stability == "stable"
    assert np.allclose(found.q, [0.0, length], atol=1e-12)
    assert np.allclose(found.stiffness, [G / (0.3 - length), 50.0])  # as a pendulum on the spring, and along it


def flat_parallelogram(angle, off=0.0):
    """Two equal cranks on each other's level with a coupler between: flat at 0, where it may fold over; at rest there
    without weight, held by a spring.
    """
    bar = Inertia.about_com(1.0, (0.5, 0, 0), 0.1 * np.eye(3))
    bodies = [
        Body("a", Revolute(Y), inertia=bar),
        Body("b", Revolute(Y), "a", (1, 0, 0), inertia=bar),
        Body("c", Revolute(Y), None, (2, 0, 0), inertia=bar),
    ]
    tree = Tree(bodies, gravity=(0, 0, 0))
    pin = spherical(Frame("b", (2, 0, 0)), Frame("c", (1, 0, 0)), "pin")
    return Mechanism.assembled(
        tree, [pin], [angle, -angle, angle], ["a_joint"], [joint_spring("a_joint", 3.0, rest=off)]
    )


def test_next_to_nothing_of_what_closures_hold_is_a_singular_position():
    """The stiffness there was that of directions which rounding had chosen."""
    for off in (1e-8, 1e-10):
        with pytest.raises(ModelError, match=r"singular position: 'pin.*' holds \S+ of what it usually does"):
            mechanics.equilibrium(flat_parallelogram(0.5, off))
    found = mechanics.equilibrium(made := flat_parallelogram(0.5, 0.1))
    assert found.q[0] == pytest.approx(0.1, abs=1e-9)
    lone = 0.1 + 0.25 + 0.1 + 0.25 + 1.0  # the cranks about their ends, the coupler along its circle
    assert found.stiffness == pytest.approx([3.0 / lone])
    for angle in (1e-8, 1e-10):
        with pytest.raises(ModelError, match="singular position"):
            mechanics.linearise(made, [angle, -angle, angle])


def test_modes_name_the_drive_that_moves():
    """An equilibrium takes drives as if they stood still; to "find one" by it was all that was said."""
    arm = Tree([Body("arm", Revolute((0, 1, 0)), inertia=Inertia.point(1.0, (0, 0, -0.5)))])
    target = Motion(harmonics=[(0.3, 2.0, 0.1)])
    driven = Mechanism(arm, elements=[servo("arm_joint", stiffness=50.0, damping=2.0, target=target)])
    with pytest.raises(ModelError, match=r"Servo on joint 'arm_joint' moves, .* a time t at which it rests"):
        mechanics.modes(driven, mechanics.equilibrium(driven))


# --- what stands beside, units, and digits ----------------------------------------------------------------------------


def alone():
    """Bodies, elements, q, v and the verdict of small models; None of those that are not steady."""
    hung = Body("bob", Revolute(Y), inertia=bob(), data=JointData(damping=0.5))
    upright = Body("bob", Revolute(Y), inertia=bob(), data=JointData(damping=2000.0))
    k, length = 3.0, 0.7
    column = [
        Body("a", Revolute((0, 0, 1)), inertia=Inertia.point(2.6, (length, 0, 0))),
        Body("b", Revolute((0, 0, 1)), "a", (length, 0, 0), inertia=Inertia.point(1.3, (length, 0, 0))),
    ]
    springs = [joint_spring(f"{name}_joint", k, damping=0.02) for name in "ab"]
    follower = thruster(Frame("b", (length, 0, 0)), force=(-1, 0, 0), command=1.8 * k / length)
    turned = [Body("disk", Revolute((0, 0, 1)), inertia=Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3)))]
    turned += [Body("mass", Prismatic((1, 0, 0)), "disk", inertia=Inertia.point(1.0))]
    ends = [spring_damper(Frame(None, (x, 0, 0)), Frame("mass"), 3.0, length=4.0) for x in (5.0, -5.0)]
    light = Body("bob", Revolute(Y), inertia=bob(1e-3))
    almost = joint_spring("bob_joint", 1e-3 * G * (1 - 1e-6), rest=np.pi)
    return {
        "hangs": ([hung], [], [0.0], [0.0], "stable"),
        "stands in honey": ([upright], [], [np.pi], [0.0], "unstable"),
        "almost held": ([light], [almost], [np.pi], [0.0], "unstable"),
        "flutters": (column, [*springs, follower], [0.0, 0.0], [0.0, 0.0], "unstable"),
        "falls": ([hung], [], [0.5], [0.0], None),
        "swings through": ([hung], [], [0.0], [1e-3], None),
        "turns in springs": (turned, ends, [0.0, 0.0], [2.0, 0.0], None),
    }


def verdict_beside(name, other, spring, spin):
    """What is said of one of them beside a body on a spring, and a rotor that nothing else touches."""
    bodies, elements, q, v, _ = alone()[name]
    rotor = Body("rotor", Revolute((0, 0, 1)), inertia=Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3)))
    part = Body("part", Prismatic((1, 0, 0)), inertia=Inertia.point(other))
    stiff = joint_spring("part_joint", spring, damping=1.0)
    made = Mechanism(Tree([*bodies, rotor, part]), elements=[*elements, stiff])
    try:
        found = mechanics.stability(made, ([*q, 0.0, 0.0], [*v, spin, 0.0]))
    except ModelError:
        return None, None
    return found.verdict, found.growth


@pytest.mark.parametrize("spin", [0.0, 5.0, 1e5])
@pytest.mark.parametrize("name", alone())
def test_a_verdict_is_that_of_the_part_whatever_else_the_model_has(name, spin):
    wanted = alone()[name][-1]
    for mass, spring in ((0.5, 10.0), (0.5, 1e8), (0.5, 1e12), (0.5, 1e15), (1e7, 1e7)):
        verdict, growth = verdict_beside(name, mass, spring, spin)
        assert verdict == wanted, (mass, spring)
        if wanted == "unstable":
            assert growth == pytest.approx(verdict_beside(name, 0.5, 10.0, 0.0)[1], rel=1e-3)


def test_an_equilibrium_that_flutters_does_so_beside_what_is_stiff():
    bodies, elements, q, _, _ = alone()["flutters"]
    part = Body("part", Prismatic((1, 0, 0)), inertia=Inertia.point(0.5))
    for spring in (10.0, 1e12):
        made = Mechanism(Tree([*bodies, part]), elements=[*elements, joint_spring("part_joint", spring, damping=1.0)])
        assert mechanics.equilibrium(made, [*q, 0.0]).stability == "unstable"


@pytest.mark.parametrize("pace", [1.0, 1e-4, 1e4])
def test_what_is_no_rest_is_none_at_any_pace(pace):
    """Forces and dampers of a body on a spring, and the weight of a pendulum, in other units of time."""
    spring = joint_spring("mass_joint", 100.0 * pace**2, damping=0.1 * pace)
    slide = Body("mass", Prismatic((1, 0, 0)), inertia=Inertia.point(2.0))
    mass = Mechanism(Tree([slide], gravity=(0.0, 0.0, 0.0)), elements=[spring])
    pendulum = Tree([Body("bob", Revolute(Y), inertia=bob(1.0, 10.0))], gravity=(0.0, 0.0, -G * pace**2))
    assert mechanics.stability(mass, [0.0]).verdict == "stable"
    assert mechanics.stability(pendulum, [0.0]).verdict == "marginal"
    for model, off in ((mass, 0.05), (mass, 1e-6), (pendulum, 1.0), (pendulum, 2.0), (pendulum, 1e-6)):
        with pytest.raises(ModelError, match=r"does not persist: v̇ of \w+_joint is -"):
            mechanics.stability(model, [off])


def test_a_steady_turn_that_is_known_to_some_digits_is_the_steady_turn_beside_it():
    """A disk with a frame on its axle rolls in a leaning turn: what v̇ was left scattered zeros by its root, to either
    side; the rate of the lean from the moments about the contact.
    """
    m, light, r, lean, turn = 2.0, 0.1, 0.5, 0.63, 3.3
    A, C = m * r * r / 4, m * r * r / 2
    tree = Tree([
        Body("frame", Free(), inertia=Inertia.about_com(light, (0, 0, 0), 0.01 * np.eye(3))),
        Body("disk", Revolute(Y), "frame", inertia=Inertia.about_com(m, (0, 0, 0), np.diag([A, C, A]))),
    ])  # fmt: skip
    made = Mechanism(tree, [wheel(Frame.with_axis("disk", axis=Y), r)], home=[0, 0, r, 1, 0, 0, 0, 0])
    q = np.array([0, -r * np.sin(lean), r * np.cos(lean), np.cos(lean / 2), np.sin(lean / 2), 0, 0, 0])
    inertia = C + (m + light) * r * r
    spin = (A * turn**2 * np.tan(lean) - (m + light) * G * r * np.sin(lean)) / (inertia * turn)

    def found(spin):
        across = turn * np.tan(lean)
        return mechanics.stability(made, (q, np.array([spin * r, 0, 0, 0, across, turn, spin - across])))

    exact = found(spin)
    assert (exact.verdict, exact.zeros, len(exact.eigenvalues)) == ("marginal", 6, 4)
    for off in (3e-10, -3e-10, 1e-8, -1e-8):
        near = found(spin * (1.0 + off))
        assert (near.verdict, near.zeros) == ("marginal", 6)
        np.testing.assert_allclose(np.sort(near.eigenvalues.imag), np.sort(exact.eigenvalues.imag), rtol=1e-6)
    for off in (1e-5, -1e-5):
        with pytest.raises(ModelError, match="does not persist"):
            found(spin * (1.0 + off))


def test_what_changes_as_it_moves_on_is_named():
    rod = Tree([Body("rod", Revolute(Y), inertia=bob())])
    with pytest.raises(ModelError, match=r"v̇ of rod_joint is zero and changes by -19\.62 rad/s³"):
        mechanics.stability(rod, (np.array([0.0]), np.array([2.0])))
