"""Parts of a mechanism that nothing joins: a block of the derivative for each."""

from dataclasses import replace

import numpy as np
import pytest

from integrators import integrate
from integrators.problem.jacobian import derivative
from integrators.problem.sparsity import HALF
from mechanics import Body, Frame, Inertia, Mechanism, Tree, constraints, forces
from mechanics.closed_trees.connected import FEWEST, connected_parts
from mechanics.forces import Sphere, Tendon
from mechanics.joints import Fixed, Free, Motion, Revolute, Rheonomic, Turn
from mechanics.systems.loops import four_bar
from mechanics.systems.loops.planar_rods import GRAVITY, HINGE, pin, point, rod

COUNT = 8
BOB = Inertia.about_com(1.0, (0.0, 0.1, -0.5), 0.02 * np.diag([1.0, 1.1, 1.2]))


def pendulums():
    """Side by side: joints p0, p1, … of bodies a0, a1, …, each with a free body b0, b1, … on the base beside it."""
    arms = [Body(f"a{k}", Revolute((0, 1, 0)), None, (k, 0, 0), inertia=BOB, joint_name=f"p{k}") for k in range(COUNT)]
    return Tree([*arms, *(Body(f"b{k}", Free(), inertia=BOB) for k in range(COUNT))], gravity=(0, 0, -9.81))


def four_bars():
    bodies, closures = [], []
    for k in range(COUNT):
        crank, coupler, rocker = (f"{name}{k}" for name in ("crank", "coupler", "rocker"))
        bodies += [
            Body(crank, HINGE, None, point(3.0 * k, 0), inertia=rod(four_bar.MASSES[0], four_bar.CRANK)),
            Body(coupler, HINGE, crank, point(four_bar.CRANK, 0), inertia=rod(four_bar.MASSES[1], four_bar.COUPLER)),
            Body(
                rocker, HINGE, None, point(3.0 * k + four_bar.GROUND, 0),
                inertia=rod(four_bar.MASSES[2], four_bar.ROCKER),
            ),
        ]  # fmt: skip
        closures.append(pin(coupler, (four_bar.COUPLER, 0), rocker, (four_bar.ROCKER, 0), f"C{k}"))
    home = np.tile(four_bar.configuration(four_bar.START), COUNT)
    return Mechanism(Tree(bodies, "four-bars", GRAVITY), closures, home)


def parts_of(mechanism):
    return sorted(v.tolist() for v in connected_parts(mechanism.tree, mechanism.equations, mechanism.elements))


