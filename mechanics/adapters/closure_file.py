"""Loop closures in a small TOML or JSON file: what a URDF cannot say, beside the URDF.

    [[closure]]
    kind = "revolute"                            # a name of `mechanics.constraints.loops.CLOSURES`
    name = "C"                                   # optional
    first = {link = "coupler", xyz = [0.9, 0, 0], axis = [0, 1, 0]}
    second = {link = "rocker", xyz = [0.7, 0, 0], axis = [0, 1, 0]}
    length = 0.5                                 # m, of a distance only

    [[closure]]
    kind = "gear"      # or "polynomial", with coefficients = [a0, a1, …]: `mechanics.constraints.couplings`
    joints = ["left_finger", "right_finger"]
    ratio = -1.0
    offset = 0.0                                 # optional, rad or m

    [assembly]                                   # optional
    guess = {crank = 1.0}                        # rough coordinates of joints, rad or m; the others as in the URDF
    hold = ["crank"]                             # joints that keep them
    rank = 2                                     # overrides the rank that is found

A frame is fixed in a link (any link of the URDF, also one that is fixed to another): its origin `xyz` in m, its axes by
one of `rpy` (rad, Rz Ry Rx, as in URDF), `axis` (the direction of its z; x and y are any two) or `rotation` (three
rows), all in the axes of the link; default the link's own.  JSON has the same keys.  Everything in the file is used, or
refused by name.
"""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
import uuid
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import path_of
from liegroup.rotations import matrix_from_quaternion_wxyz, quaternion_wxyz_from_euler_angles
from mechanics.constraints.couplings import gear, polynomial
from mechanics.constraints.loops import CLOSURES, Closure
from mechanics.errors import ModelError
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
LARGEST = 1_000_000
"""Bytes of a file; longer ones are refused before they are read."""
CLOSURES_MOST, NUMBERS_MOST = 300, 100
"""Closures of a file, and coefficients of one: their equations are dense, and traced one by one."""
DOTS = 32
"""Dots in one key of TOML: its reader needs memory like the square of their number."""
SUFFIXES = (".closures.toml", ".closures.json")
"""Names of side files, after the stem of the URDF."""


COUPLINGS = {"gear": ("ratio", 2, 2), "polynomial": ("coefficients", 2, 1)}
"""Couplings of joints: what they need besides their joints, how many joints at most and at least."""


class ClosureFile(NamedTuple):
    """What a file says about a tree.

    Attributes
    ----------
    closures : tuple of Closure
        In the order of the file.
    guess : array (nq,)
        Rough coordinates, rad and m.
    hold : tuple of str
        Joints that keep them.
    rank : int or None
        Overrides the rank that is found.

    Examples
    --------
    See `read_closures`.
    """

    closures: tuple[Closure, ...]
    guess: Array
    hold: tuple[str, ...]
    rank: int | None


def side_file(model: str | os.PathLike[str]) -> Path | None:
    """The closures beside a URDF file, if there are any.

    Parameters
    ----------
    model : path
        ``NAME.urdf``.

    Returns
    -------
    Path or None
        ``NAME.closures.toml`` or ``NAME.closures.json``.

    Examples
    --------
    >>> side_file("no such robot.urdf") is None
    True
    """
    names = [Path(model).with_suffix(suffix) for suffix in SUFFIXES]
    return next((path for path in names if path.is_file()), None)


