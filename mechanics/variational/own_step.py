"""The variational step as a tree brings it to the engine, and what it says when it fails."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from integrators.layout import OWN_ROWS
from integrators.problem import Doubt, OwnStep
from liegroup.compile.dense import PROFILE, room_of_system
from mechanics.closed_trees.layout import closures_of
from mechanics.joints.element import FLOAT, PLANE
from mechanics.model.layout import header_of, link_of
from mechanics.model.tree import Tree
from mechanics.variational.action import discrete_action
from mechanics.variational.closed_step import closed_step, lines_for
from mechanics.variational.elements.lines import COLUMNS_LOADED
from mechanics.variational.loaded_step import loaded_step
from mechanics.variational.step import ALLOWED, RESIDUAL, SUBSTEP, TURNED, UNSOLVED, WORST, step
from mechanics.variational.tangent import tangent_step
from mechanics.variational.workspace import COLUMNS, COLUMNS_DENSE


def variational_steps(tree: Tree) -> dict[str, OwnStep]:
    """What a tree without loops brings to the engine: its variational step, and the same with directions carried
    along.
    """
    own = replace(variational_step(tree), action=partial(discrete_action, tree))
    links = int(header_of(tree.structure).links)
    tangent = OwnStep(tangent_step, (own.shape[0] + links + 1, own.shape[1]), own.explain)
    return {
        "variational": own,
        "variational_tangent": tangent,
        "variational_imex": own,
        "variational_imex_tangent": tangent,
    }


def variational_step(
    tree: Tree,
    structure: NDArray[np.int64] | None = None,
    coupled: int = 0,
    loaded: bool = False,
    doubts: Callable[[NDArray[np.float64], float], list[Doubt]] | None = None,
) -> OwnStep:
    """The variational step of a tree: its kernel, its workspace, and the words for a step that fails.

    With the `structure` of a packed mechanism: of a tree with closed loops (RATTLE) and wheels, and if it is `loaded`
    with force elements; at most `coupled` joints are in one equation; `doubts` as of an `OwnStep`.
    """
    links = int(header_of(tree.structure).links)
    kinds = [link_of(tree.structure, i).kind for i in range(links)]
    columns = COLUMNS_DENSE if np.isin(kinds, (PLANE, FLOAT)).any() else COLUMNS
    explain = partial(_explain, tree.packed.link_names)
    if structure is None:
        return OwnStep(step, (OWN_ROWS + links + 1, columns), explain)
    closures = closures_of(structure)
    m, across = int(closures.kept), int(closures.across)
    columns = max(columns, coupled, COLUMNS_LOADED if loaded else 0)
    within = room_of_system(structure[closures.profile :][: PROFILE * m].tolist())
    system = max(within, (m + across) * (m + across + 1) if across else 0)
    lines = OWN_ROWS + links + 1 + m + lines_for(m, columns) + int(closures.rows)
    shape = lines + lines_for(system, columns), columns
    return OwnStep(loaded_step if loaded else closed_step, shape, explain, doubts=doubts)


def _explain(names: Sequence[str], errors: NDArray[np.float64]) -> str:
    """What the engine's row of errors says about a step that failed."""
    joint, size = names[int(errors[WORST])], abs(errors[SUBSTEP])
    if math.isnan(errors[UNSOLVED]):
        return (
            f"the iteration met no number, most likely at joint {joint!r}, in the smallest substep, {size:.2g} s: its "
            "effective mass is singular there; give what it carries inertia, and springs that pull back"
        )
    turned, allowed = (2 * math.atan(errors[which] / 2) for which in (TURNED, ALLOWED))
    turn = f"the joints turn by up to {turned:.2g} rad in the smallest substep, {size:.2g} s"
    if errors[UNSOLVED] > RESIDUAL:
        return f"the largest residual, {errors[UNSOLVED]:.2g} of the largest momentum, is in joint {joint!r}; {turn}"
    if not turned > 0.0:
        return f"the motion has grown beyond what numbers hold, first at joint {joint!r}; the steps are too long"
    if turned <= allowed:
        return f"the iteration did not settle, with {turn}; its largest residual is in joint {joint!r}"
    step = 0.8 * size * allowed / turned
    return f"{turn}, most in joint {joint!r}, of {allowed:.2g} allowed; use a step of {step:.2g} s"
