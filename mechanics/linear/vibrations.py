"""Modes of a motion near an equilibrium or a steady motion: frequencies, damping, shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import shown
from mechanics import dynamics
from mechanics.linear.linearised import Linearisation, State, state_of
from mechanics.linear.posed import ASYMMETRIC, Posed, along, is_symmetric
from mechanics.linear.spectrum import Spectrum, eigenvalues, frequencies, staircase
from mechanics.linear.steadiness import steady_near
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
RIGID = 1e-11
"""ω², relative to what its parts make before they cancel, that counts as zero."""
LOSSLESS = 1e-12
"""Damping of rigid motions, relative to what its parts make before they cancel, that counts as none."""
SEPARATE = 1e-12
"""Noise of eigenvalues at rest that are real, which do not meet others, or decay, relative to the greatest."""
SOFT, HIDDEN = 1e-4, 1e-13
"""ω² over the greatest, of motions that are looked at among themselves; ω over the greatest, that counts as zero."""


@dataclass(frozen=True, eq=False)
class Modes:
    """Modes of the motion near a state, slowest first; a pair of complex eigenvalues is one mode.

    Attributes
    ----------
    eigenvalues : array (k,)
        λ, 1/s, with a positive imaginary part where they are a pair.
    frequencies : array (k,)
        |λ|, rad/s (not Hz, as those of a rod's `vibrations`), also called `angular_frequencies`: those without damping
        of a damped mode; 0 where the motion does not swing (λ real).
    damping : array (k,)
        −Re λ/|λ|: 1 decays, −1 grows, between them it swings.
    shapes : array (nv, k)
        δq of the mode, complex where the joints do not swing in phase; the greatest component is 1.
    labels : tuple of str
        Names of the rows of `shapes`.
    rigid : int
        Zero eigenvalues: motions that meet no stiffness, cyclic coordinates and their speeds.  Of undamped modes the
        number of their directions, each of which is two zeros.
    by : {"stiffness and mass", "eigenvalues"}
        From the symmetric K and M, or from A of `linearise`.

    Examples
    --------
    A point mass at a distance of 0.5 m swings with √(g/l):

    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> found = mechanics.modes(tree, [0.0])
    >>> bool(np.isclose(found.frequencies[0], (9.81 / 0.5) ** 0.5)), found.rigid, list(found.shape(0))
    (True, 0, ['arm_joint'])
    """

    eigenvalues: NDArray[np.complex128]
    frequencies: Array
    damping: Array
    shapes: NDArray
    labels: tuple[str, ...]
    rigid: int
    by: str

    @property
    def angular_frequencies(self) -> Array:
        """|λ|, rad/s: `frequencies`, by the name that they have at rods, whose `frequencies` are in Hz."""
        return self.frequencies

    def shape(self, mode: int) -> Mapping[str, complex]:
        """A mode by names of joints.

        Parameters
        ----------
        mode : int
            Its number, from 0, slowest first.

        Returns
        -------
        mapping of str to complex
            Name of a velocity → its part.

        Raises
        ------
        IndexError
            No mode has this number.
        """
        count = len(self.frequencies)
        if not isinstance(mode, (int, np.integer)) or not -count <= mode < count:
            raise IndexError(f"mode: {shown(mode)}, of {count} modes, numbered from 0, slowest first")
        return dict(zip(self.labels, self.shapes[:, mode].tolist(), strict=True))

    def __str__(self) -> str:
        """A table: Hz, damping ratio, and the joints that move most."""
        lines = [f"{'Hz':>12} {'damping':>9}  joints", *(self._line(k) for k in range(len(self.frequencies)))]
        return "\n".join([*lines, f"{self.rigid} rigid"])

    def _line(self, k: int) -> str:
        order = np.argsort(-np.abs(self.shapes[:, k]))[:3]
        most = ", ".join(self.labels[i] for i in order if abs(self.shapes[i, k]) > 0.1)
        return f"{self.frequencies[k] / (2 * np.pi):12.6g} {self.damping[k]:9.4f}  {most}"


def modes(model: Tree | Mechanism, state: State, *, tau: ArrayLike | None = None, t: float = 0.0) -> Modes:
    """Modes near an equilibrium or a steady motion.

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
    Modes
        Of a mechanism at rest without damping and wheels, whose forces have a potential, from K x = ω² M x with the
        symmetric stiffness and mass, every ω² to rounding of its parts in K; else from the eigenvalues of A, zeros
        (and their Jordan blocks) taken off before.  About the steady motion next to the state, as in `stability`.

    Raises
    ------
    ModelError
        The state does not persist: v̇ is not zero, with the joint; or its linear motion changes along it; what
        `linearise` raises.

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> print(mechanics.modes(tree, [0.0]))
              Hz   damping  joints
        0.704968    0.0000  arm_joint
    0 rigid
    """
    posed = Posed(model, tau, t)
    near = steady_near(posed, *state_of(posed, state))
    found, by = modes_at_rest(posed, near) or modes_in_motion(near)
    kept = found.values.imag >= 0.0
    return _modes(found.values[kept], found.vectors[:, kept], posed.labels, found.zeros, by)


def modes_in_motion(near: Linearisation) -> tuple[Spectrum, str]:
    """Eigenvalues of A, shapes and zeros, and by what they are."""
    found = eigenvalues(near.A, near.positions)
    return found._replace(vectors=near.shifts @ found.vectors), "eigenvalues"


def modes_at_rest(posed: Posed, near: Linearisation) -> tuple[Spectrum, str] | None:
    """Eigenvalues, shapes, the number of rigid motions (without damping; with it, of zeros) and by what they are, of a
    mechanism at rest without wheels whose forces have a potential; else None.

    From K x = ω² M x, with damping in the coordinates of these modes,

    ω̇ᵢ xᵢ = ωᵢ sᵢ,     ṡᵢ = ∓ωᵢ (ωᵢ xᵢ) − Σ dᵢₖ sₖ,     d = Xᵀ C X,

    in which soft motions keep their digits beside stiff ones: A, in coordinates of joints, has ω² of both.
    """
    q, k = near.q, near.positions
    if not bool(posed.positional.all()) or near.v.any():
        return None
    S, D = near.shifts[:, :k], near.A[k:, k:]
    rest = posed.rest(q)
    held = posed.closing_slope(q, posed.reactions(q, rest.force))
    stiffness, parts = rest.stiffness - held, rest.parts + np.abs(held)
    K, M = S.T @ stiffness @ S, S.T @ dynamics.mass_matrix(posed.tree, q, posed.t) @ S
    if not len(K) or not is_symmetric(K, along(S, parts)):
        return None
    pull = M @ near.A[k:, :k] + K
    if np.abs(pull).max() > ASYMMETRIC * (np.abs(K).max() + along(S, parts).max()):
        return None
    squares, X = _pairs(0.5 * (K + K.T), M)
    floor = np.maximum(HIDDEN**2 * np.abs(squares).max(initial=0.0), RIGID * along(S @ X, parts))
    squares[np.abs(squares) <= floor] = 0.0
    rigid, omega = int((squares == 0.0).sum()), np.sqrt(np.abs(squares))
    if np.abs(D).max(initial=0.0) > 1e-13 * frequencies(near.A, k)[-1:].max(initial=1.0):
        W = np.diag(omega)[squares != 0.0]
        B = np.block([[np.zeros((len(W), len(W))), W], [-(W * np.sign(squares)).T, X.T @ M @ D @ X]])
        values, vectors, zeros, noise = staircase(B)
        losses = np.abs(X).T @ (np.abs(M) @ np.abs(D)) @ np.abs(X)
        creeping, slow = _creeping(omega, np.sign(squares), X.T @ M @ D @ X, losses, zeros)
        values, vectors, zeros = np.r_[values, creeping], np.hstack([vectors, slow]), zeros - len(creeping)
        meet = (values.imag != 0.0) & (values.real > 0.0)
        alone = SEPARATE * np.abs(values).max(initial=0.0)
        noise = np.r_[noise, np.full(len(creeping), alone)]
        noise = np.where(meet, noise, np.minimum(noise, alone))
        return Spectrum(values, S @ X @ (vectors[len(W) :] / values), zeros + rigid, noise), "eigenvalues"
    # λ² = −ω²: of a negative stiffness both real ones, that which grows and that which decays
    swings, falls = squares > 0.0, squares < 0.0
    values = np.concatenate([1j * omega[swings], omega[falls], -omega[falls]])
    shapes = S @ np.hstack([X[:, swings], X[:, falls], X[:, falls]])
    return Spectrum(values, shapes, rigid, np.zeros(len(values))), "stiffness and mass"


def _creeping(omega: Array, signs: Array, D: Array, losses: Array, zeros: int) -> tuple[NDArray, NDArray]:
    """Eigenvalues and vectors (ωx, s) of motions that strong dampers slow down so far that a staircase has counted them
    among its `zeros`: the greatest of the inverse.  Zeros are rigid motions without damping, and nothing else; `losses`
    are the parts of D before they cancel.
    """
    held, free = signs != 0.0, np.flatnonzero(signs == 0.0)
    turn, sizes, _ = np.linalg.svd(D[np.ix_(free, free)])
    turn = turn[:, sizes > LOSSLESS * along(turn, losses[np.ix_(free, free)])]
    lost, k, n = zeros - (len(free) - turn.shape[1]), int(held.sum()), len(omega)
    if lost <= 0:
        return np.zeros(0), np.zeros((k + n, 0))
    basis = np.zeros((n, turn.shape[1]))
    basis[free] = turn  # rigid motions with damping
    speeds = np.zeros((n, 2 * k + basis.shape[1]))  # s of (a, b) in ω s = a, ∓ω (ωx) + D s = b
    speeds[held, :k] = np.diag(1.0 / omega[held])
    wanted = np.hstack([-basis.T @ D @ speeds[:, : 2 * k], np.eye(basis.shape[1])])
    damped = np.linalg.solve(basis.T @ D @ basis, wanted)
    speeds += basis @ damped
    places = ((D @ speeds)[held] - np.eye(len(speeds.T))[k : 2 * k]) / (signs * omega)[held, None]
    found, y = np.linalg.eig(np.vstack([places, speeds[held], damped]))
    slowest = np.argsort(-np.abs(found))[:lost]
    y = y[:, slowest]
    shapes = basis @ y[2 * k :]
    shapes = shapes.astype(y.dtype)
    shapes[held] = y[k : 2 * k]
    return 1.0 / found[slowest], np.vstack([y[:k], shapes])


def _pairs(K: Array, M: Array) -> tuple[Array, Array]:
    """K x = ω² M x, xᵀ M x = 1: soft motions beside stiff ones once more among themselves.

    Their vectors are right to rounding, their ω² only to rounding of the greatest; the stiffness among them, Xᵀ K X,
    knows nothing of the stiff ones.
    """
    import scipy.linalg  # slow to import

    squares, vectors = scipy.linalg.eigh(K, M)
    soft = np.abs(squares) < SOFT * np.abs(squares).max()
    if soft.any():
        X = vectors[:, soft]
        inner = X.T @ K @ X
        squares[soft], y = _pairs(0.5 * (inner + inner.T), X.T @ M @ X)
        vectors[:, soft] = X @ y
    return squares, vectors


def _modes(values: NDArray, shapes: NDArray, labels: tuple[str, ...], rigid: int, by: str) -> Modes:
    order = np.argsort(np.abs(values), kind="stable")
    values, shapes = np.asarray(values, dtype=np.complex128)[order], shapes[:, order]
    largest = shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])] if shapes.size else np.ones(0)
    sizes = np.abs(values)
    swinging = np.where(values.imag != 0.0, sizes, 0.0)
    shapes = shapes / np.where(largest == 0.0, 1.0, largest)
    return Modes(values, swinging, 0.0 - values.real / sizes, shapes, labels, rigid, by)
