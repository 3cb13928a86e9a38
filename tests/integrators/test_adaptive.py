"""Variable steps: tolerances, controllers, failures; the integrating controller keeps what symmetric methods are
for.
"""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.analysis import energy_drift
from integrators.controllers import (
    CONTROLLERS,
    KINDS,
    Controller,
    IntegratingController,
    StepController,
    find_controller,
)
from integrators.controllers.clock import (
    ATTEMPTS,
    CLOCK,
    MEMORY,
    MOST_REPEATED,
    OWN,
    PLACES,
    REPEAT,
    H,
    T,
    bounded,
)
from integrators.controllers.integrating import RHO
from integrators.controllers.signatures import JUDGE_SIGNATURE, PROPOSE_SIGNATURE
from integrators.engine import crew
from integrators.engine.adaptive_loop import settled
from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.crew import Here
from integrators.engine.run import Output
from integrators.layout import HISTORY
from integrators.methods import find
from integrators.status import OK
from liegroup import rn
from liegroup.compile import entry, helper
from liegroup.table import RN, table_of

LINE, LINE_OF_THREE = table_of([(RN, 1)]), table_of([(RN, 3)])
PAIRS = ("RKMK_DORMAND_PRINCE54", "RKMK_TSITOURAS54", "RKMK_DOP853", "RKMK_BOGACKI_SHAMPINE32", "CF4")


@numba.njit
def rising(t, y):
    return np.array([1.0 - y[1], y[0], -y[2]])


@numba.njit
def swinging(t, y):
    return np.array([y[1], -np.sin(y[0]) - 0.3 * y[1] * abs(y[1]), y[0] - y[2]])


def error(problem, method, rtol, end=5.0, **options):
    reference = integrate(problem, "SCIPY_DOP853", (0, end), rtol=1e-13, atol=1e-14).y[-1]
    solution = integrate(problem, method, (0, end), rtol=rtol, atol=rtol, **options)
    assert solution.success
    return np.abs(solution.y[-1] - reference).max(), solution


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("name", ["heavy_top", "floating_body"])
def test_the_error_follows_the_tolerance(problems, name, method):
    """From 1e-4 to 1e-9 the error falls by five decades within a factor of ten."""
    problem = getattr(problems, name)()
    loose, tight = error(problem, method, 1e-4)[0], error(problem, method, 1e-9)[0]
    assert 1e4 < loose / tight < 1e6
    assert tight < 2e-7


def test_a_group_method_needs_no_more_evaluations_than_the_vector_space_one(problems):
    problem = problems.heavy_top()
    mine, solution = error(problem, "RKMK_DORMAND_PRINCE54", 1e-9)
    scipy = integrate(problem, "SCIPY_DOP853", (0, 5), rtol=1e-9, atol=1e-9)
    assert solution.evaluations < 3 * scipy.evaluations
    assert mine < 1e-6
    q = solution["orientation"]
    assert np.abs(np.sum(q * q, axis=1) - 1).max() < 1e-15


@pytest.mark.parametrize("name", sorted(CONTROLLERS))
def test_every_controller_reaches_the_end_at_the_tolerance(problems, name):
    difference, solution = error(problems.heavy_top(), "RKMK_TSITOURAS54", 1e-7, controller=name)
    assert difference < 5e-6
    assert solution.steps < 150
    assert solution.rejected < 15
    assert solution.attributes["controller"] == name


