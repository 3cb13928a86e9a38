"""Kernel decorators and the lane type: the only file that names numba.

A formula is written once, as a plain Python function of scalars.  `helper` leaves it a plain Python function
(so it runs on floats, numpy batches, mpmath and complex numbers as it stands) and also registers it with the
compiler, where float64 gives one trajectory and `Lanes` (eight doubles in one vector register) gives eight.

=============  ==========================================================================================
`helper`       formula or small function, inlined by force into every kernel that uses it
`kernel`       larger function called from other kernels, inlined where the compiler thinks it pays
`primitive`    a Python function on any scalar whose compiled form is another function
`entry`        the outermost function of a family: fixed signatures, compiled lazily, cached on disk
`ld`, `ld2` …   read and write (`st`, `st2`) a scalar or a lane register, by the dimensions of the array
=============  ==========================================================================================

Modes, by the environment variable ``LIEMECH_KERNELS``:

* ``strict`` (default): IEEE arithmetic in the order written; scalar, lane and interpreted runs agree bitwise.
* ``contract``: the compiler may fuse a*b + c (8-18 % faster, last digits differ).

The cache directory (``LIEMECH_CACHE``, default: the user's cache folder) is keyed by a digest of the source of the
entry and of every project file it imports, because the compiler's own cache looks at one file only.
"""

from __future__ import annotations

import ast
import ctypes
import hashlib
import importlib.util
import math
import operator
import os
import shutil
import sys
import time
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, overload, register_jitable, register_model, typeof_impl

F = TypeVar("F", bound=Callable[..., Any])

MODE = os.environ.get("LIEMECH_KERNELS", "strict")
if MODE not in ("strict", "contract"):
    raise ValueError(f"LIEMECH_KERNELS={MODE!r}: expected 'strict' or 'contract'")
_OPTIONS: dict[str, Any] = {"error_model": "numpy"} | ({"fastmath": {"contract"}} if MODE == "contract" else {})

