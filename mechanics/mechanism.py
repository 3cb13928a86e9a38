"""A mechanism: a tree of bodies, loop closures and force elements, with the rank of its closures decided once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import OwnStep, Problem, Variable
from liegroup.compile import Entry
from liegroup.group import product, rn
from liegroup.modules import listing
from mechanics import dynamics
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.packing import PackedLoops, Solved, pack_loops
from mechanics.closed_trees.projection import closed_invariants, closed_projection
from mechanics.constraints.assembly import (
    ACCEPTED,
    CLOSED,
    Assembly,
    Velocities,
    assemble,
    consistent_velocities,
    size_of,
)
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.loops import Closure
from mechanics.constraints.mobility import Mobility, mass_matrix, mobility
from mechanics.constraints.rows import COUPLING, PARALLEL
from mechanics.errors import ModelError
from mechanics.forces.elements import Element
from mechanics.model.tree import Tree
from mechanics.variational.own_step import variational_step

__all__ = [
    "Mechanism",
    "Projection",
]
__dir__ = listing(__all__)

Array = NDArray[np.float64]
Projection = Literal["positions", "momenta", "none"]


class Mechanism:
    """A tree with loop closures and force elements.

    Parameters
    ----------
    tree : Tree
        The mechanism with its loops opened.
    closures : iterable of Closure
        See `mechanics.constraints.loops`; redundant ones are a normal case.
    home : array (nq,), optional
        A closed configuration, from which rank and redundancy are found; default the neutral one.
        `Mechanism.assembled` finds it from a rough guess.
    elements : iterable of lists of force elements
        From the functions of `mechanics.forces`.
    rank : int, optional
        Overrides the rank that is found.
    name : str, optional

    Raises
    ------
    ModelError
        `home` is not closed: with the gap of every closure.

    Attributes
    ----------
    equations : LoopEquations
    mobility : Mobility
        Rank, degrees of freedom, redundancy.
    """

    def __init__(
        self,
        tree: Tree,
        closures: Iterable[Closure] = (),
        home: ArrayLike | None = None,
        elements: Iterable[Sequence[Element]] = (),
        rank: int | None = None,
        name: str | None = None,
    ) -> None:
        self.tree, self.name = tree, name or tree.name
        self.equations = LoopEquations(tree, closures)
        self.elements: tuple[Element, ...] = tuple(e for group in elements for e in group)
        self.size = size_of(tree, self.equations.closures)
        self.home = self._closed(tree.neutral() if home is None else np.array(home, dtype=np.float64), "home")
        self.mobility: Mobility = mobility(self.equations, self.home, rank)
        self._start: tuple[Array, Array] | None = None

    @staticmethod
    def assembled(
        tree: Tree,
        closures: Iterable[Closure],
        guess: ArrayLike | None = None,
        hold: Sequence[str] = (),
        elements: Iterable[Sequence[Element]] = (),
        rank: int | None = None,
        name: str | None = None,
    ) -> Mechanism:
        """A mechanism closed from rough coordinates; joints of `hold` keep theirs (see
        `mechanics.constraints.assembly.assemble`).
        """
        closures = tuple(closures)
        return Mechanism(tree, closures, assemble(tree, closures, guess, hold).q, elements, rank, name)

    def __repr__(self) -> str:
        m = self.mobility
        equations = f"{len(self.equations)} closure equations of rank {m.rank}"
        return f"<Mechanism {self.name!r}: {len(self.tree)} bodies, {equations}, dof {m.dof}>"

    # --- configurations and velocities --------------------------------------------------------------------------------

    def _closed(self, q: Array, what: str) -> Array:
        if q.shape != (self.tree.nq,) or not np.isfinite(q).all():
            raise ValueError(
                f"{what}: shape {q.shape}, expected {self.tree.nq} finite numbers in the order of the joints"
            )
        phi = np.abs(self.equations.gap(q)) if len(self.equations) else np.zeros(1)
        worst = int(np.argmax(phi))
        if phi[worst] > ACCEPTED * self.size:
            row = self.equations.names[worst]
            raise ModelError(
                f"{what} of {self.name!r}",
                f"is open by {phi[worst]:.3g}: {row}",
                "close it with Mechanism.assembled or .assemble",
            )
        return q

    def assemble(self, guess: ArrayLike, hold: Sequence[str] = ()) -> Assembly:
        """A closed configuration near a guess, and what had to move."""
        return assemble(self.tree, self.equations.closures, guess, hold, self.equations)

    def velocities(self, q: ArrayLike, rates: Mapping[str, ArrayLike], t: float = 0.0) -> Velocities:
        """Velocities that keep the loops closed and give the named joints their rates; others as small as possible."""
        return consistent_velocities(
            self.equations, self._closed(np.asarray(q, dtype=float), "q"), rates, self.mobility.rank, t
        )

    def gap(self, q: ArrayLike, t: float = 0.0) -> Array:
        """φ (m,) of all closure equations: metres, and cosines for rows of turns."""
        return np.asarray(self.equations.gap(np.asarray(q, dtype=float), t))

    def closing_velocity(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """φ̇ (m,)."""
        return np.asarray(self.equations.rate(geometry(self.tree, np.asarray(q, dtype=float), v, t)))

    # --- for the integrators ------------------------------------------------------------------------------------------

    @cached_property
    def tolerances(self) -> Array:
        """|φ| of every equation that counts as closed."""
        return np.array(
            [CLOSED if row.kind in (PARALLEL, COUPLING) else CLOSED * self.size for row in self.equations.rows]
        )

    @property
    def solved(self) -> Solved:
        """Which equations the kernels solve."""
        m = self.mobility
        return Solved(m.kept, m.rank, m.scales, m.starts)

    def packed(self, close_positions: bool = True) -> PackedLoops:
        """The arrays for the kernels."""
        return pack_loops(self.tree, self.equations, self.solved, self.elements, self.tolerances, close_positions)

    def start(
        self, q: ArrayLike | None, v: ArrayLike | None, rates: Mapping[str, ArrayLike] | None
    ) -> tuple[Array, Array]:
        """A checked start: closed configuration (default `home`) and velocities (default rest) that keep it closed.

        Without any of them: that of `with_start`, which is rest at `home` unless another was given.
        """
        if self._start is not None and q is None and v is None and rates is None:
            return self._start[0].copy(), self._start[1].copy()
        q0 = self._closed(self.home if q is None else np.array(q, dtype=np.float64), "q")
        return q0, self._velocity(q0, v, rates)

    def with_start(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
    ) -> Mechanism:
        """The same mechanism, whose problems start from here unless another start is given; default rest at `home`."""
        made = copy(self)
        made._start = self.start(self.home if q is None else q, v, rates)
        return made

    def problem(
        self,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        rates: Mapping[str, ArrayLike] | None = None,
        *,
        projection: Projection = "positions",
    ) -> Problem:
        """The motion of the mechanism in Hamiltonian variables, y = (q, p*).

        Parameters
        ----------
        q : array (nq,), optional
            Closed configuration; default `home`.
        v : array (nv,), optional
            Velocities; they must keep the loops closed.  Default rest.
        rates : mapping, optional
            Instead of v: rates of joints by name (`velocities`).  Without q, v and rates: the start of `with_start`.
        projection : {"positions", "momenta", "none"}
            After every step: "positions" closes the loops and re-bases the momenta, "momenta" only re-bases (gaps then
            grow with the truncation error, linearly in time), "none" leaves p* and its multipliers to accumulate (gaps
            grow like t²).

        Raises
        ------
        ModelError
            q is open, or v opens the loops: with the closure and what to do.
        """
        if projection not in ("positions", "momenta", "none"):
            raise ValueError(f"projection: {projection!r}, expected 'positions', 'momenta' or 'none'")
        q0, v0 = self.start(q, v, rates)
        packed = self.packed(projection == "positions")
        p0 = self.momentum(q0, v0)
        return Problem(
            product(self.tree.group, rn(self.tree.nv)),
            np.concatenate([q0, p0]),
            closed,
            parameters=packed.parameters,
            structure=packed.structure,
            work_shape=packed.work_shape,
            variables=self._variables(),
            invariants=closed_invariants,
            invariant_names=("energy", "gap", "velocity_gap", "pivot"),
            invariant_units=("J", "m", "m/s", ""),
            projection=None if projection == "none" else closed_projection,
            own_steps={"variational": self._variational_step()},
            model=self.name,
        )

    def rhs(self, q: ArrayLike, p: ArrayLike, t: float = 0.0, field: Entry = closed) -> tuple[Array, Array]:
        """Velocities that keep the loops closed, and rates of the momenta p*: arrays (…, nq), (…, nv) → two of (…, nv).

        The loops need not be closed in q, nor p be the momenta of velocities that keep them closed.  Another `field` is
        one made for this mechanism (`mechanics.compile_model`).

        Raises
        ------
        ValueError
            Wrong sizes, numbers that are not finite, quaternions that are not unit; a joint that carries no inertia.
        """
        return dynamics.closed_rates(self.tree, self.packed(), field, q, p, t)

    def _variational_step(self) -> OwnStep:
        coupled = max((len(row.joints) for row in self.equations.rows), default=0)
        return variational_step(self.tree, len(self.solved.kept), bool(self.elements), coupled)

    def momentum(self, q: ArrayLike, v: ArrayLike, t: float = 0.0) -> Array:
        """p = Bᵀ M V, m·v of the tree."""
        p: Array = geometry(self.tree, np.asarray(q, dtype=float), v, t).momentum(self.tree)
        return p

    def _velocity(self, q: Array, v: ArrayLike | None, rates: Mapping[str, ArrayLike] | None) -> Array:
        if v is not None and rates is not None:
            raise ValueError("v and rates: give one of them")
        if rates is not None:
            return self.velocities(q, rates).v
        if v is None:
            v = np.zeros(self.tree.nv)
        v = np.array(v, dtype=np.float64)
        if v.shape != (self.tree.nv,) or not np.isfinite(v).all():
            raise ValueError(f"v: shape {v.shape}, expected {self.tree.nv} finite numbers in the order of the joints")
        rate = np.abs(self.closing_velocity(q, v)) if len(self.equations) else np.zeros(1)
        worst = int(np.argmax(rate))
        if rate[worst] > 1e-8 * (self.size + np.abs(v).max()):
            row = self.equations.names[worst]
            raise ModelError(
                f"v of {self.name!r}",
                f"opens {row} at {rate[worst]:.3g} m/s",
                "give `rates` of the driven joints, or project v",
            )
        return v

    def projected_velocity(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, float]:
        """The velocity nearest to v in kinetic energy that keeps the loops closed, and the energy this removes, J."""
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        M, G, r = (
            mass_matrix(self.tree, q),
            self.equations.matrix(q) * self.mobility.scales[:, None],
            self.mobility.rank,
        )
        values, vectors = np.linalg.eigh(G @ np.linalg.solve(M, G.T))
        kept, U = values[len(values) - r :], vectors[:, len(values) - r :]
        change = -np.linalg.solve(M, G.T @ (U @ ((U.T @ (G @ v)) / kept)))
        return v + change, float(0.5 * change @ M @ change)

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the coordinates and of the velocities."""
        coordinates, velocities = [], []
        for body in self.tree.bodies:
            coordinates += [f"{body.joint_name}.{x}" for x in body.joint.q_labels]
            velocities += [f"{body.joint_name}.{k}" for k in range(body.joint.n_v)]
        return tuple(coordinates), tuple(velocities)

    def _variables(self) -> tuple[Variable, ...]:
        coordinates, momenta = self.labels
        return (
            Variable("q", coordinates, "", "joint coordinates, rad or m"),
            Variable("p", momenta, "", "momenta conjugate to the joint velocities"),
        )
