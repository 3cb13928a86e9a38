"""What a benchmark record says about where it was made, and how its times are taken."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
MOST_CALLS = 2**40
"""Of one chunk; a nanosecond each would be twenty minutes."""


def best_time(call: Callable[[int], Any], chunk: float = 2e-3, repeats: int = 100) -> float:
    """Seconds per call: the best of many chunks short enough not to be interrupted; `call(n)` makes n calls.

    What entering `call` costs (a compiled loop over a kernel given as an argument: up to 0.1 ms) is measured with n = 0
    and taken off.  RuntimeError if calls take no time: they do nothing, because a step failed at once.
    """
    call(1)
    entering = min(_elapsed(call, 0) for _ in range(30))
    n = 1
    while (once := min(_elapsed(call, n) for _ in range(3)) - entering) < chunk / 4:
        n *= 4
        if n > MOST_CALLS:
            raise RuntimeError(f"{n} calls take {max(once, 0.0):g} s more than none: what is timed does nothing")
    n = max(1, round(n * chunk / once))
    entering = min(entering, *(_elapsed(call, 0) for _ in range(repeats)))
    return (min(_elapsed(call, n) for _ in range(repeats)) - entering) / n


def _elapsed(call: Callable[[int], Any], n: int) -> float:
    start = time.perf_counter()
    call(n)
    return time.perf_counter() - start


def processor() -> str:
    """The name the processor gives itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}
        return f"{names['model name']} (family {names['cpu family']}, model {names['model']})"
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=Path(__file__).parent, capture_output=True, text=True).stdout.strip()


def circumstances(*packages: str) -> dict[str, Any]:
    """Commit, time, processor and versions of those packages that are installed; ``-dirty`` is said of the sources, not
    of records written before this one.
    """
    commit = _git("describe", "--always")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", "..", ":!results")
    return {
        "commit": (commit + "-dirty" * bool(changed)) or "unknown",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "python": platform.python_version(),
        "versions": dict(_installed("numpy", "numba", *packages)),
    }


def _installed(*packages: str) -> Iterator[tuple[str, str]]:
    for name in packages:
        with suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)


def save(name: str, record: dict[str, Any]) -> Path:
    """Write a record as ``results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return path
