"""Variational integrators of any Lagrangian on Rⁿ: derivatives, order, symplecticity, symmetry, momenta, known
numbers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import sympy

from integrators import integrate
from integrators.adapters.sympy import function_of
from integrators.analysis import measured_order, symmetry_defect
from integrators.analysis.canonical import canonical_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.lagrangian import Derivatives, derivatives, lagrangian_problem
from integrators.problem.parts import lagrangian as layout
from integrators.steppers.composition import composition
from integrators.steppers.variational import variational
from integrators.tableaus import COMPOSITIONS, GAUSS
from integrators.tableaus.galerkin import Galerkin, alpha_family, galerkin, symmetrised
from integrators.testing import end_state
from liegroup.compile import ld, st
from liegroup.compile.scalars import sincos, sqrt
from liegroup.formulas import so3 as rotation
from liegroup.group import rn, so3

H = 0.05
OVERINTEGRATED = variational(galerkin(2, GAUSS(4)))
ORDERS = {
    "DEL_MIDPOINT": (40, 80, 160),
    "DEL_TRAPEZOIDAL": (80, 160, 320),
    "DEL_GAUSS2": (20, 40, 80),
    "DEL_GAUSS3": (10, 20, 40),
    "DEL_GAUSS1": (40, 80, 160),
    "DEL_GAUSS4": (8, 12, 16),
    "DEL_LOBATTO2": (80, 160, 320),
    "DEL_LOBATTO5": (8, 12, 16),
    "DEL_MIDPOINT_KAHANLI6": (20, 40),
    "DEL_LOBATTO3": (20, 40, 80),
    "DEL_LOBATTO4": (10, 20, 40),
    "DEL_MIDPOINT_SUZUKI4": (20, 40, 80),
    "DEL_MIDPOINT_SOFSPA6": (10, 20, 40),
    "DEL_MIDPOINT_KAHANLI8": (8, 10, 12),
    "DEL_MIDPOINT_SOFSPA10": (4, 5, 6),
}
METHODS = [*map(find, ORDERS), OVERINTEGRATED, variational(alpha_family(0.3)), variational(symmetrised(0.2))]
EVERY = pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)


def pendulums(t, q, v, p):
    """Two pendulums in a row, the support driven; parameters: gravity, drive."""
    (_, c1), (_, c2), (_, c), (s, _) = sincos(q[0]), sincos(q[1]), sincos(q[0] - q[1]), sincos(3.0 * t)
    return v[0] * v[0] + 0.5 * v[1] * v[1] + c * v[0] * v[1] + (p[0] + p[1] * s) * (2.0 * c1 + c2)


def friction(t, q, v, p):
    """Dissipation and control: p[2] times the relative speed between the two, and a torque."""
    s, _ = sincos(2.0 * t)
    x = p[2] * (v[1] - v[0])
    return [x - p[2] * v[0] + p[2] * s, -x]


@cache
def driven(drag=0.0, damped=False):
    force = friction if damped else None
    return lagrangian_problem(
        pendulums, [0.7, -0.5], [0.3, 0.6], parameters=[2.0, 0.5, drag], force=force, model="pendulums"
    )


@cache
def swirl():
    """A relativistic particle in the plane in a magnetic field, turned about a centre: symmetric under rotations."""

    def lagrangian(t, q, v, p):
        r = q[0] * q[0] + q[1] * q[1]
        return (
            -2.0 * sqrt(1.0 - 0.5 * (v[0] * v[0] + v[1] * v[1])) + (0.3 + r) * (q[0] * v[1] - q[1] * v[0]) - 0.5 * r * r
        )

    return lagrangian_problem(lagrangian, [0.8, 0.1], [0.2, 0.5], model="swirl")


# --- derivatives ------------------------------------------------------------------------------------------------------


def values(problem, state, second=True):
    n = problem.dimension // 2
    size = layout(n).SIZE if second else layout(n).PUSH_Q
    state = np.asarray(state)
    out = np.zeros(size, dtype=state.dtype)
    problem.parts.python(0.4, state, problem.parameters, problem.structure, np.zeros((0, 0)), out)
    return out


@pytest.mark.parametrize("make", [driven, swirl, lambda: driven(0.3, True)], ids=["pendulums", "swirl", "damped"])
def test_traced_derivatives_are_those_by_complex_steps(make):
    problem, state, at = make(), np.array([0.4, -0.7, 0.3, 0.5]), layout(2)
    first, found = values(problem, state, second=False), values(problem, state)
    steps = [values(problem, state + 1e-30j * e, second=False).imag / 1e-30 for e in np.eye(4)]
    by_q, by_v = np.array(steps[:2]).T, np.array(steps[2:]).T
    assert np.array_equal(found[: at.PUSH_Q], first)
    assert np.abs(by_v[at.VALUE] - first[at.MOMENTUM : at.VALUE]).max() < 1e-14
    assert np.abs(found[at.PUSH_Q : at.PUSH_V] - by_q[:2].ravel()).max() < 1e-14
    assert np.abs(found[at.PUSH_V : at.MOMENTUM_Q] - by_v[:2].ravel()).max() < 1e-14
    assert np.abs(found[at.MOMENTUM_Q : at.MOMENTUM_V] - by_q[2:4].ravel()).max() < 1e-14
    assert np.abs(found[at.MOMENTUM_V :] - by_v[2:4].ravel()).max() < 1e-14
    if problem is driven():
        assert np.abs(by_q[at.VALUE] - first[at.PUSH : at.MOMENTUM]).max() < 1e-14


def test_on_rotations_derivatives_are_left_trivialised():
    """L = ½ ω·Jω − c·Rᵀe₃: π = Jω, φ = (Rᵀe₃) × c."""
    J, c = np.array([1.0, 1.4, 0.6]), np.array([0.2, -0.3, 0.9])

    def top(t, q, v, p):
        up = rotation.act_inverse(tuple(q), (0.0, 0.0, 1.0))
        return 0.5 * sum(J[i] * v[i] * v[i] for i in range(3)) - sum(c[i] * up[i] for i in range(3))

    q, w = np.array([0.8, 0.4, -0.2, 0.4]), np.array([0.3, -1.0, 0.5])
    found = derivatives(so3.table, top)
    out = np.zeros(layout(3).SIZE)
    found.field.python(0.0, np.concatenate([q, w]), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((1, 1)), out)
    up = np.array(rotation.act_inverse(tuple(q), (0.0, 0.0, 1.0)))
    assert found.linear
    assert np.abs(out[:3] - np.cross(up, c)).max() < 1e-15
    assert np.abs(out[3:6] - J * w).max() < 1e-15
    along = [np.cross(np.cross(up, e), c) for e in np.eye(3)]  # δ(Rᵀe₃) = Rᵀe₃ × η
    assert np.abs(out[7:16].reshape(3, 3) - np.array(along).T).max() < 1e-15


def by_hand(t, y, parameters, structure, work, out):
    """L = ½ m v² − ½ k q⁴."""
    q, v, m, k = ld(y, 0), ld(y, 1), parameters[0], parameters[1]
    st(out, 0, -2.0 * k * q * q * q)
    st(out, 1, m * v)
    st(out, 2, 0.5 * m * v * v - 0.5 * k * q * q * q * q)
    if out.shape[0] > 3:
        st(out, 3, -6.0 * k * q * q)
        st(out, 4, 0.0)
        st(out, 5, 0.0)
        st(out, 6, m + 0.0 * q)


def test_a_lagrangian_by_hand_as_an_expression_and_as_a_function_is_the_same_problem():
    q, v, m, k = sympy.symbols("q v m k")
    ways = (
        Derivatives(by_hand, linear=True),
        function_of(m * v**2 / 2 - k * q**4 / 2, [q], [v], [m, k]),
        lambda t, q, v, p: 0.5 * p[0] * v[0] ** 2 - 0.5 * p[1] * q[0] ** 4,
    )
    problems = [lagrangian_problem(way, [1.2], [0.4], parameters=[1.5, 0.7]) for way in ways]
    states = [step_map(p, find("DEL_GAUSS2"), interpreted=True)(p.y0, 0.1) for p in problems]
    assert np.abs(states[0] - problems[0].y0).max() > 0.01
    assert all(np.abs(state - states[0]).max() < 4e-16 for state in states)
    velocities = [step_map(p, find("RKMK4"), interpreted=True)(p.y0, 0.1) for p in problems]
    assert all(np.abs(state - velocities[0]).max() < 4e-16 for state in velocities)


# --- order ------------------------------------------------------------------------------------------------------------


@cache
def reference(damped):
    problem = driven(0.4, True) if damped else driven()
    return integrate(problem, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]


@pytest.mark.parametrize("name", ORDERS)
def test_order_with_drive_dissipation_and_control(name):
    problem, method = driven(0.4, True), find(name)
    found = measured_order(lambda n: end_state(problem, method, n), ORDERS[name], reference(True), floor=3e-13)
    assert abs(found.order - method.order) < 0.25, found


@pytest.mark.parametrize("name", ["DEL_GAUSS5", "DEL_GAUSS6"])
def test_order_of_many_nodes(name):
    """From two steps to six: the error changes its sign on the way, so that the order is a mean."""
    errors = [np.abs(end_state(driven(0.4, True), find(name), n) - reference(True)).max() for n in (2, 6)]
    assert abs(np.log(errors[0] / errors[1]) / np.log(3) - find(name).order) < 1, errors


@pytest.mark.parametrize(
    ("method", "order"), [(OVERINTEGRATED, 4), (METHODS[-2], 1), (METHODS[-1], 2)], ids=lambda x: getattr(x, "name", "")
)
def test_order_of_other_discrete_lagrangians(method, order):
    found = measured_order(lambda n: end_state(driven(0.4, True), method, n), (40, 80, 160), reference(True))
    assert method.order == order
    assert abs(found.order - order) < 0.15, found


# --- structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [METHODS[k] for k in (0, 1, 2, 3, 5, 7, -3, -2, -1)], ids=lambda m: m.name)
def test_one_step_preserves_the_canonical_two_form(method):
    assert canonical_defect(driven(), method, "0.1", digits=40) < 1e-14


def test_with_dissipation_the_two_form_shrinks():
    assert canonical_defect(driven(0.4, True), find("DEL_GAUSS2"), "0.1", digits=40) > 1e-3


@EVERY
def test_a_step_forward_and_a_step_back_return_if_the_nodes_are_symmetric(method):
    still = lagrangian_problem(pendulums, [0.7, -0.5], [0.3, 0.6], parameters=[2.0, 0.0])
    defect = symmetry_defect(step_map(still, method, interpreted=True), still.y0, 0.1)
    assert (defect < 1e-14) == method.symmetric


@EVERY
def test_angular_momentum_is_exact(method):
    """q × p, of a Lagrangian that is not quadratic in the velocity."""
    problem = swirl()
    step, y = step_map(problem, method, interpreted=True), problem.y0
    for _ in range(20):
        y = step(y, 0.1)
    before, after = (z[0] * z[3] - z[1] * z[2] for z in (problem.y0, y))
    assert np.abs(y - problem.y0).max() > 0.1
    assert abs(after - before) < 1e-14


# --- known numbers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.5, 1.0])
def test_the_alpha_family_is_its_difference_equation(alpha):
    """(q₂ − 2q₁ + q₀)/h² = −[α V'(q₀₊α) + (1 − α) V'(q₁₊α)], q_{k+α} = (1 − α) q_k + α q_{k+1}."""
    problem = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] * v[0] + sincos(q[0])[1], [1.0], [0.5])
    step = step_map(problem, variational(alpha_family(alpha)), interpreted=True)
    y1 = step(problem.y0, H)
    q = [problem.y0[0], y1[0], step(y1, H)[0]]
    slope = [np.sin((1 - alpha) * q[k] + alpha * q[k + 1]) for k in (0, 1)]
    assert abs((q[2] - 2 * q[1] + q[0]) / H**2 + alpha * slope[0] + (1 - alpha) * slope[1]) < 2e-13


@pytest.mark.parametrize(("alpha", "swing"), [(0.5, 7.5e-5), (0.0, 2.6e-3)])
def test_energy_of_a_planet(alpha, swing):
    """max |ΔE| of an orbit from q = (0.8, 0), p = (0, √1.5), h = 0.02."""
    problem = lagrangian_problem(
        lambda t, q, v, p: 0.5 * (v[0] * v[0] + v[1] * v[1]) + 1.0 / sqrt(q[0] * q[0] + q[1] * q[1]),
        [0.8, 0.0],
        [0.0, 1.5**0.5],
    )
    step, y, energy = step_map(problem, variational(alpha_family(alpha)), interpreted=True), problem.y0, []
    for _ in range(320):
        y = step(y, 0.02)
        energy.append(0.5 * (y[2:] @ y[2:]) - 1 / np.hypot(y[0], y[1]))
    assert np.abs(np.array(energy) + 0.5).max() == pytest.approx(swing, rel=0.02)


@pytest.mark.parametrize("s", [1, 2, 3])
def test_gauss_methods_are_those_of_the_hamiltonian_side(s):
    a, b = (
        step_map(driven(), find(name), interpreted=True)(driven().y0, 0.1)
        for name in (f"DEL_GAUSS{s}", f"VARIATIONAL_GAUSS{s}")
    )
    assert np.abs(a - b).max() < 5e-15


@pytest.mark.slow
def test_lanes_agree_bitwise_with_one_trajectory():
    problem = driven()
    starts = problem.y0 + 0.01 * np.arange(8)[:, None]
    together = integrate(problem.with_start(starts), "DEL_GAUSS2", (0, 1), H)
    for k in (0, 5):
        assert np.array_equal(together.y[k], integrate(problem.with_start(starts[k]), "DEL_GAUSS2", (0, 1), H).y)


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_composition_needs_a_symmetric_base():
    with pytest.raises(ValueError, match="not symmetric"):
        composition(variational(alpha_family(0.3)), COMPOSITIONS["SUZUKI4"])


def test_problems_without_a_lagrangian_are_refused():
    problem = Problem(rn(2), [1.0, 0.0], lambda t, y: (y[1], -y[0]), canonical=True, model="oscillator")
    with pytest.raises(ValueError, match="lagrangian_problem"):
        integrate(problem, "DEL_MIDPOINT", (0, 1), 0.1)


def test_a_branch_on_a_value_is_refused_with_what_to_write_instead():
    with pytest.raises(TypeError, match="select"):
        lagrangian_problem(lambda t, q, v, p: v[0] ** 2 if q[0] > 0 else v[0], [1.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"force": lambda t, q, v, p: [0.0, 1.0]}, "2 generalised forces, expected 1"),
        ({"force": lambda t, q, v, p: -v[0]}, "force: returned .*, expected 1 generalised forces"),
        ({"v": [1.0], "p": [1.0]}, "give one of them"),
        ({"v": [1.0, 2.0]}, "expected 1 finite"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        lagrangian_problem(lambda t, q, v, p: v[0] ** 2, [1.0], **arguments)


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="singular"):
        Galerkin([[0.2, 0.3]], [[0.5, 0.5]], [1.0], [0.5], [0.5, 0.5], 2, "two of one")
    with pytest.raises(ValueError, match="sum to 1"):
        Galerkin([[0.4]], [[1.0]], [1.0], [0.5], [1.0], 2, "no constant")
    with pytest.raises(ValueError, match="alpha"):
        alpha_family(1.5)


def test_unknown_symbols_are_named():
    q, v, k = sympy.symbols("q v k")
    with pytest.raises(ValueError, match="unknown symbols k"):
        function_of(v**2 - k * q, [q], [v])
    with pytest.raises(ValueError, match="gamma"):
        function_of(v**2 - sympy.gamma(q), [q], [v])


COLD = """
from integrators.problem.lagrangian import lagrangian_problem
from liegroup.compile import stages

