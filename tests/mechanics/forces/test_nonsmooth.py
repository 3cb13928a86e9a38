"""Hard stops and exact dry friction: closed forms of bounces, a swing, rest and release; energy of impacts."""

import numpy as np
import pytest

import mechanics
from integrators import Problem, Status, integrate, integrate_modes
from integrators.events import Event
from integrators.modes import Next
from liegroup import rn
from mechanics import Body, Inertia, Mechanism, ModelError, Nonsmooth, Tree, forces, joints
from mechanics.joints import Motion

MASS = 2.0
BEAD = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(MASS), joint_name="rail")])
BALL = Tree([Body("ball", joints.Prismatic((0, 0, 1)), inertia=Inertia.point(MASS), joint_name="height")])
ARM = Inertia.about_com(1.0, (0.0, 0.1, -0.5), 0.1 * np.eye(3))
PENDULUM = Tree([
    Body("upper", joints.Revolute((0, 1, 0)), inertia=ARM, joint_name="a"),
    Body("lower", joints.Revolute((0, 1, 0)), "upper", (0, 0, -1.0), inertia=ARM, joint_name="b"),
])  # fmt: skip

WELDED = Tree(
    [Body("pin", joints.Revolute(), inertia=ARM), Body("p", joints.Fixed(), "pin", inertia=ARM, joint_name="weld")]
)


@pytest.mark.parametrize("method", ["RKMK4", "TREE_VARIATIONAL"])
def test_bounces_accumulate_where_the_geometric_series_does(method):
    """t∞ = √(2h/g) (1 + e)/(1 − e); every impact leaves e² of the energy; then the ball rests, by name."""
    e, height = 0.5, 1.0
    system = Nonsmooth(BALL, stops={"height": (0.0, None)}, restitution=e)
    run = integrate_modes(system, system.state([height]), method, (0.0, 2.0), step=0.01)
    assert run.success
    times = [x.t for x in run.transitions]
    first = np.sqrt(2 * height / 9.81)
    assert times[:4] == pytest.approx(first * (1 + 2 * e * (1 - e ** np.arange(4)) / (1 - e)), rel=1e-9)
    assert times[-1] == pytest.approx(first * (1 + e) / (1 - e), abs=1e-5)
    energy = MASS * 9.81 * height * e ** (2 * np.arange(4))
    assert [x.lost for x in run.transitions[:4]] == pytest.approx((1 - e**2) * energy, rel=1e-8)
    assert run.transitions[-1].says == "joint 'height' rests on its lower stop: impacts accumulate"
    assert run.modes[-1].held == (("height", "lower", 0.0),)
    assert abs(run["q"][-1, 0]) < 1e-12


@pytest.mark.parametrize("e", [1.0, 0.6])
def test_an_impact_takes_the_energy_of_its_effective_mass(e):
    """ΔT = ½ (1 − e²) m v², 1/m = e_jᵀ M⁻¹ e_j; an elastic one keeps it; between impacts the energy stays."""
    system = Nonsmooth(PENDULUM, stops={"b": (-0.3, 0.4)}, restitution=e)
    run = integrate_modes(system, system.state([1.2, 0.1], [0.0, 0.5]), "RKMK4", (0.0, 3.0), step=2e-3)
    assert run.success
    assert len(run.transitions) >= 3
    assert run["q"][:, 1].min() > -0.3 - 1e-12
    assert run["q"][:, 1].max() < 0.4 + 1e-12
    for phase, after, change in zip(run.phases, run.phases[1:], run.transitions, strict=False):
        assert np.abs(phase["energy"] - phase["energy"][0]).max() < 1e-8
        q, p = phase["q"][-1], phase["p"][-1]
        M = mechanics.mass_matrix(PENDULUM, q)
        speed = np.linalg.solve(M, p)[1]
        assert change.lost == pytest.approx(0.5 * (1 - e**2) * speed**2 / np.linalg.inv(M)[1, 1], abs=1e-9)
        assert np.linalg.solve(M, after["p"][0])[1] == pytest.approx(-e * speed, rel=1e-9)
        assert after["energy"][0] == pytest.approx(phase["energy"][-1] - change.lost, abs=1e-9)