def test_a_controller_that_would_not_settle_is_refused():
    with pytest.raises(ValueError, match="settle"):
        Controller("wild", b=(3.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="PI42"):
        find_controller("PI43")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"b": "abc"}, "b: 'abc', expected 3 numbers"),
        ({"b": (1.0, 0.0)}, r"b: \(1.0, 0.0\), expected 3 finite numbers"),
        ({"a": (np.nan, 0.0)}, r"a: \(nan, 0.0\), expected 2 finite numbers"),
        ({"safety": "high"}, "safety: 'high', expected a number"),
        ({"smooth": "no"}, "smooth: 'no', expected True or False"),
        ({"name": 3}, "name: 3, expected a text"),
    ],
)
def test_what_a_controller_is_made_of_is_named(given, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Controller(**{"name": "mine", **given})


def test_compiled_and_interpreted_take_the_same_steps(problems):
    problem = problems.heavy_top()
    source = Problem(
        problem.table,
        problem.y0,
        lambda t, y, parameters, structure, work, out: problem.field.python(t, y, parameters, structure, work, out),
        parameters=problem.parameters,
    )
    a, b = (integrate(p, "RKMK_DORMAND_PRINCE54", (0, 1), rtol=1e-6, controller="H211b") for p in (problem, source))
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.y, b.y)
    assert a.rejected == b.rejected


def test_backwards_in_time_leads_back(problems):
    problem = problems.floating_body()
    there = integrate(problem, "RKMK_DOP853", (0, 3), rtol=1e-11, atol=1e-12)
    back = integrate(problem, "RKMK_DOP853", (3, 0), rtol=1e-11, atol=1e-12, y0=there.y[-1])
    assert back.t[-1] == 0.0
    assert (np.diff(back.t) < 0).all()
    assert np.abs(back.y[-1] - problem.y0).max() < 1e-8


def test_the_end_is_hit_exactly_and_the_last_steps_are_not_tiny(problems):
    solution = integrate(problems.heavy_top(), "RKMK_DORMAND_PRINCE54", (0, np.pi), rtol=1e-6)
    assert solution.t[-1] == np.pi
    steps = np.diff(solution.t)
    assert steps[-1] > 0.2 * np.median(steps)


def test_first_and_largest_step_are_kept(problems):
    solution = integrate(problems.heavy_top(), "RKMK_TSITOURAS54", (0, 5), 1e-3, rtol=1e-4, max_step=0.05)
    assert solution.t[1] == 1e-3
    assert np.diff(solution.t).max() <= 0.05 * (1 + 1e-12)


def test_invariants_are_watched_at_every_variable_step(problems):
    problem = problems.heavy_top()
    every, some = (integrate(problem, "RKMK_TSITOURAS54", (0, 5), rtol=1e-6, save_every=k) for k in (1, 10))
    assert every.steps == some.steps == len(every.t) - 1
    assert len(some.t) < len(every.t) / 5
    for solution in (every, some):
        assert solution.minimum("energy") == every["energy"].min()
        assert solution.maximum("energy") == every["energy"].max()
        assert solution.mean("energy") == pytest.approx(every["energy"].mean(), rel=1e-14)


def test_more_states_than_there_was_room_for_at_first(problems):
    solution = integrate(problems.heavy_top(), "RKMK_BOGACKI_SHAMPINE32", (0, 10), rtol=1e-8, atol=1e-8)
    assert solution.steps == len(solution.t) - 1 > 3000
    assert (np.diff(solution.t) > 0).all()


def test_what_fills_few_rows_has_no_room_for_many(problems, monkeypatch):
    """Each trajectory of an ensemble has tables of its own: 1024 rows of them, two of which are filled, are 90 kB."""
    made, given = list[AdaptiveRun](), {"rtol": 1e-6, "max_step": 1e-4}
    start = AdaptiveRun.__init__
    monkeypatch.setattr(AdaptiveRun, "__init__", lambda self, *rest: (made.append(self), start(self, *rest))[1])
    few = integrate(problems.heavy_top(), "RKMK_DOP853", (0, 1), **given, save_every=600)
    assert len(few.t) == 18 <= len(made[0].saved_t) <= 32
    every = integrate(problems.heavy_top(), "RKMK_DOP853", (0, 1), **given)
    assert np.array_equal(few.y[:-1], every.y[::600])
    assert np.array_equal(few.y[-1], every.y[-1])


