"""Force elements in a variational step.

What reads no velocity is a force at the nodes, half of its impulse at either: F = F(q, t), as explicit as gravity.

    p̂ = p + (h/2) (Q₀ + F₀),      p₁ = … + (h/2) (Q₁ + F₁)

Dampers, friction and contacts (and every spring, where the method asks for the midpoint rule) depend on the motion over
the step (`mechanics.variational.elements.laws`).  Their impulses are found together with it, by Newton's method: what
acts along a joint or ties a link to the base goes into the sweep, in linear time; what goes across the tree is solved
for with the closures (`mechanics.variational.elements.system`).  No damping limits the step; springs of the trapezoidal
rule do, at h ω = 2, springs of the midpoint rule do not.  Symmetric, order 2; without dampers symplectic.  Everything
else is as in `mechanics.variational.closed_step`.

work
    beside the lines of `mechanics.variational.closed_step`: those of `mechanics.variational.elements.lines`.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase
from integrators.layout import COMPENSATION, ITERATIONS, TAU
from integrators.signatures import STEP_SIGNATURES
from liegroup.compile import any_, carries, entry, joined, kernel, ld, ld2, select, st, st2
from liegroup.compile.scalars import maximum
from mechanics.closed_trees.field import velocities
from mechanics.closed_trees.forces import force_of
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.closed_trees.poses import GRAIN, gather
from mechanics.kernels.links import freedom
from mechanics.model.layout import header_of, link_of
from mechanics.variational.closed_step import (
    DOUBTFUL,
    NEAR,
    NOISE,
    beyond_rounding,
    clear_path,
    close_step,
    closures_at,
    lines_of,
    reaction,
    remaining,
    size_of_poses,
    start,
)
from mechanics.variational.closed_step import accept as accept_closed
from mechanics.variational.correction import correct
from mechanics.variational.elements.elimination import eliminate_loaded
from mechanics.variational.elements.laws import evaluate, evaluate_end, remember_start
from mechanics.variational.elements.lines import AIM, any_at_nodes, any_takes_part, element_lines, takes_part
from mechanics.variational.elements.system import add_impulses, aim_again, correct_impulses
from mechanics.variational.impulses import settle
from mechanics.variational.rolling import roll
from mechanics.variational.step import MISLED, RESIDUAL, ROUNDING, begin, beside, run
from mechanics.variational.workspace import FORCE, G0, G1, RHO1, TARGET, TURN_JOINT

LOOPS = "short"

LIMIT = 40
"""Iterations at most."""


@kernel
def element_forces(
    t: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, rates: Any
) -> None:  # fmt: skip
    """rates <- (v, F) at the state y, F of the elements at the nodes."""
    n = header_of(structure).n_v
    closures = closures_of(structure)
    velocities(t, y, parameters, structure, field_work, rates)
    for k in range(n):
        st(rates, n + k, 0.0)
    for k in range(closures.forces):
        element = element_of(structure, closures, k)
        if not takes_part(element, options):
            force_of(t, y, parameters, structure, field_work, rates, n, element)
    gather(parameters, structure, field_work, rates, n)


@kernel
def pull_elements(
    t: Any, half: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> None:  # fmt: skip
    """The forces of the elements at node k, added to those of gravity and to the momenta the step aims at."""
    tree = header_of(structure)
    closures = closures_of(structure)
    n, rates = tree.n_v, joined(field_work[closures.rates : closures.moved])
    element_forces(t, y, parameters, structure, options, field_work, rates)
    for i in range(tree.links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            x = ld(rates, n + link.v + j)
            st2(work, i, FORCE + j, ld2(work, i, FORCE + j) + x)
            st2(work, i, TARGET + j, ld2(work, i, TARGET + j) + half * x)


@kernel
def push_elements(
    t: Any, half: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> None:  # fmt: skip
    """p += (h/2) F₁ at node k + 1, and F₁ to the forces there."""
    tree, closures = header_of(structure), closures_of(structure)
    n, p, rates = tree.n_v, tree.n_q, joined(field_work[closures.rates : closures.moved])
    element_forces(t, y, parameters, structure, options, field_work, rates)
    for i in range(tree.links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            x = ld(rates, n + link.v + j)
            increase(y, low, p + link.v + j, half * x, options[COMPENSATION])
            st2(work, i, FORCE + j, ld2(work, i, FORCE + j) + x)


# --- what is found together with the motion ---------------------------------------------------------------------------


@kernel
def iterate(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Newton's method on joints and impulses; returns whether all lanes have converged, the largest turn of a joint,
    the rounding in the impulses, and `beyond_rounding`.

    It ends where what the next correction would leave, by the last contraction, is below rounding; where corrections
    are roundings of the poses; or where small ones do not become smaller any more.  The equations are checked
    afterwards.  Of numbers that carry a derivative there is one more round, at the solution.
    """
    zero = 0.0 * ld2(work, 0, TURN_JOINT)
    going, turn, before, moved = zero + 1.0, zero, zero + 1.0, zero + 1.0
    settled = False
    lines = element_lines(structure, work, options)
    for k in range(LIMIT):
        at_present(t, h, y, parameters, structure, options, field_work, work)
        eliminate_loaded(options[TAU], parameters, structure, work, True)
        if lines.equations > 0:
            correct_impulses(parameters, structure, options, field_work, work, going == 0.0)
            eliminate_loaded(options[TAU], parameters, structure, work, False)
        sizes = correct(parameters, structure, work, going == 0.0)
        counters[ITERATIONS] += 1
        size = size_of_poses(structure, field_work, work)
        turn, now, moved = sizes.joint_turn, remaining(sizes, size), beyond_rounding(sizes, size, zero + 1.0)
        if k == 0 and known > 0 and any_(now > DOUBTFUL):
            return False, zero + MISLED, zero, moved
        grain = NOISE * GRAIN
        left = select(sizes.turn_correction <= grain, select(sizes.shift_correction <= grain * size, zero, now), now)
        stuck = select(before <= NEAR, select(now >= before, zero, going), going)
        done = select(now < before, now * now / before, now) <= ROUNDING
        going, before = select(left == 0.0, zero, select(done, zero, stuck)), now
        if settled or not any_(going > 0.0):
            if settled or not carries(zero):
                break
            going, before, settled = zero + 1.0, zero + 1.0, True
    noise = at_present(t, h, y, parameters, structure, options, field_work, work)
    return settled or not any_(going > 0.0), turn, noise, moved


