"""Iterations to rounding: an energy error that falls with the step does not come back at steps that are smaller."""

import numpy as np
import pytest

from integrators import integrate
from integrators.problem import holonomic_problem, in_velocities
from liegroup import rn, se2, se3
from mechanics.formulations import constrained_problem
from mechanics.nonholonomic import nonholonomic_system
from mechanics.systems import SYSTEMS


@pytest.mark.parametrize("method", ["DLA4", "DLA6"])
def test_the_energy_of_a_linkage_does_not_drift_with_small_steps(method):
    problem = constrained_problem(SYSTEMS["swinging-four-bar"].mechanism())
    run = integrate(problem, method, (0, 1), 1e-4)
    assert run.success
    assert run.error("energy", relative=False) < 2e-11  # of 2 J at play; 1e-8 with one Newton step


@pytest.mark.parametrize("method", ["DLA4", "DLA6"])
def test_the_energy_of_a_sleigh_does_not_drift_with_small_steps(method):
    run = integrate(SYSTEMS["chaplygin-sleigh"].problem("constrained"), method, (0, 10), 1e-3)
    assert run.error("energy") < 5e-12  # 7e-11 with one step of Newton's method


@pytest.mark.parametrize("method", ["DLA", "NULL_SPACE", "GNI"])
@pytest.mark.parametrize("h", [0.1, 0.05])
def test_a_steady_turn_is_slower_by_what_the_documentation_states(method, h):
    """h² m v²/(12 I) with m = 1 kg, v = 1.5 m/s, I = 1/4 kg m²: no invariant shows it."""
    run = integrate(SYSTEMS["vertical-disk"].problem("constrained"), method, (0, 20), h)
    slower = 1.0 - run["contact"][-1, 2] / (20 * 0.7)
    assert slower == pytest.approx(h**2 * 1.5**2 / (12 * 0.25), rel=0.02)
    assert run.error("energy") < (1e-2 if method == "GNI" else 1e-12)


def disk(roll_rate, m=1.0, r=0.5, turning_rate=0.7):
    """A thin upright disk in coordinates (x, y, θ, φ)."""
    return nonholonomic_system(
        rn(4),
        lambda q, v: 0.5 * m * (v[0] ** 2 + v[1] ** 2) + 0.125 * m * r**2 * v[2] ** 2 + 0.25 * m * r**2 * v[3] ** 2,
        lambda q: [[1.0, 0.0, 0.0, -r * np.cos(q[2])], [0.0, 1.0, 0.0, -r * np.sin(q[2])]],
        q0=[0.0] * 4,
        v0=[r * roll_rate, 0.0, turning_rate, roll_rate],
    )


def radius(x, y):
    """Of the circle through points, by least squares."""
    (a, b, c), *_ = np.linalg.lstsq(np.stack([2 * x, 2 * y, np.ones_like(x)], axis=1), x * x + y * y, rcond=None)
    return np.sqrt(c + a * a + b * b)


@pytest.mark.parametrize("h", [0.2, 0.1, 0.05])
def test_in_coordinates_a_disk_rolls_on_the_circle_of_its_interval_velocity(h):
    """Radius r Ω h/(2 sin(ω h/2)) for the roll rate Ω of the intervals; nodes with the rate Ω₀ start intervals with
    Ω₀ (I + m r²)/(I + m r² cos(ω h/2)), I = m r²/2.
    """
    discrete = 0.5 * 3.0 * h / (2.0 * np.sin(0.35 * h))
    ratio = 1.5 / (0.5 + np.cos(0.35 * h))
    for roll_rate, wanted in ((3.0, discrete * ratio), (3.0 / ratio, discrete)):
        run = integrate(disk(roll_rate).constrained_problem(), "DLA", (0, 10), h)
        assert radius(*run.y[:, :2].T) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.parametrize("method", ["DLA", "NULL_SPACE", "DLA_TRAPEZOID", "DLA_AVERAGED", "DLA4", "MP", "GNI"])
def test_a_skate_that_drag_brings_to_rest_is_no_failure(method):
    """v' = -20 v, with steps at which a rounding of the drag is more than half a rounding of the momentum: to zero."""
    skate = nonholonomic_system(
        rn(2), lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2), lambda q: [[0.0, 1.0]], q0=[0.0, 0.0], v0=[0.5, 0.0],
        force=lambda t, q, v: [-20.0 * v[0], 0.0], conservative=False,
    )  # fmt: skip
    run = integrate(skate.constrained_problem(), method, (0.0, 80.0), 0.02)
    assert run.success, run.message
    assert abs(run.y[-1, 2]) < 1e-290
    np.testing.assert_allclose(run.y[-1, 0], 0.5 / 20.0, rtol=0.05)  # h c = 0.4


@pytest.mark.parametrize("unit", [1e-3, 1e-9])
def test_the_null_space_knows_no_unit_of_length(unit):
    """A body on a pivot: without multipliers it moves as with them, in millimetres and below."""
    inertia, arm = np.array([0.3, 0.5, 0.6]) / unit**2, np.array([0.2, 0.1, -0.4]) / unit

    def lagrangian(t, q, v, p):
        turning = sum(inertia[k] * v[3 + k] ** 2 for k in range(3))
        return 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2 + turning) - 9.81 / unit * q[2]

    def pivot(t, q, p):
        w, x, y, z = q[3:]
        (a, b, c) = arm
        return [
            q[0] + (1 - 2 * (y * y + z * z)) * a + 2 * (x * y - w * z) * b + 2 * (x * z + w * y) * c,
            q[1] + 2 * (x * y + w * z) * a + (1 - 2 * (x * x + z * z)) * b + 2 * (y * z - w * x) * c,
            q[2] + 2 * (x * z - w * y) * a + 2 * (y * z + w * x) * b + (1 - 2 * (x * x + y * y)) * c,
        ]

    turn = np.array([1.0, 0.5, 0.8])
    start = [*-arm, 1.0, 0.0, 0.0, 0.0], [*-np.cross(turn, arm), *turn]
    posed = in_velocities(holonomic_problem(lagrangian, pivot, *start, group=se3))
    one, other = (integrate(posed, method, (0.0, 1.0), 0.02).y[-1, 3:7] for method in ("DLA", "NULL_SPACE"))
    assert other == pytest.approx(one, abs=1e-11)


@pytest.mark.parametrize("method", ["MP", "MP4", "DLA", "GNI"])
def test_iterations_know_no_unit_of_length(method):
    """A blade on an incline in units of 10 µm: what was learnt of metres and turns by their plain product led away."""
    unit = 1e5

    blade = nonholonomic_system(
        se2,
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + 2.5638 * unit**2 * v[2] ** 2),
        lambda q: [[0.0, 1.0, 0.0]],
        [0.0, 0.0, 0.4],
        [-0.2152 * unit, 0.0, 2.7442],
        potential=lambda q: -1.9561 * unit * q[0],
    )
    for step in (0.1, 0.01, 0.005):
        run = integrate(blade.constrained_problem(), method, (0.0, 20.0), step)
        assert run.success, run.message