def test_progress_is_asked_of_those_that_have_moved(problems, monkeypatch):
    """Of all after each chunk of one, the time grows with the square of the number of trajectories."""
    asked, moved, count = 0, 0, 60
    progress, finished = AdaptiveRun.progress.fget, Here.finished

    def counted(self):
        nonlocal asked
        asked += 1
        return progress(self)

    def noted(self):
        nonlocal moved
        found = finished(self)
        moved += len(found)
        return found

    monkeypatch.setattr(AdaptiveRun, "progress", property(counted))
    monkeypatch.setattr(Here, "finished", noted)
    monkeypatch.setattr(crew, "goes_in_lanes", lambda *_: False)
    problem = problems.heavy_top()
    integrate(problem.with_start(np.tile(problem.y0, (count, 1))), "RKMK_DOP853", (0, 0.5), rtol=1e-6, workers=1)
    assert moved >= count
    assert asked <= moved + count


def test_an_ensemble_chooses_steps_for_each_trajectory(problems):
    problem = problems.pendulum()
    starts = np.array([[0.1, 0.0], [3.1, 0.0]])
    together = integrate(problem, "RKMK_TSITOURAS54", (0, 10), rtol=1e-8, y0=starts)
    assert together.t.shape == together.y.shape[:2]
    for k in (0, 1):
        alone = integrate(problem, "RKMK_TSITOURAS54", (0, 10), rtol=1e-8, y0=starts[k])
        assert np.array_equal(together.y[k, : len(alone.t)], alone.y)
        assert np.isnan(together.y[k, len(alone.t) :]).all()


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_singularity_is_a_step_underflow_with_what_was_computed():
    @numba.njit
    def escaping(t, y, parameters, out):
        out[0] = y[0] * y[0]

    solution = integrate(Problem(LINE, [1.0], escaping), "RKMK_DORMAND_PRINCE54", (0, 2), rtol=1e-8)
    assert solution.status in (Status.STEP_UNDERFLOW, Status.NON_FINITE)
    assert solution.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert "singular" in solution.message or "not finite" in solution.message


def test_a_field_that_stops_being_finite_ends_the_run_at_the_edge():
    solution = integrate(
        Problem(LINE, [1.0], lambda t, y: [np.nan if t > 0.5 else -y[0]]), "RKMK_DORMAND_PRINCE54", (0, 1), rtol=1e-6
    )
    assert solution.status in (Status.STEP_UNDERFLOW, Status.NON_FINITE)
    assert 0.49 < solution.t[-1] <= 0.5
    assert np.isfinite(solution.y).all()


@pytest.mark.parametrize("forward", [1.0, -1.0])
@pytest.mark.parametrize("method", ["RKMK_DOP853", "RKMK_RADAU_IIA5", "BDF3"])
@pytest.mark.parametrize("of", ["time", "state"])
def test_a_field_that_is_no_number_from_somewhere_on_is_told_of(method, of, forward):
    """Steps of variable size come up to there: the message spoke of a singularity and of jumps alone."""

    def field(t, y):
        return [1.0 if (t if of == "time" else y[0]) * forward < 1.5 else np.nan]

    solution = integrate(Problem(LINE, [0.0], field), method, (0.0, 2.0 * forward), rtol=1e-6)
    assert not solution.success
    assert solution.t[-1] == pytest.approx(1.5 * forward, abs=1e-6)
    assert re.search(r"not finite a little further on, where it gives \[nan\] at y = \[-?1\.5", solution.message)


def test_the_largest_number_of_steps_is_a_status(problems):
    solution = integrate(problems.heavy_top(), "RKMK_TSITOURAS54", (0, 100), rtol=1e-8, max_steps=50)
    assert solution.status is Status.TOO_MANY_STEPS
    assert solution.steps == 50
    assert "max_steps" in solution.message


