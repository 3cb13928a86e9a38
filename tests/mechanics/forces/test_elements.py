"""Force elements: each accounts for its energy to rounding, acts equally on both bodies, and refuses nonsense."""

from dataclasses import dataclass

import numpy as np
import pytest

import mechanics
from integrators import integrate
from liegroup.compile import helper
from mechanics import Body, Frame, Inertia, ModelError, Tree
from mechanics.closed_trees import packing
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.projection import closed_power
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.couplings import gear
from mechanics.constraints.loops import holonomic, revolute, spherical
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import (
    KINDS,
    Capsule,
    Ellipsoid,
    OnBodies,
    OnJoint,
    Plane,
    Sphere,
    Tendon,
    Wheel,
    actuator,
    bushing,
    cable,
    compliant,
    contact,
    dry_friction,
    joint_spring,
    joint_stop,
    motor,
    polynomial_spring,
    register,
    servo,
    spring_damper,
    thruster,
    torsion_spring,
)
from mechanics.forces.wrench import Wrench
from mechanics.joints import Continuous, Free, Motion, Planar, Prismatic, Revolute
from mechanics.mechanism import Mechanism

STEP = 1e-30j
GROUND = Frame.with_axis(None, (0.1, 0.2, -0.4), (0.2, -0.1, 1.0))


def tree():
    """A free body that carries an arm of a turn and a slide, and a second body on the base."""
    rng = np.random.default_rng(0)
    inertia = Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.3, 0.4, 0.5]))
    return Tree(
        [
            Body("hull", Free(), inertia=inertia),
            Body("arm", Revolute((0.3, 1.0, -0.2)), "hull", rng.normal(size=3), inertia=inertia),
            Body("slider", Prismatic((1.0, 0.5, 0.2)), "arm", rng.normal(size=3), inertia=inertia),
            Body("door", Revolute((0.0, 0.2, 1.0)), None, rng.normal(size=3), inertia=inertia),
        ]
    )


