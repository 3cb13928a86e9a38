"""Lagrangian systems on any product of groups, from a plain function of numbers.

With L(t, q, v) the Lagrangian, v the body velocity (q̇ = q·v̂; on Rⁿ v = q̇), F all other forces, and ∂/∂q the
left-trivialised derivative,

    π = ∂L/∂v,      φ = ∂L/∂q + F,      d/dt π = ad_vᵀ π + φ    (Euler–Lagrange, Euler–Poincaré, Lagrange–d'Alembert)

The functions are run once on scalars that note what is done to them (`liegroup.compile.tracing`); from the notes come
π, φ, L and their exact derivatives as straight-line code, for one trajectory, for lanes, and for numbers of other
kinds.  A problem posed here carries

* as its field Hamilton's equations, with v found from p = π(t, q, v) by Newton's method: every
  canonical method applies;
* as its parts (layout ``lagrangian`` of `integrators.problem.parts`) the derivatives, for methods that work with
  the Lagrangian itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arithmetic.elimination import solve_rows
from integrators.problem.derivatives import Differentiable
from integrators.problem.energy import with_energy_guard
from integrators.problem.field_source import ARGUMENTS
from integrators.problem.fields import Field, as_field
from integrators.problem.parts import lagrangian as layout
from integrators.problem.problem import Problem, group_table
from integrators.problem.times import begins_at
from integrators.signatures import FIELD_LANES_SIGNATURE, FIELD_SIGNATURE, FIELD_STEPPED_SIGNATURE
from liegroup.arrays import check_function, real, reals, shown
from liegroup.compile import Entry, absolute, any_, compile_field, kernel, ld, ld2, select, st, st2
from liegroup.compile.generated import module_of
from liegroup.compile.scalars import maximum, minimum
from liegroup.compile.traceable import on_scalars, scalars
from liegroup.compile.tracing import IMPORTS, Traced, lines, operand, straight
from liegroup.group import rn
from liegroup.table import FACTORS, KIND, Q_OFFSET, RN, V_OFFSET, bracket_transpose

Array = NDArray[np.float64]
LIMIT = 100
"""Newton iterations for the velocity, halved corrections among them."""
SMALL = 1e-9
"""Relative correction of the velocity that leaves an error below rounding."""
NOISE = 1e-6
"""Relative correction at which rounding may keep the residual from falling further."""


@dataclass(frozen=True)
class Derivatives:
    """φ, π, L and their derivatives as a function of the state (q, v): traced by `derivatives`, or written by hand.

    Attributes
    ----------
    field : Field, Entry or function
        In the forms of a field, values in the layout ``lagrangian`` of `integrators.problem.parts`; the second
        derivatives are written only where ``out`` has room for them.
    linear : bool
        π is linear in v: L is quadratic in the velocity.
    source : str
        The code, if it was traced.
    autonomous : bool, optional
        Whether they read no time; None: not known.
    """

    field: Any
    linear: bool = False
    source: str = ""
    autonomous: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "field", as_field(self.field, "derivatives"))


def derivatives(
    table: NDArray[np.int64],
    lagrangian: Callable[..., Any],
    force: Callable[..., Any] | None = None,
    parameters: int = 0,
) -> Derivatives:
    """Differentiate a Lagrangian (and forces) exactly.

    Parameters
    ----------
    table : int64 array (factors, 5)
        The configuration group.
    lagrangian : callable
        ``L(t, q, v, parameters)`` → number; q, v and parameters are arrays of scalars.
    force : callable, optional
        ``F(t, q, v, parameters)`` → n generalised forces (body wrenches), all that is not in L.
    parameters : int
        How many parameters there are.

    Raises
    ------
    TypeError
        The functions cannot be traced: with what they did and what to write instead.
    ValueError
        The wrong number of forces.
    """
    return trace(table, lagrangian, force, parameters).derivatives()


@dataclass(frozen=True)
class Notes:
    """What was noted of a Lagrangian: its variables, and the nodes of φ, π, L and of their derivatives."""

    graph: Differentiable
    t: Traced
    q: list[Traced]
    v: list[Traced]
    parameters: list[Traced]
    first: list[int]
    second: list[int]

    @property
    def mass(self) -> list[int]:
        """∂π/∂v, by rows."""
        return self.second[-(len(self.v) ** 2) :]

    @property
    def linear(self) -> bool:
        """Whether π is linear in v."""
        g = self.graph
        return all(g.value(g.derivative(k, x.k)) == 0.0 for k in dict.fromkeys(self.mass) for x in self.v)

    def derivatives(self, *more: Sequence[int]) -> Derivatives:
        """The function of the notes; further nodes are written where ``out`` has room for them."""
        source = _source(self.graph, self.first, self.second, *more)
        timeless = not self._reads_time([*self.first, *self.second, *chain.from_iterable(more)])
        return Derivatives(module_of(f"{_HEADER}{source}\n").derivatives, self.linear, source, timeless)

    def _reads_time(self, nodes: Sequence[int]) -> bool:
        """Whether one of the nodes is computed from the time."""
        known, ahead = set[int](), [*nodes]
        while ahead:
            k = ahead.pop()
            if k not in known:
                known.add(k)
                ahead += self.graph.arguments(k)
        return self.t.k in known


_LAGRANGIAN = "lagrangian(t, q, v, parameters)"


def trace(
    table: NDArray[np.int64], lagrangian: Callable[..., Any], force: Callable[..., Any] | None, parameters: int
) -> Notes:
    """Run the functions once and differentiate what was noted; arguments as for `derivatives`."""
    last = table[-1]
    n_q, n = int(last[1] + last[3]), int(last[2] + last[4])
    g = Differentiable()
    t = g.input("t")
    q, v = [g.input(f"ld(y, {i})") for i in range(n_q)], [g.input(f"ld(y, {n_q + i})") for i in range(n)]
    p = [g.input(f"parameters[{i}]") for i in range(parameters)]
    check_function(lagrangian, "lagrangian", "a function L(t, q, v, parameters)", 4)
    L = scalar(g, on_scalars(lagrangian, _LAGRANGIAN, t, *map(scalars, (q, v, p))), "lagrangian")  # arrays of its own
    push = [along(g, L, table, q, j) for j in range(n)]
    if force is not None:
        check_function(force, "force", "a function F(t, q, v, parameters)", 4)
        found = on_scalars(force, "force(t, q, v, parameters)", t, *map(scalars, (q, v, p)))
        if not np.iterable(found):
            raise TypeError(f"force: returned {shown(found)}, expected {n} generalised forces, one per velocity")
        forces = [scalar(g, x, "force") for x in found]
        if len(forces) != n:
            raise ValueError(f"force: {len(forces)} generalised forces, expected {n}, one per velocity")
        push = [g.apply("add", a, b) for a, b in zip(push, forces, strict=True)]
    pi = [g.derivative(L, x.k) for x in v]
    second = [
        *(along(g, k, table, q, j) for k in push for j in range(n)),
        *(g.derivative(k, x.k) for k in push for x in v),
        *(along(g, k, table, q, j) for k in pi for j in range(n)),
        *(g.derivative(k, x.k) for k in pi for x in v),
    ]
    return Notes(g, t, q, v, p, [*push, *pi, L], second)


def scalar(g: Differentiable, x: Any, what: str) -> int:
    if isinstance(x, np.ndarray) and not x.ndim:
        x = x.item()
    if isinstance(x, Traced):
        return g.number(x.k)
    try:
        return g.constant(float(x))
    except (TypeError, ValueError):
        found, hint = f"a {type(x).__name__}" if np.iterable(x) else shown(x), ""
        if isinstance(x, np.ndarray):
            found, hint = f"an array of shape {x.shape}", "; take its element, or the sum of all"
        raise TypeError(
            f"{what}: returned {found}, expected one number made of the scalars it was given{hint}"
        ) from None


def along(g: Differentiable, k: int, table: NDArray[np.int64], q: Sequence[Traced], j: int) -> int:
    """The left-trivialised derivative of a node along velocity j: Σ ∂/∂q_i (d/ds (q·exp(s eⱼ))_i)."""
    row = next(r for r in table.tolist() if r[V_OFFSET] <= j < r[V_OFFSET] + r[4])
    kind, n_v = row[KIND], FACTORS[row[KIND]].N_V
    copy, unit = divmod(j - row[V_OFFSET], n_v)
    first = row[Q_OFFSET] + copy * FACTORS[kind].N_Q
    rates = _rates(g, kind, q[first : first + FACTORS[kind].N_Q], unit)
    total = g.constant(0.0)
    for x, rate in zip(q[first:], rates, strict=False):
        total = g.apply("add", total, g.apply("multiply", g.derivative(k, x.k), rate))
    return total


def _rates(g: Differentiable, kind: int, q: Sequence[Traced], unit: int) -> list[int]:
    """d/ds of the components of q·exp(s e) at s = 0: q τ − q is linear in τ − e, which begins with s times
    constants.
    """
    formulas, s = FACTORS[kind], g.input("0.0")
    step = tuple(1e-30j if j == unit else 0j for j in range(formulas.N_V))
    tangent = tuple(s * (x.imag / 1e-30) for x in formulas.exp_difference(step))
    return [g.derivative(scalar(g, x, "rate"), s.k) for x in formulas.displace(tuple(q), tangent)]


# --- source code ------------------------------------------------------------------------------------------------------


def _source(g: Differentiable, *blocks: Sequence[int]) -> str:
    """The entry that writes the blocks of nodes, each where `out` has room for more than those before; a block hands on
    what those behind it read.
    """
    blocks = tuple(filter(None, blocks))
    known: set[int] = set()
    texts, read, there = [], [], []
    for block in blocks:
        before = frozenset(known)
        texts.append(lines(g, block, known))
        read.append(before & {*block, *(a for k in known - before for a in g.arguments(k))})
        there.append(frozenset(known))
    formulas, body, at, indent = "", [f"def derivatives({ARGUMENTS}):"], 0, "    "
    given: list[str] = []
    for number, block in enumerate(blocks):
        kept = [operand(g, k) for k in sorted(there[number] & {*chain.from_iterable(read[number + 1 :])})]
        taken = [f"{', '.join(given)}, = given"] if given else []
        stored = [f"st(out, {at + i}, {operand(g, k)})" for i, k in enumerate(block)]
        left = [f"return {', '.join(kept)},"] if kept else []
        text = [*taken, *texts[number], *stored, *left]
        formulas += straight(f"block{number}", f"t, y, parameters, out{', given' * bool(given)}", text)
        if at:
            body.append(f"{indent}if out.shape[0] > {at}:")
            indent += "    "
        result, argument = f"given{number} = " * bool(kept), f", given{number - 1}" * bool(given)
        body.append(f"{indent}{result}block{number}(t, y, parameters, out{argument})")
        at, given = at + len(block), kept
    return f"{formulas}\n@entry(*FIELD_SIGNATURES)\n" + "\n".join(body)


_HEADER = f'''"""The derivatives of one Lagrangian: written by integrators.problem.lagrangian."""

from integrators.signatures import FIELD_SIGNATURES
{IMPORTS}
'''


# --- Hamilton's equations ---------------------------------------------------------------------------------------------

STATE, VALUES, SEARCH, SYSTEM = 0, 1, 2, 3
"""Rows of the field's workspace: (q, v), the derivatives, the best v with its correction, the equations for v."""


