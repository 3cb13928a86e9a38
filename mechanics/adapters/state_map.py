"""States between a tree and a model of another project: the same joints in another order, written otherwise.

Either side says where its elementary motions stand (`Place`); they meet by the names of their joints.

==========  ====================================  ================================================================
kind        here                                  there
==========  ====================================  ================================================================
number      angle or distance                     the same from another zero; a follower has that of another joint
circle      angle                                 (cos, sin); back within (−π, π]
quaternion  (w, x, y, z); ω in body axes          in the order of the other side; ω in body axes
pose        position, quaternion; (v, ω) in body  the same; v in body or in world axes
            axes
plane       x, y, angle; (vx, vy, ω) in body      x, y, cos, sin; (vx, vy, ω) in body axes
            axes
==========  ====================================  ================================================================

Velocities are v_there = T v_here with an orthogonal T, so momenta and generalised forces go the same way; with
followers, v_here = S v_there, by p_there = Sᵀ p_here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import so3
from liegroup.arrays import check_broadcast, of_kind, reals
from mechanics.adapters.reading import some
from mechanics.dynamics import body_poses
from mechanics.errors import ModelError
from mechanics.joints import Ball, Float, Joint, Plane
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
NUMBER, CIRCLE, QUATERNION, POSE, PLANE = "number", "circle", "quaternion", "pose", "plane"
FREEDOMS = {NUMBER: 1, CIRCLE: 1, QUATERNION: 3, POSE: 6, PLANE: 3}
NO_KINDS: Mapping[str, str] = {}
NO_SIZES: Mapping[str, int] = {}
_KINDS = {Plane: PLANE, Float: POSE, Ball: QUATERNION}


@dataclass(frozen=True)
class Place:
    """Where one elementary motion stands in the arrays of one side.

    Attributes
    ----------
    kind : str
        See the module.
    q, v : int
        Its first components in configuration and velocity.
    ratio, offset : float
        Of a number there: x_here = ratio·x_there + offset, with a ratio of followers only.
    follows : bool
        Whether the number there belongs to another joint.
    moves : str
        What a number or circle is: "Turn", "Slide" or "Screw"; "" where that is not known.
    plane : array (3, 2), optional
        The directions x and y of a plane, in the axes of the world where that side is neutral.
    """

    kind: str
    q: int
    v: int
    ratio: float = 1.0
    offset: float = 0.0
    follows: bool = False
    moves: str = ""
    plane: Array | None = None


@dataclass(frozen=True)
class Side:
    """What a map has to know of the other side.

    Attributes
    ----------
    project : str
        Its name, for messages.
    neutral : array (nq,)
        What stands there in components that no joint of the tree writes.
    nv : int
        Components of its velocity.
    scalar_first : bool
        Whether its quaternions are (w, x, y, z), of any norm; else (x, y, z, w), of norm one.
    world : bool
        Whether the linear velocity of a free joint is in world axes; else in body axes.
    places : mapping
        Names of elementary motions (`element_names`) and where they are.
    """

    project: str
    neutral: Array
    nv: int
    scalar_first: bool
    world: bool
    places: Mapping[str, Place] = field(default_factory=dict)


def element_names(joint: str, elements: Sequence[Any]) -> list[str]:
    """Names of the elementary motions of a joint: its own, or numbered if it has several."""
    return [joint] if len(elements) == 1 else [f"{joint}.{k}" for k in range(len(elements))]


def element_places(
    joint: str, equal: Joint, q: int, v: int, kinds: Mapping[str, str] = NO_KINDS, sizes: Mapping[str, int] = NO_SIZES
) -> dict[str, Place]:
    """Where the elementary motions of a joint are that begins at q and v; `kinds` and `sizes` of the other side where
    it writes them otherwise.
    """
    found: dict[str, Place] = {}
    elements = [e for e in equal.elements if e.n_q]
    for name, e in zip(element_names(joint, elements), elements, strict=True):
        kind = _KINDS.get(type(e), NUMBER)
        moves = type(e).__name__ if kind == NUMBER else ""
        found[name] = Place(kinds.get(kind, kind), q, v, moves=moves)
        q, v = q + sizes.get(found[name].kind, e.n_q), v + e.n_v
    return found


def places_of(tree: Tree) -> dict[str, Place]:
    """Where the elementary motions of a tree are, in its order."""
    starts = zip(tree.bodies, tree.q_offsets.tolist(), tree.v_offsets.tolist(), strict=False)
    return {
        name: place
        for body, q, v in starts
        for name, place in element_places(body.joint_name, body.joint, q, v).items()
    }


class StateMap:
    """Configurations, velocities, momenta and forces between a tree and a model of another project, by joint names.

    Any leading axes are a batch.  Quaternions are reordered; angles that the other side writes as (cos, sin) come back
    within (−π, π]; velocities of free joints turn between body and world axes where the other side has them in the
    world.

    Parameters
    ----------
    tree : Tree
        Our side.
    other : Side
        The other; `mechanics.from_pinocchio`, `from_mujoco` and `state_map` give it.
    partial : bool
        Whether joints that only one side has are left out.

    Attributes
    ----------
    project : str
        ``"Pinocchio"`` or ``"MuJoCo"``.
    only_ours, only_theirs : tuple of str
        Joints that the other side does not have: neutral and at rest in what the maps give.

    Raises
    ------
    ModelError
        Joints of one name and different kinds, or planes (axes are not compared); without `partial` joints that only
        one side has: with their names.

    Examples
    --------
    >>> import numpy as np
    >>> import mechanics
    >>> import pinocchio
    >>> model = pinocchio.buildModelFromUrdf(str(mechanics.model_path("ur5")), pinocchio.JointModelFreeFlyer())
    >>> tree, states = mechanics.from_pinocchio(model)
    >>> q, v = states.ours(pinocchio.neutral(model), np.zeros(model.nv))
    >>> q[:7].tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    >>> bool((states.theirs(q, v)[0] == pinocchio.neutral(model)).all())
    True
    """

    def __init__(self, tree: Tree, other: Side, partial: bool = False) -> None:
        of_kind(tree, Tree, "tree", "a Tree")
        of_kind(other, Side, "other", "what mechanics.from_pinocchio, from_mujoco and state_map give")
        self.tree, self.project, self._other = tree, other.project, other
        mine, theirs = places_of(tree), other.places
        self.only_ours = tuple(name for name in mine if name not in theirs)
        self.only_theirs = tuple(name for name in theirs if name not in mine)
        if (self.only_ours or self.only_theirs) and not partial:
            raise self._unlike()
        pairs = [(name, mine[name], theirs[name]) for name in mine if name in theirs]
        for name, here, there in pairs:
            self._check(name, here, there)
        simple = [(here, there) for _, here, there in pairs if there.kind == NUMBER and not there.follows]
        self._q = np.array([(here.q, there.q) for here, there in simple], dtype=np.intp).reshape(-1, 2).T
        self._offsets = np.array([there.offset for _, there in simple])
        self._v = (
            np.array(
                [
                    (here.v + k, there.v + k)
                    for _, here, there in pairs
                    if not there.follows
                    for k in range(FREEDOMS[there.kind])
                ],
                dtype=np.intp,
            )
            .reshape(-1, 2)
            .T
        )
        self._followers = [(here, there) for _, here, there in pairs if there.follows]
        self._others = [(here, there) for _, here, there in pairs if there.kind != NUMBER]
        self._free = [(here, there) for here, there in self._others if other.world and there.kind == POSE]
        self._check_planes()

    def _check(self, joint: str, here: Place, there: Place) -> None:
        if here.kind != there.kind and (here.kind, there.kind) != (NUMBER, CIRCLE):
            one, other = here.kind, there.kind
        elif here.moves and there.moves and here.moves != there.moves:
            one, other = here.moves, there.moves
        else:
            return
        raise ModelError(
            f"joint {joint!r}",
            f"is a {one} here and a {other} in {self.project}",
            "give the model the tree was made of, or a tree with the same kind of joint",
        )

    def _check_planes(self) -> None:
        """Whether both sides move in the same planes: Pinocchio's are those of x and y."""
        theirs = {name: place.plane for name, place in self._other.places.items() if place.plane is not None}
        if not theirs.keys() & places_of(self.tree).keys():
            return
        _, rotations = body_poses(self.tree, self._our_configuration(self._other.neutral))
        for body, R in zip(self.tree.bodies, rotations, strict=True):
            elements = [e for e in body.joint.elements if e.n_q]
            for name, e in zip(element_names(body.joint_name, elements), elements, strict=True):
                if (
                    name in theirs
                    and isinstance(e, Plane)
                    and np.abs(R @ e.axes(0.0)[:, :2] - theirs[name]).max() > 1e-9
                ):
                    raise ModelError(
                        f"joint {name!r}",
                        f"moves in another plane, or along other axes in it, than in {self.project}",
                        "take the tree of mechanics.from_pinocchio, or turn the frame of the joint in one of them",
                    )

    def _unlike(self) -> ModelError:
        sides = (("the tree", self.only_ours), (f"the model of {self.project}", self.only_theirs))
        return ModelError(
            f"joints of {self.tree.name!r}",
            ", and ".join(f"only in {where}: {some(names, 8)}" for where, names in sides if names),
            "give the model the tree was made of, name joints alike, or pass partial=True to leave these out",
        )

    def __repr__(self) -> str:
        here = f"{self.tree.name!r} (nq = {self.tree.nq}, nv = {self.tree.nv})"
        return f"<StateMap of {here} and {self.project} (nq = {len(self._other.neutral)}, nv = {self._other.nv})>"

    # --- both ways ----------------------------------------------------------------------------------------------------

    def ours(self, q: ArrayLike, v: ArrayLike | None = None, *, p: ArrayLike | None = None) -> tuple[Array, Array]:
        """(q, v), or (q, p), of the tree from those of the other side.

        Parameters
        ----------
        q : array (…, nq)
            Configuration there, rad and m.
        v : array (…, nv), optional
            Velocity there, rad/s and m/s; default at rest.
        p : array (…, nv), optional
            Momenta or generalised forces there, instead of velocities, SI units.

        Returns
        -------
        q : array (…, tree.nq)
            Of the tree.
        v or p : array (…, tree.nv)
            Of the tree.

        Raises
        ------
        ValueError
            Both v and p; other sizes; quaternions of norm zero; momenta where joints of the tree follow others, since
            the sum there does not say the parts.  TypeError for what are no real numbers.
        """
        if p is not None and self._followers:
            raise ValueError("p: joints that follow others have no momenta of their own there; give v")
        q, x = self._states(q, v, p, len(self._other.neutral), self._other.nv)
        mine = self._our_configuration(q)
        return mine, self._our_vectors(mine, x)

    def theirs(self, q: ArrayLike, v: ArrayLike | None = None, *, p: ArrayLike | None = None) -> tuple[Array, Array]:
        """(q, v), or (q, p), of the other side from those of the tree; the inverse of `ours`.

        Parameters
        ----------
        q : array (…, tree.nq)
            Configuration of the tree, rad and m.
        v : array (…, tree.nv), optional
            Velocity, rad/s and m/s; default at rest.
        p : array (…, tree.nv), optional
            Momenta or generalised forces, instead of velocities, SI units.

        Returns
        -------
        q : array (…, nq)
            Of the other side.
        v or p : array (…, nv)
            Of the other side.

        Raises
        ------
        ValueError
            Both v and p; other sizes.  TypeError for what are no real numbers.
        """
        q, x = self._states(q, v, p, self.tree.nq, self.tree.nv)
        found = self._their_vectors(q, x)
        if p is not None:
            for here, there in self._followers:
                found[..., there.v] += there.ratio * x[..., here.v]
        return self._their_configuration(q), found

    def our_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """v̇ of the tree from configuration, velocity and acceleration of the other side.

        Parameters
        ----------
        q : array (…, nq)
            Configuration there, rad and m.
        v, a : array (…, nv)
            Velocity and its rate there, rad/s, m/s and rad/s², m/s².

        Returns
        -------
        array (…, tree.nv)
            Of a free joint Rᵀ a − ω × v in the place of an acceleration in the world, m/s².

        Raises
        ------
        ValueError
            Other sizes; TypeError for what are no real numbers.
        """
        mine, mine_v = self.ours(q, v)
        found = self._our_vectors(mine, self._states(q, a, None, len(self._other.neutral), self._other.nv)[1])
        for here, _ in self._free:
            found[..., here.v : here.v + 3] -= _coriolis(mine_v, here.v)
        return found

    def their_acceleration(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Array:
        """The inverse of `our_acceleration`, from q, v and v̇ of the tree.

        Parameters
        ----------
        q : array (…, tree.nq)
            Configuration of the tree, rad and m.
        v, a : array (…, tree.nv)
            Velocity and its rate, rad/s, m/s and rad/s², m/s².

        Returns
        -------
        array (…, nv)
            Of the other side.

        Raises
        ------
        ValueError
            Other sizes; TypeError for what are no real numbers.
        """
        q, v = self._states(q, v, None, self.tree.nq, self.tree.nv)
        _, a = self._states(q, a, None, self.tree.nq, self.tree.nv)
        check_broadcast(q=q, v=v, a=a)
        a = np.array(np.broadcast_to(a, (*np.broadcast_shapes(v.shape[:-1], a.shape[:-1]), self.tree.nv)))
        for here, _ in self._free:
            a[..., here.v : here.v + 3] += _coriolis(v, here.v)
        return self._their_vectors(q, a)

    def our_matrix(self, q: ArrayLike, M: ArrayLike) -> Array:
        """A matrix of the other side, such as its mass matrix, for the velocities of the tree: Tᵀ M T.

        Parameters
        ----------
        q : array (nq,)
            Configuration there, rad and m.
        M : array (nv, nv)
            Of the other side, all of it filled, SI units.

        Returns
        -------
        array (tree.nv, tree.nv)
            Of the tree.

        Raises
        ------
        ValueError
            Other sizes; TypeError for what are no real numbers.
        """
        q, M = _sized(q, len(self._other.neutral), "q"), _sized(M, self._other.nv, "M")
        if M.shape != (self._other.nv, self._other.nv):
            raise ValueError(f"M: shape {M.shape}, expected ({self._other.nv}, {self._other.nv})")
        T = self._their_vectors(self._our_configuration(q), np.eye(self.tree.nv))
        return np.asarray(T @ M @ T.T)

    # --- parts --------------------------------------------------------------------------------------------------------

    def _states(self, q: ArrayLike, v: ArrayLike | None, p: ArrayLike | None, nq: int, nv: int) -> tuple[Array, Array]:
        if v is not None and p is not None:
            raise ValueError("v and p: give one of them")
        q = _sized(q, nq, "q")
        x = np.zeros(nv) if v is None and p is None else _sized(*((v, nv, "v") if p is None else (p, nv, "p")))
        check_broadcast(q=q, **{"v" if p is None else "p": x})
        return q, x

    def _our_configuration(self, q: Array) -> Array:
        found = np.empty((*q.shape[:-1], self.tree.nq))
        if self.only_ours:
            found[...] = self.tree.neutral()
        here, there = self._q
        found[..., here] = q[..., there] + self._offsets
        for one, other in self._followers:
            found[..., one.q] = other.ratio * q[..., other.q] + other.offset
        for one, other in self._others:
            i, j = one.q, other.q
            if other.kind in (POSE, PLANE):
                k = 3 if other.kind == POSE else 2
                found[..., i : i + k], i, j = q[..., j : j + k], i + k, j + k
            if other.kind in (CIRCLE, PLANE):
                found[..., i] = np.arctan2(q[..., j + 1], q[..., j])
            elif not self._other.scalar_first:
                found[..., i : i + 4] = np.roll(q[..., j : j + 4], 1, axis=-1)
            else:
                found[..., i : i + 4] = _unit(q[..., j : j + 4])
        return found

    def _their_configuration(self, q: Array) -> Array:
        found = np.empty((*q.shape[:-1], len(self._other.neutral)))
        if self.only_theirs:
            found[...] = self._other.neutral
        here, there = self._q
        found[..., there] = q[..., here] - self._offsets
        for one, other in self._others:
            i, j = one.q, other.q
            if other.kind in (POSE, PLANE):
                k = 3 if other.kind == POSE else 2
                found[..., j : j + k], i, j = q[..., i : i + k], i + k, j + k
            if other.kind in (CIRCLE, PLANE):
                found[..., j], found[..., j + 1] = np.cos(q[..., i]), np.sin(q[..., i])
            else:
                found[..., j : j + 4] = np.roll(q[..., i : i + 4], 0 if self._other.scalar_first else -1, axis=-1)
        return found

    def _our_vectors(self, mine: Array, x: Array) -> Array:
        """Velocities or momenta of the tree in its configuration `mine`."""
        found = np.zeros((*_leading(mine, x, self._free), self.tree.nv))
        here, there = self._v
        found[..., here] = x[..., there]
        for one, other in self._followers:
            found[..., one.v] = other.ratio * x[..., other.v]
        for one, other in self._free:
            turn = so3.inverse(mine[..., one.q + 3 : one.q + 7])
            found[..., one.v : one.v + 3] = so3.act(turn, x[..., other.v : other.v + 3])
        return found

    def _their_vectors(self, mine: Array, x: Array) -> Array:
        """Velocities or momenta of the other side from those of the tree in its configuration `mine`."""
        found = np.zeros((*_leading(mine, x, self._free), self._other.nv))
        here, there = self._v
        found[..., there] = x[..., here]
        for one, other in self._free:
            found[..., other.v : other.v + 3] = so3.act(mine[..., one.q + 3 : one.q + 7], x[..., one.v : one.v + 3])
        return found


def _coriolis(v: Array, at: int) -> Array:
    """ω × v of a free joint."""
    return np.cross(v[..., at + 3 : at + 6], v[..., at : at + 3])


def _leading(q: Array, x: Array, turned: Sequence[Any]) -> tuple[int, ...]:
    """Leading axes of vectors that turn with a configuration, or do not."""
    return np.broadcast_shapes(q.shape[:-1], x.shape[:-1]) if turned else x.shape[:-1]


def _unit(quaternion: Array) -> Array:
    norm = np.linalg.norm(quaternion, axis=-1, keepdims=True)
    if not (norm > 0.0).all():
        raise ValueError("q: a quaternion of norm zero says no orientation; give (1, 0, 0, 0) for none")
    return np.asarray(quaternion / norm)


def _sized(values: Any, n: int, name: str) -> Array:
    """An array (…, n)."""
    x = reals(values, name)
    if x.shape[-1:] != (n,):
        raise ValueError(f"{name}: shape {x.shape}, expected (…, {n})")
    return x
