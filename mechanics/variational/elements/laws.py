"""The forces of elements over a step, as impulses at its two nodes, and how they change with the motion.

With φ₀, φ₁ the value of an equation (or the coordinate of a joint) at the nodes and its rate over the step,

    s = (φ₁ − φ₀)/h,     trapezoidal: F₀ = F(φ₀, s, t₀), F₁ = F(φ₁, s, t₁);   midpoint: F₀ = F₁ = F((φ₀ + φ₁)/2, s, t½)

the impulses are (h/2) F₀ along the screw W₀ at node k and (h/2) F₁ along W₁ at node k + 1.  Of a spring and damper the
impedance −dF₀h/2 / dφ₁ is c/2 by the one rule and c/2 + h k/4 by the other.  A force between bodies gets their poses at
either node, and the twist of the motion over the step, cay⁻¹(f)/h on SE(3), at both.  All of this changes its roles
when the nodes are exchanged, so that the step stays symmetric; without dampers the midpoint rule is that of the
discrete Lagrangian L_d − h U((φ₀ + φ₁)/2).

Strong damping, z = h c/m ≫ 1, is that of the midpoint rule: the momenta of the nodes approach their slow course by the
factor (1 − z/2)/(1 + z/2) a step, so that they ring, while the positions, which ring 2/z as much, follow.

Derivatives by the rate are difference quotients: they only steer the iteration.
Sources: Marsden and West 2001, part 3 (forces); Stern and Grinspun 2009 (stiff springs by the midpoint rule).
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, real_part, small_change, st2
from liegroup.compile.scalars import absolute, maximum
from liegroup.formulas.so2 import cayley_angle
from liegroup.formulas.vectors import add, cross, scale, subtract
from mechanics.algebra.vectors import rotated_back
from mechanics.closed_trees.forces import tendon_joint
from mechanics.closed_trees.layout import ALONG_ONE, TO_BASE, PackedEquation, closures_of, element_of
from mechanics.closed_trees.poses import GRAIN, extent, pose, screws_of
from mechanics.forces.element import ON_BODIES, ON_EQUATION, ON_JOINT, ON_TENDON, BodyState
from mechanics.forces.registry import law_on_bodies, law_on_equation, law_on_joint
from mechanics.joints.element import SCREW, SLIDE, TURN
from mechanics.kernels.links import put, vector
from mechanics.model.layout import header_of, link_of, numbers_of
from mechanics.variational.elements.lines import (
    DRAG,
    FEEL,
    IMPULSE_OF,
    LOAD,
    MIDPOINT,
    PHI,
    POSES,
    PUSH,
    element_lines,
    takes_part,
)
from mechanics.variational.gibbs import compose, turned
from mechanics.variational.impulses import largest
from mechanics.variational.workspace import SHIFT_BODY, SHIFT_JOINT, TURN_BODY, TURN_JOINT

NUDGE = 1e-7
"""Change of a rate, relative to 1 and itself, for difference quotients."""


# --- along one number -------------------------------------------------------------------------------------------------


@helper
def moved_by_joint(structure: Any, work: Any, i: Any) -> Any:
    """The increment of the coordinate of a link of one freedom over the step."""
    is_slide = link_of(structure, i).kind == SLIDE
    return ld2(work, i, SHIFT_JOINT + 2) if is_slide else cayley_angle(ld2(work, i, TURN_JOINT + 2))


@helper
def tendon_over_step(y: Any, parameters: Any, structure: Any, work: Any, e: Any) -> Any:
    """The length of a tendon at the coordinates y, and its increment over the step."""
    x = change = 0.0 * ld(y, 0)
    for k in range(e.first):
        joint, a = tendon_joint(structure, e, k), ld(parameters, e.equation_numbers + k)
        x, change = x + a * ld(y, joint.q), change + a * moved_by_joint(structure, work, joint.link)
    return x, change


@kernel
def along_equation(parameters: Any, structure: Any, closures: Any, e: Any, field_work: Any) -> Any:
    """φ and the screws of the equation of an element, with the poses as they are."""
    equation = PackedEquation(e.equation, e.first, e.second, e.equation_numbers, e.code)
    return screws_of(parameters, structure, closures, equation, field_work)


@kernel
def law_along(t: Any, parameters: Any, e: Any, x: Any, s: Any) -> Any:
    """The force of an element along its one number."""
    if e.place == ON_JOINT or e.place == ON_TENDON:
        force, _, _ = law_on_joint(e.kind, t, parameters, e, x, s)
    else:
        force, _, _ = law_on_equation(e.kind, t, parameters, e, x, s)
    return force


@helper
def at_start(t: Any, h: Any, options: Any, parameters: Any, e: Any, x: Any, change: Any) -> Any:
    """(h/2) F₀ of an element along one number x that changes by `change`, and its impedance."""
    mid, s = 0.5 * options[MIDPOINT], change / h
    t, x = t + mid * h, x + mid * change
    force = law_along(t, parameters, e, x, s)
    nudge = small_change(NUDGE * (1.0 + absolute(s)))
    other = law_along(t, parameters, e, x + (mid * h) * nudge, s + nudge)
    return (0.5 * h) * force, real_part(0.5 * (force - other) / nudge)


@helper
def at_end(t: Any, h: Any, options: Any, parameters: Any, e: Any, x: Any, change: Any) -> Any:
    """(h/2) F₁ of it, with t and x at the end of the step."""
    mid = 0.5 * options[MIDPOINT]
    return (0.5 * h) * law_along(t - mid * h, parameters, e, x - mid * change, change / h)


# --- between bodies ---------------------------------------------------------------------------------------------------


@helper
def kept_pose(work: Any, row: Any, column: Any) -> Any:
    """R and x of a body, as `remember` has kept them."""
    a, b, c = vector(work, row, column), vector(work, row, column + 3), vector(work, row, column + 6)
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]), vector(work, row, column + 9)


@helper
def state_at_start(h: Any, work: Any, row: Any, column: Any, i: Any, nudged: Any, nudge: Any) -> Any:
    """Pose of a body at node k and its velocity over the step; with component `nudged` of its increment at node k + 1
    changed by h times `nudge`.
    """
    R, x = kept_pose(work, row, column)
    a, d, zero = vector(work, i, TURN_BODY), vector(work, i, SHIFT_BODY), 0.0 * nudge
    u = (
        nudge if nudged in (0, 3) else zero,
        nudge if nudged in (1, 4) else zero,
        nudge if nudged in (2, 5) else zero,
    )  # fmt: skip
    u = scale(h, u)
    if nudged >= 3:
        a = compose(a, u)
    elif nudged >= 0:
        d = add(d, add(u, turned(a, u)))
    v, w = twist(h, a, d)
    return BodyState(R, x, v, w)


@helper
def twist(h: Any, a: Any, d: Any) -> Any:
    """The Cayley coordinates of a motion (a, d) over h: the same in the axes of both nodes, wherever the origin is."""
    return scale(1.0 / h, subtract(d, scale(0.5, cross(a, d)))), scale(1.0 / h, a)


@helper
def state_at_end(h: Any, work: Any, field_work: Any, line: Any, i: Any) -> Any:
    """Pose of a body at node k + 1 and its velocity over the step, there."""
    R, x = pose(field_work, line)
    v, w = twist(h, vector(work, i, TURN_BODY), vector(work, i, SHIFT_BODY))
    return BodyState(R, x, v, w)


@helper
def put_wrench(work: Any, row: Any, column: Any, R: Any, arm: Any, force: Any) -> None:
    """A force at `arm` from the origin of a body, world axes, as six numbers in the axes of the body."""
    put(work, row, column, rotated_back(R, force))
    put(work, row, column + 3, rotated_back(R, cross(arm, force)))


@kernel
def put_arms(work: Any, row: Any, first: Any, second: Any, arm_i: Any, arm_j: Any) -> None:
    """L of the three rows of a force between bodies: unit forces along the axes of the world."""
    one = 1.0 + 0.0 * arm_i[0]
    zero = 0.0 * one
    for k in range(3):
        x = one if k == 0 else zero
        y = one if k == 1 else zero
        z = one if k == 2 else zero
        put_wrench(work, row + k, PUSH, first.R, arm_i, (x, y, z))
        put_wrench(work, row + k, PUSH + 6, second.R, arm_j, (-x, -y, -z))


@kernel
def force_between(t: Any, parameters: Any, e: Any, first: Any, second: Any) -> Any:
    """The force of an element on the first body, and its arms."""
    force, arm_i, arm_j, _, _ = law_on_bodies(e.kind, t, parameters, e, first, second)
    return force, arm_i, arm_j


@kernel
def between_bodies(t: Any, h: Any, parameters: Any, structure: Any, work: Any, e: Any, row: Any) -> None:
    """L, R and (h/2) F₀ of a force between bodies."""
    base = header_of(structure).links
    none = 0.0 * ld2(work, row, POSES)
    first = state_at_start(h, work, row, POSES, e.first, -1, none)
    second = state_at_start(h, work, row, POSES + 12, e.second, -1, none)
    f, arm_i, arm_j = force_between(t, parameters, e, first, second)
    put_arms(work, row, first, second, arm_i, arm_j)
    for k in range(3):
        st2(work, row + k, IMPULSE_OF, (0.5 * h) * f[k])
    for c in range(12):
        i = e.first if c < 6 else e.second
        for k in range(3):
            st2(work, row + k, FEEL + c, none)
        if i < base:
            speed = absolute(ld2(work, i, SHIFT_BODY + c % 3) if c % 6 < 3 else ld2(work, i, TURN_BODY + c % 3))
            nudge = small_change(NUDGE * (1.0 + speed / absolute(h)))
            one = state_at_start(h, work, row, POSES, e.first, c if c < 6 else -1, nudge)
            other = state_at_start(h, work, row, POSES + 12, e.second, c - 6, nudge)
            g, _, _ = force_between(t, parameters, e, one, other)
            for k in range(3):
                st2(work, row + k, FEEL + c, real_part(0.5 * (f[k] - g[k]) / nudge))


# --- all elements -----------------------------------------------------------------------------------------------------


@kernel
def remember_start(parameters: Any, structure: Any, options: Any, field_work: Any, work: Any) -> None:
    """Keep φ₀ and W₀, and the poses of bodies, with the poses at node k; no impulses."""
    closures, lines = closures_of(structure), element_lines(structure, work, options)
    for r in range(closures.rows):
        for k in range(PHI):
            st2(work, lines.rows + r, k, 0.0)
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options) and (e.place == ON_EQUATION or e.place == ON_BODIES):
            row = lines.rows + e.row
            if e.place == ON_EQUATION:
                phi, W_i, W_j = along_equation(parameters, structure, closures, e, field_work)
                st2(work, row, PHI, phi)
                for k in range(6):
                    st2(work, row, PUSH + k, W_i[k])
                    st2(work, row, PUSH + 6 + k, W_j[k])
            else:
                for k in range(12):
                    st2(work, row, POSES + k, ld2(field_work, closures.poses + e.first, k))
                    st2(work, row, POSES + 12 + k, ld2(field_work, closures.poses + e.second, k))


@kernel
def evaluate(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> Any:  # fmt: skip
    """Impulses (h/2) F₀ and impedances of all elements with the present increments, poses at node k + 1; t at node k.

    Returns the rounding in the largest impulse, and the size of the mechanism.
    """
    closures, lines = closures_of(structure), element_lines(structure, work, options)
    clear_loads(structure, work)
    size = extent(structure, field_work)
    noise = 0.0 * size
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options):
            row = lines.rows + e.row
            if e.place == ON_JOINT:
                before = ld(y, e.first)
                x, impedance = at_start(t, h, options, parameters, e, before, moved_by_joint(structure, work, e.link))
                st2(work, row, IMPULSE_OF, x)
                st2(work, e.link, DRAG, ld2(work, e.link, DRAG) + impedance)
                noise = maximum(noise, absolute(impedance) * (GRAIN * absolute(before)))
            elif e.place == ON_TENDON:
                before, change = tendon_over_step(y, parameters, structure, work, e)
                x, impedance = at_start(t, h, options, parameters, e, before, change)
                st2(work, row, IMPULSE_OF, x)
                st2(work, row, FEEL, impedance)
                noise = maximum(noise, absolute(impedance) * (GRAIN * absolute(before)))
                if e.reach == ALONG_ONE:
                    a = ld(parameters, e.equation_numbers)
                    st2(work, e.link, DRAG, ld2(work, e.link, DRAG) + a * a * impedance)
            elif e.place == ON_EQUATION:
                phi, W_i, W_j = along_equation(parameters, structure, closures, e, field_work)
                before = ld2(work, row, PHI)
                x, impedance = at_start(t, h, options, parameters, e, before, phi - before)
                st2(work, row, IMPULSE_OF, x)
                for k in range(6):
                    st2(work, row, FEEL + k, impedance * W_i[k])
                    st2(work, row, FEEL + 6 + k, impedance * W_j[k])
                rounded = size * largest(W_i[:3]) + largest(W_i[3:]) + absolute(before)  # of places and of turns
                noise = maximum(noise, absolute(impedance) * (GRAIN * rounded))
                spread(parameters, structure, work, e, row)
            else:
                between_bodies(t, h, parameters, structure, work, e, row)
                for k in range(3):
                    spread(parameters, structure, work, e, row + k)
                    for c in range(12):  # what it rests on is pressed by more or less where places are rounded
                        noise = maximum(noise, absolute(ld2(work, row + k, FEEL + c)) * (GRAIN * size))
    return noise, size


@kernel
def clear_loads(structure: Any, work: Any) -> None:
    """No impedances in the links."""
    for i in range(header_of(structure).links):
        for k in range(37):
            st2(work, i, DRAG + k, 0.0)


@kernel
def spread(parameters: Any, structure: Any, work: Any, e: Any, row: Any) -> None:
    """The impedance L Rᵀ of a row into its link, unless it goes across the tree."""
    if e.reach == ALONG_ONE:
        link = link_of(structure, e.link)
        at = 0 if e.link == e.first else 6
        pitch = numbers_of(parameters, link).pitch
        x = along(link.kind, pitch, work, row, PUSH + at) * along(link.kind, pitch, work, row, FEEL + at)
        st2(work, e.link, DRAG, ld2(work, e.link, DRAG) + x)
    elif e.reach == TO_BASE:
        is_first = e.first < header_of(structure).links
        i = e.first if is_first else e.second
        at = 0 if is_first else 6
        for j in range(6):
            x = ld2(work, row, PUSH + at + j)
            for k in range(6):
                column = LOAD + 18 * (j // 3) + 9 * (k // 3) + 3 * (j % 3) + k % 3
                st2(work, i, column, ld2(work, i, column) + x * ld2(work, row, FEEL + at + k))


@helper
def along(kind: Any, pitch: Any, work: Any, row: Any, column: Any) -> Any:
    """Aᵀ of six numbers, for a link of one freedom."""
    if kind == TURN:
        return ld2(work, row, column + 5)
    if kind == SCREW:
        return pitch * ld2(work, row, column + 2) + ld2(work, row, column + 5)
    return ld2(work, row, column + 2)


@kernel
def evaluate_end(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any
) -> None:  # fmt: skip
    """(h/2) F₁ of all elements into the impulses, W₁ (or unit forces there) into L; t and y at node k + 1."""
    closures, lines = closures_of(structure), element_lines(structure, work, options)
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options):
            row = lines.rows + e.row
            if e.place == ON_JOINT:
                change = moved_by_joint(structure, work, e.link)
                st2(work, row, IMPULSE_OF, at_end(t, h, options, parameters, e, ld(y, e.first), change))
            elif e.place == ON_TENDON:
                after, change = tendon_over_step(y, parameters, structure, work, e)
                st2(work, row, IMPULSE_OF, at_end(t, h, options, parameters, e, after, change))
            elif e.place == ON_EQUATION:
                phi, W_i, W_j = along_equation(parameters, structure, closures, e, field_work)
                before = ld2(work, row, PHI)
                st2(work, row, IMPULSE_OF, at_end(t, h, options, parameters, e, phi, phi - before))
                for k in range(6):
                    st2(work, row, PUSH + k, W_i[k])
                    st2(work, row, PUSH + 6 + k, W_j[k])
            else:
                first = state_at_end(h, work, field_work, closures.poses + e.first, e.first)
                second = state_at_end(h, work, field_work, closures.poses + e.second, e.second)
                f, arm_i, arm_j = force_between(t, parameters, e, first, second)
                put_arms(work, row, first, second, arm_i, arm_j)
                for k in range(3):
                    st2(work, row + k, IMPULSE_OF, (0.5 * h) * f[k])
