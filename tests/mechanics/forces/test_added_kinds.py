"""Kinds of force elements that users add, at any time: a kind with the law of one of ours does what that one does, bit
by bit, and what is compiled for it is its law alone.
"""

import math
import pickle
from contextlib import nullcontext
from dataclasses import dataclass, fields

import numpy as np
import pytest

from integrators import Status, integrate
from liegroup.compile import LateBindingError, helper, renew
from liegroup.compile.scalars import exp, maximum
from liegroup.compile.stages import KernelCompiler
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.constraints.loops import revolute
from mechanics.errors import ModelError
from mechanics.forces import (
    KINDS,
    OnBodies,
    OnJoint,
    Sphere,
    Tendon,
    compliant,
    contact,
    joint_spring,
    polynomial_spring,
    register,
    registry,
    thruster,
)
from mechanics.joints import Free, Prismatic, Revolute

BODY = Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.3, 0.4, 0.5]))
TREE = Tree(
    [
        Body("hull", Free(), inertia=BODY),
        Body("arm", Revolute((0.3, 1.0, -0.2)), "hull", (0.2, 0.5, -0.1), inertia=BODY),
        Body("slider", Prismatic((1.0, 0.5, 0.2)), "arm", (0.4, 0.1, 0.3), inertia=BODY),
    ]
)
HULL, TIP = Frame("hull", (0.2, 0.1, -0.3)), Frame("slider", (0.1, 0.1, 0.2))
OWN = [
    *joint_spring("arm_joint", 20.0, rest=0.3, damping=0.7),
    *polynomial_spring(Tendon({"arm_joint": 0.8, "slider_joint": -1.5}), 20.0, rest=(-0.1, 0.1), damping=0.7),
    *contact(Sphere(HULL, 3.0), Sphere(TIP, 3.0), law="soft", width=1.0, stiffness=300.0, damping=7.0),
    *compliant(revolute(Frame(None, (0.3, 0.0, 0.1)), TIP), 40.0, damping=2.0),
    *thruster(TIP, force=(0.2, 1.0, -0.5), moment=(0.3, 0.0, 0.1), gain=3.0, bias=0.5, command=2.0),
]
RNG = np.random.default_rng(3)
Q, V = TREE.random_configuration(RNG), RNG.normal(size=TREE.nv)


@pytest.fixture
def kernels(monkeypatch):
    """Names of the kernels that are compiled."""
    compiled, original = [], KernelCompiler._compile_bytecode

    def noting(self):
        if not self.state.flags.forceinline:
            compiled.append(self.state.func_id.func_qualname)
        return original(self)

    monkeypatch.setattr(KernelCompiler, "_compile_bytecode", noting)
    return compiled


@pytest.fixture
def added():
    """Registers kinds until the end of a test."""
    count = len(KINDS)
    yield register
    places = {kind.place for kind in KINDS[count:]}
    del KINDS[count:]
    for place in places:
        renew(registry._ADDED[place])


def twin_of(kind):
    """A kind of its own with the same law."""
    return type(f"{kind.__name__}Twin", (kind,), {})


@helper
def broken(numbers, x, s):
    """Python can, compiled code cannot: plain numbers do not tell."""
    return float(x.hex() == ""), 0.0 * x, 0.0 * x


def changed(element, kind):
    return kind(**{f.name: getattr(element, f.name) for f in fields(element)})


def results(elements):
    """Rates, and what a run by a variational method finds."""
    mechanism = Mechanism(TREE, elements=[elements])
    run = integrate(mechanism.problem(Q, V), "TREE_VARIATIONAL", (0.0, 0.02), step=0.01)
    assert run.status is Status.OK
    assert {doubt.name for doubt in run.doubts} <= {"turn"}  # the compliant hinge, turned by 169°
    return [*mechanism.rhs(Q, V), run.y, run["energy"]]


