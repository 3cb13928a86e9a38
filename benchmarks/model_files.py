"""What of the model files of other projects is read: ``python -m benchmarks.model_files FOLDER …``.

A folder is an unpacked wheel, such as those of dm-control, gymnasium-robotics and robosuite; those of the installed
package example-robot-data are read as well.  Every MJCF, URDF and SDF file in them is given to
`mechanics.load_mechanism`: it is read, with a warning for everything that is left out, or refused with a `ModelError`.
Whatever else happens, and whatever is left out and not in ``tree.notes``, is a finding.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import mechanics
from benchmarks.machine import circumstances, save
from mechanics import ModelError, ModelWarning

INSTALLED = ("example-robot-data",)
KINDS = {".xml": "MJCF", ".urdf": "URDF", ".sdf": "SDF"}
NOTHING_MOVES = ("has no body", "has no joint", "has no <link>")
"""How the problems begin of files that hold nothing that moves: assets, single objects."""
QUOTED = re.compile(r"'[^']*'")


def sources(folders: list[str]) -> Iterator[tuple[str, list[Path]]]:
    """(package and version, its files)."""
    for name in INSTALLED:
        found = metadata.distribution(name)
        yield f"{name} {found.version}", [Path(str(found.locate_file(file))) for file in found.files or ()]
    for folder in map(Path, folders):
        name, _, version = next(folder.glob("*.dist-info")).stem.partition("-")
        yield f"{name.replace('_', '-')} {version}", list(folder.rglob("*"))


def is_model(path: Path) -> bool:
    """Whether it is a model file: of XML files those of MuJoCo's."""
    return path.suffix in KINDS and (path.suffix != ".xml" or b"<mujoco" in path.read_bytes())


def read(path: Path) -> dict[str, Any]:
    """What became of one file."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = mechanics.load_mechanism(path, trusted=path.suffix == ".xml")
        except ModelError as error:
            return {"refused": reason(error.problem)}
        except Exception as error:  # what must not happen
            return {"finding": f"{type(error).__name__}: {error}"}
    changes = [text for one in caught if isinstance(one.message, ModelWarning) for text, _ in one.message.changes]
    if silent := [text for text in changes if text not in made.tree.notes]:
        return {"finding": f"not in the notes: {silent[0]}"}
    return {"left_out": [reason(text) for text in changes]}


def reason(text: str) -> str:
    """A problem, or what is left out, without names and numbers."""
    if text.startswith("MuJoCo's compiler"):
        return "MuJoCo's compiler refuses it: part of another file, or what it names is not there"
    if text.startswith(NOTHING_MOVES):
        return "nothing in it moves"
    said = QUOTED.sub("…", re.sub(r"^\d+ × ", "", text)).split(": ")[0]
    return said if not said.startswith("<link name") else "inertias that no body has, used as they are"


def main() -> None:
    packages, findings = [], []
    left_out: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for name, files in sources(sys.argv[1:]):
        counts: Counter[str] = Counter()
        for path in sorted({file for file in files if file.is_file() and is_model(file)}):
            found = read(path)
            counts[KINDS[path.suffix]] += 1
            counts["read"] += "left_out" in found
            counts["whole"] += found.get("left_out") == []
            left_out.update(set(found.get("left_out", ())))
            refused.update([found["refused"]] if "refused" in found else [])
            findings += [f"{path.name}: {found['finding']}"] if "finding" in found else []
        packages.append({"package": name, **counts})
        print(packages[-1])
    record = circumstances("mujoco") | {"rows": packages, "left_out": left_out, "refused": refused}
    print(left_out, refused, findings, sep="\n")
    print(save("model_files", record | {"findings": findings}))


if __name__ == "__main__":
    main()
