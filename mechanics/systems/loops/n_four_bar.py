"""The N-four-bar (IFToMM benchmark A02): N parallelograms in a row, which pass singular positions.

2N + 1 rods of 1 m and 1 kg: uprights V_i hinged at (i, 0), i = 0 … N, and horizontals H_i from the tip of V_{i−1} to
that of V_i. As long as all loops are parallelograms, θ̈ = k sin θ (θ from the vertical), k = g ((N + 1)/2 + N)/((N +
1)/3 + N).

At θ = ±90° all rods lie in a line: the rank of the closures drops by N, and antiparallelograms branch off.  With
exactly equal lengths every method passes; with `lengths` off by 1e-12 the acceleration-level ones do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem
from liegroup.arrays import integer, numbers
from mechanics.mechanism import Mechanism, Projection
from mechanics.model.tree import Body, Tree
from mechanics.systems.bodies.pendulum import PendulumMotion
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, pin, point, rod

Array = NDArray[np.float64]

SPEED = 1.0
"""Rate of the uprights at the start, rad/s: the tips move with 1 m/s to the right."""


def _horizontals(n: int, lengths: ArrayLike | None) -> Array:
    """Their lengths, m."""
    n = integer(n, "n", 1)
    given = np.ones(n) if lengths is None else numbers(lengths, "lengths", ())
    if given.shape not in ((), (n,)):
        raise ValueError(f"lengths: shape {given.shape}, expected one for each of the {n} horizontals")
    return np.broadcast_to(given, (n,))


def tree(n: int = 2, lengths: ArrayLike | None = None) -> Tree:
    """V₀, H₁, V₁, H₂, …: every horizontal on the upright before it; `lengths` are those of the horizontals."""
    horizontal = _horizontals(n, lengths)
    upright = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # x of the rod along y at q = 0
    bodies = [Body("V0", HINGE, None, rotation=upright, inertia=rod(1.0, 1.0))]
    for i in range(1, n + 1):
        bodies.append(
            Body(f"H{i}", HINGE, f"V{i - 1}", point(1, 0), upright.T, inertia=rod(1.0, float(horizontal[i - 1])))
        )
        bodies.append(Body(f"V{i}", HINGE, None, point(i, 0), upright, inertia=rod(1.0, 1.0)))
    return Tree(bodies, name=f"{n}-four-bar", gravity=GRAVITY)


def mechanism(n: int = 2, lengths: ArrayLike | None = None) -> Mechanism:
    """The mechanism near its upright position; with imperfect lengths it is assembled with V₀ held."""
    horizontal = _horizontals(n, lengths)
    closures = [pin(f"H{i}", (horizontal[i - 1], 0), f"V{i}", (1, 0), f"tip{i}") for i in range(1, n + 1)]
    return Mechanism.assembled(tree(n, lengths), closures, np.zeros(2 * n + 1), hold=["V0_joint"])


def started(n: int = 2, lengths: ArrayLike | None = None) -> Mechanism:
    """N parallelograms from the upright position, the tips moving to the right with 1 m/s.

    Parameters
    ----------
    n : int
        Parallelograms.
    lengths : array (n,), optional
        Of the horizontal rods, m; default 1 m each.

    Returns
    -------
    Mechanism
        At its start.

    Raises
    ------
    ValueError
        Another number of lengths; AssemblyError for lengths that do not close.

    Examples
    --------
    >>> started(2).mobility.dof
    1
    """
    return mechanism(n, lengths).with_start(rates={"V0_joint": -SPEED})


def problem(n: int = 2, lengths: ArrayLike | None = None, projection: Projection = "positions") -> Problem:
    """The motion from `started`."""
    return started(n, lengths).problem(projection=projection)


def stiffness(n: int) -> float:
    """k of θ̈ = k sin θ."""
    return -GRAVITY[1] * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)


def exact(n: int = 2) -> PendulumMotion:
    """θ(t) and θ̇(t) of the perfect mechanism, θ counted clockwise from the vertical and from π (see
    `PendulumMotion`).
    """
    return PendulumMotion(1.0, np.sqrt(stiffness(n)), np.pi, SPEED)


def angle(n: int, t: ArrayLike) -> Array:
    """The angle of V₀ (counterclockwise, as in q) of the perfect mechanism."""
    return np.asarray(np.pi - exact(n)(t)[..., 0])
