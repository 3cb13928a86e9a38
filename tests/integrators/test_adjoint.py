"""Derivatives of whole runs: backwards against forwards, and both against differences in fifty digits."""

from __future__ import annotations

import copy
import math
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
import pytest

from integrators import Problem, Sampled, integrate, suggest_step
from integrators.adjoint import DifferentiableRun, gradient_of_run, parameter_directions, start_directions, stride
from integrators.analysis.exponents import lyapunov_exponents
from integrators.analysis.symplecticity import derivative
from integrators.method.step_map import moved, step_map
from integrators.problem.lagrangian import lagrangian_problem
from integrators.signatures import FIELD_SIGNATURES
from integrators.step_derivatives import compiled
from integrators.step_derivatives.compiled import carry_compiled
from integrators.step_derivatives.complex_step import check_carried
from integrators.step_function import StepError
from liegroup import product, rn, so3
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import arctan2
from mechanics import Body, Frame, Inertia, Mechanism, Tree, forces, hamiltonian_problem
from mechanics.constraints.loops import revolute
from mechanics.elastic import Network, Springs
from mechanics.joints import Prismatic, Revolute
from mechanics.systems import SYSTEMS

H, STEPS = 0.1, 7
INERTIA = (1.0, 2.0, 2.5)


def euler(t, y, p):
    """A body with a torque about its first axis, its angular momentum in body axes behind its orientation."""
    w = [y[4 + k] / p[1 + k] for k in range(3)]
    L = y[4:]
    return np.array([*w, L[1] * w[2] - L[2] * w[1] + p[0], L[2] * w[0] - L[0] * w[2], L[0] * w[1] - L[1] * w[0]])


def body():
    """In plain Python."""
    start = np.concatenate([so3.exp([0.3, -0.2, 0.5]), [0.4, 1.0, -0.3]])
    return Problem(product(so3, rn(3)), start, euler, parameters=[0.2, *INERTIA], inputs={"torque": 0})


@entry(*FIELD_SIGNATURES)
def compiled_euler(t, y, parameters, structure, work, out):
    """The same, compiled."""
    p = parameters
    L1, L2, L3 = ld(y, 4), ld(y, 5), ld(y, 6)
    w1, w2, w3 = L1 / p[1], L2 / p[2], L3 / p[3]
    st(out, 0, w1)
    st(out, 1, w2)
    st(out, 2, w3)
    st(out, 3, L2 * w3 - L3 * w2 + p[0])
    st(out, 4, L3 * w1 - L1 * w3)
    st(out, 5, L1 * w2 - L2 * w1)


def arm(x=(1.3, 0.7, 0.9, 0.05)):
    """Two links: mass and length of the first, mass and moment of inertia of the second; the start is the same."""
    m1, l1, m2, I2 = x
    first = Inertia.about_com(m1, (0.5 * l1, 0.0, 0.1), np.diag([0.01, m1 * l1**2 / 12, m1 * l1**2 / 12]))
    second = Inertia.about_com(m2, (0.3, 0.05, 0.0), np.diag([0.5 * I2, I2, I2]))
    tree = Tree(
        [
            Body("upper", Revolute((0.0, 1.0, 0.0)), inertia=first),
            Body("lower", Revolute((0.0, 0.8, 0.6)), "upper", (l1, 0.0, 0.0), inertia=second),
        ]
    )
    return hamiltonian_problem(tree, [0.4, -0.9], p=[0.3, 0.2])


def pendulum():
    return lagrangian_problem(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + p[1] * np.cos(q[0]),
        [0.3],
        parameters=[0.2, 1.5],
        force=lambda t, q, v, p: [p[0]],
    )


CASES = {
    "plain Python": (body, "RKMK4", True),
    "compiled": (lambda: replace(body(), field=compiled_euler), "CF4", True),
    "implicit": (lambda: replace(body(), field=compiled_euler), "RKMK_GAUSS2", True),
    "Lagrangian": (pendulum, "DEL_GAUSS2", True),
    "tree": (arm, "RKMK4", True),
}


def run_of(name, steps=STEPS, **changes):
    make, method, with_parameters = CASES[name]
    problem = make()
    directions = np.random.default_rng(5).normal(size=(2, len(np.asarray(problem.parameters))))
    return DifferentiableRun(problem, method, H, steps, directions if with_parameters else None, **changes)


def random_changes(run, seed=1):
    g, y = np.random.default_rng(seed), np.asarray(run.problem.y0)
    direction = run.derivative.velocities(y) @ g.normal(size=run.problem.dimension)
    return (
        y,
        direction,
        g.normal(size=(run.steps, len(run.names))),
        g.normal(size=2),
        g.normal(size=(run.steps + 1, len(y))),
    )


SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in ("compiled", "implicit", "tree")]  # kernels are compiled


@pytest.mark.parametrize("name", ["plain Python", "Lagrangian", *SLOW])
def test_backwards_and_forwards_are_transposes_of_each_other(name):
    run = run_of(name)
    y, direction, du, dx, weights = random_changes(run)
    found = run.vjp(y, weights)
    states, changes = run.jvp(y, direction, du=du, dx=dx)
    forwards = (weights * changes).sum()
    backwards = found.by_start @ direction + (found.by_inputs * du).sum() + found.by_parameters @ dx
    assert abs(forwards - backwards) < 1e-13 * np.abs(weights * changes).sum()
    assert np.allclose(found.value, (weights * states).sum(), rtol=1e-14)
    assert np.array_equal(found.y, run(y))
    assert np.allclose(states[-1], found.y, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["plain Python", *SLOW])
