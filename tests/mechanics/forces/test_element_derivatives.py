"""Derivatives of the forces of elements and of mechanisms: against complex steps of the whole field."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import mechanics
from liegroup.table import EXP, retract
from mechanics import Body, Frame, Inertia, Tree
from mechanics.closed_trees.field import closed
from mechanics.derivatives.elements import generalised_forces
from mechanics.derivatives.stiff import conjugate_gradients, stiff_jacobians
from mechanics.forces import OnJoint, spring_damper
from mechanics.joints import Prismatic
from mechanics.mechanism import Mechanism
from mechanics.systems.registry import SYSTEMS

EPSILON = 1e-30
_EXAMPLES = runpy.run_path(str(Path(__file__).with_name("test_elements.py")))
ELEMENTS, state, tree = (_EXAMPLES[name] for name in ("ELEMENTS", "state", "tree"))
"""Every kind of element, on a tree that has what they need."""


def by_complex_steps(mechanism, q, p, t):
    tree, packed, columns = mechanism.tree, mechanism.packed(), []
    n = tree.nv
    for k in range(2 * n):
        y, x = np.concatenate([q, p]).astype(complex), np.zeros(2 * n, complex)
        x[k] = 1j * EPSILON
        retract(tree.group.table, EXP, y[: tree.nq].copy(), x[:n], y[: tree.nq])
        y[tree.nq :] += x[n:]
        work, out = np.zeros(packed.work_shape, complex), np.zeros(2 * n, complex)
        closed.python(t, y, packed.parameters, packed.structure, work, out)
        columns.append(out.imag / EPSILON)
    return np.array(columns).T


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_derivative_of_the_field_with_an_element(name):
    mechanism = Mechanism(tree(), elements=[ELEMENTS[name]])
    q, v = state(mechanism)
    p = mechanism.momentum(q, v)
    found, true = mechanism.rhs_derivatives(q, p, 0.3), by_complex_steps(mechanism, q, p, 0.3)
    assert np.abs(found - true).max() < 1e-13 * (1.0 + np.abs(true).max())
    bare = Mechanism(tree()).rhs_derivatives(q, p, 0.3)
    assert name in ("motor", "actuator at the end of its ranges") or np.abs(found - bare).max() > 1e-3


def test_the_problem_brings_the_derivative_where_elements_on_joints_are_linear():
    """With springs, dampers, servos and motors on joints Newton's method takes no differences."""
    found = [group for group in ELEMENTS.values() if all(isinstance(e, OnJoint) and e.linear for e in group)]
    assert {type(e).__name__ for group in found for e in group} == {"JointSpring", "Servo", "Motor", "Actuator"}
    mechanism = Mechanism(tree(), elements=found)
    problem = mechanism.problem(*state(mechanism))
    y, d, nq = problem.y0, problem.dimension, mechanism.tree.nq
    both = problem.evaluate(problem.linearised, 0.3, y, d + d * d)
    true = mechanism.rhs_derivatives(y[:nq], y[nq:], 0.3)
    assert np.array_equal(both[:d], problem.velocity(0.3, y))
    assert np.abs(both[d:].reshape(d, d) - true).max() < 1e-13 * (1.0 + np.abs(true).max())
    assert not Mechanism(tree(), elements=[ELEMENTS["bushing"]]).problem().has_jacobian
    assert not SYSTEMS["four-bar"].problem().has_jacobian


@pytest.mark.parametrize("name", ["bushing", "rolling sphere", "spring between bodies"])
def test_forces_have_the_derivatives_that_differences_show(name):
    mechanism = Mechanism(tree(), elements=[ELEMENTS[name]])
    q, v = state(mechanism)
    forces, group, h = generalised_forces(mechanism, q, v), mechanism.tree.group, 1e-6
    assert len(forces.force) == mechanism.tree.nv
    for k, e in enumerate(h * np.eye(mechanism.tree.nv)):
        sides = [generalised_forces(mechanism, group.compose(q, group.exp(s * e)), v).force for s in (1, -1)]
        assert np.allclose((sides[0] - sides[1]) / (2 * h), forces.by_configuration[:, k], rtol=1e-6, atol=1e-5)
        sides = [generalised_forces(mechanism, q, v + s * e).force for s in (1, -1)]
        assert np.allclose((sides[0] - sides[1]) / (2 * h), forces.by_velocity[:, k], rtol=1e-6, atol=1e-5)


# --- closed loops -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four_bar", "governor"])
def test_the_derivative_with_closed_loops(name):
    """Against differences of order four of the compiled field, multipliers included."""
    mechanism = SYSTEMS[name].mechanism()
    group, n = mechanism.tree.group, mechanism.tree.nv
    q, v = mechanism.start(None, None, None)
    v = mechanism.projected_velocity(q, np.linspace(0.5, 1.5, n))[0]
    p, h = mechanism.momentum(q, v), 1e-4
    found = mechanism.rhs_derivatives(q, p, 0.2)
    for k, e in enumerate(np.eye(2 * n)):
        rates = [
            np.hstack(mechanism.rhs(group.compose(q, group.exp(s * h * e[:n])), p + s * h * e[n:], 0.2))
            for s in (-2, -1, 1, 2)
        ]
        true = (rates[0] - 8 * rates[1] + 8 * rates[2] - rates[3]) / (12 * h)
        assert np.abs(found[:, k] - true).max() < 1e-6 * (1.0 + np.abs(found).max())


