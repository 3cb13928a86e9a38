"""Elastic bodies."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
