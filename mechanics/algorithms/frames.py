"""One frame of a tree: where it is, how it moves, its Jacobian and the rate of that; and the centre of mass.

Behind the arrays of the tree stand those of the frame: in `structure` its link and whether results are in the axes of
the world (else in its own); in `parameters` its `Place` on the link.

Rows of a Jacobian are what unit wrenches do along the joints, Bᵀ F: F is carried from link to link to the base.  If F
is fixed in the frame, its rate in the axes of a link j is V_f ×* F − V_j ×* F, with the twists of the frame and the
link and (v, ω) ×* (f, m) = (ω × f, v × f + ω × m); if it keeps the directions of the world, only the point moves, and
V_f is the velocity of the point alone.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, st
from liegroup.formulas.vectors import add, cross, dot, scale, subtract
from mechanics.algebra.vectors import rotated_back
from mechanics.algorithms.energy import CENTRE, first_moments
from mechanics.algorithms.kinematics import AXES, jacobian_at, pose_at, poses, put_six, unit_wrench
from mechanics.algorithms.momentum import MOMENTUM, momenta
from mechanics.algorithms.rnea import ACCELERATION, accelerations
from mechanics.kernels.links import put, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, own_momentum, project, velocities
from mechanics.model.layout import PLACE, Place, gravity_of, header_of, link_of, numbers_of, three


@helper
def frame_of(parameters: Any, structure: Any) -> Any:
    """The place of the frame."""
    o = parameters.shape[0] - PLACE
    R = (*three(parameters, o), *three(parameters, o + 3), *three(parameters, o + 6))
    return Place(ld(structure, structure.shape[0] - 2), R, three(parameters, o + 9))


@helper
def in_world(structure: Any) -> Any:
    """Whether results are in the axes of the world."""
    return ld(structure, structure.shape[0] - 1) == 1


@helper
def from_link(work: Any, place: Any, world: Any, a: Any) -> Any:
    """A vector in the axes of the link of a frame, in those of the world or of the frame; after `poses`."""
    if world:
        i = place.link
        a = (
            dot(vector(work, i, AXES), a),
            dot(vector(work, i, AXES + 3), a),
            dot(vector(work, i, AXES + 6), a),
        )
    else:
        a = rotated_back(place.rotation, a)
    return a


@helper
def cross_wrench(v: Any, w: Any, f: Any, m: Any) -> Any:
    """(v, w) ×* (f, m)."""
    return cross(w, f), add(cross(v, f), cross(w, m))


@entry(*FIELD_SIGNATURES)
def frame_pose(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → origin in the world (3) and rotation frame → world by rows (9)."""
    poses(t, y, parameters, structure, work)
    pose_at(work, frame_of(parameters, structure), out, 0)


