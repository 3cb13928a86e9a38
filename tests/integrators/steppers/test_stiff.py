"""Stiff problems, alone and on a product with rotations, by Newton's method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import symmetry_defect
from integrators.arithmetic.elimination import solve_rows, solve_rows_together, solve_rows_within
from integrators.arithmetic.matrices import decompose, solve_factors
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.problem import Problem
from integrators.signatures import FIELD_SIGNATURES
from integrators.step_derivatives.linearised import linearised_step
from integrators.steppers.implicit import implicit_rkmk, newton_rkmk
from integrators.tableaus import GAUSS
from integrators.testing import end_state, group_distance, order_problem, reference_state
from liegroup import rn
from liegroup.compile import entry, ld, st
from liegroup.compile.dense import profile_of, room_of_system
from liegroup.compile.scalars import sincos
from liegroup.table import RN, SO3, table_of

L_STABLE = [
    "RKMK_RADAU_IIA2",
    "RKMK_RADAU_IIA3",
    "RKMK_LOBATTO_IIIC3",
    "RKMK_KVAERNO43",
    "RKMK_SDIRK2_ALEXANDER",
    "RKMK_TRBDF2",
]


@entry(*FIELD_SIGNATURES)
def driven(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """x follows cos t as fast as parameters[0] says (Prothero and Robinson), and a body turns with velocity (x, 1,
    x²).
    """
    s, c = sincos(t * 1.0)
    x = ld(y, 4)
    st(out, 0, x)
    st(out, 1, 1.0 + 0.0 * x)
    st(out, 2, x * x)
    st(out, 3, parameters[0] * (c - x) - s)


def problem(rate: float) -> Problem:
    return Problem(
        table_of([(SO3, 1), (RN, 1)]), [1.0, 0.0, 0.0, 0.0, 1.0], driven, parameters=[rate], model="driven body"
    )


@pytest.mark.parametrize("name", L_STABLE)
def test_a_stiff_variable_is_followed_with_long_steps_and_the_body_turns_with_it(name: str) -> None:
    """However stiff, x = cos t solves the problem; the body's motion follows from it."""
    reference = reference_state(problem(1.0))
    for rate in (1e2, 1e5, 1e8):
        y = end_state(problem(rate), METHODS[name], 20)
        assert abs(y[4] - np.cos(1.0)) < 1e-3
        assert group_distance(problem(rate).table, reference, y) < 2e-3


def test_where_iteration_fails_newton_goes_on() -> None:
    """Gauss does not damp: x keeps a distance from cos t, of the size of that at the start."""
    solution = integrate(problem(1e5), implicit_rkmk(GAUSS(2)), (0, 1), step=0.05)
    assert solution.status.name == "OK"
    assert np.abs(solution.y[:, 4] - np.cos(solution.t)).max() < 1e-2


@pytest.mark.parametrize("name", ["RODAS4", "RODAS3", "ROS3P"])
@pytest.mark.parametrize("plane", [False, True])
def test_a_start_that_is_zero_but_for_rounding_is_one_at_zero(name: str, plane: bool) -> None:
    """The derivative of the field is by differences, noise where these are finer than its rounding."""

    def damped(t: float, y: Any) -> Any:
        return [y[1], 1000.0 * np.cos(3.0 * t) - 1e4 * y[0] - 400.0 * y[1]]

    def drawn(t: float, y: Any) -> Any:
        return [-100.0 * (y[0] - np.cos(t))]

    field, d = (damped, 2) if plane else (drawn, 1)
    runs = [integrate(Problem(rn(d), [x] * d, field), name, (0.0, 0.5), 0.01) for x in (0.0, 6e-17, -1e-12, 1e-9)]
    for run in runs[1:]:
        size = np.abs(runs[0].y).max(axis=0)
        np.testing.assert_allclose(run.y / size, runs[0].y / size, rtol=0, atol=1e-7)
    step = Problem(rn(1), [1e-10], lambda t, y: [-(y[0] - np.cos(t))])
    assert linearised_step(step, name, step.y0, 0.03, t=0.0).A[0, 0] == pytest.approx(np.exp(-0.03), abs=2e-6)


def test_the_order_seen_for_stiff_problems_is_at_least_that_of_the_stages() -> None:
    errors = [abs(end_state(problem(1e6), METHODS["RKMK_RADAU_IIA3"], n)[4] - np.cos(1.0)) for n in (4, 8)]
    assert np.log2(errors[0] / errors[1]) > 3 - 0.2


