"""Closed loops in Hamiltonian variables in linear time: the kernel of equations (5), (6) of Ivanov (2022), corrected.

State y = (q, p*).  Beside the sweeps of ERA (`mechanics.algorithms.era`) one evaluation takes, per closure equation, a
passage from its two bodies to the base: with the screws W of `mechanics.constraints.body_equations`, G = Wᵀ T A, H = Aᵀ
Tᵀ M T A,

    up       factors of H, and the free momenta of p*
    columns  Y_c: what is left of the impulse W_c at every degree of freedom, so that Φ = G H⁻¹ Gᵀ = Yᵀ D⁻¹ Y
             and G H⁻¹ p* = Yᵀ u
    solve    Φ Λ = −G H⁻¹ p*, with the rank that the mechanism has (decided once)
    load     momenta −W Λ enter the tree: its momenta become μ' = μ − Λ* by themselves
    down     s, V, μ' and ṗ* = −Aᵀ Ω μ' + Aᵀ F*, as in the tree
    react    ṗ* −= Aᵀ Tᵀ N Λ, with N the rates of the screws seen from space (zero for what the paper keeps in
             absolute axes)

Impulses go to the base in the axes of the world, about the origins of the links (`gains`): a passage through a TURN
or SLIDE is a product, a sum and a cross product, and turns nothing.  Equations of joint coordinates
(`mechanics.constraints.coupling_equations`) are momenta along the joints themselves in the place of screws. Λ (η in
the paper) is the time integral of the multipliers λ since it was last zero.
`closed_reference.py` is the readable statement.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, joined, kernel, ld, ld2, never, rare, st, st2
from liegroup.compile.dense import factor_of_rank, first_in_row, ld_on, row_within, solve_of_rank, st_on
from liegroup.formulas.vectors import add, cross, dot, scale
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.algorithms.era import down, up
from mechanics.closed_trees.derivatives import closed_derivatives
from mechanics.closed_trees.forces import forces
from mechanics.closed_trees.layout import (
    FROM_PARENT,
    GAIN,
    block_of,
    closures_of,
    equation_of,
    on_path,
    on_path_up,
    pass_at,
    passes_of,
)
from mechanics.closed_trees.poses import (
    axis_of,
    gather,
    hand_over,
    is_straight,
    pose,
    poses,
    push,
    push_rate,
    screws,
    taken,
)
from mechanics.constraints.coupling_equations import coupling_of
from mechanics.joints.element import MOVED_SLIDE, MOVED_TURN, SLIDE
from mechanics.kernels.impulses import components, inverse_pivots, left_over, through
from mechanics.kernels.links import freedom, prescribed, put, vector
from mechanics.model.layout import GEARED, A, H, J, K, L, armature_of, header_of, link_of

LOOPS = "short"

# --- the equations for Λ ----------------------------------------------------------------------------------------------


@helper
def add_on(work: Any, line: Any, k: Any, x: Any) -> None:
    """Add to entry k of what begins with a line."""
    st_on(work, line, k, ld_on(work, line, k) + x)


@helper
def _meet(work: Any, line: Any) -> None:
    """The impulses from both bodies of an equation become one."""
    put(work, line, 0, add(vector(work, line, 0), vector(work, line, 6)))
    put(work, line, 3, add(vector(work, line, 3), vector(work, line, 9)))


@helper
def _put_gain(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> Any:
    """What an impulse along a TURN or SLIDE of the path gives its link, g = M* a/d in the axes of the world.  Of
    another momentum (l, k) of the link, (l, k) + ξ g goes on to the parent: along the joint nothing, or what armature
    holds.
    """
    line = closures_of(structure).poses + i
    R, _ = pose(work, line)
    pivot = ld2(work, i, A + 5) if link.kind == SLIDE else ld2(work, i, J + 5)
    along = (pivot - pivot) + 1.0
    if link.flags & GEARED:
        along = along - armature_of(parameters, structure, link.v) * pivot
    if link.kind == SLIDE:
        l = ld2(work, i, A + 2) * pivot, ld2(work, i, A + 4) * pivot, along
        k = ld2(work, i, H + 6) * pivot, ld2(work, i, H + 7) * pivot, ld2(work, i, H + 8) * pivot
    else:
        l = ld2(work, i, H + 2) * pivot, ld2(work, i, H + 5) * pivot, ld2(work, i, H + 8) * pivot
        k = ld2(work, i, J + 2) * pivot, ld2(work, i, J + 4) * pivot, along
    l, k = rotated(R, l), rotated(R, k)
    put(work, line, GAIN, l)
    put(work, line, GAIN + 3, k)
    return l, k


@kernel
def gains(parameters: Any, structure: Any, work: Any) -> None:
    """After `up` and `poses`: what `load` reads of the links, where there are no `columns`."""
    closures = closures_of(structure)
    for r in range(closures.path_length):
        i = on_path(structure, closures, r)
        link = link_of(structure, i)
        if is_straight(link.kind):
            _put_gain(parameters, structure, work, i, link)


@helper
def _pass_straight(
    parameters: Any, structure: Any, work: Any, Y: Any, i: Any, link: Any, passes: Any, block: Any
) -> None:  # fmt: skip
    """The impulses on bodies through a TURN or SLIDE, and Y of its degree of freedom."""
    closures = closures_of(structure)
    line, slides, ends = closures.poses + i, link.kind == SLIDE, link.parent == header_of(structure).links
    a, arm = axis_of(work, line), vector(work, line, FROM_PARENT)
    gain_l, gain_k = _put_gain(parameters, structure, work, i, link)
    for e in range(passes.start, passes.joints):
        passing = pass_at(structure, e)
        c, column = passing.equation, 6 * passing.second
        carried = closures.carried + c
        if passing.meet:
            _meet(work, carried)
        l, k = vector(work, carried, column), vector(work, carried, column + 3)
        xi = -dot(a, l) if slides else -dot(a, k)
        st(Y, block.start + (e - passes.start), xi)
        if not ends:
            l, k = add(l, scale(xi, gain_l)), add(k, scale(xi, gain_k))
            put(work, carried, column, l)
            put(work, carried, column + 3, add(k, cross(arm, l)))


@helper
def _put_column(
    t: Any, parameters: Any, structure: Any, work: Any, Y: Any, link: Any, place: Any, width: Any, c: Any, l: Any,
    k: Any,
) -> None:  # fmt: skip
    """Y of equation c, from `place` on, of a momentum with ξ in the emptied places; its part with a prescribed rate is
    added to the multipliers.
    """
    kind, line = link.kind, closures_of(structure).multipliers
    if kind == MOVED_TURN:
        add_on(work, line, c, prescribed(t, parameters, link)[1] * k[2])
    elif kind == MOVED_SLIDE:
        add_on(work, line, c, prescribed(t, parameters, link)[1] * l[2])
    xi = components(kind, 0.0, l, k)
    for d in range(freedom(kind)):
        st(Y, place + d * width, xi[d])


@helper
def _pass_other(
    t: Any, parameters: Any, structure: Any, work: Any, Y: Any, i: Any, link: Any, passes: Any, block: Any
) -> None:
    """The same for the other kinds of links; the rates of prescribed motions are added to −(closing velocities) in the
    line of multipliers.
    """
    closures = closures_of(structure)
    line, ends = closures.poses + i, link.parent == header_of(structure).links
    R, _ = pose(work, line)
    arm = vector(work, line, FROM_PARENT)
    for e in range(passes.start, passes.joints):
        passing = pass_at(structure, e)
        c, column = passing.equation, 6 * passing.second
        carried = closures.carried + c
        if passing.meet:
            _meet(work, carried)
        l, k = rotated_back(R, vector(work, carried, column)), rotated_back(R, vector(work, carried, column + 3))
        l, k = through(parameters, work, i, link, l, k)
        _put_column(
            t, parameters, structure, work, Y, link, block.start + (e - passes.start), block.width, c, l, k
        )  # fmt: skip
        if not ends:
            l, k = left_over(parameters, structure, work, i, link, l, k)
            l, k = rotated(R, l), rotated(R, k)
            put(work, carried, column, l)
            put(work, carried, column + 3, add(k, cross(arm, l)))


@kernel
def columns(t: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Y, 1/d and u = ξ/d of p for all degrees of freedom on the path; the part of −φ̇ with prescribed rates in the line
    of the multipliers.

    Momenta −W of unit multipliers go from the bodies of the equations to the base, all of them through one link after
    another; then those of equations of joint coordinates, one by one.
    """
    closures = closures_of(structure)
    m, Y = closures.kept, joined(work[closures.columns : closures.matrix])
    for c in range(m):
        st_on(work, closures.multipliers, c, 0.0)
    for c in range(closures.coupled):
        for k in range(12):
            st2(work, closures.carried + c, k, -ld2(work, closures.screws + c, k))
    for r in range(closures.path_length):
        i, passes = on_path_up(structure, closures, r), passes_of(structure, closures, r)
        link, block = link_of(structure, i), block_of(structure, closures, r, passes)
        kind = link.kind
        pivots = inverse_pivots(work, i, kind)
        xi = components(kind, 0.0, vector(work, i, L), vector(work, i, K))
        for d in range(freedom(kind)):
            end = block.start + (d + 1) * block.width
            st(Y, end - 2, pivots[d])
            st(Y, end - 1, pivots[d] * xi[d])
        if is_straight(kind):
            _pass_straight(parameters, structure, work, Y, i, link, passes, block)
        else:
            _pass_other(t, parameters, structure, work, Y, i, link, passes, block)
    for c in range(closures.coupled, m):
        _coupled_column(t, parameters, structure, work, Y, c)


