"""Trees as drawings and as plain dictionaries."""

import json

import numpy as np
import pytest

from mechanics import Body, Inertia, JointData, ModelError, Tree
from mechanics.joints import JOINTS, Ball, Compound, Fixed, Motion, Prismatic, Revolute, Rheonomic, Slide, Turn
from mechanics.testing import random_rotation, random_tree


@pytest.mark.parametrize("kind", JOINTS)
def test_a_tree_survives_json_to_the_last_bit(kind):
    generator = np.random.default_rng(0)
    tree = random_tree("random", 4, generator, (kind, Revolute), Revolute((1, 2, 3)), damping=0.2, armature=0.3)
    again = Tree.from_dict(json.loads(json.dumps(tree.to_dict(), allow_nan=False)))
    assert again.to_dict() == tree.to_dict()
    assert np.array_equal(again.parameters, tree.parameters)
    assert np.array_equal(again.structure, tree.structure)
    assert [b.joint for b in again.bodies] == [b.joint for b in tree.bodies]


def test_thousands_of_rotations_survive_being_taken_twice():
    generator = np.random.default_rng(0)
    for rotation in (random_rotation(generator) for _ in range(4000)):
        body = Body("a", Fixed(), rotation=rotation)
        assert np.array_equal(Body("b", Fixed(), rotation=body.rotation).rotation, body.rotation)


def test_limits_that_are_not_finite_survive_too():
    body = Body(
        "a", Revolute(), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)), data=JointData(lower=-np.inf, upper=1.0)
    )
    again = Tree.from_dict(json.loads(json.dumps(Tree([body]).to_dict(), allow_nan=False)))
    assert again.bodies[0].data.lower == [-np.inf]


def test_the_drawing_shows_what_hangs_where():
    solid = Inertia.about_com(1.5, (0, 0, 0.1), np.eye(3))
    bodies = [
        Body("base", Revolute(), inertia=solid),
        Body("left", Prismatic(), "base", inertia=solid),
        Body("tool", Fixed(), "left"),
        Body("right", Revolute(), "base", inertia=solid),
    ]
    assert str(Tree(bodies, "arm")).splitlines() == [
        "arm: 4 bodies, nq = 3, nv = 3, 4.5 kg, gravity (0, 0, -9.81)",
        "base",
        "└─ base  (Revolute 'base_joint', q[0])  1.5 kg",
        "   ├─ left  (Prismatic 'left_joint', q[1])  1.5 kg",
        "   │  └─ tool  (Fixed 'tool_joint')  massless",
        "   └─ right  (Revolute 'right_joint', q[2])  1.5 kg",
    ]
    assert str(random_tree("chain", 300, np.random.default_rng(0))).endswith("… and 100 more")


def test_wrong_dictionaries_are_named():
    good = random_tree("chain", 2, np.random.default_rng(0)).to_dict()
    with pytest.raises(ModelError, match="format is None"):
        Tree.from_dict({})
    with pytest.raises(ModelError, match="joint of type 'Hinge': is unknown"):
        Tree.from_dict(good | {"bodies": [good["bodies"][0] | {"joint": {"type": "Hinge"}}]})
    with pytest.raises(ModelError, match=r"unknown entries \['colour'\]"):
        Tree.from_dict(good | {"bodies": [good["bodies"][0] | {"colour": "red"}]})
    with pytest.raises(ModelError, match="'body_1': its parent 'body_0' is unknown"):
        Tree.from_dict(good | {"bodies": good["bodies"][1:]})
    body = good["bodies"][0]
    for changed, message in (
        (good | {"bodies": 3}, "bodies are no list"),
        (good | {"bodies": [3]}, "body 0: is int"),
        (good | {"frames": [1]}, "frames no mapping"),
        (good | {"frames": {"f": {"position": [0, 0, 0]}}}, "frames: TypeError"),
        (good | {"gravity": "down"}, "gravity is 'down'"),
        ({k: x for k, x in good.items() if k != "gravity"}, "KeyError: 'gravity'"),
        (good | {"notes": 3}, "TypeError"),
        (good | {"bodies": [body | {"name": []}]}, r"TypeError: name: \[\], expected a text"),
        (good | {"bodies": [body | {"joint": {"type": "Joint"}}]}, "body 'body_0'"),
        (good | {"bodies": [body | {"joint": {"type": "Revolute", "axis": [1e300, 0, 0]}}]}, "body 'body_0'.*axis"),
        (good | {"bodies": [body | {"inertia": {"mass": 1e300, "com": [0, 0, 0], "tensor": 1}}]}, "beyond 1e\\+50"),
        (good | {"bodies": [body | {"data": {"damping": 10**400}}]}, "OverflowError"),
    ):
        with pytest.raises(ModelError, match=message):
            Tree.from_dict(changed)
    with pytest.raises(ModelError, match="KeyError: 'inertia'"):
        Tree.from_dict(good | {"bodies": [{"name": "a", "joint": {"type": "Revolute"}}]})


@pytest.mark.parametrize(
    "parts",
    [
        (Turn((0, 0, 1)), Turn((0, 0, 1))),
        (Slide((1, 0, 0)), Turn((0, 0, 1)), Slide((0, 0, 1)), Slide((0, 0, 1))),
        (Turn((1, 0, 0)), Ball()),
    ],
)
def test_elements_that_repeat_one_another_are_no_joint(parts):
    with pytest.raises(ValueError, match=r"degrees of freedom but move the body in \d directions"):
        Compound(parts)
    for moved in (Motion((0.0, 1.0)), Motion.from_samples(np.arange(2.0, 9.0), np.arange(7.0) ** 2)):
        with pytest.raises(ValueError, match=r"degrees of freedom but move the body in \d directions"):
            Rheonomic((Turn((0, 1, 0), moved), *parts))


def test_what_moves_as_told_between_two_turns_makes_them_different():
    turn, away = Turn((0, 0, 1)), Motion((0.0, 1.0))
    assert (
        Rheonomic((turn, Slide((1, 0, 0), away), turn)).n_v == Rheonomic((turn, Turn((1, 0, 0), away), turn)).n_v == 2
    )
