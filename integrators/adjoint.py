"""Exact derivatives of whole runs: the discrete adjoint of a sequence of steps, with checkpoints.

A run is the map y_{k+1} = Φ(y_k, u_k, x) of a step, applied again and again; with A, B, C the exact derivatives of a
step by state, inputs and parameters (`integrators.step_derivatives`) and c_k the derivative of a loss by the state k,

    λ_N = c_N,    λ_k = c_k + A_kᵀ λ_{k+1},    ∂L/∂u_k = B_kᵀ λ_{k+1},    ∂L/∂x = Σ_k C_kᵀ λ_{k+1}

backwards over the run.  It is the gradient of the run as it was computed, not of the motion that it approximates: there
is no second integration with errors of its own.  States are kept at a few checkpoints and computed again in between, by
the schedule that needs the fewest steps.

Sources: Griewank and Walther 2000 (checkpoints); Hager 2000 (discrete adjoints).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arguments import check_begin
from integrators.arithmetic.slopes import NoSlopeError, OtherKindError, contradiction, slope
from integrators.engine.halves import DRIFTED, REMEDY
from integrators.engine.resolution import positions_of
from integrators.engine.step_again import looked
from integrators.engine.ways import beyond
from integrators.integrate import integrate
from integrators.method import Method
from integrators.method.step_map import moved
from integrators.problem import Doubt, Poses, Problem, pose
from integrators.problem.ambient import state_sizes
from integrators.problem.jacobian import sizes_of
from integrators.problem.times import begin_of
from integrators.status import Status
from integrators.step_derivatives.repeated import StepDerivative
from integrators.step_function import StepError, StepFunction, stepper
from liegroup.arrays import check_function, integer, of_kind, real, reals, refuse, shown
from liegroup.table import EXP, increment

Array = NDArray[np.float64]
Loss = Callable[[int, Array], tuple[float, ArrayLike]]
MOVES = 1e-9
"""Change of a start by a parameter that is more than rounding."""
COMPARED = 2
"""States beside which the values of a loss are compared with the derivatives that it returns."""
SPREAD = 0.08
"""Of the parameters, relative to their size, over which their derivatives are first asked for."""


class Gradient(NamedTuple):
    """What a reverse sweep over a run finds.

    Attributes
    ----------
    value : float
        The loss; of a cotangent its product with the states.
    y : (n,)
        The state at the end.
    by_start : (n,)
        By the components of the state at the start.  Of unit quaternions the part along the group: the gradient of the
        loss of the quaternion divided by its norm.
    by_velocity : (d,)
        The same in coordinates of the velocities, along y exp(ξ).
    by_inputs : (steps, m)
        By the inputs of every step; of inputs held over the run the sum over the first axis is.
    by_parameters : (k,)
        Along the directions of the parameters.

    Examples
    --------
    See `gradient_of_run`.
    """

    value: float
    y: Array
    by_start: Array
    by_velocity: Array
    by_inputs: Array
    by_parameters: Array


def parameter_directions(make: Callable[[Array], Problem | Poses], x: ArrayLike) -> Array:
    """How the numbers that a problem's kernels read change with parameters of a model: ∂(parameters)/∂x.

    Parameters
    ----------
    make : callable
        x → Problem, or what poses one: builds the model with the parameters x: masses, inertias, lengths, frames,
        stiffness, gains, ….
    x : array (k,)
        Where.

    Returns
    -------
    array (k, parameters)
        One direction per parameter, for `gradient_of_run`, `DifferentiableRun` and `StepDerivative`.  They hold the
        start: where that of `make` changes with x, a warning says so (`start_directions`).

    Raises
    ------
    ValueError, TypeError
        Not a function that makes problems of one start; parameters that change the structure of the problem, such as
        its topology, or put another kind of frame in its place; numbers that have no derivative at x, or one that
        cannot be told (kinks, jumps, splines that are fitted anew).

    Notes
    -----
    By central differences of order eight over ±8 % of every parameter (±0.08 of one that is 0), and over half of that
    until two of them agree to 1e-8 of what the numbers change by: the second is 256 times better.  The numbers of a
    packed model are polynomials in masses, inertias, lengths, stiffness and gains, of degree eight at most: their
    differences have no error but rounding, about 1e-13.  Of angles of frames they are sines and cosines, and the error
    stays below that, too.  At the limit of a parameter, such as damping 0, the derivative is that from within.

    Examples
    --------
    >>> from integrators import Problem
    >>> from integrators.adjoint import parameter_directions
    >>> from liegroup import rn
    >>> def make(x):
    ...     return Problem(rn(2), [1.0, 0.0], lambda t, y, p: [y[1], -p[0] * y[0]], parameters=[x[0] ** 2])
    >>> parameter_directions(make, [3.0]).round(12).tolist()
    [[6.0]]
    """
    directions, starts = _changes(make, x)
    if np.abs(starts).max(initial=0.0) > MOVES:
        warnings.warn(
            "make: the start that it poses changes with the parameters (momenta of given velocities, loops that close "
            "elsewhere), and derivatives along these directions are those of a start that is held; add `by_velocity @ "
            "start_directions(make, x).T` to `by_parameters`",
            RuntimeWarning,
            stacklevel=2,
        )
    return directions


def start_directions(make: Callable[[Array], Problem | Poses], x: ArrayLike) -> Array:
    """How the start that a model poses changes with its parameters: ξ of y₀(x + δ) = y₀(x) exp(ξ δ).

    Parameters
    ----------
    make : callable
        x → Problem, as for `parameter_directions`.
    x : array (k,)
        Where.

    Returns
    -------
    array (k, d)
        In coordinates of the velocities, a row per parameter.  A loss changes with the parameters by ``by_parameters +
        by_velocity @ start_directions(make, x).T``.

    Raises
    ------
    ValueError, TypeError
        As for `parameter_directions`.

    Examples
    --------
    The momentum of a pendulum of the mass x that starts with 1 rad/s:

    >>> from integrators import Problem
    >>> from integrators.adjoint import start_directions
    >>> from liegroup import rn
    >>> def make(x):
    ...     return Problem(rn(2), [0.3, 1.0 * x[0]], lambda t, y, m: [y[1] / m[0], -m[0] * y[0]], parameters=x)
    >>> start_directions(make, [3.0]).round(10).tolist()
    [[0.0, 1.0]]
    """
    return _changes(make, x)[1]


def _posed(make: Callable[[Array], Problem | Poses], x: Array) -> Problem:
    """The problem that is made, or that is posed by what is made."""
    made = make(x)
    try:
        return pose(made)
    except TypeError as error:
        raise TypeError(f"make: what it returns poses no problem ({error})") from error


def _changes(make: Callable[[Array], Problem | Poses], x: ArrayLike) -> tuple[Array, Array]:
    """How the numbers that a problem's kernels read, and its start, change with parameters: a row for each of these."""
    check_function(make, "make", "a function of the parameters that makes a Problem")
    x = reals(x, "x").reshape(-1)
    first = _posed(make, x)
    start, count, numerical = np.asarray(first.y0), len(np.asarray(first.parameters)), list(first.numerical)
    if start.ndim > 1:
        raise ValueError(f"make: a problem of {len(start)} starts, expected one; pose it with one of them")

    def flat(values: Array) -> Array:
        problem, moved = _posed(make, values), np.zeros(first.dimension)
        same = np.array_equal(np.asarray(problem.structure), np.asarray(first.structure))
        if not same or np.shape(problem.parameters) != np.shape(first.parameters):
            raise OtherKindError(
                f"the problem at {values.tolist()} has another structure than at {x.tolist()}; parameters are to "
                "change numbers alone, at a place where none of them is special (an axis along another, a mass of 0)"
            )
        increment(first.table, EXP, start, np.asarray(problem.y0), moved)
        numbers = np.array(problem.parameters)
        numbers[numerical] = 0.0
        return np.concatenate([numbers, moved])

    largest = float(np.abs(start).max(initial=0.0))  # the way from the start is 0 there, its rounding is not

    def along(k: int) -> Array:
        try:
            return slope(lambda s: flat(x + s * (np.arange(len(x)) == k)), SPREAD * (abs(x[k]) or 1.0), largest)
        except NoSlopeError as error:
            number = error.number - count
            whose = f"number {error.number} of its parameters" if number < 0 else f"component {number} of its start"
            raise ValueError(
                f"make: {whose} does not change smoothly with x[{k}] at {x[k]:.6g} (derivative {error.what}); expected "
                "parameters on which numbers depend without kinks, jumps and noise: move x away from limits and knots "
                "of tables, and keep what is fitted anew for every x (splines, meshes) out of make"
            ) from None
        except (ValueError, ArithmeticError) as error:
            raise ValueError(
                f"make: x[{k}] is {x[k]:.6g}, and derivatives by it need problems beside it, above or below, which "
                f"make does not give: {error}; expected a place within the limits, and in the place of a 0 that is "
                "special a small number"
            ) from error

    found = np.array([along(k) for k in range(len(x))]).reshape(len(x), count + first.dimension)
    return found[:, :count], found[:, count:]


