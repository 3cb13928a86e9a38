"""Holonomic Lagrangians in configurations and velocities: the same motion, its parts, and methods of closed loops on
stiff ones.
"""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from sympy.physics.mechanics import dynamicsymbols

import mechanics
from integrators import integrate
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem import holonomic_problem, in_velocities, lagrangian_problem
from integrators.problem.holonomic import constraints_layout
from integrators.problem.parts import constrained
from integrators.problem.parts import lagrangian as layout
from liegroup.compile.scalars import sincos
from liegroup.formulas import so3
from liegroup.group import product, rn, se3
from mechanics.systems.bodies.pendulum import pendulum

G = 9.81


def steps(problem, name, end, count):
    """States of the interpreted steps, each without memory."""
    h, states = end / count, [problem.y0]
    with np.errstate(over="ignore", invalid="ignore"):  # the simplified iteration, where springs are stiff
        for k in range(count):
            states.append(step_map(problem, find(name), k * h, interpreted=True)(states[-1], h))
    return np.array(states)


def of_scipy(problem, end):
    """The last state by SciPy's Radau method, on vectors."""
    return solve_ivp(problem.velocity, (0, end), problem.y0, "Radau", rtol=1e-9, atol=1e-11).y[:, -1]


# --- the same motion --------------------------------------------------------------------------------------------------


def everything():
    """On SE(3) × R: a mass matrix that depends on q and t, a term linear in v, forces, a constraint that moves."""

    def lagrangian(t, q, v, p):
        spin = sum(a * x * x for a, x in zip((0.2, 0.3, 0.15), v[3:6], strict=True))
        slider = (1.0 + 0.5 * q[7] * q[7] + 0.1 * t) * v[6] * v[6] + 0.4 * q[0] * v[6] * v[3]
        charge = 0.7 * q[1] * v[0] - 0.3 * q[7] * v[4]
        return 0.5 * (p[0] * sum(x * x for x in v[:3]) + spin + slider) + charge - G * q[2] - 2.0 * (q[7] - q[0]) ** 2

    def constraints(t, q, p):
        held = [x + y for x, y in zip(q[:3], so3.act(tuple(q[3:7]), (0.1, 0.2, 0.5)), strict=True)]
        return [held[0] - 0.2 * sincos(t)[0], held[2] * held[2] + held[1] - q[7]]

    def force(t, q, v, p):
        return [*(-0.1 * x for x in v[:6]), sincos(2.0 * t)[1] - 0.2 * v[6] * q[0]]

    attitude = np.array(so3.exp((0.4, -0.3, 0.2)))
    arm = np.array(so3.act(tuple(attitude), (0.1, 0.2, 0.5)))
    q = np.array([*(np.array([0.0, 0.3, -0.2]) - arm), *attitude, 0.04 + 0.3])
    first = holonomic_problem(
        lagrangian, lambda t, q, p: constraints(t, q, p), q, _closing(q), [1.5], product(se3, rn(1)), force
    )
    return first, in_velocities(first)


def _closing(q):
    """A velocity that keeps the constraints of `everything` at t = 0: the turn is free, the rest follows."""
    w, arm = np.array([0.5, -0.8, 1.0]), np.array([0.1, 0.2, 0.5])
    point = np.array([0.2, 0.1, -0.4])  # of the point that is held, in space
    back = np.array([*q[3:4], *-q[4:7]])
    return np.array([*(np.array(so3.act(tuple(back), tuple(point))) - np.cross(w, arm)), *w, 2 * -0.2 * -0.4 + 0.1])


@pytest.fixture(scope="module")
def both():
    return everything()


