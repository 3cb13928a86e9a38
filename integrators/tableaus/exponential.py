"""Schemes built from exponentials: Crouch-Grossman, commutator-free, two-register, Magnus, RKMK with few
commutators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import InitVar, dataclass
from functools import cached_property
from typing import Any

from integrators.tableaus.claims import Checked
from integrators.tableaus.conditions.lie_conditions import (
    estimate_holds,
    linear_order,
    linear_symmetric,
    nonlinear_order,
)
from integrators.tableaus.conditions.order_conditions import Verdict
from integrators.tableaus.numbers import Coefficients, Vector, decimal, number, precise, row, rows, total, uncertainty

ZERO = number(0)


@dataclass(frozen=True)
class ExponentialScheme(Checked):
    """Exponentials of combinations of field values and of their brackets.

        Yᵢ = g₀ ∏_J exp(h Σₖ points[i][J][k] Fₖ),   Fᵢ = ξ(t + cᵢh, Yᵢ),   g₁ = g₀ ∏_J exp(h Σᵢ final[J][i] Fᵢ)

    with the first exponential applied first (left form: g₁ = g₀ exp(…) exp(…)).  After F₁ … Fₛ a row goes on with the
    brackets h [Σ leftₖ Fₖ, Σ rightₖ Fₖ]; a row may be shorter, the rest are zeros.

    Parameters
    ----------
    final : rows
        The exponentials of the step.
    points : sequence of rows
        For every stage its rows (none for the first); empty altogether for a *linear* scheme, for g' = g A(t) only.
    only. c : (s,) times of the stages; optional if there are points (row sums, checked). brackets : pairs (left, right)
    of rows, each over F₁ … Fₛ and the brackets before it. final_hat : rows of the embedded method, optional; rows of s
    + 1 numbers use F at the new point as well. estimate : a row e, optional, over F₁ … Fₛ (and F at the new point): the
    error estimate h Σ eᵢFᵢ in the algebra. name, source, claims : as for `ButcherTableau`.
    c : (s,) numbers
        Times of the stages; optional if there are points (row sums, checked).
    brackets : sequence of (left, right)
        Pairs of rows, each over F₁ … Fₛ and the brackets before it.
    final_hat : rows, optional
        Of the embedded method; rows of s + 1 numbers use F at the new point as well.
    estimate : row, optional
        e, over F₁ … Fₛ (and F at the new point): the error estimate h Σ eᵢFᵢ in the algebra.
    name, source, claims
        As for `ButcherTableau`.

    Raises
    ------
    ValueError
        Shapes or times that do not fit, stages that use what is not known yet, weights that do not sum to 1, or a claim
        that the coefficients do not confirm.

    Examples
    --------
    >>> cf2 = ExponentialScheme([["1/2", "1/2"]], points=[[], [[1]]], name="Heun")
    >>> cf2.order, cf2.stages, cf2.exponentials
    (2, 2, 2)
    """

    final: Coefficients
    points: Coefficients = ()
    c: Coefficients = ()
    brackets: Coefficients = ()
    final_hat: Coefficients = ()
    estimate: Coefficients = ()
    name: str = "exponential scheme"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        set_ = object.__setattr__
        set_(self, "c", row(self.c, "c"))
        if not self.points and not self.c:
            raise ValueError(f"{self.name}: give the points of the stages, or their times c for a linear scheme")
        set_(self, "points", tuple(self._rows(point, "points") for point in self.points))
        set_(self, "brackets", tuple(self._rows(pair, "brackets") for pair in self.brackets))
        set_(self, "final", self._rows(self.final, "final"))
        new_point = any(len(r) > self.stages for r in (*self.final_hat, self.estimate))
        set_(self, "final_hat", self._rows(self.final_hat, "final_hat", new_point))
        set_(self, "estimate", self._rows([self.estimate], "estimate", new_point)[0] if len(self.estimate) else ())
        self._check_stages()
        self.check_consistent(self.order)
        self.check_embedded(self.embedded_order, _trimmed(self.final) != _trimmed(self.final_hat))
        self.check(claims or {})

    def _rows(self, values: Any, field: str, new_point: bool = False) -> tuple[Vector, ...]:
        """Rows, filled up with zeros."""
        width = self.stages + (1 if new_point else len(self.brackets))
        given = rows(values, field)
        if any(len(r) > width for r in given):
            raise ValueError(
                f"{self.name}: a row of {field} has {max(map(len, given))} numbers, at most {width} have a meaning"
            )
        return tuple(r + (ZERO,) * (width - len(r)) for r in given)

    @precise
    def _check_stages(self) -> None:
        sums = tuple(total(tuple(x for r in point for x in r[: self.stages])) for point in self.points)
        if self.points and not self.c:
            object.__setattr__(self, "c", sums)
        if self.points and len(self.points) != len(self.c):
            raise ValueError(f"{self.name}: {len(self.points)} points but {len(self.c)} times c")
        for i, (found, ci) in enumerate(zip(sums, self.c, strict=False)):
            size = 1 + sum(abs(decimal(x)) for r in self.points[i] for x in r)
            if abs(decimal(found) - decimal(ci)) > 4 * self.uncertainty * float(size):
                raise ValueError(
                    f"{self.name}: the coefficients of stage {i} sum to {float(found)}, but c[{i}] = {float(ci)}"
                )
            if any(x for r in self.points[i] for x in r[i : self.stages]):
                raise ValueError(f"{self.name}: stage {i} uses a field value that is not known yet")
        if any(x for k, pair in enumerate(self.brackets) for r in pair for x in r[self.stages + k :]):
            raise ValueError(f"{self.name}: a bracket uses itself or a later bracket")
        if self.brackets and (self.final_hat or self.estimate):
            raise ValueError(f"{self.name}: an embedded method with brackets is not supported")

    def reason(self, claim: str) -> str:
        verdict = {"order": self._order, "embedded_order": self._embedded}.get(claim)
        return verdict.failure if verdict else ""

    # --- computed properties ----------------------------------------------------------------------------------------

    @property
    def stages(self) -> int:
        """Number of evaluations of the field per step."""
        return len(self.points) or len(self.c)

    @property
    def linear(self) -> bool:
        """For g' = g A(t) only: the stages differ in time, not in place."""
        return not self.points

    @property
    def order(self) -> int:
        """Order, by ordered forests (up to order 6), or by words in the Taylor coefficients of A (up to 8) for a linear
        scheme.
        """
        return self._order.order

    @property
    def embedded_order(self) -> int | None:
        """Order of the embedded method; None without one."""
        return self._embedded.order if self._embedded else None

    @property
    def uses_new_point(self) -> bool:
        """The estimate needs the field at the new point, which is the next step's first evaluation."""
        return any(len(r) > self.stages for r in (*self.final_hat, self.estimate))

    @cached_property
    @precise
    def estimate_is_leading_error(self) -> bool:
        """The algebra estimate is the difference of the two methods, up to the order in which they differ."""
        if not (self.estimate and self.final_hat) or self.embedded_order is None:
            return False
        stages = [*self.points, self.final] if self.uses_new_point else self.points
        exact = [_decimal_rows(e) for e in (*stages, self.final, self.final_hat, [self.estimate])]
        return estimate_holds(exact[:-3], exact[-3], exact[-2], exact[-1][0], self.embedded_order, self.uncertainty)

    @property
    def starts(self) -> tuple[int, ...]:
        """For every stage and the step: the stage whose point it starts from (−1: from g₀), sharing that stage's
        exponentials.
        """
        return tuple(_longest_prefix(self.points[:i], point) for i, point in enumerate((*self.points, self.final)))

    @property
    def exponentials(self) -> int:
        """Exponentials per step, shared ones counted once."""
        shared = [len(self.points[start]) if start >= 0 else 0 for start in self.starts]
        return sum(len(point) for point in (*self.points, self.final)) - sum(shared)

    @property
    def bracket_ready(self) -> tuple[int, ...]:
        """For every bracket: the number of stages that must be known before it can be formed."""
        ready: list[int] = []
        for pair in self.brackets:
            used = [k for r in pair for k, x in enumerate(r) if x]
            ready.append(max(k + 1 if k < self.stages else ready[k - self.stages] for k in used))
        return tuple(ready)

    @cached_property
    def symmetric(self) -> bool:
        """Linear schemes: the step with −h from the new point leads back.  Others are explicit in the state and never
        symmetric.
        """
        if not self.linear:
            return False
        final = _decimal_rows(self.final)
        return linear_symmetric([decimal(x) for x in self.c], self._decimal_brackets, final, self.uncertainty)

    @cached_property
    def uncertainty(self) -> float:
        """Relative accuracy of the coefficients as given."""
        return uncertainty(
            self.final, self.points, self.c if self.linear else (), self.brackets, self.final_hat, self.estimate
        )

    # --- private ------------------------------------------------------------------------------------------------------

    @property
    def _decimal_brackets(self) -> list[tuple[list[Any], list[Any]]]:
        return [(left, right) for left, right in map(_decimal_rows, self.brackets)]

    @cached_property
    @precise
    def _order(self) -> Verdict:
        brackets = self._decimal_brackets
        if self.linear:
            return linear_order([decimal(x) for x in self.c], brackets, _decimal_rows(self.final), self.uncertainty)
        return nonlinear_order(
            [_decimal_rows(p) for p in self.points], brackets, _decimal_rows(self.final), self.uncertainty
        )

    @cached_property
    @precise
    def _embedded(self) -> Verdict | None:
        if not self.final_hat:
            return None
        stages = [*self.points, self.final] if self.uses_new_point else self.points
        return nonlinear_order([_decimal_rows(p) for p in stages], (), _decimal_rows(self.final_hat), self.uncertainty)


