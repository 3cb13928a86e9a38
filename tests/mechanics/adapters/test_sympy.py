"""Equations of SymPy's mechanics: two derivations of one motion agree, with SciPy as well; what is watched stays; what
is missing is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from sympy.physics.mechanics import (
    KanesMethod,
    LagrangesMethod,
    Lagrangian,
    Particle,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
    kinetic_energy,
)

import mechanics
from integrators import integrate
from integrators.adapters.scipy import odeint
from integrators.adapters.sympy import function_of
from mechanics.systems.rolling.rolling_disk import rolling_disk

t = dynamicsymbols._t
q1, q2, q3, u1, u2, u3 = dynamicsymbols("q1:4 u1:4")
m, r, g, k = sympy.symbols("m r g k")


def chain(speeds: bool) -> tuple[Any, Any, list[Any], list[Any]]:
    """Two particles on rods, the second damped: frame, particles, loads, points."""
    N = ReferenceFrame("N")
    A, B = N.orientnew("A", "Axis", [q1, N.z]), N.orientnew("B", "Axis", [q2, N.z])
    if speeds:
        A.set_ang_vel(N, u1 * N.z)
        B.set_ang_vel(N, u2 * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", r * A.x)
    Q = P.locatenew("Q", r * B.x)
    P.v2pt_theory(O, N, A)
    Q.v2pt_theory(P, N, B)
    bodies = [Particle("a", P, m), Particle("b", Q, m)]
    return N, bodies, [(Q, -k * Q.vel(N))], [P, Q]


VALUES = {m: 1.0, r: 0.7, g: 9.81, k: 0.2}


def by_lagrange() -> Any:
    N, bodies, loads, (P, Q) = chain(speeds=False)
    heights = r * sympy.cos(q1) + (r * sympy.cos(q1) + Q.pos_from(P).dot(N.x))
    return LagrangesMethod(Lagrangian(N, *bodies) + m * g * heights, [q1, q2], forcelist=loads, frame=N)


def by_kane() -> Any:
    N, bodies, loads, points = chain(speeds=True)
    kane = KanesMethod(N, q_ind=[q1, q2], u_ind=[u1, u2], kd_eqs=[q1.diff() - u1, q2.diff() - u2])
    kane.kanes_equations(bodies, [*loads, *((point, m * g * N.x) for point in points)])
    return kane


def test_lagrange_kane_and_scipy_agree() -> None:
    kane = by_kane()
    lagranges = mechanics.from_lagranges_method(by_lagrange(), VALUES, {q1: 0.5, q2: -0.3, q1.diff(): 1.0})
    kanes = mechanics.from_kanes_method(kane, VALUES, {q1: 0.5, q2: -0.3, u1: 1.0})
    a, b = (integrate(problem, "GAUSS8", (0.0, 3.0), step=0.05) for problem in (lagranges, kanes))
    assert np.abs(a.y[:, :2] - b.y[:, :2]).max() < 1e-14
    full = kane.rhs().subs(VALUES)
    rate = sympy.lambdify([[q1, q2, u1, u2]], list(full), cse=True)
    true = solve_ivp(lambda t, y: rate(y), (0.0, 3.0), [0.5, -0.3, 1.0, 0.0], "DOP853", rtol=1e-13, atol=1e-13)
    assert np.abs(b.y[-1] - true.y[:, -1]).max() < 1e-11
    found = odeint(lambda y, t: np.array(rate(y)), [0.5, -0.3, 1.0, 0.0], b.t, rtol=1e-12, atol=1e-12)
    assert np.abs(b.y - found).max() < 1e-10


@pytest.mark.slow
def test_in_lanes() -> None:
    problem = mechanics.from_kanes_method(by_kane(), VALUES, {q1: 0.5, q2: -0.3, u1: 1.0})
    lanes = integrate(problem, "RKMK4", (0.0, 1.0), step=0.01, y0=np.tile(problem.y0, (9, 1)))
    one = integrate(problem, "RKMK4", (0.0, 1.0), step=0.01)
    assert np.allclose(lanes.y[3], one.y, rtol=0.0, atol=1e-14)


@cache
def disk() -> tuple[Any, Any]:
    """The rolling disk of SymPy's documentation, with its energy."""
    N = ReferenceFrame("N")
    Y = N.orientnew("Y", "Axis", [q1, N.z])
    L = Y.orientnew("L", "Axis", [q2, Y.x])
    R = L.orientnew("R", "Axis", [q3, L.y])
    turning = R.ang_vel_in(N)
    R.set_ang_vel(N, u1 * L.x + u2 * L.y + u3 * L.z)
    C = Point("C")
    C.set_vel(N, 0)
    centre = C.locatenew("D", r * L.z)
    centre.v2pt_theory(C, N, R)
    tensor = inertia(L, m / 4 * r**2, m / 2 * r**2, m / 4 * r**2)
    body = RigidBody("disk", centre, R, m, (tensor, centre))
    kane = KanesMethod(
        N, q_ind=[q1, q2, q3], u_ind=[u1, u2, u3], kd_eqs=[(R.ang_vel_in(N) - turning).dot(axis) for axis in L]
    )
    kane.kanes_equations([body], [(centre, -m * g * Y.z)])
    return kane, kinetic_energy(N, body) + m * g * r * sympy.cos(q2)


