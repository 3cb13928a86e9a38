"""What hangs at rest at zero: forces that balance leave rounding, which is no motion in small units."""

import numpy as np
import pytest

from integrators import Problem, integrate, suggest_step, traced
from liegroup import rn
from mechanics import (
    Body,
    Inertia,
    JointData,
    Mechanism,
    ModelWarning,
    Tree,
    equilibrium,
    load_mechanism,
    load_model,
    velocity_problem,
)
from mechanics.elastic import Dampers, Network, Springs
from mechanics.forces import joint_spring, motor
from mechanics.formulations import constrained_problem, multiplier_problem
from mechanics.joints import Motion, Revolute, Spherical
from mechanics.systems.loops import four_bar

HINGE, BAR = Revolute((0, 1, 0)), Inertia.about_com(1.0, (0, 0, -0.3), 0.01 * np.eye(3))


def arm(damping=0.0):
    data = JointData(damping=damping)
    upper = Body("a", HINGE, inertia=BAR, data=data)
    return Tree([upper, Body("b", HINGE, "a", (0, 0, -0.5), inertia=BAR, data=data)])


FORMS = {
    "tree": lambda q: arm().problem(q),
    "mechanism": lambda q: Mechanism(arm()).problem(q),
    "velocities": lambda q: velocity_problem(arm(), q),
    "multipliers": lambda q: multiplier_problem(Mechanism(arm()), q),
    "constrained": lambda q: constrained_problem(Mechanism(arm()), q),
}
METHODS = [None, "GAUSS8", "MIDPOINT", "RKMK_GAUSS2", "RKMK_RADAU_IIA3", "BDF2", "RKMK_TRBDF2", "RODAS4", "RKMK4"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_at_rest_stays_there(form, method):
    for start, step in ((0.0, 0.1), (0.0, 0.01), (1e-9, 0.005)):
        run = integrate(FORMS[form]([start, 0.0]), method, (0.0, 2.0), None if method is None else step)
        assert run.success, (step, run.message)
        assert run.steps <= 1000
        assert np.abs(run["q"]).max() < 2.0 * start + 1e-14


@pytest.mark.parametrize("method", [m for m in METHODS if m])
@pytest.mark.parametrize("form", ["mechanism", "multipliers"])
def test_what_dampers_bring_to_rest_does(form, method):
    bodies = Mechanism(arm(1.0))
    problem = bodies.problem([0.5, -0.3]) if form == "mechanism" else multiplier_problem(bodies, [0.5, -0.3])
    run = integrate(problem, method, (0.0, 100.0), 0.01, save_every=1000)
    assert run.success, run.message
    assert np.abs(run["q"][-1]).max() < 1e-14


@pytest.mark.parametrize(
    "drive", [
        lambda t: np.sin(t), lambda t: 0.1 * np.sin(20.0 * t), lambda t: np.sin(t) ** 2, lambda t: 0.1 * t * t,
        lambda t: t**3, lambda t: 1.0 + np.tanh(4.0 * (t - 2.0)), lambda t: np.cos(t),
    ],
)  # fmt: skip
def test_a_drive_that_begins_at_zero_sets_it_in_motion(drive):
    """The first step was 5e-9 s of the sine: two billion for ten seconds."""
    problem = Mechanism(arm(), elements=[motor("a_joint")]).problem().with_inputs({"a_joint": traced(drive)})
    assert 1e-3 < suggest_step(problem) < 0.2
    runs = [integrate(problem, (0.0, 3.0)), integrate(problem, "GAUSS8", (0.0, 3.0), 0.02)]
    true = integrate(problem, "RKMK_DOP853", (0.0, 3.0), rtol=1e-12, atol=1e-14).y[-1]
    for run in runs:
        assert run.success, run.message
        assert run.y[-1] == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("end", [5.0, 30.0])
def test_it_leaves_an_unstable_rest_however_long_the_run(end):
    problem = Mechanism(arm(), elements=[motor("a_joint")]).problem([np.pi, np.pi])
    run = integrate(problem.with_inputs({"a_joint": traced(lambda t: np.sin(t))}), (0.0, end))
    assert run.success, run.message
    assert np.abs(run["q"] - np.pi).max() > 1.0


@pytest.mark.parametrize("seed", range(8))
def test_an_equilibrium_of_any_tree_is_no_motion(seed):
    """Forces that balance there leave rounding, which is no jump of the field."""
    generator = np.random.default_rng(seed)
    bodies = []
    for i in range(3):
        joint = Revolute(tuple(unit(generator))) if i < 2 else Spherical()
        m, place = generator.uniform(0.2, 3.0), (f"b{i - 1}", tuple(0.3 * generator.normal(size=3))) if i else ()
        inertia = Inertia.about_com(m, tuple(0.2 * generator.normal(size=3)), 0.04 * m * np.eye(3))
        bodies.append(Body(f"b{i}", joint, *place, inertia=inertia))
    tree = Tree(bodies)
    rest = equilibrium(tree, stable=True).q
    for problem in (tree.problem(rest), Mechanism(tree).problem(rest)):
        for method, step in (("GAUSS8", 0.01), ("MIDPOINT", 0.01), (None, None)):
            run = integrate(problem, method, (0.0, 1.0), step)
            assert run.success, run.message
            assert np.abs(run["q"][-1] - rest).max() < 1e-7


def test_positions_are_components_of_the_velocity():
    with pytest.raises(ValueError, match="positions: 3, expected at most the dimension 2"):
        Problem(rn(2), [0.0, 0.0], lambda t, y: y, positions=3)
    with pytest.raises(ValueError, match="positions"):
        Problem(rn(2), [0.0, 0.0], lambda t, y: y, positions=-1)


def unit(generator):
    axis = generator.normal(size=3)
    return axis / np.linalg.norm(axis)


@pytest.mark.parametrize("gravity", [0.0, -9.81])
@pytest.mark.parametrize("elements", ["", 'stiffness="3e4" springref="1"', 'damping="3"'])
@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "TREE_VARIATIONAL_SUZUKI4"])
def test_a_locked_loop_carries_its_loads_at_rest(method, elements, gravity):
    """Impulses that closures carry are what rounding is measured by, not momenta, which are rounding here."""
    locked = load_mechanism(
        f"""<mujoco><compiler angle="radian"/><option gravity="0 0 {gravity}"/>
        <default><geom contype="0" conaffinity="0"/></default><worldbody>
        <body><joint axis="0 1 0" {elements}/><geom size="0.05" pos="0.3 0.1 0.2" mass="1"/>
        <body name="b" pos="0.5 0.1 0.3"><joint axis="0.2 1 0.1"/><geom size="0.05" pos="0.2 0 -0.3" mass="1"/></body>
        </body></worldbody><equality><connect body1="b" anchor="0.1 -0.2 0.2"/></equality></mujoco>"""
    )
    run = integrate(locked.problem(), method, (0.0, 2.0), 0.002)
    assert run.success, run.message
    assert np.abs(run["q"]).max() < 1e-13


