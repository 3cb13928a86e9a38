"""Events: zeros located to the accuracy of the method, in their direction, terminal or not."""

from __future__ import annotations

import math

import numba
import numpy as np
import pytest
import scipy.special

from integrators import Problem, Status, integrate
from integrators.events import Event
from integrators.problem import Guard
from liegroup import rn
from liegroup.table import RN, SO3, table_of
from mechanics.systems import SYSTEMS


@numba.njit
def angle(t, y):
    return y[0]


@numba.njit
def momentum(t, y):
    return y[1]


def period(amplitude):
    return 4 * scipy.special.ellipk(np.sin(amplitude / 2) ** 2)


@pytest.mark.parametrize(("method", "options", "bound"), [
    ("RKMK_DOP853", {"rtol": 1e-11, "atol": 1e-12}, 1e-9),
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-10, "atol": 1e-11}, 1e-8),
    ("RKMK4", {"step": 1e-3}, 1e-10),
    ("MIDPOINT", {"step": 1e-4}, 1e-8),
])  # fmt: skip
def test_zeros_of_the_pendulum_are_at_quarter_periods(problems, method, options, bound):
    T = period(2.0)
    solution = integrate(
        problems.pendulum(2.0), method, (0, 3 * T), events={"bottom": angle, "turn": momentum}, **options
    )
    t, y = solution.events["bottom"]
    assert np.abs(t - T * np.arange(0.25, 3, 0.5)).max() < bound * T
    assert np.abs(y[:, 0]).max() < 1e-14
    t, y = solution.events["turn"]
    assert np.abs(t[:5] - T * np.arange(0.5, 3, 0.5)).max() < bound * T
    assert np.abs(np.abs(y[:, 0]) - 2.0).max() < 1e-6


@pytest.mark.parametrize(("direction", "expected"), [(1, 0.75), (-1, 0.25), (0, 0.25)])
def test_direction(problems, direction, expected):
    T = period(1.0)
    solution = integrate(
        problems.pendulum(1.0),
        "RKMK_DOP853",
        (0, 0.99 * T),
        rtol=1e-10,
        events=Event(angle, "bottom", direction=direction),
    )
    t, _ = solution.events["bottom"]
    assert len(t) == (2 if direction == 0 else 1)
    assert t[0] == pytest.approx(expected * T, rel=1e-8)


@pytest.mark.parametrize("options", [{"step": 0.01}, {"rtol": 1e-9}])
def test_a_terminal_event_ends_the_run_there(problems, options):
    T = period(2.0)
    solution = integrate(
        problems.pendulum(2.0),
        "RKMK_DORMAND_PRINCE54",
        (0, 100),
        events=[Event(angle, "bottom", terminal=True)],
        **options,
    )
    assert solution.status is Status.EVENT
    assert solution.success
    assert solution.t[-1] == pytest.approx(T / 4, rel=1e-8)
    assert abs(solution.y[-1, 0]) < 1e-14
    assert (np.diff(solution.t) > 0).all()
    assert "bottom" in solution.message


def test_the_third_occurrence(problems):
    T = period(2.0)
    solution = integrate(
        problems.pendulum(2.0), "RKMK_DOP853", (0, 100), rtol=1e-10, events=[Event(angle, "bottom", terminal=3)]
    )
    assert len(solution.events["bottom"][0]) == 3
    assert solution.t[-1] == pytest.approx(1.25 * T, rel=1e-8)


def test_given_times_are_kept_up_to_a_terminal_event(problems):
    solution = integrate(
        problems.pendulum(2.0),
        "RKMK_DOP853",
        (0, 10),
        rtol=1e-10,
        t_eval=np.linspace(0, 10, 1001),
        events=[Event(angle, "b", terminal=True)],
    )
    end = solution.events["b"][0][0]
    assert len(solution.t) == int(end / 0.01) + 1
    assert solution.t[-1] <= end


def test_a_run_that_ends_before_the_first_given_time_says_that_nothing_was_saved(problems):
    ends = [Event(lambda t, y: t - 0.5, "b", terminal=True)]
    decay = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y, invariants={"size": lambda t, y: y[0]})
    run = integrate(decay, "RKMK4", (0, 1), 0.1, t_eval=[0.9], events=ends)
    assert run.y.shape == (0, 1)
    for ask in (run.error, run.minimum, run.maximum, run.mean):
        with pytest.raises(ValueError, match="size: no state was saved, the run ended before the first"):
            ask("size")


