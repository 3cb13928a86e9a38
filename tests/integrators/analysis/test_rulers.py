"""The rulers measure what they say: known answers, and cases where they must not be fooled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.signal import lfilter

from integrators.analysis import (
    canonical_form,
    complex_derivative,
    cotangent_form,
    derivative,
    energy_drift,
    growth_exponent,
    measured_local_order,
    measured_order,
    reversibility_defect,
    smooth_average,
    symmetry_defect,
    symplectic_defect,
)

# --- order ----------------------------------------------------------------------------------------------------------


def _solve(order: int) -> Any:
    """Truncated Taylor steps of y' = y on [0, 1]."""

    def solve(n: int) -> float:
        factor, term = 1.0, 1.0
        for k in range(1, order + 1):
            term /= n * k
            factor += term
        return factor**n

    return solve


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_measured_order_is_the_order_of_a_taylor_method(order: int) -> None:
    assert measured_order(_solve(order), [16, 32, 64], reference=np.e).order == pytest.approx(order, abs=0.05)
    assert measured_order(_solve(order), [16, 32, 64]).order == pytest.approx(order, abs=0.05)


def test_errors_at_the_floor_are_left_out() -> None:
    result = measured_order(_solve(4), [8, 16, 32, 10_000], reference=np.e, floor=1e-11)
    assert np.isnan(result.slopes[-1])
    assert result.order == pytest.approx(4, abs=0.1)
    with pytest.raises(ValueError, match="above the floor"):
        _ = measured_order(_solve(4), [10_000, 20_000], reference=np.e, floor=1e-10).order
    with pytest.raises(ValueError, match="rising"):
        measured_order(_solve(4), [16, 8])


def test_local_order_is_one_less_than_the_power_of_the_local_error() -> None:
    result = measured_local_order(lambda h: 1 + h + h * h / 2, np.exp, [0.1, 0.05, 0.025])
    assert result.order == pytest.approx(2, abs=0.05)


# --- drift ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memory", [0.0, 0.9, 0.99, 0.995])
def test_sigma_is_the_scatter_of_the_slope_for_correlated_noise(memory: float) -> None:
    rng = np.random.default_rng(5)
    z = []
    for _ in range(200):
        noise = lfilter([1.0], [1.0, -memory], rng.normal(size=6000))[2000:]
        drift = energy_drift(np.arange(4000.0), noise)
        z.append(drift.slope / drift.sigma)
    assert 0.8 < np.std(z) < 1.25
    assert np.mean(np.abs(z) > 3) <= 0.025


@pytest.mark.parametrize("frequency", [0.02, 0.1, 1.0, 7.3])
def test_a_bounded_oscillation_has_no_significant_slope_and_a_small_drift_in_it_has(frequency: float) -> None:
    t = np.linspace(0.0, 1000.0, 5001)
    assert energy_drift(t, np.sin(frequency * t)).significance < 3
    drifting = energy_drift(t, np.sin(frequency * t) + 0.03 * t)
    assert drifting.significance > 5
    assert drifting.slope == pytest.approx(0.03, rel=0.1)


def test_a_slope_is_independent_of_the_unit_of_time_and_of_its_direction() -> None:
    rng = np.random.default_rng(2)
    t, e = np.linspace(0.0, 10.0, 800), rng.normal(size=800)
    forward, scaled, backward = energy_drift(t, e), energy_drift(1000 * t, e), energy_drift(-t, e)
    assert scaled.slope == pytest.approx(forward.slope / 1000)
    assert scaled.significance == pytest.approx(forward.significance)
    assert backward.slope == pytest.approx(-forward.slope)


def test_samples_that_say_nothing_are_refused() -> None:
    t = np.arange(20.0)
    for bad_t, bad_e, message in (
        (t, t[:-1], "same length"),
        (t, np.where(t == 3, np.nan, t), "not finite"),
        (t[:5], t[:5], "at least 8"),
        (np.zeros(20), t, "must grow"),
    ):
        with pytest.raises(ValueError, match=message):
            energy_drift(bad_t, bad_e)


def test_smooth_average_removes_quasi_periodic_oscillation() -> None:
    n = np.arange(20_000)
    oscillation = 1.0 + np.cos(0.7 * n) + 0.3 * np.sin(np.sqrt(2) * n)
    assert abs(smooth_average(oscillation) - 1.0) < 1e-13
    assert abs(oscillation.mean() - 1.0) > 1e-6


def test_growth_exponents_of_walks_and_drifts() -> None:
    n = np.geomspace(100, 1e5, 12)
    assert growth_exponent(n, 3e-16 * n**0.5)[0] == pytest.approx(0.5)
    assert growth_exponent(n, 1e-20 * n)[0] == pytest.approx(1.0)
    with pytest.raises(ValueError, match="positive"):
        growth_exponent([1, 2, 3], [0, 1, 2])


# --- symplecticity and reversibility ----------------------------------------------------------------------------------


def _pendulum(method: str, z: Any, h: float) -> Any:
    q, p = z
    if method == "verlet":
        p = p - 0.5 * h * np.sin(q)
        q = q + h * p
        return np.array([q, p - 0.5 * h * np.sin(q)])
    return np.array([q + h * p, p - h * np.sin(q)])


