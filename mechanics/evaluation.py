"""Kernels as functions of states: of one state by one compiled call with its checks, of many in lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import shown
from liegroup.compile import Entry, raise_pending
from liegroup.modules import listing
from mechanics.algorithms.batch import at_one_state, is_for_once
from mechanics.closed_trees.packing import PackedLoops
from mechanics.model.packing import Packed
from mechanics.model.tree import Tree
from mechanics.model.workspace import Workspace
from mechanics.reference.osp_plan import Plan
from mechanics.states import HasTree, configuration, evaluate, external_wrenches, tree_of, velocity

__all__ = ["Arrays", "StateFunction", "packed_arrays", "written"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
T = TypeVar("T")
MANY = 1000
"""Calls that a tree remembers: of functions, frames and mechanisms."""
Arrays = Packed | PackedLoops | Plan
"""What a kernel is called with."""


def packed_arrays(tree: Tree) -> Arrays:
    """The arrays of the tree itself."""
    return tree.packed


@dataclass(frozen=True, eq=False)
class StateFunction:
    """A kernel of the field signature as a function of states (q, …) of a tree.

    One state in arrays of float64 costs the kernel and 2 µs: all checks are part of one compiled call, which only says
    whether all is well.  Everything else (batches, lists, what is wrong) is converted, checked and explained in Python.

    Parameters
    ----------
    kernel : Entry
        With `integrators.signatures.FIELD_SIGNATURES`.
    names : tuple of str
        What follows q in its state, at most two, each one number per degree of freedom; in brackets what may be left
        out (zeros).
    loaded : bool
        Whether the wrenches of all bodies follow (zeros if left out).
    shape : callable
        Tree → shape of the values at one state.
    size : callable
        Tree → how many numbers the kernel writes; default those of the shape.
    start : int
        Which is the first of the values.
    arrays : callable
        Tree → what the kernel is called with.
    work_shape : callable
        Tree → shape of the workspace; default that of the arrays.
    sparse : bool
        Whether the kernel leaves values alone that are zero for every state: it is given zeros to write on.
    trees_only : str
        Name of the function that leaves out the closures and forces of a mechanism, and refuses it for that.

    Examples
    --------
    >>> from mechanics.algorithms.momentum import momentum
    >>> from mechanics.testing import random_tree
    >>> tree = random_tree("chain", 3, np.random.default_rng(0))
    >>> StateFunction(momentum, ("v",))(tree, 0.0, tree.neutral(), np.zeros(3)).tolist()
    [0.0, 0.0, 0.0]
    """

    kernel: Entry
    names: tuple[str, ...] = ()
    loaded: bool = False
    shape: Callable[[Tree], tuple[int, ...]] = lambda tree: (tree.nv,)
    size: Callable[[Tree], int] | None = None
    start: int = 0
    arrays: Callable[[Tree], Arrays] = packed_arrays
    work_shape: Callable[[Tree], tuple[int, int]] | None = None
    sparse: bool = False
    trees_only: str = ""

    def __call__(
        self,
        model: Tree | HasTree,
        t: float,
        q: ArrayLike,
        first: ArrayLike | None = None,
        second: ArrayLike | None = None,
        wrenches: ArrayLike | None = None,
        out: Array | None = None,
    ) -> Array:
        """Values (…, *shape) at the states, in `out` if it is given."""
        tree = model if model.__class__ is Tree else tree_of(model, self.trees_only)
        if q.__class__ is np.ndarray:
            call = tree.calls.get(self) or self._prepared(tree)
            if call is not None:
                memory = model.memory if model.__class__ is Workspace else np.zeros
                values = call(memory, t, q, first, second, wrenches, out)
                if values is not None:
                    return values
        values = self._at_many_states(tree, t, q, (first, second), wrenches)
        return values if out is None else written(out, values)

    def _prepared(self, tree: Tree) -> OneState | None:
        """The call for a tree, which keeps it for the next time; None if it does not pay."""
        arrays = self.arrays(tree)
        if not self.size_for(tree) or is_for_once(self.kernel, arrays.parameters):
            return None
        if len(tree.calls) >= MANY:
            tree.calls.clear()
        tree.calls[self] = call = OneState(self, tree)
        return call

    def _at_many_states(self, tree: Tree, t: float, q: ArrayLike, rest: Any, wrenches: ArrayLike | None) -> Array:
        given = [configuration(tree, q)]
        for name, x in zip(self.names, rest, strict=False):
            left_out = x is None and name.startswith("(")
            given.append(velocity(tree, np.zeros(tree.nv) if left_out else x, name.strip("()")))
        if self.loaded:
            given.append(external_wrenches(tree, wrenches))
        shape, arrays = self.shape(tree), self.arrays(tree)
        count = prod(shape)
        values = evaluate(self.kernel, arrays, self.size_for(tree), t, *given, work_shape=self.work_shape_for(tree))
        return values[..., self.start : self.start + count].reshape((*values.shape[:-1], *shape))

    def size_for(self, tree: Tree) -> int:
        """How many numbers the kernel writes."""
        return prod(self.shape(tree)) if self.size is None else self.size(tree)

    def work_shape_for(self, tree: Tree) -> tuple[int, int]:
        """Shape of the workspace."""
        return self.arrays(tree).work_shape if self.work_shape is None else self.work_shape(tree)


class OneState:
    """A kernel and a tree, with all that one compiled call on one state needs."""

    def __init__(self, function: StateFunction, tree: Tree) -> None:
        arrays, blocks = function.arrays(tree), len(function.names)
        lines, self.columns = function.work_shape_for(tree)
        self.address, self.parameters, self.structure = function.kernel.address, arrays.parameters, arrays.structure
        self.shape, self.size, self.start = function.shape(tree), function.size_for(tree), function.start
        self.blocks, self.loaded, self.is_vector = blocks, function.loaded, len(self.shape) == 1
        self.first, self.second = (_left_out(function.names[k : k + 1], tree.nv) for k in range(2))
        self.wrenches = np.zeros(6 * len(tree) if self.loaded else 0)
        self.memory = tree.nq + blocks * tree.nv + self.wrenches.size + self.size + lines * self.columns
        before = self.memory - self.size - lines * self.columns
        self.sparse = slice(before, before + self.size if function.sparse else before)
        self.compiled = at_one_state.compiled

    def __call__(
        self, memory: Any, t: Any, q: Any, first: Any, second: Any, wrenches: Any, out: Array | None
    ) -> Array | None:
        """Nothing if the compiled call cannot take the arguments, or finds something wrong."""
        if out is None:
            out = np.empty(self.shape)
        elif not (out.__class__ is np.ndarray and out.shape == self.shape and out.flags.c_contiguous):
            return None
        if first is None:
            first = self.first
        if second is None:
            second = self.second
        if wrenches is None:
            wrenches = self.wrenches
        elif wrenches.__class__ is np.ndarray and wrenches.ndim == 2:
            wrenches = wrenches.reshape(-1)
        if not (first.__class__ is second.__class__ is wrenches.__class__ is np.ndarray and q.ndim == first.ndim == 1):
            return None
        held = memory(self.memory)
        if memory is not np.zeros:
            held[self.sparse] = 0.0
        try:
            good = self.compiled(
                self.address, t, q, first, second, wrenches, self.blocks, self.loaded, self.parameters,
                self.structure, held, self.columns, self.size, self.start,
                out if self.is_vector else out.reshape(-1),
            )  # fmt: skip
        except TypeError:  # other numbers than float64, strides, arrays that may not be written
            return None
        raise_pending()
        return out if good else None


def _left_out(name: tuple[str, ...], n: int) -> Array | None:
    """What stands for an argument that is not given: nothing for one that must be."""
    if not name:
        return np.zeros(0)
    return np.zeros(n) if name[0].startswith("(") else None


def written(out: T | None, values: T) -> T:
    """`values`, in `out` if that is given: an array of their shape, or as many as there are values.

    Parameters
    ----------
    out : array, tuple of arrays, or None
        float64.
    values : array, or tuple of arrays
        In any unit.

    Returns
    -------
    array, or tuple of arrays
        `out`; without it, `values`.

    Raises
    ------
    TypeError, ValueError
        No arrays of float64 of the shape of the values.

    Examples
    --------
    >>> out = np.empty(2)
    >>> written(out, np.ones(2)) is out
    True
    """
    if out is None:
        return values
    if values.__class__ is not tuple:
        _put(out, values)
    else:
        _put_all(out, values)
    return out


def _put_all(out: Any, values: Any) -> None:
    if out.__class__ is not tuple or len(out) != len(values):
        raise TypeError(f"out: {shown(out)}, expected a tuple of {len(values)} arrays, one for each result")
    for k, value in enumerate(values):
        _put(out[k], value)


def _put(out: Any, value: Any) -> None:
    try:
        if out.__class__ is np.ndarray and out.dtype is value.dtype and out.shape == value.shape:
            out[...] = value
            return
    except ValueError:  # it may not be written
        pass
    if not isinstance(out, np.ndarray) or out.dtype != value.dtype:
        raise TypeError(f"out: {shown(out)}, expected an array of float64 of shape {value.shape}")
    raise ValueError(f"out: shape {out.shape}, expected an array of shape {value.shape} that may be written")
