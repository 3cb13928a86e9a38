"""Derivatives of a step by state and controls: against differences, symplectic where the step is, refused where they do
not apply.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from integrators import integrate
from integrators.adjoint import DifferentiableRun, gradient_of_run
from integrators.analysis.canonical import two_form
from integrators.method.step_map import SingleStep, moved, step_map
from integrators.methods import METHODS as CATALOGUE
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from integrators.step_derivatives.compiled import by_parameters_stepped, stepped_kernels
from integrators.step_derivatives.complex_step import by_parameters, velocities
from integrators.step_derivatives.linearised import linearised_step
from integrators.step_derivatives.repeated import StepDerivative
from integrators.steppers.variational import variational
from integrators.tableaus import GAUSS
from integrators.tableaus.galerkin import galerkin
from liegroup.compile.scalars import sincos
from liegroup.group import product, rn, so3

METHODS = [
    find("DEL_MIDPOINT"),
    find("DEL_TRAPEZOIDAL"),
    find("DEL_GAUSS3"),
    find("DEL_LOBATTO3"),
    variational(galerkin(2, GAUSS(3))),
]
EVERY = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
Y = np.array([0.7, -0.5, 1.1, 0.4])
H, U = 0.1, np.array([0.3, -0.2])


def arms(t, q, v, p):
    """Two arms; p: gravity, drag, two torques."""
    (_, c1), (_, c2), (_, c) = sincos(q[0]), sincos(q[1]), sincos(q[0] - q[1])
    return v[0] * v[0] + 0.5 * v[1] * v[1] + c * v[0] * v[1] + p[0] * (2.0 * c1 + c2)


def torques(t, q, v, p):
    return [p[2] - p[1] * v[0], p[3] * (1.0 + 0.1 * v[1] * v[1]) - p[1] * v[1]]


@cache
def problem(drag=0.2):
    return lagrangian_problem(arms, Y[:2], p=Y[2:], parameters=[2.0, drag, 0.0, 0.0], force=torques, model="arms")


def differences(function, x, d=2.0**-8):
    """Central differences of order six."""
    columns = []
    for e in d * np.eye(len(x)):
        f = [function(x + k * e) - function(x - k * e) for k in (1, 2, 3)]
        columns.append((0.75 * f[0] - 0.15 * f[1] + f[2] / 60) / d)
    return np.array(columns).T


@EVERY
def test_derivatives_by_state_and_controls_are_those_of_the_step(method):
    found = linearised_step(problem(), method, Y, H, U, controls=[2, 3])
    J = differences(
        lambda x: linearised_step(problem(), method, x[:4], H, x[4:], controls=[2, 3]).y, np.concatenate([Y, U])
    )
    assert np.abs(J[:, 4:]).max() > 1e-3
    assert np.abs(np.hstack([found.A, found.B]) - J).max() < 3e-12


@EVERY
def test_derivative_by_the_step(method):
    """Of a Lagrangian that depends on time."""
    pulled = lagrangian_problem(
        lambda t, q, v, p: arms(t, q, v, p) + q[0] * t * t,
        Y[:2],
        p=Y[2:],
        parameters=[2.0, 0.2, 0.0, 0.0],
        force=torques,
        model="pulled",
    )
    found = linearised_step(pulled, method, Y, H, U, controls=[2, 3], t=0.4)
    J = differences(
        lambda h: linearised_step(pulled, method, Y, h[0], U, controls=[2, 3], t=0.4).y, np.array([H]), 2.0**-7
    )
    assert np.abs(found.by_step - J[:, 0]).max() < 1e-11


@EVERY
def test_without_drag_the_derivative_is_symplectic(method):
    A = linearised_step(problem(0.0), method, Y, H).A
    J = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(A.T @ J @ A - J).max() < 1e-14


def test_the_state_is_that_of_the_step():
    y = step_map(problem(), METHODS[2])(Y, H)
    assert np.array_equal(linearised_step(problem(), METHODS[2], Y, H).y, y)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("DEL_MIDPOINT_SUZUKI4", Y, H), "not composed"),
        (("RATTLE", Y, H), "DEL_"),
        (("SCIPY_DOP853", Y, H), "DEL_"),
        (("BDF2", Y, H), "states before"),
        (("DEL_MIDPOINT", Y, H, [1.0]), "one number per control"),
        (("DEL_MIDPOINT", Y, H, [1.0], [9]), "parameter's number"),
        (("DEL_MIDPOINT", Y, H, [np.inf], [0]), r"u\[0\] = inf: expected finite numbers"),
        (("DEL_MIDPOINT", Y[:3], H), "expected"),
    ],
)
def test_what_does_not_apply_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        linearised_step(problem(), *arguments)


@pytest.mark.parametrize("method", ["LGVI_CAYLEY", "LGVI_CAYLEY_SUZUKI4", "LGVI_CCSK", "VARIATIONAL_GAUSS2"])
def test_derivatives_on_a_group_are_exact_and_symplectic(method):
    """A pointer with a magnet on SO(3) and a weight on a line; the parameter is a force of the potential."""
    made = lagrangian_problem(
        lambda t, q, v, p: (
            0.5 * (v[0] ** 2 + 2.0 * v[1] ** 2 + 3.0 * v[2] ** 2 + v[3] ** 2) - p[0] * q[1] * q[4] - t * q[2]
        ),
        q=[0.8, 0.0, 0.6, 0.0, 0.3],
        v=[0.3, -0.2, 0.5, 0.1],
        group=product(so3, rn(1)),
        parameters=[0.7],
        model="pointer",
    )
    y = made.y0
    found = linearised_step(made, method, y, H, [0.7], [0], t=0.2)
    assert np.abs(found.A.T @ two_form(made, found.y) @ found.A - two_form(made, y)).max() < 1e-14
    back = np.linalg.pinv(velocities(made, found.y))
    changes = (
        lambda d: moved(made, y, [0, d, 0, 0, 0, 0, 0, 0]), lambda d: moved(made, y, [0, 0, 0, 0, 0, 0, d, 0])
    )  # fmt: skip
    step = step_map(made, find(method), 0.2, True)
    columns = [lambda d, m=m: step(m(d[0]), H) for m in changes]
    columns.append(lambda d: step_map(replace(made, parameters=[0.7 + d[0]]), find(method), 0.2, True)(y, H))
    columns.append(lambda d: step(y, H + d[0]))
    J = back @ np.hstack([differences(f, np.zeros(1)) for f in columns])
    exact = np.column_stack([found.A[:, 1], found.A[:, 6], found.B[:, 0], found.by_step])
    assert np.abs(exact - J).max() < 1e-11


@pytest.mark.parametrize("name", ["RKMK_DOP853", "MIDPOINT"])
def test_derivatives_of_a_mass_near_the_speed_of_light(name):
    """The velocity of a momentum is found by an iteration that comes to where there is no real square root, and turns
    back: so must numbers that carry derivatives, interpreted and compiled.
    """
    made = lagrangian_problem(
        lambda t, q, v, p: -p[0] * np.sqrt(1.0 - v[0] ** 2 - v[1] ** 2) - 0.5 * (q[0] ** 2 + q[1] ** 4),
        q=[0.7, 0.2],
        v=[0.5, 0.6],
        parameters=[1.3],
        model="fast",
    )
    found = linearised_step(made, name, made.y0, H)
    step = step_map(made, find(name), 0.0, True)
    assert np.abs(found.A - differences(lambda d: step(made.y0 + d, H), np.zeros(4))).max() < 1e-11
    for steps in (1, 1000):
        derivative = StepDerivative(made, find(name), H, [], [], np.zeros((0, 1)), steps)
        assert np.abs(derivative(made.y0, np.zeros(0), 0.0).A - found.A).max() < 1e-14


def test_derivatives_of_steps_of_lagrangians_are_compiled():
    """Those of fields made of traced derivatives, on groups and with constraints: 30 ms a step where they were not."""
    top = lagrangian_problem(
        lambda t, q, w, p: 0.5 * (w[0] ** 2 + 2.0 * w[1] ** 2 + 3.0 * w[2] ** 2) - p[0] * q[1] * q[0] - t * q[2],
        q=[0.8, 0.0, 0.6, 0.0],
        v=[0.3, -0.2, 0.5],
        group=so3,
        parameters=[0.7],
        model="top in a field",
    )
    held = holonomic_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - p[0] * q[1],
        lambda t, q, p: [(q[0] - 0.1 * np.sin(t)) ** 2 + q[1] ** 2 - 1.0],
        q=[1.0, 0.0],
        v=[0.1, 0.3],
        parameters=[9.81],
        model="pendulum as a point",
    )
    for made in (top, held):
        kernels = stepped_kernels(made, find("RKMK4"), True)
        assert kernels is not None
        d, along = made.dimension, np.eye(1)
        end, J = by_parameters(made, find("RKMK4"), made.y0, H, along, 0.2)
        compiled, rates = by_parameters_stepped(made, find("RKMK4"), made.y0, H, along, 0.2)
        assert compiled.tolist() == end.tolist()
        assert np.abs(rates[:, : d + 1] - J[:, : d + 1]).max() < 1e-14 * np.abs(J).max()


STEPPERS = {name: getattr(find(name), "stepper", None) for name in CATALOGUE}
OF_FIELDS = [name for name, x in STEPPERS.items() if x and x.needs in ("field", "time") and not x.multistep]


def spun(t, y, p):
    """A velocity on SO(3) and R²; of the time alone where y is empty."""
    a, b, c = (y[0], y[4], y[5]) if len(y) else (t, t * t, 0.5)
    sine, cosine = sincos(a + p[0] * t)
    return np.array([p[0] * b + t * c, sine, 0.5 * cosine, 0.3 * a * c, p[1] - b * c])


@pytest.mark.one_per_family
@pytest.mark.parametrize("name", OF_FIELDS)
def test_the_derivative_of_a_step_of_a_field_is_exact(name):
    """Along one direction of state, parameters and step."""
    of_time = find(name).stepper.needs == "time"
    made = Problem(
        product(so3, rn(2)),
        [0.8, 0.0, 0.6, 0.0, 0.3, -0.4],
        (lambda t, y, p: spun(t, y[:0], p)) if of_time else spun,
        parameters=[0.7, 0.2],
        model="spun",
    )
    found = linearised_step(made, name, made.y0, H, [0.7, 0.2], [0, 1], t=0.2)
    d = np.random.default_rng(1).normal(size=8)

    def changed(x):
        other = replace(made, parameters=made.parameters + x[0] * d[5:7])
        return step_map(other, find(name), 0.2, True)(moved(made, made.y0, x[0] * d[:5]), H + x[0] * d[7])

    J = np.linalg.pinv(velocities(made, found.y)) @ differences(changed, np.zeros(1), 2.0**-9)[:, 0]
    assert np.abs(J).max() > 0.1
    assert np.abs(np.column_stack([found.A, found.B, found.by_step]) @ d - J).max() < 1e-10


def swung(t, y, p):
    """A pendulum and what it drags along, at rest in the origin."""
    return np.array([y[1], -p[0] * sincos(y[0])[0] - 0.1 * y[1], y[0] * y[1] - 0.5 * y[2]])


@pytest.mark.one_per_family
@pytest.mark.parametrize("name", [n for n in OF_FIELDS if find(n).stepper.needs == "field"])
def test_the_derivative_of_a_step_is_exact_at_equilibria_too(name):
    """There an iteration has the state at once, and its derivative later."""
    made = Problem(rn(3), np.zeros(3), swung, parameters=[4.0], model="pendulum")
    found = linearised_step(made, name, made.y0, 0.2)
    J = differences(lambda x: step_map(made, find(name), 0.0, True)(x, 0.2), np.zeros(3), 2.0**-9)
    assert not found.y.any()
    assert np.abs(found.A - J).max() < 1e-10


CANONICAL = [name for name, x in STEPPERS.items() if x and x.needs == "canonical" and not x.multistep]


@pytest.mark.one_per_family
@pytest.mark.parametrize("name", CANONICAL)
def test_the_derivative_of_a_canonical_step_is_exact(problems, name):
    """Interpreted and compiled, of a body that turns and of one that does not, where the method is for them: what a
    step keeps for the next one, such as the force at its end, belongs to another state.
    """
    derived = 0
    for made, h in ((problems.heavy_top(), 0.05), (problems.kepler(), 0.05)):
        try:
            find(name).check(made)
        except ValueError:
            continue
        step, d = step_map(made, find(name)), np.random.default_rng(2).normal(size=made.dimension)
        J = differences(lambda x: step(moved(made, made.y0, x[0] * d), h), np.zeros(1), 2.0**-10)[:, 0]
        for compiled in (False, True):
            found = linearised_step(made, name, made.y0, h, compiled=compiled)
            assert np.abs(velocities(made, found.y) @ found.A @ d - J).max() < 1e-10 * np.abs(J).max()
        derived += 1
    assert derived


def test_what_is_not_a_map_of_states_has_no_derivative(problems):
    """The acceleration that ALPHA takes along is of states before; Newmark's is that of the state."""
    made = problems.kepler()
    with pytest.raises(ValueError, match="ALPHA, whose steps depend on states before"):
        linearised_step(made, "ALPHA", made.y0, H)
    with pytest.raises(ValueError, match="ALPHA_0 depends on steps before"):
        gradient_of_run(made, "ALPHA_0", 0.02, 5, np.ones(4))
    run = integrate(made, "NEWMARK", (0.0, 0.1), 0.02)
    assert np.abs(DifferentiableRun(made, "NEWMARK", 0.02, 5).states(made.y0)[-1] - run.y[-1]).max() < 1e-14


