"""Tables and sentences of the studies' pages, written from the records that lie beside them.

    python -m studies.pages                     # writes every block anew
    python -m studies.pages --record rolling-disk results/rolling-disk

A study whose page tells of a run keeps that run's ``summary.json`` in its folder, and a module ``page`` with `BLOCKS`:
name → function of the runs of the record (a list of flat rows) to Markdown.  On the page a block stands between

    <!-- record: NAME -->
    <!-- end -->

The tests compare: a number between these lines comes from the record, and a record that is replaced rewrites its page.
"""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import tyro

from studies.study import Record

FOLDER = Path(__file__).parent
Block = Callable[[Sequence[Record]], str]
BLOCK = re.compile(r"(<!-- record: ([\w-]+) -->\n).*?(<!-- end -->)", flags=re.S)


def recorded() -> list[str]:
    """Folders of the studies that keep a record."""
    return sorted(path.parent.name for path in FOLDER.glob("*/summary.json"))


def runs_of(folder: str) -> list[Record]:
    """The rows of the record of a study."""
    found: list[Record] = json.loads((FOLDER / folder / "summary.json").read_text(encoding="utf-8"))["runs"]
    return found


def blocks_of(folder: str) -> Mapping[str, Block]:
    """Name → function of the blocks of a page."""
    found: Mapping[str, Block] = importlib.import_module(f"studies.{folder}.page").BLOCKS
    return found


def written(folder: str) -> str:
    """The page of a study with its blocks as the record has them."""
    runs, blocks = runs_of(folder), blocks_of(folder)
    page = (FOLDER / folder / "README.md").read_text(encoding="utf-8")
    return BLOCK.sub(lambda m: f"{m[1]}{blocks[m[2]](runs)}\n{m[3]}", page)


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def number(value: float | None, digits: int = 2) -> str:
    """A number in scientific notation where it is small or large: 1.2e-3, 0.14, 12, 1.2e2; an en dash for None."""
    if value is None:
        return "–"
    if value == 0 or 0.01 <= abs(value) < 10.0**digits:
        return f"{value:.{digits}g}"
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def main(record: Annotated[tuple[str, Path] | None, tyro.conf.arg(metavar="STUDY FOLDER")] = None) -> None:
    """Write the blocks of all pages; with --record, take the record of a finished run first."""
    if record is not None:
        shutil.copy(record[1] / "summary.json", FOLDER / record[0].replace("-", "_") / "summary.json")
    for folder in recorded():
        (FOLDER / folder / "README.md").write_text(written(folder), encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
