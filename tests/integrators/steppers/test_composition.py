"""Compositions of symmetric methods inherit what these keep, and refuse what would spoil their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import measured_order, symmetry_defect
from integrators.method.step_map import SingleStep, step_map
from integrators.methods import METHODS
from integrators.problem.lagrangian import lagrangian_problem
from integrators.steppers.composition import composed, composition
from integrators.tableaus import COMPOSITIONS, Composition
from integrators.testing import end_state, group_distance, reference_state

COMPOSED = [n for n in METHODS if n.startswith("MIDPOINT_")]


@pytest.mark.parametrize("name", COMPOSED)
def test_order_symmetry_and_momenta_on_the_heavy_top(problems: Any, name: str) -> None:
    problem, method = problems.heavy_top(), METHODS[name]
    reference = reference_state(problem)
    counts = {4: (16, 32, 64), 6: (8, 16, 24), 8: (6, 8, 10, 12), 10: (4, 5, 6, 7)}[method.order]
    measured = measured_order(
        lambda n: end_state(problem, method, n),
        counts,
        reference,
        lambda y, z: group_distance(problem.table, y, z),
        3e-12,
    )
    assert measured.order == pytest.approx(method.order, abs=0.25 if method.order < 8 else 1.0), measured
    step = step_map(problem, method)
    assert symmetry_defect(step, problem.y0, 0.1, distance=lambda y, z: group_distance(problem.table, y, z)) < 3e-15
    vertical = integrate(problem, method, (0, 10), step=0.05).invariants[:, 3]
    assert np.ptp(vertical) < 2e-14


def test_a_composition_of_one_substep_is_the_method_itself(problems: Any) -> None:
    problem, midpoint = problems.floating_body(), METHODS["MIDPOINT"]
    once = composition(midpoint, Composition([1], name="once"))
    assert once.order == 2
    step, same = step_map(problem, midpoint), step_map(problem, once)
    assert np.array_equal(step(problem.y0, 0.03), same(problem.y0, 0.03))


def test_a_method_takes_the_kernel_of_its_compositions_to_the_bits_of_its_own(problems: Any) -> None:
    def lagrangian(t: Any, q: Any, v: Any, parameters: Any) -> Any:
        return 0.5 * (v[0] ** 2 + v[1] ** 2) + v[0] * v[1] * q[0] - q[0] ** 4 - q[1] ** 2

    cases = {
        "MIDPOINT": (problems.floating_body(), "MIDPOINT_SUZUKI4"),
        "DEL_GAUSS2": (lagrangian_problem(lagrangian, [0.3, 0.2], [0.1, -0.4]), "DEL_MIDPOINT_SUZUKI4"),
    }
    for name, (problem, composed_of_it) in cases.items():
        method = METHODS[name]
        assert method.step(problem) is METHODS[composed_of_it].step(problem)
        alone = replace(method, stepper=replace(method.stepper, in_parts=None))
        assert alone.step(problem) is method.stepper.step
        ends = [SingleStep(problem, m, interpreted=True)(problem.y0, 0.03, 0.1).y for m in (method, alone)]
        assert np.array_equal(*ends)
        assert not np.array_equal(ends[0], problem.y0)


def test_maps_and_compensation_are_those_of_the_method(problems: Any) -> None:
    plain = composition(METHODS["MIDPOINT"].with_map("cayley").plain(), COMPOSITIONS["SUZUKI4"])
    assert (plain.map, plain.compensated, plain.symplectic) == ("cayley", False, True)
    problem = problems.heavy_top()
    exp, cayley = (
        end_state(problem, composition(METHODS["MIDPOINT"].with_map(m), COMPOSITIONS["SUZUKI4"]), 64)
        for m in ("exp", "cayley")
    )
    assert 1e-12 < np.abs(exp - cayley).max() < 1e-5


def test_methods_that_are_not_symmetric_or_not_of_second_order_are_refused() -> None:
    for name in ("RKMK_MIDPOINT", "RKMK_GAUSS2"):
        with pytest.raises(ValueError, match="expected a symmetric method of order 2"):
            composition(METHODS[name], COMPOSITIONS["SUZUKI4"])


def test_the_kernel_of_a_base_is_made_once() -> None:
    assert composed(METHODS["MIDPOINT"].stepper) is composed(METHODS["MIDPOINT"].stepper)
