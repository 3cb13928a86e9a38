"""A joint: a chain of elementary motions between the joint frame of the parent and the frame of the child."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from mechanics.algebra.spatial import Array, motion_cross, shift
from mechanics.joints.element import Element


class JointState(NamedTuple):
    """Where a joint is and how it moves, in the notation of Ivanov and Shimanovsky, eq. (1).

    Attributes
    ----------
    G : array (3, 3)
        Parent components → child components.
    rho : array (3,)
        Child origin, in parent axes, m.
    A : array (6, n_v)
        Basis of the relative twists, child axes at the child origin.
    drift : array (6,)
        Vᴶ, the twist of the prescribed motions, child axes, m/s and rad/s.
    A_dot : array (6, n_v)
        Total time derivative of A along the motion, 1/s.

    Examples
    --------
    From `Joint.state`; see `Revolute`.
    """

    G: Array
    """(3, 3): parent components → child components."""
    rho: Array
    """(3,): child origin, in parent axes."""
    A: Array
    """(6, n_v): basis of the relative twists, child axes at the child origin."""
    drift: Array
    """(6,): Vᴶ, the twist of the prescribed motions, child axes."""
    A_dot: Array
    """(6, n_v): total time derivative of A along the motion."""


class Joint:
    """Base of all joints: a subclass is a frozen dataclass that says of which `elements` it is composed.

    With the relative twist of element e, V_e = A_e s_e + Vᴶ_e, and C_e its shift (child ← parent), the chain is

        A ← [C_e A, A_e],   Vᴶ ← C_e Vᴶ + Vᴶ_e,   Ȧ ← [C_e Ȧ − V_e× C_e A, 0].

    Examples
    --------
    >>> from mechanics.joints import Cylindrical
    >>> joint = Cylindrical((0.0, 0.0, 1.0))
    >>> joint.q_labels, joint.q_units, joint.kind, joint.n_q, joint.n_v
    (('angle', 'distance'), ('rad', 'm'), 'Cylindrical', 2, 2)
    >>> joint.state([0.0, 0.5], [1.0, 2.0]).rho.tolist()
    [0.0, 0.0, 0.5]
    """

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elementary motions, from the parent to the child."""
        raise NotImplementedError(f"{type(self).__name__}: a joint says in `elements` what it is composed of")

    @property
    def n_q(self) -> int:
        """Number of coordinates."""
        return sum(e.n_q for e in self.elements)

    @property
    def n_v(self) -> int:
        """Degrees of freedom."""
        return sum(e.n_v for e in self.elements)

    @property
    def kind(self) -> str:
        """The name of its class."""
        return type(self).__name__

    @property
    def factors(self) -> tuple[Any, ...]:
        """The configuration group: formula files of `liegroup`, in order."""
        return tuple(e.factor for e in self.elements if e.n_q)

    @property
    def is_rheonomic(self) -> bool:
        """Whether time enters: some element has a prescribed motion that is not a constant offset."""
        return any(e.motion is not None and not e.motion.is_constant for e in self.elements)

    @property
    def q_labels(self) -> tuple[str, ...]:
        """One label per component of q; numbered where a joint has several of a kind."""
        return _numbered([label for e in self.elements if e.n_q for label in e.q_labels])

    @property
    def q_units(self) -> tuple[str, ...]:
        """One unit per component of q."""
        return tuple(unit for e in self.elements if e.n_q for unit in e.q_units)

    @property
    def v_labels(self) -> tuple[str, ...]:
        """One label per component of the velocity and of the momentum."""
        return _numbered([label for e in self.elements if e.n_v for label in e.v_labels])

    @property
    def v_units(self) -> tuple[str, ...]:
        """One unit per component of the velocity."""
        return tuple(unit for e in self.elements if e.n_v for unit in e.v_units)

    def neutral(self) -> Array:
        """q where the child frame coincides with the joint frame (prescribed motions aside)."""
        return np.array([x for e in self.elements for x in e.neutral], dtype=np.float64)

    def random(self, generator: np.random.Generator) -> Array:
        """q with angles in [−π, π], distances in [−1, 1], orientations uniform.

        Parameters
        ----------
        generator : numpy.random.Generator
            Where the numbers come from.

        Returns
        -------
        array (n_q,)
            rad and m.
        """
        q = generator.uniform(-1.0, 1.0, self.n_q) * [np.pi if unit == "rad" else 1.0 for unit in self.q_units]
        for k, label in enumerate(self.q_labels):
            if label.startswith("qw"):
                x = generator.normal(size=4)
                q[k : k + 4] = x / np.linalg.norm(x)
        return q

    def split(self, q: Any, s: Any) -> Iterator[tuple[Element, Any, Any]]:
        """Each element with its part of q and of the velocity s.

        Parameters
        ----------
        q : sequence of n_q scalars
            Coordinates of the joint, rad and m.
        s : sequence of n_v scalars
            Its velocity, rad/s and m/s.

        Yields
        ------
        element, q, s
            From the parent to the child.
        """
        i = k = 0
        for e in self.elements:
            yield e, q[i : i + e.n_q], s[k : k + e.n_v]
            i, k = i + e.n_q, k + e.n_v

    def state(self, q: Any, s: Any, t: Any = 0.0) -> JointState:
        """G, ρ, A, Vᴶ and Ȧ at the configuration q with velocity s at time t, on any scalar type.

        Parameters
        ----------
        q : sequence of n_q scalars
            Coordinates of the joint, rad and m.
        s : sequence of n_v scalars
            Its velocity, rad/s and m/s.
        t : scalar
            Time, s.

        Returns
        -------
        JointState
            Of arrays of that scalar type.
        """
        zero = 0 * t + sum(0 * x for x in q)
        if len(elements := self.elements) == 1:  # nothing to put together
            (e,) = elements
            R, x = e.pose(q, t)
            A = e.basis(q)
            return JointState(R.T + zero, x + zero, A, e.drift(t) + zero, 0 * A)
        G, rho = np.eye(3) + zero, np.zeros(3) + zero
        A, drift, A_dot = np.zeros((6, 0)), np.zeros(6) + zero, np.zeros((6, 0))
        for e, q_e, s_e in self.split(q, s):
            R, x = e.pose(q_e, t)
            C, A_e, drift_e = shift(R.T, x), e.basis(q_e), e.drift(t)
            V_e = A_e @ s_e + drift_e if e.n_v else drift_e
            A_dot = np.concatenate([C @ A_dot - motion_cross(V_e) @ (C @ A), 0 * A_e], axis=1)
            A = np.concatenate([C @ A, A_e], axis=1)
            drift = C @ drift + drift_e
            rho, G = rho + G.T @ x, R.T @ G
        return JointState(G, rho, A, drift, A_dot)


def _numbered(labels: list[str]) -> tuple[str, ...]:
    return tuple(x if labels.count(x) == 1 else f"{x}_{labels[: k + 1].count(x)}" for k, x in enumerate(labels))
