"""A builder of code that reads parts of what it has just put together where they came from.

The compiler packs arrays, tuples and ranges at every assignment and call, and unpacks them at every use: a third of the
lines of a kernel.
"""

from __future__ import annotations

from typing import Any

from llvmlite.ir import Constant, Function, IRBuilder
from llvmlite.ir.instructions import InsertValue, PhiInstr

_PURE = {"insertvalue", "extractvalue", "getelementptr", "bitcast", "icmp", "select", "add", "sub", "mul", "load"}


class FoldingBuilder(IRBuilder):
    """The library's own, which takes parts of a whole apart without a word in the code."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Part `idx` of a whole."""
        path = tuple(idx) if isinstance(idx, tuple | list) else (idx,)
        while path:
            if isinstance(agg, InsertValue):
                place = tuple(agg.indices)
                if path[: len(place)] == place:
                    agg, path = agg.value, path[len(place) :]
                elif place[: len(path)] == path:
                    break
                else:
                    agg = agg.aggregate
            elif isinstance(agg, Constant) and isinstance(agg.constant, tuple | list):
                agg, path = agg.constant[path[0]], path[1:]
            else:
                break
        return super().extract_value(agg, path, name) if path else agg


def leave_out_unused(function: Function, everywhere: bool) -> None:
    """Leave out of a function, or of its beginning, what makes values that nobody uses.

    What is left of that the passes find, but blocks that are shorter they take for worth being copied, or computed in
    any case: some kernels get a tenth slower, others faster.
    """
    uses = dict[int, int]()
    for block in function.blocks:
        for instruction in block.instructions:
            for x in _operands(instruction):
                uses[id(x)] = uses.get(id(x), 0) + 1
    for block in reversed(function.blocks) if everywhere else [function.entry_basic_block]:
        block.instructions[:] = reversed([x for x in reversed(block.instructions) if _is_used(x, uses)])


def _is_used(instruction: Any, uses: dict[int, int]) -> bool:
    if uses.get(id(instruction)) or instruction.opname not in _PURE:
        return True
    for x in instruction.operands:
        uses[id(x)] -= 1
    return False


def _operands(instruction: Any) -> Any:
    return [x for x, _ in instruction.incomings] if isinstance(instruction, PhiInstr) else instruction.operands
