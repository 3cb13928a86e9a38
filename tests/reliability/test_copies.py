"""Problems, methods, trees and mechanisms are copied, and sent to other processes, as what they are."""

from __future__ import annotations

import copy
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numba
import numpy as np
import pytest

from integrators import Problem, Sampled, integrate, traced
from integrators.engine.checkpoint import method_fingerprint, problem_fingerprint
from integrators.method import Method
from integrators.methods import METHODS, find
from integrators.problem import Inputs, holonomic_problem, in_velocities, lagrangian_problem
from liegroup import product, rn, se3, so3
from liegroup.table import RN, table_of
from mechanics import Body, Inertia, Mechanism, Tree, joints
from mechanics.elastic import Network, Springs
from mechanics.forces import motor
from mechanics.formulations import constrained_problem, multiplier_problem
from mechanics.models import load_model
from mechanics.nonholonomic import nonholonomic_system
from mechanics.problems.compiled import compile_model
from mechanics.systems import SYSTEMS

WAYS = {"pickle": lambda x: pickle.loads(pickle.dumps(x)), "deepcopy": copy.deepcopy}


def decay(t, y):
    return -y


def square(t, y):
    return y[0] ** 2


def swinging(t, q, v, p):
    return 0.5 * v[0] ** 2 + np.cos(q[0])


def in_the_plane(t, q, v, p):
    return 0.5 * (v[0] ** 2 + v[1] ** 2) - q[1]


def on_a_circle(t, q, p):
    return [q[0] ** 2 + q[1] ** 2 - 1]


