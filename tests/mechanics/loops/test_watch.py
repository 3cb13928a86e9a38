"""What happened to the loops is found and named: open closures, singular positions, redundant equations that act, lost
states.
"""

import numpy as np
import pytest

from integrators import Status, integrate
from integrators.engine.run import Stretch
from mechanics import Body, Inertia, Tree
from mechanics.constraints.loops import point_on_line, revolute
from mechanics.errors import MotionWarning
from mechanics.forces import Sphere, actuator, contact
from mechanics.joints import Free, Motion, Revolute, Rheonomic, Turn
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.problems.live_watch import LiveWatch
from mechanics.problems.watch import findings, report
from mechanics.systems.loops import bricard, four_bar, n_four_bar


def test_singular_positions_are_found_when_they_are_passed():
    """The double four-bar turns through the horizontal twice a turn."""
    made, t = n_four_bar.mechanism(2), np.arange(0.0, 4.0, 0.01)
    theta = n_four_bar.angle(2, t)
    q = np.column_stack([theta, -theta, theta, -theta, theta])
    found = findings(made, t, q)
    passages = np.flatnonzero(np.diff(np.sign(np.cos(theta))) != 0)
    assert {f.kind for f in found} == {"singular"}
    assert len(found) == len(passages) > 0
    for f, k in zip(found, passages, strict=True):
        assert f.time == pytest.approx(t[k], abs=0.011)
        assert f.where.startswith("tip")


def test_an_open_closure_is_named_with_its_time():
    made = four_bar.mechanism()
    q = np.tile(made.home, (5, 1))
    q[3:, 2] += 1e-3
    (found,) = findings(made, np.arange(5.0), q)
    assert (found.kind, found.time) == ("open", 3.0)
    assert found.where.startswith("C: shift")
    assert found.value == pytest.approx(0.7e-3, rel=0.5)


def test_a_redundant_equation_that_acts_is_found():
    """Bricard's linkage pulled off its closed positions: the rank rises and it cannot move."""
    made = bricard.mechanism()
    q = np.array([made.home, made.home + 0.2 * np.array([1.0, 0.3, -0.8, 0.5, 0.2])])
    assert "locked" in {f.kind for f in findings(made, [0.0, 1.0], q)}


def test_positions_of_driven_mechanisms_are_those_of_their_time():
    """Two cranks of 0.5 m that turn as told and rods of 1 m whose ends slide along lines: these are never across them,
    though they would be with the cranks where they were at t = 0.
    """
    bar, phases = Inertia.about_com(1.0, (0.5, 0, 0), np.diag([0.01, 0.1, 0.1])), np.array([0.0, 1.0])
    line, bodies = Frame.with_axis(None, axis=(1.0, 0.0, 0.0)), []
    for k, phase in enumerate(phases):
        crank = Rheonomic((Turn((0, 0, 1), Motion((phase, 1.0))),))
        bodies += [Body(f"crank{k}", crank, inertia=bar)]
        bodies += [Body(f"rod{k}", Revolute((0, 0, 1)), f"crank{k}", (0.5, 0, 0), inertia=bar)]
    t, closures = np.linspace(0.0, 6.0, 61), [point_on_line(line, Frame(f"rod{k}", (1.0, 0, 0))) for k in (0, 1)]
    angles = t[:, None] + phases
    q = np.arcsin(-0.5 * np.sin(angles)) - angles
    made = Mechanism(Tree(bodies), closures, q[0])
    assert np.abs([made.gap(x, at) for x, at in zip(q, t, strict=True)]).max() < 1e-15
    assert np.abs(np.cos(q + phases)).min() < 0.1
    assert findings(made, t, q) == []
    watch = LiveWatch(made)
    integrate(made.problem(q[10], t=t[10]), "RKMK4", (t[10], 6.0), step=0.01, save_every=50, callback=watch)
    assert watch.found == []


def test_states_that_are_lost_end_the_search():
    made = four_bar.mechanism()
    q = np.tile(made.home, (4, 1))
    q[2:, 1] = np.nan
    (found,) = findings(made, np.arange(4.0), q)
    assert (found.kind, found.time, found.where) == ("lost", 2.0, "coupler_joint.angle")
    assert "not finite" in report([found])


def test_nothing_is_reported_of_a_good_motion():
    q = np.array([four_bar.configuration(x) for x in np.linspace(0.0, 6.0, 20)])
    found = findings(four_bar.mechanism(), np.arange(20.0), q)
    assert found == []
    assert "nothing to report" in report(found)


def test_mechanisms_that_cannot_move_are_known_before_they_run():
    """A frame of three rods is a structure: no degree of freedom."""
    made = four_bar.mechanism()
    brace = revolute(
        Frame("crank", (0.1, 0.0, 0.0)), Frame(None, tuple(0.1 * np.array([np.cos(1.0), np.sin(1.0), 0.0]))), "brace"
    )
    held = Mechanism(made.tree, [*made.equations.closures, brace], made.home)
    assert held.mobility.dof == 0
    assert "locked" in held.mobility.report()


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="one row per time"):
        findings(four_bar.mechanism(), [0.0], np.zeros(3))


