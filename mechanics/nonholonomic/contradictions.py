"""What the functions of a nonholonomic system say of each other, compared at a start and beside it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.parts import constrained
from mechanics.nonholonomic.flat import contradicted, coordinate_rate
from mechanics.nonholonomic.notes import MATRIX, TIMED, form_taken, pivots
from mechanics.nonholonomic.system import ConstraintError

Array = NDArray[np.float64]
TOLERANCE = 1e-9
"""Relative, of the checks of what the functions return."""
NEARLY_AT_REST = 1e-75
"""Of velocities by which an energy shows terms that are not quadratic, however small these are."""
LATER = 0.3819660112501051, 1.7320508075688772
"""Times after the start at which functions of the time are compared: no period has both."""
STEPS = 30
"""At most, of the motion to where they are compared elsewhere."""


def check_functions(functions: Any, q: Array, u: Array, numbers: Array, model: str, t: float) -> None:
    """ValueError or ConstraintError for functions that are wrong at a configuration, or contradict each other there or
    where a motion leads from it.

    Parameters
    ----------
    functions : Functions
        Of a system.
    q, u : array
        A configuration, and quasi-velocities.
    numbers : array
        The parameters.
    model : str
        Name of the system.
    t : float
        Time, s.

    Raises
    ------
    ConstraintError
        The rows depend on each other.
    ValueError
        Rows that are not finite; a mass matrix that is not symmetric and positive definite, an energy that is not
        ½ vᵀM v; columns of a frame that depend on each other, A S ≠ 0, SᵀM S ≠ diag(μ), another gyro or position.

    Examples
    --------
    ``Functions.system`` calls it for systems that are not the package's own, which tests ask for more.
    """
    for name, x, size in (
        ("q0", q, functions.n_q), ("u0", u, functions.r), ("parameters", numbers, functions.parameters or 0),
    ):  # fmt: skip
        if x.shape != (size,):
            raise ValueError(f"{name}: shape {x.shape}, expected ({size},)")
    n, m, k = functions.n, functions.derived.m, functions.derived.k
    own = () if functions.parameters is None else (numbers,)
    v = _velocity(functions, q, u, own)
    out, at = np.zeros(constrained(n, m, k).SIZE), constrained(n, m, k)
    functions.derived.parts(t, np.concatenate([q, v]), numbers, np.array([n, m, k]), np.zeros((0, 0)), out)
    mass, rows = out[at.MASS : at.ROWS].reshape(n, n), out[at.ROWS : at.GRADIENT].reshape(m, n)
    if not np.isfinite(rows).all():
        c, i = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"rows: component {i} of row {c} is {rows[c, i]} at the start q0 = {q.tolist()}, expected finite numbers; "
            "correct the function, or start where it is defined"
        )
    if (first := _dependent(rows)) is not None:
        says = "depends on the others" if rows[first].any() else "is zero"
        raise ConstraintError(f"{model}: constraint row {first} {says} at the start; leave it out")
    if functions.frame is not None:
        _check_columns(np.array(functions.frame(q, *own), dtype=np.float64), q)
    sizes = np.sqrt(np.abs(mass.diagonal()))  # in any units of length and turn
    scaled = mass / np.outer(sizes, sizes) if (sizes > 0.0).all() else mass
    if not np.allclose(scaled, scaled.T, rtol=TOLERANCE, atol=TOLERANCE) or not np.linalg.eigvalsh(scaled)[0] > 0.0:
        raise ValueError(f"mass: {mass.tolist()} at q0, expected a symmetric positive definite matrix")

    def check(x: Array, where: str, s: float = t) -> str:
        with np.errstate(all="ignore"):
            return _contradiction(functions, x, v, numbers, own, s, where if s == t else f"{where}, t = {s:.6g}")

    wrong = check(q, "q0")
    timed = functions.value is not None or _is_timed(functions)
    for later in LATER if timed else ():
        if not wrong:
            with suppress(Exception):  # functions need not be there then
                wrong = check(q, "q0", t + later)
    random = np.random.default_rng(7)
    for reach in (0.1, 0.3, 1.0):
        if not wrong:
            with suppress(Exception):  # functions need not be there
                x = led_to(functions, q, rows, own, t, reach * random.uniform(-1.0, 1.0, n))
                if all(edge(q, *own) * edge(x, *own) > 0.0 for edge in functions.edges.values()):
                    wrong = check(x, f"q = {x.tolist()}")
    if wrong:
        raise ValueError(wrong)


def _is_timed(functions: Any) -> bool:
    """Whether the rows are given the time."""
    return form_taken("rows", functions.rows, functions.parameters is not None) == TIMED


def _dependent(rows: Array) -> int | None:
    """The first row that depends on those before it, if there is one."""
    if len(pivots(rows)) == len(rows):
        return None
    return next(c for c in range(len(rows)) if len(pivots(rows[: c + 1])) <= c)


def _check_columns(S: Array, q: Array) -> None:
    """ValueError for columns of a frame that do not span the velocities, and have no mass matrix of their own."""
    r = S.shape[1]
    columns = S.T
    for axis in (1, 0):  # whatever the units of velocities and columns
        sizes = np.abs(columns).max(axis, keepdims=True, initial=0.0)
        columns = columns / np.where(sizes > 0.0, sizes, 1.0)
    if np.isfinite(S).all() and (first := _dependent(columns)) is not None:
        says = "depends on those before it" if S[:, first].any() else "is zero"
        raise ValueError(
            f"frame: column {first} {says} at q0 = {q.tolist()}, expected {r} independent ones; start elsewhere, take "
            "other columns, or leave the frame out"
        )


def _velocity(functions: Any, q: Array, u: Array, own: tuple[Any, ...]) -> Array:
    """The velocity of u; of what follows from others, 0."""
    if functions.frame is not None:
        return np.asarray(np.array(functions.frame(q, *own), dtype=np.float64) @ u)
    v = np.zeros(functions.n)
    v[functions.derived.free if functions.derived.free is not None else slice(None)] = u
    return v


def led_to(functions: Any, q: Array, rows: Array, own: tuple[Any, ...], t: float, w: Array) -> Array:
    """A configuration that is nothing special, as what holds at the start by chance does not hold there: a motion with
    the admissible part of w leads to it, since beside where rows can be integrated to, nothing need hold.
    """
    from scipy.integrate import DOP853  # slow to import

    timed = _is_timed(functions)

    def rate(s: float, x: Array) -> Array:
        A = np.reshape(np.array(functions.rows(*((t, x) if timed else (x,)), *own), dtype=np.float64), rows.shape)
        return coordinate_rate(functions.group, x, w - np.linalg.pinv(A) @ (A @ w)).astype(np.float64)

    motion = DOP853(rate, 0.0, q, 1.0, rtol=1e-13, atol=1e-14 * max(1.0, float(np.abs(q).max(initial=0.0))))
    for _ in range(STEPS):
        if motion.status == "running":
            motion.step()
    return np.asarray(motion.y)


def _contradiction(
    functions: Any, q: Array, v: Array, numbers: Array, own: tuple[Any, ...], t: float, where: str
) -> str:
    """What is wrong in what the functions say of each other, at one configuration and where it is finite."""
    n, m, k = functions.n, functions.derived.m, functions.derived.k
    at, out = constrained(n, m, k), np.zeros(constrained(n, m, k).SIZE)
    structure, none = np.array([n, m, k]), np.zeros((0, 0))
    functions.derived.parts(t, np.concatenate([q, v]), numbers, structure, none, out)
    mass, rows = out[at.MASS : at.ROWS].reshape(n, n), out[at.ROWS : at.GRADIENT].reshape(m, n)
    heavy = np.sqrt(np.abs(mass.diagonal()))  # what counts as one, in any units
    heavy = np.where(heavy > 0.0, heavy, 1.0)
    if form_taken("mass", functions.mass, functions.parameters is not None) != MATRIX:
        some = np.arange(1.0, n + 1.0) / heavy
        for w in (v, -v, some, NEARLY_AT_REST * some):
            energy, quadratic = float(functions.mass(q, w, *own)), float(0.5 * w @ mass @ w)
            if _differ(energy, quadratic, np.abs(w) @ np.abs(mass) @ np.abs(w)):
                return (
                    f"mass: T(q, v) = {energy:.6g} at {where}, v = {w.tolist()}, expected ½ vᵀM v = {quadratic:.6g}, "
                    "quadratic in v; terms without v belong to the potential"
                )
    values = out[at.VALUE : at.BIAS]
    if k and _differ(values[m - k :], 0.0, max(np.abs(values).max(), (np.abs(rows) @ np.abs(v)).max())):
        c = m - k + int(np.abs(values[m - k :]).argmax())
        return (
            f"value: {values[c]:.6g} in row {c} at {where}, expected 0, as position has it that this row is the rate "
            "of what vanishes; correct it, or leave the position out"
        )
    if k and (wrong := _not_integrated(functions, q, rows[m - k :], own, where)):
        return wrong
    if functions.derived.frame is None or functions.frame is None:
        return ""
    r = functions.r
    u = np.arange(1.0, r + 1.0) / r
    basis = np.zeros(n * r + n)
    functions.derived.frame(t, np.concatenate([q, u]), numbers, structure, none, basis)
    S, drift = basis[: n * r].reshape(n, r), basis[n * r :]
    columns = np.linalg.norm(heavy[:, None] * S, axis=0)
    if _differ(rows @ S, 0.0, np.outer(np.linalg.norm(rows / heavy, axis=1), columns)):
        residual = np.abs(rows @ S).max()
        return f"frame: A S = 0 is violated by {residual:.3g} at {where}; its columns must satisfy the rows"
    if functions.metric is None:
        return ""
    metric, found = np.array(functions.metric(*own), dtype=np.float64), S.T @ mass @ S
    if _differ(found, np.diag(metric), np.outer(columns, columns)):
        return (
            f"metric: SᵀM S = {found.tolist()} at {where}, expected diag(μ) with μ = {metric.tolist()}; correct it, or "
            "leave it out"
        )
    if functions.gyro is not None:
        functions.derived.parts(t, np.concatenate([q, S @ u]), numbers, structure, none, out)
        kinetic, rate = out[at.KINETIC : at.KINETIC + n], out[at.RATE : at.RATE + n]
        expected = S.T @ (kinetic - rate - mass @ drift)
        given = np.array(functions.gyro(q, u, *own), dtype=np.float64)
        terms = np.linalg.norm((np.abs(kinetic) + np.abs(rate) + np.abs(mass @ drift)) / heavy)
        if _differ(given, expected, columns * (terms + np.linalg.norm(columns * u))):
            return (
                f"gyro: {given.tolist()} at {where}, u = {u.tolist()}, expected Sᵀ(D − Ṁ v + ad_vᵀ(M v) − M Ṡ u) = "
                f"{expected.tolist()}; correct it, or leave it out"
            )
    return ""


def _not_integrated(functions: Any, q: Array, rows: Array, own: tuple[Any, ...], where: str) -> str:
    """Where differences of φ contradict the rows that are to be its rate."""
    position = functions.position
    assert position is not None

    def values(x: Array) -> Array:
        return np.array(position(x, *own), dtype=np.float64)

    for i, column in enumerate(rows.T):
        wrong = contradicted(functions.group, values, q, np.eye(functions.n)[i], column)
        if wrong is not None:
            c, near = wrong
            return (
                f"position: value {c} changes by {near:.6g} per velocity {i} at {where}, expected {column[c]:.6g}, as "
                f"row {functions.derived.m - len(rows) + c} has it; the last rows must be its rate, one for each value"
            )
    return ""


def _differ(x: Any, y: Any, size: Any) -> bool:
    """Whether finite numbers differ by more than rounding of numbers of these sizes."""
    difference = np.abs(np.asarray(x) - np.asarray(y))
    return bool((np.isfinite(difference) & (difference > TOLERANCE * np.asarray(size))).any())
