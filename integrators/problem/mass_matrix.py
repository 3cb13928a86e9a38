"""Equations M(t, y) ẏ = f(t, y) on Rⁿ with a regular matrix M, from plain functions of numbers.

The functions are run once on scalars that note what is done to them (`liegroup.compile.tracing`); rows of M that are
rows of the unit matrix (q̇ = …) are taken out of the linear system, and what is left is solved at every evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arithmetic.elimination import solve_rows
from integrators.problem.derivatives import Differentiable
from integrators.problem.field_source import field_source, stores
from integrators.problem.fields import as_field
from integrators.problem.lagrangian import built, checked_start, scalar
from integrators.problem.problem import Problem
from liegroup.arrays import check_function, reals
from liegroup.compile import ld, ld2, st, st2
from liegroup.compile.generated import module_of
from liegroup.compile.traceable import on_scalars, scalars, traceable
from liegroup.compile.tracing import IMPORTS
from liegroup.group import rn

Array = NDArray[np.float64]
VALUES, SYSTEM = 0, 1
"""Rows of the field's workspace: f and M, the linear system."""
SINGULAR = 1e-13
"""Ratio of the singular values of M below which it is singular."""


def mass_matrix_problem(
    mass: Callable[..., Any],
    forcing: Callable[..., Any],
    y: ArrayLike,
    parameters: ArrayLike = (),
    *,
    t: float = 0.0,
    invariants: Mapping[str, Callable[..., Any]] | None = None,
    invariant_units: Sequence[str] = (),
    model: str = "system with a mass matrix",
) -> Problem:
    """The motion M(t, y) ẏ = f(t, y) from y.

    Parameters
    ----------
    mass, forcing : callable
        ``M(t, y, parameters)`` → (n, n), ``f(t, y, parameters)`` → (n,): plain functions of arrays of scalars.
    y : array (n,)
        Initial state.
    parameters : array (k,), optional
        Handed to the functions.
    t : float
        When M is asked for regularity; time of the start.
    invariants : mapping of str to callable, optional
        Numbers ``f(t, y, parameters)`` to watch.
    invariant_units : sequence of str, optional
        Their units.
    model : str
        Name for tables and files.

    Returns
    -------
    Problem
        On Rⁿ, for every method of fields.

    Raises
    ------
    ValueError, TypeError
        Functions that cannot be traced, values of the wrong shape, a matrix that is singular at the start.

    Notes
    -----
    Holds where M is regular; a step that meets a singular matrix fails by name (not finite).

    Examples
    --------
    A pendulum of 2 kg·m², as (angle, rate):

    >>> import numpy as np
    >>> from integrators import integrate
    >>> pendulum = mass_matrix_problem(
    ...     lambda t, y, p: [[1.0, 0.0], [0.0, p[0]]], lambda t, y, p: [y[1], -np.sin(y[0])], [1.0, 0.0], [2.0]
    ... )
    >>> integrate(pendulum, "RKMK4", (0, 1), 0.01).success
    True
    """
    y0 = checked_start(y)
    numbers = np.atleast_1d(reals(parameters, "parameters"))
    n = len(y0)
    check_function(mass, "mass", "a function M(t, y, parameters)", 3)
    check_function(forcing, "forcing", "a function f(t, y, parameters)", 3)
    named = dict(invariants or {})
    for name, function in named.items():
        check_function(function, f"invariants[{name!r}]", "a function of (t, y, parameters)", 3)
    _check_regular(mass, t, y0, numbers, n)

    g = Differentiable()
    at, s = g.input("t"), [g.input(f"ld(y, {i})") for i in range(n)]
    p = [g.input(f"parameters[{i}]") for i in range(len(numbers))]
    M = _nodes(g, on_scalars(mass, "mass(t, y, parameters)", at, scalars(s), scalars(p)), (n, n), "mass")
    f = _nodes(g, on_scalars(forcing, "forcing(t, y, parameters)", at, scalars(s), scalars(p)), (n,), "forcing")
    solved = [i for i in range(n) if any(g.value(int(M[i, j])) != float(i == j) for j in range(n))]
    known = [i for i in range(n) if i not in solved]
    for i in solved:
        for j in known:
            f[i] = g.apply("subtract", int(f[i]), g.apply("multiply", int(M[i, j]), int(f[j])))
    values = [int(k) for k in (*f, *M[np.ix_(solved, solved)].ravel())]
    watched = [scalar(g, traceable(function)(at, scalars(s), scalars(p)), name) for name, function in named.items()]
    module = module_of(_HEADER + field_source("parts", stores(g, values)) + field_source("watched", stores(g, watched)))

    m = len(solved)
    return Problem(
        rn(n).table,
        y0,
        built(partial(_rates, n=n, solved=tuple(solved)), as_field(module.parts), partial(_evaluated, n=n, m=m)),
        parameters=numbers,
        work_shape=(SYSTEM + m, max(n + m * m, m + 1)),
        invariants=module.watched if named else None,
        invariant_names=tuple(named),
        invariant_units=tuple(invariant_units) or ("",) * len(named),
        model=model,
    )


def _check_regular(mass: Callable[..., Any], t: float, y: Array, numbers: Array, n: int) -> None:
    with np.errstate(all="ignore"):
        M = np.array(mass(t, y.copy(), numbers.copy()), dtype=np.float64)
    if M.shape != (n, n):
        raise ValueError(f"mass: shape {M.shape}, expected ({n}, {n})")
    if not np.isfinite(M).all():
        i, j = np.argwhere(~np.isfinite(M))[0]
        raise ValueError(
            f"mass: entry ({i}, {j}) is {M[i, j]} at the start; start elsewhere, or write it without dividing by what "
            "is zero there"
        )
    sizes = np.linalg.svd(M, compute_uv=False)
    if sizes[-1] <= SINGULAR * sizes[0]:
        raise ValueError(
            f"mass: singular at the start, {M.tolist()}; start elsewhere, give every coordinate inertia, or leave out "
            "equations that follow from the others"
        )


def _nodes(g: Differentiable, values: Any, shape: tuple[int, ...], what: str) -> Any:
    found = np.array(values, dtype=object)
    if found.shape != shape:
        raise ValueError(f"{what}: shape {found.shape}, expected {shape}")
    return np.array([scalar(g, x, what) for x in found.ravel()], dtype=np.int64).reshape(shape)


_HEADER = f'''"""One system with a mass matrix: written by integrators.problem.mass_matrix."""

from integrators.signatures import FIELD_SIGNATURES
{IMPORTS}
'''


def _evaluated(parts: Callable[..., None], n: int, m: int) -> Callable[..., None]:
    """f and M into their row."""

    def evaluated(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
        parts(t, y, parameters, structure, work, work[VALUES][: n + m * m])

    return evaluated


def _rates(evaluated: Callable[..., None], n: int, solved: tuple[int, ...]) -> Callable[..., None]:
    """out = M⁻¹ f."""
    m, places = len(solved), np.array(solved, dtype=np.int64)

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        evaluated(t, y, parameters, structure, work)
        values = work[VALUES]
        for i in range(n):
            st(out, i, ld(values, i))
        for k in range(m):
            for j in range(m):
                st2(work, SYSTEM + k, j, ld(values, n + m * k + j))
            st2(work, SYSTEM + k, m, ld(values, places[k]))
        if m:
            solve_rows(work, SYSTEM, m, 1)
        for k in range(m):
            st(out, places[k], ld2(work, SYSTEM + k, m))

    return field
