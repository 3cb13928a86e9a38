"""Closure equations of a tree: G is the derivative of φ and the bias its second derivative, on spatial trees."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from mechanics import Body, Frame, Inertia, ModelError, Tree
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.loops import CLOSURES, distance, spherical
from mechanics.joints import Fixed, Free, Prismatic, Revolute

STEP = 1e-30j


def random_tree(seed=0):
    """Two branches of turns and slides about skew axes; every coordinate is a number."""
    rng = np.random.default_rng(seed)
    inertia = Inertia.about_com(1.0, rng.normal(size=3), np.eye(3))
    joints = [Revolute, Prismatic, Revolute, Revolute, Prismatic, Revolute]
    parents = [None, "b0", "b1", "b0", "b3", "b4"]
    bodies = [
        Body(f"b{i}", joint(tuple(rng.normal(size=3))), parent, position=rng.normal(size=3), inertia=inertia)
        for i, (joint, parent) in enumerate(zip(joints, parents, strict=True))
    ]
    return Tree(bodies)


def all_closures(seed=1):
    rng = np.random.default_rng(seed)
    frames = lambda body: Frame.with_axis(body, rng.normal(size=3), rng.normal(size=3))  # noqa: E731
    closures = [make(frames("b2"), frames("b5"), name) for name, make in CLOSURES.items() if name != "distance"]
    return [*closures, distance(frames("b1"), frames(None), 0.8, "rod")]


@pytest.fixture(scope="module")
def loop():
    equations = LoopEquations(random_tree(), all_closures())
    rng = np.random.default_rng(3)
    return equations, rng.normal(size=6), rng.normal(size=6)


def test_matrix_is_the_derivative_of_the_gap(loop):
    equations, q, _ = loop
    G = equations.matrix(q)
    differences = np.stack([equations.gap(q + STEP * e).imag / 1e-30 for e in np.eye(6)], axis=1)
    assert np.abs(G - differences).max() < 1e-13


@pytest.mark.parametrize("scalar", [complex, mpmath.mpf])
def test_the_matrix_of_numbers_of_any_kind_keeps_them_behind_a_body_that_does_not_move(loop, scalar):
    """The Jacobian of the first body holds no number of the configuration there."""
    equations, q, _ = loop
    tree = equations.tree
    under = [replace(body, parent="frame") if body.parent is None else body for body in tree.bodies]
    framed = LoopEquations(Tree([Body("frame", Fixed(), inertia=tree.bodies[0].inertia), *under]), all_closures())
    moved = q + STEP * np.arange(6) if scalar is complex else np.array([mpmath.mpf(x) / 3 for x in q])
    found, true = framed.matrix(moved), equations.matrix(moved)
    assert found.dtype == true.dtype
    assert (found == true).all()


def test_rate_is_the_matrix_times_the_velocity(loop):
    equations, q, v = loop
    assert np.abs(equations.rate(geometry(equations.tree, q, v)) - equations.matrix(q) @ v).max() < 1e-13


def test_bias_is_the_second_derivative_of_the_gap_along_constant_rates(loop):
    equations, q, v = loop
    second = (equations.matrix(q + STEP * v) @ v).imag / 1e-30
    assert np.abs(equations.bias(geometry(equations.tree, q, v)) - second).max() < 1e-12


def test_unknown_bodies_and_repeated_names_are_refused():
    tree = random_tree()
    with pytest.raises(ModelError, match="unknown body 'b9'"):
        LoopEquations(tree, [spherical(Frame("b9"), Frame("b1"))])
    with pytest.raises(ModelError, match="two closures of this name"):
        LoopEquations(tree, [spherical(Frame("b2"), Frame("b1"), "x"), spherical(Frame("b3"), Frame("b1"), "x")])


def test_free_bodies_take_quasi_velocities():
    """On SE(3) the matrix belongs to the body twist: φ along g exp(sV^) differentiates to G V."""
    import scipy.linalg

    from mechanics.algebra.spatial import skew

    tree = Tree([Body("a", Free(), inertia=Inertia.about_com(1.0, (0.0, 0.0, 0.0), np.eye(3)))])
    equations = LoopEquations(tree, [spherical(Frame(None, (1.0, 2.0, 3.0)), Frame("a", (0.3, -0.2, 0.5)))])
    rng = np.random.default_rng(0)
    q, V = np.concatenate([rng.normal(size=3), [0.5, 0.5, -0.5, 0.5]]), rng.normal(size=6)
    g = geometry(tree, q, V)
    hat = np.zeros((4, 4), dtype=complex)
    hat[:3, :3], hat[:3, 3] = skew(V[3:]), V[:3]
    step = scipy.linalg.expm(STEP * hat)
    moved = g.R[0] @ step[:3, :3] @ np.array([0.3, -0.2, 0.5]) + g.x[0] + g.R[0] @ step[:3, 3]
    assert np.abs(equations.matrix(q) @ V - moved.imag / 1e-30).max() < 1e-13
