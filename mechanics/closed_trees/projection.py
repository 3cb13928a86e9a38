"""What is watched in a mechanism with closed loops: energy, gaps, power; and the projection that closes it after every
step.

The projection re-bases the momenta, p* := Aᵀ μ and η := 0 (exact at any instant; without it gaps grow like t²), and
closes the positions, q ← q exp(−H⁻¹ Gᵀ Φ⁺ φ), in the metric of the mass matrix, until |φ| is within the tolerance of
its row.
"""

from __future__ import annotations

from typing import Any

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import absolute, any_, entry, helper, kernel, ld, ld2, less, select, st, st2
from liegroup.compile.dense import project_out
from liegroup.compile.scalars import maximum
from liegroup.table import EXP, retract
from mechanics.algorithms.energy import kinetic
from mechanics.algorithms.era import down, up
from mechanics.closed_trees.field import equations_of_motion, load, scatter, solve, velocities
from mechanics.closed_trees.forces import stored_and_power
from mechanics.closed_trees.packing import (
    ALL,
    EQUATION,
    EQUATIONS,
    ETA,
    FACTORS,
    GAP,
    GROUP,
    KEPT,
    MATRIX,
    MOVED,
    NULLS,
    POSITIONS,
    RANK,
    RATES,
    VECTORS,
)
from mechanics.closed_trees.poses import closing_rate, gather, screws
from mechanics.constraints.rows import SCALE, TOLERANCE
from mechanics.kernels.rows import moment_up, put, vector
from mechanics.model.packing import (
    DAMPING,
    EXTENSION,
    HEADER,
    N_Q,
    N_V,
    PARAMETERS,
    PARENT,
    ROW,
    ROWS,
    TREE_MASS,
    C,
    K,
    L,
)

SWEEPS = 3
"""Corrections of the positions at most, per step."""

# --- what is watched
# ----------------------------------------------------------------------------------------------------------


@kernel
def potential_energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> Any:
    """−Σ m g·x, from the first moments that `up` has left in the rows on the base."""
    n, total = structure[ROWS], 0.0 * ld2(work, 0, 0)
    for i in range(n):
        row = HEADER + i * ROW
        if structure[row + PARENT] == n:
            at = structure[row + PARAMETERS]
            moment = moment_up(
                t, y, parameters, structure, work, i, row, at, vector(work, i, C), parameters[at + TREE_MASS]
            )
            total = total - (parameters[0] * moment[0] + parameters[1] * moment[1] + parameters[2] * moment[2])
    return total


@kernel
def greatest_gaps(parameters: Any, structure: Any, work: Any, v: Any, out: Any) -> None:
    """out[1] = max |φ|, out[2] = max |φ̇| of all equations; twists are in the rows, joint velocities in v."""
    o = structure[EXTENSION]
    gap = rate = 0.0 * ld2(work, 0, 0)
    for c in range(structure[o + ALL]):
        e = structure[o + EQUATIONS] + EQUATION * c
        gap = maximum(gap, absolute(ld2(work, structure[o + VECTORS] + GAP, c)))
        x = closing_rate(v, 0, structure, work, c)
        rate = maximum(rate, absolute(x) / parameters[structure[e + 3] + SCALE])
    st(out, 1, gap)
    st(out, 2, rate)


@kernel
def least_pivot(structure: Any, work: Any) -> Any:
    """The smallest pivot in the factors of the scaled Φ: 0 at singular positions; 1 without closures."""
    o, greatest = structure[EXTENSION], 0.0 * ld2(work, 0, 0)
    for c in range(structure[o + KEPT]):
        greatest = maximum(greatest, ld2(work, structure[o + MATRIX] + c, c))
    return 1.0 / select(greatest == 0.0, 1.0 + 0.0 * greatest, greatest)


