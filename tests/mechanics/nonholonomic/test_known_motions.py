"""Closed forms, integrals, steady motions and stability limits, against DOP853 at 1e-12 and exact derivatives."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mechanics.nonholonomic import rolling
from mechanics.nonholonomic.flat import coordinate_rate
from mechanics.nonholonomic.testing import reduced_rate
from mechanics.systems import NONHOLONOMIC
from mechanics.systems.rolling import (
    ball_in_cylinder,
    ball_on_turntable,
    chaplygin_ball,
    chaplygin_sleigh,
    driven_pair,
    eulers_disk,
    rattleback,
    rolling_disk,
    suslov,
    tilting_disk,
    whipple_bicycle,
)


def solve(system, times, rtol=1e-12):
    """Reduced states at the times, by SciPy's DOP853 on the flat coordinates."""
    problem = system.problem()

    def rate(t, y):
        f = problem.velocity(t, y)
        return np.concatenate([coordinate_rate(system.group, y[: system.n_q], f[: system.n]), f[system.n :]])

    found = solve_ivp(rate, (0.0, times[-1]), problem.y0, method="DOP853", rtol=rtol, atol=rtol, t_eval=times)
    assert found.success
    return found.y.T


@pytest.mark.parametrize("name", ["vertical-disk", "knife-edge", "nonholonomic-particle"])
def test_closed_forms_solve_the_equations(name):
    system = NONHOLONOMIC[name]()
    times = np.linspace(0, 7, 15)
    np.testing.assert_allclose(solve(system, times), system.exact(times), atol=1e-10)


@pytest.mark.parametrize("rate", [1e-2, 1e-5, 1e-9])
@pytest.mark.parametrize("system", ["knife-edge", "nonholonomic-particle"])
def test_closed_forms_of_slow_turns_keep_their_digits(system, rate):
    """Differences of sines over the rate were 24 m off at 1e-9 rad/s."""
    turning = {"heading": 0.5, "omega": rate} if system == "knife-edge" else {"u": (0.9, rate)}
    made = NONHOLONOMIC[system](**turning)
    y = solve(made, np.array([0.0, 3.0]))[-1]
    np.testing.assert_allclose(y, made.exact(3.0), rtol=0, atol=1e-11)


def test_vertical_disk_without_turning_rolls_straight():
    system = NONHOLONOMIC["vertical-disk"]().with_start([0, 0, 0.3, 0], [0.0, 1.5])
    y = solve(system, np.array([0.0, 2.0]))[-1]
    np.testing.assert_allclose(y[:2], 3.0 * np.array([np.cos(0.3), np.sin(0.3)]), atol=1e-12)


def test_sleigh_follows_its_closed_form_and_turns_by_the_known_angle():
    system = chaplygin_sleigh.chaplygin_sleigh()
    times = np.linspace(0, 6, 13)
    np.testing.assert_allclose(solve(system, times)[:, 2:], chaplygin_sleigh.closed_form(times, system), atol=1e-10)
    mass, inertia, offset = system.parameters
    heading = chaplygin_sleigh.closed_form(np.array([-200.0, 200.0]), system)[:, 0]
    assert heading[1] - heading[0] == pytest.approx(np.pi / offset * np.sqrt(inertia / mass), rel=1e-12)


def test_suslov_follows_its_closed_form_and_ends_in_steady_rotation():
    system = suslov.suslov()
    times = np.linspace(0, 8, 9)
    np.testing.assert_allclose(solve(system, times)[:, 4:], suslov.closed_form(times, system), atol=1e-10)
    w1, w2 = suslov.closed_form(400.0, system)
    assert abs(system.parameters[3] * w1 + system.parameters[4] * w2) < 1e-12
    with pytest.raises(ValueError, match="reverse time"):
        suslov.closed_form(1.0, suslov.suslov(omega=(-0.8, -0.5)))


def test_ball_on_turntable_runs_on_circles_of_seven_halves_of_the_period():
    system = ball_on_turntable.ball_on_turntable()
    period = 3.5 * 2 * np.pi / system.parameters[14]
    times = np.linspace(0, period, 12)
    np.testing.assert_allclose(solve(system, times)[:, :2], ball_on_turntable.path(times, system), atol=1e-10)
    np.testing.assert_allclose(ball_on_turntable.path(period, system), system.q0[:2], atol=1e-12)


def test_ball_in_cylinder_swings_and_never_falls():
    system = ball_in_cylinder.ball_in_cylinder()
    times = np.linspace(0, 8, 17)
    np.testing.assert_allclose(solve(system, times)[:, :3], ball_in_cylinder.path(times, system), atol=1e-9)


