"""Wheels on trees against the systems with equations of their own: disk, two-wheeled pendulum, bicycle."""

import numpy as np
import pytest

from integrators import Sampled, integrate
from mechanics import Body, Frame, Inertia, ModelError, Tree
from mechanics.constraints.loads import pulling
from mechanics.constraints.wheels import ball, skate, wheel
from mechanics.forces import wrench
from mechanics.formulations.index_one import index_one
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.formulations.reactions import reactions
from mechanics.joints import Free, Motion, Planar, Rheonomic, Slide
from mechanics.mechanism import Mechanism
from mechanics.systems.rolling import ball_on_table, mobile_manipulator, wheeled_car, whipple_bicycle
from mechanics.systems.rolling import two_wheeled_pendulum as pendulum
from mechanics.systems.rolling.chaplygin_ball import chaplygin_ball
from mechanics.systems.rolling.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.rolling.tilting_disk import tilting_disk


def disk(section=0.0):
    """The benchmark disk as a body on a free joint, and the system with its own equations."""
    system = tilting_disk(section=section, omega=(0.4, 3.0, 5.0))
    inertia = Inertia.about_com(15.0, (0, 0, 0), np.diag([3.75, 3.75, 7.5]))
    tree = Tree([Body("disk", Free(), inertia=inertia)], name="disk")
    return system, Mechanism(tree, [wheel(Frame("disk"), 1.0, section=section)], system.q0)


@pytest.mark.parametrize("section", [0.0, 0.1])
def test_a_free_wheel_is_the_tilting_disk(section):
    system, made = disk(section)
    assert made.mobility.dof == 3
    q, v = system.q0, system.velocity(system.q0, system.u0)
    assert np.abs(made.closing_velocity(q, v)).max() < 1e-13
    assert abs(made.gap(q)).max() < 1e-14
    problem = multiplier_problem(made, q, v)
    out = np.zeros(12)
    index_one.python(0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    expected, _ = system.multipliers(q, v)
    np.testing.assert_allclose(out[6:], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_the_two_wheeled_pendulum_obeys_its_equations(seed):
    p, made = pendulum.TwoWheeledPendulum(), pendulum.mechanism()
    assert made.mobility.dof == 3
    assert made.mobility.redundant == 1
    pitch, speed, pitch_rate, yaw_rate = np.random.default_rng(seed).normal(size=4) * (0.6, 2.0, 1.0, 1.5)
    q, v = pendulum.state(p, pitch, speed, pitch_rate, yaw_rate)
    a = acceleration(made, q, v)
    forward, pitch_2, yaw_2 = pendulum.accelerations(p, pitch, speed, pitch_rate, yaw_rate)
    s, c = np.sin(pitch), np.cos(pitch)
    assert a[4] == pytest.approx(pitch_2, rel=1e-10)
    assert c * a[0] + s * a[2] == pytest.approx(forward + 0.0 * s, rel=1e-10)
    assert c * a[5] - s * a[3] == pytest.approx(yaw_2, rel=1e-10)


def test_the_bicycle_on_the_tree_has_the_published_linear_motion():
    """v̇ by differences about straight rolling, against M, C₁, K₀, K₂: weave and capsize from first principles."""
    made = whipple_bicycle.mechanism()
    assert made.mobility.dof == 3
    for speed in (3.0, 4.6, 7.0):
        found = np.sort_complex(np.linalg.eigvals(linear_bicycle(made, speed)))
        np.testing.assert_allclose(
            found, np.sort_complex(whipple_bicycle.eigenvalues(whipple_bicycle.Bicycle(), speed)), atol=2e-6
        )


def linear_bicycle(made, speed):
    """The matrix of d/dt (roll, steer, roll rate, steer rate), by central differences of the tree's accelerations."""
    step, columns = 1e-5, []
    for k in range(4):
        ends = []
        for sign in (1.0, -1.0):
            x = np.zeros(4)
            x[k] = sign * step
            ends.append(bicycle_rates(made, speed, *x))
        columns.append((ends[0] - ends[1]) / (2 * step))
    return np.array(columns).T


def bicycle_rates(made, speed, roll, steer, roll_rate, steer_rate):
    q = made.home.copy()
    q[3:7] = np.cos(roll / 2), np.sin(roll / 2), 0.0, 0.0
    q[made.tree.q_slice("handlebar_joint")] = steer
    q = made.assemble(q, hold=["handlebar_joint"]).q
    rates = {"rear wheel_joint": -speed / 0.3, "handlebar_joint": steer_rate}
    base = made.velocities(q, rates).v
    G = np.vstack([made.equations.matrix(q), np.eye(9)[[6, 7, 3]]])
    v = np.linalg.lstsq(G, np.array([0.0] * 6 + [base[6], steer_rate, roll_rate]), rcond=None)[0]
    a = acceleration(made, q, v)
    return np.array([roll_rate, steer_rate, a[3], a[7]])


def acceleration(made, q, v):
    problem = multiplier_problem(made, q, v)
    out = np.zeros(2 * made.tree.nv)
    index_one.python(0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out[made.tree.nv :]


def test_the_car_has_five_degrees_of_freedom_and_rests_on_its_springs():
    made = wheeled_car.mechanism()
    assert (made.mobility.dof, made.mobility.redundant) == (5, 2)
    assert np.abs(acceleration(made, made.home, np.zeros(made.tree.nv))).max() < 1e-9


def test_a_free_ball_is_chaplygins():
    system = chaplygin_ball()
    inertia = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.06, 0.09, 0.13]))
    tree = Tree([Body("ball", Free(), inertia=inertia)], name="ball")
    made = Mechanism(tree, [ball(Frame("ball"), 0.5)], system.q0)
    assert made.mobility.dof == 3
    q, v = system.q0, system.velocity(system.q0, system.u0)
    expected, forces = system.multipliers(q, v)
    np.testing.assert_allclose(acceleration(made, q, v), expected, rtol=1e-11, atol=1e-12)
    found = reactions(made, q, v)
    np.testing.assert_allclose(
        [found[f"ball ball: {row}"] for row in ("roll x", "roll y", "height")], forces, rtol=1e-11, atol=1e-12
    )


