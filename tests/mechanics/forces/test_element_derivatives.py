"""Derivatives of the forces of elements and of mechanisms: against complex steps of the whole field."""

import runpy
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
import scipy.linalg

import mechanics
from integrators import integrate
from liegroup.table import EXP, retract
from mechanics import Body, Frame, Inertia, JointData, ModelWarning, Tree
from mechanics.closed_trees.field import closed
from mechanics.constraints import coupling, gear, holonomic
from mechanics.derivatives.elements import generalised_forces
from mechanics.derivatives.stiff import conjugate_gradients, stiff_jacobians
from mechanics.forces import spring_damper, wrench
from mechanics.joints import Motion, Prismatic, Revolute, Rheonomic, Spherical, Turn
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


@pytest.mark.parametrize("name", ELEMENTS)
def test_the_derivative_at_rest(name):
    """Where friction has no direction, and every square is zero: against differences on both sides."""
    mechanism = Mechanism(tree(), elements=[ELEMENTS[name]])
    q, p = state(mechanism)[0], np.zeros(mechanism.tree.nv)
    found, start = mechanism.rhs_derivatives(q, p, 0.3), mechanism.rhs(q, p, 0.3)
    assert np.isfinite(found).all()
    for k in range(len(p)):
        sides = [mechanism.rhs(q, p + s * 1e-6 * np.eye(len(p))[k], 0.3) for s in (1.0, -1.0)]
        slope = np.concatenate([(one - other) / 2e-6 for one, other in zip(*sides, strict=True)])
        assert np.allclose(slope, found[:, len(p) + k], rtol=1e-4, atol=1e-4 * (1.0 + np.abs(start[1]).max()))


def test_the_problem_brings_the_derivative():
    """Behind the field in one call: with all elements, Newton's method takes no differences."""
    mechanism = Mechanism(tree(), elements=list(ELEMENTS.values()))
    with pytest.warns(ModelWarning, match="beyond its"):  # so that the stop pushes
        problem = mechanism.problem(*state(mechanism))
    y, d, nq = problem.y0, problem.dimension, mechanism.tree.nq
    both = problem.evaluate(problem.linearised, 0.3, y, d + d * d)
    true = by_complex_steps(mechanism, y[:nq], y[nq:], 0.3)
    assert np.array_equal(both[:d], problem.velocity(0.3, y))
    assert np.abs(both[d:].reshape(d, d) - true).max() < 1e-13 * (1.0 + np.abs(true).max())


@pytest.mark.parametrize("axes", ["body", "world"])
def test_the_derivative_with_wrenches_as_inputs(axes):
    """Forces and moments given as numbers and as functions of time, against those that are part of the mechanism."""
    hands = [*wrench(Frame("hull", (0.2, 0.1, -0.3)), axes=axes, name="hand"), *wrench(Frame("slider"), axes=axes)]
    values = np.linspace(-3.0, 4.0, len(hands))
    fixed = Mechanism(tree(), [], None, [[replace(e, motion=Motion((u,))) for e, u in zip(hands, values, strict=True)]])
    given = {e.input_name: u for e, u in zip(hands, values, strict=True)} | {"hand.fx": lambda t: -3.0}
    problem = Mechanism(tree(), [], None, [hands]).problem(*state(fixed)).with_inputs(given)
    y, d, nq = problem.y0, problem.dimension, fixed.tree.nq
    both = problem.evaluate(problem.linearised, 0.3, y, d + d * d)
    true = by_complex_steps(fixed, y[:nq], y[nq:], 0.3)
    assert np.abs(both[d:].reshape(d, d) - true).max() < 1e-13 * (1.0 + np.abs(true).max())


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


def geared():
    """A gear and a function of three joints that keep to each other, and a hand that keeps to a surface."""
    x, y, z = np.eye(3)
    moved = Rheonomic((Turn(z, Motion((0.2, 0.5), ((0.3, 2.0, 0.1),))), Turn(x)))
    inertia = Inertia.about_com(1.2, (0.1, 0.02, -0.2), np.diag([0.02, 0.03, 0.04]))
    bodies = [
        Body("base", moved, inertia=inertia),
        Body("arm", Revolute(y), "base", (0.3, 0.1, 0.0), inertia=inertia, data=JointData(0.1, armature=0.5)),
        Body("slide", Prismatic(x), "arm", (0.0, 0.3, 0.0), inertia=inertia),
        Body("hand", Spherical(), "slide", (0.0, 0.4, 0.1), inertia=inertia),
        Body("wheel", Revolute(z), "base", (0.0, 0.0, 0.3), inertia=inertia),
    ]
    closures = [
        gear("arm_joint", "wheel_joint", 2.0),
        coupling(["wheel_joint", "slide_joint"], lambda a, b: b - 0.2 * np.sin(a) * np.cos(b), "cam"),
        holonomic(
            Frame(None), Frame("hand", (0.0, 0.1, 0.3)), lambda a, R: [a[2] + 0.1 * a[0] * a[1] + np.tanh(R[0, 0])]
        ),
    ]
    tree = Tree(bodies, "geared")
    return Mechanism.assembled(tree, closures, tree.neutral())


