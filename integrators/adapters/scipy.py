"""Our methods as solvers of `scipy.integrate.solve_ivp`: only ``method=`` changes.

    solve_ivp(fun, t_span, y0, method=LieRK45(groups=["SO3", 3]), rtol=1e-8, atol=1e-8)
    solve_ivp(fun, t_span, y0, method=GAUSS8, vectorized=True)

`fun` is the user's ordinary right-hand side ẏ = fun(t, y) in the numbers of y; `groups` says which of them are elements
of groups (`integrators.adapters.blocks.BLOCKS`), in order, with an integer n for n plain numbers.  The rate is pulled
back to the algebra, so that the state stays on the groups: quaternions of unit norm and rotation matrices that are
rotations, at every time that comes back. Events, `t_eval`, dense output, `args` and backward integration work as with
SciPy's own solvers.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import DenseOutput, OdeSolver, solve_ivp

from integrators.adapters.blocks import Block, Layout, find_blocks
from integrators.controllers import find_controller
from integrators.controllers.clock import MAX_STEP, H
from integrators.engine.adaptive_run import FINEST, AdaptiveRun, Steering, attainable
from integrators.engine.collect import coarse, collect
from integrators.engine.fixed_run import FixedRun, single_run
from integrators.engine.run import NEVER, Output, Plan, Run, check_steps
from integrators.engine.step_by_step import StepByStep
from integrators.layout import COUNTERS, PENDING
from integrators.method import Method, Reference
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.fields import as_field, reads_time
from integrators.problem.times import check_autonomous
from integrators.status import Status
from integrators.steppers.gauss_in_lanes import ROUNDING, energy_of, gauss_in_lanes_method
from liegroup.arrays import check_function, positive, real, reals
from liegroup.table import RN

Array = NDArray[np.float64]
_OF_OTHERS = ("jac", "jac_sparsity", "lband", "uband", "min_step")
"""Options of SciPy's implicit solvers."""
ROWS = 1000
"""States of fixed steps that are kept for the looks at the end."""


def lie_solver(method: str | Method, groups: Any, canonical: bool = False) -> type[LieSolver]:
    """A solver class for ``solve_ivp(…, method=…)``.

    Parameters
    ----------
    method : str or Method
        From the catalogue `integrators.methods`.  Methods with an error estimate take `rtol`, `atol`, `first_step`,
        `max_step` and `controller` as options of `solve_ivp`; with the option `step` every method takes fixed steps.
    groups : str, int, group or sequence of them
        What y consists of.
    canonical : bool
        The last block is Rⁿ and holds the body momenta of the groups before it: symplectic methods are then symplectic.

    Returns
    -------
    class
        For ``method=``; `LieRK23`, `LieRK45`, `LieDOP853` and `LieMidpoint` are short for four of them.

    Raises
    ------
    ValueError
        For a method or a group that does not exist.

    Examples
    --------
    A body that turns about z with 1 rad/s; its quaternion stays of unit norm:

    >>> import numpy as np
    >>> from scipy.integrate import solve_ivp
    >>> from integrators.adapters.scipy import lie_solver
    >>> def turning(t, q):
    ...     return 0.5 * np.array([-q[3], q[2], -q[1], q[0]])
    >>> solver = lie_solver("RKMK_DORMAND_PRINCE54", "SO3")
    >>> end = solve_ivp(turning, (0.0, 1.0), [1.0, 0.0, 0.0, 0.0], method=solver, rtol=1e-8).y[:, -1]
    >>> end.round(6).tolist(), bool(abs(np.linalg.norm(end) - 1.0) < 1e-15)
    ([0.877583, 0.0, 0.0, 0.479426], True)
    """
    chosen = find(method)
    if isinstance(chosen, Reference):
        raise ValueError(f"method: {chosen.name} is a solver of another library; expected a method of our own")
    blocks = find_blocks(groups)
    if not blocks:
        raise ValueError("groups: empty; name every part of y, for example ['SO3', 3]")
    name = f"{chosen.name} on {' × '.join(block.name for block in blocks)}"
    kind = DividingSolver if chosen.stepper.report else LieSolver
    return type(name, (kind,), {"lie_method": chosen, "blocks": blocks, "canonical": canonical, "__doc__": name})


