"""Mechanisms as plain dictionaries: back to the last bit, and nothing but mechanisms comes back."""

import copy
import json
import warnings

import numpy as np
import pytest

from mechanics import Body, Frame, Inertia, Mechanism, ModelError, ModelWarning, Tree, constraints, forces
from mechanics.forces import Capsule, Ellipsoid, Plane, Sphere, Tendon, Wheel
from mechanics.joints import Cylindrical, Free, Motion, Prismatic, Revolute
from mechanics.systems import SYSTEMS

MECHANISMS = {name: system.mechanism for name, system in SYSTEMS.items() if system.kind in ("loops", "wheels")}


def everything():
    """A mechanism with force elements of all kinds and equations given as functions."""
    solid = Inertia.about_com(1.5, (0.1, 0.0, 0.2), np.diag([0.3, 0.4, 0.5]))
    bodies = [
        Body("a", Revolute((0, 1, 0)), inertia=solid, joint_name="j"),
        Body("b", Prismatic((1, 0, 0)), "a", (0.3, 0, 0), inertia=solid, joint_name="k"),
        Body("c", Free(), inertia=solid, joint_name="f"),
        Body("d", Revolute((0, 0, 1)), "b", inertia=solid, joint_name="l"),
        Body("e", Cylindrical((0, 0, 1)), "d", inertia=solid, joint_name="m"),
    ]
    ground, ball = Plane(Frame(None)), Sphere(Frame("c", (0, 0, 0.3)), 0.1)
    moved = Motion((0.1, 0.2), ((0.3, 2.0, 0.1),))
    elements = [
        forces.joint_spring("j", stiffness=1 / 3, damping=0.1),
        forces.joint_spring(Tendon({"j": 0.01, ("m", 1): 0.3}, "cord"), stiffness=7.0),
        forces.joint_stop("j", lower=-1.0, upper=1.0, stiffness=1e3),
        forces.dry_friction("k", force=0.1),
        forces.servo("k", stiffness=3.0, damping=0.3, target=Motion.from_samples(np.arange(8.0), np.arange(8.0) / 7)),
        forces.motor("l", moved),
        forces.motor("j", name="drive"),
        forces.actuator("l", gain=(1.0, 2.0, 3.0), force_range=(-3.0, np.inf), name="hand"),
        forces.polynomial_spring("k", (1.0, 0.0, 3.0), rest=(-0.1, 0.2)),
        forces.wrench(Frame("c")),
        forces.thruster(Frame("e", (0.1, 0, 0)), force=(0, 0, 1), moment=(0, 0, -0.02), name="rotor"),
        forces.torsion_spring(Frame(None), Frame("c"), 2.0, damping=0.1),
        forces.spring_damper(Frame(None, (1, 2, 3)), Frame("b"), 100.0, length=0.3),
        forces.cable(Frame(None, (1, 2, 3)), Frame("b"), 100.0, length=0.3, damping=1.0),
        forces.bushing(Frame("a"), Frame("c", (1, 0, 0)), 10.0),
        forces.compliant(constraints.holonomic(Frame(None), Frame("c"), lambda x, R: [np.sin(x[2]) - x[0] ** 2]), 5.0),
        *(forces.contact(s, ground, stiffness=1e3, friction=0.3) for s in (ball, Capsule(Frame("b"), 0.1, 0.4))),
        forces.contact(Ellipsoid(Frame("c"), (0.1, 0.2, 0.3)), ground, stiffness=10.0),
        forces.contact(Wheel(Frame("d"), 0.2, 0.01), ground, stiffness=10.0),
        forces.contact(ball, Sphere(Frame("d"), 0.2), stiffness=10.0, law="hertz"),
        forces.contact(Frame("d", (0, 0, 1)), ground, stiffness=10.0),
    ]
    closures = [
        constraints.holonomic(Frame(None), Frame("c"), lambda x, R: [x[2] - np.cos(x[0]) * R[2, 2]], "hill"),
        constraints.coupling(["j", "k"], lambda a, b: b - 0.1 * np.sin(a), "cam"),
        constraints.gear("l", "j", -2.0),
    ]
    tree = Tree(bodies, "all")
    guess = tree.neutral()
    guess[tree.q_slice("f").start + 2] = 1.0
    return Mechanism.assembled(tree, closures, guess, ["j", "k"], elements).with_start(rates={"j": 0.3})


def through_json(mechanism):
    return Mechanism.from_dict(json.loads(json.dumps(mechanism.to_dict(), allow_nan=False)))


