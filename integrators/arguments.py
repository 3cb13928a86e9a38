"""What is asked of a run, from the arguments of the entry points: intervals, steps, tolerances, times and events; and
what a problem must be that a run can begin.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.controllers import find_controller
from integrators.engine.adaptive_run import Steering, attainable, usual_atol
from integrators.engine.gathering import with_events
from integrators.engine.run import Output, Plan, check_steps
from integrators.events import Events, as_events
from integrators.method import Method, Reference
from integrators.problem import Problem
from integrators.problem.by_source import check_arrays, check_frozen, check_truth
from integrators.problem.dependence import dependence
from integrators.problem.driven import inputs_at
from integrators.problem.fields import reads_time
from integrators.problem.times import check_autonomous
from integrators.results.solution import names_of_event
from integrators.statistics.gathered import names_in_files
from integrators.statistics.statistic import Statistic
from liegroup.arrays import integer, positive, real, reals

Array = NDArray[np.float64]
ROWS = 10_000
"""Saved states by default, at most, with fixed steps."""


def check_gathering(way: Plan | Steering, output: Output, into: Any) -> None:
    """TypeError for what goes not together with statistics."""
    if into is not None:
        raise TypeError("statistics: not together with into, whose file has every state; leave one of them out")
    if isinstance(way, Steering) or len(output.times):
        raise TypeError("statistics: of samples at equal times, expected fixed steps (step=…) without t_eval")


def method_and_span(method: Any, t_span: Any) -> tuple[str | Method | Reference | None, Any]:
    """Method and interval, where the first may have been left out."""
    if t_span is None and not isinstance(method, (str, Method, Reference)):
        return None, method
    if t_span is None:
        raise TypeError("t_span: missing; expected integrate(problem, method, (t0, t1), step)")
    if isinstance(method, (tuple, list, np.ndarray)):
        raise TypeError(
            f"method: {method!r}, expected a name or a Method: integrate(problem, method, (t0, t1), step); where the "
            "method is left out, the step has its name: integrate(problem, (t0, t1), step=…)"
        )
    return method, t_span


def way_of(
    method: Method, span: tuple[float, float], step: float | None, rtol: ArrayLike | None, atol: ArrayLike | None,
    controller: Any,
    max_step: float, max_steps: int | None, problem: Problem,
) -> Plan | Steering:  # fmt: skip
    """Fixed steps or a controller."""
    step = None if step is None else positive(step, "step", " (t_span tells the direction)")
    max_step = longest_of(max_step)
    most = 2**62 if max_steps is None else min(integer(max_steps, "max_steps"), 2**62)
    if step is not None and rtol is None and atol is None and controller is None:
        if np.isfinite(max_step) or max_steps is not None:
            raise ValueError(
                "max_step, max_steps: they belong to variable steps, but `step` without a tolerance means fixed steps"
            )
        return equal_steps(span, step)
    usual = method.with_variable_steps().stepper.controller or "PI42"
    chosen = find_controller(usual if controller is None else controller)
    chosen.check(method, step, rtol, atol, max_step)
    relative = _tolerance(1e-6 if rtol is None else rtol, "rtol", problem.dimension)
    absolute = usual_atol(problem, 1e-9) if atol is None else _tolerance(atol, "atol", problem.dimension)
    if (relative + absolute == 0.0).any():
        raise ValueError(f"rtol, atol: {rtol!r}, {atol!r}, expected non-negative numbers that are not both 0")
    relative, absolute = attainable(problem, rtol, atol, relative, absolute, 3)
    return Steering(span, chosen, relative, absolute, step, max_step, most)


def longest_of(max_step: float) -> float:
    """The longest variable step that is allowed."""
    return real(max_step, "max_step", "a positive number", lambda h: h > 0)


def fixed_plan(t_span: Sequence[float], step: float, save_every: int | None) -> tuple[Plan, int]:
    """The equal steps of an interval, and after how many a state is kept, as of `integrate`."""
    way = equal_steps(interval(t_span), positive(step, "step", " (t_span tells the direction)"))
    return way, saved_every(save_every, way)


def _tolerance(value: ArrayLike, name: str, dimension: int) -> Array:
    """A tolerance: one number, or one per component of the velocity."""
    wanted = f"a non-negative number, or one per component of the velocity ({dimension})"
    given = reals(value, name, wanted)
    if given.shape not in ((), (dimension,)) or not ((given >= 0) & (given < np.inf)).all():
        raise ValueError(f"{name}: {value!r}, expected {wanted}")
    return given


def equal_steps(span: tuple[float, float], step: float) -> Plan:
    """Equal steps from t0 to t1: of the size `step` if these end at t1 to rounding, else of a part of the interval."""
    check_steps(span, step)
    length = abs(span[1] - span[0])
    ratio = length / step
    steps = round(ratio) if abs(ratio - round(ratio)) <= 1e-9 * ratio else int(np.ceil(ratio))
    ends = abs(steps * step - length) <= 4.0 * np.spacing(max(abs(span[0]), abs(span[1])))
    h = step if ends or not steps else length / steps
    return Plan(span[0], h if span[1] >= span[0] else -h, steps, span[1])


def saved_every(save_every: int | None, way: Plan | Steering) -> int:
    """After how many steps a state is kept: as asked for, or of fixed steps so that there are at most `ROWS`."""
    if save_every is None:
        return max(1, -(-way.steps // ROWS)) if isinstance(way, Plan) else 1
    return min(integer(save_every, "save_every", 1), 2**62)


def interval(t_span: Sequence[float]) -> tuple[float, float]:
    """The two times of an interval."""
    span = reals(t_span, "t_span", "two finite numbers (t0, t1)")
    if span.shape != (2,) or not np.isfinite(span).all():
        raise ValueError(f"t_span: {t_span}, expected two finite numbers (t0, t1)")
    return float(span[0]), float(span[1])


def events_of(events: Any, problem: Problem, statistics: Sequence[Statistic]) -> Events | None:
    """The events of a run and, behind them, those of its statistics; ValueError where data files would give one name to
    two of them, or to one and to a variable.
    """
    found = as_events(events)
    if found is not None:
        check_truth(found.rows, problem)
    own = [("events", name, names_of_event(name)) for name in (() if found is None else found.names)]
    own += [("statistics", statistic.label, names_in_files(statistic)) for statistic in statistics]
    taken = set(problem.names_in_files) if own else set()
    for what, name, names in own:
        if clash := sorted(taken & {*names}):
            raise ValueError(
                f"{what}: {name!r} is written to data files as {name}_…, but {clash[0]!r} is a variable or an "
                "invariant there, or of another event or statistic; choose another name"
            )
        taken |= {*names}
    return with_events(found, statistics)


def times_of(t_eval: ArrayLike | None, span: tuple[float, float]) -> Array:
    """The given times, none of them outside the interval; what is so by rounding is its end."""
    if t_eval is None:
        return np.zeros(0)
    times = reals(t_eval, "t_eval", "a one-dimensional array of finite times")
    forward = 1.0 if span[1] >= span[0] else -1.0
    if times.ndim != 1 or not len(times) or not np.isfinite(times).all():
        raise ValueError(f"t_eval: {times}, expected a one-dimensional array of finite times")
    rounding = 4.0 * float(np.spacing(max(map(abs, span))))
    if 0.0 < forward * (times[-1] - span[1]) <= rounding:  # sums of steps, as those of another run
        times = np.append(times[:-1], span[1])
    if (
        (np.diff(forward * times) <= 0).any()
        or forward * (times[0] - span[0]) < 0
        or forward * (times[-1] - span[1]) > 0
    ):
        raise ValueError(
            f"t_eval: from {times[0]} to {times[-1]}, expected times in the order of t_span = {span}, within it, "
            "each once"
        )
    return times


def check_begin(problem: Problem, t: float, given: str = "t_span: begins at", state: str = "y0") -> None:
    """A start that is that of one time only is an error at another; `given`, `state`: how its caller calls both."""
    if problem.begins is not None and t != problem.begins:
        raise ValueError(
            f"{given} {t}, expected {problem.begins}: the start of {problem.model!r} is the given one at "
            "that time, where its velocities have the momenta, and satisfy the constraints, that are others now; pose "
            f"the problem with t={t}, or give the state {state}="
        )


def check_repeats(problem: Problem, t0: float, is_method_given: bool) -> None:
    """A plain Python function that draws numbers, or remembers when it was called, is none of its arguments: an error
    where a method is to be found, whose estimates it would deceive; else a warning.
    """
    signal, y = problem.inputs.signal, np.atleast_2d(problem.y0)[0]
    if signal is not None and "plain Python" in signal.kinds:
        one, two = (inputs_at(problem, t0, y) for _ in range(2))
        what, names = "u: input", problem.inputs.names
    elif not problem.field.is_compiled:
        one, two = (problem.velocity(t0, y) for _ in range(2))
        what, names = "field: component", tuple(map(str, range(problem.dimension)))
    else:
        return
    if not (apart := np.flatnonzero((one != two) & ~(np.isnan(one) & np.isnan(two)))).size:
        return
    k = int(apart[0])
    says = (
        f"{what} {names[k]!r} is {one[k]:.9g} and {two[k]:.9g} at the same t = {t0:.6g} and the same state: it draws "
        "numbers or remembers, and methods call it at the times of their stages, some of them again; expected a "
        "function of its arguments. Take steps in a loop of your own that holds it over each (integrators.stepper)"
    )
    if not is_method_given:
        raise ValueError(f"{says}, or give a method and a step")
    warnings.warn(says, RuntimeWarning, stacklevel=4)


def check_field(problem: Problem, t0: float, t1: float) -> None:
    """A field that is wrong or not finite at the start, or reads the time though it is said not to, is an error of the
    caller.
    """
    y = np.atleast_2d(problem.y0)[0]
    check_arrays(problem, t0, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", np.exceptions.ComplexWarning)
        try:
            velocity = problem.velocity(t0, y)
        except np.exceptions.ComplexWarning as error:
            raise TypeError("field: writes complex numbers, expected real ones") from error
        except Exception as error:
            error.add_note(f"raised by field, called at the start, t = {t0!r}, y = {y.tolist()}, in this order")
            raise
    for name, values in (("field", velocity), ("invariants", problem.invariant_values(t0, y))):
        if not np.isfinite(values).all():
            where = f"; {said}" if (said := dependence(problem, t0, y)) else ""
            raise ValueError(f"{name}: not finite at the start t = {t0}, y = {y.tolist()}: {values.tolist()}{where}")
    check_frozen(problem, t0, y, velocity)
    if problem.autonomous and reads_time(problem.field):
        check_autonomous(problem, t0, t1)
