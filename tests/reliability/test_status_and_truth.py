"""A run that says success is right: every method with variable steps, on motions that are known."""

from functools import cache

import numpy as np
import pytest

from integrators import integrate
from integrators.method import Method
from integrators.methods import METHODS
from mechanics.systems import SYSTEMS
from mechanics.systems.loops import n_four_bar

HORIZONS = {
    "lagrange-top": 2.0,
    "kepler": 20.0,
    "pendulum": 5.0,
    "free-rigid-body": 10.0,
    "swinging-four-bar": 3.0,
    "chaplygin-sleigh": 10.0,
    "full-body": 5.0,
    "double-four-bar": 3.0,
}
ADAPTIVE = [n for n, m in METHODS.items() if isinstance(m, Method) and m.is_adaptive and m.needs == "field"]
GROWTH = 1e5
"""By how much errors may exceed the tolerance at the end.

With many steps (methods of order 2 at tight tolerances) the sum of their errors counts: 30 tolerances a step.
"""

LARGEST = 0.3
"""No error is larger, in rad, m or their momenta; a double four-bar on the wrong branch is off by 5 rad."""


@cache
def problem(name):
    return SYSTEMS[name].problem()


@cache
def truth(name):
    """The state at the end; of the double four-bar, which passes singular positions, the angle in closed form."""
    if name == "double-four-bar":
        return np.array([n_four_bar.angle(2, HORIZONS[name])])
    return integrate(problem(name), "RKMK_DOP853", (0, HORIZONS[name]), rtol=1e-13, atol=1e-14).y[-1]


@pytest.mark.slow
@pytest.mark.parametrize("method", ADAPTIVE)
def test_success_means_right(method):
    disagree = []
    for name, horizon in HORIZONS.items():
        if METHODS[method].stepper.multistep and problem(name).re_bases:  # refused by name
            continue
        for tolerance in (1e-5, 1e-8, 1e-11):
            options = {"rtol": tolerance, "atol": tolerance * 1e-2, "max_steps": 300_000}
            run = integrate(problem(name), method, (0, horizon), **options)
            error = np.abs(run.y[-1, : len(truth(name))] - truth(name)).max()
            allowed = min(LARGEST, tolerance * max(GROWTH, 30.0 * run.steps))
            if run.success and not error < allowed:
                disagree.append((name, tolerance, error, run.message))
    assert not disagree
