"""Steppers: one file for each family, a compiled function that takes a step."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
