"""MuJoCo's loop with another integrator: one call in the place of ``mujoco.mj_step``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators import stepper
from liegroup import so3
from liegroup.arrays import of_kind, positive
from liegroup.modules import listing
from mechanics import Mechanism, ModelError
from mechanics.adapters.elements import Wanted
from mechanics.adapters.mjcf_compiler import FIELDS, OPTIONS
from mechanics.adapters.mujoco_model import checked, mechanism_now, side_of
from mechanics.adapters.state_map import StateMap
from mechanics.forces import Element, motor, wrench
from mechanics.guards import OPEN
from mechanics.joints import Compound, Free, Slide, Turn
from mechanics.model.frames import Frame
from mechanics.problems.watch import widest

__all__ = ["MujocoStepper", "mujoco_stepper"]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
GROWS = 0.05
"""In a step, from which on the energy of a servo is told of."""
IN_EVERY_STEP = ("name", "actuator_", "jnt_actfrc", "tendon_actfrc", "disableactuator")
"""How names begin of what MuJoCo itself reads in every step, so that it may change."""
SHOWN = ("mat_", "mesh_", "geom_rgba", "geom_group", "geom_matid", "geom_dataid")
"""And of what is drawn and does not act."""
OF_CONTACTS = ("geom_", "pair_", "exclude_")
ONCE = ("actuator_armature", "actuator_damping", "actuator_dampingpoly", "actuator_gear")
"""Of actuators, what becomes inertias and dampers of the mechanism when a stepper is made: where there are any."""


class MujocoStepper:
    """A step of a MuJoCo model by a method of this project, ``step(data)`` in the place of ``mj_step(model, data)``.

    A step writes qpos, qvel and time, and reads what acts: the forces of the actuators (ctrl), qfrc_applied,
    xfrc_applied and what a callback `mjcb_passive` adds, all held over the step: the force of a stiff servo, too, which
    then is of first order in h.  On free bodies forces that are applied, and the moments of xfrc_applied, are held in
    the axes of the world; those of actuators, and the moments of qfrc_applied, turn with the body.  As after
    ``mj_step``, positions of bodies, sensors and energies in the data are those at its beginning.  As long as nobody
    else writes qpos and qvel, momenta go on to the last digit.  Of a qvel that opens loops their impulse leaves what
    is nearest in kinetic energy.

    Attributes
    ----------
    model : mujoco.MjModel
        As it was when the stepper was made; make another after changing it.
    mechanism : Mechanism
        What is stepped: the model without its actuators, with inputs on its joints.
    states : StateMap
        Between the two.
    step : float
        s.

    Examples
    --------
    See `mujoco_stepper`.
    """

    def __init__(self, model: Any, method: str, step: float, contacts: bool = False) -> None:
        self._mujoco = checked(model)
        if model.na:
            raise ModelError("model", f"has {model.na} activations, states of its actuators", "step it by mj_step")
        if delayed := int(getattr(model, "nhistory", 0)):
            raise ModelError("model", f"has {delayed} numbers of delayed actuators or sensors", "step it by mj_step")
        self.model, self.step, self._active = model, step, model.eq_active0.copy()
        self._of = model  # the model of the data that came last: deep copies of data have a copy
        self._read = [(name, view, view.tobytes()) for name, view in _read_once(model, contacts).items() if view.size]
        self._numbers = _numbers(model)
        made, report = mechanism_now(model, Wanted(actuators=False, contacts=contacts))  # MuJoCo says what they do
        for name in _too_stiff(model, step):
            report.change(
                f"actuator {name}: its force is held over a step of {step:g} s, which throws what it holds "
                "further than it was; take smaller steps, or load the model with its actuators (mechanics.from_mujoco)"
            )
        report.warn(4)
        inputs, places = _inputs(made)
        acting = [[e] for e in made.elements]
        self.mechanism = Mechanism(
            made.tree, made.equations.closures, made.home, [*acting, *inputs], made.mobility.rank, made.name
        )
        self.states = StateMap(made.tree, side_of(model))
        self._problem = self.mechanism.problem()
        self._take = stepper(self._problem, method, step)
        pushed = [places[name] for name in self._take.names]
        self._pushed = np.array([k for k, _ in pushed], dtype=np.intp)
        self._in_world = np.array([in_world for _, in_world in pushed], dtype=bool)
        self._free = [
            (tree.q_slice(body.joint_name).start + 3, tree.v_slice(body.joint_name).start)
            for tree in [made.tree]
            for body in tree.bodies
            if isinstance(body.joint, Free)
        ]
        self._last: tuple[Array, Array, Array] | None = None
        self._carried = model.jnt_actgravcomp[model.dof_jntid].astype(float)

    def __repr__(self) -> str:
        return f"<MujocoStepper: {self._take!r}>"

    def __call__(self, data: Any) -> None:
        """One step.

        Parameters
        ----------
        data : mujoco.MjData
            Of the model; it is changed.

        Raises
        ------
        TypeError
            No data.
        ValueError
            Data of another model; a model of which anything has changed that the mechanism is made of (masses, joints,
            springs, limits, what touches, gravity, the time step, flags), or equality constraints that have been
            switched on or off, since the stepper was made; gains and limits of actuators may change;
            qpos with open loops; forces on balls, which can take none here, nor can joints that share an anchor with
            one; StepError if the step fails.
        """
        of_kind(data, self._mujoco.MjData, "data", "a mujoco.MjData")
        self._check(data)
        self._mujoco.mj_step1(self.model, data)
        self._mujoco.mj_fwdActuation(self.model, data)
        y = self._state(data)
        tau, in_world = self._forces(data)
        if left := np.flatnonzero(np.delete(tau, self._pushed)).size:
            raise ValueError(
                f"data: {left} forces on balls or on joints that share an anchor with one, where none can act here"
            )
        y = self._take(y, np.where(self._in_world, in_world[self._pushed], tau[self._pushed]), data.time)
        nq, nv = self.mechanism.tree.nq, self.mechanism.tree.nv
        v = self._problem.velocity(data.time + self.step, y)[:nv]
        data.qpos[:], data.qvel[:] = self.states.theirs(y[:nq], v)
        data.time += self.step
        self._last = y, data.qpos.copy(), data.qvel.copy()

    def _check(self, data: Any) -> None:
        """Whether the data are of what is stepped."""
        if data.model is not self._of:
            if not _are_equal(data.model, self.model):
                raise ValueError("data: of another model; make a stepper of that, or data of this one")
            self._of = data.model
        changed = next((name for name, view, read in self._read if view.tobytes() != read), "")
        if not changed and (now := _numbers(self.model)) != self._numbers:
            changed = next(name for name, number in now.items() if number != self._numbers[name])
        if changed:
            raise ValueError(
                f"model: {changed} has changed since the stepper was made, which has read it then; make another stepper"
            )
        if not np.array_equal(data.eq_active, self._active):
            k = int(np.flatnonzero(data.eq_active != self._active)[0])
            name = self.model.equality(k).name or f"equality_{k}"
            raise ValueError(f"data: eq_active of {name!r} has changed; set model.eq_active0 and make another stepper")

    def _state(self, data: Any) -> Array:
        """(q, p) of the data: those of the last step unless somebody has changed qpos or qvel."""
        if self._last is not None:
            y, qpos, qvel = self._last
            if np.array_equal(qpos, data.qpos) and np.array_equal(qvel, data.qvel):
                return y
        q, v = self.states.ours(data.qpos, data.qvel)
        self._check_loops(q)
        return np.concatenate([q, self.mechanism.momentum(q, v)])

    def _check_loops(self, q: Array) -> None:
        """Whether loops are closed where somebody has written qpos."""
        made, kept = self.mechanism, self.mechanism.mobility.kept
        where, gap = widest(made, 0.0, q, np.isin(np.arange(len(made.equations)), kept)) if kept else ("", 0.0)
        if gap > OPEN * made.size:
            raise ValueError(
                f"data: qpos leaves loops open: {where} by {gap:.3g}, at most {OPEN * made.size:.3g}; close it: "
                "q = step.mechanism.assemble(step.states.ours(data.qpos)[0]).q, data.qpos[:] = step.states.theirs(q)[0]"
            )

    def _forces(self, data: Any) -> tuple[Array, Array]:
        """Generalised forces of actuators and from outside: those along joints, of free ones in the axes of the body,
        and on free bodies those in the axes of the world.
        """
        # the mechanism carries what its actuators carry here
        driving, pushing = data.qfrc_actuator - self._carried * data.qfrc_gravcomp, np.zeros(self.model.nv)
        applied = data.qfrc_applied + self._of_callback(data)
        for b in np.flatnonzero(np.any(data.xfrc_applied, axis=1)):
            one = data.xfrc_applied[b]
            self._mujoco.mj_applyFT(self.model, data, one[:3], one[3:], data.xipos[b], int(b), pushing)
        if not (self._free and (applied.any() or pushing.any())):
            tau = self.states.ours(data.qpos, p=driving + applied + pushing)[1]
            return tau, np.zeros_like(tau)
        q, (tau, held, pushed) = self.states.ours(data.qpos, p=np.array([driving, applied, pushing]))
        in_world = np.zeros_like(tau)
        for i, k in self._free:
            force, moment = slice(k, k + 3), slice(k + 3, k + 6)
            turned = so3.act(q[i : i + 4], np.array([held[force] + pushed[force], pushed[moment]]))
            in_world[force], in_world[moment] = turned
            held[force] = pushed[force] = pushed[moment] = 0.0
        return tau + held + pushed, in_world

    def _of_callback(self, data: Any) -> Any:
        """What the callback of the user's for passive forces adds to them; mj_step1 has called it."""
        if self._mujoco.get_mjcb_passive() is None:
            return 0.0
        known = data.qfrc_spring + data.qfrc_damper + data.qfrc_fluid + (1.0 - self._carried) * data.qfrc_gravcomp
        return data.qfrc_passive - known


