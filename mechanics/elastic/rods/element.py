"""One element of a geometrically exact rod between two poses a and b on SE(3), by scalars.

    f = a⁻¹ b,   X = τ⁻¹(f),   e = X/l − e₀,   s = C e,   V = ½ l eᵀ C e,   dX = dτ_left⁻¹ η_b − dτ_right⁻¹ η_a
    wrench on a:  W_a = dτ_right⁻ᵀ(X) s,       wrench on b:  W_b = −Ad_fᵀ W_a = −dτ_left⁻ᵀ(X) s

Wrenches and increments in body axes, (force, moment) and (v, ω); e₁ points along the rod; C = diag(EA, GA₂, GA₃, GJ,
EI₂, EI₃).  With τ = exp the rod between the nodes is a helix: a pure bending is exact, and thin elements do not lock;
with τ = cay an element that turns by φ is too stiff by φ²/3.  Turns of π per element are out of reach of both.
Sources: Sonneville, Cardona and Brüls 2014 (exp); Demoures et al. 2015 (Cayley).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, sqrt, st2
from liegroup.formulas import se3, so3
from liegroup.formulas.vectors import add6, cross, dot, dot6, scale6
from liegroup.maps import maps_of

_exp, _cay, _ = maps_of(se3)
_log, _exp_inverse, _exp_transpose, _exp_derivative = (
    _exp.inverse,
    _exp.dtau_inverse_left,
    _exp.dtau_inverse_left_transpose,
    _exp.derivative,
)
_cay_inverse, _cay_tangent, _cay_transpose, _cay_derivative = (
    _cay.inverse,
    _cay.dtau_inverse_left,
    _cay.dtau_inverse_left_transpose,
    _cay.derivative,
)


@helper
def coordinates(f: Any, cayley: Any) -> Any:
    """X = τ⁻¹(f)."""
    if cayley:
        return _cay_inverse(f)
    return _log(f)


@helper
def tangent(X: Any, y: Any, cayley: Any) -> Any:
    """dτ_left⁻¹(X) y."""
    if cayley:
        return _cay_tangent(X, y)
    return _exp_inverse(X, y)


@helper
def tangent_transpose(X: Any, s: Any, cayley: Any) -> Any:
    """dτ_left⁻ᵀ(X) s."""
    if cayley:
        return _cay_transpose(X, s)
    return _exp_transpose(X, s)


@helper
def tangent_derivative(X: Any, s: Any, change: Any, cayley: Any) -> Any:
    """The derivative of dτ_left⁻ᵀ(X) s in a direction of X."""
    if cayley:
        return _cay_derivative(X, s, change)
    return _exp_derivative(X, s, change)


@helper
def difference6(a: Any, b: Any) -> Any:
    return add6(a, scale6(-1.0, b))


@helper
def weighted(C: Any, e: Any) -> Any:
    """C e of a diagonal C."""
    return C[0] * e[0], C[1] * e[1], C[2] * e[2], C[3] * e[3], C[4] * e[4], C[5] * e[5]


@helper
def strain(X: Any, l: Any, e0: Any) -> Any:
    """e = X/l − e₀."""
    return difference6(scale6(1.0 / l, X), e0)


@helper
def pulls(f: Any, X: Any, s: Any, cayley: Any) -> Any:
    """W_a, W_b of a stress s."""
    on_b = scale6(-1.0, tangent_transpose(X, s, cayley))
    return scale6(-1.0, se3.coadjoint(se3.inverse(f), on_b)), on_b


@helper
def rate(X: Any, a: Any, b: Any, cayley: Any) -> Any:
    """X' = dτ_left⁻¹ b − dτ_right⁻¹ a of velocities, or increments, a and b in body axes."""
    return add6(tangent(X, difference6(b, a), cayley), se3.bracket(X, a))


@helper
def change_of_pulls(X: Any, s: Any, change: Any, cayley: Any) -> Any:
    """The derivative of W_a, W_b of a constant stress s in a direction of X."""
    of_b = tangent_derivative(X, s, change, cayley)
    return difference6(of_b, se3.bracket_transpose(change, s)), scale6(-1.0, of_b)


