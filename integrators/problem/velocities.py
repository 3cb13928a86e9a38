"""Lagrangian systems with holonomic constraints in configurations and velocities: for methods of closed loops.

With M = ∂π/∂v, which must not depend on v, T = ½ vᵀM v, V = −L(t, q, 0) and D = ∂T/∂q, the motion
d/dt π = ad_vᵀ π + φ + Φᵀλ (`integrators.problem.holonomic`) is

    M v̇ + r − D = −∂V/∂q + F + Φᵀλ,      r = d/dt (M v) − M v̇ − ad_vᵀ(M v)

where F holds the forces and what is linear in v (as of charges in magnetic fields).  These are the parts in the layout
``constrained`` of `integrators.problem.parts`: every row is integrable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from integrators.problem.holonomic import constraints_layout
from integrators.problem.lagrangian import Array, built
from integrators.problem.multipliers import constrained_energy, constrained_field, work_rows
from integrators.problem.parts import constrained
from integrators.problem.parts import lagrangian as layout
from integrators.problem.problem import Problem, Variable
from integrators.problem.times import begin_of
from liegroup.arrays import of_kind, real
from liegroup.compile import absolute, ld, st
from liegroup.compile.scalars import maximum
from liegroup.table import bracket_transpose

VALUES, MOMENTUM, OTHER, CARRIED, OWN = range(5)
"""Rows of the workspace of the parts: the derivatives; M v; π − M v; ad_vᵀ of one of them."""


def _parts(derivatives: Callable[..., None], table: Any, n_q: int, n: int, m: int) -> Callable[..., None]:
    """The parts of (q, v), from the derivatives of the Lagrangian and of the constraints."""
    of_l, of_c, at = layout(n), constraints_layout(n, m), constrained(n, m, m)

    def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        values, v = work[VALUES][: of_c.SIZE_IN_VELOCITIES], y[n_q:]
        momentum, other, carried = work[MOMENTUM][:n], work[OTHER][:n], work[CARRIED][:n]
        derivatives(t, y, parameters, structure, work, values)
        for i in range(n):
            total = 0.0 * ld(v, 0)
            for j in range(n):
                st(out, at.MASS + n * i + j, ld(values, of_l.MOMENTUM_V + n * i + j))
                total = total + ld(values, of_l.MOMENTUM_V + n * i + j) * ld(v, j)
            st(momentum, i, total)
            st(other, i, ld(values, of_l.MOMENTUM + i) - total)
        bracket_transpose(table, v, momentum, carried)
        for i in range(n):
            kinetic, gradient = ld(values, of_c.KINETIC + i), ld(values, of_c.GRADIENT + i)
            rate = ld(values, of_c.MASS_RATE + i)
            st(out, at.KINETIC + i, kinetic)
            st(out, at.GRADIENT + i, gradient)
            st(out, at.RATE + i, rate - ld(carried, i))
            push = (ld(values, of_l.PUSH + i) - kinetic) + gradient
            st(out, at.FORCE + i, push - (ld(values, of_c.MOMENTUM_RATE + i) - rate))
        bracket_transpose(table, v, other, carried)
        for i in range(n):
            st(out, at.FORCE + i, ld(out, at.FORCE + i) + ld(carried, i))
        for c in range(m):
            for i in range(n):
                st(out, at.ROWS + n * c + i, ld(values, of_c.ROWS + n * c + i))
            st(out, at.VALUE + c, -ld(values, of_c.RATE + c))
            st(out, at.BIAS + c, ld(values, of_c.BIAS + c))
            st(out, at.POSITION + c, ld(values, of_c.GAP + c))
        st(out, at.POTENTIAL, ld(values, of_c.POTENTIAL))

    return parts


def _itself(parts: Callable[..., None]) -> Callable[..., None]:
    def written(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        parts(t, y, parameters, structure, work, out)

    return written


def _motion(parts: Callable[..., None]) -> Callable[..., None]:
    """out = (v, v̇)."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        constrained_field(parts, t, y, parameters, structure, work, out)

    return field


