"""The systems reproduce published and many-digit numbers."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from liegroup.formulas import so3
from mechanics.systems import free_rigid_body, heavy_top, kepler, pendulum
from mechanics.systems.bodies.elliptic import amplitude, first_kind, quarter_period


def integrate(problem, times):
    """A reference by SciPy's eighth-order method with the quaternion as four numbers."""

    def rate(t, y):
        w, x, y_, z = y[:4]
        v = problem.velocity(t, y)
        a, b, c = v[:3]
        turn = 0.5 * np.array(
            [-x * a - y_ * b - z * c, w * a + y_ * c - z * b, w * b + z * a - x * c, w * c + x * b - y_ * a]
        )
        return np.concatenate([turn, v[3:]])

    return solve_ivp(
        rate, (0.0, max(times)), problem.y0, method="DOP853", rtol=3e-14, atol=1e-15, t_eval=times, dense_output=True
    )


def exp_of(vector):
    angle = np.linalg.norm(vector)
    return np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) / angle * np.asarray(vector)])


MANY_DIGITS = {
    "free, t = 1": (0.0, 1.0, [-0.485556157546950121, -0.405566382842584892, -0.475919842526249237,
        0.610943066468564927,
                               -1.427504856017297151, -0.054414338486514837, 2.285534722075801393]),
    "heavy, t = 1": (2.0, 1.0, [-0.502293829397530833, -0.507299381355033252, -0.604782937896168125,
        0.352967200538016533,
                                -2.459154090585903693, 0.949780485195246695, 2.345746995832371318]),
    "heavy, t = 10": (2.0, 10.0, [0.620573374584116726, 0.583863259822955065, -0.370046105963033277,
        -0.370213803156756381,
                                  1.559517752826437636, 1.732824546625786427, 2.326140682283345878]),
}  # fmt: skip


@pytest.mark.parametrize("case", MANY_DIGITS)
def test_the_asymmetric_top_reaches_the_many_digit_states(case):
    """J = diag(1, 1.4, 0.6), R₀ = exp(0.4, −0.3, 0.2), ω₀ = (0.5, −0.8, 4), m g l = 2 along (0.1, 0.2, 0.97), or 0."""
    weight_moment, t, expected = MANY_DIGITS[case]
    direction = np.array([0.1, 0.2, 0.97]) / np.linalg.norm([0.1, 0.2, 0.97])
    options = {"angular_velocity": (0.5, -0.8, 4.0), "orientation": exp_of([0.4, -0.3, 0.2])}
    if weight_moment == 0.0:
        problem = free_rigid_body((1, 1.4, 0.6), **options)
        np.testing.assert_allclose(problem.exact(t), expected, atol=1e-15)
    problem = heavy_top((1, 1.4, 0.6), 1.0, direction, weight_moment, **options)
    np.testing.assert_allclose(integrate(problem, [t]).y[:, -1], expected, atol=2e-13 * max(1, t))


def test_the_separatrix_of_the_free_body_is_followed():
    state = free_rigid_body((1, 2, 3), momentum=(1, 2, np.sqrt(3))).exact(1.0)
    np.testing.assert_allclose(
        state[4:], [0.501016763050283062, 2.644981817058572156, 0.867786489046787619], atol=2e-15
    )
    np.testing.assert_allclose(
        state[:4], [0.743283221999649432, 0.314609669554081300, 0.545605517126159291, 0.225533650257312883], atol=2e-15
    )


@pytest.mark.parametrize(
    ("moments", "velocity", "state"),
    [
        (
            (1, 2, 3),
            (2.0**-20, 1.0, 2.0**-21),
            [
                0.877582561890251,
                3.550872695640761e-07,
                0.4794255386042616,
                1.768555089942165e-07,
                6.133113974022949e-07,
                2.0000000000005334,
                6.680805222583359e-07,
            ],
        ),
        (
            (3, 2, 1),
            (2.0**-30, 1.0, -(2.0**-29)),
            [
                0.8775825618903728,
                3.454209160043329e-10,
                0.479425538604203,
                -6.935298233673955e-10,
                1.304844770036003e-09,
                2.0,
                -1.1978738230514265e-09,
            ],
        ),
    ],
)
def test_next_to_the_separatrix_the_free_body_keeps_all_digits(moments, velocity, state):
    """Against Euler's equations integrated with forty digits."""
    problem = free_rigid_body(moments, angular_velocity=velocity)
    np.testing.assert_allclose(problem.exact(1.0), state, rtol=2e-15, atol=5e-15)


def test_next_to_its_separatrix_the_pendulum_keeps_all_digits():
    """From straight up with a small rate: the angle grows like sinh."""
    delta, omega = 2.0**-30, np.sqrt(9.81)
    angle = pendulum(angle=np.pi, angular_velocity=delta).exact(1.0)[0]
    upside_down = np.pi + delta * np.sinh(omega) / omega
    np.testing.assert_allclose(angle - np.pi, upside_down - np.pi, rtol=1e-6)


def test_the_periods_of_free_bodies_are_the_known_ones():
    np.testing.assert_allclose(free_rigid_body().exact.period, 10.731465234882804, rtol=1e-15)
    tumbling = free_rigid_body((1, 2, 3), angular_velocity=(1e-3, 1, 1e-3))
    np.testing.assert_allclose(tumbling.exact.period, 55.061681107466372, rtol=1e-15)
    np.testing.assert_allclose(tumbling.exact(tumbling.exact.period)[4:], tumbling.y0[4:], atol=1e-13)


