"""Equilibria, linear motions, modes and stability: closed forms, published tables, and differences of the motion."""

import cProfile

import mpmath
import numpy as np
import pytest

import mechanics
from liegroup.table import EXP, increment
from mechanics import Body, Frame, Inertia, JointData, Mechanism, ModelError, Tree
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.couplings import polynomial
from mechanics.constraints.loops import distance, holonomic, spherical
from mechanics.elastic.rods import Load, Rod, Section, beam, vibrations
from mechanics.elastic.rods import equilibrium as rod_equilibrium
from mechanics.forces import Sphere, Tendon, contact, joint_spring, polynomial_spring, servo, spring_damper, thruster
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.joints import (
    Fixed,
    Free,
    Motion,
    Planar,
    Prismatic,
    Revolute,
    Rheonomic,
    Spherical,
    Turn,
    Universal,
)
from mechanics.linear import EquilibriumError
from mechanics.linear.posed import Posed
from mechanics.linear.spectrum import eigenvalues
from mechanics.systems.loops import four_bar, slider_crank
from mechanics.systems.rolling import two_wheeled_pendulum, whipple_bicycle
from mechanics.testing import random_tree

G = 9.81
Y = (0.0, 1.0, 0.0)


def bob(mass=1.0, length=1.0):
    return Inertia.about_com(mass, (0, 0, -length), np.zeros((3, 3)))


def double_pendulum():
    return Tree([Body("a", Revolute(Y), inertia=bob()), Body("b", Revolute(Y), "a", (0, 0, -1), inertia=bob())])


def planar_chain(count, stiffness, mass=0.7):
    """Masses in a row on slides, springs between neighbours (and to the base)."""
    lump = Inertia.about_com(mass, (0, 0, 0), 0.01 * np.eye(3))
    bodies = [
        Body(f"m{k}", Prismatic((1, 0, 0)), f"m{k - 1}" if k else None, inertia=lump) for k in range(count)
    ]  # fmt: skip
    return Mechanism(Tree(bodies), elements=[joint_spring(f"m{k}_joint", stiffness) for k in range(count)])


def ordered(values):
    """Eigenvalues, pairs completed, by real and imaginary part."""
    values = np.concatenate([values, np.conj(values[values.imag != 0.0])])
    return values[np.lexsort((np.round(values.imag, 9), np.round(values.real, 9)))]


# --- equilibria -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "stands", "verdict"),
    [([0.4, -0.5], [0, 0], "stable"), ([2.9, 0.1], [np.pi, 0], "unstable"), ([0.2, 2.8], [0, np.pi], "unstable")],
)
def test_a_double_pendulum_hangs_or_stands(guess, stands, verdict):
    found = mechanics.equilibrium(double_pendulum(), guess)
    np.testing.assert_allclose(found.q, stands, atol=1e-12)
    assert (found.stability, found.iterations < 10) == (verdict, True)
    assert found.residual < 1e-13


def test_downhill_it_hangs():
    found = mechanics.equilibrium(double_pendulum(), [2.9, 0.1], stable=True)
    assert found.stability == "stable"
    assert np.abs(np.sin(found.q)).max() < 1e-12


def test_joint_forces_hold_an_arm_where_it_is():
    tree = double_pendulum()
    tau = mechanics.bias(tree, [0.5, 0.4], [0.0, 0.0])
    np.testing.assert_allclose(mechanics.equilibrium(tree, [0.45, 0.42], tau=tau).q, [0.5, 0.4], atol=1e-12)


def test_a_body_hangs_on_three_springs():
    """A free body, its stiffness that of the springs; equations of motion by the interpreted kernels agree."""
    tree = Tree([Body("plate", Free(), inertia=Inertia.about_com(2.0, (0, 0, 0), np.diag([0.02, 0.03, 0.04])))])
    corners = 0.3 * np.array([[1, 0, 0], [-0.5, 0.8, 0], [-0.5, -0.8, 0]])
    springs = [
        spring_damper(Frame(None, 1.5 * c + [0, 0, 1.0]), Frame("plate", c), 300.0, damping=0.0, length=0.9)
        for c in corners
    ]
    made = Mechanism(tree, elements=springs)
    found = mechanics.equilibrium(made)
    assert found.stability == "stable"
    assert found.residual < 1e-11
    p = np.zeros(6)
    assert np.abs(made.rhs(found.q, p)[1]).max() < 1e-11
    K = []
    for side in (1e-5, -1e-5):
        K.append([-made.rhs(moved_by(tree, found.q, side * e), p)[1] for e in np.eye(6)])
    by_differences = (np.array(K[0]) - np.array(K[1])).T / 2e-5
    np.testing.assert_allclose(Posed(made).rest(found.q).stiffness, by_differences, atol=1e-5)
    squares = np.linalg.eigvals(np.linalg.solve(mechanics.mass_matrix(tree, found.q), by_differences))
    np.testing.assert_allclose(np.sort(squares.real), found.stiffness, rtol=1e-6)


def test_a_loop_rests_where_its_weight_is_lowest():
    """Reactions hold the opened tree; the reduced stiffness is the curvature of the potential along the loop."""
    made = four_bar.mechanism()
    guess = made.assemble(moved_by(made.tree, made.home, -2.5 * np.eye(made.tree.nv)[0]), hold=["crank_joint"]).q
    found = mechanics.equilibrium(made, guess)
    assert found.stability == "stable"
    force = mechanics.bias(made.tree, found.q, np.zeros(made.tree.nv))
    held = made.equations.matrix(found.q).T @ np.array(list(found.reactions.values()))
    np.testing.assert_allclose(held, force, atol=1e-12)
    crank, h = float(found.q[0]), 1e-3

    def potential(angle):
        q = found.q.copy()
        q[0] = angle
        q = made.assemble(q, hold=["crank_joint"]).q
        return float(mechanics.potential_energy(made.tree, q)), q

    values = [potential(crank + k * h)[0] for k in (-1, 0, 1)]
    curvature = (values[0] - 2 * values[1] + values[2]) / h**2
    v = made.velocities(found.q, {"crank_joint": 1.0}).v
    inertia = float(v @ mechanics.mass_matrix(made.tree, found.q) @ v)
    assert found.stiffness[0] == pytest.approx(curvature / inertia, rel=1e-5)
    assert mechanics.modes(made, found).angular_frequencies[0] ** 2 == pytest.approx(found.stiffness[0], rel=1e-12)


