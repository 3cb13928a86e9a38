"""Trees on which the variational step is tested."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from mechanics import Body, Inertia, JointData, Tree
from mechanics.joints import Fixed, Free, Prismatic, Revolute, Spherical
from mechanics.problems.tree import hamiltonian_problem

LINK = Inertia.about_com(
    1.0, (0.02, 0.03, 0.15), [[0.02, 0.001, 0.002], [0.001, 0.025, 0.0015], [0.002, 0.0015, 0.015]]
)


def chain(n: int, damping: float = 0.0) -> Tree:
    """Links of 1 kg on hinges about x, y, z, x, …, under gravity along −x."""
    return Tree(
        [
            Body(
                f"link{i}",
                Revolute(tuple(np.eye(3)[i % 3])),
                parent=f"link{i - 1}" if i else None,
                position=(0.1, 0.05, 0.3),
                inertia=LINK,
                data=JointData(damping=damping),
            )
            for i in range(n)
        ],
        f"chain of {n}",
        gravity=(-9.81, 0.0, 0.0),
    )


def violent(n: int, count: int = 1):
    """The motion of `chain` from q = 0.4 sin(1 + i), v = 0.2 cos(0.7 i): with many links it whirls."""
    i = np.arange(n)
    q = 0.4 * np.sin(1 + i)
    if count > 1:
        q = q + 1e-3 * np.random.default_rng(1).normal(size=(count, n))
    return hamiltonian_problem(chain(n), q, np.broadcast_to(0.2 * np.cos(0.7 * i), q.shape))


def floating(armature: float = 0.0) -> Tree:
    """Six bodies in weightless space: free, revolute, prismatic, ball, revolute, fixed to it another, ball."""
    g, geared = np.random.default_rng(3), JointData(armature=armature)
    joints = [Free(), Revolute((1, 2, 0)), Prismatic((0, 1, 1)), Spherical(), Revolute((0, 0, 1)), Fixed(), Spherical()]
    parents = [None, "b0", "b0", "b1", "b3", "b4", "b2"]
    return Tree(
        [
            Body(f"b{k}", joint, parent, position=g.uniform(-0.3, 0.3, 3), inertia=LINK, data=geared)
            for k, (joint, parent) in enumerate(zip(joints, parents, strict=True))
        ],
        "floating tree",
        gravity=(0.0, 0.0, 0.0),
    )


def drifting(count: int = 1, armature: float = 0.0):
    tree, g = floating(armature), np.random.default_rng(5)
    q = np.array([tree.random_configuration(g) for _ in range(count)])
    v = g.normal(size=(count, tree.nv))
    return hamiltonian_problem(tree, q[0], v[0]) if count == 1 else hamiltonian_problem(tree, q, v)


@pytest.fixture(scope="session")
def trees() -> SimpleNamespace:
    def start(which: str):
        """By name: the chain of five, the floating tree, and that with armature."""
        return violent(5) if which == "violent" else drifting(armature=0.1 * (which == "geared"))

    return SimpleNamespace(chain=chain, violent=violent, floating=floating, drifting=drifting, start=start)
