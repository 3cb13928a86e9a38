"""How compiled functions become machine code: formulas only as part of kernels, kernels once, called by name.

The compiler's own way is to optimise every function and to make machine code of it, though most are only inlined, and
to treat the code of a kernel again in everything that calls it.  Here a formula is simplified, no more, and waits until
a kernel needs it; a kernel is linked with its formulas, optimised and turned into machine code once, and its callers
know it by name only.
"""

from __future__ import annotations

import re
import uuid
from functools import cache
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding.ffi import ObjectRef
from llvmlite.binding.newpassmanagers import FunctionPassManager, ModulePassManager, NewPassManager
from numba.core import cgutils, config
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from liegroup.compile import objects, progress
from liegroup.compile.cells import Key, cell
from liegroup.compile.lanes import VECTOR, WIDTH

_ENVIRONMENT = "_ZN08NumbaEnv"
_NOT_CACHED = "numba.dynamic.globals"
"""Prefix of variables by which the compiler knows code that must not be kept for other processes."""
_COUNTS, _HASHES = re.compile(rb"NRT_"), re.compile(rb"numba_hash")
"""Names in machine code that takes or makes arrays as Python's: what counts references has to be set up before; or that
hashes: the whole compiler has to be.
"""
LEVEL = 2
"""Of optimisation of single functions, at most.  Level 3, the compiler's own, copies loops for the values of what is
compared within them, and every kernel that a formula is inlined into has the copies: large ones take twice as long to
compile, and no step gets faster.  Kernels as a whole have level 3: of small ones the steps are up to a tenth faster.
"""
SHORT_LEVEL = 1
"""Of optimisation of what says how long its loops are (`loops_of`): the higher ones take a sixth of the time of a
second method, and its steps are no faster.
"""
_REGISTER = str(VECTOR)
_BEGIN, _ALIGNED = "\n{\n", f" alignstack({8 * WIDTH})\n{{\n"
"""What functions begin with; so that lane registers put aside on the stack do not lie across two lines of the cache."""


for _manager in (FunctionPassManager, ModulePassManager):
    if _manager._dispose is ObjectRef._dispose:  # it hides the one that frees memory: 60 kB for each, four a kernel
        _manager._dispose = NewPassManager._dispose


class _Library(JITCodeLibrary):
    """What formulas and kernels have in common: functions are simplified one by one, and nothing is linked before it
    must be.
    """

    _shared_module: Any
    _final_module: Any
    _linking_libraries: Any

    def __init__(self, codegen: Any, name: str, counts_references: bool = False) -> None:
        super().__init__(codegen, name)
        self._counts_references = counts_references
        self.in_lanes = False
        """Whether lane registers occur in it."""
        self.has_complex = False
        """Whether it takes complex numbers, or something that it is made of does."""
        self.bound_late: set[tuple[int, bool]] = set()
        """What `liegroup.compile.late` calls through its table."""
        self.rare: set[Key] = set()
        """What `liegroup.compile.rare` calls through cells."""
        self.fulfilled: set[Any] = set()
        """For what that has been bound."""
        self.loops = ""
        """What its module says of them, see `loops_of`."""
        self.takes_bare_arrays = False
        """Whether arrays come as pointers and shapes: see `liegroup.compile.calls`."""
        self.enable_object_caching()

    def add_ir_module(self, ir_module: Any) -> None:
        self._raise_if_finalized()
        text = cgutils.normalize_ir_text(str(ir_module))
        inlined, _ = self._closure()
        self.in_lanes |= _REGISTER in text or any(getattr(library, "in_lanes", False) for library in inlined)
        self.has_complex |= any(getattr(library, "has_complex", False) for library in inlined)
        module = llvm.parse_assembly(text.replace(_BEGIN, _ALIGNED) if self.in_lanes else text)
        self._optimize_functions(module)  # once: inlined as it is, a formula would make work in every kernel
        self._final_module.link_in(module)

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        level = SHORT_LEVEL if self.loops else LEVEL
        passes, builder = self._codegen._function_pass_manager(opt=min(level, int(config.OPT)))
        for function in module.functions:
            passes.run(function, builder)

    def add_linking_library(self, library: Any) -> None:
        if library is not rtsys.library or self._counts_references:
            super().add_linking_library(library)

    def _closure(self) -> tuple[list[Any], list[KernelLibrary]]:
        """The libraries of the formulas this one is made of, directly or indirectly, each before those that it is made
        of, and those of the kernels they call.

        The order matters: what is inlined is taken over only where something that is there already asks for it.
        """
        inlined, called, seen = list[Any](), dict[KernelLibrary, None](), set[Any]()

        def visit(libraries: Any) -> None:
            for library in libraries:
                if isinstance(library, KernelLibrary):
                    called[library] = None
                elif library not in seen:
                    seen.add(library)
                    visit(library._linking_libraries if isinstance(library, FormulaLibrary) else ())
                    inlined.append(library)

        visit(self._linking_libraries)
        return inlined[::-1], list(called)

    def _link(self, module: Any, inlined: list[Any]) -> None:
        """Link a module with the code of formulas."""
        for library in inlined:
            own = isinstance(library, FormulaLibrary)
            module.link_in(library._final_module if own else library._get_module_for_linking(), preserve=True)


