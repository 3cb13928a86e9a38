"""Whether a state belongs to a rest or a steady motion, about which the linear motion has constant coefficients."""

from __future__ import annotations

import numpy as np

from mechanics.constraints.assembly import moved_by
from mechanics.errors import ModelError
from mechanics.linear.linearised import Linearisation, by_velocities
from mechanics.linear.posed import Posed

AT_REST = 1e-7
"""An acceleration, relative to the greatest derivative of one by a coordinate, that counts as none."""
SAME = 1e-8
"""Of the derivatives along a steady motion, relative."""
AHEAD = (0.37, 1.3)
"""rad, or m, of the fastest joint (s, if only drives move): where it is looked whether a motion is steady."""


def check_steady(posed: Posed, near: Linearisation) -> None:
    """ModelError if velocities, or the linear motion, change along the motion with constant velocities."""
    _check_persists(posed, near)
    fastest = float(np.abs(near.v).max(initial=0.0))
    if fastest == 0.0 and not posed.is_driven:
        return
    scale = float(np.abs(near.A).max(initial=0.0))
    for turn in AHEAD:
        time = turn / fastest if fastest else turn
        there = Posed(posed.model, posed.tau, posed.t + time)
        later = by_velocities(there, moved_by(posed.tree, near.q, time * near.v), near.v, near)
        _check_persists(there, later)
        change = np.abs(later.A - near.A)
        if change.max(initial=0.0) > SAME * scale:
            row, column = np.unravel_index(int(np.argmax(change)), change.shape)
            raise ModelError(
                f"state of {posed.name!r}",
                f"is no steady motion: the derivative of the rate of {near.x[int(row)]} by {near.x[int(column)]} "
                f"changes by {change.max():.3g} along it",
                "take Floquet multipliers (integrators.analysis.floquet_multipliers) if it is periodic; give a "
                "spinning symmetric body a joint of its own for the spin",
            )


def _check_persists(posed: Posed, near: Linearisation) -> None:
    """ModelError if the velocities change."""
    k = int(np.argmax(np.abs(near.acceleration))) if len(near.acceleration) else 0
    scale = max(float(np.abs(near.A).max(initial=0.0)), 1.0)
    if len(near.acceleration) and abs(near.acceleration[k]) > AT_REST * scale:
        remedy = "find one with mechanics.equilibrium, or give the joint forces (tau) that hold it"
        for element in getattr(posed.model, "elements", ()):
            if (motion := getattr(element, "motion", None)) is not None and not motion.is_constant:
                remedy += f"; {element} moves, which an equilibrium leaves out: take a time t at which it rests"
                break
        raise ModelError(
            f"state of {posed.name!r}",
            f"does not persist: v̇ of {posed.labels[k]} is {near.acceleration[k]:.4g} {posed.units[k]}/s²",
            remedy,
        )
