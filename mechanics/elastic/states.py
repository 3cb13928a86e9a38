"""Where the nodes of a network are, and how fast, in the states of its motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from liegroup.group import so3
from mechanics.elastic.bodies import places_on
from mechanics.errors import ModelError

if TYPE_CHECKING:
    from mechanics.elastic.network import Network

Array = NDArray[np.float64]
RESTS = 1e-12
"""Part of the largest velocity that is rounding of one: of sin π, of a mode that is 0 at a support."""


def moving(held: NDArray[np.bool_], velocities: Array) -> NDArray[np.bool_]:
    """Which of the components that are held have a velocity."""
    return np.asarray(held & (np.abs(velocities) > RESTS * np.abs(velocities).max(initial=0.0)))


def poses_in(network: Network, y: Array) -> Array:
    """(m, 7): of the bodies, m."""
    n, m = len(network.points), len(network.bodies)
    return np.asarray(y)[3 * n : 3 * n + 7 * m].reshape(m, 7)


def places_in(network: Network, y: Array) -> Array:
    """(n, 3): of all nodes, m."""
    x = np.asarray(y[: 3 * len(network.points)]).reshape(-1, 3)
    return places_on(x, network._mounted, poses_in(network, y)) if network.bodies else x


def velocities_in(network: Network, y: Array) -> Array:
    """(n, 3): of all nodes, m/s; 0 of those on supports."""
    n, m = len(network.points), len(network.bodies)
    p = np.asarray(y)[3 * n + 7 * m :]
    v: Array = network._inverse_masses[:, None] * p[: 3 * n].reshape(-1, 3)
    for b, (nodes, home) in enumerate(network._mounted):
        l, k = p[3 * n + 6 * b :][:3], p[3 * n + 6 * b :][3:6]
        own = home.numbers[1] * l + np.cross(home.numbers[2:] * k, home.places)
        v[nodes] = so3.act(poses_in(network, y)[b, 3:], own)
    return v


def places_at(network: Network, t: float, x: Array, poses: Array) -> Array:
    """The places of all nodes at time t, with those x that are free or held."""
    found = places_on(x, network._mounted, poses)
    for a, along in network.motions.items():
        for axis, motion in zip("xyz", along, strict=True):
            if what := motion.unknown(t):
                raise ModelError(
                    f"{network.name}: node {a}", f"at t = {t:g} s its motion along {axis} {what}", "begin within"
                )
        found[a] = network.points[a] + [motion.value(t) for motion in along]
    return found
