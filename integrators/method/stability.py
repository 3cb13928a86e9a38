"""Steps that a method takes without growing, of the fastest mode of a problem: its linear motion about one state,
whether the motion shows the mode or not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.method.growth import GROWTH
from integrators.method.method import Method
from integrators.method.step_map import step_map
from integrators.problem import Problem
from integrators.problem.jacobian import derivative
from liegroup.group import rn

MARGIN, SHORTER, LONGEST = 0.9, 0.8, 200
"""A step is shortened by `SHORTER` until it holds the mode, at most so many times, and then by `MARGIN`."""
UNDAMPED = 1e-6
"""A damping ratio that is rounding."""
LARGEST = 200
"""Dimension of the largest state whose fastest mode is looked for in passing."""


def fastest_mode(problem: Problem, t: float, y: NDArray[np.float64]) -> complex:
    """The eigenvalue λ, 1/s, of the derivative of the field at one state that is largest in magnitude; 0 where it
    cannot be told.
    """
    J = derivative(problem, t, y)
    values = np.linalg.eigvals(J) if np.isfinite(J).all() else np.zeros(1)
    return complex(values[np.argmax(np.abs(values))])


def _oscillator(t: float, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """ẍ + 2ζ ẋ + x = 0."""
    out[0] = y[1]
    out[1] = -y[0] - 2.0 * parameters[0] * y[1]


def _spring(t: float, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """ẍ + x = 0: a force that does not depend on the momentum."""
    out[0] = y[1]
    out[1] = -y[0]


def growth(method: Method, z: float, damping: float) -> float:
    """The spectral radius of a step of size z on ẍ + 2ζ ẋ + x = 0; infinite where the step fails."""
    if method.stepper.growth is not None:
        root = np.sqrt(complex(damping * damping - 1.0))
        return max(method.stepper.growth(method.coefficients, z * (-damping + x)) for x in (root, -root))
    field = _oscillator if abs(damping) > UNDAMPED else _spring
    problem = Problem(rn(1).cotangent, [1.0, 0.0], field, parameters=[damping], canonical=True)
    step = step_map(problem, method, interpreted=True)
    try:
        with np.errstate(all="ignore"):
            columns = [step(e, z) for e in np.eye(2)]
    except ArithmeticError:
        return float("inf")
    A = np.array(columns).T
    return float(np.abs(np.linalg.eigvals(A)).max()) if np.isfinite(A).all() else float("inf")


def held_part(method: Method, z: float, damping: float) -> float:
    """1 if a step of size z on ẍ + 2ζ ẋ + x = 0 does not grow, else the part of it that is left when it does not."""
    part = 1.0
    for _ in range(LONGEST):
        if growth(method, part * z, damping) <= GROWTH:
            break
        part *= SHORTER
    return part if part == 1.0 else MARGIN * part


def held_step(problem: Problem, method: Method, t: float, step: float) -> float:
    """The step, or a shorter one with which the method holds the fastest mode at the start of the problem.

    Explicit methods get shorter steps where springs or dampers are stiff, others keep theirs.  Of steps that the
    problem brings itself its own limits count (`Method.doubts`).  Methods that work on constraints keep theirs.
    """
    y = np.atleast_2d(problem.y0)[0]
    for doubt in method.doubts(problem, y, step, t):
        if doubt.limit < doubt.value:
            step *= MARGIN * doubt.limit / doubt.value
    if method.stepper.own or method.needs not in ("field", "canonical"):
        return step
    mode = fastest_mode(problem, t, y)
    rate = abs(mode)
    if not rate * step > 0.0:
        return step
    return step * held_part(method, rate * step, max(-mode.real / rate, 0.0))
