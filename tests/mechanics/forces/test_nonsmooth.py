"""Hard stops and exact dry friction: closed forms of bounces, a swing, rest and release; energy of impacts."""

import warnings

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


@pytest.mark.parametrize("pull", [0.0, 1e-17, -1e-17, 1e-13, -1e-13])
def test_what_glides_from_stop_to_stop_does_so_whatever_rounding_pulls_at_it(pull):
    tree = Tree(BEAD.bodies, gravity=(pull, 0.0, -9.81))
    system = Nonsmooth(tree, stops={"rail": (0.0, 1.0)}, restitution=1.0)
    run = integrate_modes(system, system.state([0.5], [-1.0]), "RKMK4", (0.0, 4.25), step=0.01)
    assert run.success
    assert [change.t for change in run.transitions] == pytest.approx([0.5, 1.5, 2.5, 3.5], abs=1e-9)
    assert run["q"][-1, 0] == pytest.approx(0.25, abs=1e-9)


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


def _swing_with_friction(t):
    """1 kg on 100 N/m with 3 N of dry friction from 1 m: half swings about ±3 cm, each 6 cm shorter, then rest."""
    n = np.minimum(t * 10.0 // np.pi, 17)
    shift, start = 0.03 * (-1) ** n, (-1) ** n * (1.0 - 0.06 * n)
    return np.where(n < 17, shift + (start - shift) * np.cos(10.0 * t - n * np.pi), start)


@pytest.mark.parametrize("end", [10.0, pytest.param(100.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("method", "step", "right"),
    [
        ("RKMK4", 0.2, False),
        ("RKMK4", 0.15, False),
        ("TREE_VARIATIONAL", 0.15, False),
        ("MIDPOINT", 0.2, False),
        ("RKMK4", 0.05, True),
        ("TREE_VARIATIONAL", 0.02, True),
        ("MIDPOINT", 0.02, True),
        ("GAUSS8", 0.2, True),
    ],
)
def test_what_short_phases_do_not_show_is_a_doubt_of_the_whole_run(method, step, right, end):
    """Phases of one step and two: the swing is another one, and each phase by itself resolved."""
    light = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(1.0), joint_name="rail")])
    held = Mechanism(light, elements=[forces.joint_spring("rail", stiffness=100.0)])
    system = Nonsmooth(held, friction={"rail": 3.0})
    run, few = (
        integrate_modes(system, system.state([1.0]), method, (0.0, end), step=step, save_every=every)
        for every in (1, 1000)
    )
    moves = run.t < 5.4
    apart = np.abs(run["q"][moves, 0] - _swing_with_friction(run.t[moves]))
    assert (np.quantile(apart, 0.9) < 0.12) == right
    assert run.status == Status.OK
    assert run.success == few.success == right
    assert {doubt.name for doubt in run.doubts} <= {"accuracy"}
    assert (", accuracy: steps of " in run.message) != right


