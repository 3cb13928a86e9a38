"""The workspace of the Gauss method in lanes: coefficients, options and rows, and where its parts begin.

coefficients
    ν, b, c, the weights of the highest Legendre coefficient, those of the field at the ends, four matrices of first
    guesses (`integrators.tableaus.gauss_in_lanes`), the tolerance (energy, or relative where the problem is not
    canonical; 0: a part of the energy at play, which follows, or 1); K by rows, of a kinetic energy ½ pᵀK p.
options
    largest level, 1 for the fast stop, 1 if every factor of the group is
    commutative, 1 if the kinetic energy is ½ pᵀK p with a constant K; then per component of the velocity the components
    (first, count) of the state that say how large it is; then per row of K the columns (first, last + 1) of its
    entries.
own rows
    The clock, the report, substeps per level (two rows); ν; sizes and their inverses, S; the centre and
    its low words; one stage and its field; in lanes x, L, h b f, Y, and room for displacements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.layout import OWN_OPTIONS, OWN_ROWS
from liegroup.compile import helper

STAGES = 8
LARGEST, FAST, FLAT, SEPARABLE, TIMELESS, SIZES = range(OWN_OPTIONS, OWN_OPTIONS + 6)

NU, B, C, HIGHEST, ENDS, GUESSES = 0, 64, 72, 80, 88, 152
SAME, DOWN, UP, AGAIN = (GUESSES + 64 * k for k in range(4))
TOLERANCE = GUESSES + 256
ENERGY = TOLERANCE + 1
KINETIC = ENERGY + 1
FRESH, KEPT = 0, 1
"""Where a guess would stand: there is none, all stages begin with the field at the start; it is there already."""

# the clock: what the next step goes on from
LEVEL, STEP_SIZE, AT_PLAY, GUESS, STEEPEST, TOLERATED, JUMP, JUMP_TIME = range(8)
"""The last four: largest estimate divided by the fifteenth power of the substep; the tolerance at last; the largest
jump of the field between two substeps, in units of what a smooth one allows, and the time of the first that is more.
"""
# the report of the run so far
LARGEST_ESTIMATE, ESTIMATE_SUM, SMALLEST, SMALLEST_TIME, MOST, REJECTIONS, SUBSTEP_COUNT, SWEEPS = range(8)
CLOCK_ROW, REPORT_ROW, LEVELS_ROW = OWN_ROWS, OWN_ROWS + 1, OWN_ROWS + 2
LAST_START, LAST_SIZE, TOP = STAGES - 3, STAGES - 2, STAGES - 1
"""Behind the counts of the levels: where the last substep began, its size, and its highest coefficients divided by it.
"""
OWN = OWN_ROWS + 4


@helper
def rows_of(count: Any) -> Any:
    """Rows of eight numbers for `count` of them."""
    return (count + STAGES - 1) // STAGES


class Room(NamedTuple):
    """Where the parts of the workspace begin, for n components of the state and d of the velocity: the first number of
    those that are vectors (to `state`), the first row of those that are in lanes (from `x`).

    scale, inverse    sizes of the components met so far (d), one over them (d)
    last              the field at the end of the substep before (d)
    total, half       S (d), ½ S (d)
    value, state      the field at one stage (d), one stage (n)
    middle, its low   the centre y τ(½ S) and its low words (n)
    x, l, f, body     chart coordinates, L, the field, h b f, of all stages (d); x: changes of momenta, if they are flat
    y, centre, moved  the stages, the centre, displacements from it (n)
    seen              momenta foreseen in the sweep before (of the variational form)
    """

    scale: Any
    inverse: Any
    last: Any
    total: Any
    half: Any
    value: Any
    middle: Any
    middle_low: Any
    state: Any
    x: Any
    l: Any
    f: Any
    body: Any
    y: Any
    centre: Any
    moved: Any
    seen: Any
    end: Any


@helper
def room(n: Any, d: Any) -> Any:
    """Where the parts of the workspace begin."""
    r, s, first = STAGES * rows_of(n), STAGES * rows_of(d), STAGES * OWN
    k = first + 5 * s
    x = OWN + 6 * rows_of(d) + 3 * rows_of(n)
    y = x + 4 * d
    return Room(
        first, first + s, first + 2 * s, first + 3 * s, first + 4 * s, k, k + s, k + s + r, k + s + 2 * r,
        x, x + d, x + 2 * d, x + 3 * d, y, y + n, y + 2 * n, y + 3 * n, y + 3 * n + d // 2,
    )  # fmt: skip
