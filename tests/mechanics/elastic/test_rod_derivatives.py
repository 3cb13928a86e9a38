"""The derivative of the motion of rods, by its entries: against complex steps, in Newton's method, and its check."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from integrators import Problem, integrate
from integrators.problem.fields import as_field, giving_entries
from integrators.problem.jacobian import check_jacobian
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn, se3
from liegroup.compile import entry, ld, st
from liegroup.table import EXP, retract
from mechanics.elastic.rods import Load, Rod, Section
from mechanics.elastic.rods.field import field

SECTION = Section(20.0, 8.0, 7.0, 0.3, 0.4, 0.45, 1.0, (0.06, 0.03, 0.035))


def moving(strain: str, supports: dict[int, str]) -> Problem:
    """With every kind of load, strained and moving."""
    loads = [Load(2, force=(1.0, 2.0, -0.5), moment=(0.1, 0.2, 0.3), times=(0.0, 1.0), factors=(0.5, 1.0)),
             Load(1, force=(0.3, 0.2, 0.1), axes="body")]  # fmt: skip
    rod = Rod.arc(2.0, 0.6, 4, SECTION, supports=supports, gravity=(0.3, -1.0, 2.0), loads=loads, strain=strain)
    rng, poses = np.random.default_rng(5), np.asarray(rod.poses).copy()
    free = [i for i in range(5) if i not in rod.supports]
    poses[free] = se3.compose(poses[free], se3.exp(0.2 * rng.normal(size=(len(free), 6))))
    return rod.problem(poses, np.where(rod.held, 0.0, 0.5 * rng.normal(size=(5, 6))))


def entries(problem: Problem, t: float, y: Any) -> Any:
    found = problem.jacobian_sparsity.astype(float)
    found.sort_indices()
    found.data = problem.evaluate(problem.field, t, y, problem.dimension + found.nnz)[problem.dimension :]
    return found.toarray()


@pytest.mark.parametrize(
    ("strain", "supports"),
    [("exp", {0: "pinned", 4: "clamped"}), ("cayley", {}), ("exp", {2: "clamped"}), ("exp", {2: "pinned"})],
)
def test_entries_are_those_of_complex_steps(strain: str, supports: dict[int, str]) -> None:
    problem, t, step = moving(strain, supports), 0.4, 1e-30
    y, d = np.asarray(problem.y0), problem.dimension
    exact = np.zeros((d, d))
    for k in range(d):
        x, out = y.astype(complex), np.zeros(d, dtype=complex)
        retract(problem.table, EXP, y.astype(complex), 1j * step * np.eye(d)[k], x)
        problem.field.python(t, x, problem.parameters, problem.structure, np.zeros((0, 0)), out)
        exact[:, k] = out.imag / step
    assert np.abs(entries(problem, t, y) - exact).max() < 1e-13 * max(1.0, np.abs(exact).max())


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "ALPHA_0"])
def test_newtons_method_takes_them(name: str) -> None:
    """The same steps as with differences, with less than half the evaluations."""
    wire = Section.round(0.001, 2.1e11, density=7850.0)
    given = Rod.straight(1.0, 6, wire, supports={0: "clamped"}, gravity=(0.0, 0.0, -9.81)).problem()
    plain = replace(given, field=as_field(field))
    runs = [integrate(problem, name, (0.0, 0.02), 1e-3) for problem in (given, plain)]
    assert np.abs(runs[0].y[-1] - runs[1].y[-1]).max() < 1e-12
    assert runs[0].evaluations < 0.5 * runs[1].evaluations


@pytest.mark.slow
def test_lanes_are_the_bits_of_single_runs() -> None:
    problem = moving("exp", {0: "pinned"})
    starts = np.array([moving("exp", {0: "pinned"}).y0 for _ in range(8)])
    starts[:, -1] += 0.01 * np.arange(8)
    together = integrate(problem, "ALPHA_0", (0.0, 0.1), 0.01, y0=starts).y[:, -1]
    single = np.array([integrate(problem, "ALPHA_0", (0.0, 0.1), 0.01, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, single)


N = 40


@entry(*FIELD_SIGNATURES)
def chain(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """ẏᵢ = yᵢ₊₁ − yᵢ with, as derivative by the next, a given number."""
    for i in range(N):
        st(out, i, (ld(y, i + 1) if i < N - 1 else 0.0 * ld(y, 0)) - ld(y, i))
        if out.shape[0] > N:
            st(out, N + 2 * i, 0.0 * ld(y, 0) - 1.0)
            if i < N - 1:
                st(out, N + 2 * i + 1, 0.0 * ld(y, 0) + parameters[0])


def test_entries_that_contradict_the_field_are_refused() -> None:
    pattern = sparse.eye_array(N) + sparse.eye_array(N, k=1)
    problem = Problem(rn(N), np.cos(np.arange(N)), giving_entries(chain), [1.0], jacobian_sparsity=pattern)
    check_jacobian(problem, 0.0)
    with pytest.raises(ValueError, match="component 0 of the field changes by"):
        check_jacobian(replace(problem, parameters=[0.5]), 0.0)
