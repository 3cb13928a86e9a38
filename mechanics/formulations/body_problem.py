"""Mechanisms in body coordinates, from their state in tree coordinates; the parts are those of
`mechanics.formulations.body_coordinates`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, Variable
from integrators.problem.multipliers import work_rows
from integrators.problem.parts import constrained
from liegroup.arrays import of_kind
from liegroup.rotations import quaternion_wxyz_from_matrix
from liegroup.table import RN, SO3, table_of
from mechanics import dynamics
from mechanics.algorithms.batch import once
from mechanics.constraints.body_equations import COUPLING, GIVEN, screws_by_kind
from mechanics.constraints.equations import geometry
from mechanics.constraints.loops import (
    Closure,
    Equation,
    cylindrical,
    numbers_of_equation,
    prismatic,
    revolute,
    spherical,
    weld,
)
from mechanics.constraints.wheel_equations import HEIGHT
from mechanics.errors import ModelError
from mechanics.formulations.body_coordinates import BodyNumbers, PackedEquation, Sizes, field, invariants, parts
from mechanics.guards import STRAINED, closure_guards, start_guard
from mechanics.joints import Continuous, Cylindrical, Fixed, Free, Joint, Prismatic, Revolute, Spherical
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.scenes import centred_scene

Array = NDArray[np.float64]


def body_problem(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    rates: Mapping[str, ArrayLike] | None = None,
) -> Problem:
    """The motion in body coordinates, (x₁, R₁, …, v) or in the plane (x₁, y₁, θ₁, …, v), from a state in tree
    coordinates.

    Parameters
    ----------
    mechanism : Mechanism
        With loops, wheels or none.
    q : array (nq,), optional
        Closed configuration, rad and m; default that of `Mechanism.start`.
    v : array (nv,), optional
        Velocities, rad/s and m/s, that keep it closed; default those of `Mechanism.start`.
    rates : mapping of str to float or array, optional
        Instead of v: rates of joints by name, rad/s and m/s.

    Returns
    -------
    Problem
        Every body on its own, every joint a constraint, the mass matrix constant; parts "constrained".

    Raises
    ------
    ModelError
        Force elements, prescribed motions, armature or damping of joints, joints that are no constraint of this kind,
        couplings and closures given as functions, bodies without mass, or no choice of closure equations that is
        independent in every position.

    Examples
    --------
    >>> from mechanics.systems import SYSTEMS
    >>> body_problem(SYSTEMS["four-bar"].mechanism())
    <Problem 'four-bar (body coordinates)': on R^3 × R^3 × R^3 × R^9, watching energy, gap, velocity_gap>
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    tree = mechanism.tree
    if mechanism.elements or tree.is_rheonomic:
        raise ModelError(
            f"mechanism {mechanism.name!r}", "has force elements or prescribed motions", "use its tree coordinates"
        )
    if tree.armature.any():
        raise ModelError(
            f"mechanism {mechanism.name!r}",
            "has joints with armature, no inertia of a body",
            "use its tree coordinates",
        )
    if tree.damping.any():
        raise ModelError(f"mechanism {mechanism.name!r}", "has joints with damping", "use its tree coordinates")
    if len(mechanism.mobility.independent) != mechanism.mobility.rank:
        raise ModelError(
            f"mechanism {mechanism.name!r}",
            "no choice of its closure equations is independent everywhere",
            "use Mechanism.problem",
        )
    q0, v0 = mechanism.start(q, v, rates)
    with once():
        kinetic = float(dynamics.kinetic_energy(mechanism.tree, q0, v0))
    at = geometry(tree, q0, v0)
    planar = _is_planar(mechanism)
    names, equations = _equations(mechanism, planar)
    state, velocity, heights = _state(mechanism, at, planar)
    count, n = len(tree), len(velocity)
    kinds = [(RN, 3)] * count if planar else [(RN, 3), (SO3, 1)] * count
    m, k = len(equations), sum(kind <= HEIGHT for kind, *_ in equations)
    sizes = Sizes(n, m, k, count, int(planar))
    structure = [*sizes, *(x for kind, i, j, _ in equations for x in PackedEquation(kind, i, j))]
    parameters = np.concatenate(
        [tree.gravity, *map(_body_numbers, tree.bodies, heights), *(numbers for *_, numbers in equations)]
    )
    size = constrained(n, m, k).SIZE
    return Problem(
        table_of([*kinds, (RN, n)]),
        np.concatenate([state, velocity]),
        field,
        parameters=parameters,
        structure=structure,
        work_shape=(work_rows(n, m) + count + 1, max(size, 18)),
        variables=(
            Variable(
                "q",
                tuple(f"{b}.{k}" for b in tree.body_names for k in range(len(state) // count)),
                "",
                "positions and attitudes",
            ),
            Variable("v", tuple(f"{b}.{k}" for b in tree.body_names for k in range(n // count)), "", "velocities"),
        ),
        invariants=invariants,
        invariant_names=("energy", "gap", "velocity_gap"),
        invariant_units=("J", "m", "m/s"),
        guards=(
            *mechanism.energy_guards(q0, kinetic),
            *start_guard(mechanism.tree, kinetic),
            *closure_guards(mechanism.size, STRAINED),
        ),
        parts=parts,
        parts_layout="constrained",
        row_names=names,
        strikes=any(element.strikes for element in mechanism.elements),
        has_kinks=any(element.has_kinks for element in mechanism.elements),
        model=f"{mechanism.name} (body coordinates)",
        scene=centred_scene(mechanism, np.array(heights) if planar else None),
    )


def _is_planar(mechanism: Mechanism) -> bool:
    """Whether all bodies move in the plane x-y: turns about z and slides across it, and nothing else."""
    at = geometry(mechanism.tree, mechanism.home)
    for R, J in zip(at.R, at.J, strict=True):
        twist = np.concatenate([R @ J[:3], R @ J[3:]])
        if np.abs(twist[[2, 3, 4]]).max(initial=0.0) > 1e-12 or abs(R[2, 2] - 1.0) > 1e-12:
            return False
    return True


def _joint_closure(name: str, joint: Joint, parent: str | None, position: Array, rotation: Array) -> Closure | None:
    """The closure that stands for a joint of the tree."""
    if isinstance(joint, Free):
        return None
    axis = np.asarray(getattr(joint, "axis", (0.0, 0.0, 1.0)), dtype=float)
    inside = Frame.with_axis(name, axis=axis)
    outside = Frame(parent, position, rotation @ inside.rotation)
    makers = {
        Revolute: revolute,
        Continuous: revolute,
        Prismatic: prismatic,
        Cylindrical: cylindrical,
        Spherical: spherical,
        Fixed: weld,
    }
    if type(joint) not in makers:
        raise ModelError(
            f"joint of {name!r}", f"is {joint.kind}", f"use one of {', '.join(k.__name__ for k in makers)}"
        )
    return makers[type(joint)](outside, inside, f"joint of {name}")


def _equations(mechanism: Mechanism, planar: bool) -> tuple[list[str], list[tuple[int, int, int, Array]]]:
    """Names of all equations; their kinds, bodies and numbers, frames seen from the centres of mass; first those of
    wheels that are no rates of positions.
    """
    tree, found, names = mechanism.tree, [], list[str]()
    for body in tree.bodies:
        closure = _joint_closure(
            body.name, body.joint, body.parent, np.asarray(body.position), np.asarray(body.rotation)
        )
        if closure is not None:
            equations = [(closure.first.body, closure.second.body, equation) for equation in closure.equations]
            found += [r for r in equations if not planar or _acts_in_plane(mechanism, r)]
            names += [closure.name] * (len(found) - len(names))
    for c in mechanism.mobility.independent:
        if mechanism.equations.equations[c].kind in (GIVEN, COUPLING):
            raise ModelError(
                f"closure equation {mechanism.equations.names[c]!r}", "is given as a function", "use tree coordinates"
            )
        i, j = mechanism.equations.bodies[c]
        between = [None if b < 0 else tree.body_names[b] for b in (i, j)]
        found.append((between[0], between[1], mechanism.equations.equations[c]))
        names.append(mechanism.equations.names[c])
    order = sorted(range(len(found)), key=lambda c: found[c][2].kind <= HEIGHT)
    return [names[c] for c in order], [_from_centre(mechanism, *found[c]) for c in order]


def _acts_in_plane(mechanism: Mechanism, r: tuple[str | None, str | None, Equation]) -> bool:
    """Whether an equation of a joint restrains motions of the plane."""
    at, tree = geometry(mechanism.tree, mechanism.home), mechanism.tree
    poses = [
        (np.eye(3), np.zeros(3)) if b is None else (at.R[tree.body_index(b)], at.x[tree.body_index(b)]) for b in r[:2]
    ]
    equation = r[2]
    _, _, W = screws_by_kind(
        equation.kind,
        equation.a,
        equation.p,
        equation.b,
        equation.q,
        equation.length,
        poses[0][0].ravel(),
        poses[0][1],
        poses[1][0].ravel(),
        poses[1][1],
    )
    force = poses[1][0] @ np.array(W[:3])
    return bool(np.abs([force[0], force[1], W[5]]).max() > 1e-9)


def _from_centre(
    mechanism: Mechanism, first: str | None, second: str | None, equation: Equation
) -> tuple[int, int, int, Array]:
    tree = mechanism.tree

    def seen(body: str | None, point: Array) -> tuple[int, Array]:
        if body is None:
            return len(tree), point
        i = tree.body_index(body)
        return i, point - tree.bodies[i].inertia.com

    (i, p), (j, q) = seen(first, equation.p), seen(second, equation.q)
    return equation.kind, i, j, numbers_of_equation(equation._replace(p=p, q=q))


def _body_numbers(body: Any, height: float | None) -> Array:
    inertia = body.inertia
    J = inertia.tensor_about_com
    if inertia.mass <= 0.0 or (J[2, 2] <= 0.0 if height is not None else np.linalg.eigvalsh(J)[0] <= 0.0):
        raise ModelError(
            f"body {body.name!r}", "has no mass or no moment of inertia of its own", "use tree coordinates"
        )
    return np.hstack(BodyNumbers(inertia.mass, J.ravel(), height or 0.0))


def _state(mechanism: Mechanism, at: Any, planar: bool) -> tuple[Array, Array, list[float | None]]:
    """Positions and velocities of all bodies and, in the plane, the heights of their centres of mass above it."""
    positions, velocities, heights = [], [], list[float | None]()
    for R, x, V, body in zip(at.R, at.x, at.V, mechanism.tree.bodies, strict=True):
        c = body.inertia.com
        center, speed = x + R @ c, R @ (V[:3] + np.cross(V[3:], c))
        if planar:
            positions.append([center[0], center[1], np.arctan2(R[1, 0], R[0, 0])])
            velocities.append([speed[0], speed[1], V[5]])
        else:
            positions.append([*center, *quaternion_wxyz_from_matrix(R)])
            velocities.append([*speed, *V[3:]])
        heights.append(float(center[2]) if planar else None)
    return np.concatenate(positions), np.concatenate(velocities), heights
