"""Asynchronous steps of networks: orders, symmetry, momenta, resonances, known answers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import jn_zeros

from integrators import integrate, resume
from integrators.method.step_map import moved, step_map
from integrators.methods import METHODS
from integrators.problem import Problem
from integrators.step_derivatives.complex_step import velocities
from integrators.step_derivatives.linearised import linearised_step
from mechanics.elastic import (
    Bending,
    Cables,
    Dampers,
    LogSprings,
    NeoHookean,
    Network,
    Springs,
    StVenantKirchhoff,
    Tetrahedra,
    Triangles,
)
from mechanics.elastic.layout import DEPTH, RATIOS_AT
from mechanics.elastic.levels import steps_of
from mechanics.elastic.resonance import Vibrations
from mechanics.elastic.rods import Rod, Section

pytestmark = pytest.mark.filterwarnings("ignore:before .* steps:RuntimeWarning")
"""Steps that are too long are looked at in what a run says when it has ended."""


def chain(contrast: float = 400.0, n: int = 12, **options: Any) -> tuple[Network, np.ndarray]:
    """Equal masses in a row joined by springs of stiffness 1 … contrast, and velocities that stretch and bend it."""
    points = np.array([[k, 0.1 * k * k / n, 0.0] for k in range(n)])
    pairs = [[k, k + 1] for k in range(n - 1)]
    springs = Springs(pairs, contrast ** (np.arange(n - 1) / (n - 2)))
    velocities = 0.2 * np.random.default_rng(4).normal(size=(n, 3))
    velocities[list(options.get("fixed", ()))] = 0.0
    return Network(points, 1.0, [springs], **({"gravity": (0, 0, 0)} | options)), velocities


def end(problem: Problem, method: Any, time: float, steps: int) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.asarray(integrate(problem, method, (0.0, time), time / steps, save_every=steps).y[-1])


def orders(problem: Problem, method: Any, time: float, counts: tuple[int, ...]) -> np.ndarray:
    exact = end(problem, "GAUSS8", time, 400)
    errors = [np.abs(end(problem, method, time, n) - exact).max() for n in counts]
    return np.log2(np.array(errors[:-1]) / errors[1:])


# --- the method -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["AVI", "AVI_SUZUKI4", "AVI_KAHANLI6", "AVI_FREE"])
def test_methods_have_the_order_they_claim(name: str) -> None:
    """On a chain whose springs are up to four hundred times as stiff as others, with four levels of steps."""
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    assert problem.structure[DEPTH] >= 3
    order = orders(problem, name, 2.0, (80, 160, 320) if METHODS[name].order < 6 else (80, 160))
    assert order.mean() == pytest.approx(METHODS[name].order, abs=0.25)


def test_equal_steps_are_those_of_verlet() -> None:
    """One level: the kick, drift, kick of the splitting, to rounding."""
    network, velocities = chain(1.0, fixed=[0], gravity=(0.3, 0, -1.0))
    problem = network.problem(velocities=velocities)
    assert problem.structure[DEPTH] == 0
    for name in ("AVI", "AVI_FREE"):
        assert np.abs(end(problem, name, 10.0, 50) - end(problem, "SPLIT_STRANG", 10.0, 50)).max() < 1e-12


def test_levels_are_the_free_form_with_the_same_steps() -> None:
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    parameters = problem.parameters.copy()
    rounded = np.sort(np.concatenate(network._levels)) - problem.structure[DEPTH]
    parameters[problem.structure[RATIOS_AT] :] = 2.0**rounded
    same = replace(problem, parameters=parameters)
    assert np.abs(end(same, "AVI_FREE", 1.0, 20) - end(problem, "AVI", 1.0, 20)).max() < 1e-13


def test_the_free_form_knows_no_dampers_and_says_so() -> None:
    """It swung on without them, of order 2, with success."""
    network = Network([[0, 0, 0], [1, 0, 0]], 1.0, [Springs([[0, 1]], 20.0), Dampers([[0, 1]], 0.6)])
    with pytest.raises(ValueError, match="no asynchronous_free step of its own"):
        integrate(network.problem(), "AVI_FREE", (0.0, 1.0), 0.01)


def test_many_starts_are_taken_one_by_one_where_a_step_has_no_lanes() -> None:
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    starts = np.outer([1.0, 1.01, 0.99], problem.y0)
    together = integrate(problem.with_start(starts), "AVI_FREE", (0.0, 0.5), 0.02)
    for k, start in enumerate(starts):
        alone = integrate(problem.with_start(start), "AVI_FREE", (0.0, 0.5), 0.02)
        np.testing.assert_array_equal(together.y[k], alone.y)


def test_a_step_forward_and_back_returns() -> None:
    network, velocities = chain(drag=0.0, fixed=[3])
    problem = network.problem(velocities=velocities)
    for name in ("AVI", "AVI_SUZUKI4"):
        step = step_map(problem, METHODS[name])
        there = step(problem.y0, 0.2)
        assert np.abs(step(there, -0.2) - problem.y0).max() < 1e-13
        mirrored = np.concatenate([there[:36], -there[36:]])
        back = step(mirrored, 0.2)
        assert np.abs(np.concatenate([back[:36], -back[36:]]) - problem.y0).max() < 1e-13


@pytest.mark.parametrize("name", ["AVI", "AVI_SUZUKI4", "AVI_FREE"])
def test_momenta_are_exact_and_the_energy_is_held(name: str) -> None:
    network, velocities = chain()
    run = integrate(network.problem(velocities=velocities), name, (0.0, 250.0), network.step(0.2))
    assert run.error("energy") < 0.02
    assert max(run.error(f"{kind}_{axis}") for kind in ("momentum", "angular_momentum") for axis in "xyz") < 1e-13


def test_the_step_is_symplectic() -> None:
    network, velocities = chain(50.0, 4)
    problem = network.problem(velocities=velocities)
    step = step_map(problem, METHODS["AVI"])
    m, delta = 12, 1e-5
    J = np.array(
        [(step(problem.y0 + delta * e, 0.3) - step(problem.y0 - delta * e, 0.3)) / (2 * delta) for e in np.eye(2 * m)]
    ).T
    omega = np.block([[np.zeros((m, m)), np.eye(m)], [-np.eye(m), np.zeros((m, m))]])
    assert np.abs(J.T @ omega @ J - omega).max() < 1e-8


def test_lanes_are_the_bits_of_single_runs() -> None:
    network, velocities = chain(n=5, fixed=[0], drag=0.1)
    problem = network.problem(velocities=velocities)
    starts = problem.y0 + 0.01 * np.arange(8)[:, None] * (np.arange(30) > 2)
    together = integrate(problem, "AVI", (0.0, 1.0), 0.1, y0=starts).y[:, -1]
    single = np.array([integrate(problem, "AVI", (0.0, 1.0), 0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)


def test_a_run_stopped_and_resumed_is_the_run_bit_for_bit(tmp_path: Path) -> None:
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    whole = integrate(problem, "AVI_SUZUKI4", (0.0, 4.0), 0.1)
    file = tmp_path / "run.ckpt"
    integrate(problem, "AVI_SUZUKI4", (0.0, 4.0), 0.1, checkpoint=file, every=7, callback=lambda t, y: t > 1.5)
    assert np.array_equal(resume(file, problem).y, whole.y)


# --- damping, gravity, supports ---------------------------------------------------------------------------------------


def test_gravity_and_drag_of_a_free_point_are_exact() -> None:
    """v(t) = g/r + (v0 − g/r) e^(−r t), in one step and in many."""
    network = Network([[0, 0, 0], [1, 0, 0]], 2.0, [Springs([[0, 1]], 1.0)], gravity=(0, 0, -9.81), drag=0.7)
    problem = network.problem(velocities=[[3.0, 0, 4.0]] * 2)
    terminal, t = -9.81 / 0.7, 2.0
    fall = terminal * t + (4.0 - terminal) * (1 - np.exp(-0.7 * t)) / 0.7
    for steps in (1, 40):
        y = end(problem, "AVI", t, steps)
        assert abs(y[2] - fall) < 1e-14 * abs(fall)
        assert abs(y[8] - 2.0 * (terminal + (4.0 - terminal) * np.exp(-0.7 * t))) < 1e-13


def test_dampers_take_energy_keep_momenta_and_the_order() -> None:
    network, velocities = chain(60.0, 6)
    pairs = [[k, k + 1] for k in range(5)]
    damped = Network(network.points, 1.0, [*network.elements, Dampers(pairs, 0.4)], gravity=(0, 0, 0))
    problem = damped.problem(velocities=velocities)
    assert orders(problem, "AVI", 2.0, (40, 80, 160))[-1] == pytest.approx(2, abs=0.15)
    run = integrate(problem, "AVI", (0.0, 60.0), damped.step())
    energy = run.invariants[:, 0]
    assert energy[-1] < 0.7 * energy[0]
    assert np.diff(energy).max() < 1e-3 * energy[0]
    assert max(run.error(f"{kind}_{axis}") for kind in ("momentum", "angular_momentum") for axis in "xyz") < 1e-13


def test_a_damper_of_any_strength_is_stable() -> None:
    points = [[0, 0, 0], [1, 0, 0]]
    network = Network(points, 1.0, [Springs([[0, 1]], 1.0), Dampers([[0, 1]], 1e9)], gravity=(0, 0, 0))
    run = integrate(network.problem(velocities=[[0, 0, 0], [1.0, 0, 0]]), "AVI", (0.0, 10.0), 0.5)
    assert np.abs(run.y[-1][6:] - [0.5, 0, 0, 0.5, 0, 0]).max() < 1e-8


def test_supports_stand_still_and_other_methods_agree() -> None:
    network, velocities = chain(fixed=[0, 11], gravity=(0, 0, -0.2))
    problem = network.problem(velocities=velocities)
    run = integrate(problem, "AVI", (0.0, 5.0), network.step())
    assert np.array_equal(run.y[-1][[0, 1, 2, 33, 34, 35]], problem.y0[[0, 1, 2, 33, 34, 35]])
    assert run.error("energy") < 1e-2
    a, b, c = (end(problem, name, 1.0, 400) for name in ("SPLIT_SRKN6_11B", "GAUSS8", "MIDPOINT_SOFSPA6"))
    assert np.abs(a - b).max() < 1e-12
    assert np.abs(c - b).max() < 1e-8


# --- stability and resonances -----------------------------------------------------------------------------------------


def two_springs(k1: float, k2: float) -> Problem:
    """A mass of 1 between two linear springs, on points that are held."""
    network = Network([[0, 0, 0], [0, 0, 0], [0, 0, 0]], 1.0, [Springs([[0, 2]], k1, 0.0), Springs([[1, 2]], k2, 0.0)],
                      fixed=[0, 1], gravity=(0, 0, 0))  # fmt: skip
    return network.problem()


def half_trace(problem: Problem, parts: tuple[float, float], h: float) -> float:
    """½ tr of the map of a step of size h along one axis; the springs have these parts of it as their steps."""
    parameters = problem.parameters.copy()
    parameters[problem.structure[RATIOS_AT] :] = parts
    step = step_map(replace(problem, parameters=parameters), METHODS["AVI_FREE"])
    columns = []
    for i in (6, 15):
        y = np.zeros(18)
        y[i] = 1.0
        columns.append(step(y, h)[[6, 15]])
    return float(0.5 * np.trace(columns))


@pytest.mark.parametrize(
    ("N", "window", "growth"),
    [
        (2, (0.866330, 0.900316), 1.079943),
        (3, (0.918467, 0.954930), 1.069772),
        (3, (1.593821, 1.653987), 1.211882),
        (5, (1.800099, 1.870979), 1.150970),
        (20, (0.960600, 0.998972), 1.063624),
        (200, (0.961574, 0.999990), 1.063498),
    ],
)
def test_the_windows_of_resonance_are_the_known_ones(N: int, window: tuple[float, float], growth: float) -> None:
    """Two springs π² and π²/25 on one mass, steps h/N and h: unstable in the windows, to all digits; the fastest
    growth.
    """
    problem = two_springs(np.pi**2, np.pi**2 / 25)
    for edge, inside in ((window[0], 1), (window[1], -1)):
        assert abs(half_trace(problem, (1 / N, 1.0), edge - 1.5e-6 * inside)) < 1.0
        assert abs(half_trace(problem, (1 / N, 1.0), edge + 1.5e-6 * inside)) > 1.0
    largest = max(abs(half_trace(problem, (1 / N, 1.0), h)) for h in np.linspace(*window, 41))
    assert largest + np.sqrt(largest**2 - 1) == pytest.approx(growth, abs=1e-3)


def test_elements_at_one_node_share_its_step() -> None:
    """A soft spring beside a stiff one would resonate with longer steps."""
    assert two_springs(np.pi**2, np.pi**2 / 25).structure[DEPTH] == 0


def test_asynchronous_steps_resonate_weakly_between_the_windows() -> None:
    """h2/h1 = 5/2, ω̂ h2 near π/2: growth 0.0030 per unit time, predicted 0.00308."""
    problem = two_springs(np.pi**2, np.pi**2 / 25)

    def rate(h2: float) -> float:
        half = abs(half_trace(problem, (1 / 5, 1 / 2), 2 * h2))
        return float(np.arccosh(max(half, 1.0)) / (2 * h2))

    coarse = max(np.linspace(0.46, 0.52, 241), key=rate)
    assert max(map(rate, coarse + np.linspace(-2.5e-4, 2.5e-4, 101))) == pytest.approx(0.00303, rel=0.01)


def bar_with_a_jump() -> tuple[Network, Any, Any]:
    """A bar with fifty times finer elements in its middle, lengths of its elements, velocities."""
    lengths = np.concatenate([np.full(6, 1.0), np.full(10, 0.02), np.full(5, 1.0)])
    x = np.concatenate([[0.0], np.cumsum(lengths)])
    points = np.stack([x, 0 * x, 0 * x], axis=1)
    springs = Springs([[k, k + 1] for k in range(21)], 1.0 / lengths)
    network = Network(points, springs.lumped_masses(points, 1.0), [springs], gravity=(0, 0, 0))
    return network, lengths, 0.02 * np.random.default_rng(0).normal(size=points.shape)


def test_steps_from_an_elements_own_mass_are_unstable_at_a_jump_of_size() -> None:
    """ω = 2c/l of half the element's own mass at either end does not see the neighbours: at a quarter of the stable
    step the energy grows on and on.
    """
    network, lengths, velocities = bar_with_a_jump()
    omega = [2.0 / lengths]
    network._limits = (*steps_of(omega), omega)
    problem = network.problem(velocities=velocities)
    with pytest.warns(RuntimeWarning, match="spring 5 .* has h ω = 1.62"):
        run = integrate(problem, "AVI", (0.0, 4000.0), network.step(), save_every=50)
    first, later, last = (part.mean() for part in np.split(run["energy"][-498:], 3))
    assert last > 1.05 * later > 1.1 * first
    assert last > 1.3 * run["energy"][0]


def test_a_jump_of_element_size_is_stable() -> None:
    """Bounded energy with the default steps."""
    network, _, velocities = bar_with_a_jump()
    assert network.steps().gain > 1.2
    run = integrate(network.problem(velocities=velocities), "AVI", (0.0, 1000.0), network.step(), save_every=100)
    assert run.error("energy") < 0.01


def test_windows_of_the_literature_to_all_digits() -> None:
    """k₁ = π², k₂ = π²/25, the soft spring with twice and with four times the step of the stiff one."""
    network = Network(np.zeros((3, 3)), 1.0, [Springs([[0, 2]], np.pi**2, 0.0), Springs([[1, 2]], np.pi**2 / 25, 0.0)],
                      fixed=[0, 1], gravity=(0, 0, 0))  # fmt: skip
    root = np.zeros((9, 1))
    root[6] = 1.0
    two, four = (Vibrations(network._sets, [np.array([0]), np.array([k])], network.points, root) for k in (1, 2))
    for h, grows in ((0.866329, False), (0.866333, True), (0.900314, True), (0.900318, False)):
        assert (np.abs(np.linalg.eigvals(two.step(h))).max() > 1.0 + 1e-7) == grows
    for h in np.linspace(0.5, 0.95, 10):  # half a trace in closed form: cos(θ + δ)/cos δ
        theta = 2.0 * np.arccos(1.0 - np.pi**2 * (h / 2) ** 2 / 2)
        delta = np.arctan(np.pi**2 / 25 * h / (2.0 * np.pi * np.sqrt(1.0 - (np.pi * h / 2) ** 2 / 4)))
        assert 0.5 * np.trace(two.step(h)) == pytest.approx(np.cos(theta + delta) / np.cos(delta), abs=1e-13)
    assert four.growing(0.96, [1.0])[1:3] == (1, 0)  # the soft one, between the windows of three and five steps
    assert four.growing(0.5, [1.0]) is None


def test_resonances_are_those_of_the_step() -> None:
    """Against the spectral radius of the compiled step, near its limit of stability, where some chains resonate."""
    rng, seen = np.random.default_rng(1), 0
    for _ in range(20):
        n = int(rng.integers(4, 9))
        stiffness, masses = 10.0 ** rng.uniform(0, 3, n), np.r_[1, 10.0 ** rng.uniform(-1, 1, n - 1), 1]
        points = np.array([[k, 0, 0] for k in range(n + 1)])
        network = Network(points, masses, [Springs([[k, k + 1] for k in range(n)], stiffness, 0.0)], fixed=[0, n],
                          gravity=(0, 0, 0))  # fmt: skip
        if not network.problem().structure[DEPTH]:
            continue
        assert not network.resonances()
        h, rows = network.step(0.95), np.r_[3 : 3 * n : 3, 3 * n + 6 : 6 * n + 3 : 3]
        step = step_map(network.problem(), METHODS["AVI"])
        T = np.array([step(y, h)[rows] for y in np.eye(6 * n + 6)[rows]]).T
        growth = np.log(np.abs(np.linalg.eigvals(T)).max()) / h
        found = network.resonances(h)
        assert (found[0].growth if found else 0.0) == pytest.approx(growth, abs=1e-6)
        seen += bool(found)
    assert seen


def test_a_run_in_resonance_names_the_element() -> None:
    """Beside the doubt of a long step: each of the steps would be stable alone."""
    rng = np.random.default_rng(1)
    for _ in range(17):
        n = int(rng.integers(4, 9))
        stiffness, masses = 10.0 ** rng.uniform(0, 3, n), np.r_[1, 10.0 ** rng.uniform(-1, 1, n - 1), 1]
    points = np.array([[k, 0, 0] for k in range(n + 1)])
    network = Network(points, masses, [Springs([[k, k + 1] for k in range(n)], stiffness, 0.0)], fixed=[0, n],
                      gravity=(0, 0, 0))  # fmt: skip
    velocities = np.zeros((n + 1, 3))
    velocities[1:n, 0] = 1.0
    problem = network.problem(velocities=velocities)
    h = network.step(0.95)
    run = integrate(problem, "AVI", (0.0, 100 * h), h)
    (doubt,) = [d for d in run.doubts if d.name == "resonance"]
    assert str(network.resonances(h)[0]) in str(doubt)
    assert "spring 0 (nodes 0, 1) with its step" in str(doubt)
    assert run["energy"][-1] > 1e3 * run["energy"][0]
    assert not integrate(problem, "AVI", (0.0, 10 * h), network.step()).doubts


def test_steps_beyond_the_limit_name_the_element() -> None:
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    run = integrate(problem, "AVI", (0.0, 8 * network.step()), 8 * network.step())
    (doubt,) = [d for d in run.doubts if d.name == "step"]
    assert "spring 10 (nodes 10, 11) has h ω = 4 with its step" in str(doubt)
    assert "beyond the limit of stability" in str(doubt)
    assert not [d for d in integrate(problem, "AVI", (0.0, 3.0), network.step()).doubts if d.name == "step"]
    long = 5.0 * network.steps().verlet_step
    (doubt,) = [d for d in integrate(problem, "SPLIT_STRANG", (0.0, long), long).doubts if d.name == "step"]
    assert "spring 10 (nodes 10, 11) has h ω = 2.5, beyond the limit of SPLIT_STRANG" in str(doubt)


def test_the_bound_of_the_frequencies_holds_and_is_near() -> None:
    network, _ = chain()
    n = 3 * len(network.points)
    K = np.zeros((n, n))
    for i in range(n):
        moved = network.points.copy()
        moved.ravel()[i] += 1e-6
        K[:, i] = -network.forces(moved).ravel() / 1e-6
    fastest = np.sqrt(np.linalg.eigvalsh(0.5 * (K + K.T))[-1])
    bound = max(w.max() for w in network.frequencies())
    assert fastest < bound < 1.1 * fastest


# --- known answers ----------------------------------------------------------------------------------------------------


def test_a_hanging_chain_swings_with_the_frequency_of_bessels_function() -> None:
    """ω = (j₀₁/2) √(g/L): error −7.4e-4 with twenty cables."""
    n, g = 20, 9.81
    points = np.array([[0.0, 0.0, -k / n] for k in range(n + 1)])
    stiffness = 1e5
    cables = Cables([[k, k + 1] for k in range(n)], stiffness * n)
    network = Network(points, cables.lumped_masses(points, 1.0), [cables], fixed=[0])
    weight = np.cumsum((network.masses * g)[::-1])[::-1][1:]  # what hangs at every cable
    K = np.zeros((n, n))  # of small motions sideways: the tensions over the lengths
    for k in range(n):
        span = [k - 1, k] if k else [0]
        K[np.ix_(span, span)] += weight[k] * n * (np.array([[1, -1], [-1, 1]]) if k else 1.0)
    root = np.sqrt(network.masses[1:])
    values, shapes = np.linalg.eigh(K / np.outer(root, root))
    omega = np.sqrt(values[0])
    assert omega / (0.5 * jn_zeros(0, 1)[0] * np.sqrt(g)) - 1 == pytest.approx(-7.4e-4, rel=0.02)
    start = points.copy()
    start[1:, 2] -= np.cumsum(weight / (stiffness * n))
    start[1:, 0] = 1e-4 * shapes[:, 0] / root
    quarter = 0.5 * np.pi / omega
    steps = int(np.ceil(quarter / network.step()))
    y = integrate(network.problem(positions=start), "AVI", (0.0, quarter), quarter / steps, save_every=steps).y[-1]
    assert np.abs(y[: 3 * n + 3].reshape(-1, 3)[1:, 0]).max() < 5e-4 * np.abs(start[:, 0]).max()


def test_a_wave_runs_through_a_solid_bar_with_its_speed() -> None:
    """A longitudinal wave in a column of tetrahedra that cannot widen: c² = (λ + 2µ)/ρ."""
    cells, E, nu, density = 24, 3.0, 0.25, 1.3
    points, tetrahedra = column(cells)
    solid = Tetrahedra(tetrahedra, StVenantKirchhoff(E, nu))
    masses = solid.lumped_masses(points, density)
    length = points[:, 0].max()
    first, second = solid.material.lame
    speed = np.sqrt((first + 2 * second) / density)
    network = Network(points, masses, [solid], gravity=(0, 0, 0))
    start = points.copy()
    amplitude = 1e-7
    start[:, 0] += amplitude * np.cos(np.pi * points[:, 0] / length)
    force = network.forces(start)[:, 0]
    omega2 = -np.sum(force * np.cos(np.pi * points[:, 0] / length)) / np.sum(
        masses * amplitude * np.cos(np.pi * points[:, 0] / length) ** 2
    )
    assert np.sqrt(omega2) == pytest.approx(np.pi * speed / length, rel=2e-3)


def column(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """Cubes in a row, each in six tetrahedra."""
    import itertools

    points = np.array(list(itertools.product(range(cells + 1), range(2), range(2))), dtype=float)
    number = {tuple(p): k for k, p in enumerate(points.astype(int))}
    tetrahedra = []
    for i in range(cells):
        for axes in itertools.permutations(range(3)):
            path = [np.array([i, 0, 0])]
            for axis in axes:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tetrahedra.append([number[tuple(p)] for p in path])
    return points, np.array(tetrahedra)


def test_splittings_take_solids_whose_energy_is_no_number_inside_out() -> None:
    """The constant masses are looked at where there are forces."""
    points, tetrahedra = column(2)
    network = Network(points, 1.0, [Tetrahedra(tetrahedra, NeoHookean(10.0, 0.3))], gravity=(0, 0, 0))
    problem = network.problem(velocities=0.01 * points)
    h = network.step()
    assert np.abs(end(problem, "SPLIT_STRANG", 20 * h, 20) - end(problem, "AVI", 20 * h, 20)).max() < 1e-4
    assert integrate(problem, "SPLIT_STRANG", (0.0, 100 * h), h).error("energy") < 0.01


def test_an_element_turned_inside_out_by_a_step_ends_the_run_by_name() -> None:
    points, tetrahedra = column(1)
    network = Network(points, 1.0, [Tetrahedra(tetrahedra, NeoHookean(1.0, 0.3))], gravity=(0, 0, 0))
    velocities = np.where(points[:, :1] == 1.0, [[-40.0, 0, 0]], [[0.0, 0, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = integrate(network.problem(velocities=velocities), "AVI", (0.0, 1.0), 0.1)
    assert run.status.is_failure
    assert "inside out" in run.message


@pytest.mark.parametrize("name", ["AVI", "SPLIT_STRANG"])
@pytest.mark.parametrize(
    ("points", "elements", "moving"),
    [
        ([[0, 0, 0], [1, 0, 0]], LogSprings([[0, 1]], 1.0), [-5.0, 0, 0]),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], Triangles([[0, 1, 2]], NeoHookean(1.0, 0.3), 1.0), [0, -5.0, 0]),
    ],
    ids=["logarithmic spring", "triangle"],
)
def test_a_step_across_an_infinite_energy_is_doubted(name: str, points: Any, elements: Any, moving: Any) -> None:
    """No motion takes an element through no size; a step that is too large does, and its energy does not tell."""
    network = Network(points, 1.0, [elements], fixed=range(len(points) - 1), gravity=(0, 0, 0))
    velocities = np.zeros((len(points), 3))
    velocities[-1] = moving
    problem = network.problem(velocities=velocities)
    run = integrate(problem, name, (0.0, network.step()), network.step())
    assert any("spring 0 (nodes" in str(d) or "triangle 0 (nodes" in str(d) for d in run.doubts)
    slow = network.problem(velocities=0.2 * velocities)
    fine = integrate(slow, name, (0.0, 2.0), 1e-3)
    assert not fine.doubts
    assert fine.y[:, np.argmax(np.abs(moving)) + 3 * (len(points) - 1)].min() > 0.0


# --- derivatives ------------------------------------------------------------------------------------------------------


def slope(problem: Problem, method: str, y: np.ndarray, h: float, d: np.ndarray) -> np.ndarray:
    """How the components of the state after a step change along a velocity, by differences of order four."""
    step, e = step_map(problem, METHODS[method]), 1e-3
    after = [step(moved(problem, y, k * e * d), h) for k in (-2, -1, 1, 2)]
    return np.asarray((after[0] - 8.0 * after[1] + 8.0 * after[2] - after[3]) / (12.0 * e))


def straight_rod() -> Problem:
    """Without stress, at rest: nothing is turned, nothing moves."""
    section = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.02, 0.01, 0.01))
    return Rod.straight(1.0, 3, section, supports={0: "clamped"}, gravity=(0, 0, -1.0)).problem()


def damped_net() -> Problem:
    elements = [Springs([[0, 1], [1, 2]], 25.0, rest=[1.0, 0.8]), Dampers([[0, 1], [1, 2]], [0.4, 30.0])]
    return Network([[0, 0, 0], [1, 0.2, 0], [1.8, -0.3, 0.4]], [0.9, 0.5, 0.7], elements, fixed=[0]).problem()


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    ("make", "method"),
    [
        *((make, method) for make in (straight_rod, damped_net) for method in ("AVI", "AVI_SUZUKI4", "RKMK4")),
        (straight_rod, "SPLIT_STRANG_DKD"),
        (damped_net, "RKMK_RADAU_IIA3"),
    ],
)
def test_derivatives_of_steps_are_those_of_the_map(make: Any, method: str, compiled: bool) -> None:
    problem, h, rng = make(), 0.004, np.random.default_rng(3)
    y, d = np.asarray(problem.y0), rng.normal(size=problem.dimension)
    if make is damped_net:
        y = moved(problem, y, 0.01 * rng.normal(size=problem.dimension))
    found = linearised_step(problem, method, y, h, compiled=compiled)
    expected = slope(problem, method, y, h, d)
    assert np.abs(velocities(problem, found.y) @ found.A @ d - expected).max() < 1e-8 * np.abs(expected).max()


def test_a_heap_loses_derivatives_and_says_so() -> None:
    network, velocities = chain()
    problem = network.problem(velocities=velocities)
    with pytest.raises(ValueError, match="AVI_FREE, whose step loses what complex numbers carry"):
        linearised_step(problem, "AVI_FREE", problem.y0, 0.004)


@pytest.mark.parametrize("part", [1.0, 0.1])
def test_a_bent_line_that_springs_open_is_in_no_resonance(part: float) -> None:
    """Its places are none of rest: the motion leaves them by itself, whatever the step."""
    points = [[0.1, 0.0, -0.2], [0.2, 0.0, -0.2], [0.3, 0.0, 0.0], [0.6, 0.0, 0.1]]
    springs, bending = Springs([[0, 1], [1, 2], [2, 3]], [2000.0, 20.0, 2.0]), Bending([[0, 1, 2], [1, 2, 3]], 0.5)
    line = Network(points, 0.05, [springs, bending], fixed=[0], gravity=(0, 0, 0))
    exact = integrate(line.problem(), "RKMK_DOP853", (0.0, 0.2), rtol=1e-10, atol=1e-12)["x"]
    run = integrate(line.problem(), "AVI", (0.0, 0.2), part * line.step())
    assert run.success, run.message
    assert np.abs(run["x"][-1] - exact[-1]).max() < 0.02 * part**2
