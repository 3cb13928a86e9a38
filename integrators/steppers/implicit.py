"""Implicit Runge-Kutta-Munthe-Kaas: any Butcher tableau on any product of groups.

    centred:  m = y τ(v),  uᵢ = h Σⱼ (aᵢⱼ − bⱼ/2) kⱼ,   v = (h/2) Σ bⱼ kⱼ,   y <- y τ(v) τ(v)
    else:     m = y,       uᵢ = h Σⱼ aᵢⱼ kⱼ,            u = h Σ bⱼ kⱼ,        y <- y τ(u)

    kᵢ = dτ_left(uᵢ)⁻¹ f(t + cᵢh, m τ(uᵢ))

With the chart at the middle of the step a symmetric tableau gives a symmetric method for maps with τ(−x) = τ(x)⁻¹; with
the chart at the start it does not.  The matrix of the centred form is rounded as a whole, so that it is odd to the last
bit.  The equations are solved by iteration, which needs no derivative and contracts by about h|J|/(2s); where it does
not converge, or slowly, by Newton's method, with which the next steps then begin.  Methods for stiff problems begin
with Newton's method always.  Either goes on until rounding stops it: the result is the same, and so is what the method
keeps.  Sources: Munthe-Kaas 1999; Zanna, Engø and Munthe-Kaas 2001 (the symmetric form); Hairer, McLachlan and
Razakarivony 2008 (why the iteration must end in rounding); Hairer and Wanner 1996, IV.8.

The coefficients, options and own rows are those of `integrators.steppers.implicit_newton`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import ERROR, HISTORY, OWN_OPTIONS, OWN_ROWS, TENTATIVE
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.sparsity import HALF
from integrators.signatures import STEP_SIGNATURES
from integrators.status import OK
from integrators.steppers.common import dimension
from integrators.steppers.implicit_newton import memory_row, newton
from integrators.steppers.implicit_stages import BLOCKS, NEWTON, PAST, STAGES, accept, iterate, own_rows, start
from integrators.steppers.implicit_variable import variable
from integrators.steppers.newton import (
    attempts,
    begin_stiff,
    errors_of,
    exact,
    explain,
    failure,
    newton_rows,
    remember_stiffness,
    tell_again,
)
from integrators.steppers.newton_of_stages import newton_of_stages
from integrators.steppers.newton_systems import eliminations, schur_form
from integrators.tableaus import ButcherTableau
from liegroup.compile import any_, entry, integer, kernel, ld, never, rare, select, st

LOOPS = "short"


@kernel
def solve(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """The kᵢ, by iteration where it converges, by Newton's method where it does not or where the steps before tell."""
    s, d, one = options[STAGES], dimension(table), ld(y, 0) * 0.0 + 1.0
    known = min(counters[HISTORY], options[PAST])
    stiff = begin_stiff(work, memory_row(options), s, d, one, options[NEWTON])
    start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, one)
    left, rounds = one - stiff, 0.0 * one
    if any_(left > 0.0):
        left, rounds = iterate(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left
        )
        if any_(left > 0.0):
            start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, left)
    remember_stiffness(work, memory_row(options), s, d, left, rounds)
    left = select(stiff > 0.0, stiff, left)
    if any_(left > 0.0):
        left = newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left,
            counters[HISTORY],
        )  # fmt: skip
    if any_(left > 0.0):
        return solve_otherwise(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left, stiff
        )
    return OK


