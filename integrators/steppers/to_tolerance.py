"""When the simplified iteration of Newton ends in variable steps: where what is left is a part κ of the tolerance.

    η |Δ| ≤ κ,      η = Θ/(1 − Θ),      Θ the contraction of the corrections Δ, in units of the tolerance

In the first round η is the last one of the step before, to the power 0.8.  So the state is wrong by κ of the tolerance.
κ = min(0.03, √rtol) (`stopping`): errors of Newton's method are to add nothing to those of the formula, which fall
below the tolerance where it is tight, because estimates are of lower order.
Source: Hairer and Wanner 1996, IV.8.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.error_norm import LEAST
from liegroup.compile import helper, power
from liegroup.compile.scalars import maximum, sqrt

Array = NDArray[np.float64]
LEAST_KAPPA, KAPPA = 10.0, 0.03
"""κ is at least so many roundings of the tolerance, and at most this."""
GOES_ON, SOLVED, DIVERGES, SLOW, SINGULAR = 0.0, 1.0, 2.0, 3.0, 4.0
"""What a round says; the last three: why the iteration has failed."""
_ROUNDING = 2.0**-52


@helper
def first_slope(eta: Any) -> Any:
    """η of the first round, from the last one."""
    return power(maximum(eta, _ROUNDING), 0.8)


@helper
def judged(k: Any, size: Any, last: Any, theta: Any, eta: Any, most: Any, kappa: Any) -> Any:
    """(Θ, η, what to do) after round k of at most `most`, with a correction of this size after one of size `last`."""
    why = GOES_ON
    if not size < 1e300:
        why = SINGULAR
    elif k > 0:
        ratio = size / last
        theta = ratio if k == 1 else sqrt(ratio * theta)
        if theta >= 0.99:
            why = DIVERGES
        else:
            eta = theta / (1.0 - theta)
            if eta * size * power(theta, most - 1.0 - k) > kappa:
                why = SLOW
    if why == GOES_ON and eta * size <= kappa:
        why = SOLVED
    return theta, eta, why


def stopping(tolerance: float) -> float:
    """κ of a relative tolerance: min(0.03, √tolerance), and not below what rounding leaves of a correction."""
    return max(LEAST_KAPPA * _ROUNDING / tolerance, min(KAPPA, math.sqrt(tolerance)))


def told_tolerances(relative: Array, absolute: Array, sizes: Array) -> Array:
    """What a stepper is told of the tolerances: κ of the tightest, relative to the sizes of the state, and both.

    Corrections are measured by the start of the step: what is zero there and has no absolute tolerance (`atol=0`, from
    rest) would have to be solved without any error, and has the least one.
    """
    scale, moved = absolute + relative * sizes, sizes > 0.0
    tightest = float((scale[moved] / sizes[moved]).min(initial=np.inf))
    least = LEAST * (float(sizes.max(initial=0.0)) or 1.0)
    seen = np.where(scale > 0.0, absolute, least)
    return np.concatenate([[stopping(tightest if np.isfinite(tightest) else 1e-6)], relative, seen])


def explain(errors: Array) -> str:
    """What the row of errors says of an iteration that failed: Θ, and the reason."""
    theta, why = float(errors[0]), float(errors[1])
    if why == SINGULAR:
        return "the matrix of Newton's method, 1 − h A ⊗ J, is singular, or the derivative is not finite"
    if why in (DIVERGES, SLOW):
        return (
            f"Newton's method with the derivative at the start of the step goes on by a factor of {theta:.2g} from "
            "round to round: the field changes too much within the step, is not smooth, or its Jacobian is wrong"
        )
    return ""
