"""The space manipulator: what it keeps, and that its number is checked."""

import numpy as np
import pytest

import mechanics
from mechanics.systems.bodies.space_manipulator import space_manipulator, space_manipulator_tree


def test_nothing_pushes_the_floating_arm():
    """d/dt of momentum and energy along the motion is zero, by differences of fourth order."""
    tree, problem = space_manipulator_tree(free_base=True), space_manipulator()
    assert problem.invariant_names[0] == "energy"
    assert len(problem.invariant_names) == 7
    q, p = np.split(np.asarray(problem.y0), [tree.nq])
    h = 1e-3
    v, p_dot = mechanics.hamiltonian_rhs(tree, q, p)
    a = mechanics.forward_dynamics(tree, q, v)
    steps = np.array([-2.0, -1.0, 1.0, 2.0]) * h
    states = [(tree.group.compose(q, tree.group.exp(s * v + 0.5 * s * s * a)), v + s * a) for s in steps]
    values = np.array(
        [problem.invariant_values(0.0, np.concatenate([x, mechanics.momentum(tree, x, u)])) for x, u in states]
    )
    rates = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert np.abs(rates).max() < 1e-7 * np.abs(values).max()
    assert np.abs(p_dot).max() > 1e-3  # though the momenta of the joints change


def test_the_reach_is_that_of_its_links():
    tree = space_manipulator_tree()
    assert tree.mass == pytest.approx(5 * 42.5 + 2 * 70.0)
    assert np.allclose(mechanics.body_poses(tree, tree.neutral())[0][-1], (10.0, 1.0, 1.5))
    with pytest.raises(ValueError, match="speed"):
        space_manipulator(speed=np.nan)
