"""One step at a time, with inputs: for control loops, gyms and hardware in the loop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.engine.diagnosis import explained, explained_at_end
from integrators.engine.fixed_run import StagesRun, single_run
from integrators.engine.observe import is_finite
from integrators.engine.run import Output, Plan
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.problem.inputs import check_rates
from integrators.problem.jitted import raise_raised
from integrators.problem.signals import numbers
from integrators.problem.times import begin_of
from integrators.signatures import FIELD, FIELD_LANES, STEP, STEP_OF_STAGES
from integrators.status import DOUBTFUL, EXPLANATIONS, NON_FINITE, OK, Status
from integrators.step_derivatives import LinearisedStep, linearised_step
from integrators.step_derivatives.compiled import by_parameters_stepped
from integrators.step_derivatives.complex_step import by_parameters, controls_as_directions
from liegroup.arrays import of_kind, real, reals
from liegroup.compile import (
    Packed,
    entry,
    function_at,
    helper,
    integer,
    integer_table,
    integers,
    lane_matrix,
    matrix,
    record,
    vector,
)
from liegroup.compile import real as number
from liegroup.table import quaternions

Array = NDArray[np.float64]
BAD_INPUT, BAD_STATE, OPEN_STATE = -1, -2, -3
"""Of the compiled step alone: an input, or the state before the step, is not finite, or a quaternion is not unit; the
state before the step violates what the problem presupposes of every state.
"""
UNIT = 1e-9
_PLAIN, _FLOAT = (np.ndarray, list, tuple), np.dtype(np.float64)
_step_at, _field_at, _stages_at, _lanes_at = (function_at(x) for x in (STEP, FIELD, STEP_OF_STAGES, FIELD_LANES))


class StepError(ArithmeticError):
    """A step that failed.

    Attributes
    ----------
    status : Status
        Why.
    t, y, u
        Where it began, and its inputs.

    Examples
    --------
    >>> from integrators import StepError
    >>> issubclass(StepError, ArithmeticError)
    True
    """

    status: Status = Status.NON_FINITE
    t: float = 0.0
    y: Array = np.zeros(0)
    u: Array = np.zeros(0)


class Memory(NamedTuple):
    """What a step reads and where it works: addresses of stepper, field, projection and invariants; the places of the
    inputs among the parameters, those of quaternions in the state; the step, the time after the last one and whether
    it matters; the arrays of a run; the state after the last step; the places among the invariants of those that are
    looked at, and what they are at most; the workspace as it is at first, where a step would else remember the one
    before.
    """

    functions: Any
    places: Any
    quaternions: Any
    size: Any
    low: Any
    before: Any
    after: Any
    projected: Any
    values: Any
    most: Any
    looked_at: Any
    table: Any
    coefficients: Any
    options: Any
    parameters: Any
    structure: Any
    field_work: Any
    work: Any
    first_work: Any
    counters: Any
    step_work: Any


class MemoryOfStages(Memory):
    """The same of a method that evaluates its stages in lanes."""


def _types(kind: Any, step_work: Any) -> Any:
    head, tail = (integers, integers, integers, *(7 * [vector]), integers), (vector, integers, matrix, matrix)
    return record(kind, *head, integer_table, vector, integers, *tail, matrix, integers, step_work)


MEMORY, MEMORY_OF_STAGES = _types(Memory, matrix), _types(MemoryOfStages, lane_matrix)


@helper
def _is_beyond(memory: Any, t: Any, y: Any, told: Any) -> Any:
    """Whether y violates at t what the problem presupposes of every state: closed loops.  `told`: the projection has
    told the invariants.
    """
    if memory.most.shape[0] == 0:
        return False
    if not told:
        invariants = _field_at(memory.functions[3])
        invariants(t, y, memory.parameters, memory.structure, memory.field_work, memory.values)
    beyond = False
    for k in range(memory.most.shape[0]):
        if not memory.values[memory.looked_at[k]] <= memory.most[k]:
            beyond = True
    return beyond


@helper
def _has_passed(memory: Any, t: Any, y: Any) -> Any:
    """Whether y, and t where it matters, are those after the last step, which has been looked at."""
    same = not memory.size[2] or t == memory.size[1]
    for i in range(y.shape[0]):
        if y[i] != memory.after[i]:
            same = False
    return same


@helper
def _begin(memory: Any, t: Any, y: Any, u: Any) -> Any:
    """Inputs and state are checked and kept; nothing is remembered of steps before."""
    low, before, counters = memory.low, memory.before, memory.counters
    for k in range(memory.places.shape[0]):
        if u[k] - u[k] != 0.0:
            return BAD_INPUT
        memory.parameters[memory.places[k]] = u[k]
    if not is_finite(y):
        return BAD_STATE
    for k in range(memory.quaternions.shape[0]):
        i = memory.quaternions[k]
        square = y[i] * y[i] + y[i + 1] * y[i + 1] + y[i + 2] * y[i + 2] + y[i + 3] * y[i + 3]
        if not abs(square - 1.0) <= 2.0 * UNIT:
            return BAD_STATE
    if not _has_passed(memory, t, y) and _is_beyond(memory, t, y, False):
        return OPEN_STATE
    for i in range(y.shape[0]):
        before[i], low[i] = y[i], 0.0
    for i in range(counters.shape[0]):
        counters[i] = 0
    for i in range(memory.first_work.shape[0]):
        for k in range(memory.first_work.shape[1]):
            memory.work[i, k] = memory.first_work[i, k]
    return OK


GREATEST = 1e150
"""What a number of a state is below: squares of others, as in energies, are no numbers any more."""


@helper
def _end(memory: Any, t: Any, y: Any, status: Any) -> Any:
    """The state projected and looked at (finite, and so its energy; its loops closed); the state before where the step
    has failed.
    """
    n, told = y.shape[0], False
    if status == OK and memory.projected.shape[0]:
        project = _field_at(memory.functions[2])
        project(t, y, memory.parameters, memory.structure, memory.field_work, memory.projected)
        for i in range(n):
            y[i] = memory.projected[i]
        told = memory.projected.shape[0] > n
        for k in range(memory.projected.shape[0] - n):
            memory.values[k] = memory.projected[n + k]
    if status == OK:
        for i in range(y.shape[0]):
            if not abs(y[i]) < GREATEST:
                status = NON_FINITE
    if status == OK and _is_beyond(memory, t, y, told):
        status = DOUBTFUL
    for i in range(n):
        if status == OK:
            memory.after[i] = y[i]
        else:
            y[i] = memory.before[i]
    if status == OK:
        memory.size[1] = t
    return status


@entry(integer(MEMORY, number, vector, vector))
def take_step(memory: Any, t: Any, y: Any, u: Any) -> Any:
    """y <- the state one step after y at time t, with inputs u held; returns a status, and leaves y where it fails."""
    status, h = _begin(memory, t, y, u), memory.size[0]
    if status != OK:
        return status
    step, field = _step_at(memory.functions[0]), _field_at(memory.functions[1])
    status = step(
        field, t, h, y, memory.low, memory.table, memory.coefficients, memory.options, memory.parameters,
        memory.structure, memory.step_work, memory.work, memory.counters,
    )  # fmt: skip
    return _end(memory, t + h, y, status)


@entry(integer(MEMORY_OF_STAGES, number, vector, vector))
def take_step_of_stages(memory: Any, t: Any, y: Any, u: Any) -> Any:
    """The same by a method that evaluates its stages in lanes."""
    status, h = _begin(memory, t, y, u), memory.size[0]
    if status != OK:
        return status
    step, field = _stages_at(memory.functions[0]), _lanes_at(memory.functions[1])
    status = step(
        field, t, h, y, memory.low, memory.table, memory.coefficients, memory.options, memory.parameters,
        memory.structure, memory.step_work, memory.work, memory.counters,
    )  # fmt: skip
    return _end(memory, t + h, y, status)


def _floats(x: ArrayLike, name: str) -> Array:
    """Numbers of a loop, in the order of C: arrays and lists of floats as they are; all else is read, and named if it
    is none (NumPy would leave imaginary parts and masks out).
    """
    if type(x) in _PLAIN:
        try:
            found = np.array(x, order="C")
        except ValueError:  # rows of different lengths
            return reals(x, name)
        if found.dtype == _FLOAT:
            return found
    return reals(x, name)


class StepFunction:
    """One step of a method on a problem as a function, ``stepper(y, u)`` → the state after it; made by `stepper`.

    A step depends on nothing but its arguments: nothing is remembered of steps before.  It works in arrays of its own:
    calls from several threads wait for one another, and threads that are to step at once have a stepper each (as have
    copies, and processes that it is sent to).

    Parameters
    ----------
    problem : Problem
    method : Method
    step : float
        s, not 0.

    Attributes
    ----------
    names : tuple of str
        Of the inputs that u holds, in order.

    Raises
    ------
    ValueError, TypeError
        As from `stepper`.

    Examples
    --------
    See `stepper`.
    """

    def __init__(self, problem: Problem, method: Method, step: float) -> None:
        of_kind(problem, Problem, "problem", "a Problem")
        of_kind(method, Method, "method", "a Method of integrators.methods.METHODS")
        step = real(step, "step", "a finite number of seconds, not 0", lambda h: bool(np.isfinite(h)) and h != 0.0)
        if method.stepper.multistep:
            raise ValueError(f"method: {method.name} depends on steps before; name a one-step method, such as RKMK4")
        method.check(problem, begin_of(problem))
        self.problem, self.method, self.step = problem, method, step
        inputs = problem.inputs
        seen = {"rows", "value"} & {*method.stepper.follows, *(() if problem.projection is None else ("rows", "value"))}
        check_rates(problem.model, inputs, inputs.free, f"a step of {method.name}", sorted(seen))
        self._free = inputs.free
        self.names = tuple(inputs.names[k] for k in inputs.free)
        self._places = np.array([inputs.places[k] for k in inputs.free], dtype=np.int64)
        start = np.atleast_2d(problem.y0)[0]
        self._run = run = single_run(problem, method, Output(), Plan(0.0, step, 1), start)
        in_stages, n = isinstance(run, StagesRun), problem.n
        functions = [f.address for f in (run.step, run.field, run.projection, run.invariants)]
        self._looked_at = [guard for guard in problem.guards if max(guard.start, guard.greatest) < np.inf]
        indices = [problem.invariant_names.index(guard.name) for guard in self._looked_at]
        room = n + len(run.values) if problem.tells and self._looked_at else n
        remembers = method.stepper.report is not None
        kind = MemoryOfStages if in_stages else Memory
        self._memory = kind(
            np.array(functions, dtype=np.int64), self._places, np.array(quaternions(problem.table), dtype=np.int64),
            np.array([step, np.nan, not problem.is_autonomous]), np.zeros(n), np.zeros(n), np.full(n, np.nan),
            run.projected[:room], run.values, np.array([guard.greatest for guard in self._looked_at]),
            np.array(indices, dtype=np.int64), run.table, run.coefficients, run.options, run.parameters, run.structure,
            run.field_work, run.work,
            run.work.copy() if remembers else np.zeros((0, 0)), run.counters, run.step_work,
        )  # fmt: skip
        self._packed = Packed(self._memory)
        self._take = (take_step_of_stages if in_stages else take_step).compiled
        self._held = np.array([np.asarray(problem.parameters)[k] for k in self._places])
        self._n, self._m, self._shape, self._u_shape = n, len(self._free), (n,), (len(self._free),)
        self._needs_time = not problem.is_autonomous
        self._alone = RLock()  # a field in Python lets other threads in

    def __reduce__(self) -> tuple[Any, ...]:
        return StepFunction, (self.problem, self.method, self.step)

    def __repr__(self) -> str:
        u = f", u = ({', '.join(self.names)})" if self.names else ""
        return f"<StepFunction: {self.method.name} on {self.problem.model!r}, steps of {self.step:g}{u}>"

    def __call__(self, y: ArrayLike, u: ArrayLike | None = None, t: float | None = None) -> Array:
        """The state one step later.

        Parameters
        ----------
        y : array (n,) or (k, n)
            A state of the problem, or many, stepped one after the other.
        u : array (m,) or (k, m), optional
            Inputs, held over the step, in the order of `names`; default those of the problem.
        t : float, optional
            Time at the start, s; it may be left out where the problem does not depend on it.

        Returns
        -------
        array (n,) or (k, n)
            A new one.

        Raises
        ------
        StepError
            The step fails, or opens loops: with its status.
        ValueError
            Sizes that do not fit, numbers that are not finite, quaternions that are not unit, loops that are open; a
            problem that depends on a time that was left out.
        TypeError
            What is no real number; inputs by name.
        """
        if t is None:
            if self._needs_time:
                raise ValueError(f"t: the problem {self.problem.model!r} depends on the time; give stepper(y, u, t)")
            t = 0.0
        state = _floats(y, "y")
        if isinstance(u, Mapping):
            raise TypeError(f"u: {u!r}, expected numbers in the order of names, {', '.join(self.names) or 'none here'}")
        given = self._held if u is None else _floats(u, "u")
        if state.shape != self._shape or given.shape != self._u_shape:
            return self._many(y, u, t)
        with self._alone:
            try:
                status = self._take(self._packed, t, state, given)
            except TypeError:  # the compiler's, which knows no names
                if isinstance(t, (float, int)):
                    raise
                t = real(t, "t")
                status = self._take(self._packed, t, state, given)
            if status:
                self._explain(status, t, state, given)
        return state

    def _many(self, y: ArrayLike, u: ArrayLike | None, t: float) -> Array:
        """Many states, and whatever else is no one state with its inputs."""
        states = self.problem.check_state(y, "y")
        given = self._held if u is None else _floats(u, "u")
        if states.ndim == 1 or given.ndim != 2:
            given = np.array(self._numbers(given))
        elif given.shape != (len(states), self._m):
            raise ValueError(f"u: shape {given.shape}, expected ({len(states)}, {self._m}), inputs for every state")
        if states.ndim == 1:
            return self(states, given, t)
        rows = np.ascontiguousarray(np.broadcast_to(given, (len(states), self._m)))
        return np.array([self(one, row, t) for one, row in zip(states, rows, strict=True)])

    def _numbers(self, u: Array) -> list[float]:
        return numbers(u, self._free, self.problem.inputs) if self._m or np.size(u) else []

    def _explain(self, status: int, t: float, y: Array, u: Array) -> None:
        """Raise what is wrong."""
        self._run._raise_pending()
        raise_raised()
        if status == BAD_INPUT:
            self._numbers(u)
        self.problem.check_state(y, "y")
        if status == OPEN_STATE:
            raise ValueError(f"y: {self._violated()}")
        found = Status(status)
        said = [explained_at_end(self.problem, t, self.step, y, t)] if found is Status.NON_FINITE else [""]
        if not said[0]:
            said = [self.method.explain(self.problem, np.real(self._memory.work[0])), ""]
            if self.problem.explain is not None:
                said[1] = explained(self.problem, t, y, t)
        if found is Status.DOUBTFUL:
            said = [self._violated(), *said]
        more = "".join(f"; {x}" for x in said if x)
        inputs = ", ".join(f"{name} = {x:g}" for name, x in zip(self.names, u, strict=True))
        error = StepError(
            f"{self.problem.model}: a step of {self.method.name} from t = {t:g}: {found.name}: {EXPLANATIONS[found]}"
            f"{more}" + (f" (with {inputs})" if inputs else "")
        )
        error.status, error.t, error.y, error.u = found, t, y.copy(), u.copy()
        raise error

    def _violated(self) -> str:
        """What of the problem's guards the state that was looked at last violates."""
        names, units = self.problem.invariant_names, self.problem.invariant_units
        for guard in self._looked_at:
            k = names.index(guard.name)
            if not (value := self._memory.values[k]) <= guard.greatest:
                unit = f" {units[k]}" if units[k] else ""
                return f"{guard.says}: {guard.name} = {value:.3g}{unit}, at most {guard.greatest:.3g}; {guard.remedy}"
        return ""

    @property
    def compiled(self) -> tuple[Any, Packed]:
        """What loops of one's own, decorated with ``numba.njit``, call: ``(take, memory)`` with
        ``status = take(memory, t, y, u)``.

        It changes y (n,) in place, to the state one step later, if the status is 0 (`integrators.Status`); else y
        stays.  The loop gets `memory` as an argument, and both stay valid as long as this object; one loop at a time
        (`memory` is what a step works in; loops in threads have a stepper each).  -1: an input is not
        finite; -2: the state is not, or one of its quaternions is not unit; -3: its loops are open.
        """
        return self._take, self._packed

    def linearised(
        self, y: ArrayLike, u: ArrayLike | None = None, t: float | None = None, *, compiled: bool = False
    ) -> LinearisedStep:
        """The state one step later with its exact derivatives, A by the state and B by the inputs.

        Parameters
        ----------
        y : array (n,)
            A state.
        u : array (m,), optional
            Inputs, held over the step; default those of the problem.
        t : float, optional
            Time at the start, s.
        compiled : bool
            Where a step is differentiated by complex steps, compile it for them, as `linearised_step` does: seconds to
            half a minute for the first problem of a kind, kept on disk, then some thousand times as fast.

        Returns
        -------
        LinearisedStep
            `y`, `A`, `B`, `by_step`: see `integrators.step_derivatives.linearised_step`.

        Raises
        ------
        ValueError, ArithmeticError
            As from a step, and from `linearised_step` where there is nothing to compile.

        Notes
        -----
        In microseconds for "TREE_VARIATIONAL…" on trees whose only elements are motors without a force of their own; by
        complex steps of the interpreted step else (of the actuators of model files, too): exact as well, some
        hundredths of a second per direction unless `compiled`.
        """
        self(y, u, t)  # names what is wrong
        state, time = self.problem.check_state(y, "y"), 0.0 if t is None else t
        if state.ndim != 1:
            raise ValueError(f"y: shape {state.shape}, expected ({self._n},): one state")
        held, inputs = self._held if u is None else np.asarray(u, dtype=np.float64), self.problem.inputs
        pushes = [inputs.velocities[k] for k in self._free]
        own = self.method.stepper.own
        if own and f"{own}_tangent" in self.problem.own_steps and min(pushes, default=0) >= 0:
            return linearised_step(self._at_rest, self.method, state, self.step, held, pushes, time)
        directions = controls_as_directions(self.problem, self._places.tolist())
        differentiated = by_parameters_stepped if compiled else by_parameters
        end, J = differentiated(self._with(held), self.method, state, self.step, directions, time)
        n = self.problem.dimension
        return LinearisedStep(end, J[:, :n], J[:, n:-1], J[:, -1])

    @cached_property
    def _at_rest(self) -> Problem:
        return self._with(np.zeros(self._m))

    def _with(self, u: Array) -> Problem:
        parameters = np.array(self.problem.parameters, dtype=np.float64)
        parameters[self._places] = u
        return replace(self.problem, parameters=parameters)