def values(problem):
    """Of the field and the invariants at the start, interpreted."""
    found, y = [], np.atleast_2d(problem.y0)[0]
    for function, size in ((problem.field, problem.dimension), (problem.invariants, problem.invariant_count)):
        if function is not None:
            out = np.zeros(size)
            function.python(0.0, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
            found.append(out)
    return np.concatenate(found)


OWN = {
    "plain": lambda: Problem(table_of([(RN, 1)]), [1.0], decay, invariants={"square": square}),
    "ensemble": lambda: Problem(product(so3, rn(3)), np.tile([1.0, 0, 0, 0, 1, 2, 3], (3, 1)), lambda_free),
    "lagrangian": lambda: lagrangian_problem(swinging, q=[2.0]),
    "holonomic": lambda: holonomic_problem(in_the_plane, on_a_circle, q=[1.0, 0.0]),
    "in velocities": lambda: in_velocities(holonomic_problem(in_the_plane, on_a_circle, q=[1.0, 0.0])),
    "network": lambda: Network([[0, 0, 0], [1, 0, 0], [2, 0, 0]], 1.0, [Springs([[0, 1], [1, 2]], 10.0)]).problem(),
    "compiled": lambda: compile_model(SYSTEMS["four-bar"].mechanism()).problem(),
}


def lambda_free(t, y):
    return np.arange(6.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [*OWN, *SYSTEMS])
def test_a_copied_problem_has_the_same_field(name, way):
    problem = OWN[name]() if name in OWN else SYSTEMS[name].problem()
    copied = WAYS[way](problem)
    assert np.array_equal(values(copied), values(problem), equal_nan=True)
    assert np.array_equal(copied.y0, problem.y0)
    assert np.array_equal(copied.parameters, problem.parameters)
    assert copied.model == problem.model


@pytest.mark.parametrize("way", WAYS)
def test_copied_methods_take_the_same_steps(way):
    for name in METHODS:
        method = find(name)
        copied = WAYS[way](method)
        assert copied.name == method.name
        if isinstance(method, Method):  # the digest of everything that decides what a method computes
            assert method_fingerprint(copied) == method_fingerprint(method)


@pytest.mark.parametrize("way", WAYS)
def test_copied_solutions_are_the_same(way):
    top = SYSTEMS["heavy-top"].problem()
    for start in (top.y0, np.tile(top.y0, (2, 1))):
        solution = integrate(top.with_start(start), "RKMK4", (0.0, 0.1), 0.01, progress=False)
        copied = WAYS[way](solution)
        for name in ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch"):
            assert np.array_equal(getattr(copied, name), getattr(solution, name))
        assert repr(copied) == repr(solution)
        assert (copied.status, copied.attributes, copied.doubts) == (
            solution.status,
            solution.attributes,
            solution.doubts,
        )
    arm = load_model("double_pendulum").problem([0.5, 0.2])
    arm = integrate(arm, "TREE_VARIATIONAL", (0.0, 0.1), 0.01, progress=False)
    assert np.array_equal(WAYS[way](arm).joint_states(), arm.joint_states())


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_that_was_sent_moves_alike(name):
    problem = SYSTEMS[name].problem()
    sent = pickle.loads(pickle.dumps(problem))
    assert problem_fingerprint(sent).places == problem_fingerprint(problem).places
    given = ("RKMK4", (0.0, 0.003), 0.001)
    assert np.array_equal(integrate(sent, *given).y, integrate(problem, *given).y, equal_nan=True)


@pytest.mark.parametrize("way", WAYS)
def test_copied_trees_mechanisms_and_groups(way):
    mechanism = SYSTEMS["four-bar"].mechanism()
    copied = WAYS[way](mechanism)
    assert np.array_equal(copied.tree.structure, mechanism.tree.structure)
    assert np.array_equal(copied.tree.parameters, mechanism.tree.parameters)
    assert copied.tree.frames == mechanism.tree.frames
    with pytest.raises(TypeError):
        copied.tree.frames["a"] = None
    assert WAYS[way](se3**2) == se3**2


@pytest.mark.parametrize("way", WAYS)
def test_copied_networks_pose_the_same_problem(way):
    network = Network([[0, 0, 0], [1, 0, 0], [2, 0, 0]], 1.0, [Springs([[0, 1], [1, 2]], 10.0)], fixed=[0])
    assert np.array_equal(values(WAYS[way](network).problem()), values(network.problem()))


# --- inputs as functions, and their work ------------------------------------------------------------------------------


def of_time(t):
    return np.sin(3.0 * t)


def of_state(t, y):
    return np.cos(t) - 2.0 * y[1]


def of_motion(t, q, v):
    return np.sin(t) - q[0] - 0.5 * v[0]


def cart(t, y, p):
    return [y[1], p[0] - y[0]]


@numba.njit
def fast_cart(t, y, p):
    return np.array([y[1], p[0] - y[0]])


def push(t, y, p):
    return [p[0] * y[1]]


@numba.njit
def fast_push(t, y, p):
    return np.array([p[0] * y[1]])


def carts(field, power):
    return Problem(rn(2), [0.3, 0.1], field, parameters=[0.0], inputs=Inputs(("u",), (0,), power=power))


def arm():
    bar = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    upper = Body("up", joints.Revolute((0, 1, 0)), inertia=bar)
    return Tree([upper, Body("low", joints.Revolute((0, 1, 0)), "up", (0.0, 0.0, -1.0), inertia=bar)])


def driven_arm():
    return Mechanism(arm(), elements=[motor("up_joint")])


def skate(interpreted=False, rows=None):
    return nonholonomic_system(
        rn(3), skate_energy, rows or skate_rows, q0=[0.0, 0.0, 0.0], v0=[0.3, 0.0, 1.0], force=skate_force,
        parameters=[0.0], inputs={"turn": 0}, interpreted=interpreted,
    )  # fmt: skip


def skate_energy(q, v, p):
    return 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2)


def skate_rows(q, p):
    return [[np.sin(q[2]), -np.cos(q[2]), 0.0]]


def skate_force(t, q, v, p):
    return [0.0, 0.0, p[0]]