def test_gradients_are_those_of_fifty_digits(name):
    """Of the same steps, interpreted in fifty digits: central differences over 1e-15 have an error of 1e-30."""
    run = run_of(name, 3)
    y, direction, du, dx, weights = random_changes(run)
    found = run.vjp(y, weights)
    parameters, d = np.asarray(run.problem.parameters), run.derivative.increments(y) @ direction
    with mpmath.workdps(50):

        def loss(e):
            numbers = np.array([mpmath.mpf(float(p)) for p in parameters], dtype=object)
            numbers = numbers + e * np.array([mpmath.mpf(float(x)) for x in dx @ run.derivative._directions[-2:]])
            state = np.array([mpmath.mpf(float(x)) for x in y], dtype=object)
            state = moved(run.problem, state, e * np.array([mpmath.mpf(float(x)) for x in d], dtype=object))
            total = sum(w * x for w, x in zip(weights[0].tolist(), state, strict=True))
            for k in range(3):
                own = numbers.copy()
                if run.names:
                    own[0] = own[0] + e * mpmath.mpf(float(du[k, 0]))
                state = in_digits(run, CASES[name][0](), state, own, k)
                total = total + sum(w * x for w, x in zip(weights[k + 1].tolist(), state, strict=True))
            return total

        e = mpmath.mpf("1e-15")
        true = float((loss(e) - loss(-e)) / (2 * e))
    backwards = found.by_start @ direction + (found.by_inputs * du).sum() + found.by_parameters @ dx
    assert abs(backwards - true) < 1e-12 * (1.0 + abs(true))


def test_second_derivatives_are_those_of_fifty_digits():
    run = DifferentiableRun(body(), "RKMK4", H, 1)
    y, g = np.asarray(run.problem.y0), np.random.default_rng(2)
    a, b, du = g.normal(size=6), g.normal(size=6), g.normal(size=2)
    found = run.derivative.second(y, np.array([0.2]), 0.0) @ np.append(b, du[1]) @ np.append(a, du[0])
    with mpmath.workdps(60):
        exact = [np.array([mpmath.mpf(float(x)) for x in part], dtype=object) for part in (y, a, b)]
        numbers = np.array([mpmath.mpf(float(p)) for p in run.problem.parameters], dtype=object)
        e = mpmath.mpf("1e-14")

        def at(i, j):
            state = moved(run.problem, moved(run.problem, exact[0], j * e * exact[2]), i * e * exact[1])
            own = numbers.copy()
            own[0] = own[0] + e * (i * mpmath.mpf(float(du[0])) + j * mpmath.mpf(float(du[1])))
            return in_digits(run, body(), state, own, 0)

        slopes = []  # along a, in the coordinates of the velocities at each end
        for j in (1, -1):
            end = (at(1, j) + at(-1, j)) / 2
            rate = (at(1, j) - at(-1, j)) / (2 * e)
            quaternion, turned = end[:4], rate[:4]
            w, v = quaternion[0], quaternion[1:]
            angular = 2 * (w * turned[1:] - turned[0] * v - cross(v, turned[1:]))
            slopes.append(np.concatenate([angular, rate[4:]]))
        true = ((slopes[0] - slopes[1]) / (2 * e)).astype(float)
    assert np.abs(found - true).max() < 1e-10


@pytest.mark.parametrize("unit", [1e-6, 1e3])
def test_second_derivatives_know_no_unit(unit):
    def pendulum(one):
        def field(t, y, p):
            return np.array([y[1], p[0] * p[1] - p[1] * np.sin(y[0] / p[1])])

        return Problem(rn(2), [0.7 * one, 0.1 * one], field, parameters=[0.0, one], inputs={"u": 0})

    found = []
    for one in (1.0, unit):
        run = DifferentiableRun(pendulum(one), "RKMK4", 0.1, 1)
        second = run.derivative.second(run.problem.y0, np.array([0.2]), 0.0)
        found.append(
            second * np.array([1.0 / one] * 2)[:, None, None] * [one, one, 1.0] * np.array([[one, one, 1.0]]).T
        )
    assert np.abs(found[0] - found[1]).max() < 1e-9 < 1e-2 < np.abs(found[0]).max()


def test_second_derivatives_at_a_kink_are_refused():
    bent = Problem(rn(1), [0.0], lambda t, y: [-y[0] if y[0].real > 0.0 else y[0]])
    run = DifferentiableRun(bent, "RKMK4", 0.1, 1)
    with pytest.raises(ValueError, match=r"second: the derivatives of the step .* along component 0 of the velocity"):
        run.derivative.second(np.array([0.0]), np.zeros(0), 0.0)


def cross(a, b):
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def in_digits(run, problem, state, parameters, k):
    object.__setattr__(problem, "parameters", parameters)
    method = run.method
    return step_map(problem, method, k * H, interpreted=True)(state, H)


@pytest.mark.slow  # kernels are compiled
def test_gradients_by_masses_lengths_and_inertias_of_a_tree_are_those_of_the_runs_of_other_trees():
    x, start, weights = np.array([1.3, 0.7, 0.9, 0.05]), arm().y0, np.array([1.0, -2.0, 0.5, 0.3])
    run = DifferentiableRun(arm(x), "RKMK4", 0.02, 25, parameters=parameter_directions(arm, x))
    found = run.vjp(start, weights)

    def loss(x):
        return [weights @ DifferentiableRun(arm(x), "RKMK4", 0.02, 25)(start)]

    true = derivative(lambda s: loss(x * (1.0 + s)), np.zeros(4), 4, delta=0.02)[0] / x
    assert np.abs(found.by_parameters - true).max() < 1e-10 * np.abs(true).max()