def _work_shape(n_q: int, n: int) -> tuple[int, int]:
    return SYSTEM + n, max(layout(n).SIZE, n_q + n, n + 1)


def legendre(parts: Callable[..., None], n_q: int, n: int, linear: bool, left: int) -> Callable[..., None]:
    """The function that finds v with π(t, q, v) = p and leaves the first `left` of the parts in `VALUES`.

    Newton's method from v = 0, whose corrections are halved until the largest residual falls, and doubled again while
    it does: where L is convex in v and ends somewhere, as at the speed of light, it gets there.  Not finite where it
    does not.  Once the fastest component is known it goes on for slow ones, which may have other units, while the
    residual falls.
    """
    second, pi, pi_v = layout(n).SIZE, layout(n).MOMENTUM, layout(n).MOMENTUM_V

    def velocity(t: Any, y: Any, parameters: Any, structure: Any, work: Any) -> None:
        state, values, best, step = work[STATE][: n_q + n], work[VALUES][:second], work[SEARCH], work[SEARCH][n:]
        zero = 0.0 * ld(y, 0)
        for i in range(n_q):
            st(state, i, ld(y, i))
        for i in range(n):
            st(state, n_q + i, zero)
            st(best, i, zero)
            st(step, i, zero)
        going, part, least, change, size = zero + 1.0, zero + 1.0, zero + np.inf, zero, zero
        near = zero  # the fastest component is known
        for _ in range(LIMIT):
            parts(t, state, parameters, structure, work, values)
            residual = zero
            for i in range(n):
                missing = ld(y, n_q + i) - ld(values, pi + i)
                for j in range(n):
                    st2(work, SYSTEM + i, j, ld(values, pi_v + n * i + j))
                st2(work, SYSTEM + i, n, missing)
                residual = residual + absolute(missing)
            solve_rows(work, SYSTEM, n, 1)
            falls = select(residual < least, zero + 1.0, zero)
            least = select(falls > 0.0, residual, least)
            part = select(falls > 0.0, minimum(2.0 * part, zero + 1.0), 0.5 * part)
            change, size, moves = zero, zero, zero
            for i in range(n):
                d = select(falls > 0.0, ld2(work, SYSTEM + i, n), ld(step, i))
                v = select(falls > 0.0, ld(state, n_q + i), ld(best, i))
                st(step, i, d)
                st(best, i, v)
                st(state, n_q + i, select(going > 0.0, v + part * d, ld(state, n_q + i)))
                change, size = maximum(change, absolute(d)), maximum(size, absolute(v + d))
                moves = select(absolute(d) > SMALL * absolute(v + d), zero + 1.0, moves)
            going = select((near > 0.0) & ((falls <= 0.0) | (moves <= 0.0)), zero, going)  # slower ones, too
            near = select((change <= SMALL * size) & (part >= 1.0), zero + 1.0, near)
            going = select((near > 0.0) & (moves <= 0.0), zero, going)
            if linear or not any_(going > 0.0):
                break
        if not linear:
            for i in range(n):
                there = select(change <= NOISE * size, ld(state, n_q + i), zero + np.nan)
                st(state, n_q + i, select(going > 0.0, there, ld(state, n_q + i)))
        parts(t, state, parameters, structure, work, work[VALUES][:left])

    return velocity


