"""What is chosen where the user leaves it open: GAUSS8 with a step of its own, and others where it is not for that."""

from __future__ import annotations

import signal
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.integrate

import mechanics
from integrators import Problem, Sampled, Status, integrate, suggest_step
from integrators.choice import default, stiffness
from integrators.choice.samples import ending_at_samples, within_samples
from integrators.choice.stiffness import MANY, is_stiff
from liegroup import rn


def decaying(t, y):
    return [-1e5 * (y[0] - np.cos(t))]


def reacting(t, y):
    a, b = 0.04 * y[0] - 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [-a, a - b, b]


def relaxing(t, y):
    return [y[1], 1e3 * (1.0 - y[0] ** 2) * y[1] - y[0]]


@pytest.mark.parametrize(
    ("field", "start", "end"), [(decaying, [0.0], 10.0), (reacting, [1.0, 0.0, 0.0], 40.0), (relaxing, [2.0, 0.0], 2e3)]
)
def test_what_decays_within_a_step_of_many_is_damped_where_no_method_is_given(field, start, end):
    """Stiff from the start, from soon after it, and with a jump on the way."""
    run = integrate(Problem(rn(len(start)), start, field), (0.0, end))
    assert "RKMK_RADAU_IIA5, chosen for want of a method, with rtol=1e-09" in run.message
    assert run.success
    assert run.steps < 1000
    true = scipy.integrate.solve_ivp(field, (0.0, end), start, "Radau", rtol=1e-10, atol=1e-13).y[:, -1]
    assert run.y[-1] == pytest.approx(true, rel=1e-6)


@pytest.mark.parametrize(
    ("field", "start"), [
        (lambda t, y: [y[1], -np.sin(y[0])], [1.0, 0.0]),  # nothing decays
        (lambda t, y: [y[1], -y[0] - 0.2 * y[1]], [1.0, 0.0]),  # it swings while it does
        (lambda t, y: [y[1], np.cos(t) - y[0] - 3.0 * y[1]], [1.0, 0.0]),  # a drive has the same times
    ],
)  # fmt: skip
def test_what_moves_as_fast_as_it_decays_is_not(field, start):
    problem = Problem(rn(2), start, field)
    step = suggest_step(problem)
    assert not is_stiff(problem, (0.0, 2.0 * MANY * step), step)


def test_a_method_and_a_step_that_are_given_are_taken():
    problem = Problem(rn(1), [0.0], decaying)
    assert integrate(problem, (0.0, 1e-3), step=1e-5).method == "GAUSS8"
    assert integrate(problem, "GAUSS8", (0.0, 1e-3)).method == "GAUSS8"
    assert integrate(problem, (0.0, 1e-3)).method == "GAUSS8"  # in a hundred steps


def sliding(t, y, parameters, structure, work, out):
    """A block that slides, and comes to stick while it is pushed."""
    out[0] = y[1]
    out[1] = 0.3 * np.sin(t) - np.tanh(y[1] / 1e-4)


@pytest.mark.parametrize("strikes", [False, True])
def test_what_comes_to_decay_fast_on_the_way_is_damped_from_then_on(strikes):
    """GAUSS8 would take more than a million steps, and RKMK_DOP853, to which goes what strikes, 1e5."""
    problem = Problem(rn(2), [0.0, 1.0], sliding, strikes=strikes)
    assert not is_stiff(problem, (0.0, 60.0), suggest_step(problem))
    runs = [integrate(problem, (0.0, 60.0), t_eval=[1.0, 30.0, 60.0]) for _ in range(2)]
    assert "RKMK_RADAU_IIA5, chosen for want of a method, with rtol=1e-09 for what has come to decay" in runs[0].message
    assert runs[0].success
    assert np.array_equal(runs[0].y, runs[1].y)

    def field(t, y):
        return [y[1], 0.3 * np.sin(t) - np.tanh(y[1] / 1e-4)]

    def jacobian(t, y):
        return [[0.0, 1.0], [0.0, -1e4 / np.cosh(y[1] / 1e-4) ** 2]]

    given = {"rtol": 1e-10, "atol": 1e-13, "t_eval": runs[0].t, "jac": jacobian}
    with np.errstate(over="ignore"):
        true = scipy.integrate.solve_ivp(field, (0.0, 60.0), [0.0, 1.0], "Radau", **given)
    assert runs[0].y == pytest.approx(true.y.T, abs=1e-8)