def test_rolling_disk_keeps_its_energy_and_moves_as_ours() -> None:
    kane, energy = disk()
    start = {q1: 0.1, q2: 0.25, q3: 0.0, u1: 0.3, u2: 8.0, u3: 0.4}
    problem = mechanics.from_kanes_method(kane, {m: 1.3, r: 0.3, g: 9.81}, start, invariants={"energy": energy})
    run = integrate(problem, "GAUSS8", (0.0, 5.0), step=0.02)
    assert run.success
    assert run.error("energy") < 2e-15
    # SymPy's disk leans to the other side: its first axis points backwards
    ours = integrate(rolling_disk(1.3, 0.3, tilt=0.25, omega=(-0.3, 0.4, 8.0)), "GAUSS8", (0.0, 5.0), step=0.02)
    theta, w1, w2, w3 = (float(ours.y[-1, i]) for i in (3, 5, 6, 7))
    assert [np.pi / 2 - theta, -w1, w3, w2] == pytest.approx(list(run.y[-1, [1, 3, 4, 5]]), abs=1e-11)


def loop() -> tuple[Any, Any, dict[Any, float], dict[Any, float]]:
    """A four-bar of particles as a chain whose end is held."""
    a, b, c, d = sympy.symbols("a b c d")
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q1, N.z])
    B = A.orientnew("B", "Axis", [q2, A.z])
    C = B.orientnew("C", "Axis", [q3, B.z])
    for frame, parent, u in ((A, N, u1), (B, A, u2), (C, B, u3)):
        frame.set_ang_vel(parent, u * N.z)
    P1 = Point("P1")
    P1.set_vel(N, 0)
    P2 = P1.locatenew("P2", a * A.x)
    P3 = P2.locatenew("P3", b * B.x)
    P4 = P3.locatenew("P4", c * C.x)
    for point, last, frame in ((P2, P1, A), (P3, P2, B), (P4, P3, C)):
        point.v2pt_theory(last, N, frame)
    gap, slip = P4.pos_from(P1) - d * N.x, P4.vel(N)
    bodies = [Particle("p", P2, m), Particle("q", P3, m)]
    kane = KanesMethod(
        N, q_ind=[q1], u_ind=[u1], kd_eqs=[u - q.diff() for u, q in ((u1, q1), (u2, q2), (u3, q3))],
        q_dependent=[q2, q3], configuration_constraints=[gap.dot(N.x), gap.dot(N.y)],
        u_dependent=[u2, u3], velocity_constraints=[slip.dot(N.x), slip.dot(N.y)],
    )  # fmt: skip
    kane.kanes_equations(bodies, [(P2, -m * g * N.y), (P3, -m * g * N.y)])
    heights = P2.pos_from(P1).dot(N.y) + P3.pos_from(P1).dot(N.y)
    values = {a: 1.0, b: 2.0, c: 1.5, d: 2.2, m: 1.0, g: 9.81}
    closed = {q1: 1.0, q2: -0.6742791521731877, q3: -2.0539283800437403}
    return kane, kinetic_energy(N, *bodies) + m * g * heights, values, closed


def test_four_bar_stays_closed_and_dependent_speeds_are_found() -> None:
    kane, energy, values, closed = loop()
    solved = closed | dict(zip((q2, q3), _closed(kane, values, closed), strict=True))
    problem = mechanics.from_kanes_method(kane, values, solved | {u1: 0.5}, invariants={"energy": energy})
    assert np.abs(problem.invariant_values(0.0, problem.y0)[1:]).max() < 1e-14
    run = integrate(problem, "GAUSS8", (0.0, 5.0), step=0.01)
    assert run.error("energy") < 1e-14
    assert max(np.abs(run[name]).max() for name in ("gap_0", "gap_1", "slip_0", "slip_1")) < 1e-13


