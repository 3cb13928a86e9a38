"""The maps τ ∈ {exp, Cayley, second kind} of every group as one table: name → functions of tuples.

With τ: algebra → group and ^ the identification of the algebra with matrices,

    left-trivialised:   (d/ds τ(x + sy))|₀ = τ(x) (dτ_left(x) y)^
    right-trivialised:  (d/ds τ(x + sy))|₀ = (dτ_right(x) y)^ τ(x),      dτ_right(x) = Ad_{τ(x)} dτ_left(x)

exp and Cayley satisfy τ(−x) = τ(x)⁻¹ and gτ(x)g⁻¹ = τ(Ad_g x), hence dτ_left(x) = dτ_right(−x) and
Ad_{τ(x)} − 1 = dτ_right(x) ad_x.  Canonical coordinates of the second kind satisfy neither.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from liegroup.compile import helper

EXP, CAYLEY, CCSK = 0, 1, 2
NAMES = ("exp", "cay", "ccsk")
"""Names of the maps, by their code."""


class Map(NamedTuple):
    """One map on one group: functions of tuples of scalars (x, y, δ, ξ in the algebra, μ a covector, g in the group)."""

    tau: Any
    """τ(x)."""
    difference: Any
    """τ(x) − e to relative precision."""
    inverse: Any
    """τ⁻¹(g)."""
    dtau_left: Any
    """dτ_left(x) y."""
    dtau_right: Any
    """dτ_right(x) y."""
    dtau_inverse_left: Any
    """dτ_left(x)⁻¹ y."""
    dtau_inverse_right: Any
    """dτ_right(x)⁻¹ y."""
    dtau_left_transpose: Any
    """dτ_left(x)ᵀ μ."""
    dtau_right_transpose: Any
    """dτ_right(x)ᵀ μ."""
    dtau_inverse_left_transpose: Any
    """dτ_left(x)⁻ᵀ μ."""
    dtau_inverse_right_transpose: Any
    """dτ_right(x)⁻ᵀ μ."""
    derivative: Any
    """d/dx (dτ_left(x)⁻ᵀ μ) · δ, a covector, as a function of (x, μ, δ)."""
    gradient: Any
    """∇ₓ ⟨μ, dτ_left(x)⁻¹ ξ⟩, a covector, as a function of (x, ξ, μ)."""
    coadjoint: Any
    """Ad_{τ(x)}ᵀ μ."""
    coadjoint_difference: Any
    """Ad_{τ(x)}ᵀ μ − μ, to relative precision for exp and Cayley."""


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


def maps_of(formulas: Any) -> tuple[Map, Map, Map]:
    """The maps of one formula file (see `liegroup.formulas`), by their codes."""
    return _map(formulas, "exp", "log"), _map(formulas, "cay", "cay_inverse"), _map(formulas, "ccsk", "ccsk_inverse")


def _map(formulas: Any, name: str, inverse: str) -> Map:
    tau, transpose = getattr(formulas, name), _tangent(formulas, name, "_right_transpose")
    return Map(
        tau,
        getattr(formulas, f"{name}_difference"),
        getattr(formulas, inverse),
        *(_tangent(formulas, name, key) for key in _TANGENTS),
        *(_tangent(formulas, name, f"{key}_transpose") for key in _TANGENTS),
        getattr(formulas, f"d{name}inv_left_derivative"),
        getattr(formulas, f"d{name}inv_left_gradient"),
        *(_coadjoint_moved(formulas, tau) if name == "ccsk" else _coadjoint_of_tangent(formulas, transpose)),
    )


def _tangent(formulas: Any, name: str, key: str) -> Any:
    """A tangent of the formula file; the left-trivialised ones of exp and Cayley are the right-trivialised ones at −x."""
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


def _coadjoint_moved(formulas: Any, tau: Any) -> tuple[Any, Any]:
    """Ad_τᵀ μ by the group element."""
    move, subtract = formulas.coadjoint, sums(formulas.N_V)[1]

    @helper
    def coadjoint(x: Any, mu: Any) -> Any:
        return move(tau(x), mu)

    @helper
    def difference(x: Any, mu: Any) -> Any:
        return subtract(move(tau(x), mu), mu)

    return coadjoint, difference
