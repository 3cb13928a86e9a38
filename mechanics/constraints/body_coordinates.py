"""A mechanism in body coordinates: every body with its own position and attitude, every joint a constraint, M constant.

The classical redundant description, for comparison.  State y = (x₁, R₁, x₂, R₂, …, v), x the centre of mass in the world, R a unit
quaternion, v = (ẋ₁, ω₁, …) with ω in body axes; planar mechanisms take (x, y, θ) per body instead.  Parts in the layout
"constrained" (`integrators.parts`), all rows integrable:

    M = diag(m E, J_c, …),    rows of the joints and of the closures kept,    M v̇ + (0, ω × J_c ω, …) = (m g, …) + Aᵀ λ
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.parts import clear, constrained
from integrators.problem import Problem, Variable
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import absolute, entry, helper, kernel, ld, ld2, st, st2
from liegroup.formulas.vectors import cross
from liegroup.rotations import quaternion_wxyz_from_matrix
from liegroup.scalars import maximum, sincos
from liegroup.table import RN, SO3
from mechanics.constraints.equations import geometry
from mechanics.constraints.loops import Closure, Row, cylindrical, prismatic, revolute, row_numbers, spherical, weld
from mechanics.constraints.multipliers import constrained_field, work_rows
from mechanics.constraints.poses import pose
from mechanics.constraints.rows import row_rates, row_screws
from mechanics.errors import ModelError
from mechanics.frames import Frame
from mechanics.joints import Cylindrical, Fixed, Free, Joint, Prismatic, Revolute, Spherical
from mechanics.mechanism import Mechanism
from mechanics.rows import put, three, vector
from mechanics.screws import quaternion_matrix
from mechanics.vectors import rotated, rotated_back

Array = NDArray[np.float64]
BODIES, PLANAR, ROWS = 3, 4, 5
"""Behind (n, m, k): number of bodies, whether they move in the plane x-y, and the rows (kind, first body, second body) of the
constraints; a body's number is its row of the workspace, the base is row BODIES."""
BODY_NUMBERS = 10
"""Mass, J_c (9)."""


# --- kernels --------------------------------------------------------------------------------------------------------------------


@kernel
def _bodies(y: Any, structure: Any, work: Any) -> None:
    """Pose (columns 0 … 11) and twist (12 … 17, body axes) of every body; the base last."""
    count, planar = structure[BODIES], structure[PLANAR]
    n_q = (3 if planar else 7) * count
    for b in range(count):
        if planar:
            o, u = 3 * b, n_q + 3 * b
            s, c = sincos(ld(y, o + 2))
            zero = 0.0 * c
            one = zero + 1.0
            R, x = (c, -s, zero, s, c, zero, zero, zero, one), (ld(y, o), ld(y, o + 1), zero)
            v, w = (ld(y, u), ld(y, u + 1), zero), (zero, zero, ld(y, u + 2))
        else:
            o, u = 7 * b, n_q + 6 * b
            R = quaternion_matrix(ld(y, o + 3), ld(y, o + 4), ld(y, o + 5), ld(y, o + 6))
            x = ld(y, o), ld(y, o + 1), ld(y, o + 2)
            v, w = (ld(y, u), ld(y, u + 1), ld(y, u + 2)), (ld(y, u + 3), ld(y, u + 4), ld(y, u + 5))
        put(work, b, 0, (R[0], R[1], R[2]))
        put(work, b, 3, (R[3], R[4], R[5]))
        put(work, b, 6, (R[6], R[7], R[8]))
        put(work, b, 9, x)
        put(work, b, 12, rotated_back(R, v))
        put(work, b, 15, w)
    for column in range(18):
        st2(work, count, column, 0.0)
    for column in (0, 4, 8):
        st2(work, count, column, 1.0)


@helper
def _write(structure: Any, work: Any, b: Any, W: Any, out: Any, at: Any) -> None:
    """The entries of body b in a row of A: world components of the force, body components of the moment."""
    if b < structure[BODIES]:
        R, _ = pose(work, b)
        f = rotated(R, (W[0], W[1], W[2]))
        if structure[PLANAR]:
            st(out, at + 3 * b, f[0])
            st(out, at + 3 * b + 1, f[1])
            st(out, at + 3 * b + 2, W[5])
        else:
            for k in range(3):
                st(out, at + 6 * b + k, f[k])
                st(out, at + 6 * b + 3 + k, W[3 + k])


