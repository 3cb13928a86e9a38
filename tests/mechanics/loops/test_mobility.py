"""Ranks that need care: rows that hold nothing, and positions where closures depend on each other."""

import re
import warnings
from contextlib import nullcontext

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation

from integrators import integrate
from mechanics import Body, Frame, Inertia, ModelError, ModelWarning, Tree, equilibrium, frame_pose
from mechanics.constraints.couplings import gear
from mechanics.constraints.loops import distance, revolute, spherical
from mechanics.constraints.mobility import pivots
from mechanics.constraints.wheels import skate, wheel
from mechanics.formulations.reactions import reactions
from mechanics.joints import Planar, Revolute
from mechanics.joints.free import Free
from mechanics.mechanism import Mechanism
from mechanics.problems.watch import findings

SOLID = Inertia.about_com(2.0, (0.4, 0.0, 0.1), np.diag([0.2, 0.3, 0.4]))


def door(axis):
    """A door on one hinge of the tree and one of a closure, on one line."""
    a, foot = np.array(axis) / np.linalg.norm(axis), np.array([0.1, 0.2, 0.3])
    tree = Tree([Body("door", Revolute(axis), None, foot, inertia=SOLID)], "door")
    upper = revolute(Frame.with_axis(None, foot + 1.1 * a, axis), Frame.with_axis("door", 1.1 * a, axis), "upper")
    return Mechanism(tree, [upper])


def test_pivots_are_those_of_lapack_and_ties_do_not_depend_on_rounding():
    rng = np.random.default_rng(0)
    for _ in range(20):
        matrix = rng.normal(size=(5, 9))
        assert pivots(matrix, 5) == scipy.linalg.qr(matrix, pivoting=True)[2][:5].tolist()
        tied = np.linalg.qr(rng.normal(size=(5, 5)))[0] @ np.eye(5)[:, [2, 0, 2, 1, 0]]
        assert pivots(tied * (1.0 + 1e-13 * rng.normal(size=5)), 3) == [0, 1, 3]
        assert pivots(tied, 5) == [0, 1, 3, 2, 4]  # beyond the rank in their order


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.3, -0.5, 0.7)])
def test_a_door_on_two_hinges_turns_as_on_one(axis):
    """Every row of the second hinge is zero in exact arithmetic: rank 0, whatever the rounding."""
    made = door(axis)
    m = made.mobility
    assert (m.rank, m.dof, m.redundant, m.kept) == (0, 1, 5, [])
    assert np.isfinite([m.smallest, m.next]).all()
    assert not m.is_doubtful
    assert made.velocities(made.home, {"door_joint": 2.0}).v == pytest.approx([2.0], abs=1e-15)
    run = integrate(made.problem(v=[2.0]), "RKMK4", (0.0, 1.0), step=0.01)
    alone = integrate(made.tree.problem([0.0], [2.0]), "RKMK4", (0.0, 1.0), step=0.01)
    assert run.success
    assert run.y[-1] == pytest.approx(alone.y[-1], abs=1e-13)


def test_rounding_of_one_kind_of_rows_has_no_say_beside_rows_that_hold():
    """A door with a pin at its tip: rows of shifts hold it, those of turns are zero but for rounding."""
    axis = np.array([0.3, -0.5, 0.7])
    made = door(tuple(axis))
    tip = np.array([0.6, 0.1, 0.2])
    pin = spherical(Frame(None, made.tree.bodies[0].position + tip), Frame("door", tip), "pin")
    m = Mechanism(made.tree, [*made.equations.closures, pin]).mobility
    assert (m.rank, m.dof) == (1, 0)
    assert m.scales.max() < 1e3


@pytest.mark.parametrize("light", [1.0, 1e-3, 1e-6, 1e-9])
def test_ranks_do_not_depend_on_masses(light):
    """Two gears of a heavy machine and two of a light one beside it, and two rods, which hold ten bodies less four."""
    solid = [Inertia.about_com(m, (0, 0, 0), 0.1 * m * np.eye(3)) for m in (1e3, light)]
    wheels = [Body(name, Revolute(), inertia=solid[name in "cd"]) for name in "abcd"]
    geared = Mechanism(Tree(wheels), [gear("a_joint", "b_joint", 2.0), gear("c_joint", "d_joint", -3.0)])
    assert (geared.mobility.rank, geared.mobility.redundant) == (2, 0)
    free = [Body(name, Free(), inertia=solid[name == "b"]) for name in "ab"]
    rods = [distance(Frame(None, (x, 0, 1)), Frame(name), 1.0, name) for name, x in (("a", 0.0), ("b", 5.0))]
    held = Mechanism(Tree(free), rods, home=[0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 1, 0, 0, 0])
    assert (held.mobility.rank, held.mobility.dof) == (2, 10)
    twice = Mechanism(held.tree, [*rods, distance(rods[1].first, rods[1].second, 1.0, "b again")], home=held.home)
    assert (twice.mobility.rank, twice.mobility.redundant) == (2, 1)
    v, _ = held.projected_velocity(held.home, np.arange(1.0, 13.0))
    assert np.abs(held.closing_velocity(held.home, v)).max() < 1e-14
    np.testing.assert_allclose(v[[0, 1, 2, 6, 7, 8]], [1.0, 2.0, 0.0, 7.0, 8.0, 0.0], atol=1e-13)