def test_kinds_with_our_laws_are_our_elements_and_cost_nothing_but_their_laws(added, kernels):
    expected = results(OWN)
    kinds = {kind: twin_of(kind) for kind in dict.fromkeys(map(type, OWN))}
    assert len({kind.place for kind in kinds}) == 4
    for kind in kinds.values():
        added(kind)
    kernels.clear()
    for ours, theirs in zip(expected, results([changed(e, kinds[type(e)]) for e in OWN]), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert all(name.startswith("mechanics.forces.registry.added_") for name in kernels), kernels
    mixed = [changed(e, kinds[type(e)]) if k % 2 else e for k, e in enumerate(OWN)]
    for ours, theirs in zip(expected, results(mixed), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_kind_added_after_another_has_been_used_is_known_as_well(added):
    first, second = twin_of(type(OWN[0])), twin_of(type(OWN[0]))
    added(first)
    rates = Mechanism(TREE, elements=[[changed(OWN[0], first)]]).rhs(Q, V)[1]
    added(second)
    both = Mechanism(TREE, elements=[[changed(OWN[0], first), changed(OWN[0], second)]]).rhs(Q, V)[1]
    none = Mechanism(TREE).rhs(Q, V)[1]
    assert np.abs(rates - none).max() > 1e-3
    np.testing.assert_allclose(both - none, 2.0 * (rates - none), rtol=1e-12, atol=1e-12)


def test_kinds_have_their_numbers_whatever_was_added_before(added):
    """A problem comes to other processes with the numbers of its kinds."""
    kinds, found = [twin_of(type(OWN[0])), twin_of(type(OWN[1]))], []
    for order in (kinds, kinds[::-1]):
        count = len(KINDS)
        for kind in order:
            added(kind)
        found.append([registry._numbers[kind] for kind in kinds])
        del KINDS[count:]
    assert found[0] == found[1]
    assert len(set(found[0])) == 2


@helper
def cubed(numbers, u, s):
    (k,) = numbers
    return -k * u * u * u, 0.25 * k * u * u * u * u, 0.0 * s


@dataclass(frozen=True)
class Cubed(OnJoint):
    law = staticmethod(cubed)
    k: float


def test_a_kind_between_bodies_says_what_its_numbers_are(added):
    class Unsaid(OnBodies):
        law = staticmethod(cubed)

    class Half(Unsaid):
        SIZE = 1

    for kind in (Unsaid, Half):
        with pytest.raises(TypeError, match=rf"{kind.__name__}: numbers of a law between bodies .*`SIZE`.*`numbers_of"):
            added(kind)


def test_an_element_brings_its_kind_to_a_process_that_does_not_know_it(added):
    added(Cubed)
    spring = Cubed("arm_joint", 2.0)
    problem = Mechanism(TREE, elements=[[spring]]).problem(Q, V)
    sent, number, there = pickle.dumps(problem), registry.number_of(spring), problem.velocity(0.0, problem.y0)
    del KINDS[-1]
    renew(registry._ADDED[Cubed.place])
    got = pickle.loads(sent)
    assert registry.number_of(spring) == number
    assert np.array_equal(got.velocity(0.0, got.y0), there)


def test_a_law_that_cannot_be_compiled_is_told_at_every_call(added, monkeypatch):
    """Not at the first one alone, with forces of zero from then on."""
    monkeypatch.setattr(registry, "_check_in_lanes", lambda kind: None)
    kind = type("Broken", (type(OWN[0]),), {"law": staticmethod(broken)})
    added(kind)
    mechanism = Mechanism(TREE, elements=[[changed(OWN[0], kind)]])
    for _ in range(2):
        with pytest.raises(LateBindingError, match="added_"):
            mechanism.rhs(Q, V)


@dataclass(frozen=True)
class Single(OnJoint):
    """One number."""

    k: float


@helper
def cubed(numbers, x, s):
    return -(x**3), 0.25 * x**4, 0.0 * s


@helper
def from_numpy(numbers, x, s):
    return -np.exp(x), np.exp(x), 0.0 * s


@helper
def from_math(numbers, x, s):
    return -math.exp(x), math.exp(x), 0.0 * s


@helper
def with_an_if(numbers, x, s):
    return (-x, 0.5 * x * x, 0.0 * s) if x > 0.0 else (0.0 * x, 0.0 * x, 0.0 * s)


@helper
def of_two(numbers, x, s):
    k, _ = numbers
    return -k * x, 0.5 * k * x * x, 0.0 * s


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (cubed, r"does not run in lanes \(pow\(Lanes"),
        (from_numpy, r"does not run in lanes \(exp\(Lanes"),
        (from_math, "does not run in lanes .*exp"),
        (with_an_if, r"does not run in lanes \(.*LaneMask"),
        (of_two, r"not enough values to unpack .* it is called with 1 numbers"),
    ],
)
def test_a_law_that_does_not_run_in_lanes_is_refused_before_it_spoils_the_others(added, law, message):
    kind = dataclass(frozen=True)(type("Own", (Single,), {"law": staticmethod(law)}))
    with pytest.raises(TypeError, match=f"Own.law: .*{message}"):
        added(kind)
    assert kind not in KINDS


