"""The size of an error in the algebra, in units of the tolerances of its components."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld
from liegroup.compile.scalars import absolute, maximum, sqrt
from liegroup.formulas.facts import LENGTH_Q, LENGTH_V, SIZE
from liegroup.table import KIND, N_V, Q_OFFSET, V_OFFSET

TINY = 1e-300
"""In the place of a scale that is zero."""
LEAST = 1e-3 * 2.0**-52
"""The smallest absolute tolerance of all components together, as a part of the largest component: the rounding of a
field in a step, of what should be zero but is a difference of such components.
"""


@helper
def size_of_state(y: Any, z: Any, first: Any, count: Any) -> Any:
    """The larger of the lengths of components first … first + count − 1 of y and z; 1 for an angle, which has none."""
    if count == 0:
        return 1.0
    if count == 1:
        return maximum(absolute(ld(y, first)), absolute(ld(z, first)))
    a, b = 0.0, 0.0
    for k in range(first, first + count):
        a, b = a + ld(y, k) * ld(y, k), b + ld(z, k) * ld(z, k)
    return sqrt(maximum(a, b))


@kernel
def error_norm(table: Any, y: Any, z: Any, e: Any, relative: Any, tolerances: Any) -> Any:
    """Mean square of the error e in the algebra, each component in units of its scale, between the states y and z.

    Scale: tolerance + relative · size, both tolerances those of the component, the size by what the group says
    (`liegroup.formulas.facts`): 1 for a rotation, the length of a position, the magnitude of a component of Rⁿ.
    """
    total, n = 0.0, 0
    for row in range(table.shape[0]):
        kind, q, k = table[row, KIND], table[row, Q_OFFSET], table[row, V_OFFSET]
        n += table[row, N_V]
        for _ in range(table[row, N_V] // LENGTH_V[kind]):
            size = 0.0
            for c in range(LENGTH_V[kind]):
                if c == 0 or SIZE[kind, c, 0] != SIZE[kind, c - 1, 0] or SIZE[kind, c, 1] != SIZE[kind, c - 1, 1]:
                    size = size_of_state(y, z, q + SIZE[kind, c, 0], SIZE[kind, c, 1])
                part = ld(e, k) / maximum(tolerances[k] + relative[k] * size, TINY)  # what stays zero has no error
                total = total + part * part
                k += 1
            q += LENGTH_Q[kind]
    return total / n
