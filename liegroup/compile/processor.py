"""The processor that kernels are compiled for."""

from __future__ import annotations

from typing import NamedTuple

import llvmlite.binding as llvm
from numba.core import config

from liegroup.compile.lanes import WIDTH

_UNITS = (("avx512f", "AVX-512", 8), ("avx2", "AVX2", 4), ("avx", "AVX", 4), ("neon", "NEON", 2))
_PLAIN = ("SSE2", 2)


class Processor(NamedTuple):
    """A processor as the compiler knows it.

    Attributes
    ----------
    name : str
        The compiler's name of its kind.
    units : str
        Its widest vector unit.
    doubles : int
        Numbers of double precision in one register of that unit.
    chosen : bool
        Whether ``NUMBA_CPU_NAME`` or ``NUMBA_CPU_FEATURES`` names it, rather than the machine.
    """

    name: str
    units: str
    doubles: int
    chosen: bool

    @property
    def registers_per_lanes(self) -> int:
        """Registers that eight trajectories take."""
        return WIDTH // self.doubles


def processor() -> Processor:
    """What kernels are compiled for: the machine itself, unless the compiler's settings name another one."""
    name = config.CPU_NAME or llvm.get_host_cpu_name()
    if config.CPU_FEATURES is None:
        has = {feature for feature, there in llvm.get_host_cpu_features().items() if there}
    else:
        has = {word[1:] for word in config.CPU_FEATURES.split(",") if word.startswith("+")}
    _, units, doubles = next((row for row in _UNITS if row[0] in has), ("", *_PLAIN))
    return Processor(name, units, doubles, bool(config.CPU_NAME or config.CPU_FEATURES is not None))