@kernel
def _coupled_column(t: Any, parameters: Any, structure: Any, work: Any, Y: Any, c: Any) -> None:
    """Y of an equation of joint coordinates, and its part with prescribed rates."""
    closures = closures_of(structure)
    coupling = coupling_of(structure, equation_of(structure, closures, c).code)
    push(structure, work, c, -1.0)
    for r in range(coupling.way_length):
        i, at = ld(structure, coupling.way + r), coupling.columns + 2 * r
        link, place, width = link_of(structure, i), ld(structure, at), ld(structure, at + 1)
        l, k = climb(parameters, structure, work, i, link)
        _put_column(t, parameters, structure, work, Y, link, place, width, c, l, k)
    taken(work, closures.poses + header_of(structure).links)


@kernel
def matrix(structure: Any, work: Any) -> None:
    """Φ = Yᵀ D⁻¹ Y; −Yᵀ u is added to the line of multipliers.  Y has entries where impulses pass only."""
    closures = closures_of(structure)
    m, profile = closures.kept, closures.profile
    Y, A = joined(work[closures.columns : closures.matrix]), joined(work[closures.matrix : closures.scratch])
    for c in range(m):
        row = row_within(structure, profile, m, c)
        for b in range(first_in_row(structure, profile, c), c + 1):
            st(A, row + b, 0.0)
    for r in range(closures.path_length):
        link, passes = link_of(structure, on_path_up(structure, closures, r)), passes_of(structure, closures, r)
        block = block_of(structure, closures, r, passes)
        for d in range(freedom(link.kind)):
            first, end = block.start + d * block.width - passes.start, block.start + (d + 1) * block.width
            pivot, u = ld(Y, end - 2), ld(Y, end - 1)
            for e in range(passes.start, passes.end):
                c = pass_at(structure, e).equation
                x, row = ld(Y, first + e), row_within(structure, profile, m, c)
                add_on(work, closures.multipliers, c, -(x * u))
                x = x * pivot
                for f in range(passes.start, e + 1):
                    b = row + pass_at(structure, f).equation
                    st(A, b, ld(A, b) + x * ld(Y, first + f))


