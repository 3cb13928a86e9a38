"""Claims of the nonholonomic methods, measured: order, symmetry, constraints, energy, integrals, lanes."""

from itertools import pairwise

import numpy as np
import pytest

from integrators import integrate
from integrators.layout import COUNTERS
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.steppers.generalized_alpha import rolling_alpha
from integrators.steppers.nonholonomic.catalogue import rows
from integrators.steppers.nonholonomic.lagrange_dalembert import (
    CONSTRAINTS,
    MULTIPLIERS,
    NULL_SPACE,
    lagrange_dalembert,
)
from integrators.tableaus import COMPOSITIONS
from mechanics.nonholonomic.testing import random_states
from mechanics.systems import NONHOLONOMIC
from mechanics.systems.rolling.chaplygin_ball import chaplygin_ball
from mechanics.systems.rolling.driven_pair import driven_pair
from mechanics.systems.rolling.routh_sphere import routh_sphere
from mechanics.systems.rolling.tilting_disk import tilting_disk
from mechanics.systems.rolling.vertical_disk import vertical_disk

NAMES = [name for name, _ in rows()]
ON_VELOCITIES = [name for name in NAMES if METHODS[name].needs != "quasi-velocities"]
WITH_FRAME = [name for name, make in NONHOLONOMIC.items() if make().reduced.parts is not None]
SUZUKI = [float(w) for w in COMPOSITIONS["SUZUKI4"].rounded]
STEPS = {1: 40, 2: 40, 4: 20, 6: 10}


@pytest.mark.parametrize("name", NAMES)
def test_order_on_the_contact_oscillator(name, order):
    claimed = METHODS[name].order
    assert order("contact-oscillator", name, 2.0, STEPS[claimed]) == pytest.approx(
        claimed, abs=0.1 if claimed < 6 else 0.25
    )


@pytest.mark.parametrize("name", ON_VELOCITIES)
def test_order_on_a_rolling_body_in_space(name, order):
    """Non-commutative group, integrable row, three multipliers."""
    claimed = METHODS[name].order
    steps = {1: 320, 2: 160, 4: 80, 6: 40}[claimed]
    assert order("thick-disk", name, 1.0, steps) == pytest.approx(claimed, abs=0.15 if claimed < 6 else 0.3)


@pytest.mark.parametrize(
    "system", ["snakeboard-driven", "ball-on-turntable", "rattleback-damped", "sleigh-with-moving-mass"]
)
@pytest.mark.parametrize("name", ["DLA", "DLA4", "GNI", "ROLLING_ALPHA"])
def test_order_with_driving_moving_supports_damping_and_varying_mass(system, name, order):
    claimed = METHODS[name].order
    horizon = 0.25 if system.startswith("rattleback") else 1.0
    assert order(system, name, horizon, 160 if claimed == 2 else 80) == pytest.approx(claimed, abs=0.2)


@pytest.mark.parametrize("system", ["rolling-disk", "snakeboard-driven", "contact-chain", "suslov"])
@pytest.mark.parametrize("name", ["ENERGY_EXACT", "ENERGY_EXACT4"])
def test_order_of_the_energy_exact_step(system, name, order):
    claimed = METHODS[name].order
    assert order(system, name, 0.5, 80 if claimed == 2 else 40) == pytest.approx(claimed, abs=0.15)


@pytest.mark.parametrize(
    ("system", "map"),
    [("roller-racer", "exp"), ("sleigh-with-moving-mass", "exp"), ("sleigh-with-moving-mass", "cayley")],
)
def test_order_of_the_reduced_form_on_shape_and_group_with_either_map(system, map, order):
    """Q = M × SE(2) with an inertia that depends on the shape: reduced Hamilton–Pontryagin d'Alembert.

    The racer's shape is an angle, whose Cayley midpoint is not the middle: there the inertia spoils the symmetry (next
    test).
    """
    basic = lagrange_dalembert("x", constraint="averaged", map=map)
    assert order(system, basic, 1.0, 80) == pytest.approx(2.0, abs=0.1)
    composed = lagrange_dalembert("x4", weights=SUZUKI, order=4, constraint="averaged", map=map)
    assert order(system, composed, 1.0, 20) == pytest.approx(4.0, abs=0.2)


def test_an_inertia_that_depends_on_an_angle_needs_the_exponential_map():
    problem = NONHOLONOMIC["roller-racer"]().constrained_problem()
    defect = {}
    for map in ("exp", "cayley"):
        step = step_map(problem, lagrange_dalembert("x", constraint="averaged", map=map))
        defect[map] = np.abs(step(step(problem.y0, 0.05), -0.05) - problem.y0).max()
    assert defect["exp"] < 1e-14
    assert 1e-9 < defect["cayley"] < 1e-6