def test_steps_that_leave_the_chart_are_repeated_smaller(problems):
    table = problems.heavy_top().table
    spin = Problem(table[:1], [1.0, 0, 0, 0], lambda t, y: np.array([0.0, 0.0, 40.0]))
    solution = integrate(spin, "RKMK_DORMAND_PRINCE54", (0, 1), 1.0, rtol=1e-3)
    assert solution.success
    assert np.diff(solution.t).max() * 40.0 < np.pi
    assert solution.rejected > 0


# --- a controller of one's own ----------------------------------------------------------------------------------------


@entry(PROPOSE_SIGNATURE)
def alternate(remaining, clock, numbers):
    """Long and short steps in turns; the memory says which one is next."""
    return bounded(clock[H] * (0.5 if clock[MEMORY] else 1.0), remaining, numbers)


@entry(JUDGE_SIGNATURE)
def take_turns(status, error, t, h, y, watched, parameters, structure, field_work, values, clock, numbers):
    clock[MEMORY] = 1.0 - clock[MEMORY]
    return status


class Alternating(StepController):
    """Steps h, h/2, h, h/2, …"""

    name = "alternating"
    propose = alternate
    judge = take_turns

    def start(self, run):
        run.clock[H] = run.forward * run.first_step()


def test_a_new_controller_is_a_class_with_two_functions(problems):
    solution = integrate(problems.heavy_top(), "RKMK4", (0, 1.5), 0.125, controller=Alternating())
    assert solution.success
    assert np.array_equal(np.diff(solution.t), [0.125, 0.0625] * 8)
    assert solution.attributes["controller"] == "alternating"


def test_controllers_of_all_kinds_name_two_compiled_functions_of_their_own():
    for functions in ("propose", "judge"):
        assert len({getattr(kind, functions) for kind in KINDS}) == len(KINDS) == 4


def controller_with(proposing, judging, **own):
    """A controller of equal steps, but for what it proposes and how it judges."""

    @entry(PROPOSE_SIGNATURE)
    def propose(remaining, clock, numbers):
        return proposing(remaining, clock, numbers)

    @entry(JUDGE_SIGNATURE)
    def judge(status, error, t, h, y, watched, parameters, structure, field_work, values, clock, numbers):
        return judging(status, error, h, clock, numbers)

    def start(self, run):
        run.clock[H] = run.forward * run.first_step()

    return type(
        "Mine", (StepController,), {"name": "mine", "propose": propose, "judge": judge, "start": start, **own}
    )()


@helper
def the_rest_at_most(remaining, clock, numbers):
    return bounded(clock[H], remaining, numbers)


@helper
def whatever_is_left(remaining, clock, numbers):
    return clock[H]


@helper
def backwards(remaining, clock, numbers):
    return -clock[H]


@helper
def no_number(remaining, clock, numbers):
    return np.nan


@helper
def nothing_more(remaining, clock, numbers):
    return 0.125 if clock[T] == 0.0 and remaining > 0.0 else -0.125 if clock[T] == 0.0 else 0.0


@helper
def as_it_went(status, error, h, clock, numbers):
    return status


@helper
def again_and_again(status, error, h, clock, numbers):
    return REPEAT


@helper
def a_number_of_no_status(status, error, h, clock, numbers):
    return 77


@helper
def a_status_of_the_loop(status, error, h, clock, numbers):
    return 9  # FULL: the loop would make room, and come back


