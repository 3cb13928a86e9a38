"""Starts of rods that keep strains: whether they do, and the velocities with which they do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from integrators.problem.guards import Guard
from liegroup import se3
from mechanics.elastic.rods.rod import RIGID, Rod
from mechanics.elastic.rods.vibrations import strain_rows
from mechanics.errors import ModelError

Array = NDArray[np.float64]
TOLERANCE = 1e-9
"""Largest strain, and largest rate of it in units of the velocities, of a start."""
STRAINED, OPEN = 0.01, 1e-6
"""Parts of the length of the shortest element by which strains may be off in a run, and at its start."""
SINGULAR = 1e-13
"""Part of its largest eigenvalue by which a matrix is singular."""


def check(rod: Rod, poses: Array, velocities: Array) -> None:
    """ModelError for a start at which strains that are kept are not those without stress, or change, or whose stresses
    are not determined; by element.
    """
    l = rod.elements[:, :1]
    relative = se3.compose(se3.inverse(poses[:-1]), poses[1:])
    X = se3.log(relative) if rod.strain == "exp" else se3.cay_inverse(relative)
    strains = (X / l - rod.elements[:, 7:])[:, list(rod.kept)]
    _refuse(rod, np.abs(strains), TOLERANCE, "poses", "is strained by", "give poses along which it is not strained")
    rows = strain_rows(rod, poses)[:, list(rod.kept)]
    both = np.concatenate([velocities[:-1], velocities[1:]], axis=1)
    rates, size = np.abs(np.einsum("kri,ki->kr", rows, both)), float(np.abs(velocities).max()) or 1.0
    _refuse(rod, rates / size, TOLERANCE, "velocities", "strains by a rate, in parts of the velocities, of",
            "give rod.admissible(velocities)")  # fmt: skip
    _factored(rod, rows)


def _refuse(rod: Rod, found: Array, limit: float, name: str, what: str, remedy: str) -> None:
    if not (found <= limit).all():
        k, r = np.unravel_index(int(np.argmax(found)), found.shape)
        kind = next(name for name, parts in RIGID.items() if rod.kept[r] in parts)
        raise ModelError(
            f"rod: element {k}", f"{name}: it keeps its {kind}, and {what} {found[k, r]:.3g}", f"{remedy}"
        )  # fmt: skip


def _factored(rod: Rod, rows: Array) -> tuple[Array, Array]:
    """Φ M⁻¹ Φᵀ as a band (upper form), and M⁻¹ (n + 1, 6); ModelError where it is singular."""
    from scipy.linalg import eigvals_banded

    n, m = rows.shape[:2]
    inverse = np.where(rod.held, 0.0, 1.0 / np.repeat(rod.inertia, [3, 1, 1, 1], axis=1))
    own = np.concatenate([inverse[:-1], inverse[1:]], axis=1)
    w = 2 * m - 1
    band = np.zeros((w + 1, n * m))
    for r in range(m):
        for s in range(m):
            x = (rows[:, r] * own * rows[:, s]).sum(axis=1)
            if s >= r:
                band[w + r - s, np.arange(n) * m + s] = x
            y = (rows[:-1, r, 6:] * inverse[1:-1] * rows[1:, s, :6]).sum(axis=1)
            band[w + r - s - m, np.arange(1, n) * m + s] = y
    scale = 1.0 / np.sqrt(np.maximum(band[w], 1e-300))
    for d in range(w + 1):
        band[w - d, d:] *= scale[d:] * scale[: n * m - d]
    least = float(eigvals_banded(band, select="i", select_range=(0, 0))[0])
    if not least > SINGULAR or (scale > 1e100).any():
        raise ModelError(
            "rod: supports", "hold it where the stresses of the strains that it keeps are not determined",
            "leave a support out, keep fewer strains, or start where the rod is not stretched between its supports",
        )  # fmt: skip
    for d in range(w + 1):
        band[w - d, d:] /= scale[d:] * scale[: n * m - d]
    return band, inverse


def admissible(rod: Rod, poses: Array, velocities: Array) -> Array:
    """See `Rod.admissible`."""
    from scipy.linalg import solveh_banded

    v = np.where(rod.held, 0.0, velocities)
    if not rod.rigid:
        return v
    rows = strain_rows(rod, poses)[:, list(rod.kept)]
    band, inverse = _factored(rod, rows)
    for _ in range(2):
        both = np.concatenate([v[:-1], v[1:]], axis=1)
        x = solveh_banded(band, np.einsum("kri,ki->kr", rows, both).ravel()).reshape(rows.shape[:2])
        impulses = np.einsum("kri,kr->ki", rows, x)
        v[:-1] -= inverse[:-1] * impulses[:, :6]
        v[1:] -= inverse[1:] * impulses[:, 6:]
    return v


def guards(rod: Rod) -> tuple[Guard, ...]:
    """Of the strains that are kept."""
    shortest = float(rod.elements[:, 0].min())
    remedy = "start where they are kept, and use RATTLE_DRIFT or a smaller step"
    what = "strains that the rod keeps are not kept"
    return (Guard("gap", what, remedy, greatest=STRAINED * shortest, start=OPEN * shortest),)