def test_compositions_do_not_help_what_is_not_symmetric_or_leaves_the_constraints(order):
    left = lagrange_dalembert("LEFT_SUZUKI", weights=SUZUKI, constraint="left", order=1, symmetric=False)
    assert order("contact-oscillator", left, 2.0, 20) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("composition", ["SUZUKI4", "KAHANLI6"])
def test_composing_gni_reaches_order_four_and_never_six(composition, errors):
    """With the multiplier carried from substep to substep as a force; what it kicks away is not a map near the
    identity.
    """
    problem, method = driven_pair("CO3").constrained_problem(), METHODS["GNI"]
    weights, found = [float(w) for w in COMPOSITIONS[composition].rounded], []
    for steps in (80, 160, 320):
        y, low = problem.y0.copy(), np.zeros(problem.n)
        work, field_work = np.zeros(method.work_shape(problem)), np.zeros(problem.work_shape)
        counters = np.zeros(COUNTERS, dtype=np.int64)
        for _ in range(steps):
            for weight in weights:
                status = method.stepper.step.compiled(
                    problem.parts.compiled, 0.0, weight * 2.0 / steps, y, low, problem.table,
                    method.kernel_coefficients(problem),
                    method.kernel_options(problem), problem.parameters, problem.structure, field_work, work, counters,
                )  # fmt: skip
                assert status == 0
        found.append(y)
    first, second = (np.abs(a - b).max() for a, b in pairwise(found))
    assert np.log2(first / second) == pytest.approx(4.0, abs=0.2)


def reversed_velocity(system, y):
    y = y.copy()
    y[system.n_q :] *= -1.0
    return y


@pytest.mark.parametrize("system", ["contact-oscillator", "snakeboard", "roller-racer", "thick-disk", "rolling-disk"])
@pytest.mark.parametrize("name", [n for n in ON_VELOCITIES if n not in ("GNI", "ROLLING_ALPHA") and "6" not in n])
def test_symmetric_methods_are_reversible_and_the_others_are_not(system, name):
    made = NONHOLONOMIC[system]()
    if METHODS[name].needs == "constant metric" and system in ("roller-racer", "rolling-disk"):
        pytest.skip("its kinetic metric depends on q")
    problem = made.constrained_problem()
    step, h = step_map(problem, METHODS[name]), 0.02
    y = problem.y0
    back = step(step(y, h), -h)
    turned = reversed_velocity(made, step(reversed_velocity(made, step(y, h)), h))
    scale = 1 + np.abs(y).max()
    if METHODS[name].symmetric:
        assert np.abs(back - y).max() < 1e-14 * scale
        assert np.abs(turned - y).max() < 1e-14 * scale
    elif system != "roller-racer" or name != "DLA_LEFT":
        assert np.abs(back - y).max() > 1e-7


@pytest.mark.parametrize("system", WITH_FRAME)
def test_the_energy_exact_step_is_symmetric(system):
    problem = NONHOLONOMIC[system]().problem()
    if system.endswith("driven") or system == "eulers-disk":
        pytest.skip("forces")
    step = step_map(problem, METHODS["ENERGY_EXACT"])
    assert np.abs(step(step(problem.y0, 0.01), -0.01) - problem.y0).max() < 1e-14 * (1 + np.abs(problem.y0).max())


def test_the_cayley_midpoint_is_not_symmetric_and_the_average_is():
    problem = NONHOLONOMIC["thick-disk"]().constrained_problem()
    defect = {}
    for constraint in ("midpoint", "averaged", "trapezoid"):
        step = step_map(problem, lagrange_dalembert("x", constraint=constraint, map="cayley"))
        defect[constraint] = np.abs(step(step(problem.y0, 0.02), -0.02) - problem.y0).max()
    assert defect["midpoint"] > 1e-7
    assert defect["averaged"] < 1e-13
    assert defect["trapezoid"] < 1e-13


@pytest.mark.parametrize(
    "system", ["snakeboard", "thick-disk", "ball-in-cylinder", "ball-on-turntable", "rolling-disk"]
)
@pytest.mark.parametrize("name", ON_VELOCITIES)
def test_node_velocities_satisfy_the_constraints_and_dla_keeps_the_height(system, name):
    made = NONHOLONOMIC[system]()
    if METHODS[name].needs == "constant metric" and system == "rolling-disk":
        pytest.skip("its kinetic metric depends on q")
    solution = integrate(made.constrained_problem(), name, (0.0, 0.5), step=0.005)
    q, v = solution.y[-1][: made.n_q], solution.y[-1][made.n_q :]
    p = made.parts(q, v)
    assert np.abs(p.rows @ v - p.value).max() < 1e-13 * (1 + np.abs(v).max())
    if made.positions:
        limit = 1e-14 if METHODS[name].family == "lagrange-dalembert" else 1e-2
        assert np.abs(p.position).max() < limit
        if name in ("MP", "GNI", "ROLLING_ALPHA"):
            assert np.abs(p.position).max() > 1e-12