def test_a_method_that_damps_is_asked_with_the_steps_that_it_would_take():
    """Where `max_step` makes them short it is not faster."""
    stuck = Problem(rn(2), [0.56, 3e-5], sliding, strikes=True)
    asked = stuck, (2.0, 60.0), 5e-4
    assert stiffness.is_stiff_there(*asked)
    assert not stiffness.is_stiff_there(*asked, max_step=5e-4)


def test_what_comes_to_decay_so_fast_that_a_step_is_not_solved_is_damped(monkeypatch):
    def field(t, y):
        return [y[1], 0.3 * np.sin(t) - 0.2 * y[0] - np.tanh(y[1] / 1e-7)]

    problem = Problem(rn(2), [0.0, 0.7], field)
    assert integrate(problem, "GAUSS8", (0.0, 10.0)).status is Status.NOT_CONVERGED
    run = integrate(problem, (0.0, 10.0))
    assert run.success
    assert "RKMK_RADAU_IIA5, chosen for want of a method" in run.message
    stuck = run.t > 1.0  # and creeps with the friction that holds it
    creep = 1e-7 * np.arctanh(0.3 * np.sin(run.t[stuck]) - 0.2 * run.y[stuck, 0])
    assert run.y[stuck, 1] == pytest.approx(creep, abs=1e-9)

    monkeypatch.setattr(default, "MANY", 3)
    run = integrate(problem, (0.0, 10.0))  # what was computed stays where the other way leads nowhere
    assert run.status is Status.NOT_CONVERGED
    assert "GAUSS8, chosen for want of a method" in run.message


@pytest.mark.parametrize("given", [{"method": "GAUSS8"}, {"callback": lambda t, y: t > 3.0}, {"step": 0.01}])
def test_what_is_asked_for_stays_so(given):
    """Of a method or a step; a callback sees one motion."""
    problem = Problem(rn(2), [0.0, 1.0], sliding)
    assert integrate(problem, t_span=(0.0, 4.0 if "callback" in given else 1.2), **given).method == "GAUSS8"


def test_ctrl_c_in_the_question_leaves_what_was_computed(monkeypatch):
    def asked(problem, span, step, max_step):
        signal.raise_signal(signal.SIGINT)  # as `interruptible` hands it on
        raise KeyboardInterrupt

    problem = Problem(rn(2), [0.0, 1.0], sliding)
    monkeypatch.setattr(stiffness, "is_stiff", asked)
    run = integrate(problem, (0.0, 60.0))
    assert run.status is Status.INTERRUPTED
    assert 0.0 < run.t[-1] < 60.0


# --- inputs of samples, forces with kinks -----------------------------------------------------------------------------


def pushed(t, y, p):
    return [y[1], p[0] - np.sin(y[0])]


