"""The parts of the equations of a nonholonomic system, derived from notes of what its functions do to scalars.

A function runs once on scalars that note what is done to them (`liegroup.compile.tracing`); the notes are
differentiated exactly, along the left-trivialised directions of the group and along the motion.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem.derivatives import Differentiable
from integrators.problem.field_source import ARGUMENTS, stores
from integrators.problem.lagrangian import along, scalar
from integrators.problem.parts import constrained
from liegroup.compile.traceable import scalars, traceable
from liegroup.compile.tracing import NAMESPACE, Graph, Traced
from liegroup.table import bracket_transpose

Array = NDArray[Any]
Function = Callable[..., Any]
_Kind = inspect.Parameter
LEAST_PIVOT = 1e-10
"""Relative to the largest entry: smaller pivots of the rows count as zero."""


FORMS = {
    "mass": ("T(q, v)", "M(q)"),
    "rows": ("A(q)", "A(t, q)"),
    "potential": ("V(q)",),
    "force": ("F(t, q, v)",),
    "value": ("c(t, q)",),
    "position": ("φ(q)",),
    "frame": ("S(q)",),
    "metric": ("μ()",),
    "gyro": ("g(q, u)",),
    "invariants": ("f(q, v)",),
    "edges": ("e(q)",),
}
"""How the functions are called, besides the parameters; of two forms the first unless the arguments are those of the
second.
"""
MATRIX, TIMED = 1, 1
"""The second forms: of `mass` and of `rows`."""


class Derived(NamedTuple):
    """What was derived: functions in a field's signature, and sizes."""

    parts: Function
    """In the layout `Constrained`."""
    frame: Function | None
    """S and Ṡ u (see `mechanics.nonholonomic.projected`)."""
    m: int
    k: int
    free: list[int] | None
    """The components of v that are the quasi-velocities, if they are."""


def derive(functions: Any) -> Derived:
    """The parts, and a frame if one is given or can be read off the rows, of `written.Functions`."""
    notes = _Notes(functions)
    rows, value = _rows(notes)
    m, n = rows.shape
    position = np.zeros(0) if functions.position is None else np.atleast_1d(notes.call("position", notes.q))
    blocks = {"ROWS": rows.flat, "VALUE": value, "POSITION": position, **_dynamics(notes), **_bias(notes, rows, value)}
    at = constrained(n, m, len(position))
    values: list[Any] = [0.0] * at.SIZE
    for name, block in blocks.items():
        start, block = getattr(at, name), list(block)
        values[start : start + len(block)] = block
    parts = function_of("parts", written(notes.graph, values))
    free, basis = (None, notes.call("frame", notes.q)) if functions.frame is not None else _chart(notes, rows, value)
    if basis is not None and basis.shape != (n, n - m):
        raise ValueError(f"frame: returned an array of shape {basis.shape}, expected ({n}, {n - m})")
    return Derived(parts, None if basis is None else _frame(notes, basis), m, len(position), free)


def argument_counts(name: str, has_parameters: bool) -> list[int]:
    """How many arguments a function takes in each of its forms."""
    return [(0 if "()" in form else 1 + form.count(",")) + has_parameters for form in FORMS[name]]


def form_taken(name: str, function: Function, has_parameters: bool) -> int:
    """Which of its `FORMS` a function is called in.

    Raises
    ------
    TypeError
        If it may be either, as an argument with a default may be that of the parameters or one that nobody gives.
    """
    signature, counts = inspect.signature(function), argument_counts(name, has_parameters)
    kinds = [(p.kind, p.default is p.empty) for p in signature.parameters.values()]
    positional = [needed for kind, needed in kinds if kind in (_Kind.POSITIONAL_ONLY, _Kind.POSITIONAL_OR_KEYWORD)]
    needed, takes_any = sum(positional), any(kind is _Kind.VAR_POSITIONAL for kind, _ in kinds)
    fitting = [i for i, count in enumerate(counts) if needed <= count and (takes_any or count <= len(positional))]
    if has_parameters and len(fitting) > 1 and not takes_any:
        forms = " or ".join(form[:-1] + ", parameters)" for form in FORMS[name])
        raise TypeError(
            f"{name}: a function of {signature} may be meant as {forms}; give the arguments that it is called with no "
            "default, and put others behind a *"
        )
    return counts.index(needed) if needed in counts else fitting[0] if fitting else 0


def _form_of(name: str) -> str:
    return " or ".join(FORMS.get(name, (name,)))


