"""Force elements in the variational step: its equations against their definition, order, structure, stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mechanics
from integrators import integrate
from integrators.analysis.symplecticity import cotangent_form
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.step_derivatives.linearised import linearised_step
from liegroup.table import bracket
from mechanics import Body, Frame, Inertia, JointData, Tree
from mechanics.errors import ModelError
from mechanics.forces import Sphere, Tendon, bushing, contact, joint_spring, joint_stop, servo, spring_damper
from mechanics.forces.element import BodyState, OnBodies
from mechanics.joints import Free, Motion, Prismatic, Revolute
from mechanics.mechanism import Mechanism
from mechanics.systems.loops import walking_mechanism
from mechanics.variational import reference

H = 0.01
METHODS = {"trapezoidal": find("TREE_VARIATIONAL"), "midpoint": find("TREE_VARIATIONAL_IMEX")}
INERTIA = Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.3, 0.4, 0.5]))
HULL, DOOR, TIP = Frame("hull", (0.2, 0.1, -0.3)), Frame("door", (0.4, 0.0, 0.1)), Frame("slider", (0.1, 0.1, 0.2))
ARM, GROUND = Frame("arm", (0.1, -0.2, 0.1)), Frame.with_axis(None, (0.1, 0.2, -0.4), (0.2, -0.1, 1.0))
BALL = Sphere(HULL, 5.0)
FLOOR = Frame.with_axis("door", (0.3, 0.0, -4.0), (0.1, 0.1, 1.0))


def tree(gravity=(0.0, 0.0, -9.81)):
    """A free body that carries an arm of a turn and a slide, and a second body on the base."""
    g = np.random.default_rng(0)
    return Tree(
        [
            Body("hull", Free(), inertia=INERTIA),
            Body("arm", Revolute((0.3, 1.0, -0.2)), "hull", g.normal(size=3), inertia=INERTIA),
            Body("slider", Prismatic((1.0, 0.5, 0.2)), "arm", g.normal(size=3), inertia=INERTIA),
            Body("door", Revolute((0.0, 0.2, 1.0)), None, g.normal(size=3), inertia=INERTIA),
        ],
        gravity=gravity,
    )


def posed(made, seed=1):
    g = np.random.default_rng(seed)
    return made.problem(made.tree.random_configuration(g), g.normal(size=made.tree.nv))


def loaded(*elements):
    return Mechanism(tree(), elements=elements)


# --- the equations ----------------------------------------------------------------------------------------------------


def place(made, q, frame):
    """Where the origin of a frame is."""
    if frame.body is None:
        return np.asarray(frame.position)
    R, x = reference.poses(made.tree, q, 0.0)[made.tree.body_index(frame.body)]
    return x + R @ np.asarray(frame.position)


def length(made, q, first, second):
    d = place(made, q, second) - place(made, q, first)
    return np.sqrt(d @ d)


def along_number(made, q0, q1, value, law, rule):
    """The impulses F h/2 ∂φ of a law of one number φ at both nodes."""
    a, b = value(q0), value(q1)
    ends = (a, b) if rule == "trapezoidal" else ((a + b) / 2, (a + b) / 2)
    return [
        H / 2 * law(x, (b - a) / H) * reference.derivative(value, made.tree, q, 1e-30j)
        for x, q in zip(ends, (q0, q1), strict=True)
    ]


SPANS = {"across": (HULL, DOOR), "to the base": (HULL, GROUND), "neighbours": (HULL, ARM), "along one": (DOOR, GROUND)}


@pytest.mark.parametrize("rule", METHODS)
@pytest.mark.parametrize("span", SPANS)
@pytest.mark.parametrize(("stiffness", "damping"), [(50.0, 3.0), (50.0, 3e5), (50.0, 0.0)])
def test_a_spring_and_damper_meets_the_discrete_equations(span, rule, stiffness, damping):
    """p₀ + (h/2) F₀ = −D₁ L_d and p₁ − (h/2) F₁ = D₂ L_d, whatever the element joins."""
    first, second = SPANS[span]
    made = loaded(spring_damper(first, second, stiffness, damping=damping, length=0.5))
    problem, n = posed(made), made.tree.nq
    y = step_map(problem, METHODS[rule], interpreted=True)(problem.y0, H)
    q0, q1 = problem.y0[:n], y[:n]
    start, end = along_number(
        made, q0, q1, lambda q: length(made, q, first, second) - 0.5, lambda x, s: -stiffness * x - damping * s, rule
    )
    p0, p1 = reference.momenta(made.tree, "split", 0.0, H, q0, q1)
    # what is left of the iteration is rounding of the positions, times the impedance
    tolerance = 1e-12 * np.abs(problem.y0[n:]).max() + 4e-16 * damping
    assert np.abs(p0 - (problem.y0[n:] + start)).max() < tolerance
    assert np.abs(p1 - (y[n:] - end)).max() < tolerance


@pytest.mark.parametrize("rule", METHODS)
def test_a_joint_spring_and_a_servo_meet_them(rule):
    target = Motion((0.1, 0.4, 2.0))
    made = loaded(
        joint_spring("slider_joint", 20.0, rest=0.3, damping=700.0),
        servo("arm_joint", stiffness=30.0, damping=5.0, target=target),
    )
    problem, n = posed(made), made.tree.nq
    y = step_map(problem, METHODS[rule], interpreted=True)(problem.y0, H)
    q0, q1, impulses = problem.y0[:n], y[:n], []
    x, s = tree().q_slice("arm_joint").start, tree().q_slice("slider_joint").start
    for node in (0, 1):
        t = H / 2 if rule == "midpoint" else node * H
        a, b = ((q0 + q1) / 2 if rule == "midpoint" else (q0, q1)[node])[[x, s]]
        rates = (q1 - q0)[[x, s]] / H
        force = np.zeros(made.tree.nv)
        force[tree().v_slice("arm_joint")] = -30.0 * (a - (0.1 + 0.4 * t + 2.0 * t**2)) - 5.0 * (
            rates[0] - (0.4 + 4.0 * t)
        )
        force[tree().v_slice("slider_joint")] = -20.0 * (b - 0.3) - 700.0 * rates[1]
        impulses.append(H / 2 * force)
    p0, p1 = reference.momenta(made.tree, "split", 0.0, H, q0, q1)
    assert np.abs(p0 - (problem.y0[n:] + impulses[0])).max() < 1e-12 * np.abs(p0).max()
    assert np.abs(p1 - (y[n:] - impulses[1])).max() < 1e-12 * np.abs(p0).max()


COORDS = {"across": {"slider_joint": 0.8, "door_joint": -1.7}, "geared": {"door_joint": 3.0}}


@pytest.mark.parametrize("rule", METHODS)
@pytest.mark.parametrize("over", COORDS)
@pytest.mark.parametrize(("stiffness", "damping"), [(50.0, 3.0), (50.0, 3e5)])
def test_a_spring_and_damper_along_a_tendon_meets_them(over, rule, stiffness, damping):
    made = loaded(joint_spring(Tendon(COORDS[over]), stiffness, rest=0.3, damping=damping))
    problem, n = posed(made), made.tree.nq
    y = step_map(problem, METHODS[rule], interpreted=True)(problem.y0, H)
    q0, q1 = problem.y0[:n], y[:n]

    def value(q):
        return sum(a * q[made.tree.q_slice(name)][0] for name, a in COORDS[over].items()) - 0.3

    start, end = along_number(made, q0, q1, value, lambda x, s: -stiffness * x - damping * s, rule)
    p0, p1 = reference.momenta(made.tree, "split", 0.0, H, q0, q1)
    tolerance = 1e-12 * np.abs(problem.y0[n:]).max() + 4e-15 * damping
    assert np.abs(p0 - (problem.y0[n:] + start)).max() < tolerance
    assert np.abs(p1 - (y[n:] - end)).max() < tolerance


@pytest.mark.parametrize("plane", [GROUND, FLOOR], ids=["on the ground", "on a moving body"])
def test_a_contact_meets_them(plane):
    """The law at either node with the poses there and the twist cay⁻¹(f)/h of the motion over the step."""
    (element,) = contact(BALL, plane, stiffness=20.0, damping=30.0, law="kelvin_voigt", friction=0.5, slip_speed=0.1)
    made = loaded([element])
    problem, n = posed(made), made.tree.nq
    y = step_map(problem, METHODS["trapezoidal"], interpreted=True)(problem.y0, H)
    q0, q1 = problem.y0[:n], y[:n]

    def states(q, node):
        found = []
        for frame in (element.first, element.second):
            R, x, v, w = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3)
            if frame.body is not None:
                k = made.tree.body_index(frame.body)
                (R0, x0), (R1, x1) = (reference.poses(made.tree, z, 0.0)[k] for z in (q0, q1))
                w = reference.gibbs_vector(R0.T @ R1)
                d = R0.T @ (x1 - x0)
                v, w, (R, x) = (d - np.cross(w, d) / 2) / H, w / H, ((R0, x0), (R1, x1))[node]
            found.append(BodyState(tuple(R.ravel()), tuple(x), tuple(v), tuple(w)))
        return found

    def impulse(q, node):
        first, second = states(q, node)
        numbers = element.numbers_of(element.first, element.second)
        force, arm_i, arm_j, _, _ = type(element).law(numbers, first, second)
        assert np.linalg.norm(force) > 1.0

        def work(q):
            total = 0.0
            for frame, state, arm, sign in (
                (element.first, first, arm_i, 1.0),
                (element.second, second, arm_j, -1.0),
            ):
                if frame.body is not None:
                    point = Frame(frame.body, np.reshape(state.R, (3, 3)).T @ np.array(arm))
                    total = total + sign * (place(made, q, point) @ np.array(force))
            return total

        return H / 2 * reference.derivative(work, made.tree, q, 1e-30j)

    p0, p1 = reference.momenta(made.tree, "split", 0.0, H, q0, q1)
    assert np.abs(p0 - (problem.y0[n:] + impulse(q0, 0))).max() < 1e-12 * np.abs(p0).max()
    assert np.abs(p1 - (y[n:] - impulse(q1, 1))).max() < 1e-12 * np.abs(p0).max()


def test_dampers_along_a_joint_and_of_the_joint_agree_to_the_cube_of_its_turn():
    """The joint's own damping goes with 2 tan(Δq/2), that of an element with Δq."""
    rod = Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))

    def stepped(own, element):
        tree = Tree([Body("rod", Revolute((0, 1, 0)), inertia=rod, data=JointData(damping=own))])
        problem = Mechanism(tree, elements=[joint_spring("rod_joint", 2.0, rest=0.1, damping=element)]).problem(v=[1.0])
        return step_map(problem, METHODS["trapezoidal"], interpreted=True)(problem.y0, H)

    assert np.abs(stepped(50.0, 0.0) - stepped(0.0, 50.0)).max() < 50.0 * 0.003**3


