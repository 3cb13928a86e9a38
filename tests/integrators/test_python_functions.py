"""Plain Python and jitted functions alike: the same numbers by the compiled engine and by the interpreted one."""

from __future__ import annotations

import functools
import math
import os
import signal
import warnings

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.controllers import IntegratingController, LogarithmicHamiltonian
from integrators.engine import run as engine
from integrators.events import Event
from integrators.methods import METHODS
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn
from liegroup.compile import entry, ld, st
from liegroup.table import RN, SE3, SO3, table_of

TOP = table_of([(SO3, 1), (RN, 3)])
START = [1.0, 0.0, 0.0, 0.0, 0.5, -0.8, 4.0]
LINE = table_of([(RN, 1)])


def top(t, y, parameters):
    """Heavy top, J = diag(parameters[:3]), weight on the axis: body velocity and rate of the momentum."""
    w, x, u, v, a, b, c = y
    i, j, k, weight = parameters
    gx, gy = 2 * (x * v - w * u), 2 * (u * v + w * x)
    return np.array(
        [
            a / i,
            b / j,
            c / k,
            b * c * (1 / k - 1 / j) + weight * gy,
            a * c * (1 / i - 1 / k) - weight * gx,
            a * b * (1 / j - 1 / i),
        ]
    )


def energy(t, y, parameters):
    w, x, u, v, a, b, c = y
    i, j, k, weight = parameters
    return 0.5 * (a * a / i + b * b / j + c * c / k) + weight * (w * w - x * x - u * u + v * v)


def posed(field, invariant=energy):
    return Problem(
        TOP,
        START,
        field,
        parameters=[1.0, 1.4, 0.6, 2.0],
        invariants={"energy": invariant},
        canonical=True,
        model="top",
    )


@functools.cache
def jitted():
    """Compiled once for all methods."""
    return posed(numba.njit(top), numba.njit(energy))


def same(a, b):
    for name in ("t", "y", "invariants", "least", "greatest", "mean_since"):
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert (a.steps, a.evaluations, a.iterations, a.rejected) == (b.steps, b.evaluations, b.iterations, b.rejected)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("RKMK4", {"step": 0.02}),
        ("CF4", {"step": 0.02, "t_eval": [0.113, 0.25, 0.5]}),
        ("MIDPOINT", {"step": 0.02}),
        ("RKMK_GAUSS3", {"step": 0.02}),
        ("SPLIT_SRKN6_11B", {"step": 0.05}),
        ("VARIATIONAL_GAUSS2", {"step": 0.02}),
        ("RKMK_TSITOURAS54", {"rtol": 1e-8}),
    ],
)
def test_called_back_interpreted_and_jitted_give_the_same_numbers(monkeypatch, method, options):
    event = {"turn": Event(lambda t, y: y[4], direction=-1)}
    called = integrate(posed(top), method, (0, 0.6), events=event, **options)
    assert called.success
    monkeypatch.setattr(engine, "CALL_BACK", False)
    interpreted = integrate(posed(top), method, (0, 0.6), events=event, **options)
    same(called, interpreted)
    for found, expected in zip(called.events["turn"], interpreted.events["turn"], strict=True):
        assert np.array_equal(found, expected)
    compiled = integrate(jitted(), method, (0, 0.6), **options)
    assert np.abs(compiled.y - called.y).max() < 1e-13


def test_every_form_of_a_function_is_called_back(monkeypatch):
    """f(t, y, params, out) and all six arguments, several invariants, a projection, an ensemble."""

    def writes(t, y, parameters, out):
        out[:] = top(t, y, parameters)

    def six(t, y, parameters, structure, work, out):
        out[:] = top(t, y, parameters) * structure[1]

    def unit(t, y, parameters):
        return np.concatenate([y[:4] / np.linalg.norm(y[:4]), y[4:]])

    starts = np.array([START, [1.0, 0.0, 0.0, 0.0, 0.1, 0.2, 3.0]])
    for field in (top, writes, six):
        options = {"parameters": [1.0, 1.4, 0.6, 2.0], "structure": [7, 1], "projection": unit, "canonical": True}
        problem = Problem(TOP, starts, field, invariants={"energy": energy, "c": lambda t, y: y[6]}, **options)
        monkeypatch.setattr(engine, "CALL_BACK", True)
        called = integrate(problem, "RKMK4", (0, 0.2), 0.02)
        monkeypatch.setattr(engine, "CALL_BACK", False)
        same(called, integrate(problem, "RKMK4", (0, 0.2), 0.02))
        assert called.y.shape == (2, 11, 7)