class _OfGroups(OdeSolver):  # type: ignore[misc]
    """What `lie_solver` makes classes of, called with groups; `solve_ivp` is told so where it gets this itself."""

    of: str

    def __new__(cls, groups: Any = None, canonical: bool = False, /, *of_solve_ivp: Any, **options: Any) -> Any:
        own = {"groups": groups, "canonical": canonical, **options}  # `solve_ivp` may be given groups, too
        if own["groups"] is None or of_solve_ivp or len(own) > 2:
            raise TypeError(
                f"method: {cls.__name__} without groups; expected method={cls.__name__}(groups=…), which says what y "
                "consists of: groups=3 for three plain numbers, groups=['SO3', 3] for a quaternion and three"
            )
        return lie_solver(cls.of, **own)


def _of_groups(name: str, method: str) -> type[_OfGroups]:
    text = f"""{method} on groups, for ``solve_ivp(…, method={name}(groups=["SO3", 3]))``.

    Parameters
    ----------
    groups, canonical
        As of `lie_solver`.
    *of_solve_ivp, **options
        None: it is a solver only once it has its groups.

    Raises
    ------
    TypeError
        Without groups.

    Examples
    --------
    See `lie_solver`.
    """
    return type(name, (_OfGroups,), {"of": method, "__doc__": text, "__module__": __name__})


LieRK23 = _of_groups("LieRK23", "RKMK_BOGACKI_SHAMPINE32")
LieRK45 = _of_groups("LieRK45", "RKMK_DORMAND_PRINCE54")
LieDOP853 = _of_groups("LieDOP853", "RKMK_DOP853")
LieMidpoint = _of_groups("LieMidpoint", "MIDPOINT")
"""Solver classes by ``LieRK45(groups=…)``: the methods behind SciPy's RK23, RK45 and DOP853 on groups, and the
symplectic midpoint rule.
"""


