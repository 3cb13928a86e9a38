"""Small dense systems: LDLᵀ, and the pseudo-inverse whose rank is known beforehand, in Python, compiled and on
lanes.
"""

import mpmath
import numpy as np
import pytest

from liegroup.compile import WIDTH, entry, integer, integers, lane_array, lane_matrix, matrix, nothing
from liegroup.compile.dense import (
    factor_of_rank,
    ldl,
    ldl_solve,
    profile_of,
    room_of_system,
    room_within,
    solve_of_rank,
)

FULL = np.array(profile_of([0] * 5))


@entry(nothing(matrix, integer, integer, integers), nothing(lane_matrix, integer, integer, integers))
def solve_in_workspace(work, n, rank, profile):
    """Rows 0 … n: A, as its profile says; then n rows of scratch; n rows of null directions; last the right-hand
    side, replaced by A⁺ b.
    """
    factor_of_rank(work, 0, n, rank, work, 2 * n, work, n, profile, 0)
    solve_of_rank(work, 0, n, rank, work, 2 * n, work, 3 * n, profile, 0)


def workspace(A, b, rank, seed=0, firsts=None):
    n = len(A)
    work = np.zeros((3 * n + 1, n))
    within = [A[i, first : i + 1] for i, first in enumerate(firsts or [0] * n)]
    stored = np.concatenate(within)
    work[:n].reshape(-1)[: len(stored)] = stored
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
    solve_in_workspace.python(work, 5, 3, FULL)
    exact = basis[:, :3] @ ((basis[:, :3].T @ b) / eigenvalues[:3])
    # eigenvectors of the computed matrix differ from ours by eps over the gap of the spectrum
    assert np.abs(work[15] - exact).max() <= 200 * (np.finfo(float).eps + dropped) / kept**2


def test_full_rank_needs_no_directions():
    A, _, b = spectrum(np.array([1.0, 0.3, 1e-8]), 2)
    work = workspace(A, A @ b, 3)
    solve_in_workspace.python(work, 3, 3, np.array(profile_of([0] * 3)))
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


def test_a_profile_gives_the_bits_of_the_whole_and_touches_nothing_beside_it():
    firsts = [0, 0, 2, 1, 3, 3, 0, 7]
    n, within = len(firsts), np.tri(len(firsts), dtype=bool)
    for i, first in enumerate(firsts):
        within[i, :first] = False
    A = np.where(within, np.random.default_rng(0).normal(size=(n, n)), 0.0) + n * np.eye(n)
    b = np.arange(1.0, n + 1)
    found = []
    for firsts_used in ([0] * n, firsts):
        profile = profile_of(firsts_used)
        work = workspace(A, b, n, firsts=firsts_used)
        work[:n].reshape(-1)[room_within(profile) :] = np.nan
        solve_in_workspace(work, n, n, np.array(profile))
        assert np.isnan(work[:n]).sum() == n * n - room_within(profile)
        found.append(work[3 * n])
    assert room_within(profile_of(firsts)) == within.sum()
    assert np.array_equal(*found)
    whole = np.tril(A) + np.tril(A, -1).T
    assert np.abs(whole @ found[0] - b).max() < 1e-14


def test_profiles_name_the_last_row_of_every_column():
    profile = profile_of([0, 0, 2, 1])
    assert profile[:8] == [0, 0, 2, 1, 2, 4, 4, 4]
    assert profile[8:12] == [0, 1, 1, 3]  # rows of one, two, one and three entries
    assert room_within(profile) == 7
    assert room_within([]) == room_of_system([]) == 0


@pytest.mark.parametrize("width", [1, 3])
def test_what_a_band_takes_grows_with_its_length(width):
    rooms = [
        [room(profile_of([max(0, i - width) for i in range(n)])) for room in (room_within, room_of_system)]
        for n in (40, 80, 160)
    ]
    steps = np.diff(rooms, axis=0)
    assert np.array_equal(steps[1], 2 * steps[0])


@pytest.mark.parametrize("rank", [2, 4, 5])
def test_compiled_and_lanes_are_the_interpreted_bits(rank):
    eigenvalues = np.where(np.arange(5) < rank, np.linspace(1.0, 0.2, 5), 1e-17)
    cases = [workspace(*(lambda A, _, b: (A, b))(*spectrum(eigenvalues, seed)), rank, seed) for seed in range(WIDTH)]
    lanes = lane_array(*cases[0].shape)
    lanes[:] = np.stack(cases, axis=-1)
    solve_in_workspace(lanes, 5, rank, FULL)
    for k, work in enumerate(cases):
        compiled = work.copy()
        solve_in_workspace(compiled, 5, rank, FULL)
        solve_in_workspace.python(work, 5, rank, FULL)
        assert np.array_equal(work, compiled)
        assert np.array_equal(work, lanes[..., k])
