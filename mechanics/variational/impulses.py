"""Discrete momenta of the links over one step, accumulated to the base: P*."""

from __future__ import annotations

from typing import Any

from liegroup.compile import helper, kernel, ld2, st2
from liegroup.compile.scalars import absolute, maximum
from liegroup.formulas.vectors import add, cross
from mechanics.joints.element import BALL, FLOAT, PLANE, SCREW, SLIDE, TURN
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import FIRST, GEARED, HEAVY, LEAF, damping_of, header_of, link_of, numbers_of
from mechanics.variational.armature import take_momentum
from mechanics.variational.body_maps import momentum
from mechanics.variational.gibbs import turned
from mechanics.variational.workspace import (
    COM,
    DEFECT,
    G0,
    IMPULSE,
    MASS,
    SHIFT_BODY,
    TARGET,
    TENSOR,
    TURN_BODY,
    TURN_JOINT,
    put_along,
    unknown,
    wrench_to_parent,
)

LOOPS = "short"


@helper
def tensor(work: Any, i: Any) -> Any:
    """The tensor of a link about its mass centre, over h."""
    return vector(work, i, TENSOR) + vector(work, i, TENSOR + 3)


@helper
def gathered(body_map: Any, flags: Any, work: Any, i: Any) -> Any:
    """Discrete momentum of the body of a link about the link's origin, old axes, and what the children have left in
    `IMPULSE`.
    """
    a = vector(work, i, TURN_BODY)
    zero = 0.0 * a[0]
    f, n = (zero, zero, zero), (zero, zero, zero)
    if flags & HEAVY:
        com = vector(work, i, COM)
        f, n = momentum(
            body_map, a, add(vector(work, i, SHIFT_BODY), turned(a, com)), ld2(work, i, MASS), tensor(work, i)
        )
        n = add(n, cross(com, f))
    if not flags & LEAF:
        f, n = add(f, vector(work, i, IMPULSE)), add(n, vector(work, i, IMPULSE + 3))
    return f, n


@helper
def largest(x: Any) -> Any:
    """max |xₖ|."""
    return maximum(absolute(x[0]), maximum(absolute(x[1]), absolute(x[2])))


@helper
def put_defect(parameters: Any, structure: Any, work: Any, i: Any, link: Any, f: Any, n: Any) -> None:
    """Write u = p̂ − Aᵀ P* − (damping/2) D, less the momentum of armature; `ETA` is lost."""
    kind = link.kind
    put_along(work, i, DEFECT, kind, numbers_of(parameters, link).pitch, f, n)
    for j in range(freedom(kind)):
        u = ld2(work, i, TARGET + j) - ld2(work, i, DEFECT + j)
        st2(
            work,
            i,
            DEFECT + j,
            u - (0.5 * damping_of(parameters, structure, link.v + j)) * ld2(work, i, unknown(kind, j)),
        )
    if link.flags & GEARED:
        take_momentum(parameters, structure, work, i, link)


@helper
def on_target(kind: Any, pitch: Any, work: Any, i: Any, f: Any, n: Any) -> Any:
    """P* + A (AᵀA)⁻¹ u: the joint component exactly on target."""
    u = vector(work, i, DEFECT)
    zero = 0.0 * u[0]
    if kind == TURN:
        n = add(n, (zero, zero, u[0]))
    elif kind == SLIDE:
        f = add(f, (zero, zero, u[0]))
    elif kind == SCREW:
        k = 1.0 / (1.0 + pitch * pitch)
        f, n = add(f, (zero, zero, (k * pitch) * u[0])), add(n, (zero, zero, k * u[0]))
    elif kind == PLANE:
        f, n = add(f, (u[0], u[1], zero)), add(n, (zero, zero, u[2]))
    elif kind == BALL:
        n = add(n, u)
    elif kind == FLOAT:
        f, n = add(f, u), add(n, vector(work, i, DEFECT + 3))
    return f, n


@kernel
def settle(body_map: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """P* of the present motion, its joint components then put exactly on target; returns the largest |P*| and |u|
    before that.

    To be called after the last correction.
    """
    size = 0.0 * ld2(work, 0, TURN_JOINT)
    defect = size
    for i in range(header_of(structure).links - 1, -1, -1):
        link = link_of(structure, i)
        flags, kind = link.flags, link.kind
        f, n = gathered(body_map, flags, work, i)
        put_defect(parameters, structure, work, i, link, f, n)
        size = maximum(size, maximum(largest(f), largest(n)))
        for j in range(freedom(kind)):
            defect = maximum(defect, absolute(ld2(work, i, DEFECT + j)))
            if flags & GEARED:
                size = maximum(size, absolute(ld2(work, i, TARGET + j)))
        f, n = on_target(kind, numbers_of(parameters, link).pitch, work, i, f, n)
        put(work, i, IMPULSE, f)
        put(work, i, IMPULSE + 3, n)
        wrench_to_parent(work, i, G0, link.parent, IMPULSE, flags & FIRST, f, n)
    return size, defect