class DifferentiableRun:
    """A run of many equal steps as a function with exact derivatives, ``run(start, u)`` → the state at the end.

    Parameters
    ----------
    problem : Problem, or what poses one
        Its inputs that are not functions are the u of the steps.
    method : str or Method
        Of one step.
    step : float
        h, s.
    steps : int
        How many, N.
    parameters : array (k, parameters), optional
        Directions of the problem's parameters, as `parameter_directions` gives them.
    checkpoints : int, optional
        States that are kept at the same time; default about √(2 N), so that no step is taken more than three times.
    t : float, optional
        Time at the start, s; default that for which the problem is posed, or 0.
    check : bool
        Whether the first derivatives that are asked for come with a RuntimeWarning where `integrate` doubts their run
        (`doubts`): they are exact for the steps, whatever these have of the motion; and whether the derivatives that
        a loss returns are compared with its values.

    Attributes
    ----------
    names : tuple of str
        Of the inputs, in order.

    Raises
    ------
    ValueError, TypeError
        A method that remembers steps or that is another library's; inputs given as functions; sizes that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Problem
    >>> from integrators.adjoint import DifferentiableRun
    >>> from liegroup import rn
    >>> swing = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -y[0]]))
    >>> run = DifferentiableRun(swing, "RKMK4", 0.1, 10)
    >>> run([1.0, 0.0]).round(6).tolist()
    [0.540303, -0.84147]
    >>> run.vjp([1.0, 0.0], [1.0, 0.0]).by_start.round(6).tolist()
    [0.540303, 0.84147]
    """

    def __init__(
        self, problem: Any, method: str | Method, step: float, steps: int, parameters: ArrayLike | None = None,
        checkpoints: int | None = None, t: float | None = None, check: bool = True,
    ) -> None:  # fmt: skip
        taken: StepFunction = stepper(problem, method, step)
        posed = taken.problem
        if posed.inputs.driven:
            given = ", ".join(posed.inputs.names[k] for k in posed.inputs.driven)
            raise ValueError(
                f"problem: inputs given as functions ({given}) are not differentiated; expected inputs held over a "
                "step: give their values at every step as u"
            )
        self.problem, self.method, self.step, self.names = posed, taken.method, taken.step, taken.names
        self.steps, self.t, self._take = (
            integer(steps, "steps", 1),
            begin_of(posed) if t is None else real(t, "t"),
            taken,
        )
        default = max(1, math.isqrt(2 * self.steps))
        self.checkpoints = integer(default if checkpoints is None else checkpoints, "checkpoints", 1)
        of_kind(check, bool, "check", "True or False")
        self._asked, self._to_compare = not check, COMPARED if check else 0
        count = len(np.asarray(posed.parameters))
        directions = np.zeros((0, count)) if parameters is None else np.atleast_2d(reals(parameters, "parameters"))
        if directions.shape[1] != count:
            raise ValueError(
                f"parameters: shape {directions.shape}, expected (k, {count}), directions of the problem's "
                "parameters as parameter_directions gives them"
            )
        refuse(~np.isfinite(directions), directions, "parameters", "expected finite numbers")
        inputs = posed.inputs
        places, pushes = [inputs.places[k] for k in inputs.free], [inputs.velocities[k] for k in inputs.free]
        self._m, self._k = len(places), len(directions)
        self._held = np.asarray(posed.parameters, dtype=np.float64)[places]
        self.derivative = StepDerivative(posed, taken.method, taken.step, places, pushes, directions, self.steps)

    def __repr__(self) -> str:
        return (
            f"<DifferentiableRun: {self.steps} steps of {self.step:g} by {self.method.name} on {self.problem.model!r}>"
        )

    # --- the run --------------------------------------------------------------------------------------------------

    def __call__(self, start: ArrayLike, u: ArrayLike | None = None) -> Array:
        """The state at the end.

        Parameters
        ----------
        start : array (n,)
            The state at the start.
        u : array (m,) or (steps, m), optional
            Inputs, held over the run or over every step; default those of the problem.

        Returns
        -------
        array (n,)
            A new one.

        Raises
        ------
        StepError
            A step fails.
        ValueError
            Sizes that do not fit.
        """
        return self._advance(self._start(start), self._inputs(u), 0, self.steps)

    def states(self, start: ArrayLike, u: ArrayLike | None = None) -> Array:
        """All states, (steps + 1, n).

        Parameters
        ----------
        start, u
            As for a call.

        Returns
        -------
        array (steps + 1, n)
            The start among them.
        """
        y, values = self._start(start), self._inputs(u)
        found = [y]
        for k in range(self.steps):
            found.append(self._take(found[-1], values[k], self._time(k)))
        return np.array(found)

    def doubts(self, start: ArrayLike, u: ArrayLike | None = None) -> tuple[Doubt, ...]:
        """What `integrate` doubts of the run, such as steps that are too long for the motion.

        Parameters
        ----------
        start : array (n,)
            The state at the start.
        u : array (m,) or (steps, m), optional
            Inputs.  Where they change from step to step, only steps of half the size are asked (`accuracy`).

        Returns
        -------
        tuple of Doubt
            Empty where all is well.

        Raises
        ------
        StepError
            A step fails.
        ValueError
            Sizes that do not fit.
        """
        y, values = self._start(start), self._inputs(u)
        if not (values == values[0]).all():
            return self._of_halves(y, values)
        parameters = np.array(self.problem.parameters, dtype=np.float64)
        parameters[[self.problem.inputs.places[k] for k in self.problem.inputs.free]] = values[0]
        posed, end = replace(self.problem, parameters=parameters), self.t + self.steps * self.step
        run = integrate(posed, self.method, (self.t, end), self.step, y0=y, progress=False)
        assert isinstance(run.status, Status)
        if run.status is not Status.OK:
            error = StepError(run.message)
            error.status, error.t, error.y, error.u = run.status, float(run.t[-1]), run.y[-1], values[0]
            raise error
        return tuple(run.doubts)

    def _of_halves(self, y: Array, values: Array) -> tuple[Doubt, ...]:
        """The doubt of positions that steps of half the size, each with the inputs of the whole, have elsewhere by
        `DRIFTED` of the way of their variable.
        """
        half = DifferentiableRun(self.problem, self.method, 0.5 * self.step, 2 * self.steps, t=self.t, check=False)
        states, finer = self.states(y, values), half.states(y, np.repeat(values, 2, axis=0))[::2]
        k, way, start = positions_of(self.problem), np.ptp(states, axis=0), 0
        for variable in self.problem.variables:
            own = slice(start, start + variable.size)
            way[own], start = way[own].max(initial=0.0), own.stop
        moves = np.flatnonzero(way[:k] > MOVES * np.abs(states[:, :k]).max(axis=0))
        if not len(moves):
            return ()
        part, allowed, row = beyond((np.abs(states - finer)[:, moves] / way[moves]).max(axis=1), DRIFTED)
        says = "steps of half the size give another motion: positions differ by this part of the way that they go"
        found = Doubt("accuracy", self._time(row), part, allowed, says, REMEDY, 0)
        return (found,) if part > allowed else ()

    def _ask(self, y: Array, values: Array) -> None:
        """The same, once, as a warning."""
        if self._asked:
            return
        self._asked = True

        def found() -> list[Doubt]:
            with suppress(StepError):  # it is raised where the run is differentiated
                return [*self.doubts(y, values)]
            return []

        for doubt in looked(found, "whether its steps give the motion")[:1]:
            what = f"{self.method.name}: the run is doubtful, and its derivatives are of it and not of the motion: "
            warnings.warn(f"{what}{doubt}", RuntimeWarning, stacklevel=3)

    def jvp(
        self, start: ArrayLike, direction: ArrayLike, u: ArrayLike | None = None, du: ArrayLike | None = None,
        dx: ArrayLike | None = None,
    ) -> tuple[Array, Array]:  # fmt: skip
        """All states and how they change along one direction or several at once, forwards.

        Parameters
        ----------
        start : array (n,)
            The state at the start.
        direction : array (n,) or (r, n)
            Its change, by components; of unit quaternions the part along the group counts.
        u : array (m,) or (steps, m), optional
            Inputs.
        du : array (m,) or (steps, m), optional
            Their change, along every direction.
        dx : array (k,) or (r, k), optional
            Changes of the parameters, along their directions.

        Returns
        -------
        states : array (steps + 1, n)
            The run.
        changes : array (steps + 1, n) or (r, steps + 1, n)
            Changes of the components.

        Raises
        ------
        StepError, ArithmeticError
            A step fails.
        ValueError
            Sizes that do not fit.
        """
        y, values, pushed = self._start(start), self._inputs(u), self._inputs(du, "du", zero=True)
        along = reals(direction, "direction")
        several, wanted = along.ndim == 2, along.shape[:-1]
        changed = np.zeros((*wanted, self._k)) if dx is None else reals(dx, "dx")
        if along.shape != (*wanted, len(y)) or along.ndim > 2 or changed.shape != (*wanted, self._k):
            raise ValueError(
                f"direction and dx: shapes {along.shape} and {changed.shape}, expected {(*y.shape,)} and ({self._k},), "
                "or as many rows of both"
            )
        self._ask(y, values)
        along = np.atleast_2d(along)
        changed = changed.reshape(len(along), self._k)
        x = self.derivative.increments(y) @ along.T
        states, changes = [y], [self.derivative.velocities(y) @ x]
        for k in range(self.steps):
            slopes = self.derivative(y, values[k], self._time(k))
            both = np.hstack([np.broadcast_to(pushed[k], (len(along), self._m)), changed])
            x = slopes.A @ x + slopes.B @ both.T
            y = self._take(y, values[k], self._time(k))
            states.append(y)
            changes.append(self.derivative.velocities(y) @ x)
        found = np.moveaxis(np.array(changes), -1, 0)
        return np.array(states), found if several else found[0]

    def vjp(self, start: ArrayLike, cotangent: ArrayLike | Loss, u: ArrayLike | None = None) -> Gradient:
        """The gradient of a loss, backwards over the run.

        Parameters
        ----------
        start : array (n,)
            The state at the start.
        cotangent : array (n,) or (steps + 1, n), or callable
            The derivative of the loss by the components of the state at the end, or of all states; or ``loss(k, y)`` →
            what state k adds to the loss, and the derivative (n,) of that, called for every state from the last to the
            first.  Beside the first two of them that count its values are compared with the derivatives (`check`).
        u : array (m,) or (steps, m), optional
            Inputs.

        Returns
        -------
        Gradient
            By start, inputs and parameters.

        Raises
        ------
        StepError, ArithmeticError
            A step fails.
        ValueError
            Sizes that do not fit; a loss whose values change otherwise than its derivatives say.
        """
        y, values, loss = self._start(start), self._inputs(u), self._loss(cotangent)
        self._ask(y, values)
        value, by_inputs, by_parameters = 0.0, np.zeros((self.steps, self._m)), np.zeros(self._k)
        x: Array = np.zeros(self.problem.dimension)
        end = y
        for k, state in self._backwards(y, values):
            if k < self.steps:
                slopes = self.derivative(state, values[k], self._time(k))
                pulled = slopes.B.T @ x
                by_inputs[k] = pulled[: self._m]
                by_parameters += pulled[self._m :]
                x = slopes.A.T @ x
            else:
                end = state
            part, slope = loss(k, state)
            value += part
            if self._to_compare and callable(cotangent) and slope is not None and (part or slope.any()):
                self._to_compare -= 1
                self._compare(loss, k, state, slope)
            if slope is not None:
                x = x + self.derivative.velocities(state).T @ slope
        return Gradient(value, end, self.derivative.increments(y).T @ x, x, by_inputs, by_parameters)

    def _compare(self, loss: Callable[[int, Array], tuple[float, Array | None]], k: int, y: Array, said: Array) -> None:
        """ValueError where differences of the values of a loss contradict its derivative."""
        sizes, ones = state_sizes(self.problem.table, np.abs(y)), sizes_of(self.problem, y)
        slopes = said @ self.derivative.velocities(y)
        for i, e in enumerate(np.eye(len(slopes))):

            def along(s: float, e: Array = e) -> list[float]:
                return [loss(k, moved(self.problem, y, s * e))[0]]

            wrong = contradiction(along, slopes[[i]], float(sizes[i]), float(ones[i]))
            if wrong is not None:
                raise ValueError(
                    f"loss: at state {k} its derivative says {slopes[i]:.6g} along component {i} of the velocity, but "
                    f"differences of its values give {wrong[1]:.6g}; expected (value, derivative by the components of "
                    "the state)"
                )

    # --- its states, from the last to the first -------------------------------------------------------------------

    def _backwards(self, start: Array, values: Array) -> Iterator[tuple[int, Array]]:
        """(k, state k) for k = steps, …, 0."""
        kept = [(0, start)]
        for k in range(self.steps, -1, -1):
            while kept[-1][0] > k:
                kept.pop()
            at, state = kept[-1]
            while at < k:
                free = self.checkpoints - len(kept)
                to = at + stride(k + 1 - at, free) if free > 0 else k
                state = self._advance(state, values, at, min(to, k))
                at = min(to, k)
                if free > 0 and at < k:
                    kept.append((at, state))
            yield k, state

    def _advance(self, y: Array, values: Array, first: int, last: int) -> Array:
        for k in range(first, last):
            y = self._take(y, values[k], self._time(k))
        return y

    # --- what is given --------------------------------------------------------------------------------------------

    def _time(self, k: int) -> float:
        return self.t + k * self.step

    def _start(self, start: ArrayLike) -> Array:
        y = self.problem.check_state(start, "start")
        if y.ndim != 1:
            raise ValueError(f"start: shape {y.shape}, expected ({self.problem.n},): one state")
        return y

    def _inputs(self, u: ArrayLike | None, name: str = "u", zero: bool = False) -> Array:
        given = (np.zeros(self._m) if zero else self._held) if u is None else reals(u, name)
        if given.shape not in ((self._m,), (self.steps, self._m)) or not np.isfinite(given).all():
            raise ValueError(
                f"{name}: shape {given.shape}, expected ({self._m},) or ({self.steps}, {self._m}) finite numbers, "
                f"inputs ({', '.join(self.names) or 'none'})"
            )
        return np.array(np.broadcast_to(given, (self.steps, self._m)))

    def _loss(self, given: ArrayLike | Loss) -> Callable[[int, Array], tuple[float, Array | None]]:
        n, last = self.problem.n, self.steps
        if callable(given):

            def called(k: int, y: Array) -> tuple[float, Array]:
                said = given(k, y)
                if not isinstance(said, (tuple, list)) or len(said) != 2:
                    raise TypeError(f"loss: {shown(said)} at state {k}, expected (value, derivative ({n},))")
                value, found = real(said[0], "loss"), reals(said[1], "loss")
                if found.shape != (n,) or not np.isfinite(found).all():
                    raise ValueError(
                        f"loss: a derivative of shape {found.shape} at state {k}, expected ({n},) finite numbers; it "
                        f"is {shown(said[1])}"
                    )
                return value, found

            return called
        weights = reals(given, "cotangent")
        if weights.shape not in ((n,), (last + 1, n)) or not np.isfinite(weights).all():
            raise ValueError(
                f"cotangent: shape {weights.shape}, expected ({n},) or ({last + 1}, {n}) finite numbers; it is "
                f"{shown(given)}"
            )

        def weighed(k: int, y: Array) -> tuple[float, Array | None]:
            if weights.ndim == 1 and k < last:
                return 0.0, None
            slope = weights if weights.ndim == 1 else weights[k]
            return float(slope @ y), slope

        return weighed


