"""Rigid bodies in networks: nodes of theirs stay where they are on them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import se3, so3
from liegroup.arrays import of_kind, reals
from mechanics.errors import ModelError
from mechanics.model.inertia import Inertia

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class RigidBody:
    """A rigid body that carries nodes of a `Network`, with elements at any of its points.

    Parameters
    ----------
    nodes : sequence of int
        The nodes that it carries, where they are at home; their masses are added to its inertia.
    inertia : Inertia
        Its mass, centre of mass and moments at home, in the axes and about the origin of the network.
    name : str
        For tables and messages.

    Raises
    ------
    ModelError
        No nodes, or numbers of nodes that are no whole numbers, or twice.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanics import Inertia
    >>> from mechanics.elastic import RigidBody
    >>> RigidBody([3, 4], Inertia.about_com(2.0, (0.5, 0.0, 0.0), np.diag([0.1, 0.2, 0.2])), "plate")
    <RigidBody 'plate': 2 nodes, 2 kg>
    """

    def __init__(self, nodes: ArrayLike, inertia: Inertia, name: str = "body") -> None:
        given = reals(nodes, f"{name}: nodes", "a sequence of whole numbers")
        if given.ndim != 1 or not len(given) or (given != np.floor(given)).any():
            raise ModelError(f"{name}: nodes", f"{given.tolist()}", "give the numbers of at least one node")
        if len(set(given.tolist())) < len(given):
            raise ModelError(f"{name}: nodes", f"{given.astype(int).tolist()} name one twice", "give each once")
        of_kind(inertia, Inertia, "inertia", "an Inertia")
        self.nodes: Integers = given.astype(np.int64)
        self.inertia, self.name = inertia, name

    def __repr__(self) -> str:
        return f"<RigidBody {self.name!r}: {len(self.nodes)} nodes, {self.inertia.mass:g} kg>"

    def at_home(self, points: Array, masses: Array) -> Mounted:
        """The body with the masses of its nodes, in its principal axes.

        Parameters
        ----------
        points : array (n, 3)
            Places of all nodes of the network, m.
        masses : array (n,)
            kg; those that are not positive and finite count as none.

        Returns
        -------
        Mounted
            Pose, numbers of the kernels, places of the nodes.

        Raises
        ------
        ModelError
            No mass, or no moment about some axis; an inertia that no body has.
        """
        total = self.inertia
        for a in self.nodes:
            if np.isfinite(masses[a]) and masses[a] > 0.0:
                total = total + Inertia.point(float(masses[a]), points[a])
        if why := total.unphysical():
            raise ModelError(f"{self.name}: inertia", why, "give that of a body")
        tensor = np.asarray(total.tensor_about_com)
        moments, axes = _principal(tensor)
        if not total.mass > 0.0 or not (moments > 1e-12 * moments.max()).all() or not moments.max() > 0.0:
            raise ModelError(
                f"{self.name}: inertia", f"has the mass {total.mass:g} kg and principal moments {moments.tolist()}",
                "give a positive mass, and moments about all axes (or a point, which is no body)",
            )  # fmt: skip
        pose = np.concatenate([total.com, so3.from_matrix(axes)])
        numbers = np.array([total.mass, 1.0 / total.mass, *(1.0 / moments)])
        return Mounted(pose, numbers, moments, (points[self.nodes] - total.com) @ axes)


class Mounted(NamedTuple):
    """A body at home in a network."""

    pose: Array
    """(7,), of the principal axes at the centre of mass."""
    numbers: Array
    """Mass, 1/mass, inverse moments (5,)."""
    moments: Array
    """(3,), kg m²."""
    places: Array
    """(k, 3), of its nodes, in its axes."""


class Carried(NamedTuple):
    """Nodes on bodies, at one state: what their elements need to know of the masses behind them."""

    body: Integers
    """(n,): which body, or −1."""
    arms: Array
    """(n, 3), from the centre of mass, in space, m."""
    inverse_masses: Array
    """(m,), 1/kg."""
    inverse_moments: Array
    """(m, 3, 3), in space, 1/(kg m²)."""

    def mobility(self, nodes: Integers) -> tuple[Integers, Array]:
        """Which body each of the nodes (k,) is on, and the velocities (3k, 3k) that unit forces give them."""
        on, A = self.body[nodes], np.zeros((len(nodes), 3, len(nodes), 3))
        for i, j in zip(*np.nonzero((on[:, None] == on) & (on >= 0)), strict=True):
            r, s = (_cross(self.arms[nodes[k]]) for k in (i, j))
            A[i, :, j] = self.inverse_masses[on[i]] * np.eye(3) + r @ self.inverse_moments[on[i]] @ s.T
        return on, A.reshape(3 * len(nodes), -1)


def carried_at(n: int, bodies: list[tuple[Integers, Mounted]], poses: Array) -> Carried:
    """Of n nodes, with the bodies (nodes, at home) at poses (m, 7)."""
    on, arms = np.full(n, -1), np.zeros((n, 3))
    inverse = np.zeros((len(bodies), 3, 3))
    for b, (nodes, home) in enumerate(bodies):
        R = so3.as_matrix(poses[b, 3:])
        on[nodes], arms[nodes] = b, home.places @ R.T
        inverse[b] = R @ np.diag(home.numbers[2:]) @ R.T
    return Carried(on, arms, np.array([home.numbers[1] for _, home in bodies]), inverse)


def places_on(x: Array, bodies: list[tuple[Integers, Mounted]], poses: Array) -> Array:
    """The places of all nodes (…, n, 3), with those on bodies where poses (…, m, 7) have them."""
    found = np.array(x)
    for b, (nodes, home) in enumerate(bodies):
        found[..., nodes, :] = se3.act(poses[..., b, None, :], home.places)
    return found


def _cross(r: Array) -> Array:
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def _principal(tensor: Array) -> tuple[Array, Array]:
    """Principal moments and axes (columns), unchanged if they are those of the network already."""
    if np.abs(tensor - np.diag(np.diag(tensor))).max() <= 4e-16 * np.abs(tensor).max():
        return np.diag(tensor).copy(), np.eye(3)
    moments, axes = np.linalg.eigh(tensor)
    return moments, axes * np.sign(np.linalg.det(axes))
