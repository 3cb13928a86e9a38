"""Ensembles by the kernels for CUDA: compiled for the host, where threads are calls one after the other; on a device,
where there is one; taken by NVRTC; refused by name where there is no device.
"""

import ctypes
import hashlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mechanics
from integrators import Guard, Problem, integrate
from integrators.codegen.generate import kernels_of
from integrators.ensemble import device as of_devices
from integrators.ensemble import on_gpu
from integrators.problem.lagrangian import lagrangian_problem
from integrators.status import Status
from liegroup import rn
from mechanics.joints import Revolute, Spherical
from mechanics.systems.bodies.pendulum import pendulum
from mechanics.testing import random_tree

SHIM = """
#include <math.h>
#define __device__
#define __global__
static struct { long long x; } blockIdx, blockDim, threadIdx;
extern "C" void thread(long long k) { threadIdx.x = k; }
"""
NAMED = ("t", "y", "invariants", "status", "message", "steps", "step", "model", "method", "variables")


class Host:
    """A device whose threads are calls, one after the other."""

    def __init__(self, folder):
        self.folder, self.libraries = folder, {}

    def array(self, values):
        return np.array(values)

    def host(self, values):
        return values

    def kernel(self, text, name):
        if text not in self.libraries:
            name_of = hashlib.sha256(text.encode()).hexdigest()[:16]  # a library is loaded once under its name
            source, library = (self.folder / f"{name_of}.{end}" for end in ("cpp", "so"))
            source.write_text(SHIM + text, encoding="utf-8")
            call = ["c++", "-O1", "-ffp-contract=off", "-fPIC", "-shared", "-o", library, source]
            subprocess.run(call, check=True)
            self.libraries[text] = ctypes.CDLL(str(library))
        library = self.libraries[text]
        kinds = {np.float64: ctypes.c_double, np.int64: ctypes.c_longlong}

        def launch(count, *arguments):
            given = [
                ctypes.c_void_p(x.ctypes.data) if isinstance(x, np.ndarray) else kinds[type(x)](x) for x in arguments
            ]
            for k in range(count + 1):  # the last has nothing to do
                library.thread(ctypes.c_longlong(k))
                getattr(library, name)(ctypes.c_longlong(count), *given)

        return launch


@pytest.fixture(params=["host", "CUDA"])
def device(request, tmp_path):
    if request.param == "host":
        if shutil.which("c++") is None:
            pytest.skip("no C++ compiler")
        return Host(tmp_path)
    try:
        return of_devices.Cuda()
    except RuntimeError as reason:
        pytest.skip(str(reason))


def tree_problem(count=5):
    generator = np.random.default_rng(3)
    tree = random_tree("chain", 2, generator, (Revolute, Spherical))
    q = np.array([tree.random_configuration(generator) for _ in range(count)])
    return mechanics.hamiltonian_problem(tree, q, generator.normal(size=(count, tree.nv)))


def pendulums():
    problem = lagrangian_problem(
        lambda t, q, v, p: 0.5 * v[0] ** 2 + np.cos(q[0]) * (1.0 + 0.1 * np.sin(t)), [0.3], [0.1]
    )
    return problem.with_start(np.array([[0.3, 0.1], [0.5, -0.2], [1.0, 0.0]]))


def turning():
    """Some turn over, some swing: angles are wound."""
    problem = pendulum()
    return problem.with_start(np.array([[3.0, 9.0], [0.5, 1.0], [-3.0, -12.0]]))


@pytest.mark.parametrize(
    ("posed", "method"), [(tree_problem, "RKMK4"), (tree_problem, "CF4"), (turning, "RKMK4"), (turning, "SPLIT_BM4_S6")]
)
def test_the_kernels_for_cuda_give_the_bits_of_integrate(posed, method, device):
    problem, given = posed(), ((0.3, 1.33), 0.01)
    found = on_gpu(problem, method, *given, save_every=7, device=device)
    true = integrate(problem, method, *given, save_every=7, progress=False)
    for name in NAMED:
        assert np.array_equal(getattr(found, name), getattr(true, name)), name
    if true.joints is not None:
        assert np.array_equal(found.joint_states()[0], true.joint_states()[0])


