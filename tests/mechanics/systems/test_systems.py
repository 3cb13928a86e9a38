"""Every body is Hamiltonian, keeps its invariants, and moves as its exact solution says; kernels agree bit by bit."""

import ast
import importlib.util
import inspect
import re
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

from liegroup.compile import WIDTH, lane_array
from liegroup.table import FACTORS, KIND, N_Q, N_V, Q_OFFSET, RN, V_OFFSET, bracket_transpose
from mechanics.systems import SYSTEMS, System

STEP = 1e-30
BODIES = {name: system for name, system in SYSTEMS.items() if system.kind == "body"}
PAGE = Path(__file__).resolve().parents[3] / "docs" / "howto" / "add_a_system.md"


@pytest.fixture(scope="module")
def of_the_page(tmp_path_factory):
    """The system that the how-to makes, from its first block as a file."""
    file = tmp_path_factory.mktemp("page") / "duffing.py"
    file.write_text(re.search(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)[1], "utf-8")
    spec = importlib.util.spec_from_file_location("duffing", file)
    module = sys.modules["duffing"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(params=[*BODIES, "of the page"])
def system(request):
    if request.param == "of the page":
        return System("duffing", "body", request.getfixturevalue("of_the_page").duffing, "as the how-to has it")
    return SYSTEMS[request.param]


@pytest.fixture
def problem(system):
    return system.problem()


@pytest.fixture(params=[name for name, system in BODIES.items() if system.exact is not None])
def solved(request):
    return SYSTEMS[request.param]()


@pytest.fixture
def states(problem):
    """Random states on the group, as many as lanes."""
    rng = np.random.default_rng(3)
    y = np.asarray(problem.y0) + 0.3 * rng.normal(size=(WIDTH, problem.n))
    for row in problem.table:
        if row[KIND] not in (RN,):
            part = slice(row[Q_OFFSET], row[Q_OFFSET] + row[N_Q])
            y[:, part] = np.stack(FACTORS[row[KIND]].project(tuple(y[:, part].T)), axis=1)
    return y


def evaluate(kernel, problem, y, size, dtype=float):
    out = np.zeros(size, dtype=dtype)
    kernel(0.0, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def moved(problem, y, v, step):
    """y exp(step v), for an imaginary step."""
    z = y.astype(complex)
    for row in problem.table:
        part, rate = slice(row[Q_OFFSET], row[Q_OFFSET] + row[N_Q]), v[row[V_OFFSET] : row[V_OFFSET] + row[N_V]]
        formulas = FACTORS[row[KIND]]
        small = tuple(step * rate) if row[KIND] != RN else None
        z[part] = y[part] + step * rate if small is None else formulas.compose(tuple(z[part]), formulas.exp(small))
    return z


def test_the_invariants_do_not_change_along_the_field(problem, states):
    for y in states:
        v = evaluate(problem.field.python, problem, y, problem.dimension)
        z = moved(problem, y, v, 1j * STEP)
        rates = evaluate(problem.invariants.python, problem, z, problem.invariant_count, complex).imag / STEP
        values = np.abs(evaluate(problem.invariants.python, problem, y, problem.invariant_count))
        np.testing.assert_allclose(rates, 0.0, atol=1e-13 * max(1.0, np.abs(v).max() * values.max()))


def test_the_field_is_that_of_the_energy(problem, states):
    """v = ∂H/∂p and ṗ = ad_vᵀ p − the left-trivialised ∂H/∂q, for H the invariant `energy`."""
    n = problem.dimension // 2
    index = problem.invariant_names.index("energy")
    for y in states:
        rate = evaluate(problem.field.python, problem, y, problem.dimension)
        gradient = np.zeros(problem.dimension)
        for k, direction in enumerate(np.eye(problem.dimension)):
            z = moved(problem, y, direction, 1j * STEP)
            gradient[k] = (
                evaluate(problem.invariants.python, problem, z, problem.invariant_count, complex)[index].imag / STEP
            )
        turning = np.zeros(n)
        bracket_transpose(problem.table[:-1], rate[:n].copy(), y[-n:].copy(), turning)
        expected = np.concatenate([gradient[n:], turning - gradient[:n]])
        np.testing.assert_allclose(rate, expected, rtol=1e-12, atol=1e-12 * np.abs(rate).max())


def test_compiled_lanes_and_interpreted_kernels_agree_bit_by_bit(problem, states):
    for field, size in ((problem.field, problem.dimension), (problem.invariants, problem.invariant_count)):
        y, out = lane_array(problem.n), lane_array(size)
        y[:] = states.T
        rows, columns = problem.work_shape
        field.compiled_lanes(0.0, y, problem.parameters, problem.structure, lane_array(rows, columns), out)
        for lane in range(WIDTH):
            scalar = evaluate(field.compiled, problem, states[lane].copy(), size)
            np.testing.assert_array_equal(out[:, lane], scalar)
            np.testing.assert_array_equal(evaluate(field.python, problem, states[lane].copy(), size), scalar)


def test_the_exact_solution_obeys_the_field(solved):
    for t in (0.0, 0.3, 7.0, -2.0, 40.0):
        h = 1e-3 * np.array([-2, -1, 1, 2])
        y = solved.exact(t + h)
        rate = (y[0] - 8 * y[1] + 8 * y[2] - y[3]) / 12e-3
        v = solved.velocity(t, solved.exact(t))
        np.testing.assert_allclose(
            rate, moved(solved, solved.exact(t), v, 1j * STEP).imag / STEP, atol=3e-11 * max(1, np.abs(v).max()) ** 5
        )
    np.testing.assert_allclose(solved.exact(0.0), solved.y0, atol=1e-15 * np.abs(solved.y0).max() + 1e-15)
    assert solved.exact(np.zeros((2, 3))).shape == (2, 3, solved.n)


def test_the_exact_solution_keeps_the_invariants_for_long(solved):
    start = solved.invariant_values(0.0, solved.y0)
    for t in np.linspace(0.0, 1000.0, 23):
        np.testing.assert_allclose(solved.invariant_values(t, solved.exact(t)), start, atol=1e-12 * np.abs(start).max())


def test_every_number_a_system_takes_is_checked(system):
    for name, parameter in inspect.signature(system.make).parameters.items():
        if isinstance(parameter.default, float):
            with pytest.raises(ValueError, match=name):
                system.make(**{name: np.nan})
        elif isinstance(parameter.default, tuple):
            with pytest.raises(ValueError, match=name):
                system.make(**{name: (np.nan,) * len(parameter.default)})


def test_the_page_could_stand_in_the_project(of_the_page):
    """Systems pose problems and solve none: the file imports what the contract of the package allows."""
    contracts = tomllib.loads((PAGE.parents[2] / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    rule = next(c for c in contracts["contracts"] if c["name"] == "physics poses problems and solves none")
    imported = {
        n.module
        for n in ast.walk(ast.parse(Path(of_the_page.__file__).read_text("utf-8")))
        if isinstance(n, ast.ImportFrom)
    }
    assert not imported & {"integrators", *rule["forbidden_modules"]}
    assert {"integrators.problem", "mechanics.systems.checks"} <= imported
