"""Where a rod rests under its loads: Newton's method with a band of eleven diagonals on either side, in load steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import se3
from liegroup.arrays import integer, of_kind, real, reals
from mechanics.elastic.rods import assembly
from mechanics.elastic.rods.rod import Rod, refuse_turns
from mechanics.errors import ModelError

Array = NDArray[np.float64]
ITERATIONS = 25
"""Of Newton's method in a part of the load, before the part is halved."""
FURTHEST = 3.0
"""rad: an element that turns further on the way has lost it."""
SMALLEST = 2.0**-12
"""Part of the load: a step that must be smaller is a failure."""
LARGEST_TURN = 1.0
"""rad: an iteration does not turn an element, or a node, further."""
KEPT, CORRECTIONS = 1e-13, 200
"""Strains that a rod keeps, where it rests; corrections of their stresses."""
_STILL, _UNASKED = 1e-12, 1e-3
"""ε, where motions that nothing holds are not made; part of the forces that it may leave in an iteration."""
_CLOSE = 1e-5
"""Increments, in rad and in lengths of an element, that fall by more than half, unless rounding makes them."""


class RodError(ModelError):
    """A rod whose equilibrium is not found; `poses` is where the search ended, `load` the part of the load that is
    balanced there.

    Examples
    --------
    >>> from mechanics.elastic.rods import Load, Rod, RodError, Section, equilibrium
    >>> section = Section.round(0.01, 1e7, density=1000.0)
    >>> try:
    ...     equilibrium(Rod.straight(1.0, 4, section, loads=[Load(0, force=(1.0, 0.0, 0.0))]))
    ... except RodError as error:
    ...     print(error.load)
    0.0
    """

    def __init__(self, where: str, problem: str, remedy: str, poses: Array, load: float) -> None:
        super().__init__(where, problem, remedy)
        self.poses, self.load = poses, load


@dataclass(frozen=True, eq=False)
class RodEquilibrium:
    """A state of rest.

    Attributes
    ----------
    poses : array (n + 1, 7)
        Of the nodes, m.
    strains : array (n, 6)
        e of the elements: stretch and shears, twist and curvatures (rad/m), without those of the start.
    stresses : array (n, 6)
        C e: forces (N) and moments (N·m) in the section.
    reactions : dict of int to array (6,)
        Body wrenches of the supports on the rod, by node, N and N·m.
    energy : float
        Elastic, J.
    residual : float
        Greatest force or moment that is left at a node that is not held, N, N·m.
    iterations, load_steps : int

    Examples
    --------
    See `equilibrium`.
    """

    poses: Array
    strains: Array
    stresses: Array
    reactions: dict[int, Array]
    energy: float
    residual: float
    iterations: int
    load_steps: int


def equilibrium(rod: Rod, guess: ArrayLike | None = None, *, t: float = 0.0, load_steps: int = 1) -> RodEquilibrium:
    """Poses in which all forces on the free nodes balance.

    Parameters
    ----------
    rod : Rod
        With supports, loads and gravity.
    guess : array (n + 1, 7), optional
        Poses to start from, m; default those without stress.  Supports hold their nodes where the guess has them.
    t : float
        The time at which loads are taken, s.
    load_steps : int
        Equal parts in which the load is applied; a part that fails is halved.

    Returns
    -------
    RodEquilibrium
        *An* equilibrium: a column that could buckle may be found straight.

    Raises
    ------
    RodError
        Nothing holds the rod, or none is found: the load that is balanced, the greatest force that is left, the node.
    ModelError
        An element turns by more than 2.5 rad.
    ValueError, TypeError
        Other arguments, by name.

    Notes
    -----
    Newton's method with the exact derivative, in time linear in the number of elements.  Rods held at one node go on by
    the strains: with δX = dτ_left⁻¹ (η_b − Ad_f⁻¹ η_a) the relative poses become τ(X + δX), and the nodes follow.  The
    elastic energy is quadratic in X, so that this converges where increments of the nodes do not (thin rods); with more
    supports every node moves by its own increment, and steps that leave more force are halved.  What neither supports
    nor forces hold stays where the guess has it: the turn of a straight rod about the line of its pins.

    References
    ----------
    Simo and Vu-Quoc 1986 (the equations); Sonneville, Cardona and Brüls 2014 (the element).

    Examples
    --------
    The tip of a slender cantilever under a small force moves by F L³/(3 EI):

    >>> from mechanics.elastic.rods import Load, Rod, Section, equilibrium
    >>> section = Section.round(0.001, 2.1e11, density=7850.0)
    >>> rod = Rod.straight(1.0, 20, section, supports={0: "clamped"}, loads=[Load(-1, (0.0, 0.0, 1e-3))])
    >>> found = equilibrium(rod)
    >>> round(float(found.poses[-1, 2]) / (1e-3 / (3 * section.EI2)), 3)
    0.999
    >>> round(float(found.reactions[0][2]), 9)
    -0.001
    """
    of_kind(rod, Rod, "rod", "a mechanics.elastic.rods.Rod")
    parts, at = integer(load_steps, "load_steps", 1), real(t, "t")
    search = _Search(rod, rod.wrenches(at))
    poses = search.start(guess)
    done, part, steps, iterations = 0.0, 1.0 / parts, 0, 0
    while done < 1.0:
        share = min(part, 1.0 - done)
        target = 1.0 if done + share > 1.0 - 1e-9 else done + share
        found, used, balanced = search.newton(poses, target)
        iterations += used
        if balanced:
            poses, done, steps = found, target, steps + 1
        elif part * 0.5 >= SMALLEST:
            part *= 0.5
        elif not search.still:
            search.still, part = True, 1.0 / parts
        else:
            raise search.failure(poses, done)
    poses, used = search.keep(poses)
    return search.described(poses, iterations + used, steps)


