"""Galerkin variational integrators on Rⁿ as tables of numbers: a space of velocities and a quadrature.

With velocity functions vₖ(τ) on [0, 1], Σ vₖ = 1, and nodes cᵢ with weights bᵢ,

    Bᵢₖ = vₖ(cᵢ),    Aᵢₖ = ∫₀^cᵢ vₖ,    βₖ = ∫₀¹ vₖ

>>> midpoint = alpha_family(0.5)
>>> midpoint.order, midpoint.symmetric
(2, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.tableaus.butcher import ButcherTableau
from integrators.tableaus.collocation import GAUSS, LOBATTO_IIIA

Array = NDArray[np.float64]
_TOLERANCE = 1e-13


@dataclass(frozen=True, eq=False)
class Galerkin:
    """A space of velocities and a quadrature.

    Parameters
    ----------
    A, B : arrays (r, s)
        Integrals up to the nodes, and values at the nodes, of the velocity functions.
    b, c : arrays (r,)
        Weights and nodes of the quadrature.
    beta : array (s,)
        Integrals over the step.
    order : int
        Of the method; measured by the tests.
    name, source : str

    Raises
    ------
    ValueError
        Shapes that do not fit, weights that do not sum to 1, more velocity functions than nodes, or velocity functions
        that do not sum to 1.
    """

    A: Array
    B: Array
    b: Array
    c: Array
    beta: Array
    order: int
    name: str
    source: str = "Marsden and West 2001"

    def __post_init__(self) -> None:
        for name in ("A", "B", "b", "c", "beta"):
            object.__setattr__(self, name, np.atleast_1d(np.array(getattr(self, name), dtype=np.float64)))
        r, s = len(self.b), len(self.beta)
        if self.A.shape != (r, s) or self.B.shape != (r, s) or self.c.shape != (r,):
            raise ValueError(
                f"{self.name}: shapes A {self.A.shape}, B {self.B.shape}, c {self.c.shape}, expected ({r}, {s}) and "
                f"({r},)"
            )
        if abs(self.b.sum() - 1) > _TOLERANCE:
            raise ValueError(f"{self.name}: the weights b sum to {self.b.sum()!r}, expected 1")
        if s > r:
            raise ValueError(
                f"{self.name}: {s} velocity functions and {r} nodes; the equations for the velocities would be singular"
            )
        if max(np.abs(self.B.sum(1) - 1).max(), np.abs(self.A.sum(1) - self.c).max(), abs(self.beta.sum() - 1)) > 1e-12:
            raise ValueError(f"{self.name}: the velocity functions do not sum to 1 with integrals c")

    @property
    def nodes(self) -> int:
        return len(self.b)

    @property
    def basis(self) -> int:
        return len(self.beta)

    @property
    def symmetric(self) -> bool:
        """The quadrature is symmetric, and so is the space of velocities: reversing time changes the basis only."""
        if np.abs(self.b - self.b[::-1]).max() > _TOLERANCE or np.abs(self.c + self.c[::-1] - 1).max() > _TOLERANCE:
            return False
        turned = np.linalg.lstsq(self.B, self.B[::-1], rcond=None)[0]
        same = np.abs(self.B @ turned - self.B[::-1]).max() < 1e-11
        return bool(same and np.abs(self.beta - self.A[::-1] - self.A @ turned).max() < 1e-11)

    @property
    def packed(self) -> Array:
        """A, B, b, c, β in one vector, for the stepper."""
        return np.concatenate([self.A.ravel(), self.B.ravel(), self.b, self.c, self.beta])


def alpha_family(alpha: float, name: str = "") -> Galerkin:
    """L_d = h L(t + αh, (1 − α) q₀ + α q₁, (q₁ − q₀)/h): α = ½ is the midpoint rule (order 2), others have order 1."""
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha: {alpha}, expected a number from 0 to 1")
    one = np.ones((1, 1))
    source = "Moiseev et al. 2021, eq. (15); Marsden and West 2001"
    c, unit = np.array([alpha]), np.ones(1)
    return Galerkin(alpha * one, one, unit, c, unit, 2 if alpha == 0.5 else 1, name or f"ALPHA({alpha:g})", source)


def symmetrised(alpha: float, name: str = "") -> Galerkin:
    """Half the sum of the α and the 1 − α Lagrangian: order 2; α = 0 is the trapezoidal one (Störmer–Verlet where it
    applies).
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha: {alpha}, expected a number from 0 to 1")
    c = np.array([alpha, 1.0 - alpha])
    half, name = np.array([0.5, 0.5]), name or f"SYMMETRISED({alpha:g})"
    return Galerkin(c[:, None], np.ones((2, 1)), half, c, np.ones(1), 2, name, "Marsden and West 2001")


def partitioned(tableau: ButcherTableau, name: str = "") -> Galerkin:
    """The variational (symplectic partitioned) Runge–Kutta method of a tableau: a velocity of its own at every node."""
    r = tableau.rounded
    A = r.A_centred + 0.5 * r.b
    s = tableau.stages
    return Galerkin(
        A, np.eye(s), r.b, r.c, r.b, tableau.order, name or f"VPRK[{tableau.name}]", "Marsden and West 2001; Suris 1990"
    )


def gauss(s: int) -> Galerkin:
    """Polynomials of degree s, s Gauss nodes: order 2s."""
    return partitioned(GAUSS(s), f"GAUSS{s}")


def lobatto(s: int) -> Galerkin:
    """Polynomials of degree s, s Lobatto nodes (the pair IIIA–IIIB): order 2s − 2."""
    return partitioned(LOBATTO_IIIA(s), f"LOBATTO{s}")


def galerkin(degree: int, quadrature: ButcherTableau, name: str = "") -> Galerkin:
    """Polynomials of a degree with any quadrature of at least as many nodes: order min(2·degree, order of the
    quadrature).

    The velocities are spanned by the Lagrange polynomials of the Gauss nodes.
    """
    if degree < 1:
        raise ValueError(f"degree: {degree}, expected at least 1")
    r = quadrature.rounded
    legendre = [np.polynomial.legendre.Legendre.basis(k, domain=(0, 1)) for k in range(degree)]
    nodal = np.linalg.inv([[float(p(c)) for p in legendre] for c in GAUSS(degree).rounded.c])
    integrals = [p.integ(lbnd=0) for p in legendre]
    A, B = (np.array([[float(p(c)) for p in functions] for c in r.c]) @ nodal for functions in (integrals, legendre))
    beta: Any = np.array([float(p(1.0)) for p in integrals]) @ nodal
    label = name or f"GALERKIN({degree}, {quadrature.name})"
    return Galerkin(A, B, r.b, r.c, beta, min(2 * degree, quadrature.order), label, "Ober-Blöbaum and Saake 2015")


def midpoint() -> Galerkin:
    """α = ½."""
    return alpha_family(0.5, "MIDPOINT")


def trapezoidal() -> Galerkin:
    """Symmetrised α = 0."""
    return symmetrised(0.0, "TRAPEZOIDAL")
