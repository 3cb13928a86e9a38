"""From what the compiler knows of a kernel to code: its own way, and a shorter one for what kernels mostly consist of.

A view of an array takes the compiler two hundred lines of code, a loop a hundred and fifty, an entry fifty: a kernel is
that for the most part, and though the passes leave the same of it, each line is made, written, read and simplified.
Here a view takes twenty lines, a loop thirty, an entry five, with the same meaning; what is assigned once is the value
itself, not a place in memory, and parts of wholes are read where they came from (`liegroup.compile.builder`).  What is
not as plain as that (steps of views, arrays that are not contiguous, lists of indices, counted references) goes the
compiler's way.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.ir import Assign, Inst, Var
from numba.core.lowering import Lower
from numba.np.arrayobj import store_item

from liegroup.compile.builder import FoldingBuilder, leave_out_unused
from liegroup.compile.calls import bare_form
from liegroup.compile.contiguous import Index, Known, indices_of, is_contiguous, restored, view, words_as

_WORD = ir.IntType(64)
_ZERO, _ONE = _WORD(0), _WORD(1)
_RANGE, _ITERATOR, _NEXT = types.range_state64_type, types.range_iter64_type, types.Pair(types.int64, types.boolean)
_WORDS = {types.int64, types.float64}
_OF_RANGES = {"getiter": _RANGE, "iternext": _ITERATOR, "pair_first": _NEXT, "pair_second": _NEXT}


def _used(value: Any) -> list[Any]:
    """The variables in what is assigned."""
    return [value] if isinstance(value, Var) else value.list_vars() if isinstance(value, Inst) else []


class KernelLower(Lower):
    """Writes the code of one function."""

    @cached_property
    def _is_plain(self) -> bool:
        """Whether values need no care: no references are counted, no indices checked, and nobody looks on."""
        return not (self.context.enable_nrt or self.context.enable_boundscheck or self._disable_sroa_like_opt)

    def setup_function(self, fndesc: Any) -> None:
        """Begin the function."""
        super().setup_function(bare_form(fndesc) if self._takes_bare_arrays else fndesc)
        if self._is_plain:
            self.builder = FoldingBuilder(self.entry_block)
            self.call_helper = self.call_conv.init_call_helper(self.builder)

    @property
    def _takes_bare_arrays(self) -> bool:
        return bool(self.generator_info is None and getattr(self.library, "takes_bare_arrays", False))

    def extract_function_arguments(self) -> Any:
        """The arguments as the function knows them."""
        if not self._takes_bare_arrays:
            return super().extract_function_arguments()
        taken = bare_form(self.fndesc).argtypes
        given = self.call_conv.decode_arguments(self.builder, taken, self.function)
        self.fnargs = [restored(self.context, self.builder, t, x) for t, x in zip(taken, given, strict=True)]
        return self.fnargs

    def lower_function_body(self) -> Any:
        """Write what the function does; returns the end of its beginning."""
        end = super().lower_function_body()
        if self._is_plain:
            leave_out_unused(self.function, everywhere=not getattr(self.library, "loops", ""))
        return end

    # --- variables ----------------------------------------------------------------------------------------------------

    def alloca_lltype(self, name: str, lltype: Any, datamodel: Any = None) -> Any:
        """Room for a variable; its size is looked up only where a debugger is to know it."""
        if self.flags.debuginfo:
            return super().alloca_lltype(name, lltype, datamodel)
        return cgutils.alloca_once(self.builder, lltype, name=name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Without looking at the value before, which nobody counts."""
        if not self._is_plain or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
            return
        self._alloca_var(name, self.typeof(name))
        self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Nothing is done with a value that is no longer needed."""
        if not self._is_plain:
            super().delvar(name)
        elif name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)
            self._alloca_var(name, self.typeof(name))

    def _find_singly_assigned_variable(self) -> None:
        """Which variables are the values that they are assigned: those assigned once, before all that uses them.

        The compiler's own are those used in one block only; others have a place in memory, where each use looks.
        """
        if not self._is_plain:
            super()._find_singly_assigned_variable()
            return
        assigned, used, again = dict[str, int](), dict[str, set[int]](), set[str]()
        for label, block in self.blocks.items():
            for statement in block.body:
                assigns = type(statement) is Assign
                for variable in _used(statement.value) if assigns else statement.list_vars():
                    name = variable.name
                    if assigned.get(name) != label:
                        used.setdefault(name, set()).add(label)
                if assigns:
                    name = statement.target.name
                    if name in assigned:
                        again.add(name)
                    assigned[name] = label
        dominators = compute_cfg_from_blocks(self.blocks).dominators()
        self._singly_assigned_vars = {
            name
            for name, label in assigned.items()
            if name not in again and all(label in dominators[k] and label < k for k in used.get(name, ()))
        }
        self._blk_local_varmap: dict[str, Any] = {}

    # --- entries and views of arrays ----------------------------------------------------------------------------------

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """An expression."""
        if self._is_plain:
            if expr.op == "static_getitem" and self._is_plain_item(expr):
                return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])
            if expr.op in _OF_RANGES and self.typeof(expr.value.name) == _OF_RANGES[expr.op]:
                return self._of_range(expr.op, resty, expr)
        return super().lower_expr(resty, expr)

    def _is_plain_item(self, expr: Any) -> bool:
        """Whether a constant index is like others: not the name of a field."""
        is_array = expr.index_var is not None and isinstance(self.typeof(expr.value.name), types.Array)
        return is_array and isinstance(expr.index, int | slice | tuple)

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An entry of an array, or a view."""
        array_type, result = signature.args[0], signature.return_type
        if self._is_plain and is_contiguous(array_type) and self.typeof(value.name) == array_type and result == resty:
            array, kind = self._known(value), signature.args[1]
            if isinstance(kind, types.SliceType) and not kind.has_step and is_contiguous(result):
                given = self.context.cast(self.builder, self.loadvar(index.name), self.typeof(index.name), kind)
                starts, stops = self._bounds.get(id(given), (None, True, True))[1:]
                ends = (
                    self.builder.extract_value(given, k) if is_said else None
                    for k, is_said in ((0, starts), (1, stops))
                )
                return view(self.builder, array, *ends)
            indices = self._indices(index)
            if len(indices) == array_type.ndim or (indices and is_contiguous(result)):
                return array.at(indices, result)
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """An entry of an array is set."""
        array_type, indices = signature.args[0], []
        if self._is_plain and is_contiguous(array_type) and self.typeof(target_var.name) == array_type:
            indices = self._indices(index_var)
        if not indices or len(indices) != array_type.ndim:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        place = self._known(target_var).place(indices)
        given, asked, value = self.typeof(value_var.name), signature.args[2], self.loadvar(value_var.name)
        value = self.context.cast(self.builder, value, given, asked)
        value = self.context.cast(self.builder, value, asked, array_type.dtype)
        return store_item(self.context, self.builder, array_type, value, place)

    def _known(self, variable: Any) -> Known:
        """A contiguous array."""
        return Known(self.context, self.builder, self.typeof(variable.name), self.loadvar(variable.name))

    def _indices(self, variable: Any) -> list[Index]:
        """Indices as words; none if they are not all integers."""
        return indices_of(self.context, self.builder, self.loadvar(variable.name), self.typeof(variable.name))

    def _is_same_words(self, resty: Any, expr: Any) -> bool:
        """Whether a call takes the entries of a contiguous array, all 64 bits of each, for numbers of another kind."""
        function = self.typeof(expr.func.name)
        if not isinstance(function, types.BoundFunction) or function.typing_key != "array.view" or expr.kws:
            return False
        given = function.this
        return all(is_contiguous(x) and x.dtype in _WORDS for x in (given, resty)) and given.ndim == resty.ndim

    def _words_as(self, resty: Any, expr: Any) -> Any:
        given = self.typeof(expr.func.name).this
        return words_as(self.context, self.builder, given, resty, self.loadvar(expr.func.name))

    # --- loops --------------------------------------------------------------------------------------------------------

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """A call; it is remembered what ranges count by, and which bounds views have."""
        if self._is_plain and self._is_same_words(resty, expr):
            return self._words_as(resty, expr)
        if self._is_plain and resty == _RANGE and not expr.kws and not expr.vararg:
            return self._range(expr.args)
        if self._is_plain and resty == types.slice2_type and len(expr.args) == 2 and not expr.vararg:
            return self._slice(*expr.args)
        return super().lower_call(resty, expr)

    def _range(self, args: Any) -> Any:
        """A range; what it counts by is remembered if it is known."""
        step = self.typeof(args[2].name) if len(args) > 2 else types.IntegerLiteral(1)
        words = [self._cast_to_word(x) for x in args]
        start, stop, by = (_ZERO, *words, _ONE) if len(args) == 1 else (*words, _ONE)[:3]
        made = self._together(_RANGE, start, stop, by)
        if isinstance(step, types.IntegerLiteral) and step.literal_value:
            self._steps[id(made)] = made, step.literal_value
        return made

    def _slice(self, first: Any, last: Any) -> Any:
        """A slice without a step; which of its bounds it has is remembered."""
        starts, stops = (self.typeof(x.name) != types.none for x in (first, last))
        start = self._cast_to_word(first) if starts else _ZERO
        stop = self._cast_to_word(last) if stops else _WORD(2**63 - 1)
        made = self._together(types.slice2_type, start, stop, _ONE)
        self._bounds[id(made)] = made, starts, stops
        return made

    def _cast_to_word(self, variable: Any) -> Any:
        return self.context.cast(self.builder, self.loadvar(variable.name), self.typeof(variable.name), types.int64)

    def _together(self, type_: Any, *parts: Any) -> Any:
        whole = ir.Constant(self.context.get_value_type(type_), ir.Undefined)
        for k, part in enumerate(parts):
            whole = self.builder.insert_value(whole, part, k)
        return whole

    @cached_property
    def _bounds(self) -> dict[int, tuple[Any, bool, bool]]:
        """What says which entries a view has, and whether it says the first and the last of them."""
        return {}

    @cached_property
    def _steps(self) -> dict[int, tuple[Any, int]]:
        """Ranges, and what they count by."""
        return {}

    def _of_range(self, op: str, resty: Any, expr: Any) -> Any:
        """What a loop over a range consists of."""
        value = self.loadvar(expr.value.name)
        if op == "getiter":
            known = self._steps.get(id(value))
            return super().lower_expr(resty, expr) if known is None else self._begin(value, known[1])
        if op == "iternext":
            return self._next(value)
        return self.builder.extract_value(value, 0 if op == "pair_first" else 1)

    def _begin(self, given: Any, step: int) -> Any:
        """The iterator of a range: places of the next number and of how many are left, between them the end and the
        step.
        """
        builder = self.builder
        start, stop = builder.extract_value(given, 0), builder.extract_value(given, 1)
        count = way = builder.sub(stop, start) if step > 0 else builder.sub(start, stop)
        if abs(step) > 1:
            count = builder.add(builder.sdiv(builder.sub(way, _ONE), _WORD(abs(step))), _ONE)
        count = builder.select(builder.icmp_signed(">", way, _ZERO), count, _ZERO)
        places = [cgutils.alloca_once(builder, _WORD, name=name) for name in ("next", "left")]
        builder.store(start, places[0])
        builder.store(count, places[1])
        return self._together(_ITERATOR, places[0], stop, _WORD(step), places[1])

    def _next(self, iterator: Any) -> Any:
        """The next number, and whether there is one."""
        builder = self.builder
        place, step, left = (builder.extract_value(iterator, k) for k in (0, 2, 3))
        number, count = builder.load(place), builder.load(left)
        is_one = builder.icmp_signed(">", count, _ZERO)
        with builder.if_then(is_one):  # else loops are turned over in a worse way
            builder.store(builder.add(number, step), place)
            builder.store(builder.sub(count, _ONE, flags=["nsw"]), left)
        return self._together(_NEXT, number, is_one)


class FlowLower(KernelLower):
    """Writes the code of a function that has been gone through (`liegroup.compile.flow`)."""

    def _find_singly_assigned_variable(self) -> None:
        """There are no variables."""

    def lower_function_body(self) -> Any:
        """Write what the function does; returns the end of its beginning."""
        first = self.function.append_basic_block("B0")
        self.blkmap[self.firstblk] = first
        self.pre_lower()
        end = self.builder.basic_block
        self.builder.position_at_end(first)
        self.func_ir.flow.write(self.context, self.builder, self.fnargs)
        self.post_lower()
        leave_out_unused(self.function, everywhere=not getattr(self.library, "loops", ""))
        return end