@pytest.mark.parametrize("is_framed", [False, True])
def test_what_a_loop_stands_on_changes_nothing(is_framed):
    """A bob upright on a light rod, held by too weak a spring: k/m − g/l of the reaction in the rod."""
    base = [Body("frame", Fixed(), inertia=Inertia.point(1.0))] if is_framed else []
    bodies = [
        Body("x", Prismatic((1, 0, 0)), "frame" if is_framed else None, inertia=Inertia.point(1e-9)),
        Body("bob", Prismatic((0, 0, 1)), "x", inertia=Inertia.point(2.0)),
    ]
    rod = distance(Frame(None), Frame("bob"), 1.0)
    made = Mechanism(Tree([*base, *bodies]), [rod], [0.0, 1.0], [joint_spring("x_joint", 12.0)])
    found = mechanics.equilibrium(made, [0.0, 1.0])
    assert found.stability == "unstable" == mechanics.stability(made, found).verdict
    np.testing.assert_allclose(found.stiffness, [12.0 / 2.0 - G], rtol=1e-6)
    assert mechanics.modes(made, found).by == "stiffness and mass"


def test_stiff_springs_are_followed():
    """A pendulum on a pin of 1e6 N/m, from a guess that is off by 0.3 m: a narrow valley that bends."""
    tree = Tree([
        Body("x", Prismatic((1, 0, 0)), inertia=Inertia.about_com(0.1, (0, 0, 0), 0.001 * np.eye(3))),
        Body("z", Prismatic((0, 0, 1)), "x", inertia=Inertia.about_com(0.1, (0, 0, 0), 0.001 * np.eye(3))),
        Body("rod", Revolute(Y), "z", inertia=bob()),
    ])  # fmt: skip
    made = Mechanism(tree, elements=[spring_damper(Frame(None), Frame("rod", (0, 0, 0.2)), 1e6, length=0.1)])
    found = mechanics.equilibrium(made, [0.3, 0.1, 0.5])
    assert found.iterations < 100
    assert found.residual < 1e-8


def crane(rest, scale=1.0):
    """A trolley on a spring, a load below it; lengths in `scale`."""
    trolley = Body("trolley", Prismatic((1, 0, 0)), inertia=Inertia.about_com(50.0, (0, 0, 0), scale**2 * np.eye(3)))
    hung = Inertia.about_com(20.0, (0, 0, -4.0 * scale), scale**2 * np.eye(3))
    tree = Tree([trolley, Body("load", Revolute(Y), "trolley", inertia=hung)], gravity=(0.0, 0.0, -G * scale))
    return Mechanism(tree, elements=[joint_spring("trolley_joint", 400.0, rest=rest * scale)])


@pytest.mark.parametrize("stable", [False, True])
def test_where_an_equilibrium_is_does_not_matter(stable):
    """A linear spring leads to it from any distance, and in any unit of length."""
    for rest in (1.0, 300.0, 1e5):
        found = [mechanics.equilibrium(crane(rest, s), [0.0, 0.4], stable=stable) for s in (1.0, 1e3, 1e-3)]
        assert [each.stability for each in found] == 3 * ["stable"]
        for each, s in zip(found, (1.0, 1e3, 1e-3), strict=True):
            np.testing.assert_allclose(each.q, [rest * s, 0.0], rtol=1e-12, atol=1e-12)
        assert {each.iterations for each in found} == {found[0].iterations}
        assert found[0].iterations < 50


def test_the_way_to_an_equilibrium_does_not_depend_on_the_unit_of_length():
    """A slider-crank, whose closure mixes turns and a slide, between equilibria: every step is the same."""
    found = []
    for unit in (1.0, 30.0, 1e-3):
        crank, rod = (Inertia.about_com(1.0, (x / 2, 0, 0), x * x / 12 * np.eye(3)) for x in (0.4 * unit, 1.0 * unit))
        bodies = [
            Body("crank", Revolute(Y), inertia=crank),
            Body("rod", Revolute(Y), "crank", (0.4 * unit, 0, 0), inertia=rod),
            Body("block", Prismatic((1, 0, 0)), inertia=Inertia.point(1.0)),
        ]
        pin = spherical(Frame("rod", (unit, 0, 0)), Frame("block"))
        spring = joint_spring("block_joint", 40.0, rest=0.7 * unit)
        tree, guess = Tree(bodies, gravity=(0.0, 0.0, -G * unit)), [0.5, -1.0, 1.2 * unit]
        at = mechanics.equilibrium(Mechanism.assembled(tree, [pin], guess, elements=[spring]))
        found.append([*at.q[:2], at.q[2] / unit, at.iterations])
    np.testing.assert_allclose(found[1:], found[:1] * 2, rtol=1e-9)


def test_a_body_on_a_spring_is_found_at_the_same_place_in_any_unit():
    """Where turns and shifts share the way, weights are no stiffness by themselves: they are so many m g a length."""
    found = []
    for unit in (1.0, 1e3, 1e-6):
        body = Inertia.about_com(1.3, (0.1 * unit, 0.0, 0.05 * unit), np.diag([0.03, 0.04, 0.05]) * unit**2)
        tree = Tree([Body("load", Free(), inertia=body)], gravity=(-3.0 * unit, -3.0 * unit, 9.0 * unit))
        ends = Frame("load", (-0.1 * unit, 0.07 * unit, 0.2 * unit)), Frame(None, (-0.3 * unit, 0.5 * unit, 0.5 * unit))
        spring = spring_damper(*ends, 77.0, damping=1.0, length=0.18 * unit)
        start = [0.2 * unit, 0.0, 0.1 * unit, 0.6, 0.0, 0.8, 0.0]
        at = mechanics.equilibrium(Mechanism(tree, elements=[spring]), start)
        found.append([*at.q[:3] / unit, *at.q[3:]])
    np.testing.assert_allclose(found[1:], found[:1] * 2, rtol=1e-9, atol=1e-12)


def test_a_soft_spring_holds_a_slide_in_nanometres():
    nm = 1e9
    rod = Inertia.about_com(2.0, (0.0, 0.0, -0.5 * nm), 0.1 * nm**2 * np.eye(3))
    cart = Body("cart", Prismatic((1.0, 0.0, 0.0)), inertia=Inertia.point(1.0))
    tree = Tree([cart, Body("rod", Revolute(Y), "cart", inertia=rod)], gravity=(0.0, 0.0, -G * nm))
    made = Mechanism(tree, elements=[joint_spring("cart_joint", 2.0)])
    found = mechanics.equilibrium(made, [0.1 * nm, 0.2])
    assert found.stability == "stable"
    squared = np.sort(np.linalg.eigvals(np.linalg.solve([[3.0, -1.0], [-1.0, 0.6]], np.diag([2.0, G]))))  # in metres
    np.testing.assert_allclose(mechanics.modes(made, found).frequencies, np.sqrt(squared), rtol=1e-12)


def test_a_search_that_ends_too_soon_says_so():
    with pytest.raises(EquilibriumError, match=r"N are left at joint 'trolley_joint'; \d+ steps were not enough"):
        mechanics.equilibrium(crane(1e9), [0.0, 0.4])


def test_a_floating_body_without_weight_is_free():
    tree = Tree([Body("craft", Free(), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))], gravity=(0, 0, 0))
    found = mechanics.equilibrium(tree)
    assert (found.stability, len(found.free)) == ("neutral", 6)


