"""Compiler options: strict or contracted arithmetic, and what kernels and inner functions are compiled without."""

from __future__ import annotations

import os
from typing import Any

from liegroup.compile.stages import BodyCompiler, CalledCompiler, KernelCompiler

MODE = os.environ.get("LIEMECH_KERNELS", "strict")
if MODE not in ("strict", "contract"):
    raise ValueError(f"LIEMECH_KERNELS={MODE!r}: expected 'strict' or 'contract'")
OPTIONS: dict[str, Any] = {
    "error_model": "numpy",
    "fastmath": {"contract"} if MODE == "contract" else False,  # said in any case: else inherited from the caller
    "pipeline_class": KernelCompiler,
    "no_cfunc_wrapper": True,  # functions are passed on by their own addresses
}

KERNEL = OPTIONS | {"_nrt": False}
"""Options of kernels: arrays are not reference-counted (calls cost half), and an allocation is a compile error."""
INNER = KERNEL | {"no_cpython_wrapper": True}
"""Options of kernels that only compiled code calls: without an entry point for Python they compile twice as fast."""
CALLED = INNER | {"pipeline_class": CalledCompiler}
"""Options of those that nothing else calls: not by an address, nor under another name."""
FORMULA = CALLED | {"forceinline": True}
"""Options of formulas: part of every kernel that uses them."""
BODY = CALLED | {"pipeline_class": BodyCompiler}
"""Options of what a kernel consists of: part of it, and what it calls is compiled as if the kernel called it."""
