"""Joints moved by functions of the time and by samples: polynomials in pieces, in every formulation."""

import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

import mechanics
from integrators import Sampled, StepError, integrate, stepper
from mechanics import Body, Frame, Inertia, Mechanism, ModelError, Tree
from mechanics.constraints import spherical
from mechanics.forces import servo, spring_damper, wrench
from mechanics.formulations import driving_forces, multiplier_problem, reactions
from mechanics.joints import Motion, Revolute, Rheonomic, Slide, Turn

A, W = 0.3, 2.0
SINE = Motion(harmonics=((A, W, 0.4),))
TABLE = Motion.from_function(lambda t: A * np.sin(W * t + 0.4), (0.0, 2.0))
BOB = Inertia.about_com(1.0, (0.1, 0.2, -0.5), np.diag([0.1, 0.2, 0.15]))


def moved(motion: Motion) -> Tree:
    """A pendulum on a crank on a slide, both moved."""
    joint = Rheonomic((Slide((0, 0, 1), motion), Turn((0, 0, 1), motion), Turn((1, 0, 0))))
    return Tree(
        [Body("a", joint, inertia=BOB), Body("b", Revolute((0, 1, 0)), "a", (0.2, 0.0, -1.0), inertia=BOB)],
        name="moved",
    )


def ends(method: str, **how: object) -> list[np.ndarray]:
    return [
        integrate(how.get("pose", lambda t: t.problem([0.4, 0.3]))(moved(m)), method, (0.0, 2.0), 0.05).y[-1]
        for m in (SINE, TABLE)
    ]


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8", "TREE_VARIATIONAL"])
def test_a_function_moves_a_joint_as_the_formula_does(method: str) -> None:
    expected, found = ends(method)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-12)


def test_what_swings_in_step_with_the_samples_is_seen() -> None:
    """cos 2πt has one value at all of 0, 1, 2 … 32 and at the midpoints of these; so has its rate."""
    swing = Motion.from_function(lambda t: 0.1 * np.cos(2.0 * np.pi * t), (0.0, 32.0))
    for t in (0.25, 0.5, 17.3):
        assert swing.value(t) == pytest.approx(0.1 * np.cos(2.0 * np.pi * t), abs=1e-13)
        assert swing.rate(t) == pytest.approx(-0.2 * np.pi * np.sin(2.0 * np.pi * t), abs=1e-10)
    with pytest.raises(ValueError, match=r"rate: 0 at t = .* the derivative of the function"):
        Motion.from_function(lambda t: 0.1 * np.cos(2.0 * np.pi * t), (0.0, 32.0), rate=lambda t: 0.0)


