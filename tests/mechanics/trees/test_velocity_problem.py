"""The motion of a tree in (q, v): the field is forward dynamics, the path that in (q, p)."""

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import hamiltonian_problem, velocity_problem
from mechanics.joints import Free, Revolute, Spherical
from mechanics.model.tree import Body, Tree
from mechanics.testing import EXAMPLES, SHAPES, random_inertia, random_tree


@pytest.mark.parametrize("shape", SHAPES)
def test_the_field_is_forward_dynamics(shape):
    """Every kind of joint, prescribed motions, damping and armature."""
    g = np.random.default_rng(SHAPES.index(shape))
    tree = random_tree(shape, 14, g, tuple(EXAMPLES), damping=0.1, armature=0.3 * (shape == "random"))
    q, v, t = tree.random_configuration(g), g.normal(size=tree.nv), 0.3
    problem = velocity_problem(tree, q, v, t)
    found = problem.velocity(t, problem.y0)
    wanted = mechanics.forward_dynamics(tree, q, v, t=t)
    assert np.array_equal(found[: tree.nv], v)
    assert np.abs(found[tree.nv :] - wanted).max() < 1e-12 * np.abs(wanted).max()
    if not tree.is_rheonomic:
        assert problem.invariant_values(t, problem.y0)[0] == pytest.approx(mechanics.energy(tree, q, v), rel=1e-13)


def made(gravity=(0.0, 0.0, -9.81)):
    g = np.random.default_rng(5)
    return Tree(
        [
            Body("hull", Free(), inertia=random_inertia(g)),
            Body("arm", Revolute((0.0, 1.0, 0.0)), "hull", (0.1, 0.0, 0.2), inertia=random_inertia(g)),
            Body("ball", Spherical(), "arm", (0.0, 0.1, 0.3), inertia=random_inertia(g)),
        ],
        gravity=gravity,
    )


def test_both_problems_describe_one_motion():
    tree, g = made(), np.random.default_rng(1)
    q, v = tree.random_configuration(g), g.normal(size=tree.nv)
    in_v, in_p = (
        integrate(pose(tree, q, v), "RKMK4", (0.0, 0.2), 1e-3) for pose in (velocity_problem, hamiltonian_problem)
    )
    assert np.abs(in_v["q"][-1] - in_p["q"][-1]).max() < 1e-8
    p = mechanics.momentum(tree, in_v["q"][-1], in_v["v"][-1])
    assert np.abs(p - in_p["p"][-1]).max() < 1e-7
    assert in_v.error("energy") < 1e-8


def test_lanes_give_the_bits_of_one_trajectory():
    tree, g = made(), np.random.default_rng(2)
    q, v = np.array([tree.random_configuration(g) for _ in range(3)]), g.normal(size=(3, tree.nv))
    together = integrate(velocity_problem(tree, q, v), "RKMK4", (0.0, 0.1), 0.01)
    for k in range(3):
        assert np.array_equal(together.y[k], integrate(velocity_problem(tree, q[k], v[k]), "RKMK4", (0.0, 0.1), 0.01).y)


@pytest.mark.slow
def test_the_default_method_takes_it():
    tree, g = made(), np.random.default_rng(3)
    run = integrate(velocity_problem(tree, tree.random_configuration(g), g.normal(size=tree.nv)), (0.0, 0.5))
    assert run.success, run.message
    assert run.error("energy") < 1e-13


def test_bad_input_is_named():
    tree = made()
    with pytest.raises(TypeError, match="multiplier_problem"):
        velocity_problem(mechanics.Mechanism(tree), tree.neutral())
    with pytest.raises(ValueError, match="v: "):
        velocity_problem(tree, tree.neutral(), np.zeros(3))
    with pytest.raises(ValueError, match="finite"):
        velocity_problem(tree, tree.neutral(), np.full(tree.nv, np.nan))
