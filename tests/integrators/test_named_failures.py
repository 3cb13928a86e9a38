"""What functions of the user's do wrong ends a run with a name, never as a success; steps end where they should."""

from __future__ import annotations

import re

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.engine import diagnosis
from integrators.events import Event
from liegroup import rn
from liegroup.table import RN, table_of

LINE = table_of([(RN, 1)])
PLANE = table_of([(RN, 1), (RN, 1)])
RUNS = [
    ("RKMK4", {"step": 0.1}),
    ("MIDPOINT", {"step": 0.1}),
    ("RKMK_GAUSS2", {"step": 0.1}),
    ("CF4", {"step": 0.1}),
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6}),
]


@numba.njit
def late(t, y):
    if t > 0.32:
        raise ValueError("too late")
    return -y


@numba.njit
def late_with_parameters(t, y, parameters):
    if t > parameters[0]:
        raise ValueError("too late")
    return -y


@numba.njit
def late_writing(t, y, parameters, out):
    if t > parameters[0]:
        raise ValueError("too late")
    out[:] = -y


@numba.njit
def late_in_all_six(t, y, parameters, structure, work, out):
    if t > parameters[0] or structure[0] != 7:
        raise ValueError("too late")
    for i in range(y.shape[0]):
        out[i] = -y[i]


def decay(t, y):
    return -y


@pytest.mark.parametrize("starts", [[1.0], [[1.0], [2.0], [3.0]]], ids=["one", "ensemble"])
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_what_a_jitted_field_raises_ends_the_run(method, options, starts):
    with pytest.raises(ValueError, match="too late") as caught:
        integrate(Problem(LINE, starts, late), method, (0.0, 1.0), **options)
    assert any("raised by field, called at t = 0.3" in note for note in caught.value.__notes__)
    assert any(f"of {method}" in note for note in caught.value.__notes__)
    kept = caught.value.solution
    assert not kept.success
    assert np.nanmax(kept.t) <= 0.32
    first = kept.y if kept.y.ndim == 2 else kept.y[0]
    times = kept.t if kept.t.ndim == 1 else kept.t[0]
    reached = ~np.isnan(times)  # of an ensemble each comes as far as its turn
    assert np.abs(first[reached, 0] - np.exp(-times[reached])).max() < 1e-3


@pytest.mark.parametrize("method", ["RKMK4", "BDF2"])
def test_the_step_in_which_a_jitted_field_raises_is_named(method):
    """The first evaluation behind 0.55 is in the 56th step."""

    @numba.njit
    def touchy(t, y):
        if t > 0.55 + 1e-9:
            raise ValueError("too late")
        return -y

    with pytest.raises(ValueError, match="too late") as caught:
        integrate(Problem(LINE, [1.0], touchy), method, (0.0, 1.0), 0.01)
    assert f"in step 56 of {method}" in caught.value.__notes__


@pytest.mark.parametrize(
    ("late", "options"),
    [
        (0.55, {"step": 0.01}),
        (0.6, {"rtol": 1e-12, "max_step": 1e-3}),
        (0.55, {"step": 0.01, "events": lambda t, y: y[0] - 0.5}),
    ],
    ids=["steps", "rows are full before", "an event comes before"],
)
def test_the_steps_are_named_in_one_of_which_a_jitted_invariant_raises(late, options):
    """The loop goes on behind it."""
    if "events" in options:
        options = options | {"events": numba.njit(options["events"])}

    @numba.njit
    def decaying(t, y, p):
        return -y

    @numba.njit
    def touchy(t, y, p):
        if t > p[0] + 1e-9:
            raise ValueError("too late")
        return y[0]

    problem = Problem(LINE, [1.0], decaying, invariants={"a": touchy}, parameters=[late])
    with pytest.raises(ValueError, match="too late") as caught:
        integrate(problem, "RKMK_DORMAND_PRINCE54", (0.0, 2.0), **options)
    (steps,) = re.findall(
        "in one of the steps ([0-9]+) to ([0-9]+) of RKMK_DORMAND_PRINCE54", caught.value.__notes__[1]
    )
    first, last = (int(x) for x in steps)
    assert first <= late / options.get("step", 1e-3) + 1.0 <= last