@pytest.mark.parametrize(("method", "way"), [
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-8}),
    ("BDF2", {"step": 0.1}),
    ("ADAMS_BASHFORTH2", {"step": 0.1}),
    ("RKMK4", {"step": 0.1}),
])  # fmt: skip
def test_what_ends_before_the_first_given_time_is_no_error(method, way):
    """By an event, by a guard, by what a function raises: nothing in collecting needs a saved state."""
    table, given = table_of([(RN, 1)]), {**way, "t_eval": [0.9]}
    ends = [Event(lambda t, y: t - 0.5, "b", terminal=True)]
    run = integrate(Problem(table, [1.0], lambda t, y: -y), method, (0.0, 1.0), events=ends, **given)
    assert (run.status, len(run.t)) == (Status.EVENT, 0)
    grows = Guard("e", greatest=1.5, stops=True)
    made = Problem(table, [1.0], lambda t, y: y, invariants={"e": lambda t, y: y[0]}, guards=[grows])
    run = integrate(made, method, (0.0, 1.0), **given)
    assert (run.status, len(run.t)) == (Status.DOUBTFUL, 0)
    assert [doubt.name for doubt in run.doubts] == ["e"]
    pair = integrate(made.with_start([[1.0], [0.1]]), method, (0.0, 1.0), **given)
    assert pair.status == (Status.DOUBTFUL, Status.OK)

    def raises(t, y):
        if t > 0.5:
            raise KeyError("mine")
        return -y

    with pytest.raises(KeyError, match="mine") as raised:
        integrate(Problem(table, [1.0], raises), method, (0.0, 1.0), **given)
    assert len(raised.value.solution.t) == 0


def test_the_state_of_a_terminal_event_counts_in_extremes_and_means():
    """Whatever is saved: of a fall the least height is that of the ground."""
    ball = Problem(table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: [y[1], -1.0], invariants={"height": lambda t, y: y[0]})
    ground = [Event(lambda t, y: y[0], "ground", terminal=True)]
    for save_every in (1, 50):
        run = integrate(ball, "RKMK4", (0.0, 5.0), 0.1, save_every=save_every, events=ground)
        assert abs(run.minimum("height")) < 1e-12
        assert run.least[-1, 0] <= run.invariants[-1, 0] <= run.greatest[-1, 0]


def test_truth_values_have_no_zeros(problems):
    with pytest.raises(TypeError, match="event 'up': returned a truth value, expected a number that changes its sign"):
        integrate(problems.pendulum(1.0), "RKMK4", (0, 1), 0.1, events={"up": lambda t, y: y[0] > 0})


def test_a_part_of_a_step_that_fails_ends_its_trajectory_alone():
    """The body turns only between the stages of the steps, where zeros of the event are looked for: by so much that the
    parts of the step leave the chart.
    """

    def field(t, y):
        return [y[5] * np.sin(np.pi * t / 0.05) ** 2, 0.0, 0.0, 1.0, 0.0]

    starts = [[1.0, 0, 0, 0, 0, 0.0], [1.0, 0, 0, 0, 0, 1e4]]
    problem = Problem(table_of([(SO3, 1), (RN, 2)]), starts, field)
    run = integrate(problem, "RKMK4", (0, 1), 0.1, events={"there": lambda t, y: y[4] - 0.43})
    assert run.status == (Status.OK, Status.CHART_LEFT)
    assert run.events[0]["there"][0] == pytest.approx(0.43)
    assert len(run.events[1]["there"][0]) == 0
    assert "a state within the step from t = 0.4" in run.message
    assert run.trajectory(1).t[-1] == pytest.approx(0.4)


def test_the_run_is_the_same_with_events_and_without(problems):
    for options in ({"step": 0.05}, {"rtol": 1e-7}):
        with_events = integrate(
            problems.pendulum(2.0), "RKMK_DORMAND_PRINCE54", (0, 20), events={"bottom": angle}, **options
        )
        without = integrate(problems.pendulum(2.0), "RKMK_DORMAND_PRINCE54", (0, 20), **options)
        assert np.array_equal(with_events.y, without.y)
        assert np.array_equal(with_events.t, without.t)


