"""Straight-line code of a mechanism repeats the kernel for all mechanisms, bit by bit: loops, redundant or not, wheels
and forces.
"""

import numpy as np
import pytest

from integrators import integrate
from liegroup.compile import lane_array
from liegroup.compile.scalars import arctan2
from mechanics import Body, Frame, Tree, compile_model
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.projection import closed_projection
from mechanics.constraints.loops import holonomic
from mechanics.forces import joint_spring
from mechanics.joints import Motion, Revolute, Rheonomic, Spherical, Turn
from mechanics.mechanism import Mechanism
from mechanics.systems import MECHANISMS, SYSTEMS, WHEELED
from mechanics.systems.loops import bricard, four_bar
from mechanics.testing import random_inertia

TIME, LIMIT = 0.7, 6000
LARGE = ("ten-four-bar", "strandbeest-leg", "walking-mechanism", "wheeled-car", "whipple-bicycle")
NAMES = [pytest.param(name, marks=[pytest.mark.slow] * (name in LARGE)) for name in (*MECHANISMS, *WHEELED)]


def curve(x, R):
    """Every function that can be traced."""
    bent = np.sqrt(x[0] ** 2 + x[1] ** 2 + 0.5) + np.tanh(x[2]) * np.exp(0.1 * x[0])
    return [bent - arctan2(x[1], 2.0 + x[0]) + np.log(2.0 + R[0, 0]) - abs(x[2]) - 1.0]


def driven():
    """Links on a moved joint, a hinge and a ball, whose tip keeps to a surface; with a spring."""
    generator = np.random.default_rng(3)
    moved = Rheonomic((Turn((0.0, 0.0, 1.0), Motion((0.2, 0.5), ((0.3, 2.0, 0.1),))), Turn((1.0, 0.0, 0.0))))
    bodies = [
        Body("base", moved, inertia=random_inertia(generator)),
        Body("arm", Revolute((0.6, 0.0, 0.8)), "base", (0.3, 0.1, 0.0), inertia=random_inertia(generator)),
        Body("hand", Spherical(), "arm", (0.0, 0.4, 0.1), inertia=random_inertia(generator)),
    ]
    tree = Tree(bodies, "driven arm", gravity=(0.0, 0.0, -9.81))
    closures = [holonomic(Frame(None), Frame("hand", (0.0, 0.1, 0.3)), curve, "surface")]
    return Mechanism.assembled(
        tree, closures, tree.neutral(), elements=[joint_spring("arm_joint", 20.0, rest=0.3, damping=0.1)]
    )


def states(made, count):
    """Near `home`, with any momenta."""
    generator = np.random.default_rng(0)
    q = np.tile(made.home, (count, 1))
    plain = [made.tree.q_slice(b.joint_name) for b in made.tree.bodies if b.joint.n_q == b.joint.n_v]
    for at in plain:
        q[:, at] += 0.1 * generator.normal(size=q[:, at].shape)
    return np.hstack([q, generator.normal(size=(count, made.tree.nv))])


def evaluate(function, size, made, y, close_positions=True):
    packed, out = made.packed(close_positions), np.zeros(size)
    function(TIME, y, packed.parameters, packed.structure, np.zeros(packed.work_shape), out)
    return out


def repeats(made):
    """Whether the source gives the numbers of the interpreted kernels: the field, and the projections from an open
    position; without loops there is none.
    """
    model, (y,) = compile_model(made, limit=LIMIT), states(made, 1)
    assert (model.projection is None) == (not len(made.equations))
    near = np.concatenate([made.home + 1e-3 * (y[: made.tree.nq] - made.home), y[made.tree.nq :]])
    pairs = [
        *([evaluate(f.python, 2 * made.tree.nv, made, y) for f in pair] for pair in [(model.field, closed)]),
        *(
            [evaluate(f.python, len(y), made, near, close) for f in (model.projection, closed_projection)]
            for close in (True, False)
            if model.projection is not None
        ),
    ]
    return all(np.isfinite(found).all() and np.array_equal(found, true) for found, true in pairs)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_keeps_its_numbers(name):
    assert repeats(SYSTEMS[name].mechanism())


def test_split_bodies_keep_their_numbers(mechanism):
    """Redundant equations, constant shifts as prescribed motions."""
    assert repeats(Mechanism(mechanism.tree, mechanism.equations.closures, mechanism.q))


def test_prescribed_motions_and_given_surfaces_keep_their_numbers():
    assert repeats(driven())


@pytest.mark.parametrize(
    "make",
    [
        four_bar.mechanism,
        pytest.param(driven, marks=pytest.mark.slow),
        pytest.param(bricard.mechanism, marks=pytest.mark.slow),
    ],
)
def test_compiled_and_in_lanes_the_bits_are_the_same(make):
    made = make()
    model, packed, y = compile_model(made), made.packed(), states(made, 8)
    y[1:4, : made.tree.nq] = made.home  # lanes that are closed beside lanes that are not
    lanes = lane_array(y.shape[1])
    lanes[:] = y.T
    for entry, kernel, size in (
        (model.field, closed, 2 * made.tree.nv),
        (model.projection, closed_projection, len(y[0])),
    ):
        out = lane_array(size)
        entry(TIME, lanes, packed.parameters, packed.structure, lane_array(*packed.work_shape), out)
        for state, values in zip(y, out.T, strict=True):
            assert np.array_equal(evaluate(entry, size, made, state), values)
            assert np.array_equal(evaluate(kernel, size, made, state), values)


def test_rates_and_runs_are_those_of_the_mechanism():
    made = four_bar.mechanism()
    model, y = compile_model(made), states(made, 11)
    for found, true in zip(model.rhs(y[:, :3], y[:, 3:]), made.rhs(y[:, :3], y[:, 3:]), strict=True):
        assert found.shape == (11, 3)
        assert np.array_equal(found, true)
    rates = {"crank_joint": four_bar.SPEED}
    for projection in ("positions", "momenta"):
        runs = [
            integrate(x.problem(rates=rates, projection=projection), "RKMK4", (0.0, 0.5), step=1e-2)
            for x in (model, made)
        ]
        assert np.array_equal(runs[0].y, runs[1].y)
        assert runs[0].maximum("velocity_gap") < 1e-12
    assert model.problem(projection="none").projection is None


def test_what_cannot_be_done_is_refused():
    made = four_bar.mechanism()
    with pytest.raises(ValueError, match=r"mechanism 'four-bar'.*limit=100.*Mechanism\.problem"):
        compile_model(made, limit=100)
    with pytest.raises(ValueError, match="only a mechanism"):
        compile_model(made.tree).problem()
    with pytest.raises(ValueError, match=r"mechanism 'four-bar' are not finite"):
        made.rhs(made.home, np.full(3, 1e308))
