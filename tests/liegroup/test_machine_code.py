"""Machine code by name: whole in every process, refused where it would not be, and formulas bound late without
surprises.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.ir import FunctionIR

from integrators.engine.fixed_run import FixedRun
from integrators.engine.run import Output, Plan
from integrators.method import step_map
from integrators.methods import find
from integrators.problem.lagrangian import lagrangian_problem
from integrators.step_derivatives import linearised_step
from liegroup import so3
from liegroup import table as T
from liegroup.compile import LateBindingError, entry, integer_table, late, nothing, vector
from liegroup.compile.pending import pending
from liegroup.compile.signatures import stepped_vector
from liegroup.compile.undisturbed import undisturbed
from mechanics.systems import heavy_top

ROOT = Path(T.__file__).parents[1]
MODULE = """
import sys
import warnings
import numba
import numpy as np
from liegroup.compile import entry, helper, kernel, ld, nothing, real, st, vector
from liegroup import table

@helper
def shifted(x):
    return (x + 1e16) - 1e16

@kernel
def inner(x):
    return shifted(x) + 3.0 * x

@kernel
def outer(x):
    return inner(x) + inner(2.0 * x)

@entry(real(real))
def run(x):
    return outer(x)

@numba.njit(cache=True)
def mine(x):
    return outer(x)

@numba.njit(cache=True)
def formula(x):
    return shifted(x)

@numba.njit(fastmath=True)
def fast(x):
    return shifted(x) + inner(0.0)
"""


def python(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    (tmp_path / "module.py").write_text(MODULE)
    (tmp_path / "script.py").write_text(f"from module import *\n{code}")
    variables = os.environ | {
        "PYTHONPATH": str(ROOT),
        "LIEMECH_CACHE": str(tmp_path / "cache"),
        "NUMBA_CACHE_DIR": str(tmp_path / "numba"),
    }
    return subprocess.run(
        [sys.executable, tmp_path / "script.py"],
        capture_output=True,
        text=True,
        env=variables,
        check=False,
        timeout=600,
    )


RUN = "assert run(1.0) == 9.0 + shifted(1.0) + shifted(2.0)\nprint(sum(run.compiled.stats.cache_hits.values()))"


@pytest.mark.slow
def test_code_that_was_removed_or_damaged_is_compiled_again(tmp_path: Path) -> None:
    def hits() -> str:
        done = python(RUN, tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert [hits(), hits()] == ["0", "1"]
    pieces = sorted((tmp_path / "cache" / "objects").glob("[0-9a-f]*"))
    assert len(pieces) == 3  # the entry and two kernels, each once
    pieces[0].unlink()
    assert [hits(), hits()] == ["0", "1"]
    for piece in (tmp_path / "cache" / "objects").glob("[0-9a-f]*"):
        piece.write_bytes(piece.read_bytes()[:-64])
    assert [hits(), hits()] == ["0", "1"]


def test_functions_of_users_call_kernels_and_are_cached_only_without_them(tmp_path: Path) -> None:
    code = """
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    assert mine(1.0) == run(1.0) and formula(1.0) == shifted(1.0)
print(len([w for w in seen if "Cannot cache compiled function \\"mine\\"" in str(w.message)]),
sum(formula.stats.cache_hits.values()))
"""
    for hits in (0, 1):
        done = python(code, tmp_path)
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == ["1", str(hits)]


def test_fast_arithmetic_of_a_caller_stops_at_the_kernel(tmp_path: Path) -> None:
    done = python("assert fast(1.0) == shifted(1.0) == 0.0", tmp_path)
    assert done.returncode == 0, done.stderr


FORK = """
import os
children = []
for name in ("a", "b"):
    child = os.fork()
    if not child:
        run(1.0) if name == "a" else run.python(outer(1.0))
        assert run(1.0) == 9.0 + shifted(1.0) + shifted(2.0)
        os._exit(0)
    children.append(child)
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_forked_processes_share_one_empty_cache(tmp_path: Path) -> None:
    done = python(FORK, tmp_path)
    assert done.returncode == 0, done.stderr
    assert python(RUN, tmp_path).stdout.strip() == "1"


# --- formulas bound late ----------------------------------------------------------------------------------------------


@entry(nothing(integer_table, vector, vector, vector))
def retracted(table: Any, q: Any, x: Any, out: Any) -> None:
    T.retract(table, T.CCSK, q, x, out)


