"""Reading models: files within limits, bytes, XML without document types, numbers; what is taken for a model of another
project; and a report of what is left out.
"""

from __future__ import annotations

import math
import os
import re
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import integer, real, shown
from mechanics.errors import ModelError, ModelWarning
from mechanics.model.inertia import LARGEST

__all__ = [
    "LARGEST",
    "LIMITS",
    "Limits",
    "Report",
    "content",
    "inside",
    "number",
    "of_project",
    "roll_pitch_yaw",
    "some",
    "xml",
]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Limits:
    """What a model file may cost; greater ones for a file that you trust.

    Attributes
    ----------
    bytes : int
        Length of the file, of MJCF with everything it includes.
    depth : int
        Levels of nested elements.
    elements : int
        Number of elements; of MJCF also of what <replicate> and the like make of them.
    seconds : float
        Of the processor, which MuJoCo's compiler may take for an MJCF file (of the clock: ten times as many); below
        10⁵.
    assets : int
        Length of the meshes, textures and other files that an MJCF file names, together.

    Raises
    ------
    TypeError, ValueError
        Not positive numbers.

    Examples
    --------
    >>> from mechanics.models import Limits
    >>> Limits(bytes=50_000_000).depth
    100
    """

    bytes: int = 20_000_000
    depth: int = 100
    elements: int = 50_000
    seconds: float = 60.0
    assets: int = 500_000_000

    def __post_init__(self) -> None:
        for name in ("bytes", "depth", "elements", "assets"):
            integer(getattr(self, name), name, least=1)
        real(self.seconds, "seconds", "a positive number below 1e5", lambda x: 0.0 < x < 1e5)


LIMITS = Limits()


def content(path: str | os.PathLike[str], limits: Limits, kind: str) -> bytes:
    """The bytes of a file.

    Raises
    ------
    ModelError
        No such file, no regular file, one that cannot be read or is too long.
    """
    remedy = f"give the path of {kind} file"
    try:
        file = Path(path)
        if file.exists() and not file.is_file():
            raise ModelError(str(path), "cannot be read (it is not a regular file)", remedy)
        if file.stat().st_size > limits.bytes:
            raise ModelError(str(path), f"is longer than {limits.bytes} bytes", "raise limits.bytes if you trust it")
        return file.read_bytes()
    except FileNotFoundError:
        raise ModelError(str(path), "cannot be read: there is no such file", remedy) from None
    except (OSError, ValueError) as error:  # a name with a zero byte is a ValueError, and so is ModelError
        if isinstance(error, ModelError):
            raise
        raise ModelError(str(path), f"cannot be read ({error})", remedy) from None


def xml(text: bytes, where: str, limits: Limits) -> Element:
    """The root element of a document.

    Raises
    ------
    ModelError
        Not well-formed, document types or entities, nested too deeply, too many elements.
    """
    import defusedxml.ElementTree
    from defusedxml import DefusedXmlException

    try:
        root: Element = defusedxml.ElementTree.fromstring(text, forbid_dtd=True)
    except DefusedXmlException:
        raise ModelError(
            where, "declares a document type or entities, which is refused", "remove <!DOCTYPE …> and <!ENTITY …>"
        ) from None
    except (ParseError, ValueError, LookupError) as error:
        raise ModelError(
            where,
            f"is not well-formed XML ({error})",
            "repair that place, or declare the encoding if it is not UTF-8",
        ) from None
    _check_extent(root, where, limits)
    return root


def _check_extent(root: Element, where: str, limits: Limits) -> None:
    level, depth, count = [root], 0, 0
    while level:
        depth, count = depth + 1, count + len(level)
        if depth > limits.depth:
            raise ModelError(
                where, f"elements are nested more than {limits.depth} levels deep", "raise limits.depth if you trust it"
            )
        if count > limits.elements:
            raise ModelError(
                where, f"has more than {limits.elements} elements", "raise limits.elements if you trust it"
            )
        level = [child for element in level for child in element]


def number(word: str) -> float | None:
    """The finite number that a word of ASCII digits says, else None."""
    value = float(word) if _NUMBER.fullmatch(word) else math.nan
    return value if math.isfinite(value) else None


def of_project(thing: Any, package: str, kind: str, reader: str, instead: Mapping[str, str]) -> Any:
    """The module of the package whose model a thing is; TypeError that says where the model is otherwise, of kinds of
    the package `instead` of a model, or which function reads files.
    """
    module = sys.modules.get(package)
    model = getattr(module, kind, ())
    if isinstance(thing, model):
        return module
    found, remedy = shown(thing), ""
    if isinstance(thing, (str, bytes, os.PathLike)):
        remedy = f"; mechanics.{reader} takes files"
    elif isinstance(getattr(thing, "model", None), model):
        remedy = "; give its attribute model"
    elif isinstance(thing, (tuple, list)) and any(isinstance(one, model) for one in thing):
        remedy = "; give the model among these"
    for name, what in instead.items():
        if module is not None and isinstance(thing, getattr(module, name)):
            found, remedy = f"a {package}.{name}", f"; {what}"
    raise TypeError(f"model: {found}, expected a {package}.{kind}{remedy}")


@contextmanager
def inside(file: str) -> Iterator[None]:
    """Whatever is wrong with a model inside is wrong in this file."""
    try:
        yield
    except ModelError as error:
        error.within(file)
        raise
    except (ArithmeticError, ValueError) as error:  # of joints, closures and linear algebra
        raise ModelError(file, str(error), "correct the file, or look for numbers of very different size") from None


@dataclass
class Report:
    """What a file, or a model of another project, says and the model here does not do."""

    path: str
    strict: bool = False
    kind: str = "file"
    notes: list[str] = field(default_factory=list)
    changes: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)

    def change(self, text: str, joints: Iterable[str] = ()) -> None:
        """Note something that makes the model move differently than the file says, and the joints it is about."""
        self.notes.append(text)
        self.changes.append((text, tuple(joints)))

    def error(self, where: str, problem: str, remedy: str) -> ModelError:
        return ModelError(f"{self.path}: {where}", problem, remedy)

    def warn(self, stacklevel: int = 4) -> None:
        if self.changes:
            text = "\n  ".join(
                [f"{self.path}: the tree differs from the {self.kind}:", *(text for text, _ in self.changes)]
            )
            warnings.warn(ModelWarning(text, self.changes), stacklevel=stacklevel)


def some(names: Iterable[str], limit: int = 4) -> str:
    """The first few names, and how many more there are."""
    known = list(names)
    return ", ".join(known[:limit]) + (f" and {len(known) - limit} more" if len(known) > limit else "")


def roll_pitch_yaw(rpy: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rotation (3, 3) Rz(yaw) Ry(pitch) Rx(roll) of three angles."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
