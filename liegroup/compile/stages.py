"""The stages of a compilation: the compiler's own, or for plain functions those that can have something to do."""

from __future__ import annotations

import dis
import gc
import inspect
import os
import uuid
from functools import cache
from types import CodeType
from typing import Any

from numba.core import typed_passes, types, untyped_passes
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import FunctionPass, PassManager, register_pass
from numba.core.interpreter import Interpreter, peep_hole_delete_with_exit
from numba.core.ir import Loc
from numba.core.ir_utils import build_definitions
from numba.core.lowering import Lower
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.targetconfig import ConfigStack
from numba.core.transforms import canonicalize_cfg

from liegroup.compile.libraries import FormulaLibrary, KernelLibrary, loops_of
from liegroup.compile.lowering import FlowLower, KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.BaseNativeLowering):
    _name = "liemech_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _FlowLowering(typed_passes.BaseNativeLowering):
    _name = "liemech_flow_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return FlowLower


class _Read:
    """What is asked of a function in the compiler's own form, where there is none."""

    generator_info = None

    def __init__(self, func_id: Any, flow: Any) -> None:
        self.func_id, self.flow, self.arg_names = func_id, flow, func_id.arg_names
        self.loc = Loc.from_function_id(func_id)
        self.blocks = {0: None}


class _Interpreter(Interpreter):
    """The compiler's own, without the search for ends of contexts: plain functions have none."""

    def post_process(self, peepholes: Any, func_ir: Any) -> Any:
        return super().post_process([x for x in peepholes if x is not peep_hole_delete_with_exit], func_ir)


