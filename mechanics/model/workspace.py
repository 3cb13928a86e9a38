"""A tree with memory of its own, for many calls one after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

Array = NDArray[np.float64]


class Workspace:
    """Stands for its tree in the functions of `mechanics.dynamics` and `mechanics.derivatives`, which then allocate
    nothing but their results (and not those, with ``out=``).

    Results are those of the tree, to the last bit.  One workspace serves one thread at a time.

    Parameters
    ----------
    tree : Tree
        Whose.

    Examples
    --------
    >>> import numpy as np, mechanics
    >>> tree = mechanics.load_model("double_pendulum")
    >>> work, out = tree.workspace(), np.empty(2)
    >>> mechanics.forward_dynamics(work, np.zeros(2), np.zeros(2), out=out) is out
    True
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.memory: Callable[[int], Array] = _Held().__getitem__
        """Size → so many numbers, the same ones at every call."""

    def __reduce__(self) -> tuple[type[Workspace], tuple[Tree]]:
        return Workspace, (self.tree,)

    def __repr__(self) -> str:
        return f"<Workspace of {self.tree!r}>"


class _Held(dict[int, Array]):
    """Arrays by their sizes."""

    def __missing__(self, size: int) -> Array:
        return self.setdefault(size, np.zeros(size))
