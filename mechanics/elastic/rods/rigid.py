"""Rods that keep strains of their elements: no stretch, no shear, no twist; the motion, and RATTLE.

    c = X − l e₀ = 0 for the strains that are kept,      c' = −(G_a ξ_a + G_b ξ_b) = 0,      p' = F + Σ λ (G_a; G_b)

G are the wrenches of a unit stress on both nodes (`element.pulls`), λ the stresses that keep the strains: forces along
and across the rod, moments about it.  Both wrenches of a stress balance, so that momenta are exact whatever λ is.

`rigid_field` has λ from c'' = 0, in time linear in the nodes: for every method, while c grows by its errors.
`rattle_step` keeps c and c':

    p <- p + ½h (F + Σ λ G),    the exact free motion of the sections over h, with λ such that c = 0 at its end,
    p <- p + ½h F + Σ µ G,      with µ such that c' = 0

Newton's method for λ takes the derivative of c by λ of sections that move straight on and turn as they did in the last
round: a band of 2m − 1 beside the diagonal, m strains per element.  The step is symmetric, symplectic on the motions
that keep the strains, of order 2, and composes.  Sources: Andersen 1983; Leimkuhler and Skeel 1994; Reich 1996.

structure
    after the strokes: m; which strains.
field work
    rows: wrenches G; the band; pivots; λ; scratch.
own rows
    forces; state, and its low words, from which the sections move; G at both ends, and at the start in the axes at the
    end; the band; pivots; right-hand side; scratch; λ; impulses.
coefficients
    weights of the composition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.bands import decompose_band, solve_band
from integrators.arithmetic.compensated import increase, renormalise
from integrators.layout import ERROR, EVALUATIONS, ITERATIONS, OWN_ROWS
from integrators.problem.own_steps import composed
from integrators.signatures import FIELD_SIGNATURES
from integrators.status import NON_FINITE, NOT_CONVERGED, OK
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, select, st
from liegroup.compile.scalars import maximum
from liegroup.formulas import se3
from liegroup.formulas import so3 as rotations
from mechanics.elastic.rods import element
from mechanics.elastic.rods.asynchronous import drift
from mechanics.elastic.rods.field import (
    element_wrenches,
    load_at_node,
    motion,
    node_pose,
    observed,
    power,
    push,
    six,
    sizes,
    unit_stress,
    velocity_of,
    yielding,
)
from mechanics.elastic.rods.layout import (
    CLAMPED,
    FREE,
    element_numbers,
    kind_of,
    load_place,
    state_place,
    stroke_place,
)

FIELD_ROWS = 5
(FORCES, FROM, FROM_LOW, AT_START, AT_END, TURNED, BAND, PIVOTS, DEFECT, SCRATCH, STRESS, IMPULSE) = range(
    OWN_ROWS, OWN_ROWS + 12
)
RATTLE_ROWS = 12
LIMIT = 40
FLOOR, NEAR = 2.0**-51, 2.0**-44
"""Gaps, in sizes of the positions, that are rounding, and that count as such where they fall no further."""


@helper
def kept(structure: Any) -> Any:
    """How many strains an element keeps, and where in the structure they are named."""
    at = stroke_place(structure, structure[3])
    return structure[at], at + 1


def shape(elements: int, strains: int, n: int) -> tuple[int, int]:
    """Rows of RATTLE and columns, of a rod with a state of n numbers."""
    N = elements * strains
    return OWN_ROWS + RATTLE_ROWS, max(12 * N, N * (6 * strains - 2), n, 8)


@kernel
def strains(t: Any, y: Any, parameters: Any, structure: Any, G: Any, gap: Any) -> None:
    """G of every strain that is kept, twelve numbers each, and c."""
    m, names = kept(structure)
    cayley, zero = structure[1], 0.0 * ld(y, 0)
    b = node_pose(t, y, parameters, structure, 0)
    for k in range(structure[0]):
        a, b = b, node_pose(t, y, parameters, structure, k + 1)
        at = element_numbers(structure, k)
        f = se3.compose(se3.inverse(a), b)
        X = element.coordinates(f, cayley)
        for r in range(m):
            c = structure[names + r]
            on_a, on_b = element.pulls(f, X, unit_stress(zero, c), cayley)
            first = 12 * (k * m + r)
            for i in range(6):
                st(G, first + i, on_a[i])
                st(G, first + 6 + i, on_b[i])
            x = X[0] if c == 0 else X[1] if c == 1 else X[2] if c == 2 else X[3]
            st(gap, k * m + r, x - parameters[at] * parameters[at + 7 + c])


@kernel
def fill(left: Any, right: Any, parameters: Any, structure: Any, a: Any) -> None:
    """The band of left M⁻¹ rightᵀ."""
    m, _ = kept(structure)
    n, w = structure[0], 2 * m - 1
    zero = 0.0 * ld(left, 0)
    for i in range(n * m * (3 * w + 1)):
        st(a, i, zero)
    for k in range(n):
        for r in range(m):
            row = k * m + r
            on_a, on_b = six(left, 12 * row), six(left, 12 * row + 6)
            for s in range(m):
                own = 12 * (k * m + s)
                x = yielding(parameters, structure, k, on_a, six(right, own))
                x = x + yielding(parameters, structure, k + 1, on_b, six(right, own + 6))
                st(a, row * 3 * w + k * m + s + w, x)
                if k > 0:
                    x = yielding(parameters, structure, k, on_a, six(right, own - 12 * m + 6))
                    st(a, row * 3 * w + (k - 1) * m + s + w, x)
                if k < n - 1:
                    x = yielding(parameters, structure, k + 1, on_b, six(right, own + 12 * m))
                    st(a, row * 3 * w + (k + 1) * m + s + w, x)


@kernel
def solve(a: Any, structure: Any, pivots: Any, x: Any, scratch: Any) -> None:
    """x <- a⁻¹ x, with the factors of `decompose_band`."""
    m, _ = kept(structure)
    solve_band(a, structure[0] * m, 2 * m - 1, 1, pivots, x, scratch)


@kernel
def pull(out: Any, first: Any, structure: Any, G: Any, stresses: Any) -> None:
    """out, from `first` on, <- out + Σ λ G."""
    m, _ = kept(structure)
    for row in range(structure[0] * m):
        k, x = row // m, ld(stresses, row)
        push(out, structure, k, first, x, six(G, 12 * row))
        push(out, structure, k + 1, first, x, six(G, 12 * row + 6))


@kernel
def closing(v: Any, parameters: Any, structure: Any, G: Any, out: Any) -> None:
    """out <- G M⁻¹ v: minus c' of momenta v, minus what forces v give to c''."""
    m, _ = kept(structure)
    for row in range(structure[0] * m):
        k = row // m
        x = power(structure, k, six(G, 12 * row), v, parameters, 1)
        st(out, row, x + power(structure, k + 1, six(G, 12 * row + 6), v, parameters, 1))


