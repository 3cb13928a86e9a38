"""Hamilton's equations of one tree as straight-line code: the kernel of `era`, run once on scalars that note what is done to them.

Everything that does not depend on the state is done then: masses, inertias, placements and gravity become constants, with all that
follows from them alone; what is zero, one or common is left out or shared.  No loop, no branch and no workspace is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem
from liegroup.compile import Entry
from liegroup.generated import module_of
from liegroup.tracing import Graph, Traced, lines, operand
from mechanics import dynamics
from mechanics.hamiltonian.era import era
from mechanics.hamiltonian.problem import hamiltonian_problem
from mechanics.tree import Tree

Array = NDArray[np.float64]
LIMIT = 4000
"""Operations.  The code of more outgrows the instruction cache: 4400 to 4700 were 0.9 to 1.3 times as fast as the kernel for all trees."""
_HEAD = '''"""Hamilton's equations of a tree, (q, p) -> (v, rate of p): written by mechanics.compile_model."""

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.tracing import called_sincos as sincos


@entry(*FIELD_SIGNATURES)
def field(t, y, parameters, structure, work, out):
'''


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """Hamilton's equations of one tree, made by `compile_model`.

    Attributes
    ----------
    tree : Tree
    field : Entry
        (q, p) → (v, ṗ) with the signature of a field, for one trajectory and for lanes.  The numbers of the tree are in the code: it
        reads neither `parameters` nor `structure` nor `work`.
    operations : int
        Additions, multiplications, divisions, changes of sign, sines and cosines.
    source : str
        The generated code.
    """

    tree: Tree
    field: Entry
    operations: int
    source: str

    def rhs(self, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """Velocities and rates of the momenta, as `mechanics.hamiltonian_rhs` gives them: arrays (…, nq), (…, nv) → two of (…, nv)."""
        return dynamics.rates(self.tree, self.field, q, p, t)

    def problem(self, q: ArrayLike, v: ArrayLike | None = None, p: ArrayLike | None = None, t: float = 0.0) -> Problem:
        """The motion of the tree, as `mechanics.hamiltonian_problem` poses it, with this field.

        Other masses or another gravity in `parameters` would not reach the field: compile another model.
        """
        return replace(hamiltonian_problem(self.tree, q, v, p, t), field=self.field)

    def __repr__(self) -> str:
        return f"<CompiledModel of tree {self.tree.name!r}: {self.operations} operations>"


def compile_model(tree: Tree, limit: int = LIMIT) -> CompiledModel:
    """Straight-line code for the Hamiltonian right-hand side of one tree, under gravity and joint damping.

    Parameters
    ----------
    tree : Tree
        With joints of any kind, prescribed motions included.
    limit : int
        Operations up to which the code is made: a robot of 13 bodies with its axes along those of the bodies has about 3000, one of 7
        bodies with axes anywhere 2000.  Longer code gains little over the kernel for all trees.

    Returns
    -------
    CompiledModel
        With ``rhs(q, p)`` and ``problem(q, v)``.

    Raises
    ------
    ValueError
        The code would be longer than `limit`.

    Notes
    -----
    The numbers are those of the kernel for all trees to the last bit, but for the sign of zeros (and digits that ``contract`` arithmetic
    rounds elsewhere); one trajectory and lanes agree bitwise.  The first use compiles, 3 ms of one core per operation and for lanes as
    much again; later processes find the code in the cache.

    Examples
    --------
    >>> import mechanics
    >>> model = mechanics.compile_model(mechanics.load_model("double_pendulum"))
    >>> model.operations < 150
    True
    """
    graph, values = _trace(tree)
    operations = sum(bool(graph.arguments(k)) for k in graph.needed(values))
    if operations > limit:
        raise ValueError(
            f"tree {tree.name!r}: its code would have {operations} operations, more than limit={limit}, and gain little; "
            "use hamiltonian_rhs and hamiltonian_problem, or raise the limit and measure"
        )
    body = [*lines(graph, values, set()), *(f"st(out, {i}, {operand(graph, k)})" for i, k in enumerate(values))]
    source = _HEAD + "".join(f"    {line}\n" for line in body)
    return CompiledModel(tree, module_of(source).field, operations, source)


def _trace(tree: Tree) -> tuple[Graph, list[int]]:
    """What `era` does for a tree, and the nodes of its values."""
    graph = Graph()
    y = [graph.input(f"ld(y, {i})") for i in range(tree.nq + tree.nv)]
    out: list[Any] = [None] * (2 * tree.nv)
    era.python(graph.input("t"), y, tree.parameters.tolist(), tree.structure.tolist(), np.empty(tree.work_shape, dtype=object), out)
    return graph, [x.k if isinstance(x, Traced) else graph.constant(x) for x in out]