@pytest.mark.parametrize("system", [s for s in WITH_FRAME if not s.endswith("driven") and s != "eulers-disk"])
def test_energy_is_exact_to_rounding_for_every_system_with_an_orthogonal_frame(system):
    problem = NONHOLONOMIC[system]().problem()
    solution = integrate(problem, "ENERGY_EXACT", (0.0, 40.0), step=0.04)
    assert solution.success
    scale = 1 + np.abs(solution.invariants[:, 0]).max()
    assert solution.error("energy") < 1e-12 * scale
    if "driver_energy" in problem.invariant_names:
        assert solution.error("driver_energy") < 1e-12 * scale
        assert solution.error("driven_energy") < 1e-12 * scale


def test_forces_change_the_energy_by_their_work_and_nothing_else():
    """With the drive of a snakeboard: H₁ − H₀ = h ū·f(t + h/2), step by step."""
    made = NONHOLONOMIC["snakeboard-driven"]()
    problem = made.problem()
    h = 0.02
    solution = integrate(problem, "ENERGY_EXACT", (0.0, 1.0), step=h, save_every=1)
    y, energy = solution.y, solution.invariants[:, 0]
    for k in range(20):
        mean = 0.5 * (y[k, 6:] + y[k + 1, 6:])
        drive = np.sin(made.parameters[8] * (k + 0.5) * h)
        torque, steering = made.parameters[6] * drive, made.parameters[7] * drive
        values = problem.parts_values((k + 0.5) * h, np.concatenate([0.5 * (y[k, :6] + y[k + 1, :6]), mean]))
        basis = values[:24].reshape(6, 4)
        turn = basis[2] @ mean
        work = h * ((torque * (mean[1] - turn)) + steering * (mean[2] - turn) - steering * (mean[3] - turn))
        # the middle of the board's configuration is that of its angles, which alone enter the frame
        assert energy[k + 1] - energy[k] == pytest.approx(work, abs=1e-14)


def test_dla_on_the_vertical_disk_rolls_on_an_exact_circle():
    made = vertical_disk(omega=0.7, roll_rate=1.5)
    for name in ("DLA", "DLA_TRAPEZOID", "MP"):
        y = integrate(made.constrained_problem(), name, (0.0, 30.0), step=0.1, save_every=1).y
        np.testing.assert_allclose(y[:, 6], 0.7, atol=2e-3)
        turn = np.diff(y[:, 2])
        assert np.ptp(turn) < 1e-13
        chord = np.linalg.norm(np.diff(y[:, :2], axis=0), axis=1)
        assert np.ptp(chord) < 1e-13
        # points on a circle: radius from chord and turn agrees with the distance from a common centre
        centre = circumcentre(y[0, :2], y[40, :2], y[80, :2])
        assert np.ptp(np.linalg.norm(y[:, :2] - centre, axis=1)) < 1e-11


def circumcentre(a, b, c):
    matrix = 2 * np.array([b - a, c - a])
    return np.linalg.solve(matrix, np.array([b @ b - a @ a, c @ c - a @ a]))


def test_the_symmetric_dla_keeps_the_momenta_of_rolling_spheres():
    ball = integrate(chaplygin_ball().constrained_problem(), "DLA", (0.0, 6.0), step=0.02)
    momentum = ball.invariants[:, 1:]
    for values in (momentum[:, 2], (momentum**2).sum(axis=1)):
        assert np.ptp(values) < 1e-12 * (1 + np.abs(values).max())
    sphere = integrate(routh_sphere().constrained_problem(), "DLA", (0.0, 6.0), step=0.02)
    assert sphere.error("jellett") < 1e-12
    assert 1e-7 < sphere.error("routh") < 1e-2
    assert sphere.error("energy") < 1e-2


@pytest.mark.parametrize(
    "name", ["DLA", "DLA4", "DLA_AVERAGED", "NULL_SPACE", "MP", "GNI", "ROLLING_ALPHA", "ENERGY_EXACT"]
)
@pytest.mark.parametrize("system", ["contact-oscillator", "thick-disk", "snakeboard-driven"])
def test_lanes_single_runs_and_the_interpreted_source_agree_bitwise(system, name):
    made = NONHOLONOMIC[system]()
    reduced = name == "ENERGY_EXACT"
    if reduced and made.reduced.parts is None:
        pytest.skip("no orthogonal frame")
    states = random_states(made, 8, seed=5, spread=0.1)
    problem = made.problem() if reduced else made.constrained_problem()
    starts = np.array([np.concatenate([q, u if reduced else made.velocity(q, u)]) for q, u in states])
    lanes = integrate(problem.with_start(starts), name, (0.0, 0.05), step=0.01, save_every=1)
    for k in (0, 5):
        single = integrate(problem.with_start(starts[k]), name, (0.0, 0.05), step=0.01, save_every=1)
        np.testing.assert_array_equal(lanes.y[k], single.y)
    plain = step_map(problem, METHODS[name], interpreted=True)(starts[0], 0.01)
    np.testing.assert_allclose(plain, lanes.y[0][1], rtol=0, atol=0)