HULL, DOOR, TIP = Frame("hull", (0.2, 0.1, -0.3)), Frame("door", (0.4, 0.0, 0.1)), Frame("slider", (0.1, 0.1, 0.2))
BALL, LEANING = Sphere(HULL, 5.0), Frame.with_axis("hull", (0.2, 0.1, -0.3), (0.4, -0.3, 1.0))
SOFT = {"stiffness": 300.0, "damping": 7.0}
ELEMENTS = {
    "joint spring": joint_spring("arm_joint", 20.0, rest=0.3, damping=0.7),
    "spring of a tendon": joint_spring(Tendon({"arm_joint": 0.8, "slider_joint": -1.5}), 20.0, rest=0.3, damping=0.7),
    "geared servo": servo(Tendon({"arm_joint": 3.0}), stiffness=2.0, damping=0.7, target=Motion((0.1, 0.4))),
    "actuator": actuator("arm_joint", gain=(3.0, 0.4, -0.3), bias=(0.1, -20.0, -2.0), command=Motion((0.5, 2.0))),
    "actuator at the end of its ranges": actuator(
        Tendon({"arm_joint": 2.0, "door_joint": 0.5}), command=9.0, command_range=(-4.0, 4.0), force_range=(-1.0, 3.0)
    ),
    "stiffening spring": polynomial_spring("arm_joint", (5.0, 1.0, 9.0), rest=0.2, damping=(0.1, 0.2, 0.3)),
    "slack spring": polynomial_spring(
        Tendon({"arm_joint": 1.0, "door_joint": 1.0}), 20.0, rest=(-0.1, 0.1), damping=0.2
    ),
    "lower stop": joint_stop("arm_joint", lower=5.0, stiffness=30.0, damping=0.2),
    "upper stop": joint_stop("slider_joint", lower=-9.0, upper=-4.0, stiffness=30.0, damping=3.0, law="kelvin_voigt"),
    "dry friction": dry_friction("arm_joint", force=4.0, slip_speed=0.5),
    "friction that sticks": dry_friction("slider_joint", force=4.0, slip_speed=0.5, static_force=6.0),
    "servo": servo("arm_joint", stiffness=20.0, damping=0.7, target=Motion((0.1, 0.4))),
    "motor": motor("slider_joint", Motion((0.5,), ((2.0, 3.0, 0.1),))),
    "force on a body": [
        Wrench(HULL, (0.0, 1.0, 0.0), (0.0, 0.0, 0.0), True, Motion((2.0,), ((1.0, 3.0, 0.1),))),
        Wrench(TIP, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), False, Motion((0.5,))),
    ],
    "thruster": thruster(TIP, force=(0.2, 1.0, -0.5), moment=(0.3, 0.0, 0.1), gain=3.0, bias=0.5, command=2.0),
    "torsion spring": torsion_spring(HULL, DOOR, 30.0, damping=0.7),
    "spring between bodies": spring_damper(HULL, DOOR, 50.0, damping=3.0, length=0.5),
    "spring to the ground": spring_damper(TIP, Frame(None, (1.0, 1.0, 1.0)), 50.0, damping=3.0, length=0.5),
    "taut cable": cable(HULL, DOOR, 50.0, length=0.05, damping=3.0),
    "bushing": bushing(HULL, DOOR, (10.0, 20.0, 30.0, 1.0, 2.0, 3.0), damping=0.5),
    "compliant hinge": compliant(revolute(DOOR, TIP), 40.0, damping=2.0),
    "given as functions": compliant(
        holonomic(HULL, DOOR, lambda x, R: [x[0] * x[1] + 0.3 * x[2] ** 3 - 0.2 * R[0][1], x[2] + R[1][2]]),
        (40.0, 10.0),
        damping=(2.0, 0.5),
    ),
    "point on the ground": contact(TIP, GROUND, law="kelvin_voigt", **SOFT),
    "rolling sphere": contact(BALL, GROUND, law="kelvin_voigt", friction=0.5, slip_speed=0.3, **SOFT),
    "Stribeck friction": contact(
        BALL, GROUND, law="kelvin_voigt", friction=0.5, static_friction=0.8, slip_speed=0.3, **SOFT
    ),
    "Hunt and Crossley": contact(BALL, GROUND, stiffness=300.0, damping=0.2, friction=0.4),
    "Hertz": contact(BALL, GROUND, law="hertz", stiffness=300.0, damping=0.2),
    "sphere on a moving body": contact(
        BALL, Frame.with_axis("door", axis=(0.0, 1.0, 0.3)), law="soft", width=1.0, friction=0.5, slip_speed=0.3, **SOFT
    ),
    "ellipsoid on the ground": contact(
        Ellipsoid(LEANING, (5.0, 4.0, 6.0)), GROUND, stiffness=300.0, damping=0.2, friction=0.5, slip_speed=0.3
    ),
    "wheel on a moving body": contact(
        Wheel(LEANING, 4.0, 1.0), Plane(DOOR), stiffness=300.0, damping=0.2, friction=0.5, slip_speed=0.3
    ),
    "capsule on the ground": contact(
        Capsule(LEANING, 4.0, 2.0), GROUND, stiffness=300.0, damping=0.2, friction=0.5, slip_speed=0.3
    ),
    "two spheres": contact(BALL, Sphere(DOOR, 3.0), law="soft", width=1.0, friction=0.5, slip_speed=0.3, **SOFT),
    "two capsules": contact(
        Capsule(LEANING, 4.0, 2.0), Capsule(DOOR, 3.0, 1.0), stiffness=300.0, damping=0.2, friction=0.5, slip_speed=0.3
    ),
    "capsule and point": contact(
        Capsule(LEANING, 4.0, 2.0), DOOR, stiffness=300.0, damping=0.2, friction=0.5, slip_speed=0.3
    ),
}


def state(mechanism, seed=1):
    rng = np.random.default_rng(seed)
    q = mechanism.tree.random_configuration(rng)
    return q, rng.normal(size=mechanism.tree.nv)


def run(entry, mechanism, y, size, t=0.0, dtype=float):
    packed = mechanism.packed()
    out = np.zeros(size, dtype=dtype)
    entry.python(
        t, np.array(y, dtype=dtype), packed.parameters, packed.structure, np.zeros(packed.work_shape, dtype=dtype), out
    )
    return out