def _remark() -> Any:
    """A module that keeps functions compiled in the compiler's own way from being cached: what they call is in this
    process only.
    """
    return llvm.parse_assembly(f'@"{_NOT_CACHED}.{uuid.uuid4().hex}" = weak global i8 0')


class _WithoutEnvironments:
    """What a formula's library shows of the code generator: there is no machine code in which an environment could be
    set.
    """

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass


class FormulaLibrary(_Library):
    """The code of a function that is inlined by force: kept for those who link it."""

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironments

    def finalize(self) -> None:
        self._raise_if_finalized()
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
                function.add_function_attribute("alwaysinline")
        for variable in self._final_module.global_variables:
            if variable.name.startswith(_ENVIRONMENT):
                variable.linkage = "linkonce_any"  # so that it goes where the function does not need it
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """The code with all it is made of, for functions that are compiled in the compiler's own way."""
        inlined, called = self._closure()
        module = self._final_module.clone()
        self._link(module, inlined)
        if called or any(
            library.bound_late or library.rare for library in (self, *inlined) if isinstance(library, _Library)
        ):
            module.link_in(_remark(), preserve=True)
        return module


def loops_of(function: Any) -> str:
    """What a module says of the loops of its kernels: ``LOOPS = "short"``, ``LOOPS = "rows"`` or nothing.

    The compiler prepares every loop for thousands of numbers: it takes four vectors of eight at once, and writes out
    the rounds for what is left over.  Loops over some tens of numbers are written once: those along rows of matrices,
    where elimination spends its time, one vector at a time; others one number at a time, and what comes after loops
    have become vectors is left out with that.  Kernels of implicit methods compile in two fifths of the time, and
    steps take as long.
    """
    return str(function.__globals__.get("LOOPS", ""))