@pytest.mark.parametrize("ratio", [1.0, 4e3, 1e6])
def test_ranks_do_not_depend_on_the_ratio_of_a_gear(ratio):
    wheel = Inertia.about_com(1.0, (0, 0, 0), 0.1 * np.eye(3))
    tree = Tree([Body(name, Revolute(), inertia=wheel) for name in "abcd"])
    made = Mechanism(tree, [gear("a_joint", "b_joint", ratio), gear("c_joint", "d_joint", 1.0)])
    assert made.mobility.rank == 2


def tilted_four_bar(seed, rounded, rank=None):
    """A four-bar in a tilted plane, the axes of its links turned about its hinges; its numbers are rounded."""
    R = Rotation.random(random_state=seed).as_matrix()
    bar = Inertia.about_com(1.0, (0.15, 0.0, 0.0), np.diag([0.001, 0.01, 0.01]))
    quarter = Rotation.from_euler("x", 90.0, degrees=True).as_matrix()
    bars = [
        Body("a", Revolute((0, 0, 1)), None, (0.0, 0.0, 0.0), rounded(R), inertia=bar),
        Body("b", Revolute((0, 1, 0)), "a", (0.3, 0.0, 0.0), rounded(quarter), inertia=bar),
        Body("c", Revolute((0, 0, 1)), "b", (0.9, 0.0, 0.0), rounded(quarter.T), inertia=bar),
    ]
    base = Frame.with_axis(None, rounded(R[:, 0]), rounded(R[:, 2]))
    pin = revolute(base, Frame.with_axis("c", (0.7, 0.0, 0.0), (0, 0, 1)), "pin")
    return Mechanism.assembled(Tree(bars), [pin], [0.7, 0.5, -1.2], ["a_joint"], rank=rank)


def digits(count):
    """Rounds rotation vectors and directions, as URDF has them."""

    def rounded(x):
        if x.shape == (3,):
            return np.round(x, count)
        return Rotation.from_euler("xyz", np.round(Rotation.from_matrix(x).as_euler("xyz"), count)).as_matrix()

    return rounded


@pytest.mark.parametrize("seed", [1, 3])
def test_rounded_data_move_as_exact_ones(seed):
    """Closures of a plane loop depend on each other but for the rounding of files, which are accepted to 1e-8."""
    exact = tilted_four_bar(seed, lambda x: x)
    pose, forces = equilibrium(exact).q, list(reactions(exact).values())
    ends = [integrate(exact.problem(), "RKMK4", (0.0, 0.3), step=0.01).y[-1]]
    for count in (11, 10, 9, 8):
        made = tilted_four_bar(seed, digits(count))
        m = made.mobility
        assert (m.rank, m.dof, m.is_doubtful) == (2, 1, False)
        assert equilibrium(made).q == pytest.approx(pose, abs=1e-6)
        assert list(reactions(made).values()) == pytest.approx(forces, abs=1e-5)
        for projection, method in (("positions", "RKMK4"), ("momenta", "TREE_VARIATIONAL")):
            run = integrate(made.problem(projection=projection), method, (0.0, 0.3), step=0.01)
            assert run.success, run.message
            assert method != "RKMK4" or run.y[-1] == pytest.approx(ends[0], abs=1e-6)


def bars_with_axes_off_by(size):
    """Three bars in a row, and a closed configuration of theirs with the pin that closes it there."""
    rng, axes = np.random.default_rng(0), np.array([0.0, 0.0, 1.0])
    bars = [
        Body(name, Revolute(axes + size * rng.normal(size=3)), before, (x, 0.0, 0.0), inertia=SOLID)
        for name, before, x in (("a", None, 0.0), ("b", "a", 0.3), ("c", "b", 0.9))
    ]
    tree, q, end = Tree(bars), [0.7, 0.5, -1.2], Frame("c", (0.7, 0.0, 0.0))
    return tree, q, Frame(None, *frame_pose(tree, q, end)), end


