"""The run engine: one source for compiled, lanes and interpreted runs; what is watched, kept and refused."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.layout import EVALUATIONS
from integrators.method import Method
from integrators.methods import METHODS, find, register
from integrators.steppers.rkmk import rkmk
from integrators.tableaus import EXPLICIT, ButcherTableau
from integrators.testing import linear, order_problem
from liegroup.table import RN, SO3, table_of

FIXED = ("RKMK4", "MIDPOINT")
PROBLEMS = ("pendulum", "free_body", "heavy_top", "floating_body")
LINE = table_of([(RN, 1)])


def ensemble(problem, m=8):
    """m starts next to the problem's; quaternions stay what they are."""
    y = np.repeat(problem.y0[None], m, axis=0)
    y[:, -1] += 0.1 * np.arange(m)
    return y


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("name", PROBLEMS)
def test_lanes_equal_single_trajectories_bit_by_bit(problems, name, method):
    problem = getattr(problems, name)()
    starts = ensemble(problem, 11)
    together = integrate(problem, method, (0, 2), 0.02, y0=starts, save_every=7)
    assert together.y.shape == (11, 16, problem.n)
    for k in (0, 3, 7, 8, 10):
        alone = integrate(problem, method, (0, 2), 0.02, y0=starts[k], save_every=7)
        for table in ("y", "invariants", "least", "greatest", "mean_since"):
            assert np.array_equal(getattr(together, table)[k], getattr(alone, table)), (k, table)


@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("name", PROBLEMS)
def test_interpreted_equals_compiled_bit_by_bit(problems, name, method):
    problem = getattr(problems, name)()
    source = Problem(
        problem.table,
        problem.y0,
        lambda t, y, parameters, structure, work, out: problem.field.python(t, y, parameters, structure, work, out),
        parameters=problem.parameters,
        invariants=lambda t, y, parameters, structure, work, out: problem.invariants.python(
            t, y, parameters, structure, work, out
        ),
        invariant_names=problem.invariant_names,
        canonical=True,
    )
    assert not source.is_compiled
    a, b = (integrate(p, method, (0, 0.5), 0.02, save_every=3) for p in (problem, source))
    for table in ("t", "y", "invariants", "least", "greatest", "mean_since"):
        assert np.array_equal(getattr(a, table), getattr(b, table)), table


def test_plain_jitted_and_entry_fields_are_the_same_problem(problems):
    problem = problems.free_body()

    def plain(t, y, parameters):
        p = y[4:]
        w = p / parameters[:3]
        return np.array(
            [w[0], w[1], w[2], p[1] * w[2] - p[2] * w[1], p[2] * w[0] - p[0] * w[2], p[0] * w[1] - p[1] * w[0]]
        )

    @numba.njit
    def jitted(t, y, parameters, out):
        w0, w1, w2 = y[4] / parameters[0], y[5] / parameters[1], y[6] / parameters[2]
        out[0], out[1], out[2] = w0, w1, w2
        out[3], out[4], out[5] = y[5] * w2 - y[6] * w1, y[6] * w0 - y[4] * w2, y[4] * w1 - y[5] * w0

    @numba.njit
    def returning(t, y, parameters):
        w = y[4:7] / parameters[:3]
        return np.array(
            [w[0], w[1], w[2], y[5] * w[2] - y[6] * w[1], y[6] * w[0] - y[4] * w[2], y[4] * w[1] - y[5] * w[0]]
        )

    given = [
        Problem(problem.table, problem.y0, f, parameters=problem.parameters)
        for f in (plain, jitted, returning, numba.njit(plain))
    ]
    reference = integrate(problem, "RKMK4", (0, 1), 0.05)
    for posed in given:
        assert np.abs(integrate(posed, "RKMK4", (0, 1), 0.05).y - reference.y).max() < 1e-15
    starts = ensemble(problem, 3)
    jitted_ensemble = integrate(given[1], "RKMK4", (0, 1), 0.05, y0=starts)
    assert np.abs(jitted_ensemble.y - integrate(problem, "RKMK4", (0, 1), 0.05, y0=starts).y).max() < 1e-15


