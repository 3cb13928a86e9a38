r"""A nonholonomic system written once, as plain functions of scalars: its fields and kernels come from tracing.

Of kinetic energy T = ½ vᵀM(q) v, potential V, rows A v = c and forces F the parts of the equations are derived
(`mechanics.nonholonomic.notes`), and both forms of the motion written as straight-line code, for one trajectory, for
lanes, and for numbers of other kinds:

============  =====================================================================================================
constrained   state (q, v), with multipliers
reduced       state (q, u) with v = S(q) u, where a frame S is given, or where m columns of A are numbers, so that the
              velocities that belong to them follow from the others; else u are n numbers, v is the admissible velocity
              nearest to them in the metric M, and u is made equal to v after every step
============  =====================================================================================================

With a frame whose SᵀM S = diag(μ) does not change the reduced form has parts, too (layout `QuasiVelocity`).

m dependent velocities that are chosen once fail where their block of A turns singular, and not every system has n − m
smooth fields that span its admissible velocities; the nearest admissible velocity is smooth wherever the rows are
independent.

All systems of the package are written so but three, whose kernels by hand are the ruler: the rolling disk in angles,
the convex body on a plane (`rolling_body`, one source of five systems) and the ball in a cylinder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Variable
from integrators.problem.field_source import field_source
from integrators.problem.inputs import as_inputs
from integrators.problem.multipliers import (
    admissible_energy,
    admissible_field,
    admissible_state,
    constrained_energy,
    constrained_field,
    work_rows,
)
from integrators.problem.parts import constrained, quasi_velocity
from liegroup.arrays import real, reals
from liegroup.compile.generated import module_of
from liegroup.compile.tracing import IMPORTS, Graph
from mechanics.nonholonomic.contradictions import check_functions
from mechanics.nonholonomic.forms import Forms
from mechanics.nonholonomic.notes import Derived, Function, derive, inputs, written
from mechanics.nonholonomic.projected import FRAME_ROWS, lift, projected_energy, projected_field
from mechanics.nonholonomic.quasi_velocity import quasi_velocity_energy, quasi_velocity_field
from mechanics.nonholonomic.rates import with_rates
from mechanics.nonholonomic.system import NonholonomicSystem

_HEADER = f'''"""The equations of one nonholonomic system: written by mechanics.nonholonomic.written."""

from integrators.signatures import FIELD_SIGNATURES
{IMPORTS}'''


@dataclass(frozen=True, eq=False)
class Functions:
    """The functions of a system; all take the parameters as one more argument, the last, if `parameters` is a number.

    Parameters
    ----------
    group : int64 array (factors, 5)
        The configuration group; velocities are body velocities.
    mass : callable
        The kinetic energy ``T(q, v)``, quadratic in v, or its matrix ``M(q)`` → (n, n).
    rows : callable
        ``A(q)`` or ``A(t, q)`` → (m, n).
    potential, force, value, position : callable, optional
        ``V(q)``; ``F(t, q, v)`` → n; ``c(t, q)`` → m; ``φ(q)`` → k numbers, whose rates are the last k rows.
    frame : callable, optional
        ``S(q)`` → (n, r) with A S = 0, where c = 0.
    metric : callable, optional
        ``μ()`` → r numbers (of the parameters): the frame has SᵀM S = diag(μ).
    gyro : callable, optional
        ``g(q, u)`` → r numbers, where Sᵀ(D − Ṁ v + ad_vᵀ(M v) − M Ṡ u) has a shorter form, with a metric.
    invariants : mapping name → callable
        Numbers ``f(q, v)`` besides the energy.
    edges : mapping name → callable
        Numbers ``e(q)`` that vanish where the frame ends: the reduced form watches them, and a run in which one loses
        its sign is doubtful.
    parameters : int, optional
        How many parameters there are; None: the functions take none.

    Raises
    ------
    ValueError
        A frame beside a value c, a metric without a frame, or values of the wrong shape.
    TypeError
        A function that cannot be traced, by name, and what to do.
    """

    group: NDArray[np.int64]
    mass: Callable[..., Any]
    rows: Callable[..., Any]
    potential: Callable[..., Any] | None = None
    force: Callable[..., Any] | None = None
    value: Callable[..., Any] | None = None
    position: Callable[..., Any] | None = None
    frame: Callable[..., Any] | None = None
    metric: Callable[..., Any] | None = None
    gyro: Callable[..., Any] | None = None
    invariants: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    edges: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    parameters: int | None = None

    def __post_init__(self) -> None:
        if self.frame is not None and self.value is not None:
            raise ValueError(
                "frame: given beside value; v = S(q) u satisfies A v = c for c = 0 only; leave the frame out"
            )
        if self.metric is not None and self.frame is None:
            raise ValueError("metric: given without a frame, whose SᵀM S it is; give the frame, too")
        if self.edges and self.frame is None:
            raise ValueError("edges: given without a frame, which ends there; give the frame, too")
        if self.gyro is not None and self.metric is None:
            raise ValueError("gyro: given without a metric; give both, or none")

    @property
    def n(self) -> int:
        """Components of v."""
        return int(self.group[:, 4].sum())

    @property
    def n_q(self) -> int:
        """Components of q."""
        return int(self.group[:, 3].sum())

    @cached_property
    def derived(self) -> Derived:
        """The parts, the frame and the sizes."""
        return derive(self)

    @property
    def r(self) -> int:
        """Quasi-velocities u."""
        return self.n if self.derived.frame is None else self.n - self.derived.m

    @property
    def reduced(self) -> Forms:
        """The compiled functions on (q, u)."""
        made = self._module
        parts, projection = getattr(made, "reduced_parts", None), getattr(made, "projection", None)
        return Forms(made.reduced_field, made.reduced_invariants, parts, projection)

    @property
    def constrained(self) -> Forms:
        """The compiled functions on (q, v)."""
        made = self._module
        return Forms(made.constrained_field, made.constrained_invariants, made.constrained_parts)

    def system(
        self,
        model: str,
        velocities: Variable,
        quasi_velocities: Variable,
        invariant_units: Sequence[str] = (),
        **more: Any,
    ) -> NonholonomicSystem:
        """The system with these functions; `more` as for `NonholonomicSystem`, units of the invariants besides J.

        Raises
        ------
        ConstraintError, ValueError
            Functions that contradict each other at the start or beside it: a frame that violates the rows, a metric
            that is not SᵀM S, … (`mechanics.nonholonomic.contradictions`).
        """
        q, u, numbers = (reals(more[name], name) for name in ("q0", "u0", "parameters"))
        t, inputs = real(more.get("t", 0.0), "t"), as_inputs(more.get("inputs"), len(numbers))
        if not str(getattr(self.rows, "__module__", "")).startswith("mechanics.systems."):
            check_functions(self, q, u, numbers, model, t)
        more["inputs"] = with_rates(inputs, self, q, numbers, t) if len(inputs) else None
        return NonholonomicSystem(
            model=model,
            group=self.group,
            velocities=velocities,
            quasi_velocities=quasi_velocities,
            reduced=self.reduced,
            constrained=self.constrained,
            positions=self.derived.k,
            rows=self.derived.m,
            invariant_names=("energy", *self.invariants),
            invariant_units=("J", *(invariant_units or ("",) * len(self.invariants))),
            edges=tuple(self.edges),
            autonomous=self.autonomous,
            **more,
        )

    @cached_property
    def source(self) -> str:
        """The code of all of them."""
        return _HEADER + "".join(field_source(name, body) for name, body in self._bodies.items())

    @cached_property
    def _bodies(self) -> dict[str, list[str]]:
        """The lines of each of them."""
        return {name: _straight(self, *made) for name, made in plain(self).items()}

    @property
    def autonomous(self) -> bool | None:
        """Whether no line of the motion reads the time; None: not known."""
        moving = [self._bodies.get(name, []) for name in ("reduced_field", "constrained_field", "projection")]
        return not any(re.search(r"\bt\b", line) for body in moving for line in body)

    @cached_property
    def _module(self) -> Any:
        return module_of(self.source)


def _straight(functions: Functions, function: Function, state: int, size: int) -> list[str]:
    """The body of a function, run once on scalars that note what is done to them."""
    graph, (_, _, m, k, _) = Graph(), functions.derived
    n, r = functions.n, functions.r
    columns = max(constrained(n, m, k).SIZE, quasi_velocity(n, r).SIZE, n * r + n)
    work = np.full((work_height(n, m, r), columns), 0.0, dtype=object)
    out = np.full(size, 0.0, dtype=object)
    numbers = inputs(graph, "parameters[{}]", functions.parameters or 0)
    y = inputs(graph, "ld(y, {})", state)
    try:
        function(graph.input("t"), y, numbers, np.array([n, m, k]), work, out)
    except IndexError as error:
        raise ValueError(
            f"metric, gyro, invariants or edges: {error}; q has {functions.n_q} numbers, v {n}, u {r}, the parameters "
            f"{functions.parameters or 0}"
        ) from error
    return written(graph, list(out))


def work_height(n: int, m: int, r: int) -> int:
    """Rows of workspace for every kernel of `plain`."""
    return FRAME_ROWS + r + work_rows(n, m) + 2


def plain(functions: Functions) -> dict[str, tuple[Function, int, int]]:
    """Name → function in a field's signature, sizes of the state and of its values."""
    parts, frame, m, k, _ = functions.derived
    n, count = functions.n, 1 + len(functions.invariants)
    full, short = functions.n_q + n, functions.n_q + functions.r
    found = {
        "constrained_field": (made(constrained_field, parts), full, 2 * n),
        "constrained_invariants": (_invariants(functions, partial(constrained_energy, parts), None), full, count),
        "constrained_parts": (parts, full, constrained(n, m, k).SIZE),
    }
    if frame is None:
        own, state = (made(admissible_field, parts), partial(admissible_energy, parts)), made(admissible_state, parts)
        found["projection"] = (state, short, short)
    else:
        own = made(projected_field, parts, frame), partial(projected_energy, parts, frame)
        state = _lifted(functions)
    if functions.metric is not None:
        quasi = _quasi_velocity_parts(functions)
        own = made(quasi_velocity_field, quasi), partial(quasi_velocity_energy, quasi)
        found["reduced_parts"] = (quasi, short, quasi_velocity(n, functions.r).SIZE)
    found["reduced_field"] = (own[0], short, n + functions.r)
    watched = _invariants(functions, own[1], state, tuple(functions.edges.values()))
    found["reduced_invariants"] = (watched, short, count + len(functions.edges))
    return found