def test_a_joint_that_rests_is_released_when_nothing_presses_it():
    """The push −4 cos t presses for a quarter of a turn, then takes the bead away."""
    push = forces.motor("rail", force=Motion((0.0,), ((-4.0, 1.0, np.pi / 2),)))
    at_rest = Mechanism(BEAD, elements=[push])
    system = Nonsmooth(at_rest, stops={"rail": (0.0, None)})
    run = integrate_modes(system, system.state([0.0]), "RKMK4", (0.0, 3.0), step=0.01)
    assert (run.modes[0].held, run.modes[-1].held) == ((("rail", "lower", 0.0),), ())
    (change,) = run.transitions
    assert change.says == "joint 'rail' leaves its lower stop"
    assert change.t == pytest.approx(np.pi / 2, abs=1e-9)
    s = 3.0 - np.pi / 2
    assert run["q"][-1, 0] == pytest.approx(4.0 / MASS * (s - np.sin(s)), abs=1e-8)


def test_a_joint_that_rests_stays_so_while_another_bounces():
    """Two independent bodies: what one does on its stop does not lift the other off its own."""
    bodies = [Body(n, joints.Prismatic((0, 0, 1)), inertia=Inertia.point(3.0), joint_name=n) for n in "ab"]
    system = Nonsmooth(Tree(bodies), stops={"a": (0.0, None), "b": (0.0, None)}, restitution=0.5)
    run = integrate_modes(system, system.state([0.0, 1.0]), "RKMK4", (0.0, 2.0), step=0.01)
    assert run.success
    assert all(("a", "lower", 0.0) in mode.held for mode in run.modes)
    assert not any("'a'" in x.says for x in run.transitions)


def test_a_swing_with_dry_friction_loses_two_f_over_k_per_half_turn_and_sticks():
    k, force, x = 50.0, 4.0, 1.0
    spring = forces.joint_spring("rail", stiffness=k)
    system = Nonsmooth(Mechanism(BEAD, elements=[spring]), friction={"rail": force})
    run = integrate_modes(system, system.state([x]), "RKMK4", (0.0, 5.0), step=2e-3)
    turns = [phase["q"][-1, 0] for phase in run.phases[:-1]]
    count = int(np.ceil((x - force / k) / (2 * force / k)))
    true = [(-1) ** (n + 1) * (x - 2 * (n + 1) * force / k) for n in range(count)]
    assert turns == pytest.approx(true, abs=1e-8)
    assert [change.t for change in run.transitions] == pytest.approx(
        np.pi * np.sqrt(MASS / k) * np.arange(1, count + 1), abs=1e-8
    )
    assert run.transitions[-1].says == "joint 'rail' sticks"
    assert run["q"][-1, 0] == pytest.approx(true[-1], abs=1e-9)
    # the regularised friction goes to it with its slip speed
    gaps = []
    for slip_speed in (1e-1, 1e-2):
        soft = Mechanism(BEAD, elements=[spring, forces.dry_friction("rail", force=force, slip_speed=slip_speed)])
        end = integrate(soft.problem([x], [0.0]), "TREE_VARIATIONAL", (0.0, run.transitions[2].t), step=1e-3)
        gaps.append(abs(end["q"][-1, 0] - turns[2]))
    assert 1e-4 < gaps[0] < 0.1
    assert gaps[1] < 0.05 * gaps[0]


def test_friction_and_stop_of_two_joints_together():
    """A pendulum with friction in both hinges and a stop falls, strikes and comes to rest; energy only falls."""
    system = Nonsmooth(PENDULUM, stops={"b": (-0.1, 0.2)}, restitution=0.3, friction={"a": 3.0, "b": 1.0})
    run = integrate_modes(system, system.state([1.0, 0.0]), "TREE_VARIATIONAL", (0.0, 4.0), step=1e-2)
    assert run.status == Status.OK
    assert {joint for joint, _, _ in run.modes[-1].held} == {"a", "b"}
    energy = run["energy"]
    assert np.diff(energy).max() < 1e-13
    assert np.ptp(run.phases[-1]["q"], axis=0).max() < 1e-12
    says = " ".join(change.says for change in run.transitions)
    assert "impact" in says
    assert "rests on its lower stop: impacts accumulate" in says
    assert "sticks" in says


