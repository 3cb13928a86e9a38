"""Small dense systems: LDLᵀ, and the pseudo-inverse whose rank is known beforehand, in Python, compiled and on
lanes.
"""

import mpmath
import numpy as np
import pytest

from liegroup.compile import WIDTH, entry, integer, lane_array, lane_matrix, matrix, nothing
from liegroup.compile.dense import factor_of_rank, ldl, ldl_solve, solve_of_rank


@entry(nothing(matrix, integer, integer), nothing(lane_matrix, integer, integer))
def solve_in_workspace(work, n, rank):
    """Rows 0 … n: A; then n rows of scratch; n rows of null directions; last the right-hand side, replaced by A⁺ b."""
    factor_of_rank(work, 0, n, rank, work, 2 * n, work, n)
    solve_of_rank(work, 0, n, rank, work, 2 * n, work, 3 * n)


def workspace(A, b, rank, seed=0):
    n = len(A)
    work = np.zeros((3 * n + 1, n))
    work[:n] = A
    work[2 * n : 3 * n - rank] = np.random.default_rng(seed).normal(size=(n - rank, n))
    work[3 * n] = b
    return work


def spectrum(eigenvalues, seed):
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(len(eigenvalues), len(eigenvalues))))
    return basis * eigenvalues @ basis.T, basis, rng.normal(size=len(eigenvalues))


@pytest.mark.parametrize("n", [1, 2, 3, 6, 13])
def test_ldl_solves_definite_systems(n):
    A, _, b = spectrum(np.geomspace(1e-3, 1.0, n), n)
    work, x = np.tril(A), b[None].copy()
    ldl(work, 0, n, 0.0)
    ldl_solve(work, 0, n, x, 0)
    assert np.abs(A @ x[0] - b).max() < 1e-12


@pytest.mark.parametrize("kept", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("dropped", [0.0, 1e-16, 1e-13])
def test_the_known_rank_decides_whatever_the_size_of_the_eigenvalues(kept, dropped):
    eigenvalues = np.array([1.0, 0.5, kept, dropped, dropped / 3])
    A, basis, b = spectrum(eigenvalues, 1)
    work = workspace(A, b, 3)
    solve_in_workspace.python(work, 5, 3)
    exact = basis[:, :3] @ ((basis[:, :3].T @ b) / eigenvalues[:3])
    # eigenvectors of the computed matrix differ from ours by eps over the gap of the spectrum
    assert np.abs(work[15] - exact).max() <= 200 * (np.finfo(float).eps + dropped) / kept**2


def test_full_rank_needs_no_directions():
    A, _, b = spectrum(np.array([1.0, 0.3, 1e-8]), 2)
    work = workspace(A, A @ b, 3)
    solve_in_workspace.python(work, 3, 3)
    assert np.abs(A @ work[9] - A @ b).max() < 1e-15


def test_it_holds_to_many_digits():
    with mpmath.workdps(50):
        A = [[mpmath.mpf(1) / (i + j + 1) for j in range(3)] for i in range(3)]
        work = np.empty((4, 3), dtype=object)
        work[:3] = A
        work[3] = [sum(row) for row in A]
        ldl(work, 0, 3, mpmath.mpf(0))
        ldl_solve(work, 0, 3, work, 3)
        assert max(abs(x - 1) for x in work[3]) < mpmath.mpf(10) ** -45


@pytest.mark.parametrize("rank", [2, 4, 5])
def test_compiled_and_lanes_are_the_interpreted_bits(rank):
    eigenvalues = np.where(np.arange(5) < rank, np.linspace(1.0, 0.2, 5), 1e-17)
    cases = [workspace(*(lambda A, _, b: (A, b))(*spectrum(eigenvalues, seed)), rank, seed) for seed in range(WIDTH)]
    lanes = lane_array(*cases[0].shape)
    lanes[:] = np.stack(cases, axis=-1)
    solve_in_workspace(lanes, 5, rank)
    for k, work in enumerate(cases):
        compiled = work.copy()
        solve_in_workspace(compiled, 5, rank)
        solve_in_workspace.python(work, 5, rank)
        assert np.array_equal(work, compiled)
        assert np.array_equal(work, lanes[..., k])