def test_reversible_controllers_call_their_functions_back(monkeypatch):
    problem = Problem(
        table_of([(RN, 2), (RN, 2)]),
        [0.2, 0, 0, 3.0],
        lambda t, y: np.r_[y[2:], -y[:2] / np.hypot(y[0], y[1]) ** 3],
        canonical=True,
    )
    size = IntegratingController(lambda t, y: [np.hypot(y[0], y[1]) ** 1.5, -1.5 * (y[:2] @ y[2:]) / (y[:2] @ y[:2])])
    deep = LogarithmicHamiltonian(lambda t, y: -1 / np.hypot(y[0], y[1]))
    for controller in (size, deep):
        monkeypatch.setattr(engine, "CALL_BACK", True)
        called = integrate(problem, "SPLIT_BM4_S6", (0, 2), 0.2, controller=controller)
        monkeypatch.setattr(engine, "CALL_BACK", False)
        same(called, integrate(problem, "SPLIT_BM4_S6", (0, 2), 0.2, controller=controller))


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, m in METHODS.items() if getattr(m, "needs", "") in ("field", "time")])
def test_every_general_method_gives_the_interpreted_numbers(monkeypatch, name):
    problem = Problem(
        table_of([(SE3, 1)]),
        [0, 0, 0, 1.0, 0, 0, 0],
        lambda t, y: np.array([np.sin(t), 0.3, y[0], 0.2, y[4], np.cos(t)]),
    )
    if METHODS[name].needs == "time":
        problem = Problem(problem.table, problem.y0, lambda t, y: np.array([np.sin(t), 0.3, 0.1, 0.2, t, np.cos(t)]))
    called = integrate(problem, name, (0, 0.2), 0.1)
    monkeypatch.setattr(engine, "CALL_BACK", False)
    same(called, integrate(problem, name, (0, 0.2), 0.1))


# --- many states at once ---------------------------------------------------------------------------------------------


def swing(t, y):
    return np.stack([y[..., 1], np.cos(2.0 * t) - np.sin(y[..., 0])], axis=-1)


def counted(function):
    def call(t, y):
        call.shapes.append(np.shape(y))
        return function(t, y)

    call.shapes = []
    return call


@pytest.mark.parametrize("known", [{}, {"autonomous": False}])
def test_a_vectorised_field_is_called_once_for_all_stages(known):
    one, many = (counted(swing) for _ in range(2))
    plain = integrate(Problem(rn(2), [2.0, 0.3], one), "GAUSS8", (0, 3), 0.25)
    batch = integrate(Problem(rn(2), [2.0, 0.3], many, vectorized=True, **known), "GAUSS8", (0, 3), 0.25)
    assert np.abs(plain.y - batch.y).max() < 1e-14
    assert many.shapes.count((8, 2)) * 8 == batch.evaluations + 8  # once more to look at it
    assert len(one.shapes) >= plain.evaluations


@pytest.mark.parametrize(
    "field",
    [
        lambda t, y: np.array([y[1], np.cos(2.0 * t) - np.sin(y[0])]),
        lambda t, y: np.stack([y[..., 1], np.cos(2.0 * np.min(t)) - np.sin(y[..., 0])], axis=-1),
        lambda t, y: np.stack([y[..., 1], np.cos(2.0 * t) - np.sin(y.reshape(-1)[0]) + 0.0 * y[..., 0]], axis=-1),
        lambda t, y: np.stack([y[..., 1], math.cos(2.0 * t) - np.sin(y[..., 0])], axis=-1),
    ],
    ids=["components first", "one time for all", "one state for all", "scalar times"],
)
def test_a_field_that_is_not_vectorised_is_found_out_and_called_one_by_one(field):
    problem = Problem(rn(2), [2.0, 0.3], field, vectorized=True)
    with pytest.warns(RuntimeWarning, match="vectorized=True, but .* one state .*components first.* solve_ivp") as said:
        found = integrate(problem, "GAUSS8", (0, 3), 0.25)
    assert len(said) == 1
    integrate(problem.with_start([[2.0, 0.3], [1.0, 0.3]]), "GAUSS8", (0, 1), 0.25)  # and says no more
    assert np.array_equal(found.y, integrate(Problem(rn(2), [2.0, 0.3], field), "GAUSS8", (0, 3), 0.25).y)


