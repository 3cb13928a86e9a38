"""Arithmetic that kernels of every room share: sums in two words, elimination, interpolation; the free body."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
