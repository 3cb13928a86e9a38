"""A tree of rigid bodies: what it is made of, checked on construction, never changed afterwards."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem, pose
from integrators.scenes import draw, show
from liegroup.arrays import of_kind, reals, sequence, shown
from liegroup.display import card, table
from liegroup.group import Group
from liegroup.matrices import polar
from mechanics.errors import ModelError, ModelWarning
from mechanics.joints import Joint
from mechanics.joints.check import check_joint
from mechanics.joints.fixed import Fixed
from mechanics.joints.free import Free
from mechanics.model import description
from mechanics.model.frames import Frame
from mechanics.model.inertia import LARGEST, Inertia
from mechanics.model.layout import header_of
from mechanics.model.packing import Packed, pack
from mechanics.model.picture import svg
from mechanics.model.singular import singular_joint
from mechanics.model.visuals import Visual
from mechanics.model.workspace import Workspace

Array = NDArray[np.float64]
_ROTATION_TOLERANCE = 1e-6
_LARGE = 2000
"""Bodies; the mobility of larger trees is not checked when they are made."""
_LONG = 9
"""Velocities on the way of one to the base, in the mean."""


@dataclass(frozen=True, eq=False)
class JointData:
    """What a model file says about a joint besides its geometry; each a number, or one per degree of freedom.

    `damping` (ṗ −= damping·v) and `armature` (T += ½ Σ armature·v²) act in the equations of motion; the rest is carried
    as data for controllers, plots and writers.

    Parameters
    ----------
    damping : float or array (n_v,)
        Viscous coefficient, N·m·s/rad or N·s/m, not negative.
    friction : float or array (n_v,)
        Dry friction, N·m or N.
    lower, upper : float or array (n_q,), optional
        Limits of the coordinates, lower ≤ upper.
    effort, velocity : float or array (n_v,), optional
        Limits of the joint force and of the velocity.
    armature : float or array (n_v,)
        Inertia of what turns with the velocity v of the joint but is no body of the tree, kg·m² or kg, not negative: it
        is added to the diagonal of the mass matrix.  A rotor with the moment of inertia J that turns n times as fast as
        its joint gives J n²; the gyroscopic moments of the rotor and its spin from the motion of the body that carries
        it are left out, as they are of order n, not n² (Featherstone 2008, sec. 9.6).

    Examples
    --------
    >>> from mechanics import JointData
    >>> JointData(damping=0.1, lower=-1.5, upper=1.5).damping
    0.1
    >>> rotor, ratio = 2e-5, 100.0
    >>> round(JointData(armature=rotor * ratio**2).armature, 12)
    0.2
    """

    damping: Any = 0.0
    friction: Any = 0.0
    lower: Any = None
    upper: Any = None
    effort: Any = None
    velocity: Any = None
    armature: Any = 0.0


@dataclass(frozen=True, eq=False)
class Body:
    """One body and the joint that carries it.

    Parameters
    ----------
    name : str
        Unique among the bodies.
    joint : Joint
        How it moves on its parent.
    parent : str or None
        Name of the parent body; None is the fixed base.
    position : array (3,)
        Origin of the joint frame in parent axes, m.
    rotation : array (3, 3)
        Axes of the joint frame in parent axes, x_parent = rotation·x_joint + position.  The body frame coincides with
        the joint frame in the neutral configuration.
    inertia : Inertia
        In body axes about the body origin; default a massless intermediate link.
    joint_name : str, optional
        Unique among the joints; default ``"<name>_joint"``.
    data : JointData
        Damping, limits and the like.

    Raises
    ------
    ModelError
        No joint, or one that is not what its elements are to the kernels (a `pose` of its own is not read); no inertia,
        a position or rotation that is none, data that do not fit the joint; TypeError for names that are no texts.

    Examples
    --------
    >>> from mechanics import Body, Inertia, joints
    >>> Body("arm", joints.Revolute((0, 1, 0)), inertia=Inertia.point(2.0, (0, 0, -0.5))).joint_name
    'arm_joint'
    """

    name: str
    joint: Joint
    parent: str | None = None
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    inertia: Inertia = field(default_factory=Inertia.zero)
    joint_name: str = ""
    data: JointData = JointData()

    def __post_init__(self) -> None:
        of_kind(self.name, str, "name", "a text")
        of_kind(self.parent, (str, type(None)), "parent", "the name of a body, or None for the base")
        of_kind(self.joint_name, str, "joint_name", "a text")
        of_kind(self.data, JointData, "data", "JointData")
        where = f"body {self.name!r}"
        check_joint(self.joint, where)
        if not isinstance(self.inertia, Inertia):
            raise ModelError(
                where, f"inertia is {self.inertia!r}", "build it with Inertia.about_com or Inertia.about_origin"
            )
        object.__setattr__(self, "position", _array(self.position, (3,), where, "position"))
        R = _array(self.rotation, (3, 3), where, "rotation")
        if np.abs(R @ R.T - np.eye(3)).max() > _ROTATION_TOLERANCE or np.linalg.det(R) < 0:
            raise ModelError(
                where, f"rotation {R.tolist()} is not a rotation matrix", "give orthonormal columns, right-handed"
            )
        object.__setattr__(self, "rotation", _array(polar(R, 3), (3, 3), where, "rotation"))
        object.__setattr__(self, "joint_name", self.joint_name or f"{self.name}_joint")
        object.__setattr__(self, "data", _checked(self.data, self.joint, f"joint {self.joint_name!r}"))


class Tree:
    """Rigid bodies with the structure of a tree.

    Parameters
    ----------
    bodies : iterable of Body
        Every parent before its children; any number of bodies on the fixed base.
    name : str
        Name of the model.
    gravity : array (3,)
        Acceleration of gravity in the axes of the base, m/s².
    strict : bool
        Whether an unphysical inertia (principal moments against the triangle inequality, …) is an error; else a
        `ModelWarning`.
    notes : sequence of str
        What the model's file says and the tree does not do.
    frames : mapping of str to Frame
        Named frames on the bodies: all links of a model file, also those that were joined to one body.
    visuals : iterable of Visual
        How bodies look (`mechanics.model.visuals`); those without any are drawn from joints and inertia.

    Attributes
    ----------
    bodies : tuple of Body
    parents : int64 array (N,)
        Number of the parent body; −1 for the base.
    nq, nv : int
        Components of the configuration and of the velocity.

    Raises
    ------
    ModelError
        Repeated names, unknown parents, cycles, parents after children, impossible inertias: with the body, the value
        and the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanics import Body, Inertia, Tree, joints
    >>> bar = Inertia.about_com(1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
    >>> hinge = joints.Revolute((0.0, 1.0, 0.0))
    >>> upper = Body("upper", hinge, inertia=bar, joint_name="shoulder")
    >>> lower = Body("lower", hinge, "upper", (0.0, 0.0, -1.0), inertia=bar, joint_name="elbow")
    >>> tree = Tree([upper, lower], "arm")
    >>> tree
    <Tree 'arm': 2 bodies, nq = 2, nv = 2>
    >>> tree.joint_names, tree.q_slice("elbow"), tree.body_index("lower"), tree.mass
    (('shoulder', 'elbow'), slice(1, 2, None), 1, 2.0)
    >>> tree.with_locked(["elbow"]).nv, tree.with_gravity((0.0, 0.0, 0.0)).gravity.tolist()
    (1, [0.0, 0.0, 0.0])
    >>> tree.problem(tree.neutral(), v=[1.0, 0.0])
    <Problem 'arm': canonical on R^2 × R^2, watching energy>
    """

    known_in: ClassVar = {
        "pose": "mechanics.problems.tree",
        "show": "mechanics.scenes.shown",
        "draw": "mechanics.scenes.shown",
        "written_for": "mechanics.models",
    }
    """Modules above this one that say what is done with a tree (`liegroup.modules.registered`)."""

    def __init__(
        self,
        bodies: Iterable[Body],
        name: str = "tree",
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        strict: bool = True,
        notes: Iterable[str] = (),
        frames: Mapping[str, Frame] | None = None,
        visuals: Iterable[Visual] = (),
    ) -> None:
        of_kind(name, str, "name", "a text")
        self.name = name
        self.notes = sequence(notes, "notes", "texts")
        of_kind(frames, (Mapping, type(None)), "frames", "a mapping of names to frames")
        self.bodies: tuple[Body, ...] = sequence(bodies, "bodies", "a sequence of bodies (mechanics.Body)")
        for body in self.bodies:
            of_kind(body, Body, "bodies", "bodies (mechanics.Body)")
        self.gravity = _array(gravity, (3,), f"tree {name!r}", "gravity")
        _check_names(self.bodies)  # before parents are looked for, which are names
        self.parents = _parents(self.bodies)
        _check_inertias(self.bodies, strict)
        self.q_offsets = np.concatenate([[0], np.cumsum([b.joint.n_q for b in self.bodies])]).astype(np.int64)
        self.v_offsets = np.concatenate([[0], np.cumsum([b.joint.n_v for b in self.bodies])]).astype(np.int64)
        self.nq, self.nv = int(self.q_offsets[-1]), int(self.v_offsets[-1])
        self._body = {b.name: i for i, b in enumerate(self.bodies)}
        self._joint = {b.joint_name: i for i, b in enumerate(self.bodies)}
        self.frames = _frames(frames or {}, self._body)
        self.visuals: tuple[Visual, ...] = sequence(
            visuals, "visuals", "a sequence of visuals (mechanics.model.visuals.Visual)"
        )
        _check_visuals(self.visuals, self._body)
        self._check_mobility()

    def __getstate__(self) -> dict[str, Any]:
        own = {name: value for name, value in self.__dict__.items() if name != "calls"}
        return own | {"frames": dict(self.frames)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, frames=MappingProxyType(state["frames"]))

    def _check_mobility(self) -> None:
        """No joint moves nothing: asked at one random configuration, of trees that have bodies without full inertia."""
        if self.may_be_singular and len(self) < _LARGE:
            q = self.random_configuration(np.random.default_rng(0))
            if joint := singular_joint(self, q):
                raise ModelError(
                    f"joint {joint!r}", "moves no inertia", "give a body behind it mass (and extent across the axis)"
                )

    @cached_property
    def may_be_singular(self) -> bool:
        """Whether the mass matrix can be singular somewhere: bodies without full inertia, or joints that can lock, and
        not armature in all motions of the joint.
        """
        return any(
            (len(b.joint.elements) > 2 or not b.inertia.is_full) and not np.all(np.asarray(b.data.armature) > 0.0)
            for b in self.bodies
        )

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether solutions with the mass matrix are to be checked: it can be singular, or a joint of several motions
        can be close to locking.
        """
        return self.may_be_singular or any(len(b.joint.elements) > 1 for b in self.bodies)

    # --- for the integrators ------------------------------------------------------------------------------------------

    def problem(self, q: ArrayLike, v: ArrayLike | None = None, p: ArrayLike | None = None, t: float = 0.0) -> Problem:
        """The motion of the tree in Hamiltonian variables (`mechanics.hamiltonian_problem`), from q and v or p.

        Parameters
        ----------
        q : array (nq,) or (m, nq)
            Initial configuration, rad and m, or many; `neutral` and `random_configuration` give some.
        v, p : array (nv,) or (m, nv), optional
            Initial velocities, rad/s and m/s, or momenta, kg·m²/s and kg·m/s; default at rest.
        t : float
            Initial time, s, for the drift of prescribed motions.

        Returns
        -------
        Problem
            State (q, p); see `mechanics.hamiltonian_problem`.
        """
        return pose(self, q, v, p, t)

    # --- to look at ---------------------------------------------------------------------------------------------------

    def show(self, q: ArrayLike | None = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """One configuration to look at, or several to step through: with the meshes of a model file, else drawn from
        joints and inertias.

        Parameters
        ----------
        q : array (nq,) or (k, nq), optional
            Default neutral.  Angles in rad, lengths in m.
        path : path, optional
            Ends in ``.html``, ``.gif``, ``.mp4`` or ``.glb``.  Default: a page for a notebook.
        **options
            As for `integrators.scenes.animate`.

        Returns
        -------
        Path or Page

        Raises
        ------
        ValueError, OSError
            A wrong configuration, an unknown ending, a file that cannot be written.

        Examples
        --------
        >>> import mechanics
        >>> arm = mechanics.load_model("ur5")
        >>> arm.show(arm.neutral(), "ur5.html")  # doctest: +SKIP
        PosixPath('ur5.html')
        """
        return show(self, self.neutral() if q is None else q, path, **options)

    def draw(self, q: ArrayLike | None = None, ax: Any = None, **options: Any) -> Any:
        """A picture of one configuration in matplotlib axes: with the meshes of a model file, else drawn from
        joints and inertias.

        Parameters
        ----------
        q : array (nq,), optional
            Default neutral.  Angles in rad, lengths in m.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default those of a new figure.
        **options
            ``frames``: names of frames, or frames, whose axes are drawn (x red, y green, z blue); ``paths``: arrays
            (k, 3) of points in the world, m, drawn as lines.

        Returns
        -------
        matplotlib.axes.Axes
            ``ax.figure.savefig(path)`` writes it.

        Raises
        ------
        ValueError, KeyError
            A wrong configuration, paths that are none, frames that the tree does not have.

        Examples
        --------
        >>> import mechanics
        >>> arm = mechanics.load_model("ur5")
        >>> arm.draw(frames=["tool0"]).figure.savefig("ur5.png")  # doctest: +SKIP
        """
        return draw(self, self.neutral() if q is None else q, ax, **options)

    # --- names --------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Number of bodies."""
        return len(self.bodies)

    @property
    def body_names(self) -> tuple[str, ...]:
        """Names of the bodies, every parent before its children."""
        return tuple(b.name for b in self.bodies)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The joints that have coordinates, in the order of q."""
        return tuple(b.joint_name for b in self.bodies if b.joint.n_q)

    def body_index(self, body: str | int) -> int:
        """Number of a body.

        Parameters
        ----------
        body : str or int
            Its name, or its number.

        Returns
        -------
        int
            From 0.

        Raises
        ------
        KeyError, IndexError, TypeError
            No such body.
        """
        return _look_up(self._body, body, len(self), "body")

    def joint_index(self, joint: str | int) -> int:
        """Number of a joint: that of the body it carries.

        Parameters
        ----------
        joint : str or int
            Its name, or its number.

        Returns
        -------
        int
            From 0.

        Raises
        ------
        KeyError, IndexError, TypeError
            No such joint.
        """
        return _look_up(self._joint, joint, len(self), "joint")

    def joint(self, joint: str | int) -> Joint:
        """The joint of a name or number.

        Parameters
        ----------
        joint : str or int
            Its name, or its number.

        Returns
        -------
        Joint
            Of `mechanics.joints`.
        """
        return self.bodies[self.joint_index(joint)].joint

    def q_slice(self, joint: str | int) -> slice:
        """Where the coordinates of a joint are in q.

        Parameters
        ----------
        joint : str or int
            Its name, or its number.

        Returns
        -------
        slice
            Of q.
        """
        i = self.joint_index(joint)
        return slice(int(self.q_offsets[i]), int(self.q_offsets[i + 1]))

    def v_slice(self, joint: str | int) -> slice:
        """Where the velocity of a joint is in v, and its momentum in p.

        Parameters
        ----------
        joint : str or int
            Its name, or its number.

        Returns
        -------
        slice
            Of v and p.
        """
        i = self.joint_index(joint)
        return slice(int(self.v_offsets[i]), int(self.v_offsets[i + 1]))

    # --- structure ----------------------------------------------------------------------------------------------------

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the children of every body."""
        lists: list[list[int]] = [[] for _ in self.bodies]
        for i, k in enumerate(self.parents):
            if k >= 0:
                lists[k].append(i)
        return tuple(tuple(c) for c in lists)

    @property
    def roots(self) -> tuple[int, ...]:
        """Numbers of the bodies on the fixed base."""
        return tuple(int(i) for i in np.flatnonzero(self.parents < 0))

    @property
    def has_long_ways(self) -> bool:
        """Whether there are nine velocities on the way of a velocity to the base, in the mean."""
        return int(header_of(self.structure).depth) >= _LONG

    @property
    def is_rheonomic(self) -> bool:
        """Whether some joint has a prescribed motion, so that time enters."""
        return any(b.joint.is_rheonomic for b in self.bodies)

    def unknown_motion(self, t: float) -> str:
        """Which prescribed motion is not known at a time, and from when to when it is; empty if all are.

        Parameters
        ----------
        t : float
            s; the end of a motion counts as beyond it, because a run goes no further.

        Returns
        -------
        str
            Half a sentence, or nothing.
        """
        for b in self.bodies:
            for motion in (getattr(e, "motion", None) for e in b.joint.elements):
                if motion is not None and (said := motion.unknown(t)):
                    return f"the motion of joint {b.joint_name!r} {said}"
        return ""

    @property
    def is_free(self) -> bool:
        """Whether every body on the base is free: nothing holds the tree."""
        return bool(self.bodies) and all(isinstance(self.bodies[i].joint, Free) for i in self.roots)

    def check_moves(self) -> None:
        """Whether there is a motion to integrate.

        Raises
        ------
        ModelError
            Nothing in the tree moves by itself.
        """
        if not self.nv:
            raise ModelError(f"tree {self.name!r}", "has no coordinates", "give a joint that moves by itself")

    @property
    def mass(self) -> float:
        """Total mass, kg."""
        return float(sum(b.inertia.mass for b in self.bodies))

    @cached_property
    def damping(self) -> Array:
        """Viscous coefficients (nv,)."""
        return np.concatenate([np.zeros(0)] + [np.asarray(b.data.damping) for b in self.bodies])

    @cached_property
    def armature(self) -> Array:
        """Inertias of the joints themselves (nv,), kg·m² and kg: on the diagonal of the mass matrix."""
        return np.concatenate([np.zeros(0)] + [np.asarray(b.data.armature) for b in self.bodies])

    @cached_property
    def group(self) -> Group:
        """The configuration group: the product of those of the joints."""
        return Group(tuple((factor, 1) for b in self.bodies for factor in b.joint.factors))

    @cached_property
    def quaternions(self) -> tuple[tuple[str, int], ...]:
        """Joints with a unit quaternion, and where in q it starts."""
        return tuple(
            (b.joint_name, int(start) + k)
            for b, start in zip(self.bodies, self.q_offsets, strict=False)
            for k, label in enumerate(b.joint.q_labels)
            if label.startswith("qw")
        )

    # --- for the kernels ----------------------------------------------------------------------------------------------

    @cached_property
    def packed(self) -> Packed:
        """The tree as flat arrays."""
        return pack(self)

    @property
    def parameters(self) -> Array:
        """Numbers of the tree, the `parameters` of its fields."""
        return self.packed.parameters

    @property
    def structure(self) -> NDArray[np.int64]:
        """Topology of the tree, the `structure` of its fields."""
        return self.packed.structure

    @property
    def work_shape(self) -> tuple[int, int]:
        """Size of the workspace of its fields."""
        return self.packed.work_shape

    @cached_property
    def calls(self) -> dict[Any, Any]:
        """What functions of states have prepared for this tree (`mechanics.evaluation`)."""
        return {}

    def workspace(self) -> Workspace:
        """Memory for many calls one after another: stands for the tree in the functions of `mechanics.dynamics`.

        Returns
        -------
        Workspace
            For one thread at a time.
        """
        return Workspace(self)

    # --- configurations -----------------------------------------------------------------------------------------------

    def neutral(self) -> Array:
        """q with every joint in its neutral configuration."""
        return np.concatenate([np.zeros(0)] + [b.joint.neutral() for b in self.bodies])

    def random_configuration(self, generator: np.random.Generator) -> Array:
        """Angles in [−π, π], distances and positions in [−1, 1], orientations uniformly.

        Parameters
        ----------
        generator : numpy.random.Generator
            Where the numbers come from.

        Returns
        -------
        array (nq,)
            rad and m.
        """
        of_kind(generator, np.random.Generator, "generator", "a numpy.random.Generator")
        return np.concatenate([np.zeros(0)] + [b.joint.random(generator) for b in self.bodies])

    def with_gravity(self, gravity: ArrayLike) -> Tree:
        """The same tree under another gravity.

        Parameters
        ----------
        gravity : array (3,)
            In the axes of the base, m/s².

        Returns
        -------
        Tree
            Everything else is as it was.
        """
        return self._with(self.bodies, gravity)

    def with_locked(self, joints: Iterable[str], q: ArrayLike | None = None) -> Tree:
        """The same tree with some joints held where they are in the configuration q (default: neutral).

        Parameters
        ----------
        joints : iterable of str
            Names of joints.
        q : array (nq,), optional
            Configuration of this tree, rad and m; only the components of the locked joints matter.

        Returns
        -------
        Tree
            With as many bodies and fewer coordinates.
        """
        held = {self.joint_index(name) for name in sequence(joints, "joints", "names of joints")}
        x = self.neutral() if q is None else _array(q, (self.nq,), f"tree {self.name!r}", "q")
        bodies = (self._locked(i, x) if i in held else body for i, body in enumerate(self.bodies))
        return self._with(bodies, self.gravity)

    def _with(self, bodies: Iterable[Body], gravity: ArrayLike) -> Tree:
        """Other bodies of the same names, or another gravity."""
        return Tree(
            bodies, self.name, gravity, strict=False, notes=self.notes, frames=self.frames, visuals=self.visuals
        )

    def _locked(self, i: int, q: Array) -> Body:
        body = self.bodies[i]
        pose = body.joint.state(q[self.q_offsets[i] : self.q_offsets[i + 1]], np.zeros(body.joint.n_v))
        R = np.asarray(body.rotation)
        return replace(
            body, joint=Fixed(), position=body.position + R @ pose.rho, rotation=R @ pose.G.T, data=JointData()
        )

    # --- in words -----------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The tree in plain lists, strings and numbers, for ``json.dump``."""
        return description.to_dictionary(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Tree:
        """The tree of `to_dict`, to the last bit.

        Parameters
        ----------
        data : mapping
            What `to_dict` gave.

        Returns
        -------
        Tree
            Equal to the last bit.
        """
        return description.from_dictionary(data)

    def __str__(self) -> str:
        """The bodies below one another as they hang."""
        return description.drawing(self)

    def __repr__(self) -> str:
        return f"<Tree {self.name!r}: {len(self)} bodies, nq = {self.nq}, nv = {self.nv}>"

    def _repr_html_(self) -> str:
        return card(self.name, self._facts(), svg(self), self._noted())

    def _noted(self) -> str:
        """The notes, folded."""
        return table((), [(text,) for text in self.notes], f"{len(self.notes)} notes") if self.notes else ""

    def _facts(self) -> list[tuple[str, object]]:
        """What the card of a notebook says."""
        g = ", ".join(f"{x:g}" for x in self.gravity)
        sizes = f"{len(self)}, nq = {self.nq}, nv = {self.nv}, {self.mass:.4g} kg"
        return [("bodies", sizes), ("gravity", f"({g}) m/s²")]


# --- checks -----------------------------------------------------------------------------------------------------------


def _array(value: ArrayLike, shape: tuple[int, ...], where: str, name: str) -> Array:
    try:
        array = reals(value, name)
    except (TypeError, ValueError) as error:
        raise ModelError(where, f"{name} is {shown(value)}", f"give real numbers of shape {shape}") from error
    if array.shape != shape:
        raise ModelError(where, f"{name} has shape {array.shape}", f"give numbers of shape {shape}")
    if not (np.abs(array) <= LARGEST).all():
        raise ModelError(where, f"{name} is {array.tolist()}", f"give finite numbers, none beyond {LARGEST:g}")
    array.setflags(write=False)
    return array


def _checked(data: JointData, joint: Joint, where: str) -> JointData:
    """The same data with one number per degree of freedom (coordinate)."""

    def per(value: ArrayLike | None, n: int, name: str) -> Array | None:
        if value is None:
            return None
        try:
            array = reals(value, name)
        except (TypeError, ValueError) as error:
            raise ModelError(where, str(error), f"give one number, or {n}") from error
        if array.shape not in ((), (n,)):
            raise ModelError(where, f"{name} has shape {array.shape}", f"give one number, or {n}")
        if np.isnan(array).any():
            raise ModelError(where, f"{name} is not a number", "give a number")
        return np.broadcast_to(array, (n,))

    def acting(value: ArrayLike | None, name: str, what: str) -> Array:
        array = per(value, joint.n_v, name)
        if array is not None and not ((array >= 0) & (array <= LARGEST)).all():
            raise ModelError(where, f"{name} is {array.tolist()}", f"give {what} from 0 to {LARGEST:g}")
        return array if array is not None else np.zeros(joint.n_v)

    lower, upper = per(data.lower, joint.n_q, "lower"), per(data.upper, joint.n_q, "upper")
    if lower is not None and upper is not None and (lower > upper).any():
        remedy = "exchange them, or leave both out where there is no limit"
        raise ModelError(where, f"lower {shown(data.lower)} is above upper {shown(data.upper)}", remedy)
    return JointData(
        damping=acting(data.damping, "damping", "coefficients"),
        friction=per(data.friction, joint.n_v, "friction"),
        lower=lower,
        upper=upper,
        effort=per(data.effort, joint.n_v, "effort"),
        velocity=per(data.velocity, joint.n_v, "velocity"),
        armature=acting(data.armature, "armature", "inertias, kg·m² or kg,"),
    )


def _check_names(bodies: tuple[Body, ...]) -> None:
    for what, names in (("body", [b.name for b in bodies]), ("joint", [b.joint_name for b in bodies])):
        seen: set[str] = set()
        for name in names:
            if not isinstance(name, str) or not name:
                raise ModelError(f"{what} {name!r}", "is not a name", "give a non-empty string")
            if name in seen:
                raise ModelError(
                    f"{what} {name!r}", f"there is another {what} of this name", "give every one its own name"
                )
            seen.add(name)


def _parents(bodies: tuple[Body, ...]) -> NDArray[np.int64]:
    if not bodies:
        raise ModelError("tree", "has no bodies", "give at least one Body")
    for b in bodies:
        of_kind(b, Body, "bodies", "a Body")
    index = {b.name: i for i, b in enumerate(bodies)}
    parents = np.full(len(bodies), -1, dtype=np.int64)
    for i, b in enumerate(bodies):
        if b.parent is None:
            continue
        if b.parent not in index:
            raise ModelError(
                f"body {b.name!r}",
                f"its parent {b.parent!r} is unknown",
                "name a body of the tree, or None for the fixed base",
            )
        parents[i] = index[b.parent]
    for i, b in enumerate(bodies):
        if parents[i] >= i:
            if cycle := _cycle(parents, i):
                names = " → ".join(bodies[k].name for k in cycle)
                raise ModelError(
                    f"body {b.name!r}",
                    f"its parents form a cycle {names}",
                    "let one of them hang on the base (parent=None)",
                )
            raise ModelError(
                f"body {b.name!r}", f"comes before its parent {b.parent!r}", "list every parent before its children"
            )
    return parents


def _frames(frames: Mapping[str, Frame], bodies: Mapping[str, int]) -> Mapping[str, Frame]:
    for name, frame in frames.items():
        of_kind(frame, Frame, "frames", "a mapping of names to frames")
        if frame.body is not None and frame.body not in bodies:
            raise ModelError(
                f"frame {name!r}",
                f"its body {frame.body!r} is unknown",
                "name a body of the tree, or None for the base",
            )
    return MappingProxyType(dict(frames))


def _check_visuals(visuals: tuple[Visual, ...], bodies: Mapping[str, int]) -> None:
    for visual in visuals:
        of_kind(visual, Visual, "visuals", "visuals (mechanics.model.visuals.Visual)")
        if visual.body is not None and visual.body not in bodies:
            raise ModelError(
                "visuals", f"the body {visual.body!r} is unknown", "name a body of the tree, or None for the base"
            )


def _cycle(parents: NDArray[np.int64], start: int) -> list[int]:
    """The closed path of parents through `start`, or nothing."""
    path, k = [start], int(parents[start])
    while k >= 0 and k not in path:
        path.append(k)
        k = int(parents[k])
    return [*path, k] if k == start else []


def _check_inertias(bodies: tuple[Body, ...], strict: bool) -> None:
    for b in bodies:
        where = f"body {b.name!r}"
        if problem := b.inertia.impossible():
            raise ModelError(
                where,
                problem,
                "correct its mass or inertia tensor (is the tensor about the origin or the centre of mass?)",
            )
        if problem := b.inertia.unphysical():
            if strict:
                raise ModelError(where, problem, "correct the tensor, or pass strict=False to use it as it is")
            warnings.warn(ModelWarning(f"{where}: {problem}; used as it is"), stacklevel=3)


def _look_up(index: dict[str, int], key: str | int, n: int, what: str) -> int:
    if isinstance(key, str):
        if key not in index:
            known = ", ".join(_first(index, 12))
            raise KeyError(f"no {what} {key!r}; there are {known}")
        return index[key]
    if isinstance(key, bool) or not hasattr(key, "__index__") or np.ndim(key):
        raise TypeError(f"{what}: {shown(key)}, expected a name or a number from 0 to {n - 1}")
    if not 0 <= key < n:
        raise IndexError(f"{what} {shown(key)}: expected a number from 0 to {n - 1}")
    return int(key)


def _first(names: Iterable[str], count: int) -> Iterator[str]:
    for k, name in enumerate(names):
        if k == count:
            yield "…"
            return
        yield name