_KERNEL = _OPTIONS | {"_nrt": False}
"""Options of kernels: arrays are not reference-counted (calls cost half), and an allocation is a compile error."""
_INNER = _KERNEL | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only compiled code calls: without the doors for Python they compile twice as fast."""

WIDTH = 8
"""Trajectories in one lane register."""
ALIGNMENT = 64
"""Bytes; lane arrays from `lane_array` start on this boundary."""
PACKAGES = ("liegroup", "integrators", "mechanics", "studies", "tests", "benchmarks", "examples")

# --- decorators ---------------------------------------------------------------------------------------------------


def helper(function: F) -> F:
    """Register a formula with the compiler, inlined by force; in Python it stays the plain function."""
    registered: F = _registered(register_jitable(forceinline=True, **_INNER)(_own_name(function)))
    return registered


def kernel(function: F) -> F:
    """Register a larger function with the compiler; in Python it stays the plain function."""
    registered: F = _registered(register_jitable(**_INNER)(_own_name(function)))
    return registered


def _registered(function: Any) -> Any:
    function.is_formula = True
    return function


def is_formula(function: Any) -> bool:
    """True for a `helper` or `kernel`: what other kernels can call."""
    return bool(getattr(function, "is_formula", False))


def primitive(compiled: Callable[..., Any]) -> Callable[[F], F]:
    """Give a Python function of any scalar type the compiled form `compiled` (same arguments) on float64 and lanes."""

    def decorate(function: F) -> F:
        def resolve(*args: Any) -> Callable[..., Any]:
            return compiled

        _compiled_form(function)(resolve)
        return function

    return decorate


def _compiled_form(function: Callable[..., Any]) -> Any:
    """Decorator: chooses, by the types of the arguments, what the compiler puts in the place of a Python function."""

    def decorate(resolve: Callable[..., Any]) -> Callable[..., Any]:
        def named(*args: Any) -> Any:
            chosen = resolve(*args)
            return _own_name(chosen) if callable(chosen) else chosen

        overload(function, jit_options={"forceinline": True, **_INNER}, strict=False)(named)
        return resolve

    return decorate


_PROCESS = uuid.uuid4().hex[:12]


def _own_name(function: F) -> F:
    """Mark a function made by another function with the process it was made in.

    The linker knows functions by qualified name and a number counted anew in every process: two functions made by one
    factory, one of them in a kernel from the cache, could pass for each other.
    """
    if "<locals>" in function.__qualname__ and _PROCESS not in function.__qualname__:
        function.__qualname__ = f"{function.__qualname__}_{_PROCESS}"
    return function


class Entry:
    """The outermost function of a kernel family: compiled at its first use, for its fixed signatures, and cached.

    `entry.python` is the undecorated function: the same source, interpreted (plain Python fields, mpmath, …).
    `entry.compiled` (and `entry.compiled_lanes`) is what other kernels take as an argument of type `function`; every
    signature compiles on its own, when it is first needed.
    """

    def __init__(self, function: Callable[..., Any], signatures: tuple[Any, ...]) -> None:
        self.python = function
        self._signatures = signatures
        self._dispatcher: Any = None
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__module__ = function.__module__
        self.__wrapped__ = function

    @property
    def compiled(self) -> Any:
        """The dispatcher, compiled at least for the first signature (one trajectory)."""
        return self._compiled_for(0)

    @property
    def compiled_lanes(self) -> Any:
        """The dispatcher, compiled at least for the last signature (lanes)."""
        return self._compiled_for(-1)

    def _compiled_for(self, which: int) -> Any:
        if self._dispatcher is None:
            self._dispatcher = numba.njit(**_KERNEL)(self.python)
            if Path(self.python.__code__.co_filename).is_file():  # what was typed at a prompt has no source to know it by
                self._dispatcher._cache = _DigestCache(self.python)
        wanted = self._signatures[which]
        if wanted.args not in self._dispatcher.overloads:
            self._dispatcher.disable_compile(False)
            self._dispatcher.compile(wanted)
            self._dispatcher.disable_compile()
        return self._dispatcher

    def __call__(self, *args: Any) -> Any:
        dispatcher = self._dispatcher or self.compiled
        if len(self._signatures) > len(dispatcher.overloads):
            given = tuple(getattr(a, "ndim", 0) for a in args)
            for k, wanted in enumerate(self._signatures):
                if tuple(getattr(t, "ndim", 0) for t in wanted.args) == given:
                    dispatcher = self._compiled_for(k)
        return dispatcher(*args)


def entry(*signatures: Any) -> Callable[[Callable[..., Any]], Entry]:
    """Decorator: an entry point with the given signatures (built from `real`, `vector`, `function`, …)."""
    return lambda function: Entry(function, signatures)


def compile_field(function: Callable[..., Any], *signatures: Any) -> Any:
    """Compile a user's plain or jitted function for the given signatures, in memory only (0.2 s or so)."""
    python = getattr(function, "py_func", function)
    dispatcher = numba.njit(**_OPTIONS)(python)
    for s in signatures:
        dispatcher.compile(s)
    dispatcher.disable_compile()
    return dispatcher


def is_jitted(function: Any) -> bool:
    """True for a function that came out of the compiler (`numba.njit`, `numba.cfunc`) or is an `Entry`."""
    return isinstance(function, Entry) or hasattr(function, "py_func") or hasattr(function, "_wrapper_address")


# --- signatures ---------------------------------------------------------------------------------------------------

nothing = types.void
boolean = types.boolean
integer = types.int64
real = types.float64
integers = types.int64[::1]
integer_table = types.int64[:, ::1]
vector = types.float64[::1]
constants = types.Array(types.float64, 1, "C", readonly=True)
"""A vector that is only read: arrays that may not be written are accepted, too."""
matrix = types.float64[:, ::1]
lane_vector = types.float64[:, ::1]
lane_matrix = types.float64[:, :, ::1]


