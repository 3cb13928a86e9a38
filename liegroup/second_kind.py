"""Canonical coordinates of the second kind for any group and any order of its basis.

    ccsk(x) = exp(x_a e_a) exp(x_b e_b) …      (a, b, …) = order; x keeps the components of the algebra

The tangents follow from the product, one factor after the other (u starts at 0, gₖ = exp(xₖ eₖ)):

    dccsk_right(x) y:  u ← Ad_{gₖ} u + yₖ eₖ,   last factor first
    dccsk_left(x) y:   u ← Ad_{gₖ}⁻¹ u + yₖ eₖ, first factor first

Needs `exp`, `compose`, `inverse`, `adjoint`, `coadjoint`, `bracket_transpose` of a formula file and, for inverting the
map on large elements, its `ccsk_inverse_ordered`; without the latter Newton's method serves elements not far from the
identity. Plain Python on tuples of scalars (not compiled): kernels use the closed forms of the formula files, natural
order only. Source: Owren & Marthinsen 2001 (coordinates of the second kind as a local chart).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from liegroup.compile.scalars import absolute, any_, less
from liegroup.formulas.ordered import solve
from liegroup.tau import Map

NEWTON_STEPS = 40


@cache
def second_kind(formulas: Any, order: tuple[int, ...]) -> Map:
    """The map of one formula file for an order of its basis."""
    n = formulas.N_V
    exp, adjoint, coadjoint, ad_transpose = (
        formulas.exp,
        formulas.adjoint,
        formulas.coadjoint,
        formulas.bracket_transpose,
    )

    def basis(k: int, value: Any) -> tuple[Any, ...]:
        return tuple(value if i == k else 0.0 * value for i in range(n))

    def turn(x: Any, k: int, sign: float = 1.0) -> Any:
        return exp(basis(k, sign * x[k]))

    def plus(u: Any, k: int, value: Any) -> Any:
        return (*u[:k], u[k] + value, *u[k + 1 :])

    def tau(x: Any) -> Any:
        g = turn(x, order[0])
        for k in order[1:]:
            g = formulas.compose(g, turn(x, k))
        return g

    def right(x: Any, y: Any) -> Any:
        u = basis(0, 0.0 * y[0])
        for k in reversed(order):
            u = plus(adjoint(turn(x, k), u), k, y[k])
        return u

    def left(x: Any, y: Any) -> Any:
        u = basis(0, 0.0 * y[0])
        for k in order:
            u = plus(adjoint(turn(x, k, -1.0), u), k, y[k])
        return u

    def transpose(x: Any, mu: Any, sign: float, delta: Any = None) -> Any:
        """Transpose of right (sign 1) or left (sign −1), or its derivative by x in the direction δ."""
        out: list[Any] = [None] * n
        change = basis(0, 0.0 * mu[0])
        for k in order if sign > 0 else reversed(order):
            out[k] = mu[k] if delta is None else change[k]
            g = turn(x, k, sign)
            if delta is not None:
                moved = ad_transpose(basis(k, sign * delta[k]), mu)
                change = coadjoint(g, tuple(a + b for a, b in zip(change, moved, strict=True)))
            mu = coadjoint(g, mu)
        return tuple(out)

    def columns(function: Any, x: Any) -> list[Any]:
        return [function(x, basis(k, 1.0 + 0.0 * x[0])) for k in range(n)]

    def inverse_transpose(function: Any) -> Any:
        def apply(x: Any, mu: Any) -> Any:
            a = columns(function, x)
            return solve([tuple(c[i] for c in a) for i in range(n)], mu)

        return apply

    def derivative(apply: Any, sign: float) -> Any:
        def change(x: Any, mu: Any, delta: Any) -> Any:
            return apply(x, tuple(-c for c in transpose(x, apply(x, mu), sign, delta)))

        return change

    def gradient(change: Any) -> Any:
        def slope(x: Any, xi: Any, mu: Any) -> Any:
            directions = (change(x, mu, basis(k, 1.0 + 0.0 * x[0])) for k in range(n))
            return tuple(sum(a * b for a, b in zip(d, xi, strict=True)) for d in directions)

        return slope

    inverse_left_transpose, inverse_right_transpose = inverse_transpose(left), inverse_transpose(right)
    derivative_left, derivative_right = (
        derivative(inverse_left_transpose, -1.0),
        derivative(inverse_right_transpose, 1.0),
    )

    def inverse(g: Any) -> Any:
        if hasattr(formulas, "ccsk_inverse_ordered"):
            return formulas.ccsk_inverse_ordered(g, order)
        return _newton(formulas, tau, left, columns, g)

    identity = formulas.identity(0.0)

    def difference(x: Any) -> Any:
        return tuple(a - e for a, e in zip(tau(x), identity, strict=True))

    def moved(x: Any, mu: Any) -> Any:
        return coadjoint(tau(x), mu)

    return Map(
        tau,
        difference,
        inverse,
        left,
        right,
        lambda x, y: solve(columns(left, x), y),
        lambda x, y: solve(columns(right, x), y),
        lambda x, mu: transpose(x, mu, -1.0),
        lambda x, mu: transpose(x, mu, 1.0),
        inverse_left_transpose,
        inverse_right_transpose,
        derivative_left,
        gradient(derivative_left),
        moved,
        lambda x, mu: tuple(a - b for a, b in zip(moved(x, mu), mu, strict=True)),
        derivative_right,
        gradient(derivative_right),
    )


def _newton(formulas: Any, tau: Any, left: Any, columns: Any, g: Any) -> Any:
    """x with tau(x) = g by Newton's method from the identity."""
    x = tuple(0.0 * v for v in formulas.log(g))
    for _ in range(NEWTON_STEPS):
        step = solve(columns(left, x), formulas.log(formulas.compose(formulas.inverse(tau(x)), g)))
        x = tuple(a + b for a, b in zip(x, step, strict=True))
        if not any_(less(1e-13, sum(absolute(s) for s in step))):
            break
    return x
