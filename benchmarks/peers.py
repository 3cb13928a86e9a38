"""Pinocchio and MuJoCo on the same mechanisms, each with the scheme that its own examples of closed loops use.

Pinocchio: `constraintDynamics` (proximal, μ = 1e-10) with correctors K_P = β², K_D = 2β, and a semi-implicit Euler
step.  MuJoCo: <connect> with solref = (1/β, 1), which is Baumgarte's equation with α = β, the hardest impedance (solimp
0.9999), and its own RK4.  Both are called from Python, which is in their cost; gaps and energies are measured here, at
every step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Problem
from integrators.status import Status
from mechanics.joints import Ball, Continuous, Prismatic, Revolute, Slide, Turn
from mechanics.mechanism import Mechanism

Array = NDArray[np.float64]
PACKAGES = {"Pinocchio": "pinocchio", "MuJoCo": "mujoco"}
INSTALL = {"Pinocchio": "pip install pin", "MuJoCo": "pip install mujoco"}
HINGES_AND_SLIDES = {Revolute, Continuous, Prismatic}
ELEMENTS = {Turn: "hinge", Slide: "slide"}
"""Elementary motions by their names in MJCF."""


@dataclass(frozen=True)
class PeerSolution:
    """The part of a `Solution` that the study reads."""

    t: Array
    y: Array
    invariants: Array
    least: Array
    greatest: Array
    steps: int
    seconds: float
    """Time of the processor for the steps alone."""
    status: Status
    message: str
    evaluations: int
    iterations: int = 0

    @property
    def finished(self) -> bool:
        """Whether the end was reached; nothing else is known of the peers' promises."""
        return self.status is Status.OK

    @property
    def mean_since(self) -> Array:
        """Not known: no slopes are fitted."""
        return np.full_like(self.least, np.nan)


def missing() -> list[str]:
    """Peers that are not installed."""
    return [peer for peer, package in PACKAGES.items() if find_spec(package) is None]


def describes(made: Mechanism) -> bool:
    """Whether the peers have the mechanism: hinges and slides, closed at points, without force elements."""
    joints = {type(b.joint) for b in made.tree.bodies}
    return (
        joints <= HINGES_AND_SLIDES
        and not made.elements
        and {c.kind for c in made.equations.closures} <= {"revolute", "spherical"}
    )


def points(made: Mechanism) -> list[tuple[str | None, Array, str | None, Array]]:
    """Pairs of points that must coincide: one of a ball or of a plane hinge, two along z of a hinge in space or a plane
    weld.
    """
    pairs, planar = [], len(made.mobility.kept) <= 2 * len(made.equations.closures)
    for c in made.equations.closures:
        for s in [0.0] if c.kind == "spherical" or (planar and c.kind == "revolute") else [0.0, 0.1]:
            first, second = (f.position + s * np.asarray(f.rotation)[:, 2] for f in (c.first, c.second))
            pairs.append((c.first.body, first, c.second.body, second))
    return pairs


# --- Pinocchio --------------------------------------------------------------------------------------------------------


def pinocchio_model(made: Mechanism, beta: float = 0.0) -> tuple[Any, Any, Any]:
    """The tree for Pinocchio, and its closures as contacts of points, stabilised with the rate β."""
    import pinocchio as pin

    from mechanics import to_pinocchio

    other = to_pinocchio(made.tree)

    def place(body: str | None, x: Array) -> tuple[int, Any]:
        if body is None:
            return 0, pin.SE3(np.eye(3), np.asarray(x))
        at = other.places[made.tree.body_index(body)]
        return at.joint, pin.SE3(at.rotation, at.position + at.rotation @ x)

    constraints, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for a, x, b, y in points(made):
        ends = (*place(a, x), *place(b, y))
        contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, other.model, *ends, pin.ReferenceFrame.LOCAL)
        contact.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(beta**2, 2.0 * beta))
        constraints.append(contact)
    for contact in constraints:
        datas.append(contact.createData())
    return other, constraints, datas


def pinocchio(
    beta: float, made: Mechanism, problem: Problem, span: tuple[float, float], step: float, save_every: int
) -> PeerSolution:
    """Semi-implicit Euler steps with the accelerations of `constraintDynamics`."""
    import pinocchio as pin

    other, constraints, datas = pinocchio_model(made, beta)
    model, data, tau = other.model, other.model.createData(), np.zeros(other.model.nv)
    pin.initConstraintDynamics(model, data, constraints, datas)
    settings = pin.ProximalSettings(1e-12, 1e-10, 10)
    n = made.tree.nv
    q, v = other.configuration(problem.y0[:n]), other.velocity(problem.y0[n:])

    def advance(states: Array) -> None:
        nonlocal q, v
        for row in states:
            v = v + step * pin.constraintDynamics(model, data, q, v, tau, constraints, datas, settings)
            q = pin.integrate(model, q, step * v)
            row[:n], row[n:] = q, v

    def to_tree(states: Array) -> Array:
        return np.hstack([other.tree_velocity(states[:, :n]), other.tree_velocity(states[:, n:])])

    return _measured(advance, to_tree, problem, span, step, save_every, 1)