@pytest.mark.parametrize(("kind", "size"), [(spherical, 1e-5), (revolute, 1e-6)])
def test_equations_that_hold_as_little_as_rounding_are_named(kind, size):
    """Axes off by a little whose pin is put where the loop closes: rigid, by what may be rounding."""
    tree, q, base, end = bars_with_axes_off_by(size)
    pin = kind(base, end, "pin")
    with pytest.warns(ModelWarning, match=r"1 of 3 equations of 'tree' hold next to nothing at home \(pin\).*rank=2"):
        assert Mechanism(tree, [pin], q).mobility.dof == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = Mechanism(tree, [pin], q, rank=2)
    assert told.mobility.dof == 1
    exact = [Body(bar.name, Revolute(), bar.parent, bar.position, inertia=SOLID) for bar in tree.bodies]
    others = Mechanism.assembled(Tree(exact), [spherical(Frame(None, base.position * (1.0, 1.0, 0.0)), end)], q)
    run, true = (integrate(made.problem(rates={"a_joint": 2.0}), "GAUSS8", (0.0, 0.5), 0.01) for made in (told, others))
    assert run.success, run.message  # the equations that count are kept, not those of rounding
    assert np.abs(true["q"][-1] - true["q"][0]).max() > 0.3
    assert np.abs(run["q"] - true["q"]).max() < 1e-3


def test_a_rank_without_closures_is_refused():
    tree, *_ = bars_with_axes_off_by(0.0)
    with pytest.raises(ModelError, match="rank: is 2, but there are no closures"):
        Mechanism(tree, rank=2)


def test_a_frame_that_three_digits_may_have_made_is_named():
    """A rank does not help there, and is not advised; what is held by more is meant as a frame."""
    tree, q, base, end = bars_with_axes_off_by(5e-4)
    with pytest.warns(ModelWarning, match=r"1 of 3 equations .* nothing moves; give more digits, a home") as told:
        assert Mechanism(tree, [spherical(base, end, "pin")], q).mobility.dof == 0
    assert "rank=" not in str(told[0].message)
    tree, q, base, end = bars_with_axes_off_by(0.1)
    assert Mechanism(tree, [spherical(base, end, "pin")], q).mobility.dof == 0


@pytest.mark.parametrize("size", [1e-3, 1e-2, 0.1])
def test_a_rank_does_not_make_rounding_of_what_holds(size):
    """Axes off by more than data are rounded: equations that a rank leaves out open, and are doubted."""
    tree, q, base, end = bars_with_axes_off_by(size)
    wrong = Mechanism(tree, [spherical(base, end)], q, rank=2)
    run = integrate(wrong.problem(rates={"a_joint": 2.0}), "GAUSS8", (0.0, 0.5), 0.01)
    assert run.maximum("gap") > 1e-2 * size
    assert not run.success
    assert "gap" in [doubt.name for doubt in run.doubts] or not run.finished


LENGTH, HALF = 2.0, 0.7


def car(left, right, rank=None):
    """A car in the plane: blades across the rear axle and under each front wheel, which steer by themselves."""
    wheel = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.2, 0.3, 0.4]))
    bodies = [
        Body("chassis", Planar(), inertia=SOLID),
        Body("left", Revolute(), "chassis", (LENGTH, HALF, 0.0), inertia=wheel),
        Body("right", Revolute(), "chassis", (LENGTH, -HALF, 0.0), inertia=wheel),
    ]
    blades = [
        skate(Frame.with_axis(name, axis=(0, 1, 0)), name=f"blade {name}") for name in ("chassis", "left", "right")
    ]
    return Mechanism(Tree(bodies, "car"), blades, home=[0.0, 0.0, 0.0, left, right], rank=rank)


RADIUS = 5.0
ACKERMANN = (np.arctan(LENGTH / (RADIUS - HALF)), np.arctan(LENGTH / (RADIUS + HALF)))
AROUND = {"chassis_joint": (1.0, 0.0, 1.0 / RADIUS)}


