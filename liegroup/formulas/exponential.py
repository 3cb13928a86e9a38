"""Tangents of the exponential map, once for all groups of planar and spatial motions.

On so(3) and se(2) the operator ad_x satisfies ad³ = −z ad with z = θ², so that

    dexp_right(x) = 1 + c₂ ad + c₃ ad²,      dexp_right(x)⁻¹ = 1 − ½ ad + D ad²          (`liegroup.formulas.series`)

se(3) is so(3) over the dual numbers ω + εv, ε² = 0 (ε(v, ω) = (ω, 0)): the same formulas with z + εs in the place of z,
s = 2 ω·v, that is f(z) + ε s f'(z) in the place of f(z).  Everything below is this sentence; the transposes replace ad
and ε by their transposes, which commute as well.  Sources: Selig 2005 (dual numbers), Iserles et al. 2000 (dexp).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper
from liegroup.formulas.series import stumpff, stumpff_derivatives, tangent, tangent_derivatives


class Algebra(NamedTuple):
    """What the tangents need to know of a Lie algebra of motions; functions of tuples."""

    bracket: Any
    bracket_transpose: Any
    square: Any
    """z = θ² of x."""
    polar: Any
    """Derivative of z in the direction δ: 2 ω·δω."""
    square_gradient: Any
    """Gradient of z."""
    add: Any
    scale: Any
    dot: Any
    combine: Any
    """combine(y, a, u, b, w) = y + (a u + b w)."""


class Dual(NamedTuple):
    """The dual part of se(3): ε and s."""

    combine: Any
    """combine(y, a, u, b, w) = y + ε (a u + b w)."""
    combine_transpose: Any
    """combine_transpose(y, a, u, b, w) = y + εᵀ (a u + b w)."""
    dot: Any
    """⟨p, ε u⟩."""
    pitch: Any
    """s = 2 ω·v of x."""
    pitch_polar: Any
    """Derivative of s in the direction δ."""
    pitch_gradient: Any


class Tangents(NamedTuple):
    """The functions of a formula file, see `liegroup.formulas`."""

    dexp_left: Any
    dexp_right: Any
    dexpinv_left: Any
    dexpinv_right: Any
    dexp_left_transpose: Any
    dexp_right_transpose: Any
    dexpinv_left_transpose: Any
    dexpinv_right_transpose: Any
    dexpinv_left_derivative: Any
    dexpinv_left_gradient: Any


def tangents(algebra: Algebra, dual: Dual | None = None) -> Tangents:
    """The tangents of exp on one algebra."""
    bracket, bracket_transpose, square, polar, square_gradient, add, scale, dot, combine = algebra

    def forward(ad: Any, epsilon: Any, sign: float) -> Any:
        @helper
        def dexp(x: Any, y: Any) -> Any:
            c2, c3 = stumpff(square(x))
            u = ad(x, y)
            return combine(y, sign * c2, u, c3, ad(x, u))

        return dexp

    def inverse(ad: Any, epsilon: Any, sign: float) -> Any:
        half = -0.5 * sign

        @helper
        def dexpinv(x: Any, y: Any) -> Any:
            u = ad(x, y)
            return combine(y, half, u, tangent(square(x)), ad(x, u))

        return dexpinv

    @helper
    def derivative(x: Any, mu: Any, delta: Any) -> Any:
        z = square(x)
        d1, _ = tangent_derivatives(z)
        u, w = bracket_transpose(x, mu), bracket_transpose(delta, mu)
        mixed = add(bracket_transpose(delta, u), bracket_transpose(x, w))
        return combine(scale(0.5, w), tangent(z), mixed, d1 * polar(x, delta), bracket_transpose(x, u))

    @helper
    def gradient(x: Any, xi: Any, mu: Any) -> Any:
        z = square(x)
        d1, _ = tangent_derivatives(z)
        u, p = bracket(x, xi), bracket_transpose(x, mu)
        mixed = add(bracket_transpose(xi, p), bracket_transpose(u, mu))
        return combine(scale(-0.5, bracket_transpose(xi, mu)), -tangent(z), mixed, d1 * dot(p, u), square_gradient(x))

    if dual is None:
        return Tangents(
            *_four(forward, inverse, bracket, None),
            *_four(forward, inverse, bracket_transpose, None),
            derivative,
            gradient,
        )

    combine_shift, combine_shift_transpose, dot_shift, pitch, pitch_polar, pitch_gradient = dual

    def forward_dual(ad: Any, combine_shifted: Any, sign: float) -> Any:
        plain = forward(ad, None, sign)

        @helper
        def dexp(x: Any, y: Any) -> Any:
            e2, e3 = stumpff_derivatives(square(x))
            s, u = pitch(x), ad(x, y)
            return combine_shifted(plain(x, y), sign * s * e2, u, s * e3, ad(x, u))

        return dexp

    def inverse_dual(ad: Any, combine_shifted: Any, sign: float) -> Any:
        plain = inverse(ad, None, sign)

        @helper
        def dexpinv(x: Any, y: Any) -> Any:
            d1, _ = tangent_derivatives(square(x))
            u = ad(x, y)
            return combine_shifted(plain(x, y), 0.0, u, pitch(x) * d1, ad(x, u))

        return dexpinv

    @helper
    def derivative_dual(x: Any, mu: Any, delta: Any) -> Any:
        d1, d2 = tangent_derivatives(square(x))
        s = pitch(x)
        u, w = bracket_transpose(x, mu), bracket_transpose(delta, mu)
        mixed = add(bracket_transpose(delta, u), bracket_transpose(x, w))
        change = d1 * pitch_polar(x, delta) + d2 * s * polar(x, delta)
        return combine_shift_transpose(derivative(x, mu, delta), d1 * s, mixed, change, bracket_transpose(x, u))

    @helper
    def gradient_dual(x: Any, xi: Any, mu: Any) -> Any:
        d1, d2 = tangent_derivatives(square(x))
        s, u, p = pitch(x), bracket(x, xi), bracket_transpose(x, mu)
        mixed = add(bracket_transpose(xi, p), bracket_transpose(u, mu))
        pairing = dot_shift(p, u)
        plain = combine(gradient(x, xi, mu), d1 * pairing, pitch_gradient(x), d2 * s * pairing, square_gradient(x))
        return combine_shift_transpose(plain, -d1 * s, mixed, 0.0, p)

    return Tangents(
        *_four(forward_dual, inverse_dual, bracket, combine_shift),
        *_four(forward_dual, inverse_dual, bracket_transpose, combine_shift_transpose),
        derivative_dual,
        gradient_dual,
    )


def _four(forward: Any, inverse: Any, ad: Any, epsilon: Any) -> tuple[Any, Any, Any, Any]:
    """Left and right dexp, left and right dexp⁻¹."""
    return forward(ad, epsilon, -1.0), forward(ad, epsilon, 1.0), inverse(ad, epsilon, -1.0), inverse(ad, epsilon, 1.0)
