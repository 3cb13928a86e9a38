"""The variational step of trees and mechanisms on wheels: its equations, constraints, order, symmetry, and force
elements.
"""

import numpy as np
import pytest
import scipy.linalg
from scipy.spatial.transform import Rotation

from integrators import integrate
from integrators.analysis import measured_order
from integrators.method.step_map import step_map
from integrators.methods import find
from mechanics import Body, Frame, Inertia, JointData, Tree
from mechanics.constraints.mobility import mass_matrix
from mechanics.constraints.wheel_equations import EDGE, HEIGHT, ROLL, SIDE, SPHERE, wheel_equation
from mechanics.constraints.wheel_gradients import slip, slip_gradient
from mechanics.constraints.wheels import skate, wheel
from mechanics.forces import joint_spring
from mechanics.joints import Planar, Revolute
from mechanics.mechanism import Mechanism
from mechanics.systems.rolling import ball_on_table, mobile_manipulator, wheeled_car, whipple_bicycle
from mechanics.systems.rolling import two_wheeled_pendulum as pendulum
from mechanics.variational.reference import momenta, poses

Z = np.array([0.0, 0.0, 1.0])
H = 0.02


def leaning():
    made = pendulum.mechanism()
    return made, *pendulum.state(pendulum.TwoWheeledPendulum(), 0.1, 1.0, 0.3, 0.8)


def manipulator():
    made = mobile_manipulator.mechanism()
    rates = {"left_joint": 8.0, "right_joint": 10.0, "turret_joint": 1.0, "forearm_joint": -1.0}
    return made, made.home, made.velocities(made.home, rates).v


def bicycle():
    made = whipple_bicycle.mechanism()
    v = made.velocities(made.home, {"rear wheel_joint": -4.6 / 0.3}).v
    return made, made.home, made.projected_velocity(made.home, v + 0.1)[0]


def car(**changes):
    made = wheeled_car.mechanism(wheeled_car.WheeledCar(**changes))
    return made, *wheeled_car.start(made, speed=5.0, steering=0.2)


def sleigh():
    body = Inertia.about_com(2.0, (0.3, 0.0, 0.0), 0.5 * np.eye(3))
    made = Mechanism(
        Tree([Body("sleigh", Planar(), inertia=body)]), [skate(Frame.with_axis("sleigh", axis=(0.0, 1.0, 0.0)))]
    )
    return made, made.home, made.projected_velocity(made.home, np.array([1.0, 0.0, 2.0]))[0]


def marble():
    made = ball_on_table.mechanism()
    return made, *ball_on_table.start(made)


RUNS = {
    "ball": marble,
    "pendulum": leaning,
    "manipulator": manipulator,
    "bicycle": bicycle,
    "car": car,
    "sleigh": sleigh,
}


def test_the_gradient_of_the_slip_of_a_ball():
    """A and B turn with the plane."""
    step = 1e-30
    A, B, D, T, phi_i, phi_j = np.random.default_rng(7).normal(size=(6, 3))

    def work(A, B, D):
        _, f, o = (np.array(x) for x in wheel_equation(SPHERE, tuple(A), tuple(B), tuple(D)))
        return slip(f, np.cross(o, f), np.cross(D + o, f), T, phi_i, phi_j)

    g = slip_gradient(SPHERE, tuple(A), tuple(B), tuple(D), tuple(T), tuple(phi_i), tuple(phi_j))
    for e in np.eye(3):
        assert g.by_distance @ e == pytest.approx(work(A, B, D + 1j * step * e).imag / step, abs=1e-13)
        turned = (x + 1j * step * np.cross(e, x) for x in (A, B))
        assert g.by_turn_of_plane @ e == pytest.approx(work(*turned, D).imag / step, abs=1e-13)
    assert not np.any(g.by_turn)


@pytest.mark.parametrize("kind", [ROLL, SIDE, EDGE])
def test_the_gradient_of_the_slip(kind):
    """Against complex steps, to rounding."""
    rng, step = np.random.default_rng(kind), 1e-30
    A, b = (x / np.linalg.norm(x) for x in rng.normal(size=(2, 3)))
    D, T, phi_i, phi_j = rng.normal(size=(4, 3))

    def work(A, b, D):
        _, f, o = (np.array(x) for x in wheel_equation(kind, tuple(A), tuple(0.7 * b), tuple(D)))
        return slip(f, np.cross(o, f), np.cross(D + o, f), T, phi_i, phi_j)

    g = slip_gradient(kind, tuple(A), tuple(0.7 * b), tuple(D), tuple(T), tuple(phi_i), tuple(phi_j))
    for e in np.eye(3):
        assert g.by_distance @ e == pytest.approx(work(A, b, D + 1j * step * e).imag / step, abs=1e-13)
        assert g.by_turn @ e == pytest.approx(work(A, b + 1j * step * np.cross(e, b), D).imag / step, abs=1e-13)
        assert g.by_turn_of_plane @ e == pytest.approx(
            work(A + 1j * step * np.cross(e, A), b, D).imag / step, abs=1e-13
        )


