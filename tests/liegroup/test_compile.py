"""The kernel house: lanes are eight doubles, caches see every source they depend on, modes do what they say."""

from __future__ import annotations

import functools
import importlib.util
import marshal
import math
import os
import subprocess
import sys
import types
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from liegroup import compile as house
from liegroup.compile import (
    ALIGNMENT,
    WIDTH,
    Packed,
    Pointer,
    any_,
    each_lane,
    entry,
    function,
    helper,
    integer,
    is_jitted,
    kernel,
    lane_array,
    lane_matrix,
    lane_vector,
    ld,
    ld2,
    matrix,
    nothing,
    real,
    record,
    select,
    source_digest,
    sources,
    st,
    st2,
    vector,
)
from liegroup.compile.closures import digest_of
from liegroup.compile.scalars import absolute, less, maximum, minimum, sqrt
from liegroup.compile.sources import imports, parsed_statements, statements

ROOT = Path(house.__file__).parents[2]
SPECIAL = np.array([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 5e-324])

# --- lanes ------------------------------------------------------------------------------------------------------------


def lanes(values: np.ndarray) -> np.ndarray:
    """Rows of eight as an aligned lane array."""
    a = lane_array(len(values))
    a[:] = values
    return a


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def arithmetic(x, out):
    a, b = ld(x, 0), ld(x, 1)
    st(out, 0, a + b)
    st(out, 1, a - b)
    st(out, 2, a * b)
    st(out, 3, a / b)
    st(out, 4, -a)
    st(out, 5, +b)
    st(out, 6, 2 * a + b / 4 - 1.5)
    st(out, 7, (1 - a) * 0.5 + 3 / b)
    c = a
    c += b
    c -= 0.25
    c *= a
    c /= 2.0
    st(out, 8, c)
    st(out, 9, 7.0)
    st(out, 10, absolute(a))
    st(out, 11, sqrt(absolute(b)))


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def comparisons(x, out):
    a, b = ld(x, 0), ld(x, 1)
    st(out, 0, select(a < b, 1.0, 0.0))
    st(out, 1, select(a <= b, 1.0, 0.0))
    st(out, 2, select(a > b, 1.0, 0.0))
    st(out, 3, select(a >= b, 1.0, 0.0))
    st(out, 4, select(a == b, 1.0, 0.0))
    st(out, 5, select(a != b, 1.0, 0.0))
    st(out, 6, select((a < b) & (a < 0.0), a, b))
    st(out, 7, select((a < b) | (a > 0.0), a, 5.0))
    st(out, 8, select(less(a, 1), 2.0, b))
    st(out, 9, maximum(a, b))
    st(out, 10, minimum(a, 0.5))


@pytest.mark.parametrize("operation", [arithmetic, comparisons], ids=["arithmetic", "comparisons"])
def test_lanes_are_eight_doubles_bitwise(operation: house.Entry) -> None:
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=(2, 8)),
        np.stack([SPECIAL, rng.permutation(SPECIAL)]),
        np.stack([SPECIAL, SPECIAL]),
    ):
        out = lane_array(12)
        operation(lanes(values), out)
        for k in range(8):
            single = np.zeros(12)
            operation(values[:, k].copy(), single)
            np.testing.assert_array_equal(single, out[:, k])
            if np.isfinite(values[:, k]).all() and values[:, k].all():
                plain = np.zeros(12)
                operation.python(values[:, k].tolist(), plain)
                np.testing.assert_array_equal(single, plain)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def choices(x, out):
    a = ld(x, 0)
    steps = 0
    while any_(a > 1.0):
        a = select(a > 1.0, 0.5 * a, a)
        steps += 1
    st(out, 0, a)
    st(out, 1, float(steps))


def test_any_is_true_if_one_lane_is() -> None:
    values = np.array([[0.5, 3.0, 1.0, 100.0, 0.0, -5.0, 1.5, 2.0]])
    out = lane_array(2)
    choices(lanes(values), out)
    single = np.array([_run(choices, values[:, k]) for k in range(8)])
    np.testing.assert_array_equal(out[0], single[:, 0])
    assert set(out[1]) == {single[:, 1].max()}


@helper
def whole_or_not(x, first):
    return (x, 0, 1) if first else (0, 2.0, x)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def whole_numbers(x, out):
    a, b, c = whole_or_not(ld(x, 0), any_(ld(x, 0) > 0.0))
    st(out, 0, a)
    st(out, 1, b + c)