def same(found, wanted):
    assert found.to_dict() == wanted.to_dict()
    for name in ("parameters", "structure"):
        assert np.array_equal(getattr(found.packed(), name), getattr(wanted.packed(), name))
    a, b = found.problem(), wanted.problem()
    assert np.array_equal(a.y0, b.y0)
    assert a.inputs.names == b.inputs.names
    rates = []
    for problem in (a, b):
        out = np.zeros(problem.dimension)
        work = np.zeros(problem.work_shape)
        problem.field.python(0.1, np.asarray(problem.y0), problem.parameters, problem.structure, work, out)
        rates.append(out)
    assert np.isfinite(rates[0]).all()
    assert np.array_equal(*rates)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_of_the_systems_survives_json(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        mechanism = MECHANISMS[name]()
        same(through_json(mechanism), mechanism)


def test_all_kinds_of_force_elements_and_given_equations_survive_json():
    mechanism = everything()
    assert {type(e) for e in mechanism.elements} >= set(forces.KINDS[:12])
    same(through_json(mechanism), mechanism)


def changed(data, path, value):
    """A copy of a dictionary with another value at a place; without it where the value is `LEFT_OUT`."""
    found = copy.deepcopy(data)
    place = found
    for key in path[:-1]:
        place = place[key]
    if value is LEFT_OUT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return found


LEFT_OUT = object()
HOSTILE = [
    ((), "format", 2, "format is 2"),
    ((), "mobility", LEFT_OUT, "format"),
    ((), "tree", [], "dictionary of a tree"),
    ((), "closures", 3, "closures: 3"),
    ((), "home", [float("nan")] * 10, "home: shape"),
    ((), "home", [0.3] * 12, "is open by"),
    ((), "start", [[0.0], [0.0]], "q: shape"),
    (("mobility",), "rank", 3.0, "rank: 3.0"),
    (("mobility",), "rank", 2, "mobility: .*dof"),
    (("mobility",), "kept", [0, 99, 100], "kept"),
    (("mobility",), "kept", ["a"], "kept: expected whole"),
    (("mobility",), "scales", [1.0, -1.0, 1.0], "scales"),
    (("mobility",), "starts", [[1.0]], "starts"),
    (("mobility",), "type", "Frame", "mobility|argument"),
    (("elements", 0), "type", "system", "element 0: of type 'system'|type 'system'"),
    (("elements", 0), "type", ["Servo"], "type .'Servo'."),
    (("elements", 0), "stiffness", float("nan"), "element 0.*stiffness: nan, expected a finite number"),
    (("elements", 0), "stiffness", "1", "element 0.*stiffness: '1'"),
    (("elements", 0), "stiffness", True, "element 0.*stiffness: True"),
    (("elements", 0), "stiffness", 10**400, "element 0"),
    (("elements", 0), "joint", "nowhere", "nowhere"),
    (("elements", 0), "joint", 3, "element 0.*joint: 3"),
    (("elements", 0), "colour", 3, "element 0.*colour"),
    (("closures", 0), "first", None, "first: None"),
    (("closures", 0), "equations", [], "closure 0.*equations"),
    (("closures", 0), "name", 3, "closure 0.*name: 3"),
    (("closures", 0, "equations", 0), "kind", -2, "closure 0.*kind"),
    (("closures", 0, "equations", 0), "kind", 99, "closure 0.*kind: 99"),
    (("closures", 0, "equations", 0), "a", [1.0, 0.0], "closure 0.*a: shape"),
    (("closures", 0, "equations", 0, "tape"), "registers", 3, "closure 0.*tape"),
    (("closures", 0, "equations", 0, "tape"), "results", [99999] * 13, "closure 0.*results"),
    (("closures", 0, "equations", 0, "tape"), "stages", [0, 10**6], "closure 0.*stages"),
    (("closures", 0, "equations", 0, "tape"), "stages", [10**30, 1], "closure 0"),
    (("closures", 0, "equations", 0, "tape", "instructions"), 0, [77, 0, 0, 0], "closure 0.*instruction"),
    (("closures", 0, "equations", 0, "tape", "instructions"), 0, [1, 10**6, 0, 0], "closure 0.*instruction"),
    (("closures", 0, "equations", 0, "tape", "instructions"), 0, [1, -1, 0, 0], "closure 0.*instruction"),
    (("closures", 0, "equations", 0, "tape", "instructions"), 0, [1.5, 0, 0, 0], "closure 0.*whole"),
    (("closures", 0, "equations", 0, "tape", "instructions"), 0, [1], "closure 0"),
]


def test_what_is_no_mechanism_is_refused_by_name():
    good = everything().to_dict()
    for place, key, value, message in HOSTILE:
        with pytest.raises(ModelError, match=message):
            Mechanism.from_dict(changed(good, (*place, key), value))
    for wrong in (None, [], 3, "x", {}, good["tree"]):
        with pytest.raises(ModelError, match="dictionary of a mechanism"):
            Mechanism.from_dict(wrong)
    wrong_fields = [(9, ("force", [0.0, 1.0])), (9, ("moment", [0.0, 1.0, "x"])), (13, ("normal_law", 9))]
    for k, (key, value) in (*wrong_fields, (13, ("shapes", [])), (1, ("joint", None))):
        number = next(i for i, e in enumerate(good["elements"]) if key in e and i >= k)
        with pytest.raises(ModelError, match=rf"element {number}"):
            Mechanism.from_dict(changed(good, ("elements", number, key), value))


def test_what_contains_itself_is_refused():
    data = everything().to_dict()
    data["elements"][0]["joint"] = data["elements"]
    with pytest.raises(ModelError, match="element 0: RecursionError"):
        Mechanism.from_dict(data)


def test_a_kind_that_is_not_registered_has_no_words():
    import dataclasses

    @dataclasses.dataclass(frozen=True)
    class Strange(type(forces.joint_spring("j", stiffness=1.0)[0])):
        pass

    mechanism = everything()
    mechanism.elements = (Strange("j", 1.0, 0.0, 0.0),)
    with pytest.raises(ModelError, match="'Strange': has no words; register its kind"):
        mechanism.to_dict()
