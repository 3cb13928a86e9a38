"""The variational step of a tree with its exact derivative: directions are carried along, in linear time each.

A direction is (σ, δp, δu, δh, δt): increments of the joints (quasi-velocities at node k), of the momenta, of joint
forces u held over the step, of its size and of its start.  The forces act like half kicks at either end,

    p̂ = p + (h/2)(Q₀ + u),      p₁ = A₁ᵀ P*⁺ + (h/2)(Q₁ + u) − (damping/2) D

The step's equations are differentiated link by link (implicit function theorem).  With η⁰, η¹ the twists of a link at
the nodes, β = Ad_f⁻¹ η⁰ and N of `mechanics.variational.body_maps`,

    δP = N (η¹ − β) − P δh/h,       δP* = δP + Σ children C₀ᵀ (δP* − ad_σᵀ P*),      A₀ᵀ δP* = δp̂ − (damping/2) δD
    δP*⁺ = Ad_fᵀ δP* + ad_ζᵀ P*⁺,     ζ = η¹ − β,       δp₁ = A₁ᵀ δP*⁺ + (h/2)(δQ₁ + δu) + (δh/2)(Q₁ + u) − (damping/2)
    δD'

(armature adds its δP likewise, with the motion of the joint in the place of f), which is the system of one Newton
iteration with another right side: the factors at the solution serve all directions.
Parts of a composition and divided steps are differentiated one after the other.

work
    beside the lines of `mechanics.variational.step`: one line per link of the tree and one for the base (`REACTION` …),
    one line with the forces u and the size of the whole step, one line per direction: (σ, δp, δu, δh, δt), in place.
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.compensated import increase
from integrators.layout import COMPENSATION, OWN_ROWS, TAU
from integrators.signatures import STEP_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld2, rare, st2
from liegroup.formulas.vectors import add, cross, scale, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import MOVED_SLIDE, MOVED_TURN, SCREW
from mechanics.kernels.links import freedom, prescribed, put, vector
from mechanics.model.layout import (
    FIRST,
    GEARED,
    HEAVY,
    LEAF,
    WITH_ARMATURE,
    damping_of,
    has_kinds,
    header_of,
    link_of,
    numbers_of,
)
from mechanics.variational import armature
from mechanics.variational.correction import correction, still_base
from mechanics.variational.elimination import eliminate, own_matrix, relieved
from mechanics.variational.gibbs import tangent_inverse_matrix, turned
from mechanics.variational.nodes import forces
from mechanics.variational.step import accept as accept_step
from mechanics.variational.step import begin, checked, run, solve
from mechanics.variational.workspace import (
    DEFECT,
    ETA,
    FORCE,
    G0,
    G1,
    IMPULSE,
    MATRIX,
    SHIFT_BODY,
    SHIFT_JOINT,
    TARGET,
    TURN_BODY,
    TURN_JOINT,
    matrix,
    put_along,
    put_matrix,
    unknown,
    wrench_to_parent,
)

LOOPS = "short"

# --- columns of the further lines -------------------------------------------------------------------------------------

REACTION = 0  # P*
GRAVITY, FIRST_MOMENT = 6, 12  # g and first moment of the subtree in link axes, at k and at k + 1
FORCE_END = 18  # Q at k + 1
OWN = 24  # N of the body of the link, four blocks of nine
START, CARRIED, END = 60, 66, 72  # η⁰, β and η¹
JOINT, JOINT_END = 78, 84  # twist of the joint at k and k + 1: turn, shift
MOMENT = 90  # rate of the first moment
DRAG, SCRATCH = 93, 99  # δD: turn, shift
RATE = 105  # ẋ at k and k + 1 of a prescribed motion
EXTRA = 107
"""Columns that these lines need."""


@helper
def extra(structure: Any, i: Any) -> Any:
    """The further line of a link."""
    return header_of(structure).links + 1 + i


@helper
def control(structure: Any) -> Any:
    """The line of the forces; the directions follow."""
    return 2 * (header_of(structure).links + 1)


# --- twists -----------------------------------------------------------------------------------------------------------


@helper
def seen_from_row(G: Any, rho: Any, v: Any, w: Any) -> Any:
    """C (v, w): a twist of the parent at the origin and in the axes of the link."""
    return rotated(G, subtract(v, cross(rho, w))), rotated(G, w)


@helper
def carried_back(a: Any, d: Any, v: Any, w: Any) -> Any:
    """Ad_f⁻¹ (v, w) of the motion f = (cay(a), d)."""
    back, v = (-a[0], -a[1], -a[2]), subtract(v, cross(d, w))
    return add(v, turned(back, v)), add(w, turned(back, w))


@helper
def turned_wrench(v: Any, w: Any, f: Any, n: Any) -> Any:
    """ad_(v, w)ᵀ (f, n)."""
    return cross(f, w), add(cross(f, v), cross(n, w))


@helper
def put_joint_twists(kind: Any, pitch: Any, work: Any, direction: Any, v: Any, e: Any, dt: Any, dt_end: Any) -> None:
    """A σ of a joint in a direction into `JOINT`; of a prescribed motion A ẋ δt at both nodes, into `JOINT_END` too."""
    for k in range(12):
        st2(work, e, JOINT + k, 0.0)
    for j in range(freedom(kind)):
        st2(work, e, JOINT + unknown(kind, j) - TURN_JOINT, ld2(work, direction, v + j))
    if kind == SCREW:
        st2(work, e, JOINT + 5, pitch * ld2(work, e, JOINT + 2))
    elif kind in (MOVED_TURN, MOVED_SLIDE):
        along = 2 if kind == MOVED_TURN else 5
        st2(work, e, JOINT + along, ld2(work, e, RATE) * dt)
        st2(work, e, JOINT_END + along, ld2(work, e, RATE + 1) * dt_end)


@helper
def joint_change(work: Any, i: Any, e: Any) -> Any:
    """ζ of a joint, the increment of its motion."""
    a, d = vector(work, i, TURN_JOINT), vector(work, i, SHIFT_JOINT)
    v, w = carried_back(a, d, vector(work, e, JOINT + 3), vector(work, e, JOINT))
    return subtract(vector(work, e, JOINT_END + 3), v), subtract(vector(work, e, JOINT_END), w)


@kernel
def put_drag(work: Any, i: Any, e: Any) -> None:
    """δD of the increment D of a joint in old axes into `DRAG`, in new axes its shift into `SCRATCH`."""
    a, d = vector(work, i, TURN_JOINT), vector(work, i, SHIFT_JOINT)
    v, w = joint_change(work, i, e)
    put(work, e, DRAG, rotated(tangent_inverse_matrix(a), w))
    put(work, e, DRAG + 3, add(v, turned(a, v)))
    d = add(d, turned((-a[0], -a[1], -a[2]), d))
    put(work, e, SCRATCH + 3, subtract(v, cross(w, d)))


@rare(has_kinds(WITH_ARMATURE))
def put_armature(parameters: Any, structure: Any, work: Any, i: Any, link: Any, e: Any, k: Any, at_end: Any) -> None:
    """δP of armature into `SCRATCH`, or of what arrives at the end; k = δh/h."""
    v, w = joint_change(work, i, e)
    f, n = armature.change(parameters, structure, work, i, link, v, w)
    P, M = armature.momentum(parameters, structure, work, i, link)
    f, n = subtract(f, scale(k, P)), subtract(n, scale(k, M))
    if at_end:
        x, y = armature.onward(work, i, f, n)
        f, n = add(f, x), add(n, y)
        x, y = armature.onward(work, i, P, M)
        x, y = turned_wrench(v, w, add(P, x), add(M, y))
        f, n = add(f, x), add(n, y)
    put_along(work, e, SCRATCH, link.kind, 0.0, f, n)


# --- what all directions share ----------------------------------------------------------------------------------------


@kernel
def prepare(body_map: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Keep P*, g and first moments at both nodes, Q₁ and N; factorise the matrix at the solution."""
    n = header_of(structure).links
    for i in range(n):
        e = extra(structure, i)
        for k in range(6):
            st2(work, e, REACTION + k, ld2(work, i, IMPULSE + k))
    for node in range(2):
        forces(parameters, structure, work, G1 if node else G0, DEFECT)
        for i in range(n):
            e = extra(structure, i)
            put(work, e, GRAVITY + 3 * node, vector(work, i, ETA))
            put(work, e, FIRST_MOMENT + 3 * node, vector(work, i, MATRIX))
            for j in range(freedom(link_of(structure, i).kind)):
                st2(work, e, FORCE_END + j, ld2(work, i, DEFECT + j))
    for i in range(n):
        if link_of(structure, i).flags & HEAVY:
            e = extra(structure, i)
            A, B, C, I = own_matrix(body_map, work, i)
            put_matrix(work, e, OWN, A)
            put_matrix(work, e, OWN + 9, B)
            put_matrix(work, e, OWN + 18, C)
            put_matrix(work, e, OWN + 27, I)
    eliminate(body_map, parameters, structure, work, True)
    still_base(structure, work)
    for k in range(EXTRA):
        st2(work, extra(structure, n), k, 0.0)