def power_balance(mechanism, q, v, t=0.7):
    """dE/dt along the motion, by a complex step, and the power that the elements account for."""
    tree = mechanism.tree
    p = mass_matrix(tree, q) @ v
    rates = run(closed, mechanism, np.concatenate([q, p]), 2 * tree.nv, t)
    moved = np.concatenate([moved_by(tree, q.astype(complex), STEP * rates[: tree.nv]), p + STEP * rates[tree.nv :]])
    energy = run(closed_power, mechanism, moved, 2, t, complex)[0]
    return energy.imag / 1e-30, run(closed_power, mechanism, np.concatenate([q, p]), 2, t)[1]


@pytest.mark.parametrize("name", ELEMENTS)
def test_energy_changes_by_the_accounted_power(name):
    mechanism, scale = Mechanism(tree(), elements=[ELEMENTS[name]]), 0.0
    for seed in range(1, 5):
        change, power = power_balance(mechanism, *state(mechanism, seed))
        assert change == pytest.approx(power, abs=1e-10 * (1 + abs(power)))
        scale = max(scale, abs(power))
    assert scale > 1e-3


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_element_acts(name):
    with_it, without = Mechanism(tree(), elements=[ELEMENTS[name]]), Mechanism(tree())
    q, v = state(with_it)
    y = np.concatenate([q, mass_matrix(with_it.tree, q) @ v])
    assert np.abs(run(closed, with_it, y, 2 * len(v)) - run(closed, without, y, 2 * len(v))).max() > 1e-3


def test_damped_elements_only_lose_energy():
    for name in (name for name, group in ELEMENTS.items() if not any(element.drives for element in group)):
        mechanism = Mechanism(tree(), elements=[ELEMENTS[name]])
        assert all(power_balance(mechanism, *state(mechanism, seed))[1] <= 0.0 for seed in range(6))


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_element_keeps_its_account_as_those_of_users_are_asked_to(name, monkeypatch):
    monkeypatch.setattr(packing, "is_added", lambda kind: True)
    Mechanism(tree(), elements=[ELEMENTS[name]]).packed()


def test_joint_damping_of_the_tree_is_accounted():
    from mechanics import JointData

    bodies = [Body("a", Revolute((0, 1, 0)), inertia=Inertia.point(1.0, (1.0, 0, 0)), data=JointData(damping=0.3))]
    change, power = power_balance(Mechanism(Tree(bodies)), np.array([0.4]), np.array([2.0]))
    assert power == pytest.approx(-0.3 * 4.0)
    assert change == pytest.approx(power, abs=1e-12)


def test_internal_forces_leave_the_total_momentum_of_a_free_pair_alone():
    """A bushing between two free bodies: the momenta in space, linear and angular, do not change."""
    inertia = Inertia.about_com(1.0, (0.1, 0.2, 0.0), np.diag([0.2, 0.3, 0.4]))
    pair = Tree([Body("a", Free(), inertia=inertia), Body("b", Free(), inertia=inertia)], gravity=(0, 0, 0))
    mechanism = Mechanism(pair, elements=[bushing(Frame("a", (0.3, 0, 0)), Frame("b", (0, 0.2, 0)), 5.0, damping=0.4)])
    q, v = state(mechanism)
    p = mass_matrix(pair, q) @ v
    rates = run(closed, mechanism, np.concatenate([q, p]), 24)

    def total(q, p):
        from mechanics.algebra.spatial import rotation_from_quaternion

        parts = []
        for i in range(2):
            x, R = q[7 * i : 7 * i + 3], rotation_from_quaternion(q[7 * i + 3 : 7 * i + 7])
            force, moment = R @ p[6 * i : 6 * i + 3], R @ p[6 * i + 3 : 6 * i + 6]
            parts.append(np.concatenate([force, moment + np.cross(x, force)]))
        return sum(parts)

    moved = total(moved_by(pair, q.astype(complex), STEP * rates[:12]), p + STEP * rates[12:])
    assert np.abs(moved.imag / 1e-30).max() < 1e-12


