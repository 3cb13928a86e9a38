"""The study of a family of pendulums: what it compares, and that verdicts are those of an independent run."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from studies.variants.question import VariantsConfig, energy_at_stake, lost, pendulum, records, run


def test_energy_at_stake_is_that_above_rest():
    for mass, length in ((0.1, 1.5), (3.0, 0.3)):
        problems = [pendulum(mass, length, angle) for angle in (1.5, 0.0)]
        let_go, hanging = (float(p.invariant_values(0.0, p.y0)[0]) for p in problems)
        assert let_go - hanging == pytest.approx(energy_at_stake(mass, length, 1.5), rel=1e-12)


def test_the_quick_version_answers():
    answer = run(VariantsConfig(quick=True, progress=False))
    *others, reference = records(answer)
    assert (reference["method"], reference["other_verdicts"], reference["other_ends"]) == ("GAUSS8", 0, 0)
    assert reference["median_error"] < 1e-13
    assert 0 < answer.turns[-1].sum() < answer.turns[-1].size
    for r in others:
        assert r["stopped"] + (~np.isnan(answer.errors[0])).sum() >= r["cells"]
        assert r["other_verdicts_unnamed"] <= r["other_verdicts"] <= r["cells"]
    finer = [r["median_error"] for r in others if r["method"] == "RKMK4"]
    assert finer[1] < finer[0] / 10
    assert lost(answer).shape == answer.ends.shape


def test_verdicts_are_those_of_scipy():
    config = VariantsConfig(quick=True, progress=False, methods=(), horizon=4.0)
    answer = run(config)
    for i, j in ((0, 3), (3, 0), (2, 1)):
        problem = pendulum(answer.masses[i], answer.lengths[j], config.angle)
        found = solve_ivp(
            lambda t, y, p=problem: p.velocity(t, y), (0.0, 4.0), problem.y0, "DOP853", rtol=1e-9, atol=1e-9
        )
        assert (np.abs(found.y[1]).max() > np.pi) == answer.turns[-1, i, j]
