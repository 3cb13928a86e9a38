"""Rosenbrock methods: Runge–Kutta methods with one linear system per stage, and no iteration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any, NamedTuple

from integrators.tableaus.claims import Checked
from integrators.tableaus.conditions.order_conditions import Condition, Verdict, order_by
from integrators.tableaus.conditions.trees import children, density, rooted_trees, text
from integrators.tableaus.numbers import (
    Coefficients,
    Floats,
    decimal,
    decimals,
    floats,
    precise,
    row,
    rows,
    uncertainty,
)

HIGHEST = 6


class Transformed(NamedTuple):
    """A method in float64, in the variables U = Γ k that need no product with the Jacobian: stages A, C, weights m and
    those of the estimate e, times c, sums g of Γ, and γ.

    Attributes
    ----------
    A, C : array (s, s)
        α Γ⁻¹, and diag(1/γ) − Γ⁻¹.
    m, e : array (s,)
        b Γ⁻¹, and (b − b̂) Γ⁻¹.
    c, g : array (s,)
        Sums of the rows of α and Γ.
    gamma : float
        The number on the diagonal of Γ.

    References
    ----------
    Hairer and Wanner 1996, IV.7.

    Examples
    --------
    Made by `RosenbrockTableau`.
    """

    A: Floats
    C: Floats
    m: Floats
    e: Floats
    c: Floats
    g: Floats
    gamma: float


@dataclass(frozen=True)
class RosenbrockTableau(Checked):
    """Coefficients of a Rosenbrock method, with its error estimate.

        (1 − hγ J) kᵢ = h f(t + αᵢh, y + Σⱼ αᵢⱼ kⱼ) + h J Σ_{j<i} γᵢⱼ kⱼ + h² γᵢ ∂f/∂t,   y₁ = y₀ + Σ bᵢ kᵢ

    with J = ∂f/∂y at the start of the step, αᵢ = Σ αᵢⱼ, γᵢ = Σ γᵢⱼ.

    Parameters
    ----------
    alpha : (s, s) numbers, strictly lower.
    gamma : (s, s) numbers, lower, with one number γ on the diagonal.
    b : (s,) numbers.
    b_hat : (s,) numbers, optional: weights of the embedded method.
    name, source : what to call it and who found it.
    claims : properties the row claims, e.g. ``{"order": 4}``; computed and compared.

    Raises
    ------
    ValueError
        Shapes or a diagonal that do not fit, weights b that do not sum to 1, or a claim that the coefficients do not
        confirm, by name.

    Notes
    -----
    Source: Hairer and Wanner 1996, IV.7.

    Examples
    --------
    >>> from integrators.tableaus import ROSENBROCK
    >>> ROSENBROCK["rodas4"].order, ROSENBROCK["rodas4"].stability_at_infinity
    (4, 0.0)
    """

    alpha: Coefficients
    gamma: Coefficients
    b: Coefficients
    b_hat: Coefficients = ()
    name: str = "rosenbrock"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field in ("alpha", "gamma"):
            object.__setattr__(self, field, rows(getattr(self, field), field))
        for field in ("b", "b_hat"):
            object.__setattr__(self, field, row(getattr(self, field), field))
        s = len(self.b)
        for field in ("alpha", "gamma"):
            if [len(r) for r in getattr(self, field)] != [s] * s:
                raise ValueError(f"{self.name}: {field} is not of shape {(s, s)}, as {s} weights b need")
        if len(self.b_hat) not in (0, s):
            raise ValueError(f"{self.name}: b_hat has {len(self.b_hat)} numbers, expected {s}")
        above = [(i, j) for i in range(s) for j in range(i, s)]
        if any(self.alpha[i][j] for i, j in above) or any(self.gamma[i][j] for i, j in above if i != j):
            raise ValueError(f"{self.name}: alpha and gamma have numbers above the diagonal, expected none")
        if len({self.gamma[i][i] for i in range(s)}) != 1 or not self.gamma[0][0]:
            raise ValueError(f"{self.name}: the diagonal of gamma holds different numbers or 0, expected one γ")
        self.check_consistent(self.order)
        self.check_embedded(self.embedded_order, self.b_hat != self.b)
        self.check(claims or {})

    def reason(self, claim: str) -> str:
        verdicts = {"order": self._verdict(self.b), "embedded_order": self._verdict(self.b_hat or self.b)}
        return verdicts[claim].failure if claim in verdicts else ""

    @cached_property
    def uncertainty(self) -> float:
        """Relative accuracy of the coefficients as given."""
        return uncertainty(self.alpha, self.gamma, self.b, self.b_hat)

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return len(self.b)

    @cached_property
    def order(self) -> int:
        """Order, by rooted trees."""
        return self._verdict(self.b).order

    @cached_property
    def embedded_order(self) -> int | None:
        """Order of the embedded method; None without one."""
        return self._verdict(self.b_hat).order if self.b_hat else None

    @cached_property
    @precise
    def stability_at_infinity(self) -> float:
        """R(∞) = 1 − bᵀ (α + γ)⁻¹ 1 of the stability function."""
        alpha, gamma, b = decimals(self.alpha), decimals(self.gamma), decimals(self.b)
        x: list[Any] = []
        for i in range(self.stages):
            total = sum((alpha[i, j] + gamma[i, j]) * x[j] for j in range(i))
            x.append((1 - total) / gamma[i, i])
        value = 1 - sum(b[i] * x[i] for i in range(self.stages))
        return 0.0 if abs(value) < 1e3 * self.uncertainty else float(value)

    @precise
    def _verdict(self, weights: Any) -> Verdict:
        """Σ bᵢ φᵢ(t) = 1/γ(t), where a child stands for β = α + γ below a node without other children, else for α."""
        alpha, b = decimals(self.alpha), decimals(weights)
        beta = alpha + decimals(self.gamma)

        def phi(tree: Any, one: Any, several: Any) -> Any:
            value = one[:, 0] * 0 + 1
            for child in children(tree):
                value = value * ((one if len(children(tree)) == 1 else several) @ phi(child, one, several))
            return value

        def conditions(n: int) -> Iterator[Condition]:
            for tree in rooted_trees(n):
                size = float(abs(b) @ phi(tree, abs(beta), abs(alpha)))
                expected = 1 / decimal(row([density(tree)])[0])
                yield f"tree {text(tree)}", b @ phi(tree, beta, alpha), expected, 8 * n * self.uncertainty * size

        return order_by(conditions, HIGHEST)

    @cached_property
    @precise
    def transformed(self) -> Transformed:
        """A = α Γ⁻¹, C = diag(1/γ) − Γ⁻¹, m = b Γ⁻¹, e = (b − b̂) Γ⁻¹, in float64."""
        alpha, gamma, b = decimals(self.alpha), decimals(self.gamma), decimals(self.b)
        s, b_hat = self.stages, decimals(self.b_hat) if self.b_hat else b
        inverse = gamma * 0
        for k in range(s):
            for i in range(k, s):
                one = 1 if i == k else 0
                inverse[i, k] = (one - sum(gamma[i, j] * inverse[j, k] for j in range(k, i))) / gamma[i, i]
        C = -inverse
        for i in range(s):
            C[i, i] = 0 * gamma[i, i]
        return Transformed(
            floats(alpha @ inverse), floats(C), floats(b @ inverse), floats((b - b_hat) @ inverse),
            floats(alpha.sum(axis=1)), floats(gamma.sum(axis=1)), float(gamma[0, 0]),
        )  # fmt: skip
