"""Rods that keep strains of their elements: RATTLE, the motion with stresses, chains, falls, and rods at rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Problem, Status, integrate, resume
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from liegroup import se3, so3
from mechanics import ModelError
from mechanics.elastic.rods import Load, Rod, RodError, Section, Stroke, equilibrium, step_limit, vibrations

pytestmark = pytest.mark.filterwarnings("ignore:before .* steps:RuntimeWarning")
"""Steps that are too long are looked at in what a run says when it has ended."""

KIRCHHOFF = ("stretch", "shear")
BEAM = Section(1e4, 1e4, 1e4, 500.0, 500.0, 500.0, 1.0, (0.02, 0.01, 0.01))


def thrown(rod: Rod, seed: int = 0, **options: Any) -> Problem:
    """With velocities at random that keep the strains."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(rod.n_elements + 1, 6)) * [1.0, 1.0, 1.0, 0.3, 0.3, 0.3]
    return rod.problem(velocities=rod.admissible(v), **options)


def end(problem: Problem, method: str, time: float, steps: int) -> Any:
    return integrate(problem, method, (0.0, time), time / steps, save_every=steps).y[-1]


@pytest.fixture(scope="module")
def flying() -> Problem:
    return thrown(Rod.straight(4.0, 4, BEAM, rigid=KIRCHHOFF))


@pytest.mark.parametrize(
    ("name", "steps"), [("RATTLE_DRIFT", 400), ("RATTLE_DRIFT_SUZUKI4", 100), ("RATTLE_DRIFT_KAHANLI6", 100)]
)
def test_orders_against_the_motion_with_stresses(flying: Problem, name: str, steps: int) -> None:
    """The field has λ from c'' = 0 and knows nothing of RATTLE: by Runge-Kutta steps of order 8."""
    exact = end(flying, "RKMK_DOP853", 0.2, 800)
    errors = [np.abs(end(flying, name, 0.2, n) - exact).max() for n in (steps, 2 * steps)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.3)


@pytest.mark.parametrize("rigid", [("stretch",), KIRCHHOFF, ("stretch", "shear", "torsion")])
def test_strains_momenta_and_energy_are_kept(rigid: tuple[str, ...]) -> None:
    section = BEAM if rigid != ("stretch",) else Section(1.0, 300.0, 200.0, 300.0, 400.0, 500.0, 1.0, (0.3, 0.2, 0.1))
    rod = Rod.arc(5.0, 1.0, 6, section, rigid=rigid)
    problem, h = thrown(rod), 0.25 * step_limit(rod).step
    run = integrate(problem, "RATTLE_DRIFT", (0.0, 4000 * h), h, save_every=10)
    assert run.success
    assert not run.doubts
    assert np.max(run["gap"]) < 1e-13
    assert np.max(run["closing_velocity"]) < 1e-12
    assert max(run.error(name, relative=False) for name in problem.invariant_names[1:7]) < 1e-12
    energy = np.asarray(run["energy"])
    first, second = np.array_split(energy / energy[0] - 1.0, 2)
    assert np.abs(first).max() < 0.02
    assert np.abs(second).max() < 1.5 * np.abs(first).max()


def test_a_step_forward_and_back_returns(flying: Problem) -> None:
    step = step_map(flying, METHODS["RATTLE_DRIFT"])
    there = step(flying.y0, 2e-3)
    assert np.abs(step(there, -2e-3) - flying.y0).max() < 1e-13


def test_the_limit_of_ever_stiffer_rods() -> None:
    """A rod with EA = GA from 1e3 to 1e5 N comes near it, in proportion to 1/EA."""

    def fall(section: Section, rigid: tuple[str, ...]) -> Any:
        rod = Rod.straight(4.0, 4, section, supports={0: "pinned"}, gravity=(0.0, 0.0, -9.81), rigid=rigid)
        method = "RATTLE_DRIFT" if rigid else "SPLIT_STRANG"
        steps = 2000 if rigid else 16000
        run = integrate(rod.problem(), method, (0.0, 0.8), 0.8 / steps, save_every=steps)
        return rod.node_poses(run.t[-1], run.y[-1])[:, :3]

    numbers = (20.0, 20.0, 20.0, 1.0, (0.06, 0.03, 0.03))
    limit = fall(Section(1.0, 1.0, 1.0, *numbers), KIRCHHOFF)
    apart = [np.abs(fall(Section(k, k, k, *numbers), ()) - limit).max() for k in (1e3, 1e4, 1e5)]
    assert apart[0] > 5.0 * apart[1] > 25.0 * apart[2]
    assert apart[2] < 5e-3