def by_parts(samples, end):
    """The motion from sample to sample by SciPy."""
    y = np.array([0.3, 0.0])
    for a, b in pairwise([*samples.times, end]):
        middle = samples(0.5 * (a + b))[0]
        slope = 2.0 * (middle - samples(a)[0]) / (b - a)

        def field(t, y, a=a, slope=slope):
            return [y[1], samples(a)[0] + slope * (t - a) - np.sin(y[0])]

        y = scipy.integrate.solve_ivp(field, (a, b), y, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    return y


@pytest.mark.parametrize("hold", ["zero", "linear"])
@pytest.mark.parametrize(("spacing", "method", "error"), [(0.1, "GAUSS8", 1e-12), (0.13, "RKMK_DOP853", 1e-6)])
def test_steps_end_at_samples_where_equal_steps_can(hold, spacing, method, error):
    times = np.arange(0.0, 4.0, spacing)
    samples = Sampled(times, np.random.default_rng(1).normal(size=len(times)), hold)
    problem = Problem(rn(2), [0.3, 0.0], pushed, parameters=[0.0], inputs={"force": 0}).with_inputs(samples)
    run = integrate(problem, (0.0, 4.0))
    assert run.success, run.message
    assert f"{method}, chosen for want of a method" in run.message
    assert run.y[-1] == pytest.approx(by_parts(samples, 4.0), abs=error)
    if method == "GAUSS8":
        assert run.t == pytest.approx(np.linspace(0.0, 4.0, len(run.t)))
        assert max(run.levels[1:], default=0) == 0  # no step is divided
        assert integrate(problem, "GAUSS8", (0.0, 4.0)).y[-1].tolist() == run.y[-1].tolist()


@pytest.mark.parametrize(
    ("times", "span", "step", "expected"),
    [
        ([], (0.0, 1.0), 0.3, 0.3),
        ([0.0, 0.25, 0.5], (0.0, 1.0), 0.1, 0.25 / 3),
        ([0.0, 0.25, 0.5], (1.0, 0.0), 1.0, 0.25),
        ([-1.0, 5.0], (0.0, 1.0), 0.3, 0.3),
        ([0.2, 0.5], (0.0, 1.0), 1.0, 0.0),
        ([0.1, 0.3], (0.0, 1.0), 1.0, 0.1),
        (1e6 + 0.001 * np.arange(1000), (1e6, 1e6 + 1.0), 0.01, 0.001),
    ],
)
def test_the_step_that_ends_at_samples(times, span, step, expected):
    problem = Problem(rn(2), [0.3, 0.0], pushed, parameters=[0.0], inputs={"force": 0})
    if len(times):
        problem = problem.with_inputs(Sampled(times, np.zeros(len(times))))
    assert ending_at_samples(problem, span, step) == pytest.approx(expected, rel=1e-6)


def with_samples(times, values=None):
    problem = Problem(rn(2), [0.3, 0.0], pushed, parameters=[0.0], inputs={"force": 0})
    return problem.with_inputs(Sampled(times, np.zeros(len(times)) if values is None else values))


def test_samples_that_differ_by_rounding_are_one():
    """0.1 added up a hundred times is not 10, and 3 · 0.1 is not 0.3: steps of 1e-14 s would end at both."""
    added = with_samples(np.cumsum(np.full(100, 0.1)))
    assert ending_at_samples(added, (0.0, 10.0), 0.5) == pytest.approx(0.1)
    two = Problem(rn(2), [0.3, 0.0], pushed, parameters=[0.0, 0.0], inputs={"force": 0, "other": 1})
    two = two.with_inputs(
        {name: Sampled(0.1 * k * np.arange(30), np.zeros(30)) for name, k in (("force", 1), ("other", 3))}
    )
    assert ending_at_samples(two, (0.0, 2.0), 0.5) == pytest.approx(0.1)


def test_samples_next_to_each_other_ask_for_no_crowd_of_steps():
    assert ending_at_samples(with_samples([0.0, 5.0, 5.0000001]), (0.0, 10.0), 0.1) == 0.0
    assert ending_at_samples(with_samples([0.0, 5.0, 5.001]), (0.0, 10.0), 0.1) == pytest.approx(0.001)


def test_a_pulse_of_samples_is_not_passed_over():
    """0.8 ms between samples that no equal steps end at: steps are as short."""
    pulse = Sampled([0.0, 5.0123, 5.0131, 6.2], [0.0, 1000.0, 0.0, 0.0])
    problem = with_samples(pulse.times, pulse.values)
    run = integrate(problem, (0.0, 10.0))
    assert run.success
    assert run.y[-1] == pytest.approx(by_parts(pulse, 10.0), abs=1e-8)


@pytest.mark.parametrize("strikes", [False, True])
@pytest.mark.parametrize("rate", [0.0, 2e4])
def test_a_pulse_of_samples_is_not_passed_over_by_what_is_stiff_or_strikes(strikes, rate):
    """A force for 20 ms, within one step of what damps the fast component, and of what waits for a blow."""
    pulse = Sampled([0.0, 5.0, 5.02], [0.0, 100.0, 0.0], "zero")

    def field(t, y, p):
        return [y[1], p[0], rate * (y[0] - y[2])]

    problem = Problem(rn(3), [0.0, 0.0, 0.0], field, parameters=[0.0], inputs={"force": 0}, strikes=strikes)
    run = integrate(problem.with_inputs(pulse), (0.0, 20.0))
    assert run.success, run.message
    method = "RKMK_RADAU_IIA5" if rate else "RKMK_DOP853" if strikes else "GAUSS8"
    assert f"{method}, chosen for want of a method" in run.message
    assert run.y[-1, :2] == pytest.approx([2.0 * (20.0 - 5.01), 2.0], rel=1e-6)


def test_samples_that_are_too_near_each_other_say_nothing_or_are_refused():
    """A step of a force as two samples, a blow of 0.1 µs, and samples of two inputs that are near each other."""
    jump = with_samples([0.0, 0.5, 0.5000001], [0.0, 0.0, 1.0])
    assert within_samples(jump, (0.0, 10.0), 0.1) == pytest.approx(0.5)
    assert integrate(jump, (0.0, 10.0)).success
    blow = with_samples([0.0, 5.0, 5.0000001, 6.2], [0.0, 1000.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"the samples at 5 and 5\.0000001 s say something in less than 0\.0001 s"):
        integrate(blow, (0.0, 10.0))
    two = Problem(rn(2), [0.3, 0.0], pushed, parameters=[0.0, 0.0], inputs={"force": 0, "other": 1})
    times = np.arange(0.0, 10.0, 0.1)
    near = {name: Sampled(times + off, np.sin(times)) for name, off in (("force", 0.0), ("other", 1e-7))}
    assert within_samples(two.with_inputs(near), (0.0, 10.0), 0.1) == pytest.approx(0.1, rel=1e-5)


def test_samples_beside_functions_do_not_shorten_steps():
    times = np.arange(0.0, 10.0, 0.25)
    problem = Problem(
        rn(2), [1.0, 0.0], lambda t, y, p: [y[1], -y[0] + p[0] + p[1]], parameters=[0.0, 0.0], inputs={"a": 0, "b": 1}
    ).with_inputs({"a": Sampled(times, np.cos(3.0 * times)), "b": lambda t, y: -0.5 * y[1]})
    run = integrate(problem, (0.0, 10.0))
    assert run.success
    assert run.steps == 40


@pytest.mark.parametrize("span", [(0.0, 2.0), (2.0, 0.0)])
@pytest.mark.parametrize("method", [None, "RKMK_GAUSS4"])
def test_nothing_is_asked_beyond_the_interval(span, method):
    """Where functions may not be known: tables raise there."""

    def field(t, y):
        assert 0.0 <= t <= 2.0
        return [y[1], 0.1 * np.sin(t) - 0.01 * y[0]]

    given = {} if method is None else {"step": 0.1}
    assert integrate(Problem(rn(2), [1.0, 0.0], field), method, span, **given).success


def test_a_drive_at_the_limit_of_its_force_has_kinks():
    """Right runs were called doubtful by what GAUSS8 says of substeps."""
    model = """<mujoco><worldbody><body><joint name="j" axis="0 1 0" damping="0.1"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03" contype="0" conaffinity="0"/></body></worldbody>
    <actuator><position name="a" joint="j" kp="20" kv="1" {}/></actuator></mujoco>"""
    limited = mechanics.load_mechanism(model.format('forcerange="-3 3"'))
    assert not mechanics.load_mechanism(model.format("")).problem().has_kinks
    assert limited.problem().has_kinks
    for target in (0.7, 0.9):
        run = integrate(limited.with_commands({"a": target}).problem(), (0.0, 2.0))
        assert run.success, run.message
        assert "RKMK_DOP853, chosen for want of a method, with rtol=1e-09 for forces with kinks" in run.message
        right = integrate(limited.with_commands({"a": target}).problem(), "RKMK_DOP853", (0.0, 2.0), rtol=1e-12)
        assert run.y[-1] == pytest.approx(right.y[-1], abs=1e-8)


@pytest.mark.parametrize(
    ("field", "span", "truth"),
    [
        (lambda t, y: [y[1], -y[0] - 0.02 * np.sign(y[1])], (0.0, 3.0 * np.pi), [-0.88, 0.0]),
        (
            lambda t, y: [y[1], -np.where(y[0] > 0.0, 1.0, 9.0) * y[0]],
            (0.0, 40.0 / 3.0 * np.pi + 1.0),
            [np.cos(1.0), -np.sin(1.0)],
        ),
        (lambda t, y: [y[1], -np.sign(y[0])], (0.0, 8.0 * np.sqrt(2.0) + 1.0), [0.5, -1.0]),
    ],
    ids=["friction", "two springs", "a relay"],
)
def test_a_field_that_turns_out_to_jump_or_to_have_kinks_is_followed_by_an_estimate_of_errors(field, span, truth):
    """Half swings that are by 0.04 shorter; half periods of π and π/3; parabolas."""
    problem = Problem(rn(2), [1.0, 0.0], field)
    run = integrate(problem, span)
    assert run.success
    assert not run.doubts
    assert "RKMK_DOP853, chosen for want of a method, with rtol=1e-09 for a field that jumps or has k" in run.message
    assert np.abs(run.y[-1] - truth).max() < 3e-6
    given = integrate(problem, "GAUSS8", span, 0.1)  # which is asked for, and stays
    assert [doubt.name for doubt in given.doubts] == ["jump"]


def test_kinks_that_are_passed_without_a_doubt_leave_little():
    """Two springs, with and without a method, by steps of many sizes."""
    problem, errors = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -np.where(y[0] > 0.0, 1.0, 9.0) * y[0]]), []
    for angle in (1.0, 1.2, np.pi / 3.0):
        truth = [np.cos(angle), -np.sin(angle)]
        for given in ((), *(("GAUSS8", step) for step in (0.03, 0.05, 0.07, 0.1, 0.145, 0.2))):
            span = (0.0, 20.0 / 3.0 * np.pi + angle)
            run = integrate(problem, given[0], span, given[1]) if given else integrate(problem, span)
            errors.append((np.abs(run.y[-1] - truth).max(), bool(run.doubts)))
    assert max(error for error, doubtful in errors if not doubtful) < 5e-8
    assert sum(doubtful for _, doubtful in errors) > 9