def micro_stage(law, unit):
    """A carrier on a flexure, a slider on it that slips by some micrometres, by a law of its joint or as it lies on the
    ground; lengths are in metres times `unit`.
    """
    grain = Inertia.point(0.01)
    bodies = [
        Body("carrier", Prismatic((1, 0, 0)), inertia=Inertia.point(0.02)),
        Body("slider", Prismatic((1, 0, 0)), "carrier", inertia=grain),
        Body("block", Prismatic((0, 0, 1)), "slider", inertia=grain),
    ]
    ball, slip = forces.Sphere(Frame("block"), 1e-3 * unit), 5e-7 * unit
    rubs = {
        "joint": forces.dry_friction("slider_joint", force=2e-3 * unit, slip_speed=slip),
        "ground": forces.contact(ball, Frame(None), stiffness=1e4, friction=0.02, slip_speed=slip),
    }
    held = [
        forces.joint_spring("carrier_joint", 2e3, damping=0.5),
        forces.joint_spring("slider_joint", 50.0),
        forces.joint_spring("block_joint", 1e4, rest=1e-3 * unit, damping=1.0),
        rubs[law],
    ]
    made = Mechanism(Tree(bodies, gravity=(0.0, 0.0, -9.81 * unit)), elements=held)
    return made.problem([2e-6 * unit, 0.0, 9.95e-4 * unit])


@pytest.mark.parametrize("law", ["joint", "ground"])
@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX"])
def test_gradients_of_steps_with_force_elements_do_not_depend_on_the_unit(method, law):
    """Their iteration takes slopes of the forces by differences, in which a speed of 1 may be large."""
    steps, found = 40, []
    for unit in (1.0, 1e6):
        problem, end = micro_stage(law, unit), np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])

        def loss(k, y, end=end):
            return (float(end @ y), end) if k == steps else (0.0, 0.0 * end)

        found.append(gradient_of_run(problem, method, 2e-4, steps, loss).by_start)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6, atol=1e-8 * np.abs(found[0]).max())


@pytest.mark.parametrize("checkpoints", [1, 2, 3, 5, 40])
def test_the_gradient_does_not_depend_on_the_checkpoints_and_no_more_are_kept(checkpoints):
    few, many = run_of("Lagrangian", 30, checkpoints=checkpoints), run_of("Lagrangian", 30)
    y = np.asarray(few.problem.y0)
    assert np.array_equal(few.vjp(y, [1.0, 2.0]).by_start, many.vjp(y, [1.0, 2.0]).by_start)
    taken = 0
    plain = few._take

    def counted(*arguments):
        nonlocal taken
        taken += 1
        return plain(*arguments)

    few._take = counted
    assert [k for k, _ in few._backwards(y, few._inputs(None))] == list(range(30, -1, -1))
    rounds = {1: 30, 2: 7, 3: 4, 5: 3, 40: 1}[checkpoints]
    assert 30 <= taken <= 30 * rounds


def test_checkpoints_are_binomial():
    assert stride(10, 2) == 4  # C(2 + 2 + 1, 2) = 10 states if every step is taken twice, C(4, 1) before the next
    assert stride(11, 2) == 10  # a third time: C(2 + 3, 2)
    assert stride(2, 5) == 1


def test_a_loss_by_a_function_is_that_by_its_derivatives():
    run = run_of("Lagrangian")
    y, goal = np.asarray(run.problem.y0), 0.1
    states = run.states(y)
    found = run.vjp(y, lambda k, state: (0.5 * float((state - goal) @ (state - goal)), state - goal))
    true = run.vjp(y, states - goal)
    assert np.allclose(found.by_start, true.by_start, rtol=1e-14)
    assert np.isclose(found.value, 0.5 * ((states - goal) ** 2).sum())


@pytest.mark.parametrize("unit", [1.0, 1e6])
@pytest.mark.parametrize("wrong", ["sign", "half", "forgotten", "one of two"])
def test_a_loss_whose_derivative_is_wrong_is_named(wrong, unit):
    """At the end, and where the end does not count, at the first state that does; in any unit of length."""
    swing = Problem(rn(2), [0.3 * unit, 0.0], lambda t, y: [y[1], -y[0]])
    factor = {"sign": -1.0, "half": 0.5, "forgotten": 0.0, "one of two": np.array([1.0, 2.0])}[wrong]
    for counts in (20, 7):

        def loss(k, y, factor=1.0, counts=counts):
            return (0.5 * float(y @ y) / unit**2, factor * y / unit**2) if k == counts else (0.0, np.zeros(2))

        assert gradient_of_run(swing, "RKMK4", 0.05, 20, loss).value > 0.0
        with pytest.raises(ValueError, match=rf"loss: at state {counts} its derivative says .* differences of its"):
            gradient_of_run(swing, "RKMK4", 0.05, 20, lambda k, y, loss=loss: loss(k, y, factor))
        gradient_of_run(swing, "RKMK4", 0.05, 20, lambda k, y, loss=loss: loss(k, y, factor), check=False)