@helper
def own_change(flags: Any, work: Any, i: Any, e: Any) -> Any:
    """N ζ of the body of a link, and what the children have left in `IMPULSE`."""
    zero = 0.0 * ld2(work, i, TURN_JOINT)
    f, n = (zero, zero, zero), (zero, zero, zero)
    if flags & HEAVY:
        v, w = (
            subtract(vector(work, e, END), vector(work, e, CARRIED)),
            subtract(vector(work, e, END + 3), vector(work, e, CARRIED + 3)),
        )
        f = add(rotated(matrix(work, e, OWN), v), rotated(matrix(work, e, OWN + 9), w))
        n = add(rotated(matrix(work, e, OWN + 18), v), rotated(matrix(work, e, OWN + 27), w))
    if not flags & LEAF:
        f, n = add(f, vector(work, i, IMPULSE)), add(n, vector(work, i, IMPULSE + 3))
    return f, n


@helper
def to_parent(flags: Any, parent: Any, work: Any, i: Any, e: Any, f: Any, n: Any) -> None:
    """C₀ᵀ (δP* − ad_σᵀ P*) for the parent."""
    x, y = turned_wrench(
        vector(work, e, JOINT + 3), vector(work, e, JOINT), vector(work, e, REACTION), vector(work, e, REACTION + 3)
    )  # fmt: skip
    wrench_to_parent(work, i, G0, parent, IMPULSE, flags & FIRST, subtract(f, x), subtract(n, y))


