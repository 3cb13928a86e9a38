"""Derivatives of the dynamics of trees: by complex steps, in forty digits, in Pinocchio, and what they must fulfil."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

import mechanics
from liegroup.compile import lane_array
from liegroup.table import EXP, retract
from mechanics import to_pinocchio
from mechanics.algorithms import era, rnea
from mechanics.algorithms.derivatives.canonical import (
    chain_era_derivatives,
    chain_era_derivatives_loaded,
    has_way,
)
from mechanics.algorithms.derivatives.chains import chain_derivatives_loaded
from mechanics.algorithms.derivatives.columns import work_shape
from mechanics.algorithms.derivatives.forward import forward_derivatives_loaded
from mechanics.algorithms.derivatives.hamiltonian import era_derivatives, era_derivatives_loaded
from mechanics.algorithms.derivatives.inverse import inverse_derivatives_loaded
from mechanics.algorithms.derivatives.solve import work_of_solve
from mechanics.algorithms.derivatives.sweeps import work_of_sweeps
from mechanics.joints import JOINTS, Fixed, Free, Helical, Revolute, Rheonomic, Spherical, Universal
from mechanics.model.layout import Header
from mechanics.testing import SHAPES, random_tree

TIME = 0.7
EPSILON = 1e-30
KINDS = [kind for kind in JOINTS if kind is not Fixed]
HOLONOMIC = tuple(kind for kind in JOINTS if kind is not Rheonomic)
ARMED = 40
"""The seed with which joints have armature."""


def trees(joints=JOINTS, geared=JOINTS):
    """Every shape with all kinds of joints, a tree with armature, and every kind of joint alone."""
    mixed = [pytest.param(shape, joints, seed, id=shape) for seed, shape in enumerate(SHAPES)]
    return (
        mixed
        + [pytest.param("random", geared, ARMED, id="armature")]
        + [
            pytest.param("random", (kind,), 20 + seed, id=kind.__name__)
            for seed, kind in enumerate(joints)
            if kind is not Fixed
        ]
    )


def example(shape, joints, seed, count=7):
    generator = np.random.default_rng(seed)
    tree = random_tree(shape, count, generator, joints, damping=0.3, armature=0.5 if seed == ARMED else 0.0)
    q, (v, a) = tree.random_configuration(generator), generator.normal(size=(2, tree.nv))
    return tree, q, v, a, generator.normal(size=(len(tree), 6))


def take_way(tree, is_long):
    """Let the tree count as one whose ways to the base are long, or short."""
    structure = tree.structure.copy()
    structure[Header._fields.index("depth")] = 100 if is_long else 0
    tree.__dict__["packed"] = replace(tree.packed, structure=structure)
    assert has_way(tree.structure) == tree.has_long_ways == is_long


def relative(found, true):
    return np.abs(np.asarray(found) - true).max(initial=0.0) / (1.0 + np.abs(true).max(initial=0.0))


def increments(tree, q, step):
    """q exp(step e_k) for every k, on the scalar type of q and step."""
    for k in range(tree.nv):
        out, x = np.array(q), np.zeros(tree.nv) * (0 * step)
        x[k] = step
        retract(tree.group.table, EXP, out, x, out)
        yield out


def along(tree, kernel, state, size, step):
    """The kernel with every velocity coordinate of the configuration, then every number behind it, moved by a step."""
    q, rest = state[: tree.nq], state[tree.nq :]
    states = [np.concatenate([moved, rest]) for moved in increments(tree, q, step)]
    for k in range(2 * tree.nv):
        moved = state.copy()
        moved[tree.nq + k] = moved[tree.nq + k] + step
        states.append(moved)
    for y in states:
        out, work = np.zeros(size, y.dtype) + 0 * step, np.zeros(tree.work_shape, y.dtype) + 0 * step
        kernel.python(TIME, y, tree.parameters, tree.structure, work, out)
        yield out


def complex_steps(tree, kernel, size, *inputs):
    """∂/∂(q, the next nv numbers, the next nv numbers) of a kernel, (size, 3 nv)."""
    state = np.concatenate([np.ravel(x) for x in inputs]).astype(complex)
    return np.stack([out.imag for out in along(tree, kernel, state, size, 1j * EPSILON)], axis=1) / EPSILON


# --- independent truth ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_inverse_dynamics_by_complex_steps(shape, joints, seed):
    tree, q, v, a, wrenches = example(shape, joints, seed)
    found = np.concatenate(mechanics.inverse_dynamics_derivatives(tree, q, v, a, wrenches, TIME), axis=1)
    true = complex_steps(tree, rnea.rnea, tree.nv, q, v, a, wrenches)
    assert relative(found, true) < 1e-14


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
@pytest.mark.parametrize("is_long", [False, True])
def test_hamiltons_equations_by_complex_steps(shape, joints, seed, is_long):
    tree, q, v, tau, wrenches = example(shape, joints, seed)
    take_way(tree, is_long)
    p = mechanics.momentum(tree, q, v, TIME)
    found = mechanics.hamiltonian_rhs_derivatives(tree, q, p, wrenches, TIME)
    true = complex_steps(tree, era.era_loaded, 2 * tree.nv, q, p, tau, wrenches)[:, : 2 * tree.nv]
    condition = np.linalg.cond(mechanics.mass_matrix(tree, q, TIME))
    assert relative(found, true) < 1e-14 + 1e-15 * condition


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
@pytest.mark.parametrize("is_long", [False, True])
def test_forward_dynamics_undoes_inverse_dynamics(shape, joints, seed, is_long):
    """τ_q + M v̇_q = 0, τ_v + M v̇_v = 0, M v̇_τ = E, at τ(v̇), whichever way is taken."""
    tree, q, v, a, wrenches = example(shape, joints, seed)
    tau = mechanics.inverse_dynamics(tree, q, v, a, wrenches, TIME)
    tau_q, tau_v, M = mechanics.inverse_dynamics_derivatives(tree, q, v, a, wrenches, TIME)
    take_way(tree, is_long)
    a_q, a_v, a_tau = mechanics.forward_dynamics_derivatives(tree, q, v, tau, wrenches, TIME)
    size = 1e-14 * np.linalg.cond(M)
    assert relative(M @ a_tau, np.eye(tree.nv)) < size
    assert relative(M @ a_q, -tau_q) < size
    assert relative(M @ a_v, -tau_v) < size
    assert np.array_equal(a_tau, a_tau.T)


def test_forty_digits():
    """Differences of the interpreted kernels in mpmath, of a tree with a ball, a prescribed joint and a screw."""
    generator = np.random.default_rng(4)
    kinds = [Rheonomic, Spherical, Helical, mechanics.joints.Planar]
    tree = random_tree("random", 4, generator, kinds, damping=0.2, armature=0.4)
    q, (v, a) = tree.random_configuration(generator), generator.normal(size=(2, tree.nv))
    wrenches = generator.normal(size=(len(tree), 6))
    p = mechanics.momentum(tree, q, v, TIME)
    with mpmath.workdps(40):
        many, step = np.vectorize(mpmath.mpf, otypes=[object]), mpmath.mpf(10) ** -13
        cases = {
            "inverse": (rnea.rnea, tree.nv, (q, v, a, wrenches)),
            "hamiltonian": (era.era_loaded, 2 * tree.nv, (q, p, a, wrenches)),
        }
        true = {}
        for name, (kernel, size, inputs) in cases.items():
            state = many(np.concatenate([np.ravel(x) for x in inputs]))
            sides = [along(tree, kernel, state, size, s) for s in (step, -step)]
            columns = [(b - c) / (2 * step) for b, c in zip(*sides, strict=True)]
            true[name] = np.stack(columns, axis=1).astype(float)
    found = np.concatenate(mechanics.inverse_dynamics_derivatives(tree, q, v, a, wrenches, TIME), axis=1)
    assert relative(found, true["inverse"]) < 3e-15
    for is_long in (False, True):
        take_way(tree, is_long)
        found = mechanics.hamiltonian_rhs_derivatives(tree, q, p, wrenches, TIME)
        assert relative(found, true["hamiltonian"][:, : 2 * tree.nv]) < 1e-13


@pytest.mark.parametrize(("shape", "joints", "seed"), trees(HOLONOMIC, (Revolute, Helical, Universal)))
def test_pinocchio(shape, joints, seed):
    """Its model is numbered depth first, without which its derivatives are wrong, and what it returns is copied; its
    armature does not turn with joints of several freedoms.
    """
    pin = pytest.importorskip("pinocchio")
    tree, q, v, a, wrenches = example(shape, joints, seed)
    other = to_pinocchio(tree)
    model, data, forces = other.model, other.model.createData(), other.forces(wrenches)
    state = other.configuration(q), other.velocity(v)
    true = [np.array(x) for x in pin.computeRNEADerivatives(model, data, *state, other.velocity(a), forces)]
    true[2] = np.triu(true[2]) + np.triu(true[2], 1).T
    true = [other.tree_matrix(x) for x in true]
    true[1] = true[1] + np.diag(tree.damping)
    for found, expected in zip(mechanics.inverse_dynamics_derivatives(tree, q, v, a, wrenches), true, strict=True):
        assert relative(found, expected) < 1e-12
    force = other.velocity(a - tree.damping * v)
    true = [np.array(x) for x in pin.computeABADerivatives(model, data, *state, force, forces)]
    true[2] = np.triu(true[2]) + np.triu(true[2], 1).T
    true = [other.tree_matrix(x) for x in true]
    true[1] = true[1] - true[2] @ np.diag(tree.damping)
    condition = np.linalg.cond(mechanics.mass_matrix(tree, q))
    for found, expected in zip(mechanics.forward_dynamics_derivatives(tree, q, v, a, wrenches), true, strict=True):
        assert relative(found, expected) < 1e-12 + 1e-14 * condition


# --- what they must fulfil --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
@pytest.mark.parametrize("is_long", [False, True])
def test_the_derivative_by_momenta_is_that_by_velocities(shape, joints, seed, is_long):
    """Along a motion ṗ = d/dt(M v): v̇ = τ-free forward dynamics.  By the chain rule, with D the derivative of (v, ṗ) by
    (q, p) and p = π(q, v):  ∂ṗ/∂v|_q = D_pp M, and v does not change with q at constant v: D_vq + D_vp ∂π/∂q = 0.
    """
    tree, q, v, _, wrenches = example(shape, joints, seed)
    take_way(tree, is_long)
    p, n = mechanics.momentum(tree, q, v, TIME), tree.nv
    D = mechanics.hamiltonian_rhs_derivatives(tree, q, p, wrenches, TIME)
    M = mechanics.mass_matrix(tree, q, TIME)

    def momenta(y):
        out = np.zeros(n, complex)
        mechanics.algorithms.momentum.momentum.python(
            TIME, y, tree.parameters, tree.structure, np.zeros(tree.work_shape, complex), out
        )
        return out.imag / EPSILON

    p_q = np.stack([momenta(np.concatenate([x, v])) for x in increments(tree, q.astype(complex), 1j * EPSILON)], 1)
    assert relative(D[:n, n:] @ M, np.eye(n)) < 1e-14 * np.linalg.cond(M)
    assert relative(D[:n, :n] + D[:n, n:] @ p_q, np.zeros((n, n))) < 1e-14 * np.linalg.cond(M) * np.abs(D).max()


@pytest.mark.parametrize("is_long", [False, True])
def test_without_groups_and_losses_the_derivative_is_a_hamiltonian_matrix(is_long):
    generator = np.random.default_rng(6)
    tree = random_tree("random", 8, generator, (Revolute, Helical, Universal))
    take_way(tree, is_long)
    n = tree.nv
    p = generator.normal(size=n)
    D = mechanics.hamiltonian_rhs_derivatives(tree, tree.random_configuration(generator), p)
    J = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    assert relative((J @ D).T, J @ D) < 1e-14


def test_far_from_the_origin_no_digits_are_lost():
    """What is moved by a thousand kilometres without gravity has the same derivatives, but for its place itself."""
    generator = np.random.default_rng(7)
    tree = random_tree("random", 6, generator, (Revolute, Spherical), Free())
    q, (v, a) = tree.random_configuration(generator), generator.normal(size=(2, tree.nv))
    far = q.copy()
    far[:3] += 2.0**20
    for here, there in zip(
        mechanics.inverse_dynamics_derivatives(tree, q, v, a),
        mechanics.inverse_dynamics_derivatives(tree, far, v, a),
        strict=True,
    ):
        assert np.array_equal(here, there)


# --- one source -------------------------------------------------------------------------------------------------------

KERNELS = {
    "inverse": (inverse_derivatives_loaded, 2, True, lambda n: 3 * n * n),
    "forward": (forward_derivatives_loaded, 2, True, lambda n: 3 * n * n + n),
    "forward, long ways": (chain_derivatives_loaded, 2, True, lambda n: 3 * n * n + n),
    "hamiltonian": (era_derivatives, 1, False, lambda n: 4 * n * n),
    "hamiltonian, loaded": (era_derivatives_loaded, 2, True, lambda n: 4 * n * n),
    "hamiltonian, long ways": (chain_era_derivatives, 1, False, lambda n: 4 * n * n),
    "hamiltonian, loaded, long ways": (chain_era_derivatives_loaded, 2, True, lambda n: 4 * n * n),
}


def room_of(name):
    """What gives the shape of the workspace."""
    if "long" in name:
        return work_of_sweeps
    return work_of_solve if name == "forward" else work_shape


@pytest.mark.parametrize("name", KERNELS)
def test_lanes_and_interpreted_runs_repeat_the_compiled_ones_bit_by_bit(name):
    kernel, vectors, loaded, size = KERNELS[name]
    generator = np.random.default_rng(1)
    tree = random_tree("random", 12, generator, JOINTS, damping=0.1, armature=0.3 if loaded else 0.0)
    n, shape = size(tree.nv), room_of(name)(tree.structure)
    rest = vectors * tree.nv + loaded * 6 * len(tree)
    Y = np.array([np.hstack([tree.random_configuration(generator), generator.normal(size=rest)]) for _ in range(8)])
    one = np.zeros((8, n))
    for y, out in zip(Y, one, strict=True):
        kernel(0.4, y, tree.parameters, tree.structure, np.full(shape, np.nan), out)
    lanes, out = lane_array(Y.shape[1]), lane_array(n)
    lanes[:] = Y.T
    kernel(0.4, lanes, tree.parameters, tree.structure, lane_array(*shape), out)
    interpreted = np.full(n, 0.0 if name == "inverse" else 7.0)
    kernel.python(0.4, Y[3], tree.parameters, tree.structure, np.zeros(shape), interpreted)
    assert np.isfinite(one).all()
    assert np.array_equal(out.T, one)
    assert np.array_equal(interpreted, one[3])


def test_without_wrenches_the_derivatives_are_those_of_no_wrenches():
    tree, q, v, a, _ = example("random", JOINTS, 2)
    for f in (mechanics.inverse_dynamics_derivatives, mechanics.forward_dynamics_derivatives):
        for found, expected in zip(f(tree, q, v, a), f(tree, q, v, a, np.zeros((len(tree), 6))), strict=True):
            assert np.array_equal(found, expected)


@pytest.mark.parametrize("is_long", [False, True])
def test_what_pulls_at_a_body_fixed_to_the_base_moves_nothing(is_long):
    generator = np.random.default_rng(8)
    tree = random_tree("random", 6, generator, JOINTS, root=Fixed(), damping=0.3)
    take_way(tree, is_long)
    q, (v, a), wrenches = tree.random_configuration(generator), generator.normal(size=(2, tree.nv)), np.zeros((6, 6))
    for f in (
        lambda w: (mechanics.hamiltonian_rhs_derivatives(tree, q, v, w, TIME),),
        lambda w: mechanics.forward_dynamics_derivatives(tree, q, v, a, w, TIME),
        lambda w: mechanics.inverse_dynamics_derivatives(tree, q, v, a, w, TIME),
    ):
        wrenches[1:] = generator.normal(size=(5, 6))
        without = f(wrenches)
        wrenches[0] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
        for found, true in zip(f(wrenches), without, strict=True):
            assert np.array_equal(found, true)
        wrenches[0] = 0.0


@pytest.mark.parametrize("is_long", [False, True])
def test_a_workspace_with_other_numbers_gives_the_same(is_long):
    """What is zero by the structure of the tree stands in memory that another function may have used."""
    tree, q, v, a, _ = example("roots", JOINTS, 2)
    take_way(tree, is_long)
    for f, rest in (
        (mechanics.inverse_dynamics_derivatives, (v, a)),
        (mechanics.forward_dynamics_derivatives, (v, a)),
        (lambda *x: (mechanics.hamiltonian_rhs_derivatives(*x),), (v,)),
    ):
        work, expected = tree.workspace(), f(tree, q, *rest)
        f(work, q, *rest)
        for held in work.memory.__self__.values():
            held[:] = np.nan
        for found, true in zip(f(work, q, *rest), expected, strict=True):
            assert np.array_equal(found, true)


@pytest.mark.parametrize("count", [(), (8,), (3, 5)])
def test_batches_are_the_states_one_by_one(count):
    generator = np.random.default_rng(3)
    tree = random_tree("random", 5, generator, JOINTS)
    total = int(np.prod(count))
    q = np.array([tree.random_configuration(generator) for _ in range(total)]).reshape(*count, tree.nq)
    v, a = generator.normal(size=(2, *count, tree.nv))
    for f, inputs in (
        (mechanics.inverse_dynamics_derivatives, (q, v, a)),
        (mechanics.forward_dynamics_derivatives, (q, v, a)),
        (lambda *x: (mechanics.hamiltonian_rhs_derivatives(*x),), (q, v)),
    ):
        many = f(tree, *inputs)
        for k in np.ndindex(*count):
            for one, found in zip(f(tree, *(x[k] for x in inputs)), many, strict=True):
                assert np.array_equal(found[k], one)


def test_chains_and_what_hangs_on_them_take_all_columns_at_a_time():
    """Which way is taken does not matter to the numbers: of a chain, of a float with arms numbered in turn."""
    generator = np.random.default_rng(5)

    def body(name, parent, joint):
        return mechanics.Body(name, joint, parent, inertia=mechanics.testing.random_inertia(generator))

    forked = [body("root", None, Free())]
    for k in range(24):  # two arms, numbered in turn
        forked.append(body(f"{k}", f"{k - 2}" if k > 1 else "root", (Revolute, Spherical, Helical)[k % 3]()))
    for tree in (random_tree("chain", 30, generator, (Revolute, Universal)), mechanics.Tree(forked)):
        q, (v, tau) = tree.random_configuration(generator), generator.normal(size=(2, tree.nv))
        assert tree.has_long_ways
        assert has_way(tree.structure)
        size = 1e-15 * np.linalg.cond(mechanics.mass_matrix(tree, q))
        for f, inputs in (
            (mechanics.forward_dynamics_derivatives, (q, v, tau)),
            (lambda *x: (mechanics.hamiltonian_rhs_derivatives(*x),), (q, mechanics.momentum(tree, q, v))),
        ):
            take_way(tree, True)
            found, many = f(tree, *inputs), f(tree, *(np.array([x, x, x]) for x in inputs))
            assert all(np.array_equal(one, lanes[2]) for one, lanes in zip(found, many, strict=True))
            take_way(tree, False)
            for one, other in zip(found, f(tree, *inputs), strict=True):
                assert not np.array_equal(one, other)
                assert relative(one, other) < size


def test_digits_of_a_long_chain():
    """A hundred links: what the eliminations give is right to rounding (products with M⁻¹ lose three digits)."""
    generator = np.random.default_rng(8)
    tree = random_tree("chain", 100, generator, (Revolute,))
    n, q, v = tree.nv, tree.random_configuration(generator), 0.1 * generator.normal(size=tree.nv)
    p = mechanics.momentum(tree, q, v)
    found = mechanics.hamiltonian_rhs_derivatives(tree, q, p)
    state = np.concatenate([q, p, np.zeros(n), np.zeros(6 * n)]).astype(complex)
    moved = np.arange(0, 2 * n, 9)
    for k in moved:
        y, out = state.copy(), np.zeros(2 * n, complex)
        y[k] += 1j * EPSILON
        era.era_loaded.python(0.0, y, tree.parameters, tree.structure, np.zeros(tree.work_shape, complex), out)
        assert relative(found[:n, k], out.imag[:n] / EPSILON) < 2e-14
        assert relative(found[n:, k], out.imag[n:] / EPSILON) < 2e-14


def test_bad_input_is_named():
    tree = random_tree("chain", 3, np.random.default_rng(0))
    q, v = tree.neutral(), np.zeros(tree.nv)
    with pytest.raises(ValueError, match=r"a: shape \(2,\), expected \(…, 3\)"):
        mechanics.inverse_dynamics_derivatives(tree, q, v, v[:2])
    with pytest.raises(ValueError, match="tau: element"):
        mechanics.forward_dynamics_derivatives(tree, q, v, [0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match=r"wrenches: shape"):
        mechanics.hamiltonian_rhs_derivatives(tree, q, v, np.zeros(6))
    with pytest.raises(TypeError, match="tree"):
        mechanics.hamiltonian_rhs_derivatives("tree", q, v)


def test_a_joint_that_moves_no_inertia_is_named():
    """Three turns whose first and last axes are one."""
    inertia = mechanics.testing.random_inertia(np.random.default_rng(0))
    tree = mechanics.Tree([mechanics.Body("a", mechanics.joints.Gimbal(), inertia=inertia)])
    locked = tree.neutral() + np.array([0.0, np.pi / 2, 0.0])
    for f in (mechanics.forward_dynamics_derivatives, mechanics.hamiltonian_rhs_derivatives):
        assert np.isfinite(np.hstack([x.ravel() for x in f(tree, tree.neutral(), np.zeros(3))])).all()
        with pytest.raises(ValueError, match="singular"):
            f(tree, locked, np.zeros(3))
