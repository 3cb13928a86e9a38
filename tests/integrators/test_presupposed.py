"""Methods that go by H = ½ pᵀK p + V(t, q) say where a motion comes to what is not of that form."""

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from liegroup import rn
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.formulations import constrained_problem
from mechanics.joints import Revolute


def late(t, y):
    """A damper that comes in at t = 5."""
    return [y[1], -y[0] - 0.15 * (1.0 + np.tanh(40.0 * (t - 5.0))) * y[1]]


def layer(t, y):
    """Viscous beyond 1.5."""
    return [y[1], -y[0] - 0.5 * (1.0 + np.tanh(20.0 * (y[0] - 1.5))) * y[1]]


def heavy(t, y):
    """H = ½ p² (1 + s(q)) + ½ q²: lighter beyond 1.5."""
    s = np.tanh(20.0 * (y[0] - 1.5))
    return [y[1] * (1.5 + 0.5 * s), -y[0] - 0.25 * y[1] ** 2 * 20.0 * (1.0 - s**2)]


@pytest.mark.parametrize("method", ["SPLIT_SRKN6_11B", "SPLIT_STRANG", "LGVI_CAYLEY"])
@pytest.mark.parametrize(("field", "start"), [(late, [1.0, 0.0]), (layer, [0.0, 2.0]), (heavy, [0.0, 2.0])])
def test_what_the_start_does_not_show_is_a_doubt(method, field, start):
    for saved in ({}, {"t_eval": [10.0]}, {"save_every": 2000}):
        run = integrate(Problem(rn(2), start, field, canonical=True), method, (0.0, 10.0), 0.005, **saved)
        assert {doubt.name for doubt in run.doubts} & {"damping", "inertia"}, saved


@pytest.mark.parametrize("method", ["ALPHA", "NEWMARK"])
def test_methods_that_feel_dampers_are_asked_for_the_inertia_alone(method):
    problems = [Problem(rn(2), [0.0, 2.0], field, canonical=True) for field in (layer, heavy)]
    runs = [integrate(problem, method, (0.0, 10.0), 0.005) for problem in problems]
    assert runs[0].success
    assert "inertia" in {doubt.name for doubt in runs[1].doubts}


@pytest.mark.parametrize(("drag", "doubtful"), [(1e-7, True), (1e-10, False)])
def test_a_weak_drag_counts_by_what_it_takes_in_all(drag, doubtful):
    field = numba.njit(lambda t, y: np.array([y[1], -y[0] - drag * y[1]]))
    problem = Problem(rn(2), [1.0, 0.0], field, canonical=True)
    run = integrate(problem, "SPLIT_SRKN6_11B", (0.0, 3e5), 1.0, save_every=1000)
    assert ("damping" in {doubt.name for doubt in run.doubts}) == doubtful


def test_a_metric_that_is_stationary_at_the_start_is_no_constant_one():
    hinge, bar = Revolute((0, 1, 0)), Inertia.about_com(1.0, (0, 0, -0.3), 0.01 * np.eye(3))
    tree = Tree([Body("a", hinge, inertia=bar), Body("b", hinge, "a", (0, 0, -0.5), inertia=bar)])
    problem = constrained_problem(Mechanism(tree), [0.5, 0.0], [0.0, 1.0])
    assert "damping" in {doubt.name for doubt in integrate(problem, "MP", (0.0, 1.0), 2e-3).doubts}
    assert integrate(problem, "DLA", (0.0, 1.0), 2e-3).success
