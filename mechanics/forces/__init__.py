"""Force elements: what acts in a mechanism besides gravity and the joints' own damping.  One file per kind.

===================  ==========================================================  ======================================
element              force                                                       energy account
===================  ==========================================================  ======================================
`joint_spring`       τ = −k (x − x₀) − c s on one coordinate                     stores k (x − x₀)²/2, loses c s²
`joint_stop`         τ = ±N(d, ḋ) at a depth d beyond either stop                stores U(d), loses the rest
`dry_friction`       τ = −F tanh(s/v_s), or with a static peak                   loses −τ s
`servo`              τ = −k (x − x_d(t)) − c (s − ẋ_d(t))                        does work
`motor`              τ = u(t)                                                    does work
`actuator`           F = (g₀ + g₁ x + g₂ s) u(t) + b₀ + b₁ x + b₂ s, in ranges   does work
`polynomial_spring`  −(k₀ + k₁ d + k₂ d²) d − (c₀ + c₁ abs s + c₂ s²) s          stores its integral, loses the drag
`wrench`             force and moment on a body                                  does work
`thruster`           (g u(t) + b) times a force and a moment, in ranges          does work
`spring_damper`      −k (l − l₀) − c l̇ along the line between two points         stores k (l − l₀)²/2, loses c l̇²
`cable`              the same where it is taut: it pulls, and never pushes       stores k (l − l₀)²/2, loses the rest
`compliant`          −k φ − c φ̇ on every equation of a closure instead of φ = 0  stores k φ²/2, loses c φ̇²
`bushing`            three shifts and three turns of a `compliant` weld          the same
`torsion_spring`     −k θ − c θ̇, θ the rotation vector of one frame in another   stores k θ²/2, loses the rest
`contact`            two shapes that touch, with friction: see `forces.laws`     stores U(depth), loses the rest
===================  ==========================================================  ======================================

Elements of one coordinate act on a joint, on one freedom of a joint of several, or along a `Tendon`, a weighted sum of
coordinates: a gear, or a cord over several joints.

Motors and servos without a motion of their own, and wrenches, are inputs: `Problem.with_inputs`, `integrators.stepper`.
A kind of your own derives from `OnJoint`, `OnEquation`, `OnBodies` or `OnScrew` (`mechanics.forces.element`);
`register` makes compiled loops know it.
"""

from liegroup.modules import listing
from mechanics.forces.actuator import actuator
from mechanics.forces.cable import cable
from mechanics.forces.compliant import bushing, compliant, spring_damper, torsion_spring
from mechanics.forces.contact import contact
from mechanics.forces.dry_friction import dry_friction
from mechanics.forces.element import BodyState, Element, OnBodies, OnEquation, OnJoint, OnScrew, not_negative
from mechanics.forces.joint_spring import joint_spring
from mechanics.forces.joint_stop import joint_stop
from mechanics.forces.laws import hunt_crossley_factor, soft_numbers
from mechanics.forces.motor import motor
from mechanics.forces.polynomial_spring import polynomial_spring
from mechanics.forces.registry import KINDS, register
from mechanics.forces.servo import servo
from mechanics.forces.shapes import Capsule, Ellipsoid, Plane, Sphere, Wheel
from mechanics.forces.tendon import Tendon
from mechanics.forces.thruster import thruster
from mechanics.forces.wrench import wrench

__all__ = [
    "KINDS",
    "BodyState",
    "Capsule",
    "Element",
    "Ellipsoid",
    "OnBodies",
    "OnEquation",
    "OnJoint",
    "OnScrew",
    "Plane",
    "Sphere",
    "Tendon",
    "Wheel",
    "actuator",
    "bushing",
    "cable",
    "compliant",
    "contact",
    "dry_friction",
    "hunt_crossley_factor",
    "joint_spring",
    "joint_stop",
    "motor",
    "not_negative",
    "polynomial_spring",
    "register",
    "servo",
    "soft_numbers",
    "spring_damper",
    "thruster",
    "torsion_spring",
    "wrench",
]
__dir__ = listing(__all__)
