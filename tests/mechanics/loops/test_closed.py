"""The linear-time kernel of closed loops: equal to the reference, to the derivative of the motion, and to itself in
every form.
"""

from dataclasses import replace

import numpy as np
import pytest
import scipy.integrate

from integrators import integrate
from liegroup.compile import WIDTH, lane_array
from mechanics.closed_trees import projection as closing
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.layout import EQUATION, WATCHED, PackedEquation, closures_of
from mechanics.closed_trees.projection import closed_invariants, closed_power, closed_projection
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import thruster
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.reference import closed_system as reference
from mechanics.systems import SYSTEMS
from mechanics.systems.loops import bricard, n_four_bar, walking_mechanism

STEP = 1e-30j


@pytest.fixture
def made(mechanism):
    return Mechanism(mechanism.tree, mechanism.equations.closures, mechanism.q)


def run(entry, made, y, size, t=0.0, packed=None, dtype=float):
    """The interpreted kernel, and its workspace."""
    packed = packed or made.packed()
    out, work = np.zeros(size, dtype=dtype), np.zeros(packed.work_shape, dtype=dtype)
    entry.python(t, np.array(y, dtype=dtype), packed.parameters, packed.structure, work, out)
    return out, work


# --- one evaluation ---------------------------------------------------------------------------------------------------


def test_velocities_and_rates_are_those_of_the_reference(mechanism, made):
    n = made.tree.nv
    chain = reference.chain_of(mechanism.tree, mechanism.epsilon, mechanism.q, mechanism.v)
    p = mass_matrix(made.tree, mechanism.q) @ mechanism.v
    now = reference.motion(chain, reference.prepare(chain), p, np.zeros(6 * len(mechanism.epsilon)))
    out, _ = run(closed, made, np.concatenate([mechanism.q, p]), 2 * n)
    assert np.abs(out[:n] - mechanism.v).max() < 1e-12
    assert np.abs(out[n:] - reference.momentum_rate(chain, now)).max() < 1e-11


def test_lines_through_the_same_points_are_summed_as_one_by_one(mechanism, made):
    packed, n = made.packed(), made.tree.nv
    closures, apart = closures_of(packed.structure), packed.structure.copy()
    places = closures.equations + EQUATION * np.arange(closures.all) + PackedEquation._fields.index("alike")
    apart[places] = 1
    y = np.concatenate([mechanism.q, np.random.default_rng(1).normal(size=n)])
    together, _ = run(closed, made, y, 2 * n, packed=packed)
    alone, _ = run(closed, made, y, 2 * n, packed=replace(packed, structure=apart))
    assert np.abs(together - alone).max() < 1e-12 * (1.0 + np.abs(alone).max())


def test_inconsistent_momenta_give_the_velocities_of_the_reference(mechanism, made):
    n = made.tree.nv
    chain = reference.chain_of(mechanism.tree, mechanism.epsilon, mechanism.q, mechanism.v)
    p = np.random.default_rng(0).normal(size=n)
    now = reference.motion(chain, reference.prepare(chain), p, reference.direct(chain, p, mechanism.rank))
    out, _ = run(closed, made, np.concatenate([mechanism.q, p]), 2 * n)
    rates = np.concatenate(now.rates)
    assert np.abs(out[:n] - rates).max() < 1e-11 * (1 + np.abs(rates).max())


