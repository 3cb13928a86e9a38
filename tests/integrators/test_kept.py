"""The energy that a canonical problem of the user's watches is kept, or a doubt says that it is not."""

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.problem import lagrangian_problem
from liegroup import product, rn
from mechanics.nonholonomic.user import nonholonomic_system

MASSES = (3.0, 4.0, 5.0)
PYTHAGOREAN = np.array([1.0, 3, -2, -1, 1, -1, 0, 0, 0, 0, 0, 0])


def attracted(t, y):
    a = [[0.0, 0.0] for _ in MASSES]
    for i in range(3):
        for j in range(i):
            dx, dy = y[2 * j] - y[2 * i], y[2 * j + 1] - y[2 * i + 1]
            w = (dx * dx + dy * dy) ** -1.5
            for k, d in ((0, dx), (1, dy)):
                a[i][k] += MASSES[j] * w * d
                a[j][k] -= MASSES[i] * w * d
    return [*y[6:12], *a[0], *a[1], *a[2]]


def energy(t, y):
    q, v = np.reshape(y, (2, 3, 2))
    pairs = [(i, j) for i in range(3) for j in range(i)]
    return sum(0.5 * MASSES[i] * v[i] @ v[i] for i in range(3)) - sum(
        MASSES[i] * MASSES[j] / np.linalg.norm(q[i] - q[j]) for i, j in pairs
    )


@pytest.mark.parametrize("method", ["SPLIT_SRKN6_11B", "SPLIT_SOFSPA6", "SPLIT_STRANG_DKD"])
def test_a_step_that_is_too_long_for_a_close_encounter_is_a_doubt(method):
    """Positions are off by up to a third of their way."""
    problem = Problem(rn(12), PYTHAGOREAN, attracted, canonical=True, invariants={"energy": energy})
    run = integrate(problem, method, (0.0, 3.0), 1e-3)
    assert "energy" in [doubt.name for doubt in run.doubts]
    assert 1.8 < run.doubts[0].time < 1.9
    assert integrate(problem, method, (0.0, 1.5), 1e-3).success
    assert integrate(problem, "GAUSS8", (0.0, 2.0), 1e-2).success


def test_what_is_not_kept_by_the_field_is_not_asked():
    def field(t, y):
        return [y[1], -y[0] - 0.3 * y[1]]

    def oscillator(t, y):
        return 0.5 * (y[0] ** 2 + y[1] ** 2)

    damped = Problem(rn(2), [1.0, 0.0], field, canonical=True, invariants={"energy": oscillator})
    assert integrate(damped, "RKMK4", (0.0, 20.0), 0.01).success
    kept = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], canonical=True, invariants={"energy": oscillator})
    assert integrate(kept, "SPLIT_STRANG_DKD", (0.0, 50.0), 0.5).success  # a band of 7 %
    assert [doubt.name for doubt in integrate(kept, "RKMK4", (0.0, 500.0), 0.5).doubts][:1] == ["energy"]


@pytest.mark.parametrize(
    "force", [np.sin, lambda t: 0.5 * t, lambda t: 3.0 * np.exp(-20.0 * (t - 2.0) ** 2), lambda t: 0.0 * t]
)
def test_a_force_of_time_that_does_not_act_at_the_start_is_no_doubt(force):
    """At t = 0 the energy is kept by the field; what the motion does with the energy later is asked there."""
    own = Problem(
        product(rn(1), rn(1)), [0.5, 0.0], lambda t, y: [y[1], -4.0 * y[0] + force(t)], canonical=True,
        invariants={"energy": lambda t, y: 0.5 * y[1] ** 2 + 2.0 * y[0] ** 2},
    )  # fmt: skip
    skate = nonholonomic_system(
        rn(3), lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2),
        lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], q0=[0.0, 0.0, 0.0], v0=[0.3, 0.0, 1.0],
        force=lambda t, q, v: [force(t), 0.0, 0.0],
    )  # fmt: skip
    for problem in (own, skate.problem()):
        assert integrate(problem, "RKMK4", (0.0, 4.0), 0.01).success


@pytest.mark.parametrize("mass", [1e-10, 1.0, 1e10])
def test_a_damped_mass_of_any_size_is_no_doubt(mass):
    posed = lagrangian_problem(
        lambda t, q, v, p: mass * (0.5 * v[0] ** 2 - 0.5 * q[0] ** 2), [1.0], [0.5],
        force=lambda t, q, v, p: [-0.2 * mass * v[0]],
    )  # fmt: skip
    run = integrate(posed, "DEL_GAUSS3", (0.0, 2.0), 0.01)
    assert run.success, run.message


