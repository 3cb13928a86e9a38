"""Splittings of the logarithmic Hamiltonian Γ = ln(T + p_t) − ln(−V): symplectic steps that shrink where V is deep.

With p_t = −H(start) the motions of Γ on Γ = 0 are those of H = T + V < 0 + T, run through in a fictitious time s.  Both
parts are solved exactly by the flows of the splitting with the physical times

    kick:   dt = b ε/(−V(q)),  V constant along it;    drift:  dt = a ε/(T + p_t),  T constant along it,  t <- t + dt

so that a step of ε in s is symplectic and symmetric on T*G, as the splitting itself; close encounters get short steps,
and the energy does not drift.  On the Kepler problem drift, kick, drift (`SPLIT_STRANG_DKD`) and its compositions
(`SPLIT_SOFSPA6`, …) stay on the exact conic with any step; only the time is approximate.

T is no longer quadratic in the momenta: Runge-Kutta-Nyström coefficients have the order of their general splitting here
(`SPLIT_SRKN6_11B`: 4), the coefficients of Blanes and Moan and compositions keep theirs.
Sources: Preto and Tremaine 1999; Mikkola and Tanikawa 1999.

coefficients
    those of the splitting; then p_t.
own rows
    those of the splitting, whose field here ends with V; then the state and its low words at the start of a step of
    given time.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import increase, renormalise
from integrators.layout import COMPENSATION, ERROR, HISTORY, LAST_KNOWN, OWN_ROWS, STEPS
from integrators.method import Method, Stepper
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.fields import Field
from integrators.signatures import STEP_SIGNATURE
from integrators.status import NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import RENORMALISE_EVERY, copy
from integrators.steppers.kinetic import BODY
from integrators.steppers.splitting import (
    DRIFTS,
    ENTRIES,
    FIELD,
    FORCE,
    KICK_FIRST,
    KICKS,
    MOMENTA,
    SPLITTING,
    axes_transpose,
    bodies_of,
    drift,
    force,
    vector,
)
from liegroup.compile import entry, kernel, ld
from liegroup.compile.scalars import absolute
from liegroup.formulas.facts import ANGULAR, COMMUTATIVE, LINEAR
from liegroup.formulas.vectors import add, cross, dot
from liegroup.table import KIND, N_V, Q_OFFSET, V_OFFSET

SPLITTING_ROWS = 4
START, START_LOW = OWN_ROWS + SPLITTING_ROWS, OWN_ROWS + SPLITTING_ROWS + 1
ELAPSED, REFUSED = 0, 1
"""In the row of errors: the physical time of the step; −V or T + p_t where it is not positive."""
_MOST = 60
_CLOSE = 4.0 * 2.0**-52
_LOOSE = 1e-12
_LATER = 0.7
"""Where the potential is looked at a second time."""
_SMALL, _AGREES = 1e-6, 1e-5
"""The potential is compared with the force where it changes by this part of itself; how well they must agree."""


@kernel
def kinetic_energy(y: Any, table: Any, coefficients: Any, options: Any) -> Any:
    """T = ½ pᵀK p, from the numbers of `integrators.steppers.kinetic`."""
    last = table.shape[0] - 1
    g, body, twice = table[last, Q_OFFSET], bodies_of(options), 0.0
    matrix, row_ends, entry, component = options[DRIFTS] + options[KICKS], MOMENTA + options[ENTRIES], 0, 0
    for row in range(last):
        if COMMUTATIVE[table[row, KIND]]:
            for k in range(table[row, V_OFFSET], table[row, V_OFFSET] + table[row, N_V]):
                v, end = 0.0, options[row_ends + component]
                while entry < end:
                    v = v + coefficients[matrix + entry] * ld(y, g + options[MOMENTA + entry])
                    entry += 1
                component += 1
                twice = twice + ld(y, g + k) * v
    for row in range(last):
        linear, angular = LINEAR[table[row, KIND]], ANGULAR[table[row, KIND]]
        if angular == 0:
            continue
        for p in range(g + table[row, V_OFFSET], g + table[row, V_OFFSET] + table[row, N_V], linear + angular):
            if angular == 1:
                x, z = ld(y, p), ld(y, p + 1)
                spin = ld(y, p + 2) - (coefficients[body + 1] * z - coefficients[body + 2] * x)
                twice = twice + (coefficients[body] * (x * x + z * z) + coefficients[body + 4] * (spin * spin))
            elif linear == 0:
                twice = twice + _spin(vector(y, p), coefficients, body)
            else:
                f = vector(y, p)
                about_com = add(vector(y, p + 3), cross(f, vector(coefficients, body + 1)))
                twice = twice + (coefficients[body] * dot(f, f) + _spin(about_com, coefficients, body))
            body += BODY
    return 0.5 * twice


@kernel
def _spin(a: Any, coefficients: Any, body: Any) -> Any:
    """Twice the kinetic energy of the angular momentum a about the centre of mass."""
    m = axes_transpose(coefficients, body + 7, a)
    return coefficients[body + 4] * (m[0] * m[0]) + (
        coefficients[body + 5] * (m[1] * m[1]) + coefficients[body + 6] * (m[2] * m[2])
    )


@entry(STEP_SIGNATURE)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of ε = h in fictitious time; the physical time it took is left in the row of errors."""
    return flow(field, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters)


