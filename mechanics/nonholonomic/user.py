"""A nonholonomic system from plain Python functions of your own: kinetic energy, constraint rows, potential, forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.parts import constrained
from integrators.problem.problem import group_table
from integrators.step_derivatives.complex_step import DELTAS, contradicts
from liegroup.arrays import check_function, of_kind, real, reals
from mechanics.nonholonomic.flat import coordinate_rate
from mechanics.nonholonomic.interpreted import InterpretedFunctions
from mechanics.nonholonomic.notes import FORMS, MATRIX, TIMED, argument_counts, form_taken, pivots
from mechanics.nonholonomic.system import ConstraintError, NonholonomicSystem
from mechanics.nonholonomic.written import Functions, work_height

Array = NDArray[np.float64]
TOLERANCE = 1e-9
"""Relative, of the checks of what the functions return."""
STEPS = 30
"""At most, of the motion to where they are compared elsewhere."""


def nonholonomic_system(
    group: Any,
    mass: Callable[..., Any],
    rows: Callable[..., Any],
    q0: ArrayLike,
    v0: ArrayLike,
    *,
    potential: Callable[..., Any] | None = None,
    force: Callable[..., Any] | None = None,
    value: Callable[..., Any] | None = None,
    position: Callable[..., Any] | None = None,
    frame: Callable[..., Any] | None = None,
    metric: Callable[..., Any] | None = None,
    gyro: Callable[..., Any] | None = None,
    invariants: Mapping[str, Callable[..., Any]] | None = None,
    edges: Mapping[str, Callable[..., Any]] | None = None,
    parameters: ArrayLike | None = None,
    variables: Sequence[Variable] = (),
    velocities: Variable | None = None,
    quasi_velocities: Variable | None = None,
    conservative: bool = True,
    interpreted: bool = False,
    model: str = "own-system",
    scene: Any = None,
    inputs: Any = None,
    t: float = 0.0,
) -> NonholonomicSystem:
    """The system with kinetic energy ½ vᵀM(q) v, rows A(t, q) v = c(t, q), potential V(q) and forces F(t, q, v).

    The functions run once, on arrays of scalars that note what is done to them: write them with + − * / **, loops,
    arrays and the functions of `liegroup.compile.scalars` or NumPy (``np.cos(q[2])``), without ``if`` on a value.  Both
    forms of the motion are then compiled, for one trajectory and for lanes, and kept for later processes.

    Parameters
    ----------
    group : object with an attribute ``table``, or int64 array (factors, 5)
        The configuration group; v are body velocities (on Rⁿ: q̇).
    mass : callable
        The kinetic energy ``T(q, v)``, quadratic in v, or its matrix ``M(q)`` → (n, n).
    rows : callable
        ``A(q)`` or ``A(t, q)`` → (m, n).
    q0 : array (n_q,)
        The configuration at the start, SI units.
    v0 : array (n,)
        The body velocity at the start, SI units; it must satisfy the constraints.
    potential, force, value : callable, optional
        V(q); F(t, q, v) → (n,); c(t, q) → (m,).
    position : callable, optional
        φ(q) → (k,), zero where the integrable constraints hold; the last k rows must be its rate.
    frame : callable, optional
        ``S(q)`` → (n, n − m) with A S = 0, if v = S(q) u is wanted with quasi-velocities u of your own.  Default:
        components of v where the columns of A that belong to the others are numbers; else all of v, kept admissible.
    metric, gyro : callable, optional
        As for `mechanics.nonholonomic.written.Functions`: for methods that work with orthogonal quasi-velocities.
    invariants : mapping name → callable, optional
        Numbers ``f(q, v)`` that are watched besides the energy.
    edges : mapping name → callable, optional
        Numbers ``e(q)`` that vanish where the frame ends: a run in which one loses its sign is doubtful.
    parameters : array (k,), optional
        Numbers in any unit; every function then takes them as its last argument, and one compilation serves all their
        values.
    variables, velocities, quasi_velocities : optional
        Names and units.
    conservative : bool
        The invariants do not change; False where forces do work.
    interpreted : bool
        Call the functions as they are instead (see `mechanics.nonholonomic.interpreted`).
    model : str
        Name for tables and files.
    scene : Scene or callable, optional
        How it is drawn (see `Problem.scene`).
    inputs : Inputs or mapping of str to int, optional
        Names of parameters that are given from outside, with their places: `Problem.with_inputs`,
        `integrators.stepper`.
    t : float
        Time at which runs are to begin, s: there the start must satisfy the constraints.

    Returns
    -------
    NonholonomicSystem
        With both forms of its motion.

    Raises
    ------
    ConstraintError
        If v0 violates the constraints, φ(q0) ≠ 0, or the rows depend on each other at q0.
    TypeError
        If a function cannot be traced: which one, what it did, what to write instead.
    ValueError
        If a function returns values of the wrong shape, the mass matrix is not symmetric and positive definite at q0,
        or the kinetic energy is not quadratic in v.

    References
    ----------
    Lagrange–d'Alembert: Neimark and Fufaev 1972; Bloch 2003.

    Examples
    --------
    A skate on an inclined plane, in coordinates (x, y, heading):

    >>> import numpy as np
    >>> from integrators import integrate
    >>> from liegroup import rn
    >>> skate = nonholonomic_system(
    ...     rn(3),
    ...     lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2),
    ...     lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
    ...     q0=[0.0, 0.0, 0.0],
    ...     v0=[0.3, 0.0, 1.0],
    ...     potential=lambda q: -0.5 * q[0],
    ... )
    >>> bool(integrate(skate.problem(), "RKMK4", (0, 10), 0.01).error("energy") < 1e-8)
    True
    """
    table = group_table(group)
    q, v = reals(q0, "q0"), reals(v0, "v0")
    numbers = np.zeros(0) if parameters is None else reals(parameters, "parameters")
    given: dict[str, Any] = {
        "group": table,
        "mass": mass,
        "rows": rows,
        "potential": potential,
        "force": force,
        "value": value,
        "position": position,
        "frame": frame,
        "metric": metric,
        "gyro": gyro,
        "invariants": invariants or {},
        "edges": edges or {},
        "parameters": None if parameters is None else len(numbers),
    }
    for name in FORMS:
        _check_arguments(name, given[name], parameters is not None)
    if interpreted and frame is not None:
        raise ValueError("frame: given with interpreted=True, which has no use for it; leave it out")
    functions = InterpretedFunctions(**given, start=q, numbers=numbers) if interpreted else Functions(**given)
    own = () if parameters is None else (numbers,)
    begin = real(t, "t")
    _check(functions, q, v, numbers, own, model, begin)
    n, m = functions.n, functions.derived.m
    names = tuple(f"v{i}" for i in range(n))
    system = functions.system(
        model,
        variables=tuple(variables) or (Variable("q", tuple(f"q{i}" for i in range(len(q)))),),
        velocities=velocities or Variable("v", names),
        quasi_velocities=quasi_velocities or _quasi_velocities(functions, names),
        parameters=numbers,
        q0=q,
        u0=_start(functions, q, v, own),
        scratch=work_height(n, m, n) if interpreted else 0,
        conservative=conservative,
        scene=scene,
        inputs=inputs,
        t=begin,
        lift=functions.lift if isinstance(functions, InterpretedFunctions) else None,
    )
    system.check(q, v, begin)
    return system


def _check_arguments(name: str, functions: Any, has_parameters: bool) -> None:
    """TypeError for what is no function, or is one of another number of arguments: of one, or of those of a mapping."""
    several = name in ("invariants", "edges")
    if several:
        of_kind(functions, Mapping, name, "a mapping of names to functions")
    ends = (", parameters)", "parameters)") if has_parameters else (")", ")")
    forms = [form[:-1] + ends[form.endswith("()")] for form in FORMS[name]]
    for what, function in (
        {f"{name}[{k!r}]": f for k, f in functions.items()}.items() if several else [(name, functions)]
    ):
        if function is not None or name in ("mass", "rows"):
            check_function(function, what)
            count = argument_counts(name, has_parameters)[form_taken(name, function, has_parameters)]
            check_function(function, what, "a function " + " or ".join(forms), count)


def _quasi_velocities(functions: Functions, names: tuple[str, ...]) -> Variable:
    """Names of u."""
    free = functions.derived.free
    if functions.frame is not None:
        return Variable("u", tuple(f"u{i}" for i in range(functions.r)), description="on the columns of the frame")
    if free is None:
        return Variable("u", names, description="v, kept admissible")
    return Variable("u", tuple(names[i] for i in free), description="independent components of v")


def _start(functions: Functions, q: Array, v: Array, own: tuple[Any, ...]) -> Array:
    """u of the velocity v."""
    if functions.frame is not None:
        basis = np.array(functions.frame(q, *own), dtype=np.float64)
        return np.asarray(np.linalg.lstsq(basis, v, rcond=None)[0])
    return v if functions.derived.free is None else v[functions.derived.free]


def _check(
    functions: Functions, q: Array, v: Array, numbers: Array, own: tuple[Any, ...], model: str, t: float
) -> None:
    """Sizes of the start, and what the functions return there."""
    n, m, k = functions.n, functions.derived.m, functions.derived.k
    for name, x, size in (("q0", q, functions.n_q), ("v0", v, n)):
        if x.shape != (size,):
            raise ValueError(f"{name}: shape {x.shape}, expected ({size},)")
    out, at = np.zeros(constrained(n, m, k).SIZE), constrained(n, m, k)
    functions.derived.parts(t, np.concatenate([q, v]), numbers, np.array([n, m, k]), np.zeros((0, 0)), out)
    mass, rows = out[at.MASS : at.ROWS].reshape(n, n), out[at.ROWS : at.GRADIENT].reshape(m, n)
    if not np.isfinite(rows).all():
        c, i = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"rows: component {i} of row {c} is {rows[c, i]} at the start q0 = {q.tolist()}, expected finite numbers; "
            "correct the function, or start where it is defined"
        )
    if len(pivots(rows)) < m:
        first = next(c for c in range(m) if len(pivots(rows[: c + 1])) <= c)
        says = "depends on the others" if rows[first].any() else "is zero"
        raise ConstraintError(f"{model}: constraint row {first} {says} at the start; leave it out")
    if not np.allclose(mass, mass.T, rtol=TOLERANCE) or not np.linalg.eigvalsh(mass)[0] > 0.0:
        raise ValueError(f"mass: {mass.tolist()} at q0, expected a symmetric positive definite matrix")

    def check(x: Array, where: str) -> str:
        with np.errstate(all="ignore"):
            return _contradiction(functions, x, v, numbers, own, t, where)

    wrong = check(q, "q0")
    random = np.random.default_rng(7)
    for reach in (0.1, 0.3, 1.0):
        if not wrong:
            with suppress(Exception):  # functions need not be there
                x = _led_to(functions, q, rows, own, t, reach * random.uniform(-1.0, 1.0, n))
                if all(edge(q, *own) * edge(x, *own) > 0.0 for edge in functions.edges.values()):
                    wrong = check(x, f"q = {x.tolist()}")
    if wrong:
        raise ValueError(wrong)


def _led_to(functions: Functions, q: Array, rows: Array, own: tuple[Any, ...], t: float, w: Array) -> Array:
    """A configuration that is nothing special, as what holds at the start by chance does not hold there: a motion with
    the admissible part of w leads to it, since beside where rows can be integrated to, nothing need hold.
    """
    from scipy.integrate import DOP853  # slow to import

    timed = form_taken("rows", functions.rows, functions.parameters is not None) == TIMED

    def rate(s: float, x: Array) -> Array:
        A = np.reshape(np.array(functions.rows(*((t, x) if timed else (x,)), *own), dtype=np.float64), rows.shape)
        return coordinate_rate(functions.group, x, w - np.linalg.pinv(A) @ (A @ w)).astype(np.float64)

    motion = DOP853(rate, 0.0, q, 1.0, rtol=1e-13, atol=1e-14 * max(1.0, float(np.abs(q).max(initial=0.0))))
    for _ in range(STEPS):
        if motion.status == "running":
            motion.step()
    return np.asarray(motion.y)


def _contradiction(
    functions: Functions, q: Array, v: Array, numbers: Array, own: tuple[Any, ...], t: float, where: str
) -> str:
    """What is wrong in what the functions say of each other, at one configuration and where it is finite."""
    n, m, k = functions.n, functions.derived.m, functions.derived.k
    at, out = constrained(n, m, k), np.zeros(constrained(n, m, k).SIZE)
    structure, none = np.array([n, m, k]), np.zeros((0, 0))
    functions.derived.parts(t, np.concatenate([q, v]), numbers, structure, none, out)
    mass, rows = out[at.MASS : at.ROWS].reshape(n, n), out[at.ROWS : at.GRADIENT].reshape(m, n)
    if form_taken("mass", functions.mass, functions.parameters is not None) != MATRIX:
        for w in (v, -v, 0.0 * v, np.arange(1.0, n + 1.0)):
            energy, quadratic = float(functions.mass(q, w, *own)), float(0.5 * w @ mass @ w)
            if _differ(energy, quadratic, abs(quadratic)):
                return (
                    f"mass: T(q, v) = {energy:.6g} at {where}, v = {w.tolist()}, expected ½ vᵀM v = {quadratic:.6g}, "
                    "quadratic in v; terms without v belong to the potential"
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
    if _differ(rows @ S, 0.0, np.abs(rows).max() * np.abs(S).max()):
        residual = np.abs(rows @ S).max()
        return f"frame: A S = 0 is violated by {residual:.3g} at {where}; its columns must satisfy the rows"
    if functions.metric is None:
        return ""
    metric, found = np.array(functions.metric(*own), dtype=np.float64), S.T @ mass @ S
    if _differ(found, np.diag(metric), np.abs(found).max()):
        return (
            f"metric: SᵀM S = {found.tolist()} at {where}, expected diag(μ) with μ = {metric.tolist()}; correct it, or "
            "leave it out"
        )
    if functions.gyro is not None:
        functions.derived.parts(t, np.concatenate([q, S @ u]), numbers, structure, none, out)
        kinetic, rate = out[at.KINETIC : at.KINETIC + n], out[at.RATE : at.RATE + n]
        expected = S.T @ (kinetic - rate - mass @ drift)
        given = np.array(functions.gyro(q, u, *own), dtype=np.float64)
        if _differ(given, expected, np.abs(mass).max() * np.abs(S).max() ** 2):
            return (
                f"gyro: {given.tolist()} at {where}, u = {u.tolist()}, expected Sᵀ(D − Ṁ v + ad_vᵀ(M v) − M Ṡ u) = "
                f"{expected.tolist()}; correct it, or leave it out"
            )
    return ""


def _not_integrated(functions: Functions, q: Array, rows: Array, own: tuple[Any, ...], where: str) -> str:
    """Where differences of φ contradict the rows that are to be its rate."""
    position = functions.position
    assert position is not None

    def at(s: float, rate: Array) -> Array:
        return np.ravel(np.array(position(q + s * rate, *own), dtype=np.float64))

    size = max(1.0, float(np.abs(q).max(initial=0.0)))
    for i, column in enumerate(rows.T):
        rate = coordinate_rate(functions.group, q, np.eye(functions.n)[i]).astype(np.float64)
        found = [contradicts(at, rate, column, at(0.0, rate), delta * size) for delta in DELTAS]
        if found[0] is not None and all(found):
            c, near = found[0]
            return (
                f"position: value {c} changes by {near:.6g} per velocity {i} at {where}, expected {column[c]:.6g}, as "
                f"row {functions.derived.m - len(rows) + c} has it; the last rows must be its rate, one for each value"
            )
    return ""


def _differ(x: Any, y: Any, size: float) -> bool:
    """Whether finite numbers differ by more than rounding of numbers of a size."""
    difference = np.abs(np.asarray(x) - np.asarray(y)).max(initial=0.0)
    return bool(np.isfinite(difference) and difference > TOLERANCE * (1.0 + size))
