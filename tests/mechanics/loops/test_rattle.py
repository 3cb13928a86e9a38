"""The variational step of trees with closed loops (RATTLE): gaps, order, symmetry, area, energy; redundant closures
included.
"""

from __future__ import annotations

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import measured_order
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.testing import group_distance
from mechanics import dynamics
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import spring_damper
from mechanics.formulations.closing_forces import closing_forces
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.formulations.reactions import reactions
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.systems.loops import four_bar, slider_crank

H = 0.01


@pytest.fixture
def closed(mechanism):
    return Mechanism(mechanism.tree, mechanism.equations.closures, mechanism.q, name=mechanism.name)


@pytest.fixture
def problem(closed, mechanism):
    return closed.problem(mechanism.q, mechanism.v, projection="momenta")


def configurations(problem, closed, y):
    """States with the same configurations and no momenta."""
    return np.concatenate([y[: closed.tree.nq], np.zeros(closed.tree.nv)])


def test_loops_stay_closed_to_rounding_and_the_energy_stays(problem):
    solution = integrate(problem, "TREE_VARIATIONAL", (0, 10), H, save_every=10)
    assert solution.success, solution.message
    assert np.abs(solution["gap"]).max() < 2e-13
    assert np.abs(solution["velocity_gap"]).max() < 1e-12
    assert solution.error("energy") < 0.02
    assert solution.iterations / solution.steps < 4.5


@pytest.mark.parametrize(
    ("name", "counts"), [("TREE_VARIATIONAL", (20, 40, 80)), ("TREE_VARIATIONAL_SUZUKI4", (10, 20, 40))]
)
def test_order(problem, closed, name, counts):
    """Configurations against the equations of motion with multipliers; composed steps need no projection in between."""
    reference = integrate(problem, "SCIPY_DOP853", (0, 0.2), rtol=1e-12, atol=1e-13).y[-1]
    found = measured_order(
        lambda n: integrate(problem, name, (0, 0.2), 0.2 / n).y[-1],
        counts,
        reference,
        lambda y, z: group_distance(problem.table, *(configurations(problem, closed, x) for x in (y, z))),
        1e-10,
    )
    assert abs(found.order - find(name).order) < 0.15, found


def test_a_step_forward_and_a_step_back_return(problem, closed):
    step = step_map(problem, find("TREE_VARIATIONAL"))
    back = step(step(problem.y0, H), -H)
    assert group_distance(problem.table, *(configurations(problem, closed, x) for x in (back, problem.y0))) < 1e-13


@pytest.mark.parametrize("mechanism", ["four-bar", "slider-crank", "Bricard"], indirect=True)
def test_one_step_preserves_the_area_of_a_mechanism_of_one_freedom(problem, closed, mechanism):
    """(θ, P) → (θ₁, P₁): the first joint and its reduced momentum P = p·w, w the motion of all joints with θ̇ = 1."""
    step, first = step_map(problem, find("TREE_VARIATIONAL")), mechanism.tree.joint_names[0]
    n_q = mechanism.tree.nq

    def motion(q):
        return closed.velocities(q, {first: 1.0}).v

    def state(theta, P):
        guess = mechanism.q.copy()
        guess[0] = theta
        q = closed.assemble(guess, hold=(first,)).q
        w = motion(q)
        M = mass_matrix(mechanism.tree, q)
        return np.concatenate([q, M @ w * (P / (w @ M @ w))])

    def mapped(x):
        y = step(state(*x), H)
        return np.array([y[0], y[n_q:] @ motion(y[:n_q])])

    x0, d = np.array([mechanism.q[0], problem.y0[n_q:] @ motion(mechanism.q)]), 1e-4
    J = np.array([(mapped(x0 + d * e) - mapped(x0 - d * e)) / (2 * d) for e in np.eye(2)]).T
    assert abs(np.linalg.det(J) - 1) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["four-bar", "slider-crank", "Bricard"], indirect=True)
def test_a_hundred_thousand_steps(problem):
    solution = integrate(problem, "TREE_VARIATIONAL", (0, 1000), H, save_every=100)
    assert solution.success, solution.message
    assert np.abs(solution["gap"]).max() < 1e-11
    assert solution.error("energy") < 0.02


@pytest.mark.parametrize("mechanism", ["four-bar", "slider-crank", "Bricard"], indirect=True)
def test_closing_forces_are_those_of_the_continuous_motion(problem, closed, mechanism):
    """Gᵀλ of the step against M v̇ + b with G v̇ = −Ġ v; the difference falls with the step."""
    tree, q, v, e = mechanism.tree, mechanism.q, mechanism.v, 1e-5
    G = closed.equations.matrix(q)
    rate = (closed.equations.matrix(q + e * v) - closed.equations.matrix(q - e * v)) @ v / (2 * e)
    M, b = mass_matrix(tree, q), dynamics.bias(tree, q, v)
    free = -np.linalg.solve(M, b)
    reaction = G.T @ np.linalg.lstsq(G @ np.linalg.solve(M, G.T), -rate - G @ free, rcond=1e-9)[0]
    errors = []
    for h in (2e-3, 1e-3):
        found = closing_forces(closed, problem, find("TREE_VARIATIONAL"), problem.y0, h)
        rows = [closed.equations.names.index(name) for name in found]
        errors.append(np.abs(G[rows].T @ np.array(list(found.values())) - reaction).max())
    assert errors[1] < 0.02 * np.abs(reaction).max()
    assert errors[1] < 0.6 * errors[0]


def test_what_closing_forces_cannot_be_of_is_named():
    """A state that is too short was read beyond its end, another method gave numbers that were none."""
    made = four_bar.mechanism()
    problem, method = made.problem(), find("TREE_VARIATIONAL")
    for arguments, said in (
        ((problem, method, problem.y0[:-1], H), r"y: shape \(5,\), expected \(6,\)"),
        ((problem, method, problem.y0, 0.0), "h: 0.0, expected a step other than zero"),
        ((problem, find("RKMK4"), problem.y0, H), "method: 'RKMK4', expected a variational method"),
        ((problem, find("TREE_VARIATIONAL_SUZUKI4"), problem.y0, H), "method: .*SUZUKI4.*not composed"),
        ((problem, "TREE_VARIATIONAL", problem.y0, H), r"method: 'TREE_VARIATIONAL', .* integrators\.methods\.find"),
        ((multiplier_problem(made), method, problem.y0, H), "has no variational step of its own"),
        ((slider_crank.mechanism().problem(), method, problem.y0, H), "problem: 'slider-crank', expected one of"),
    ):
        with pytest.raises(ValueError, match=said):
            closing_forces(made, *arguments)


def test_closing_forces_of_a_mechanism_with_a_spring_are_its_reactions():
    plain = four_bar.mechanism()
    rope = spring_damper(Frame("coupler"), Frame(None, (0.3, 2.0, 0.0)), 300.0, damping=20.0, length=0.7)
    made = Mechanism(plain.tree, plain.equations.closures, plain.home, [rope])
    started = made.with_start(rates={"crank_joint": 2.0})
    problem, exact, errors = started.problem(), reactions(started), []
    for h in (1e-3, 5e-4):
        found = closing_forces(made, problem, find("TREE_VARIATIONAL"), problem.y0, h)
        errors.append(max(abs(x - exact[name]) for name, x in found.items()))
    assert errors[0] < 0.01 * max(map(abs, exact.values()))
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.1)