@pytest.mark.parametrize("field", [late_with_parameters, late_writing, late_in_all_six])
@pytest.mark.parametrize("starts", [[1.0], [[1.0], [2.0]]], ids=["one", "ensemble"])
def test_every_form_of_a_jitted_function_may_raise(field, starts):
    problem = Problem(LINE, starts, field, parameters=[0.32], structure=[7])
    with pytest.raises(ValueError, match="too late"):
        integrate(problem, "RKMK4", (0.0, 1.0), 0.1)
    assert integrate(problem, "RKMK4", (0.0, 0.3), 0.1).success


def test_jitted_invariants_projections_and_events_may_raise():
    given = {"invariants": {"size": late}}, {"projection": late}
    for options in given:
        with pytest.raises(ValueError, match="too late"):
            integrate(Problem(LINE, [1.0], numba.njit(decay), **options), "RKMK4", (0.0, 1.0), 0.1)
    with pytest.raises(ValueError, match="too late"):
        integrate(Problem(LINE, [1.0], numba.njit(decay)), "RKMK4", (0.0, 1.0), 0.1, events={"late": late})
    with pytest.raises(ValueError, match="too late"):
        Problem(LINE, [1.0], late).velocity(0.5, [1.0])


def test_a_raising_run_leaves_nothing_to_the_next():
    with pytest.raises(ValueError, match="too late"):
        integrate(Problem(LINE, [[1.0], [2.0]], late), "RKMK4", (0.0, 1.0), 0.1)
    assert integrate(Problem(LINE, [1.0], numba.njit(decay)), "RKMK4", (0.0, 1.0), 0.1).success


# --- events -----------------------------------------------------------------------------------------------------------


def nan_after(t, y):
    return 1.0 if t < 0.45 else np.nan


@pytest.mark.parametrize("jit", [lambda f: f, numba.njit], ids=["plain", "jitted"])
@pytest.mark.parametrize(("method", "options"), RUNS)
def test_an_event_that_gives_nan_ends_the_run(method, options, jit):
    field, event = jit(decay), Event(jit(nan_after), "odd")
    found = integrate(Problem(LINE, [1.0], field), method, (0.0, 1.0), events=event, **options)
    assert found.status is Status.NON_FINITE
    assert "event 'odd' gives NaN at t = " in found.message
    assert found.t[-1] < 0.45
    assert abs(found.y[-1, 0] - np.exp(-found.t[-1])) < 1e-3


def test_nan_between_the_ends_of_a_step_is_named():
    event = Event(lambda t, y: np.nan if 0.41 < t < 0.49 else 0.45 - t, "hole")
    found = integrate(Problem(LINE, [1.0], decay), "RKMK4", (0.0, 1.0), 0.1, events=event)
    assert found.status is Status.NON_FINITE
    assert "event 'hole' gives NaN at t = 0.4" in found.message
    assert found.t[-1] == pytest.approx(0.4)


def test_an_event_that_is_nan_at_the_start_is_refused():
    with pytest.raises(ValueError, match="event 'none' gives NaN at t = 0"):
        integrate(Problem(LINE, [1.0], decay), "RKMK4", (0.0, 1.0), 0.1, events={"none": lambda t, y: np.nan})


@pytest.mark.parametrize("value", [None, 1j, "a", [1.0, 2.0], [[1.0], 2.0]], ids=str)
def test_an_event_that_gives_no_number_is_named(value):
    with pytest.raises((TypeError, ValueError), match="event 'odd': returned"):
        integrate(Problem(LINE, [1.0], decay), "RKMK4", (0.0, 1.0), 0.1, events={"odd": lambda t, y: value})


# --- complex fields ---------------------------------------------------------------------------------------------------


def test_complex_fields_are_refused():
    def turning(t, y):
        return 1j * y

    def writes(t, y, parameters, out):
        out[:] = 1j * y

    for field, says in (
        (turning, "field: returned: complex numbers"),
        (numba.njit(turning), "field: the compiler refuses it.*complex"),
        (writes, "field.*complex"),
    ):
        with pytest.raises(TypeError, match=says):
            integrate(Problem(LINE, [1.0], field), "RKMK4", (0.0, 1.0), 0.1)


