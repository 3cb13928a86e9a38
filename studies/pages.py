"""Tables and sentences of the pages, written from the records of studies and benchmarks.

    python -m studies.pages                                             # writes every block anew
    python -m studies.pages --again energy-drift                        # runs its records again, then writes the pages
    python -m studies.pages --again energy-drift --also CF4             # the same with a further method
    python -m studies.pages --record energy-drift results/energy-drift  # takes the record of a finished run

A study whose page tells of a run keeps that run's ``summary.json`` in its folder, and ``summary-LABEL.json`` of further
runs (``--record STUDY FOLDER --label LABEL``).  A record holds its own configuration, so that it can be run again.  A
module ``page`` of the study has `BLOCKS`: name → function of the runs of a record (a list of flat rows) to Markdown,
or (label, function); with the label `EVERY` the function gets the runs of all records of the study.  The blocks of
benchmarks are in `studies.benchmarks`; their labels are the names of files in ``benchmarks/results``.  On a page of
its own study, or on any other page, a block stands between

    <!-- record: NAME -->                   <!-- record: NAME of STUDY -->
    <!-- end -->                            <!-- end -->

The block `made` says how a record was made, ``made of LABEL`` how that of a label was.  The tests compare: a number
between these lines comes from the record, and a record that is replaced rewrites its pages.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import re
import shlex
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import matplotlib
import tyro

from studies.records import BENCHMARKS, EVERY, FOLDER, ROOT, file_of, labels_of, record_of, runs_of
from studies.registry import STUDIES
from studies.study import STYLE, Record, answer

FIGURES = ROOT / "docs" / "figures"
Block = Callable[[Sequence[Record]], str]
BLOCK = re.compile(r"(<!-- record: ([\w-]+)(?: of ([\w-]+))? -->\n).*?(<!-- end -->)", flags=re.S)
MADE = "made"
WITHOUT = ("out", "progress")
"""What a configuration says of the place of a run and not of its question."""


# --- pages ------------------------------------------------------------------------------------------------------------


def pages() -> list[Path]:
    """Every page that may hold blocks."""
    patterns = ("README.md", "docs/**/*.md", "studies/*/README.md")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def blocks_of(folder: str) -> Mapping[str, Block | tuple[str, Block]]:
    """Name → function of the blocks of a study, or of the benchmarks."""
    module = f"studies.{folder}" if folder == BENCHMARKS else f"studies.{folder}.page"
    found: Mapping[str, Block | tuple[str, Block]] = importlib.import_module(module).BLOCKS
    return found


def block(page: Path, name: str, of: str | None) -> str:
    """The text of one block of a page."""
    own = page.parent.name if page.parent.parent == FOLDER else ""
    if name == MADE:
        return made(own, of or "")
    folder = (of or own).replace("-", "_")
    found = blocks_of(folder).get(name)
    if found is None:
        raise ValueError(f"{page.name}: block {name!r} of {folder!r}, expected one of {', '.join(blocks_of(folder))}")
    label, function = found if isinstance(found, tuple) else ("", found)
    return function(runs_of(folder, label))


def written(page: Path) -> str:
    """A page with its blocks as the records have them."""
    text = page.read_text(encoding="utf-8")
    return BLOCK.sub(lambda m: f"{m[1]}{block(page, m[2], m[3])}\n{m[4]}", text)


def made(folder: str, label: str = "") -> str:
    """How a record was made: the command, and where."""
    record = record_of(folder, label)
    versions = record["versions"]
    return (
        f"```sh\n{command(record)}\n```\n\n({versions['processor']}, shared with other work, commit "
        f"`{versions['commit']}`; {record['seconds']:.0f} s.)"
    )


def command(record: Mapping[str, Any]) -> str:
    """The command line of a record."""
    default, said = dataclasses.asdict(config_of({**record, "config": {}})), []
    for key, value in dataclasses.asdict(config_of(record)).items():
        name = key.replace("_", "-")
        if key in WITHOUT or value == default[key]:
            continue
        if isinstance(value, bool):
            said.append(f"--{name}" if value else f"--no-{name}")
        else:
            said.append(" ".join([f"--{name}", *map(shown, value if isinstance(value, tuple) else (value,))]))
    return " ".join(["python -m studies", str(record["study"]), *said])


def shown(value: Any) -> str:
    """A value on a command line; of several, one after the other."""
    if isinstance(value, tuple):
        return " ".join(map(shown, value))
    return f"{value:g}" if isinstance(value, float) else shlex.quote(str(value))


def config_of(record: Mapping[str, Any]) -> Any:
    """The configuration a record was made with."""
    config = STUDIES[record["study"]].config
    known = {f.name for f in dataclasses.fields(config)} - set(WITHOUT)
    return config(**{key: _tuples(value) for key, value in record["config"].items() if key in known})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


# --- the command ------------------------------------------------------------------------------------------------------


def take(study: str, folder: Path, label: str = "") -> None:
    """Keep the record of a finished run, and its picture where a page shows one; SystemExit says what is missing."""
    _check_kept(study)
    if not (folder / "summary.json").is_file():
        raise SystemExit(f"record: {folder} has no summary.json; give the folder of a finished run (its --out)")
    record = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    if record.pop("interrupted", False):
        raise SystemExit(f"record: the run in {folder} was interrupted; run it again to its end")
    record["config"] = {key: value for key, value in record["config"].items() if key not in WITHOUT}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    file_of(study.replace("-", "_"), label).write_text(text, encoding="utf-8")
    draw(study, folder, label)


def _check_kept(study: str) -> None:
    """SystemExit unless a study has a page that takes its records."""
    if study not in STUDIES:
        raise SystemExit(f"study {study!r}: expected one of {', '.join(STUDIES)}")
    page = FOLDER / study.replace("-", "_") / "page.py"
    if not page.is_file():
        raise SystemExit(
            f"study {study!r}: no {page.relative_to(ROOT)}; give it one with a dict BLOCKS, from the "
            "names of blocks to functions of the rows of a record"
        )


def draw(study: str, folder: Path, label: str) -> None:
    """Keep the picture of a run, if a page shows it: the study's own, or what its page draws of all its records."""
    name = f"{study}-{label}.png" if label else f"{study}.png"
    module = importlib.import_module(f"studies.{study.replace('-', '_')}.page")
    if hasattr(module, "picture"):
        with matplotlib.rc_context(STYLE):
            module.picture(runs_of(study.replace("-", "_"), EVERY)).savefig(FIGURES / f"{study}.png")
    elif any(f"figures/{name})" in page.read_text(encoding="utf-8") for page in pages()):
        shutil.copy(folder / f"{study}.png", FIGURES / name)