def test_a_falling_chain_of_hinges_is_lagranges() -> None:
    """Without bending stiffness, in the plane, against Lagrange's equations in the angles, written here by hand.

    An element of the helix is a circular arc that turns by θ_b − θ_a: its chord has the direction (θ_a + θ_b)/2 and the
    length l sin(½Δ)/(½Δ).
    """
    n, l, rho, J, g = 3, 0.5, 2.0, 0.02, 9.81
    soft = Section(1.0, 1.0, 1.0, 1e-300, 1e-300, 1e-300, rho, (2 * J, J, J))
    rod = Rod.straight(n * l, n, soft, supports={0: "pinned"}, gravity=(0.0, 0.0, -g), rigid=KIRCHHOFF)
    masses, inertias = rod.inertia[:, 0], rod.inertia[:, 2]

    def places(theta: Any) -> Any:
        half, mean = 0.5 * np.diff(theta), 0.5 * (theta[1:] + theta[:-1])
        chord = l * np.sinc(half / np.pi)
        return np.cumsum(chord * np.array([np.cos(mean), np.sin(mean)]), axis=1)

    def slopes(theta: Any) -> Any:
        """∂(x, z)/∂θ (2, n, n + 1) by complex steps."""
        return np.stack([places_c(theta, k) for k in range(n + 1)], axis=-1)

    def places_c(theta: Any, k: int, step: float = 1e-30) -> Any:
        z = theta.astype(complex)
        z[k] += 1j * step
        half, mean = 0.5 * np.diff(z), 0.5 * (z[1:] + z[:-1])
        small = np.abs(half) < 1e-3
        chord = l * np.where(small, 1 - half**2 / 6 + half**4 / 120, np.sin(half) / np.where(small, 1.0, half))
        return np.imag(np.cumsum(chord * np.array([np.cos(mean), np.sin(mean)]), axis=1)) / step

    def motion(t: float, y: Any) -> Any:
        theta, w = y[: n + 1], y[n + 1 :]
        A = slopes(theta)
        e = 1e-6
        bias = (slopes(theta + e * w) - slopes(theta - e * w)) @ w / (2 * e)  # Ȧ w
        M = np.einsum("xia,xib,i->ab", A, A, masses[1:]) + np.diag(inertias)
        force = -np.einsum("xia,xi,i->a", A, bias, masses[1:]) - g * A[1].T @ masses[1:]
        return np.concatenate([w, np.linalg.solve(M, force)])

    found = solve_ivp(motion, (0.0, 0.6), np.zeros(2 * n + 2), method="DOP853", rtol=1e-11, atol=1e-12)
    exact = places(found.y[: n + 1, -1]).T
    errors = []
    for steps in (300, 600):
        state = end(rod.problem(), "RATTLE_DRIFT", 0.6, steps)
        errors.append(np.abs(rod.node_poses(0.6, state)[1:, [0, 2]] - exact).max())
    assert errors[1] < 2e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)
    finest = end(rod.problem(), "RATTLE_DRIFT_KAHANLI6", 0.6, 300)
    assert np.abs(rod.node_poses(0.6, finest)[1:, [0, 2]] - exact).max() < 1e-9


def test_a_rolled_up_cantilever_rests() -> None:
    """2π EI/L bends it to a circle, at which RATTLE leaves it; the statics find it, and the forces that hold it."""
    moment = Load(-1, moment=(0.0, 0.0, 2 * np.pi * 500.0 / 10.0), axes="body")
    rod = Rod.straight(10.0, 8, BEAM, supports={0: "clamped"}, loads=[moment], rigid=KIRCHHOFF)
    circle = equilibrium(rod)
    assert np.abs(circle.poses[-1, :3]).max() < 1e-12
    assert np.abs(circle.strains[:, :3]).max() < 1e-12
    run = integrate(rod.problem(circle.poses), "RATTLE_DRIFT", (0.0, 1.0), 1e-3)
    assert np.abs(run.y[-1] - run.y[0]).max() < 1e-10


