"""Our own times once more with products and sums fused (``LIEMECH_KERNELS=contract``), as compilers of peers fuse
theirs where the processor can.

The mode is chosen before anything is compiled, so that a process of its own measures, with the option ``--ours`` of a
benchmark: one line of JSON with the times by their columns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

PREFIX = "fused_"
"""Of the columns of a record."""


def fused(module: str, *arguments: str) -> dict[str, Any]:
    """What ``python -m module --ours arguments`` measures in that mode, its columns with `PREFIX`."""
    command = [sys.executable, "-m", module, "--ours", *arguments]
    environment = os.environ | {"LIEMECH_KERNELS": "contract"}
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {f"{PREFIX}{name}": value for name, value in json.loads(run.stdout.splitlines()[-1]).items()}
