"""The energy–momentum method on SO(3): energy and momenta exact, order, symmetry; it is not symplectic and does not
claim to be.
"""

from __future__ import annotations

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import measured_order, symmetry_defect
from integrators.analysis.canonical import canonical_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.composition import composition
from integrators.tableaus import COMPOSITIONS
from integrators.testing import end_state, group_distance

METHOD = find("ENERGY_MOMENTUM")
COMPOSED = composition(METHOD, COMPOSITIONS["SUZUKI4"])


@pytest.mark.parametrize("method", [METHOD, COMPOSED], ids=lambda m: m.name)
def test_energy_and_vertical_momentum_of_a_top_are_exact(problems, method):
    solution = integrate(problems.heavy_top(), method, (0, 500), 0.05)
    assert solution.success, solution.message
    assert solution.error("energy") < 1e-13
    assert solution.error("momentum_z", relative=False) < 1e-13
    assert solution.error("momentum_x", relative=False) > 0.1


def test_energy_and_all_momenta_of_a_free_body_are_exact(problems):
    solution = integrate(problems.free_body(), METHOD, (0, 500), 0.1)
    for name in ("energy", "momentum_x", "momentum_y", "momentum_z"):
        assert solution.error(name, relative=False) < 3e-14


@pytest.mark.parametrize(
    ("method", "counts"), [(METHOD, (100, 200, 400)), (COMPOSED, (40, 80))], ids=lambda x: getattr(x, "name", "")
)
def test_order(problems, method, counts):
    problem = problems.heavy_top()
    reference = integrate(problem, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]
    found = measured_order(
        lambda n: end_state(problem, method, n),
        counts,
        reference,
        lambda y, z: group_distance(problem.table, y, z),
        1e-12,
    )
    assert abs(found.order - method.order) < 0.1, found


def test_a_step_forward_and_a_step_back_return(problems):
    problem = problems.heavy_top()
    assert symmetry_defect(step_map(problem, METHOD), problem.y0, 0.05) < 3e-14


def test_it_is_not_symplectic(problems):
    assert not METHOD.symplectic
    assert canonical_defect(problems.heavy_top(), METHOD, "0.1", digits=40) > 1e-6


def test_several_bodies_are_refused(problems):
    with pytest.raises(ValueError, match="one body"):
        integrate(problems.floating_body(), METHOD, (0, 1), 0.1)


def test_lanes_agree_bitwise_with_one_trajectory(problems):
    problem = problems.heavy_top()
    starts = np.repeat(problem.y0[None, :], 8, 0)
    starts[:, 4:] += 0.1 * np.arange(8)[:, None]
    together = integrate(problem.with_start(starts), METHOD, (0, 1), 0.05)
    for k in (0, 6):
        assert np.array_equal(together.y[k], integrate(problem.with_start(starts[k]), METHOD, (0, 1), 0.05).y)