@pytest.mark.parametrize("pose", [Tree, Mechanism], ids=["tree", "mechanism"])
def test_a_start_by_velocities_is_one_at_its_time(pose: type) -> None:
    """Momenta have the rate of the drive in them, which is another later: a run begins when its velocities were."""
    tree, q, v = moved(SINE), [0.4, 0.3], [0.1, -0.2]
    model = tree if pose is Tree else Mechanism(tree)
    with pytest.raises(ValueError, match=r"t_span: begins at 0\.7, expected 0\.0: .* pose the problem with t=0\.7"):
        integrate(model.problem(q, v), "RKMK4", (0.7, 1.0), 0.1)
    end = integrate(model.problem(q, v, t=0.7), "GAUSS8", (0.7, 1.2), 0.025)["q"][-1]
    true = solve_ivp(
        lambda t, y: [*y[2:], *mechanics.forward_dynamics(tree, y[:2], y[2:], t=t)],
        (0.7, 1.2), [*q, *v], "DOP853", rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    np.testing.assert_allclose(end, true.y[:2, -1], rtol=0, atol=1e-11)


def test_a_start_that_is_the_same_at_all_times_begins_at_any() -> None:
    steady, given = moved(Motion((0.1, 2.0))), moved(SINE)
    assert steady.problem([0.4, 0.3], [0.1, -0.2]).begins is None is Mechanism(steady).problem([0.4, 0.3]).begins
    assert given.problem([0.4, 0.3], p=[0.1, -0.2]).begins is None
    assert mechanics.velocity_problem(given, [0.4, 0.3]).begins is None


def test_loops_that_are_moved_are_closed_at_the_time_of_the_start() -> None:
    """Two arms on slides, one of which moves as told, and a rod between their ends."""
    slide = Rheonomic((Slide((1, 0, 0), Motion((0.0, 0.3))), Turn((0, 1, 0))))
    arms = [Body("a", slide, inertia=BOB), Body("b", Revolute((0, 1, 0)), position=(0.5, 0.0, 0.0), inertia=BOB)]
    tip = (0.0, 0.0, -1.0)
    rod = mechanics.constraints.distance(Frame("a", tip), Frame("b", tip), 0.5)
    linkage = Mechanism(Tree(arms), [rod])
    assert linkage.problem().begins == 0.0
    with pytest.raises(ModelError, match="open"):
        linkage.problem([0.0, 0.0], t=1.0)
    lean = float(np.arcsin(0.15))  # 0.5 = 0.5 - 0.3 + 2 sin(lean)
    posed = linkage.problem([lean, -lean], t=1.0)
    assert posed.begins == 1.0
    run = integrate(posed, "RKMK4", (1.0, 1.2), 0.01)
    assert run.success
    assert max(abs(run["gap"]).max(), abs(run["velocity_gap"]).max()) < 1e-9
    with pytest.raises(ModelError, match="open"):
        multiplier_problem(linkage, [lean, -lean])
    with pytest.raises(ValueError, match=r"t_span: begins at 1\.0, expected 0\.0: .* pose the problem with t=1\.0"):
        integrate(multiplier_problem(linkage), "RKMK4", (1.0, 1.2), 0.01)
    v = posed.velocity(1.0, posed.y0)[:2]
    same = integrate(
        multiplier_problem(linkage, [lean, -lean], v, projection="positions", t=1.0), "RKMK4", (1.0, 1.2), 0.01
    )
    assert same.success
    np.testing.assert_allclose(same["q"][-1], run["q"][-1], rtol=0, atol=1e-8)


def test_so_it_is_in_straight_line_code() -> None:
    expected, found = ends("RKMK4", pose=lambda t: mechanics.compile_model(t).problem([0.4, 0.3]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-12)


def test_dynamics_and_derivatives_take_rate_and_acceleration() -> None:
    q, v, tau = [0.4, 0.3], [0.2, -0.5], [0.1, 0.2]
    for f in (mechanics.forward_dynamics, mechanics.inverse_dynamics):
        a, b = (f(moved(m), q, v, tau, t=0.73) for m in (SINE, TABLE))
        np.testing.assert_allclose(b, a, rtol=0, atol=1e-10)


def test_eight_in_lanes_have_the_bits_that_each_has_alone() -> None:
    problem = moved(TABLE).problem([0.4, 0.3])
    starts = problem.y0 + 0.01 * np.arange(8)[:, None]
    many = integrate(problem, "RKMK4", (0.0, 0.5), 0.05, y0=starts).y[..., -1, :]
    assert (many[[0, 7]] == [integrate(problem, "RKMK4", (0.0, 0.5), 0.05, y0=y).y[-1] for y in starts[[0, 7]]]).all()


def test_a_servo_follows_a_function_and_a_closed_loop_is_moved_by_one() -> None:
    """A four-bar linkage whose crank is moved, with a servo on its rocker that follows."""
    bar = Inertia.about_com(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1]))

    def loop(motion: Motion) -> Mechanism:
        z, crank = (0, 0, 1), Rheonomic((Turn((0, 0, 1), motion),))
        tree = Tree(
            [
                Body("crank", crank, inertia=bar),
                Body("coupler", Revolute(z), "crank", (0.5, 0, 0), inertia=bar),
                Body("rocker", Revolute(z), None, (1.5, 0, 0), inertia=bar),
            ]
        )
        pin = spherical(Frame("coupler", (1.5, 0, 0)), Frame("rocker", (1.2, 0, 0)))
        pull = servo("rocker_joint", stiffness=3.0, damping=0.1, target=motion)
        return Mechanism.assembled(tree, [pin], [0.6, 1.9], elements=[pull])

    for method in ("GAUSS8", "TREE_VARIATIONAL"):
        expected, found = (integrate(loop(m).problem(), method, (0.0, 1.0), 0.02) for m in (SINE, TABLE))
        np.testing.assert_allclose(found.y[-1], expected.y[-1], rtol=0, atol=1e-10)
        assert np.abs(found["gap"]).max() < 1e-9


