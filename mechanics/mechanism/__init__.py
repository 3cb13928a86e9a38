"""Mechanisms: a tree of bodies with loop closures and force elements."""

from liegroup.modules import listing
from mechanics.mechanism.mechanism import Mechanism, Projection
from mechanics.mechanism.springs import FastestSpring

__all__ = ["FastestSpring", "Mechanism", "Projection"]
__dir__ = listing(__all__)