def test_a_position_where_wheels_lose_rank_is_named():
    """The normals of all wheels meet in one point: three rows of rank 2, and the car can go round that point."""
    with pytest.warns(
        ModelWarning, match=r"singular position.*rank 2 there and 3 elsewhere \(blade chassis, blade left"
    ):
        made = car(*ACKERMANN)
    assert (made.mobility.rank, made.mobility.at_home) == (3, 2)
    assert made.mobility.is_singular_at_home
    assert "home is a singular position" in made.mobility.report()
    with pytest.raises(ModelError, match=r"singular position.*rank 2 here and 3 elsewhere.*rank=2"):
        made.velocities(made.home, AROUND)
    v = car(*ACKERMANN, rank=2)
    assert np.allclose(v.velocities(v.home, AROUND).v, (1.0, 0.0, 1.0 / RADIUS, 0.0, 0.0), atol=1e-14)


@pytest.mark.parametrize(("rate", "slips"), [(0.0, False), (1e-4, True), (0.3, True)])
def test_wheels_that_slip_because_the_rank_was_given_too_small_are_doubtful(rate, slips):
    """With rank 2 the car goes round its point; where a wheel is steered, the third blade slips."""
    made = car(*ACKERMANN, rank=2)
    v = made.velocities(made.home, AROUND).v + rate * np.eye(made.tree.nv)[3]
    run = integrate(made.problem(v=v), "RKMK4", (0, 1), 1e-3)
    assert (run.maximum("velocity_gap") > 1e-5) == slips
    assert [doubt.name for doubt in run.doubts] == ["velocity_gap"] * slips
    assert run.success != slips


def test_velocities_at_a_singular_position_are_numbers_or_refused():
    """Wheels straight: the front blades depend on each other exactly, which gave NaN."""
    with pytest.warns(ModelWarning, match=r"\(blade left, blade right\)"):
        made = car(0.0, 0.0)
    with pytest.raises(ModelError, match="singular position"):
        made.velocities(made.home, {"chassis_joint": (1.0, 0.0, 0.0)})


def parallelogram(home):
    hinge, bar = Revolute((0, 0, 1)), Inertia.about_com(1.0, (0.5, 0.0, 0.0), np.diag([0.01, 0.1, 0.1]))
    bodies = [
        Body("left", hinge, inertia=bar),
        Body("coupler", hinge, "left", (1.0, 0.0, 0.0), inertia=bar),
        Body("right", hinge, None, (2.0, 0.0, 0.0), inertia=bar),
    ]
    pin = revolute(Frame("coupler", (2.0, 0.0, 0.0)), Frame("right", (1.0, 0.0, 0.0)), name="pin")
    return Mechanism(Tree(bodies, gravity=(0, 0, 0)), [pin], home=home)


@pytest.mark.parametrize("home", [[0.0, 0.0, 0.0], [1.0, -1.0, 1.0]])
def test_a_singular_position_is_named_also_where_home_is_one(home):
    with pytest.warns(ModelWarning, match="singular position") if home[0] == 0.0 else nullcontext():
        made = parallelogram(home)
    problem = made.problem([1.0, -1.0, 1.0])
    for angle in (0.0, 1e-4, np.pi):
        state = np.array([angle, -angle, angle, 0.0, 0.0, 0.0])
        assert re.fullmatch(r"near a singular position: pin.*, \S+ of its usual value", problem.explain(0.0, state))
        assert [found.kind for found in findings(made, [0.0], state[None, :3])] == ["singular"]
    assert problem.explain(0.0, problem.y0) == ""
    assert findings(made, [0.0], problem.y0[None, :3]) == []


@pytest.mark.parametrize("turned", [0.0, np.pi])
def test_what_forces_of_closures_decide_is_refused_at_singular_positions(turned):
    """A parallelogram stretched out, or folded: it may go on as one or as its mirror image."""
    made = parallelogram([1.0, -1.0, 1.0])
    q, v = np.array([turned, -turned, turned]), np.array([1.0, -1.0, 1.0])
    with pytest.raises(ModelError, match="q: is a singular position: the closures have rank 1 here and 2 elsewhere"):
        made.projected_velocity(q, [1.0, 0.0, 0.0])
    with pytest.raises(ModelError, match="q: is a singular position: the closures have rank 1 here and 2 elsewhere"):
        reactions(made, q, v)
    assert np.allclose(made.projected_velocity(made.home, v)[0], v, rtol=0, atol=1e-14)
    assert len(reactions(made, made.home, v)) == 5


@pytest.mark.parametrize("rates", [[1.0, 2.0], np.nan])
def test_rates_that_are_none_of_a_joint_are_named(rates):
    made = car(0.1, 0.3)
    with pytest.raises(ValueError, match=r"rates of 'left_joint': .*expected one finite number, or 1"):
        made.velocities(made.home, {"left_joint": rates})