def test_drives_bring_the_energy() -> None:
    """d(energy)/dt is the power of the drives, less what damping takes."""
    tree = moved(TABLE)
    h = 1e-3
    q, v, t = np.array([0.4, 0.3]), np.array([0.5, -0.2]), 0.7
    p = mechanics.momentum(tree, q, v, t)

    def energy(s: float) -> float:
        """Along the motion through (q, p), a step s later."""
        qs, ps, now = q.copy(), p.copy(), t
        for _ in range(4):  # classical Runge-Kutta
            d = s / 4
            k1 = mechanics.hamiltonian_rhs(tree, qs, ps, t=now)
            k2 = mechanics.hamiltonian_rhs(tree, qs + d / 2 * k1[0], ps + d / 2 * k1[1], t=now + d / 2)
            k3 = mechanics.hamiltonian_rhs(tree, qs + d / 2 * k2[0], ps + d / 2 * k2[1], t=now + d / 2)
            k4 = mechanics.hamiltonian_rhs(tree, qs + d * k3[0], ps + d * k3[1], t=now + d)
            qs = qs + d / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            ps = ps + d / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
            now += d
        rates = mechanics.hamiltonian_rhs(tree, qs, ps, t=now)[0]
        return float(mechanics.energy(tree, qs, rates, now))

    slope = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    forces, powers = mechanics.drive_forces(tree, q, v, mechanics.forward_dynamics(tree, q, v, t=t), t)
    assert forces.shape == (2,)
    assert abs(powers.sum() - slope) < 1e-8 * abs(slope)


def moved_loop(elements: list) -> Mechanism:
    """A loop closed over a moved crank, which slides as it likes."""
    bar, z = Inertia.about_com(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1])), (0, 0, 1)
    tree = Tree(
        [
            Body("crank", Rheonomic((Turn(z, TABLE), Slide((1, 0, 0)))), inertia=bar),
            Body("coupler", Revolute(z), "crank", (0.5, 0, 0), inertia=bar),
            Body("rocker", Revolute(z), None, (1.5, 0, 0), inertia=bar),
        ],
        gravity=(0.0, -9.81, 0.0),
    )
    pin = spherical(Frame("coupler", (1.5, 0, 0)), Frame("rocker", (1.2, 0, 0)))
    return Mechanism.assembled(tree, [pin], [0.0, 0.6, 1.9], elements=elements)


def test_a_moved_loop_moves_alike_with_multipliers() -> None:
    made = moved_loop([])
    runs = [integrate(problem, "RKMK4", (0.0, 0.2), 0.005) for problem in (made.problem(), multiplier_problem(made))]
    np.testing.assert_allclose(runs[1]["q"][-1], runs[0]["q"][-1], rtol=0, atol=1e-9)


@pytest.mark.slow
def test_drives_of_a_mechanism_bring_the_energy() -> None:
    """With a spring, a damper, a servo and a wrench, which do work, too."""
    elements = [
        spring_damper(Frame("coupler"), Frame(None, (0.3, 2.0, 0.0)), 30.0, damping=0.4, length=0.7),
        servo("rocker_joint", stiffness=3.0, damping=0.1),
        wrench(Frame("crank", (0.2, 0.0, 0.0)), axes="world"),
    ]
    made = moved_loop(elements)
    u = np.array([1.5, 0.7, -2.0, 0.0, 0.0, 0.0, 0.4])
    problem = made.problem()
    run = integrate(problem.with_inputs(u), "RKMK4", (0.0, 0.4), 0.01)
    accounts = mechanics.element_accounts(made, run.t, run["q"], run["p"], u)
    energy, power = sum(x.stored for x in accounts), sum(x.power for x in accounts)
    for k, (t, q, y) in enumerate(zip(run.t, run["q"], run.y, strict=True)):
        v = problem.velocity(t, y)[: made.tree.nv]
        energy[k] += mechanics.energy(made.tree, q, v, t)
        forces, powers = driving_forces(made, q, v, t, u)
        power[k] += powers["crank_joint.0"]
        assert list(forces) == ["crank_joint.0"]
    brought = simpson(power, x=run.t)
    assert abs(energy[-1] - energy[0] - brought) < 1e-6 * abs(brought)
    assert abs(brought) > 0.1


def test_drives_are_asked_where_the_mechanism_was_started_and_not_where_it_is_open_by_then() -> None:
    """With inputs, too, for which the mechanism was made anew, at rest at home."""
    made, u = moved_loop([servo("rocker_joint", stiffness=3.0, damping=0.1)]), np.array([0.4])
    started = made.with_start(rates={"rocker_joint": 1.5})
    q, v = started.start(None, None, None)
    assert driving_forces(started, u=u) == driving_forces(made, q, v, u=u) != driving_forces(made, u=u)
    for asked in (driving_forces, reactions):
        with pytest.raises(ModelError, match=r"^q of .* is open by"):
            asked(started, t=0.4)


