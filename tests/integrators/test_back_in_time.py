"""Runs backwards in time (t1 < t0): what falls there rises, what decays grows, and guards are turned round with it."""

import numba
import numpy as np
import pytest

from integrators import Guard, Problem, integrate
from integrators.methods import METHODS
from integrators.problem.guards import energy_guard
from liegroup import rn
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.elastic import Network, Springs
from mechanics.forces import dry_friction, joint_spring
from mechanics.joints import Revolute

TIGHT = {"rtol": 1e-11, "atol": 1e-12}


def with_drag():
    springs = [Springs([[0, 1]], 50.0)]
    network = Network([[0, 0, 0], [1, 0, 0]], 1.0, springs, fixed=[0], gravity=(0, 0, 0), drag=0.2)
    return network.problem(velocities=[[0, 0, 0], [0.5, 0, 0]])


def pendulum(*elements):
    bob = Inertia.about_com(1.0, (0.0, 0.0, -1.0), np.eye(3))
    return Mechanism(Tree([Body("b", Revolute((0, 1, 0)), inertia=bob)]), elements=list(elements)).problem([1.0])


def with_friction():
    return pendulum(dry_friction("b_joint", force=0.3, slip_speed=0.5))


def with_damper():
    return pendulum(joint_spring("b_joint", 100.0, damping=0.3))


@pytest.mark.parametrize("posed", [with_drag, with_friction, with_damper])
def test_there_and_back_again_is_no_doubt(posed):
    problem = posed()
    there = integrate(problem, "RKMK_DOP853", (0.0, 2.0), **TIGHT)
    assert there.success
    assert there["energy"][-1] < 0.8 * there["energy"][0] or there["energy"][0] < 0.0
    back = integrate(problem, "RKMK_DOP853", (2.0, 0.0), y0=there.y[-1], **TIGHT)
    assert np.abs(back.y[-1] - problem.y0).max() < 1e-8
    assert back.success, back.message
    steps = integrate(problem, "RKMK4", (2.0, 0.0), 0.005, y0=np.tile(there.y[-1], (3, 1)))
    assert steps.success, steps.message


@numba.njit
def oscillator(t, y):
    return np.array([y[1], -y[0]])


@numba.njit
def drives(t, y):
    return np.array([y[1], -y[0] + 0.2 * y[1]])


@numba.njit
def half_square(t, y):
    return 0.5 * (y[0] ** 2 + y[1] ** 2)


def test_what_should_only_fall_with_time_and_rises_is_a_doubt_in_both_directions():
    guards = energy_guard(0.5, dissipates=True)
    problem = Problem(rn(2), [1.0, 0.0], drives, invariants={"energy": half_square}, guards=guards)
    there, back = (integrate(problem, "RKMK4", (0.0, end), 0.02) for end in (5.0, -5.0))
    for run, limit in zip((there, back), (0.5 * 1.051, 0.5 * 0.949), strict=True):
        (doubt,) = run.doubts
        assert doubt.limit == pytest.approx(limit)
        assert "only fall with time" in doubt.says
    assert there["energy"][-1] > 0.5 > back["energy"][-1]


def test_a_rise_is_one_with_time():
    guard = Guard("energy", rise=0.1, change=0.3)
    assert guard.limits(np.array(1.0)) == pytest.approx((0.7, 1.1))
    assert guard.limits(np.array(1.0), forward=False) == pytest.approx((0.9, 1.3))


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "BDF2"])
def test_what_a_method_takes_is_told_from_what_a_damper_brings(method):
    """ζ = 1e-3, h ω = 3: back in time the damper brings 6 %, and the method takes most of all."""
    lump = Inertia.about_com(1.0, (0.0, 0.0, 0.0), np.eye(3))
    tree = Tree([Body("b", Revolute((0, 1, 0)), inertia=lump)], gravity=(0.0, 0.0, 0.0))
    held = joint_spring("b_joint", 300.0**2, damping=2.0 * 1e-3 * 300.0)
    run = integrate(Mechanism(tree, elements=[held]).problem([0.1]), method, (0.1, 0.0), 3.0 / 300.0)
    assert run["energy"][-1] < 0.9 * run["energy"][0]
    assert "energy_lost" in [doubt.name for doubt in run.doubts]


def test_modes_that_grow_with_time_decay_back_in_it():
    """Of a pair at 40° to the positive axis BDF5 lets the turning grow; the decay there is back in time it holds."""
    growing = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0] + 2.0 * np.cos(np.radians(40.0)) * y[1]])
    ahead, back = (METHODS["BDF5"].doubts(growing, growing.y0, h) for h in (2.0, -2.0))
    assert [doubt.name for doubt in ahead] == ["stability"]
    assert not back
