"""Mechanical systems for the splittings: bodies of any inertia on springs to a moving point, on T*G for several
groups.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators.problem import Problem
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn
from liegroup.compile import entry, helper, ld, st
from liegroup.compile.scalars import sincos
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot
from liegroup.table import RN, SE2, SE3, SO2, SO3, load_components, store_components, table_of

GROUPS = {
    "R3": ((RN, 3),),
    "SO3": ((SO3, 1),),
    "SE3": ((SE3, 1),),
    "product": ((SO3, 2), (RN, 2), (SE2, 1), (SO2, 1), (SE3, 1)),
}


three, store = load_components(3), store_components(3)


@helper
def pull(t: Any, x: Any) -> Any:
    """Force at x of a nonlinear spring to the moving point (0.3 sin t, 0.2 cos 2t, 0.5), and weight."""
    s, _ = sincos(t)
    _, c = sincos(2.0 * t)
    d = (x[0] - 0.3 * s, x[1] - 0.2 * c, x[2] - 0.5)
    k = -3.0 - 2.0 * dot(d, d)
    return k * d[0], k * d[1], k * d[2] - 1.5


@entry(*FIELD_SIGNATURES)
def bodies(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = K p,  ṗ = ad_vᵀ p + force; K is parameters[:m²], the spring holds the point (0.4, −0.3, 0.2) of every
    body."""
    m, g = structure[0], structure[1]
    for i in range(m):
        v = ld(y, 0) * 0.0
        for j in range(m):
            v = v + parameters[i * m + j] * ld(y, g + j)
        st(out, i, v)
        st(out, m + i, ld(y, 0) * 0.0)
    q, j = 0, 0
    r = (0.4, -0.3, 0.2)
    for k in range(2, structure.shape[0]):
        kind = structure[k]
        if kind == RN or kind == SO2:  # noqa: SIM109
            x = ld(y, q)
            s, _ = sincos(x + 0.7 * t)
            st(out, m + j, s - 2.0 * x - x * x * x)
            q, j = q + 1, j + 1
        elif kind == SO3:
            a = (ld(y, q), ld(y, q + 1), ld(y, q + 2), ld(y, q + 3))
            torque = cross(r, so3.act_inverse(a, pull(t, so3.act(a, r))))
            store(out, m + j, add(cross(three(y, g + j), three(out, j)), torque))
            q, j = q + 4, j + 3
        elif kind == SE2:
            s, c = sincos(ld(y, q + 2))
            f = pull(t, (ld(y, q) + c * r[0] - s * r[1], ld(y, q + 1) + s * r[0] + c * r[1], 0.0))
            fx, fy = c * f[0] + s * f[1], c * f[1] - s * f[0]
            lx, ly, w = ld(y, g + j), ld(y, g + j + 1), ld(out, j + 2)
            st(out, m + j, ly * w + fx)
            st(out, m + j + 1, fy - lx * w)
            st(out, m + j + 2, lx * ld(out, j + 1) - ly * ld(out, j) + r[0] * fy - r[1] * fx)
            q, j = q + 3, j + 3
        elif kind == SE3:
            a = (ld(y, q + 3), ld(y, q + 4), ld(y, q + 5), ld(y, q + 6))
            f = so3.act_inverse(a, pull(t, add(three(y, q), so3.act(a, r))))
            v, w, linear, angular = three(out, j), three(out, j + 3), three(y, g + j), three(y, g + j + 3)
            store(out, m + j, add(cross(linear, w), f))
            store(out, m + j + 3, add(add(cross(angular, w), cross(linear, v)), cross(r, f)))
            q, j = q + 7, j + 6


def hat(x: Any) -> Any:
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def inverse_inertia(kind: int, general: bool) -> Any:
    """K of a body; general: centre of mass off the origin and inclined principal axes."""
    rotation = np.array(so3.matrix(tuple(np.array([0.9, 0.3, -0.2, 0.1]) / np.sqrt(0.95)))) if general else np.eye(3)
    J = rotation @ np.diag([0.3, 0.5, 0.4]) @ rotation.T
    mass, c = 1.7, np.array([0.05, -0.03, 0.04]) * general
    if kind == SO3:
        return np.linalg.inv(J)
    if kind == SE2:
        x, y = c[:2]
        return np.linalg.inv(
            [[mass, 0, -mass * y], [0, mass, mass * x], [-mass * y, mass * x, 0.4 + mass * (x * x + y * y)]]
        )
    return np.linalg.inv(np.block([[mass * np.eye(3), -mass * hat(c)], [mass * hat(c), J - mass * hat(c) @ hat(c)]]))