@entry(*FIELD_SIGNATURES)
def rigid_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, ω; l × ω + f, k × ω + τ) of every node, with the stresses that keep the strains."""
    m, names = kept(structure)
    _, first = sizes(structure)
    cayley, zero = structure[1], 0.0 * ld(y, 0)
    G, a, pivots, x, scratch = work[0], work[1], work[2], work[3], work[4]
    motion(t, y, parameters, structure, out)
    strains(t, y, parameters, structure, G, x)
    closing(out[first:], parameters, structure, G, x)
    for k in range(structure[0]):
        at_a, at_b = node_pose(t, y, parameters, structure, k), node_pose(t, y, parameters, structure, k + 1)
        X = element.coordinates(se3.compose(se3.inverse(at_a), at_b), cayley)
        v_a, v_b = velocity_of(out, structure, k), velocity_of(out, structure, k + 1)
        change = element.rate(X, v_a, v_b, cayley)
        for r in range(m):
            on_a, on_b = element.change_of_pulls(X, unit_stress(zero, structure[names + r]), change, cayley)
            row = k * m + r
            z = power(structure, k, on_a, out, parameters, 0) + power(structure, k + 1, on_b, out, parameters, 0)
            st(x, row, -(ld(x, row) + z))
    fill(G, G, parameters, structure, a)
    decompose_band(a, structure[0] * m, 2 * m - 1, pivots)
    solve(a, structure, pivots, x, scratch)
    pull(out, first, structure, G, x)


@entry(*FIELD_SIGNATURES)
def rigid_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What is watched of every rod, then max |c| and max |c'|."""
    m, _ = kept(structure)
    places, _ = sizes(structure)
    G, x = work[0], work[3]
    observed(t, y, parameters, structure, out)
    strains(t, y, parameters, structure, G, x)
    gap, rate = 0.0 * ld(y, 0), 0.0 * ld(y, 0)
    for k in range(structure[0] * m):
        gap = maximum(gap, absolute(ld(x, k)))
    closing(y[places:], parameters, structure, G, x)
    for k in range(structure[0] * m):
        rate = maximum(rate, absolute(ld(x, k)))
    st(out, 9, gap)
    st(out, 10, rate)