@rare(never, lambda *types: integer)
def solve_otherwise(
    field: Any, t: Any, h: Any, y: Any, table: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any, work: Any, counters: Any, left: Any, stiff: Any,
) -> Any:  # fmt: skip
    """The kᵢ where Newton's method has not found them (`left`).

    It begins once more, with the field at the start of the step and its derivative there, where it began with past
    values, and gives way to iteration, and that to Newton's method with a derivative for every stage, which is damped
    where it does not find them either; all that only where no smaller step is taken in the place of this one.
    """
    s, d, known = options[STAGES], dimension(table), min(counters[HISTORY], options[PAST])
    if any_(left > 0.0) and known > 0:
        start(field, t, y, table, options, parameters, structure, field_work, work, counters, 0, left)
        left = newton(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left, 0
        )
    if any_(left > 0.0) and any_(stiff > 0.0) and not counters[TENTATIVE]:  # long steps of what is not stiff
        residual = ld(work[ERROR], 0)
        start(field, t, y, table, options, parameters, structure, field_work, work, counters, known, left)
        left, _rounds = iterate(
            field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left
        )
        st(work[ERROR], 0, select(left > 0.0, residual, ld(work[ERROR], 0)))
    errors = errors_of(work)
    for damped in range(attempts(s * d, options[BLOCKS + 2 * s + HALF], counters)):
        if any_(left > 0.0):
            start(field, t, y, table, options, parameters, structure, field_work, work, counters, 0, left)
            left = newton_of_stages(
                field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters, left,
                damped,
            )  # fmt: skip
            errors = errors_of(work) if damped == 0 else errors
    if any_(left > 0.0):
        tell_again(work, left, errors)
        return failure(work)
    return OK


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of an implicit Runge-Kutta-Munthe-Kaas method."""
    status = solve(field, t, h, y, table, coefficients, options, parameters, structure, field_work, work, counters)
    return accept(status, h, y, low, table, coefficients, options, work, counters)


def _shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    columns = max(problem.n, problem.dimension, 3)
    rows = OWN_ROWS + own_rows(options) + newton_rows(int(options[0]), problem, columns)
    return rows, columns


def _late(options: NDArray[np.int64], problem: Problem) -> list[Any]:
    if not options[NEWTON - OWN_OPTIONS]:
        return [iterate]
    return [newton, *eliminations(problem, options[BLOCKS - OWN_OPTIONS :][: options[STAGES - OWN_OPTIONS]])]


def _stepper(maps: tuple[str, ...]) -> Stepper:
    return Stepper(
        "implicit_rkmk", step, own_rows, maps=maps, prepare=exact, evaluates="linearised", shape=_shape,
        explain=explain, late=_late, variable=variable,
    )  # fmt: skip


CENTRED_CHART = _stepper(("exp", "cayley"))
CHART_AT_START = _stepper(("exp", "cayley", "ccsk"))


def implicit_rkmk(
    tableau: ButcherTableau,
    name: str = "",
    centred: bool | None = None,
    iterations: int = 200,
    past: int = 4,
    newton: bool = False,
    **changes: Any,
) -> Method:
    """The implicit Runge-Kutta-Munthe-Kaas method of a tableau.

    Parameters
    ----------
    tableau : ButcherTableau
    centred : bool, optional
        Chart at the middle of the step (default for symmetric tableaus, which it makes symmetric methods) or at its
        start.
    iterations : int
        At most so many iterations per step; Newton's method takes over where they do not suffice.
    past : int
        The first guess is extrapolated from so many past steps.
    newton : bool
        Begin every step with Newton's method: for stiff problems.
    """
    centred = tableau.symmetric if centred is None else centred
    if past < 1 or iterations < 1:
        raise ValueError(f"implicit_rkmk: past = {past}, iterations = {iterations}; both must be at least 1")
    if centred and tableau.b_hat:
        raise ValueError(
            f"implicit_rkmk: {tableau.name} has an error estimate, which needs the chart at the start: centred=False"
        )
    r = tableau.rounded
    form, blocks = schur_form(r.A)
    return Method(
        name=name or f"RKMK[{tableau.name}{', Newton' if newton else ''}]",
        stepper=CENTRED_CHART if centred else CHART_AT_START,
        order=tableau.order,
        coefficients=np.concatenate([(r.A_centred if centred else r.A).ravel(), r.b, r.c, r.error, form]),
        options=np.array([tableau.stages, centred, bool(tableau.b_hat), iterations, past, newton, *blocks]),
        symmetric=centred and tableau.symmetric,
        source=f"Zanna, Engø and Munthe-Kaas 2001; {tableau.source}".rstrip("; "),
        **{"embedded_order": tableau.embedded_order, **changes},
    )


def newton_rkmk(tableau: ButcherTableau, name: str = "", centred: bool | None = None, **changes: Any) -> Method:
    """The implicit Runge-Kutta-Munthe-Kaas method of a tableau, solved by Newton's method: for stiff problems.

    Parameters
    ----------
    tableau, name, centred
        As for `implicit_rkmk`.
    """
    return implicit_rkmk(tableau, name, centred, newton=True, **changes)
