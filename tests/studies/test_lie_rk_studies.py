"""The studies of orders and of work against precision: quick versions, and verdicts that can fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studies.convergence import CONVERGENCE
from studies.convergence.question import ConvergenceConfig, Line, all_methods, run
from studies.study import answer
from studies.work_precision import WORK_PRECISION
from studies.work_precision.problems import spring
from studies.work_precision.question import Point, WorkPrecisionConfig, cost_at


def test_every_order_of_the_quick_convergence_study_agrees_with_the_claim():
    result = run(ConvergenceConfig(quick=True, progress=False))
    assert {line.group for line in result.lines} == set(ConvergenceConfig().groups)
    assert all(line.agrees for line in result.lines), [
        (line.method, line.group, line.measured) for line in result.lines
    ]


def test_a_method_that_does_not_keep_its_claim_is_seen():
    steps = 0.5 ** np.arange(6)
    line = Line("claims four", "rkmk", "SO3", 4, steps, 0.01 * steps**2)
    assert line.measured == pytest.approx(2)
    assert not line.agrees
    assert replace(line, errors=0.01 * steps**4).agrees


def test_the_convergence_study_takes_the_whole_catalogue():
    names = all_methods()
    assert len(names) > 100
    assert {"RKMK_FEAGIN10", "CF4", "MAGNUS6", "SPLIT_ABA1064", "VARIATIONAL_GAUSS3"} <= set(names)


def test_the_work_precision_study_leaves_its_answer(tmp_path):
    config = WorkPrecisionConfig(quick=True, progress=False, out=tmp_path)
    answer(WORK_PRECISION, config)
    assert {path.suffix for path in tmp_path.iterdir()} == {".png", ".pdf", ".h5", ".json", ".html"}


def test_costs_are_read_off_between_the_runs():
    points = [
        Point("top", "A", None, None, error, seconds, 0) for error, seconds in ((1e-2, 1.0), (1e-4, 4.0), (1e-6, 16.0))
    ]
    assert cost_at(points, 1e-3) == pytest.approx(2.0)
    assert cost_at(points, 1e-5) == pytest.approx(8.0)
    assert cost_at(points, 1e-8) is None


def test_the_body_on_a_spring_keeps_its_energy():
    """½ p·v + ½ π·ω + ½ k r² + ¼ k₄ r⁴ with r the distance of the hook, along the motion by differences of the
    field.
    """
    from integrators import integrate
    from liegroup.formulas import so3

    problem = spring()
    solution = integrate(problem, "RKMK_DOP853", (0.0, 3.0), rtol=1e-12, atol=1e-14)
    J, m, k, k4, r = problem.parameters[:3], *problem.parameters[3:6], problem.parameters[6:]

    def energy(y):
        hook = y[:3] + np.array(so3.act(tuple(y[3:7]), tuple(r)))
        d = hook @ hook
        return 0.5 * (y[7:10] @ y[7:10] / m + y[10:] @ (y[10:] / J)) + 0.5 * k * d + 0.25 * k4 * d * d

    energies = np.array([energy(y) for y in solution.y])
    assert np.abs(energies / energies[0] - 1).max() < 1e-10
    assert CONVERGENCE.name == "convergence"