def test_whole_numbers_on_one_way_are_lanes_on_another() -> None:
    for size in (2.5, -2.5):
        values, out = np.full((1, WIDTH), size), lane_array(2)
        whole_numbers(values, out)
        np.testing.assert_array_equal(out.T, np.tile(_run(whole_numbers, values[:, 0]), (WIDTH, 1)))


def _run(operation: house.Entry, x: np.ndarray) -> np.ndarray:
    out = np.zeros(2)
    operation(np.ascontiguousarray(x), out)
    return out


@entry(nothing(matrix, vector, matrix), nothing(lane_matrix, lane_vector, lane_matrix))
def memory(a, x, out):
    for i in range(2):
        for k in range(3):
            st2(out, i, k, ld2(a, i, k) * ld(x, k))
    st2(out, 1, 2, 4.0)
    st(x, 0, 9)


def test_arrays_are_read_and_written_by_component() -> None:
    rng = np.random.default_rng(0)
    a, x, out = lane_array(2, 3), lane_array(3), lane_array(2, 3)
    a[:], x[:] = rng.normal(size=a.shape), rng.normal(size=x.shape)
    expected = a * x
    expected[1, 2] = 4.0
    memory(a, x, out)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(x[0], 9.0)


def test_lane_arrays_are_aligned_zeros() -> None:
    for shape in ((1,), (7,), (3, 5), (0,)):
        a = lane_array(*shape)
        assert a.shape == (*shape, WIDTH)
        assert a.ctypes.data % ALIGNMENT == 0 or a.size == 0
        assert a.flags.c_contiguous
        assert not a.any()


def _exponential(x: float) -> float:
    return math.exp(x)


exponential = each_lane(_exponential)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def exponentials(x, out):
    st(out, 0, exponential(ld(x, 0)))


def test_functions_without_a_vector_form_run_lane_by_lane() -> None:
    values = np.arange(-4.0, 4.0)[None]
    out = lane_array(1)
    exponentials(lanes(values), out)
    np.testing.assert_array_equal(out[0], [_run(exponentials, values[:, k])[0] for k in range(8)])
    np.testing.assert_allclose(out, np.exp(values), rtol=1e-15)
    np.testing.assert_array_equal(exponential(values), [[math.exp(v) for v in values[0]]])


# --- decorators -------------------------------------------------------------------------------------------------------


@helper
def twice(x):
    return 2.0 * x


@kernel
def four_times(x):
    return twice(twice(x))


@entry(nothing(vector))
def multiply(x):
    """x <- 4 x."""
    st(x, 0, four_times(ld(x, 0)))


def test_formulas_stay_plain_functions() -> None:
    assert four_times(1.5) == 6.0
    np.testing.assert_array_equal(four_times(np.array([1.0, 2.0])), [4.0, 8.0])
    assert multiply.__doc__ == "x <- 4 x."
    x = np.array([3.0])
    multiply(x)
    multiply.python(x)
    assert x[0] == 48.0
    assert is_jitted(multiply)
    assert not is_jitted(twice)


def test_entries_refuse_types_they_were_not_declared_for() -> None:
    multiply(np.array([1.0]))
    with pytest.raises(TypeError):
        multiply(np.array([1], dtype=np.int64))


# --- modes ------------------------------------------------------------------------------------------------------------

FUSED = """
import numpy as np
from liegroup.compile import entry, nothing, vector, ld, st, MODE

@entry(nothing(vector))
def run(x):
    st(x, 0, ld(x, 0) * ld(x, 1) + ld(x, 2))

x = np.array([1.0 + 2.0**-30, 1.0 - 2.0**-30, -1.0])
run(x)
print(MODE, x[0])
"""


