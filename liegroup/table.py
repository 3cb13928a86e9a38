"""Products of groups described at run time, for compiled loops: kernels over a table of factors.

A table is an int64 array, C-contiguous, one row per factor, columns ``(kind, q_offset, v_offset, n_q, n_v)``: the
factor's coordinates are ``q[q_offset : q_offset + n_q]``, its algebra ``v[v_offset : v_offset + n_v]``.  A row may hold
several copies of its group (n_v a multiple of the group's): ``RN`` with n_v = n is Rⁿ.  `tau` is `EXP`, `CAYLEY` or
`CCSK` (natural order of the basis). States are arrays ``(n,)`` or, in lanes, ``(n, 8)``; `out` may alias any argument
before it of the same space.  Nothing is checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from liegroup.compile import helper, kernel, ld, st
from liegroup.compile.cache import depend_on
from liegroup.formulas import FOR_KERNELS, REQUIRED, check, rn, se2, se3, so2, so3
from liegroup.formulas.facts import enter
from liegroup.maps import CAYLEY, CCSK, EXP, Map, maps_of

__all__ = [
    "CAYLEY", "CCSK", "EXP", "FACTORS", "KIND", "MAPS", "N_Q", "N_V", "Q_OFFSET", "RN", "SE2", "SE3", "SO2", "SO3",
    "V_OFFSET",
    "angles", "bracket", "bracket_transpose", "coadjoint", "coadjoint_difference", "displacement", "dtau_inverse_left",
    "dtau_inverse_left_gradient", "dtau_inverse_left_transpose", "dtau_inverse_left_transpose_derivative",
    "dtau_inverse_right",
    "dtau_inverse_right_transpose", "dtau_left", "dtau_left_transpose", "dtau_right", "dtau_right_transpose",
    "increment",
    "quaternions", "register", "retract", "table_of",
]  # fmt: skip

FACTORS: list[Any] = []
"""Formula files by kind: a new group is one file and one call of `register`."""
RN, SO2, SO3, SE2, SE3 = range(5)
KIND, Q_OFFSET, V_OFFSET, N_Q, N_V = range(5)
MAPS: list[tuple[Map, ...]] = []
"""`MAPS[kind][tau]`."""
_EXTENSIONS: list[Callable[[int], None]] = []
"""``extend(kind)`` of every verb: makes it know one more group."""


def register(formulas: Any) -> int:
    """Make compiled loops know the group of a formula file; returns its kind.

    Call it once, before the first run: compiled code knows the groups that were registered when it was compiled.

    Raises
    ------
    TypeError, ValueError
        With what the file lacks or contradicts (`liegroup.formulas`, `liegroup.formulas.facts`).
    RuntimeError
        Too late: something has been compiled already.
    """
    if formulas in FACTORS:
        return FACTORS.index(formulas)
    check(formulas, REQUIRED + FOR_KERNELS)
    depend_on(formulas.NAME, [f.__code__.co_filename for f in vars(formulas).values() if hasattr(f, "__code__")])
    kind = _enter(formulas)
    for extend in _EXTENSIONS:
        extend(kind)
    return kind


def _enter(formulas: Any) -> int:
    enter(len(FACTORS), formulas)
    FACTORS.append(formulas)
    MAPS.append(maps_of(formulas))
    return len(FACTORS) - 1


for _formulas in (rn, so2, so3, se2, se3):
    check(_formulas, REQUIRED + FOR_KERNELS)
    _enter(_formulas)


def table_of(kinds: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The table of a product, from ``(kind, copies)`` pairs in order."""
    rows, q, v = [], 0, 0
    for kind, copies in kinds:
        n_q, n_v = FACTORS[kind].N_Q * copies, FACTORS[kind].N_V * copies
        rows.append((kind, q, v, n_q, n_v))
        q, v = q + n_q, v + n_v
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def angles(table: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Components of an element of a product that are angles: points of a circle."""
    places = [
        start + k
        for kind, first, _, n_q, _ in table.tolist()
        for start in range(first, first + n_q, FACTORS[kind].N_Q)
        for k in FACTORS[kind].ANGLES
    ]
    return np.array(places, dtype=np.int64)


def quaternions(table: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    """Where the unit quaternions in an element of a product begin."""
    return [
        start + k
        for kind, first, _, n_q, _ in table.tolist()
        for start in range(first, first + n_q, FACTORS[kind].N_Q)
        for k in FACTORS[kind].QUATERNIONS
    ]


# --- tuples from and to arrays --------------------------------------------------------------------------------------


@cache
def load_components(n: int) -> Any:
    """The function (a, i) → n components of an array from i on."""
    if n == 1:

        @helper
        def load_one(a: Any, i: Any) -> Any:
            return (ld(a, i),)

        return load_one
    half = n // 2
    first, second = load_components(half), load_components(n - half)

    @helper
    def load(a: Any, i: Any) -> Any:
        return first(a, i) + second(a, i + half)

    return load


@cache
def store_components(n: int) -> Any:
    """The function (a, i, x) that writes n components of an array from i on."""
    if n == 1:

        @helper
        def store_one(a: Any, i: Any, x: Any) -> None:
            st(a, i, x[0])

        return store_one
    half = n // 2
    first, second = store_components(half), store_components(n - half)

    @helper
    def store(a: Any, i: Any, x: Any) -> None:
        first(a, i, x[:half])
        second(a, i + half, x[half:])

    return store


# --- one kernel per verb: rows → kind → map → formula ---------------------------------------------------------------


def _verb(name: str, spaces: str, formula: Callable[[Any, tuple[Map, ...]], Any], doc: str) -> Any:
    """The kernel `name`, ``(table, tau, a, b, out)`` or ``(table, tau, a, b, c, out)`` of one verb.

    `spaces` says where a, b (, c) and out live, q or v; ``formula(formulas, maps)`` is the function (tau, a, b, c) of
    tuples.
    """

    @helper
    def chain(kind: Any, tau: Any, a: Any, b: Any, c: Any, out: Any, i: Any, j: Any, n: Any) -> None:
        pass

    def extend(kind: int) -> None:
        nonlocal chain
        chain = _link(kind, spaces, formula(FACTORS[kind], MAPS[kind]), chain)

    for kind in range(len(FACTORS) - 1, -1, -1):
        extend(kind)
    _EXTENSIONS.append(extend)

    def three(table: Any, tau: Any, a: Any, b: Any, c: Any, out: Any) -> None:
        for r in range(table.shape[0]):
            chain(table[r, KIND], tau, a, b, c, out, table[r, Q_OFFSET], table[r, V_OFFSET], table[r, N_V])

    def two(table: Any, tau: Any, a: Any, b: Any, out: Any) -> None:
        for r in range(table.shape[0]):
            chain(table[r, KIND], tau, a, b, b, out, table[r, Q_OFFSET], table[r, V_OFFSET], table[r, N_V])

    rows = two if len(spaces) == 3 else three
    rows.__doc__ = doc
    return kernel(rows, name)


def _link(kind_here: int, spaces: str, apply: Any, rest: Any) -> Any:
    """``if kind == kind_here: … else: rest``, for every copy of the group in the row."""
    n_q, n_v = FACTORS[kind_here].N_Q, FACTORS[kind_here].N_V
    load_a, load_b, load_c = (load_components(n_q if spaces[k] == "q" else n_v) for k in (0, 1, -2))
    store = store_components(n_q if spaces[-1] == "q" else n_v)
    a_in_group, b_in_group, out_in_group = spaces[0] == "q", spaces[1] == "q", spaces[-1] == "q"

    @helper
    def link(kind: Any, tau: Any, a: Any, b: Any, c: Any, out: Any, i: Any, j: Any, n: Any) -> None:
        if kind != kind_here:
            rest(kind, tau, a, b, c, out, i, j, n)
            return
        for _ in range(n // n_v):
            k = i if b_in_group else j
            result = apply(tau, load_a(a, i if a_in_group else j), load_b(b, k), load_c(c, k))
            store(out, i if out_in_group else j, result)
            i += n_q
            j += n_v

    return link


def _with_step(update: str) -> Callable[[Any, tuple[Map, ...]], Any]:
    """(q, x) → update(q, τ(x) − e)."""

    def formula(formulas: Any, maps: tuple[Map, ...]) -> Any:
        change, (exp, cayley, ccsk) = getattr(formulas, update), (m.difference for m in maps)

        @helper
        def apply(tau: Any, q: Any, x: Any, unused: Any) -> Any:
            return change(q, exp(x) if tau == EXP else (cayley(x) if tau == CAYLEY else ccsk(x)))

        return apply

    return formula


def _quotient(formulas: Any, maps: tuple[Map, ...]) -> Any:
    """(q0, q1) → τ⁻¹(q0⁻¹ q1)."""
    compose, invert, (exp, cayley, ccsk) = formulas.compose, formulas.inverse, (m.inverse for m in maps)

    @kernel
    def apply(tau: Any, q0: Any, q1: Any, unused: Any) -> Any:
        g = compose(invert(q0), q1)
        return exp(g) if tau == EXP else (cayley(g) if tau == CAYLEY else ccsk(g))

    return apply


def _of_map(name: str, doc: str) -> Any:
    """The verb (table, tau, x, y, out): the function `name` of the map at (x, y)."""

    def formula(formulas: Any, maps: tuple[Map, ...]) -> Any:
        exp, cayley, ccsk = (getattr(m, name) for m in maps)

        @helper
        def apply(tau: Any, x: Any, y: Any, unused: Any) -> Any:
            return exp(x, y) if tau == EXP else (cayley(x, y) if tau == CAYLEY else ccsk(x, y))

        return apply

    return _verb(name, "vvv", formula, doc)


def _of_map3(name: str) -> Callable[[Any, tuple[Map, ...]], Any]:
    """(x, y, z) → the function `name` of the map."""

    def formula(formulas: Any, maps: tuple[Map, ...]) -> Any:
        exp, cayley, ccsk = (getattr(m, name) for m in maps)

        @helper
        def apply(tau: Any, x: Any, y: Any, z: Any) -> Any:
            return exp(x, y, z) if tau == EXP else (cayley(x, y, z) if tau == CAYLEY else ccsk(x, y, z))

        return apply

    return formula


def _of_algebra(name: str) -> Callable[[Any, tuple[Map, ...]], Any]:
    """(x, y) → the function `name` of the formula file; no map."""

    def formula(formulas: Any, maps: tuple[Map, ...]) -> Any:
        function = getattr(formulas, name)

        @helper
        def apply(tau: Any, x: Any, y: Any, unused: Any) -> Any:
            return function(x, y)

        return apply

    return formula


retract = _verb("retract", "qvq", _with_step("advance"), "out = q τ(x), for (table, tau, q, x, out).")
displacement = _verb(
    "displacement",
    "qvq",
    _with_step("displace"),
    "out = q τ(x) − q to relative precision, for (table, tau, q, x, out): what compensated summation adds to q.",
)
increment = _verb("increment", "qqv", _quotient, "out = τ⁻¹(q0⁻¹ q1), for (table, tau, q0, q1, out).")
dtau_left = _of_map("dtau_left", "out = dτ_left(x) v, for (table, tau, x, v, out).")
dtau_right = _of_map("dtau_right", "out = dτ_right(x) v, for (table, tau, x, v, out).")
dtau_inverse_left = _of_map("dtau_inverse_left", "out = dτ_left(x)⁻¹ v, for (table, tau, x, v, out).")
dtau_inverse_right = _of_map("dtau_inverse_right", "out = dτ_right(x)⁻¹ v, for (table, tau, x, v, out).")
dtau_left_transpose = _of_map("dtau_left_transpose", "out = dτ_left(x)ᵀ μ, for (table, tau, x, mu, out).")
dtau_right_transpose = _of_map("dtau_right_transpose", "out = dτ_right(x)ᵀ μ, for (table, tau, x, mu, out).")
dtau_inverse_left_transpose = _of_map(
    "dtau_inverse_left_transpose", "out = dτ_left(x)⁻ᵀ μ, for (table, tau, x, mu, out)."
)
dtau_inverse_right_transpose = _of_map(
    "dtau_inverse_right_transpose", "out = dτ_right(x)⁻ᵀ μ, for (table, tau, x, mu, out)."
)
coadjoint = _of_map("coadjoint", "out = Ad_{τ(x)}ᵀ μ, for (table, tau, x, mu, out).")
coadjoint_difference = _of_map(
    "coadjoint_difference",
    "out = Ad_{τ(x)}ᵀ μ − μ, to relative precision for exp and Cayley, for (table, tau, x, mu, out).",
)
dtau_inverse_left_transpose_derivative = _verb(
    "dtau_inverse_left_transpose_derivative",
    "vvvv",
    _of_map3("derivative"),
    "out = d/dx (dτ_left(x)⁻ᵀ μ) · δ, for (table, tau, x, mu, delta, out): one column of Newton's matrix per δ = eₖ.",
)
dtau_inverse_left_gradient = _verb(
    "dtau_inverse_left_gradient",
    "vvvv",
    _of_map3("gradient"),
    "out = ∇ₓ ⟨μ, dτ_left(x)⁻¹ ξ⟩, for (table, tau, x, xi, mu, out).",
)
_bracket = _verb("_bracket", "vvv", _of_algebra("bracket"), "")
_bracket_transpose = _verb("_bracket_transpose", "vvv", _of_algebra("bracket_transpose"), "")


@kernel
def bracket(table: Any, x: Any, y: Any, out: Any) -> None:
    """out = [x, y]."""
    _bracket(table, EXP, x, y, out)


@kernel
def bracket_transpose(table: Any, v: Any, mu: Any, out: Any) -> None:
    """out = ad_vᵀ μ."""
    _bracket_transpose(table, EXP, v, mu, out)
