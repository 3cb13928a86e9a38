"""A rod: nodes, sections, supports and loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Problem
from liegroup import se3, so3
from liegroup.arrays import integer, of_kind, positive, real, reals, sequence
from mechanics.elastic.levels import StepReport
from mechanics.elastic.rods.section import Section
from mechanics.errors import ModelError
from mechanics.forces import Element
from mechanics.joints import Free, Spherical
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
Support = Literal["clamped", "pinned"]
SUPPORTS: tuple[Support, ...] = ("clamped", "pinned")
STRAINS = ("exp", "cayley")
RIGID = {"stretch": (0,), "shear": (1, 2), "torsion": (3,)}
"""Strains that a rod may keep, and their components."""
LONGEST_TURN = 2.5
"""rad: elements that turn further are refused; at π their strain jumps."""
STIFFNESS, STRAIN = slice(1, 7), slice(7, 13)
"""Columns of `Rod.elements` after the length."""


@dataclass(frozen=True, eq=False)
class Load:
    """A force and a moment at a node.

    Parameters
    ----------
    node : int
        Of the rod; −1 is the last.
    force : array (3,)
        N.
    moment : array (3,)
        N·m.
    axes : {"world", "body"}
        Whether they keep their directions in the world (a dead load), or turn with the section (a follower).  A moment
        that is fixed in the world has no potential.
    times, factors : sequences of numbers, optional
        The course: the load is multiplied by a factor that is linear between the times (s, ascending) and constant
        before the first and after the last.  Default: 1 always.

    Raises
    ------
    ValueError, TypeError
        With the argument.

    Examples
    --------
    >>> from mechanics.elastic.rods import Load
    >>> Load(-1, force=(0.0, 0.0, -10.0)).factor(3.0)
    1.0
    >>> push = Load(0, force=(1.0, 0.0, 0.0), times=(0.0, 2.5, 5.0), factors=(0.0, 20.0, 0.0))
    >>> push.factor(1.25)
    10.0
    """

    node: int
    force: ArrayLike = (0.0, 0.0, 0.0)
    moment: ArrayLike = (0.0, 0.0, 0.0)
    axes: str = "world"
    times: Sequence[float] = ()
    factors: Sequence[float] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", integer(self.node, "node", -(2**31)))
        for name in ("force", "moment"):
            object.__setattr__(self, name, _three(getattr(self, name), f"load: {name}"))
        if self.axes not in ("world", "body"):
            raise ValueError(f"axes: {self.axes!r}, expected 'world' or 'body'")
        times, factors = course(self.times, self.factors)
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "factors", factors)

    def factor(self, t: float) -> float:
        """The factor at time t.

        Parameters
        ----------
        t : float
            s.

        Returns
        -------
        float
            Dimensionless.
        """
        return float(np.interp(t, self.times, self.factors)) if self.times else 1.0

    @property
    def wrench(self) -> Array:
        """(force, moment), without the course."""
        return np.concatenate([np.asarray(self.force), np.asarray(self.moment)])


@dataclass(frozen=True, eq=False)
class Stroke:
    """A prescribed motion of a node that is clamped or pinned, at rest at every one of its times.

    The node is shifted by s(t) `displacement` and turned by exp(s(t) `turn`) about itself, from where it is at the
    start; between the times s goes from one factor to the next by u³ (10 − 15 u + 6 u²).

    Parameters
    ----------
    node : int
        Of the rod, clamped or pinned; −1 is the last.
    displacement : array (3,)
        In world axes, m.
    turn : array (3,)
        Rotation vector in world axes, rad; none of a pinned node, which turns freely.
    times, factors : sequences of numbers
        Ascending times, s, and the factor s at each (dimensionless).

    Raises
    ------
    ValueError, TypeError
        With the argument.

    Examples
    --------
    >>> from mechanics.elastic.rods import Stroke
    >>> Stroke(0, displacement=(0.5, 0.0, 0.0), times=(0.0, 0.2, 0.4), factors=(0.0, 1.0, 0.0)).times
    (0.0, 0.2, 0.4)
    """

    node: int
    displacement: ArrayLike = (0.0, 0.0, 0.0)
    turn: ArrayLike = (0.0, 0.0, 0.0)
    times: Sequence[float] = (0.0, 1.0)
    factors: Sequence[float] = (0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "node", integer(self.node, "node", -(2**31)))
        for name in ("displacement", "turn"):
            object.__setattr__(self, name, _three(getattr(self, name), f"stroke: {name}"))
        times, factors = course(self.times, self.factors)
        if len(times) < 2:
            raise ValueError(f"times: {self.times!r}, expected at least two")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "factors", factors)


def course(times: Any, factors: Any) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Ascending times and as many factors, checked."""
    t, s = reals(times, "times", "numbers"), reals(factors, "factors", "numbers")
    if t.ndim != 1 or t.shape != s.shape or not np.isfinite([t, s]).all():
        raise ValueError(f"times, factors: {times!r}, {factors!r}, expected as many finite factors as times")
    if (np.diff(t) <= 0.0).any():
        raise ValueError(f"times: {times!r}, expected ascending times, s")
    return tuple(t.tolist()), tuple(s.tolist())