class LieSolver(OdeSolver):  # type: ignore[misc]
    """What `lie_solver` makes classes of; see there.

    Parameters
    ----------
    fun, t0, y0, t_bound, vectorized
        As `solve_ivp` hands them to its solvers; y0 an array (n,).
    rtol, atol : float or array (dimension,), optional
        Relative and absolute tolerance of the error of a step in the algebra (default 1e-3 and 1e-6, as SciPy's):
        rotations count as of size 1, positions by their length; what is below rounding is raised to it, with a
        warning, as in `integrators.integrate`.
    first_step, max_step : float, optional
        As in `integrators.integrate`; a first step below the spacing of the times is raised to it, as SciPy does.
    controller : str or Controller, optional
        As in `integrators.integrate`; default "I", the rule of SciPy's own solvers, of implicit methods the one of
        `integrate`.
    step : float, optional
        Fixed steps of this size, or the next smaller one that divides the interval; none of the options above.
    **others
        The options of SciPy's implicit solvers have no effect, with SciPy's warning.

    Raises
    ------
    ValueError, TypeError
        A y0 that is not of the groups' sizes, tolerances out of range, fixed and variable steps together.

    Examples
    --------
    See `lie_solver`.
    """

    lie_method: Method
    blocks: tuple[Block, ...]
    canonical: bool
    y: Array

    def __init__(
        self,
        fun: Any,
        t0: float,
        y0: ArrayLike,
        t_bound: float,
        vectorized: bool = False,
        *,
        rtol: ArrayLike | None = None,
        atol: ArrayLike | None = None,
        first_step: float | None = None,
        max_step: float | None = None,
        controller: Any = None,
        step: float | None = None,
        **others: Any,
    ) -> None:
        _warn_of(others)
        if not math.isfinite(t0) or math.isnan(t_bound):
            raise ValueError(f"t_span: {(t0, t_bound)!r}, expected two numbers, of which the end may be infinite")
        super().__init__(fun, t0, y0, t_bound, vectorized, support_complex=False)
        self._layout = Layout(self.blocks)
        self._layout.check(self.y, "y0")
        self._start: tuple[float, Array, Array] | None = None
        if not self.n:  # nothing to integrate: all is done by `OdeSolver`
            return
        start = self._layout.element(self.y)
        problem = self._problem(fun, start)
        variable = {
            "rtol": rtol,
            "atol": atol,
            "first_step": first_step,
            "max_step": max_step,
            "controller": controller,
        }
        given = {name: value for name, value in variable.items() if value is not None}
        self._run: Run = self._fixed(problem, step, given) if step is not None else self._variable(problem, **given)
        self.y = self._layout.numbers(self._run.given(self._run.y))

    # --- the engine's run -----------------------------------------------------------------------------------------

    def _problem(self, fun: Any, start: Array) -> Problem:
        return Problem(self._layout, start, self._velocity, canonical=self.canonical, model="solve_ivp")

    def _velocity(self, t: float, q: Array) -> Array:
        if self._start is not None and t == self._start[0] and np.array_equal(q, self._start[1]):
            return self._start[2]
        rate = np.atleast_1d(reals(self.fun(t, self._layout.numbers(q)), "fun"))
        if rate.shape != (self.n,):
            raise ValueError(f"fun: shape {rate.shape} at t = {t:.9g}, expected ({self.n},): one rate for each of y0")
        velocity = self._layout.velocity(t, q, rate)
        if self._start is None:  # the search for a first step and the first step begin with the same evaluation
            self._start = t, q.copy(), velocity
        return velocity

    def _fixed(self, problem: Problem, step: float, given: dict[str, Any]) -> Run:
        if given:
            raise ValueError(
                f"{', '.join(given)}: options of variable steps, but step={step!r} asks for fixed ones; give one or "
                "the other"
            )
        step = positive(step, "step")
        check_steps((float(self.t), float(self.t_bound)), step)
        length = abs(self.t_bound - self.t)
        steps = NEVER if math.isinf(length) else max(1, math.ceil(length / step * (1.0 - 1e-12)))
        h = self.direction * (step if math.isinf(length) else length / steps)
        plan = Plan(self.t, h, steps, self.t_bound)
        every = NEVER if steps == NEVER else max(1, steps // ROWS)
        return single_run(problem, self.lie_method, Output(save_every=every), plan, np.asarray(problem.y0))

    def _variable(
        self,
        problem: Problem,
        rtol: ArrayLike = 1e-3,
        atol: ArrayLike = 1e-6,
        first_step: float | None = None,
        max_step: float = math.inf,
        controller: Any = None,
    ) -> Run:
        if not self.lie_method.is_adaptive:
            raise ValueError(
                f"{self.lie_method.name} has no error estimate: it takes fixed steps only; give solve_ivp the option "
                "step=…"
            )
        first_step, max_step = self._sizes(first_step, max_step)
        relative = _tolerance(rtol, "rtol", problem.dimension)
        if not ((relative >= 0) & (relative < 1)).all():
            raise ValueError(f"rtol: {rtol!r}, expected numbers from 0 to 1")
        absolute = _tolerance(atol, "atol", problem.dimension)
        if not ((absolute > 0) & (absolute < math.inf)).all():
            raise ValueError(f"atol: {atol!r}, expected positive numbers")
        if (relative < FINEST).any():
            warnings.warn(
                f"At least one element of `rtol` is too small. Setting `rtol = np.maximum(rtol, {FINEST})`.",
                stacklevel=6,
            )
        relative, absolute = attainable(problem, None, atol, relative, absolute, 4)
        usual = self.lie_method.with_variable_steps().stepper.controller or "I"
        chosen = find_controller(usual if controller is None else controller)
        chosen.check(self.lie_method, first_step, rtol, atol, max_step)
        steering = Steering(
            (float(self.t), float(self.t_bound)),
            chosen,
            relative,
            absolute,
            first_step,
            max_step,
            NEVER,
        )
        run = AdaptiveRun(problem, self.lie_method, Output(save_every=NEVER), steering, np.asarray(problem.y0))
        least = 10.0 * 2.0**-52 * abs(self.t)
        if abs(run.clock[H]) < least:
            run.clock[H], run.numbers[MAX_STEP] = self.direction * least, max(max_step, least)
        return run

    def _sizes(self, first_step: float | None, max_step: float) -> tuple[float | None, float]:
        """Of the first step and of any; ValueError if they make no sense."""
        max_step = real(max_step, "max_step", "a positive number", lambda h: h > 0)
        first_step = None if first_step is None else positive(first_step, "first_step")
        if first_step is not None and first_step > abs(self.t_bound - self.t):
            raise ValueError(
                f"first_step: {first_step!r} is longer than the interval of {abs(self.t_bound - self.t)!r}"
            )
        return first_step, max_step

    # --- what solve_ivp calls ---------------------------------------------------------------------------------------

    def _step_impl(self) -> tuple[bool, str | None]:
        run = self._run
        taken = run.steps_done
        while run.steps_done == taken and not run.done:
            run.go(1)
        if run.status is not Status.OK:
            return False, self._failure()
        if isinstance(run, AdaptiveRun):
            run.numbers[MAX_STEP] = run.steering.largest
        self.t = self.t_bound if run.done else run.t
        self.y = self._layout.numbers(run.given(run.y))
        if run.done and isinstance(run, FixedRun):
            self._look(run)
        return True, None

    def _look(self, run: FixedRun) -> None:
        """A RuntimeWarning for fixed steps that `integrate` doubts: SciPy knows success and failure alone."""
        counted: int = self.nfev  # type: ignore[has-type]
        doubts = collect(run.problem, self.lie_method, run.plan, [run], 0.0).doubts
        self.nfev = counted
        if doubts:
            warnings.warn(f"{self.lie_method.name}: doubtful {doubts[0]}", RuntimeWarning, stacklevel=5)

    def _failure(self) -> str:
        """Why the run has ended, as SciPy says it."""
        lost = self._run.status is Status.STEP_UNDERFLOW
        return f"{self.TOO_SMALL_STEP} {self._run.message}" if lost else self._run.message

    def _dense_output_impl(self) -> DenseOutput:
        return _Within(self)


class DividingSolver(LieSolver):
    """What `lie_solver` makes of a method that divides its steps by an estimate of its own, as `GAUSS8`.

    Parameters
    ----------
    fun, t0, y0, t_bound, vectorized
        As `solve_ivp` hands them to its solvers; y0 an array (n,).
    autonomous : bool, optional
        Whether fun does not depend on t; two times are compared.  Default: its source does not read it.  With
        ``vectorized=True``, plain numbers and such a fun, all stages of a step are evaluated in one call; else one
        after the other.
    **options
        rtol: largest estimate of the error of a step, relative to the largest size that the components of y have had so
        far (with `canonical`: to the energy at play); default, and at least: 1e-16; more is hardly cheaper.  atol:
        components count as at least of the size atol/rtol; default 0.  first_step, max_step: as `LieSolver`; steps are
        halved and doubled, and divided by 4096 at the most.  step: a fixed grid instead, whose steps are divided where
        that is necessary.

    Warns
    -----
    RuntimeWarning
        Once: fun jumps from one part of a step to the next, or a step divided to the limit has an estimate that is
        still above the tolerance; its error is not near rounding.

    Notes
    -----
    States within a step (`t_eval`, events, dense output) are as accurate as those at its end and each cost a step of
    the part.

    Examples
    --------
    See `lie_solver`.
    """

    def __init__(
        self, fun: Any, t0: float, y0: ArrayLike, t_bound: float, vectorized: bool = False, *,
        autonomous: bool | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self._steps: StepByStep | None = None
        self._doubted = False
        self._autonomous = autonomous
        super().__init__(fun, t0, y0, t_bound, vectorized, **options)

    def _problem(self, fun: Any, start: Array) -> Problem:
        autonomous = not reads_time(as_field(fun, "fun")) if self._autonomous is None else self._autonomous
        plain = all(block.kind == RN for block in self.blocks)
        problem = replace(super()._problem(fun, start), vectorized=self.vectorized and autonomous and plain)
        if self._autonomous:
            check_autonomous(problem, float(self.t), float(self.t_bound))
        return problem

    def _velocity(self, t: Any, q: Array) -> Array:
        if q.ndim == 1:
            return super()._velocity(t, q)
        self.nfev += len(q)
        return np.asarray(self.fun_vectorized(float(t[0]), q.T)).T

    def _variable(  # type: ignore[override]
        self,
        problem: Problem,
        rtol: float | None = None,
        atol: ArrayLike = 0.0,
        first_step: float | None = None,
        max_step: float = math.inf,
        controller: Any = None,
    ) -> Run:
        if controller is not None:
            raise ValueError(
                f"controller: {controller!r}, but {self.lie_method.name} divides its steps by its estimate"
            )
        first_step, max_step = self._sizes(first_step, max_step)
        relative = 0.0 if rtol is None else real(rtol, "rtol", "a number from 0 to 1", lambda x: 0 <= x < 1)
        relative = max(relative, ROUNDING)
        absolute = np.array(np.broadcast_to(_tolerance(atol, "atol", problem.dimension), problem.dimension))
        if not ((absolute >= 0) & (absolute < math.inf)).all():
            raise ValueError(f"atol: {atol!r}, expected non-negative numbers")
        tolerance = relative * (energy_of(problem, float(self.t)) if self.canonical else 1.0)
        tuned = relative > ROUNDING and tolerance > 0.0
        self._steps = StepByStep(
            problem,
            self.lie_method.tuned(tolerance) if tuned else self.lie_method,
            float(self.t),
            np.asarray(problem.y0),
            float(self.direction),
            first_step,
            min(max_step, abs(self.t_bound - self.t)),
            absolute / relative,
        )
        return self._steps.run

    def _step_impl(self) -> tuple[bool, str | None]:
        found = self._stepped()
        if not self._doubted and (doubts := coarse(self.lie_method.report(self._run.work))):
            self._doubted = True
            warnings.warn(f"{self.lie_method.name}: doubtful {doubts[0]}", RuntimeWarning, stacklevel=4)
        return found

    def _stepped(self) -> tuple[bool, str | None]:
        if self._steps is None:
            return super()._step_impl()
        self._steps.step(float(self.t_bound))
        run = self._run = self._steps.run
        if run.status is not Status.OK:
            return False, self._failure()
        self.t = self._steps.t
        self.y = self._layout.numbers(run.given(run.y))
        return True, None


class GAUSS8(DividingSolver):
    """The Gauss method of eight stages (order 16) on plain numbers: ``solve_ivp(…, method=GAUSS8)``, near rounding.

    Parameters
    ----------
    fun, t0, y0, t_bound, vectorized
        As `solve_ivp` hands them to its solvers; y0 an array (n,).
    **options
        As `DividingSolver`.

    Examples
    --------
    >>> from scipy.integrate import solve_ivp
    >>> from integrators.adapters.scipy import GAUSS8
    >>> end = solve_ivp(lambda t, y: [y[1], -y[0]], (0.0, 1.0), [1.0, 0.0], method=GAUSS8).y[:, -1]
    >>> bool(abs(end[0] - np.cos(1.0)) < 1e-14)
    True
    """

    lie_method, canonical = gauss_in_lanes_method(), False

    def __init__(
        self, fun: Any, t0: float, y0: ArrayLike, t_bound: float, vectorized: bool = False, **options: Any
    ) -> None:
        self.blocks = find_blocks(int(np.size(y0)))
        super().__init__(fun, t0, y0, t_bound, vectorized, **options)


def odeint(
    function: Callable[..., Any],
    y0: ArrayLike,
    t: ArrayLike,
    args: tuple[Any, ...] = (),
    *,
    method: Any = None,
    tfirst: bool = False,
    rtol: float | None = None,
    atol: ArrayLike | None = None,
    **options: Any,
) -> Array:
    """Called like `scipy.integrate.odeint`, with our methods: for packages that take such a function, as PyDy's
    ``System(…, ode_solver=odeint)`` does.

    Parameters
    ----------
    function : callable
        ``function(y, t, *args)`` → ẏ (n,); with `tfirst`, ``function(t, y, *args)``.
    y0 : array (n,)
        The state at ``t[0]``.
    t : array (k,)
        Times, one after the other in either direction; the same one may come again.
    args : tuple
        Further arguments of the function.
    method : solver of `solve_ivp`, optional
        Such as `GAUSS8`, or ``LieRK45(groups=["SO3", 3])``; default `LieDOP853` of plain numbers.
    tfirst : bool
        The order of the function's arguments.
    rtol, atol : float, optional
        Tolerances; default 1e-10, and none with fixed steps.
    **options
        Others of `solve_ivp`, such as ``step=…`` of fixed steps.

    Returns
    -------
    array (k, n)
        States at the times t.

    Raises
    ------
    RuntimeError
        The end was not reached: when, and why.
    ValueError, TypeError
        As `solve_ivp`; fewer than two times, or times in no order.

    Examples
    --------
    >>> end = odeint(lambda y, t: [y[1], -y[0]], [1.0, 0.0], [0.0, 1.0])[-1]
    >>> bool(abs(end[0] - np.cos(1.0)) < 1e-9)
    True
    """
    times, start = reals(t, "t"), np.atleast_1d(reals(y0, "y0"))
    if times.ndim != 1 or len(times) < 2:
        raise ValueError(f"t: shape {times.shape}, expected at least two times")
    onward = np.diff(times) * (-1.0 if times[-1] < times[0] else 1.0)
    if not (onward >= 0.0).all():
        k = int(np.argmin(onward >= 0.0))
        raise ValueError(f"t: {times[k + 1]:g} comes after {times[k]:g}, expected times that only grow, or only fall")
    again = np.cumsum(np.append(0, onward > 0.0))
    check_function(function, "function", "a function of (y, t, …)")
    rate = function if tfirst else lambda t, y, *more: function(y, t, *more)
    chosen = LieDOP853(groups=[len(start)]) if method is None else method
    default = 1e-10 if options.get("step") is None else None
    wanted = {name: default if given is None else given for name, given in (("rtol", rtol), ("atol", atol))}
    options |= {name: value for name, value in wanted.items() if value is not None}
    asked = times[np.append(True, onward > 0.0)]
    found = solve_ivp(rate, (times[0], times[-1]), start, method=chosen, t_eval=asked, args=args, **options)
    if not found.success:
        reached = found.t[-1] if len(found.t) else times[0]
        raise RuntimeError(f"odeint: stopped behind t = {reached:g} of {times[-1]:g}: {found.message}")
    return np.asarray(found.y.T[again])


class _Within(DenseOutput):  # type: ignore[misc]
    """States within the last step, by the method's continuous extension or by a step of the part; they are on the
    group, too.
    """

    def __init__(self, solver: LieSolver) -> None:
        super().__init__(solver.t_old, solver.t)
        run = solver._run
        self._layout, self._run = solver._layout, run
        self._start, self._turns, self._work = run.previous.copy(), run.turns.copy(), run.dense_work.copy()
        self._counters = np.zeros(COUNTERS, dtype=np.int64)
        self._counters[PENDING] = not run.method.has_own_interpolant

    def _call_impl(self, t: Any) -> Array:
        states = [self._state(float(s)) for s in np.ravel(t)]
        return np.array(states).T if np.ndim(t) else states[0]

    def _state(self, t: float) -> Array:
        y, run = self._start, self._run
        if t != self.t_old:
            y = run.state_within(self.t_old, t - self.t_old, y, self._work, self._counters)
        return self._layout.numbers(run.given(y, self._turns))


def _tolerance(value: ArrayLike, name: str, n: int) -> Array:
    """A tolerance: one number, or one per component of the velocity."""
    given = reals(value, name, f"a number or {n} of them")
    if given.shape not in ((), (n,)):
        raise ValueError(
            f"{name}: shape {given.shape}, expected one number or one per component of the velocity ({n},)"
        )
    return given


def _warn_of(others: dict[str, Any]) -> None:
    """TypeError for options that nobody knows, SciPy's warning for those of its implicit solvers."""
    if unknown := [name for name in others if name not in _OF_OTHERS]:
        raise TypeError(f"{', '.join(unknown)}: no option of these solvers; see integrators.adapters.scipy.LieSolver")
    if others:
        names = ", ".join(f"`{name}`" for name in others)
        warnings.warn(f"The following arguments have no effect for a chosen solver: {names}.", stacklevel=4)