@kernel
def _forces(t: Any, y: Any, parameters: Any, structure: Any, out: Any) -> None:
    """The wrenches of all elements and loads; weight is part of the free motion."""
    _clear(out, structure, y)
    for k in range(structure[0]):
        a, b = node_pose(t, y, parameters, structure, k), node_pose(t, y, parameters, structure, k + 1)
        on_a, on_b = element_wrenches(a, b, parameters, structure, k)
        push(out, structure, k, 0, 1.0, on_a)
        push(out, structure, k + 1, 0, 1.0, on_b)
    for k in range(structure[2]):
        push(out, structure, structure[load_place(structure, k)], 0, 1.0,
             load_at_node(t, y, parameters, structure, k))  # fmt: skip


@helper
def _clear(out: Any, structure: Any, y: Any) -> None:
    for i in range(sizes(structure)[1]):
        st(out, i, 0.0 * ld(y, 0))


@helper
def _kick(w: Any, y: Any, low: Any, structure: Any, impulses: Any, compensation: Any) -> None:
    places, n = sizes(structure)
    for i in range(n):
        increase(y, low, places + i, w * ld(impulses, i), compensation)


@kernel
def _turn_on(before: Any, after: Any, structure: Any, G: Any, out: Any) -> None:
    """Wrenches G on the nodes as they were, in the axes of the nodes as they are."""
    m, _ = kept(structure)
    for row in range(structure[0] * m):
        for side in range(2):
            i, at = row // m + side, 12 * row + 6 * side
            u = six(G, at)
            if kind_of(structure, i) != CLAMPED:
                q = state_place(structure, i) + (3 if kind_of(structure, i) == FREE else 0)
                r0 = (ld(before, q), ld(before, q + 1), ld(before, q + 2), ld(before, q + 3))
                r1 = (ld(after, q), ld(after, q + 1), ld(after, q + 2), ld(after, q + 3))
                back = rotations.compose(rotations.inverse(r1), r0)
                u = rotations.act(back, u[:3]) + rotations.act(back, u[3:])
            for k in range(6):
                st(out, at + k, u[k])


