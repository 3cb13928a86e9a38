"""One scalar equation between two bodies: its value φ, its wrenches and their rates.

Every closing joint (`mechanics.constraints.loops`) and every wheel (`mechanics.constraints.wheels`) is a few equations
of these kinds.  With P = x_i + R_i p, Q = x_j + R_j q, D = Q − P and directions A = R_i a, B = R_j b:

==========  ==================  ===========================  ===========================  =======================
kind        φ                   momentum screw on body j     its rate                     acts along
==========  ==================  ===========================  ===========================  =======================
PARALLEL    A · B               moment B × A                 Ḃ × A + B × Ȧ                a pure moment
ALONG       A · D               force A at Q                 Ȧ at Q, and moment Q̇ × A     the line A through Q
DISTANCE    |D| − L             force e = D/|D| at Q         ė at Q, and moment Q̇ × e      the line PQ
HEIGHT …    of wheels, balls and blades: see `mechanics.constraints.wheel_equations`
GIVEN       a function of the relative pose: see `mechanics.constraints.given_equations`
COUPLING    a function of joint coordinates: see `mechanics.constraints.coupling_equations`
==========  ==================  ===========================  ===========================  =======================

Body i feels the opposite screw.  In body axes about the body origins the screws are W_i, W_j (6 numbers each), so that

    φ̇ = W_i·V_i + W_j·V_j,       a multiplier λ acts as F_i += W_i λ, F_j += W_j λ,

and their rates N (as vectors of space, then in body axes) give φ̈ = W_i·V̇_i + W_j·V̇_j + N_i·V_i + N_j·V_j.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper
from liegroup.compile.scalars import sqrt
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.constraints.wheel_equations import HEIGHT, SPHERE, wheel_equation, wheel_rates
from mechanics.model.layout import three

COUPLING, GIVEN, PARALLEL, ALONG, DISTANCE = -2, -1, 0, 1, 2
EQUATION_NUMBERS = 15
HOW_SOLVED = 13, 14
"""Of these, what says how an equation is solved: its factor, and the gap that counts as closed."""


class EquationNumbers(NamedTuple):
    """Parameters of an equation, in their order: directions and points a, p, b, q (3 each), length L, the factor of φ
    and its screws where the equation is solved, and the |φ| that counts as closed.
    """

    a: Any
    p: Any
    b: Any
    q: Any
    length: Any
    scale: Any
    tolerance: Any


@helper
def equation_numbers(parameters: Any, at: Any) -> Any:
    """The parameters of the equation that stand at `at`."""
    x, p = parameters, at
    a, b = three(x, p), three(x, p + 6)
    return EquationNumbers(a, three(x, p + 3), b, three(x, p + 9), *three(x, p + 12))


@helper
def second(kind: Any, of_first: Any, of_second: Any) -> Any:
    """What b turns with: the second body, but the plane for a ball."""
    return of_first if kind == SPHERE else of_second


@helper
def about_origin(arm: Any, force: Any, moment: Any) -> Any:
    """A force at `arm` from the origin of a body plus a moment, as a screw about this origin in the axes of the
    world.
    """
    m = add(moment, cross(arm, force))
    return force[0], force[1], force[2], m[0], m[1], m[2]


@helper
def _moments(m: Any) -> Any:
    """Pure moments −m and m on the two bodies."""
    zero = 0.0 * m[0]
    return (zero, zero, zero, -m[0], -m[1], -m[2]), (zero, zero, zero, m[0], m[1], m[2])


@helper
def in_axes(R: Any, W: Any) -> Any:
    """A screw in the axes of a body, from those of the world."""
    f, m = rotated_back(R, (W[0], W[1], W[2])), rotated_back(R, (W[3], W[4], W[5]))
    return f[0], f[1], f[2], m[0], m[1], m[2]


@helper
def screws_by_kind(
    kind: Any, a: Any, p: Any, b: Any, q: Any, length: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    """φ, W_i (6), W_j (6) of one equation.

    R turns body components into world components (nine numbers), x is the body origin in world axes.
    """
    phi, W_i, W_j = screws_in_space(kind, a, p, b, q, length, R_i, x_i, R_j, x_j)
    return phi, in_axes(R_i, W_i), in_axes(R_j, W_j)


@helper
def screws_in_space(
    kind: Any, a: Any, p: Any, b: Any, q: Any, length: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    """The same in the axes of the world, about the body origins."""
    A = rotated(R_i, a)
    if kind == PARALLEL:
        B = rotated(R_j, b)
        W_i, W_j = _moments(cross(B, A))
        return dot(A, B), W_i, W_j
    if kind == ALONG:
        return along_line(A, closing_points(p, q, R_i, x_i, R_j, x_j))
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    if kind >= HEIGHT:
        phi, f, offset = wheel_equation(kind, A, rotated(second(kind, R_i, R_j), b), D)
        on_i, on_j = add(add(arm_i, D), offset), add(arm_j, offset)
    else:
        phi, f = sqrt(dot(D, D)) - length, scale(1.0 / sqrt(dot(D, D)), D)
        on_i, on_j = arm_i, arm_j
    zero = scale(0.0, f)
    return phi, about_origin(on_i, subtract(zero, f), zero), about_origin(on_j, f, zero)


class ClosingPoints(NamedTuple):
    """From the origins of the two bodies to Q, and D = Q − P; axes of the world."""

    from_first: Any
    from_second: Any
    gap: Any


@helper
def closing_points(p: Any, q: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any) -> Any:
    """Of an ALONG equation."""
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    return ClosingPoints(add(arm_i, D), arm_j, D)


@helper
def along_line(A: Any, points: Any) -> Any:
    """φ, W_i, W_j of an ALONG equation with the direction A, in the axes of the world."""
    m_i, m_j = cross(points.from_first, A), cross(points.from_second, A)
    return (
        dot(A, points.gap),
        (-A[0], -A[1], -A[2], -m_i[0], -m_i[1], -m_i[2]),
        (A[0], A[1], A[2], m_j[0], m_j[1], m_j[2]),
    )


@helper
def _turning(e: Any, D: Any, D_dot: Any) -> Any:
    """ė of e = D/|D|."""
    return scale(1.0 / sqrt(dot(D, D)), subtract(D_dot, scale(dot(e, D_dot), e)))


@helper
def rates_by_kind(
    kind: Any,
    a: Any,
    p: Any,
    b: Any,
    q: Any,
    R_i: Any,
    x_i: Any,
    R_j: Any,
    x_j: Any,
    v_i: Any,
    w_i: Any,
    v_j: Any,
    w_j: Any,
) -> Any:
    """N_i (6), N_j (6): the rates of the screws of one equation, seen from space, in body axes about the body origins.

    v, w are the velocity of the body origin and the angular velocity in body axes.
    """
    N_i, N_j = rates_in_space(kind, a, p, b, q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
    return in_axes(R_i, N_i), in_axes(R_j, N_j)


@helper
def rates_in_space(
    kind: Any, a: Any, p: Any, b: Any, q: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any, v_i: Any, w_i: Any, v_j: Any,
    w_j: Any,
) -> Any:  # fmt: skip
    """The same in the axes of the world."""
    A, turn_i, turn_j = rotated(R_i, a), rotated(R_i, w_i), rotated(R_j, w_j)
    A_dot = cross(turn_i, A)
    if kind == PARALLEL:
        B = rotated(R_j, b)
        return _moments(add(cross(cross(turn_j, B), A), cross(B, A_dot)))
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    Q_dot = add(rotated(R_j, v_j), cross(turn_j, arm_j))
    if kind == ALONG:
        moment = cross(Q_dot, A)
        N_i = about_origin(add(arm_i, D), scale(-1.0, A_dot), scale(-1.0, moment))
        return N_i, about_origin(arm_j, A_dot, moment)
    P_dot = add(rotated(R_i, v_i), cross(turn_i, arm_i))
    if kind >= HEIGHT:
        B = rotated(second(kind, R_i, R_j), b)
        B_dot = cross(second(kind, turn_i, turn_j), B)
        f, offset, f_dot, offset_dot = wheel_rates(kind, A, A_dot, B, B_dot, D, subtract(Q_dot, P_dot))
        moment = cross(add(Q_dot, offset_dot), f)
        N_i = about_origin(add(add(arm_i, D), offset), scale(-1.0, f_dot), scale(-1.0, moment))
        return N_i, about_origin(add(arm_j, offset), f_dot, moment)
    f = scale(1.0 / sqrt(dot(D, D)), D)
    f_dot = _turning(f, D, subtract(Q_dot, P_dot))
    N_i = about_origin(arm_i, scale(-1.0, f_dot), scale(-1.0, cross(P_dot, f)))
    return N_i, about_origin(arm_j, f_dot, cross(Q_dot, f))
