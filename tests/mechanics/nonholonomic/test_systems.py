"""Every nonholonomic system against the equations with multipliers, by exact derivatives; lanes and interpreter bit by
bit.
"""

import numpy as np
import pytest

from liegroup.compile import WIDTH, lane_array
from mechanics.nonholonomic.testing import check_system, random_states
from mechanics.systems import NONHOLONOMIC

systems = pytest.mark.parametrize("name", NONHOLONOMIC)


@systems
def test_reduced_motion_satisfies_the_equations_with_multipliers(name):
    check_system(NONHOLONOMIC[name](), count=6, seed=1)


def forms(system):
    return {
        "reduced": (system.problem(), system.reduced),
        "constrained": (system.constrained_problem(), system.constrained),
    }


@systems
def test_compiled_lanes_and_interpreted_agree_bitwise(name):
    system = NONHOLONOMIC[name]()
    states = random_states(system, WIDTH, seed=2)
    for kind, (problem, functions) in forms(system).items():
        velocities = [u if kind == "reduced" else system.velocity(q, u) for q, u in states]
        y = np.stack([np.concatenate([q, v]) for (q, _), v in zip(states, velocities, strict=True)], axis=1)
        lanes = lane_array(*y.shape[:1])
        lanes[:] = y
        calls = {functions.field: problem.dimension, functions.invariants: problem.invariant_count}
        if functions.parts is not None:
            calls[functions.parts] = problem.parts_size
        for function, size in calls.items():
            out = lane_array(size)
            function.compiled_lanes(
                0.3, lanes, problem.parameters, problem.structure, lane_array(*problem.work_shape), out
            )
            for k in range(WIDTH):
                scalar, plain = np.zeros(size), np.zeros(size)
                work = np.zeros(problem.work_shape)
                function.compiled(0.3, y[:, k].copy(), problem.parameters, problem.structure, work, scalar)
                function.python(0.3, y[:, k].copy(), problem.parameters, problem.structure, work, plain)
                np.testing.assert_array_equal(out[:, k], scalar)
                np.testing.assert_array_equal(plain, scalar)


@systems
def test_quasi_velocities_and_velocities_translate_both_ways(name):
    system = NONHOLONOMIC[name]()
    for q, u in random_states(system, 3, seed=3):
        v = system.velocity(q, u)
        assert np.abs(system.residual(q, v)).max() < 1e-11 * (1 + np.abs(v).max())
        np.testing.assert_allclose(system.quasi_velocity(q, v), u, rtol=1e-9, atol=1e-9 * np.abs(u).max())
        assert system.rank_margin(q) > 1e-6


@systems
def test_multipliers_balance_the_motion(name):
    """M v̇ + r − D = −G + F + Aᵀλ with the λ the object reports, and v̇ that of the compiled field."""
    system = NONHOLONOMIC[name]()
    for q, u in random_states(system, 2, seed=4):
        v = system.velocity(q, u)
        acceleration, multipliers = system.multipliers(q, v)
        p = system.parts(q, v)
        left = p.mass @ acceleration + p.rate - p.kinetic + p.gradient - p.force
        scale = 1 + np.abs(left).max() + np.abs(p.rate).max() + np.abs(p.gradient).max()
        assert np.abs(left - p.rows.T @ multipliers).max() < 1e-9 * scale
        out = np.zeros(2 * system.n)
        work = np.zeros(system.constrained_problem().work_shape)
        system.constrained.field.compiled(0.0, np.concatenate([q, v]), system.parameters, system.structure, work, out)
        np.testing.assert_allclose(
            out[system.n :], acceleration, rtol=1e-8, atol=1e-8 * (1 + np.abs(acceleration).max())
        )
