"""Problems and measurements for tests of methods, also of methods that other packages add.

>>> from integrators.methods import find
>>> abs(order_on("SO3", find("RKMK4"), [20, 40, 80]).order - 4) < 0.25
True
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import solve_ivp

from integrators.analysis import MeasuredOrder, measured_order
from integrators.integrate import integrate
from integrators.method import Method
from integrators.problem import Problem
from integrators.problem.ambient import ambient_velocity
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sincos
from liegroup.modules import listing
from liegroup.table import EXP, N_Q, RN, SE2, SE3, SO2, SO3, increment, quaternions, table_of

__all__ = [
    "END",
    "GROUPS",
    "end_state",
    "group_distance",
    "linear",
    "order_on",
    "order_problem",
    "reference_state",
    "wavy",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
GROUPS: dict[str, tuple[tuple[int, int], ...]] = {
    "R3": ((RN, 3),),
    "SO3": ((SO3, 1),),
    "SE3": ((SE3, 1),),
    "product": ((SO3, 1), (RN, 2), (SE2, 1), (SO2, 1), (SE3, 1)),
}
"""Groups on which orders are measured: (kind, copies) of the factors."""
END = 1.0
"""Time at the end of the runs, s."""


@entry(*FIELD_SIGNATURES)
def wavy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """A smooth field that depends on the time and on every component of the state, translations included, on any
    group.
    """
    n = y.shape[0]
    for j in range(out.shape[0]):
        phase = 0.3 * j + (1.0 + 0.2 * j) * t
        total = ld(y, 0) * 0.0
        for i in range(n):
            s, c = sincos(ld(y, i) + (phase + 0.7 * i))
            total = total + (s + 0.5 * c * ld(y, (i + 1) % n))
        st(out, j, parameters[0] * total / n**0.5)


@entry(*FIELD_SIGNATURES)
def linear(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """A field that depends on the time only."""
    for j in range(out.shape[0]):
        s, c = sincos((1.0 + 0.3 * j) * t + 0.4 * j)
        st(out, j, ld(y, 0) * 0.0 + parameters[0] * (s + 0.6 * c * c + 0.2 * t))


def order_problem(group: str, field: Any = wavy) -> Problem:
    """A nonlinear, non-autonomous problem on one of `GROUPS`, away from the identity.

    Parameters
    ----------
    group : str
        A key of `GROUPS`.
    field : Entry
        The field; default the nonlinear one.

    Returns
    -------
    Problem
        On the group.

    Examples
    --------
    >>> order_problem("SO3")
    <Problem 'SO3 test problem': on SO(3)>
    """
    table = table_of(GROUPS[group])
    y0: list[float] = []
    for n_q in table[:, N_Q]:
        y0 += list(0.3 + 0.2 * np.arange(n_q))
    for k in quaternions(table):
        y0[k : k + 4] = np.array([0.8, 0.4, -0.2, 0.3]) / np.linalg.norm([0.8, 0.4, -0.2, 0.3])
    return Problem(table, y0, field, parameters=[1.0], model=f"{group} test problem")


def end_state(problem: Problem, method: Method, steps: int, end: float = END) -> Array:
    """The state at the end of `steps` equal steps; RuntimeError if the run does not get there.

    Parameters
    ----------
    problem : Problem
        What is integrated.
    method : Method
        With equal steps.
    steps : int
        How many.
    end : float
        The time, s; the start is at 0.

    Returns
    -------
    array (n,)
        The last state.

    Raises
    ------
    RuntimeError
        The run does not get there.

    Examples
    --------
    >>> from integrators.methods import find
    >>> end_state(order_problem("SO3"), find("RKMK4"), 4).shape
    (4,)
    """
    solution = integrate(problem, method, (0.0, end), step=end / steps, save_every=steps, progress=False)
    if np.any(np.atleast_1d(np.asarray(solution.status)) != 0):
        raise RuntimeError(f"{method.name}: {solution.message}")
    return np.asarray(solution.y[-1], dtype=np.float64)


def group_distance(table: Any, y: ArrayLike, z: ArrayLike) -> float:
    """Largest component of log(y⁻¹ z).

    Parameters
    ----------
    table : int64 array (factors, 5)
        The group.
    y, z : array (n_q,)
        Two elements.

    Returns
    -------
    float
        Not negative.

    Raises
    ------
    ValueError
        Arrays of other sizes.

    Examples
    --------
    >>> from liegroup import so3
    >>> group_distance(so3.table, so3.identity(), so3.exp([0.0, 0.0, 0.5]))
    0.5
    """
    table = np.asarray(table)
    out = np.zeros(int(table[:, 4].sum()))
    increment(table, EXP, np.array(y, dtype=np.float64), np.array(z, dtype=np.float64), out)
    return float(np.max(np.abs(out)))


def reference_state(problem: Problem, end: float = END) -> Array:
    """The state at the end by SciPy's DOP853 in ambient coordinates, to about 1e-13: independent of our methods.

    Parameters
    ----------
    problem : Problem
        What is integrated.
    end : float
        The time, s.

    Returns
    -------
    array (n,)
        To about 1e-13.

    Raises
    ------
    RuntimeError
        SciPy does not get to the end.

    Examples
    --------
    >>> reference_state(order_problem("SO3"), 0.1).shape
    (4,)
    """
    work, v = np.zeros(problem.work_shape), np.zeros(problem.dimension)

    def rate(t: float, y: Array) -> Array:
        problem.field.python(t, y, problem.parameters, problem.structure, work, v)
        return ambient_velocity(problem.table, y, v)

    solution = solve_ivp(rate, (0.0, end), problem.y0, method="DOP853", rtol=3e-14, atol=1e-15)
    if not solution.success:
        raise RuntimeError(f"{problem.model}: {solution.message}")
    return np.asarray(solution.y[:, -1])


@cache
def _reference(group: str, field: Any) -> tuple[Problem, Array]:
    problem = order_problem(group, field)
    return problem, reference_state(problem)


def order_on(
    group: str, method: Method, counts: Sequence[int], field: Any = wavy, floor: float = 2e-12
) -> MeasuredOrder:
    """Measured order of a method on the test problem of a group.

    Parameters
    ----------
    group : str
        A key of `GROUPS`.
    method : Method
        Whose order is measured.
    counts : sequence of int
        Rising numbers of steps.
    field : Entry
        The field; default the nonlinear one.
    floor : float
        Errors below it are not used.

    Returns
    -------
    MeasuredOrder
        Against the reference of SciPy.

    Examples
    --------
    >>> from integrators.methods import find
    >>> round(order_on("SO3", find("RKMK4"), (8, 16)).order)
    4
    """
    problem, reference = _reference(group, field)
    return measured_order(
        lambda n: end_state(problem, method, n),
        counts,
        reference,
        lambda y, z: group_distance(problem.table, y, z),
        floor,
    )
