"""Simulators of others on the same mechanism from the same start: MuJoCo with its integrators (an extra package).

RK4 is the classical method; implicitfast is implicit in velocity-dependent forces, of which there are none here; Euler
is semi-implicit.  Contacts, limits and friction are off.  Energies are those of the saved states, by the functions of
this project.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mechanics
from integrators import Solution
from integrators.problem import Problem
from integrators.status import Status
from liegroup.formulas import so3
from mechanics import Tree
from mechanics.joints import Ball, Float, Slide, Turn

Array = NDArray[np.float64]
INTEGRATORS = {"MUJOCO_RK4": "RK4", "MUJOCO_IMPLICITFAST": "implicitfast", "MUJOCO_EULER": "Euler"}
"""Names in the place of a method, with MuJoCo's names."""
_JOINTS = {Turn: "hinge", Slide: "slide", Ball: "ball", Float: "free"}


def model_file(tree: Tree, step: float, integrator: str) -> str:
    """The tree in MuJoCo's format; ValueError for joints that it does not have."""

    def words(*numbers: Any) -> str:
        return " ".join(repr(float(x)) for x in np.concatenate([np.ravel(x) for x in numbers]))

    def resistance(i: int, values: Array) -> str:
        own = values[tree.v_slice(i)]
        if np.ptp(own) > 0.0:
            raise ValueError(
                f"joint {tree.bodies[i].joint_name!r}: MuJoCo has one damping, one armature for all motions"
            )
        return repr(float(own[0]))

    def body(i: int) -> str:
        b = tree.bodies[i]
        J, elements = b.inertia.tensor_about_com, b.joint.elements
        if len(elements) > 1 or any(type(e) not in _JOINTS or e.motion is not None for e in elements):
            raise ValueError(
                f"joint {b.joint_name!r} of {tree.name}: MuJoCo has hinges, slides, balls and free joints only"
            )
        joint = "".join(
            f'<joint name="{b.joint_name}" type="{_JOINTS[type(e)]}"'
            + (f' axis="{words(e.axis)}"' if hasattr(e, "axis") else "")
            + f' damping="{resistance(i, tree.damping)}" armature="{resistance(i, tree.armature)}"/>'
            for e in elements
        )
        moments, axes = np.linalg.eigh(J)  # older versions of MuJoCo diagonalise a full tensor to six digits
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        mass = "" if b.inertia.mass == 0 else (
            f'<inertial pos="{words(b.inertia.com)}" mass="{b.inertia.mass!r}" quat="{words(so3.from_matrix(axes))}" '
            f'diaginertia="{words(moments)}"/>'
        )  # fmt: skip
        place = f'pos="{words(b.position)}" quat="{words(so3.from_matrix(np.asarray(b.rotation)))}"'
        return f"<body {place}>{joint}{mass}{''.join(body(k) for k in tree.children[i])}</body>"

    option = f'<option timestep="{step!r}" gravity="{words(tree.gravity)}" integrator="{integrator}">'
    option += '<flag contact="disable"/></option>'
    compiler = '<compiler boundmass="1e-9" boundinertia="1e-12" balanceinertia="true"/>'
    return f"<mujoco>{compiler}{option}<worldbody>{''.join(body(i) for i in tree.roots)}</worldbody></mujoco>"


def simulate(tree: Tree, problem: Problem, name: str, step: float, horizon: float, save_every: int) -> Solution:
    """Integrate the mechanism by MuJoCo from the start of the problem."""
    import mujoco as mj

    mj.set_mju_user_warning(lambda message: None)  # the status says it; the default writes a file where one stands
    model = mj.MjModel.from_xml_string(model_file(tree, step, INTEGRATORS[name]))
    data, rows = mj.MjData(model), round(horizon / step / save_every)
    places = [
        (model.joint(b.joint_name), tree.q_slice(b.joint_name), tree.v_slice(b.joint_name))
        for b in tree.bodies
        if b.joint.n_q
    ]
    q0, p0 = np.split(np.asarray(problem.y0), [tree.nq])
    v0 = mechanics.hamiltonian_rhs(tree, q0, p0)[0]
    for joint, q, v in places:
        data.qpos[joint.qposadr[0] :][: q.stop - q.start] = q0[q]
        data.qvel[joint.dofadr[0] :][: v.stop - v.start] = _velocity(q0[q], v0[v], False)
    q, v, seconds = [q0], [v0], 0.0
    for _ in range(rows):
        began = time.perf_counter()
        mj.mj_step(model, data, nstep=save_every)
        seconds += time.perf_counter() - began
        if any(warning.number for warning in data.warning):  # it has started anew from its neutral configuration
            break
        q.append(np.zeros(tree.nq))
        v.append(np.zeros(tree.nv))
        for joint, at, rate in places:
            q[-1][at] = data.qpos[joint.qposadr[0] :][: at.stop - at.start]
            v[-1][rate] = _velocity(q[-1][at], data.qvel[joint.dofadr[0] :][: rate.stop - rate.start], True)
    return solution_of(tree, problem, name, step, save_every, rows, np.array(q), np.array(v), seconds)


def solution_of(
    tree: Tree, problem: Problem, name: str, step: float, save_every: int, rows: int, q: Array, v: Array, seconds: float
) -> Solution:  # fmt: skip
    """Saved configurations and velocities of another simulator as a solution; fewer rows than wanted, or states
    whose energy is no number: it gave up.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows ends the run
        y = np.concatenate([q, mechanics.momentum(tree, q, v)], axis=1)
    values = np.array([problem.invariant_values(0.0, state) for state in y])
    finite = np.isfinite(y).all(axis=1) & np.isfinite(values).all(axis=1)
    good = len(y) if finite.all() else int(np.argmin(finite))
    y, values, done = y[:good], values[:good], good - 1
    status, message = (
        (Status.OK, "reached the end") if done == rows else (Status.NON_FINITE, f"{name}: the motion became unstable")
    )
    return Solution(
        step * save_every * np.arange(done + 1), y, values, values, values, values, np.ones(done + 1, dtype=np.int64),
        tuple(problem.variables), tuple(problem.invariant_names), tuple(problem.invariant_units), problem.model, name,
        step, status,
        message, done * save_every, seconds=seconds,
    )  # fmt: skip


def _velocity(q: Array, v: Array, to_body: bool) -> Array:
    """MuJoCo gives the velocity of a free body in world axes, its angular velocity in body axes."""
    if len(v) != 6:
        return v
    turn = so3.act_inverse if to_body else so3.act
    return np.concatenate([turn(tuple(q[3:]), tuple(v[:3])), v[3:]])
