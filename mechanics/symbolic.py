"""Equations of motion that SymPy has derived, as problems; what reads them is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from liegroup.modules import listing

if TYPE_CHECKING:
    from integrators.problem import Problem

__all__ = ["from_kanes_method", "from_lagranges_method", "from_lagrangian"]
__dir__ = listing(__all__)


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
    """The motion of a Lagrangian written in SymPy.

    Parameters
    ----------
    lagrangian : sympy expression
        L(t, q, q̇) of ``dynamicsymbols`` and their first derivatives.
    coordinates : sequence of dynamicsymbols
        q, in the order of the state.
    parameters : mapping of symbol to number, optional
        A value for every other symbol, in units that fit each other (SI: the energy is then in J).
    start : mapping of dynamicsymbol or its derivative to number
        All coordinates, and velocities; those that are not given are the least that constraints allow, zero without.
    forces : sequence of sympy expressions, optional
        Generalised forces that are not in L, one per coordinate.
    constraints : sequence of sympy expressions, optional
        Holonomic constraints c(t, q), kept at zero.
    inputs : mapping of dynamicsymbol to sympy expression or callable, optional
        Functions of the time that are no coordinates: an expression in ``dynamicsymbols._t``, or a function of t; what
        stands in forces alone may depend on coordinates and rates.
    model : str
        Name for tables and files.
    t : float
        Time at which runs are to begin, s: the start is one at this time, which matters where the time occurs in the
        momenta or the constraints.

    Returns
    -------
    Problem
        State (q, p), p = ∂L/∂q̇: `integrators.problem.lagrangian.lagrangian_problem`, or with constraints
        `integrators.problem.holonomic.holonomic_problem`.  Components are called as the coordinates are.

    Raises
    ------
    ValueError, TypeError
        Symbols without a value, unknown ones, functions that cannot be compiled, a start that violates constraints.

    Examples
    --------
    >>> import sympy
    >>> from integrators import integrate
    >>> from sympy.physics.mechanics import dynamicsymbols
    >>> q, (g, r) = dynamicsymbols("q"), sympy.symbols("g r")
    >>> L = r**2 * q.diff() ** 2 / 2 + g * r * sympy.cos(q)
    >>> pendulum = from_lagrangian(L, [q], {g: 9.81, r: 0.5}, {q: 1.0})
    >>> bool(integrate(pendulum, "DEL_GAUSS2", (0, 1), 0.01).error("energy") < 1e-7)
    True
    """
    from mechanics.adapters.sympy import from_lagrangian as read

    return read(
        lagrangian, coordinates, parameters, start,
        forces=forces, constraints=constraints, inputs=inputs, model=model, t=t,
    )  # fmt: skip


def from_lagranges_method(
    lagrange: Any,
    parameters: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    *,
    inputs: Mapping[Any, Any] | None = None,
    model: str = "SymPy LagrangesMethod",
    t: float = 0.0,
) -> Problem:
    """The motion of a ``sympy.physics.mechanics.LagrangesMethod``; its equations need not have been formed.

    Parameters
    ----------
    lagrange : LagrangesMethod
        With its forces, holonomic and nonholonomic constraints.
    parameters, start, inputs, model
        As for `from_lagrangian`.
    t : float
        Time at which runs are to begin, s.

    Returns
    -------
    Problem
        Without nonholonomic constraints as `from_lagrangian`.  With them the form with multipliers of a
        `mechanics.nonholonomic.system.NonholonomicSystem`, state (q, q̇): for nonholonomic methods (``DLA4``) and all
        methods of fields; where the kinetic energy is not quadratic in q̇, or the time occurs in it, equations
        M ẏ = f in (q, q̇, impulses of the constraints) for methods of fields.

    Raises
    ------
    ValueError, TypeError
        As for `from_lagrangian`; constraints that are not linear in the velocities.

    Examples
    --------
    A skate on an inclined plane:

    >>> import sympy
    >>> from integrators import integrate
    >>> from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols
    >>> x, y, a = dynamicsymbols("x y a")
    >>> L = (x.diff() ** 2 + y.diff() ** 2 + a.diff() ** 2) / 2 + x
    >>> edge = x.diff() * sympy.sin(a) - y.diff() * sympy.cos(a)
    >>> skate = from_lagranges_method(
    ...     LagrangesMethod(L, [x, y, a], nonhol_coneqs=[edge]), start={x: 0, y: 0, a: 0, a.diff(): 1.0}
    ... )
    >>> bool(integrate(skate, "DLA4", (0, 5), 0.01).error("energy") < 1e-7)
    True
    """
    from mechanics.adapters.sympy import from_lagranges_method as read

    return read(lagrange, parameters, start, inputs=inputs, model=model, t=t)


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
    """The motion of a ``sympy.physics.mechanics.KanesMethod`` whose equations have been formed.

    Parameters
    ----------
    kane : KanesMethod
        After ``kane.kanes_equations(bodies, loads)``; dependent coordinates and speeds, auxiliary speeds.
    parameters, inputs, model
        As for `from_lagrangian`; specified functions are inputs.
    t : float
        Time at which runs are to begin, s.
    start : mapping of dynamicsymbol to number
        All coordinates, and speeds; those that are not given are the least that the constraints allow.
    invariants : mapping of str to sympy expression, optional
        What is watched, expressions of coordinates, speeds and parameters: such as
        ``{"energy": kinetic_energy(N, *bodies) + V}``.

    Returns
    -------
    Problem
        M ẏ = f for y = (q, u) on Rⁿ, components called as the symbols are: every method of fields.  Watches the
        `invariants`, ``gap_0`` … of configuration constraints and ``slip_0`` … of those of speeds, which drift with
        the method's error.

    Raises
    ------
    ValueError, TypeError
        As for `from_lagrangian`; equations that have not been formed; a start that violates constraints.

    Notes
    -----
    Kane's equations do not say which part of the loads has a potential: what is to be conserved is the caller's to say.

    References
    ----------
    Kane and Levinson 1985.

    Examples
    --------
    >>> import sympy
    >>> from integrators import integrate
    >>> from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols
    >>> (q, u), (m, k) = dynamicsymbols("q u"), sympy.symbols("m k")
    >>> N, P = ReferenceFrame("N"), Point("P")
    >>> P.set_vel(N, u * N.x)
    >>> kane = KanesMethod(N, q_ind=[q], u_ind=[u], kd_eqs=[q.diff() - u])
    >>> _ = kane.kanes_equations([Particle("block", P, m)], [(P, -k * q * N.x)])
    >>> block = from_kanes_method(
    ...     kane, {m: 2.0, k: 8.0}, {q: 1.0}, invariants={"energy": m * u**2 / 2 + k * q**2 / 2}
    ... )
    >>> bool(integrate(block, "GAUSS8", (0, 1), 0.1).error("energy") < 1e-14)
    True
    """
    from mechanics.adapters.sympy import from_kanes_method as read

    return read(kane, parameters, start, inputs=inputs, invariants=invariants, model=model, t=t)
