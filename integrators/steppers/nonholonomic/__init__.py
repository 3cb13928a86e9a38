"""Steppers for velocities under constraints."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
