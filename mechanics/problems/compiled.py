"""Hamilton's equations of one tree or mechanism as straight-line code: the kernel of `era`, or of `closed` with closed
loops, run once on scalars that note what is done to them.

Everything that does not depend on the state is done then: masses, inertias, placements, closures and gravity become
constants, with all that follows from them alone; what is zero, one or common is left out or shared.  In the field no
loop, no branch and no workspace is left; `mechanics.problems.model_code` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.codegen import generate_code
from integrators.problem import Problem
from integrators.problem.fields import Field, differentiating
from liegroup.arrays import of_kind
from liegroup.compile import Entry
from liegroup.compile.generated import module_of
from liegroup.printers import SourceText
from mechanics import dynamics
from mechanics.mechanism import Mechanism
from mechanics.model.tree import Tree
from mechanics.problems.model_code import mechanism_code, tree_code
from mechanics.problems.tree import hamiltonian_problem

Array = NDArray[np.float64]
LIMIT = 4000
"""Operations.  The code of more outgrows the instruction cache: 4400 to 4700 were 0.9 to 1.3 times as fast as the
kernel for all trees.
"""


@dataclass(frozen=True, eq=False)
class CompiledModel:
    """Hamilton's equations of one tree or mechanism, made by `compile_model`.

    Attributes
    ----------
    model : Tree or Mechanism
    field : Entry
        (q, p) → (v, ṗ) with the signature of a field, for one trajectory and for lanes.  The numbers of the model are
        in the code: for the values it reads neither `parameters` nor `structure` nor `work`; derivatives, where `out`
        has room for them, are those of the model's own field.
    projection : Entry or None
        Of a mechanism with loops: what closes them and re-bases its momenta after every step, for the arrays of the
        mechanism.
    operations : int
        Of the field: additions, multiplications, divisions, changes of sign, and calls of functions.
    source : str
        The generated code.

    Examples
    --------
    Made by `compile_model`.
    """

    model: Tree | Mechanism
    field: Entry
    projection: Entry | None
    operations: int
    source: str

    @property
    def tree(self) -> Tree:
        """The model, or the tree of the mechanism."""
        return self.model.tree if isinstance(self.model, Mechanism) else self.model

    def rhs(self, q: ArrayLike, p: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """Velocities and rates of the momenta, as `mechanics.hamiltonian_rhs` of a tree and `Mechanism.rhs` give them:
        arrays (…, nq), (…, nv) → two of (…, nv).

        Parameters
        ----------
        q : array (…, nq)
            Configuration: joint coordinates in joint order, rad and m; quaternions (w, x, y, z) of unit norm.
        p : array (…, nv)
            Momenta p = ∂T/∂v, kg·m²/s and kg·m/s.
        t : float
            Time, s: it matters with prescribed motions only.

        Returns
        -------
        v, p_dot : array (…, nv)
            Velocities, and rates of the momenta.

        Raises
        ------
        ValueError
            As from `hamiltonian_rhs`.
        """
        if isinstance(self.model, Mechanism):
            return self.model.rhs(q, p, t, self.field)
        return dynamics.rates(self.model, self.field, q, p, t)

    def problem(self, q: ArrayLike | None = None, v: ArrayLike | None = None, **options: Any) -> Problem:
        """The motion, as `mechanics.hamiltonian_problem` of a tree (`options` p, t) and `Mechanism.problem` (`options`
        rates, projection, t) pose it, with this field and projection.

        Other masses or another gravity in `parameters` would not reach the field: compile another model.

        Parameters
        ----------
        q : array (nq,), optional
            Initial configuration, rad and m; of a mechanism by default its `home`.
        v : array (nv,), optional
            Initial velocities, rad/s and m/s; default at rest.
        **options
            p and t of a tree, rates, projection and t of a mechanism.

        Returns
        -------
        Problem
            With this field and projection.

        Raises
        ------
        ValueError
            A tree without q; what the problems it stands for refuse.
        """
        if isinstance(self.model, Mechanism):
            posed = self.model.problem(q, v, **options)
            projection = self.projection if posed.projection is not None else None
            _, invariants, _ = posed.projection_tells
            tells = self.projection, invariants, self.field
            return replace(posed, field=self._like(posed), projection=projection, projection_tells=tells)
        if q is None:
            raise ValueError(
                f"q: expected the configuration of tree {self.model.name!r}; only a mechanism has a `home` to start "
                "from"
            )
        posed = hamiltonian_problem(self.model, q, v, **options)
        return replace(posed, field=self._like(posed))

    def export(
        self,
        language: str,
        method: str | None = None,
        step: float | None = None,
        samples: ArrayLike | None = None,
        derivatives: bool = False,
        inputs: bool = False,
    ) -> SourceText:
        """Source text in another language: field, invariants and, with a method, a whole step, of the state y = (q, p).

        Parameters
        ----------
        language : {"c", "cuda", "numpy", "jax", "casadi"}
            What is written.
        method : str, optional
            As for `integrators.generate_code`: writes a whole step besides.
        step : float, optional
            With a method: the step size, s.
        samples : array (m, nq + nv), optional
            States (q, p) from which the step is traced; default `home` of a mechanism, the neutral configuration of a
            tree, at rest.
        derivatives : bool
            Write the Jacobians by the state, too (and by the inputs).
        inputs : bool
            Torques of motors, targets of servos, wrenches and other inputs are an argument u; else they are zero.

        Returns
        -------
        SourceText
            The text; ``load()`` gives its functions.

        Raises
        ------
        ValueError, TypeError, ArithmeticError
            As from `integrators.generate_code`.

        Examples
        --------
        >>> import mechanics
        >>> text = mechanics.compile_model(mechanics.load_model("double_pendulum")).export("c")
        >>> "void rhs(double t, const double *y, double *rate)" in text
        True
        """
        posed = self.problem(None if isinstance(self.model, Mechanism) else self.tree.neutral())
        return generate_code(posed, language, method, step, samples, derivatives, inputs)

    def _like(self, posed: Problem) -> Field | Entry:
        """The field, with its derivatives if that of the problem has them."""
        if not posed.has_jacobian:
            return self.field
        return differentiating(self.field, posed.field.room, posed.field.by_complex_steps)

    def __repr__(self) -> str:
        return f"<CompiledModel of {_named(self.model)}: {self.operations} operations>"


def compile_model(model: Tree | Mechanism, limit: int = LIMIT) -> CompiledModel:
    """Straight-line code for the Hamiltonian right-hand side of one tree, under gravity and joint damping, or of one
    mechanism, with its closed loops and force elements besides.

    Parameters
    ----------
    model : Tree or Mechanism
        With joints of any kind, prescribed motions included; closures and force elements of any kind.
    limit : int
        Operations up to which the code is made: a robot of 13 bodies with its axes along those of the bodies has about
        3000, one of 7 bodies with axes anywhere 2000.  Longer code gains little over the kernel for all trees.

    Returns
    -------
    CompiledModel
        With ``rhs(q, p)`` and ``problem(q, v)``.

    Raises
    ------
    ValueError
        The code would be longer than `limit`.

    Notes
    -----
    The numbers are those of the kernel for all models to the last bit, but for the sign of zeros (and digits that
    ``contract`` arithmetic rounds elsewhere); one trajectory and lanes agree bitwise.  The first use compiles, a
    quarter of a millisecond of one core per operation and for lanes as much again; later processes find the code in
    the cache.

    Examples
    --------
    >>> import mechanics
    >>> model = mechanics.compile_model(mechanics.load_model("double_pendulum"))
    >>> model.operations < 150
    True
    """
    of_kind(model, (Tree, Mechanism), "model", "a Tree or a Mechanism")
    code = mechanism_code(model) if isinstance(model, Mechanism) else tree_code(model)
    if code.operations > limit:
        raise ValueError(
            f"{_named(model)}: its code would have {code.operations} operations, more than limit={limit}, and gain "
            "little; use "
            + (
                "Mechanism.rhs and Mechanism.problem"
                if isinstance(model, Mechanism)
                else "hamiltonian_rhs and hamiltonian_problem"
            )
            + ", or raise the limit and measure"
        )
    module = module_of(code.source)
    return CompiledModel(model, module.field, getattr(module, "projection", None), code.operations, code.source)


def _named(model: Tree | Mechanism) -> str:
    return f"{'mechanism' if isinstance(model, Mechanism) else 'tree'} {model.name!r}"