def _watched(parts: Callable[..., None], n_q: int, n: int, m: int) -> Callable[..., None]:
    """out = (energy, largest |c|, largest |Φ v + ∂c/∂t|)."""
    at = constrained(n, m, m)

    def watched(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        st(out, 0, constrained_energy(parts, t, y, parameters, structure, work))
        values, gap, closing = work[0], 0.0 * ld(y, 0), 0.0 * ld(y, 0)
        for c in range(m):
            rate = -ld(values, at.VALUE + c)
            for i in range(n):
                rate = rate + ld(values, at.ROWS + n * c + i) * ld(y, n_q + i)
            gap, closing = maximum(gap, absolute(ld(values, at.POSITION + c))), maximum(closing, absolute(rate))
        st(out, 1, gap)
        st(out, 2, closing)

    return watched


def in_velocities(problem: Problem, t: float | None = None) -> Problem:
    """The motion of a `holonomic_problem` with the state (q, v), and with M, Φ and forces as its parts.

    For methods that work with constraints and multipliers: generalised-α and Radau methods, whose steps stiff springs
    and dampers do not limit (`ALPHA_STABILISED`, `RADAU_GGL`), and variational ones (`DLA4`, `DLA6`).

    Parameters
    ----------
    problem : Problem
        Of `holonomic_problem`, or of SymPy's equations with holonomic constraints (`mechanics.from_lagrangian`).
    t : float, optional
        Time at which runs are to begin, s: the momenta of the start are those of velocities then.  Default that for
        which the problem is posed, or 0.

    Returns
    -------
    Problem
        Watches the same numbers; without the exact solution, which is of (q, p).

    Raises
    ------
    TypeError
        No problem.
    ValueError
        It has no Lagrangian with holonomic constraints; M depends on v; it is posed for another time.

    Notes
    -----
    M v̇ + r − D = −∂V/∂q + F + Φᵀλ, c(t, q) = 0; holds where L is quadratic in v, M regular, the rows of Φ independent.

    References
    ----------
    Gear, Gupta and Leimkuhler 1985; Hairer and Wanner 1996, section VII.1.

    Examples
    --------
    A pendulum on a spring of 1e6 N/m, with steps of three periods of the spring:

    >>> from integrators import integrate
    >>> from integrators.problem import holonomic_problem, in_velocities
    >>> bead = holonomic_problem(
    ...     lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2) - q[1] - 5e5 * q[2] ** 2,
    ...     lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - (1.0 + q[2]) ** 2], q=[1.0, 0.0, 0.0]
    ... )
    >>> swing = integrate(in_velocities(bead), "RADAU_GGL", (0, 1), 0.02)
    >>> bool(swing["gap"].max() < 1e-13), bool(swing.error("energy", relative=False) < 1e-6)
    (True, True)
    """
    of_kind(problem, Problem, "problem", "a Problem")
    if problem.parts_layout != "lagrangian" or not len(np.asarray(problem.structure)):
        raise ValueError(
            f"problem {problem.model!r}: it has no Lagrangian with holonomic constraints; expected one of "
            "holonomic_problem"
        )
    m, quadratic = (int(x) for x in np.asarray(problem.structure))
    if not quadratic:
        raise ValueError(
            f"problem {problem.model!r}: its Lagrangian is not quadratic in the velocities; expected ½ vᵀM v with M "
            "free of v; use RATTLE, or a method of fields"
        )
    if problem.inputs.worked:
        raise ValueError(f"problem {problem.model!r}: it integrates work; convert the one without with_work()")
    begin = begin_of(problem) if t is None else real(t, "t")
    if problem.begins is not None and begin != problem.begins:
        raise ValueError(
            f"t: {begin:g}, expected {problem.begins:g}: the start of {problem.model!r} has the momenta of its "
            f"velocities at that time; pose the problem with t={begin:g}"
        )
    group, n = problem.table[:-1], int(problem.table[-1, 4])
    n_q, at = problem.n - n, constrained(n, m, m)
    values = constraints_layout(n, m).SIZE_IN_VELOCITIES
    inner = partial(_parts, table=group, n_q=n_q, n=n, m=m)
    derivatives = problem.parts
    *before, momentum = problem.variables
    return replace(
        problem,
        y0=_start(problem, begin, n_q, n),
        field=built(partial(_motion), derivatives, inner),
        structure=(n, m, m),
        work_shape=(work_rows(n, m) + OWN, max(at.SIZE, values, n + m + 1)),
        variables=(*before, Variable("v", momentum.labels)),
        invariants=built(partial(_watched, n_q=n_q, n=n, m=m), derivatives, inner),
        parts=built(partial(_itself), derivatives, inner),
        parts_layout="constrained",
        exact=None,
    )


def _start(problem: Problem, t: float, n_q: int, n: int) -> Array:
    """The states with velocities in the place of momenta."""
    y: Array = np.array(problem.y0)
    for state in np.atleast_2d(y):  # views
        state[n_q:] = problem.velocity(t, state)[:n]
    return y