def stepper(problem: Problem | Poses, method: str | Method, step: float) -> StepFunction:
    """One step of a method as a function of state and inputs, for loops of one's own.

    Parameters
    ----------
    problem : Problem, or what poses one
        Its inputs (`Problem.inputs`) that are not functions are the arguments u of a step.
    method : str or Method
        Of one step: multistep methods remember.
    step : float
        h, s; negative: backwards.

    Returns
    -------
    StepFunction
        ``y = step(y, u)``, ``step.linearised(y, u)``, and ``step.compiled`` for compiled loops.

    Raises
    ------
    ValueError, TypeError
        A method of another kind of problem, a multistep method, a solver of another library; a step that is zero or not
        finite.

    Examples
    --------
    A cart that a controller holds, ten times a second:

    >>> import numpy as np
    >>> from integrators import Problem, stepper
    >>> from liegroup import rn
    >>> cart = Problem(rn(2), [1.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[0.0], inputs={"force": 0})
    >>> step = stepper(cart, "RKMK4", 0.1)
    >>> step
    <StepFunction: RKMK4 on 'problem', steps of 0.1, u = (force)>
    >>> y = np.array([1.0, 0.0])
    >>> for _ in range(100):
    ...     y = step(y, [-y[0] - 2.0 * y[1]])
    >>> bool(abs(y).max() < 1e-3)
    True
    >>> step.linearised(y, [0.0]).B.round(6).tolist()
    [[0.005], [0.1]]
    """
    problem, chosen = pose(problem), find(method)
    if not isinstance(chosen, Method):
        raise TypeError(f"method: {chosen.name}, a solver of another library, takes no single steps; name another")
    return StepFunction(problem, chosen, step)