@pytest.mark.parametrize("stiffness", [(3.0, 7.0), (1.1, 2.3), (1e5, 3e5)])
def test_forces_that_cancel_are_balanced_without_weight(stiffness):
    """Springs against each other and a thrust, in a row of two slides: what is left is their rounding."""
    first, second = stiffness
    slides = [Body(n, Prismatic((1, 0, 0)), on, inertia=Inertia.point(1.0)) for n, on in (("a", None), ("b", "a"))]
    against = [joint_spring("a_joint", first, rest=0.1), joint_spring("a_joint", second, rest=-0.3)]
    pushed = [joint_spring("b_joint", second, rest=-0.37), thruster(Frame("b"), force=(1, 0, 0), bias=0.7)]
    found = mechanics.equilibrium(Mechanism(Tree(slides, gravity=(0, 0, 0)), elements=[*against, *pushed]))
    true = [(0.1 * first - 0.3 * second + 0.7) / (first + second), 0.7 / second - 0.37]
    np.testing.assert_allclose(found.q, true, rtol=1e-14)
    assert (found.stability, found.iterations) == ("stable", 1)


def test_a_rod_under_a_thrust_is_pressed_by_it():
    """Without weight, by P/EA, for good: nothing was balanced, and minutes of searching ended in a refusal."""
    section = Section.round(0.05, 2.1e11, density=7850.0)
    tip = Body("tip", Free(), position=(1.0, 0.0, 0.0), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))
    pressed = [beam(Frame(None), Frame("tip"), section, 1.0), thruster(Frame("tip"), force=(-1, 0, 0), bias=5e6)]
    found = mechanics.equilibrium(Mechanism(Tree([tip], gravity=(0, 0, 0)), elements=pressed))
    np.testing.assert_allclose(found.q[:3], [-5e6 / section.EA, 0.0, 0.0], rtol=1e-12, atol=1e-15)


def test_what_no_spring_holds_is_free_beside_what_one_holds():
    """Without gravity, behind a joint on a spring: of the stiffness over the mass one eigenvalue is rounding."""
    arm = Inertia.about_com(1.3, (0.4, 0.1, 0.0), np.diag([0.1, 0.2, 0.3]))
    bodies = [Body("a", Revolute(), inertia=arm), Body("b", Revolute(), "a", (1.0, 0.2, 0.0), inertia=arm)]
    made = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=[joint_spring("a_joint", 3e3)])
    for angle in (0.3, 0.7, 1.9):
        found = mechanics.equilibrium(made, [0.1, angle])
        assert (found.stability, len(found.free)) == ("neutral", 1)
        assert mechanics.modes(made, found).rigid == 1


def test_a_spring_between_free_bodies_has_a_potential():
    solid = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.1, 0.2, 0.3]))
    tree = Tree([Body(name, Free(), inertia=solid) for name in "ab"], gravity=(0, 0, 0))
    spring = spring_damper(Frame("a", (0.1, 0, 0)), Frame("b", (0, 0.2, 0)), 1e4, length=1.0)
    start = np.concatenate([[0, 0, 0, 1.0, 0, 0, 0], [1.1, 0.2, 0, 1.0, 0, 0, 0]])
    start[8] = -0.2
    found = mechanics.modes(Mechanism(tree, elements=[spring]), start)
    assert found.by == "stiffness and mass"


def test_turns_about_the_vertical_are_free():
    tree = Tree([Body("bob", Spherical(), inertia=Inertia.about_com(1.0, (0, 0, -0.5), 0.1 * np.eye(3)))])
    found = mechanics.equilibrium(tree, moved_by(tree, tree.neutral(), np.array([0.3, 0.2, 0.5])))
    assert (found.stability, found.free) == ("neutral", ("'bob_joint'",))


def test_refusals_of_equilibria():
    falling = Tree([Body("stone", Free(), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))])
    with pytest.raises(EquilibriumError, match=r"19\.62 N are left at joint 'stone_joint'; nothing holds it"):
        mechanics.equilibrium(falling)
    with pytest.raises(EquilibriumError, match=r"negative stiffness.*'a_joint'"):
        mechanics.equilibrium(double_pendulum(), [np.pi, 0.0], stable=True)
    with pytest.raises(EquilibriumError, match=r"N·m are left at joint 'a_joint'"):
        mechanics.equilibrium(double_pendulum(), tau=[100.0, 0.0])
    moved = Tree([Body("crank", Rheonomic((Turn(Y, Motion((0.0, 1.0))),)), inertia=bob())])
    with pytest.raises(ModelError, match="prescribed motion"):
        mechanics.equilibrium(moved)


def test_a_column_at_its_buckling_load_is_singular():
    """An upright pendulum on a spring of exactly m g l: no stiffness, and off the vertical no balance."""
    tree = Tree([Body("column", Revolute(Y), inertia=Inertia.about_com(1.0, (0, 0, 0.5), 0.1 * np.eye(3)))])
    with pytest.raises(EquilibriumError, match=r"singular: no stiffness against motions of 'column_joint'"):
        mechanics.equilibrium(Mechanism(tree, elements=[joint_spring("column_joint", G * 0.5)]))
    firmer = mechanics.equilibrium(Mechanism(tree, elements=[joint_spring("column_joint", G * 0.5 * 1.01)]))
    softer = mechanics.equilibrium(Mechanism(tree, elements=[joint_spring("column_joint", G * 0.5 * 0.99)]))
    assert (firmer.stability, softer.stability) == ("stable", "unstable")


@pytest.mark.parametrize("stiffness", [1e4, 1e8])
@pytest.mark.parametrize("height", [0.1995, 2.0])
def test_a_ball_rests_on_the_ground_wherever_it_rolls(stiffness, height):
    """It touches by 1e-3 … 1e-7 m only: five directions are free, which a walk of centimetres along them shows."""
    ball = Tree([Body("ball", Free(), inertia=Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.02 * np.eye(3)))])
    ground = contact(Sphere(Frame("ball", (0.0, 0.0, -0.5)), 0.2), Frame(None), stiffness=stiffness)
    found = mechanics.equilibrium(Mechanism(ball, elements=[ground]), [0.0, 0.0, height + 0.5, 1.0, 0.0, 0.0, 0.0])
    assert found.stability == "neutral"
    assert len(found.free) == 5
    assert found.q[2] == pytest.approx(0.7 - G / stiffness, abs=1e-12)
    assert found.stiffness[-1] == pytest.approx(stiffness, rel=1e-12)


@pytest.mark.parametrize("quartic", [-3.0, 3.0])
def test_what_is_flat_to_the_fourth_order_is_singular(quartic):
    """V = k₂ x⁴/4, at its top and at its bottom: along x no balance stays."""
    slide = Tree([Body("slide", Prismatic((1, 0, 0)), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))])
    held = Mechanism(slide, elements=[polynomial_spring("slide_joint", (0.0, 0.0, quartic))])
    with pytest.raises(EquilibriumError, match=r"singular: no stiffness against motions of 'slide_joint'"):
        mechanics.equilibrium(held)


# --- linear motions ---------------------------------------------------------------------------------------------------


