"""Random trees for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from liegroup.modules import listing
from mechanics.joints import (
    Ball,
    Compound,
    Continuous,
    Cylindrical,
    Fixed,
    Free,
    Gimbal,
    Helical,
    Joint,
    Motion,
    Planar,
    Prismatic,
    Revolute,
    Rheonomic,
    Slide,
    Spherical,
    Turn,
    Universal,
)
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree

__all__ = [
    "EXAMPLES",
    "SHAPES",
    "Generator",
    "random_inertia",
    "random_parents",
    "random_rotation",
    "random_tree",
]
__dir__ = listing(__all__)

Generator = np.random.Generator
"""Where random numbers come from."""
SHAPES = ("chain", "star", "roots", "random")
"""How the bodies of `random_tree` hang on one another."""


def random_rotation(generator: Generator) -> NDArray[np.float64]:
    """Uniform on SO(3).

    Parameters
    ----------
    generator : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    array (3, 3)
        A rotation matrix.

    Examples
    --------
    >>> R = random_rotation(np.random.default_rng(0))
    >>> bool(np.allclose(R @ R.T, np.eye(3)))
    True
    """
    q, r = np.linalg.qr(generator.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return np.asarray(q * np.linalg.det(q))


def random_inertia(generator: Generator) -> Inertia:
    """A body of about 1 kg and 0.3 m.

    Parameters
    ----------
    generator : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    Inertia
        Physical, and full.

    Examples
    --------
    >>> random_inertia(np.random.default_rng(0)).is_full
    True
    """
    X = generator.normal(size=(3, 3)) * 0.1
    S = X @ X.T  # second moments of mass: what makes a tensor physical
    return Inertia.about_com(generator.uniform(0.5, 2.0), 0.1 * generator.normal(size=3), np.trace(S) * np.eye(3) - S)


def _axes(generator: Generator) -> list[tuple[float, float, float]]:
    return [(float(a[0]), float(a[1]), float(a[2])) for a in random_rotation(generator)]


EXAMPLES: dict[type[Joint], Callable[[Generator], Joint]] = {
    Fixed: lambda g: Fixed(),
    Revolute: lambda g: Revolute(_axes(g)[0]),
    Continuous: lambda g: Continuous(_axes(g)[0]),
    Prismatic: lambda g: Prismatic(_axes(g)[0]),
    Helical: lambda g: Helical(_axes(g)[0], 0.2),
    Cylindrical: lambda g: Cylindrical(_axes(g)[0]),
    Universal: lambda g: Universal(*_axes(g)[:2]),
    Planar: lambda g: Planar(*_axes(g)[:2]),
    Spherical: lambda g: Spherical(),
    Gimbal: lambda g: Gimbal(tuple(_axes(g))),  # type: ignore[arg-type]
    Free: lambda g: Free(),
    Compound: lambda g: Compound((Slide(_axes(g)[0]), Ball(), Slide(_axes(g)[0]))),
    Rheonomic: lambda g: Rheonomic(
        (
            Turn(_axes(g)[0]),
            Turn(_axes(g)[0], Motion((0.3, 0.7, -0.2), ((0.4, 2.0, 0.3),))),
            Slide(_axes(g)[0]),
            Slide(_axes(g)[0], Motion((0.1, -0.3), ((0.2, 3.0, 1.0),))),
        )
    ),
}
"""One random joint of every class."""


def random_parents(shape: str, count: int, generator: Generator) -> list[int]:
    """Parents of `count` bodies (−1: the base) in a chain, a star, a forest of several roots, or at random.

    Parameters
    ----------
    shape : {"chain", "star", "roots", "random"}
        How they hang on one another.
    count : int
        Number of bodies.
    generator : numpy.random.Generator
        Where the numbers come from.

    Returns
    -------
    list of int
        One per body, smaller than its own number.

    Raises
    ------
    ValueError
        Another shape.

    Examples
    --------
    >>> random_parents("chain", 4, np.random.default_rng(0))
    [-1, 0, 1, 2]
    """
    if shape == "chain":
        return list(range(-1, count - 1))
    if shape == "star":
        return [-1] + [0] * (count - 1)
    if shape == "roots":
        return [-1 if i % 3 == 0 else i - 1 for i in range(count)]
    if shape == "random":
        return [-1] + [int(generator.integers(0, i)) for i in range(1, count)]
    raise ValueError(f"shape: {shape!r}, expected one of {SHAPES}")


def random_tree(
    shape: str,
    count: int,
    generator: Generator,
    joints: Sequence[type[Joint]] = (Revolute,),
    root: Joint | None = None,
    damping: float = 0.0,
    armature: float = 0.0,
) -> Tree:
    """A tree of random bodies, places and joints of the given classes.

    Parameters
    ----------
    shape : {"chain", "star", "roots", "random"}
        How the bodies hang on one another.
    count : int
        Number of bodies.
    generator : numpy.random.Generator
        Where the numbers come from.
    joints : sequence of Joint classes
        Of which the joints are drawn.
    root : Joint, optional
        The joint of the first body, for example ``Free()``.
    damping : float
        Of all joints, N·m·s/rad or N·s/m.
    armature : float
        Joints have up to so much of it, kg·m² or kg, and every third one none.

    Returns
    -------
    Tree
        Of `count` bodies.

    Examples
    --------
    >>> random_tree("chain", 3, np.random.default_rng(0))
    <Tree 'chain of 3': 3 bodies, nq = 3, nv = 3>
    """
    bodies = []
    for i, k in enumerate(random_parents(shape, count, generator)):
        kind = joints[int(generator.integers(len(joints)))]
        bodies.append(
            Body(
                f"body_{i}",
                root if root is not None and i == 0 else EXAMPLES[kind](generator),
                None if k < 0 else f"body_{k}",
                0.3 * generator.normal(size=3),
                random_rotation(generator),
                random_inertia(generator),
                data=JointData(damping=damping),
            )
        )
    if armature:
        for i, body in enumerate(bodies):
            own = generator.uniform(0.0, armature, body.joint.n_v) if i % 3 else 0.0
            bodies[i] = replace(body, data=replace(body.data, armature=own))
    return Tree(bodies, f"{shape} of {count}")