def slipping(mechanism, seed=0):
    """A state that is closed, with momenta that are not: their multipliers are not zero."""
    rng, q = np.random.default_rng(seed), mechanism.home
    v = mechanism.projected_velocity(q, np.linspace(0.5, 1.5, mechanism.tree.nv))[0]
    p = mechanism.momentum(q, v)
    return q, p + 0.3 * np.abs(p).max() * rng.normal(size=p.shape)


CLOSED = {
    "gears and functions": geared,
    **{
        name: SYSTEMS[name].mechanism
        for name in ("four_bar", "squeezer", "rssr", "rigid_governor", "whipple_bicycle", "ball_on_a_table", "bricard")
    },
}


@pytest.mark.parametrize("name", CLOSED)
def test_the_derivative_with_closed_loops(name):
    """The multipliers with it, to rounding; where equations depend on each other, up to what moves nothing."""
    mechanism = CLOSED[name]()
    n, state = mechanism.tree.nv, slipping(mechanism)
    found, true = mechanism.rhs_derivatives(*state, 0.2), by_complex_steps(mechanism, *state, 0.2)
    error = found - true
    if mechanism.solved.rank < len(mechanism.solved.kept):
        assert name == "bricard"
        error[n:] = true[:n, n:] @ error[n:]
    for half in (slice(0, n), slice(n, 2 * n)):
        assert np.abs(error[half]).max() < 1e-12 * (1.0 + np.abs(true[half]).max())


def test_the_derivative_with_closed_loops_in_forty_digits():
    """Against differences of the field in forty digits."""
    mechanism = SYSTEMS["four_bar"].mechanism()
    q, p = slipping(mechanism)
    packed, n = mechanism.packed(), len(p)
    found, y, columns = mechanism.rhs_derivatives(q, p), np.concatenate([q, p]), []
    with mpmath.workdps(40):
        h = mpmath.mpf(10) ** -13
        for k in range(2 * n):
            sides = []
            for sign in (1, -1):
                x = np.array([mpmath.mpf(float(a)) for a in y], dtype=object)
                x[k] += sign * h
                work, out = np.full(packed.work_shape, mpmath.mpf(0), dtype=object), np.empty(2 * n, dtype=object)
                closed.python(mpmath.mpf(0), x, packed.parameters, packed.structure, work, out)
                sides.append(out)
            columns.append(((sides[0] - sides[1]) / (2 * h)).astype(float))
    true = np.array(columns).T
    assert np.abs(found - true).max() < 1e-14 * (1.0 + np.abs(true).max())


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow) for name in ("four_bar", "slider_crank")])
def test_newton_takes_the_derivative_of_a_closed_mechanism(name):
    """The same motion as with differences, in fewer evaluations; eight in lanes have the bits that each has alone."""
    problem = SYSTEMS[name].problem()
    plain = replace(problem, field=closed)
    assert problem.has_jacobian
    assert not plain.has_jacobian
    exact, differences = (integrate(x, "RKMK_RADAU_IIA3", (0.0, 0.1), step=0.01) for x in (problem, plain))
    assert exact.status == differences.status == 0
    assert np.abs(exact.y[-1] - differences.y[-1]).max() < 1e-12 * np.abs(exact.y[-1]).max()
    assert exact.evaluations < 0.9 * differences.evaluations
    n = problem.dimension // 2
    starts = np.array([problem.y0] * 8)
    starts[:, -n:] *= np.linspace(1.0, 2.0, 8)[:, None]
    together = integrate(problem, "RKMK_RADAU_IIA3", (0.0, 0.02), step=0.01, y0=starts).y[:, -1]
    alone = [integrate(problem, "RKMK_RADAU_IIA3", (0.0, 0.02), step=0.01, y0=y).y[-1] for y in starts]
    assert np.array_equal(together, alone)


@pytest.mark.parametrize("model", [SYSTEMS["four_bar"].mechanism(), tree()])
def test_the_derivative_of_straight_line_code(model):
    """A compiled model brings the derivative of the model that it was made of."""
    made = mechanics.compile_model(model)
    q = made.tree.neutral() if model is made.tree else None
    problem, own = made.problem(q), (Mechanism(model) if model is made.tree else model).problem(q)
    y, d = problem.y0, problem.dimension
    both, true = (x.evaluate(x.linearised, 0.3, y, d + d * d) for x in (problem, own))
    assert np.array_equal(both[:d], problem.velocity(0.3, y))
    assert np.abs(both - true).max() < 1e-13 * (1.0 + np.abs(true).max())


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