# --- order and structure ----------------------------------------------------------------------------------------------


def stiff_reference(problem, end):
    return solve_ivp(
        lambda t, y: problem.evaluate(problem.field, t, y, len(y)), (0, end), problem.y0, method="Radau",
        rtol=1e-11, atol=1e-13,
    ).y[:, -1]  # fmt: skip


def chain(n=4):
    link = Inertia.about_com(
        1.0, (0.02, 0.03, 0.15), [[0.02, 0.001, 0.002], [0.001, 0.025, 0.0015], [0.002, 0.0015, 0.015]]
    )
    bodies = [
        Body(
            f"link{i}",
            Revolute(tuple(np.eye(3)[i % 3])),
            f"link{i - 1}" if i else None,
            position=(0.1, 0.05, 0.3),
            inertia=link,
        )
        for i in range(n)
    ]
    return Tree(bodies, gravity=(-9.81, 0.0, 0.0))


ENDS = Frame("link3", (0.1, 0.0, 0.0)), Frame("link0", (0.3, 0.2, 0.1))
WALL = Frame(None, (1.0, 0.0, 0.2))
DAMPED = {
    "joints": [joint_spring(f"link{k}_joint", 40.0, rest=0.2 * k, damping=1e3) for k in range(4)],
    "drives": [
        servo(f"link{k}_joint", stiffness=1e4, damping=1e3, target=Motion((0.1,), ((0.2, 3.0, 0.1 * k),)))
        for k in range(4)
    ],
    "across": [spring_damper(*ENDS, 200.0, damping=50.0, length=0.4)],
    "to the base": [spring_damper(ENDS[0], WALL, 200.0, damping=1e3, length=0.4)],
    "bushing": [bushing(*ENDS, 20.0, damping=5.0)],
}


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.parametrize("name", DAMPED)
def test_strong_dampers_keep_the_order_and_limit_no_step(name, method):
    made = Mechanism(chain(), elements=DAMPED[name])
    problem, n = made.problem([0.1, 0.3, 0.2, -0.2], [0.0, 0.6, 0.0, 0.0]), 4
    wanted = stiff_reference(problem, 0.4)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        run = integrate(problem, method, (0.0, 0.4), h)
        assert run.finished, run.message
        errors.append(np.abs(run.y[-1] - wanted)[:n].max())
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(2.0, abs=0.3)
    assert errors[-1] < 1e-4