def test_an_impact_that_steps_strike_too_hard_is_a_doubt():
    """The force is that of x = 0.1 − 0.15 exp(−((t − 1.03)/0.02)²), which ends on the stop."""
    from scipy.optimize import brentq

    def place(t):
        return 0.1 - 0.15 * np.exp(-(((t - 1.03) / 0.02) ** 2))

    def rate(t):
        return 0.3 * (t - 1.03) / 0.02**2 * np.exp(-(((t - 1.03) / 0.02) ** 2))

    def force(t):
        s = (t - 1.03) / 0.02
        return 0.15 * np.exp(-(s**2)) * (2.0 - 4.0 * s**2) / 0.02**2

    light = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(1.0), joint_name="rail")])
    driven = Mechanism(light, elements=[forces.motor("rail", force=Motion.from_function(force, (0.0, 2.0)))])
    system = Nonsmooth(driven, stops={"rail": (0.0, None)}, restitution=0.5)
    strikes = brentq(place, 0.9, 1.03, xtol=1e-15)
    end = place(2.0) - 1.5 * rate(strikes) * (2.0 - strikes)
    fine, coarse = (
        integrate_modes(system, system.state([0.1]), method, (0.0, 2.0), step=0.1) for method in ("GAUSS8", "RKMK4")
    )
    assert fine.success
    assert fine["q"][-1, 0] == pytest.approx(end, rel=1e-9)
    assert abs(coarse["q"][-1, 0] - end) > 0.1 * end
    assert not coarse.success


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "MIDPOINT", "RKMK4"])
def test_hundreds_of_elastic_impacts_are_no_doubt_where_they_are_right(method):
    """From x = −1 on a spring against a stop at 0.5: x = −cos ω t up to the stop, then the same way back."""
    light = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(1.0), joint_name="rail")])
    held = Mechanism(light, elements=[forces.joint_spring("rail", stiffness=100.0)])
    system = Nonsmooth(held, stops={"rail": (None, 0.5)}, restitution=1.0)
    run = integrate_modes(system, system.state([-1.0]), method, (0.0, 50.0), step=0.01)
    assert run.success, run.message
    swing = 2.0 * np.arccos(-0.5) / 10.0
    assert len(run.transitions) == pytest.approx(50.0 / swing, abs=2)
    assert np.ptp(run["q"][:, 0]) == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize("step", [0.1, 0.05, 0.01])
def test_a_blow_between_steps_frees_a_joint_that_sticks(step):
    """300 N for a millisecond, against 1 N: it slips from where the blow passes the friction, and is there over before
    the next step.
    """
    from scipy.integrate import quad

    def blow(t):
        return 300.0 * np.exp(-(((t - 0.505) / 1e-3) ** 2))

    light = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(1.0), joint_name="rail")])
    struck = Mechanism(light, elements=[forces.motor("rail", force=Motion.from_function(blow, (0.0, 1.0)))])
    system = Nonsmooth(struck, friction={"rail": 1.0})
    run = integrate_modes(system, system.state([0.0]), "RKMK4", (0.0, 1.0), step=step)
    begin = 0.505 - 1e-3 * np.sqrt(np.log(300.0))
    far = quad(lambda t: (1.0 - t) * blow(t), begin, 0.515, epsabs=1e-12)[0] - 0.5 * (1.0 - begin) ** 2
    assert run.success, run.message
    assert run.transitions[0].t == pytest.approx(begin, abs=1e-9)
    assert run.transitions[0].says == "joint 'rail' slips"
    assert run["q"][-1, 0] == pytest.approx(far, abs=1e-5)


@pytest.mark.parametrize("scale", [1e-7, 1e-3, 1.0, 1e6])
def test_bounces_are_the_same_in_micrometres_and_microseconds(scale):
    """Lengths and times by one factor: the same speeds, and four impacts."""
    g, e, end = 10.0 / scale, 0.9, 3.0 * scale
    ball = Tree(
        [Body("ball", joints.Prismatic((0, 0, 1)), inertia=Inertia.point(MASS), joint_name="height")],
        gravity=(0, 0, -g),
    )
    system = Nonsmooth(ball, stops={"height": (0.0, None)}, restitution=e)
    run = integrate_modes(system, system.state([scale]), "RKMK4", (0.0, end), step=0.05 * scale)
    assert run.success
    first = np.sqrt(2.0 * scale / g)
    times = first * (1.0 + 2.0 * e * (1.0 - e ** np.arange(4)) / (1.0 - e))
    assert [x.t for x in run.transitions] == pytest.approx(times, rel=1e-9)
    speed, left = g * first * e**4, end - times[-1]
    assert run["q"][-1, 0] == pytest.approx(speed * left - 0.5 * g * left**2, rel=1e-8)


