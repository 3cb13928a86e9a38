"""What is watched in a mechanism with closed loops: energy, gaps, power; and the projection that closes it after every
step.

The projection re-bases the momenta, p* := Aᵀ μ and Λ := 0 (exact at any instant; without it gaps grow like t²), and
closes the positions, q ← q exp(−H⁻¹ Gᵀ Φ⁺ φ), in the metric of the mass matrix, until |φ| is within the tolerance of
its equation, or what rounding leaves far from the origin.  With the factors that it leaves, what is watched and the
field at the new state take a sweep up and one down (`Problem.projection_tells`).
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import absolute, any_, entry, helper, joined, kernel, ld, ld2, less, select, st, st2
from liegroup.compile.dense import ld_on, project_out, row_within, st_on
from liegroup.compile.scalars import maximum
from liegroup.formulas.vectors import dot
from liegroup.table import EXP, retract
from mechanics.algorithms.energy import kinetic
from mechanics.algorithms.era import down, up
from mechanics.algorithms.momentum import momentum_of_free
from mechanics.closed_trees.field import (
    equations_for_impulses,
    equations_of_motion,
    load,
    scatter,
    solve,
    velocities,
)
from mechanics.closed_trees.forces import forces, powers_of_inputs, stored_and_power
from mechanics.closed_trees.layout import FACTORS, GAIN, WATCHED, closures_of, equation_of, on_path, scale_of
from mechanics.closed_trees.poses import (
    GRAIN,
    along_six,
    coupled_rate,
    extent,
    gather,
    gather_moving,
    poses,
    screws,
    six,
)
from mechanics.constraints.body_equations import COUPLING, PARALLEL, equation_numbers
from mechanics.constraints.coupling_equations import coupling_of
from mechanics.kernels.links import moment_up, put, set_angle, vector
from mechanics.model.layout import C, K, L, damping_of, gravity_of, header_of, link_of, numbers_of

LOOPS = "short"

SWEEPS = 3
"""Corrections of the positions at most, per step."""
NOISE = 4.0
"""Roundings of a pose of which a gap may consist."""
MANY = 3e5
"""Times what counts as closed: of a larger gap one correction leaves something, its square, and another one is made
with the same factors.
"""

# --- what is watched --------------------------------------------------------------------------------------------------


@kernel
def potential_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """−Σ m g·x, from the first moments that `up` has left in the links on the base."""
    n, total = header_of(structure).links, 0.0 * ld2(work, 0, 0)
    for i in range(n):
        link = link_of(structure, i)
        if link.parent == n:
            mass = numbers_of(parameters, link).tree_mass
            moment = moment_up(t, y, parameters, work, i, link, vector(work, i, C), mass)
            total = total - dot(gravity_of(parameters), moment)
    return total


@helper
def greatest_gap(structure: Any, work: Any, start: Any, end: Any) -> Any:
    """max |φ| of the equations from `start` up to `end`."""
    line, gap = closures_of(structure).gap, 0.0 * ld2(work, 0, 0)
    for c in range(start, end):
        gap = maximum(gap, absolute(ld_on(work, line, c)))
    return gap


@kernel
def greatest_gaps(parameters: Any, structure: Any, work: Any, v: Any, gap: Any, out: Any) -> None:
    """out[1] = gap, out[2] = max |φ̇| of all equations; twists are in the links, joint velocities in v."""
    closures, base = closures_of(structure), header_of(structure).links
    rate, i, j = 0.0 * ld2(work, 0, 0), base, base
    a = b = six(work, closures.poses, base, 0)
    for c in range(closures.all):
        e, screw = equation_of(structure, closures, c), closures.screws + c
        if e.kind == COUPLING:
            x = coupled_rate(v, 0, structure, work, e, screw)
        else:
            if e.first != i or e.second != j:  # equations of one closure follow each other
                i, j = e.first, e.second
                a, b = six(work, closures.poses, i, 0), six(work, closures.poses, j, 0)
            x = along_six(work, screw, a, b)
        rate = maximum(rate, absolute(x) / scale_of(parameters, e))
    st(out, 1, gap)
    st(out, 2, rate)


@kernel
def least_pivot(structure: Any, work: Any) -> Any:
    """The smallest pivot in the factors of the scaled Φ: 0 at singular positions; 1 without closures."""
    closures, greatest = closures_of(structure), 0.0 * ld2(work, 0, 0)
    for c in range(closures.kept):
        row = row_within(structure, closures.profile, closures.kept, c)
        greatest = maximum(greatest, ld_on(work, closures.matrix, row + c))
    return 1.0 / select(greatest == 0.0, 1.0 + 0.0 * greatest, greatest)


@helper
def watched(t: Any, y: Any, parameters: Any, structure: Any, work: Any, gap: Any, rates: Any, out: Any) -> None:
    """The same, after the velocities, which are in the line of rates; `gap` is the greatest |φ| of the kept
    equations.
    """
    closures = closures_of(structure)
    screws(y, parameters, structure, work, closures.kept, closures.all)
    stored, _ = stored_and_power(t, y, parameters, structure, work, rates)
    st(
        out,
        0,
        (kinetic(parameters, structure, work, rates, 0) + potential_energy(t, y, parameters, structure, work)) + stored,
    )
    gap = maximum(gap, greatest_gap(structure, work, closures.kept, closures.all))
    greatest_gaps(parameters, structure, work, rates, gap, out)
    st(out, WATCHED - 1, least_pivot(structure, work))


@kernel
def watched_at(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, greatest gap, greatest closing velocity, smallest pivot of the equations for Λ)."""
    closures = closures_of(structure)
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, parameters, structure, work, rates)
    watched(t, y, parameters, structure, work, greatest_gap(structure, work, 0, closures.kept), rates, out)


