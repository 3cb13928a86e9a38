"""One step as a map with exact derivatives by state, controls and step, for optimal control and estimation.

Steps of a tree of bodies carry directions along themselves (`integrators.step_derivatives.tangent_step`); those of
mechanisms, with closed loops, wheels and force elements, and every method of fields on any group are differentiated by
complex steps (`integrators.step_derivatives.complex_step`), exactly and slowly.  Of variational integrators on Rⁿ, with
U the velocities of the step and R(U; q₀, p₀, u) = 0 its equations (`integrators.steppers.variational`),

    dU = −R_U⁻¹ (R_q dq₀ + R_p dp₀ + R_u du + R_h dh),    q₁ = q₀ + h Σ βₖ Uₖ,    p₁ = p₀ + h Σ bᵢ φᵢ

from the same second derivatives of the Lagrangian as the step itself, and derivatives by the parameters u and by time
by complex steps of φ and π. Nothing is differenced, nothing iterated: the derivatives are exact to rounding.  Without
forces A is symplectic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.layout import OWN_OPTIONS
from integrators.method import Method
from integrators.method.step_map import SingleStep
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.parts import lagrangian as layout
from integrators.step_derivatives.compiled import by_parameters_stepped
from integrators.step_derivatives.complex_step import by_parameters, controls_as_directions
from integrators.step_derivatives.tangent_step import carry
from integrators.steppers.variational import BASIS, NODES, UNKNOWN, VARIATIONAL
from liegroup.arrays import integer, real, reals, refuse, shown

Array = NDArray[np.float64]
OF_FIELDS = ("field", "time", "canonical")
"""What methods need whose steps are differentiated by complex steps (`integrators.method.method.NEEDS`)."""
_SMALL = 1e-30
_TIME = -1
"""In the place of a parameter's number."""


class LinearisedStep(NamedTuple):
    """The state after a step, and how it depends on the state before and on the controls.

    Attributes
    ----------
    y : (n_q + n,)
        (q₁, p₁); of fields on a group in general its element, n_q numbers, with n in the place of 2n below.
    A : (2n, 2n)
        ∂(q₁, p₁)/∂(q₀, p₀).  On groups (balls, planes, free bodies of a tree) configurations change by δq = q·ξ^, in
        the coordinates of the velocities, and Aᵀ Ω(p₁) A = Ω(p₀) with the two-form of
        `integrators.analysis.canonical.two_form`.

        With closed loops it is the derivative of the step together with the projection that the problem applies, after
        every step of methods of high order, too. Tangent vectors of the constraints at the start lead to tangent ones
        at the end, φ(q₁) = 0 and G M⁻¹ p₁ = 0, and the two-form is preserved on them; momenta of reactions alone,
        δp = Gᵀx, give zero. Directions that open a loop are closed within the step of variational methods, by impulses
        of the size of the gap over h, and by projections where these have anything to close: this part of A says
        nothing about motions. Where closures are redundant only directions that keep the loops closed have a meaning.
    B : (2n, m)
        ∂(q₁, p₁)/∂u for the m controls, held over the step.
    by_step : (2n,)
        ∂(q₁, p₁)/∂h.

    Many states at once: the same with a leading axis.

    Examples
    --------
    See `linearised_step`.
    """

    y: Array
    A: Array
    B: Array
    by_step: Array


