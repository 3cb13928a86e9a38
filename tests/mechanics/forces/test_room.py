"""What runs of many bodies take of memory: in proportion to the bodies, and the same motion in it."""

import numba
import numpy as np
import pytest

from benchmarks.many_elements import SYSTEMS
from integrators import Problem, integrate
from liegroup import rn


@pytest.mark.parametrize("name", ["balls", "chain"])
def test_the_workspace_of_elements_grows_with_the_bodies(name):
    """Twice the bodies, twice the numbers: by every body some rows of the width of a link."""
    pose, _ = SYSTEMS[name]
    shapes = [pose(count).work_shape_for("field") for count in (6, 12, 24)]
    assert len({columns for _, columns in shapes}) == 1
    rows = [rows for rows, _ in shapes]
    assert rows[2] - rows[1] == pytest.approx(2 * (rows[1] - rows[0]), abs=2)


def test_room_for_derivatives_is_taken_by_those_who_ask():
    problem = SYSTEMS["chain"][0](12)
    small, whole = problem.work_shape_for("field"), problem.work_shape
    assert problem.work_shape_for("linearised") == whole
    assert np.prod(small) < np.prod(whole) / 4
    explicit = integrate(problem, "RKMK4", (0.0, 0.1), 1e-3)
    implicit = integrate(problem, "RKMK_RADAU_IIA3", (0.0, 0.1), 1e-3)
    assert explicit.success
    assert implicit.success
    np.testing.assert_allclose(implicit.y[-1], explicit.y[-1], rtol=0, atol=1e-7)


def test_a_workspace_of_other_size_is_whole():
    """Whoever gives a problem a workspace of his own gets it in every run."""
    from dataclasses import replace

    problem = SYSTEMS["chain"][0](6)
    larger = replace(problem, work_shape=(problem.work_shape[0] + 1, problem.work_shape[1]))
    assert larger.work_shape_for("field") == larger.work_shape == (problem.work_shape[0] + 1, problem.work_shape[1])


@numba.njit
def shifted(t, y, parameters, out):
    for i in range(y.shape[0]):
        out[i] = np.sin(y[i - 1]) - 0.1 * y[i]


def test_jitted_functions_run_in_lanes_in_narrow_workspaces():
    """Their registers lie one behind the other, however wide a row is: 100 numbers in rows of 3 × 8."""
    starts = np.random.default_rng(2).normal(size=(8, 100))
    problem = Problem(rn(100), starts, shifted, work_shape=(40, 3))
    assert problem.work_shape == (40, 3)
    together = integrate(problem, "RKMK4", (0.0, 0.2), 0.05)
    for start, found in zip(starts, together.y, strict=True):
        alone = integrate(Problem(rn(100), start, shifted), "RKMK4", (0.0, 0.2), 0.05)
        np.testing.assert_array_equal(found, alone.y)
