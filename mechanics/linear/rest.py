"""Where a mechanism is at rest: Newton's method on the forces, what holds it, and whether it stays there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.table import EXP, increment
from mechanics import dynamics
from mechanics.constraints.assembly import LONGEST_STEP, AssemblyError, assemble, moved_by, size_of
from mechanics.errors import ModelError
from mechanics.forces.compliant import check_ends
from mechanics.linear.posed import Posed, along, is_symmetric
from mechanics.linear.spectrum import eigenvalues
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
ITERATIONS = 300
NEAR = 30
"""Steps of Newton's method, which finds near equilibria, before it goes downhill."""
ZERO = 1e-9
"""Forces, relative to their parts, that count as balanced; and stiffnesses, relative to the greatest, as none."""
NOTHING = 1e-12
"""Stiffnesses, relative to their parts, by which no step is taken."""
POLISHED = 3
"""Steps that are taken after the forces count as balanced."""
LOCKED = 1e-6
"""Part of its own inertia that every direction counts more while an equilibrium is looked for: where a joint locks
(the angles of a gimbal), directions that move no inertia would become arbitrarily long.
"""
SINGULAR = 1e-12
"""Inertia of a direction, relative to those of its joints, that is none."""
FARTHEST = 1e4
"""Sizes of the mechanism that one step may go, at the end of a long way."""
WALK = 0.05
"""rad, or m: how far the directions without stiffness are followed, to see whether forces stay balanced."""
_EPS = float(np.finfo(np.float64).eps)


class EquilibriumError(ModelError):
    """No equilibrium, or a singular one; `q` is the configuration that was reached.

    Examples
    --------
    See `equilibrium`; nothing holds a body that falls:

    >>> from mechanics import Body, Inertia, Tree, joints
    >>> body = Body("stone", joints.Prismatic((0.0, 0.0, 1.0)), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))
    >>> from mechanics.linear import equilibrium
    >>> try:
    ...     equilibrium(Tree([body]))
    ... except EquilibriumError as error:
    ...     print(error.q.shape)
    (1,)
    """

    def __init__(self, where: str, problem: str, remedy: str, q: Array) -> None:
        super().__init__(where, problem, remedy)
        self.q = q


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """A configuration in which all forces balance.

    Attributes
    ----------
    q : array (nq,)
        The configuration, closed.
    reactions : mapping of str to float
        λ of every closure equation by name, N or N·m; of dependent equations those of least norm.
    stiffness : array (dof,)
        Eigenvalues of the stiffness over the mass, 1/s², ascending: squares of the frequencies of the motion about it
        without damping.
    stability : {"stable", "neutral", "unstable"}
        The potential energy has a minimum (all of them positive), is flat in some direction, or falls in one.  Where
        forces have no potential (thrusts that turn with a body): all of them are real and positive and no motion grows,
        with the dampers that there are, or not.
    free : tuple of str
        For every direction without stiffness, along which forces stay balanced, the joints that move in it.
    falling : tuple of str
        For every direction of negative stiffness, or else every motion that swings and grows, the same.
    iterations : int
    residual : float
        Greatest unbalanced force, N or N·m, of the directions that closures leave free.

    Examples
    --------
    See `equilibrium`.
    """

    q: Array
    reactions: Mapping[str, float]
    stiffness: Array
    stability: str
    free: tuple[str, ...]
    falling: tuple[str, ...]
    iterations: int
    residual: float