class KernelLibrary(_Library):
    """The machine code of a kernel or an entry; `objects` holds it and that of all it calls, by digest."""

    def __init__(self, codegen: Any, name: str, counts_references: bool = False) -> None:
        super().__init__(codegen, name, counts_references)
        self.objects: dict[str, bytes] = {}
        self.symbols: tuple[str, ...] = ()

    def finalize(self) -> None:
        inlined, called = self._closure()
        for library in inlined:
            self._reload_init.update(library._reload_init)
        for library in (*inlined, *called):
            self.bound_late |= getattr(library, "bound_late", set())
            self.rare |= getattr(library, "rare", set())
        self.symbols = tuple(f.name for f in self._final_module.functions if not f.is_declaration)
        self._link(self._final_module, inlined)
        self._linking_libraries.clear()
        super().finalize()
        for library in called:
            self.objects |= library.objects
            self._dynamic_globals += library._dynamic_globals
        self._set_environments()
        self._forget_module()
        progress.tick(compiled=True)

    def _optimize_functions(self, module: Any) -> None:
        """Nothing before the passes over the whole: nobody else has its code."""
        if self._counts_references:
            super()._optimize_functions(module)
        else:
            module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        """The passes over the whole; complex numbers, pairs that are copied whole, take six times as long without all
        of them.
        """
        if not self.loops or self._counts_references or self.has_complex:
            super()._optimize_final_module()
            return
        options = llvm.create_pipeline_tuning_options(min(SHORT_LEVEL, int(config.OPT)))
        options.loop_vectorization = bool(config.LOOP_VECTORIZE)
        options.slp_vectorization = options.loop_interleaving = options.loop_unrolling = False
        builder = llvm.create_pass_builder(self._codegen._tm, options)
        if self.loops == "rows":
            builder.getModulePassManager().run(self._final_module, builder)
            return
        inline = llvm.create_new_module_pass_manager()
        inline.add_always_inliner_pass()
        inline.add_global_dead_code_eliminate_pass()
        inline.run(self._final_module, builder)
        simplify = builder.getFunctionPassManager()
        for function in self._final_module.functions:
            if not function.is_declaration:
                simplify.run(function, builder)

    def _finalize_final_module(self) -> None:
        """Make machine code of the module and load it as an object: an engine would keep the module for ever."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        code = self._codegen._tm.emit_object(self._final_module)
        digest = objects.digest_of(code)
        self.objects[digest] = code
        engine = self._codegen._engine
        engine._load_defined_symbols(self._final_module)
        engine._ee.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        _loaded(self._codegen).add(digest)
        self._finalized = True

    def _forget_module(self) -> None:
        """Leave of the module only the names of its environments, for which the compiler looks later."""
        names = [x.name for x in self._final_module.global_variables if x.name.startswith(_ENVIRONMENT)]
        self._final_module.close()
        self._final_module = llvm.parse_assembly("\n".join(f'@"{name}" = external global ptr' for name in names))
        self._disable_inspection = True

    def _set_environments(self) -> None:
        """Give the formulas within their environments, which they need for exceptions with values in their message."""
        for variable in self._final_module.global_variables:
            environment = lookup_environment(variable.name) if variable.name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                self._codegen.set_env(variable.name, environment)

    def _get_module_for_linking(self) -> Any:
        """For functions compiled in the compiler's own way: they call the code by its name."""
        return _remark()

    def keep(self) -> tuple[Any, ...]:
        """Write the machine code to the disk; returns what `load` needs."""
        for digest, code in self.objects.items():
            objects.keep(digest, code)
        return self.name, self.symbols, tuple(self.objects), tuple(sorted(self.bound_late)), tuple(self.rare)

    @classmethod
    def load(
        cls,
        codegen: Any,
        name: str,
        symbols: tuple[str, ...],
        digests: tuple[str, ...],
        bound_late: tuple[tuple[int, bool], ...],
        rare: tuple[Key, ...],
    ) -> KernelLibrary | None:
        """The library that `keep` has written, or None if a piece of it is missing: unknown names would end the
        process.
        """
        pieces = {digest: objects.read(digest) for digest in digests}
        if any(_HASHES.search(code) for code in pieces.values() if code is not None):
            cpu_target.target_context.refresh()
        elif any(_COUNTS.search(code) for code in pieces.values() if code is not None):
            rtsys.initialize(cpu_target.target_context)
        self, engine, present = cls(codegen, name), codegen._engine, _loaded(codegen)
        for key in rare:
            cell(key)
        for digest, code in pieces.items():
            if code is None:
                return None
            self.objects[digest] = code
        for digest in digests:
            if digest not in present:
                engine._ee.add_object_file(llvm.ObjectFileRef.from_data(self.objects[digest]))
                present.add(digest)
        engine._defined_symbols.update(symbols)
        engine.finalize_object()
        self.bound_late, self.rare = set(bound_late), set(rare)
        self.symbols, self._finalized, self._disable_inspection = symbols, True, True
        progress.tick(compiled=False)
        return self


@cache
def _loaded(codegen: Any) -> set[str]:
    """Digests of the machine code that the process already has."""
    return set()
