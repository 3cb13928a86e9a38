"""Wrong runs of mechanisms that used to say "reached the end"."""

import re
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

import mechanics
from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.constraints import revolute
from mechanics.forces import joint_spring, motor
from mechanics.formulations import (
    AugmentedLagrangian,
    Baumgarte,
    Lagrange,
    Ostermeyer,
    Penalty,
    body_problem,
    constrained_problem,
    multiplier_problem,
)
from mechanics.joints import Motion, Revolute, Rheonomic, Turn
from mechanics.systems.loops import four_bar, n_four_bar


def test_variable_steps_through_singular_positions_are_doubtful():
    run = integrate(n_four_bar.problem(2), "RKMK_DOP853", (0, 3), rtol=1e-8, atol=1e-10)
    assert not run.success
    assert run.error("energy") > 0.1  # how much, rounding decides
    pivot = next(doubt for doubt in run.doubts if doubt.name == "pivot")
    assert pivot.value < pivot.limit
    assert "singular position: tip" in pivot.says
    assert "fixed steps" in pivot.remedy
    assert {doubt.name for doubt in run.doubts} == {"pivot", "energy", "smallest_step"}


def test_a_loop_that_is_driven_too_far_is_told_of_its_singular_position_and_of_no_jump():
    """The rocker of a crank-rocker, moved beyond its reach: `the field jumps; smooth what switches` led away."""
    axis = (0.0, -1.0, 0.0)
    crank, coupler, rocker = (Inertia.about_com(1.0, (x / 2, 0, 0), 0.1 * np.eye(3)) for x in (0.3, 0.8, 0.6))
    drive = Rheonomic((Turn(axis, Motion((1.8, 1.0))),))
    bodies = [
        Body("crank", Revolute(axis), inertia=crank),
        Body("coupler", Revolute(axis), "crank", (0.3, 0.0, 0.0), inertia=coupler),
        Body("rocker", drive, position=(0.9, 0.0, 0.0), inertia=rocker),
    ]
    pin = revolute(Frame.with_axis("coupler", (0.8, 0, 0), axis), Frame.with_axis("rocker", (0.6, 0, 0), axis), "pin")
    run = integrate(Mechanism.assembled(Tree(bodies), [pin], [1.0, 0.0]).problem(), "GAUSS8", (0.0, 3.0), 0.0219)
    assert not run.success
    assert "no further: at about t = 0.79" in run.message
    assert "it is near a singular position: pin" in run.message
    assert "jumps" not in run.message


def test_fixed_steps_hop_over_singular_positions_and_are_right():
    run = integrate(n_four_bar.problem(2), "RKMK4", (0, 20), 1e-3)
    assert run.success
    assert run.error("energy") < 1e-6


@pytest.mark.parametrize("pose", [Mechanism.problem, multiplier_problem])
def test_a_drive_changes_nothing_of_what_guards_ask_of_a_loop(pose):
    """It is by the kinetic energy, which p·v/2 is not where something drives: that may be negative."""
    free = four_bar.mechanism()
    crank, *others = free.tree.bodies
    for angle in np.linspace(0.0, 6.0, 7):
        motion = Rheonomic((Turn((0.0, 0.0, 1.0), Motion((angle, 50.0))),))
        tree = Tree([Body("crank", motion, inertia=crank.inertia), *others], gravity=free.tree.gravity)
        q = four_bar.configuration(angle)
        problems = (
            pose(Mechanism(tree, free.equations.closures, q[1:])),
            pose(free, q, rates={"crank_joint": 50.0}),
        )
        driven, true = ([g for g in problem.guards if g.name == "velocity_gap"] for problem in problems)
        assert len(driven) == len(true) == 1
        assert (driven[0].greatest, driven[0].start) == pytest.approx((true[0].greatest, true[0].start), rel=1e-9)


@pytest.mark.parametrize("form", [Lagrange(), Baumgarte(2.0), Ostermeyer(5.0), Baumgarte(20.0)], ids=repr)
def test_multipliers_that_take_another_branch_at_a_singular_position_are_doubtful(form):
    """Two motions meet there: energy and gaps are right on the wrong one; which is taken, rounding decides."""
    run = integrate(
        multiplier_problem(n_four_bar.started(2), stabilisation=form), "RKMK_DOP853", (0, 3), rtol=1e-8, atol=1e-10
    )
    right = abs(run["q"][-1, 0] - n_four_bar.angle(2, 3.0)) < 1e-5
    assert right or not run.success
    if not right:
        (doubt,) = run.doubts
        assert doubt.name == "smallest_step"
        assert doubt.time > 1.227  # the smallest step is at one of the passages, the first of which is at 1.228
        assert "singular position: tip" in doubt.says


FLAT = np.array([-1.0, 1.0, -1.0, 1.0, -1.0])
"""All rods of two parallelograms in a line, times 90°; the velocities with which the uprights turn on from there."""


