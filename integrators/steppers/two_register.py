"""Two-register methods: one register beside the state, every exponential used for good.

    Z <- Aₖ Z + f(t + cₖh, y),   y <- y τ(h Bₖ Z),   k = 1 … s

Sources: Williamson 1980; on groups Bazavov 2020.

coefficients
    A (s), B (s), c (s).
options
    stages s.
own rows
    Z; f; exponent; scratch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, EVALUATIONS, LAST_KNOWN, OWN_OPTIONS, OWN_ROWS, STAGE, TAU
from integrators.method import Method, Stepper
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, OK
from integrators.steppers.common import advance_state, dimension, leaves_chart
from integrators.tableaus import TwoRegister
from integrators.tableaus.numbers import floats
from liegroup.compile import entry, ld, st

STAGES = OWN_OPTIONS


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of a two-register method."""
    s, d, n = options[STAGES], dimension(table), y.shape[0]
    z, f, u, x = work[OWN_ROWS][:d], work[OWN_ROWS + 1][:d], work[OWN_ROWS + 2][:d], work[OWN_ROWS + 3][:n]
    counters[LAST_KNOWN] = 0
    for k in range(s):
        field(t + coefficients[2 * s + k] * h, y, parameters, structure, field_work, f)
        counters[EVALUATIONS] += 1
        for m in range(d):
            st(z, m, coefficients[k] * ld(z, m) + ld(f, m) if k > 0 else ld(f, m))
            st(u, m, (h * coefficients[s + k]) * ld(z, m))
        if leaves_chart(table, u):
            counters[STAGE] = k
            return CHART_LEFT
        advance_state(table, options[TAU], y, low, u, x, options[COMPENSATION], counters)
    return OK


def _rows(options: NDArray[np.int64]) -> int:
    return 4


TWO_REGISTER = Stepper("two_register", step, _rows, maps=("exp",))


def two_register(table: TwoRegister, name: str = "", **changes: Any) -> Method:
    """The method of a two-register table."""
    return Method(
        name=name or f"TWO_REGISTER[{table.name}]",
        stepper=TWO_REGISTER,
        order=table.order,
        coefficients=np.concatenate([floats(table.A), floats(table.B), floats(table.scheme.c)]),
        options=np.array([table.stages]),
        evaluations=table.stages,
        source=table.source,
        **changes,
    )
