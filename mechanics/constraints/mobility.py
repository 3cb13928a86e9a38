"""Degrees of freedom and redundancy of a mechanism: the rank of its closures, decided once.

The rank of the closure equations at one configuration can be smaller than it is elsewhere (singular positions), and off
the closed configurations it can be larger (redundant loops in space).  Therefore it is taken at closed configurations
only, as the greatest over several of them, and then kept: no threshold is applied later.  Positions count as closed to
`ACCEPTED`, since data are rounded; equations that hold no more than such data may feign, `FELT`, do not count.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanics.algebra.spatial import Array as Matrix
from mechanics.constraints.assembly import ACCEPTED, FELT, _Closing, moved_by, size_of
from mechanics.constraints.body_equations import COUPLING, PARALLEL
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.errors import ModelError
from mechanics.model.tree import Tree

Array = NDArray[np.float64]

POSITIONS = 5
WALK = 0.2
"""Length of a walk between two of the positions: rad, or sizes of the mechanism."""
SMALL, JUMP = 1e-3, 1e3
"""A singular value counts as zero if it is below SMALL of the greatest and JUMP times smaller than its neighbour."""
ROUNDING = 1e-12
"""Below it, relative, all singular values are zero alike: positions are closed no better."""
ROUNDED = 2e-5
"""A row whose entries, in rad and sizes of the mechanism, are smaller may be what rounded data have made of a zero: a
right angle given as 1.5708 is off by 4e-6.
"""
COARSE = 5e-3
"""The same of data with three digits, 1.57 for a right angle and 0.79 for half of one: said of frames, which are rarely
meant where so little holds them.
"""
SAME = 1e-6
"""Angle between null directions at different positions, below which they are the same."""
TIE = 1e-8
"""Columns whose lengths differ by less, relative, are equally long."""

NEAR = 0.05
"""A position is near a singular one if the smallest singular value that counts is below this part of its usual one."""


@dataclass(frozen=True, eq=False)
class Mobility:
    """Rank and redundancy of the closures of a mechanism.

    Attributes
    ----------
    rank : int
        Independent equations.
    dof : int
        Degrees of freedom, nv − rank.
    redundant : int
        Equations beyond the rank.
    kept : list of int
        Equations the kernels solve: those whose combinations are redundant in every position are dropped.
    scales : array (m,)
        Factors that give the equations comparable sizes.
    starts : array (len(kept) − rank, len(kept))
        Approximate null directions of the kept equations.
    smallest, next : float
        Smallest singular value that counts and largest that does not, relative to the greatest (worst position).
    spectra : list of arrays
        Singular values of the scaled equations over the square root of the mass matrix, at every position.
    independent : list of int
        As many of the kept equations as the rank, chosen once, independent in all positions; empty if there is no such
        choice.
    at_home : int
        Rank at home; smaller than `rank` if home is a singular position (or `rank` was given).
    at_stake : tuple of str
        Names of the closures that depend on each other at home, but not elsewhere.
    rounding : float
        Rows that are smaller, in rad and sizes of the mechanism, count as zero: what data may be rounded by, or what a
        given rank says is rounding.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> found = SYSTEMS["four-bar"].mechanism().mobility
    >>> found.dof, found.rank, found.redundant
    (1, 2, 3)
    """

    rank: int
    dof: int
    redundant: int
    kept: list[int]
    scales: Array
    starts: Array
    smallest: float
    next: float
    spectra: list[Array]
    independent: list[int]
    at_home: int
    at_stake: tuple[str, ...]
    rounding: float = FELT

    @property
    def is_singular_at_home(self) -> bool:
        """Whether the closures have a smaller rank at home than elsewhere."""
        return self.at_home < self.rank

    @property
    def is_doubtful(self) -> bool:
        """Whether the rank was a near decision: the neighbours of the cut are closer than the jump that was asked
        for.
        """
        return self.redundant > 0 and self.smallest < JUMP * max(self.next, 1e-16)

    def report(self) -> str:
        """One paragraph for people."""
        lines = [
            f"{self.dof} degrees of freedom: {self.dof + self.rank} of the tree − {self.rank} of "
            f"{self.rank + self.redundant} "
            "closure equations",
            f"smallest singular value that counts {self.smallest:.2g}, largest that does not {self.next:.2g} "
            "(relative)",
        ]
        if self.dof == 0:
            lines.append("it is locked: a structure that cannot move")
        if self.redundant:
            dropped = self.rank + self.redundant - len(self.kept)
            lines.append(f"{self.redundant} redundant equations, {dropped} of them in every position")
        if self.is_singular_at_home:
            names = ", ".join(self.at_stake)
            lines.append(f"home is a singular position, where the closures have rank {self.at_home} ({names})")
        if self.is_doubtful:
            lines.append("the rank is a near decision: check the data for rounding")
        return "; ".join(lines)


def mass_matrix(tree: Tree, q: Array) -> Matrix:
    """M(q), dense, in numbers of any kind (see `Geometry.mass_matrix`)."""
    return geometry(tree, q).mass_matrix(tree)


def mobility(loops: LoopEquations, home: Array, rank: int | None = None) -> Mobility:
    """Analyse the closures from a closed configuration; `rank` overrides the decision."""
    m, n = len(loops), loops.tree.nv
    if m == 0:
        if rank:
            raise ModelError("rank", f"is {rank}, but there are no closures", "leave it out")
        return Mobility(0, n, 0, [], np.ones(0), np.zeros((0, 0)), 1.0, 0.0, [], [], 0, ())
    positions = _positions(loops, home)
    least = _least(loops, home, rank)
    scales = _scales(loops, positions, least)
    weighted = [_without_rounding(loops, q, weighted_matrix(loops, q, scales), least) for q in positions]
    decomposed = [_decomposed(G) for G in weighted]
    spectra = [s for _, s in decomposed]
    ranks = _ranks(loops, positions, weighted, spectra, least)
    found = max(ranks) if rank is None else rank
    if not (rank is None or 0 < rank <= min(m, n)):
        raise ModelError("rank", f"is {rank}", f"give a whole number from 1 to {min(m, n)}, or leave it out")
    full = [k for k, r in enumerate(ranks) if r >= found] or [0]
    relative = [np.append(spectra[k], 0.0) / max(spectra[k][0], np.finfo(float).tiny) for k in full]
    smallest = min(float(s[found - 1]) for s in relative) if found else 1.0
    following = max(float(s[found]) for s in relative)
    null = [decomposed[k][0][:, found:] for k in full]
    kept = _kept(null, m)
    starts = _starts(weighted[full[0]][kept], found)
    independent = _independent([weighted[k] for k in full], kept, found)
    at_home = ranks[0]
    at_stake = _at_stake(loops, decomposed[0][0][:, at_home:], null[0]) if at_home < found else ()
    return Mobility(
        found,
        n - found,
        m - found,
        kept,
        scales,
        starts,
        smallest,
        following,
        spectra,
        independent,
        at_home,
        at_stake,
        least,
    )


def _at_stake(loops: LoopEquations, null_at_home: Matrix, null: Matrix) -> tuple[str, ...]:
    """Closures with a part in a dependence of the rows that holds at home only."""
    only = null_at_home - null @ (null.T @ null_at_home)
    rows = np.flatnonzero(np.linalg.norm(only, axis=1) > SMALL)
    return tuple(loops.closures[k].name for k in sorted(set(loops.closure_of[rows].tolist())))


def _least(loops: LoopEquations, home: Array, rank: int | None) -> float:
    """Rows that are smaller, in rad and sizes of the mechanism, are zero: what data as rounded as those of closed
    positions may be would hold (`FELT`); and what a given rank says is rounding, where it may be (`ROUNDED`).
    """
    s = np.linalg.svd(_at_most_one(_plain(loops, home)), compute_uv=False)
    if rank is None or not 0 < rank < len(s) or not s[rank] < ROUNDED < s[rank - 1]:
        return FELT
    return max(FELT, 10.0 * float(s[rank]))


def _plain(loops: LoopEquations, q: Array) -> Matrix:
    """G in rad and sizes of the mechanism."""
    return _Closing(loops.tree, loops, np.ones(loops.tree.nv, dtype=bool)).matrix(q)


def _scales(loops: LoopEquations, positions: list[Array], least: float) -> Array:
    """One factor for the equations of lengths, one for those of angles and one for those of joints: the largest row of
    G of each becomes 1, at home; rows that are zero but for rounding have no say.
    """
    q = positions[0]
    G = _without_rounding(loops, q, loops.matrix(q), least)
    inverse_mass = np.einsum("ci,ci->c", G, np.linalg.solve(loops.at(q).mass_matrix(loops.tree), G.T).T)
    kinds = np.array([r.kind for r in loops.equations])
    scales = np.ones(len(loops))
    for group in (kinds == PARALLEL, kinds == COUPLING, (kinds != PARALLEL) & (kinds != COUPLING)):
        if group.any() and inverse_mass[group].max() > 0.0:
            scales[group] = 1.0 / np.sqrt(inverse_mass[group].max())
    return scales


def _without_rounding(loops: LoopEquations, q: Array, matrix: Matrix, least: float) -> Matrix:
    """The matrix with zeros in the rows that are zero but for rounding of doubles or data, below `least`."""
    size = np.abs(_plain(loops, q)).max(axis=1)
    return np.asarray(np.where(size[:, None] < least, 0.0, matrix))


def weighted_matrix(loops: LoopEquations, q: Array, scales: Array, t: float = 0.0) -> Matrix:
    """Scaled G over the square root of the mass matrix."""
    root = np.linalg.cholesky(loops.at(q, t).mass_matrix(loops.tree))
    return np.linalg.solve(root, (scales[:, None] * loops.matrix(q, t)).T).T


def _decomposed(G: Matrix) -> tuple[Matrix, Array]:
    """U (m, m) and the singular values of G = U S Vᵀ (m, n); rows of zeros, as of plane loops, are null directions by
    themselves and are left out of what costs the third power.
    """
    m, n = G.shape
    some, none = np.flatnonzero(G.any(axis=1)), np.flatnonzero(~G.any(axis=1))
    U, s = np.zeros((m, m)), np.zeros(min(m, n))
    if len(some):
        u, values, _ = np.linalg.svd(G[some])
        U[some, : len(some)], s[: len(values)] = u, values
    U[none, len(some) + np.arange(len(none))] = 1.0
    return U, s


def _ranks(
    loops: LoopEquations, positions: list[Array], weighted: list[Matrix], spectra: list[Array], least: float
) -> list[int]:
    """The rank at every position.

    Equations that depend on each other do so however rows and columns are scaled, and a scaling in which they do not
    shows that they are independent: what holds a ship is little beside what holds a watch, by their masses, and a gear
    of one beside one of some thousand.  So beside G over the root of the mass its rows are made equal, and those in rad
    and sizes of the mechanism, too; rows of a few rounded digits are not.  What data as rounded as those of closed
    positions may be would hold is nothing, though: in rad and sizes of the mechanism singular values below `FELT`.
    """
    plain = [_plain(loops, q) for q in positions]
    some = np.max([np.abs(G).max(axis=1) for G in plain], axis=0) > max(ROUNDED, least)
    most = [_felt(G) for G in plain]

    def equal(matrices: list[Matrix]) -> list[Matrix]:
        sizes = np.max([np.linalg.norm(G[some], axis=1) for G in matrices], axis=0)
        return [G[some] / sizes[:, None] for G in matrices]

    if not some.any():
        return [min(_rank(s), r) for s, r in zip(spectra, most, strict=True)]
    others = zip(
        *([np.linalg.svd(G, compute_uv=False) for G in equal(matrices)] for matrices in (weighted, plain)), strict=True
    )
    found = [max([_rank(s), *filter(None, map(_decided, pair))]) for s, pair in zip(spectra, others, strict=True)]
    return [min(pair) for pair in zip(found, most, strict=True)]


def _felt(G: Matrix) -> int:
    """Singular values of G, in rad and sizes of the mechanism, that are more than rounding of data."""
    return int((np.linalg.svd(_at_most_one(G), compute_uv=False) > FELT).sum())


def _at_most_one(G: Matrix) -> Matrix:
    """G with rows of length 1 in the place of longer ones."""
    return np.asarray(G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1.0))


def hardly_held(loops: LoopEquations, q: Array, rank: int) -> tuple[int, tuple[str, ...], bool]:
    """How many of the equations that count hold no more than rounded data may have made of others, `ROUNDED` of 1 rad
    or of the size of the mechanism, of frames `COARSE`; the closures with a part in them; and whether a given rank may
    call it rounding.
    """
    u, s, _ = np.linalg.svd(_at_most_one(_plain(loops, q)))
    few = np.flatnonzero(s[:rank] < (COARSE if rank == loops.tree.nv else ROUNDED))
    rows = np.flatnonzero(np.abs(u[:, few]).max(axis=1, initial=0.0) > 0.1)
    names = tuple(loops.closures[k].name for k in sorted(set(loops.closure_of[rows].tolist())))
    return len(few), names, len(few) < rank and bool((s[few] < ROUNDED).all())


def _decided(s: Array) -> int:
    """The rank if the singular values say it: if they fall once, or do not fall; else 0."""
    rank = _rank(s)
    return rank if rank < len(s) or s[-1] >= SMALL * s[0] else 0


def _rank(s: Array) -> int:
    """Where the singular values fall, if they do."""
    if not s.any():
        return 0
    floor = ROUNDING * s[0]
    ratios = [(s[k] / max(s[k + 1], floor), k + 1) for k in range(len(s) - 1) if s[k + 1] < SMALL * s[0]]
    jump, rank = max(ratios, default=(0.0, len(s)))
    return rank if jump >= JUMP else len(s)


def _positions(loops: LoopEquations, home: Array) -> list[Array]:
    """Closed positions reached by walking along free motions; fewer where the mechanism cannot move so far."""
    tree = loops.tree
    closing = _Closing(tree, loops, np.ones(tree.nv, dtype=bool))
    rng, found, q = np.random.default_rng(0), [home], home
    for _ in range(2 * POSITIONS):
        if len(found) == POSITIONS:
            break
        G = closing.matrix(q)
        _, s, w = np.linalg.svd(G)
        null = w[min(_rank(s), _felt(G)) :].T
        if null.shape[1] == 0:
            break
        direction = null @ rng.normal(size=null.shape[1])
        trial = moved_by(tree, q, closing.units * direction * (WALK / np.abs(direction).max()))
        trial = closing.polish(closing.levenberg_marquardt(trial)[0])
        if np.abs(closing.residual(trial)).max() < max(ACCEPTED, 100 * np.abs(closing.residual(home)).max()):
            found.append(trial)
            q = trial
    return found


def pivots(matrix: Matrix, count: int) -> list[int]:
    """Columns of a matrix, `count` of them, each the longest outside the span of those before; of columns that are
    equally long but for rounding the first, so that the choice is the same on every machine.
    """
    rest, chosen = np.array(matrix, dtype=float), list[int]()
    free = np.ones(rest.shape[1], dtype=bool)
    least = ROUNDING * np.linalg.norm(rest, axis=0).max(initial=0.0)
    while len(chosen) < count:
        lengths = np.where(free, np.linalg.norm(rest, axis=0), -1.0)
        longest = lengths.max()
        k = int(np.argmax(lengths >= longest * (1.0 - TIE) if longest > least else free))
        chosen.append(k)
        free[k] = False
        if longest > least:
            direction = rest[:, k] / longest
            rest -= np.outer(direction, direction @ rest)
    return chosen


def _kept(null: list[Matrix], m: int) -> list[int]:
    """All equations but one for each null direction that is the same in every position."""
    if null[0].shape[1] == 0:
        return list(range(m))
    outside = sum(np.eye(m) - N @ N.T for N in null) / len(null)
    values, vectors = np.linalg.eigh(outside)
    common = vectors[:, values < SAME**2]
    if common.shape[1] == 0:
        return list(range(m))
    dropped = set(pivots(common.T, common.shape[1]))
    return [c for c in range(m) if c not in dropped]


def _independent(weighted: list[Matrix], kept: list[int], rank: int) -> list[int]:
    """The choice of equations whose smallest singular value is greatest in its worst position."""

    def worst(choice: list[int]) -> float:
        spectra = [np.linalg.svd(unit(G[choice]), compute_uv=False) for G in weighted]
        return min(float(s[-1] / s[0]) for s in spectra)

    def unit(G: Matrix) -> Matrix:
        return np.asarray(G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), np.finfo(float).tiny))

    if len(kept) == rank:
        return kept
    later = kept[::-1]  # of equals the later is kept, as by `_kept`
    choices = [sorted(later[c] for c in pivots(G[later].T, rank)) for G in weighted]
    found = np.array([worst(choice) for choice in choices])
    best = int(np.argmax(found >= found.max() * (1.0 - TIE)))
    return choices[best] if found[best] > SMALL else []


def _starts(weighted: Matrix, rank: int) -> Matrix:
    """Null directions of the kept equations, mixed with a little of everything so that no position is orthogonal to
    them.
    """
    null = np.linalg.svd(weighted)[0][:, rank:].T
    return np.asarray(null + 0.1 * np.random.default_rng(0).normal(size=null.shape))


def size(loops: LoopEquations) -> float:
    """A length of the mechanism."""
    return size_of(loops.tree, loops.closures)


def nearness(loops: LoopEquations, found: Mobility, q: Array, t: float = 0.0) -> tuple[float, str]:
    """The smallest singular value that counts, relative to its usual value, and the equation with the largest part in
    what is about to be lost.  Usual is that at home; where home is a singular position, the greatest of those that were
    looked at, as others may be near it.
    """
    u, s, _ = np.linalg.svd(weighted_matrix(loops, q, found.scales, t))
    looked_at = found.spectra if found.is_singular_at_home else found.spectra[:1]
    usual = max(float(x[found.rank - 1] / x[0]) for x in looked_at)
    return float(s[found.rank - 1] / s[0]) / usual, loops.names[int(np.argmax(np.abs(u[:, found.rank - 1])))]


def least_pivot(loops: LoopEquations, found: Mobility, q: Array, t: float = 0.0) -> float:
    """The smallest pivot of the scaled Φ at a configuration, its null directions lifted to the mean diagonal, as in the
    kernels.
    """
    if found.rank == 0:
        return 1.0
    G = weighted_matrix(loops, q, found.scales, t)[found.kept]
    null = np.linalg.svd(G)[0][:, found.rank :]
    lifted = np.hstack([G, np.linalg.norm(G) / np.sqrt(len(G)) * null])
    return float(np.abs(np.diag(np.linalg.qr(lifted.T, mode="r"))).min() ** 2)


def usual_pivot(loops: LoopEquations, found: Mobility, home: Array) -> float:
    """The smallest pivot at home; where home is a singular position, what the singular values of others leave of it."""
    if found.is_singular_at_home:
        return float((found.smallest * found.spectra[0][0]) ** 2)
    return least_pivot(loops, found, home)
