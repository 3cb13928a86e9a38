"""Whether a state belongs to a rest or a steady motion, about which the linear motion has constant coefficients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mechanics.constraints.assembly import moved_by
from mechanics.errors import ModelError
from mechanics.linear.linearised import Linearisation, by_velocities
from mechanics.linear.posed import Posed
from mechanics.linear.spectrum import apart

Array = NDArray[np.float64]
NEAR = 1e-7
"""How far a state may be from a steady one, rad or sizes of the mechanism; velocities: times the fastest rate."""
ROUNDING = 1e-13
"""Of accelerations and of their derivatives, relative to what their parts make before they cancel."""
SAME = 1e-8
"""Of the derivatives along a steady motion, relative to the greatest by the same coordinate."""
STEPS = 4
"""Of Newton's method, to a steady state."""
AHEAD = (0.37, 1.3)
"""rad, or m, of a joint (s, if only drives move): where it is looked whether a motion is steady."""
SLOWEST = 1e-6
"""Of the joints that are looked at so, relative to the fastest; others are rounding."""


def steady_near(posed: Posed, q: Array, v: Array) -> Linearisation:
    """The linear motion about the steady one next to a state: one that is known to some digits has a little v̇ left,
    which would scatter zero eigenvalues by its root.

    Raises
    ------
    ModelError
        Velocities, or the linear motion, change along the motion with constant velocities.
    """
    near, noise = _settled(posed, q, v)
    if not near.v.any() and not posed.is_driven:
        return near
    for time in (turn / speed for speed in _paces(near.v) for turn in AHEAD):
        there = Posed(posed.model, posed.tau, posed.t + time)
        later, _ = _settled(there, moved_by(posed.tree, near.q, time * near.v), near.v, near)
        _check_same(posed, near, later, noise[near.speed])
    return near


def _settled(posed: Posed, q: Array, v: Array, like: Linearisation | None = None) -> tuple[Linearisation, Array]:
    """The linear motion about the state nearest to this one, in units of `NEAR`, whose velocities persist but for
    rounding: v̇ = 0 and (∂v̇/∂q) v = 0, by Newton's method; and what rounding makes of v̇.

    The way there says by itself how far the state is off, whatever else the mechanism has, be it stiff or slow.
    """
    gone = 0.0
    for _ in range(STEPS):
        near, slopes = by_velocities(posed, q, v, like)
        k, one = near.positions, _units(posed, near)
        noise = _noise(posed, near, np.abs(slopes) @ one)
        left, by = near.acceleration / noise, slopes / noise[:, None]
        if near.v.any() and not posed.is_driven:
            along = by[:, :k] / _positive(_rates(posed, near))[:, None]
            left, by = np.r_[left, along @ near.v[near.place]], np.vstack([by, along @ near.A[:k]])
        if np.abs(left).max(initial=0.0) <= 1.0:
            return near, noise
        both = np.vstack([NEAR * by * one, np.eye(len(one))])
        way = np.linalg.lstsq(both, np.r_[-left, np.zeros(len(one))], rcond=None)[0]
        gone += np.abs(way).max()
        if gone > 1.0:
            break
        way *= NEAR * one
        q, v, like = moved_by(posed.tree, q, near.shifts @ way), v + near.changes @ way, near
    raise _refusal(posed, near, left, noise)


def _paces(v: Array) -> list[float]:
    """Of the fastest joint, and of those that are ten times slower each: what changes with a slow one as well; 1 if
    none moves.
    """
    found: list[float] = []
    for speed in -np.sort(-np.abs(v)):
        if not found or SLOWEST * found[0] < speed < 0.1 * found[-1]:
            found.append(float(speed))
    return found if found[0] else [1.0]