def test_complex_states_and_parameters_are_refused():
    with pytest.raises(TypeError, match="y0: complex"):
        Problem(LINE, [1j], decay)
    with pytest.raises(TypeError, match="parameters: complex"):
        Problem(LINE, [1.0], decay, parameters=[1j])


# --- the interval -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("span", [(0.0, 1.0), (1.0, 0.0), (-3.0, 4.0), (100.0, 100.7), (1e5, 1e5 + 1e-3)])
@pytest.mark.parametrize("part", [1.0 + 9e-10, 1.0 - 9e-10, 1.0, 1.0 + 3e-12, 0.7])
def test_fixed_steps_end_at_the_end(span, part):
    step = part * abs(span[1] - span[0]) / 8
    found = integrate(Problem(LINE, [1.0], decay), "RKMK4", span, step)
    assert abs(found.t[-1] - span[1]) <= 4 * np.spacing(max(map(abs, span)))
    assert found.steps == (12 if part == 0.7 else 8)
    fine = integrate(Problem(LINE, [1.0], decay), "RKMK4", span, step, t_eval=[span[1]])
    assert found.y[-1] == fine.y[-1]


def test_steps_that_divide_the_interval_are_kept_to_the_bit():
    for end, step in ((1.0, 0.1), (0.3, 0.1), (10.0, 0.01), (1000.0, 0.05), (4.0, 0.8)):
        assert integrate(Problem(LINE, [1.0], decay), "RKMK4", (0.0, end), step).step == step


@pytest.mark.parametrize("step", [2.0, 1e9, 3e9, 1e300])
def test_a_step_longer_than_the_interval_is_one_step(step):
    found = integrate(Problem(LINE, [1.0], decay), "RKMK4", (0.0, 1.0), step)
    assert (found.steps, found.step, found.t[-1]) == (1, 1.0, 1.0)
    assert abs(found.y[-1, 0] - np.exp(-1.0)) < 0.01


@pytest.mark.parametrize("method", ["RKMK_BOGACKI_SHAMPINE32", "RKMK_DORMAND_PRINCE54", "RKMK_DOP853"])
@pytest.mark.parametrize("seed", range(4))
def test_variable_steps_stay_in_the_interval(method, seed):
    """Neither the search for a first step nor a last stage looks beyond the end, not by a unit of rounding."""
    random = np.random.default_rng(seed)
    for _ in range(10):
        t0, length = random.normal() * 10.0 ** random.uniform(-3, 3), 10.0 ** random.uniform(-6, 2)
        t1 = t0 + random.choice([-1.0, 1.0]) * length
        low, high = sorted((t0, t1))

        def field(t, y, low=low, high=high):
            assert low <= t <= high
            return np.array([1e-9 * np.cos(t), -y[1]])

        options = {"rtol": 1e-6, "atol": 1e-6} | ({"t_eval": [0.5 * (t0 + t1), t1]} if random.random() < 0.5 else {})
        found = integrate(Problem(PLANE, [1.0, 1.0], field), method, (t0, t1), **options)
        assert found.success
        assert found.t[-1] == t1


def test_relative_tolerances_may_differ_by_component():
    def field(t, y):
        return np.array([-y[0], np.cos(20 * t)])

    loose, tight, one = (
        integrate(Problem(PLANE, [1.0, 0.0], field), "RKMK_DORMAND_PRINCE54", (0.0, 2.0), rtol=rtol, atol=1e-12)
        for rtol in ([1e-9, 1e-1], [1e-1, 1e-9], 1e-9)
    )
    assert abs(loose.y[-1, 0] - np.exp(-2.0)) < 1e-7
    assert tight.steps > 2 * loose.steps
    same = integrate(
        Problem(PLANE, [1.0, 0.0], field), "RKMK_DORMAND_PRINCE54", (0.0, 2.0), rtol=[1e-9] * 2, atol=1e-12
    )
    assert np.array_equal(one.y, same.y)
    with pytest.raises(ValueError, match=r"rtol: .*one per component of the velocity"):
        integrate(Problem(PLANE, [1.0, 0.0], field), "RKMK_DORMAND_PRINCE54", (0.0, 2.0), rtol=[1e-9] * 3)