@pytest.mark.parametrize("speed", [1e-6, 5e-10, 1e-14])
def test_what_is_slow_by_itself_does_not_stand_still(speed):
    system = Nonsmooth(BEAD, stops={"rail": (-1.0, 1.0)}, friction={"rail": 1e-30})
    run = integrate_modes(system, system.state([0.0], [speed]), "RKMK4", (0.0, 10.0), step=1.0)
    assert run.success
    assert run["q"][-1, 0] == pytest.approx(10.0 * speed - 0.5 * 1e-30 / MASS * 100.0, rel=1e-12)


@pytest.mark.parametrize("e", [0.5, 0.0])
def test_what_starts_on_a_stop_and_comes_to_it_strikes_it_first(e):
    system = Nonsmooth(BEAD, stops={"rail": (0.0, 1.0)}, restitution=e)
    run = integrate_modes(system, system.state([1.0], [1.0]), "RKMK4", (0.0, 1.0), step=0.1)
    assert run.success
    assert run["q"][-1, 0] == pytest.approx(1.0 - e, abs=1e-14)
    (change,) = run.transitions
    assert (change.t, change.says) == (0.0, "impact of joint 'rail' on its upper stop with 1")
    assert change.lost == pytest.approx(0.5 * (1.0 - e**2) * MASS)


def test_a_stop_that_is_reached_on_the_way_back_is_touched():
    """The steps are long beside the turn at the stop: the velocity where they come to it leads off it.  The swing goes
    on, as large as the stop lets it.
    """
    light = Tree([Body("bead", joints.Prismatic((1, 0, 0)), inertia=Inertia.point(1.0), joint_name="rail")])
    held = Mechanism(light, elements=[forces.joint_spring("rail", stiffness=100.0)])
    system = Nonsmooth(held, stops={"rail": (None, 0.9999)}, restitution=0.5)
    run = integrate_modes(system, system.state([-1.0]), "TREE_VARIATIONAL", (0.0, 3.0), step=0.05)
    assert run.success, run.message
    assert run.transitions[0].says == "joint 'rail' touches its upper stop"
    assert run.transitions[0].lost == 0.0
    assert np.ptp(run["q"][run.t > 2.0, 0]) == pytest.approx(2.0, abs=0.05)


def test_a_run_that_ends_before_its_first_phase_has_no_states():
    class Stuck:
        def start(self, t, y):
            return Next("stuck", y)

        def soon(self, mode, t, y):
            return 0.0

    run = integrate_modes(Stuck(), [1.0], "RKMK4", (0.0, 1.0), step=0.1)
    assert run.status == Status.ACCUMULATED
    assert run.t.size == run.y.size == 0


@pytest.mark.parametrize("step", [0.1, 0.01])
@pytest.mark.parametrize("save_every", [1, 1000])
def test_a_blow_between_steps_lifts_what_rests_on_a_stop(step, save_every):
    from scipy.integrate import quad

    def blow(t):
        return 300.0 * np.exp(-(((t - 0.505) / 1e-3) ** 2))

    lifted = Mechanism(BALL, elements=[forces.motor("height", force=Motion.from_function(blow, (0.0, 1.0)))])
    system = Nonsmooth(lifted, stops={"height": (0.0, None)})
    run = integrate_modes(system, system.state([0.0]), "RKMK4", (0.0, 1.0), step=step, save_every=save_every)
    begin = 0.505 - 1e-3 * np.sqrt(np.log(300.0 / (MASS * 9.81)))
    speed = quad(blow, begin, 0.515, epsabs=1e-13)[0] / MASS - 9.81 * (0.515 - begin)
    height = quad(lambda t: (0.515 - t) * (blow(t) / MASS - 9.81), begin, 0.515, epsabs=1e-13)[0]
    lands = 0.515 + (speed + np.sqrt(speed**2 + 2.0 * 9.81 * height)) / 9.81
    assert run.success, run.message
    assert [x.says.split(" with")[0] for x in run.transitions] == [
        "joint 'height' leaves its lower stop",
        "joint 'height' rests on its lower stop: impacts accumulate",
    ]
    assert [x.t for x in run.transitions] == pytest.approx([begin, lands], abs=2e-5)