def equilibrium(
    model: Tree | Mechanism,
    guess: ArrayLike | None = None,
    *,
    tau: ArrayLike | None = None,
    t: float = 0.0,
    stable: bool = False,
) -> Equilibrium:
    """A configuration near a guess in which the mechanism can rest: b(q, 0) = τ + forces of elements + G(q)ᵀλ.

    Parameters
    ----------
    model : Tree or Mechanism
        With gravity, force elements and closures; on wheels it is held where it stands across and along them.
    guess : array (nq,), optional
        rad and m; default the neutral configuration, or `home`; closed first where it is open.
    tau : array (nv,), optional
        Constant joint forces, N·m and N.
    t : float
        The time, s, at which drives are looked at, as if they stood still there.
    stable : bool
        Go downhill in the potential energy from the beginning; an equilibrium that is not stable is then an error.

    Returns
    -------
    Equilibrium
        *An* equilibrium: Newton's method takes hanging and upright pendulums alike.  Directions without stiffness in
        which forces stay balanced (turns about the vertical, floating bodies without weight) are left where the guess
        has them, and named.

    Raises
    ------
    EquilibriumError
        Nothing holds the mechanism, or none is found: the greatest force that is left, and the joint; one in which a
        motion moves no inertia (the lock of a gimbal), with its joints; a singular
        equilibrium (a direction without stiffness along which forces do not stay balanced, as at the load under which
        a column buckles), with its joints; with `stable`, negative stiffness, with its joints.
    ModelError
        Prescribed motions in the tree, a singular position of the closures, closures that do not close.

    Notes
    -----
    Newton's method in directions that closures leave free, in which the mass matrix is one; the derivative is exact.
    Steps turn joints by 0.7 rad at most and are as long as the mechanism is large, or as the way that it has come.
    They are shortened until the next one would be shorter (Deuflhard's natural test, which stiff springs do not
    change), or else damped as in Levenberg and Marquardt's method; after each the closures are closed.  Where that
    finds none, and with `stable`, stiffnesses are taken positive and steps end before the forces turn round: downhill.
    Source: Deuflhard 2004 (natural monotonicity).

    References
    ----------
    Deuflhard 2004 (natural monotonicity).

    Examples
    --------
    >>> import mechanics
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bob = Inertia.point(2.0, (0.0, 0.0, -0.5))
    >>> tree = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=bob)])
    >>> found = mechanics.equilibrium(tree, [0.5])
    >>> found.stability, bool(abs(found.q[0]) < 1e-12), found.stiffness.round(6).tolist()
    ('stable', True, [19.62])
    """
    posed = Posed(model, tau, t)
    if posed.tree.is_rheonomic:
        moved = [b.joint_name for b in posed.tree.bodies if b.joint.is_rheonomic]
        raise ModelError(f"joint {moved[0]!r}", "has a prescribed motion, so that nothing rests", "put it into a drive")
    search = _Search(posed)
    start = _start(posed, guess)
    if stable:
        q, iterations = search.run(start, search.descent)
    else:
        q, iterations = _either(search, start)
    return _described(posed, search, q, iterations, stable)


def _either(search: _Search, start: Array) -> tuple[Array, int]:
    """Newton's method from the start, or else downhill from there."""
    try:
        q, iterations = search.run(start, search.newton, NEAR)
        _check_moves(search.posed, q)
        return q, iterations
    except EquilibriumError as none:
        try:
            return search.run(start, search.descent)
        except EquilibriumError:
            first = search.balance(start)
            raise (search.none(start, first) if _is_loose(first) else none) from None


def _start(posed: Posed, guess: ArrayLike | None) -> Array:
    made = posed.mechanism
    if made is None:
        return np.array(posed.tree.neutral()) if guess is None else posed.start(guess, None)[0]
    q = np.array(made.home) if guess is None else made.assemble(np.asarray(guess, dtype=np.float64)).q
    check_ends(made.elements, posed.tree.body_names, partial(dynamics.body_poses, posed.tree, q, t=posed.t))
    return q


@dataclass(frozen=True)
class _Balance:
    """Forces in the directions that closures leave free, W; scales Wᵀ M W scales = 1, and along each the parts of the
    stiffness add up to 1, so that soft and light joints count beside stiff and heavy ones.
    """

    W: Array
    force: Array
    stiffness: Array
    size: float
    reactions: Array
    unreduced: Array
    scales: Array
    parts: Array

    @property
    def norm(self) -> float:
        return float(np.linalg.norm(self.force))


Way = Callable[[Array, _Balance, float], tuple[Array, _Balance] | None]
"""A step from a configuration, of at most `LONGEST_STEP`, rad or so many times a length, m."""


