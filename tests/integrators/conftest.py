"""Problems the tests of the engine share: canonical ones (state (g, p) on T*G) and their exact values."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest

from integrators.problem import Problem, Variable
from integrators.signatures import FIELD_SIGNATURES
from integrators.steppers.gauss_workspace import NU, B, C
from integrators.tableaus import GAUSS
from integrators.tableaus.numbers import decimal
from liegroup.compile import entry, helper, ld, st
from liegroup.compile.scalars import sincos, sqrt
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot, scale
from liegroup.table import RN, SE3, SO2, SO3, load_components, store_components, table_of

INERTIA = (1.0, 1.4, 0.6)
AXIS = np.array([0.1, 0.2, 0.97]) / np.linalg.norm([0.1, 0.2, 0.97])
vector, quaternion, store = load_components(3), load_components(4), store_components(3)


@helper
def vertical(q: Any) -> Any:
    """Γ = Rᵀ e₃."""
    return so3.act_inverse(q, (0.0 * q[0], 0.0 * q[0], 0.0 * q[0] + 1.0))


@entry(*FIELD_SIGNATURES)
def top_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """ω = J⁻¹p,  ṗ = p × ω + Γ × c; parameters J₁ J₂ J₃ c₁ c₂ c₃."""
    p = vector(y, 4)
    w = (p[0] / parameters[0], p[1] / parameters[1], p[2] / parameters[2])
    store(out, 0, w)
    store(out, 3, add(cross(p, w), cross(vertical(quaternion(y, 0)), vector(parameters, 3))))


@entry(*FIELD_SIGNATURES)
def top_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Energy ½ p·J⁻¹p + c·Γ and spatial momentum R p (without weight: conserved; with weight: its third component)."""
    p, q = vector(y, 4), quaternion(y, 0)
    w = (p[0] / parameters[0], p[1] / parameters[1], p[2] / parameters[2])
    st(out, 0, 0.5 * dot(p, w) + dot(vertical(q), vector(parameters, 3)))
    store(out, 1, so3.act(q, p))


def heavy_top(weight: float = 2.0) -> Problem:
    """R₀ = exp(0.4, −0.3, 0.2), ω₀ = (0.5, −0.8, 4), potential c·Γ with |c| = weight; weight 0: the free body."""
    q = np.array(so3.exp((0.4, -0.3, 0.2)))
    return Problem(
        table_of([(SO3, 1), (RN, 3)]),
        np.concatenate([q / np.linalg.norm(q), np.array(INERTIA) * (0.5, -0.8, 4.0)]),
        top_field,
        parameters=[*INERTIA, *(weight * AXIS)],
        variables=(
            Variable("orientation", ("qw", "qx", "qy", "qz"), "1"),
            Variable("momentum", ("px", "py", "pz"), "kg m2 s-1"),
        ),
        invariants=top_invariants,
        invariant_names=("energy", "momentum_x", "momentum_y", "momentum_z"),
        invariant_units=("J", *("kg m2 s-1",) * 3),
        canonical=True,
        model="heavy top" if weight else "free body",
    )


@entry(*FIELD_SIGNATURES)
def pendulum_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """θ̇ = p,  ṗ = −sin θ."""
    s, _ = sincos(ld(y, 0))
    st(out, 0, ld(y, 1))
    st(out, 1, -s)


@entry(*FIELD_SIGNATURES)
def pendulum_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """½ p² − cos θ."""
    _, c = sincos(ld(y, 0))
    st(out, 0, 0.5 * ld(y, 1) * ld(y, 1) - c)


def pendulum(angle: float = 2.0, momentum: float = 0.0) -> Problem:
    return Problem(
        table_of([(SO2, 1), (RN, 1)]),
        [angle, momentum],
        pendulum_field,
        variables=(Variable("angle", ("angle",), "rad"), Variable("momentum", ("p",), "kg m2 s-1")),
        invariants=pendulum_energy,
        invariant_names=("energy",),
        invariant_units=("J",),
        canonical=True,
        model="pendulum",
    )


@entry(*FIELD_SIGNATURES)
def floating_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """A body of inertia J, mass m under the world force F(x) = −(k + k₄|x|²) x − m g e₃; parameters J m g k k₄."""
    x, q, linear, angular = vector(y, 0), quaternion(y, 3), vector(y, 7), vector(y, 10)
    m, k = parameters[3], parameters[5] + parameters[6] * dot(x, x)
    w = (angular[0] / parameters[0], angular[1] / parameters[1], angular[2] / parameters[2])
    force = (-k * x[0], -k * x[1], -k * x[2] - m * parameters[4])
    store(out, 0, scale(1.0 / m, linear))
    store(out, 3, w)
    store(out, 6, add(cross(linear, w), so3.act_inverse(q, force)))
    store(out, 9, cross(angular, w))


