"""The catalogue of methods."""

from integrators.methods.catalogue import METHODS, find, register

__all__ = ["METHODS", "find", "register"]