def read_closures(path: str | os.PathLike[str], tree: Tree) -> ClosureFile:
    """The closures of a TOML or JSON file, on the links of a tree.

    Parameters
    ----------
    path : path
        The file.
    tree : Tree
        With the links and joints that the file names.

    Returns
    -------
    ClosureFile
        The closures, and what the file says of the assembly.

    Raises
    ------
    ModelError
        With the file, the entry, the value and the remedy: no such file, broken text, unknown, missing or repeated
        keys, unknown kinds, links or joints, numbers that are not finite.

    Examples
    --------
    >>> import tempfile
    >>> import mechanics
    >>> text = '{"closure": [{"kind": "gear", "joints": ["joint1", "joint2"], "ratio": -1.0}]}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "arm.closures.json")
    ...     _ = path.write_text(text)
    ...     found = read_closures(path, mechanics.load_model("double_pendulum"))
    >>> found.closures
    (<gear 'gear joint1–joint2': joint1 – joint2, 1 equation>,)
    """
    source = _Reader(Path(path), tree)
    content = source.keys(source.content(), "the file", {"closure"}, {"assembly"})
    entries = content["closure"]
    if not isinstance(entries, list) or not entries:
        raise source.error("closure", f"is {_short(entries)}", "give a list with a table for every closure")
    if len(entries) > CLOSURES_MOST:
        raise source.error("closure", f"has {len(entries)} entries", f"give at most {CLOSURES_MOST}")
    closures = tuple(source.closure(entry, f"closure {k + 1}") for k, entry in enumerate(entries))
    settings = source.keys(content.get("assembly", {}), "assembly", set(), {"guess", "hold", "rank"})
    rank = settings.get("rank")
    if rank is not None and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 1):
        raise source.error("assembly.rank", f"is {rank!r}", "give a positive whole number, or leave it out")
    return ClosureFile(closures, source.guess(settings.get("guess", {})), source.hold(settings.get("hold", [])), rank)


def write_closures(path: str | os.PathLike[str], mechanism: Mechanism) -> None:
    """The closures of a mechanism and its home as a JSON file that `read_closures` gives back bit by bit.

    Parameters
    ----------
    path : path
        Ends in ``.json``.
    mechanism : Mechanism
        Its closures, home and rank are written.

    Raises
    ------
    ValueError
        Another ending; ModelError for a closure that is given as a function or has no kind of the files (wheels, balls,
        skates), and where there is no closure.  Nothing is written then.

    Examples
    --------
    See `read_closures`.
    """
    if path_of(path, "path").suffix != ".json":
        raise ValueError(f"path: {str(path)!r}, expected a name that ends in .json")
    tree = mechanism.tree
    if not mechanism.equations.closures:
        raise ModelError(mechanism.name, "has no closures", "a tree needs no file of closures")
    guess = {name: mechanism.home[tree.q_slice(name)].tolist() for name in tree.joint_names}
    entries = [_entry(c, tree) for c in mechanism.equations.closures]
    content = {"closure": entries, "assembly": {"guess": guess, "rank": mechanism.mobility.rank}}
    _put(path, json.dumps(content, indent=1) + "\n")


def _put(path: str | os.PathLike[str], text: str) -> None:
    """Write a file, whole or not at all: a full disk leaves the old one; links stay."""
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        raise ValueError(f"path: {str(path)!r} is a folder or device, expected a new file or one to be replaced")
    part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _entry(closure: Closure, tree: Tree) -> dict[str, Any]:
    if any(equation.tape is not None for equation in closure.equations):
        raise ModelError(
            f"closure {closure.name!r}",
            "is given as a function of poses or joints",
            "write its entry by hand, if it has a kind",
        )
    if closure.kind not in CLOSURES:
        remedy = f"give it in Python; a file has the kinds {', '.join(CLOSURES)}"
        raise ModelError(f"closure {closure.name!r}", f"is of kind {closure.kind!r}, which no file has", remedy)
    entry: dict[str, Any] = {"kind": closure.kind, "name": closure.name}
    for side in ("first", "second"):
        frame = getattr(closure, side)
        entry[side] = {
            "link": _link(frame.body, tree),
            "xyz": frame.position.tolist(),
            "rotation": frame.rotation.tolist(),
        }
    if closure.kind == "distance":
        entry["length"] = closure.equations[0].length
    return entry


def _link(body: str | None, tree: Tree) -> str:
    """A link whose frame is that of the body."""
    for name, frame in tree.frames.items():
        if frame.body == body and not frame.position.any() and np.array_equal(frame.rotation, np.eye(3)):
            return name
    raise ModelError(
        f"body {body!r}",
        "no link of the tree has its frame",
        "write the closures of a tree that was read from a URDF file",
    )


