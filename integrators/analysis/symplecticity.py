"""Is a map symplectic?  Its derivative is measured and put into the two-form.

On Rⁿ × Rⁿ, z = (q, p):                Ω = Σ dp ∧ dq
On T*G, left-trivialised, z = (g, p):  Ω_p((ξ₁, δ₁), (ξ₂, δ₂)) = ⟨δ₂, ξ₁⟩ − ⟨δ₁, ξ₂⟩ + ⟨p, [ξ₁, ξ₂]⟩

with tangent vectors g' = gξ, p' = δ.  A map z₀ → z₁ is symplectic if  Jᵀ Ω(z₁) J = Ω(z₀)  for its derivative J in these
coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import check_function, integer, positive, reals

Array = NDArray[np.float64]
Move = Callable[[Any, Any], Any]


def add(y: Any, x: Any) -> Any:
    """y + x: the coordinates of Rⁿ."""
    return np.asarray(y) + np.asarray(x)


def subtract(y: Any, z: Any) -> Any:
    """z − y: the coordinates of Rⁿ."""
    return np.asarray(z) - np.asarray(y)


def derivative(
    map_: Callable[[Array], Any],
    y: ArrayLike,
    dimension: int,
    retract: Move = add,
    increment: Move = subtract,
    delta: float = 2.0**-8,
) -> Array:
    """Derivative of a map at y in the coordinates ``retract``, ``increment``, by central differences of order 8.

    Parameters
    ----------
    map_ : callable
        y → new state, an array like y.
    y : array (n,)
        Where.
    dimension : int
        Number of tangent directions d.
    retract, increment : callable
        ``retract(y, x)`` the point at x from y, ``increment(y, z)`` its inverse; on a group y τ(x) and τ⁻¹(y⁻¹ z).
    delta : float
        Half width of the stencil, in units of the coordinates; the error is of size delta⁸ and 1e-16/delta.

    Returns
    -------
    array (d, d)
        Column k is the derivative along direction k.

    Raises
    ------
    ValueError, TypeError
        Not a function; not a positive number of directions; a state that is no array of numbers.

    Examples
    --------
    >>> derivative(lambda y: y**2, [3.0], 1).round(9).tolist()
    [[6.0]]
    """
    _check_map(map_, dimension)
    check_function(retract, "retract", "a function of a state and an increment", 2)
    check_function(increment, "increment", "a function of two states", 2)
    delta, start = positive(delta, "delta"), reals(y, "y")
    centre = np.asarray(map_(start))

    def column(direction: Array) -> Any:
        return _difference(lambda s: increment(centre, map_(retract(start, s * direction))), delta)

    return np.array([column(e) for e in np.eye(dimension)]).T


def _check_map(map_: Any, dimension: Any) -> None:
    check_function(map_, "map_")
    integer(dimension, "dimension", 1)


_STENCIL = ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))


def _difference(curve: Callable[[float], Any], delta: float) -> Any:
    """Derivative of a curve at 0."""
    h = delta / 4.0
    return sum(w * (np.asarray(curve(k * h)) - np.asarray(curve(-k * h))) for k, w in _STENCIL) / h


def complex_derivative(
    map_: Callable[[Any], Any],
    y: ArrayLike,
    dimension: int,
    retract: Move = add,
    increment: Move = subtract,
    delta: float = 1e-30,
) -> Array:
    """Derivative of a map at y by complex steps: exact to rounding, for maps that are analytic and accept complex
    states.

    Parameters
    ----------
    map_ : callable
        y → new state, an array like y.
    y : array (n,)
        Where.
    dimension : int
        Number of tangent directions d.
    retract, increment : callable
        ``retract(y, x)`` the point at x from y, ``increment(y, z)`` its inverse; on a group y τ(x) and τ⁻¹(y⁻¹ z).
    delta : float
        Size of the imaginary steps.

    Returns
    -------
    array (d, d)
        Column k is the derivative along direction k, Im f(y + i δ e_k)/δ.

    Raises
    ------
    ValueError, TypeError
        As `derivative`.

    References
    ----------
    Squire and Trapp 1998.

    Examples
    --------
    >>> complex_derivative(lambda y: y**2, [3.0], 1).tolist()
    [[6.0]]
    """
    _check_map(map_, dimension)
    start = reals(y, "y").astype(np.complex128)
    centre = np.asarray(map_(start))
    columns = [np.imag(increment(centre, map_(retract(start, 1j * delta * e)))) / delta for e in np.eye(dimension)]
    return np.array(columns).T


def canonical_form(n: int) -> Array:
    """Ω on Rⁿ × Rⁿ as a matrix: Ω(x, y) = xᵀ Ω y.

    Parameters
    ----------
    n : int
        Degrees of freedom.

    Returns
    -------
    array (2n, 2n)
        [[0, 1], [−1, 0]].

    Raises
    ------
    ValueError, TypeError
        Not a positive integer.

    Examples
    --------
    >>> canonical_form(1).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    """
    n = integer(n, "n", 1)
    one, zero = np.eye(n), np.zeros((n, n))
    return np.block([[zero, one], [-one, zero]])


def cotangent_form(p: ArrayLike, bracket: Callable[[Array, Array], Any]) -> Array:
    """Ω on T*G at the momentum p, left-trivialised, as a matrix.

    Parameters
    ----------
    p : array (n,)
        Body momentum.
    bracket : callable
        ``bracket(x, y)`` → [x, y] of the Lie algebra.

    Returns
    -------
    array (2n, 2n)
        Ω_p((ξ₁, δ₁), (ξ₂, δ₂)) = ⟨δ₂, ξ₁⟩ − ⟨δ₁, ξ₂⟩ + ⟨p, [ξ₁, ξ₂]⟩.

    Raises
    ------
    ValueError, TypeError
        Another shape; not a function.

    Examples
    --------
    >>> from liegroup import so3
    >>> cotangent_form([0.0, 0.0, 2.0], so3.ad)[0, :3].tolist()
    [0.0, 2.0, 0.0]
    """
    momentum = reals(p, "p")
    if momentum.ndim != 1 or not momentum.size:
        raise ValueError(f"p: shape {momentum.shape}, expected a body momentum (n,)")
    check_function(bracket, "bracket")
    n = len(momentum)
    form = canonical_form(n)
    form[:n, :n] = [[momentum @ np.asarray(bracket(x, y)) for y in np.eye(n)] for x in np.eye(n)]
    return form


def symplectic_defect(jacobian: ArrayLike, form_before: ArrayLike, form_after: ArrayLike | None = None) -> float:
    """Largest entry of Jᵀ Ω₁ J − Ω₀ (Ω₁ = Ω₀ on Rⁿ).

    Parameters
    ----------
    jacobian : array (2n, 2n)
        J, the derivative of the map.
    form_before : array (2n, 2n)
        Ω₀, at the start.
    form_after : array (2n, 2n), optional
        Ω₁, at the end; default Ω₀.

    Returns
    -------
    float
        0 for symplectic maps but for rounding.

    Raises
    ------
    ValueError
        Matrices of different sizes.

    Examples
    --------
    >>> h = 0.1
    >>> kick, drift = np.array([[1, 0], [-h, 1]]), np.array([[1, h], [0, 1]])
    >>> symplectic_defect(drift @ kick, canonical_form(1)) < 1e-15
    True
    >>> symplectic_defect(np.array([[1, h], [-h, 1]]), canonical_form(1)) > 1e-3  # explicit Euler
    True
    """
    J, before = reals(jacobian, "jacobian"), reals(form_before, "form_before")
    after = before if form_after is None else reals(form_after, "form_after")
    if J.ndim != 2 or J.shape != before.shape or after.shape != before.shape or J.shape[0] != J.shape[1]:
        raise ValueError(
            f"jacobian {J.shape} and forms {before.shape}, {after.shape}: expected square matrices of one size"
        )
    return float(np.max(np.abs(J.T @ after @ J - before)))