def linearised_step(
    problem: Problem,
    method: str | Method,
    y: ArrayLike,
    h: float,
    u: ArrayLike = (),
    controls: Sequence[int] = (),
    t: float = 0.0,
    compiled: bool = False,
) -> LinearisedStep:
    """One step from y with the controls u, and its exact derivatives.

    Parameters
    ----------
    problem : Problem
        Any field on a group; of `integrators.problem.lagrangian.lagrangian_problem`, on Rⁿ or any group; a tree of
        bodies, of `mechanics.hamiltonian_problem`; or a mechanism with loops, wheels and force elements, of
        `Mechanism.problem`.
    method : str or Method
        Of fields, such as "RKMK4", "CF4" or "MAGNUS4"; of canonical problems on groups, such as "LGVI_CAYLEY" or
        "VARIATIONAL_GAUSS2", composed or not; of Lagrangians on Rⁿ one that is not composed, such as "DEL_MIDPOINT" or
        "DEL_GAUSS3"; of trees and mechanisms "TREE_VARIATIONAL" or any composition of it.
    y : array (n_q + n,)
        (q₀, p₀); of trees and mechanisms also many, (k, n_q + n): of trees eight at a time in lanes, of mechanisms one
        after the other.
    h : float
        Step, s, not 0.
    u : array (m,)
        Values of the controls over the step; for many states of a tree also (k, m).
    controls : sequence of m integers
        What they are: numbers of parameters of the problem; of "TREE_VARIATIONAL…" numbers of the velocities on which
        joint forces act.
    t : float
        Time at the start.
    compiled : bool
        Where a step is differentiated by complex steps, compile it for them: seconds to half a minute for the first
        problem of a kind, kept on disk, then some thousand times as fast as the interpreted step.

    Returns
    -------
    LinearisedStep
        The state after the step, and its derivatives A by the state, B by the controls, and by the step.

    Raises
    ------
    ValueError
        Another kind of method, one whose steps depend on states before (`BDF…`, `ALPHA`), or whose step loses
        derivatives (`AVI_FREE`); sizes that do not fit; a step of zero, numbers that are not finite; `compiled` where
        there is nothing to compile: fields that are jitted by users, or in plain Python and no formula.
    TypeError
        What is no real number; controls that are no sequence of integers.
    ArithmeticError
        The step has no solution that Newton's method finds (the message is the status); derivatives are not finite.

    Examples
    --------
    A pendulum with a torque at its joint:

    >>> from integrators.problem.lagrangian import lagrangian_problem
    >>> import numpy as np
    >>> pendulum = lagrangian_problem(
    ...     lambda t, q, v, p: 0.5 * v[0] ** 2 + np.cos(q[0]), [0.3], parameters=[0.0], force=lambda t, q, v, p: [p[0]]
    ... )
    >>> step = linearised_step(pendulum, "DEL_MIDPOINT", [0.3, 0.0], 0.1, [0.5], controls=[0])
    >>> step.A.shape, step.B.shape, bool(abs(np.linalg.det(step.A) - 1) < 1e-14)
    ((2, 2), (2, 1), True)
    """
    chosen, t = find(method), real(t, "t")
    h = real(h, "h", "a finite number of seconds, not 0", lambda x: bool(np.isfinite(x)) and x != 0.0)
    if not isinstance(controls, Iterable):
        raise TypeError(f"controls: {shown(controls)}, expected a sequence of numbers, one for each of u")
    controls = [integer(k, "controls") for k in controls]
    if isinstance(chosen, Method) and chosen.stepper.own:
        return _of_own_step(problem, chosen, y, h, u, controls, t, compiled)
    of_field = isinstance(chosen, Method) and chosen.stepper.needs in OF_FIELDS
    if not isinstance(chosen, Method) or not (of_field or chosen.stepper is VARIATIONAL):
        raise ValueError(
            f"method: {getattr(chosen, 'name', chosen)}, expected one of fields (RKMK_…, CF…, LGVI_…, VARIATIONAL_…), "
            "a variational integrator on Rⁿ (DEL_…) that is not composed, or one of trees and mechanisms "
            "(TREE_VARIATIONAL…)"
        )
    if chosen.stepper.multistep:
        raise ValueError(f"method: {chosen.name}, whose steps depend on states before; expected a one-step method")
    values, parameters = _numbers(u), np.array(problem.parameters, dtype=np.float64)
    if values.shape != (len(controls),) or not all(0 <= k < len(parameters) for k in controls):
        raise ValueError(
            f"u and controls: {values.tolist()} and {list(controls)}, expected one number per control, each a "
            "parameter's number"
        )
    parameters[controls] = values
    problem, start = replace(problem, parameters=parameters), problem.check_state(y, "y")
    if of_field:
        differentiated = by_parameters_stepped if compiled else by_parameters
        end, J = differentiated(problem, chosen, start, h, controls_as_directions(problem, controls), t)
        n = problem.dimension
        return LinearisedStep(end, J[:, :n], J[:, n:-1], J[:, -1])
    end, U = _solved(problem, chosen, start, h, t)
    return _linearised(problem, chosen, start, end, U, h, t, list(controls))


def _numbers(u: ArrayLike) -> Array:
    """Of the controls."""
    values = reals(u, "u")
    refuse(~np.isfinite(values), values, "u", "expected finite numbers")
    return values


def _of_own_step(
    problem: Problem, method: Method, y: ArrayLike, h: float, u: ArrayLike, controls: Sequence[int], t: float,
    compiled: bool,
) -> LinearisedStep:  # fmt: skip
    states, n = problem.check_state(y, "y"), problem.dimension // 2
    many, values = np.atleast_2d(states), _numbers(u)
    if values.shape not in ((len(controls),), (len(many), len(controls))) or not all(0 <= k < n for k in controls):
        raise ValueError(
            f"u and controls: shape {values.shape} and {list(controls)}, expected one number per control, a "
            f"velocity's number below {n}"
        )
    forces = np.zeros((len(many), n))
    for k, column in zip(controls, np.broadcast_to(values, (len(many), len(controls))).T, strict=True):
        forces[:, k] += column  # several may act on one velocity
    seeds = np.zeros((2 * n + len(controls) + 1, 3 * n + 2))
    for row, column in enumerate([*range(2 * n), *(2 * n + k for k in controls), 3 * n]):
        seeds[row, column] = 1.0
    ends, carried = carry(problem, method, many, h, forces, seeds, t, compiled)
    J = np.swapaxes(carried[:, :, : 2 * n], 1, 2)
    found = ends, J[:, :, : 2 * n], J[:, :, 2 * n : -1], J[:, :, -1]
    return LinearisedStep(*(x if states.ndim == 2 else x[0] for x in found))