@entry(*FIELD_SIGNATURES)
def floating_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    x, linear, angular = vector(y, 0), vector(y, 7), vector(y, 10)
    w = (angular[0] / parameters[0], angular[1] / parameters[1], angular[2] / parameters[2])
    r = dot(x, x)
    potential = 0.5 * parameters[5] * r + 0.25 * parameters[6] * r * r + parameters[3] * parameters[4] * x[2]
    st(out, 0, 0.5 * (dot(angular, w) + dot(linear, linear) / parameters[3]) + potential)


def floating_body() -> Problem:
    """A rigid body on a nonlinear spring, with weight, on T*SE(3)."""
    inertia, q = np.array([0.3, 0.5, 0.4]), np.array(so3.exp((0.3, 0.2, -0.5)))
    momenta = np.concatenate([2.0 * np.array([1.0, -2.0, 0.7]), inertia * (0.5, -0.3, 0.2)])
    return Problem(
        table_of([(SE3, 1), (RN, 6)]),
        np.concatenate([[0.1, 0.2, -0.3], q / np.linalg.norm(q), momenta]),
        floating_field,
        parameters=[*inertia, 2.0, 9.81, 30.0, 5.0],
        invariants=floating_energy,
        invariant_names=("energy",),
        invariant_units=("J",),
        canonical=True,
        model="floating body",
    )


@entry(*FIELD_SIGNATURES)
def kepler_field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """q̇ = p,  ṗ = −q/|q|³ in the plane."""
    x, z = ld(y, 0), ld(y, 1)
    r2 = x * x + z * z
    k = 1.0 / (r2 * sqrt(r2))
    st(out, 0, ld(y, 2))
    st(out, 1, ld(y, 3))
    st(out, 2, -k * x)
    st(out, 3, -k * z)


@entry(*FIELD_SIGNATURES)
def kepler_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Energy and angular momentum."""
    x, z, u, v = ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)
    st(out, 0, 0.5 * (u * u + v * v) - 1.0 / sqrt(x * x + z * z))
    st(out, 1, x * v - z * u)


@entry(*FIELD_SIGNATURES)
def kepler_step_size(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Q = |q|^(3/2) and G = −(3/2) q·p/|q|²."""
    x, z, u, v = ld(y, 0), ld(y, 1), ld(y, 2), ld(y, 3)
    r2 = x * x + z * z
    st(out, 0, sqrt(r2 * sqrt(r2)))
    st(out, 1, -1.5 * (x * u + z * v) / r2)


def kepler(eccentricity: float = 0.8) -> Problem:
    """The planar Kepler problem of period 2π, from the pericentre."""
    e = eccentricity
    return Problem(
        table_of([(RN, 2), (RN, 2)]),
        [1 - e, 0.0, 0.0, ((1 + e) / (1 - e)) ** 0.5],
        kepler_field,
        invariants=kepler_invariants,
        invariant_names=("energy", "angular_momentum"),
        canonical=True,
        model="Kepler",
    )


@pytest.fixture(scope="session")
def problems() -> SimpleNamespace:
    """The problems by name; each call poses a new one."""
    return SimpleNamespace(
        heavy_top=heavy_top,
        free_body=lambda: heavy_top(0.0),
        pendulum=pendulum,
        floating_body=floating_body,
        kepler=kepler,
        kepler_step_size=kepler_step_size,
    )


def gauss_in_many_digits(method):
    """A Gauss method with its stages in lanes, its numbers to the digits of mpmath."""
    exact = GAUSS(8)
    c = [mpmath.mpf(str(x)) if isinstance(x, Decimal) else mpmath.mpf(x.numerator) / x.denominator for x in exact.c]
    a = [[mpmath.mpf(str(decimal(x))) for x in row] for row in exact.A]
    b = [mpmath.mpf(str(decimal(x))) for x in exact.b]
    numbers = np.array([mpmath.mpf(float(x)) for x in method.coefficients], dtype=object)
    for j in range(8):
        for i in range(8):
            numbers[NU + 8 * j + i] = a[i][j] / b[j] - mpmath.mpf(1) / 2
    numbers[B : B + 8], numbers[C : C + 8] = b, c
    new = replace(method)
    object.__setattr__(new, "coefficients", numbers)
    return new


@pytest.fixture(scope="session")
def in_many_digits():
    return gauss_in_many_digits
