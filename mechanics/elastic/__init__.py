"""Elastic bodies: networks of elements with a potential between points or poses.

`mechanics.elastic.rods` has geometrically exact rods, whose nodes are poses in SE(3).
"""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
