"""Asynchronous steps of rods: the exact free motion of sections between kicks of elements, each in steps of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from integrators import Problem, Status, integrate, resume
from integrators.analysis import cotangent_form, symplectic_defect
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from liegroup.table import EXP, increment, retract
from mechanics.elastic.rods import Load, Rod, Section, Stroke, step_limit, vibrations

pytestmark = pytest.mark.filterwarnings("ignore:before .* steps:RuntimeWarning")
"""Steps that are too long are looked at in what a run says when it has ended."""

STOUT = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.6, 0.4, 0.3))
"""Three different moments of inertia, and so much of them that the length of an element limits its step."""


def graded(n: int = 12, ratio: float = 1.35, **options: Any) -> Rod:
    """A straight rod of 4 m, every element longer than the one before."""
    lengths = ratio ** np.arange(n)
    poses = np.zeros((n + 1, 7))
    poses[1:, 0], poses[:, 3] = 4.0 * np.cumsum(lengths) / lengths.sum(), 1.0
    return Rod(poses, STOUT, **options)


def thrown(rod: Rod, seed: int = 1) -> Problem:
    velocities = np.random.default_rng(seed).normal(size=(rod.n_elements + 1, 6)) * [0.1, 0.1, 0.1, 0.3, 0.3, 0.3]
    return rod.problem(velocities=np.where(rod.held, 0.0, velocities))


def end(problem: Problem, method: str, steps: int, time: float = 1.0) -> np.ndarray:
    return np.asarray(integrate(problem, method, (0.0, time), time / steps, save_every=steps).y[-1])


@pytest.mark.parametrize("name", ["AVI", "AVI_SUZUKI4", "AVI_KAHANLI6"])
def test_methods_have_the_order_they_claim(name: str) -> None:
    """On elements of five levels of steps."""
    rod = graded()
    assert len(rod.steps().elements_per_level) == 5
    problem = thrown(rod)
    exact = end(problem, "SPLIT_SRKN6_11B", 2000)
    errors = [np.abs(end(problem, name, n) - exact).max() for n in (160, 640)]
    assert 0.5 * np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.25)


def test_equal_steps_are_those_of_the_splitting() -> None:
    """One level: kick, drift, kick, with every kind of node, loads with courses, followers and weight."""
    loads = [Load(3, force=(1.0, 2.0, -0.5), times=(0.0, 1.0), factors=(0.5, 1.0)),
             Load(-1, moment=(0.1, 0.2, 0.3), axes="body")]  # fmt: skip
    supports = {0: "pinned", 6: "clamped"}
    problem = thrown(Rod.arc(1.0, 1.0, 6, STOUT, gravity=(0.3, -1.0, 2.0), supports=supports, loads=loads))
    assert np.abs(end(problem, "AVI", 200) - end(problem, "SPLIT_STRANG", 200)).max() < 1e-13


@pytest.mark.parametrize("name", ["AVI", "AVI_SUZUKI4"])
def test_momenta_are_exact_and_the_energy_is_held(name: str) -> None:
    problem = thrown(graded())
    run = integrate(problem, name, (0.0, 40.0), graded().step(0.2))
    assert run.success
    assert not run.doubts
    assert run.error("energy") < 0.01
    assert max(run.error(n) for n in problem.invariant_names[1:7]) < 1e-13


def test_a_step_forward_and_back_returns_and_is_symplectic() -> None:
    problem = thrown(graded(4, 2.0))
    assert len(graded(4, 2.0).steps().elements_per_level) > 2
    step = step_map(problem, METHODS["AVI"])
    there = step(problem.y0, 0.05)
    assert np.abs(there - problem.y0).max() > 1e-2
    assert np.abs(step(there, -0.05) - problem.y0).max() < 1e-13
    m, delta = problem.dimension // 2, 1e-5
    J = np.zeros((2 * m, 2 * m))
    for k in range(2 * m):
        ends = []
        for s in (delta, -delta):
            moved, by = problem.y0.copy(), s * np.eye(2 * m)[k]
            retract(problem.table, EXP, problem.y0, by, moved)
            found = np.zeros(2 * m)
            increment(problem.table, EXP, there, step(moved, 0.05), found)
            ends.append(found)
        J[:, k] = (ends[0] - ends[1]) / (2 * delta)

    def bracket(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        (v, w), (a, b) = (z.reshape(-1, 2, 3).swapaxes(0, 1) for z in (x, y))
        return np.hstack([np.cross(w, a) - np.cross(b, v), np.cross(w, b)]).ravel()

    before, after = (cotangent_form(y[-m:], bracket) for y in (problem.y0, there))
    assert symplectic_defect(J, before, after) < 1e-8


def test_weight_on_a_free_section_is_exact() -> None:
    """A rod that falls without strain, to rounding."""
    rod = graded(4, 2.0, gravity=(0.0, 0.0, -9.81))
    problem = rod.problem(velocities=np.tile([0.0, 0.0, 4.0, 0.0, 0.0, 0.0], (5, 1)))
    poses = rod.node_poses(2.0, end(problem, "AVI", 100, 2.0))
    assert np.abs(poses[:, 2] - (8.0 - 0.5 * 9.81 * 4.0)).max() < 1e-12


@pytest.mark.parametrize(
    "damped", [{}, pytest.param({"damping": 0.02, "drag": [0.0, 0.1, 0.3, 0.2, 0.4]}, marks=pytest.mark.slow)]
)
def test_lanes_are_the_bits_of_single_runs(damped: Any) -> None:
    rod = graded(4, 2.0, supports={0: "pinned"}, gravity=(0.1, 0.0, -1.0), **damped)
    starts = np.array([thrown(rod, seed).y0 for seed in range(8)])
    problem = thrown(rod)
    together = integrate(problem, "AVI", (0.0, 1.0), 0.05, y0=starts).y[:, -1]
    single = np.array([integrate(problem, "AVI", (0.0, 1.0), 0.05, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)


def test_a_run_stopped_and_resumed_is_the_run_bit_for_bit(tmp_path: Path) -> None:
    problem, file = thrown(graded(4, 2.0)), tmp_path / "run.ckpt"
    whole = integrate(problem, "AVI_SUZUKI4", (0.0, 2.0), 0.05)
    integrate(problem, "AVI_SUZUKI4", (0.0, 2.0), 0.05, checkpoint=file, every=7, callback=lambda t, y: t > 0.9)
    assert np.array_equal(resume(file, problem).y, whole.y)


def test_a_support_that_moves_is_where_it_is_at_every_kick() -> None:
    stroke = Stroke(0, displacement=(0.0, 0.0, 0.2), turn=(0.0, -0.5, 0.0), times=(0.0, 0.5, 1.0), factors=(0, 1, 0))
    problem = graded(5, 1.8, supports={0: "clamped"}, strokes=[stroke]).problem()
    exact = end(problem, "SPLIT_SRKN6_11B", 400)
    errors = [np.abs(end(problem, "AVI", n) - exact).max() for n in (40, 80)]
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.8)


@pytest.mark.parametrize("rod", [graded(), graded(8, 1.5, supports={0: "clamped"}), graded(6, 1.0)])
def test_no_rod_vibrates_faster_than_its_fastest_element(rod: Rod) -> None:
    fastest = vibrations(rod, count=int((~rod.held).sum())).angular_frequencies[-1]
    assert fastest < rod.steps().fastest < 1.3 * fastest


def test_steps_beyond_the_limit_name_the_element_and_fail() -> None:
    rod = graded()
    problem, fine = thrown(rod), rod.step()
    assert not integrate(problem, "AVI", (0.0, 4 * fine), fine).doubts
    run = integrate(problem, "AVI", (0.0, 48 * fine), 8.0 * fine)
    assert run.status in (Status.DOUBTFUL, Status.NON_FINITE)
    (doubt,) = (d for d in run.doubts if d.name == "step")
    assert "of the rod has h ω = 4 with its step" in str(doubt)
    assert "beyond the limit of stability 2" in str(doubt)


def test_what_levels_gain_is_said() -> None:
    """Where the thickness limits all steps alike nothing is gained, and the report advises against levels."""
    thin = Rod.straight(1.0, 8, Section.round(0.001, 2.1e11, density=7850.0))
    assert step_limit(thin).cause == "thickness"
    assert "1 times fewer kicks than one step for all: SPLIT_STRANG" in str(thin.steps())
    report = graded().steps()
    assert report.gain > 2.0
    assert report.step == pytest.approx(graded().step())
    assert report.element == "element 0 of the rod"


def test_vibrations_decay_as_rayleighs_damping_says() -> None:
    """q'' + (r + τ ω²) q' + ω² q = 0 of every mode, in closed form, for the fundamental and for a fast mode."""
    tau, r = 0.05, 0.2
    rod = graded(5, 1.5, supports={0: "clamped"}, damping=tau, drag=r)
    for k in (0, 6):
        found = vibrations(rod, count=7)
        omega, shape = float(found.angular_frequencies[k]), found.shapes[k]
        rate = 0.5 * (r + tau * omega**2)
        turned = np.sqrt(omega**2 - rate**2)
        problem = rod.problem(velocities=1e-6 * shape)
        time = 6.0 / omega
        run = integrate(problem, "AVI", (0.0, time), time / max(400, np.ceil(time / rod.step())))
        v = run.y[:, -problem.dimension // 2 :] / np.repeat(rod.inertia, [3, 1, 1, 1], axis=1)[1:].ravel()
        lost = np.exp(-rate * run.t) * (np.cos(turned * run.t) - rate / turned * np.sin(turned * run.t))
        assert rate * time > 0.5
        assert np.abs(v - 1e-6 * lost[:, None] * shape[1:].ravel()).max() < 1e-3 * np.abs(v[0]).max()
        assert not run.doubts


def test_inner_damping_keeps_momenta_and_takes_energy_in_every_step() -> None:
    rod = graded(4, 2.0, damping=[0.02, 0.01, 0.0, 0.03])
    problem = thrown(rod)
    run = integrate(problem, "AVI", (0.0, 10.0), rod.step())
    assert run.success
    assert not run.doubts
    assert max(run.error(n) for n in problem.invariant_names[1:7]) < 1e-13
    assert np.diff(run["energy"]).max() < 0.0
    assert run["energy"][-1] < 0.8 * run["energy"][0]


def test_drag_alone_is_exact() -> None:
    """A rod that falls without strain: its momentum tends to m g/r."""
    r, t, g = 0.7, 2.0, -9.81
    rod = graded(4, 2.0, gravity=(0.0, 0.0, g), drag=r)
    problem = rod.problem(velocities=np.tile([0.0, 0.0, 4.0, 0.0, 0.0, 0.0], (5, 1)))
    poses = rod.node_poses(t, end(problem, "AVI", 100, t))
    later = -np.expm1(-r * t) / r
    assert np.abs(poses[:, 2] - (4.0 * later + g * (t - later) / r)).max() < 1e-12


@pytest.mark.parametrize("name", ["AVI", "AVI_SUZUKI4"])
def test_damped_steps_have_the_order_they_claim(name: str) -> None:
    """Damping, drag, weight and supports that move and turn; the truth from the equations by `RKMK4`."""
    strokes = [Stroke(0, displacement=(0.1, 0.2, 0.3), turn=(0.3, 0.4, -0.5), times=(0.0, 2.0)),
               Stroke(-1, displacement=(0.1, -0.2, 0.3), times=(0.2, 1.8))]  # fmt: skip
    rod = graded(4, 2.0, supports={0: "clamped", -1: "pinned"}, strokes=strokes, gravity=(0.3, -1.0, 2.0),
                 damping=[0.02, 0.01, 0.05, 0.03], drag=[0.0, 0.1, 0.3, 0.2, 0.4])  # fmt: skip
    problem = thrown(rod)
    exact = end(problem, "RKMK4", 1000)
    errors = [np.abs(end(problem, name, n) - exact).max() for n in (40, 80)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.15)
    assert errors[1] < 1e-3


def test_damping_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="damping: -1, expected a number, or 4"):
        graded(4, damping=-1)
    with pytest.raises(ValueError, match=r"drag: \[1, 2\], expected a number, or 5"):
        graded(4, drag=[1, 2])
    with pytest.raises(ValueError, match="rigid: a rod that keeps strains takes no damping"):
        graded(4, rigid=("shear",), drag=0.1)


@pytest.mark.parametrize(
    "section",
    [Section.round(0.02, 1e6, density=1100.0), Section.round(0.005, 1e6, density=1100.0),
     Section.round(0.002, 2.1e11, density=7850.0)],
)  # fmt: skip
def test_drag_alone_is_refused_by_splittings_however_thin_the_rod(section: Section) -> None:
    """At rest and stretched by 2 %, where the steel pulls with ten kilonewton; without drag the rod is taken."""
    method = METHODS["SPLIT_STRANG"]
    for stretch in (1.0, 1.02):
        for drag in (0.0, 1e-3, 5.0):
            rod = Rod.straight(1.0, 8, section, drag=drag)
            problem = rod.problem(rod.poses * np.r_[stretch, np.ones(6)])
            if not drag:
                assert len(method.kernel_coefficients(problem)) > len(method.coefficients)
                continue
            with pytest.raises(ValueError, match="depends on the momentum"):
                integrate(problem, method, (0.0, 1e-4), 1e-7)