@dataclass(frozen=True, eq=False)
class Rod:
    """A geometrically exact rod: poses of its sections at n + 1 nodes, n elastic elements between them.

    Parameters
    ----------
    poses : array (n + 1, 7)
        The rod without stress, straight, curved or twisted: (x, y, z, qw, qx, qy, qz) of every node, m; the first axis
        of a section points along the rod.
    section : Section, or sequence of n of them
    supports : mapping of int to {"clamped", "pinned"}
        Nodes whose pose, or whose position, is held where it is; −1 is the last.
    loads : sequence of Load
    gravity : array (3,)
        Acceleration in world axes, m/s²; default none.
    strain : {"exp", "cayley"}
        The coordinates X of the relative pose of neighbours.  With the Cayley map an element that turns by φ is too
        stiff by φ²/3; it is for comparison.
    strokes : sequence of Stroke
        Prescribed motions of nodes that are clamped or pinned; at rest (`equilibrium`) they are not looked at.
    rigid : sequence of {"stretch", "shear", "torsion"}
        Strains that the elements keep, whatever the stress: ``("stretch", "shear")`` is Kirchhoff's rod, inextensible
        and unshearable, of which only bending and torsion are waves; for the method ``"RATTLE_DRIFT"``.
    damping : float or array (n,)
        τ of the elements, s: stresses are C (e + τ ė) (Kelvin and Voigt), e the strain; a mode of small vibrations with
        the frequency ω loses its amplitude with the rate τ ω²/2.
    drag : float or array (n + 1,)
        r of the nodes, 1/s: wrenches −r (l, k) by their momenta; modes lose their amplitude with the rate r/2.
    scaled_inertia : bool
        Let the inertia of sections against bending be at least GA/(4 EA) l² of their mass: an explicit step is then
        limited by the length of the elements instead of their thickness, and bending keeps its order 2 with a larger
        constant.  For thin rods that do not spin across their axis.

    Raises
    ------
    ModelError
        Nodes that coincide, elements that turn by more than 2.5 rad, a first axis that does not point along the rod,
        by element.
    ValueError, TypeError
        Other arguments, by name.

    Notes
    -----
    Every node carries the mass and inertia of half of either element beside it, its centre of mass at the node.

    References
    ----------
    Simo and Vu-Quoc 1986; Sonneville, Cardona and Brüls 2014.

    Examples
    --------
    >>> from mechanics.elastic.rods import Load, Rod, Section, equilibrium
    >>> section = Section(1e4, 1e4, 1e4, 1.0, 2.0, 2.0, 1.0, (0.02, 0.01, 0.01))
    >>> rod = Rod.straight(1.0, 6, section, supports={0: "clamped"})
    >>> rod
    <Rod of 6 elements, 1 m, clamped at node 0>

    A moment of 2π EI/L bends it to a circle:

    >>> circle = equilibrium(rod.with_loads(Load(-1, moment=(0.0, 0.0, 4 * np.pi), axes="body")))
    >>> bool(abs(circle.poses[-1, :3]).max() < 1e-14)
    True
    """

    poses: ArrayLike
    section: Section | Sequence[Section]
    supports: Mapping[int, str] = field(default_factory=dict)
    loads: Sequence[Load] = ()
    gravity: ArrayLike = (0.0, 0.0, 0.0)
    strain: str = "exp"
    strokes: Sequence[Stroke] = ()
    scaled_inertia: bool = False
    rigid: Sequence[str] = ()
    damping: ArrayLike = 0.0
    drag: ArrayLike = 0.0

    def __post_init__(self) -> None:
        poses = reals(self.poses, "poses", "an array (n + 1, 7)")
        if poses.ndim != 2 or poses.shape[1] != 7 or len(poses) < 2 or not np.isfinite(poses).all():
            raise ValueError(
                f"poses: shape {poses.shape}, expected (n + 1, 7), finite: position and quaternion of every node"
            )
        norms = np.linalg.norm(poses[:, 3:], axis=1)
        if (abs(norms - 1.0) > 1e-9).any():
            k = int(np.argmax(abs(norms - 1.0)))
            raise ValueError(f"poses: the quaternion of node {k} has norm {norms[k]:.9g}, expected 1 (w, x, y, z)")
        object.__setattr__(self, "poses", poses)
        if self.strain not in STRAINS:
            raise ValueError(f"strain: {self.strain!r}, expected 'exp' or 'cayley'")
        object.__setattr__(self, "rigid", _rigid(self.rigid))
        of_kind(self.scaled_inertia, (bool, np.bool_), "scaled_inertia", "True or False")
        n = len(poses) - 1
        one = isinstance(self.section, Section)
        sections = (self.section,) * n if one else sequence(self.section, "section", "a Section, or one per element")
        for s in sections:
            of_kind(s, Section, "section", "a Section, or one per element")
        if len(sections) != n:
            raise ValueError(f"section: {len(sections)} sections, expected one, or {n}, one per element")
        object.__setattr__(self, "section", sections)
        of_kind(self.supports, Mapping, "supports", "a mapping of nodes to 'clamped' or 'pinned'")
        supports = {self._node(k, "supports"): kind for k, kind in self.supports.items()}
        if wrong := [kind for kind in supports.values() if kind not in SUPPORTS]:
            raise ValueError(f"supports: {wrong[0]!r}, expected 'clamped' or 'pinned'")
        if len(supports) < len(self.supports):
            raise ValueError(f"supports: {dict(self.supports)}, expected each node once; node −1 is node {n}")
        object.__setattr__(self, "supports", dict(sorted(supports.items())))
        loads = sequence(
            self.loads, "loads", "a sequence of loads (mechanics.elastic.rods.Load), such as [Load(-1, …)]"
        )
        for load in loads:
            of_kind(load, Load, "loads", "loads (mechanics.elastic.rods.Load)")
            self._node(load.node, "loads")
        object.__setattr__(self, "loads", loads)
        strokes = sequence(self.strokes, "strokes", "a sequence of strokes (mechanics.elastic.rods.Stroke)")
        for stroke in strokes:
            of_kind(stroke, Stroke, "strokes", "strokes (mechanics.elastic.rods.Stroke)")
            if self._node(stroke.node, "strokes") not in self.supports:
                raise ValueError(f"strokes: node {stroke.node} is free, expected one that is clamped or pinned")
            if self.supports[self._node(stroke.node, "strokes")] == "pinned" and np.any(stroke.turn):
                raise ValueError(
                    f"strokes: a turn by {np.asarray(stroke.turn).tolist()} of node {stroke.node}, which is pinned and "
                    "turns freely; clamp it, or leave the turn out"
                )
        object.__setattr__(self, "strokes", strokes)
        if strokes and self.rigid:
            raise ValueError(
                "strokes: a rod that keeps strains (rigid=) takes none; give its sections stiffness instead"
            )
        object.__setattr__(self, "gravity", _three(self.gravity, "gravity"))
        for name, count in (("damping", n), ("drag", n + 1)):
            object.__setattr__(self, name, _not_negative(getattr(self, name), name, count))
        if self.rigid and self.dissipates:
            raise ValueError(
                "rigid: a rod that keeps strains takes no damping and no drag; leave them 0, or give its sections "
                "stiffness instead"
            )
        _ = self.elements

    @classmethod
    def straight(
        cls,
        length: float,
        elements: int,
        section: Section | Sequence[Section],
        *,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        direction: ArrayLike = (1.0, 0.0, 0.0),
        third: ArrayLike | None = None,
        **options: Any,
    ) -> Rod:
        """A straight rod of equal elements.

        Parameters
        ----------
        length : float
            m.
        elements : int
        section : Section, or one per element
        origin : array (3,)
            Of the first node, m.
        direction : array (3,)
            Of the rod (dimensionless, of any length).
        third : array (3,), optional
            Near to e₃ of the sections (dimensionless); default upwards, or along x for a vertical rod.
        **options
            Of `Rod`.

        Returns
        -------
        Rod

        Raises
        ------
        ModelError, ValueError, TypeError
            As `Rod`; a direction of length 0.

        Examples
        --------
        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section.round(0.005, 5e6, density=1100.0, poisson=0.5)
        >>> Rod.straight(1.0, 8, section, supports={0: "pinned"})
        <Rod of 8 elements, 1 m, pinned at node 0>
        """
        return cls._helix(length, elements, section, origin, direction, third, np.zeros(3), options)

    @classmethod
    def arc(
        cls,
        radius: float,
        angle: float,
        elements: int,
        section: Section | Sequence[Section],
        *,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        direction: ArrayLike = (1.0, 0.0, 0.0),
        towards: ArrayLike = (0.0, 1.0, 0.0),
        third: ArrayLike | None = None,
        **options: Any,
    ) -> Rod:
        """An arc of a circle without stress, of equal elements.

        Parameters
        ----------
        radius : float
            m.
        angle : float
            rad.
        elements : int
        section : Section, or one per element
        origin : array (3,)
            Of the first node, m.
        direction : array (3,)
            Of the rod at the first node (dimensionless, of any length).
        towards : array (3,)
            The side to which it bends (dimensionless).
        third : array (3,), optional
            Near to e₃ of the first section (dimensionless); default upwards.
        **options
            Of `Rod`.

        Returns
        -------
        Rod

        Raises
        ------
        ModelError, ValueError, TypeError
            As `Rod`; `towards` along the rod.

        Examples
        --------
        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section.rectangle(1.0, 1.0, 1e7, density=1.0, poisson=0.0)
        >>> Rod.arc(100.0, np.pi / 4, 8, section).poses[-1, :3].round(3).tolist()
        [70.711, 29.289, 0.0]
        """
        r, phi = positive(radius, "radius"), positive(angle, "angle")
        axis = np.cross(_three(direction, "direction"), _three(towards, "towards"))
        if not np.linalg.norm(axis) > 1e-9 * np.linalg.norm(np.asarray(direction)) * np.linalg.norm(
            np.asarray(towards)
        ):
            raise ValueError(f"towards: {towards!r}, expected a direction across {direction!r}")
        return cls._helix(r * phi, elements, section, origin, direction, third, _unit(axis, "towards") / r, options)

    @classmethod
    def _helix(
        cls, length: Any, elements: Any, section: Any, origin: Any, direction: Any, third: Any, curvature: Array,
        options: Any,
    ) -> Rod:  # fmt: skip
        n, L = integer(elements, "elements", 1), positive(length, "length")
        R = frame(direction, third)
        start = np.concatenate([_three(origin, "origin"), so3.from_matrix(R)])
        s = L * np.arange(n + 1)[:, None] / n
        return cls(se3.compose(start, se3.exp(s * np.concatenate([[1.0, 0.0, 0.0], R.T @ curvature]))), section,
                   **options)  # fmt: skip

    def with_loads(self, *loads: Load) -> Rod:
        """The same rod under other loads.

        Parameters
        ----------
        *loads : Load

        Returns
        -------
        Rod

        Raises
        ------
        ValueError, TypeError
            As `Rod`.
        """
        from dataclasses import replace

        return replace(self, loads=loads)

    def _node(self, k: Any, name: str) -> int:
        n = len(np.asarray(self.poses))
        i = integer(k, name, -(2**31))
        if not -n <= i < n:
            raise ValueError(f"{name}: node {i}, expected 0 to {n - 1}, or −1 for the last")
        return i % n

    @property
    def n_elements(self) -> int:
        """Number of elements; there is one node more."""
        return len(np.asarray(self.poses)) - 1

    @cached_property
    def elements(self) -> Array:
        """(n, 13): length, (EA, GA₂, GA₃, GJ, EI₂, EI₃), strain e₀ + (1, 0, 0, 0, 0, 0) without stress."""
        poses = np.asarray(self.poses)
        relative = se3.compose(se3.inverse(poses[:-1]), poses[1:])
        apart = np.linalg.norm(relative[:, :3], axis=1)
        extent = max(float(np.ptp(poses[:, :3], axis=0).max()), 1e-300)
        if (apart <= 1e-12 * extent).any():
            k = int(np.argmin(apart))
            raise ModelError(f"rod: element {k}", f"nodes {k} and {k + 1} coincide", "leave one of them out")
        turn = np.linalg.norm(so3.log(relative[:, 3:]), axis=1)
        refuse_turns(turn)
        X = se3.log(relative) if self.strain == "exp" else se3.cay_inverse(relative)
        lengths = np.linalg.norm(X[:, :3], axis=1)
        e0 = X / lengths[:, None]
        if (e0[:, 0] < 0.5).any():
            k = int(np.argmin(e0[:, 0]))
            raise ModelError(
                f"rod: element {k}",
                f"the first axis of its sections is {np.degrees(np.arccos(e0[k, 0])):.0f}° off the direction from node "
                f"{k} to node {k + 1}",
                "turn the sections so that their first axes point along the rod",
            )
        stiffness = np.array([s.stiffness for s in self.sections])
        return np.concatenate([lengths[:, None], stiffness, e0], axis=1)

    @property
    def sections(self) -> tuple[Section, ...]:
        """One per element."""
        return tuple(self.section)  # type: ignore[arg-type]

    @cached_property
    def inertia(self) -> Array:
        """(n + 1, 4): mass and moments of inertia of every node, kg and kg·m²."""
        total = np.zeros((self.n_elements + 1, 4))
        for k, (s, element) in enumerate(zip(self.sections, self.elements, strict=True)):
            half = 0.5 * element[0] * np.array([s.mass, *self.moments(s, element[0])])
            total[k] += half
            total[k + 1] += half
        return total

    def moments(self, section: Section, length: float) -> Array:
        """Moments of inertia per length of a section, scaled if `scaled_inertia` says so.

        Parameters
        ----------
        section : Section
        length : float
            Of the element, m.

        Returns
        -------
        array (3,)
            About e₁, e₂, e₃, kg·m.
        """
        J = np.array(section.inertia)
        if self.scaled_inertia:
            least = 0.25 * max(section.GA2, section.GA3) / section.EA * section.mass * length * length
            J[1:] = np.maximum(J[1:], least)
        return J

    @property
    def length(self) -> float:
        """Without stress, m."""
        return float(self.elements[:, 0].sum())

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """(n + 1, 6): which body velocities of a node a support keeps zero."""
        found = np.zeros((self.n_elements + 1, 6), dtype=bool)
        for node, kind in self.supports.items():
            found[node, : 6 if kind == "clamped" else 3] = True
        return found

    def wrenches(self, t: float = 0.0) -> Array:
        """Loads and weights at a time.

        Parameters
        ----------
        t : float
            s.

        Returns
        -------
        array (n + 1, 12)
            (Force, moment) fixed in the world, (force, moment) that turn with the section, of every node, N and N·m.
        """
        out = np.zeros((self.n_elements + 1, 12))
        out[:, :3] = self.inertia[:, :1] * np.asarray(self.gravity)
        for load in self.loads:
            k = 0 if load.axes == "world" else 6
            out[load.node, k : k + 6] += load.factor(real(t, "t")) * load.wrench
        return out

    def turns(self, poses: Array) -> Array:
        """How far the ends of the elements are turned against each other.

        Parameters
        ----------
        poses : array (n + 1, 7)
            Of the nodes, m.

        Returns
        -------
        array (n,)
            rad.
        """
        q = np.asarray(poses)[:, 3:]
        return np.asarray(np.linalg.norm(so3.log(so3.compose(so3.inverse(q[:-1]), q[1:])), axis=1))

    def stretches(self, poses: Array) -> Array:
        """How long the elements are along their first axes, as parts of their lengths.

        Parameters
        ----------
        poses : array (n + 1, 7)
            Of the nodes, m.

        Returns
        -------
        array (n,)
            1 without stress; below 0 the ends of an element have changed places.

        Examples
        --------
        >>> from mechanics.elastic.rods import Rod, Section
        >>> rod = Rod.straight(1.0, 3, Section.round(0.01, 1e7, density=1000.0))
        >>> rod.stretches(rod.poses * [0.5, 1, 1, 1, 1, 1, 1]).tolist()
        [0.5, 0.5, 0.5]
        """
        q = np.asarray(poses)
        relative = se3.compose(se3.inverse(q[:-1]), q[1:])
        X = se3.log(relative) if self.strain == "exp" else se3.cay_inverse(relative)
        return np.asarray(X[:, 0] / self.elements[:, 0])

    def node_poses(self, t: ArrayLike, y: ArrayLike, poses: ArrayLike | None = None) -> Array:
        """Poses of all nodes, those of supports included, in states of `problem`.

        Parameters
        ----------
        t : array (…)
            Times, s.
        y : array (…, n)
            States, such as ``solution.y``, in m, s and kg.
        poses : array (n + 1, 7), optional
            Those with which the problem was made, m; default those without stress.

        Returns
        -------
        array (…, n + 1, 7)
            m.

        Examples
        --------
        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section.round(0.01, 1e7, density=1000.0)
        >>> rod = Rod.straight(1.0, 4, section, supports={0: "clamped"})
        >>> rod.node_poses(0.0, rod.problem().y0)[:, 0].tolist()
        [0.0, 0.25, 0.5, 0.75, 1.0]
        """
        from mechanics.elastic.rods.layout import Packed
        from mechanics.elastic.rods.problem import node_poses

        return node_poses(Packed(self, np.asarray(self.poses if poses is None else poses)), t, y)

    @property
    def kept(self) -> tuple[int, ...]:
        """Components of the strain that every element keeps."""
        return tuple(sorted(c for name in self.rigid for c in RIGID[name]))

    def admissible(self, velocities: ArrayLike, poses: ArrayLike | None = None) -> Array:
        """The velocities nearest to given ones, in kinetic energy, with which a rod keeps the strains that are rigid.

        Parameters
        ----------
        velocities : array (n + 1, 6)
            Body axes, m/s and rad/s; what supports hold is set to rest.
        poses : array (n + 1, 7), optional
            Of the nodes, m; default those without stress.

        Returns
        -------
        array (n + 1, 6)
            m/s and rad/s, total momenta of a free rod as they were.

        Raises
        ------
        ModelError
            Supports that hold the rod so that the stresses are not determined.
        ValueError
            Another shape.

        Examples
        --------
        A chain thrown at one end:

        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section.round(0.01, 1e7, density=1000.0)
        >>> rod = Rod.straight(1.0, 2, section, rigid=("stretch", "shear"))
        >>> thrown = np.zeros((3, 6))
        >>> thrown[0, 0] = 1.0
        >>> rod.admissible(thrown)[:, 0].round(12).tolist()  # it moves as a whole along its length
        [0.25, 0.25, 0.25]
        """
        from mechanics.elastic.rods.keeping import admissible

        v = reals(velocities, "velocities", f"an array ({self.n_elements + 1}, 6)")
        if v.shape != (self.n_elements + 1, 6) or not np.isfinite(v).all():
            raise ValueError(f"velocities: shape {v.shape}, expected ({self.n_elements + 1}, 6), finite")
        return admissible(self, np.asarray(self.poses if poses is None else poses), v)

    @property
    def dampings(self) -> Array:
        """τ of every element, s."""
        return np.broadcast_to(np.asarray(self.damping), self.n_elements)

    @property
    def drags(self) -> Array:
        """r of every node, 1/s."""
        return np.broadcast_to(np.asarray(self.drag), self.n_elements + 1)

    @property
    def dissipates(self) -> bool:
        """Whether there is damping or drag."""
        return bool(self.dampings.any() or self.drags.any())

    @property
    def is_autonomous(self) -> bool:
        """Whether no load and no support changes with time."""
        return not self.strokes and not any(load.times for load in self.loads)

    @property
    def is_conservative(self) -> bool:
        """Whether the loads have a potential: dead forces without a course."""
        return self.is_autonomous and all(load.axes == "world" and not load.wrench[3:].any() for load in self.loads)

    def problem(self, poses: ArrayLike | None = None, velocities: ArrayLike | None = None) -> Problem:
        """Its motion, for `integrators.integrate`.

        Parameters
        ----------
        poses : array (n + 1, 7), optional
            At the start, m; default those without stress.  Supports hold their nodes there.
        velocities : array (n + 1, 6), optional
            At the start, body axes, m/s and rad/s; default at rest.

        Returns
        -------
        Problem
            Canonical (but for rods that keep strains): the poses of the nodes that move (of pinned ones the attitude),
            momenta in body axes.  Watches energy, total momenta, the greatest turn of an element, which stops a run at
            2.5 rad, and the smallest stretch, which stops it where an element is pressed through itself.

        Raises
        ------
        ModelError, ValueError, TypeError
            With the argument, or the element that turns too far.

        Notes
        -----
        Splittings (`SPLIT_STRANG`, `SPLIT_SRKN6_11B`) are explicit: their steps are limited (`step_limit`).  For thin
        rods take ``RKMK_RADAU_IIA3``, tighter ``RKMK_RADAU_IIA5``: what their long steps do not follow is damped.
        Symmetric implicit methods (``MIDPOINT``, ``RKMK_GAUSS2``) keep it, and where the rod turns far feed it until
        the run fails.  Rods that keep strains (`rigid`) take ``RATTLE_DRIFT`` and its compositions, and watch the
        greatest of these strains (`gap`) and of their rates.  With ``"AVI"`` every element has its own step (`step`,
        `steps`), for rods whose elements differ.

        Examples
        --------
        >>> from integrators import integrate
        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.06, 0.03, 0.03))
        >>> rod = Rod.straight(1.0, 4, section)
        >>> spin = np.zeros((5, 6))
        >>> spin[-1] = 0.0, 0.3, 0.0, 0.5, 0.0, 0.2
        >>> solution = integrate(rod.problem(velocities=spin), "SPLIT_STRANG", (0.0, 1.0), 0.01)
        >>> bool(solution.error("angular_momentum_z") < 1e-14)
        True
        """
        from mechanics.elastic.rods.problem import rod_problem

        return rod_problem(self, poses, velocities)

    @cached_property
    def _levels(self) -> Any:
        """Frequencies and levels of the elements (`mechanics.elastic.rods.levels`)."""
        from mechanics.elastic.rods.levels import Levels

        return Levels(self)

    def step(self, safety: float = 0.25) -> float:
        """The step for the method ``"AVI"``: the smallest of an element, doubled up to that of the slowest.

        Parameters
        ----------
        safety : float
            Part of the stable step h ω = 2 that every element takes, near the state without stress (dimensionless);
            0.25 leaves room for resonances.

        Returns
        -------
        float
            s.

        Raises
        ------
        ValueError
            A part that is not positive.

        Examples
        --------
        Elements of a stout rod, every one twice as long as the one before:

        >>> from mechanics.elastic.rods import Rod, Section
        >>> section = Section(20.0, 8.0, 8.0, 0.3, 0.4, 0.4, 1.0, (0.6, 0.4, 0.3))
        >>> poses = np.zeros((5, 7))
        >>> poses[:, 0], poses[:, 3] = [0.0, 0.1, 0.3, 0.7, 1.5], 1.0
        >>> print(Rod(poses, section).steps())
        step 0.02582 s (1 at step/1, 1 at step/2, 2 at step/4), smallest 0.006455 s by element 0 of the rod;
        1.45 times fewer kicks than one step for all: SPLIT_STRANG with the smallest step
        >>> Rod(poses, section).step() / Rod(poses, section).step(0.125)
        2.0
        """
        return float(self._levels.step(positive(safety, "safety")))

    def steps(self, safety: float = 0.25) -> StepReport:
        """The steps of all elements, which of them rules, and what asynchronous steps gain.

        Parameters
        ----------
        safety : float
            As of `step` (dimensionless).

        Returns
        -------
        StepReport
            Prints what it advises.

        Raises
        ------
        ValueError
            A part that is not positive.

        Examples
        --------
        Elements of one size, of which the thickness limits the steps: nothing is gained.

        >>> from mechanics.elastic.rods import Rod, Section
        >>> print(Rod.straight(1.0, 8, Section.round(0.01, 1e6, density=1000.0)).steps())
        step 0.000135 s (8 at step/1), smallest 0.000135 s by element 0 of the rod;
        1 times fewer kicks than one step for all: SPLIT_STRANG with the smallest step
        """
        return self._levels.report(positive(safety, "safety"))  # type: ignore[no-any-return]

    def attached_to(
        self, mechanism: Tree | Mechanism, owners: Mapping[int, Frame], name: str = "rod", damping: float | None = None
    ) -> Mechanism:
        """The rod on bodies of a tree or mechanism: a boom of a satellite, a flexible link.

        Parameters
        ----------
        mechanism : Tree or Mechanism
            What it is attached to; with the gravity of the rod.
        owners : mapping of int to Frame
            The frames that nodes are welded to, with their inertia; at home they are where the nodes are, with the axes
            of their sections.  −1 is the last node.
        name : str
            The bodies are called "name k".
        damping : float, optional
            τ of `beam`, s; default that of the elements.

        Returns
        -------
        Mechanism
            The other nodes are free bodies, pinned ones turn about their places, clamped ones are frames of the base;
            the elements are `beam`.  Its home is that of the mechanism, then the rod without stress.

        Raises
        ------
        ModelError
            Nodes that there are not, or whose owners' frames differ; another gravity; loads, strokes, drag, the Cayley
            map.

        Notes
        -----
        The equations are those of `problem`, at several times its price: for a rod that no mechanism moves take that.

        Examples
        --------
        >>> from mechanics import Body, Frame, Inertia, Tree
        >>> from mechanics.elastic.rods import Rod, Section
        >>> from mechanics.joints import Free
        >>> hub = Tree([Body("hub", Free(), inertia=Inertia.about_com(5.0, (0, 0, 0), np.eye(3)))], gravity=(0, 0, 0))
        >>> boom = Rod.straight(2.0, 3, Section.round(0.005, 7e10, density=2700.0), origin=(0.5, 0, 0))
        >>> boom.attached_to(hub, {0: Frame("hub", (0.5, 0, 0))}, "boom").tree.body_names
        ('hub', 'boom 0', 'boom 1', 'boom 2', 'boom 3')
        """
        from mechanics.elastic.owners import attached
        from mechanics.elastic.rods.beams import beam

        if self.rigid:
            raise ModelError(f"{name}: rigid", "strains are kept by a rod alone", "give its sections stiffness instead")
        for what, given in (("loads", self.loads), ("strokes", self.strokes)):
            if given:
                remedy = "give the mechanism force elements" if what == "loads" else "let a joint of the mechanism move"
                raise ModelError(f"{name}: {what}", "are those of a rod alone", remedy)
        if self.drags.any():
            raise ModelError(f"{name}: drag", "is that of a rod alone", "give the mechanism force elements")
        if self.strain != "exp":
            raise ModelError(f"{name}: strain", f"is {self.strain!r}", "give 'exp'")
        poses = np.asarray(self.poses)
        kinds = [self.supports.get(k, "") for k in range(self.n_elements + 1)]
        joints = [{"clamped": None, "pinned": Spherical(), "": Free()}[kind] for kind in kinds]
        inertias = [Inertia.about_com(m, np.zeros(3), np.diag(J)) for m, *J in self.inertia]

        def elements(frames: Sequence[Frame]) -> list[list[Element]]:
            return [
                beam(a, b, section, row[0], strain=row[STRAIN], damping=tau if damping is None else damping)
                for a, b, section, row, tau in zip(
                    frames[:-1], frames[1:], self.sections, self.elements, self.dampings.tolist(), strict=True
                )
            ]

        places = poses[:, :3], so3.as_matrix(poses[:, 3:])
        return attached(name, mechanism, owners, joints, places, inertias, self.gravity, elements)

    def __repr__(self) -> str:
        held = ", ".join(f"{kind} at node {node}" for node, kind in self.supports.items()) or "free"
        return f"<Rod of {self.n_elements} elements, {self.length:.6g} m, {held}>"


