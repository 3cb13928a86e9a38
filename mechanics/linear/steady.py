"""Stability of equilibria and of steady motions, by the eigenvalues of the linear motion about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechanics.linear.linearised import State, state_of
from mechanics.linear.posed import Posed
from mechanics.linear.steadiness import steady_near
from mechanics.linear.vibrations import modes_at_rest, modes_in_motion
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stability:
    """What the linear motion says of a steady motion.

    Attributes
    ----------
    verdict : {"stable", "marginal", "unstable"}
        All eigenvalues that are not zero decay; some neither decay nor grow (of motions without damping the linear
        motion stays near; whether the full one does, it cannot say); some grow.
    growth : float
        Greatest real part, 1/s, of the eigenvalues that are not zero; −inf if all are.
    eigenvalues : array (k,)
        Those that are not zero, 1/s, by real part, greatest last.  Seen in the axes of bodies on free and spherical
        joints, which turn with the steady motion: frequencies are shifted by its rates, growth is not.
    zeros : int
        Zero eigenvalues: cyclic coordinates, and the neighbouring steady motions.

    Examples
    --------
    See `stability`.
    """

    verdict: str
    growth: float
    eigenvalues: NDArray[np.complex128]
    zeros: int


def stability(model: Tree | Mechanism, state: State, *, tau: ArrayLike | None = None, t: float = 0.0) -> Stability:
    """Whether a mechanism at rest, or in steady motion, stays near it, linearly.

    A motion is steady if its velocities (of bodies on free and spherical joints: in their axes) are constant and the
    linear motion about it has constant coefficients: a sleeping top, a conical pendulum, a wheel rolling straight, a
    governor.

    The verdict is that of the steady motion next to the state, which may be 1e-7 from it: rad, or sizes of the
    mechanism, velocities as much in the time of the fastest joint around them.  An eigenvalue grows, or decays, if its
    real part is more than rounding makes of it, in the part of the mechanism to which it belongs: parts that do not act
    on it, stiff or fast or heavy, change nothing.

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
        The time, s, for prescribed motions and drives.

    Returns
    -------
    Stability
        The verdict, and the eigenvalues behind it.

    Raises
    ------
    ModelError
        No steady motion is so near: velocities change, with the joint; or the linear motion does, as that of a spinning
        body that gravity finds in another position, or seen in axes that turn with a symmetric body (give such a body a
        joint of its own for its spin).

    Examples
    --------
    A double pendulum stands upright, and falls:

    >>> import numpy as np, mechanics
    >>> from mechanics.joints import Revolute
    >>> rod = mechanics.Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))
    >>> tree = mechanics.Tree([mechanics.Body("rod", Revolute((0, 1, 0)), inertia=rod)])
    >>> mechanics.stability(tree, np.array([np.pi])).verdict
    'unstable'
    """
    posed = Posed(model, tau, t)
    near = steady_near(posed, *state_of(posed, state))
    (values, _, zeros, noise), by = modes_at_rest(posed, near) or modes_in_motion(near)
    grows, decays = values.real > noise, values.real < -noise
    if by == "stiffness and mass":  # of pairs ±iω those with a positive one, of rigid motions two zeros each
        values, zeros = np.concatenate([values, values[values.imag > 0.0].conj()]), 2 * zeros
    values = values[np.lexsort((values.imag, values.real))]
    verdict = "unstable" if grows.any() else "stable" if decays.all() else "marginal"
    return Stability(verdict, float(values.real.max(initial=-np.inf)), values, zeros)