class _Stage(FunctionPass):
    def __init__(self) -> None:
        FunctionPass.__init__(self)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Translation(_Stage):
    """From bytecode to the compiler's own form."""

    _name = "liemech_translation"

    def run_pass(self, state: Any) -> bool:
        """Run the stage."""
        state.func_ir = _Interpreter(state.func_id).interpret(state.bc)
        state.func_ir.blocks = canonicalize_cfg(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Rewrites(_Stage):
    """The compiler's rewriting before it looks for types, block by block."""

    _name = "liemech_rewrites"

    def run_pass(self, state: Any) -> bool:
        """Run the stage."""
        blocks = state.func_ir.blocks
        for kind in rewrite_registry.rewrites["before-inference"]:
            rewrite, todo = kind(state), list(blocks.items())
            while todo:
                key, block = todo.pop()
                if rewrite.match(state.func_ir, block, state.typemap, state.calltypes):
                    blocks[key] = rewrite.apply()
                    todo.append((key, blocks[key]))
        state.func_ir.blocks = canonicalize_cfg(blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _SingleAssignment(_Stage):
    """Every variable is assigned once."""

    _name = "liemech_single_assignment"

    def run_pass(self, state: Any) -> bool:
        """Run the stage."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _WithoutPhis(typed_passes.PreLowerStripPhis):
    """What is one variable or another is assigned where that is known."""

    _name = "liemech_without_phis"

    def run_pass(self, state: Any) -> bool:
        """Run the stage."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Inlining(typed_passes.InlineOverloads):
    """What others have said is to be written into its callers: where there is any."""

    _name = "liemech_inlining"

    def run_pass(self, state: Any) -> bool:
        """Run the stage."""
        return any(_is_inlined(x) for x in state.typemap.values()) and super().run_pass(state)


def _is_inlined(type_: Any) -> bool:
    """Whether it is a function that may be written into its callers."""
    templates = getattr(type_, "templates", ()) or (getattr(type_, "template", None),)
    return any(getattr(x, "_inline_overloads", None) for x in templates)


_STAGES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.RewriteSemanticConstants,
    untyped_passes.DeadBranchPrune,
    untyped_passes.GenericRewrites,
    untyped_passes.RewriteDynamicRaises,
    untyped_passes.ReconstructSSA,
    untyped_passes.DeadBranchPrune,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.NopythonRewrites,
    typed_passes.NoPythonSupportedFeatureValidation,
    typed_passes.IRLegalization,
    _Lowering,
    typed_passes.NoPythonBackend,
)
_SHORTER = {
    untyped_passes.TranslateByteCode: _Translation,
    untyped_passes.IRProcessing: None,
    untyped_passes.GenericRewrites: _Rewrites,
    untyped_passes.ReconstructSSA: _SingleAssignment,
    typed_passes.PreLowerStripPhis: _WithoutPhis,
    typed_passes.InlineOverloads: _Inlining,
    typed_passes.NopythonRewrites: None,
    typed_passes.IRLegalization: None,
}
"""Stages of functions that allocate nothing: the compiler's own find out, after each, where variables are used for the
last time, so that what they hold can be given back; and they rewrite expressions of whole arrays.
"""
_LITERALS = {"hasattr", "isinstance", "literal_unroll", "literally"}
_WITH = dis.opmap["BEFORE_WITH"]


class _Stages(PassManager):
    """Runs the stages of a plain function, without measuring and describing each of them."""

    def _runPass(self, index: int, stage: Any, state: Any) -> None:
        stage.analysis = self._analysis
        stage.run_pass(state)


@cache
def _stages(allocates: bool) -> Any:
    """The stages of a function that may allocate, or not."""
    manager = _Stages("nopython")
    for usual in _STAGES:
        stage = usual if allocates else _SHORTER.get(usual, usual)
        if stage is not None:
            manager.add_pass(stage, stage.__name__)
    manager.finalize()
    return manager


def is_plain(code: CodeType) -> bool:
    """Whether a function is no generator, and has no functions within, no contexts and no literals that matter."""
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    yields = code.co_flags & inspect.CO_GENERATOR
    return not (nested or yields or _WITH in code.co_code[::2] or _LITERALS & {*code.co_names, *code.co_freevars})


_process: list[Any] = [None, ""]


def _process_name() -> str:
    """A name for this process, another one after a fork: functions that two processes number alike must not pass for
    each other.
    """
    if _process[0] != os.getpid():
        _process[:] = os.getpid(), uuid.uuid4().hex[:12]
    return str(_process[1])


@cache
def _shortest() -> Any:
    """The stages of a function that has been gone through."""
    manager = _Stages("flow")
    for stage in (_FlowLowering, typed_passes.NoPythonBackend):
        manager.add_pass(stage, stage.__name__)
    manager.finalize()
    return manager


class KernelCompiler(Compiler):
    """The compiler with libraries of ours, and with names that no other process gives."""

    is_written_into_callers = takes_bare_arrays = False
    """Arrays that are arguments come as pointers and shapes: see `liegroup.compile.calls`."""

    goes_through: Any = None
    """What goes through functions statement by statement: `liegroup.compile.flow.Flow`."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function; its bytecode is looked at where it is needed."""
        self.state.func_id = FunctionIdentity.from_function(func)
        self.state.lifted, self.state.lifted_from = (), None
        return self._compile_bytecode()

    def _compile_core(self) -> Any:
        """The shortest way, where a function can be gone through; else, and where nothing comes of it, the compiler's
        own, which says what is wrong.
        """
        state, given = self.state, self.state.return_type
        with ConfigStack().enter(state.flags.copy()):
            try:
                if self._gone_through():
                    _shortest().run(state)
                    state.func_ir = state.pipeline = None  # which hold each other
                    return state.cr
            except Exception:
                state.func_ir = state.typemap = state.calltypes = state.cr = None
                state.return_type, state.library = given, self._library()
        untyped_passes.ExtractByteCode().run_pass(state)
        return super()._compile_core()

    def _gone_through(self) -> bool:
        """Whether a function has been gone through."""
        state = self.state
        flags, func_id = state.flags, state.func_id
        if flags.nrt or flags.boundscheck or flags.debuginfo or flags.force_pyobject or not is_plain(func_id.code):
            return False
        flow = self.goes_through(func_id.func, state.args, state.return_type)
        state.func_ir, state.return_type, state.calltypes = _Read(func_id, flow), flow.result, {}
        state.typemap = {f"arg.{name}": type_ for name, type_ in zip(func_id.arg_names, state.args, strict=True)}
        return True

    def define_pipelines(self) -> list[Any]:
        state = self.state
        is_usual = not (
            state.flags.debuginfo
            or state.flags.auto_parallel.enabled
            or state.flags.force_pyobject
            or state.flags.no_rewrites
        )
        if is_usual and is_plain(state.func_id.code):
            return [_stages(bool(state.flags.nrt))]
        others: list[Any] = super().define_pipelines()
        for manager in others:
            manager.passes = [
                (_Lowering if x is typed_passes.NativeLowering else x, name) for x, name in manager.passes
            ]
        return others

    def _compile_bytecode(self) -> Any:
        state = self.state
        state.func_id.unique_id = f"{state.func_id.unique_id}p{_process_name()}"
        state.library = state.library or self._library()
        result = _without_notes(super()._compile_bytecode())
        if not gc.isenabled():
            gc.collect(0)  # what this function was compiled with: put off to the end, it is hundreds of megabytes
        return result

    def _library(self) -> Any:
        """Where the code of the function goes."""
        state = self.state
        is_part = state.flags.forceinline or self.is_written_into_callers
        kind = FormulaLibrary if is_part else KernelLibrary
        library = kind(state.targetctx.codegen(), state.func_id.func_qualname, state.flags.nrt)
        library.loops = loops_of(state.func_id.func)
        library.has_complex = any(isinstance(getattr(x, "dtype", x), types.Complex) for x in state.args)
        library.takes_bare_arrays = self.takes_bare_arrays
        return library


class CalledCompiler(KernelCompiler):
    """The same for what only compiled code of ours calls."""

    takes_bare_arrays = True


class BodyCompiler(CalledCompiler):
    """The same for what is written into its caller, while the kernels that it calls stay kernels: forced to be inlined,
    it would force them.
    """

    is_written_into_callers = True


def _without_notes(result: Any) -> Any:
    """What was compiled, without the types of all its variables and its code in the compiler's own form: nobody asks
    for them again, and they take more memory than machine code.
    """
    if result is None:
        return result
    result.fndesc.typemap = result.fndesc.calltypes = None
    return result._replace(type_annotation=None, metadata=None)
