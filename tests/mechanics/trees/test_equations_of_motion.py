"""Four formulations, the kernels and Pinocchio give the same motion."""

import mpmath
import numpy as np
import pytest

import mechanics
from mechanics import to_pinocchio
from mechanics.joints import JOINTS, Fixed, Free, Prismatic, Revolute, Rheonomic
from mechanics.model.links import armature_rate
from mechanics.reference.system import System
from mechanics.systems.bodies.space_manipulator import space_manipulator_tree
from mechanics.testing import EXAMPLES, SHAPES, random_tree

pin = pytest.importorskip("pinocchio")
TIME = 0.7
ARMED = range(30, 40)
"""Seeds with which joints have armature."""
HOLONOMIC = tuple(kind for kind in JOINTS if kind is not Rheonomic)


def relative(found, true):
    return np.abs(np.asarray(found) - true).max(initial=0.0) / (1.0 + np.abs(true).max(initial=0.0))


def trees(joints=JOINTS):
    """Every shape with all kinds of joints, and every kind of joint alone in a chain."""
    simple = (Revolute, Prismatic, Free, Fixed)
    mixed = [pytest.param(shape, joints, seed, id=shape) for seed, shape in enumerate(SHAPES)]
    geared = [pytest.param(shape, joints, 30 + seed, id=f"{shape}-armature") for seed, shape in enumerate(SHAPES)]
    few = [pytest.param(shape, simple, 10 + seed, id=f"{shape}-simple") for seed, shape in enumerate(SHAPES)]
    alone = [
        pytest.param("chain", (kind,), 20 + seed, id=kind.__name__)
        for seed, kind in enumerate(joints)
        if kind is not Fixed
    ]
    return mixed + geared + few + alone


def example(shape, joints, seed, count=7):
    generator = np.random.default_rng(seed)
    tree = random_tree(shape, count, generator, joints, damping=0.3, armature=0.5 if seed in ARMED else 0.0)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    return tree, q, v, generator.normal(size=(len(tree), 6)), generator.normal(size=tree.nv)


def test_every_joint_has_an_example():
    assert set(EXAMPLES) == set(JOINTS)


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_the_kernel_solves_the_extended_system(shape, joints, seed):
    tree, q, p, wrenches, tau = example(shape, joints, seed)
    for loads in ({}, {"wrenches": wrenches, "tau": tau}):
        true = System(tree, q, p, TIME, **loads).extended()
        v, p_dot = mechanics.hamiltonian_rhs(tree, q, p, t=TIME, **loads)
        assert relative(v, true.v) < 1e-10
        assert relative(p_dot, true.p_dot) < 1e-10


@pytest.mark.parametrize("way", ["tsp", "osp", "era"])
@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_the_three_reductions_agree_with_the_extended_system(shape, joints, seed, way):
    tree, q, p, wrenches, tau = example(shape, joints, seed)
    system = System(tree, q, p, TIME, wrenches, tau)
    if way == "osp" and tree.armature.any():
        with pytest.raises(ValueError, match="has armature"):
            system.osp()
        return
    true, found = system.extended(), getattr(system, way)()
    scale = np.linalg.cond(system.mass_matrix) * 1e-15 + 1e-13
    assert relative(found.v, true.v) < 100 * scale
    assert relative(found.p_dot, true.p_dot) < 100 * scale


@pytest.mark.parametrize(("shape", "seed"), [*((shape, 40 + k) for k, shape in enumerate(SHAPES)), ("random", 30)])
def test_the_reductions_agree_to_36_of_40_digits_and_the_kernel_to_its_own(shape, seed):
    tree, q, p, wrenches, tau = example(shape, JOINTS, seed, count=6)
    many = np.vectorize(mpmath.mpf, otypes=[object])
    with mpmath.workdps(40):
        system = System(tree, many(q), many(p), mpmath.mpf(TIME), many(wrenches), many(tau))
        true = system.extended()
        for way in ("tsp", "era") if tree.armature.any() else ("tsp", "osp", "era"):
            found = getattr(system, way)()
            assert relative(found.v, true.v) < 1e-36
            assert relative(found.p_dot, true.p_dot) < 1e-36
    v, p_dot = mechanics.hamiltonian_rhs(tree, q, p, wrenches, tau, TIME)
    assert relative(v, true.v.astype(float)) < 1e-11
    assert relative(p_dot, true.p_dot.astype(float)) < 1e-11