def test_a_four_bar_that_opens_is_no_success() -> None:
    kane, _, values, near = loop()
    start = near | dict(zip((q2, q3), _closed(kane, values, near), strict=True)) | {u1: 5.0}
    closed = mechanics.from_kanes_method(kane, values, start)
    assert [guard.name for guard in closed.guards] == ["gap_0", "gap_1", "slip_0", "slip_1"]
    run = integrate(closed, (0.0, 100.0), rtol=1e-4, atol=1e-4)
    assert run.finished
    assert max(np.abs(run[name]).max() for name in ("gap_0", "gap_1")) > 0.1
    assert {doubt.name for doubt in run.doubts} & {"gap_0", "gap_1"}
    assert not run.success


def _closed(kane: Any, values: dict[Any, float], near: dict[Any, float]) -> Any:
    found = sympy.nsolve(
        [x.subs(values).subs(q1, near[q1]) for x in kane._f_h], [q2, q3], [near[q2], near[q3]], prec=30
    )
    return [float(x) for x in found]


def test_holonomic_constraints_by_rattle() -> None:
    x, y = dynamicsymbols("x y")
    L = m * (x.diff() ** 2 + y.diff() ** 2) / 2 - m * g * y
    lagrange = LagrangesMethod(L, [x, y], hol_coneqs=[x**2 + y**2 - r**2])
    values = {m: 2.0, g: 9.81, r: 0.5}
    problem = mechanics.from_lagranges_method(lagrange, values, {x: 0.3, y: 0.4, x.diff(): 0.4})
    assert problem.y0[2:] == pytest.approx([0.8, -0.6])  # ẏ was found
    run = integrate(problem, "RATTLE", (0.0, 2.0), step=1e-3)
    assert run["gap"].max() < 1e-14
    assert run.error("energy") < 1e-4
    same = mechanics.from_lagrangian(
        L, [x, y], values, {x: 0.3, y: 0.4, x.diff(): 0.4}, constraints=[x**2 + y**2 - r**2]
    )
    assert np.array_equal(integrate(same, "RATTLE", (0.0, 2.0), step=1e-3).y, run.y)


def skate(extra: Any = 0) -> Any:
    x, y, a = dynamicsymbols("x y a")
    L = m * (x.diff() ** 2 + y.diff() ** 2) / 2 + k * a.diff() ** 2 / 2 + m * g * x + extra * x.diff()
    edge = x.diff() * sympy.sin(a) - y.diff() * sympy.cos(a)
    lagrange = LagrangesMethod(L, [x, y, a], nonhol_coneqs=[edge])
    start = {x: 0.0, y: 0.0, a: 0.2, a.diff(): 1.0}
    return mechanics.from_lagranges_method(lagrange, {m: 1.0, g: 0.6, k: 0.3}, start)


def test_rounding_of_large_numbers_opens_no_constraint() -> None:
    """A hundred metres in micrometres: rounding of 1e16."""
    x, y = dynamicsymbols("x y")
    method = LagrangesMethod(m * (x.diff() ** 2 + y.diff() ** 2) / 2, [x, y], hol_coneqs=[x**2 + y**2 - r**2])
    start = {x: 1e8 * np.cos(0.3), y: 1e8 * np.sin(0.3)}
    assert mechanics.from_lagranges_method(method, {m: 2.0, r: 1e8}, start).y0[0] == start[x]
    with pytest.raises(ValueError, match="configuration constraint 0 is violated"):
        mechanics.from_lagranges_method(method, {m: 2.0, r: 1e8}, start | {x: start[x] + 1.0})


def test_nonholonomic_constraints_with_multipliers() -> None:
    run = integrate(skate(), "GAUSS8", (0.0, 5.0), step=0.02)
    assert run.error("energy") < 1e-14
    # ẍ = g cos² a − …: along the edge s̈ = g cos(0.2 + t)
    along = 0.6 * (np.sin(0.2 + 5.0) - np.sin(0.2))
    assert run.y[-1, 3] == pytest.approx(along * np.cos(5.2), abs=1e-12)


@pytest.mark.slow
def test_nonholonomic_methods_take_the_problem() -> None:
    runs = [integrate(skate(), method, (0.0, 5.0), step=0.01) for method in ("DLA4", "GAUSS8")]
    assert np.abs(runs[0].y[-1, :3] - runs[1].y[-1, :3]).max() < 1e-7


def test_what_is_not_quadratic_has_its_equations_solved_for_the_multipliers() -> None:
    run = integrate(skate(sympy.sin(t)), "GAUSS8", (0.0, 2.0), step=0.02)
    assert np.abs(run["slip_0"]).max() < 1e-14
    # the extra term is a force −cos t along x: s̈ = (g − cos t) cos(0.2 + t)
    true = solve_ivp(
        lambda t, s: [(0.6 - np.cos(t)) * np.cos(0.2 + t)], (0.0, 2.0), [0.0], "DOP853", rtol=1e-13, atol=1e-14
    )
    assert run.y[-1, 3] == pytest.approx(true.y[0, -1] * np.cos(2.2), abs=1e-12)


