"""What a study is, and what every study leaves behind.

A study is a question: a frozen config (its dataclass makes the command line), ``run(config) → result``,
``records(result)`` (flat rows of plain names and SI numbers), ``figure(result)`` and ``data(result)``.
`answer` runs it, prints the table and leaves in ``config.out``: ``NAME.png``, ``NAME.pdf``, ``NAME.h5``,
``summary.json``, and where something moves ``motion.html``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self

import matplotlib
import tyro

from integrators.engine.interrupts import hearing
from integrators.results.storage import Dataset, versions, write
from integrators.scenes import animate
from mechanics.errors import ModelError, ModelWarning, MotionWarning

Record = Mapping[str, Any]
MOTION = "motion.html"
POSITIVE = {
    "chunk", "coarse", "elements", "fine", "gravity", "halvings", "horizon", "largest_step", "lengths", "long_steps",
    "masses", "per_revolution", "pixels", "points", "rate_horizon", "rate_steps", "repeats", "revolutions", "share",
    "starts", "step", "steps", "stiffness", "tolerances", "trajectories",
}  # fmt: skip
"""Options that are positive numbers, or several, where they are numbers."""
NOT_NEGATIVE = {"seed", "speed"}
INTERRUPTED = "Ctrl-C has ended a run early: its numbers, and what is said of it here, are of what it had computed"
"""What is said of such an answer."""
FILMS, FILMED, FRAME = 4, 20.0, 0.02
"""Runs side by side on the page of the motion, their seconds, and the time between frames of runs made for it."""


@dataclass(frozen=True)
class StudyConfig:
    """Options every study has."""

    out: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Folder for the figure, the data and summary.json (default: results/NAME)."""
    quick: bool = False
    """A small version that finishes in seconds; other options that are given are kept."""
    progress: bool = True
    """Show progress on long runs."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            given = getattr(self, each.name)
            for x in given if isinstance(given, tuple) else (given,):
                if isinstance(x, float) and not math.isfinite(x):
                    raise ValueError(f"--{each.name}: {x}, expected a number")
                if isinstance(x, bool) or not isinstance(x, (int, float)):
                    continue  # names, and what is left open (None)
                if each.name in POSITIVE and not x > 0:
                    raise ValueError(f"--{each.name}: {x}, expected a positive number")
                if each.name in NOT_NEGATIVE and x < 0:
                    raise ValueError(f"--{each.name}: {x}, expected a number of at least 0")

    def shortened(self) -> Self:
        """The configuration that `quick` runs."""
        return self

    def as_asked(self) -> Self:
        """The configuration that runs: with `quick` the short one, but for the options that have been given."""
        if not self.quick:
            return self
        usual = type(self)()
        mine = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        given = {name: x for name, x in mine.items() if x != getattr(usual, name)}
        return dataclasses.replace(self.shortened(), **given)


def known(option: str, given: Sequence[str], names: Iterable[str]) -> None:
    """ValueError for names that are none of those that there are.

    Parameters
    ----------
    option : str
        Of the command line.
    given, names : sequence of str
        What it has been given, and what there is.

    Raises
    ------
    ValueError
        With the option, the name, and those that there are.

    Examples
    --------
    >>> known("systems", ["pendulum"], ["pendulum", "top"])
    """
    there = list(names)
    for name in given:
        if name not in there:
            raise ValueError(f"--{option}: {name!r}, expected some of {', '.join(there)}")


@dataclass(frozen=True)
class Study:
    """A question with its configuration, its run and its three kinds of answer."""

    name: str
    question: str
    config: type[StudyConfig]
    run: Callable[[Any], Any]
    records: Callable[[Any], Sequence[Record]]
    columns: Mapping[str, str]
    """Record key → column heading of the printed table."""
    figure: Callable[[Any], Any]
    data: Callable[[Any], Dataset]
    remarks: Callable[[Any], Sequence[str]] = field(default=lambda result: ())
    """Sentences that follow from the numbers, printed under the table."""
    motion: Callable[[Any], Sequence[tuple[str, Any]]] = field(default=lambda result: ())
    """``motion(result)`` → (name, Solution or Film) of some runs, to be shown side by side in ``motion.html``."""
    extras: Callable[[Any, Path], Sequence[str]] = field(default=lambda result, out: ())
    """``extras(result, folder)`` writes further files (animations) and returns their names."""


def answer(study: Study, config: StudyConfig) -> Path:
    """Run a study and leave its answer; returns the folder.

    Raises
    ------
    SystemExit
        With the status 130, behind everything else: Ctrl-C has ended a run early, and the answer is of what it had
        computed.
    """
    out = _begun(config.out or Path("results") / study.name)
    started = time.perf_counter()
    with hearing() as interrupted:
        result = study.run(config)
    elapsed = time.perf_counter() - started
    write(out / f"{study.name}.h5", study.data(result))  # first: what has taken hours is kept whatever fails behind
    records = [dict(record) for record in study.records(result)]

    print(f"\n{study.question}\n\n{table(records, study.columns)}\n")
    for remark in study.remarks(result):
        print(f"* {remark}")
    if interrupted():
        print(f"* {INTERRUPTED}")

    summary = {
        "study": study.name,
        "question": study.question,
        "config": _plain(dataclasses.asdict(config)),
        "versions": versions(),
        "seconds": elapsed,
        "interrupted": interrupted(),
        "runs": [_plain(record) for record in records],
    }
    _write_text(out / "summary.json", json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n")
    with matplotlib.rc_context(STYLE):
        figure = study.figure(result)
        for suffix in ("png", "pdf"):
            figure.savefig(out / f"{study.name}.{suffix}")
        extras = [*_shown(study, result, out), *study.extras(result, out)]
    files = ["summary.json", *(f"{study.name}.{suffix}" for suffix in ("h5", "png", "pdf")), *extras]
    print(f"\n{out}/: {', '.join(files)}   ({elapsed:.1f} s)")
    if interrupted():
        raise SystemExit(130)
    return out


def _begun(out: Path) -> Path:
    """The folder, made; before hours are spent it is tried whether it takes files."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            return out
    except OSError as error:
        raise SystemExit(f"--out: {out} takes no files ({error.strerror}); name another folder") from error