class _Notes:
    """A graph with the variables of a system as its inputs, and the derivatives along its motion."""

    def __init__(self, functions: Any) -> None:
        self.functions, self.graph = functions, Differentiable()
        n_q, n = functions.n_q, functions.n
        self.t = self.graph.input("t")
        state = inputs(self.graph, "ld(y, {})", n_q + n)
        self.q, self.v = state[:n_q], state[n_q:]
        self.parameters = inputs(self.graph, "parameters[{}]", functions.parameters or 0)
        self._directions = [
            [Traced(self.graph, along(self.graph, x.k, functions.group, list(self.q), j)) for j in range(n)]
            for x in self.q
        ]

    def call(self, name: str, *arguments: Any, shape: tuple[int, ...] | None = None) -> Array:
        """The values of a function, or zeros of a shape if it is not given; errors name it."""
        function = getattr(self.functions, name)
        if function is None:
            return self.array(np.zeros(shape or ()), name)
        given = arguments if self.functions.parameters is None else (*arguments, self.parameters)
        try:
            values = self.array(
                np.array(
                    traceable(function)(*(x.copy() if isinstance(x, np.ndarray) else x for x in given)), dtype=object
                ),
                name,
            )
        except IndexError as error:
            raise ValueError(
                f"{name}: {error}; it is called as {_form_of(name)} with {self.functions.n_q} numbers q, "
                f"{self.functions.n} velocities v, and {self.functions.parameters or 0} parameters"
            ) from error
        except (TypeError, AttributeError) as error:
            raise TypeError(
                f"{name}: could not be traced ({error}); it is called as {_form_of(name)}; write it with + - * / **, "
                "loops, arrays and the functions of liegroup.compile.scalars or NumPy, or pass interpreted=True (steps "
                "take a thousand times longer)"
            ) from error
        if shape is not None and values.shape != shape:
            raise ValueError(f"{name}: returned an array of shape {values.shape}, expected {shape}")
        return values

    def array(self, values: Array, name: str) -> Array:
        """The values as scalars of the graph."""
        found = np.empty(np.shape(values), dtype=object)
        for at in np.ndindex(found.shape):
            found[at] = Traced(self.graph, scalar(self.graph, values[at], name))
        return found

    def derivative(self, x: Any, by: Any) -> Any:
        return Traced(self.graph, self.graph.derivative(x.k, by.k))

    def along(self, x: Any, j: int) -> Any:
        """The left-trivialised derivative along the velocity e_j."""
        return sum(self.derivative(x, q) * self._directions[i][j] for i, q in enumerate(self.q))

    def rate(self, x: Any, v: Any) -> Any:
        """The rate along the motion with velocity v."""
        return self.derivative(x, self.t) + sum(self.along(x, j) * speed for j, speed in enumerate(v))


def inputs(graph: Graph, source: str, count: int) -> Array:
    """Scalars that are read by the expressions ``source.format(i)``."""
    found: Array = scalars([graph.input(source.format(i)) for i in range(count)])
    return found


def _rows(notes: _Notes) -> tuple[Array, Array]:
    """A and c."""
    n, functions = notes.functions.n, notes.functions
    timed = form_taken("rows", functions.rows, functions.parameters is not None) == TIMED
    rows = notes.call("rows", *((notes.t, notes.q) if timed else (notes.q,)))
    rows = rows.reshape(1, -1) if rows.ndim < 2 else rows
    if rows.ndim != 2 or rows.shape[1] != n:
        raise ValueError(f"rows: returned an array of shape {rows.shape}, expected (m, {n})")
    if len(rows) >= n:
        raise ValueError(f"rows: {len(rows)} rows for {n} velocities leave nothing to move; expected at most {n - 1}")
    return rows, notes.call("value", notes.t, notes.q, shape=(len(rows),))


def _kinetic(notes: _Notes) -> tuple[Any, list[Any], Array]:
    """T, M v and M."""
    n, v, functions = notes.functions.n, notes.v, notes.functions
    if form_taken("mass", functions.mass, functions.parameters is not None) == MATRIX:
        mass = notes.call("mass", notes.q, shape=(n, n))
        momentum = [sum(mass[i, j] * v[j] for j in range(n)) for i in range(n)]
        return 0.5 * sum(x * p for x, p in zip(v, momentum, strict=True)), momentum, mass
    energy = notes.call("mass", notes.q, v, shape=())[()]
    momentum = [notes.derivative(energy, x) for x in v]
    mass = np.array([[notes.derivative(p, x) for x in v] for p in momentum], dtype=object)
    if any(notes.graph.value(notes.derivative(x, y).k) != 0.0 for x in mass.flat for y in v):
        raise ValueError("mass: the kinetic energy T(q, v) is not quadratic in v")
    return energy, momentum, mass


