"""The motions: a heavy top, a body on a spring in space, a falling chain; and their ambient right-hand sides for
SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import mechanics
from integrators.problem import Problem
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import (
    compile_field,
    entry,
    integer_table,
    integers,
    kernel,
    ld,
    matrix,
    nothing,
    real,
    st,
    vector,
)
from liegroup.formulas import so3
from liegroup.formulas.vectors import add, cross, dot, scale
from liegroup.table import KIND, N_Q, Q_OFFSET, RN, SE3, SO2, SO3, V_OFFSET, table_of
from mechanics.systems import heavy_top

Array = NDArray[np.float64]


@entry(*FIELD_SIGNATURES)
def body_on_spring(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """v = p/m, ω = J⁻¹π;  ṗ = p × ω + Rᵀ F(x),  π̇ = π × ω + r × Rᵀ F(x),  F = −(k + k₄|x'|²) x' at the hook
    x' = x + R r.

    Parameters J₁ J₂ J₃ m k k₄ r₁ r₂ r₃; state (x, quaternion, p, π), both momenta in body axes about the centre of
    mass.
    """
    x, q = (ld(y, 0), ld(y, 1), ld(y, 2)), (ld(y, 3), ld(y, 4), ld(y, 5), ld(y, 6))
    p, a = (ld(y, 7), ld(y, 8), ld(y, 9)), (ld(y, 10), ld(y, 11), ld(y, 12))
    r = (parameters[6], parameters[7], parameters[8])
    v = scale(1.0 / parameters[3], p)
    w = (a[0] / parameters[0], a[1] / parameters[1], a[2] / parameters[2])
    hook = add(x, so3.act(q, r))
    force = so3.act_inverse(q, scale(-(parameters[4] + parameters[5] * dot(hook, hook)), hook))
    f, m = add(cross(p, w), force), add(cross(a, w), cross(r, force))
    for i in range(3):
        st(out, i, v[i])
        st(out, 3 + i, w[i])
        st(out, 6 + i, f[i])
        st(out, 9 + i, m[i])


def spring() -> Problem:
    """A body of inertia (0.3, 0.5, 0.4) and mass 2, held at a point off its centre by a stiffening spring, on
    T*SE(3).
    """
    q = np.array([0.97, 0.15, 0.1, -0.25])
    momenta = (2.0, -4.0, 1.4, 0.6, -0.9, 0.8)
    return Problem(
        table_of([(SE3, 1), (RN, 6)]),
        [0.1, 0.2, -0.3, *(q / np.linalg.norm(q)), *momenta],
        body_on_spring,
        parameters=[0.3, 0.5, 0.4, 2.0, 30.0, 5.0, 0.2, -0.1, 0.15],
        canonical=True,
        model="body on a spring, T*SE(3)",
    )


def top() -> Problem:
    """An asymmetric heavy top, 4 rad/s, on T*SO(3)."""
    return heavy_top((1.0, 1.4, 0.6), 1.0, (0.2, 0.4, 1.94), 1.0, angular_velocity=(0.5, -0.8, 4.0))


def chain() -> Problem:
    """Six links on ball joints, hanging, with a push, on T*SO(3)⁶."""
    from mechanics.joints import Spherical
    from mechanics.testing import random_tree

    tree = random_tree("chain", 6, np.random.default_rng(3), (Spherical,))
    generator = np.random.default_rng(4)
    return mechanics.hamiltonian_problem(tree, tree.neutral(), 0.3 * generator.normal(size=tree.nv))


PROBLEMS: dict[str, tuple[Callable[[], Problem], float]] = {
    "top": (top, 40.0),
    "spring": (spring, 20.0),
    "chain": (chain, 2.0),
}
"""Name → (problem, horizon in s)."""


@kernel
def ambient(table: Any, y: Any, v: Any, out: Any) -> None:
    """ẏ of a state in its numbers from the body velocity v: q̇ = ½ q (0, ω), ẋ = R v."""
    for row in range(table.shape[0]):
        q, w = table[row, Q_OFFSET], table[row, V_OFFSET]
        if table[row, KIND] in (RN, SO2):
            for i in range(table[row, N_Q]):
                out[q + i] = v[w + i]
        else:
            if table[row, KIND] == SE3:
                x = so3.act((y[q + 3], y[q + 4], y[q + 5], y[q + 6]), (v[w], v[w + 1], v[w + 2]))
                out[q], out[q + 1], out[q + 2] = x[0], x[1], x[2]
                q, w = q + 3, w + 3
            d = so3.multiply((y[q], y[q + 1], y[q + 2], y[q + 3]), (0.0, 0.5 * v[w], 0.5 * v[w + 1], 0.5 * v[w + 2]))
            out[q], out[q + 1], out[q + 2], out[q + 3] = d[0], d[1], d[2], d[3]


def ambient_right_hand_side(problem: Problem) -> Callable[[float, Array], Array]:
    """The whole right-hand side for SciPy in one compiled call."""
    if not set(problem.table[:, KIND].tolist()) <= {RN, SO2, SO3, SE3}:
        raise ValueError(f"{problem.model}: its table has factors other than R^n, SO(2), SO(3), SE(3)")
    field = problem.field.compiled

    def rate(t: Any, y: Any, table: Any, parameters: Any, structure: Any, work: Any, v: Any, out: Any) -> None:
        field(t, y, parameters, structure, work, v)
        ambient(table, y, v, out)

    compiled = compile_field(rate, nothing(real, vector, integer_table, vector, integers, matrix, vector, vector))
    v, work = np.zeros(problem.dimension), np.zeros(problem.work_shape)

    def fun(t: float, y: Array) -> Array:
        out = np.empty(len(y))
        compiled(t, np.ascontiguousarray(y), problem.table, problem.parameters, problem.structure, work, v, out)
        return out

    return fun
