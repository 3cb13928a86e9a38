"""The linear motion near a state of a tree or a mechanism: ẋ = A δx + B δu, in coordinates with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics import dynamics
from mechanics.derivatives import hamiltonian_rhs_derivatives
from mechanics.errors import ModelError
from mechanics.linear.posed import Posed
from mechanics.linear.rest import Equilibrium
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
State = ArrayLike | tuple[ArrayLike, ArrayLike] | Equilibrium


@dataclass(frozen=True, eq=False)
class Linearisation:
    """d(δx)/dt = A δx + B δu about a state.

    Attributes
    ----------
    A : array (n, n)
        By the coordinates x.
    B : array (n, nv)
        By the joint forces u.
    rates : array (n,)
        The rates of the coordinates x at the state itself: their part of (v, v̇), or of (v, ṗ).
    x, u : tuple of str
        Names of the coordinates, "δq …" then "δv …" (or "δp …"), and of the joint forces.
    x_units, u_units : tuple of str
        Of `x` and `u`.
    shifts, changes : array (nv, n)
        δq and δv (or δp) of the whole tree for unit coordinates: where closures bind them, the dependent ones follow.
    q, v : array (nq,), array (nv,)
        The state.
    acceleration : array (nv,)
        v̇ at the state.
    place, speed : array of int
        Numbers of the velocities of the tree that are the coordinates δq, which come first, and δv (or δp).

    Examples
    --------
    See `linearise`.
    """

    A: Array
    B: Array
    rates: Array
    x: tuple[str, ...]
    u: tuple[str, ...]
    x_units: tuple[str, ...]
    u_units: tuple[str, ...]
    shifts: Array
    changes: Array
    q: Array
    v: Array
    acceleration: Array
    place: NDArray[np.int64]
    speed: NDArray[np.int64]

    @property
    def positions(self) -> int:
        """How many of the coordinates are δq."""
        return len(self.place)


def state_of(posed: Posed, state: State) -> tuple[Array, Array]:
    """q and v of an equilibrium, a pair (q, v), or a configuration at rest."""
    if isinstance(state, Equilibrium):
        return posed.start(state.q, None)
    if isinstance(state, tuple) and len(state) == 2 and all(np.ndim(x) == 1 for x in state):
        return posed.start(state[0], state[1])
    return posed.start(state, None)  # type: ignore[arg-type]


def linearise(
    model: Tree | Mechanism,
    state: State,
    *,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    variables: Literal["velocities", "momenta"] = "velocities",
) -> Linearisation:
    """The linear motion near a state, with exact derivatives.

    Parameters
    ----------
    model : Tree or Mechanism
        With gravity, force elements, loops and wheels.
    state : Equilibrium, array (nq,), or pair (q, v)
        What `equilibrium` found, a configuration at rest, rad and m, or configuration and velocities, rad/s and m/s;
        they keep the closures.
    tau : array (nv,), optional
        Joint forces that act at the state, N·m and N.
    t : float
        The time, s, for prescribed motions and drives: A and B are those of this instant.
    variables : {"velocities", "momenta"}
        x = (δq, δv), or (δq, δp) of trees, where A is a Hamiltonian matrix if nothing dissipates and q is no group.

    Returns
    -------
    Linearisation
        δq are increments from the right, q·exp(δq), in the coordinates of the velocities: d(δq)/dt = δv − [v, δq].
        u are the forces of all joints.  With closures x are as many of the joints' δq and δv as are independent there,
        chosen so that the others depend on them most mildly; wheels leave more δq than δv.  A is constant along the
        motion only if that is steady (`mechanics.stability` checks it).

    Raises
    ------
    ModelError
        The state opens a closure or is a singular position; momenta of a mechanism; joint forces on a joint of several
        freedoms of a mechanism.
    ValueError
        Wrong sizes, numbers that are not finite, quaternions that are not unit.

    Notes
    -----
    On the surface of the constraints, φ(q) = 0 and G v + φ_t = 0, with δq = S ξ and δv = S' η + E ξ where
    G E = −∂(G v + φ_t)/∂q S.

    Examples
    --------
    >>> import numpy as np, mechanics
    >>> tree = mechanics.load_model("double_pendulum")
    >>> near = mechanics.linearise(tree, np.array([0.3, -0.2]))
    >>> near.x
    ('δq joint1', 'δq joint2', 'δv joint1', 'δv joint2')
    >>> near.A.shape, near.B.shape, near.positions
    ((4, 4), (4, 2), 2)
    """
    posed = Posed(model, tau, t)
    q, v = state_of(posed, state)
    if variables not in ("velocities", "momenta"):
        raise ValueError(f"variables: {variables!r}, expected 'velocities' or 'momenta'")
    return _by_momenta(posed, q, v) if variables == "momenta" else by_velocities(posed, q, v)[0]


def by_velocities(posed: Posed, q: Array, v: Array, like: Linearisation | None = None) -> tuple[Linearisation, Array]:
    """The same in (δq, δv), and the derivative of v̇ of all joints, (nv, n); in the coordinates of another one if it is
    given.
    """
    if not posed.tree.nv:
        raise ModelError(f"state of {posed.name!r}", "has no coordinates", "give a joint that moves by itself")
    posed.refuse_singular(q)
    place, S = _minimal(posed.free_shifts(q), None if like is None else like.place)
    speed, U = _minimal(posed.free_velocities(q), None if like is None else like.speed)
    follows = _following(posed, q, v, S, U, speed)
    k, n = len(place), posed.tree.nv
    shifts = np.hstack([S, np.zeros((n, len(speed)))])
    changes = np.hstack([follows, U])
    a, slopes = posed.acceleration(q, v, shifts, changes)
    A = np.vstack([(changes - posed.turned(v, shifts))[place], slopes[speed]])
    mass = dynamics.mass_matrix(posed.tree, q, posed.t)
    B = np.vstack([np.zeros((k, n)), np.linalg.solve(U.T @ mass @ U, U.T)])
    labels, units = np.array(posed.labels), np.array(posed.units)
    near = Linearisation(
        A,
        B,
        np.concatenate([v[place], a[speed]]),
        tuple(f"δq {x}" for x in labels[place]) + tuple(f"δv {x}" for x in labels[speed]),
        posed.labels,
        tuple(map(str, units[place])) + tuple(f"{unit}/s" for unit in units[speed]),
        tuple("N·m" if unit == "rad" else "N" for unit in posed.units),
        shifts,
        changes,
        q,
        v,
        a,
        place,
        speed,
    )
    return near, slopes


def _by_momenta(posed: Posed, q: Array, v: Array) -> Linearisation:
    tree, n = posed.tree, posed.tree.nv
    if posed.mechanism is not None:
        raise ModelError(
            f"variables of {posed.name!r}",
            "are momenta, whose derivatives are known of trees only",
            "take variables='velocities', or the tree of the mechanism",
        )
    p = dynamics.momentum(tree, q, v, posed.t)
    A = hamiltonian_rhs_derivatives(tree, q, p, t=posed.t)
    A[:n, :n] -= posed.turned(v, np.eye(n))
    moved, p_dot = dynamics.hamiltonian_rhs(tree, q, p, tau=posed.tau, t=posed.t)
    units = tuple("N·m·s" if unit == "rad" else "N·s" for unit in posed.units)
    both = np.eye(2 * n)
    return Linearisation(
        A,
        both[:, n:],
        np.concatenate([moved, p_dot]),
        tuple(f"δq {x}" for x in posed.labels) + tuple(f"δp {x}" for x in posed.labels),
        posed.labels,
        posed.units + units,
        tuple(unit.removesuffix("·s") for unit in units),
        both[:n],
        both[n:],
        q,
        v,
        dynamics.forward_dynamics(tree, q, v, posed.tau, t=posed.t),
        np.arange(n),
        np.arange(n),
    )


def _minimal(S: Array, chosen: NDArray[np.int64] | None = None) -> tuple[NDArray[np.int64], Array]:
    """Independent rows of a basis, given or chosen by pivots, and the basis in which they are the coordinates."""
    import scipy.linalg  # slow to import

    if S.shape[0] == S.shape[1]:
        return np.arange(len(S)), np.eye(len(S))
    if chosen is None:
        chosen = np.sort(scipy.linalg.qr(S.T, pivoting=True, mode="r")[1][: S.shape[1]])
    return chosen, S @ np.linalg.inv(S[chosen]) if S.shape[1] else S


def _following(posed: Posed, q: Array, v: Array, S: Array, U: Array, speed: NDArray[np.int64]) -> Array:
    """E: the velocities that have to change with the position, with no change of the independent ones."""
    slope = posed.closing_rate_slope(q, v, S)
    if not slope.any():
        return np.zeros_like(S)
    E = -np.linalg.lstsq(posed.closing_matrix(q), slope, rcond=1e-10)[0]
    return np.asarray(E - U @ E[speed])
