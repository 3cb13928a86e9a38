"""Splittings H = ½ pᵀK p + V(t, q) on T*G: the motion without forces exactly (drift), the forces alone exactly (kick).

    kick:   p <- p + b h f(t, q)
    drift:  Rⁿ, SO(2): q <- q + a h K p;   rigid bodies turn freely about their centre of mass, which moves uniformly

The kinetic energy is found by asking the field (`integrators.steppers.kinetic`), the force is ṗ at p = 0.  Symplectic,
and symmetric if the coefficients are; momentum maps of V are exact.  T is quadratic in the momenta, so
Runge-Kutta-Nyström coefficients keep their order on every T*G.  Instead of the exact free rotation, three rotations
about the principal axes (1-2-3-2-1) may be used: then the drift is of second order only, and the coefficients must be
those of a composition.

Everything is added as increments to both words of the state.  In principal axes the energy and the momentum of the free
rotation, which rounding would change with a bias, are put right in the low words after every drift (`hold_constants`).
Sources: Blanes and Moan 2002; McLachlan and Reich (three rotations); Hairer, McLachlan and Razakarivony 2008.

coefficients
    drifts a; kicks b; then `Kinetic`: the entries of K that are not zero, by rows, and `BODY` numbers for every body.
options
    number of drifts; of kicks; 1 if a kick comes first; 1 for three rotations; 1 if all bodies are in principal axes;
    number of bodies; of entries of K; 1 if there is one for every component of the abelian factors, of its own
    momentum; then the momentum of each; then where each row of K ends, one per component of the abelian factors.
own rows
    state at rest; its field; the force; velocity of the abelian factors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import increase, increase3, renormalise
from integrators.arithmetic.free_body import correct, displace, exact_motion, pieces, three_rotations, turn, turn_back
from integrators.layout import COMPENSATION, EVALUATIONS, HISTORY, LAST_KNOWN, OWN_OPTIONS, OWN_ROWS, STEPS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.signatures import STEP_SIGNATURES
from integrators.status import OK
from integrators.steppers.common import RENORMALISE_EVERY, copy
from integrators.steppers.kinetic import BODY, departures, kinetic
from integrators.tableaus import Composition, Splitting
from integrators.tableaus.numbers import floats
from liegroup.compile import any_, entry, helper, kernel, ld, select, st
from liegroup.compile.scalars import sincos
from liegroup.formulas import so3
from liegroup.formulas.facts import ANGULAR, COMMUTATIVE, LENGTH_Q, LENGTH_V, LINEAR
from liegroup.formulas.vectors import add, cross, scale
from liegroup.table import KIND, N_V, Q_OFFSET, V_OFFSET

DRIFTS, KICKS, KICK_FIRST, ROTATIONS, ALIGNED, BODIES, ENTRIES, DIAGONAL, MOMENTA = range(OWN_OPTIONS, OWN_OPTIONS + 9)
REST, FIELD, FORCE = range(OWN_ROWS, OWN_ROWS + 3)


@helper
def vector(a: Any, i: Any) -> Any:
    return ld(a, i), ld(a, i + 1), ld(a, i + 2)


@helper
def axes(coefficients: Any, k: Any, u: Any) -> Any:
    """P u for the principal axes of a body."""
    return (
        coefficients[k] * u[0] + (coefficients[k + 1] * u[1] + coefficients[k + 2] * u[2]),
        coefficients[k + 3] * u[0] + (coefficients[k + 4] * u[1] + coefficients[k + 5] * u[2]),
        coefficients[k + 6] * u[0] + (coefficients[k + 7] * u[1] + coefficients[k + 8] * u[2]),
    )


@helper
def axes_transpose(coefficients: Any, k: Any, u: Any) -> Any:
    """Pᵀ u."""
    return (
        coefficients[k] * u[0] + (coefficients[k + 3] * u[1] + coefficients[k + 6] * u[2]),
        coefficients[k + 1] * u[0] + (coefficients[k + 4] * u[1] + coefficients[k + 7] * u[2]),
        coefficients[k + 2] * u[0] + (coefficients[k + 5] * u[1] + coefficients[k + 8] * u[2]),
    )


@kernel
def rotate(t: Any, y: Any, low: Any, q: Any, p: Any, coefficients: Any, body: Any, a: Any, options: Any) -> Any:
    """Free rotation of a body with angular momentum a about its centre of mass: quaternion at q, momentum at p of the
    state.

    Returns (real part, vector part) of the relative quaternion in body axes.
    """
    compensation = options[COMPENSATION]
    i = (coefficients[body + 4], coefficients[body + 5], coefficients[body + 6])
    m = axes_transpose(coefficients, body + 7, a)
    if options[ROTATIONS]:
        dm, w1, v = three_rotations(t, m, i)
    else:
        dm, w1, v = exact_motion(t, m, i)
    v, change = axes(coefficients, body + 7, v), axes(coefficients, body + 7, dm)
    increase3(y, low, p, change, compensation)
    if compensation and options[ALIGNED] and not options[ROTATIONS]:
        correct(low, p, i, m, dm)
    displace(y, low, q, w1, v, compensation)
    return 1.0 + w1, v


@kernel
def drift_space(t: Any, y: Any, low: Any, q: Any, p: Any, coefficients: Any, body: Any, options: Any) -> None:
    """Free motion of a body in space: (x, quaternion) at q, (linear, angular) momentum at p."""
    compensation = options[COMPENSATION]
    c = (coefficients[body + 1], coefficients[body + 2], coefficients[body + 3])
    linear, angular = vector(y, p), vector(y, p + 3)
    attitude = (ld(y, q + 3), ld(y, q + 4), ld(y, q + 5), ld(y, q + 6))
    w, v = rotate(t, y, low, q + 3, p + 3, coefficients, body, add(angular, cross(linear, c)), options)
    change = turn_back(v, w, linear)
    increase3(y, low, p, change, compensation)
    increase3(y, low, p + 3, cross(c, change), compensation)
    way, swing = scale(t * coefficients[body], linear), turn(v, w, c)
    increase3(y, low, q, so3.act(attitude, (way[0] - swing[0], way[1] - swing[1], way[2] - swing[2])), compensation)


@kernel
def drift_plane(t: Any, y: Any, low: Any, q: Any, p: Any, coefficients: Any, body: Any, compensation: Any) -> None:
    """Free motion of a body in the plane: (x, y, θ) at q, (linear, angular) momentum at p."""
    cx, cy = coefficients[body + 1], coefficients[body + 2]
    lx, ly = ld(y, p), ld(y, p + 1)
    angle = t * coefficients[body + 4] * (ld(y, p + 2) - (cx * ly - cy * lx))
    s, c = sincos(0.5 * angle)
    c1, s = -2.0 * (s * s), 2.0 * (s * c)
    dx, dy = c1 * lx + s * ly, c1 * ly - s * lx
    way = t * coefficients[body]
    x, z = way * lx - (c1 * cx - s * cy), way * ly - (c1 * cy + s * cx)
    sin, cos = sincos(ld(y, q + 2))
    increase(y, low, q, cos * x - sin * z, compensation)
    increase(y, low, q + 1, sin * x + cos * z, compensation)
    increase(y, low, q + 2, angle, compensation)
    increase(y, low, p, dx, compensation)
    increase(y, low, p + 1, dy, compensation)
    increase(y, low, p + 2, cx * dy - cy * dx, compensation)


@helper
def longest(t: Any, y: Any, table: Any, g: Any, coefficients: Any, bodies: Any) -> Any:
    """The number of parts into which the time must be divided for the fastest body (one number per lane); no number
    where a body is too fast.
    """
    n, body = ld(y, 0) * 0.0 + 1.0, bodies
    for row in range(table.shape[0]):
        linear, angular = LINEAR[table[row, KIND]], ANGULAR[table[row, KIND]]
        if angular == 0:
            continue
        for p in range(g + table[row, V_OFFSET], g + table[row, V_OFFSET] + table[row, N_V], linear + angular):
            if angular == 3:
                a = vector(y, p + linear)
                if linear:
                    a = add(
                        a, cross(vector(y, p), (coefficients[body + 1], coefficients[body + 2], coefficients[body + 3]))
                    )
                parts = pieces(t, axes_transpose(coefficients, body + 7, a), vector(coefficients, body + 4))
                n = select(parts > n, parts, n) + 0.0 * parts
            body += BODY
    return n


@helper
def glide(t: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any) -> None:
    """The uniform motion of the abelian factors over the time t."""
    last = table.shape[0] - 1
    matrix, row_ends, entry = options[DRIFTS] + options[KICKS], MOMENTA + options[ENTRIES], 0
    g, component = table[last, Q_OFFSET], 0
    for row in range(last):
        if COMMUTATIVE[table[row, KIND]] and options[DIAGONAL]:
            q, p, own = table[row, Q_OFFSET], g + table[row, V_OFFSET], matrix + component
            for k in range(table[row, N_V]):
                increase(y, low, q + k, t * (ld(coefficients, own + k) * ld(y, p + k)), options[COMPENSATION])
            component += table[row, N_V]
        elif COMMUTATIVE[table[row, KIND]]:
            for k in range(table[row, N_V]):
                velocity, end = ld(y, g) * 0.0, options[row_ends + component]
                while entry < end:
                    velocity = velocity + coefficients[matrix + entry] * ld(y, g + options[MOMENTA + entry])
                    entry += 1
                component += 1
                increase(y, low, table[row, Q_OFFSET] + k, t * velocity, options[COMPENSATION])


@helper
def bodies_of(options: Any) -> Any:
    """Where the numbers of the bodies begin among the coefficients."""
    return options[DRIFTS] + options[KICKS] + options[ENTRIES]


@helper
def turn_freely(t: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any) -> None:
    """The free motion of the bodies over the time t, which is short for every one."""
    last = table.shape[0] - 1
    g, body = table[last, Q_OFFSET], bodies_of(options)
    for row in range(last):
        kind = table[row, KIND]
        if COMMUTATIVE[kind]:
            continue
        for k in range(table[row, N_V] // LENGTH_V[kind]):
            q, p = table[row, Q_OFFSET] + LENGTH_Q[kind] * k, g + table[row, V_OFFSET] + LENGTH_V[kind] * k
            if ANGULAR[kind] == 1:
                drift_plane(t, y, low, q, p, coefficients, body, options[COMPENSATION])
            elif LINEAR[kind] == 0:
                rotate(t, y, low, q, p, coefficients, body, vector(y, p), options)
            else:
                drift_space(t, y, low, q, p, coefficients, body, options)
            body += BODY


@helper
def drift(t: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any) -> None:
    """The motion without forces over any time, in as many equal parts as the fastest body needs; idle lanes stand
    still; where that is no number the state is none either.
    """
    if options[BODIES] == 0:
        glide(t, y, low, table, coefficients, options)
        return
    last = table.shape[0] - 1
    parts = longest(t, y, table[:last], table[last, Q_OFFSET], coefficients, bodies_of(options))
    done = 0.0
    while True:
        part = select(parts > done, t / parts, parts * 0.0)
        glide(part, y, low, table, coefficients, options)
        turn_freely(part, y, low, table, coefficients, options)
        done += 1.0
        if not any_(parts > done):
            break


@helper
def force(
    field: Any, t: Any, y: Any, table: Any, parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
    values: Any
) -> None:  # fmt: skip
    """The force at the configuration of y, into its row; `values`: how many numbers the field gives."""
    last = table.shape[0] - 1
    g, m = table[last, Q_OFFSET], table[last, N_V]
    rest, value = work[REST][: y.shape[0]], work[FIELD][:values]
    copy(y, rest)
    for i in range(m):
        st(rest, g + i, 0.0)
    field(t, rest, parameters, structure, field_work, value)
    counters[EVALUATIONS] += 1
    copy(value[m : 2 * m], work[FORCE][:m])


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a splitting method."""
    last = table.shape[0] - 1
    g, m, drifts, flows = table[last, Q_OFFSET], table[last, N_V], options[DRIFTS], options[DRIFTS] + options[KICKS]
    counters[LAST_KNOWN] = 0
    time, a, b = t, 0, 0
    known = counters[HISTORY] > 0
    for k in range(flows):
        if (k % 2 == 0) == (options[KICK_FIRST] == 1):
            if not known:
                force(field, time, y, table, parameters, structure, field_work, work, counters, 2 * m)
            known = True
            for i in range(m):
                increase(y, low, g + i, (h * coefficients[drifts + b]) * ld(work[FORCE], i), options[COMPENSATION])
            b += 1
        else:
            drift(h * coefficients[a], y, low, table, coefficients, options)
            time = time + h * coefficients[a]
            known = False
            a += 1
    counters[HISTORY] = 1 if known else 0
    if options[COMPENSATION] and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(table, y, low)
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return 3


