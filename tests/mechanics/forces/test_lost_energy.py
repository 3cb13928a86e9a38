"""What dampers take is told from what a method takes: energy that falls is accounted for by the field."""

import numpy as np
import pytest

from integrators import integrate
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.forces import cable, compliant, joint_spring
from mechanics.joints import Prismatic, Revolute
from mechanics.systems.loops import four_bar

RATE = 300.0


def swinging(damping, *elements, start=0.1):
    """A mass of 1 kg on a spring that swings with `RATE`, and carries a pendulum."""
    lump = Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3))
    rod = Inertia.about_com(1e-3, (0.0, 0.0, -0.3), 1e-5 * np.eye(3))
    tree = Tree(
        [Body("slide", Prismatic((1, 0, 0)), inertia=lump), Body("rod", Revolute((0, 1, 0)), "slide", inertia=rod)]
    )
    held = joint_spring("slide_joint", RATE**2, damping=damping)
    return Mechanism(tree, elements=[held, *elements]).problem([start, 0.3])


def lost(solution):
    return [doubt for doubt in solution.doubts if doubt.name == "energy_lost"]


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_TRBDF2", "BDF2"])
def test_what_a_method_damps_is_no_work_of_the_damper(method):
    """ζ = 1e-3, h ω = 3: the damper takes 6 % of the energy, the method most of it."""
    problem = swinging(2.0 * 1e-3 * RATE)
    run = integrate(problem, method, (0.0, 0.1), 3.0 / RATE)
    (doubt,) = lost(run)
    less = run["energy"][0] - run["energy"][-1]
    assert not run.success
    assert less > 0.6 * 0.5 * RATE**2 * 0.1**2
    assert 0.9 * less < doubt.value < less


@pytest.mark.parametrize(
    ("method", "turn"),
    [("RKMK_RADAU_IIA3", 0.3), ("RKMK_GAUSS2", 1.0), ("RKMK4", 0.3), ("RKMK_LOBATTO_IIIC3", 0.3), ("RODAS4", 0.3)],
)
@pytest.mark.parametrize("ratio", [1e-3, 0.05, 0.7])
def test_what_dampers_take_is_accounted_for(method, turn, ratio):
    run = integrate(swinging(2.0 * ratio * RATE), method, (0.0, 200 * turn / RATE), turn / RATE)
    energy = run["energy"]
    assert ratio < 0.01 or energy[0] - energy[-1] > 0.9 * (energy[0] - energy.min())
    assert not lost(run)


@pytest.mark.parametrize("damping", [1e4, 1e7])
def test_a_strong_damper_takes_all_within_a_step(damping):
    """Off its slow motion, as a start may be: that it works more at the start than over the step is no doubt."""
    run = integrate(swinging(damping), "RKMK_RADAU_IIA3", (0.0, 1.0), 0.01)
    assert not lost(run)


def test_nothing_is_said_where_a_cable_may_become_taut_or_steps_are_not_saved():
    rope = cable(Frame(None, (0.0, 1.0, 0.0)), Frame("slide"), 1e3, length=1.0)
    for problem, every in ((swinging(0.6, rope), 1), (swinging(0.6), 2)):
        run = integrate(problem, "RKMK_RADAU_IIA3", (0.0, 0.1), 3.0 / RATE, save_every=every)
        assert not lost(run)


@pytest.fixture(scope="module")
def closed_elastically():
    """A four-bar whose loop is held by a stiffness, in joint coordinates, and where the rigid one is after a second."""
    rigid = four_bar.mechanism()
    velocity = rigid.velocities(rigid.home, {"crank_joint": 3.0}).v
    wanted = integrate(rigid.problem(rates={"crank_joint": 3.0}), "RKMK_GAUSS4", (0.0, 1.0), 1e-3)["q"][-1]

    def posed(stiffness):
        held = [compliant(closure, stiffness, damping=1e-4 * stiffness) for closure in rigid.equations.closures]
        return Mechanism(rigid.tree, (), rigid.home, held).problem(rigid.home, velocity)

    return posed, wanted


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5", "RKMK_GAUSS3", "RKMK_LOBATTO_IIIC3"])
@pytest.mark.parametrize("stiffness", [1e8, 1e10])
def test_springs_that_turn_against_the_coordinates_do_not_limit_newtons_steps(closed_elastically, method, stiffness):
    """One derivative for all stages finds no solution there, or another one at 1e9 J; one for each does."""
    posed, wanted = closed_elastically
    run = integrate(posed(stiffness), method, (0.0, 1.0), 0.01)
    assert run.success, run.message
    assert np.abs(run["q"][-1] - wanted).max() < 2e-6
    assert np.ptp(run["energy"]) < 0.02 * run["energy"][0]


def test_states_off_what_is_slow_are_no_jump_of_the_field(closed_elastically):
    """Long steps leave the closure a little stretched; small ones from there begin with how it settles."""
    posed, wanted = closed_elastically
    for method, step, within in (("RKMK_GAUSS3", 0.01, 1e-4), ("RKMK_TRBDF2", 0.02, 0.02)):
        run = integrate(posed(1e7), method, (0.0, 1.0), step)
        assert run.success, run.message
        assert np.abs(run["q"][-1] - wanted).max() < within


@pytest.mark.slow
def test_lanes_solve_steps_by_stages_as_single_trajectories_do(closed_elastically):
    """Some lanes need it in a step, others do not."""
    problem = closed_elastically[0](1e8)
    starts = np.array([np.concatenate([problem.y0[:3], x * problem.y0[3:]]) for x in (1.0, 1e-3, 0.5, 1.1, 0.0)])
    together = integrate(problem.with_start(starts), "RKMK_RADAU_IIA3", (0.0, 0.3), 0.01)
    for start, y in zip(starts, together.y, strict=True):
        np.testing.assert_array_equal(integrate(problem.with_start(start), "RKMK_RADAU_IIA3", (0.0, 0.3), 0.01).y, y)


@pytest.mark.slow
def test_linearised_steps_are_lost_there(closed_elastically):
    posed, wanted = closed_elastically
    for stiffness, h in ((1e6, 0.01), (1e8, 0.005)):
        linearised = integrate(posed(stiffness), "RODAS4", (0.0, 1.0), h)
        assert np.abs(linearised["q"][-1] - wanted).max() > 0.2
        assert lost(linearised)
    held = integrate(posed(1e10), "TREE_VARIATIONAL_IMEX", (0.0, 1.0), 0.01)
    assert held.success
    assert np.abs(held["q"][-1] - wanted).max() < 2e-3