def by_differences(made, near, step=1e-5):
    """A from the accelerations of the mechanism at states moved along its coordinates, closures kept to first order."""
    tree = made.tree
    problem, n = multiplier_problem(made, near.q, near.v), tree.nv

    def rates(x):
        y = np.concatenate([moved_by(tree, near.q, near.shifts @ x), near.v + near.changes @ x])
        out = np.zeros(2 * n)
        problem.field.python(0.0, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
        return out[n:]

    columns = [(rates(step * e) - rates(-step * e)) / (2 * step) for e in np.eye(len(near.x))]
    return np.stack(columns, axis=1)


def bead():
    """A bead on the parabola z = x²: its only closure couples joints."""
    bodies = [
        Body("x", Prismatic((1, 0, 0)), inertia=Inertia.point(2.0)),
        Body("z", Prismatic((0, 0, 1)), "x", inertia=Inertia.point(1.0)),
    ]
    return Mechanism(Tree(bodies), [polynomial("z_joint", "x_joint", (0.0, 0.0, 1.0))], [0.5, 0.25])


def held_elastically():
    """No closures, and an element of every kind, with joints of several freedoms, one of which is told how to move."""
    lump = Inertia.about_com(0.7, (0.1, 0.0, 0.05), np.diag([0.02, 0.03, 0.04]))
    turned = Rheonomic((Turn(Y), Turn((0, 0, 1), motion=Motion((0.2, 0.5), harmonics=((0.1, 2.0, 0.3),)))))
    bodies = [
        Body("hub", Free(), inertia=lump),
        Body("ball", Spherical(), "hub", (0.3, 0, 0), inertia=lump),
        Body("arm", turned, "ball", (0.0, 0.2, 0.1), inertia=lump),
        Body("slide", Prismatic((1, 0, 0)), "hub", (0, 0.1, 0), inertia=lump),
    ]
    tip = Frame("arm", (0.2, 0, 0.1))
    section = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.6, 0.4, 0.3))
    elements = [
        beam(Frame("hub"), Frame("ball"), section, 0.3, damping=0.05),
        spring_damper(Frame(None, (1, 0, 1)), tip, 30.0, damping=0.4, length=0.2),
        contact(Sphere(tip, 0.5), Frame(None), stiffness=200.0, damping=0.3, friction=0.4, slip_speed=0.5),
        joint_spring(Tendon({"slide_joint": 0.5, ("arm_joint", 0): 0.3}), 8.0, damping=0.2),
        thruster(Frame("slide", (0, 0.1, 0)), force=(0.3, 0.0, 1.0), command=1.5),
    ]
    start = np.concatenate([[0.1, 0, 0.3, 1, 0, 0, 0], [np.cos(0.2), 0, np.sin(0.2), 0], [0.3], [0.05]])
    return Mechanism(Tree(bodies), elements=elements).with_start(start)


@pytest.mark.parametrize(
    "make",
    [module.mechanism for module in (four_bar, slider_crank, whipple_bicycle, two_wheeled_pendulum)]
    + [bead, held_elastically],
)
def test_loops_and_wheels_by_differences(make):
    """v̇ of the linear motion is what the motion does nearby, and all of it stays on the constraints."""
    made = make()
    rng = np.random.default_rng(3)
    v, _ = made.projected_velocity(made.home, rng.normal(size=made.tree.nv))
    near = mechanics.linearise(made, (made.home, v))
    differences = by_differences(made, near)
    true = np.abs(differences).max()
    np.testing.assert_allclose(near.A[near.positions :], differences[near.speed], atol=1e-7 * (1 + true))
    np.testing.assert_allclose(near.rates[near.positions :], near.acceleration[near.speed])
    # the velocities that follow keep the closures: φ̇ at the moved states is of second order
    for x in np.eye(len(near.x)):
        slips = []
        for step in (1e-3, 1e-4):
            q = moved_by(made.tree, near.q, near.shifts @ (step * x))
            slips.append(np.abs(made.closing_velocity(q, near.v + near.changes @ (step * x))).max(initial=0.0))
        assert slips[1] < 0.02 * slips[0] + 1e-13


def test_trees_by_their_flow():
    """A is the derivative of the rates of a tree with balls and planes: d(δq)/dt = δv − [v, δq]."""
    rng = np.random.default_rng(5)
    tree = random_tree("random", 4, rng, (Spherical, Planar, Revolute), damping=0.2, armature=0.3)
    q, v, h, s = tree.random_configuration(rng), rng.normal(size=tree.nv), 1e-5, 1e-4
    near, n = mechanics.linearise(tree, (q, v)), tree.nv
    np.testing.assert_allclose(near.B[n:], np.linalg.inv(mechanics.mass_matrix(tree, q)), rtol=1e-9, atol=1e-9)

    def apart(e):
        """How fast q exp(δ) moves away from q, seen from q."""
        ends = []
        for time in (s, -s):
            moved = moved_by(tree, moved_by(tree, q, h * e[:n]), time * (v + h * e[n:]))
            out = np.zeros(n)
            increment(tree.group.table, EXP, moved_by(tree, q, time * v), moved, out)
            ends.append(out / h)
        return (ends[0] - ends[1]) / (2 * s)

    for k, e in enumerate(np.eye(2 * n)):
        np.testing.assert_allclose(near.A[:n, k], apart(e), atol=2e-4)


def test_momenta_give_a_hamiltonian_matrix():
    tree = double_pendulum()
    near = mechanics.linearise(tree, (np.array([0.3, 0.5]), np.array([1.0, -2.0])), variables="momenta")
    J = np.kron([[0, 1], [-1, 0]], np.eye(2))
    assert np.abs(J @ near.A - (J @ near.A).T).max() < 1e-13
    assert near.x[2:] == ("δp a_joint", "δp b_joint")
    hanging = [
        np.linalg.eigvals(mechanics.linearise(tree, np.zeros(2), variables=x).A) for x in ("velocities", "momenta")
    ]
    np.testing.assert_allclose(*(np.sort(x.imag) for x in hanging), rtol=1e-13)


def test_columns_and_rows_have_the_names_and_units_of_joints():
    """A cart that slides with a rod that turns on it: a force on the cart moves all of the one, part of the other."""
    rod = Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))
    cart = Body("cart", Prismatic((1.0, 0.0, 0.0)), inertia=Inertia.about_com(2.0, (0.0, 0.0, 0.0), np.eye(3)))
    tree = Tree([cart, Body("rod", Revolute(Y), "cart", inertia=rod)])
    near = mechanics.linearise(tree, np.zeros(2))
    assert near.u == ("cart_joint", "rod_joint")
    assert near.u_units == ("N", "N·m")
    assert near.x == ("δq cart_joint", "δq rod_joint", "δv cart_joint", "δv rod_joint")
    assert near.x_units == ("m", "rad", "m/s", "rad/s")
    column = near.B[near.x.index("δv cart_joint"), near.u.index("cart_joint")]
    assert column == pytest.approx(1.0 / (3.0 - 0.25 / 0.35), rel=1e-14)  # M = [[3, ∓½], [∓½, 0.35]]