def test_scipy_style_functions_and_plain_python():
    def falls(t, y):
        return y[0] - 0.5

    falls.terminal, falls.direction = True, -1
    problem = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y)
    solution = integrate(problem, "RKMK4", (0, 5), 0.01, events=falls)
    assert solution.t[-1] == pytest.approx(np.log(2), abs=1e-9)
    assert solution.events["event0"][0].shape == (1,)


def test_plain_python_beside_a_compiled_problem(problems):
    for y0 in ([2.0, 0.0], [[2.0, 0.0], [1.0, 0.0]]):
        plain, jitted = (
            integrate(problems.pendulum(), "RKMK4", (0, 20), 0.05, y0=y0, events={"bottom": f})
            for f in (lambda t, y: y[0], angle)
        )
        assert np.array_equal(plain.y, jitted.y)
        found, expected = (np.atleast_1d(s.events) for s in (plain, jitted))
        for a, b in zip(found, expected, strict=True):
            assert np.array_equal(a["bottom"][0], b["bottom"][0])
            assert len(a["bottom"][0]) > 4


def test_many_events_one_after_another(problems):
    solution = integrate(problems.pendulum(1.0), "RKMK4", (0, 100), 0.05, events=[lambda t, y: np.sin(20 * t)])
    assert solution.success
    assert np.allclose(solution.events["event0"][0], np.pi / 20 * np.arange(1, 637), atol=1e-12)


def test_every_member_of_an_ensemble_has_its_own_events(problems):
    starts = np.array([[1.0, 0.0], [2.0, 0.0]])
    solution = integrate(problems.pendulum(), "RKMK4", (0, 5), 1e-3, y0=starts, events={"bottom": angle})
    for k, amplitude in enumerate((1.0, 2.0)):
        assert solution.events[k]["bottom"][0][0] == pytest.approx(period(amplitude) / 4, rel=1e-9)


def test_a_zero_at_the_start_is_no_event(problems):
    solution = integrate(problems.pendulum(0.0, 0.5), "RKMK4", (0, 1), 0.01, events={"bottom": angle})
    assert len(solution.events["bottom"][0]) == 0


def with_direction(direction):
    def zero(t, y):
        return y[0]

    zero.direction = direction
    return zero


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([3], "expected an Event"),
        ({"not a name": angle}, "identifiers"),
        ([Event(angle, "a"), Event(angle, "a")], "different"),
        (with_direction("up"), "'event0': direction: 'up', expected a number"),
        (with_direction(np.nan), "'event0': direction: nan, expected a number"),
    ],
)
def test_events_that_make_no_sense_are_refused(problems, events, words):
    with pytest.raises((ValueError, TypeError), match=words):
        integrate(problems.pendulum(), "RKMK4", (0, 1), 0.1, events=events)
    with pytest.raises(ValueError, match="direction"):
        Event(angle, direction=2)


@pytest.mark.parametrize(
    "taken", ["bottom_t", "bottom_state", "bottom_trajectory", "bottom_state_component", "bottom_occurrence"]
)
def test_an_event_takes_no_name_of_data_files_from_an_invariant(taken):
    """A file had the times of the event under the name of the invariant."""
    problem = Problem(
        table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: [y[1], -y[0]],
        invariants=lambda t, y: [y[0] ** 2 + y[1] ** 2], invariant_names=(taken,),
    )  # fmt: skip
    with pytest.raises(ValueError, match=f"events: 'bottom' is written .* but '{taken}' is a variable or an invariant"):
        integrate(problem, "RKMK4", (0, 1), 0.1, events={"bottom": lambda t, y: y[0]})


def test_a_callback_stops_the_run(problems):
    seen = []
    solution = integrate(
        problems.pendulum(), "RKMK4", (0, 1e5), 1e-3, callback=lambda t, y: seen.append((t, y)) or len(seen) > 3
    )
    assert solution.status is Status.STOPPED
    assert len(seen) == 4
    assert solution.t[-1] == seen[-1][0]
    assert np.array_equal(solution.y[-1], seen[-1][1])


