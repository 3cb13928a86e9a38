"""The study of stiff mechanisms: its step is one of the trapezoidal rule, its iterations as fast as they must be."""

import numpy as np
import pytest

import mechanics
from mechanics.derivatives import generalised_forces
from studies.stiff.arms import HOME, joined
from studies.stiff.question import JACOBIANS, Step, StiffConfig, radius, run


def test_the_step_is_that_of_the_trapezoidal_rule():
    h, mechanism = 1e-3, joined(1e5, False)
    step = Step(mechanism, h)
    q, iterations = step.solve(0)
    assert iterations is not None
    _, v, a = step.state(q)
    start = 0.5 * np.cos(np.arange(8.0))
    force = generalised_forces(mechanism, HOME, start).force
    before = mechanics.forward_dynamics(mechanism.tree, HOME, start, force)
    assert np.abs(q - HOME - h / 2 * (start + v)).max() < 1e-15
    assert np.abs(v - start - h / 2 * (before + a)).max() < 1e-10
    assert np.abs(step.residual(q)).max() < 1e-9 * np.abs(step.residual(step.guess)).max()


def test_bushings_are_relaxed_at_home():
    for on_base in (False, True):
        assert np.abs(generalised_forces(joined(1e6, on_base), HOME, 0 * HOME).force).max() < 1e-9


def test_the_quick_version_answers():
    result = run(StiffConfig(quick=True, progress=False))
    found = {(r.system, r.jacobian): r for r in result.rows}
    assert result.contraction.min() >= 0.0
    assert result.contraction.max() < 1.0
    for system in ("between arms", "on the base"):
        counts = [found[system, name].iterations for name in JACOBIANS]
        assert counts == sorted(counts)
    assert found["on the base", "block-diagonal"].contraction == pytest.approx(
        found["on the base", "approximate"].contraction, rel=1e-6
    )
    assert found["between arms", "block-diagonal"].contraction > 10 * found["between arms", "approximate"].contraction
    assert found["on the base", "exact"].cg_steps == 1


def test_radius_of_what_is_exact_is_nothing():
    assert radius(np.diag([1.0, 2.0]), np.diag([1.0, 2.0])) == 0.0
    assert radius(np.diag([1.0, 2.0]), np.diag([2.0, 2.0])) == pytest.approx(0.5)