def _prepare(problem: Problem, t: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The kinetic energy of the problem, after the method's own numbers."""
    found = kinetic(problem, t)
    K = found.matrix
    return (
        np.concatenate([K.data, found.bodies.ravel()]),
        np.array([found.aligned, len(found.bodies), K.nnz, found.diagonal, *K.indices, *K.indptr[1:]], dtype=np.int64),
    )


SPLITTING = Stepper(
    "splitting",
    step,
    _rows,
    maps=("exp",),
    prepare=_prepare,
    prepares_at=True,
    needs="canonical",
    remembers=True,
    form=departures,
)


def splitting(table: Splitting, name: str = "", **changes: Any) -> Method:
    """The splitting method of a table, with exact drifts; its order is the Runge-Kutta-Nyström order."""
    return _method(
        table,
        name or f"SPLITTING[{table.name}]",
        table.nystrom_order,
        rotations=False,
        split_order=table.order,
        **changes,
    )


def composed_flows(composition: Composition, name: str = "", **changes: Any) -> Method:
    """The composition of drift, kick, drift: it asks nothing of T, unlike Runge-Kutta-Nyström coefficients."""
    order = composition.order
    name = name or f"SPLITTING[{composition.name}]"
    return _method(composition.strang("T"), name, order, rotations=False, split_order=order, **changes)


def rotations(composition: Composition, name: str = "", **changes: Any) -> Method:
    """The composition of the symmetric second-order map kick, three rotations, kick."""
    return _method(
        composition.strang(), name or f"ROTATIONS[{composition.name}]", composition.order, rotations=True, **changes
    )


def _method(table: Splitting, name: str, order: int, rotations: bool, **changes: Any) -> Method:
    return Method(
        name=name,
        stepper=SPLITTING,
        order=order,
        coefficients=np.concatenate([floats(table.T), floats(table.V)]),
        options=np.array([len(table.T), len(table.V), table.first == "V", rotations]),
        evaluations=len(table.V) - (table.first == "V"),
        symmetric=table.symmetric,
        symplectic=True,
        source=table.source,
        **changes,
    )
