"""Newton's method in implicit steps: the solution of the iteration, no limit of stability, Jacobians of problems."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from typing import Any

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.analysis.canonical import canonical_defect
from integrators.layout import COUNTERS, TENTATIVE
from integrators.method.step_map import step_map
from integrators.methods import METHODS, find
from integrators.problem.jacobian import check_jacobian, derivative
from integrators.signatures import FIELD_SIGNATURES
from integrators.steppers import newton
from integrators.steppers.implicit import implicit_rkmk
from integrators.steppers.lie_variational import variational_rk
from integrators.steppers.midpoint import midpoint
from integrators.steppers.newton_systems import schur_form
from integrators.tableaus import DIAGONALLY_IMPLICIT, FAMILIES, GAUSS
from integrators.testing import end_state, group_distance
from liegroup import product, rn
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sincos
from liegroup.table import RN, SO3, table_of

SYMPLECTIC = ["MIDPOINT", "RKMK_GAUSS1", "RKMK_GAUSS2", "RKMK_GAUSS3", "VARIATIONAL_GAUSS1", "VARIATIONAL_GAUSS2"]
AT_ONCE = {
    "MIDPOINT": midpoint("at once", iterations=1),
    "RKMK_GAUSS2": implicit_rkmk(GAUSS(2), "at once", iterations=1),
    "VARIATIONAL_GAUSS2": variational_rk(GAUSS(2), name="at once", iterations=1),
}
"""Methods that go over to Newton's method after one iteration."""


@numba.njit
def spring(t, y, p):
    return np.array([y[1], -p[0] * p[0] * y[0] - p[1] * y[1]])


@numba.njit
def spring_jacobian(t, y, p):
    return np.array([[0.0, 1.0], [-p[0] * p[0], -p[1]]])


@numba.njit
def spring_energy(t, y, p):
    return np.array([0.5 * y[1] * y[1] + 0.5 * p[0] * p[0] * y[0] * y[0]])


def oscillator(omega: float, damping: float = 0.0, **more: Any) -> Problem:
    return Problem(
        rn(2), [1.0, 0.0], spring, parameters=[omega, damping], canonical=True, invariants={"energy": spring_energy},
        model="spring", **more,
    )  # fmt: skip


@entry(*FIELD_SIGNATURES)
def driven(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """x follows cos t at the rate parameters[0], and a body turns with velocity (x, y₁, x²)."""
    _, c = sincos(t * 1.0)
    x = ld(y, 4)
    st(out, 0, x)
    st(out, 1, ld(y, 1))
    st(out, 2, x * x)
    st(out, 3, parameters[0] * (c - x))


@entry(*FIELD_SIGNATURES)
def driven_jacobian(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """By right increments of the turn: y₁ changes by ½ (y₀ δ₀ + y₂ δ₂ − y₃ δ₁)."""
    zero = 0.0 * ld(y, 0)
    for k in range(16):
        st(out, k, zero)
    st(out, 3, zero + 1.0)
    st(out, 4, 0.5 * ld(y, 0))
    st(out, 5, -0.5 * ld(y, 3))
    st(out, 6, 0.5 * ld(y, 2))
    st(out, 11, 2.0 * ld(y, 4))
    st(out, 15, zero - parameters[0])


def body(rate: float, **more: Any) -> Problem:
    return Problem(
        table_of([(SO3, 1), (RN, 1)]), [1.0, 0.0, 0.0, 0.0, 0.3], driven, parameters=[rate], model="driven body", **more
    )


# --- the same equations, the same solution ----------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["R3", "SO3", "SE3", "product"])
@pytest.mark.parametrize("name", AT_ONCE)
def test_newton_and_iteration_end_in_the_same_state_on_cotangent_groups(mechanics, name: str, group: str) -> None:
    problem = mechanics(group)
    iterated, solved = (end_state(problem, method, 20) for method in (METHODS[name], AT_ONCE[name]))
    assert group_distance(problem.table, iterated, solved) < 3e-14


@pytest.mark.parametrize("name", ["MIDPOINT", "VARIATIONAL_GAUSS2"])
def test_newton_keeps_the_two_form(mechanics, name: str) -> None:
    assert canonical_defect(mechanics("SO3"), AT_ONCE[name], "0.1") < 1e-13


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "RKMK_GAUSS2", "MIDPOINT"])
@pytest.mark.parametrize("rate", [1.0, 1e6])
def test_the_jacobian_of_the_problem_gives_the_same_states_with_fewer_evaluations(name: str, rate: float) -> None:
    runs = [integrate(body(rate, **more), name, (0, 1), 0.05) for more in ({}, {"jacobian": driven_jacobian})]
    assert all(run.status.name == "OK" for run in runs)
    assert np.abs(runs[0].y[-1] - runs[1].y[-1]).max() < 1e-13
    if rate > 1.0:
        assert runs[1].evaluations < runs[0].evaluations


