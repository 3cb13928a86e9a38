"""The variational step of a tree as a map with derivatives by state, joint forces and step."""

from __future__ import annotations

from itertools import product

import mpmath
import numpy as np
import pytest

from integrators.analysis import derivative, symplectic_defect
from integrators.analysis.canonical import two_form
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.step_derivatives.linearised import linearised_step
from integrators.steppers.tree_variational import tree_variational
from liegroup.table import EXP, increment, retract
from mechanics import Body, JointData, Tree
from mechanics.joints import Revolute, Spherical
from mechanics.problems.tree import hamiltonian_problem
from mechanics.testing import EXAMPLES, random_inertia, random_rotation, random_tree
from mechanics.variational import reference

MAPS = ("split", "splitexp", "cayley", "exp")
EVERY_MAP = pytest.mark.parametrize("map_name", MAPS)
STARTS = [*product(("violent", "drifting"), MAPS), ("geared", "split")]
EVERY_START = pytest.mark.parametrize(("which", "map_name"), STARTS)
H, T = 0.02, 0.3


def derivatives_by_differences(problem, method, h, u, t):
    """∂(q₁, p₁)/∂(q₀, p₀, u, h) of the step with forces, by central differences of order eight."""
    n = problem.dimension // 2
    controls, end = list(range(n)), linearised_step(problem, method, problem.y0, h, u, range(n), t).y

    def mapped(x):
        y, after = np.zeros(problem.n), np.zeros(2 * n)
        retract(problem.table, EXP, np.array(problem.y0), np.array(x[: 2 * n]), y)
        moved = linearised_step(problem, method, y, h + x[-1], u + x[2 * n : 3 * n], controls, t).y
        increment(problem.table, EXP, end, moved, after)
        return after

    return derivative(mapped, np.zeros(3 * n + 1), 3 * n + 1, delta=0.2 * h)


def check(problem, method, h=H, t=T):
    n = problem.dimension // 2
    u = np.linspace(-1, 1, n)
    found = linearised_step(problem, method, problem.y0, h, u, range(n), t)
    J = derivatives_by_differences(problem, method, h, u, t)
    exact = np.column_stack([found.A, found.B, found.by_step])
    assert np.abs(found.B).max() > 1e-3
    assert np.abs(exact - J).max() < 1e-10 * max(1.0, np.abs(J).max())


# --- against differences of the step ----------------------------------------------------------------------------------


@EVERY_START
def test_derivatives_are_those_of_the_step_with_every_map(trees, which, map_name):
    check(trees.start(which), tree_variational(map=map_name), t=0.0)


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda k: k.__name__)
def test_the_same_with_every_joint(kind):
    """Damped, between two hinges; prescribed motions depend on the time of start and end."""
    g = np.random.default_rng(7)
    joints = [Revolute((1, 0, 2)), EXAMPLES[kind](g), Revolute((0, 1, 0))]
    bodies = [
        Body(f"b{i}", joint, f"b{i - 1}" if i else None, g.uniform(-0.3, 0.3, 3), random_rotation(g), random_inertia(g))
        for i, joint in enumerate(joints)
    ]
    tree = Tree(bodies, kind.__name__, gravity=(1.0, -2.0, -9.0))
    check(
        hamiltonian_problem(tree, tree.random_configuration(g), g.normal(size=tree.nv), t=T), find("TREE_VARIATIONAL")
    )


def test_the_same_on_a_damped_tree_of_all_joints_with_armature():
    g = np.random.default_rng(0)
    tree = random_tree("random", 8, g, tuple(EXAMPLES), damping=0.05, armature=0.3)
    check(
        hamiltonian_problem(tree, tree.random_configuration(g), 0.3 * g.normal(size=tree.nv), t=T),
        find("TREE_VARIATIONAL"),
        0.01,
    )


@pytest.mark.parametrize(
    "method", [find("TREE_VARIATIONAL_SUZUKI4"), tree_variational(turn=0.03, name="divided")], ids=lambda m: m.name
)
def test_compositions_and_divided_steps_are_differentiated_part_by_part(trees, method):
    check(trees.drifting(), method, t=0.0)


# --- against the definition -------------------------------------------------------------------------------------------


def small():
    g = np.random.default_rng(2)
    joints = [Spherical(), Revolute((1, 0, 2))]
    bodies = [
        Body(
            f"b{i}",
            joint,
            f"b{i - 1}" if i else None,
            g.uniform(-0.3, 0.3, 3),
            inertia=random_inertia(g),
            data=JointData(armature=g.uniform(0.0, 0.2, joint.n_v)),
        )
        for i, joint in enumerate(joints)
    ]
    tree = Tree(bodies, "small", gravity=(1.0, -2.0, -9.0))
    return tree, hamiltonian_problem(tree, tree.random_configuration(g), g.normal(size=tree.nv))