def turning_armature(tree, q, v):
    """ad_vᵀ(a v) of all joints."""
    of = [armature_rate(body, q[tree.q_slice(i)], v[tree.v_slice(i)]) for i, body in enumerate(tree.bodies)]
    return np.concatenate(of)


def pinocchio_truth(tree, q, v, a, wrenches, tau):
    other = to_pinocchio(tree)
    model, data = other.model, other.model.createData()
    q_, v_, a_, tau_ = other.configuration(q), other.velocity(v), other.velocity(a), other.velocity(tau)
    forces = other.forces(wrenches)
    M = pin.crba(model, data, q_)
    M = np.triu(M) + np.triu(M, 1).T
    Coriolis = pin.computeCoriolisMatrix(model, data, q_, v_)
    turning = turning_armature(tree, q, v)  # Pinocchio's armature does not turn with its joint
    driven = tau_ - other.velocity(tree.damping) * v_ + other.velocity(turning)
    acceleration = pin.aba(model, data, q_, v_, driven, forces).copy()
    return {
        "mass matrix": other.tree_matrix(M),
        "momentum": other.tree_velocity(M @ v_),
        "acceleration": other.tree_velocity(acceleration),
        "p_dot": other.tree_velocity((Coriolis + Coriolis.T) @ v_ + M @ acceleration),
        "inverse dynamics": other.tree_velocity(pin.rnea(model, data, q_, v_, a_, forces)) + tree.damping * v - turning,
        "kinetic energy": v_ @ M @ v_ / 2,
        "potential energy": pin.computePotentialEnergy(model, data, q_),
        "centre of mass": pin.centerOfMass(model, data, q_).copy(),
        "centroidal momentum": pin.computeCentroidalMomentum(model, data, q_, v_).vector.copy(),
    }


def ours(tree, q, v, a, wrenches, tau):
    p = mechanics.momentum(tree, q, v)
    return {
        "mass matrix": mechanics.mass_matrix(tree, q),
        "momentum": p,
        "acceleration": mechanics.forward_dynamics(tree, q, v, tau, wrenches),
        "p_dot": mechanics.hamiltonian_rhs(tree, q, p, wrenches, tau)[1],
        "velocity": mechanics.hamiltonian_rhs(tree, q, p, wrenches, tau)[0],
        "inverse dynamics": mechanics.inverse_dynamics(tree, q, v, a, wrenches),
        "kinetic energy": mechanics.kinetic_energy(tree, q, v),
        "potential energy": mechanics.potential_energy(tree, q),
        "centre of mass": mechanics.centre_of_mass(tree, q),
        "centroidal momentum": mechanics.centroidal_momentum(tree, q, v),
    }


def assert_same(tree, q, v, a, wrenches, tau, tolerance):
    true = pinocchio_truth(tree, q, v, a, wrenches, tau) | {"velocity": v}
    for name, found in ours(tree, q, v, a, wrenches, tau).items():
        assert relative(found, true[name]) < tolerance, name


@pytest.mark.parametrize(("shape", "joints", "seed"), trees(HOLONOMIC))
@pytest.mark.filterwarnings("ignore:.*armature of free, planar or uneven ball joints")
def test_random_trees_move_as_in_pinocchio(shape, joints, seed):
    tree, q, v, wrenches, tau = example(shape, joints, seed, count=9)
    condition = np.linalg.cond(mechanics.mass_matrix(tree, q))
    assert_same(tree, q, v, tau[::-1], wrenches, tau, 1e-12 + 1e-14 * condition)


