"""A nonholonomic system from plain Python functions of your own: kinetic energy, constraint rows, potential, forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Variable
from integrators.problem.problem import group_table
from liegroup.arrays import check_function, of_kind, real, reals, sequence
from mechanics.nonholonomic.interpreted import InterpretedFunctions
from mechanics.nonholonomic.notes import FORMS, argument_counts, form_taken
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions, work_height

Array = NDArray[np.float64]


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
        `integrators.stepper`.  Equations take their rates as zero: those that stand in M, A, c or S and change are for
        methods with multipliers (`DLA4`), and refused by others.
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
    for name, x, (place, size) in (("q0", q, (1, 3)), ("v0", v, (2, 4))):
        if x.shape != (count := int(table[-1, place] + table[-1, size]),):
            raise ValueError(f"{name}: shape {x.shape}, expected ({count},)")
    numbers = np.zeros(0) if parameters is None else np.atleast_1d(reals(parameters, "parameters"))
    if numbers.ndim != 1:
        raise ValueError(f"parameters: shape {numbers.shape}, expected (k,)")
    wanted = "integrators.Variable(name, labels, units)"
    variables = sequence(variables, "variables", f"a sequence of {wanted}")
    for x in variables:
        of_kind(x, Variable, "variables", wanted)
    for name, variable in (("velocities", velocities), ("quasi_velocities", quasi_velocities)):
        of_kind(variable, (Variable, type(None)), name, wanted)
    for name, flag in (("conservative", conservative), ("interpreted", interpreted)):
        of_kind(flag, (bool, np.bool_), name, "True or False")
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
    n, m = functions.n, functions.derived.m
    names = tuple(f"v{i}" for i in range(n))
    system = functions.system(
        model,
        variables=variables or (Variable("q", tuple(f"q{i}" for i in range(len(q)))),),
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