@pytest.mark.parametrize(
    "field", [lambda t, y: [y[1], np.cos(t) - y[0]], lambda t, y: [y[1] * np.cos(t), -y[0]]], ids=["at rest", "near it"]
)
def test_a_field_that_reads_the_time_though_it_is_said_not_to_is_refused(field):
    claims = Problem(rn(2), [1.0, 0.0], field, autonomous=True)
    with pytest.raises(ValueError, match=r"autonomous: True, but component . of the field is .* at t = 3\.8.*leave"):
        integrate(claims, "GAUSS8", (0, 10), 0.1)
    hands_on = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1] + 0.0 * t, -y[0]], autonomous=True)
    assert integrate(hands_on, "GAUSS8", (0, 1), 0.25).success


class Push:
    def field(self, t, y):
        return np.array([np.cos(t)])

    def still(self, t, y):
        return -y

    def of_many(self, *arguments):
        return np.array([np.cos(arguments[0])])

    @staticmethod
    def alone(t, y):
        return np.array([np.cos(t)])

    __call__ = field


def wrapped(function):
    """What is called reads the time; the function it wraps does not."""

    @functools.wraps(function)
    def pushed(t, y):
        return function(t, y) + np.cos(t)

    return pushed


def passing_on(function):
    return functools.wraps(function)(lambda *arguments: function(*arguments) + np.cos(arguments[0]))


@pytest.mark.parametrize(
    ("field", "reads"),
    [
        (Push().field, True),
        (Push().of_many, True),
        (Push.alone, True),
        (Push(), True),
        (functools.partial(lambda w, t, y: np.array([np.cos(w * t)]), 1.0), True),
        (wrapped(lambda t, y: 0.0 * y), True),
        (passing_on(lambda t, y: 0.0 * y), True),
        (Push().still, False),
        (lambda t, y: -y, False),
    ],
    ids=["method", "method of *", "static", "object", "partial", "wrapper", "wrapper of *", "still method", "still"],
)
def test_what_is_called_says_whether_it_reads_the_time(field, reads):
    assert Problem(rn(1), [0.0], field).is_autonomous is not reads
    if reads:  # ẏ = cos t, with ∂f/∂t in the step
        assert integrate(Problem(rn(1), [0.0], field), "RODAS4", (0, 1), 0.05).y[-1, 0] == pytest.approx(
            np.sin(1.0), abs=1e-6
        )


def test_a_compiled_field_needs_no_batches():
    with pytest.raises(ValueError, match="vectorized: for plain Python fields"):
        Problem(rn(2), [2.0, 0.3], numba.njit(lambda t, y: y), vectorized=True)


def test_a_jitted_field_beside_plain_events_sees_its_own_parameters():
    @numba.njit
    def field(t, y, parameters):
        return np.array([y[1], -parameters.sum() * y[0]])

    problem = Problem(rn(2), [1.0, 0.0], field, parameters=[0.25, 0.75])
    found = integrate(problem, "GAUSS8", (0, 4), 0.25, events={"through": lambda t, y: y[0]})
    assert found.events["through"][0] == pytest.approx([np.pi / 2], abs=1e-13)


def test_what_a_vectorised_field_raises_says_when():
    def fails(t, y):
        if np.max(t) > 1.0:
            raise ZeroDivisionError("late")
        return swing(t, y)

    with pytest.raises(ZeroDivisionError, match="late") as caught:
        integrate(Problem(rn(2), [2.0, 0.3], fails, vectorized=True), "GAUSS8", (0, 3), 0.25)
    assert "raised by field, called at t = array([" in caught.value.__notes__[0]
    assert caught.value.solution.t[-1] == 1.0