class _Search:
    """Newton's method."""

    def __init__(self, posed: Posed) -> None:
        self.posed = posed
        self.size = posed.size
        self.slides = np.array([unit == "m" for unit in posed.units], dtype=bool)

    def balance(self, q: Array, locked: float = LOCKED) -> _Balance:
        posed = self.posed
        rest, S = posed.rest(q), posed.free_velocities(q)
        mass = S.T @ dynamics.mass_matrix(posed.tree, q, posed.t) @ S
        mass += np.diag(locked * _own(mass))
        W = S @ np.linalg.inv(np.linalg.cholesky(mass)).T if S.shape[1] else S
        reactions = posed.reactions(q, rest.force)
        slope = posed.closing_slope(q, reactions)
        held = np.abs(posed.closing_matrix(q).T) @ np.abs(reactions)
        # the whole weight in each joint: one ruler for all of them while an equilibrium is looked for
        parts = rest.parts + np.abs(slope) + np.diag(posed.beside / posed.lengths)
        sizes = rest.size + held + posed.beside
        scales = np.sqrt(along(W, parts))
        largest = float(scales.max(initial=0.0))
        scales = np.where(scales > 1e-12 * largest, scales, largest or 1.0)  # smaller ones are rounding
        W = W / scales
        size, stiffness = float(np.linalg.norm(np.abs(W).T @ sizes)), W.T @ (rest.stiffness - slope) @ W
        return _Balance(W, W.T @ rest.force, stiffness, size, reactions, rest.force, scales, parts)

    def run(self, q: Array, way: Way, most: int = ITERATIONS) -> tuple[Array, int]:
        """The configuration, and how many steps it took."""
        start, now, polished = q, self.balance(q), 0
        for iteration in range(most):
            polished += now.norm <= ZERO * now.size
            if now.norm <= 4 * _EPS * now.size or polished > POLISHED:
                return q, iteration
            step = way(q, now, min(max(self.size, self._gone(start, q)), FARTHEST * self.size))
            if step is None:
                if now.norm <= ZERO * now.size:
                    return q, iteration
                raise self.none(q, now)
            q, now = step
        if now.norm <= ZERO * now.size:
            return q, most
        raise self.none(q, now, f"{most} steps were not enough")

    def _gone(self, start: Array, q: Array) -> float:
        """How far slides have come, m: steps may become as long, so that the unit of length matters nothing."""
        way = np.zeros(self.posed.tree.nv)
        increment(self.posed.tree.group.table, EXP, start, q, way)
        return float(np.abs(way[self.slides]).max(initial=0.0))

    def _longest(self, d: Array, length: float) -> float:
        """The part of a step, at most all of it, that is not too long."""
        return min(1.0, LONGEST_STEP / float(np.abs(d / np.where(self.slides, length, 1.0)).max()))

    def newton(self, q: Array, now: _Balance, length: float) -> tuple[Array, _Balance] | None:
        """The next configuration, from which less is left to go; None if there is none."""
        for damping in (0.0, 1e-8, 1e-4, 1e-2, 1.0):
            solve = _solver(now.stiffness, damping)
            x = -solve(now.force)
            d = now.W @ x
            if not np.abs(d).max(initial=0.0) > 0.0:
                continue
            factor = self._longest(d, length)
            for _ in range(10):
                trial = self._closed(moved_by(self.posed.tree, q, factor * d))
                if trial is not None:
                    left = self._force_at(trial, now.W)
                    less = np.linalg.norm(solve(left)) < (1.0 - 0.25 * factor) * np.linalg.norm(x)
                    if less if damping == 0.0 else np.linalg.norm(left) < (1.0 - 1e-4 * factor) * now.norm:
                        return trial, self.balance(trial)
                if now.norm <= ZERO * now.size:
                    return None
                factor *= 0.5
        return None

    def descent(self, q: Array, now: _Balance, length: float) -> tuple[Array, _Balance] | None:
        """The next configuration downhill, by Newton's step with all stiffnesses taken positive."""
        values, vectors = np.linalg.eigh(0.5 * (now.stiffness + now.stiffness.T))
        sizes = np.maximum(np.abs(values), NOTHING)
        x = -(vectors @ ((vectors.T @ now.force) / sizes))
        d = now.W @ x
        if not np.abs(d).max(initial=0.0) > 0.0:
            return None
        factor = self._longest(d, length)
        slope = float(now.unreduced @ d)
        for _ in range(30):
            trial = self._closed(moved_by(self.posed.tree, q, factor * d))
            if trial is not None:
                there = self.balance(trial)
                if float(self._force_at(trial, now.W) @ x) <= -0.5 * slope:
                    return trial, there
            factor *= 0.5
        return None

    def _force_at(self, q: Array, W: Array) -> Array:
        """The forces at another configuration, in the directions nearest to those of this one; slides count in sizes of
        the mechanism.
        """
        lengths = self.posed.lengths
        Q, _ = np.linalg.qr(self.posed.free_velocities(q) / lengths[:, None])
        return np.asarray((W / lengths[:, None]).T @ (Q @ (Q.T @ (lengths * self.posed.force(q)))))

    def _closed(self, q: Array) -> Array | None:
        if self.posed.equations is None:
            return q
        try:
            return assemble(self.posed.tree, (), q, (), self.posed.equations).q
        except AssemblyError:
            return None

    def none(self, q: Array, now: _Balance, why: str = "forces do not become smaller near there") -> EquilibriumError:
        tree = self.posed.tree
        left = now.unreduced - self.posed.closing_matrix(q).T @ now.reactions
        k = int(np.argmax(np.abs(left)))
        body = tree.bodies[int(np.searchsorted(tree.v_offsets, k, side="right")) - 1]
        unit = "N·m" if self.posed.units[k] == "rad" else "N"
        why = "nothing holds it" if _is_loose(now) else why
        return EquilibriumError(
            f"equilibrium of {self.posed.name!r}",
            f"is not found: {left[k]:.4g} {unit} are left at joint {body.joint_name!r}; {why}",
            "give a nearer guess, or the springs, closures or joint forces (tau) that hold it",
            q,
        )


