"""Networks whose nodes are on supports that move, and on rigid bodies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import integrate, resume
from integrators.methods import METHODS
from integrators.problem import Problem
from liegroup import se3, so3
from mechanics import Body, Frame, Inertia, ModelError, Tree
from mechanics.elastic import Dampers, Hinges, Network, RigidBody, Springs
from mechanics.elastic.rods import Rod, Section
from mechanics.joints import Free, Motion

pytestmark = pytest.mark.filterwarnings("ignore:before .* steps:RuntimeWarning")
"""Steps that are too long are looked at in what a run says when it has ended."""

SWING = Motion(harmonics=((0.1, 2.0, 0.3),))
SAMPLED = Motion.from_samples(np.linspace(0.0, 8.0, 81), 0.05 * np.sin(np.linspace(0.0, 8.0, 81)) ** 2)


def shaken(damping: float = 0.0, drag: float = 0.0, motion: Motion = SAMPLED) -> Network:
    """A chain of which one end swings, with springs up to a hundred times as stiff as others."""
    n = 5
    points = [[k, 0.05 * k * k, 0.0] for k in range(n)]
    elements: list[Any] = [Springs([[k, k + 1] for k in range(n - 1)], [1.0, 5.0, 20.0, 100.0])]
    if damping:
        elements.append(Dampers([[0, 1], [2, 3]], damping))
    return Network(points, 1.0, elements, gravity=(0, 0, -1.0), drag=drag, motions={0: (SWING, None, motion)})


def end(problem: Problem, method: Any, time: float, steps: int) -> np.ndarray:
    return np.asarray(integrate(problem, method, (0.0, time), time / steps, save_every=steps).y[-1])


def by_hand(network: Network, damping: float, drag: float, time: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Places and velocities of the chain, and the work of its support, by SciPy and plain formulas."""
    (pairs, stiffness), points = (network.elements[0].nodes, network.elements[0].stiffness[:, 0]), network.points
    rest = np.linalg.norm(points[pairs[:, 1]] - points[pairs[:, 0]], axis=1)
    swing, sampled, _ = network.motions[0][0], network.motions[0][2], None

    def rates(t: float, z: np.ndarray) -> np.ndarray:
        x, v = np.zeros((5, 3)), np.zeros((5, 3))
        x[1:], v[1:] = z[:12].reshape(4, 3), z[12:24].reshape(4, 3)
        x[0] = points[0] + [swing.value(t), 0.0, sampled.value(t)]
        v[0] = [swing.rate(t), 0.0, sampled.rate(t)]
        f = np.zeros((5, 3))
        for (a, b), k, l0 in zip(pairs, stiffness, rest, strict=True):
            d = x[b] - x[a]
            g = k * (np.linalg.norm(d) - l0) * d / np.linalg.norm(d)
            f[a] += g
            f[b] -= g
        for a, b in ((0, 1), (2, 3)):
            d = x[b] - x[a]
            u = d / np.linalg.norm(d)
            g = damping * (u @ (v[b] - v[a])) * u
            f[a] += g
            f[b] -= g
        power = -f[0] @ v[0]
        f[1:] += [0, 0, -1.0] - drag * v[1:]
        return np.concatenate([v[1:].ravel(), f[1:].ravel(), [power]])

    start = np.concatenate([points[1:].ravel(), np.zeros(13)])
    z = solve_ivp(rates, (0.0, time), start, "DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    return z[:12], z[12:24], z[24]


@pytest.mark.parametrize(("damping", "drag"), [(0.0, 0.0), (0.3, 0.2)])
def test_supports_move_a_network_as_formulas_say(damping: float, drag: float) -> None:
    """Against SciPy: places, momenta and the work of the support, with dampers on it, too; AVI of order 2."""
    network = shaken(damping, drag)
    x, v, work = by_hand(network, damping, drag, 2.0)
    expected = np.concatenate([x, v, [work]])

    def found(y: np.ndarray) -> np.ndarray:
        return np.concatenate([y[3:15], y[18:30], [y[15:18].sum()]])

    problem = network.problem()
    assert np.abs(found(end(problem, "GAUSS8", 2.0, 40)) - expected).max() < 1e-9
    errors = [np.abs(found(end(problem, "AVI", 2.0, n)) - expected).max() for n in (20, 40, 80)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.15)
    place = network.points[0] + [SWING.value(2.0), 0.0, SAMPLED.value(2.0)]
    assert np.abs(end(problem, "AVI", 2.0, 7)[:3] - place).max() < 1e-15


@pytest.mark.parametrize(
    ("name", "bound"), [("AVI", 0.02), ("AVI_SUZUKI4", 1e-5), ("SPLIT_STRANG", 0.02), ("SPLIT_SRKN6_11B", 1e-8)]
)
def test_the_energy_is_the_work_of_the_support(name: str, bound: float) -> None:
    run = integrate(shaken().problem(), name, (0.0, 8.0), 0.05)
    assert np.ptp(run["energy"]) > 0.05
    assert run.error("balance", relative=False) < bound
    moved = np.stack([SWING.value(run.t), 0.0 * run.t, [SAMPLED.value(t) for t in run.t]], axis=1)
    assert np.abs(run.y[:, :3] - moved).max() < 1e-14


def test_the_balance_stays_over_many_periods_of_the_support() -> None:
    """No slope: the work belongs to the time as momenta to places."""
    points, motions = [[k, 0, 0] for k in range(3)], {0: (SWING, None, None)}
    network = Network(points, 1.0, [Springs([[0, 1], [1, 2]], [1.0, 40.0])], gravity=(0, 0, 0), motions=motions)
    run = integrate(network.problem(), "AVI", (0.0, 20000.0), network.step(), save_every=10)
    balance = np.abs(run["balance"] - run["balance"][0])
    first, *_, last = np.array_split(balance, 10)
    assert last.max() < 1.2 * first.max() < 0.1 * np.ptp(run["energy"])


@pytest.mark.parametrize(("rest", "method"), [(-0.3, "GAUSS8"), (0.3, "GAUSS8"), (-0.3, "AVI")])
def test_energy_that_a_network_on_a_moving_support_makes_is_a_doubt(rest: float, method: str) -> None:
    """A hinge folds through itself, and its energy jumps by a quarter of all: GAUSS8 steps across it unseen."""
    points = np.array([[0, 0, 0], [0, 1, 0], [-0.8, 0.5, 0.0], [0.8, 0.5, 0.0]])
    elements = [Springs([[0, 1], [0, 2], [1, 2], [0, 3], [1, 3]], 300.0), Hinges([[0, 1, 2, 3]], 0.5, rest=rest)]
    sways = Motion.from_function(lambda t: 0.01 * np.sin(t) ** 2, (0, 9.0))
    network = Network(points, 0.3, elements, gravity=(0, 0, 0), fixed=[1, 2], motions={0: (sways, None, None)})
    problem = network.problem(velocities=[[0, 0, 0]] * 3 + [[0, 0, 5.0]])
    before, run = (integrate(problem, method, (0.0, end), 0.002) for end in (0.5, 0.8))
    assert before.success
    assert abs(run["balance"][-1] - run["balance"][0]) > 0.2 * run["balance"][0]
    assert "balance" in [doubt.name for doubt in run.doubts]


@pytest.mark.parametrize("speed", [0.0, 3.0])
@pytest.mark.parametrize(("damping", "drag"), [(0.0, 0.0), (0.3, 0.2)])
def test_the_balance_is_judged_by_what_work_brings_and_the_motion_exchanges(
    damping: float, drag: float, speed: float
) -> None:
    """Posed at rest, with nothing at play; started as it is, or fast; forwards, and back; few states saved."""
    points, motions = [[k, 0, 0] for k in range(3)], {0: (SWING, None, None)}
    elements = [Springs([[0, 1], [1, 2]], [10.0, 40.0]), Dampers([[0, 1]], damping)]
    network = Network(points, 1.0, elements, gravity=(0, 0, 0), drag=drag, motions=motions)
    problem = network.problem()
    start = problem.y0 + np.r_[np.zeros(14), speed, np.zeros(3)]
    for method in ("GAUSS8", "RKMK4", "AVI"):
        for every in (1, 100):
            run = integrate(problem, method, (0.0, 4.0), 0.02, y0=start, save_every=every)
            assert run.success, run.message
            assert np.ptp(run["energy"]) > 1e-5
    back = integrate(problem, "RKMK4", (4.0, 0.0), 0.02, y0=run.y[-1])
    assert back.success, back.message


def test_one_step_is_that_of_verlet_and_the_queue() -> None:
    """With equal steps AVI, its free form and the splitting are one method."""
    points = [[k, 0, 0] for k in range(4)]
    network = Network(
        points,
        1.0,
        [Springs([[k, k + 1] for k in range(3)], 4.0)],
        gravity=(0, 0, -1.0),
        motions={3: (SWING, 0.2, None)},
    )
    problem = network.problem()
    one = end(problem, "AVI", 2.0, 40)
    for name in ("AVI_FREE", "SPLIT_STRANG"):
        other = end(problem, name, 2.0, 40)
        free = np.r_[0:9, 12:21]
        if name == "AVI_FREE":
            assert np.abs(other - one).max() < 1e-12
        else:  # drift, kick, drift: conjugate to kick, drift, kick
            assert np.abs(other - one)[free].max() < 0.01


def test_lanes_and_checkpoints_of_moved_networks_are_bits(tmp_path: Path) -> None:
    problem = shaken(0.2).problem()
    starts = problem.y0 + 0.01 * np.arange(8)[:, None] * np.r_[np.zeros(3), np.ones(12), np.zeros(3), np.ones(12)]
    together = integrate(problem, "AVI", (0.0, 1.0), 0.1, y0=starts).y[:, -1]
    single = np.array([integrate(problem, "AVI", (0.0, 1.0), 0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)
    whole = integrate(problem, "AVI", (0.0, 4.0), 0.1)
    file = tmp_path / "run.ckpt"
    integrate(problem, "AVI", (0.0, 4.0), 0.1, checkpoint=file, every=7, callback=lambda t, y: t > 1.5)
    assert np.array_equal(resume(file, problem).y, whole.y)


def test_a_moved_network_on_a_mechanism_has_the_same_equations() -> None:
    """Its supports become rheonomic joints."""
    network = shaken()
    other = Tree([Body("other", Free(), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))], gravity=(0, 0, -1.0))
    made, problem = network.attached_to(other, {}), network.problem()
    y = problem.y0 + 0.1 * np.cos(np.arange(30.0)) * np.r_[np.zeros(3), np.ones(12), np.zeros(3), np.ones(12)]
    q = np.r_[made.home[:7], y[3:15] - network.points[1:].ravel()]
    _, rate = made.rhs(q, np.r_[np.zeros(6), y[18:]], 0.7)
    np.testing.assert_allclose(rate[6:], problem.velocity(0.7, y)[18:], atol=1e-12)


def test_a_run_past_the_end_of_a_motion_says_so() -> None:
    problem = shaken().problem()
    run = integrate(problem, "AVI", (0.0, 9.0), 0.1)
    assert run.status.is_failure
    assert "the motion of node 0 along z is known from 0 to 8 s" in run.message
    late = shaken().problem(time=2.0)
    assert late.y0[0] == SWING.value(2.0)
    with pytest.raises(ValueError, match="2"):
        integrate(late, "AVI", (0.0, 1.0), 0.1)


# --- bodies -----------------------------------------------------------------------------------------------------------

CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.4, 0.4) for z in (-0.3, 0.3)])
MOMENTS = np.array([[0.3, 0.02, 0.01], [0.02, 0.4, 0.03], [0.01, 0.03, 0.5]])
BOX = RigidBody(range(8), Inertia.about_com(2.0, (0.05, 0.02, -0.01), MOMENTS), "box")
TWIST = np.array([0.1, 0.2, -0.1, 0.5, -0.4, 0.8])
MOMENTA = [f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz"]


def cage(gravity: Any = (0, 0, 0), damping: float = 0.0, **options: Any) -> tuple[Network, np.ndarray]:
    """A box on springs from its corners to points of a cage around it, and velocities of these."""
    rng = np.random.default_rng(3)
    points = np.concatenate([CORNERS, 2.0 * CORNERS + 0.1 * rng.normal(size=CORNERS.shape)])
    edges = [[8 + i, 8 + j] for i in range(8) for j in range(i) if bin(i ^ j).count("1") == 1]
    elements: list[Any] = [
        Springs([[i, i + 8] for i in range(8)] + edges, np.r_[500.0, np.full(7, 30.0), np.full(12, 4.0)])
    ]
    if damping:
        elements.append(Dampers([[i, i + 8] for i in range(8)], damping))
    masses = np.r_[np.full(8, 0.1), np.full(8, 1.0)]
    velocities = np.zeros((16, 3))
    velocities[8:] = 0.3 * rng.normal(size=(8, 3))
    options = {"bodies": [BOX]} | options
    return Network(points, masses, elements, gravity=gravity, name="cage", **options), velocities


@pytest.fixture(scope="module")
def flying() -> Problem:
    network, velocities = cage()
    return network.problem(velocities=velocities, twists=[TWIST])


def test_a_body_on_springs_moves_as_that_of_a_mechanism(flying: Problem) -> None:
    network, velocities = cage()
    alone, _ = cage(bodies=[])
    tree = Tree([Body("box", Free(), inertia=BOX.inertia)], gravity=(0, 0, 0))
    made = alone.attached_to(tree, {i: Frame("box", CORNERS[i]) for i in range(8)})
    R, centre = so3.as_matrix(network.poses[0, 3:]), network.poses[0, :3]
    w = R @ TWIST[3:]
    v = np.concatenate([R @ TWIST[:3] - np.cross(w, centre), w, velocities[8:].ravel()])
    q = integrate(made.problem(v=v), "GAUSS8", (0.0, 1.0), 0.05)["q"][-1]
    x = end(flying, "GAUSS8", 1.0, 20)[:48].reshape(16, 3)
    assert np.abs(q[7:].reshape(8, 3) + network.points[8:] - x[8:]).max() < 1e-12
    assert np.abs(se3.act(q[:7], CORNERS) - x[:8]).max() < 1e-12


@pytest.mark.parametrize(
    ("name", "order"), [("AVI", 2), ("AVI_SUZUKI4", 4), ("SPLIT_STRANG", 2), ("SPLIT_SRKN6_11B", 6)]
)
def test_methods_keep_order_and_momenta_with_bodies(flying: Problem, name: str, order: int) -> None:
    exact = end(flying, "GAUSS8", 1.0, 100)
    counts = (80, 160) if order < 6 else (20, 40)
    errors = [np.abs(end(flying, name, 1.0, n) - exact).max() for n in counts]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35)
    run = integrate(flying, name, (0.0, 20.0), 0.02)
    assert max(run.error(k, relative=False) for k in MOMENTA) < 1e-13
    assert run.error("energy") < 0.01


