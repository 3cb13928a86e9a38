"""Recursions along the links of a tree, link by link."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
