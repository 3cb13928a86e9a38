"""Iterations to rounding: an energy error that falls with the step does not come back at steps that are smaller."""

import pytest

from integrators import integrate
from mechanics.formulations import constrained_problem
from mechanics.systems import SYSTEMS


@pytest.mark.parametrize("method", ["DLA4", "DLA6"])
def test_the_energy_of_a_linkage_does_not_drift_with_small_steps(method):
    problem = constrained_problem(SYSTEMS["swinging-four-bar"].mechanism())
    run = integrate(problem, method, (0, 1), 1e-4)
    assert run.success
    assert run.error("energy", relative=False) < 2e-11  # of 2 J at play; 1e-8 with one Newton step


@pytest.mark.parametrize("method", ["DLA4", "DLA6"])
def test_the_energy_of_a_sleigh_does_not_drift_with_small_steps(method):
    run = integrate(SYSTEMS["chaplygin-sleigh"].problem("constrained"), method, (0, 10), 1e-3)
    assert run.error("energy") < 5e-12  # 7e-11 with one step of Newton's method


@pytest.mark.parametrize("method", ["DLA", "NULL_SPACE", "GNI"])
@pytest.mark.parametrize("h", [0.1, 0.05])
def test_a_steady_turn_is_slower_by_what_the_documentation_states(method, h):
    """h² m v²/(12 I) with m = 1 kg, v = 1.5 m/s, I = 1/4 kg m²: no invariant shows it."""
    run = integrate(SYSTEMS["vertical-disk"].problem("constrained"), method, (0, 20), h)
    slower = 1.0 - run["contact"][-1, 2] / (20 * 0.7)
    assert slower == pytest.approx(h**2 * 1.5**2 / (12 * 0.25), rel=0.02)
    assert run.error("energy") < (1e-2 if method == "GNI" else 1e-12)
