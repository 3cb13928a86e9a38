"""ERA: recursive solution of the Hamiltonian equations of a tree in linear time, the kernel.

From (q, p) to (s, ṗ), Ivanov and Shimanovsky, eq. (18), with the sign of π* corrected (plus).  From the leaves to the
base

    A_iᵀ M*_i A_i = Lᵀ D L (one degree of freedom after another),  M*_k += C_iᵀ M^a_i C_i,   π*_k += C_iᵀ π^a_i,

with the inertia M^a and momentum π^a that are left after the elimination, and from the base to the leaves

    w = C_i V_k,   s_i from the eliminations,   V_i = w + A_i s_i + Vᴶ_i,   P*_i = M^a_i w + π^a_i,
    ṗ_i = −A_iᵀ Ω(V_i) P*_i + A_iᵀ F*_i + τ_i − d_i s_i,

(with armature A_iᵀ M*_i A_i + a_i, `mechanics.kernels.elimination.geared`), where P*_i is what the paper computes as
M*_i V_i + π*_i. Bases A_i are constant in child axes, so that Ȧ = 0: a joint of several elementary motions is several
links. Gravity needs no sweep of its own: F*_i = (m g, c × g) with the mass m and the first moment c of the subtree.
`reference.py` is the readable statement of the same algorithm.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, rare, st, st2
from mechanics.algorithms.derivatives.canonical import chain_derivatives_on_demand, has_way
from mechanics.algorithms.derivatives.hamiltonian import derivatives_on_demand
from mechanics.joints.element import BALL, FLOAT, SCREW, TURN
from mechanics.kernels.elimination.ball import ball_down, ball_up, float_down, float_up
from mechanics.kernels.elimination.carry import GRAVITY
from mechanics.kernels.elimination.geared import follow_parent, geared_up, turn_armature
from mechanics.kernels.elimination.other import other_down, other_up
from mechanics.kernels.elimination.turn import turn_down, turn_up
from mechanics.kernels.links import add_three, put, vector, wrench_up
from mechanics.kernels.sweeps import apply_wrenches
from mechanics.model.layout import (
    ANY_KINDS,
    GEARED,
    NO_BALLS,
    ONLY_TURNS,
    WITH_ARMATURE,
    F,
    gravity_of,
    has_kinds,
    header_of,
    link_of,
)

LOOPS = "short"


@helper
def up(t: Any, y: Any, parameters: Any, structure: Any, work: Any, loaded: Any, pace: Any = 1.0) -> None:
    """Eliminate from the leaves to the base; the links keep M^a, π^a, first moments and (if loaded) F*; `pace` scales
    prescribed rates.
    """
    tree = header_of(structure)
    if tree.kinds == ONLY_TURNS:
        for i in range(tree.links - 1, -1, -1):
            link = link_of(structure, i)
            turn_up(y, parameters, structure, work, i, link)
            if loaded:
                _load_up(t, y, parameters, work, i, link)
    elif tree.kinds == NO_BALLS:
        _up_without_balls(t, y, parameters, structure, work, loaded, pace)
    elif tree.kinds == WITH_ARMATURE:
        _up_with_armature(t, y, parameters, structure, work, loaded, pace)
    else:
        _up_with_balls(t, y, parameters, structure, work, loaded, pace)


@helper
def _load_up(t: Any, y: Any, parameters: Any, work: Any, i: Any, link: Any) -> None:
    f, m = wrench_up(t, y, parameters, work, i, link, vector(work, i, F), vector(work, i, F + 3))
    add_three(work, link.parent, F, f)
    add_three(work, link.parent, F + 3, m)


def _mixed_up(balls: bool, armature: bool = False) -> Any:
    """The sweep up for trees that have other joints than turns; one without the code for balls compiles sooner."""

    def sweep(t: Any, y: Any, parameters: Any, structure: Any, work: Any, loaded: Any, pace: Any) -> None:
        for i in range(header_of(structure).links - 1, -1, -1):
            link = link_of(structure, i)
            kind = link.kind
            if armature and link.flags & GEARED:
                geared_up(t, y, parameters, structure, work, i, link)
            elif kind == TURN:
                turn_up(y, parameters, structure, work, i, link)
            elif balls and kind == BALL:
                ball_up(y, parameters, structure, work, i, link)
            elif balls and kind == FLOAT:
                float_up(y, parameters, structure, work, i, link)
            else:
                other_up(t, y, parameters, structure, work, i, link, pace)
            if loaded:
                _load_up(t, y, parameters, work, i, link)

    return sweep


_up_without_balls = rare(has_kinds(NO_BALLS), name="up_without_balls")(_mixed_up(False))
_up_with_balls = rare(has_kinds(ANY_KINDS), name="up_with_balls")(_mixed_up(True))
_up_with_armature = rare(has_kinds(WITH_ARMATURE), name="up_with_armature")(_mixed_up(True, True))


@helper
def down(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any, pace: Any = 1.0) -> None:
    """Velocities and rates of the momenta from the base to the leaves; the links keep their twists (columns 0 … 5)."""
    tree = header_of(structure)
    n = tree.links
    for column in range(6):
        st2(work, n, column, 0.0)
    put(work, n, GRAVITY, gravity_of(parameters))
    if tree.kinds == ONLY_TURNS:
        for i in range(n):
            turn_down(parameters, structure, work, i, link_of(structure, i), out, loaded)
    elif tree.kinds == NO_BALLS:
        _down_without_balls(t, y, parameters, structure, work, out, loaded, pace)
    elif tree.kinds == WITH_ARMATURE:
        _down_with_armature(t, y, parameters, structure, work, out, loaded, pace)
    else:
        _down_with_balls(t, y, parameters, structure, work, out, loaded, pace)


def _mixed_down(balls: bool, armature: bool = False) -> Any:
    """The sweep down for trees that have other joints than turns."""

    def sweep(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any, loaded: Any, pace: Any) -> None:
        for i in range(header_of(structure).links):
            link = link_of(structure, i)
            kind = link.kind
            if armature and link.flags & GEARED:
                follow_parent(t, y, parameters, structure, work, i, link)
            if kind == TURN:
                turn_down(parameters, structure, work, i, link, out, loaded)
            elif balls and kind == BALL:
                ball_down(y, parameters, structure, work, i, link, out, loaded)
            elif balls and kind == FLOAT:
                float_down(y, parameters, structure, work, i, link, out, loaded)
            else:
                other_down(t, y, parameters, structure, work, i, link, out, loaded, pace)
            if armature and link.flags & GEARED and kind > SCREW:
                turn_armature(parameters, structure, work, i, link, out)

    return sweep


_down_without_balls = rare(has_kinds(NO_BALLS), name="down_without_balls")(_mixed_down(False))
_down_with_balls = rare(has_kinds(ANY_KINDS), name="down_with_balls")(_mixed_down(True))
_down_with_armature = rare(has_kinds(WITH_ARMATURE), name="down_with_armature")(_mixed_down(True, True))


@entry(*FIELD_SIGNATURES)
def era(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p) → out = (v, ṗ), and its derivative behind it where `out` has just the places for both."""
    up(t, y, parameters, structure, work, False)
    down(t, y, parameters, structure, work, out, False)
    d = 2 * header_of(structure).n_v
    if d < out.shape[0] == d + d * d:
        if has_way(structure):
            chain_derivatives_on_demand(t, y, parameters, structure, work, out[d:])
        else:
            derivatives_on_demand(t, y, parameters, structure, work, out[d:])


@entry(*FIELD_SIGNATURES)
def era_loaded(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p, τ, wrenches of all bodies) → out = (v, ṗ)."""
    tree = header_of(structure)
    n_q, n_v = tree.n_q, tree.n_v
    apply_wrenches(y, n_q + 2 * n_v, parameters, structure, work)
    up(t, y, parameters, structure, work, True)
    down(t, y, parameters, structure, work, out, True)
    for k in range(n_v):
        st(out, n_v + k, ld(out, n_v + k) + ld(y, n_q + n_v + k))


@entry(*FIELD_SIGNATURES)
def mass_solve(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, b) → out = (M⁻¹ b, scratch): the same eliminations with prescribed motions at rest."""
    up(t, y, parameters, structure, work, False, 0.0)
    down(t, y, parameters, structure, work, out, False, 0.0)
