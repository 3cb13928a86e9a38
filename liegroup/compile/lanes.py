"""Lanes: eight doubles in one vector register, with the operators of a number."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin, lower_cast, register_model

WIDTH = 8
"""Trajectories in one lane register."""


class _LaneType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="Lanes")

    def unify(self, context: Any, other: Any) -> Any:
        """What is a number on one way and lanes on another is lanes."""
        return self if isinstance(other, (types.Float, types.Integer)) else None


class _MaskType(types.Type):
    def __init__(self) -> None:
        super().__init__(name="LaneMask")


Lanes = _LaneType()
"""Eight float64 in one vector register."""
Mask = _MaskType()
"""Eight truth values, the result of comparing lanes."""
DOUBLE = ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


@register_model(_LaneType)
class _LaneModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, VECTOR)


@register_model(_MaskType)
class _MaskModel(models.PrimitiveModel):
    def __init__(self, manager: Any, type_: Any) -> None:
        super().__init__(manager, type_, _BITS)


def _splat(builder: Any, x: Any) -> Any:
    one = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), x, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        one, ir.Constant(VECTOR, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    )


def register(context: Any, builder: Any, type_: Any, x: Any) -> Any:
    return x if type_ is Lanes else _splat(builder, context.cast(builder, x, type_, types.float64))


def _binary(op: Callable[..., Any], instruction: str, result: Any, comparison: str | None = None) -> None:
    """Teach the compiler one operator on lanes, on either side mixed with a real or integer number."""

    class Template(AbstractTemplate):
        key = op

        def generic(self, args: Any, kws: Any) -> Any:
            if (
                Lanes in args
                and len(args) == 2
                and all(a is Lanes or isinstance(a, (types.Float, types.Integer)) for a in args)
            ):
                return signature(result, *args)
            return None

    infer_global(op)(Template)

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        a, b = (register(context, builder, t, x) for t, x in zip(sig.args, args, strict=True))
        if comparison:
            return builder.fcmp_ordered(comparison, a, b) if comparison != "!=" else builder.fcmp_unordered("!=", a, b)
        return getattr(builder, instruction)(a, b)

    for first, second in (
        (Lanes, Lanes),
        (Lanes, types.Float),
        (types.Float, Lanes),
        (Lanes, types.Integer),
        (types.Integer, Lanes),
    ):
        lower_builtin(op, first, second)(lower)


for _op, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"), (operator.truediv, "fdiv")):
    _binary(_op, _name, Lanes)
for _op, _name in (
    (operator.iadd, "fadd"),
    (operator.isub, "fsub"),
    (operator.imul, "fmul"),
    (operator.itruediv, "fdiv"),
):
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


@lower_cast(types.Integer, Lanes)
@lower_cast(types.Float, Lanes)
def _cast_real(context: Any, builder: Any, from_: Any, to: Any, x: Any) -> Any:
    return register(context, builder, from_, x)