def _shown(study: Study, result: Any, out: Path) -> list[str]:
    """The page of the motion, if there is one."""
    shown = list(study.motion(result))
    if shown:
        names, motions = zip(*shown, strict=True)
        animate(list(motions), out / MOTION, names=names, title=study.question)
    return [MOTION] if shown else []


def table(records: Sequence[Record], columns: Mapping[str, str]) -> str:
    """Aligned text table of the records' named columns."""
    rows = [list(columns.values())] + [[_cell(record.get(key)) for key in columns] for record in records]
    widths = [max(len(row[k]) for row in rows) for k in range(len(columns))]
    lines = [
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]])


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """JSON's own types; what is not finite becomes null."""
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else None
    return value if isinstance(value, (int, str, bool, type(None))) else str(value)


def _write_text(path: Path, text: str) -> None:
    temporary = path.with_suffix(path.suffix + ".part")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


STYLE: dict[str, Any] = {
    "figure.constrained_layout.use": True,
    "figure.dpi": 110,
    "savefig.dpi": 220,
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "pdf.fonttype": 42,
}
# colours that stay apart in print and for colour-blind readers (Okabe and Ito's palette)
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")


def command_line(
    studies: Mapping[str, Study], arguments: Sequence[str] | None = None, prog: str = "python -m studies"
) -> int:
    """``python -m studies NAME …``: one subcommand per study, its options are the fields of the study's config."""
    warnings.formatwarning = _in_one_line(warnings.formatwarning)
    whose: dict[type[StudyConfig], str] = {}
    for name, study in studies.items():  # what is asked for is told by the class of its options
        if (other := whose.setdefault(study.config, name)) != name:
            raise ValueError(
                f"studies: {other!r} and {name!r} have one configuration, {study.config.__name__}; derive a class of "
                "its own for each"
            )
    config = tyro.extras.subcommand_cli_from_dict(
        {name: study.config for name, study in studies.items()},
        prog=prog,
        description="Each study asks a question and answers it with a table, a figure, a data file and summary.json.",
        args=arguments,
        config=(tyro.conf.OmitArgPrefixes,),
    )
    study = studies[whose[type(config)]]
    try:
        answer(study, config)
    except ValueError as error:  # options that make no sense; the message has the name, the value and the remedy
        if type(error) is not ValueError and not isinstance(error, ModelError):  # a decoding or an array's own
            raise
        raise SystemExit(f"{study.name}: {error}") from error
    return 0


def _in_one_line(usual: Callable[..., str]) -> Callable[..., str]:
    """What is said of a model or a motion is for the reader of the terminal, who asks for no line of this package."""

    def written(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> str:
        plain = issubclass(category, (ModelWarning, MotionWarning))
        return f"{message}\n" if plain else usual(message, category, *where, **more)

    return written