def test_a_run_that_loses_energy_is_doubtful_beside_a_field_that_reads_the_time_in_vain():
    slow = Problem(
        product(rn(1), rn(1)), [1.0, 0.0], lambda t, y: [y[1], -y[0] + 0.0 * np.sin(t)], canonical=True,
        invariants={"energy": lambda t, y: 0.5 * (y[1] ** 2 + y[0] ** 2)},
    )  # fmt: skip
    run = integrate(slow, "RKMK4", (0.0, 400.0), 0.8)
    assert "energy" in {doubt.name for doubt in run.doubts}


def test_a_short_blow_is_no_doubt():
    """0.2 ms in a run of a second, of which a thousand states are saved."""
    blown = Problem(
        product(rn(1), rn(1)), [0.5, 0.0],
        lambda t, y: [y[1], -4.0 * y[0] + 4e3 * np.exp(-(((t - 1.5e-3) / 1e-4) ** 2))], canonical=True,
        invariants={"energy": lambda t, y: 0.5 * y[1] ** 2 + 2.0 * y[0] ** 2},
    )  # fmt: skip
    assert integrate(blown, "RKMK4", (0.0, 1.0), 2e-5, save_every=50).success


def orbit(metre, second, thrust):
    """A satellite in low orbit, with a thrust along its velocity, m/s²; units of length and time in m and s."""
    gm, thrust = 3.986004418e14 * metre**3 / second**2, thrust * metre / second**2

    def field(t, y):
        r, v = (np.sqrt(y[k] ** 2 + y[k + 1] ** 2 + y[k + 2] ** 2) for k in (0, 3))
        return [*y[3:6], *(-gm * y[i] / r**3 + thrust * y[3 + i] / v for i in range(3))]

    def energy(t, y):
        return 0.5 * (y[3] ** 2 + y[4] ** 2 + y[5] ** 2) - gm / np.sqrt(y[0] ** 2 + y[1] ** 2 + y[2] ** 2)

    a = 7e6 * metre
    rate = np.sqrt(gm / a**3)
    start = [a, 0.0, 0.0, 0.0, 1.1 * a * rate, 0.0]
    posed = Problem(rn(6), start, field, canonical=True, invariants={"energy": energy})
    return posed, 2.0 * np.pi / rate, 1e-12 * a


@pytest.mark.parametrize(("metre", "second"), [(1.0, 1.0), (1e3, 1e3), (1e-3, 1.0), (1 / 6.4e6, 1 / 806.8)])
def test_a_weak_thrust_in_a_large_orbit_is_no_doubt(metre, second):
    """0.01 m/s² beside a metre are nothing of 3e7 J/kg, beside an orbit they are: the energy changes by 9 %."""
    pushed, period, atol = orbit(metre, second, 0.01)
    run = integrate(pushed, "RKMK_DOP853", (0.0, 6.0 * period), rtol=1e-9, atol=atol)
    assert run.error("energy") > 0.08
    assert run.success, run.message
    free, *_ = orbit(metre, second, 0.0)
    crude = integrate(free, "RKMK4", (0.0, 100.0 * period), period / 14.0)
    assert "energy" in [doubt.name for doubt in crude.doubts]


def test_a_sail_that_is_given_beside_its_lagrangian_is_no_doubt():
    def pressure(t, q, v, p):
        r2 = q[0] ** 2 + q[1] ** 2
        c, s = np.cos(0.6 * np.sin(3e-7 * t)), np.sin(0.6 * np.sin(3e-7 * t))
        a = p[1] * c**2 / r2**1.5
        return [a * (c * q[0] - s * q[1]), a * (s * q[0] + c * q[1])]

    au, gm = 1.5e11, 1.327e20
    sail = lagrangian_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) + p[0] / (q[0] ** 2 + q[1] ** 2) ** 0.5, [au, 0.0],
        [0.0, (gm / au) ** 0.5], parameters=[gm, 1e-3 * au**2], force=pressure,
    )  # fmt: skip
    run = integrate(sail, "SPLIT_STRANG", (0.0, 5e7), 5e4)
    assert run.error("energy") > 0.2
    assert run.success, run.message


def test_a_drive_that_is_too_weak_to_be_seen_at_once_is_no_doubt_in_a_long_run():
    """At the start, and near it, it has no power to speak of; 1e-5 of the energy in a second, 8 % in the whole run."""
    driven = Problem(
        rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0] + 2e-5 * y[1]], canonical=True,
        invariants={"energy": lambda t, y: 0.5 * (y[0] ** 2 + y[1] ** 2)},
    )  # fmt: skip
    run = integrate(driven, "RKMK_GAUSS3", (0.0, 4e3), 0.5)
    assert run.error("energy") > 0.07
    assert run.success, run.message