@pytest.mark.parametrize("pose", [multiplier_problem, constrained_problem])
def test_a_start_at_a_singular_position_is_doubtful(pose):
    method, made = "RKMK4" if pose is multiplier_problem else "DLA", n_four_bar.mechanism(2)
    problem = pose(made, 0.5 * np.pi * FLAT, FLAT)
    run, later = (integrate(p, method, (0, 0.02), 0.01) for p in (problem, pose(made).with_start(problem.y0)))
    (doubt,) = run.doubts
    assert later.doubts == run.doubts
    assert not run.success
    assert (doubt.name, doubt.time) == ("pivot", 0.0)
    assert doubt.value < doubt.limit
    assert "lose rank and their forces are not determined, near a singular position: tip" in doubt.says


def test_what_needs_no_independent_closures_starts_there_without_a_doubt():
    """Springs, and multipliers by rounds of a penalty."""
    made = n_four_bar.mechanism(2)
    for form in (AugmentedLagrangian(), Penalty.of_frequency(made, 100.0)):
        problem = multiplier_problem(made, 0.5 * np.pi * FLAT, FLAT, stabilisation=form)
        assert integrate(problem, "RKMK4", (0, 0.02), 0.01).doubts == ()


def test_body_coordinates_name_the_closure_that_is_lost_at_the_start():
    with pytest.raises(ValueError, match=r"not finite at the start.*; a singular position: tip\d: shift x depends"):
        integrate(body_problem(n_four_bar.mechanism(2), 0.5 * np.pi * FLAT, FLAT), "RKMK4", (0, 0.02), 0.01)


@pytest.fixture
def sprung():
    tree = mechanics.load_model("double_pendulum")
    return Mechanism(tree, elements=[joint_spring(tree.bodies[0].joint_name, 1000.0)])


def test_the_fastest_spring_is_that_of_the_linearised_motion(sprung):
    q = np.array([0.1, 0.2])
    mass = mechanics.mass_matrix(sprung.tree, q)
    stiffness = np.diag([1000.0, 0.0])
    expected = np.sqrt(np.linalg.eigvals(np.linalg.solve(mass, stiffness)).real.max())
    omega, joint, element = sprung.fastest_spring(q)
    assert omega == pytest.approx(expected, rel=1e-6)
    assert joint == sprung.tree.bodies[0].joint_name
    assert element == f"JointSpring on joint {joint!r}"


@pytest.mark.parametrize(("turn", "trusted"), [(1.9, True), (2.1, False), (4.0, False)])
def test_springs_too_fast_for_the_variational_step_are_named(sprung, turn, trusted):
    q = np.array([0.1, 0.2])
    omega, joint, element = sprung.fastest_spring(q)
    with nullcontext() if trusted else pytest.warns(RuntimeWarning, match=re.escape(element)):
        run = integrate(sprung.problem(q=q), "TREE_VARIATIONAL", (0, 1), turn / omega)
    assert run.success == trusted
    if not trusted:
        assert run.doubts[0].name == "turn_per_step"
        assert f"most in joint {joint!r}" in run.doubts[0].says
        assert run.doubts[0].says.startswith(element)
        assert f"{2.0 / omega:.3g} s" in run.doubts[0].remedy


def test_driven_mechanisms_may_change_their_energy():
    tree = mechanics.load_model("double_pendulum")
    driven = Mechanism(tree, elements=[motor(tree.bodies[0].joint_name, Motion((0.0, 3.0)))])
    assert "energy" not in {guard.name for guard in driven.problem().guards}


def test_what_a_singular_position_stops_is_told_what_crosses_it():
    """Two parallelograms, whose links come to lie in a line."""
    problem = n_four_bar.started(2).problem()
    run = integrate(problem, "GAUSS8", (0.0, 10.0), 0.01)
    assert run.status.is_failure
    assert "near a singular position: tip" in run.message
    assert "or cross it with fixed steps of RKMK4" in run.message
    across = integrate(problem, "RKMK4", (0.0, 10.0), 0.01)
    assert across.success
    assert np.abs(across.y[:, 0] - n_four_bar.angle(2, across.t)).max() < 1e-3


