"""Small vibrations of rods about a state of rest, and the longest step of explicit methods."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import integer, of_kind, real
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.elastic.rods import assembly
from mechanics.elastic.rods.rod import Rod
from mechanics.elastic.rods.statics import _Search, hold
from mechanics.errors import ModelError, ModelWarning

Array = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)
_MARGIN = 0.98
_SOFT, _ZERO = 1e-7, 1e-13
"""ω² of the slowest over the greatest entry of the stiffness: below, its inverse is asked; of none."""
_FEW = 1e-12
"""Of the inverse, relative to the greatest, what counts."""
_AT_REST = 1e-3
"""Of the greatest load; rad, or lengths of an element: poses that are as near to rest are."""
_NOISE = 1e-6
"""Relative imaginary part of ω² that is rounding."""
_HELD = 1e-9
"""What moves less than this part of the rod is held."""


@dataclass(frozen=True, eq=False)
class Vibrations:
    """Small vibrations, ascending.

    Attributes
    ----------
    angular_frequencies : array (k,)
        ω, rad/s; 0 for motions without stiffness, negative (−√−ω²) for those that fall.
    shapes : array (k, n + 1, 6)
        Body increments of the nodes, m and rad, with xᵀ M x = 1; of two that flutter the real and the imaginary part of
        one.
    growth : array (k,)
        1/s; 0 but for two that flutter, of one frequency: one grows and one decays at this rate.

    Examples
    --------
    See `vibrations`.
    """

    angular_frequencies: Array
    shapes: Array
    growth: Array

    @property
    def flutters(self) -> bool:
        """Whether motions grow while they swing."""
        return bool(self.growth.any())

    @property
    def frequencies(self) -> Array:
        """ω/(2π), Hz (those of `mechanics.modes` are in rad/s; `angular_frequencies` are in both)."""
        return self.angular_frequencies / (2.0 * np.pi)


def vibrations(rod: Rod, poses: ArrayLike | None = None, count: int = 6, *, t: float = 0.0) -> Vibrations:
    """K x = ω² M x of a rod about a state of rest, M the inertia of its nodes.

    Parameters
    ----------
    rod : Rod
    poses : array (n + 1, 7), optional
        Where it rests (`equilibrium`), m; default the poses without stress.
    count : int
        How many, the slowest first.
    t : float
        The time at which loads are taken, s.

    Returns
    -------
    Vibrations

    Raises
    ------
    ModelError
        A rod that keeps strains.
    ValueError, TypeError
        The argument, by name.

    Warns
    -----
    ModelWarning
        Vibrations that cannot be told from motions without stiffness beside the stiffest; poses that are not at rest.

    Notes
    -----
    K is symmetric where the rod is at rest under loads with a potential.  Under moments, and loads that turn with the
    section, it is not (`Load`), and frequencies that meet go on as flutter: all eigenvalues are then found, in a time
    that grows with the cube of the nodes.  Second order in the length of the elements.  Slow vibrations of thin rods,
    whose ω² is less than a ten-millionth of that of the stiffest, are those of the inverse of K, relative to themselves
    as right as the entries of K allow.

    Examples
    --------
    The first frequency of a slender cantilever, 1.8751² √(EI/ρA)/L²:

    >>> from mechanics.elastic.rods import Rod, Section, vibrations
    >>> section = Section.round(0.002, 2.1e11, density=7850.0)
    >>> found = vibrations(Rod.straight(1.0, 40, section, supports={0: "clamped"}), count=2)
    >>> expected = 1.875104**2 * (section.EI2 / section.mass) ** 0.5
    >>> (found.angular_frequencies / expected).round(3).tolist()
    [1.0, 1.0]
    """
    of_kind(rod, Rod, "rod", "a mechanics.elastic.rods.Rod")
    if rod.rigid:
        raise ModelError("rod: rigid", "vibrations of rods that keep strains are not known", "give them stiffness")
    search = _Search(rod, rod.wrenches(real(t, "t")))
    at = search.start(poses)
    free = int((~search.held).sum())
    k = integer(count, "count", 1)
    if k > free:
        raise ValueError(f"count: {k}, expected at most {free}, the free motions of the nodes")
    _warn_of_unrest(rod, search, at)
    b, N = assembly.BAND, search.held.size
    band = np.zeros((2 * b + 1, N))
    assembly.band_of_stiffness.compiled(at, search.elements, search.loads, search.options, band)
    hold(band, search.held)
    mass = np.repeat(rod.inertia, [3, 1, 1, 1], axis=1).ravel()
    root = np.where(search.held, 1.0, 1.0 / np.sqrt(mass))
    for d in range(-b, b + 1):  # rows i = j + d of the columns j
        i, j = (slice(max(0, s * d), N + min(0, s * d)) for s in (1, -1))
        band[b + d, j] *= root[i] * root[j]
    top = float(np.abs(band[b, ~search.held]).max())
    rigid = _without_stiffness(_rigid_motions(at, search.held), at, search) / root[:, None]
    find = _of_any_loads if search.loads[:, 3:].any() else _of_a_potential
    squares, vectors = find(band, k, top, search.held, rigid)
    if (lost := int((squares == 0.0).sum()) - rigid.shape[1]) > 0:
        warnings.warn(
            f"vibrations of {rod!r}: {lost} slow ones are lost in the rounding of the stiffest, "
            f"{np.sqrt(top):.3g} rad/s, and are given as 0; take fewer or thicker elements, or scaled_inertia=True",
            ModelWarning,
            stacklevel=2,
        )
    omega = _frequencies(squares)
    return Vibrations(omega.real, (vectors * root[:, None]).T.reshape(len(omega), -1, 6), np.abs(omega.imag))


def _of_a_potential(
    band: Array, k: int, top: float, held: NDArray[np.bool_], rigid: Array
) -> tuple[NDArray[np.complex128], Array]:
    """The first k values ω² of a symmetric stiffness over the masses, and the vectors."""
    from scipy.linalg import eig_banded

    b, N = len(band) // 2, band.shape[1]
    upper = np.zeros((b + 1, N))
    for d in range(b + 1):  # the mean of either side
        upper[b - d, d:] = 0.5 * (band[b - d, d:] + band[b + d, : N - d])
    upper[b, held] = 4.0 * top  # beyond all others
    squares, vectors = eig_banded(upper, select="i", select_range=(0, k - 1))
    squares[np.abs(squares) < _ZERO * top] = 0.0
    if abs(squares[0]) < _SOFT * top:
        softest, shapes = _softest(upper, k, held, rigid)
        better = softest * softest <= top * np.abs(softest[softest != 0.0]).min(initial=np.inf)
        squares[: better.size][better], vectors[:, : better.size][:, better] = softest[better], shapes[:, better]
    return squares.astype(complex), vectors


def _frequencies(squares: NDArray[np.complex128]) -> NDArray[np.complex128]:
    """ω, of what falls −√−ω²."""
    real = squares.imag == 0.0
    return np.where(real, np.sign(squares.real) * np.sqrt(np.abs(squares)), np.sqrt(squares))


def _warn_of_unrest(rod: Rod, search: _Search, poses: Array) -> None:
    """A warning where forces are left, or a step of Newton's method would lead elsewhere."""
    left = search.balance(poses, 1.0)[0]
    away, free = search.increments(poses, left, 1.0), np.where(search.held.reshape(-1, 6), 0.0, left)
    arms = search.scale[::-1]  # moments by the length of an element, as forces
    unbalanced, loads = (float(np.abs(x / arms).max()) for x in (free, search.loads[:, :6] + search.loads[:, 6:]))
    if unbalanced > _AT_REST * loads > 0.0:
        says = f"{unbalanced / loads:.2g} of the loads is not balanced"
    elif away is not None and (size := float(np.abs(away / search.scale).max())) > _AT_REST:
        says = f"rest is {size:.2g} away, in rad or lengths of an element"
    else:
        return
    warnings.warn(
        f"vibrations of {rod!r} about poses that are not at rest: {says}, expected at most {_AT_REST:g}; give "
        "poses=equilibrium(rod).poses",
        ModelWarning,
        stacklevel=3,
    )