@pytest.mark.parametrize("backwards_in_time", [False, True])
@pytest.mark.parametrize(
    ("proposing", "judging", "status", "words"),
    [
        (the_rest_at_most, again_and_again, Status.CONTROLLER_FAILED, "the mine has repeated the step 1000 times"),
        (backwards, as_it_went, Status.CONTROLLER_FAILED, "the mine proposes a step of .*0.125 s, expected a part of"),
        (no_number, as_it_went, Status.CONTROLLER_FAILED, "the mine proposes a step of nan s"),
        (whatever_is_left, as_it_went, Status.CONTROLLER_FAILED, "step 8, the mine proposes .*0.125 s, .*0.1 s left"),
        (nothing_more, as_it_went, Status.STEP_UNDERFLOW, "the step size fell"),
        (
            the_rest_at_most,
            a_number_of_no_status,
            Status.CONTROLLER_FAILED,
            "the verdict of the mine .* is 77, expected",
        ),
        (the_rest_at_most, a_status_of_the_loop, Status.CONTROLLER_FAILED, "the verdict of the mine .* is 9, expected"),
    ],
)
def test_a_controller_without_a_step_that_leads_on_ends_with_its_name(
    problems, proposing, judging, status, words, backwards_in_time
):
    end = -1.1 if backwards_in_time else 1.1
    run = integrate(problems.heavy_top(), "RKMK4", (0, end), 0.125, controller=controller_with(proposing, judging))
    assert run.status is status
    assert not run.success
    assert re.search(words, run.message), run.message
    assert abs(run.t[-1]) <= 1.1
    assert len(run.t) == run.steps + 1


@helper
def always_content(status, error, h, clock, numbers):
    return OK


def test_a_step_that_failed_is_not_accepted_whatever_the_controller_says(problems):
    """From t = 1 on the field is not finite."""
    edge = Problem(LINE, [1.0], lambda t, y: [np.nan if t > 1.0 else 1.0])
    run = integrate(edge, "RKMK4", (0, 2), 0.25, controller=controller_with(the_rest_at_most, always_content))
    assert run.status is Status.NON_FINITE
    assert run.t[-1] == 1.0
    assert np.isfinite(run.y).all()


@helper
def writes_behind_its_memory(status, error, h, clock, numbers):
    clock[MEMORY + PLACES] = h
    return status


@helper
def sets_the_time(status, error, h, clock, numbers):
    clock[T] = 0.5
    return status


@helper
def reads_numbers_that_are_not_given(status, error, h, clock, numbers):
    return REPEAT if error > numbers[OWN] else OK


@pytest.mark.parametrize(
    ("judging", "words"),
    [
        (
            writes_behind_its_memory,
            "the mine: index 15 is out of bounds .*6 places, clock.MEMORY. to clock.MEMORY . 5.",
        ),
        (sets_the_time, r"the mine writes into clock\[0\], which is the loop's; its own are clock\[H\] and"),
        (reads_numbers_that_are_not_given, "the mine: index 6 is out of bounds .*`data` gives 0 numbers"),
    ],
)
def test_a_controller_that_leaves_its_memory_is_refused(problems, judging, words):
    with pytest.raises(ValueError, match=words):
        integrate(problems.heavy_top(), "RKMK4", (0, 1), 0.125, controller=controller_with(the_rest_at_most, judging))


def test_a_controller_that_forgets_its_first_step_is_refused(problems):
    mine = controller_with(the_rest_at_most, as_it_went, start=lambda self, run: None)
    with pytest.raises(ValueError, match=r"the mine proposes a first step of 0 s; `start` sets it"):
        integrate(problems.heavy_top(), "RKMK4", (0, 1), 0.125, controller=mine)


def test_a_controller_gets_the_estimates_that_there_are(problems):
    """Of a method without an estimate it would read what is in the workspace."""
    mine = controller_with(the_rest_at_most, as_it_went, estimates=lambda self, method: 1)
    with pytest.raises(ValueError, match=r"the mine goes by 1 error estimates .*RKMK4 gives 0; take a method"):
        integrate(problems.heavy_top(), "RKMK4", (0, 1), 0.125, controller=mine)
    assert integrate(problems.heavy_top(), "RKMK_DORMAND_PRINCE54", (0, 1), 0.125, controller=mine).success


def test_a_controller_without_its_functions_is_refused(problems):
    swapped = {"propose": take_turns, "judge": alternate}
    for own, words in (
        ({"judge": lambda *_: 0}, "Mine has no compiled `judge`"),
        ({"name": None}, "Mine has no name"),
        (swapped, "Mine.propose: a function of 3 arguments is called, this one has .status, error"),
    ):
        mine = controller_with(the_rest_at_most, as_it_went, **own)
        with pytest.raises(TypeError, match=words):
            integrate(problems.heavy_top(), "RKMK4", (0, 1), 0.125, controller=mine)


