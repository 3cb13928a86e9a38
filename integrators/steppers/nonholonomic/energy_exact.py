r"""The energy-exact step: averaged gradient of the potential on quasi-velocities of a constant metric.

State (q, u), v = S(q) u, H = ½ Σ μⱼ uⱼ² + V(q), parts in the layout `integrators.problem.parts.QuasiVelocity`:

    ū = ½ (u + u₁),   x = h S(q_m) ū,   q_m = q exp(x/2),   q₁ = q exp(x)
    μ (u₁ − u) = h [g(q_m, ū) + f(q_m, ū) − S(q_m)ᵀ ∫₀¹ G(q exp(s x)) ds]

H(q₁, u₁) − H(q, u) = h ū·f because ū·g = 0 and x·∫G ds = V(q₁) − V(q): energy changes by the work of the forces f
alone, to rounding (and the error of the quadrature, which is none for polynomials).  The average splits over additive
potentials, so a driver that is not acted upon keeps its own energy; other discrete gradients mix them.  Constraints
hold identically.  Order 2, symmetric. The iteration ends in rounding, updates are compensated, and the rounding of ū·g
is taken out. Sources: Celledoni, Farré Puiggalí, Høiseth and Martín de Diego 2019; Quispel and McLaren 2008 (averaged
gradient).

coefficients
    weights of the composition; nodes and weights of the quadrature.
options
    stages of the composition; points of the quadrature; largest number of iterations.
own rows
    parts at the middle; at a quadrature point; ū; its successor; x; state; averaged gradient; scratch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.compensated import absorb
from integrators.layout import COMPENSATION, ERROR, EVALUATIONS, ITERATIONS, OWN_OPTIONS, OWN_ROWS
from integrators.method import Method, Stepper
from integrators.problem import Problem
from integrators.problem.parts import quasi_velocity
from integrators.signatures import STEP_SIGNATURES
from integrators.status import CHART_LEFT, NON_FINITE, NOT_CONVERGED, OK
from integrators.steppers.common import advance_state, leaves_chart
from integrators.steppers.composition import compose
from integrators.steppers.nonholonomic.node import converged, fails
from liegroup.compile import absolute, any_, entry, kernel, ld, select, st
from liegroup.compile.scalars import maximum
from liegroup.table import EXP, retract

LOOPS = "short"

STAGES, POINTS, LIMIT = range(OWN_OPTIONS, OWN_OPTIONS + 3)
MIDDLE, POINT, MEAN, NEW, INCREMENT, STATE, GRADIENT, SCRATCH = range(OWN_ROWS, OWN_ROWS + 8)


def work_shape(problem: Problem, options: NDArray[np.int64]) -> tuple[int, int]:
    """Shape of the workspace."""
    _check(problem)
    return OWN_ROWS + 8, max(problem.n, problem.dimension, problem.parts_size)


def _check(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    if problem.parts_layout != "quasi_velocity":
        raise ValueError(
            f"method: it needs quasi-velocities of a constant metric, which the problem {problem.model!r} does not "
            "carry; pose it by "
            f"problem() of a nonholonomic system that has them, or use DLA on constrained_problem()"
        )
    return np.zeros(0), np.zeros(0, dtype=np.int64)


@kernel
def _parts_at(
    parts: Any,
    t: Any,
    q: Any,
    u: Any,
    group: Any,
    x: Any,
    share: Any,
    parameters: Any,
    structure: Any,
    field_work: Any,
    work: Any,
    row: Any,
) -> None:
    """The parts at (q exp(share x), u) into a row."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = q.shape[0]
    state, scaled = work[STATE][: n_q + r], work[SCRATCH][:n]
    for i in range(n):
        st(scaled, i, share * ld(x, i))
    retract(group, EXP, q, scaled, state)
    for j in range(r):
        st(state, n_q + j, ld(u, j))
    parts(t, state, parameters, structure, field_work, work[row][: quasi_velocity(n, r).SIZE])


@kernel
def _increment(h: Any, structure: Any, work: Any, going: Any) -> Any:
    """INCREMENT <- h S ū with the S in MIDDLE, where the iteration goes on; returns its largest change and the largest
    value.
    """
    n, r = structure[0], structure[0] - structure[1]
    values, mean, x = work[MIDDLE], work[MEAN], work[INCREMENT]
    change, size = 0.0 * going, 0.0 * going
    for i in range(n):
        s = ld(values, i * r) * ld(mean, 0)
        for j in range(1, r):
            s = s + ld(values, i * r + j) * ld(mean, j)
        old, new = ld(x, i), h * s
        change, size = maximum(change, absolute(new - old)), maximum(size, absolute(new))
        st(x, i, select(going > 0.0, new, old))
    return change, size


