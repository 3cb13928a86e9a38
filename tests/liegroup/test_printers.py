"""Straight-line code in other languages gives the numbers of the kernels: elementary functions to the last bit."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path as File

import numpy as np
import pytest

from liegroup.compile import entry, nothing, real, st, vector
from liegroup.compile.scalars import arctan2, select, sincos
from liegroup.compile.tracing import (
    Graph,
    Path,
    Traced,
    acosh,
    asinh,
    atanh,
    cosh,
    exp,
    expm1,
    floor,
    log,
    log1p,
    sinh,
    tanh,
)
from liegroup.printers import LANGUAGES, Function, printed
from liegroup.printers import c as c_printer

COMPILER = os.environ.get("CC", "cc")
needs_c = pytest.mark.skipif(shutil.which(COMPILER) is None, reason=f"no C compiler {COMPILER!r}")
FUSING = ("-O3", "-march=native", "-ffp-contract=fast", "-fPIC", "-shared")
X = np.concatenate([np.linspace(-20.0, 20.0, 201), np.logspace(-12, 7, 39), [0.0, 1e9]])
EXACT = 18
"""So many values need no function of the C library."""


@entry(nothing(real, real, vector))
def kernel_values(x, y, out):
    s, c = sincos(x)
    st(out, 0, x + y)
    st(out, 1, x - y)
    st(out, 2, x * y)
    st(out, 3, x / (y + 0.5))
    st(out, 4, -x)
    st(out, 5, s)
    st(out, 6, c)
    st(out, 7, arctan2(y, x))
    st(out, 8, floor(x))
    st(out, 9, select(x < y, x, 2.0 * y))
    st(out, 10, x * y + s)
    st(out, 11, x * x * x - y * c)
    st(out, 12, arctan2(s, -c))
    st(out, 13, 1.0 / (1.0 + x * x))
    st(out, 14, abs(x))
    st(out, 15, 1.0 * (x < y) + 1.0 * (y < 0.3))
    st(out, 16, (x < 0.3) * y - 2.0 * (x < y))
    st(out, 17, select(x - 0.2 * floor(5.0 * x), x, y))
    st(out, 18, exp(-abs(x)))
    st(out, 19, log(1.0 + x * x))
    st(out, 20, tanh(x))
    st(out, 21, sinh(0.1 * x))
    st(out, 22, cosh(0.1 * x))
    st(out, 23, asinh(x))
    st(out, 24, acosh(1.0 + x * x))
    st(out, 25, atanh(x / (1.0 + x * x)))
    st(out, 26, expm1(-x * x))
    st(out, 27, log1p(x * x))


def values_of(x, y):
    out = np.empty(28)
    kernel_values(float(x), float(y), out)
    return out


@pytest.fixture(scope="module")
def operations():
    graph, out = Graph(), np.empty(28, dtype=object)
    kernel_values.python(graph.input(("x", None)), graph.input(("y", None)), out)
    return Function("values_of", graph, {"x": 0, "y": 0}, {"values": [v.k for v in out]})


@needs_c
@pytest.mark.parametrize("part", [1000, 10], ids=["whole", "cut"])
def test_c_has_the_bits_of_the_kernels_whatever_the_compiler_may_fuse(operations, part, monkeypatch):
    monkeypatch.setattr(c_printer, "PART", part)
    text = printed("c", [operations])
    assert ("lm_values_of_1(" in text) == (part == 10)
    found = text.load(flags=FUSING)
    for x in X:
        y = 0.7 * x - 0.3
        assert np.array_equal(found.values_of(x, y), values_of(x, y)), x


@needs_c
def test_c_has_the_bits_where_a_vector_of_differences_and_sums_tempts_the_compiler():
    """GCC since 12 makes vfmaddsub of them though it is asked not to fuse."""
    graph = Graph()
    a, b, c = ([graph.input((name, k)) for k in range(4)] for name in "abc")
    out = [x * y - z if k % 2 == 0 else x * y + z for k, (x, y, z) in enumerate(zip(a, b, c, strict=True))]
    function = Function("turned", graph, {"a": 4, "b": 4, "c": 4}, {"values": [x.k for x in out]})
    here, there = printed("numpy", [function]).load(), printed("c", [function]).load(flags=FUSING)
    for numbers in np.random.default_rng(0).normal(size=(300, 3, 4)):
        assert np.array_equal(there.turned(*numbers), here.turned(*numbers))


def test_numpy_has_the_bits_of_the_kernels_but_for_its_own_functions(operations):
    y = 0.7 * X - 0.3
    found = printed("numpy", [operations]).load().values_of(X, y)  # a batch
    true = np.array([values_of(*both) for both in zip(X, y, strict=True)])
    near = np.abs(X) < 1e6  # beyond, the sine is the library's
    assert np.array_equal(found[near, :EXACT], true[near, :EXACT])
    assert np.allclose(found, true, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("language", ["jax", "casadi"])
def test_other_libraries_have_the_same_functions(operations, language):
    pytest.importorskip(language)
    if language == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
    function = printed(language, [operations]).load().values_of
    for x, y in ((0.3, 0.2), (-2.0, 1.5), (4.0, -3.0)):
        assert np.allclose(np.ravel(np.asarray(function(x, y))), values_of(x, y), rtol=1e-13, atol=1e-14)


SHIM = """
#include <math.h>
#define __device__
#define __global__
static struct { long x; } blockIdx, blockDim, threadIdx;
"""


def cuda_program() -> Function:
    graph = Graph()
    t, y = graph.input(("t", None)), [graph.input(("y", k)) for k in range(3)]
    s, c = sincos(y[0] + t)
    return Function("turned", graph, {"t": 0, "y": 3}, {"out": [x.k for x in (s * y[1], arctan2(c, y[2]))]})


def test_code_for_cuda_gives_the_numbers_of_c_thread_by_thread(tmp_path):
    """Compiled for the host, where threads are calls one after the other."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    import ctypes

    function, n = cuda_program(), 5
    text = SHIM + printed("cuda", [function]) + '\nextern "C" void thread(long k) { threadIdx.x = k; }\n'
    source, library = tmp_path / "a.cpp", tmp_path / "a.so"
    source.write_text(text, encoding="utf-8")
    subprocess.run(["c++", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-o", library, source], check=True)
    loaded = ctypes.CDLL(str(library))
    states, out = np.random.default_rng(0).normal(size=(3, n)), np.empty((2, n))
    vector_ = ctypes.POINTER(ctypes.c_double)
    given = [ctypes.c_long(n), ctypes.c_double(0.4), states.ctypes.data_as(vector_), out.ctypes.data_as(vector_)]
    for k in range(n + 1):  # the last has nothing to do
        loaded.thread(ctypes.c_long(k))
        loaded.turned_each(*given)
    true = printed("numpy", [function]).load().turned(0.4, states.T)
    assert np.array_equal(out.T, true)


def test_nvrtc_takes_the_code_for_cuda():
    import ctypes

    folders = find_spec("nvidia").submodule_search_locations if find_spec("nvidia") is not None else ()
    libraries = [x for folder in folders for x in File(folder).glob("*/lib/libnvrtc.so.*")]  # cuda_nvrtc, cu13, …
    if not libraries:
        pytest.skip("the compiler of CUDA, nvidia-cuda-nvrtc, is not installed")
    nvrtc = ctypes.CDLL(str(libraries[0]))
    program, options = ctypes.c_void_p(), (b"--gpu-architecture=compute_80", b"--fmad=false")
    text = printed("cuda", [cuda_program()]).encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"a.cu", 0, None, None) == 0
    assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    assert b".entry turned_each" in ptx.value


def test_decisions_are_those_of_the_samples_and_presuppositions_are_reported():
    """A loop until the values of all samples are large enough: rounds of the slowest, and a report where more are
    needed.
    """
    graph = Graph()
    x = graph.input(("x", None))
    graph.path = Path(graph, {x.k: np.array([1.0, 3.0])})
    value, rounds = x, 0
    while np.any(value < 10.0):
        value, rounds = (value < 10.0).select(2.0 * value, value), rounds + 1
    assert rounds == 4
    function = Function("grown", graph, {"x": 0}, {"value": [value.k], "left": [graph.path.left.k]})
    found = printed("numpy", [function]).load().grown(np.array([1.0, 3.0, 20.0, 0.1]))
    assert found[0][:, 0].tolist() == [16.0, 12.0, 20.0, 1.6]
    assert found[1][:, 0].tolist() == [0.0, 0.0, 0.0, 1.0]


def test_without_samples_decisions_are_refused():
    with pytest.raises(TypeError, match=r"an `if` on a value cannot be traced"):
        bool(Graph().input("x") < 1.0)


def test_what_is_no_language_and_what_cannot_be_loaded_is_named(operations):
    with pytest.raises(ValueError, match=rf"language: 'fortran', expected one of '{next(iter(LANGUAGES))}'"):
        printed("fortran", [operations])
    with pytest.raises(TypeError, match="needs a device"):
        printed("cuda", [operations]).load()
    with pytest.raises(RuntimeError, match="no C compiler 'no-such-compiler'"):
        printed("c", [operations]).load(compiler="no-such-compiler")


@needs_c
def test_c_names_arguments_of_the_wrong_size():
    graph = Graph()
    y: Traced = graph.input(("y", 0))
    found = printed("c", [Function("twice", graph, {"y": 2}, {"out": [(y + y).k]})]).load()
    with pytest.raises(ValueError, match=r"y: shape \(3,\), expected \(2,\)"):
        found.twice([1.0, 2.0, 3.0])
