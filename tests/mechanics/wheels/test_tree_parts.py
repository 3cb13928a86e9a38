"""Trees on wheels with multipliers: parts against derivatives of dense matrices, and the variational steps on them."""

import numpy as np
import pytest

from integrators import integrate
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.problem.parts import constrained
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.mobility import mass_matrix
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.mechanism import Mechanism
from mechanics.systems import WHEELED
from mechanics.systems.rolling import two_wheeled_pendulum as pendulum
from mechanics.systems.rolling import wheeled_car
from mechanics.testing import geared


def blocks(problem, y):
    n, m, k = problem.sizes
    at, out = constrained(n, m, k), np.zeros(problem.parts_size)
    problem.parts.python(0.0, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return {
        name: out[start:end] for name, start, end in zip(at._fields, at, (*at[1:], at.SIZE), strict=True) if end > start
    }


def somewhere(made, seed):
    """A closed configuration off home, and an admissible velocity."""
    rng = np.random.default_rng(seed)
    v, _ = made.projected_velocity(made.home, rng.normal(size=made.tree.nv))
    q = made.assemble(moved_by(made.tree, made.home, 0.2 * v)).q
    return q, made.projected_velocity(q, rng.normal(size=made.tree.nv))[0]


@pytest.mark.parametrize("name", WHEELED)
def test_parts_are_those_of_dense_matrices(name):
    made = WHEELED[name]()
    if name == "two-wheeled-pendulum":
        tree = geared(made.tree, np.random.default_rng(0), 0.1)
        made = Mechanism(tree, made.equations.closures, made.home, made.elements)
    q, v = somewhere(made, 1)
    n, h = made.tree.nv, 1e-30
    problem = constrained_problem(made, q, v)
    p = blocks(problem, problem.y0)
    M, A = p["MASS"].reshape(n, n), p["ROWS"].reshape(-1, n)
    np.testing.assert_allclose(M, mass_matrix(made.tree, q), rtol=1e-12, atol=1e-12 * np.abs(M).max())
    D = [
        0.5 * v @ (mass_matrix(made.tree, moved_by(made.tree, q.astype(complex), 1j * h * e)).imag / h) @ v
        for e in np.eye(n)
    ]
    np.testing.assert_allclose(p["KINETIC"], D, rtol=1e-11, atol=1e-11 * (1 + np.abs(D).max()))
    assert np.abs(A @ v).max() < 1e-12 * (1 + np.abs(v).max() * np.abs(A).max())
    # with the field in linear time: M v̇ + r − D = F − G + Aᵀ λ
    out = np.zeros(2 * n)
    problem.field.python(0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    rest = M @ out[n:] + p["RATE"] - p["KINETIC"] - p["FORCE"] + p["GRADIENT"]
    force = np.linalg.lstsq(A.T, rest, rcond=None)[0]
    assert np.abs(rest - A.T @ force).max() < 1e-10 * (1 + np.abs(rest).max())
    assert np.abs(A @ out[n:] + p["BIAS"]).max() < 1e-10 * (1 + np.abs(out).max())
    if not made.elements:  # springs are among the forces
        energy = problem.invariant_values(0.0, problem.y0)[0]
        assert p["POTENTIAL"][0] + 0.5 * v @ M @ v == pytest.approx(energy, rel=1e-12)


@pytest.mark.parametrize("name", ["two-wheeled-pendulum", "wheeled-car"])
def test_gradients_are_those_of_the_potential(name):
    made = WHEELED[name]()
    q, h = somewhere(made, 2)[0], 1e-6

    problem = constrained_problem(made)

    def potential(x):
        return problem.invariant_values(0.0, np.concatenate([x, np.zeros(made.tree.nv)]))[0]

    p = blocks(problem, np.concatenate([q, np.zeros(made.tree.nv)]))
    slopes = [
        (potential(moved_by(made.tree, q, h * e)) - potential(moved_by(made.tree, q, -h * e))) / (2 * h)
        for e in np.eye(made.tree.nv)
    ]
    np.testing.assert_allclose(p["GRADIENT"] - p["FORCE"], slopes, rtol=1e-6, atol=1e-5 * np.abs(slopes).max())


@pytest.fixture(scope="module")
def leaning():
    """The pendulum that leans, rolls and turns; and where it is after 0.4 s."""
    made = pendulum.mechanism()
    q, v = pendulum.state(pendulum.TwoWheeledPendulum(), 0.1, 1.0, 0.0, 0.8)
    problem = multiplier_problem(made, q, v, projection="positions")
    return constrained_problem(made, q, v), integrate(problem, "RKMK4", (0.0, 0.4), step=2.5e-4).y[-1]


@pytest.mark.parametrize("method", ["DLA", "DLA_TRAPEZOID", "DLA4", "NULL_SPACE", "GNI", "ROLLING_ALPHA"])
def test_order_of_multiplier_methods_on_a_wheeled_tree(leaning, method):
    problem, reference = leaning
    errors = [np.abs(integrate(problem, method, (0.0, 0.4), step=0.4 / n).y[-1] - reference).max() for n in (20, 40)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0 if method == "DLA4" else 2.0, abs=0.25)


def test_the_variational_step_is_symmetric_and_keeps_wheels_on_the_plane(leaning):
    problem, _ = leaning
    step = step_map(problem, METHODS["DLA"])
    assert np.abs(step(step(problem.y0, 0.01), -0.01) - problem.y0).max() < 1e-13
    solution = integrate(problem, "DLA", (0.0, 2.0), step=0.01)
    assert np.nanmax(solution.greatest[:, 1]) < 1e-14
    assert np.nanmax(solution.greatest[:, 2]) < 1e-11


def test_the_energy_of_a_car_on_its_springs_stays_in_a_band():
    """A car without dampers rolls over its sagging springs for a minute."""
    made = wheeled_car.mechanism(wheeled_car.WheeledCar(heave_damping=0.0, roll_damping=0.0, steering_stiffness=2e4))
    problem = constrained_problem(made, *wheeled_car.start(made, speed=5.0, steering=0.2))
    bands = []
    for h in (0.01, 0.005):
        solution = integrate(problem, "DLA", (0.0, 20.0), step=h)
        assert solution.success
        bands.append(solution.error("energy", relative=False))
        half = len(solution.t) // 2
        early, late = (
            np.ptp(np.concatenate([s.least[part, 0], s.greatest[part, 0]]))
            for s, part in ((solution, slice(1, half)), (solution, slice(half, None)))
        )
        assert late < 1.5 * early
    assert 3.0 < bands[0] / bands[1] < 5.0