# --- MuJoCo -----------------------------------------------------------------------------------------------------------


def mjcf(made: Mechanism, step: float, beta: float, integrator: str) -> str:
    """The same bodies, joints and closing points for MuJoCo."""
    tree, sites = made.tree, dict[str | None, list[str]]()

    def text(x: Any) -> str:
        return " ".join(repr(float(a)) for a in np.ravel(x))

    def body(i: int) -> str:
        b = tree.bodies[i]
        R = np.asarray(b.rotation)
        J = b.inertia.tensor_about_com + 1e-9 * np.eye(3)  # MuJoCo refuses slender rods
        if J[2, 2] > J[0, 0] + J[1, 1]:  # and flat bodies, whose moments about x and y do not matter in the plane
            J = J + 0.5 * J[2, 2] * np.diag([1.0, 1.0, 0.0])
        joints = "".join(_joint(element, text) for element in b.joint.elements)
        inside = "".join(body(j) for j in tree.children[i])
        full = text([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        return (
            f'<body name="{b.name}" pos="{text(b.position)}" xyaxes="{text(R[:, 0])} {text(R[:, 1])}">'
            f'<inertial pos="{text(b.inertia.com)}" mass="{b.inertia.mass!r}" fullinertia="{full}"/>'
            f"{joints}{''.join(sites.get(b.name, []))}{inside}</body>"
        )

    connects = ""
    for k, (first, x, second, y) in enumerate(
        points(made)
    ):  # between sites: anchors would be taken from the joints' zero positions
        for name, place, end in ((f"first{k}", first, x), (f"second{k}", second, y)):
            sites.setdefault(place, []).append(f'<site name="{name}" pos="{text(end)}"/>')
        solver = f'solref="{1.0 / beta!r} 1" solimp="0.9999 0.9999 0.001"'
        connects += f'<connect site1="first{k}" site2="second{k}" {solver}/>'
    bodies = "".join([*sites.get(None, []), *(body(i) for i in tree.roots)])
    return (
        f'<mujoco><compiler boundmass="0"/><option timestep="{step!r}" gravity="{text(tree.gravity)}" '
        f'integrator="{integrator}"/><worldbody>{bodies}</worldbody><equality>{connects}</equality></mujoco>'
    )


def _joint(element: Any, text: Callable[[Any], str]) -> str:
    """One elementary motion: a ball, or a hinge or slide with its axis."""
    if isinstance(element, Ball):
        return '<joint type="ball"/>'
    return f'<joint type="{ELEMENTS[type(element)]}" axis="{text(element.axis)}"/>'


def mujoco(
    beta: float, made: Mechanism, problem: Problem, span: tuple[float, float], step: float, save_every: int
) -> PeerSolution:
    """MuJoCo's own RK4 steps."""
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mjcf(made, step, min(beta, 0.5 / step), "RK4"))
    data, n = mj.MjData(model), made.tree.nv
    names = [made.tree.body_index(model.body(int(b)).name) for b in model.jnt_bodyid]
    order = np.concatenate([np.arange(n)[made.tree.v_slice(made.tree.joint_names[i])] for i in names])
    data.qpos[:], data.qvel[:] = problem.y0[:n][order], problem.y0[n:][order]

    def advance(states: Array) -> None:
        for row in states:
            mj.mj_step(model, data)
            row[:n], row[n:] = data.qpos, data.qvel

    def to_tree(states: Array) -> Array:
        out = np.empty_like(states)
        out[:, order], out[:, n + order] = states[:, :n], states[:, n:]
        return out

    return _measured(advance, to_tree, problem, span, step, save_every, 4)


# --- measured here ----------------------------------------------------------------------------------------------------


def _measured(
    advance: Callable[[Array], None],
    to_tree: Callable[[Array], Array],
    problem: Problem,
    span: tuple[float, float],
    step: float,
    save_every: int,
    evaluations: int,
) -> PeerSolution:
    """Stretches of steps, timed, and then their invariants at every state, until a state is not finite."""
    count, seconds, done, status = round((span[1] - span[0]) / step), 0.0, 0, Status.OK
    t, y, values = [span[0]], [problem.y0], [problem.invariant_values(span[0], problem.y0)]
    least, greatest = [values[0]], [values[0]]
    while done < count:
        states = np.empty((min(save_every, count - done), problem.n))
        began = time.process_time()
        advance(states)
        seconds += time.process_time() - began
        done += len(states)
        states = to_tree(states)
        if not np.isfinite(states).all():
            status = Status.NON_FINITE
            break
        found = np.array([problem.invariant_values(span[0], state) for state in states])
        t.append(span[0] + done * step)
        y.append(states[-1])
        for rows, row in ((values, found[-1]), (least, found.min(axis=0)), (greatest, found.max(axis=0))):
            rows.append(row)
    tables = [np.array(rows) for rows in (t, y, values, least, greatest)]
    return PeerSolution(*tables, done, seconds, status, "", done * evaluations)