@pytest.mark.slow
def test_a_drive_of_a_robot_with_a_strong_derivative_gain_at_a_millisecond():
    robot = mechanics.load_model("ur5", damping=False)
    names = [body.joint_name for body in robot.bodies if body.joint.n_v == 1]
    for kp, kd in ((100.0, 15.0), (1e4, 1e3)):
        drives = [
            servo(name, stiffness=kp, damping=kd, target=Motion((0.1 * k, 0.3), ((0.2, 3.0, 0.0),)))
            for k, name in enumerate(names)
        ]
        problem = Mechanism(robot, elements=drives).problem(0.1 * np.arange(6), np.zeros(6))
        run = integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 1e-3)
        assert run.success, run.message
        assert np.abs(run.y[-1] - stiff_reference(problem, 1.0))[:6].max() < 5e-6


@pytest.mark.slow
def test_the_walker_walks_on_hard_ground():
    """Its feet touch down in between; digits behind the fifth depend on where in a step that happens."""
    fine, coarse = (
        integrate(walking_mechanism.problem(projection="momenta"), "TREE_VARIATIONAL", (0.0, 1.3), h)
        for h in (5e-5, 5e-4)
    )
    assert fine.finished
    assert coarse.finished
    assert abs(fine["q"][-1, 0] + 0.497123) < 1e-5
    assert np.abs(fine["q"][-1] - coarse["q"][-1]).max() < 5e-5