@kernel
def wrenches(a: Any, b: Any, l: Any, C: Any, e0: Any, cayley: Any) -> Any:
    """W_a, W_b, the energy V, the angle by which the element turns, and its stretch, X₁/l (below 0: pressed through
    itself).
    """
    f = se3.compose(se3.inverse(a), b)
    X = coordinates(f, cayley)
    e = strain(X, l, e0)
    s = weighted(C, e)
    on_a, on_b = pulls(f, X, s, cayley)
    turn = (X[3], X[4], X[5])
    return on_a, on_b, 0.5 * l * dot6(s, e), sqrt(dot(turn, turn)), X[0] / l


@helper
def stiffness_column(X: Any, s: Any, l: Any, C: Any, cayley: Any, j: Any) -> Any:
    """−∂(W_a, W_b)/∂ the component j of (η_a, η_b): see `stiffness`."""
    k = j % 6
    unit = (
        1.0 if k == 0 else 0.0,
        1.0 if k == 1 else 0.0,
        1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0,
        1.0 if k == 4 else 0.0,
        1.0 if k == 5 else 0.0,
    )
    change = tangent(X, unit, cayley)
    if j < 6:
        change = difference6(se3.bracket(X, unit), change)
    ds = scale6(1.0 / l, weighted(C, change))
    of_b = add6(tangent_transpose(X, ds, cayley), tangent_derivative(X, s, change, cayley))
    return difference6(add6(se3.bracket_transpose(X, ds), se3.bracket_transpose(change, s)), of_b), of_b


@kernel
def stiffness(a: Any, b: Any, l: Any, C: Any, e0: Any, cayley: Any, out: Any, row: Any, column: Any) -> None:
    """Adds −∂(W_a, W_b)/∂(η_a, η_b), by columns, to `out`, where element (i, j) of the whole stands in [i − j + row, j
    + column]: the diagonals of a band.

    With δX = −dτ_right⁻¹ η_a + dτ_left⁻¹ η_b, and dτ_right⁻¹ = dτ_left⁻¹ − ad_X:
    −δW_b = dτ_left⁻ᵀ C δX/l + ∂(dτ_left⁻ᵀ s) δX, δW_a = −δW_b − ad_Xᵀ C δX/l − ad_δXᵀ s.
    """
    f = se3.compose(se3.inverse(a), b)
    X = coordinates(f, cayley)
    s = weighted(C, strain(X, l, e0))
    for j in range(12):
        of_a, of_b = stiffness_column(X, s, l, C, cayley, j)
        _add_column(out, of_a, row - j, column + j)
        _add_column(out, of_b, row + 6 - j, column + j)


@helper
def _add_column(out: Any, u: Any, row: Any, column: Any) -> None:
    st2(out, row, column, out[row, column] + u[0])
    st2(out, row + 1, column, out[row + 1, column] + u[1])
    st2(out, row + 2, column, out[row + 2, column] + u[2])
    st2(out, row + 3, column, out[row + 3, column] + u[3])
    st2(out, row + 4, column, out[row + 4, column] + u[4])
    st2(out, row + 5, column, out[row + 5, column] + u[5])


@helper
def load_wrench(pose: Any, world: Any, body: Any) -> Any:
    """The body wrench of a force and a moment with axes fixed in the world, and of one that follows the body."""
    back = se3.inverse(pose)[3:]
    return add6(_turned(back, world), body)


@helper
def _turned(r: Any, wrench: Any) -> Any:
    return so3.act(r, wrench[:3]) + so3.act(r, wrench[3:])


@helper
def load_derivative(pose: Any, world: Any, turn: Any) -> Any:
    """The derivative of the body wrench of a load fixed in the world when the body turns: (Rᵀ F) × ω, (Rᵀ M) × ω."""
    u = _turned(se3.inverse(pose)[3:], world)
    return cross(u[:3], turn) + cross(u[3:], turn)
