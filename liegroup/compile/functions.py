"""Functions of any scalar: a choice between two values, the square root, the absolute value."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin

from liegroup.compile.decorators import compiled_form
from liegroup.compile.lanes import VECTOR, WIDTH, Lanes, Mask, register
from liegroup.compile.options import CALLED
from liegroup.compile.overloads import teach


@intrinsic
def select_lanes(typing_context: Any, c: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(
            args[0], register(context, builder, sig.args[1], args[1]), register(context, builder, sig.args[2], args[2])
        )

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
            f = cgutils.get_or_insert_function(
                builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.{name}.v{WIDTH}f64"
            )
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


@intrinsic
def _mask_of_bits(typing_context: Any, bits: Any) -> Any:
    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.bitcast(builder.trunc(args[0], ir.IntType(WIDTH)), ir.VectorType(ir.IntType(1), WIDTH))

    return Mask(bits), generate


def spared(lanes: Any, old: Any, new: Any) -> Any:
    """The new value; in those lanes whose bit is set in the integer `lanes` the old one."""
    return new


def less(a: Any, b: Any) -> Any:
    """``a < b``, by the real part for complex numbers (a real formula continued by complex steps)."""
    return (
        a.real < b.real
        if isinstance(a, complex) or isinstance(b, complex) or np.iscomplexobj(a) or np.iscomplexobj(b)
        else a < b
    )


def select(condition: Any, a: Any, b: Any) -> Any:
    """``a`` where the condition holds, else ``b``; both are evaluated, so both must be safe."""
    if hasattr(condition, "select"):  # scalars of other kinds may decide for themselves
        return condition.select(a, b)
    return np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)


def any_(condition: Any) -> Any:
    """True if the condition holds in any lane."""
    return bool(np.any(condition))


def continued(value: Any, x: Any, least: float, greatest: float = math.inf) -> Any:
    """The value of a real function at complex numbers x (continued by complex steps), which has none, NaN, where their
    real part is below `least` or above `greatest`: a square root of −1 would lead an iteration to where there are no
    real numbers.
    """
    real = np.real(x)
    return np.where((real < least) | (real > greatest), math.nan, value)[()]


def sqrt(x: Any) -> Any:
    """Square root of any scalar or batch; of complex numbers as `continued`."""
    if isinstance(x, (float, int)):
        return math.sqrt(x) if x >= 0 else math.nan
    if np.iscomplexobj(x):
        return continued(np.sqrt(x), x, -_SQUARED)
    if isinstance(x, (np.ndarray, np.generic)):
        return np.sqrt(x)
    if type(x).__module__.startswith("sympy"):
        import sympy

        return sympy.sqrt(x)
    return x.sqrt() if hasattr(x, "sqrt") else _multiprecision().sqrt(x)


def absolute(x: Any) -> Any:
    """Absolute value; of a complex number (a real function continued by complex steps): x or −x by the real part."""
    return select(less(x, 0.0), -x, x) if np.iscomplexobj(x) else abs(x)


COMPLEX_STEP = 1e-30
"""The imaginary part that carries a derivative through a real formula, per unit of the derivative."""


_SQUARED = 1e-36
"""Squares of what carries a derivative are less: of squares of zeros they are all that is left."""


def magnitude(x: Any) -> Any:
    """Absolute value; of a number with a complex step the sum of those of its value and its derivative: for iterations,
    which are to settle in both.
    """
    return abs(x.real) + abs(x.imag) / COMPLEX_STEP if np.iscomplexobj(x) else abs(x)


def carries(x: Any) -> bool:
    """Whether a number carries a derivative: Newton's iteration that has found a value has its derivative one round
    later.
    """
    return bool(np.iscomplexobj(x))


_ALONG_I = 1e-20
"""Of `small_change`: above all that carries a derivative, and with squares that are nothing beside a number."""


def small_change(size: Any) -> Any:
    """By what a number is changed for a difference quotient: `size`; of numbers with a complex step along the imaginary
    axis, where the real part of the quotient has no error.
    """
    return complex(0.0, _ALONG_I) if np.iscomplexobj(size) else size


def _multiprecision() -> Any:
    import mpmath

    return mpmath


@compiled_form(less)
def _less(a: Any, b: Any) -> Any:
    if isinstance(a, types.Complex) or isinstance(b, types.Complex):
        return lambda a, b: real_part(a) < real_part(b)
    return lambda a, b: a < b


@compiled_form(select)
def _select(condition: Any, a: Any, b: Any) -> Any:
    if condition is Mask:
        return lambda condition, a, b: select_lanes(condition, a, b)
    return lambda condition, a, b: a if condition else b


@compiled_form(spared)
def _spared(lanes: Any, old: Any, new: Any) -> Any:
    if new is not Lanes:
        return lambda lanes, old, new: new
    return lambda lanes, old, new: select_lanes(_mask_of_bits(lanes), old, new)


@compiled_form(any_)
def _any(condition: Any) -> Any:
    return (lambda condition: _any_lanes(condition)) if condition is Mask else (lambda condition: condition)


@compiled_form(sqrt)
def _sqrt(x: Any) -> Any:
    if isinstance(x, types.Complex):
        return _sqrt_stepped
    return (lambda x: _sqrt_lanes(x)) if x is Lanes else (lambda x: math.sqrt(x))


def _sqrt_stepped(x: Any) -> Any:
    root = math.sqrt(0.0 if -_SQUARED < x.real < 0.0 else x.real)
    return complex(root, 0.5 * x.imag / (root if root > 0.0 else 1.0))  # at 0 others choose another value


@compiled_form(absolute)
def _absolute(x: Any) -> Any:
    if isinstance(x, types.Complex):
        return lambda x: -x if x.real < 0.0 else x
    return (lambda x: _abs_lanes(x)) if x is Lanes else (lambda x: abs(x))


@compiled_form(magnitude)
def _magnitude(x: Any) -> Any:
    if isinstance(x, types.Complex):
        return lambda x: abs(x.real) + abs(x.imag) / COMPLEX_STEP
    return _absolute(x)


@compiled_form(carries)
def _carries(x: Any) -> Any:
    return (lambda x: True) if isinstance(x, types.Complex) else (lambda x: False)


@compiled_form(small_change)
def _small_change(size: Any) -> Any:
    if isinstance(size, types.Complex):
        return lambda size: complex(0.0, _ALONG_I)
    return lambda size: size


def real_part(x: Any) -> Any:
    """Of a complex number its real part; a real number itself."""
    return x.real


@compiled_form(real_part)
def _real_part(x: Any) -> Any:
    return (lambda x: x.real) if isinstance(x, types.Complex) else (lambda x: x)


_REAL = types.Float, types.Integer, types.Complex


def _compared(op: Callable[[Any, Any], bool], sign: str) -> None:
    """Teach the compiler to compare complex numbers as `less` does."""

    class Template(AbstractTemplate):
        key = op

        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and all(isinstance(a, _REAL) for a in args):
                return signature(types.boolean, *args) if any(isinstance(a, types.Complex) for a in args) else None
            return None

    infer_global(op)(Template)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (_as_real(context, builder, x, given) for x, given in zip(args, sig.args, strict=True))
        return builder.fcmp_ordered(sign, a, b)

    for other in (types.Float, types.Integer):
        lower_builtin(op, types.Complex, other)(lower)
        lower_builtin(op, other, types.Complex)(lower)
    lower_builtin(op, types.Complex, types.Complex)(lower)


def _as_real(context: Any, builder: Any, x: Any, given: Any) -> Any:
    if isinstance(given, types.Complex):
        return context.make_complex(builder, given, value=x).real
    return context.cast(builder, x, given, types.float64)


for _op, _sign in ((operator.lt, "<"), (operator.le, "<="), (operator.gt, ">"), (operator.ge, ">=")):
    _compared(_op, _sign)


def taken(a: Any, place: Any) -> Any:
    """The number of a vector ``(n,)``, or ``(n, 8)`` varied in lanes, at a place, a whole number of any scalar;
    in lanes each takes its own.
    """
    if hasattr(place, "taken"):
        return place.taken()
    if isinstance(place, np.ndarray):
        own = (np.arange(len(place)),) if np.ndim(a) > 1 else ()
        return np.asarray(a)[(place.real.astype(np.int64), *own)]
    return a[int(place.real)]


@compiled_form(taken)
def _taken(a: Any, place: Any) -> Any:
    if place is not Lanes:
        return lambda a, place: a[int(real_part(place))]

    def lanes(a: Any, place: Any) -> Any:
        x = place
        for lane in range(WIDTH):
            x = _set_lane(x, lane, a[int(_get_lane(place, lane))])
        return x

    def varied_lanes(a: Any, place: Any) -> Any:
        x = place
        for lane in range(WIDTH):
            x = _set_lane(x, lane, a[int(_get_lane(place, lane)), lane])
        return x

    return varied_lanes if a.ndim > 1 else lanes


def power(x: Any, a: Any) -> Any:
    """xᵃ for x > 0 and a real number a; in lanes each takes its own x."""
    return float(x) ** float(a)


@compiled_form(power)
def _power(x: Any, a: Any) -> Any:
    if x is not Lanes:
        return lambda x, a: float(x) ** float(a)

    def lanes(x: Any, a: Any) -> Any:
        y = x
        for lane in range(WIDTH):
            y = _set_lane(y, lane, _get_lane(x, lane) ** float(a))
        return y

    return lanes


def each_lane(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of one float64, applied lane by lane: for what has no vector formula (exp, log, …)."""
    teach(function, lambda x: function, CALLED)

    def apply(x: Any) -> Any:
        return np.vectorize(function, otypes=[float])(x) if isinstance(x, np.ndarray) else function(x)

    @compiled_form(apply)
    def _apply(x: Any) -> Any:
        if x is not Lanes:
            return lambda x: function(x)

        def lanes(x: Any) -> Any:
            y = x
            for lane in range(WIDTH):
                y = _set_lane(y, lane, function(_get_lane(x, lane)))
            return y

        return lanes

    return apply