# --- while it runs ----------------------------------------------------------------------------------------------------


def test_singular_positions_are_told_while_they_are_passed():
    """States are saved once a second; the passages are seen all the same, each told once for its equation."""
    made, told = n_four_bar.mechanism(2), []
    watch = LiveWatch(made, told.append)
    integrate(
        made.problem(rates={"V0_joint": -n_four_bar.SPEED}),
        "RKMK4",
        (0.0, 20.0),
        step=5e-3,
        save_every=20,
        callback=watch,
    )
    theta = n_four_bar.angle(2, np.arange(0.0, 20.0, 1e-3))
    passages = np.flatnonzero(np.diff(np.sign(np.cos(theta))) != 0) * 1e-3
    assert {f.kind for f in watch.found} == {"singular"}
    assert len(watch.found) == len(passages) > 10
    for f, time in zip(watch.found, passages, strict=True):
        assert time - 0.1 < f.time < time + 0.2
    assert 0 < len(told) < len(watch.found)
    assert all(f.where.startswith("tip") for f in told)


def test_a_loop_that_opens_is_a_warning_and_can_stop_the_run():
    made = four_bar.mechanism()
    problem = made.problem(rates={"crank_joint": four_bar.SPEED}, projection="none")
    with pytest.warns(MotionWarning, match=r"t = .* s, C: shift .: open by"):
        solution = integrate(problem, "RKMK4", (0.0, 1000.0), step=0.02, callback=LiveWatch(made, stop_on=("open",)))
    assert solution.status is Status.STOPPED
    assert solution.t[-1] < 900.0


def test_an_equation_that_locks_is_named():
    made, told = bricard.mechanism(), []
    off = made.home + 0.2 * np.array([1.0, 0.3, -0.8, 0.5, 0.2])
    y = np.concatenate([off, np.zeros(5)])[None]
    LiveWatch(made, told.append).look(
        Stretch(np.array([2.0]), y, np.array([[0, 0, 0, 0.9]]), np.array([[0.0, 0.2, 0, 1]]))
    )
    assert {f.kind for f in told} == {"open", "locked"}


def test_nothing_is_told_of_a_good_run():
    made = four_bar.mechanism()
    watch = LiveWatch(made)
    ensemble = np.stack([made.problem(rates={"crank_joint": s}).y0 for s in (3.0, 4.0, 5.0)])
    integrate(made.problem(), "RKMK4", (0.0, 5.0), step=5e-3, y0=ensemble, callback=watch)
    assert watch.found == []
    with pytest.raises(ValueError, match="expected some of open"):
        LiveWatch(made, stop_on=("lost",))


@pytest.mark.parametrize("friction", [0.0, 0.5])
def test_a_contact_that_throws_a_free_body_up_is_told_by_its_energy(friction):
    """A body at rest has no chain to fall along: at play is what it can lose by falling to the origin."""
    ball = Tree([Body("ball", Free(), inertia=Inertia.about_com(1.0, (0.0, 0.0, 0.0), 0.01 * np.eye(3)))])
    ground = contact(Sphere(Frame("ball"), 0.1), Frame(None), stiffness=1e6, friction=friction, slip_speed=0.01)
    start = Mechanism(ball, elements=[ground]).problem([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    assert not integrate(start, "RKMK4", (0.0, 0.6), 1e-4).doubts
    assert "energy" in {doubt.name for doubt in integrate(start, "RKMK4", (0.0, 0.6), 5e-3).doubts}


def test_copies_with_other_commands_pack_their_own_numbers():
    bob = Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))
    tree = Tree([Body("bob", Revolute((0, 1, 0)), inertia=bob, joint_name="pivot")])
    made = Mechanism(tree, elements=[actuator("pivot", gain=3.0, name="drive")])
    before = made.rhs([0.1], [0.0])[1]
    other = made.with_commands({"drive": 1.0})
    assert other.rhs([0.1], [0.0])[1] - before == pytest.approx(3.0, abs=1e-14)
    assert made.rhs([0.1], [0.0])[1] == before


@pytest.mark.parametrize("projection", ["momenta", "none", "positions"])
def test_loops_that_open_are_doubted_whatever_is_closed_after_a_step(projection):
    """As where a wrong rank leaves a closure out."""
    made = four_bar.mechanism()
    wrong = Mechanism(made.tree, made.equations.closures, made.home, rank=1)
    run = integrate(wrong.problem(projection=projection), "RKMK4", (0.0, 1.0), 1e-3)
    assert run.maximum("gap") > 0.05
    assert "gap" in [doubt.name for doubt in run.doubts], run.message