def _decimal_rows(values: Any) -> list[list[Any]]:
    return [[decimal(x) for x in r] for r in values]


def _longest_prefix(earlier: Sequence[Any], point: Any) -> int:
    """The earlier stage that begins with the most exponentials of the point, all of its own; −1 if none does."""
    candidates = [(len(other), i) for i, other in enumerate(earlier) if other and point[: len(other)] == other]
    return max(candidates, default=(0, -1))[1]


class HasScheme(Checked):
    """A method given by fewer numbers than its list of exponentials; its properties are those of the list."""

    @property
    def scheme(self) -> ExponentialScheme:
        """The same method as a list of exponentials."""
        raise NotImplementedError

    @property
    def stages(self) -> int:
        """Number of evaluations of the field per step."""
        return self.scheme.stages

    @property
    def order(self) -> int:
        """Order, by ordered forests."""
        return self.scheme.order

    @property
    def embedded_order(self) -> int | None:
        """Order of the embedded method; None without one."""
        return self.scheme.embedded_order

    @property
    def exponentials(self) -> int:
        """Exponentials per step."""
        return self.scheme.exponentials

    def reason(self, claim: str) -> str:
        return self.scheme.reason(claim)


@dataclass(frozen=True)
class CrouchGrossman(HasScheme):
    """A Crouch-Grossman method: one exponential for every coefficient.

        Yᵢ = g₀ exp(h aᵢ₁F₁) exp(h aᵢ₂F₂) …,   g₁ = g₀ exp(h b₁F₁) … exp(h bₛFₛ)

    Parameters
    ----------
    A, b, c : strictly lower triangular (s, s), (s,), (s,) numbers; c (the row sums) may be left out.
    b_hat : (s,) or (s + 1,) weights of the embedded method, optional; the last of s + 1 belongs to F at the new point.
    name, source, claims : as for `ButcherTableau`.

    Raises
    ------
    ValueError
        Shapes that do not fit, weights that do not sum to 1, or a claim that the coefficients do not confirm.

    Examples
    --------
    >>> from integrators.tableaus import CROUCH_GROSSMAN
    >>> list(CROUCH_GROSSMAN)[:2]
    ['cg1', 'cg2']
    """

    A: Coefficients
    b: Coefficients
    c: Coefficients = ()
    b_hat: Coefficients = ()
    name: str = "Crouch-Grossman method"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field in ("b", "c", "b_hat"):
            object.__setattr__(self, field, row(getattr(self, field), field))
        object.__setattr__(self, "A", rows(self.A, "A"))
        s = len(self.b)
        if len(self.A) != s or any(len(r) != s for r in self.A) or len(self.b_hat) not in (0, s, s + 1):
            raise ValueError(
                f"{self.name}: with {s} weights b, A must be {s} by {s} and b_hat have {s} or {s + 1} numbers"
            )
        self.check_consistent(self.order)
        self.check(claims or {})

    @cached_property
    def scheme(self) -> ExponentialScheme:
        """The same method as a list of exponentials."""
        points = tuple(_one_by_one(r) for r in self.A)
        return ExponentialScheme(
            _one_by_one(self.b), points, self.c, final_hat=_one_by_one(self.b_hat), name=self.name, source=self.source
        )