@kernel
def at_present(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> Any:  # fmt: skip
    """Closures, impulses of elements and what the step aims at, with the present increments; returns the rounding in
    the impulses.
    """
    lines = lines_of(structure, work)
    closures_at(y, parameters, structure, work, G1, RHO1, field_work)
    for c in range(lines.equations):
        roll(parameters, structure, field_work, work, c, lines.screws + c)
    noise, _ = evaluate(t, h, y, parameters, structure, options, field_work, work)
    aim_again(parameters, structure, options, work)
    return noise


@kernel
def solve_loaded(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep, which has been begun; t at its start."""
    start(t, y, parameters, structure, field_work, work)
    remember_start(parameters, structure, options, field_work, work)
    for i in range(header_of(structure).links):
        for j in range(freedom(link_of(structure, i).kind)):
            st2(work, i, AIM + j, ld2(work, i, TARGET + j))
    converged, turn, noise, moved = iterate(t, h, y, parameters, structure, options, field_work, work, known, counters)
    size, defect = settle(options[TAU], parameters, structure, work)
    size = maximum(size, reaction(structure, work)) + noise * (NOISE / RESIDUAL)
    residual = moved * defect / beside(size)
    solved = converged and not any_(residual > RESIDUAL) and not any_(residual != residual)
    return solved, turn, residual


@kernel
def add_to_momenta(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> None:  # fmt: skip
    """p += the impulses of the elements at both nodes; t and y at node k + 1."""
    tree = header_of(structure)
    for i in range(tree.links):
        for j in range(freedom(link_of(structure, i).kind)):
            st2(work, i, AIM + j, 0.0)
    clear_path(structure, work)
    add_impulses(parameters, structure, options, work, AIM, G0)
    evaluate_end(t, h, y, parameters, structure, options, field_work, work)
    clear_path(structure, work)
    add_impulses(parameters, structure, options, work, AIM, G1)
    for i in range(tree.links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            increase(y, low, tree.n_q + link.v + j, ld2(work, i, AIM + j), options[COMPENSATION])


# --- the step ---------------------------------------------------------------------------------------------------------


@kernel
def attempt(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    forces_known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep; the state is not touched."""
    begin(t, h, y, parameters, structure, work, known, forces_known, counters)
    if not forces_known and any_at_nodes(structure, options):
        pull_elements(t, 0.5 * h, y, parameters, structure, options, field_work, work)
    if any_takes_part(structure, options):
        return solve_loaded(t, h, y, parameters, structure, options, field_work, work, known, counters)
    return close_step(t, y, parameters, structure, options, field_work, work, known, counters)


@kernel
def accept(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any,
    counters: Any
) -> Any:  # fmt: skip
    """Go on to the end t of a solved substep."""
    accept_closed(t, h, y, low, parameters, structure, options, field_work, work, counters)
    if any_takes_part(structure, options):
        add_to_momenta(t, h, y, low, parameters, structure, options, field_work, work)
    if any_at_nodes(structure, options):
        push_elements(t, 0.5 * h, y, low, parameters, structure, options, field_work, work)
    return True


@entry(*STEP_SIGNATURES)
def loaded_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One variational step of a tree with closed loops and force elements, y = (q, p)."""
    return run(
        attempt, accept, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )
