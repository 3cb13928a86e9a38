"""Nodes of the variational step: where the links are, what pulls at them, and the momenta the step aims at."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld, ld2, rare, st2
from liegroup.compile.scalars import sincos
from liegroup.formulas.vectors import add, cross, scale
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.joints.element import BALL, FLOAT, MOVED_SLIDE, MOVED_TURN, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import constant_turn_up, freedom, orientation, position, prescribed, put, vector
from mechanics.model.layout import FIRST, HEAVY, LEAF, SIDE, gravity_of, has_links, header_of, link_of, numbers_of
from mechanics.variational.matrices import product, transpose, turn_about_z
from mechanics.variational.workspace import (
    COM,
    COS0,
    ETA,
    FORCE,
    G0,
    MASS,
    MATRIX,
    RHO0,
    RHO1,
    SIN0,
    TARGET,
    TENSOR,
    matrix,
    put_along,
    put_matrix,
)

LOOPS = "short"

# --- placement --------------------------------------------------------------------------------------------------------


@helper
def constant_turn(parameters: Any, link: Any) -> Any:
    """(Rz(γ) Rx(α))ᵀ, parent → link components but for the turn about z."""
    own = numbers_of(parameters, link)
    c, s = own.alpha
    if link.flags & SIDE:
        g, k = own.gamma
        return g, k, 0.0, -c * k, c * g, s, s * k, -s * g, c
    return 1.0, 0.0, 0.0, 0.0, c, s, 0.0, -s, c


@helper
def place(t: Any, y: Any, parameters: Any, structure: Any, work: Any, i: Any) -> None:
    """G and ρ (both in parent axes) of a link at the configuration y and time t: node k; ρ of a turn is as `load` left
    it.
    """
    link = link_of(structure, i)
    own = numbers_of(parameters, link)
    kind, q = link.kind, link.q
    G = constant_turn(parameters, link)
    if kind in (TURN, SCREW):
        s, c = sincos(ld(y, q) + own.theta)
        st2(work, i, COS0, c)
        st2(work, i, SIN0, s)
        put_matrix(work, i, G0, turn_about_z(s, c, G))
        if kind == SCREW:
            rho = constant_turn_up(parameters, link, own.rho)
            put(work, i, RHO0, add(rho, scale(own.pitch * ld(y, q), G[6:])))
    elif kind == MOVED_TURN:
        x, _ = prescribed(t, parameters, link)
        sine, cosine = sincos(x + own.theta)
        put_matrix(work, i, G0, turn_about_z(sine, cosine, G))
        put(work, i, RHO0, constant_turn_up(parameters, link, own.rho))
    else:
        H = turn_about_z(own.turn[1], own.turn[0], G)
        place_other(t, y, parameters, link, work, i, H, constant_turn_up(parameters, link, own.rho))


@rare(has_links(SLIDE, MOVED_SLIDE, PLANE, BALL, FLOAT))
def place_other(t: Any, y: Any, parameters: Any, link: Any, work: Any, i: Any, H: Any, rho: Any) -> None:
    """G and ρ of a link that is not a turn about its axis; H and `rho` in its neutral configuration."""
    kind, q = link.kind, link.q
    if kind == SLIDE:
        put_matrix(work, i, G0, H)
        put(work, i, RHO0, add(rho, scale(ld(y, q), H[6:])))
    elif kind == MOVED_SLIDE:
        put_matrix(work, i, G0, H)
        put(work, i, RHO0, add(rho, scale(prescribed(t, parameters, link)[0], H[6:])))
    elif kind == PLANE:
        s, c = sincos(ld(y, q + 2))
        put_matrix(work, i, G0, turn_about_z(s, c, H))
        put(work, i, RHO0, add(rho, add(scale(ld(y, q), H[:3]), scale(ld(y, q + 1), H[3:6]))))
    elif kind == BALL:
        put_matrix(work, i, G0, product(transpose(orientation(y, link)), H))
        put(work, i, RHO0, rho)
    else:
        put_matrix(work, i, G0, product(transpose(orientation(y, link)), H))
        put(work, i, RHO0, add(rho, rotated_back(H, position(y, link))))


@helper
def load(parameters: Any, structure: Any, rate: Any, work: Any, i: Any) -> None:
    """What stays while h does: mass centre of a link, and tensor about it and mass times `rate` = 1/h; ρ of a turn, at
    both nodes; `rate` itself in the line of the base.
    """
    link = link_of(structure, i)
    st2(work, header_of(structure).links, MASS, rate)
    own = numbers_of(parameters, link)
    if link.kind == TURN:
        rho = constant_turn_up(parameters, link, own.rho)
        put(work, i, RHO0, rho)
        put(work, i, RHO1, rho)
    if link.flags & HEAVY:
        m, J = own.mass, own.tensor
        k = 0.0 if m == 0.0 else 1.0 / m
        x, y, z = k * own.moment[0], k * own.moment[1], k * own.moment[2]
        put(work, i, COM, (x, y, z))
        st2(work, i, MASS, rate * m)
        st2(work, i, TENSOR, rate * (J[0] - m * (y * y + z * z)))
        st2(work, i, TENSOR + 1, rate * (J[1] + m * (x * y)))
        st2(work, i, TENSOR + 2, rate * (J[2] + m * (x * z)))
        st2(work, i, TENSOR + 3, rate * (J[3] - m * (x * x + z * z)))
        st2(work, i, TENSOR + 4, rate * (J[4] + m * (y * z)))
        st2(work, i, TENSOR + 5, rate * (J[5] - m * (x * x + y * y)))


# --- forces and targets -----------------------------------------------------------------------------------------------


@kernel
def forces(parameters: Any, structure: Any, work: Any, column: Any, to: Any) -> None:
    """Q of gravity into the columns from `to` on: Aᵀ (m g, c × g) with the mass m and first moment c of each subtree.

    The placement is read from `column` on; overwrites `ETA` and `MATRIX`.
    """
    gravity(parameters, structure, work, column)
    for i in range(header_of(structure).links - 1, -1, -1):
        weigh(parameters, structure, work, i, column, to)


@kernel
def gravity(parameters: Any, structure: Any, work: Any, column: Any) -> None:
    """g in the axes of every link, into `ETA`."""
    n = header_of(structure).links
    put(work, n, ETA, gravity_of(parameters))
    for i in range(n):
        put(work, i, ETA, rotated(matrix(work, i, column), vector(work, link_of(structure, i).parent, ETA)))


@helper
def weigh(parameters: Any, structure: Any, work: Any, i: Any, column: Any, to: Any) -> None:
    """Q of gravity on a link; the first moment of its subtree goes on to the parent."""
    link = link_of(structure, i)
    own, parent = numbers_of(parameters, link), link.parent
    g, c = vector(work, i, ETA), own.moment
    if link.flags & LEAF:
        put(work, i, MATRIX, c)
    else:
        put(work, i, MATRIX, add(c, vector(work, i, MATRIX)))
    moment, m = vector(work, i, MATRIX), own.tree_mass
    if link.kind == TURN:  # no more than what is asked for
        st2(work, i, to, cross(moment, g)[2])
    else:
        put_along(work, i, to, link.kind, own.pitch, scale(m, g), cross(moment, g))
    moment = add(rotated_back(matrix(work, i, column), moment), scale(m, vector(work, i, column + 9)))
    if link.flags & FIRST:
        put(work, parent, MATRIX, moment)
    else:
        put(work, parent, MATRIX, add(vector(work, parent, MATRIX), moment))


@helper
def aim(structure: Any, half: Any, y: Any, work: Any, i: Any) -> None:
    """p̂ = p + (h/2) Q of a link; y = (q, p)."""
    link = link_of(structure, i)
    v = header_of(structure).n_q + link.v
    for j in range(freedom(link.kind)):
        st2(work, i, TARGET + j, ld(y, v + j) + half * ld2(work, i, FORCE + j))