def made(function: Function, *of: Function) -> Function:
    """The function in a field's signature that a kernel makes of others."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        function(*of, t, y, parameters, structure, work, out)

    return field


def _lifted(functions: Functions) -> Function:
    """out = (q, S u)."""
    parts, frame = functions.derived.parts, functions.derived.frame

    def state(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        lift(parts, frame, t, y, parameters, structure, work)
        out[:] = work[2][: len(out)]

    return state


def _invariants(
    functions: Functions, energy: Function, state: Function | None, edges: Sequence[Callable[..., Any]] = ()
) -> Function:
    """The energy, the functions of (q, v) and the edges; `state` makes (q, v) of what the form has as its state."""
    n_q = functions.n_q

    def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        out[0] = energy(t, y, parameters, structure, work)
        full = y
        if state is not None:
            full = np.full(n_q + functions.n, 0.0, dtype=object)
            state(t, y, parameters, structure, work, full)
        own = () if functions.parameters is None else (parameters,)
        values = [f(full[:n_q], full[n_q:], *own) for f in functions.invariants.values()]
        out[1:] = [*values, *(f(full[:n_q], *own) for f in edges)]

    return invariants


def _quasi_velocity_parts(functions: Functions) -> Function:
    """The parts in the layout `QuasiVelocity`, g = Sᵀ(D − r − M Ṡ u) with r = Ṁ v − ad_vᵀ(M v)."""
    parts, frame, m, k, _ = functions.derived
    n, r, n_q = functions.n, functions.r, functions.n_q
    at, to = constrained(n, m, k), quasi_velocity(n, r)

    def quasi(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        lift(parts, frame, t, y, parameters, structure, work)
        own = () if functions.parameters is None else (parameters,)
        mass, basis = work[0][: n * n].reshape(n, n), work[1][: n * r].reshape(n, r)
        kinetic, rate, force = (work[0][start : start + n] for start in (at.KINETIC, at.RATE, at.FORCE))
        if functions.gyro is None:
            gyro = basis.T @ (kinetic - rate - mass @ work[1][n * r : n * r + n])
        else:
            gyro = functions.gyro(y[:n_q], y[n_q:], *own)
        out[to.BASIS : to.METRIC] = basis.ravel()
        out[to.METRIC : to.GYRO] = functions.metric(*own)  # type: ignore[misc]
        out[to.GYRO : to.FORCE] = gyro
        out[to.FORCE : to.GRADIENT] = basis.T @ force
        out[to.GRADIENT : to.POTENTIAL] = work[0][at.GRADIENT : at.GRADIENT + n]
        out[to.POTENTIAL] = work[0][at.POTENTIAL]

    return quasi
