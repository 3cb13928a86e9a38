"""Networks of points and elastic elements: what is built of what, and with which steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Doubt, Problem
from liegroup.arrays import numbers, of_kind, positive, real, reals, sequence
from liegroup.group import so3
from mechanics.elastic.bodies import Carried, RigidBody, carried_at
from mechanics.elastic.dampers import DAMPER
from mechanics.elastic.doubts import doubts
from mechanics.elastic.elements import Elements
from mechanics.elastic.kind import check_gradients, potentials
from mechanics.elastic.layout import Owned, Packed, pack
from mechanics.elastic.levels import SAFETY, StepReport, frequencies, levels_of, steps_of
from mechanics.elastic.owners import SLIDES, attached
from mechanics.elastic.problem import network_problem, sparsity
from mechanics.elastic.registry import is_added, number_of
from mechanics.elastic.resonance import Resonance, Vibrations
from mechanics.elastic.springs import CABLE, SPRING
from mechanics.errors import ModelError
from mechanics.forces import Element, cable, spring_damper
from mechanics.joints import Joint, Motion, Rheonomic, Slide
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Tree

Array = NDArray[np.float64]
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Network:
    """Points joined by elastic elements.

    Parameters
    ----------
    points : array (n, 3)
        Places of the nodes, m; elements are without strain there unless they say otherwise.
    masses : float or array (n,)
        Of the nodes, kg; those of `fixed` nodes have no effect.  `Elements.lumped_masses` finds them from densities.
    elements : sequence of Elements
        `Springs`, `Cables`, `Tetrahedra`, …
    fixed : sequence of int
        Nodes that are held where they are.
    motions : mapping of int to (Motion, Motion, Motion)
        Nodes on supports that move: their displacements from their places along x, y and z, m, as functions of time
        (`mechanics.joints.Motion`), numbers, or None for 0; such nodes have no mass of their own.
    bodies : sequence of RigidBody
        Rigid bodies that carry nodes.
    gravity : array (3,)
        m/s².
    drag : float or array (n,)
        Rate r of a drag −r p of the nodes, 1/s (Rayleigh's damping in proportion to the mass).
    name : str
        For tables and messages.

    Raises
    ------
    ModelError
        Nodes without mass, or that no element joins; elements at nodes that there are not; degenerate elements; nodes
        held, moved or carried twice; bodies without inertia: by the node, the element or the body.

    Notes
    -----
    `problem` poses a canonical problem on R³ⁿ (and SE(3) for every body) for every method: the splittings
    (``SPLIT_STRANG`` is Verlet's), implicit ones, and ``"AVI"``, where every element has its own step.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import integrate
    >>> from mechanics.elastic import Network, Springs
    >>> pairs, stiffness = [[0, 1], [1, 2], [2, 3], [3, 4]], [1.0, 1.0, 1.0, 1e4]
    >>> chain = Network([[k, 0, 0] for k in range(5)], 1.0, [Springs(pairs, stiffness)], fixed=[0], gravity=(0, 0, 0))
    >>> print(chain.steps())
    step 0.2263 s (2 at step/1, 2 at step/64), smallest 0.003535 s by spring 3 (nodes 3, 4);
    1.97 times fewer kicks than one step for all: SPLIT_STRANG with the smallest step
    >>> velocities = np.zeros((5, 3))
    >>> velocities[1, 1] = 0.1
    >>> run = integrate(chain.problem(velocities=velocities), "AVI", (0, 10), chain.step())
    >>> bool(run.error("energy") < 1e-3)
    True

    A support that swings: `balance` is the energy less the work of the support.

    >>> from mechanics.joints import Motion
    >>> swing = Motion(harmonics=((0.1, 2.0, 0.0),))
    >>> shaken = Network(
    ...     [[0, 0, 0], [1, 0, 0]], 1.0, [Springs([[0, 1]], 40.0)], gravity=(0, 0, 0), motions={0: (swing, None, None)}
    ... )
    >>> run = integrate(shaken.problem(), "AVI", (0, 10), shaken.step(0.1))
    >>> float(run["x"][:, 0].max().round(3)), bool(run.error("balance", relative=False) < 1e-2)
    (0.1, True)
    """

    def __init__(
        self,
        points: ArrayLike,
        masses: ArrayLike,
        elements: Sequence[Elements],
        fixed: Sequence[int] = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        drag: ArrayLike = 0.0,
        name: str = "network",
        *,
        motions: Mapping[int, Sequence[Motion | float | None]] | None = None,
        bodies: Sequence[RigidBody] = (),
    ) -> None:
        self.points = reals(points, "points")
        if self.points.ndim != 2 or self.points.shape[1] != 3 or not len(self.points):
            raise ModelError(f"{name}: points", f"have the shape {self.points.shape}", "give an array (nodes, 3)")
        if not np.isfinite(self.points).all():
            node = int(np.argwhere(~np.isfinite(self.points))[0, 0])
            raise ModelError(f"{name}: node {node}", "is at no finite place", "give finite numbers, m")
        n = len(self.points)
        self.name = name
        self.elements = sequence(elements, "elements", "a sequence of Springs, Tetrahedra, …")
        for k, given in enumerate(self.elements):
            of_kind(given, Elements, f"elements[{k}]", "a set of elements such as Springs")
        self.fixed = np.zeros(n, dtype=bool)
        for node in sequence(fixed, "fixed", "numbers of nodes"):
            if not isinstance(node, (int, np.integer)) or not 0 <= node < n:
                raise ModelError(f"{name}: fixed", f"names the node {node!r}", f"give numbers from 0 to {n - 1}")
            self.fixed[node] = True
        self.gravity = numbers(gravity, "gravity", (3,))
        self.masses = self._of_nodes(masses, "masses")
        self.drag = self._of_nodes(drag, "drag")
        self.motions = {} if motions is None else self._motions(motions)
        self.bodies = sequence(bodies, "bodies", "a sequence of RigidBody")
        self._held = self._not_by_themselves()
        self._mounted = [(body.nodes, body.at_home(self.points, self.masses)) for body in self.bodies]
        self._check(elements)
        self._sets = [(e.kind, e.nodes, e.numbers_at(self.points)) for e in self.elements if e.kind is not DAMPER]
        self._owners = [e for e in self.elements if e.kind is not DAMPER]
        for kind, nodes, given in self._sets:
            number_of(kind)
            if is_added(kind):
                check_gradients(kind, given, self.points[nodes])

    def _of_nodes(self, values: ArrayLike, what: str) -> Array:
        given = reals(values, what)
        if given.shape not in ((), (len(self.points),)):
            raise ModelError(
                f"{self.name}: {what}",
                f"have the shape {given.shape}",
                f"give one, or one for each of {len(self.points)}",
            )
        return np.array(np.broadcast_to(given, len(self.points)), dtype=np.float64)

    def _motions(self, motions: Any) -> dict[int, tuple[Motion, Motion, Motion]]:
        of_kind(motions, Mapping, "motions", "a mapping of nodes to three motions")
        found, three = {}, "three Motions, numbers or None: displacements along x, y and z"
        for node, given in motions.items():
            if not isinstance(node, (int, np.integer)) or not 0 <= node < len(self.points):
                raise ModelError(
                    f"{self.name}: motions", f"name the node {node!r}", f"give numbers from 0 to {len(self.points) - 1}"
                )
            along = sequence(given, f"motions[{node}]", three)
            if len(along) != 3:
                raise ModelError(f"{self.name}: motions[{node}]", f"has {len(along)} entries", f"give {three}")
            x, y, z = (
                m if isinstance(m, Motion) else Motion((0.0 if m is None else real(m, f"motions[{node}]", three),))
                for m in along
            )
            found[int(node)] = (x, y, z)
        return found

    def _not_by_themselves(self) -> NDArray[np.bool_]:
        """Nodes that are held, on supports that move, or on bodies; ModelError if one is two of these."""
        held = self.fixed.copy()
        claims = [(f"motions[{a}]", np.array([a])) for a in self.motions]
        for k, body in enumerate(self.bodies):
            of_kind(body, RigidBody, f"bodies[{k}]", "a RigidBody")
            outside = (body.nodes < 0) | (body.nodes >= len(self.points))
            if outside.any():
                raise ModelError(
                    f"{self.name}: {body.name}", f"carries the node {int(body.nodes[outside][0])}",
                    f"give numbers from 0 to {len(self.points) - 1}",
                )  # fmt: skip
            claims.append((body.name, body.nodes))
        for who, nodes in claims:
            if held[nodes].any():
                raise ModelError(
                    f"{self.name}: node {int(nodes[held[nodes]][0])}",
                    f"is held, moved or carried already, beside {who}", "name it once among fixed, motions and bodies",
                )  # fmt: skip
            held[nodes] = True
        for body in self.bodies:
            if self.drag[body.nodes].any():
                raise ModelError(
                    f"{self.name}: drag", f"is not 0 of node {int(body.nodes[self.drag[body.nodes] != 0.0][0])}, which "
                    f"{body.name} carries", "give an array with 0 there: drag is that of points",
                )  # fmt: skip
        return held

    def _check(self, elements: Sequence[Elements]) -> None:
        n = len(self.points)
        joined = self._held.copy()
        for given in elements:
            outside = (given.nodes < 0) | (given.nodes >= n)
            if outside.any():
                e = int(np.argwhere(outside)[0, 0])
                given.wrong(e, f"joins nodes that there are not (there are 0 … {n - 1})", "give nodes of the network")
            joined[given.nodes] = True
        massless = ~self._held & ~(np.isfinite(self.masses) & (self.masses > 0.0))
        for wrong, what, remedy in (
            (massless, "has the mass {m:.6g} kg", "give it a positive mass, or hold it (fixed)"),
            (~joined, "is joined by no element", "take it out of the mesh, or hold it (fixed)"),
            (~(self.drag >= 0.0) | ~np.isfinite(self.drag), "has a drag that is negative or not finite",
             "give a rate in 1/s, not negative"),
        ):  # fmt: skip
            if wrong.any():
                a = int(np.flatnonzero(wrong)[0])
                raise ModelError(f"{self.name}: node {a}", what.format(m=self.masses[a]), remedy)

    def __repr__(self) -> str:
        counted = ", ".join(f"{len(e)} {e.kind.name}" for e in self.elements)
        held = f", {int(self.fixed.sum())} held" if self.fixed.any() else ""
        moved = f", {len(self.motions)} moved" if self.motions else ""
        carried = f", {sum(len(b.nodes) for b in self.bodies)} on {len(self.bodies)} bodies" if self.bodies else ""
        return f"<Network {self.name!r}: {len(self.points)} nodes{held}{moved}{carried}; {counted}>"

    # --- steps --------------------------------------------------------------------------------------------------------

    @property
    def _inverse_masses(self) -> Array:
        return np.where(self._held, 0.0, 1.0 / np.where(self._held, 1.0, self.masses))

    @property
    def poses(self) -> Array:
        """(m, 7): where the principal axes of the bodies at their centres of mass are at home, m and quaternions."""
        return np.array([home.pose for _, home in self._mounted]).reshape(-1, 7)

    def _carried(self, poses: Array) -> Carried | None:
        return carried_at(len(self.points), self._mounted, poses) if self.bodies else None

    @cached_property
    def _limits(self) -> tuple[float, list[Array], list[Array]]:
        """The smallest stable step of an element, the multiples of it of all elements, and their frequencies."""
        omega = self.frequencies()
        return (*steps_of(omega), omega)

    @cached_property
    def _levels(self) -> list[NDArray[np.int64]]:
        """How often the smallest step is doubled for every element."""
        return levels_of(self._limits[1])

    @property
    def _depth(self) -> int:
        """Doublings from the smallest step to the largest."""
        return int(max([0, *(int(level.max(initial=0)) for level in self._levels)]))

    @cached_property
    def packed(self) -> Packed:
        """The flat arrays of the kernels."""
        depth = self._depth
        sets = [
            (kind, nodes, values, level, np.minimum(multiple * 0.5**depth, 1.0))
            for (kind, nodes, values), level, multiple in zip(self._sets, self._levels, self._limits[1], strict=True)
        ]
        bodies = [(home.numbers, nodes, home.places) for nodes, home in self._mounted]
        owned = Owned(self._held, self.points, self.motions, bodies)
        return pack(sets, self._dampers, self.masses, owned, self.drag, self.gravity, depth)

    @cached_property
    def _dampers(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """Nodes, coefficients and levels of the dampers between nodes that move: with the shortest step of an element
        at one of their nodes.
        """
        found = [
            (d.nodes, d.numbers_at(self.points)[:, 0])
            for d in self.elements
            if d.kind is DAMPER and len(d)
        ]  # fmt: skip
        nodes = np.concatenate([np.zeros((0, 2), dtype=np.int64), *(nodes for nodes, _ in found)])
        cs = np.concatenate([np.zeros(0), *(c for _, c in found)])
        useful = (cs > 0.0) & ~self._stands[nodes].all(axis=1)
        finest = np.full(len(self.points), self._depth)
        for (_, joined, _), level in zip(self._sets, self._levels, strict=True):
            np.minimum.at(finest, joined.ravel(), np.repeat(level, joined.shape[1]))
        levels = finest[nodes].min(axis=1) if len(nodes) else np.zeros(0, dtype=np.int64)
        return nodes[useful], cs[useful], levels[useful]

    @property
    def _stands(self) -> NDArray[np.bool_]:
        """Nodes that nothing moves: held, or on supports."""
        stands = self.fixed.copy()
        stands[list(self.motions)] = True
        return stands

    def step(self, safety: float = SAFETY) -> float:
        """The step for the methods ``"AVI"``: the smallest of an element, doubled up to that of the slowest.

        Parameters
        ----------
        safety : float
            Part of the stable step h ω = 2 that every element takes, at its places in the network; 0.25 leaves room for
            resonances (up to about 0.5 of neighbours whose steps differ by a factor 2).

        Returns
        -------
        float
            s; infinite if no element is stiff.

        Raises
        ------
        ValueError
            A part that is not positive.
        """
        return positive(safety, "safety") * self._limits[0] * 2.0**self._depth

    def steps(self, safety: float = SAFETY) -> StepReport:
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
        ModelError
            No element is stiff.
        """
        largest = self.step(safety)
        if not np.isfinite(largest):
            raise ModelError(self.name, "has no stiff element", "give a step to integrate")
        omega = self._limits[2]
        s = int(np.argmax([w.max(initial=0.0) for w in omega]))
        level = np.concatenate(self._levels)
        return StepReport(
            safety, largest, largest * 0.5**self._depth, float(omega[s].max()),
            self._owners[s].says(int(omega[s].argmax())), tuple(int(x) for x in np.bincount(self._depth - level)),
            float(len(level) / np.sum(0.5**level)),
        )  # fmt: skip

    @cached_property
    def _vibrations(self) -> Vibrations:
        n, m = len(self.points), len(self.bodies)
        root = np.zeros((3 * n, 3 * n + 6 * m))
        own = np.flatnonzero(self._inverse_masses > 0.0)
        for c in range(3):
            root[3 * own + c, 3 * own + c] = np.sqrt(self._inverse_masses[own])
        for b, (nodes, home) in enumerate(self._mounted):
            R, first = so3.as_matrix(home.pose[3:]), 3 * n + 6 * b
            for a, place in zip(nodes, home.places, strict=True):
                turns = np.cross(np.eye(3), place) @ R.T  # rows e_k × r, in space
                root[3 * a : 3 * a + 3, first : first + 3] = np.sqrt(home.numbers[1]) * np.eye(3)
                root[3 * a : 3 * a + 3, first + 3 : first + 6] = turns.T * np.sqrt(home.numbers[2:])
        moved = root[:, root.any(axis=0)]
        return Vibrations(self._sets, self._levels, self.points, moved)

    def resonances(self, step: float | None = None, weights: Sequence[float] = (1.0,)) -> list[Resonance]:
        """Whether the vibrations about the places of the network grow with asynchronous steps, however small they are.

        Parameters
        ----------
        step : float, optional
            The largest step of an element, s; default that of `step`.
        weights : sequence of float
            Of a composition: ``METHODS["AVI_SUZUKI4"].coefficients``; its parts.

        Returns
        -------
        list of Resonance
            The strongest one, by its element, or none.  Dampers and drag are left out: they remove weak ones.

        Raises
        ------
        ValueError
            A step that is not positive.

        Notes
        -----
        The steps of all elements are looked at together, in the linear motion about the places: see
        `mechanics.elastic.resonance`.  Half a period of the fastest vibration is no rule for several modes.  It takes
        time with the third power of the nodes: seconds for two hundred.  Runs look by themselves at networks of up to
        30 nodes.

        References
        ----------
        Fong, Darve and Lew 2008.

        Examples
        --------
        >>> from mechanics.elastic import Network, Springs
        >>> chain = Network([[k, 0, 0] for k in range(4)], 1.0, [Springs([[0, 1], [1, 2], [2, 3]], [200.0, 1.0, 1.0])])
        >>> chain.resonances()
        []
        """
        h = self.step() if step is None else positive(step, "step")
        found = self._vibrations.growing(h, [real(w, "weights") for w in sequence(weights, "weights", "numbers")])
        if found is None:
            return []
        growth, s, e, omega = found
        own = float(h * 0.5 ** (self._depth - self._levels[s][e]))
        return [Resonance(self._owners[s].says(e), own, omega, growth / h)]

    def doubts(self, y: Array, h: float) -> list[Doubt]:
        """Whether elements have steps beyond their limits, or in resonance with vibrations (of small networks), or may
        pass through themselves within one, or bodies turn far between the kicks of an element at a node of theirs, for
        steps of size h from a state; by the worst element or body.

        Parameters
        ----------
        y : array (6n + 13m,)
            The state of `problem` with m bodies: positions, m, poses, momenta, kg·m/s, and momenta of the bodies,
            kg·m/s and kg·m²/s.
        h : float
            The step of the run, s.

        Returns
        -------
        list of Doubt
            Empty, or some.
        """
        return doubts(self, y, h)

    # --- the motion ---------------------------------------------------------------------------------------------------

    def problem(
        self,
        positions: ArrayLike | None = None,
        velocities: ArrayLike | None = None,
        *,
        poses: ArrayLike | None = None,
        twists: ArrayLike | None = None,
        time: float = 0.0,
    ) -> Problem:
        """The motion from positions and velocities.

        Parameters
        ----------
        positions : array (n, 3), optional
            m; default the places of the nodes.  Those of fixed nodes are held; those on supports that move and on
            bodies are where these have them.
        velocities : array (n, 3), optional
            m/s; default at rest.
        poses : array (m, 7), optional
            Of the bodies: places of their centres of mass, m, and quaternions of their principal axes; default `poses`.
        twists : array (m, 6), optional
            Velocities of the bodies, m/s and rad/s, in these axes; default at rest.
        time : float
            When the motion begins, s: supports that move are there where they are then.

        Returns
        -------
        Problem
            State (x, poses, p, momenta of bodies), canonical on R³ⁿ × SE(3)ᵐ.  Watches the energy; with supports that
            move also the `balance`, the energy less their work, which stands where p of these nodes would; where
            nothing is held and nothing weighs, the momenta about the origin.

        Raises
        ------
        ModelError
            An element turned inside out, by its number; nodes on supports or bodies somewhere else, or with velocities
            of their own; a start at which a motion is not known.
        ValueError
            Other shapes; numbers that are not finite; fixed nodes that move.
        """
        return network_problem(self, positions, velocities, poses, twists, time)

    def attached_to(self, mechanism: Tree | Mechanism, owners: Mapping[int, Frame]) -> Mechanism:
        """The network on bodies of a tree or mechanism: a cable on a crane, a spring between robots.

        Parameters
        ----------
        mechanism : Tree or Mechanism
            What it is attached to; with the gravity of the network.
        owners : mapping of int to Frame
            The frames that nodes are fixed in, with their masses; at home they are where the nodes are.

        Returns
        -------
        Mechanism
            The other nodes are bodies "name k" that slide along x, y and z from their places, those of `fixed` are
            points of the base; the elements are force elements.  Its home is that of the mechanism, then zeros.

        Raises
        ------
        ModelError
            Nodes that there are not, or that are not where their owners are; another gravity; drag; elements other than
            springs, cables and dampers: by the node, or the element.

        Notes
        -----
        Every method for mechanisms takes it (``"TREE_VARIATIONAL"``); steps of their own for the elements
        (``"AVI"``) need the network alone.

        Examples
        --------
        A load on a rope from the tip of an arm:

        >>> from mechanics import Body, Frame, Inertia, Tree
        >>> from mechanics.elastic import Cables, Network
        >>> from mechanics.joints import Revolute
        >>> arm = Tree([Body("arm", Revolute((0, 1, 0)), inertia=Inertia.about_com(20.0, (1, 0, 0), np.eye(3)))])
        >>> points = [[2, 0, 0], [2, 0, -0.5], [2, 0, -1]]
        >>> rope = Network(points, [0.1, 0.2, 5.0], [Cables([[0, 1], [1, 2]], 1e4)], name="rope")
        >>> rope.attached_to(arm, {0: Frame("arm", (2, 0, 0))}).tree.body_names
        ('arm', 'rope 0', 'rope 1', 'rope 2')
        """
        if self.drag.any():
            raise ModelError(f"{self.name}: drag", "is that of a network alone", "give the network none")
        if self.bodies:
            raise ModelError(
                f"{self.name}: {self.bodies[0].name}", "is a body of a network alone",
                "make it a body of the mechanism, and that the owner of its nodes",
            )  # fmt: skip
        n = len(self.points)
        masses = np.where(np.isfinite(self.masses) & (self.masses > 0.0), self.masses, 0.0)
        joints: list[Joint | None] = [None if held else SLIDES for held in self.fixed]
        for a, along in self.motions.items():
            joints[a] = Rheonomic(tuple(Slide(e, motion) for e, motion in zip(_AXES, along, strict=True)))
        axes = np.tile(np.eye(3), (n, 1, 1))
        return attached(
            self.name, mechanism, owners, joints, (self.points, axes), [Inertia.point(m) for m in masses],
            self.gravity, self._force_elements,
        )  # fmt: skip

    def _force_elements(self, frames: Sequence[Frame]) -> list[list[Element]]:
        """The elements, between the frames of the nodes."""
        made: list[list[Element]] = []
        for given in self.elements:
            numbers_of = given.numbers_at(self.points)
            for e, ((a, b), values) in enumerate(zip(given.nodes[:, :2], numbers_of, strict=True)):
                pair = frames[a], frames[b]
                if pair[0].body == pair[1].body:  # held by one body: it does nothing
                    continue
                if given.kind is SPRING:
                    made.append(spring_damper(*pair, values[0], length=values[1]))
                elif given.kind is CABLE:
                    made.append(cable(*pair, values[0], length=values[1]))
                elif given.kind is DAMPER:
                    made.append(spring_damper(*pair, 0.0, damping=values[0]))
                else:
                    given.wrong(e, "is no force element of mechanisms", "attach springs, cables and dampers only")
        return made

    @cached_property
    def _sparsity(self) -> Any:
        """That of the derivative of the field of every problem."""
        return sparsity(self)

    def potentials(self, positions: ArrayLike) -> list[Array]:
        """The potential of every element, set by set, without the dampers.

        Parameters
        ----------
        positions : array (n, 3)
            m.

        Returns
        -------
        list of array (m,)
            J.
        """
        return self._potentials(numbers(positions, "positions", self.points.shape))

    def _potentials(self, x: Array) -> list[Array]:
        with np.errstate(all="ignore"):
            return [potentials(kind, values, x[nodes])[0] for kind, nodes, values in self._sets]

    def forces(self, positions: ArrayLike) -> Array:
        """The forces of all elements on the nodes, those on held nodes included (minus the reactions of the supports),
        without gravity and dampers.

        Parameters
        ----------
        positions : array (n, 3)
            m.

        Returns
        -------
        array (n, 3)
            N.
        """
        x = numbers(positions, "positions", self.points.shape)
        force = np.zeros_like(x)
        for kind, nodes, values in self._sets:
            np.add.at(force, nodes, -potentials(kind, values, x[nodes])[1])
        return force

    def frequencies(self, positions: ArrayLike | None = None) -> list[Array]:
        """ω of every element with its share of the masses, set by set: the largest is not below that of the network.

        Parameters
        ----------
        positions : array (n, 3), optional
            m; default the places of the nodes.

        Returns
        -------
        list of array (m,)
            rad/s.

        References
        ----------
        Irons and Treharne 1971.
        """
        x = self.points if positions is None else numbers(positions, "positions", self.points.shape)
        return frequencies(self._sets, self._inverse_masses, x, self._carried(self.poses))