def test_a_start_from_which_the_iteration_runs_away_goes_to_the_host(device):
    """One of many does not take the others with it, and is none of the samples, whose guards it would take away."""
    spring = Problem(rn(2), [0.1, 0.0], lambda t, y: [y[1], -1e4 * y[0] ** 3])
    given = ("MIDPOINT", (0.0, 0.1), 0.02)
    many = spring.with_start(np.array([[0.1, 0.0], [10.0, 0.0], [0.12, 0.0]]))
    same = kernels_of(spring, "MIDPOINT", 0.02, [[0.1, 0.0], [0.12, 0.0]])
    assert str(kernels_of(spring, "MIDPOINT", 0.02, many.y0)) == str(same)
    found, true = on_gpu(many, *given, device=device), integrate(many, *given, progress=False)
    assert np.abs(found.y - true.y).max() < 1e-9 * np.abs(true.y).max()
    with pytest.raises(ArithmeticError, match="its iteration runs away there"):
        on_gpu(many.with_start(np.array([[10.0, 0.0], [12.0, 0.0]])), *given, device=device)


def test_many_short_launches_end_where_one_does(device, monkeypatch):
    given = (turning(), "RKMK4", (0.0, 1.0), 0.01)
    whole = on_gpu(*given, device=device)
    monkeypatch.setattr(of_devices, "LAUNCH", 1.0)  # a step each
    parts = on_gpu(*given, device=device)
    assert np.array_equal(whole.y, parts.y)
    assert np.array_equal(whole.t, parts.t)


def test_a_field_of_time_is_read_at_the_times_of_integrate(device):
    problem = pendulums()
    for method, most in (("RKMK4", 0.0), ("CF4", 1e-15)):  # CF4 hands the field at the end of a step on
        found = on_gpu(problem, method, (0.1, 2.0), 0.013, save_every=5, device=device)
        true = integrate(problem, method, (0.1, 2.0), 0.013, save_every=5, progress=False)
        assert np.array_equal(found.t, true.t)
        assert np.abs(found.y - true.y).max() <= most


def test_implicit_steps_agree_to_rounding_and_further_ways_are_found_where_trajectories_leave(device):
    problem = pendulums()
    given = (problem, "RKMK_GAUSS2", (0.0, 1.0), 0.05)
    true = integrate(*given, progress=False)
    for samples in (None, [[0.0, 0.0]]):  # at rest no iteration is needed
        found = on_gpu(*given, samples=samples, device=device)
        assert found.message == true.message
        assert np.allclose(found.y, true.y, rtol=0.0, atol=1e-13)


def test_what_leaves_every_way_is_integrated_here(device, monkeypatch):
    monkeypatch.setattr(of_devices, "WAYS", 1)
    given = (pendulums(), "RKMK_GAUSS2", (0.0, 1.0), 0.05)
    found, true = on_gpu(*given, samples=[[0.0, 0.0]], device=device), integrate(*given, progress=False)
    assert "3 of 3 trajectories were integrated on the host" in found.message
    assert np.array_equal(found.y, true.y)
    assert found.status == true.status


@pytest.mark.parametrize("stops", [False, True])
def test_limits_of_guards_are_looked_at(stops, device):
    """Explicit Euler gains energy; the state of rest does not."""
    guard = Guard("energy", "energy is made", "use a smaller step", change=0.1, stops=stops)
    problem = Problem(
        rn(2), [[1.0, 0.0], [0.0, 0.0], [2.0, 0.0]], lambda t, y: [y[1], -y[0]], guards=[guard],
        invariants={"energy": lambda t, y: 0.5 * (y[0] * y[0] + y[1] * y[1])},
    )  # fmt: skip
    given = (problem, "LIE_EULER", (0.0, 5.0), 0.05)
    found = on_gpu(*given, save_every=1, device=device)
    true = integrate(*given, save_every=1, progress=False)
    seen = [[d for d in s.doubts if d.name == "energy"] for s in (found, true)]
    assert [d.trajectory for d in seen[0]] == [0, 2]
    assert seen[0] == seen[1]
    assert "energy is made" in found.message
    assert found.status == true.status
    assert np.array_equal(found.y, true.y, equal_nan=True)


def test_steps_that_do_not_resolve_the_motion_are_doubted_as_by_integrate(device, monkeypatch):
    monkeypatch.setattr(of_devices, "ASKED", 2)  # the first and the last
    stiff = Problem(rn(2), [[0.3, 0.0], [0.2, 0.1], [0.1, 0.0]], lambda t, y: [y[1], -400.0 * y[0]])
    given = (stiff, "RKMK4", (0.0, 2.0), 0.2)  # unstable beyond 0.14
    found, true = on_gpu(*given, device=device), integrate(*given, progress=False)
    assert {d.name for d in true.doubts} <= {"accuracy", "resolution"}
    assert found.doubts == tuple(d for d in true.doubts if d.trajectory != 1)
    assert len(found.doubts) == 2
    assert f"{found.doubts[0].name} " in found.message


