r"""The reversible method of McLachlan and Perlmutter, in velocities; on a group with transported momenta.

    q_h = q τ(h v/2),    p_h = Ad_{τ(hv/2)}ᵀ M v,    q₁ = q_h τ(h v₁/2)
    M v₁ = Ad_{τ(hv₁/2)}ᵀ [p_h + (h/2)((F − G)(q_h, v) + (F − G)(q_h, v₁)) + A(q_h)ᵀ L],     A(q₁) v₁ = c(q₁)

For a constant M.  Order 2, symmetric for every τ with τ(−x) = τ(x)⁻¹, one place of force evaluation; L/h approximates
the constraint force at q_h.  Written in velocities: in canonical momenta with gauge terms it is not reversible any
more. Source: McLachlan and Perlmutter 2006, eq. (4.18); the transport of momenta on groups is this project's.

coefficients
    weights of the composition.
options
    largest number of iterations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.layout import COMPENSATION, ERROR, OWN_OPTIONS, TAU
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import constrained
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.composition import compose
from integrators.steppers.nonholonomic import node
from integrators.steppers.nonholonomic.node import END, HX, MIDDLE, MU, NODE, SCRATCH, L, P, R, S, X
from liegroup.compile import entry, kernel, ld, ld2, st, st2
from liegroup.table import coadjoint

LOOPS = "short"

LIMIT = OWN_OPTIONS


def _check(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    prepared = node.check(problem)
    n, m, k = problem.sizes
    at = constrained(n, m, k)
    random = np.random.default_rng(0)
    start = np.atleast_2d(problem.y0)[0]
    values = problem.parts_values(0.0, np.concatenate([start[: problem.n - n], random.standard_normal(n)]))
    if np.abs(values[at.KINETIC : at.KINETIC + n]).max() > 0:
        raise ValueError(
            f"method: McLachlan and Perlmutter's needs a constant kinetic metric, that of {problem.model!r} depends "
            "on q; use DLA"
        )
    return prepared


def _departures(problem: Problem, t: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the metric is from a constant one, of states at times t, as of `steppers.kinetic.departures`: the power
    of the forces by which it changes with the place, which no step feels.
    """
    n, m, k = problem.sizes
    at, found = constrained(n, m, k), []
    for time, state in zip(t, y, strict=True):
        values, v = problem.parts_values(float(time), state), state[problem.n - n :]
        M, D = values[at.MASS : at.MASS + n * n].reshape(n, n), values[at.KINETIC : at.KINETIC + n]
        found.append([0.0, np.abs(v) @ np.abs(D), 0.5 * v @ M @ v])
    return np.array(found)


@kernel
def _solve(
    parts: Any,
    t: Any,
    h: Any,
    y: Any,
    group: Any,
    options: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
    counters: Any,
) -> int:
    """X = v₁ and L, to rounding of v and v₁; NODE holds the parts at q_h, P the momentum that arrives there with half
    of its kick.
    """
    n, m = structure[0], structure[1]
    n_q, tau = y.shape[0] - n, options[TAU]
    half, mu, moved, velocity = work[HX][:n], work[MU][:n], work[SCRATCH][:n], work[X][:n]
    counts = node.greatest_velocity(work, y, n_q, n)
    going, best = 0.0 * counts + 1.0, 0.0 * counts + 1.0
    middle = y[:n_q]
    for count in range(options[LIMIT]):
        node.parts_at(parts, t + 0.5 * h, middle, velocity, parameters, structure, field_work, work, MIDDLE)
        for i in range(n):
            st(half, i, 0.5 * h * ld(velocity, i))
            push = node.reaction(work[NODE], structure, work[L], i)
            st(mu, i, ld2(work, P, i) + 0.5 * h * node.force(work[MIDDLE], structure, i) + push)
        coadjoint(group, tau, half, mu, moved)
        node.mass_times(work[NODE], structure, velocity, mu)
        node.parts_beyond(
            parts, t + h, group, tau, middle, half, velocity, parameters, structure, field_work, work, END
        )
        for i in range(n):
            st2(work, R, i, ld(moved, i) - ld(mu, i))
        for j in range(m):
            st2(work, S, j, -node.row_defect(work[END], structure, velocity, j))
        node.solve_node(work[NODE], structure, work)
        node.learn(structure, work, count)
        going, best, status = node.accept(work, n, m, counts, going, best, counters)
        if status != node.GOES_ON:
            return status
    st(work[ERROR], 0, best)
    return NOT_CONVERGED


@kernel
def substep(
    parts: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any, field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of size h of the basic method; y is moved to q_h first."""
    n, m = structure[0], structure[1]
    n_q, tau = y.shape[0] - n, options[TAU]
    group = table[: table.shape[0] - 1]
    half, v = work[HX][:n], y[n_q:]
    for i in range(n):
        st(half, i, 0.5 * h * ld(v, i))
        st2(work, X, i, ld(v, i))
    for j in range(m):
        st2(work, L, j, 0.0)
    node.parts_at(parts, t, y[:n_q], v, parameters, structure, field_work, work, NODE)
    node.mass_times(work[NODE], structure, v, work[MU][:n])
    coadjoint(group, tau, half, work[MU][:n], work[P][:n])
    advance_state(group, tau, y, low, half, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    node.parts_at(parts, t + 0.5 * h, y[:n_q], v, parameters, structure, field_work, work, NODE)
    for i in range(n):
        st2(work, P, i, ld2(work, P, i) + 0.5 * h * node.force(work[NODE], structure, i))
    node.factor(work[NODE], structure, work)
    status = _solve(parts, t, h, y, group, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, half):
        status = CHART_LEFT
    if status == OK:
        for i in range(n):
            st(half, i, 0.5 * h * ld2(work, X, i))
            st(v, i, ld2(work, X, i))
            st(low, n_q + i, 0.0)
        advance_state(group, tau, y, low, half, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    return status


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the composition; `field` is the problem's parts."""
    node.take_scales(coefficients, y, work)
    weights = coefficients[: coefficients.shape[0] - y.shape[0]]
    return compose(
        substep, weights, 1, field, t, h, y, low, table, coefficients, options,
        parameters, structure, field_work, work, counters,
    )  # fmt: skip


STEPPER = Stepper(
    "mclachlan-perlmutter",
    step,
    lambda options: 0,
    maps=("exp", "cayley"),
    prepare=_check,
    evaluates="parts",
    shape=node.work_shape,
    needs="constant metric",
    follows=("rows", "value"),
    form=_departures,
)


def mclachlan_perlmutter(
    name: str, weights: Any = (1.0,), order: int = 2, iterations: int = 60, **changes: object
) -> Method:
    """The method, composed with the given weights."""
    return Method(
        name=name,
        stepper=STEPPER,
        order=order,
        coefficients=np.asarray(weights, dtype=np.float64),
        options=np.array([iterations]),
        symmetric=True,
        source="McLachlan and Perlmutter 2006",
        **changes,  # type: ignore[arg-type]
    )
