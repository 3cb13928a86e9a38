"""One step at a time: the steps of a run, named failures, nothing remembered."""

import copy
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from integrators import Guard, Problem, StepError, integrate, stepper
from integrators.method import step_map
from integrators.methods import METHODS
from integrators.status import Status
from integrators.step_derivatives.linearised import linearised_step
from liegroup import product, rn, so3
from mechanics import Body, Inertia, Mechanism, Tree, load_model
from mechanics.forces import motor, servo
from mechanics.joints import Revolute
from mechanics.systems import SYSTEMS

BODY = np.array([1.0, 2.0, 3.0])


def spinning(t, y, p):
    w = y[4:]
    return np.concatenate([w, (np.cross(BODY * w, w) + p) / BODY])


def body():
    start = np.concatenate([so3.identity(), [0.3, -0.2, 0.5]])
    return Problem(product(so3, rn(3)), start, spinning, parameters=np.zeros(3), inputs={"x": 0, "y": 1, "z": 2})


U = np.array([0.1, 0.0, -0.3])
REST = body().y0


@pytest.fixture(scope="module")
def turn():
    """A step of the body."""
    return stepper(body(), "RKMK4", 0.1)


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8", "VARIATIONAL_GAUSS2"])
def test_a_step_is_that_of_a_run_and_remembers_nothing(method):
    if method == "VARIATIONAL_GAUSS2":
        made = Problem(
            rn(2), [1.0, 0.0], lambda t, y, p: [y[1], -y[0] + p[0]], parameters=[0.0], inputs={"u": 0}, canonical=True
        )
        u = np.array([0.4])
    else:
        made, u = body(), U
    step = stepper(made, method, 0.1)
    first = step(made.y0, u)
    np.testing.assert_array_equal(first, integrate(made.with_inputs(u), method, (0.0, 0.1), 0.1).y[-1])
    step(first, 2.0 * u)
    np.testing.assert_array_equal(step(made.y0, u), first)


def test_many_states_are_stepped_with_one_input_or_with_theirs(turn):
    states = np.array([REST, turn(REST, U)])
    np.testing.assert_array_equal(turn(states, U), [turn(y, U) for y in states])
    np.testing.assert_array_equal(turn(states, [U, -U]), [turn(states[0], U), turn(states[1], -U)])


def test_without_inputs_those_of_the_problem_are_held(turn):
    step = stepper(body().with_inputs(U), "RKMK4", 0.1)
    np.testing.assert_array_equal(step(REST), turn(REST, U))


def test_derivatives_by_state_and_inputs_are_those_of_the_step(turn):
    y, e = REST, 1e-6
    found = turn.linearised(y, U)
    for k, d in enumerate(np.eye(3)):
        slope = (turn(y, U + e * d) - turn(y, U - e * d)) / (2 * e)
        np.testing.assert_allclose(found.B[3:, k], slope[4:], atol=1e-9)
        turned = [so3.log(so3.compose(so3.inverse(found.y[:4]), turn(y, U + s * e * d)[:4])) for s in (1, -1)]
        np.testing.assert_allclose(found.B[:3, k], (turned[0] - turned[1]) / (2 * e), atol=1e-9)


@pytest.mark.parametrize(
    ("y", "u", "words"),
    [
        (REST, [0.0, np.nan, 0.0], "input 'y' is nan"),
        (REST, [0.0, 0.0], r"shape \(2,\), expected 3 finite numbers, one per input \(x, y, z\)"),
        (REST[:5], U, r"shape \(5,\), expected \(7,\)"),
        (REST * np.nan, U, "component 0 is nan, expected a finite number"),
        ([REST, REST * np.nan], U, r"component \(1, 0\) is nan"),
        (REST * 1.1, U, "quaternion"),
        ([REST] * 2, [U] * 3, "inputs for every state"),
    ],
)
def test_what_is_no_state_or_input_is_named(turn, y, u, words):
    with pytest.raises(ValueError, match=words):
        turn(y, u)


@pytest.mark.parametrize("place", ["y", "u"])
@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda x: np.array(x) + 1e-30j, TypeError, "complex numbers, expected"),
        (lambda x: [1j, *x[1:]], TypeError, "complex numbers, expected"),
        (lambda x: list(map(str, x)), TypeError, "expected"),
        (lambda x: [None, *x[1:]], TypeError, "expected"),
        (lambda x: np.ma.masked_less(x, np.inf), ValueError, "elements are masked, expected numbers"),
    ],
)
def test_what_is_no_real_number_is_named_and_not_cut(turn, place, change, error, words):
    """A derivative by complex steps was zero: NumPy left the imaginary parts out."""
    given = {"y": REST, "u": U}
    with pytest.raises(error, match=f"{place}: .*{words}"):
        turn(**given | {place: change(given[place])})