@pytest.mark.parametrize("method", FIXED)
def test_extremes_and_means_are_over_every_step_however_few_states_are_saved(problems, method):
    problem = problems.heavy_top()
    every, some, last = (integrate(problem, method, (0, 10), 0.05, save_every=k) for k in (1, 13, 10**6))
    assert len(every.t) == 201
    assert len(some.t) == 17
    assert len(last.t) == 2
    energy = every["energy"]
    for solution in (every, some, last):
        assert solution.minimum("energy") == energy.min()
        assert solution.maximum("energy") == energy.max()
        assert solution.mean("energy") == pytest.approx(energy.mean(), rel=1e-15)
        assert np.array_equal(solution.y[-1], every.y[-1])
        assert solution.stretch.sum() == 201
    assert np.array_equal(some.y[1], every.y[13])
    assert some.least[2, 0] == energy[14:27].min()


def test_time_is_counted_not_summed():
    solution = integrate(Problem(LINE, [0.0], lambda t, y: [1.0]), "RKMK4", (0, 1000), 0.1, save_every=1)
    assert np.array_equal(solution.t, 0.1 * np.arange(10001))


def test_a_step_that_does_not_divide_the_interval_is_made_smaller():
    solution = integrate(Problem(LINE, [0.0], lambda t, y: [1.0]), "RKMK4", (0, 1), 0.3)
    assert solution.step == 0.25
    assert solution.t[-1] == 1.0


def test_backwards_in_time_leads_back(problems):
    problem = problems.heavy_top()
    there = integrate(problem, "MIDPOINT", (0, 2), 0.01)
    back = integrate(problem, "MIDPOINT", (2, 0), 0.01, y0=there.y[-1])
    assert back.t[-1] == pytest.approx(0.0, abs=1e-15)
    assert np.abs(back.y[-1] - problem.y0).max() < 1e-12


def test_an_empty_interval_is_the_start(problems):
    solution = integrate(problems.heavy_top(), "RKMK4", (1, 1), 0.01)
    assert solution.t.tolist() == [1.0]
    assert solution.success
    assert integrate(problems.heavy_top(), (1, 1)).message == "reached the end (GAUSS8, chosen for want of a method)"


def test_what_a_method_does_not_take_is_never_passed_over():
    decay = Problem(LINE, [1.0], lambda t, y: -y)
    for options, word in (({"max_step": 0.1}, "max_step: not"), ({"max_steps": 2}, "max_steps: not")):
        with pytest.raises(TypeError, match=word):
            integrate(decay, "SCIPY_DOP853", (0, 1), **options)
    with pytest.raises(TypeError, match="save_every"):
        integrate(decay, "SCIPY_DOP853", (0, 1), 0.1, save_every="two")
    with pytest.raises(ValueError, match=r"step: -0\.1"):
        integrate(decay, "SCIPY_DOP853", (0, 1), -0.1)
    with pytest.raises(ValueError, match="GAUSS8 takes fixed ones; give `step`"):
        integrate(decay, (0, 1), max_step=0.1)


def test_where_nothing_is_watched_given_times_need_not_come_to_the_end():
    decay = Problem(LINE, [1.0], lambda t, y: -y)
    for start in ([1.0], [[1.0], [2.0]]):
        run = integrate(decay.with_start(start), "RKMK4", (0, 1), 0.1, t_eval=[0.0, 0.31])
        assert run.t.tolist() == [0.0, 0.31]
        assert run.finished


@pytest.mark.parametrize("tau", ["exp", "cayley", "ccsk"])
def test_constant_field_gives_the_one_parameter_curve_and_zero_field_rests(tau):
    table = table_of([(SO3, 1)])
    method = find("RKMK4").with_map(tau)
    w = np.array([0.3, -0.2, 0.5])
    rest = integrate(Problem(table, [1, 0, 0, 0], lambda t, y: 0 * w), method, (0, 1), 0.1)
    assert np.array_equal(rest.y, np.tile([1.0, 0, 0, 0], (11, 1)))
    if tau == "exp":
        turn = integrate(Problem(table, [1, 0, 0, 0], lambda t, y: w), method, (0, 1), 0.1).y[-1]
        half = np.linalg.norm(w) / 2
        assert np.abs(turn - np.array([np.cos(half), *(np.sin(half) / (2 * half) * w)])).max() < 1e-15


def test_quaternions_stay_of_unit_norm(problems):
    for method in FIXED:
        q = integrate(problems.heavy_top(), method, (0, 2000), 0.05)["orientation"]
        assert np.abs(np.sum(q * q, axis=1) - 1).max() < 1e-15