def test_a_trajectory_that_explodes_ends_alone(device):
    problem = Problem(rn(1), [[1.0], [-1.0]], lambda t, y: y * y)
    found = on_gpu(problem, "RKMK4", (0.0, 2.0), 0.01, device=device)
    true = integrate(problem, "RKMK4", (0.0, 2.0), 0.01, progress=False)
    assert found.status == true.status == (Status.NON_FINITE, Status.OK)
    assert np.array_equal(found.y, true.y, equal_nan=True)


def test_what_is_doubted_of_others_is_said_beside_what_was_integrated_here(device):
    """Trajectory 0 gains energy, 1 is at rest, and 2 is nowhere within a second."""
    guard = Guard("energy", "energy is made", "use a smaller step", change=0.1)
    problem = Problem(
        rn(3), [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]], lambda t, y: [y[1], -y[0], y[2] * y[2]],
        guards=[guard], invariants={"energy": lambda t, y: 0.5 * (y[0] * y[0] + y[1] * y[1])},
    )  # fmt: skip
    found = on_gpu(problem, "LIE_EULER", (0.0, 5.0), 0.05, save_every=1, device=device)
    assert found.status == (Status.OK, Status.OK, Status.NON_FINITE)
    assert "1 of 3 trajectories were integrated on the host" in found.message
    assert "trajectory 2: " in found.message
    assert "energy is made" in found.message


def test_nvrtc_takes_the_kernels_of_a_run():
    folders = find_spec("nvidia").submodule_search_locations if find_spec("nvidia") is not None else ()
    libraries = [x for folder in folders for x in Path(folder).glob("*/lib/libnvrtc.so.*")]  # cuda_nvrtc, cu13, …
    if not libraries:
        pytest.skip("the compiler of CUDA, nvidia-cuda-nvrtc, is not installed")
    nvrtc = ctypes.CDLL(str(libraries[0]))
    program, options = ctypes.c_void_p(), (b"--gpu-architecture=compute_80", b"--fmad=false")
    text = str(kernels_of(tree_problem(), "RKMK4", 0.01)).encode()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"a.cu", 0, None, None) == 0
    assert nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)) == 0
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    assert b".entry many_steps_each" in ptx.value
    assert b".entry invariants_each" in ptx.value


def test_what_a_device_cannot_do_is_said_by_name(monkeypatch):
    """Of a CuPy that has no memory, and whose device fails."""
    full, broken, other = (type(name, (Exception,), {}) for name in ("Full", "Broken", "Other"))
    answers = iter([full("8 bytes wanted"), broken("it fell off the bus")])

    def asarray(values):
        raise next(answers)

    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=other),
        driver=SimpleNamespace(CUDADriverError=broken), memory=SimpleNamespace(OutOfMemoryError=full),
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda, asarray=asarray))
    device = of_devices.Cuda()
    with pytest.raises(
        MemoryError, match=r"do not fit into the memory of the device \(8 bytes wanted\); hand .* parts"
    ):
        device.array(np.zeros(1))
    with pytest.raises(RuntimeError, match=r"the device fails \(it fell off the bus\)"):
        device.array(np.zeros(1))


def test_too_little_memory_of_a_device_loses_nothing():
    cupy = pytest.importorskip("cupy")
    try:
        of_devices.Cuda()
    except RuntimeError as reason:
        pytest.skip(str(reason))
    problem, pool = pendulums(), cupy.get_default_memory_pool()
    many = problem.with_start(np.tile(problem.y0, (10_000, 1)))
    pool.free_all_blocks()
    pool.set_limit(size=100_000)
    try:
        with pytest.raises(MemoryError, match="do not fit into the memory of the device"):
            on_gpu(many, "RKMK4", (0.0, 1.0), 0.1)
    finally:
        pool.set_limit(size=0)
    found, few = (on_gpu(x, "RKMK4", (0.0, 1.0), 0.1) for x in (many, problem))
    assert np.array_equal(found.y, np.tile(few.y, (10_000, 1, 1)))


def test_without_cupy_a_device_or_an_ensemble_it_says_so():
    if find_spec("cupy") is None:
        with pytest.raises(RuntimeError, match="on_gpu: needs CuPy, which is not installed"):
            on_gpu(tree_problem(), "RKMK4", (0.0, 1.0), 0.01)
    with pytest.raises(ValueError, match=r"y0: shape \(2,\), expected initial states"):
        on_gpu(Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]]), "RKMK4", (0.0, 1.0), 0.01)
    with pytest.raises(ValueError, match=r"ALPHA, expected a one-step method .* remember nothing of those before"):
        on_gpu(turning(), "ALPHA", (0.0, 1.0), 0.01, device=Host(None))
    with pytest.raises(TypeError, match=r"a method of integrators\.METHODS"):
        on_gpu(tree_problem(), "SCIPY_DOP853", (0.0, 1.0), 0.01)