def test_a_jacobian_comes_in_every_form_of_a_field() -> None:
    def plain(t: float, y: Any) -> Any:
        return [y[1], -1e6 * y[0]]

    forms = {
        "matrix": lambda t, y: np.array([[0.0, 1.0], [-1e6, 0.0]]),
        "rows": lambda t, y: [0.0, 1.0, -1e6, 0.0],
    }
    ends = [
        integrate(Problem(rn(2), [1.0, 0.0], plain, jacobian=f), "RKMK_RADAU_IIA2", (0, 1), 0.1).y
        for f in forms.values()
    ]
    ends.append(integrate(oscillator(1e3, jacobian=spring_jacobian), "RKMK_RADAU_IIA2", (0, 1), 0.1).y)
    ends.append(integrate(oscillator(1e3), "RKMK_RADAU_IIA2", (0, 1), 0.1).y)
    assert max(np.abs(end - ends[0]).max() for end in ends) < 1e-12


@pytest.mark.parametrize(
    "name",
    [
        "MIDPOINT",
        "RKMK_RADAU_IIA3",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("RKMK_GAUSS2", "VARIATIONAL_GAUSS2", "RODAS4", "ROS3P", "BDF2", "BDF3")
        ),
    ],
)
def test_lanes_go_over_to_newton_each_for_itself(name: str) -> None:
    """Trajectories of very different stiffness in one set of lanes: each has the bits it has alone."""
    problem = Problem(rn(4), [1.0, 1.0, 0.0, 0.0], of_any_stiffness, canonical=True)
    starts = np.array([[1.0, 10.0 ** (k - 1), 0.0, 0.0] for k in range(8)])
    together = integrate(problem, name, (0, 3), 0.1, y0=starts).y[:, -1]
    alone = np.array([integrate(problem, name, (0, 3), 0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, alone)


@numba.njit
def of_any_stiffness(t, y):
    """Two coordinates, the second a constant that says how stiff the first is."""
    return np.array([y[2], 0.0, -y[1] * y[0] - np.sin(y[0]), np.cos(y[0])])


# --- no limit of stability --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SYMPLECTIC)
@pytest.mark.parametrize("h_omega", [1.9, 4.5, 1e2, 1e4])
def test_springs_keep_their_energy_at_any_step(name: str, h_omega: float) -> None:
    run = integrate(oscillator(h_omega), name, (0, 1000), 1.0)
    assert run.status.name == "OK"
    assert np.abs(run["energy"] / run["energy"][0] - 1.0).max() < 1e-11


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "RKMK_RADAU_IIA2", "RKMK_TRBDF2", "RKMK_LOBATTO_IIIC3"])
@pytest.mark.parametrize("h_omega", [1e2, 1e4])
def test_methods_that_damp_do_to_the_smallest_numbers(name: str, h_omega: float) -> None:
    run = integrate(oscillator(h_omega), name, (0, 1000), 1.0)
    assert run.status.name == "OK"
    assert run["energy"][-1] < 1e-200


def test_the_form_of_schur_is_that_of_the_tableau() -> None:
    tables = [DIAGONALLY_IMPLICIT[n] for n in DIAGONALLY_IMPLICIT] + [f(3) for f in FAMILIES.values()]
    for table in tables:
        A, s = table.rounded.A, table.stages
        form, structure = schur_form(A)
        Q, R = form[: s * s].reshape(s, s), form[s * s :].reshape(s, s)
        assert np.abs(Q @ R @ Q.T - A).max() < 1e-14
        assert np.abs(Q @ Q.T - np.eye(s)).max() < 1e-14
        assert structure[:s].sum() == s