@kernel
def put_force_change(
    parameters: Any, structure: Any, work: Any, i: Any, link: Any, e: Any, placement: Any, node: Any, twist: Any, joint:
    Any
) -> None:  # fmt: skip
    """δQ of gravity at a node into `SCRATCH`: Aᵀ (m δg, δc × g + c × δg), δg = g × ω; δc goes on to the parent."""
    own = numbers_of(parameters, link)
    flags, parent = link.flags, extra(structure, link.parent)
    m, g, c = own.tree_mass, vector(work, e, GRAVITY + 3 * node), vector(work, e, FIRST_MOMENT + 3 * node)
    dc, dg = vector(work, e, MOMENT), cross(g, vector(work, e, twist + 3))
    if flags & LEAF:
        dc = scale(0.0, dc)
    put_along(work, e, SCRATCH, link.kind, own.pitch, scale(m, dg), add(cross(dc, g), cross(c, dg)))
    dc = add(dc, add(cross(vector(work, e, joint), c), scale(m, vector(work, e, joint + 3))))
    dc = rotated_back(matrix(work, i, placement), dc)
    put(work, parent, MOMENT, dc if flags & FIRST else add(dc, vector(work, parent, MOMENT)))


# --- one direction ----------------------------------------------------------------------------------------------------


@kernel
def start(parameters: Any, structure: Any, work: Any, direction: Any, dt: Any, dh: Any) -> None:
    """Down: η⁰, β, and η¹ of prescribed motions alone."""
    for i in range(header_of(structure).links):
        link, e = link_of(structure, i), extra(structure, i)
        parent = extra(structure, link.parent)
        kind, pitch, s = link.kind, numbers_of(parameters, link).pitch, link.v
        put_joint_twists(kind, pitch, work, direction, s, e, dt, dt + dh)
        v, w = seen_from_row(
            matrix(work, i, G0), vector(work, i, G0 + 9), vector(work, parent, START), vector(work, parent, START + 3)
        )
        v, w = add(v, vector(work, e, JOINT + 3)), add(w, vector(work, e, JOINT))
        put(work, e, START, v)
        put(work, e, START + 3, w)
        v, w = carried_back(vector(work, i, TURN_BODY), vector(work, i, SHIFT_BODY), v, w)
        put(work, e, CARRIED, v)
        put(work, e, CARRIED + 3, w)
        v, w = seen_from_row(
            matrix(work, i, G1), vector(work, i, G1 + 9), vector(work, parent, END), vector(work, parent, END + 3)
        )
        put(work, e, END, add(v, vector(work, e, JOINT_END + 3)))
        put(work, e, END + 3, add(w, vector(work, e, JOINT_END)))