def contact_forces(made, q):
    """Of every row: force, its arm from the hub; in space."""
    found, places = [], poses(made.tree, q, 0.0)
    for row, (_, j) in zip(made.equations.equations, made.equations.bodies, strict=True):
        b = places[j][0] @ row.b / np.linalg.norm(row.b)
        level = Z - (Z @ b) * b
        contact = -np.linalg.norm(row.b) * level / np.linalg.norm(level)
        if row.kind == EDGE:
            contact = np.zeros(3)
        force = np.cross(b, Z) if row.kind == ROLL else b - (Z @ b) * Z
        hub = places[j][1] + places[j][0] @ row.q
        below = contact - (Z @ (hub + contact)) * Z if row.kind != EDGE else contact
        found.append((force / np.linalg.norm(force), below, hub, places[j][0]))
    return found


def slips(made, q0, q1):
    """C of every rolling row between two configurations, as it is written; the plane is the ground."""
    found = []
    for row, (f0, o0, hub0, R0), (f1, o1, hub1, R1) in zip(
        made.equations.equations, contact_forces(made, q0), contact_forces(made, q1), strict=True
    ):
        turn = Rotation.from_matrix(R1 @ R0.T).as_rotvec()
        if row.kind > HEIGHT:
            found.append(0.5 * ((f0 + f1) @ (hub1 - hub0) + (np.cross(o0, f0) + np.cross(o1, f1)) @ turn))
    return np.array(found)


@pytest.mark.parametrize("name", ["pendulum", "manipulator", "bicycle", "sleigh"])
def test_one_step_solves_the_discrete_equations(name):
    """−D₁L_d(q₀, q₁) − p₀ and p₁ − D₂L_d(q₀, q₁) are constraint forces of either node, no row slips, the height is
    exact.
    """
    made, q, v = RUNS[name]()
    problem, n = made.problem(q, v), made.tree.nq
    y = integrate(problem, "TREE_VARIATIONAL", (0.0, H), H).y[-1]
    start, end = momenta(made.tree, "split", 0.0, H, q, y[:n])
    for defect, node in ((start - problem.y0[n:], q), (y[n:] - end, y[:n])):
        free = scipy.linalg.null_space(made.equations.matrix(node), rcond=1e-9)
        assert np.abs(free.T @ defect).max() < 1e-11 * np.abs(problem.y0[n:]).max()
    assert np.abs(slips(made, q, y[:n])).max() < 1e-14
    assert np.abs(made.gap(y[:n])).max() < 1e-14
    assert np.abs(made.closing_velocity(y[:n], np.linalg.solve(mass_matrix(made.tree, y[:n]), y[n:]))).max() < 1e-12


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("pendulum", "TREE_VARIATIONAL"),
        ("ball", "TREE_VARIATIONAL"),
        ("manipulator", "TREE_VARIATIONAL_SUZUKI4"),
        pytest.param("car", "TREE_VARIATIONAL_SUZUKI4", marks=pytest.mark.slow),
    ],
)
def test_order(name, method):
    """Of the configurations; momenta are the same up to constraint forces."""
    made, q, v = RUNS[name]()
    problem = made.problem(q, v)
    reference = integrate(problem, "SCIPY_DOP853", (0.0, 0.4), rtol=1e-12, atol=1e-13).y[-1]
    found = measured_order(
        lambda n: integrate(problem, method, (0.0, 0.4), 0.4 / n).y[-1],
        (20, 40, 80),
        reference,
        lambda x, y: np.abs(x - y)[: made.tree.nq].max(),
        1e-9,
    )
    assert abs(found.order - find(method).order) < 0.15, found


@pytest.mark.parametrize(
    "name", ["pendulum", "manipulator", "bicycle", "ball", pytest.param("car", marks=pytest.mark.slow)]
)
def test_wheels_neither_slip_nor_leave_the_plane(name):
    made, q, v = RUNS[name]()
    solution = integrate(made.problem(q, v, projection="momenta"), "TREE_VARIATIONAL", (0.0, 2.0), 0.01)
    assert solution.success, solution.message
    assert np.nanmax(solution.greatest[:, 1]) < 2e-14
    assert np.nanmax(solution.greatest[:, 2]) < 1e-12
    assert solution.iterations / solution.steps < 4.0


@pytest.mark.parametrize("name", ["pendulum", "bicycle", "manipulator", "ball"])
def test_a_step_forward_and_a_step_back_return(name):
    """Configurations; momenta are the same up to constraint forces."""
    made, q, v = RUNS[name]()
    problem = made.problem(q, v)
    step = step_map(problem, find("TREE_VARIATIONAL"))
    back = step(step(problem.y0, H), -H)
    assert np.abs(back[: made.tree.nq] - q).max() < 1e-13