def test_the_elastica() -> None:
    """Bisshopp and Drucker's cantilever, P L²/EI = 10, of second order in the elements."""
    exact, errors = [0.4450044022, 0.8106090249], []
    for n in (16, 32, 64):
        section = Section(1e4, 1e4, 1e4, 1.0, 1.0, 1.0, 1.0, (0.02, 0.01, 0.01))
        load = Load(-1, force=(0.0, 10.0, 0.0))
        rod = Rod.straight(1.0, n, section, supports={0: "clamped"}, loads=[load], rigid=KIRCHHOFF)
        found = equilibrium(rod)
        errors.append(np.abs(found.poses[-1, :2] - exact).max())
        assert np.abs(found.strains[:, :3]).max() < 1e-12
        force = so3.act(found.poses[0, 3:], found.stresses[0, :3])
        assert np.linalg.norm(force) == pytest.approx(10.0, rel=1e-2)
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)
    assert (4.0 * errors[2] - errors[1]) / 3.0 < 1e-5


def test_a_hanging_chain_is_the_catenary() -> None:
    """Both ends held, stiffness against bending that counts for nothing: the sag of the catenary."""
    n, L, span = 40, 1.0, 0.8
    soft = Section(1e5, 1e5, 1e5, 1e-3, 1e-3, 1e-3, 1.0, (0.02, 0.01, 0.01))
    c = 0.5
    for _ in range(100):  # 2 c sinh(span / 2c) = L
        f = 2 * c * np.sinh(span / (2 * c)) - L
        c -= f / (2 * np.sinh(span / (2 * c)) - span / c * np.cosh(span / (2 * c)))
    sag = c * (np.cosh(span / (2 * c)) - 1.0)
    s = np.linspace(-L / 2, L / 2, n + 1)
    x, z = c * np.arcsinh(s / c), np.sqrt(c * c + s * s)
    angle = -np.arctan(s / c)  # about e₂, which points along y: downhill is positive
    turn = np.stack([np.zeros(n + 1), angle, np.zeros(n + 1)], axis=1)
    guess = np.concatenate([np.stack([x, 0 * x, z - z[0]], axis=1), so3.exp(turn)], axis=1)
    rod = Rod.straight(L, n, soft, supports={0: "pinned", -1: "pinned"}, gravity=(0.0, 0.0, -9.81), rigid=KIRCHHOFF)
    found = equilibrium(rod, guess=guess)
    assert np.abs(found.strains[:, :3]).max() < 1e-12
    assert -found.poses[n // 2, 2] == pytest.approx(sag, rel=2e-3)


def test_the_frequencies_that_are_left_limit_the_step() -> None:
    """2 √(EI/ρI)/l instead of those of shear and stretch: a run just below holds, one above says so, by element."""
    rod = Rod.straight(10.0, 10, BEAM, rigid=KIRCHHOFF)
    limit = step_limit(rod)
    assert limit.angular_frequency == pytest.approx(2.0 * np.sqrt(500.0 / 0.01), rel=1e-9)
    assert limit.step > 2.0 * step_limit(Rod.straight(10.0, 10, BEAM)).step
    problem = thrown(rod)
    assert integrate(problem, "RATTLE_DRIFT", (0.0, 500 * limit.step), 0.5 * limit.step).success
    run = integrate(problem, "RATTLE_DRIFT", (0.0, 50 * limit.step), 1.5 * limit.step)
    assert "element 0 of the rod (by its length) has h ω = 2.9" in str(next(d for d in run.doubts if d.name == "step"))


def test_a_run_stopped_and_resumed_is_the_run_bit_for_bit(flying: Problem, tmp_path: Path) -> None:
    file, whole = tmp_path / "run.ckpt", integrate(flying, "RATTLE_DRIFT", (0.0, 0.1), 1e-3)
    integrate(flying, "RATTLE_DRIFT", (0.0, 0.1), 1e-3, checkpoint=file, every=7, callback=lambda t, y: t > 0.05)
    assert np.array_equal(resume(file, flying).y, whole.y)


@pytest.mark.slow
def test_lanes_are_the_bits_of_single_runs() -> None:
    rod = Rod.straight(3.0, 3, BEAM, rigid=KIRCHHOFF, supports={0: "pinned"}, gravity=(0.1, 0.0, -1.0))
    problem, starts = thrown(rod), np.array([thrown(rod, seed).y0 for seed in range(8)])
    together = integrate(problem, "RATTLE_DRIFT", (0.0, 0.05), 1e-3, y0=starts).y[:, -1]
    single = np.array([integrate(problem, "RATTLE_DRIFT", (0.0, 0.05), 1e-3, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)


@pytest.mark.slow
def test_time_is_linear_in_the_nodes() -> None:
    from time import perf_counter

    def seconds(n: int) -> float:
        problem, best = thrown(Rod.straight(float(n), n, BEAM, rigid=KIRCHHOFF)), np.inf
        for _ in range(3):
            start = perf_counter()
            integrate(problem, "RATTLE_DRIFT", (0.0, 0.1), 1e-3, save_every=100)
            best = min(best, perf_counter() - start)
        return best

    seconds(10)
    assert seconds(200) < 8.0 * seconds(50)


def test_bad_starts_are_named() -> None:
    rod = Rod.straight(3.0, 3, BEAM, rigid=KIRCHHOFF)
    poses = np.asarray(rod.poses).copy()
    poses[2:, 0] += 0.1
    with pytest.raises(ModelError, match=r"element 1: poses: it keeps its stretch, and is strained by 0\.1"):
        rod.problem(poses)
    poses = np.asarray(rod.poses).copy()
    poses[3, 1] += 0.2
    with pytest.raises(ModelError, match=r"element 2: poses: it keeps its shear"):
        rod.problem(poses)
    velocities = np.zeros((4, 6))
    velocities[0, 1] = 2.0
    with pytest.raises(ModelError, match=r"element 0: velocities: it keeps its shear.*rod\.admissible"):
        rod.problem(velocities=velocities)
    assert rod.problem(velocities=rod.admissible(velocities)).invariant_values(0.0, rod.problem().y0)[9] == 0.0
    with pytest.raises(ModelError, match="supports: hold it where the stresses"):
        Rod.straight(3.0, 3, BEAM, rigid=("stretch",), supports={0: "pinned", -1: "pinned"}).problem()
    with pytest.raises(ValueError, match="rigid: 'bending', expected names among 'stretch', 'shear', 'torsion'"):
        Rod.straight(3.0, 3, BEAM, rigid=("bending",))
    with pytest.raises(ValueError, match="strokes: a rod that keeps strains"):
        Rod.straight(3.0, 3, BEAM, rigid=KIRCHHOFF, supports={0: "clamped"}, strokes=[Stroke(0)])
    with pytest.raises(ModelError, match="vibrations of rods that keep strains"):
        vibrations(rod)
    with pytest.raises(ValueError, match="no rattle step of its own"):
        integrate(Rod.straight(3.0, 3, BEAM).problem(), "RATTLE_DRIFT", (0.0, 1.0), 0.01)
    with pytest.raises(ValueError, match="velocities: shape"):
        rod.admissible(np.zeros((2, 6)))


def test_a_strain_that_is_lost_is_doubted(flying: Problem) -> None:
    """Methods of fields let the gap grow: with steps that are too long the run says so."""
    start = flying.y0.copy()
    start[:7] = se3.compose(start[:7], se3.exp([1e-3, 0.0, 0.0, 0.0, 0.0, 0.0]))
    run = integrate(flying.with_start(start), "RKMK4", (0.0, 0.01), 1e-3)
    assert any(d.name == "gap" for d in run.doubts)


def test_a_load_that_turns_too_fast_ends_the_run() -> None:
    rod = Rod.straight(1.0, 4, BEAM, supports={0: "clamped"}, rigid=KIRCHHOFF,
                       loads=[Load(-1, moment=(0.0, 0.0, 1e5), axes="body")])  # fmt: skip
    run = integrate(rod.problem(), "RATTLE_DRIFT", (0.0, 1.0), 1e-2)
    assert run.status in (Status.NOT_CONVERGED, Status.DOUBTFUL, Status.NON_FINITE)
    with pytest.raises(RodError):
        equilibrium(Rod.straight(1.0, 4, Section(*[1e-3] * 6, 1.0, (0.02, 0.01, 0.01)), rigid=KIRCHHOFF,
                                 loads=[Load(0, force=(1.0, 0.0, 0.0))]))  # fmt: skip