RUNS = {
    "ball": lambda: (m := ball_on_table.mechanism(), *ball_on_table.start(m), 1.0),
    "disk": lambda: (disk()[1], disk()[0].q0, disk()[0].velocity(disk()[0].q0, disk()[0].u0), 1.0),
    "pendulum": lambda: (pendulum.mechanism(), *pendulum.state(pendulum.TwoWheeledPendulum(), 0.1, 1.0, 0.0, 0.5), 1.0),
    "manipulator": lambda: (
        m := mobile_manipulator.mechanism(),
        m.home,
        m.velocities(m.home, MANIPULATOR_RATES).v,
        1.0,
    ),
    "car": lambda: (
        m := wheeled_car.mechanism(wheeled_car.WheeledCar(heave_damping=0.0, roll_damping=0.0)),
        *wheeled_car.start(m),
        1.0,
    ),
}
MANIPULATOR_RATES = {"left_joint": 8.0, "right_joint": 10.0, "turret_joint": 1.0, "forearm_joint": -1.0}


@pytest.mark.parametrize("name", RUNS)
def test_runge_kutta_keeps_wheels_on_the_plane_and_rolling(name):
    """Both forms agree, energy is conserved to the order, heights and contact velocities to rounding; of the benchmark
    disk the plane would have to pull, by a few newtons.
    """
    made, q, v, horizon = RUNS[name]()
    forms = (multiplier_problem(made, q, v, projection="positions"), made.problem(q, v))
    ends = []
    for problem in forms:
        solution = integrate(problem, "RKMK4", (0.0, horizon), step=0.002)
        assert solution.finished
        assert [doubt.name for doubt in solution.doubts] == (["load"] if name == "disk" else [])
        assert np.nanmax(solution.greatest[:, 1]) < 1e-11
        assert np.nanmax(solution.greatest[:, 2]) < 1e-10
        assert solution.error("energy", relative=False) < 1e-6 * (1 + abs(solution.invariants[0, 0]))
        ends.append(solution.y[-1][: made.tree.nq])
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_order_of_runge_kutta_on_a_wheeled_tree():
    made, q, v, _ = RUNS["pendulum"]()
    problem = multiplier_problem(made, q, v, projection="positions")
    ends = [integrate(problem, "RKMK4", (0.0, 0.4), step=0.4 / n).y[-1] for n in (20, 40, 80)]
    first, second = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert np.log2(first / second) == pytest.approx(4.0, abs=0.3)


def test_a_skate_on_a_tree_is_the_chaplygin_sleigh():
    system = chaplygin_sleigh()
    mass, inertia, offset = system.parameters[:3]
    body = Inertia.about_com(mass, (offset, 0.0, 0.0), (inertia - mass * offset**2) * np.eye(3))
    tree = Tree([Body("sleigh", Planar(), inertia=body)], name="sleigh")
    made = Mechanism(tree, [skate(Frame.with_axis("sleigh", axis=(0.0, 1.0, 0.0)))])
    assert made.mobility.dof == 2
    q, v = system.q0, system.velocity(system.q0, system.u0)
    expected, _ = system.multipliers(q, v)
    np.testing.assert_allclose(acceleration(made, q, v), expected, rtol=1e-11, atol=1e-12)