@pytest.mark.parametrize("h", [0.02, 0.5])
def test_stages_in_lanes_are_differentiated_one_by_one_and_undivided(problems, h):
    """GAUSS8 divides the longer step, near the perihelion, into many."""
    made = problems.kepler(0.8)
    taken = SingleStep(made, find("GAUSS8"))(made.y0, h, 0.0)
    assert (len(find("GAUSS8").stepper.report(taken.work).levels) > 1) == (h == 0.5)
    found = linearised_step(made, "GAUSS8", made.y0, h, compiled=True)
    assert np.abs(found.y - taken.y).max() < 1e-14 * np.abs(taken.y).max()
    at, by_parts = made.y0, np.eye(4)
    for _ in range(64):
        part = linearised_step(made, "RKMK_GAUSS6", at, h / 64, compiled=True)
        at, by_parts = part.y, part.A @ by_parts
    for A in (found.A, linearised_step(made, "GAUSS8", made.y0, h).A):
        assert np.abs(A - by_parts).max() < 1e-11 * np.abs(by_parts).max()


def test_a_control_that_changes_an_inertia_found_once_is_refused():
    made = lagrangian_problem(lambda t, q, v, p: 0.5 * p[0] * v[0] ** 2 - q[0] ** 2, [0.3], [0.1], parameters=[2.0])
    with pytest.raises(ValueError, match="changes the inertia which LGVI_CAYLEY finds once"):
        linearised_step(made, "LGVI_CAYLEY", made.y0, H, [2.0], [0])
