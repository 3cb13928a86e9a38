"""A tree of rigid bodies: bodies, inertias, frames, and the flat arrays that kernels read."""

from liegroup.modules import listing
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

__all__ = ["Body", "Frame", "Inertia", "JointData", "Tree"]
__dir__ = listing(__all__)