def test_wheels_that_make_no_sense_are_refused():
    with pytest.raises(ModelError, match="positive radius"):
        wheel(Frame("a"), 0.0)
    with pytest.raises(ModelError, match="section"):
        wheel(Frame("a"), 1.0, section=-1.0)
    with pytest.raises(ModelError, match="choose among height, roll, side"):
        wheel(Frame("a"), 1.0, rows=("slip",))
    with pytest.raises(ModelError, match="positive radius"):
        ball(Frame("a"), -1.0)
    with pytest.raises(ModelError, match="choose among height, roll"):
        ball(Frame("a"), 1.0, rows=("side",))
    system, made = disk()
    with pytest.raises(ModelError, match="opens wheel disk: "):
        multiplier_problem(made, system.q0, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0]))


def test_wheels_carry_the_car_and_hold_it_in_a_curve():
    p = wheeled_car.WheeledCar()
    made = wheeled_car.mechanism(p)
    force = reactions(made)
    weight = p.gravity * sum(b.inertia.mass for b in made.tree.bodies)
    loads = [x for name, x in force.items() if name.endswith("height")]
    assert sum(loads) == pytest.approx(weight, rel=1e-12)
    assert max(abs(x) for name, x in force.items() if not name.endswith("height")) < 1e-9 * weight
    # in a curve both axles push towards the same side, together by about m v²/R
    q, v = wheeled_car.start(made, speed=5.0, steering=0.2)
    turned = reactions(made, q, v)
    side = sum(x for name, x in turned.items() if name.endswith("side"))
    radius = p.wheelbase / np.tan(0.2)
    assert side == pytest.approx(weight / p.gravity * 25.0 / radius, rel=0.1)
    assert sum(x for name, x in turned.items() if name.endswith("height")) == pytest.approx(weight, rel=1e-2)


@pytest.mark.parametrize("pose", [Mechanism.problem, multiplier_problem])
def test_a_plane_that_would_have_to_pull_at_a_wheel_is_a_doubt(pose):
    """The car in a curve: its inner wheels lift beyond a speed, and the equations hold them down."""
    made = wheeled_car.mechanism()
    state = wheeled_car.start(made, speed=25.0, steering=0.3)
    (doubt,) = integrate(pose(made, *state), "RKMK4", (0.0, 0.1), 0.01).doubts
    loads = {name: load for name, load in reactions(made, *state).items() if name.endswith("height")}
    assert (doubt.name, doubt.time) == ("load", 0.0)
    assert doubt.value == pytest.approx(min(loads.values()), rel=1e-6)
    assert min(loads, key=loads.get) in doubt.says
    assert integrate(pose(made, *wheeled_car.start(made, speed=5.0, steering=0.2)), "RKMK4", (0.0, 0.1), 0.01).success


@pytest.mark.parametrize(("yaw_rate", "doubts"), [(0.0, []), (0.8, ["load"])])
@pytest.mark.parametrize("pose", [Mechanism.problem, multiplier_problem])
def test_rounding_is_no_pull_where_nothing_weighs(pose, yaw_rate, doubts):
    """Straight on no plane is needed, in a curve one wheel is held down."""
    made = pendulum.mechanism()
    q, v = pendulum.state(pendulum.TwoWheeledPendulum(), 0.3, 1.0, 0.0, yaw_rate)
    weightless = Mechanism(made.tree.with_gravity((0.0, 0.0, 0.0)), made.equations.closures, q)
    run = integrate(pose(weightless, q, v), "RKMK4", (0.0, 0.1), 0.01)
    assert [doubt.name for doubt in run.doubts] == doubts


@pytest.mark.parametrize("amplitude", [0.05, 0.2])
def test_a_ball_lifts_off_a_plate_that_falls_faster(amplitude):
    """The plate moves by a sin(w t), with more or less than g: the load is m (g − a w² sin(w t))."""
    inertia = Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3))
    shaken = Rheonomic((Slide((0.0, 0.0, 1.0), Motion((), ((amplitude, 10.0, 0.0),))),))
    tree = Tree([Body("plate", shaken, inertia=inertia), Body("ball", Free(), inertia=inertia)])
    on_it = [ball(Frame("ball"), 0.1, Frame("plate"))]
    run = integrate(Mechanism(tree, on_it, [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]).problem(), "RKMK4", (0.0, 0.3), 0.005)
    assert run.finished
    loads = [(doubt.time, doubt.value) for doubt in run.doubts]
    assert [doubt.name for doubt in run.doubts] == ["load"] * (amplitude > 0.1)
    assert [load for _, load in loads] == pytest.approx(
        [9.81 - amplitude * 100.0 * np.sin(10.0 * t) for t, _ in loads], rel=1e-6
    )


