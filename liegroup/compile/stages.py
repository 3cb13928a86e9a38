"""The stages of a compilation: the compiler's own, or for plain functions those that can have something to do."""

from __future__ import annotations

import dis
import gc
import os
import uuid
from functools import cache
from types import CodeType
from typing import Any

from numba.core import typed_passes, untyped_passes
from numba.core.compiler import Compiler
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower

from liegroup.compile.libraries import FormulaLibrary, KernelLibrary, has_short_loops
from liegroup.compile.lowering import KernelLower


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(typed_passes.BaseNativeLowering):
    _name = "liemech_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        return KernelLower


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
_LITERALS = {"hasattr", "isinstance", "literal_unroll", "literally"}
_WITH = dis.opmap["BEFORE_WITH"]


class _Stages(PassManager):
    """Runs the stages of a plain function, without measuring and describing each of them."""

    def _runPass(self, index: int, stage: Any, state: Any) -> None:
        stage.analysis = self._analysis
        stage.run_pass(state)


@cache
def _stages(allocates: bool) -> Any:
    """The stages; rewriting of expressions of whole arrays only where results may be allocated."""
    manager = _Stages("nopython")
    for stage in _STAGES:
        if allocates or stage is not typed_passes.NopythonRewrites:
            manager.add_pass(stage, stage.__name__)
    manager.finalize()
    return manager


def is_plain(code: CodeType) -> bool:
    """Whether a function has no functions within, no contexts and no literals that matter for types."""
    nested = any(isinstance(constant, CodeType) for constant in code.co_consts)
    return not (nested or _WITH in code.co_code[::2] or _LITERALS & {*code.co_names, *code.co_freevars})


_process: list[Any] = [None, ""]


def _process_name() -> str:
    """A name for this process, another one after a fork: functions that two processes number alike must not pass for
    each other.
    """
    if _process[0] != os.getpid():
        _process[:] = os.getpid(), uuid.uuid4().hex[:12]
    return str(_process[1])


class KernelCompiler(Compiler):
    """The compiler with libraries of ours, and with names that no other process gives."""

    is_written_into_callers = False

    def define_pipelines(self) -> list[Any]:
        state = self.state
        is_usual = not (state.flags.auto_parallel.enabled or state.flags.force_pyobject or state.flags.no_rewrites)
        return (
            [_stages(bool(state.flags.nrt))]
            if is_usual and is_plain(state.func_id.code)
            else super().define_pipelines()
        )

    def _compile_bytecode(self) -> Any:
        state = self.state
        state.func_id.unique_id = f"{state.func_id.unique_id}p{_process_name()}"
        if state.library is None:
            is_part = state.flags.forceinline or self.is_written_into_callers
            kind = FormulaLibrary if is_part else KernelLibrary
            state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname, state.flags.nrt)
            state.library.has_short_loops = has_short_loops(state.func_id.func)
        result = _without_notes(super()._compile_bytecode())
        if not gc.isenabled():
            gc.collect(0)  # what this function was compiled with: put off to the end, it is hundreds of megabytes
        return result


class BodyCompiler(KernelCompiler):
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