def _trimmed(exponents: tuple[Vector, ...]) -> list[list[Any]]:
    """The rows without the zeros at their ends."""
    return [list(row[: max((j + 1 for j, x in enumerate(row) if x), default=0)]) for row in exponents]


def _one_by_one(coefficients: Vector) -> tuple[Vector, ...]:
    """One exponential for every coefficient that is not zero."""
    return tuple((ZERO,) * j + (x,) + (ZERO,) * (len(coefficients) - j - 1) for j, x in enumerate(coefficients) if x)


@dataclass(frozen=True)
class TwoRegister(HasScheme):
    """A method that needs two arrays: Z ← AₖZ + F(t + cₖh, g),  g ← g exp(h BₖZ),  k = 1 … s.

    Parameters
    ----------
    A, B : (s,) numbers, A₁ = 0.
    name, source, claims : as for `ButcherTableau`.

    Raises
    ------
    ValueError
        Shapes that do not fit, A₁ ≠ 0, weights that do not sum to 1, or a claim that the coefficients do not confirm.

    Examples
    --------
    >>> from integrators.tableaus import TWO_REGISTER
    >>> len(TWO_REGISTER)
    3
    """

    A: Coefficients
    B: Coefficients
    name: str = "two-register method"
    source: str = ""
    claims: InitVar[Mapping[str, Any] | None] = None

    def __post_init__(self, claims: Mapping[str, Any] | None) -> None:
        for field in ("A", "B"):
            object.__setattr__(self, field, row(getattr(self, field), field))
        if len(self.A) != len(self.B) or not self.A or self.A[0] != 0:
            raise ValueError(
                f"{self.name}: A and B must have the same length and A must begin with 0, got {len(self.A)} and "
                f"{len(self.B)}"
            )
        self.check_consistent(self.order)
        self.check(claims or {})

    @cached_property
    @precise
    def scheme(self) -> ExponentialScheme:
        """The same method as a list of exponentials."""
        s = len(self.A)
        register, exponentials = [ZERO] * s, []
        for k in range(s):
            register = [_times(self.A[k], x) for x in register]
            register[k] = number(1)
            exponentials.append(tuple(_times(self.B[k], x) for x in register))
        points = tuple(tuple(exponentials[:k]) for k in range(s))
        return ExponentialScheme(tuple(exponentials), points, name=self.name, source=self.source)


def _times(x: Any, y: Any) -> Any:
    """A product, exact if both are."""
    return x * y if type(x) is type(y) else number(0) if x == 0 or y == 0 else decimal(x) * decimal(y)