def test_a_watcher_sees_every_saved_state_once_and_the_extremes_of_every_step(problems):
    class Watcher:
        def __init__(self):
            self.seen = []

        def look(self, stretch):
            self.seen.append(stretch)

    watcher = Watcher()
    solution = integrate(problems.pendulum(), "RKMK4", (0, 2000.0), 1e-3, save_every=1000, callback=watcher)
    rows = {
        float(t): (y, low, high)
        for s in watcher.seen
        for t, y, low, high in zip(s.t, s.y, s.least, s.greatest, strict=True)
    }
    assert len(watcher.seen) > 2
    for t, y, low, high in zip(solution.t, solution.y, solution.least, solution.greatest, strict=True):
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(rows[float(t)], (y, low, high), strict=True))
    assert sum(np.isin(s.t, solution.t).sum() for s in watcher.seen) == len(solution.t)


# --- two zeros within a step ------------------------------------------------------------------------------------------

FAST = 20.0
"""rad/s of an oscillator that starts at rest at -1."""


def crossings_of(stop, end):
    """The times at which -cos(FAST t) is `stop`."""
    first = np.arccos(-stop)
    times = np.sort([(2.0 * np.pi * k + sign * first) / FAST for k in range(20) for sign in (1, -1)])
    return times[(times > 0.0) & (times < end)]


def oscillator(compiled):
    def field(t, y):
        return np.array([y[1], -(FAST**2) * y[0]])

    return Problem(table_of([(RN, 2)]), [-1.0, 0.0], numba.njit(field) if compiled else field)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("method", "way"), [
    ("GAUSS8", {"step": 0.1}),
    ("GAUSS8", {"step": 0.15}),
    ("GAUSS8", {"step": 0.3}),
    ("GAUSS8", {}),
    ("RKMK_DOP853", {"rtol": 1e-11, "atol": 1e-12}),
])  # fmt: skip
def test_what_goes_beyond_and_comes_back_within_a_step_crosses_twice(method, way, compiled):
    """Of x = -cos(20 t), period 0.31 s, beyond 0.9 for 0.045 s of it."""

    def beyond(t, y):
        return y[0] - 0.9

    g, expected = numba.njit(beyond) if compiled else beyond, crossings_of(0.9, 0.9)
    run = integrate(oscillator(compiled), method, (0.0, 0.9), events={"stop": g}, **way)
    assert run.success
    assert len(run.events["stop"][0]) == len(expected) == 6
    assert np.abs(run.events["stop"][0] - expected).max() < 1e-9
    for direction, first in ((1, 0), (-1, 1)):
        run = integrate(oscillator(compiled), method, (0.0, 0.9), events=Event(g, "stop", direction, True), **way)
        assert run.status is Status.EVENT
        assert abs(run.t[-1] - expected[first]) < 1e-9


def test_two_zeros_within_a_step_backwards_and_beside_others():
    events = {"stop": lambda t, y: y[0] - 0.9, "middle": lambda t, y: y[0]}
    run = integrate(oscillator(False), "GAUSS8", (0.0, -0.9), 0.1, events=events)
    assert np.abs(np.sort(-run.events["stop"][0]) - crossings_of(0.9, 0.9)).max() < 1e-12
    assert np.abs(np.sort(-run.events["middle"][0]) - crossings_of(0.0, 0.9)).max() < 1e-12


FASTER = [
    ("GAUSS8", {"step": 0.1}, 37.0),
    ("GAUSS8", {"step": 0.3}, 300.0),
    ("RKMK_DOP853", {"rtol": 1e-9}, 61.0),
    ("RKMK4", {"step": 0.015}, 411.0),
]
"""Methods, steps, and the rates of functions that are zero up to sixty times in each."""


@pytest.mark.parametrize("end", [1.5, -1.5])
@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize(("method", "way", "rate"), FASTER)
def test_all_zeros_within_a_step_are_found(method, way, rate, direction, end):
    """Of sin(r t + 0.3) - 0.4 in the time of the run, which no step is made for."""
    event = Event(lambda t, y: np.sin(rate * t + 0.3) - 0.4, "fast", direction)
    run = integrate(oscillator(False), method, (0.0, end), events=event, **way)
    turns = 2.0 * np.pi * np.arange(-200, 200)
    up, down = ((np.append(turns, turns) + phase - 0.3) / rate for phase in (np.arcsin(0.4), np.pi - np.arcsin(0.4)))
    rising, falling = (up, down) if end > 0.0 else (down, up)
    known = np.unique(np.concatenate([rising] * (direction >= 0) + [falling] * (direction <= 0)).round(12))
    expected = known[(known * np.sign(end) > 0.0) & (np.abs(known) <= abs(end))]
    assert run.success
    assert len(run.events["fast"][0]) == len(expected)
    assert np.abs(np.sort(run.events["fast"][0]) - expected).max() < 1e-9


