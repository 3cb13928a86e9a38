"""Straight-line code of a model repeats the kernel for all models, bit by bit."""

import mpmath
import numpy as np
import pytest

import mechanics
from integrators import integrate
from liegroup.compile import cache_directory, lane_array
from mechanics.algorithms.era import era
from mechanics.joints import JOINTS, Fixed, Free, Planar, Prismatic, Revolute, Rheonomic, Spherical
from mechanics.reference.system import System
from mechanics.testing import SHAPES, random_tree

TIME = 0.7
TREES = [
    *(pytest.param(shape, JOINTS, None, 8, id=shape) for shape in SHAPES),
    *(pytest.param("chain", (kind,), None, 4, id=kind.__name__) for kind in JOINTS if kind is not Fixed),
    pytest.param("random", (Revolute, Prismatic, Spherical, Planar), Free(), 8, id="free"),
    pytest.param("random", JOINTS, None, 7, id="armature"),
]


def example(shape, joints, root, count, seed=0):
    """With seven bodies they have armature."""
    generator = np.random.default_rng(seed)
    tree = random_tree(shape, count, generator, joints, root, damping=0.3, armature=0.4 * (count == 7))
    states = [np.concatenate([tree.random_configuration(generator), generator.normal(size=tree.nv)]) for _ in range(8)]
    return tree, np.array(states)


def evaluate(function, tree, y):
    out = np.zeros(2 * tree.nv)
    function(TIME, y, tree.parameters, tree.structure, np.zeros(tree.work_shape), out)
    return out


@pytest.fixture(scope="module")
def compiled():
    """A small tree that turns about an axis and a point and is moved in time, and its code."""
    tree, states = example("random", (Revolute, Spherical, Rheonomic), None, 3, seed=62)
    assert {type(b.joint) for b in tree.bodies} == {Revolute, Spherical, Rheonomic}
    return mechanics.compile_model(tree), states


@pytest.mark.parametrize("root", [None, Free()], ids=["held", "free"])
def test_motions_run_backwards_to_the_last_bit(root):
    """v(q, −p) = −v(q, p) and ṗ(q, −p) = ṗ(q, p): what rounding leaves of a drift changes its sign with the motion."""
    generator = np.random.default_rng(7)
    tree = random_tree("random", 6, generator, (Revolute, Prismatic, Spherical), root, armature=0.2 if root else 0.0)
    for _ in range(20):
        q, p = tree.random_configuration(generator), generator.normal(size=tree.nv)
        there, back = (np.split(evaluate(era, tree, np.concatenate([q, s * p])), 2) for s in (1.0, -1.0))
        assert np.array_equal(there[0], -back[0])
        assert np.array_equal(there[1], back[1])


@pytest.mark.parametrize(("shape", "joints", "root", "count"), TREES)
def test_the_source_gives_the_numbers_of_the_kernel(shape, joints, root, count):
    tree, states = example(shape, joints, root, count)
    model = mechanics.compile_model(tree, limit=10_000)
    for y in states[:3]:
        found = evaluate(model.field.python, tree, y)
        assert np.isfinite(found).all()
        assert np.array_equal(found, evaluate(era.python, tree, y))


def test_compiled_and_in_lanes_the_bits_are_the_same(compiled):
    model, states = compiled
    tree = model.tree
    lanes, out = lane_array(states.shape[1]), lane_array(2 * tree.nv)
    lanes[:] = states.T
    model.field(TIME, lanes, tree.parameters, tree.structure, lane_array(*tree.work_shape), out)
    for y, values in zip(states, out.T, strict=True):
        assert np.array_equal(evaluate(model.field, tree, y), values)
        assert np.array_equal(evaluate(era, tree, y), values)
        assert np.array_equal(evaluate(model.field.python, tree, y), values)


def test_the_code_agrees_with_the_equations_in_50_digits(compiled):
    model, states = compiled
    tree, (q, p) = model.tree, np.split(states[0], [model.tree.nq])
    many = np.vectorize(mpmath.mpf, otypes=[object])
    with mpmath.workdps(50):
        true = System(tree, many(q), many(p), mpmath.mpf(TIME)).extended()
    for found, exact in zip(model.rhs(q, p, TIME), (true.v, true.p_dot), strict=True):
        exact = exact.astype(float)
        assert np.abs(found - exact).max() < 1e-12 * (1.0 + np.abs(exact).max())


def test_batches_are_the_states_one_by_one(compiled):
    model, states = compiled
    q, p = np.split(np.concatenate([states, states[:3]]), [model.tree.nq], axis=1)
    found = model.rhs(q, p, TIME)
    for x, true in zip(found, mechanics.hamiltonian_rhs(model.tree, q, p, t=TIME), strict=True):
        assert x.shape == (11, model.tree.nv)
        assert np.array_equal(x, true)


def test_runs_are_those_of_the_kernel_one_by_one_and_in_lanes():
    tree, generator = random_tree("chain", 3, np.random.default_rng(5)), np.random.default_rng(6)
    q, v = generator.normal(size=(2, 9, 3))
    found = integrate(mechanics.compile_model(tree).problem(q, v), "RKMK4", (0.0, 1.0), step=1e-2)
    true = integrate(mechanics.hamiltonian_problem(tree, q, v), "RKMK4", (0.0, 1.0), step=1e-2)
    assert np.array_equal(found.y, true.y)
    assert np.array_equal(found.error("energy"), true.error("energy"))


def test_robots_move_as_pinocchio_says():
    pin = pytest.importorskip("pinocchio")
    from mechanics import to_pinocchio

    tree = mechanics.load_model("ur5")
    other, generator = to_pinocchio(tree), np.random.default_rng(0)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    p = mechanics.momentum(tree, q, v)
    found, rate = mechanics.compile_model(tree).rhs(q, p)
    assert np.allclose(found, v, rtol=1e-11, atol=1e-12)
    data, h = other.model.createData(), 1e-5
    a = pin.aba(other.model, data, other.configuration(q), v, np.zeros(tree.nv))
    true = (mechanics.momentum(tree, q + h * v, v + h * a) - mechanics.momentum(tree, q - h * v, v - h * a)) / (2 * h)
    assert np.allclose(rate, true, rtol=1e-7, atol=1e-7)


def test_a_sliding_chain_has_constant_inertia():
    """Nothing turns, so that M⁻¹ is a matter of numbers: no division is left, and less than a hundredth of the work."""
    model = mechanics.compile_model(random_tree("chain", 10, np.random.default_rng(0), (Prismatic,)))
    assert "/" not in model.source.split("def field")[1]
    assert model.operations < 300


def test_equal_trees_share_their_code_and_it_is_kept():
    trees = [random_tree("chain", 2, np.random.default_rng(1)) for _ in range(2)]
    first, second = map(mechanics.compile_model, trees)
    assert first.field is second.field
    assert (cache_directory() / "generated" / f"{first.field.__module__}.py").read_text(
        encoding="utf-8"
    ) == first.source
    assert mechanics.compile_model(trees[0].with_gravity((0, 0, 0))).field is not first.field


def test_trees_that_are_too_large_are_refused():
    tree = random_tree("chain", 3, np.random.default_rng(1))
    with pytest.raises(ValueError, match=r"'chain of 3'.*limit=100"):
        mechanics.compile_model(tree, limit=100)
