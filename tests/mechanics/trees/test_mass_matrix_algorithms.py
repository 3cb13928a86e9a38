"""Four ways to the mass matrix, two to the bias, three to Hamilton's equations: the same numbers; and what they
cost.
"""

import numpy as np
import pytest

import mechanics
from liegroup.compile import lane_array
from mechanics import Body, ModelError, Tree
from mechanics.joints import JOINTS, Prismatic, Revolute
from mechanics.reference import osp, tsp
from mechanics.reference.counting import Tally
from mechanics.reference.operation_counts import mass_matrix_operations
from mechanics.reference.osp_plan import Plan, osp_plan
from mechanics.reference.serial import SERIAL, Chain, serial_chain
from mechanics.reference.serial.yaskevich import distances
from mechanics.testing import SHAPES, random_inertia, random_tree

CHAINS = [(Revolute,), (Prismatic,), (Revolute, Prismatic)]
ALGORITHMS = ("crba", "yaskevich", "stepanenko", "kosynka")


def chain(joints, N, seed=0):
    generator = np.random.default_rng(seed)
    tree = random_tree("chain", N, generator, joints, damping=0.2)
    return tree, tree.random_configuration(generator), generator.normal(size=tree.nv)


@pytest.mark.parametrize("joints", CHAINS)
@pytest.mark.parametrize("N", [1, 2, 3, 7, 12])
def test_the_algorithms_for_chains_give_the_matrix_and_the_bias_of_every_tree(joints, N):
    tree, q, v = chain(joints, N, seed=N)
    true = mechanics.mass_matrix(tree, q)
    for algorithm in ALGORITHMS:
        assert np.abs(mechanics.mass_matrix(tree, q, algorithm=algorithm) - true).max() < 1e-13 * np.abs(true).max()
    b = mechanics.bias(tree, q, v)
    assert np.abs(mechanics.bias(tree, q, v, algorithm="yaskevich") - b).max() < 1e-13 * (1.0 + np.abs(b).max())


def test_batches_go_through_every_algorithm():
    tree, _, v = chain((Revolute, Prismatic), 4)
    q = np.random.default_rng(1).normal(size=(2, 3, 4))
    for algorithm in ALGORITHMS:
        assert np.allclose(
            mechanics.mass_matrix(tree, q, algorithm=algorithm), mechanics.mass_matrix(tree, q), rtol=0, atol=1e-13
        )
    assert np.allclose(
        mechanics.bias(tree, q, v, algorithm="yaskevich"), mechanics.bias(tree, q, v), rtol=0, atol=1e-11
    )


def test_the_printed_recursion_14b_is_wrong_from_three_joints_on():
    """M2 with m_{j+1} r_{i,j+1} where the accumulated moment belongs: exact for two joints, far off beyond."""
    errors = []
    for N in (2, 3, 6):
        tree, q, _ = chain((Revolute,), N)
        x = serial_chain(tree, *mechanics.body_poses(tree, q))
        r = distances(x)
        wrong = np.zeros((N, N))
        for i in range(N):
            for j in range(i, N):
                extra = np.zeros((3, 3))
                for k in range(j + 1, N):  # what the accumulated moment has and the print has not
                    beyond = sum(x.m[l] * np.array(r[i, l]) for l in range(k, N)) - x.m[k] * np.array(r[i, k])
                    step = np.array(r[k - 1, k])
                    extra += (beyond @ step) * np.eye(3) - np.outer(step, beyond)
                wrong[i, j] = wrong[j, i] = np.array(x.e[i]) @ extra @ np.array(x.e[j])
        errors.append(np.abs(wrong).max() / np.abs(mechanics.mass_matrix(tree, q)).max())
    assert errors[0] == 0.0
    assert min(errors[1:]) > 0.05


@pytest.mark.parametrize(
    ("function", "row"),
    [
        ("yaskevich", "Yaskevich corrected, counted"),
        ("stepanenko", "Stepanenko, counted"),
        ("composite", "composite rigid body, counted"),
        ("kosynka", "kosynka (block-triangular), counted"),
    ],
)
def test_the_table_of_counts_is_what_a_counting_scalar_finds(function, row):
    for N in (3, 6, 9):
        tree, q, _ = chain((Revolute,), N)
        x, tally = serial_chain(tree, *mechanics.body_poses(tree, q)), Tally()
        vectors = {
            name: [tuple(tally.array(np.array(v))) for v in getattr(x, name)] for name in ("e", "r", "c", "inertia")
        }
        counted = Chain(x.rotary, vectors["e"], vectors["r"], list(tally.array(x.m)), vectors["c"], vectors["inertia"])
        rows = SERIAL[function](counted)
        assert (tally.multiplications, tally.additions) == mass_matrix_operations(row, N)
        assert float(rows[-1][0]) == pytest.approx(mechanics.mass_matrix(tree, q)[-1, 0], rel=1e-12)


