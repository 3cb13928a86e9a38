"""The kinetic energy of a canonical problem, found by asking its field: H = ½ pᵀK p + V(t, q) with a constant K.

Splittings follow the motion under ½ pᵀK p exactly.  That is possible if K joins the abelian factors (Rⁿ, SO(2)) in any
way, and is, on every other factor, the inverse inertia of a rigid body whose place it is (SO(3), SE(2), SE(3)).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.problem.ambient import state_sizes
from liegroup.formulas import so3
from liegroup.formulas.facts import ANGULAR, COMMUTATIVE, LINEAR
from liegroup.table import EXP, FACTORS, KIND, bracket_transpose, retract

Array = NDArray[np.float64]
Sparse = Any
"""A matrix by its entries that are not zero (`scipy.sparse.csr_array`)."""
BODY = 16
"""Numbers per body: 1/mass, centre of mass (3), inverse principal moments (3), principal axes (3, 3) as columns, by
rows.
"""
_TOLERANCE = 1e-9
_ROUNDING = 1e-15
_HALVINGS = 20
_NEAR = 0.01
_AHEAD = 0.7, 7e-4, 7e-7
"""s, from a start to another time at which a problem is asked."""


class Kinetic(NamedTuple):
    """K of the abelian factors, one row per component of theirs with the momenta in its columns, and the bodies in
    order.  Where every component has its own momentum alone (`diagonal`), zeros there are entries, too.
    """

    matrix: Sparse
    diagonal: bool
    bodies: Array

    @property
    def aligned(self) -> bool:
        """Every body is described in its principal axes, about its centre of mass."""
        return bool((self.bodies[:, 1:4] == 0.0).all() and (self.bodies[:, 7:] == np.eye(3).ravel()).all())


def inverse_inertia(problem: Problem, t: float = 0.0) -> Array:
    """Find K at the start, at time t, and check at another place, time and momentum that the problem is of the form
    H = ½ pᵀK p + V(t, q).

    Raises
    ------
    ValueError
        Saying what is not as it must be.
    """
    dense: Array = sparse_inverse_inertia(problem, t).toarray()
    return dense


def inertia_of(problem: Problem, K: Array) -> Array:
    """K⁻¹; ValueError where momenta move nothing: of what is moved by a motion of its own."""
    still = np.flatnonzero(~K.any(axis=1))
    if len(still):
        raise ValueError(
            f"{problem.model}: this method needs the inertia of every component, but momentum {still[0]} moves nothing "
            "(it is moved by a motion, or held); take SPLIT_STRANG or RKMK4"
        )
    return np.asarray(np.linalg.inv(K), dtype=np.float64)


def speeds(K: Any) -> Array:
    """√K_ii, 1 where that is nothing: the speed of each component that an energy means.  What is compared in parts of
    it knows no units: a metre per second, and the turning of a planet, are different numbers.
    """
    diagonal = np.asarray(K.diagonal())
    return np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))


def sparse_inverse_inertia(problem: Problem, t: float = 0.0, damped: bool = False) -> Sparse:
    """The same by the entries that are not zero; `damped`: forces may depend on the momenta."""
    if not problem.canonical:
        raise ValueError(
            f"{problem.model}: this method needs a canonical problem, state (q, p) on T*G; this one is not marked "
            "canonical"
        )
    y = np.atleast_2d(problem.y0)[0]
    m = problem.dimension // 2
    K = _by_blocks(problem, t, y, m)
    if K is None:
        found = np.array([_velocity(problem, t, y, e)[0] for e in np.eye(m)]).T
        K = _of_entries(found[found != 0.0], np.nonzero(found), m)
    _check(problem, t, y, K, m, damped)
    return K


def _of_entries(values: Array, places: tuple[NDArray[np.intp], ...], m: int) -> Sparse:
    """A matrix (m, m) by its entries and their rows and columns."""
    from scipy.sparse import coo_array  # imported where it is used: it imports what few need

    return coo_array((values, places), shape=(m, m)).tocsr()


def _by_blocks(problem: Problem, t: float, y: Array, m: int) -> Sparse | None:
    """K, if it joins only the momenta of single bodies and single abelian components: a column of every block at once,
    so that the field is asked as many times as the largest block is wide.
    """
    first, size = np.array(list(_blocks(problem))).T
    columns = []
    for k in range(size.max()):
        wide = size > k
        v = _velocity(problem, t, y, np.bincount(first[wide] + k, minlength=m).astype(float))[0]
        rows = np.concatenate([np.arange(a, a + n) for a, n in zip(first[wide], size[wide], strict=True)])
        columns.append((v[rows], rows, np.repeat(first[wide] + k, size[wide])))
    values, i, j = (np.concatenate(parts) for parts in zip(*columns, strict=True))
    K = _of_entries(values, (i, j), m)
    K.eliminate_zeros()
    p = np.random.default_rng(2).normal(size=m)
    if (np.abs(_velocity(problem, t, y, p)[0] - K @ p) <= _ROUNDING * (abs(K) @ np.abs(p))).all():
        return K
    return None


def constant_inverse_inertia(problem: Problem, t: float = 0.0) -> Array:
    """K, or a matrix of no rows where the field near the start does not show one; for steppers to which K is a help and
    no presupposition.
    """
    y, none = np.atleast_2d(problem.y0)[0], np.zeros((0, 0))
    m = problem.dimension // 2
    moved = y + _NEAR * (1.0 + np.abs(y)) * (np.arange(len(y)) < len(y) - m)
    try:
        with np.errstate(all="ignore"):
            v, w = (_velocity(problem, t, place, np.ones(m))[0] for place in (y, moved))
            return inverse_inertia(problem, t) if np.allclose(v, w, rtol=_TOLERANCE, atol=0.0) else none
    except Exception:  # whatever a field raises at states that are none of the motion
        return none


def kinetic(problem: Problem, t: float = 0.0) -> Kinetic:
    """The kinetic energy by its parts; ValueError if kinetic energies of bodies mix, or one is not that of a rigid
    body.
    """
    K = sparse_inverse_inertia(problem, t)
    places = [(kind, first, size) for kind, first, size in _copies(problem) if not COMMUTATIVE[kind]]
    body = np.full(K.shape[0], -1)
    for k, (_, first, size) in enumerate(places):
        body[first : first + size] = k
    entries = K.tocoo()
    i, j, values = entries.row, entries.col, entries.data
    unit = speeds(K)
    mixed = (body[i] != body[j]) & (np.abs(values) > _TOLERANCE * unit[i] * unit[j])
    if mixed.any():
        _, first, size = places[max(body[i[mixed][0]], body[j[mixed][0]])]
        raise ValueError(
            f"{problem.model}: this method needs bodies whose kinetic energies do not mix; momenta "
            f"{first}:{first + size} do"
        )
    bodies = [_body(problem, kind, K[first : first + size, first : first + size].toarray())
              for kind, first, size in places]  # fmt: skip
    abelian = (body[i] < 0) & (body[j] < 0)
    own, values, i, j = np.flatnonzero(body < 0), values[abelian], i[abelian], j[abelian]
    diagonal = bool((i == j).all())
    if diagonal:
        values, i, j = K.diagonal()[own], own, own
    matrix = _of_entries(values, (i, j), len(body))[own]
    return Kinetic(matrix, diagonal, np.array(bodies).reshape(len(bodies), BODY))


def _copies(problem: Problem) -> Iterator[tuple[int, int, int]]:
    """(kind, first momentum, number of momenta) of every abelian row and every single body."""
    for row in problem.table[:-1].tolist():
        kind, _, first, _, n_v = row
        size = n_v if COMMUTATIVE[kind] else FACTORS[kind].N_V
        for start in range(first, first + n_v, size or 1):
            yield row[KIND], start, size


def _blocks(problem: Problem) -> Iterator[tuple[int, int]]:
    """(first momentum, number of momenta) of every single body and every component of the abelian factors."""
    for kind, first, size in _copies(problem):
        yield from [(k, 1) for k in range(first, first + size)] if COMMUTATIVE[kind] else [(first, size)]


def _velocity(problem: Problem, t: float, y: Array, p: Array) -> tuple[Array, Array]:
    """(velocity, force) at the configuration of y and the momentum p; the force is ṗ without ad_vᵀp."""
    m = len(p)
    out = problem.velocity(t, np.concatenate([y[:-m], p]))
    coadjoint = np.zeros(m)
    if p.any():
        bracket_transpose(problem.table[:-1], out[:m], p, coadjoint)
    return out[:m], out[m:] - coadjoint


def departures(problem: Problem, t: Array, y: Array) -> Array:
    """How far a problem is from the form H = ½ pᵀK p + V(t, q) with the K of its start, at states y (rows, n) at times
    t: |v − K p| |p|, the power |v| |F(p) − F(0)| of forces of the momentum, and ½ |v| |p|, component by component.
    """
    K, m = sparse_inverse_inertia(problem, float(t[0]), damped=True), problem.dimension // 2
    found = []
    for time, state in zip(t, y, strict=True):
        p = state[-m:]
        (v, force), (_, at_rest) = (_velocity(problem, float(time), state, x) for x in (p, np.zeros(m)))
        apart = np.abs(v - K @ p)
        of_velocity = np.where(apart > _TOLERANCE * _sums(K, p, np.abs(v).max()), apart, 0.0)
        found.append([of_velocity @ np.abs(p), np.abs(v) @ np.abs(force - at_rest), 0.5 * np.abs(v) @ np.abs(p)])
    return np.array(found)


def damped_departures(problem: Problem, t: Array, y: Array) -> Array:
    """The same for methods that feel forces of the momentum."""
    found = departures(problem, t, y)
    found[:, 1] = 0.0
    return found


def _later(problem: Problem, t: float, y: Array) -> float:
    """A time behind t at which the field is known, or t: motions and records may end soon."""
    for ahead in _AHEAD:
        with np.errstate(all="ignore"), suppress(Exception):  # whatever a field raises behind its time
            if np.isfinite(problem.velocity(t + ahead, y)).all():
                return t + ahead
    return t


def _moved(problem: Problem, t: float, y: Array, by: Array) -> Array:
    """The state with its configuration moved, less far where there is no force (an element turned inside out)."""
    m = len(by)
    for _ in range(_HALVINGS):
        moved = y.copy()
        retract(problem.table[:-1], EXP, y, by, moved)
        moved = np.concatenate([moved[: len(y) - m], y[-m:]])
        if np.isfinite(_velocity(problem, t, moved, 0.0 * by)[1]).all():
            break
        by = 0.5 * by
    return moved


def _sums(K: Sparse, p: Array, otherwise: float) -> Array:
    """Σ_j |K_ij p_j|, what a velocity is made of; `otherwise` where no momentum moves anything."""
    found = np.asarray(abs(K) @ np.abs(p))
    return np.where(found > 0.0, found, otherwise)


def _check(problem: Problem, t: float, y: Array, K: Sparse, m: int, damped: bool) -> None:
    """ValueError for what is not as it must be, seen with velocities as of the start or, where the forces at rest are
    large, such that p·v is as large: beside neither a force r p is lost, however light the bodies are.  Places are
    moved by as much as they are far, and every component is compared with its own: units of others say nothing of it.
    """
    rng, later = np.random.default_rng(1), _later(problem, t, y)
    lengths = np.maximum(state_sizes(problem.table, y)[:m], 1.0)
    moved = _moved(problem, later, y, 0.3 * lengths * rng.normal(size=m))
    unit = speeds(K)
    for time, place in ((t, y), (later, moved)):
        still, at_rest = _velocity(problem, time, place, np.zeros(m))
        p = (1.0 + np.abs(K @ y[-m:]) + unit * np.sqrt(np.abs(at_rest) * lengths)) / unit**2 * rng.normal(size=m)
        v, force = _velocity(problem, time, place, p)
        size = _TOLERANCE * _sums(K, p, np.abs(K @ p).max())
        if not (np.abs(v - K @ p) <= size).all():
            says = "the inertia depends on the place"
            if not (np.abs(still) <= size).all():
                says = "here momenta of zero move (magnetic fields, moving frames)"
            elif not (np.abs(_velocity(problem, time, place, 2.0 * p)[0] - 2.0 * v) <= size).all():
                says = "here it is not linear in the momentum"
            raise ValueError(
                f"{problem.model}: this method needs a velocity K p with the same K everywhere; {says}: take a method "
                "that asks the field for it, such as MIDPOINT, VARIATIONAL_GAUSS2 or GAUSS8"
            )
        if not damped and not (np.abs(force - at_rest) <= _of_forces(problem, at_rest, p, v, lengths)).all():
            raise ValueError(
                f"{problem.model}: this method needs forces that depend on time and place only; this one depends on "
                "the momentum"
            )
    scaled = K.multiply(1.0 / unit[:, None]).multiply(1.0 / unit).tocsr()
    if not abs(scaled - scaled.T).max() <= _TOLERANCE * abs(scaled).max():
        raise ValueError(
            f"{problem.model}: the matrix K of the velocity K p is not symmetric: the momenta are not those of a "
            "kinetic energy"
        )


def _of_forces(problem: Problem, at_rest: Array, p: Array, v: Array, lengths: Array) -> Array:
    """What counts as no dependence of forces on momenta: a part of the force itself and of p v over a length, of a body
    of all its components, which its turning mixes; and the rounding of the others.
    """
    own = np.abs(at_rest) + np.abs(p * v) / lengths
    for kind, first, size in _copies(problem):
        if not COMMUTATIVE[kind]:
            of = slice(first, first + size)
            own[of] = np.abs(at_rest[of]).max() + np.abs(p[of]).max() * np.abs(v[of]).max()
    energies = np.abs(at_rest * lengths).max(initial=0.0) + np.abs(p * v).max(initial=0.0)
    return np.asarray(1e-7 * own + 1e-13 * energies / lengths)


def _body(problem: Problem, kind: int, K: Array) -> Array:
    """A rigid body from its inverse inertia about the body origin."""
    if FACTORS[kind].RIGID_BODY is None:
        raise ValueError(
            f"{problem.model}: this method knows the free motion of rigid bodies; {FACTORS[kind].NAME} is not the "
            f"place of one (RIGID_BODY of its formula file); use MIDPOINT, an LGVI or a VARIATIONAL_GAUSS method"
        )
    if not LINEAR[kind]:
        return np.concatenate([[0.0], np.zeros(3), *_principal(K)])
    inertia = np.linalg.inv(K)
    mass = inertia[0, 0]
    if ANGULAR[kind] == 1:
        com = np.array([inertia[1, 2], -inertia[0, 2], 0.0]) / mass
        moment = inertia[2, 2] - mass * (com @ com)
        expected = _planar(mass, com, moment)
        axes: Any = np.array([1.0 / moment if com.any() else K[2, 2], 0.0, 0.0]), np.eye(3).ravel()
    else:
        com = np.array(so3.vee(inertia[3:, :3])) / mass
        hat = np.array(so3.hat(com))
        about_com = inertia[3:, 3:] + mass * hat @ hat
        expected = np.block([[mass * np.eye(3), -mass * hat], [mass * hat, inertia[3:, 3:]]])
        axes = _principal(K[3:, 3:] if not com.any() else np.linalg.inv(about_com))
    of_each = np.sqrt(np.abs(np.diag(inertia)))
    if not (np.abs(inertia - expected) <= 1e-8 * np.outer(of_each, of_each)).all():
        raise ValueError(
            f"{problem.model}: this method needs the inertia of a rigid body on every factor SE(2), SE(3); found "
            f"{inertia.tolist()}"
        )
    return np.concatenate([[K[0, 0] if not com.any() else 1.0 / mass], com, *axes])


def _principal(K: Array) -> tuple[Array, Array]:
    """Inverse principal moments and principal axes, unchanged if K is diagonal already."""
    if np.abs(K - np.diag(np.diag(K))).max() <= 4e-16 * np.abs(K).max():
        return np.diag(K).copy(), np.eye(3).ravel()
    values, axes = np.linalg.eigh(K)
    return values, (axes * np.sign(np.linalg.det(axes))).ravel()


def _planar(mass: float, com: Array, moment: float) -> Array:
    x, y = com[:2]
    return np.array(
        [[mass, 0.0, -mass * y], [0.0, mass, mass * x], [-mass * y, mass * x, moment + mass * (x * x + y * y)]]
    )
