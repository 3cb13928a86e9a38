"""Closing forces of one variational step of a mechanism: the multipliers of its closure equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.layout import COUNTERS, DIVIDED, OWN_ROWS
from integrators.problem import Problem
from integrators.problem.jitted import raise_raised
from integrators.status import OK, Status
from liegroup.arrays import of_kind
from mechanics.mechanism import Mechanism
from mechanics.model.layout import header_of


def closing_forces(
    mechanism: Mechanism, problem: Problem, method: Any, y: ArrayLike, h: float, t: float = 0.0
) -> dict[str, float]:
    """λ of every closure equation that is solved, by its name: force along it (N), or moment for equations of turns
    (N·m); of a coupling c(q) = 0 joint j feels λ ∂c/∂q_j.

    The impulse Λ that the step needs at its start is that of half the step, so λ = 2 Λ/h, with an error of the order of
    h.  Where closures are redundant λ is the smallest one; what the bodies feel, Σ λ Gᵀ, is unique.

    Parameters
    ----------
    mechanism : Mechanism
        Whose closures they are.
    problem : Problem
        Of `mechanism.problem`, without force elements.
    method : Method
        A variational method of trees that is not composed.
    y : array (nq + nv,)
        State (q, p), closed in positions and velocities, SI units.
    h, t : float
        Step and time at its start, s.

    Returns
    -------
    dict of str to float
        Name of the equation → λ, N or N·m.

    Raises
    ------
    ArithmeticError
        The step fails or had to be divided.

    Examples
    --------
    >>> from integrators.methods import find
    >>> from mechanics.systems import SYSTEMS
    >>> four_bar = SYSTEMS["four-bar"].mechanism()
    >>> posed = four_bar.problem()
    >>> found = closing_forces(four_bar, posed, find("TREE_VARIATIONAL"), posed.y0, 1e-3)
    >>> len(found)
    2
    """
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    of_kind(problem, Problem, "problem", "a Problem")
    own = problem.own_steps["variational"]
    m, state = len(mechanism.solved.kept), np.array(y, dtype=np.float64)
    work, counters = np.zeros(own.shape), np.zeros(COUNTERS, dtype=np.int64)
    status = own.step(
        method.function(problem).compiled, t, h, state, 0 * state, problem.table, method.kernel_coefficients(problem),
        method.kernel_options(problem),
        problem.parameters, problem.structure, np.zeros(problem.work_shape), work, counters,
    )  # fmt: skip
    raise_raised()
    if status != OK or counters[DIVIDED]:
        raise ArithmeticError(
            f"{problem.model}: {Status(status).name if status != OK else 'the step was divided'}; take a smaller step"
        )
    line = OWN_ROWS + int(header_of(np.asarray(problem.structure)).links) + 1 + m
    impulses = work[line:].reshape(-1)
    kept = mechanism.solved.kept
    return {
        mechanism.equations.names[c]: float(2 / h * mechanism.solved.scales[c] * impulses[k])
        for k, c in enumerate(kept)
    }
