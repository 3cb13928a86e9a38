"""The command line: ``liemech --help``, or ``python -m liemech --help``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import Any

import tyro

import liemech
from liemech.doctor import doctor
from liemech.study import study
from liemech.warm_up import warm_up


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # files and pipes have the system's encoding, which may lack letters
            stream.reconfigure(errors="replace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _run(given)
    except BrokenPipeError:  # who reads has enough, as in `liemech … | head`
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), sys.stdout.fileno())  # what is left to be written goes nowhere
        return 1


def _run(given: list[str]) -> int:
    if given[:1] == ["--version"]:
        print(f"liemech {liemech.__version__}")
        return 0
    if given[:1] == ["study"]:  # its options are those of the study it names
        return study(given[1:])
    commands: dict[str, Callable[..., Any]] = {"warm-up": warm_up, "doctor": doctor, "study": _study}
    done: Any = tyro.extras.subcommand_cli_from_dict(commands, prog="liemech", description=__doc__, args=given)
    return int(done or 0)


def _study() -> int:
    """Answer a question with a table, a picture and a data file: ``liemech study NAME``, ``liemech study --help``."""
    return study([])


if __name__ == "__main__":
    sys.exit(main())
