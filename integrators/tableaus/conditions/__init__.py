"""Order conditions: rooted trees, words, and what coefficients must satisfy."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
