"""What a benchmark record says about where it was made, and how its times are taken."""

from __future__ import annotations

import json
import platform
import subprocess
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def best_time(call: Callable[[int], Any], chunk: float = 3e-4, repeats: int = 300) -> float:
    """Seconds per call: the best of many chunks too short to be interrupted; `call(n)` makes n calls."""
    call(1)
    n = 1
    while True:
        start = time.perf_counter()
        call(n)
        if (elapsed := time.perf_counter() - start) > chunk / 4:
            break
        n *= 4
    n = max(1, round(n * chunk / elapsed))
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call(n)
        best = min(best, (time.perf_counter() - start) / n)
    return best


def processor() -> str:
    """The name the processor gives itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines) if value}
        return f"{names['model name']} (family {names['cpu family']}, model {names['model']})"
    except (OSError, KeyError):
        return platform.processor() or platform.machine()


def circumstances(*packages: str) -> dict[str, Any]:
    """Commit, time, processor and versions."""
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=Path(__file__).parent, capture_output=True, text=True)
    return {
        "commit": done.stdout.strip() or "unknown",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": processor(),
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("numpy", "numba", *packages)},
    }


def save(name: str, record: dict[str, Any]) -> Path:
    """Write a record as ``results/<name>.json``."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return path