def _rates(posed: Posed, near: Linearisation) -> Array:
    """What counts as fast for each joint, 1/s: the fastest of those that act on it, or how fast they swing, but no
    faster than the fastest of all.
    """
    k, lengths, joints = near.positions, posed.lengths, np.r_[near.place, near.speed]
    speeds = np.abs(near.v) / lengths
    rates = np.full(len(speeds), speeds.max())
    rates[joints] = 0.0
    for own in apart(near.A):
        moved, pulled, its = joints[own[own < k]], joints[own[own >= k]], joints[own]
        pull = near.A[np.ix_(own[own >= k], own[own < k])] * lengths[moved] / lengths[pulled][:, None]
        rates[its] = np.maximum(rates[its], max(speeds[its].max(), np.sqrt(np.linalg.norm(pull))))
    return np.asarray(np.minimum(rates, speeds.max()))


def _units(posed: Posed, near: Linearisation) -> Array:
    """What counts as one in each coordinate: 1 rad or the size, and as much in the time of a fast joint."""
    lengths = posed.lengths
    return np.concatenate([lengths[near.place], (_rates(posed, near) * lengths)[near.speed]])


def _positive(x: Array) -> Array:
    """1 in the place of 0."""
    return np.asarray(np.where(x > 0.0, x, 1.0))


def _noise(posed: Posed, near: Linearisation, changes: Array) -> Array:
    """What rounding makes of v̇, (nv,): of the forces, and of what it changes by over one of each coordinate; where
    closures tell a joint what to do, of all of them.
    """
    k, (force, size) = near.positions, posed.loads(near.q)
    held = np.abs(posed.closing_matrix(near.q).T) @ np.abs(posed.reactions(near.q, force))
    parts = np.abs(near.changes[:, k:]) @ (np.abs(near.B[k:]) @ (size + held)) + changes
    follows = np.ones(len(parts), dtype=bool)
    follows[near.speed] = False
    parts[follows] = np.maximum(parts, posed.lengths * (parts / posed.lengths).max())[follows]
    return _positive(ROUNDING * parts)


def _check_same(posed: Posed, near: Linearisation, later: Linearisation, noise: Array) -> None:
    """ModelError if the linear motion is another one later: each column beside its own greatest, and rounding."""
    k, units = near.positions, _positive(_units(posed, near))
    noise = np.r_[ROUNDING * np.abs(near.A[:k]) @ units, noise] / units
    sizes, change = (np.abs(A) * units / units[:, None] for A in (near.A, later.A - near.A))
    excess = change - SAME * sizes.max(axis=0, initial=0.0) - noise[:, None]
    if excess.max(initial=0.0) > 0.0:
        row, column = map(int, np.unravel_index(int(np.argmax(excess)), excess.shape))
        raise ModelError(
            f"state of {posed.name!r}",
            f"is no steady motion: the derivative of the rate of {near.x[row]} by {near.x[column]} "
            f"changes by {abs(later.A[row, column] - near.A[row, column]):.3g} along it",
            "take Floquet multipliers (integrators.analysis.floquet_multipliers) if it is periodic; give a "
            "spinning symmetric body a joint of its own for the spin",
        )


def _refusal(posed: Posed, near: Linearisation, left: Array, noise: Array) -> ModelError:
    remedy = "find one with mechanics.equilibrium, or give the joint forces (tau) that hold it"
    for element in getattr(posed.model, "elements", ()):
        if (motion := getattr(element, "motion", None)) is not None and not motion.is_constant:
            remedy += f"; {element} moves, which an equilibrium leaves out: take a time t at which it rests"
            break
    counts, n = np.abs(left) > 1.0, posed.tree.nv
    if counts[:n].any():
        k = int(np.argmax(np.abs(near.acceleration) / posed.lengths * counts[:n]))
        found = f"is {near.acceleration[k]:.4g} {posed.units[k]}/s²"
    else:
        k = int(np.argmax(np.abs(left[n:])))
        change = left[n + k] * noise[k] * _rates(posed, near)[k]
        found = f"is zero and changes by {change:.4g} {posed.units[k]}/s³"
    return ModelError(f"state of {posed.name!r}", f"does not persist: v̇ of {posed.labels[k]} {found}", remedy)