def python(code: str, tmp_path: Path, path: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(code)
    variables = (
        os.environ | {"PYTHONPATH": f"{path}{os.pathsep}{ROOT}", "LIEMECH_CACHE": str(tmp_path / "cache")} | environment
    )
    return subprocess.run(
        [sys.executable, script], capture_output=True, text=True, env=variables, check=False, timeout=300
    )


@pytest.mark.parametrize(("mode", "result"), [("strict", 0.0), ("contract", -(2.0**-60))])
def test_only_the_contract_mode_fuses_products_and_sums(mode: str, result: float, tmp_path: Path) -> None:
    run = python(FUSED, tmp_path, LIEMECH_KERNELS=mode)
    assert run.stdout.split() == [mode, repr(result)], run.stderr


def test_an_unknown_mode_is_refused(tmp_path: Path) -> None:
    run = python("import liegroup.compile", tmp_path, LIEMECH_KERNELS="fast")
    assert run.returncode != 0
    assert "LIEMECH_KERNELS='fast': expected 'strict' or 'contract'" in run.stderr


# --- cache ------------------------------------------------------------------------------------------------------------

MAIN = """
import numpy as np
from benchmarks import kernels
from liegroup.compile import cache_directory, source_digest

x = np.array([1.0])
kernels.run(x)
hits = sum(kernels.run.compiled.stats.cache_hits.values())
print(x[0], source_digest(kernels.__file__), hits)
"""
KERNELS = """
from benchmarks import middle
from liegroup.compile import entry, nothing, vector, ld, st

@entry(nothing(vector))
def run(x):
    st(x, 0, middle.shift(ld(x, 0)))
"""
MIDDLE = """
from benchmarks.deep import STEP
from liegroup.compile import helper

@helper
def shift(x):
    return x + STEP
"""


def test_a_change_in_any_imported_file_changes_the_cache_and_the_result(tmp_path: Path) -> None:
    package, ages = tmp_path / "path" / "benchmarks", count(1)
    package.mkdir(parents=True)
    for name, text in (("__init__", ""), ("kernels", KERNELS), ("middle", MIDDLE)):
        (package / f"{name}.py").write_text(text)

    def run(step: float) -> list[str]:
        deep = package / "deep.py"
        deep.write_text(f"STEP = {step}\n")
        age = 10.0 * next(ages)  # Python takes its own compiled file for a source of the same size and second
        os.utime(deep, (age, age))
        done = python(MAIN, tmp_path, package.parent)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    first, again, changed, back = run(1.0), run(1.0), run(2.0), run(1.0)
    assert first[0] == again[0] == back[0] == "2.0"
    assert changed[0] == "3.0"
    assert first[1] == again[1] == back[1] != changed[1]
    assert [r[2] for r in (first, again, changed, back)] == ["0", "1", "0", "1"]


SHARED = """
from liegroup.compile import helper, kernel, ld, st

def made(factor, name):
    def scale(x):
        st(x, 0, factor * ld(x, 0))
    return kernel(scale, name)

double, treble = made(2.0, "double"), made(3.0, "treble")

@kernel
def shift(x):
    treble(x)
    double(x)

@helper
def forced(x):
    shift(x)
"""
CALLER = """
from benchmarks import shared
from liegroup.compile import entry, nothing, vector

@entry(nothing(vector))
def run(x):
    shared.{}(x)
"""
COUNT = """
import sys
import numpy as np
from numba.core import event
from benchmarks import {0}

class Names(event.Listener):
    def on_start(self, e):
        names.append(e.data["dispatcher"].py_func.__qualname__)

    def on_end(self, e):
        pass

names = []
event.register("numba:compile", Names())
x = np.array([1.0])
{0}.run(x)
print(x[0], *(name for name in names if name in ("shift", "double", "treble")))
"""


def test_a_kernel_is_compiled_once_for_all_entries_and_processes(tmp_path: Path) -> None:
    package = tmp_path / "path" / "benchmarks"
    package.mkdir(parents=True)
    callers = {"first": "shift", "second": "shift", "third": "forced", "fourth": "treble"}
    for name, text in (("__init__", ""), ("shared", SHARED), *((k, CALLER.format(v)) for k, v in callers.items())):
        (package / f"{name}.py").write_text(text)

    def run(caller: str) -> list[str]:
        done = python(COUNT.format(caller), tmp_path, package.parent)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run("first") == ["6.0", "shift", "treble", "double"]
    assert run("second") == ["6.0"]
    assert run("third") == ["6.0", "shift", "treble", "double"]  # forced inline: another machine code
    assert run("fourth") == ["3.0"]


def test_digest_covers_the_formulas_a_kernel_is_made_of() -> None:
    table = ROOT / "liegroup" / "table.py"
    files = imports(str(table))
    assert {Path(f).name for f in files} >= {"so3.py", "se3.py", "maps.py"}
    assert source_digest(table) == source_digest(table)
    assert source_digest(table) != source_digest(ROOT / "liegroup" / "formulas" / "series.py")


def test_imports_are_found_in_the_text_as_the_parser_finds_them() -> None:
    """More may be found, in texts within the file; never less."""
    odd = b"import a.b as c, d  # e\nfrom ..f import (  # g\n    h,\n    i as j,  # k\n)\r\n"
    odd += b"if a:\n    from . import l, \\\r\n m\n"
    hidden = b"x = 1; from o import p\nif x: import q\nx; from .import r\nx; from t \\\n import u\n"
    sources = [odd, hidden, *(path.read_bytes() for path in ROOT.glob("liegroup/**/*.py"))]
    for source in sources:
        found = {(base, *names) for base, names in statements(source)}
        assert {(base, *names) for base, names in parsed_statements(source)} <= found
    assert {(base, *names) for base, names in statements(odd)} == {
        ("a.b",), ("d",), ("..f", "h", "i"), (".", "l", "m"),
    }  # fmt: skip
    assert len(list(statements(hidden))) == 4


def scaled_by(factor: float, inner: Any = None) -> Any:
    """Functions of the same lines."""

    def scaled(x: Any) -> Any:
        return factor * (x if inner is None else inner(x))

    return scaled


def read_from_bytecode(function: Any, **names: Any) -> Any:
    """A function as another process has it, whose strings are other objects; `names` in the place of globals."""
    code = marshal.loads(marshal.dumps(function.__code__))
    cells = tuple(
        types.CellType(read_from_bytecode(x.cell_contents) if callable(x.cell_contents) else x.cell_contents)
        for x in function.__closure__
    )
    made = types.FunctionType(code, function.__globals__ | names, function.__name__, function.__defaults__, cells)
    made.__qualname__ = function.__qualname__
    return made


def test_functions_of_the_same_lines_are_told_apart_alike_in_every_process() -> None:
    functions = [scaled_by(2.0), scaled_by(3.0), scaled_by(2.0, scaled_by(3.0)), scaled_by(2.0, scaled_by(4.0))]
    assert len({digest_of(f) for f in functions}) == 4
    for f in functions:
        assert digest_of(read_from_bytecode(f)) == digest_of(f)


def test_globals_of_functions_count_that_are_no_names_of_a_module() -> None:
    def reads() -> Any:
        return lambda x: SCALE * x  # type: ignore[name-defined]  # noqa: F821

    held = scaled_by(1.0, reads())
    inner = held.__closure__[1].cell_contents
    found = set()
    for scale in (1.0, 2.0):
        again = types.FunctionType(inner.__code__, inner.__globals__ | {"SCALE": scale}, inner.__name__)
        again.__qualname__ = inner.__qualname__
        found.add(digest_of(scaled_by(1.0, again)))
    assert len(found) == 2


def test_digest_follows_names_through_packages_and_earlier_names_of_modules(tmp_path: Path) -> None:
    file = tmp_path / "user.py"
    file.write_text(
        "from mechanics.constraints import revolute\nfrom integrators.storage import read\nimport mechanics\n"
    )
    names = {str(Path(f).relative_to(ROOT)) for f in imports(str(file))}
    assert names == {"mechanics/constraints/loops.py", "integrators/results/storage.py"}


def test_a_later_process_looks_for_imports_only_in_what_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And finds the same as one that knows nothing, whatever has become of what earlier ones have kept."""
    read: list[Path] = []

    def digest(cache: str = "cache") -> str:
        """As a new process finds it; `read` are the contents in which it has looked for imports."""
        monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path / cache))
        spec = importlib.util.spec_from_file_location("liegroup.compile.sources_again", sources.__file__)
        assert spec
        assert spec.loader
        again = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(again)
        original = again.statements
        again.statements = functools.wraps(original)(lambda content: read.append(content) or original(content))
        read.clear()
        return str(again.source_digest(file))

    file, kept = tmp_path / "user.py", tmp_path / "cache" / "imports"
    file.write_text("import liegroup.table\nimport liegroup.rows\n")
    first, files = digest(), len(read)
    assert files > 20
    assert (digest(), len(read)) == (first, 0)
    file.write_text("import liegroup.table\n")
    changed = digest()
    assert (changed != first, len(read)) == (True, 1)
    assert digest("none") == changed
    file.write_text("import liegroup.table\nimport liegroup.rows\n")
    assert (digest(), len(read)) == (first, 0)
    whole = kept.read_bytes()
    for damaged in (b"", whole[:-1], whole.replace(b"liegroup.rows", b"liegroup.maps")):
        kept.write_bytes(damaged)
        assert (digest(), len(read)) == (first, files)


def test_what_is_typed_at_a_prompt_is_compiled_without_a_cache() -> None:
    typed = """
from liegroup.compile import entry, ld, nothing, st, vector

@entry(nothing(vector, vector))
def twice(a, out):
    for i in range(a.shape[0]):
        st(out, i, 2.0 * ld(a, i))
"""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(typed, "<stdin>", "exec"), names)
    a, out = np.array([1.0, -3.0]), np.zeros(2)
    names["twice"](a, out)
    np.testing.assert_array_equal(out, 2.0 * a)


DOUBLED = function(nothing, vector, vector)


@entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
def doubled(a: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        st(out, i, 2.0 * ld(a, i))


@entry(nothing(DOUBLED, vector, vector))
def doubled_again(f: Any, a: Any, out: Any) -> None:
    f(a, out)
    f(out, out)


def test_a_pointer_is_to_the_signature_it_names_whichever_was_compiled_first() -> None:
    assert doubled.compiled_lanes is doubled.compiled
    a, out = np.array([1.0, -3.0]), np.zeros(2)
    doubled_again(Pointer(doubled.compiled, DOUBLED), a, out)
    np.testing.assert_array_equal(out, 4.0 * a)
    doubled_again(doubled.compiled, a, out)  # a dispatcher, which has several
    np.testing.assert_array_equal(out, 4.0 * a)
    with pytest.raises((TypeError, AttributeError)):
        doubled_again(np.sin, a, out)


class Scaled(NamedTuple):
    """A function, arrays of two dimensions, numbers of two kinds."""

    f: Any
    a: Any
    table: Any
    factor: Any
    count: Any


SCALED = record(Scaled, DOUBLED, vector, matrix, real, integer)


@entry(nothing(SCALED, vector))
def scaled(given: Any, out: Any) -> None:
    given.f(given.a, out)
    for i in range(given.count):
        st(out, i, given.factor * ld(out, i) + ld2(given.table, i, 1))


def test_a_record_is_read_field_by_field_where_its_arrays_are() -> None:
    f, a, table, out = (
        Pointer(doubled.compiled, DOUBLED),
        np.array([1.0, -3.0]),
        np.arange(4.0).reshape(2, 2),
        np.zeros(2),
    )
    given = Packed(Scaled(f, a, table, 0.1, 2))
    scaled(given, out)
    np.testing.assert_array_equal(out, 0.1 * (2.0 * a) + table[:, 1])
    a[0], table[1, 1] = 7.0, -0.5
    scaled(given, out)
    np.testing.assert_array_equal(out, 0.1 * (2.0 * a) + table[:, 1])
    for name, wrong in (("a", np.arange(2)), ("a", np.arange(4.0)[::2]), ("table", a)):
        with pytest.raises(TypeError, match=rf"Scaled\.{name}: .* expected a contiguous"):
            Packed(given.given._replace(**{name: wrong}))


def test_old_kernels_are_removed_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The root may be somebody's home."""
    from liegroup.compile.cache import _prune
    from liegroup.compile.folders import make

    mine, thesis, objects_of_mine = tmp_path / "0123456789abcdef01234567", tmp_path / "thesis", tmp_path / "objects"
    holding, unmarked, link = (tmp_path / f"abcdef0123456789abcdef0{k}" for k in (1, 2, 3))
    for folder in (thesis, objects_of_mine, unmarked):
        folder.mkdir()
    for folder in (mine, holding, tmp_path / "elsewhere"):
        assert make(folder)
        assert not make(folder)
    link.symlink_to(tmp_path / "elsewhere")
    (mine / "kernel.nbi").write_text("")
    (mine / "kernel.3.nbc.tmp.0123").write_text("")
    (unmarked / "kernel.nbi").write_text("")
    (thesis / "thesis.tex").write_text("")
    (holding / "letter.txt").write_text("")
    (objects_of_mine / "vase.jpg").write_text("")
    (objects_of_mine / ("0" * 32)).write_text("a store of mine")
    old = 0.0
    for path in (*tmp_path.iterdir(), *objects_of_mine.iterdir()):
        os.utime(path, (old, old))
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    _prune(tmp_path)
    assert not mine.exists()
    assert (unmarked / "kernel.nbi").exists()
    assert link.exists()
    assert (objects_of_mine / ("0" * 32)).exists()
    assert (thesis / "thesis.tex").exists()
    assert (holding / "letter.txt").exists()
    assert (objects_of_mine / "vase.jpg").exists()