def test_after_ctrl_c_no_other_method_is_begun():
    """The jumps that an interrupted run has met are doubts of it, and no reason for another run."""
    relay, seen = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -np.sign(y[0])]), []
    whole = integrate(relay, "GAUSS8", (0.0, 10.0), 0.1)
    assert whole.doubts
    stopped = replace(whole, status=Status.INTERRUPTED)
    assert default.or_rough(stopped, seen.append) is stopped
    assert not seen
    default.or_rough(whole, lambda most: seen.append(most) or whole)
    assert seen == [MANY]


def test_what_no_other_method_brings_to_the_end_stays_doubtful(monkeypatch):
    monkeypatch.setattr(default, "MANY", 20)
    run = integrate(Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -np.sign(y[0])]), (0.0, 10.0))
    assert run.method == "GAUSS8"
    assert run.doubts[0].name == "jump"


def test_at_times_far_from_zero():
    """A first step that the clock cannot tell is raised to one that it tells; what it cannot resolve is said."""
    stiff = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -1e6 * y[1] - 1e6 * y[0]])
    run = integrate(stiff, (1e6, 1e6 + 20.0))
    assert run.success
    assert run.y[-1, 0] == pytest.approx(np.exp(-20.0), rel=1e-4)
    driven = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0] + np.sin(t)])
    with pytest.raises(ValueError, match=r"near 1\.7e\+09 s times are 2.4e-07 s apart.*count the time from"):
        integrate(driven, (1.7e9, 1.7e9 + 50.0))


