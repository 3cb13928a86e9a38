"""Partitioned Runge-Kutta tableaus: one method for q, another for p."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from integrators.tableaus.butcher import ButcherTableau
from integrators.tableaus.claims import Checked
from integrators.tableaus.collocation import LOBATTO_IIIA, LOBATTO_IIIB
from integrators.tableaus.conditions.order_conditions import Simplifying, Verdict, partitioned_order
from integrators.tableaus.numbers import decimals, precise
from liegroup.arrays import of_kind


@dataclass(frozen=True)
class PartitionedTableau(Checked):
    """A pair of tableaus with the same number of stages, for q' = f(q, p), p' = g(q, p).

        Qᵢ = q₀ + h Σ aᵢⱼ f(Qⱼ, Pⱼ),   Pᵢ = p₀ + h Σ âᵢⱼ g(Qⱼ, Pⱼ),
        q₁ = q₀ + h Σ bᵢ f(Qᵢ, Pᵢ),   p₁ = p₀ + h Σ b̂ᵢ g(Qᵢ, Pᵢ)

    The time of a stage is t + cᵢh with the c of `q`.

    Parameters
    ----------
    q, p : ButcherTableau
        (a, b) and (â, b̂).
    name, source, claims : as for `ButcherTableau`.

    Raises
    ------
    ValueError, TypeError
        Different numbers of stages, something that is no tableau, or a claim that the coefficients do not confirm.

    Examples
    --------
    >>> verlet = LOBATTO_IIIA_IIIB(2)
    >>> verlet.order, verlet.symplectic, verlet.symmetric
    (2, True, True)
    """

    q: ButcherTableau
    p: ButcherTableau
    name: str = "partitioned tableau"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        of_kind(self.q, ButcherTableau, "q", "a ButcherTableau")
        of_kind(self.p, ButcherTableau, "p", "a ButcherTableau")
        if self.q.stages != self.p.stages:
            raise ValueError(f"{self.name}: q has {self.q.stages} stages and p has {self.p.stages}; they must agree")
        self.check(claims or {})

    def reason(self, claim: str) -> str:
        verdicts = {"order": self._general, "separable_order": self._separable}
        return verdicts[claim].failure if claim in verdicts else ""

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return self.q.stages

    @property
    def order(self) -> int:
        """Order for q' = f(q, p), p' = g(q, p), by simplifying assumptions and trees with two colours (up to order
        8).
        """
        return self._general.order

    @property
    def separable_order(self) -> int:
        """Order for q' = f(p), p' = g(q); at most 8 is examined."""
        return self._separable.order

    @property
    def symmetric(self) -> bool:
        """Both tableaus are symmetric."""
        return self.q.symmetric and self.p.symmetric

    @cached_property
    @precise
    def symplectic(self) -> bool:
        """bᵢâᵢⱼ + b̂ⱼaⱼᵢ = bᵢb̂ⱼ and b = b̂."""
        return self._symplectic_for_separable and self._zero(self._b[0] - self._b[1], abs(self._b[0]))

    @cached_property
    @precise
    def separable_symplectic(self) -> bool:
        """bᵢâᵢⱼ + b̂ⱼaⱼᵢ = bᵢb̂ⱼ: symplectic for H = T(p) + V(q)."""
        return self._symplectic_for_separable

    @property
    def uncertainty(self) -> float:
        """Relative accuracy of the coefficients as given."""
        return max(self.q.uncertainty, self.p.uncertainty)

    @property
    def _b(self) -> tuple[Any, Any]:
        return decimals(self.q.b), decimals(self.p.b)

    @property
    def _A(self) -> tuple[Any, Any]:
        return decimals(self.q.A), decimals(self.p.A)

    @property
    def _symplectic_for_separable(self) -> bool:
        (A, A_hat), (b, b_hat) = self._A, self._b
        terms = b[:, None] * A_hat, (b_hat[:, None] * A).T, np.outer(b, b_hat)
        return self._zero(terms[0] + terms[1] - terms[2], sum(map(abs, terms)))

    def _zero(self, residual: Any, size: Any) -> bool:
        return bool(np.all(abs(residual).astype(float) <= 4 * self.uncertainty * size.astype(float)))

    @cached_property
    @precise
    def _general(self) -> Verdict:
        return partitioned_order(self._A, self._b, self.uncertainty, known=self._known)

    @property
    def _known(self) -> int:
        """Order guaranteed by simplifying assumptions that both tableaus satisfy with the same weights and nodes."""
        (b, b_hat), (c, c_hat) = self._b, (decimals(self.q.c), decimals(self.p.c))
        if not (self._zero(b - b_hat, abs(b)) and self._zero(c - c_hat, 1 + abs(c))):
            return 0
        order = Simplifying(*map(min, self.q.simplifying, self.p.simplifying)).order
        return order + order % 2 if self.symmetric else order

    @cached_property
    @precise
    def _separable(self) -> Verdict:
        return partitioned_order(self._A, self._b, self.uncertainty, separable=True)


def LOBATTO_IIIA_IIIB(s: int) -> PartitionedTableau:
    """The pair Lobatto IIIA (q) and IIIB (p): order 2s − 2, symmetric, symplectic; s = 2 is Störmer-Verlet.

    Parameters
    ----------
    s : int
        Number of stages, 2 to 40.

    Returns
    -------
    PartitionedTableau
        Rounded once from extended precision.

    Raises
    ------
    ValueError
        Not such a number.

    References
    ----------
    Jay 1996.

    Examples
    --------
    >>> LOBATTO_IIIA_IIIB(3).order
    4
    """
    LOBATTO_IIIA(s)  # refuses what is no number of stages
    return _lobatto(int(s))


@cache
def _lobatto(s: int) -> PartitionedTableau:
    return PartitionedTableau(
        LOBATTO_IIIA(s),
        LOBATTO_IIIB(s),
        f"LOBATTO_IIIA_IIIB({s})",
        "G. Sun, J. Comput. Math. 11 (1993); L. O. Jay, SIAM J. Numer. Anal. 33 (1996)",
        {"order": 2 * s - 2, "symplectic": True, "symmetric": True},
    )


SYMPLECTIC_EULER = PartitionedTableau(
    ButcherTableau([[1]], [1], name="implicit Euler"),
    ButcherTableau([[0]], [1], name="explicit Euler"),
    "SYMPLECTIC_EULER",
    "R. de Vogelaere (1956)",
    {"order": 1, "symplectic": True, "symmetric": False},
)
"""q implicit, p explicit: p₁ from the new q and the old p; exchange the two for the adjoint method."""