def swinging(stiffness):
    """The chain with a relaxed spring on its end, at rest."""
    plain = Mechanism(chain())
    q = np.array([0.1, 0.3, 0.2, -0.2])
    relaxed = float(length(plain, q, ENDS[0], WALL))
    return Mechanism(chain(), elements=[spring_damper(ENDS[0], WALL, stiffness, damping=0.0, length=relaxed)]), q


@pytest.mark.parametrize("stiffness", [1e5, 1e7, 1e9, 1e11])
def test_springs_by_the_midpoint_rule_keep_the_energy_whatever_their_stiffness(stiffness):
    """h ω = 10 … 1e4; the band is that of the chain held by a rod, and does not grow."""
    made, q = swinging(stiffness)
    run = integrate(made.problem(q), "TREE_VARIATIONAL_IMEX", (0.0, 10.0), 5e-3)
    assert run.finished, run.message
    energy = run.invariants[:, 0]
    half = len(energy) // 2
    first, second = (np.abs(part - energy[0]).max() for part in (energy[:half], energy[half:]))
    assert max(first, second) < 2e-3
    assert second < 1.5 * first
    assert run.iterations < 4 * run.steps


def test_the_midpoint_rule_of_a_linear_spring_turns_by_its_known_angle():
    """x and p of a wheel on a spring turn by 2 atan(h ω/2) a step, and the energy is exact."""
    rate = 1e4
    wheel = Tree([Body("wheel", Revolute((0, 0, 1)), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))])
    made = Mechanism(wheel, elements=[joint_spring("wheel_joint", rate**2)])
    run = integrate(made.problem([1e-5], [0.0]), "TREE_VARIATIONAL_IMEX", (0.0, 1.0), H)
    angle = 2 * np.arctan(H * rate / 2) * np.arange(len(run.t))
    assert np.abs(run["q"][:, 0] - 1e-5 * np.cos(angle)).max() < 1e-8 * 1e-5
    assert np.ptp(run.invariants[:, 0]) < 1e-9 * run.invariants[0, 0]


