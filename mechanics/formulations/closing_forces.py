"""Closing forces of one variational step of a mechanism: the multipliers of its closure equations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from integrators.layout import COUNTERS, DIVIDED, OWN_ROWS
from integrators.problem import Problem
from integrators.problem.jitted import raise_raised
from integrators.status import OK, Status
from liegroup.arrays import of_kind, real, shown
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
        Of `mechanism.problem`.
    method : Method
        A variational method of trees that is not composed.
    y : array (nq + nv,)
        State (q, p), closed in positions and velocities, SI units.
    h, t : float
        Step, not zero, and time at its start, s.

    Returns
    -------
    dict of str to float
        Name of the equation → λ, N or N·m.

    Raises
    ------
    ArithmeticError
        The step fails or had to be divided.
    ValueError, TypeError
        A problem that is not of this mechanism or has no variational step, another method, what is no state or no step.

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
    kept, own = mechanism.solved.kept, getattr(getattr(method, "stepper", None), "own", "")
    if own not in ("variational", "variational_imex") or len(method.coefficients) > 2:  # more weights than one
        raise ValueError(
            f"method: {shown(getattr(method, 'name', method))}, expected a variational method of trees that is not "
            'composed: integrators.methods.find("TREE_VARIATIONAL")'
        )
    step = method.step(problem).compiled
    if np.shape(problem.structure) != mechanism.packed().structure.shape:
        raise ValueError(f"problem: {problem.model!r}, expected one of {mechanism.name!r}.problem")
    state = np.array(problem.check_state(y, "y"))
    if state.ndim != 1:
        raise ValueError(f"y: shape {state.shape}, expected ({problem.n},), one state")
    h, t = real(h, "h", "a step other than zero", lambda x: np.isfinite(x) and x != 0.0), real(t, "t")
    work, counters = np.zeros(problem.own_steps[own].shape), np.zeros(COUNTERS, dtype=np.int64)
    status = step(
        method.function(problem).compiled, t, h, state, 0 * state, problem.table, method.kernel_coefficients(problem),
        method.kernel_options(problem),
        problem.parameters, problem.structure, np.zeros(problem.work_shape), work, counters,
    )  # fmt: skip
    raise_raised()
    if status != OK or counters[DIVIDED]:
        raise ArithmeticError(
            f"{problem.model}: {Status(status).name if status != OK else 'the step was divided'}; take a smaller step"
        )
    line = OWN_ROWS + int(header_of(np.asarray(problem.structure)).links) + 1 + len(kept)
    impulses = work[line:].reshape(-1)
    return {
        mechanism.equations.names[c]: float(2 / h * mechanism.solved.scales[c] * impulses[k])
        for k, c in enumerate(kept)
    }