compiled, original = [], stages.KernelCompiler._compile_bytecode
stages.KernelCompiler._compile_bytecode = lambda self: compiled.append(self) or original(self)
problem = lagrangian_problem(lambda t, q, v, p: v[0] ** 2 - 2.0 * q[0] ** 2, [1.0], [0.5])
_ = problem.field.compiled
print(*problem.velocity(0.0, problem.y0), *problem.invariant_values(0.0, problem.y0), len(compiled))
"""


def test_another_process_finds_what_a_lagrangian_was_compiled_to(tmp_path):
    variables = os.environ | {"LIEMECH_CACHE": str(tmp_path / "kernels")}
    for is_first in (True, False):
        done = subprocess.run([sys.executable, "-c", COLD], capture_output=True, text=True, check=True, env=variables)
        *values, count = done.stdout.split()
        assert [float(x) for x in values] == [0.5, -4.0, 2.25]
        assert (int(count) > 0) == is_first


def relativistic(t, q, v, p):
    """Mass 1 on springs of 1 and 2 N/m, with the speed of light 1: L ends there."""
    return -sqrt(1.0 - v[0] ** 2 - v[1] ** 2) - 0.5 * (q[0] ** 2 + 2.0 * q[1] ** 2)


@pytest.mark.parametrize("speed", [0.3, 0.97, 0.9999])
def test_velocities_are_found_where_newton_s_first_correction_is_beyond_the_end_of_the_lagrangian(speed):
    v = speed * np.array([0.8, -0.6])
    problem = lagrangian_problem(relativistic, [0.5, 0.1], v)
    assert problem.y0[2:] == pytest.approx(v / np.sqrt(1.0 - speed**2), rel=1e-12)
    assert problem.velocity(0.0, problem.y0)[:2] == pytest.approx(v, rel=1e-10)
    assert integrate(problem, "GAUSS8", (0.0, 5.0), 0.05).error("energy") < 1e-11


def test_velocities_that_their_momenta_do_not_say_are_refused():
    """Of L = v⁴/4 − v²/2 the momentum 0.231 belongs to 1.1, and to −0.246 as well."""
    with pytest.raises(ValueError, match=r"v: \[1.1\] has the momenta \[0.231.*\], from which \[-0.245"):
        lagrangian_problem(lambda t, q, v, p: v[0] ** 4 / 4 - v[0] ** 2 / 2, [0.0], [1.1])


def test_momenta_of_no_velocity_stop_the_run():
    """Of L = √(1 + v²) momenta are below one: Newton's method ends nowhere, and nothing is made of where it was."""
    bounded = lagrangian_problem(lambda t, q, v, p: sqrt(1.0 + v[0] ** 2) + q[0], [0.0], [0.5])
    assert not np.isfinite(bounded.velocity(0.0, np.array([0.0, 1.5]))).all()
    run = integrate(bounded, "RKMK4", (0.0, 2.0), 0.01)
    assert not run.success
    assert run.y[-1, 1] < 1.0