def test_rates_of_momenta_with_multipliers_are_derivatives_of_the_motion(mechanism, made):
    """p* = H v − Gᵀ η along the true motion, with η̇ = λ of the multiplier equations: no formula of the kernel is
    used.
    """
    tree, q, v = made.tree, mechanism.q, mechanism.v
    kept = made.mobility.kept
    scales = made.mobility.scales[kept]
    G_of = lambda x: scales[:, None] * made.equations.matrix(x)[kept]  # noqa: E731
    G, H = G_of(q), mass_matrix(tree, q)
    eta0 = np.random.default_rng(1).normal(size=len(kept))
    n = tree.nv
    packed = made.packed()
    out, work = run(closed, made, np.concatenate([q, H @ v - G.T @ eta0]), 2 * n, packed=packed)
    eta = work[closures_of(packed.structure).multipliers :].reshape(-1)[: len(kept)]
    assert np.abs(G.T @ (eta - eta0)).max() < 1e-9
    assert np.abs(out[:n] - v).max() < 1e-10

    g = geometry(tree, q, v)
    free, _ = run(closed, Mechanism(tree), np.concatenate([q, H @ v]), 2 * n)
    moved = moved_by(tree, q.astype(complex), STEP * v)
    H_dot, G_dot = mass_matrix(tree, moved).imag / 1e-30, G_of(moved).imag / 1e-30
    free_force = free[n:] - H_dot @ v  # ṗ = Ḣ v + H v̇ of the open tree, so H v̇ = this
    A = G @ np.linalg.solve(H, G.T)
    bias = scales * made.equations.bias(g)[kept]
    lam = np.linalg.pinv(A, rcond=1e-9) @ (-bias - G @ np.linalg.solve(H, free_force))
    acceleration = np.linalg.solve(H, free_force + G.T @ lam)
    expected = H_dot @ v + H @ acceleration - G_dot.T @ eta - G.T @ lam
    assert np.abs(out[n:] - expected).max() < 1e-8 * (1 + np.abs(expected).max())


def test_energy_is_constant_along_the_field(mechanism, made):
    n = made.tree.nv
    y = np.concatenate([mechanism.q, mass_matrix(made.tree, mechanism.q) @ mechanism.v])
    rates, _ = run(closed, made, y, 2 * n)
    q, p = moved_by(made.tree, mechanism.q.astype(complex), STEP * rates[:n]), y[len(mechanism.q) :] + STEP * rates[n:]
    out, _ = run(closed_power, made, np.concatenate([q, p]), 2, dtype=complex)
    assert abs(out[0].imag / 1e-30) < 1e-10 * (1 + abs(out[0].real))
    assert out[1] == 0.0


# --- the projection ---------------------------------------------------------------------------------------------------


def test_projection_closes_positions_and_velocities(mechanism, made):
    tree, rng = made.tree, np.random.default_rng(2)
    q = moved_by(tree, mechanism.q, 1e-4 * rng.normal(size=tree.nv))
    p = mass_matrix(tree, q) @ mechanism.v
    out, _ = run(closed_projection, made, np.concatenate([q, p]), tree.nq + tree.nv)
    q1, p1 = out[: tree.nq], out[tree.nq :]
    assert np.abs(made.gap(q1)).max() < 2e-13
    v1 = np.linalg.solve(mass_matrix(tree, q1), p1)
    assert np.abs(made.closing_velocity(q1, v1)).max() < 1e-10
    values, _ = run(closed_invariants, made, out, 4)
    assert values[1] < 2e-13
    assert values[2] < 1e-11


def test_projection_takes_the_least_energy(mechanism, made):
    tree = made.tree
    v = np.random.default_rng(3).normal(size=tree.nv)
    nearest, removed = made.projected_velocity(mechanism.q, v)
    H = mass_matrix(tree, mechanism.q)
    out, _ = run(closed_projection, made, np.concatenate([mechanism.q, H @ v]), tree.nq + tree.nv)
    assert np.abs(out[tree.nq :] - H @ nearest).max() < 1e-9 * np.abs(H @ v).max()
    assert removed == pytest.approx(0.5 * v @ H @ v - 0.5 * nearest @ H @ nearest, abs=1e-9)


def test_projection_leaves_a_closed_state_alone(mechanism, made):
    y = made.problem(mechanism.q, mechanism.v).y0
    out, _ = run(closed_projection, made, y, len(y))
    assert np.array_equal(out[: made.tree.nq], mechanism.q)
    assert np.abs(out - y).max() < 1e-12 * (1 + np.abs(y).max())


def test_what_one_correction_leaves_of_a_larger_gap_is_closed_with_the_same_factors(monkeypatch):
    """To the same position as with factors of their own, for which there is one look less."""
    made = bricard.mechanism()
    n, size = made.tree.nv, made.tree.nq + made.tree.nv
    q = moved_by(made.tree, made.home, 2e-6 * np.random.default_rng(0).normal(size=n))
    found, looks, look = [], [], closing.look
    monkeypatch.setattr(closing, "look", lambda *args: looks.append(1) or look(*args))
    for many in (closing.MANY, np.inf):
        monkeypatch.setattr(closing, "MANY", many)
        looks.clear()
        y, _ = run(closed_projection, made, np.concatenate([q, np.ones(n)]), size)
        found.append((y, len(looks)))
        assert np.abs(made.gap(y[: made.tree.nq])).max() < 1e-13
    (quick, few), (slow, many) = found
    assert (few, many) == (2, 3)
    assert np.abs(quick - slow).max() < 1e-11


