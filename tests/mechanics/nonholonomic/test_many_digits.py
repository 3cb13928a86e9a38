"""Every nonholonomic system against its state with thirty digits; ``python …/test_many_digits.py [NAME…]`` makes them.

The interpreted field runs on numbers of 45 digits; Gragg, Bulirsch and Stoer's extrapolation of order 28 chooses its
steps so that its last two columns agree to 1e-33.  Stored are the states of the reduced form (q, u) at `TIME`, in
`STATES`.
"""

import json
import sys
from functools import partial
from pathlib import Path

import mpmath
import numpy as np
import pytest

from integrators import integrate
from liegroup.table import quaternions
from mechanics.nonholonomic.flat import coordinate_rate
from mechanics.systems import NONHOLONOMIC

STATES = Path(__file__).with_name("many_digits.json")
KNOWN = json.loads(STATES.read_text()) if STATES.exists() else {}
WORKING, STORED, TOLERANCE = 45, 30, mpmath.mpf(10) ** -33
COLUMNS = 14
TIME = 0.25
"""s: a few radians of what spins fast."""


def rate(system, shape, t, y):
    """ẏ of the flat state (q, u)."""
    zero = mpmath.mpf(0)
    out, work = np.full(system.n + system.r, zero, dtype=object), np.full(shape, zero, dtype=object)
    system.reduced.field.python(t, y, system.parameters, system.structure, work, out)
    return np.concatenate([coordinate_rate(system.group, y[: system.n_q], out[: system.n]), out[system.n :]])


def extrapolated(f, t, y, h, first):
    """y(t + h) by the modified midpoint rule with 2, 4, … 28 steps, and the difference of the last two columns."""
    table = []
    for k in range(COLUMNS):
        n = 2 * (k + 1)
        step = h / n
        before, now = y, y + step * first
        for i in range(1, n):
            before, now = now, before + 2 * step * f(t + i * step, now)
        row = [now]
        for j, above in enumerate(table[-1] if table else []):
            ratio = mpmath.mpf(n) / (2 * (k - j))
            row.append(row[j] + (row[j] - above) / (ratio**2 - 1))
        table.append(row)
    return table[-1][-1], max(abs(x) for x in table[-1][-1] - table[-1][-2])


def state(system, end, tolerance=TOLERANCE):
    """(q, u) at the time `end`."""
    with mpmath.workdps(WORKING):
        t, end = mpmath.mpf(0), mpmath.mpf(end)
        problem = system.problem()
        y = np.array([mpmath.mpf(float(x)) for x in problem.y0], dtype=object)
        for k in quaternions(problem.table):  # of unit length to all digits: off the group formulas may differ
            y[k : k + 4] = y[k : k + 4] / mpmath.sqrt(sum(x * x for x in y[k : k + 4]))
        f = partial(rate, system, problem.work_shape)
        h = end / 8
        while t < end:
            first = f(t, y)
            new, error = extrapolated(f, t, y, h, first)
            if error > tolerance:
                h = h / 2
                continue
            t, y = t + h, new
            h = min(end - t, 2 * h if error < tolerance * mpmath.mpf(10) ** -9 else h)
        return y


def test_every_system_has_its_digits():
    assert set(KNOWN) == set(NONHOLONOMIC)


@pytest.mark.parametrize("name", NONHOLONOMIC)
def test_a_run_of_high_order_ends_in_the_state_with_thirty_digits(name):
    y = integrate(NONHOLONOMIC[name]().problem(), "RKMK_DOP853", (0.0, TIME), step=TIME / 128).y[-1]
    known = np.array([float(x) for x in KNOWN[name]])
    np.testing.assert_allclose(y, known, rtol=0, atol=2e-14 * (1 + np.abs(known).max()))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chaplygin-sleigh", "snakeboard-driven", "thick-disk"])
def test_the_digits_come_out_again_with_shorter_steps(name):
    y = state(NONHOLONOMIC[name](), TIME, tolerance=TOLERANCE * mpmath.mpf(10) ** -5)
    with mpmath.workdps(WORKING):
        assert max(abs(a - mpmath.mpf(b)) for a, b in zip(y, KNOWN[name], strict=True)) < mpmath.mpf(10) ** -28


def main(names):
    stored = dict(KNOWN)
    for name in names or NONHOLONOMIC:
        stored[name] = [mpmath.nstr(x, STORED) for x in state(NONHOLONOMIC[name](), TIME)]
        STATES.write_text(json.dumps(stored, indent=1, sort_keys=True) + "\n")
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
