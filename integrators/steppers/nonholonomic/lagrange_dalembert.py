r"""Discrete Lagrange–d'Alembert on a group, from node to node, with a choice of the discrete constraint.

State (q, v) with A v = c; X the interval velocity, q₁ = q τ(hX); P⁻, P⁺ the discrete momenta at the two ends of

    ½ XᵀM(q_m) X,  q_m = q τ(hX/2):     P⁻ = dτ_right(hX)⁻ᵀ M X − (h/2) D,    P⁺ = dτ_left(hX)⁻ᵀ M X + (h/2) D

    p = M(q) v + (h/2)(F − G)(q)
    P⁻(X) = p + A(q)ᵀ L,       C(q, X) = c                        X, L by simplified Newton steps with the node's matrix
    M(q₁) v₁ = P⁺(X) + (h/2)(F − G)(q₁) + A(q₁)ᵀ L₁,   A(q₁) v₁ = c(q₁)

Rows of C: `MIDPOINT` A(q_m) X;  `TRAPEZOID` ½ (A(q) + A(q₁)) X;  `AVERAGED` ½ (A(q τ(hX/2)) + A(q₁ τ(−hX/2))) X;
`LEFT` A(q) X;  `RIGHT` A(q₁) X.  Integrable rows are imposed as positions at the new node, φ(q₁) = 0.
L/h approximates the constraint force at q; L₁ is only the projection onto the constraints.

Order 2 and symmetric with the first three (`MIDPOINT` only if τ(x/2)² = τ(x), which the Cayley map violates), order 1
with LEFT and RIGHT.  M(q_m) asks the same of τ whatever the rows: where the inertia depends on a rotation (the roller
racer's angle between its halves), the Cayley map costs the symmetry of every C, and compositions stop at order 3.  Take
exp there.  On groups whose factors turn and shift (SE(2), SE(3)) a steady turn is slower than its start by the part
h² m v²/(12 I), m v the momentum of the shift and I the inertia of the turn, because p = M v belongs to the node and the
second-order term of dτ⁻ᵀ M X to the interval: an error of order 2 that no invariant shows.

A step is a map of the constraint manifold: compositions raise the order.  Sources: Cortés and Martínez 2001; McLachlan
and Perlmutter 2006; Kobilarov, Marsden and Sukhatme 2010 (on M × G).

coefficients
    weights of the composition.
options
    the discrete constraint; largest number of iterations; how the linear equations of a node are solved, for X and L
    or, without L, on a basis of the distribution (`integrators.steppers.nonholonomic.null_space`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.layout import COMPENSATION, ERROR, HISTORY, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, copy, leaves_chart
from integrators.steppers.composition import compose
from integrators.steppers.nonholonomic import node, null_space
from integrators.steppers.nonholonomic.node import AT, END, HX, MIDDLE, MU, NODE, SCRATCH, L, P, R, S, X
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum

LOOPS = "short"

CONSTRAINT, LIMIT, UNKNOWNS = range(OWN_OPTIONS, OWN_OPTIONS + 3)
MIDPOINT, TRAPEZOID, AVERAGED, LEFT, RIGHT = range(5)
ROUNDED = 3e-3
STALLED = 1e-10
"""Relative change up to which an iteration that rounding keeps going has converged: near singular positions, and of
closures with short levers, which magnify rounding, it does not come below `FLOOR`.  It ends where the changes no longer
fall: what Broyden's method learns from rounding leads away.
"""
NOISE, SMALLEST = 1e-15, 1e-290
"""Part of momenta, and of impulses (also of weight that the closures carry), that rounding makes of forces, and what is
less than any of them.
"""
CONSTRAINTS = {"midpoint": MIDPOINT, "trapezoid": TRAPEZOID, "averaged": AVERAGED, "left": LEFT, "right": RIGHT}
"""Discrete constraints by name."""
MULTIPLIERS, NULL_SPACE = range(2)


@helper
def scaled(work: Any, source: Any, k: Any, target: Any, n: Any) -> None:
    """target <- k source."""
    for i in range(n):
        st2(work, target, i, k * ld2(work, source, i))


@kernel
def factor(unknowns: Any, values: Any, structure: Any, work: Any) -> None:
    """Factor the matrix of the node whose parts are `values`."""
    if unknowns == NULL_SPACE:
        null_space.factor(values, structure, work)
    else:
        node.factor(values, structure, work)


@kernel
def solve_node(unknowns: Any, values: Any, structure: Any, work: Any) -> None:
    """(R, S) <- (x, l) of `node.solve_node`; l = 0 in the null-space form."""
    if unknowns == NULL_SPACE:
        null_space.solve_node(values, structure, work)
    else:
        node.solve_node(values, structure, work)


@kernel
def predict(unknowns: Any, h: Any, velocity: Any, structure: Any, work: Any) -> None:
    """X <- v + (h/2) v̇ and L <- (h/2) λ, from the equations with multipliers at the node."""
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    values = work[NODE]
    for i in range(n):
        st2(work, R, i, node.force(values, structure, i) + ld(values, at.KINETIC + i) - ld(values, at.RATE + i))
    for j in range(m):
        st2(work, S, j, -ld(values, at.BIAS + j))
    solve_node(unknowns, values, structure, work)
    for i in range(n):
        st2(work, X, i, ld(velocity, i) + 0.5 * h * ld2(work, R, i))
    for j in range(m):
        st2(work, L, j, 0.5 * h * ld2(work, S, j))


@kernel
def _rows(
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
) -> None:
    """S <- −(C(q, x) − c), x = AT, after the parts at the middle (MIDDLE) and, where needed, at the end (END) of the
    step.
    """
    n, m, k = structure[0], structure[1], structure[2]
    at = constrained(n, m, k)
    kind, tau = options[CONSTRAINT], options[TAU]
    hx, velocity, scratch = work[HX][:n], work[AT][:n], work[SCRATCH]
    scaled(work, AT, 0.5 * h, HX, n)
    node.parts_beyond(parts, t + 0.5 * h, group, tau, q, hx, velocity, parameters, structure, field_work, work, MIDDLE)
    if kind in (MIDPOINT, AVERAGED):
        for j in range(m):
            st2(work, S, j, -node.row_defect(work[MIDDLE], structure, velocity, j))
    if kind == LEFT:
        for j in range(m):
            st2(work, S, j, -node.row_defect(work[NODE], structure, velocity, j))
    scaled(work, AT, h, HX, n)
    if kind == AVERAGED:
        node.parts_beyond(parts, t + h, group, tau, q, hx, velocity, parameters, structure, field_work, work, END)
        end = scratch[: q.shape[0]]
        copy(work[node.STATE][: q.shape[0]], end)
        back = work[MU][:n]
        for i in range(n):
            st(back, i, -(0.5 * ld(hx, i)))
        if k > 0:
            for j in range(k):
                st2(work, S, m - k + j, -(ld(work[END], at.POSITION + j) / h))
        node.parts_beyond(
            parts, t + 0.5 * h, group, tau, end, back, velocity, parameters, structure, field_work, work, END
        )
        for j in range(m - k):
            st2(work, S, j, 0.5 * (ld2(work, S, j) - node.row_defect(work[END], structure, velocity, j)))
        return
    if kind in (TRAPEZOID, RIGHT) or k > 0:
        node.parts_beyond(parts, t + h, group, tau, q, hx, velocity, parameters, structure, field_work, work, END)
        if kind == TRAPEZOID:
            for j in range(m):
                both = node.row_defect(work[NODE], structure, velocity, j) + node.row_defect(
                    work[END], structure, velocity, j
                )
                st2(work, S, j, -(0.5 * both))
        if kind == RIGHT:
            for j in range(m):
                st2(work, S, j, -node.row_defect(work[END], structure, velocity, j))
        for j in range(k):
            st2(work, S, m - k + j, -(ld(work[END], at.POSITION + j) / h))


@helper
def position_rounding(h: Any, q: Any, structure: Any, work: Any, zero: Any) -> Any:
    """Velocities whose `FLOOR` is what rounding of positions leaves of them: some ε |q|/h, in what counts as one."""
    size = node.greatest_position(work, q, q.shape[0], structure[0])
    return ROUNDED * size / absolute(h) if structure[2] > 0 else zero


@kernel
def solve_interval(
    parts: Any, t: Any, h: Any, q: Any, group: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
    counters: Any,
) -> int:  # fmt: skip
    """X and L of the interval, to rounding; each lane stops by itself.  MIDDLE is left at the solution."""
    n, m = structure[0], structure[1]
    tau = options[TAU]
    hx, mu, before = work[HX][:n], work[MU][:n], work[R][:n]
    zero = ld2(work, X, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    counts = position_rounding(h, q, structure, work, zero)
    for count in range(options[LIMIT]):
        node.go_to(work, n, going)
        _rows(parts, t, h, q, group, options, parameters, structure, field_work, work)
        node.mass_times(work[MIDDLE], structure, work[AT][:n], mu)
        node.momentum_before(group, tau, h, work[MIDDLE], structure, hx, mu, before)
        for i in range(n):
            push = node.reaction(work[NODE], structure, work[L], i)
            st(before, i, ld2(work, P, i) + push - ld(before, i))
        solve_node(options[UNKNOWNS], work[NODE], structure, work)
        node.learn(structure, work, count)
        last = best
        going, best, status = node.accept(work, n, m, counts, going, best, counters)
        if status != node.GOES_ON:
            return status
        going = select((best <= STALLED) & (best >= last), going * 0.0, going)
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED if any_(best > STALLED) else OK


@kernel
def open_node(
    unknowns: Any, parts: Any, t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, work: Any
) -> None:
    """The parts at the node (q, v) and the factors of its matrix."""
    n = structure[0]
    n_q = y.shape[0] - n
    node.parts_at(parts, t, y[:n_q], y[n_q:], parameters, structure, field_work, work, NODE)
    factor(unknowns, work[NODE], structure, work)


@kernel
def close_node(
    unknowns: Any, parts: Any, t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any,
    limit: Any,
) -> int:  # fmt: skip
    """v of the new node from the momentum P that arrives, with half a kick by the forces there; forces may depend
    on v.
    """
    n, m = structure[0], structure[1]
    at = constrained(n, m, structure[2])
    n_q = y.shape[0] - n
    v = y[n_q:]
    for i in range(n):
        st(v, i, ld2(work, X, i))
        st(low, n_q + i, 0.0)
    open_node(unknowns, parts, t, y, parameters, structure, field_work, work)
    going, before = 0.0 * ld(v, 0) + 1.0, 0.0 * ld(v, 0) + np.inf
    for _ in range(limit):
        for i in range(n):  # the forces of a lane that has ended are kept, and so is all that follows from them
            st2(work, SCRATCH, i, select(going > 0.0, ld(work[NODE], at.FORCE + i), ld2(work, SCRATCH, i)))
            kick = 0.5 * h * (ld2(work, SCRATCH, i) - ld(work[NODE], at.GRADIENT + i))
            st2(work, R, i, ld2(work, P, i) + kick)
        for j in range(m):
            st2(work, S, j, ld(work[NODE], at.VALUE + j))
        solve_node(unknowns, work[NODE], structure, work)
        change = 0.0 * going
        for i in range(n):
            change = maximum(change, absolute(ld2(work, R, i) - ld(v, i)))
            st(v, i, ld2(work, R, i))
        node.parts_at(parts, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
        force_change, size, noise = 0.0 * change, 0.0 * change, 0.0 * change
        for i in range(n):
            force = ld(work[NODE], at.FORCE + i)
            force_change = maximum(force_change, absolute(force - ld2(work, SCRATCH, i)))
            size = maximum(size, absolute(ld2(work, P, i)))
            noise = maximum(noise, maximum(absolute(h * force), absolute(h * ld(work[NODE], at.GRADIENT + i))))
        if node.fails(change + force_change):
            return NON_FINITE
        change = absolute(h) * force_change
        noise = NOISE * (size + noise) + SMALLEST
        goes_on = (change > 1e-16 * size) & ((change < before) | (change > noise))
        going = select(goes_on, going, 0.0 * going)
        if not any_(going > 0.0):
            return OK
        before = change
        st(work[ERROR], 0, change / maximum(size, noise))
    return NOT_CONVERGED


@kernel
def substep(
    parts: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of size h of the basic method."""
    n, m = structure[0], structure[1]
    n_q = y.shape[0] - n
    group, tau, unknowns = table[: table.shape[0] - 1], options[TAU], options[UNKNOWNS]
    if counters[HISTORY] == 0:
        open_node(unknowns, parts, t, y, parameters, structure, field_work, work)
    node.mass_times(work[NODE], structure, y[n_q:], work[P][:n])
    for i in range(n):
        st2(work, P, i, ld2(work, P, i) + 0.5 * h * node.force(work[NODE], structure, i))
    past = counters[HISTORY]
    if past > 1:
        node.extrapolate(work, n, m, past - 1)
    else:
        predict(unknowns, h, y[n_q:], structure, work)
    counters[HISTORY] = 0
    status = solve_interval(parts, t, h, y[:n_q], group, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, work[HX][:n]):
        status = CHART_LEFT
    if status != OK:
        return status
    hx = work[HX][:n]
    scaled(work, X, h, HX, n)
    node.mass_times(work[MIDDLE], structure, work[X][:n], work[MU][:n])
    node.momentum_after(group, tau, h, work[MIDDLE], structure, hx, work[MU][:n], work[P][:n])
    advance_state(group, tau, y, low, hx, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    known = min(max(past, 1), node.DIFFERENCES)
    node.remember(work, n, m, known)
    status = close_node(unknowns, parts, t + h, h, y, low, parameters, structure, field_work, work, options[LIMIT])
    counters[HISTORY] = known + 1
    return status


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the composition; `field` is the problem's parts."""
    node.take_scales(coefficients, y, work)
    weights = coefficients[: coefficients.shape[0] - y.shape[0]]
    return compose(
        substep, weights, 1, field, t, h, y, low, table, coefficients, options,
        parameters, structure, field_work, work, counters,
    )  # fmt: skip


STEPPER = Stepper(
    "lagrange-dalembert",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=node.check,
    evaluates="parts",
    shape=null_space.work_shape,
    needs="constraints",
    follows=("rows", "value", "mass"),
)


def lagrange_dalembert(
    name: str,
    weights: Any = (1.0,),
    order: int = 2,
    constraint: str = "midpoint",
    iterations: int = 60,
    symmetric: bool = True,
    unknowns: int = MULTIPLIERS,
    **changes: object,
) -> Method:
    """The method with a discrete constraint of `CONSTRAINTS`, composed with the given weights.

    Raises ValueError for an unknown discrete constraint.
    """
    if constraint not in CONSTRAINTS:
        raise ValueError(f"constraint: {constraint!r}, expected one of {', '.join(CONSTRAINTS)}")
    return Method(
        name=name,
        stepper=STEPPER,
        order=order,
        coefficients=np.asarray(weights, dtype=np.float64),
        options=np.array([CONSTRAINTS[constraint], iterations, unknowns]),
        symmetric=symmetric,
        source="Cortés and Martínez 2001",
        **changes,  # type: ignore[arg-type]
    )