@pytest.mark.parametrize("pushed", [True, False])
def test_a_potential_of_the_time_is_followed_beside_an_edge(pushed: bool) -> None:
    """ẍ = −cos 2t along x, from the potential or an input in it: s̈ = −cos 2t cos(a), as the force is along x alone."""
    x, y, a, pull = dynamicsymbols("x y a pull")
    L = (x.diff() ** 2 + y.diff() ** 2 + a.diff() ** 2) / 2 - (pull if pushed else sympy.cos(2 * t)) * x
    edge = x.diff() * sympy.sin(a) - y.diff() * sympy.cos(a)
    problem = mechanics.from_lagranges_method(
        LagrangesMethod(L, [x, y, a], nonhol_coneqs=[edge]), {}, {x: 0.0, y: 0.0, a: 0.1, a.diff(): 0.5},
        inputs={pull: lambda t: np.cos(2.0 * t)} if pushed else None,
    )  # fmt: skip
    end = integrate(problem, "GAUSS8", (0.0, 2.0), step=0.02).y[-1, 3]
    # ∫₀² −cos 2t cos(0.1 + t/2) dt
    along = -sum((np.sin(w * 2.0 + p) - np.sin(p)) / (2.0 * w) for w, p in ((2.5, 0.1), (1.5, -0.1)))
    assert end == pytest.approx(along * np.cos(1.1), abs=1e-12)


def test_inputs_as_expressions_and_as_functions() -> None:
    torque, base = dynamicsymbols("torque base")
    L = m * r**2 * q1.diff() ** 2 / 2 + m * g * r * sympy.cos(q1)
    values, start = {m: 1.0, r: 0.5, g: 9.81}, {q1: 0.3}
    runs = [
        integrate(
            mechanics.from_lagrangian(L, [q1], values, start, forces=[torque], inputs={torque: given}),
            "DEL_GAUSS2", (0.0, 2.0), step=0.05,
        ).y
        for given in (sympy.sin(3 * t) / 10, lambda t: 0.1 * np.sin(3.0 * t))
    ]  # fmt: skip
    assert np.abs(runs[0] - runs[1]).max() < 1e-15
    moved = mechanics.from_lagrangian(
        L + m * r * base.diff() * q1.diff() * sympy.cos(q1), [q1], values, start, inputs={base: sympy.sin(3 * t) / 10}
    )
    end = integrate(moved, "GAUSS8", (0.0, 2.0), step=0.05).y[-1, 0]
    true = solve_ivp(
        lambda t, y: [y[1], -9.81 / 0.5 * np.sin(y[0]) + 0.9 / 0.5 * np.sin(3 * t) * np.cos(y[0])],
        (0.0, 2.0), [0.3, 0.0], "DOP853", rtol=1e-13, atol=1e-13,
    )  # fmt: skip
    assert end == pytest.approx(true.y[0, -1], abs=1e-11)


@pytest.mark.parametrize("given", [{q2: -4 * q1}, {q2: q3, q3: q1.diff()}])
def test_an_input_of_coordinates_is_no_part_of_a_lagrangian(given: dict[Any, Any]) -> None:
    """q̇²/2 + w q with w = −4 q ran as q̈ = −8 q; as a force it is q̈ = −4 q."""
    T = q1.diff() ** 2 / 2
    with pytest.raises(ValueError, match=r"inputs\[q2\(t\)\]: .* depends on .*stands in the Lagrangian"):
        mechanics.from_lagrangian(T + q2 * q1, [q1], start={q1: 1.0}, inputs=given)
    with pytest.raises(ValueError, match=r"inputs\[q2\(t\)\]: .* depends on .*stands in the Lagrangian"):
        mechanics.from_lagrangian(T, [q1], start={q1: 1.0}, constraints=[q1 - q2 - 1], inputs=given)
    problem = mechanics.from_lagrangian(T, [q1], start={q1: 1.0}, forces=[q2], inputs={q2: -4 * q1})
    assert integrate(problem, (0.0, 1.0)).y[-1, 0] == pytest.approx(np.cos(2.0), abs=1e-9)


