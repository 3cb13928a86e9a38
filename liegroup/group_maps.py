"""A map τ of a group on arrays: τ, τ⁻¹, its four tangents, their transposes and second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from liegroup.arrays import Array, check_broadcast, has_values, numbers, refuse
from liegroup.leaves import Leaf, operators, scalars, vectors
from liegroup.maps import maps_of
from liegroup.second_kind import second_kind
from liegroup.tau import NAMES, Map, missing_map

_EPSILON = float(np.finfo(np.float64).eps)
_POLES = {
    "exp": "dexp⁻¹ has a pole where the rotation angle is 2πk, k ≠ 0: take a smaller step, or the logarithm of exp(x)",
    "cay": "rotations by π are out of reach of the Cayley map: use exp, or divide the rotation",
    "ccsk": (
        "the coordinates of the second kind are singular here (middle angle ±π/2): use exp, or another order of the "
        "basis"
    ),
}


class GroupOfLeaves(Protocol):
    """What a map needs of its group (`liegroup.group.Group`)."""

    @property
    def leaves(self) -> tuple[Leaf, ...]: ...
    @property
    def n_v(self) -> int: ...
    def check(self, g: ArrayLike, name: str) -> Array: ...
    def check_algebra(self, x: ArrayLike, name: str = "x") -> Array: ...
    def as_matrix(self, g: ArrayLike) -> Array: ...
    def project(self, g: ArrayLike) -> Array: ...


@dataclass(frozen=True)
class GroupMap:
    """τ of one group: exp, cay or ccsk (then in some order of the basis).

    Tangents without their second argument are matrices ``(…, n, n)``, with it vectors ``(…, n)``; leading axes
    broadcast. With ^ from the algebra to matrices,

        (d/ds τ(x + sy))|₀ = τ(x) (dtau_left(x) y)^ = (dtau_right(x) y)^ τ(x)

    ====  ==========================  ======================================================  ==========================
    τ     τ(x)                        τ⁻¹(g) exists                                           dτ(x)⁻¹ exists
    ====  ==========================  ======================================================  ==========================
    exp   Σ x̂ᵏ/k!                     always; θ in [0, π], at θ = π n or −n by the sign of q  θ ≠ 2πk, k ≠ 0
    cay   (e − x̂/2)⁻¹(e + x̂/2)        rotation angle ≠ π                                      always
    ccsk  exp(x₁e₁)…exp(xₙeₙ)         always in the natural order                             middle angle ≠ ±π/2
    ====  ==========================  ======================================================  ==========================

    Accuracy: 10 ulp times the condition, for every function.  Sources: Iserles, Munthe-Kaas, Nørsett, Zanna 2000
    (dexp), Owren and Marthinsen 2001 (second kind), Kobilarov, Crane, Desbrun 2009 (Cayley, variational integrators),
    Müller 2021 (closed forms on SE(3)).

    Parameters
    ----------
    group : Group
        Whose map it is; `Group.maps` has one of each.
    name : {"exp", "cay", "ccsk"}
        Which map.
    order : tuple of int, optional
        For ccsk: the order of the basis, a permutation of 0 … n_v − 1.

    Raises
    ------
    ValueError
        For arguments of wrong shape or not finite, elements off the group, and on the singular sets.

    Examples
    --------
    >>> import numpy as np
    >>> from liegroup import GroupMap, se3
    >>> tau, x = se3.maps["exp"], np.array([0.1, 0.2, 0.3, -0.1, 0.2, 0.4])
    >>> bool(np.allclose(tau.inverse(tau(x)), x))
    True
    >>> bool(np.allclose(tau.dtau_left(x) @ tau.dtau_inverse_left(x), np.eye(6)))
    True
    >>> bool(np.allclose(tau.dtau_right(x) @ tau.dtau_inverse_right(x), np.eye(6)))
    True
    >>> bool(np.allclose(tau.dtau_left_transpose(x), tau.dtau_left(x).T))
    True
    >>> bool(np.allclose(tau.dtau_right_transpose(x), tau.dtau_right(x).T))
    True
    >>> bool(np.allclose(tau.dtau_inverse_left_transpose(x), tau.dtau_inverse_left(x).T))
    True
    >>> bool(np.allclose(tau.dtau_inverse_right_transpose(x), tau.dtau_inverse_right(x).T))
    True
    >>> xi, mu = np.eye(6)[0], np.eye(6)[1]
    >>> bool(np.allclose(tau.gradient_left(x, xi, mu), tau.derivative_left(x, mu).T @ xi))
    True
    >>> bool(np.allclose(tau.gradient_right(x, xi, mu), tau.derivative_right(x, mu).T @ xi))
    True
    >>> GroupMap(se3, "ccsk", (5, 4, 3, 2, 1, 0))(x).round(4).tolist()
    [0.0521, 0.2706, 0.2531, 0.973, -0.0685, 0.0878, 0.2023]
    """

    group: GroupOfLeaves
    name: str
    order: tuple[int, ...] | None = None

    @cached_property
    def _maps(self) -> dict[Leaf, Map]:
        if self.order is None:
            return {leaf: _existing(maps_of(leaf.formulas)[NAMES.index(self.name)], leaf) for leaf in self.group.leaves}
        if sorted(self.order) != list(range(self.group.n_v)):
            raise ValueError(
                f"order={self.order}: expected a permutation of 0 … {self.group.n_v - 1}, the components of the algebra"
            )
        found = {}
        for leaf in (copy for factor in self.group.leaves for copy in factor.split()):
            n = leaf.formulas.N_V
            own = tuple(k - leaf.v for k in self.order if leaf.v <= k < leaf.v + n)
            found[leaf] = maps_of(leaf.formulas)[2] if own == tuple(range(n)) else second_kind(leaf.formulas, own)
        return found

    def _pick(self, function: str) -> Callable[[Leaf], Any]:
        return lambda leaf: getattr(self._maps[leaf], function)

    @property
    def _leaves(self) -> Sequence[Leaf]:
        return tuple(self._maps)

    # --- the map ----------------------------------------------------------------------------------------------------

    def __call__(self, x: ArrayLike) -> Array:
        """τ(x)."""
        return vectors(self._leaves, self._pick("tau"), "v", self.group.check_algebra(x))

    def inverse(self, g: ArrayLike) -> Array:
        """τ⁻¹(g); for exp the rotation angle is in [0, π], for ccsk the middle angle of three rotations in [−π/2, π/2].

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.

        Returns
        -------
        array (…, n_v)
            Algebra elements.
        """
        a = self.group.check(g, "g")
        if self.name == "cay":
            self._refuse_pole("cay_margin", "q", a, "g")
        x = vectors(self._leaves, self._pick("inverse"), "q", a)
        if self.order is not None and has_values(a):
            with np.errstate(all="ignore"):
                back = self.group.as_matrix(
                    self.group.project(vectors(self._leaves, self._pick("tau"), "v", np.nan_to_num(x)))
                )
            scale = 1.0 + np.abs(np.asarray(self.group.as_matrix(a), dtype=float)).max(axis=(-2, -1))
            error = np.abs(np.asarray(back - self.group.as_matrix(a), dtype=float)).max(axis=(-2, -1))
            refuse(~(error <= 1e-6 * scale), a, "g", _POLES["ccsk"])
        return x

    # --- tangents ---------------------------------------------------------------------------------------------------

    def dtau_left(self, x: ArrayLike, y: ArrayLike | None = None) -> Array:
        """dτ_left(x), or dτ_left(x) y.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_left", x, y, "y")

    def dtau_right(self, x: ArrayLike, y: ArrayLike | None = None) -> Array:
        """dτ_right(x) = Ad_{τ(x)} dτ_left(x), or dτ_right(x) y.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_right", x, y, "y")

    def dtau_inverse_left(self, x: ArrayLike, y: ArrayLike | None = None) -> Array:
        """dτ_left(x)⁻¹, or dτ_left(x)⁻¹ y.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_inverse_left", x, y, "y")

    def dtau_inverse_right(self, x: ArrayLike, y: ArrayLike | None = None) -> Array:
        """dτ_right(x)⁻¹, or dτ_right(x)⁻¹ y.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_inverse_right", x, y, "y")

    def dtau_left_transpose(self, x: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """dτ_left(x)ᵀ, or dτ_left(x)ᵀ μ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_left_transpose", x, mu, "mu")

    def dtau_right_transpose(self, x: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """dτ_right(x)ᵀ, or dτ_right(x)ᵀ μ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_right_transpose", x, mu, "mu")

    def dtau_inverse_left_transpose(self, x: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """dτ_left(x)⁻ᵀ, or dτ_left(x)⁻ᵀ μ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_inverse_left_transpose", x, mu, "mu")

    def dtau_inverse_right_transpose(self, x: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """dτ_right(x)⁻ᵀ, or dτ_right(x)⁻ᵀ μ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._linear("dtau_inverse_right_transpose", x, mu, "mu")

    # --- second derivatives -----------------------------------------------------------------------------------------

    def derivative_left(self, x: ArrayLike, mu: ArrayLike, delta: ArrayLike | None = None) -> Array:
        """d/dx (dτ_left(x)⁻ᵀ μ) as a matrix ``(…, n, n)``, or applied to a direction δ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v)
            Covectors.
        delta : array (…, n_v), optional
            Direction; without it the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._second("derivative", x, mu, delta, "mu", "delta")

    def derivative_right(self, x: ArrayLike, mu: ArrayLike, delta: ArrayLike | None = None) -> Array:
        """d/dx (dτ_right(x)⁻ᵀ μ) as a matrix ``(…, n, n)``, or applied to a direction δ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v)
            Covectors.
        delta : array (…, n_v), optional
            Direction; without it the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._second("derivative_right", x, mu, delta, "mu", "delta")

    def gradient_left(self, x: ArrayLike, xi: ArrayLike, mu: ArrayLike) -> Array:
        """∇ₓ ⟨μ, dτ_left(x)⁻¹ ξ⟩ = (d/dx (dτ_left(x)⁻ᵀ μ))ᵀ ξ.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        xi : array (…, n_v)
            Algebra elements.
        mu : array (…, n_v)
            Covectors.

        Returns
        -------
        array (…, n_v)
            A covector.
        """
        return self._second("gradient", x, xi, mu, "xi", "mu")

    def gradient_right(self, x: ArrayLike, xi: ArrayLike, mu: ArrayLike) -> Array:
        """∇ₓ ⟨μ, dτ_right(x)⁻¹ ξ⟩.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        xi : array (…, n_v)
            Algebra elements.
        mu : array (…, n_v)
            Covectors.

        Returns
        -------
        array (…, n_v)
            A covector.
        """
        return self._second("gradient_right", x, xi, mu, "xi", "mu")

    # --- evaluation -------------------------------------------------------------------------------------------------

    def _linear(self, function: str, x: ArrayLike, y: ArrayLike | None, name: str) -> Array:
        a = self.group.check_algebra(x)
        if "inverse" in function:
            self._check_regular(a)
        if y is None:
            return operators(self._leaves, self._pick(function), "v", a)
        b = self.group.check_algebra(y, name)
        check_broadcast(**{"x": a, name: b})
        return vectors(self._leaves, self._pick(function), "vv", a, b)

    def _second(
        self, function: str, x: ArrayLike, b: ArrayLike, c: ArrayLike | None, name_b: str, name_c: str
    ) -> Array:
        a, b_ = self.group.check_algebra(x), self.group.check_algebra(b, name_b)
        self._check_regular(a)
        check_broadcast(**{"x": a, name_b: b_})
        if c is None:
            return operators(self._leaves, self._pick(function), "vv", a, b_)
        c_ = self.group.check_algebra(c, name_c)
        check_broadcast(**{"x": a, name_b: b_, name_c: c_})
        return vectors(self._leaves, self._pick(function), "vvv", a, b_, c_)

    def _check_regular(self, x: Array) -> None:
        if self.order is not None:
            m = np.real(operators(self._leaves, self._pick("dtau_left"), "v", x)).astype(np.float64)
            refuse(np.linalg.cond(m) > 0.1 / _EPSILON, x, "x", _POLES["ccsk"])
        elif self.name != "cay":
            self._refuse_pole(f"{self.name}_margin", "v", x, "x")

    def _refuse_pole(self, margin: str, space: str, a: Array, name: str) -> None:
        """ValueError within rounding of a singular set (exactly on it for numbers of many digits)."""
        leaves = [leaf for leaf in self._leaves if hasattr(leaf.formulas, margin)]
        if leaves and has_values(a):
            distance = scalars(leaves, lambda leaf: getattr(leaf.formulas, margin), np.minimum, space, a)
            refuse(distance <= (0.0 if a.dtype.kind == "O" else _EPSILON), a, name, _POLES[self.name])


def _existing(m: Map | None, leaf: Leaf) -> Map:
    if m is None:
        raise missing_map(leaf.formulas.NAME, "cay")
    return m


def numbers_of_order(order: Sequence[int] | None) -> tuple[int, ...] | None:
    """An order of the basis as a tuple of integers; None for the natural order."""
    if order is None:
        return None
    return tuple(int(k) for k in numbers(order, "order", (len(order),)))
