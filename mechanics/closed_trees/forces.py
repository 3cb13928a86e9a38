"""Force elements in the kernels: forces after the twists are known, stored energy, and power.

The laws are those of `mechanics.forces`, one file per kind; here is where they act.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.compile import helper, kernel, ld, ld2, rare, scalar_of, st
from liegroup.formulas.vectors import add, cross, scale
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.closed_trees.layout import ACCUMULATED, PackedEquation, closures_of, element_of
from mechanics.closed_trees.poses import pose, screws_at
from mechanics.constraints.coupling_equations import CoupledJoint
from mechanics.forces.element import IN_WORLD, ON_BODIES, ON_EQUATION, ON_JOINT, ON_SCREW, ON_TENDON, BodyState
from mechanics.forces.registry import law_on_bodies, law_on_equation, law_on_joint, law_on_screw
from mechanics.kernels.links import vector
from mechanics.kernels.sweeps import add_to
from mechanics.model.layout import HEADER, header_of, three

LOOPS = "short"


@helper
def on_equation(parameters: Any, structure: Any, element: Any, work: Any, registers: Any, i: Any, j: Any) -> Any:
    """φ, its rate, and the screws of the equation of an element, from the states of the two links; line `registers` of
    `work` is for a tape.
    """
    equation = PackedEquation(
        element.equation, element.first, element.second, element.equation_numbers, element.code
    )  # fmt: skip
    phi, W_i, W_j = screws_at(parameters, structure, equation, work, registers, i.R, i.x, j.R, j.x)
    return phi, _power(W_i, i.v, i.w) + _power(W_j, j.v, j.w), W_i, W_j


@helper
def _power(W: Any, v: Any, w: Any) -> Any:
    return (W[0] * v[0] + W[1] * v[1] + W[2] * v[2]) + (W[3] * w[0] + W[4] * w[1] + W[5] * w[2])


@helper
def body_state(work: Any, poses_at: Any, i: Any) -> Any:
    """Pose and twist of link i; twists are in columns 0 … 5 of the links."""
    R, x = pose(work, poses_at + i)
    return BodyState(R, x, vector(work, i, 0), vector(work, i, 3))


@helper
def _wrench(R: Any, arm: Any, force: Any) -> Any:
    """A force at `arm` from the origin of a link, world axes, as a wrench in link axes."""
    f, m = rotated_back(R, force), rotated_back(R, cross(arm, force))
    return f[0], f[1], f[2], m[0], m[1], m[2]


@helper
def along_equation(
    t: Any, parameters: Any, structure: Any, element: Any, work: Any, registers: Any, i: Any, j: Any
) -> Any:
    """The wrenches on the two links of an element that acts along an equation, from their states."""
    phi, rate, W_i, W_j = on_equation(parameters, structure, element, work, registers, i, j)
    force, _, _ = law_on_equation(element.kind, t, parameters, element, phi, rate)
    return (
        (force * W_i[0], force * W_i[1], force * W_i[2], force * W_i[3], force * W_i[4], force * W_i[5]),
        (force * W_j[0], force * W_j[1], force * W_j[2], force * W_j[3], force * W_j[4], force * W_j[5]),
    )


@helper
def between_bodies(t: Any, parameters: Any, element: Any, first: Any, second: Any) -> Any:
    """The wrenches on the two links of an element that acts at points of bodies, from their states."""
    f, arm_i, arm_j, _, _ = law_on_bodies(element.kind, t, parameters, element, first, second)
    return _wrench(first.R, arm_i, f), _wrench(second.R, arm_j, scale(-1.0, f))


@helper
def tendon_joint(structure: Any, element: Any, k: Any) -> Any:
    """Joint k of a tendon."""
    at = element.code + 3 * k
    return CoupledJoint(ld(structure, at), ld(structure, at + 1), ld(structure, at + 2))


@helper
def tendon_at(y: Any, v: Any, offset: Any, parameters: Any, structure: Any, element: Any) -> Any:
    """Length and rate of a tendon, of coordinates in y and velocities in v[offset …]."""
    x = s = 0.0 * ld(y, 0)
    for k in range(element.first):
        joint, a = tendon_joint(structure, element, k), ld(parameters, element.equation_numbers + k)
        x, s = x + a * ld(y, joint.q), s + a * ld(v, offset + joint.v)
    return x, s


@helper
def screw_of(parameters: Any, element: Any, R: Any) -> Any:
    """The screw of an element as a wrench at the origin of its link, in the axes of the link, which R turns."""
    at, zero = element.equation_numbers, 0.0 * R[0]
    none = zero, zero, zero
    f, m, x = three(parameters, at), three(parameters, at + 3), three(parameters, at + 6)
    if element.equation == IN_WORLD:
        force, moment = rotated_back(R, f), rotated_back(R, m)
    else:
        force, moment = add(f, none), add(m, none)
    moment = add(moment, cross(x, force))
    return force[0], force[1], force[2], moment[0], moment[1], moment[2]


@helper
def along_screw(t: Any, parameters: Any, element: Any, state: Any) -> Any:
    """The wrench on the link of an element that acts along a screw, and the law's energy and power."""
    W = screw_of(parameters, element, state.R)
    s = _power(W, state.v, state.w)
    f, stored, power = law_on_screw(element.kind, t, parameters, element, 0.0 * s, s)
    return (f * W[0], f * W[1], f * W[2], f * W[3], f * W[4], f * W[5]), stored, power