# --- errors of invariants ---------------------------------------------------------------------------------------------


def test_errors_are_relative_only_where_a_scale_exists():
    def field(t, y):
        return np.array([1e-3 * y[0], 2e-14])

    invariants = {"size": lambda t, y: y[0], "gap": lambda t, y: 1e-16 + y[1], "nothing": lambda t, y: 0 * y[0]}
    found = integrate(Problem(PLANE, [1.0, 0.0], field, invariants=invariants), "RKMK4", (0.0, 1.0), 0.1)
    assert found.error("gap") == pytest.approx(2e-14)
    assert found.error("gap", relative=True) == pytest.approx(200.0)
    assert found.error("size") == pytest.approx(np.expm1(1e-3))
    assert found.error("nothing") == 0.0
    small = integrate(Problem(PLANE, [1e-9, 0.0], field, invariants=invariants), "RKMK4", (0.0, 1.0), 0.1)
    assert small.error("size") == pytest.approx(np.expm1(1e-3))
    starts = [[1.0, 0.0], [1.0, 5.0]]
    many = integrate(Problem(PLANE, starts, field, invariants=invariants), "RKMK4", (0.0, 1.0), 0.1)
    assert many.error("gap") == pytest.approx([2e-14, 2e-14 / 5], rel=0.2)


@pytest.mark.parametrize(
    ("field", "start", "step", "helps"),
    [
        (lambda t, y: y * y, 1.0, 1.0, True),  # x = 1/(1 − t)
        (lambda t, y: -1e3 * y + 1e-6 * np.sin(1e11 * y), 0.6, 0.1, False),  # noise
        (lambda t, y: -1e4 * np.sign(y - 0.5), 0.5 + 1e-9, 0.1, False),  # it slides along a jump
    ],
    ids=["long", "noisy", "jumping"],
)
def test_a_smaller_step_is_advised_only_where_one_is_solved(field, start, step, helps):
    problem = Problem(rn(1), [start], field)
    solution = integrate(problem, "MIDPOINT", (0.0, step), step)
    assert solution.status.name in ("NOT_CONVERGED", "NON_FINITE")
    assert ("a smaller step does not help" in solution.message) is not helps
    assert ("use a smaller step" in solution.message or "a smaller step or" in solution.message) is helps
    assert ("the field jumps at about t = " in solution.message) == (field(0.0, 1.0) == -1e4)
    smaller = integrate(problem, "MIDPOINT", (0.0, 0.1 * step), 0.1 * step)
    assert (smaller.status.name == "OK") is helps


def test_a_smaller_step_is_not_advised_where_the_field_leads_back_to_a_jump():
    """A thruster that switches: half the step is solved, and comes up to the jump."""
    problem = Problem(rn(2), [1.0, 0.3], lambda t, y: [y[1], -np.sign(y[0] + y[1])])
    for given in (("GAUSS8", (0.0, 10.0), 0.01), ("RKMK_RADAU_IIA3", (0.0, 10.0), 0.01), ((0.0, 10.0),)):
        solution = integrate(problem, *given)
        assert solution.status is Status.NOT_CONVERGED
        assert "the field jumps at about t = 1.0" in solution.message
        assert "take RKMK4 in equal steps" in solution.message
        assert "use a smaller step" not in solution.message
    smooth = Problem(rn(2), [1.0, 0.3], lambda t, y: [y[1], -np.tanh((y[0] + y[1]) / 1e-3)])
    assert integrate(smooth, (0.0, 10.0)).success


def test_where_steps_take_long_to_fail_not_all_smaller_ones_are_tried(monkeypatch):
    monkeypatch.setattr(diagnosis, "PATIENCE", -1.0)
    problem = Problem(rn(1), [0.5 + 1e-9], lambda t, y: -1e4 * np.sign(y - 0.5))
    solution = integrate(problem, "MIDPOINT", (0.0, 0.1), 0.1)
    assert "perhaps a smaller step helps" in solution.message
