"""Assembling mechanisms: closed configurations from rough coordinates, and velocities that keep them closed.

Positions are closed by Levenberg and Marquardt's method on the product of the joint groups, then polished by
Gauss–Newton steps of least change.  Singular values below `FELT`, in rad and sizes of the mechanism, are left
alone where the gap is below `ACCEPTED`: there both are rounding, of doubles or of data, and redundant equations do
no harm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem.ambient import state_units as behind_velocities
from liegroup.arrays import of_kind, reals, sequence, shown
from liegroup.table import EXP, increment, retract
from mechanics.algebra.spatial import Array as Matrix
from mechanics.constraints.body_equations import COUPLING, DISTANCE, PARALLEL
from mechanics.constraints.couplings import MIMIC
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.loops import Closure
from mechanics.constraints.wheel_equations import HEIGHT, ROLL, SPHERE
from mechanics.errors import ModelError
from mechanics.model.tree import Tree

Array = NDArray[np.float64]

CLOSED = 1e-13
"""Gap, relative to the size of the mechanism, at which a configuration counts as closed."""
ACCEPTED = 1e-8
"""Gap with which a mechanism is still accepted: closures of rounded data cannot be closed better."""
FELT = 10 * ACCEPTED
"""What the equations change by for a turn of 1 rad, or a shift by the size of the mechanism, relative to that: less may
be rounding of the data, and holds nothing.
"""
ASTRAY = 0.5
"""rad between axes that should coincide, beyond which a closed configuration is another one than the closure says."""
SINGULAR = 1e-12
"""Smallest singular value of the rank, relative to the greatest, below which a position is singular."""
ITERATIONS = 200
ROUNDED = 2e-16
"""Of the sum of squares: less cannot be gained."""
LONGEST_STEP = 0.7
"""rad, or sizes of the mechanism."""


class AssemblyError(ModelError):
    """A mechanism that cannot be closed: `q`, where the search ended, and `gaps`, |φ| of every closure by name.

    Examples
    --------
    See `assemble`.
    """

    def __init__(self, where: str, problem: str, remedy: str, q: Array, gaps: Mapping[str, float]) -> None:
        super().__init__(where, problem, remedy)
        self.q, self.gaps = q, dict(gaps)


@dataclass(frozen=True, eq=False)
class Assembly:
    """A closed configuration and how it was found.

    Attributes
    ----------
    q : array (nq,)
        Closed configuration.
    gap : float
        Greatest |φ| left, m or 1.
    iterations : int
    moved : mapping of str to float
        Greatest change of each joint from the guess, rad or m, largest first.

    Examples
    --------
    See `assemble`.
    """

    q: Array
    gap: float
    iterations: int
    moved: Mapping[str, float]


def size_of(tree: Tree, closures: Iterable[Closure] = ()) -> float:
    """A length of the mechanism, m: the largest distance from a body origin to its joint, centre of mass or closing
    point, between points that are held apart, or radius of a wheel; where all of these are zero, the largest radius of
    gyration, or one.
    """
    closures = tuple(closures)
    lengths = [float(np.linalg.norm(x)) for b in tree.bodies for x in (np.asarray(b.position), b.inertia.com)]
    lengths += [float(np.linalg.norm(f.position)) for c in closures for f in (c.first, c.second) if f.body is not None]
    lengths += [e.length for c in closures for e in c.equations if e.kind == DISTANCE]
    lengths += [float(np.linalg.norm(e.b)) for c in closures for e in c.equations if e.kind in (HEIGHT, ROLL, SPHERE)]
    if longest := max(lengths, default=0.0):
        return longest
    squares = [float(np.trace(b.inertia.tensor)) / (2.0 * b.inertia.mass) for b in tree.bodies if b.inertia.mass > 0.0]
    return math.sqrt(max(squares, default=0.0)) or 1.0


def velocity_units(joint: object) -> list[str]:
    """m or rad per component of the velocity of a joint."""
    units: list[str] = []
    for element in joint.elements:  # type: ignore[attr-defined]
        A = element.basis(np.zeros(element.n_q) + np.array(element.neutral)) if element.n_v else np.zeros((6, 0))
        units += ["rad" if A[3:, k].any() else "m" for k in range(element.n_v)]
    return units


def units_of(tree: Tree, size: float) -> Array:
    """What counts as one in each component of a velocity (nv,): 1 rad, or the size of the mechanism."""
    return np.array([size if u == "m" else 1.0 for b in tree.bodies for u in velocity_units(b.joint)])


def state_units(tree: Tree, size: float) -> Array:
    """What counts as one in each component of the state (q, v): 1, or the size of the mechanism."""
    units = units_of(tree, size)
    return np.concatenate([behind_velocities(tree.group.table, units), units])


def canonical_units(tree: Tree, closures: Iterable[Closure] = ()) -> Array:
    """What counts as one in each component of the state (q, p): 1, or the size of the mechanism; of momenta those of
    the heaviest body where it goes as far in a second.
    """
    mass = max((b.inertia.mass for b in tree.bodies), default=0.0) or 1.0
    size = size_of(tree, closures)
    units = state_units(tree, size)
    return np.concatenate([units[: tree.nq], mass * size**2 / units[tree.nq :]])


def gap_units(loops: LoopEquations, size: float) -> Array:
    """What counts as one in each gap (m,): 1, or the size of the mechanism."""
    return np.array([1.0 if r.kind in (PARALLEL, COUPLING) else size for r in loops.equations])


def moved_by(tree: Tree, q: Array, x: Array) -> Array:
    """q exp(x) on the product of the joint groups."""
    out = np.zeros_like(q)
    retract(tree.group.table, EXP, q, x, out)
    return out


def assemble(
    tree: Tree,
    closures: Iterable[Closure],
    guess: ArrayLike | None = None,
    hold: Sequence[str] = (),
    equations: LoopEquations | None = None,
) -> Assembly:
    """Close a mechanism from rough coordinates.

    Parameters
    ----------
    tree : Tree
        The mechanism with its loops opened.
    closures : iterable of Closure
        What is to be closed.
    guess : array (nq,), optional
        Where to start, rad and m; default the neutral configuration.  The result is *a* closed configuration near it:
        where a mechanism can be put together in several ways, the guess decides.  Joints of model files that mimic
        others, are not held and are neutral in the guess begin where their leaders say.
    hold : sequence of str
        Joints that keep their coordinates (hold the crank to choose the branch).
    equations : LoopEquations, optional
        Those of the closures, if they are at hand.

    Returns
    -------
    Assembly
        A closed configuration and how it was found.

    Raises
    ------
    AssemblyError
        It does not close: with the gap of every closure.  Or it closes with frames turned away from each other, which
        satisfies the equations, too.
    ValueError
        A guess of another size, or not finite.

    Examples
    --------
    >>> from mechanics import Frame, Tree, Body, Inertia, joints
    >>> from mechanics.constraints import AssemblyError, assemble, point_on_plane
    >>> inertia = Inertia.about_com(1.0, (0, 0, 0), np.eye(3))
    >>> rod = Body("rod", joints.Revolute((0, 1, 0)), position=(0, 0, 0.5), inertia=inertia)
    >>> touching = point_on_plane(Frame(None), Frame("rod", (0, 0, -1.0)), "touching")
    >>> round(float(assemble(Tree([rod]), [touching], [0.8]).q[0]), 6)
    1.047198
    >>> away = point_on_plane(Frame(None, (0, 0, 2.0)), Frame("rod", (0, 0, -1.0)), "away")
    >>> try:
    ...     assemble(Tree([rod]), [away], [0.8])
    ... except AssemblyError as error:
    ...     print(round(error.gaps["away"], 3))
    0.5
    """
    of_kind(equations, (LoopEquations, type(None)), "equations", "a LoopEquations")
    loops = equations or LoopEquations(tree, closures)
    start = tree.neutral() if guess is None else reals(guess, "guess")
    if start.shape != (tree.nq,) or not np.isfinite(start).all():
        raise ValueError(f"guess: shape {start.shape}, expected {tree.nq} finite numbers in the order of the joints")
    if not len(loops):
        return Assembly(start, 0.0, 0, _moved(tree, start, start))
    problem = _Closing(tree, loops, _free_columns(tree, hold))
    q, iterations = problem.levenberg_marquardt(_followed(loops, start, hold))
    q = problem.polish(q)
    gap = float(np.abs(loops.gap(q)).max(initial=0.0))
    if np.abs(problem.residual(q)).max(initial=0.0) > ACCEPTED:
        raise _does_not_close(loops, q, problem.size)
    check_axes(loops, q)
    return Assembly(q, gap, iterations, _moved(tree, start, q))


def _free_columns(tree: Tree, hold: Sequence[str]) -> NDArray[np.bool_]:
    free = np.ones(tree.nv, dtype=bool)
    for name in sequence(hold, "hold", "names of joints"):
        free[tree.v_slice(name)] = False
    return free


def _followed(loops: LoopEquations, start: Array, hold: Sequence[str]) -> Array:
    """The guess with joints that mimic others where these say, leaders before those that follow them; joints that
    follow each other in a circle are left where they are.
    """
    neutral, q = loops.tree.neutral(), start.copy()
    held = {k for name in hold for k in np.arange(loops.tree.nq)[loops.tree.q_slice(name)]}
    places = [[q for q, _ in joints] for joints in loops.joints]
    mimics = [c for c in range(len(loops)) if loops.closures[loops.closure_of[c]].kind == MIMIC]
    waiting = {f: c for c in mimics if (f := places[c][0]) not in held and start[f] == neutral[f]}
    while ready := [f for f, c in waiting.items() if not waiting.keys() & places[c][1:]]:
        gap = loops.gap(q)  # of a joint that mimics its coordinate less what its leader says
        for f in ready:
            q[f] -= gap[waiting.pop(f)]
    return q


class _Closing:
    """The least-squares problem: rows over the size of the mechanism, columns of the joints that may move, in rad and
    sizes of the mechanism: what it finds does not depend on the unit of length.
    """

    def __init__(self, tree: Tree, loops: LoopEquations, free: NDArray[np.bool_]) -> None:
        self.tree, self.loops, self.free = tree, loops, free
        self.size = size_of(tree, loops.closures)
        self.scale = 1.0 / gap_units(loops, self.size)
        self.units = units_of(tree, self.size)

    def matrix(self, q: Array, t: float = 0.0) -> Matrix:
        """The equations by all joints."""
        return np.asarray(self.scale[:, None] * self.loops.matrix(q, t) * self.units)

    def residual(self, q: Array) -> Array:
        return np.asarray(self.scale * self.loops.gap(q))

    def jacobian(self, q: Array, r: Array) -> Matrix:
        """Of the residual r(q); where r may be that of rounded data, without the singular values that may be, too."""
        J = self.matrix(q)[:, self.free]
        if np.abs(r).max() > ACCEPTED:
            return J
        u, s, w = np.linalg.svd(J, full_matrices=False)
        counts = s > FELT * max(1.0, s[0])
        return J if counts.all() else np.asarray((u * np.where(counts, s, 0.0)) @ w)

    def inverse(self, q: Array) -> Matrix:
        """The pseudo-inverse by the singular values that count."""
        J = self.matrix(q)[:, self.free]
        greatest = np.clip(np.linalg.norm(J, 2), np.finfo(float).tiny, 1.0)
        return np.linalg.pinv(J, rcond=FELT / greatest)

    def step(self, q: Array, d: Array) -> Array:
        x = np.zeros(self.tree.nv)
        x[self.free] = self.units[self.free] * d
        return moved_by(self.tree, q, x)

    def levenberg_marquardt(self, q: Array) -> tuple[Array, int]:
        r, mu = self.residual(q), 1e-3
        for iteration in range(ITERATIONS):
            if np.abs(r).max(initial=0.0) < CLOSED or not self.free.any():
                return q, iteration
            J = self.jacobian(q, r)
            g, H = J.T @ r, J.T @ J
            if np.linalg.norm(g) <= 1e-11 * np.linalg.norm(r):
                return q, iteration
            D = np.maximum(np.diag(H), 1e-3 * np.diag(H).max())
            while True:
                d = -np.linalg.solve(H + mu * np.diag(D), g)
                d *= min(1.0, LONGEST_STEP / np.abs(d).max())
                expected = -(2 * g @ d + d @ H @ d)
                if expected < ROUNDED * (r @ r):  # and of a larger mu even less
                    return q, iteration
                trial = self.step(q, d)
                r_trial = self.residual(trial)
                gain = (r @ r - r_trial @ r_trial) / max(expected, 1e-300)
                if r_trial @ r_trial < r @ r:
                    q, r, mu = trial, r_trial, max(mu * max(1 / 3, 1 - (2 * gain - 1) ** 3), 1e-15)
                    break
                mu *= 4
                if mu > 1e12:
                    return q, iteration
        return q, ITERATIONS

    def polish(self, q: Array) -> Array:
        """Up to four steps of least change, as long as the gap falls."""
        r = self.residual(q)
        for _ in range(4 if self.free.any() else 0):
            trial = self.step(q, -self.inverse(q) @ r)
            r_trial = self.residual(trial)
            if not np.abs(r_trial).max() < np.abs(r).max():
                break
            q, r = trial, r_trial
        return q


def _gaps(loops: LoopEquations, q: Array, t: float = 0.0) -> dict[str, float]:
    phi = np.abs(loops.gap(q, t))
    return {c.name: float(phi[loops.closure_of == k].max()) for k, c in enumerate(loops.closures)}


def _does_not_close(loops: LoopEquations, q: Array, size: float) -> AssemblyError:
    gaps = dict(sorted(_gaps(loops, q).items(), key=lambda item: -item[1]))
    worst = next(iter(gaps))
    equation = int(np.argmax(np.abs(loops.gap(q))))
    listed = ", ".join(f"{name} {gap:.3g}" for name, gap in list(gaps.items())[:4])
    remedy = "start nearer to a closed configuration, or check the lengths and axes of this loop"
    if gaps[worst] < 1e-4 * size:
        remedy = (
            "it closes nearly: give rounded data with 12 digits, or, where equations are redundant only for exact "
            "data, closures with fewer of them (spherical in the place of revolute)"
        )
    return AssemblyError(f"closure {worst!r}", f"stays open ({loops.names[equation]}); gaps: {listed}", remedy, q, gaps)


def check_axes(loops: LoopEquations, q: Array, what: str = "", t: float = 0.0) -> None:
    """AssemblyError where axes that should coincide do not though all equations hold: they are zero for axes turned by
    half a turn, and those of a weld for frames turned by a third of a turn about (1, 1, 1) as well.
    """
    if not any(closure.aligned for closure in loops.closures):
        return
    g = geometry(loops.tree, q, None, t)

    def rotation(body: str | None) -> Array:
        R: Array = np.eye(3) if body is None else g.R[loops.tree.body_index(body)]
        return R

    for closure in loops.closures:
        first, second = rotation(closure.first.body), rotation(closure.second.body)
        angles = [np.arccos(np.clip((first @ a) @ (second @ b), -1.0, 1.0)) for a, b in closure.aligned]
        if max(angles, default=0.0) > ASTRAY:
            raise AssemblyError(
                f"{what}closure {closure.name!r}",
                f"closes with axes {np.degrees(max(angles)):.3g} degrees from each other that should coincide",
                "start nearer to the wanted configuration, or turn one of the frames so that they do",
                q,
                _gaps(loops, q, t),
            )


def _moved(tree: Tree, start: Array, q: Array) -> dict[str, float]:
    change = np.zeros(tree.nv)
    increment(tree.group.table, EXP, start, q, change)
    found = {name: float(np.abs(change[tree.v_slice(name)]).max(initial=0.0)) for name in tree.joint_names}
    return dict(sorted(found.items(), key=lambda item: -item[1]))


# --- velocities -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Velocities:
    """Velocities that keep a mechanism closed.

    Attributes
    ----------
    v : array (nv,)
    free : int
        Independent velocities that were not prescribed and are zero (least norm).
    defect : float
        What of the wanted rates could not be met, rad/s or sizes of the mechanism per second; not zero if they
        over-prescribe the motion.
    """

    v: Array
    free: int
    defect: float


def consistent_velocities(
    loops: LoopEquations, q: Array, wanted: Mapping[str, ArrayLike], rank: int, t: float = 0.0
) -> Velocities:
    """The velocities of least norm, in rad/s and sizes of the mechanism per second, that keep the loops closed and give
    the joints of `wanted` their rates.

    Raises
    ------
    ModelError
        The wanted rates contradict the closures or each other, or the position is singular: the closures have a smaller
        rank there, so that they do not say which motion goes on.
    """
    tree = loops.tree
    if not wanted and not tree.is_rheonomic:
        raise ValueError("wanted: empty, expected the rates of one or more joints, such as {'crank_joint': 4.0}")
    columns = np.array([k for name in wanted for k in np.arange(tree.nv)[tree.v_slice(name)]], dtype=int)
    rates = np.array([x for n, w in wanted.items() for x in _rates_of(tree, n, w, t)])
    all_at_once = _Closing(tree, loops, np.ones(tree.nv, dtype=bool))
    G, drift = all_at_once.matrix(q, t), all_at_once.scale * loops.drift(geometry(tree, q, None, t))
    units = all_at_once.units
    rates = rates / units[columns]
    _check_rank(G, rank)
    closing = _of_rank(G, rank)
    particular = -closing @ drift
    null = np.linalg.svd(G)[2][rank:].T
    selected = null[columns]
    u, s, w = np.linalg.svd(selected)
    count = int((s > 1e-9 * max(s.max(initial=0.0), 1e-300)).sum())
    missing = rates - particular[columns]
    amounts = w[:count].T @ ((u[:, :count].T @ missing) / s[:count])
    v = particular + null @ amounts
    defect = float(np.abs(v[columns] - rates).max(initial=0.0))
    asked = max(np.abs(rates).max(initial=0.0), np.abs(particular).max(initial=0.0))
    if defect > max(1e-6 * asked, min(1e-6, 1e-4 * asked)):  # rates of six decimals are met, small ones to four digits
        raise ModelError(
            f"rates of {', '.join(wanted)}",
            f"cannot all be met (off by {defect:.3g})",
            "prescribe fewer rates: the loops fix the others",
        )
    return Velocities(units * v, null.shape[1] - count, defect)


def _rates_of(tree: Tree, joint: str, rates: ArrayLike, t: float) -> Array:
    """One rate for every freedom of a joint; ValueError for others, ModelError where it has none and another rate."""
    x, found = reals(rates, f"rates of {joint!r}"), tree.joint(joint)
    count = found.n_v
    told = [] if count else [m.rate(t) for e in found.elements if (m := getattr(e, "motion", None)) is not None]
    if x.shape not in ((), (1,), (count or len(told),)) or not np.isfinite(x).all():
        raise ValueError(f"rates of {joint!r}: {shown(rates)}, expected one finite number, or {count or len(told)}")
    if not count and not np.allclose(x, told or 0.0, rtol=1e-6, atol=1e-12):
        how = f"moves as told, at {', '.join(f'{rate:.6g}' for rate in told)}" if told else "does not move"
        raise ModelError(f"rates of {joint!r}", f"are {shown(rates)}, but it {how} at t = {t:g}", "leave it out")
    return np.broadcast_to(x, (count,)) if count else np.zeros(0)


def check_regular(loops: LoopEquations, q: Array, rank: int, t: float = 0.0) -> None:
    """ModelError where the closures have a smaller rank than elsewhere: what follows from their forces is not
    determined there.
    """
    if rank:
        _check_rank(_Closing(loops.tree, loops, np.ones(loops.tree.nv, dtype=bool)).matrix(q, t), rank)


def _check_rank(G: Matrix, rank: int) -> None:
    s = np.linalg.svd(G, compute_uv=False)
    if rank and s[rank - 1] <= SINGULAR * s[0]:
        here = int((s > SINGULAR * s[0]).sum())
        raise ModelError(
            "q",
            f"is a singular position: the closures have rank {here} here and {rank} elsewhere",
            f"start elsewhere, or make the mechanism with rank={here} if its motion stays in such positions",
        )


def _of_rank(G: Matrix, rank: int) -> Matrix:
    """The pseudo-inverse that keeps the `rank` largest singular values."""
    u, s, w = np.linalg.svd(G, full_matrices=False)
    return np.asarray((w[:rank].T / s[:rank]) @ u[:, :rank].T)