def _of_any_loads(
    band: Array, k: int, top: float, held: NDArray[np.bool_], rigid: Array
) -> tuple[NDArray[np.complex128], Array]:
    """The same of a stiffness that is not symmetric, some of which may not be real: soft ones by its inverse, of which
    they are right relative to themselves, stiff ones, and all where it has none, by itself.
    """
    from scipy.linalg import eig

    b, N, free = len(band) // 2, band.shape[1], np.flatnonzero(~held)
    full = np.zeros((N, N))
    for d in range(-b, b + 1):
        columns = np.arange(max(0, -d), N + min(0, -d))
        full[columns + d, columns] = band[b + d, columns]
    if rigid.shape[1]:
        values, vectors = eig(full[np.ix_(free, free)])
        values[np.abs(values) < _ZERO * top] = 0.0
    else:
        values, vectors = _by_inverse(band, full, free, 0.0)
        if (some := values[values != 0.0]).size < values.size:  # beside these the others are lost in its rounding
            values, vectors = _by_inverse(band, full, free, 0.5 * float(np.abs(some).min(initial=top)))
        softest = float(np.abs(values[values != 0.0]).min(initial=top))
        if softest < _SOFT * top:  # rounding of the inverse is of the size of stiff ones, and of any sign
            own, shapes = eig(full[np.ix_(free, free)])
            soft = int((np.abs(values) <= np.sqrt(top * softest)).sum())
            inner, outer = np.argsort(np.abs(values))[:soft], np.argsort(np.abs(own))[soft:]
            values = np.concatenate([values[inner], own[outer]])
            vectors = np.hstack([vectors[:, inner], shapes[:, outer]])
    values = np.where(np.abs(values.imag) > _NOISE * np.abs(values), values, values.real)
    first = np.lexsort((values.imag, _frequencies(values).real))[:k]
    shapes = np.zeros((N, len(first)))
    for at, m in enumerate(first):
        x = vectors[:, m] / vectors[np.argmax(np.abs(vectors[:, m])), m]
        part = x.imag if values[m].imag > 0.0 else x.real
        shapes[free, at] = part / (np.linalg.norm(part) or 1.0)
    return values[first], shapes


