"""Points, single rigid bodies and trees with known motions."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