def test_refusals_of_linear_motions():
    made = four_bar.mechanism()
    with pytest.raises(ModelError, match="momenta"):
        mechanics.linearise(made, made.home, variables="momenta")
    with pytest.raises(ModelError, match="opens"):
        mechanics.linearise(made, (made.home, np.array([1.0, 0.0, 0.0])))
    with pytest.raises(ModelError, match=r"does not persist: v̇ of"):
        mechanics.modes(double_pendulum(), [0.3, 0.4])


# --- modes ------------------------------------------------------------------------------------------------------------


def test_double_pendulum():
    """ω² = g/l (2 ∓ √2)."""
    found = mechanics.modes(double_pendulum(), np.zeros(2))
    np.testing.assert_allclose(found.frequencies**2, G * (2 + np.array([-1, 1]) * np.sqrt(2)), rtol=1e-14)
    assert found.shapes[1, 0] / found.shapes[0, 0] == pytest.approx(np.sqrt(2) - 1)
    assert "Hz" in str(found)


@pytest.mark.parametrize("stiffness", [100.0, 1e8])
def test_chain_of_springs(stiffness):
    """ω_k = 2 √(k/m) sin((2k − 1) π/(2 (2n + 1))), one end free."""
    count = 9
    made = planar_chain(count, stiffness)
    found = mechanics.modes(made, made.home)
    k = np.arange(1, count + 1)
    true = 2 * np.sqrt(stiffness / 0.7) * np.sin((2 * k - 1) * np.pi / (2 * (2 * count + 1)))
    np.testing.assert_allclose(found.frequencies, true, rtol=1e-12)
    assert (found.rigid, found.by) == (0, "stiffness and mass")


@pytest.mark.parametrize("stiffness", [2e3, -2e3])
@pytest.mark.parametrize("rest", [0.0, (0.1, 0.1)])
def test_a_polynomial_spring_at_rest_has_its_first_coefficient(stiffness, rest):
    """Where no part is slack, the two sides of its end are one spring, not two."""
    slide = Tree([Body("slide", Prismatic((1, 0, 0)), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))])
    held = Mechanism(slide, elements=[polynomial_spring("slide_joint", (stiffness, 0.0, 4e5), rest=rest)])
    (value,) = set(np.abs(mechanics.modes(held, [np.max(rest)]).eigenvalues))
    assert value == pytest.approx(np.sqrt(1e3), rel=1e-14)
    assert mechanics.equilibrium(held, [np.max(rest)]).stiffness[0] == pytest.approx(stiffness / 2.0, rel=1e-14)


def test_a_row_of_hinged_rods_bends_like_a_beam():
    """Rods on springs EI/l: the frequencies of a cantilever, to the second order in the length of the rods."""
    wanted = np.array([1.8751040687, 4.6940911330]) ** 2
    errors = []
    for count in (10, 20):
        rod = 1.0 / count
        inertia = Inertia.about_com(rod, (0.5 * rod, 0, 0), np.diag([0, rod**3 / 12, rod**3 / 12]))
        bodies = [
            Body(f"r{k}", Revolute((0, 0, 1)), f"r{k - 1}" if k else None, (rod if k else 0.0, 0, 0), inertia=inertia)
            for k in range(count)
        ]
        # the first rod is half as long as its neighbour's distance: its spring is twice as stiff
        springs = [joint_spring(f"r{k}_joint", (2.0 if k == 0 else 1.0) / rod) for k in range(count)]
        made = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=springs)
        errors.append(mechanics.modes(made, made.home).frequencies[:2] / wanted - 1)
    assert np.abs(errors[1]).max() < 0.01
    assert (np.abs(errors[0]) > 3 * np.abs(errors[1])).all()


@pytest.mark.parametrize("count", [6, 10])
def test_modes_of_a_ring_take_a_time_that_grows_with_its_number_of_rods(count):
    """Each element is asked some forty times, whatever else there is; frequencies are Hoppe's but for 0.3 (2π/n)²."""
    radius, section = 0.2, Section.round(0.004, 2.1e11, density=7850.0)
    length, bodies, rods = 2 * np.pi * radius / count, [], []
    inertia = Inertia.about_com(section.mass * length, (0, 0, 0), length * np.diag(section.inertia))
    for k, (c, s) in enumerate((np.cos(a), np.sin(a)) for a in 2 * np.pi * np.arange(count) / count):
        axes = [[-s, -c, 0], [c, -s, 0], [0, 0, 1]]
        bodies.append(Body(f"n{k}", Free(), position=(radius * c, radius * s, 0), rotation=axes, inertia=inertia))
        ends = Frame(f"n{k}"), Frame(f"n{(k + 1) % count}")
        rods.append(beam(*ends, section, length, strain=(1, 0, 0, 0, 0, 1 / radius)))
    ring = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=rods)
    watch = cProfile.Profile()
    found = watch.runcall(mechanics.modes, ring, ring.tree.neutral())
    asked = sum(x.callcount for x in watch.getstats() if getattr(x.code, "co_name", "") == "along_equation")
    assert 0 < asked <= 45 * 6 * count
    inside = np.sqrt(section.EI2 / section.mass) / radius**2 * 6.0 / np.sqrt(5.0)
    outside = np.sqrt(section.EI2 / section.mass) / radius**2 * 6.0 / np.sqrt(4.0 + section.EI2 / section.GJ)
    near = np.sort(found.frequencies[found.frequencies > 0.0])[:4]
    np.testing.assert_allclose(near, [outside, outside, inside, inside], rtol=0.3 * (2 * np.pi / count) ** 2)


def test_damping():
    """One mass, ẍ + 2ζω ẋ + ω² x = 0: swinging and creeping."""
    inertia = Inertia.about_com(2.0, (0, 0, 0), np.eye(3))
    tree = Tree([Body("m", Prismatic((1, 0, 0)), inertia=inertia)])
    swings = mechanics.modes(Mechanism(tree, elements=[joint_spring("m_joint", 50.0, damping=4.0)]), [0.0])
    assert swings.frequencies[0] == pytest.approx(5.0, rel=1e-14)
    assert swings.damping[0] == pytest.approx(0.2, rel=1e-14)
    creeps = mechanics.modes(Mechanism(tree, elements=[joint_spring("m_joint", 50.0, damping=40.0)]), [0.0])
    np.testing.assert_allclose(creeps.eigenvalues, [-10 + 75**0.5, -10 - 75**0.5], rtol=1e-13)
    assert (creeps.damping == 1.0).all()
    assert mechanics.modes(tree, [0.0]).rigid == 1


