"""One source: compiled, in lanes and interpreted, the numbers are the same to the last bit."""

import numpy as np
import pytest

import mechanics
from liegroup.compile import lane_array
from mechanics.algorithms import batch, crba, energy, era, kinematics, momentum, rnea
from mechanics.joints import JOINTS, Free, Revolute
from mechanics.problems import invariants
from mechanics.states import evaluate
from mechanics.testing import random_tree

KERNELS = {
    "era": (era.era, ("q", "v"), lambda t: 2 * t.nv),
    "era_loaded": (era.era_loaded, ("q", "v", "v", "wrenches"), lambda t: 2 * t.nv),
    "mass_solve": (era.mass_solve, ("q", "v"), lambda t: 2 * t.nv),
    "invariants": (invariants.invariants, ("q", "v"), lambda t: 1),
    "body_poses": (kinematics.body_poses, ("q",), lambda t: 12 * len(t)),
    "body_twists": (kinematics.body_twists, ("q", "v"), lambda t: 6 * len(t)),
    "body_jacobians": (kinematics.body_jacobians, ("q",), lambda t: 6 * t.nv * len(t)),
    "momentum": (momentum.momentum, ("q", "v"), lambda t: t.nv),
    "energies": (energy.energies, ("q", "v"), lambda t: 2),
    "potential_energy": (energy.potential_energy, ("q",), lambda t: 4),
    "total_momentum": (energy.total_momentum, ("q", "v"), lambda t: 6),
    "power": (energy.power, ("q", "v", "v", "wrenches"), lambda t: 1),
    "rnea": (rnea.rnea, ("q", "v", "v", "wrenches"), lambda t: t.nv),
    "mass_matrix": (crba.mass_matrix, ("q",), lambda t: t.nv**2),
}


def states(tree, inputs, count, generator):
    sizes = {"v": tree.nv, "wrenches": 6 * len(tree)}
    part = {"q": lambda: tree.random_configuration(generator)}
    return np.array(
        [
            np.concatenate([part[x]() if x == "q" else generator.normal(size=sizes[x]) for x in inputs])
            for _ in range(count)
        ]
    )


@pytest.mark.parametrize("name", KERNELS)
def test_lanes_and_interpreted_runs_repeat_the_compiled_ones_bit_by_bit(name):
    kernel, inputs, size = KERNELS[name]
    generator = np.random.default_rng(1)
    tree = random_tree("random", 16, generator, JOINTS, damping=0.1)
    Y, m = states(tree, inputs, 8, generator), size(tree)
    one = np.zeros((8, m))
    for y, out in zip(Y, one, strict=True):
        kernel(0.4, y, tree.parameters, tree.structure, np.zeros(tree.work_shape), out)
    lanes, out = lane_array(Y.shape[1]), lane_array(m)
    lanes[:] = Y.T
    kernel(0.4, lanes, tree.parameters, tree.structure, lane_array(*tree.work_shape), out)
    interpreted = np.zeros(m)
    kernel.python(0.4, Y[3], tree.parameters, tree.structure, np.zeros(tree.work_shape), interpreted)
    assert np.isfinite(one).all()
    assert np.array_equal(out.T, one)
    assert np.array_equal(interpreted, one[3])


def test_states_go_in_lanes_when_enough_were_asked_for(monkeypatch):
    """Nine, of which one is left over: at first one by one, as lanes are not compiled yet, then eight in lanes."""
    monkeypatch.setattr(batch, "ENOUGH", 2 * 9)
    monkeypatch.setattr(batch, "_asked", {momentum.momentum: 0})
    filled, in_lanes = [], batch._in_lanes
    monkeypatch.setattr(batch, "_in_lanes", lambda *given: filled.append(len(given[2])) or in_lanes(*given))
    generator = np.random.default_rng(2)
    tree = random_tree("random", 5, generator, JOINTS)
    Y = states(tree, ("q", "v"), 9, generator)
    runs = [evaluate(momentum.momentum, tree, tree.nv, 0.4, Y) for _ in range(3)]
    assert filled == [8, 8]
    assert np.array_equal(runs[0], runs[1])
    assert np.array_equal(runs[0], runs[2])


def test_workspaces_carry_nothing_from_one_call_to_the_next():
    generator = np.random.default_rng(2)
    tree = random_tree("random", 12, generator, JOINTS)
    y = states(tree, ("q", "v"), 1, generator)[0]
    found = []
    for fill in (0.0, 1e9):
        work, out = np.full(tree.work_shape, fill), np.zeros(2 * tree.nv)
        era.era(0.0, y, tree.parameters, tree.structure, work, out)
        found.append(out)
    assert np.array_equal(*found)


@pytest.mark.parametrize("count", [(), (1,), (8,), (3, 7)])
def test_batches_are_the_states_one_by_one(count):
    generator = np.random.default_rng(3)
    tree = random_tree("random", 6, generator, JOINTS)
    q = np.array([tree.random_configuration(generator) for _ in range(int(np.prod(count)))]).reshape(*count, tree.nq)
    p = generator.normal(size=(*count, tree.nv))
    v, p_dot = mechanics.hamiltonian_rhs(tree, q, p)
    M = mechanics.mass_matrix(tree, q)
    assert v.shape == p_dot.shape == (*count, tree.nv)
    assert M.shape == (*count, tree.nv, tree.nv)
    for k in np.ndindex(*count):
        assert np.array_equal(v[k], mechanics.hamiltonian_rhs(tree, q[k], p[k])[0])
        assert np.array_equal(M[k], mechanics.mass_matrix(tree, q[k]))


def test_one_configuration_serves_many_momenta():
    generator = np.random.default_rng(4)
    tree = random_tree("chain", 4, generator)
    q, p = tree.random_configuration(generator), generator.normal(size=(5, tree.nv))
    v, _ = mechanics.hamiltonian_rhs(tree, q, p)
    assert np.allclose(v @ mechanics.mass_matrix(tree, q), p, rtol=0, atol=1e-13)


def test_mass_matrix_is_exactly_symmetric():
    generator = np.random.default_rng(5)
    tree = random_tree("random", 10, generator, JOINTS, Free())
    M = mechanics.mass_matrix(tree, tree.random_configuration(generator))
    assert np.array_equal(M, M.T)


@pytest.mark.parametrize("bodies", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_large_trees_are_consistent(bodies):
    """v = M⁻¹p undone by p = M v, where the mass matrix itself would have up to 10⁸ entries."""
    generator = np.random.default_rng(6)
    tree = random_tree("random", bodies, generator, (Revolute,))
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    p = mechanics.momentum(tree, q, v)
    assert np.abs(mechanics.hamiltonian_rhs(tree, q, p)[0] - v).max() < 1e-7