def _hamiltonian(velocity: Callable[..., None], table: NDArray[np.int64], n_q: int, n: int) -> Callable[..., None]:
    """Hamilton's equations: out = (v, ad_vᵀ p + φ)."""

    def field(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        velocity(t, y, parameters, structure, work)
        state, values = work[STATE], work[VALUES]
        for i in range(n):
            st(out, i, ld(state, n_q + i))
        bracket_transpose(table, out[:n], y[n_q:], out[n:])
        for i in range(n):
            st(out, n + i, ld(out, n + i) + ld(values, i))

    return field


def energy_of(velocity: Callable[..., None], n_q: int, n: int) -> Callable[..., None]:
    """The energy π·v − L."""

    def energy(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
        velocity(t, y, parameters, structure, work)
        total = -ld(work[VALUES], 2 * n)
        for i in range(n):
            total = total + ld(y, n_q + i) * ld(work[STATE], n_q + i)
        st(out, 0, total)

    return energy


def built(make: partial[Callable[..., None]], parts: Field, inner: partial[Callable[..., None]]) -> Field:
    """A field made of the parts: interpreted from their source, compiled from their compiled form."""
    velocity, field, files = _names(make, parts, inner)

    def compiled(signature: Any, form: Any) -> Any:
        return compile_field(make(kernel(inner(form), velocity, files)), signature, name=field, sources=files)

    python, recipe = make(inner(parts.python)), (built, (make, parts, inner))
    if not parts.is_compiled:
        return replace(as_field(python), recipe=recipe)

    def stepped() -> Any:
        within = parts.compiled_stepped
        return None if within is None else compiled(FIELD_STEPPED_SIGNATURE, within)

    return Field(
        python,
        True,
        python,
        lambda: compiled(FIELD_SIGNATURE, parts.compiled),
        lambda: compiled(FIELD_LANES_SIGNATURE, parts.compiled_lanes),
        recipe,
        build_stepped=stepped,
    )


def _names(
    make: partial[Callable[..., None]], parts: Field, inner: partial[Callable[..., None]]
) -> tuple[str, str, tuple[str, ...]]:
    """Names of the two functions by which they are kept on disk, and the file of the parts; empty where these have
    none.
    """
    if not isinstance(parts.source, Entry):
        return "", "", ()
    python = parts.source.python
    told = f"{python.__qualname__} {_told(inner)}", f"{python.__qualname__} {_told(inner)} {_told(make)}"
    velocity, field = (hashlib.sha256(x.encode()).hexdigest()[:16] for x in told)
    return f"velocity.{velocity}", f"field.{field}", (python.__code__.co_filename,)


def _told(made: partial[Any]) -> str:
    """A function with its arguments, as text."""
    return f"{made.func.__qualname__} { {name: np.asarray(x).tolist() for name, x in made.keywords.items()} }"


# --- the problem ------------------------------------------------------------------------------------------------------


def lagrangian_problem(
    lagrangian: Callable[..., Any] | Derivatives,
    q: ArrayLike,
    v: ArrayLike | None = None,
    p: ArrayLike | None = None,
    parameters: ArrayLike = (),
    group: Any = None,
    force: Callable[..., Any] | None = None,
    invariants: Any = None,
    invariant_names: Sequence[str] = (),
    invariant_units: Sequence[str] = (),
    exact: Callable[[Any], Array] | None = None,
    model: str = "Lagrangian system",
    t: float = 0.0,
) -> Problem:
    """The motion of a Lagrangian system, state (q, p) with p = ∂L/∂v.

    Parameters
    ----------
    lagrangian : callable
        ``L(t, q, v, parameters)`` → number, a plain function of arrays of scalars: + − * / **, the functions of
        `liegroup.compile.scalars` or NumPy, loops; no `if` on a value.  Or its derivatives, written by hand.
    q : array (n_q,)
        Initial configuration.
    v, p : array (n,), optional
        Initial body velocity, or momentum; default at rest.
    parameters : array (k,), optional
        Handed to the functions.
    group : liegroup group or table, optional
        The configuration group; default Rⁿ.
    force : callable, optional
        ``F(t, q, v, parameters)`` → n generalised forces that are not in L (friction, control, …).
    invariants, invariant_names, invariant_units
        As for `Problem`; default the energy π·v − L.
    exact : callable, optional
        ``exact(t)`` → the state (…, n_q + n).
    model : str
        Name for tables and files.
    t : float
        Time at which runs are to begin, s: p = ∂L/∂v there, where it depends on the time.

    Returns
    -------
    Problem
        State (q, p) on T*G, canonical, with the derivatives of L as its parts: for variational integrators, and for
        every method of fields.

    Raises
    ------
    ValueError, TypeError
        With what is wrong and what to do.

    Notes
    -----
    Euler–Lagrange, left-trivialised: d/dt π = ad_vᵀ π + φ with π = ∂L/∂v and φ the derivative of L along q, plus the
    forces.  Holds where ∂²L/∂v² is regular.

    References
    ----------
    Marsden and West 2001; on groups Kobilarov, Crane, Desbrun 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import integrate
    >>> pendulum = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 + np.cos(q[0]), q=[2.0])
    >>> bool(integrate(pendulum, "VARIATIONAL_GAUSS2", (0, 10), 0.1).error("energy") < 1e-4)
    True
    """
    q = checked_start(q)
    table = group_table(rn(len(q)) if group is None else group)
    n_q, n = int(table[-1, 1] + table[-1, 3]), int(table[-1, 2] + table[-1, 4])
    if q.shape != (n_q,):
        raise ValueError(f"q: shape {q.shape}, expected ({n_q},)")
    if v is not None and p is not None:
        raise ValueError("v and p: give one of them")
    numbers, begin = np.atleast_1d(reals(parameters, "parameters")), real(t, "t")
    if isinstance(lagrangian, Derivatives) and force is not None:
        raise ValueError("force: given beside derivatives written by hand; add it to their φ and its derivatives")
    found = lagrangian if isinstance(lagrangian, Derivatives) else derivatives(table, lagrangian, force, len(numbers))
    begins = None
    if p is None:
        start = found, q, np.zeros(n) if v is None else checked_vector(v, n, "v"), numbers, begin
        p = momentum_at(*start)
        begins = momenta_begin_at(*start)

    inner = partial(legendre, n_q=n_q, n=n, linear=found.linear, left=2 * n + 1)
    energy = built(partial(energy_of, n_q=n_q, n=n), found.field, inner)
    posed = Problem(
        np.vstack([table, [[RN, n_q, n, n, n]]]),
        np.concatenate([q, checked_vector(p, n, "p")]),
        built(partial(_hamiltonian, table=table, n_q=n_q, n=n), found.field, inner),
        parameters=numbers,
        work_shape=_work_shape(n_q, n),
        invariants=energy if invariants is None else invariants,
        invariant_names=("energy",) if invariants is None else invariant_names,
        invariant_units=("J",) if invariants is None else invariant_units,
        canonical=True,
        autonomous=found.autonomous,
        parts=found.field,
        parts_layout="lagrangian",
        exact=exact,
        begins=begins,
        model=model,
    )
    if v is not None and not found.linear:
        check_velocity(posed, begin, checked_vector(v, n, "v"))
    proven = found.autonomous is True and force is None and invariants is None  # π·v − L, by Noether's theorem
    return with_energy_guard(posed, conservative=force is None, proven=proven)


def checked_start(q: ArrayLike) -> Array:
    """An initial configuration as an array of at least one number."""
    array = np.atleast_1d(reals(q, "q"))
    if not array.size:
        raise ValueError(f"q: shape {array.shape}, expected at least one coordinate")
    if not np.isfinite(array).all():
        raise ValueError(f"q: {array.tolist()}, expected finite numbers")
    return array


def checked_vector(x: ArrayLike, n: int, name: str) -> Array:
    array = reals(x, name)
    if array.shape != (n,) or not np.isfinite(array).all():
        raise ValueError(f"{name}: {array.tolist()}, expected {n} finite numbers")
    return array


def momentum_at(found: Derivatives, q: Array, v: Array, parameters: Array, t: float) -> Array:
    """π(t, q, v); ValueError where ∂π/∂v is singular."""
    n, at, out = len(v), layout(len(v)), _values_at(found, q, v, parameters, t)
    M = out[at.MOMENTUM_V : at.MOMENTUM_V + n * n].reshape(n, n)
    if not M.any():
        raise ValueError(
            "lagrangian: it is linear in the velocities, ∂²L/∂v² is zero at the start, so that its equations are of "
            "first order (vortices, guiding centres); pose these by Problem, whose field gives the rates, or give "
            "every coordinate kinetic energy"
        )
    if np.isfinite(M).all() and not M.any(axis=1).all():
        k = int(np.flatnonzero(~M.any(axis=1))[0])
        raise ValueError(
            f"lagrangian: velocity {k} has no inertia, row {k} of ∂²L/∂v² is zero at the start; give every coordinate "
            "kinetic energy, or leave out those without"
        )
    p = out[at.MOMENTUM : at.MOMENTUM + n]
    if not np.isfinite(p).all():
        raise ValueError(f"v: {v.tolist()} at q = {q.tolist()} has the momenta {p.tolist()}, expected finite numbers")
    sizes = np.sqrt(np.outer(*2 * [np.abs(M).max(axis=1)]))
    if np.isfinite(M).all() and np.linalg.matrix_rank(M / sizes) < n:
        raise ValueError(
            f"lagrangian: ∂²L/∂v² = {M.tolist()} is singular at the start: a combination of velocities has no "
            "inertia; give every motion kinetic energy, or leave out coordinates"
        )
    return p


def check_velocity(problem: Problem, t: float, v: Array) -> None:
    """ValueError where the momenta of v do not say v: L is not convex in the velocities, or a momentum is flat."""
    y0 = np.asarray(problem.y0, dtype=np.float64)
    with np.errstate(all="ignore"):
        found = problem.velocity(t, y0)[: len(v)]
    is_found = bool(np.isfinite(found).all())
    if not is_found or not np.abs(found - v).max() <= NOISE * max(np.abs(v).max(), np.abs(found).max()):
        raise ValueError(
            f"v: {v.tolist()} has the momenta {y0[-len(v) :].tolist()}, from which {found.tolist()} was found; "
            "expected a Lagrangian whose momenta say the velocities (∂²L/∂v² positive from v = 0 to the start)"
        )


def momenta_begin_at(found: Derivatives, q: Array, v: Array, parameters: Array, t: float) -> float | None:
    """The time t of a start by velocities, whose momenta are others at other times; else None."""
    at = slice(layout(len(v)).MOMENTUM, layout(len(v)).MOMENTUM + len(v))
    return begins_at(lambda s: _values_at(found, q, v, parameters, s)[at], t, part=0.0)


def _values_at(found: Derivatives, q: Array, v: Array, parameters: Array, t: float) -> Array:
    """What a Lagrangian's field gives at a state in velocities."""
    out = np.zeros(layout(len(v)).SIZE)
    found.field.python(t, np.concatenate([q, v]), parameters, np.zeros(0, dtype=np.int64), np.zeros((1, 1)), out)
    return out
