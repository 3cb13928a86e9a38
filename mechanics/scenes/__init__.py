"""How trees, mechanisms and single bodies are drawn: scenes for `integrators.scenes`.

What stands here is light, since every problem has it; the drawing itself is imported when something is drawn.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from liegroup.modules import listing

if TYPE_CHECKING:
    from integrators.scenes import Scene
    from mechanics.constraints.loops import Closure
    from mechanics.forces import Element
    from mechanics.model.tree import Tree

__all__ = [
    "TreeScene",
    "centred_scene",
    "draw_configuration",
    "mechanism_scene",
    "show_configurations",
    "system_scene",
    "tree_scene",
]
__dir__ = listing(__all__)


class TreeScene:
    """Makes the scene of a tree, with closures and force elements if it has any, of states that begin with its
    configuration.
    """

    def __init__(self, tree: Tree, closures: Sequence[Closure] = (), elements: Sequence[Element] = ()) -> None:
        self.tree, self.closures, self.elements = tree, tuple(closures), tuple(elements)

    def __call__(self, t: Any, y: Any) -> Scene:
        from mechanics.scenes.trees import scene

        return scene(self)

    @cached_property
    def looks(self) -> Any:
        """Shapes of the bodies from the model file, and what is to be said of them; meshes are read once."""
        from mechanics.scenes.trees import looks_of

        return looks_of(self.tree)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("tree", "closures", "elements")}


def tree_scene(tree: Tree) -> TreeScene:
    """Makes the scene of a tree."""
    return TreeScene(tree)


def mechanism_scene(mechanism: Any) -> TreeScene:
    """Makes the scene of a mechanism: its tree with wheels, contact paths, springs and rods of fixed length."""
    return TreeScene(mechanism.tree, mechanism.equations.closures, mechanism.elements)


def centred_scene(mechanism: Any, heights: Any) -> Any:
    """Makes the scene of a mechanism in body coordinates: centre of mass and attitude of every body, (x, y, angle) in
    the plane, at these heights above it, or (x, y, z, quaternion) with None.
    """
    return partial(_centred, mechanism_scene(mechanism), heights)


def _centred(drawn: TreeScene, heights: Any, t: Any, y: Any) -> Scene:
    from mechanics.scenes.trees import centred

    return centred(drawn, heights)


def system_scene(name: str, *lengths: Any) -> Any:
    """Makes the scene of a ready-made system: a function of `mechanics.scenes.systems`, with the lengths it takes."""
    return partial(_system, name, *lengths)


def _system(name: str, *given: Any) -> Scene:
    found: Scene = getattr(import_module("mechanics.scenes.systems"), name)(*given)
    return found


def show_configurations(drawn: TreeScene, q: ArrayLike, path: str | os.PathLike[str] | None, **options: Any) -> Any:
    """Configurations (nq,) or (k, nq) as a page or a file; the frames are one second apart."""
    from mechanics.scenes.trees import configurations

    return configurations(drawn, q, path, **options)


def draw_configuration(drawn: TreeScene, q: ArrayLike, ax: Any = None, **options: Any) -> Any:
    """A configuration (nq,) in matplotlib axes, with frames and paths."""
    from mechanics.scenes.trees import picture

    return picture(drawn, q, ax, **options)
