"""Theorems on one nonholonomic system, for the tests here and for systems of your own: ``check_system(system)``.

Derivatives are exact (complex steps through the interpreted source), so that every identity holds to rounding.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.multipliers import work_rows
from integrators.problem.parts import constrained
from liegroup.table import quaternions
from mechanics.nonholonomic.flat import bracket_transpose, coordinate_rate
from mechanics.nonholonomic.system import NonholonomicSystem, Parts

Array = NDArray[Any]
EPS = 1e-150
"""Complex step."""


def _call(function: Any, system: NonholonomicSystem, t: Any, y: Array, size: int) -> Array:
    """The interpreted function on complex numbers."""
    work = np.zeros((work_rows(system.n, system.m) + system.scratch + 3, 600), dtype=complex)
    out = np.zeros(size, dtype=complex)
    function.python(t, np.asarray(y, complex), system.parameters, system.structure, work, out)
    return out


def reduced_field(system: NonholonomicSystem, t: Any, y: Array) -> Array:
    """(v, u̇) at a state (q, u), complex allowed."""
    return _call(system.reduced.field, system, t, y, system.n + system.r)


def reduced_rate(system: NonholonomicSystem, t: Any, y: Array) -> Array:
    """ẏ of the flat state (q, u)."""
    f = reduced_field(system, t, y)
    return np.concatenate([coordinate_rate(system.group, y[: system.n_q], f[: system.n]), f[system.n :]])


def complex_parts(system: NonholonomicSystem, t: Any, q: Array, v: Array) -> Parts:
    """The parts at (q, v), complex allowed."""
    n, m = system.n, system.m
    at = constrained(n, m, system.positions)
    out = _call(system.constrained.parts, system, t, np.concatenate([q, v]), at.SIZE)
    mass, rows, *vectors, potential = (out[a:b] for a, b in pairwise(at))
    return Parts._make([mass.reshape(n, n), rows.reshape(m, n), *vectors, potential[0]])


def random_states(
    system: NonholonomicSystem, count: int, seed: int = 0, spread: float = 0.3
) -> list[tuple[Array, Array]]:
    """Admissible states (q, u): from the start along random admissible velocities, by many small steps; and random
    u; in what counts as one (`Problem.scales`).
    """
    random, one = np.random.default_rng(seed), system.problem().scales[-system.r :]
    states = []
    for _ in range(count):
        q = _carried(system, system.q0, spread * one * random.standard_normal(system.r))
        u = one * random.standard_normal(system.r)
        states.append((q, u if system.r < system.n else system.velocity(q, u)))
    return states


def _carried(system: NonholonomicSystem, q: Array, u: Array, steps: int = 128) -> Array:
    """Where constant quasi-velocities u carry q in one second (classical Runge–Kutta on the flat coordinates)."""

    def rate(x: Array) -> Array:
        return coordinate_rate(system.group, x, system.velocity(x, u))

    for _ in range(steps):
        k1 = rate(q)
        k2 = rate(q + k1 / (2 * steps))
        k3 = rate(q + k2 / (2 * steps))
        k4 = rate(q + k3 / steps)
        q = q + (k1 + 2 * k2 + 2 * k3 + k4) / (6 * steps)
    for k in quaternions(system.group):
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q


def _close(what: str, a: Array, b: Array, tolerance: float, terms: Array | float = 0.0) -> None:
    """Whether numbers that are sums of such terms are the same."""
    a, b = np.asarray(a), np.asarray(b)
    scale = 1.0 + max(np.abs(x).max(initial=0.0) for x in (a, b, np.asarray(terms)))
    error = np.abs(a - b).max(initial=0.0) / scale
    if not error < tolerance:
        raise AssertionError(f"{what}: differs by {error:.3g} relative, tolerance {tolerance:.1g}\n{a}\n{b}")


def check_parts(system: NonholonomicSystem, q: Array, v: Array, t: float = 0.3, tolerance: float = 1e-12) -> None:
    """Gradients, rates and rows of the parts are the derivatives they claim to be."""
    p = complex_parts(system, t, q, v)

    def along(w: Array, dt: float = 0.0) -> Parts:
        return complex_parts(system, t + 1j * EPS * dt, q + 1j * EPS * coordinate_rate(system.group, q, w), v)

    moved = [along(e) for e in np.eye(system.n)]
    _close("M symmetric", p.mass, p.mass.T, tolerance)
    _close("gradient of the potential", p.gradient, np.array([d.potential.imag for d in moved]) / EPS, tolerance)
    _close(
        "gradient of the kinetic energy",
        p.kinetic,
        np.array([0.5 * v @ d.mass.imag @ v for d in moved]) / EPS,
        tolerance,
    )
    flow = along(v, 1.0)
    transport = bracket_transpose(system.group, v, p.mass @ v)
    turning = flow.mass.imag @ v / EPS
    _close("rate of the momentum", p.rate, turning - transport, tolerance, turning)
    turning = np.abs(flow.rows.imag / EPS) @ np.abs(v)
    _close("bias of the rows", p.bias, (flow.rows.imag @ v - flow.value.imag) / EPS, tolerance, turning)
    k = system.positions
    if k:
        gradient = np.array([d.position.imag for d in moved]).T / EPS
        _close("integrable rows", p.rows[system.m - k :], gradient, tolerance)


def check_equations(system: NonholonomicSystem, q: Array, u: Array, t: float = 0.3, tolerance: float = 1e-11) -> None:
    """The reduced motion satisfies the constraints and the equations with multipliers; invariants do not change."""
    n = system.n
    y = np.concatenate([q, u if system.r < n else system.velocity(q, u, t)])
    f = reduced_field(system, t, y).real
    rate = reduced_rate(system, t, y).real
    p = complex_parts(system, t, q, f[:n])
    _close("A v = c", p.rows @ f[:n], p.value, tolerance, np.abs(p.rows) @ np.abs(f[:n]))
    reach = np.linalg.norm(p.rows[system.m - system.positions :], axis=1) * np.abs(q).max()
    _close("φ = 0", p.position, 0 * p.position, max(tolerance, 1e-8), reach)
    acceleration = reduced_field(system, t + 1j * EPS, y + 1j * EPS * rate)[:n].imag / EPS
    terms = p.mass @ acceleration, p.rate, -p.kinetic, p.gradient, -p.force
    left = np.sum(terms, axis=0)
    multipliers = np.linalg.lstsq(p.rows.T, left, rcond=None)[0]
    _close("M v̇ + r − D + G − F = Aᵀλ", left, p.rows.T @ multipliers, tolerance, np.abs(terms).sum(axis=0))
    _close("A v̇ = −β", p.rows @ acceleration, -p.bias, tolerance, np.abs(p.rows) @ np.abs(acceleration))
    count, edges = len(system.invariant_names), len(system.edges)
    shares = [
        _call(system.reduced.invariants, system, t + 0j, y + 1j * EPS * rate * e, count + edges).imag[:count] / EPS
        for e in np.eye(len(y))
    ]
    if system.conservative:
        size = 1.0 + np.abs(shares).sum(axis=0)
        _close(f"rates of {system.invariant_names}", np.sum(shares, axis=0) / size, np.zeros(count), tolerance)
    values = _call(system.reduced.invariants, system, t, y, count + edges).real[:count]
    full = _call(system.constrained.invariants, system, t, np.concatenate([q, f[:n]]), count).real
    _close("invariants of both forms", values, full, tolerance)


def check_reversal(system: NonholonomicSystem, q: Array, u: Array, tolerance: float = 1e-12) -> None:
    """ẏ(ρ y) = −ρ ẏ(y), ρ linear."""
    if system.reversal is not None:
        y = np.concatenate([q, u])
        reversed_rate = reduced_rate(system, 0.0, system.reversal(y)).real
        _close("reversal", reversed_rate, -system.reversal(reduced_rate(system, 0.0, y).real), tolerance)


def check_system(system: NonholonomicSystem, count: int = 5, seed: int = 0) -> None:
    """All of the above at random admissible states; AssertionError names the identity that fails."""
    for q, u in random_states(system, count, seed):
        y = np.concatenate([q, u])
        check_parts(system, q, reduced_field(system, 0.3, y)[: system.n].real)
        check_equations(system, q, u)
        check_reversal(system, q, u)
