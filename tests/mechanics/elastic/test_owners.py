"""Networks and rods on bodies of mechanisms: the equations are those of the network or the rod alone, momenta and the
balance of energy those of the whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from integrators import integrate
from liegroup import se3
from mechanics import Body, Frame, Inertia, Mechanism, ModelError, Tree, centroidal_momentum
from mechanics.elastic import Cables, Dampers, LogSprings, Network, Springs
from mechanics.elastic.rods import Load, Rod, Section, beam
from mechanics.forces import cable, joint_spring
from mechanics.joints import Free, Revolute

SLENDER = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.06, 0.03, 0.03))
G = (0.3, -1.0, 2.0)
OTHER = Tree([Body("other", Revolute((0, 1, 0)), inertia=Inertia.point(1.0, (0.1, 0, 0)))], gravity=G)
HUB = Inertia.about_com(2.0, (0.0, 0.0, 0.0), np.diag([0.2, 0.3, 0.4]))


@pytest.mark.parametrize("damping", [0.0, [0.03, 0.0, 0.05]])
def test_a_rod_on_a_mechanism_has_the_equations_of_the_rod(damping: Any) -> None:
    """With the damping of its elements."""
    rod = Rod.arc(1.0, 1.0, 3, SLENDER, supports={0: "clamped", -1: "pinned"}, gravity=G, damping=damping)
    rng, home = np.random.default_rng(0), np.asarray(rod.poses)
    twist, v = 0.05 * rng.normal(size=(4, 6)), rng.normal(size=(4, 6))
    twist[0], twist[3, :3], v[0], v[3, :3] = 0.0, 0.0, 0.0, 0.0
    poses = se3.compose(home, se3.exp(twist))
    problem = rod.problem(poses, v)
    joined = rod.attached_to(OTHER, {})
    from_home = se3.compose(se3.inverse(home), poses)
    q = np.concatenate([[0.0], from_home[1], from_home[2], from_home[3, 3:]])
    p = np.concatenate([[0.0], problem.y0[-15:]])
    velocity, rate = joined.rhs(q, p)
    np.testing.assert_allclose(
        np.concatenate([velocity[1:], rate[1:]]), problem.velocity(0.0, problem.y0), rtol=1e-10, atol=1e-10
    )
    energies = [
        [a.invariant_values(0.0, a.y0)[0] for a in pair]
        for pair in ((joined.problem(q, velocity), joined.problem()), (problem, rod.problem()))
    ]
    assert np.subtract(*energies[0]) == pytest.approx(np.subtract(*energies[1]), rel=1e-10)


def test_a_network_on_a_mechanism_has_the_equations_of_the_network() -> None:
    rng = np.random.default_rng(1)
    points = rng.normal(size=(5, 3))
    elements = [
        Springs([[0, 1], [1, 2]], [30.0, 20.0], 0.7),
        Cables([[2, 3], [3, 4], [1, 4]], 50.0, [0.5, 9.0, 0.5]),
        Dampers([[1, 3]], 0.4),
    ]
    network = Network(points, [1.0, 2.0, 0.5, 0.7, 3.0], elements, fixed=[0], gravity=G)
    v = rng.normal(size=(5, 3))
    v[0] = 0.0
    expected = network.problem(velocities=v).velocity(0.0, network.problem(velocities=v).y0).reshape(2, 5, 3)
    joined = network.attached_to(OTHER, {})
    _, rate = joined.rhs(joined.home, np.concatenate([[0.0], (network.masses[:, None] * v)[1:].ravel()]))
    np.testing.assert_allclose(rate[1:], expected[1, 1:].ravel(), rtol=1e-12, atol=1e-12)


def satellite(damping: float = 0.0) -> Mechanism:
    """Two hubs that fly, joined by a boom and a cable."""
    tree = Tree([Body("a", Free(), inertia=HUB), Body("b", Free(), None, (1.6, 0, 0), inertia=HUB)], gravity=(0, 0, 0))
    boom = Rod.straight(1.2, 2, SLENDER, origin=(0.2, 0.0, 0.0))
    rope = Network([[0.0, 0.4, 0.0], [0.8, 0.4, 0.0], [1.6, 0.4, 0.0]], 0.1, [Cables([[0, 1], [1, 2]], 40.0, 0.78)],
                   gravity=(0, 0, 0), name="rope")  # fmt: skip
    joined = boom.attached_to(tree, {0: Frame("a", (0.2, 0, 0)), -1: Frame("b", (-0.2, 0, 0))}, "boom", damping)
    return rope.attached_to(joined, {0: Frame("a", (0, 0.4, 0)), 2: Frame("b", (0, 0.4, 0))})


def momenta_change(made: Mechanism, run: Any) -> float:
    """Largest change of linear and angular momentum about the centre of mass over a run."""
    ends = [
        centroidal_momentum(made, q, made.rhs(q, p)[0])
        for q, p in ((run["q"][k], run["p"][k]) for k in (0, len(run.t) // 2, -1))
    ]
    return float(np.abs(np.array(ends) - ends[0]).max())


@pytest.mark.slow
def test_momenta_and_energy_of_bodies_joined_by_a_rod_and_a_cable() -> None:
    made = satellite()
    v = np.zeros(made.tree.nv)
    v[:6] = 0.1, -0.2, 0.0, 0.2, 0.1, 0.5
    problem = made.problem(made.home, v)
    run = integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 0.01)
    assert run.success
    assert run.error("energy") < 2e-3
    assert momenta_change(made, run) < 1e-13
    halved = integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 0.005)
    assert 3.0 < run.error("energy") / halved.error("energy") < 5.0


def test_damping_in_a_rod_takes_energy_and_no_momentum() -> None:
    made = satellite(0.01)
    v = np.zeros(made.tree.nv)
    v[6:12] = 0.0, 0.3, 0.0, 0.1, 0.0, 0.4
    run = integrate(made.problem(made.home, v), "TREE_VARIATIONAL", (0.0, 0.5), 0.01)
    assert run["energy"][-1] < 0.998 * run["energy"][0]
    assert momenta_change(made, run) < 1e-13


def test_a_load_hangs_on_a_crane() -> None:
    """At rest the rope is stretched by the weight below it, and the crane holds all of it."""
    inertia = Inertia.about_com(20.0, (1.0, 0.0, 0.0), np.eye(3))
    arm = Mechanism(
        Tree([Body("arm", Revolute((0, 1, 0)), inertia=inertia)]), elements=[joint_spring("arm_joint", 1e4)]
    )
    rope = Network([[2, 0, 0], [2, 0, -0.5], [2, 0, -1]], [0.0 + 1e-3, 0.2, 5.0], [Cables([[0, 1], [1, 2]], 1e4)],
                   name="rope")  # fmt: skip
    crane = rope.attached_to(arm, {0: Frame("arm", (2, 0, 0))})
    q = crane.home.copy()
    q[[3, 6]] = -5.2 * 9.81e-4, -5.2 * 9.81e-4 - 5.0 * 9.81e-4
    _, rate = crane.rhs(q, np.zeros(crane.tree.nv))
    np.testing.assert_allclose(rate[1:], 0.0, atol=1e-10)
    assert rate[0] == pytest.approx(20.0 * 9.81 + 2.0 * 9.81 * 5.201, rel=1e-12)


def test_cables_of_bodies_only_pull() -> None:
    ball = Tree([Body("ball", Free(), inertia=HUB)], gravity=(0, 0, 0))
    made = Mechanism(ball, elements=[cable(Frame(None), Frame("ball"), 10.0, length=0.5, damping=1.0)])
    for distance, force in ((0.4, 0.0), (0.7, -2.0)):
        _, rate = made.rhs([distance, 0, 0, 1, 0, 0, 0], np.zeros(6))
        np.testing.assert_allclose(rate, [force, 0, 0, 0, 0, 0], atol=1e-14)


def test_a_beam_bends_to_a_circle() -> None:
    """A moment of EI φ/l turns its end by φ, to rounding."""
    ball = Tree([Body("ball", Free(), inertia=HUB)], gravity=(0, 0, 0))
    made = Mechanism(ball, elements=[beam(Frame(None), Frame("ball"), SLENDER, 0.5)])
    phi = 1.3
    end = se3.exp([0.5, 0.0, 0.0, 0.0, 0.0, phi])
    _, rate = made.rhs(end, np.zeros(6))
    np.testing.assert_allclose(rate, [0, 0, 0, 0, 0, -SLENDER.EI3 * phi / 0.5], atol=1e-13)


@pytest.mark.parametrize(
    ("attach", "words"),
    [
        (lambda: CHAIN.attached_to(OTHER, {5: Frame("other")}), "owners: name the node 5; give numbers from 0 to 1"),
        (lambda: CHAIN.attached_to(OTHER, {1: Frame("other", (0, 1, 0))}), "chain 1: is 1.41 m from the frame"),
        (lambda: CHAIN.attached_to(OTHER.with_gravity((0, 0, 0)), {}), "chain: gravity: is"),
        (lambda: Network([[0, 0, 0], [1, 0, 0]], 1.0, [LogSprings([[0, 1]], 1.0)], gravity=G).attached_to(OTHER, {}),
         r"logarithmic spring 0 \(nodes 0, 1\): is no force element"),
        (lambda: Network([[0, 0, 0], [1, 0, 0]], 1.0, [], fixed=[0, 1], drag=0.1, gravity=G).attached_to(OTHER, {}),
         "network: drag"),
        (lambda: BAR.with_loads(Load(0, (1, 0, 0))).attached_to(OTHER, {}), "rod: loads: are those of a rod alone"),
        (lambda: BAR.attached_to(OTHER, {0: Frame.with_axis("other", axis=(1, 0, 0))}), "rod 0: has axes that differ"),
    ],
)  # fmt: skip
def test_what_cannot_be_attached_is_named(attach, words) -> None:
    with pytest.raises(ModelError, match=words):
        attach()


CHAIN = Network([[0, 0, 0], [1, 0, 0]], 1.0, [Springs([[0, 1]], 1.0)], gravity=G, name="chain")
BAR = Rod.straight(1.0, 1, SLENDER, gravity=G)