KERNELS = {
    "TSP": (tsp.tsp, lambda t: Plan(t.parameters, tsp.tsp_structure(t), t.work_shape, tsp.tsp_size(t))),
    "OSP": (osp.osp, osp_plan),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("algorithm", KERNELS)
def test_hamiltons_equations_by_projection_are_those_of_the_recursion(algorithm, shape):
    """Eight states in lanes and one alone, every kind of joint, prescribed motions, forces."""
    generator = np.random.default_rng(3)
    tree = random_tree(shape, 9, generator, JOINTS, damping=0.1)
    q = np.array([tree.random_configuration(generator) for _ in range(9)])
    p, tau, wrenches = (
        generator.normal(size=tree.nv),
        generator.normal(size=tree.nv),
        generator.normal(size=(len(tree), 6)),
    )
    for loads in ((), (wrenches, tau)):
        true = mechanics.hamiltonian_rhs(tree, q, p, *loads, t=0.4)
        for found, expected in zip(
            mechanics.hamiltonian_rhs(tree, q, p, *loads, t=0.4, algorithm=algorithm), true, strict=True
        ):
            assert np.abs(found - expected).max() < 1e-9 * (1.0 + np.abs(expected).max())


@pytest.mark.parametrize("algorithm", KERNELS)
def test_the_kernels_of_the_projections_give_the_same_bits_in_lanes_compiled_and_interpreted(algorithm):
    generator = np.random.default_rng(5)
    tree = random_tree("random", 9, generator, JOINTS)
    kernel, plan = KERNELS[algorithm][0], KERNELS[algorithm][1](tree)
    y = [
        np.concatenate([tree.random_configuration(generator), generator.normal(size=2 * tree.nv + 6 * len(tree))])
        for _ in range(8)
    ]
    lanes, out, one = lane_array(len(y[0])), lane_array(plan.size), np.zeros(plan.size)
    lanes[:] = np.array(y).T
    kernel(0.4, lanes, plan.parameters, plan.structure, lane_array(*plan.work_shape), out)
    rates = slice(tree.nq, tree.nq + 2 * tree.nv)
    kernel(0.4, y[3], plan.parameters, plan.structure, np.full(plan.work_shape, 1e9), one)
    assert np.array_equal(out[rates, 3], one[rates])
    interpreted = np.zeros(plan.size)
    kernel.python(0.4, y[3], plan.parameters, plan.structure, np.zeros(plan.work_shape), interpreted)
    assert np.array_equal(interpreted[rates], one[rates])


def test_bodies_without_full_inertia_are_refused_by_osp_only():
    massless = Tree(
        [Body("a", Revolute()), Body("b", Revolute((1, 0, 0)), "a", inertia=random_inertia(np.random.default_rng(0)))]
    )
    with pytest.raises(ValueError, match="the inertia of body 'a' cannot be inverted; use 'ERA' or 'TSP'"):
        mechanics.hamiltonian_rhs(massless, [0.1, 0.2], [1.0, 2.0], algorithm="OSP")
    true = mechanics.hamiltonian_rhs(massless, [0.1, 0.2], [1.0, 2.0])
    assert np.allclose(
        mechanics.hamiltonian_rhs(massless, [0.1, 0.2], [1.0, 2.0], algorithm="TSP"), true, rtol=0, atol=1e-12
    )


def test_power_is_the_rate_of_the_energy():
    tree, q, v = chain((Revolute, Prismatic), 5)
    generator = np.random.default_rng(4)
    tau, wrenches = generator.normal(size=5), generator.normal(size=(5, 6))
    a = mechanics.forward_dynamics(tree, q, v, tau, wrenches)
    h = 1e-4
    E = [mechanics.energy(tree, q + s * v + 0.5 * s * s * a, v + s * a) for s in (-2 * h, -h, h, 2 * h)]
    assert mechanics.power(tree, q, v, tau, wrenches) == pytest.approx(
        (E[0] - 8 * E[1] + 8 * E[2] - E[3]) / (12 * h), rel=1e-8
    )


def test_what_an_algorithm_does_not_take_is_said():
    branched = random_tree("star", 3, np.random.default_rng(0))
    with pytest.raises(ModelError, match="'body_2': hangs on 'body_0': the tree is not a serial chain"):
        mechanics.mass_matrix(branched, np.zeros(3), algorithm="yaskevich")
    tree, q, v = chain((JOINTS[-3],), 2)
    with pytest.raises(ModelError, match="expected a chain of rotary and sliding joints"):
        mechanics.mass_matrix(tree, q, algorithm="stepanenko")
    with pytest.raises(ValueError, match="algorithm: 'lu', expected one of crba"):
        mechanics.mass_matrix(tree, q, algorithm="lu")
    with pytest.raises(ValueError, match="algorithm: 'era', expected 'ERA', 'TSP' or 'OSP'"):
        mechanics.hamiltonian_rhs(tree, q, v, algorithm="era")
    with pytest.raises(ValueError, match="not taken by algorithm='yaskevich'"):
        mechanics.bias(branched, np.zeros(3), np.zeros(3), np.zeros((3, 6)), algorithm="yaskevich")