def test_a_step_that_erred_by_a_rounding_too_much_is_repeated_with_a_smaller_one(problems):
    """Without a margin its size would be that of the step before, for ever: alone and in lanes."""
    bold = Controller("bold", (1.0, 0.0, 0.0), safety=1.0)
    steering = Steering((0.0, 1.0), bold, 1e-6, 1e-6, 0.1, np.inf, 10)
    run = AdaptiveRun(problems.heavy_top(), find("RKMK_DOP853"), Output(), steering, problems.heavy_top().y0)
    verdict = bold.judge.python(
        OK, np.nextafter(1.0, 2.0), 0.1, 0.1, run.y, *[None] * 4, run.watched_values, run.clock, run.numbers
    )
    assert verdict == REPEAT
    assert run.clock[H] == pytest.approx(0.09)


def test_no_loop_repeats_without_end():
    """What both loops ask after each verdict, of one run or of one in a lane."""
    clock = np.zeros(CLOCK)
    for attempts, expected in ((MOST_REPEATED - 1, REPEAT), (MOST_REPEATED, Status.CONTROLLER_FAILED)):
        clock[ATTEMPTS] = attempts
        assert settled(REPEAT, OK, 0.1, clock) == expected


# --- pairs of methods and controllers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("MIDPOINT", {"rtol": 1e-6}, "keeps its structure"),
        ("MIDPOINT", {"controller": "PI42", "step": 0.1}, "keeps its structure"),
        ("RKMK4", {"rtol": 1e-6}, "does not estimate"),
        ("RKMK_DORMAND_PRINCE54", {"rtol": -1.0}, "non-negative"),
        ("RKMK_DORMAND_PRINCE54", {"rtol": 0.0, "atol": 0.0}, "not both 0"),
        ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6, "controller": "nobody"}, "expected one of"),
        ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6, "max_step": 0.0}, "max_step"),
        ("RKMK_DORMAND_PRINCE54", {"step": 0.1, "max_step": 0.2}, "variable steps"),
        (
            "RKMK_DORMAND_PRINCE54",
            {"controller": IntegratingController(lambda t, y: [1.0, 0.0]), "step": 0.1},
            "symmetric",
        ),
        ("MIDPOINT", {"controller": IntegratingController(lambda t, y: [1.0, 0.0])}, "ε"),
        (
            "MIDPOINT",
            {"controller": IntegratingController(lambda t, y: [1.0, 0.0]), "step": 0.1, "rtol": 1e-3},
            "estimates no errors",
        ),
    ],
)
def test_pairs_that_make_no_sense_are_refused(problems, method, options, words):
    with pytest.raises(ValueError, match=words):
        integrate(problems.pendulum(), method, (0, 1), **options)


# --- the integrating controller ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("turned", "span", "steps"), [(0.0, 30.0, 0), (1.2, 30.0, None), (1.2, -30.0, 0)])
def test_an_integrating_controller_whose_step_is_too_large_says_so(problems, turned, span, steps):
    """1/Q + ε G/2 is negative at the start, or ρ + ε G later: there is no step, and no singularity."""
    problem = problems.kepler(0.7)
    start = integrate(problem, "RKMK_DOP853", (0.0, turned), rtol=1e-9).y[-1] if turned else problem.y0
    run = integrate(
        problem.with_start(start), "SPLIT_STRANG", (0.0, span), 20.0,
        controller=IntegratingController(problems.kepler_step_size),
    )  # fmt: skip
    assert run.status is Status.CONTROLLER_FAILED
    assert steps is None or run.steps == steps
    assert "ρ = -" in run.message
    assert "give a smaller step ε than 20" in run.message
    assert "singular" not in run.message