def test_a_sphere_in_the_air_feels_nothing():
    mechanism = Mechanism(
        tree(), elements=[contact(Sphere(HULL, 0.1), Frame(None, (0, 0, -100.0)), friction=0.5, **SOFT)]
    )
    q, v = state(mechanism)
    y = np.concatenate([q, mass_matrix(mechanism.tree, q) @ v])
    assert np.array_equal(run(closed, mechanism, y, 18), run(closed, Mechanism(tree()), y, 18))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: joint_spring("arm_joint", -1.0), ModelError, "stiffness"),
        (lambda: joint_stop("arm_joint", stiffness=1.0), ModelError, "no stop"),
        (lambda: joint_stop("arm_joint", lower=1.0, upper=1.0, stiffness=1.0), ModelError, "lower = 1.0"),
        (lambda: joint_stop("arm_joint", lower=np.inf, stiffness=1.0), ValueError, "lower"),
        (lambda: joint_stop("arm_joint", lower=0.0, stiffness=-1.0), ModelError, "stiffness"),
        (lambda: joint_stop("arm_joint", lower=0.0, stiffness=1.0, law="springy"), ValueError, "springy"),
        (lambda: joint_stop("arm_joint", lower=0.0, stiffness=1.0, width=1.0), ValueError, "width"),
        (lambda: contact(BALL, Sphere(DOOR, 0.0), **SOFT), ValueError, "radius"),
        (lambda: contact(Ellipsoid(HULL, (1.0, 0.0, 1.0)), GROUND, **SOFT), ModelError, "semi_axes"),
        (lambda: contact(HULL, Sphere(Frame("hull"), 1.0), **SOFT), ModelError, "both shapes are on 'hull'"),
        (lambda: contact(Wheel(HULL, 1.0), Sphere(DOOR, 1.0), **SOFT), ModelError, "Wheel and Sphere"),
        (lambda: contact(Plane(HULL), Plane(DOOR), **SOFT), ModelError, "Plane and Plane"),
        (lambda: contact(BALL, GROUND, stiffness=-1.0), ModelError, "stiffness"),
        (lambda: contact("hull", GROUND, **SOFT), TypeError, "first"),
        (
            lambda: Mechanism(tree(), elements=[contact(Sphere(Frame("foot"), 1.0), GROUND, **SOFT)]).packed(),
            ModelError,
            "unknown body 'foot'",
        ),
        (lambda: dry_friction("arm_joint", force=-1.0), ModelError, "force"),
        (lambda: dry_friction("arm_joint", force=1.0, slip_speed=0.0), ValueError, "slip_speed"),
        (lambda: dry_friction("arm_joint", force=1.0, static_force=0.5), ModelError, "static_force"),
        (lambda: contact(HULL, GROUND, law="sticky", **SOFT), ValueError, "sticky"),
        (lambda: contact(HULL, GROUND, slip_speed=0.0, **SOFT), ValueError, "slip_speed"),
        (lambda: contact(HULL, GROUND, friction=0.5, static_friction=0.4, **SOFT), ValueError, "static_friction"),
        (
            lambda: Mechanism(tree(), elements=[spring_damper(Frame("wheel"), HULL, 1.0)]).packed(),
            ModelError,
            "unknown body 'wheel'",
        ),
        (
            lambda: Mechanism(tree(), elements=[spring_damper(Frame("wheel"), HULL, 1.0)]).problem(),
            ModelError,
            "unknown body 'wheel'",
        ),
        (
            lambda: Mechanism(tree(), elements=[motor("hull_joint", Motion((1.0,)))]).packed(),
            ModelError,
            "6 degrees of freedom",
        ),
    ],
)
def test_nonsense_is_refused_with_a_reason(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_springs_do_not_act_on_angles_of_a_circle():
    """They would jump with every turn; dampers and motors may."""
    wheel = Tree([Body("wheel", Continuous(), inertia=Inertia.about_com(1.0, (0.1, 0.0, 0.0), np.eye(3)))])
    stop = joint_stop("wheel_joint", upper=1.0, stiffness=20.0)
    for element in (
        stop,
        joint_spring("wheel_joint", 20.0),
        servo("wheel_joint", stiffness=20.0, damping=0.7, target=Motion((0.1, 0.4))),
    ):
        with pytest.raises(ModelError, match="turns do not count on a circle"):
            Mechanism(wheel, elements=[element]).problem()
    friction = dry_friction("wheel_joint", force=0.2)
    allowed = [friction, joint_spring("wheel_joint", 0.0, damping=0.3), motor("wheel_joint", Motion((0.5,)))]
    Mechanism(wheel, elements=allowed).problem()


def test_a_spring_given_as_a_function_is_the_spring():
    """c = |x| − l between two frames, against `spring_damper`."""
    stiffness, damping, length = 50.0, 3.0, 0.5
    given = holonomic(HULL, DOOR, lambda x, R: [(x[0] ** 2 + x[1] ** 2 + x[2] ** 2) ** 0.5 - length], "spring")
    ones = [
        spring_damper(HULL, DOOR, stiffness, damping=damping, length=length),
        compliant(given, stiffness, damping=damping),
    ]
    rates = []
    for elements in ones:
        mechanism = Mechanism(tree(), elements=[elements])
        q, v = state(mechanism)
        problem = mechanism.problem(q, v)
        out = np.zeros(problem.dimension)
        closed.python(0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
        rates.append(out)
    np.testing.assert_allclose(rates[1], rates[0], rtol=1e-12, atol=1e-12 * np.abs(rates[0]).max())
    assert np.abs(rates[0]).max() > 1.0


def test_a_coupling_of_joints_cannot_be_compliant():
    with pytest.raises(ModelError, match="couples joints"):
        compliant(gear("arm_joint", "door_joint", 2.0), 10.0)


def test_every_kind_has_an_example():
    assert {type(e) for elements in ELEMENTS.values() for e in elements} == set(KINDS)


def test_a_kind_that_is_no_kind_is_refused():
    class Lawless(OnJoint):
        pass

    with pytest.raises(TypeError, match=r"Lawless\.law: expected staticmethod"):
        register(Lawless)
    with pytest.raises(TypeError, match="derive it from OnJoint, OnEquation, OnBodies or OnScrew"):
        register(int)
    with pytest.raises(ModelError, match="compiled loops do not know it"):
        Mechanism(tree(), elements=[[Lawless("arm_joint")]]).packed()


def test_a_law_that_cannot_be_called_is_refused_by_its_name():
    """It spoiled the others of its place, which are compiled together with it."""

    def made(function, place=OnJoint):
        @dataclass(frozen=True)
        class Broken(place):
            SIZE = 1
            law = staticmethod(helper(function))
            stiffness: float

            def numbers_of(self, first, second):
                return np.array([self.stiffness])

        return Broken

    def misspelt(numbers, x, s):
        return -nunbers[0] * x, 0.0, 0.0  # noqa: F821

    def single(numbers, x, s):
        return -numbers[0] * x

    def vectors(numbers, x, s):
        return (x, x, x), 0.0, 0.0

    def scalar(numbers, a, b):
        return numbers[0], a.x, b.x, 0.0, 0.0

    def flat(numbers, a, b):
        return a.x, a.x[:2], b.x, 0.0, 0.0

    before = len(KINDS)
    for function, place, said in (
        (misspelt, OnJoint, "NameError: .*'nunbers'.*; it is called with 1 numbers"),
        (single, OnJoint, "gave -0.5, expected "),
        (vectors, OnJoint, r"gave \(\(0.5, 0.5, 0.5\), 0.0, 0.0\), expected \(force, energy, power\), numbers"),
        (
            scalar,
            OnBodies,
            r"gave \(1.0, .*, expected \(force, two arms, energy, power\), the first three of three num",
        ),
        (flat, OnBodies, r"gave \(.*\(0.0, 0.0\), .*, the first three of three numbers"),
    ):
        with pytest.raises(TypeError, match=rf"Broken\.law: {said}"):
            register(made(function, place))
    assert len(KINDS) == before


@pytest.mark.parametrize(("length", "damping"), [(0.3, 0.0), (0.0, 2.0)])
def test_a_spring_without_a_direction_is_refused_and_one_that_holds_points_together_is_relaxed(length, damping):
    body = Tree([Body("stone", Free(), inertia=Inertia.about_com(2.0, (0.1, 0.2, 0.3), np.eye(3)))])
    ends = Frame(None, (0.1, 0.2, 0.3)), Frame("stone", (0.1, 0.2, 0.3))
    made = Mechanism(body, elements=[spring_damper(*ends, 1e3, length=length, damping=damping)])
    for refused in (made.problem, lambda: mechanics.equilibrium(made)):
        with pytest.raises(ModelError, match=r"spring_damper between the base and 'stone'.*two points that coincide"):
            refused()
    held = Mechanism(body, elements=[compliant(spherical(*ends), 1e3)])
    found = mechanics.equilibrium(held)
    assert found.q[2] == pytest.approx(-2.0 * 9.81 / 1e3)
    assert integrate(held.problem(), "RKMK_GAUSS2", (0.0, 0.1), 0.01).success


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8", "TREE_VARIATIONAL", "MIDPOINT"])
def test_a_spring_of_no_length_pulls_where_its_ends_coincide_and_beside(method):
    """An oscillator, x = (v/ω) sin ωt from coinciding ends, cos ωt from beside them; along y as along x."""
    bead = Tree([Body("bead", Planar(), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))], gravity=(0, 0, 0))
    made = Mechanism(bead, elements=[spring_damper(Frame("bead"), Frame(None), 100.0, length=0.0)])
    t = 2.0
    run = integrate(made.problem([0.0, 0.5, 0.0], [1.0, 0.0, 0.0]), method, (0.0, t), 1e-3)
    assert run.success
    assert run["q"][-1][:2] == pytest.approx([0.1 * np.sin(10 * t), 0.5 * np.cos(10 * t)], abs=1e-4)
    run = integrate(made.problem([0.0, 0.0, 0.0], [0.6, 0.8, 0.0]), method, (0.0, t), 1e-3)
    assert run.success
    assert run["q"][-1][:2] == pytest.approx([0.06 * np.sin(10 * t), 0.08 * np.sin(10 * t)], abs=1e-5)
    angular = mechanics.modes(made, np.zeros(3)).frequencies
    assert np.sort(angular)[-2:] == pytest.approx([10.0, 10.0], rel=1e-9)


def test_a_cable_whose_ends_coincide_is_slack():
    body = Tree([Body("stone", Free(), inertia=Inertia.about_com(2.0, (0.0, 0.0, 0.0), np.eye(3)))])
    made = Mechanism(body, elements=[cable(Frame(None), Frame("stone"), 1e6, length=0.5, damping=10.0)])
    run = integrate(made.problem(), "RKMK_GAUSS2", (0.0, 0.3), 0.01)
    assert run.success
    assert run["q"][-1][2] == pytest.approx(-0.5 * 9.81 * 0.3**2, abs=1e-12)
    assert mechanics.equilibrium(made).q[2] == pytest.approx(-0.5 - 2.0 * 9.81 / 1e6, abs=1e-11)


@pytest.mark.parametrize(("rate", "force"), [(1.0, -70.0), (-0.1, -15.0), (-0.4, 0.0), (-1.0, 0.0)])
def test_a_damped_cable_pulls_and_never_pushes(rate, force):
    """−max(k (d − l) + c ḋ, 0); the energy it stores and does not give back is accounted for as lost."""
    bead = Body("bead", Prismatic((1, 0, 0)), inertia=Inertia.point(2.0))
    made = Mechanism(
        Tree([bead], gravity=(0, 0, 0)),
        elements=[cable(Frame(None), Frame("bead"), 100.0, length=1.0, damping=50.0)],
    )
    q, v = np.array([1.2]), np.array([rate])
    assert made.rhs(q, 2.0 * v)[1] == pytest.approx([force], abs=1e-13)
    change, accounted = power_balance(made, q, v)
    assert change == pytest.approx(accounted, abs=1e-12)
    assert accounted == pytest.approx((force + 20.0) * rate, abs=1e-12)


@pytest.mark.parametrize("gravity", [0.0, 1e-3, 9.81])
def test_what_springs_have_stored_is_at_play(gravity):
    """A mass on a spring drawn by 1250 J, at rest: a twentieth of that is what the energy may be wrong by, whatever
    gravity adds.
    """
    block = Tree([Body("a", Prismatic((0, 0, 1)), inertia=Inertia.point(1.0))], gravity=(0, 0, -gravity))
    posed = Mechanism(block, elements=[joint_spring("a_joint", 1e4)]).problem([0.5])
    (guard,) = [guard for guard in posed.guards if guard.name == "energy"]
    assert guard.change == pytest.approx(0.05 * 1250.0, rel=1e-12)