# --- what a function raises -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "options"),
    [("RKMK4", {"step": 0.01}), ("MIDPOINT", {"step": 0.01}), ("RKMK_DORMAND_PRINCE54", {"max_step": 0.01})],
)
def test_an_exception_comes_through_with_time_and_step_and_the_results_are_kept(method, options):
    def broken(t, y):
        if t > 0.5:
            raise KeyError("no such table")
        return -y

    with pytest.raises(KeyError, match="no such table") as caught:
        integrate(Problem(LINE, [1.0], broken), method, (0, 1), **options)
    (note,) = caught.value.__notes__
    assert "raised by field, called at t = 0.5" in note
    assert f"of {method}" in note
    kept = caught.value.solution
    assert kept.status is Status.INTERRUPTED
    assert "no such table" in kept.message
    assert 0.45 < kept.t[-1] <= 0.5
    assert np.abs(kept.y[:, 0] - np.exp(-kept.t)).max() < 1e-4


@pytest.mark.parametrize("broken", ["invariants", "events", "projection"])
def test_other_functions_may_raise_as_well(broken):
    def raising(t, y):
        if t > 0.5:
            raise ZeroDivisionError(broken)
        return y[:1]

    functions = {"invariants": {"a": raising}, "projection": raising}
    problem = Problem(LINE, [1.0], lambda t, y: -y, **({broken: functions[broken]} if broken in functions else {}))
    with pytest.raises(ZeroDivisionError, match=broken) as caught:
        integrate(problem, "RKMK4", (0, 1), 0.01, events={"a": raising} if broken == "events" else None)
    assert f"raised by {broken}, called at t = 0.5" in caught.value.__notes__[0]
    assert 0.45 < caught.value.solution.t[-1] <= 0.52


def test_a_field_that_returns_the_wrong_shape_later_on_is_named():
    with pytest.raises(ValueError, match=r"field: returned an array of shape \(2,\), expected \(1,\)"):
        integrate(Problem(LINE, [1.0], lambda t, y: -y if t < 0.5 else np.zeros(2)), "RKMK4", (0, 1), 0.1)


def test_ctrl_c_in_a_field_returns_what_was_computed():
    asked = []

    def slow(t, y):
        if t > 5.0 and not asked:
            asked.append(t)
            os.kill(os.getpid(), signal.SIGINT)
        return -y

    solution = integrate(Problem(LINE, [1.0], slow), "RKMK4", (0, 1e9), 1e-2, save_every=100_000)
    assert solution.status is Status.INTERRUPTED
    assert solution.t[-1] >= 5.0
    assert np.abs(solution.y[:, 0] - np.exp(-solution.t)).max() < 1e-9


def test_a_second_ctrl_c_is_a_keyboard_interrupt():
    def slow(t, y):
        if t > 5.0:
            os.kill(os.getpid(), signal.SIGINT)
        return -y

    before = signal.getsignal(signal.SIGINT)  # ignored where the tests run in the background
    with pytest.raises(KeyboardInterrupt):
        integrate(Problem(LINE, [1.0], slow), "RKMK4", (0, 1e9), 1e-2, save_every=100_000)
    assert signal.getsignal(signal.SIGINT) is before


def of_four_numbers(t, y, a, b, c, d):
    return y


def through_its_array(t, y, parameters, out):
    out[:] = y[1], -y[0]
    return out


@pytest.mark.parametrize("given", ["field", "invariants", "projection", "events"])
@pytest.mark.parametrize("function", [lambda t, y, a, b: y, of_four_numbers])
def test_a_function_that_returns_what_it_is_to_write_is_named(given, function):
    """It was taken to write zeros: nothing moved, with success."""
    functions = {"field": lambda t, y: [y[1], -y[0]], "invariants": None} | {given: function}
    events = functions.pop("events", None)
    if given == "invariants":
        functions["invariants"] = {"of_it": function}
    with pytest.raises(TypeError, match=rf"takes {4 if function is not of_four_numbers else 6} arguments.* returned"):
        integrate(Problem(rn(2), [1.0, 0.0], **functions), "RKMK4", (0, 1), 0.1, events=events)


