"""What makes force elements: every argument of a wrong kind is named at once, and numbers do not stand side by side."""

import inspect
from functools import partial
from itertools import product

import numpy as np
import pytest

from mechanics import Body, Frame, Inertia, Mechanism, Tree, forces
from mechanics.constraints import spherical
from mechanics.errors import ModelError
from mechanics.forces import Plane, Sphere, Tendon
from mechanics.joints import Revolute

BODY, BASE = Frame("body"), Frame(None)
GOOD = {
    "actuator": {
        "joint": "j", "gain": 1.0, "bias": 0.0, "command": 0.0, "command_range": None, "force_range": None, "name": "",
    },
    "cable": {"first": BASE, "second": BODY, "stiffness": 1.0, "length": 1.0, "damping": 0.0},
    "bushing": {"first": BASE, "second": BODY, "stiffness": 1.0, "damping": 0.0},
    "compliant": {"closure": spherical(BASE, BODY), "stiffness": 1.0, "damping": 0.0},
    "contact": {
        "first": Sphere(BODY, 1.0), "second": Plane(BASE), "stiffness": 1.0, "damping": 0.0, "law": "hertz",
        "width": None, "friction": 0.0, "static_friction": None, "slip_speed": 0.1,
    },
    "dry_friction": {"joint": "j", "force": 1.0, "slip_speed": 0.1, "static_force": 2.0},
    "joint_spring": {"joint": "j", "stiffness": 1.0, "rest": 0.0, "damping": 0.0},
    "joint_stop": {
        "joint": "j", "lower": 0.0, "upper": 1.0, "stiffness": 1.0, "damping": 0.0, "law": "hertz", "width": None,
    },
    "motor": {"joint": "j", "force": None, "name": ""},
    "polynomial_spring": {"joint": Tendon({"j": 2.0}), "stiffness": 1.0, "rest": 0.0, "damping": 0.0},
    "servo": {"joint": ("j", 1), "stiffness": 1.0, "damping": 1.0, "target": None, "name": ""},
    "spring_damper": {"first": BASE, "second": BODY, "stiffness": 1.0, "damping": 0.0, "length": 0.0},
    "thruster": {
        "frame": BODY, "force": (0, 0, 1), "moment": (0, 0, 0), "gain": 1.0, "bias": 0.0, "command": None,
        "command_range": None, "force_range": None, "name": "",
    },
    "torsion_spring": {"first": BASE, "second": BODY, "stiffness": 1.0, "damping": 0.0},
    "wrench": {"frame": BODY, "axes": "body", "name": ""},
}  # fmt: skip
"""Arguments that are right, all of them."""
OTHERS = {"hunt_crossley_factor": {"restitution": 0.5, "speed": 1.0},
          "soft_numbers": {"mass": 1.0, "time_constant": 1.0, "damping_ratio": 1.0}}  # fmt: skip
WRONG = [lambda t: t, "word", object(), np.nan, [1, 2, 3, 4, 5, 6, 7], {1: 2}, b"x", 1j]


@pytest.mark.parametrize("name", GOOD | OTHERS)
def test_every_argument_of_a_wrong_kind_is_named_at_once(name):
    function, good = getattr(forces, name), (GOOD | OTHERS)[name]
    assert list(inspect.signature(function).parameters) == list(good)
    function(**good)
    for argument, wrong in product(good, WRONG):
        if isinstance(wrong, str) and argument in ("joint", "name"):
            continue
        with pytest.raises((TypeError, ValueError), match=argument):
            function(**good | {argument: wrong})


def test_functions_of_time_are_given_to_the_problem():
    for make in (
        lambda f: forces.motor("hinge", f),
        lambda f: forces.servo("hinge", stiffness=1.0, damping=1.0, target=f),
        lambda f: forces.actuator("hinge", command=f),
        lambda f: forces.thruster(BODY, force=(0, 0, 1), command=f),
    ):
        with pytest.raises(TypeError, match=r"a function, expected .*with_inputs"):
            make(lambda t: t)


@pytest.mark.parametrize("name", GOOD | OTHERS)
def test_at_most_one_number_has_a_place(name):
    """What it acts on, then one number: all others are named, so that none is taken for another."""
    places = [
        p for p in inspect.signature(getattr(forces, name)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD
    ]
    numbers = [p for p in places if p.name not in ("joint", "first", "second", "frame", "closure")]
    assert len(numbers) <= 1


def test_an_element_between_two_frames_of_one_body_is_refused():
    """Neither moves against the other: it did nothing, and was taken."""
    for make in (forces.spring_damper, partial(forces.cable, length=1.0), forces.bushing, forces.torsion_spring):
        with pytest.raises(ModelError, match="joins body 'body' to itself; name two different bodies"):
            make(BODY, Frame("body", (0.0, 0.0, 0.1)), 1.0)


def test_the_list_is_whole():
    made = {name for name in forces.__all__ if name[0].islower()} - {"register", "not_negative"}
    assert made == {*GOOD, *OTHERS}


@pytest.mark.parametrize("name", sorted(x for x in GOOD if "stiffness" in GOOD[x] and x != "polynomial_spring"))
def test_negative_stiffness_and_damping_are_named(name):
    """Of every element but the polynomial: there a negative coefficient softens a spring."""
    for number in {"stiffness", "damping"} & set(GOOD[name]):
        with pytest.raises(ModelError, match=rf"{number}: is -1\.0; give a finite number that is not negative"):
            getattr(forces, name)(**{**GOOD[name], number: -1.0})


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("joint_spring", "joint_spring of 'j'"),
        ("servo", r"servo of \('j', 1\)"),
        ("joint_stop", "joint_stop of 'j'"),
        ("spring_damper", "spring_damper between the base and 'body'"),
        ("torsion_spring", "torsion_spring between the base and 'body'"),
        ("cable", "cable between the base and 'body'"),
        ("bushing", "'shift x' of 'bushing' between the base and 'body'"),
        ("compliant", "of 'spherical None–body' between the base and 'body'"),
        ("contact", "contact of 'body' on the base"),
    ],
)
def test_a_refusal_says_which_element_it_means(name, words):
    for number in ("stiffness", "damping"):
        with pytest.raises(ModelError, match=rf"{words}: {number}: is inf; give a finite number"):
            getattr(forces, name)(**{**GOOD[name], number: np.inf})


def test_elements_of_another_mechanism_are_elements():
    tree = Tree([Body("a", Revolute(), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))])
    made = Mechanism(tree, elements=[forces.joint_spring("a_joint", 1.0), forces.motor("a_joint", name="m")])
    assert Mechanism(tree, elements=made.elements).elements == made.elements
    assert Mechanism(tree, elements=[*made.elements, forces.motor("a_joint", name="n")]).elements[:-1] == made.elements
    for wrong in (made.elements[0], [3], [[3]], "x"):
        with pytest.raises(TypeError, match=r"elements: .*, expected lists of force elements, such as joint_spring"):
            Mechanism(tree, elements=wrong)