@pytest.mark.parametrize("check", [True, False])
def test_derivatives_of_a_loss_that_are_no_numbers_are_named(check):
    swing = Problem(rn(2), [0.3, 0.0], lambda t, y: [y[1], -y[0]])
    for loss, says in (
        (lambda k, y: (1.0, [np.nan, 0.0]), r"loss: a derivative of shape \(2,\) at state 3, expected \(2,\) finite"),
        (lambda k, y: (np.nan, [1.0, 0.0]), "loss: nan, expected a finite number"),
        ([np.inf, 0.0], r"cotangent: shape \(2,\), expected \(2,\) or \(4, 2\) finite"),
    ):
        with pytest.raises(ValueError, match=says):
            gradient_of_run(swing, "RKMK4", 0.05, 3, loss, check=check)


def test_losses_are_compared_on_groups_beside_kinks_and_noise():
    top = SYSTEMS["heavy-top"].problem()
    rng, goal = np.random.default_rng(3), np.asarray(top.y0) + 0.1

    def squares(k, y):
        return (0.5 * float((y - goal) @ (y - goal)), y - goal) if k == 5 else (0.0, 0.0 * y)

    def kink(k, y):
        return (float(np.abs(y - y.round(1)).sum()), np.sign(y - y.round(1))) if k == 5 else (0.0, 0.0 * y)

    def noisy(k, y):
        return (1e-3 * rng.normal() + float(y.sum()), np.ones(len(y))) if k == 5 else (0.0, 0.0 * y)

    for loss in (squares, kink, noisy):
        assert np.isfinite(gradient_of_run(top, "RKMK4", 1e-3, 5, loss).by_start).all()
    with pytest.raises(ValueError, match="loss: at state 5"):
        gradient_of_run(top, "RKMK4", 1e-3, 5, lambda k, y: (squares(k, y)[0], -squares(k, y)[1]))


def test_parameter_directions_of_polynomials_have_rounding_alone():
    def make(x):
        m, l = x
        return Problem(rn(1), [1.0], lambda t, y, p: -p[0] * y, parameters=[m * l**2, m**2 * l**3, 0.0])

    found = parameter_directions(make, [1.3, 0.7])
    true = [[0.7**2, 2 * 1.3 * 0.7**3, 0.0], [2 * 1.3 * 0.7, 3 * 1.3**2 * 0.7**2, 0.0]]
    assert np.allclose(found, true, rtol=1e-13, atol=1e-14)


def posed_with(number):
    return lambda x: Problem(rn(1), [1.0], lambda t, y, p: -p[0] * y, parameters=[number(x[0]), 2.0 * x[0]])


@pytest.mark.parametrize(
    ("number", "x", "true"),
    [
        (lambda x: max(x, 1.0), 1.01, 1.0),
        (lambda x: 1.0 / (x - 1.0), 1.05, -400.0),
        (math.sin, 100.0, math.cos(100.0)),
        (lambda x: np.interp(x, [0.0, 1.0, 2.0], [0.0, 1.0, 3.0]), 1.01, 2.0),
        (lambda x: math.sqrt(x - 0.99), 1.0, 5.0),
    ],
)
def test_parameter_directions_go_down_in_size_until_two_agree(number, x, true):
    """Differences over 8 % alone gave 0.81, 459 and 0.75 for the first three."""
    assert parameter_directions(posed_with(number), [x]) == pytest.approx(np.array([[true, 2.0]]), rel=1e-9)


@pytest.mark.parametrize("x", [[-1.354, 0.877, 0.956], [1.001, -1.306, 0.865], [1.346, 0.52, 0.825]])
def test_numbers_that_are_rounding_at_every_place_do_not_change(x):
    """Directions of hinges: entries of rotations that products cancel are 1e-17, now this and now that."""
    inertia = Inertia.about_com(1.0, (0.1, 0.0, -0.35), np.diag([0.1, 0.1, 0.05]))

    def arm(x):
        upper = Body("upper", Revolute((np.sin(x[0]), np.cos(x[0]), 0.0)), inertia=inertia)
        lower = Body("lower", Revolute((0.0, np.cos(x[1]), np.sin(x[1]))), "upper", (0.0, 0.0, -x[2]), inertia=inertia)
        return Tree([upper, lower]).problem([0.3, 0.1], [0.1, 0.2])

    random = np.random.default_rng(0)
    for _ in range(8):
        place = np.array(x) + 0.02 * random.uniform(-1.0, 1.0, 3)
        with pytest.warns(RuntimeWarning, match="the start that it poses changes"):
            found = parameter_directions(arm, place)
        for k, e in enumerate(1e-4 * np.eye(3)):
            rise = (np.array(arm(place + e).parameters) - np.array(arm(place - e).parameters)) / 2e-4
            np.testing.assert_allclose(found[k], rise, rtol=0, atol=1e-7)


@pytest.mark.parametrize("x", [0.0233, 0.03, 0.07, 1.1])
def test_components_of_a_start_that_are_sums_which_cancel_are_differentiated(x):
    """The momentum of a vehicle across its way is 0 but for rounding of that along it, and that of its lean little."""

    def make(x):
        across = 30.24 * (0.25 + x[0]) - 30.24 * x[0] - 7.56
        start = [30.24 + x[0], across, across - 6e-3 * x[0]]
        return Problem(rn(3), start, lambda t, y, p: [y[1], y[2], -y[0]], parameters=[1.0])

    for near in x * (1.0 + 0.01 * np.arange(8)):
        assert start_directions(make, [near]) == pytest.approx(np.array([[1.0, 0.0, -6e-3]]), abs=1e-8)