CORNERS = {
    "moments in any order": ([1.0, 1.9, 1.4], [0.3, -0.4, 0.5]),
    "a tensor with products of inertia": ([[1.7, 0.2, 0.2], [0.2, 1.7, 0.3], [0.2, 0.3, 1.1]], [-2.2, 0.1, 0.7]),
    "two equal moments, axis 3": ([1, 1, 1.5], [0.3, 0.4, 0.5]),
    "two equal moments, axis 1": ([1, 1.5, 1.5], [0.3, 0.4, 0.5]),
    "two equal moments, axis 2": ([1.5, 1, 1.5], [0.3, 0.4, 0.5]),
    "nearly equal moments": ([1, 1 + 1e-9, 2], [0.1, 0.2, 0.3]),
    "a sphere": ([1, 1, 1], [0.3, 0.4, 0.5]),
    "turning about the middle axis": ([1, 1.5, 2], [0, 0.4, 0]),
    "turning about an outer axis": ([1, 1.5, 2], [0, 0, -0.7]),
    "almost about an outer axis": ([1, 1.5, 2], [1e-9, 1e-9, 1]),
    "in a principal plane": ([1, 1.5, 2], [0.1, -0.5, 0]),
    "backwards": ([1, 1.5, 2], [-0.1, 0, -0.7]),
    "separatrix, other branch": ([1, 2, 3], [-1, -2, np.sqrt(3)]),
}


@pytest.mark.parametrize("case", CORNERS)
def test_the_exact_free_body_agrees_with_integration(case):
    inertia, momentum = CORNERS[case]
    problem = free_rigid_body(inertia, momentum=momentum, orientation=exp_of([0.5, 1.0, -0.7]))
    times = np.linspace(0.0, 5.0, 11)
    np.testing.assert_allclose(problem.exact(times), integrate(problem, times).y.T, atol=3e-13)


def test_the_fast_top_nutates_with_its_known_period_through_straight_down():
    problem = heavy_top()
    period = 0.74520694761676906
    orbit = integrate(problem, [1.01 * period])

    def height_and_rate(t):
        y = orbit.sol(t)
        up, w = np.array(so3.act_inverse(tuple(y[:4]), (0.0, 0.0, 1.0))), problem.velocity(t, y)[:3]
        return up[1], up @ np.cross(w, (0.0, 1.0, 0.0))

    assert height_and_rate(0.0)[1] == 0.0
    returned = brentq(lambda t: height_and_rate(t)[1], 0.99 * period, 1.01 * period, xtol=1e-15)
    np.testing.assert_allclose(returned, period, rtol=1e-9)
    lowest = brentq(lambda t: height_and_rate(t)[1], 0.49 * period, 0.51 * period, xtol=1e-15)
    np.testing.assert_allclose(lowest, period / 2, rtol=1e-9)
    assert height_and_rate(lowest)[0] + 1.0 < 1e-11


PENDULUMS = {
    "small": (1e-3, 0.0),
    "swinging": (1.0, -2.0),
    "wide": (3.1, 0.0),
    "turning over": (0.5, 8.0),
    "turning back": (-2.0, -9.0),
    "many turns": (40.0, 1.0),
}


@pytest.mark.parametrize("case", PENDULUMS)
def test_the_exact_pendulum_agrees_with_integration(case):
    angle, rate = PENDULUMS[case]
    problem = pendulum(2.0, 0.7, angle=angle, angular_velocity=rate)
    times = np.linspace(0.0, 5.0, 11)
    reference = solve_ivp(
        problem.velocity, (0.0, 5.0), problem.y0, method="DOP853", rtol=3e-14, atol=1e-16, t_eval=times
    )
    np.testing.assert_allclose(problem.exact(times), reference.y.T, atol=1e-11)
    np.testing.assert_allclose(problem.exact(problem.exact.period)[1], problem.y0[1], atol=1e-12)


def test_the_small_pendulum_has_the_period_of_galileo():
    np.testing.assert_allclose(
        pendulum(length=2.0, angle=1e-9).exact.period, 2 * np.pi * np.sqrt(2.0 / 9.81), rtol=1e-15
    )


@pytest.mark.parametrize("eccentricity", [0.0, 0.6, 0.95, 0.999])
def test_the_kepler_orbit_closes_after_one_period_and_solves_keplers_equation(eccentricity):
    problem = kepler(eccentricity, 2.0, 3.0)
    np.testing.assert_allclose(problem.exact.period, 2 * np.pi * np.sqrt(8.0 / 3.0), rtol=1e-15)
    fractions = np.linspace(-0.49, 0.49, 99)
    x, y, _, _ = problem.exact(fractions * problem.exact.period).T
    anomaly = np.arctan2(y / np.sqrt(1 - eccentricity**2), x + 2.0 * eccentricity)
    np.testing.assert_allclose(anomaly - eccentricity * np.sin(anomaly), 2 * np.pi * fractions, atol=2e-15)
    for t in fractions[::7] * problem.exact.period:
        np.testing.assert_allclose(
            problem.invariant_values(t, problem.exact(t)), problem.invariant_values(0.0, problem.y0), atol=1e-13
        )
    np.testing.assert_allclose(problem.exact(problem.exact.period), problem.y0, atol=1e-12 / (1 - eccentricity) ** 2)


@pytest.mark.parametrize("kc", [1.0, 0.7, 1e-3, 1e-8])
def test_amplitude_and_integral_of_the_first_kind_invert_each_other(kc):
    import mpmath

    for u in (0.1, 1.0, 5.0, -7.0):
        with mpmath.workdps(40):
            sn = mpmath.ellipfun("sn", u, m=1 - mpmath.mpf(kc) ** 2)
        np.testing.assert_allclose(np.sin(amplitude(u, kc)), float(sn), atol=4e-15)
        np.testing.assert_allclose(
            np.sin(amplitude(first_kind(u, kc), kc)), np.sin(u), atol=1e-14 * quarter_period(kc) / max(kc, 0.1)
        )