def test_inputs_may_use_math() -> None:
    torque = dynamicsymbols("torque")
    given = {
        name: mechanics.from_lagrangian(
            q1.diff() ** 2 / 2 - q1**2 / 2, [q1], start={q1: 0.3}, forces=[torque], inputs={torque: f}
        )
        for name, f in {"math": lambda t: math.sin(3.0 * t), "SymPy": sympy.sin(3 * t)}.items()
    }
    ends = [integrate(problem, "GAUSS8", (0.0, 2.0), step=0.05).y[-1] for problem in given.values()]
    assert np.abs(ends[0] - ends[1]).max() < 1e-15
    f = dynamicsymbols("f")
    with pytest.raises(TypeError, match=r"inputs\[f\(t\)\]: .* cannot be traced .*give an expression of SymPy"):
        mechanics.from_lagrangian(
            q1.diff() ** 2, [q1], start={q1: 0.3}, forces=[f], inputs={f: CubicSpline([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])}
        )


def test_a_start_is_one_at_its_time() -> None:
    """A mass that grows: p = (1 + t) q̇, and q̇ is what was given, at t = 1."""
    growing = mechanics.from_lagrangian(
        (1 + t) * q1.diff() ** 2 / 2 - q1**2 / 2, [q1], start={q1: 0.5, q1.diff(): 1.0}, t=1.0
    )
    assert growing.y0.tolist() == [0.5, 2.0]
    end = integrate(growing, "GAUSS8", (1.0, 2.0), 0.01).y[-1, 0]
    true = solve_ivp(
        lambda t, y: [y[1], -(y[0] + y[1]) / (1 + t)], (1.0, 2.0), [0.5, 1.0], "DOP853", rtol=1e-13, atol=1e-14
    )
    assert end == pytest.approx(true.y[0, -1], abs=1e-10)


