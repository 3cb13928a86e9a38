"""Between arrays ``(…, n)`` and the tuples of scalars that formulas take; every check of what users pass in.

Leading axes broadcast.  Real numbers become float64, complex ones stay (derivatives by complex steps), objects (mpmath
numbers, SymPy symbols) are passed through one element at a time.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import rows

Array = NDArray[Any]
LARGEST = 1e150
"""Components beyond this overflow when squared."""


def numbers(value: ArrayLike, name: str, shape: tuple[int, ...], where: str = "") -> Array:
    """`value` as an array of finite numbers whose last axes are `shape`.

    Raises
    ------
    TypeError
        Not numbers.
    ValueError
        Wrong last axes, NaN, infinite or too large components.
    """
    unmasked(value, name)
    try:
        a = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}={shown(value)}: expected a rectangular array {_wanted(shape)}{where}") from error
    if a.dtype.kind not in "fiucO" or (
        a.dtype.kind == "O" and any(isinstance(v, (str, bytes, type(None))) for v in a.flat)
    ):
        raise TypeError(f"{name}={shown(value)}: expected numbers, an array {_wanted(shape)}{where}")
    if a.shape[a.ndim - len(shape) :] != shape or a.ndim < len(shape):
        raise ValueError(f"{name} has shape {a.shape}: expected {_wanted(shape)}{where}, components on the last axis")
    if a.dtype.kind == "O":
        return a
    a = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64, copy=False)
    if a.size and (a.dtype.kind == "c" or not max(a.max(), -a.min()) < LARGEST):
        axes = tuple(range(-len(shape), 0))
        refuse(~(np.abs(a) < LARGEST).all(axis=axes), a, name, f"expected finite numbers below {LARGEST:g}")
    return a


def has_values(a: Array) -> bool:
    """False for scalars that only note what is done to them: nothing can be asked of their values."""
    return a.dtype.kind != "O" or not any(hasattr(x, "graph") for x in a.flat)


def real(
    value: Any,
    name: str,
    wanted: str = "a finite number",
    holds: Callable[[float], bool] = math.isfinite,
    hint: str = "",
) -> float:
    """`value` as a float; TypeError unless it is one real number, ValueError unless `holds(value)`."""
    a = value if type(value) is float else _scalar(value)
    if a is None:
        raise TypeError(f"{name}: {shown(value)}, expected {wanted}{hint}")
    if not holds(a):
        raise ValueError(f"{name}: {shown(value)}, expected {wanted}{hint}")
    return a


def positive(value: Any, name: str, hint: str = "") -> float:
    """`value` as a positive finite float; errors as `real`."""
    return real(value, name, "a positive number", lambda x: 0.0 < x < math.inf, hint)


def integer(value: Any, name: str, least: int = 0, hint: str = "") -> int:
    """`value` as an int, a float without a fraction, too; TypeError unless a number, ValueError unless ≥ `least`."""
    wanted = "a positive integer" if least == 1 else f"an integer of at least {least}"
    a = real(value, name, wanted, lambda x: least <= x < math.inf and x == math.floor(x), hint)
    return operator.index(value) if hasattr(value, "__index__") else int(a)


def _scalar(value: Any) -> float | None:
    """A real number as a float, else nothing; arrays of one element, complex numbers and texts are none."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") or np.iscomplexobj(value):
        return None
    try:
        return None if np.ndim(value) else float(value)
    except (TypeError, ValueError):
        return None
    except OverflowError:  # an integer beyond all floats
        return math.inf


def of_kind(value: Any, kind: type | tuple[type, ...], name: str, wanted: str) -> None:
    """TypeError unless `value` is an instance; `wanted`: what is, in words."""
    if not isinstance(value, kind):
        raise TypeError(f"{name}: {shown(value)}, expected {wanted}")


def check_function(value: Any, name: str, wanted: str = "a function", count: int | None = None) -> None:
    """TypeError unless `value` can be called, with `count` arguments by position where that is asked."""
    if not callable(value):
        raise TypeError(f"{name}: {shown(value)}, expected {wanted}")
    if count is None:
        return
    try:
        signature = inspect.signature(getattr(value, "py_func", value), follow_wrapped=False)  # what is called
    except (TypeError, ValueError):  # it does not tell
        return
    try:
        signature.bind(*range(count))
    except TypeError:
        takes = ", ".join(signature.parameters) or "none"
        raise TypeError(
            f"{name}: a function of {count} argument{'s' * (count != 1)} is called, this one has ({takes}); "
            f"expected {wanted}"
        ) from None


def sequence(value: Any, name: str, wanted: str) -> tuple[Any, ...]:
    """`value` as a tuple; TypeError for texts, mappings, and what cannot be gone through."""
    try:
        if not isinstance(value, (str, bytes, Mapping)):
            return tuple(value)
    except TypeError:
        pass
    raise TypeError(f"{name}: {shown(value)}, expected {wanted}")


def path_of(value: Any, name: str, wanted: str = "the path of a file") -> Path:
    """`value` as a path; TypeError unless it is a text or a path."""
    of_kind(value, (str, os.PathLike), name, wanted)
    return Path(value)