@pytest.mark.parametrize(
    ("number", "x"),
    [
        (lambda x: max(x, 1.0), 1.0),  # a kink: the mean of both sides by differences of any size
        (lambda x: max(x, 1.0), 1.0 + 1e-7),
        (lambda x: float(x > 1.0), 1.0),
        (lambda x: round(math.sin(x), 4), 1.0),
        (lambda x: x + 1e-6 * math.sin(1e9 * x**2), 1.0),
    ],
)
def test_parameter_directions_of_what_is_not_smooth_are_refused(number, x):
    with pytest.raises(
        ValueError, match=r"make: number 0 of its parameters does not change smoothly with x\[0\] at 1 "
    ):
        parameter_directions(posed_with(number), [x])


def test_parameters_of_what_poses_a_problem_are_those_of_its_problem():
    def made(x):
        inertia = Inertia.about_com(x[0], (0.0, 0.0, -x[1]), 0.01 * np.eye(3))
        return Mechanism(Tree([Body("a", Revolute((0, 1, 0)), inertia=inertia)]))

    x = [1.3, 0.7]
    assert np.array_equal(parameter_directions(made, x), parameter_directions(lambda x: made(x).problem(), x))
    with pytest.raises(TypeError, match="make: what it returns poses no problem"):
        parameter_directions(lambda x: 3.0, [1.0])


def parallelogram(x):
    """A crank, a rocker x[0] m long and what joins them, as long as they."""
    bar = Inertia.about_com(1.0, (0.0, 0.0, 0.2), 0.01 * np.eye(3))
    hinge, side = Revolute((0.0, 1.0, 0.0)), (0.5, 0.0, 0.0)
    bodies = [
        Body("crank", hinge, inertia=bar),
        Body("coupler", hinge, "crank", (0.0, 0.0, 0.5), inertia=bar),
        Body("rocker", hinge, None, side, inertia=bar),
    ]
    joins = revolute(Frame.with_axis("coupler", side, (0, 1, 0)), Frame.with_axis("rocker", (0, 0, x[0]), (0, 1, 0)))
    made = Mechanism.assembled(Tree(bodies), [joins], [0.3, -0.3, 0.3], hold=["crank_joint"])
    return made.problem(rates={"crank_joint": 1.0})


def test_parameters_of_the_longest_of_several_lengths_are_differentiated():
    """What counts as closed grows with the longest of them, and has a kink; it says nothing of the motion."""
    x = np.array([0.5])
    with pytest.warns(RuntimeWarning, match="the start that it poses changes"):
        directions = parameter_directions(parallelogram, x)
    starts = start_directions(parallelogram, x)
    true = derivative(lambda d: parallelogram(x + d).y0, np.zeros(1), 1, delta=0.01)
    assert np.abs(starts - true.T).max() < 1e-9
    changes = derivative(lambda d: parallelogram(x + d).parameters, np.zeros(1), 1, delta=0.01)[:, 0]
    changes[list(parallelogram(x).numerical)] = 0.0
    assert np.abs(changes).max() > 0.5
    assert np.abs(directions[0] - changes).max() < 1e-9


def test_parameter_directions_at_a_limit_are_those_from_within():
    """Damping that is not known yet, and what is full."""

    def within(x):
        if not 0.0 <= x <= 1.0:
            raise ValueError(f"x: {x}, expected 0 to 1")
        return 3.0 * x + x**2

    assert parameter_directions(posed_with(within), [0.0])[0, 0] == pytest.approx(3.0, rel=1e-12)
    assert parameter_directions(posed_with(within), [1.0])[0, 0] == pytest.approx(5.0, rel=1e-12)

    def special(x):
        if x:
            raise ValueError(f"x: {x}, expected 0")
        return x

    with pytest.raises(
        ValueError, match=r"make: x\[0\] is 0, and .* beside it.*x: .*, expected 0; expected a place within"
    ):
        parameter_directions(posed_with(special), [0.0])


@pytest.mark.parametrize(
    ("field", "by"),
    [
        (lambda t, y, p: [y[1], -y[0] - p[0] * abs(y[1]) * y[1]], "component 1 of the velocity"),
        (lambda t, y, p: -p[0] * y * np.linalg.norm(y), "component 0 of the velocity"),
        (lambda t, y, p: [y[1], -math.sin(y[0])], "component 0 of the velocity"),
        (lambda t, y, p: [y[1], -np.interp(y[0], [-2.0, 0.5, 2.0], [-3.0, 0.0, 1.0])], "component 0 of the velocity"),
        (lambda t, y, p: [y[1], -abs(p[0]) * y[0]], "a parameter"),
        (lambda t, y, p: [y[1], math.cos(t) - y[0]], "the time"),
    ],
)
def test_functions_that_lose_derivatives_are_named(field, by):
    """They gave gradients that were wrong, and said nothing."""
    problem = Problem(rn(2), [1.0, 0.3], field, parameters=[0.4])
    run = DifferentiableRun(problem, "RKMK4", 0.1, 3, parameters=[[1.0]], t=0.2)
    with pytest.raises(ValueError, match=f"field: complex numbers carry .* by {by} at t = .* but differences give"):
        run.vjp(problem.y0, [1.0, 0.0])


