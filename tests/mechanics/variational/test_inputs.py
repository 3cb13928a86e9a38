"""Inputs of trees and mechanisms: motors, servos and wrenches in every formulation."""

import numba
import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp

from integrators import integrate, stepper, traced
from integrators.engine.fixed_run import FixedRun, LaneRun
from integrators.engine.run import Output, Plan
from integrators.engine.start import makers
from integrators.methods import find
from integrators.step_derivatives.linearised import linearised_step
from mechanics import (
    Body,
    Frame,
    Inertia,
    Mechanism,
    ModelError,
    Tree,
    element_accounts,
    forward_dynamics,
    inverse_dynamics,
    joints,
    momentum,
)
from mechanics.forces import motor, servo, wrench
from mechanics.formulations import constrained_problem, multiplier_problem
from mechanics.joints import Motion
from mechanics.problems import compile_model
from mechanics.systems import SYSTEMS

SLOW = pytest.mark.slow  # long to compile
Q, V, END = np.array([0.3, 0.1]), np.array([0.0, 0.5]), 0.5
BAR = Inertia.about_com(1.0, (0.1, 0.0, -0.4), np.diag([0.1, 0.12, 0.03]))
TREE = Tree(
    [
        Body("upper", joints.Revolute((0.0, 1.0, 0.0)), inertia=BAR, joint_name="shoulder"),
        Body("lower", joints.Revolute((1.0, 0.0, 0.0)), "upper", (0.0, 0.0, -0.8), inertia=BAR, joint_name="elbow"),
    ]
)
ARM = Mechanism(TREE, elements=[motor("shoulder"), motor("elbow")])


def control(t, q, v):
    return [np.sin(3.0 * t) - 0.5 * v[0], -0.2 * q[1] - 0.3 * v[1]]


CONTROLLED = ARM.problem(Q, V).with_inputs(traced(control))