@pytest.mark.parametrize("damping", [1e3, 1e8])
def test_what_creeps_is_not_rigid(damping):
    """Two masses in strong dampers on soft springs beside a stiff one, one that only a damper holds, one that nothing
    does: against 50 digits.
    """
    lump = Inertia.about_com(1.0, (0, 0, 0), 0.01 * np.eye(3))
    places = {"stiff": (None, 0.0), "a": (None, damping), "slow": (None, 3.0), "free": (None, 0.0), "b": ("a", damping)}
    bodies = [Body(name, Prismatic(Y), on, inertia=lump, data=JointData(damping=c)) for name, (on, c) in places.items()]
    springs = [joint_spring(f"{name}_joint", k) for name, k in (("stiff", 1e10), ("a", 1.0), ("b", 3.0))]
    found = mechanics.modes(Mechanism(Tree(bodies, gravity=(0.0, 0.0, 0.0)), elements=springs), np.zeros(5))
    with mpmath.workdps(50):
        inverse = mpmath.matrix([[1, -1], [-1, 2]])  # of the masses, in coordinates of the joints
        A = mpmath.zeros(4)
        A[0, 2] = A[1, 3] = 1
        for i in range(2):
            for j in range(2):
                A[2 + i, j], A[2 + i, 2 + j] = -inverse[i, j] * (1, 3)[j], -inverse[i, j] * damping
        truth = sorted([*map(mpmath.re, mpmath.eig(A, right=False)), mpmath.mpf(-3)])
    assert found.rigid == 3, "a position, and position and velocity"
    real = found.eigenvalues[found.eigenvalues.imag == 0.0].real
    assert np.sort(real) == pytest.approx([float(x) for x in truth], rel=1e-9)
    first = found.shape(int(np.argmin(np.abs(found.eigenvalues))))
    assert max(first, key=lambda name: abs(first[name])) == "a_joint"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("drag", "zeros"), [(0.0, 2), (1e-7, 1), (1.0, 1)])
def test_dampers_between_bodies_do_not_damp_what_moves_both(seed, drag, zeros):
    """A hub on a hinge and an arm on it, which six of them join: the turn of both is two zeros, or slowed down by the
    hinge alone.
    """
    rng = np.random.default_rng(seed)
    hub, arm = (Inertia.about_com(m, (0, 0, 0), np.diag([0.03, 0.04, 0.05])) for m in (1.5, 0.8))
    bodies = [
        Body("hub", Revolute((0, 0, 1)), inertia=hub, data=JointData(damping=drag)),
        Body("arm", Universal(Y, (0, 0, 1)), "hub", (0.5, 0, 0), inertia=arm),
    ]
    joined = []
    for x, y in 0.2 * rng.normal(size=(6, 2, 3)):
        length = float(np.linalg.norm(np.array([0.5, 0, 0]) + y - x))
        joined.append(spring_damper(Frame("hub", x), Frame("arm", y), 200.0, damping=2.0, length=length))
    made = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=joined)
    found = mechanics.modes(made, made.home)
    assert (found.rigid, mechanics.stability(made, made.home).zeros) == (zeros, zeros)
    assert (found.damping > 0.0).all()
    if drag == 1e-7:
        whole = 0.05 + 0.05 + 0.8 * 0.5**2
        assert found.eigenvalues[0].real == pytest.approx(-drag / whole, rel=1e-3)


def test_a_servo_gives_its_closed_loop():
    tree = Tree([Body("m", Prismatic((1, 0, 0)), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))])
    made = Mechanism(tree, elements=[servo("m_joint", stiffness=18.0, damping=6.0, target=Motion((0.4,)))])
    found = mechanics.equilibrium(made)
    assert found.q[0] == pytest.approx(0.4)
    assert mechanics.modes(made, found).damping[0] == pytest.approx(0.5)


def test_a_hairspring_counts_beside_a_stiff_mount():
    """A balance wheel of 4 Hz in a case of 50 g on 10⁶ N/m: what is soft and light is not without stiffness."""
    inertia, rest, mount = 1.5e-9, 0.7, 1e6
    k = inertia * (8 * np.pi) ** 2
    case = Body("case", Prismatic((1, 0, 0)), inertia=Inertia.point(0.05))
    wheel = Inertia.about_com(5e-5, (1e-5, 0, 0), inertia * np.diag([0.5, 0.5, 1.0]))
    balance = Body("balance", Revolute((0, 0, 1)), "case", (2e-3, 0, 0), inertia=wheel)
    springs = [joint_spring("balance_joint", k, rest=rest), joint_spring("case_joint", mount)]
    found = mechanics.equilibrium(Mechanism(Tree([case, balance], gravity=(0, 0, 0)), elements=springs))
    assert (found.stability, found.free) == ("stable", ())
    np.testing.assert_allclose(found.q, [0.0, rest], atol=1e-12)
    assert found.stiffness[0] == pytest.approx((8 * np.pi) ** 2, rel=1e-5)


@pytest.mark.parametrize("damping", [0.0, 1e-6])
@pytest.mark.parametrize("free", [False, True])
def test_soft_modes_keep_their_digits_beside_stiff_ones(free, damping):
    """A soft hinge behind a stiff one, 0.005 Hz beside 50 kHz: against 50 digits, with the damping ratio of first order
    in the damping; a free base leaves its motions rigid.
    """
    lump = Inertia.about_com(1.0, (0.2, 0.05, 0.02), np.diag([0.02, 0.03, 0.025]))
    base = [Body("base", Free(), inertia=Inertia.about_com(50.0, (0, 0, 0), 10 * np.eye(3)))] if free else []
    chain = [
        Body("mount", Revolute(Y), "base" if free else None, inertia=lump),
        Body("spring", Revolute((0, 0, 1)), "mount", (0.3, 0.1, 0.0), inertia=lump, data=JointData(damping=damping)),
    ]
    tree, stiffness = Tree([*base, *chain], gravity=(0, 0, 0)), (1e11, 1e-3)
    made = Mechanism(tree, elements=[joint_spring(f"{b.name}_joint", k) for b, k in zip(chain, stiffness, strict=True)])
    found = mechanics.modes(made, tree.neutral())
    assert (found.rigid, len(found.frequencies)) == (6 * free * (1 + (damping > 0)), 2)

    inverse = np.linalg.inv(mechanics.mass_matrix(tree, tree.neutral()))[-2:, -2:]
    with mpmath.workdps(50):
        a, b, c = (mpmath.mpf(float(x)) for x in (inverse[0, 0], inverse[0, 1], inverse[1, 1]))
        trace, product = a * stiffness[0] + c * stiffness[1], (a * c - b * b) * stiffness[0] * stiffness[1]
        high = (trace + mpmath.sqrt(trace * trace - 4 * product)) / 2
        low = product / high
        exact = np.array([float(mpmath.sqrt(low)), float(mpmath.sqrt(high))])
    assert np.allclose(found.frequencies, exact, rtol=1e-8 if damping else 1e-13, atol=0)
    assert found.damping[0] == pytest.approx(0.5 * damping * exact[0] / stiffness[1], rel=1e-6)
    verdict = mechanics.stability(made, tree.neutral())
    assert (verdict.zeros, len(verdict.eigenvalues)) == (12 * free, 4)