@kernel
def factor(structure: Any, parameters: Any, work: Any) -> None:
    """The factors of Φ, for the rank of the mechanism."""
    closures = closures_of(structure)
    m = closures.kept
    if m == 0:
        return
    for d in range(m - closures.rank):
        for c in range(m):
            st_on(work, closures.nulls, d * m + c, ld(parameters, closures.starts + d * m + c))
    factor_of_rank(
        work,
        closures.matrix,
        m,
        closures.rank,
        work,
        closures.nulls,
        work,
        closures.scratch,
        structure,
        closures.profile,
    )


@kernel
def solve(structure: Any, work: Any) -> None:
    """Λ <- Φ⁺ Λ."""
    closures = closures_of(structure)
    solve_of_rank(
        work,
        closures.matrix,
        closures.kept,
        closures.rank,
        work,
        closures.nulls,
        work,
        closures.multipliers,
        structure,
        closures.profile,
    )


@kernel
def scatter(structure: Any, work: Any, sign: Any) -> None:
    """sign·W Λ into the accumulators of the closing links."""
    closures = closures_of(structure)
    for c in range(closures.kept):
        push(structure, work, c, sign * ld_on(work, closures.multipliers, c))


@helper
def climb(parameters: Any, structure: Any, work: Any, i: Any, link: Any) -> Any:
    """The accumulated momentum of link i through the eliminations, in its own axes, ξ in the emptied places; what is
    left goes to the parent.

    A momentum x along the joint is the screw x on the link and −x on its parent: it enters with the one and does not
    leave.
    """
    first, kind = closures_of(structure).poses, link.kind
    line = first + i
    R, _ = pose(work, line)
    l, k, x = taken(work, line)
    if is_straight(kind):
        xi = -(dot(axis_of(work, line), l if kind == SLIDE else k) + x)
        l_up = add(l, scale(xi, vector(work, line, GAIN)))
        k_up = add(k, scale(xi, vector(work, line, GAIN + 3)))
        l, k = rotated_back(R, l_up), rotated_back(R, k_up)
        if kind == SLIDE:
            l = l[0], l[1], xi
        else:
            k = k[0], k[1], xi
    else:
        l, k = _plus_along(kind, rotated_back(R, l), rotated_back(R, k), x)
        l, k = through(parameters, work, i, link, l, k)
        l_up, k_up = left_over(parameters, structure, work, i, link, l, k)
        l_up, k_up = _plus_along(kind, l_up, k_up, -x)
        l_up, k_up = rotated(R, l_up), rotated(R, k_up)
    hand_over(structure, work, first, i, link.parent, l_up, k_up)
    return l, k


