"""Functions of users on scalars that note what is done to them: their ``math`` and ``np`` mean functions of any scalar.

A plain function asks ``math.sin`` for a number, ``np.zeros(3)`` for room that only machine numbers fit into, and
``max`` for an answer; none of them knows a `Traced` scalar.  `traceable` gives the same function with other meanings of
these names, in it and in what it calls.  On plain numbers they mean what they have always meant.
"""

from __future__ import annotations

import builtins
import math
import types
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any

import numpy as np

from liegroup.compile import is_jitted, is_ours
from liegroup.compile.scalars import less, maximum, minimum, select, sqrt
from liegroup.compile.tracing import FUNCTIONS, UFUNCS, Traced, applied

_LEFT = ("numpy", "sympy", "scipy", "numba", "builtins")
"""Packages whose functions are left as they are, as ours are."""


def traceable(function: Any) -> Any:
    """The function with names of ``math`` and ``numpy``, ``max`` and ``min`` that take traced scalars, too.

    Parameters
    ----------
    function : callable
        Of a user; jitted ones by their Python source.

    Returns
    -------
    callable
        The function itself where it uses none of these names.

    Examples
    --------
    >>> import math
    >>> from liegroup.compile.tracing import Graph
    >>> angle = Graph().input("x")
    >>> type(traceable(math.hypot)(angle, 2.0)).__name__, traceable(math.hypot)(3.0, 4.0)
    ('Traced', 5.0)
    """
    return _Reader().meaning(function)


def on_scalars(function: Any, form: str, *given: Any) -> Any:
    """What a function of a user gives on traced scalars; what it raises says how it is called.

    Parameters
    ----------
    function : callable
        Of a user.
    form : str
        How it is called, such as ``"lagrangian(t, q, v, parameters)"``.
    *given
        Its arguments.

    Returns
    -------
    object
        What it returns.

    Raises
    ------
    TypeError, AttributeError, IndexError
        What the function raises, with `form`.

    Examples
    --------
    >>> from liegroup.compile.tracing import Graph
    >>> try:
    ...     on_scalars(lambda q, t: q[0], "length(t, q)", Graph().input("t"), [1.0])
    ... except TypeError as error:
    ...     print(str(error)[:84])
    length: 'Traced' object is not subscriptable; it is called as length(t, q), with sca
    """
    try:
        return traceable(function)(*given)
    except (TypeError, AttributeError, IndexError) as error:
        if type(error) not in (TypeError, AttributeError, IndexError):
            raise
        name = form.partition("(")[0]
        raise type(error)(
            f"{name}: {error}; it is called as {form}, with scalars that note what is done to them, or arrays of them: "
            "+ - * / **, loops and the functions of math, NumPy and liegroup.compile.scalars, np.where for choices"
        ) from error


class _Reader:
    """One walk through a function and what it calls; recursive functions are met again."""

    def __init__(self) -> None:
        self._copies: dict[int, Any] = {}

    def meaning(self, x: Any) -> Any:
        """What a value stands for on traced scalars: often itself."""
        found = self._called(x)
        if found is not x:
            return found
        try:
            return _MEANINGS.get(x, x)
        except TypeError:  # values that have no hash
            return x

    def _called(self, x: Any) -> Any:
        """What a function stands for that is no function of ``math`` or ``numpy``."""
        if is_jitted(x):
            x = getattr(x, "py_func", x)
        if isinstance(x, types.FunctionType):
            return self._function(x)
        if isinstance(x, types.MethodType):
            found = self._called(x.__func__)
            return x if found is x.__func__ else types.MethodType(found, x.__self__)
        if isinstance(x, partial):
            found = self._called(x.func)
            return x if found is x.func else partial(found, *x.args, **x.keywords)
        return x

    def _function(self, function: types.FunctionType) -> Any:
        if id(function) in self._copies:
            return self._copies[id(function)]
        space, closure = function.__globals__, function.__closure__ or ()
        own = is_ours(function.__module__) or (function.__module__ or "").partition(".")[0] in _LEFT
        meanings: dict[str, Any] = {}
        cells = tuple(types.CellType() for _ in closure)
        copy = types.FunctionType(function.__code__, meanings, function.__name__, function.__defaults__, cells)
        copy.__kwdefaults__ = function.__kwdefaults__
        self._copies[id(function)] = copy  # before its names are read: it may call itself
        names = set() if own else set(_names(function.__code__))
        values = {name: space.get(name, getattr(builtins, name, None)) for name in names}
        found = {name: self.meaning(x) for name, x in values.items()}
        meanings.update(space, **{name: x for name, x in found.items() if x is not values[name]})
        changed = [self._fill(*both, own) for both in zip(closure, cells, strict=True)]
        if not any(changed) and all(found[name] is x for name, x in values.items()):
            self._copies[id(function)] = function
        return self._copies[id(function)]

    def _fill(self, given: types.CellType, cell: types.CellType, own: bool) -> bool:
        """Put into a cell what the value of another one stands for; returns whether it is something else."""
        try:
            cell.cell_contents = (self._called if own else self.meaning)(given.cell_contents)
        except ValueError:  # nothing in it yet
            return False
        return cell.cell_contents is not given.cell_contents