@pytest.mark.parametrize("method", [None, "TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "RKMK4", "MIDPOINT"])
def test_a_spring_that_is_not_strained_holds_a_body_at_rest(method):
    """Its frames are not those of the axes: energies are roundings of turns, which rise and fall."""
    held = load_mechanism(
        """<mujoco><option gravity="0 0 0"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <body quat="0.1257 -0.1321 0.6404 0.1049"><joint type="ball" stiffness="10" damping="0.1"/>
        <geom size="0.05" pos="0.1 0.2 -0.1" mass="1"/></body></worldbody></mujoco>"""
    )
    run = integrate(held.problem(), method, (0.0, 1.0), None if method is None else 0.005)
    assert run.success, run.message
    assert np.abs(run["q"] - run["q"][0]).max() < 1e-14


@pytest.mark.parametrize("method", [None, "AVI", "RKMK4", "MIDPOINT"])
@pytest.mark.parametrize("damped", [False, True])
def test_a_network_that_is_not_strained_stays_at_rest(damped, method):
    places = np.random.default_rng(1).uniform(-1.0, 1.0, (6, 3))
    pairs = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 3]]
    elements = [Springs(pairs, 50.0), *([Dampers(pairs, 0.3)] if damped else [])]
    network = Network(places, 0.3, elements, gravity=(0.0, 0.0, 0.0), drag=0.0 if damped else 0.3)
    run = integrate(network.problem(), method, (0.0, 1.0), None if method is None else 0.005)
    assert run.success, run.message
    assert np.abs(run["x"] - run["x"][0]).max() < 1e-14


@pytest.mark.parametrize("method", [None, "RKMK4"])
@pytest.mark.parametrize("rate", [1e-12, 1e-11])
def test_loops_that_are_driven_from_almost_rest_slip_beside_the_motion(rate, method):
    """What rounding leaves of the closures is measured by what the drive brings, not by the start."""
    linkage = four_bar.mechanism()
    flat = Tree(linkage.tree.bodies, gravity=(0.0, 0.0, 0.0))
    driven = Mechanism(flat, linkage.equations.closures, linkage.home, [motor("crank_joint", Motion((1.0,)))])
    crank = driven.problem(rates={"crank_joint": rate})
    run = integrate(crank, method, (0.0, 1.0), None if method is None else 1e-3)
    assert run.success, run.message
    assert run.maximum("velocity_gap") > 1e-6 * rate  # the limit at the start


def test_a_robot_on_springs_and_dampers_comes_to_rest_and_stays_there():
    """Its equations were "not solved" as soon as it stood still: shifts of its links are rounded by their places."""
    with pytest.warns(ModelWarning, match="mimic"):
        robot = load_model("panda")
    held = Mechanism(robot, elements=[joint_spring(joint, 3000.0, damping=100.0) for joint in robot.joint_names])
    for method, step in (("TREE_VARIATIONAL", 0.002), ("TREE_VARIATIONAL_IMEX", 0.002)):
        run = integrate(held.problem(robot.neutral()), method, (0.0, 6.0), step)
        assert run.success, run.message
        assert np.abs(run["p"][-1]).max() < 1e-14


def test_a_rope_that_drag_has_brought_to_rest_is_judged_by_its_motion():
    """Momenta of asynchronous steps at rest depend on the step; that was all that the last steps did."""
    places, pairs = [[0.1 * k, 0, 0] for k in range(6)], [[k, k + 1] for k in range(5)]
    rope = Network(places, 0.05, [Springs(pairs, 500.0)], fixed=[0, 5], drag=2.0)
    run = integrate(rope.problem(), "AVI", (0.0, 40.0), rope.step())
    assert run.success, run.message