def test_phases_as_short_as_rounding_are_asked_nothing():
    """Two pendula that a motor shakes rattle, stick and slip: some phases are 1e-13 s long."""
    shaken = Mechanism(PENDULUM, elements=[forces.motor("a", force=Motion((0.0,), ((8.0, 2.0, 0.0),)))])
    system = Nonsmooth(shaken, stops={"b": (-0.3, 0.4)}, restitution=0.5, friction={"a": 1.0, "b": 0.8})
    ends = [
        integrate_modes(system, system.state([0.5, 0.1]), method, (0.0, 15.0), step=step)
        for method, step in (("RKMK4", 0.1), ("MIDPOINT", 0.02))
    ]
    assert all(run.success for run in ends)
    assert ends[0].y[-1] == pytest.approx(ends[1].y[-1], abs=0.05)


@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("raises", [False, True])
def test_a_latch_opens_between_steps_whatever_form_its_function_has(direction, raises):
    """For a millisecond a force of up to 2 N is above the 1 N of a latch; then y' = 1.  A function that raises at times
    of no step loses no run, and says so.
    """

    def force(t, y, parameters):
        if raises and 0.5 < t < 0.52 and t != 0.505:
            raise RuntimeError("no force here")
        return parameters[0] * np.exp(-(((t - 0.505) / 1e-3) ** 2)) - 1.0

    class Latch:
        def start(self, t, y):
            return Next("held", y)

        def soon(self, mode, t, y):
            return np.inf

        def problem(self, mode, t, y):
            rate = float(mode == "open")
            return Problem(rn(1), y, lambda t, y: [rate], parameters=[2.0], autonomous=False)

        def events(self, mode):
            return [Event(force, "opens", direction)] if mode == "held" else []

        def after(self, mode, events, t, y):
            return Next("open", y, "opens")

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = integrate_modes(Latch(), [0.0], "RKMK4", (0.0, 1.0), step=0.1)
    assert run.status == Status.OK
    if raises:
        assert any("events come between its steps could not be looked at" in str(one.message) for one in told)
        return
    assert run.y[-1, 0] == pytest.approx(1.0 - 0.505 + 1e-3 * np.sqrt(np.log(2.0)), abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_joints_that_throw_each_other_against_their_stops_come_to_rest(seed):
    """Their impacts accumulate in a corner, slowed down by gravity or while they are as fast as ever."""
    rng = np.random.default_rng(seed)
    mass, length, centre, e = rng.uniform(2.0, 4.0), *rng.uniform(0.3, 0.8, 2), rng.choice([0.05, 0.2, 0.5])
    shape = np.diag([0.01] * 3)
    second = Inertia.about_com(mass, (centre, 0, 0), shape)
    bodies = [
        Body("upper", joints.Revolute((0, 0, 1)), inertia=Inertia.about_com(1.0, (0.25, 0, 0), shape)),
        Body("lower", joints.Revolute((0, 0, 1)), "upper", (length, 0, 0), inertia=second),
    ]
    stops = {"upper_joint": (None, 0.4), "lower_joint": (None, 0.3)}
    arm = Nonsmooth(Tree(bodies, gravity=(0, 9.81, 0)), stops=stops, restitution=float(e))
    run = integrate_modes(arm, arm.state([0.0, 0.1], rng.uniform(0.0, 3.0, 2)), "RKMK_DOP853", (0.0, 2.0), step=1e-2)
    assert run.success, run.message
    assert run.y[-1].tolist() == pytest.approx([0.4, 0.3, 0.0, 0.0], abs=1e-12)
    assert {how for _, how, _ in run.modes[-1].held} == {"upper"}
    assert len(run.modes[-1].held) == 2
    assert all(x.lost >= -1e-12 for x in run.transitions)
