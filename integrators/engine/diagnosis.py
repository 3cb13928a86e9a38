"""Why a step failed: it is taken once more with the interpreted source, watching the field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COUNTERS, ERROR, STAGE
from integrators.status import Status

if TYPE_CHECKING:
    from integrators.engine.run import Run


def diagnose(run: Run, status: Status) -> str:
    """What can be said about the step that failed, beyond its status."""
    if own := run.method.explain(run.problem, run.work[ERROR]):
        return own
    if status is Status.NOT_CONVERGED:
        return f"residual {run.work[ERROR, 0]:.2g}"
    if status is Status.CHART_LEFT:
        return f"stage {int(run.counters[STAGE])}"
    return _first_non_finite(run) if status is Status.NON_FINITE else ""


def _first_non_finite(run: Run) -> str:
    problem = run.problem
    t, h = run.step_in_progress()
    calls, found = 0, ""

    def probe(t: float, y: NDArray[Any], parameters: Any, structure: Any, work: Any, out: NDArray[Any]) -> None:
        nonlocal calls, found
        calls += 1
        run.evaluated.python(t, y, parameters, structure, work, out)
        if not found and not np.isfinite(out).all():
            found = (
                f"the field at t = {t:.9g}, evaluation {calls} of the step, gives {out.tolist()} at y = {y.tolist()}"
            )

    with np.errstate(all="ignore"):
        run.method.step(problem).python(
            probe, t, h, run.y.copy(), run.low.copy(), problem.table, run.coefficients, run.options, problem.parameters,
            problem.structure, np.zeros(problem.work_shape), np.zeros_like(run.work), np.zeros(COUNTERS,
            dtype=np.int64),
        )  # fmt: skip
    return found