def scipys(torque):
    def rates(t, y):
        return np.concatenate([y[2:], forward_dynamics(TREE, y[:2], y[2:], torque(t, y[:2], y[2:]))])

    return solve_ivp(rates, (0.0, END), [*Q, *V], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.fixture(scope="module")
def truth():
    y = scipys(control)
    return np.concatenate([y[:2], momentum(TREE, y[:2], y[2:])]), y


def test_a_controlled_arm_moves_as_scipy_says_in_every_formulation(truth):
    in_momenta, in_velocities = truth
    np.testing.assert_allclose(integrate(CONTROLLED, "GAUSS8", (0.0, END), 0.05).y[-1], in_momenta, atol=1e-11)
    made = multiplier_problem(ARM, Q, V).with_inputs(traced(control))
    np.testing.assert_allclose(integrate(made, "RKMK4", (0.0, END), 0.005).y[-1], in_velocities, atol=1e-8)
    errors = [
        np.abs(integrate(CONTROLLED, "TREE_VARIATIONAL", (0.0, END), h).y[-1] - in_momenta).max() for h in (0.02, 0.01)
    ]
    assert errors[1] < 1e-4
    assert 3.5 < errors[0] / errors[1] < 4.5


def test_compositions_keep_their_order_with_functions_of_time():
    made = ARM.problem(Q, V).with_inputs(traced(lambda t: [np.sin(3.0 * t), np.cos(t)]))
    y = scipys(lambda t, q, v: [np.sin(3.0 * t), np.cos(t)])
    exact = np.concatenate([y[:2], momentum(TREE, y[:2], y[2:])])
    errors = [
        np.abs(integrate(made, "TREE_VARIATIONAL_SUZUKI4", (0.0, END), h).y[-1] - exact).max() for h in (0.05, 0.025)
    ]
    assert 12.0 < errors[0] / errors[1] < 20.0


def test_energy_less_work_is_constant_to_the_order_of_each_method():
    made = CONTROLLED.with_work()
    assert integrate(made, "GAUSS8", (0.0, END), 0.05).error("balance") < 1e-13
    errors = [integrate(made, "TREE_VARIATIONAL", (0.0, END), h).error("balance") for h in (0.02, 0.01)]
    assert 3.0 < errors[0] / errors[1] < 5.0


def test_momenta_of_a_variational_step_take_exactly_what_is_held():
    """A free body without gravity: p₁ = p₀ + h F, whatever it does."""
    body = Body("hull", joints.Free(), inertia=BAR)
    made = Mechanism(Tree([body], gravity=(0.0, 0.0, 0.0)), elements=[wrench(Frame("hull"), axes="world")])
    step = stepper(made.problem(v=[0.1, 0.2, -0.3, 1.0, 2.0, 0.5]), "TREE_VARIATIONAL", 0.05)
    y, force, total = step.problem.y0, np.array([0.3, -0.2, 0.5]), np.zeros(3)
    start = joints_momentum(made, y)
    for k in range(20):
        y = step(y, [*(force * np.cos(k)), 0.0, 0.0, 0.0])
        total += 0.05 * force * np.cos(k)
        np.testing.assert_allclose(joints_momentum(made, y), start + total, rtol=0, atol=1e-14)


def joints_momentum(made, y):
    """Linear momentum in the axes of the world."""
    w, x, y_, z = y[3:7]
    u = np.array([x, y_, z])
    p = y[7:10]
    return p + 2.0 * np.cross(u, np.cross(u, p) + w * p)


def test_a_wrench_is_its_jacobian_transposed():
    """The same motion as with joint torques Jᵀ F, by the dynamics of another formulation."""
    frame = Frame("lower", (0.1, 0.2, -0.3))
    F = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    made = Mechanism(TREE, elements=[wrench(frame, axes="world")]).problem(Q, V).with_inputs(F)
    p_dot = made.velocity(0.0, made.y0)[2:] - ARM.problem(Q, V).velocity(0.0, made.y0)[2:]
    columns = []
    for e in np.eye(2):  # velocity of the point by differences of its place, and the turn of the body
        place = [point(Q + s * 1e-6 * e, frame.position) for s in (1.0, -1.0)]
        turn = [rotation(Q + s * 1e-6 * e) for s in (1.0, -1.0)]
        spin = (turn[0] - turn[1]) @ rotation(Q).T / 2e-6
        columns.append([*((place[0] - place[1]) / 2e-6), spin[2, 1], spin[0, 2], spin[1, 0]])
    np.testing.assert_allclose(p_dot, np.array(columns) @ F, atol=1e-9)


def rotation(q):
    c, s = np.cos(q), np.sin(q)
    about_y = np.array([[c[0], 0, s[0]], [0, 1, 0], [-s[0], 0, c[0]]])
    return about_y @ np.array([[1, 0, 0], [0, c[1], -s[1]], [0, s[1], c[1]]])


def point(q, x):
    c, s = np.cos(q[0]), np.sin(q[0])
    about_y = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return about_y @ np.array([0.0, 0.0, -0.8]) + rotation(q) @ x


def test_a_servo_follows_a_target_that_is_an_input():
    fixed = Mechanism(TREE, elements=[servo("elbow", stiffness=9.0, damping=1.0, target=Motion((0.4,)))])
    given = Mechanism(TREE, elements=[servo("elbow", stiffness=9.0, damping=1.0)])
    assert given.problem().inputs.names == ("elbow.target",)
    assert given.problem().inputs.units == ("rad",)
    u = given.problem(Q, V).with_inputs({"elbow.target": 0.4})
    np.testing.assert_array_equal(u.velocity(0.0, u.y0), fixed.problem(Q, V).velocity(0.0, u.y0))


JITTED = numba.njit(lambda t, q, v: np.array([np.sin(3.0 * t) - 0.5 * v[0], -0.2 * q[1] - 0.3 * v[1]]))
FOLLOWED = {"elbow.target": traced(lambda t: np.sin(3.0 * t)), "lower.fz": lambda t: np.cos(t)}
LOADED = Mechanism(TREE, elements=[servo("elbow", stiffness=9.0, damping=1.0), wrench(Frame("lower"), axes="world")])


@pytest.mark.parametrize(
    ("given", "method"),
    [
        pytest.param(traced(control), "TREE_VARIATIONAL", marks=SLOW),
        (FOLLOWED, "TREE_VARIATIONAL"),
        (JITTED, "RKMK4"),
        (control, "RKMK4"),
        (FOLLOWED, "RKMK4"),
        pytest.param(JITTED, "TREE_VARIATIONAL", marks=SLOW),
        pytest.param(control, "TREE_VARIATIONAL", marks=SLOW),
    ],
)
def test_eight_with_functions_run_in_lanes_and_have_the_bits_that_each_has_alone(given, method):
    made = (LOADED if given is FOLLOWED else ARM).problem(Q, V).with_inputs(given)
    starts = made.y0 + 0.01 * np.arange(3)[:, None]
    run = makers(made.with_start(starts), find(method), Output(), Plan(0.0, 0.02, 2))[0]
    assert run.func is LaneRun
    together = integrate(made, method, (0.0, 0.1), 0.02, y0=starts).y
    for k, start in enumerate(starts):
        np.testing.assert_array_equal(together[k], integrate(made, method, (0.0, 0.1), 0.02, y0=start).y)


def test_stages_in_lanes_have_inputs_of_their_own_and_servos_of_the_state_run_one_by_one():
    assert CONTROLLED.field.compiled_timed is not None
    follows = LOADED.problem(Q, V).with_inputs({"elbow.target": traced(lambda t, q, v: np.sin(q[0]))})
    starts = follows.y0 + 0.01 * np.arange(3)[:, None]
    runs = makers(follows.with_start(starts), find("RKMK4"), Output(), Plan(0.0, 0.02, 2))
    assert [run.func for run in runs] == [FixedRun] * 3


@pytest.mark.parametrize("name", ["arm", "four-bar"])
def test_a_function_of_one_value_is_that_number(name):
    """Forces along velocities are added to the rates of the momenta; numbers stand among the parameters."""
    made = ARM.problem(Q, V) if name == "arm" else moved_four_bar()
    u = np.linspace(0.3, -0.7, len(made.inputs))
    for f in (lambda t: u, lambda t, q, v: u + 0.0 * v[0]):
        given, held = made.with_inputs(traced(f)).with_work(), made.with_inputs(u).with_work()
        np.testing.assert_allclose(given.velocity(0.0, given.y0), held.velocity(0.0, held.y0), rtol=1e-14, atol=1e-15)
        ends = [
            integrate(x, "TREE_VARIATIONAL", (0.0, 0.1), 0.02).y[-1]
            for x in (made.with_inputs(traced(f)), made.with_inputs(u))
        ]
        np.testing.assert_allclose(*ends, rtol=0, atol=1e-13)


def moved_four_bar():
    plain = SYSTEMS["four-bar"].mechanism()
    name = plain.tree.bodies[0].joint_name
    return Mechanism(plain.tree, plain.equations.closures, plain.home, [motor(name)]).problem(rates={name: 1.0})


def test_a_closed_loop_is_driven_in_both_formulations():
    plain = SYSTEMS["four-bar"].mechanism()
    name = plain.tree.bodies[0].joint_name
    made = Mechanism(plain.tree, plain.equations.closures, plain.home, [motor(name)])
    push = traced(lambda t: 0.1 * np.sin(2.0 * t))
    run = integrate(made.problem().with_inputs(push).with_work(), "GAUSS8", (0.0, END), 0.025)
    assert run.error("balance") < 1e-10
    assert run.error("gap") < 1e-10
    n = made.tree.nq
    other = integrate(constrained_problem(made).with_inputs(push), "DLA6", (0.0, END), 0.01)
    np.testing.assert_allclose(other.y[-1][:n], run.y[-1][:n], atol=1e-9)
    errors = [
        np.abs(integrate(made.problem().with_inputs(push), "TREE_VARIATIONAL", (0.0, END), h).y[-1][:n] - run.y[-1][:n])
        for h in (0.02, 0.01)
    ]
    assert 3.0 < errors[0].max() / errors[1].max() < 5.0


@pytest.mark.parametrize(
    ("pose", "method"), [pytest.param(constrained_problem, "DLA6", marks=SLOW), (multiplier_problem, "RKMK4")]
)
def test_the_energy_of_a_closed_loop_with_multipliers_is_the_work_of_its_motor(pose, method):
    """By the powers along the run: the variational methods with multipliers carry no work."""
    plain = SYSTEMS["four-bar"].mechanism()
    name = plain.tree.bodies[0].joint_name
    made = Mechanism(plain.tree, plain.equations.closures, plain.home, [motor(name)])
    problem = pose(made, rates={name: 1.0}).with_inputs(traced(lambda t: 0.1 + 0.1 * np.sin(2.0 * t)))
    run = integrate(problem, method, (0.0, END), 0.01)
    work = simpson(problem.input_powers(run.t, run.y)[:, 0], x=run.t)
    assert abs(work) > 1e-2
    assert np.ptp(run["energy"][[0, -1]]) == pytest.approx(abs(work), rel=1e-4)
    assert run.success


def test_methods_with_multipliers_say_how_to_count_work():
    problem = constrained_problem(Mechanism(TREE, elements=[motor("elbow")]))
    with pytest.raises(ValueError, match=r"without with_work\(\), and integrate Problem.input_powers"):
        integrate(problem.with_work(), "DLA6", (0.0, 0.1), 0.05)
    with pytest.raises(ValueError, match=r"input_powers: .* it has no inputs"):
        TREE.problem(Q).input_powers(0.0, np.zeros(4))


@SLOW
def test_work_is_counted_in_lanes():
    made = ARM.problem(Q, V).with_inputs([0.4, -0.3]).with_work()
    starts = made.y0 + 0.01 * np.arange(2)[:, None]
    together = integrate(made, "TREE_VARIATIONAL", (0.0, 0.1), 0.02, y0=starts).y
    np.testing.assert_array_equal(together[1], integrate(made, "TREE_VARIATIONAL", (0.0, 0.1), 0.02, y0=starts[1]).y)


def test_straight_line_code_reads_the_inputs():
    u = [0.4, -0.7]
    made = compile_model(ARM).problem(Q, V).with_inputs(u)
    np.testing.assert_allclose(
        made.velocity(0.0, made.y0), ARM.problem(Q, V).with_inputs(u).velocity(0.0, made.y0), rtol=1e-15
    )


def test_inverse_dynamics_holds_an_arm_still():
    hold = inverse_dynamics(TREE, Q, [0.0, 0.0], [0.0, 0.0])
    step = stepper(ARM.problem(Q), "TREE_VARIATIONAL", 0.01)
    y = step.problem.y0
    for _ in range(10):
        y = step(y, hold)
    np.testing.assert_allclose(y, step.problem.y0, atol=1e-13)


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "RKMK4"])
def test_the_derivative_by_inputs_is_that_of_the_step(method):
    step = stepper(ARM.problem(Q, V), method, 0.01)
    y, u, e = step.problem.y0, np.array([0.4, -0.2]), 1e-5
    found = step.linearised(y, u)
    np.testing.assert_array_equal(found.y, step(y, u))
    B = np.array([(step(y, u + e * d) - step(y, u - e * d)) / (2 * e) for d in np.eye(2)]).T
    A = np.array([(step(y + e * d, u) - step(y - e * d, u)) / (2 * e) for d in np.eye(4)]).T
    np.testing.assert_allclose(found.B, B, atol=2e-10)
    np.testing.assert_allclose(found.A, A, atol=2e-9)