def test_projection_does_not_chase_what_rounding_leaves_far_from_the_origin():
    """Two kilometres away a gap of the tolerance is less than the rounding of where a body is."""
    far, rng = walking_mechanism.closed_configuration, np.random.default_rng(9)
    mechanism = Mechanism(walking_mechanism.tree(), walking_mechanism.closures(), far(0.0, 0.0, 0.0, 0.3))
    n = mechanism.tree.nv
    for alpha in rng.uniform(0.2, 0.5, size=8):
        q = moved_by(mechanism.tree, far(1234.5, -2345.6, 0.1, alpha), 1e-6 * rng.normal(size=n))
        y, _ = run(closed_projection, mechanism, np.concatenate([q, rng.normal(size=n)]), 2 * n)
        assert np.abs(mechanism.gap(y[:n])).max() < 3e-12
        once_more, _ = run(closed_projection, mechanism, y, 2 * n)
        assert np.array_equal(once_more[:n], y[:n])


# --- the same numbers in every form -----------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", [closed, closed_invariants, closed_projection], ids=lambda e: e.__name__)
def test_compiled_and_lanes_are_the_interpreted_bits(entry, mechanism, made):
    packed, n, rng = made.packed(), made.tree.nv, np.random.default_rng(5)
    size = {closed: 2 * n, closed_invariants: 4, closed_projection: made.tree.nq + n}[entry]
    start = np.concatenate([mechanism.q, mass_matrix(made.tree, mechanism.q) @ mechanism.v])
    states = []
    for k in range(WIDTH):
        q = moved_by(made.tree, mechanism.q, (0.0, 1e-15, 1e-5)[k % 3] * rng.normal(size=n))
        states.append(np.concatenate([q, start[made.tree.nq :] * (1 + 0.1 * k)]))
    y, lanes, work = lane_array(len(start)), lane_array(size), lane_array(*packed.work_shape)
    y[:] = np.stack(states, axis=-1)
    entry.compiled_lanes(0.0, y, packed.parameters, packed.structure, work, lanes)
    for k, state in enumerate(states):
        interpreted, _ = run(entry, made, state, size)
        compiled = np.zeros(size)
        entry(0.0, state, packed.parameters, packed.structure, np.zeros(packed.work_shape), compiled)
        assert np.array_equal(interpreted, compiled)
        assert np.array_equal(interpreted, lanes[..., k])


# --- motions ----------------------------------------------------------------------------------------------------------


def independent_motion(mechanism, end):
    """Multiplier equations on the opened tree, mass matrix and bias from bodies and Jacobians, SciPy's DOP853 (numbers
    only).
    """
    tree, equations = mechanism.tree, mechanism.equations

    def field(t, y):
        q, v = np.split(y, 2)
        g = geometry(tree, q, v)
        H, f = g.mass_matrix(tree), g.forces(tree)
        G, bias = equations.matrix(q, at=g), equations.bias(g)
        HG = np.linalg.solve(H, np.column_stack([G.T, f]))
        # a little stabilisation keeps the reference on the manifold; it vanishes on it
        target = -bias - 20 * (G @ v) - 100 * equations.gap(q, at=g) - G @ HG[:, -1]
        lam = np.linalg.pinv(G @ HG[:, :-1], rcond=1e-7, hermitian=True) @ target
        return np.concatenate([v, HG[:, -1] + HG[:, :-1] @ lam])

    start = np.concatenate([mechanism.q, mechanism.v])
    return scipy.integrate.solve_ivp(field, (0, end), start, "DOP853", rtol=1e-11, atol=1e-11).y[:, -1]


@pytest.mark.parametrize("projection", ["none", "momenta", "positions"])
def test_motion_is_that_of_an_independent_solution(planar, projection):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    found = integrate(made.problem(planar.q, planar.v, projection=projection), "RKMK4", (0.0, 0.5), step=1e-3)
    assert np.abs(found["q"][-1] - independent_motion(planar, 0.5)[: made.tree.nq]).max() < 1e-7