@kernel
def right_side(h: Any, parameters: Any, structure: Any, work: Any, direction: Any, dh: Any) -> None:
    """Up: the right side of the step's linear equations, eliminated on the way."""
    tree = header_of(structure)
    n_v, u = tree.n_v, control(structure)
    for i in range(tree.links - 1, -1, -1):
        link, e = link_of(structure, i), extra(structure, i)
        kind, flags, s = link.kind, link.flags, link.v
        pitch = numbers_of(parameters, link).pitch
        f, n = own_change(flags, work, i, e)
        put_force_change(parameters, structure, work, i, link, e, G0, 0, START, JOINT)
        for j in range(freedom(kind)):
            x = ld2(work, e, SCRATCH + j) + ld2(work, direction, 2 * n_v + s + j)
            x = 0.5 * (h * x + dh * (ld2(work, i, FORCE + j) + ld2(work, u, s + j))) + ld2(work, direction, n_v + s + j)
            st2(work, i, DEFECT + j, x)
        k = dh / h
        x, y = subtract(f, scale(k, vector(work, e, REACTION))), subtract(n, scale(k, vector(work, e, REACTION + 3)))
        put_along(work, e, SCRATCH, kind, pitch, x, y)
        for j in range(freedom(kind)):
            st2(work, i, DEFECT + j, ld2(work, i, DEFECT + j) - ld2(work, e, SCRATCH + j))
        if flags & GEARED:
            put_armature(parameters, structure, work, i, link, e, k, False)
            for j in range(freedom(kind)):
                st2(work, i, DEFECT + j, ld2(work, i, DEFECT + j) - ld2(work, e, SCRATCH + j))
        put_drag(work, i, e)
        for j in range(freedom(kind)):
            x = ld2(work, e, DRAG + unknown(kind, j) - TURN_JOINT)
            st2(work, i, DEFECT + j, ld2(work, i, DEFECT + j) - (0.5 * damping_of(parameters, structure, s + j)) * x)
        f, n = relieved(kind, work, i, f, n)
        to_parent(flags, link.parent, work, i, e, f, n)


@kernel
def solved(parameters: Any, structure: Any, work: Any) -> None:
    """Down: the twists of the joints at k + 1, and η¹."""
    for i in range(header_of(structure).links):
        link, e = link_of(structure, i), extra(structure, i)
        parent = link.parent
        pitch = numbers_of(parameters, link).pitch
        v, w = seen_from_row(
            matrix(work, i, G1), vector(work, i, G1 + 9), vector(work, parent, ETA), vector(work, parent, ETA + 3)
        )
        dv, dw = correction(link.kind, pitch, work, i, v, w, v[0] != v[0])
        v, w = add(v, dv), add(w, dw)
        put(work, i, ETA, v)
        put(work, i, ETA + 3, w)
        put(work, e, JOINT_END, add(vector(work, e, JOINT_END), dw))
        put(work, e, JOINT_END + 3, add(vector(work, e, JOINT_END + 3), dv))
        put(work, e, END, add(vector(work, e, END), v))
        put(work, e, END + 3, add(vector(work, e, END + 3), w))


