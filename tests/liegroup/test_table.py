"""Kernels over a table of factors: scalar = lanes = interpreted to the last bit, and equal to the group objects."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest

from liegroup import product, rn, se2, se3, so2, so3
from liegroup import table as T
from liegroup.compile import MODE, entry, integer, integer_table, lane_array, lane_vector, nothing, vector
from liegroup.maps import NAMES

GROUP = product(rn(3), so3, se2, so2**2, se3, so3**2)
TABLE = GROUP.table
N_Q, N_V = GROUP.n_q, GROUP.n_v
TANGENTS = [
    f"dtau_{inverse}{side}{t}" for inverse in ("", "inverse_") for side in ("left", "right") for t in ("", "_transpose")
]
MOST = ("retract", "increment", "dtau_inverse_left", "coadjoint")


@entry(
    nothing(integer_table, integer, *[vector] * 10),
    nothing(integer_table, integer, *[lane_vector] * 10),
)
def most_verbs(table, tau, q, q1, x, y, z, a, b, c, d, unused):
    T.retract(table, tau, q, x, a)
    T.increment(table, tau, q, q1, b)
    T.dtau_inverse_left(table, tau, x, y, c)
    T.coadjoint(table, tau, x, y, d)


@entry(
    nothing(integer_table, integer, *[vector] * 10),
    nothing(integer_table, integer, *[lane_vector] * 10),
)
def other_verbs(table, tau, q, q1, x, y, z, a, b, c, d, e):
    T.displacement(table, tau, q, x, a)
    T.dtau_left(table, tau, x, y, b)
    T.dtau_right(table, tau, x, b, b)
    T.dtau_inverse_right(table, tau, x, y, c)
    T.dtau_left_transpose(table, tau, x, c, c)
    T.dtau_right_transpose(table, tau, x, c, c)
    T.dtau_inverse_left_transpose(table, tau, x, y, d)
    T.dtau_inverse_right_transpose(table, tau, x, d, d)
    T.dtau_inverse_left_transpose_derivative(table, tau, x, y, z, e)
    T.dtau_inverse_left_gradient(table, tau, x, e, z, e)
    T.coadjoint_difference(table, tau, x, e, e)
    T.bracket(table, x, e, e)
    T.bracket_transpose(table, x, e, e)


def inputs(seed: int, scale: float, count: int = 8) -> list[np.ndarray]:
    """q, q1, x, y, z and five results, components first."""
    rng = np.random.default_rng(seed)
    states = [GROUP.random(rng, count).T for _ in range(2)]
    vectors = [scale * rng.normal(size=(N_V, count)), *rng.normal(size=(2, N_V, count))]
    return [*states, *vectors, np.zeros((N_Q, count)), *(np.zeros((N_V, count)) for _ in range(4))]


@pytest.mark.skipif(MODE != "strict", reason="the compiler may fuse products and sums in this mode")
@pytest.mark.parametrize(
    "verbs", [most_verbs, pytest.param(other_verbs, marks=pytest.mark.slow)], ids=["most", "others"]
)
def test_scalar_lanes_and_interpreted_agree_bitwise(verbs: Any) -> None:
    for tau in range(3):
        for seed, scale in enumerate((0.0, 1e-9, 1e-3, 1.0, 2.0, 6.0)):
            arrays = inputs(seed, scale)
            lanes = [lane_array(len(a)) for a in arrays]
            for lane, a in zip(lanes, arrays, strict=True):
                lane[:] = a
            verbs(TABLE, tau, *lanes)
            for k in range(8):
                compiled = [a[:, k].copy() for a in arrays]
                interpreted = [a[:, k].copy() for a in arrays]
                verbs(TABLE, tau, *compiled)
                verbs.python(TABLE, tau, *interpreted)
                for u, v, w in zip(compiled, interpreted, lanes, strict=True):
                    np.testing.assert_array_equal(u, v)
                    np.testing.assert_array_equal(u, w[:, k])


@pytest.mark.parametrize("tau", range(3), ids=NAMES)
def test_kernels_are_the_verbs_of_the_group(tau: int) -> None:
    m = GROUP.maps[NAMES[tau]]
    q, q1, x, y, z, *_ = (a[:, 0] for a in inputs(3, 0.4))
    out_q, out = np.zeros(N_Q), np.zeros(N_V)

    def run(name: str, *arguments: Any, target: Any = out) -> Any:
        getattr(T, name)(TABLE, *(() if "bracket" in name else (tau,)), *arguments, target)
        return target

    moved = GROUP.compose(q, m(x))
    close = {"rtol": 1e-13, "atol": 1e-13}
    np.testing.assert_allclose(run("retract", q, x, target=out_q), moved, **close)
    np.testing.assert_allclose(run("displacement", q, x, target=out_q), moved - q, **close)
    np.testing.assert_allclose(run("increment", q, moved), x, **close)
    np.testing.assert_allclose(run("increment", q, q1), m.inverse(GROUP.between(q, q1)), **close)
    for name in TANGENTS:
        np.testing.assert_allclose(run(name, x, y), getattr(m, name)(x, y), **close)
    np.testing.assert_allclose(
        run("dtau_inverse_left_transpose_derivative", x, y, z), m.derivative_left(x, y, z), **close
    )
    np.testing.assert_allclose(run("dtau_inverse_left_gradient", x, y, z), m.gradient_left(x, y, z), **close)
    np.testing.assert_allclose(run("coadjoint", x, y), GROUP.coadjoint(m(x), y), **close)
    np.testing.assert_allclose(run("coadjoint_difference", x, y), GROUP.coadjoint(m(x), y) - y, **close)
    np.testing.assert_allclose(run("bracket", x, y), GROUP.ad(x, y), **close)
    np.testing.assert_allclose(run("bracket_transpose", x, y), GROUP.ad_star(x, y), **close)


@pytest.mark.parametrize("tau", range(2), ids=NAMES[:2])
def test_differences_keep_relative_precision_for_small_steps(tau: int) -> None:
    q, _, x, mu, *_ = (a[:, 1] for a in inputs(5, 1e-9))
    change, turn = np.zeros(N_Q), np.zeros(N_V)
    T.displacement(TABLE, tau, q, x, change)
    T.coadjoint_difference(TABLE, tau, x, mu, turn)
    with mp.workdps(60):
        many = [np.array([mp.mpf(v) for v in a], dtype=object) for a in (q, x, mu)]
        exact, moved = (np.zeros(n, dtype=object) for n in (N_Q, N_V))
        T.displacement(TABLE, tau, many[0], many[1], exact)
        T.coadjoint(TABLE, tau, many[1], many[2], moved)
        assert max(abs(change - exact)) < 1e-15 * 1e-9
        assert max(abs(turn - (moved - many[2]))) < 1e-14 * 1e-9


def test_results_may_overwrite_arguments() -> None:
    q, _, x, y, *_ = (a[:, 0] for a in inputs(1, 0.5))
    for tau in range(3):
        out = np.zeros(N_V)
        T.dtau_inverse_left(TABLE, tau, x, y, out)
        alias = y.copy()
        T.dtau_inverse_left(TABLE, tau, x, alias, alias)
        np.testing.assert_array_equal(alias, out)
        moved, alias = np.zeros(N_Q), q.copy()
        T.retract(TABLE, tau, q, x, moved)
        T.retract(TABLE, tau, alias, x, alias)
        np.testing.assert_array_equal(alias, moved)


def test_long_runs_stay_on_the_group() -> None:
    group = product(so3, se3)
    q, x = group.identity(), 0.01 * np.ones(group.n_v)
    for _ in range(20000):
        T.retract(group.table, T.EXP, q, x, q)
    assert abs(np.linalg.norm(q[:4]) - 1.0) < 4e-16
    assert abs(np.linalg.norm(q[7:]) - 1.0) < 4e-16


def test_table_lists_offsets_of_factors() -> None:
    expected = [
        [0, 0, 0, 3, 3],
        [2, 3, 3, 4, 3],
        [3, 7, 6, 3, 3],
        [1, 10, 9, 2, 2],
        [4, 12, 11, 7, 6],
        [2, 19, 17, 8, 6],
    ]
    assert TABLE.tolist() == expected
    assert TABLE.dtype == np.int64
    assert TABLE.flags.c_contiguous