@entry(*FIELD_SIGNATURES)
def frame_twist(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → velocity of the origin and angular velocity."""
    place = frame_of(parameters, structure)
    velocities(t, y, header_of(structure).n_q, parameters, structure, work)
    poses(t, y, parameters, structure, work)
    v, w = vector(work, place.link, TWIST), vector(work, place.link, TWIST + 3)
    v, world = add(v, cross(w, place.position)), in_world(structure)
    put_six(out, 0, from_link(work, place, world, v), from_link(work, place, world, w))


@entry(*FIELD_SIGNATURES)
def frame_acceleration(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, a) → rates of the components of `frame_twist`."""
    place, world = frame_of(parameters, structure), in_world(structure)
    i, x = place.link, place.position
    accelerations(t, y, parameters, structure, work)
    v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
    a, e = vector(work, i, ACCELERATION), vector(work, i, ACCELERATION + 3)
    poses(t, y, parameters, structure, work)
    g = gravity_of(parameters)
    for r in range(3):  # that of the base is −g
        a = add(a, scale(g[r], vector(work, i, AXES + 3 * r)))
    a = add(a, cross(e, x))
    if world:
        a = add(a, cross(w, add(v, cross(w, x))))
    put_six(out, 0, from_link(work, place, world, a), from_link(work, place, world, e))


@entry(*FIELD_SIGNATURES)
def frame_jacobian(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → Jacobian (6 × n_v, by rows)."""
    poses(t, y, parameters, structure, work)
    jacobian_at(t, y, parameters, structure, work, frame_of(parameters, structure), in_world(structure), out, 0)


@entry(*FIELD_SIGNATURES)
def frame_jacobian_rate(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → rate of `frame_jacobian` (6 × n_v, by rows)."""
    tree, place, world = header_of(structure), frame_of(parameters, structure), in_world(structure)
    velocities(t, y, tree.n_q, parameters, structure, work)
    poses(t, y, parameters, structure, work)
    v, w = vector(work, place.link, TWIST), vector(work, place.link, TWIST + 3)
    if world:
        v = add(v, cross(w, place.position))
        w = subtract(w, w)
    for k in range(6 * tree.n_v):
        st(out, k, 0.0)
    for r in range(6):
        f, m = unit_wrench(work, place, world, r)
        df, dm = cross_wrench(v, w, f, m)
        i = place.link
        while i < tree.links:
            link = link_of(structure, i)
            own_f, own_m = cross_wrench(vector(work, i, TWIST), vector(work, i, TWIST + 3), f, m)
            project(parameters, link, subtract(df, own_f), subtract(dm, own_m), out, r * tree.n_v + link.v, 1)
            f, m = wrench_up(t, y, parameters, work, i, link, f, m)
            df, dm = wrench_up(t, y, parameters, work, i, link, df, dm)
            i = link.parent


# --- the centre of mass -----------------------------------------------------------------------------------------------


SUBTREE, LINEAR = 18, 21
"""Columns of the first moment and of the linear momentum of all that a link carries, itself included."""


@helper
def total_mass(parameters: Any, structure: Any) -> Any:
    """Of the links."""
    total = 0.0
    for i in range(header_of(structure).links):
        total = total + numbers_of(parameters, link_of(structure, i)).mass
    return total


@helper
def subtrees(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, moving: Any) -> None:
    """First moments of the subtrees, their linear momenta if they are moving (`out` lends n_v places), and `poses`."""
    tree = header_of(structure)
    if moving:
        velocities(t, y, tree.n_q, parameters, structure, work)
        momenta(t, y, parameters, structure, work, out)
    else:
        poses(t, y, parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    for i in range(tree.links):
        link = link_of(structure, i)
        put(work, i, SUBTREE, add(vector(work, i, CENTRE), numbers_of(parameters, link).moment))
        if moving:
            l, _ = own_momentum(parameters, link, vector(work, i, TWIST), vector(work, i, TWIST + 3))
            put(work, i, LINEAR, add(vector(work, i, MOMENTUM), l))
    poses(t, y, parameters, structure, work)


@entry(*FIELD_SIGNATURES)
def centre_jacobian(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = q → Jacobian of the centre of mass (3 × n_v, by rows), world axes.

    Row r is what a field of force of unit strength along axis r does along the joints, divided by the mass: on the
    subtree of a link with mass m and first moment c it is (m e, c × e).
    """
    tree = header_of(structure)
    subtrees(t, y, parameters, structure, work, out, False)
    part = 1.0 / total_mass(parameters, structure)
    for i in range(tree.links):
        link = link_of(structure, i)
        m, c = part * numbers_of(parameters, link).tree_mass, scale(part, vector(work, i, SUBTREE))
        for r in range(3):
            e = vector(work, i, AXES + 3 * r)
            project(parameters, link, scale(m, e), cross(c, e), out, r * tree.n_v + link.v, 1)


@entry(*FIELD_SIGNATURES)
def centre_jacobian_rate(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → rate of `centre_jacobian` (3 × n_v, by rows), world axes.

    About the moving origin of the link the first moment changes by l − m v, with the linear momentum l of the subtree
    and the velocity v of the origin; in the axes of the link, ω × is taken off both vectors.
    """
    tree = header_of(structure)
    subtrees(t, y, parameters, structure, work, out, True)
    part = 1.0 / total_mass(parameters, structure)
    for i in range(tree.links):
        link = link_of(structure, i)
        v, w = vector(work, i, TWIST), vector(work, i, TWIST + 3)
        mass = numbers_of(parameters, link).tree_mass
        m, c = part * mass, scale(part, vector(work, i, SUBTREE))
        dc = scale(part, subtract(vector(work, i, LINEAR), scale(mass, v)))
        for r in range(3):
            e = vector(work, i, AXES + 3 * r)
            f = scale(-m, cross(w, e))
            k = subtract(cross(dc, e), cross(w, cross(c, e)))
            project(parameters, link, f, k, out, r * tree.n_v + link.v, 1)
