"""Which momenta a tree on free joints conserves, alone or with what joins its own bodies, and their guards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Guard
from integrators.problem.guards import MOMENTUM_CHANGE, momentum_guards
from mechanics import dynamics
from mechanics.constraints.assembly import size_of, units_of
from mechanics.constraints.loops import Closure, JointFreedom
from mechanics.forces import Element, OnBodies, OnJoint
from mechanics.forces.element import OnEquation
from mechanics.forces.tendon import Tendon
from mechanics.model.layout import upright_axis
from mechanics.model.tree import Tree

Array = NDArray[np.float64]

LEAST = 1e-300
"""Magnitude of the momenta of what is at rest and will be driven: its states say then how large they are."""


def conserved_momenta(
    tree: Tree, closures: Iterable[Closure] = (), elements: Iterable[Element] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the momenta that a tree conserves, about the origin of the world, as `free_momentum` gives
    them: all without gravity, else those that it leaves alone; none where anything holds the tree or acts on it from
    outside.  What moves its joints, as motors and prescribed motions, does not.
    """
    roots = {tree.bodies[i].joint_name for i in tree.roots}
    damped = any(np.any(tree.bodies[i].data.damping) for i in tree.roots)  # what damps a free body takes its momentum
    inside = all(_is_inside(c, roots) for c in closures) and all(_acts_inside(e, roots) for e in elements)
    if damped or not tree.is_free or not inside:
        return (), ()
    if tree.gravity.any():
        upright = "horizontal_momentum_1", "horizontal_momentum_2", "angular_momentum_vertical"
        return upright, ("kg m/s", "kg m/s", "kg m^2/s")
    names = tuple(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz")
    return names, (*("kg m/s",) * 3, *("kg m^2/s",) * 3)


def _is_inside(closure: Closure, roots: set[str]) -> bool:
    """Whether a closure joins bodies or joints of the tree with each other."""
    if closure.couples:
        return all(_is_of(equation.joints, roots) for equation in closure.equations)
    return closure.first.body is not None and closure.second.body is not None


def _acts_inside(element: Element, roots: set[str]) -> bool:
    """Whether a force element acts between bodies of the tree, or on joints between them."""
    if isinstance(element, OnJoint):
        joint = element.joint
        return _is_of(joint.joints if isinstance(joint, Tendon) else (joint,), roots)
    if isinstance(element, OnBodies):
        return element.first.body is not None and element.second.body is not None
    return isinstance(element, OnEquation) and element.first is not None and element.second is not None


def _is_of(joints: Iterable[JointFreedom], roots: set[str]) -> bool:
    """Whether none of these joints is one of the base."""
    return not roots & {joint if isinstance(joint, str) else joint[0] for joint in joints}


def kept_momenta(tree: Tree, p: Array, names: Iterable[str], driven: bool = False) -> list[Guard]:
    """The guards of conserved momenta, linear and angular ones over the extent of the tree: those about the origin of
    the world less what the whole has by its way.  `driven`: what is at rest may come to move.
    """
    found: list[Guard] = []
    for name in names:
        angular = name.startswith("angular")
        carried = partial(_by_its_way, tree, _axis_of(tree, name)) if angular else None
        magnitude = max(_momentum_of(tree, angular, p), LEAST if driven else 0.0)
        found += momentum_guards([name], magnitude, carried, partial(_change_of, tree, angular))
    return found


def _momentum_of(tree: Tree, angular: bool, p: Array) -> float:
    """How large the linear momentum of generalised momenta is, or the angular one over the extent of the tree."""
    size = size_of(tree)
    linear = float(np.max(np.linalg.norm(p * units_of(tree, size) / size, axis=-1)))
    return linear * size if angular else linear


def _change_of(tree: Tree, angular: bool, t: float, y: Array) -> float:
    """By how much a momentum of a motion from a state may be wrong."""
    return MOMENTUM_CHANGE * _momentum_of(tree, angular, y[tree.nq :])


def _axis_of(tree: Tree, name: str) -> Array:
    """The axis in the world about which a watched angular momentum is."""
    along = {f"angular_momentum_{axis}": unit for axis, unit in zip("xyz", np.eye(3), strict=True)}
    return along.get(name, np.array(upright_axis(tree.parameters, 2)))


def _by_its_way(tree: Tree, axis: Array, t: float, y: Array) -> tuple[float, float]:
    """The angular momentum of the whole mass in its centre about an axis through the origin of the world, and how large
    that could be at the same distance.
    """
    q, p = y[: tree.nq], y[tree.nq :]
    v, _ = dynamics.hamiltonian_rhs(tree, q, p, t=t)
    momentum, place = dynamics.centroidal_momentum(tree, q, v, t)[:3], dynamics.centre_of_mass(tree, q, t)
    across = [float(np.linalg.norm(x - (axis @ x) * axis)) for x in (place, momentum)]
    return float(axis @ np.cross(place, momentum)), across[0] * across[1]
