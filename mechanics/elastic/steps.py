"""Asynchronous variational integrators of networks: every element gives its kicks with a step of its own.

Stationary action with the exact free motion of the nodes between kicks, and the trapezoidal rule for the potential of
every element with its own step h_K: at times j h_K the element changes the momenta of its nodes by −h_K ∂V/∂x (half of
it at both ends).  Momenta are exact, the step is symplectic.

Level form (`level_step`)
    h_K = H/2ᴸ.  At every instant i H/2ᵈ the nodes whose step ends there drift, all together, then the elements whose
    step ends there kick: both are the first in their lists (`mechanics.elastic.layout`), no queue is needed.  The
    sequence is a palindrome and kicks at one instant commute, so that the step is symmetric, of order 2, and composes.
Free form (`free_step`)
    h_K is any part of H, the next element is found by a heap.  For comparison: it is neither symmetric nor composable.

Gravity and drag along with the free motion are exact; rigid bodies turn freely and fall meanwhile.  Supports that move
are where they are at the instant of a kick, and count its work.  Dampers give the exact impulse of the damper alone;
they do not commute with kicks and with one another: half before and half after, in opposite orders.
Sources: Lew, Marsden, Ortiz and West 2003, 2004.

coefficients
    weights of the composition.
own rows
    the forces at the end of a level step, each times its part of H; clocks, times and elements of the heap.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase, renormalise
from integrators.layout import COMPENSATION, EVALUATIONS, HISTORY, LAST_KNOWN, OWN_ROWS
from integrators.problem.own_steps import composed
from integrators.signatures import STEP_SIGNATURE
from integrators.status import OK
from liegroup.compile import entry, helper, kernel, ld, st
from liegroup.formulas.vectors import scale
from liegroup.table import load_components
from mechanics.elastic.dampers import impulse, phi, rate
from mechanics.elastic.kernels import add_blocks
from mechanics.elastic.layout import (
    BLOCK,
    BLOCKS_AT,
    BODIES,
    COUNT,
    CS_AT,
    DAMPER_LEVELS_AT,
    DAMPERS,
    DAMPERS_AT,
    DEPTH,
    DRAGGED,
    DRIVEN,
    ELEMENTS,
    FIRST,
    KIND,
    LEVELS_AT,
    MOVING,
    NODES,
    NODES_AT,
    NUMBERS_AT,
    ORDER_AT,
    RATIOS_AT,
    SIZE,
    WIDE,
    inverse_mass,
    inverses_at,
    masses_at,
    rates_at,
    run,
    runs,
)
from mechanics.elastic.owned import (
    fly_body,
    is_owned,
    kick_owners,
    lead,
    momenta_at,
    movers,
    no_forces,
    put_of_step,
    softened,
    strike,
    velocity,
)
from mechanics.elastic.registry import add_forces

FORCES, CLOCKS, TIMES, HEAP, COUNTS = range(OWN_ROWS, OWN_ROWS + 5)
LEVEL_ROWS, FREE_ROWS = 1, 5
_NEAR = 1e-9
"""Parts of a step by which the end of the interval is missed and still met."""
three = load_components(3)


@helper
def drift(
    tau: Any, i: Any, momenta: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any
) -> None:  # fmt: skip
    """The exact motion of a node under gravity and drag alone over the time tau."""
    mass, drag = ld(parameters, masses_at(structure) + i), ld(parameters, rates_at(structure) + i)
    inverse = inverse_mass(parameters, structure, i)
    first, second = phi(-drag * tau) if drag != 0.0 else (1.0, 0.5)
    way, fall = tau * first * inverse, tau * tau * second
    for k in range(3):
        p, g = ld(y, momenta + i + k), ld(parameters, i + k)
        increase(y, low, i + k, way * p + fall * g, compensation)
        if drag != 0.0 or g != 0.0:
            increase(y, low, momenta + i + k, tau * first * (mass * g - drag * p), compensation)


@helper
def fall(
    tau: Any, start: Any, end: Any, momenta: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any
) -> None:  # fmt: skip
    """The same of nodes one after another without drag, component by component."""
    masses, inverses, part = masses_at(structure), inverses_at(structure), 0.5 * tau * tau
    for i in range(start, end):
        way = tau * ld(parameters, inverses + i) * ld(y, momenta + i)
        increase(y, low, i, way + part * ld(parameters, i), compensation)
    if parameters[0] != 0.0 or parameters[1] != 0.0 or parameters[2] != 0.0:
        for i in range(start, end):
            weight = ld(parameters, masses + i) * ld(parameters, i)
            increase(y, low, momenta + i, tau * weight, compensation)


@helper
def damp(t: Any, w: Any, k: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any) -> None:
    """The impulse of damper k over the time w."""
    at = structure[DAMPERS_AT] + 2 * k
    a, b = structure[at], structure[at + 1]
    u, speed = rate(
        three(y, a), three(y, b), velocity(t, y, a, parameters, structure), velocity(t, y, b, parameters, structure)
    )
    c = parameters[structure[CS_AT] + k]
    if structure[BODIES] > 0:
        size = softened(c, w, u, a, b, y, parameters, structure) * speed
    else:
        size = impulse(c, w, inverse_mass(parameters, structure, a) + inverse_mass(parameters, structure, b), speed)
    strike(t, scale(-size, u), a, y, low, parameters, structure, compensation)
    strike(t, scale(size, u), b, y, low, parameters, structure, compensation)


@helper
def damp_level(
    t: Any, w: Any, level: Any, back: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any
) -> None:  # fmt: skip
    """The impulses of the dampers of one step, in order or in the opposite one."""
    ends = structure[DAMPER_LEVELS_AT] + level
    first, last = (structure[ends - 1] if level else 0), structure[ends]
    for k in range(last - first):
        damp(t, w, last - 1 - k if back else first + k, y, low, parameters, structure, compensation)


@helper
def collect_forces(top: Any, y: Any, parameters: Any, structure: Any, force: Any) -> None:
    """The forces of all elements with a step of at most 2^top finest ones, each times its step as a part of H."""
    for r in range(runs(structure, top)):
        first, last = run(structure, r)
        for i in range(first, last):
            st(force, i, 0.0)
    if is_owned(structure):
        no_forces(top, y, structure, force)
    part = 1.0 / (1 << structure[DEPTH])
    for level in range(top + 1):
        ends = structure[LEVELS_AT] + level
        add_blocks(part, structure[ends - 1] if level else 0, structure[ends], y, parameters, structure, force, 0)
        part = part + part


@helper
def kick(
    w: Any, top: Any, t: Any, y: Any, low: Any, parameters: Any, structure: Any, force: Any, compensation: Any
) -> None:  # fmt: skip
    """p <- p + w forces, of the nodes that take part."""
    momenta = momenta_at(structure)
    for r in range(runs(structure, top)):
        first, last = run(structure, r)
        for i in range(first, last):
            increase(y, low, momenta + i, w * ld(force, i), compensation)
    if is_owned(structure):
        kick_owners(w, top, t, y, low, parameters, structure, force, compensation)


@helper
def move(tau: Any, level: Any, y: Any, low: Any, parameters: Any, structure: Any, compensation: Any) -> None:
    """The motion without elements of the nodes and bodies of one step."""
    momenta = momenta_at(structure)
    for r in range(runs(structure, level - 1), runs(structure, level)):
        first, last = run(structure, r)
        if structure[DRAGGED]:
            for i in range(first, last, 3):
                drift(tau, i, momenta, y, low, parameters, structure, compensation)
        else:
            fall(tau, first, last, momenta, y, low, parameters, structure, compensation)
    if structure[BODIES] > 0:
        for k in range(movers(structure, level - 1) if level else 0, movers(structure, level)):
            fly_body(tau, k, y, low, parameters, structure, compensation)


@kernel
def macro_step(
    t: Any, h: Any, y: Any, low: Any, table: Any, parameters: Any, structure: Any, work: Any, counters: Any,
    compensation: Any,
) -> int:  # fmt: skip
    """One step of the level form; h is the largest step of an element."""
    depth, damped, owned = structure[DEPTH], structure[DAMPERS] > 0, is_owned(structure)
    force = work[FORCES]
    finest = h / (1 << depth)
    if counters[HISTORY] == 0:
        if owned:
            put_of_step(t, depth, y, low, parameters, structure, compensation)
        collect_forces(depth, y, parameters, structure, force)
    if damped:
        for k in range(depth + 1):
            level = depth - k
            damp_level(t, 0.5 * finest * (1 << level), level, True, y, low, parameters, structure, compensation)
    kick(0.5 * h, depth, t, y, low, parameters, structure, force, compensation)
    ticks = 1 << depth
    now = t
    for tick in range(1, ticks + 1):
        top = 0
        while top < depth and tick & (1 << top) == 0:
            top += 1
        now = t + finest * tick
        for level in range(top + 1):
            move(finest * (1 << level), level, y, low, parameters, structure, compensation)
        if owned:
            put_of_step(now, top, y, low, parameters, structure, compensation)
        collect_forces(top, y, parameters, structure, force)
        counters[EVALUATIONS] += 1
        if tick == ticks:
            break
        if not damped:
            kick(h, top, now, y, low, parameters, structure, force, compensation)
            continue
        kick(0.5 * h, top, now, y, low, parameters, structure, force, compensation)
        for level in range(top + 1):
            damp_level(now, 0.5 * finest * (1 << level), level, False, y, low, parameters, structure, compensation)
        for k in range(top + 1):
            level = top - k
            damp_level(now, 0.5 * finest * (1 << level), level, True, y, low, parameters, structure, compensation)
        kick(0.5 * h, top, now, y, low, parameters, structure, force, compensation)
    kick(0.5 * h, depth, now, y, low, parameters, structure, force, compensation)
    if damped:
        for level in range(depth + 1):
            damp_level(now, 0.5 * finest * (1 << level), level, False, y, low, parameters, structure, compensation)
    if structure[BODIES] > 0 and compensation:
        renormalise(table, y, low)
    counters[HISTORY] = 1
    return OK


level_step = composed(macro_step)


# --- the free form ----------------------------------------------------------------------------------------------------


@helper
def _before(times: Any, heap: Any, a: Any, b: Any) -> Any:
    """Whether the element at place a of the heap comes before that at b; equal times go by number."""
    e, f = heap[a], heap[b]
    return times[int(e)] < times[int(f)] or (times[int(e)] == times[int(f)] and e < f)


@helper
def _sink(times: Any, heap: Any, count: Any, place: Any) -> None:
    """Bring the element at a place of the heap down to where it belongs."""
    while True:
        child = 2 * place + 1
        if child >= count:
            break
        if child + 1 < count and _before(times, heap, child + 1, child):
            child += 1
        if not _before(times, heap, child, place):
            break
        heap[place], heap[child] = heap[child], heap[place]
        place = child


@kernel
def one_kick(
    t: Any, w: Any, now: Any, e: Any, y: Any, low: Any, parameters: Any, structure: Any, force: Any, clocks: Any,
    compensation: Any,
) -> None:  # fmt: skip
    """Bring the nodes of element e to the present, and give them its kick over the time w."""
    block, momenta, driven = structure[BLOCKS_AT], momenta_at(structure), structure[DRIVEN] > 0
    while e >= structure[block + FIRST] + structure[block + COUNT]:
        block += BLOCK
    within, wide = e - structure[block + FIRST], structure[block + WIDE]
    at = structure[block + NODES_AT] + wide * within
    for k in range(at, at + wide):
        i = structure[k]
        if inverse_mass(parameters, structure, i) != 0.0:
            drift(now - clocks[i], i, momenta, y, low, parameters, structure, compensation)
        elif driven:
            lead(t + now, i, y, low, parameters, structure, compensation)
        clocks[i] = now
        for c in range(3):
            force[i + c] = 0.0
    add_forces(
        structure[block + KIND], w, 1, at, structure[block + NUMBERS_AT] + structure[block + SIZE] * within, y,
        parameters, structure, force, 0,
    )  # fmt: skip
    for k in range(at, at + wide):
        i = structure[k]
        if inverse_mass(parameters, structure, i) != 0.0 or driven:
            strike(t + now, three(force, i), i, y, low, parameters, structure, compensation)


@entry(STEP_SIGNATURE)
def free_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One interval of the free form, from one synchronisation of all elements to the next."""
    n, count, compensation = 3 * structure[NODES], structure[ELEMENTS], options[COMPENSATION]
    force, clocks, times, heap, done = work[FORCES], work[CLOCKS], work[TIMES], work[HEAP], work[COUNTS]
    ratios = structure[RATIOS_AT]
    counters[LAST_KNOWN] = 0
    for i in range(n):
        clocks[i] = 0.0
    for e in range(count):
        times[e], heap[e], done[e] = 0.0, float(e), 0.0
    while count > 0 and times[int(heap[0])] <= 1.0:
        e = int(heap[0])
        now, part, j = times[e], parameters[ratios + e], done[e]
        later = (j + 1.0) * part
        if later > 1.0 - _NEAR * part:
            later = 1.0
        before = now - (j - 1.0) * part if j > 0.0 else 0.0
        after = later - now
        one_kick(
            t, 0.5 * h * (before + after), h * now, e, y, low, parameters, structure, force, clocks, compensation
        )  # fmt: skip
        counters[EVALUATIONS] += 1
        times[e], done[e] = (later, j + 1.0) if now < 1.0 else (2.0, j)
        _sink(times, heap, count, 0)
    for k in range(structure[MOVING]):
        i = structure[structure[ORDER_AT] + k]
        drift(h - clocks[i], i, n, y, low, parameters, structure, compensation)
    return OK
