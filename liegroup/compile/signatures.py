"""The types of entry points and of functions passed as arguments."""

from __future__ import annotations

from typing import Any

from numba import types

from liegroup.compile.addresses import Address
from liegroup.compile.lanes import Lanes

nothing = types.void
boolean = types.boolean
integer = types.int64
real = types.float64
lane_real = Lanes
"""Eight numbers in one register."""
integers = types.int64[::1]
integer_table = types.int64[:, ::1]
vector = types.float64[::1]
constants = types.Array(types.float64, 1, "C", readonly=True)
"""A vector that is only read: arrays that may not be written are accepted, too."""
matrix = types.float64[:, ::1]
lane_vector = types.float64[:, ::1]
lane_matrix = types.float64[:, :, ::1]
stepped = types.complex128
"""A number that carries a derivative: its imaginary part is that times `liegroup.compile.COMPLEX_STEP`."""
stepped_vector = types.complex128[::1]
stepped_matrix = types.complex128[:, ::1]
stepped_matrices = types.complex128[:, :, ::1]


def function(result: Any, *arguments: Any) -> Any:
    """The type of a compiled function passed as an argument; called by its address (about 2 ns)."""
    return Address(result(*arguments))
