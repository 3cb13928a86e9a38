"""Products of groups described at run time, for compiled loops: kernels over a table of factors.

A table is an int64 array, C-contiguous, one row per factor, columns ``(kind, q_offset, v_offset, n_q, n_v)``: the
factor's coordinates are ``q[q_offset : q_offset + n_q]``, its algebra ``v[v_offset : v_offset + n_v]``.  A row may hold
several copies of its group (n_v a multiple of the group's): ``RN`` with n_v = n is Rⁿ.  `tau` is `EXP`, `CAYLEY` or
`CCSK` (natural order of the basis). States are arrays ``(n,)`` or, in lanes, ``(n, 8)``; `out` may alias any argument
before it of the same space.  Nothing is checked here.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from liegroup.compile import helper, ld, st
from liegroup.compile.late import Formula, bind_all, call, needed_by, places
from liegroup.compile.origin import Origin, origin_of
from liegroup.formulas import check_for_kernels, rn, se2, se3, so2, so3
from liegroup.formulas.facts import KINDS, enter
from liegroup.maps import CAYLEY, CCSK, EXP, NAMES, Map, maps_of
from liegroup.modules import whose
from liegroup.tau import missing_map

__all__ = [
    "CAYLEY",
    "CCSK",
    "EXP",
    "FACTORS",
    "KIND",
    "MAPS",
    "N_Q",
    "N_V",
    "Q_OFFSET",
    "RN",
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "V_OFFSET",
    "angles",
    "bind",
    "bracket",
    "bracket_transpose",
    "check_maps",
    "coadjoint",
    "coadjoint_difference",
    "displacement",
    "dtau_inverse_left",
    "dtau_inverse_left_gradient",
    "dtau_inverse_left_transpose",
    "dtau_inverse_left_transpose_derivative",
    "dtau_inverse_right",
    "dtau_inverse_right_transpose",
    "dtau_left",
    "dtau_left_transpose",
    "dtau_right",
    "dtau_right_transpose",
    "increment",
    "quaternions",
    "register",
    "register_installed",
    "retract",
    "table_of",
]  # fmt: skip

FACTORS: list[Any] = []
"""Formula files by kind: a new group is one file and one call of `register`."""
RN, SO2, SO3, SE2, SE3 = range(5)
KIND, Q_OFFSET, V_OFFSET, N_Q, N_V = range(5)
MAPS: list[tuple[Map | None, ...]] = []
"""`MAPS[kind][tau]`, None where the formula file does not have the map."""
_ORIGINS: list[Origin] = []
"""What the compiled formulas of a group depend on, by kind."""


def register(formulas: Any) -> int:
    """Make compiled loops know the group of a formula file; returns its kind.

    At any time: loops that have been compiled before know it, too, and only its own formulas are compiled.  Whether
    they are right is not asked here, but by `liegroup.testing.check_group`, and roughly by runs.

    Parameters
    ----------
    formulas : module
        A formula file; see `liegroup.formulas`.

    Returns
    -------
    int
        Its kind, for `table_of`.

    Raises
    ------
    TypeError, ValueError
        With what the file lacks or contradicts (`liegroup.formulas`, `liegroup.formulas.facts`); its name is another
        group's.  Only exp is required of the three maps; of another it has all formulas, or none.
    """
    if formulas in FACTORS:
        return FACTORS.index(formulas)
    check_for_kernels(formulas)
    if any(formulas.NAME == known.NAME for known in FACTORS):
        raise ValueError(
            f"{formulas!r}: NAME = {formulas.NAME!r} is another group's, expected one of its own: compiled formulas "
            "are kept under it"
        )
    return _enter(formulas, origin_of(formulas.NAME, vars(formulas)))


ENTRY_POINTS = "liemech.groups"
"""Where installed packages name their groups."""
_installed: list[bool] = []


def register_installed() -> None:
    """Register the groups of installed packages: those that entry points of the group `ENTRY_POINTS` name, each the
    formula file of a group.  Done by itself where a group is asked for that is not known.

    Warns
    -----
    UserWarning
        What is wrong with an entry point, and whose it is; its group is left out.

    Examples
    --------
    >>> register_installed()
    """
    if _installed:
        return
    _installed.append(True)
    for point in entry_points(group=ENTRY_POINTS):
        try:
            register(point.load())
        except Exception as error:  # of any kind: other people's code
            warnings.warn(
                f"{whose(point)}: {error}; correct or uninstall that package: its group is left out", stacklevel=2
            )


def _enter(formulas: Any, origin: Origin) -> int:
    enter(len(FACTORS), formulas)
    FACTORS.append(formulas)
    _ORIGINS.append(origin)
    MAPS.append(tuple(m if hasattr(formulas, name) else None for m, name in zip(maps_of(formulas), NAMES, strict=True)))
    return len(FACTORS) - 1


def map_of(kind: int, tau: int) -> Map:
    """The map `tau` of a registered group; MissingMapError if its formula file does not have it."""
    found = MAPS[kind][tau]
    if found is None:
        raise missing_map(FACTORS[kind].NAME, NAMES[tau])
    return found


def check_maps(table: Any, tau: int) -> None:
    """Whether all groups of a table have the map `tau`.

    Parameters
    ----------
    table : int64 array (factors, 5)
        The product.
    tau : int
        Code of a map: `EXP`, `CAYLEY`, `CCSK`.

    Raises
    ------
    MissingMapError
        One has not.

    Examples
    --------
    >>> check_maps(table_of([(SO3, 1)]), CAYLEY)
    """
    for kind in {int(kind) for kind in table[:, KIND]} if tau < len(NAMES) else ():
        map_of(kind, tau)


for _formulas in (rn, so2, so3, se2, se3):
    check_for_kernels(_formulas)
    _enter(_formulas, Origin((), ""))  # files that this one imports


def table_of(kinds: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The table of a product, from ``(kind, copies)`` pairs in order.

    Parameters
    ----------
    kinds : iterable of (int, int)
        Kind of a factor (`RN`, `SO2`, `SO3`, `SE2`, `SE3`, or of `register`), and how many copies.

    Returns
    -------
    int64 array (factors, 5)
        Rows (kind, q_offset, v_offset, n_q, n_v).

    Examples
    --------
    >>> table_of([(SO3, 1), (RN, 2)]).tolist()
    [[2, 0, 0, 4, 3], [0, 4, 3, 2, 2]]
    """
    rows, q, v = [], 0, 0
    for kind, copies in kinds:
        n_q, n_v = FACTORS[kind].N_Q * copies, FACTORS[kind].N_V * copies
        rows.append((kind, q, v, n_q, n_v))
        q, v = q + n_q, v + n_v
    return np.array(rows, dtype=np.int64).reshape(len(rows), 5)