def test_functions_of_real_numbers_only_are_named():
    """NumPy's arctan2 takes no complex numbers; ours carries its derivative."""

    def steered(angle):
        return Problem(rn(2), [0.3, 0.0], lambda t, y: [y[1], -angle(y[0], 1.0 + y[1])])

    def loss(k, y):
        return (y[0], [1.0, 0.0]) if k == 4 else (0.0, [0.0, 0.0])

    remedy = (
        r"field: cannot be called with complex numbers.*'arctan2' not supported.*liegroup\.compile\.scalars\.arctan2"
    )
    with pytest.raises(TypeError, match=remedy):
        gradient_of_run(steered(np.arctan2), "RKMK4", 0.05, 4, loss)
    found = gradient_of_run(steered(arctan2), "RKMK4", 0.05, 4, loss)
    run = DifferentiableRun(steered(np.arctan2), "RKMK4", 0.05, 4)
    start = np.array([0.3, 0.0])
    true = [(run(start + e)[0] - run(start - e)[0]) / 2e-5 for e in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(found.by_start, true, atol=1e-9)


@pytest.mark.parametrize(
    "field",
    [
        lambda t, y: [y[1], -y[0] - 0.4 * np.sqrt(y[1] * y[1]) * y[1]],
        lambda t, y: [y[1], -np.tanh(y[1] / 1e-9) - y[0]],
        lambda t, y: [y[1], (1.0 if t > 1e-10 else 2.0) - np.maximum(y[0], 0.0)],
        lambda t, y: [y[1], -1e10 * y[0]],
        lambda t, y: [y[1] * 1e-9, np.sin(y[0] * 1e7)],
    ],
)
@pytest.mark.parametrize("start", [(1.0, 0.3), (0.0, 0.0)])
def test_functions_that_bend_are_differentiated(field, start):
    """Forwards, along two directions and without parameters: the change that the run itself shows."""
    run = DifferentiableRun(Problem(rn(2), start, field), "RKMK4", 1e-10, 2, check=False)
    states, changes = run.jvp(start, np.eye(2))
    size = 2.0**-40
    for direction, change in zip(np.eye(2), changes, strict=True):
        ends = [run(np.add(start, s * size * direction)) for s in (1.0, -1.0)]
        assert np.allclose((ends[0] - ends[1]) / (2.0 * size), change[-1], rtol=1e-3, atol=1e-3)
    assert np.array_equal(states[-1], run(start))


def test_derivatives_of_a_doubtful_run_come_with_a_warning():
    """A pendulum from 2.5 rad: steps of 0.4 s give another motion, of 0.02 s its own."""
    swing = Problem(rn(2), [2.5, 0.0], lambda t, y: [y[1], -9.81 * np.sin(y[0])])
    coarse = DifferentiableRun(swing, "RKMK4", 0.4, 20)
    assert [doubt.name for doubt in coarse.doubts([2.5, 0.0])] == ["accuracy"]
    with pytest.warns(RuntimeWarning, match="RKMK4: the run is doubtful, and its derivatives are of it"):
        coarse.vjp([2.5, 0.0], [1.0, 0.0])
    coarse.vjp([2.5, 0.0], [1.0, 0.0])  # it is said once
    assert DifferentiableRun(swing, "RKMK4", 0.02, 400).doubts([2.5, 0.0]) == ()
    gradient_of_run(swing, "RKMK4", 0.4, 20, [1.0, 0.0], check=False)


def test_runs_whose_inputs_change_are_held_against_steps_of_half_the_size():
    swing = Problem(
        rn(2), [2.5, 0.0], lambda t, y, p: [y[1], p[0] - 9.81 * np.sin(y[0])], parameters=[0.0], inputs={"u": 0}
    )
    for step, steps, names in ((0.4, 20, ["accuracy"]), (0.02, 400, [])):
        u = 0.1 * np.sin(np.arange(steps))[:, None]
        run = DifferentiableRun(swing, "RKMK4", step, steps)
        assert [doubt.name for doubt in run.doubts([2.5, 0.0], u)] == names
        assert run.doubts([0.0, 0.0], 0.0 * u) == ()


@pytest.mark.parametrize("u", [np.zeros((3, 1)), np.arange(3.0)[:, None]])
def test_doubts_of_a_run_that_fails_are_its_failure(u):
    cube = Problem(rn(1), [1.0], lambda t, y, p: [p[0] - 1e3 * y[0] ** 3], parameters=[0.0], inputs={"u": 0})
    run = DifferentiableRun(cube, "RKMK4", 1e3, 3)
    for ask in (lambda: run.doubts([1.0], u), lambda: run.vjp([1.0], [1.0], u)):
        with np.errstate(all="ignore"), pytest.raises(StepError, match="not finite"):
            ask()


def shared():
    """A run whose derivatives are those of compiled kernels."""
    return DifferentiableRun(replace(body(), field=compiled_euler), "RKMK4", H, 2, check=False)


def test_threads_that_share_a_run_wait_for_one_another(monkeypatch):
    run, inside, met = shared(), [], []

    def carry(*given):
        inside.append(1)
        time.sleep(1e-3)
        met.append(len(inside))
        inside.pop()
        return carry_compiled(*given)

    monkeypatch.setattr(compiled, "carry_compiled", carry)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda k: run.vjp(run.problem.y0, np.eye(7)[k % 7]).by_start, range(8)))
    assert max(met) == 1
    for k in range(8):
        assert np.array_equal(found[k], run.vjp(run.problem.y0, np.eye(7)[k % 7]).by_start)


def test_runs_are_copied_and_sent_to_processes():
    run = shared()
    true = run.vjp(run.problem.y0, np.ones(7)).by_start
    for other in (copy.deepcopy(run), pickle.loads(pickle.dumps(run))):
        assert np.array_equal(other.vjp(run.problem.y0, np.ones(7)).by_start, true)


