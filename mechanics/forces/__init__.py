"""Force elements: springs, dampers, bushings, motors and contacts."""

from liegroup.modules import listing
from mechanics.forces.elements import bushing, compliant, contact, joint_spring, motor, servo, spring_damper
from mechanics.forces.laws import hunt_crossley_factor

__all__ = ["bushing", "compliant", "contact", "hunt_crossley_factor", "joint_spring", "motor", "servo", "spring_damper"]
__dir__ = listing(__all__)
