"""The motion of a tree, integrated: what it conserves, and that it is the motion of Newton and Euler."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanics
from integrators.problem.jacobian import check_jacobian
from liegroup.compile.cells import cell, keys
from liegroup.compile.rare import renew
from mechanics import Body, Inertia, JointData, Tree, hamiltonian_problem
from mechanics.algorithms.derivatives.canonical import chain_era_derivatives, has_way
from mechanics.algorithms.derivatives.hamiltonian import derivatives_on_demand, era_derivatives
from mechanics.algorithms.era import era
from mechanics.joints import Free, Helical, Motion, Planar, Prismatic, Revolute, Rheonomic, Slide, Spherical, Turn
from mechanics.testing import random_tree

integrate = pytest.importorskip("integrators").integrate


def free_tree(gravity):
    generator = np.random.default_rng(3)
    tree = random_tree("random", 6, generator, (Revolute, Prismatic, Spherical), Free()).with_gravity(gravity)
    return tree, tree.random_configuration(generator), generator.normal(size=tree.nv)


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 0, -9.81), (3.0, -2.0, 1.0)])
def test_a_tree_that_nothing_holds_conserves_energy_and_momentum(gravity):
    tree, q, v = free_tree(gravity)
    problem = hamiltonian_problem(tree, q, v)
    assert len(problem.invariant_names) == (4 if any(gravity) else 7)
    final = integrate(problem, "RKMK4", (0.0, 0.2), step=5e-4).y[-1]
    start, end = problem.invariant_values(0.0, problem.y0), problem.invariant_values(0.2, final)
    assert np.abs(end - start).max() < 1e-8 * (1.0 + np.abs(start).max())
    assert np.isclose(start[0], mechanics.energy(tree, q, v), rtol=1e-13)


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 0, -9.81)])
def test_a_damped_free_body_is_not_expected_to_keep_its_momentum(gravity):
    """m v̇ = −c v along x: it loses nearly all, and the run is right, with or without a body on a damped hinge."""
    brick = Inertia.about_com(2.0, (0, 0, 0), np.diag([0.1, 0.2, 0.15]))
    damped = Body("a", Free(), inertia=brick, data=JointData(damping=[6.0, 6.0, 6.0, 0.0, 0.0, 0.0]))
    tree = Tree([damped], gravity=gravity)
    problem = tree.problem(tree.neutral(), [1.0, 0, 0, 0, 0, 0])
    assert problem.invariant_names == ("energy",)
    run = integrate(problem, "RKMK4", (0.0, 2.0), step=0.01)
    assert run.success
    assert not run.doubts
    assert run["p"][-1, 0] == pytest.approx(2.0 * np.exp(-6.0), rel=1e-7)
    hinge = Body("b", Revolute(), "a", (0, 0, 0.3), inertia=brick, data=JointData(damping=1.0))
    inside = Tree([replace(damped, data=JointData()), hinge], gravity=gravity)
    assert len(inside.problem(inside.neutral()).invariant_names) == (4 if any(gravity) else 7)


def test_the_watched_momentum_is_that_of_the_bodies():
    tree, q, v = free_tree((0, 0, 0))
    problem = hamiltonian_problem(tree, q, v)
    linear, spin = np.split(mechanics.centroidal_momentum(tree, q, v), 2)
    angular = spin + np.cross(mechanics.centre_of_mass(tree, q), linear)
    assert np.allclose(problem.invariant_values(0.0, problem.y0)[1:], [*linear, *angular], rtol=0, atol=1e-13)


def test_damping_takes_the_energy_it_should():
    """dH/dt = −Σ d v²."""
    generator = np.random.default_rng(4)
    tree = random_tree("chain", 4, generator, damping=0.2)
    q, v = tree.random_configuration(generator), generator.normal(size=4)
    problem, h = hamiltonian_problem(tree, q, v), 1e-4
    values = [problem.invariant_values(0.0, problem.y0 + s * problem.velocity(0.0, problem.y0))[0] for s in (-h, h)]
    assert np.isclose((values[1] - values[0]) / (2 * h), -0.2 * v @ v, rtol=1e-6)


def test_hamilton_and_newton_euler_move_alike():
    generator = np.random.default_rng(5)
    tree = random_tree("random", 5, generator)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    final = integrate(hamiltonian_problem(tree, q, v), "RKMK4", (0.0, 0.5), step=2e-4).y[-1]

    def newton_euler(t, x):
        return np.concatenate([x[5:], mechanics.forward_dynamics(tree, x[:5], x[5:])])

    true = solve_ivp(newton_euler, (0.0, 0.5), np.concatenate([q, v]), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert np.abs(final[:5] - true[:5]).max() < 1e-9
    assert np.abs(final[5:] - mechanics.momentum(tree, true[:5], true[5:])).max() < 1e-8


def test_a_driven_pendulum_swings_as_its_equation_says():
    """Pivot prescribed z = a sin wt: l θ″ = −(g + z″) sin θ; also H is not conserved and no invariant is claimed."""
    a, w, length = 0.3, 4.0, 0.8
    driven = Rheonomic((Slide((0, 0, 1), Motion(harmonics=((a, w, 0.0),))), Turn((1, 0, 0))))
    tree = Tree([Body("bob", driven, inertia=Inertia.about_com(2.0, (0, 0, -length), 1e-9 * np.eye(3)))])
    problem = hamiltonian_problem(tree, [0.5], [0.2])
    assert problem.invariant_names == ()
    final = integrate(problem, "RKMK4", (0.0, 2.0), step=1e-3).y[-1]

    def equation(t, x):
        return x[1], -(9.81 - a * w**2 * np.sin(w * t)) * np.sin(x[0]) / length

    true = solve_ivp(equation, (0.0, 2.0), (0.5, 0.2), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert abs(final[0] - true[0]) < 1e-7


def test_a_rotor_through_a_gear_slows_a_pendulum():
    """(J + a) θ″ = −m g l sin θ; the body that only hangs between two joints may be without mass where they have
    armature.
    """
    bob, hinge = Inertia.about_com(2.0, (0, 0, -0.8), 0.01 * np.eye(3)), Revolute((1, 0, 0))
    tree = Tree([Body("bob", hinge, inertia=bob, data=JointData(armature=3.0))])
    assert mechanics.forward_dynamics(tree, [0.3], [5.0])[0] == pytest.approx(
        -2.0 * 9.81 * 0.8 * np.sin(0.3) / (0.01 + 2.0 * 0.8**2 + 3.0), rel=1e-14
    )
    rotor = JointData(armature=0.3)
    tree = Tree([Body("rotor", hinge, data=rotor), Body("bob", hinge, "rotor", inertia=bob, joint_name="spring")])
    assert not Tree([Body("rotor", hinge, data=rotor)]).may_be_singular
    v, p = np.array([2.0, -0.5]), mechanics.momentum(tree, [0.4, 0.1], [2.0, -0.5])
    assert np.allclose(p, [0.3 * 2.0 + 1.29 * 1.5, 1.29 * 1.5], rtol=1e-15, atol=0)
    assert np.allclose(mechanics.hamiltonian_rhs(tree, [0.4, 0.1], p)[0], v, rtol=1e-14, atol=0)


def test_energy_with_armature_is_kept_over_long_runs():
    generator = np.random.default_rng(2)
    joints = (Revolute, Prismatic, Spherical, Planar)
    tree = random_tree("chain", 4, generator, joints, Free(), armature=0.5).with_gravity((0, 0, 0))
    problem = hamiltonian_problem(tree, tree.random_configuration(generator), 0.5 * generator.normal(size=tree.nv))
    solution = integrate(problem, "GAUSS8", (0, 50), 0.05, save_every=20)
    assert solution.error("energy") < 1e-13
    assert solution.error("angular_momentum_z", relative=False) < 1e-12
    solution = integrate(problem, "TREE_VARIATIONAL", (0, 200), 0.01, save_every=20)
    early, late = np.array_split(np.abs(solution["energy"] - solution["energy"][0]), 2)
    assert late.max() < 1.3 * early.max() < 0.01 * solution["energy"][0]
    assert solution.error("angular_momentum_z", relative=False) < 1e-12


def test_the_state_is_labelled_by_joint_and_component():
    tree, q, v = free_tree((0, 0, 0))
    configuration, momenta = hamiltonian_problem(tree, q, v).variables
    assert configuration.labels[:2] == ("body_0_joint.x", "body_0_joint.y")
    assert momenta.labels[:2] == ("body_0_joint.vx", "body_0_joint.vy")
    assert configuration.size == tree.nq
    assert momenta.units.startswith("kg m/s, ")


def test_velocities_and_momenta_are_not_given_together():
    tree, q, v = free_tree((0, 0, 0))
    with pytest.raises(ValueError, match="v and p"):
        hamiltonian_problem(tree, q, v, v)


# --- the derivative that the problem of a tree brings -----------------------------------------------------------------


def with_everything():
    """A tree with a ball, a screw, a prescribed joint, damping; its problem, and the same without derivatives."""
    generator = np.random.default_rng(7)
    tree = random_tree("random", 5, generator, (Revolute, Rheonomic, Spherical, Helical), damping=0.2, armature=0.3)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    problem = hamiltonian_problem(tree, q, v, t=0.3)
    return tree, problem, replace(problem, field=era)


def test_the_field_is_followed_by_its_derivative_where_there_is_room():
    tree, problem, plain = with_everything()
    d, y = problem.dimension, problem.y0
    assert problem.has_jacobian
    assert not plain.has_jacobian
    both = problem.evaluate(problem.linearised, 0.3, y, d + d * d)
    assert np.array_equal(both[:d], problem.velocity(0.3, y))
    true = mechanics.hamiltonian_rhs_derivatives(tree, y[: tree.nq], y[tree.nq :], t=0.3)
    assert np.array_equal(both[d:].reshape(d, d), true)
    check_jacobian(replace(plain, jacobian=era_derivatives), 0.3)


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "RODAS4", "BDF3"])
def test_newton_takes_the_derivative_of_the_tree(name):
    """The same motion as with differences, in fewer evaluations; eight in lanes have the bits that each has alone."""
    _, problem, plain = with_everything()
    exact, differences = (integrate(x, name, (0.3, 0.4), step=0.01) for x in (problem, plain))
    assert exact.status == differences.status == 0
    assert np.abs(exact.y[-1] - differences.y[-1]).max() < (1e-9 if name == "RODAS4" else 1e-13)
    assert exact.evaluations < 0.8 * differences.evaluations
    starts = np.array([problem.y0] * 8)
    starts[:, -problem.dimension // 2 :] *= np.linspace(1.0, 2.0, 8)[:, None]
    together = integrate(problem, name, (0.3, 0.4), step=0.01, y0=starts).y[:, -1]
    assert np.array_equal(together, [integrate(problem, name, (0.3, 0.4), step=0.01, y0=y).y[-1] for y in starts])


def test_newton_takes_the_eliminations_where_ways_are_long():
    """A chain with a ball and a screw: the derivative behind the field is that of the public function, and that of
    differences; eight in lanes have its bits.
    """
    generator = np.random.default_rng(8)
    tree = random_tree("chain", 10, generator, (Revolute, Spherical, Helical), damping=0.2, armature=0.3)
    assert has_way(tree.structure)
    q, v = tree.random_configuration(generator), generator.normal(size=tree.nv)
    problem, name = hamiltonian_problem(tree, q, v), "RKMK_RADAU_IIA3"
    d, y, plain = problem.dimension, problem.y0, replace(problem, field=era)
    both = problem.evaluate(problem.linearised, 0.0, y, d + d * d)
    assert np.array_equal(both[:d], problem.velocity(0.0, y))
    assert np.array_equal(
        both[d:].reshape(d, d), mechanics.hamiltonian_rhs_derivatives(tree, y[: tree.nq], y[tree.nq :])
    )
    check_jacobian(replace(plain, jacobian=chain_era_derivatives), 0.0)
    exact, differences = (integrate(x, name, (0.0, 0.05), step=0.01) for x in (problem, plain))
    assert exact.status == differences.status == 0
    assert np.abs(exact.y[-1] - differences.y[-1]).max() < 1e-11 * np.abs(exact.y[-1]).max()
    assert exact.evaluations < 0.8 * differences.evaluations
    starts = np.array([problem.y0] * 8)
    starts[:, -tree.nv :] *= np.linspace(1.0, 2.0, 8)[:, None]
    together = integrate(problem, name, (0.0, 0.05), step=0.01, y0=starts).y[:, -1]
    assert np.array_equal(together, [integrate(problem, name, (0.0, 0.05), step=0.01, y0=y).y[-1] for y in starts])


def test_the_derivative_is_compiled_by_the_first_newton_step_and_not_before():
    _, problem, _ = with_everything()
    renew(derivatives_on_demand)
    assert integrate(problem, "MIDPOINT", (0.3, 0.31), step=1e-3).success
    assert integrate(problem, "RKMK4", (0.3, 0.31), step=1e-3).success
    cells = [cell(key) for key in list(keys.values()) if key[1] == derivatives_on_demand.__qualname__]
    assert cells
    assert all(x.value is None for x in cells)
    assert integrate(problem, "RKMK_RADAU_IIA3", (0.3, 0.31), step=1e-3).success
    assert any(x.value is not None for x in cells)


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "MIDPOINT"])
def test_what_an_energy_may_change_by_does_not_depend_on_the_origin(method):
    """A double pendulum cannot fall to it: a hundred metres up it lost a quarter of its energy with success."""
    rod = Inertia.about_com(1.0, (0, 0, -0.5), 0.08 * np.eye(3))
    limits = []
    for height in (0.0, 100.0):
        upper = Body("a", Revolute((0, 1, 0)), None, (0, 0, height), inertia=rod)
        pendulum = Tree([upper, Body("b", Revolute((0, 1, 0)), "a", (0, 0, -1.0), inertia=rod)])
        problem = hamiltonian_problem(pendulum, [1.0, 0.5])
        limits += [guard.change for guard in problem.guards if guard.name == "energy"]
        run = integrate(problem, method, (0.0, 60.0), 0.05)
        assert [doubt.name for doubt in run.doubts] == ["energy"]
    assert limits[0] == pytest.approx(limits[1])
