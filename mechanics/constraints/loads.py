"""Loads of wheels: a plane pushes and does not pull, which the equation of a height does not know."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FITS = 1e-6
"""What loads that push may leave of the forces, and what of these is rounding, relative to them."""


def pulling(G: Array, forces: Array, heights: Sequence[int], least: float) -> tuple[int, float] | None:
    """(c, λ_c) of the height c whose plane pulls most, by more than `least`, where no loads that push are the forces.

    Gᵀ λ = f has many solutions where heights depend on each other, as those of four wheels on a stiff frame do: then λ
    is that of least norm, and says nothing as long as another one pushes at every wheel.

    Parameters
    ----------
    G : array (m, nv)
        Rates of all equations.
    forces : array (nv,)
        f, what the closures do to the motion, N and N·m.
    heights : sequence of int
        Which equations are heights.
    least : float
        Pull that counts, N.

    Returns
    -------
    tuple of int and float, or None
        Which equation, and its load, N, negative.

    Examples
    --------
    Two wheels a metre apart, of which one is to hold more than all of the weight:

    >>> which, load = pulling(np.array([[1.0, 0.5], [1.0, -0.5]]), np.array([10.0, 10.0]), [0, 1], 0.1)
    >>> which, round(load, 9)
    (1, -5.0)
    """
    places = list(heights)
    loads = np.linalg.lstsq(G.T, forces, rcond=1e-10)[0][places]
    if not loads.min() < -least:
        return None
    from scipy.optimize import nnls  # slow to import

    others = np.delete(G, places, axis=0).T
    of_others, sizes, _ = np.linalg.svd(others, full_matrices=False)
    held = of_others[:, sizes > 1e-10 * sizes.max(initial=0.0)]

    def beside(x: Array) -> Array:
        """Without what the other equations can do."""
        return np.asarray(x - held @ (held.T @ x))

    wanted = beside(forces)
    if nnls(beside(G[places].T), wanted)[1] <= FITS * np.linalg.norm(wanted):
        return None
    most = int(np.argmin(loads))
    return places[most], float(loads[most])
