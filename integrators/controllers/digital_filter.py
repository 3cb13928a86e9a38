"""Step size controllers as data: digital filters of the error estimates.

With r = err/safetyᵏ, err the scaled error estimate of a step of size h, k the power of h in it, the next step is

    h_{n+1} = h_n r_n^(−b₁/k) r_{n−1}^(−b₂/k) r_{n−2}^(−b₃/k) (h_n/h_{n−1})^(−a₂) (h_{n−1}/h_{n−2})^(−a₃)

(Söderlind 2003).  Rejected steps are repeated with the elementary rule, and the history begins anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from integrators.controllers.clock import ATTEMPTS, MEMORY, OWN, REPEAT, RETRIES, H, bounded
from integrators.controllers.controller import Steered, StepController
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.method import Method
from integrators.status import NON_FINITE, OK
from liegroup.arrays import of_kind, real, reals, shown
from liegroup.compile import entry, helper, ld, power, select, st
from liegroup.compile.scalars import absolute, arctan2, maximum, minimum

Array = NDArray[np.float64]
OLD_H, OLDER_H, OLD_ERROR, OLDER_ERROR, REJECTED_LAST, CEILING = range(MEMORY, MEMORY + 6)
"""In the clock: the last steps and errors, whether the last step was rejected, what steps stay below, or 0."""
B1, B2, B3, A2, A3, SAFETY, LEAST, GREATEST, SMOOTH, POWER, AIM, CAUTIOUS, HOLD = range(OWN, OWN + 13)
"""In the numbers: those of `Controller`, the power k of h in the error estimate, and safetyᵏ, with the last two behind
them.
"""
MOST_ATTEMPTS = 20
"""A step that has failed more often in a row is given up."""
PATIENCE = 5.0
"""Failures in a row, from which on a cautious controller makes steps shorter by more."""
SHORTER = 0.9
"""At most, of a step that is repeated because of its error."""
_SMALLEST_ERROR = 1e-10
BELOW, RISE = 0.6, 1.2
"""Under a cautious controller steps stay below this part of one that could not be taken, for a while: the bound rises
by a factor from step to step.
"""


@helper
def limited(factor: Any, numbers: Any) -> Any:
    """The factor between two steps within its bounds."""
    if numbers[SMOOTH] != 0.0:
        factor = 1.0 + arctan2(factor - 1.0, 1.0)
    return maximum(numbers[LEAST], minimum(numbers[GREATEST], factor))


@helper
def forget(clock: Any) -> None:
    """Begin the histories anew."""
    clock[OLD_H] = clock[OLDER_H] = 0.0
    clock[OLD_ERROR] = clock[OLDER_ERROR] = 1.0


@helper
def ratio(h: Any, old: Any) -> Any:
    """Of a step to the one before it; 1 where there is none."""
    return select(old == 0.0, 1.0, h / select(old == 0.0, 1.0, old))


@helper
def next_step(h: Any, error: Any, clock: Any, numbers: Any) -> Any:
    """The step after an accepted one of size h with the scaled error; keeps the histories.

    Of one run, or of eight in lanes with a clock in each; an exponent that is 0 costs nothing.
    """
    k, old, older = numbers[POWER], ld(clock, OLD_H), ld(clock, OLDER_H)
    r = maximum(error, _SMALLEST_ERROR) / numbers[AIM]
    factor = power(r, -numbers[B1] / k)
    if numbers[B2] != 0.0:
        factor = factor * power(ld(clock, OLD_ERROR), -numbers[B2] / k)
    if numbers[B3] != 0.0:
        factor = factor * power(ld(clock, OLDER_ERROR), -numbers[B3] / k)
    if numbers[A2] != 0.0:
        factor = factor * power(ratio(h, old), -numbers[A2])
    if numbers[A3] != 0.0:
        factor = factor * power(ratio(old, older), -numbers[A3])
    if numbers[CAUTIOUS] != 0.0:
        factor = minimum(factor, power(r, -1.0 / k))
    factor = limited(factor, numbers)
    if numbers[CAUTIOUS] != 0.0:
        ceiling = ld(clock, CEILING)
        factor = select(ceiling > 0.0, minimum(factor, ceiling / absolute(h)), factor)
        st(clock, CEILING, RISE * ceiling)
    if numbers[HOLD] > 1.0:
        factor = select((factor >= 1.0) & (factor <= numbers[HOLD]), 1.0, factor)
    factor = select(ld(clock, REJECTED_LAST) != 0.0, minimum(factor, 1.0), factor)
    st(clock, OLDER_ERROR, ld(clock, OLD_ERROR))
    st(clock, OLD_ERROR, r)
    st(clock, OLDER_H, old)
    st(clock, OLD_H, h)
    st(clock, REJECTED_LAST, 0.0)
    return h * factor


@helper
def chosen(h: Any, remaining: Any, numbers: Any) -> Any:
    """The step within its bounds, of one run or in lanes; two equal last steps instead of a long and a tiny one."""
    h = bounded(h, remaining, numbers)
    size, left = absolute(h), absolute(remaining)
    return select((left > size) & (size > 0.5 * left), 0.5 * remaining, h)


@entry(PROPOSE_SIGNATURE)
def propose(remaining: Any, clock: Any, numbers: Any) -> Any:
    """The step of the filter."""
    return chosen(clock[H], remaining, numbers)


@helper
def after_failure(status: Any, clock: Any, hurries: Any) -> Any:
    """The part of a step that failed with which it is taken again; those that fail again and again are to come to an
    end, solved or lost in the time, where that is asked for.
    """
    if hurries and clock[ATTEMPTS] > PATIENCE:
        return 0.1
    return 0.5 if status not in (NON_FINITE, OK) else 0.2


@entry(JUDGE_SIGNATURE)
def judge(
    status: Any, error: Any, t: Any, h: Any, y: Any, watched: Any, parameters: Any, structure: Any, field_work: Any,
    values: Any, clock: Any, numbers: Any,
) -> Any:  # fmt: skip
    """Accept errors up to 1; a failed step is repeated with a half or a fifth of its size."""
    if status == OK and error <= 1.0:
        clock[H] = next_step(h, error, clock, numbers)
        return OK
    forget(clock)
    clock[REJECTED_LAST] = 1.0
    if status != OK and clock[ATTEMPTS] > numbers[RETRIES]:
        return status
    if status != OK and numbers[CAUTIOUS] != 0.0:
        clock[CEILING] = BELOW * absolute(h)
    if status == OK and error == error:
        factor = minimum(SHORTER, numbers[SAFETY] * power(error, -1.0 / numbers[POWER]))
        clock[H] = h * maximum(numbers[LEAST], factor)
    else:
        clock[H] = h * after_failure(status, clock, numbers[CAUTIOUS] != 0.0)
    return REPEAT


@dataclass(frozen=True)
class Controller(StepController):
    """A digital filter for the step size.

    Parameters
    ----------
    name : str
        For tables and checkpoints.
    b : (b₁, b₂, b₃)
        Exponents of the last three errors.
    a : (a₂, a₃)
        Exponents of the last two ratios of steps.
    safety : float
        The aim is err = safetyᵏ.
    least, greatest : float
        Bounds of the factor between two steps.
    smooth : bool
        Limit the factor f to 1 + atan(f − 1) instead of cutting it off.
    cautious : bool
        No longer step than the elementary rule r⁻¹ᐟᵏ gives, and for a while none as long as one that has failed.
    hold : float
        A step is kept where the factor is from 1 to this: of a step that stays, implicit methods keep the factors of
        their linear systems.

    Raises
    ------
    ValueError
        Bounds in the wrong order, or numbers with which the step size would not settle (`radius` ≥ 1).

    Notes
    -----
    With r = err/safetyᵏ, err the scaled error estimate of a step of size h, k the power of h in it, the next step is

        h_{n+1} = h_n r_n^(−b₁/k) r_{n−1}^(−b₂/k) r_{n−2}^(−b₃/k) (h_n/h_{n−1})^(−a₂) (h_{n−1}/h_{n−2})^(−a₃)

    Rejected steps are repeated with the elementary rule, and the history begins anew.

    References
    ----------
    Söderlind 2003.

    Examples
    --------
    >>> from integrators.controllers import CONTROLLERS, Controller
    >>> CONTROLLERS["PI42"].b, round(CONTROLLERS["PI42"].radius, 3)
    ((0.6, -0.2, 0), 0.69)
    >>> round(Controller("mine", (0.5, 0.0, 0.0), safety=0.8).radius, 3)
    0.5
    """

    name: str
    b: tuple[float, float, float] = (1.0, 0.0, 0.0)
    a: tuple[float, float] = (0.0, 0.0)
    safety: float = 0.9
    least: float = 0.2
    greatest: float = 10.0
    smooth: bool = False
    cautious: bool = False
    hold: float = 1.0
    retries: ClassVar[int] = MOST_ATTEMPTS
    propose = propose
    judge = judge

    def __post_init__(self) -> None:
        of_kind(self.name, str, "name", "a text")
        for field, count in (("b", 3), ("a", 2)):  # from a file they come as lists
            exponents = reals(getattr(self, field), field, f"{count} numbers")
            if exponents.shape != (count,) or not np.isfinite(exponents).all():
                raise ValueError(f"{field}: {shown(getattr(self, field))}, expected {count} finite numbers")
            object.__setattr__(self, field, tuple(getattr(self, field)))
        for field in ("safety", "least", "greatest", "hold"):
            real(getattr(self, field), field, "a number", lambda x: True)
        for field in ("smooth", "cautious"):
            of_kind(getattr(self, field), (bool, np.bool_), field, "True or False")
        if not (0 < self.safety <= 1 and 0 < self.least < 1 < self.greatest and 1 <= self.hold < self.greatest):
            raise ValueError(
                f"controller {self.name}: expected 0 < safety ≤ 1, 0 < least < 1 < greatest and 1 ≤ hold < greatest"
            )
        if self.radius >= 1.0:
            raise ValueError(
                f"controller {self.name}: closed-loop radius {self.radius:.3g}, expected less than 1; it would not "
                "settle"
            )

    @property
    def radius(self) -> float:
        """Spectral radius of the closed loop on err ∝ hᵏ: below 1, disturbances of the step size die out."""
        (b1, b2, b3), (a2, a3) = self.b, self.a
        return float(np.abs(np.roots([1.0, -(1.0 - b1 - a2), -(a2 - a3 - b2), -(a3 - b3)])).max())

    def check(self, method: Method, step: float | None, rtol: Any, atol: Any, max_step: float) -> None:
        if method.symmetric or method.symplectic:
            raise ValueError(
                f"rtol, atol: {method.name} keeps its structure with fixed steps only: give `step` and no tolerance, "
                f"or an IntegratingController or a LogarithmicHamiltonian"
            )
        if method.with_variable_steps().stepper.controller == "ORDERED":
            raise ValueError(f"controller: {method.name} chooses its steps with its order: leave `controller` away")
        if not method.is_adaptive:
            asked = [name for name, value in (("rtol", rtol), ("atol", atol)) if value is not None]
            instead = f"leave {', '.join(asked) or '`controller`'} away" if step is not None else "give `step`"
            what = ", ".join(asked) or ("step: None" if step is None else "controller")
            raise ValueError(
                f"{what}: {method.name} does not estimate its error: {instead}, or take a method with an embedded one"
            )

    def method(self, method: Method) -> Method:
        return method.with_variable_steps()

    def estimates(self, method: Method) -> int:
        return 1 if method.embedded_order_low is None else 2

    def data(self, method: Method) -> Array:
        """The numbers above, and the power of h in the error estimate.

        Parameters
        ----------
        method : Method
            With which the run is made.

        Returns
        -------
        array (k,)
            They follow the engine's own in the numbers that `propose` and `judge` get.
        """
        bounds = (self.safety, self.least, self.greatest, float(self.smooth))
        k = float(method.estimate_power)
        return np.array([*self.b, *self.a, *bounds, k, self.safety**k, float(self.cautious), self.hold])

    def start(self, run: Steered) -> None:
        forget(run.clock)
        run.clock[H] = run.forward * run.first_step()


def _row(
    name: str, b: tuple[float, float, float], a: tuple[float, float] = (0.0, 0.0), smooth: bool = True
) -> Controller:
    return Controller(name, b, a, smooth=smooth)


CONTROLLERS: dict[str, Controller] = {
    row.name: row
    for row in (
        _row("I", (1, 0, 0), smooth=False),
        _row("PI3333", (2 / 3, -1 / 3, 0)),
        _row("PI3040", (7 / 10, -2 / 5, 0)),
        _row("PI42", (3 / 5, -1 / 5, 0)),
        _row("H211PI", (1 / 6, 1 / 6, 0)),
        _row("H0211", (1 / 2, 1 / 2, 0), (1 / 2, 0)),
        _row("H211b", (1 / 4, 1 / 4, 0), (1 / 4, 0)),
        _row("H0312", (1 / 4, 1 / 2, 1 / 4), (3 / 4, 1 / 4)),
        _row("H312b", (1 / 8, 2 / 8, 1 / 8), (3 / 8, 1 / 8)),
        _row("H312PID", (1 / 18, 1 / 9, 1 / 18)),
        _row("H0321", (5 / 4, 1 / 2, -3 / 4), (-1 / 4, -3 / 4)),
        _row("H321", (1 / 3, 1 / 18, -5 / 18), (-5 / 6, -1 / 6)),
        _row("PID", (0.58, -0.21, 0.10)),
        Controller("PREDICTIVE", (2, -1, 0), (-1, 0), cautious=True, hold=1.2),
    )
}
"""Controllers by name: I, PI and PID sets, digital filters, and the predictive one of Gustafsson 1994 for stiff
problems: what the error of the last step was beyond that of the step before is expected of the next one, too.
"""


def first_step(
    scale: Array, size: Array, v0: Array, probe: Callable[[float], Any], order: int, length: float = math.inf
) -> float:
    """A first step size, from the field and its change over a small step, both within an interval of the `length`.

        d₀ = |size/scale|, d₁ = |v₀/scale| (root mean squares);  h₀ = min(0.01 d₀/d₁, length)
        d₂ = |(v(h₀) − v₀)/scale|/h₀;  h = min(100 h₀, (0.01/max(d₁, d₂))^(1/(order + 1)), length)

    Source: Hairer, Nørsett and Wanner 1993, section II.4.

    Parameters
    ----------
    scale, size : array (n,)
        Tolerated errors, and sizes of the components, in one unit.  Where none is tolerated, of what is zero and only
        relatively known, a component tells nothing of the step.
    v0 : array (n,)
        The field at the start, per s.
    probe : callable
        ``probe(h)`` → the field (n,) after an explicit Euler step of size h.
    order : int
        Of the method.
    length : float
        Of the interval, s.

    Returns
    -------
    float
        s, positive.

    Raises
    ------
    ValueError
        Arrays that do not broadcast.

    References
    ----------
    Hairer, Nørsett and Wanner 1993, section II.4.

    Examples
    --------
    >>> one = np.ones(1)
    >>> round(first_step(1e-6 * one, one, -one, lambda h: -one * (1 - h), order=4), 6)
    0.025119
    """

    told = scale > 0.0

    def rms(x: Array) -> float:
        return float(np.sqrt(np.mean((x[told] / scale[told]) ** 2))) if told.any() else 0.0

    d0, d1 = rms(size), rms(v0)
    h0 = min(1e-6 if min(d0, d1) < 1e-5 else 0.01 * d0 / d1, length)
    if h0 == 0.0:  # the velocity is not finite, or the tolerance nothing beside it
        return min(1e-6, length)
    d2 = rms(probe(h0) - v0) / h0
    if not math.isfinite(d2):
        return h0
    top = max(d1, d2)
    h1 = max(1e-6, 1e-3 * h0) if top <= 1e-15 else (0.01 / top) ** (1.0 / (order + 1))
    return min(100.0 * h0, h1, length)
