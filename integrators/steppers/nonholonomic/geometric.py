r"""The geometric nonholonomic integrator: nonholonomic SHAKE, in the node form of RATTLE, on a group.

Momentum p = M v at a node, with A v = c; the multiplier L of a node acts with half of its kick before and with half
after it:

    P⁻(X) = p + (h/2)(F − G + Aᵀ L)                               X alone is unknown
    q₁ = q τ(hX),    p₁ = P⁺(X) + (h/2)(F − G + Aᵀ L)(q₁),    A₁ M₁⁻¹ p₁ = c₁    L₁ linear, carried into the next step

The kick reflects the constrained part of the half-step velocity.  Order 2; symmetric as a map on T*Q with L as part of
the state, but not a map near the identity off the constraints: compositions reach order 4 and never 6, a fresh start
(from the continuous multiplier) breaks the symmetry, heights of contacts are not held, and on problems that are not
reversible the parasitic half-step velocity A X may grow while a modified energy looks perfect.  For comparison.
Sources: Ferraro, Iglesias and Martín de Diego 2008, 2009.

options
    largest number of iterations.
own rows
    MEMORY holds L.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.layout import COMPENSATION, ERROR, HISTORY, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.lagrange_dalembert import MULTIPLIERS, close_node, scaled
from integrators.steppers.nonholonomic.node import AT, HX, MATRIX, MEMORY, MIDDLE, MU, NODE, SCRATCH, P, R, S, X
from liegroup.compile import entry, kernel, ld, ld2, st, st2
from liegroup.compile.dense import ldl_solve

LOOPS = "short"

LIMIT = OWN_OPTIONS


@kernel
def _start(parts: Any, t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, work: Any) -> None:
    """NODE and its factors; MEMORY <- the multiplier of the continuous equations."""
    n, m = structure[0], structure[1]
    n_q = y.shape[0] - n
    at = constrained(n, m, structure[2])
    node.parts_at(parts, t, y[:n_q], y[n_q:], parameters, structure, field_work, work, NODE)
    node.factor(work[NODE], structure, work)
    values = work[NODE]
    for i in range(n):
        st2(work, R, i, node.force(values, structure, i) + ld(values, at.KINETIC + i) - ld(values, at.RATE + i))
    for j in range(m):
        st2(work, S, j, -ld(values, at.BIAS + j))
    node.solve_node(values, structure, work)
    for j in range(m):
        st2(work, MEMORY, j, ld2(work, S, j))


@kernel
def _solve(
    parts: Any,
    t: Any,
    h: Any,
    q: Any,
    group: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
    counters: Any,
) -> int:
    """X with P⁻(X) = P, to rounding."""
    n, m, tau = structure[0], structure[1], options[TAU]
    hx, mu, before, velocity = work[HX][:n], work[MU][:n], work[R][:n], work[AT][:n]
    zero = ld2(work, X, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    for count in range(options[LIMIT]):
        node.go_to(work, n, going)
        scaled(work, AT, 0.5 * h, HX, n)
        node.parts_beyond(
            parts, t + 0.5 * h, group, tau, q, hx, velocity, parameters, structure, field_work, work, MIDDLE
        )
        scaled(work, AT, h, HX, n)
        node.mass_times(work[MIDDLE], structure, velocity, mu)
        node.momentum_before(group, tau, h, work[MIDDLE], structure, hx, mu, before)
        for i in range(n):
            st(before, i, ld2(work, P, i) - ld(before, i))
        ldl_solve(work, MATRIX, n, work, R)
        for j in range(m):
            st2(work, S, j, 0.0)
        node.learn(structure, work, count)
        going, best, status = node.accept(work, n, 0, zero, going, best, counters)
        if status != node.GOES_ON:
            return status
    st(work[ERROR], 0, best)
    return NOT_CONVERGED


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step; `field` is the problem's parts."""
    n, m = structure[0], structure[1]
    n_q, tau = y.shape[0] - n, options[TAU]
    group, v, hx = table[: table.shape[0] - 1], y[y.shape[0] - n :], work[HX][:n]
    node.take_scales(coefficients, y, work)
    if counters[HISTORY] == 0:
        _start(field, t, y, parameters, structure, field_work, work)
    counters[HISTORY] = 0
    node.mass_times(work[NODE], structure, v, work[P][:n])
    for i in range(n):
        kick = node.force(work[NODE], structure, i) + node.reaction(work[NODE], structure, work[MEMORY], i)
        st2(work, P, i, ld2(work, P, i) + 0.5 * h * kick)
        st2(work, X, i, ld(v, i))
    status = _solve(field, t, h, y[:n_q], group, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, hx):
        status = CHART_LEFT
    if status != OK:
        return status
    scaled(work, X, h, HX, n)
    node.mass_times(work[MIDDLE], structure, work[X][:n], work[MU][:n])
    node.momentum_after(group, tau, h, work[MIDDLE], structure, hx, work[MU][:n], work[P][:n])
    advance_state(group, tau, y, low, hx, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    status = close_node(MULTIPLIERS, field, t + h, h, y, low, parameters, structure, field_work, work, options[LIMIT])
    for j in range(m):
        st2(work, MEMORY, j, 2.0 / h * ld2(work, S, j))
    counters[HISTORY] = 1
    return status


STEPPER = Stepper(
    "geometric-nonholonomic",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=node.check,
    evaluates="parts",
    shape=node.work_shape,
    needs="constraints",
    follows=("rows", "value", "mass"),
    remembers=True,
)


def geometric(name: str, iterations: int = 60, **changes: object) -> Method:
    """The method."""
    return Method(
        name=name,
        stepper=STEPPER,
        order=2,
        options=np.array([iterations]),
        source="Ferraro, Iglesias and Martín de Diego 2008",
        **changes,  # type: ignore[arg-type]
    )