def _by_inverse(
    band: Array, full: Array, free: NDArray[np.int64], shift: float
) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
    """All values of a matrix, given twice, by those of its inverse after a shift, 0 where rounding hides them; and the
    vectors.
    """
    from scipy.linalg import eig, solve_banded

    b, among = len(band) // 2, np.ix_(free, free)
    moved = band.copy()
    moved[b] += shift
    values, vectors = eig(solve_banded((b, b), moved, np.eye(len(full)))[among])
    values = 1.0 / values - shift
    parts = (np.abs(vectors) * (np.abs(full[among]) @ np.abs(vectors))).sum(axis=0)
    values[np.abs(values) < 4.0 * EPS * parts] = 0.0
    return values, vectors


def _rigid_motions(poses: Array, held: NDArray[np.bool_]) -> Array:
    """(6 n + 6, r): body increments of the motions of the whole rod that its supports leave."""
    R, x = np.array([rotation_from_quaternion(a) for a in poses[:, 3:]]), poses[:, :3] - poses[:, :3].mean(axis=0)
    all_six = np.zeros((len(poses), 6, 6))
    all_six[:, :3, :3] = all_six[:, 3:, 3:] = np.swapaxes(R, 1, 2)
    size = float(np.abs(x).max())
    all_six[:, :3, 3:] = np.swapaxes(np.cross(x[:, :, None] / size, R, axis=1), 1, 2)
    all_six[:, 3:, 3:] /= size
    rows = all_six.reshape(-1, 6)
    _, s, w = np.linalg.svd(np.where(held[:, None], rows, 0.0), full_matrices=False)
    return np.asarray(rows @ w[s < _HELD].T)


def _without_stiffness(rigid: Array, poses: Array, search: _Search) -> Array:
    """(6 n + 6, …): those of the motions of the whole rod along which its loads do not change, in body axes; what its
    elements do never changes with them.
    """
    loose = search.elements.copy()
    loose[:, 1:7] = 0.0
    band = np.zeros((2 * assembly.BAND + 1, len(rigid)))
    assembly.band_of_stiffness.compiled(poses, loose, search.loads, search.options, band)
    changes, b = np.zeros(rigid.shape), assembly.BAND
    for d in range(-b, b + 1):  # rows i = j + d of the columns j
        i, j = (slice(max(0, s * d), len(rigid) + min(0, s * d)) for s in (1, -1))
        changes[i] += band[b + d, j, None] * rigid[j]
    _, s, w = np.linalg.svd(changes, full_matrices=False)
    return np.asarray(rigid @ w[s <= _HELD * np.abs(band).max()].T)