@helper
def _plus_along(kind: Any, l: Any, k: Any, x: Any) -> Any:
    """(l, k) with x more along the joint of a link of one freedom."""
    if kind == SLIDE:
        l = l[0], l[1], l[2] + x
    else:
        k = k[0], k[1], k[2] + x
    return l, k


@kernel
def load(parameters: Any, structure: Any, work: Any) -> None:
    """The momenta −W Λ through the eliminations, added to those of the tree."""
    closures = closures_of(structure)
    scatter(structure, work, -1.0)
    for r in range(closures.path_length):
        i = on_path_up(structure, closures, r)
        l, k = climb(parameters, structure, work, i, link_of(structure, i))
        put(work, i, L, add(vector(work, i, L), l))
        put(work, i, K, add(vector(work, i, K), k))
    taken(work, closures.poses + header_of(structure).links)


@kernel
def rates_of_equations(y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """−N Λ, and −ġ Λ, into the accumulators, with the twists that `down` has left in the links and the velocities in
    `out`.
    """
    closures, c = closures_of(structure), 0
    while c < closures.kept:
        push_rate(y, out, 0, parameters, structure, work, c, -1.0)
        c += equation_of(structure, closures, c).alike


@kernel
def equations_of_motion(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """After `up`: Φ and its factors, and minus the closing velocities in the line of multipliers."""
    poses(t, y, parameters, structure, work)
    screws(y, parameters, structure, work, 0, closures_of(structure).kept)
    equations_for_impulses(t, parameters, structure, work)


@helper
def equations_for_impulses(t: Any, parameters: Any, structure: Any, work: Any) -> None:
    """The same with poses and screws that are known."""
    columns(t, parameters, structure, work)
    matrix(structure, work)
    factor(structure, parameters, work)


@kernel
def react(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """After `down`: what the force elements and the turning of the screws add to ṗ*."""
    tree = header_of(structure)
    rates_of_equations(y, parameters, structure, work, out)
    forces(t, y, parameters, structure, work, out, tree.n_v)
    gather(parameters, structure, work, out, tree.n_v)


@helper
def _velocities(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    up(t, y, parameters, structure, work, False, 1.0)
    equations_of_motion(t, y, parameters, structure, work)
    solve(structure, work)
    load(parameters, structure, work)
    down(t, y, parameters, structure, work, out, False, 1.0)


@kernel
def velocities(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The velocities and twists of (q, p*) with closed loops; out = (v, ṗ* without reactions and force elements)."""
    _velocities(t, y, parameters, structure, work, out)  # one piece of code: a seventh faster than its sweeps by name


@entry(*FIELD_SIGNATURES)
def closed(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, p*) → out = (v, ṗ*), and its derivative behind it where `out` has just the places for both
    (`mechanics.closed_trees.derivatives`).
    """
    _closed(t, y, parameters, structure, work, out)


@rare(never)
def closed_on_demand(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The same, for straight-line code of one mechanism that lacks the derivative."""
    _closed(t, y, parameters, structure, work, out)


@helper
def _closed(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    velocities(t, y, parameters, structure, work, out)
    react(t, y, parameters, structure, work, out)
    d = 2 * header_of(structure).n_v
    if d < out.shape[0] == d + d * d:
        closed_derivatives(t, y, out, parameters, structure, work, out[d:])
