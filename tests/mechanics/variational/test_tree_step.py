"""The variational step of a tree: what it is, and what it keeps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import derivative, energy_drift, measured_order, symmetry_defect, symplectic_defect
from integrators.analysis.canonical import two_form
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.tree_variational import tree_variational
from integrators.testing import group_distance
from liegroup.formulas import so3
from liegroup.table import EXP, increment, retract
from mechanics import Body, Tree, dynamics
from mechanics.joints import Revolute
from mechanics.problems.tree import hamiltonian_problem
from mechanics.testing import EXAMPLES, random_inertia, random_rotation, random_tree
from mechanics.variational import reference
from mechanics.variational.body_maps import cayley_rotation_matrix
from mechanics.variational.gibbs import compose
from mechanics.variational.matrices import apply_symmetric

MAPS = ("split", "splitexp", "cayley", "exp")
EVERY_MAP = pytest.mark.parametrize("map_name", MAPS)
STARTS = [*product(("violent", "drifting"), MAPS), ("geared", "split")]
EVERY_START = pytest.mark.parametrize(("which", "map_name"), STARTS)
H = 0.02


@pytest.mark.parametrize("size", [1e-9, 1e-3, 0.5, 3.0])
def test_the_matrix_of_a_turn_is_the_derivative_of_its_momentum(size):
    """δP = N η for a ⊕ η, by complex steps."""
    rng = np.random.default_rng(0)
    a, J = tuple(size * rng.normal(size=3)), tuple(rng.normal(size=6))
    found = np.reshape(cayley_rotation_matrix(a, J), (3, 3))
    for k in range(3):
        moved = compose(a, tuple(1e-30j * np.eye(3)[k]))
        P = so3.dcayinv_right_transpose(moved, apply_symmetric(J, moved))
        assert np.abs(np.imag(P) / 1e-30 - found[:, k]).max() < 1e-14 * np.abs(found).max()


def one_joint(kind, generator):
    """A revolute body, a body on the joint in question, and a revolute body on it: the joint has a parent and a
    child.
    """
    joints = [Revolute((1, 0, 2)), EXAMPLES[kind](generator), Revolute((0, 1, 0))]
    return Tree(
        [
            Body(
                f"b{i}",
                joint,
                f"b{i - 1}" if i else None,
                position=generator.uniform(-0.3, 0.3, 3),
                rotation=random_rotation(generator),
                inertia=random_inertia(generator),
            )
            for i, joint in enumerate(joints)
        ],
        kind.__name__,
        gravity=(1.0, -2.0, -9.0),
    )


def start_of(tree, generator, t=0.0):
    return hamiltonian_problem(tree, tree.random_configuration(generator), generator.normal(size=tree.nv), t=t)


def moves(problem):
    """Coordinates at a point of T*G: retract and increment by exp."""

    def onward(y, x):
        out = np.zeros(problem.n)
        retract(problem.table, EXP, np.array(y), np.array(x), out)
        return out

    def back(y, z):
        out = np.zeros(problem.dimension)
        increment(problem.table, EXP, np.array(y), np.array(z), out)
        return out

    return onward, back


# --- the equations ----------------------------------------------------------------------------------------------------


@EVERY_MAP
@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda k: k.__name__)
def test_one_step_satisfies_the_discrete_euler_lagrange_equations(kind, map_name):
    """p₀ = −D₁ L_d and p₁ = D₂ L_d, by complex steps of the discrete Lagrangian."""
    generator, t = np.random.default_rng(7), 0.3
    tree = one_joint(kind, generator)
    problem = start_of(tree, generator, t)
    y = step_map(problem, tree_variational(map=map_name), t)(problem.y0, H)
    p0, p1 = reference.momenta(tree, map_name, t, H, problem.y0[: tree.nq], y[: tree.nq])
    scale = max(1.0, np.abs(problem.y0[tree.nq :]).max())
    assert np.abs(p0 - problem.y0[tree.nq :]).max() < 2e-13 * scale
    assert np.abs(p1 - y[tree.nq :]).max() < 2e-13 * scale


@pytest.mark.parametrize(("seed", "armature"), [(0, 0.0), (1, 0.5), (2, 0.5)])
def test_the_same_on_random_trees_with_every_joint(seed, armature):
    generator = np.random.default_rng(seed)
    tree = random_tree("random", 12, generator, tuple(EXAMPLES), armature=armature)
    problem = start_of(tree, generator)
    y = step_map(problem, find("TREE_VARIATIONAL"))(problem.y0, 0.01)
    p0, p1 = reference.momenta(tree, "split", 0.0, 0.01, problem.y0[: tree.nq], y[: tree.nq])
    scale = max(1.0, np.abs(problem.y0[tree.nq :]).max())
    assert np.abs(p0 - problem.y0[tree.nq :]).max() < 1e-12 * scale
    assert np.abs(p1 - y[tree.nq :]).max() < 1e-12 * scale


FIVE_LINKS = {
    "split": (
        [0.3406861167371807, 0.3646666839981147, 0.05664165294493974, -0.3063586468058768, -0.3865581099348767],
        [0.4992513694849121, -0.1946619918124017, -0.0002449694379948983, 0.08007350572334804, -0.02177533561443959],
    ),
    "cayley": (
        [0.3406860812305151, 0.3646666321832606, 0.05664141518096657, -0.3063586410750552, -0.386558130497162],
        [0.4992513694849121, -0.1946619875730668, -0.0002449928109290837, 0.08007351952980936, -0.02177533038519929],
    ),
    "exp": (
        [0.340686106460254, 0.3646666687361755, 0.05664158073452477, -0.3063586465496108, -0.3865581210104704],
        [0.4992513694849121, -0.1946619906012367, -0.0002449763363420782, 0.08007350978850413, -0.02177533407234684],
    ),
}
"""(q, p) of the chain of five after one step of 0.02: the discrete Lagrangian in 40 digits."""


@pytest.mark.parametrize("map_name", FIVE_LINKS)
def test_five_links_after_one_step(trees, map_name):
    problem = trees.violent(5)
    y = step_map(problem, tree_variational(map=map_name))(problem.y0, H)
    assert np.abs(y - np.concatenate(FIVE_LINKS[map_name])).max() < 1e-14


def test_joint_damping_takes_half_of_its_impulse_at_either_end(trees):
    """p₀ − (c/2) D = −D₁ L_d, p₁ + (c/2) D = D₂ L_d with D = 2 tan(Δq/2)."""
    tree = trees.chain(3, damping=0.4)
    problem = hamiltonian_problem(tree, [0.3, -0.2, 0.5], [1.0, -2.0, 0.5])
    y = step_map(problem, find("TREE_VARIATIONAL"))(problem.y0, H)
    p0, p1 = reference.momenta(tree, "split", 0.0, H, problem.y0[:3], y[:3])
    impulse = 0.2 * 2 * np.tan((y[:3] - problem.y0[:3]) / 2)
    assert np.abs(p0 - (problem.y0[3:] - impulse)).max() < 1e-13
    assert np.abs(p1 - (y[3:] + impulse)).max() < 1e-13


# --- order ------------------------------------------------------------------------------------------------------------


def order(problem, method, counts, end=0.2):
    reference_ = integrate(problem, "SCIPY_DOP853", (0, end), rtol=1e-13, atol=1e-14).y[-1]
    return measured_order(
        lambda n: integrate(problem, method, (0, end), end / n, progress=False).y[-1],
        counts,
        reference_,
        lambda y, z: group_distance(problem.table, y, z),
        1e-11,
    ).order


@EVERY_MAP
def test_order_two(trees, map_name):
    assert abs(order(trees.violent(5), tree_variational(map=map_name), [20, 40, 80]) - 2) < 0.1


@pytest.mark.parametrize(
    ("name", "counts", "end"),
    [
        ("TREE_VARIATIONAL", [20, 40, 80], 0.2),
        ("TREE_VARIATIONAL_SUZUKI4", [8, 16, 32], 0.2),
        ("TREE_VARIATIONAL_SOFSPA6", [4, 6, 8], 0.2),
        ("TREE_VARIATIONAL_KAHANLI6", [8, 10, 12], 0.2),
        ("TREE_VARIATIONAL_KAHANLI8", [5, 6, 7], 0.4),
        ("TREE_VARIATIONAL_SOFSPA10", [6, 7, 8], 0.5),
    ],
)
def test_compositions_have_their_order(trees, name, counts, end):
    method = find(name)
    assert abs(order(trees.violent(5), method, counts, end) - method.order) < 0.25


@pytest.mark.parametrize("seed", range(2))
def test_order_two_with_all_joints_damping_and_prescribed_motions(seed):
    generator = np.random.default_rng(seed)
    tree = random_tree("random", 8, generator, tuple(EXAMPLES), damping=0.05, armature=0.3 * seed)
    problem = hamiltonian_problem(tree, tree.random_configuration(generator), 0.3 * generator.normal(size=tree.nv))
    assert abs(order(problem, find("TREE_VARIATIONAL"), [100, 200, 400], 0.1) - 2) < 0.1


# --- structure --------------------------------------------------------------------------------------------------------


@EVERY_START
def test_one_step_preserves_the_canonical_two_form(trees, which, map_name):
    problem = trees.start(which)
    step = step_map(problem, tree_variational(map=map_name))
    J = derivative(lambda y: step(y, H), problem.y0, problem.dimension, *moves(problem), delta=2.0**-6)
    after = two_form(problem, step(problem.y0, H))
    assert symplectic_defect(J, two_form(problem, problem.y0), after) < 2e-11 * max(1.0, np.abs(after).max())


@EVERY_START
def test_a_step_forward_and_a_step_back_return(trees, which, map_name):
    problem = trees.start(which)
    step = step_map(problem, tree_variational(map=map_name))
    assert symmetry_defect(step, problem.y0, H) < 2e-14 * np.abs(problem.y0).max()


@pytest.mark.parametrize(("which", "map_name"), STARTS[len(MAPS) :])
def test_total_momenta_of_a_floating_tree_are_exact(trees, which, map_name):
    solution = integrate(trees.start(which), tree_variational(map=map_name), (0, 100), 0.01)
    assert solution.success, solution.message
    for axis in "xyz":
        assert solution.error(f"momentum_{axis}", relative=False) < 3e-13
        assert solution.error(f"angular_momentum_{axis}", relative=False) < 3e-11


@pytest.mark.slow
def test_total_momenta_of_a_floating_tree_are_exact_over_a_million_steps(trees):
    solution = integrate(trees.drifting(), "TREE_VARIATIONAL", (0, 10000), 0.01, save_every=10000)
    assert solution.success, solution.message
    for axis in "xyz":
        assert solution.error(f"momentum_{axis}", relative=False) < 3e-12


@pytest.mark.parametrize("map_name", ["split", "splitexp"])
def test_the_mass_centre_of_a_floating_tree_moves_uniformly(trees, map_name):
    """Where total linear momentum over total mass takes it, although the bodies swing about."""
    problem, tree = trees.drifting(), trees.floating()
    solution = integrate(problem, tree_variational(map=map_name), (0, 20), 0.02, save_every=1000)
    start, end = (dynamics.centre_of_mass(tree, y[: tree.nq]) for y in (solution.y[0], solution.y[-1]))
    momentum = np.array([solution[f"momentum_{axis}"][0] for axis in "xyz"])
    assert np.abs(end - start - 20 * momentum / tree.mass).max() < 1e-11


def test_energy_is_bounded_without_slope(trees):
    solution = integrate(trees.violent(5), "TREE_VARIATIONAL", (0, 100), 2e-3, save_every=20)
    rk4 = integrate(trees.violent(5), "RKMK4", (0, 100), 1e-2, save_every=20)
    bounded, leaving = (energy_drift(x.t, x["energy"]) for x in (solution, rk4))
    assert solution.error("energy", relative=False) < 0.05
    assert abs(bounded.slope) * 100 < 0.1 * bounded.band
    assert abs(leaving.slope) * 100 > 0.5 * leaving.band, "the ruler sees a drift where there is one"