FUNCTIONS = {
    "number": 0.7,
    "plain (t)": of_time,
    "plain (t, y)": of_state,
    "plain (t, q, v)": of_motion,
    "jitted (t)": numba.njit(of_time),
    "jitted (t, q, v)": numba.njit(of_motion),
    "traced (t)": traced(of_time),
    "traced (t, q, v)": traced(lambda t, q, v: np.sin(t) - q[0] - 0.5 * v[0]),
    "zero order": Sampled([0.0, 0.02], [0.3, 0.7]),
    "first order": Sampled([0.0, 0.05], [0.3, 0.7], hold="linear"),
}
INPUTS = {
    "plain cart": (lambda: carts(cart, push), "RKMK4", False),
    "jitted cart": (lambda: carts(fast_cart, fast_push), "GAUSS8", False),
    "momenta": (lambda: driven_arm().problem([0.3, 0.2], [0.1, 0.0]), "RKMK4", True),
    "variational": (lambda: driven_arm().problem([0.3, 0.2], [0.1, 0.0]), "TREE_VARIATIONAL", True),
    "multipliers": (lambda: multiplier_problem(driven_arm(), [0.3, 0.2], [0.1, 0.0]), "RKMK4", True),
    "parts": (lambda: constrained_problem(driven_arm(), [0.3, 0.2], [0.1, 0.0]), "GAUSS8", True),
    "compiled": (lambda: compile_model(driven_arm()).problem([0.3, 0.2], [0.1, 0.0]), "RKMK4", True),
    "nonholonomic": (lambda: skate().problem(), "RKMK4", False),
    "interpreted": (lambda: skate(interpreted=True).problem(), "RKMK4", False),
}


def driven(base, given, with_work=False):
    make, method, moves = INPUTS[base]
    problem = make()
    function = FUNCTIONS[given]
    if "(t, q, v)" in given and not moves:
        pytest.skip("no velocities")
    problem = problem.with_inputs({problem.inputs.names[0]: function})
    return (problem.with_work() if with_work else problem), method


def run(problem, method):
    return integrate(problem, method, (0.0, 0.05), 0.01, progress=False)


def runs_on_alike(problem, method):
    """Problem and solution come back, and run on to the same bits."""
    sent, whole = pickle.loads(pickle.dumps(problem)), run(problem, method)
    assert repr(sent.inputs) == repr(problem.inputs)
    assert sent.is_compiled == problem.is_compiled
    assert problem_fingerprint(sent).places == problem_fingerprint(problem).places
    again, brought = run(sent, method), pickle.loads(pickle.dumps(whole))
    for other in (again, brought):
        assert np.array_equal(other.y, whole.y)
        assert np.array_equal(other.invariants, whole.invariants)
        assert (other.message, other.doubts) == (whole.message, whole.doubts)


@pytest.mark.parametrize(
    ("base", "given"),
    [("plain cart", "plain (t)"), ("variational", "plain (t, q, v)"), ("interpreted", "number")],
)
def test_problems_whose_inputs_are_functions_are_sent(base, given):
    runs_on_alike(*driven(base, given))


@pytest.mark.slow
@pytest.mark.parametrize("given", FUNCTIONS)
@pytest.mark.parametrize("base", INPUTS)
def test_problems_with_every_kind_of_input_are_sent(base, given):
    runs_on_alike(*driven(base, given))


@pytest.mark.parametrize("given", ["number", "zero order"])
@pytest.mark.parametrize("base", [base for base in INPUTS if base not in ("nonholonomic", "interpreted")])
def test_problems_with_the_work_of_their_inputs_are_sent(base, given):
    runs_on_alike(*driven(base, given, with_work=True))


@pytest.mark.parametrize("base", ["plain cart", "variational"])
def test_the_name_of_an_input_whose_function_cannot_be_sent(base, monkeypatch):
    for name in [name for name in sys.modules if name.endswith(("cloudpickle", "dill"))]:
        monkeypatch.delitem(sys.modules, name)
    problem = INPUTS[base][0]()
    (name,) = problem.inputs.names
    pushed = problem.with_inputs({name: lambda t: 0.0})
    with pytest.raises(TypeError, match=rf"input '{name}': function .*lambda.*at the top of a module, or give traced"):
        pickle.dumps(pushed)


