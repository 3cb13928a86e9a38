"""Friction that sticks within a step: Newton's iteration, damped, finds what it jumps over without."""

import numpy as np
import pytest

from integrators import Problem, integrate
from liegroup import product, rn
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.constraints import gear
from mechanics.forces import Sphere, contact, dry_friction, joint_spring, spring_damper
from mechanics.formulations import constrained_problem
from mechanics.joints import Free, Prismatic

LUMP = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3))
HEAVY = Inertia.about_com(1e6, (0.0, 0.0, 0.0), 1e4 * np.eye(3))
IMPLICIT = [
    "BDF2",
    "RKMK_RADAU_IIA3",
    "MIDPOINT",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("BDF1", "RKMK_TRBDF2")),
]
"""One of each kind of iteration; slow: further ones of the same."""
CONSTRAINED = [
    "ALPHA_STABILISED",
    "RADAU_GGL",
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("ALPHA_INDEX3", "AUGMENTED_LAGRANGIAN")),
]
CANONICAL = [
    *("ALPHA", "NEWMARK", "VARIATIONAL_GAUSS2"),
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("ALPHA_0", "VARIATIONAL_GAUSS1")),
]


def oscillator(slip_speed, static=None):
    """1 kg on 100 N/m, of 113 mm, with a friction of 1 N: it comes to rest at the third turn."""
    friction = dry_friction("mass_joint", force=1.0, slip_speed=slip_speed, static_force=static)
    tree = Tree([Body("mass", Prismatic((1, 0, 0)), inertia=LUMP)])
    return Mechanism(tree, elements=[friction, joint_spring("mass_joint", 100.0)]).problem([0.113])


def geared(slip_speed, static=None, gears=1):
    """The same oscillator and wheels that slide with it twice as fast, in equations with multipliers."""
    bodies = [Body("mass", Prismatic((1, 0, 0)), inertia=LUMP)]
    bodies += [Body(f"gear{k}", Prismatic((0, 1, 0)), inertia=LUMP) for k in range(gears)]
    closures = [gear(f"gear{k}_joint", "mass_joint", 2.0) for k in range(gears)]
    friction = dry_friction("mass_joint", force=1.0, slip_speed=slip_speed, static_force=static)
    made = Mechanism(Tree(bodies), closures, elements=[friction, joint_spring("mass_joint", 100.0)])
    return constrained_problem(made, [0.113, *[0.226] * gears])


def canonical(slip_speed, static=None):
    """The same oscillator by its momentum."""

    def field(t, y):
        slip = y[1] / slip_speed
        force = np.tanh(slip) * (1.0 + ((static or 1.0) - 1.0) * np.exp(-slip * slip))
        return [y[1], -100.0 * y[0] - force]

    return Problem(product(rn(1), rn(1)), [0.113, 0.0], field, canonical=True)


def belt(slip_speed):
    """A mass that a belt carries along with 0.2 m/s until the spring takes it back: stick and slip."""
    bodies = [
        Body("belt", Prismatic((1, 0, 0)), inertia=HEAVY),
        Body("mass", Prismatic((1, 0, 0)), "belt", inertia=LUMP),
    ]
    friction = dry_friction("mass_joint", force=4.0, slip_speed=slip_speed, static_force=6.0)
    spring = spring_damper(Frame(None, (-1.0, 0.0, 0.0)), Frame("mass"), stiffness=100.0, length=1.0)
    return Mechanism(Tree(bodies), elements=[friction, spring]).problem([0.0, 0.0], [0.2, 0.0])