def test_of_a_tree_it_is_what_inverse_dynamics_says() -> None:
    tree, q, v = moved(TABLE), np.array([0.4, 0.3]), np.array([0.5, -0.2])
    forces, powers = driving_forces(Mechanism(tree), q, v, 0.7)
    f, p = mechanics.drive_forces(tree, q, v, mechanics.forward_dynamics(tree, q, v, t=0.7), 0.7)
    np.testing.assert_allclose(list(forces.values()), f, rtol=1e-12)
    np.testing.assert_allclose(list(powers.values()), p, rtol=1e-12)
    with pytest.raises(TypeError, match="driving_forces"):
        mechanics.drive_forces(Mechanism(tree), q, v, v, 0.7)


def test_samples_become_a_spline() -> None:
    t = np.linspace(0.0, 2.0, 81)
    motion = Motion.from_samples(t, A * np.sin(W * t + 0.4))
    for k, name in enumerate(("value", "rate", "acceleration")):
        found, expected = (np.array([getattr(m, name)(s) for s in (0.0, 0.31, 1.2, 2.0)]) for m in (motion, SINE))
        np.testing.assert_allclose(found, expected, rtol=0, atol=10.0 ** (3 * k - 10))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((lambda t: abs(t - 1.234), (0.0, 2.0)), r"not smooth near t = 1\.23"),
        ((Sampled([0.0, 1.0, 2.0], [0.0, 1.0, 0.0], hold="linear"), (0.0, 2.0)), "not smooth near t = 1|returned"),
        ((np.sin, (0.0, 2.0), np.sin), "rate: .* the derivative of the function"),
        ((np.sin, (0.0, 2.0), np.cos, np.cos), "acceleration: .* the derivative"),
        ((lambda t: np.log(t), (0.0, 2.0)), "function: at t = 0 s returned"),
        ((np.sin, (2.0, 0.0)), "span"),
        ((3.0, (0.0, 2.0)), "expected a function of the time"),
        ((lambda t: "far", (0.0, 2.0)), "function: at t = 0 s returned"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_functions_that_move_no_joint_are_named(arguments: tuple, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        Motion.from_function(*arguments)


@pytest.mark.parametrize("method", ["RKMK4", "TREE_VARIATIONAL"])
@pytest.mark.parametrize("step", [0.05, 0.03])
def test_a_run_ends_where_the_motion_is_not_known_any_more(method: str, step: float) -> None:
    """Whether a step ends there or goes beyond it; nothing else is blamed."""
    run = integrate(moved(TABLE).problem([0.4, 0.3]), method, (0.0, 3.0), step)
    assert not run.success
    assert 1.9 < run.t[-1] < 2.06
    assert "the motion of joint 'a_joint' is known from 0 to 2 s)" in run.message


def test_a_single_step_beyond_the_motion_says_so() -> None:
    step = stepper(moved(TABLE).problem([0.4, 0.3]), "TREE_VARIATIONAL", 0.03)
    with pytest.raises(StepError, match="the motion of joint 'a_joint' is known from 0 to 2 s"):
        step(step.problem.y0, t=1.99)


def test_trees_with_pieces_are_written_down() -> None:
    tree = moved(TABLE)
    assert Tree.from_dict(tree.to_dict()).bodies[0].joint == tree.bodies[0].joint


def test_a_long_vibration_is_known_to_its_ends():
    """The ends of a spline are a thousand times worse than the rest of it: 25 s passed, 50 s were "not smooth"."""
    shake = Motion.from_function(lambda t: 0.01 * np.sin(100.0 * t), (0.0, 50.0))
    times = np.concatenate([np.linspace(0.0, 50.0, 1001), 50.0 - np.geomspace(1e-9, 0.1, 100)])
    found = np.array([shake.value(t) for t in times])
    assert np.abs(found - 0.01 * np.sin(100.0 * times)).max() < 1e-13
    with pytest.raises(ValueError, match=r"or too long: .* a larger tolerance, or give harmonics"):
        Motion.from_function(lambda t: 0.01 * np.sin(100.0 * t), (0.0, 90.0))
