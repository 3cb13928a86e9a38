"""Mechanisms whose loops are opened by splitting a body, as in the paper: four-bar, slider-crank, Bricard, RSSR,
walker.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mechanics import Body, Frame, Inertia, Tree
from mechanics.constraints.equations import LoopEquations
from mechanics.constraints.loops import weld
from mechanics.joints import Ball, Compound, Motion, Prismatic, Revolute, Slide, Turn
from mechanics.systems.loops import walking_mechanism
from mechanics.testing import geared


@dataclass(frozen=True)
class SplitMechanism:
    """A tree with ε, closed at (q, v), its rank and its share of mass at the first half."""

    name: str
    tree: Tree
    epsilon: np.ndarray
    equations: LoopEquations
    q: np.ndarray
    v: np.ndarray
    rank: int


def rod(mass, vector, share=1.0):
    """A slender rod from the body origin along `vector`."""
    d = np.asarray(vector, dtype=float)
    tensor = mass / 12.0 * (d @ d * np.eye(3) - np.outer(d, d)) + 1e-3 * mass * np.eye(3)
    return Inertia.about_com(share * mass, d / 2, share * tensor)


def split(name, bodies, halves, rank, q, rates, gravity=(0.0, -9.81, 0.0)):
    tree = Tree(bodies, name=name, gravity=gravity)
    epsilon = np.zeros((len(halves), len(tree)), dtype=np.int64)
    for c, (a, b) in enumerate(halves):
        epsilon[c, tree.body_index(a)], epsilon[c, tree.body_index(b)] = 1, -1
    equations = LoopEquations(tree, [weld(Frame(a), Frame(b), f"{a}={b}") for a, b in halves])
    q = np.asarray(q, dtype=float)
    G = equations.matrix(q)
    assert np.abs(equations.gap(q)).max() < 1e-12
    _, _, rows = np.linalg.svd(G)
    null = rows[rank:]
    v = null.T @ (null @ np.asarray(rates, dtype=float))
    return SplitMechanism(name, tree, epsilon, equations, q, v, rank)


def offset(vector):
    """A constant shift as a joint element."""
    return Slide(tuple(vector), motion=Motion((float(np.linalg.norm(vector)),)))


def turn_and_slide(axis, vector):
    return Compound((Turn(tuple(np.eye(3)[axis])), offset(vector)))


def four_bar(share=0.5):
    z = (0.0, 0.0, 1.0)
    q1 = 1.0
    B = 0.35 * np.array([np.cos(q1), np.sin(q1)])
    D = np.array([1.0, 0.0])
    span = np.linalg.norm(D - B)
    coupler = np.arctan2(D[1] - B[1], D[0] - B[0]) + np.arccos((0.81 + span**2 - 0.49) / (1.8 * span))
    C = B + 0.9 * np.array([np.cos(coupler), np.sin(coupler)])
    rocker = np.arctan2(C[1] - D[1], C[0] - D[0])
    bodies = [
        Body("crank", Revolute(z), inertia=rod(1.0, (0.35, 0, 0))),
        Body("coupler", Revolute(z), "crank", (0.35, 0.0, 0.0), inertia=rod(2.0, (0.9, 0, 0), share)),
        Body("rocker", Revolute(z), position=(1.0, 0.0, 0.0), inertia=rod(1.5, (0.7, 0, 0))),
        # the other half hangs on the rocker: its origin is where the coupler's is
        Body(
            "image",
            turn_and_slide(2, (-0.9, 0, 0)),
            "rocker",
            (0.7, 0.0, 0.0),
            inertia=rod(2.0, (0.9, 0, 0), 1 - share),
        ),
    ]
    return split(
        "four-bar", bodies, [("coupler", "image")], 3, [q1, coupler - q1, rocker, coupler - rocker], [4.0, 0, 0, 0]
    )


def slider_crank(share=0.5):
    z = (0.0, 0.0, 1.0)
    a, b, h, q1 = 0.3, 0.8, 0.05, 0.8
    turn = np.arcsin((h - a * np.sin(q1)) / b)
    x = a * np.cos(q1) + b * np.cos(turn)
    bodies = [
        Body("crank", Revolute(z), inertia=rod(1.0, (a, 0, 0))),
        Body("rod", Revolute(z), "crank", (a, 0.0, 0.0), inertia=rod(1.6, (b, 0, 0), share)),
        Body(
            "block",
            Prismatic((1.0, 0.0, 0.0)),
            position=(0.0, h, 0.0),
            inertia=Inertia.about_com(2.0, (0, 0, 0), 0.01 * np.eye(3)),
        ),
        Body("image", turn_and_slide(2, (-b, 0, 0)), "block", inertia=rod(1.6, (b, 0, 0), 1 - share)),
    ]
    return split("slider-crank", bodies, [("rod", "image")], 3, [q1, turn - q1, x, turn], [6.0, 0, 0, 0])


def bricard(share=0.5):
    """Rods between the corners (0,0,0) (1,0,0) (1,-1,0) (1,-1,1) (0,-1,1) (0,0,1); the third rod is split."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes = np.eye(3)[[1, 2, 0, 1, 2, 0]]
    edge = np.diff(corners, axis=0)
    bodies = [
        Body("rod1", Revolute(tuple(axes[0])), inertia=rod(1.0, edge[0])),
        Body("rod2", Revolute(tuple(axes[1])), "rod1", edge[0], inertia=rod(1.0, edge[1])),
        Body("rod3", Revolute(tuple(axes[2])), "rod2", edge[1], inertia=rod(1.0, edge[2], share)),
        Body("rod5", Revolute(tuple(axes[5])), None, corners[5], inertia=rod(1.0, -edge[4])),
        Body("rod4", Revolute(tuple(axes[4])), "rod5", -edge[4], inertia=rod(1.0, -edge[3])),
        # origin at the corner 2, where that of rod3 is: turn at corner 3, then back along the rod
        Body("image", turn_and_slide(1, -edge[2]), "rod4", -edge[3], inertia=rod(1.0, edge[2], 1 - share)),
    ]
    return split("Bricard", bodies, [("rod3", "image")], 5, np.zeros(6), [3.0, 0, 0, 0, 0, 0])


