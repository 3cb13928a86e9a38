"""Compositions of a symmetric map, and splittings into two flows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any

from integrators.tableaus.butcher import ButcherTableau
from integrators.tableaus.claims import Checked
from integrators.tableaus.conditions.order_conditions import Verdict
from integrators.tableaus.conditions.splitting_conditions import (
    composition_order,
    nystrom_order,
    perturbation_orders,
    splitting_order,
)
from integrators.tableaus.numbers import (
    Coefficients,
    Floats,
    Matrix,
    Number,
    decimal,
    floats,
    kept,
    number,
    precise,
    row,
    uncertainty,
)
from integrators.tableaus.partitioned import PartitionedTableau
from liegroup.arrays import shown

ZERO = number(0)
ZERO_DECIMAL = decimal(ZERO)


@dataclass(frozen=True)
class Composition(Checked):
    """Weights of a composition  Ψ_h = S(g₁h) ∘ S(g₂h) ∘ … ∘ S(gₛh)  of a symmetric second-order map S.

    Symplectic, symmetric (if the weights are), momentum- or energy-preserving whenever S is.

    Parameters
    ----------
    weights : (s,) numbers
        With sum 1; or, with ``half=True``, the first half including the middle one of a symmetric sequence.
    sequence. name, source, claims : as for `ButcherTableau`.
    name, source, claims
        As for `ButcherTableau`.
    half : bool
        Whether the weights are the first half.

    Raises
    ------
    ValueError
        No weights, a sum other than 1, or a claim that the coefficients do not confirm.

    Examples
    --------
    >>> Composition(["0.4144907717943757", "0.4144907717943757", "-0.6579630871775028"], half=True).order
    4
    """

    weights: Coefficients
    name: str = "composition"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None
    half: InitVar[bool] = False

    def __post_init__(self, claims: Mapping[str, Any] | None, half: bool) -> None:
        weights = row(self.weights, "weights")
        object.__setattr__(self, "weights", weights + weights[-2::-1] if half else weights)
        if not weights:
            raise ValueError(f"{self.name}: the weights are empty, expected numbers with sum 1")
        self.check_consistent(self.order)
        self.check(claims or {})

    def reason(self, claim: str) -> str:
        return self._verdict.failure if claim == "order" else ""

    @property
    def stages(self) -> int:
        """Number of maps S per step."""
        return len(self.weights)

    @property
    def order(self) -> int:
        """Order, by words in the odd expansion of S; at most 10 is examined."""
        return self._verdict.order

    @property
    def symmetric(self) -> bool:
        """gₛ₊₁₋ᵢ = gᵢ."""
        return bool(self.weights == self.weights[::-1])

    @property
    def total(self) -> float:
        """Σ|gᵢ|: how far the substeps travel for one step."""
        return float(sum(abs(x) for x in self.rounded))

    @property
    def uncertainty(self) -> float:
        """Relative accuracy of the weights as given."""
        return uncertainty(self.weights)

    @cached_property
    def rounded(self) -> Floats:
        """The weights in float64."""
        return floats(self.weights)

    @precise
    def midpoint_tableau(self) -> ButcherTableau:
        """The composition of implicit midpoint rules as a diagonally implicit tableau: aᵢⱼ = bⱼ (j < i), aᵢᵢ = bᵢ/2."""
        b = self.weights
        A = [[*b[:i], x / 2, *[ZERO] * (len(b) - i - 1)] for i, x in enumerate(b)]
        return ButcherTableau(A, b, name=f"{self.name} of midpoint rules", source=self.source)

    @precise
    def strang(self, first: str = "V") -> Splitting:
        """The composition of S = half a kick, drift, half a kick: the weights as drifts, their means as kicks; first =
        "T": inverted.

        Parameters
        ----------
        first : {"V", "T"}
            What half a step begins with.

        Returns
        -------
        Splitting
            Of as many drifts as weights, and one kick more; or the other way round.
        """
        halves = [decimal(x) / 2 for x in self.weights]
        means = [kept(a + b) for a, b in zip([ZERO_DECIMAL, *halves], [*halves, ZERO_DECIMAL], strict=True)]
        drifts, kicks = (self.weights, means) if first == "V" else (means, self.weights)
        return Splitting(drifts, kicks, first, f"{self.name} of Strang splittings", self.source)

    @cached_property
    @precise
    def _verdict(self) -> Verdict:
        return composition_order([decimal(x) for x in self.weights], self.uncertainty)


@dataclass(frozen=True)
class Splitting(Checked):
    """Coefficients of a product of two flows, T (drift) and V (kick), in alternation.

        first = "T":  T(a₁h) V(b₁h) T(a₂h) …;    first = "V":  V(b₁h) T(a₁h) V(b₂h) …

    Parameters
    ----------
    T, V : numbers with sum 1 each; the one that comes first has as many as the other or one more.
    first : "T" or "V".
    name, source, claims : as for `ButcherTableau`.

    Raises
    ------
    ValueError
        Numbers that do not alternate or sum to 1, or a claim that the coefficients do not confirm.

    Examples
    --------
    >>> Splitting(T=[1], V=["1/2", "1/2"], first="V", name="Strang").order
    2
    """

    T: Coefficients
    V: Coefficients
    first: str
    name: str = "splitting"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field in ("T", "V"):
            object.__setattr__(self, field, row(getattr(self, field), field))
        if not isinstance(self.first, str) or self.first not in ("T", "V"):
            raise ValueError(f"{self.name}: first = {shown(self.first)}, expected 'T' or 'V'")
        leading, other = (self.T, self.V) if self.first == "T" else (self.V, self.T)
        if len(leading) - len(other) not in (0, 1):
            raise ValueError(
                f"{self.name}: {len(self.T)} coefficients T and {len(self.V)} V do not alternate beginning with "
                f"{self.first}"
            )
        if (sums := splitting_order(self._decimal_flows(), self.uncertainty, 1)).order < 1:
            raise ValueError(f"{self.name}: the coefficients of each flow must sum to 1 ({sums.failure})")
        self.check(claims or {})

    def reason(self, claim: str) -> str:
        verdicts = {"order": "_general", "nystrom_order": "_nystrom"}
        return getattr(self, verdicts[claim]).failure if claim in verdicts else ""

    @property
    def flows(self) -> tuple[tuple[str, Number], ...]:
        """The letters and coefficients in order of application."""
        T, V = (("T", x) for x in self.T), (("V", x) for x in self.V)
        pairs = zip_longest(T, V) if self.first == "T" else zip_longest(V, T)
        return tuple(flow for flow in chain(*pairs) if flow is not None)

    @property
    def stages(self) -> int:
        """Flows of each kind per step, the last one shared with the next step."""
        return min(len(self.T), len(self.V))

    @property
    def symmetric(self) -> bool:
        """The sequence read backwards is the same."""
        return self.flows == self.flows[::-1]

    @property
    def order(self) -> int:
        """Order for any T and V; at most 8 is examined."""
        return self._general.order

    @property
    def nystrom_order(self) -> int:
        """Order for T quadratic in the momenta and V a function of the configuration; at most 8 is examined."""
        return self._nystrom.order

    @cached_property
    def perturbation_orders(self) -> tuple[int, ...]:
        """(n₁, n₂, …): the error is O(ε hⁿ¹ + ε² hⁿ² + …) if V is of size ε; at most 12 is examined."""
        return perturbation_orders(self._decimal_flows(), self.uncertainty)

    @property
    def uncertainty(self) -> float:
        """Relative accuracy of the coefficients as given."""
        return uncertainty(self.T, self.V)

    @cached_property
    def rounded(self) -> tuple[Floats, Floats]:
        """T and V in float64."""
        return floats(self.T), floats(self.V)

    def partitioned(self) -> PartitionedTableau:
        """The same method as a partitioned tableau for q' = T'(p), p' = −V'(q): stages between the drifts."""
        a, b = (self.T, self.V) if self.first == "T" else ((ZERO, *self.T), self.V)
        s = max(len(a), len(b))
        a, b = (tuple(x) + (ZERO,) * (s - len(x)) for x in (a, b))
        q: Matrix = tuple(a[: i + 1] + (ZERO,) * (s - i - 1) for i in range(s))
        p: Matrix = tuple(b[:i] + (ZERO,) * (s - i) for i in range(s))
        return PartitionedTableau(
            ButcherTableau(q, a, name="drift"), ButcherTableau(p, b, name="kick"), self.name, self.source
        )

    def _decimal_flows(self) -> list[tuple[str, Any]]:
        return [(letter, decimal(x)) for letter, x in self.flows]

    @cached_property
    def _general(self) -> Verdict:
        return splitting_order(self._decimal_flows(), self.uncertainty)

    @cached_property
    def _nystrom(self) -> Verdict:
        return nystrom_order(self._decimal_flows(), self.uncertainty)