def _not_negative(given: Any, name: str, count: int) -> Array:
    """A number, or as many, none negative."""
    x = reals(given, name, f"a number, or {count}")
    if x.shape not in ((), (count,)) or not (np.isfinite(x).all() and (x >= 0.0).all()):
        raise ValueError(f"{name}: {given!r}, expected a number, or {count}, finite and not negative")
    return x


def _rigid(given: Any) -> tuple[str, ...]:
    """The strains that are kept, checked."""
    if isinstance(given, str):
        given = (given,)
    names = sequence(given, "rigid", "names of strains")
    if wrong := [name for name in names if name not in RIGID]:
        raise ValueError(f"rigid: {wrong[0]!r}, expected names among {', '.join(map(repr, RIGID))}")
    return tuple(name for name in RIGID if name in names)


def refuse_turns(turns: Array) -> None:
    """ModelError for elements that turn too far; `turns` (n,) of the elements, rad."""
    if not (turns <= LONGEST_TURN).all():
        k = int(np.argmax(turns))
        raise ModelError(
            f"rod: element {k}",
            f"its ends are turned by {turns[k]:.4g} rad against each other; the strain of an element is known up to π, "
            f"and {LONGEST_TURN} is allowed",
            "divide the rod into more elements",
        )


def frame(direction: ArrayLike, third: ArrayLike | None = None) -> Array:
    """The rotation (3, 3) whose first axis is a direction, and whose third axis is near to another."""
    d = _unit(_three(direction, "direction"), "direction")
    up = np.array([0.0, 0.0, 1.0] if abs(d[2]) < 0.9 else [1.0, 0.0, 0.0]) if third is None else _three(third, "third")
    across = np.cross(up, d)
    if not np.linalg.norm(across) > 1e-9 * np.linalg.norm(up):
        raise ValueError(f"third: {up.tolist()}, expected a direction across {d.tolist()}")
    e2 = across / np.linalg.norm(across)
    return np.stack([d, e2, np.cross(d, e2)], axis=1)


def _unit(v: Array, name: str) -> Array:
    length = float(np.linalg.norm(v))
    if not length > 0.0:
        raise ValueError(f"{name}: {v.tolist()}, expected a direction, not zero")
    return v / length


def _three(value: Any, name: str) -> Array:
    x = reals(value, name, "three numbers")
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ValueError(f"{name}: {x.tolist()}, expected three finite numbers")
    return x