def rssr(share=0.5):
    """Crank about z, coupler on two balls, rocker about y; the coupler is split."""
    A, B, D = np.array([0.3, 0, 0]), np.array([1.0, 0.4, 0.6]), np.array([1.0, 0.4, 0])
    d = B - A
    bodies = [
        Body("crank", Revolute((0.0, 0.0, 1.0)), inertia=rod(1.0, A)),
        Body("coupler", Compound((Ball(),)), "crank", A, inertia=rod(2.0, d, share)),
        Body("rocker", Revolute((0.0, 1.0, 0.0)), None, D, inertia=rod(1.2, B - D)),
        Body("image", Compound((Ball(), offset(-d))), "rocker", B - D, inertia=rod(2.0, d, 1 - share)),
    ]
    unit = [1.0, 0, 0, 0]
    return split(
        "RSSR",
        bodies,
        [("coupler", "image")],
        6,
        [0, *unit, 0, *unit],
        [8.0, 0.3, -0.2, 0.5, 0, 0, 0, 0],
        (0, 0, -9.81),
    )


def walker():
    tree = walking_mechanism.tree()
    equations = LoopEquations(tree, walking_mechanism.closures())
    q = walking_mechanism.closed_configuration(0.3, 0.02, 0.1, 0.7)
    v = walking_mechanism.closed_rates(0.7, 0.2, -0.1, 0.3, 2.4)
    return SplitMechanism("walker", tree, walking_mechanism.EPSILON, equations, q, v, 6)


def with_armature(mechanism):
    """The same with armature in its joints."""
    tree = geared(mechanism.tree, np.random.default_rng(3), 0.05)
    return replace(mechanism, tree=tree, equations=LoopEquations(tree, mechanism.equations.closures))


GEARED = ("slider-crank", "RSSR")
"""Those of `mechanism` whose joints have armature."""
MAKERS = {"four-bar": four_bar, "slider-crank": slider_crank, "Bricard": bricard, "RSSR": rssr}


@pytest.fixture(params=[*MAKERS, "walker"])
def mechanism(request):
    found = walker() if request.param == "walker" else MAKERS[request.param]()
    return with_armature(found) if request.param in GEARED else found


@pytest.fixture(params=MAKERS)
def shared(request):
    """A mechanism by share of the mass at the first half."""
    return MAKERS[request.param]


@pytest.fixture
def overconstrained():
    """A loop whose six rows have rank five without being planar."""
    return bricard()


@pytest.fixture(params=["four-bar", "slider-crank"])
def planar(request):
    return MAKERS[request.param]()