@kernel
def end(h: Any, parameters: Any, structure: Any, work: Any, direction: Any, dh: Any) -> None:
    """Up: δP*, δP*⁺, and with them the direction at the end of the step."""
    tree = header_of(structure)
    n_v, u = tree.n_v, control(structure)
    for i in range(tree.links - 1, -1, -1):
        link, e = link_of(structure, i), extra(structure, i)
        kind, flags, s = link.kind, link.flags, link.v
        pitch, a, d = numbers_of(parameters, link).pitch, vector(work, i, TURN_BODY), vector(work, i, SHIFT_BODY)
        f, n = own_change(flags, work, i, e)
        to_parent(flags, link.parent, work, i, e, f, n)
        put_force_change(parameters, structure, work, i, link, e, G1, 1, END, JOINT_END)
        for j in range(freedom(kind)):
            x = ld2(work, e, SCRATCH + j) + ld2(work, direction, 2 * n_v + s + j)
            st2(work, direction, n_v + s + j, 0.5 * (h * x + dh * (ld2(work, e, FORCE_END + j) + ld2(work, u, s + j))))
        k, P, M = dh / h, vector(work, e, REACTION), vector(work, e, REACTION + 3)
        f, n = onward_wrench(a, d, subtract(f, scale(k, P)), subtract(n, scale(k, M)))
        P, M = onward_wrench(a, d, P, M)
        v, w = (
            subtract(vector(work, e, END), vector(work, e, CARRIED)),
            subtract(vector(work, e, END + 3), vector(work, e, CARRIED + 3)),
        )
        x, y = turned_wrench(v, w, P, M)
        put_along(work, e, SCRATCH, kind, pitch, add(f, x), add(n, y))
        for j in range(freedom(kind)):
            st2(work, direction, n_v + s + j, ld2(work, direction, n_v + s + j) + ld2(work, e, SCRATCH + j))
        if flags & GEARED:
            put_armature(parameters, structure, work, i, link, e, k, True)
            for j in range(freedom(kind)):
                st2(work, direction, n_v + s + j, ld2(work, direction, n_v + s + j) + ld2(work, e, SCRATCH + j))
        put_drag(work, i, e)
        put(work, e, SCRATCH, vector(work, e, DRAG))
        for j in range(freedom(kind)):
            x = ld2(work, e, SCRATCH + unknown(kind, j) - TURN_JOINT)
            st2(
                work,
                direction,
                n_v + s + j,
                ld2(work, direction, n_v + s + j) - (0.5 * damping_of(parameters, structure, s + j)) * x,
            )
            st2(work, direction, s + j, ld2(work, e, JOINT_END + unknown(kind, j) - TURN_JOINT))


@helper
def onward_wrench(a: Any, d: Any, f: Any, n: Any) -> Any:
    """Ad_fᵀ (f, n) of the motion (cay(a), d)."""
    back, n = (-a[0], -a[1], -a[2]), add(n, cross(f, d))
    return add(f, turned(back, f)), add(n, turned(back, n))


# --- the step ---------------------------------------------------------------------------------------------------------


@kernel
def attempt(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    forces_known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep with the forces u; the state is not touched."""
    u = control(structure)
    begin(t, h, y, parameters, structure, work, known, forces_known, counters)
    for i in range(header_of(structure).links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            st2(work, i, TARGET + j, ld2(work, i, TARGET + j) + (0.5 * h) * ld2(work, u, link.v + j))
        if link.kind in (MOVED_TURN, MOVED_SLIDE):
            st2(work, extra(structure, i), RATE, prescribed(t, parameters, link)[1])
            st2(work, extra(structure, i), RATE + 1, prescribed(t + h, parameters, link)[1])
    converged, turn = solve(parameters, structure, options, work, known, counters)
    done, residual = checked(converged, options, parameters, structure, work, 0.0, 1.0)
    return done, turn, residual


@kernel
def accept(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any,
    counters: Any
) -> Any:  # fmt: skip
    """Carry the directions to the end of a solved substep, then the state."""
    tree = header_of(structure)
    u, n_v = control(structure), tree.n_v
    prepare(options[TAU], parameters, structure, work)
    part = h / ld2(work, u, n_v)
    for direction in range(u + 1, work.shape[0]):
        dh, dt = part * ld2(work, direction, 3 * n_v), ld2(work, direction, 3 * n_v + 1)
        start(parameters, structure, work, direction, dt, dh)
        right_side(h, parameters, structure, work, direction, dh)
        solved(parameters, structure, work)
        end(h, parameters, structure, work, direction, dh)
        st2(work, direction, 3 * n_v + 1, dt + dh)
    for i in range(tree.links):
        link, e = link_of(structure, i), extra(structure, i)
        for k in range(6):
            st2(work, i, IMPULSE + k, ld2(work, e, REACTION + k))
        for j in range(freedom(link.kind)):
            s = link.v + j
            increase(y, low, tree.n_q + s, h * ld2(work, u, s), options[COMPENSATION])
    return accept_step(t, h, y, low, parameters, structure, options, field_work, work, counters)


@entry(*STEP_SIGNATURES)
def tangent_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One variational step of a tree, y = (q, p), with forces u and directions carried along."""
    st2(work, OWN_ROWS + control(structure), header_of(structure).n_v, h)
    return run(
        attempt, accept, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )
