"""Continuous weights bᵢ(θ) of Runge-Kutta methods, evaluated without cancellation.

The monomial coefficients of high-order extensions reach 10⁶ while bᵢ(θ) itself is of order one.  So bᵢ(θ)/θ is written
in Chebyshev polynomials on [0, 1], from the exact coefficients, rounded once, and summed by Clenshaw's recurrence:

    bᵢ(θ) = θ Σₖ aᵢₖ Tₖ(2θ − 1),    θⁿ = 2^(1−2n) (½ C(2n, n) + Σₖ C(2n, n−k) Tₖ(2θ − 1))
"""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import helper


def chebyshev(dense: Any) -> NDArray[np.float64]:
    """Coefficients a (stages, d) of weights bᵢ(θ) = Σₖ dense[i][k] θᵏ⁺¹ given as exact numbers (fractions,
    decimals).
    """
    rows = [[Fraction(x) for x in row] for row in dense]
    degree = max((len(row) for row in rows), default=0)
    out = np.zeros((len(rows), degree))
    for i, row in enumerate(rows):
        total = [Fraction(0)] * degree
        for n, x in enumerate(row):
            for k in range(n + 1):
                part = Fraction(2 * comb(2 * n, n - k), 4**n)
                total[k] += x * (part / 2 if k == 0 else part)
        out[i] = [float(x) for x in total]
    return out


@helper
def continuous_weight(coefficients: Any, start: Any, degree: Any, theta: Any) -> Any:
    """b(θ) = θ Σₖ aₖ Tₖ(2θ − 1), a = coefficients[start : start + degree]."""
    x = 2.0 * theta - 1.0
    b1, b2 = 0.0, 0.0
    for k in range(degree - 1, 0, -1):
        b1, b2 = (2.0 * x) * b1 - b2 + coefficients[start + k], b1
    return theta * (x * b1 - b2 + coefficients[start])
