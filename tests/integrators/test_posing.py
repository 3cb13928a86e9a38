"""`integrate` takes whatever poses a problem, and says of everything else what it is and what to do."""

import cProfile

import numpy as np
import pytest
import scipy.sparse

import mechanics
from integrators import Problem, integrate, resume
from integrators.arithmetic import elimination
from integrators.methods import find
from integrators.problem import fields, lagrangian_problem, pose
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, ld, st
from liegroup.table import RN, table_of
from mechanics import systems
from mechanics.systems import SYSTEMS, four_bar, heavy_top
from mechanics.systems.rolling.rolling_disk import rolling_disk

LINE = table_of([(RN, 1)])


def line():
    return Problem(LINE, [1.0], lambda t, y: [-y[0]])


class Decay:
    """Anything with a method `problem`."""

    def __init__(self, posed):
        self.posed = posed

    def problem(self):
        return self.posed


def run(thing):
    return integrate(thing, "RKMK4", (0.0, 0.2), step=0.1)


def test_what_poses_a_problem_moves_as_the_problem_does(tmp_path):
    assert np.array_equal(run(Decay(line())).y, run(line()).y)
    kept = tmp_path / "run.h5"
    ended = integrate(Decay(line()), "RKMK4", (0.0, 0.2), step=0.1, checkpoint=kept, every=0.0)
    assert np.array_equal(resume(kept, Decay(line())).y, ended.y)


@pytest.mark.parametrize(
    ("thing", "problem"),
    [
        (SYSTEMS["heavy-top"], heavy_top),
        (SYSTEMS["four-bar"], four_bar.problem),
        (SYSTEMS["four-bar"].mechanism(), four_bar.problem),
        (rolling_disk(), lambda: rolling_disk().problem()),
    ],
)
def test_systems_and_mechanisms_pose_their_motion(thing, problem):
    posed, expected = pose(thing), problem()
    assert np.array_equal(posed.y0, expected.y0)
    assert np.array_equal(posed.parameters, expected.parameters)
    assert posed.field.source is expected.field.source


def test_a_tree_poses_its_motion_once_it_has_a_start():
    tree = mechanics.load_model("double_pendulum")
    q, v = tree.neutral() + 0.1, np.ones(tree.nv)
    expected = mechanics.hamiltonian_problem(tree, q, v)
    for posed in (tree.problem(q, v), tree.problem(q, p=expected.y0[tree.nq :]), pose(tree, q, v)):
        assert np.array_equal(posed.y0, expected.y0)
    with pytest.raises(TypeError, match=r"problem: the tree .* has no start; give it one, tree.problem\(q, v\)"):
        run(tree)


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (None, ["problem: None", "expected a Problem", "without return"]),
        (four_bar, ["the module mechanics.systems.loops.four_bar", r"call its function: four_bar.problem\(\)"]),
        (systems, ["the module mechanics.systems,"]),
        (heavy_top, ["the function heavy_top", r"call it, heavy_top\(…\)", r"Problem\(group, y0, heavy_top\)"]),
        (mechanics.Mechanism, ["the class Mechanism", r"make one: Mechanism\(…\)"]),
        ("four_bar", ["'four_bar' is a string", r"mechanics.systems.SYSTEMS\['four-bar'\]"]),
        ("fourbar", ["'fourbar' is a string", "no system: did you mean 'four-bar'"]),
        (3.0, ["problem: 3.0, expected a Problem"]),
        (SYSTEMS, ["a Registry, expected a Problem"]),
        (Decay(7), [r"Decay object at .*problem\(\) returned 7, expected a Problem"]),
    ],
    ids=["None", "module", "package", "function", "class", "name", "misspelt name", "number", "registry", "no problem"],
)
def test_what_poses_none_is_named_with_what_to_do(thing, words):
    for word in words:
        with pytest.raises(TypeError, match=word):
            run(thing)


def test_a_name_is_sent_to_the_registry_where_none_is_loaded():
    with pytest.raises(TypeError, match=r"'four-bar', expected a Problem.*give SYSTEMS\[name\]"):
        pose.dispatch(object)("four-bar")


def test_a_class_of_ones_own_can_be_registered():
    class Curve:
        rate = -1.0

    pose.register(Curve, lambda curve: Problem(LINE, [1.0], lambda t, y: [curve.rate * y[0]]))
    assert np.array_equal(run(Curve()).y, run(line()).y)


@pytest.mark.parametrize("patience", [10.0, 0.0])
def test_a_few_states_are_interpreted_rather_than_compiled(monkeypatch, tmp_path, patience):
    monkeypatch.setenv("LIEMECH_CACHE", str(tmp_path))  # where nobody has compiled it

    @entry(*FIELD_SIGNATURES)
    def field(t, y, parameters, structure, work, out):
        st(out, 0, ld(y, 0) / parameters[0])

    monkeypatch.setattr(fields, "PATIENCE", patience)
    problem = Problem(table_of([(RN, 1)]), [1.0], field, parameters=[3.0])
    assert problem.velocity(0.0, [1.0]).tolist() == [1.0 / 3.0]
    assert field.is_at_hand == (patience == 0.0)
    assert np.isinf(Problem(table_of([(RN, 1)]), [1.0], field, parameters=[0.0]).velocity(0.0, [1.0])).all()


