"""What every force element of a mechanism did in a run: energy stored, work of the rest, impulse."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals
from mechanics.closed_trees.accounts import ACCOUNT
from mechanics.closed_trees.accounts import element_accounts as kernel
from mechanics.closed_trees.field import closed
from mechanics.dynamics import closed_rates, energy, kinetic_energy
from mechanics.forces import OnBodies, OnJoint, OnScrew
from mechanics.mechanism import Mechanism
from mechanics.states import configuration, evaluate, velocity

Array = NDArray[np.float64]
OFF, SHAKEN = 0.1, 0.05
"""Parts of what is exchanged, and of the largest kinetic energy, by which works may differ from it."""


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


def element_accounts(
    mechanism: Mechanism, t: ArrayLike, q: ArrayLike, p: ArrayLike, u: ArrayLike | None = None
) -> list[Account]:
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
    u : array (m,) or (k, m), optional
        Inputs of the mechanism's problem; without them the accounts of their elements are NaN.

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

    Warns
    -----
    RuntimeWarning
        The works do not add up to what the energy has changed by: the instants are too few to see what is short.

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
    places, rows = list(packed.inputs.places), []
    given = np.full(len(places), np.nan) if u is None else reals(u, "u")
    if given.shape not in ((len(places),), (len(times), len(places))):
        raise ValueError(f"u: shape {given.shape}, expected ({len(places)},) or ({len(times)}, {len(places)})")
    if any(e.is_driven() for e in mechanism.elements) or tree.is_rheonomic:
        packed = replace(packed, parameters=packed.parameters.copy())
        for s, x, y, inputs in zip(times, q, p, np.broadcast_to(given, (len(times), len(places))), strict=True):
            packed.parameters[places] = inputs
            rows.append(evaluate(kernel, packed, size, float(s), x, y))
        out = np.array(rows).reshape(len(times), size)
    else:
        out = evaluate(kernel, packed, size, 0.0, q, p)
    found = []
    for n, element in enumerate(mechanism.elements):
        numbers = out[:, ACCOUNT * n : ACCOUNT * (n + 1)]
        force = numbers[:, 2] if isinstance(element, OnJoint) else numbers[:, 2:5]
        point = numbers[:, 5:] if isinstance(element, OnBodies | OnScrew) else None
        found.append(Account(str(element), times, numbers[:, 0], numbers[:, 1], force, point))
    if len(times) > 1 and not (tree.is_rheonomic or mechanism._closures_move(q[0])):
        _check_sum(mechanism, times, q, p, found)
    return found


def _check_sum(mechanism: Mechanism, t: Array, q: Array, p: Array, accounts: list[Account]) -> None:
    """A RuntimeWarning where the works of elements and dampers are not what the energy has changed by."""
    tree, powers = mechanism.tree, np.sum([account.power for account in accounts], axis=0)
    if not np.isfinite(powers).all() or not any(e.dissipates or e.drives for e in mechanism.elements):
        return
    v = closed_rates(tree, mechanism.packed(), closed, q, p)[0]
    stored = np.sum([account.stored for account in accounts], axis=0)
    changed = float(np.diff((energy(tree, q, v) + stored)[[0, -1]])[0])
    powers = powers - np.square(v) @ tree.damping
    work, all_work = (float(_integral(t, x)[-1]) for x in (powers, np.abs(powers)))
    moving = float(np.max(kinetic_energy(tree, q, v)))
    if abs(changed - work) > OFF * max(abs(changed), abs(all_work)) + SHAKEN * moving:
        warnings.warn(
            f"element_accounts: the energy has changed by {changed:.4g} J, and the works add up to {work:.4g} J: the "
            "instants are too far apart to see what is short, such as a contact, or steps of the run lose energy; save "
            "every step (save_every=1)",
            RuntimeWarning,
            stacklevel=3,
        )