def test_a_jitted_function_that_returns_what_it_is_to_write_is_named():
    for function in (numba.njit(lambda t, y, a, b: -y), numba.njit(of_four_numbers)):
        with pytest.raises(TypeError, match=r"field: takes \d arguments.* returned"):
            integrate(Problem(rn(2), [1.0, 0.0], function), "RKMK4", (0, 1), 0.1)


def test_a_plain_function_that_leaves_a_value_out_is_named_as_a_compiled_one():
    def of_one(t, y, parameters, out):
        out[0] = y[1]

    with pytest.raises(ValueError, match=r"field: does not set component 1 of 2; out\[1\] = … sets it"):
        integrate(Problem(rn(2), [1.0, 0.0], of_one), "RKMK4", (0, 1), 0.1)
    watched = Problem(
        rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], invariants=lambda t, y, p, out: None, invariant_names=("energy",)
    )
    with pytest.raises(ValueError, match="invariants: does not set component 0 of 1"):
        integrate(watched, "RKMK4", (0, 1), 0.1)


def test_a_function_that_writes_may_return_what_it_has_written():
    written = integrate(Problem(rn(2), [1.0, 0.0], through_its_array), "RKMK4", (0, 1), 0.1)
    returned = integrate(Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]]), "RKMK4", (0, 1), 0.1)
    assert np.array_equal(written.y, returned.y)


def test_arguments_in_another_order_are_told_of():
    with pytest.raises(TypeError, match="not subscriptable") as caught:
        integrate(Problem(rn(2), [1.0, 0.5], lambda y, t: [y[1], -y[0]]), (0, 1))
    assert "raised by field, called at the start, t = 0.0, y = [1.0, 0.5], in this order" in caught.value.__notes__


def test_a_jitted_field_that_reads_behind_its_arrays_is_refused():
    behind = numba.njit(lambda t, y: np.array([y[5], -y[0]]))
    with pytest.raises(ValueError, match="index 5 is out of bounds for axis 0 with size 2; its compiled form"):
        integrate(Problem(rn(2), [1.0, 0.0], behind), "RKMK4", (0.0, 1.0), 0.01)


@entry(*FIELD_SIGNATURES)
def of_two_parameters(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, -parameters[0] * ld(y, 0) - parameters[1] * ld(y, 1))


@entry(*FIELD_SIGNATURES)
def of_three_components(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 2, ld(y, 0))


@entry(*FIELD_SIGNATURES)
def of_one_component(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))


@entry(*FIELD_SIGNATURES)
def into_its_state(t, y, parameters, structure, work, out):
    st(y, 0, 2.0 * ld(y, 0))
    st(out, 0, ld(y, 1))
    st(out, 1, -ld(y, 0))


@pytest.mark.parametrize(
    ("functions", "parameters", "message"),
    [
        ({"field": of_two_parameters}, [4.0], "field: index 1 is out of bounds .* its compiled form .* 1 parameters"),
        ({"field": of_three_components}, [], "field: index 2 is out of bounds .* room for 2 values"),
        ({"field": of_one_component}, [], r"field: does not set component 1 of 2; st\(out, 1, …\) sets it"),
        ({"field": into_its_state}, [], r"field: writes into y\[0\], the state of the run"),
        (
            {"field": of_two_parameters, "invariants": of_two_parameters, "invariant_names": ("one",)}, [4.0, 1.0],
            "invariants: index 1 is out of bounds .* room for 1 values",
        ),
    ],
)  # fmt: skip
def test_an_entry_that_does_not_keep_to_its_arrays_is_refused(functions, parameters, message):
    with pytest.raises(ValueError, match=message):
        integrate(Problem(rn(2), [1.0, 0.0], parameters=parameters, **functions), "RKMK4", (0.0, 1.0), 0.01)


@entry(*FIELD_SIGNATURES)
def of_a_table(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, -parameters[int(10.0 * t)] * ld(y, 0))


@numba.njit
def of_a_jitted_table(t, y, parameters):
    return np.array([y[1], -parameters[int(10.0 * t)] * y[0]])


