"""Rulers for nonholonomic methods: reference solutions and errors at the end of a run."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import integrate
from integrators.methods import find
from mechanics.nonholonomic.flat import coordinate_rate
from mechanics.systems import NONHOLONOMIC


@cache
def _reference(name, horizon):
    """(q, v) at the horizon by DOP853 at 1e-13 on the quasi-velocities."""
    system = NONHOLONOMIC[name]()
    problem = system.problem()

    def rate(t, y):
        f = problem.velocity(t, y)
        return np.concatenate([coordinate_rate(system.group, y[: system.n_q], f[: system.n]), f[system.n :]])

    y = solve_ivp(rate, (0.0, horizon), problem.y0, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    return np.concatenate([y[: system.n_q], system.velocity(y[: system.n_q], y[system.n_q :], horizon)])


def _error(name, method, horizon, steps):
    system = NONHOLONOMIC[name]()
    reduced = find(method).needs in ("field", "quasi-velocities")
    problem = system.problem() if reduced else system.constrained_problem()
    y = integrate(problem, method, (0.0, horizon), step=horizon / steps, save_every=steps).y[-1]
    if reduced:
        y = np.concatenate([y[: system.n_q], system.velocity(y[: system.n_q], y[system.n_q :], horizon)])
    return np.abs(y - _reference(name, horizon)).max()


@pytest.fixture
def errors():
    """``errors(system name, method, horizon, steps…)`` → largest error of (q, v) at the horizon for each number of
    steps.
    """
    return lambda name, method, horizon, *steps: np.array([_error(name, method, horizon, n) for n in steps])


@pytest.fixture
def order(errors):
    """``order(system name, method, horizon, steps)`` → measured order between `steps` and twice as many."""

    def measure(name, method, horizon, steps):
        coarse, fine = errors(name, method, horizon, steps, 2 * steps)
        return np.log2(coarse / fine)

    return measure
