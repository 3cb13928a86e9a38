"""Momenta are eliminated first: the same corrections as without, where that is worth it and can be done."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from integrators import Status, integrate
from integrators.problem.sparsity import DENSE, HALF, SECOND_ORDER
from integrators.steppers.newton_second_order import LEAST, REDUCED, SINGULAR, UNKNOWN
from integrators.steppers.newton_systems import correct, factorise, room, schur_form, solve_one
from integrators.tableaus import DIAGONALLY_IMPLICIT, GAUSS
from mechanics import Body, Inertia, Tree
from mechanics.forces import joint_spring
from mechanics.joints import Revolute, Spherical
from mechanics.mechanism import Mechanism
from mechanics.systems.loops import flyball_governor

H = 0.03


def stiff(d: int, rank: int, rng: np.random.Generator) -> Any:
    """A Jacobian of d/2 positions and momenta with stiffnesses up to 1e4, in which momenta move positions by so many
    combinations.
    """
    n = d // 2
    A, C, D = (rng.normal(size=(n, n)) for _ in range(3))
    root = rng.normal(size=(n, rank))
    return np.block([[A, root @ root.T], [-C @ np.diag(np.logspace(0, 4, n)) @ C.T, D]])


@pytest.mark.parametrize(
    ("d", "missing", "known"), [(LEAST, 0, REDUCED), (22, 0, REDUCED), (22, 1, SINGULAR), (LEAST - 2, 0, UNKNOWN)]
)
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_corrections_are_those_of_the_whole_system(stages: int, d: int, missing: int, known: float) -> None:
    rng = np.random.default_rng(d + stages)
    A, J = GAUSS(stages).rounded.A, stiff(d, d // 2 - missing, rng)
    form, blocks = schur_form(A)
    Q, R, pattern = form[: stages**2], form[stages**2 :], np.array([1, SECOND_ORDER])
    at = room(stages, d, SECOND_ORDER)
    memory, residual = np.zeros(at.end), rng.normal(size=stages * d)
    memory[at.jacobian : at.jacobian + d * d] = J.ravel()
    memory[: stages * d] = residual
    factorise(H, memory, stages, d, R, blocks, pattern)
    assert memory[at.reduced] == known
    correct(H, memory, stages, d, Q, R, blocks, pattern)
    system = np.eye(stages * d) - H * np.kron(A, J)
    np.testing.assert_allclose(system @ memory[: stages * d], residual, atol=1e-8 * np.linalg.norm(residual))
    assert np.array_equal(memory[at.jacobian : at.jacobian + d * d], J.ravel())
    real = [j for j in range(stages) if blocks[j] == 1]
    for j in real:
        x = residual[:d].copy()
        solve_one(H, memory, stages, d, R, j, pattern, x)
        np.testing.assert_allclose(x - H * R[j * stages + j] * J @ x, residual[:d], atol=1e-8)


@pytest.mark.parametrize("h", np.logspace(-14, 2, 9))
def test_two_corrections_are_right_to_rounding_at_any_step(h: float) -> None:
    """Stiffnesses are 1e4 at most and 1 at least: h ω is from 1e-14 to 1e4."""
    rng = np.random.default_rng(7)
    A, d = GAUSS(3).rounded.A, 20
    J = stiff(d, d // 2, rng)
    form, blocks = schur_form(A)
    at, pattern = room(3, d, SECOND_ORDER), np.array([1, SECOND_ORDER])
    memory, right, x = np.zeros(at.end), rng.normal(size=3 * d), np.zeros(3 * d)
    memory[at.jacobian : at.jacobian + d * d] = J.ravel()
    factorise(h, memory, 3, d, form[9:], blocks, pattern)
    assert memory[at.reduced] == REDUCED
    system = np.eye(3 * d) - h * np.kron(A, J)
    for _ in range(2):
        memory[: 3 * d] = right - system @ x
        correct(h, memory, 3, d, form[:9], form[9:], blocks, pattern)
        x += memory[: 3 * d]
    assert (np.abs(system @ x - right) <= 1e-12 * (np.abs(system) @ np.abs(x) + np.abs(right))).all()


def test_real_eigenvalues_alone_are_not_worth_it() -> None:
    tableau = next(iter(DIAGONALLY_IMPLICIT.values()))
    form, blocks = schur_form(tableau.rounded.A)
    s, d = tableau.stages, LEAST
    at = room(s, d, SECOND_ORDER)
    memory = np.zeros(at.end)
    memory[at.jacobian : at.jacobian + d * d] = stiff(d, d // 2, np.random.default_rng(3)).ravel()
    factorise(H, memory, s, d, form[s * s :], blocks, np.array([1, SECOND_ORDER]))
    assert memory[at.reduced] == UNKNOWN


def swinging(links: int = 7) -> Mechanism:
    """Rods on a ball, joined by stiff springs with dampers."""
    rod = Inertia.about_com(1.0, (0.25, 0.0, 0.0), np.diag([1e-3, 0.02, 0.02]))
    bodies = [Body("link0", Spherical(), inertia=rod)]
    for i in range(1, links):
        bodies.append(Body(f"link{i}", Revolute((0.0, 1.0, 0.0)), f"link{i - 1}", (0.5, 0.0, 0.0), inertia=rod))
    springs = [joint_spring(f"link{i}_joint", 1e5, damping=20.0) for i in range(1, links)]
    return Mechanism(Tree(bodies, name="rods"), [], None, springs)


def test_problems_say_that_positions_come_before_momenta() -> None:
    assert swinging().problem().derivative_pattern[HALF] == SECOND_ORDER
    assert flyball_governor.started().problem().derivative_pattern[HALF] == SECOND_ORDER


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_GAUSS2"])
def test_lanes_have_the_bits_of_one(method: str) -> None:
    """Beside one that fails, too."""
    problem = swinging().problem()
    rng = np.random.default_rng(1)
    starts = np.tile(problem.y0, (4, 1))
    starts[:, -3:] += 0.1 * rng.normal(size=(4, 3))
    starts[1, -9:] = 1e40
    together = integrate(problem, method, (0.0, 0.05), 5e-3, y0=starts)
    for k in (0, 2, 3):
        assert np.array_equal(together.y[k, -1], integrate(problem, method, (0.0, 0.05), 5e-3, y0=starts[k]).y[-1])
    assert [status == Status.OK for status in together.status] == [True, False, True, True]


@pytest.mark.parametrize("variable", [False, True])
def test_motions_are_those_without(variable: bool) -> None:
    problem = swinging().problem()
    whole = swinging().problem()
    pattern = whole.derivative_pattern
    pattern[HALF] = DENSE
    steps: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-8} if variable else {"step": 2e-3}
    one, other = (integrate(p, "RKMK_RADAU_IIA3", (0.0, 0.2), **steps) for p in (problem, whole))
    assert abs(one.steps - other.steps) <= 1
    np.testing.assert_allclose(one.y[-1], other.y[-1], atol=1e-7)