@pytest.mark.parametrize("field", [of_a_table, of_a_jitted_table])
@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8"])
def test_a_compiled_field_that_leaves_its_arrays_later_makes_the_run_doubtful(field, method):
    problem = Problem(rn(2), [1.0, 0.0], field, parameters=[4.0] * 30)
    assert integrate(problem, method, (0.0, 2.9), 0.01).success
    doubt = next(doubt for doubt in integrate(problem, method, (0.0, 3.2), 0.01).doubts if doubt.name == "arrays")
    assert "index 3" in doubt.says
    assert doubt.time >= 3.0


def test_a_jitted_field_that_is_not_its_source_any_more_is_told_of():
    """What it reads of its module is frozen when it is compiled."""
    made = {"np": np, "stiffness": 2.0}
    exec("def field(t, y):\n    return np.array([y[1], -stiffness * y[0]])", made)
    problem = Problem(rn(2), [1.0, 0.0], numba.njit(made["field"]))
    assert integrate(problem, "RKMK4", (0.0, 1.0), 0.01).success
    made["stiffness"] = 3.0
    with pytest.warns(RuntimeWarning, match="component 1 is -2 at the start, and -3 by its source"):
        assert integrate(problem, "RKMK4", (0.0, 1.0), 0.01).success


def test_one_jitted_field_serves_all_problems():
    field = numba.njit(lambda t, y, p: np.array([y[1], -p[0] * y[0]]))
    made = [Problem(rn(2), [1.0, 0.0], field, parameters=[k]) for k in (1.0, 4.0)]
    assert made[0].field is made[1].field
    ends = [integrate(problem, "RKMK4", (0.0, 1.0), 0.01).y[-1, 0] for problem in made]
    assert ends == pytest.approx([np.cos(1.0), np.cos(2.0)], abs=1e-7)


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8"])
def test_jitted_functions_of_another_number_of_values_are_refused_as_plain_ones(method):
    """One value would be that of every component."""
    table = table_of([(RN, 2)])
    for wrong, said in (
        (lambda t, y: np.array([y[1]]), r"\(1,\)"),
        (lambda t, y: y[1], r"\(\)"),
        (lambda t, y: np.array([[y[1], -y[0]]]), r"\(1, 2\)"),
        (lambda t, y: (y[1], -y[0], 1.0), r"\(3,\)"),
    ):
        for function in (wrong, numba.njit(wrong)):
            with pytest.raises(ValueError, match=rf"field: returned an array of shape {said}, expected \(2,\)"):
                integrate(Problem(table, [1.0, 0.5], function), method, (0.0, 1.0), 0.1)
    for right in (lambda t, y: (y[1], -y[0]), lambda t, y: [y[1], -y[0]]):
        assert integrate(Problem(table, [1.0, 0.5], numba.njit(right)), method, (0.0, 1.0), 0.1).success


def test_jitted_events_that_are_truth_values_are_refused_as_plain_ones():
    field = numba.njit(lambda t, y: np.array([y[1], -y[0]]))
    posed = Problem(table_of([(RN, 2)]), [1.0, 0.0], field)
    for function in (lambda t, y: y[0] < 0.0, numba.njit(lambda t, y: y[0] < 0.0)):
        with pytest.raises(TypeError, match="event 'e': returned a truth value"):
            integrate(posed, "RKMK4", (0.0, 3.0), 0.1, events={"e": function})


def test_a_jitted_field_that_writes_into_its_state_is_named():
    @numba.njit
    def slips(t, y):
        y *= 0.999
        return np.array([y[1], -y[0]])

    with pytest.raises(ValueError, match=r"field: writes into y\[0\], the state of the run; work on a copy"):
        integrate(Problem(table_of([(RN, 2)]), [1.0, 0.0], slips), "RKMK4", (0.0, 1.0), 0.1)


def test_a_jacobian_that_ends_in_looks_after_the_run_is_said_of_the_looks_and_no_doubt():
    def jacobian(t, y):
        if t > 0.3:  # the run keeps an earlier one, and does not ask
            raise RuntimeError("the table ends")
        return np.array([[0.0, 1.0], [-100.0, 0.0]])

    posed = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -100.0 * y[0]]), jacobian=jacobian)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        run = integrate(posed, "RKMK_RADAU_IIA3", (0.0, 1.0), 0.01)
    assert run.success
    said = [str(warning.message) for warning in told]
    assert any("its steps resolve the motion could not be looked at (the table ends)" in text for text in said)