@helper
def _turned(work: Any, b: Any, W: Any, N: Any) -> Any:
    """The part of φ̈ of a body at ẍ = 0, ω̇ = 0: N·V + W·(−ω × v, 0)."""
    v, w = vector(work, b, 12), vector(work, b, 15)
    c = cross(v, w)
    return (N[0] * v[0] + N[1] * v[1] + N[2] * v[2]) + (N[3] * w[0] + N[4] * w[1] + N[5] * w[2]) + (W[0] * c[0] + W[1] * c[1] + W[2] * c[2])


@helper
def _numbers(parameters: Any, at: Any) -> Any:
    return three(parameters, at), three(parameters, at + 3), three(parameters, at + 6), three(parameters, at + 9), parameters[at + 12]


@kernel
def body_parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y → the parts."""
    n, m, count = structure[0], structure[1], structure[BODIES]
    at, width = constrained(n, m, m), 3 if structure[PLANAR] else 6
    clear(out)
    _bodies(y, structure, work)
    potential = 0.0 * ld(y, 0)
    for b in range(count):
        o, i = 3 + BODY_NUMBERS * b, width * b
        mass, x, w = parameters[o], vector(work, b, 9), vector(work, b, 15)
        for k in range(2 if structure[PLANAR] else 3):
            st(out, at.MASS + (i + k) * n + i + k, mass)
            st(out, at.GRADIENT + i + k, -mass * parameters[k])
        potential = potential - mass * (parameters[0] * x[0] + parameters[1] * x[1] + parameters[2] * x[2])
        if structure[PLANAR]:
            st(out, at.MASS + (i + 2) * n + i + 2, parameters[o + 9])
        else:
            for k in range(3):
                for l in range(3):
                    st(out, at.MASS + (i + 3 + k) * n + i + 3 + l, parameters[o + 1 + 3 * k + l])
            J = (*three(parameters, o + 1), *three(parameters, o + 4), *three(parameters, o + 7))
            gyro = cross(w, rotated(J, w))
            for k in range(3):
                st(out, at.RATE + i + 3 + k, gyro[k])
    for c in range(m):
        kind, i, j = structure[ROWS + 3 * c], structure[ROWS + 3 * c + 1], structure[ROWS + 3 * c + 2]
        a, p, b_, q, length = _numbers(parameters, 3 + BODY_NUMBERS * count + 15 * c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        v_i, w_i, v_j, w_j = vector(work, i, 12), vector(work, i, 15), vector(work, j, 12), vector(work, j, 15)
        phi, W_i, W_j = row_screws(kind, a, p, b_, q, length, R_i, x_i, R_j, x_j)
        N_i, N_j = row_rates(kind, a, p, b_, q, R_i, x_i, R_j, x_j, v_i, w_i, v_j, w_j)
        _write(structure, work, i, W_i, out, at.ROWS + c * n)
        _write(structure, work, j, W_j, out, at.ROWS + c * n)
        st(out, at.BIAS + c, _turned(work, i, W_i, N_i) + _turned(work, j, W_j, N_j))
        st(out, at.POSITION + c, phi)
    st(out, at.POTENTIAL, potential)


@entry(*FIELD_SIGNATURES)
def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y → the parts."""
    body_parts(t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇) of the equations with multipliers."""
    constrained_field(body_parts, t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(energy, greatest |φ|, greatest |φ̇|)."""
    count = structure[BODIES]
    _bodies(y, structure, work)
    energy = 0.0 * ld(y, 0)
    for b in range(count):
        o = 3 + BODY_NUMBERS * b
        mass, x, v, w = parameters[o], vector(work, b, 9), vector(work, b, 12), vector(work, b, 15)
        J = (*three(parameters, o + 1), *three(parameters, o + 4), *three(parameters, o + 7))
        l = rotated(J, w)
        energy = energy + 0.5 * (mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + (w[0] * l[0] + w[1] * l[1] + w[2] * l[2]))
        energy = energy - mass * (parameters[0] * x[0] + parameters[1] * x[1] + parameters[2] * x[2])
    gap = rate = 0.0 * energy
    for c in range(structure[1]):
        kind, i, j = structure[ROWS + 3 * c], structure[ROWS + 3 * c + 1], structure[ROWS + 3 * c + 2]
        a, p, b_, q, length = _numbers(parameters, 3 + BODY_NUMBERS * count + 15 * c)
        R_i, x_i = pose(work, i)
        R_j, x_j = pose(work, j)
        phi, W_i, W_j = row_screws(kind, a, p, b_, q, length, R_i, x_i, R_j, x_j)
        speed = 0.0 * phi
        for k in range(6):
            speed = speed + W_i[k] * ld2(work, i, 12 + k) + W_j[k] * ld2(work, j, 12 + k)
        gap, rate = maximum(gap, absolute(phi)), maximum(rate, absolute(speed))
    st(out, 0, energy)
    st(out, 1, gap)
    st(out, 2, rate)