def _dynamics(notes: _Notes) -> dict[str, Any]:
    """The blocks of M and of all forces."""
    n, v = notes.functions.n, notes.v
    energy, momentum, mass = _kinetic(notes)
    potential = notes.call("potential", notes.q, shape=())[()]
    transport = np.empty(n, dtype=object)
    bracket_transpose(notes.functions.group, v, np.array(momentum, dtype=object), transport)
    return {
        "MASS": mass.flat,
        "GRADIENT": [notes.along(potential, j) for j in range(n)],
        "FORCE": notes.call("force", notes.t, notes.q, v, shape=(n,)),
        "KINETIC": [notes.along(energy, j) for j in range(n)],
        "RATE": [notes.rate(momentum[i], v) - transport[i] for i in range(n)],
        "POTENTIAL": [potential],
    }


def _bias(notes: _Notes, rows: Array, value: Array) -> dict[str, Any]:
    """β = Ȧ v − ċ."""
    v = notes.v
    turned = [sum(notes.rate(a, v) * x for a, x in zip(row, v, strict=True)) for row in rows]
    return {"BIAS": [a - notes.rate(c, v) for a, c in zip(turned, value, strict=True)]}


def _chart(notes: _Notes, rows: Array, value: Array) -> tuple[list[int] | None, Array | None]:
    """Free components of v and S, if the rows can be solved for the others by columns that are numbers.

    Columns that change are not used: their block may turn singular on the way.
    """
    m, n = rows.shape
    known = np.array([[notes.graph.value(x.k) for x in row] for row in rows], dtype=float)
    usable = np.isfinite(known).all(axis=0)
    dependent = pivots(np.where(usable, known, 0.0))
    if len(dependent) < m or any(notes.graph.value(x.k) != 0.0 for x in value):
        return None, None
    free = [j for j in range(n) if j not in dependent]
    basis = np.zeros((n, n - m), dtype=object)
    basis[free] = np.eye(n - m)
    solved = np.linalg.inv(known[:, dependent])
    basis[dependent] = [[-sum(x * a for x, a in zip(row, rows[:, j], strict=True)) for j in free] for row in solved]
    return free, notes.array(basis, "rows")


def pivots(a: NDArray[np.float64]) -> list[int]:
    """The columns of the largest pivots of a, fewer than its rows where these depend on the others."""
    work, chosen = a.copy(), list[int]()
    scale = np.abs(a).max(initial=0.0)
    for row in range(len(a)):
        free = [j for j in range(a.shape[1]) if j not in chosen]
        j = max(free, key=lambda c: np.abs(work[row:, c]).max())
        i = row + int(np.abs(work[row:, j]).argmax())
        if not abs(work[i, j]) > LEAST_PIVOT * scale:
            break
        work[[row, i]] = work[[i, row]]
        work[row + 1 :] -= np.outer(work[row + 1 :, j] / work[row, j], work[row])
        chosen.append(j)
    return sorted(chosen)


def _frame(notes: _Notes, basis: Array) -> Function:
    """The function of S and Ṡ u, for a state (q, u)."""
    u = notes.v[: basis.shape[1]]  # stands behind q, too
    v = [sum(s * x for s, x in zip(row, u, strict=True)) for row in basis]
    rates = [sum(notes.rate(s, v) * x for s, x in zip(row, u, strict=True)) for row in basis]
    return function_of("frame", written(notes.graph, [*basis.flat, *rates]))


# --- source code ------------------------------------------------------------------------------------------------------


def written(graph: Graph, values: Sequence[Any]) -> list[str]:
    """The body of a function that writes the values one after the other."""
    return stores(graph, [x.k if isinstance(x, Traced) else graph.constant(x) for x in values])


def function_of(name: str, body: Sequence[str]) -> Function:
    """The function with this body, in a field's signature."""
    namespace: dict[str, Any] = dict(NAMESPACE)
    text = "\n    ".join((f"def {name}({ARGUMENTS}):", *body))
    exec(compile(text, f"<{name}>", "exec"), namespace)
    made: Function = namespace[name]
    return made
