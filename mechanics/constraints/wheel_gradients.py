"""The slip of a wheel or blade under a finite displacement, and its gradient: what a discrete rolling condition needs.

For displacements that are small screws, T = ΔQ − ΔP of the hub Q past the point P of the plane and rotations φ_j of the
wheel and φ_i of the plane, an equation of `mechanics.constraints.wheel_equations` with force f at the offset o from Q,
D = Q − P, does the work

    S = f·U,      U = T + (φ_j − φ_i) × o − φ_i × D

All vectors are of one set of axes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from liegroup.compile import helper, kernel
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.constraints.wheel_equations import EDGE, ROLL, SPHERE, low, rim

LOOPS = "short"


class Gradient(NamedTuple):
    """Force f, its moments o × f about Q and (D + o) × f about P; gradients of S by D and by turns of wheel and
    plane.
    """

    force: Any
    about_hub: Any
    about_plane: Any
    by_distance: Any
    by_turn: Any
    by_turn_of_plane: Any


@helper
def slip(f: Any, about_hub: Any, about_plane: Any, T: Any, phi_i: Any, phi_j: Any) -> Any:
    """S."""
    return (dot(f, T) + dot(about_hub, phi_j)) - dot(about_plane, phi_i)


@helper
def _slip_gradient_of_ball(f: Any, B: Any, D: Any, T: Any, phi_i: Any, phi_j: Any) -> Any:
    """The same for o = −B, where f and o turn with the plane."""
    o, omega = scale(-1.0, B), subtract(phi_j, phi_i)
    U = subtract(add(T, cross(omega, o)), cross(phi_i, D))
    by_turn_of_plane = add(cross(f, U), cross(o, cross(f, omega)))
    return Gradient(f, cross(o, f), cross(add(D, o), f), cross(phi_i, f), scale(0.0, f), by_turn_of_plane)


@kernel
def slip_gradient(kind: Any, A: Any, B: Any, D: Any, T: Any, phi_i: Any, phi_j: Any) -> Any:
    """How S changes with the places of wheel and plane, at fixed displacements; ROLL, SIDE, EDGE and SPHERE.

    From f = (b̂ × A)/s or (b̂ − λ A)/s, e = (A − λ b̂)/s, o = −r e − η A, η = A·D − r s, λ = A·b̂, s² = 1 − λ².
    """
    if kind == SPHERE:
        return _slip_gradient_of_ball(A, B, D, T, phi_i, phi_j)
    w = rim(kind, A, B)
    f, o = w.force, low(kind, A, D, w)
    omega = subtract(phi_j, phi_i)
    U = subtract(add(T, cross(omega, o)), cross(phi_i, D))
    k = 1.0 / w.s
    by_distance, by_s = cross(phi_i, f), -(k * dot(f, U))
    if kind == ROLL:
        by_axis, by_normal = scale(k, cross(A, U)), scale(k, cross(U, w.axis))
        by_lean = 0.0 * k
    else:
        by_axis, by_normal = scale(k, U), scale(-(k * w.lean), U)
        by_lean = -(k * dot(U, A))
    if kind != EDGE:
        x = cross(f, omega)  # by o
        by_height, by_up = -dot(x, A), scale(-w.radius, x)
        height = dot(A, D) - w.radius * w.s
        by_normal = add(by_normal, subtract(add(scale(k, by_up), scale(by_height, D)), scale(height, x)))
        by_axis = subtract(by_axis, scale(k * w.lean, by_up))
        by_lean = by_lean - k * dot(by_up, w.axis)
        by_s = by_s - (k * dot(by_up, w.up) + by_height * w.radius)
        by_distance = add(by_distance, scale(by_height, A))
    by_lean = by_lean - by_s * (w.lean * k)
    by_axis, by_normal = add(by_axis, scale(by_lean, A)), add(by_normal, scale(by_lean, w.axis))
    return Gradient(f, cross(o, f), cross(add(D, o), f), by_distance, cross(w.axis, by_axis), cross(A, by_normal))
