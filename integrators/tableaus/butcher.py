"""Runge-Kutta tableaus."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from integrators.tableaus.claims import Checked
from integrators.tableaus.conditions.order_conditions import (
    Simplifying,
    Verdict,
    classical_order,
    dense_order,
    simplifying_assumptions,
)
from integrators.tableaus.numbers import (
    Coefficients,
    Exact,
    Floats,
    Matrix,
    Vector,
    decimal,
    decimals,
    floats,
    kept,
    number,
    precise,
    row,
    rows,
    total,
    uncertainty,
)


class Rounded(NamedTuple):
    """A tableau in float64, every number correctly rounded once; arrays are read-only.

    `A_centred` is aᵢⱼ − bⱼ/2, rounded as a whole: for symmetric tableaus A_centred[s+1−i, s+1−j] = −A_centred[i, j]
    holds bitwise, which the difference of rounded numbers would break.  `error` is b − b_hat, `error_low` is b −
    b_hat_low (zeros where there is none).  `dense` is b_theta over main and extra stages; `extra_A` and `extra_c` are
    its extra stages.

    Attributes
    ----------
    A, b, c : array (s, s), (s,), (s,)
        aᵢⱼ, bᵢ, cᵢ.
    A_centred : array (s, s)
        aᵢⱼ − bⱼ/2, rounded as a whole.
    b_hat, error, error_low : array (s,)
        b̂ᵢ, b − b̂ and b − b̂_low (zeros where there is none).
    extra_A, extra_c : array (e, s + e), (e,)
        Stages that serve the continuous extension only.
    dense : array (s + e, d)
        The continuous extension over main and extra stages.

    Examples
    --------
    Made by `ButcherTableau`.
    """

    A: Floats
    b: Floats
    c: Floats
    A_centred: Floats
    b_hat: Floats
    error: Floats
    error_low: Floats
    extra_A: Floats
    extra_c: Floats
    dense: Floats


@dataclass(frozen=True)
class ButcherTableau(Checked):
    """Coefficients of a Runge-Kutta method, with its error estimate and continuous extension.

        Yᵢ = y₀ + h Σⱼ aᵢⱼ f(t + cᵢh, Yⱼ),   y₁ = y₀ + h Σ bᵢ f(t + cᵢh, Yᵢ)

    Parameters
    ----------
    A, b : (s, s) and (s,) numbers; fractions and long decimals as text, e.g. ``"1/3"``.
    c : (s,) numbers, optional: the row sums of A (checked).
    b_hat : (s,), optional: weights of the embedded method; error estimate h Σ (bᵢ − b̂ᵢ) kᵢ.
    b_hat_low : (s,), optional: a second embedded method, of lower order, for estimates built from two.
    extra_A, extra_c : (e, s + e) and (e,), optional: stages that serve the continuous extension only.
    dense : (s + e, d), optional: bᵢ(θ) = Σₖ dense[i, k] θᵏ⁺¹, with bᵢ(1) = bᵢ (checked).
    name, source : what to call it and who found it.
    claims : properties the row claims, e.g. ``{"order": 4}``; computed and compared.

    Raises
    ------
    ValueError
        Shapes, row sums or bᵢ(1) that do not fit, weights that do not sum to 1, embedded ones that are b, or a claim
        that the coefficients do not confirm, by name.

    Examples
    --------
    >>> heun = ButcherTableau([[0, 0], [1, 0]], ["1/2", "1/2"], b_hat=[1, 0], name="heun")
    >>> heun.order, heun.embedded_order, heun.explicit, heun.symplectic
    (2, 1, True, False)
    >>> heun.rounded.A
    array([[0., 0.],
           [1., 0.]])
    """

    A: Coefficients
    b: Coefficients
    c: Coefficients = ()
    b_hat: Coefficients = ()
    b_hat_low: Coefficients = ()
    extra_A: Coefficients = ()
    extra_c: Coefficients = ()
    dense: Coefficients = ()
    name: str = "tableau"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field in ("A", "extra_A", "dense"):
            object.__setattr__(self, field, rows(getattr(self, field), field))
        for field in ("b", "c", "b_hat", "b_hat_low", "extra_c"):
            object.__setattr__(self, field, row(getattr(self, field), field))
        self._check_shapes()
        self._complete_c()
        self._check_dense()
        self.check_consistent(self.order)
        self.check_embedded(self.embedded_order, self.b_hat != self.b)
        self.check(claims or {})

    # --- validation -----------------------------------------------------------------------------------------------

    def _check_shapes(self) -> None:
        s, e = len(self.b), len(self.extra_A)
        if s == 0:
            raise ValueError(f"{self.name}: b is empty")
        shapes = {"A": (s, s), "extra_A": (e, s + e), "dense": (s + e, len(self.dense[0]) if self.dense else 0)}
        for field, (height, width) in shapes.items():
            matrix = getattr(self, field)
            if (matrix or field == "A") and (len(matrix) != height or any(len(r) != width for r in matrix)):
                found = f"{len(matrix)} rows of {sorted({len(r) for r in matrix})} numbers"
                raise ValueError(
                    f"{self.name}: {field} has {found}; {s} weights b and {e} extra stages need {(height, width)}"
                )
        for field, length in {"c": s, "b_hat": s, "b_hat_low": s, "extra_c": e}.items():
            given = len(getattr(self, field))
            if given not in (0, length):
                raise ValueError(f"{self.name}: {field} has {given} numbers, expected {length}")

    @precise
    def _complete_c(self) -> None:
        """Fill in c = row sums, or check the given one."""
        for field, matrix in (("c", self.A), ("extra_c", self.extra_A)):
            if not getattr(self, field):
                object.__setattr__(self, field, tuple(map(total, matrix)))
            self._check_sums(
                matrix, getattr(self, field), f"row {{}} of {field[:-1]}A sums to {{}}, but {field}[{{}}] = {{}}"
            )

    @precise
    def _check_dense(self) -> None:
        """The continuous extension ends in the step: bᵢ(1) = bᵢ."""
        if self.dense:
            weights = self.b + (number(0),) * self.extra_stages
            self._check_sums(self.dense, weights, "dense row {} sums to {}, but b[{}] = {}")

    def _check_sums(self, matrix: Matrix, sums: Vector, message: str) -> None:
        for i, (values, expected) in enumerate(zip(matrix, sums, strict=True)):
            found, size = decimal(total(values)), sum(abs(decimal(x)) for x in (*values, expected))
            if abs(found - decimal(expected)) > 4 * self.uncertainty * float(size):
                raise ValueError(f"{self.name}: " + message.format(i, float(found), i, float(expected)))

    def reason(self, claim: str) -> str:
        verdicts = {"order": self._classical, "embedded_order": self._embedded, "dense_order": self._dense}
        verdict = verdicts.get(claim)
        return verdict.failure if verdict else ""

    # --- computed properties --------------------------------------------------------------------------------------

    @cached_property
    def uncertainty(self) -> float:
        """Relative accuracy of the coefficients as given (5e-42 for 41 digits)."""
        return uncertainty(self.A, self.b, self.b_hat, self.b_hat_low, self.extra_A, self.dense)

    @property
    def stages(self) -> int:
        """Number of stages s."""
        return len(self.b)

    @property
    def extra_stages(self) -> int:
        """Number of stages that only the continuous extension needs."""
        return len(self.extra_A)

    @cached_property
    def explicit(self) -> bool:
        """aᵢⱼ = 0 for j ≥ i."""
        return not any(x for i, r in enumerate(self.A) for x in r[i:])

    @property
    def ends_at_last_stage(self) -> bool:
        """The last row of A is b: the last stage is the new point."""
        return bool(self.A[-1] == self.b)

    @property
    def fsal(self) -> bool:
        """First same as last: the last stage is the new point, and the first one the old."""
        return self.ends_at_last_stage and not any(self.A[0])

    @property
    def stiffly_accurate(self) -> bool:
        """Implicit, and the last stage is the new point."""
        return self.ends_at_last_stage and not self.explicit

    @property
    def evaluations(self) -> int:
        """Evaluations of the field per step of an explicit method."""
        return self.stages - self.fsal

    @cached_property
    def simplifying(self) -> Simplifying:
        """The simplifying assumptions B(p), C(q), D(r)."""
        return simplifying_assumptions(*self._decimals, self.uncertainty)

    @property
    def stage_order(self) -> int:
        """The largest q with C(q) and B(q)."""
        return min(self.simplifying.B, self.simplifying.C)

    @property
    def order(self) -> int:
        """Order, by rooted trees (up to order 10) and simplifying assumptions (beyond)."""
        return self._classical.order

    @property
    def embedded_order(self) -> int | None:
        """Order of the embedded method; None without one."""
        return self._embedded.order if self._embedded else None

    @property
    def embedded_order_low(self) -> int | None:
        """Order of the second embedded method; None without one."""
        return self._weights_order(self.b_hat_low).order if self.b_hat_low else None

    @property
    def dense_order(self) -> int | None:
        """Order of the continuous extension; None without one."""
        return self._dense.order if self._dense else None

    @cached_property
    @precise
    def symmetric(self) -> bool:
        """a[s+1−i, s+1−j] + a[i, j] = b[j]: the method is its own adjoint."""
        A, b, _ = self._decimals
        return self._zero(A + A[::-1, ::-1] - b, abs(A) + abs(A[::-1, ::-1]) + abs(b)) and self._zero(
            b - b[::-1], abs(b)
        )

    @cached_property
    @precise
    def symplectic(self) -> bool:
        """bᵢaᵢⱼ + bⱼaⱼᵢ = bᵢbⱼ: quadratic invariants and, for Hamiltonian systems on Rⁿ, the symplectic form are
        kept.
        """
        A, b, _ = self._decimals
        M = b[:, None] * A
        return self._zero(M + M.T - np.outer(b, b), abs(M) + abs(M.T) + abs(np.outer(b, b)))

    @cached_property
    @precise
    def stability_at_infinity(self) -> float:
        """R(∞) of the stability function R(z) = det(1 − zA + z 1bᵀ)/det(1 − zA)."""
        A, b, _ = self._decimals
        numerator, denominator = _characteristic(A - b), _characteristic(A)
        tiny = 1e6 * self.uncertainty * max(1.0, float(np.max(abs(A)))) ** self.stages
        degrees = [max(k for k, x in enumerate(p) if abs(x) > tiny) for p in (numerator, denominator)]
        if degrees[0] != degrees[1]:
            return 0.0 if degrees[0] < degrees[1] else float("inf")
        return float(numerator[degrees[0]] / denominator[degrees[0]])

    # --- float64 --------------------------------------------------------------------------------------------------

    @cached_property
    @precise
    def rounded(self) -> Rounded:
        """The coefficients in float64."""
        A, b, _ = self._decimals
        centred = A - b / 2
        if self.symmetric:
            centred = (centred - centred[::-1, ::-1]) / 2
        s, e = self.stages, self.extra_stages
        return Rounded(
            floats(self.A),
            floats(self.b),
            floats(self.c),
            floats(centred),
            floats(self.b_hat or (0,) * s),
            floats(b - decimals(self.b_hat) if self.b_hat else (0,) * s),
            floats(b - decimals(self.b_hat_low) if self.b_hat_low else (0,) * s),
            floats(self.extra_A).reshape(e, s + e),
            floats(self.extra_c).reshape(e),
            floats(self.dense).reshape(len(self.dense), -1) if self.dense else floats(np.zeros((s + e, 0))),
        )

    def conjugate(self) -> ButcherTableau:
        """The symplectic partner  âᵢⱼ = bⱼ − bⱼaⱼᵢ/bᵢ  with the same weights."""
        if 0 in self.b:
            raise ValueError(
                f"{self.name}: the symplectic partner needs weights b without zeros, b = {[float(x) for x in self.b]}"
            )
        return ButcherTableau(_conjugate(self.A, self.b), self.b, name=f"conjugate of {self.name}", source=self.source)

    # --- private --------------------------------------------------------------------------------------------------

    @property
    def _decimals(self) -> tuple[Exact, Exact, Exact]:
        return decimals(self.A), decimals(self.b), decimals(self.c)

    def _zero(self, residual: Any, size: Any) -> bool:
        return bool(np.all(abs(residual).astype(float) <= 4 * self.uncertainty * size.astype(float)))

    @cached_property
    @precise
    def _classical(self) -> Verdict:
        known = self.simplifying.order
        known += known % 2 if self.symmetric else 0  # the order of a symmetric method is even
        return classical_order(decimals(self.A), decimals(self.b), self.uncertainty, known)

    @precise
    def _weights_order(self, weights: Vector) -> Verdict:
        return classical_order(decimals(self.A), decimals(weights), self.uncertainty)

    @cached_property
    def _embedded(self) -> Verdict | None:
        return self._weights_order(self.b_hat) if self.b_hat else None

    @cached_property
    @precise
    def _dense(self) -> Verdict | None:
        if not self.dense:
            return None
        e = self.extra_stages
        A = decimals(tuple(r + (number(0),) * e for r in self.A) + self.extra_A)
        return dense_order(A, decimals(self.dense), self.uncertainty)


@precise
def _conjugate(A: Matrix, b: Vector) -> Matrix:
    a, w = decimals(A), decimals(b)
    return tuple(tuple(kept(w[j] - w[j] * a[j, i] / w[i]) for j in range(len(b))) for i in range(len(b)))


def _characteristic(A: Exact) -> list[Any]:
    """Coefficients of det(1 − zA) by powers of z (Faddeev-LeVerrier)."""
    n = len(A)
    one = np.array([[type(A[0, 0])(i == j) for j in range(n)] for i in range(n)], dtype=object)
    coefficients, M = [one[0, 0]], one
    for k in range(1, n + 1):
        M = A @ M
        c = -sum(M[i, i] for i in range(n)) / k
        coefficients.append(c)
        M = M + c * one
    return coefficients