@pytest.mark.slow
def test_spatial_motion_is_that_of_an_independent_solution(overconstrained):
    made = Mechanism(overconstrained.tree, overconstrained.equations.closures, overconstrained.q)
    found = integrate(made.problem(overconstrained.q, overconstrained.v), "RKMK4", (0.0, 0.5), step=1e-3)
    assert np.abs(found["q"][-1] - independent_motion(overconstrained, 0.5)[: made.tree.nq]).max() < 1e-7


def test_motion_does_not_depend_on_the_gauge(mechanism, made):
    """p*(0) = H v − Gᵀ η₀ with any η₀ moves like η₀ = 0, without re-basing."""
    problem = made.problem(mechanism.q, mechanism.v, projection="none")
    gauge = 0.3 * np.random.default_rng(7).normal(size=len(made.equations))
    shifted = problem.y0.copy()
    shifted[made.tree.nq :] -= made.equations.matrix(mechanism.q).T @ gauge
    one, other = (integrate(problem, "RKMK4", (0.0, 0.2), step=5e-4, y0=y) for y in (problem.y0, shifted))
    assert np.abs(one["q"][-1] - other["q"][-1]).max() < 1e-8


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_motion_does_not_depend_on_how_the_mass_is_shared(shared, share):
    half, other = shared(0.5), shared(share)
    ends = []
    for m in (half, other):
        made = Mechanism(m.tree, m.equations.closures, m.q)
        v, _ = made.projected_velocity(m.q, half.v)
        ends.append(integrate(made.problem(m.q, v), "RKMK4", (0.0, 0.3), step=1e-3)["q"][-1])
    assert np.abs(half.v - v).max() < 1e-10
    assert np.abs(ends[0] - ends[1]).max() < 1e-8