@helper
def wrenches(
    t: Any, parameters: Any, structure: Any, element: Any, work: Any, registers: Any, first: Any, second: Any
) -> Any:
    """Of an element that acts on two links, or on the first one, of any scalar type."""
    if element.place == ON_EQUATION:
        return along_equation(t, parameters, structure, element, work, registers, first, second)
    if element.place == ON_SCREW:
        F, _, _ = along_screw(t, parameters, element, first)
        zero = 0.0 * F[0]
        return F, (zero, zero, zero, zero, zero, zero)
    return between_bodies(t, parameters, element, first, second)


@helper
def _apply(work: Any, line: Any, F: Any) -> None:
    """Add a wrench in the axes of a link to the accumulated one."""
    R, _ = pose(work, line)
    add_to(work, line, ACCUMULATED, rotated(R, (F[0], F[1], F[2])), rotated(R, (F[3], F[4], F[5])))


def has_forces(structure: NDArray[np.int64], tau: int) -> bool:
    """Whether `structure` begins with a mechanism that has force elements."""
    return len(structure) > HEADER and header_of(structure).extension > 0 and closures_of(structure).forces > 0


@helper
def forces(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    """Wrenches into the accumulators, forces on joints into out[offset …]; out[0 …] holds the velocities."""
    if closures_of(structure).forces > 0:
        _forces(t, y, parameters, structure, work, out, offset)


@rare(has_forces)
def _forces(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any) -> None:
    closures = closures_of(structure)
    for n in range(closures.forces):
        force_of(t, y, parameters, structure, work, out, offset, element_of(structure, closures, n))


@kernel
def force_of(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, offset: Any, element: Any
) -> None:  # fmt: skip
    """The same of one element."""
    closures = closures_of(structure)
    poses_at, kind, i, j = closures.poses, element.kind, element.first, element.second
    if element.place == ON_JOINT:
        force, _, _ = law_on_joint(kind, t, parameters, element, ld(y, i), ld(out, j))
        st(out, offset + j, ld(out, offset + j) + force)
    elif element.place == ON_TENDON:
        x, s = tendon_at(y, out, 0, parameters, structure, element)
        force, _, _ = law_on_joint(kind, t, parameters, element, x, s)
        for k in range(i):
            at = offset + tendon_joint(structure, element, k).v
            st(out, at, ld(out, at) + ld(parameters, element.equation_numbers + k) * force)
    elif element.place == ON_BODIES:
        first, second = body_state(work, poses_at, i), body_state(work, poses_at, j)
        f, arm_i, arm_j, _, _ = law_on_bodies(kind, t, parameters, element, first, second)
        add_to(work, poses_at + i, ACCUMULATED, f, cross(arm_i, f))
        f = scale(-1.0, f)
        add_to(work, poses_at + j, ACCUMULATED, f, cross(arm_j, f))
    elif element.place == ON_SCREW:
        F, _, _ = along_screw(t, parameters, element, body_state(work, poses_at, i))
        _apply(work, poses_at + i, F)
    else:
        first, second = body_state(work, poses_at, i), body_state(work, poses_at, j)
        F_i, F_j = along_equation(t, parameters, structure, element, work, closures.registers, first, second)
        _apply(work, poses_at + i, F_i)
        _apply(work, poses_at + j, F_j)


@helper
def stored_and_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any) -> Any:
    """(U, P): energy stored in the elements, and the power of what is not stored."""
    closures = closures_of(structure)
    stored = power = ld2(work, closures.poses, 0) * 0.0
    if closures.forces > 0:
        stored, power = _stored_and_power(t, y, parameters, structure, work, velocities)
    return stored, power


@rare(has_forces, lambda t, y, *others: (scalar_of(y), scalar_of(y)))
def _stored_and_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any) -> Any:
    closures = closures_of(structure)
    stored = power = ld2(work, closures.poses, 0) * 0.0
    for n in range(closures.forces):
        u, p = account_of(t, y, parameters, structure, work, velocities, element_of(structure, closures, n))
        stored, power = stored + u, power + p
    return stored, power


@kernel
def account_of(t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any, element: Any) -> Any:
    """(U, P) of one element."""
    closures = closures_of(structure)
    kind, i, j = element.kind, element.first, element.second
    if element.place == ON_JOINT:
        _, u, p = law_on_joint(kind, t, parameters, element, ld(y, i), ld(velocities, j))
        return u, p
    if element.place == ON_TENDON:
        x, s = tendon_at(y, velocities, 0, parameters, structure, element)
        _, u, p = law_on_joint(kind, t, parameters, element, x, s)
        return u, p
    first, second = body_state(work, closures.poses, i), body_state(work, closures.poses, j)
    if element.place == ON_EQUATION:
        phi, rate, _, _ = on_equation(parameters, structure, element, work, closures.registers, first, second)
        _, u, p = law_on_equation(kind, t, parameters, element, phi, rate)
    elif element.place == ON_SCREW:
        _, u, p = along_screw(t, parameters, element, first)
    else:
        _, _, _, u, p = law_on_bodies(kind, t, parameters, element, first, second)
    return u, p


@helper
def powers_of_inputs(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, velocities: Any, out: Any
) -> None:  # fmt: skip
    """out = the power of every input; poses, twists and velocities are known."""
    closures = closures_of(structure)
    for n in range(closures.forces):
        element = element_of(structure, closures, n)
        if element.input > 0:
            _, p = account_of(t, y, parameters, structure, work, velocities, element)
            st(out, element.input - 1, p)
