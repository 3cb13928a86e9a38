"""Derivatives of the dynamics of trees from composite and articulated bodies: kernels for one trajectory and lanes."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
