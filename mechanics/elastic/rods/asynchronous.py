"""Asynchronous variational steps of rods: every element gives its wrenches with a step of its own, in powers of two.

    S = Σ ∫ T(node) dt − Σ h_K V_K(g_a, g_b at the times j h_K)

Stationary with the exact free motion of the sections between the kicks of their elements: a rigid body that turns
freely about its centre of mass, which falls; no matter how often it is interrupted.  At every instant i H/2ᵈ the nodes
move whose step ends there, all together, then the elements kick whose step ends there, each with its own (half at both
ends).  Loads kick their nodes with the steps of these; supports are where they are at the instant.  Both wrenches of an
element balance, so that momenta are exact; the sequence is a palindrome and kicks at one instant commute, so that the
step is symmetric, symplectic, of order 2, and composes.
Sources: Lew, Marsden, Ortiz and West 2004; Sonneville, Cardona and Brüls 2014.

coefficients
    weights of the composition.
own rows
    the wrenches at the end of a step, each times its part of the largest.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase, renormalise
from integrators.arithmetic.free_body import fly, spin
from integrators.layout import EVALUATIONS, HISTORY, OWN_ROWS
from integrators.problem.own_steps import composed
from integrators.status import OK
from liegroup.compile import helper, kernel, ld, st
from mechanics.elastic.rods.field import (
    element_wrenches,
    load_at_node,
    node_pose,
    numbers3,
    push,
    sizes,
)
from mechanics.elastic.rods.layout import (
    CLAMPED,
    FREE,
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
    inverse = numbers3(parameters, own + 5)
    if kind_of(structure, i) == FREE:
        fly(
            tau, y, low, q, p, parameters[own], parameters[own + 1], inverse, numbers3(parameters, 0), compensation
        )  # fmt: skip
    else:
        spin(tau, y, low, q, p, -1, inverse, compensation)


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
    depth, force = structure[at], work[FORCES]
    ticks = 1 << depth
    finest = h / ticks
    if counters[HISTORY] == 0:
        collect(depth, t, y, parameters, structure, force)
    kick(0.5 * h, depth, places, y, low, structure, force, compensation)
    for tick in range(1, ticks + 1):
        top = 0
        while top < depth and tick & (1 << top) == 0:
            top += 1
        for level in range(top + 1):
            tau = finest * (1 << level)
            for k in range(structure[node_ends + level - 1] if level else 0, structure[node_ends + level]):
                drift(tau, structure[nodes + k], places, y, low, parameters, structure, compensation)
        collect(top, t + finest * tick, y, parameters, structure, force)
        counters[EVALUATIONS] += 1
        kick(0.5 * h if tick == ticks else h, top, places, y, low, structure, force, compensation)
    if compensation:
        renormalise(table, y, low)
    counters[HISTORY] = 1
    return OK


level_step = composed(macro_step)
