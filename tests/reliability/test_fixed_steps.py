"""A run with fixed steps that says success has not lost the motion: every method, from small steps to far too large.

* No state is further from the true one than the motion is wide: nothing has exploded, taken another branch or left its
  group.  Phases may be lost, which no method promises to keep.
* Where the error has become small, it falls with the step as the order says, down to rounding: no iteration is left
  unsolved.
* States and events within a step are steps of a part, from its start: they know nothing of each other.
"""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.method import Method
from integrators.methods import METHODS
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from liegroup import so3
from mechanics import load_model
from mechanics.systems import SYSTEMS


def spring_and_weight():
    return lagrangian_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - 0.5 * q[0] ** 2 - 200.0 * (q[1] - 0.1 * q[0] ** 2) ** 2,
        [1.0, 0.05],
        [0.0, 0.5],
    )


def two_rods():
    return holonomic_problem(
        lambda t, q, v, p: 0.5 * sum(x * x for x in v) - q[1] - q[3],
        lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1],
        [1.0, 0.0, 1.0, 1.0],
        [0.0, 0.5, 0.0, 0.5],
    )


def linear():
    return Problem(so3, [1.0, 0.0, 0.0, 0.0], lambda t, y: [np.cos(2 * t), 1.0 + np.sin(t), 0.5 * np.cos(3 * t)])


def arm():
    return load_model("double_pendulum").problem([1.0, 0.5], [0.3, -0.2])


def ready(name, form=None):
    return lambda: SYSTEMS[name].problem(form)


PROBLEMS = {
    "pendulum": (ready("pendulum"), 10.0),
    "kepler": (ready("kepler"), 10.0),
    "spring and weight": (spring_and_weight, 3.0),
    "free rigid body": (ready("free-rigid-body"), 10.0),
    "heavy top": (ready("heavy-top"), 0.5),
    "two rods": (two_rods, 2.0),
    "linear": (linear, 5.0),
    "arm": (arm, 2.0),
    "four-bar": (ready("four-bar"), 2.0),
    "four-bar, constrained": (ready("swinging-four-bar", "constrained"), 1.0),
    "disk": (ready("vertical-disk"), 5.0),
    "disk, constrained": (ready("vertical-disk", "constrained"), 5.0),
    "sleigh, constrained": (ready("chaplygin-sleigh", "constrained"), 5.0),
    "snakeboard": (ready("snakeboard-driven"), 2.0),  # the front truck passes 90° at 1.2475 s
    "particle, constrained": (ready("harmonic-particle", "constrained"), 5.0),
}
COUNTS = (2, 6, 25, 100, 400)
"""Steps."""
WIDE = 2.5
"""Times the largest distance of the motion from its start, variable by variable: opposite phases are 2 apart."""
SMALL = 5e-4
"""Error, in widths, from which on the order counts."""
SLACK = 30.0
FLOOR = 1e-9
"""Errors below are no loss: splittings of nearly free motions are luckier with 6 steps of two turns than with 25."""
COMPENSATED = ("heavy top",)
"""Where rounding makes the many steps of explicit methods less accurate than that; GAUSS8 needs few."""
OF_FIELDS = ("pendulum", "kepler", "free rigid body", "linear", "four-bar", "snakeboard")
"""For the many methods that take any field."""
FIXED = [name for name, method in METHODS.items() if isinstance(method, Method)]


@cache
def posed(name):
    return PROBLEMS[name][0]()


@cache
def truth(name):
    """(state at the end, width of every component)."""
    p, horizon = posed(name), PROBLEMS[name][1]
    y = integrate(p, "RKMK_DOP853", (0, horizon), rtol=1e-13, atol=1e-14).y
    if name in COMPENSATED:
        y[-1] = integrate(p, "GAUSS8", (0, horizon), horizon / 400).y[-1]
    width, start = np.empty(p.n), 0
    for variable in p.variables:
        part = slice(start, start + variable.size)
        width[part] = max(np.abs(y[:, part] - y[0, part]).max(), 1e-3 * np.abs(y[:, part]).max())
        start += variable.size
    return y[-1], width


def runs(name, method):
    """(steps, error in widths) of the runs that say success."""
    end, width = truth(name)
    for n in COUNTS:
        run = integrate(posed(name), method, (0, PROBLEMS[name][1]), PROBLEMS[name][1] / n)
        if run.success:
            yield n, float(np.abs((run.y[-1] - end) / width).max())


REMEMBERING = ("BDF3", "ADAMS_BASHFORTH2", "ALPHA", "SPLIT_STRANG")
"""Whose steps go on from what the last one has left, each in its way."""
OF_STEPPERS = {METHODS[name].stepper: name for name in (*FIXED, *REMEMBERING)}.values()
PARTS = np.array([0.13, 0.35, 0.5, 0.77, 0.9])


@pytest.mark.parametrize(
    "method", [name if name in REMEMBERING else pytest.param(name, marks=pytest.mark.slow) for name in OF_STEPPERS]
)
def test_states_within_a_step_know_nothing_of_each_other(method):
    """All of them together are those of runs with one in each step."""
    for name in PROBLEMS:
        try:
            METHODS[method].check(posed(name))
        except ValueError:
            continue
        horizon, n = PROBLEMS[name][1] / 40.0, 6
        times = (np.arange(n)[:, None] + PARTS) * (horizon / n)
        both = [integrate(posed(name), method, (0, horizon), horizon / n, t_eval=times.ravel())]
        both += [integrate(posed(name), method, (0, horizon), horizon / n, t_eval=column) for column in times.T]
        assert all(run.finished for run in both)
        together = both[0].y.reshape(n, len(PARTS), -1)
        alone = np.stack([run.y for run in both[1:]], axis=1)
        assert np.abs(together - alone).max() < 1e-11 * np.abs(alone).max()
        return
    pytest.skip("another test has problems for it")


@pytest.mark.slow
@pytest.mark.parametrize("method", FIXED)
def test_success_means_that_the_motion_is_not_lost(method):
    disagree, order = [], METHODS[method].velocity_order or METHODS[method].order
    for name in OF_FIELDS if METHODS[method].needs == "field" else PROBLEMS:
        try:
            METHODS[method].check(posed(name))
        except ValueError:
            continue
        found = list(runs(name, method))
        disagree += [(name, n, error) for n, error in found if not error < WIDE]
        for (n, coarse), (m, fine) in pairwise(found):
            promised = SLACK * coarse * (n / m) ** min(order, 4) + FLOOR
            if coarse < SMALL and fine > promised:
                disagree.append((name, n, coarse, m, fine))
    assert not disagree