@pytest.mark.parametrize("gamma", [2.0, 1e3, 1e5])
def test_the_velocity_of_a_momentum_is_found_up_to_that_of_light(gamma):
    """v = p/√(1 + p²): its corrections are of the size of p, what is left below 1 of that of 1/p²."""
    p = gamma * np.array([-0.8, 0.6])
    made = lagrangian_problem(lambda t, q, v, p: -sqrt((1 - v[0]) * (1 + v[0]) - v[1] ** 2) + q[0], [0.0, 0.0], p=p)
    assert made.velocity(0.0, made.y0)[:2] == pytest.approx(p / np.sqrt(1.0 + p @ p), rel=1e-9)
    run = integrate(made, "RKMK4", (0.0, 4.0), 0.1)
    assert run.success
    way = np.sqrt(1.0 + p[1] ** 2 + (p[0] + 4.0) ** 2) - np.sqrt(1.0 + p @ p)
    assert run.y[-1, 0] == pytest.approx(way, rel=1e-5)


def test_inertia_that_some_combination_of_velocities_lacks_is_named():
    with pytest.raises(ValueError, match="singular at the start"):
        lagrangian_problem(lambda t, q, v, p: (v[0] + v[1]) ** 2, [0.0, 0.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="velocity 1 has no inertia"):
        lagrangian_problem(lambda t, q, v, p: v[0] ** 2 + v[1] * q[0], [0.0, 0.0])


def test_vortices_are_told_that_their_equations_are_of_first_order():
    with pytest.raises(ValueError, match=r"linear in the velocities.*pose these by Problem"):
        lagrangian_problem(lambda t, q, v, p: q[0] * v[1] - 0.5 * (q[0] ** 2 + q[1] ** 2), [1.0, 0.0])


@pytest.mark.parametrize("method", ["DEL_TRAPEZOIDAL", "DEL_GAUSS3"])
def test_the_first_step_of_a_fast_relativistic_particle_is_found(method):
    """L = f q − √(1 − v²): p = p₀ + f t, q = (√(1 + p²) − √(1 + p₀²))/f; Newton's method from rest guesses v = p."""
    p0 = np.array([0.5, 0.95, 1.5, 3.0, 5.0, 10.0, 20.0, -20.0])
    problem = lagrangian_problem(
        lambda t, q, v, f: f[0] * q[0] - (1.0 - v[0] ** 2) ** 0.5, [0.0], p=[2.0], parameters=[0.5]
    )
    many = problem.with_start(np.stack([0.0 * p0, p0], axis=1))
    runs = [integrate(many, method, (0.0, 1.0), 0.02), integrate(problem, method, (0.0, 1.0), 0.02)]
    assert all(run.success for run in runs)
    for y, p in ((runs[0].y[:, -1].T, p0), (runs[1].y[-1], 2.0)):
        assert np.abs(y[1] - (p + 0.5)).max() < 1e-13
        q = 2.0 * (np.sqrt(1.0 + (p + 0.5) ** 2) - np.sqrt(1.0 + p**2))
        assert np.abs(y[0] - q).max() < (1e-4 if method == "DEL_TRAPEZOIDAL" else 1e-12)


@pytest.mark.parametrize("fast", [7.0e3, 7.5e6, 3e8])
def test_a_slow_velocity_is_found_beside_a_fast_one(fast):
    """Of one that is 1e8 times faster a correction of the slow one is nothing."""

    def slow(q, v):
        return 0.5 * v**2 + 0.25 * v**4 - 0.5 * q**2

    beside = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 + slow(q[1], v[1]), [0.0, 0.0], [fast, 2.0])
    alone = lagrangian_problem(lambda t, q, v, p: slow(q[0], v[0]), [0.0], [2.0])
    assert abs(beside.velocity(0.0, beside.y0)[1] - 2.0) < 1e-12
    both, one = (integrate(posed, "RKMK4", (0.0, 3.0), 0.01) for posed in (beside, alone))
    assert np.abs(both.y[:, 1] - one.y[:, 0]).max() < 1e-12