@pytest.mark.parametrize("step", [0.01, 0.003])
def test_a_long_step_towards_a_singular_position_is_told_of_it_too(step):
    """Sarrus's linkage, whose plate falls into the plane of its base: 0.01 s before, no closure is near its loss."""
    bar, plate = Inertia.about_com(0.4, (0, 0, 0.25), 0.01 * np.eye(3)), Inertia.about_com(2.0, (-0.3, 0, 0), np.eye(3))
    one, other = Revolute((0.0, 1.0, 0.0)), Revolute((1.0, 0.0, 0.0))
    bodies = [
        Body("a", one, None, (0.3, 0.0, 0.0), inertia=bar),
        Body("A", one, "a", (0.0, 0.0, 0.5), inertia=bar),
        Body("plate", one, "A", (0.0, 0.0, 0.5), inertia=plate),
        Body("b", other, None, (0.0, 0.3, 0.0), inertia=bar),
        Body("B", other, "b", (0.0, 0.0, 0.5), inertia=bar),
    ]
    axis = (1.0, 0.0, 0.0)
    top = revolute(Frame.with_axis("plate", (-0.3, 0.3, 0.0), axis), Frame.with_axis("B", (0.0, 0.0, 0.5), axis), "top")
    linkage = Mechanism.assembled(Tree(bodies), [top], [0.6, -1.2, 0.6, -0.6, 1.2], hold=["a_joint"])
    run = integrate(linkage.problem(rates={"a_joint": -1.5}), "GAUSS8", (0.0, 0.6), step)
    assert run.status.is_failure
    assert "near a singular position: top" in run.message
    assert "or cross it with fixed steps of RKMK4" in run.message


@pytest.mark.parametrize("form", [Mechanism.problem, constrained_problem])
def test_an_implicit_method_passes_singular_positions_or_names_the_closure(form):
    """With a derivative for every stage its equations are solved there; it does not change the branch."""
    run = integrate(form(n_four_bar.started(2)), "RKMK_RADAU_IIA3", (0, 10), 0.01)
    if run.status.is_failure:
        assert "near a singular position: tip" in run.message
    else:
        assert np.abs(run.y[:, 0] - n_four_bar.angle(2, run.t)).max() < 1e-5


def test_the_midpoint_rule_hops_over_singular_positions_with_its_order():
    runs = [integrate(n_four_bar.started(2).problem(), "MIDPOINT", (0, 10), h) for h in (0.02, 0.01)]
    assert all(run.success for run in runs)
    coarse, fine = (
        abs(run.y[-1, 0] - run.y[0, 0] - n_four_bar.angle(2, run.t[-1]) + n_four_bar.angle(2, 0.0)) for run in runs
    )
    assert fine < 2e-3
    assert coarse > 3.0 * fine


@pytest.mark.parametrize("step", [0.01, 0.005, 0.001])
def test_dla_of_order_4_hops_over_singular_positions_or_stops_beside_them(step):
    """Where rounding, magnified near them, keeps the iteration going at 1e-11, it has converged; the shortest step here
    brings a node to 1 % of them, where rounding decides whether it has.
    """
    run = integrate(constrained_problem(n_four_bar.started(2)), "DLA4", (0, 10), step)
    assert run.success or step < 0.002
    assert abs(run.y[-1, 0] - run.y[0, 0] - n_four_bar.angle(2, run.t[-1]) + n_four_bar.angle(2, 0.0)) < 1e-7
    if not run.success:
        assert run.status.is_failure
        assert "near a singular position: tip" in run.message


def test_dla_of_order_4_does_so_too_in_body_coordinates():
    """Rounding decides which of both."""
    run = integrate(body_problem(n_four_bar.started(2)), "DLA4", (0, 1), 0.01)
    turned, wanted = run.y[-1, 2] - run.y[0, 2], n_four_bar.angle(2, run.t[-1]) - n_four_bar.angle(2, 0.0)
    assert abs(turned - wanted) < 1e-4
    if not run.success:
        assert run.status.is_failure
        assert run.t[-1] == pytest.approx(0.71)
        assert "near a singular position: tip" in run.message


@pytest.mark.slow
@pytest.mark.parametrize("method", ["RADAU_GGL", "ALPHA_STABILISED", "DLA", "MIDPOINT"])
def test_in_body_coordinates_it_does_so_too_or_is_right(method):
    """Steps that hop over the singular positions follow the motion, as the angle of the crank shows."""
    run = integrate(body_problem(n_four_bar.started(2)), method, (0, 10), 0.01)
    if run.success:
        turned, wanted = run.y[-1, 2] - run.y[0, 2], n_four_bar.angle(2, 10.0) - n_four_bar.angle(2, 0.0)
        assert abs(turned - wanted) < 0.01
    else:
        assert "near a singular position: tip" in run.message


def test_momenta_within_a_step_are_those_of_the_velocities():
    mechanism = n_four_bar.started(2)
    times = np.linspace(0.013, 0.5, 7)
    run = integrate(mechanism.problem(), "RKMK4", (0, 0.6), 0.02, t_eval=times)
    fine = integrate(mechanism.problem(), "RKMK4", (0, 0.6), 0.001, t_eval=times)
    assert run.maximum("gap") < 1e-13
    for q, p in zip(run["q"], run["p"], strict=True):
        v, _ = mechanism.rhs(q, p)
        np.testing.assert_allclose(mechanism.momentum(q, v), p, atol=1e-12)
    np.testing.assert_allclose(run["p"], fine["p"], atol=1e-4)


def test_the_page_on_doubts_works_as_told(capsys):
    page = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "know_when_to_doubt.md").read_text(
        encoding="utf-8"
    )
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S)), {})
    assert "the closures lose rank" in capsys.readouterr().out
