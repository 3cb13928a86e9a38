"""Kernels that are compiled when a run needs them, or when they are first called."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from liegroup.compile import (
    LateBindingError,
    bind_needed,
    entry,
    integers,
    kernel,
    lane_array,
    ld,
    never,
    nothing,
    rare,
    renew,
    st,
    vector,
)
from liegroup.compile import lane_vector as lanes
from liegroup.compile.rare import _bindings
from liegroup.compile.stages import KernelCompiler


@rare(lambda structure, tau: False, lambda a, x, pair: (x, pair))
def weighed(a, x, pair):
    """(a₀ x, (pair, x))."""
    return ld(a, 0) * x, (pair[0] * x, pair[1] + x)


@rare(never)
def noted(a, k, out):
    """out₀ <- a_k."""
    st(out, 0, ld(a, k))


@entry(nothing(vector, integers, vector), nothing(lanes, integers, lanes))
def choose(a, structure, out):
    """Calls one kernel, the other, or none."""
    if structure[0] == 1:
        noted(a, structure[1], out)
    elif structure[0] == 2:
        x, (y, z) = weighed(a, ld(a, 1), (ld(a, 2), ld(a, 0)))
        st(out, 0, x + y * z)


@kernel
def doubled(a, out):
    """out₀ <- 2 a₀."""
    st(out, 0, ld(a, 0) + ld(a, 0))


@rare(never)
def doubled_twice(a, out):
    """out₀ <- 4 a₀."""
    doubled(a, out)
    doubled(out, out)


@entry(nothing(vector, vector))
def double(a, out):
    """Calls a kernel, and another one that calls it, too."""
    doubled(a, out)
    if out[0] > 10.0:
        doubled_twice(a, out)


def bound(name):
    return {key for key in _bindings if key[:2] == (__name__, name)}


@pytest.mark.parametrize("in_lanes", [False, True])
def test_a_rare_kernel_is_compiled_when_it_is_first_called(in_lanes):
    a, out = (lane_array(3), lane_array(1)) if in_lanes else (np.zeros(3), np.zeros(1))
    a[...] = np.arange(1.0, 1.0 + a.size).reshape(a.shape)
    before = len(bound("noted"))
    choose(a, np.array([0, 2]), out)
    assert len(bound("noted")) == before
    assert not out.any()
    choose(a, np.array([1, 2]), out)
    np.testing.assert_array_equal(out[0], a[2])
    assert len(bound("noted")) == before + 1
    choose(a, np.array([2, 0]), out)
    np.testing.assert_array_equal(out[0], a[0] * a[1] + (a[2] * a[1]) * (a[0] + a[1]))


@rare(lambda structure, tau: structure[0] == tau)
def wanted_by_structure(a, out):
    """out₀ <- a₁."""
    st(out, 0, ld(a, 1))


@entry(nothing(vector, vector))
def call_wanted(a, out):
    """Calls it."""
    wanted_by_structure(a, out)


def test_it_is_bound_before_runs_whose_structure_needs_it_and_again_where_it_was_renewed():
    functions = [call_wanted.compiled]
    for _ in range(2):
        bind_needed(functions, np.array([2]), 1)
        assert not bound("wanted_by_structure")
    bind_needed(functions, np.array([1]), 1)
    assert bound("wanted_by_structure")
    renew(wanted_by_structure)
    assert not bound("wanted_by_structure")
    bind_needed(functions, np.array([1]), 1)
    assert bound("wanted_by_structure")


def test_it_stays_a_plain_function_for_other_scalars():
    assert weighed((2,), 3j, (5, 7)) == (6j, (15j, 7 + 3j))


@rare(never)
def impossible(a, out):
    """What the compiler refuses."""
    st(out, 0, ld(a, "first"))


@entry(nothing(vector, vector))
def call_impossible(a, out):
    """Calls it."""
    impossible(a, out)


def test_what_cannot_be_compiled_is_an_error_when_it_is_called():
    with pytest.raises(LateBindingError, match=r"impossible"):
        call_impossible(np.ones(1), np.zeros(1))


def test_functions_of_users_call_it_as_any_kernel():
    numba = pytest.importorskip("numba")

    @numba.njit
    def users(a, out):
        noted(a, 1, out)
        return out[0]

    assert users(np.array([1.0, 5.0]), np.zeros(1)) == 5.0


def test_a_kernel_that_a_rare_one_calls_is_the_one_that_others_call(tmp_path, monkeypatch):
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))
    compiled, original = [], KernelCompiler._compile_bytecode

    def noting(self):
        compiled.append(self.state.func_id.func_qualname)
        return original(self)

    monkeypatch.setattr(KernelCompiler, "_compile_bytecode", noting)
    a, out = np.array([6.0]), np.zeros(1)
    double(a, out)
    assert out[0] == 24.0
    assert compiled.count("doubled_twice") == 1
    assert compiled.count("doubled") == 1


ROBOT = """
import numpy as np
from liegroup.compile import bind_needed, stages
from liegroup.compile.rare import _bindings
from liegroup.compile.stages import KernelCompiler
from liegroup.table import EXP
from mechanics import Body, Inertia, Tree, hamiltonian_problem
from mechanics.joints import Revolute, Spherical

compiled, original = [], stages.KernelCompiler._compile_bytecode

def noting(self):
    compiled.append(self.state.func_id.func_qualname)
    return original(self)

stages.KernelCompiler._compile_bytecode = noting
tree = Tree([Body("body", JOINT(), inertia=Inertia.about_com(1.0, (0.1, 0.2, 0.3), np.eye(3)))])
problem = hamiltonian_problem(tree, tree.neutral(), np.ones(tree.nv))
bind_needed([problem.field.compiled], problem.structure, EXP)  # as before every run
names, before = {key[1] for key in _bindings}, len(compiled)
rates = problem.velocity(0.0, problem.y0)
assert len(compiled) == before
print(before, "era" in compiled, *sorted(names), rates.tobytes().hex())
"""


def of_a_process(joint, cache):
    """Functions compiled, whether the field is one of them, kernels bound late, the rates at the start."""
    done = subprocess.run(
        [sys.executable, "-c", ROBOT.replace("JOINT", joint)],
        capture_output=True, text=True, check=True, env=os.environ | {"LIEMECH_CACHE": str(cache)},
    )  # fmt: skip
    count, field, *names, rates = done.stdout.split()
    return int(count), field == "True", names, rates


@pytest.mark.slow
def test_a_robot_compiles_the_kinds_of_joints_it_has_and_finds_them_in_the_cache(tmp_path):
    cache = tmp_path / "kernels"
    count, field, names, _ = of_a_process("Revolute", cache)
    assert count
    assert field
    assert not {"up_with_balls", "down_with_balls", "up_without_balls"} & {*names}
    count, field, names, of_ball = of_a_process("Spherical", cache)
    assert count
    assert not field
    assert {"up_with_balls", "down_with_balls"} <= {*names}
    assert "up_without_balls" not in names
    assert of_a_process("Spherical", cache) == (0, False, names, of_ball)
