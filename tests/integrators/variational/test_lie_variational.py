"""Variational Runge–Kutta methods on T*G: order, symplecticity, symmetry, momenta, energy."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import energy_drift, symmetry_defect
from integrators.analysis.canonical import canonical_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.status import Status
from integrators.steppers.lie_variational import gauss, lobatto, variational_rk
from integrators.tableaus import EXPLICIT, GAUSS, LOBATTO_IIIA
from integrators.testing import end_state

MAPS = ("exp", "cayley")
METHODS = (gauss(1), gauss(2), gauss(3), lobatto(2), lobatto(3), lobatto(4))
TOP_AT_1 = np.array(
    [
        -0.50229382939753083315623,
        -0.50729938135503325256875,
        -0.60478293789616812543980,
        0.352967200538016533174333,
        -2.45915409058590369365521545296,
        0.949780485195246695542701396428,
        2.34574699583237131848916851558,
    ]
)
"""(q, p) of the heavy top of the fixtures at t = 1: Taylor series in 50 digits."""
EVERY = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
EVERY_MAP = pytest.mark.parametrize("map_name", MAPS)


def slopes(errors, counts):
    return -np.diff(np.log(errors)) / np.diff(np.log(counts))


@EVERY
@EVERY_MAP
def test_order_on_so3(problems, method, map_name):
    counts = np.array([16, 32, 64]) if method.order < 6 else np.array([8, 16, 32])
    errors = []
    for n in counts:
        y = integrate(problems.heavy_top(), method.with_map(map_name), (0, 1), 1 / n).y[-1]
        errors.append(np.abs(y - np.sign(y[0] * TOP_AT_1[0]) ** np.r_[[1] * 4, [0] * 3] * TOP_AT_1).max())
    assert np.abs(slopes(errors, counts) - method.order).max() < 0.1


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("VARIATIONAL_GAUSS4", (3, 4, 5, 6)),
        ("VARIATIONAL_GAUSS5", (2, 3, 4)),
        ("VARIATIONAL_GAUSS6", (2, 3)),
        ("VARIATIONAL_LOBATTO5", (3, 4, 5, 6)),
    ],
)
def test_order_of_many_stages(problems, name, counts):
    """In so few digits order 12 shows as more than 10."""
    method = find(name)
    errors = [np.abs(end_state(problems.heavy_top(), method, n)[4:] - TOP_AT_1[4:]).max() for n in counts]
    assert (slopes(errors, counts) > method.order - 2).all()
    assert slopes(errors, counts)[-1] < method.order + 2


@pytest.fixture(scope="module")
def reference(problems):
    """The floating body at t = 1."""
    return integrate(problems.floating_body(), "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]


@EVERY
@EVERY_MAP
def test_order_on_se3(problems, reference, method, map_name):
    counts = np.array([20, 40]) if method.order == 6 else np.array([80, 160])
    errors = [
        np.abs(integrate(problems.floating_body(), method.with_map(map_name), (0, 1), 1 / n).y[-1] - reference).max()
        for n in counts
    ]
    assert np.abs(slopes(errors, counts) - method.order).max() < 0.2


@pytest.mark.slow
@EVERY
@EVERY_MAP
@pytest.mark.parametrize("name", ["pendulum", "heavy_top", "floating_body"])
def test_one_step_preserves_the_canonical_two_form(problems, name, method, map_name):
    assert canonical_defect(getattr(problems, name)(), method.with_map(map_name), "0.05") < 1e-13


@pytest.mark.parametrize(
    ("method", "map_name"), [(METHODS[1], "exp"), (METHODS[4], "cayley")], ids=lambda x: getattr(x, "name", x)
)
def test_one_step_on_so3_preserves_the_canonical_two_form(problems, method, map_name):
    assert canonical_defect(problems.heavy_top(), method.with_map(map_name), "0.05", digits=40) < 1e-13


@EVERY
@EVERY_MAP
@pytest.mark.parametrize("name", ["pendulum", "heavy_top", "floating_body"])
def test_a_step_forward_and_a_step_back_return(problems, name, method, map_name):
    problem = getattr(problems, name)()
    step = step_map(problem, method.with_map(map_name))
    assert symmetry_defect(step, problem.y0, 0.05) < 2e-14 * max(1.0, np.abs(problem.y0).max())


@EVERY
@EVERY_MAP
def test_spatial_momentum_of_a_free_body_is_exact(problems, method, map_name):
    solution = integrate(problems.free_body(), method.with_map(map_name), (0, 500), 0.1)
    for name in ("momentum_x", "momentum_y", "momentum_z"):
        assert solution.error(name, relative=False) < 3e-14


@EVERY_MAP
def test_vertical_momentum_of_a_top_is_exact_and_its_other_momenta_are_not(problems, map_name):
    solution = integrate(problems.heavy_top(), gauss(3).with_map(map_name), (0, 200), 0.05)
    assert solution.error("momentum_z", relative=False) < 2e-14
    assert solution.error("momentum_x", relative=False) > 0.1


def test_gauss_1_is_the_midpoint_rule(problems):
    for name in ("pendulum", "heavy_top", "floating_body"):
        problem = getattr(problems, name)()
        a, b = (step_map(problem, m)(problem.y0, 0.05) for m in (gauss(1), find("MIDPOINT")))
        assert np.abs(a - b).max() < 1e-14 * max(1.0, np.abs(problem.y0).max())


@pytest.mark.parametrize("method", [METHODS[1], METHODS[4]], ids=lambda m: m.name)
def test_energy_is_bounded_without_slope(problems, method):
    solution = integrate(problems.heavy_top(), method, (0, 4000), 0.2, save_every=1)
    drift = energy_drift(solution.t, solution["energy"])
    assert drift.band > 1e-7, "the step is large enough for the energy to show"
    assert abs(drift.slope) * 4000 < 0.05 * drift.band


def test_a_step_too_large_to_solve_is_a_status(problems):
    solution = integrate(problems.heavy_top(), gauss(3), (0, 100), 3.0)
    assert solution.status in (Status.NOT_CONVERGED, Status.NON_FINITE, Status.CHART_LEFT)


def test_what_is_not_a_symplectic_pair_is_refused():
    with pytest.raises(ValueError, match="not the symplectic partner"):
        variational_rk(LOBATTO_IIIA(3))
    with pytest.raises(ValueError, match="partner"):
        variational_rk(EXPLICIT["rk4"])
    with pytest.raises(ValueError, match="partner"):
        variational_rk(GAUSS(2), GAUSS(3))
