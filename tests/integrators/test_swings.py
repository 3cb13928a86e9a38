"""Whether a method takes swings that go on by themselves: asked of plain fields, forwards and back in time."""

import warnings

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.engine import swings
from integrators.problem.jacobian import derivative
from liegroup import rn, so3

RATE = 200.0


def oscillator(damping):
    """ẍ + 2ζω ẋ + ω² x = 0 with ω = 200 rad/s."""

    def field(t, y):
        return np.array([y[1], -RATE * RATE * y[0] - 2.0 * damping * RATE * y[1]])

    return Problem(rn(2), [1.0, 0.0], field)


def lost(run):
    return [doubt for doubt in run.doubts if doubt.name == "swing_lost"]


@pytest.mark.parametrize("direction", [1.0, -1.0])
def test_what_decays_in_the_direction_of_the_run_may_be_taken_and_what_goes_on_may_not(direction):
    """Steps of h ω = 1: after two seconds e^(−200) is left of what decays, and nothing of what swings for ever."""
    assert not lost(integrate(oscillator(direction * 0.5), "BDF1", (0.0, direction * 2.0), 5e-3))
    assert lost(integrate(oscillator(0.0), "BDF1", (0.0, direction * 2.0), 5e-3))


@pytest.mark.parametrize(("ratio", "grows"), [(-0.005, False), (-0.05, True), (0.005, False)])
def test_slight_growth_of_the_linear_motion_is_none(ratio, grows):
    """Damping ratios between −0.01 and zero: the linear motion about one state has them, the motion has not."""
    J = np.array([[0.0, 1.0], [-RATE * RATE, -2.0 * ratio * RATE]])
    table = oscillator(0.0).table
    (swing,) = swings.swings(table, np.zeros(2), J, np.array([0.0, RATE]), np.array([1.0]), np.ones(2))
    assert swing.rate.imag == pytest.approx(RATE, rel=2e-3)
    assert swing.rate.real == pytest.approx(-ratio * RATE if grows or ratio > 0.0 else 0.0)


def test_a_field_that_ends_beside_the_motion_says_nothing_of_it():
    """√y has no value a little further back, where only differences come."""
    problem = Problem(rn(2), [1e-7, 1.0], lambda t, y: np.array([1e-8 * y[1], -0.1 * np.sqrt(y[0])]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert integrate(problem, "BDF1", (0.0, 1.0), 0.1).success


@pytest.mark.parametrize(("error", "says"), [(KeyboardInterrupt, "interrupted"), (ValueError, "ValueError: not there")])
def test_what_goes_wrong_in_the_look_is_not_lost(monkeypatch, error, says):
    calls = []

    def raising(*arguments):
        calls.append(arguments)
        raise error("not there")

    monkeypatch.setattr(swings, "derivative", raising)
    still = [[1.0, 0.0], [2.0, 0.0]]
    problem = Problem(rn(2), still, lambda t, y: np.array([y[1], -y[0]]))
    with pytest.warns(RuntimeWarning, match=says):
        run = integrate(problem, "RKMK4", (0.0, 1.0), 0.1)
    assert run.finished
    assert len(calls) == (1 if error is KeyboardInterrupt else 2)


def test_modes_are_looked_for_only_where_errors_can_take_them(monkeypatch):
    """Of 50 springs in a row with h ω of 0.04: eigenvectors and what follows are not needed."""
    n = 50

    def field(t, y):
        x = np.concatenate([[0.0], y[:n], [0.0]])
        return np.concatenate([y[n:], x[2:] - 2.0 * x[1:-1] + x[:-2]])

    monkeypatch.setattr(swings, "swings", None)
    start = np.concatenate([np.sin(np.arange(n)), np.zeros(n)])
    assert integrate(Problem(rn(2 * n), start, field), "RKMK4", (0.0, 2.0), 0.02).success


def test_differences_of_many_columns_at_once_are_those_of_each():
    """Of the field Rᵀ a on SO(3) they are x ↦ (Rᵀ a) × x."""
    a, start = np.array([0.3, -1.0, 2.0]), np.array([0.5, -0.5, 0.1, 0.7])

    def field(t, y):
        w, v = y[0], -y[1:]
        return a + 2.0 * np.cross(v, np.cross(v, a) + w * a)

    problem = Problem(so3, start / np.linalg.norm(start), field)
    b = field(0.0, problem.y0)
    expected = np.array([np.cross(b, e) for e in np.eye(3)]).T
    assert derivative(problem, 0.0, problem.y0) == pytest.approx(expected, abs=1e-9)