@pytest.mark.parametrize("damping", [0.0, 1e-6])
def test_what_falls_slowly_beside_a_stiff_mount_is_unstable(damping):
    """A rod that stands on a hinge, with a fast mount: it falls with √(m g l/I), 4e-8 of the mount's frequency."""
    hinge = Revolute(Y)
    mount = Body("mount", Prismatic((1, 0, 0)), inertia=Inertia.point(1.0))
    inertia = Inertia.about_com(1.0, (0, 0, 0.01), np.eye(3))
    rod = Body("rod", hinge, "mount", inertia=inertia, data=JointData(damping=damping))
    made = Mechanism(Tree([mount, rod], gravity=(0, 0, -1e-3)), elements=[joint_spring("mount_joint", 1e10)])
    found = mechanics.stability(made, [0.0, 0.0])
    assert found.verdict == "unstable"
    assert found.growth == pytest.approx((1e-5 / 1.0001) ** 0.5, rel=1e-3)


def test_a_turning_mass_at_the_edge_of_what_its_turning_holds_is_marginal():
    """x'' − 2 w y' + (k − w²) x = 0, y'' + 2 w x' + (l − w²) y = 0: pairs ±iω meet where (k − l)² + 8 w² (k + l) = 0,
    and rounding scatters them by its root.
    """
    turned = Rheonomic((Turn((0, 0, 1), Motion((0.0, 3.125**0.5))),))
    slides = [
        Body("x", Prismatic((1, 0, 0)), "disk"),
        Body("y", Prismatic((0, 1, 0)), "x", inertia=Inertia.point(1.0)),
    ]
    springs = [polynomial_spring("x_joint", (-3.0, 0.0, 1.0)), polynomial_spring("y_joint", (2.0, 0.0, 1.0))]
    made = Mechanism(Tree([Body("disk", turned), *slides]), elements=springs)
    found = mechanics.stability(made, made.home)
    assert found.verdict == "marginal"
    assert np.abs(np.abs(found.eigenvalues) - (6.125 * 1.125) ** 0.25).max() < 1e-6


def test_a_drive_on_its_way_stands_still_where_an_equilibrium_is_asked_for():
    tree = Tree([Body("m", Prismatic((1, 0, 0)), inertia=Inertia.about_com(2.0, (0, 0, 0), np.eye(3)))])
    made = Mechanism(tree, elements=[servo("m_joint", stiffness=18.0, damping=6.0, target=Motion((0.0, 0.8)))])
    assert mechanics.equilibrium(made, t=0.5).q[0] == pytest.approx(0.4, abs=1e-14)


def test_a_thrust_that_turns_with_a_column_makes_it_flutter():
    """Ziegler 1952: masses 2 m and m on rods, P along the second: unstable from (7/2 − √2) k/l; no potential."""
    mass, length, k = 1.5, 0.8, 3.0
    bodies = [
        Body("a", Revolute(Y), inertia=Inertia.point(2 * mass, (length, 0, 0))),
        Body("b", Revolute(Y), "a", (length, 0, 0), inertia=Inertia.point(mass, (length, 0, 0))),
    ]
    springs = [joint_spring(f"{name}_joint", k) for name in "ab"]
    for part, verdict in ((0.5, "stable"), (0.99, "stable"), (1.01, "unstable")):
        P = part * (3.5 - np.sqrt(2.0)) * k / length
        thrust = thruster(Frame("b", (length, 0, 0)), force=(-1, 0, 0), command=P)
        made = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=[*springs, thrust])
        M = mass * length**2 * np.array([[3.0, 1.0], [1.0, 1.0]])
        K = np.array([[2 * k - P * length, P * length - k], [-k, k]])  # by the angles in space
        wanted = np.sort_complex(np.sqrt(-np.linalg.eigvals(np.linalg.solve(M, K)).astype(complex)))
        found = mechanics.equilibrium(made, [0.0, 0.0])
        assert found.stability == verdict
        values = mechanics.modes(made, found).eigenvalues
        for value in wanted:
            assert np.abs([values - value, values + value]).min() < 1e-9


@pytest.mark.parametrize("radius", [0.002, 0.0005])
@pytest.mark.parametrize(("p", "verdict"), [(5.0, "marginal"), (30.0, "unstable")])
def test_slow_vibrations_of_a_thin_column_under_a_thrust_are_no_zeros(p, verdict, radius):
    """Beck's, of steel, in two elements: 5 rad/s beside 2e7, against the vibrations of the rod by itself."""
    section = Section.round(radius, 2.1e11, density=7850.0)
    rod = Rod.straight(1.0, 2, section, supports={0: "clamped"})
    follower = Load(-1, force=(-p * section.EI2, 0, 0), axes="body")
    pressed = rod.with_loads(follower)
    alone = vibrations(pressed, rod_equilibrium(pressed).poses, count=4)
    post = Tree([Body("aside", Prismatic(), position=(2, 0, 0), inertia=Inertia.point(1.0))], gravity=(0, 0, 0))
    made = rod.attached_to(Mechanism(post, elements=[joint_spring("aside_joint", 10.0)]), {}, "rod")
    thrust = thruster(Frame("rod 2"), force=(-1, 0, 0), bias=p * section.EI2)
    made = Mechanism(made.tree, elements=[*made.elements, thrust])
    found = mechanics.stability(made, mechanics.equilibrium(made))
    assert (found.verdict, found.zeros) == (verdict, 0)
    slow = np.sort(found.eigenvalues.imag[found.eigenvalues.imag > 4.0])[:4]  # above that of the mass aside
    np.testing.assert_allclose(slow, alone.angular_frequencies, rtol=1e-5)
    assert abs(found.growth - alone.growth[0]) < 1e-5 * max(alone.growth[0], 1.0)


@pytest.mark.parametrize(("part", "damping"), [(1.0, 0.02), (1.6, 0.02), (1.8, 0.02), (1.8, 0.3), (2.0, 0.1)])
def test_dampers_may_make_a_thrust_that_turns_with_a_column_unstable(part, damping):
    """Below the load of its flutter without dampers: the word of `equilibrium` is that of `stability`."""
    k, length = 3.0, 0.7
    bodies = [
        Body("a", Revolute(Y), inertia=Inertia.point(2.6, (length, 0, 0))),
        Body("b", Revolute(Y), "a", (length, 0, 0), inertia=Inertia.point(1.3, (length, 0, 0))),
    ]
    springs = [joint_spring(f"{name}_joint", k, damping=damping) for name in "ab"]
    thrust = thruster(Frame("b", (length, 0, 0)), force=(-1, 0, 0), command=part * k / length)
    made = Mechanism(Tree(bodies, gravity=(0, 0, 0)), elements=[*springs, thrust])
    M = 1.3 * length**2 * np.array([[3.0, 1.0], [1.0, 1.0]])
    K, C = k * np.array([[2.0 - part, part - 1.0], [-1.0, 1.0]]), damping * np.array([[2.0, -1.0], [-1.0, 1.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(M, K), -np.linalg.solve(M, C)]])
    word = "unstable" if np.linalg.eigvals(A).real.max() > 0.0 else "stable"
    found = mechanics.equilibrium(made, [0.0, 0.0])
    assert found.stability == word == mechanics.stability(made, found).verdict
    assert len(found.falling) == (word == "unstable")
    if found.falling:
        assert (found.stiffness > 0.0).all()
        with pytest.raises(EquilibriumError, match="dampers, with which motions of 'a_joint', 'b_joint' swing"):
            mechanics.equilibrium(made, [0.0, 0.0], stable=True)