@helper
def morse(numbers, x, s):
    """U = k (1 − e⁻ˣ)² with functions that run in lanes."""
    (k,) = numbers
    e = exp(-x)
    return -2.0 * k * (1.0 - e) * e, k * (1.0 - e) * (1.0 - e), 0.0 * s


@helper
def twice_the_gradient(numbers, x, s):
    (k,) = numbers
    return -2.0 * k * x, 0.5 * k * x * x, 0.0 * s


@helper
def silent_drag(numbers, x, s):
    (k,) = numbers
    return -k * s, 0.0 * x, 0.0 * s


@helper
def source(numbers, x, s):
    (k,) = numbers
    return k * s, 0.0 * x, k * s * s


@helper
def stop(numbers, x, s):
    """Pushed back beyond 0, with a kink there."""
    (k,) = numbers
    depth = maximum(x, 0.0 * x)
    return -k * depth - k * s * depth, 0.5 * k * depth * depth, -k * s * s * depth


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (twice_the_gradient, r"stores energy that changes by .* and P − F·s is"),
        (silent_drag, r"stores energy that changes by 0 W, and P − F·s is"),
        (source, "brings .* W at x = .*; give its class a property `drives`"),
        (morse, ""),
        (stop, ""),
    ],
)
def test_a_law_that_does_not_keep_its_account_makes_no_mechanism(added, law, message):
    kind = dataclass(frozen=True)(type("Own", (Single,), {"law": staticmethod(law)}))
    added(kind)
    with pytest.raises(ModelError, match=message) if message else nullcontext():
        Mechanism(TREE, elements=[[kind("slider_joint", 30.0)]]).rhs(Q, V)


def test_numbers_of_a_kind_that_are_none_are_named_with_their_element(added):
    kind = dataclass(frozen=True)(type("Own", (Single,), {"law": staticmethod(morse)}))
    added(kind)
    with pytest.raises(ModelError, match=r"Own on joint 'slider_joint': number 0 of its law is nan, expected a finite"):
        Mechanism(TREE, elements=[[kind("slider_joint", float("nan"))]]).rhs(Q, V)


@helper
def van_der_pol(numbers, x, s):
    """Brings energy within |x| < 1, and loses it beyond."""
    (k,) = numbers
    force = k * (1.0 - x * x) * s
    return force - x, 0.5 * x * x, force * s


@dataclass(frozen=True)
class Oscillator(OnJoint):
    law = staticmethod(van_der_pol)
    k: float
    drives = property(lambda self: True)


def test_a_kind_that_says_that_it_brings_energy_runs_without_a_doubt(added):
    added(Oscillator)
    bead = Tree([Body("bead", Prismatic((1.0, 0.0, 0.0)), inertia=Inertia.point(1.0))])
    run = integrate(Mechanism(bead, elements=[[Oscillator("bead_joint", 0.5)]]).problem([0.1], [0.0]), (0.0, 20.0))
    assert run.success
    assert abs(run.y[:, 0]).max() == pytest.approx(2.0, rel=0.05)
