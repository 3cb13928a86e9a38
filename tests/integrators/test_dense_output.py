"""States within steps: on the group, at the method's order, the same whatever the steps of the output."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.methods import METHODS, find
from liegroup import rn
from liegroup.table import RN, table_of

DENSE = sorted(name for name, m in METHODS.items() if getattr(m, "dense_order", None))
TIMES = np.array([0.0, 0.013, 0.1, 0.34567, 0.5, 0.777, 0.9999, 1.0])


@pytest.fixture(scope="module")
def exact(problems):
    problem = problems.floating_body()
    return np.array(
        [integrate(problem, "SCIPY_DOP853", (0, t), rtol=1e-13, atol=1e-14).y[-1] if t else problem.y0 for t in TIMES]
    )


def test_the_pairs_with_a_continuous_extension_are_found():
    assert {"RKMK_DORMAND_PRINCE54", "RKMK_TSITOURAS54", "RKMK_BOGACKI_SHAMPINE32", "RKMK_DOP853"} <= set(DENSE)


@pytest.mark.parametrize("method", DENSE)
def test_an_own_interpolant_has_its_order(problems, exact, method):
    """Slope of the largest error at the given times over two halvings of the step: at least the claim minus 0.3."""
    order = find(method).dense_order
    steps = np.array([0.1, 0.05, 0.025]) if order > 4 else np.array([0.05, 0.025, 0.0125])
    errors = []
    for h in steps:
        solution = integrate(problems.floating_body(), method, (0, 1), h, t_eval=TIMES)
        errors.append(np.abs(solution.y - exact).max())
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert slopes[-1] > order - 0.3 or errors[-1] < 1e-12


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK4", "CF4"])
def test_without_one_a_step_of_the_part_has_the_order_of_the_method(problems, exact, method):
    steps = np.array([0.02, 0.01, 0.005])
    errors = [
        np.abs(integrate(problems.floating_body(), method, (0, 1), h, t_eval=TIMES).y - exact).max() for h in steps
    ]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.abs(slopes - find(method).order).max() < 0.25


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK4", "RKMK_DORMAND_PRINCE54", "RKMK_DOP853"])
def test_states_within_steps_are_on_the_group_and_do_not_disturb_the_run(problems, method):
    problem, times = problems.heavy_top(), np.linspace(0, 3, 1001)
    solution = integrate(problem, method, (0, 3), 0.1, t_eval=times)
    assert np.array_equal(solution.t, times)
    q = solution["orientation"]
    assert np.abs(np.sum(q * q, axis=1) - 1).max() < 2e-15
    plain = integrate(problem, method, (0, 3), 0.1)
    assert np.array_equal(solution.y[-1], plain.y[-1])
    steps = [int(np.argmin(np.abs(times - t))) for t in plain.t[::3]]
    assert np.abs(solution.y[steps] - plain.y[::3]).max() < 1e-14


@pytest.mark.parametrize("method", ["RKMK_DORMAND_PRINCE54", "RKMK_DOP853", "RKMK_VERNER65"])
def test_dense_states_of_variable_steps_are_as_good_as_the_steps(problems, exact, method):
    solution = integrate(problems.floating_body(), method, (0, 1), rtol=1e-8, atol=1e-8, t_eval=TIMES)
    assert np.array_equal(solution.t, TIMES)
    assert np.abs(solution.y - exact).max() < 2e-6
    free = integrate(problems.floating_body(), method, (0, 1), rtol=1e-8, atol=1e-8)
    assert free.steps == solution.steps
    assert np.array_equal(free.y[-1], solution.y[-1])


def test_times_need_not_begin_at_the_start_nor_end_at_the_end(problems):
    solution = integrate(problems.pendulum(), "RKMK4", (0, 2), 0.1, t_eval=[0.55, 1.0])
    assert solution.t.tolist() == [0.55, 1.0]
    assert solution.stretch.tolist() == [7, 5]
    assert np.isfinite(solution.least).all()
    assert solution.steps == 20


def test_backwards_in_time(problems):
    solution = integrate(problems.pendulum(), "RKMK_DORMAND_PRINCE54", (1, 0), rtol=1e-9, t_eval=[0.9, 0.15])
    forwards = integrate(problems.pendulum(), "RKMK_DOP853", (0, -0.85), rtol=1e-12, atol=1e-12)
    assert np.abs(solution.y[-1] - forwards.y[-1]).max() < 1e-7


def test_lanes_equal_single_trajectories_within_steps_too(problems):
    problem = problems.heavy_top()
    starts = np.repeat(problem.y0[None], 3, axis=0)
    starts[:, -1] += [0.0, 0.1, 0.2]
    for method in ("MIDPOINT", "RKMK_DORMAND_PRINCE54"):
        together = integrate(problem, method, (0, 1), 0.1, y0=starts, t_eval=TIMES)
        for k in range(3):
            alone = integrate(problem, method, (0, 1), 0.1, y0=starts[k], t_eval=TIMES)
            assert np.array_equal(together.y[k], alone.y)
            assert np.array_equal(together.least[k], alone.least)


@pytest.mark.parametrize("times", [[0.5, 0.5], [0.5, 0.1], [-0.1, 0.5], [0.5, 1.1], [np.nan], [], [[0.5]]])
def test_times_that_make_no_sense_are_refused(times):
    problem = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y)
    with pytest.raises(ValueError, match="t_eval"):
        integrate(problem, "RKMK4", (0, 1), 0.1, t_eval=times)


@pytest.mark.parametrize("method", ["RKMK_TRBDF2", "RKMK_KVAERNO54", "RKMK_RADAU_IIA5", "RODAS4", "BDF5"])
def test_states_and_events_within_a_step_know_nothing_of_each_other(method):
    """A body falls on a stiff floor, in long steps with many states in each; how high it is falls into them, too."""

    def floor(t, y):
        return [y[1], -9.81 + 1e5 * max(-y[0], 0.0) * (1.0 - 0.3 * y[1])]

    times, height = np.linspace(0.0, 1.2, 601), {"low": lambda t, y: y[0] - 0.1}
    problem = Problem(rn(2), [0.5, 0.0], floor)
    exact = integrate(problem, "RKMK_DOP853", (0, 1.2), rtol=1e-12, atol=1e-13, t_eval=times, events=height)
    found = integrate(problem, method, (0, 1.2), rtol=1e-6, atol=1e-8, t_eval=times, events=height)
    assert np.abs(found.y[:, 0] - exact.y[:, 0]).max() < 2e-3
    falls, found_falls = exact.events["low"][0], found.events["low"][0]
    assert len(falls) > 1
    assert np.abs(found_falls - falls).max() < 2e-3


def test_times_of_another_run_are_within_its_interval(problems):
    """Sums of steps end a rounding beside the end of the interval."""
    rng, beside = np.random.default_rng(0), 0
    for _ in range(40):
        end, steps = float(rng.uniform(0.1, 10.0)), int(rng.integers(3, 30))
        run = integrate(problems.pendulum(), "RKMK4", (0.0, end), end / steps)
        sums = end / steps * np.arange(steps + 1)
        again = integrate(problems.pendulum(), "RKMK4", (0.0, end), end / steps, t_eval=sums)
        assert run.t[-1] == end
        assert again.t == pytest.approx(run.t, rel=1e-15)
        assert np.abs(again.y - run.y).max() < 1e-14
        beside += sums[-1] > end
    assert beside
    with pytest.raises(ValueError, match="expected times in the order"):
        integrate(problems.pendulum(), "RKMK4", (0.0, 1.0), 0.1, t_eval=[0.5, 1.0 + 1e-12])


def test_how_many_states_are_kept_is_said_once(tmp_path):
    problem = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    with pytest.raises(ValueError, match="save_every: 6, given beside t_eval"):
        integrate(problem, "RKMK4", (0.0, 1.0), 0.01, t_eval=[0.5], save_every=6)
    with pytest.raises(ValueError, match="controller: RKMK4 does not estimate its error: leave `controller` away"):
        integrate(problem, "RKMK4", (0.0, 1.0), 0.1, controller="I")
