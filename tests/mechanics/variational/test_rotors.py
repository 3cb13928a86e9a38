"""What travels one way has a rate, which fixed steps of a variational method make slower: rotors, gears, wheels."""

import numpy as np
import pytest

from integrators import integrate
from integrators.steppers.tree_variational import tree_variational
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.constraints import gear
from mechanics.forces import motor, servo
from mechanics.joints import Continuous, Cylindrical, Motion, Planar, Prismatic, Revolute, Rheonomic, Turn
from mechanics.systems import SYSTEMS

AXIS = (0.0, 0.0, 1.0)
ROTORS = {
    "revolute": (Revolute(AXIS), (20.0,)),
    "continuous": (Continuous(AXIS), (20.0,)),
    "planar": (Planar(), (0.0, 0.0, 20.0)),
    "cylindrical": (Cylindrical(), (20.0, 0.0)),
}
"""Joints, and velocities of 20 rad/s about their axis."""


def disk(joint):
    return Tree([Body("disk", joint, inertia=Inertia.about_com(1.0, (0, 0, 0), 0.02 * np.eye(3)))], gravity=(0, 0, 0))


def rotor(kind):
    joint, v = ROTORS[kind]
    tree = disk(joint)
    return tree.problem(tree.neutral(), v)


def geared():
    """Pinion, rack and worm without forces: the rack goes 0.5 m/s, the worm turns with 187.5 rad/s."""
    size = {"pinion": (0.5, 2e-3), "rack": (2.0, 1e-3), "worm": (0.2, 5e-5)}
    made = {name: Inertia.about_com(mass, (0, 0, 0), tensor * np.eye(3)) for name, (mass, tensor) in size.items()}
    kinds = {"pinion": Revolute((0, 1, 0)), "rack": Prismatic((1, 0, 0)), "worm": Revolute((1, 0, 0))}
    tree = Tree([Body(name, kinds[name], inertia=made[name]) for name in size], gravity=(0, 0, 0))
    couplings = [gear("rack_joint", "pinion_joint", 0.08), gear("worm_joint", "pinion_joint", 30.0)]
    return Mechanism(tree, couplings).problem(v=[6.25, 0.5, 187.5], projection="momenta")


def names(run):
    assert run.finished
    return [doubt.name for doubt in run.doubts]


@pytest.mark.parametrize("turn", [0.05, 0.1, 0.2])
def test_a_rotor_turns_slower_by_a_third_of_the_square_of_its_turn(turn):
    """L_d = I (2 tan(x/2))²/(2 h) has the momentum I 2 tan(x/2)/cos²(x/2)/h: x = h ω (1 − (h ω)²/3 + …)."""
    run = integrate(rotor("revolute"), "TREE_VARIATIONAL", (0.0, 100 * turn / 20.0), turn / 20.0)
    assert 1.0 - run["q"][-1, 0] / (100 * turn) == pytest.approx(turn**2 / 3.0, rel=0.05)
    assert names(run) == []


@pytest.mark.parametrize("name", ["exp", "splitexp"])
def test_exponential_maps_turn_a_rotor_exactly(name):
    run = integrate(rotor("revolute"), tree_variational(map=name), (0.0, 3.0), 0.03)
    assert run["q"][-1, 0] == pytest.approx(60.0, rel=1e-13)
    assert names(run) == []


@pytest.mark.parametrize("kind", ROTORS)
def test_a_rotor_that_is_late_by_a_tenth_is_a_doubt(kind):
    problem = rotor(kind)
    assert names(integrate(problem, "TREE_VARIATIONAL", (0.0, 3.0), 0.03)) == ["accuracy"]
    assert names(integrate(problem, "MIDPOINT", (0.0, 3.0), 0.03)) == []


def test_the_beginning_is_asked_of_longer_runs_and_of_few_saved_states():
    for every in (1, 50):
        run = integrate(rotor("revolute"), "TREE_VARIATIONAL", (0.0, 60.0), 0.03, save_every=every)
        assert names(run) == ["accuracy"]


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "TREE_VARIATIONAL_SUZUKI4"])
@pytest.mark.parametrize("step", [1e-3, 3e-3, 5e-3, 0.01, 0.02])
def test_a_geared_drive_that_is_late_is_a_doubt(method, step):
    run = integrate(geared(), method, (0.0, 3.0), step)
    late = 1.0 - run["q"][-1, 1] / 1.5
    assert late < 0.04 or names(run) in (["accuracy"], ["division"])
    assert late > 0.01 or run.success