def test_derivatives_by_differences_and_by_complex_steps_agree() -> None:
    z = np.array([0.7, -0.3])
    by_differences = derivative(lambda y: _pendulum("verlet", y, 0.3), z, 2)
    exactly = complex_derivative(lambda y: _pendulum("verlet", y, 0.3), z, 2)
    assert np.allclose(by_differences, exactly, atol=1e-12)


def test_verlet_is_symplectic_and_euler_is_not() -> None:
    z, form = np.array([0.7, -0.3]), canonical_form(1)
    defects = [
        symplectic_defect(complex_derivative(lambda y, m=m: _pendulum(m, y, 0.3), z, 2), form)
        for m in ("verlet", "euler")
    ]
    assert defects[0] < 1e-15
    assert defects[1] > 1e-2


def test_the_exact_rotation_of_a_free_body_is_symplectic_on_the_cotangent_bundle_of_rotations() -> None:
    """A spherical body turns by exp(t m) with constant m; the two-form needs its bracket term."""
    p0, h = np.array([0.3, -0.5, 0.8]), 0.7

    def hat(x: Any) -> Any:
        return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])

    def flow(y: Any) -> Any:
        R, p = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ expm(hat(h * p))).ravel(), p])

    def retract(y: Any, x: Any) -> Any:
        return np.concatenate([(y[:9].reshape(3, 3) @ expm(hat(x[:3]))).ravel(), y[9:] + x[3:]])

    def increment(y: Any, z: Any) -> Any:
        from scipy.spatial.transform import Rotation

        return np.concatenate(
            [Rotation.from_matrix(y[:9].reshape(3, 3).T @ z[:9].reshape(3, 3)).as_rotvec(), z[9:] - y[9:]]
        )

    y = np.concatenate([np.eye(3).ravel(), p0])
    J = derivative(flow, y, 6, retract, increment, delta=2.0**-6)
    form = cotangent_form(p0, np.cross)
    assert symplectic_defect(J, form) < 1e-12
    assert symplectic_defect(J, canonical_form(3)) > 0.1


def test_symmetric_steps_lead_back_and_others_do_not() -> None:
    z = np.array([0.7, -0.3])
    assert symmetry_defect(lambda y, h: _pendulum("verlet", y, h), z, 0.2, steps=50) < 1e-14
    assert symmetry_defect(lambda y, h: _pendulum("euler", y, h), z, 0.2) > 1e-3
    assert reversibility_defect(lambda y, h: _pendulum("verlet", y, h), lambda y: y * [1, -1], z, 0.2, steps=50) < 1e-14


def test_steps_that_work_in_place_lead_back_no_better() -> None:
    def euler(y: Any, h: float) -> Any:
        y += h * np.array([y[1], -y[0]])
        return y

    start = np.array([1.0, 0.0])
    assert symmetry_defect(euler, start, 0.1, 10) > 0.1
    assert reversibility_defect(euler, lambda y: y * [1, -1], start, 0.1, 10) > 0.1
    assert start.tolist() == [1.0, 0.0]


def test_an_order_needs_errors_above_the_floor_and_a_finest_one() -> None:
    with pytest.raises(ValueError, match="no two errors above the floor"):
        measured_order(lambda n: {8: 2e-14, 16: 4e-13}[n], [8, 16], reference=0.0).order  # noqa: B018
    with pytest.raises(ValueError, match="the error of the finest step is not a number"):
        measured_order(lambda n: {8: 1e-2, 16: 2.5e-3, 32: np.nan}[n], [8, 16, 32], reference=0.0).order  # noqa: B018


def test_what_rulers_are_given_is_named() -> None:
    with pytest.raises(TypeError, match="distance: 3, expected a function of two states"):
        measured_order(lambda n: 1 / n, [8, 16], distance=3)
    with pytest.raises(ValueError, match="floor: nan, expected a non-negative number"):
        measured_order(lambda n: 1 / n, [8, 16], floor=np.nan)
    with pytest.raises(ValueError, match="blocks: inf, expected an integer of at least 8"):
        energy_drift(np.arange(20.0), np.arange(20.0), blocks=np.inf)
    with pytest.raises(TypeError, match="retract: None, expected a function"):
        derivative(np.sin, [1.0], 1, retract=None)
    with pytest.raises(ValueError, match="expected a positive number"):
        derivative(np.sin, [1.0], 1, delta=0.0)


def test_forms_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="square matrices of one size"):
        symplectic_defect(np.eye(4), canonical_form(1))


def test_a_constant_does_not_drift_and_one_size_does_not_grow():
    """A constant had the significance of its rounding, up to 1.3."""
    for count in (80, 101, 333):
        for value in (0.1, 1.0 / 3.0, 1e9):
            found = energy_drift(np.linspace(0.0, 10.0, count), np.full(count, value))
            assert (found.slope, found.significance, found.mean) == (0.0, 0.0, value)
    with pytest.raises(ValueError, match="n: 2 alone"):
        growth_exponent([2, 2, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="no samples"):
        smooth_average([])