def _own(mass: Array) -> Array:
    """The inertia of every direction by itself; of those that move none, next to none."""
    own = np.diag(mass)
    return np.asarray(np.maximum(own, SINGULAR * own.max(initial=0.0)))


def _is_loose(now: _Balance) -> bool:
    """Whether most of the force is where no motion changes it."""
    u, stiffness, _ = np.linalg.svd(now.stiffness)
    loose = u[:, stiffness <= ZERO]
    return float(np.linalg.norm(loose.T @ now.force)) > 0.5 * now.norm


def _solver(K: Array, damping: float) -> Callable[[Array], Array]:
    """r → K⁺ r by singular values that are not nothing; with damping μ, (KᵀK + μ²)⁻¹ Kᵀ r."""
    u, s, w = np.linalg.svd(K)
    factor = s / (s**2 + damping**2) if damping else np.where(s > NOTHING, 1.0 / np.maximum(s, NOTHING), 0.0)
    return lambda r: np.asarray(w.T @ (factor * (u.T @ r)))


# --- what was found ---------------------------------------------------------------------------------------------------


def _described(posed: Posed, search: _Search, q: Array, iterations: int, stable: bool) -> Equilibrium:
    posed.refuse_singular(q)
    _check_moves(posed, q)
    now, mass = search.balance(q, 0.0), dynamics.mass_matrix(posed.tree, q, posed.t)
    values, shapes, noise = _principal(now, posed)
    floor = np.maximum(ZERO * along(shapes, now.parts), noise)
    flat, down = np.abs(values) <= floor, values < -floor
    if flat.any() and not _stays(search, q, shapes[:, flat].real):
        names = "; ".join(posed.moving(x, mass) for x in shapes[:, flat].T)
        raise EquilibriumError(
            f"equilibrium of {posed.name!r}",
            f"is singular: no stiffness against motions of {names}, along which forces do not stay balanced",
            "change the load or the springs a little, or start elsewhere",
            q,
        )
    falling = tuple(posed.moving(x, mass) for x in shapes[:, down].T)
    if not falling:
        falling = tuple(posed.moving(x, mass) for x in _growing(now, posed, q, mass).T)
        if stable and falling:
            raise EquilibriumError(
                f"equilibrium of {posed.name!r}",
                f"has forces without a potential and dampers, with which motions of {falling[0]} swing and grow",
                "take other dampers, or less of these forces",
                q,
            )
    elif stable:
        raise EquilibriumError(
            f"equilibrium of {posed.name!r}",
            f"has negative stiffness, {values[down].min():.4g} 1/s² per mass: it falls by motions of {falling[0]}",
            "start from a guess that has fallen, or add stiffness there",
            q,
        )
    equations = posed.equations.names if posed.equations else ()
    left = posed.rest(q).force - posed.closing_matrix(q).T @ now.reactions
    S = posed.free_velocities(q)
    return Equilibrium(
        q,
        dict(zip(equations, now.reactions.tolist(), strict=True)),
        values,
        "unstable" if falling else "neutral" if flat.any() else "stable",
        tuple(posed.moving(x, mass) for x in shapes[:, flat].T),
        falling,
        iterations,
        float(np.abs(S @ (S.T @ left)).max(initial=0.0)),
    )


