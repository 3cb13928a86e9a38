"""The modified energy from trajectories: closed form, order of constancy, drift that the energy hides, on Rⁿ, groups
and trees.
"""

from __future__ import annotations

from itertools import pairwise

import mpmath
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis import energy_drift
from integrators.analysis.action import with_action
from integrators.analysis.canonical import many_digits
from integrators.analysis.figures import modified_energy_figure
from integrators.analysis.modified_energy import interpolated_energy, modified_energy
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem.lagrangian import lagrangian_problem
from liegroup import so3
from liegroup.compile.scalars import sincos
from liegroup.table import RN, table_of
from mechanics import Body, Inertia, JointData, Tree
from mechanics.joints import Revolute, Spherical
from mechanics.problems.tree import hamiltonian_problem
from mechanics.systems.bodies.heavy_top import heavy_top
from mechanics.systems.bodies.kepler import kepler
from mechanics.systems.bodies.pendulum import pendulum
from mechanics.variational.reference import discrete_lagrangian


def chain(joints: list, armature: float = 0.0) -> Tree:
    """Links about joints, one on the other."""
    link = Inertia.about_com(
        1.0, (0.02, 0.03, 0.15), [[0.02, 0.001, 0.002], [0.001, 0.025, 0.0015], [0.002, 0.0015, 0.015]]
    )
    parents = [f"link{i}" for i in range(len(joints))]
    return Tree(
        [
            Body(
                f"link{i}",
                j,
                parents[i - 1] if i else None,
                (0.1, 0.05, 0.3),
                inertia=link,
                data=JointData(armature=armature),
            )
            for i, j in enumerate(joints)
        ],
        gravity=(-9.81, 0.0, 0.0),
    )


def oscillator(omega: float) -> Problem:
    return Problem(
        table_of([(RN, 1), (RN, 1)]),
        [0.7, 0.4],
        lambda t, y: np.array([y[1], -(omega**2) * y[0]]),
        invariants={"energy": lambda t, y: 0.5 * (y[1] ** 2 + omega**2 * y[0] ** 2)},
        canonical=True,
    )


def double_pendulum() -> Problem:
    def lagrangian(t, q, v, p):
        return (
            v[0] ** 2 + 0.5 * v[1] ** 2 + v[0] * v[1] * np.cos(q[0] - q[1]) + 9.81 * (2 * np.cos(q[0]) + np.cos(q[1]))
        )

    return lagrangian_problem(lagrangian, q=[1.5, 1.0])


JOINTS = [Revolute((1, 0, 0)), Spherical(), Revolute((0, 1, 0)), Revolute((0, 0, 1))]


def tree_chain(armature: float = 0.0) -> Problem:
    tree = chain(JOINTS, armature)
    return hamiltonian_problem(tree, tree.neutral(), np.full(tree.nv, 0.5))


@pytest.mark.parametrize("method", ["SPLIT_STRANG", "MIDPOINT"])
def test_the_oscillator_has_the_closed_form(method):
    """Steps turn by φ about an ellipse of action I: H̃ = φ I/h, and the window sees Σ 2 wⱼ sin(jφ) in the place of φ,
    exactly.
    """
    h, omega = 0.3, 1.7
    s = integrate(oscillator(omega), method, (0, 30), h, save_every=1)
    half = h * omega / 2
    frequency = omega * np.sqrt(1 - half**2) if method == "SPLIT_STRANG" else omega
    phi = 2 * (np.arcsin(half) if method == "SPLIT_STRANG" else np.arctan(half))
    area = (s.y[0, 1] ** 2 / frequency + frequency * s.y[0, 0] ** 2) / 2
    for order, weights in ((2, (1 / 2,)), (4, (2 / 3, -1 / 12)), (6, (3 / 4, -3 / 20, 1 / 60))):
        _, energy = modified_energy(oscillator(omega), s, order)
        expected = sum(2 * w * np.sin((j + 1) * phi) for j, w in enumerate(weights)) * area / h
        assert np.abs(energy / expected - 1).max() < 1e-13, "rounding of a hundred steps"
    _, energy = modified_energy(oscillator(omega), s, 24)
    assert np.abs(energy / (phi * area / h) - 1).max() < 1e-9, "the modified Hamiltonian itself"
    assert np.ptp(s["energy"]) > 0.05 or method == "MIDPOINT"


