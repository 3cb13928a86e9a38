"""Equations of SymPy's mechanics as problems: `LagrangesMethod`, `KanesMethod`, and a Lagrangian by itself.

What the equations allow decides which form they get:

===============================================  =====================================================================
given                                            the problem
===============================================  =====================================================================
a Lagrangian, forces                             `lagrangian_problem`: variational, symplectic, any method
… and holonomic constraints                      `holonomic_problem`: RATTLE, any method
… and nonholonomic ones, T quadratic in q̇, V(q)  `mechanics.nonholonomic.nonholonomic_system`, with multipliers
… otherwise                                      M ẏ = f with multipliers, (q, q̇): any method of fields
Kane's equations                                 M ẏ = f, (q, u): any method of fields
===============================================  =====================================================================

The first two are of `integrators.problem`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy
from numpy.typing import NDArray
from sympy.core.function import AppliedUndef
from sympy.physics.mechanics import KanesMethod, LagrangesMethod, Point, ReferenceFrame, dynamicsymbols

from integrators.adapters.sympy import constraints_of, function_of, is_name, parts_of
from integrators.problem import Guard, Problem, Variable
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from integrators.problem.mass_matrix import mass_matrix_problem
from liegroup.arrays import of_kind, real, sequence, shown
from liegroup.compile.traceable import traceable
from liegroup.group import rn
from mechanics.nonholonomic.user import nonholonomic_system

Array = NDArray[np.float64]
_OF_SYSTEM = " (of a System its eom_method, after form_eoms)"
OPEN = 0.01
"""Part of the size of a configuration, or of a velocity, by which constraints may be violated along a run."""


class _Given(NamedTuple):
    """What stands for the symbols of the equations."""

    t: Any
    symbols: list[Any]
    """Parameters."""
    numbers: list[float]
    inputs: dict[Any, Callable[[Any], Any]]
    """Functions of the time that are given as such."""
    exchanged: dict[Any, Any]
    """Functions of the time that are given as expressions."""
    rates: dict[Any, Any]
    """Rates of coordinates by speeds."""
    begin: float
    """When runs are to begin."""

    def put(self, expression: Any) -> Any:
        """An expression, or a list of them, with inputs given as expressions in their places."""
        if isinstance(expression, (list, tuple)):
            return [self.put(x) for x in expression]
        return sympy.sympify(expression).subs(self.exchanged).doit() if self.exchanged else expression

    def function(self, expression: Any, q: Sequence[Any], v: Sequence[Any]) -> Callable[..., Any]:
        """``f(t, q, v, parameters)``."""
        made = function_of(self.put(expression), q, v, [*self.symbols, *self.inputs], self.t, self.rates)
        driven = list(self.inputs.values())
        return (lambda t, q, v, p: made(t, q, v, [*p, *(u(t) for u in driven)])) if driven else made

    def constraints(self, expression: Any, q: Sequence[Any]) -> Callable[..., Any]:
        """``c(t, q, parameters)``; inputs must be given as expressions: their rates are needed."""
        return constraints_of(self.put(expression), q, self.symbols, self.t)

    def value(self, expression: Any, numbers: Mapping[Any, float]) -> Array:
        """An expression at the start."""
        function = self.function(expression, list(numbers), [])
        with np.errstate(all="ignore"):
            return np.array(
                function(self.begin, list(np.array([*numbers.values()])), [], self.numbers), dtype=np.float64
            )


def from_lagrangian(
    lagrangian: Any,
    coordinates: Sequence[Any],
    parameters: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    *,
    forces: Sequence[Any] | None = None,
    constraints: Sequence[Any] = (),
    inputs: Mapping[Any, Any] | None = None,
    model: str = "SymPy Lagrangian",
    t: float = 0.0,
) -> Problem:
    """See `mechanics.from_lagrangian`."""
    q = _coordinates(coordinates)
    try:
        lagrangian = sympy.sympify(lagrangian)
    except sympy.SympifyError:
        raise TypeError(f"lagrangian: {shown(lagrangian)}, expected an expression of SymPy") from None
    if isinstance(lagrangian, sympy.MatrixBase) and lagrangian.shape == (1, 1):  # as products of vectors are
        lagrangian = lagrangian[0, 0]
    of_kind(lagrangian, sympy.Expr, "lagrangian", "an expression of SymPy")
    forces = None if forces is None else list(sequence(forces, "forces", "a list of one expression per coordinate"))
    constraints = sequence(constraints, "constraints", "a list of expressions that the motion keeps at zero")
    holonomic = [_constraint(c, q) for c in constraints]
    given = _given([*(forces or ())], q, [], parameters, inputs, t, [lagrangian, *holonomic])
    return _lagrangian(lagrangian, q, forces, holonomic, [], given, start, model)


def from_lagranges_method(
    lagrange: Any,
    parameters: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    *,
    inputs: Mapping[Any, Any] | None = None,
    model: str = "SymPy LagrangesMethod",
    t: float = 0.0,
) -> Problem:
    """See `mechanics.from_lagranges_method`."""
    of_kind(lagrange, LagrangesMethod, "lagrange", f"a sympy.physics.mechanics.LagrangesMethod{_OF_SYSTEM}")
    q, v = list(lagrange.q), list(lagrange.u)
    L, holonomic = lagrange._L[0], list(lagrange._hol_coneqs)
    rows = list(lagrange.coneqs)[len(holonomic) :]
    forces = _generalised(lagrange.forcelist, v, lagrange.inertial) if lagrange.forcelist else None
    given = _given([*(forces or ())], q, [], parameters, inputs, t, [L, *holonomic, *rows])
    return _lagrangian(L, q, forces, holonomic, rows, given, start, model)


def from_kanes_method(
    kane: Any,
    parameters: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    *,
    inputs: Mapping[Any, Any] | None = None,
    invariants: Mapping[str, Any] | None = None,
    model: str = "SymPy KanesMethod",
    t: float = 0.0,
) -> Problem:
    """See `mechanics.from_kanes_method`."""
    of_kind(kane, KanesMethod, "kane", f"a sympy.physics.mechanics.KanesMethod{_OF_SYSTEM}")
    of_kind(invariants or {}, Mapping, "invariants", "a mapping of names to expressions")
    q, u = list(kane.q), list(kane.u)
    mass, forcing, rates = _kanes_equations(kane, q, u)
    named = {name: sympy.sympify(x) for name, x in (invariants or {}).items()}
    kept = _kanes_constraints(kane, u)
    named |= {f"{name}_{k}": x for name, some in kept.items() for k, x in enumerate(some)}
    given = _given([*mass, *forcing, *named.values()], q, u, parameters, inputs, t)._replace(rates=rates)
    y0 = _start(start, q, u, kept["gap"], kept["slip"], given)
    n = len(y0)
    M, f = given.function(mass.tolist(), q, u), given.function(list(forcing), q, u)
    watched = {name: given.function(x, q, u) for name, x in named.items()}

    def of_state(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda t, y, p: function(t, y[: len(q)], y[len(q) : n], p)

    try:
        posed = mass_matrix_problem(
            of_state(M),
            of_state(f),
            y0,
            given.numbers,
            t=given.begin,
            invariants={name: of_state(function) for name, function in watched.items()},
            model=model,
        )
        return replace(posed, guards=_closing_guards(kept, q, u, y0, given), variables=(_part("q", q), _part("u", u)))
    except ValueError as error:
        hint = (
            ".  SymPy's elimination of dependent speeds divides by what may be zero: KanesMethod(…, "
            "constraint_solver='CRAMER') does not, nor do other independent speeds"
        )
        raise ValueError(f"kane: {error}{hint if kept['slip'] and 'mass' in str(error) else ''}") from error


# --- Lagrange ---------------------------------------------------------------------------------------------------------


def _have_rates(functions: set[Any]) -> None:
    """ValueError for inputs that are functions where their rates are needed."""
    if functions:
        raise ValueError(
            f"inputs: the equations read rates of {_listed(functions)}, found of expressions only; give "
            "an expression, such as sympy.sin(3*t), in the place of a function"
        )


def _lagrangian(
    L: Any,
    q: list[Any],
    forces: Sequence[Any] | None,
    holonomic: list[Any],
    rows: list[Any],
    given: _Given,
    start: Mapping[Any, float] | None,
    model: str,
) -> Problem:
    v = [x.diff(given.t) for x in q]
    if forces is not None and len(forces) != len(q):
        raise ValueError(f"forces: {len(forces)}, expected {len(q)}, one per coordinate")
    _have_rates({x for x in given.inputs if any(given.put(c).has(x) for c in holonomic)})
    rates = [given.put(c).diff(given.t) for c in holonomic]
    y0 = _start(start, q, v, holonomic, [*rates, *rows], given)
    q0, v0 = y0[: len(q)], y0[len(q) :]
    force = None if forces is None else given.function(list(forces), q, v)
    if not rows:
        function = given.function(L, q, v)
        said: dict[str, Any] = {"parameters": given.numbers, "force": force, "model": model, "t": given.begin}
        if holonomic:
            posed = holonomic_problem(function, given.constraints(holonomic, q), q0, v0, **said)
        else:
            posed = lagrangian_problem(function, q0, v0, **said)
        return replace(posed, variables=(_part("q", q), _part("p", q)))
    return _nonholonomic(L, q, v, force, forces, holonomic, [*rows, *rates], given, y0, model)


def _nonholonomic(
    L: Any,
    q: list[Any],
    v: list[Any],
    force: Callable[..., Any] | None,
    forces: Sequence[Any] | None,
    holonomic: list[Any],
    rates: list[Any],
    given: _Given,
    y0: Array,
    model: str,
) -> Problem:
    """Rows A(t, q) v = c(t, q), those of the holonomic constraints last."""
    at_rest = dict.fromkeys(v, sympy.Integer(0))
    A = [[sympy.diff(given.put(row), x) for x in v] for row in rates]
    if any(entry.has(*v) for row in A for entry in row):
        raise ValueError("lagrange: constraints that are not linear in the velocities are no nonholonomic constraints")
    c = [-given.put(row).subs(at_rest) for row in rates]
    M = sympy.hessian(L, v)
    slope = [sympy.simplify(sympy.diff(L, x).subs(at_rest)) for x in v]
    numbers, V = given.numbers, -L.subs(at_rest)
    parked = dict(zip(q, _plain(q), strict=True))
    timed = any(sympy.sympify(x).subs(parked).has(given.t) for x in (*M, V, *holonomic))
    if any(slope) or timed:
        return _with_multipliers(L, q, v, forces, rates, given, y0, model)
    mass, rows = given.function(M.tolist(), q, []), given.function(A, q, [])
    potential, value = given.function(V, q, []), given.function(c, q, [])
    position = given.constraints(holonomic, q)
    n = len(q)
    driven = any(sympy.sympify(x) != 0 for x in c)
    system = nonholonomic_system(
        rn(n),
        lambda q, p: mass(0.0, q, [], p),
        lambda t, q, p: rows(t, q, [], p),
        y0[:n],
        y0[n:],
        potential=lambda q, p: potential(0.0, q, [], p),
        force=force,
        value=(lambda t, q, p: value(t, q, [], p)) if driven else None,
        position=(lambda q, p: position(0.0, q, p)) if holonomic else None,
        parameters=numbers,
        variables=[_part("q", q)],
        velocities=_part("v", q),
        conservative=force is None and not driven,
        model=model,
        t=given.begin,
    )
    return system.constrained_problem(y0[:n], y0[n:], t=given.begin)


def _with_multipliers(
    L: Any, q: list[Any], v: list[Any], forces: Any, rates: list[Any], given: _Given, y0: Array, model: str
) -> Problem:
    """M ẏ = f of (q, q̇) and the impulses of the constraints (the integrals of −λ), any Lagrangian."""
    t, n, m = given.t, len(q), len(rates)
    L, rates = given.put(L), [given.put(x) for x in rates]
    a = [x.diff(t) for x in v]
    still = dict.fromkeys(a, sympy.Integer(0))
    momenta = [sympy.diff(L, x) for x in v]
    M, A = sympy.hessian(L, v), sympy.Matrix(rates).jacobian(v)
    push = [sympy.diff(L, x) - p.diff(t).subs(still) for x, p in zip(q, momenta, strict=True)]
    push = push if forces is None else [x + given.put(F) for x, F in zip(push, forces, strict=True)]
    full = sympy.diag(sympy.eye(n), sympy.Matrix([[M, -A.T], [A, sympy.zeros(m, m)]]))
    forcing = [*v, *push, *(-x.diff(t).subs(still) for x in rates)]
    impulses = [dynamicsymbols(f"impulse_{k}") for k in range(m)]
    mass, f = given.function(full.tolist(), q, [*v, *impulses]), given.function(forcing, q, [*v, *impulses])
    closing = {f"slip_{k}": given.function(x, q, [*v, *impulses]) for k, x in enumerate(rates)}
    guards = _closing_guards({"slip": rates}, q, v, y0, given)

    def of_state(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda t, y, p: function(t, y[:n], y[n : 2 * n + m], p)

    posed = mass_matrix_problem(
        of_state(mass),
        of_state(f),
        np.concatenate([y0, np.zeros(m)]),
        given.numbers,
        t=given.begin,
        invariants={name: of_state(x) for name, x in closing.items()},
        model=model,
    )
    return replace(posed, guards=guards, variables=(_part("q", q), _part("v", q), _part("impulse", impulses)))


def _part(part: str, symbols: Sequence[Any]) -> Variable:
    """A part of the state whose components are called as their symbols are."""
    return Variable(part, tuple(str(x.func if isinstance(x, AppliedUndef) else x) for x in symbols))


def _generalised(loads: Iterable[Any], v: list[Any], frame: Any) -> list[Any]:
    """Generalised forces of loads: Σ ∂(velocity)/∂q̇ · force, over points and frames."""
    forces = [sympy.Integer(0)] * len(v)
    for load in loads:
        where, vector = load
        if not isinstance(where, (Point, ReferenceFrame)):
            raise ValueError(f"lagrange: a force acts on {where!r}, expected a Point or a ReferenceFrame")
        velocity = where.vel(frame) if isinstance(where, Point) else where.ang_vel_in(frame)
        forces = [F + velocity.diff(x, frame, var_in_dcm=False).dot(vector) for F, x in zip(forces, v, strict=True)]
    return forces


# --- Kane -------------------------------------------------------------------------------------------------------------


def _kanes_equations(kane: Any, q: list[Any], u: list[Any]) -> tuple[Any, Any, dict[Any, Any]]:
    """M and f of M (q̇, u̇) = f, and q̇ where SymPy has solved the kinematical equations for it."""
    try:
        dynamics, push = kane.mass_matrix, kane.forcing
    except ValueError:
        raise ValueError(
            "kane: its equations have not been formed; call kane.kanes_equations(bodies, loads) first"
        ) from None
    rates = kane.kindiffdict()
    if rates:
        zero = sympy.zeros(len(q), len(u))
        kinematics = [rates[x.diff(dynamicsymbols._t)] for x in q]
        mass = sympy.Matrix([[sympy.eye(len(q)), zero], [zero.T, dynamics]])
        return mass, [*kinematics, *push], rates
    return kane.mass_matrix_full, kane.forcing_full, {}


def _kanes_constraints(kane: Any, u: list[Any]) -> dict[str, list[Any]]:
    """What should stay zero along the motion: configuration constraints, and those of the speeds."""
    gaps, slips = list(kane._f_h), list(kane._k_nh * sympy.Matrix(u) + kane._f_nh) if kane._f_nh else []
    return {"gap": gaps, "slip": slips}


def _closing_guards(
    kept: Mapping[str, Sequence[Any]], q: list[Any], v: list[Any], y0: Array, given: _Given
) -> tuple[Guard, ...]:
    """The guards of what should stay zero: it may become no more than a part of its change when the configuration, or
    the velocity, moves by its own size, or by one.
    """
    known, found = dict(zip([*q, *v], y0, strict=True)), []
    for name, over in (("gap", q), ("slip", v)):
        some = list(kept.get(name, ()))
        if not some:
            continue
        size = max(abs(float(known[x])) for x in over) or 1.0
        rows = np.asarray(given.value([[sympy.diff(given.put(x), c) for c in over] for x in some], known), dtype=float)
        says = "the constraints are violated" if name == "gap" else "the constraints of the velocities are violated"
        for k, row in enumerate(rows.reshape(len(some), -1)):
            limit = OPEN * size * float(np.linalg.norm(row))
            if limit > 0.0:
                found.append(
                    Guard(f"{name}_{k}", says, "use smaller tolerances or steps", least=-limit, greatest=limit)
                )
    return tuple(found)


# --- what users give --------------------------------------------------------------------------------------------------


def _coordinates(coordinates: Sequence[Any]) -> list[Any]:
    if isinstance(coordinates, AppliedUndef):
        raise TypeError(f"coordinates: {coordinates}, expected a list of dynamicsymbols: [{coordinates}]")
    q = [sympy.sympify(x) for x in sequence(coordinates, "coordinates", "dynamicsymbols")]
    if not q:
        raise ValueError("coordinates: none, expected at least one dynamicsymbol")
    for x in q:
        if not isinstance(x, AppliedUndef):
            raise ValueError(
                f"coordinates: {x}, expected functions of the time: sympy.physics.mechanics.dynamicsymbols"
            )
        if x.args != (dynamicsymbols._t,) and str(x.args[0]) != str(dynamicsymbols._t):
            raise ValueError(
                f"coordinates: {x} is a function of {_listed(x.args)}, expected of the time, {dynamicsymbols._t}: take "
                "dynamicsymbols, or dynamicsymbols._t for the argument"
            )
    if len(set(q)) < len(q):
        raise ValueError(
            f"coordinates: {_listed(x for x in set(q) if q.count(x) > 1)} more than once; expected each once"
        )
    return q


def _constraint(given: Any, q: Sequence[Any]) -> Any:
    """What the motion keeps at zero: an expression of coordinates and time."""
    made = sympy.sympify(given)
    if not isinstance(made, sympy.Expr):
        raise TypeError(f"constraints: {shown(given)}, expected an expression that is zero: a - b for a = b")
    rates = {x.args[0] for x in parts_of([made]) if isinstance(x, sympy.Derivative)} & {*q}
    if rates:
        raise ValueError(
            f"constraints: {made} reads rates of {_listed(rates)}, expected one of coordinates; nonholonomic ones are "
            "those of LagrangesMethod(…, nonhol_coneqs=…) and from_lagranges_method"
        )
    return made


def _plain(q: Sequence[Any]) -> list[Any]:
    return [sympy.Dummy() for _ in q]


def _given(
    expressions: Iterable[Any],
    q: list[Any],
    u: list[Any],
    parameters: Mapping[Any, float] | None,
    inputs: Mapping[Any, Any] | None,
    begin: float,
    varied: Sequence[Any] = (),
) -> _Given:
    """Every symbol has a number, every function of the time that is not a coordinate is given; in what is `varied`, the
    Lagrangian and the constraints, by functions of the time alone.
    """
    t = dynamicsymbols._t
    symbols = {_named(x, "parameters"): value for x, value in (parameters or {}).items()}
    given_inputs = {_named(x, "inputs"): value for x, value in (inputs or {}).items()}
    exchanged = {x: _expression(x, f) for x, f in given_inputs.items() if not callable(f) or isinstance(f, sympy.Basic)}
    for x, f in exchanged.items():
        if f.has(sympy.nan, sympy.oo, -sympy.oo, sympy.zoo):
            raise ValueError(f"inputs[{x}]: {f}, expected finite values")
    driven = {x: _input(x, f) for x, f in given_inputs.items() if x not in exchanged}
    for x in sorted({*parts_of([sympy.sympify(x) for x in varied])} & exchanged.keys(), key=str):
        if moves := {*parts_of([exchanged[x].subs(exchanged).subs(exchanged)])} & {*q, *u}:
            raise ValueError(
                f"inputs[{x}]: {exchanged[x]} depends on {_listed(moves)}, and stands in the Lagrangian or a "
                "constraint, whose derivatives by coordinates are taken; give an expression of t alone, have its force "
                "in forces, or write it there itself"
            )
    found = [sympy.sympify(x) for x in [*expressions, *varied, *exchanged.values()]]
    atoms = {x for x in parts_of(found) if is_name(x) or isinstance(x, AppliedUndef)}
    free = {x for x in atoms if is_name(x)} - {t}
    if any(str(x) == str(t) for x in free):
        raise ValueError(f"{t}: a symbol with the name of the time that is not it; take dynamicsymbols._t")
    if missing := free - set(symbols):
        others = {str(x) for x in missing} & set(map(str, symbols))
        hint = f" ({_listed(others)}: a symbol of this name has one, but other assumptions)" if others else ""
        raise ValueError(f"parameters: no value for {_listed(missing)}{hint}; give one for each, such as {{m: 2.0}}")
    if strange := set(symbols) - free:
        raise ValueError(
            f"parameters: {_listed(strange)} are not in the equations, which have {_listed(free) or 'none'}"
        )
    numbers = {x: _number(value, f"parameters[{x}]") for x, value in symbols.items()}
    functions = atoms - free - {t}
    if missing := functions - {*q, *u, *given_inputs}:
        raise ValueError(
            f"inputs: {_listed(missing)} are functions of the time that are no coordinates; give each as an expression "
            "or a function of t"
        )
    if strange := set(given_inputs) - functions:
        raise ValueError(f"inputs: {_listed(strange)} are not in the equations")
    _have_rates({x.args[0] for x in parts_of(found) if isinstance(x, sympy.Derivative)} & set(driven))
    names = sorted(symbols, key=str)
    return _Given(t, names, [numbers[x] for x in names], driven, exchanged, {}, real(begin, "t"))


def _named(x: Any, what: str) -> Any:
    """What a user names a parameter or an input by, for SymPy."""
    try:
        return sympy.sympify(x)
    except (sympy.SympifyError, TypeError):
        raise TypeError(
            f"{what}: {shown(x)}, expected a symbol or its name; give m[0] of an IndexedBase itself"
        ) from None


def _expression(x: Any, given: Any) -> Any:
    """What a user gives for a function of the time, for SymPy."""
    made = sympy.sympify(given)
    if not isinstance(made, sympy.Expr):
        raise TypeError(f"inputs[{x}]: {shown(given)}, expected an expression of SymPy, a number or a function of t")
    return made


def _input(x: Any, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of the time of a user, for traced scalars, too."""
    made = traceable(function)

    def at(t: Any) -> Any:
        try:
            return made(t)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"inputs[{x}]: {shown(function)} cannot be traced ({error}); give an expression of SymPy, or a "
                "function of NumPy's functions and np.interp"
            ) from error

    return at


