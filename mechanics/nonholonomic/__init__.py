"""Nonholonomic systems: linear constraints on velocities, reduced and with multipliers."""

from liegroup.modules import listing
from mechanics.nonholonomic.system import ConstraintError, NonholonomicSystem
from mechanics.nonholonomic.user import nonholonomic_system

__all__ = ["ConstraintError", "NonholonomicSystem", "nonholonomic_system"]
__dir__ = listing(__all__)
