"""Lagrangians of NumPy's functions: derivatives against 50 digits, runs single and in lanes against each other."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from integrators import integrate
from integrators.problem.lagrangian import derivatives, lagrangian_problem
from integrators.problem.parts import lagrangian as layout
from integrators.problem.problem import group_table
from liegroup import rn


def potential(q: Any, f: Any) -> Any:
    """Every operation of the tracer that is not + − × ÷, sine or cosine; `f` are the functions of a library."""
    x = 0.3 + 0.1 * f.tanh(q)
    return (
        f.asin(x) + f.acos(x) * x + f.atan(q) + f.sinh(x) * f.cosh(x) + f.asinh(q) + f.atanh(x) + f.acosh(1.5 + x)
        + f.expm1(x) * f.log1p(x) + x**q + f.hypot(x, q) + f.floor(q) * x + f.exp(-x) * f.log(x)
    )  # fmt: skip


class NumPy:
    """NumPy's functions under their names in mpmath."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, f"arc{name[1:]}" if name[0] == "a" else name)


@pytest.mark.parametrize("q", [0.7, 1.4])
def test_derivatives_are_exact(q: float) -> None:
    found = derivatives(group_table(rn(1)), lambda t, q, v, p: 0.5 * v[0] ** 2 - potential(q[0], NumPy()))
    out, at = np.zeros(layout(1).SIZE), layout(1)
    found.field.python(0.0, np.array([q, 0.0]), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((1, 1)), out)
    with mpmath.workdps(50):
        force, slope = (-float(mpmath.diff(lambda x: potential(x, mpmath), mpmath.mpf(q), k)) for k in (1, 2))
    assert abs(out[at.PUSH] / force - 1.0) < 4e-15
    assert abs(out[at.PUSH_Q] / slope - 1.0) < 2e-14


def test_compiled_and_in_lanes() -> None:
    def lagrangian(t: Any, q: Any, v: Any, p: Any) -> Any:
        wall = np.where(q[0] > 0.5, 40.0 * (q[0] - 0.5) ** 4, 0.0)
        return 0.5 * v[0] ** 2 - np.cosh(q[0]) - np.log1p(np.arctan(q[0]) ** 2) - wall

    problem = lagrangian_problem(lagrangian, [0.3], parameters=())
    starts = np.stack([np.linspace(0.1, 0.9, 9), np.zeros(9)], axis=1)
    runs = integrate(problem, "DEL_GAUSS2", (0.0, 2.0), step=0.01, y0=starts)
    assert runs.success
    one = integrate(problem, "DEL_GAUSS2", (0.0, 2.0), step=0.01, y0=starts[4])
    assert np.allclose(runs.y[4], one.y, rtol=0.0, atol=1e-14)
    assert np.max(runs.error("energy")) < 1e-6