class _Reader:
    """Reads the entries of one file and names what is wrong in them."""

    def __init__(self, path: Path, tree: Tree) -> None:
        self.path, self.tree = path, tree

    def error(self, where: str, problem: str, remedy: str) -> ModelError:
        return ModelError(f"{self.path}: {where}", problem, remedy)

    def content(self) -> Any:
        if self.path.suffix not in READERS:
            raise ModelError(str(self.path), f"ends in {self.path.suffix!r}", "give a .toml or .json file")
        if not self.path.is_file():
            raise ModelError(str(self.path), "there is no such file", "give the path of the closures")
        try:
            if self.path.stat().st_size > LARGEST:
                raise ModelError(str(self.path), f"is longer than {LARGEST} bytes", "give the file of the closures")
            return READERS[self.path.suffix](self.path.read_text(encoding="utf-8"))
        except ModelError:
            raise
        except (OSError, ValueError, RecursionError) as error:  # of the decoders, too
            raise ModelError(str(self.path), f"cannot be read: {error}", "correct the file") from None

    def keys(self, table: Any, where: str, needed: set[str], allowed: set[str]) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self.error(where, f"is {_short(table)}", f"give a table with {_some(needed | allowed)}")
        for key in table:
            if key not in needed | allowed:
                raise self.error(where, f"has an unknown key {key!r}", f"use {_some(needed | allowed)}")
        for key in sorted(needed):
            if key not in table:
                raise self.error(where, f"has no {key!r}", f"it needs {_some(needed)}")
        return table

    def text(self, value: Any, where: str, known: Iterable[str]) -> str:
        if not isinstance(value, str) or value not in known:
            raise self.error(where, f"is {_short(value)}", f"name one of {_some(known)}")
        return value

    def numbers(self, value: Any, where: str, shape: tuple[int, ...]) -> Array:
        flat = [x for row in value for x in row] if len(shape) == 2 and _is_rows(value) else value
        fine = isinstance(flat, list) and len(flat) == math.prod(shape) and all(_is_number(x) for x in flat)
        if not fine or (len(shape) == 2 and not _is_rows(value)):
            raise self.error(where, f"is {_short(value)}", f"give {' rows of '.join(map(str, shape))} finite numbers")
        return np.array(flat, dtype=np.float64).reshape(shape)

    def closure(self, entry: Any, where: str) -> Closure:
        if isinstance(entry, dict) and entry.get("kind") in [*COUPLINGS]:
            return self.coupling(entry, where)
        table = self.keys(entry, where, {"kind", "first", "second"}, {"name", "length"})
        kind = self.text(table["kind"], f"{where}.kind", (*CLOSURES, *COUPLINGS))
        name = self.name(table, where)
        frames = [self.frame(table[side], f"{where}.{side}") for side in ("first", "second")]
        if (kind == "distance") != ("length" in table):
            raise self.error(
                where, f"of kind {kind!r} {'has no' if kind == 'distance' else 'has a'} length", "a distance has one"
            )
        lengths = self.numbers([table["length"]], f"{where}.length", (1,)).tolist() if kind == "distance" else []
        try:
            return CLOSURES[kind](*frames, *lengths, name)
        except ModelError as error:
            raise self.error(where, f"{error.where} {error.problem}", error.remedy) from None

    def coupling(self, entry: dict[str, Any], where: str) -> Closure:
        kind = entry["kind"]
        needed, most, fewest = COUPLINGS[kind]
        table = self.keys(entry, where, {"kind", "joints", needed}, {"name", "offset"} if kind == "gear" else {"name"})
        joints, numbers = (
            table["joints"],
            table[needed] if kind == "polynomial" else [table.get("offset", 0.0), table[needed]],
        )
        if not isinstance(joints, list) or not fewest <= len(joints) <= most:
            raise self.error(
                f"{where}.joints", f"is {_short(joints)}", "give a list of two joints" + " or one" * (fewest == 1)
            )
        names = [self.text(name, f"{where}.joints", self.tree.joint_names) for name in joints]
        if not isinstance(numbers, list) or len(numbers) > NUMBERS_MOST:
            remedy = f"give a list of at most {NUMBERS_MOST} numbers"
            raise self.error(f"{where}.{needed}", f"is {_short(numbers)}", remedy)
        found = self.numbers(numbers, f"{where}.{needed}", (len(numbers),))
        try:
            if kind == "gear":
                return gear(names[0], names[1], found[1], found[0], self.name(table, where))
            return polynomial(names[0], names[1] if len(names) == 2 else None, found.tolist(), self.name(table, where))
        except ModelError as error:
            raise self.error(where, f"{error.where} {error.problem}", error.remedy) from None

    def name(self, table: dict[str, Any], where: str) -> str:
        name = table.get("name", "")
        if not isinstance(name, str):
            raise self.error(f"{where}.name", f"is {_short(name)}", "give a text")
        return name

    def frame(self, entry: Any, where: str) -> Frame:
        table = self.keys(entry, where, {"link"}, {"xyz", "rpy", "axis", "rotation"})
        link = self.tree.frames[self.text(table["link"], f"{where}.link", self.tree.frames)]
        turns = [key for key in ("rpy", "axis", "rotation") if key in table]
        if len(turns) > 1:
            raise self.error(where, f"has {' and '.join(turns)}", "give one of them")
        x = self.numbers(table.get("xyz", [0.0, 0.0, 0.0]), f"{where}.xyz", (3,))
        R = self.axes(turns[0], table[turns[0]], f"{where}.{turns[0]}") if turns else np.eye(3)
        return Frame(link.body, link.position + link.rotation @ x, link.rotation @ R)

    def axes(self, key: str, value: Any, where: str) -> Array:
        """A rotation by one of its keys."""
        numbers = self.numbers(value, where, (3, 3) if key == "rotation" else (3,))
        if key == "rpy":
            return np.asarray(matrix_from_quaternion_wxyz(quaternion_wxyz_from_euler_angles(numbers, "xyz")))
        try:
            frame = Frame(None, rotation=numbers) if key == "rotation" else Frame.with_axis(None, axis=numbers)
        except ValueError as error:
            raise self.error(where, f"is {_short(value)}: {error}", "correct it") from None
        return np.asarray(frame.rotation)

    def guess(self, entry: Any) -> Array:
        q = self.tree.neutral()
        table = self.keys(entry, "assembly.guess", set(), set(self.tree.joint_names))
        for name, value in table.items():
            place = self.tree.q_slice(name)
            q[place] = self.numbers(
                value if isinstance(value, list) else [value], f"assembly.guess.{name}", (place.stop - place.start,)
            )
        return q

    def hold(self, entry: Any) -> tuple[str, ...]:
        if not isinstance(entry, list):
            raise self.error("assembly.hold", f"is {_short(entry)}", "give a list of joints")
        return tuple(self.text(name, "assembly.hold", self.tree.joint_names) for name in entry)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table of JSON, which would keep the last of two equal keys and not say so."""
    for name, count in Counter(name for name, _ in pairs).items():
        if count > 1:
            raise ValueError(f"the key {name!r} is given twice")
    return dict(pairs)


def _toml(text: str) -> Any:
    if any(part.count(".") > DOTS for part in re.split(r"[=,{}\[\]\n]", text)):
        raise ValueError(f"a key or a value has more than {DOTS} dots")
    return tomllib.loads(text)


READERS: dict[str, Callable[[str], Any]] = {
    ".toml": _toml,
    ".json": partial(json.loads, object_pairs_hook=_once),
}
"""Formats by the ending of the name."""


def _is_number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < 1e300


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(row, list) and len(row) == len(value) for row in value)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else text[:77] + "…"


def _some(names: Iterable[str]) -> str:
    known = sorted(names)
    return ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
