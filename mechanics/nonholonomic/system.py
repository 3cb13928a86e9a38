"""A nonholonomic system: one configuration group, linear rows A(q) v = c, and two ways to write its motion.

==============  ===================================================================================================
reduced         state (q, u): quasi-velocities u of the distribution, v = S(q) u + s(q).  The rows hold identically; any
                Lie-group Runge–Kutta method applies
constrained     state (q, v): full body velocities, M, A and forces as parts; for the methods that work with multipliers
==============  ===================================================================================================

Both have the same configuration, parameters and invariants, and are tested against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Doubt, Guard, Problem, Variable
from integrators.problem.ambient import state_units
from integrators.problem.energy import watched, with_energy_guard
from integrators.problem.inputs import Inputs
from integrators.problem.multipliers import work_rows
from integrators.problem.parts import constrained as constrained_layout
from integrators.problem.parts import quasi_velocity as quasi_velocity_layout
from integrators.problem.problem import group_table
from integrators.problem.times import begins_at
from liegroup.arrays import real, reals, spread
from liegroup.table import FACTORS, RN
from mechanics.nonholonomic.forms import Forms

Array = NDArray[np.float64]
TOLERANCE, ROUNDED = 1e-10, 1e-14
"""Largest residual of A v = c, relative to |A||v|, of a state that is accepted; more by the second part of |A| times
|v|, each in units in which masses are of size one, as a zero among the components of A may be rounding (sin π).
"""
DRIFTED, OFF, LOOKED = 1e-6, 1e-4, 9
"""The same of positions from which the reduced form starts, which methods of fields let drift by their errors; of all
that is looked at of a run, which has begun so, if it never comes nearer; how many states are.
"""
EDGE = 1e-3
"""Part of its value at the start at which a number that vanishes where a frame ends counts as zero."""
FRAME = "frame"
"""Where inputs may stand (`Inputs.rates`) that the form with multipliers does not read."""
RANK_TOLERANCE = 1e-10
"""Rows count as dependent if the smallest eigenvalue of their scaled Gram matrix A M⁻¹Aᵀ is below this."""


class ConstraintError(ValueError):
    """A state that violates the constraints, or a configuration where they lose rank.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> sleigh = SYSTEMS["chaplygin-sleigh"].make()
    >>> try:
    ...     sleigh.constrained_problem(v=[0.0, 1.0, 0.0])
    ... except ConstraintError as error:
    ...     print("violates constraint row 0" in str(error))
    True
    """


class Parts(NamedTuple):
    """The parts of the equations with multipliers at one state (see `integrators.problem.parts`)."""

    mass: Array
    rows: Array
    gradient: Array
    force: Array
    kinetic: Array
    rate: Array
    value: Array
    bias: Array
    position: Array
    potential: float


@dataclass(frozen=True, eq=False)
class NonholonomicSystem:
    """A configuration group, its constraint rows, and the motion in quasi-velocities and with multipliers.

    Parameters
    ----------
    model : str
    group : int64 array (factors, 5)
        The configuration; see `liegroup.table.table_of`.
    variables : sequence of Variable
        Names of the configuration's parts.
    velocities, quasi_velocities : Variable
        Names and units of v (n numbers) and u (n − m numbers, or n, of which v is the nearest admissible velocity).
    rows : int, optional
        m, where u has n numbers.
    positions : int
        How many of the rows (the last ones) are rates of positions φ(q) that vanish.
    reduced, constrained : Forms
        Field, invariants and parts on (q, u) and on (q, v).
    parameters, extra : sequence of numbers
        Numbers, and integers behind (n, m, k) in `Problem.structure`.
    q0, u0 : array
        The start.
    invariant_names, invariant_units : sequence of str
    scratch : int
        Rows of workspace that the parts need for themselves.
    conservative : bool
        The invariants do not change; False where forces do work.
    reversal : callable, optional
        ``reversal(y)`` → ρ y for states (…, n) of the reduced form, with f(ρ y) = −ρ f(y); None if there is none.
    exact : callable, optional
        Reduced state at time t for the start (q0, u0).
    lift : callable, optional
        ``lift(q, u)`` → S(q) u + s(q) on numbers of any kind, if the reduced field cannot be evaluated on them.
    edges : sequence of str
        Names of the last invariants of the reduced form, which vanish where its frame ends and are guarded.
    scene : Scene or callable, optional
        How it is drawn, from states that begin with q (see `Problem.scene`).
    inputs : Inputs or mapping of str to int, optional
        Parameters that are given from outside, as of a `Problem`; the energy is then not expected to be kept.
    t : float
        Time of the start, s: where the rows or what they are to give depend on the time, a run from it begins there.
    autonomous : bool, optional
        Whether the motion does not depend on the time (see `Problem.autonomous`).

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> sleigh = SYSTEMS["chaplygin-sleigh"].make()
    >>> sleigh.n, sleigh.m, sleigh.r
    (3, 1, 2)
    >>> v = sleigh.velocity(sleigh.q0, [1.0, 0.5])
    >>> bool(abs(sleigh.residual(sleigh.q0, v)).max() < 1e-15), sleigh.quasi_velocity(sleigh.q0, v).tolist()
    (True, [1.0, 0.5])
    >>> sleigh.with_start(sleigh.q0, [1.0, 0.0]).problem().y0.shape
    (5,)
    """

    model: str
    group: NDArray[np.int64]
    variables: Sequence[Variable]
    velocities: Variable
    quasi_velocities: Variable
    reduced: Forms
    constrained: Forms
    parameters: Any
    q0: Any
    u0: Any
    positions: int = 0
    extra: Sequence[int] = ()
    invariant_names: Sequence[str] = ("energy",)
    invariant_units: Sequence[str] = ("J",)
    scratch: int = 0
    conservative: bool = True
    reversal: Callable[[Array], Array] | None = None
    exact: Callable[[Any], Array] | None = None
    lift: Callable[[Any, Any], Array] | None = None
    rows: int | None = None
    edges: Sequence[str] = ()
    scene: Any = None
    inputs: Any = None
    t: float = 0.0
    autonomous: bool | None = None
    structure: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "group", group_table(self.group))
        for name in ("parameters", "q0", "u0"):
            object.__setattr__(self, name, reals(getattr(self, name), name))
        object.__setattr__(self, "structure", np.array([self.n, self.m, self.positions, *self.extra], dtype=np.int64))

    @property
    def n(self) -> int:
        """Components of the velocity v."""
        return int(self.group[:, 4].sum())

    @property
    def n_q(self) -> int:
        """Components of the configuration."""
        return int(self.group[:, 3].sum())

    @property
    def r(self) -> int:
        """Quasi-velocities: as many as the distribution has dimensions, or n."""
        return self.quasi_velocities.size

    @property
    def m(self) -> int:
        """Constraint rows."""
        return self.n - self.r if self.rows is None else self.rows

    def problem(self, q: ArrayLike | None = None, u: ArrayLike | None = None) -> Problem:
        """The reduced form, from the configuration q and the quasi-velocities u (default: the system's own start).

        Parameters
        ----------
        q : array (n_q,), optional
            Configuration, SI units.
        u : array (r,), optional
            Quasi-velocities, SI units.

        Returns
        -------
        Problem
            State (q, u).

        Raises
        ------
        ConstraintError
            q violates position constraints, or u, where it has n numbers, the rows; ValueError for wrong shapes.
        """
        posed = self._reduced(q, u)
        if q is not None or u is not None:
            start = np.asarray(posed.y0, float)
            self._check_start(start[: self.n_q], start[self.n_q :])
            return posed
        n = self.n
        return replace(posed, begins=begins_at(lambda t: posed.velocity(t, posed.y0)[:n], self.t))

    def _reduced(self, q: ArrayLike | None = None, u: ArrayLike | None = None) -> Problem:
        start = q is None and u is None
        y0 = np.concatenate([_given(q, self.q0, self.n_q, "q"), _given(u, self.u0, self.r, "u")])
        forms, layout, rows = self.reduced, "" if self.reduced.parts is None else "quasi_velocity", 0
        if self.r == self.n:  # (q, u) is (q, v): the rows are looked at, at the start and where a run fails
            forms, layout = forms._replace(parts=self.constrained.parts), "constrained"
            rows = work_rows(self.n, self.m)
        columns = max(
            quasi_velocity_layout(self.n, self.r).SIZE, constrained_layout(self.n, self.m, self.positions).SIZE
        )
        work = (1 + rows + self.scratch, columns)
        exact = self.exact if start else None
        posed = self._problem(forms, y0, self.r, self.quasi_velocities, layout, work, exact, self.edges)
        if self.positions:
            bare = replace(self, exact=None, lift=None, reversal=None)  # plain functions cannot be sent to processes
            posed = replace(posed, doubts=bare._off_positions)
        return with_energy_guard(guarded_edges(posed, self.edges) if self.edges else posed, self._keeps_energy)

    def constrained_problem(
        self, q: ArrayLike | None = None, v: ArrayLike | None = None, *, project: bool = False, t: float | None = None
    ) -> Problem:
        """The form with multipliers, from the configuration q and the full velocity v.

        Parameters
        ----------
        q : array (n_q,), optional
            Configuration, SI units; default that of the start.
        v : array (n,), optional
            Body velocity, SI units; default that of the start.
        project : bool
            Whether the velocity is replaced by the nearest admissible one in the metric M (`project_velocity` says what
            energy that takes).
        t : float
            Time at which runs are to begin, s: the velocity is asked for admissibility there; default that of the
            start.

        Returns
        -------
        Problem
            State (q, v), with M, A and forces as its parts.

        Raises
        ------
        ConstraintError
            A(q) v = c does not hold to `TOLERANCE`, and `project` is False; the rows lose rank.
        """
        q, t = _given(q, self.q0, self.n_q, "q"), self.t if t is None else real(t, "t")
        v = self.velocity(q, self.u0, t) if v is None else _given(v, None, self.n, "v")
        v = self.project_velocity(q, v, t)[0] if project else v
        self.check(q, v, t)

        def violation(s: float) -> Array:
            p = self.parts(q, v, s)
            return np.asarray((p.rows @ v - p.value) / _scale(p, v))

        return replace(self._unchecked(q, v), begins=begins_at(violation, t, 1.0, TOLERANCE))

    def _unchecked(self, q: Array, v: Array) -> Problem:
        work = (1 + work_rows(self.n, self.m) + self.scratch, constrained_layout(self.n, self.m, self.positions).SIZE)
        posed = self._problem(
            self.constrained, np.concatenate([q, v]), self.n, self.velocities, "constrained", work, None
        )
        return with_energy_guard(posed, self._keeps_energy)

    def _problem(
        self,
        forms: Forms,
        y0: Array,
        size: int,
        last: Variable,
        layout: str,
        work: tuple[int, int],
        exact: Callable[[Any], Array] | None,
        edges: Sequence[str] = (),
        scaled: bool = True,
    ) -> Problem:
        return Problem(
            group=np.vstack([self.group, [RN, self.n_q, self.n, size, size]]),
            y0=y0,
            field=forms.field,
            parameters=self.parameters,
            structure=self.structure,
            work_shape=work,
            variables=(*self.variables, last),
            invariants=forms.invariants,
            invariant_names=(*self.invariant_names, *edges),
            invariant_units=(*self.invariant_units, *("" for _ in edges)),
            projection=forms.projection,
            parts=forms.parts,
            parts_layout=layout,
            exact=exact,
            model=self.model,
            scales=self._scales_of(last) if scaled else np.ones(len(y0)),
            scene=self.scene,
            inputs=_without_frame(self.inputs) if forms is self.constrained else self.inputs,
            autonomous=self.autonomous,
        )

    @cached_property
    def _scales(self) -> tuple[Array, float]:
        """What counts as one in v, and of lengths: the greatest radius of gyration at the start.  Lengths are shifts of
        SE(2) and SE(3), and what is in metres; turns are those of groups, and what is in radians.
        """
        lengths, turns = (np.array([unit == of for unit in _units(self.velocities)]) for of in ("m/s", "rad/s"))
        for kind, _, first, _, n_v in self.group.tolist():
            f = FACTORS[kind]
            if not f.COMMUTATIVE:
                shifts = np.tile([place is not None for place in f.SIZES], n_v // f.N_V)
                lengths[first : first + n_v], turns[first : first + n_v] = shifts, ~shifts
        size = 1.0
        if lengths.any() and turns.any():
            n, state = self.n, np.concatenate([self.q0, np.zeros(self.n)])
            work = (1 + work_rows(n, self.m) + self.scratch, constrained_layout(n, self.m, self.positions).SIZE)
            plain = self._problem(self.constrained, state, n, self.velocities, "constrained", work, None, scaled=False)
            mass = np.diagonal(plain.parts_values(self.t, state)[: n * n].reshape(n, n))
            found = np.sqrt(mass[turns].max(initial=0.0) / (mass[lengths].max(initial=0.0) or np.inf))
            size = float(found) if np.isfinite(found) and found > 0.0 else 1.0
        return np.where(lengths, size, 1.0), size

    def _scales_of(self, last: Variable) -> Array:
        """What counts as one in the state (q, v), or (q, u): quasi-velocities in m/s, and those that are components of
        v, are as these.
        """
        of_v, size = self._scales
        known = dict(zip(self.velocities.labels, of_v, strict=True))
        units = zip(last.labels, _units(last), strict=True)
        of_u = [size if unit == "m/s" else known.get(label, 1.0) for label, unit in units]
        return np.concatenate([state_units(self.group, of_v), of_v if last.size == self.n else of_u])

    @property
    def _keeps_energy(self) -> bool:
        return self.conservative and not self.inputs

    def with_start(self, q: ArrayLike, u: ArrayLike) -> NonholonomicSystem:
        """The same system from another start (and without its exact solution, which belongs to the old one).

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        u : array (r,)
            Quasi-velocities, in the units of the system (SI).

        Returns
        -------
        NonholonomicSystem
            A copy.

        Raises
        ------
        ConstraintError
            q violates position constraints, or u, where it has n numbers, the rows; ValueError for wrong shapes.
        """
        q, u = _given(q, None, self.n_q, "q"), _given(u, None, self.r, "u")
        self._check_start(q, u)
        return replace(self, q0=q, u0=u, exact=None)

    # --- at one state -------------------------------------------------------------------------------------------------

    def velocity(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> Array:
        """The full velocity of quasi-velocities, v = S(q) u + s(q).

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        u : array (r,)
            Quasi-velocities, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        array (n,)
            Admissible.

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        problem = self._reduced_problem
        y = np.concatenate([_given(q, None, self.n_q, "q"), _given(u, None, self.r, "u")])
        return problem.velocity(t, y)[: self.n]

    def basis(self, q: ArrayLike, t: float = 0.0) -> Array:
        """S(q), (n, r): the columns span the admissible velocities.

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        array (n, r)
            S(q).

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        still = self.velocity(q, np.zeros(self.r), t)
        return np.stack([self.velocity(q, e, t) - still for e in np.eye(self.r)], axis=1)

    def quasi_velocity(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """u of an admissible velocity v (least squares if v is not admissible).

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        array (r,)
            u.

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        v = _given(v, None, self.n, "v")
        if self.r == self.n:
            return v
        still = self.velocity(q, np.zeros(self.r), t)
        return np.asarray(np.linalg.lstsq(self.basis(q, t), v - still, rcond=None)[0])

    def parts(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Parts:
        """M, A, forces … at the state (q, v).

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        Parts
            By name.

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        n, m = self.n, self.m
        y = np.concatenate([_given(q, None, self.n_q, "q"), _given(v, None, self.n, "v")])
        out = self._constrained_problem.parts_values(t, y)
        at = constrained_layout(n, m, self.positions)
        blocks = [out[start:end].copy() for start, end in pairwise(at)]
        mass, rows, *vectors, potential = blocks
        return Parts._make([mass.reshape(n, n), rows.reshape(m, n), *vectors, float(potential[0])])

    def multipliers(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """Accelerations and multipliers of the Lagrange–d'Alembert equations: M v̇ = f + Aᵀλ, A v̇ = −Ȧ v + ċ.

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        v_dot, multipliers : array (n,), (m,)
            λ is the force (or moment) of each row; rows that depend on each other give the λ of least norm.

        Raises
        ------
        ConstraintError
            The rows depend on each other and contradict.
        """
        p = self.parts(q, v, t)
        per = 1.0 / np.sqrt(p.mass.diagonal())  # in units in which masses and rows are of size one
        rows, right = p.rows * per, per * (p.force - p.gradient + p.kinetic - p.rate)
        size = np.linalg.norm(rows, axis=1)
        size = np.where(size > 0.0, size, 1.0)
        rows = rows / size[:, None]
        kkt = np.block([[p.mass * np.outer(per, per), -rows.T], [rows, np.zeros((self.m, self.m))]])
        right = np.concatenate([right, -p.bias / size])
        x, *_ = np.linalg.lstsq(kkt, right, rcond=RANK_TOLERANCE)
        if np.abs(kkt @ x - right).max() > 1e-8 * max(np.abs(x).max(), np.abs(right).max()):
            raise ConstraintError(
                f"{self.model}: at q = {np.asarray(q)} the constraint rows depend on each other and contradict"
            )
        multipliers, (turned, sizes, _) = x[self.n :] / size, np.linalg.svd(rows)
        idle = turned[:, sizes <= RANK_TOLERANCE * sizes[0]] / size[:, None]  # λ that make no force
        multipliers = multipliers - idle @ np.linalg.lstsq(idle, multipliers, rcond=None)[0]
        return per * x[: self.n], multipliers

    def residual(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """What of the constraints does not hold, A(q) v − c, one number per row.

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        array (m,)
            In the units of the rows.

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        p = self.parts(q, v, t)
        return np.asarray(p.rows @ np.asarray(v, float) - p.value)

    def rank_margin(self, q: ArrayLike, t: float = 0.0) -> float:
        """Smallest over largest eigenvalue of A M⁻¹Aᵀ with rows scaled to one: 0 where the rows depend on each
        other.

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        ValueError
            Wrong shapes.
        """
        p = self.parts(q, np.zeros(self.n), t)
        gram = p.rows @ np.linalg.solve(p.mass, p.rows.T)
        scale = np.sqrt(np.diag(gram))
        if (scale == 0).any():
            return 0.0
        values = np.linalg.eigvalsh(gram / np.outer(scale, scale))
        return float(max(values[0], 0.0) / values[-1])

    def project_velocity(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, float]:
        """The admissible velocity nearest to v in the metric M, and the kinetic energy the projection takes away.

        min ½ (w − v)ᵀM (w − v) with A w = c; for c = 0 the loss is ½ δᵀ(A M⁻¹Aᵀ)⁻¹ δ with δ = A v.

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Returns
        -------
        w : array (n,)
            Admissible.
        loss : float
            J.

        Raises
        ------
        ConstraintError
            The state violates the constraints, or they lose rank there; ValueError for wrong shapes.
        """
        self._check_rank(q, t)
        p, v = self.parts(q, v, t), np.asarray(v, float)
        y = np.linalg.solve(p.mass, p.rows.T)
        w = v - y @ np.linalg.solve(p.rows @ y, p.rows @ v - p.value)
        return w, float(0.5 * v @ p.mass @ v - 0.5 * w @ p.mass @ w)

    def check(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> None:
        """Whether A v = c and φ = 0 hold and the rows are independent at (q, v).

        Parameters
        ----------
        q : array (n_q,)
            Configuration, in the units of the system (SI).
        v : array (n,)
            Body velocity, in the units of the system (SI).
        t : float
            Time, s.

        Raises
        ------
        ConstraintError
            The state violates the constraints, or they lose rank there; ValueError for wrong shapes.
        """
        self._check_rank(q, t)
        p = self.parts(q, v, t)
        self._check_velocity(p, np.asarray(v, float), ", or ask for the projection with project=True")
        self._check_position(p, np.asarray(q, float), TOLERANCE)

    def _check_velocity(self, p: Parts, v: Array, or_else: str = "") -> None:
        residual = p.rows @ v - p.value
        scale = _scale(p, v)
        if (np.abs(residual) > TOLERANCE * scale).any():
            worst = int(np.argmax(np.abs(residual) / scale))
            raise ConstraintError(
                f"{self.model}: the velocity violates constraint row {worst} by {residual[worst]:.3g} (all rows: "
                f"{residual}); start from an admissible velocity (velocity(q, u) makes one){or_else}"
            )

    def _check_position(self, p: Parts, q: Array, tolerance: float) -> None:
        if self.positions and np.abs(p.position).max() > tolerance * (1.0 + np.abs(q).max()):
            raise ConstraintError(
                f"{self.model}: the configuration violates its position constraints by {p.position}; correct q"
            )

    def _check_start(self, q: Array, u: Array) -> None:
        """ConstraintError for a start of the reduced form that violates positions, or, where u are all components of
        the velocity, the rows: from there the motion would go on as if they held.
        """
        if not self.positions and self.r < self.n:
            return
        v = self.velocity(q, u, self.t) if self.r < self.n else u
        p = self.parts(q, v, self.t)
        if self.r == self.n:
            self._check_velocity(p, v)
        self._check_position(p, q, DRIFTED)

    def _off_positions(self, t: Array, y: Array, parameters: Array | None = None) -> list[Doubt]:
        """A doubt where states of the reduced form, which knows no positions, are off them all along: so they began.
        Nothing where the parameters of the problem, which need not be those of the system, are not given.
        """
        if parameters is None:
            return []
        system, looked = replace(self, parameters=parameters), spread(len(t), LOOKED)
        states = [(float(t[k]), y[k, : self.n_q]) for k in looked]
        off = [system.parts(q, np.zeros(self.n), s).position / (1.0 + np.abs(q).max()) for s, q in states]
        least = float(np.min(np.abs(off).max(axis=1)))
        if not least > OFF:
            return []
        says = "the configuration violates its position constraints from the start on"
        return [Doubt("start", float(t[0]), least, OFF, says, "correct q in y0, or start from problem(q, u)")]

    def _check_rank(self, q: ArrayLike, t: float) -> None:
        if not self.rank_margin(q, t) > RANK_TOLERANCE:
            raise ConstraintError(
                f"{self.model}: at q = {np.array2string(np.asarray(q, float), precision=6)} the constraint rows lose "
                "rank; "
                f"start elsewhere, or leave out the dependent row"
            )

    @cached_property
    def _reduced_problem(self) -> Problem:
        return self._reduced()

    @cached_property
    def _constrained_problem(self) -> Problem:
        return self._unchecked(self.q0, np.zeros(self.n))


def _units(variable: Variable) -> list[str]:
    """The unit of each component; nothing where none is said."""
    units = [unit.strip() for unit in variable.units.split(",")]
    return units if len(units) == variable.size else units[:1] * variable.size


def _without_frame(inputs: Any) -> Any:
    """The inputs of the form with multipliers."""
    if not isinstance(inputs, Inputs):
        return inputs
    return replace(inputs, rates={name: where for name, where in inputs.rates.items() if where != FRAME})


def guarded_edges(problem: Problem, edges: Sequence[str]) -> Problem:
    """The problem with the guards of invariants `edges`, which keep the sign that they start with."""
    start = watched(problem, np.asarray(problem.y0))
    guards = []
    for name in edges:
        value = float(start[problem.invariant_names.index(name)])
        least, greatest = (EDGE * value, np.inf) if value > 0.0 else (-np.inf, EDGE * value)
        says, remedy = "the quasi-velocities end where it vanishes", "use constrained_problem(), which goes on"
        guards.append(Guard(name, says, remedy, least, greatest))
    return replace(problem, guards=(*problem.guards, *guards))


def _scale(p: Parts, v: Array) -> Array:
    """What a violation of each row is compared with, in its units."""
    per = np.sqrt(p.mass.diagonal())
    whole = np.linalg.norm(p.rows / per, axis=1) * np.linalg.norm(per * v)
    own = np.abs(p.rows) @ np.abs(v) + np.abs(p.value)
    return np.asarray(np.maximum(own + ROUNDED / TOLERANCE * whole, 1e-3))


def _given(value: ArrayLike | None, default: Any, size: int, name: str) -> Array:
    array = reals(default if value is None else value, name)
    if array.shape != (size,):
        raise ValueError(f"{name}: shape {array.shape}, expected ({size},)")
    if not np.isfinite(array).all():
        raise ValueError(f"{name}: component {int(np.argwhere(~np.isfinite(array))[0, 0])} is not finite")
    return array
