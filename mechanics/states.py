"""States given by users, checked, and kernels on batches of them: what the public functions of trees share."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, reals
from liegroup.compile import Entry
from liegroup.modules import listing
from mechanics.algorithms import batch
from mechanics.algorithms import momentum as momentum_kernels
from mechanics.closed_trees.packing import PackedLoops
from mechanics.model.packing import Packed
from mechanics.model.singular import singular_joint
from mechanics.model.tree import Tree
from mechanics.model.workspace import Workspace
from mechanics.reference import osp_plan

__all__ = [
    "HasTree",
    "check_solution",
    "configuration",
    "evaluate",
    "external_wrenches",
    "numbers",
    "tree_of",
    "velocity",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
_RESIDUAL = 1e-6
"""Relative error of M v = p that betrays a singular mass matrix."""


# --- whose: a tree, or a mechanism that has one -----------------------------------------------------------------------


class HasTree(Protocol):
    """A mechanism, a model compiled for one, or the workspace of a tree."""

    @property
    def tree(self) -> Tree:
        """The tree."""


def tree_of(given: Any, trees_only: str = "") -> Tree:
    """The tree: itself, that of its workspace, or of a mechanism, because positions and inertias decide what most
    functions say.

    Parameters
    ----------
    given : Tree, Workspace, or Mechanism
        What has been passed for a tree.
    trees_only : str
        The name of a function that would leave out the closures and force elements of a mechanism, and refuses it.

    Returns
    -------
    Tree

    Raises
    ------
    TypeError
        Nothing that has a tree; a mechanism for such a function: what to call instead.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> tree_of(SYSTEMS["four-bar"].mechanism()).nv
    3
    """
    tree = given if isinstance(given, Tree) else getattr(given, "tree", None)
    if not isinstance(tree, Tree):
        raise TypeError(
            f"tree: {given!r}, expected a Tree or a Mechanism, from mechanics.Tree([...]), mechanics.load_urdf, "
            "mechanics.load_mechanism or mechanics.systems.SYSTEMS[name].mechanism()"
        )
    if trees_only and tree is not given and not isinstance(given, Workspace):
        raise TypeError(
            f"tree: {given!r}, expected a Tree: {trees_only} knows neither closures nor force elements; "
            f"{trees_only}(mechanism.tree, …) leaves them out, mechanism.rhs(q, p) gives the rates with them, and "
            "the invariants of mechanism.problem(q, v) the energy"
        )
    return tree


# --- arguments and values ---------------------------------------------------------------------------------------------


def evaluate(
    kernel: Entry,
    tree: Tree | Packed | PackedLoops | osp_plan.Plan,
    size: int,
    t: float,
    *inputs: Array,
    work_shape: tuple[int, int] | None = None,
) -> Array:
    """Values (…, size) of a kernel of the field signature on the inputs side by side.

    Parameters
    ----------
    kernel : Entry
        With `integrators.signatures.FIELD_SIGNATURES`.
    tree : Tree, Packed, PackedLoops or Plan
        Its arrays.
    size : int
        How many values the kernel writes.
    t : float
        Time, s.
    *inputs : array (…, k)
        Parts of the state in SI units, in the order the kernel reads them; leading axes broadcast.
    work_shape : (int, int), optional
        Of the workspace; default that of the tree.

    Returns
    -------
    array (…, size)
        One row per state.

    Raises
    ------
    ValueError
        Leading axes that do not broadcast.

    Examples
    --------
    >>> from mechanics.algorithms.crba import mass_matrix
    >>> from mechanics.testing import random_tree
    >>> tree = random_tree("chain", 3, np.random.default_rng(0))
    >>> evaluate(mass_matrix, tree, 9, 0.0, tree.neutral()).shape
    (9,)
    """
    try:
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    except ValueError:
        raise ValueError(f"leading axes {[x.shape[:-1] for x in inputs]} of the arguments do not broadcast") from None
    states = np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in inputs], axis=-1)
    states = np.ascontiguousarray(states.reshape(math.prod(shape), states.shape[-1]))
    out = batch.run(kernel, real(t, "t"), states, tree.parameters, tree.structure, work_shape or tree.work_shape, size)
    return out.reshape(*shape, size)


def numbers(tree: Tree, x: ArrayLike, n: int, name: str, what: str) -> Array:
    """Numbers for a tree as an array, checked: its last axis, finite numbers.

    Parameters
    ----------
    tree : Tree
        For the message.
    x : array (…, n)
        In any unit.
    n : int
        How many on the last axis.
    name, what : str
        What the message calls them, and what they are.

    Returns
    -------
    array (…, n)
        float64.

    Raises
    ------
    ValueError, TypeError
        Another size, or numbers that are not finite.

    Examples
    --------
    What `velocity` calls.
    """
    array = reals(x, name)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ValueError(f"{name}: shape {array.shape}, expected (…, {n}): {what} of tree {tree.name!r}")
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: element {where} is {array[where]}, expected finite numbers")
    return array


def configuration(tree: Tree, q: ArrayLike) -> Array:
    """A configuration of a tree as an array, checked: its size, finite numbers, quaternions of unit norm.

    Parameters
    ----------
    tree : Tree
        Whose.
    q : array (…, nq)
        Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.

    Returns
    -------
    array (…, nq)
        float64.

    Raises
    ------
    ValueError, TypeError
        What is wrong, with the joint of a quaternion.

    Examples
    --------
    >>> from mechanics.testing import random_tree
    >>> configuration(random_tree("chain", 3, np.random.default_rng(0)), [0, 1, 2]).tolist()
    [0.0, 1.0, 2.0]
    """
    of_kind(tree, Tree, "tree", "a Tree")
    q = numbers(tree, q, tree.nq, "q", "the configuration")
    for joint, start in tree.quaternions:
        defect = np.abs(np.linalg.norm(q[..., start : start + 4], axis=-1) - 1.0)
        if (defect > batch.UNIT_TOLERANCE).any():
            raise ValueError(
                f"q: the quaternion of joint {joint!r} (components {start}:{start + 4}, order w, x, y, z) has norm "
                "off by "
                f"{float(np.max(defect)):.2g}; divide it by its norm"
            )
    return q


def velocity(tree: Tree, v: ArrayLike, name: str = "v") -> Array:
    """Velocities of a tree (or what has their size) as an array, checked: its size, finite numbers.

    Parameters
    ----------
    tree : Tree
        Whose.
    v : array (…, nv)
        Velocities: joint rates, rad/s and m/s, or body twists (linear, angular) where the joint's configuration is a
        group.
    name : str
        What the message calls it.

    Returns
    -------
    array (…, nv)
        float64.

    Raises
    ------
    ValueError, TypeError
        What is wrong.

    Examples
    --------
    >>> from mechanics.testing import random_tree
    >>> velocity(random_tree("chain", 3, np.random.default_rng(0)), [0, 1, 2]).tolist()
    [0.0, 1.0, 2.0]
    """
    return numbers(tree, v, tree.nv, name, "one number per degree of freedom")


def external_wrenches(tree: Tree, wrenches: ArrayLike | None) -> Array:
    """Wrenches on the bodies of a tree as one vector, checked; zeros for none.

    Parameters
    ----------
    tree : Tree
        Whose.
    wrenches : array (…, N, 6), or None
        (force, moment), body axes, at the body origins, N and N·m.

    Returns
    -------
    array (…, 6 N)
        float64.

    Raises
    ------
    ValueError, TypeError
        Another shape, or numbers that are not finite.

    Examples
    --------
    >>> from mechanics.testing import random_tree
    >>> external_wrenches(random_tree("chain", 3, np.random.default_rng(0)), None).shape
    (18,)
    """
    if wrenches is None:
        return np.zeros(6 * len(tree))
    array = reals(wrenches, "wrenches")
    if array.ndim < 2 or array.shape[-2:] != (len(tree), 6):
        raise ValueError(
            f"wrenches: shape {array.shape}, expected (…, {len(tree)}, 6): force and moment of every body of tree "
            f"{tree.name!r}"
        )
    size = 6 * len(tree)
    return numbers(tree, array.reshape(*array.shape[:-2], size), size, "wrenches", "six numbers per body")


def check_solution(tree: Tree, q: ArrayLike, v: Array, p: ArrayLike, t: float) -> None:
    """Whether v = M⁻¹ p holds; else name the joint that moves no inertia.

    Parameters
    ----------
    tree : Tree
        Whose.
    q : array (…, nq)
        Configuration, rad and m.
    v : array (…, nv)
        What was found, SI units.
    p : array (…, nv)
        What it was found from, SI units.
    t : float
        Time, s.

    Raises
    ------
    ValueError
        The mass matrix is singular: which joint moves no inertia.

    Examples
    --------
    What `configuration` is for q, this is for what `mechanics.hamiltonian_rhs` finds.
    """
    if not tree.is_doubtful and math.isfinite(np.vdot(v, v)):
        return
    q, p = np.asarray(q, dtype=float), np.asarray(p, dtype=float)
    wrong: Any = ~np.isfinite(v).all(axis=-1)
    if tree.is_doubtful and not wrong.any():
        back = evaluate(momentum_kernels.momentum, tree, tree.nv, t, np.broadcast_to(q, (*v.shape[:-1], tree.nq)), v)
        wrong = np.abs(back - p).max(axis=-1, initial=0.0) > _RESIDUAL * (1.0 + np.abs(p).max(axis=-1, initial=0.0))
    if wrong.any():
        where = np.broadcast_to(q, (*v.shape[:-1], tree.nq))[wrong][0]
        joint = singular_joint(tree, where, t)
        raise ValueError(
            f"the mass matrix of tree {tree.name!r} is singular"
            + (f": joint {joint!r} moves no inertia in this configuration" if joint else "")
            + "; avoid the configuration, use a joint without singularities (Spherical), or give the bodies behind it "
            "mass"
        )
