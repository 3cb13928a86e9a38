"""States given by users, checked, and kernels on batches of them: what the public functions of trees share."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, reals
from liegroup.compile import Entry
from liegroup.modules import listing
from mechanics.algorithms import batch
from mechanics.algorithms import momentum as momentum_kernels
from mechanics.closed_trees.packing import PackedLoops
from mechanics.model.singular import singular_joint
from mechanics.model.tree import Tree
from mechanics.reference import osp_plan

__all__ = [
    "HasTree",
    "check_solution",
    "configuration",
    "evaluate",
    "external_wrenches",
    "numbers",
    "of_a_tree",
    "of_its_tree",
    "velocity",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
P = ParamSpec("P")
R = TypeVar("R")
_UNIT_TOLERANCE = 1e-6
_RESIDUAL = 1e-6
"""Relative error of M v = p that betrays a singular mass matrix."""


# --- whose: a tree, or a mechanism that has one -----------------------------------------------------------------------


class HasTree(Protocol):
    """A mechanism, or a model compiled for one."""

    @property
    def tree(self) -> Tree: ...


def of_its_tree(f: Callable[Concatenate[Tree, P], R]) -> Callable[Concatenate[Tree | HasTree, P], R]:
    """What positions and inertias decide is the same with loops and forces as without: a mechanism is its tree here."""

    @wraps(f)
    def function(tree: Tree | HasTree, *args: P.args, **options: P.kwargs) -> R:
        return f(_tree(tree), *args, **options)

    return function  # type: ignore[return-value]  # named `tree`, as it always was


def of_a_tree(f: Callable[Concatenate[Tree, P], R]) -> Callable[Concatenate[Tree, P], R]:
    """What forces decide: a mechanism has closures and force elements, which these functions would leave out."""

    @wraps(f)
    def function(tree: Tree, *args: P.args, **options: P.kwargs) -> R:
        if _tree(tree) is not tree:
            raise TypeError(
                f"tree: {tree!r}, expected a Tree: {f.__name__} knows neither closures nor force elements; "
                f"{f.__name__}(mechanism.tree, …) leaves them out, mechanism.rhs(q, p) gives the rates with them, and "
                "the invariants of mechanism.problem(q, v) the energy"
            )
        return f(tree, *args, **options)

    return function  # type: ignore[return-value]  # named `tree`, as it always was


def _tree(given: Any) -> Tree:
    tree = given if isinstance(given, Tree) else getattr(given, "tree", None)
    if not isinstance(tree, Tree):
        raise TypeError(
            f"tree: {given!r}, expected a Tree or a Mechanism, from mechanics.Tree([...]), mechanics.load_urdf, "
            "mechanics.load_mechanism or mechanics.systems.SYSTEMS[name].mechanism()"
        )
    return tree


# --- arguments and values ---------------------------------------------------------------------------------------------


def evaluate(
    kernel: Entry,
    tree: Tree | PackedLoops | osp_plan.Plan,
    size: int,
    t: float,
    *inputs: Array,
    work_shape: tuple[int, int] | None = None,
) -> Array:
    """Values (…, size) of a kernel of the field signature on the inputs side by side."""
    try:
        shape = np.broadcast_shapes(*(x.shape[:-1] for x in inputs))
    except ValueError:
        raise ValueError(f"leading axes {[x.shape[:-1] for x in inputs]} of the arguments do not broadcast") from None
    states = np.concatenate([np.broadcast_to(x, (*shape, x.shape[-1])) for x in inputs], axis=-1)
    states = np.ascontiguousarray(states.reshape(-1, states.shape[-1]))
    out = batch.run(kernel, real(t, "t"), states, tree.parameters, tree.structure, work_shape or tree.work_shape, size)
    return out.reshape(*shape, size)


def numbers(tree: Tree, x: ArrayLike, n: int, name: str, what: str) -> Array:
    array = reals(x, name)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ValueError(f"{name}: shape {array.shape}, expected (…, {n}): {what} of tree {tree.name!r}")
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: element {where} is {array[where]}, expected finite numbers")
    return array


def configuration(tree: Tree, q: ArrayLike) -> Array:
    of_kind(tree, Tree, "tree", "a Tree")
    q = numbers(tree, q, tree.nq, "q", "the configuration")
    for joint, start in tree.quaternions:
        defect = np.abs(np.linalg.norm(q[..., start : start + 4], axis=-1) - 1.0)
        if (defect > _UNIT_TOLERANCE).any():
            raise ValueError(
                f"q: the quaternion of joint {joint!r} (components {start}:{start + 4}, order w, x, y, z) has norm "
                "off by "
                f"{float(np.max(defect)):.2g}; divide it by its norm"
            )
    return q


def velocity(tree: Tree, v: ArrayLike, name: str = "v") -> Array:
    return numbers(tree, v, tree.nv, name, "one number per degree of freedom")


def external_wrenches(tree: Tree, wrenches: ArrayLike | None) -> Array:
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


def check_solution(tree: Tree, q: Array, v: Array, p: Array, t: float) -> None:
    """v = M⁻¹ p holds; else name the joint that moves no inertia."""
    wrong: Any = ~np.isfinite(v).all(axis=-1)
    doubtful = tree.may_be_singular or any(len(body.joint.elements) > 1 for body in tree.bodies)
    if doubtful and not wrong.any():
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