def test_a_step_that_fails_says_why_and_where(turn):
    with pytest.raises(StepError, match=r"a step of RKMK4 from t = 0: .*with x = 1e") as caught:
        turn(REST, [1e200, 0.0, 0.0])
    assert caught.value.status in (Status.NON_FINITE, Status.CHART_LEFT)
    np.testing.assert_array_equal(caught.value.y, REST)
    np.testing.assert_array_equal(caught.value.u, [1e200, 0.0, 0.0])


def test_a_step_to_where_energies_are_no_numbers_fails():
    """u = 1e308 gives momenta of 1e306, whose squares overflow."""
    cart = Problem(rn(2), [0.0, 0.0], lambda t, y, p: [y[1], p[0]], parameters=[0.0], inputs={"force": 0})
    step = stepper(cart, "RKMK4", 0.01)
    with pytest.raises(StepError, match=r"NON_FINITE.*with force = 1e\+308"):
        step([0.0, 0.0], [1e308])
    assert np.isfinite(step([0.0, 0.0], [1e100])).all()


@pytest.mark.parametrize("method", ["MIDPOINT", "GAUSS8", "TREE_VARIATIONAL"])
def test_a_state_with_open_loops_is_refused(method):
    """Steps closed a four-bar that was open by a third of its size as a step of it might, without a word."""
    problem = SYSTEMS["four-bar"].mechanism().problem()
    step = stepper(problem, method, 1e-3)
    y = step(problem.y0)
    for off in (1e-3, 0.5):
        opened = y + off * np.eye(len(y))[0]
        with pytest.raises(ValueError, match=r"y: the loops are open: gap = .* m, at most .*; start closed"):
            step(opened)
        take, memory = step.compiled
        assert take(memory, 0.0, opened, np.zeros(0)) == -3
        assert opened[0] == y[0] + off
    np.testing.assert_array_equal(step(y), step(y))


@pytest.mark.parametrize("method", ["RKMK4", "GAUSS8"])
def test_a_step_that_opens_loops_fails(method):
    """And what passed at one time is looked at again at another."""
    for moves in (False, True):
        made = Problem(
            rn(1), [0.0], lambda t, y: [1.0], invariants=lambda t, y, at=float(moves): [y[0] + at * (t - 0.1)],
            invariant_names=("gap",), invariant_units=("m",), autonomous=not moves,
            guards=[Guard("gap", "it is open", "close it", greatest=0.25, start=0.1)],
        )  # fmt: skip
        step = stepper(made, method, 0.1)
        y = step(step([0.0], t=-0.2 if moves else 0.0), t=-0.1 if moves else 0.0)
        with pytest.raises(StepError, match=r"DOUBTFUL.*it is open: gap = 0\.3 m, at most 0\.25; close it") as caught:
            step(y, t=0.0)
        assert caught.value.status is Status.DOUBTFUL
        np.testing.assert_array_equal(caught.value.y, y)
        with pytest.raises(ValueError, match=r"y: it is open: gap = 0\.3 m"):
            step(y, t=0.2) if moves else step([0.3])


def test_time_is_asked_for_where_it_matters():
    made = Problem(rn(1), [1.0], lambda t, y: -t * y)
    step = stepper(made, "RKMK4", 0.1)
    for t in ("noon", [0.5], 1j):
        with pytest.raises(TypeError, match=r"t: .*, expected a finite number"):
            step([1.0], t=t)
    with pytest.raises(ValueError, match="depends on the time"):
        step([1.0])
    assert step([1.0], t=1.0)[0] == pytest.approx(np.exp(-0.105), abs=1e-7)


def test_methods_that_remember_and_other_libraries_are_refused():
    with pytest.raises(ValueError, match="depends on steps before"):
        stepper(body(), "BDF2", 0.1)
    with pytest.raises(TypeError, match="another library"):
        stepper(body(), "SCIPY_DOP853", 0.1)
    with pytest.raises(ValueError, match="not 0"):
        stepper(body(), "RKMK4", 0.0)


def branching(t, y):
    """With an `if`, so that it is called back from the step, where other threads may come in."""
    return [y[1], -y[0] if y[0] > 0.0 else -2.0 * y[0]]


