"""Inputs of problems: a function in any form gives the same motion; what is wrong is named at once."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Event, Problem, Sampled, integrate, traced
from integrators.problem import Inputs, Variable
from liegroup import rn, so3

Y0 = np.array([0.3, 0.0])
SPAN = (0.0, 1.0)


@numba.njit
def swing(t, y, p):
    return np.array([y[1], -np.sin(y[0]) + p[1] * p[0]])


@numba.njit
def energy(t, y):
    return 0.5 * y[1] ** 2 - np.cos(y[0])


@numba.njit
def power(t, y, p):
    return np.array([p[1] * p[0] * y[1]])


def pendulum(field=swing, **changes):
    inputs = Inputs(("torque",), (0,), ("N m",), power=power)
    return Problem(rn(2), Y0, field, parameters=[0.0, 2.0], inputs=inputs, model="pendulum", **changes)


PENDULUM = pendulum(invariants={"energy": energy})


def wave(t):
    return np.sin(3.0 * t)


def feedback(t, y):
    return np.sin(3.0 * t) - 0.5 * y[1]


jitted = numba.njit(feedback)
DRIVEN = PENDULUM.with_inputs(jitted)


def truth(u):
    found = solve_ivp(lambda t, y: [y[1], -np.sin(y[0]) + 2.0 * u(t, y)], SPAN, Y0, "DOP853", rtol=1e-13, atol=1e-13)
    return found.y[:, -1]


@pytest.mark.parametrize("given", [feedback, jitted, traced(feedback)], ids=["plain", "jitted", "traced"])
def test_feedback_in_every_form_is_the_motion_of_an_independent_solver(given):
    made = PENDULUM.with_inputs({"torque": given})
    assert made.is_compiled
    np.testing.assert_allclose(integrate(made, "GAUSS8", SPAN, 0.1).y[-1], truth(feedback), atol=2e-12)


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8"])
def test_beside_a_plain_event_a_field_with_a_jitted_input_is_called_compiled(method):
    def interpreted(*arguments):
        raise AssertionError("of a mechanism this takes a thousand times as long")

    event = {"high": Event(lambda t, y: y[0] - 0.4)}
    compiled = replace(DRIVEN, field=replace(DRIVEN.field, python=interpreted))
    run = integrate(compiled, method, SPAN, 0.05, events=event)
    assert np.array_equal(run.y, integrate(DRIVEN, method, SPAN, 0.05).y)
    assert len(run.events["high"][0]) == 1


def test_forms_say_how_they_run():
    kinds = {jitted: "jitted", feedback: "plain Python", traced(feedback): "traced", Sampled([0.0], [1.0]): "sampled"}
    for given, kind in kinds.items():
        assert PENDULUM.with_inputs(given).inputs.signal.kinds == (kind,)


def test_a_plain_field_takes_functions_too():
    made = pendulum(lambda t, y, p: [y[1], -np.sin(y[0]) + p[1] * p[0]]).with_inputs(feedback)
    assert not made.is_compiled
    np.testing.assert_allclose(integrate(made, "GAUSS8", SPAN, 0.1).y[-1], truth(feedback), atol=2e-12)


def test_numbers_are_held_and_functions_forgotten():
    held = PENDULUM.with_inputs([0.7])
    np.testing.assert_array_equal(
        integrate(held, "RKMK4", SPAN, 0.1).y,
        integrate(PENDULUM.with_inputs(feedback).with_inputs({"torque": 0.7}), "RKMK4", SPAN, 0.1).y,
    )
    np.testing.assert_allclose(integrate(held, "GAUSS8", SPAN, 0.1).y[-1], truth(lambda t, y: 0.7), atol=2e-12)


def test_other_parameters_are_kept_when_functions_are_forgotten():
    samples = Sampled(np.linspace(0.0, 1.0, 11), np.ones(11))
    for given in (feedback, samples):
        made = PENDULUM.with_inputs({"torque": given})
        numbers = made.parameters.copy()
        numbers[1] = -3.0
        changed = replace(made, parameters=numbers)
        assert changed.with_inputs([0.7]).parameters.tolist() == [0.7, -3.0]
        assert changed.with_inputs(jitted).parameters[1] == -3.0


def test_samples_are_the_function_at_its_nodes_and_between_them():
    times = np.array([0.0, 0.4, 1.0])
    held, lines = Sampled(times, wave(times)), Sampled(times, wave(times), hold="linear")
    for k, t in enumerate(times):
        assert held(t)[0] == lines(t)[0] == wave(times)[k]
    assert held(0.39)[0] == wave(0.0)
    assert lines(0.1)[0] == pytest.approx(0.25 * wave(0.4), rel=1e-15)
    assert [held(-1.0)[0], held(9.0)[0]] == [lines(-1.0)[0], lines(9.0)[0]] == [wave(0.0), wave(1.0)]


def test_a_zero_order_hold_that_ends_with_the_steps_is_exact():
    """Stages within the steps never see the next value."""
    values = np.array([0.5, -1.0, 0.25])
    made = PENDULUM.with_inputs(Sampled([0.0, 0.5, 1.0], values))
    y = Y0
    for u in values[:2]:
        y = integrate(PENDULUM.with_inputs([u]).with_start(y), "GAUSS8", (0.0, 0.5), 0.1).y[-1]
    np.testing.assert_allclose(integrate(made, "GAUSS8", SPAN, 0.1).y[-1], y, atol=1e-14)


def test_energy_less_work_is_constant_to_the_order_of_the_method():
    made = DRIVEN.with_work()
    errors = [integrate(made, "RKMK4", SPAN, h).error("balance") for h in (0.1, 0.05)]
    assert 12.0 < errors[0] / errors[1] < 40.0
    run = integrate(made, "GAUSS8", SPAN, 0.1)
    assert run.error("balance") < 1e-14
    assert abs(run["work"][-1, 0]) > 1e-3
    assert run["energy"][-1] - run["energy"][0] == pytest.approx(run["work"][-1, 0], abs=1e-14)


@pytest.mark.parametrize("field", [swing.py_func, swing], ids=["plain", "jitted"])
def test_the_work_beside_a_state_is_no_velocity_to_a_function(field):
    """f(t, q, v) reads the velocities, not the work that stands behind the state."""
    made = pendulum(field, variables=(Variable("q", ("angle",)), Variable("v", ("rate",))))
    made = made.with_inputs(lambda t, q, v: np.sin(3.0 * t) - 0.5 * v[0])
    worked = made.with_work()
    runs = [integrate(problem, "RKMK4", SPAN, 0.1) for problem in (made, worked)]
    np.testing.assert_array_equal(runs[1].y[:, :2], runs[0].y)
    np.testing.assert_array_equal(worked.input_powers(runs[1].t, runs[1].y), made.input_powers(runs[0].t, runs[0].y))


def test_functions_are_forgotten_beside_work_too():
    made = DRIVEN.with_work().with_inputs([0.5])
    assert repr(made.inputs) == "<Inputs: torque (N m)>"
    again = made.with_inputs([0.3])
    np.testing.assert_array_equal(again.y0, made.y0)
    expected = PENDULUM.with_inputs([0.3]).with_work()
    np.testing.assert_array_equal(*(integrate(x, "RKMK4", SPAN, 0.1).y for x in (again, expected)))


def test_many_starts_are_run_one_by_one_and_do_not_mix():
    starts = np.array([Y0, [-0.5, 0.2], [1.0, 0.0]])
    together = integrate(DRIVEN.with_start(starts), "RKMK4", SPAN, 0.1)
    for k, start in enumerate(starts):
        alone = integrate(DRIVEN.with_start(start), "RKMK4", SPAN, 0.1)
        np.testing.assert_array_equal(np.asarray(together.y)[k], alone.y)


def test_a_body_on_a_group_turns_with_its_input():
    made = Problem(so3, so3.identity(), lambda t, q, p: [0.0, 0.0, p[0]], parameters=[0.0], inputs={"rate": 0})
    end = integrate(made.with_inputs(lambda t: 3.0 * t**2), "RKMK4", SPAN, 0.05).y[-1]
    np.testing.assert_allclose(end, so3.exp([0.0, 0.0, 1.0]), atol=1e-10)


def test_variable_steps_take_functions():
    run = integrate(DRIVEN, "RKMK_DOP853", SPAN, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run.y[-1], truth(feedback), atol=1e-8)


def scold(t):
    raise KeyError("the sensor")


def test_what_a_function_raises_is_raised_with_its_call():
    with pytest.raises(KeyError, match="sensor") as caught:
        integrate(PENDULUM.with_inputs(scold), "RKMK4", SPAN, 0.1)
    assert any("t = 0.0" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("u", "error", "words"),
    [
        ({"force": 1.0}, ValueError, "no input 'force'; the problem has 'torque'"),
        ({"torque": np.nan}, ValueError, "input 'torque'.*nan"),
        ({"torque": "full"}, TypeError, "input 'torque'.*'full'"),
        ([1.0, 2.0], ValueError, r"shape \(2,\), expected 1 finite"),
        ([np.inf], ValueError, "input 'torque' is inf"),
        (lambda: 1.0, TypeError, "takes 0 arguments"),
        (lambda t, q, v, w: 1.0, TypeError, "takes 4 arguments"),
        (lambda t, q, v: 1.0, ValueError, r"expected f\(t, y\)"),
        (traced(lambda t: 1.0 if t > 0.5 else 0.0), TypeError, "cannot be traced"),
        (Sampled([0.0, 1.0], np.ones((2, 3))), ValueError, "values for 3 inputs, expected 1"),
    ],
)
def test_what_is_no_input_is_named_at_once(u, error, words):
    with pytest.raises(error, match=words):
        PENDULUM.with_inputs(u)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda t: [1.0, 2.0], r"returned an array of shape \(2,\), expected \(1,\)"),
        (lambda t: np.nan, r"returned nan at t = 0.0"),
        (lambda t: 1j, "real numbers"),
    ],
)
def test_what_a_function_returns_wrongly_is_named_by_the_run(function, words):
    with pytest.raises((ValueError, TypeError), match=words):
        integrate(PENDULUM.with_inputs(function), "RKMK4", SPAN, 0.1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0, 1.0, 1.0], [1.0, 2.0, 3.0]), "times that increase; look at number 1"),
        (([0.0, np.nan], [1.0, 2.0]), "finite times"),
        (([0.0, 1.0], [1.0]), r"expected \(2,\) or \(2, m\)"),
        (([0.0, 1.0], [1.0, 2.0], "cubic"), "expected 'zero' or 'linear'"),
    ],
)
def test_samples_that_are_none_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        Sampled(*arguments)


@pytest.mark.parametrize("none", [[], {}, np.zeros(0)])
def test_no_numbers_are_taken_for_no_inputs(none):
    free = Problem(rn(2), Y0, swing, parameters=[0.0, 1.0])
    assert free.with_inputs(none).parameters.tolist() == [0.0, 1.0]


def test_inputs_stand_among_the_parameters_once():
    with pytest.raises(ValueError, match="'torque' stands behind the 2 parameters"):
        Problem(rn(2), Y0, swing, parameters=[0.0, 1.0], inputs={"torque": 2})
    with pytest.raises(ValueError, match="all different"):
        Problem(rn(2), Y0, swing, parameters=[0.0, 1.0], inputs={"torque": 0, "push": 0})
    with pytest.raises(ValueError, match="has no inputs"):
        Problem(rn(2), Y0, swing, parameters=[0.0, 1.0]).with_inputs([1.0])
    with pytest.raises(ValueError, match="no power"):
        Problem(rn(2), Y0, swing, parameters=[0.0, 1.0], inputs={"torque": 0}).with_work()


def test_an_input_that_is_no_number_ends_the_run_by_name():
    run = integrate(PENDULUM.with_inputs(traced(lambda t: np.log(0.5 - t))), "RKMK4", SPAN, 0.1)
    assert not run.finished
    assert "input 'torque' is -inf" in run.message


def test_a_function_is_not_asked_of_states_that_an_iteration_has_left_for_infinity():
    """Newton's method takes over where iterating goes wrong; the function was said to return what is no number."""
    asked = []

    def law(t, y):
        if isinstance(y, np.ndarray) and y.dtype.kind == "f":
            asked.append(y.copy())
        return -4000.0 * (y[0] - 1.5) ** 3 - 100.0 * y[1]

    method, steps = "RKMK_RADAU_IIA3", {"step": 0.05, "progress": False}
    mine = integrate(PENDULUM.with_inputs({"torque": law}), method, SPAN, **steps)
    compiled = integrate(PENDULUM.with_inputs({"torque": traced(law)}), method, SPAN, **steps)
    assert mine.success == compiled.success
    assert np.allclose(mine.y, compiled.y, atol=1e-12)
    assert np.isfinite(asked).all()


def noise():
    generator = np.random.default_rng(0)
    return lambda t, y: 0.1 * generator.normal()


def integral():
    sum_of_errors = [0.0]

    def law(t, y):
        sum_of_errors[0] += 1e-3 * (0.5 - y[0])
        return 30.0 * sum_of_errors[0]

    return law


@pytest.mark.parametrize("made", [noise, integral])
def test_functions_that_draw_numbers_or_remember_are_named_before_a_run(made):
    """Without a method steps were divided without end, or one that nobody gave was said to be too small."""
    law = made()
    mine = PENDULUM.with_inputs({"torque": law})
    plain = Problem(rn(2), Y0, lambda t, y: np.array([y[1], law(t, y)]))
    for given, names in ((mine, "u: input 'torque'"), (plain, "field: component '1'")):
        with pytest.raises(ValueError, match=rf"^{names} is .* at the same t = 0 and .* draws numbers or remembers"):
            integrate(given, SPAN)
        with pytest.warns(RuntimeWarning, match="draws numbers or remembers.*stepper"):
            integrate(given, "RKMK4", (0.0, 0.1), 0.05)