def test_a_system_without_a_mode_of_rest_is_named():
    """A ball of one's own that only bounces: the accumulation is a status, not a stall."""

    class Bounces:
        def start(self, t, y):
            return Next("flight", y)

        def problem(self, mode, t, y):
            return Problem(rn(2), y, lambda t, y: [y[1], -9.81])

        def events(self, mode):
            return [Event(lambda t, y: y[0], "ground", -1)]

        def after(self, mode, events, t, y):
            return Next(mode, np.array([0.0, -0.5 * y[1]]), "bounce")

        def soon(self, mode, t, y):
            return 2 * y[1] / 9.81 if y[0] == 0.0 else np.inf

    run = integrate_modes(Bounces(), [1.0, 0.0], "RKMK4", (0.0, 2.0), step=0.01)
    assert run.status == Status.ACCUMULATED
    assert run.status.is_failure
    assert not run.success
    assert "within rounding of t = 1.354" in run.message


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Nonsmooth(BEAD, stops={"rail": (1.0, 0.0)}), ModelError, "lower stop is below"),
        (lambda: Nonsmooth(BEAD, stops={"rail": (None, None)}), ModelError, "give \\(lower, upper\\)"),
        (lambda: Nonsmooth(BEAD, stops={"rial": (0.0, 1.0)}), KeyError, "rial"),
        (lambda: Nonsmooth(BEAD, stops={"rail": (0.0, 1.0)}, restitution=1.5), ValueError, "restitution of 'rail'"),
        (lambda: Nonsmooth(BEAD, restitution={"rail": 0.5}), ModelError, "name joints with stops"),
        (lambda: Nonsmooth(BEAD, friction={"rail": -1.0}), ModelError, "friction of 'rail'"),
        (lambda: Nonsmooth(WELDED, stops={"weld": (0.0, 1.0)}), ModelError, "joint 'weld': has 0 degrees of freedom"),
        (lambda: Nonsmooth("rail"), TypeError, "model"),
        (
            lambda: Nonsmooth(Mechanism(BEAD, elements=[forces.motor("rail")])),
            ModelError,
            r"inputs, \['rail'\].*Motion",
        ),
        (
            lambda: Nonsmooth(Mechanism(BEAD, elements=[forces.actuator("rail", gain=2.0, name="pull")])),
            ModelError,
            r"'pull'.*with_commands",
        ),
        (lambda: Nonsmooth(BEAD, friction=2.0), TypeError, "friction"),
        (
            lambda: Nonsmooth(Tree([Body("f", joints.Free(), inertia=ARM, joint_name="f")]), friction={"f": 1.0}),
            ModelError,
            "6 degrees of freedom",
        ),
        (
            lambda: integrate_modes(
                Nonsmooth(BEAD, stops={"rail": (0.0, 1.0)}), np.array([2.0, 0.0]), "RKMK4", (0.0, 1.0), step=0.1
            ),
            ModelError,
            "beyond its stops",
        ),
        (
            lambda: integrate_modes(Nonsmooth(BEAD), np.zeros(2), "RKMK4", (1.0, 0.0), step=0.1),
            ValueError,
            "t_span",
        ),
    ],
)
def test_bad_input_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("heights", [(1.0, 1.0), (1.0, 1.0 + 1e-12), (1.0, 0.7)])
def test_two_that_fall_alike_bounce_at_once(heights):
    """As the fingers of a gripper: each has the impacts that it has alone."""
    falls = [
        Tree([Body(name, joints.Prismatic((0, 0, 1)), inertia=Inertia.point(2.0), joint_name=name) for name in names])
        for names in ("ab", "a")
    ]
    both, one = (Nonsmooth(tree, stops=dict.fromkeys(tree.joint_names, (0.0, None)), restitution=0.5) for tree in falls)
    run = integrate_modes(both, both.state(heights), "RKMK4", (0.0, 2.0), step=1e-2)
    assert run.success, run.message
    for name, height in zip("ab", heights, strict=True):
        alone = integrate_modes(one, one.state([height]), "RKMK4", (0.0, 2.0), step=1e-2)
        times = [x.t for x in run.transitions if f"impact of joint {name!r}" in x.says]
        assert times == pytest.approx([x.t for x in alone.transitions[:-1]], abs=1e-9)


def test_the_doubts_of_phases_are_those_of_the_run():
    stiff = Tree([Body("a", joints.Prismatic((0, 0, 1)), inertia=Inertia.point(2.0))])
    falls = Mechanism(stiff, elements=[forces.joint_spring("a_joint", 4e3)])
    bounces = Nonsmooth(falls, stops={"a_joint": (-0.5, None)}, restitution=0.5)
    run = integrate_modes(bounces, bounces.state([1.0]), "RKMK4", (0.0, 0.5), step=0.05)
    assert run.status == Status.OK
    assert not run.success
    assert run.doubts
    assert run.message.startswith("reached the end; doubtful since t = ")
