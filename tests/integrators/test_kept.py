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