def test_a_swinging_pendulum_on_wheels_keeps_its_energy():
    """Hung below its axle and pushed: the band does not grow, and falls with h²."""
    p = pendulum.TwoWheeledPendulum(height=0.1, radius=0.3)
    made = pendulum.mechanism(p)
    problem = made.problem(*pendulum.state(p, np.pi - 0.8, 0.5, 0.2, 0.6), projection="momenta")
    bands = []
    for h in (0.02, 0.01):
        solution = integrate(problem, "TREE_VARIATIONAL", (0.0, 100.0), h, save_every=10)
        half = len(solution.t) // 2
        early, late = (
            np.ptp(np.concatenate([solution.least[s, 0], solution.greatest[s, 0]]))
            for s in (slice(1, half), slice(half, None))
        )
        assert late < 1.05 * early
        bands.append(late)
    assert bands[0] / bands[1] == pytest.approx(4.0, rel=0.1)


def train(links: int) -> Mechanism:
    """A cart on two wheels that pulls a chain of links on hinges; the last link stands on a skate."""
    rod = Inertia.about_com(1.0, (-0.1, 0.0, 0.0), 0.01 * np.eye(3))
    disk = Inertia.about_com(0.5, (0.0, 0.0, 0.0), np.diag([0.001, 0.002, 0.001]))
    bodies = [
        Body(
            "cart", Planar(), position=(0.0, 0.0, 0.1), inertia=Inertia.about_com(5.0, (0.1, 0.0, 0.0), 0.2 * np.eye(3))
        )
    ]
    bodies += [
        Body(side, Revolute((0, 1, 0)), "cart", (0.0, y, 0.0), inertia=disk)
        for side, y in (("left", 0.2), ("right", -0.2))
    ]
    for k in range(links):
        data = JointData(damping=0.05)
        bodies.append(
            Body(f"link{k}", Revolute((0, 0, 1)), f"link{k - 1}" if k else "cart", (-0.2, 0, 0), inertia=rod, data=data)
        )
    contacts = [
        wheel(Frame.with_axis(side, axis=(0, 1, 0)), 0.1, rows=("roll",), name=side) for side in ("left", "right")
    ]
    contacts += [skate(Frame.with_axis(body, axis=(0, 1, 0)), name=body) for body in ("cart", f"link{links - 1}")]
    return Mechanism(Tree(bodies, name=f"train of {links}"), contacts)


@pytest.mark.parametrize("links", [5, 80])
def test_iterations_do_not_grow_with_the_tree(links):
    made = train(links)
    v = made.projected_velocity(made.home, np.concatenate([[1.0, 0.0, 0.5], np.zeros(made.tree.nv - 3)]))[0]
    solution = integrate(made.problem(made.home, v), "TREE_VARIATIONAL", (0.0, 0.2), 0.005)
    assert solution.success, solution.message
    assert solution.iterations / solution.steps < 3.5
    assert np.nanmax(solution.greatest[:, 2]) < 1e-12


def test_compiled_and_interpreted_agree_bitwise():
    made, q, v = leaning()
    problem, method = made.problem(q, v), find("TREE_VARIATIONAL")
    compiled, interpreted = (step_map(problem, method, interpreted=form)(problem.y0, H) for form in (False, True))
    assert np.abs(compiled - interpreted).max() < 1e-16 * np.abs(compiled).max()


@pytest.mark.slow
def test_lanes_agree_bitwise_with_one_trajectory():
    made, q, v = leaning()
    problem = made.problem(q, v)
    starts = problem.y0 + np.zeros((2, 1))
    starts[1, made.tree.nq :] *= 0.5
    together = integrate(problem.with_start(starts), "TREE_VARIATIONAL", (0.0, 0.1), 0.01)
    for k in range(2):
        alone = integrate(problem.with_start(starts[k]), "TREE_VARIATIONAL", (0.0, 0.1), 0.01)
        assert np.array_equal(together.y[k], alone.y)


@pytest.mark.slow
def test_dampers_of_elements_are_those_of_joints():
    """The same damping as a property of the joint, or as an element: orders agree, and so do the limits."""
    rod = Inertia.about_com(1.0, (0.0, 0.0, -0.5), 0.1 * np.eye(3))

    def swing(own, element):
        tree = Tree([Body("rod", Revolute((0, 1, 0)), inertia=rod, data=JointData(damping=own))])
        return Mechanism(tree, elements=[joint_spring("rod_joint", 2.0, rest=0.1, damping=element)]).problem(v=[1.0])

    reference = integrate(swing(0.5, 0.0), "SCIPY_DOP853", (0.0, 1.0), rtol=1e-12, atol=1e-13).y[-1]
    for problem in (swing(0.5, 0.0), swing(0.0, 0.5)):
        errors = [
            np.abs(integrate(problem, "TREE_VARIATIONAL", (0.0, 1.0), 1.0 / n).y[-1] - reference).max()
            for n in (20, 40)
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.slow
def test_no_damper_is_too_strong_for_the_step():
    """With strong dampers the struts hardly move."""
    made, q, v = car(heave_damping=1e7)
    solution = integrate(made.problem(q, v), "TREE_VARIATIONAL", (0.0, 0.1), 0.01)
    assert solution.success, solution.message
    assert np.nanmax(solution.greatest[:, 2]) < 1e-13
    strut = made.tree.q_slice("rear strut_joint").start
    assert np.abs(solution["q"][:, strut] - q[strut]).max() < 1e-6
