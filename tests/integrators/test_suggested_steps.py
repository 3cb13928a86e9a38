"""Steps that `suggest_step` finds hold the fastest mode of the linear motion, which the motion need not show."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.stiff import chain
from integrators import Problem, integrate, suggest_step
from integrators.method.stability import fastest_mode, growth
from integrators.methods import find
from liegroup.group import rn
from mechanics.forces import servo
from mechanics.joints import Motion, Revolute
from mechanics.mechanism import Mechanism
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, Tree
from mechanics.systems import SYSTEMS

EXPLICIT = {"RKMK4": (8**0.5, 2.785293563405282), "CF4": (8**0.5, 2.785293563405282)}
"""Ends of the stability region on the imaginary and on the negative real axis (Hairer and Wanner 1996, IV.2)."""


@pytest.mark.parametrize("name", EXPLICIT)
def test_the_growth_of_a_mode_is_that_of_the_stability_function(name):
    swings, creeps = EXPLICIT[name]
    for limit, damping in ((swings, 0.0), (creeps, 1.0)):
        assert growth(find(name), 0.999 * limit, damping) < 1.0
        assert growth(find(name), 1.001 * limit, damping) > 1.0


@pytest.mark.parametrize("name", ["RKMK_GAUSS2", "MIDPOINT", "RKMK_RADAU_IIA3", "ROS3P"])
def test_methods_without_a_limit_hold_every_mode(name):
    assert growth(find(name), 1e4, 0.0) < 1.0 + 1e-9
    assert growth(find(name), 1e4, 1.0) < 1.0


ANGLES = {"BDF3": 86.03, "BDF4": 73.35, "BDF5": 51.84}
"""About the negative axis, degrees (Hairer and Wanner 1996, V.2)."""


@pytest.mark.parametrize("name", ANGLES)
def test_backward_differentiation_holds_what_lies_within_its_angle(name):
    rays = [np.cos(np.radians(ANGLES[name] + apart)) for apart in (-0.1, 0.1)]
    inside, outside = (max(growth(find(name), z, ray) for z in np.geomspace(0.1, 100.0, 200)) for ray in rays)
    assert inside <= 1.0 < outside
    assert max(growth(find("BDF2"), z, 0.0) for z in np.geomspace(0.1, 100.0, 50)) <= 1.0


def unstable(run):
    return [doubt for doubt in run.doubts if doubt.name == "stability"]


def test_a_spring_that_backward_differentiation_lets_grow_is_a_doubt():
    spring = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -4.0 * y[0]]))
    run = integrate(spring, "BDF5", (0.0, 10.0), 1.0)
    assert np.abs(run.y[-1]).max() > 10.0
    (doubt,) = unstable(run)
    assert "2 rad/s" in doubt.says
    assert "BDF2" in doubt.remedy
    assert doubt.value == pytest.approx(growth(find("BDF5"), 2.0, 0.0))
    assert not unstable(integrate(spring, "BDF2", (0.0, 10.0), 1.0))
    assert not integrate(spring, "BDF5", (0.0, 10.0), 0.1).doubts


def test_a_mode_that_grows_by_itself_is_no_doubt_of_a_method_that_holds_all_others():
    """On top of a hill BDF2 grows faster than the motion, by a seventh a step at h λ = 0.8; of what swings and grows
    slowly, BDF5 lets the swing grow as ever.
    """
    hill = Problem(rn(2), [1e-3, 0.0], lambda t, y: np.array([y[1], 0.64 * y[0]]))
    assert find("BDF2").stepper.growth(find("BDF2").coefficients, 0.8) > 1.1 * np.exp(0.8)
    for name in ("BDF2", "BDF5"):
        assert not unstable(integrate(hill, name, (0.0, 10.0), 1.0))
    driven = Problem(rn(2), [1e-3, 0.0], lambda t, y: np.array([y[1], -4.0 * y[0] + 1e-2 * y[1]]))
    assert unstable(integrate(driven, "BDF5", (0.0, 10.0), 1.0))
    assert not unstable(integrate(driven, "BDF2", (0.0, 10.0), 1.0))


def test_a_splitting_has_the_limit_of_stormer_and_verlet():
    assert growth(find("SPLIT_STRANG"), 1.99, 0.0) == pytest.approx(1.0, abs=1e-12)
    assert growth(find("SPLIT_STRANG"), 2.01, 0.0) > 1.1


def relaxing(t, y):
    """A slow variable, and one that is where it wants to be and would come back a million times as fast."""
    return np.array([-y[0], -1e6 * (y[1] - 1.0)])


def test_a_mode_that_rests_limits_explicit_methods_alone():
    problem = Problem(rn(2), [1.0, 1.0], relaxing)
    assert fastest_mode(problem, 0.0, np.array(problem.y0)) == pytest.approx(-1e6, rel=1e-6)
    explicit, implicit = (suggest_step(problem, name, 1e-6) for name in ("RKMK4", "RKMK_RADAU_IIA3"))
    assert 1.5e-6 < explicit < 2.79e-6
    assert implicit > 1e-2


def test_stiff_springs_limit_explicit_steps():
    problem = chain(6).problem()
    rate = abs(fastest_mode(problem, 0.0, np.array(problem.y0)))
    step = suggest_step(problem, "RKMK4", 1e-3)
    assert 1.0 < step * rate < 8**0.5
    run = integrate(problem, "RKMK4", (0.0, 200 * step), step)
    assert run.error("energy", relative=False) < 1.0


@pytest.mark.slow
def test_the_variational_default_is_advised_a_step_that_it_does_not_doubt():
    problem, method = chain(6).problem(), find("TREE_VARIATIONAL")
    step = suggest_step(problem, method, 1e-2)
    assert not method.doubts(problem, np.array(problem.y0), step)
    assert "JointSpring on joint" in method.doubts(problem, np.array(problem.y0), 3 * step)[0].says


def test_the_gain_of_a_drive_counts_as_a_damper():
    inertia = Inertia.about_com(1.0, (0, 0, 0), np.eye(3))
    tree = Tree([Body("a", Revolute((0, 0, 1)), inertia=inertia)])
    problem = Mechanism(tree, elements=[servo("a_joint", stiffness=1.0, damping=1e5, target=Motion((0.0,)))]).problem()
    assert fastest_mode(problem, 0.0, np.array(problem.y0)) == pytest.approx(-1e5, rel=1e-5)
    assert suggest_step(problem, "RKMK4", 1e-3) < 2.79e-5


def test_hypotheses_are_looked_at_within_the_interval_of_the_run():
    """log t is no number at 0, and at 0.5 the motion of the test would grow."""
    problem = Problem(rn(1), [1.0], lambda t, y: [-y[0] * np.log(t) if t >= 1.0 else np.nan])
    solution = integrate(problem, "BDF2", (1.0, 2.0), 0.01)
    assert solution.success
    assert abs(solution.y[-1, 0] - np.exp(1.0 - 2.0 * np.log(2.0))) < 1e-4
    canonical = Problem(
        rn(1).cotangent, [1.0, 0.0], lambda t, y: [y[1], -y[0] / t] if t > 0.0 else np.nan * y, canonical=True
    )
    solution = integrate(canonical, (1.0, 2.0))
    expected = solve_ivp(lambda t, y: [y[1], -y[0] / t], (1.0, 2.0), [1.0, 0.0], "DOP853", rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(solution.y[-1], expected.y[:, -1], rtol=0.0, atol=1e-12)


def test_a_run_may_begin_at_the_time_of_a_clock():
    """Seconds since 1970 have 2e-7 s between them."""
    posed = SYSTEMS["pendulum"].problem()
    run = integrate(posed, (1.7e9, 1.7e9 + 5.0))
    assert run.success
    assert 10 < run.steps < 100


@pytest.mark.parametrize("method", ["RKMK4", "BDF2", "MIDPOINT", "RKMK_DOP853", "RKMK_RADAU_IIA3"])
@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (1.5e11, 1.327e20), (1e-6, 1e-18)])
def test_steps_of_a_planet_do_not_depend_on_its_units(method, length, mass):
    """It starts on an axis, at right angles: two of its four components are zero."""

    def field(t, y):
        pull = mass / np.hypot(y[0], y[1]) ** 3
        return [y[2], y[3], -pull * y[0], -pull * y[1]]

    speed, period = np.sqrt(mass / length), 2 * np.pi * np.sqrt(length**3 / mass)
    step = suggest_step(Problem(rn(4), [length, 0.0, 0.0, speed], field), method)
    of_one = suggest_step(Problem(rn(4), [1.0, 0.0, 0.0, 1.0], lambda t, y: kepler_of_one(y)), method) / (2 * np.pi)
    assert of_one / 12 < step / period < 2.5 * of_one


def kepler_of_one(y):
    pull = 1.0 / np.hypot(y[0], y[1]) ** 3
    return [y[2], y[3], -pull * y[0], -pull * y[1]]
