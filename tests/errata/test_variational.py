"""Errata of Moiseev et al. (2021), variational and Lie-group integrators: printed forms, corrected ones, claims."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import expm

E = np.eye(3)


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def slope(errors):
    """Orders seen under halvings of the step."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


# --- the Cayley map (16) ----------------------------------------------------------------------------------------------


def turn(t):
    """A body angular velocity."""
    return np.array([np.sin(1.3 * t), np.cos(0.7 * t), 0.5 + 0.4 * t])


def cayley_runge_kutta(half, steps, end=2.0):
    """R(2) of Ṙ = R ω̃ by RK4 on R τ(u), τ(u) = (E − s ũ)⁻¹ (E + s ũ), s = ½ or 1, u̇ = dcay⁻¹_{−u} ω."""
    s, h, R = (0.5 if half else 1.0), end / steps, np.eye(3)
    rate = lambda u, w: w + 0.5 * np.cross(u, w) + 0.25 * u * (u @ w)  # noqa: E731
    for k in range(steps):
        t = k * h
        a = rate(np.zeros(3), turn(t))
        b = rate(h / 2 * a, turn(t + h / 2))
        c = rate(h / 2 * b, turn(t + h / 2))
        u = h / 6 * (a + 2 * b + 2 * c + rate(h * c, turn(t + h)))
        R = R @ np.linalg.solve(E - s * skew(u), E + s * skew(u))
    return R


def exact_turn(end=2.0, steps=4000):
    """Magnus of order 4."""
    h, R = end / steps, np.eye(3)
    for k in range(steps):
        early, late = (turn((k + 0.5 + c) * h) for c in (-np.sqrt(3) / 6, np.sqrt(3) / 6))
        R = R @ expm(skew(h / 2 * (early + late) + np.sqrt(3) / 12 * h**2 * np.cross(early, late)))
    return R


def test_the_cayley_map_16_lacks_a_half():
    """(e − ξ)⁻¹(e + ξ) turns twice as far: its Runge–Kutta method is wrong by O(1) at every step; with ξ/2, order 4."""
    true, x = exact_turn(), 1e-4 * np.array([0.3, -0.5, 0.8])
    assert np.linalg.solve(E - skew(x), E + skew(x)) - E == pytest.approx(2 * skew(x), abs=1e-7)
    errors = {half: [np.abs(cayley_runge_kutta(half, n) - true).max() for n in (20, 40, 80)] for half in (True, False)}
    assert slope(errors[True]) == pytest.approx(4.0, abs=0.2)
    assert min(errors[False]) > 0.3


# --- discrete Lagrangians ---------------------------------------------------------------------------------------------


def pendulum(h, steps, nodes, weights, q=1.2, p=0.3):
    """(q, p) of L_d = h Σ w_j L(q_k + c_j (q_{k+1} − q_k), (q_{k+1} − q_k)/h), V = 1 − cos q, at every step."""
    found = [(q, p)]
    for _ in range(steps):
        d = h * p
        for _ in range(7):
            place = q + np.array(nodes) * d
            residual = d / h + h * np.sum(np.array(weights) * (1 - np.array(nodes)) * np.sin(place)) - p
            slope_ = 1 / h + h * np.sum(np.array(weights) * np.array(nodes) * (1 - np.array(nodes)) * np.cos(place))
            d -= residual / slope_
        place = q + np.array(nodes) * d
        p = d / h - h * np.sum(np.array(weights) * np.array(nodes) * np.sin(place))
        q = q + d
        found.append((q, p))
    return np.array(found)


def orders(nodes, weights):
    run = solve_ivp(lambda t, y: (y[1], -np.sin(y[0])), (0, 2), (1.2, 0.3), "DOP853", rtol=1e-12, atol=1e-12)
    true = run.y[:, -1]
    return slope([np.abs(pendulum(2.0 / n, n, nodes, weights)[-1] - true).max() for n in (25, 50, 100, 200)])


def test_the_quadrature_point_15_costs_an_order_unless_it_is_the_middle():
    """q_{k+α} = (1 − α) q_k + α q_{k+1}: order 2 for α = ½ and 1 for any other."""
    assert orders([0.5], [1.0]) == pytest.approx(2.0, abs=0.1)
    for alpha in (0.0, 0.25, 1.0):
        assert orders([alpha], [1.0]) == pytest.approx(1.0, abs=0.15)