def test_a_problem_is_posed_without_compiling_and_with_the_bits_of_compiled_functions(monkeypatch):
    tree = four_bar.mechanism().tree
    q, v = tree.neutral() + 0.3, np.linspace(-0.7, 1.1, tree.nv)
    compiled = mechanics.momentum(tree, q, v)
    monkeypatch.setattr("mechanics.evaluation.is_for_once", lambda *_: True)
    monkeypatch.setattr("mechanics.algorithms.batch.is_for_once", lambda *_: True)
    monkeypatch.setattr("liegroup.compile.decorators.Entry._compiled_for", lambda *_: pytest.fail("compiled"))
    assert mechanics.hamiltonian_problem(type(tree)(tree.bodies), q, v).y0[tree.nq :].tolist() == compiled.tolist()


def test_steps_of_a_tree_of_its_own_need_no_field():
    assert find("TREE_VARIATIONAL_SUZUKI4").function(four_bar.problem()) is fields.NOTHING


def chain(n):
    def lagrangian(t, q, v, p):
        total = 0.0
        for k in range(n):
            total = total + 0.5 * v[k] ** 2 + np.cos(q[k])
        for k in range(n - 1):
            total = total - 0.5 * (q[k + 1] - q[k]) ** 2
        return total

    return lagrangian


def test_a_long_chain_is_posed_soon():
    """Interpreted eliminations take n³ calls, derivatives by what a part does not read n³ visits: 1e7 calls, minutes of
    200 coordinates; counted, as times depend on the machine.
    """
    watch = cProfile.Profile()
    watch.enable()
    lagrangian_problem(chain(40), q=np.linspace(0.0, 6.0, 40))
    watch.disable()
    assert sum(entry.callcount for entry in watch.getstats()) < 3e6


@pytest.mark.parametrize("kind", ["full", "sparse", "singular"])
def test_eliminations_by_rows_have_the_bits_of_those_by_scalars(kind):
    n, m, rng = 12, 2, np.random.default_rng(7)
    a = rng.normal(size=(n + 3, n + m + 1))
    if kind == "sparse":
        a[2 : 2 + n, :n] *= rng.random((n, n)) < 0.2
        a[2 : 2 + n, :n] += np.diag(rng.normal(size=n))
    if kind == "singular":
        a[5] = 0.0
    rows, scalars = a.copy(), a.copy()
    with np.errstate(all="ignore"):
        elimination.solve_rows(rows, 2, n, m)
        elimination._solve_by_scalars(scalars, 2, n, m)
    assert np.array_equal(rows[2 : 2 + n, n : n + m], scalars[2 : 2 + n, n : n + m], equal_nan=True)
    assert np.array_equal(rows[:2], a[:2])
    assert np.array_equal(rows[:, n + m :], a[:, n + m :])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"strikes": "no"}, "strikes: 'no', expected True or False"),
        ({"autonomous": 1.0}, "autonomous: 1.0, expected True, False or None"),
        ({"model": None}, "model: None, expected a text"),
        ({"exact": [1.0]}, r"exact: \[1.0\], expected a function"),
        ({"guards": 3}, "guards: 3, expected a sequence of integrators.Guard objects"),
        ({"invariant_names": "ab"}, "invariant_names: 'ab', expected a sequence of names"),
        ({"invariant_units": 1}, "invariant_units: 1, expected a sequence of texts"),
        ({"invariants": {"a": lambda t, y: y[0]}, "invariant_names": ["b"]}, r"\('b',\), but invariants names 'a'"),
        ({"jacobian_sparsity": 1.0}, r"jacobian_sparsity: shape \(\), expected \(2, 2\)"),
        ({"jacobian_sparsity": "full"}, "jacobian_sparsity: 'full', expected a matrix"),
        ({"own_steps": [1]}, r"own_steps: \[1\], expected a mapping"),
    ],
)
def test_what_is_said_of_a_problem_is_of_its_kind(given, words):
    """What is true whatever it is, or is passed over, would be believed in silence."""
    with pytest.raises((TypeError, ValueError), match=words):
        Problem(table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: [y[1], -y[0]], **given)


def test_a_pattern_of_small_integers_gets_its_diagonal():
    problem = Problem(
        table_of([(RN, 2)]), [1.0, 0.0], lambda t, y: [y[1], -y[0]],
        jacobian_sparsity=scipy.sparse.csr_array(np.array([[0, 1], [1, 0]], dtype=np.int8)),
    )  # fmt: skip
    assert problem.jacobian_sparsity.toarray().tolist() == [[1, 1], [1, 1]]