# --- what is wrong has a name -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA2", "MIDPOINT"])
def test_a_wrong_jacobian_is_named(name: str) -> None:
    @numba.njit
    def wrong(t, y, p):
        return np.array([[0.0, 1.0], [p[0] * p[0], -p[1]]])

    with pytest.raises(ValueError, match=r"jacobian: entry \(1, 0\) is 10000 .* differences of the field give -10000"):
        integrate(oscillator(100.0, jacobian=wrong), name, (0, 1), 0.1)


def test_a_jacobian_of_another_shape_is_named() -> None:
    def plain(t: float, y: Any) -> Any:
        return [y[1], -y[0]]

    with pytest.raises(ValueError, match=r"jacobian: returned an array of shape \(2, 1\), expected \(2, 2\)"):
        integrate(Problem(rn(2), [1.0, 0.0], plain, jacobian=lambda t, y: np.ones((2, 1))), "MIDPOINT", (0, 1), 0.1)
    with pytest.raises(ValueError, match=r"returned an array of shape \(3, 3\), expected \(2, 2\)"):
        integrate(oscillator(1.0, jacobian=numba.njit(lambda t, y, p: np.ones((3, 3)))), "MIDPOINT", (0, 1), 0.1)
    with pytest.raises(TypeError, match="jacobian: a plain Python function beside a compiled field"):
        oscillator(1.0, jacobian=lambda t, y: np.ones((2, 2)))


def near_a_surface(unit: float, **more: Any) -> Problem:
    """A tip on a spring, attracted by what is 2 nm away, in some unit of length, m."""
    stiffness, attraction = (2e5 * np.pi) ** 2, 1.3e-17 / unit**3

    def field(t, y):
        return [y[1], -stiffness * (y[0] - 6e-9 / unit) - attraction / y[0] ** 2]

    def jacobian(t, y):
        return [[0.0, 1.0], [-stiffness + 2.0 * attraction / y[0] ** 3, 0.0]]

    given = {key: jacobian if key == "jacobian" else value for key, value in more.items()}
    return Problem(rn(2), [2e-9 / unit, 0.0], field, **given)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1.0])
def test_a_jacobian_is_taken_whatever_the_unit_of_length(unit: float) -> None:
    run = integrate(near_a_surface(unit, jacobian=True), "RODAS4", (0.0, 2e-6), 5e-8)
    same = integrate(near_a_surface(1e-9, jacobian=True), "RODAS4", (0.0, 2e-6), 5e-8)
    np.testing.assert_allclose(run.y[-1] * unit, same.y[-1] * 1e-9, rtol=1e-9)


def test_differences_that_reach_beyond_what_the_field_bends_by_are_refused() -> None:
    integrate(near_a_surface(1e-9), "RODAS4", (0.0, 2e-6), 5e-8)
    integrate(near_a_surface(1.0, scales=[1e-9, 1e-3]), "RODAS4", (0.0, 2e-6), 5e-8)
    with pytest.raises(
        ValueError, match=r"jacobian: differences of component 1 .*give -3.* Give jacobian=, or scales="
    ):
        integrate(near_a_surface(1.0), "RODAS4", (0.0, 2e-6), 5e-8)