def test_a_better_quadrature_alone_gives_no_better_order():
    """The paper: any accuracy by correcting the quadrature. Simpson's and Gauss' rules on the straight line between
    two positions stay at order 2; the line needs inner points as well (`DEL_GAUSS2` and its family).
    """
    third = np.sqrt(3) / 6
    assert orders([0.0, 0.5, 1.0], [1 / 6, 2 / 3, 1 / 6]) == pytest.approx(2.0, abs=0.1)
    assert orders([0.5 - third, 0.5 + third], [0.5, 0.5]) == pytest.approx(2.0, abs=0.1)


def test_the_energy_is_bounded_and_not_conserved():
    """Its error is O(h²) and has no drift over 10⁴ steps."""

    def excess(h, steps):
        q, p = pendulum(h, steps, [0.5], [1.0]).T
        found = 0.5 * p**2 - np.cos(q)
        return found - found[0]

    coarse, fine = excess(0.2, 10_000), excess(0.1, 1000)
    assert np.abs(coarse).max() > 5e-4
    assert np.abs(coarse).max() / np.abs(fine).max() == pytest.approx(4.0, rel=0.1)
    early, late = np.abs(coarse[:2000]).max(), np.abs(coarse[-2000:]).max()
    assert late == pytest.approx(early, rel=1e-2)


def test_momenta_are_exact_for_symmetries_of_the_discrete_lagrangian_only():
    """A free particle by the midpoint rule: straight in Cartesian coordinates, and in polar ones, whose straight lines
    are not the particle's, only the angular momentum is exact.
    """

    def polar(h, steps):
        """L_d = h (½ ((r₁ − r₀)/h)² + ½ ((r₀ + r₁)/2)² ((φ₁ − φ₀)/h)²), from r = 1, ṙ = 0, φ̇ = 1."""
        r, angle, p, momentum = 1.0, 0.0, 0.0, 1.0
        found = []
        for _ in range(steps):
            d = h * p
            for _ in range(60):
                middle = r + d / 2
                turn_ = h * momentum / middle**2
                residual = d / h - middle * turn_**2 / h / 2 - p
                d -= residual * h
            middle = r + d / 2
            turn_ = h * momentum / middle**2
            p = d / h + middle * turn_**2 / h / 2
            r, angle = r + d, angle + turn_
            x_dot = p * np.cos(angle) - momentum / r * np.sin(angle)
            found.append((x_dot, momentum))
        return np.array(found)

    off = [np.abs(polar(h, round(2 / h))[:, 0]).max() for h in (0.1, 0.05)]
    assert off[1] > 1e-5
    assert off[0] / off[1] == pytest.approx(4.0, rel=0.2)


# --- asynchronous steps -----------------------------------------------------------------------------------------------


def monodromy(stiff, soft, h, n):
    """One coarse step: half a kick of the soft spring, n fine steps of the stiff one, half a kick; unit mass."""
    kick = lambda k, h: np.array([[1.0, 0.0], [-k * h, 1.0]])  # noqa: E731
    drift = np.array([[1.0, h], [0.0, 1.0]])
    fine = kick(stiff, h / 2) @ drift @ kick(stiff, h / 2)
    half = kick(soft, n * h / 2)
    return half @ np.linalg.matrix_power(fine, n) @ half


def test_steps_of_their_own_for_every_element_can_pump_energy():
    """The abstract: each element at the step its own stability allows. With hω of 0.06 and 0.62 on the two springs the
    energy doubles every six coarse steps where one is half a period of the stiff spring; shorter ones are stable.
    """
    stiff, soft, h = np.pi**2, np.pi**2 / 25, 0.02
    radius = lambda n: np.abs(np.linalg.eigvals(monodromy(stiff, soft, h, n))).max()  # noqa: E731
    assert (h * np.sqrt(stiff), 49 * h * np.sqrt(soft)) == pytest.approx((0.063, 0.616), abs=1e-3)
    assert radius(49) > 1.06
    assert max(radius(n) for n in range(30, 49)) == pytest.approx(1.0, abs=1e-7)