def test_a_formula_that_cannot_be_compiled_is_an_exception_and_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    q, x, out = so3.identity(), np.array([0.1, 0.2, 0.3]), np.zeros(4)
    original = late.bind
    for index in [k for k in late._bound if late._formulas[k // late.FORMS]().name == "retract.SO(3).ccsk"]:
        del late._bound[index]  # another test may have needed it
        late._addresses[index] = ctypes.cast(late._first_calls, ctypes.c_void_p).value

    def fails(place: int, in_lanes: bool) -> None:
        raise MemoryError("no room for the formula")

    monkeypatch.setattr(late, "bind", fails)
    with pytest.raises(LateBindingError, match=r"retract.SO\(3\).ccsk: no room for the formula"):
        retracted(so3.table, q, x, out)
    assert np.isnan(out).all()
    monkeypatch.setattr(late, "bind", original)
    retracted(so3.table, q, x, out)
    expected = np.zeros(4)
    retracted.python(so3.table, q, x, expected)
    np.testing.assert_array_equal(out, expected)
    assert not math.isnan(out[0])


def test_a_run_has_all_its_formulas_before_it_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = heavy_top()
    run = FixedRun(problem, find("RKMK4"), Output(), Plan(0.0, 1e-3, 20), problem.y0)
    bound: list[int] = []
    monkeypatch.setattr(late, "bind", lambda place, in_lanes: bound.append(place))
    run.go(20)
    assert run.steps_done == 20
    assert not bound


@pytest.mark.parametrize("call", ["step_map", "linearised_step", "evaluate"])
def test_no_call_of_compiled_code_returns_the_nan_of_a_formula_that_failed(call: str) -> None:
    """As if a formula had failed while the step, or the field, ran."""
    problem = heavy_top()
    swing = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 - q[0] ** 2, [0.3], model="spring")
    calls = {
        "step_map": lambda: step_map(problem, find("RKMK4"))(problem.y0, 1e-2),
        "linearised_step": lambda: linearised_step(swing, "DEL_MIDPOINT", swing.y0, 1e-2),
        "evaluate": lambda: problem.invariant_values(0.0, problem.y0),
    }
    calls[call]()
    pending.first = LateBindingError("retract: no room for the formula")
    with pytest.raises(LateBindingError, match="no room"):
        calls[call]()
    calls[call]()


class _Memory(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ["arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks"]
    ]
    _fields_ += [("fordblks", ctypes.c_size_t), ("keepcost", ctypes.c_size_t)]


def test_what_a_function_was_compiled_with_goes_before_the_next_ones_are_compiled() -> None:
    def compiled(k: float) -> Any:
        @entry(nothing(vector))
        def moved(a: Any) -> None:
            a[0] = a[0] + k

        return moved.compiled

    with undisturbed():
        kept = [compiled(float(k)) for k in range(6)]
        left = [x for x in gc.get_objects() if type(x) is FunctionIR]  # a weak reference shows another class
    assert len(kept) == 6
    assert len(left) <= 2  # of the last one, perhaps


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None) if os.name == "posix" else None, "mallinfo2"), reason="glibc 2.33")
def test_of_a_compilation_little_more_than_the_machine_code_stays_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liegroup.compile.folders.is_usable", lambda: False)
    count = ctypes.CDLL(None).mallinfo2
    count.restype = _Memory

    def used() -> int:
        gc.collect()
        found = count()
        return int(found.uordblks + found.hblkhd)

    def compiled(k: float) -> Any:
        @entry(nothing(vector))
        def scale(a: Any) -> None:
            for i in range(a.shape[0]):
                a[i] = a[i] * k

        return scale.compiled

    kept = [compiled(1.0)]
    before, n = used(), 10
    kept += [compiled(2.0 + k) for k in range(n)]
    assert used() - before < 100_000 * n


SUMS = """
from liegroup.compile import entry, ld, never, nothing, rare, st, vector

LOOPS = {!r}

@rare(never)
def late(a, b, out):
    for i in range(a.shape[0]):
        st(out, i, ld(a, i) * 3.0 - ld(b, i))

@entry(nothing(vector, vector, vector))
def sums(a, b, out):
    for i in range(a.shape[0]):
        st(out, i, ld(a, i) / 3.0 + ld(b, i))
    late(a, out, b)
"""


def test_loops_said_to_be_short_have_code_of_their_own_and_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    sizes, found = {}, {}
    for loops in ("", "rows", "short"):
        name = f"sums_{loops}"
        (tmp_path / f"{name}.py").write_text(SUMS.format(loops), encoding="utf-8")
        sums = importlib.import_module(name).sums
        a, b = np.random.default_rng(1).normal(size=(2, 77))
        out = np.zeros(77)
        sums(a, b, out)
        found[loops] = np.concatenate([out, b]).tobytes()
        rare = [x for key, x in sys.modules["liegroup.compile.rare"]._bindings.items() if key[0] == name]
        sizes[loops] = [
            sum(map(len, kernel.library.objects.values()))
            for function in (sums.compiled, *rare)
            for kernel in function.overloads.values()
        ]
    assert all(len(of) == 2 for of in sizes.values())
    assert all(len({of[k] for of in sizes.values()}) == 3 for k in range(2)), sizes  # each has its own code
    assert sum(sizes["rows"]) < sum(sizes[""]) - 200, sizes  # what takes the arguments from Python is longer
    assert len(set(found.values())) == 1


def test_a_kernel_that_compares_numbers_is_not_complex() -> None:
    """The compiler makes a pair of numbers that are compared, which looks like a complex one."""

    @entry(nothing(vector), nothing(stepped_vector))
    def larger(a: Any) -> None:
        for i in range(a.shape[0]):
            a[i] = max(a[i].real, 0.0)

    assert larger.compiled is larger.compiled_lanes
    found = {arguments: kernel.library.has_complex for arguments, kernel in larger.compiled.overloads.items()}
    assert found == {(vector,): False, (stepped_vector,): True}