def test_more_zeros_than_a_step_is_looked_at_for_are_a_doubt():
    event = {"fast": lambda t, y: np.sin(3e5 * t)}
    (doubt,) = integrate(oscillator(False), "RKMK4", (0.0, 0.03), 0.015, events=event).doubts
    assert doubt.name == "events"
    assert "'fast'" in doubt.says
    assert integrate(oscillator(False), "RKMK4", (0.0, 0.002), 0.001, events=event).success


@pytest.mark.parametrize("way", [("GAUSS8", {"step": 0.025}), ("RKMK_DOP853", {"rtol": 1e-9, "atol": 1e-11})])
def test_what_is_constant_but_for_rounding_does_not_come_all_the_time(way):
    """An energy less its value at the start: what rounding makes of it is told by its signs alone."""
    event = {"energy": lambda t, y: y[1] ** 2 + FAST**2 * (y[0] ** 2 - 1.0)}
    run = integrate(oscillator(False), way[0], (0.0, 1.0), events=event, **way[1])
    assert run.success
    assert len(run.events["energy"][0]) <= 5 * run.steps


@pytest.mark.parametrize("way", [("GAUSS8", {"step": 0.1}), ("RKMK_DOP853", {"rtol": 1e-9}), ("RKMK4", {"step": 0.01})])
def test_a_function_may_be_infinite(way):
    """Where v = 20 sin(20 t) passes 10, which it does twice in a turn; nothing is warned of."""
    event = {"fast": lambda t, y: -np.inf if y[1] > 10.0 else 1.0}
    run = integrate(oscillator(False), way[0], (0.0, 1.0), events=event, **way[1])
    phases = np.concatenate([2.0 * np.pi * np.arange(4) + x for x in (np.pi / 6.0, 5.0 * np.pi / 6.0)])
    expected = np.sort(phases[phases < 20.0]) / 20.0
    np.testing.assert_allclose(run.events["fast"][0], expected, atol=1e-4)


def test_what_starts_at_zero_and_comes_back_within_the_first_step():
    ball = Problem(table_of([(RN, 2)]), [0.0, 1.0], lambda t, y: [y[1], -1.0])
    ground = Event(lambda t, y: y[0], "ground", -1, True)
    for step in (0.5, 1.5, 3.0):
        run = integrate(ball, "RKMK4", (0.0, 6.0), step, events=ground)
        assert run.status is Status.EVENT
        assert run.t[-1] == pytest.approx(2.0, abs=1e-12)


def test_two_zeros_within_a_step_on_a_group():
    """A body turns about z at 1 rad/s: of its x axis the second component is beyond 0.99 for 0.28 s."""
    spin = Problem(table_of([(SO3, 1)]), [1.0, 0.0, 0.0, 0.0], lambda t, y: [0.0, 0.0, 1.0])
    second = {"up": lambda t, y: 2.0 * (y[1] * y[2] + y[0] * y[3]) - 0.99}
    run = integrate(spin, "RKMK4", (0.0, 6.0), 0.6, events=second)
    assert run.events["up"][0] == pytest.approx([np.arcsin(0.99), np.pi - np.arcsin(0.99)], abs=1e-12)


def test_functions_far_from_zero_are_not_looked_at_within_steps():
    """Constant ones, and those whose tangents meet before zero: per step one value at its end and two for rates."""
    called = []

    def constant(t, y):
        called.append(t)
        return 1.0

    for far in (constant, lambda t, y: constant(t, y) + 2.0 + y[0]):
        called.clear()
        run = integrate(oscillator(False), "RKMK4", (0.0, 1.0), 1e-3, events={"far": far})
        assert len(run.events["far"][0]) == 0
        assert len(called) <= 3 * run.steps + 10


def test_the_scale_of_a_start_from_rest_at_almost_zero_is_where_it_goes():
    """A coordinate of 1e-20 that moves by 1e-5: its error counts beside its way."""
    pushed = Problem(table_of([(RN, 2)]), [-4.3e-20, 0.0], lambda t, y: [y[1], np.sin(7.0 * t)])
    run = integrate(pushed, "GAUSS8", (0.0, 0.1), 0.01)
    assert run.success
    assert run.y[-1, 0] == pytest.approx(0.1 / 7.0 - np.sin(0.7) / 49.0, rel=1e-12)