@entry(*FIELD_SIGNATURES)
def closed_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, greatest gap, greatest closing velocity, smallest pivot of the equations for η)."""
    rates = work[structure[structure[EXTENSION] + VECTORS] + RATES]
    velocities(t, y, parameters, structure, work, rates)
    screws(y, parameters, structure, work, structure[structure[EXTENSION] + ALL])
    stored, _ = stored_and_power(t, y, parameters, structure, work, rates)
    st(out, 0, (kinetic(parameters, structure, work) + potential_energy(t, y, parameters, structure, work)) + stored)
    greatest_gaps(parameters, structure, work, rates, out)
    st(out, 3, least_pivot(structure, work))


@entry(*FIELD_SIGNATURES)
def closed_power(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, power of the elements and of the joints' damping): d energy/dt = power, for scleronomic trees."""
    n_v = structure[N_V]
    rates = work[structure[structure[EXTENSION] + VECTORS] + RATES]
    velocities(t, y, parameters, structure, work, rates)
    stored, power = stored_and_power(t, y, parameters, structure, work, rates)
    for k in range(n_v):
        power = power - parameters[structure[DAMPING] + k] * ld(rates, k) * ld(rates, k)
    st(out, 0, (kinetic(parameters, structure, work) + potential_energy(t, y, parameters, structure, work)) + stored)
    st(out, 1, power)


# --- the projection
# -----------------------------------------------------------------------------------------------------------


@kernel
def position_defect(parameters: Any, structure: Any, work: Any) -> Any:
    """Row φ <- −φ of the kept equations, scaled, without its redundant part; returns the greatest |φ| over its
    tolerance.
    """
    o = structure[EXTENSION]
    m, row = structure[o + KEPT], structure[o + VECTORS] + GAP
    for c in range(m):
        at = structure[structure[o + EQUATIONS] + EQUATION * c + 3]
        st2(work, row, c, -(parameters[at + SCALE] * ld2(work, row, c)))
    project_out(work, structure[o + NULLS], m - structure[o + RANK], m, work, row)
    worst = 0.0 * ld2(work, 0, L)
    for c in range(m):
        at = structure[structure[o + EQUATIONS] + EQUATION * c + 3]
        worst = maximum(worst, absolute(ld2(work, row, c)) / (parameters[at + SCALE] * parameters[at + TOLERANCE]))
    return worst


@helper
def forget_momenta(structure: Any, work: Any) -> None:
    """Rows <- the momenta of p = 0 at rest."""
    zero = 0.0 * ld2(work, 0, L)
    for i in range(structure[ROWS]):
        put(work, i, L, (zero, zero, zero))
        put(work, i, K, (zero, zero, zero))


@helper
def correction(t: Any, y: Any, parameters: Any, structure: Any, work: Any, step: Any) -> None:
    """step = H⁻¹ Gᵀ Φ⁺ (row φ)."""
    o = structure[EXTENSION]
    for c in range(structure[o + KEPT]):
        st2(work, structure[o + VECTORS] + ETA, c, ld2(work, structure[o + VECTORS] + GAP, c))
    solve(structure, work)
    forget_momenta(structure, work)
    load(t, y, parameters, structure, work)
    down(t, y, parameters, structure, work, step, False, 0.0)


@helper
def correct(y: Any, structure: Any, work: Any, worst: Any, step: Any) -> None:
    """q <- q exp(step) where `worst` exceeds 1."""
    o, n_q = structure[EXTENSION], structure[N_Q]
    moved = work[structure[o + VECTORS] + MOVED]
    table = structure[structure[o + GROUP] : structure[o + GROUP] + 5 * structure[o + FACTORS]].reshape(
        (structure[o + FACTORS], 5)
    )
    retract(table, EXP, y, step, moved)
    for i in range(n_q):
        st(y, i, select(less(1.0, worst), ld(moved, i), ld(y, i)))


@entry(*FIELD_SIGNATURES)
def closed_projection(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(q, p*) → (q, p) with closed loops and η = 0."""
    step = work[structure[structure[EXTENSION] + VECTORS] + RATES]
    for i in range(y.shape[0]):
        st(out, i, ld(y, i))
    for sweep in range(SWEEPS + 1):
        up(t, out, parameters, structure, work, False, 1.0)
        equations_of_motion(t, out, parameters, structure, work)
        if sweep == SWEEPS or structure[structure[EXTENSION] + POSITIONS] == 0:
            break
        worst = position_defect(parameters, structure, work)
        if not any_(less(1.0, worst)):
            break
        correction(t, out, parameters, structure, work, step)
        correct(out, structure, work, worst, step)
    solve(structure, work)
    scatter(structure, work, 1.0)
    gather(t, out, parameters, structure, work, out, structure[N_Q])