def test_a_position_like_others_says_nothing():
    m = car(0.1, 0.3).mobility
    assert m.at_home == m.rank == 3
    assert m.at_stake == ()


RIM = 0.3


def wheeled(left, right, rank=None):
    """The same car in space: four wheels with heights, rolling and sideways rows, the front ones on hubs of their own.

    Twelve rows; one load and one of the sideways rows of the rear axle follow from others in every position: ten.
    """
    box = Inertia.about_com(900.0, (1.0, 0.0, 0.2), np.diag([150.0, 500.0, 600.0]))
    hub = Inertia.about_com(5.0, (0, 0, 0), 0.1 * np.eye(3))
    rim = Inertia.about_com(15.0, (0, 0, 0), np.diag([0.4, 0.7, 0.4]))
    bodies, wheels = [Body("chassis", Free(), inertia=box)], []
    places = {"rear left": (0.0, HALF), "rear right": (0.0, -HALF), "left": (LENGTH, HALF), "right": (LENGTH, -HALF)}
    for name, (x, y) in places.items():
        parent, place = "chassis", (x, y, 0.0)
        if x > 0.0:
            bodies.append(Body(f"{name} hub", Revolute(), parent, place, inertia=hub))
            parent, place = f"{name} hub", (0.0, 0.0, 0.0)
        bodies.append(Body(f"{name} wheel", Revolute((0, 1, 0)), parent, place, inertia=rim))
        wheels.append(wheel(Frame.with_axis(f"{name} wheel", axis=(0, 1, 0)), RIM, name=name))
    tree = Tree(bodies, "wheeled car", gravity=(0.0, 0.0, -9.81))
    home = tree.neutral()
    home[2] = RIM
    home[tree.q_slice("left hub_joint")], home[tree.q_slice("right hub_joint")] = left, right
    return Mechanism(tree, wheels, home, rank=rank)


ROLLING = {"rear left wheel_joint": 1.0, "left hub_joint": 0.0, "right hub_joint": 0.0}


def test_four_wheels_lose_one_of_ten_rows_at_ackermanns_angles():
    assert wheeled(0.1, 0.3).mobility.rank == wheeled(0.1, 0.3).mobility.at_home == 10
    with pytest.warns(ModelWarning, match=r"rank 9 there and 10 elsewhere \(rear left, rear right, left, right\)"):
        made = wheeled(*ACKERMANN)
    assert (made.mobility.rank, made.mobility.at_home) == (10, 9)
    with pytest.raises(ModelError, match=r"rank 9 here and 10 elsewhere.*rank=9"):
        made.velocities(made.home, ROLLING)


@pytest.mark.parametrize("rank", [9, None])
def test_the_car_goes_round_with_either_rank(rank):
    """Of rank 10 it runs, from given velocities, through positions of rank 9 only: multipliers are not unique, the
    motion is.
    """
    v = wheeled(*ACKERMANN, rank=9)
    v = v.velocities(v.home, ROLLING).v
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        made = wheeled(*ACKERMANN, rank=rank)
    run = integrate(made.problem(v=v), "RKMK4", (0, 1), 1e-3)
    angle = v[0] / RADIUS
    assert run.success
    assert run["q"][-1, :2] == pytest.approx([RADIUS * np.sin(angle), RADIUS * (1.0 - np.cos(angle))], abs=1e-12)


@pytest.mark.parametrize(("rate", "trusted"), [(0.0, True), (1e-4, False), (0.3, False)])
def test_a_car_whose_front_wheel_is_steered_under_rank_nine_slips_and_says_so(rate, trusted):
    made = wheeled(*ACKERMANN, rank=9)
    v = made.velocities(made.home, ROLLING | {"left hub_joint": rate}).v
    run = integrate(made.problem(v=v), "RKMK4", (0, 1), 1e-3)
    assert run.success == trusted
    assert [doubt.name for doubt in run.doubts] == ["velocity_gap"] * (not trusted)


@pytest.mark.parametrize("closure", [distance(Frame(None), Frame("s"), 1.0), wheel(Frame("s"), 0.3), skate(Frame("s"))])
@pytest.mark.parametrize("make", [Mechanism, Mechanism.assembled])
def test_closures_without_a_direction_are_named(make, closure):
    """Points at a distance that coincide, a wheel and a blade that lie on the plane."""
    tree = Tree([Body("s", Free(), inertia=SOLID)])
    with pytest.raises(
        ModelError, match=f"closure '{closure.name}': has no direction in this position: its points coin"
    ):
        make(tree, [closure])
