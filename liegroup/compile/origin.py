"""What functions of users are made of: by this the cache tells them from others of the same name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from liegroup.compile.decorators import named
from liegroup.compile.progress import called_by, is_full

_VALUES = int, float, complex, str, bytes, type(None)


@dataclass(frozen=True)
class Origin:
    """The files that functions are written in, with those of all formulas they call, and a digest of what no file says:
    values that they were made with.
    """

    files: tuple[str, ...]
    content: str


def origin_of(name: str, names: Mapping[str, Any]) -> Origin:
    """Of the functions and numbers among these names; TypeError, with `name`, for what has no source file."""
    functions = list(_all_called([x for x in names.values() if isinstance(x, FunctionType)]))
    files = {str(Path(f.__code__.co_filename).resolve()) for f in functions}
    own = names.get("__file__")
    if own is not None:
        files.add(str(Path(own).resolve()))
    if missing := sorted(file for file in files if not Path(file).is_file()):
        raise TypeError(
            f"{name}: functions from {missing}, expected a source file; put them into a module of their own"
        )
    digest = hashlib.sha256()
    for key in sorted(key for key, x in names.items() if _is_plain(x) and not key.startswith("__")):
        digest.update(f"{key} = {names[key]!r}\n".encode())
    for key in sorted(key for key, x in names.items() if isinstance(x, FunctionType)):
        digest.update(f"{key}: {list(map(_told, _all_called([names[key]])))}\n".encode())
    return Origin(tuple(sorted(files)), digest.hexdigest()[:16])


def of_origins(function: Any, name: str, origins: Iterable[Origin]) -> Any:
    """The function, kept by the cache under a name and by what else it is made of, in this order."""
    made_of = list(origins)
    content = hashlib.sha256("".join(origin.content for origin in made_of).encode()).hexdigest()[:16]
    return named(function, f"{name}_{content}", sorted({file for origin in made_of for file in origin.files}))


def _all_called(functions: list[Any]) -> Iterator[Any]:
    """Functions, and all formulas that they call."""
    todo, seen = list(functions), set[int]()
    while todo:
        function = todo.pop()
        if id(function) not in seen:
            seen.add(id(function))
            yield function
            todo += called_by(function)


def _told(function: FunctionType) -> tuple[Any, ...]:
    """What tells a function from others that the same lines make."""
    code = function.__code__
    held = [cell.cell_contents for cell in function.__closure__ or () if is_full(cell)]
    values = [_text(x) for x in (*code.co_consts, *held, *(function.__defaults__ or ()))]
    return function.__qualname__, code.co_firstlineno, code.co_code, values


def _text(x: Any) -> str | None:
    """What is written alike of a value in every process: of functions their names; None if there is nothing."""
    if isinstance(x, tuple | list):
        return f"({', '.join(map(str, map(_text, x)))})"
    if isinstance(x, np.ndarray | np.generic):
        return f"{x.dtype} {x.tolist()!r}"
    if isinstance(x, _VALUES):
        return repr(x)
    if not hasattr(x, "__name__"):
        return None
    module = str(getattr(x, "__module__", ""))  # that which is run has another name in other processes
    return f"{'' if module.startswith('__') else module}.{getattr(x, '__qualname__', x.__name__)}"


def _is_plain(x: Any) -> bool:
    """Whether a value is written alike in every process."""
    return all(map(_is_plain, x)) if isinstance(x, tuple) else isinstance(x, _VALUES)
