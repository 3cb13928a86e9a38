"""Formulations with multipliers at the level of accelerations: right accelerations, decaying defects, closed
projections.
"""

import numpy as np
import pytest

from integrators import integrate
from liegroup.compile import WIDTH, lane_array
from mechanics.closed_trees.field import closed
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.errors import ModelError
from mechanics.formulations.index_one import index_one, index_one_invariants, index_one_projection
from mechanics.formulations.multiplier_problem import (
    AugmentedLagrangian,
    Baumgarte,
    Lagrange,
    Ostermeyer,
    Penalty,
    multiplier_problem,
)
from mechanics.mechanism import Mechanism
from mechanics.systems import SYSTEMS
from mechanics.systems.loops import four_bar


@pytest.fixture
def made(mechanism):
    return Mechanism(mechanism.tree, mechanism.equations.closures, mechanism.q)


def run(entry, problem, y, size, t=0.0):
    out = np.zeros(size)
    entry.python(t, np.array(y, dtype=float), problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def dense_accelerations(made, q, v, gains=(0.0, 0.0)):
    """The multiplier equations with matrices of bodies and Jacobians; minimum-norm multipliers."""
    tree, equations = made.tree, made.equations
    g = geometry(tree, q, v)
    H = mass_matrix(tree, q)
    f = g.forces(tree)
    G = equations.matrix(q)
    target = -equations.bias(g) - gains[0] * (G @ v) - gains[1] * equations.gap(q) - G @ np.linalg.solve(H, f)
    lam = np.linalg.pinv(G @ np.linalg.solve(H, G.T), rcond=1e-9, hermitian=True) @ target
    return np.linalg.solve(H, f + G.T @ lam)


def test_accelerations_are_those_of_dense_multiplier_equations(mechanism, made):
    n = made.tree.nv
    problem = multiplier_problem(made, mechanism.q, mechanism.v)
    out = run(index_one, problem, problem.y0, 2 * n)
    expected = dense_accelerations(made, mechanism.q, mechanism.v)
    assert np.array_equal(out[:n], mechanism.v)
    assert np.abs(out[n:] - expected).max() < 1e-9 * (1 + np.abs(expected).max())


def test_the_formulations_have_the_same_motion_on_closed_states(mechanism, made):
    """v̇ of the multipliers and ṗ of the Hamiltonian form: ṗ = Ḣ v + H v̇ − Gᵀ λ, so their difference is a reaction."""
    tree, n = made.tree, made.tree.nv
    problem, other = multiplier_problem(made, mechanism.q, mechanism.v), made.problem(mechanism.q, mechanism.v)
    a = run(index_one, problem, problem.y0, 2 * n)[n:]
    p_dot = run(closed, other, other.y0, 2 * n)[n:]
    H = mass_matrix(tree, mechanism.q)
    moved = moved_by(tree, mechanism.q.astype(complex), 1e-30j * mechanism.v)
    reaction = mass_matrix(tree, moved).imag / 1e-30 @ mechanism.v + H @ a - p_dot
    G = made.equations.matrix(mechanism.q)
    rest = reaction - G.T @ np.linalg.lstsq(G.T, reaction, rcond=1e-9)[0]
    assert np.abs(rest).max() < 1e-8 * (1 + np.abs(reaction).max())


@pytest.mark.parametrize("stabilisation", [Baumgarte(5.0), Baumgarte(3.0, 6.0)], ids=["critical", "underdamped"])
def test_baumgarte_adds_its_gains(planar, stabilisation):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    n = made.tree.nv
    problem = multiplier_problem(made, planar.q, planar.v, stabilisation=stabilisation)
    rng = np.random.default_rng(0)
    q, v = planar.q + 1e-3 * rng.normal(size=n), planar.v + 1e-2 * rng.normal(size=n)
    beta = stabilisation.beta or stabilisation.alpha
    expected = dense_accelerations(made, q, v, (2 * stabilisation.alpha, beta**2))
    assert np.abs(run(index_one, problem, np.concatenate([q, v]), 2 * n)[n:] - expected).max() < 1e-9


def test_augmented_lagrangian_converges_to_baumgarte(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    n, y = made.tree.nv, np.concatenate([planar.q + 1e-3, planar.v])
    exact = run(index_one, multiplier_problem(made, stabilisation=Baumgarte(10.0)), y, 2 * n)
    errors = []
    for rounds in (1, 2, 3):
        problem = multiplier_problem(made, stabilisation=AugmentedLagrangian(10.0, 1.0, 1e3, rounds))
        errors.append(np.abs(run(index_one, problem, y, 2 * n) - exact).max())
    assert errors[1] < 2e-2 * errors[0]
    assert errors[2] < 2e-2 * errors[1]


def test_a_penalty_is_springs_and_dampers_in_the_closures(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    n, y = made.tree.nv, np.concatenate([planar.q + 1e-3, planar.v + 0.1])
    q, v = np.split(y, 2)
    k, c = 2e3, 30.0
    free = Mechanism(planar.tree)
    G = (made.mobility.scales[:, None] * made.equations.matrix(q))[made.mobility.kept]
    phi = (made.mobility.scales * made.equations.gap(q))[made.mobility.kept]
    expected = run(index_one, multiplier_problem(free), y, 2 * n)[n:] - np.linalg.solve(
        mass_matrix(made.tree, q), G.T @ (k * phi + c * (G @ v))
    )
    found = run(index_one, multiplier_problem(made, stabilisation=Penalty(k, c)), y, 2 * n)[n:]
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()


def test_gaps_of_a_penalty_fall_with_the_square_of_its_frequency(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)

    def gap(frequency):
        problem = multiplier_problem(made, planar.q, planar.v, stabilisation=Penalty.of_frequency(made, frequency))
        return integrate(problem, "RKMK4", (0, 1.0), step=1e-3).maximum("gap")

    assert np.log2(gap(200.0) / gap(400.0)) == pytest.approx(2.0, abs=0.3)


def test_ostermeyer_integrates_the_gap(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    problem = multiplier_problem(made, planar.q, planar.v, stabilisation=Ostermeyer(10.0))
    m = len(made.mobility.kept)
    y = problem.y0.copy()
    y[:2] += 1e-3
    out = run(index_one, problem, y, problem.dimension)
    assert np.allclose(out[-m:], made.gap(y[: made.tree.nq])[made.mobility.kept], atol=1e-15)
    y[-m:] = 0.1
    assert np.abs(run(index_one, problem, y, problem.dimension) - out).max() > 1.0  # K_I z acts


def test_projection_closes_positions_and_velocities_in_the_metric_of_the_mass(mechanism, made):
    tree, rng = made.tree, np.random.default_rng(4)
    problem = multiplier_problem(made, mechanism.q, mechanism.v, projection="positions")
    q, v = moved_by(tree, mechanism.q, 1e-4 * rng.normal(size=tree.nv)), mechanism.v + rng.normal(size=tree.nv)
    out = run(index_one_projection, problem, np.concatenate([q, v]), problem.n)
    q1, v1 = out[: tree.nq], out[tree.nq :]
    assert np.abs(made.gap(q1)).max() < 2e-13
    assert np.abs(v1 - made.projected_velocity(q1, v)[0]).max() < 1e-9 * (1 + np.abs(v).max())
    assert np.abs(run(index_one_invariants, problem, out, 3)[1:]).max() < 1e-11


def test_velocity_projection_leaves_the_positions(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    problem = multiplier_problem(made, planar.q, planar.v, projection="velocities")
    y = np.concatenate([planar.q + 1e-3, planar.v + 0.1])
    out = run(index_one_projection, problem, y, problem.n)
    assert np.array_equal(out[:4], y[:4])
    assert np.abs(made.closing_velocity(out[:4], out[4:])).max() < 1e-12


@pytest.mark.parametrize("entry", [index_one, index_one_invariants, index_one_projection], ids=lambda e: e.__name__)
def test_compiled_and_lanes_are_the_interpreted_bits(entry, mechanism, made):
    problem = multiplier_problem(made, mechanism.q, mechanism.v, stabilisation=Baumgarte(3.0), projection="positions")
    n, rng = made.tree.nv, np.random.default_rng(5)
    size = {index_one: 2 * n, index_one_invariants: 3, index_one_projection: problem.n}[entry]
    states = []
    for k in range(WIDTH):
        q = moved_by(made.tree, mechanism.q, (0.0, 1e-15, 1e-5)[k % 3] * rng.normal(size=n))
        states.append(np.concatenate([q, mechanism.v * (1 + 0.1 * k)]))
    y, lanes, work = lane_array(problem.n), lane_array(size), lane_array(*problem.work_shape)
    y[:] = np.stack(states, axis=-1)
    entry.compiled_lanes(0.0, y, problem.parameters, problem.structure, work, lanes)
    for k, state in enumerate(states):
        interpreted, compiled = run(entry, problem, state, size), np.zeros(size)
        entry(0.0, state, problem.parameters, problem.structure, np.zeros(problem.work_shape), compiled)
        assert np.array_equal(interpreted, compiled)
        assert np.array_equal(interpreted, lanes[..., k])


def test_bad_gains_are_refused():
    for bad in (
        Baumgarte(-1.0),
        Baumgarte(1.0, 0.0),
        Ostermeyer(float("nan")),
        AugmentedLagrangian(penalty=0.0),
        Penalty(1.0, -1.0),
    ):
        with pytest.raises(ValueError, match="expected a positive number"):
            bad.settings()
    for rounds in (0.5, 0, 2.5):
        with pytest.raises(ValueError, match=f"rounds: {rounds}, expected a positive integer"):
            AugmentedLagrangian(rounds=rounds).settings()
    made = four_bar.mechanism()
    for stabilisation in ("baumgarte", Baumgarte):
        with pytest.raises(TypeError, match=r"stabilisation: .*, expected Lagrange or Baumgarte or "):
            multiplier_problem(made, stabilisation=stabilisation)
    with pytest.raises(ModelError, match="has no closures that springs could hold"):
        Penalty.of_frequency(Mechanism(made.tree), 10.0)


def test_gaps_grow_without_stabilisation_and_stay_with_it(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)

    def gap(stabilisation, projection="none"):
        problem = multiplier_problem(made, planar.q, 2 * planar.v, stabilisation=stabilisation, projection=projection)
        return np.maximum.accumulate(integrate(problem, "RKMK4", (0, 40.0), step=0.01, save_every=100).greatest[:, 1])

    free = gap(Lagrange())
    assert free[40] > 3 * free[20]
    for held in (Baumgarte(5.0), Ostermeyer(5.0), AugmentedLagrangian(5.0)):
        stays = gap(held)
        assert stays[40] < 2 * stays[10] < 0.1 * free[40]
    assert gap(Lagrange(), "positions")[40] < 1e-12


def test_all_formulations_converge_to_the_same_motion(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    exact = integrate(made.problem(planar.q, planar.v), "RKMK4", (0, 1.0), step=2.5e-4)["q"][-1]
    for stabilisation, projection in [
        (Lagrange(), "none"),
        (Baumgarte(5.0), "none"),
        (Ostermeyer(5.0), "none"),
        (Lagrange(), "positions"),
    ]:
        problem = multiplier_problem(made, planar.q, planar.v, stabilisation=stabilisation, projection=projection)
        assert np.abs(integrate(problem, "RKMK4", (0, 1.0), step=1e-3)["q"][-1] - exact).max() < 1e-7


@pytest.mark.parametrize("name", ["four-bar", "bricard"])
def test_integrals_of_gaps_are_no_positions(name):
    """They are of what a method's steps do, and differ with their size where the motion does not."""
    problem = SYSTEMS[name].problem("index_one", stabilisation=Ostermeyer(5.0))
    run = integrate(problem, "RKMK4", (0.0, 1.0), step=2e-3)
    half = integrate(problem, "RKMK4", (0.0, 1.0), step=1e-3)
    assert np.abs(run["q"][-1] - half["q"][-1]).max() < 1e-7
    assert run.success, run.message