def test_homogeneous_ball_rolls_straight():
    system = chaplygin_ball.chaplygin_ball(moments=(0.1, 0.1, 0.1))
    y = solve(system, np.linspace(0, 3, 7))
    step = np.diff(y[:, :2], axis=0)
    np.testing.assert_allclose(step, np.broadcast_to(step[0], step.shape), atol=1e-11)


def test_hante_disk_has_the_published_energy():
    problem = tilting_disk.tilting_disk().problem()
    assert problem.invariant_values(0.0, problem.y0)[0] == pytest.approx(845.2609853384364, rel=1e-15)


def test_angles_and_se3_give_the_same_disk():
    omega, tilt, heading = (0.4, 2.0, 3.0), 0.3, 0.7
    angles = rolling_disk.rolling_disk(1.0, 0.3, tilt=tilt, omega=omega, heading=heading)
    group = tilting_disk.tilting_disk(1.0, 0.3, tilt=tilt, omega=omega, heading=heading)
    times = np.linspace(0, 1.5, 7)
    a, b = solve(angles, times), solve(group, times)
    np.testing.assert_allclose(a[:, :2], b[:, :2], atol=1e-10)
    np.testing.assert_allclose(0.3 * np.sin(a[:, 3]), b[:, 2], atol=1e-10)
    np.testing.assert_allclose(rolling_disk.contact_point(a, 0.3), tilting_disk.contact_point(b, 0.3), atol=1e-10)
    for ya, yb in zip(a, b, strict=True):
        np.testing.assert_allclose(
            angles.problem().invariant_values(0, ya), group.problem().invariant_values(0, yb), rtol=1e-9
        )


def test_steady_circle_is_steady_and_has_the_known_radius():
    system = rolling_disk.rolling_disk(1.0, 0.3, tilt=np.pi / 2 - 1.1)
    w3 = rolling_disk.steady_roll_rate(system, np.pi / 2 - 1.1, 2.5)
    assert w3 == pytest.approx(-4.249203, abs=5e-7)
    y = solve(system.with_start(system.q0, [0.0, 2.5 * np.sin(1.1), w3]), np.linspace(0, 3, 31))
    np.testing.assert_allclose(y[:, 3], 1.1, atol=1e-9)
    phi_rate = w3 - 2.5 * np.cos(1.1)
    assert phi_rate == pytest.approx(-5.383194, abs=5e-7)
    contact = rolling_disk.contact_point(y, 0.3)
    centre = contact[0] + 0.3 * abs(phi_rate / 2.5) * np.array([0.0, 1.0])
    assert np.ptp(np.linalg.norm(contact - centre, axis=1)) < 1e-8
    assert np.linalg.norm(contact[0] - centre) == pytest.approx(0.645983, abs=5e-7)


def growth(system, q, u):
    """Largest real part of the eigenvalues of the linearised (θ, ω₁, ω₂, ω₃) motion."""
    y, keep = np.concatenate([q, u]), [3, 5, 6, 7]
    jacobian = np.stack([reduced_rate(system, 0.0, y + 1e-150j * e).imag / 1e-150 for e in np.eye(len(y))], axis=1)
    return np.linalg.eigvals(jacobian[np.ix_(keep, keep)]).real.max()


@pytest.mark.parametrize("body", ["disk", "hoop"])
def test_upright_rolling_and_spinning_are_stable_exactly_above_their_limits(body):
    moments = {} if body == "disk" else {"diametral_inertia": 0.5 * 0.09, "axial_inertia": 0.09}
    system = rolling_disk.rolling_disk(1.0, 0.3, tilt=0.0, **moments)
    rolling, spinning = rolling_disk.least_roll_rate(system), rolling_disk.least_spin_rate(system)
    assert rolling**2 * 0.3 / 9.81 == pytest.approx(1 / 3 if body == "disk" else 1 / 4)
    assert spinning**2 * 0.3 / 9.81 == pytest.approx(4 / 5 if body == "disk" else 2 / 3)
    for factor, stable in ((0.999, False), (1.001, True)):
        assert (growth(system, system.q0, [0, 0, factor * rolling]) < 1e-5) == stable
        assert (growth(system, system.q0, [0, factor * spinning, 0]) < 1e-5) == stable


def thick_rim_residual(system, w, rate, theta):
    """Three hand-written equations of a disk with a thick rim on (t, s, n)."""
    p = system.parameters
    m, i1, i3, r, rho, g = p[0], p[1], p[3], p[7], p[8], p[13]
    (w1, w2, w3), (d1, d2, d3) = w, rate
    s, c = np.sin(theta), np.cos(theta)
    b, e, spin = r + rho * s, rho * c, w2 * c / s
    vt, turn = e * w2 - b * w3, b * w2 + e * spin
    first = (i1 + m * (b * b + e * e)) * d1 + m * rho * r * c * w1**2 + w2 * (i3 * w3 - m * b * vt)
    second = (i1 + m * e * e) * d2 - m * b * e * d3 - m * e * rho * (s * w1 * w2 + c * w1 * w3) + m * e * w1 * turn
    third = (i3 + m * b * b) * d3 - m * b * e * d2 + m * b * rho * (s * w1 * w2 + c * w1 * w3) - m * b * w1 * turn
    return np.array(
        [first - spin * (i1 * w2 + m * e * vt) + m * g * r * c, second + i1 * spin * w1 - i3 * w1 * w3, third]
    )


