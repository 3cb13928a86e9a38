"""What an MJCF file asks MuJoCo's compiler to read and to make, looked at before it does.

The compiler opens whatever a file names: includes, meshes, textures, height fields, other models, plugins; and makes as
many bodies as <replicate> asks for.  `check` goes through the file and all it includes, and refuses what leads out of
the folder of the model (also over symbolic links), plugins, and what is larger than the limits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from xml.etree.ElementTree import Element

from mechanics.adapters.reading import Limits, content, number, xml
from mechanics.errors import ModelError

FOLDERS = ("assetdir", "meshdir", "texturedir")
"""Attributes of <compiler> that name folders."""
COUNTED = {
    "replicate": ("count",),
    "composite": ("count",),
    "flexcomp": ("count",),
    "hfield": ("nrow", "ncol"),
    "texture": ("width", "height"),
    "numeric": ("size",),
    "sensor": ("nsample",),
}
"""Attributes that say how much is made; of others, `nsample` of every sensor, and each of <size> for itself."""
MEMORY = ("nstack", "njmax", "nconmax")
"""Attributes of <size> that count numbers, not what every element has."""


def check(text: bytes, path: Path | None, limits: Limits, trusted: bool) -> None:
    """ModelError if a file (its text, and where it is; without a path: in the working folder) goes too far.

    `trusted` files may name paths anywhere and use plugins; the limits hold for them, too.
    """
    folder = Path() if path is None else path.parent
    _Check(Path(os.path.realpath(folder)), limits, trusted).document(text, "MJCF text" if path is None else str(path))


@dataclass
class _Check:
    folder: Path
    limits: Limits
    trusted: bool
    read: int = 0
    made: float = 0.0
    places: list[Path] = field(default_factory=list)
    seen: set[Path] = field(default_factory=set)
    real: dict[Path, Path] = field(default_factory=dict)
    assets: set[Path] = field(default_factory=set)
    named: int = 0

    def document(self, text: bytes, where: str) -> None:
        """The file and what it includes; the paths last, since any file may say where they start."""
        roots: list[tuple[Element, str]] = []
        todo, self.places = [(text, where, self.folder)], [self.folder]
        while todo:
            text, where, place = todo.pop()
            self.read += len(text)
            if self.read > self.limits.bytes:
                raise ModelError(where, f"includes more than {self.limits.bytes} bytes", "raise limits.bytes")
            if b"\0" in text:
                raise ModelError(where, "holds a zero byte", "give an XML file")
            roots.append((root := self.root(text, where), where))
            if root.tag == "robot":
                remedy = "save it as a file whose name ends in .urdf, and give its path"
                raise ModelError(where, "is URDF (<robot>), which MuJoCo reads in another way", remedy)
            if place not in self.places:
                self.places.append(place)
            for file in self.files_in(root, where):
                todo.append((content(file, self.limits, "an MJCF"), str(file), file.parent))
        folders = [given for root, _ in roots for e in root.iter("compiler") for k in FOLDERS if (given := e.get(k))]
        for root, where in roots:
            self.paths(root, where, folders)

    def root(self, text: bytes, where: str) -> Element:
        root = xml(text, where, self.limits)
        try:
            text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ModelError(where, f"is not UTF-8 ({error})", "save it as UTF-8") from None
        self.made += _made(root, where, self.limits.elements)
        if self.made > self.limits.elements:
            raise ModelError(where, f"makes more than {self.limits.elements} elements", "raise limits.elements")
        for element in root.iter():
            self.extent(element, where)
            for key, value in element.attrib.items():
                if key not in ("name", "class") and "nan" in value.lower().split():
                    raise ModelError(f"{where}: {_of(element)}", f"{key} is {value!r}", "give finite numbers")
            if element.tag in ("plugin", "extension") and not self.trusted:
                raise ModelError(
                    f"{where}: {_of(element)}", "asks for a plugin", "pass trusted=True if you trust the file"
                )
        return root

    def extent(self, element: Element, where: str) -> None:
        """No number of things in one attribute, or in two that are multiplied, is beyond the limit."""
        multiplied = [(*COUNTED.get(element.tag, ()), "nsample")]
        if element.tag == "size":
            multiplied = [(name,) for name in element.attrib if name.startswith("n")]
        for names in multiplied:
            counts = [_count(element, name, f"{where}: {_of(element)}") for name in names]
            many = element.tag in ("texture", "hfield") or names[0] in MEMORY
            most = self.limits.bytes if many else self.limits.elements
            if prod(counts) > most:
                raise ModelError(f"{where}: {_of(element)}", f"asks for more than {most} numbers", "raise the limits")

    def files_in(self, root: Element, where: str) -> Iterator[Path]:
        """The files of the format itself that a file reads: <include>, and <model> of its assets; each once."""
        for element in root.iter():
            name = element.get("file")
            if element.tag not in ("include", "model") or name is None:
                continue
            for place in self.places:
                path = self.inside(place / name, f"{where}: {_of(element)} file={name!r}")
                if path.is_file() and path not in self.seen:
                    self.seen.add(path)
                    yield path

    def paths(self, root: Element, where: str, folders: list[str]) -> None:
        """Every path, wherever the compiler may look for it."""
        for folder in folders:
            for place in self.places:
                self.inside(place / folder, f"{where}: <compiler> {folder!r}")
        for element in root.iter():
            for key, name in element.attrib.items():
                if key.startswith("file"):
                    for place in self.places:
                        for folder in ("", *folders):
                            self.asset(place / folder / name, f"{where}: {_of(element)} {key}={name!r}")

    def asset(self, path: Path, where: str) -> None:
        """A file that the compiler may read: no pipe or device, and not too long together with all others."""
        real = self.inside(path, where)
        if real in self.assets or not real.exists():
            return
        if not (real.is_file() or real.is_dir()):
            raise ModelError(where, "is not a regular file", "name a file")
        self.assets.add(real)
        self.named += real.stat().st_size
        if self.named > self.limits.assets:
            most = f"{self.limits.assets} bytes of meshes, textures and other files"
            raise ModelError(where, f"makes more than {most}", "raise limits.assets if you trust them")

    def inside(self, path: Path, where: str) -> Path:
        """The path without links, inside the folder of the model."""
        try:
            real = self.real[path] if path in self.real else Path(os.path.realpath(path))
        except (OSError, ValueError) as error:
            raise ModelError(where, f"is no path ({error})", "correct it") from None
        self.real[path] = real
        if not self.trusted and not real.is_relative_to(self.folder):
            raise ModelError(where, "leads out of the folder of the model", "pass trusted=True if you trust the file")
        return real


def _made(root: Element, where: str, most: int) -> float:
    """Number of elements after replication: Σ of the products of the counts above each."""
    found, todo = 0.0, [(root, 1.0)]
    while todo:
        element, times = todo.pop()
        found += times
        if element.tag in ("replicate", "composite", "flexcomp"):
            times *= _count(element, "count", f"{where}: {_of(element)}")
            found += times
        if found > most:
            break
        todo += [(child, times) for child in element]
    return found


def _count(element: Element, name: str, where: str) -> float:
    """The product of the numbers of an attribute, at least 1."""
    values = [number(word) for word in element.get(name, "").split()]
    if any(value is None for value in values):
        raise ModelError(where, f"{name}={element.get(name)!r}", "give whole numbers")
    return prod(max(float(value or 0.0), 1.0) for value in values)


def _of(element: Element) -> str:
    name = element.get("name")
    return f"<{element.tag}>" if name is None else f"<{element.tag} name={name!r}>"