def test_events_are_asked_at_no_time_outside_of_the_run():
    """Functions of tables end where these do."""

    def within(t, y):
        assert 0.0 <= t <= 2.0
        return y[0] - 0.5

    for method, way in (("RKMK4", {"step": 0.1}), ("GAUSS8", {"step": 0.5}), ("RKMK_DOP853", {"rtol": 1e-8})):
        run = integrate(oscillator(False), method, (0.0, 2.0), events={"half": within}, **way)
        assert run.finished
        back = integrate(oscillator(False), method, (2.0, 0.0), events={"half": within}, **way)
        assert back.finished


@pytest.mark.parametrize("method", ["GAUSS8", "RKMK_DOP853"])
def test_what_touches_zero_within_rounding_does_not_cross_it(method):
    """cos t - 1, by a circle whose points are right to rounding."""
    turning = Problem(table_of([(SO3, 1)]), [1.0, 0.0, 0.0, 0.0], lambda t, y: [0.0, 0.0, 1.0])
    way = {"step": 0.4} if method == "GAUSS8" else {"rtol": 1e-10}
    touch = {"top": lambda t, y: (y[0] ** 2 - y[3] ** 2) - 1.0 - 1e-15}
    assert len(integrate(turning, method, (0.1, 20.0), events=touch, **way).events["top"][0]) == 0


def test_a_run_of_few_saved_states_that_an_event_ends_is_looked_at(problems, recwarn):
    """Where the event comes early, there are fewer steps up to it than between saved states of the looks' stretches."""
    late = Event(angle, "bottom", terminal=True)
    T = period(1.0)
    run = integrate(problems.pendulum(1.0), "RKMK4", (0, 1.2 * T), 1.2 * T / 994, events=late, save_every=10)
    assert run.status == Status.EVENT
    assert run.t[-1] == pytest.approx(0.25 * T, rel=1e-8)
    assert not [str(warning.message) for warning in recwarn]


@pytest.mark.parametrize("count", [2, 5])
def test_a_member_of_an_ensemble_ends_with_the_state_of_its_event(count):
    """With variable steps, whose times are its own: as alone, in lanes or one by one."""
    falls = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -9.81], invariants={"height": lambda t, y: [y[0]]})
    ground = [Event(lambda t, y: y[0], terminal=True)]
    starts = np.stack([np.linspace(0.5, 1.0, count), np.zeros(count)], axis=-1)
    given = {"events": ground, "rtol": 1e-8}
    together = integrate(falls.with_start(starts), "RKMK_DOP853", (0.0, 1.5), **given)
    for k in range(count):
        alone, one = integrate(falls.with_start(starts[k]), "RKMK_DOP853", (0.0, 1.5), **given), together.trajectory(k)
        assert one.t[-1] == pytest.approx(np.sqrt(2.0 * starts[k, 0] / 9.81))
        for name in ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch"):
            np.testing.assert_array_equal(getattr(one, name), getattr(alone, name), err_msg=name)