def angles(table: np.ndarray[Any, np.dtype[np.int64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Components of an element of a product that are angles: points of a circle.

    Parameters
    ----------
    table : int64 array (factors, 5)
        The product.

    Returns
    -------
    int64 array (k,)
        Numbers of the components.

    Examples
    --------
    >>> angles(table_of([(RN, 2), (SE2, 1)])).tolist()
    [4]
    """
    places = [
        start + k
        for kind, first, _, n_q, _ in table.tolist()
        for start in range(first, first + n_q, FACTORS[kind].N_Q)
        for k in FACTORS[kind].ANGLES
    ]
    return np.array(places, dtype=np.int64)


def quaternions(table: np.ndarray[Any, np.dtype[np.int64]]) -> list[int]:
    """Where the unit quaternions in an element of a product begin.

    Parameters
    ----------
    table : int64 array (factors, 5)
        The product.

    Returns
    -------
    list of int
        Numbers of their first components.

    Examples
    --------
    >>> quaternions(table_of([(RN, 2), (SE3, 2)]))
    [5, 12]
    """
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


# --- one formula per verb, group and map, bound late ------------------------------------------------------------------

_VERBS: dict[int, bool] = {}
"""First places of the verbs → whether their formulas depend on the map."""


@helper
def _row_by_row(
    table: Any, first: Any, maps: Any, a: Any, a_space: Any, b: Any, b_space: Any, c: Any, out: Any, out_space: Any
) -> None:
    """out <- the formula of a verb, whose first place this is, for each row of a table; what stands in which column of
    offsets.
    """
    for r in range(table.shape[0]):
        i, j, k = table[r, a_space], table[r, b_space], table[r, out_space]
        call(first + maps * table[r, KIND], a, i, b, j, c, j, out, k, table[r, N_V])


def _verb(name: str, spaces: str, formula: Callable[[Any, Map], Any], doc: str, of_map: bool = True) -> Any:
    """The verb `name`, ``(table, tau, a, b, out)`` or ``(table, tau, a, b, c, out)``.

    `spaces` says where a, b (, c) and out live, q or v; ``formula(formulas, map)`` is the function (a, b, c) of tuples.
    """
    a_space, b_space, out_space = (Q_OFFSET if spaces[k] == "q" else V_OFFSET for k in (0, 1, -1))
    taus = range(len(NAMES)) if of_map else (EXP,)
    first, needed_for = places(
        KINDS * len(taus), lambda number: _late(name, spaces, formula, *divmod(number, len(taus)))
    )
    _VERBS[first], maps, of_tau = of_map, len(taus), int(of_map)

    @helper
    def three(table: Any, tau: Any, a: Any, b: Any, c: Any, out: Any) -> None:
        needed_for(out)
        _row_by_row(table, first + of_tau * tau, maps, a, a_space, b, b_space, c, out, out_space)

    @helper
    def two(table: Any, tau: Any, a: Any, b: Any, out: Any) -> None:
        three(table, tau, a, b, b, out)

    rows = two if len(spaces) == 3 else three
    rows.__doc__ = doc
    return rows


def _late(name: str, spaces: str, formula: Callable[[Any, Map], Any], kind: int, tau: int) -> Formula:
    """The formula of a verb for one group and map, for every copy of the group in a row."""
    n_q, n_v = FACTORS[kind].N_Q, FACTORS[kind].N_V
    sizes = [n_q if space == "q" else n_v for space in (spaces[0], spaces[1], spaces[-2], spaces[-1])]

    def make() -> Any:
        return _each_copy(formula(FACTORS[kind], map_of(kind, tau)), sizes, n_v)

    origin = _ORIGINS[kind]
    which = ".".join(filter(None, [name, FACTORS[kind].NAME, NAMES[tau], origin.content]))
    return Formula(which, (__file__, *origin.files), make, lambda n: n // n_v * sizes[-1])


def _each_copy(apply: Any, sizes: list[int], n_v: int) -> Any:
    """The function (a, b, c, out, n, place) that applies a formula to the copies of its group in n velocities."""
    size_a, size_b, size_c, size_out = sizes
    load_a, load_b, load_c, store = (*(load_components(n) for n in sizes[:3]), store_components(size_out))

    def each_copy(a: Any, b: Any, c: Any, out: Any, n: Any, place: Any) -> None:
        for m in range(n // n_v):
            result = apply(load_a(a, m * size_a), load_b(b, m * size_b), load_c(c, m * size_c))
            store(out, m * size_out, result)

    return each_copy


def bind(functions: Iterable[Any], table: Any, taus: Sequence[int]) -> None:
    """Have compiled what compiled functions call for the groups of a table and for maps, before a run rather than
    within it.
    """
    wanted = [tau for tau in taus if tau < len(NAMES)] or [EXP]  # maps of the bodies of a tree are none of a group
    kinds = {int(kind) for kind in table[:, KIND]}
    found: list[tuple[int, int]] = []
    for first, form in {needed for f in functions for needed in needed_by(f)}:
        for kind in kinds:
            numbers = [len(NAMES) * kind + tau for tau in wanted] if _VERBS[first] else [kind]
            found += [(first + number, form) for number in numbers]
    bind_all(found)


def _with_step(update: str) -> Callable[[Any, Map], Any]:
    """(q, x) → update(q, τ(x) − e)."""

    def formula(formulas: Any, of_map: Map) -> Any:
        change, difference = getattr(formulas, update), of_map.difference

        @helper
        def apply(q: Any, x: Any, unused: Any) -> Any:
            return change(q, difference(x))

        return apply

    return formula


def _quotient(formulas: Any, of_map: Map) -> Any:
    """(q0, q1) → τ⁻¹(q0⁻¹ q1)."""
    compose, invert, inverse = formulas.compose, formulas.inverse, of_map.inverse

    @helper
    def apply(q0: Any, q1: Any, unused: Any) -> Any:
        return inverse(compose(invert(q0), q1))

    return apply


def _of_map(name: str, doc: str) -> Any:
    """The verb (table, tau, x, y, out): the function `name` of the map at (x, y)."""

    def formula(formulas: Any, of_map: Map) -> Any:
        function = getattr(of_map, name)

        @helper
        def apply(x: Any, y: Any, unused: Any) -> Any:
            return function(x, y)

        return apply

    return _verb(name, "vvv", formula, doc)


def _of_map3(name: str) -> Callable[[Any, Map], Any]:
    """(x, y, z) → the function `name` of the map."""
    return lambda formulas, of_map: getattr(of_map, name)


def _of_algebra(name: str) -> Callable[[Any, Map], Any]:
    """(x, y) → the function `name` of the formula file; no map."""

    def formula(formulas: Any, of_map: Map) -> Any:
        function = getattr(formulas, name)

        @helper
        def apply(x: Any, y: Any, unused: Any) -> Any:
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
_bracket = _verb("_bracket", "vvv", _of_algebra("bracket"), "", of_map=False)
_bracket_transpose = _verb("_bracket_transpose", "vvv", _of_algebra("bracket_transpose"), "", of_map=False)


@helper
def bracket(table: Any, x: Any, y: Any, out: Any) -> None:
    """out = [x, y]."""
    _bracket(table, EXP, x, y, out)


@helper
def bracket_transpose(table: Any, v: Any, mu: Any, out: Any) -> None:
    """out = ad_vᵀ μ."""
    _bracket_transpose(table, EXP, v, mu, out)