class _Search:
    """Newton's method for one rod."""

    def __init__(self, rod: Rod, loads: Array) -> None:
        self.rod, self.loads, self.elements = rod, loads, rod.elements.copy()
        root = next(iter(rod.supports)) if len(rod.supports) == 1 else -1
        self.options = np.array([rod.strain == "cayley", root], dtype=np.int64)
        self.held = rod.held.ravel()
        self.scale = np.where(np.arange(6) < 3, float(self.elements[:, 0].min()), 1.0)
        self.still = False
        """Whether motions that nothing holds are not made."""

    def start(self, guess: ArrayLike | None) -> Array:
        wanted = np.asarray(self.rod.poses)
        poses = wanted.copy() if guess is None else reals(guess, "guess", f"an array {wanted.shape}")
        if poses.shape != wanted.shape:
            raise ValueError(f"guess: shape {poses.shape}, expected {wanted.shape}, a pose per node")
        se3.check(poses, "guess")
        refuse_turns(self.rod.turns(poses))
        return poses

    def balance(self, poses: Array, part: float) -> tuple[Array, Array, float]:
        """Wrenches on the nodes, of the elements on their first nodes, elastic energy."""
        n = len(self.elements)
        forces, of_elements, totals = np.zeros((n + 1, 6)), np.zeros((n, 6)), np.zeros(1)
        assembly.balance.compiled(poses, self.elements, part * self.loads, self.options, forces, of_elements, totals)
        return forces, of_elements, float(totals[0])

    def newton(self, poses: Array, part: float) -> tuple[Array, int, bool]:
        """The poses that balance a part of the load, iterations, and whether they were found."""
        last = np.inf
        forces = self.balance(poses, part)[0]
        for iteration in range(1, ITERATIONS + 1):
            increments = self.increments(poses, forces, part)
            if increments is None:
                return poses, iteration, False
            size = float(np.abs(increments / self.scale).max())
            if (size < _CLOSE and size > 0.5 * last) or size == 0.0:
                return poses, iteration, True
            trial, forces_there, size = self.step(poses, increments, forces, part)
            if trial is None or not np.isfinite(forces_there).all() or self.rod.turns(trial).max() > FURTHEST:
                return poses, iteration, False
            poses, forces, last = trial, forces_there, size
        return poses, ITERATIONS, False

    def increments(self, poses: Array, forces: Array, part: float) -> Array | None:
        """K⁻¹ forces, or None where K is singular.

        With `still`, (K + ε diag K)⁻¹ forces, in which motions that nothing holds, and no force asks for, are rounding;
        or None where a force asks for one: there ε diag K x is of its size.
        """
        from scipy.linalg import LinAlgError, solve_banded

        b, N = assembly.BAND, forces.size
        band = np.zeros((2 * b + 1, N))
        assembly.band_of_stiffness.compiled(poses, self.elements, part * self.loads, self.options, band)
        hold(band, self.held)
        wanted, scale = np.where(self.held, 0.0, forces.ravel()), np.tile(self.scale, len(forces))
        added = (_STILL if self.still else 0.0) * np.abs(band[b])
        band[b] += added
        try:
            x = solve_banded((b, b), band, wanted, overwrite_ab=True)
        except (LinAlgError, ValueError):
            return None
        is_asked = np.abs(scale * added * x).max() > _UNASKED * np.abs(scale * wanted).max()
        return x.reshape(-1, 6) if np.abs(x).max() < 1e12 and not is_asked else None

    def keep(self, poses: Array) -> tuple[Array, int]:
        """The poses at which the strains that are rigid are kept, and iterations.

        The stress is C (e − e₀'), and e₀' is moved by what is left of e: Uzawa's method with the stiffness of the
        section, which settles the sooner the stiffer it is.
        """
        kept, total, last = [7 + c for c in self.rod.kept], 0, np.inf
        for _ in range(CORRECTIONS if kept else 0):
            left = self.strains(poses)[:, self.rod.kept]
            size = float(np.abs(left).max())
            if size < KEPT or (size < 1e3 * KEPT and size > 0.5 * last):
                return poses, total
            self.elements[:, kept] -= left
            found, used, balanced = self.newton(poses, 1.0)
            total += used
            if not balanced:
                raise self.failure(poses, 1.0)
            poses, last = found, size
        if kept:
            raise RodError(
                "equilibrium of a rod", f"strains that it keeps are {last:.3g} after {CORRECTIONS} corrections",
                f"give its sections more stiffness against {' and '.join(self.rod.rigid)}", poses, 1.0,
            )  # fmt: skip
        return poses, total

    def strains(self, poses: Array) -> Array:
        """e (n, 6) of the elements."""
        relative = se3.compose(se3.inverse(poses[:-1]), poses[1:])
        X = se3.cay_inverse(relative) if self.options[0] else se3.log(relative)
        return np.asarray(X / self.elements[:, :1] - self.rod.elements[:, 7:])

    def step(self, poses: Array, increments: Array, forces: Array, part: float) -> tuple[Array | None, Array, float]:
        """The next poses, the forces there, and the size of the step."""
        changes, out = np.zeros((len(self.elements), 6)), np.zeros_like(poses)
        assembly.strain_changes.compiled(poses, self.elements, self.options, increments, changes)
        by_strains = self.options[1] >= 0
        turned = changes if by_strains else increments
        factor = min(1.0, LARGEST_TURN / max(float(np.linalg.norm(turned[:, 3:], axis=1).max()), 1e-300))
        free = ~self.held
        now = float(np.linalg.norm(forces.ravel()[free]))
        for _ in range(1 if by_strains else 12):
            assembly.moved.compiled(poses, self.options, increments, changes, factor, out)
            there = self.balance(out, part)[0]
            size = factor * float(np.abs(increments / self.scale).max())
            if by_strains or size < 1e-3 or np.linalg.norm(there.ravel()[free]) < (1.0 + 9.0 * factor) * now:
                return out, there, size
            factor *= 0.5
        return None, forces, 0.0

    def failure(self, poses: Array, done: float) -> RodError:
        forces = np.where(self.held, 0.0, self.balance(poses, 1.0)[0].ravel()).reshape(-1, 6)
        node = int(np.argmax(np.abs(forces).max(axis=1)))
        force, moment = np.linalg.norm(forces[node, :3]), np.linalg.norm(forces[node, 3:])
        return RodError(
            "equilibrium of a rod",
            f"is not found beyond {done:.4g} of the load: {force:.4g} N and {moment:.4g} N·m are left at node {node}",
            "give the supports that hold it, more load_steps, a nearer guess, or more elements",
            poses,
            done,
        )

    def described(self, poses: Array, iterations: int, steps: int) -> RodEquilibrium:
        refuse_turns(self.rod.turns(poses))
        forces, _, energy = self.balance(poses, 1.0)
        strains = self.strains(poses)
        return RodEquilibrium(
            poses,
            strains,
            self.elements[:, 1:7] * (strains + (self.rod.elements[:, 7:] - self.elements[:, 7:])),
            {node: np.where(self.rod.held[node], -forces[node], 0.0) for node in self.rod.supports},
            energy,
            float(np.abs(forces.ravel()[~self.held]).max(initial=0.0)),
            iterations,
            steps,
        )


def hold(band: Array, held: NDArray[np.bool_]) -> None:
    """Rows and columns of unknowns that are held become those of the unit matrix."""
    b, N = assembly.BAND, band.shape[1]
    for j in np.flatnonzero(held).tolist():
        band[:, j] = 0.0
        columns = np.arange(max(0, j - b), min(N, j + b + 1))
        band[b + j - columns, columns] = 0.0
        band[b, j] = 1.0
