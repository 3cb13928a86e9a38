"""Adapters to other packages; each module needs one of them, and nothing inside imports these."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
