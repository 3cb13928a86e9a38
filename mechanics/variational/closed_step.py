"""RATTLE on a tree with closed loops and wheels: the variational step with the impulses of the constraints as further
unknowns.

With Φ = W T A the rates of the closure equations φ (`mechanics.constraints.body_equations`) by the joint velocities,

    A₀ᵀ P*(D) = p̂ + Φ₀ᵀ Λ,      φ(q₁) = 0,      p₁ = A₁ᵀ P*⁺ + (h/2) Q₁ − (damping/2) D

and the momenta are then brought to Φ₁ M⁻¹ p₁ = 0, which does not change the motion that follows.  (The engine does so
by the
projection of the problem.)  One iteration factorises the tree once, asks it for the motion that one unit of every
closing impulse
makes, and solves

    Φ₁ J⁻¹ Φ₀ᵀ δΛ = −φ − Φ₁ δ

for the impulses; J is the exact matrix of the tree, so that the iteration is Newton's.  Equations of wheels and blades
that hold velocities only have the discrete rolling condition C(q₀, q₁) of `mechanics.variational.rolling` in the place
of φ, and ∂C/∂q₁ in that of Φ₁: the discrete Lagrange–d'Alembert principle.  Redundant closures are a normal case: the
null directions of Φ M⁻¹ Φᵀ at the start of the step, as many as the mechanism has, are left out; the equations that
belong to them close by themselves. Symmetric, order 2, and symplectic where nothing rolls; the gap stays at rounding.
Sources: Leimkuhler and Skeel 1994, Reich 1996 (RATTLE); Hairer, Lubich and Wanner, Geometric Numerical Integration,
VII.1; Cortés and Martínez 2001, Ferraro, Iglesias and Martín de Diego 2008 (nonholonomic).

work
    beside the lines of `mechanics.variational.step`: screws and contact forces at k (one per equation), the
    equations for Λ, Λ.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.arithmetic.compensated import increase
from integrators.arithmetic.elimination import solve_rows_within
from integrators.layout import COMPENSATION, ITERATIONS, TAU
from integrators.signatures import STEP_SIGNATURES
from liegroup.compile import absolute, any_, carries, entry, helper, joined, kernel, ld, ld2, select, st, st2
from liegroup.compile.dense import ld_on, right_of_system, row_of_system, st_on
from liegroup.compile.scalars import maximum, minimum
from liegroup.formulas.so2 import cayley_angle
from liegroup.formulas.vectors import add, cross, dot, subtract
from mechanics.algebra.vectors import rotated, rotated_back
from mechanics.algorithms.era import up
from mechanics.closed_trees.field import equations_of_motion
from mechanics.closed_trees.layout import closures_of, equation_of, on_path, on_path_up, reach_of, scale_of
from mechanics.closed_trees.poses import GRAIN, extent, pose, screws
from mechanics.constraints.body_equations import COUPLING
from mechanics.constraints.coupling_equations import coupling_of, joint
from mechanics.joints.element import SLIDE
from mechanics.kernels.links import freedom, put, vector
from mechanics.model.layout import header_of, link_of, numbers_of
from mechanics.variational.correction import Sizes, correct, correction
from mechanics.variational.elimination import eliminate, relieved
from mechanics.variational.impulses import largest
from mechanics.variational.matrices import product, transpose
from mechanics.variational.rolling import remember_contact, roll
from mechanics.variational.step import ITERATIONS_LIMIT, LEAST, MISLED, ROUNDING, begin, checked, relative, run
from mechanics.variational.step import accept as accept_tree
from mechanics.variational.workspace import (
    ALONG_JOINT,
    DEFECT,
    ETA,
    G0,
    G1,
    IMPULSE,
    RHO0,
    RHO1,
    SHIFT_JOINT,
    TARGET,
    TURN_JOINT,
    matrix,
    put_along,
    wrench_to_parent,
)

LOOPS = "short"

SMALL = 1e-8
"""A relative correction of joints and bodies below this leaves an error below rounding."""
NEAR = 1e-4
"""A relative correction below this is followed by one below `SMALL`, or by one that rounding makes."""
NOISE = 16.0
"""Corrections below this many roundings of a pose are none."""
REST = 1e-12
"""Motions of a step below this part of the poses are those of rest: where corrections grow there, they have ended."""
DOUBTFUL = 0.3
"""A first correction beyond this part of the motion: the extrapolated guess may lead to another solution than that near
rest.
"""


class Lines(NamedTuple):
    """First lines of the screws and contact forces at k, of Λ, of the rows of force elements, and of the equations for
    Λ, on through as many lines as they take; how many equations there are.
    """

    screws: Any
    impulse: Any
    rows: Any
    system: Any
    equations: Any


@helper
def lines_of(structure: Any, work: Any) -> Any:
    """The lines behind those of the links and of the base."""
    closures, first = closures_of(structure), header_of(structure).links + 1
    m = closures.kept
    rows = first + m + lines_for(m, work.shape[1])
    return Lines(first, first + m, rows, rows + closures.rows, m)


@helper
def lines_for(count: Any, columns: Any) -> Any:
    """Lines of a workspace that so many numbers take."""
    return (count + columns - 1) // columns


# --- closures at the nodes --------------------------------------------------------------------------------------------


@kernel
def coordinates(y: Any, structure: Any, work: Any, G: Any, q: Any) -> None:
    """q <- the coordinates of the coupled joints at node k (G0), or with the increments of the joints at node k + 1
    (G1).
    """
    closures = closures_of(structure)
    for c in range(closures.coupled, closures.kept):
        coupling = coupling_of(structure, equation_of(structure, closures, c).code)
        for j in range(coupling.joints):
            i, place, _ = joint(structure, coupling, j)
            x = ld(y, place)
            if G == G1:
                is_slide = link_of(structure, i).kind == SLIDE
                x = x + (ld2(work, i, SHIFT_JOINT + 2) if is_slide else cayley_angle(ld2(work, i, TURN_JOINT + 2)))
            st(q, place, x)


@kernel
def closures_at(y: Any, parameters: Any, structure: Any, work: Any, G: Any, rho: Any, field_work: Any) -> None:
    """φ and the screws W, in the axes of the links, with these placed as in columns G and ρ of the workspace, into that
    of the field; y at node k.
    """
    place_poses(structure, work, G, rho, field_work)
    closures = closures_of(structure)
    q = joined(field_work[closures.moved : closures.state])
    coordinates(y, structure, work, G, q)
    screws(q, parameters, structure, field_work, 0, closures.kept)
    for c in range(closures.coupled):
        e, line = equation_of(structure, closures, c), closures.screws + c
        for end, column in ((e.first, 0), (e.second, 6)):
            R, _ = pose(field_work, closures.poses + end)
            put(field_work, line, column, rotated_back(R, vector(field_work, line, column)))
            put(field_work, line, column + 3, rotated_back(R, vector(field_work, line, column + 3)))


@kernel
def place_poses(structure: Any, work: Any, G: Any, rho: Any, field_work: Any) -> None:
    """Poses of the links on the paths, placed as in columns G and ρ of the workspace."""
    closures, n = closures_of(structure), header_of(structure).links
    first = closures.poses
    for column in range(12):
        st2(field_work, first + n, column, 1.0 if column in (0, 4, 8) else 0.0)
    for r in range(closures.path_length):
        i = on_path(structure, closures, r)
        R, x = pose(field_work, first + link_of(structure, i).parent)
        S = product(R, transpose(matrix(work, i, G)))
        put(field_work, first + i, 0, (S[0], S[1], S[2]))
        put(field_work, first + i, 3, (S[3], S[4], S[5]))
        put(field_work, first + i, 6, (S[6], S[7], S[8]))
        put(field_work, first + i, 9, add(x, rotated(R, vector(work, i, rho))))


@kernel
def start(t: Any, y: Any, parameters: Any, structure: Any, field_work: Any, work: Any) -> None:
    """The screws at node k, the null directions there, and no impulse."""
    closures, lines = closures_of(structure), lines_of(structure, work)
    first, m = lines.screws, lines.equations
    if closures.rank < m:
        up(t, y, parameters, structure, field_work, False, 1.0)
        equations_of_motion(t, y, parameters, structure, field_work)
    closures_at(y, parameters, structure, work, G0, RHO0, field_work)
    for c in range(m):
        st_on(work, lines.impulse, c, 0.0)
        for k in range(12):
            st2(work, first + c, k, ld2(field_work, closures.screws + c, k))
        remember_contact(parameters, structure, field_work, work, c, first + c)


# --- impulses on the tree ---------------------------------------------------------------------------------------------


@helper
def clear_path(structure: Any, work: Any) -> None:
    """No impulses in the links on the paths, nor in the base."""
    clear_between(structure, work, 0, closures_of(structure).path_length)


@helper
def clear_between(structure: Any, work: Any, start: Any, stop: Any) -> None:
    """No impulses in the links from `start` up to `stop` on the path, nor in the base."""
    closures = closures_of(structure)
    for r in range(start, stop):
        i = on_path(structure, closures, r)
        for k in range(6):
            st2(work, i, IMPULSE + k, 0.0)
        st2(work, i, ALONG_JOINT, 0.0)
    for k in range(6):
        st2(work, header_of(structure).links, IMPULSE + k, 0.0)


@helper
def push(structure: Any, work: Any, c: Any, x: Any) -> None:
    """The impulse x of equation c on its two bodies, or on its joints."""
    screw, e = lines_of(structure, work).screws + c, equation_of(structure, closures_of(structure), c)
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        for k in range(coupling.joints):
            i = joint(structure, coupling, k).link
            st2(work, i, ALONG_JOINT, ld2(work, i, ALONG_JOINT) + x * ld2(work, screw, k))
    else:
        i, j = e.first, e.second
        for k in range(6):
            st2(work, i, IMPULSE + k, ld2(work, i, IMPULSE + k) + x * ld2(work, screw, k))
            st2(work, j, IMPULSE + k, ld2(work, j, IMPULSE + k) + x * ld2(work, screw, 6 + k))


@helper
def reaction(structure: Any, work: Any) -> Any:
    """The largest impulse of a closure on a body or a joint: what balances in a mechanism at rest is as large."""
    lines, closures = lines_of(structure, work), closures_of(structure)
    most = 0.0 * ld2(work, 0, TURN_JOINT)
    for c in range(lines.equations):
        e, x = equation_of(structure, closures, c), absolute(ld_on(work, lines.impulse, c))
        for k in range(coupling_of(structure, e.code).joints if e.kind == COUPLING else 12):
            most = maximum(most, x * absolute(ld2(work, lines.screws + c, k)))
    return most


@kernel
def add_reactions(parameters: Any, structure: Any, work: Any, column: Any, at: Any) -> None:
    """Column <- column + Φᵀ x for the impulses x that have been pushed, in the axes of node k (at = G0) or k + 1 (G1);
    `ETA` is lost.
    """
    closures = closures_of(structure)
    for r in range(closures.path_length):
        i = on_path_up(structure, closures, r)
        link = link_of(structure, i)
        kind = link.kind
        f, n = vector(work, i, IMPULSE), vector(work, i, IMPULSE + 3)
        put_along(work, i, ETA, kind, numbers_of(parameters, link).pitch, f, n)
        for j in range(freedom(kind)):
            st2(work, i, column + j, ld2(work, i, column + j) + (ld2(work, i, ETA + j) + ld2(work, i, ALONG_JOINT)))
        wrench_to_parent(work, i, at, link.parent, IMPULSE, False, f, n)


@kernel
def respond(parameters: Any, structure: Any, work: Any, start: Any, stop: Any) -> None:
    """η of the links from `start` up to `stop` on the path after the impulses that have been pushed, which pass no
    others, by the factors in the links.
    """
    closures = closures_of(structure)
    for r in range(closures.path_length - stop, closures.path_length - start):
        i = on_path_up(structure, closures, r)
        link = link_of(structure, i)
        kind = link.kind
        f, n = vector(work, i, IMPULSE), vector(work, i, IMPULSE + 3)
        f, n = (-f[0], -f[1], -f[2]), (-n[0], -n[1], -n[2])
        put_along(work, i, DEFECT, kind, numbers_of(parameters, link).pitch, f, n)
        for j in range(freedom(kind)):
            st2(work, i, DEFECT + j, ld2(work, i, ALONG_JOINT) - ld2(work, i, DEFECT + j))
        f, n = relieved(kind, work, i, f, n)
        wrench_to_parent(work, i, G0, link.parent, IMPULSE, False, (-f[0], -f[1], -f[2]), (-n[0], -n[1], -n[2]))
    move_path(parameters, structure, work, start, stop)


@kernel
def move_path(parameters: Any, structure: Any, work: Any, start: Any, stop: Any) -> None:
    """η of the links from `start` up to `stop` on the path, with the defects in the links; no joint is moved."""
    closures = closures_of(structure)
    for r in range(start, stop):
        i = on_path(structure, closures, r)
        link = link_of(structure, i)
        kind, parent, pitch = link.kind, link.parent, numbers_of(parameters, link).pitch
        S, v, n = matrix(work, i, G1), vector(work, parent, ETA), vector(work, parent, ETA + 3)
        v, n = rotated(S, subtract(v, cross(vector(work, i, RHO1), n))), rotated(S, n)
        dv, dn = correction(kind, pitch, work, i, v, n, v[0] != v[0])
        put(work, i, ETA, add(v, dv))
        put(work, i, ETA + 3, add(n, dn))


@helper
def along_joint(structure: Any, work: Any, i: Any) -> Any:
    """The increment of the coordinate of link i, of one freedom, by η."""
    link = link_of(structure, i)
    S, v, n = matrix(work, i, G1), vector(work, link.parent, ETA), vector(work, link.parent, ETA + 3)
    v, n = rotated(S, subtract(v, cross(vector(work, i, RHO1), n))), rotated(S, n)
    return ld2(work, i, ETA + 2) - v[2] if link.kind == SLIDE else ld2(work, i, ETA + 5) - n[2]


@kernel
def closing(structure: Any, work: Any, field_work: Any, c: Any) -> Any:
    """W₁ η of equation c, or what its joints contribute: η of the link less that of its parent, along the joint."""
    closures = closures_of(structure)
    e, screw = equation_of(structure, closures, c), closures.screws + c
    if e.kind == COUPLING:
        coupling = coupling_of(structure, e.code)
        x = 0.0 * ld2(field_work, screw, 0)
        for k in range(coupling.joints):
            x = x + ld2(field_work, screw, k) * along_joint(structure, work, joint(structure, coupling, k).link)
        return x
    i, j = e.first, e.second
    on_i = dot(vector(field_work, screw, 0), vector(work, i, ETA)) + dot(
        vector(field_work, screw, 3), vector(work, i, ETA + 3)
    )
    on_j = dot(vector(field_work, screw, 6), vector(work, j, ETA)) + dot(
        vector(field_work, screw, 9), vector(work, j, ETA + 3)
    )
    return on_i + on_j


# --- the equations for the impulses -----------------------------------------------------------------------------------


@kernel
def without_nulls(structure: Any, field_work: Any, work: Any, system: Any, last: Any) -> None:
    """Columns of the equations for Λ, in rows of `last` numbers, <- (1 − V Vᵀ) columns."""
    closures = closures_of(structure)
    m = closures.kept
    for d in range(m - closures.rank):
        for k in range(last):
            s = 0.0 * ld_on(work, system, k)
            for c in range(m):
                s = s + ld_on(field_work, closures.nulls, d * m + c) * ld_on(work, system, c * last + k)
            for c in range(m):
                x = ld_on(work, system, c * last + k)
                st_on(work, system, c * last + k, x - s * ld_on(field_work, closures.nulls, d * m + c))


@kernel
def deflate(structure: Any, field_work: Any, work: Any, system: Any, rows: Any) -> None:
    """P S P + s V Vᵀ with P = 1 − V Vᵀ: invertible where S is not, the same elsewhere.

    The system has `rows` rows, behind those for Λ others that have no null directions, and a right side.
    """
    closures, width = closures_of(structure), rows + 1
    m = closures.kept
    if closures.rank == m:
        return
    size = ld_on(work, system, 0)
    for c in range(1, m):
        size = size + ld_on(work, system, c * width + c)
    without_nulls(structure, field_work, work, system, width)
    for d in range(m - closures.rank):
        for c in range(rows):
            s = 0.0 * size
            for k in range(m):
                s = s + ld_on(work, system, c * width + k) * ld_on(field_work, closures.nulls, d * m + k)
            for k in range(m):
                own = size * ld_on(field_work, closures.nulls, d * m + c) if c < m else 0.0 * size
                x = (own - s) * ld_on(field_work, closures.nulls, d * m + k)
                st_on(work, system, c * width + k, ld_on(work, system, c * width + k) + x)


@kernel
def solve_within(parameters: Any, structure: Any, field_work: Any, work: Any, system: Any) -> None:
    """The right sides of the equations for Λ <- (Φ₁ J⁻¹ Φ₀ᵀ)⁻¹ times them, each impulse as far as it reaches."""
    closures = closures_of(structure)
    m, profile = closures.kept, closures.profile
    zero = 0.0 * ld2(work, 0, TURN_JOINT)
    for c in range(m):
        reach, row = reach_of(structure, closures, c), row_of_system(structure, profile, m, c)
        clear_between(structure, work, reach.start, reach.stop)
        push(structure, work, c, 1.0)
        respond(parameters, structure, work, reach.start, reach.stop)
        for k in range(reach.first, reach.end):
            x = closing(structure, work, field_work, k)
            st_on(work, system, row_of_system(structure, profile, m, k) + c, x)
        for k in range(reach.end, reach_of(structure, closures, reach.end - 1).end):
            st_on(work, system, row + k, zero)
    deflate(structure, field_work, work, system, m)  # the profile is a full one where there are null directions
    solve_rows_within(work, system, m, structure, profile)


@kernel
def close(y: Any, parameters: Any, structure: Any, field_work: Any, work: Any, frozen: Any) -> None:
    """Correct Λ, and the momenta the step aims at, so that the next correction of the joints closes the loops."""
    closures, lines = closures_of(structure), lines_of(structure, work)
    first, system, m = lines.screws, lines.system, lines.equations
    closures_at(y, parameters, structure, work, G1, RHO1, field_work)
    for c in range(m):
        roll(parameters, structure, field_work, work, c, first + c)
    move_path(parameters, structure, work, 0, closures.path_length)
    for c in range(m):
        scale = scale_of(parameters, equation_of(structure, closures, c))
        gap = scale * ld_on(field_work, closures.gap, c)
        right = right_of_system(structure, closures.profile, m, c)
        st_on(work, system, right, -(gap + closing(structure, work, field_work, c)))
    solve_within(parameters, structure, field_work, work, system)
    clear_path(structure, work)
    for c in range(m):
        x = ld_on(work, system, right_of_system(structure, closures.profile, m, c))
        x = select(frozen, 0.0 * x, x)
        st_on(work, lines.impulse, c, ld_on(work, lines.impulse, c) + x)
        push(structure, work, c, x)
    add_reactions(parameters, structure, work, TARGET, G0)


@kernel
def size_of_poses(structure: Any, field_work: Any, work: Any) -> Any:
    """`extent`, or the largest coordinate of a link against its parent, where nothing acts between bodies."""
    size = extent(structure, field_work)
    for i in range(header_of(structure).links):
        size = maximum(size, largest(vector(work, i, RHO0)))
    return size


@helper
def remaining(sizes: Any, size: Any) -> Any:
    """`relative`, but for turns that rounding makes in a motion without turns, and shifts in one without shifts.

    An iteration leaves δ² / |turn| of a correction δ, relative to the motion: bodies that hardly turn are as if linear.
    Shifts below rounding of the poses, of that `size`, are none, and so are turns of what does not turn but by it.
    """
    still = sizes.turn_correction * sizes.turn_correction <= ROUNDING * sizes.turn
    turn = select(still, 0.0 * sizes.turn, sizes.turn_correction)
    turn = select(maximum(sizes.turn_correction, sizes.turn) <= NOISE * GRAIN, 0.0 * turn, turn)
    shift = select(sizes.shift_correction <= NOISE * GRAIN * size, 0.0 * sizes.turn, sizes.shift_correction)
    return relative(Sizes(turn, shift, sizes.turn, sizes.shift, sizes.joint_turn))


@helper
def at_rest(sizes: Any, size: Any, zero: Any) -> Any:
    """More than any relative correction where motion and correction are below `REST`, of turns and of poses of that
    `size`: there it is rounding, through levers of the closures; else 0.
    """
    turns, shifts = maximum(sizes.turn, sizes.turn_correction), maximum(sizes.shift, sizes.shift_correction)
    return select(turns <= REST, select(shifts <= REST * size, zero + 1e300, zero), zero)


@helper
def beyond_rounding(sizes: Any, size: Any, most: Any) -> Any:
    """A motion in roundings of the poses, of that `size`; at `most` 1."""
    shift = sizes.shift / select(size == 0.0, size + LEAST, NOISE * GRAIN * size)
    return minimum(most, maximum(sizes.turn / (NOISE * GRAIN), shift))


@kernel
def solve(
    y: Any, options: Any, parameters: Any, structure: Any, field_work: Any, work: Any, known: Any, counters: Any
) -> Any:  # fmt: skip
    """Newton's method on joints and impulses; returns whether all lanes have converged, the largest turn of a joint,
    and `beyond_rounding`.

    It ends, too, where corrections below `NEAR` do not become smaller any more: of a slow motion, rounding of the
    positions, through a badly conditioned mass matrix, leaves more than `SMALL`.  The equations themselves are checked
    afterwards. Near toggles there may be several solutions: a `DOUBTFUL` guess, extrapolated from `known` past steps,
    is given up at once. Of numbers that carry a derivative there is one more round, at the solution.
    """
    zero = 0.0 * ld2(work, 0, TURN_JOINT)
    going, turn, before, moved = zero + 1.0, zero, zero + 1.0, zero + 1.0
    settled = False
    for k in range(ITERATIONS_LIMIT):
        eliminate(options[TAU], parameters, structure, work, True)
        close(y, parameters, structure, field_work, work, going == 0.0)
        eliminate(options[TAU], parameters, structure, work, False)
        sizes = correct(parameters, structure, work, going == 0.0)
        counters[ITERATIONS] += 1
        size = size_of_poses(structure, field_work, work)
        turn, now, moved = sizes.joint_turn, remaining(sizes, size), beyond_rounding(sizes, size, zero + 1.0)
        if k == 0 and known > 0 and any_(now > DOUBTFUL):
            return False, zero + MISLED, moved
        near = maximum(NEAR + zero, at_rest(sizes, size, zero))
        stuck = select(before <= near, select(now >= before, zero, going), going)
        going, before = select(now <= SMALL, zero, stuck), now
        if settled or not any_(going > 0.0):
            if settled or not carries(zero):
                return True, turn, moved
            going, before, settled = zero + 1.0, zero + 1.0, True
    return settled, turn, moved


# --- the step ---------------------------------------------------------------------------------------------------------


@kernel
def close_step(
    t: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any, counters: Any
) -> Any:  # fmt: skip
    """Solve the equations of one substep, which has been begun."""
    start(t, y, parameters, structure, field_work, work)
    converged, turn, moved = solve(y, options, parameters, structure, field_work, work, known, counters)
    impulse = reaction(structure, work)
    solved, residual = checked(converged, options, parameters, structure, work, impulse, moved)
    return solved, turn, residual


@kernel
def attempt(
    t: Any, h: Any, y: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, known: Any,
    forces_known: Any,
    counters: Any,
) -> Any:  # fmt: skip
    """Solve the equations of one substep; the state is not touched."""
    begin(t, h, y, parameters, structure, work, known, forces_known, counters)
    return close_step(t, y, parameters, structure, options, field_work, work, known, counters)


@kernel
def accept(
    t: Any, h: Any, y: Any, low: Any, parameters: Any, structure: Any, options: Any, field_work: Any, work: Any,
    counters: Any
) -> Any:  # fmt: skip
    """Go on to the end t of a solved substep: as without loops, and p += Φ₀ᵀ Λ."""
    tree = header_of(structure)
    accept_tree(t, h, y, low, parameters, structure, options, field_work, work, counters)
    lines = lines_of(structure, work)
    clear_path(structure, work)
    for c in range(lines.equations):
        push(structure, work, c, ld_on(work, lines.impulse, c))
    for i in range(tree.links):
        for j in range(freedom(link_of(structure, i).kind)):
            st2(work, i, DEFECT + j, 0.0)
    add_reactions(parameters, structure, work, DEFECT, G0)
    for i in range(tree.links):
        link = link_of(structure, i)
        for j in range(freedom(link.kind)):
            increase(y, low, tree.n_q + link.v + j, ld2(work, i, DEFECT + j), options[COMPENSATION])
    return True


@entry(*STEP_SIGNATURES)
def closed_step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One variational step of a tree with closed loops and wheels, y = (q, p)."""
    return run(
        attempt, accept, t, h, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
    )