# not iCub: Pinocchio refuses to build its tensors with negative moments; the tests of the reader have it
ROBOTS = ["panda", "ur5", "kinova", "anymal", "solo", "hyq", "talos", "talos_full", "simple_humanoid", "romeo", "g1"]


MADE = {
    "space manipulator": lambda: space_manipulator_tree(free_base=True),
    "open tree of Cassie": lambda: mechanics.load_mechanism("cassie").tree,
}


@pytest.mark.parametrize("name", [*ROBOTS, *MADE])
@pytest.mark.filterwarnings("ignore::mechanics.errors.ModelWarning")
def test_real_robots_move_as_in_pinocchio(name):
    """To 1e-11, and to rounding times the condition of the mass matrix beyond."""
    tree = MADE[name]() if name in MADE else mechanics.load_model(name)
    generator = np.random.default_rng(5)
    for _ in range(3):
        q, v, a, tau = tree.random_configuration(generator), *generator.normal(size=(3, tree.nv))
        condition = np.linalg.cond(mechanics.mass_matrix(tree, q))
        assert_same(tree, q, v, a, generator.normal(size=(len(tree), 6)), tau, 1e-11 + 1e-15 * condition)


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_inverse_and_forward_dynamics_undo_one_another_with_prescribed_motions(shape, joints, seed):
    tree, q, v, wrenches, a = example(shape, joints, seed)
    tau = mechanics.inverse_dynamics(tree, q, v, a, wrenches, t=TIME)
    condition = np.linalg.cond(mechanics.mass_matrix(tree, q, TIME))
    assert relative(mechanics.forward_dynamics(tree, q, v, tau, wrenches, TIME), a) < 1e-12 + 1e-14 * condition


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_momenta_are_those_of_the_reference(shape, joints, seed):
    tree, q, v, _, _ = example(shape, joints, seed)
    system = System(tree, q, np.zeros(tree.nv), TIME)
    V = system.B @ v + system.T @ system.drift
    assert relative(mechanics.momentum(tree, q, v, TIME), system.B.T @ system.M @ V + tree.armature * v) < 1e-13
    assert relative(mechanics.body_twists(tree, q, v, TIME).ravel(), V) < 1e-13
    assert relative(mechanics.body_jacobians(tree, q, TIME).reshape(-1, tree.nv), system.B) < 1e-13
    assert mechanics.body_jacobians(tree, np.tile(q, (2, 3, 1)), TIME).shape == (2, 3, len(tree), 6, tree.nv)
    assert relative(mechanics.mass_matrix(tree, q, TIME), system.mass_matrix) < 1e-13
    kinetic = (V @ system.M @ V + v @ (tree.armature * v)) / 2
    assert relative(mechanics.kinetic_energy(tree, q, v, TIME), kinetic) < 1e-13


@pytest.mark.parametrize(("shape", "joints", "seed"), trees())
def test_rates_of_momenta_are_the_derivative_along_the_motion(shape, joints, seed):
    """ṗ = d/dt p(q(t), v(t), t) with v̇ from Newton and Euler: also with prescribed motions, where Pinocchio has no
    say.
    """
    tree, q, v, wrenches, tau = example(shape, joints, seed)
    a = mechanics.forward_dynamics(tree, q, v, tau, wrenches, TIME)
    h = 1e-4
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    p = np.array([mechanics.momentum(tree, moved(tree, q, v, a, s), v + s * a, TIME + s) for s in steps])
    difference = (p[0] - 8 * p[1] + 8 * p[2] - p[3]) / (12 * h)
    momenta = mechanics.momentum(tree, q, v, TIME)
    p_dot = mechanics.hamiltonian_rhs(tree, q, momenta, wrenches, tau, TIME)[1]
    assert relative(difference, p_dot) < 1e-8


def moved(tree, q, v, a, s):
    """q(s) of a motion with velocity v and acceleration a at s = 0; the error c s³ has no derivative there."""
    return tree.group.compose(q, tree.group.exp(s * v + 0.5 * s * s * a))
