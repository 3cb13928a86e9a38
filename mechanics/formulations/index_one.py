"""Closed loops with multipliers at the level of accelerations: the classical formulations, in linear time.

State y = (q, v), or (q, v, z) with ż = φ.  The second derivative of the closures is asked to be

    φ̈ + K_D φ̇ + K_P φ + K_I z = 0

=====================  ==============================================  =================================================
formulation            K_D, K_P, K_I                                   source
=====================  ==============================================  =================================================
`Lagrange`             0, 0, 0                                         Lagrange's equations of the first kind: gaps ~ t²
`Baumgarte`            2α, β², 0                                       Baumgarte 1972
`Ostermeyer`           3s, 3s², s³                                     Ostermeyer 1990: all three roots at −s
`AugmentedLagrangian`  2μΩ, Ω², 0, multipliers iterated:               Bayo, García de Jalón and Serna 1988
                       (Φ + 1/a) λ ← λ/a + …  (no rank is decided)
`Penalty`              springs and dampers, λ = −(c φ̇ + k φ)           Courant 1943
=====================  ==============================================  =================================================

The multipliers solve Φ λ = −(G H⁻¹ f + Ġ v + K_D φ̇ + K_P φ + K_I z), with the same factors and the same rank as the
Hamiltonian formulation; f = −b(q, v) + forces, by Newton and Euler's recursion.  The projection after a step closes
positions and velocities in the metric of the mass matrix.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import any_, entry, helper, joined, kernel, ld, less, select, st
from liegroup.compile.dense import ld_on, ldl_solve_within, ldl_within, row_within, st_on
from mechanics.algorithms.energy import first_moments, kinetic, potential
from mechanics.algorithms.era import down, up
from mechanics.algorithms.rnea import ACCELERATION, accelerations, joint_forces
from mechanics.closed_trees.field import add_on, columns, factor, gains, load, matrix, solve
from mechanics.closed_trees.forces import forces, powers_of_inputs, stored_and_power
from mechanics.closed_trees.layout import closures_of, equation_of, scale_of
from mechanics.closed_trees.poses import closing_bias, closing_rate, gather, poses, screws
from mechanics.closed_trees.projection import (
    SWEEPS,
    forget_momenta,
    greatest_gap,
    greatest_gaps,
    move,
    position_defect,
)
from mechanics.kernels.sweeps import clear, velocities
from mechanics.model.layout import F, header_of

LOOPS = "short"


class Gains(NamedTuple):
    """The settings of a formulation: K_D, K_P, K_I and 1/a."""

    rate: Any
    gap: Any
    integral: Any
    softness: Any


SPRINGS = -1
"""For the number of rounds: gains are those of springs and dampers in the closures; nothing is solved."""


@helper
def gains_of(parameters: Any, closures: Any) -> Any:
    """The settings; there are four, whatever the formulation."""
    p, o = parameters, closures.settings
    return Gains(p[o], p[o + 1], p[o + 2], p[o + 3])


# --- the field --------------------------------------------------------------------------------------------------------


@kernel
def copy_state(y: Any, structure: Any, state: Any) -> None:
    """state <- (q, v, 0)."""
    tree = header_of(structure)
    n = tree.n_q + tree.n_v
    for i in range(n):
        st(state, i, ld(y, i))
    for i in range(n, n + tree.n_v):
        st(state, i, 0.0)


@kernel
def applied_forces(t: Any, y: Any, state: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Line `rates` <- (v, f), f = −b + forces of the elements; twists, poses and the screws of the kept equations are
    known afterwards.
    """
    tree = header_of(structure)
    closures, n_q, n = closures_of(structure), tree.n_q, tree.n_v
    rates, moved = joined(work[closures.rates : closures.moved]), joined(work[closures.moved : closures.state])
    clear(structure, work, F, 6)
    accelerations(t, state, parameters, structure, work)
    poses(t, y, parameters, structure, work)
    screws(y, parameters, structure, work, 0, closures.kept)
    _target(y, parameters, structure, work)
    joint_forces(t, state, parameters, structure, work, moved)
    for k in range(n):
        st(rates, k, ld(y, n_q + k))
        st(rates, n + k, -ld(moved, k))
    forces(t, y, parameters, structure, work, rates, n)
    gather(parameters, structure, work, rates, n)


