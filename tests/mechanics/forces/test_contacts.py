"""Contacts against closed forms, an independent right side, the rolling ball, and the account of every element."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree, constraints, element_accounts
from mechanics.algebra.spatial import rotation_from_quaternion
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.layout import closures_of
from mechanics.forces import (
    Capsule,
    Ellipsoid,
    Sphere,
    Wheel,
    contact,
    dry_friction,
    hunt_crossley_factor,
    joint_spring,
)
from mechanics.forces.element import BodyState
from mechanics.joints import Free, Prismatic, Revolute
from mechanics.reference.counting import Tally
from mechanics.testing import random_rotation

RADIUS, MASS, G = 0.1, 0.5, 9.81
BALL = Inertia.about_com(MASS, (0.0, 0.0, 0.0), 0.4 * MASS * RADIUS**2 * np.eye(3))
GROUND, SPHERE = Frame(None), Sphere(Frame("ball"), RADIUS)
STIFF = 2e4
REST = RADIUS - MASS * G / STIFF
"""Height of the centre where the ball rests."""


def ball_on(plane, inertia=BALL, gravity=(0.0, 0.0, -G), **law):
    tree = Tree([Body("ball", Free(), inertia=inertia)], gravity=gravity)
    return Mechanism(tree, elements=[contact(SPHERE, plane, stiffness=STIFF, **law)])


def at(x, y, z):
    return np.array([x, y, z, 1.0, 0.0, 0.0, 0.0])


# --- geometry ---------------------------------------------------------------------------------------------------------


def surface(shape):
    """Points of the surface of a shape, in its frame."""
    u, v = (a.ravel() for a in np.meshgrid(np.linspace(0, 2 * np.pi, 361), np.linspace(0, np.pi, 181)))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
    if isinstance(shape, Ellipsoid):
        return ball * shape.semi_axes
    if isinstance(shape, Wheel):
        around, out = np.array([np.cos(u), np.sin(u), 0 * u]).T, np.cos(2 * v)[:, None]
        return around * (shape.radius + shape.section * out) + shape.section * np.array([0 * u, 0 * u, np.sin(2 * v)]).T
    ends = [[0, 0, s * shape.length / 2] for s in (1, -1)] if isinstance(shape, Capsule) else [[0, 0, 0]]
    return np.concatenate([shape.radius * ball + end for end in ends])


SHAPES = [
    lambda f: Ellipsoid(f, (0.2, 0.3, 0.5)),
    lambda f: Wheel(f, 0.4, 0.05),
    lambda f: Capsule(f, 0.1, 0.6),
    lambda f: Sphere(f, 0.3),
]


@pytest.mark.parametrize("make", SHAPES)
def test_the_depth_is_that_of_the_lowest_point_of_the_surface(make):
    g = np.random.default_rng(3)
    for _ in range(3):
        frame = Frame("body", g.normal(size=3), random_rotation(g))
        shape, R, x = make(frame), random_rotation(g), g.normal(size=3)
        points = x + (frame.position + surface(shape) @ frame.rotation.T) @ R.T
        state = BodyState(tuple(R.ravel()), tuple(x), (0.0,) * 3, (0.0,) * 3)
        base = BodyState(tuple(np.eye(3).ravel()), (0.0,) * 3, (0.0,) * 3, (0.0,) * 3)
        lowest = points[np.argmin(points[:, 2])]
        plane = Frame(None, (0.0, 0.0, lowest[2] + 0.02))
        depths = []
        for e in contact(shape, plane, stiffness=1.0, law="kelvin_voigt"):
            force, arm, _, _, _ = e.law(e.numbers_of(e.first, e.second), state, base)
            depths.append((force[2], x + np.array(arm)))
        depth, point = max(depths, key=lambda found: found[0])
        assert depth == pytest.approx(0.02, abs=4e-4)
        assert point == pytest.approx(lowest, abs=0.02)


def test_a_sphere_on_a_capsule_touches_its_side_and_its_end():
    rail = Capsule(Frame.with_axis(None, (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)), 0.2, 2.0)
    (e,) = contact(SPHERE, rail, stiffness=1.0, law="kelvin_voigt")
    base = BodyState(tuple(np.eye(3).ravel()), (0.0,) * 3, (0.0,) * 3, (0.0,) * 3)
    for centre, nearest in (((0.3, 0.0, 0.25), (0.3, 0.0, 0.0)), ((1.1, 0.2, 0.1), (1.0, 0.0, 0.0))):
        body = base._replace(x=centre)
        force, arm, _, _, _ = e.law(e.numbers_of(e.first, e.second), body, base)
        across = np.subtract(centre, nearest)
        gap = 0.3 - np.linalg.norm(across)
        assert force == pytest.approx(gap * across / np.linalg.norm(across), abs=1e-15)
        assert np.add(centre, arm) == pytest.approx(nearest + across * (0.2 - gap / 2) / np.linalg.norm(across))


def test_two_capsules_touch_where_their_segments_are_nearest():
    """Against all points of the segments; the force is the gradient of the depth, so the energy is that of the law."""
    g = np.random.default_rng(5)
    still = BodyState(tuple(np.eye(3).ravel()), (0.0,) * 3, (0.0,) * 3, (0.0,) * 3)
    ways, inside = np.linspace(-1.0, 1.0, 801), 0
    for turn in [*(random_rotation(g) for _ in range(12)), np.eye(3)]:
        x = g.normal(size=3) + np.array([1.0, 0.0, 0.0])
        one, other = Capsule(Frame("ball"), 0.7, 1.2), Capsule(Frame(None), 0.8, 2.0)
        (e,) = contact(one, other, stiffness=1.0, law="kelvin_voigt")
        body = still._replace(R=tuple(turn.ravel()), x=tuple(x))
        force, arm, other_arm, stored, _ = e.law(e.numbers_of(e.first, e.second), body, still)
        starts = x + 0.6 * ways[:, None] * turn[:, 2]
        across = starts[:, None] - 1.0 * ways[:, None] * np.eye(3)[2]
        gaps = np.linalg.norm(across, axis=-1)
        s, t = np.unravel_index(np.argmin(gaps), gaps.shape)
        depth = max(1.5 - gaps[s, t], 0.0)
        assert np.linalg.norm(force) == pytest.approx(depth, abs=1e-4)
        assert stored == pytest.approx(0.5 * np.dot(force, force), rel=1e-12)
        assert np.add(x, arm) == pytest.approx(other_arm, abs=1e-15)
        if not np.array_equal(turn, np.eye(3)) and depth:
            apart = across[s, t] / gaps[s, t]
            assert np.add(x, arm) == pytest.approx(starts[s] - apart * (0.7 - 0.5 * depth), abs=6e-3)
        inside += 0 < s < 800 and 0 < t < 800
    assert 0 < inside < 13


# --- cost -------------------------------------------------------------------------------------------------------------


def footed(bodies, feet, between=False):
    """A floating chain with so many feet on each body, on the ground or on one body that moves by itself."""
    names = [f"b{k}" for k in range(bodies)]
    links = [Body("b0", Free(), inertia=BALL), Body("board", Free(), inertia=BALL)]
    links += [Body(b, Revolute((0, 1, 0)), a, (0.3, 0, 0), inertia=BALL) for a, b in pairwise(names)]
    below = Frame("board" if between else None, (0, 0, 1.0))
    touching = [
        contact(Sphere(Frame(name, (0, 0.1 * k, 0)), RADIUS), below, stiffness=STIFF, damping=0.1)
        for name in names
        for k in range(feet)
    ]
    return Mechanism(Tree(links), elements=touching)


def test_an_evaluation_costs_the_same_for_every_contact_and_body():
    """Operations counted: b + c n per body of the chain with n feet, whatever the numbers of both."""

    def operations(bodies, feet):
        made, tally = footed(bodies, feet), Tally()
        packed, q = made.packed(), made.tree.random_configuration(np.random.default_rng(0))
        y = tally.array(np.concatenate([q, np.ones(made.tree.nv)]))
        work, out = np.zeros(packed.work_shape, dtype=object), np.zeros(2 * made.tree.nv, dtype=object)
        closed.python(0.0, y, packed.parameters, packed.structure, work, out)
        return tally.total

    found = {(n, k): operations(n, k) for n in (2, 4, 8) for k in (1, 2, 4)}
    each = (found[2, 2] - found[2, 1]) / 2
    body = (found[4, 1] - found[2, 1]) / 2
    assert 100 < each < 300
    assert all(n == found[2, 1] + body * (b - 2) + each * b * (k - 1) for (b, k), n in found.items())


def test_a_step_solves_together_only_for_contacts_between_moving_bodies():
    for bodies, feet in ((3, 1), (3, 4), (6, 4)):
        for between in (False, True):
            closures = closures_of(footed(bodies, feet, between).packed().structure)
            assert closures.rows == 3 * bodies * feet
            assert closures.across == between * closures.rows


# --- closed forms -----------------------------------------------------------------------------------------------------


def test_a_sliding_ball_rolls_at_five_sevenths_of_its_speed():
    """After 2 v₀/(7 μ g); on a slope it rolls with 5/7 g sin θ where tan θ < 7 μ/2, else it slips."""
    mu, v_0 = 0.3, 1.4
    made = ball_on(GROUND, friction=mu, slip_speed=1e-3)
    run = integrate(made.problem(at(0, 0, REST), [v_0, 0, 0, 0, 0, 0]), "TREE_VARIATIONAL", (0.0, 0.4), step=1e-3)
    v, end = np.gradient(run["q"][:, 0], run.t), 2 * v_0 / (7 * mu * G)
    early = run.t < 0.9 * end
    assert v[early] == pytest.approx(v_0 - mu * G * run.t[early], abs=2e-3)
    assert v[-1] == pytest.approx(5 / 7 * v_0, abs=1e-3)
    assert v[np.searchsorted(run.t, 1.1 * end)] == pytest.approx(5 / 7 * v_0, abs=2e-3)
    for tilt, rate in ((0.5, 5 / 7 * G * np.sin(0.5)), (1.0, G * (np.sin(1.0) - mu * np.cos(1.0)))):
        slope = ball_on(GROUND, gravity=(G * np.sin(tilt), 0.0, -G * np.cos(tilt)), friction=mu, slip_speed=1e-3)
        rest = RADIUS - MASS * G * np.cos(tilt) / STIFF
        run = integrate(slope.problem(at(0, 0, rest)), "TREE_VARIATIONAL", (0.0, 0.4), step=1e-3)
        assert run["q"][-1, 0] == pytest.approx(rate * 0.4**2 / 2, rel=5e-3)


def test_wide_regularisation_is_viscous():
    """v_s ≫ u: the slip decays like exp(−7/2 (μ g/v_s) t)."""
    mu, v_s = 0.3, 50.0
    made = ball_on(GROUND, friction=mu, slip_speed=v_s)
    run = integrate(made.problem(at(0, 0, REST), [0.1, 0, 0, 0, 0, 0]), "TREE_VARIATIONAL", (0.0, 1.0), step=5e-3)
    x = run["q"][:, 0]
    rate = 3.5 * mu * G / v_s
    true = 5 / 7 * 0.1 * run.t + 2 / 7 * 0.1 * (1 - np.exp(-rate * run.t)) / rate
    assert x == pytest.approx(true, abs=1e-6)


def test_an_impact_lasts_as_long_as_hertz_says_and_loses_what_it_should():
    speed, e, k = 1.0, 0.7, 1e6
    head_on = Tree([Body("ball", Prismatic((0, 0, 1)), inertia=BALL)], gravity=(0, 0, 0))
    for restitution in (1.0, e):
        touch = contact(
            SPHERE, GROUND, stiffness=k, damping=hunt_crossley_factor(restitution, speed=speed), law="hertz"
        )
        made = Mechanism(head_on, elements=[touch])
        run = integrate(made.problem([RADIUS + 1e-3], [-speed]), "RKMK4", (0.0, 0.02), step=1e-5)
        assert run["p"][-1, 0] / MASS == pytest.approx(restitution * speed, rel=1e-6)
        (account,) = element_accounts(made, run.t, run["q"], run["p"])
        assert account.impulse[-1, 2] == pytest.approx(MASS * (1 + restitution) * speed, rel=1e-6)
        assert account.work[-1] == pytest.approx(-0.5 * MASS * (1 - restitution**2) * speed**2, rel=1e-6)
        if restitution == 1.0:
            deepest = (5 * MASS * speed**2 / (4 * k)) ** 0.4
            lasts = 2 * deepest / speed * quad(lambda x: 1 / np.sqrt(1 - x**2.5), 0, 1)[0]
            touching = run.t[account.force[:, 2] > 0.0]
            assert touching[-1] - touching[0] == pytest.approx(lasts, abs=2.1e-5)
            assert RADIUS - run["q"].min() == pytest.approx(deepest, rel=1e-5)


def test_accounts_of_too_few_instants_say_that_they_miss_an_impact():
    """One of them lies in it; the energy tells."""
    head_on = Tree([Body("ball", Prismatic((0, 0, 1)), inertia=BALL)], gravity=(0, 0, 0))
    made = Mechanism(head_on, elements=[contact(SPHERE, GROUND, stiffness=1e6, damping=0.5, law="hertz")])
    run = integrate(made.problem([RADIUS + 1e-3], [-1.0]), "RKMK4", (0.0, 0.02), step=1e-5, save_every=1000)
    with pytest.warns(RuntimeWarning, match=r"the works add up to .* J: the instants are too far apart"):
        element_accounts(made, run.t, run["q"], run["p"])
    with pytest.raises(ValueError, match=r"u: shape \(1,\), expected \(0,\)"):  # it was passed over
        element_accounts(made, run.t, run["q"], run["p"], [1.0])


def test_a_sphere_between_spheres_keeps_all_momenta():
    """Two spheres that meet off centre, with friction, in free space; impulses are the changes of their momenta."""
    pair = Tree([Body("a", Free(), inertia=BALL), Body("ball", Free(), inertia=BALL)], gravity=(0, 0, 0))
    touch = contact(SPHERE, Sphere(Frame("a"), 2 * RADIUS), stiffness=STIFF, damping=0.2, friction=0.4, slip_speed=0.5)
    made = Mechanism(pair, elements=[touch])
    q, v = np.hstack([at(0, 0, 0), at(0.35, 0.1, 0.02)]), np.array([0.0] * 6 + [-2.0, 0, 0, 1.0, 3.0, -5.0])
    run = integrate(made.problem(q, v), "TREE_VARIATIONAL", (0.0, 0.2), step=1e-4)
    totals = []
    for k in (0, -1):
        linear, angular = np.zeros(3), np.zeros(3)
        for b in range(2):
            x, R = run["q"][k, 7 * b : 7 * b + 3], rotation_from_quaternion(run["q"][k, 7 * b + 3 : 7 * b + 7])
            force = R @ run["p"][k, 6 * b : 6 * b + 3]
            linear, angular = linear + force, angular + R @ run["p"][k, 6 * b + 3 : 6 * b + 6] + np.cross(x, force)
        totals.append(np.hstack([linear, angular]))
    assert totals[1] == pytest.approx(totals[0], abs=1e-14)
    (account,) = element_accounts(made, run.t, run["q"], run["p"])
    R = rotation_from_quaternion(run["q"][-1, 10:])
    assert account.impulse[-1] == pytest.approx(R @ run["p"][-1, 6:9] - MASS * np.array([-2.0, 0, 0]), abs=1e-3)
    assert np.linalg.norm(account.impulse[-1]) > 0.5
    lost = run["energy"] - run["energy"][0]
    assert account.work == pytest.approx(lost, abs=1e-3 * abs(lost[-1]))
    assert lost[-1] < -0.05


# --- independent right sides ------------------------------------------------------------------------------------------


def right_side(t, y, k, a, mu, v_s):
    """Newton's and Euler's equations of a homogeneous ball on the ground, in world axes: x, v, ω."""
    x, v, w = y[:3], y[3:6], y[6:9]
    d, d_dot = RADIUS - x[2], -v[2]
    N = max(k * d * (1.0 + a * d_dot), 0.0) if d > 0.0 else 0.0
    arm = np.array([0.0, 0.0, -RADIUS])
    slip = (v + np.cross(w, arm)) * [1.0, 1.0, 0.0]
    speed = np.linalg.norm(slip) + 1e-300
    force = np.array([0.0, 0.0, N]) - N * mu * np.tanh(speed / v_s) * slip / speed
    return np.hstack([v, force / MASS - [0, 0, G], np.cross(arm, force) / (0.4 * MASS * RADIUS**2)])


@pytest.mark.parametrize(
    ("method", "step", "error"), [("RKMK4", 1e-5, 2e-7), ("TREE_VARIATIONAL", 1e-4, 2e-5), (None, None, 1e-7)]
)
def test_a_ball_thrown_on_the_ground_moves_as_an_independent_right_side(method, step, error):
    """DOP853 at 1e-12 on the same law: bounces, slips, takes up spin.  Without a method the run takes variable steps,
    since GAUSS8, which would be chosen for what is smooth, doubts what it does here.
    """
    law = {"friction": 0.3, "slip_speed": 0.2, "damping": 0.3}
    made, v, w = ball_on(GROUND, **law), np.array([1.0, -0.5, -1.0]), np.array([4.0, 10.0, 2.0])
    problem = made.problem(at(0, 0, 0.15), np.hstack([v, w]))
    run = integrate(problem, method, (0.0, 0.3), step=step) if method else integrate(problem, (0.0, 0.3))
    assert run.success
    if not method:
        assert "RKMK_DOP853, chosen for want of a method, with rtol=1e-09" in run.message
        assert not integrate(problem, "GAUSS8", (0.0, 0.3)).success
    true = solve_ivp(
        right_side, (0.0, 0.3), np.hstack([[0, 0, 0.15], v, w]), "DOP853", args=(STIFF, 0.3, 0.3, 0.2),
        rtol=1e-12, atol=1e-13, max_step=1e-3,
    ).y[:, -1]  # fmt: skip
    R = rotation_from_quaternion(run["q"][-1, 3:])
    found = np.hstack([run["q"][-1, :3], R @ run["p"][-1, :3] / MASS, R @ run["p"][-1, 3:] / (0.4 * MASS * RADIUS**2)])
    assert np.abs(found - true)[:6].max() < error
    assert np.abs(found - true)[6:].max() * RADIUS < 5 * error


def test_friction_becomes_rolling_as_its_slip_speed_goes_to_zero():
    """A ball with three moments on rough ground against the same ball with its rolling as a closure: the distance is
    proportional to v_s.
    """
    inertia = Inertia.about_com(MASS, (0, 0, 0), np.diag([1.2e-3, 1.8e-3, 2.6e-3]))
    v = np.array([0.3, 0.0, 0.0, 0.5, 3.0, -1.0])
    v[:3] = np.cross(v[3:], [0.0, 0.0, RADIUS])
    rolling = Mechanism(
        Tree([Body("ball", Free(), inertia=inertia)]), [constraints.ball(Frame("ball"), RADIUS)], home=at(0, 0, RADIUS)
    )
    true = integrate(rolling.problem(at(0, 0, RADIUS), v), "TREE_VARIATIONAL", (0.0, 1.0), step=1e-3)["q"][-1]
    gaps = []
    for slip_speed in (1e-1, 1e-2, 1e-3):
        made = ball_on(GROUND, inertia, friction=2.0, slip_speed=slip_speed)
        q = integrate(made.problem(at(0, 0, REST), v), "TREE_VARIATIONAL", (0.0, 1.0), step=1e-3)["q"][-1]
        gaps.append(np.linalg.norm(np.delete(q - true, 2)))
    assert gaps[0] > 1e-4
    assert np.diff(np.log10(gaps)) == pytest.approx([-1.0, -1.0], abs=0.1)


@pytest.mark.parametrize("height", [1e-3, 1.0])
def test_a_fall_from_rest_at_the_origin_is_watched(height):
    """No energy is there at the start; what gravity gives on the way to the ground is at play."""
    inertia = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.004 * np.eye(3))
    ball = Tree([Body("ball", Free(), inertia=inertia)])
    ground = contact(Sphere(Frame("ball"), 0.1), Frame(None, (0.0, 0.0, -0.1 - height)), stiffness=1e6)
    run = integrate(Mechanism(ball, elements=[ground]).problem(), "RKMK4", (0.0, 1.0), 0.05)
    assert run.finished
    assert not run.success
    assert run.doubts[0].name == "energy"
    assert [guard.name for guard in ball.problem(ball.neutral()).guards] == ["energy"]


@pytest.mark.parametrize(
    ("method", "step", "law", "stiffness", "damping"),
    [("RODAS4", 1e-3, "kelvin_voigt", 2e4, 20.0), ("TREE_VARIATIONAL", 2e-3, "hunt_crossley", 2e4, 0.3)],
)
def test_what_is_said_of_a_run_knows_no_unit_of_length(method, step, law, stiffness, damping):
    """A ball with spin that falls on a plane: in millimetres its jumps and pulses were measured by its turns."""
    runs = []
    for unit in (1.0, 1e3):
        inertia = Inertia.about_com(0.5, (0, 0, 0), 0.2 * (0.1 * unit) ** 2 * np.eye(3))
        ball = Tree([Body("ball", Free(), inertia=inertia)], gravity=(0, 0, -9.81 * unit))
        touch = contact(
            Sphere(Frame("ball"), 0.1 * unit), Frame(None), stiffness=stiffness, law=law, friction=0.5,
            damping=damping / unit if law == "hunt_crossley" else damping, slip_speed=0.02 * unit,
        )  # fmt: skip
        start = [0, 0, 0.2 * unit, 1, 0, 0, 0], [0.5 * unit, 0, 0, 0, 8.0, 3.0]
        runs.append(integrate(Mechanism(ball, elements=[touch]).problem(*start), method, (0, 0.4), step, save_every=1))
    one, other = runs
    assert np.abs(one["q"][-1, :3] - other["q"][-1, :3] / 1e3).max() < 1e-7
    assert [d.name for d in one.doubts] == [d.name for d in other.doubts]


def test_what_has_come_to_stand_on_stiff_friction_does_not_make_the_steps_of_its_run_short():
    """An explicit method takes ten times as many steps for what the friction of four feet damps within one."""
    trunk = Body("trunk", Free(), inertia=Inertia.about_com(10.0, (0, 0, 0), np.diag([0.3, 0.5, 0.7])))
    feet = [Sphere(Frame("trunk", (x, y, -0.2)), 0.05) for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    law = {"stiffness": 5e4, "damping": 0.5, "friction": 0.8, "slip_speed": 1e-4}
    table = Mechanism(Tree([trunk]), elements=[contact(foot, GROUND, **law) for foot in feet])
    problem, span = table.problem(at(0, 0, 0.2496), [0.0, 0.0, 0.0, 0.1, 0.0, 0.0]), (0.0, 1.0)
    run = integrate(problem, span)
    assert run.success, run.message
    assert "RKMK_RADAU_IIA5, chosen for want of a method, with rtol=1e-09 for what has come to decay" in run.message
    explicit = integrate(problem, "RKMK_DOP853", span, rtol=1e-9, atol=1e-12)
    assert run.y[-1] == pytest.approx(explicit.y[-1], abs=1e-6)
    assert explicit.steps > 10 * run.steps


@pytest.mark.parametrize("restitution", [0.9, 1.0])
def test_steps_within_a_blow_are_no_stiffness_of_what_bounces(restitution):
    """They are short beside the run; the method that damps would take three times as long."""
    damping = hunt_crossley_factor(restitution, speed=2.0) if restitution < 1.0 else 0.0
    bouncing = ball_on(GROUND, damping=damping, friction=0.3, slip_speed=0.01)
    run = integrate(bouncing.problem(at(0, 0, 0.3), [MASS, 0, 0, 0, 0, 0]), (0.0, 20.0))
    assert run.success, run.message
    assert "RKMK_DOP853, chosen for want of a method" in run.message


def test_what_long_steps_would_pass_over_is_met_by_short_ones():
    """A ball strikes another in flight, for 2 ms, while a block stands on stiff friction: nothing else happens."""
    small = Inertia.about_com(0.1, (0, 0, 0), 1e-4 * np.eye(3))
    block = Body("block", Prismatic((1, 0, 0)), inertia=Inertia.point(1.0))
    balls = [Body(name, Prismatic((1, 0, 0)), position=(0, 5, 0), inertia=small) for name in ("ball", "target")]
    touch = contact(Sphere(Frame("ball"), 0.01), Sphere(Frame("target"), 0.01), stiffness=1e5)
    held = dry_friction("block_joint", force=2.0, slip_speed=1e-4), joint_spring("block_joint", 1.0)
    made = Mechanism(Tree([block, *balls], gravity=(0, 0, 0)), elements=[touch, *held])
    run = integrate(made.problem([0.5, 0.0, 15.0], [1.0, 10.0, 0.0]), (0.0, 6.0))
    assert run.success, run.message
    assert "RKMK_DOP853, chosen for want of a method" in run.message
    assert run.y[-1, 4:6] == pytest.approx([0.0, 1.0], abs=1e-7)
