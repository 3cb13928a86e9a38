"""The energy that a symplectic method conserves, from its trajectory: interpolating shadow Hamiltonians.

Up to terms smaller than every power of h, the steps of a symplectic method are points at t = nh of a motion of the
modified Hamiltonian H̃ = H + hᵖ H_{p+1} + ….  Along that motion the action grows by dS = p dq − H̃ dt, and over a step
by the discrete action of the step (`integrators.analysis.action`).  So H̃ = p·q̇ − Ṡ is found by differentiating what
the steps are points of.  With the increments ξⱼ = log(qₙ⁻¹ qₙ₊ⱼ) about step n (on Rⁿ: differences of q), D the central
difference over 2k steps,

    H̃[2k] = ½ pₙ·D ξ + ½ D(p·ξ) − D S,
    D f = (1/h) Σⱼ wⱼ (fₙ₊ⱼ − fₙ₋ⱼ),    wⱼ = (−1)^{j+1} (k!)²/(j (k−j)! (k+j)!),  j = 1 … k

which is constant along the trajectory up to O(h²ᵏ): true drift (of a method that is not symplectic, of rounding, of a
step that is not resolved) stands out from the oscillation of the energy.  On Rⁿ it is exactly constant if H is
quadratic and the method linear. Sources: Skeel and Hardy 2001; Engle, Skeel and Drees 2005; on groups and with the
discrete action the construction is the same.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.analysis.action import action_of_steps, counting_turns
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Problem
from integrators.problem.energy import energy_at_play, keeps, watched
from integrators.results.solution import Solution
from liegroup.formulas.facts import COMMUTATIVE
from liegroup.table import EXP, KIND, angles, increment

Array = NDArray[np.float64]
ORDERS = tuple(range(2, 25, 2))
SAME = 1e-6
"""Part of an energy by which those of a problem and a solution may differ."""


def modified_energy(
    problem: Problem, solution: Solution, order: int = 8, method: str | Method | None = None
) -> tuple[Array, Array]:
    """The modified energy along a run, constant up to O(h^order) if the method is symplectic.

    Parameters
    ----------
    problem : Problem
        What was integrated: on T*G, with an invariant "energy", not depending on time, without damping and constraints.
    solution : Solution
        One trajectory with fixed steps, every step saved (``save_every=1``), of a method that takes one step at a time.
    order : int
        2k, an even number; the window has 2k + 1 states.
    method : str or Method, optional
        If `solution.method` is not the name of a row of the catalogue.

    Returns
    -------
    t, energy : array (steps + 1 − order,)
        Of the states with a whole window about them; in the units of the energy.

    Raises
    ------
    ValueError
        An ensemble, variable or divided steps, steps that were not saved, a window longer than the run; a problem or a
        method whose action is not known (`action_of_steps`); a problem that depends on time, whose field changes the
        energy, or that has another one than the solution.

    Notes
    -----
    Holds when the step resolves the motion: every oscillation needs more than about 2π steps, else a larger order makes
    it worse; free bodies and ball joints turn by less than half a turn in order/2 steps. The constant also shows how
    far H̃ is from H.  Rounding leaves about 1e-16 |p·ξ|/h.  Of a method that is not symplectic the value follows the
    energy: it drifts, and oscillates by the error of the method.

    Examples
    --------
    >>> from integrators import integrate
    >>> from mechanics.systems.bodies.pendulum import pendulum
    >>> s = integrate(pendulum(), "SPLIT_STRANG", (0, 20), 0.02, save_every=1)
    >>> t, energy = modified_energy(pendulum(), s, 12)
    >>> bool(np.ptp(s["energy"]) > 1e-4 > 1e-11 > np.ptp(energy))
    True
    """
    h, used = _step_of(solution), find(solution.method if method is None else method)
    if not isinstance(used, Method):
        raise ValueError(f"method: {used.name} chooses its steps; the modified energy belongs to a fixed step")
    if order not in ORDERS:
        raise ValueError(f"order: {order!r}, expected an even number from {ORDERS[0]} to {ORDERS[-1]}")
    if len(solution.t) <= order:
        raise ValueError(f"order: {order} needs {order + 1} saved states, the run has {len(solution.t)}")
    if problem.n != solution.y.shape[-1]:
        raise ValueError(
            f"solution: states of {solution.y.shape[-1]} numbers, those of {problem.model} have {problem.n}"
        )
    _check_kept(problem, solution)
    k = order // 2
    y = _counting_turns(problem.table, solution.y)
    action = action_of_steps(problem, used, y, h)
    return solution.t[k:-k], interpolated_energy(problem.table, y, action, h, order)


def _check_kept(problem: Problem, solution: Solution) -> None:
    """ValueError for a problem that has no modified energy, or is not that of the solution."""
    if "energy" not in problem.invariant_names or "energy" not in solution.invariant_names:
        return
    told = np.asarray(solution["energy"], dtype=np.float64)
    size = float(np.abs(told).max()) + float(np.ptp(told))
    k = problem.invariant_names.index("energy")
    own = [watched(problem, solution.y[end], float(solution.t[end]))[k] for end in (0, -1)]
    if not np.allclose(own, told[[0, -1]], rtol=0.0, atol=SAME * size):
        raise ValueError(
            f"problem: its energy at the first and the last state is {own[0]:.9g} and {own[1]:.9g}, that of the "
            f"solution {told[0]:.9g} and {told[-1]:.9g}; give the problem that was integrated"
        )
    if not keeps(
        problem, energy_at_play(problem), [(float(solution.t[k]), solution.y[k]) for k in (0, len(told) // 2, -1)]
    ):
        raise ValueError(
            f"problem: {problem.model} does not keep its energy (forces of time, dampers): there is none to be modified"
        )


def interpolated_energy(table: NDArray[np.int64], y: Any, action: Any, h: Any, order: int) -> Any:
    """H̃[2k] from states (n, …) and the action of the steps between them (n − 1,): the formula, for numbers of any
    kind.
    """
    k, m = order // 2, int(table[-1, 4])
    n_q, states = y.shape[-1] - m, np.asarray(y).T
    here = slice(k, len(y) - k)
    q, p = states[:n_q, here], states[n_q:, here]
    total, along = 0 * action[: q.shape[1]], 0 * action[: q.shape[1]]
    for j in range(1, k + 1):
        weight = factorial(k) ** 2, (-1) ** (j + 1) * j * factorial(k - j) * factorial(k + j)
        before, after = states[:, k - j : len(y) - k - j], states[:, k + j : len(y) - k + j]
        # S(n + j) − S(n − j), one step more on each side
        along = along + action[k - j : len(y) - k - j] + action[k + j - 1 : len(y) - k + j - 1]
        ahead, back = _increments(table, q, after[:n_q]), _increments(table, q, before[:n_q])
        swept = np.sum((p + after[n_q:]) * ahead - (p + before[n_q:]) * back, axis=0)
        total = total + weight[0] * (swept / 2 - along) / weight[1]
    return total / h


def _increments(table: NDArray[np.int64], q0: Any, q1: Any) -> Any:
    """log(q₀⁻¹ q₁), components first; angles count turns."""
    out = np.zeros((int(table[-1, 4]), *q0.shape[1:]), dtype=q0.dtype)
    increment(counting_turns(table[:-1]), EXP, q0, q1, out)
    return out


def _counting_turns(table: NDArray[np.int64], y: Array) -> Array:
    """States whose angles do not jump by a turn."""
    out = np.array(y)
    for k in angles(table[COMMUTATIVE[table[:, KIND]] == 1]):
        out[:, k] = np.unwrap(out[:, k])
    return out


def _step_of(solution: Solution) -> float:
    if solution.y.ndim != 2:
        raise ValueError("solution: an ensemble; solution.trajectory(k) is one trajectory")
    if not solution.step:
        raise ValueError("solution: variable steps; the modified energy belongs to a fixed step")
    if solution.attributes.get("divided_steps"):
        raise ValueError(
            f"solution: {solution.attributes['divided_steps']} steps were divided; the modified energy belongs to a "
            "fixed step: "
            f"take a smaller one"
        )
    if len(solution.t) != solution.steps + 1:
        raise ValueError(
            f"solution: {len(solution.t)} saved states of {solution.steps} steps; integrate with save_every=1"
        )
    return float(np.copysign(solution.step, solution.t[-1] - solution.t[0]))