@kernel
def flow(
    field: Any, t: Any, epsilon: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """The step."""
    last = table.shape[0] - 1
    g, m, drifts = table[last, Q_OFFSET], table[last, N_V], options[DRIFTS]
    p_t = coefficients[coefficients.shape[0] - 1]
    counters[LAST_KNOWN] = 0
    elapsed, a, b = 0.0, 0, 0
    known = counters[HISTORY] > 0
    for k in range(drifts + options[KICKS]):
        kick = (k % 2 == 0) == (options[KICK_FIRST] == 1)
        if kick:
            if not known:
                force(field, t + elapsed, y, table, parameters, structure, field_work, work, counters, 2 * m + 1)
            known = True
            pace = -work[FIELD, 2 * m]
        else:
            known = False
            pace = kinetic_energy(y, table, coefficients, options) + p_t
        if not pace > 0.0:
            work[ERROR, REFUSED] = pace
            return NON_FINITE
        if kick:
            duration = epsilon * coefficients[drifts + b] / pace
            for i in range(m):
                increase(y, low, g + i, duration * ld(work[FORCE], i), options[COMPENSATION])
            b += 1
        else:
            duration = epsilon * coefficients[a] / pace
            drift(duration, y, low, table, coefficients, options)
            elapsed = elapsed + duration
            a += 1
    counters[HISTORY] = 1 if known else 0
    if options[COMPENSATION] and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(table, y, low)
    work[ERROR, ELAPSED], work[ERROR, REFUSED] = elapsed, 1.0
    return OK


@entry(STEP_SIGNATURE)
def step_of_time(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """A step that takes the physical time h: its ε by the secant rule, to rounding."""
    start, start_low = work[START][: y.shape[0]], work[START_LOW][: y.shape[0]]
    copy(y, start)
    copy(low, start_low)
    epsilon = h * (kinetic_energy(y, table, coefficients, options) + coefficients[coefficients.shape[0] - 1])
    old_epsilon, old_elapsed, best = 0.0, 0.0, absolute(h)
    for _ in range(_MOST):
        counters[HISTORY] = 0
        copy(start, y)
        copy(start_low, low)
        status = flow(
            field, t, epsilon, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )
        if status != OK:
            return status
        elapsed = work[ERROR, ELAPSED]
        miss = absolute(h - elapsed)
        if miss <= _CLOSE * absolute(h) or (miss <= _LOOSE * absolute(h) and not miss < best):
            return OK
        best = miss
        slope = (elapsed - old_elapsed) / (epsilon - old_epsilon)
        old_epsilon, old_elapsed = epsilon, elapsed
        epsilon = epsilon + (h - elapsed) / slope
    work[ERROR, ELAPSED] = best
    return NOT_CONVERGED


def _rows(options: NDArray[np.int64]) -> int:
    return SPLITTING_ROWS + 2


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    return OWN_ROWS + _rows(options), max(problem.n, problem.dimension + 1)


def _explain(errors: NDArray[np.float64]) -> str:
    """What made ln(−V) or ln(T + p_t) meaningless."""
    if errors[REFUSED] > 0:
        return ""
    return (
        f"the logarithmic Hamiltonian needs −V and T + p_t positive, one of them is {errors[REFUSED]:.3g}: subtract "
        "a constant from the "
        f"potential, or take a smaller step"
    )


LOGARITHMIC = Stepper(
    "logarithmic",
    step,
    _rows,
    maps=("exp",),
    prepare=SPLITTING.prepare,
    prepares_at=True,
    shape=_shape,
    step_of_time=step_of_time,
    explain=_explain,
    needs="canonical",
    remembers=True,
)


def logarithmic(method: Method) -> Method:
    """The splitting method under the logarithmic Hamiltonian, of the order it has for a T that is not quadratic.

    Raises
    ------
    ValueError
        If the method does not follow T and V apart and exactly.

    Examples
    --------
    >>> from integrators.methods import METHODS
    >>> [logarithmic(METHODS[name]).order for name in ("SPLIT_STRANG", "SPLIT_BM6_S10", "SPLIT_SRKN6_11B")]
    [2, 6, 4]
    """
    if method.stepper is not SPLITTING or method.split_order is None:
        raise ValueError(
            "controller: the logarithmic Hamiltonian needs a method that follows T and V exactly, SPLIT_…; "
            f"{method.name} does not"
        )
    return replace(method, stepper=LOGARITHMIC, order=method.split_order)


def time_momentum(problem: Problem, potential: Field, t: float, y: NDArray[np.float64]) -> float:
    """p_t = −(T + V) at the start.

    Raises
    ------
    ValueError
        If V is not negative, depends on the time, or does not fall along the force as it should.
    """
    m = problem.dimension // 2
    rest = np.concatenate([y[: problem.n - m], np.zeros(m)])
    force = problem.velocity(t, rest)[m:]
    V = float(problem.evaluate(potential, t, y, 1)[0])
    if not -math.inf < V < 0.0:
        raise ValueError(
            f"potential: V = {V!r} at the start, but the logarithmic Hamiltonian needs V < 0 all along the motion; "
            "subtract a constant"
        )
    later = t + _LATER
    if problem.evaluate(potential, later, y, 1)[0] != V or (problem.velocity(later, rest)[m:] != force).any():
        raise ValueError("potential: it depends on the time; the logarithmic Hamiltonian needs a constant energy")
    square = float(force @ force)
    if square > 0.0:
        way = np.concatenate([_SMALL * abs(V) / square * force, np.zeros(m)])
        ahead, behind = (float(problem.evaluate(potential, t, moved(problem, y, x), 1)[0]) for x in (way, -way))
        if abs((behind - ahead) / (2.0 * _SMALL * abs(V)) - 1.0) > _AGREES:
            raise ValueError(
                f"potential: it falls by {behind - ahead:.6g} where the problem's force does the work "
                f"{2.0 * _SMALL * abs(V):.6g}; "
                f"it is not the potential of this force"
            )
    return -(0.5 * float(y[problem.n - m :] @ problem.velocity(t, y)[:m]) + V)
