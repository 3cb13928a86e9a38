"""Trees at the doors of `integrators.scenes`: imported when the first of them is to be seen."""

from __future__ import annotations

import os
from typing import Any

from numpy.typing import ArrayLike

from integrators.scenes import draw, show
from mechanics.model.tree import Tree
from mechanics.scenes import draw_configuration, show_configurations, tree_scene


@show.register(Tree)
def _shown(tree: Tree, q: ArrayLike, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    return show_configurations(tree_scene(tree), q, path, **options)


@draw.register(Tree)
def _drawn(tree: Tree, q: ArrayLike, ax: Any = None, **options: Any) -> Any:
    return draw_configuration(tree_scene(tree), q, ax, **options)