def evaluated(problem, t, y):
    out = np.zeros(problem.parts_size)
    problem.parts.python(t, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def field(problem, t, y):
    out = np.zeros(problem.dimension)
    problem.field.python(t, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def test_the_motion_is_the_same(both):
    """ṗ = M v̇ + d/dt π at constant v, at a state and a time where nothing vanishes."""
    first, second = both
    n, t = 7, 0.3
    q, v = second.y0[:8], second.y0[8:] + np.linspace(-0.3, 0.4, n)
    raw = np.zeros(constraints_layout(n, 2).SIZE)
    first.parts.python(t, np.concatenate([q, v]), first.parameters, first.structure, np.zeros((1, 1)), raw)
    of_l, of_c = layout(n), constraints_layout(n, 2)
    M = raw[of_l.MOMENTUM_V : of_l.MOMENTUM_V + n * n].reshape(n, n)
    momentum, rate = raw[of_l.MOMENTUM : of_l.MOMENTUM + n], raw[of_c.MOMENTUM_RATE : of_c.MOMENTUM_RATE + n]
    found = field(second, t, np.concatenate([q, v]))
    known = field(first, t, np.concatenate([q, momentum]))
    assert np.abs(found[:n] - known[:n]).max() < 1e-13  # v
    assert np.abs(M @ found[n:] + rate - known[n:]).max() < 1e-12 * np.abs(known[n:]).max()


def test_what_is_watched_is_the_same(both):
    first, second = both
    values = np.zeros((2, 3))
    for problem, out in zip(both, values, strict=True):
        work = np.zeros(problem.work_shape)
        problem.invariants.python(0.0, problem.y0, problem.parameters, problem.structure, work, out)
    assert np.abs(values[0] - values[1]).max() < 1e-13
    assert second.invariant_names == first.invariant_names
    assert [x.name for x in second.variables][-1] == "v"


def test_kinetic_energy_and_potential_are_parted():
    """D·v is half of v·(Ṁ v), G is the gradient of V, and forces that were given are F alone."""
    drag = -0.2
    posed = holonomic_problem(
        lambda t, q, v, p: 0.5 * (1.0 + q[1] * q[1]) * v[0] * v[0] + 0.5 * v[1] * v[1] - G * q[0] ** 3,
        lambda t, q, p: [q[0] - q[1]], [0.3, 0.3], [0.5, 0.5], force=lambda t, q, v, p: [drag * v[0], 0.0],
    )  # fmt: skip
    problem = in_velocities(posed)
    at, found = constrained(2, 1, 1), evaluated(problem, 0.0, problem.y0)
    rate, kinetic = found[at.RATE : at.RATE + 2], found[at.KINETIC : at.KINETIC + 2]
    assert kinetic == pytest.approx([0.0, 0.3 * 0.25])
    assert rate @ problem.y0[2:] == pytest.approx(2 * kinetic @ problem.y0[2:], rel=1e-14)
    assert found[at.GRADIENT : at.GRADIENT + 2] == pytest.approx([3 * G * 0.09, 0.0])
    assert found[at.FORCE : at.FORCE + 2] == pytest.approx([drag * 0.5, 0.0], abs=1e-15)
    assert found[at.POTENTIAL] == pytest.approx(G * 0.027)


@pytest.mark.parametrize("name", ["DLA4", "RADAU_GGL", "RADAU_INDEX2", "RADAU_INDEX3", "ALPHA_STABILISED"])
def test_orders_are_those_of_the_rows(name):
    swing = in_velocities(
        holonomic_problem(
            lambda t, q, v, p: 0.5 * (v[0] * v[0] + v[1] * v[1]) - G * q[1],
            lambda t, q, p: [0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0)],
            [np.sin(1.0), -np.cos(1.0)],
        )
    )
    theta, _ = pendulum(angle=1.0).exact(0.4)
    exact = np.array([np.sin(theta), -np.cos(theta)])
    errors = [np.abs(steps(swing, name, 0.4, count)[-1, :2] - exact).max() for count in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(find(name).order, abs=0.4)


# --- stiff ------------------------------------------------------------------------------------------------------------

STIFFNESS, DAMPING, OWN_MASS = 1e6, 2e3, 0.1


def spring_pendulum(model="spring"):
    """A bead in Cartesian coordinates; the length 1 + e of its spring is a coordinate, tied to them."""
    return holonomic_problem(
        lambda t, q, v, p: (
            0.5 * (v[0] * v[0] + v[1] * v[1] + OWN_MASS * v[2] * v[2]) - G * q[1] - 0.5 * STIFFNESS * q[2] * q[2]
        ),
        lambda t, q, p: [0.5 * (q[0] * q[0] + q[1] * q[1] - (1.0 + q[2]) * (1.0 + q[2]))],
        [1.0, 0.0, 0.0],
        force=lambda t, q, v, p: [0.0, 0.0, -DAMPING * v[2]],
        model=model,
    )


@pytest.fixture(scope="module")
def truth():
    """In polar coordinates (angle, extension), by Radau's method of SciPy."""
    reduced = lagrangian_problem(
        lambda t, q, v, p: (
            0.5 * ((1.0 + q[1]) ** 2 * v[0] * v[0] + (1.0 + OWN_MASS) * v[1] * v[1])
            - G * (1.0 + q[1]) * sincos(q[0])[0]
            - 0.5 * STIFFNESS * q[1] * q[1]
        ),
        [0.0, 0.0],
        force=lambda t, q, v, p: [0.0, -DAMPING * v[1]],
    )
    angle, extension = of_scipy(reduced, 1.0)[:2]
    return (1.0 + extension) * np.array([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("RADAU_GGL", 1e-7), ("RADAU_INDEX2", 1e-7), ("RADAU_INDEX3", 1e-7), ("ALPHA_STABILISED", 4e-3),
        ("ALPHA_INDEX3", 4e-3),
    ],
)  # fmt: skip
def test_stiff_springs_do_not_limit_the_step(name, error, truth):
    """Steps of twenty times the time 1/ω of the spring."""
    states = steps(in_velocities(spring_pendulum()), name, 1.0, 50)
    assert np.abs(states[-1, :2] - truth).max() < error
    if "INDEX2" not in name:
        assert np.abs(np.hypot(states[:, 0], states[:, 1]) - (1.0 + states[:, 2])).max() < 1e-12


@pytest.mark.parametrize("name", [pytest.param("BDF3", marks=pytest.mark.slow), "RODAS4", "RKMK_RADAU_IIA5"])
def test_stiff_methods_of_fields_take_the_same_motion(name, truth):
    """Index 1: the constraint drifts with the error of the method alone."""
    run = integrate(spring_pendulum(), name, (0, 1), 0.002)
    assert run.success
    assert np.abs(run.y[-1, :2] - truth).max() < 1e-5
    assert run["gap"].max() < 1e-5


@pytest.mark.slow
def test_a_four_bar_of_sympy_with_a_stiff_damped_crank():
    """Three relative angles, the loop as two constraints: that of the closed form in the angle of the crank."""
    a, b, c = dynamicsymbols("a b c")
    k = sympy.symbols("k")
    arms = [(1.0, a), (2.0, a + b), (1.5, a + b + c)]
    x = np.cumsum([l * sympy.cos(angle) for l, angle in arms])
    y = np.cumsum([l * sympy.sin(angle) for l, angle in arms])
    T = sum((x[i].diff() ** 2 + y[i].diff() ** 2) / 2 for i in range(2)) + (a + b + c).diff() ** 2 / 10
    start = {a: 1.0, b: -0.6742791521731877, c: -2.0539283800437403}
    closed = sympy.nsolve([(x[2] - 2.2).subs(a, 1.0), y[2].subs(a, 1.0)], [b, c], [start[b], start[c]], prec=30)
    problem = mechanics.from_lagrangian(
        T - G * (y[0] + y[1]) - k * (b - float(closed[0])) ** 2 / 2, [a, b, c], {k: 1e5},
        {a: 1.0, b: float(closed[0]), c: float(closed[1])}, constraints=[x[2] - 2.2, y[2]],
        forces=[0, -1e3 * b.diff(), 0],
    )  # fmt: skip
    known = of_scipy(problem, 0.5)
    found = steps(in_velocities(problem), "RADAU_GGL", 0.5, 10)
    assert np.abs(found[-1, :3] - known[:3]).max() < 1e-7


# --- what is refused --------------------------------------------------------------------------------------------------


def test_what_has_no_such_form_is_named():
    with pytest.raises(ValueError, match="no Lagrangian with holonomic constraints"):
        in_velocities(lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] * v[0], [0.0]))
    with pytest.raises(ValueError, match="not quadratic in the velocities"):
        in_velocities(
            holonomic_problem(
                lambda t, q, v, p: -((1.0 - v[0] * v[0] - v[1] * v[1]) ** 0.5), lambda t, q, p: [q[0]], [0.0, 0.0]
            )
        )
    with pytest.raises(TypeError, match="problem: "):
        in_velocities(3)
    with pytest.raises(ValueError, match="in_velocities"):
        integrate(spring_pendulum("spring"), "RADAU_GGL", (0, 1), 0.1)


def test_velocities_are_those_of_the_time_for_which_the_start_is_posed():
    """A charge on a plane in a potential −0.4 t: its momentum is v − 0.4 t."""
    posed = holonomic_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - 0.4 * t * v[0], lambda t, q, p: [q[1]],
        [0.0, 0.0], [0.3, 0.0], t=5.0,
    )  # fmt: skip
    assert in_velocities(posed).y0 == pytest.approx([0.0, 0.0, 0.3, 0.0], abs=1e-14)
    run = integrate(in_velocities(posed), "RADAU_GGL", (5.0, 7.0), 0.05)
    assert run.y[-1, 0] == pytest.approx(0.3 * 2.0 + 0.5 * 0.4 * 2.0**2, abs=1e-9)
    with pytest.raises(ValueError, match=r"t: 0, expected 5: .* pose the problem with t=0"):
        in_velocities(posed, t=0.0)
