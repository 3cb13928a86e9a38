"""The integrating controller (Hairer and Söderlind 2005): it asks for no error estimate, but follows a given step size
Q(y) > 0 in a way that is symmetric in time, so that symmetric methods keep what they are for:

    ρ = 1/Q + (ε/2) G at the start;   h = ε/ρ;   ρ <- ρ + ε G after the step,   G = −d/dt ln Q along the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from integrators.controllers.clock import MEMORY, OWN, H, bounded
from integrators.controllers.controller import ReversibleController, Steered
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.method import Method
from integrators.method.step_map import moved
from integrators.problem.fields import Field, as_field
from integrators.status import CONTROLLER_FAILED, OK
from liegroup.compile import entry

RHO = MEMORY
"""In the clock: ρ."""
EPSILON = OWN
"""In the numbers: ε."""
_PARTS, _SMALL = 8, 1e-3
"""Of half the first step; of it, in differences."""
_AGREES, _NOISE = 1e-2, 1e-13
"""By so much of itself G may be another than differences of Q say; rounding of these, of Q."""


@entry(PROPOSE_SIGNATURE)
def propose(remaining: Any, clock: Any, numbers: Any) -> Any:
    """The step ε/ρ, or what is left."""
    return bounded(clock[H], remaining, numbers)


@entry(JUDGE_SIGNATURE)
def judge(
    status: Any, error: Any, t: Any, h: Any, y: Any, watched: Any, parameters: Any, structure: Any, field_work: Any,
    values: Any, clock: Any, numbers: Any,
) -> Any:  # fmt: skip
    """ρ <- ρ + ε G; a step that fails is not repeated, because a shorter one would not be symmetric.  No step is left
    where ρ is not positive.
    """
    if status != OK:
        return status
    watched(t, y, parameters, structure, field_work, values)
    forward = 1.0 if h > 0.0 else -1.0
    clock[RHO] += numbers[EPSILON] * forward * values[1]
    clock[H] = numbers[EPSILON] / clock[RHO] * forward
    return OK if clock[RHO] > 0.0 else CONTROLLER_FAILED


@dataclass(frozen=True)
class IntegratingController(ReversibleController):
    """Steps ε/ρ with ρ ≈ 1/Q, reversible: for symmetric methods.

    Parameters
    ----------
    size : callable
        ``size(t, y)`` → (Q, G) in any form of `integrators.problem.fields`: the step size Q > 0 up to the factor ε,
        even under reversal of the velocities, and G = −(d/dt Q)/Q along the motion; another is refused at the start.
    name : str
        For tables and checkpoints.

    Notes
    -----
    ρ = 1/Q + (ε/2) G at the start; h = ε/ρ; ρ ← ρ + ε G after the step, so that 1/h stays near Q⁻¹/ε and the way back
    takes the same steps.

    References
    ----------
    Hairer and Söderlind 2005.

    Examples
    --------
    Steps in proportion to the distance from a centre, Q = |q|, so that G = −q·v/|q|²:

    >>> from integrators import Problem, integrate
    >>> from integrators.controllers import IntegratingController
    >>> from liegroup import rn
    >>> line = Problem(rn(2), [1.0, 0.5], lambda t, y: [y[1], 0.0])
    >>> steps = IntegratingController(lambda t, y: [y[0], -y[1] / y[0]])
    >>> solution = integrate(line, "MIDPOINT", (0.0, 4.0), 0.1, controller=steps)
    >>> bool(solution.t[-1] - solution.t[-3] > solution.t[1] - solution.t[0])
    True
    """

    size: Callable[..., Any]
    name: str = "integrating controller"
    MEANS: ClassVar[str] = "the step where Q = 1"
    propose = propose
    judge = judge

    @property
    def function(self) -> Callable[..., Any]:
        """The function `size`."""
        return self.size

    @property
    def watched(self) -> Field:
        """The function `size` as a field of two values."""
        return as_field(self.size, "size")

    def data(self, method: Method) -> NDArray[np.float64]:
        return np.zeros(1)

    def start(self, run: Steered) -> None:
        epsilon, (target, rate) = run.first_step(), run.look()
        if not (target > 0.0 and np.isfinite([target, rate]).all()):
            raise ValueError(
                f"controller: size(t, y) = {[float(target), float(rate)]} at the start, expected (Q, G) with Q > 0 and "
                f"finite numbers"
            )
        # the rate enters with the direction of time, as in `judge`
        run.numbers[EPSILON] = epsilon
        run.clock[RHO] = 1.0 / target + 0.5 * epsilon * run.forward * rate
        run.clock[H] = run.forward * epsilon / run.clock[RHO]
        if run.clock[RHO] > 0.0:
            _check_rate(run, float(run.clock[H]))

    def why_no_step(self, clock: NDArray[np.float64], numbers: NDArray[np.float64]) -> str:
        rho = float(clock[RHO])
        if rho > 0.0:
            return ""
        if np.isnan(rho):
            return "size(t, y) gives no number for G there"
        return (
            f"ρ = {rho:.3g}, expected a positive number: steps ε/ρ would change by too much from one to the next; give "
            f"a smaller step ε than {numbers[EPSILON]:g}"
        )


def _check_rate(run: Steered, h: float) -> None:
    """ValueError unless G = −(dQ/dt)/Q along the motion, within the first step h: at its start both may be zero."""
    t, y, part, small = run.t0, run.y, 0.5 / _PARTS * h, _SMALL * h
    for _ in range(_PARTS):
        t, y = t + part, _carried(run, t, y, part)
    target, rate = run.look(t, y)
    by = [small, -small, 4.0 * small, -4.0 * small]
    sizes = np.array([run.look(t + s, _carried(run, t, y, s))[0] for s in by]) / target
    if not (target > 0.0 and np.isfinite(rate) and np.isfinite(sizes).all()):
        return  # the run will say so
    found, far = (sizes[1] - sizes[0]) / (2.0 * small), (sizes[3] - sizes[2]) / (8.0 * small)
    allowed = _AGREES * abs(found) + 10.0 * abs(found - far) + _NOISE / abs(small)
    if abs(rate - found) > allowed:
        raise ValueError(
            f"controller: size(t, y) gives G = {rate:.6g} at t = {t:.6g}, y = {y.tolist()}, where −(dQ/dt)/Q along the "
            f"motion is {found:.6g}; with another G the steps do not follow Q"
        )


def _carried(run: Steered, t: float, y: NDArray[np.float64], s: float) -> NDArray[np.float64]:
    """The state a short time s later, by the midpoint rule."""
    problem = run.problem
    middle = moved(problem, y, 0.5 * s * problem.velocity(t, y))
    return np.asarray(moved(problem, y, s * problem.velocity(t + 0.5 * s, middle)))