@pytest.mark.parametrize(
    "way",
    [
        ("RKMK_DOP853", {"rtol": 1e-9}), ("RKMK_DOP853", {"rtol": 1e-5}), ("RODAS4", {"step": 0.01}),
        ("RKMK4", {"step": 0.05}), ("GAUSS8", {"step": 0.1}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("direction", [-1, 0, 1])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_run_that_goes_on_from_an_event_does_not_find_it_again(way, direction, offset):
    """The state there is beside the zero by a rounding, on either side; an offset leaves larger ones."""
    motion = Problem(rn(2), [1.0 + offset, 0.0], lambda t, y: [y[1], offset - y[0]])
    crossing = Event(lambda t, y: y[0] - (0.3 + offset), "crossing", direction, True)
    method, options = way
    t, y, times = 0.0, motion.y0, []
    for _ in range(6):
        run = integrate(motion.with_start(y), method, (t, t + 10.0), events=crossing, **options)
        assert run.success
        t, y = run.t[-1], run.y[-1]
        times.append(t)
    first, turn = math.acos(0.3), 2.0 * math.pi
    both = [turn * k + x for k in range(6) for x in (first, turn - first)]
    expected = both[:6] if direction == 0 else both[direction > 0 :: 2]
    np.testing.assert_allclose(times, expected, rtol=1e-3)


def test_a_bouncing_ball_from_one_bounce_to_the_next():
    ball = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -9.81])
    t, y, bounces, speed = 0.0, ball.y0, [], math.sqrt(2.0 * 9.81)
    for _ in range(5):
        run = integrate(ball.with_start(y), "RKMK4", (t, t + 3.0), 0.01, events=Event(lambda t, y: y[0], "g", 0, True))
        t, y = run.t[-1], run.y[-1] * [1.0, -0.8]
        bounces.append(t)
    flights = speed / 9.81 * np.concatenate([[1.0], 2.0 * 0.8 ** np.arange(1, 5)])
    np.testing.assert_allclose(bounces, np.cumsum(flights), rtol=1e-9)


def test_a_start_beside_a_zero_by_more_than_rounding_crosses_it():
    line = Problem(rn(1), [1.0], lambda t, y: [-1.0])
    run = integrate(line, "RKMK4", (0.0, 1.0), 0.25, events={"near": lambda t, y: y[0] - (1.0 - 1e-12)})
    np.testing.assert_allclose(run.events["near"][0], [1e-12], rtol=1e-3)


@pytest.mark.parametrize("way", [("RKMK_DOP853", {"rtol": 1e-8, "max_step": 0.5}), ("RKMK4", {"step": 0.5})])
def test_callbacks_and_stopped_runs_have_time_and_state_of_one_moment(way):
    """Also where steps wait for their events to be looked at."""
    method, options = way
    clock, apart = Problem(rn(1), [0.0], lambda t, y: [1.0]), []
    zeros = Event(lambda t, y: (y[0] % 0.7) - 0.35, "zero")
    integrate(clock, method, (0.0, 50.0), events=zeros, callback=lambda t, y: apart.append(abs(t - y[0])), **options)
    assert max(apart) < 1e-12
    run = integrate(clock, method, (0.0, 50.0), events=zeros, callback=lambda t, y: t > 0.3, save_every=50, **options)
    assert run.status is Status.STOPPED
    assert abs(run.t[-1] - run.y[-1, 0]) < 1e-12


@pytest.mark.parametrize("way", [("GAUSS8", {"step": 0.5}), ("RKMK_DOP853", {"rtol": 1e-9}), ("RKMK4", {"step": 0.01})])
def test_a_function_that_becomes_zero_and_stays_so_is_placed_where_it_does(way):
    method, options = way
    motion = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    touch = Event(lambda t, y: max(y[0], 0.0), "touch", terminal=True)
    assert integrate(motion, method, (0.0, 4.0), events=touch, **options).t[-1] == pytest.approx(np.pi / 2, abs=1e-7)


@pytest.mark.parametrize("order", [1, -1])
def test_events_at_one_moment_are_all_there_though_one_is_terminal(order):
    motion = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    events = [Event(lambda t, y: y[0], "stop", terminal=True), Event(lambda t, y: y[0], "count")][::order]
    run = integrate(motion, "RKMK4", (0.0, 4.0), 0.01, events=events)
    assert [len(run.events[name][0]) for name in ("stop", "count")] == [1, 1]


@pytest.mark.parametrize("part", [0.5, 0.99])
def test_what_a_method_goes_on_with_between_projections_says_nothing_of_rates(part):
    """Of a loop, GAUSS8 goes on with momenta that a projection of the shown state changes."""
    problem = SYSTEMS["four-bar"].problem()
    p = integrate(problem, "RKMK_DOP853", (0.0, 2.0), rtol=1e-10, atol=1e-11, t_eval=np.linspace(0, 2, 2001))["p"][:, 0]
    level = p.min() + part * np.ptp(p)
    wanted = np.count_nonzero(np.diff(np.sign(p - level)))
    run = integrate(problem, "GAUSS8", (0.0, 2.0), 0.1, events={"level": lambda t, y: y[3] - level})
    assert len(run.events["level"][0]) == wanted > 2


def test_a_name_before_the_function_is_told_so():
    with pytest.raises(TypeError, match=r"^function: 'zero', expected a function g\(t, y\), before the name$"):
        Event("zero", lambda t, y: y[0])
