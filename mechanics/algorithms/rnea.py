"""RNEA, recursive Newton–Euler: the joint forces of a motion.

    W_i = C_i W_k + A_i a_i + V_i × (A_i s_i + Vᴶ_i) + A_i x″        (body components of the acceleration; base: −g)
    F_i = M_i W_i + Ω(V_i) M_i V_i − F^ext_i + Σ C_jᵀ F_j,           τ_i = A_iᵀ F_i + d_i s_i + m_i a_i − ad_sᵀ(m_i s_i)

with x″ of the prescribed motions and the armature m_i.  M(q) a + b(q, v) = τ, so that b is τ at a = 0.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, ld2, st, st2
from liegroup.formulas.vectors import add, cross, subtract
from mechanics.joints.element import MOVED_SLIDE, MOVED_TURN
from mechanics.kernels.armature import add_forces
from mechanics.kernels.links import prescribed_acceleration, put, set_angle, twist_down, vector, wrench_up
from mechanics.kernels.sweeps import TWIST, add_to, apply_wrenches, own_momentum, own_twist, project
from mechanics.model.layout import F, damping_of, gravity_of, header_of, link_of

ACCELERATION, FORCE = 6, 12
"""Columns of W and of the force."""


@helper
def accelerations(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Twists, accelerations and forces of the links without their children."""
    tree = header_of(structure)
    n, n_q, n_v = tree.links, tree.n_q, tree.n_v
    for column in range(12):
        st2(work, n, TWIST + column, 0.0)
    g = gravity_of(parameters)
    put(work, n, ACCELERATION, (-g[0], -g[1], -g[2]))
    for i in range(n):
        link = link_of(structure, i)
        k, kind = link.parent, link.kind
        set_angle(t, y, parameters, work, i, link)
        zero = ld2(work, n, TWIST)
        v, w = twist_down(t, y, parameters, work, i, link, vector(work, k, TWIST), vector(work, k, TWIST + 3))
        a, e = vector(work, k, ACCELERATION), vector(work, k, ACCELERATION + 3)
        a, e = twist_down(t, y, parameters, work, i, link, a, e)
        v_own, w_own = own_twist(t, y, n_q, parameters, link, zero)
        v, w = add(v, v_own), add(w, w_own)
        a, e = add(a, add(cross(w, v_own), cross(v, w_own))), add(e, cross(w, w_own))
        if kind == MOVED_TURN:
            e = e[0], e[1], e[2] + prescribed_acceleration(t, parameters, link)
        elif kind == MOVED_SLIDE:
            a = a[0], a[1], a[2] + prescribed_acceleration(t, parameters, link)
        else:
            a_own, e_own = own_twist(t, y, n_q + n_v, parameters, link, zero)
            a, e = add(a, a_own), add(e, e_own)
        put(work, i, TWIST, v)
        put(work, i, TWIST + 3, w)
        put(work, i, ACCELERATION, a)
        put(work, i, ACCELERATION + 3, e)
        l, k_ = own_momentum(parameters, link, v, w)
        f, m = own_momentum(parameters, link, a, e)
        put(work, i, FORCE, add(f, cross(w, l)))
        put(work, i, FORCE + 3, add(m, add(cross(v, l), cross(w, k_))))


@helper
def joint_forces(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """τ of the accelerations and of the external wrenches in the columns F; y begins with (q, v, v̇)."""
    tree = header_of(structure)
    for i in range(tree.links - 1, -1, -1):
        link = link_of(structure, i)
        f, m = (
            subtract(vector(work, i, FORCE), vector(work, i, F)),
            subtract(vector(work, i, FORCE + 3), vector(work, i, F + 3)),
        )
        project(parameters, link, f, m, out, link.v, 1)
        f, m = wrench_up(t, y, parameters, work, i, link, f, m)
        add_to(work, link.parent, FORCE, f, m)
    for k in range(tree.n_v):
        st(out, k, ld(out, k) + damping_of(parameters, structure, k) * ld(y, tree.n_q + k))
    add_forces(parameters, structure, y, tree.n_q, out)


@entry(*FIELD_SIGNATURES)
def rnea(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v, a, wrenches of all bodies) → τ."""
    tree = header_of(structure)
    n_q, n_v = tree.n_q, tree.n_v
    apply_wrenches(y, n_q + 2 * n_v, parameters, structure, work)
    accelerations(t, y, parameters, structure, work)
    joint_forces(t, y, parameters, structure, work, out)