def function(result: Any, *arguments: Any) -> Any:
    """The type of a compiled function passed as an argument; called through a pointer (about 2 ns)."""
    return types.FunctionType(result(*arguments))


class Pointer(types.WrapperAddressProtocol):
    """A compiled function as an argument that costs little to pass, for loops in Python around compiled steps.

    Passing the dispatcher itself, the compiler looks its code up at every call (40 µs).  `type_`: as made by `function`, which of the
    dispatcher's signatures is meant.
    """

    def __init__(self, dispatcher: Any, type_: Any) -> None:
        compiled = dispatcher.overloads[type_.signature.args]
        self._dispatcher, self.type = dispatcher, type_
        self._address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_cfunc_wrapper_name)

    def __wrapper_address__(self) -> int:
        return int(self._address)

    def signature(self) -> Any:
        return self.type.signature

    def __call__(self, *args: Any) -> Any:
        return self._dispatcher(*args)


@typeof_impl.register(Pointer)
def _type_of_pointer(pointer: Pointer, context: Any) -> Any:
    return pointer.type


# --- cache --------------------------------------------------------------------------------------------------------


@cache
def _imports(path: str) -> tuple[str, ...]:
    """Files of the project that the file imports, without following them further."""
    found: list[str] = []
    package = _package_of(path)
    for node in ast.walk(ast.parse(Path(path).read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join(filter(None, [".".join(package.split(".")[: len(package.split(".")) + 1 - node.level]), base]))
            names = [base] + [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] in PACKAGES and (file := _file_of(name)):
                found.append(file)
    return tuple(found)


def _package_of(path: str) -> str:
    parts = list(Path(path).resolve().parts[:-1])
    for package in PACKAGES:
        if package in parts:
            return ".".join(parts[len(parts) - 1 - parts[::-1].index(package) :])
    return ""


@cache
def _file_of(name: str) -> str | None:
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, AttributeError, ValueError):
        return None
    # a package's __init__ only collects names; what a kernel needs it imports from the module itself
    if spec is None or not spec.origin or spec.origin.endswith("__init__.py"):
        return None
    return spec.origin


def source_digest(*paths: str | Path) -> str:
    """Digest of source files, of every project file they import directly or indirectly, and of the compiler's setting."""
    todo, seen = [str(Path(path).resolve()) for path in paths], set[str]()
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += _imports(file)
    digest = hashlib.sha256(f"{MODE} {numba.__version__} {sys.version_info[:2]}".encode())
    for file in sorted(seen):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:24]


def cache_directory() -> Path:
    """Where compiled kernels are kept: ``LIEMECH_CACHE``, else ``$XDG_CACHE_HOME/liemech`` or ``~/.cache/liemech``."""
    if "LIEMECH_CACHE" in os.environ:
        return Path(os.environ["LIEMECH_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "liemech"


def _prune(root: Path, days: float = 30.0) -> None:
    """Remove kernels of sources that have not been used for a while."""
    for folder in root.iterdir():
        if folder.is_dir() and time.time() - folder.stat().st_mtime > days * 86400:
            shutil.rmtree(folder, ignore_errors=True)


class _DigestLocator:
    """Places the cache of a function in a folder named after the digest of everything it is compiled from."""

    def __init__(self, py_func: Callable[..., Any], path: str) -> None:
        # a kernel built around a formula it was given depends on the file of the formula, too
        self._path = cache_directory() / source_digest(path, *getattr(py_func, "sources", ()))
        self._line = py_func.__code__.co_firstlineno

    def ensure_cache_path(self) -> None:
        fresh = not self._path.exists()
        self._path.mkdir(parents=True, exist_ok=True)
        if fresh:
            _prune(self._path.parent)
        else:
            os.utime(self._path)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        return self._path.name

    def get_disambiguator(self) -> str:
        return str(self._line)

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], path: str) -> _DigestLocator | None:
        return cls(py_func, path) if Path(path).is_file() else None


class _DigestCacheImpl(CompileResultCacheImpl):
    _locator_classes = (_DigestLocator,)