def test_a_servo_is_differentiated_by_complex_steps():
    made = Mechanism(TREE, elements=[servo("elbow", stiffness=9.0, damping=1.0)])
    step, e = stepper(made.problem(Q, V), "TREE_VARIATIONAL", 0.01), 1e-4
    found = step.linearised(step.problem.y0, [0.3])
    B = (step(step.problem.y0, [0.3 + e]) - step(step.problem.y0, [0.3 - e])) / (2 * e)
    np.testing.assert_allclose(found.B[:, 0], B, atol=1e-11)


def test_the_steps_of_a_jitted_loop_are_those_of_python():
    step = stepper(ARM.problem(Q, V), "TREE_VARIATIONAL", 0.01)
    take, memory = step.compiled

    @numba.njit
    def loop(memory, y, u, steps):
        for k in range(steps):
            u[0] = 0.1 * k
            if take(memory, 0.0, y, u) != 0:
                return k
        return steps

    y, end = step.problem.y0, step.problem.y0.copy()
    assert loop(memory, end, np.array([0.0, 0.3]), 5) == 5
    for k in range(5):
        y = step(y, [0.1 * k, 0.3])
    np.testing.assert_array_equal(end, y)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: motor("elbow", lambda t: np.sin(t)),
            TypeError,
            r"force: a function, .* problem.with_inputs\(\{'elbow'",
        ),
        (lambda: motor("elbow", 3.0), TypeError, "force: 3.0, expected a Motion"),
        (lambda: servo("elbow", stiffness=1.0, damping=0.0, target=np.sin), TypeError, "'elbow.target'"),
        (lambda: Mechanism(TREE, elements=[motor("elbow"), motor("elbow")]).problem(), ModelError, "two are called"),
        (lambda: wrench(Frame(None)), ModelError, "on the base"),
        (lambda: wrench(Frame("upper"), axes="own"), ValueError, "'body' or 'world'"),
        (lambda: Mechanism(TREE, elements=[motor("wrist")]).problem(), Exception, "wrist"),
        (lambda: ARM.problem().with_inputs({"wrist": 1.0}), ValueError, "no input 'wrist'"),
    ],
)
def test_what_drives_nothing_is_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