def _softest(upper: Array, count: int, held: NDArray[np.bool_], rigid: Array) -> tuple[Array, Array]:
    """The smallest eigenvalues of a stiffness, ascending, by those of its inverse, which are right relative to
    themselves, and the vectors; none where it has no inverse besides its motions `rigid` without stiffness.

    With Z an orthonormal basis of these, and S the inverse where so many coordinates are held besides, the others are
    those of P S P, P = 1 − Z Zᵀ.
    """
    from scipy.linalg import eigh, qr

    N, r, b = upper.shape[1], rigid.shape[1], len(upper) - 1
    Z = np.linalg.qr(rigid)[0]
    pinned = qr(Z.T, pivoting=True, mode="r")[1][:r]
    matrix = upper.copy()
    for i in pinned:
        for d in range(b + 1):
            matrix[b - d, i] = 0.0
            if i + d < N:
                matrix[b - d, i + d] = 0.0
        matrix[b, i] = 1.0
    try:
        S = _inverse(matrix)
    except np.linalg.LinAlgError:
        return np.zeros(0), np.zeros((N, 0))
    S[pinned], S[:, pinned], S[held], S[:, held] = 0.0, 0.0, 0.0, 0.0
    S = S - Z @ (Z.T @ S)
    S = S - (S @ Z) @ Z.T
    free = N - int(held.sum()) - r
    most = min(count + 1, free)  # one more than asked for, as the slowest falls are found first
    if most <= 0:
        return np.zeros(r)[:count], Z[:, :count]
    S = 0.5 * (S + S.T)
    (falls, falling), (swings, swinging) = (
        eigh(S, subset_by_index=ends) for ends in ([0, most - 1], [N - most, N - 1])
    )
    of_some = _FEW * max(abs(falls[0]), abs(swings[-1]))
    fall, swing = falls < -of_some, swings > of_some
    if fall.all() and most < free:  # others may fall faster
        return np.zeros(0), np.zeros((N, 0))
    squares = 1.0 / np.concatenate([falls[fall], swings[swing]])
    vectors = np.hstack([falling[:, fall], swinging[:, swing]])
    lost = np.abs(squares) < 4.0 * EPS * _parts(upper, vectors)
    if lost.any():  # beside them the inverse has the others with an error as great as its largest part makes it
        return _softest(upper, count, held, np.hstack([Z, vectors[:, lost]]))
    squares, vectors = np.concatenate([squares, np.zeros(r)]), np.hstack([vectors, Z])
    ascending = np.argsort(squares, kind="stable")[:count]
    return squares[ascending], vectors[:, ascending]


def _inverse(upper: Array) -> Array:
    """Of a band, definite or not."""
    from scipy.linalg import cho_solve_banded, cholesky_banded, solve_banded

    N, b = upper.shape[1], len(upper) - 1
    try:
        return np.asarray(cho_solve_banded((cholesky_banded(upper), False), np.eye(N)))
    except np.linalg.LinAlgError:
        band = np.vstack([upper, np.zeros((b, N))])
        for d in range(1, b + 1):
            band[b + d, : N - d] = upper[b - d, d:]
        return np.asarray(solve_banded((b, b), band, np.eye(N)))


def _parts(upper: Array, vectors: Array) -> Array:
    """|x|ᵀ |A| |x| of every vector: what its stiffness is of, before it cancels."""
    b, x, N = len(upper) - 1, np.abs(vectors), upper.shape[1]
    found = np.zeros(vectors.shape[1])
    for d in range(b + 1):
        found += (2.0 if d else 1.0) * np.abs(upper[b - d, d:]) @ (x[d:] * x[: N - d])
    return found


@dataclass(frozen=True)
class StepLimit:
    """The longest stable step.

    Attributes
    ----------
    step : float
        s; of velocity Verlet (`SPLIT_STRANG`).
    element : int
        Which limits it.
    cause : str
        What of it: "thickness" (shear against the inertia of a section that turns) or "length" (waves along it).
    angular_frequency : float
        The highest of that element with its own halves of the masses, rad/s, a bound for the whole rod.

    Examples
    --------
    See `step_limit`.
    """

    step: float
    element: int
    cause: str
    angular_frequency: float

    def check(self, step: float) -> None:
        """ModelError for a step that is too long.

        Parameters
        ----------
        step : float
            s.

        Raises
        ------
        ModelError
            With the element that limits it.
        """
        h = real(step, "step")
        if h > self.step:
            remedy = (
                "use a smaller step, scaled_inertia=True, or an implicit method"
                if self.cause == "thickness"
                else "use a smaller step, longer elements, or an implicit method"
            )
            raise ModelError(
                f"rod: element {self.element}",
                f"a step of {h:.4g} s is beyond the limit of explicit methods, {self.step:.4g} s, set by its "
                f"{self.cause}",
                remedy,
            )


