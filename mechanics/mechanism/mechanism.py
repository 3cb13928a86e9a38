"""A mechanism: a tree of bodies, loop closures and force elements, with the rank of its closures decided once."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Doubt, Guard, OwnStep, Problem, Variable
from integrators.problem.dependence import NEAR_SINGULAR
from integrators.problem.fields import differentiating
from integrators.problem.times import begins_at
from liegroup.arrays import integer, of_kind, real, reals, sequence
from liegroup.compile import Entry
from liegroup.display import card
from liegroup.group import product, rn
from mechanics import dynamics
from mechanics.algorithms.batch import once
from mechanics.closed_trees.connected import derivative_sparsity
from mechanics.closed_trees.derivatives import LARGEST, with_derivatives
from mechanics.closed_trees.description import PARTS, checked_mobility
from mechanics.closed_trees.directions import directions_of
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.packing import PackedLoops, Solved, pack_loops
from mechanics.closed_trees.projection import (
    closed_invariants,
    closed_invariants_and_momentum,
    closed_projection,
    input_powers,
)
from mechanics.constraints.assembly import (
    ACCEPTED,
    CLOSED,
    Assembly,
    Velocities,
    assemble,
    canonical_units,
    check_axes,
    check_regular,
    consistent_velocities,
    gap_units,
    moved_by,
    size_of,
    units_of,
)
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.loops import Closure
from mechanics.constraints.mobility import Mobility, hardly_held, mobility, nearness, usual_pivot
from mechanics.derivatives.mechanisms import rhs_derivatives
from mechanics.errors import ModelError, ModelWarning
from mechanics.forces import Element, OnBodies
from mechanics.forces.actuator import Actuator, as_command
from mechanics.forces.compliant import check_ends
from mechanics.forces.motor import Motor
from mechanics.forces.tendon import Tendon
from mechanics.forces.thruster import Thruster
from mechanics.guards import (
    OPEN,
    SLIPPING,
    STRAINED,
    closure_guards,
    pivot_guard,
    slip_guard,
    speed_at_play,
    tree_guards,
)
from mechanics.joints import Motion
from mechanics.mechanism.loads import flat_wheel, state_doubts
from mechanics.mechanism.momenta import conserved_momenta, kept_momenta
from mechanics.mechanism.springs import FastestSpring, begins_beyond, fastest_spring, step_doubts
from mechanics.model.picture import svg
from mechanics.model.tree import Tree
from mechanics.model.words import named
from mechanics.scenes import draw_configuration, mechanism_scene, show_configurations
from mechanics.states import evaluate
from mechanics.variational.own_step import variational_step, variational_steps

Array = NDArray[np.float64]
Projection = Literal["positions", "momenta", "none"]
"""What is done after every step (`Mechanism.problem`): loops closed and momenta re-based, momenta only, nothing."""
NOT_FAR = 0.2
"""A singular position is named as a cause if the smallest singular value is below this part of its usual value."""


def _are(names: Sequence[str]) -> str:
    return f"are {', '.join(names[:12])}{' …' if len(names) > 12 else ''}" if names else "are none"


_STRAIN, _ROUNDING = 0.1, 1e-13
"""A displacement of all joints, in what counts as one, and the part of the energy of its strains that rounding is."""
FORMAT = 1
"""Version of the dictionaries."""
_ELEMENTS = "lists of force elements, such as joint_spring(…), or the elements themselves"


def _read(where: str, data: Any) -> Any:
    """A closure or force element of a dictionary; ModelError with its place."""
    try:
        with named(where):
            return PARTS.read(data)
    except ModelError as error:
        place = error.where if error.where == where else f"{where}: {error.where}"
        raise ModelError(place, error.problem, error.remedy) from None


class Mechanism:
    """A tree with loop closures and force elements.

    Parameters
    ----------
    tree : Tree
        The mechanism with its loops opened.
    closures : iterable of Closure
        See `mechanics.constraints.loops`; redundant ones are a normal case.
    home : array (nq,), optional
        A closed configuration, rad and m, from which rank and redundancy are found; default the neutral one.
        `Mechanism.assembled` finds it from a rough guess.
    elements : iterable of force elements, or of lists of them
        From the functions of `mechanics.forces`; those of another mechanism are its `elements`.
    rank : int, optional
        Overrides the rank that is found.
    name : str, optional
        For messages and results; default that of the tree.

    Attributes
    ----------
    equations : LoopEquations
    mobility : Mobility
        Rank, degrees of freedom, redundancy.

    Raises
    ------
    ModelError
        `home` is not closed: with the gap of every closure.
    ValueError, TypeError
        Arrays of other sizes, numbers that are not finite, things of another kind.

    Warns
    -----
    ModelWarning
        `home` is a singular position: the closures have a smaller rank there than elsewhere; or next to one, as rounded
        data make it of closures that depend on each other.

    References
    ----------
    Ivanov 2022, eqs. (5) and (6), corrected: momenta p* with the impulses of the closures.

    Examples
    --------
    A four-bar linkage, closed from rough angles of its three moving bars:

    >>> import numpy as np
    >>> from mechanics import Body, Frame, Inertia, Mechanism, Tree, constraints, joints
    >>> bar, hinge = Inertia.about_com(1.0, (0.5, 0.0, 0.0), 0.1 * np.eye(3)), joints.Revolute((0.0, 1.0, 0.0))
    >>> crank = Body("crank", hinge, inertia=bar, joint_name="a")
    >>> coupler = Body("coupler", hinge, "crank", (1.0, 0.0, 0.0), inertia=bar, joint_name="b")
    >>> rocker = Body("rocker", hinge, "coupler", (1.0, 0.0, 0.0), inertia=bar, joint_name="c")
    >>> pin = constraints.revolute(
    ...     Frame.with_axis(None, (2.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ...     Frame.with_axis("rocker", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ... )
    >>> linkage = Mechanism.assembled(Tree([crank, coupler, rocker]), [pin], guess=[-1.0, 1.0, 1.0], hold=["a"])
    >>> linkage
    <Mechanism 'tree': 3 bodies, 5 closure equations of rank 2, dof 1>
    >>> linkage.gap(linkage.home).round(9).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0]
    >>> v = linkage.velocities(linkage.home, {"a": 1.0}).v
    >>> float(abs(linkage.closing_velocity(linkage.home, v)).max()) < 1e-12
    True
    >>> linkage.with_start(rates={"a": 1.0}).problem()
    <Problem 'tree': on R^3 × R^3, watching energy, gap, velocity_gap, pivot>
    """

    def __init__(
        self,
        tree: Tree,
        closures: Iterable[Closure] = (),
        home: ArrayLike | None = None,
        elements: Iterable[Element | Sequence[Element]] = (),
        rank: int | None = None,
        name: str | None = None,
    ) -> None:
        self._consist(tree, closures, elements, name)
        rank = None if rank is None else integer(rank, "rank", hint=", or None")
        self.home = self._closed(tree.neutral() if home is None else home, "home")
        self.mobility: Mobility = mobility(self.equations, self.home, rank)
        if rank is None and self.mobility.is_singular_at_home:
            self._warn_of_singular_home()
        elif rank is None and self.mobility.rank:
            self._warn_of_rounded_data()
        self._start: tuple[Array, Array] | None = None

    def _consist(
        self,
        tree: Tree,
        closures: Iterable[Closure],
        elements: Iterable[Element | Sequence[Element]],
        name: str | None,
    ) -> None:
        of_kind(tree, Tree, "tree", "a Tree")
        of_kind(name, (str, type(None)), "name", "a text")
        self.tree, self.name = tree, name or tree.name
        self.equations = LoopEquations(tree, closures)
        self.elements: tuple[Element, ...] = tuple(
            e
            for group in sequence(elements, "elements", _ELEMENTS)
            for e in ((group,) if isinstance(group, Element) else sequence(group, "elements", _ELEMENTS))
        )
        for element in self.elements:
            of_kind(element, Element, "elements", _ELEMENTS)
        self.size = size_of(tree, self.equations.closures)

    def _warn_of_singular_home(self) -> None:
        m = self.mobility
        ranks = f"its closures have rank {m.at_home} there and {m.rank} elsewhere ({', '.join(m.at_stake)})"
        remedy = f"give another home, or rank={m.at_home} if the motion stays in such positions"
        warnings.warn(f"home of {self.name!r} is a singular position: {ranks}; {remedy}", ModelWarning, stacklevel=3)

    def _warn_of_rounded_data(self) -> None:
        rank = self.mobility.rank
        few, names, may_be_given = hardly_held(self.equations, self.home, rank)
        if few:
            what = f"{few} of {rank} equations of {self.name!r} hold next to nothing at home ({', '.join(names)})"
            why = "as where data are rounded of equations that depend on each other; forces are without meaning then"
            if not self.mobility.dof:
                why += ", and nothing moves"
            remedy = "a home away from singular positions" + (f", or rank={rank - few}" if may_be_given else "")
            warnings.warn(f"{what}, {why}; give more digits, {remedy}", ModelWarning, stacklevel=3)

    @staticmethod
    def assembled(
        tree: Tree,
        closures: Iterable[Closure],
        guess: ArrayLike | None = None,
        hold: Sequence[str] = (),
        elements: Iterable[Element | Sequence[Element]] = (),
        rank: int | None = None,
        name: str | None = None,
    ) -> Mechanism:
        """A mechanism closed from rough coordinates; joints of `hold` keep theirs (see
        `mechanics.constraints.assembly.assemble`).

        Parameters
        ----------
        tree, closures, elements, rank, name
            As of the class.
        guess : array (nq,), optional
            Where to start, rad and m; default the neutral configuration.
        hold : sequence of str
            Joints that keep their coordinates.

        Returns
        -------
        Mechanism
            With the closed configuration as its `home`.

        Raises
        ------
        AssemblyError
            It does not close: with the gap of every closure.
        """
        of_kind(tree, Tree, "tree", "a Tree")
        closures = sequence(closures, "closures", "closures of mechanics.constraints")
        return Mechanism(tree, closures, assemble(tree, closures, guess, hold).q, elements, rank, name)

    def to_dict(self) -> dict[str, Any]:
        """The mechanism in plain lists, strings and numbers, for ``json.dump``: tree, closures, force elements, home,
        what was decided about rank and redundancy, and the start of `with_start`; not how bodies look.

        Returns
        -------
        dict
            For `from_dict`.

        Raises
        ------
        ModelError
            A force element of a kind that is not registered, or with a field that is a function.
        """
        return {
            "format": FORMAT,
            "name": self.name,
            "tree": self.tree.to_dict(),
            "closures": [PARTS.of(closure) for closure in self.equations.closures],
            "elements": [PARTS.of(element) for element in self.elements],
            "home": self.home.tolist(),
            "mobility": PARTS.of(self.mobility),
            "start": None if self._start is None else [x.tolist() for x in self._start],
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Mechanism:
        """The mechanism of `to_dict`: its problems have the same numbers to the last bit, on any machine.

        Nothing in the dictionary is run as code; functions that closures were given as are there as lists of
        operations, which are checked.

        Parameters
        ----------
        data : mapping
            What `to_dict` gave.

        Returns
        -------
        Mechanism
            Equal to the last bit.

        Raises
        ------
        ModelError
            What is missing, unknown or wrong, and where.

        Examples
        --------
        >>> import json
        >>> from mechanics.systems import SYSTEMS
        >>> linkage = SYSTEMS["four-bar"].mechanism()
        >>> again = Mechanism.from_dict(json.loads(json.dumps(linkage.to_dict())))
        >>> bool((again.packed().parameters == linkage.packed().parameters).all())
        True
        """
        where = "dictionary of a mechanism"
        if not isinstance(data, Mapping) or data.get("format") != FORMAT or "mobility" not in data:
            found = data.get("format") if isinstance(data, Mapping) else type(data).__name__
            raise ModelError(where, f"its format is {found!r}", f"give what Mechanism.to_dict makes (format {FORMAT})")
        made = Mechanism.__new__(Mechanism)
        with named(where):
            parts = [
                [_read(f"{what} {k}", item) for k, item in enumerate(sequence(data[f"{what}s"], f"{what}s", "a list"))]
                for what in ("closure", "element")
            ]
            made._consist(Tree.from_dict(data["tree"]), parts[0], [parts[1]], data["name"])
            made.home = made._closed(data["home"], "home")
            made.mobility = checked_mobility(PARTS.read(data["mobility"]), len(made.equations), made.tree.nv)
            made._start = None
            if data["start"] is not None:
                q, v = data["start"]
                made._start = made.start(q, v, None)
            made.packed()  # refuses what acts on a joint or a body that the tree does not have
        return made

    def __repr__(self) -> str:
        m = self.mobility
        equations = f"{len(self.equations)} closure equations of rank {m.rank}"
        return f"<Mechanism {self.name!r}: {len(self.tree)} bodies, {equations}, dof {m.dof}>"

    def _repr_html_(self) -> str:
        m, closures = self.mobility, self.equations.closures
        facts = [
            *self.tree._facts(),
            ("closures", ", ".join(repr(closure).strip("<>") for closure in closures)),
            ("equations", f"{len(self.equations)} of rank {m.rank}: {m.dof} degrees of freedom"),
            ("force elements", ", ".join(map(str, self.elements))),
        ]
        joined = [(c.first.body, c.second.body, c.name) for c in closures if not c.couples]
        return card(self.name, facts, svg(self.tree, joined), self.tree._noted())

    # --- configurations and velocities --------------------------------------------------------------------------------

    def _numbers(self, values: ArrayLike, what: str, size: int) -> Array:
        """Configurations or velocities of the tree, one number per coordinate."""
        x = reals(values, what)
        if x.shape != (size,) or not np.isfinite(x).all():
            many = (
                "; one at a time: a problem takes many starts by with_start([made.problem(q, v).y0 for q, v in starts])"
            )
            raise ValueError(
                f"{what}: shape {x.shape}, expected {size} finite numbers in the order of the joints"
                + (many if x.ndim == 2 and x.shape[1] == size else "")
            )
        return x

    def _closed(self, values: ArrayLike, what: str, t: float = 0.0) -> Array:
        q = self._numbers(values, what, self.tree.nq)
        phi = np.abs(self.equations.gap(q, t)) if len(self.equations) else np.zeros(1)
        relative = phi / gap_units(self.equations, self.size) if len(self.equations) else phi
        worst = int(np.argmax(relative))
        if relative[worst] > ACCEPTED:
            equation = self.equations.names[worst]
            raise ModelError(
                f"{what} of {self.name!r}",
                f"is open by {phi[worst]:.3g}: {equation}",
                "close it with Mechanism.assembled or .assemble",
            )
        check_axes(self.equations, q, f"{what} of {self.name!r}: ", t)
        return q

    def assemble(self, guess: ArrayLike, hold: Sequence[str] = ()) -> Assembly:
        """A closed configuration near a guess, and what had to move.

        Parameters
        ----------
        guess : array (nq,)
            Where to start, rad and m.
        hold : sequence of str
            Joints that keep their coordinates.

        Returns
        -------
        Assembly
            Its `q`, the gap that is left, what moved.

        Raises
        ------
        AssemblyError
            It does not close: with the gap of every closure.
        """
        return assemble(self.tree, self.equations.closures, guess, hold, self.equations)

    def velocities(self, q: ArrayLike, rates: Mapping[str, ArrayLike], t: float = 0.0) -> Velocities:
        """Velocities that keep the loops closed and give the named joints their rates; others as small as possible.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        rates : mapping of str to float or array
            Rates of joints by name, rad/s and m/s.
        t : float
            Time, s.

        Returns
        -------
        Velocities
            `v`, how many velocities were free, and what of the rates could not be met.

        Raises
        ------
        ModelError
            q is open; KeyError for an unknown joint.
        """
        return consistent_velocities(self.equations, self._closed(q, "q", t), rates, self.mobility.rank, t)

    def gap(self, q: ArrayLike, t: float = 0.0) -> Array:
        """Gaps φ of all closure equations.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        t : float
            Time, s.

        Returns
        -------
        array (m,)
            Metres, and cosines for equations of turns.
        """
        return np.asarray(self.equations.gap(self._numbers(q, "q", self.tree.nq), real(t, "t")))

    def closing_velocity(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Rates φ̇ of all closure equations.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        v : array (nv,)
            Velocities, rad/s and m/s.
        t : float
            Time, s.

        Returns
        -------
        array (m,)
            m/s, and 1/s for equations of turns.
        """
        q, v = self._numbers(q, "q", self.tree.nq), self._numbers(v, "v", self.tree.nv)
        return np.asarray(self.equations.rate(geometry(self.tree, q, v, real(t, "t"))))

    # --- for the integrators ------------------------------------------------------------------------------------------

    @cached_property
    def tolerances(self) -> Array:
        """|φ| of every equation that counts as closed."""
        return CLOSED * gap_units(self.equations, self.size)

    @cached_property
    def pivot_at_home(self) -> float:
        """The smallest pivot of the closures at `home`, scaled as where they are solved: what is next to nothing of it
        has lost rank.
        """
        return usual_pivot(self.equations, self.mobility, self.home)

    @property
    def solved(self) -> Solved:
        """Which equations the kernels solve."""
        m = self.mobility
        return Solved(m.kept, m.rank, m.scales, m.starts)

    def packed(self, close_positions: bool = True) -> PackedLoops:
        """The arrays for the kernels.

        Parameters
        ----------
        close_positions : bool
            Whether the projection after a step closes positions, too.

        Returns
        -------
        PackedLoops
            Parameters, structure and shape of the workspace.
        """
        return pack_loops(self.tree, self.equations, self.solved, self.elements, self.tolerances, close_positions)

    def start(
        self,
        q: ArrayLike | None,
        v: ArrayLike | None,
        rates: Mapping[str, ArrayLike] | None,
        t: float = 0.0,
    ) -> tuple[Array, Array]:
        """A checked start: closed configuration (default `home`) and velocities (default rest) that keep it closed.

        Without any of them: that of `with_start`, which is rest at `home` unless another was given.

        Parameters
        ----------
        q : array (nq,), optional
            Closed configuration, rad and m.
        v : array (nv,), optional
            Velocities, rad/s and m/s, that keep it closed.
        rates : mapping of str to float or array, optional
            Instead of v: rates of joints by name, rad/s and m/s.
        t : float
            Time, s: it matters with prescribed motions and closures that move; what `with_start` was given holds at
            t = 0 and is checked at another.

        Returns
        -------
        q, v : array (nq,), (nv,)
            Checked.

        Raises
        ------
        ModelError
            q is open, v opens the loops, or a spring has no direction, as its ends coincide; ValueError for both v and
            rates.
        """
        if self._start is not None and q is None and v is None and rates is None:
            q, v = self._start[0].copy(), self._start[1].copy()
            if t == 0.0:  # when it was checked
                return q, v
        q0 = self._closed(self.home if q is None else q, "q", t)
        check_ends(self.elements, self.tree.body_names, partial(dynamics.body_poses, self.tree, q0, t=t))
        return q0, self._velocity(q0, v, rates, t)

    def with_start(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
    ) -> Mechanism:
        """The same mechanism, whose problems start from here unless another start is given; default rest at `home`.

        Parameters
        ----------
        q : array (nq,), optional
            Closed configuration, rad and m.
        v : array (nv,), optional
            Velocities, rad/s and m/s, that keep it closed.
        rates : mapping of str to float or array, optional
            Instead of v: rates of joints by name, rad/s and m/s.

        Returns
        -------
        Mechanism
            A copy.
        """
        made = copy(self)
        made._start = self.start(self.home if q is None else q, v, rates)
        return made

    @property
    def actuators(self) -> dict[str, Actuator | Thruster]:
        """The actuators and thrusters that have a name, in the order of the elements: their ranges, and the commands
        they have.
        """
        return {e.name: e for e in self.elements if isinstance(e, Actuator | Thruster) and e.name}

    def with_commands(self, commands: Mapping[str, float | Motion]) -> Mechanism:
        """The same mechanism, whose actuators have other commands.

        Parameters
        ----------
        commands : mapping of str to float or Motion
            By names of `actuators`, in the units of their gains: numbers, or motions of time.  The others keep theirs.

        Returns
        -------
        Mechanism
            A copy.

        Raises
        ------
        KeyError
            No such actuator.
        TypeError
            A command that is neither a number nor a Motion.

        Examples
        --------
        >>> from mechanics import Body, Inertia, Mechanism, Tree, forces, joints
        >>> arm = Body("arm", joints.Revolute((0, 1, 0)), inertia=Inertia.point(2.0, (0, 0, -0.5)), joint_name="elbow")
        >>> drive = forces.actuator("elbow", gain=100.0, bias=(0.0, -100.0, -5.0), name="drive")
        >>> moved = Mechanism(Tree([arm]), elements=[drive]).with_commands({"drive": 0.3})
        >>> moved.rhs([0.0], [0.0])[1].round(9).tolist()
        [30.0]
        """
        of_kind(commands, Mapping, "commands", "a mapping of names of actuators to commands")
        known = self.actuators
        for name in commands:
            if name not in known:
                raise KeyError(f"commands: no actuator {name!r}; there {_are(list(known))}")
        motions = {name: as_command(u, f"command of {name!r}") for name, u in commands.items()}
        return self._with(
            replace(e, motion=motions[e.name]) if isinstance(e, Actuator | Thruster) and e.name in motions else e
            for e in self.elements
        )

    def _with(self, elements: Iterable[Element]) -> Mechanism:
        """The mechanism with other force elements, and without what has been packed of its own."""
        made = copy(self)
        made.elements = tuple(elements)
        made.__dict__.pop("_packed", None)
        return made

    def problem(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        *,
        projection: Projection = "positions",
        t: float = 0.0,
    ) -> Problem:
        """The motion of the mechanism in Hamiltonian variables, y = (q, p*).

        Parameters
        ----------
        q : array (nq,), optional
            Closed configuration, rad and m; default `home`.
        v : array (nv,), optional
            Velocities, rad/s and m/s; they must keep the loops closed.  Default rest.
        rates : mapping of str to float or array, optional
            Instead of v: rates of joints by name (`velocities`), rad/s and m/s.  Without q, v and rates: the start of
            `with_start`.
        projection : {"positions", "momenta", "none"}
            After every step: "positions" closes the loops and re-bases the momenta, "momenta" only re-bases (gaps then
            grow with the truncation error, linearly in time), "none" leaves p* and its multipliers to accumulate (gaps
            grow like t²).  Without equations there is nothing to do.
        t : float
            When runs are to begin, s: it matters with prescribed motions and closures that move, whose start is one at
            that time.

        Returns
        -------
        Problem
            State (q, p*); watches energy, gap, velocity gap and the smallest pivot, and of what floats the momenta that
            nothing from outside changes.

        Raises
        ------
        ModelError
            q is open, or v opens the loops: with the closure and what to do.
        ValueError
            Another projection; both v and rates.
        """
        if projection not in ("positions", "momenta", "none"):
            raise ValueError(f"projection: {projection!r}, expected 'positions', 'momenta' or 'none'")
        self.tree.check_moves()
        t = real(t, "t")
        q0, v0 = self.start(q, v, rates, t)
        if beyond := begins_beyond(self, q0):
            warnings.warn(f"{self.name!r}: {beyond}", ModelWarning, stacklevel=2)
        packed, closes = self.packed(projection == "positions"), len(self.equations) > 0
        p0, has_room = self.momentum(q0, v0, t), self.tree.nv <= LARGEST
        with once():
            kinetic = float(dynamics.kinetic_energy(self.tree, q0, v0, t))
        names, units = conserved_momenta(self.tree, self.equations.closures, self.elements)
        shape = (
            with_derivatives(packed.structure, len(packed.parameters), *packed.work_shape)
            if has_room
            else packed.work_shape
        )
        return Problem(
            product(self.tree.group, rn(self.tree.nv)),
            np.concatenate([q0, p0]),
            differentiating(closed, (shape, packed.work_shape), by_complex_steps=True) if has_room else closed,
            parameters=packed.parameters,
            numerical=packed.numerical,
            structure=packed.structure,
            work_shape=shape,
            variables=self._variables(),
            invariants=closed_invariants_and_momentum if names else closed_invariants,
            invariant_names=("energy", "gap", "velocity_gap", "pivot", *names),
            invariant_units=("J", "m", "m/s", "", *units),
            guards=(
                *self._guards(q0, kinetic, projection == "positions"),
                *kept_momenta(self.tree, p0, names, self._is_driven()),
            ),
            explain=self.explain,
            doubts=self.state_doubts(momenta=True),
            directions=self.directions if len(self.equations) else None,
            jacobian_sparsity=derivative_sparsity(self.tree, self.equations, self.elements),
            projection=closed_projection if closes and projection != "none" else None,
            projection_tells=(closed_projection, closed_invariants, closed),
            autonomous=not (self.tree.is_rheonomic or any(element.reads_time for element in self.elements)),
            re_bases=closes and projection != "none",
            accumulates=closes and projection == "none",
            strikes=any(element.strikes for element in self.elements),
            has_kinks=any(element.has_kinks for element in self.elements),
            begins=self._begins(q0, v0, t),
            scales=canonical_units(self.tree, self.equations.closures),
            positions=self.tree.nv,
            own_steps=self._variational_steps(packed),
            model=self.name,
            scene=mechanism_scene(self),
            joints=self.tree,
            inputs=replace(packed.inputs, power=input_powers),
        )

    def _begins(self, q: Array, v: Array, t: float) -> float | None:
        """The time of a start by velocities that is none at other times: others then have its momenta, or close the
        loops.
        """
        if not self.tree.is_rheonomic and not self._closures_move(q):
            return None

        begins = begins_at(lambda s: self.momentum(q, v, s), t)
        return self.closes_at(q, v, t) if begins is None else begins

    def closes_at(self, q: Array, v: Array, t: float) -> float | None:
        """The time t of a start whose loops are open, or opened by its velocities, at other times; else None.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m.
        v : array (nv,)
            Velocities, rad/s and m/s.
        t : float
            Time of the start, s.

        Returns
        -------
        float or None
            For `Problem.begins`.
        """
        if not len(self.equations) or not (self.tree.is_rheonomic or self._closures_move(q)):
            return None
        units = gap_units(self.equations, self.size)

        def opened(s: float) -> Array:
            rates = self.equations.rate(geometry(self.tree, q, v, s))
            return np.concatenate([self.equations.gap(q, s) / units, rates / units])

        return begins_at(opened, t, 1.0 + float(np.abs(v / units_of(self.tree, self.size)).max(initial=0.0)))

    def _closures_move(self, q: Array) -> bool:
        return bool(len(self.equations)) and not np.array_equal(self.gap(q, 0.0), self.gap(q, 1.0))

    def show(self, q: ArrayLike | None = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """One configuration to look at, or several to step through, as `Tree.show`.

        Parameters
        ----------
        q : array (nq,) or (k, nq), optional
            Default `home`.  Angles in rad, lengths in m.
        path : path, optional
            Ends in ``.html``, ``.gif``, ``.mp4`` or ``.glb``.  Default: a page for a notebook.
        **options
            As for `integrators.scenes.animate`.

        Returns
        -------
        Path or Page
            What was written, or the page.
        """
        return show_configurations(mechanism_scene(self), self.home if q is None else q, path, **options)

    def draw(self, q: ArrayLike | None = None, ax: Any = None, **options: Any) -> Any:
        """A picture of one configuration in matplotlib axes: bodies as `Tree.draw`, springs and rods of fixed
        length.

        Parameters
        ----------
        q : array (nq,), optional
            Default `home`.  Angles in rad, lengths in m.
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
        """
        return draw_configuration(mechanism_scene(self), self.home if q is None else q, ax, **options)

    def _guards(self, q: Array, kinetic: float, closes: bool) -> tuple[Guard, ...]:
        """What a motion that starts from q with this kinetic energy, J, presupposes; `closes`: the loops are closed
        after every step; else gaps grow with the truncation error, and may be `STRAINED`.
        """
        if not len(self.equations):
            return self.energy_guards(q, kinetic)
        rounding = self.mobility.rounding  # what a given rank says is rounding is not closed
        gaps = closure_guards(self.size, max(OPEN if closes else STRAINED, rounding))
        part = max(SLIPPING, rounding)
        slips = slip_guard(self.tree, kinetic, part, partial(self._slip_beside, part)) if closes else ()
        return (*self.energy_guards(q, kinetic), *gaps, *slips, *pivot_guard(self.pivot_at_home))

    def _slip_beside(self, part: float, t: float, y: Array) -> float:
        """That part of the speed at play in a state (q, p*)."""
        q, p = np.split(y, [self.tree.nq])
        v, _ = self.rhs(q, p, t)
        return part * speed_at_play(self.tree, float(dynamics.kinetic_energy(self.tree, q, v, t)))

    def energy_guards(self, q: ArrayLike, kinetic: float) -> tuple[Guard, ...]:
        """The guard of the energy, where nothing drives the mechanism.

        Parameters
        ----------
        q : array (nq,)
            Configuration at the start, rad and m.
        kinetic : float
            Kinetic energy at the start, J.

        Returns
        -------
        tuple of Guard
            One, or none where the energy is not known to be kept or to fall.
        """
        if self._is_driven():
            return ()
        loses = any(element.dissipates for element in self.elements)
        with once():
            potential = float(dynamics.potential_energy(self.tree, q))
            stored = rounding = 0.0
            if self.elements and not self.tree.is_rheonomic:
                stored = self._energy_at_rest(q) - potential
                beside = moved_by(self.tree, np.asarray(q, dtype=np.float64), _STRAIN * units_of(self.tree, self.size))
                rounding = _ROUNDING * abs(self._energy_at_rest(beside) - stored - potential)
        frames = [frame for e in self.elements if isinstance(e, OnBodies) for frame in (e.first, e.second)]
        reach = max((float(np.linalg.norm(frame.position)) for frame in frames), default=0.0)
        smooth = all(element.smooth for element in self.elements)
        stored = max(stored, rounding)
        return tree_guards(self.tree, kinetic, potential, dissipates=loses, smooth=smooth, reach=reach, stored=stored)

    def _is_driven(self) -> bool:
        """Whether something gives energy."""
        drives = self.tree.is_rheonomic or any(element.drives for element in self.elements)
        return drives or self._closures_move(self.home)

    def _energy_at_rest(self, q: ArrayLike) -> float:
        at_rest = np.concatenate([np.asarray(q, dtype=np.float64), np.zeros(self.tree.nv)])
        return float(evaluate(closed_invariants, self._packed, 4, 0.0, at_rest)[0])

    def _unknown_motion(self, t: float) -> str:
        for element in self.elements:
            motion = getattr(element, "motion", None)
            if motion is not None and (said := motion.unknown(t)):
                return f"the motion of {element} {said}"
        return self.tree.unknown_motion(t)

    def explain(self, t: float, y: Array) -> str:
        """What can be said of a state (q, …) where a run failed or became doubtful: a prescribed motion that is not
        known, a singular position that is near, a wheel that lies nearly flat.

        Empty where none is.

        Parameters
        ----------
        t : float
            Time, s.
        y : array (n,)
            A state (q, …) of a run, rad and m first.

        Returns
        -------
        str
            Half a sentence, or nothing.
        """
        if said := self._unknown_motion(t):
            return said
        if self.mobility.rank == 0:
            return ""
        part, where = nearness(self.equations, self.mobility, np.asarray(y)[: self.tree.nq], t)
        if part < NOT_FAR:
            return f"{NEAR_SINGULAR}: {where}, {part:.2g} of its usual value"
        return flat_wheel(self, t, np.asarray(y)[: self.tree.nq])

    def directions(self, t: ArrayLike, y: ArrayLike) -> Array:
        """Which way the equations of the closures point, orthonormal where they count:
        Ĝ = (G H⁻¹ Gᵀ)^(−1/2) G H^(−1/2), with the mass matrix H and its root by elimination from the ends of the tree.

        From one position to another near it they change little; where a step has led past links that lie in a line to
        another way of closing a loop, one of them turns over: Ĝ(q₁) Ĝ(q₀)ᵀ has an eigenvalue near −1.

        Parameters
        ----------
        t : array (k,)
            Times, s.
        y : array (k, …)
            States, of which q is the beginning, rad and m.

        Returns
        -------
        array (k, m, d)
            Of the m equations that are kept, along the d velocities that the closures feel; not numbers where the
            position is singular for the tree.

        Raises
        ------
        ValueError
            Wrong shapes, numbers that are not finite.

        References
        ----------
        Φ = G H⁻¹ Gᵀ: Ivanov (2022), eq. (5); what its root says of branches is this project's.
        """
        states, n = reals(y, "y"), self.tree.nq
        if states.ndim != 2 or states.shape[1] < n or not np.isfinite(states).all():
            raise ValueError(f"y: shape {states.shape}, expected states (k, {n} or more) of finite numbers")
        times = reals(t, "t")
        if times.shape != states.shape[:1] or not np.isfinite(times).all():
            raise ValueError(f"t: shape {times.shape}, expected {len(states)} finite times, one for each state")
        return directions_of(self._packed, times, states[:, :n])

    def state_doubts(self, momenta: bool = False) -> Callable[..., list[Doubt]] | None:
        """Of times t (k,), s, and states (k, n): which elastic joints are turned further than their moments hold for,
        and which wheels and balls their planes would have to pull down; None where there are neither.

        Loads are looked at in some of the states, and not where fewer than four states are given, as of ensembles of
        thousands.

        Parameters
        ----------
        momenta : bool
            Whether a state begins with (q, p*), else with (q, v).

        Returns
        -------
        callable, or None
            ``doubts(t, y, u)`` → list of Doubt; u(k) the inputs (m,) in state k, without which loads of a mechanism
            with inputs are not looked at.
        """
        return state_doubts(self, momenta)

    def rhs(self, q: ArrayLike, p: ArrayLike, t: float = 0.0, field: Entry = closed) -> tuple[Array, Array]:
        """Velocities that keep the loops closed, and rates of the momenta p*: arrays (…, nq), (…, nv) → two of (…, nv).

        The loops need not be closed in q, nor p be the momenta of velocities that keep them closed.  Another `field` is
        one made for this mechanism (`mechanics.compile_model`).

        Parameters
        ----------
        q : array (…, nq)
            Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
        p : array (…, nv)
            Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
        t : float
            Time, s.
        field : Entry
            The kernel.

        Returns
        -------
        v, p_dot : array (…, nv)
            Velocities, rad/s and m/s, and rates of the momenta, N·m and N.

        Raises
        ------
        ValueError
            Wrong sizes, numbers that are not finite, quaternions that are not unit; a joint that carries no inertia.
        """
        return dynamics.closed_rates(self.tree, self._packed, field, q, p, t)

    @cached_property
    def _packed(self) -> PackedLoops:
        return self.packed()

    def rhs_derivatives(self, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> Array:
        """The derivative of `rhs` by (q, p*): (…, 2 nv, 2 nv), rows v, then ṗ*, columns q (increments q·exp(ε e_k) from
        the right), then p*; the multipliers are differentiated with the rest.

        Exact: that of the tree by composite bodies, those of closures and force elements by complex steps of their own
        formulas along the joints that move them.  Where closures depend on each other, ∂ṗ* leaves out what the null
        directions of the multipliers turn by, which moves nothing.  Where a force law has a corner (a contact that just
        touches), it is that of one side.

        Parameters
        ----------
        q : array (…, nq)
            Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
        p : array (…, nv)
            Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
        t : float
            Time, s.

        Returns
        -------
        array (…, 2 nv, 2 nv)
            Rows v, then ṗ*; columns q, then p*.

        Raises
        ------
        ValueError
            As from `rhs`.
        """
        return rhs_derivatives(self, q, p, t)

    def _variational_steps(self, packed: PackedLoops) -> dict[str, OwnStep]:
        coupled = max((len(equation.joints) for equation in self.equations.equations), default=0)
        own = variational_step(self.tree, packed.structure, coupled, bool(self.elements), partial(step_doubts, self))
        midpoint = partial(step_doubts, self, springs="midpoint")
        steps = {"variational": own, "variational_imex": replace(own, doubts=midpoint)}
        on_joints = (isinstance(e, Motor) and e.is_input and not isinstance(e.joint, Tendon) for e in self.elements)
        if not len(self.equations) and all(on_joints):
            tangent = variational_steps(self.tree)["variational_tangent"]  # it takes joint forces itself
            steps |= {"variational_tangent": tangent, "variational_imex_tangent": tangent}
        return steps

    def fastest_spring(self, q: ArrayLike) -> FastestSpring:
        """The greatest angular frequency, rad/s, with which the mechanism swings on its force elements about a
        configuration, gravity and speeds apart, the joint that moves most (in energy), and the element that pulls most;
        0 if nothing pulls back.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.

        Returns
        -------
        FastestSpring
            `rate` in rad/s, names of the `joint` and the `element`.
        """
        return fastest_spring(self, self._numbers(q, "q", self.tree.nq))

    def momentum(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """Momenta p = Bᵀ M V, which are M v of the tree without prescribed motions.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        v : array (nv,)
            Velocities, rad/s and m/s.
        t : float
            Time, s.

        Returns
        -------
        array (nv,)
            kg·m²/s and kg·m/s.
        """
        q, v = self._numbers(q, "q", self.tree.nq), self._numbers(v, "v", self.tree.nv)
        p: Array = geometry(self.tree, q, v, real(t, "t")).momentum(self.tree)
        return p

    def _velocity(self, q: Array, v: ArrayLike | None, rates: Mapping[str, ArrayLike] | None, t: float = 0.0) -> Array:
        if v is not None and rates is not None:
            raise ValueError("v and rates: give one of them")
        if rates is not None:
            return self.velocities(q, rates, t).v
        if v is None and self.tree.is_rheonomic and len(self.equations):
            return self.velocities(q, {}, t).v  # of least norm, as the moved joints ask for
        if v is None:
            v = np.zeros(self.tree.nv)
        v = self._numbers(v, "v", self.tree.nv)
        rate = np.abs(self.closing_velocity(q, v, t)) if len(self.equations) else np.zeros(1)
        relative = rate / gap_units(self.equations, self.size) if len(self.equations) else rate
        worst = int(np.argmax(relative))
        if relative[worst] > ACCEPTED * (1.0 + np.abs(v / units_of(self.tree, self.size)).max(initial=0.0)):
            equation = self.equations.names[worst]
            raise ModelError(
                f"v of {self.name!r}",
                f"opens {equation} at {rate[worst]:.3g} m/s",
                "give `rates` of the driven joints, or project v",
            )
        return v

    def projected_velocity(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> tuple[Array, float]:
        """The velocity nearest to v in kinetic energy that keeps the loops closed, and the energy this removes, J.

        Parameters
        ----------
        q : array (nq,)
            Configuration, rad and m; quaternions of unit norm.
        v : array (nv,)
            Velocities, rad/s and m/s.
        t : float
            Time, s: it matters with prescribed motions.

        Returns
        -------
        v : array (nv,)
            Closed, rad/s and m/s.
        energy : float
            Kinetic energy of the change, J, which is what is taken away unless joints move as told.

        Raises
        ------
        ModelError
            q is a singular position: the closures do not say which velocities keep them closed.
        """
        q, v = self._numbers(q, "q", self.tree.nq), self._numbers(v, "v", self.tree.nv)
        check_regular(self.equations, q, self.mobility.rank, real(t, "t"))
        at, r, scales = geometry(self.tree, q, v, real(t, "t")), self.mobility.rank, self.mobility.scales
        root = np.linalg.cholesky(at.mass_matrix(self.tree))
        G = np.linalg.solve(root, (scales[:, None] * self.equations.matrix(q, t, at)).T).T
        u, s, w = np.linalg.svd(G, full_matrices=False)
        change = -w[:r].T @ ((u[:, :r].T @ (scales * self.equations.rate(at))) / s[:r])
        return v + np.linalg.solve(root.T, change), float(0.5 * change @ change)

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the coordinates and of the velocities."""
        coordinates, velocities = [], []
        for body in self.tree.bodies:
            coordinates += [f"{body.joint_name}.{x}" for x in body.joint.q_labels]
            velocities += [f"{body.joint_name}.{k}" for k in range(body.joint.n_v)]
        return tuple(coordinates), tuple(velocities)

    @property
    def coordinate_units(self) -> str:
        """Their common unit, or one for each, separated by commas."""
        units = [unit for body in self.tree.bodies for unit in body.joint.q_units]
        return units[0] if len(set(units)) == 1 else ", ".join(units)

    def _variables(self) -> tuple[Variable, ...]:
        coordinates, momenta = self.labels
        return (
            Variable("q", coordinates, self.coordinate_units, "joint coordinates, rad or m"),
            Variable("p", momenta, "", "momenta conjugate to the joint velocities"),
        )