class _DigestCache(FunctionCache):
    _impl_class = _DigestCacheImpl


# --- lanes: eight doubles in one vector register -------------------------------------------------------------------


class _LaneType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")


class _MaskType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="LaneMask")


Lanes = _LaneType()
"""Eight float64 in one vector register."""
Mask = _MaskType()
"""Eight truth values, the result of comparing lanes."""
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


@register_model(_LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _VECTOR)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _BITS)


def _splat(builder: Any, x: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH))


def _register(context: Any, builder: Any, type_: Any, x: Any) -> Any:
    return x if type_ is Lanes else _splat(builder, context.cast(builder, x, type_, types.float64))


def _binary(op: Callable[..., Any], instruction: str, result: Any, comparison: str | None = None) -> None:
    """Teach the compiler one operator on lanes, on either side mixed with a real or integer number."""

    class Template(AbstractTemplate):
        key = op

        def generic(self, args: Any, kws: Any) -> Any:
            if Lanes in args and len(args) == 2 and all(a is Lanes or isinstance(a, (types.Float, types.Integer)) for a in args):
                return signature(result, *args)
            return None

    infer_global(op)(Template)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_register(context, builder, t, x) for t, x in zip(sig.args, args, strict=True))
        if comparison:
            return builder.fcmp_ordered(comparison, a, b) if comparison != "!=" else builder.fcmp_unordered("!=", a, b)
        return getattr(builder, instruction)(a, b)

    for first, second in ((Lanes, Lanes), (Lanes, types.Float), (types.Float, Lanes), (Lanes, types.Integer), (types.Integer, Lanes)):
        lower_builtin(op, first, second)(lower)


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _binary(_op, _name, Lanes)
for _op, _name in ((operator.iadd, "fadd"), (operator.isub, "fsub"), (operator.imul, "fmul"), (operator.itruediv, "fdiv")):
    _binary(_op, _name, Lanes)
for _op, _sign in (
    (operator.lt, "<"),
    (operator.le, "<="),
    (operator.gt, ">"),
    (operator.ge, ">="),
    (operator.eq, "=="),
    (operator.ne, "!="),
):
    _binary(_op, "", Mask, _sign)