def test_fifty_digits_show_every_order():
    """Of a step without rounding: constant up to h²ᵏ, far below what double precision could show."""
    extended, method, order_of = with_action(pendulum(angle=2.0)), find("SPLIT_STRANG"), {}
    with mpmath.workdps(50):
        spread = {}
        for steps in (40, 80):
            h = mpmath.mpf(1) / (2 * steps)
            step, states = step_map(extended, method, interpreted=True), [many_digits(extended)]
            for _ in range(steps):
                states.append(step(states[-1], h))
            y = np.array(states)
            action = np.diff(y[:, 3]) + np.diff(y[:, 0] * y[:, 2]) / 2
            for order in (2, 4, 8, 16):
                window = slice(steps // 2 - steps // 4 - order // 2, steps // 2 + steps // 4 + order // 2 + 1)
                energy = interpolated_energy(
                    pendulum().table, y[window][:, [0, 2]], action[window.start : window.stop - 1], h, order
                )
                spread[steps, order] = float(np.ptp(energy))
        order_of = {order: np.log2(spread[40, order] / spread[80, order]) for order in (2, 4, 8, 16)}
    for order, measured in order_of.items():
        assert abs(measured - order) < 0.06 * order, order_of
    assert spread[80, 16] < 1e-18


CASES = [
    (pendulum, "SPLIT_STRANG", 0.04),
    pytest.param(pendulum, "MIDPOINT_SUZUKI4", 0.04, marks=pytest.mark.slow),
    (double_pendulum, "DEL_MIDPOINT", 0.02),
    pytest.param(double_pendulum, "VARIATIONAL_LOBATTO3", 0.02, marks=pytest.mark.slow),
    (tree_chain, "TREE_VARIATIONAL", 0.004),
    pytest.param(tree_chain, "TREE_VARIATIONAL_SUZUKI4", 0.004, marks=pytest.mark.slow),
    pytest.param(lambda: kepler(0.3), "SPLIT_SRKN6_11B", 0.1, marks=pytest.mark.slow),
    pytest.param(lambda: kepler(0.3), "RKMK_GAUSS2", 0.1, marks=pytest.mark.slow),
    pytest.param(heavy_top, "MIDPOINT", 0.001, marks=pytest.mark.slow),
    pytest.param(heavy_top, "VARIATIONAL_GAUSS2", 0.001, marks=pytest.mark.slow),
]


@pytest.fixture(scope="module")
def problems():
    found = {}
    return lambda build: found.setdefault(build, build())


@pytest.mark.parametrize(("build", "method", "h"), CASES)
def test_constant_to_the_order_of_the_window(problems, build, method, h):
    problem = problems(build)
    runs = [integrate(problem, method, (0, 200 * h), h / k, save_every=1) for k in (1, 2)]
    for order in (2, 4, 8):
        coarse, fine = (np.ptp(modified_energy(problem, s, order)[1]) for s in runs)
        assert abs(np.log2(coarse / fine) - order) < 0.12 * order, order


def test_drift_stands_out_of_the_oscillation(problems):
    """RK4 is more accurate than the splitting over this run, and drifts: its modified energy says so, that of the
    splitting is flat.
    """
    problem = problems(pendulum)
    flat, drifting = (integrate(problem, name, (0, 100), 0.05, save_every=1) for name in ("SPLIT_STRANG", "RKMK4"))
    assert np.ptp(flat["energy"]) > 2 * np.ptp(drifting["energy"])
    (t, kept), (_, lost) = (modified_energy(problem, s, 12) for s in (flat, drifting))
    assert np.ptp(kept) < 1e-3 * np.ptp(lost)
    assert energy_drift(t, lost).significance > 20
    assert abs(energy_drift(t, kept).slope) < 1e-4 * abs(energy_drift(t, lost).slope)
    assert np.abs(energy_drift(t, lost).slope / energy_drift(drifting.t, drifting["energy"]).slope - 1) < 0.05


def test_the_figure_shows_both(problems):
    problem = problems(pendulum)
    runs = [integrate(problem, name, (0, 20), 0.05, save_every=1) for name in ("SPLIT_STRANG", "RKMK4")]
    flat, drifting = modified_energy_figure(problem, runs, (4, 8)).axes
    last = [line.get_ydata()[-1] for line in flat.lines[:3]]
    assert last[0] > 3 * last[1] > 100 * last[2]
    assert drifting.lines[2].get_ydata()[-1] > 10 * last[2]
    assert "slope" in flat.get_legend().get_texts()[-1].get_text()


@pytest.mark.parametrize("body_map", ["split", "splitexp", "cayley", "exp"])
def test_many_steps_of_a_tree_at_once(body_map):
    problem = tree_chain(0.01)
    states = integrate(problem, "TREE_VARIATIONAL", (0, 0.2), 0.05, save_every=1).y[
        :, : problem.n - problem.dimension // 2
    ]
    found = problem.own_steps["variational"].action(states[:-1], states[1:], 0.05, body_map)
    tree = chain(JOINTS, 0.01)
    expected = [discrete_lagrangian(tree, body_map, 0.0, 0.05, a, b) for a, b in pairwise(states)]
    assert np.abs(found - expected).max() < 1e-13 * np.abs(expected).max()


def test_what_has_no_modified_energy_is_named(problems):
    problem = problems(pendulum)
    s = integrate(problem, "SPLIT_STRANG", (0, 1), 0.1, save_every=1)
    for run, order, match in (
        (integrate(problem, "SPLIT_STRANG", (0, 1), 0.1, save_every=2), 2, "save_every=1"),
        (integrate(problem, "RKMK_TSITOURAS54", (0, 1), rtol=1e-6), 2, "variable steps"),
        (integrate(problem, "SPLIT_STRANG", (0, 1), 0.1, y0=np.array([problem.y0, problem.y0])), 2, "ensemble"),
        (s, 7, "even number"),
        (s, 24, "saved states"),
    ):
        with pytest.raises(ValueError, match=match):
            modified_energy(problem, run, order)
    top = heavy_top()
    with pytest.raises(ValueError, match="known on Rⁿ only"):
        modified_energy(top, integrate(top, "RKMK4", (0, 0.01), 0.001, save_every=1), 2, method="LGVI_CAYLEY")
    plain = Problem(table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: np.array([y[1], -y[0]]))
    with pytest.raises(ValueError, match="canonical"):
        modified_energy(plain, integrate(plain, "RKMK4", (0, 1), 0.1, save_every=1), 2)


def test_what_a_step_by_itself_would_be_doubted_for_is_no_obstacle():
    """A heavy top on SO(3) by its Lagrangian: the action of single steps passes zero."""
    inertia = np.array([1.0, 2.0, 3.0])

    def lagrangian(t, q, v, p):
        return 0.5 * sum(inertia[k] * v[k] ** 2 for k in range(3)) - 4.0 * (q[1] * q[3] + q[0] * q[2])

    top = lagrangian_problem(lagrangian, [1.0, 0.0, 0.0, 0.0], [0.5, 1.0, 0.3], group=so3)
    run = integrate(top, "MIDPOINT", (0.0, 2.0), 0.05, save_every=1)
    assert run.success
    assert np.ptp(modified_energy(top, run, 8)[1]) < 1e-4 * np.ptp(run["energy"])


def test_what_keeps_no_energy_and_another_problem_are_refused():
    def pendulum_of(gravity, force=None):
        return lagrangian_problem(
            lambda t, q, v, p: 0.5 * v[0] ** 2 + gravity(t) * sincos(q[0])[1], [2.0], [0.0], force=force
        )

    plain = pendulum_of(lambda t: 1.0)
    run = integrate(plain, "DEL_MIDPOINT", (0.0, 1.0), 0.05, save_every=1)
    modified_energy(plain, run, 4)
    with pytest.raises(ValueError, match="give the problem that was integrated"):
        modified_energy(pendulum_of(lambda t: 2.0), run, 4)
    for other in (pendulum_of(lambda t: sincos(t)[1]), pendulum_of(lambda t: 1.0, lambda t, q, v, p: [-0.1 * v[0]])):
        run = integrate(other, "DEL_MIDPOINT", (0.0, 1.0), 0.05, save_every=1)
        with pytest.raises(ValueError, match="does not keep its energy"):
            modified_energy(other, run, 4)
