"""Kernel decorators and the lane type: the only folder that names numba.

A formula is written once, as a plain Python function of scalars.  `helper` leaves it a plain Python function
(so it runs on floats, numpy batches, mpmath and complex numbers as it stands) and also registers it with the
compiler, where float64 gives one trajectory and `Lanes` (eight doubles in one vector register) gives eight.

===============  =======================================================================================================
`helper`         formula or small function, inlined by force into every kernel that uses it
`straight_line`  a helper without branches and of any length, as programs write them
`kernel`         larger function called from other kernels, inlined where the compiler thinks it pays; cached on disk
`rare`           a kernel that most runs do not need, called through a cell: compiled when it is needed
`primitive`      a Python function on any scalar whose compiled form is another function
`entry`          the outermost function of a family: fixed signatures, compiled lazily, cached on disk
`mark`           says of an array, within compiled code, what is known of it: what takes it is compiled for that
`ld`, `ld2` …     read and write (`st`, `st2`) a scalar or a lane register, by the dimensions of the array
===============  =======================================================================================================

A module that says ``LOOPS = "short"`` or ``LOOPS = "rows"`` has kernels whose loops run over some tens of numbers, not
over thousands, or along rows of matrices: they compile in two fifths or half of the time (`libraries.loops_of`).

Modes, by the environment variable ``LIEMECH_KERNELS``:

* ``strict`` (default): IEEE arithmetic in the order written; scalar, lane and interpreted runs agree bitwise.
* ``contract``: the compiler may fuse a*b + c (8-18 % faster, last digits differ).

The cache directory (``LIEMECH_CACHE``, default: the user's cache folder) is keyed by a digest of the source of the
entry or kernel and of every project file it imports, because the compiler's own cache looks at one file only.  It is
used only where nobody else can write (`liegroup.compile.folders`), and what is read there must be what was written
(`liegroup.compile.seals`).
"""

from liegroup.compile import flow as _flow  # noqa: F401  # it goes through functions for the compiler
from liegroup.compile.addresses import Pointer, function_at
from liegroup.compile.callback import C_FUNCTION, call_at
from liegroup.compile.decorators import (
    Entry,
    compile_field,
    entry,
    helper,
    interpreted,
    is_formula,
    is_jitted,
    kernel,
    primitive,
    straight_line,
)
from liegroup.compile.folders import cache_directory
from liegroup.compile.functions import (
    COMPLEX_STEP,
    absolute,
    any_,
    carries,
    each_lane,
    less,
    magnitude,
    power,
    real_part,
    select,
    small_change,
    spared,
    sqrt,
    taken,
)
from liegroup.compile.lanes import WIDTH
from liegroup.compile.marked import mark
from liegroup.compile.memory import (
    ALIGNMENT,
    flattened,
    in_pairs,
    in_rows,
    in_rows_of_lanes,
    joined,
    lane_array,
    ld,
    ld2,
    lines_from,
    st,
    st2,
)
from liegroup.compile.options import MODE
from liegroup.compile.pending import LateBindingError, raise_pending
from liegroup.compile.processor import Processor, processor
from liegroup.compile.rare import bind_needed, bind_these, joint_scalar, never, rare, renew, scalar_of
from liegroup.compile.records import Packed, record, record_at
from liegroup.compile.signatures import (
    boolean,
    constants,
    function,
    integer,
    integer_table,
    integers,
    lane_matrix,
    lane_real,
    lane_vector,
    matrix,
    nothing,
    real,
    stepped,
    stepped_matrices,
    stepped_matrix,
    stepped_vector,
    vector,
)
from liegroup.compile.sources import is_ours, source_digest
from liegroup.compile.undisturbed import undisturbed
from liegroup.compile.waiting import seconds_waited

__all__ = [
    "ALIGNMENT",
    "COMPLEX_STEP",
    "C_FUNCTION",
    "MODE",
    "WIDTH",
    "Entry",
    "LateBindingError",
    "Packed",
    "Pointer",
    "Processor",
    "absolute",
    "any_",
    "bind_needed",
    "bind_these",
    "boolean",
    "cache_directory",
    "call_at",
    "carries",
    "compile_field",
    "constants",
    "each_lane",
    "entry",
    "flattened",
    "function",
    "function_at",
    "helper",
    "in_pairs",
    "in_rows",
    "in_rows_of_lanes",
    "integer",
    "integer_table",
    "integers",
    "interpreted",
    "is_formula",
    "is_jitted",
    "is_ours",
    "joined",
    "joint_scalar",
    "kernel",
    "lane_array",
    "lane_matrix",
    "lane_real",
    "lane_vector",
    "ld",
    "ld2",
    "less",
    "lines_from",
    "magnitude",
    "mark",
    "matrix",
    "never",
    "nothing",
    "power",
    "primitive",
    "processor",
    "raise_pending",
    "rare",
    "real",
    "real_part",
    "record",
    "record_at",
    "renew",
    "scalar_of",
    "seconds_waited",
    "select",
    "small_change",
    "source_digest",
    "spared",
    "sqrt",
    "st",
    "st2",
    "stepped",
    "stepped_matrices",
    "stepped_matrix",
    "stepped_vector",
    "straight_line",
    "taken",
    "undisturbed",
    "vector",
]
