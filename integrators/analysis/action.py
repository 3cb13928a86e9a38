"""The discrete action of steps: what a symplectic method puts in the place of ∫ p dq − H dt.

A symplectic step (q₀, p₀) → (q₁, p₁) has a generating function S(q₀, q₁), dS = p₁ dq₁ − p₀ dq₀: the discrete Lagrangian
of a variational method.  It is read off without knowing the method: the problem gets one more degree of freedom (z, β),
and the method is left to integrate

    ż = β,      β̇ = ½ (p·v − q·f) − H  on Rⁿ,      β̇ = p·v − H  on other groups,       v = ∂H/∂p, f = ṗ

Nothing of the motion depends on z and β.  The increment of β is S on other groups and S − ½ Δ(p·q) on Rⁿ, where it is
the auxiliary variable of Skeel and Hardy 2001.  This is exact, not to the order of the method only, for every method
that sums ṗ with the weights with which its own action sums the Lagrangian: symplectic Runge–Kutta and partitioned
Runge–Kutta methods, discrete Lagrangians, compositions.  A splitting sees forces at p = 0 only; the form on Rⁿ is then
right because ½ p·v and a T quadratic in p cancel; that on other groups is not.

Trees of bodies bring the discrete Lagrangian of their own step (`OwnStep.action`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.integrate import integrate
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.fields import Field, as_field
from integrators.problem.lagrangian import Derivatives
from integrators.problem.parts import lagrangian as layout
from integrators.signatures import FIELD_LANES_SIGNATURE, FIELD_SIGNATURE
from integrators.steppers.own import substeps
from liegroup.compile import compile_field, ld, st
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import KIND, RN

Array = NDArray[np.float64]
INNER, VALUES, WATCHED = 0, 1, 2
"""Rows of the workspace behind those of the problem: its state, the values of its field, its invariants."""


def action_of_steps(problem: Problem, method: Method, y: Array, h: float) -> Array:
    """S of one step of size h from every state (k, n) to the next: (k − 1,).

    Every step is repeated, eight at a time, from its saved start: nothing accumulates.

    Raises
    ------
    ValueError
        A problem that is not on T*G, or without an energy; a method whose action is not known.
    RuntimeError
        A step that fails when it is repeated alone.
    """
    if method.stepper.own:
        return _own_action(problem, method, y, h)
    extended, m = with_action(problem), problem.dimension // 2
    if not is_flat(problem) and method.stepper.name in ("splitting", "lgvi"):
        raise ValueError(
            f"{method.name}: the action of its exact or discrete free motion is known on Rⁿ only, not on the group "
            f"of {problem.model}; "
            f"use MIDPOINT or a VARIATIONAL_GAUSS or VARIATIONAL_LOBATTO method"
        )
    start = _at_rest(y[:-1], m)
    end = _step(extended.with_start(start), method, h)
    if is_flat(problem):
        before, after = (np.sum(x[:, :m] * x[:, m + 1 : -1], axis=-1) for x in (start, end))
        return np.asarray(end[:, -1] + 0.5 * (after - before))
    return np.asarray(end[:, -1])


def _at_rest(y: Array, m: int) -> Array:
    """States with z = 0 and β = 0."""
    zero = np.zeros((*y.shape[:-1], 1))
    return np.concatenate([y[..., :-m], zero, y[..., -m:], zero], axis=-1)


def is_flat(problem: Problem) -> bool:
    """Whether q is in Rⁿ, angles included."""
    return bool(COMMUTATIVE[problem.table[:-1, KIND]].all())


def counting_turns(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """The same product with lines in the place of circles."""
    out = table.copy()
    out[COMMUTATIVE[table[:, KIND]] == 1, KIND] = RN
    return out


@lru_cache(maxsize=8)  # its field is compiled once, not once per run and order
def with_action(problem: Problem) -> Problem:
    """The problem on T*(G × R) with the state (q, z, p, β); it has no invariants.

    Raises
    ------
    ValueError
        Not canonical, no invariant "energy", constraints.
    """
    if not problem.canonical:
        raise ValueError(f"{problem.model}: an action needs momenta; expected a canonical problem, state (q, p) on T*G")
    if "energy" not in problem.invariant_names:
        raise ValueError(
            f"{problem.model}: expected an invariant named 'energy', the Hamiltonian; found "
            f"{list(problem.invariant_names)}"
        )
    if problem.parts_layout not in ("", "lagrangian") or (problem.parts_layout and len(np.asarray(problem.structure))):
        raise ValueError(f"{problem.model}: constraints; the action of a constrained step is not known")
    m = problem.dimension // 2
    n_q, (rows, columns) = problem.n - m, problem.work_shape
    group = counting_turns(problem.table[:-1])  # p·q is no function on the circle
    table = np.vstack([group, [[RN, n_q, m, 1, 1], [RN, n_q + 1, m + 1, m + 1, m + 1]]])
    energy, flat = problem.invariant_names.index("energy"), is_flat(problem)

    def field(of_problem: Any, invariants: Any) -> Any:
        return _field(of_problem, invariants, rows, n_q, m, len(problem.invariant_names), energy, flat)

    def parts(of_problem: Any) -> Any:
        return _parts(of_problem, rows, m)

    return Problem(
        table,
        _at_rest(np.asarray(problem.y0), m),
        _built(field, problem.field, problem.invariants),
        parameters=problem.parameters,
        structure=problem.structure,
        work_shape=(
            rows + 3,
            max(columns, n_q + m, 2 * m, len(problem.invariant_names), layout(m).SIZE if problem.parts else 0),
        ),
        canonical=True,
        parts=None if problem.parts is None else Derivatives(_built(parts, problem.parts)).field,
        parts_layout=problem.parts_layout,
        model=f"{problem.model}, with its action",
    )


def _field(
    of_problem: Any, invariants: Any, row: int, n_q: int, m: int, watched: int, energy: int, flat: bool
) -> Callable[..., None]:
    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        inner, values, seen = work[row + INNER][: n_q + m], work[row + VALUES][: 2 * m], work[row + WATCHED][:watched]
        for i in range(n_q):
            st(inner, i, ld(y, i))
        for i in range(m):
            st(inner, n_q + i, ld(y, n_q + 1 + i))
        of_problem(t, inner, parameters, structure, work, values)
        invariants(t, inner, parameters, structure, work, seen)
        rate = -ld(seen, energy)
        for i in range(m):
            pv = ld(inner, n_q + i) * ld(values, i)
            rate = rate + (0.5 * (pv - ld(inner, i) * ld(values, m + i)) if flat else pv)
            st(out, i, ld(values, i))
            st(out, m + 1 + i, ld(values, m + i))
        st(out, m, ld(y, n_q + 1 + m))
        st(out, 2 * m + 1, rate)

    return field


def _parts(of_problem: Any, row: int, m: int) -> Callable[..., None]:
    """The derivatives of L + ½ż² on Rⁿ, with the rate of β as the force on z; its derivatives, which only z would feel,
    are left out.
    """
    first, inner_size, of_inner, of_all = 2 * m + 1, layout(m).SIZE, layout(m), layout(m + 1)

    def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        second = out.shape[0] > of_all.PUSH_Q
        inner, values = work[row + INNER][: 2 * m], work[row + VALUES][: (inner_size if second else first)]
        for i in range(m):
            st(inner, i, ld(y, i))
            st(inner, m + i, ld(y, m + 1 + i))
        of_problem(t, inner, parameters, structure, work, values)
        rate = ld(values, 2 * m)
        for i in range(m):
            push, pi = ld(values, i), ld(values, m + i)
            rate = rate - 0.5 * (pi * ld(inner, m + i) + ld(inner, i) * push)
            st(out, i, push)
            st(out, m + 1 + i, pi)
        z = ld(y, 2 * m + 1)
        st(out, m, rate)
        st(out, 2 * m + 1, z)
        st(out, 2 * m + 2, ld(values, 2 * m) + 0.5 * z * z)
        if second:
            for b in range(4):
                for i in range(m + 1):
                    for j in range(m + 1):
                        x = 0.0 * z
                        if i < m and j < m:
                            x = ld(values, of_inner.PUSH_Q + (b * m + i) * m + j)
                        st(out, of_all.PUSH_Q + (b * (m + 1) + i) * (m + 1) + j, x)
            st(out, of_all.SIZE - 1, 1.0 + 0.0 * z)

    return parts


def _built(make: Callable[..., Any], *fields: Field) -> Field:
    """A field made of others: interpreted from their sources, compiled from their compiled forms."""
    python = make(*(f.python for f in fields))
    if not all(f.is_compiled for f in fields):
        return as_field(python)
    return Field(
        python,
        True,
        python,
        lambda: compile_field(make(*(f.compiled for f in fields)), FIELD_SIGNATURE),
        lambda: compile_field(make(*(f.compiled_lanes for f in fields)), FIELD_LANES_SIGNATURE),
    )


def _step(problem: Problem, method: Method, h: float) -> Array:
    """One step from every initial state; what a step alone would be doubted for says nothing of the run."""
    found = integrate(problem, method, (0.0, h), abs(h), progress=False)
    if not found.finished:
        raise RuntimeError(f"{method.name} from a saved state alone, without the steps before: {found.message}")
    return np.asarray(found.y[:, -1])


def _own_action(problem: Problem, method: Method, y: Array, h: float) -> Array:
    """The sum of the discrete Lagrangians of the problem's own step over the parts of a composition."""
    own = problem.own_steps.get(method.stepper.own)
    if own is None or own.action is None:
        raise ValueError(f"{method.name}: the action of its step on {problem.model} is not known")
    parts, n_q = substeps(method), problem.n - problem.dimension // 2
    total, start = np.zeros(len(y) - 1), y[:-1]
    for k, (part, weight) in enumerate(parts):
        last = k == len(parts) - 1
        end = y[1:] if last else _step(problem.with_start(start), part, weight * h)
        total += own.action(start[:, :n_q], end[:, :n_q], weight * h, method.map)
        start = end
    return total
