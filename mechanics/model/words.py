"""Parts of models as plain dictionaries, and back: a class by its name, with its fields, floats to the last bit.

Only classes that are listed are made, by constructors that check what they get: nothing in a file is code.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from liegroup.arrays import shown
from mechanics.errors import ModelError


@dataclasses.dataclass(frozen=True, eq=False)
class Words:
    """The classes that have words.

    Parameters
    ----------
    what : str
        What messages call the parts.
    kinds : callable
        ``kinds()`` → mapping of names to classes.
    remedy : str
        For parts of other classes.
    make : callable
        ``make(kind, fields)`` → the part of a class with these fields, checked.
    """

    what: str
    kinds: Callable[[], Mapping[str, Any]]
    remedy: str
    make: Callable[[type, dict[str, Any]], Any] = lambda kind, fields: kind(**fields)

    def of(self, part: Any) -> Any:
        """A part in lists, strings and numbers; ModelError for what has no words."""
        names = _fields(part)
        if names is not None:
            name = type(part).__name__
            if self.kinds().get(name) is not type(part):
                raise ModelError(f"{self.what} {name!r}", "has no words", self.remedy)
            return {"type": name} | {field: self.of(getattr(part, field)) for field in names}
        if isinstance(part, (tuple, list)):
            return [self.of(x) for x in part]
        if part is None or isinstance(part, (bool, str)):
            return part
        if isinstance(part, (int, np.integer)):
            return int(part)
        if isinstance(part, np.ndarray) and part.dtype.kind == "i":
            return part.tolist()
        if isinstance(part, (float, np.floating, np.ndarray)):
            return plain(part)
        raise ModelError(f"{self.what} {shown(part)}", "has no words", self.remedy)

    def read(self, data: Any) -> Any:
        """The part of its words; ModelError for another type, or what its fields must not be."""
        if isinstance(data, Mapping):
            name = data.get("type")
            if not isinstance(name, str) or name not in self.kinds():
                known = f"expected one of {', '.join(self.kinds())}"
                raise ModelError(f"{self.what} of type {shown(name)}", "is unknown", known)
            fields = {field: self.read(x) for field, x in data.items() if field != "type"}
            return self.make(self.kinds()[name], fields)
        return tuple(self.read(x) for x in data) if isinstance(data, (list, tuple)) else data


def _fields(part: Any) -> tuple[str, ...] | None:
    """The names of what a part is made of; None of numbers and texts."""
    if isinstance(part, type):
        return None
    if dataclasses.is_dataclass(part):
        return tuple(f.name for f in dataclasses.fields(part))
    return getattr(part, "_fields", None) or getattr(type(part), "__slots__", None)


def checked(kind: type, fields: Mapping[str, Any]) -> Any:
    """A dataclass, after every field has been found to be what its annotation says: TypeError by the name of the field;
    numbers are finite.
    """
    hints = get_type_hints(kind)
    for name, value in fields.items():
        if name in hints and not _fits(value, hints[name]):
            raise TypeError(f"{name}: {shown(value)}, expected {_said(hints[name])}")
    return kind(**fields)


def _said(hint: Any) -> str:
    return "a finite number" if hint is float else str(getattr(hint, "__name__", hint))


def _fits(value: Any, hint: Any) -> bool:
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in of)
    if origin is tuple and of[-1] is not Ellipsis:
        return isinstance(value, tuple) and len(value) == len(of) and all(map(_fits, value, of))
    if origin is not None:
        return isinstance(value, tuple) and all(_fits(x, of[0]) for x in value)
    if hint in (float, int):
        number = isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
        return number and math.isfinite(value)
    return isinstance(value, hint)


@contextmanager
def named(where: str, remedy: str = "compare with a dictionary made by to_dict") -> Iterator[None]:
    """What is wrong inside is a ModelError of that place."""
    try:
        yield
    except ModelError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ModelError(where, f"{type(error).__name__}: {error}", remedy) from None


def plain(x: Any) -> Any:
    """Lists of numbers; what is not finite as a word, for JSON."""
    x = np.asarray(x, dtype=np.float64)
    if x.ndim:
        return [plain(y) for y in x]
    return float(x) if np.isfinite(x) else str(float(x))