@pytest.mark.parametrize(("method", "options"), [("GAUSS8", {"step": 0.01}), ("RKMK4", {"step": 0.002})])
@pytest.mark.parametrize("section", [0.0, 0.02])
def test_what_stops_a_coin_that_falls_flat_is_named(section, method, options):
    """It has no heading there, and its lowest point leaps: no smaller step leads through (which alone was advised)."""
    inertia = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.01, 0.01, 0.02]))
    tree = Tree([Body("coin", Free(), inertia=inertia)])
    lean = np.pi / 2 - 0.1
    start = [0.0, 0.0, 0.2 * np.sin(lean) + section, np.cos(lean / 2), 0.0, np.sin(lean / 2), 0.0]
    made = Mechanism(tree, [wheel(Frame("coin"), 0.2, section=section)], start)
    run = integrate(made.problem(), method, (0.0, 0.62), **options)
    assert not run.success
    said = [run.message, *(doubt.says for doubt in run.doubts)]
    assert any("'wheel coin' is" in text and "from lying flat on its plane" in text for text in said)
    assert made.explain(0.0, made.home) == ""


@pytest.mark.parametrize("pose", [Mechanism.problem, multiplier_problem])
@pytest.mark.parametrize(
    ("pull", "lifted"),
    [
        (9.0, None),
        (12.0, 0.0),
        (lambda t: 30.0 * t, 0.327),
        (lambda t, q, v: 30.0 * v[4], 0.327),
        (Sampled([0.0, 0.2], [0.0, 15.0]), 0.2),
    ],
    ids=["held", "held, too much", "of time", "of velocities", "sampled"],
)
def test_inputs_lift_a_ball(pose, pull, lifted):
    """A ball of 1 kg that a moment turns faster and faster is pulled up by an input: the load is m g less that."""
    inertia = Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3))
    tree = Tree([Body("ball", Free(), inertia=inertia)])
    elements = [wrench(Frame("ball"), axes="world", name="crane")]
    made = Mechanism(tree, [ball(Frame("ball"), 0.1)], [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], elements)
    spin = 0.11  # N m: the ball rolls with the moment of inertia 0.1 + 1.0 * 0.1**2 about its place of contact
    driven = pose(made).with_inputs({"crane.my": spin, "crane.fz": pull})
    for problem in (driven, driven.with_work()):
        run = integrate(problem, "RKMK4", (0.0, 0.5), 0.005)
        assert run.finished
        assert [doubt.name for doubt in run.doubts] == ([] if lifted is None else ["load"])
        if lifted is None:
            continue
        (doubt,) = run.doubts
        assert lifted - 1e-12 <= doubt.time <= lifted + 2.0 * 0.5 / 16


def test_wheels_that_can_share_their_load_otherwise_do_not_lift():
    """A rigid frame on four wheels: of least norm are loads of which one pulls, but three can carry the frame."""
    places = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]])
    G = np.column_stack([np.ones(4), places])
    carried = G.T @ [3.0, 0.0, 1.0, 0.0]  # on one diagonal
    assert pulling(G, carried, range(4), 1e-3) is None
    on_one = G.T @ [4.0, 0.0, 0.0, 0.0]
    assert np.linalg.lstsq(G.T, on_one)[0].min() == pytest.approx(-1.0)
    assert pulling(G, on_one, range(4), 1e-3) is None
    outside = G.T @ [4.0, 0.0, -0.5, 0.0]
    assert pulling(G, outside, range(4), 1e-3)[0] == 2


def test_the_force_on_a_free_wheel_is_that_of_the_disk():
    """Load, heading and lateral force against the multipliers of the disk, which are components in space."""
    system, made = disk()
    q, v = system.q0, system.velocity(system.q0, system.u0)
    found = reactions(made, q, v)
    _, expected = system.multipliers(q, v)
    assert found["wheel disk: height"] == pytest.approx(expected[2], rel=1e-11)
    assert np.hypot(found["wheel disk: roll"], found["wheel disk: side"]) == pytest.approx(
        np.hypot(*expected[:2]), rel=1e-11
    )


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_a_wheel_is_as_large_as_its_radius(unit):
    """The limit of its gap was five hundredths of a unit of length."""
    inertia = Inertia.about_com(0.01, (0, 0, 0), 0.01 * (0.002 * unit) ** 2 * np.diag([0.25, 0.25, 0.5]))
    coin = Tree([Body("coin", Free(), inertia=inertia)], gravity=(0, 0, -9.81 * unit))
    upright = [0, 0, 0.002 * unit, np.sqrt(0.5), np.sqrt(0.5), 0, 0]
    rolls = Mechanism(coin, [wheel(Frame("coin"), 0.002 * unit)], upright)
    assert rolls.size == pytest.approx(0.002 * unit)
    limits = [guard.greatest for guard in rolls.problem(projection="momenta").guards if guard.name == "gap"]
    assert limits == pytest.approx([0.05 * 0.002 * unit])