ARMS, BODIES = list(range(COUNT)), [list(range(COUNT + 6 * k, COUNT + 6 * k + 6)) for k in range(COUNT)]
JOINS = {
    "nothing": ([], [], []),
    "a spring to the base": ([forces.spring_damper(Frame(None), Frame("a0"), 5.0, length=0.1)], [], []),
    "a joint spring": ([forces.joint_spring("p1", 5.0)], [], []),
    "a wrench": ([forces.wrench(Frame("b1"))], [], []),
    "a spring": ([forces.spring_damper(Frame("a0", (0, 0, 0.1)), Frame("a2"), 5.0, length=0.1)], [], [(0, 2)]),
    "a bushing": ([forces.bushing(Frame("a1"), Frame("a2"), 5.0)], [], [(1, 2)]),
    "a contact": ([forces.contact(Sphere(Frame("a3"), 0.1), Sphere(Frame("a5"), 0.1), stiffness=1e3)], [], [(3, 5)]),
    "a tendon": ([forces.joint_spring(Tendon({"p0": 1.0, "p2": -1.0, "p7": 2.0}), 5.0)], [], [(0, 2, 7)]),
    "gears": ([], [constraints.gear("p4", "p6", -2.0)], [(4, 6)]),
    "a rod": ([], [constraints.distance(Frame("a0"), Frame("a1"), 1.0)], [(0, 1)]),
    "both": (
        [forces.bushing(Frame("a1"), Frame("a2"), 5.0)],
        [constraints.distance(Frame("a0"), Frame("a1"), 1.0)],
        [(0, 1, 2)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", JOINS)
def test_what_joins_parts(what):
    elements, closures, groups = JOINS[what]
    mechanism = Mechanism(pendulums(), closures, elements=elements)
    together = {k for group in groups for k in group}
    expected = [list(group) for group in groups] + [[k] for k in ARMS if k not in together] + BODIES
    assert parts_of(mechanism) == sorted(expected)


def test_bodies_on_one_that_is_fixed_are_on_the_base_and_on_one_that_is_moved_together():
    turned = Rheonomic((Turn((0, 0, 1), Motion((0.0, 1.0))),))
    for joint, count in ((Fixed(), 5), (turned, 1)):
        bodies = [Body(f"a{k}", Revolute((0, 1, 0)), "table", (k, 0, 0), inertia=BOB) for k in range(5)]
        tree = Tree([Body("table", joint, inertia=BOB), *bodies])
        assert len(connected_parts(tree)) == count


@pytest.mark.parametrize("make", [four_bars, pendulums], ids=["four-bars", "tree"])
def test_the_field_has_no_derivative_elsewhere(make):
    made = make()
    nv = made.nv if isinstance(made, Tree) else made.tree.nv
    v = 0.3 * np.cos(np.arange(nv))
    problem = made.problem(made.neutral(), v) if isinstance(made, Tree) else made.problem()
    allowed = problem.jacobian_sparsity.toarray() != 0
    found = derivative(replace(problem, jacobian_sparsity=None), 0.0, np.asarray(problem.y0))
    assert np.abs(found[~allowed]).max() <= 1e-6 * np.abs(found).max()
    assert 0 < problem.derivative_pattern[HALF] < allowed.shape[0] / 3


@pytest.mark.parametrize(
    ("make", "method"),
    [(four_bars, "RKMK_RADAU_IIA3"), (four_bars, "RKMK_GAUSS2"), (four_bars, "ROS3P"), (pendulums, "RKMK_RADAU_IIA3")],
)
def test_runs_are_those_of_the_dense_derivative(make, method):
    made = make()
    problem = made.problem(made.neutral()) if isinstance(made, Tree) else made.problem()
    dense = replace(problem, jacobian_sparsity=None)
    assert dense.derivative_pattern[HALF] < 0
    band, other = (integrate(p, method, (0.0, 0.05), 1e-3) for p in (problem, dense))
    assert band.finished
    assert other.finished
    assert band.status == other.status
    assert np.abs(band.y[-1] - other.y[-1]).max() <= 1e-12


def test_few_parts_keep_their_analytic_derivative():
    bodies = [Body(f"a{k}", Revolute((0, 1, 0)), inertia=BOB) for k in range(FEWEST - 1)]
    assert Tree(bodies).problem(np.zeros(FEWEST - 1)).jacobian_sparsity is None
    assert Mechanism(Tree(bodies)).problem().jacobian_sparsity is None


def test_what_joins_parts_later_is_refused():
    """A field of one's own in the place of the mechanism's, in which parts feel each other."""

    def joined(t, y):
        rate = np.zeros(2 * COUNT)
        rate[:COUNT], rate[COUNT:] = y[COUNT:], -np.roll(y[:COUNT], 1)
        return rate

    bodies = [Body(f"a{k}", Revolute((0, 1, 0)), inertia=BOB) for k in range(COUNT)]
    problem = replace(Tree(bodies).problem(0.1 + 0.1 * np.arange(COUNT)), field=joined, invariants=None,
                      invariant_names=(), invariant_units=(), guards=(), own_steps={})  # fmt: skip
    with pytest.raises(ValueError, match="jacobian_sparsity: component"):
        integrate(problem, "RKMK_RADAU_IIA3", (0.0, 0.1), 0.01)