@pytest.mark.parametrize("rule", METHODS)
def test_without_dampers_the_step_is_symplectic(rule):
    made = loaded(
        bushing(HULL, DOOR, 1e3),
        joint_spring("arm_joint", 1e4),
        spring_damper(TIP, GROUND, 1e4, damping=0.0, length=0.5),
    )
    problem = posed(made)
    n, h = made.tree.nv, 2e-3

    def form(p):
        def lie(a, b):
            out = np.zeros(n)
            bracket(made.tree.group.table, np.array(a), np.array(b), out)
            return out

        return cotangent_form(np.array(p), lie)

    found = linearised_step(problem, METHODS[rule], problem.y0, h)
    A, before, after = found.A, form(problem.y0[-n:]), form(found.y[-n:])
    assert np.abs(A.T @ after @ A - before).max() < 1e-10 * np.abs(A).max() ** 2 * np.abs(after).max()


@pytest.mark.parametrize("rule", METHODS)
def test_with_dampers_the_step_is_symmetric(rule):
    made = loaded(bushing(HULL, DOOR, 20.0, damping=5.0), joint_spring("arm_joint", 30.0, rest=0.1, damping=2.0))
    problem = posed(made)
    there = step_map(problem, METHODS[rule], interpreted=True)(problem.y0, H)
    back = step_map(problem, METHODS[rule], H, interpreted=True)(there, -H)
    assert np.abs(back - problem.y0).max() < 1e-13 * np.abs(problem.y0).max()


@pytest.mark.parametrize("rule", METHODS)
def test_momenta_are_exact_with_springs_and_dampers_between_bodies(rule):
    tree = Tree([Body("a", Free(), inertia=INERTIA), Body("b", Free(), inertia=INERTIA)], gravity=(0.0, 0.0, 0.0))
    first, second = Frame("a", (0.1, 0.0, 0.0)), Frame("b", (-0.1, 0.0, 0.2))
    made = Mechanism(tree, elements=[bushing(first, second, 1e3, damping=40.0)])
    q = tree.neutral()
    q[7:10] = 0.2, 0.0, -0.2
    problem = made.problem(q, [0.5, 0.0, 0.3, 0.0, 1.0, 2.0, 0.5, 0.1, 0.3, 0.2, 1.0, 2.0])
    run = integrate(problem, METHODS[rule], (0.0, 5.0), H)
    total = np.array([total_momentum(tree, y[: tree.nq], y[tree.nq :]) for y in run.y])
    assert np.abs(total - total[0]).max() < 1e-12 * np.abs(total).max()


def total_momentum(tree, q, p):
    """Linear, and angular about the origin, of free bodies."""
    total = np.zeros(6)
    for k, (R, x) in enumerate(reference.poses(tree, q, 0.0)):
        linear, angular = R @ p[6 * k : 6 * k + 3], R @ p[6 * k + 3 : 6 * k + 6]
        total += np.concatenate([linear, np.cross(x, linear) + angular])
    return total


