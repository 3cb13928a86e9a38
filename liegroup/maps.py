"""The maps τ ∈ {exp, Cayley, second kind} of every group as one table: name → functions of tuples.

With τ: algebra → group and ^ the identification of the algebra with matrices,

    left-trivialised:   (d/ds τ(x + sy))|₀ = τ(x) (dτ_left(x) y)^
    right-trivialised:  (d/ds τ(x + sy))|₀ = (dτ_right(x) y)^ τ(x),      dτ_right(x) = Ad_{τ(x)} dτ_left(x)

exp and Cayley satisfy τ(−x) = τ(x)⁻¹ and gτ(x)g⁻¹ = τ(Ad_g x), hence dτ_left(x) = dτ_right(−x) and
Ad_{τ(x)} − 1 = dτ_right(x) ad_x.  Canonical coordinates of the second kind satisfy neither.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from liegroup.compile import helper
from liegroup.second_kind import second_kind
from liegroup.tau import CAYLEY, CCSK, EXP, NAMES, Map, MissingMapError

__all__ = ["CAYLEY", "CCSK", "EXP", "NAMES", "Map", "MissingMapError", "maps_of", "negate", "sums"]


@cache
def negate(n: int) -> Any:
    """−x for a tuple of n scalars."""
    if n == 1:

        @helper
        def negative(x: Any) -> Any:
            return (-x[0],)

        return negative
    rest, last = negate(n - 1), n - 1

    @helper
    def negatives(x: Any) -> Any:
        return rest(x[:last]) + (-x[last],)  # noqa: RUF005 (the compiler knows no unpacking)

    return negatives


@cache
def sums(n: int) -> tuple[Any, Any]:
    """a + b and a − b for tuples of n scalars."""
    if n == 1:

        @helper
        def add_one(a: Any, b: Any) -> Any:
            return (a[0] + b[0],)

        @helper
        def subtract_one(a: Any, b: Any) -> Any:
            return (a[0] - b[0],)

        return add_one, subtract_one
    (add_rest, subtract_rest), last = sums(n - 1), n - 1

    @helper
    def add(a: Any, b: Any) -> Any:
        return add_rest(a[:last], b[:last]) + (a[last] + b[last],)  # noqa: RUF005

    @helper
    def subtract(a: Any, b: Any) -> Any:
        return subtract_rest(a[:last], b[:last]) + (a[last] - b[last],)  # noqa: RUF005

    return add, subtract


_TANGENTS = ("_left", "_right", "inv_left", "inv_right")


@cache
def maps_of(formulas: Any) -> tuple[Map, Any, Map]:
    """The maps of one formula file (see `liegroup.formulas`), by their codes.

    Without formulas in the file there is no Cayley map (None), and ccsk is the general one, for Python only.
    """
    ccsk = _second_kind(formulas) if hasattr(formulas, "ccsk") else second_kind(formulas, tuple(range(formulas.N_V)))
    cayley = _equivariant(formulas, "cay", "cay_inverse") if hasattr(formulas, "cay") else None
    return _equivariant(formulas, "exp", "log"), cayley, ccsk


def _equivariant(formulas: Any, name: str, inverse: str) -> Map:
    derivative, gradient = (
        getattr(formulas, f"d{name}inv_left_derivative"),
        getattr(formulas, f"d{name}inv_left_gradient"),
    )
    negative = negate(formulas.N_V)

    @helper
    def derivative_right(x: Any, mu: Any, delta: Any) -> Any:
        return derivative(negative(x), mu, negative(delta))

    @helper
    def gradient_right(x: Any, xi: Any, mu: Any) -> Any:
        return negative(gradient(negative(x), xi, mu))

    return Map._make(
        (
            getattr(formulas, name),
            getattr(formulas, f"{name}_difference"),
            getattr(formulas, inverse),
            *(_tangent(formulas, name, key) for key in _TANGENTS),
            *(_tangent(formulas, name, f"{key}_transpose") for key in _TANGENTS),
            derivative,
            gradient,
            *_coadjoint_of_tangent(formulas, _tangent(formulas, name, "_right_transpose")),
            derivative_right,
            gradient_right,
        )
    )


def _second_kind(formulas: Any) -> Map:
    return Map._make(
        (
            formulas.ccsk,
            formulas.ccsk_difference,
            formulas.ccsk_inverse,
            *(getattr(formulas, f"dccsk{key}") for key in _TANGENTS),
            *(getattr(formulas, f"dccsk{key}_transpose") for key in _TANGENTS),
            formulas.dccskinv_left_derivative,
            formulas.dccskinv_left_gradient,
            *_coadjoint_moved(formulas),
            formulas.dccskinv_right_derivative,
            formulas.dccskinv_right_gradient,
        )
    )


def _tangent(formulas: Any, name: str, key: str) -> Any:
    """A tangent of the formula file; the left-trivialised ones of exp and Cayley are the right-trivialised ones at
    −x.
    """
    if hasattr(formulas, f"d{name}{key}"):
        return getattr(formulas, f"d{name}{key}")
    right, negative = getattr(formulas, f"d{name}{key.replace('left', 'right')}"), negate(formulas.N_V)

    @helper
    def left(x: Any, y: Any) -> Any:
        return right(negative(x), y)

    return left


def _coadjoint_of_tangent(formulas: Any, tangent_transpose: Any) -> tuple[Any, Any]:
    """Ad_τᵀ μ = μ + ad_xᵀ dτ_right(x)ᵀ μ (exp and Cayley)."""
    bracket_transpose, add = formulas.bracket_transpose, sums(formulas.N_V)[0]

    @helper
    def difference(x: Any, mu: Any) -> Any:
        return bracket_transpose(x, tangent_transpose(x, mu))

    @helper
    def coadjoint(x: Any, mu: Any) -> Any:
        return add(mu, difference(x, mu))

    return coadjoint, difference


def _coadjoint_moved(formulas: Any) -> tuple[Any, Any]:
    """Ad_τᵀ μ by the group element (second kind)."""
    tau, move, subtract = formulas.ccsk, formulas.coadjoint, sums(formulas.N_V)[1]

    @helper
    def coadjoint(x: Any, mu: Any) -> Any:
        return move(tau(x), mu)

    @helper
    def difference(x: Any, mu: Any) -> Any:
        return subtract(move(tau(x), mu), mu)

    return coadjoint, difference
