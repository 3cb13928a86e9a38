"""How trees, mechanisms and single bodies are drawn: scenes for `integrators.scenes`."""

from liegroup.modules import listing
from mechanics.scenes.bodies import contact_of_ball, contact_of_ellipsoid, contact_of_wheel, placed
from mechanics.scenes.trees import centred_scene, mechanism_scene, tree_scene

__all__ = [
    "centred_scene",
    "contact_of_ball",
    "contact_of_ellipsoid",
    "contact_of_wheel",
    "mechanism_scene",
    "placed",
    "tree_scene",
]
__dir__ = listing(__all__)
