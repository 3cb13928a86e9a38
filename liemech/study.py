"""The studies from anywhere: ``liemech study energy-drift --robot my.urdf``.

A wheel has them in ``liemech/parts``, so that no package of such a common name as ``studies`` lies beside those of
others; in the source tree they stand beside this package.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

PARTS = Path(__file__).resolve().parent / "parts"
"""Where a wheel has the studies."""


def study(arguments: Sequence[str]) -> int:
    """Run ``python -m studies`` with these arguments; returns its exit code.

    Raises
    ------
    SystemExit
        A package ``studies`` of another origin has been imported, or none is there: with where, and what to do.
    """
    home = PARTS if PARTS.is_dir() else PARTS.parents[1]
    if not (home / "studies").is_dir():
        raise SystemExit(f"liemech study: no folder {home / 'studies'}; pip install --force-reinstall liemech")
    sys.path.insert(0, str(home))
    import studies

    if not Path(str(studies.__file__)).resolve().is_relative_to(home):
        raise SystemExit(f"liemech study: {studies.__file__} stands in the way, a package of the same name; rename it")
    from studies.registry import STUDIES
    from studies.study import command_line

    return command_line(STUDIES, list(arguments) or ["--help"], prog="liemech study")