# --- failures: a status, and what was computed ------------------------------------------------------------------------


def test_a_field_that_stops_being_finite_is_named_with_time_and_stage():
    problem = Problem(LINE, [1.0], lambda t, y: [np.nan if t > 0.52 else -y[0]])
    solution = integrate(problem, "RKMK4", (0, 1), 0.05)
    assert solution.status is Status.NON_FINITE
    assert solution.t[-1] == pytest.approx(0.5)
    assert np.isfinite(solution.y).all()
    assert "step 10" in solution.message
    assert "evaluation 2 of the step" in solution.message


def test_a_solution_that_escapes_in_finite_time_is_kept_up_to_there():
    @numba.njit
    def escaping(t, y, parameters, out):
        out[0] = y[0] * y[0] * y[0] * y[0]

    solution = integrate(Problem(LINE, [1.0], escaping), "RKMK4", (0, 1), 1e-3)
    assert solution.status is Status.NON_FINITE
    assert 0.33 < solution.t[-1] < 0.37
    assert solution.steps == round(solution.t[-1] / 1e-3)


def test_one_trajectory_of_an_ensemble_fails_and_the_others_go_on(problems):
    @numba.njit
    def escaping(t, y, parameters, out):
        out[0] = y[0] * y[0]

    starts = np.array([[0.5], [2.0], [0.1], [0.6], [-1.0]])
    problem = Problem(LINE, starts, escaping, invariants={"square": numba.njit(lambda t, y: y[0] * y[0])})
    together = integrate(problem, "RKMK4", (0, 1), 1e-3, save_every=10)
    assert [s.name for s in together.status] == ["OK", "NON_FINITE", "OK", "OK", "OK"]
    assert "trajectory 1" in together.message
    assert np.isnan(together.y[1, -1])
    assert np.isfinite(together.y[1, :49]).all()
    for k in (0, 2, 3, 4):
        alone = integrate(problem, "RKMK4", (0, 1), 1e-3, save_every=10, y0=starts[k])
        for table in ("y", "invariants", "least", "greatest", "mean_since"):
            assert np.array_equal(getattr(together, table)[k], getattr(alone, table)), (k, table)


# --- what is refused, and how -----------------------------------------------------------------------------------------


