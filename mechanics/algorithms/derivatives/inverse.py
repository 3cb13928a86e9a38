"""Derivatives of inverse dynamics τ(q, v, a) from composite bodies, in O(n · depth).

For a column S of the joint of link k, and every column S_j of the links j on its way to the base,

    ∂τ_j/∂q_k = S_jᵀ(B Ψ̇ + M Ψ̈ + S ×* F),     ∂τ_k/∂q_j = Sᵀ(B Ψ̇_j + M Ψ̈_j),
    ∂τ_j/∂v_k = S_jᵀ(B S + M(Ψ̇ + V × S)),     ∂τ_k/∂v_j = Sᵀ(B S_j + M(Ψ̇_j + V_j × S_j)),     M_jk = S_jᵀ M S,

with M, B and F of the composite body of k (`mechanics.algorithms.derivatives.bodies`); within the joint itself without
S ×* F; armature adds its own (`mechanics.algorithms.derivatives.armature`). Derivatives by q are by increments q·τ(δ)
from the right, in the algebra of the joint. Gravity is in the acceleration of the base, wrenches are fixed in their
bodies and turn with them, and what is prescribed needs nothing: all twists hold its drift.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, kernel, ld, ld2, st, st2
from liegroup.formulas.vectors import cross, dot
from mechanics.algorithms.derivatives.armature import add_rate_derivatives, add_to_diagonal
from mechanics.algorithms.derivatives.bodies import (
    add_bodies,
    column_momentum,
    composite_times,
    coriolis,
    coriolis_transposed,
    own_body,
)
from mechanics.algorithms.derivatives.columns import (
    ACCELERATION,
    FORCE,
    OFFSET,
    RATE,
    SECOND,
    TWIST,
    axis_of,
    carried,
    column,
    column_turned,
    force_cross,
    minus,
    motion_cross,
    pair,
    plus,
    project_world,
    rows_of,
    twist_of,
    wrench_to_parent,
)
from mechanics.algorithms.derivatives.motion import accelerate, twists
from mechanics.joints.element import SCREW, TURN
from mechanics.kernels.links import freedom, vector
from mechanics.kernels.sweeps import apply_wrenches
from mechanics.model.layout import F, above, damping_of, has_armature, header_of, link_of, numbers_of, ways_of

LOOPS = "short"


@helper
def rates_of(work: Any, j: Any, link: Any, S: Any) -> Any:
    """Ψ̇, Ψ̈ and Ψ̇ + V × S of a column of a link."""
    if link.kind <= SCREW:
        rate, second = twist_of(work, j, RATE), twist_of(work, j, SECOND)
        both = plus(rate, rate)
    else:
        r = vector(work, j, OFFSET)
        before = carried(work, link.parent, TWIST, r)
        rate = motion_cross(before, S)
        second = plus(motion_cross(carried(work, link.parent, ACCELERATION, r), S), motion_cross(before, rate))
        both = plus(rate, motion_cross(twist_of(work, j, TWIST), S))
    return rate, second, both


@helper
def is_depth_first(structure: Any) -> Any:
    """Whether the velocities that any one moves follow it without a gap."""
    n, ways = header_of(structure).n_v, ways_of(structure)
    found = True
    for v in range(1, n):
        k, c = above(structure, ways, v), v - 1
        while c > k:
            c = above(structure, ways, c)
        found = found and c == k
    return found


@helper
def derivatives_into(
    state: Any, parameters: Any, structure: Any, work: Any, out: Any, width: Any, apart: Any, with_mass: Any
) -> None:
    """Rows, a width apart, of ∂τ/∂q, ∂τ/∂v (with damping) and, `with_mass`, M, as far apart as is said; `state` begins
    with (q, v), the workspace is filled.  Elements of velocities of which neither moves the other are zero, and left
    alone.
    """
    tree = header_of(structure)
    n = tree.links
    zero = ld2(work, n, TWIST)
    none = zero, zero, zero
    at_rest = none, none
    for i in range(n):
        link = link_of(structure, i)
        for d in range(freedom(link.kind)):
            at = link.v + d
            S = column(work, i, link.kind, d, numbers_of(parameters, link).pitch)
            rate, second, both = rates_of(work, i, link, S)
            w, u = column_momentum(parameters, work, i, link, S), coriolis_transposed(work, i, link.kind, S)
            Q = plus(coriolis(work, i, rate[1]), composite_times(parameters, work, i, link, second))
            G = plus(coriolis(work, i, S[1]), composite_times(parameters, work, i, link, both))
            _project_three(parameters, work, i, link, Q, G, w, out, link.v * width + at, width, apart, with_mass)
            Q = plus(Q, column_turned(link.kind, S, twist_of(work, i, FORCE)))
            r, j = vector(work, i, OFFSET), link.parent
            while j < n:
                passed = link_of(structure, j)
                w, Q, G = wrench_to_parent(r, w), wrench_to_parent(r, Q), wrench_to_parent(r, G)
                if passed.kind == TURN:
                    a, rate, second = axis_of(rows_of(work, j), 2), twist_of(work, j, RATE), twist_of(work, j, SECOND)
                    q, v, m = dot(a, Q[1]), dot(a, G[1]), dot(a, w[1])
                    _put_three(out, passed.v * width + at, apart, q, v, m, with_mass)
                    q, v = dot(u, rate[1]) + pair(second, w), dot(u, a) + 2.0 * pair(rate, w)
                    _put_three(out, at * width + passed.v, apart, q, v, m, with_mass)
                elif freedom(passed.kind) > 0:
                    _project_three(
                        parameters, work, j, passed, Q, G, w, out, passed.v * width + at, width, apart, with_mass
                    )
                    x, y = (none, u), at_rest
                    if passed.parent < n:
                        before, lifted = _before(work, j, passed)
                        x = minus(x, force_cross(before, w))
                        y = minus(y, plus(force_cross(before, x), force_cross(lifted, w)))
                    else:  # the base does not turn, and is lifted against gravity
                        y = none, cross(w[0], vector(work, n, ACCELERATION))
                    x = minus(x, force_cross(twist_of(work, j, TWIST), w))
                    _project_three(
                        parameters, work, j, passed, y, x, w, out, at * width + passed.v, 1, apart, with_mass
                    )
                r, j = vector(work, j, OFFSET), passed.parent
            damped = at * width + apart + at
            st(out, damped, ld(out, damped) + damping_of(parameters, structure, at))
    if has_armature(structure):
        add_rate_derivatives(parameters, structure, state, tree.n_q, out, apart, width, -1.0)
        if with_mass:
            add_to_diagonal(parameters, structure, out, 2 * apart, width)


@helper
def _before(work: Any, j: Any, link: Any) -> Any:
    """Twist and acceleration of the parent of a link, at the origin of the link."""
    r = vector(work, j, OFFSET)
    return carried(work, link.parent, TWIST, r), carried(work, link.parent, ACCELERATION, r)


@helper
def _project_three(
    parameters: Any,
    work: Any,
    i: Any,
    link: Any,
    q: Any,
    v: Any,
    m: Any,
    out: Any,
    at: Any,
    stride: Any,
    apart: Any,
    with_mass: Any,
) -> None:
    """Elements of each matrix, for all columns of a link."""
    project_world(parameters, work, i, link, q, out, at, stride)
    project_world(parameters, work, i, link, v, out, at + apart, stride)
    if with_mass:
        project_world(parameters, work, i, link, m, out, at + 2 * apart, stride)


@helper
def _put_three(out: Any, at: Any, apart: Any, q: Any, v: Any, m: Any, with_mass: Any) -> None:
    """One element of each matrix."""
    st(out, at, q)
    st(out, at + apart, v)
    if with_mass:
        st(out, at + 2 * apart, m)


@helper
def load(y: Any, o: Any, parameters: Any, structure: Any, work: Any) -> None:
    """The wrenches of all bodies from y[o] on, in link axes in the columns F; none on the base, which lends zeros."""
    apply_wrenches(y, o, parameters, structure, work)
    for c in range(F, F + 6):
        st2(work, header_of(structure).links, c, 0.0)


@helper
def move(t: Any, y: Any, parameters: Any, structure: Any, work: Any, a: Any, p: Any, loaded: Any) -> None:
    """Motion of all links at y = (q, v, …, wrenches of all bodies where `loaded`) and the joint accelerations a[p …],
    and their composite bodies.
    """
    move_links(t, y, parameters, structure, work, a, p, loaded)
    add_bodies(parameters, structure, work, True)


@helper
def move_links(t: Any, y: Any, parameters: Any, structure: Any, work: Any, a: Any, p: Any, loaded: Any) -> None:
    """The same with the bodies of the links by themselves."""
    tree = header_of(structure)
    if loaded:
        load(y, tree.n_q + 2 * tree.n_v, parameters, structure, work)
    twists(t, y, parameters, structure, work, y, tree.n_q)
    zero = ld2(work, tree.links, TWIST)
    for i in range(tree.links):
        link = link_of(structure, i)
        accelerate(t, parameters, work, i, link, y, tree.n_q, a, p, zero)
        own_body(parameters, work, i, link, True, loaded)


@kernel
def _derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any) -> None:
    tree = header_of(structure)
    move(t, y, parameters, structure, work, y, tree.n_q + tree.n_v, loaded)
    derivatives_into(y, parameters, structure, work, out, 3 * tree.n_v, tree.n_v, True)


@entry(*FIELD_SIGNATURES)
def inverse_derivatives(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, a) → rows of ∂τ/∂q, ∂τ/∂v and ∂τ/∂a = M side by side; `work` of `work_shape`.  `out` comes with zeros
    where neither velocity moves the other: they stay, and serve the next state.
    """
    _derivatives(t, y, parameters, structure, work, out, False)


@entry(*FIELD_SIGNATURES)
def inverse_derivatives_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, a, wrenches of all bodies) → the same with the wrenches."""
    _derivatives(t, y, parameters, structure, work, out, True)