@pytest.mark.slow
def test_bodies_keep_energy_and_momenta_over_a_million_steps(flying: Problem) -> None:
    """No slope of the energy; momenta to rounding, that of turning as far as the places, which go away, are known.

    The motion is chaotic: at twice the step the energy of one start in five, which differ by 1e-9, wanders off slowly.
    """
    run = integrate(flying, "AVI", (0.0, 10000.0), 0.01, save_every=100)
    assert run.success
    assert not run.doubts
    error = np.abs(run["energy"] - run["energy"][0])
    first, *_, last = np.array_split(error, 10)
    assert last.max() < 1.4 * first.max() < 0.0005 * run["energy"][0]
    assert last.mean() < 1.2 * first.mean()
    assert max(run.error(k, relative=False) for k in MOMENTA[:3]) < 1e-12
    assert max(run.error(k, relative=False) for k in MOMENTA[3:]) < 1e-13 * np.abs(run.y[:, :48]).max()
    assert np.abs(np.linalg.norm(run.y[:, 51:55], axis=1) - 1.0).max() < 1e-15


def test_dampers_on_bodies_take_energy_and_keep_momenta() -> None:
    network, velocities = cage(damping=2.0)
    problem = network.problem(velocities=velocities, twists=[TWIST])
    exact = end(problem, "GAUSS8", 1.0, 100)
    errors = [np.abs(end(problem, "AVI", 1.0, n) - exact).max() for n in (40, 80)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)
    run = integrate(problem, "AVI", (0.0, 5.0), 0.02)
    assert run["energy"][-1] < 0.9 * run["energy"][0]
    assert max(run.error(k, relative=False) for k in MOMENTA) < 1e-13
    stiff, _ = cage(damping=1e9)
    assert np.isfinite(end(stiff.problem(velocities=velocities, twists=[TWIST]), "AVI", 1.0, 50)).all()


def test_a_damper_that_holds_as_if_it_were_rigid_is_named() -> None:
    """A start that moves against it: no smaller step helps, and a method whose dampers have no limit does."""
    stiff, velocities = cage(damping=1e9)
    problem = stiff.problem(velocities=velocities, twists=[TWIST])
    run = integrate(problem, "MIDPOINT", (0.0, 0.1), 0.02)
    assert run.status.is_failure
    assert "a damper holds as if it were rigid" in run.message
    assert "take AVI, which no damper limits" in run.message
    assert integrate(problem, "AVI", (0.0, 0.1), 0.02).success


def test_a_body_that_turns_far_within_a_step_is_doubted() -> None:
    """Its energy is nearly all of its own, and shows nothing; about an axis through all of its nodes it may spin."""
    network, _ = cage()
    for spin, doubted in ((2.0, False), (2e4, True)):
        problem = network.problem(twists=[[0, 0, 0, 0, 0, spin]])
        found = [d for d in network.doubts(problem.y0, network.step()) if d.name == "turn"]
        angle = spin * 0.5 * network.step()  # the legs have half the step of the cage
        assert [f"box turns its nodes by {d.value:.3g} rad" in str(d) for d in found] == [True] * doubted
        assert all(0.9 * angle < d.value < angle for d in found)
        assert ("box, which turns its nodes" in problem.fastest(problem.y0)[1]) == doubted
    points = [[0.0, 0.0, z] for z in (2.0, 0.5, -0.5)]
    hung = Network(points, 0.1, [Springs([[0, 1]], 40.0)], fixed=[0],
                   bodies=[RigidBody([1, 2], Inertia.about_com(1.0, (0, 0, 0), np.diag([0.1, 0.1, 0.1])))])  # fmt: skip
    assert not hung.doubts(hung.problem(twists=[[0, 0, 0, 0, 0, 1e4]]).y0, hung.step())


def test_a_body_turns_as_far_as_the_elements_at_its_nodes_let_it() -> None:
    """No element: it flies exactly.  Stiff ones: their steps count, not the longest; slow ones, dampers: that."""
    centre = [3.0, 0.0, 0.0]
    points = [[0, 0, 0], [1, 0, 0], *(np.add(centre, [x, 0, 0]) for x in (-0.5, 0.5)),
              *(np.add(centre, [x, 0, 0]) for x in (-1.0, 1.0))]  # fmt: skip
    body = RigidBody([2, 3], Inertia.about_com(1.0, centre, np.diag([0.1, 0.1, 0.1])), "rotor")

    def held(stiffness: Any, joined: Any = (0, 1), dampers: Any = ()) -> tuple[Network, np.ndarray]:
        extra = [Dampers(dampers, 1.0)] if len(dampers) else []
        sets = [Springs(np.reshape(joined, (-1, 2)), stiffness), *extra]
        network = Network(
            points, [1.0, 1.0, 0.0, 0.0, 1.0, 1.0], sets, fixed=[0, 4, 5], gravity=(0, 0, 0), bodies=[body]
        )
        return network, network.problem(twists=[[0, 0, 0, 0, 0, 2.0 / network.step()]]).y0

    def turn(network: Network, y: np.ndarray) -> list[float]:
        return [d.value for d in network.doubts(y, network.step()) if d.name == "turn"]

    network, y = held(1.0)
    assert turn(network, y) == []
    problem, h = network.problem(twists=[[0, 0, 0, 0, 0, 2.0 / network.step()]]), network.step()
    assert problem.fastest(y)[0] == pytest.approx(max(w.max() for w in network.frequencies()))
    assert METHODS["SPLIT_STRANG"].doubts(problem, y, h) == []
    assert METHODS["AVI"].doubts(problem, y, h) == []
    legs = [(4, 2), (5, 3)]
    stiff, y = held([1.0, 1e5, 1e5], [(0, 1), *legs])
    assert stiff._depth > 6
    assert turn(stiff, y) == []
    assert turn(*held([1.0, 1.0, 1.0], [(0, 1), *legs])) == [pytest.approx(2.0)]
    assert turn(*held([1.0, 1e5, 1e5], [(0, 1), *legs], dampers=legs)) == []
    assert turn(*held(1.0, dampers=legs)) == [pytest.approx(2.0)]


def test_a_free_body_falls_exactly() -> None:
    """One step of any size: a spinning body and a point, with a spring that has no force."""
    points = [[0.3, 0, 0], [2.0, 0, 0]]
    body = RigidBody([0], Inertia.about_com(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.25])))
    network = Network(points, [0.0, 1.0], [Springs([[0, 1]], 0.0, 1.0)], gravity=(0.5, 0, -9.81), bodies=[body])
    problem = network.problem(twists=[[1.0, 2.0, 3.0, 0.2, 5.0, 0.1]])
    one, many = end(problem, "AVI", 1.0, 1), end(problem, "AVI", 1.0, 50)
    assert np.abs(one - many).max() < 1e-13
    assert np.abs(one[6:9] - [1.25, 2.0, 3.0 - 4.905]).max() < 1e-14
    assert np.abs(end(problem, "GAUSS8", 1.0, 100) - one).max() < 1e-10


def test_lanes_and_checkpoints_with_bodies_are_bits(flying: Problem, tmp_path: Path) -> None:
    starts = np.array([flying.y0 + 0.01 * k * (np.arange(len(flying.y0)) >= 55) for k in range(8)])
    together = integrate(flying, "AVI", (0.0, 1.0), 0.1, y0=starts).y[:, -1]
    single = np.array([integrate(flying, "AVI", (0.0, 1.0), 0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)
    whole = integrate(flying, "AVI", (0.0, 3.0), 0.1)
    file = tmp_path / "run.ckpt"
    integrate(flying, "AVI", (0.0, 3.0), 0.1, checkpoint=file, every=7, callback=lambda t, y: t > 1.5)
    assert np.array_equal(resume(file, flying).y, whole.y)


def test_frequencies_of_elements_bound_those_with_bodies() -> None:
    """Irons and Treharne: no frequency above the largest of an element with its share of masses and moments."""
    network, _ = cage()
    fastest = fastest_of(network)
    bound = max(w.max() for w in network.frequencies())
    assert fastest < bound < 1.5 * fastest


def fastest_of(network: Network) -> float:
    """The largest frequency of the cage at rest, by differences of the field."""
    problem = network.problem()
    m, steps = problem.dimension // 2, 1e-6

    def force(k: int, by: float) -> np.ndarray:
        y, pose = problem.y0.copy(), network.poses[0]
        if k < 48:
            y[k] += by
        else:
            y[48:55] = se3.compose(pose, se3.exp(by * np.eye(6)[k - 48]))
        return problem.velocity(0.0, y)[m:]

    free = np.r_[24:48, 48:54]
    K = -np.array([(force(k, steps) - force(k, -steps)) / (2 * steps) for k in free]).T[free]
    inverse = np.array([problem.velocity(0.0, np.r_[problem.y0[:55], e])[:m] for e in np.eye(m)])[np.ix_(free, free)]
    return float(np.sqrt(np.linalg.eigvals(inverse @ K).real.max()))


def test_vibrations_with_bodies_are_those_of_the_equations() -> None:
    """Their largest frequency is that of the linear equations at rest."""
    network, _ = cage()
    inner = network._vibrations
    fastest = float(np.sqrt(np.linalg.eigvalsh(inner._levels.sum(axis=0))[-1]))
    assert fastest == pytest.approx(fastest_of(network), rel=1e-6)
    assert not network.resonances()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: pair(motions={5: (None, None, None)}), "motions: name the node 5; give numbers from 0 to 1"),
        (lambda: pair(motions={0: (SWING, None)}), r"motions\[0\]: has 2 entries"),
        (lambda: pair(motions={0: (SWING, None, None)}, fixed=[0]), "node 0: is held, moved or carried already"),
        (lambda: pair(bodies=[RigidBody([0], Inertia.point(1.0))]), "body: inertia: has the mass 2 kg and principal"),
        (lambda: pair(bodies=[RigidBody([7], BOX.inertia)]), "body: carries the node 7"),
        (lambda: pair(bodies=[RigidBody([0], BOX.inertia)], drag=0.1), "drag: is not 0 of node 0, which body carries"),
        (lambda: RigidBody([], BOX.inertia), "body: nodes"),
        (lambda: pair(motions={0: (SWING, None, None)}).problem(velocities=[[1, 0, 0], [0, 0, 0]]),
         "node 0: is moved by its support or body and has a velocity"),
        (lambda: pair(motions={0: (SWING, None, None)}).problem(positions=[[5, 0, 0], [1, 0, 0]]),
         "node 0: is given at"),
        (lambda: pair(motions={0: (SAMPLED, None, None)}).problem(time=9.0),
         "node 0: at t = 9 s its motion along x is known from 0 to 8 s"),
        (lambda: pair(bodies=[RigidBody([0], BOX.inertia)]).attached_to(Tree([Body("b", Free(), inertia=BOX.inertia)],
         gravity=(0, 0, -9.81)), {}), "body: is a body of a network alone"),
    ],
)  # fmt: skip
def test_bad_supports_and_bodies_are_named(build: Any, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        build()


def test_a_mode_that_rests_at_its_supports_but_for_rounding_is_a_start():
    """sin π is 1.2e-16: not refused, and the support rests."""
    shape = np.sin(np.pi * np.arange(7) / 6)
    assert shape[-1] != 0.0
    points = [[0.1 * k, 0.0, 0.0] for k in range(7)]
    string = Network(points, 0.01, [Springs([[k, k + 1] for k in range(6)], 100.0, 0.08)], fixed=[0, 6])
    start = string.problem(velocities=np.outer(shape, [0.0, 1e-3, 0.0]))
    assert not np.asarray(start.y0)[-3:].any()
    strip = Rod.straight(1.0, 6, Section.round(0.02, 1e6, density=1100.0), supports={0: "pinned", -1: "clamped"})
    swing = np.zeros((7, 6))
    swing[:, 1] = shape
    strip.problem(velocities=swing)
    with pytest.raises(ModelError, match="node 0: is held and has a velocity"):
        string.problem(velocities=np.outer(np.maximum(shape, 1e-9), [0.0, 1e-3, 0.0]))


def pair(**options: Any) -> Network:
    return Network([[0, 0, 0], [1, 0, 0]], 1.0, [Springs([[0, 1]], 1.0)], **options)


def test_a_method_that_needs_every_inertia_names_what_a_support_moves():
    moved = Motion.from_function(lambda t: 0.02 * np.sin(3 * t), (0.0, 20.0))
    chain = Network(
        [[0.1 * k, 0.0, 0.0] for k in range(4)], 0.01, [Springs([[0, 1], [1, 2], [2, 3]], 500.0)], gravity=(0, 0, 0),
        motions={0: (moved, 0.0, 0.0)},
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"LGVI_CAYLEY: .*momentum 0 moves nothing.*take SPLIT_STRANG"):
        integrate(chain.problem(), "LGVI_CAYLEY", (0.0, 1.0), 1e-3)


def test_a_network_all_of_whose_nodes_are_on_bodies_has_a_motion():
    """Two bodies on a spring between their massless nodes: as far apart as a mass of half of one swings."""
    bodies = [
        RigidBody(nodes, Inertia.about_com(1.0, (x, 0, 0), 0.1 * np.eye(3)))
        for nodes, x in (([0, 1], 0.0), ([2, 3], 3.0))
    ]
    points = [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]]
    network = Network(points, [0.0] * 4, [Springs([[1, 2]], 100.0)], bodies=bodies, gravity=(0, 0, 0))
    problem = network.problem(twists=[[0.1, 0, 0, 0, 0, 0], [-0.1, 0, 0, 0, 0, 0]])
    run = integrate(problem, "GAUSS8", (0.0, 1.0), 0.02)
    assert run.success, run.message
    apart = run.y[:, 12 + 7] - run.y[:, 12]
    rate = np.sqrt(200.0)
    np.testing.assert_allclose(apart, 3.0 - 0.2 / rate * np.sin(rate * run.t), atol=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_a_spring_within_a_body_has_no_frequency(seed: int) -> None:
    """It goes with the slowest; rounding of its stiffness had been one, and a step four hours."""
    points = np.random.default_rng(seed).uniform(-1.0, 1.0, (6, 3))
    body = RigidBody([0, 1, 2], Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3)))
    springs = Springs([(k, k + 1) for k in range(5)], 100.0)
    network = Network(points, 0.3, [springs], gravity=(0, 0, 0), bodies=[body])
    outside = Network(
        points, 0.3, [Springs([(k, k + 1) for k in range(2, 5)], 100.0)], gravity=(0, 0, 0), bodies=[body]
    )
    assert network.step() == pytest.approx(outside.step())
