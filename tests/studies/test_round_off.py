"""The study of rounding errors: its exponents are right for walks and drifts made to measure, and its quick version
answers.
"""

from __future__ import annotations

import numpy as np
import pytest

from studies.round_off.question import SYSTEMS, RoundOffConfig, Walk, exponent, kinetic_energy, problem_of, run


@pytest.mark.parametrize(("kind", "expected"), [("walk", 0.5), ("drift", 1.0)])
def test_exponents_of_made_up_errors(kind, expected):
    generator = np.random.default_rng(2)
    n = np.arange(1.0, 256.0)
    errors = (
        np.cumsum(generator.normal(size=(400, 255)), axis=1) if kind == "walk" else generator.normal(size=(400, 1)) * n
    )
    assert exponent(n, 1e-13 * errors) == pytest.approx(expected, abs=0.05)


def test_a_common_bias_shows_in_the_mean():
    generator = np.random.default_rng(3)
    errors = generator.normal(size=(16, 255))
    walk = Walk("free body", "M", True, 0.05, 1, np.arange(1.0, 256.0), errors, 0.0, 1.0)
    biased = Walk("free body", "M", True, 0.05, 1, np.arange(1.0, 256.0), errors + 5.0, 0.0, 1.0)
    assert abs(walk.mean_over_error) < 3 < biased.mean_over_error


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_trajectory_begins_elsewhere(system):
    problem = problem_of(system, 16, 1)
    assert len(np.unique(problem.y0.round(6), axis=0)) == 16
    assert kinetic_energy(problem) > 0.1


def test_an_unknown_system_is_named():
    with pytest.raises(ValueError, match="'Pluto', expected one of"):
        problem_of("Pluto", 8, 1)


@pytest.mark.slow
def test_compensation_lowers_the_error_and_leaves_a_random_walk():
    plain, compensated = run(
        RoundOffConfig(cases=(("heavy top", "SPLIT_SRKN8_17A", 0.02),), steps=100_000, progress=False)
    ).walks
    assert compensated.ripple < 1e-12
    assert plain.rms[-1] > 10 * compensated.rms[-1]
    assert compensated.exponent == pytest.approx(0.5, abs=0.3)
