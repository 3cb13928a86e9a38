"""What loops over any group know of it besides its formulas: facts of its formula file, and the same as arrays by kind.

===============  =======================================================================================================
COMPONENTS       labels of the N_Q components of q
QUATERNIONS      where in q a unit quaternion (w, x, y, z) begins
ANGLES           components of q that are angles: the element is the same after a turn of 2π
SIZES            for each component of x how large the state behind it is, in the norm of an error: ``(first, count)``,
                 the length of the components first … first + count − 1 of q, or None, an angle: 1 rad
CHART            parts ``(first, count)`` of x whose length must stay below π where x ↦ exp x is to be a chart
COMMUTATIVE      whether all brackets vanish, and q moves with the velocity: q̇ = v
RIGID_BODY       how many linear and angular velocities x has, if q is the place of a rigid body as SO(3), SE(2) or
                 SE(3) write it and x its twist: (0, 3), (2, 1) or (3, 3); else None
===============  =======================================================================================================

The two formulas ``coordinate_rate(q, v)`` = q̇ = d/ds q exp(s v) and ``body_velocity(q, rate)``, its left inverse,
belong here, too.  Compiled loops read the tables of this module where they lie, so that a group may be registered
(`liegroup.table.register`) at any time: no loop is compiled anew for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from liegroup.compile.shared import SharedTable

FACTS = (
    "COMPONENTS", "QUATERNIONS", "ANGLES", "SIZES", "CHART", "COMMUTATIVE", "RIGID_BODY", "coordinate_rate",
    "body_velocity",
)  # fmt: skip
"""What a formula file must say besides its formulas for loops over any group."""
KINDS, MOST, PARTS = 32, 64, 8
"""Room: groups, components of a group, parts of one kind within a group."""


LENGTH_Q, LENGTH_V = SharedTable("LENGTH_Q", KINDS), SharedTable("LENGTH_V", KINDS)
"""N_Q, N_V."""
SIZE = SharedTable("SIZE", KINDS, MOST, 2)
"""SIZES, (0, 0) for None."""
CHARTS, CHART = SharedTable("CHARTS", KINDS), SharedTable("CHART", KINDS, PARTS, 2)
"""How many parts CHART has, and the parts."""
QUATERNION_COUNT, QUATERNIONS = SharedTable("QUATERNION_COUNT", KINDS), SharedTable("QUATERNIONS", KINDS, PARTS)
"""How many quaternions the group has, and where they begin."""
COMMUTATIVE = SharedTable("COMMUTATIVE", KINDS)
LINEAR, ANGULAR = SharedTable("LINEAR", KINDS), SharedTable("ANGULAR", KINDS)
"""RIGID_BODY, (0, 0) for None."""


def check_facts(formulas: Any) -> None:
    """ValueError for a fact that contradicts the lengths of q and x."""
    n_q, n_v = formulas.N_Q, formulas.N_V
    chart, sizes = formulas.CHART, [size for size in formulas.SIZES if size is not None]
    body = formulas.RIGID_BODY
    for name, good, expected in (
        ("COMPONENTS", len(formulas.COMPONENTS) == n_q, f"{n_q} labels"),
        ("QUATERNIONS", all(0 <= k <= n_q - 4 for k in formulas.QUATERNIONS), f"places from 0 to {n_q - 4}"),
        ("ANGLES", all(0 <= k < n_q for k in formulas.ANGLES), f"places from 0 to {n_q - 1}"),
        ("SIZES", len(formulas.SIZES) == n_v and _within(sizes, n_q), f"{n_v} pairs (first, count) in q, or None"),
        ("CHART", _within(chart, n_v), f"pairs (first, count) in the {n_v} components of x"),
        ("COMMUTATIVE", isinstance(formulas.COMMUTATIVE, bool), "True or False"),
        ("RIGID_BODY", body is None or (body in ((0, 3), (2, 1), (3, 3)) and sum(body) == n_v), "None, or counts"),
        ("N_Q", max(n_q, n_v) <= MOST, f"at most {MOST} components"),
        ("CHART and QUATERNIONS", max(len(chart), len(formulas.QUATERNIONS)) <= PARTS, f"at most {PARTS} parts"),
    ):
        if not good:
            values = ", ".join(repr(getattr(formulas, part)) for part in name.split(" and "))
            raise ValueError(f"{formulas.NAME}: {name} = {values}, expected {expected} (see liegroup.formulas.facts)")


def _within(parts: Any, n: int) -> bool:
    return all(first >= 0 and count > 0 and first + count <= n for first, count in parts)


def enter(kind: int, formulas: Any) -> None:
    """Write the facts of a group into the arrays."""
    if kind >= KINDS:
        raise ValueError(f"{formulas.NAME}: there is room for {KINDS} groups; enlarge liegroup.formulas.facts.KINDS")
    check_facts(formulas)
    LENGTH_Q[kind], LENGTH_V[kind] = formulas.N_Q, formulas.N_V
    SIZE[kind, : formulas.N_V] = [size or (0, 0) for size in formulas.SIZES]
    CHARTS[kind], QUATERNION_COUNT[kind] = len(formulas.CHART), len(formulas.QUATERNIONS)
    CHART[kind, : CHARTS[kind]] = np.reshape(formulas.CHART, (-1, 2))
    QUATERNIONS[kind, : QUATERNION_COUNT[kind]] = formulas.QUATERNIONS
    COMMUTATIVE[kind] = formulas.COMMUTATIVE
    LINEAR[kind], ANGULAR[kind] = formulas.RIGID_BODY or (0, 0)