def test_threads_that_share_a_stepper_wait_for_one_another():
    """Each had the states of the others in its arrays: other numbers, and nothing was said."""
    step = stepper(Problem(rn(2), [1.0, 0.0], branching), "RKMK4", 0.01)
    starts = [np.array([0.1 * k, 1.0]) for k in range(4)]

    def way(y):
        for _ in range(200):
            y = step(y)
        return y

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(len(starts)) as pool:
            found = list(pool.map(way, starts))
    finally:
        sys.setswitchinterval(before)
    assert np.array_equal(found, [way(y) for y in starts])


def test_a_stepper_is_copied_and_sent():
    step = stepper(Problem(rn(2), [1.0, 0.0], branching), "RKMK4", 0.01)
    for other in (copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
        assert np.array_equal(other([1.0, 0.0]), step([1.0, 0.0]))


def test_inputs_by_name_are_numbers_in_their_order():
    arm = Tree([Body("arm", Revolute((0, 1, 0)), inertia=Inertia.point(1.0, (0, 0, -1)), joint_name="a")])
    take = stepper(Mechanism(arm, elements=[motor("a")]).problem(), "RKMK4", 0.01)
    with pytest.raises(TypeError, match=r"u: \{'a': 1.0\}, expected numbers in the order of names, a"):
        take(take.problem.y0, {"a": 1.0})


def on_a_servo():
    bar = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    arm = Tree([Body("arm", Revolute((0, 1, 0)), inertia=bar, joint_name="a")])
    return Mechanism(arm, elements=[servo("a", stiffness=20.0, damping=2.0)]).problem([0.5], [2.0])


@pytest.mark.parametrize("method", ["RODAS4", "ROS3P"])
def test_steps_that_are_made_of_the_derivative_of_a_mechanism_have_theirs(method):
    """A servo's derivative comes from complex steps, through which a complex step gives nothing."""
    step, u, e = stepper(on_a_servo(), method, 0.02), np.array([0.7]), 1e-5
    y, found = step.problem.y0, step.linearised(step.problem.y0, u)
    by_state = np.array([(step(y + d, u) - step(y - d, u)) / (2 * e) for d in e * np.eye(2)]).T
    by_control = ((step(y, u + e) - step(y, u - e)) / (2 * e))[:, None]
    assert np.allclose(found.A, by_state, rtol=1e-7, atol=1e-9)
    assert np.allclose(found.B, by_control, rtol=1e-7, atol=1e-9)


def test_derivatives_of_a_step_may_be_compiled(turn):
    found, other = turn.linearised(REST, U), turn.linearised(REST, U, compiled=True)
    for name in ("y", "A", "B", "by_step"):
        np.testing.assert_allclose(getattr(other, name), getattr(found, name), rtol=0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RODAS4", "RKMK_RADAU_IIA3", "RKMK_TRBDF2", "RKMK_GAUSS2"])
@pytest.mark.parametrize("made", [on_a_servo, lambda: load_model("double_pendulum").problem([1.0, 0.5], [0.3, -0.2])])
def test_compiled_steps_have_the_derivatives_of_interpreted_ones(made, method):
    """Iterations begin anew for every direction: from the real numbers of another they would end at once."""
    problem = made()
    interpreted, compiled = (linearised_step(problem, method, problem.y0, 0.05, compiled=how) for how in (False, True))
    for one, other in zip(interpreted, compiled, strict=True):
        assert np.allclose(one, other, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["rolling-disk", "knife-edge", "nonholonomic-particle", "roller-racer", "rattleback"])
def test_systems_that_do_not_read_the_time_need_none(name):
    problem = SYSTEMS[name].problem("reduced")
    assert np.isfinite(stepper(problem, "RKMK4", 1e-3)(problem.y0)).all()


@pytest.mark.parametrize("name", ["ENERGY_EXACT4", "DEL_MIDPOINT", "RATTLE", "DLA", "RADAU_GGL"])
def test_a_step_as_a_map_is_refused_as_in_a_run(name):
    with pytest.raises(ValueError, match=name) as refused:
        step_map(body(), METHODS[name])
    with pytest.raises(ValueError) as of_run:
        integrate(body(), name, (0.0, 0.1), 0.01)
    assert str(refused.value) == str(of_run.value)


def test_a_step_of_many_parameters_is_linearised_by_those_that_are_asked_for():
    """A sampled motion has more of them than a square matrix would have room for."""
    many = Problem(rn(1), [1.0], lambda t, y, p: -p[0] * y, parameters=np.ones(10**6), inputs={"rate": 0})
    found = stepper(many, "RKMK4", 0.1).linearised([1.0])
    assert found.A[0, 0] == pytest.approx(np.exp(-0.1), abs=1e-7)
    assert found.B[0, 0] == pytest.approx(-0.1 * np.exp(-0.1), abs=1e-6)