# --- at the door ----------------------------------------------------------------------------------------------------------------


def body_problem(
    mechanism: Mechanism, q: ArrayLike | None = None, v: ArrayLike | None = None, rates: Mapping[str, ArrayLike] | None = None
) -> Problem:
    """The motion in body coordinates, from a state in tree coordinates.

    Raises
    ------
    ModelError
        Force elements, prescribed motions, joints that are no constraint of this kind, bodies without mass, or no choice of
        closure equations that is independent in every position.
    """
    tree = mechanism.tree
    if mechanism.elements or tree.is_rheonomic:
        raise ModelError(f"mechanism {mechanism.name!r}", "has force elements or prescribed motions", "use its tree coordinates")
    if len(mechanism.mobility.independent) != mechanism.mobility.rank:
        raise ModelError(
            f"mechanism {mechanism.name!r}", "no choice of its closure equations is independent everywhere", "use Mechanism.problem"
        )
    q0, v0 = mechanism.start(q, v, rates)
    at = geometry(tree, q0, v0)
    planar = _is_planar(mechanism)
    rows = _rows(mechanism, planar)
    state, velocity = _state(mechanism, at, planar)
    count, n = len(tree), len(velocity)
    kinds = [(RN, 3)] * count if planar else [(RN, 3), (SO3, 4)] * count
    structure = [n, len(rows), len(rows), count, int(planar), *(x for kind, i, j, _ in rows for x in (kind, i, j))]
    parameters = np.concatenate([tree.gravity, *(_body_numbers(b, planar) for b in tree.bodies), *(numbers for *_, numbers in rows)])
    size = constrained(n, len(rows), len(rows)).SIZE
    return Problem(
        _table(kinds, n),
        np.concatenate([state, velocity]),
        field,
        parameters=parameters,
        structure=structure,
        work_shape=(work_rows(n, len(rows)) + count + 1, max(size, 18)),
        variables=(
            Variable("q", tuple(f"{b}.{k}" for b in tree.body_names for k in range(len(state) // count)), "", "positions and attitudes"),
            Variable("v", tuple(f"{b}.{k}" for b in tree.body_names for k in range(n // count)), "", "velocities"),
        ),
        invariants=invariants,
        invariant_names=("energy", "gap", "velocity_gap"),
        invariant_units=("J", "m", "m/s"),
        parts=parts,
        parts_layout="constrained",
        model=f"{mechanism.name} (body coordinates)",
    )


def _table(kinds: list[tuple[int, int]], n: int) -> NDArray[np.int64]:
    rows, q, v = [], 0, 0
    for kind, n_q in [*kinds, (RN, n)]:
        n_v = 3 if kind == SO3 else n_q
        rows.append((kind, q, v, n_q, n_v))
        q, v = q + n_q, v + n_v
    return np.array(rows, dtype=np.int64)


def _is_planar(mechanism: Mechanism) -> bool:
    """Whether all bodies move in the plane x-y: turns about z and slides across it, and nothing else."""
    at = geometry(mechanism.tree, mechanism.home)
    for R, J in zip(at.R, at.J, strict=True):
        twist = np.concatenate([R @ J[:3], R @ J[3:]])
        if np.abs(twist[[2, 3, 4]]).max(initial=0.0) > 1e-12 or abs(R[2, 2] - 1.0) > 1e-12:
            return False
    return True


def _joint_closure(name: str, joint: Joint, parent: str | None, position: Array, rotation: Array) -> Closure | None:
    """The closure that stands for a joint of the tree."""
    if isinstance(joint, Free):
        return None
    axis = np.asarray(getattr(joint, "axis", (0.0, 0.0, 1.0)), dtype=float)
    inside = Frame.with_axis(name, axis=axis)
    outside = Frame(parent, position, rotation @ inside.rotation)
    makers = {Revolute: revolute, Prismatic: prismatic, Cylindrical: cylindrical, Spherical: spherical, Fixed: weld}
    if type(joint) not in makers:
        raise ModelError(f"joint of {name!r}", f"is {joint.kind}", f"use one of {', '.join(k.__name__ for k in makers)}")
    return makers[type(joint)](outside, inside, f"joint of {name}")


def _rows(mechanism: Mechanism, planar: bool) -> list[tuple[int, int, int, Array]]:
    """Kind, bodies and numbers of all rows, frames seen from the centres of mass."""
    tree, found = mechanism.tree, []
    for body in tree.bodies:
        closure = _joint_closure(body.name, body.joint, body.parent, np.asarray(body.position), np.asarray(body.rotation))
        if closure is not None:
            rows = [(closure.first.body, closure.second.body, row) for row in closure.rows]
            found += [r for r in rows if not planar or _acts_in_plane(mechanism, r)]
    for c in mechanism.mobility.independent:
        i, j = mechanism.equations.bodies[c]
        names = [None if b < 0 else tree.body_names[b] for b in (i, j)]
        found.append((names[0], names[1], mechanism.equations.rows[c]))
    return [_from_centre(mechanism, *r) for r in found]


def _acts_in_plane(mechanism: Mechanism, r: tuple[str | None, str | None, Row]) -> bool:
    """Whether a row of a joint restrains motions of the plane."""
    at, tree = geometry(mechanism.tree, mechanism.home), mechanism.tree
    poses = [(np.eye(3), np.zeros(3)) if b is None else (at.R[tree.body_index(b)], at.x[tree.body_index(b)]) for b in r[:2]]
    row = r[2]
    _, _, W = row_screws(
        row.kind, row.a, row.p, row.b, row.q, row.length, poses[0][0].ravel(), poses[0][1], poses[1][0].ravel(), poses[1][1]
    )
    force = poses[1][0] @ np.array(W[:3])
    return bool(np.abs([force[0], force[1], W[5]]).max() > 1e-9)


def _from_centre(mechanism: Mechanism, first: str | None, second: str | None, row: Row) -> tuple[int, int, int, Array]:
    tree = mechanism.tree

    def seen(body: str | None, point: Array) -> tuple[int, Array]:
        if body is None:
            return len(tree), point
        i = tree.body_index(body)
        return i, point - tree.bodies[i].inertia.com

    (i, p), (j, q) = seen(first, row.p), seen(second, row.q)
    return row.kind, i, j, row_numbers(row._replace(p=p, q=q))


def _body_numbers(body: Any, planar: bool) -> Array:
    inertia = body.inertia
    J = inertia.tensor_about_com
    if inertia.mass <= 0.0 or (J[2, 2] <= 0.0 if planar else np.linalg.eigvalsh(J)[0] <= 0.0):
        raise ModelError(f"body {body.name!r}", "has no mass or no moment of inertia of its own", "use tree coordinates")
    return np.concatenate([[inertia.mass], J.ravel()])


def _state(mechanism: Mechanism, at: Any, planar: bool) -> tuple[Array, Array]:
    positions, velocities = [], []
    for R, x, V, body in zip(at.R, at.x, at.V, mechanism.tree.bodies, strict=True):
        c = body.inertia.com
        center, speed = x + R @ c, R @ (V[:3] + np.cross(V[3:], c))
        if planar:
            positions.append([center[0], center[1], np.arctan2(R[1, 0], R[0, 0])])
            velocities.append([speed[0], speed[1], V[5]])
        else:
            positions.append([*center, *quaternion_wxyz_from_matrix(R)])
            velocities.append([*speed, *V[3:]])
    return np.concatenate(positions), np.concatenate(velocities)
