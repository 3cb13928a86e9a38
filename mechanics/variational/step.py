"""The variational step of a tree: Newton's method on the increments of the joints, in linear time.

    p̂ = p + (h/2) Q₀,      A₀ᵀ P*(D) = p̂ − (damping/2) D,      p₁ = A₁ᵀ P*⁺ + (h/2) Q₁ − (damping/2) D

with P* the discrete momenta of the bodies summed over the subtrees: the discrete Euler–Lagrange equations in the
momenta at the nodes, so that states are (q, p) of the Hamiltonian tree.  One iteration is one sweep up and one down the
tree.  The first guess is extrapolated from past steps; without a past it is no motion, and the first iteration then
finds h M⁻¹p̂.

Every second iteration uses the matrix of the one before.  Of the defect, relative to the momenta of the links, an
iteration leaves about what the matrix has changed since it was formed: the way gone since, relative to the motion,
times the turn of the bodies.  The iteration ends where that is below rounding; then the equations themselves are
checked.  A (sub)step whose joints turn too far, or that is not solved, is divided by two and repeated; divisions are
counted.

options
    1 for the exact matrix, 0 for the inertia at the start (RIQN); largest number of
    divisions by two.
coefficients
    largest turn of a joint in one substep (rad); then the parts γ₁, γ₂, … of a composition, Σ γ = 1.
work
    the engine's lines, then one line per link of the tree and one for the base; columns `COLUMNS` or `COLUMNS_DENSE`.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import renormalise
from integrators.layout import (
    COMPENSATION,
    DIVIDED,
    ERROR,
    ERROR_LOW,
    EVALUATIONS,
    FIRST_KNOWN,
    HISTORY,
    ITERATIONS,
    LAST_KNOWN,
    OWN_OPTIONS,
    OWN_ROWS,
    STEPS,
    SUBSTEPS,
    TAU,
)
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from liegroup.compile import any_, entry, helper, kernel, ld2, st2
from liegroup.compile.scalars import maximum, select
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import header_of, link_of
from mechanics.variational.completion import finish
from mechanics.variational.correction import correct, extrapolate, remember, rest, still_base
from mechanics.variational.elimination import eliminate
from mechanics.variational.impulses import largest, settle
from mechanics.variational.nodes import aim, forces, gravity, load, place, weigh
from mechanics.variational.workspace import DEFECT, FORCE, G0, G1, REMEMBERED, TURN_JOINT

LOOPS = "short"

EXACT, DIVISIONS = range(OWN_OPTIONS, OWN_OPTIONS + 2)
STEP = ERROR_LOW
"""Line of the engine whose first entry keeps the size of the last step."""
UNSOLVED, TURNED, WORST, ALLOWED, SUBSTEP = range(5)
"""Entries of the engine's line of errors after a failure: residual, largest turn of a joint (Gibbs vector), link of the
worst, the turn that is allowed, the size of the substep.
"""
ITERATIONS_LIMIT = 20
RENORMALISE_EVERY = 8
ROUNDING = 1e-15
"""A defect, relative to the momenta, that counts as none."""
MISLED = -1.0
"""Instead of the largest turn: the guess from the past may mislead, and the step is to begin once more without it."""
LEAST = 1e-290
"""A size below which numbers lose their digits."""
RESIDUAL = 1e-9
"""Largest defect of the equations, relative to the largest momentum, of a step that counts as solved."""


@kernel
def solve(parameters: Any, structure: Any, options: Any, work: Any, known: Any, counters: Any) -> Any:
    """Iterate the increments of the joints; returns whether all lanes have converged, and the largest turn of a
    joint.
    """
    zero = 0.0 * ld2(work, 0, TURN_JOINT)
    going, distance, turn = zero + 1.0, zero, zero
    for k in range(ITERATIONS_LIMIT):
        fresh = k == 0 or (options[EXACT] and (k + (known > 0)) % 2 == 1)
        defect = eliminate(options[TAU], parameters, structure, work, fresh)
        sizes = correct(parameters, structure, work, going == 0.0)
        counters[ITERATIONS] += 1
        distance, turn = relative(sizes) + (zero if fresh else distance), sizes.joint_turn
        going = select(defect * distance * sizes.turn <= ROUNDING, zero, going)
        if not any_(going > 0.0):
            return True, turn
    return False, turn


@helper
def relative(sizes: Any) -> Any:
    """Corrections relative to the motion of the bodies, the larger one of turns and shifts."""
    return maximum(sizes.turn_correction / beside(sizes.turn), sizes.shift_correction / beside(sizes.shift))


@helper
def beside(size: Any) -> Any:
    """What something is divided by to be measured beside a size: one beside nothing, and never what has no digits."""
    return select(size == 0.0, 1.0 + size, maximum(size, LEAST))


@kernel
def begin(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, work: Any, known: Any, forces_known: Any, counters: Any
) -> None:
    """Node k, the momenta the step aims at, and the first guess."""
    still_base(structure, work)
    if known > 0 and forces_known:  # one sweep; with a past h is as it was
        for i in range(header_of(structure).links):
            place(t, y, parameters, structure, work, i)
            aim(structure, 0.5 * h, y, work, i)
            extrapolate(t, h, parameters, structure, work, i, known)
    else:
        begin_anew(t, h, y, parameters, structure, work, known, forces_known, counters)


@kernel
def begin_anew(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, work: Any, known: Any, forces_known: Any, counters: Any
) -> None:  # fmt: skip
    """The same where h, the past or the forces are not those of the step before."""
    tree = header_of(structure)
    moved = False
    for i in range(tree.links):
        place(t, y, parameters, structure, work, i)
        load(parameters, structure, 1.0 / h, work, i)
        if known > 0:
            extrapolate(t, h, parameters, structure, work, i, known)
        else:
            moved = rest(t, h, parameters, structure, work, i, moved)
    if not forces_known:
        forces(parameters, structure, work, G0, FORCE)
        still_base(structure, work)
        counters[EVALUATIONS] += 1
    for i in range(tree.links):
        aim(structure, 0.5 * h, y, work, i)


@kernel
def checked(
    converged: Any, options: Any, parameters: Any, structure: Any, work: Any, reaction: Any, moved: Any
) -> Any:  # fmt: skip
    """Whether the equations are solved, and the largest defect relative to the largest momentum, or to the largest
    impulse of a reaction; times `moved`, the motion in roundings of the positions where it is less than they are.
    """
    size, defect = settle(options[TAU], parameters, structure, work)
    residual = moved * defect / beside(maximum(size, reaction + 0.0 * size))
    return converged and not any_(residual > RESIDUAL) and not any_(residual != residual), residual


@kernel
def attempt(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    forces_known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep; the state is not touched.

    Returns whether they are solved, the largest turn of a joint, and the largest defect relative to the largest
    momentum.
    """
    begin(t, h, y, parameters, structure, work, known, forces_known, counters)
    converged, turn = solve(parameters, structure, options, work, known, counters)
    solved, residual = checked(converged, options, parameters, structure, work, 0.0, 1.0)
    return solved, turn, residual


