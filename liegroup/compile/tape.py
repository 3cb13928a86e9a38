"""A traced function as a list of numbers that one compiled kernel plays: users' functions inside kernels that are
compiled already.

An instruction is `INSTRUCTION` integers, an operation and the registers of its arguments; it writes the next register.
The first registers are the inputs.  Playing costs a few nanoseconds per operation where generated code
(`liegroup.compile.tracing`) would cost one, and seconds of compilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import kernel, ld, ld2, st2
from liegroup.compile.scalars import FORMULAS, arctan2, exp, less, log, select, sincos, sqrt, tanh
from liegroup.compile.tracing import CONSTANT, INPUT, Graph, Traced

INSTRUCTION = 4
NUMBER, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, SIN, COS, SQRT, EXP, LOG, TANH, ANGLE, LESS, SELECT = range(15)
_CODES = {
    CONSTANT: NUMBER, "add": ADD, "subtract": SUBTRACT, "multiply": MULTIPLY, "divide": DIVIDE, "negate": NEGATE,
    "sin": SIN, "cos": COS,
    "sqrt": SQRT, "exp": EXP, "log": LOG, "tanh": TANH, "atan2": ANGLE, "less": LESS, "select": SELECT,
}  # fmt: skip


class Tape(NamedTuple):
    """What is played: instructions (k, `INSTRUCTION`), their constants, and after how many the results of every stage
    are known.
    """

    instructions: NDArray[np.int64]
    constants: NDArray[np.float64]
    stages: tuple[int, ...]
    results: tuple[int, ...]
    """Registers of the results of all stages, one after the other."""
    registers: int

    def check(self, inputs: int, results: int) -> None:
        """ValueError unless it can be played: every instruction known, every register written before it is read."""
        k, shape = len(self.instructions), self.instructions.shape
        if shape != (k, INSTRUCTION) or self.registers != inputs + k or self.constants.ndim != 1:
            raise ValueError(f"tape: {shape} instructions, {self.registers} registers, expected {inputs} more of these")
        code, operands = self.instructions[:, 0], self.instructions[:, 1:]
        most = np.where(code == NUMBER, len(self.constants), inputs + np.arange(k))
        if ((code < 0) | (code > SELECT)).any() or (operands < 0).any() or (operands >= most[:, None]).any():
            raise ValueError("tape: an instruction is unknown, or reads what is not there yet")
        if len(self.stages) != 2 or not 0 <= self.stages[0] <= self.stages[1] == k:
            raise ValueError(f"tape: stages {self.stages}, expected two that end with the {k} instructions")
        if len(self.results) != results or not all(0 <= r < self.registers for r in self.results):
            raise ValueError(f"tape: results {self.results}, expected {results} of {self.registers} registers")
        if not np.isfinite(self.constants).all():
            raise ValueError("tape: constants that are not finite")


def tape_of(graph: Graph, inputs: Sequence[Traced], *stages: Sequence[int]) -> Tape:
    """The tape of the nodes wanted of a graph, stage by stage; every stage goes on from the one before."""
    register = {x.k: i for i, x in enumerate(inputs)}
    stages = tuple(_elementary(graph, wanted) for wanted in stages)
    instructions: list[list[int]] = []
    constants: list[float] = []
    ends = []
    for wanted in stages:
        for k in graph.needed(wanted, register):
            name, *arguments = graph.nodes[k]
            if name == CONSTANT:
                constants.append(float(arguments[0]))
                operands = [len(constants) - 1]
            else:
                operands = [register[a] for a in arguments]
            register[k] = len(inputs) + len(instructions)
            instructions.append([_CODES[name], *operands, *[0] * (INSTRUCTION - 1 - len(operands))])
        ends.append(len(instructions))
    table = np.array(instructions, dtype=np.int64).reshape(-1, INSTRUCTION)
    results = tuple(register[k] for wanted in stages for k in wanted)
    return Tape(table, np.array(constants), tuple(ends), results, len(inputs) + len(instructions))


def _elementary(graph: Graph, wanted: Sequence[int]) -> list[int]:
    """Nodes of the same numbers that need no operations but those of `_CODES`: the others are formulas of them."""
    found: dict[int, int] = {}
    for k in graph.needed(wanted):
        name, *arguments = graph.nodes[k]
        if name in (CONSTANT, INPUT):
            found[k] = k
            continue
        operands = [found[a] for a in arguments]
        if name in FORMULAS:
            found[k] = FORMULAS[name](*(Traced(graph, a) for a in operands)).k
        else:
            found[k] = k if operands == arguments else graph.apply(name, *operands)
    return [found[k] for k in wanted]


@kernel
def play(
    parameters: Any, constants: Any, structure: Any, first: Any, count: Any, inputs: Any, work: Any, row: Any
) -> None:
    """Play `count` instructions, from place `first` of `structure` on; constants in `parameters`, registers in a row of
    `work`.
    """
    zero = 0.0 * ld2(work, row, 0)
    for k in range(count):
        e = first + INSTRUCTION * k
        code, a = structure[e], structure[e + 1]
        if code == NUMBER:
            st2(work, row, inputs + k, zero + ld(parameters, constants + a))
        elif code <= DIVIDE:
            x, y = ld2(work, row, a), ld2(work, row, structure[e + 2])
            if code == ADD:
                st2(work, row, inputs + k, x + y)
            elif code == SUBTRACT:
                st2(work, row, inputs + k, x - y)
            elif code == MULTIPLY:
                st2(work, row, inputs + k, x * y)
            else:
                st2(work, row, inputs + k, x / y)
        else:
            st2(
                work, row, inputs + k, _function(code, ld2(work, row, a), work, row, structure[e + 2], structure[e + 3])
            )


@kernel
def _function(code: Any, x: Any, work: Any, row: Any, b: Any, c: Any) -> Any:
    """A function of the register x, and of those numbered b and c."""
    if code == NEGATE:
        return -x
    if code <= COS:
        s, r = sincos(x)
        return s if code == SIN else r
    if code == SQRT:
        return sqrt(x)
    if code == EXP:
        return exp(x)
    if code == LOG:
        return log(x)
    if code == TANH:
        return tanh(x)
    y = ld2(work, row, b)
    if code == ANGLE:
        return arctan2(x, y)
    if code == LESS:
        return select(less(x, y), 1.0 + 0.0 * y, 0.0 * y)
    return select(less(0.5, x), y, ld2(work, row, c))