@pytest.mark.parametrize("name", ["DLA", "DLA4", "NULL_SPACE", "GNI", "ENERGY_EXACT"])
@pytest.mark.parametrize("system", ["rolling-disk", "rattleback-damped"])
def test_a_lane_whose_iteration_ends_before_those_of_others_has_the_bits_of_a_single_run(system, name):
    """Slow and fast beside each other, without forces of the velocity and with them."""
    made = NONHOLONOMIC[system]()
    reduced = name == "ENERGY_EXACT"
    if reduced and made.reduced.parts is None:
        pytest.skip("no orthogonal frame")
    problem = made.problem() if reduced else made.constrained_problem()
    speeds = [made.u0 * (1.0 + 0.3 * k) for k in range(8)]
    starts = np.array([np.concatenate([made.q0, u if reduced else made.velocity(made.q0, u)]) for u in speeds])
    lanes = integrate(problem.with_start(starts), name, (0.0, 0.5), step=0.01, save_every=1)
    for k in (0, 3, 7):
        single = integrate(problem.with_start(starts[k]), name, (0.0, 0.5), step=0.01, save_every=1)
        np.testing.assert_array_equal(lanes.y[k], single.y)


@pytest.mark.parametrize("map", ["exp", "cayley"])
@pytest.mark.parametrize("constraint", list(CONSTRAINTS))
@pytest.mark.parametrize("system", ["thick-disk", "snakeboard-driven", "ball-on-turntable", "roller-racer"])
def test_without_multipliers_the_trajectory_is_that_of_dla(system, constraint, map):
    """Nᵀ takes the multipliers out of the same equations: to rounding the same X, whatever the rows and the map."""
    problem = NONHOLONOMIC[system]().constrained_problem()
    both = [
        lagrange_dalembert("x", constraint=constraint, map=map, unknowns=unknowns)
        for unknowns in (MULTIPLIERS, NULL_SPACE)
    ]
    first, second = (integrate(problem, method, (0.0, 0.5), step=0.01, save_every=1) for method in both)
    assert first.success
    assert second.success
    np.testing.assert_allclose(second.y, first.y, rtol=0, atol=2e-13 * (1 + np.abs(first.y).max()))


def test_light_parts_cost_digits_only_where_the_mass_matrix_is_inverted():
    """A rolling disk with moments of 1e-6 m r²: A M⁻¹Aᵀ forgets the digits that masses are apart, NᵀM N does not."""
    made = tilting_disk(1.0, 1.0, diametral_inertia=1e-6, axial_inertia=2e-6, omega=(0.1, 0.5, 3.0), tilt=0.2)
    defect = {}
    for name in ("DLA", "NULL_SPACE"):
        y = integrate(made.constrained_problem(), name, (0.0, 1.0), step=0.002, save_every=1).y
        defect[name] = max(np.abs(made.residual(state[: made.n_q], state[made.n_q :])).max() for state in y)
    assert defect["NULL_SPACE"] < 3e-14
    assert defect["DLA"] > 3e-13


def test_bad_pairs_of_method_and_problem_are_refused():
    racer = NONHOLONOMIC["roller-racer"]()
    with pytest.raises(ValueError, match=r"constrained_problem\(\)"):
        integrate(racer.problem(), "DLA", (0, 1), step=0.1)
    with pytest.raises(ValueError, match="constant kinetic metric"):
        integrate(racer.constrained_problem(), "MP", (0, 1), step=0.1)
    with pytest.raises(ValueError, match="quasi-velocities of a constant metric"):
        integrate(racer.constrained_problem(), "ENERGY_EXACT", (0, 1), step=0.1)
    with pytest.raises(ValueError, match="expected one of midpoint"):
        lagrange_dalembert("x", constraint="middle")
    with pytest.raises(ValueError, match="spectral radius"):
        rolling_alpha("x", radius=1.2)
    with pytest.raises(ValueError, match="map 'cayley'"):
        METHODS["ENERGY_EXACT"].with_map("cayley")


def test_steps_that_cannot_be_solved_say_so():
    solution = integrate(NONHOLONOMIC["rattleback"]().constrained_problem(), "DLA", (0.0, 5.0), step=0.5)
    assert not solution.success
    assert solution.status.is_failure
    assert "smaller step" in solution.message
