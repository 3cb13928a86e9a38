"""Mechanisms as differential-algebraic problems in tree coordinates; the parts are those of
`mechanics.formulations.holonomic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from integrators.problem import Problem
from liegroup.arrays import of_kind
from liegroup.table import RN
from mechanics.closed_trees.packing import Solved, pack_loops
from mechanics.constraints.assembly import state_units
from mechanics.constraints.wheel_equations import HEIGHT
from mechanics.errors import ModelError
from mechanics.formulations.holonomic import field, invariants, parts, powers
from mechanics.formulations.multiplier_problem import Lagrange, multiplier_problem
from mechanics.mechanism import Mechanism


def constrained_problem(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    rates: Mapping[str, ArrayLike] | None = None,
    *,
    t: float = 0.0,
) -> Problem:
    """The motion as a differential-algebraic problem in tree coordinates, y = (q, v).

    For the variational methods (`DLA`, `DLA4`, `DLA6`: closed at rounding for ever), generalised-α and Radau methods.
    Where equations are redundant, as many as the rank are chosen once and solved; `gap` watches them all.

    Parameters
    ----------
    mechanism : Mechanism
        With loops, couplings, wheels or none.
    q : array (nq,), optional
        Closed configuration, rad and m; default that of `Mechanism.start`.
    v : array (nv,), optional
        Velocities, rad/s and m/s, that keep it closed; default those of `Mechanism.start`.
    rates : mapping of str to float or array, optional
        Instead of v: rates of joints by name, rad/s and m/s.
    t : float
        When runs are to begin, s: it matters with closures that move, whose start is one at that time.

    Returns
    -------
    Problem
        With M, G and forces as its parts ("constrained").

    Raises
    ------
    ModelError
        No choice of equations is independent in every position, or the tree has prescribed motions.

    Examples
    --------
    >>> from mechanics.formulations import constrained_problem
    >>> from mechanics.systems import SYSTEMS
    >>> constrained_problem(SYSTEMS["four-bar"].mechanism()).parts_layout
    'constrained'
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    mobility, m = mechanism.mobility, mechanism.mobility.rank
    if mechanism.tree.is_rheonomic:
        raise ModelError(
            f"mechanism {mechanism.name!r}", "has prescribed motions", "use Mechanism.problem or multiplier_problem"
        )
    if len(mobility.independent) != m:
        raise ModelError(
            f"mechanism {mechanism.name!r}",
            f"no {m} of its {len(mobility.kept)} closure equations are independent in every position",
            "use Mechanism.problem or multiplier_problem, which keep the rank",
        )
    kinds = [mechanism.equations.equations[c].kind for c in mobility.independent]
    chosen = [c for _, c in sorted(zip(kinds, mobility.independent, strict=True), key=lambda row: row[0] <= HEIGHT)]
    positions = sum(kind <= HEIGHT for kind in kinds)
    solved = Solved(chosen, m, mobility.scales, np.zeros((0, m)))
    packed = pack_loops(
        mechanism.tree,
        mechanism.equations,
        solved,
        mechanism.elements,
        mechanism.tolerances,
        settings=Lagrange().settings(),
    )
    base = replace(
        multiplier_problem(mechanism, q, v, rates, t=t),
        parameters=packed.parameters,
        numerical=packed.numerical,
        structure=packed.structure,
        work_shape=packed.work_shape,
    )
    structure = np.concatenate([np.array([mechanism.tree.nv, m, positions], dtype=np.int64), packed.structure])
    n_q, n = mechanism.tree.nq, mechanism.tree.nv
    table = np.vstack([mechanism.tree.group.table, [RN, n_q, n, n, n]])  # velocities in a row of their own
    return replace(
        base,
        group=table,
        field=field,
        invariants=invariants,
        structure=structure,
        parts=parts,
        parts_layout="constrained",
        scales=state_units(mechanism.tree, mechanism.size),
        inputs=replace(packed.inputs, power=powers),
    )
