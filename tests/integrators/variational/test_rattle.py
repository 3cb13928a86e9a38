"""RATTLE with constraints given as functions: closed forms, other descriptions of the same motion, and what must be
kept.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis import derivative, energy_drift, measured_order, symmetry_defect, symplectic_defect
from integrators.analysis.symplecticity import canonical_form
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from integrators.problem.velocities import in_velocities
from integrators.steppers.rattle import multipliers, rattle
from liegroup.compile.scalars import sincos
from liegroup.formulas import so3
from liegroup.group import product, rn, se3
from mechanics.systems.bodies.heavy_top import heavy_top
from mechanics.systems.bodies.pendulum import pendulum

METHODS = {"RATTLE": (40, 80, 160), "RATTLE_SUZUKI4": (20, 40, 80), "RATTLE_SOFSPA6": (10, 20, 30)}
HIGH = {"RATTLE_KAHANLI6": (16, 24, 32), "RATTLE_KAHANLI8": (12, 16, 20), "RATTLE_SOFSPA10": (7, 8, 10, 12)}
"""Steps for one second."""
EVERY = pytest.mark.parametrize("name", METHODS)
GRAVITY = 9.81


def point(t, q, v, p):
    return 0.5 * sum(x * x for x in v) - GRAVITY * q[len(q) - 1]


def on_sphere(t, q, p):
    return [0.5 * (sum(x * x for x in q) - 1.0)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


@cache
def swing():
    """A pendulum as a point on a circle, released at 1 rad."""
    return holonomic_problem(point, on_sphere, [np.sin(1.0), -np.cos(1.0)], model="circle")


@cache
def spherical():
    return holonomic_problem(point, on_sphere, [0.6, 0.0, -0.8], [0.0, 2.0, 0.0], model="sphere")


# --- a body -----------------------------------------------------------------------------------------------------------

MASS, TENSOR, ARM = 1.5, np.array([0.2, 0.3, 0.15]), np.array([0.1, 0.2, 0.5])
SPIN, ATTITUDE = np.array([0.5, -0.8, 4.0]), np.array(so3.exp((0.4, -0.3, 0.2)))


def body(v):
    """Kinetic energy of a body about its mass centre, v body twist."""
    return 0.5 * MASS * dot(v[:3], v[:3]) + 0.5 * dot(TENSOR * np.array(v[3:]), v[3:])


def place(q, r):
    """A point of a body in space; q = (x, quaternion)."""
    return [x + y for x, y in zip(q[:3], so3.act(tuple(q[3:]), tuple(r)), strict=True)]


@cache
def held_body():
    """A body on SE(3) with one point held: a heavy top."""
    x = -np.array(so3.act(tuple(ATTITUDE), tuple(-ARM)))
    return holonomic_problem(
        lambda t, q, v, p: body(v) - MASS * GRAVITY * q[2],
        lambda t, q, p: place(q, -ARM),
        np.concatenate([x, ATTITUDE]),
        np.concatenate([np.cross(SPIN, ARM), SPIN]),
        group=se3,
        model="held body",
    )


def top():
    J = np.diag(TENSOR) + MASS * (ARM @ ARM * np.eye(3) - np.outer(ARM, ARM))
    return heavy_top(J, MASS, ARM, GRAVITY, SPIN, orientation=ATTITUDE)


# --- against closed forms and other descriptions ----------------------------------------------------------------------


def order(name, problem, end, exact, distance=None, floor=1e-11):
    return measured_order(
        lambda n: integrate(problem, name, (0, end), end / n, progress=False).y[-1],
        (METHODS | HIGH)[name],
        exact,
        distance,
        floor,
    )


@pytest.mark.parametrize("name", [*METHODS, *HIGH])
def test_the_order_is_that_of_the_pendulum_of_jacobi(name):
    theta, p = pendulum(angle=1.0).exact(1.0)
    exact = np.array([np.sin(theta), -np.cos(theta), p * np.cos(theta), p * np.sin(theta)])
    found = order(name, swing(), 1.0, exact, lambda y, z: np.abs(y - z).max(), 1e-13)
    assert abs(found.order - find(name).order) < 0.2, found


@EVERY
def test_a_body_with_a_point_held_is_the_heavy_top(name):
    truth = integrate(top(), "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]
    found = order(name, held_body(), 1.0, truth[:4], lambda y, q: np.abs(y[3:7] * np.sign(y[3:7] @ q) - q).max())
    assert abs(found.order - find(name).order) < 0.25, found


def test_the_double_pendulum_is_that_in_angles():
    def angles(t, q, v, p):
        (s0, c0), (s1, c1) = sincos(q[0]), sincos(q[1])
        x, y = c0 * v[0], s0 * v[0]
        return 0.5 * (x * x + y * y) + 0.5 * ((x + c1 * v[1]) ** 2 + (y + s1 * v[1]) ** 2) + GRAVITY * (2 * c0 + c1)

    def rods(t, q, p):
        x, y = q[2] - q[0], q[3] - q[1]
        return [0.5 * (q[0] * q[0] + q[1] * q[1] - 1), 0.5 * (x * x + y * y - 1)]

    start, points = (
        np.array([1.0, -0.5]),
        lambda a: np.array([np.sin(a[0]), -np.cos(a[0]), *(np.sin(a).sum(), -np.cos(a).sum())]),
    )
    problem = holonomic_problem(
        lambda t, q, v, p: 0.5 * dot(v, v) - GRAVITY * (q[1] + q[3]), rods, points(start), model="two rods"
    )  # fmt: skip
    truth = integrate(lagrangian_problem(angles, start), "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]
    found = order("RATTLE", problem, 1.0, points(truth[:2]), lambda y, q: np.abs(y[:4] - q).max())
    assert abs(found.order - 2) < 0.1, found


def test_the_parts_of_a_state_have_the_names_of_other_lagrangian_problems():
    problem = holonomic_problem(point, on_sphere, [0.6, 0.0, -0.8], [0.0, 2.0, 0.0])
    assert [part.name for part in problem.variables] == ["q", "p"]
    assert [part.name for part in in_velocities(problem).variables] == ["q", "v"]


def test_a_support_that_moves_moves_the_pendulum():
    """The support goes to and fro, x = 0.3 sin 3t; in the angle θ'' = −g sin θ + 2.7 sin 3t cos θ."""

    def rod(t, q, p):
        s = sincos(3.0 * t)[0]
        x = q[0] - 0.3 * s
        return [0.5 * (x * x + q[1] * q[1] - 1.0)]

    problem = holonomic_problem(point, rod, [0.0, -1.0], [0.9, 0.0], model="moved")
    angle = lagrangian_problem(
        lambda t, q, v, p: 0.5 * v[0] * v[0] + GRAVITY * sincos(q[0])[1] + 2.7 * sincos(3.0 * t)[0] * sincos(q[0])[0],
        [0.0],
    )
    theta = integrate(angle, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1, 0]
    truth = np.array([0.3 * np.sin(3.0) + np.sin(theta), -np.cos(theta)])
    found = order("RATTLE", problem, 1.0, truth, lambda y, q: np.abs(y[:2] - q).max())
    assert abs(found.order - 2) < 0.1, found
    solution = integrate(problem, "RATTLE", (0, 1), 0.01)
    assert solution["gap"].max() < 1e-13
    assert solution["closing_velocity"].max() < 1e-12


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-6])
def test_starts_off_their_constraints_are_refused_in_any_unit(size):
    def on_circle(x, v):
        return holonomic_problem(
            lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2),
            lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - size**2],
            [x, 0.0],
            v,
        )

    on_circle(size, [0.0, size])
    for x, v, name in ((0.8 * size, [0.0, 0.0], "q"), (size, [0.3 * size, 0.0], "v")):
        with pytest.raises(ValueError, match=f"{name}: constraint 0 is not satisfied at t = 0"):
            on_circle(x, v)


def test_a_problem_may_begin_at_any_time():
    """A run from the middle of another one goes on as that does; at t = 0 its start is on no constraint."""

    def rod(t, q, p):
        x = q[0] - 0.1 * sincos(3.0 * t)[0]
        return [0.5 * (x * x + q[1] * q[1] - 1.0)]

    whole = integrate(holonomic_problem(point, rod, [0.0, -1.0], [0.3, 0.0]), "RATTLE", (0, 1), 0.01)
    q, v = np.split(whole.y[50], 2)
    later = holonomic_problem(point, rod, q, v, t=0.5)
    assert np.abs(integrate(later, "RATTLE", (0.5, 1), 0.01).y[-1] - whole.y[-1]).max() < 1e-14
    with pytest.raises(ValueError, match=r"q: constraint 0 is not satisfied at t = 0, c = "):
        holonomic_problem(point, rod, q, v)


@pytest.mark.slow
def test_welded_bodies_move_as_one():
    """Two bodies welded (place and attitude: six equations), thrown: their mass centre moves uniformly, the whole turns
    freely.
    """
    apart = np.array([0.3, 0.4, -0.2])

    def weld(t, q, p):
        a, b = q[:7], q[7:]
        gap = so3.act_inverse(tuple(a[3:]), tuple(x - y for x, y in zip(b[:3], a[:3], strict=True)))
        turned = so3.compose(so3.inverse(tuple(a[3:])), tuple(b[3:]))
        return [*(x - y for x, y in zip(gap, apart, strict=True)), *turned[1:]]

    q0 = np.array([0.0, 0, 0, *ATTITUDE])
    twin = np.concatenate([place(q0, apart), ATTITUDE])
    turn = 0.3 * SPIN
    v0 = np.concatenate([np.cross(turn, -apart / 2), turn, np.cross(turn, apart / 2), turn])
    problem = holonomic_problem(
        lambda t, q, v, p: body(v[:6]) + body(v[6:]), weld, np.concatenate([q0, twin]), v0,
        group=product(se3, se3), model="welded"
    )  # fmt: skip
    solution = integrate(problem, "RATTLE", (0, 2), 0.01)
    assert solution["gap"].max() < 1e-13
    J = 2 * np.diag(TENSOR) + 2 * MASS * (apart @ apart / 4 * np.eye(3) - np.outer(apart, apart) / 4)
    free = heavy_top(J, 1.0, ARM, 0.0, turn, orientation=ATTITUDE)
    truth = integrate(free, "SCIPY_DOP853", (0, 2), rtol=1e-12, atol=1e-13).y[-1, :4]
    assert np.abs(solution.y[-1, 3:7] - truth).max() < 1e-3
    centre = solution.y[:, :3] + solution.y[:, 7:10]
    assert np.abs(centre - centre[0]).max() < 1e-3  # (of SE(3)'s discrete mass centres: order two)
    assert solution.error("energy") < 1e-4


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_constraints_hold_at_rounding_and_energy_and_momentum_stay():
    solution = integrate(spherical(), "RATTLE", (0, 200), 0.01, save_every=10)
    assert solution.success, solution.message
    assert solution["gap"].max() < 1e-13
    assert solution["closing_velocity"].max() < 1e-13
    vertical = solution.y[:, 0] * solution.y[:, 4] - solution.y[:, 1] * solution.y[:, 3]
    assert np.abs(vertical - vertical[0]).max() < 1e-13
    drift = energy_drift(solution.t, solution["energy"])
    assert abs(drift.slope) < 3 * drift.sigma + 1e-12
    assert drift.band < 0.01


@pytest.mark.parametrize("map_name", ["exp", pytest.param("cayley", marks=pytest.mark.slow)])
def test_joined_bodies_keep_their_momenta(map_name):
    """Two bodies with a common point, weightless: total linear and angular momentum in space."""
    start = np.concatenate(
        [-np.array(so3.act(tuple(ATTITUDE), tuple(ARM))), ATTITUDE, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
    )
    other = np.array([0.0, 0.1, -0.3])
    start[7:10] = -other
    w = np.array([0.3, 1.0, -0.5])
    problem = holonomic_problem(
        lambda t, q, v, p: body(v[:6]) + body(v[6:]),
        lambda t, q, p: [x - y for x, y in zip(place(q[:7], ARM), place(q[7:], other), strict=True)],
        start,
        np.concatenate([-np.cross(SPIN, ARM), SPIN, -np.cross(w, other), w]),
        group=product(se3, se3),
        model="joined",
    )
    solution = integrate(problem, rattle(map=map_name), (0, 10), 0.02)
    assert solution.success, solution.message
    assert solution["gap"].max() < 1e-13
    assert solution["closing_velocity"].max() < 1e-12

    def momenta(y):
        total = np.zeros(6)
        for k in range(2):
            q, p = y[7 * k : 7 * k + 7], y[14 + 6 * k : 20 + 6 * k]
            f, n = (np.array(so3.act(tuple(q[3:]), tuple(x))) for x in (p[:3], p[3:]))
            total += np.concatenate([f, n + np.cross(q[:3], f)])
        return total

    found = np.array([momenta(y) for y in solution.y])
    assert np.abs(found[0]).max() > 0.1
    assert np.abs(found - found[0]).max() < 3e-12
    assert solution.error("energy") < 0.01


def test_a_step_is_symplectic_on_the_constraint():
    """In the coordinates (θ, φ, p_θ, p_φ) of the sphere."""
    step = step_map(spherical(), find("RATTLE"))

    def state(x):
        (s, c), (sf, cf) = ((np.sin(a), np.cos(a)) for a in x[:2])
        a, b = np.array([c * cf, c * sf, s]), np.array([-sf, cf, 0.0])
        return np.concatenate([[s * cf, s * sf, -c], x[2] * a + x[3] / s * b])

    def coordinates(y):
        theta, phi = np.arccos(-y[2]), np.arctan2(y[1], y[0])
        along = np.array([np.cos(theta) * np.cos(phi), np.cos(theta) * np.sin(phi), np.sin(theta)])
        return np.array([theta, phi, y[3:] @ along, y[0] * y[4] - y[1] * y[3]])

    J = derivative(lambda x: coordinates(step(state(x), 0.05)), [0.9, 0.2, 0.4, 1.1], 4, delta=2.0**-6)
    assert symplectic_defect(J, canonical_form(2)) < 1e-11


@pytest.mark.parametrize("problem", [spherical, held_body])
def test_a_step_forward_and_a_step_back_return(problem):
    assert symmetry_defect(step_map(problem(), find("RATTLE")), problem().y0, 0.02) < 3e-14 * np.abs(problem().y0).max()


def test_reactions_are_those_in_the_middle_of_the_step():
    """Tension of the pendulum: m v²/l + m g cos θ; c has the gradient −(the direction to the support) on the circle."""
    errors = []
    for h in (0.02, 0.01):
        theta, p = pendulum(angle=1.0).exact(0.5)
        y = np.array([np.sin(theta), -np.cos(theta), p * np.cos(theta), p * np.sin(theta)])
        middle, rate = pendulum(angle=1.0).exact(0.5 + h / 2)
        tension = rate**2 + GRAVITY * np.cos(middle)
        errors.append(abs(multipliers(swing(), find("RATTLE"), y, h)[0] + tension))
    assert errors[1] < 1e-2
    assert 3.5 < errors[0] / errors[1] < 4.5


# --- lanes, and what is refused ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lanes_are_the_same_as_one_by_one():
    angles = np.linspace(0.5, 1.5, 8)
    starts = np.array([[np.sin(a), -np.cos(a), 0.0, 0.0] for a in angles])
    together = integrate(swing(), "RATTLE", (0, 1), 0.05, y0=starts).y[:, -1]
    assert np.array_equal(together, [integrate(swing(), "RATTLE", (0, 1), 0.05, y0=y).y[-1] for y in starts])


@pytest.mark.parametrize(
    ("q", "v", "constraints", "words"),
    [
        ([1.0, 0.1], None, on_sphere, "q: constraint 0"),
        ([1.0, 0.0], [0.5, 0.0], on_sphere, "v: constraint 0"),
        ([1.0, 0.0], None, lambda t, q, p: [*on_sphere(t, q, p), 2.0 * on_sphere(t, q, p)[0]], "dependent"),
        ([1.0, 0.0], None, lambda t, q, p: [], "returned none"),
    ],
)
def test_starts_and_constraints_that_do_not_fit_are_named(q, v, constraints, words):
    with pytest.raises(ValueError, match=words):
        holonomic_problem(point, constraints, q, v)


def test_methods_that_would_ignore_constraints_are_refused():
    free = lagrangian_problem(point, [1.0, 0.0])
    cases = (
        (swing(), "DEL_MIDPOINT", "RATTLE"),
        (swing(), "VARIATIONAL_GAUSS2", "canonical"),
        (swing(), "ALPHA_STABILISED", "ALPHA_STABILISED.*'circle' does not carry.*in_velocities"),
        (free, "RATTLE", "holonomic"),
    )
    for problem, name, words in cases:
        with pytest.raises(ValueError, match=words):
            integrate(problem, name, (0, 1), 0.1)


def test_the_field_is_the_motion_with_multipliers():
    """Index 1, by any method: the gap grows only as the error of the method."""
    theta, _ = pendulum(angle=1.0).exact(2.0)
    found = integrate(swing(), "SCIPY_DOP853", (0, 2), rtol=1e-12, atol=1e-13)
    assert np.abs(found.y[-1, :2] - [np.sin(theta), -np.cos(theta)]).max() < 1e-10


@pytest.mark.parametrize("away", [0.0, 1e3, 5e5])
@pytest.mark.parametrize("method", ["RATTLE", "RATTLE_KAHANLI6", "GAUSS8"])
def test_a_pendulum_far_from_the_origin(method, away):
    """Its pivot where maps have it: the start is on the circle as far as numbers say, and steps end at rounding."""
    far = holonomic_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - 9.81 * q[1],
        lambda t, q, p: [(q[0] - away) ** 2 + q[1] ** 2 - 1.0],
        [away + 0.8, 0.6],
    )
    assert far.guards[0].greatest < 0.2
    run = integrate(far, method, (0.0, 5.0), 0.01)
    assert run.success
    angle = Problem(rn(2), [np.arctan2(0.8, -0.6), 0.0], lambda t, y: [y[1], -9.81 * np.sin(y[0])])
    end = integrate(angle, "GAUSS8", (0.0, 5.0), 0.01).y[-1, 0]
    assert run.y[-1, :2] - [away, 0.0] == pytest.approx([np.sin(end), -np.cos(end)], abs=6e-3)


def test_satellites_on_a_tether_in_metres():
    gm, r, length, mass = 3.986e14, 7e6, 2000.0, 100.0

    def lagrangian(t, q, v, p):
        pull = 1.0 / np.sqrt(q[0] ** 2 + q[1] ** 2) + 1.0 / np.sqrt(q[2] ** 2 + q[3] ** 2)
        return 0.5 * mass * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2 + v[3] ** 2) + gm * mass * pull

    along, rate = np.array([np.cos(0.7), np.sin(0.7)]), np.sqrt(gm / r**3)
    across = np.array([-along[1], along[0]])
    q, v = np.concatenate([r * along, (r + length) * along]), np.concatenate([r * across, (r + length) * across]) * rate
    tether = holonomic_problem(lagrangian, lambda t, q, p: [(q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2 - length**2], q, v)
    run = integrate(tether, "RATTLE", (0.0, 3000.0), 5.0)
    assert run.success
    assert run.maximum("gap") < 1e-10 * length * r
    with pytest.raises(ValueError, match="q: constraint 0 is not satisfied at t = 0, c = 4e\\+03; expected 0 within"):
        holonomic_problem(lagrangian, lambda t, q, p: [(q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2 - 1999.0**2], q, v)


def test_one_constraint_that_is_no_list_is_named():
    with pytest.raises(TypeError, match=r"constraints: returned .*, expected a list of numbers that are to be 0"):
        holonomic_problem(lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2), lambda t, q, p: q[0], [0.0, 0.0])


@pytest.mark.parametrize("angle", [0.3, 1.2])
def test_the_energy_of_a_chain_is_guarded(angle):
    """Constraints that do not read the time: energy is kept, however stiff they are."""
    links, g = 5, 9.81
    length = mass = 1.0 / links
    ways = length * np.cumsum([np.sin(angle), -np.cos(angle)] * np.ones((links, 2)), axis=0)

    def lagrangian(t, q, v, p):
        return sum(0.5 * mass * (v[2 * k] ** 2 + v[2 * k + 1] ** 2) - mass * g * q[2 * k + 1] for k in range(links))

    def rods(t, q, p):
        before = [0.0, 0.0, *q[:-2]]
        return [
            (q[2 * k] - before[2 * k]) ** 2 + (q[2 * k + 1] - before[2 * k + 1]) ** 2 - length**2 for k in range(links)
        ]

    chain = holonomic_problem(lagrangian, rods, ways.ravel(), model="chain")
    assert chain.is_autonomous
    assert "energy" in [guard.name for guard in chain.guards]
    assert in_velocities(chain).is_autonomous
    assert integrate(chain, "RATTLE", (3.0, 3.5), 0.005).success