@pytest.mark.parametrize("group", ["R3", "SO3", "product"])
def test_newton_and_iteration_end_in_the_same_state(group: str) -> None:
    for s in (1, 2, 3):
        states = [end_state(order_problem(group), build(GAUSS(s)), 12) for build in (implicit_rkmk, newton_rkmk)]
        assert group_distance(order_problem(group).table, *states) < 2e-15


def test_newton_keeps_the_symmetry() -> None:
    base = order_problem("SO3")

    def frozen(t: float, y: Any) -> Any:
        out = np.zeros(3)
        base.field.python(0.3, y, base.parameters, base.structure, np.zeros(base.work_shape), out)
        return out

    autonomous = Problem(base.table, base.y0, frozen, model="autonomous")
    step = step_map(autonomous, newton_rkmk(GAUSS(2)))
    assert symmetry_defect(step, base.y0, 0.1, distance=lambda y, z: group_distance(base.table, y, z)) < 3e-15


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "BDF5", "RODAS3"])
def test_lanes_give_the_same_bits(name: str) -> None:
    stiff, method = problem(1e4), METHODS[name]
    starts = np.array([[1.0, 0.0, 0.0, 0.0, 1.0 + 0.1 * k] for k in range(8)])
    together = integrate(stiff, method, (0, 1), step=0.1, y0=starts).y[:, -1]
    one_by_one = np.array([integrate(stiff, method, (0, 1), step=0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, one_by_one)


def test_inverse_of_matrices_that_need_pivots() -> None:
    rng = np.random.default_rng(0)
    for matrix in (rng.normal(size=(7, 7)), np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([[1e-20, 1.0], [1.0, 1.0]])):
        n = len(matrix)
        a = np.zeros((n + 2, 2 * n))
        a[2:, :n], a[2:, n:] = matrix, np.eye(n)
        solve_rows(a, 2, n, n)
        assert np.allclose(a[2:, n:], np.linalg.inv(matrix), rtol=1e-11, atol=1e-12)


def test_a_profile_gives_the_bits_of_the_whole_system() -> None:
    rng, firsts = np.random.default_rng(1), [0, 0, 2, 1, 3, 5, 5, 4, 7]
    n = len(firsts)
    matrix = np.zeros((n, n))
    for i, first in enumerate(firsts):
        matrix[i, first : i + 1], matrix[first : i + 1, i] = rng.normal(size=(2, i + 1 - first))
    matrix[6, 6] = 1e-20
    whole, profile = np.column_stack([matrix, np.arange(1.0, n + 1.0)]), profile_of(firsts)
    rows, rights = (profile[k * n : (k + 1) * n] for k in (3, 4))
    within, together = np.full((3, room_of_system(profile)), np.nan), whole.copy()
    for i, (row, right) in enumerate(zip(rows, rights, strict=True)):
        start = 0 if i == 0 else rights[i - 1] + 1
        within[1, start:right], within[1, right] = matrix[i, start - row : right - row], whole[i, n]
    solve_rows(whole, 0, n, 1)
    solve_rows_together(together, 0, n)
    solve_rows_within(within, 1, n, np.array(profile), 0)
    assert np.array_equal(whole[:, n], within[1, rights])
    assert np.array_equal(whole[:, n], together[:, n])
    assert np.isnan(within[[0, 2]]).all()
    assert np.allclose(matrix @ whole[:, n], np.arange(1.0, n + 1.0), rtol=1e-9)


@pytest.mark.parametrize("width", [2, 5, 40])
def test_the_profile_of_a_matrix_is_kept_and_its_factors_solve(width: int) -> None:
    """Pivots in a band of w diagonals fill at most w more; beyond them the zeros of L and U are exact."""
    n, rng = 23, np.random.default_rng(width)
    apart = np.subtract.outer(np.arange(n), np.arange(n))
    matrix, right = np.where(np.abs(apart) <= width, rng.normal(size=(n, n)), 0.0), rng.normal(size=n)
    factors, pivots, x = matrix.ravel().copy(), np.zeros(n), right.copy()
    decompose(factors, n, pivots)
    solve_factors(factors, n, pivots, x)
    table, exchanged = factors.reshape(n, n), matrix.copy()
    for k, row in enumerate(pivots.astype(int)):
        exchanged[[k, row]] = exchanged[[row, k]]
    made = (np.tril(table, -1) + np.eye(n)) @ np.triu(table)
    np.testing.assert_allclose(made, exchanged, atol=1e-13 * np.abs(table).max() * n)
    assert not factors.reshape(n, n)[apart < -2 * width].any()
    np.testing.assert_allclose(matrix @ x, right, atol=1e-10)
