"""A problem's own step with its exact derivative: directions carried through the step, one state or many (eight at a
time in lanes).

Beside its own step (`integrators.problem.OwnStep`) such a problem brings the same step with directions, under the name
of the step with `TANGENT` added.  After the rows of its shape the workspace has one row with forces u that are held
over the step, and one row per direction: (δq, δp, δu, δh, δt), n + n + n + 1 + 1 numbers for n velocities, changed in
place.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COUNTERS
from integrators.method import Method
from integrators.problem import OwnStep, Problem
from integrators.problem.jitted import raise_raised
from integrators.status import OK, Status
from integrators.step_derivatives.compiled import carry_stepped
from integrators.step_derivatives.complex_step import carry_complex
from liegroup.compile import WIDTH, lane_array

Array = NDArray[np.float64]
TANGENT = "_tangent"


def carry(
    problem: Problem,
    method: Method,
    y: Array,
    h: float,
    u: Array,
    directions: Array,
    t: float = 0.0,
    compiled: bool = False,
) -> tuple[Array, Array]:
    """The states after one step with forces u held over it, and the directions there.

    Parameters
    ----------
    problem : Problem
        Its own step has a tangent: trees of bodies.  The steps of others, of mechanisms with loops, wheels and force
        elements, are differentiated by complex steps (`integrators.step_derivatives.complex_step`), exactly and slowly.
    method : Method
        For that step, composed or not.
    y : array (m, n_q + n)
        States (q, p).
    u : array (m, n)
        Generalised forces.
    directions : array (k, 3 n + 2)
        (δq, δp, δu, δh, δt) at the start; δq are increments of the velocities' coordinates (left-trivialised on
        groups).
    compiled : bool
        Of a step without such a tangent: take complex steps of its compiled form.

    Returns
    -------
    (m, n_q + n), (m, k, 3 n + 2)

    Raises
    ------
    ValueError
        The problem brings no such step.
    ArithmeticError
        A step fails; the message names the state and the status.
    """
    own = problem.own_steps.get(method.stepper.own + TANGENT)
    if own is None:
        by_complex_steps = carry_stepped if compiled else carry_complex
        return by_complex_steps(problem, method, y, h, u, directions, t)
    ends, carried = np.empty_like(y), np.empty((len(y), *directions.shape))
    whole = len(y) - len(y) % WIDTH
    for k in range(0, whole, WIDTH):
        some = slice(k, k + WIDTH)
        run = _Run(problem, method, own, len(directions), lanes=True)
        if run(y[some].T, h, u[some].T, directions[..., None], t) == OK:
            ends[some], carried[some] = run.y.T, np.moveaxis(run.directions, -1, 0)
        else:  # turns too far in one of them
            whole = k
            break
    for k in range(whole, len(y)):
        run = _Run(problem, method, own, len(directions), lanes=False)
        status = run(y[k], h, u[k], directions, t)
        if status != OK:
            said = method.explain(problem, run.work[0])
            raise ArithmeticError(f"{method.name}, state {k}: {Status(status).name}; {said}")
        ends[k], carried[k] = run.y, run.directions
    return ends, carried


class _Run:
    """The workspace of one step, and its call."""

    def __init__(self, problem: Problem, method: Method, tangent: OwnStep, count: int, lanes: bool) -> None:
        make = lane_array if lanes else (lambda *shape: np.zeros(shape))
        self.numbers, self.columns = problem.dimension // 2, max(tangent.shape[1], 3 * problem.dimension // 2 + 2)
        self.first = tangent.shape[0]
        self.work, self.field_work = make(self.first + 1 + count, self.columns), make(*problem.work_shape)
        self.y, self.low = make(problem.n), make(problem.n)
        form, field = "compiled_lanes" if lanes else "compiled", method.function(problem)
        self.call, self.field = getattr(tangent.step, form), getattr(field, form)
        self.method = (problem.table, method.kernel_coefficients(problem), method.kernel_options(problem))
        self.data = (problem.own_parameters(), problem.structure)

    @property
    def directions(self) -> Array:
        return self.work[self.first + 1 :, : 3 * self.numbers + 2]

    def __call__(self, y: Array, h: float, u: Array, directions: Array, t: float) -> int:
        self.y[...] = y
        self.work[self.first, : self.numbers] = u
        self.directions[...] = directions
        counters = np.zeros(COUNTERS, dtype=np.int64)
        status = self.call(
            self.field, t, h, self.y, self.low, *self.method, *self.data, self.field_work, self.work, counters
        )
        raise_raised()
        return int(status)