@kernel
def _move(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, work: Any, counters: Any, compensation: Any
) -> int:  # fmt: skip
    """The free motion from where y is, with stresses λ that end it where c = 0."""
    m, _ = kept(structure)
    places, n_v = sizes(structure)
    count, zero = structure[0] * m, 0.0 * ld(y, 0)
    n = places + n_v
    for i in range(n):
        st(work[FROM], i, ld(y, i))
        st(work[FROM_LOW], i, ld(low, i))
    for row in range(count):
        st(work[STRESS], row, zero)
    going, gap, last, size = zero + 1.0, zero, zero, zero
    for _ in range(LIMIT):
        for i in range(n):
            st(y, i, ld(work[FROM], i))
            st(low, i, ld(work[FROM_LOW], i))
        _clear(work[IMPULSE], structure, y)
        pull(work[IMPULSE], 0, structure, work[AT_START], work[STRESS])
        _kick(0.5 * h, y, low, structure, work[IMPULSE], compensation)
        for i in range(structure[0] + 1):
            if kind_of(structure, i) != CLAMPED:
                drift(h, i, places, y, low, parameters, structure, compensation)
        strains(t + h, y, parameters, structure, work[AT_END], work[DEFECT])
        last, gap, size = gap, zero, zero + 0.0
        for row in range(count):
            gap = maximum(gap, absolute(ld(work[DEFECT], row)))
        for i in range(structure[0] + 1):
            x = node_pose(t + h, y, parameters, structure, i)
            size = maximum(size, maximum(absolute(x[0]), maximum(absolute(x[1]), absolute(x[2]))))
        counters[ITERATIONS] += 1
        if any_(gap != gap):
            return NON_FINITE
        stalls = (gap >= 0.5 * last) & (last > 0.0) & (gap <= NEAR * size)
        going = select((gap <= FLOOR * size) | stalls, zero, going)
        if not any_(going > 0.0):
            return OK
        _turn_on(work[FROM], y, structure, work[AT_START], work[TURNED])
        fill(work[AT_END], work[TURNED], parameters, structure, work[BAND])
        decompose_band(work[BAND], count, 2 * m - 1, work[PIVOTS])
        solve(work[BAND], structure, work[PIVOTS], work[DEFECT], work[SCRATCH])
        for row in range(count):
            x = ld(work[STRESS], row)
            st(work[STRESS], row, select(going > 0.0, x + ld(work[DEFECT], row) / (0.5 * h * h), x))
    st(work[ERROR], 0, gap)
    return NOT_CONVERGED


@kernel
def _close(y: Any, low: Any, parameters: Any, structure: Any, work: Any, compensation: Any) -> None:
    """Momenta with c' = 0, by impulses of the stresses."""
    m, _ = kept(structure)
    places, _ = sizes(structure)
    fill(work[AT_END], work[AT_END], parameters, structure, work[BAND])
    decompose_band(work[BAND], structure[0] * m, 2 * m - 1, work[PIVOTS])
    for _ in range(2):
        closing(y[places:], parameters, structure, work[AT_END], work[DEFECT])
        solve(work[BAND], structure, work[PIVOTS], work[DEFECT], work[SCRATCH])
        _clear(work[IMPULSE], structure, y)
        pull(work[IMPULSE], 0, structure, work[AT_END], work[DEFECT])
        _kick(-1.0, y, low, structure, work[IMPULSE], compensation)


@kernel
def single(
    t: Any, h: Any, y: Any, low: Any, table: Any, parameters: Any, structure: Any, work: Any, counters: Any,
    compensation: Any,
) -> int:  # fmt: skip
    """One step of RATTLE."""
    _forces(t, y, parameters, structure, work[FORCES])
    strains(t, y, parameters, structure, work[AT_START], work[DEFECT])
    _kick(0.5 * h, y, low, structure, work[FORCES], compensation)
    status = _move(t, h, y, low, parameters, structure, work, counters, compensation)
    if status != OK:
        return status
    _forces(t + h, y, parameters, structure, work[FORCES])
    _kick(0.5 * h, y, low, structure, work[FORCES], compensation)
    _close(y, low, parameters, structure, work, compensation)
    counters[EVALUATIONS] += 2
    if compensation:
        renormalise(table, y, low)
    return OK


rattle_step = composed(single)


def explain(errors: NDArray[np.float64]) -> str:
    """What a step that failed says."""
    if not errors[0] > 0.0:
        return ""
    return (
        f"the strains that the rod keeps are {errors[0]:.2g} (m, rad) from zero: the step turns sections too far for "
        "the stresses to be found, or supports hold the rod where the stresses are not determined"
    )