def test_divided_steps_of_compositions_are_counted_once():
    run = integrate(geared(), "TREE_VARIATIONAL_SUZUKI4", (0.0, 1.0), 0.02)
    assert run.attributes["divided_steps"] == run.steps == 50
    (doubt,) = run.doubts
    assert doubt.name == "division"
    assert doubt.value == 1.0


@pytest.mark.parametrize(
    ("element", "inputs"),
    [
        (motor("disk_joint"), {"disk_joint": lambda t: 0.0 * t}),
        (motor("disk_joint"), {"disk_joint": lambda t, y: -0.01 * y[1]}),
        (servo("disk_joint", stiffness=1e-6, damping=0.0), {"disk_joint.target": lambda t, y: y[0]}),
    ],
    ids=["of time", "kicks", "held"],
)
@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_SUZUKI4"])
def test_steps_that_are_tried_for_their_inputs_are_counted_once(method, element, inputs):
    """Inputs that read the state take every step twice, once to see where it leads: half of them are not all."""
    problem = Mechanism(disk(Revolute(AXIS)), elements=[element]).problem([0.0], [100.0]).with_inputs(inputs)
    run = integrate(problem, method, (0.0, 0.2), 0.02)
    assert run.attributes["divided_steps"] == run.steps == 10
    undriven = disk(Revolute(AXIS)).problem([0.0], [100.0])
    parts = integrate(undriven, method, (0.0, 0.2), 0.02).attributes["substeps"]
    assert run.attributes["substeps"] == parts
    (doubt,) = run.doubts
    assert (doubt.name, doubt.value) == ("division", 1.0)


def test_a_swing_that_begins_is_no_travel():
    """The first three steps of a rod from rest go one way, and differ from their halves by a tenth of it."""
    rod = SYSTEMS["rubber-rod"].problem("hamiltonian")
    assert names(integrate(rod, "MIDPOINT", (0.0, 3e-5), 1e-5)) == []


def test_trajectories_in_lanes_have_the_doubts_that_they_have_alone():
    """Two of eight rotors divide all of their steps; those beside them do not."""
    rates = np.linspace(2.0, 120.0, 8)
    together = disk(Revolute(AXIS)).problem(np.zeros((8, 1)), rates[:, None])
    run = integrate(together, "TREE_VARIATIONAL", (0.0, 1.0), 0.01)
    problems = [disk(Revolute(AXIS)).problem([0.0], [rate]) for rate in rates]
    alone = [integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 0.01) for problem in problems]
    told = [[doubt.name for doubt in run.doubts if doubt.trajectory == k] for k in range(8)]
    assert told == [names(one) for one in alone]
    assert told == [[]] * 3 + [["accuracy"]] * 3 + [["division"]] * 2
    assert run.attributes["divided_steps"] == sum(one.attributes.get("divided_steps", 0) for one in alone) == 200
    assert "200 of 800 steps were divided" in run.message


def test_a_rotor_on_a_moved_base_is_asked_though_no_energy_is_watched():
    """A gyrocompass: its spin of 200 rad/s is late by 15 % at 4 ms, and its axis goes elsewhere by 1.4 rad of 1.8."""
    earth = Rheonomic((Turn((np.cos(0.5), 0.0, np.sin(0.5)), Motion((0.0, 0.2))),))
    inertia = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.018, 0.01, 0.01]))
    bodies = [
        Body("earth", earth, inertia=Inertia.zero()),
        Body("ring", Revolute(AXIS), "earth", inertia=Inertia.zero()),
        Body("rotor", Revolute((1, 0, 0)), "ring", inertia=inertia),
    ]
    problem = Tree(bodies, gravity=(0, 0, 0)).problem([0.9, 0.0], [0.0, 200.0])
    assert names(integrate(problem, "TREE_VARIATIONAL", (0.0, 5.0), 0.004)) == ["accuracy"]
    assert names(integrate(problem, "TREE_VARIATIONAL", (0.0, 5.0), 0.01)) == ["division"]
    assert names(integrate(problem, "MIDPOINT", (0.0, 5.0), 0.004)) == []
