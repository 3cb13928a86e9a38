"""What is doubted of the steps and states of a network, and what is said of those where a run failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt
from mechanics.elastic.continua import TETRAHEDRA, TRIANGLE_NEO_HOOKEAN, volume_ratio
from mechanics.elastic.levels import DOUBTED, LIMIT, SAFETY, frequencies
from mechanics.elastic.springs import LOG_SPRING
from mechanics.elastic.states import places_in, poses_in, velocities_in

if TYPE_CHECKING:
    from mechanics.elastic.network import Network

Array = NDArray[np.float64]
_LOOKED_AT = 30
"""Nodes up to which runs look for resonances by themselves."""


def doubts(network: Network, y: Array, h: float) -> list[Doubt]:
    """See `Network.doubts`."""
    omega = _frequencies_in(network, y)
    steps: list[Array] = [abs(h) * np.power(0.5, network._depth - level) for level in network._levels]
    long = _long_steps(network, abs(h), omega, steps)
    beyond = bool(long) and long[0].value > LIMIT
    resonant = [] if beyond else _resonant(network, abs(h))
    return [*long, *resonant, *_collapses(network, y, steps), *_turns(network, y, abs(h), steps)]


def _resonant(network: Network, h: float) -> list[Doubt]:
    """Vibrations that grow with steps of size h, of small networks."""
    if len(network.points) > _LOOKED_AT or not np.isfinite(h):
        return []
    return [
        Doubt(
            "resonance", 0.0, r.growth, 0.0, str(r),
            f"use a step of {network.step():.4g} s" if h > network.step() and not network.resonances() else
            "use a smaller step, dampers, or SPLIT_STRANG with the smallest step of an element",
        )
        for r in network.resonances(h)
    ]  # fmt: skip


def _collapses(network: Network, y: Array, steps: list[Array]) -> list[Doubt]:
    """Elements of infinite energy at no length or area that their velocities bring there within a step."""
    parts = [rate * step for rate, step in zip(_closing(network, y), steps, strict=True)]
    s = int(np.argmax([x.max(initial=0.0) for x in parts])) if parts else 0
    worst = float(parts[s].max(initial=0.0)) if parts else 0.0
    if not worst > DOUBTED:
        return []
    e = int(parts[s].argmax())
    says = f"{network._owners[s].says(e)} closes by {worst:.3g} times its size within a step, and passes through itself"
    return [Doubt("collapse", 0.0, worst, DOUBTED, says, f"use a step of {0.1 * steps[s][e] / worst:.3g} s for it")]


def _turns(network: Network, y: Array, h: float, steps: list[Array]) -> list[Doubt]:
    """Bodies that turn a node so far between the kicks of an element at it that these are given anywhere."""
    kicked = np.zeros(len(network.points))
    nodes, _, level = network._dampers
    joined = [*(nodes for _, nodes, _ in network._sets), nodes]
    for at, step in zip(joined, [*steps, h * np.power(0.5, network._depth - level)], strict=True):
        np.maximum.at(kicked, at, step[:, None])
    worst, body = _largest_turn(network, y, kicked)
    if not worst > DOUBTED:
        return []
    says = f"{body} turns its nodes by {worst:.3g} rad within a step, and kicks are given anywhere on the way"
    return [Doubt("turn", 0.0, worst, DOUBTED, says, f"use a step of {0.1 * h / worst:.3g} s")]


def _largest_turn(network: Network, y: Array, times: Array) -> tuple[float, str]:
    """The largest angle by which a body turns one of the nodes about its centre of mass within the time (n,) of that
    node, rad, and the body.
    """
    found, named = 0.0, ""
    first = len(y) - 6 * len(network.bodies)
    for b, (nodes, home) in enumerate(network._mounted):
        k = np.asarray(y)[first + 6 * b + 3 : first + 6 * b + 6]
        size = np.linalg.norm(home.places, axis=1)
        speed = np.linalg.norm(np.cross(home.numbers[2:] * k, home.places), axis=1)
        turns = (size > 0.0) & (speed > 0.0)
        angle = float(np.max(speed[turns] / size[turns] * times[nodes[turns]], initial=0.0))
        if angle > found:
            found, named = angle, network.bodies[b].name
    return found, named


def _closing(network: Network, y: Array) -> list[Array]:
    """Rates at which elements lose their size, as parts of it, 1/s; 0 for those that may do so.  The velocities of
    supports that move count as 0.
    """
    x, v = places_in(network, y), velocities_in(network, y)
    found = []
    with np.errstate(all="ignore"):
        for kind, nodes, _ in network._sets:
            rate = np.zeros(len(nodes))
            if kind is LOG_SPRING:
                d, u = (a[nodes[:, 1]] - a[nodes[:, 0]] for a in (x, v))
                rate = -np.sum(d * u, axis=1) / np.sum(d * d, axis=1)
            elif kind is TRIANGLE_NEO_HOOKEAN:
                (a, b), (u, w) = ((z[nodes[:, 1]] - z[nodes[:, 0]], z[nodes[:, 2]] - z[nodes[:, 0]]) for z in (x, v))
                normal = np.cross(a, b)
                change = np.cross(u, b) + np.cross(a, w)
                rate = -np.sum(normal * change, axis=1) / np.sum(normal * normal, axis=1)
            found.append(np.maximum(np.nan_to_num(rate, nan=0.0, posinf=1e300, neginf=0.0), 0.0))
    return found


def _long_steps(network: Network, h: float, omega: list[Array], steps: list[Array]) -> list[Doubt]:
    """The element whose step is furthest beyond its limit."""
    phases = [w * step for w, step in zip(omega, steps, strict=True)]
    s = int(np.argmax([x.max(initial=0.0) for x in phases])) if phases else 0
    worst = float(phases[s].max(initial=0.0)) if phases else 0.0
    if not worst > DOUBTED:
        return []
    e = int(phases[s].argmax())
    says = f"{network._owners[s].says(e)} has h ω = {worst:.3g} with its step {steps[s][e]:.3g} s, " + (
        "beyond the limit of stability 2" if worst > LIMIT else "near the limit of stability 2, where steps resonate"
    )
    return [Doubt("step", 0.0, worst, DOUBTED, says, f"use a step of {SAFETY * LIMIT * h / worst:.3g} s")]


def inside_out(network: Network, x: Array, v: Array | None = None) -> str:
    """The tetrahedron that is turned inside out most; or, with velocities, the one that they turn first."""
    worst, found = np.inf, ""
    for owner, (kind, nodes, values) in zip(network._owners, network._sets, strict=True):
        if kind not in TETRAHEDRA or kind is TETRAHEDRA[-1]:
            continue
        J = _volume_ratios(values, x[nodes])
        if v is None:
            e = int(np.argmin(J))
            if J[e] <= min(worst, 0.0):
                worst, found = float(J[e]), f"{owner.says(e)} is turned inside out: J = {J[e]:.3g}"
            continue
        after = _time_to_zero(values, x[nodes], v[nodes])
        e = int(np.argmin(after))
        if after[e] < worst:
            worst = float(after[e])
            found = f"{owner.says(e)} is turned inside out by its present velocities within {after[e]:.3g} s"
    return found


def _volume_ratios(values: Array, x: Array) -> Array:
    """J of tetrahedra (m,), at the places x (m, 4, 3)."""
    return np.asarray(volume_ratio(tuple(values.T), tuple(tuple(x[:, i].T) for i in range(4))))


def _time_to_zero(values: Array, x: Array, v: Array) -> Array:
    """The first time at which J is 0 if the nodes go on with their velocities, s; infinite if never: J is a cubic
    polynomial of time.
    """
    moved = float(np.abs(v).max())
    scale = float(np.abs(x - x[:, :1]).max()) / moved if moved > 0.0 else 1.0
    at = np.array([-1.0, 0.0, 1.0, 2.0])
    J = np.stack([_volume_ratios(values, x + scale * s * v) for s in at], axis=1)
    cubics = np.linalg.solve(np.vander(at), J.T).T
    first = np.full(len(cubics), np.inf)
    for e, cubic in enumerate(cubics):
        roots = np.roots(np.where(np.abs(cubic) > 1e-12 * np.abs(cubic).max(), cubic, 0.0))
        first[e] = min((scale * r.real for r in roots if abs(r.imag) < 1e-9 and r.real > 0.0), default=np.inf)
    return first


def _frequencies_in(network: Network, y: Array) -> list[Array]:
    """The frequencies of all elements at a state, rad/s."""
    carried = network._carried(poses_in(network, y))
    return frequencies(network._sets, network._inverse_masses, places_in(network, y), carried)


def fastest(network: Network, y: Array) -> tuple[float, str]:
    """The largest frequency of an element at its places, rad/s, and the element; or what collapses before it swings, or
    turns the nodes of some.
    """
    omega = _frequencies_in(network, y)
    collapsing = [LIMIT * rate for rate in _closing(network, y)]
    fast, near = (max([0.0, *(w.max(initial=0.0) for w in rates)]) for rates in (omega, collapsing))
    joined = np.zeros(len(network.points))
    for given in network.elements:
        joined[given.nodes] = 1.0
    turning, body = _largest_turn(network, y, joined)
    if LIMIT * turning > max(fast, near):
        return LIMIT * turning, f"{body}, which turns its nodes by 1 rad in 2/ω,"
    if not max(fast, near) > 0.0:
        return 0.0, "no element"
    rates = omega if fast >= near else collapsing
    s = int(np.argmax([w.max(initial=0.0) for w in rates]))
    named = network._owners[s].says(int(rates[s].argmax()))
    return max(fast, near), named if fast >= near else f"{named}, at whose velocities it has no size after 2/ω,"


def explain(network: Network, t: float, y: Array) -> str:
    """What can be said of a state at which a run failed."""
    x, v = places_in(network, y), velocities_in(network, y)
    for a, along in network.motions.items():
        for axis, motion in zip("xyz", along, strict=True):
            if what := motion.unknown(t):
                return f"the motion of node {a} along {axis} {what}"
    if wrong := inside_out(network, x) or inside_out(network, x, v):
        return wrong
    for owner, V in zip(network._owners, network._potentials(x), strict=True):
        if not np.isfinite(V).all():
            return f"the energy of {owner.says(int(np.flatnonzero(~np.isfinite(V))[0]))} is no number"
    return ""