def _names(code: types.CodeType) -> Iterable[str]:
    """Global names of a function, and of the functions within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


# --- what names mean --------------------------------------------------------------------------------------------------


class Scalars(np.ndarray[Any, np.dtype[Any]]):
    """An array of scalars whose comparisons are scalars, too: NumPy's own arrays ask for true or false."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Element by element."""
        plain = [np.asarray(x) if isinstance(x, Scalars) else x for x in inputs]
        if method == "__call__" and ufunc.__name__ in UFUNCS and not options:
            return _as_scalars(applied(UFUNCS[ufunc.__name__], *plain))
        if method != "__call__":  # sums of conditions count
            plain = [applied(lambda a: a.counted if isinstance(a, Traced) else a, x) for x in plain]
        if "out" in options:
            options["out"] = tuple(np.asarray(x) for x in options["out"])
        return _as_scalars(getattr(ufunc, method)(*plain, **options))


def _as_scalars(x: Any) -> Any:
    return x.view(Scalars) if isinstance(x, np.ndarray) and x.dtype == object else x


def scalars(values: Any) -> Any:
    """An array of traced scalars, as functions of users may take it.

    Parameters
    ----------
    values : array or sequence
        Traced scalars, numbers.

    Returns
    -------
    Scalars
        Of the same shape.

    Examples
    --------
    >>> from liegroup.compile.tracing import Graph
    >>> x = scalars([Graph().input("x"), 1.0])
    >>> [type(a).__name__ for a in x < 2.0]
    ['Traced', 'bool']
    """
    return np.array(values, dtype=object).view(Scalars)


class _Names:
    """A module, of which some names mean something else."""

    def __init__(self, module: types.ModuleType, meanings: dict[str, Any]) -> None:
        self._module, self._meanings = module, meanings

    def __getattr__(self, name: str) -> Any:
        return self._meanings[name] if name in self._meanings else getattr(self._module, name)


class _OfScalars:
    """A function of numbers that asks another one where there are traced scalars."""

    def __init__(self, function: Any, of_scalars: Callable[..., Any]) -> None:
        self._function, self._of_scalars = function, of_scalars

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        traced = any(map(_is_traced, (*arguments, *options.values())))
        return (self._of_scalars if traced else self._function)(*arguments, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)


def _is_traced(x: Any) -> bool:
    if isinstance(x, np.ndarray):
        return bool(x.dtype == object)
    return isinstance(x, Traced) or (isinstance(x, (list, tuple)) and any(map(_is_traced, x)))


def _refused(name: str, known: Iterable[str]) -> Callable[..., Any]:
    said = f"{name} cannot be traced; write it with one of {', '.join(sorted(known))}, or with + - * / **"

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise TypeError(said)

    return refuse


def _each(rule: Callable[..., Any], *x: Any) -> Any:
    return _as_scalars(applied(rule, *x))


def _flat(x: Any) -> list[Any]:
    return np.asarray(x, dtype=object).ravel().tolist()


def _root_of_squares(*x: Any) -> Any:
    return sqrt(sum(a * a for a in x))


def _of_numbers(rule: Callable[..., Any]) -> Callable[..., Any]:
    """``max`` and ``min`` of Python, of numbers or of one sequence of them."""

    def found(*x: Any) -> Any:
        return reduce(rule, x[0] if len(x) == 1 else x)

    return found


def _along(rule: Callable[..., Any]) -> Callable[..., Any]:
    """``np.max`` and ``np.min`` of an array, or along one of its axes."""

    def found(x: Any, axis: Any = None) -> Any:
        values = np.asarray(x, dtype=object)
        rows = values.ravel() if axis is None else np.moveaxis(values, axis, 0)
        return reduce(partial(_each, rule), rows)

    return found