def test_the_name_of_an_interpreted_function_that_cannot_be_sent(monkeypatch):
    for name in [name for name in sys.modules if name.endswith(("cloudpickle", "dill"))]:
        monkeypatch.delitem(sys.modules, name)
    system = skate(True, rows=lambda q, p: skate_rows(q, p))
    with pytest.raises(TypeError, match=r"rows: function .*lambda.*at the top of a module"):
        pickle.dumps(system)
    assert np.array_equal(run(copy.deepcopy(system).problem(), "RKMK4").y, run(system.problem(), "RKMK4").y)


def test_processes_take_inputs_that_are_functions():
    starts = [[0.3, 0.1], [0.2, 0.0], [0.0, 0.5]]
    for given in ("plain (t)", "zero order"):
        problem = driven("plain cart", given)[0].with_start(starts)
        one, two = (integrate(problem, "RKMK4", (0.0, 0.5), 0.01, workers=n, progress=False) for n in (1, 2))
        assert np.array_equal(two.y, one.y)
        assert two.message == one.message


def solved(problem):
    return integrate(problem, "RKMK4", (0, 1), 0.1).y


def test_a_problem_is_solved_alike_in_another_process():
    problems = [OWN["plain"](), SYSTEMS["heavy-top"].problem()]
    problems += [driven("plain cart", "plain (t)")[0], driven("momenta", "jitted (t, q, v)")[0]]
    problems += [driven("momenta", "traced (t, q, v)")[0]]
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        for problem, y in zip(problems, pool.map(solved, problems), strict=True):
            assert np.array_equal(y, solved(problem))


@pytest.mark.slow
def test_joblib_sends_problems_and_functions_without_a_name():
    joblib = pytest.importorskip("joblib")
    top = SYSTEMS["heavy-top"].problem()
    plain = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y)
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(solved)(problem) for problem in (top, plain))
    assert all(np.array_equal(y, solved(problem)) for y, problem in zip(found, (top, plain), strict=True))


MPI = """
import numpy as np
from mpi4py.futures import MPIPoolExecutor
from integrators import integrate
from integrators.ensemble import submit
from mechanics.systems import SYSTEMS

if __name__ == "__main__":
    top = SYSTEMS["heavy-top"].problem()
    starts = np.tile(top.y0, (12, 1))
    starts[:, -1] *= 1.0 + 0.01 * np.arange(12)
    given = ("RKMK4", (0.0, 0.1), 0.01)
    with MPIPoolExecutor() as pool:
        found = submit(top, starts, *given, client=pool, per_chunk=5).result()
    print("same" if (found.y == integrate(top.with_start(starts), *given).y).all() else "other")
"""


@pytest.mark.slow
def test_a_campaign_under_mpi_gives_the_bits_of_one_machine(tmp_path):
    pytest.importorskip("mpi4py")
    if shutil.which("mpiexec") is None:
        pytest.skip("no mpiexec")
    (tmp_path / "program.py").write_text(MPI, encoding="utf-8")
    as_root = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    call = ["mpiexec", "-n", "3", sys.executable, "-m", "mpi4py.futures", str(tmp_path / "program.py")]
    done = subprocess.run(call, capture_output=True, text=True, env=os.environ | as_root, timeout=300)
    assert done.stdout.split() == ["same"], done.stderr


def test_an_entry_without_a_name_says_so():
    from liegroup.compile import entry, nothing, vector

    @entry(nothing(vector))
    def unknown(x):
        pass

    with pytest.raises(TypeError, match="no name of its module"):
        pickle.dumps(unknown)
    assert copy.deepcopy(unknown) is unknown