@SLOW
def test_two_motors_on_one_joint_add_up_in_the_linearised_step():
    hinge = Tree([Body("arm", joints.Revolute((0.0, 1.0, 0.0)), inertia=BAR, joint_name="hinge")])
    step = stepper(
        Mechanism(hinge, elements=[motor("hinge"), motor("hinge", name="disturbance")]), "TREE_VARIATIONAL", 0.1
    )
    start = np.array([0.3, 0.1])
    found = step.linearised(start, [1.0, 2.0])
    np.testing.assert_allclose(found.y, step(start, [1.0, 2.0]), rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(found.B[:, 0], found.B[:, 1], rtol=1e-14)


def test_the_linearised_step_of_a_projected_problem_is_that_of_the_step():
    """Of fields, too, with the projection after every step."""
    plain = SYSTEMS["four-bar"].mechanism()
    problem = plain.with_start(rates={plain.tree.bodies[0].joint_name: 1.0}).problem()
    found = linearised_step(problem, "RKMK4", problem.y0, 0.01)
    np.testing.assert_allclose(found.y, stepper(problem, "RKMK4", 0.01)(problem.y0), atol=1e-14)


def test_accounts_of_elements_know_the_inputs_that_they_are_told():
    made = Mechanism(TREE, elements=[motor("elbow"), wrench(Frame("lower", (0.0, 0.0, -0.4)), axes="world")])
    problem = made.problem(Q, V).with_inputs({"elbow": 2.0, "lower.fz": 3.0})
    u = [2.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0]
    powers = problem.evaluate(problem.inputs.power, 0.0, problem.y0, 7)
    accounts = element_accounts(made, [0.0], [problem.y0[:2]], [problem.y0[2:]], u)
    np.testing.assert_allclose([account.power[0] for account in accounts], powers, atol=1e-14)
    assert abs(powers[0]) > 0.1
    np.testing.assert_allclose(accounts[3].force[0], [0.0, 0.0, 3.0], atol=1e-14)
    assert np.isnan(element_accounts(made, [0.0], [problem.y0[:2]], [problem.y0[2:]])[0].power).all()
