"""Small vectors and matrices: spatial algebra on arrays, screws and rotations in kernels, sparse factors."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
