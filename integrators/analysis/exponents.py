"""What grows along a motion: Floquet multipliers of periodic motions and Lyapunov exponents, from exact step
derivatives.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.analysis.continuity import Continuity
from integrators.analysis.period import Period, Stepped
from integrators.engine.diagnosis import explained_at_end
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.problem.times import begin_of
from integrators.step_derivatives.linearised import linearised_step
from integrators.step_derivatives.repeated import MANY, StepDerivative
from liegroup.arrays import integer, real
from liegroup.compile import seconds_waited

Array = NDArray[np.float64]
_OFTEN = 32
"""Steps that are asked whether loops have been closed in them."""
_LOOKED_AT = 4
"""Steps of a period that are taken again a period later."""
SETTLED = 0.1
"""Change of a multiplier by half the steps, relative to the greater of it and 1, up to which it counts as found; by two
halves of a step, of what it does to directions, and of the logarithms of their lengths, which exponents are made of.
"""
PARALLEL = 1e12
"""Condition of directions between renormalisations, from which on the shortest are rounding."""
WORTH = 10.0
"""Seconds that the derivatives of all steps would take at the pace of the first, interpreted one, from which on they
are worth being compiled: implicit methods of many stages take seconds a step.
"""
OPEN = 1e-3
"""What the derivative of a step makes of a direction that is none of the motion, at most; of those that it keeps one.
"""
NOISE = 1e-14
"""Multipliers below this part of the greatest are rounding of the monodromy matrix."""


@dataclass(frozen=True, eq=False)
class Floquet:
    """The derivative of a motion by its start, over one period.

    Attributes
    ----------
    multipliers : array (n,)
        Eigenvalues of the monodromy matrix, greatest in size first: the motion is unstable if one lies outside the unit
        circle.  Of Hamiltonian motions they come in pairs λ, 1/λ, and an autonomous one has 1 twice.  Coordinates that
        do not move by themselves have some, too: 1 what is held and what works add up to, 0 what follows a motion.
    exponents : array (n,)
        log(multipliers)/T, 1/s; −∞ for 0.
    monodromy : array (n, n)
        In increments from the right, y·exp(δ).
    end : array (n_q,)
        The state after the period.
    gap : float
        Greatest difference between end and start, in those increments.

    Examples
    --------
    See `floquet_multipliers`.
    """

    multipliers: NDArray[np.complex128]
    exponents: NDArray[np.complex128]
    monodromy: Array
    end: Array
    gap: float


@dataclass(frozen=True, eq=False)
class Lyapunov:
    """Exponents of a motion, and how they settled.

    Attributes
    ----------
    exponents : array (k,)
        1/s, greatest first.
    history : array (m, k)
        Their values after every renormalisation.
    times : array (m,)
        Of the renormalisations, s.
    y : array (n_q,)
        The state at the end.

    Examples
    --------
    See `lyapunov_exponents`.
    """

    exponents: Array
    history: Array
    times: Array
    y: Array


def floquet_multipliers(
    problem: Problem | Poses,
    method: str | Method,
    period: float,
    steps: int,
    y: ArrayLike | None = None,
    t: float | None = None,
) -> Floquet:
    """Multipliers of a periodic motion, from the exact derivatives of the steps of a method.

    Parameters
    ----------
    problem : Problem, or what poses one
        Of the kinds that `integrators.step_derivatives.linearised.linearised_step` knows.
    method : str or Method
        Also of those.
    period : float
        T, s; also that of what drives the motion: steps are compared with those a period later, beside what changes
        along the motion.  What is known over one period only cannot be, which is a warning.
    steps : int
        Equal steps of the period; the multipliers have the method's order of accuracy in T/steps.  Where half as many
        give other ones (by a tenth), a warning says so, and where the field jumps (dry friction, relays): derivatives
        of steps do not know that neighbours jump at other times.  So does one where steps are so short that loops have
        nothing to close.
    y : array (n_q,), optional
        The start; default that of the problem.
    t : float, optional
        Time at the start, s; default that for which the problem is posed, or 0.

    Returns
    -------
    Floquet
        Multipliers, exponents, the monodromy matrix.

    Raises
    ------
    ValueError
        The motion is not periodic: a component that is not back after the period, to a part of 1e-5 of how far it goes
        from its start, and whether the gap is whole turns of an angle that counts them; or what drives it is not.
        What stays within this part of its size and does not change the derivatives of steps is at rest.
    ArithmeticError
        A step fails; what drives the motion is not known as long.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import Problem
    >>> from liegroup.group import rn
    >>> def oscillator(t, y, parameters, structure, work, out):
    ...     out[0], out[1] = y[1], -y[0]
    >>> found = floquet_multipliers(Problem(rn(2), [0.0, 0.0], oscillator), "RKMK_FEAGIN10", np.pi, 8)
    >>> bool(np.allclose(found.multipliers, [-1, -1], atol=1e-6))
    True
    """
    problem, steps = pose(problem), integer(steps, "steps", 1)
    t = begin_of(problem) if t is None else real(t, "t")
    period = real(period, "period", "a positive time in seconds", lambda x: x > 0.0)
    start = problem.check_state(problem.y0 if y is None else y, "y")
    state, monodromy, h = start, np.eye(problem.dimension), period / steps
    stepped, continuous = _steps(problem, method, h, steps), Continuity(problem, "multipliers")
    returning = Period(problem, stepped, start, period)
    told: set[str] = set()
    for k in range(steps):
        begin, begun = state, t + k * h
        continuous.look(begun, begin)
        state, A = stepped(begin, begun)
        returning.passes(A, state)
        if k % -(-steps // _LOOKED_AT) == 0:
            returning.look(begun, begin, A)
            _warn_of_open_loops(problem, "multipliers", begin, A, begun, told)
        monodromy = A @ monodromy
    returning.check_drive()
    gap = returning.check_return(state)
    if returning.unknown:
        warnings.warn(
            f"multipliers of {problem.model!r}: whether {period} s is the period of what drives it is not known, as a "
            f"period later {returning.unknown}; give what drives it over two periods",
            RuntimeWarning,
            stacklevel=2,
        )
    values = np.asarray(np.linalg.eigvals(monodromy), dtype=np.complex128)
    values = values[np.lexsort((values.imag, -np.abs(values)))]
    if np.abs(values[-1]) < NOISE * np.abs(values[0]):
        warnings.warn(
            f"multipliers of {problem.model!r} below {NOISE * np.abs(values[0]):.1g} are rounding of the greatest, not "
            "of the motion",
            RuntimeWarning,
            stacklevel=2,
        )
    _warn_of_few_steps(problem, method, start, period, steps, t, values)
    with np.errstate(divide="ignore"):
        logs = np.log(values.astype(np.complex128))
    return Floquet(values, logs.real / period + 1j * (logs.imag / period), monodromy, state, gap)


def _steps(problem: Problem, method: str | Method, h: float, count: int) -> Stepped:
    """Steps with their derivatives, by the fastest exact way there is if they are many, or the first takes long;
    ArithmeticError where one leads nowhere.
    """
    found: list[StepDerivative] = []
    is_first = True

    def taken(y: Array, t: float) -> tuple[Array, Array]:
        nonlocal is_first
        began = time.perf_counter() - seconds_waited()
        try:
            with np.errstate(all="ignore"):
                if found:
                    end, A, _ = found[0](y, np.zeros(0), t)
                else:
                    end, A, *_ = linearised_step(problem, method, y, h, t=t)
            if not (np.isfinite(end).all() and np.isfinite(A).all()):
                raise ArithmeticError(
                    f"the step of {h:.3g} s at t = {t:.6g} s leads to numbers that are not finite; use a smaller step"
                )
        except ArithmeticError as error:
            if said := explained_at_end(problem, t, h, y, t):  # smaller steps do not help then
                raise ArithmeticError(f"the step of {h:.3g} s at t = {t:.6g} s cannot be taken: {said}") from error
            raise
        if is_first:  # it has asked whether method and problem have derivatives
            is_first, seconds = False, time.perf_counter() - seconds_waited() - began
            if count >= MANY or count * seconds > WORTH:
                chosen, none = find(method), np.zeros((0, np.size(problem.parameters)))
                assert isinstance(chosen, Method)
                found.append(StepDerivative(problem, chosen, h, [], [], none, max(count, MANY)))
        return end, A

    return taken


def _warn_of_few_steps(
    problem: Problem, method: str | Method, y: Array, period: float, steps: int, t: float, found: NDArray[np.complex128]
) -> None:
    """A warning if half the steps (of one: two) give other multipliers."""
    count, monodromy = steps // 2 or 2, np.eye(problem.dimension)
    stepped = _steps(problem, method, period / count, steps)
    try:
        for k in range(count):
            y, A = stepped(y, t + k * period / count)
            monodromy = A @ monodromy
        others = np.linalg.eigvals(monodromy)
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        says = f"{count} fail ({error})"
    else:
        apart = np.abs(found[:, None] - others) / np.maximum(np.abs(found), 1.0)[:, None]
        change = float(max(apart.min(axis=axis).max() for axis in (0, 1)))
        if change <= SETTLED:
            return
        says = f"{count} give others, by {change:.2g}"
    warnings.warn(
        f"multipliers of {problem.model!r} by {steps} steps of a period are not settled: {says}, expected at most "
        f"{SETTLED}; take more steps until they stay",
        RuntimeWarning,
        stacklevel=3,
    )


def lyapunov_exponents(
    problem: Problem | Poses,
    method: str | Method,
    step: float,
    steps: int,
    *,
    count: int | None = None,
    every: int = 1,
    skip: int = 0,
    y: ArrayLike | None = None,
    t: float | None = None,
    seed: int = 0,
) -> Lyapunov:
    """Lyapunov exponents of a motion, by orthonormal directions carried along it.

    Parameters
    ----------
    problem : Problem, or what poses one
        As in `floquet_multipliers`.
    method : str or Method
        As in `floquet_multipliers`.
    step : float
        s.
    steps : int
        Over which the growth is averaged.
    count : int, optional
        How many exponents, greatest first; default all.
    every : int
        Steps between renormalisations.
    skip : int
        Steps before the average begins, in which the directions turn to those that grow.
    y : array (n_q,), optional
        The start; default that of the problem.
    t : float, optional
        Time at the start, s; default that for which the problem is posed, or 0.
    seed : int
        Of the directions at the start.

    Returns
    -------
    Lyapunov
        Of a finite time: they approach those of the motion like 1/time at best.  Lengths are those of increments from
        the right in the coordinates of the problem; on a bounded motion the choice does not change the limit.

    Raises
    ------
    ValueError
        `count` exceeds the directions of the problem.
    ArithmeticError
        A step fails.

    Notes
    -----
    Orthonormal directions, by QR decompositions (Benettin, Galgani, Giorgilli and Strelcyn 1980).  Where two halves of
    a step turn them elsewhere, or let one grow or shrink otherwise (by a tenth of the logarithm), a warning says so:
    exponents far below −1/step are those of the method, not of the motion.

    With closed loops directions that open them decay at once, if there is anything to close in every step (else a
    warning says so: take larger ones): ask for the 2·dof greatest.  Of Hamiltonian motions exponents come in pairs ±λ.
    A field that jumps is a warning, as in `floquet_multipliers`.

    Where steps are many, or the first takes long, their derivatives are compiled, of a field in plain Python if it is a
    formula: no `if` on a value, nothing that changes from call to call.  Others take a millisecond a step and more.

    Examples
    --------
    A saddle, ẏ = (y₀, −y₁), whose directions turn to those that grow in the first hundred steps:

    >>> from integrators import Problem
    >>> from liegroup.group import rn
    >>> def saddle(t, y, parameters, structure, work, out):
    ...     out[0], out[1] = y[0], -y[1]
    >>> found = lyapunov_exponents(Problem(rn(2), [0.0, 0.0], saddle), "RKMK_FEAGIN10", 0.1, 100, skip=100)
    >>> bool(np.allclose(found.exponents, [1.0, -1.0], atol=1e-6))
    True
    """
    problem = pose(problem)
    t = begin_of(problem) if t is None else real(t, "t")
    n = problem.dimension
    k = n if count is None else integer(count, "count", 1)
    if k > n:
        raise ValueError(f"count: {k}, expected at most {n}, the directions of the problem")
    steps, every, skip = integer(steps, "steps", 1), integer(every, "every", 1), integer(skip, "skip")
    step = real(step, "step", "a positive time in seconds", lambda x: x > 0.0)
    state = problem.check_state(problem.y0 if y is None else y, "y")
    directions = np.linalg.qr(np.random.default_rng(integer(seed, "seed")).normal(size=(n, k)))[0]
    sums, history, times = np.zeros(k), [], []
    told: set[str] = set()
    stepped, halved = (_steps(problem, method, h, skip + steps) for h in (step, 0.5 * step))
    continuous = Continuity(problem, "exponents")
    for i in range(-skip, steps):
        begin, begun = state, t + (i + skip) * step
        continuous.look(begun, begin)
        state, A = stepped(begin, begun)
        if i >= 0 and i % -(-steps // _OFTEN) == 0:
            _warn_of_open_loops(problem, "exponents", begin, A, begun, told)
        if i >= 0 and i % -(-steps // _LOOKED_AT) == 0:
            _warn_of_long_steps(problem, halved, begin, step, begun, A, directions, told)
        directions = A @ directions
        if (i + 1) % every == 0 or i + 1 == steps:
            directions, R = np.linalg.qr(directions)
            _warn_of_parallel(problem, R, every, told)
            if i >= 0:
                sums = sums + np.log(np.maximum(np.abs(np.diag(R)), 1e-300))
                times.append((i + 1) * step)
                history.append(sums / times[-1])
    order = np.argsort(-history[-1], kind="stable")
    found = np.array(history)[:, order]
    return Lyapunov(found[-1], found, np.array(times), state)


def _warn_of_long_steps(
    problem: Problem, halved: Stepped, y: Array, h: float, t: float, A: Array, directions: Array, told: set[str]
) -> None:
    """A warning, once, if two halves of a step do something else to directions, or to the length of one of them."""
    if "long" in told:
        return
    try:
        middle, first = halved(y, t)
        others = halved(middle, t + 0.5 * h)[1] @ first
    except ArithmeticError:  # smaller steps fail, this one does not: nothing is known
        return
    if problem.re_bases and np.linalg.matrix_rank(others, OPEN) > np.linalg.matrix_rank(A, OPEN):
        return  # loops that are closed in the step, and not in its halves
    Q = np.linalg.qr(directions)[0]
    least = OPEN if problem.re_bases else 1.0 / PARALLEL
    ways, growth, expected = np.linalg.norm(others @ Q - Q, axis=0), _growth(A @ Q, least), _growth(others @ Q, least)
    changes = np.array([np.linalg.norm(A - others, 2), *np.abs(growth - expected)])
    does = np.array([np.linalg.norm(others - np.eye(len(A)), 2), *np.maximum(np.abs(expected), ways)])
    if (changes > SETTLED * does).any():
        k = int(np.argmax(changes - SETTLED * does))
        to = "directions" if k == 0 else f"the length of direction {k}"
        told.add("long")
        warnings.warn(
            f"exponents of {problem.model!r} by steps of {h:.3g} s are not those of the motion: at t = {t:.6g} s two "
            f"halves of a step do {changes[k] / does[k]:.2g} of what it does to {to} otherwise, expected at most "
            f"{SETTLED}; take smaller steps until the exponents stay",
            RuntimeWarning,
            stacklevel=3,
        )


def _growth(carried: Array, least: float) -> Array:
    """Logarithms of the lengths to which orthonormal directions are carried, each normal to those before; those below
    this part of the longest count as that: they are rounding, or none of the motion.
    """
    lengths = np.abs(np.diag(np.linalg.qr(carried, mode="r")))
    return np.asarray(np.log(np.maximum(lengths, max(least * lengths.max(initial=0.0), 1e-300))))


def _warn_of_open_loops(problem: Problem, what: str, y: Array, A: Array, t: float, told: set[str]) -> None:
    """A warning, once, if the projection of a step had nothing to close: then A keeps directions that open the loops,
    which are none of the motion.
    """
    if not problem.re_bases or problem.directions is None or "open" in told:
        return
    held = round(float(np.sum(problem.directions(np.array([t]), y[None])[0] ** 2)))  # orthonormal rows
    if np.linalg.matrix_rank(A, OPEN) > len(A) - 2 * held:
        told |= {"open", "long"}  # halves of the step close even less
        warnings.warn(
            f"{what} of {problem.model!r} are not those of the motion: in the step at t = {t:.6g} s the loops had "
            "nothing to close, so that its derivative keeps directions that open them; take larger steps, of each of "
            "which the derivative has the rank of the motion",
            RuntimeWarning,
            stacklevel=3,
        )


def _warn_of_parallel(problem: Problem, R: Array, every: int, told: set[str]) -> None:
    """A warning, once, if directions have become parallel to rounding since they were orthonormal."""
    lengths = np.abs(np.diag(R))
    if lengths.max(initial=0.0) > PARALLEL * lengths.min(initial=np.inf) and "parallel" not in told:
        told.add("parallel")
        remedy = f"; renormalise more often than every {every} steps" if every > 1 else "; take smaller steps"
        warnings.warn(
            f"exponents of {problem.model!r}: directions become parallel to rounding between renormalisations, and the "
            f"least exponents are noise{remedy}",
            RuntimeWarning,
            stacklevel=3,
        )
