"""What the motion of a tree or mechanism presupposes, as guards of its problem (`integrators.Guard`).

======================  ==============================================================================================
`tree_guards`           the energy is kept, or only falls
`closure_guards`        the loops stay closed
`slip_guard`            wheels roll, and loops do not open
`start_guard`           they do not do so at the start
`pivot_guard`           the closures keep their rank: at a singular position the multipliers are not determined
======================  ==============================================================================================
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Guard
from integrators.problem.guards import energy_guard
from mechanics.model.tree import Tree

Array = NDArray[np.float64]

OPEN = 1e-6
"""Gap, relative to the size of the mechanism, from which on a loop counts as open."""
SLIPPING = 1e-6
"""Velocity at which a loop opens or a wheel slips, relative to a speed of the motion."""
STRAINED = 0.05
"""The same where the formulation lets gaps grow."""
ROUNDED = 1e-9
"""Part of an energy, wherever its zero is, that is none of what is at play."""
LOST = 1e-13
"""Smallest pivot of the closures, relative to that at home, at which nothing is left of the multipliers."""


def gravity_at_play(tree: Tree) -> float:
    """Σ mᵢ |g| reachᵢ, J: the potential energy that the bodies can exchange, each at most as far from the origin of its
    root as the chain to it is long.
    """
    reach: dict[str | None, float] = {None: 0.0}
    total = 0.0
    for body in tree.bodies:
        along = 0.0 if body.parent is None else float(np.linalg.norm(body.position))
        reach[body.name] = reach[body.parent] + along
        total += body.inertia.mass * (reach[body.name] + float(np.linalg.norm(body.inertia.com)))
    return float(np.linalg.norm(tree.gravity)) * total


def anchored_potential(tree: Tree) -> float:
    """−Σ mᵢ g·r, J, of every body at the place r of its root on the base: what the origin of the world adds."""
    root: dict[str | None, Array] = {}
    total = 0.0
    for body in tree.bodies:
        place = np.asarray(body.position) if body.parent is None else root[body.parent]
        root[body.name] = place
        total -= body.inertia.mass * float(np.dot(tree.gravity, place))
    return total


def tree_guards(
    tree: Tree,
    kinetic: float,
    potential: float,
    *,
    dissipates: bool = False,
    smooth: bool = True,
    reach: float = 0.0,
    stored: float = 0.0,
) -> tuple[Guard, ...]:
    """The guard of the energy of a tree that starts with these energies, J; none with prescribed motions.  `smooth`:
    nothing hits or sticks, so that what is lost can be accounted for.

    At play are the kinetic energy, and what the bodies can exchange by falling along their chains; where joints let
    them shift, from where they are to the place of their root on the base, or from there to what they may meet at a
    distance `reach`, m, whichever is more; of bodies that start at rest there and meet nothing, a fall through their
    own size.  Where force elements have `stored` more at the start than gravity can give, it is that in its place.
    """
    if tree.is_rheonomic:
        return ()
    pull = float(np.linalg.norm(tree.gravity))
    falls = gravity_at_play(tree)
    if any(unit == "m" for body in tree.bodies for unit in body.joint.q_units):
        falls = max(falls, abs(potential - anchored_potential(tree)), pull * tree.mass * reach)
    if not kinetic + max(falls, stored) > 0.0:
        inertias = [b.inertia for b in tree.bodies]  # m times the radius of gyration
        falls = pull * float(sum(np.sqrt(0.5 * j.mass * np.trace(j.tensor_about_com)) for j in inertias))
    dissipates = dissipates or bool(np.any(tree.damping))
    return energy_guard(kinetic + max(falls, stored), dissipates, accounts=smooth, share=ROUNDED)


def speed_at_play(tree: Tree, kinetic: float) -> float:
    """The speed that a kinetic energy, J, and what a fall can give would give the whole mass, m/s; 0 without mass."""
    mass = sum(body.inertia.mass for body in tree.bodies)
    return float(np.sqrt(2.0 * (kinetic + gravity_at_play(tree)) / mass)) if mass > 0.0 else 0.0


def slip_guard(tree: Tree, kinetic: float, part: float = SLIPPING, beside: Any = None) -> tuple[Guard, ...]:
    """The guard of the velocities at which loops open and wheels slip, as a part of `speed_at_play`; `beside`: what it
    is later, where forces and drives bring more.
    """
    speed = speed_at_play(tree, kinetic)
    if speed == 0.0:
        return ()
    says, remedy = "loops open or wheels slip", "start elsewhere, or give the rank of the closures"
    return (Guard("velocity_gap", says, remedy, greatest=part * speed, beside=beside),)


def closure_guards(size: float, part: float = OPEN) -> tuple[Guard, ...]:
    """The guard of the gaps of a mechanism of a size, m."""
    remedy = "start closed, use a smaller step or close them after every step"
    return (Guard("gap", "the loops are open", remedy, greatest=part * size, start=OPEN * size),)


def start_guard(tree: Tree, kinetic: float) -> tuple[Guard, ...]:
    """`slip_guard` for the start alone, where the formulation lets these velocities grow."""
    return tuple(replace(guard, greatest=np.inf, start=guard.greatest) for guard in slip_guard(tree, kinetic))


def pivot_guard(at_home: float) -> tuple[Guard, ...]:
    """The guard of the smallest pivot of the closures."""
    remedy = "start elsewhere, or cross singular positions with fixed steps"
    return (Guard("pivot", "the closures lose rank and their forces are not determined", remedy, least=LOST * at_home),)