@entry(*FIELD_SIGNATURES)
def closed_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """What `watched_at` says."""
    watched_at(t, y, parameters, structure, work, out)


@entry(*FIELD_SIGNATURES)
def closed_invariants_and_momentum(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The same, and the momentum of a mechanism on free joints (`momentum_of_free`): closures between its own bodies
    and their multipliers add nothing to that.
    """
    watched_at(t, y, parameters, structure, work, out)
    momentum_of_free(t, y, parameters, structure, work, out, WATCHED)


@entry(*FIELD_SIGNATURES)
def closed_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, power of the elements and of the joints' damping): d energy/dt = power, for scleronomic trees."""
    closures, n_v = closures_of(structure), header_of(structure).n_v
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, parameters, structure, work, rates)
    stored, power = stored_and_power(t, y, parameters, structure, work, rates)
    for k in range(n_v):
        power = power - damping_of(parameters, structure, k) * ld(rates, k) * ld(rates, k)
    st(
        out,
        0,
        (kinetic(parameters, structure, work, rates, 0) + potential_energy(t, y, parameters, structure, work)) + stored,
    )
    st(out, 1, power)


@entry(*FIELD_SIGNATURES)
def input_powers(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = the power of every input, of a state (q, p*)."""
    closures = closures_of(structure)
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, parameters, structure, work, rates)
    powers_of_inputs(t, y, parameters, structure, work, rates, out)


# --- the projection ---------------------------------------------------------------------------------------------------


@kernel
def position_defect(parameters: Any, structure: Any, work: Any, posed: Any) -> Any:
    """Line of φ <- −φ of the kept equations, scaled, without its redundant part; returns the greatest of these over
    what counts as closed, and the greatest |φ|.

    What counts: the tolerance of the equation and, where it speaks of places, no less than a few roundings of where
    the links are, by the poses in the workspace `posed`.
    """
    closures = closures_of(structure)
    m, gap = closures.kept, joined(work[closures.gap : closures.rates])
    greatest, grain = greatest_gap(structure, work, 0, m), NOISE * GRAIN * extent(structure, posed)
    for c in range(m):
        st(gap, c, -(scale_of(parameters, equation_of(structure, closures, c)) * ld(gap, c)))
    project_out(work, closures.nulls, m - closures.rank, m, gap, 0)
    worst = 0.0 * ld2(work, 0, L)
    for c in range(m):
        e = equation_of(structure, closures, c)
        x = equation_numbers(parameters, e.numbers)
        closed = grain if e.kind != PARALLEL and e.kind != COUPLING else 0.0 * grain
        worst = maximum(worst, absolute(ld(gap, c)) / (x.scale * maximum(x.tolerance, closed)))
    return worst, greatest


@helper
def forget_momenta(structure: Any, work: Any) -> None:
    """Links <- the momenta of p = 0 at rest."""
    zero = 0.0 * ld2(work, 0, L)
    for i in range(header_of(structure).links):
        put(work, i, L, (zero, zero, zero))
        put(work, i, K, (zero, zero, zero))


@kernel
def correction(t: Any, y: Any, parameters: Any, structure: Any, work: Any, step: Any) -> None:
    """step = H⁻¹ Gᵀ Φ⁺ (line of φ)."""
    closures = closures_of(structure)
    for c in range(closures.kept):
        st_on(work, closures.multipliers, c, ld_on(work, closures.gap, c))
    solve(structure, work)
    forget_momenta(structure, work)
    load(parameters, structure, work)
    down(t, y, parameters, structure, work, step, False, 0.0)


@helper
def move(structure: Any, y: Any, step: Any, moved: Any) -> None:
    """moved <- q exp(step) on the tree's group."""
    closures = closures_of(structure)
    start, factors = closures.group, closures.factors
    table = structure[start : start + 5 * factors].reshape((factors, 5))
    retract(table, EXP, y, step, moved)


@helper
def correct(y: Any, structure: Any, work: Any, worst: Any, step: Any) -> None:
    """q <- q exp(step) where `worst` exceeds 1."""
    closures, n_q = closures_of(structure), header_of(structure).n_q
    moved = joined(work[closures.moved : closures.state])
    move(structure, y, step, moved)
    for i in range(n_q):
        st(y, i, select(less(1.0, worst), ld(moved, i), ld(y, i)))


@kernel
def look(t: Any, y: Any, parameters: Any, structure: Any, work: Any, behind: Any, placed: Any) -> Any:
    """The equations of motion and their factors; returns what `position_defect` says.  `placed`: `place` was here."""
    up(t, y, parameters, structure, work, False, 1.0)
    if placed:
        take_place(structure, behind, work)
        equations_for_impulses(t, parameters, structure, work)
    else:
        equations_of_motion(t, y, parameters, structure, work)
    return position_defect(parameters, structure, work, work)


@kernel
def place(t: Any, y: Any, parameters: Any, structure: Any, work: Any, behind: Any) -> Any:
    """Poses, screws and φ at y into the lines behind the workspace, whose own stay; returns the greatest |φ| over what
    counts as closed.
    """
    closures = closures_of(structure)
    for r in range(closures.path_length):
        i = on_path(structure, closures, r)
        set_angle(t, y, parameters, behind, i, link_of(structure, i))
    poses(t, y, parameters, structure, behind)
    screws(y, parameters, structure, behind, 0, closures.kept)
    take_gap(structure, behind, work)
    worst, _ = position_defect(parameters, structure, work, behind)
    return worst


@helper
def take_gap(structure: Any, behind: Any, work: Any) -> None:
    """φ of the kept equations as `place` has found it."""
    closures = closures_of(structure)
    for c in range(closures.kept):
        st_on(work, closures.gap, c, ld_on(behind, closures.gap, c))


@kernel
def take_place(structure: Any, behind: Any, work: Any) -> None:
    """Poses, screws and φ as `place` has found them."""
    closures, base = closures_of(structure), header_of(structure).links
    take_gap(structure, behind, work)
    for r in range(closures.path_length + 1):
        line = closures.poses + (base if r == closures.path_length else on_path(structure, closures, r))
        for k in range(GAIN):
            st2(work, line, k, ld2(behind, line, k))
    for c in range(closures.kept):
        e, line = equation_of(structure, closures, c), closures.screws + c
        for k in range(coupling_of(structure, e.code).joints if e.kind == COUPLING else 12):
            st2(work, line, k, ld2(behind, line, k))


@helper
def keep_factors(structure: Any, work: Any, back: Any) -> None:
    """Keep the factors of H over which `down` writes, or bring them back."""
    closures = closures_of(structure)
    kept = joined(work[closures.factors_kept : closures.registers])
    for i in range(header_of(structure).links):
        for k in range(FACTORS):
            if back:
                st2(work, i, k, ld(kept, FACTORS * i + k))
            else:
                st(kept, FACTORS * i + k, ld2(work, i, k))


@helper
def once_more(first: Any, worst: Any) -> Any:
    """`worst` where a correction from a gap of `first` has left so much that one with the same factors closes it: they
    leave about the part worst/first of it, too; 0 elsewhere.
    """
    reaches = select(less(worst * worst, 0.5 * first), worst, 0.0 * worst)
    return select(less(MANY, first), reaches, 0.0 * worst)


@entry(*FIELD_SIGNATURES)
def closed_projection(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(q, p*) → (q, p) with closed loops and Λ = 0; behind it what is watched, and the field, where `out` has the
    places.
    """
    closures, n, placed = closures_of(structure), y.shape[0], False
    step, behind = joined(work[closures.rates : closures.moved]), work[closures.registers + 1 :]
    for i in range(n):
        st(out, i, ld(y, i))
    for sweep in range(SWEEPS + 1):
        worst, gap = look(t, out, parameters, structure, work, behind, placed)
        placed = False
        if sweep == SWEEPS or closures.closes_positions == 0 or not any_(less(1.0, worst)):
            break
        many = sweep == 0 and any_(less(MANY, worst))
        if many:
            keep_factors(structure, work, False)
        correction(t, out, parameters, structure, work, step)
        correct(out, structure, work, worst, step)
        if many:
            again = once_more(worst, place(t, out, parameters, structure, work, behind))
            placed = not any_(less(1.0, again))
            if not placed:
                keep_factors(structure, work, True)
                correction(t, y, parameters, structure, work, step)
                correct(out, structure, work, again, step)
    solve(structure, work)
    if out.shape[0] > n:
        tell(t, out, parameters, structure, work, gap, step, out, header_of(structure).n_q, out[n:])
    else:
        scatter(structure, work, 1.0)
        gather(parameters, structure, work, out, header_of(structure).n_q)


@kernel
def tell(
    t: Any, y: Any, parameters: Any, structure: Any, work: Any, gap: Any, rates: Any, p: Any, offset: Any, out: Any
) -> None:  # fmt: skip
    """p[offset …] += Gᵀ Λ, by the factors, the Λ and the greatest |φ| of the kept equations at y; out = what is watched
    at the re-based state, then the field there, as far as there is room.

    Λ of the re-based state is zero, no reaction is left; its links have the momenta μ = μ' + Λ*, so that ṗ = −Aᵀ Ω μ.
    """
    n_v = header_of(structure).n_v
    load(parameters, structure, work)
    down(t, y, parameters, structure, work, rates, False, 1.0)
    scatter(structure, work, 1.0)
    gather_moving(parameters, structure, work, p, offset, rates, n_v)
    if out.shape[0] > WATCHED:
        forces(t, y, parameters, structure, work, rates, n_v)
        gather(parameters, structure, work, rates, n_v)
        for k in range(2 * n_v):
            st(out, WATCHED + k, ld(rates, k))
    watched(t, y, parameters, structure, work, gap, rates, out)