def test_moved_constraints_are_those_of_the_start() -> None:
    """A skate whose edge slips sideways at a given rate, from t = 0.6, where the rate is not that at t = 0."""
    edge = q1.diff() * sympy.sin(q3) - q2.diff() * sympy.cos(q3) - sympy.sin(2 * t)
    L = (q1.diff() ** 2 + q2.diff() ** 2 + q3.diff() ** 2) / 2 + q1
    skate = mechanics.from_lagranges_method(
        LagrangesMethod(L, [q1, q2, q3], nonhol_coneqs=[edge]), {}, {q1: 0.3, q2: -0.2, q3: 0.1, q3.diff(): 0.7}, t=0.6
    )

    def rates(t: float, y: Any) -> Any:
        s, c = np.sin(y[2]), np.cos(y[2])
        push = 2 * np.cos(2 * t) - s - (y[3] * c + y[4] * s) * y[5]
        return [*y[3:], 1 + push * s, -push * c, 0.0]

    assert skate.y0[3] * np.sin(0.1) - skate.y0[4] * np.cos(0.1) == pytest.approx(np.sin(1.2), abs=1e-15)
    true = solve_ivp(rates, (0.6, 2.0), skate.y0, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert np.abs(integrate(skate, "GAUSS8", (0.6, 2.0), 0.005).y[-1] - true).max() < 1e-10


@pytest.mark.parametrize(
    ("potential", "drag", "values", "force", "start"),
    [
        (k * q1**r / 2, 0, {k: 3.0, r: 2.0}, lambda q, v: -3.0 * q, {q1: -0.5, q1.diff(): 0.3}),
        (q1**100 / 100, 0, {}, lambda q, v: -(q**99), {q1: -0.9, q1.diff(): -0.3}),
        (q1**2 / 2, sympy.Abs(q1.diff()) ** r, {k: 0.4, r: 1.8},
         lambda q, v: -q - 0.4 * np.sign(v) * abs(v) ** 1.8, {}),
        (q1**2 / 2, sympy.Abs(q1.diff()) ** sympy.Rational(3, 2), {k: 0.4},
         lambda q, v: -q - 0.4 * np.sign(v) * abs(v) ** 1.5, {}),
    ],
    ids=["exponent of a parameter", "100th power", "drag from rest", "root of drag from rest"],
)  # fmt: skip
def test_powers_of_numbers_below_zero_and_at_rest(
    potential: Any, drag: Any, values: Any, force: Callable[[Any, Any], Any], start: Any
) -> None:
    q = q1
    problem = mechanics.from_lagrangian(
        q.diff() ** 2 / 2 - potential, [q], values, {q: 0.5, **start}, forces=[-k * drag * sympy.sign(q.diff())]
    )
    begin = [start.get(q, 0.5), start.get(q.diff(), 0.0)]
    true = solve_ivp(lambda t, y: [y[1], force(*y)], (0, 1), begin, "DOP853", rtol=1e-12, atol=1e-14, max_step=0.01)
    run = integrate(problem, "DEL_GAUSS2", (0, 1), 0.005)
    assert run.success
    assert run.y[-1, 0] == pytest.approx(true.y[0, -1], abs=1e-7)


def test_functions_of_sympy() -> None:
    v = q1.diff()
    expression = [
        sympy.Piecewise((q1**2, (q1 < 1) & (v > 0)), (sympy.sinh(q1), q1 < 2), (3, True)),
        sympy.sign(v) + sympy.Abs(q1) + sympy.Max(q1, v, k) + sympy.Min(k, 0.1 + 0.2) + sympy.asin(q1 / 7),
        sympy.Heaviside(q1) + sympy.Mod(q1, 2) + sympy.ceiling(q1) + sympy.sec(q1) + sympy.pi + sympy.cot(q1),
        [sympy.acosh(2 + q1), sympy.atanh(q1 / 5), sympy.Piecewise((q1, sympy.Not(q1 > 1) | (v < 0)), (v, True))],
        sympy.sech(q1) + sympy.csch(q1) + sympy.coth(q1) + sympy.acot(v) + sympy.frac(7 * q1) + sympy.sinc(q1),
        sympy.asec(2 + q1) + sympy.acsc(-2 - q1) + 1 / q1**2 - v / (k * q1) + (q1 + 3) ** v + 2**-q1,
        sympy.Piecewise((1, sympy.ITE(q1 > 1, v > 0, q1 > v)), (2, True))
        + q1 ** sympy.Rational(-3, 2)
        + sympy.Max(sympy.Integral(t * k, (t, 0, q1)), 0),
        sympy.diff(sympy.sin(q1) * t, t) + sympy.sqrt(q1) + q1 ** sympy.Rational(1, 3) + sympy.atan2(q1, v),
    ]
    function = function_of(expression, [q1], [v], [k])
    for q, rate in ((0.7, 1.2), (1.4, -0.3), (2.5, 0.1)):
        at = {v: rate, q1: q, k: -0.4, t: 0.3}
        found = function(0.3, [q], [rate], [-0.4])
        flat = [*found[:3], *found[3], *found[4:]]
        exact = [*expression[:3], *expression[3], *expression[4:]]
        assert flat == pytest.approx([float(sympy.sympify(x).xreplace({v: rate}).subs(at)) for x in exact], rel=1e-14)


def test_what_occurs_often_is_written_once() -> None:
    """An expression that would fill a disk, were it written out."""
    x, y = q1, 0.3
    for _ in range(60):
        x, y = x / (k + x) + x, y / (0.5 + y) + y
    assert function_of(x, [q1], [], [k])(0.0, [0.3], [], [0.5]) == pytest.approx(y, rel=1e-14)


@pytest.mark.parametrize("number", [sympy.Float("1e400"), sympy.Integer(10) ** 400, sympy.Rational(10**400, 3)])
def test_numbers_beyond_those_of_machines_are_named(number: Any) -> None:
    for expression in (q1 * number, q1 - number):
        with pytest.raises(ValueError, match=r"expression: -?\d\.\d+E\+(400|399), expected numbers below 1.8e308"):
            function_of(expression, [q1], [])
    assert function_of(q1 + 1 / number, [q1], [])(0.0, [0.5], [], []) == 0.5


def test_invariants_may_have_any_name() -> None:
    """One called like the constraints of speeds is watched, and asks nothing of the start."""
    O, N = Point("O"), ReferenceFrame("N")
    O.set_vel(N, u1 * N.x)
    kane = KanesMethod(N, [q1], [u1], kd_eqs=[q1.diff() - u1])
    kane.kanes_equations([Particle("a", O, m)], [(O, -k * q1 * N.x)])
    problem = mechanics.from_kanes_method(
        kane, {m: 1.0, k: 1.0}, {q1: 1.0}, invariants={"slip_of_mine": u1**2 / 2 + k * q1**2 / 2, "slip_of": u1 - 3}
    )
    assert problem.y0.tolist() == [1.0, 0.0]
    assert integrate(problem, "GAUSS8", (0.0, 1.0), step=0.02)["slip_of_mine"][-1] == pytest.approx(0.5, abs=1e-12)


def test_dependent_speeds_that_are_divided_by_zero_are_named() -> None:
    N, P = ReferenceFrame("N"), Point("P")
    P.set_vel(N, u1 * N.x + u2 * N.y)
    kane = KanesMethod(
        N, q_ind=[q1, q2], u_ind=[u1], u_dependent=[u2], kd_eqs=[q1.diff() - u1, q2.diff() - u2],
        velocity_constraints=[sympy.sin(q1) * u2 - u1],
    )  # fmt: skip
    kane.kanes_equations([Particle("p", P, m)], [(P, -k * q1 * N.x)])
    with pytest.raises(ValueError, match=r"kane: mass.*at the start.*constraint_solver='CRAMER'"):
        mechanics.from_kanes_method(kane, {m: 1.0, k: 1.0}, {q1: 0.0, q2: 0.0, u1: 0.0, u2: 0.0})


def bad(**changes: Any) -> Callable[[], Any]:
    given: dict[str, Any] = {"parameters": {m: 1.0, r: 0.3, g: 9.81}, "start": {q1: 0.1, q2: 0.2, q3: 0.0}}
    return lambda: mechanics.from_kanes_method(disk()[0], **(given | changes))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (bad(parameters={m: 1.0, r: 0.3}), "parameters: no value for g"),
        (bad(parameters={m: 1.0, r: 0.3, g: 9.81, k: 1.0}), "parameters: k are not in the equations"),
        (bad(parameters={m: 1.0, r: 0.3, g: float("nan")}), r"parameters\[g\]: nan"),
        (bad(start={q1: 0.1}), r"start: no value for q2\(t\), q3\(t\)"),
        (bad(start={q1: 0.1, q2: 0.2, q3: 0.0, k: 1.0}), "start: k are no coordinates"),
        (bad(inputs={dynamicsymbols("f"): 1.0}), "inputs: f.t. are not in the equations"),
        (bad(invariants={"x": dynamicsymbols("f")}), "inputs: f.t. are functions of the time"),
        (bad(invariants=[u1]), r"invariants: \[u1\(t\)\], expected a mapping of names to expressions"),
        (lambda: mechanics.from_lagranges_method(3), "lagrange: 3.*of a System its eom_method"),
        (lambda: mechanics.from_kanes_method("kane"), "kane: 'kane'"),
        (lambda: mechanics.from_lagrangian(q1.diff() ** 2, [sympy.Symbol("q")]), "coordinates: q, expected functions"),
        (
            lambda: mechanics.from_lagrangian(q1.diff() ** 2, [sympy.Function("x")(sympy.Symbol("T"))], start={q1: 1}),
            r"coordinates: x\(T\) is a function of T, expected of the time, t",
        ),
        (lambda: mechanics.from_lagrangian(q1.diff() ** 2, [q1, q1], start={q1: 1}), r"coordinates: q1\(t\) more than"),
        (lambda: mechanics.from_lagrangian(q1.diff() ** 2 - q2, [q1, q2], start={q1: 1, q2: 0}), "velocity 1 has no"),
        (bad(parameters={sympy.Symbol("m", positive=True): 1.0, r: 0.3, g: 9.81}), "m: a symbol of this name has one"),
        (bad(t="now"), "t: 'now'"),
        (lambda: mechanics.from_lagrangian(sympy.gamma(q1) * q1.diff() ** 2, [q1], start={q1: 1.0}), "functions gamma"),
        (
            lambda: mechanics.from_lagrangian(
                q1.diff() ** 2 + q2.diff() ** 2, [q1, q2], start={q1: 1.0, q2: 1.0}, constraints=[q1 + q2 - 1]
            ),
            "configuration constraint 0 is violated by 1",
        ),
        (
            lambda: mechanics.from_lagrangian(q1.diff() ** 2, [q1], start={q1: 1.0}, forces=[1, 2]),
            "forces: 2, expected 1",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(call: Callable[[], Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        call()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start": {q1: "far"}}, r"start\[q1\(t\)\]: 'far', expected a real number"),
        ({"start": {q1: 1j}}, r"start\[q1\(t\)\]: 1j, expected a real number"),
        ({"start": {q1: g}}, r"start\[q1\(t\)\]: g, expected a real number"),
        ({"start": {q1: np.inf}}, r"start\[q1\(t\)\]: inf, expected a finite number"),
        ({"forces": -q1.diff()}, "forces: .*, expected a list of one expression per coordinate"),
        ({"constraints": q1 - 0.3}, "constraints: .*, expected a list of expressions"),
        ({"forces": [-sympy.Symbol("t", real=True)]}, "t: a symbol with the name of the time that is not it"),
        (
            {"constraints": [q1 - q2], "inputs": {q2: np.sin}},
            r"inputs: the equations read rates of q2\(t\).*an expression",
        ),
        (
            {"forces": [q2.diff()], "inputs": {q2: np.sin}},
            r"inputs: the equations read rates of q2\(t\).*an expression",
        ),
        ({"forces": [q2], "inputs": {q2: None}}, r"inputs\[q2\(t\)\]: None, expected an expression of SymPy"),
        ({"forces": [q2], "inputs": {q2: [1, 2]}}, r"inputs\[q2\(t\)\]: \[1, 2\], expected an expression of SymPy"),
        ({"forces": [q2], "inputs": {q2: sympy.nan}}, r"inputs\[q2\(t\)\]: nan, expected finite values"),
        (
            {"constraints": [sympy.Eq(q1**2, 1)]},
            r"constraints: .*, expected an expression that is zero: a - b for a = b",
        ),
        ({"constraints": [q1 < 2]}, "constraints: .*, expected an expression that is zero"),
        ({"constraints": [q1.diff() - q1]}, r"constraints: .* reads rates of q1\(t\).*nonhol_coneqs"),
    ],
)
def test_what_is_wrong_with_a_lagrangian_is_named(given: dict[str, Any], said: str) -> None:
    with pytest.raises((ValueError, TypeError), match=said):
        mechanics.from_lagrangian(q1.diff() ** 2 / 2, [q1], **({"start": {q1: 0.3}} | given))


def test_names_are_names_of_speeds_too_and_numbers_may_be_expressions() -> None:
    kane = KanesMethod(ReferenceFrame("N"), q_ind=[q1], u_ind=[u1], kd_eqs=[q1.diff() - u1])
    P = Point("P")
    P.set_vel(kane._inertial, u1 * kane._inertial.x)
    kane.kanes_equations([Particle("p", P, m)], [(P, -k * q1 * kane._inertial.x)])
    problem = mechanics.from_kanes_method(kane, {m: np.array(2.0), k: sympy.sqrt(2)}, {"q1": 0.5, "u1": 0.25})
    assert problem.y0.tolist() == [0.5, 0.25]
    assert problem.velocity(0.0, problem.y0) == pytest.approx([0.25, -0.5 / np.sqrt(2.0)])
    run = integrate(problem, "RKMK4", (0.0, 0.1), 0.1)
    assert [v.labels for v in run.variables] == [("q1",), ("u1",)]
    assert run["u"].tolist() == run.y[:, 1:].tolist()
    with pytest.raises(ValueError, match=r"kane: mass") as refused:
        mechanics.from_kanes_method(kane, {m: 0.0, k: 1.0}, {"q1": 0.5, "u1": 0.25})
    assert "CRAMER" not in str(refused.value)


def test_components_are_called_as_the_symbols_are() -> None:
    theta, x = dynamicsymbols("theta x")
    L = theta.diff() ** 2 / 2 + x.diff() ** 2 / 2 - x**2 / 2
    start = {theta: 0.3, x: 0.1}
    problem = mechanics.from_lagrangian(L, [theta, x], {}, start)
    assert [(v.name, v.labels) for v in problem.variables] == [("q", ("theta", "x")), ("p", ("theta", "x"))]
    held = mechanics.from_lagrangian(L, [theta, x], {}, start, constraints=[x - theta / 3])
    assert held.variables == problem.variables


def test_equations_that_have_not_been_formed_are_asked_for() -> None:
    kane = KanesMethod(ReferenceFrame("N"), q_ind=[q1], u_ind=[u1], kd_eqs=[q1.diff() - u1])
    with pytest.raises(ValueError, match="kanes_equations"):
        mechanics.from_kanes_method(kane, {}, {q1: 0.0})


def test_parameters_may_be_numbered() -> None:
    """m[0], m[1], … of an `IndexedBase` are symbols like others, in sums that are not written out, too."""
    masses, springs, i = sympy.IndexedBase("m"), sympy.IndexedBase("k"), sympy.Symbol("i", integer=True)
    q = dynamicsymbols("q1:4")
    kinetic = sum(masses[j] * x.diff() ** 2 / 2 for j, x in enumerate(q))
    stretched = [q1, q2 - q1, q3 - q2]
    L = kinetic - sum(springs[j] * x**2 / 2 for j, x in enumerate(stretched)) - sympy.Sum(springs[i], (i, 0, 2)) * q3**2
    values = {masses[j]: 1.0 + j for j in range(3)} | {springs[j]: 10.0 + j for j in range(3)}
    start = {q1: 0.1, q2: 0.0, q3: 0.0}
    posed = mechanics.from_lagrangian(L, q, values, start)
    same = mechanics.from_lagrangian(L.doit().xreplace(values), q, None, start)
    y = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6])
    assert posed.velocity(0.0, y) == pytest.approx(same.velocity(0.0, y), rel=1e-14)
    with pytest.raises(ValueError, match=r"no value for k\[1\], k\[2\]"):
        mechanics.from_lagrangian(L, q, {x: v for x, v in values.items() if x not in (springs[1], springs[2])}, start)
    with pytest.raises(ValueError, match=r"Sum\(k\[i\].* expected limits that are numbers"):
        mechanics.from_lagrangian(kinetic - sympy.Sum(springs[i], (i, 0, k)) * q3**2, q, values, start)
    with pytest.raises(TypeError, match=r"parameters: 'm\[0\]', expected a symbol or its name; give m\[0\]"):
        mechanics.from_lagrangian(L, q, {"m[0]": 1.0}, start)
