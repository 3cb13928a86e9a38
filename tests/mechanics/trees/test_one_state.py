"""One state at a time: the numbers of many states, the checks of many states, in memory that is given."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mechanics
from mechanics import Body, Inertia, Tree, joints
from mechanics.joints import JOINTS
from mechanics.systems import SYSTEMS
from mechanics.testing import random_tree

FUNCTIONS = {
    "bias": "qvw",
    "body_jacobians": "q",
    "body_poses": "q",
    "body_twists": "qv",
    "centre_of_mass": "q",
    "centre_of_mass_jacobian": "q",
    "centre_of_mass_jacobian_rate": "qv",
    "centroidal_momentum": "qv",
    "energy": "qv",
    "forward_dynamics": "qvvw",
    "forward_dynamics_derivatives": "qvvw",
    "hamiltonian_rhs": "qv",
    "hamiltonian_rhs_derivatives": "qv",
    "inverse_dynamics": "qvvw",
    "inverse_dynamics_derivatives": "qvvw",
    "kinetic_energy": "qv",
    "mass_matrix": "q",
    "momentum": "qv",
    "potential_energy": "q",
    "power": "qvvw",
}
TREE = random_tree("random", 9, np.random.default_rng(0), JOINTS, damping=0.1)


def state(tree, letters, seed=0):
    """A configuration, numbers per degree of freedom and wrenches, as the letters say."""
    generator = np.random.default_rng(seed)
    parts = {
        "q": lambda: tree.random_configuration(generator),
        "v": lambda: generator.normal(size=tree.nv),
        "w": lambda: generator.normal(size=(len(tree), 6)),
    }
    return [parts[letter]() for letter in letters]


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_state_gives_the_bits_of_many(name):
    """In arrays, as lists, in the workspace, in given memory, and as one of nine."""
    function, given = getattr(mechanics, name), state(TREE, FUNCTIONS[name])
    found = as_tuple(function(TREE, *given, t=0.3))
    many = as_tuple(function(TREE, *(np.stack([x] * 9) for x in given), t=0.3))
    out = tuple(np.full_like(x, np.nan) for x in found)
    into = function(TREE, *given, t=0.3, out=out if len(out) > 1 else out[0])
    work = TREE.workspace()
    function(work, *(x + 0.0 * x for x in given), t=0.1)
    ways = [
        as_tuple(function(TREE, *(x.tolist() for x in given), t=0.3)),
        as_tuple(function(work, *given, t=0.3)),
        tuple(x[8] for x in many),
        out,
    ]
    assert all(a is b for a, b in zip(as_tuple(into), out, strict=True))
    for way in ways:
        for one, other in zip(found, way, strict=True):
            assert np.array_equal(one, other)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_refuse_what_is_no_state_in_the_same_words(name):
    """Whether it comes as an array or as a list."""
    function, given = getattr(mechanics, name), state(TREE, FUNCTIONS[name])
    start = TREE.quaternions[0][1]
    for k, x in enumerate(given):
        bad = [np.append(x, 0.0), x.astype(complex), np.where(np.arange(x.size).reshape(x.shape) == 1, np.nan, x)]
        if k == 0:
            bad.append(np.where(np.arange(x.size) == start, x + 0.1, x))
        for wrong in bad:
            messages = []
            for form in (wrong, wrong.tolist()):
                with pytest.raises((ValueError, TypeError)) as error:
                    function(TREE, *given[:k], form, *given[k + 1 :])
                messages.append(str(error.value))
            assert messages[0] == messages[1]
    for time in (np.nan, "now"):
        with pytest.raises((ValueError, TypeError), match=r"^t: "):
            function(TREE, *given, t=time)
    if FUNCTIONS[name].startswith("qv"):
        with pytest.raises(TypeError, match=r"^[pv]: None"):
            function(TREE, given[0], None, *given[2:])


def test_arrays_of_every_kind_are_taken():
    """Other numbers, strides, arrays that may not be written."""
    q, v = state(TREE, "qv")
    v = np.round(v)
    expected = mechanics.momentum(TREE, q, v)
    held = q.copy()
    held.flags.writeable = False
    for way in (v.astype(np.float32), v.astype(int), np.repeat(v, 2)[::2]):
        assert np.array_equal(mechanics.momentum(TREE, held, way), expected)


def test_memory_that_is_given_fits_or_is_refused():
    q, v = state(TREE, "qv")
    for wrong in (np.empty(TREE.nv + 1), np.empty((1, TREE.nv)), np.empty(TREE.nv, np.float32), [0.0] * TREE.nv, 1.0):
        with pytest.raises((ValueError, TypeError), match=r"^out: "):
            mechanics.momentum(TREE, q, v, out=wrong)
    with pytest.raises(TypeError, match="tuple of 2 arrays"):
        mechanics.hamiltonian_rhs(TREE, q, v, out=np.empty(2 * TREE.nv))
    many, strided = np.empty((3, TREE.nv)), np.empty(2 * TREE.nv)[::2]
    assert mechanics.momentum(TREE, q, np.stack([v] * 3), out=many) is many
    assert mechanics.momentum(TREE, q, v, out=strided) is strided
    expected = mechanics.momentum(TREE, q, v)
    assert np.array_equal(many[2], expected)
    assert np.array_equal(strided, expected)
    assert np.array_equal(mechanics.momentum(TREE, q, v, out=v), expected)  # over its own argument


def test_what_is_wrong_leaves_the_memory_as_it_was():
    q, v = state(TREE, "qv")
    out = np.ones(TREE.nv)
    v[0] = np.inf
    with pytest.raises(ValueError, match=r"element \(0,\) is inf"):
        mechanics.momentum(TREE, q, v, out=out)
    assert (out == 1.0).all()


def test_a_joint_that_moves_nothing_is_named():
    """The elbow in its singular configuration, also by the way for one state."""
    bar = Inertia.point(1.0, (0.0, 0.0, -1.0))
    tree = Tree([Body("arm", joints.Universal((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)), inertia=bar)])
    q, v = np.array([0.0, np.pi / 2]), np.array([1.0, 0.0])
    for function in (mechanics.hamiltonian_rhs, mechanics.forward_dynamics):
        with pytest.raises(ValueError, match="singular: joint 'arm_joint'"):
            function(tree, q, v)
        assert np.isfinite(function(tree, np.array([0.0, 0.3]), v)).all()


def test_mechanisms_stand_for_their_trees_where_forces_do_not_matter():
    mechanism = SYSTEMS["four-bar"].mechanism()
    q, v = mechanism.tree.neutral(), np.ones(mechanism.tree.nv)
    assert np.array_equal(mechanics.momentum(mechanism, q, v), mechanics.momentum(mechanism.tree, q, v))
    for function in (mechanics.energy, mechanics.forward_dynamics, mechanics.hamiltonian_rhs, mechanics.power):
        with pytest.raises(TypeError, match=f"{function.__name__} knows neither closures nor force elements"):
            function(mechanism, q, v)


def test_trees_and_workspaces_travel_without_what_is_prepared():
    q, v = state(TREE, "qv")
    expected = mechanics.momentum(TREE, q, v)
    assert TREE.calls
    for sent in (pickle.loads(pickle.dumps(TREE)), copy.deepcopy(TREE), pickle.loads(pickle.dumps(TREE.workspace()))):
        assert not getattr(sent, "tree", sent).calls
        assert np.array_equal(mechanics.momentum(sent, q, v), expected)


def test_threads_share_a_tree():
    """Every thread with states of its own."""
    tree = random_tree("random", 9, np.random.default_rng(1))
    states = [state(tree, "qv", seed) for seed in range(8)]
    expected = [mechanics.hamiltonian_rhs(tree, *given) for given in states]

    def repeated(k):
        return all(np.array_equal(mechanics.hamiltonian_rhs(tree, *states[k]), expected[k]) for _ in range(300))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(repeated, range(8)))