def test_a_reversible_controller_keeps_the_energy_in_its_band(problems):
    """Kepler, e = 0.8, 300 revolutions: the band of the last tenth is that of the first; the steps vary by more than
    ten.
    """
    problem, controller = problems.kepler(), IntegratingController(problems.kepler_step_size)
    solution = integrate(problem, "MIDPOINT", (0, 600 * np.pi), 0.05, controller=controller)
    energy, tenth = solution["energy"], len(solution.t) // 10
    first, last = np.ptp(energy[:tenth]), np.ptp(energy[-tenth:])
    assert last < 1.05 * first
    assert first < 0.02
    steps = np.diff(solution.t)[:-1]
    assert steps.max() > 10 * steps.min()
    drift = energy_drift(solution.t, energy)
    assert abs(drift.slope) * solution.t[-1] < 0.05 * drift.band
    fixed = integrate(problem, "MIDPOINT", (0, 60 * np.pi), 60 * np.pi / (solution.steps // 10))
    assert np.ptp(fixed["energy"]) > 5 * first


def test_steps_and_states_return_after_a_reversal(problems):
    """1000 steps, momenta reversed, 1000 steps: the start, to round-off; ρ is turned around with the motion."""
    problem = problems.kepler()
    steering = Steering(
        (0.0, 1e9), IntegratingController(problems.kepler_step_size), 0.0, np.zeros(4), 0.02, np.inf, 2**62
    )
    run = AdaptiveRun(problem, find("MIDPOINT"), Output(), steering, problem.y0)
    while run.steps_done < 1000:
        run.go(1000 - run.steps_done)
    there = np.diff(run.saved_t[:1001])
    run._call_field(run.watched, run.t, run.y, run.watched_values)
    run.clock[RHO] -= 0.02 * run.watched_values[1]
    run.clock[H] = 0.02 / run.clock[RHO]
    run.y[2:] *= -1
    run.low[2:] *= -1
    run.counters[HISTORY] = 0
    while run.steps_done < 2000:
        run.go(2000 - run.steps_done)
    back = np.diff(run.saved_t[1000:2001])
    assert np.abs(back / there[::-1] - 1).max() < 1e-11
    assert np.abs(run.y * [1, 1, -1, -1] - problem.y0).max() < 1e-11


def test_the_order_is_kept_under_the_integrating_controller(problems):
    problem, controller = problems.kepler(0.3), IntegratingController(problems.kepler_step_size)
    reference = integrate(problem, "SCIPY_DOP853", (0, 5), rtol=1e-13, atol=1e-14).y[-1]
    steps = (0.04, 0.02, 0.01)
    errors = [
        np.abs(integrate(problem, "MIDPOINT", (0, 5), h, controller=controller).y[-1] - reference).max() for h in steps
    ]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.abs(slopes - find("MIDPOINT").order).max() < 0.1


@pytest.mark.parametrize("factor", [-1.0, 0.0, 2.0])
@pytest.mark.parametrize("end", [20.0, -20.0])
def test_a_rate_that_is_not_that_of_the_wished_step_is_refused(problems, factor, end):
    """Also from the pericentre, where the rate is zero: of the wrong sign, it took 167 times as many steps."""

    def size(t, y):
        squared = y[0] * y[0] + y[1] * y[1]
        return np.array([squared**0.75, -1.5 * factor * (y[0] * y[2] + y[1] * y[3]) / squared])

    for problem in (problems.kepler(0.8), Problem(rn(2), [1.0, 0.5], lambda t, y: np.array([y[1], -y[0]]))):
        function = numba.njit(size) if problem.n == 4 else (lambda t, y: [1.5 + y[0], factor * -y[1] / (1.5 + y[0])])
        with pytest.raises(
            ValueError, match=r"gives G = .*, where −\(dQ/dt\)/Q along the motion is .*; with another G"
        ):
            integrate(problem, "MIDPOINT", (0.0, end), 0.05, controller=IntegratingController(function))


def test_a_wished_step_that_is_not_positive_is_refused(problems):
    with pytest.raises(ValueError, match="Q > 0"):
        integrate(
            problems.pendulum(),
            "MIDPOINT",
            (0, 1),
            0.1,
            controller=IntegratingController(numba.njit(lambda t, y: np.array([0.0, 1.0]))),
        )


@pytest.mark.parametrize("method", ["RKMK_DORMAND_PRINCE54", "RKMK_DOP853"])
def test_what_is_zero_at_the_start_needs_no_absolute_tolerance(method):
    """A component that leaves zero with a rate, one that leaves it without, and one that stays."""
    problem = Problem(LINE_OF_THREE, [0.0, 0.0, 0.0], rising)
    run = integrate(problem, method, (0.0, 1.0), rtol=1e-10, atol=0.0)
    assert run.success, run.message
    assert run.steps < 200
    assert run.y[-1, :2] == pytest.approx([np.sin(1.0), 1.0 - np.cos(1.0)], rel=1e-9)
    assert run.y[-1, 2] == 0.0


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_KVAERNO54", "BDF5", "RODAS4"])
@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
def test_nor_do_implicit_methods_need_one_where_something_is_zero(method, start):
    """The correction of what is zero at the start of the first step has no size to be measured by."""
    problem = Problem(LINE_OF_THREE, start, rising if start[0] == 0.0 else swinging)
    truth = integrate(problem, "RKMK_DOP853", (0.0, 1.0), rtol=1e-12, atol=1e-14).y[-1]
    run = integrate(problem, method, (0.0, 1.0), rtol=1e-6, atol=0.0)
    assert run.success, run.message
    assert run.steps < 200
    assert run.y[-1] == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize(("rtol", "atol"), [(1e-30, 1e-30), ([1e-30, 1e-6], [1e-30, 1e-30]), (0.0, 1e-30)])
@pytest.mark.parametrize("trajectories", [1, 9])
def test_tolerances_below_rounding_are_raised_to_it(rtol, atol, trajectories):
    start = [1.0, 0.0] if trajectories == 1 else np.ones((trajectories, 2))
    oscillator = Problem(table_of([(RN, 2)]), start, numba.njit(lambda t, y: (y[1], -y[0])))
    with pytest.warns(RuntimeWarning, match=r"tol: .* is below .* is taken") as said:
        run = integrate(oscillator, "RKMK_DOP853", (0, 10), rtol=rtol, atol=atol, max_steps=1000)
    names = [str(one.message)[:4] for one in said]
    assert names == (["rtol"] if np.ndim(atol) else ["rtol", "atol"])
    assert said[0].filename == __file__
    assert run.success
    if np.ndim(rtol) == 0:
        c, s = np.cos(10.0), np.sin(10.0)
        assert np.abs(np.atleast_2d(run.y[..., -1, :]) - np.array(start) @ [[c, -s], [s, c]]).max() < 1e-13


def test_an_absolute_tolerance_below_the_rounding_of_a_difference_is_raised_and_one_per_component_is_not():
    @numba.njit
    def field(t, y):  # the last rate is rounding of the others
        return y[1], -y[0], (0.1 * y[0] + 0.2 * y[0]) - 0.3 * y[0]

    problem = Problem(table_of([(RN, 3)]), [1.0, 0.0, 0.0], field)
    with pytest.warns(RuntimeWarning, match=r"atol: 1e-30 is below 2\.22e-19, .* one number for each"):
        run = integrate(problem, "RKMK_DOP853", (0, 10), rtol=1e-13, atol=1e-30, max_steps=1000)
    assert run.success
    own = integrate(problem, "RKMK_DOP853", (0, 10), rtol=1e-13, atol=[1e-14, 1e-14, 1e-30], max_steps=1000)
    assert own.status is Status.TOO_MANY_STEPS
