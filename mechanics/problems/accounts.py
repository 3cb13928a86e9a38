"""What every force element of a mechanism did in a run: energy stored, work of the rest, impulse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals
from mechanics.closed_trees.accounts import ACCOUNT
from mechanics.closed_trees.accounts import element_accounts as kernel
from mechanics.forces import OnBodies, OnJoint
from mechanics.mechanism import Mechanism
from mechanics.states import configuration, evaluate, velocity

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Account:
    """What one force element did at k instants.

    Attributes
    ----------
    element : str
        Kind and place.
    t : array (k,)
        s.
    stored : array (k,)
        U, J.
    power : array (k,)
        P, W, of what is not stored: friction and damping take (P < 0), drives give.  d(T + V + ΣU)/dt = ΣP, with the
        damping of the joints of the tree.
    force : array (k, 3), or (k,) on a joint
        On the first body in world axes, N; the opposite acts on the second.  On a joint along it, N·m or N.
    point : array (k, 3), or None
        Where the force acts, world axes, m; None for what does not act at a point.

    Examples
    --------
    See `element_accounts`.
    """

    element: str
    t: Array
    stored: Array
    power: Array
    force: Array
    point: Array | None

    @property
    def work(self) -> Array:
        """∫ P dt up to every instant, J, by the trapezoidal rule: (k,)."""
        return _integral(self.t, self.power)

    @property
    def impulse(self) -> Array:
        """∫ F dt up to every instant, N·s (on a joint N·m·s or N·s), by the trapezoidal rule: as `force`."""
        return _integral(self.t, self.force)

    @property
    def angular_impulse(self) -> Array:
        """∫ x × F dt about the origin of the world up to every instant, N·m·s, by the trapezoidal rule: (k, 3).

        Raises
        ------
        ValueError
            The force acts at no point.
        """
        if self.point is None:
            raise ValueError(f"{self.element} does not act at one point: it has no moment here")
        return _integral(self.t, np.cross(self.point, self.force))


def _integral(t: Array, rate: Array) -> Array:
    found = np.zeros_like(rate)
    steps = np.diff(t).reshape(-1, *[1] * (rate.ndim - 1))
    found[1:] = np.cumsum(0.5 * steps * (rate[1:] + rate[:-1]), axis=0)
    return found


def element_accounts(mechanism: Mechanism, t: ArrayLike, q: ArrayLike, p: ArrayLike) -> list[Account]:
    """Energy stored, power, force and point of every force element along saved states.

    Parameters
    ----------
    mechanism : Mechanism
        Whose run it was.
    t : array (k,)
        Times, s: ``solution.t``.
    q : array (k, nq)
        Coordinates, rad and m: ``solution["q"]``.
    p : array (k, nv)
        Momenta, kg·m²/s and kg·m/s: ``solution["p"]``.

    Returns
    -------
    list of Account
        One per element, in the order of ``mechanism.elements``.

    Raises
    ------
    TypeError
        Not a mechanism.
    ValueError
        Shapes that do not fit it or each other, numbers that are not finite.

    Notes
    -----
    Values at the instants are exact; work and impulse are sums over the saved instants: save often enough to see a
    contact that is short.  Where friction sticks and its rate F/(v_s m) is above 2/h, the momenta of a variational step
    ring about their slow course (`mechanics.variational`), and forces at the instants with them.

    Examples
    --------
    >>> from mechanics import Body, Frame, Inertia, Tree, joints
    >>> from mechanics.forces import Sphere, contact
    >>> ball = Tree([Body("ball", joints.Prismatic((0, 0, 1)), inertia=Inertia.point(2.0))])
    >>> ground = contact(Sphere(Frame("ball"), 0.1), Frame(None), stiffness=1e3, damping=0.5)
    >>> (account,) = element_accounts(Mechanism(ball, elements=[ground]), [0.0], [[0.05]], [[-2.0]])
    >>> account.stored, account.power, account.force
    (array([1.25]), array([-25.]), array([[ 0.,  0., 75.]]))
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    tree = mechanism.tree
    times, q, p = reals(t, "t"), configuration(tree, q), velocity(tree, p, "p")
    if times.ndim != 1 or q.shape[:-1] != times.shape or p.shape[:-1] != times.shape or not np.isfinite(times).all():
        raise ValueError(f"t, q, p: shapes {times.shape}, {q.shape}, {p.shape}, expected (k,), (k, nq), (k, nv)")
    packed, size = mechanism.packed(), ACCOUNT * len(mechanism.elements)
    if any(e.is_driven() for e in mechanism.elements) or tree.is_rheonomic:
        rows = [evaluate(kernel, packed, size, float(s), x, y) for s, x, y in zip(times, q, p, strict=True)]
        out = np.array(rows).reshape(len(times), size)
    else:
        out = evaluate(kernel, packed, size, 0.0, q, p)
    found = []
    for n, element in enumerate(mechanism.elements):
        numbers = out[:, ACCOUNT * n : ACCOUNT * (n + 1)]
        force = numbers[:, 2] if isinstance(element, OnJoint) else numbers[:, 2:5]
        point = numbers[:, 5:] if isinstance(element, OnBodies) else None
        found.append(Account(str(element), times, numbers[:, 0], numbers[:, 1], force, point))
    return found
