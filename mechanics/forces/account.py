"""Whether the law of a force element keeps its account: the energy that it says it stores changes by what its force
takes from the motion, and by the power that it says.

    dU/dt = P − F·s,    s the rate of what the force acts on,

along a motion, by differences, at random states: in metres, radians and seconds, bodies in the axes of the world.  What
is wrong by less than a thousandth, or at none of these states, is not found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.slopes import contradiction
from liegroup.formulas import so3
from mechanics.errors import ModelError
from mechanics.forces.element import ON_BODIES, ON_EQUATION, BodyState, Element

Array = NDArray[np.float64]
SCALES = 1e-3, 1e-2, 0.1, 1.0
"""Of the coordinates and rates that are tried."""
TRIES, ROUNDING = 3, 1e-9


def check_account(element: Element, numbers: Array) -> None:
    """ModelError for an element whose law, with its numbers, contradicts dU/dt = P − F·s, or brings energy that it does
    not bring by what it says of itself (`drives`), or loses some (`dissipates`); or whose numbers are not finite.

    Parameters
    ----------
    element : Element
        Of a kind with a law of its own.
    numbers : array
        What its law reads.

    Raises
    ------
    ModelError
        By the kind, the state and both numbers; or by the number that is none.

    Examples
    --------
    >>> from mechanics.forces import joint_spring
    >>> spring = joint_spring("hinge", 10.0)[0]
    >>> check_account(spring, spring.numbers)
    """
    random, given = np.random.default_rng(5), tuple(float(x) for x in numbers)
    for k, number in enumerate(given):
        if not np.isfinite(number):
            what = f"number {k} of its law is {number}, expected a finite one"
            raise ModelError(str(element), what, f"give {type(element).__name__} finite numbers")
    along = {ON_BODIES: _between_bodies, ON_EQUATION: _along_distance}.get(element.place, _along_number)
    for scale in SCALES:
        for _ in range(TRIES):
            drive = scale * random.normal(size=2)
            drive[1] *= not element.is_input  # held
            path, says = along(random, scale)
            driven = _driven(drive) if element.is_driven() else _alone
            try:
                with np.errstate(all="ignore"):
                    wrong = _contradiction(element, given, path, driven)
            except (ArithmeticError, ValueError):  # not defined there
                continue
            if wrong:
                what, remedy = wrong
                raise ModelError(str(element), f"the law of {type(element).__name__} {what} at {says}", remedy)


def _alone(s: float) -> tuple[float, ...]:
    return ()


def _driven(drive: Array) -> Callable[[float], tuple[float, ...]]:
    """Value and rate of the motion that an element follows, after a time."""
    return lambda s: (float(drive[0] + s * drive[1]), float(drive[1]))


def _along_number(random: Any, scale: float) -> tuple[Any, str]:
    """A coordinate that moves at constant rate."""
    x, rate = (float(k) for k in scale * random.normal(size=2))
    return _moving(x, rate)


def _moving(x: float, rate: float) -> tuple[Any, str]:
    def state(s: float) -> tuple[Any, ...]:
        return x + s * rate, rate

    return (state, lambda found: float(found[0]) * rate), f"x = {x:.6g}, s = {rate:.6g}"


def _along_distance(random: Any, scale: float) -> tuple[Any, str]:
    """The same of a positive one: what an equation gives may be a distance."""
    x, rate = (float(k) for k in scale * random.normal(size=2))
    return _moving(abs(x), rate)


def _between_bodies(random: Any, scale: float) -> tuple[Any, str]:
    """Two bodies that move at constant velocities in the world."""
    turns, places, rates, spins = (random.normal(size=(2, 3)) for _ in range(4))
    places, rates = scale * places, scale * rates

    def state(s: float) -> tuple[Any, ...]:
        made = []
        for turn, x, v, w in zip(turns, places, rates, spins, strict=True):
            R = np.reshape(so3.matrix(so3.compose(so3.exp(tuple(s * w)), so3.exp(tuple(turn)))), (3, 3))
            made.append(BodyState(*(tuple(a.ravel().tolist()) for a in (R, x + s * v, R.T @ v, R.T @ w))))
        return tuple(made)

    def power(found: Any) -> float:
        f, arms = np.array(found[0]), (np.array(found[1]), np.array(found[2]))
        first, second = (v + np.cross(w, arm) for v, w, arm in zip(rates, spins, arms, strict=True))
        return float(f @ (first - second))

    return (state, power), f"bodies at x = {places.tolist()}, with v = {rates.tolist()}, ω = {spins.tolist()} (world)"


def _contradiction(
    element: Element, numbers: tuple[float, ...], path: Any, driven: Any
) -> tuple[str, str] | None:  # fmt: skip
    """What the law does, in W, where that contradicts what it says or what its kind says, and the remedy."""
    state, power = path
    found = element.law(numbers, *state(0.0), *driven(0.0))
    energy, brought = float(found[-2]), float(found[-1])
    done = power(found)
    said, rounding = brought - done, ROUNDING * (abs(brought) + abs(done))
    if not np.isfinite([energy, said]).all():
        return None
    if brought > rounding and not element.drives:
        return f"brings {brought:.6g} W", "give its class a property `drives` that is True"
    if brought < -rounding and not element.dissipates and not element.drives:
        return f"loses {-brought:.6g} W", "let `dissipates` of its class be True, as it is by itself"

    def at(s: float) -> Array:
        return np.array([element.law(numbers, *state(s), *driven(s))[-2]])

    wrong = contradiction(at, np.array([said]), 1.0, 1.0)
    if wrong is None or abs(wrong[1] - said) <= rounding + ROUNDING * abs(said):
        return None
    return (
        f"stores energy that changes by {wrong[1]:.6g} W, and P − F·s is {said:.6g} W (P = {brought:.6g} W, "
        f"F·s = {done:.6g} W)",
        "let the force be minus the gradient of the energy, and the power that of all else",
    )
