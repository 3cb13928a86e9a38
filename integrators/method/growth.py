"""Modes that a method lets grow although they do not: the doubt that a multistep method has at a start."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt, Problem
from integrators.problem.jacobian import derivative

Array = NDArray[np.float64]
GROWTH = 1.01
"""A mode that grows by more in a step is not held."""
SLOW = 1e-6
"""Of the fastest rate: modes that are slower are not told from those of no rate."""


def growing_modes(
    name: str, growth: Callable[[complex], float], problem: Problem, y: Array, h: float, t: float
) -> list[Doubt]:
    """The mode of the linear motion about y at t that steps of size h, negative backwards in time, let grow the
    most, its own growth apart.

    `growth` gives the factor by which a step multiplies what e^z multiplies, z = h λ.  The motion need not show the
    mode: rounding does.  Of a mode that grows by itself what counts is how it turns: that its growth is not met exactly
    is an error like others, and the more so of A-stable methods, which there grow faster than e^z.
    """
    J = derivative(problem, t, y)
    if not np.isfinite(J).all():
        return []
    values = np.sign(h) * np.linalg.eigvals(J)  # back in time, what decays grows
    values = values[np.abs(values) > SLOW * np.abs(values).max(initial=0.0)]
    # each pair once; what grows by itself may
    factors = [(growth(abs(h) * complex(min(x.real, 0.0), x.imag)), x) for x in values if x.imag >= 0.0]
    worst, mode = max(factors, key=lambda pair: pair[0], default=(0.0, 0j))
    if not worst > GROWTH:
        return []
    rate = abs(mode)
    says = (
        f"{name} lets a mode of {rate:.4g} rad/s with damping ratio {max(-mode.real / rate, 0.0):.2g} grow by this "
        f"factor in every step, where h ω = {abs(h) * rate:.3g}"
    )
    remedy = "take an A-stable method (BDF2, RKMK_RADAU_IIA3, RKMK_GAUSS2), or a step with h ω well below one"
    return [Doubt("stability", t, worst, GROWTH, says, remedy)]
