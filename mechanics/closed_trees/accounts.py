"""What every force element does at a state: energy that it stores, power of the rest, force and where it acts."""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, joined, kernel, ld, ld2, st
from liegroup.formulas.vectors import add, scale
from mechanics.algebra.vectors import rotated
from mechanics.closed_trees.field import velocities
from mechanics.closed_trees.forces import along_screw, body_state, on_equation, tendon_at
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.forces.element import ON_EQUATION, ON_JOINT, ON_SCREW, ON_TENDON
from mechanics.forces.registry import law_on_bodies, law_on_equation, law_on_joint

LOOPS = "short"

ACCOUNT = 8
"""Numbers of an element: U, P, force (3), point (3)."""


@kernel
def _account(t: Any, y: Any, parameters: Any, structure: Any, work: Any, rates: Any, element: Any) -> Any:
    """U, P, force on the first body and its point in world axes; on a joint or a tendon the force along it, first of
    three.
    """
    closures = closures_of(structure)
    kind, i, j = element.kind, element.first, element.second
    zero = 0.0 * ld2(work, closures.poses, 0)
    none = zero, zero, zero
    if element.place == ON_JOINT:
        f, stored, power = law_on_joint(kind, t, parameters, element, ld(y, i), ld(rates, j))
        force, point = (f, zero, zero), none
    elif element.place == ON_TENDON:
        x, s = tendon_at(y, rates, 0, parameters, structure, element)
        f, stored, power = law_on_joint(kind, t, parameters, element, x, s)
        force, point = (f, zero, zero), none
    elif element.place == ON_EQUATION:
        first, second = body_state(work, closures.poses, i), body_state(work, closures.poses, j)
        phi, rate, W, _ = on_equation(parameters, structure, element, work, closures.registers, first, second)
        f, stored, power = law_on_equation(kind, t, parameters, element, phi, rate)
        force, point = scale(f, rotated(first.R, (W[0], W[1], W[2]))), first.x
    elif element.place == ON_SCREW:
        first, at = body_state(work, closures.poses, i), element.equation_numbers + 6
        F, stored, power = along_screw(t, parameters, element, first)
        arm = ld(parameters, at) + zero, ld(parameters, at + 1) + zero, ld(parameters, at + 2) + zero
        force, point = rotated(first.R, (F[0], F[1], F[2])), add(first.x, rotated(first.R, arm))
    else:
        first, second = body_state(work, closures.poses, i), body_state(work, closures.poses, j)
        force, arm, _, stored, power = law_on_bodies(kind, t, parameters, element, first, second)
        point = add(first.x, arm)
    return stored, power, force, point


@entry(*FIELD_SIGNATURES)
def element_accounts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p*) → `ACCOUNT` numbers per force element."""
    closures = closures_of(structure)
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, parameters, structure, work, rates)
    for n in range(closures.forces):
        element = element_of(structure, closures, n)
        stored, power, force, point = _account(t, y, parameters, structure, work, rates, element)
        st(out, ACCOUNT * n, stored)
        st(out, ACCOUNT * n + 1, power)
        for k in range(3):
            st(out, ACCOUNT * n + 2 + k, force[k])
            st(out, ACCOUNT * n + 5 + k, point[k])
