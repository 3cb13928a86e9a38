"""Derivatives of the dynamics of trees from composite bodies, in O(n · depth): kernels for one trajectory and lanes."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
