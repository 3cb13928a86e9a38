"""Contact and friction laws against their closed forms."""

import mpmath
import numpy as np
import pytest
import scipy.integrate

from mechanics.forces.laws import (
    HERTZ,
    HUNT_CROSSLEY,
    KELVIN_VOIGT,
    SOFT,
    STRIBECK,
    TANH,
    friction_ratio,
    hunt_crossley_factor,
    normal_force,
    soft_numbers,
)


def bounce(law, stiffness, damping, speed, mass=1.0):
    """Speed after an impact over speed before it, without gravity."""

    def field(t, y):
        force, _, _ = normal_force(law, stiffness, damping, 1.0, -y[0], -y[1])
        return [y[1], force / mass]

    leaves = lambda t, y: y[0]  # noqa: E731
    leaves.terminal, leaves.direction = True, 1
    solution = scipy.integrate.solve_ivp(
        field, (0, 10), [-1e-13, -speed], events=leaves, rtol=1e-11, atol=1e-13, max_step=1e-3
    )
    return solution.y[1, -1] / speed


@pytest.mark.parametrize("zeta", [0.05, 0.3, 0.6])
def test_kelvin_voigt_restitution_is_the_closed_form(zeta):
    """The clamped law: contact ends when the force would pull."""
    root = np.sqrt(1 - zeta**2)
    exact = np.exp(-zeta / root * (np.pi - 2 * np.arcsin(zeta)))
    assert bounce(KELVIN_VOIGT, 1e4, 2 * zeta * 100.0, 2.0) == pytest.approx(exact, abs=2e-6)


@pytest.mark.parametrize("law", [HUNT_CROSSLEY, HERTZ])
@pytest.mark.parametrize("restitution", [0.3, 0.7, 0.95])
def test_hunt_crossley_has_the_wanted_restitution_at_the_reference_speed(law, restitution):
    factor = hunt_crossley_factor(restitution, speed=2.0)
    assert bounce(law, 1e4, factor, 2.0) == pytest.approx(restitution, abs=1e-6)


@pytest.mark.parametrize("e", [1e-9, 0.0199, 0.02, 0.026, 0.3, 0.8, 0.999, 1 - 1e-7, 1 - 1e-12, 1 - 2**-53])
def test_the_factor_is_right_from_no_restitution_to_all_but_all(e):
    """Against 60 digits; α by bisection between 1 − e, which is below it, and 1/e, in w = −ln(1 − α e)."""
    with mpmath.workdps(60):
        exact = mpmath.mpf(e)
        low, high = -mpmath.log1p(-exact * (1 - exact)), (1 + exact) / exact
        for _ in range(230):
            w = (low + high) / 2
            a = -mpmath.expm1(-w) / exact
            low, high = (w, high) if mpmath.log1p(a) + w < a * (1 + exact) else (low, w)
        error = mpmath.mpf(hunt_crossley_factor(e, speed=1.0)) / (-mpmath.expm1(-high) / exact) - 1
    assert abs(error) < 2e-15


def test_restitution_outside_its_range_is_refused():
    for bad in (0.0, 1.1, float("nan")):
        with pytest.raises(ValueError, match="restitution"):
            hunt_crossley_factor(bad, speed=1.0)
    with pytest.raises(ValueError, match="speed"):
        hunt_crossley_factor(0.5, speed=0.0)


def test_normal_forces_only_push_and_vanish_outside():
    d, d_dot = np.meshgrid(np.linspace(-1, 1, 41), np.linspace(-5, 5, 41))
    for law in (KELVIN_VOIGT, HUNT_CROSSLEY, HERTZ, SOFT):
        force, stored, _ = normal_force(law, 100.0, 3.0, 0.5, d, d_dot)
        assert (force >= 0).all()
        assert (force[d <= 0] == 0).all()
        assert (stored[d <= 0] == 0).all()


@pytest.mark.parametrize("law", [KELVIN_VOIGT, HUNT_CROSSLEY, HERTZ, SOFT])
def test_springs_are_gradients_of_their_energies(law):
    for d in (1e-3, 0.2, 0.49, 0.5, 0.51, 3.0):
        force, stored, spring = normal_force(law, 100.0, 0.0, 0.5, d + 1e-30j, 0.0)
        assert force == spring
        assert stored.imag / 1e-30 == pytest.approx(spring.real, rel=1e-12)


def test_the_soft_law_has_no_jump_of_slopes_and_becomes_linear():
    k, c, w = 100.0, 3.0, 0.5
    rate = lambda d, s: normal_force(SOFT, k, c, w, d + 1e-30j, s)[0].imag / 1e-30  # noqa: E731
    for edge in (0.0, w):
        assert rate(edge - 1e-9, 0.7) == pytest.approx(rate(edge + 1e-9, 0.7), abs=1e-5)
    assert normal_force(SOFT, k, c, w, 0.8, 0.7)[0] == k * 0.8 + c * 0.7
    numbers = soft_numbers(2.0, time_constant=0.1, damping_ratio=0.5)
    roots = np.roots([2.0, numbers["damping"], numbers["stiffness"]])
    assert roots.real == pytest.approx(-10.0)
    assert np.abs(roots) == pytest.approx(20.0)


def test_stribeck_peaks_at_the_static_coefficient():
    x = np.linspace(0, 20, 20001)
    ratio = friction_ratio(STRIBECK, 0.9, 0.6, 1.0, x)
    assert ratio.max() == pytest.approx(0.8996, abs=2e-4)
    assert x[np.argmax(ratio)] == pytest.approx(1.007, abs=5e-3)
    assert ratio[-1] == pytest.approx(0.6, abs=1e-2)
    assert ratio[0] == 0.0


def test_regularised_friction_creeps_at_the_known_speed_on_a_slope():
    """tan θ = μ tanh(s/v_s) at the creep speed."""
    slope, mu, v_s = 0.3, 0.6, 0.01
    creep = v_s * np.arctanh(np.tan(slope) / mu)
    assert friction_ratio(TANH, 0.0, mu, v_s, creep) == pytest.approx(np.tan(slope), rel=1e-12)