def _check_moves(posed: Posed, q: Array) -> None:
    """Raise where a direction moves no inertia: forces may balance there that elsewhere would not, since what they do
    about an axis that a gimbal has lost is not among them, and stiffness over mass is nothing.
    """
    S, mass = posed.free_velocities(q), dynamics.mass_matrix(posed.tree, q, posed.t)
    if S.shape[1] == 0:
        return
    M = S.T @ mass @ S
    size = np.sqrt(_own(M))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < SINGULAR:
        raise EquilibriumError(
            f"equilibrium of {posed.name!r}",
            f"has a singular mass matrix: motions of {posed.moving(S @ (vectors[:, 0] / size), mass)} move no inertia "
            "there (as at the lock of a gimbal)",
            "start elsewhere, or use a joint without singularities (Spherical)",
            q,
        )


def _principal(now: _Balance, posed: Posed) -> tuple[Array, NDArray, Array]:
    """Eigenvalues of the stiffness over the mass, ascending, velocities of the tree along its eigenvectors, and what
    rounding of the stiffness makes of an eigenvalue; symmetric unless wheels restrict velocities only, or forces have
    no potential.
    """

    def noise(vectors: NDArray) -> Array:
        return np.asarray(100 * _EPS * (now.scales @ np.abs(vectors)) ** 2)

    W, K = now.W * now.scales, now.scales[:, None] * now.stiffness * now.scales
    if posed.positional.all() and is_symmetric(now.stiffness, np.ones(len(K))):
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        return values, W @ vectors, noise(vectors)
    found, vectors = np.linalg.eig(K)
    # a pair that is not real swings and grows: it counts as falling, by as much as it turns
    values = np.where(np.abs(found.imag) > 1e-9 * np.abs(found), -np.abs(found), found.real)
    order = np.argsort(values)
    return values[order], W @ vectors[:, order], noise(vectors[:, order])


def _growing(now: _Balance, posed: Posed, q: Array, mass: Array) -> NDArray:
    """Velocities of the tree in motions that swing and grow, where forces have no potential: with dampers they may
    where without they do not (Ziegler 1952).
    """
    W, K, n = now.W * now.scales, now.scales[:, None] * now.stiffness * now.scales, len(now.stiffness)
    if not posed.positional.all() or is_symmetric(now.stiffness, np.ones(n)):
        return np.zeros((len(mass), 0))
    D = W.T @ mass @ posed.acceleration(q, np.zeros(len(mass)), np.zeros_like(W), W)[1]
    values, vectors, _, noise = eigenvalues(np.block([[np.zeros((n, n)), np.eye(n)], [-K, D]]), n)
    return np.asarray(W @ vectors[:n, (values.real > noise) & (values.imag >= 0.0)])


def _stays(search: _Search, q: Array, flat: Array) -> bool:
    """Whether Newton's method, a little way along every flat direction, finds an equilibrium there and not here; or the
    way downhill, where that little way leaves what holds the mechanism (a stiff ground that is only just touched).
    """
    tree, size = search.posed.tree, size_of(search.posed.tree)
    for d in flat.T:
        length = WALK * min(1.0, size) / float(np.abs(d).max())
        trial = search._closed(moved_by(tree, q, length * d))
        if trial is None:
            return False
        try:
            found, _ = _either(search, trial)
        except EquilibriumError:
            return False
        change = np.zeros(tree.nv)
        increment(tree.group.table, EXP, q, found, change)
        if not 0.5 < abs(float(change @ d)) / (length * float(d @ d)) < 2.0:
            return False
    return True
