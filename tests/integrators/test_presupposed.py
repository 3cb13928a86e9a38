"""Methods that go by H = ½ pᵀK p + V(t, q) say where a motion comes to what is not of that form."""

import numba
import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.problem import lagrangian_problem
from liegroup import product, rn, se3, so3
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.formulations import constrained_problem
from mechanics.joints import Revolute


def late(t, y):
    """A damper that comes in at t = 5."""
    return [y[1], -y[0] - 0.15 * (1.0 + np.tanh(40.0 * (t - 5.0))) * y[1]]


def layer(t, y):
    """Viscous beyond 1.5."""
    return [y[1], -y[0] - 0.5 * (1.0 + np.tanh(20.0 * (y[0] - 1.5))) * y[1]]


def heavy(t, y):
    """H = ½ p² (1 + s(q)) + ½ q²: lighter beyond 1.5."""
    s = np.tanh(20.0 * (y[0] - 1.5))
    return [y[1] * (1.5 + 0.5 * s), -y[0] - 0.25 * y[1] ** 2 * 20.0 * (1.0 - s**2)]


@pytest.mark.parametrize("method", ["SPLIT_SRKN6_11B", "SPLIT_STRANG", "LGVI_CAYLEY"])
@pytest.mark.parametrize(("field", "start"), [(late, [1.0, 0.0]), (layer, [0.0, 2.0]), (heavy, [0.0, 2.0])])
def test_what_the_start_does_not_show_is_a_doubt(method, field, start):
    for saved in ({}, {"t_eval": [10.0]}, {"save_every": 2000}):
        run = integrate(Problem(rn(2), start, field, canonical=True), method, (0.0, 10.0), 0.005, **saved)
        assert {doubt.name for doubt in run.doubts} & {"damping", "inertia"}, saved


@pytest.mark.parametrize("method", ["ALPHA", "NEWMARK"])
def test_methods_that_feel_dampers_are_asked_for_the_inertia_alone(method):
    problems = [Problem(rn(2), [0.0, 2.0], field, canonical=True) for field in (layer, heavy)]
    runs = [integrate(problem, method, (0.0, 10.0), 0.005) for problem in problems]
    assert runs[0].success
    assert "inertia" in {doubt.name for doubt in runs[1].doubts}


@pytest.mark.parametrize(("drag", "doubtful"), [(1e-7, True), (1e-10, False)])
def test_a_weak_drag_counts_by_what_it_takes_in_all(drag, doubtful):
    field = numba.njit(lambda t, y: np.array([y[1], -y[0] - drag * y[1]]))
    problem = Problem(rn(2), [1.0, 0.0], field, canonical=True)
    run = integrate(problem, "SPLIT_SRKN6_11B", (0.0, 3e5), 1.0, save_every=1000)
    assert ("damping" in {doubt.name for doubt in run.doubts}) == doubtful


def test_a_metric_that_is_stationary_at_the_start_is_no_constant_one():
    hinge, bar = Revolute((0, 1, 0)), Inertia.about_com(1.0, (0, 0, -0.3), 0.01 * np.eye(3))
    tree = Tree([Body("a", hinge, inertia=bar), Body("b", hinge, "a", (0, 0, -0.5), inertia=bar)])
    problem = constrained_problem(Mechanism(tree), [0.5, 0.0], [0.0, 1.0])
    assert "damping" in {doubt.name for doubt in integrate(problem, "MP", (0.0, 1.0), 2e-3).doubts}
    assert integrate(problem, "DLA", (0.0, 1.0), 2e-3).success


@pytest.mark.parametrize(("metre", "second"), [(1.0, 1.0), (1e3, 1e3), (1 / 1.5e11, 1 / 3.2e7)])
@pytest.mark.parametrize("method", ["NEWMARK", "ALPHA", "SPLIT_STRANG", "LGVI_CAYLEY"])
def test_an_orbit_in_polar_coordinates_is_refused_in_any_unit(method, metre, second):
    """Its inertia m r² changes by 4e-12 within a metre, and an angle turns by 1e-11 of what the radius grows by."""
    gm, r = 1.327e20 * metre**3 / second**2, 1.5e11 * metre
    orbit = lagrangian_problem(
        lambda t, q, v, p: 250.0 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 500.0 * gm / q[0], [r, 0.0],
        [0.0, 1.1 * np.sqrt(gm / r**3)],
    )  # fmt: skip
    with pytest.raises(ValueError, match="depends on the"):
        integrate(orbit, method, (0.0, 3e7 * second), 1e5 * second)


@pytest.mark.parametrize("metre", [1.0, 1e6])
def test_a_body_with_added_mass_is_no_rigid_body_in_any_unit(metre):
    mass, inertia = (1000.0, 1500.0, 1800.0), [x * metre**2 for x in (200.0, 900.0, 1000.0)]

    def kinetic(t, q, v, p):
        return sum(0.5 * m * x**2 for m, x in zip((*mass, *inertia), v, strict=True))

    vehicle = lagrangian_problem(kinetic, se3.identity(), [metre, 0.3 * metre, 0.0, 0.01, 0.2, 0.3], group=se3)
    with pytest.raises(ValueError, match="needs the inertia of a rigid body"):
        integrate(vehicle, "SPLIT_STRANG", (0.0, 1.0), 0.01)


def test_a_planet_and_its_satellite_are_bodies_of_one_problem():
    """Their inverse moments of inertia differ by 35 powers of ten."""
    masses, moments = (6e24, 500.0), ((8.0e37, 8.1e37, 8.3e37), (900.0, 1000.0, 300.0))

    def lagrangian(t, q, v, p):
        found = 0.0
        for k in range(2):
            x, w = v[6 * k : 6 * k + 3], v[6 * k + 3 : 6 * k + 6]
            found = (
                found
                + 0.5 * masses[k] * sum(a**2 for a in x)
                + 0.5 * sum(J * a**2 for J, a in zip(moments[k], w, strict=True))
            )
        d = [q[7 + i] - q[i] for i in range(3)]
        return found + 6.67e-11 * masses[0] * masses[1] / (d[0] ** 2 + d[1] ** 2 + d[2] ** 2) ** 0.5

    q = [0.0, 0.0, 0.0, *so3.identity(), 7e6, 0.0, 0.0, *so3.identity()]
    v = [0.0, 0.0, 0.0, 0.0, 0.0, 7e-5, 0.0, 7e3, 0.0, 1e-3, 2e-2, 1e-3]
    pair = lagrangian_problem(lagrangian, q, v, group=product(rn(3), so3, rn(3), so3))
    exact = integrate(pair, "RKMK_GAUSS3", (0.0, 100.0), 0.5)
    for method in ("LGVI_CAYLEY", "SPLIT_SRKN6_11B"):
        run = integrate(pair, method, (0.0, 100.0), 0.5)
        assert run.success
        assert np.abs((run.y - exact.y)[-1, 7:14] / [7e6, 7e6, 7e6, 1.0, 1.0, 1.0, 1.0]).max() < 1e-4