# --- forms of the kernel ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("rule", METHODS)
def test_compiled_and_interpreted_agree(rule):
    made = loaded(
        bushing(HULL, DOOR, 20.0, damping=5.0), joint_spring("arm_joint", 30.0, rest=0.1, damping=2.0),
        spring_damper(TIP, GROUND, 5.0, damping=40.0),
        contact(BALL, FLOOR, stiffness=20.0, damping=0.5, law="kelvin_voigt", friction=0.5),
        contact(BALL, Sphere(DOOR, 4.0), stiffness=2.0, law="soft", width=1.0, damping=0.1, friction=0.5),
    )  # fmt: skip
    problem = posed(made)
    compiled, interpreted = (step_map(problem, METHODS[rule], interpreted=form)(problem.y0, H) for form in (0, 1))
    assert np.abs(compiled - interpreted).max() < 1e-14 * np.abs(compiled).max()


@pytest.mark.filterwarnings("ignore:.*beyond its")
@pytest.mark.slow
def test_lanes_agree_bitwise_with_one_trajectory():
    touching = contact(BALL, Sphere(DOOR, 4.0), stiffness=2.0, law="soft", width=1.0, damping=0.1, friction=0.5)
    stop = joint_stop("slider_joint", lower=0.0, upper=0.1, stiffness=30.0, damping=0.1)
    made = loaded(
        bushing(HULL, DOOR, 20.0, damping=5.0), joint_spring("arm_joint", 30.0, rest=0.1, damping=2.0), touching, stop
    )
    problem = posed(made)
    starts = problem.y0 + np.zeros((2, 1))
    starts[1, made.tree.nq :] *= 0.5
    together = integrate(problem.with_start(starts), "TREE_VARIATIONAL", (0.0, 0.1), 0.01)
    for k in range(2):
        alone = integrate(problem.with_start(starts[k]), "TREE_VARIATIONAL", (0.0, 0.1), 0.01)
        assert np.array_equal(together.y[k], alone.y)


# --- what is said -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "named"),
    [
        (joint_spring("link1_joint", 1e6), "JointSpring on joint 'link1_joint'"),
        (spring_damper(*ENDS, 1e6, length=0.4), "Compliant 'length' between 'link3' and 'link0'"),
        (contact(ENDS[0], Frame(None, (0.0, 0.0, 5.0)), stiffness=1e6), "Contact of 'link3' on the base"),
    ],
    ids=["joint", "points", "contact"],
)
def test_the_element_too_stiff_for_the_step_is_named_beforehand(element, named):
    made = Mechanism(chain(), elements=[joint_spring("link0_joint", 1.0), element])
    q = np.array([0.1, 0.3, 0.2, -0.2])
    (doubt,) = METHODS["trapezoidal"].doubts(made.problem(q), made.problem(q).y0, 0.1)
    assert doubt.name == "turn_per_step"
    assert named in doubt.says
    rate = made.fastest_spring(q).rate
    assert f"{2.0 / rate:.3g} s" in doubt.remedy
    assert not METHODS["trapezoidal"].doubts(made.problem(q), made.problem(q).y0, 1.99 / rate)
    implicit = METHODS["midpoint"].doubts(made.problem(q), made.problem(q).y0, 0.1)
    assert bool(implicit) == isinstance(element[0], OnBodies)


@pytest.mark.parametrize("steps", [10, 10_000])
def test_steps_that_cannot_hold_a_spring_begin_with_a_warning(steps):
    spring = joint_spring("ball_joint", 1e6)
    ball = Tree([Body("ball", Prismatic((0, 0, 1)), inertia=INERTIA)], gravity=(0.0, 0.0, 0.0))
    made = Mechanism(ball, elements=[spring])
    for factor in (2.000001, 10.0):  # at the limit, and where the numbers end
        step = factor / made.fastest_spring([0.0]).rate
        with pytest.warns(RuntimeWarning, match=f"before {steps} steps.*JointSpring on joint 'ball_joint'"):
            run = integrate(made.problem([1e-3]), "TREE_VARIATIONAL", (0.0, steps * step), step)
        assert "JointSpring on joint 'ball_joint'" in run.message
    assert run.finished == (steps == 10)
    assert run.finished or "beyond what numbers hold" in run.message