def stride(length: int, free: int) -> int:
    """How many steps to go before the next checkpoint.

    `length` states, the first of which is kept, are to be visited from the last to the first, with so many `free`
    places for others.  If every step may be taken r times, there can be C(free + r + 1, r) of them, C(free + r, r − 1)
    before the next checkpoint: the binomial schedule, of the fewest steps (Griewank and Walther 2000).
    """
    rounds = 1
    while math.comb(free + rounds + 1, rounds) < length:
        rounds += 1
    return max(1, min(math.comb(free + rounds, rounds - 1), length - 1))


def gradient_of_run(
    problem: Any, method: str | Method, step: float, steps: int, loss: ArrayLike | Loss,
    start: ArrayLike | None = None, u: ArrayLike | None = None, parameters: ArrayLike | None = None,
    checkpoints: int | None = None, t: float | None = None, check: bool = True,
) -> Gradient:  # fmt: skip
    """The exact gradient of a loss of a run by its start, its inputs and the parameters of the model.

    Parameters
    ----------
    problem : Problem, or what poses one
        What runs.
    method : str or Method
        Of one step.
    step : float
        h, s.
    steps : int
        How many.
    loss : callable, or array (n,) or (steps + 1, n)
        ``loss(k, y)`` → what state k adds to the loss, and the derivative (n,) of that; or the derivative of the loss
        by the state at the end, or by all states.
    start : array (n,), optional
        Default that of the problem.
    u : array (m,) or (steps, m), optional
        Inputs, held over the run or over every step; default those of the problem.
    parameters : array (k, parameters), optional
        Directions of the problem's parameters, as `parameter_directions` gives them.
    checkpoints : int, optional
        States that are kept at the same time; default about √(2 steps).
    t : float, optional
        Time at the start, s; default that for which the problem is posed, or 0.
    check : bool
        Whether a RuntimeWarning says where `integrate` doubts the run, and an error where a loss changes otherwise than
        its derivative says.

    Returns
    -------
    Gradient
        `value`, `y` at the end, `by_start`, `by_velocity`, `by_inputs`, `by_parameters`.

    Raises
    ------
    ValueError, TypeError, ArithmeticError
        As from `DifferentiableRun`.

    Examples
    --------
    How far a pendulum swings in a second depends on where it starts:

    >>> import numpy as np
    >>> from integrators import Problem
    >>> from integrators.adjoint import gradient_of_run
    >>> from liegroup import rn
    >>> swing = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -np.sin(y[0])]))
    >>> gradient_of_run(swing, "RKMK4", 0.1, 10, [1.0, 0.0]).by_start.round(6).tolist()
    [0.717945, 0.897195]
    """
    run = DifferentiableRun(problem, method, step, steps, parameters, checkpoints, t, check)
    if start is None:
        check_begin(run.problem, run.t, "t: is", "start")
        if (start := np.asarray(run.problem.y0)).ndim > 1:
            raise ValueError(f"problem: it has {len(start)} starts, expected one; give one of them as start")
    return run.vjp(start, loss, u)
