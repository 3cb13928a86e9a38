"""Records of studies and benchmarks, and how their numbers are written on pages (`studies.pages`)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from studies.study import Record

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent
BENCHMARKS = "benchmarks"
EVERY = "every record"


def recorded() -> list[str]:
    """Folders of the studies that keep a record."""
    return sorted({path.parent.name for path in FOLDER.glob("*/summary*.json")})


def labels_of(folder: str) -> list[str]:
    """Labels of the records of a study; that of ``summary.json`` is empty."""
    names = sorted(path.stem for path in (FOLDER / folder).glob("summary*.json"))
    return [name.removeprefix("summary").removeprefix("-") for name in names]


def file_of(folder: str, label: str = "") -> Path:
    """Where a record lies."""
    if folder == BENCHMARKS:
        return ROOT / BENCHMARKS / "results" / f"{label}.json"
    return FOLDER / folder / (f"summary-{label}.json" if label else "summary.json")


def record_of(folder: str, label: str = "") -> dict[str, Any]:
    """A record: configuration, versions, runs."""
    found: dict[str, Any] = json.loads(file_of(folder, label).read_text(encoding="utf-8"))
    return found


def runs_of(folder: str, label: str = "") -> list[Record]:
    """The rows of a record, or of all records of a study."""
    if label == EVERY:
        return [run for each in labels_of(folder) for run in runs_of(folder, each)]
    record = record_of(folder, label)
    found: list[Record] = record["runs" if "runs" in record else "rows"]
    return found


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
