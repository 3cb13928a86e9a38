"""The catalogue of methods."""

from integrators.methods.catalogue import METHODS, find, register
from liegroup.modules import listing

__all__ = ["METHODS", "find", "register"]
__dir__ = listing(__all__)
