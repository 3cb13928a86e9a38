"""Elements are their group's verbs on values that do not change, and come back from plain data to the last digit."""

import ast
import copy
import inspect
import json
import pickle

import numpy as np
import pytest

from liegroup import elements
from liegroup.elements import SE2, SE3, SO2, SO3

CLASSES = (SO2, SO3, SE2, SE3)


@pytest.fixture(params=CLASSES, ids=lambda c: c.__name__)
def cls(request):
    return request.param


def test_elements_obey_the_group_axioms(cls):
    g, h, k = (cls.random(seed, (5,)) for seed in range(3))
    e = cls.identity()
    assert ((g @ h) @ k).is_close(g @ (h @ k))
    assert (g @ e).is_close(g)
    assert (g @ g.inv()).is_close(cls.identity((5,)))
    assert cls.exp(g.log()).is_close(g)
    assert not (g @ h).is_close(h @ g) or cls is SO2


def test_the_object_says_what_its_group_says(cls):
    g, h = cls.random(1, (4,)), cls.random(2, (4,))
    points = np.random.default_rng(3).normal(size=(4, cls.group.n_point))
    np.testing.assert_array_equal((g @ h).q, cls.group.compose(g.q, h.q))
    np.testing.assert_array_equal(g.act(points), cls.group.act(g.q, points))
    np.testing.assert_array_equal(g.adjoint(), cls.group.adjoint(g.q))
    np.testing.assert_array_equal(g.as_matrix(), cls.group.as_matrix(g.q))
    np.testing.assert_array_equal(g.interpolate(h, 0.3).q, cls.group.interpolate(g.q, h.q, 0.3))
    np.testing.assert_array_equal(g.distance(h), cls.group.distance(g.q, h.q))
    assert cls.from_matrix(g.as_matrix()).is_close(g)


def test_single_elements_and_arrays_broadcast(cls):
    one, many = cls.random(1), cls.random(2, (2, 3))
    assert one.shape == ()
    assert (one @ many).shape == (2, 3)
    assert many.log().shape == (2, 3, cls.group.n_v)
    assert len(many) == 2
    assert many[1, 2] == cls(many.q[1, 2])
    assert [part.shape for part in many] == [(3,), (3,)]
    assert one @ many[0, 1] == (one @ many)[0, 1]
    with pytest.raises(TypeError, match="single"):
        len(one)
    with pytest.raises(TypeError, match="single"):
        one[0]


def test_elements_do_not_change(cls):
    q = cls.group.random(1)
    g = cls(q)
    q[:] = 7.0
    assert cls.group.is_element(g.q)
    with pytest.raises(AttributeError, match="immutable"):
        g.q = q
    with pytest.raises(AttributeError, match="immutable"):
        del g.q
    with pytest.raises(ValueError, match="read-only"):
        g.q[0] = 1.0
    assert hash(g) == hash(cls(g.q))
    assert {g: 1}[cls(g.q.copy())] == 1


def test_copies_and_pickles_are_the_element(cls):
    for one in (cls.random(1), cls.random(1, 3)):
        for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
            assert type(other) is cls
            assert np.array_equal(other.q, one.q)
            with pytest.raises(ValueError, match="read-only"):
                other.q[...] = 0.0


def test_plain_data_gives_the_element_back_to_the_last_digit(cls):
    for g in (cls.random(1), cls.random(2, (3, 2))):
        text = json.dumps(g.to_dict())
        assert cls.from_dict(json.loads(text)) == g
    with pytest.raises(ValueError, match=f"type '{cls.__name__}'"):
        cls.from_dict({"type": "SL2"})
    with pytest.raises(ValueError, match="expected the keys"):
        cls.from_dict(cls.random(1).to_dict() | {"colour": 1})


def test_different_kinds_do_not_mix(cls):
    other = next(c for c in CLASSES if c is not cls)
    with pytest.raises(TypeError):
        cls.identity() @ other.identity()
    with pytest.raises(TypeError):
        cls.identity() @ np.eye(3)
    with pytest.raises(TypeError):
        np.eye(3) @ cls.identity()
    assert cls.identity() != other.identity()


def test_what_is_not_in_the_group_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="project"):
        SO3([1.0, 1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"expected \(…, 7\)"):
        SE3([1.0, 2.0, 3.0])


def test_parts_have_names():
    turn = SO3.exp([0.1, 0.2, 0.3])
    pose = SE3.of([1.0, 2.0, 3.0], turn)
    np.testing.assert_array_equal(pose.position, [1, 2, 3])
    assert pose.rotation == turn
    np.testing.assert_array_equal(turn.quaternion_wxyz, turn.q)
    plane = SE2.of([[1.0, 2.0], [3.0, 4.0]], SO2([0.5]))
    assert plane.shape == (2,)
    np.testing.assert_array_equal(plane.rotation.angle, [0.5, 0.5])


def test_the_text_form_names_the_order_of_the_components():
    assert repr(SO3.identity()) == "SO3(quaternion_wxyz=[1., 0., 0., 0.])"
    assert repr(SE2([1.0, 2.0, 0.5])) == "SE2(position=[1., 2.], angle=0.5)"
    assert repr(SE3.identity((4, 5))) == "<SE3 array of shape (4, 5)>"


def test_the_classes_contain_no_formula():
    """No arithmetic, apart from comparing and joining."""
    tree = ast.parse(inspect.getsource(elements))
    arithmetic = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mult, ast.Sub, ast.Div, ast.Pow, ast.MatMult))
    ]
    assert not arithmetic
