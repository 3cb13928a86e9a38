"""Stiff mechanisms: chains with springs of 1e6 N m/rad against SciPy, a governor with steps of a millisecond."""

import time

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.stiff import chain, size_of
from integrators import integrate
from mechanics.systems.loops import flyball_governor


def by_scipy(problem, end, method, tolerance):
    work = np.zeros(problem.work_shape)

    def rate(t, y):
        out = np.zeros(len(y))
        problem.field.compiled(t, np.ascontiguousarray(y), problem.parameters, problem.structure, work, out)
        return out

    return solve_ivp(rate, (0.0, end), problem.y0, method, rtol=tolerance, atol=tolerance).y[:, -1]


@pytest.mark.parametrize("links", [6, 20])
def test_stiff_chains_agree_with_scipys_radau_at_1e_10_and_with_others_beyond(links):
    """Two methods of ours agree to 1e-12, SciPy's explicit method to its tolerance; what is left against
    SciPy's Radau is the error of that, which falls with its tolerance.
    """
    problem, end = chain(links).problem(), 0.01
    ours, other = (
        integrate(problem, method, (0.0, end), 2.5e-5, save_every=2**40).y[-1]
        for method in ("RKMK_GAUSS6", "RKMK_RADAU_IIA5")
    )
    size = size_of(problem.with_start(ours))

    def apart(y):
        return np.abs((y - ours) / size).max()

    assert apart(other) < 1e-12
    assert apart(by_scipy(problem, end, "DOP853", 3e-14)) < 3e-12
    coarse, fine = (apart(by_scipy(problem, end, "Radau", tolerance)) for tolerance in (1e-9, 1e-10))
    assert fine < 1e-10
    assert fine < 0.3 * coarse


def test_the_governor_takes_milliseconds_for_ten_seconds():
    """Dampers of 4e4 N·s/m on balls of 5 kg: rates of 2e3 1/s.  Two references agree to 1e-12."""
    problem = flyball_governor.problem()

    def end(method, h):
        run = integrate(problem, method, (0.0, 10.0), h, save_every=2**40)
        assert run.finished, run.message
        return run.y[-1]

    wanted, other = end("RKMK_GAUSS6", 2e-3), end("RKMK_RADAU_IIA5", 2e-3)
    size = size_of(problem)
    assert np.abs((other - wanted) / size).max() < 3e-12
    assert wanted[4] == pytest.approx(flyball_governor.MOMENTUM_Z, abs=1e-10)
    for method in ("RKMK_RADAU_IIA3", "RKMK_GAUSS2"):
        assert np.abs((end(method, 1e-3) - wanted) / size).max() < 1e-9, method
    began = time.process_time()
    end("RKMK_RADAU_IIA3", 1e-3)
    assert time.process_time() - began < 5.0