def shown(value: Any) -> str:
    """A value in a message: itself, or what it is if that is long."""
    if isinstance(value, np.ndarray) and value.size > 6:
        return f"an array of shape {value.shape} and type {value.dtype}"
    words = repr(value)
    return words if len(words) <= 80 else f"a value of type {type(value).__qualname__}"


def reals(value: Any, name: str, wanted: str = "an array of real numbers") -> NDArray[np.float64]:
    """`value` as a new array of float64; TypeError for anything but real numbers, ValueError if it is ragged."""
    unmasked(value, name)
    try:
        a = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name}: rows of different lengths, expected {wanted}") from error
    if a.dtype.kind == "c":
        raise TypeError(f"{name}: complex numbers, expected {wanted}; take the real part if that is what you mean")
    if a.dtype.kind not in "fiubO":
        raise TypeError(f"{name}: {shown(value)}, expected {wanted}")
    if a.dtype.kind == "O" and any(_scalar(x) is None for x in a.flat):
        raise TypeError(f"{name}: {shown(value)}, expected {wanted}")
    if a.dtype.kind == "O":
        a = np.array([_scalar(x) for x in a.flat], dtype=np.float64).reshape(a.shape)
    return np.array(a, dtype=np.float64, order="C")


def unmasked(value: Any, name: str) -> None:
    """ValueError for elements of a masked array that are masked: what lies below the mask is no number of anybody's."""
    if type(value) is np.ndarray or "numpy.ma" not in sys.modules:  # which is not to be loaded for this
        return
    if isinstance(value, np.ma.MaskedArray) and (count := int(np.ma.getmaskarray(value).sum())):
        raise ValueError(
            f"{name}: {count} of {value.size} elements are masked, expected numbers; give values to them (.filled(…)), "
            "or leave them out (.compressed())"
        )


def _wanted(shape: tuple[int, ...]) -> str:
    return f"(…, {', '.join(map(str, shape))})"


def refuse(bad: Any, values: Array, name: str, expectation: str) -> None:
    """ValueError naming the first bad element, its place in the batch, and what was expected."""
    if np.any(bad):
        index = tuple(int(i) for i in np.argwhere(np.asarray(bad))[0])
        place = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(f"{name}{place} = {(values[index] if index else values).tolist()}: {expectation}")


def check_broadcast(**arrays: Array) -> None:
    """ValueError with all shapes if the leading axes of arrays ``(…, n)`` do not broadcast."""
    if len({a.shape[:-1] for a in arrays.values()}) == 1:
        return
    try:
        np.broadcast_shapes(*(a.shape[:-1] for a in arrays.values()))
    except ValueError as error:
        shapes = ", ".join(f"{name} {a.shape}" for name, a in arrays.items())
        raise ValueError(f"the leading axes do not broadcast: {shapes}") from error


def call(function: Callable[..., Any], parts: Sequence[Array]) -> Array:
    """A formula of tuples on arrays ``(…, nₖ)``: array ``(…, m)`` for a tuple, ``(…, m, k)`` for a tuple of rows."""
    one = all(p.ndim == 1 for p in parts)
    lead = () if one else np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    if rows.worthwhile(function, parts, lead):
        return rows.evaluate(function, parts, lead)
    if one:
        return np.array(function(*(tuple(p.tolist()) for p in parts)))
    if any(p.dtype.kind == "O" for p in parts):
        wide = [np.broadcast_to(p, (*lead, p.shape[-1])) for p in parts]
        values = [call(function, [w[i] for w in wide]) for i in np.ndindex(lead)]
        return np.array(values, dtype=object).reshape(*lead, *(values[0].shape if values else (0,)))
    return stack(function(*(tuple(p[..., k] for k in range(p.shape[-1])) for p in parts)), lead)


def stack(result: Any, lead: tuple[int, ...]) -> Array:
    """Array with the leading shape `lead` of a formula's result: a scalar, a tuple of them, or a tuple of rows."""
    if not isinstance(result, tuple):
        return np.broadcast_to(result, lead)
    return np.stack([stack(r, lead) for r in result], axis=-2 if isinstance(result[0], tuple) else -1)


def spread(count: int, most: int) -> NDArray[np.int64]:
    """Rows of a table of `count`, evenly from the first to the last, `most` at the most."""
    return np.linspace(0, count - 1, min(count, most)).astype(np.int64)


def block_diagonal(blocks: Sequence[Array]) -> Array:
    """One matrix ``(…, Σn, Σm)`` from blocks ``(…, n, m)``."""
    if len(blocks) == 1:
        return blocks[0]
    lead = np.broadcast_shapes(*(b.shape[:-2] for b in blocks))
    out = np.zeros(
        (*lead, sum(b.shape[-2] for b in blocks), sum(b.shape[-1] for b in blocks)), dtype=np.result_type(*blocks)
    )
    i = j = 0
    for b in blocks:
        out[..., i : i + b.shape[-2], j : j + b.shape[-1]] = b
        i, j = i + b.shape[-2], j + b.shape[-1]
    return out