@pytest.mark.parametrize(("begin", "omega", "limit"), [(1e8, 2.0, 2e-7), (1e6, 1e3, 1e-7)])
def test_rounding_of_times_far_from_zero_is_not_resolved(begin, omega, limit):
    """Steps near rounding were 4e-5 s long, and in the second case 6e-10 s, some hours of computing."""
    driven = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0] + np.cos(omega * (t - begin))])
    run = integrate(driven, (begin, begin + 1.0))
    assert run.success, run.message
    assert "RKMK_DOP853, chosen for want of a method, with rtol=1e-09 for times so far from zero" in run.message
    c = 1.0 / (1.0 - omega**2)  # y = (1 − c) cos t + c cos ω t
    truth = (1.0 - c) * np.cos(1.0) + c * np.cos(omega)
    assert run.y[-1, 0] == pytest.approx(truth, abs=limit)
    near = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0] + np.cos(omega * t)])
    assert "GAUSS8" in integrate(near, (0.0, 0.1)).message
    with pytest.warns(
        RuntimeWarning, match=r"times are .* s apart, and GAUSS8 resolves .*; count the time from"
    ) as said:
        integrate(driven, "GAUSS8", (begin, begin + 1.0), callback=lambda t, y: True)
    assert said[0].filename == __file__