METHODS = ("methods", "fixed")
"""How configurations call the methods that they compare."""


def widened(config: Any, also: Sequence[str]) -> Any:
    """The configuration with further methods."""
    if not also:
        return config
    key = next((name for name in METHODS if hasattr(config, name)), None)
    if key is None:
        raise ValueError(
            f"also: {type(config).__name__} has no list of methods; add them where the study makes its runs"
        )
    known = getattr(config, key)
    return dataclasses.replace(config, **{key: (*known, *(name for name in also if name not in known))})


def run_again(study: str, label: str, also: Sequence[str] = ()) -> None:
    """Run a record again with its own configuration, and keep what comes out."""
    config = widened(config_of(record_of(study.replace("-", "_"), label)), also)
    out = Path("results") / "-".join(filter(None, (study, label)))
    take(study, answer(STUDIES[study], dataclasses.replace(config, out=out)), label)


def main(
    again: Annotated[str | None, tyro.conf.arg(metavar="STUDY")] = None,
    record: Annotated[tuple[str, Path] | None, tyro.conf.arg(metavar="STUDY FOLDER")] = None,
    label: str | None = None,
    also: tuple[str, ...] = (),
) -> None:
    """Write the blocks of all pages.

    Args:
        again: run the records of this study again first, each as its own configuration says.
        record: take the record of a finished run of a study first.
        label: which record of the study (default: all with --again, the unlabelled one with --record).
        also: methods beside those of the record, with --again.
    """
    if record is not None:
        take(*record, label or "")
    if again is not None:
        _check_kept(again)
        for each in labels_of(again.replace("-", "_")) if label is None else [label]:
            run_again(again, each, also)
    for page in pages():
        page.write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    tyro.cli(main)
