"""One link eliminated from the equations of motion, by kind of its motion."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
