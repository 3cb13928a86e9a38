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
def direction(kind: Any, A: Any, B: Any, D: Any) -> Any:
    """The moment B × A of a PARALLEL equation; else the force on body j: A, or e = D/|D|."""
    if kind == PARALLEL:
        return cross(B, A)
    return A if kind == ALONG else scale(1.0 / sqrt(dot(D, D)), D)


@helper
def value(kind: Any, A: Any, B: Any, D: Any, length: Any) -> Any:
    """φ."""
    if kind == PARALLEL:
        return dot(A, B)
    return dot(A, D) if kind == ALONG else sqrt(dot(D, D)) - length


@helper
def on_body(kind: Any, R: Any, arm: Any, force: Any, moment: Any) -> Any:
    """The screw of an equation in the axes of a body: a pure moment, or a force at `arm` from the body origin plus a
    moment.
    """
    if kind == PARALLEL:
        m = rotated_back(R, moment)
        return 0.0 * m[0], 0.0 * m[0], 0.0 * m[0], m[0], m[1], m[2]
    f, m = rotated_back(R, force), rotated_back(R, add(moment, cross(arm, force)))
    return f[0], f[1], f[2], m[0], m[1], m[2]


@helper
def screws_by_kind(
    kind: Any, a: Any, p: Any, b: Any, q: Any, length: Any, R_i: Any, x_i: Any, R_j: Any, x_j: Any
) -> Any:
    """φ, W_i (6), W_j (6) of one equation.

    R turns body components into world components (nine numbers), x is the body origin in world axes.
    """
    A, B = rotated(R_i, a), rotated(second(kind, R_i, R_j), b)
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    if kind >= HEIGHT:
        phi, f, offset = wheel_equation(kind, A, B, D)
        zero = scale(0.0, f)
        return (
            phi,
            on_body(kind, R_i, add(add(arm_i, D), offset), subtract(zero, f), zero),
            on_body(kind, R_j, add(arm_j, offset), f, zero),
        )
    on_i = arm_i if kind == DISTANCE else add(arm_i, D)
    f = direction(kind, A, B, D)
    zero = scale(0.0, f)
    opposite = subtract(zero, f)
    return (
        value(kind, A, B, D, length),
        on_body(kind, R_i, on_i, opposite, opposite if kind == PARALLEL else zero),
        on_body(kind, R_j, arm_j, f, f if kind == PARALLEL else zero),
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
    A, B = rotated(R_i, a), rotated(second(kind, R_i, R_j), b)
    arm_i, arm_j = rotated(R_i, p), rotated(R_j, q)
    D = subtract(add(x_j, arm_j), add(x_i, arm_i))
    turn_i, turn_j = rotated(R_i, w_i), rotated(R_j, w_j)
    A_dot, B_dot = cross(turn_i, A), cross(second(kind, turn_i, turn_j), B)
    P_dot = add(rotated(R_i, v_i), cross(turn_i, arm_i))
    Q_dot = add(rotated(R_j, v_j), cross(turn_j, arm_j))
    if kind == PARALLEL:
        m = add(cross(B_dot, A), cross(B, A_dot))
        return on_body(kind, R_i, arm_i, m, subtract(scale(0.0, m), m)), on_body(kind, R_j, arm_j, m, m)
    if kind >= HEIGHT:
        f, offset, f_dot, offset_dot = wheel_rates(kind, A, A_dot, B, B_dot, D, subtract(Q_dot, P_dot))
        moment = cross(add(Q_dot, offset_dot), f)
        N_i = on_body(kind, R_i, add(add(arm_i, D), offset), scale(-1.0, f_dot), scale(-1.0, moment))
        return N_i, on_body(kind, R_j, add(arm_j, offset), f_dot, moment)
    f = direction(kind, A, B, D)
    f_dot = A_dot if kind == ALONG else _turning(f, D, subtract(Q_dot, P_dot))
    on_i = add(arm_i, D) if kind == ALONG else arm_i
    carried_i = Q_dot if kind == ALONG else P_dot
    N_i = on_body(kind, R_i, on_i, scale(-1.0, f_dot), scale(-1.0, cross(carried_i, f)))
    return N_i, on_body(kind, R_j, arm_j, f_dot, cross(Q_dot, f))