@pytest.mark.parametrize("speed", [1e-6, 1e-8, 1e-10])
def test_rounding_of_what_cancels_is_no_contradiction(speed: float) -> None:
    """A pendulum in Cartesian coordinates that hangs nearly at rest: its weight is taken by its rod."""

    def field(t: float, y: Any) -> Any:
        x, z, u, w = y
        pull = (u * u + w * w - 9.81 * z) / (x * x + z * z)
        return [u, w, -pull * x, -9.81 - pull * z]

    run = integrate(Problem(rn(4), [0.0, -1.0, speed, 0.0], field), "RODAS4", (0.0, 2.0), 1e-2)
    assert run.success, run.message
    rate = np.sqrt(9.81)
    assert run.y[-1, 0] == pytest.approx(speed / rate * np.sin(2.0 * rate), abs=1e-5 * speed)


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1.0, 1e3])
@pytest.mark.parametrize("part", [0.0, -1.0])
def test_a_wrong_jacobian_is_named_in_any_unit(unit: float, part: float) -> None:
    def given(part: float) -> Problem:
        def jacobian(t: float, y: Any) -> Any:
            return [[0.0, 1.0], [-4.0 * part * np.cos(y[0] / unit), 0.0]]

        return Problem(
            rn(2), [0.9 * unit, 0.0], lambda t, y: [y[1], -4.0 * unit * np.sin(y[0] / unit)], jacobian=jacobian
        )

    assert integrate(given(1.0), "RODAS4", (0.0, 1.0), 0.05).success
    with pytest.raises(ValueError, match=r"jacobian: entry \(1, 0\) is"):
        integrate(given(part), "RODAS4", (0.0, 1.0), 0.05)


def test_a_jacobian_near_a_kink_is_not_refused() -> None:
    def kinked(t: float, y: Any) -> Any:
        return [np.abs(y[0] - 1.0) - y[0]]

    run = integrate(Problem(rn(1), [1.0], kinked, jacobian=lambda t, y: [[-2.0]]), "RKMK_RADAU_IIA2", (0, 0.5), 0.1)
    assert run.success


