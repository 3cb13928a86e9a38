"""Equations given as functions of joint coordinates, φ = c(q₁, …, q_k): gears, belts, racks, cams, mimic joints,
differentials.

Such an equation acts on joints, not on two bodies.  With g_j = ∂c/∂q_j and the momenta p_j conjugate to the rates of
its joints

    φ̇ = Σ g_j q̇_j,     a multiplier λ acts as ṗ_j += g_j λ,     ġ_j = Σ_l ∂²c/∂q_j∂q_l q̇_l,
    φ̈ = Σ (g_j q̈_j + ġ_j q̇_j)

On bodies this would be the screw g_j S_j of every joint on its child and −g_j S_j on its parent.  As one number along
the joint it takes no poses and no second bodies, and the joints below it do not feel it, not even by rounding.

The function is traced once (`liegroup.compile.tracing`); its exact derivatives are played from a tape
(`liegroup.compile.tape`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem.derivatives import Differentiable
from integrators.problem.lagrangian import scalar
from liegroup.arrays import check_function
from liegroup.compile import helper, kernel, ld, ld2, st2
from liegroup.compile.tape import Tape, play, tape_of
from liegroup.compile.traceable import traceable
from liegroup.compile.tracing import Traced
from mechanics.constraints.body_equations import EQUATION_NUMBERS
from mechanics.constraints.given_equations import code_of, packed_tape
from mechanics.errors import ModelError

LOOPS = "short"


class Coupling(NamedTuple):
    """Of a coupling in `structure`: the number of its joints and of the links between them and the base; then the
    places of the joints, of these links from the last to the first, of where its column is in each of them and how
    many numbers lie between two of its entries (`mechanics.closed_trees.layout.Block`), and of the tape.
    """

    joints: Any
    way_length: Any
    joints_at: Any
    way: Any
    columns: Any
    tape: Any


class CoupledJoint(NamedTuple):
    """Its link, its coordinate, its velocity."""

    link: Any
    q: Any
    v: Any


@helper
def coupling_of(structure: Any, code: Any) -> Any:
    """The coupling at place `code`."""
    joints, way_length = ld(structure, code), ld(structure, code + 1)
    way = code + 2 + 3 * joints
    return Coupling(joints, way_length, code + 2, way, way + way_length, way + 3 * way_length)


@helper
def joint(structure: Any, coupling: Any, j: Any) -> Any:
    """Joint j of a coupling."""
    at = coupling.joints_at + 3 * j
    return CoupledJoint(ld(structure, at), ld(structure, at + 1), ld(structure, at + 2))


def tapes(function: Callable[..., Any], names: Sequence[str], where: str) -> list[Tape]:
    """The tapes of a function c(q₁, …, q_k) → number or numbers that the motion keeps at zero.

    Raises
    ------
    TypeError
        The function cannot be traced: with what it did and what to write instead.
    ModelError
        It returns nothing, does not depend on one of the joints, or holds a number that is not finite.
    """
    g = Differentiable()
    q, s = [g.input(f"coordinate of {n}") for n in names], [g.input(f"rate of {n}") for n in names]
    check_function(function, where, f"a function of the coordinates of the joints {', '.join(names)}", len(names))
    numbers = [scalar(g, x, where) for x in np.atleast_1d(np.array(traceable(function)(*q), dtype=object)).ravel()]
    if not numbers:
        raise ModelError(where, "its function returned nothing", "return the numbers that the motion keeps at zero")
    gradients = [[g.derivative(phi, x.k) for x in q] for phi in numbers]
    for j, name in enumerate(names):
        if all(g.value(row[j]) == 0.0 for row in gradients):
            raise ModelError(where, f"its function does not depend on joint {name!r}", "leave the joint out")
    if any(all(g.value(k) == 0.0 for k in row) for row in gradients):
        raise ModelError(where, "a number of its function depends on no joint", "leave the number out")
    found = [_tape(g, q, s, phi, row) for phi, row in zip(numbers, gradients, strict=True)]
    if not all(np.isfinite(tape.constants).all() for tape in found):
        raise ModelError(where, "its function holds a number that is not finite", "give finite numbers")
    return found


def _tape(g: Differentiable, q: Sequence[Traced], s: Sequence[Traced], phi: int, gradient: Sequence[int]) -> Tape:
    def rate(k: int) -> int:
        return scalar(g, sum(Traced(g, g.derivative(k, x.k)) * v for x, v in zip(q, s, strict=True)), "rate")

    return tape_of(g, [*q, *s], [phi, *gradient], [rate(k) for k in gradient])


# --- kernels ----------------------------------------------------------------------------------------------------------


@helper
def gradient(structure: Any, coupling: Any, work: Any, line: Any, j: Any) -> Any:
    """g_j, after `coupling_value` or `coupling_rates`."""
    return ld2(work, line, structure[tape_of_coupling(structure, coupling).results + 1 + j])


@helper
def gradient_rate(structure: Any, coupling: Any, work: Any, line: Any, j: Any) -> Any:
    """ġ_j, after `coupling_rates`."""
    return ld2(work, line, structure[tape_of_coupling(structure, coupling).results + 1 + coupling.joints + j])


@helper
def tape_of_coupling(structure: Any, coupling: Any) -> Any:
    """The tape of a coupling, with the results φ, g, ġ."""
    return packed_tape(structure, coupling.tape, 1 + 2 * coupling.joints)


@kernel
def coupling_value(y: Any, parameters: Any, at: Any, structure: Any, code: Any, work: Any, line: Any) -> Any:
    """φ of a coupling at the coordinates in y; numbers at `at`, joints and tape at `code`, registers in `line`."""
    coupling = coupling_of(structure, code)
    tape, inputs = tape_of_coupling(structure, coupling), 2 * coupling.joints
    for j in range(coupling.joints):
        st2(work, line, j, ld(y, joint(structure, coupling, j).q))
    play(parameters, at + EQUATION_NUMBERS, structure, tape.instructions, tape.values, inputs, work, line)
    return ld2(work, line, structure[tape.results])


@kernel
def coupling_rates(
    y: Any, v: Any, offset: Any, parameters: Any, at: Any, structure: Any, code: Any, work: Any, line: Any
) -> None:
    """g and ġ at the coordinates in y and the velocities in v[offset …]."""
    coupling = coupling_of(structure, code)
    for j in range(coupling.joints):
        moved = joint(structure, coupling, j)
        st2(work, line, j, ld(y, moved.q))
        st2(work, line, coupling.joints + j, ld(v, offset + moved.v))
    play_rates(parameters, at, structure, coupling, work, line)


@kernel
def play_rates(parameters: Any, at: Any, structure: Any, coupling: Any, work: Any, line: Any) -> None:
    """g and ġ at the coordinates and rates that are in the first registers."""
    tape = tape_of_coupling(structure, coupling)
    play(parameters, at + EQUATION_NUMBERS, structure, tape.instructions, tape.rates, 2 * coupling.joints, work, line)


# --- any equation, for the readable reference -------------------------------------------------------------------------


def coupling(equation: Any, q: NDArray[Any], s: NDArray[Any]) -> tuple[Any, list[Any], list[Any]]:
    """φ, g, ġ of an equation at the coordinates q and rates s of its joints, of any scalar type."""
    k = len(equation.joints)
    code = np.array([k, 0, *(x for j in range(k) for x in (0, j, j)), *code_of(equation.tape)], dtype=np.int64)
    numbers = np.concatenate([np.zeros(EQUATION_NUMBERS), equation.tape.constants])
    work = np.zeros((1, equation.tape.registers), dtype=np.result_type(q, s, float))
    coupling_rates(q, s, 0, numbers, 0, code, 0, work, 0)
    found = coupling_of(code, 0)
    phi = work[0, code[tape_of_coupling(code, found).results]]
    return (
        phi,
        [gradient(code, found, work, 0, j) for j in range(k)],
        [gradient_rate(code, found, work, 0, j) for j in range(k)],
    )
