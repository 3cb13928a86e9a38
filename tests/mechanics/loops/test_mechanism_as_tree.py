"""A mechanism keeps a start, and answers for its tree where loops and forces do not matter."""

import inspect

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import Mechanism
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import motor
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.multiplier_problem import multiplier_problem
from mechanics.formulations.reactions import reactions
from mechanics.joints import Revolute
from mechanics.systems.loops import bricard, four_bar, rssr
from mechanics.testing import random_tree

WHOLE = (
    "body_poses",
    "body_jacobians",
    "mass_matrix",
    "centre_of_mass",
    "body_twists",
    "momentum",
    "kinetic_energy",
    "centroidal_momentum",
)
FORCED = ("bias", "energy", "forward_dynamics", "hamiltonian_rhs", "inverse_dynamics", "potential_energy", "power")


@pytest.mark.parametrize("name", WHOLE)
def test_what_inertias_decide_is_that_of_the_tree(name):
    made = four_bar.started()
    q, v = made.start(None, None, None)
    arguments = (q,) if name in WHOLE[:4] else (q, v)
    of = getattr(mechanics, name)
    np.testing.assert_equal(of(made, *arguments), of(made.tree, *arguments))
    np.testing.assert_equal(of(tree=made.tree, q=q, **({"v": v} if len(arguments) > 1 else {})), of(made, *arguments))


def arguments(name, q):
    """A configuration, and zeros for whatever else the function must have."""
    needed = [p for p in inspect.signature(getattr(mechanics, name)).parameters.values() if p.default is p.empty]
    return [q, *([0.0] for _ in needed[2:])]


@pytest.mark.parametrize("name", FORCED)
def test_what_forces_decide_is_refused_with_the_way_out(name):
    made = four_bar.mechanism()
    with pytest.raises(TypeError, match=rf"<Mechanism 'four-bar'.*expected a Tree: {name} knows neither closures nor"):
        getattr(mechanics, name)(made, *arguments(name, made.home))


@pytest.mark.parametrize("name", WHOLE + FORCED)
def test_what_is_no_tree_is_named(name):
    with pytest.raises(TypeError, match="tree: None, expected a Tree or a Mechanism"):
        getattr(mechanics, name)(None, *arguments(name, [0.0]))


@pytest.mark.parametrize("module", [four_bar, bricard, rssr])
def test_kernels_have_the_mass_matrix_and_the_momentum_of_the_dense_reference(module):
    made = module.mechanism()
    rng = np.random.default_rng(2)
    q, v = made.tree.random_configuration(rng), rng.normal(size=made.tree.nv)
    M = mass_matrix(made.tree, q)
    np.testing.assert_allclose(mechanics.mass_matrix(made, q), M, atol=1e-14 * np.abs(M).max())
    p = geometry(made.tree, q, v).momentum(made.tree)
    assert np.array_equal(made.momentum(q, v), p)
    np.testing.assert_allclose(mechanics.momentum(made, q, v), p, atol=1e-14 * np.abs(p).max())
    np.testing.assert_allclose(M @ v, p, atol=1e-14 * np.abs(p).max())


def test_every_formulation_starts_where_the_mechanism_was_started():
    rates = {"crank_joint": 3.0}
    plain = four_bar.mechanism()
    started = plain.with_start(rates=rates)
    for pose in (mechanics.Mechanism.problem, multiplier_problem, body_problem):
        assert np.array_equal(pose(started).y0, pose(plain, rates=rates).y0)
        assert np.array_equal(pose(started, plain.home).y0, pose(plain).y0)
        assert np.array_equal(pose(started.with_start()).y0, pose(plain).y0)
    other = started.with_start(four_bar.configuration(0.3), rates=rates)
    assert other.problem().y0[0] == 0.3
    assert started.problem().y0[0] == four_bar.START


def test_a_start_is_checked_and_kept():
    made = four_bar.mechanism()
    with pytest.raises(mechanics.ModelError, match="opens"):
        made.with_start(v=[1.0, 0.0, 0.0])
    with pytest.raises(mechanics.ModelError, match="is open by"):
        made.with_start(made.home + 0.1)
    started = made.with_start(rates={"crank_joint": 3.0})
    q, _ = started.start(None, None, None)
    q[:] = 0.0
    assert np.array_equal(started.problem().y0[:3], made.home)


def test_forces_at_one_state_are_asked_where_the_mechanism_was_started():
    """With inputs, too, for which the mechanism was made anew, at rest at home."""
    plain = four_bar.mechanism()
    pushed = mechanics.Mechanism(plain.tree, plain.equations.closures, plain.home, [motor("crank_joint")])
    started, u = pushed.with_start(rates={"crank_joint": 3.0}), [0.4]
    q, v = started.start(None, None, None)
    expected = reactions(pushed, q, v, u=u)
    assert reactions(started, u=u) == expected
    assert max(abs(expected[name] - x) for name, x in reactions(pushed, u=u).items()) > 0.5


def test_what_has_no_loops_is_not_projected():
    """Without equations and forces a mechanism is its tree, to the rounding of its other way to the same field."""
    tree = random_tree("chain", 3, np.random.default_rng(7), (Revolute,))
    q, v = 0.3 * np.ones(3), np.array([0.5, -1.0, 2.0])
    posed = {name: Mechanism(tree).problem(q, v, projection=name) for name in ("positions", "momenta", "none")}
    assert all(problem.projection is None for problem in posed.values())
    ends = [integrate(problem, "RKMK4", (0.0, 1.0), 0.01).y[-1] for problem in posed.values()]
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])
    assert np.allclose(ends[0], integrate(tree.problem(q, v), "RKMK4", (0.0, 1.0), 0.01).y[-1], rtol=0.0, atol=1e-12)