def _solved(problem: Problem, method: Method, y: Array, h: float, t: float) -> tuple[Array, Array]:
    """(q₁, p₁) and U (s, n)."""
    taken = SingleStep(problem, method)(y, h, t)
    n, s = len(y) // 2, int(method.options[BASIS - OWN_OPTIONS])
    return taken.y, taken.work[UNKNOWN][: s * n].reshape(s, n).copy()


def _parts(problem: Problem, t: float, state: Array, size: int, control: int | None = None) -> Array:
    """The parts at a state (q, v), or their derivatives by a parameter or by time."""
    parameters, structure, work = np.asarray(problem.parameters), problem.structure, np.zeros(problem.work_shape)
    if control is None:
        out = np.zeros(size)
        problem.parts.python(t, state, parameters, structure, work, out)
        return out
    nudged, shifted = np.zeros(size, dtype=complex), parameters.astype(complex)
    if control != _TIME:
        shifted[control] += 1j * _SMALL
    problem.parts.python(
        t + 1j * _SMALL * (control == _TIME), state.astype(complex), shifted, structure, work.astype(complex), nudged
    )
    return np.asarray(nudged.imag / _SMALL)


def _linearised(
    problem: Problem, method: Method, y: Array, end: Array, U: Array, h: float, t: float, controls: list[int]
) -> LinearisedStep:
    s, n = U.shape
    r, m, at = int(method.options[NODES - OWN_OPTIONS]), len(controls), layout(n)
    A, B, b, c, beta = np.split(method.coefficients, np.cumsum([r * s, r * s, r, r]))
    A, B = A.reshape(r, s), B.reshape(r, s)
    by_U, by_rest = np.zeros((s * n, s * n)), np.zeros((s * n, 2 * n + m + 1))
    impulse_U, impulse_rest = np.zeros((n, s * n)), np.zeros((n, 2 * n + m + 1))
    one = np.eye(n)
    by_rest[:, n : 2 * n] = -np.kron(beta[:, None], one)
    for i in range(r):
        state, time = np.concatenate([y[:n] + h * A[i] @ U, B[i] @ U]), t + c[i] * h
        values = _parts(problem, time, state, at.SIZE)
        phi_q, phi_v, pi_q, pi_v = (
            values[k : k + n * n].reshape(n, n) for k in (at.PUSH_Q, at.PUSH_V, at.MOMENTUM_Q, at.MOMENTUM_V)
        )
        slopes = np.array([_parts(problem, time, state, at.PUSH_Q, k) for k in [*controls, _TIME]])
        drift = A[i] @ U
        slopes[m, : 2 * n] = c[i] * slopes[m, : 2 * n] + np.concatenate([phi_q @ drift, pi_q @ drift])
        on_U = [np.hstack([h * A[i, l] * q + B[i, l] * v for l in range(s)]) for q, v in ((phi_q, phi_v), (pi_q, pi_v))]
        on_rest = [
            np.hstack([q, np.zeros((n, n)), slope.T])
            for q, slope in ((phi_q, slopes[:, :n]), (pi_q, slopes[:, n : 2 * n]))
        ]
        turn, push = (b[i] * B[i])[:, None], (b[i] * h * (A[i] - beta))[:, None]
        by_U += np.kron(turn, on_U[1]) + np.kron(push, on_U[0])
        by_rest += np.kron(turn, on_rest[1]) + np.kron(push, on_rest[0])
        impulse_U += h * b[i] * on_U[0]
        impulse_rest += h * b[i] * on_rest[0]
        by_rest[:, -1] += np.kron(b[i] * (A[i] - beta), values[:n])
        impulse_rest[:, -1] += b[i] * values[:n]
    dU = -np.linalg.solve(by_U, by_rest)
    dq, dp = h * np.kron(beta[None, :], one) @ dU, impulse_U @ dU + impulse_rest
    dq[:, :n] += one
    dp[:, n : 2 * n] += one
    dq[:, -1] += beta @ U
    both = np.vstack([dq, dp])
    return LinearisedStep(end, both[:, : 2 * n], both[:, 2 * n : -1], both[:, -1])
