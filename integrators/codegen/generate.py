"""A problem as code in another language: its field, its invariants, a step of a method.

The Python source of the kernels is run once on scalars that note what is done to them
(`liegroup.compile.tracing`); one of the printers writes the notes down (`liegroup.printers`).  Steps of implicit
methods decide by values how many rounds their iterations take.  They are traced as steps from states given as samples
take them: the rounds are then fixed, and the code says where another state would have gone another way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arithmetic.compensated import renormalise
from integrators.engine.winding import unwound, wind
from integrators.layout import COUNTERS, OWN_ROWS, STEPS
from integrators.method import Method
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.derivatives import Differentiable
from integrators.problem.fields import Field
from integrators.problem.inputs import check_rates
from integrators.status import OK, Status
from integrators.steppers.common import RENORMALISE_EVERY
from integrators.straight import LIMIT, advanced, room, straight_step
from liegroup.arrays import of_kind, real, reals
from liegroup.compile.scalars import less, select
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import Graph, Path, Traced
from liegroup.printers import LANGUAGES, Function, SourceText, printed

Array = NDArray[np.float64]
SAME = 1e-9
"""Of the largest number of a state: as far as code may be from a step."""


class _RunsAwayError(ArithmeticError):
    """Samples, by their numbers, from which a step cannot be written."""

    def __init__(self, says: str, samples: list[int]) -> None:
        super().__init__(says)
        self.samples = samples


def generate_code(
    problem: Problem,
    language: str,
    method: str | Method | None = None,
    step: float | None = None,
    samples: ArrayLike | None = None,
    derivatives: bool = False,
    inputs: bool = False,
) -> SourceText:
    """Source text of functions of a problem, for use without this package.

    ==========================  =========================================================================
    ``rhs(t, y)``               the field: the body velocity of the state, one number per component
    ``invariants(t, y)``        the invariants in the order of ``problem.invariant_names``, if there are any
    ``one_step(t, h, y)``       with a method: the state after a step, and `left`, 0 or 1
    ``jacobian(t, y)``          with derivatives: ∂rhs/∂y by rows
    ``step_jacobian(t, h, y)``  with both: ∂(the state after a step)/∂y by rows
    ==========================  =========================================================================

    With `inputs` all of them take the held inputs u of the problem besides, as their last argument, and with
    `derivatives` there are ``input_jacobian(t, y, u)``, ∂rhs/∂u, and ``step_input_jacobian(t, h, y, u)``, by rows.

    ``one_step`` is the step by itself, without memory of steps before, as `integrators.method.step_map` takes it,
    followed by the problem's projection.  Where `left` is 1, the state would have taken another way through the method
    than the samples: more rounds of an iteration, another chart.  Its numbers are then not those of the method.  C and
    CUDA have the loop besides: ``many_steps(t, h, steps, y)``, a kernel ``many_steps_each``.

    Of `GAUSS8` the code is that of undivided steps, to rounding; `left` is 1 where it divides them.

    Derivatives are those of the formulas by the numbers of the state (for quaternions by all four), exact to rounding.
    JAX and CasADi need none: they differentiate what is written.

    Parameters
    ----------
    problem : Problem
        With a field that can be traced: trees, mechanisms, Lagrangians, equations of SymPy, Python functions of numbers
        without an `if` on a value.  Its parameters become constants.
    language : {"c", "cuda", "numpy", "jax", "casadi"}
        A key of `liegroup.printers.LANGUAGES`.
    method : str or Method, optional
        Of `integrators.METHODS`: a one-step method with a fixed step.
    step : float, optional
        With a method: the step size at which it is traced, s.  Iterations get the rounds that it needs: traced at twice
        the steps that are taken, they have some to spare.
    samples : array (n,) or (m, n), optional
        States from which the step is traced: as many rounds as the slowest of them needs. Default the start of the
        problem.  With `inputs` their numbers may follow those of the state, (m, n + nu); default as the problem holds
        them.
    derivatives : bool
        Write the Jacobians, too.
    inputs : bool
        The inputs of the problem are an argument u (nu,): those that no function gives, in the order of
        ``problem.inputs.names``, held over a step.  Else they are constants, as the problem holds them.

    Returns
    -------
    SourceText
        The text, a `str`; its ``load()`` gives the functions.

    Raises
    ------
    ValueError
        Another language; a method without a step, or one with memory; samples of another size; inputs of a problem
        that has none, or on whose rates the motion depends.
    TypeError
        What is no bool; a field that cannot be traced; a method that takes the exact derivatives of a mechanism (Radau,
        SDIRK, Rosenbrock).
    ArithmeticError
        The method fails at the samples, or its iteration runs away there.

    Examples
    --------
    >>> from integrators import Problem, generate_code
    >>> from liegroup import rn
    >>> swing = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    >>> text = generate_code(swing, "numpy", "RKMK4", 0.1)
    >>> end, left = text.load().one_step(0.0, 0.1, swing.y0)
    >>> end.round(6).tolist(), left.tolist()
    ([0.995004, -0.099833], [0.0])
    """
    of_kind(problem, Problem, "problem", "a Problem")
    if not isinstance(language, str) or language not in LANGUAGES:
        raise ValueError(f"language: {language!r}, expected one of {', '.join(map(repr, LANGUAGES))}")
    for name, value in (("derivatives", derivatives), ("inputs", inputs)):
        of_kind(value, (bool, np.bool_), name, "True or False")
    given, told = _inputs_of(problem) if inputs else ((), "")
    about = f"The field: body velocity of y.{told}"
    functions = [_of_field(problem, problem.field, "rhs", "rate", problem.dimension, about, given)]
    if derivatives:
        functions.append(_by("y", functions[0], "jacobian", "Derivative of rhs by y, by rows."))
    if derivatives and given:
        functions.append(_by("u", functions[0], "input_jacobian", "Derivative of rhs by u, by rows."))
    if problem.invariants is not None:
        names = ", ".join(problem.invariant_names)
        functions.append(
            _of_field(
                problem,
                problem.invariants,
                "invariants",
                "values",
                problem.invariant_count,
                f"Invariants: {names}.",
                given,
            )
        )
    if method is None and (step is not None or samples is not None):
        raise ValueError("step and samples: they are those of a method; give one, such as method='RKMK4'")
    if method is not None:
        stepped = _of_step(problem, find(method), step, samples, given)
        functions.append(stepped)
        if derivatives:
            says = "Derivative of the state after a step by"
            functions.append(_by("y", stepped, "step_jacobian", f"{says} y, by rows."))
            functions += [_by("u", stepped, "step_input_jacobian", f"{says} u, by rows.")] if given else []
    return printed(language, functions, f"{problem.model}: functions of t and y[{problem.n}].")


def compile_step(problem: Problem, method: str | Method, step: float, t: float = 0.0) -> int:
    """Compile the step of a method on a problem as straight-line code, for one trajectory and for lanes, and keep it in
    the cache: `integrate` then takes it by itself, in runs of 200 000 fixed steps and more.

    The bits are those of the stepper; on one body a step takes half the time or less.  Runs of 1e7 steps and more
    compile it by themselves.

    Parameters
    ----------
    problem : Problem
        Of kernels, on any group; its parameters may change afterwards, but for those that are zero.
    method : str or Method
        Explicit.
    step : float
        Size of the steps, s, of either sign; any other will do, too.
    t : float
        The time of the first, s.

    Returns
    -------
    int
        Operations of a step.

    Raises
    ------
    ValueError
        A step that iterates or remembers the one before, of more than 4000 operations, or with a field that is no
        kernel: those of users, jitted or not, are rounded as the compiler likes.

    Examples
    --------
    >>> from mechanics.systems import heavy_top
    >>> compile_step(heavy_top(), "LIE_EULER", 1e-4) < 300
    True
    """
    of_kind(problem, Problem, "problem", "a Problem")
    chosen = find(method)
    if not isinstance(chosen, Method):
        raise ValueError(f"method: {chosen.name}, expected a method of integrators.METHODS with a step of its own")
    chosen.check(problem, real(t, "t"))
    made = straight_step(problem, chosen, real(step, "step"), t)
    if made is None:
        raise ValueError(
            f"{problem.model}: a step of {chosen.name} is no straight line of at most {LIMIT} operations: it iterates, "
            "remembers or decides, or the field is not one of this package; use an explicit method such as RKMK4 or "
            "CF4, or integrate without compile_step"
        )
    _ = made.step.compiled, made.step.compiled_lanes
    return made.operations


def kernels_of(
    problem: Problem, method: str | Method, step: float, samples: ArrayLike | None = None, circles: Sequence[int] = ()
) -> SourceText:  # fmt: skip
    """The text for CUDA of a run: ``many_steps_each`` on states with the low words of their sums behind them, and the
    turns of their angles behind those, (2 n + c,) each, as compiled loops carry them; ``invariants_each``, if there are
    any; ``unwound_each``, if there are angles: the states with their turns.

    Parameters
    ----------
    problem, method, step, samples
        As of `generate_code`.
    circles : sequence of int
        Components whose turns are kept beside the state (`integrators.engine.winding`).

    Returns
    -------
    SourceText
        In CUDA C++.

    Raises
    ------
    ValueError, TypeError, ArithmeticError
        As of `generate_code`.
    """
    chosen = find(method)
    try:
        functions = [_of_step(problem, chosen, step, samples, carries=True)]
    except _RunsAwayError as error:  # from there others take the steps, of which the code says that they have left
        if samples is None or len(error.samples) == len(np.atleast_2d(samples)):
            raise
        functions = [_of_step(problem, chosen, step, np.delete(samples, error.samples, axis=0), carries=True)]
    if len(circles):
        assert isinstance(chosen, Method)
        winding, unwinding = _of_turns(problem, chosen, circles)
        functions = [functions[0]._replace(before=(winding, circles)), unwinding]
    if problem.invariants is not None:
        functions.append(_of_field(problem, problem.invariants, "invariants", "values", problem.invariant_count, ""))
    return printed("cuda", functions, f"{problem.model}: steps of many trajectories.")


def _graph(problem: Problem) -> Differentiable:
    """What notes functions of a problem, which may look its parameters up."""
    graph = Differentiable()
    graph.table = tuple(np.asarray(problem.own_parameters(), dtype=np.float64).tolist())
    return graph


def _inputs_of(problem: Problem) -> tuple[tuple[int, ...], str]:
    """The places among the parameters of the inputs that are held, and what a reader of the code is told of them."""
    inputs = problem.inputs
    if not inputs.free:
        says = "those of {!r} are given by functions" if len(inputs) else "{!r} has none"
        raise ValueError(
            f"inputs: {says.format(problem.model)}, expected numbers that are held, such as those of motors of a "
            "Mechanism, or of Problem(…, inputs={name: place})"
        )
    check_rates(problem.model, inputs, inputs.free, "code with inputs as an argument", ())
    names = (f"{inputs.names[k]} ({inputs.units[k]})" if inputs.units[k] else inputs.names[k] for k in inputs.free)
    return tuple(inputs.places[k] for k in inputs.free), f" u: {', '.join(names)}."


def _arguments(graph: Graph, parameters: Any, given: Sequence[int]) -> tuple[Any, dict[str, int]]:
    """The parameters, with inputs at the places that are given; what a function takes for them."""
    values = _numbers(parameters)
    if given:
        values[list(given)] = _vector(graph, "u", len(given))
    return values, {"u": len(given)} if given else {}


def _of_field(
    problem: Problem, field: Field, name: str, output: str, size: int, about: str, given: Sequence[int] = ()
) -> Function:
    graph = _graph(problem)
    t, y = graph.input(("t", None)), _vector(graph, "y", problem.n)
    out, (parameters, u) = np.empty(size, dtype=object), _arguments(graph, problem.parameters, given)
    try:
        traceable(field.python)(t, y, parameters, problem.structure, room(problem.work_shape), out)
    except TypeError as error:
        raise TypeError(
            f"{problem.model}: its {name} cannot be written as code without branches ({error}); inputs as functions of "
            "the time can, tables of samples and systems that choose by their values cannot"
        ) from error
    return Function(name, graph, {"t": 0, "y": problem.n} | u, {output: _nodes(graph, out)}, about)


def _by(variable: str, function: Function, name: str, about: str) -> Function:
    """The derivative of the first output of a function by a vector among its inputs."""
    graph = function.graph
    assert isinstance(graph, Differentiable)
    x = [graph.input((variable, k)).k for k in range(function.inputs[variable])]
    values = next(iter(function.outputs.values()))
    J = [graph.derivative(value, k) for value in values for k in x]
    return Function(name, graph, function.inputs, {"J": J}, about)


def _of_step(
    problem: Problem,
    method: Any,
    step: float | None,
    samples: ArrayLike | None,
    given: Sequence[int] = (),
    carries: bool = False,
) -> Function:
    """`carries`: a step of a run, whose low words are part of the state, and that normalises quaternions now and then;
    else a step by itself.
    """
    if not isinstance(method, Method) or method.stepper.multistep or method.stepper.starts:
        raise ValueError(
            f"method: {getattr(method, 'name', method)}, expected a one-step method of integrators.METHODS, "
            "whose steps remember nothing of those before"
        )
    if step is None:
        raise ValueError(f"step: None, expected the step size, s, at which {method.name} is traced")
    method.check(problem)
    called, divided = method.name, None
    if method.stepper.one_by_one and not carries:
        divided, method = method, method.stepper.one_by_one(method)
        called += ", undivided, its stages one after another"
    h0 = real(step, "step", "a finite number of seconds, not 0", lambda x: bool(np.isfinite(x)) and x != 0.0)
    states, held = np.atleast_2d(problem.y0 if samples is None else reals(samples, "samples")), len(given)
    if states.ndim != 2 or states.shape[1] not in (problem.n, problem.n + held):
        wanted = f"(m, {problem.n}), or with inputs (m, {problem.n + held})" if held else f"(m, {problem.n})"
        raise ValueError(f"samples: shape {states.shape}, expected {wanted}")
    if not np.isfinite(states).all():
        k = int(np.flatnonzero(~np.isfinite(states).all(axis=1))[0])
        raise ValueError(f"samples: number {k} is {states[k].tolist()}, expected finite numbers")
    if states.shape[1] == problem.n:
        states = np.hstack([states, np.tile(np.asarray(problem.parameters)[list(given)], (len(states), 1))])
    graph = _graph(problem)
    t, h, y = graph.input(("t", None)), graph.input(("h", None)), _vector(graph, "y", problem.n)
    parameters, u = _arguments(graph, problem.own_parameters(), given)
    known = {t.k: np.zeros(len(states)), h.k: np.full(len(states), h0)}
    low = _vector(graph, "y", problem.n, problem.n) if carries else room((problem.n,))
    known |= {x.k: np.zeros(len(states)) for x in low if carries}
    known |= {x.k: values for x, values in zip([*y, *parameters[list(given)]], states.T, strict=True)}

    def taken(number: int, name: str, about: str) -> tuple[Function, list[int]]:
        """The step of this number of a run, and the nodes of its state if its quaternions are normalised after it."""
        graph.path = Path(graph, known)
        end, behind, work = _end(problem, method, t, h, y, low, parameters.copy(), number)
        _check_samples(problem, method, h0, states, given, graph.path, _nodes(graph, end))
        left = graph.path.left
        if divided is not None and divided.stepper.unresolved is not None:
            slopes = work[OWN_ROWS : OWN_ROWS + method.options[0], : problem.dimension]
            left = select(less(0.0, divided.stepper.unresolved(divided, problem, h, y, slopes)), 1.0, left)
        outputs = {"end": _nodes(graph, [*end, *behind] if carries else end), "left": [left.k]}
        found = Function(name, graph, {"t": 0, "h": 0, "y": len(outputs["end"])} | u, outputs, about, advances=True)
        if not carries:
            return found, []
        renormalise(problem.table, end, behind)
        return found, _nodes(graph, [*end, *behind])

    about = f"A step of {called}: the state after it; left: 1 where the iteration would have gone on otherwise."
    ordinary, normalised = taken(1 if carries else 0, "one_step", about)
    if not carries:
        return ordinary
    due, _ = taken(0, "normalising_step", "The same, with quaternions of unit norm.")
    if due.wanted == ordinary.wanted:
        return ordinary
    if due.outputs == {**ordinary.outputs, "end": normalised}:
        due = _normalising(problem)
    return ordinary._replace(due=(RENORMALISE_EVERY, due))


def _check_samples(
    problem: Problem, method: Method, h: float, states: Array, given: Sequence[int], path: Path, end: Sequence[int]
) -> None:
    """Raise where the code does not give the step from a sample whose decisions are uncertain."""
    uncertain, wrong = np.flatnonzero(np.broadcast_to(path.uncertain, len(states))).tolist(), list[int]()
    if not uncertain:
        return
    found = np.transpose([np.broadcast_to(path.value(x), len(states)) for x in end])
    for k in uncertain:
        parameters = np.array(problem.parameters)
        parameters[list(given)] = states[k, problem.n :]
        step = step_map(replace(problem, parameters=parameters), method, interpreted=True)
        with np.errstate(all="ignore"):
            truth = step(states[k, : problem.n], h)
        if problem.projection is not None:
            at, work = truth.copy(), np.zeros(problem.work_shape)
            problem.projection.python(h, at, parameters, problem.structure, work, truth)
        if not np.abs(found[k] - truth).max() <= SAME * np.abs(truth).max():
            wrong.append(k)
    if wrong:
        raise _RunsAwayError(
            f"{problem.model}: a step of {method.name} from the sample {states[wrong[0]].tolist()} cannot be written "
            f"as code: in steps of {h:g} s its iteration runs away there, and the method goes on by another one that "
            "decides by values; expected a smaller step, or a method without iteration, such as RKMK4",
            wrong,
        )


def _normalising(problem: Problem) -> Function:
    """Of a state with its low words: quaternions of unit norm."""
    graph = _graph(problem)
    y, low = _vector(graph, "y", problem.n), _vector(graph, "y", problem.n, problem.n)
    renormalise(problem.table, y, low)
    outputs = {"end": _nodes(graph, [*y, *low])}
    return Function("normalised", graph, {"y": 2 * problem.n}, outputs, "The state with quaternions of unit norm.")


def _of_turns(problem: Problem, method: Method, circles: Sequence[int]) -> tuple[Function, Function]:
    """What takes a turn off angles beyond half a turn, and what gives states with their turns: of a state with its low
    words and the turns of its angles.
    """
    n, found = problem.n, []
    for name in ("wound", "unwound"):
        graph = _graph(problem)
        y, low, turns = _vector(graph, "y", n), _vector(graph, "y", n, n), room((n,))
        turns[list(circles)] = _vector(graph, "y", len(circles), 2 * n)
        if name == "wound":
            graph.path = Path(graph, {y[k].k: np.full(1, 4.0) for k in circles})
            wind(np.array(circles), y, low, turns, method.compensated)
            values, about = (
                [*y, *low, *turns[list(circles)]],
                "The state with one turn taken off angles beyond half one.",
            )
        else:
            values, about = [unwound(y, turns, k) for k in range(n)], "The state with the turns of its angles."
        found.append(Function(name, graph, {"y": 2 * n + len(circles)}, {"end": _nodes(graph, values)}, about))
    return found[0], found[1]


def _end(
    problem: Problem, method: Method, t: Traced, h: Traced, y: Any, low_words: Any, parameters: Any, number: int
) -> tuple[Any, Any, Any]:
    """The state after a step of this number, its low words and the workspace of the method, traced."""
    end, low, counters = y.copy(), low_words.copy(), np.zeros(COUNTERS, dtype=np.int64)
    counters[STEPS] = number
    work = room(method.work_shape(problem))
    try:
        status = advanced(problem, method, t, h, end, low, parameters, work, counters)
    except TypeError as error:
        asks = problem.has_jacobian and method.stepper.evaluates == "linearised"
        says = (
            f"; {method.name} takes the exact derivatives of the field, and those of mechanisms are not written: "
            "choose an explicit method, GAUSS8, MIDPOINT or TREE_VARIATIONAL"
        )
        raise TypeError(
            f"{problem.model}: a step of {method.name} cannot be traced: {error}{says if asks else ''}"
        ) from error
    if status != OK:
        raise ArithmeticError(f"{problem.model}: a step of {method.name} at the samples: {Status(status).name}")
    if problem.projection is None:
        return end, low, work
    projected = end.copy()
    problem.projection.python(t + h, end, parameters, problem.structure, room(problem.work_shape), projected)
    return projected, low, work


def _vector(graph: Graph, name: str, size: int, start: int = 0) -> Any:
    return scalars([graph.input((name, start + k)) for k in range(size)])


def _numbers(parameters: Any) -> Any:
    """Python's numbers, whose products with traced ones are traced."""
    out = np.empty(len(parameters), dtype=object)
    out[:] = np.asarray(parameters, dtype=np.float64).tolist()
    return out


def _nodes(graph: Graph, values: Any) -> list[int]:
    return [graph.number(x.k) if isinstance(x, Traced) else graph.constant(x) for x in values]
