"""One file per group: the same names in the same order, on tuples of scalars of any type.

======================================================  ================================================================
name                                                    meaning (g, h in the group; x, y, δ in the algebra; μ covector)
======================================================  ================================================================
NAME, N_Q, N_V, N_POINT                                 text; lengths of the tuples g, x and of the points it acts on
identity, compose, inverse, act                         e, gh, g⁻¹, g·point
adjoint, coadjoint, bracket, bracket_transpose          Ad_g y, Ad_gᵀ μ, [x, y] = ad_x y, ad_xᵀ μ
hat, vee, matrix, from_matrix                           matrices as tuples of rows
project, defect                                         nearest element of a tuple; its distance from the group
exp, exp_difference, log                                exp x, exp x − e, x
dexp_right, dexpinv_right, … _transpose                 (d/ds exp(x + sy))|₀ = (dexp_right(x) y)^ exp x, inverse, …
dexpinv_left_derivative, dexpinv_left_gradient          d/dx(dexpinv_left(x)ᵀ μ)·δ and ∇ₓ⟨μ, dexpinv_left(x) ξ⟩
*optional*
dexp_left, dexpinv_left, … _transpose                   where they are not the right-trivialised ones at −x
cay, cay_difference, cay_inverse, dcay_right, …         the same for the Cayley map (e − x/2)⁻¹(e + x/2)
ccsk, ccsk_difference, ccsk_inverse, dccsk_left, …      the same for exp(x₁e₁)…exp(xₙeₙ), left and right
ccsk_inverse_ordered                                    its inverse for any order of the basis (else Newton's method)
displace(q, d), advance(q, d)                           qτ − q and qτ for d = τ − e, to relative precision
exp_margin, cay_margin, ccsk_margin, project_margin     0 where dexp⁻¹(x), cay⁻¹(g), dccsk⁻¹(x), project(q) are singular
N_NORMALS, uniform                                      a random element from that many normal numbers (else `project`)
N_ROTATION                                              size of the leading rotation block of the matrices
VECTOR_SPACE                                            True: n copies are one Rⁿ, with one matrix [[1, q], [0, 1]]
======================================================  =========================================================
`liegroup.formulas.facts` lists what a file says besides for loops over any group: labels, quaternions, angles, rates.

exp and Cayley satisfy τ(−x) = τ(x)⁻¹, hence dτ_left(x) = dτ_right(−x): `liegroup.maps` says so once.  Group objects
need the required names only; compiled loops (`liegroup.table.register`) need `displace`, `advance` and the facts, too,
every function a `helper`, and know the maps that the file has: all formulas of a map, or none.
"""

from __future__ import annotations

from typing import Any

from liegroup.formulas.facts import FACTS

_TANGENTS = (
    "{}_right",
    "{}inv_right",
    "{}_right_transpose",
    "{}inv_right_transpose",
    "{}inv_left_derivative",
    "{}inv_left_gradient",
)
_GROUP = (
    "NAME", "N_Q", "N_V", "N_POINT", "identity", "compose", "inverse", "act", "adjoint", "coadjoint", "bracket",
    "bracket_transpose",
    "hat", "vee", "matrix", "from_matrix", "project", "defect",
)  # fmt: skip
_SECOND_KIND = tuple(f"dccsk{inverse}_left{transpose}" for inverse in ("", "inv") for transpose in ("", "_transpose"))
REQUIRED = (*_GROUP, "exp", "exp_difference", "log", *(t.format("dexp") for t in _TANGENTS))
"""What a formula file must contain."""
FOR_KERNELS = ("displace", "advance", *FACTS)
"""What it must contain besides for compiled loops."""
MAPS = {
    "cay": ("cay", "cay_difference", "cay_inverse", *(t.format("dcay") for t in _TANGENTS)),
    "ccsk": (
        *("ccsk", "ccsk_difference", "ccsk_inverse", *(t.format("dccsk") for t in _TANGENTS), *_SECOND_KIND),
        *("dccskinv_right_derivative", "dccskinv_right_gradient"),
    ),
}
"""What it may contain besides for compiled loops: all formulas of a map, or none."""


def check_for_kernels(formulas: Any) -> None:
    """TypeError with the names that a formula file lacks for compiled loops."""
    begun = [name for names in MAPS.values() if any(hasattr(formulas, x) for x in names) for name in names]
    check(formulas, (*REQUIRED, *FOR_KERNELS, *begun))


def check(formulas: Any, names: tuple[str, ...]) -> None:
    """TypeError with the names that a formula file lacks."""
    missing = [name for name in names if not hasattr(formulas, name)]
    if missing:
        raise TypeError(
            f"{formulas!r} is not a file of group formulas: it lacks {', '.join(missing)} (see liegroup.formulas)"
        )
