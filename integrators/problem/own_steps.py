"""Steps that problems bring, made of their single steps: the method's weights are those of a composition."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from integrators.layout import COMPENSATION, LAST_KNOWN
from integrators.signatures import STEP_SIGNATURES
from integrators.status import OK
from liegroup.compile import Entry, entry
from liegroup.compile.decorators import named


@cache
def composed(single: Callable[..., Any]) -> Entry:
    """y <- S(wₛh) … S(w₁h) y, the weights w being the coefficients of the method.

    Parameters
    ----------
    single : kernel
        S: ``single(t, h, y, low, table, parameters, structure, work, counters, compensation)`` → status; a name of its
        module.
    """

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any,
        field_work: Any, work: Any, counters: Any,
    ) -> int:  # fmt: skip
        counters[LAST_KNOWN] = 0
        time, status = t, OK
        for k in range(coefficients.shape[0]):
            part = coefficients[k] * h
            status = single(time, part, y, low, table, parameters, structure, work, counters, options[COMPENSATION])
            if status != OK:
                break
            time = time + part
        return status

    named(step, f"composed.{single.__module__}.{single.__qualname__}", (single.__code__.co_filename,))
    made = entry(*STEP_SIGNATURES)(step)
    made.recipe = composed, (single,)
    return made