def test_thick_rim_satisfies_the_hand_written_equations():
    for tilt in (-0.6, 0.2, 0.9):
        w = np.array([0.5, 2.0, 4.0])
        system = tilting_disk.tilting_disk(section=0.15, tilt=tilt, omega=tuple(w))
        theta = np.pi / 2 - tilt
        rate_body = system.problem().velocity(0.0, system.problem().y0)[6:]
        # at φ = 0 the body axes are (t, s, n); these turn with ω less the spin φ̇ about n
        rate = rate_body + np.cross([0.0, 0.0, w[2] - w[1] / np.tan(theta)], w)
        assert np.abs(thick_rim_residual(system, w, rate, theta)).max() < 1e-11 * 500


@pytest.mark.slow
def test_rattleback_turns_round_one_way_only():
    times = np.linspace(0, 20, 2001)
    spins = {}
    for spin in (-5.0, 5.0):
        system = rattleback.rattleback(spin=spin)
        y = solve(system, times, rtol=1e-9)
        up = np.stack(rolling.up(tuple(y[:, 3:7].T)), axis=1)
        spins[spin] = np.einsum("ij,ij->i", y[:, 7:], up)
    reversal = times[np.argmax(spins[-5.0] > 0.0)]
    assert 0 < reversal < 8
    assert (spins[5.0] > 0).all()


@pytest.mark.parametrize("law", [eulers_disk.DRY, eulers_disk.VISCOUS, eulers_disk.FILM])
def test_eulers_disk_ends_in_finite_time_with_the_known_exponent(law):
    coefficient = {eulers_disk.DRY: 3e-4, eulers_disk.VISCOUS: 3e-7, eulers_disk.FILM: 1e-8}[law]
    system = eulers_disk.eulers_disk(angle=0.1, law=law, coefficient=coefficient)
    end = eulers_disk.end_time(system)
    times = np.linspace(0, 0.9 * end, 40)
    y = solve(system, times, rtol=1e-9)
    m, r, _, _, g, _ = system.parameters
    energy = np.array([system.problem().invariant_values(0.0, state)[0] for state in y]) / (1.5 * m * g * r)
    # E^{1/n} falls on a straight line to zero at t0
    line = energy ** (1 / eulers_disk.EXPONENTS[law])
    slope, start = np.polyfit(times, line, 1)
    assert np.abs(line - (start + slope * times)).max() < 0.01 * start
    assert -start / slope == pytest.approx(end, rel=0.03)


def test_benchmark_bicycle_has_the_published_speeds_and_eigenvalues():
    bicycle = whipple_bicycle.Bicycle()
    assert whipple_bicycle.weave_speed(bicycle) == pytest.approx(4.29238253634111, rel=1e-13)
    assert whipple_bicycle.capsize_speed(bicycle) == pytest.approx(6.02426201538837, rel=1e-13)
    stable = lambda v: whipple_bicycle.eigenvalues(bicycle, v).real.max() < 0  # noqa: E731
    assert not stable(4.292)
    assert stable(4.293)
    assert stable(6.0242)
    assert not stable(6.0243)
    with pytest.raises(ValueError, match="hub"):
        whipple_bicycle.Bicycle(front_radius=0.4)


@pytest.mark.parametrize("member", driven_pair.MEMBERS)
def test_driven_pairs_know_whether_a_reversal_maps_the_drivers_orbit_to_itself(member):
    """V even about the turning of time and f even or odd there, or a driver that swings."""
    m = driven_pair.MEMBERS[member]
    s = np.linspace(-3, 3, 41)
    numbers = driven_pair.driven_pair(member).parameters
    value = lambda x: driven_pair._driver_potential(x, numbers)[0]  # noqa: E731
    f = lambda x: driven_pair._coupling(x, numbers)[0]  # noqa: E731
    even = np.allclose(value(s), value(-s))
    parity = m.knife or np.allclose(f(s), f(-s)) or np.allclose(f(s), -f(-s))
    assert m.symmetric_driver == (not m.rotating or (even and parity))
    energy = 0.5 * m.rate**2 + value(np.array([m.start[2]]))[0]
    barrier = value(np.linspace(-np.pi, np.pi, 2001)).max()
    assert m.rotating == (energy > barrier or (m.knife and m.driver == (0, 0, 0)))