@kernel
def accept(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any,
    counters: Any
) -> bool:  # fmt: skip
    """Go on to the end t of a solved substep."""
    gravity(parameters, structure, work, G1)
    for i in range(header_of(structure).links - 1, -1, -1):
        weigh(parameters, structure, work, i, G1, DEFECT)
        finish(parameters, structure, 0.5 * h, options[COMPENSATION], y, low, work, i)
    counters[EVALUATIONS] += 1
    return True


@kernel
def advance(
    attempt: Any, accept: Any, t: Any, h: Any, y: Any, low: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, engine: Any, work: Any, known: Any, forces_known: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of size h, or of a part of a composition; divided by two as often as its turns demand."""
    parts, done = 1, 0
    most = 1 << options[DIVISIONS] if y.ndim == 1 else 1  # lanes that need it are run one by one, by the engine
    while done < parts:
        size = h / parts
        solved, turn, residual = attempt(
            t + done * size,
            size,
            y,
            parameters,
            structure,
            options,
            field_work,
            work,
            known,
            forces_known or done > 0,
            counters,
        )
        if solved and not any_(turn > coefficients[0]):
            done += 1
            accept(t + done * size, size, y, low, parameters, structure, options, field_work, work, counters)
        elif known > 0 and any_(turn < 0.0) and y.ndim == 1:
            known = 0
        elif parts < most:
            parts, done, known = 2 * parts, 2 * done, 0
        else:
            st2(engine, ERROR, UNSOLVED, residual)
            st2(engine, ERROR, TURNED, turn)
            st2(engine, ERROR, ALLOWED, coefficients[0])
            st2(engine, ERROR, SUBSTEP, size)
            if y.ndim == 1:
                st2(engine, ERROR, WORST, worst_link(structure, work, TURN_JOINT if solved else DEFECT))
            return CHART_LEFT if solved else NOT_CONVERGED
    if parts > 1:
        counters[DIVIDED] += 1
        counters[SUBSTEPS] += parts
    return OK


@helper
def worst_link(structure: Any, work: Any, column: Any) -> Any:
    """The link with the largest turn of its joint, or the largest defect."""
    worst, most = 0, -1.0
    for i in range(header_of(structure).links):
        kind, size = link_of(structure, i).kind, 0.0
        if column == TURN_JOINT:
            size = largest(vector(work, i, column))
        else:
            for j in range(freedom(kind)):
                size = max(size, abs(work[i, column + j]))
        if not size <= most:
            worst, most = i, size
    return worst


@kernel
def run(
    attempt: Any, accept: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any,
    parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step, by what solves a substep (`attempt`) and goes on to its end (`accept`)."""
    stages, engine, lines = coefficients.shape[0] - 1, work[:OWN_ROWS], work[OWN_ROWS:]
    known = (
        min(counters[HISTORY], REMEMBERED)
        if stages == 1 and options[EXACT] and not any_(ld2(engine, STEP, 0) != h)
        else 0
    )
    st2(engine, STEP, 0, h)
    forces_known, divided = counters[FIRST_KNOWN] != 0, counters[DIVIDED]
    for s in range(stages):
        part = coefficients[1 + s] * h
        status = advance(
            attempt, accept, t, part, y, low, coefficients, options, parameters, structure, field_work, engine, lines,
            known,
            forces_known or s > 0, counters,
        )  # fmt: skip
        if status != OK:
            return status
        t = t + part
    counters[HISTORY] = 0
    counters[DIVIDED] = min(counters[DIVIDED], divided + 1)  # of a composition: one step, whichever parts
    if stages == 1 and counters[DIVIDED] == divided:
        counters[HISTORY] = min(known + 1, REMEMBERED)
        remember(structure, lines, counters[HISTORY])
    counters[LAST_KNOWN] = 1
    if options[COMPENSATION] and counters[STEPS] % RENORMALISE_EVERY == 0:
        renormalise(table, y, low)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One variational step of a tree, y = (q, p)."""
    return run(
        attempt, accept, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )
