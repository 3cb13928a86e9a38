"""Adapters to other libraries: leaves, imported by nobody inside."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