# --- the three Jacobians of a stiff problem ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_block_diagonal_iteration_converges(seed):
    """0 ≤ K ≤ 2K̂: the eigenvalues of Ĵ⁻¹J̃ are in (0, 2), whatever elements join whatever bodies, at any β."""
    rng = np.random.default_rng(seed)
    names = rng.choice([name for name in ELEMENTS if name != "motor"], size=3, replace=False)
    mechanism = Mechanism(tree(), elements=[ELEMENTS[name] for name in names])
    q, v = state(mechanism, seed)
    beta = 10.0 ** rng.uniform(-1, 3)
    _, approximate, blocks = stiff_jacobians(mechanism, q, v, 0 * v, beta)
    values = scipy.linalg.eigh(approximate, blocks, eigvals_only=True)
    assert values.min() > 0.0
    assert values.max() < 2.0 + 1e-12


def test_an_element_on_the_base_leaves_nothing_out():
    mechanism = Mechanism(tree(), elements=[ELEMENTS["spring to the ground"], ELEMENTS["joint spring"]])
    q, v = state(mechanism)
    _, approximate, blocks = stiff_jacobians(mechanism, q, v, v, 10.0)
    assert np.abs(approximate - blocks).max() < 1e-12 * np.abs(blocks).max()


def test_the_block_diagonal_matrix_has_the_profile_of_the_mass_matrix():
    mechanism = Mechanism(tree(), elements=[ELEMENTS["bushing"]])
    q, v = state(mechanism)
    _, approximate, blocks = stiff_jacobians(mechanism, q, v, v, 10.0)
    assert np.abs(approximate[:8, 8]).max() > 1.0
    assert not blocks[:8, 8].any()


def test_two_masses_on_a_spring_contract_as_the_formula_says():
    """ρ = k/√((α m₁ + k)(α m₂ + k)), α = β²."""
    for m1, m2, k, alpha, true in [
        (1, 1, 1e3, 1e4, 0.0909091),
        (1, 1, 1e6, 1e4, 0.990099),
        (1, 100, 1e5, 1e4, 0.287480),
    ]:
        bodies = [
            Body(name, Prismatic((1.0, 0.0, 0.0)), inertia=Inertia.point(mass)) for name, mass in (("a", m1), ("b", m2))
        ]
        spring = spring_damper(Frame("a"), Frame("b"), k, damping=0.0, length=2.0)
        mechanism = Mechanism(Tree(bodies), elements=[spring])
        _, approximate, blocks = stiff_jacobians(mechanism, [0.0, 2.0], np.zeros(2), np.zeros(2), np.sqrt(alpha))
        rho = np.abs(np.linalg.eigvals(np.eye(2) - np.linalg.solve(blocks, approximate))).max()
        assert abs(rho - true) < 1e-6
        assert abs(rho - k / np.sqrt((alpha * m1 + k) * (alpha * m2 + k))) < 1e-9


def test_the_exact_jacobian_is_the_derivative_of_the_residual():
    mechanism = Mechanism(tree(), elements=[ELEMENTS["bushing"], ELEMENTS["servo"]])
    q, v = state(mechanism)
    a, beta, group, h = np.cos(np.arange(len(v))), 3.0, mechanism.tree.group, 1e-5

    def residual(e):
        x, w = group.compose(q, group.exp(e)), v + beta * e
        return (
            mechanics.inverse_dynamics(mechanism.tree, x, w, a + beta**2 * e)
            - generalised_forces(mechanism, x, w).force
        )

    J = stiff_jacobians(mechanism, q, v, a, beta).exact
    for k, e in enumerate(h * np.eye(len(v))):
        difference = (residual(-2 * e) - 8 * residual(-e) + 8 * residual(e) - residual(2 * e)) / (12 * h)
        assert np.abs(J[:, k] - difference).max() < 1e-7 * np.abs(J).max()


def test_conjugate_gradients_with_the_block_diagonal_matrix_before():
    mechanism = Mechanism(tree(), elements=[ELEMENTS["bushing"], ELEMENTS["compliant hinge"]])
    q, v = state(mechanism)
    _, approximate, blocks = stiff_jacobians(mechanism, q, v, v, 100.0)
    factor, b = scipy.linalg.cho_factor(blocks), np.ones(len(v))
    x, steps = conjugate_gradients(approximate, lambda r: scipy.linalg.cho_solve(factor, r), b)
    assert steps <= 12
    assert np.abs(approximate @ x - b).max() < 1e-9
    with pytest.raises(ArithmeticError, match="after 1 steps"):
        conjugate_gradients(approximate, lambda r: r, b, most=1)


def test_bad_input_is_named():
    mechanism = Mechanism(tree())
    q, v = state(mechanism)
    with pytest.raises(TypeError, match="expected a Mechanism"):
        generalised_forces(mechanism.tree, q, v)
    with pytest.raises(ValueError, match="one state"):
        generalised_forces(mechanism, q, np.stack([v, v]))
    with pytest.raises(ValueError, match="q: shape"):
        mechanism.rhs_derivatives(q[:3], v)
    with pytest.raises(ValueError, match="beta"):
        stiff_jacobians(mechanism, q, v, v, -1.0)