@kernel
def _target(y: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Line `target` <- −(Ġ v + K_D φ̇ + K_P φ + K_I z) of the kept equations, scaled; accelerations are those of v̇ =
    0.

    Without Ġ v for springs.
    """
    tree = header_of(structure)
    closures = closures_of(structure)
    gains = gains_of(parameters, closures)
    z = tree.n_q + tree.n_v
    for c in range(closures.kept):
        scale = scale_of(parameters, equation_of(structure, closures, c))
        phi, rate = scale * ld_on(work, closures.gap, c), closing_rate(y, tree.n_q, structure, work, c)
        x = gains.rate * rate + gains.gap * phi
        if closures.rounds != SPRINGS:
            x = closing_bias(y, tree.n_q, parameters, structure, work, c, ACCELERATION) + x
        if closures.integral:
            x = x + gains.integral * scale * ld(y, z + c)
        st_on(work, closures.target, c, -x)


@kernel
def _take(structure: Any, work: Any, source: Any) -> None:
    """Multipliers <- line `source`."""
    closures = closures_of(structure)
    for c in range(closures.kept):
        st_on(work, closures.multipliers, c, ld_on(work, source, c))


@kernel
def _multipliers(t: Any, state: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Multipliers <- λ, after `up`."""
    closures = closures_of(structure)
    m, line, first = closures.kept, closures.multipliers, closures.matrix
    if closures.rounds == SPRINGS:
        gains(parameters, structure, work)
        _take(structure, work, closures.target)
        return
    columns(t, parameters, structure, work)
    for c in range(m):  # of prescribed rates: what they do to accelerations is in the target
        st_on(work, line, c, 0.0)
    matrix(structure, work)
    for c in range(m):
        st_on(work, line, c, ld_on(work, line, c) + ld_on(work, closures.target, c))
    if closures.rounds == 0:
        factor(structure, parameters, work)
        solve(structure, work)
        return
    softness = gains_of(parameters, closures).softness
    for c in range(m):
        add_on(work, first, row_within(structure, closures.profile, m, c) + c, softness)
        st_on(work, closures.target, c, ld_on(work, line, c))
    ldl_within(work, first, m, 0.0, structure, closures.profile)
    ldl_solve_within(work, first, m, work, line, structure, closures.profile)
    for _ in range(1, closures.rounds):
        for c in range(m):
            st_on(work, line, c, ld_on(work, closures.target, c) + softness * ld_on(work, line, c))
        ldl_solve_within(work, first, m, work, line, structure, closures.profile)


@kernel
def _solved(t: Any, state: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out <- H⁻¹ (momenta of the links + Gᵀ λ), after `up` at rest; out is as long as (v, ṗ)."""
    load(parameters, structure, work)
    down(t, state, parameters, structure, work, out, False, 0.0)


@helper
def accelerated(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v[, z]) → out = (v, v̇[, φ])."""
    tree = header_of(structure)
    closures, n_q, n = closures_of(structure), tree.n_q, tree.n_v
    rates, state = joined(work[closures.rates : closures.moved]), joined(work[closures.state : closures.target])
    copy_state(y, structure, state)
    applied_forces(t, y, state, parameters, structure, work)
    if closures.integral:
        for c in range(closures.kept):
            st(out, 2 * n + c, ld_on(work, closures.gap, c))
    for k in range(n):
        st(state, n_q + k, ld(rates, n + k))
    up(t, state, parameters, structure, work, False, 0.0)
    _multipliers(t, state, parameters, structure, work)
    _solved(t, state, parameters, structure, work, rates)
    for k in range(n):
        st(out, k, ld(y, n_q + k))
        st(out, n + k, ld(rates, k))


@entry(*FIELD_SIGNATURES)
def index_one(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v[, z]) → out = (v, v̇[, φ])."""
    accelerated(t, y, parameters, structure, work, out)


# --- what is watched --------------------------------------------------------------------------------------------------


@helper
def watched(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, greatest gap, greatest closing velocity)."""
    tree = header_of(structure)
    closures, n_q, n = closures_of(structure), tree.n_q, tree.n_v
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, n_q, parameters, structure, work)
    first_moments(t, y, parameters, structure, work)
    energy = kinetic(parameters, structure, work, y, n_q) + potential(parameters, structure, work)
    poses(t, y, parameters, structure, work)
    screws(y, parameters, structure, work, 0, closures.all)
    for k in range(n):
        st(rates, k, ld(y, n_q + k))
    stored, _ = stored_and_power(t, y, parameters, structure, work, rates)
    st(out, 0, energy + stored)
    greatest_gaps(parameters, structure, work, rates, greatest_gap(structure, work, 0, closures.all), out)


@entry(*FIELD_SIGNATURES)
def index_one_invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = (energy, greatest gap, greatest closing velocity)."""
    watched(t, y, parameters, structure, work, out)


@helper
def powers_of(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """out = the power of every input, of a state (q, v)."""
    tree, closures = header_of(structure), closures_of(structure)
    rates = joined(work[closures.rates : closures.moved])
    velocities(t, y, tree.n_q, parameters, structure, work)
    poses(t, y, parameters, structure, work)
    for k in range(tree.n_v):
        st(rates, k, ld(y, tree.n_q + k))
    powers_of_inputs(t, y, parameters, structure, work, rates, out)


@entry(*FIELD_SIGNATURES)
def index_one_powers(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The power of every input."""
    powers_of(t, y, parameters, structure, work, out)


# --- the projection ---------------------------------------------------------------------------------------------------


@helper
def _eliminated(t: Any, state: Any, parameters: Any, structure: Any, work: Any) -> None:
    """Φ and its factors at the configuration of `state`; the links forget all momenta."""
    up(t, state, parameters, structure, work, False, 0.0)
    columns(t, parameters, structure, work)
    matrix(structure, work)
    factor(structure, parameters, work)
    forget_momenta(structure, work)


@kernel
def _closing_rates(y: Any, structure: Any, work: Any) -> None:
    """Line `target` <- −φ̇ of the kept equations, scaled, with the twists in the links and the velocities in y."""
    closures = closures_of(structure)
    for c in range(closures.kept):
        st_on(work, closures.target, c, -closing_rate(y, header_of(structure).n_q, structure, work, c))


@entry(*FIELD_SIGNATURES)
def index_one_projection(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(q, v[, z]) → the same with closed positions (if the problem asks for them) and velocities."""
    tree = header_of(structure)
    closures, n_q, n = closures_of(structure), tree.n_q, tree.n_v
    rates, moved = joined(work[closures.rates : closures.moved]), joined(work[closures.moved : closures.state])
    for i in range(y.shape[0]):
        st(out, i, ld(y, i))
    for sweep in range(SWEEPS + 1):
        velocities(t, out, n_q, parameters, structure, work)
        poses(t, out, parameters, structure, work)
        screws(out, parameters, structure, work, 0, closures.kept)
        _closing_rates(out, structure, work)
        _eliminated(t, out, parameters, structure, work)
        worst, _ = position_defect(parameters, structure, work, work)
        if sweep == SWEEPS or closures.closes_positions == 0 or not any_(less(1.0, worst)):
            break
        _take(structure, work, closures.gap)
        solve(structure, work)
        _solved(t, out, parameters, structure, work, rates)
        move(structure, out, rates, moved)
        for i in range(n_q):
            st(out, i, select(less(1.0, worst), ld(moved, i), ld(out, i)))
    _take(structure, work, closures.target)
    solve(structure, work)
    _solved(t, out, parameters, structure, work, rates)
    for k in range(n):
        st(out, n_q + k, ld(out, n_q + k) + ld(rates, k))