def test_energy_and_gap_converge_with_the_order_of_the_method(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    runs = [
        integrate(made.problem(planar.q, 5 * planar.v, projection="momenta"), "RKMK4", (0, 1.0), step=h)
        for h in (0.01, 0.005, 0.0025)
    ]
    for name in ("energy", "gap"):
        errors = [s.error("energy") if name == "energy" else s.maximum("gap") for s in runs]
        assert np.log2(errors[1] / errors[2]) > 3.5, name


def test_without_rebasing_gaps_grow_faster_than_linearly_with_it_linearly_and_closed_not_at_all(planar):
    made = Mechanism(planar.tree, planar.equations.closures, planar.q)
    gaps = {}
    for projection in ("none", "momenta", "positions"):
        found = integrate(
            made.problem(planar.q, 2 * planar.v, projection=projection), "RKMK4", (0, 40.0), step=0.01, save_every=100
        )
        gaps[projection] = np.maximum.accumulate(found.greatest[:, 1])
    assert gaps["none"][40] > 2.4 * gaps["none"][20]
    assert 1.8 < gaps["momenta"][40] / gaps["momenta"][20] < 2.2
    assert gaps["momenta"][40] < 0.5 * gaps["none"][40]
    assert gaps["positions"].max() < 1e-12


def test_an_overconstrained_spatial_loop_does_not_lock(overconstrained):
    """Rank 5 kept for ever: off the manifold a threshold would find rank 6 and stop the mechanism."""
    made = Mechanism(overconstrained.tree, overconstrained.equations.closures, overconstrained.q)
    v = overconstrained.v * 10.0 / np.abs(overconstrained.v).max()
    for projection in ("momenta", "positions"):
        found = integrate(made.problem(overconstrained.q, v, projection=projection), "RKMK4", (0.0, 6.0), step=0.01)
        assert found.success
        assert found.error("energy", relative=False) < 1e-4 * abs(found["energy"][0])
        assert np.abs(found["p"]).max(axis=-1).min() > 0.0
        assert found.maximum("gap") < (1e-4 if projection == "momenta" else 1e-12)


def profile_of_loops(mechanism):
    """How many entries of each row of Φ are stored, and whether places of all that is not zero are among them."""
    packed = mechanism.packed()
    closures = closures_of(packed.structure)
    m = int(closures.kept)
    firsts = packed.structure[closures.profile :][:m]
    G = mechanism.equations.matrix(mechanism.home)[mechanism.mobility.kept]
    coupled = np.abs(G @ np.linalg.solve(geometry(mechanism.tree, mechanism.home).mass_matrix(mechanism.tree), G.T))
    rows, columns = np.nonzero(coupled > 1e-12 * coupled.max())
    return np.arange(m) - firsts, bool((columns >= firsts[rows])[columns <= rows].all())


def test_equations_of_loops_in_a_row_meet_their_neighbours_only():
    for n in (3, 12):
        widths, holds = profile_of_loops(n_four_bar.started(n))
        assert holds
        assert widths.max() <= 3


@pytest.mark.parametrize("name", ["walking-mechanism", "squeezer", "swinging-four-bar"])
def test_profiles_hold_what_is_not_zero(name):
    assert profile_of_loops(SYSTEMS[name].mechanism())[1]


# --- what many closures take ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["field", "step", "loaded step"])
def test_workspaces_grow_with_the_number_of_closures(what):
    """Counted, not timed: 20, 40 and 80 four-bars; those in a row share their rockers."""

    def size(n):
        made = n_four_bar.mechanism(n)
        if what == "loaded step":
            push = thruster(Frame(made.tree.body_names[0]), force=(1.0, 0.0, 0.0))
            made = Mechanism(made.tree, made.equations.closures, made.home, elements=[push])
        problem = made.problem()
        shape = problem.work_shape_for("field") if what == "field" else problem.own_steps["variational"].shape
        return int(np.prod(shape))

    first, second, third = size(20), size(40), size(80)
    assert third - second <= 2.05 * (second - first)


# --- what a projection tells ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four-bar", "bricard", "governor", "walking-mechanism", "squeezer"])
def test_a_projection_tells_the_invariants_and_the_field_where_it_leads(name):
    told(SYSTEMS[name].mechanism())


def test_it_tells_them_with_force_elements_and_joints_of_several_freedoms(mechanism, made):
    push = thruster(Frame(made.tree.body_names[-1]), force=(1.0, 0.3, -0.2), command=2.0)
    told(Mechanism(made.tree, mechanism.equations.closures, mechanism.q, elements=[push]))


def told(made):
    """Of a state that is not closed and does not keep the loops closed."""
    rng, n, nq = np.random.default_rng(3), made.tree.nv, made.tree.nq
    q = moved_by(made.tree, made.home, 1e-3 * rng.normal(size=n))
    y, packed = np.concatenate([q, rng.normal(size=n)]), made.packed()
    size = nq + n
    out, _ = run(closed_projection, made, y, size + WATCHED + 2 * n, 0.3, packed)
    shorter, _ = run(closed_projection, made, y, size + WATCHED, 0.3, packed)
    alone, _ = run(closed_projection, made, y, size, 0.3, packed)
    assert np.array_equal(out[:size], alone)
    assert np.array_equal(out[: size + WATCHED], shorter)
    invariants, _ = run(closed_invariants, made, alone, WATCHED, 0.3, packed)
    field, _ = run(closed, made, alone, 2 * n, 0.3, packed)
    scale = 1.0 + np.abs(invariants)
    assert np.abs((out[size : size + WATCHED] - invariants) / scale).max() < 1e-11
    assert np.abs(out[size + WATCHED :] - field).max() < 1e-10 * (1.0 + np.abs(field).max())


def test_steps_begin_with_what_the_projection_has_told(mechanism, made):
    """The field as the closures give it and as the projection tells it: the same motion, and no evaluation twice."""
    problem = made.problem(mechanism.q, mechanism.v)
    assert problem.tells
    silent = replace(problem, projection_tells=None)
    assert not replace(problem, invariants=None, invariant_names=(), invariant_units=(), guards=()).tells
    for method in ("RKMK4", "CF4", "RKMK_DORMAND_PRINCE54", "TREE_VARIATIONAL"):
        found, other = (integrate(p, method, (0.0, 0.05), step=1e-3) for p in (problem, silent))
        assert np.abs(found.y - other.y).max() < 1e-11 * (1.0 + np.abs(other.y).max())
        assert np.abs(found.invariants - other.invariants).max() < 1e-9