def test_a_stiff_contact_that_is_touched_later_is_named_in_a_driven_system():
    """A drive puts its own energy in, so that no energy tells; the contact lasts for less than a step."""
    ball = Tree([Body("ball", Prismatic((0, 0, 1)), inertia=INERTIA)])
    ground = contact(Sphere(Frame("ball"), 0.1), Frame(None), stiffness=1e8)
    drive = servo("ball_joint", stiffness=1.0, damping=0.0, target=Motion((0.0,), ((0.1, 1.0, 0.0),)))
    run = integrate(Mechanism(ball, elements=[ground, drive]).problem([1.0]), "TREE_VARIATIONAL", (0.0, 1.0), 1e-3)
    assert "turn_per_step" in {doubt.name for doubt in run.doubts}
    assert "Contact of 'ball' on the base" in run.message


def test_negative_stiffness_is_refused_and_named():
    with pytest.raises(ModelError, match="stiffness"):
        joint_spring("a", -1.0)
    with pytest.raises(ModelError, match="stiffness"):
        bushing(HULL, DOOR, -1.0)
    with pytest.raises(ModelError, match="stiffness"):
        servo("a", stiffness=-1.0, damping=0.0, target=Motion((0.0,)))


@pytest.mark.parametrize("elements", [(), (joint_spring("arm_joint", 0.0, damping=2.0),)], ids=["free", "damped"])
@pytest.mark.parametrize("gravity", [-9.81, 0.0], ids=["fall", "drift"])
def test_bodies_that_fall_without_turning_are_no_trouble(elements, gravity):
    """Their turns are roundings, and no iteration makes corrections of roundings small against them."""
    hull, arm = Body("hull", Free(), inertia=INERTIA), Body("arm", Revolute((0.3, 1, -0.2)), "hull", inertia=INERTIA)
    made = Mechanism(Tree([hull, arm], gravity=(0.0, 0.0, gravity)), elements=elements)
    start = made.problem(made.tree.neutral(), [0.0, 0.0, 30.0, 0.0, 0.0, 0.0, 0.0])
    solution = integrate(start, "TREE_VARIATIONAL", (0.0, 1.0), step=H)
    assert solution.finished
    assert not solution.doubts
    assert abs(solution.y[-1][2] - (30.0 + gravity / 2)) < 1e-12
    assert np.abs(solution.y[-1][[0, 1, 7]]).max() < 1e-13


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX", "TREE_VARIATIONAL_SUZUKI4"])
@pytest.mark.parametrize("joint", [Prismatic((1.0, 0.0, 0.0)), Revolute((0.0, 0.0, 1.0))], ids=["slide", "hinge"])
def test_what_a_damper_brings_to_rest_goes_on_where_numbers_end(method, joint):
    """p' = -c p from 1 to below 1e-308, where numbers have no digits: the place stays 1 / c."""
    tree = Tree([Body("a", joint, inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))], gravity=(0.0, 0.0, 0.0))
    made = Mechanism(tree, elements=[joint_spring("a_joint", 0.0, damping=20.0)])
    run = integrate(made.problem([0.0], [1.0]), method, (0.0, 60.0), 0.01)
    assert run.success, run.message
    assert abs(run.y[-1, 1]) < 1e-300
    np.testing.assert_allclose(run.y[-1, 0], 1.0 / 20.0, rtol=1e-12)


@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "TREE_VARIATIONAL_IMEX"])
@pytest.mark.parametrize("begin", [0.2, 0.1 - 9.81e-4], ids=["dropped", "at rest"])
def test_what_comes_to_rest_on_a_contact_goes_on(method, begin):
    """A ball on the ground, pressed in by m g / k: beside its vanishing momentum the rounding of that force is much."""
    tree = Tree([Body("a", Prismatic((0.0, 0.0, 1.0)), inertia=Inertia.about_com(1.0, (0, 0, 0), 0.01 * np.eye(3)))])
    made = Mechanism(tree, elements=[contact(Sphere(Frame("a"), 0.1), Frame(None), stiffness=1e4, damping=0.6)])
    run = integrate(made.problem([begin], [0.0]), method, (0.0, 20.0), 2e-3)
    assert run.finished, run.message
    np.testing.assert_allclose(run.y[-1, 0], 0.1 - 9.81e-4, rtol=1e-12)
