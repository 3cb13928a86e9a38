"""The equations of a variational partitioned Runge–Kutta step on T*G, solved by iteration.

`integrators.steppers.lie_variational` says what the method is, and names its coefficients, options and own rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from integrators.arithmetic.compensated import absorb
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, ITERATIONS, OWN_OPTIONS, OWN_ROWS, TAU
from integrators.problem.sparsity import per
from integrators.steppers.common import advance_state
from integrators.steppers.iteration import FLOOR, extrapolate, goes_on, move, nought, relative
from liegroup.compile import absolute, any_, helper, kernel, ld, magnitude, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import (
    EXP,
    bracket_transpose,
    coadjoint,
    coadjoint_difference,
    dtau_inverse_left,
    dtau_inverse_left_gradient,
    dtau_inverse_left_transpose,
    dtau_left_transpose,
    dtau_right_transpose,
    retract,
)

LOOPS = "short"

STAGES, LIMIT, PAST, OWN_PARTNER, BLOCKS = range(OWN_OPTIONS, OWN_OPTIONS + 5)


@helper
def own(s: Any) -> Any:
    """Rows: momenta P, newly evaluated stage, x, Y, n₀, n₁, P̄, stage state, scratch, where the past begins."""
    first = OWN_ROWS + 4 * s
    return (
        OWN_ROWS + 3 * s,
        first,
        first + 3,
        first + 4,
        first + 5,
        first + 6,
        first + 7,
        first + 8,
        first + 9,
        first + 10,
    )


@helper
def stage_sum(h: Any, coefficients: Any, start: Any, work: Any, first: Any, s: Any, m: Any, out: Any) -> None:
    """out = h Σⱼ coefficients[start + j] work[first + 3 j]."""
    for k in range(m):
        total = coefficients[start] * ld(work[first], k)
        for j in range(1, s):
            total = total + coefficients[start + j] * ld(work[first + 3 * j], k)
        st(out, k, h * total)


@kernel
def centre(h: Any, y: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any, work: Any) -> None:
    """Y, n₀, n₁ and P̄ from (K, f) of the stages."""
    _, _, _, half, n0, n1, mean, _, scratch, _ = own(s)
    b, g = 2 * s * s, y.shape[0] - m
    Y, n_0, n_1, P, z = work[half][:m], work[n0][:m], work[n1][:m], work[mean][:m], work[scratch][:m]
    stage_sum(0.5 * h, coefficients, b, work, OWN_ROWS, s, m, Y)
    coadjoint(group, tau, Y, y[g:], n_0)
    impulse(h, group, tau, m, coefficients, s, work, P)
    for k in range(m):
        st(n_1, k, ld(n_0, k) + ld(P, k))
    mean_momentum(group, tau, Y, n_0, n_1, z, P)


@helper
def mean_momentum(group: Any, tau: Any, Y: Any, n0: Any, n1: Any, scratch: Any, out: Any) -> None:
    """P̄ = ½ (dτ_right(Y)ᵀ n₁ + dτ_left(Y)ᵀ n₀)."""
    dtau_right_transpose(group, tau, Y, n1, out)
    dtau_left_transpose(group, tau, Y, n0, scratch)
    for k in range(out.shape[0]):
        st(out, k, 0.5 * (ld(out, k) + ld(scratch, k)))


@kernel
def impulse(h: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any, work: Any, out: Any) -> None:
    """h F: the forces of all stages carried to the axes of the middle."""
    _, _, x, _, _, _, _, _, scratch, _ = own(s)
    X, z = work[x][:m], work[scratch][:m]
    for k in range(m):
        st(out, k, 0.0)
    for i in range(s):
        stage_sum(-h, coefficients, i * s, work, OWN_ROWS, s, m, X)
        coadjoint(group, tau, X, work[OWN_ROWS + 3 * i + 2][:m], z)
        for k in range(m):
            st(out, k, ld(out, k) + (h * coefficients[2 * s * s + i]) * ld(z, k))


@helper
def force(group: Any, z: Any, mu: Any, out: Any) -> None:
    """f = ṗ − ad_ξᵀ μ of the field z = (ξ, ṗ) at the momentum μ."""
    m = out.shape[0]
    bracket_transpose(group, z, mu, out)
    for k in range(m):
        st(out, k, ld(z, m + k) - ld(out, k))


@kernel
def stage(
    field: Any, t: Any, h: Any, y: Any, i: Any, group: Any, tau: Any, m: Any, coefficients: Any, s: Any,
    parameters: Any, structure: Any,
    field_work: Any, work: Any,
) -> None:  # fmt: skip
    """(K, N, f) that the equations give for stage i, into the rows of the newly evaluated stage."""
    momenta, new, x, half, _, _, mean, state, scratch, _ = own(s)
    X, Y, P, z, u = (
        work[x][:m],
        work[half][:m],
        work[momenta + i][:m],
        work[scratch][: 2 * m],
        work[state][: y.shape[0]],
    )
    K, N, f = work[new][:m], work[new + 1][:m], work[new + 2][:m]
    g = y.shape[0] - m
    stage_sum(h, coefficients, i * s, work, OWN_ROWS, s, m, X)
    stage_sum(h, coefficients, s * s + i * s, work, OWN_ROWS + 1, s, m, P)
    for k in range(m):
        st(P, k, ld(P, k) + ld(work[mean], k))
    retract(group, tau, y, Y, u)
    retract(group, tau, u, X, u)
    dtau_inverse_left_transpose(group, tau, X, P, u[g:])
    field(t + coefficients[2 * s * s + s + i] * h, u, parameters, structure, field_work, z)
    force(group, z, u[g:], f)
    dtau_inverse_left(group, tau, X, z, K)
    dtau_inverse_left_gradient(group, tau, X, z, P, z[m:])
    dtau_left_transpose(group, tau, X, f, N)
    for k in range(m):
        st(N, k, ld(N, k) - ld(z, m + k))


@kernel
def iterate(
    field: Any, t: Any, h: Any, y: Any, group: Any, m: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any, going: Any,
) -> Any:  # fmt: skip
    """Iterate the stages to rounding where `going`; each lane stops by itself.  Returns 1 where they are not solved,
    and the rounds that were taken.
    """
    s, tau, step = options[STAGES], options[TAU], absolute(h)
    new, zero, often = own(s)[1], ld(y, 0) * 0.0, options[BLOCKS + 2 * s :][per(2 * m)].view(np.float64)
    best, speed, force, lost, rounds = zero + 1.0, zero, zero, zero, zero
    for k in range(m):
        force = maximum(force, often[m + k] * magnitude(ld(y, y.shape[0] - m + k)))
    for _ in range(options[LIMIT]):
        centre(h, y, group, tau, m, coefficients, s, work)
        moved, pushed, check = zero, zero, zero
        for i in range(s):
            stage(field, t, h, y, i, group, tau, m, coefficients, s, parameters, structure, field_work, work)
            change, size = move(work[OWN_ROWS + 3 * i][:m], work[new][:m], 0, m, often, going)
            moved, speed = maximum(moved, change), maximum(speed, size)
            for row in range(1, 3):
                change, size = move(work[OWN_ROWS + 3 * i + row][:m], work[new + row][:m], 0, m, often[m:], going)
                pushed, force = maximum(pushed, step * change), maximum(force, step * size)
            check = check + (nought(work[new], m) + nought(work[new + 1], m))
        counters[EVALUATIONS] += s
        counters[ITERATIONS] += 1
        residual = maximum(relative(moved, speed), relative(pushed, force)) + check + 0.0 * force
        rounds = rounds + going
        lost = select((going > 0.0) & (residual != residual), zero + 1.0, lost)
        going, best = goes_on(select(lost > 0.0, zero, going), residual, best), residual
        if not any_(going > 0.0):
            break
    st(work[ERROR], 0, best)
    return select((going > 0.0) & (best > FLOOR), zero + 1.0, lost), rounds


@kernel
def start(
    field: Any, t: Any, y: Any, group: Any, m: Any, options: Any, parameters: Any, structure: Any, field_work: Any,
    work: Any, counters: Any, known: Any, going: Any,
) -> None:  # fmt: skip
    """First guess of (K, N, f), where `going`: extrapolated by backward differences over `known` past steps, else from
    the field at the start.
    """
    s, past = options[STAGES], options[PAST]
    new, pasts, z = own(s)[1], own(s)[9], work[own(s)[8]][: 2 * m]
    if known == 0:
        field(t, y, parameters, structure, field_work, z)
        counters[EVALUATIONS] += 1
        f = work[new][:m]
        bracket_transpose(group, z, y[y.shape[0] - m :], f)
        for k in range(m):
            x, v = ld(z, m + k) - ld(f, k), ld(z, k)
            for i in range(s):
                for row in range(3):
                    place = work[OWN_ROWS + 3 * i + row]
                    st(place, k, select(going > 0.0, v if row == 0 else x, ld(place, k)))
        return
    for i in range(3 * s):
        extrapolate(work, new, pasts + i * past, known, m)
        for k in range(m):
            st(work[OWN_ROWS + i], k, select(going > 0.0, ld(work[new], k), ld(work[OWN_ROWS + i], k)))


@kernel
def finish(
    h: Any, y: Any, low: Any, group: Any, m: Any, coefficients: Any, options: Any, work: Any, counters: Any
) -> None:
    """y <- the state at the end of the step, by increments."""
    s, tau = options[STAGES], options[TAU]
    _, _, _, half, _, n1, mean, state, _, _ = own(s)
    Y, n_1, F, u = work[half][:m], work[n1][:m], work[mean][:m], work[state][: y.shape[0]]
    stage_sum(0.5 * h, coefficients, 2 * s * s, work, OWN_ROWS, s, m, Y)
    impulse(h, group, tau, m, coefficients, s, work, F)
    move_by(y, low, group, tau, Y, F, n_1, u, options[COMPENSATION], counters)


@kernel
def move_by(
    y: Any, low: Any, group: Any, tau: Any, Y: Any, F: Any, n1: Any, scratch: Any, compensation: Any, counters: Any
) -> None:
    """g <- g τ(Y) τ(Y), p <- Ad_{τ(Y)}ᵀ (Ad_{τ(Y)}ᵀ p + h F), by increments; `F` is h F, and is lost, `scratch` as long
    as y.
    """
    m = Y.shape[0]
    g = y.shape[0] - m
    change = scratch[g:]
    coadjoint_difference(group, tau, Y, y[g:], change)
    for k in range(m):
        st(F, k, ld(F, k) + ld(change, k))
        st(n1, k, ld(y, g + k) + ld(F, k))
    coadjoint_difference(group, tau, Y, n1, change)
    for k in range(m):
        st(change, k, ld(change, k) + ld(F, k))
    absorb(y, low, scratch, g, g + m, compensation)
    if tau == EXP:
        for k in range(m):
            st(Y, k, 2.0 * ld(Y, k))
    else:
        advance_state(group, tau, y, low, Y, scratch, compensation, counters)
    advance_state(group, tau, y, low, Y, scratch, compensation, counters)
