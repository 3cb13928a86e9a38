"""Closure equations given as functions of the pose of one frame relative to another, φ = c(x, R).

x is the origin of the second frame in the axes of the first, R turns components of the second into components of the
first.  The function is traced once (`liegroup.compile.tracing`); its exact derivatives are played from a tape
(`liegroup.compile.tape`), so that no kernel is compiled for it.  With F the axes of the first frame, D from its origin
P to Q, g = ∂c/∂x and k the derivative along turns of R (δR = θ̃ R, δc = k·θ), the screw on the second body is

    force F g at Q and moment F k,      their rates  F ġ + ω_i × F g,  F k̇ + ω_i × F k

with ġ, k̇ along ẋ = Fᵀ(Ḋ − ω_i × D) and the relative angular velocity Fᵀ(ω_j − ω_i); the first body feels the opposite
screw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem.derivatives import Differentiable
from integrators.problem.lagrangian import scalar
from liegroup.arrays import check_function
from liegroup.compile import helper, joint_scalar, ld, ld2, never, rare
from liegroup.compile.tape import Tape, play, tape_of
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import Traced
from liegroup.formulas.vectors import add, cross, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.constraints.body_equations import (
    EQUATION_NUMBERS,
    GIVEN,
    about_origin,
    in_axes,
    rates_by_kind,
    screws_by_kind,
)
from mechanics.errors import ModelError
from mechanics.kernels.links import put
from mechanics.model.layout import three

LOOPS = "short"

INPUTS = 18
"""Registers of x (3), R (9, by rows), ẋ (3) and the relative angular velocity (3)."""
RESULTS = 13
"""φ, g, k; then ġ, k̇."""
AXES_NUMBERS = 6
"""Behind the numbers of an equation: the second axes of the two frames (the first are its directions a and b), then the
constants of the tape.
"""


class PackedTape(NamedTuple):
    """Of a tape in `structure`: how many instructions until its values, and until their rates; the places of the
    registers of the results, and of the instructions behind them.
    """

    values: Any
    rates: Any
    results: Any
    instructions: Any


@helper
def packed_tape(structure: Any, at: Any, results: Any) -> Any:
    """The tape at place `at`, with so many results."""
    return PackedTape(ld(structure, at), ld(structure, at + 1), at + 2, at + 2 + results)


@helper
def second_axes(parameters: Any, at: Any) -> Any:
    """The second axes of the two frames of the equation whose numbers are at `at`."""
    o = at + EQUATION_NUMBERS
    return three(parameters, o), three(parameters, o + 3)


def tapes(function: Callable[..., Any], where: str) -> list[Tape]:
    """The tapes of a function c(x, R) → numbers that the motion keeps at zero.

    Raises
    ------
    TypeError
        The function cannot be traced: with what it did and what to write instead.
    ModelError
        It returns nothing, or a number that does not depend on the pose.
    """
    check_function(function, where, "a function c(x, R) of the relative pose", 2)
    g = Differentiable()
    inputs = [g.input(f"input {i}") for i in range(INPUTS)]
    x, R = scalars(inputs[:3]), scalars(inputs[3:12]).reshape(3, 3)
    found = [
        _tape(g, inputs, scalar(g, value, where))
        for value in np.atleast_1d(np.array(traceable(function)(x, R), dtype=object)).ravel()
    ]
    if not found:
        raise ModelError(where, "its function returned nothing", "return the numbers that the motion keeps at zero")
    for k, tape in enumerate(found):
        if len(set(tape.results[1:7])) == 1:
            raise ModelError(where, f"number {k} of its function does not depend on the pose", "leave it out")
    return found


def _tape(g: Differentiable, inputs: Sequence[Traced], phi: int) -> Tape:
    x, R, u, w = (np.array(inputs[a:b], dtype=object) for a, b in ((0, 3), (3, 12), (12, 15), (15, 18)))
    R = R.reshape(3, 3)

    def traced(k: int) -> Traced:
        return Traced(g, k)

    def gradient(k: int) -> tuple[list[Any], list[Any]]:
        """g and k of a node: Σ ∂c/∂R · (eₗ~ R), eₗ~ R = every column of R turned about axis l."""
        dR = np.array([traced(g.derivative(k, r.k)) for r in R.ravel()], dtype=object).reshape(3, 3)
        columns = [_cross(R[:, n], dR[:, n]) for n in range(3)]
        turn = [a + b + c for a, b, c in zip(*columns, strict=True)]
        return [traced(g.derivative(k, a.k)) for a in x], turn

    def rate(k: int) -> int:
        shift, turn = gradient(k)
        return scalar(g, sum(a * b for a, b in zip([*shift, *turn], [*u, *w], strict=True)), "rate")

    shift, turn = gradient(phi)
    screw = [scalar(g, z, "screw") for z in (*shift, *turn)]
    return tape_of(g, inputs, [phi, *screw], [rate(k) for k in screw])


def _cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def code_of(tape: Tape) -> list[int]:
    """A tape as the integers behind which its instructions follow."""
    return [*tape.stages, *tape.results, *tape.instructions.ravel().tolist()]


# --- kernels ----------------------------------------------------------------------------------------------------------


def _two_screws(*states: Any) -> Any:
    """The types of two screws from those of poses and twists."""
    return ((joint_scalar(*states),) * 6,) * 2


@helper
def axes(R: Any, a: Any, b: Any) -> Any:
    """The axes of a frame in space, row by row, from its first two in body axes."""
    x, y = rotated(R, a), rotated(R, b)
    z = cross(x, y)
    return x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]


@helper
def put_pose(work: Any, line: Any, F: Any, G: Any, D: Any) -> None:
    """x and R into the registers."""
    put(work, line, 0, rotated(F, D))
    x, y, z = rotated(F, G[:3]), rotated(F, G[3:6]), rotated(F, G[6:])
    for k in range(3):
        put(work, line, 3 + 3 * k, (x[k], y[k], z[k]))


@helper
def result(structure: Any, tape: Any, work: Any, line: Any, k: Any) -> Any:
    """Results k, k + 1, k + 2."""
    x, y, z = three(structure, tape.results + k)
    return ld2(work, line, x), ld2(work, line, y), ld2(work, line, z)


@rare(never, lambda *types_: (joint_scalar(*types_[-4:]), *_two_screws(*types_[-4:])))
def given_screws(
    parameters: Any, at: Any, structure: Any, code: Any, work: Any, line: Any,
    a: Any, p: Any, b: Any, q: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any,
) -> Any:  # fmt: skip
    """φ, W_i (6), W_j (6), as of `mechanics.constraints.body_equations.screws_in_space`; numbers of the equation at
    `at`, its tape at `code`.
    """
    tape, (a_2, b_2) = packed_tape(structure, code, RESULTS), second_axes(parameters, at)
    F, G = axes(R_i, a, a_2), axes(R_j, b, b_2)
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    put_pose(work, line, F, G, D)
    play(
        parameters, at + EQUATION_NUMBERS + AXES_NUMBERS, structure, tape.instructions, tape.values, INPUTS, work, line
    )
    f, m = (
        rotated_back(F, result(structure, tape, work, line, 1)),
        rotated_back(F, result(structure, tape, work, line, 4)),
    )
    return (
        ld2(work, line, structure[tape.results]),
        about_origin(add(arm_i, D), scale(-1.0, f), scale(-1.0, m)),
        about_origin(arm_j, f, m),
    )


@rare(never, lambda *types_: _two_screws(*types_[-8:]))
def given_rates(
    parameters: Any, at: Any, structure: Any, code: Any, work: Any, line: Any,
    a: Any, p: Any, b: Any, q: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any, v_i: Any, w_i: Any, v_j: Any, w_j: Any,
) -> Any:  # fmt: skip
    """N_i (6), N_j (6), as of `mechanics.constraints.body_equations.rates_in_space`."""
    tape, (a_2, b_2) = packed_tape(structure, code, RESULTS), second_axes(parameters, at)
    F, G = axes(R_i, a, a_2), axes(R_j, b, b_2)
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    turn_i, turn_j = rotated(R_i, w_i), rotated(R_j, w_j)
    P_dot, Q_dot = add(rotated(R_i, v_i), cross(turn_i, arm_i)), add(rotated(R_j, v_j), cross(turn_j, arm_j))
    put_pose(work, line, F, G, D)
    put(work, line, 12, rotated(F, subtract(subtract(Q_dot, P_dot), cross(turn_i, D))))
    put(work, line, 15, rotated(F, subtract(turn_j, turn_i)))
    play(parameters, at + EQUATION_NUMBERS + AXES_NUMBERS, structure, tape.instructions, tape.rates, INPUTS, work, line)
    f, m = (
        rotated_back(F, result(structure, tape, work, line, 1)),
        rotated_back(F, result(structure, tape, work, line, 4)),
    )
    f_dot = add(cross(turn_i, f), rotated_back(F, result(structure, tape, work, line, 7)))
    m_dot = add(cross(turn_i, m), rotated_back(F, result(structure, tape, work, line, 10)))
    m_dot = add(m_dot, cross(Q_dot, f))
    return (
        about_origin(add(arm_i, D), scale(-1.0, f_dot), scale(-1.0, m_dot)),
        about_origin(arm_j, f_dot, m_dot),
    )


# --- any equation, for the readable reference -------------------------------------------------------------------------


def _given(equation: Any, dtype: Any) -> tuple[Any, ...]:
    """The arguments of the kernels for an equation on its own."""
    code = np.array(code_of(equation.tape), dtype=np.int64)
    numbers = np.concatenate([np.zeros(EQUATION_NUMBERS), equation.a[:, 1], equation.b[:, 1], equation.tape.constants])
    return (
        numbers,
        0,
        code,
        0,
        np.zeros((1, equation.tape.registers), dtype=dtype),
        0,
        equation.a[:, 0],
        equation.p,
        equation.b[:, 0],
        equation.q,
    )


def screws_of_equation(equation: Any, *poses: Any) -> Any:
    """φ, W_i, W_j of an equation of any kind at the poses R_i (nine numbers), x_i, R_j, x_j, of any scalar type."""
    if equation.kind == GIVEN:
        phi, W_i, W_j = given_screws(*_given(equation, _type(poses)), *poses)
        return phi, in_axes(poses[0], W_i), in_axes(poses[2], W_j)
    return screws_by_kind(equation.kind, equation.a, equation.p, equation.b, equation.q, equation.length, *poses)


def rates_of_equation(equation: Any, *poses_and_twists: Any) -> Any:
    """N_i, N_j of an equation of any kind."""
    if equation.kind == GIVEN:
        N_i, N_j = given_rates(*_given(equation, _type(poses_and_twists)), *poses_and_twists)
        return in_axes(poses_and_twists[0], N_i), in_axes(poses_and_twists[2], N_j)
    return rates_by_kind(equation.kind, equation.a, equation.p, equation.b, equation.q, *poses_and_twists)


def _type(arrays: Sequence[NDArray[Any]]) -> Any:
    return np.result_type(*(np.asarray(x).dtype for x in arrays))
