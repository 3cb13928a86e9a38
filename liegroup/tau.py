"""What a map τ on one group consists of."""

from __future__ import annotations

from typing import Any, NamedTuple

EXP, CAYLEY, CCSK = 0, 1, 2
NAMES = ("exp", "cay", "ccsk")
"""Names of the maps, by their code."""
SPLIT, SPLITEXP = 3, 4
"""Maps of the twist of a body that take its translation and its rotation, by Cayley's map or exp, apart."""


class Map(NamedTuple):
    """One map on one group: functions of tuples of scalars (x, y, δ, ξ in the algebra, μ a covector, g in the
    group).
    """

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
    derivative_right: Any
    """d/dx (dτ_right(x)⁻ᵀ μ) · δ."""
    gradient_right: Any
    """∇ₓ ⟨μ, dτ_right(x)⁻¹ ξ⟩."""


class MissingMapError(ValueError):
    """A coordinate map that a group does not have is asked for."""


def missing_map(group: str, name: str) -> MissingMapError:
    """What to raise for a group without the map of that name."""
    why = {
        "cay": "it is not a group of matrices with a quadratic invariant, or its formulas are not written",
        "ccsk": "compiled loops need its formulas, which are not written",
    }
    title = {"cay": "Cayley map", "ccsk": "coordinates of the second kind"}
    return MissingMapError(f"{group} has no {title[name]}: {why[name]} (names {name}…); use exp, which every group has")