def test_a_gradient_is_that_of_one_start():
    many = Problem(rn(1), [[1.0], [2.0]], lambda t, y: [-y[0]])
    with pytest.raises(ValueError, match=r"problem: it has 2 starts, expected one; give one of them as start"):
        gradient_of_run(many, "RKMK4", H, 2, [1.0])
    assert gradient_of_run(many, "RKMK4", H, 2, [1.0], start=many.y0[1]).y > 1.5


def test_what_is_not_differentiated_is_named():
    problem = body()
    with pytest.raises(ValueError, match=r"inputs given as functions \(torque\) are not differentiated"):
        DifferentiableRun(problem.with_inputs({"torque": Sampled([0.0, 1.0], [0.0, 1.0])}), "RKMK4", H, 3)
    with pytest.raises(ValueError, match="depends on steps before"):
        DifferentiableRun(problem, "BDF2", H, 3)
    run = DifferentiableRun(problem, "RKMK4", H, 3)
    y = np.asarray(problem.y0)
    with pytest.raises(ValueError, match=r"cotangent: shape \(2,\), expected \(7,\) or \(4, 7\)"):
        run.vjp(y, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"u: shape \(2,\), expected \(1,\) or \(3, 1\)"):
        run(y, [1.0, 2.0])
    with pytest.raises(ValueError, match="parameters: shape"):
        DifferentiableRun(problem, "RKMK4", H, 3, parameters=[[1.0]])
    with pytest.raises(ValueError, match=r"parameters\[0, 1\] = nan: expected finite numbers"):
        DifferentiableRun(problem, "RKMK4", H, 3, parameters=[[1.0, np.nan, 0.0, 0.0]])
    with pytest.raises(ValueError, match=r"make: x\[0\] is 1.*the problem at \[1\.0.* has another structure"):
        parameter_directions(lambda x: replace(problem, structure=[int(x[0] > 1.0)]), [1.0])
    with pytest.raises(ValueError, match="loss: a derivative of shape"):
        gradient_of_run(problem, "RKMK4", H, 3, lambda k, state: (0.0, [1.0]))


def test_a_step_is_differentiated_at_lists_and_whole_numbers():
    """Differences about whole numbers were rounded to whole numbers, and a field was to blame for a list."""
    cart = Problem(rn(2), [1.0, 0.0], lambda t, y, p: [y[1], p[0] * y[0]], parameters=[0.5], inputs={"force": 0})
    derivative = DifferentiableRun(cart, "RKMK4", H, 3).derivative
    y, u = np.array([1.0, 2.0]), np.array([3.0])
    for of in (derivative, derivative.second):
        for other in (([1, 2], [3], 0), (np.array([1, 2]), np.array([3]), 0)):
            assert all(map(np.array_equal, of(*other), of(y, u, 0.0)))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"y": [1.0]}, ValueError, r"y: shape \(1,\), expected \(2,\)"),
        ({"y": np.ones((2, 2))}, ValueError, r"y: shape \(2, 2\), expected \(2,\): one state"),
        ({"y": [1.0, np.nan]}, ValueError, "y: component 1 is nan"),
        ({"y": np.array([1.0, 1e-30j])}, TypeError, "y: complex numbers"),
        ({"u": [1.0, 2.0]}, ValueError, r"u: shape \(2,\), expected 1 finite numbers, one per input \(force\)"),
        ({"u": [np.inf]}, ValueError, "u: input 'force' is inf"),
        ({"u": np.array([1e-30j])}, TypeError, "u: complex numbers"),
        ({"t": "now"}, TypeError, "t: 'now', expected"),
    ],
)
def test_what_a_step_is_not_differentiated_at_is_named(change, error, words):
    cart = Problem(rn(2), [1.0, 0.0], lambda t, y, p: [y[1], p[0] * y[0]], parameters=[0.5], inputs={"force": 0})
    derivative = DifferentiableRun(cart, "RKMK4", H, 3).derivative
    for of in (derivative, derivative.second):
        with pytest.raises(error, match=words):
            of(**{"y": [1.0, 2.0], "u": [0.5], "t": 0.0} | change)


LAWS = {
    "abs": (lambda y: -y[0] - 0.4 * abs(y[1]) * y[1], False),
    "norm": (lambda y: -y[0] * np.linalg.norm(y), False),
    "real": (lambda y: -np.sin(np.real(y[0])) - 0.4 * y[1], False),
    "table": (lambda y: -np.interp(np.real(y[0]), [-2.0, 0.5, 2.0], [-3.0, 0.0, 1.0]) - y[1], False),
    "root": (lambda y: -y[0] - 0.4 * np.sqrt(y[1] * y[1]) * y[1], True),
    "length": (lambda y: -y[0] * np.sqrt(1.0 + y @ y), True),
    "steep": (lambda y: -np.tanh(1e3 * y[1]) - y[0], True),
}