def test_it_solves_the_differentiated_equations_in_fifty_digits():
    """p₀ = −D₁ L_d(q₀, q₁), p₁ = D₂ L_d(q₀, q₁), both sides differentiated at the step's end points."""
    tree, problem = small()
    found, n = linearised_step(problem, "TREE_VARIATIONAL", problem.y0, H), tree.nv
    with mpmath.workdps(50):
        q0, q1 = (np.array([mpmath.mpf(x) for x in y[: tree.nq]]) for y in (problem.y0, found.y))
        h, inner, outer = mpmath.mpf(H), mpmath.mpf(10) ** -16, mpmath.mpf(10) ** -10

        def momenta(a, b):
            return np.concatenate(reference.momenta(tree, "split", mpmath.mpf(0), h, a, b, inner))

        by_start = reference.derivative(lambda q: momenta(q, q1), tree, q0, outer).T.astype(float)
        by_end = reference.derivative(lambda q: momenta(q0, q), tree, q1, outer).T.astype(float)
    A_q, A_p, zero, one = found.A[:n], found.A[n:], np.zeros((n, n)), np.eye(n)
    wanted = np.vstack([np.hstack([zero, one]), A_p])
    left = by_start @ np.hstack([one, zero]) + by_end @ A_q
    assert np.abs(left - wanted).max() < 3e-14 * np.abs(by_end).max() * np.abs(A_q).max()


# --- structure --------------------------------------------------------------------------------------------------------


@EVERY_START
def test_the_derivative_is_symplectic_to_rounding(trees, which, map_name):
    problem = trees.start(which)
    found = linearised_step(problem, tree_variational(map=map_name), problem.y0, H)
    after = two_form(problem, found.y)
    assert (
        symplectic_defect(found.A, two_form(problem, problem.y0), after)
        < 2e-14 * np.abs(after).max() * np.abs(found.A).max()
    )


def test_without_forces_it_ends_where_the_step_ends(trees):
    problem = trees.drifting()
    for name in ("TREE_VARIATIONAL", "TREE_VARIATIONAL_SOFSPA6"):
        assert np.array_equal(
            linearised_step(problem, name, problem.y0, H).y, step_map(problem, find(name))(problem.y0, H)
        )


def test_forces_do_work(trees):
    """A torque τ on one hinge of a weightless pair, at rest: p grows by hτ, all forces act as half kicks at either
    end.
    """
    problem = trees.drifting()
    y, u = problem.y0.copy(), np.array([0.7, -0.4])
    kicked = y.copy()
    kicked[-problem.dimension // 2 :][[6, 9]] += 0.5 * H * u
    end = step_map(problem, find("TREE_VARIATIONAL"))(kicked, H)
    end[-problem.dimension // 2 :][[6, 9]] += 0.5 * H * u
    assert np.abs(linearised_step(problem, "TREE_VARIATIONAL", y, H, u, [6, 9]).y - end).max() < 1e-14


# --- many states ------------------------------------------------------------------------------------------------------


@pytest.mark.slow  # of compiling
def test_many_states_in_lanes_are_the_same_as_one_by_one(trees):
    problem, g = trees.drifting(11), np.random.default_rng(1)
    states, u = np.asarray(problem.y0), g.normal(size=(11, 2))
    many = linearised_step(problem, "TREE_VARIATIONAL", states, H, u, [7, 8])
    for k in (0, 5, 10):
        one = linearised_step(problem, "TREE_VARIATIONAL", states[k], H, u[k], [7, 8])
        for found, single in zip(many, one, strict=True):
            assert np.array_equal(found[k], single)


def test_lanes_with_one_state_that_turns_too_far_are_run_one_by_one(trees):
    problem = trees.violent(5, 8)
    states = np.array(problem.y0)
    states[3, 5:] *= 40
    many = linearised_step(problem, "TREE_VARIATIONAL", states, H)
    one = linearised_step(problem, "TREE_VARIATIONAL", states[3], H)
    assert np.array_equal(many.A[3], one.A)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"u": [1.0], "controls": [5]}, "number below 5"),
        ({"u": [1.0, 2.0], "controls": [0]}, "one number per control"),
        ({"u": [1.0, np.nan], "controls": [0, 1]}, r"u\[1\] = nan: expected finite numbers"),
        ({"u": np.array([1.0 + 1e-30j]), "controls": [0]}, "u: complex numbers"),
        ({"u": [1.0], "controls": [0.5]}, "controls: 0.5, expected an integer"),
        ({"u": [1.0], "controls": 0}, "controls: 0, expected a sequence of numbers"),
        ({"u": [1.0], "controls": ["knee"]}, "controls: 'knee', expected an integer"),
        ({"t": "now"}, "t: 'now', expected a finite number"),
        ({"h": 0.0}, "h: 0.0, expected a finite number of seconds, not 0"),
        ({"h": np.nan}, "h: nan, expected a finite number of seconds, not 0"),
    ],
)
def test_what_does_not_fit_is_named(trees, arguments, words):
    problem = trees.violent(5)
    with pytest.raises((ValueError, TypeError), match=words):
        linearised_step(problem, "TREE_VARIATIONAL", problem.y0, **{"h": H} | arguments)


def test_a_step_that_fails_says_so(trees):
    problem = trees.violent(5)
    with pytest.raises(ArithmeticError, match="CHART_LEFT"):
        linearised_step(problem, tree_variational(turn=1e-4, divisions=0), problem.y0, H)
