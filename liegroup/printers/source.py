"""Generated code as a text that can be loaded."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from liegroup.printers.function import Function

FLAGS = ("-O2", "-std=c99", "-fPIC", "-shared")


class SourceText(str):
    """Generated code: a text, with the functions that are in it.

    Attributes
    ----------
    language : str
    functions : tuple of Function

    Examples
    --------
    >>> from liegroup.compile.tracing import Graph
    >>> graph = Graph()
    >>> x = graph.input(("x", 0))
    >>> from liegroup.printers import printed
    >>> text = printed("numpy", [Function("square", graph, {"x": 1}, {"y": [(x * x).k]})])
    >>> text.load().square([3.0]).tolist()
    [9.0]
    """

    language: str
    functions: tuple[Function, ...]

    def load(self, compiler: str | None = None, flags: Sequence[str] = FLAGS) -> SimpleNamespace:
        """The functions of the text, by name: of Python languages as they stand, of C compiled and called by arrays.

        Parameters
        ----------
        compiler : str, optional
            Of C; default the environment's ``CC``, else ``cc``.
        flags : sequence of str
            Of the compiler.

        Returns
        -------
        namespace
            Functions; those of C take numbers and arrays and return an array, or a tuple where there are several
            outputs.

        Raises
        ------
        RuntimeError
            There is no compiler, or it fails: with what it says.
        TypeError
            CUDA, which needs a device and one of its packages.
        """
        if self.language == "cuda":
            raise TypeError("load: code for CUDA needs a device; hand the text to nvcc --fmad=false, NVRTC or CuPy")
        if self.language != "c":
            space: dict[str, Any] = {}
            exec(compile(self, f"<{self.language}>", "exec"), space)
            return SimpleNamespace(**{f.name: space[f.name] for f in self.functions})
        library = _compiled(self, compiler or os.environ.get("CC", "cc"), flags)
        found: dict[str, Any] = {f.name: _called(getattr(library, f.name), f) for f in self.functions}
        for f in self.functions:
            if f.advances:
                found["many_steps"] = _run(library.many_steps, f)
        return SimpleNamespace(**found)


def _compiled(text: str, compiler: str, flags: Sequence[str]) -> ctypes.CDLL:
    if shutil.which(compiler) is None:
        raise RuntimeError(f"load: no C compiler {compiler!r} on the path; install one, or name yours by `compiler`")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        name = hashlib.sha256("\n".join([text, compiler, *flags]).encode()).hexdigest()[:16]
        source, library = Path(folder) / f"{name}.c", Path(folder) / f"{name}.so"
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([compiler, *flags, "-o", library, source, "-lm"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"load: {compiler} failed: {done.stderr.strip()}")
        return ctypes.CDLL(str(library))


_VECTOR = ctypes.POINTER(ctypes.c_double)


def _pointer(x: Any) -> Any:
    return x.ctypes.data_as(_VECTOR)


def _real(x: Any, name: str) -> Any:
    """Real numbers for C, one after the other; TypeError for others, of which NumPy would take a part."""
    given = np.asarray(x, order="C")
    if given.dtype.kind not in "fiub":
        raise TypeError(f"{name}: {x!r}, expected real numbers")
    return given.astype(np.float64, copy=False)


def _vector(x: Any, name: str, n: int) -> Any:
    """So many real numbers, one where n is 0."""
    found = _real(x, name)
    if found.shape != ((n,) if n else ()):
        raise ValueError(f"{name}: shape {found.shape}, expected {(n,) if n else ()}")
    return found


def _counted(arguments: Sequence[Any], function: str, names: Iterable[str]) -> None:
    if len(arguments) != len(expected := list(names)):
        raise TypeError(f"{function}: {len(arguments)} arguments, expected {len(expected)}: {', '.join(expected)}")


def _called(function: Any, f: Function) -> Callable[..., Any]:
    function.restype = None
    function.argtypes = [_VECTOR if n else ctypes.c_double for n in f.inputs.values()] + [_VECTOR] * len(f.outputs)

    def call(*arguments: Any) -> Any:
        _counted(arguments, f.name, f.inputs)
        given = [_vector(x, name, n) for (name, n), x in zip(f.inputs.items(), arguments, strict=True)]
        outputs = [np.empty(len(nodes)) for nodes in f.outputs.values()]
        function(*(_pointer(x) if x.ndim else float(x) for x in given), *map(_pointer, outputs))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    return call


def _run(function: Any, f: Function) -> Callable[..., Any]:
    function.restype = ctypes.c_long
    vectors = {name: n for name, n in f.inputs.items() if n}  # the state, and what it holds
    function.argtypes = [ctypes.c_double, ctypes.c_double, ctypes.c_long, *([_VECTOR] * len(vectors))]

    def call(t: float, h: float, steps: int, *arguments: Any) -> tuple[Any, int]:
        """The state after so many steps, and how many of them were valid."""
        _counted((t, h, steps, *arguments), "many_steps", ("t", "h", "steps", *vectors))
        count = getattr(steps, "__index__", lambda: -1)()
        end, *held = (_vector(x, name, n) for (name, n), x in zip(vectors.items(), arguments, strict=True))
        if count < 0:
            raise ValueError(f"steps: {steps!r}, expected how many: an integer of at least 0")
        end = end.copy()
        taken = function(t, h, count, *map(_pointer, (end, *held)))
        return end, int(taken)

    return call