def ramp(slip_speed, friction=0.8, slope=0.5):
    """A block that slides up a ramp, on four spheres, and sticks there."""
    g = (-9.81 * np.sin(slope), 0.0, -9.81 * np.cos(slope))
    feet = [Sphere(Frame("block", (x, y, -0.05)), 0.01) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    law = {"stiffness": 1e5, "damping": 0.5, "friction": friction, "slip_speed": slip_speed}
    touching = [contact(foot, Frame(None), **law) for foot in feet]
    tree = Tree([Body("block", Free(), inertia=LUMP)], gravity=g)
    return Mechanism(tree, elements=touching).problem([0.0, 0.0, 0.06, 1.0, 0.0, 0.0, 0.0], [0.5, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.parametrize("static", [None, 1.5])
@pytest.mark.parametrize(("slip_speed", "step"), [(1e-4, 1e-2), (1e-4, 1e-3), (1e-6, 1e-3)])
def test_a_mass_comes_to_rest_within_the_friction(method, static, slip_speed, step):
    """Where the spring is weaker than the friction."""
    run = integrate(oscillator(slip_speed, static), method, (0.0, 2.0), step)
    assert run.finished, run.message
    assert abs(run["q"][-1, 0]) < (static or 1.0) / 100.0 + 1e-3


@pytest.mark.parametrize("method", CONSTRAINED)
@pytest.mark.parametrize("static", [None, 1.5])
@pytest.mark.parametrize(("slip_speed", "step"), [(1e-4, 1e-2), (1e-4, 1e-3), (1e-6, 1e-3)])
def test_a_mass_comes_to_rest_in_equations_with_multipliers(method, static, slip_speed, step):
    """Alone; and with what a closure moves, five times its mass, through its first turns."""
    run = integrate(geared(slip_speed, static, 0), method, (0.0, 2.0), step)
    assert run.finished, run.message
    assert abs(run["q"][-1, 0]) < (static or 1.0) / 100.0 + 1e-3
    run = integrate(geared(slip_speed, static), method, (0.0, 2.0), step)
    assert run.finished, run.message
    truth = integrate(geared(1e-2, static), method, (0.0, 2.0), 1e-3)
    assert run["q"][-1] == pytest.approx(truth["q"][-1], abs=2e-3)


@pytest.mark.parametrize("method", CANONICAL)
@pytest.mark.parametrize("static", [None, 1.5])
@pytest.mark.parametrize(("slip_speed", "step"), [(1e-4, 1e-2), (1e-4, 1e-3), (1e-6, 1e-3)])
def test_a_mass_comes_to_rest_by_its_momentum(method, static, slip_speed, step):
    run = integrate(canonical(slip_speed, static), method, (0.0, 2.0), step)
    assert run.finished, run.message
    assert abs(run.y[-1, 0]) < (static or 1.0) / 100.0 + 1e-3


@pytest.mark.parametrize("method", IMPLICIT)
@pytest.mark.parametrize(("slip_speed", "step"), [(1e-2, 1e-2), (1e-3, 1e-3)])
def test_a_mass_on_a_belt_sticks_and_slips(method, slip_speed, step):
    """The belt carries it along until the spring is stronger than 6 N."""
    run = integrate(belt(slip_speed), method, (0.0, 2.0), step)
    assert run.finished, run.message
    truth = integrate(belt(slip_speed), "RKMK_DOP853", (0.0, 2.0), rtol=1e-9, atol=1e-11)
    assert truth.success
    ends = [(place[t > 0.5].min(), place.max()) for t, place in ((one.t, one["q"].sum(axis=1)) for one in (run, truth))]
    assert ends[0] == pytest.approx(ends[1], abs=0.1 * ends[1][1])


@pytest.mark.parametrize("method", IMPLICIT)
def test_a_block_stays_on_a_ramp(method):
    """It slides up by a centimetre, sways on its feet, and does not slide down, as far as friction is known at all."""
    run = integrate(ramp(1e-4), method, (0.0, 0.3), 1e-3)
    assert run.finished, run.message
    assert np.abs(run["q"][:, 0]).max() < 0.015


@pytest.mark.parametrize("slip_speed", [1e-4, 1e-6])
def test_variable_steps_become_smaller_where_they_are_not_solved(slip_speed):
    """Other ways to a solution take hundreds of evaluations; a smaller step needs none of them."""
    run = integrate(oscillator(slip_speed), "RKMK_TRBDF2", (0.0, 2.0), rtol=1e-4, atol=1e-4)
    assert run.success, run.message
    assert abs(run["q"][-1, 0]) < 1.0 / 100.0 + 1e-3
    assert run.evaluations < 40 * (run.steps + run.rejected)


def thrown(length, mass, time):
    """A ball of a tenth of the length that comes down on a plane, and slides until it rolls."""
    radius, g = 0.1 * length, (0.0, 0.0, -9.81 * length / time**2)
    law = {"stiffness": 1e4 * mass / time**2, "damping": 0.5 * time / length, "slip_speed": 0.01 * length / time}
    inertia = Inertia.about_com(mass, (0.0, 0.0, 0.0), 0.4 * mass * radius**2 * np.eye(3))
    tree = Tree([Body("ball", Free(), inertia=inertia)], gravity=g)
    floor = contact(Sphere(Frame("ball"), radius), Frame(None), friction=0.5, **law)
    start = [0.0, 0.0, 1.05 * radius, 1.0, 0.0, 0.0, 0.0], [0.3 * length / time, *np.zeros(5)]
    return Mechanism(tree, elements=[floor]).problem(*start)


@pytest.mark.parametrize("method", IMPLICIT[:3])
@pytest.mark.parametrize("units", [(1e-6, 1e-18, 1.0), (1e-6, 1e-6, 1e-3), (1e3, 1e9, 1.0)])
def test_a_ball_of_micrometres_rolls_like_one_of_metres(method, units):
    large, small = (
        integrate(thrown(length, mass, time), method, (0.0, 0.3 * time), 2e-3 * time)
        for length, mass, time in ((1.0, 1.0, 1.0), units)
    )
    assert large.finished, large.message
    assert small.finished, small.message
    assert small["q"][-1, :3] / units[0] == pytest.approx(large["q"][-1, :3], abs=1e-8)


@pytest.mark.parametrize("method", [*IMPLICIT[:3], "RKMK_GAUSS2", "RODAS4"])
@pytest.mark.parametrize("canonical", [True, False])
def test_units_make_no_difference(method, canonical):
    """To the last digits where one of them is told from another by `Problem.scales`."""

    def sliding(length, mass):
        def field(t, y):
            depth, momentum = 0.1 * length - y[1], y[3]
            load = (depth > 0.0) * max(0.0, 1e4 * mass * depth - 20.0 * momentum)
            return [y[2] / mass, momentum / mass, -0.5 * load * np.tanh(y[2] / (0.01 * mass * length)),
                    load - 9.81 * mass * length]  # fmt: skip

        start = np.array([0.0, 0.105, 0.3, 0.0]) * scales(length, mass)
        return Problem(product(rn(2), rn(2)), start, field, canonical=canonical, scales=scales(length, mass))

    def scales(length, mass):
        return np.array([length, length, mass * length, mass * length])

    units = 2.0**-20, 2.0**-40
    one, other = (integrate(sliding(*them), method, (0.0, 0.3), 2e-3) for them in ((1.0, 1.0), units))
    assert one.finished, one.message
    assert other.y / scales(*units) == pytest.approx(one.y, rel=1e-12, abs=1e-13)


def resting(law, free):
    """A ball, or a mass that does not turn, that is let go on a plane, and stays where it is."""
    k, damping = {"hunt_crossley": (1e4, 0.5), "kelvin_voigt": (1e4, 40.0), "hertz": (1e6, 0.5)}[law]
    slides = [Body("along", Prismatic((1, 0, 0))), Body("ball", Prismatic((0, 0, 1)), "along", inertia=LUMP)]
    tree = Tree([Body("ball", Free(), inertia=LUMP)] if free else slides, gravity=(0.0, 0.0, -9.81))
    floor = contact(Sphere(Frame("ball"), 0.1), Frame(None), stiffness=k, damping=damping, law=law, friction=0.5)
    return Mechanism(tree, elements=[floor]).problem([0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0] if free else [0.0, 0.1])


@pytest.mark.parametrize("method", [*IMPLICIT[:3], "RKMK_GAUSS2", "RODAS4"])
@pytest.mark.parametrize("law", ["hunt_crossley", "kelvin_voigt", "hertz"])
@pytest.mark.parametrize("free", [True, False])
def test_what_rests_on_friction_goes_on(method, law, free):
    """Without any slip, where friction has no direction, and yet a derivative."""
    run = integrate(resting(law, free), method, (0.0, 1.0), 1e-2)
    assert run.finished, run.message
    assert abs(run["q"][-1, 0]) < 1e-12
    assert run.evaluations < 60 * run.steps