def _read_once(model: Any, contacts: bool) -> dict[str, Array]:
    """The arrays of a model that a mechanism is made of: all that its reader looks at, but what may change."""
    apart = (*IN_EVERY_STEP, *SHOWN, *(() if contacts else OF_CONTACTS))
    once = ONCE if any(np.any(getattr(model, name, 0.0)) for name in ONCE[:-1]) else ()
    named = {name: getattr(model, name, None) for name in FIELDS if name in once or not name.startswith(apart)}
    named |= {f"opt.{name}": getattr(model.opt, name, None) for name in OPTIONS}
    return {name: view for name, view in named.items() if isinstance(view, np.ndarray)}


def _numbers(model: Any) -> dict[str, float]:
    """The numbers of its options, likewise: without the flags of actuators."""
    import mujoco

    option, flags = model.opt, mujoco.mjtDisableBit
    in_every_step = int(flags.mjDSBL_ACTUATION) | int(flags.mjDSBL_CLAMPCTRL)
    return {
        "opt.timestep": option.timestep, "opt.disableflags": option.disableflags & ~in_every_step,
        "opt.enableflags": option.enableflags, "opt.density": option.density, "opt.viscosity": option.viscosity,
    }  # fmt: skip


def _too_stiff(model: Any, h: float) -> list[str]:
    """Affine actuators on joints that grow where their force is held over steps of size h: with a mass m that they feel
    at qpos0, spring k and damper c, where c h/m ≥ 2, or k h²/(2m) is more than c h/m by `GROWS`.
    """
    import mujoco

    data, full = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, full)
    found, inverse = [], np.linalg.inv(full) if model.nv else full
    for i in range(model.nu):
        joint = int(model.actuator_trnid[i, 0])
        affine = int(model.actuator_biastype[i]) == int(mujoco.mjtBias.mjBIAS_AFFINE)
        if not affine or int(model.actuator_trntype[i]) != int(mujoco.mjtTrn.mjTRN_JOINT):
            continue
        if int(model.jnt_type[joint]) < int(mujoco.mjtJoint.mjJNT_SLIDE):  # free, or a ball
            continue
        k = int(model.jnt_dofadr[joint])
        felt = float(model.actuator_gear[i, 0]) ** 2 * float(inverse[k, k])
        spring, damper = (-float(model.actuator_biasprm[i, n]) * felt for n in (1, 2))
        if h * damper >= 2.0 or 0.5 * h * h * spring - h * damper > GROWS:
            found.append(repr(model.actuator(i).name or f"actuator_{i}"))
    return found


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two models have the same numbers."""
    names = [name for name in dir(one) if isinstance(getattr(one, name), np.ndarray)]
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names)


def _inputs(made: Mechanism) -> tuple[list[list[Element]], dict[str, tuple[int, bool]]]:
    """Elements without a force of their own on the joints that take one, and of each input the velocity that it pushes,
    and whether it does in the axes of the world.
    """
    found: list[list[Element]] = []
    places: dict[str, tuple[int, bool]] = {}
    for body, start in zip(made.tree.bodies, made.tree.v_offsets.tolist(), strict=False):
        along: list[Element] = []
        if isinstance(body.joint, Free):
            along = wrench(Frame(body.name))
            in_world = wrench(Frame(body.name), axes="world", name=f"{body.name}@world")
            found.append(in_world)
            places |= {e.input_name: (start + k, True) for k, e in enumerate(in_world)}
        elif body.joint.n_v == 1:
            along = motor(body.joint_name)
        elif isinstance(body.joint, Compound) and all(isinstance(part, Turn | Slide) for part in body.joint.parts):
            along = [e for k in range(body.joint.n_v) for e in motor((body.joint_name, k))]
        found.append(along)
        places |= {e.input_name: (start + k, False) for k, e in enumerate(along)}
    return [one for one in found if one], places


def mujoco_stepper(
    model: Any, method: str = "MIDPOINT", step: float | None = None, *, contacts: bool = False
) -> MujocoStepper:
    """A step of a MuJoCo model by a method of this project, for the place of ``mj_step`` in a loop.

    Parameters
    ----------
    model : mujoco.MjModel
        Without activations and delays.
    method : str
        Of one step: "MIDPOINT" is symplectic from any start; "TREE_VARIATIONAL" and "RKMK4" cost less.
    step : float, optional
        h, s; default the time step of the model.
    contacts : bool
        Whether the geoms of the model touch, as with `mechanics.load_mechanism`; stiff ones want small steps.

    Returns
    -------
    MujocoStepper
        ``step(data)`` in the place of ``mujoco.mj_step(model, data)``.

    Raises
    ------
    TypeError
        No model.
    ModelError
        Activations, delays, and what `mechanics.from_mujoco` says.
    ValueError
        A step that is not positive; a method that takes no single steps.

    Warns
    -----
    ModelWarning
        What MuJoCo would do and the step does not: contacts above all, unless they are wanted.

    Examples
    --------
    >>> import liemech
    >>> import mujoco
    >>> text = "<mujoco><worldbody><body><joint name='hinge' axis='0 1 0'/>"
    >>> text += "<geom size='0.1' pos='0 0 -1' contype='0' conaffinity='0'/></body></worldbody>"
    >>> model = mujoco.MjModel.from_xml_string(text + "<actuator><motor joint='hinge'/></actuator></mujoco>")
    >>> data, step = mujoco.MjData(model), liemech.mujoco_stepper(model)
    >>> for _ in range(10):
    ...     data.ctrl[0] = -0.1 * data.qvel[0]
    ...     step(data)
    >>> round(data.time, 9)
    0.02
    """
    of_kind(method, str, "method", "the name of a method")
    of_kind(contacts, (bool, np.bool_), "contacts", "True or False")
    checked(model)
    h = float(model.opt.timestep) if step is None else positive(step, "step")
    return MujocoStepper(model, method, h, contacts)