def test_a_jacobian_that_is_right_at_the_start_alone_is_named() -> None:
    """At rest at the lowest point cos q is one: what was forgotten shows further on."""
    pendulum = Problem(rn(2), [0.0, 0.5], lambda t, y: [y[1], -np.sin(y[0])])
    right = replace(pendulum, jacobian=lambda t, y: [[0.0, 1.0], [-np.cos(y[0]), 0.0]])
    assert integrate(right, "RODAS4", (0.0, 0.1), 0.05).success
    wrong = replace(pendulum, jacobian=lambda t, y: [[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(ValueError, match=r"jacobian: entry \(1, 0\) is -1 at a place further on"):
        integrate(wrong, "RODAS4", (0.0, 0.1), 0.05)


# --- differences of what is of many sizes -----------------------------------------------------------------------------


def saturated(t: float, y: Any) -> Any:
    """A large store that drains, and a little that is taken from another by a law of 0.01."""
    return np.array([-1e-3 * y[0], -y[1] / (0.01 + y[1])])


def slope_of_saturated(t: float, y: Any) -> Any:
    return np.array([[-1e-3, 0.0], [0.0, -0.01 / (0.01 + y[1]) ** 2]])


@pytest.mark.parametrize(("scales", "digits"), [(None, 1e-5), ([1e6, 1e-3], 1e-9)])
def test_what_is_small_is_moved_by_little_beside_what_is_large(scales: Any, digits: float) -> None:
    mixed = Problem(rn(2), [1e6, 1e-3], lambda t, y: np.array([1e5 * y[1], 1e-6 * y[0]]), scales=scales)
    assert derivative(mixed, 0.0, mixed.y0) == pytest.approx(np.array([[0.0, 1e5], [1e-6, 0.0]]), rel=1e-8, abs=1e-8)
    problem = Problem(rn(2), [1e6, 1e-3], saturated, scales=scales)
    exact = slope_of_saturated(0.0, problem.y0)
    assert (
        np.abs(derivative(problem, 0.0, problem.y0) / np.where(exact == 0.0, 1.0, exact) - (exact != 0.0)).max()
        < digits
    )
    ends = [
        integrate(replace(problem, jacobian=J), "RODAS4", (0.0, 0.02), 2e-3).y[-1] for J in (None, slope_of_saturated)
    ]
    assert np.abs(ends[0] / ends[1] - 1.0).max() < digits
    wrong = replace(problem, jacobian=lambda t, y: 0.9 * slope_of_saturated(t, y) + np.diag([-1e-4, 0.0]))
    with pytest.raises(ValueError, match=r"jacobian: entry \(1, 1\) is -74"):
        integrate(wrong, "RODAS4", (0.0, 0.02), 2e-3)


def test_an_angle_is_moved_by_the_same_however_often_it_has_turned() -> None:
    problem = Problem(rn(2), [0.0, 1.0], lambda t, y: np.array([y[1], -np.sin(y[0])]), angles=(0,))
    assert derivative(problem, 0.0, np.array([2e6 * np.pi, 1.0])) == pytest.approx(np.array([[0.0, 1.0], [-1.0, 0.0]]))


def test_a_field_that_ends_beside_the_start_is_not_asked_further_on() -> None:
    def near(t: float, y: Any) -> Any:
        if y[0] > 1.05:
            raise ValueError("not there")
        return [1.0 + 0.0 * y[0]]

    assert integrate(Problem(rn(1), [1.0], near, jacobian=lambda t, y: [[0.0]]), "RODAS4", (0.0, 1e-3), 1e-3).success


# --- damping ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "module", "function"),
    [
        ("RKMK_RADAU_IIA3", "implicit", "newton_of_stages"),
        ("RKMK_TRBDF2", "implicit", "newton_of_stages"),
        ("BDF1", "bdf", "_newton"),
        ("MIDPOINT", "midpoint", "newton"),
        ("ALPHA", "canonical_alpha", "_newton"),
        ("VARIATIONAL_GAUSS2", "lie_variational", "newton_of_stages"),
    ],
)
def test_an_iteration_is_damped_only_where_it_finds_nothing_without(
    monkeypatch: pytest.MonkeyPatch, name: str, module: str, function: str
) -> None:
    """So what it finds without has the bits that it has without; 2 N of friction by tanh(v/v_s) are found with it."""
    steps = import_module(f"integrators.steppers.{module}")
    plain, attempts = getattr(steps, function), []

    def watched(*arguments: Any) -> Any:
        attempts.append(arguments[-1])
        return plain(*arguments)

    monkeypatch.setattr(steps, function, watched)

    def swinging(t: float, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        out[0], out[1] = y[1], -100.0 * y[0] - parameters[0] * np.tanh(y[1] / 1e-6)

    for friction in (0.0, 2.0):
        attempts.clear()
        problem = Problem(product(rn(1), rn(1)), [0.015, 0.05], swinging, parameters=[friction], canonical=True)
        step = step_map(problem, find(name), interpreted=True)
        y = problem.y0
        for _ in range(5):
            y = step(y, 0.01)
        assert any(attempts) == (friction > 0.0)
        assert friction == 0.0 or 0.0149 < y[0] < 0.016, "it sticks: the spring pulls with 1.5 N"


def test_large_full_systems_are_not_damped() -> None:
    """Hundreds of eliminations with thousands of unknowns take hours; bands are short."""
    full, band = -1, 2
    once = np.zeros(COUNTERS, dtype=np.int64)
    assert [newton.attempts(d, full, once) for d in (newton.LARGEST_DAMPED, newton.LARGEST_DAMPED + 1)] == [
        1 + newton.ATTEMPTS,
        1,
    ]
    assert newton.attempts(10**4, band, once) == 1 + newton.ATTEMPTS
    once[TENTATIVE] = 1
    assert newton.attempts(2, full, once) == newton.attempts(10**4, band, once) == 0, "a smaller step is taken"


@pytest.mark.parametrize(
    ("field", "jacobian", "start"),
    [
        (lambda t, y: [-math.sqrt(y[0])], lambda t, y: [[-0.5 / math.sqrt(y[0])]], 0.1),
        (lambda t, y: [-10.0 * max(y[0], 0.0)], lambda t, y: [[-10.0]], 1e-3),
        (lambda t, y: [1.0], lambda t, y: [[0.0 if y[0] < 1.05 else 1.0 / 0.0]], 1.0),
    ],
)
def test_a_derivative_that_is_right_where_the_motion_leads_is_taken(field: Any, jacobian: Any, start: float) -> None:
    """A tank that runs empty: a tenth of a metre further on it is, and the derivative ends or is another there."""
    check_jacobian(Problem(rn(1), [start], field, jacobian=jacobian), 0.0)
