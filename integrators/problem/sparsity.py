"""Which components of a field depend on which: the order in which its derivative is a narrow band."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import reals
from liegroup.compile import helper

EXACT, HALF, ORDER = range(3)
"""Of a pattern: 1 if the problem gives its Jacobian, the half width w of the band, or `DENSE` or `SECOND_ORDER`, the
component at every place of the band (d), `per` (d); where the band is given, the number of entries and the
place of each in J."""
DENSE, SECOND_ORDER = -1, -2
"""In the place of a half width: J is a full matrix; it is one by positions and as many momenta, or velocities."""
_UNIT = 1024.0
"""From one unit to the next, as of metres and millimetres; a power of two rounds nothing."""
_NARROW = 3
"""Factors of a band take so many numbers per row and half width: where that is more than d, J is dense."""


def as_sparsity(given: Any, d: int) -> Any:
    """A sparse matrix (d, d) of ones where the derivative may be other than zero, the diagonal included; None as it is.

    Raises
    ------
    ValueError, TypeError
        For what is no matrix, another shape, or entries that are not finite.
    """
    if given is None:
        return None
    from scipy import sparse  # slow to import

    given = given if sparse.issparse(given) else reals(given, "jacobian_sparsity", f"a matrix ({d}, {d})")
    if given.shape != (d, d):
        raise ValueError(
            f"jacobian_sparsity: shape {given.shape}, expected ({d}, {d}): a row and a column per component of the "
            "velocity; entry (i, j) is not zero where component i of the field depends on component j of the state"
        )
    matrix = sparse.csr_array(given)
    if matrix.dtype == np.int8 and matrix.diagonal().all() and matrix.data.all():
        return matrix  # made here
    if not np.isfinite(np.asarray(matrix.data, dtype=float)).all():
        raise ValueError("jacobian_sparsity: an entry is not finite; give ones and zeros")
    matrix.eliminate_zeros()
    return ((abs(matrix) + sparse.eye_array(d)) != 0).astype(np.int8).tocsr()


def pattern(
    has_jacobian: bool,
    sparsity: Any,
    scales: NDArray[np.float64],
    gives_entries: bool = False,
    second_order: bool = False,
) -> NDArray[np.int64]:
    """[1 if the Jacobian is given, half width or `DENSE` or `SECOND_ORDER`, order of the components, how often what
    counts as one of each (`scales`, to powers of `_UNIT`, so that variants of a model count alike) is in 1, number of
    entries, their places in J]: a band where that is the smaller.
    """
    often = np.power(_UNIT, -np.round(np.log(scales) / np.log(_UNIT))).view(np.int64)
    if sparsity is not None:
        order, half = narrow(sparsity)
        if _NARROW * half + 1 <= sparsity.shape[0]:
            known = [gives_entries, half, *order, *often]
            if gives_entries:
                known += [sparsity.nnz, *_places(sparsity, order, half)]
            return np.array(known, dtype=np.int64)
    full = SECOND_ORDER if second_order else DENSE
    return np.array([has_jacobian, full, *range(len(often)), *often], dtype=np.int64)


@helper
def per(d: Any) -> Any:
    """Where in a pattern the inverses of what counts as one of each component of the velocity stand, as the bits of
    numbers.
    """
    return slice(ORDER + d, ORDER + 2 * d)


@helper
def entries_of(d: Any) -> Any:
    """Where in the pattern of a band the number of its entries stands, before their places."""
    return ORDER + 2 * d


def _places(sparsity: Any, order: NDArray[np.int64], half: int) -> NDArray[np.int64]:
    """Where each entry of a matrix, by rows, stands in its band."""
    place, entries = np.argsort(order), sparsity.copy()
    entries.sort_indices()
    rows = np.repeat(np.arange(len(order)), np.diff(entries.indptr))
    i, j = place[rows], place[entries.indices]
    return np.asarray(i * 2 * half + j + half)


def narrow(sparsity: Any) -> tuple[NDArray[np.int64], int]:
    """An order of the components in which a matrix is a narrow band, and its half width: as they are, or reverse
    Cuthill–McKee.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # slow to import

    symmetric = (sparsity + sparsity.T).tocsr()
    rows, columns = symmetric.nonzero()
    as_given, half = np.arange(symmetric.shape[0]), int(np.abs(rows - columns).max(initial=0))
    order = np.asarray(reverse_cuthill_mckee(symmetric, symmetric_mode=True), dtype=np.int64)
    place = np.argsort(order)
    other = int(np.abs(place[rows] - place[columns]).max(initial=0))
    return (order, other) if other < half else (as_given, half)


def meeting(d: int, groups: Iterable[NDArray[np.int64]]) -> Any:
    """The sparse matrix (d, d) of components that depend on each other, group by group."""
    from scipy import sparse  # slow to import

    rows, columns = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for group in groups:
        rows.append(np.repeat(group, len(group)))
        columns.append(np.tile(group, len(group)))
    places = np.concatenate(rows), np.concatenate(columns)
    matrix = sparse.coo_array((np.ones(len(places[0]), dtype=np.int8), places), shape=(d, d)).tocsr()
    matrix.data[:] = 1
    return matrix