def bad(**changes):
    arguments = {"method": "RKMK4", "t_span": (0, 1), "step": 0.1} | changes
    problem = arguments.pop("problem", Problem(LINE, [1.0], lambda t, y: [-y[0]]))
    return lambda: integrate(problem, **arguments)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (bad(method="RKMK5000"), ValueError, "did you mean"),
        (bad(method="no such thing"), ValueError, "METHODS"),
        (bad(method=4), TypeError, "expected a name"),
        (bad(method=(0, 1), t_span=0.1, step=None), TypeError, r"method: \(0, 1\), .* the step has its name"),
        (bad(step=None), ValueError, "step"),
        (bad(step=-0.1), ValueError, "positive"),
        (bad(step=float("nan")), ValueError, "positive"),
        (bad(step=1e-300), ValueError, "steps for the interval"),
        (bad(t_span=(1e16, 1e16 + 10)), ValueError, "step: 0.1 s is below the spacing of times near 1e[+]16 s, 2 s"),
        (bad(t_span=(0, 1e16), step=1.0), ValueError, "step: 1 s is below the spacing of times near 1e[+]16 s, 2 s"),
        (bad(t_span=(0, float("inf"))), ValueError, "t_span"),
        (bad(t_span=1.0), ValueError, "t_span"),
        (bad(save_every=0), ValueError, "save_every"),
        (bad(save_every=1.5), ValueError, "save_every"),
        (bad(y0=[1.0, 2.0]), ValueError, "R\\^1"),
        (bad(y0=[float("nan")]), ValueError, "component 0 is nan"),
        (bad(tolerance=1e-3), TypeError, "tolerance"),
        (bad(problem=Problem(LINE, [1.0], lambda t, y: [1.0, 2.0])), ValueError, r"shape \(2,\), expected \(1,\)"),
        (bad(problem=Problem(LINE, [1.0], lambda t, y: [np.nan])), ValueError, "not finite at the start"),
        (bad(problem=Problem(LINE, [1.0], lambda t, y: None)), TypeError, "returned None.* without `return`"),
        (bad(problem=Problem(LINE, [1.0], lambda t, y: {"a": 1.0})), TypeError, "returned {'a': 1.0}, expected 1 real"),
        (bad(problem=Problem(LINE, [1.0], lambda t, y: np.ma.masked_all(1))), ValueError, "returned: 1 of 1 .* masked"),
        (bad(y0=np.ma.masked_all(1)), ValueError, "y0: 1 of 1 elements are masked"),
        (bad(t_eval=np.ma.array([0.0, 0.5], mask=[0, 1])), ValueError, "t_eval: 1 of 2 elements are masked"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_an_interval_of_one_rounding_is_one_step():
    """At a power of two its length is half a spacing of its end; phases of runs with impacts end so."""
    t0 = 1.0 - 2.0**-53
    solution = integrate(Problem(LINE, [1.0], lambda t, y: [-y[0]]), "RKMK4", (t0, 1.0), 1.0 - t0)
    assert solution.success
    assert solution.t.tolist() == [t0, 1.0]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"y0": [2.0, 0, 0, 0]}, "norm off by 1"),
        ({"y0": [[1.0, 0, 0, 0], [1.0, 1, 0, 0]]}, "norm off"),
        ({"group": np.array([[2, 1, 0, 4, 3]])}, "q_offset"),
        ({"group": np.zeros((2, 3))}, "columns"),
        ({"field": 3}, "not callable"),
        ({"field": lambda y: y}, "1 arguments"),
        ({"canonical": True}, "canonical"),
        ({"parameters": [[1.0]]}, "parameters"),
        ({"parameters": [np.inf]}, "not finite"),
        ({"structure": [0.5]}, "integers"),
        ({"invariants": lambda t, y: y[0]}, "invariant_names"),
        ({"invariants": {"not a name": lambda t, y: y[0]}}, "identifier"),
        ({"invariants": {"t": lambda t, y: y[0]}}, "other than"),
        ({"invariants": {1: lambda t, y: y[0]}}, "invariant_names: 1, expected texts"),
        ({"variables": ["q"]}, "variables: 'q', expected a sequence of integrators.Variable"),
        ({"parameters": np.ma.array([1.0, 2.0], mask=[1, 0])}, "parameters: 1 of 2 elements are masked"),
        ({"invariants": {"a": lambda t, y: y[0], "a_mean": lambda t, y: y[1]}}, "'a_mean' is a name that data files"),
        ({"field": numba.njit(lambda t, y: y[1:]), "invariants": {"a": lambda t, y: y[0]}}, "numba.njit"),
    ],
)
def test_problems_that_make_no_sense_are_refused(changes, words):
    given = {"group": table_of([(SO3, 1)]), "y0": [1.0, 0, 0, 0], "field": lambda t, y: y[1:]} | changes
    with pytest.raises((ValueError, TypeError), match=words):
        Problem(**given)


# --- the catalogue ----------------------------------------------------------------------------------------------------


def test_the_catalogue_grows_by_one_line(problems):
    name = "RALSTON4_FOR_A_TEST"
    try:
        register(rkmk(EXPLICIT["rk4_38"], name=name))
        assert integrate(problems.pendulum(), name.lower(), (0, 1), 0.1).method == name
        with pytest.raises(ValueError, match="already"):
            register(rkmk(EXPLICIT["rk4_38"], name=name))
    finally:
        METHODS.remove(name)


def test_an_implicit_tableau_is_not_an_explicit_method():
    with pytest.raises(ValueError, match="implicit"):
        rkmk(ButcherTableau([["1/2"]], [1]))


@pytest.mark.parametrize("name", sorted(name for name, m in METHODS.items() if isinstance(m, Method) and m.evaluations))
def test_evaluations_per_step_are_as_claimed(problems, name):
    method = find(name)
    problem = order_problem("SO3", linear) if method.needs == "time" else problems.heavy_top()
    solution = integrate(problem, method, (0, 1), 0.01)
    assert EVALUATIONS == 1
    begun = 2 if method.stepper.multistep else 1  # what steps without a past take more
    assert method.evaluations * 100 <= solution.evaluations <= method.evaluations * 100 + begun


# --- without a method -------------------------------------------------------------------------------------------------