def test_motions_of_loops_that_are_driven_are_linear_about_states_of_their_time():
    """A rod on a crank that turns as told carries a block on a rail: reduced by hand, ẍ by differences of it."""
    crank = Rheonomic((Turn(Y, Motion((0.0, 2.0))),))
    tree = Tree([
        Body("crank", crank, inertia=bob()),
        Body("rod", Revolute(Y), "crank", (0, 0, -1), inertia=bob(0.7, 0.5)),
        Body("block", Prismatic((1, 0, 0)), inertia=bob(2.0, 0.0)),
    ])  # fmt: skip
    rail = holonomic(Frame("block"), Frame("rod", (0, 0, -1.5)), lambda x, R: [x[0]], "rail")
    made, t = Mechanism(tree, [rail], home=[0.0, 0.0]), 0.7

    def state(a, rate):
        """Angle and rate of the rod, and those of the block that belong to them."""
        turn, spin = 2.0 * t + a, 2.0 + rate
        x, v = -np.sin(2.0 * t) - 1.5 * np.sin(turn), -2.0 * np.cos(2.0 * t) - 1.5 * spin * np.cos(turn)
        return np.array([a, x]), np.array([rate, v])

    def acceleration(a, rate):
        """From the Lagrangian of a, with the masses of rod and block alone."""
        turn, spin, m, M, s, l = 2.0 * t + a, 2.0 + rate, 0.7, 2.0, 0.5, 1.5
        c = np.cos(turn)
        inertia = m * s * s + M * (l * c) ** 2
        ends = 4.0 * np.array([np.sin(2 * t), np.cos(2 * t)])  # of the crank's end
        along = np.array([-c, np.sin(turn)])
        force = -m * s * (along @ ends + G * np.sin(turn))
        return (force + M * l * c * (ends[0] + l * spin * spin * np.sin(turn))) / inertia

    near = mechanics.linearise(made, state(0.3, 0.4), t=t)
    assert near.acceleration[0] == pytest.approx(acceleration(0.3, 0.4), rel=1e-12)
    h = 1e-5
    slopes = [
        (acceleration(0.3 + h, 0.4) - acceleration(0.3 - h, 0.4)) / (2 * h),
        (acceleration(0.3, 0.4 + h) - acceleration(0.3, 0.4 - h)) / (2 * h),
    ]
    assert near.x == ("δq rod_joint", "δv rod_joint")
    np.testing.assert_allclose(near.A[1], slopes, rtol=1e-7)
    q, _ = state(0.3, 0.4)
    nearest, _ = made.projected_velocity(q, [0.4, -1.0], t)
    assert np.abs(made.closing_velocity(q, nearest, t)).max() < 1e-13


@pytest.mark.parametrize("speed", [0.0, 2.0, 5.0, 8.0])
def test_whipple_bicycle(speed):
    """The benchmark's eigenvalues from a tree on two wheels, and nothing but zeros besides."""
    made = whipple_bicycle.mechanism()
    v = made.velocities(made.home, {"rear wheel_joint": -speed / 0.3}).v
    found = mechanics.modes(made, (made.home, v))
    true = whipple_bicycle.eigenvalues(whipple_bicycle.Bicycle(), speed)
    np.testing.assert_allclose(ordered(found.eigenvalues), ordered(true[true.imag >= 0]), atol=1e-11)
    assert found.rigid == 6


M, C1 = (
    [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]],
    [
        [0.0, 33.86641391492494],
        [-0.85035641456978, 1.68540397397560],
    ],
)
K0, K2 = (
    [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]],
    [
        [0.0, 76.59734589573222],
        [0.0, 2.65431523794604],
    ],
)
"""The benchmark's matrices of lean and steer, M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0: Meijaard et al. 2007, equation
(5.4), as several public programs copy them, fourteen decimals.
"""


def test_whipple_bicycle_as_published():
    """Meijaard et al. 2007, table 2, at 5 m/s: fourteen decimals."""
    made = whipple_bicycle.mechanism()
    v = made.velocities(made.home, {"rear wheel_joint": -5.0 / 0.3}).v
    found = ordered(mechanics.modes(made, (made.home, v)).eigenvalues)
    weave = -0.77534188219585 + 4.46486771378823j
    np.testing.assert_allclose(
        found, [-14.07838969279822, weave.conjugate(), weave, -0.32286642900409], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("speed", [0.0, 3.0, 5.0, 8.0])
def test_whipple_bicycle_by_the_published_matrices(speed):
    """Lean and steer of the tree on two wheels have the eigenvalues of the published matrices."""
    made = whipple_bicycle.mechanism()
    v = made.velocities(made.home, {"rear wheel_joint": -speed / 0.3}).v
    found = ordered(mechanics.modes(made, (made.home, v)).eigenvalues)
    inverse, stiffness = np.linalg.inv(M), 9.81 * np.array(K0) + speed**2 * np.array(K2)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ stiffness, -speed * inverse @ np.array(C1)]])
    true = np.linalg.eigvals(A)
    np.testing.assert_allclose(found, ordered(true[true.imag >= 0]), rtol=0, atol=1e-11)


def test_what_cannot_move_has_no_modes():
    """A joint that a closure holds: nothing to move; a tree without coordinates is refused by name."""
    held = Mechanism.assembled(Tree([Body("a", Revolute(Y), inertia=bob())]), [polynomial("a_joint", None, [0.3])])
    assert len(mechanics.modes(held, held.home).eigenvalues) == 0
    assert mechanics.stability(held, held.home).growth == -np.inf
    with pytest.raises(ModelError, match="has no coordinates"):
        mechanics.linearise(held.tree.with_locked(["a_joint"]), [])


def test_blocks_of_zeros_are_taken_off():
    """A nilpotent block of three, hidden by a rotation, beside −1 ± 2i: rounding would make it a circle of 1e-5."""
    A = np.zeros((5, 5))
    A[0, 1] = A[1, 2] = 1.0
    A[3:, 3:] = [[-1, 2], [-2, -1]]
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    values, vectors, zeros, _ = eigenvalues(Q @ A @ Q.T, 5)
    assert zeros == 3
    np.testing.assert_allclose(np.sort_complex(values), [-1 - 2j, -1 + 2j], rtol=1e-13)
    np.testing.assert_allclose(Q @ A @ Q.T @ vectors, vectors * values, atol=1e-13)