@infer_global(operator.neg)
class _Negative(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(Lanes, Lanes) if args == (Lanes,) else None


@lower_builtin(operator.neg, Lanes)
def _lower_negative(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.fneg(args[0])


@infer_global(operator.pos)
class _Positive(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(Lanes, Lanes) if args == (Lanes,) else None


@lower_builtin(operator.pos, Lanes)
def _lower_positive(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return args[0]


def _mask_binary(op: Callable[..., Any], instruction: str) -> None:
    class Template(AbstractTemplate):
        key = op

        def generic(self, args: Any, kws: Any) -> Any:
            return signature(Mask, Mask, Mask) if args == (Mask, Mask) else None

    infer_global(op)(Template)
    lower_builtin(op, Mask, Mask)(lambda context, builder, sig, args: getattr(builder, instruction)(*args))


_mask_binary(operator.and_, "and_")
_mask_binary(operator.or_, "or_")


@lower_cast(types.Float, Lanes)
def _cast_real(context: Any, builder: Any, from_: Any, to: Any, x: Any) -> Any:
    return _register(context, builder, from_, x)


# --- select, any, square root, absolute value ------------------------------------------------------------------------


@intrinsic
def _select_lanes(typing_context: Any, c: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(args[0], _register(context, builder, sig.args[1], args[1]), _register(context, builder, sig.args[2], args[2]))

    return Lanes(c, a, b), generate


@intrinsic
def _any_lanes(typing_context: Any, c: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        bits = builder.bitcast(args[0], ir.IntType(WIDTH))
        return builder.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(WIDTH), 0))

    return types.boolean(c), generate


def _vector_call(name: str) -> Any:
    @intrinsic
    def call(typing_context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            f = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_VECTOR, [_VECTOR]), f"llvm.{name}.v{WIDTH}f64")
            return builder.call(f, args)

        return Lanes(a), generate

    return call


_sqrt_lanes = _vector_call("sqrt")
_abs_lanes = _vector_call("fabs")


@intrinsic
def _get_lane(typing_context: Any, a: Any, lane: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(args[0], args[1])

    return types.float64(a, lane), generate


@intrinsic
def _set_lane(typing_context: Any, a: Any, lane: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.insert_element(args[0], args[2], args[1])

    return Lanes(a, lane, x), generate


def less(a: Any, b: Any) -> Any:
    """``a < b``, by the real part for complex numbers (a real formula continued by complex steps)."""
    return a.real < b.real if isinstance(a, complex) or isinstance(b, complex) or np.iscomplexobj(a) or np.iscomplexobj(b) else a < b


def select(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``; both are evaluated, so both must be safe."""
    if hasattr(condition, "select"):  # scalars of other kinds may decide for themselves
        return condition.select(a, b)
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)


def any_(condition: Any) -> Any:
    """True if the condition holds in any lane."""
    return bool(np.any(condition))


def sqrt(x: Any) -> Any:
    """Square root of any scalar or batch."""
    if isinstance(x, (float, int)):
        return math.sqrt(x) if x >= 0 else math.nan
    if isinstance(x, (np.ndarray, np.generic)):
        return np.sqrt(x)
    if isinstance(x, complex):
        return x**0.5
    if type(x).__module__.startswith("sympy"):
        import sympy

        return sympy.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else _multiprecision().sqrt(x)


def absolute(x: Any) -> Any:
    """Absolute value; of a complex number (a real function continued by complex steps): x or −x by the real part."""
    return select(less(x, 0.0), -x, x) if np.iscomplexobj(x) else abs(x)


def _multiprecision() -> Any:
    import mpmath

    return mpmath


@_compiled_form(less)
def _less(a: Any, b: Any) -> Any:
    return lambda a, b: a < b


@_compiled_form(select)
def _select(condition: Any, a: Any, b: Any) -> Any:
    if condition is Mask:
        return lambda condition, a, b: _select_lanes(condition, a, b)
    return lambda condition, a, b: a if condition else b


@_compiled_form(any_)
def _any(condition: Any) -> Any:
    return (lambda condition: _any_lanes(condition)) if condition is Mask else (lambda condition: condition)


@_compiled_form(sqrt)
def _sqrt(x: Any) -> Any:
    return (lambda x: _sqrt_lanes(x)) if x is Lanes else (lambda x: math.sqrt(x))


@_compiled_form(absolute)
def _absolute(x: Any) -> Any:
    return (lambda x: _abs_lanes(x)) if x is Lanes else (lambda x: abs(x))


def each_lane(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of one float64, applied lane by lane: for what has no vector formula (exp, log, …)."""
    scalar = register_jitable(_own_name(function))

    def apply(x: Any) -> Any:
        return np.vectorize(function, otypes=[float])(x) if isinstance(x, np.ndarray) else function(x)

    @_compiled_form(apply)
    def _apply(x: Any) -> Any:
        if x is not Lanes:
            return lambda x: scalar(x)

        def lanes(x: Any) -> Any:
            y = x
            for lane in range(WIDTH):
                y = _set_lane(y, lane, scalar(_get_lane(x, lane)))
            return y

        return lanes

    return apply


# --- the way out ----------------------------------------------------------------------------------------------------

C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_double)
"""The kind of function that `call_at` calls; ``C_FUNCTION(f)`` makes one of a Python function f(t)."""


def call_at(address: Any, t: Any) -> None:
    """Call the C function ``void f(double)`` at an address: how compiled code reaches a plain Python function."""
    C_FUNCTION(address)(t)


@intrinsic
def _call_at(typing_context: Any, address: Any, t: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        c_function = ir.FunctionType(ir.VoidType(), [_DOUBLE]).as_pointer()
        builder.call(builder.inttoptr(args[0], c_function), [args[1]])
        return context.get_dummy_value()

    return types.none(types.int64, types.float64), generate


@_compiled_form(call_at)
def _call_at_form(address: Any, t: Any) -> Any:
    return lambda address, t: _call_at(address, t)


# --- memory ---------------------------------------------------------------------------------------------------------


def _address(context: Any, builder: Any, array_type: Any, array: Any, indices: Any) -> Any:
    """Pointer to a register of a contiguous array; the length of its last axis is a constant, so that columns are displacements."""
    a = context.make_array(array_type)(context, builder, array)
    lengths = cgutils.unpack_tuple(builder, a.shape)
    offset = indices[0]
    for length, index in zip(lengths[1:], indices[1:], strict=False):
        offset = builder.add(builder.mul(offset, length), index)
    return builder.gep(a.data, [builder.mul(offset, context.get_constant(types.intp, WIDTH))])


def _indices(context: Any, builder: Any, sig: Any, args: Any, which: slice) -> list[Any]:
    return [context.cast(builder, x, t, types.intp) for t, x in zip(sig.args[which], args[which], strict=True)]


@intrinsic
def _load1(typing_context: Any, a: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 2)))
        return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)

    return Lanes(a, i), generate


@intrinsic
def _load2(typing_context: Any, a: Any, i: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 3)))
        return builder.load(builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)

    return Lanes(a, i, k), generate


@intrinsic
def _store1(typing_context: Any, a: Any, i: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 2)))
        builder.store(_register(context, builder, sig.args[2], args[2]), builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(a, i, x), generate


@intrinsic
def _store2(typing_context: Any, a: Any, i: Any, k: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], _indices(context, builder, sig, args, slice(1, 3)))
        builder.store(_register(context, builder, sig.args[3], args[3]), builder.bitcast(pointer, _VECTOR.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.void(a, i, k, x), generate


def ld(a: Any, i: Any) -> Any:
    """Component ``i`` of a state ``(n,)`` (a number) or ``(n, 8)`` (a lane register)."""
    return a[i]


def st(a: Any, i: Any, x: Any) -> None:
    """Write component ``i`` of a state ``(n,)`` or ``(n, 8)``."""
    a[i] = x


def ld2(a: Any, i: Any, k: Any) -> Any:
    """Entry ``i, k`` of a workspace ``(m, n)`` (a number) or ``(m, n, 8)`` (a lane register)."""
    return a[i, k]


def st2(a: Any, i: Any, k: Any, x: Any) -> None:
    """Write entry ``i, k`` of a workspace ``(m, n)`` or ``(m, n, 8)``."""
    a[i, k] = x


@_compiled_form(ld)
def _ld(a: Any, i: Any) -> Any:
    return (lambda a, i: a[i]) if a.ndim == 1 else (lambda a, i: _load1(a, i))


@_compiled_form(st)
def _st(a: Any, i: Any, x: Any) -> Any:
    if a.ndim > 1:
        return lambda a, i, x: _store1(a, i, x)

    def store(a: Any, i: Any, x: Any) -> None:
        a[i] = x

    return store


@_compiled_form(ld2)
def _ld2(a: Any, i: Any, k: Any) -> Any:
    return (lambda a, i, k: a[i, k]) if a.ndim == 2 else (lambda a, i, k: _load2(a, i, k))


@_compiled_form(st2)
def _st2(a: Any, i: Any, k: Any, x: Any) -> Any:
    if a.ndim > 2:
        return lambda a, i, k, x: _store2(a, i, k, x)

    def store(a: Any, i: Any, k: Any, x: Any) -> None:
        a[i, k] = x

    return store


def lane_array(*shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Zeros of shape ``(*shape, 8)``, aligned to 64 bytes."""
    size = int(np.prod(shape)) * WIDTH
    raw = np.zeros(size * 8 + ALIGNMENT, dtype=np.uint8)
    offset = -raw.ctypes.data % ALIGNMENT
    return raw[offset : offset + size * 8].view(np.float64).reshape(*shape, WIDTH)
