"""Lagrangian systems with holonomic constraints φ(t, q) = 0, on any product of groups, from plain functions of numbers.

    d/dt π = ad_vᵀ π + φ_L + Φᵀλ,      c(t, q) = 0,      Φ = ∂c/∂q (left-trivialised),      Φ v + ∂c/∂t = 0

with π, φ_L of `integrators.problem.lagrangian`.  A point held in space, a distance, a weld, a surface: whatever the
functions c say.  They are traced like the Lagrangian, so that Φ and its rates are exact.  The problem carries

* as its parts the derivatives of the Lagrangian followed by those of the constraints (`constraints_layout`), for
  `RATTLE`, which keeps
  c and Φ v + ∂c/∂t at rounding;
* as its field the motion with λ from d/dt (Φ v + ∂c/∂t) = 0 (index 1): any method applies, its gap grows.

`in_velocities` poses the same motion in (q, v), with M, Φ and forces as its parts: for the methods of closed loops.

Holds when the rows of Φ are independent on Φ v + ∂c/∂t = 0; where they are not the multipliers are not determined, and
steps fail.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arithmetic.elimination import solve_rows
from integrators.problem.derivatives import Differentiable
from integrators.problem.energy import with_energy_guard
from integrators.problem.guards import Guard
from integrators.problem.lagrangian import (
    STATE,
    SYSTEM,
    VALUES,
    Derivatives,
    Notes,
    along,
    built,
    check_velocity,
    checked_start,
    checked_vector,
    energy_of,
    legendre,
    momenta_begin_at,
    momentum_at,
    scalar,
    trace,
)
from integrators.problem.parts import lagrangian as layout
from integrators.problem.problem import Problem, group_table
from liegroup.arrays import check_function, real, reals, shown
from liegroup.compile import absolute, helper, kernel, ld, ld2, st, st2
from liegroup.compile.scalars import maximum
from liegroup.compile.traceable import on_scalars, scalars, traceable
from liegroup.compile.tracing import Traced
from liegroup.group import rn
from liegroup.table import RN, bracket_transpose, retract
from liegroup.tau import EXP

Array = NDArray[np.float64]
TOLERANCE, LEAST, ROUNDED = 1e-9, 1e-13, 1e-14
"""Largest gap and closing velocity of a start, the same part of what they consist of where that is small, but no less
than the second number; more by the third part of that, far from the origin.
"""
BENT, ASIDE = 0.1, 1e-6
"""Part of the size of a configuration below which that on which the rows of Φ turn counts in its place; how far aside
they are looked at, in sizes.
"""
STRAINED = 0.05
"""Part of the size of a configuration by which constraints may be violated."""
OPEN = 1e-5
"""Part of that by which they may be violated at the start."""


class Constraints(NamedTuple):
    """Where the blocks after those of the Lagrangian begin; `SIZE` numbers, `SIZE_IN_VELOCITIES` in all.

    ==============  =====  ==========================================
    block           size   meaning
    ==============  =====  ==========================================
    GAP             m      c
    ROWS            m·n    Φ, by rows
    RATE            m      ∂c/∂t
    BIAS            m      d/dt (Φ v + ∂c/∂t) at constant v
    MOMENTUM_RATE   n      d/dt π at constant v
    MASS_RATE       n      d/dt (M v) at constant v, M = ∂π/∂v
    KINETIC         n      D, derivative of ½ vᵀM v by q
    GRADIENT        n      derivative of V = −L(t, q, 0) by q
    POTENTIAL       1      V
    ==============  =====  ==========================================

    The last four, for `in_velocities`, are written only where ``out`` has room for them.
    """

    GAP: int
    ROWS: int
    RATE: int
    BIAS: int
    MOMENTUM_RATE: int
    SIZE: int
    MASS_RATE: int
    KINETIC: int
    GRADIENT: int
    POTENTIAL: int
    SIZE_IN_VELOCITIES: int


@helper
def constraints_layout(n: Any, m: Any) -> Constraints:
    """The layout for n velocities and m constraints."""
    g = 2 * n + 1 + 4 * n * n
    rate = g + 3 * m + m * n
    return Constraints(g, g + m, g + m + m * n, g + 2 * m + m * n, rate, rate + n, rate + n, rate + 2 * n, rate + 3 * n,
                       rate + 4 * n, rate + 4 * n + 1)  # fmt: skip


def constrained_derivatives(
    table: NDArray[np.int64],
    lagrangian: Callable[..., Any],
    constraints: Callable[..., Any],
    force: Callable[..., Any] | None = None,
    parameters: int = 0,
) -> tuple[Derivatives, int]:
    """Differentiate a Lagrangian, forces and constraints exactly; returns how many constraints there are, too.

    Raises
    ------
    TypeError, ValueError
        Functions that cannot be traced; no constraints.
    """
    notes = trace(table, lagrangian, force, parameters)
    g, t, q, v = notes.graph, notes.t, notes.q, notes.v

    def rate(k: int) -> int:
        """Of a node along v, and by time."""
        total = g.derivative(k, t.k)
        for j, x in enumerate(v):
            total = g.apply("add", total, g.apply("multiply", x.k, along(g, k, table, q, j)))
        return total

    returned = _traced(constraints, t, q, notes.parameters)
    if not np.iterable(returned):
        raise TypeError(f"constraints: returned {shown(returned)}, expected a list of numbers that are to be 0")
    c = [scalar(g, x, "constraints") for x in returned]
    if not c:
        raise ValueError("constraints: returned none; without constraints use lagrangian_problem")
    closing, n = [rate(k) for k in c], len(v)
    blocks = [
        *c,
        *(along(g, k, table, q, j) for k in c for j in range(n)),
        *(g.derivative(k, t.k) for k in c),
        *(rate(k) for k in closing),
        *(rate(k) for k in notes.first[n : 2 * n]),
    ]
    split = _split(notes, lagrangian, table, rate) if notes.linear else []
    return notes.derivatives(blocks, split), len(c)


def _traced(constraints: Callable[..., Any], t: Any, q: Any, parameters: Any) -> Any:
    return on_scalars(constraints, "constraints(t, q, parameters)", t, scalars(q), scalars(parameters))


def _split(
    notes: Notes, lagrangian: Callable[..., Any], table: NDArray[np.int64], rate: Callable[[int], int]
) -> list[int]:
    """The nodes of the last four blocks: L = ½ vᵀM v + (what is linear in v) − V."""
    g, q, n, v = notes.graph, notes.q, len(notes.v), [x.k for x in notes.v]
    momenta = [_product(g, notes.mass[n * i : n * i + n], v) for i in range(n)]
    energy = g.apply("multiply", g.constant(0.5), _product(g, v, momenta))
    rest = [Traced(g, g.constant(0.0))] * n
    value = scalar(g, traceable(lagrangian)(notes.t, *map(scalars, (q, rest, notes.parameters))), "lagrangian")
    potential = g.apply("negate", value)
    gradients = [along(g, k, table, q, j) for k in (energy, potential) for j in range(n)]
    return [*(rate(k) for k in momenta), *gradients, potential]


def _product(g: Differentiable, a: Sequence[int], b: Sequence[int]) -> int:
    """Σ aᵢ bᵢ of nodes."""
    total = g.constant(0.0)
    for x, y in zip(a, b, strict=True):
        total = g.apply("add", total, g.apply("multiply", x, y))
    return total


# --- the motion -------------------------------------------------------------------------------------------------------


def _motion(velocity: Callable[..., None], table: NDArray[np.int64], n_q: int, n: int, m: int) -> Callable[..., None]:
    """out = (v, ad_vᵀ p + φ + Φᵀλ) with λ from the constraints differentiated twice."""
    of_l, of_c = layout(n), constraints_layout(n, m)

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        velocity(t, y, parameters, structure, work)
        state, values = work[STATE], work[VALUES]
        for i in range(n):
            st(out, i, ld(state, n_q + i))
        bracket_transpose(table, out[:n], y[n_q:], out[n:])
        for i in range(n):
            st(out, n + i, ld(out, n + i) + ld(values, of_l.PUSH + i))
            for j in range(n):
                st2(work, SYSTEM + i, j, ld(values, of_l.MOMENTUM_V + n * i + j))
            for c in range(m):
                st2(work, SYSTEM + i, n + c, -ld(values, of_c.ROWS + n * c + i))
                st2(work, SYSTEM + n + c, i, ld(values, of_c.ROWS + n * c + i))
            st2(work, SYSTEM + i, n + m, ld(out, n + i) - ld(values, of_c.MOMENTUM_RATE + i))
        for c in range(m):
            for d in range(m):
                st2(work, SYSTEM + n + c, n + d, 0.0)
            st2(work, SYSTEM + n + c, n + m, -ld(values, of_c.BIAS + c))
        solve_rows(work, SYSTEM, n + m, 1)
        for c in range(m):
            for i in range(n):
                st(out, n + i, ld(out, n + i) + ld(values, of_c.ROWS + n * c + i) * ld2(work, SYSTEM + n + c, n + m))

    return field


def _watched(velocity: Callable[..., None], n_q: int, n: int, m: int) -> Callable[..., None]:
    """out = (energy, largest |c|, largest |Φ v + ∂c/∂t|)."""
    of_c, energy = constraints_layout(n, m), kernel(energy_of(velocity, n_q, n))

    def watched(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        energy(t, y, parameters, structure, work, out)
        state, values = work[STATE], work[VALUES]
        gap, closing = 0.0 * ld(y, 0), 0.0 * ld(y, 0)
        for c in range(m):
            rate = ld(values, of_c.RATE + c)
            for i in range(n):
                rate = rate + ld(values, of_c.ROWS + n * c + i) * ld(state, n_q + i)
            gap, closing = maximum(gap, absolute(ld(values, of_c.GAP + c))), maximum(closing, absolute(rate))
        st(out, 1, gap)
        st(out, 2, closing)

    return watched


# --- the problem ------------------------------------------------------------------------------------------------------


def holonomic_problem(
    lagrangian: Callable[..., Any],
    constraints: Callable[..., Any],
    q: ArrayLike,
    v: ArrayLike | None = None,
    parameters: ArrayLike = (),
    group: Any = None,
    force: Callable[..., Any] | None = None,
    exact: Callable[[Any], Array] | None = None,
    model: str = "constrained Lagrangian system",
    t: float = 0.0,
) -> Problem:
    """The motion of a Lagrangian system under holonomic constraints, state (q, p) with p = ∂L/∂v.

    Parameters
    ----------
    lagrangian, force : callable
        As for `integrators.problem.lagrangian.lagrangian_problem`.
    constraints : callable
        ``c(t, q, parameters)`` → m numbers that the motion keeps at zero, a plain function of arrays of scalars.
    q : array (n_q,)
        Initial configuration, with c(t, q) = 0.
    v : array (n,), optional
        Initial body velocity, with Φ v + ∂c/∂t = 0; default at rest.
    parameters : array (k,), optional
        Handed to the functions.
    group, model
        As for `lagrangian_problem`.
    exact : callable, optional
        ``exact(t)`` → the state (…, n_q + n).
    t : float
        Time at which runs are to begin, s: there the start must be on the constraints.

    Returns
    -------
    Problem
        Watches the energy π·v − L, the gap max |c| and the closing velocity max |Φ v + ∂c/∂t|.  For RATTLE and for
        methods of fields; `in_velocities` makes of it the problem for methods that work with multipliers.

    Raises
    ------
    ValueError, TypeError
        With what is wrong and what to do; a start that is not on the constraints.

    Notes
    -----
    d/dt π = ad_vᵀ π + φ_L + Φᵀλ, c(t, q) = 0, Φ = ∂c/∂q; holds where the rows of Φ are independent.

    References
    ----------
    Andersen 1983 (RATTLE); Hairer, Lubich and Wanner 2006.

    Examples
    --------
    A pendulum as a point on a circle:

    >>> from integrators import integrate
    >>> pendulum = holonomic_problem(
    ...     lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - q[1],
    ...     lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1], q=[1.0, 0.0]
    ... )
    >>> swing = integrate(pendulum, "RATTLE", (0, 10), 0.01)
    >>> bool(swing["gap"].max() < 1e-13), bool(swing.error("energy", relative=False) < 1e-3)
    (True, True)
    """
    check_function(constraints, "constraints", "a function c(t, q, parameters)", 3)
    q = checked_start(q)
    table = group_table(rn(len(q)) if group is None else group)
    n_q, n = int(table[-1, 1] + table[-1, 3]), int(table[-1, 2] + table[-1, 4])
    if q.shape != (n_q,):
        raise ValueError(f"q: shape {q.shape}, expected ({n_q},)")
    numbers = np.atleast_1d(reals(parameters, "parameters"))
    found, m = constrained_derivatives(table, lagrangian, constraints, force, len(numbers))
    velocity_0 = np.zeros(n) if v is None else checked_vector(v, n, "v")
    begin = real(t, "t")
    rows = _checked_rows(found, begin, q, velocity_0, numbers, m)
    reach = _reach(found, begin, q, numbers, rows, table)
    size = constraints_layout(n, m).SIZE

    start = found, q, velocity_0, numbers, begin
    momenta = momentum_at(*start)
    inner = partial(legendre, n_q=n_q, n=n, linear=found.linear, left=size)
    posed = Problem(
        np.vstack([table, [[RN, n_q, n, n, n]]]),
        np.concatenate([q, momenta]),
        built(partial(_motion, table=table, n_q=n_q, n=n, m=m), found.field, inner),
        parameters=numbers,
        structure=(m, int(found.linear)),
        work_shape=(SYSTEM + n + m, max(size, n_q + n, n + m + 1)),
        invariants=built(partial(_watched, n_q=n_q, n=n, m=m), found.field, inner),
        invariant_names=("energy", "gap", "closing_velocity"),
        invariant_units=("J", "", ""),
        autonomous=found.autonomous,
        parts=found.field,
        parts_layout="lagrangian",
        exact=exact,
        begins=momenta_begin_at(*start),
        model=model,
        guards=(_gap_guard(reach, rows), _closing_guard(velocity_0, rows)),
    )
    if v is not None and not found.linear:
        check_velocity(posed, begin, velocity_0)
    proven = found.autonomous is True and force is None  # by Noether's theorem
    return with_energy_guard(posed, conservative=force is None, proven=proven)


def _reach(found: Derivatives, t: float, q: Array, numbers: Array, rows: Array, table: NDArray[np.int64]) -> float:
    """How far a configuration is moved for its size: by that, or by one; where the rows of Φ turn on a way that is much
    shorter, as about a pivot far from the origin, by this.
    """
    size = float(np.abs(q).max()) or 1.0
    n, aside, turned = rows.shape[1], ASIDE * size, 0.0
    for j in range(n):
        moved, by = q.copy(), aside * np.eye(n)[j]
        retract(table, EXP, q, by, moved)
        turned = max(
            turned, float(np.linalg.norm(_rows_at(found, t, moved, np.zeros(n), numbers, len(rows))[1] - rows))
        )
    way = aside * float(np.linalg.norm(rows)) / turned if turned > 0.0 else np.inf
    return way if way < BENT * size else size


def _gap_guard(reach: float, rows: Array) -> Guard:
    """The guard of max |c|: a part of its change when the configuration moves by its reach."""
    limit = STRAINED * reach * float(np.linalg.norm(rows, axis=1).max())
    remedy = "start on the constraints, and use RATTLE or a smaller step"
    return Guard("gap", "the constraints are violated", remedy, greatest=limit, start=OPEN * limit)


def _closing_guard(v: Array, rows: Array) -> Guard:
    """The guard of max |Φ v + ∂c/∂t| at the start."""
    limit = OPEN * max(float(np.linalg.norm(v)), 1.0) * float(np.linalg.norm(rows, axis=1).max())
    return Guard("closing_velocity", "the constraints are violated", "start along the constraints", start=limit)


def _rows_at(found: Derivatives, t: float, q: Array, v: Array, numbers: Array, m: int) -> tuple[Array, Array, Array]:
    """c, Φ and ∂c/∂t at a state."""
    at, none = constraints_layout(len(v), m), np.zeros(0, dtype=np.int64)
    out = np.zeros(at.SIZE)
    found.field.python(t, np.concatenate([q, v]), numbers, none, np.zeros((1, 1)), out)
    return out[at.GAP : at.ROWS], out[at.ROWS : at.RATE].reshape(m, len(v)), out[at.RATE : at.BIAS]


def _checked_rows(found: Derivatives, t: float, q: Array, v: Array, numbers: Array, m: int) -> Array:
    """Φ (m, n) at the start; ValueError if q, v do not satisfy the constraints."""
    gap, rows, rate = _rows_at(found, t, q, v, numbers, m)
    closing = rows @ v + rate
    for name, values, of in (("q", gap, q), ("v", closing, v)):
        size = np.linalg.norm(rows, axis=1) * np.linalg.norm(of)
        allowed = np.clip(TOLERANCE * size, LEAST, TOLERANCE) + ROUNDED * size
        if not (np.abs(values) <= allowed).all():
            k = int(np.argmax(np.abs(values) / allowed))
            what = "c" if name == "q" else "its rate"
            raise ValueError(
                f"{name}: constraint {k} is not satisfied at t = {t:g}, {what} = {values[k]:.3g}; expected 0 within "
                f"{allowed[k]:.3g}"
            )
    if np.linalg.matrix_rank(rows) < m:
        raise ValueError(
            f"constraints: the {m} rows of Φ are dependent at the start; leave out those that follow from the others"
        )
    return rows