def mechanical(group: str, general: bool = True) -> Problem:
    """A canonical problem H = ½ pᵀK p + V(t, q)."""
    factors = GROUPS[group]
    blocks, kinds, y0 = [], [], []
    for kind, copies in factors:
        single = kind in (RN, SO2)
        for _ in range(copies):
            blocks.append(np.array([[1.3]]) if single else inverse_inertia(kind, general))
            kinds.append(kind)
            q = np.array([0.8, 0.4, -0.2, 0.3]) / np.sqrt(0.93)
            start = {RN: [0.4], SO2: [0.4], SO3: q, SE2: [0.1, 0.2, 0.5], SE3: [0.2, -0.1, 0.1, *q]}[kind]
            y0 += list(start)
    m = sum(len(b) for b in blocks)
    K = np.zeros((m, m))
    at = 0
    for b in blocks:
        K[at : at + len(b), at : at + len(b)] = b
        at += len(b)
    abelian = [i for i, kind in enumerate(np.repeat(kinds, [len(b) for b in blocks])) if kind in (RN, SO2)]
    K[np.ix_(abelian, abelian)] += 0.2 * general
    momenta = np.linalg.solve(K, 0.6 * np.cos(1.3 * np.arange(m)))
    return Problem(
        table_of([*factors, (RN, m)]),
        [*y0, *momenta],
        bodies,
        parameters=K.ravel(),
        structure=[m, len(y0), *kinds],
        canonical=True,
        model=f"bodies on {group}",
    )


@pytest.fixture(scope="session")
def mechanics() -> Any:
    return mechanical


# --- stiff problems ---------------------------------------------------------------------------------------------------

MU = 1e3


@entry(*FIELD_SIGNATURES)
def damped_body(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """A body whose velocity follows what its pose and the time ask for, as fast as parameters[0] says."""
    d = out.shape[0] // 2
    n = y.shape[0] - d
    s, c = sincos(2.0 * t)
    for k in range(d):
        v = ld(y, n + k)
        wanted = (1.0 + 0.3 * k) * c + (0.5 * s) * ld(y, k % n) - 0.4 * ld(y, (k + 1) % n) * ld(y, (k + 2) % n)
        st(out, k, v)
        st(out, d + k, parameters[0] * (wanted - v))


BODIES = {"SO3": (SO3, 4, 3), "SE3": (SE3, 7, 6)}


def body(group: str, rate: float = 1e3) -> Problem:
    kind, n, d = BODIES[group]
    start = np.zeros(n + d)
    start[n - 4] = 1.0
    return Problem(table_of([(kind, 1), (RN, d)]), start, damped_body, parameters=[rate], model=f"body on {group}")


def van_der_pol() -> Problem:
    return Problem(rn(2), [2.0, 0.0], relaxing, jacobian=relaxing_jacobian)


def relaxing(t: float, y: Any) -> Any:
    return [y[1], MU * ((1.0 - y[0] ** 2) * y[1]) - y[0]]


def relaxing_jacobian(t: float, y: Any) -> Any:
    return [[0.0, 1.0], [-2.0 * MU * y[0] * y[1] - 1.0, MU * (1.0 - y[0] ** 2)]]


@cache
def relaxed() -> float:
    """Where van der Pol's oscillator is at t = 2000."""
    options = {"rtol": 1e-11, "atol": 1e-11, "jac": relaxing_jacobian}
    return float(solve_ivp(relaxing, (0.0, 2000.0), [2.0, 0.0], "Radau", **options).y[0, -1])


def robertson(t: float, y: Any) -> Any:
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [b - a, a - b - c, c]


@pytest.fixture(scope="session")
def stiff() -> SimpleNamespace:
    """A damped body, and the motions on Rⁿ on which stiff solvers are compared."""
    return SimpleNamespace(
        body=body,
        van_der_pol=van_der_pol,
        relaxed=relaxed,
        relaxing=relaxing,
        relaxing_jacobian=relaxing_jacobian,
        robertson=robertson,
    )