def _number(value: Any, name: str) -> float:
    """A number, or an expression of numbers, as a finite float; TypeError or ValueError with its name."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {shown(value)}, expected a real number") from None
    return real(number, name)


def _listed(some: Iterable[Any]) -> str:
    return ", ".join(sorted(map(str, some)))


def _start(
    start: Mapping[Any, float] | None,
    q: list[Any],
    v: list[Any],
    gaps: list[Any],
    slips: list[Any],
    given: _Given,
) -> Array:
    """(q, v) at the start: coordinates as given; velocities that are not given are those of least size that satisfy
    the constraints, zero where nothing asks for more.
    """
    if not isinstance(start or {}, Mapping):
        raise TypeError(f"start: {shown(start)}, expected a mapping from coordinates to numbers, {{{q[0]}: 1.0}}")
    names = {x.func.__name__: x for x in [*q, *v] if isinstance(x, AppliedUndef)}
    values = {
        names.get(x, x) if isinstance(x, str) else sympy.sympify(x): _number(value, f"start[{x}]")
        for x, value in (start or {}).items()
    }
    if strange := set(values) - {*q, *v}:
        raise ValueError(f"start: {_listed(strange)} are no coordinates or velocities, which are {_listed([*q, *v])}")
    if missing := set(q) - set(values):
        raise ValueError(f"start: no value for {_listed(missing)}; give one for every coordinate")
    known = {x: values.get(x, 0.0) for x in [*q, *v]}
    if gaps:
        gap = np.abs(given.value(gaps, known))
        slopes = given.value([[sympy.diff(given.put(c), x) for x in q] for c in gaps], known)
        allowed = 1e-9 + 1e-14 * np.abs(slopes) @ np.abs([known[x] for x in q])  # rounding of large numbers is none
        if (gap > allowed).any():
            k = int((gap / allowed).argmax())
            raise ValueError(
                f"start: configuration constraint {k} is violated by {gap[k]:.3g}; expected 0 within {allowed[k]:.3g}"
            )
    if slips:
        free = [x for x in v if x not in values]
        slip = given.value(slips, known)
        if free:
            A = given.value([[sympy.diff(given.put(row), x) for x in free] for row in slips], known)
            known |= dict(zip(free, np.linalg.lstsq(A, -slip, rcond=None)[0], strict=True))
            slip = given.value(slips, known)
        if np.abs(slip).max() > 1e-9 * (1.0 + max(map(abs, known.values()))):
            raise ValueError(
                f"start: velocity constraint {int(np.abs(slip).argmax())} is violated by {np.abs(slip).max():.3g}; "
                "leave velocities out of the start, and they are found"
            )
    return np.array([known[x] for x in [*q, *v]])
