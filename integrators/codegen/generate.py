"""A problem as code in another language: its field, its invariants, a step of a method.

The Python source of the kernels is run once on scalars that note what is done to them
(`liegroup.compile.tracing`); one of the printers writes the notes down (`liegroup.printers`).  Steps of implicit
methods decide by values how many rounds their iterations take.  They are traced as steps from states given as samples
take them: the rounds are then fixed, and the code says where another state would have gone another way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.layout import COUNTERS
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.derivatives import Differentiable
from integrators.problem.fields import Field
from integrators.status import OK, Status
from liegroup.arrays import of_kind, real, reals
from liegroup.compile.tracing import Graph, Path, Traced
from liegroup.printers import LANGUAGES, Function, SourceText, printed

Array = NDArray[np.float64]


def generate_code(
    problem: Problem,
    language: str,
    method: str | Method | None = None,
    step: float | None = None,
    samples: ArrayLike | None = None,
    derivatives: bool = False,
) -> SourceText:
    """Source text of functions of a problem, for use without this package.

    ==========================  =========================================================================
    ``rhs(t, y)``               the field: the body velocity of the state, one number per component
    ``invariants(t, y)``        the invariants in the order of ``problem.invariant_names``, if there are any
    ``one_step(t, h, y)``       with a method: the state after a step, and `left`, 0 or 1
    ``jacobian(t, y)``          with derivatives: ∂rhs/∂y by rows
    ``step_jacobian(t, h, y)``  with both: ∂(the state after a step)/∂y by rows
    ==========================  =========================================================================

    ``one_step`` is the step by itself, without memory of steps before, as `integrators.method.step_map` takes it,
    followed by the problem's projection.  Where `left` is 1, the state would have taken another way through the method
    than the samples: more rounds of an iteration, another chart.  Its numbers are then not those of the method.  C and
    CUDA have the loop besides: ``many_steps(t, h, steps, y)``, a kernel ``many_steps_each``.

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
        With a method: the step size of the samples, s.
    samples : array (n,) or (m, n), optional
        States from which the step is traced: as many rounds as the slowest of them needs. Default the start of the
        problem.
    derivatives : bool
        Write the Jacobians, too.

    Returns
    -------
    SourceText
        The text, a `str`; its ``load()`` gives the functions.

    Raises
    ------
    ValueError
        Another language; a method without a step, or one with memory; samples of another size.
    TypeError
        A field that cannot be traced.
    ArithmeticError
        The method fails at the samples.

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
    about = "The field: body velocity of y."
    functions = [_of_field(problem, problem.field, "rhs", "rate", problem.dimension, about)]
    if derivatives:
        functions.append(_by_state(functions[0], "jacobian", "Derivative of rhs by y, by rows."))
    if problem.invariants is not None:
        names = ", ".join(problem.invariant_names)
        functions.append(
            _of_field(
                problem, problem.invariants, "invariants", "values", problem.invariant_count, f"Invariants: {names}."
            )
        )
    if method is None and (step is not None or samples is not None):
        raise ValueError("step and samples: they are those of a method; give one, such as method='RKMK4'")
    if method is not None:
        functions.append(_of_step(problem, find(method), step, samples))
    if method is not None and derivatives:
        functions.append(
            _by_state(functions[-1], "step_jacobian", "Derivative of the state after a step by y, by rows.")
        )
    for function in functions:
        if any(node[0] == "taken" for node in function.graph.nodes):
            raise TypeError(
                f"{problem.model}: {function.name} looks numbers up in a table, those of a motion by samples or by a "
                "function; code in other languages has no tables yet: give the motion as an input, or as a polynomial"
            )
    return printed(language, functions, f"{problem.model}: functions of t and y[{problem.n}].")


def _of_field(problem: Problem, field: Field, name: str, output: str, size: int, about: str) -> Function:
    graph = Differentiable()
    t, y = graph.input(("t", None)), _vector(graph, "y", problem.n)
    out = np.empty(size, dtype=object)
    field.python(t, y, _numbers(problem.parameters), problem.structure, _room(problem.work_shape), out)
    return Function(name, graph, {"t": 0, "y": problem.n}, {output: _nodes(graph, out)}, about)


def _by_state(function: Function, name: str, about: str) -> Function:
    """The derivative of the first output of a function by y."""
    graph = function.graph
    assert isinstance(graph, Differentiable)
    y = [graph.input(("y", k)).k for k in range(function.inputs["y"])]
    values = next(iter(function.outputs.values()))
    J = [graph.derivative(value, k) for value in values for k in y]
    return Function(name, graph, function.inputs, {"J": J}, about)


def _of_step(problem: Problem, method: Any, step: float | None, samples: ArrayLike | None) -> Function:
    if not isinstance(method, Method) or method.stepper.multistep:
        raise ValueError(
            f"method: {getattr(method, 'name', method)}, expected a one-step method of integrators.METHODS"
        )
    if step is None:
        raise ValueError(f"step: None, expected the step size, s, at which {method.name} is traced")
    method.check(problem)
    h0 = real(step, "step")
    states = np.atleast_2d(problem.y0 if samples is None else reals(samples, "samples"))
    if states.ndim != 2 or states.shape[1] != problem.n:
        raise ValueError(f"samples: shape {states.shape}, expected (m, {problem.n})")
    graph = Differentiable()
    t, h, y = graph.input(("t", None)), graph.input(("h", None)), _vector(graph, "y", problem.n)
    known = {t.k: np.zeros(len(states)), h.k: np.full(len(states), h0)}
    graph.path = Path(graph, known | {x.k: values for x, values in zip(y, states.T, strict=True)})
    end = _end(problem, method, t, h, y)
    outputs = {"end": _nodes(graph, end), "left": [graph.path.left.k]}
    about = f"A step of {method.name}: the state after it; left: 1 where the iteration would have gone on otherwise."
    return Function("one_step", graph, {"t": 0, "h": 0, "y": problem.n}, outputs, about, advances=True)


def _end(problem: Problem, method: Method, t: Traced, h: Traced, y: Any) -> Any:
    """The state after a step, traced."""
    end, low, counters = y.copy(), np.full(problem.n, 0.0, dtype=object), np.zeros(COUNTERS, dtype=np.int64)
    parameters = _numbers(problem.own_parameters())
    status = method.step(problem).python(
        method.function(problem).python, t, h, end, low, problem.table, method.kernel_coefficients(problem),
        method.kernel_options(problem), parameters, problem.structure, _room(problem.work_shape),
        _room(method.work_shape(problem)), counters,
    )  # fmt: skip
    if status != OK:
        raise ArithmeticError(f"{problem.model}: a step of {method.name} at the samples: {Status(status).name}")
    if problem.projection is None:
        return end
    projected = end.copy()
    problem.projection.python(t + h, end, parameters, problem.structure, _room(problem.work_shape), projected)
    return projected


def _vector(graph: Graph, name: str, size: int) -> Any:
    out = np.empty(size, dtype=object)
    out[:] = [graph.input((name, k)) for k in range(size)]
    return out


def _room(shape: tuple[int, ...]) -> Any:
    return np.full(shape, 0.0, dtype=object)


def _numbers(parameters: Any) -> Any:
    """Python's numbers, whose products with traced ones are traced."""
    out = np.empty(len(parameters), dtype=object)
    out[:] = np.asarray(parameters, dtype=np.float64).tolist()
    return out


def _nodes(graph: Graph, values: Any) -> list[int]:
    return [x.k if isinstance(x, Traced) else graph.constant(x) for x in values]
