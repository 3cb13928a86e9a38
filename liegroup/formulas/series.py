"""Coefficient functions of the exponential map and its tangents, as functions of z = θ².

With cₖ(z) = Σ (−z)ⁿ/(k + 2n)!  (Stumpff functions) and D(z) = (1 − (θ/2) cot(θ/2))/z,

    exp:  c₀ = cos θ,  c₁ = sin θ/θ,  c₂ = (1 − cos θ)/θ²        dexp⁻¹:  1 ∓ ½ ad + D ad²
    dexp: 1 ± c₂ ad + c₃ ad²,  c₃ = (θ − sin θ)/θ³               quaternions: (1 − cos θ/2)/z, (sin θ/2)/θ

and derivatives by z: cₖ' = (k cₖ₊₂ − cₖ₊₁)/2.  On machine numbers (complex ones included) polynomials serve z ≤ 10 and
closed forms serve the rest; no expression subtracts nearly equal numbers, and both sides of the switch are safe
everywhere. mpmath numbers get the closed forms with as many extra digits as cancel, SymPy symbols the closed forms.

D has poles at θ = 2πk, k ≠ 0, and nowhere else: next to one the result is large and right.
Sources: Stumpff 1959 (cₖ); the pole expansion (θ/2) cot(θ/2) = 1 − Σ 2z/(4π²m² − z) (Euler).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from liegroup.compile import helper, primitive
from liegroup.compile.elementary_coefficients import (
    HALF_COSINE,
    HALF_SINE,
    SERIES_LIMIT,
    STUMPFF4,
    STUMPFF5,
    TANGENT,
    TANGENT1,
    TANGENT2,
)
from liegroup.compile.scalars import any_, horner, is_machine_real, less, select, sincos, sqrt

__all__ = ["half_turn", "stumpff", "stumpff_derivatives", "tangent", "tangent_derivatives"]

_SIXTH = 1.0 / 6.0
_FIRST_POLE = 4.0 * math.pi * math.pi


# --- closed forms: any scalar, z away from 0 ------------------------------------------------------------------------


@helper
def _half_turn_closed(z: Any) -> Any:
    t = sqrt(z)
    s, c = sincos(0.25 * t)
    return 2.0 * s * s / z, 2.0 * s * c / t


@helper
def _stumpff_closed(z: Any) -> Any:
    t = sqrt(z)
    s, c = sincos(0.5 * t)
    return 2.0 * s * s / z, (1.0 - 2.0 * s * c / t) / z


@helper
def _stumpff_derivatives_closed(z: Any) -> Any:
    t = sqrt(z)
    s, c = sincos(0.5 * t)
    c2, c3 = _stumpff_closed(z)
    return (s * c / t - c2) / z, (0.5 * c2 - 1.5 * c3) / z


@helper
def _tangent_closed(z: Any) -> Any:
    t = sqrt(z)
    s, c = sincos(0.5 * t)
    return ((1.0 - 0.5 * t * c / s) / z,)


@helper
def _tangent_derivatives_closed(z: Any) -> Any:
    t = sqrt(z)
    s, c = sincos(0.5 * t)
    alpha = 0.5 * t * c / s  # (θ/2) cot(θ/2), derivative −b/z
    beta = 0.25 * z / (s * s)  # ((θ/2)/sin(θ/2))², derivative β (1 − α)/z
    b = 0.5 * (beta - alpha)
    d = (1.0 - alpha) / z
    d1 = (b / z - d) / z
    return d1, ((0.5 * (beta * (1.0 - alpha) + b) - 2.0 * b) / (z * z) + (d / z - d1)) / z


# --- polynomials: machine numbers, z ≤ SERIES_LIMIT -----------------------------------------------------------------


@helper
def _half_turn_near(z: Any) -> Any:
    return horner(HALF_COSINE, z), horner(HALF_SINE, z)


@helper
def _stumpff_near(z: Any) -> Any:
    return 0.5 - z * horner(STUMPFF4, z), _SIXTH - z * horner(STUMPFF5, z)


@helper
def _stumpff_derivatives_near(z: Any) -> Any:
    c4, c5 = horner(STUMPFF4, z), horner(STUMPFF5, z)
    return c4 - 0.5 * (_SIXTH - z * c5), 1.5 * c5 - 0.5 * c4


@helper
def _tangent_near(z: Any) -> Any:
    return (2.0 / (_FIRST_POLE - z) + horner(TANGENT, z),)


@helper
def _tangent_derivatives_near(z: Any) -> Any:
    i = 1.0 / (_FIRST_POLE - z)
    i2 = i * i
    return 2.0 * i2 + horner(TANGENT1, z), 4.0 * i2 * i + horner(TANGENT2, z)


# --- one function of any scalar from the two ------------------------------------------------------------------------


def _coefficients(near: Any, closed: Any, at_zero: tuple[tuple[int, int], ...]) -> Callable[[Any], Any]:
    """The function that is `near` up to the limit and `closed` beyond; `at_zero` are the values at 0 as fractions."""
    first = len(at_zero) == 1

    @helper
    def machine(z: Any) -> Any:
        far = less(SERIES_LIMIT, z)
        values = near(select(far, 0.0 * z, z))
        if any_(far):
            values = choose(far, closed(select(far, z, 0.0 * z + SERIES_LIMIT)), values)
        return values

    if first:

        @helper
        def choose(far: Any, a: Any, b: Any) -> Any:
            return (select(far, a[0], b[0]),)
    else:

        @helper
        def choose(far: Any, a: Any, b: Any) -> Any:
            return select(far, a[0], b[0]), select(far, a[1], b[1])

    def traced(z: Any) -> Any:
        if z.follows_a_path:
            return machine(z)
        far = less(SERIES_LIMIT, z)
        return choose(far, closed(select(far, z, SERIES_LIMIT)), near(select(far, 0.0, z)))

    @primitive(machine)
    def evaluate(z: Any) -> Any:
        if hasattr(z, "follows_a_path"):
            return traced(z)
        if is_machine_real(z) or (np.iscomplexobj(z) and not hasattr(z, "_mpc_")):
            return machine(z)
        return _many_digits(z, closed, at_zero)

    return evaluate


def _many_digits(z: Any, closed: Any, at_zero: tuple[tuple[int, int], ...]) -> Any:
    if type(z).__module__.startswith("sympy"):
        return closed(z)
    import mpmath

    if z == 0:
        return tuple(mpmath.mpf(p) / q for p, q in at_zero)
    with mpmath.workprec(mpmath.mp.prec + 40 + 6 * max(0, -int(mpmath.mag(z)))):
        values = closed(z)
    return tuple(+value for value in values)


_tangent = _coefficients(_tangent_near, _tangent_closed, ((1, 12),))

half_turn = _coefficients(_half_turn_near, _half_turn_closed, ((1, 8), (1, 2)))
"""((1 − cos θ/2)/θ², (sin θ/2)/θ) at z = θ²: the quaternion exp(ω) = (1 − z first, second ω)."""
stumpff = _coefficients(_stumpff_near, _stumpff_closed, ((1, 2), (1, 6)))
"""(c₂, c₃) at z = θ²."""
stumpff_derivatives = _coefficients(_stumpff_derivatives_near, _stumpff_derivatives_closed, ((-1, 24), (-1, 120)))
"""(c₂', c₃') at z = θ², derivatives by z."""
tangent_derivatives = _coefficients(_tangent_derivatives_near, _tangent_derivatives_closed, ((1, 720), (1, 15120)))
"""(D', D'') at z = θ², derivatives by z."""


@helper
def tangent(z: Any) -> Any:
    """D(z) = (1 − (θ/2) cot(θ/2))/z at z = θ²."""
    return _tangent(z)[0]