def step_limit(rod: Rod) -> StepLimit:
    """The longest step with which velocity Verlet stays stable near the state without stress, 2/ω.

    Parameters
    ----------
    rod : Rod

    Returns
    -------
    StepLimit
        ω is the highest frequency of a single element with its own halves of the masses: no rod made of them vibrates
        faster (Irons and Treharne).

    Raises
    ------
    TypeError
        Something that is no rod.

    Notes
    -----
    Of thin rods the limit is 2 √(ρI/GA), about the diameter over the speed of shear waves, however long the elements
    are: `scaled_inertia` of `Rod`.

    References
    ----------
    Irons and Treharne 1971.

    Examples
    --------
    >>> from mechanics.elastic.rods import Rod, Section, step_limit
    >>> thin = Rod.straight(1.0, 20, Section.round(0.001, 2.1e11, density=7850.0))
    >>> limit = step_limit(thin)
    >>> limit.cause, f"{limit.step:.2g}"
    ('thickness', '3.3e-07')
    """
    of_kind(rod, Rod, "rod", "a mechanics.elastic.rods.Rod")
    own = _own_inertia(rod)
    root = 1.0 / np.sqrt(np.tile(own, (1, 2)))
    K = without_kept(rod, element_stiffness(rod) * root[:, :, None] * root[:, None, :], root)
    tops = np.sqrt(np.linalg.eigvalsh(0.5 * (K + np.swapaxes(K, 1, 2)))[:, -1])
    which = int(tops.argmax())
    highest, rows = float(tops[which]), rod.elements[which]
    stretch, twist = (0.0 if c in rod.kept else rows[1 + c] / own[which, c] for c in (0, 3))
    along = (2.0 / rows[0] * max(stretch, twist)) ** 0.5
    bends = set(rod.kept) >= {0, 1, 2}
    return StepLimit(2.0 / highest, which, "length" if bends or along > _MARGIN * highest else "thickness", highest)


def element_stiffness(rod: Rod) -> Array:
    """(n, 12, 12): the derivative of the gradient of every element without stress, by body increments of its nodes."""
    poses, elements = np.asarray(rod.poses), rod.elements
    options = np.array([rod.strain == "cayley", -1], dtype=np.int64)
    found, (i, j) = np.zeros((rod.n_elements, 12, 12)), np.indices((12, 12))
    for k in range(rod.n_elements):
        band = np.zeros((2 * assembly.BAND + 1, 12))
        assembly.band_of_stiffness.compiled(
            np.ascontiguousarray(poses[k : k + 2]), elements[k : k + 1], np.zeros((2, 12)), options, band
        )
        found[k] = band[assembly.BAND + i - j, j]
    return found


def without_kept(rod: Rod, K: Array, root: Array) -> Array:
    """Stiffness (n, 12, 12) of the elements, scaled by `root` (n, 12), in the motions that keep what is rigid."""
    if not rod.rigid:
        return K
    rows = strain_rows(rod, np.asarray(rod.poses))[:, list(rod.kept)] * root[:, None, :]
    Q = np.linalg.qr(np.swapaxes(rows, 1, 2))[0]
    P = np.eye(12) - Q @ np.swapaxes(Q, 1, 2)
    return np.asarray(P @ K @ P)


def strain_rows(rod: Rod, poses: Array) -> Array:
    """(n, 6, 12): δX of every element by body increments of its nodes."""
    n, found = rod.n_elements, np.zeros((rod.n_elements, 6, 12))
    options = np.array([rod.strain == "cayley", -1], dtype=np.int64)
    for j in range(12):
        for odd in range(2):  # elements that do not share a node
            increments, out = np.zeros((n + 1, 6)), np.zeros((n, 6))
            first = np.arange(odd, n, 2)
            increments[first + j // 6, j % 6] = 1.0
            assembly.strain_changes.compiled(np.ascontiguousarray(poses), rod.elements, options, increments, out)
            found[first, :, j] = out[first]
    return found


def _own_inertia(rod: Rod) -> Array:
    """(n, 6): half the inertia of every element."""
    found = np.zeros((rod.n_elements, 6))
    for k, (s, element) in enumerate(zip(rod.sections, rod.elements, strict=True)):
        found[k] = 0.5 * element[0] * np.repeat(np.array([s.mass, *rod.moments(s, element[0])]), [3, 1, 1, 1])
    return found