def _clipped(x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """``np.clip`` by either pair of names."""
    return _each(UFUNCS["clip"], x, *(b if a is None else a for a, b in ((min, a_min), (max, a_max))))


def _is(x: Any, kind: Any) -> bool:
    """``isinstance``: a traced scalar stands for a number."""
    return isinstance(0.0 if isinstance(x, Traced) else x, kind)


def _norm(x: Any, ord: Any = None) -> Any:
    if ord is not None and (ord != 2 or np.ndim(x) != 1):
        _refused(f"np.linalg.norm with ord={ord!r}", ("np.sqrt", "np.sum"))()
    return _root_of_squares(*_flat(x))


def _table(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """Straight lines between places, as ``np.interp`` draws them."""
    places, values = np.asarray(xp, dtype=np.float64), np.asarray(fp, dtype=object)

    def at(x: Any) -> Any:
        found = select(less(float(places[-1]), x), values[-1] if right is None else right, values[-1])
        for k in range(len(places) - 1, 0, -1):
            slope = (values[k] - values[k - 1]) / float(places[k] - places[k - 1])
            found = select(less(x, float(places[k])), values[k - 1] + slope * (x - float(places[k - 1])), found)
        return select(less(x, float(places[0])), values[0] if left is None else left, found)

    return _each(at, x)


def _chosen(conditions: Any, choices: Any, default: Any = 0.0) -> Any:
    """The first choice whose condition holds, as ``np.select`` takes it."""
    pairs = list(zip(conditions, choices, strict=True))
    return reduce(lambda rest, pair: _each(select, pair[0], pair[1], rest), pairs[::-1], default)


def _roomy(function: Any) -> Callable[..., Any]:
    """Room that traced scalars fit into, unless a type is asked for."""

    def make(*arguments: Any, **options: Any) -> Any:
        found = function(*arguments, **options)
        asked = "dtype" in options or len(arguments) > (2 if function in (np.full, np.full_like) else 1)
        return found if asked else scalars(found)

    return make


def _array(function: Any) -> Callable[..., Any]:
    """The array of values, one of scalars where there are traced ones."""
    return lambda *arguments, **options: _as_scalars(function(*arguments, **options))


_OF_NUMPY: dict[str, Callable[..., Any]] = {
    **{name: partial(_each, rule) for name, rule in UFUNCS.items()},
    **{name: partial(_each, rule) for name, rule in FUNCTIONS.items() if name != "any"},
    "any": FUNCTIONS["any"], "clip": _clipped, "isscalar": lambda x: isinstance(x, Traced),
    "max": _along(maximum), "amax": _along(maximum), "min": _along(minimum), "amin": _along(minimum),
    "interp": _table, "select": _chosen,
}  # fmt: skip
_LINEAR = {name: _refused(f"np.linalg.{name}", ("np.linalg.norm", "np.dot", "np.cross", "np.einsum"))
           for name in ("solve", "inv", "det", "eig", "eigh", "svd", "pinv", "lstsq", "cholesky", "qr")}  # fmt: skip
_LINALG = {name: _OfScalars(getattr(np.linalg, name), f) for name, f in {**_LINEAR, "norm": _norm}.items()}
_OF_OBJECTS = "matmul", "vecdot", "matvec", "vecmat", "bitwise_and", "bitwise_or", "invert"
"""Functions that ask the scalars themselves."""
_UFUNCS = {name: x for name, x in vars(np).items() if isinstance(x, np.ufunc)}
"""Those that are there: whoever asks NumPy for all its names has it import its tests, FORTRAN and masked arrays."""
_ROOM = "zeros ones empty full zeros_like ones_like empty_like full_like eye identity"
_ARRAYS = "array asarray stack concatenate hstack vstack column_stack block diag"
_NUMPY: dict[str, Any] = {
    **{name: _OfScalars(getattr(np, name), function) for name, function in _OF_NUMPY.items()},
    **{name: _OfScalars(ufunc, _refused(f"np.{name}", UFUNCS))
       for name, ufunc in _UFUNCS.items() if ufunc.__name__ not in (*UFUNCS, *_OF_OBJECTS)},
    **{name: _roomy(getattr(np, name))
       for name in _ROOM.split()},
    **{name: _array(getattr(np, name))
       for name in _ARRAYS.split()},
    "linalg": _Names(np.linalg, _LINALG),
}  # fmt: skip
for _name, _ufunc in _UFUNCS.items():  # other names of the same functions
    if _name not in (*_NUMPY, *_OF_OBJECTS):
        _NUMPY[_name] = _NUMPY.get(_ufunc.__name__, _ufunc)

_SAME = "sin cos tan sinh cosh tanh exp exp2 expm1 log1p log2 log10 sqrt cbrt floor ceil trunc fmod copysign"
_LIKE_NUMPY = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "fabs": "absolute", "pow": "power",
    "radians": "radians", "degrees": "degrees", **{name: name for name in _SAME.split()},
}  # fmt: skip
_OF_MATH: dict[str, Callable[..., Any]] = {
    **{name: UFUNCS[other] for name, other in _LIKE_NUMPY.items()},
    "log": lambda x, base=math.e: UFUNCS["log"](x) / (1.0 if base == math.e else UFUNCS["log"](base)),
    "hypot": _root_of_squares,
    "dist": lambda p, q: _root_of_squares(*(a - b for a, b in zip(p, q, strict=True))),
    "fsum": sum,
    "prod": lambda x, start=1.0: reduce(lambda a, b: a * b, x, start),
}
_MATH = {
    name: _OfScalars(function, _OF_MATH.get(name) or _refused(f"math.{name}", _OF_MATH))
    for name, function in vars(math).items()
    if isinstance(function, types.BuiltinFunctionType)
}
_MEANINGS: dict[Any, Any] = {
    math: _Names(math, _MATH),
    np: _Names(np, _NUMPY),
    np.linalg: _Names(np.linalg, _LINALG),
    **{getattr(math, name): meaning for name, meaning in _MATH.items()},
    **{getattr(np, name): meaning for name, meaning in _NUMPY.items() if name != "linalg"},
    **{getattr(np.linalg, name): meaning for name, meaning in _LINALG.items()},
    max: _OfScalars(max, _of_numbers(maximum)),
    min: _OfScalars(min, _of_numbers(minimum)),
    isinstance: _OfScalars(isinstance, _is),
}
"""Modules and functions, and what they mean on traced scalars."""
