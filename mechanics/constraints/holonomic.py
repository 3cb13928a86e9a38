"""The parts of a mechanism for implicit steppers: M, f, G, φ and Ġ v beside each other (`integrators.parts`, layout "constrained").

`structure` is (n, m, m) and then that of the mechanism; all rows are integrable.  The rows are scaled to comparable sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.parts import clear, constrained
from integrators.problem import Problem
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, ld2, st
from liegroup.table import RN
from mechanics.algorithms.crba import mass_matrix_into
from mechanics.algorithms.energy import first_moments, potential
from mechanics.constraints.index_one import accelerated, applied_forces, copy_state, multiplier_problem, watched
from mechanics.constraints.packing import ACCUMULATED, EQUATION, EQUATIONS, GAP, POSES, RATES, SCREWS, STATE, TARGET, VECTORS
from mechanics.constraints.poses import add_at, gather
from mechanics.constraints.rows import SCALE
from mechanics.errors import ModelError
from mechanics.mechanism import Mechanism
from mechanics.packing import EXTENSION, N_V

AHEAD = 3
"""(n, m, k), before the structure of the mechanism."""


@entry(*FIELD_SIGNATURES)
def parts(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """y = (q, v) → the parts."""
    s = structure[AHEAD:]
    o, n, m = s[EXTENSION], s[N_V], structure[1]
    at, vectors = constrained(n, m, m), o + VECTORS
    rates, state = work[s[vectors] + RATES], work[s[vectors] + STATE]
    clear(out)
    copy_state(y, s, state)
    applied_forces(t, y, state, parameters, s, work)
    for i in range(n):
        st(out, at.FORCE + i, ld(rates, n + i))
    for c in range(m):
        e, screw = s[o + EQUATIONS] + EQUATION * c, s[o + SCREWS] + c
        for side in range(2):
            for k in range(6):
                add_at(work, s[o + POSES] + s[e + 1 + side], ACCUMULATED + k, ld2(work, screw, 6 * side + k))
        gather(t, y, parameters, s, work, out, at.ROWS + c * n)
        st(out, at.BIAS + c, -ld2(work, s[vectors] + TARGET, c))
        st(out, at.POSITION + c, parameters[s[e + 3] + SCALE] * ld2(work, s[vectors] + GAP, c))
    first_moments(t, y, parameters, s, work)
    st(out, at.POTENTIAL, potential(parameters, s, work))
    mass_matrix_into(t, y, parameters, s, work, out)


@entry(*FIELD_SIGNATURES)
def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(v, v̇), without stabilisation."""
    accelerated(t, y, parameters, structure[AHEAD:], work, out)


@entry(*FIELD_SIGNATURES)
def invariants(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """(energy, greatest gap, greatest closing velocity)."""
    watched(t, y, parameters, structure[AHEAD:], work, out)


def constrained_problem(
    mechanism: Mechanism, q: ArrayLike | None = None, v: ArrayLike | None = None, rates: Mapping[str, ArrayLike] | None = None
) -> Problem:
    """The motion as a differential-algebraic problem in tree coordinates, y = (q, v), for generalised-α and Radau methods.

    Raises
    ------
    ModelError
        A mechanism whose redundant equations change with the position (their multipliers are not determined).
    """
    mobility = mechanism.mobility
    if len(mobility.kept) != mobility.rank:
        raise ModelError(
            f"mechanism {mechanism.name!r}",
            f"{len(mobility.kept) - mobility.rank} redundant equations change with its position",
            "use Mechanism.problem or multiplier_problem, which keep the rank",
        )
    base = multiplier_problem(mechanism, q, v, rates)
    m = mobility.rank
    structure = np.concatenate([np.array([mechanism.tree.nv, m, m], dtype=np.int64), np.asarray(base.structure)])
    n_q, n = mechanism.tree.nq, mechanism.tree.nv
    table = np.vstack([mechanism.tree.group.table, [RN, n_q, n, n, n]])  # velocities in a row of their own
    return replace(base, group=table, field=field, invariants=invariants, structure=structure, parts=parts, parts_layout="constrained")