@pytest.mark.parametrize("time", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("length", [1e-9, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("law", LAWS)
def test_what_loses_derivatives_is_found_in_any_unit(law, length, time):
    """A difference that is rounding, or reaches over the whole motion, acquits nobody, and contradicts nothing."""
    function, right = LAWS[law]
    units = np.array([length, length / time])
    problem = Problem(rn(2), [0.0, 0.0], lambda t, y: np.array([y[1] / units[1], function(y / units)]) * units / time)
    zeros = [(0.0, 0.0), (1.0, 0.0), (1e-12, 0.3)]
    for start in [(1.0, 0.3), (-0.7, 1e-3), *(zeros if right else ())]:
        with nullcontext() if right else pytest.raises(ValueError, match="complex numbers carry"):
            check_carried(problem, 0.0, units * start, np.zeros((0, 0)))


def test_an_orbit_in_metres_may_not_take_the_norm():
    def orbit(t, y):
        return np.concatenate([y[3:], -3.986e14 * y[:3] / np.linalg.norm(y[:3]) ** 3])

    problem = Problem(rn(6), [7e6, 0.0, 0.0, 0.0, 7.6e3, 300.0], orbit)
    with pytest.raises(ValueError, match="complex numbers carry"):
        check_carried(problem, 0.0, problem.y0, np.zeros((0, 0)))


@pytest.mark.parametrize(("law", "right"), [(lambda y: -y, True), (lambda y: -abs(y), False)], ids=["carries", "loses"])
def test_a_function_that_ends_beside_the_state_is_compared_nearer(law: Any, right: bool) -> None:
    def bounded(t: float, y: Any) -> Any:
        if y[0].real < 0.99999:
            raise ValueError("y: below one")
        return law(y)

    problem = Problem(rn(1), [1.0], bounded)
    with nullcontext() if right else pytest.raises(ValueError, match="complex numbers carry"):
        check_carried(problem, 0.0, problem.y0, np.zeros((0, 0)))


def test_a_start_that_the_parameters_move_is_a_direction_of_its_own():
    """A pendulum that starts with 1 rad/s has the momentum of its mass and length."""

    def make(x):
        inertia = Inertia.about_com(x[0], (0.0, 0.0, -x[1]), 0.01 * np.eye(3))
        return Tree([Body("a", Revolute((0, 1, 0)), inertia=inertia)]).problem([0.3], [1.0])

    x, steps = np.array([1.3, 0.7]), 40

    def loss(k, y):
        return (float(y[0]), np.array([1.0, 0.0])) if k == steps else (0.0, np.zeros(2))

    with pytest.warns(RuntimeWarning, match="the start that it poses changes"):
        directions = parameter_directions(make, x)
    found = gradient_of_run(make(x), "RKMK4", 0.025, steps, loss, parameters=directions)
    true = derivative(lambda s: [integrate(make(x + s), "RKMK4", (0.0, 1.0), 0.025)["q"][-1, 0]], np.zeros(2), 2)[0]
    assert found.by_parameters + found.by_velocity @ start_directions(make, x).T == pytest.approx(true, abs=1e-8)
    assert np.abs(found.by_parameters - true).max() > 0.05
    with pytest.raises(ValueError, match="a problem of 2 starts, expected one"):
        start_directions(lambda x: make(x).with_start([[0.3, 1.0], [0.2, 0.0]]), x)


@pytest.mark.parametrize("method", ["SPLIT_STRANG", "NEWMARK", "GAUSS8"])
def test_what_a_parameter_does_not_change_is_left_alone(method):
    """The stiffness of one spring of three bodies: methods that find the inertia once take its direction."""

    def make(x):
        elements = [Springs([[0, 1], [1, 2]], [x[0], 30.0], rest=[1.0, 0.8])]
        return Network([[0, 0, 0], [1, 0.2, 0], [1.8, -0.3, 0.4]], [0.9, 0.5, 0.7], elements, fixed=[0]).problem()

    x = np.array([20.0])
    directions, weights = parameter_directions(make, x), np.arange(1.0, 1.0 + make(x).n)
    assert np.count_nonzero(directions) == 1
    found = gradient_of_run(make(x), method, 0.02, 3, weights, parameters=directions)

    def value(k):
        return weights @ DifferentiableRun(make(x + k), method, 0.02, 3).states(make(x + k).y0)[-1]

    true = (8.0 * (value(0.1) - value(-0.1)) - (value(0.2) - value(-0.2))) / 1.2
    assert found.by_parameters == pytest.approx([true], rel=1e-8)


@pytest.mark.parametrize("begins", [1.0, 10.0])
def test_a_run_begins_at_the_time_for_which_its_start_is_posed(begins):
    """A mass that grows: ∂q/∂p = ∫ dt/(1 + t)."""
    posed = lagrangian_problem(lambda t, q, v, p: 0.5 * (1.0 + t) * v[0] ** 2, q=[0.4], v=[1.0], t=begins)
    right = np.log((2.0 + begins) / (1.0 + begins))
    found = gradient_of_run(posed, "RKMK4", 0.01, 100, [1.0, 0.0])
    assert found.by_start[1] == pytest.approx(right, rel=1e-9)
    assert found.y == pytest.approx(integrate(posed, "RKMK4", (begins, begins + 1.0), 0.01).y[-1], rel=1e-12)
    with pytest.raises(ValueError, match=f"^t: is 0.0, expected {begins}: .* or give the state start="):
        gradient_of_run(posed, "RKMK4", 0.01, 100, [1.0, 0.0], t=0.0)
    elsewhere = gradient_of_run(posed, "RKMK4", 0.01, 100, [1.0, 0.0], posed.y0, t=0.0)
    assert elsewhere.by_start[1] == pytest.approx(np.log(2.0), rel=1e-9)
    assert suggest_step(posed, "RKMK4") > 0.0
    assert lyapunov_exponents(posed, "RKMK4", 0.01, 100, count=1).y == pytest.approx(found.y, rel=1e-12)
