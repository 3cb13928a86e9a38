"""Asynchronous variational steps of rods: every element gives its wrenches with a step of its own, in powers of two.

    S = Σ ∫ T(node) dt − Σ h_K V_K(g_a, g_b at the times j h_K)

Stationary with the exact free motion of the sections between the kicks of their elements: a rigid body that turns
freely about its centre of mass, which falls; no matter how often it is interrupted.  At every instant i H/2ᵈ the nodes
move whose step ends there, all together, then the elements kick whose step ends there, each with its own (half at both
ends).  Loads kick their nodes with the steps of these; supports are where they are at the instant.  Both wrenches of an
element balance, so that momenta are exact; the sequence is a palindrome and kicks at one instant commute, so that the
step is symmetric, symplectic, of order 2, and composes.

Damping is six dashpots τ C/l per element, along the components of X: each gives the exact impulse of itself alone.
They do not commute: half before and half after a kick, in opposite orders.  Drag along with the free motion is exact:
momenta fall by exp(−r t) while the section moves on as without it over (1 − exp(−r t))/r.
Sources: Lew, Marsden, Ortiz and West 2004; Sonneville, Cardona and Brüls 2014.

coefficients
    weights of the composition.
own rows
    the wrenches at the end of a step, each times its part of the largest.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase, increase3, renormalise
from integrators.arithmetic.free_body import fly
from integrators.layout import EVALUATIONS, HISTORY, OWN_ROWS
from integrators.problem.own_steps import composed
from integrators.status import OK
from liegroup.compile import helper, kernel, ld, rare, select, st
from liegroup.formulas import se3
from liegroup.formulas import so3 as rotations
from liegroup.formulas.vectors import dot6, scale
from mechanics.elastic.dampers import decay, phi
from mechanics.elastic.rods import element
from mechanics.elastic.rods.field import (
    element_wrenches,
    load_at_node,
    node_pose,
    numbers3,
    push,
    sizes,
    twist_of,
    unit_stress,
    yielding,
)
from mechanics.elastic.rods.layout import (
    CLAMPED,
    FREE,
    element_numbers,
    has_damping,
    is_damped,
    kind_of,
    load_place,
    node_numbers,
    state_place,
    stroke_place,
    velocity_place,
)

FORCES, LEVEL_ROWS = OWN_ROWS, 1


@helper
def tables(structure: Any) -> Any:
    """Where depth; steps of the nodes; ends of the elements; of the nodes; elements; nodes begin."""
    at, n = stroke_place(structure, structure[3]), structure[0]
    ends = at + 2 + n
    node_ends = ends + structure[at] + 1
    order = node_ends + structure[at] + 1
    return at, at + 1, ends, node_ends, order, order + n


@helper
def drift(tau: Any, i: Any, places: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any) -> None:
    """The exact motion of the section at node i under its weight alone over the time tau."""
    q, p, own = state_place(structure, i), places + velocity_place(structure, i), node_numbers(i)
    fly(
        tau, y, low, q, p, kind_of(structure, i) == FREE, parameters[own], parameters[own + 1],
        numbers3(parameters, own + 5), numbers3(parameters, 0), compensation,
    )  # fmt: skip


@rare(is_damped)
def drift_with_drag(
    tau: float, level: int, places: int, y: Any, low: Any, parameters: Any, structure: Any, compensation: int
) -> None:  # fmt: skip
    """The same of all nodes of one step, with a drag −r p."""
    _, _, _, node_ends, _, nodes = tables(structure)
    for k in range(structure[node_ends + level - 1] if level else 0, structure[node_ends + level]):
        i = structure[nodes + k]
        q, p, own = state_place(structure, i), places + velocity_place(structure, i), node_numbers(i)
        free, z, g = kind_of(structure, i) == FREE, -parameters[own + 15] * tau, numbers3(parameters, 0)
        first, second = phi(z)
        later = tau * first
        fly(
            later, y, low, q, p, free, parameters[own], parameters[own + 1], numbers3(parameters, own + 5),
            (0.0, 0.0, 0.0), compensation,
        )  # fmt: skip
        for c in range(p, p + (6 if free else 3)):
            increase(y, low, c, z * first * ld(y, c), compensation)
        if free:
            attitude = ld(y, q + 3), ld(y, q + 4), ld(y, q + 5), ld(y, q + 6)
            increase3(y, low, q, scale(tau * tau * second, g), compensation)
            increase3(y, low, p, rotations.act_inverse(attitude, scale(later * parameters[own], g)), compensation)


@helper
def strike(
    y: Any, low: Any, places: Any, structure: Any, i: Any, x: Any, wrench: Any, compensation: Any
) -> None:  # fmt: skip
    """x times an impulsive wrench on node i."""
    kind, p = kind_of(structure, i), places + velocity_place(structure, i)
    if kind == FREE:
        increase3(y, low, p, scale(x, wrench[:3]), compensation)
        p += 3
    if kind != CLAMPED:
        increase3(y, low, p, scale(x, wrench[3:]), compensation)


@kernel
def damp(
    t: Any, w: Any, e: Any, back: Any, places: Any, y: Any, low: Any, parameters: Any, structure: Any,
    compensation: Any,
) -> None:  # fmt: skip
    """The impulses of the dashpots of element e over the time w, in order or in the opposite one.

    X' = −G ξ,  ξ = M⁻¹ p, with the wrenches G of a unit stress: alone X' decays with the rate (τ C/l) G M⁻¹ Gᵀ.
    """
    at, cayley, zero = element_numbers(structure, e), structure[1], 0.0 * ld(y, 0)
    a, b = node_pose(t, y, parameters, structure, e), node_pose(t, y, parameters, structure, e + 1)
    f = se3.compose(se3.inverse(a), b)
    X = element.coordinates(f, cayley)
    for k in range(6):
        c = 5 - k if back else k
        on_a, on_b = element.pulls(f, X, unit_stress(zero, c), cayley)
        v, u = twist_of(t, y, a, parameters, structure, e), twist_of(t, y, b, parameters, structure, e + 1)
        speed = -(dot6(on_a, v) + dot6(on_b, u))
        inverse = yielding(parameters, structure, e, on_a, on_a) + yielding(parameters, structure, e + 1, on_b, on_b)
        gives = inverse > 0.0
        safe = select(gives, inverse, zero + 1.0)
        softening = decay(-(parameters[at + 13] * ld(parameters, at + 1 + c) / parameters[at] * w * safe)) / safe
        x = select(gives, -(softening * speed), zero)
        strike(y, low, places, structure, e, x, on_a, compensation)
        strike(y, low, places, structure, e + 1, x, on_b, compensation)


@rare(is_damped)
def damp_level(
    t: float, w: float, level: int, back: int, y: Any, low: Any, parameters: Any, structure: Any, compensation: int
) -> None:  # fmt: skip
    """The impulses of all elements of one step, in order or in the opposite one."""
    _, _, ends, _, order, _ = tables(structure)
    places, _ = sizes(structure)
    first, last = (structure[ends + level - 1] if level else 0), structure[ends + level]
    for k in range(last - first):
        e = structure[order + (last - 1 - k if back else first + k)]
        if parameters[element_numbers(structure, e) + 13] != 0.0:
            damp(t, w, e, back, places, y, low, parameters, structure, compensation)


@kernel
def collect(top: Any, t: Any, y: Any, parameters: Any, structure: Any, force: Any) -> None:
    """The wrenches of all elements and loads with a step of at most 2^top finest ones, each times its step as a part of
    the largest.
    """
    at, node_levels, ends, node_ends, order, nodes = tables(structure)
    finest = 1.0 / (1 << structure[at])
    for k in range(structure[node_ends + top]):
        i = structure[nodes + k]
        v = velocity_place(structure, i)
        for c in range(6 if kind_of(structure, i) == FREE else 3):
            st(force, v + c, 0.0 * ld(y, 0))
    part = finest
    for level in range(top + 1):
        for k in range(structure[ends + level - 1] if level else 0, structure[ends + level]):
            e = structure[order + k]
            a, b = node_pose(t, y, parameters, structure, e), node_pose(t, y, parameters, structure, e + 1)
            on_a, on_b = element_wrenches(a, b, parameters, structure, e)
            push(force, structure, e, 0, part, on_a)
            push(force, structure, e + 1, 0, part, on_b)
        part = part + part
    for k in range(structure[2]):
        i = structure[load_place(structure, k)]
        level = structure[node_levels + i]
        if level <= top and kind_of(structure, i) != CLAMPED:
            push(force, structure, i, 0, finest * (1 << level), load_at_node(t, y, parameters, structure, k))


@helper
def kick(
    w: Any, top: Any, places: Any, y: Any, low: Any, structure: Any, force: Any, compensation: Any
) -> None:  # fmt: skip
    """p <- p + w wrenches, of the nodes that take part."""
    _, _, _, node_ends, _, nodes = tables(structure)
    for k in range(structure[node_ends + top]):
        i = structure[nodes + k]
        v = velocity_place(structure, i)
        for c in range(6 if kind_of(structure, i) == FREE else 3):
            increase(y, low, places + v + c, w * ld(force, v + c), compensation)


@kernel
def macro_step(
    t: Any, h: Any, y: Any, low: Any, table: Any, parameters: Any, structure: Any, work: Any, counters: Any,
    compensation: Any,
) -> int:  # fmt: skip
    """One step of size h, the largest of an element."""
    at, _, _, node_ends, _, nodes = tables(structure)
    places, _ = sizes(structure)
    depth, force, damped = structure[at], work[FORCES], has_damping(structure)
    ticks = 1 << depth
    finest = h / ticks
    if counters[HISTORY] == 0:
        collect(depth, t, y, parameters, structure, force)
    if damped:
        for k in range(depth + 1):
            level = depth - k
            damp_level(t, 0.5 * finest * (1 << level), level, 1, y, low, parameters, structure, compensation)
    kick(0.5 * h, depth, places, y, low, structure, force, compensation)
    for tick in range(1, ticks + 1):
        top, now = 0, t + finest * tick
        while top < depth and tick & (1 << top) == 0:
            top += 1
        for level in range(top + 1):
            tau = finest * (1 << level)
            if damped:
                drift_with_drag(tau, level, places, y, low, parameters, structure, compensation)
                continue
            for k in range(structure[node_ends + level - 1] if level else 0, structure[node_ends + level]):
                drift(tau, structure[nodes + k], places, y, low, parameters, structure, compensation)
        collect(top, now, y, parameters, structure, force)
        counters[EVALUATIONS] += 1
        last = tick == ticks
        kick(0.5 * h if last or damped else h, top, places, y, low, structure, force, compensation)
        if damped:
            for level in range(top + 1):
                damp_level(now, 0.5 * finest * (1 << level), level, 0, y, low, parameters, structure, compensation)
        if damped and not last:
            for k in range(top + 1):
                level = top - k
                damp_level(now, 0.5 * finest * (1 << level), level, 1, y, low, parameters, structure, compensation)
            kick(0.5 * h, top, places, y, low, structure, force, compensation)
    if compensation:
        renormalise(table, y, low)
    counters[HISTORY] = 1
    return OK


level_step = composed(macro_step)