@kernel
def _change(
    parts: Any, t: Any, h: Any, q: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, going: Any,
) -> None:  # fmt: skip
    """NEW <- u₁ − u for the mean ū and the parts at the middle that belong to it, where the iteration goes on."""
    n, r = structure[0], structure[0] - structure[1]
    at = quasi_velocity(n, r)
    mean, x, values, gradient = work[MEAN][:r], work[INCREMENT][:n], work[MIDDLE], work[GRADIENT]
    for i in range(n):
        st(gradient, i, 0.0)
    for p in range(options[POINTS]):
        share, weight = coefficients[options[STAGES] + p], coefficients[options[STAGES] + options[POINTS] + p]
        _parts_at(parts, t + share * h, q, mean, group, x, share, parameters, structure, field_work, work, POINT)
        for i in range(n):
            st(gradient, i, ld(gradient, i) + weight * ld(work[POINT], at.GRADIENT + i))
    power, size = 0.0 * ld(mean, 0), 0.0 * ld(mean, 0)
    for j in range(r):
        power, size = power + ld(mean, j) * ld(values, at.GYRO + j), size + ld(mean, j) * ld(mean, j)
    excess = power / select(size == 0.0, size + 1.0, size)
    for j in range(r):
        s = ld(values, at.GYRO + j) - excess * ld(mean, j) + ld(values, at.FORCE + j)
        for i in range(n):
            s = s - ld(values, at.BASIS + i * r + j) * ld(gradient, i)
        st(work[NEW], j, select(going > 0.0, h * s / ld(values, at.METRIC + j), ld(work[NEW], j)))


@kernel
def _solve(
    parts: Any, t: Any, h: Any, y: Any, group: Any, coefficients: Any, options: Any, parameters: Any, structure: Any,
    field_work: Any,
    work: Any, counters: Any,
) -> int:  # fmt: skip
    """ū to rounding, by fixed points; each lane stops by itself."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = y.shape[0] - r
    q, mean, x = y[:n_q], work[MEAN][:r], work[INCREMENT][:n]
    zero = ld(y, 0) * 0.0
    going, best = zero + 1.0, zero + 1.0
    for _ in range(options[LIMIT]):
        _parts_at(parts, t + 0.5 * h, q, mean, group, x, 0.5, parameters, structure, field_work, work, MIDDLE)
        moved, length = _increment(h, structure, work, going)
        _change(parts, t, h, q, group, coefficients, options, parameters, structure, field_work, work, going)
        change, size = zero, zero
        for j in range(r):
            old, new = ld(mean, j), ld(y, n_q + j) + 0.5 * ld(work[NEW], j)
            change, size = maximum(change, absolute(new - old)), maximum(size, absolute(new))
            st(mean, j, select(going > 0.0, new, old))
        counters[EVALUATIONS] += 1
        counters[ITERATIONS] += 1
        reach = select(length == 0.0, 1.0 + 0.0 * length, length)
        speed = select(size == 0.0, 1.0 + 0.0 * size, size)
        going, best = converged(maximum(change / speed, moved / reach), 1.0 + zero, best, going)
        if fails(best):
            return NON_FINITE
        if not any_(going > 0.0):
            return OK
    st(work[ERROR], 0, best)
    return NOT_CONVERGED


@kernel
def substep(
    parts: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> int:  # fmt: skip
    """One step of size h of the basic method."""
    n, r = structure[0], structure[0] - structure[1]
    n_q = y.shape[0] - r
    group, x = table[: table.shape[0] - 1], work[INCREMENT][:n]
    for j in range(r):
        st(work[MEAN], j, ld(y, n_q + j))
    for i in range(n):
        st(x, i, 0.0 * ld(y, 0))
    status = _solve(parts, t, h, y, group, coefficients, options, parameters, structure, field_work, work, counters)
    if status == OK and leaves_chart(group, x):
        status = CHART_LEFT
    if status == OK:
        scratch = work[SCRATCH][: n_q + r]
        for j in range(r):
            st(scratch, n_q + j, ld(work[NEW], j))
        absorb(y, low, scratch, n_q, n_q + r, options[COMPENSATION])
        advance_state(group, EXP, y, low, x, work[SCRATCH][:n_q], options[COMPENSATION], counters)
    return status


@entry(*STEP_SIGNATURES)
def step(
    field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
    structure: Any,
    field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """One step of the composition; `field` is the problem's parts."""
    return compose(
        substep, coefficients[: options[STAGES]], 1, field, t, h, y, low, table, coefficients, options, parameters,
        structure, field_work, work, counters,
    )  # fmt: skip


STEPPER = Stepper(
    "energy-exact",
    step,
    lambda options: 0,
    maps=("exp",),
    prepare=_check,
    evaluates="parts",
    shape=work_shape,
    needs="quasi-velocities",
)


def energy_exact(
    name: str, weights: Any = (1.0,), order: int = 2, points: int = 6, iterations: int = 100, **changes: object
) -> Method:
    """The method with Gauss's quadrature of so many points, composed with the given weights.

    The energy is kept to rounding where the quadrature is that good: six points for potentials that are smooth over a
    step (four drift by 9e-10 J in 4,000 s in trigonometric ones).  Runs in which it is not are doubtful.
    """
    nodes, shares = np.polynomial.legendre.leggauss(points)
    return Method(
        name=name,
        stepper=STEPPER,
        order=order,
        coefficients=np.concatenate([np.asarray(weights, dtype=np.float64), 0.5 * (1 + nodes), 0.5 * shares]),
        options=np.array([len(weights), points, iterations]),
        symmetric=True,
        energy_kept=1e-8,
        source="Celledoni, Farré Puiggalí, Høiseth and Martín de Diego 2019",
        **changes,  # type: ignore[arg-type]
    )
