"""Newton's method with a band: the same solutions as with a dense matrix, in linear time; a sparsity that is wrong is
named.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from integrators import Problem, integrate
from integrators.arithmetic.bands import decompose_band, solve_band
from integrators.methods import METHODS
from integrators.problem.sparsity import HALF, ORDER, meeting
from liegroup import rn
from mechanics.elastic import Network, Springs
from mechanics.elastic.rods import Rod, Section
from mechanics.systems import SYSTEMS

LINKS = 30
ORDER_OF_USER = np.random.default_rng(3).permutation(LINKS)
"""The user numbers the masses of a chain in any order."""


def chain(t: float, y: Any, parameters: Any, out: Any) -> None:
    """Masses on stiff springs and dampers in a row, numbered in disorder; parameters[i]: the number of mass i."""
    n = y.shape[0] // 2
    for i in range(2 * n):
        out[i] = 0.0
    for i in range(n):
        a = int(parameters[i])
        out[a] = y[n + a]
        if i > 0:
            b = int(parameters[i - 1])
            stretch = y[a] - y[b]
            force = 1e4 * stretch + 20.0 * stretch**3 + 0.1 * (y[n + a] - y[n + b])
            out[n + a] -= force
            out[n + b] += force


def posed(sparsity: Any) -> Problem:
    y0 = np.concatenate([np.sin(ORDER_OF_USER), np.cos(2.0 * ORDER_OF_USER)])
    return Problem(
        rn(2 * LINKS), y0, chain, parameters=ORDER_OF_USER.astype(float), jacobian_sparsity=sparsity, autonomous=True
    )


def neighbours() -> Any:
    pairs = itertools.pairwise(ORDER_OF_USER)
    return meeting(2 * LINKS, [np.array([a, b, LINKS + a, LINKS + b]) for a, b in pairs])


@pytest.mark.parametrize(("n", "w"), [(12, 3), (9, 1), (7, 4)])
def test_factors_of_a_band_solve_as_numpy_does(n: int, w: int) -> None:
    rng = np.random.default_rng(n)
    A = np.triu(np.tril(rng.normal(size=(n, n)), w), -w)
    A[np.diag_indices(n)] *= 1e-3  # pivots are needed
    a = np.zeros(n * (3 * w + 1))
    for i in range(n):
        for j in range(max(0, i - w), min(n, i + w + 1)):
            a[i * 3 * w + j + w] = A[i, j]
    b, pivots = rng.normal(size=n), np.zeros(n)
    decompose_band(a, n, w, pivots)
    x = b.copy()
    solve_band(a, n, w, 1, pivots, x, np.zeros(n))
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9, atol=1e-9)


def test_the_band_is_found_whatever_the_numbering() -> None:
    found = posed(neighbours()).derivative_pattern
    assert found[HALF] <= 3
    assert sorted(found[ORDER : ORDER + 2 * LINKS]) == list(range(2 * LINKS))


@pytest.mark.parametrize("name", ["MIDPOINT", "RKMK_GAUSS4", "RKMK_RADAU_IIA3", "BDF2", "VARIATIONAL_GAUSS2"])
def test_a_band_gives_the_states_of_a_dense_matrix_with_fewer_evaluations(name: str) -> None:
    problem = posed(neighbours())
    if name.startswith("VARIATIONAL"):
        problem = stretched().problem()
    band, dense = (integrate(p, name, (0.0, 0.2), 0.02) for p in (problem, replace(problem, jacobian_sparsity=None)))
    assert problem.derivative_pattern[HALF] >= 0
    assert band.finished  # the steps are large: what is asked is whether both forms take the same ones
    np.testing.assert_allclose(band.y[-1], dense.y[-1], rtol=1e-10, atol=1e-10)
    assert band.evaluations < 0.7 * dense.evaluations


def test_lanes_with_a_band_are_bitwise_the_single_trajectories() -> None:
    problem = stretched().problem()
    starts = np.array(problem.y0) * np.linspace(0.999, 1.001, 3)[:, None]
    lanes = integrate(replace(problem, y0=starts), "MIDPOINT", (0.0, 0.2), 0.02)
    for start, y in zip(starts, lanes.y, strict=True):
        assert np.isfinite(y).all()
        assert np.array_equal(integrate(replace(problem, y0=start), "MIDPOINT", (0.0, 0.2), 0.02).y[-1], y[-1])


def test_evaluations_do_not_grow_with_the_chain() -> None:
    counts = [integrate(stretched(n).problem(), "RKMK_RADAU_IIA2", (0.0, 0.2), 0.02).evaluations for n in (20, 60)]
    assert counts[1] < 1.3 * counts[0]


def wire(n: int) -> Problem:
    section = Section.round(0.001, 2.1e11, density=7850.0)
    return Rod.straight(1.0, n, section, supports={0: "clamped"}, gravity=(0.0, 0.0, -9.81)).problem()


@pytest.mark.parametrize("name", ["MIDPOINT", "RKMK_GAUSS2"])
def test_implicit_steps_of_thin_rods_are_linear_in_their_nodes(name: str) -> None:
    """Four times as many nodes: as many evaluations, each of all nodes, four times the workspace, the same band."""
    few, many = wire(40), wire(160)
    runs = [integrate(problem, name, (0.0, 3e-3), 1e-3) for problem in (few, many)]
    assert all(run.success for run in runs)
    assert runs[1].evaluations < 1.2 * runs[0].evaluations
    assert few.derivative_pattern[HALF] == many.derivative_pattern[HALF]
    size = [np.prod(METHODS[name].work_shape(problem)) for problem in (few, many)]
    assert size[1] < 4.2 * size[0]


def stretched(n: int = 12) -> Network:
    pairs = [[k, k + 1] for k in range(n - 1)]
    points = [[1.002 * k, 0.01 * np.sin(k), 0.0] for k in range(n)]
    return Network(points, 1.0, [Springs(pairs, 1e5, rest=1.0)], fixed=[0])


@pytest.mark.parametrize("name", ["flying-spaghetti", "rubber-rod"])
def test_rods_say_what_meets(name: str) -> None:
    problem = SYSTEMS[name].problem()
    half = problem.derivative_pattern[HALF]
    assert 12 <= half <= 24
    assert problem.jacobian_sparsity.shape == (problem.dimension,) * 2


def test_a_sparsity_that_lacks_an_entry_is_named() -> None:
    lacks = neighbours().tolil()
    a, b = ORDER_OF_USER[3], ORDER_OF_USER[4]
    lacks[LINKS + a, b] = 0
    with pytest.raises(ValueError, match=f"jacobian_sparsity: component {LINKS + a} of the field"):
        integrate(posed(lacks), "MIDPOINT", (0.0, 0.1), 0.02)


@pytest.mark.parametrize(
    ("sparsity", "words"),
    [
        (np.ones((3, 3)), r"shape \(3, 3\), expected \(60, 60\)"),
        (np.full((2 * LINKS, 2 * LINKS), np.nan), "not finite"),
    ],
)
def test_a_sparsity_of_another_shape_is_named(sparsity: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        posed(sparsity)


def test_a_dense_sparsity_is_no_band() -> None:
    assert posed(np.ones((2 * LINKS, 2 * LINKS))).derivative_pattern[HALF] == -1
    assert posed(sparse.eye_array(2 * LINKS)).derivative_pattern[HALF] == 0


@pytest.mark.parametrize("sparse_too", [False, True])
@pytest.mark.parametrize("name", ["MIDPOINT", "RKMK_GAUSS2", "VARIATIONAL_GAUSS2", "BDF2"])
def test_what_is_held_at_rest_beside_stiff_springs_stays(name: str, sparse_too: bool) -> None:
    """Rows of what does not move are pivots of their own: nothing is left over that looks like an unsolved equation."""
    problem = stretched().problem()
    run = integrate(problem if sparse_too else replace(problem, jacobian_sparsity=None), name, (0.0, 0.1), 0.02)
    assert run.status == 0
    assert np.array_equal(run.y[-1][:3], problem.y0[:3])