def test_an_ensemble_is_judged_by_what_moves_fastest():
    """The first pendulum hangs at rest, and the others would be saved at the end only, or become stiff unseen."""
    pendulum = Problem(rn(2), [0.0, 0.0], lambda t, y: [y[1], -np.sin(y[0])])
    starts = [[0.0, 0.0], [2.0, 0.3], [0.1, 0.0]]
    run, alone = (integrate(pendulum, t_span=(0.0, 100.0), y0=y0) for y0 in (starts, starts[1]))
    assert suggest_step(pendulum.with_start(starts)) == suggest_step(pendulum.with_start(starts[1]))
    assert run.success
    assert np.array_equal(run.t, alone.t)
    assert run.y[1] == pytest.approx(alone.y, abs=1e-12)

    cubic = Problem(rn(2), [0.0, 0.0], lambda t, y: [y[1], -1e6 * y[0] ** 3 - 1e3 * y[0] ** 2 * y[1]])
    starts = [[0.0, 0.0], [0.01, 0.0], [10.0, 0.0]]
    run = integrate(cubic, t_span=(0.0, 3.0), y0=starts, t_eval=[3.0])
    assert run.success
    assert run.method == "RKMK_RADAU_IIA5"
    for start, found in zip(starts, run.y, strict=True):
        true = scipy.integrate.solve_ivp(cubic.velocity, (0.0, 3.0), start, "Radau", rtol=1e-9, atol=1e-12)
        assert found[-1] == pytest.approx(true.y[:, -1], abs=1e-8)


def test_what_is_computed_before_a_function_raises_is_kept():
    """The trials for a step, which come farther than the run would have, are no reason to lose it."""

    def field(t, y):
        if t > 3.0:
            raise RuntimeError("no more")
        return [y[1], -y[0]]

    with pytest.raises(RuntimeError, match="no more") as caught:
        integrate(Problem(rn(2), [1.0, 0.0], field), (0.0, 10.0))
    assert 2.0 < caught.value.solution.t[-1] <= 3.0
    assert caught.value.solution.y[-1, 0] == pytest.approx(np.cos(caught.value.solution.t[-1]), abs=1e-12)


def test_a_comet_is_not_judged_by_its_perihelion():
    """Both directions of the same orbit: 1.9 million steps from there, and 228 from the other end."""

    def kepler(t, y):
        cube = (y[0] ** 2 + y[1] ** 2) ** 1.5
        return [y[2], y[3], -y[0] / cube, -y[1] / cube]

    e = 0.99
    start = np.array([1.0 - e, 0.0, 0.0, np.sqrt((1.0 + e) / (1.0 - e))])
    run = integrate(Problem(rn(4), start, kepler), (0.0, 4.0 * np.pi))
    assert run.success
    assert run.steps < 1000
    assert run.y[-1] == pytest.approx(start, abs=1e-7)
