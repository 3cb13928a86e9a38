"""Closures given as functions: exact derivatives, the same motion as the closing joints they imitate, gaps at rounding,
bitwise lanes.
"""

import numpy as np
import pytest
import scipy.linalg

from integrators import integrate
from integrators.analysis import measured_order
from integrators.methods import find
from liegroup.compile.scalars import select
from mechanics import Body, Frame, Inertia, Tree
from mechanics.algebra.spatial import skew
from mechanics.constraints.given_equations import rates_of_equation, screws_of_equation
from mechanics.constraints.loops import distance, holonomic, universal
from mechanics.errors import ModelError
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.closing_forces import closing_forces
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.multiplier_problem import Baumgarte, multiplier_problem
from mechanics.joints import Revolute, Spherical
from mechanics.mechanism import Mechanism

H = 0.01
LINK = Inertia.about_com(1.2, (0.0, 0.02, -0.2), ((0.02, 0.001, 0.0), (0.001, 0.025, 0.002), (0.0, 0.002, 0.015)))
HALF = Inertia.about_com(0.7, (0.01, 0.0, -0.15), np.diag([0.01, 0.012, 0.004]))
TIP = (0.0, 0.0, -0.4)


def everything(x, R):
    """Every operation that can be played."""
    length = np.sqrt(x[0] ** 2 + x[1] ** 2 + 0.5)
    bent = select(x[2] < 0.0, x[2] ** 3, np.exp(0.1 * x[2]) - 1.0)
    return [
        length * R[0, 1] - np.sin(x[1]) / (2.0 + np.cos(R[2, 2])),
        bent + np.log(1.5 + R[1, 0]) + np.tanh(x[1]) + 1.0 + np.arcsinh(x[1]) * np.log1p(R[0, 1] ** 2) + np.cosh(x[0]),
        abs(R[0, 0] - x[1]),
    ]


def bowl(x, R):
    """The tip on a bowl."""
    return [x[2] + 0.75 - 0.3 * (x[0] ** 2 + 0.5 * x[1] ** 2) - 0.05 * (np.exp(x[0]) - 1.0)]


def moved(pose, twist, s):
    """g exp(s V^)."""
    hat = np.zeros((4, 4), dtype=complex)
    hat[:3, :3], hat[:3, 3] = skew(twist[3:]) * s, twist[:3] * s
    step = scipy.linalg.expm(hat)
    return (pose[0].reshape(3, 3) @ step[:3, :3]).ravel(), pose[1] + pose[0].reshape(3, 3) @ step[:3, 3]


def arm(closures):
    """Two links on ball joints and a third on a hinge, with closures on the last."""
    bodies = [
        Body("upper", Spherical(), inertia=LINK),
        Body("middle", Revolute((0.0, 1.0, 0.0)), "upper", TIP, inertia=HALF),
        Body("lower", Spherical(), "middle", (0.0, 0.0, -0.3), inertia=HALF),
    ]
    tree = Tree(bodies, "arm", gravity=(0.0, 0.0, -9.81))
    guess = tree.neutral()
    guess[:4] = (0.95, 0.2, 0.1, 0.05)
    guess[4] = 0.6
    return Mechanism.assembled(tree, closures, guess)


def problem_of(made, posed=Mechanism.problem, **options):
    rng = np.random.default_rng(2)
    v, _ = made.projected_velocity(made.home, rng.normal(size=made.tree.nv))
    return posed(made, made.home, v, **options)


def with_bowl():
    return arm([holonomic(Frame(None), Frame("lower", (0.0, 0.0, -0.3)), bowl, "bowl")])


@pytest.mark.parametrize("number", range(3))
def test_screws_and_rates_are_the_derivatives_along_twists(number):
    rng = np.random.default_rng(number)
    frames = [Frame(b, rng.normal(size=3), scipy.linalg.expm(skew(rng.normal(size=3)))) for b in ("a", "b")]
    row = holonomic(*frames, everything).equations[number]
    poses = [(scipy.linalg.expm(skew(rng.normal(size=3))).ravel(), rng.normal(size=3)) for _ in range(2)]
    V_i, V_j = rng.normal(size=(2, 6))
    ahead = [moved(g, V, 1e-30j) for g, V in zip(poses, (V_i, V_j), strict=True)]
    phi, W_i, W_j = screws_of_equation(row, *poses[0], *poses[1])
    E, G = (g[0].reshape(3, 3) @ f.rotation for g, f in zip(poses, frames, strict=True))
    P, Q = (g[1] + g[0].reshape(3, 3) @ f.position for g, f in zip(poses, frames, strict=True))
    assert phi == pytest.approx(float(everything(E.T @ (Q - P), E.T @ G)[number]), abs=1e-14)
    later, moved_i, moved_j = screws_of_equation(row, *ahead[0], *ahead[1])
    assert np.dot(W_i, V_i) + np.dot(W_j, V_j) == pytest.approx(later.imag / 1e-30, abs=1e-13)
    N_i, N_j = rates_of_equation(row, *poses[0], *poses[1], V_i[:3], V_i[3:], V_j[:3], V_j[3:])
    second = (np.dot(moved_i, V_i) + np.dot(moved_j, V_j)).imag / 1e-30
    assert np.dot(N_i, V_i) + np.dot(N_j, V_j) == pytest.approx(second, abs=1e-12)


PAIRS = {
    "distance": (
        lambda first, second: distance(first, second, 0.9),
        lambda first, second: holonomic(first, second, lambda x, R: [np.sqrt(x @ x) - 0.9]),
    ),
    "universal": (
        universal,
        lambda first, second: holonomic(first, second, lambda x, R: [*x, R[2, 0]]),
    ),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_a_function_that_says_what_a_closing_joint_says_gives_its_motion(pair):
    """Equations of motion with multipliers of both kinds, and variational steps with their multipliers, to rounding."""
    ends = Frame(None, (0.3, 0.1, -0.8), scipy.linalg.expm(skew((0.3, 0.2, -0.4)))), Frame("lower", (0.0, 0.02, -0.3))
    joint, own = (arm([make(*ends)]) for make in PAIRS[pair])
    own = Mechanism(own.tree, own.equations.closures, joint.home)
    for posed, method in ((Mechanism.problem, "RKMK4"), (multiplier_problem, "RKMK4"), (constrained_problem, "DLA")):
        a, b = (integrate(problem_of(m, posed), method, (0, 0.2), H).y[-1] for m in (joint, own))
        assert np.abs(a - b).max() < 1e-11, posed
    problems = [problem_of(m, projection="momenta") for m in (joint, own)]
    a, b = (integrate(p, "TREE_VARIATIONAL", (0, 0.5), H).y[-1] for p in problems)
    assert np.abs(a - b).max() < 1e-11
    forces = [
        closing_forces(m, p, find("TREE_VARIATIONAL"), p.y0, 1e-3) for m, p in zip((joint, own), problems, strict=True)
    ]
    assert np.allclose([*forces[0].values()], [*forces[1].values()], rtol=1e-8, atol=1e-8)


def test_the_gap_of_a_surface_stays_at_rounding_and_the_energy_in_its_band():
    problem = problem_of(with_bowl(), projection="momenta")
    for method in ("TREE_VARIATIONAL", "TREE_VARIATIONAL_SUZUKI4"):
        solution = integrate(problem, method, (0, 20), H, save_every=10)
        assert solution.success, solution.message
        assert np.abs(solution["gap"]).max() < 1e-13
        assert np.abs(solution["velocity_gap"]).max() < 1e-12
        assert solution.error("energy") < 0.02


@pytest.mark.parametrize(
    ("name", "counts"), [("TREE_VARIATIONAL", (20, 40, 80)), ("TREE_VARIATIONAL_SUZUKI4", (10, 20, 40))]
)
def test_order(name, counts):
    made = with_bowl()
    problem, n_q = problem_of(made, projection="momenta"), made.tree.nq
    reference = integrate(problem, "SCIPY_DOP853", (0, 0.2), rtol=1e-12, atol=1e-13).y[-1]
    found = measured_order(
        lambda n: integrate(problem, name, (0, 0.2), 0.2 / n).y[-1],
        counts,
        reference,
        lambda y, z: np.abs((y - z)[:n_q]).max(),
        1e-10,
    )
    assert abs(found.order - find(name).order) < 0.15, found


@pytest.mark.slow  # of compiling
@pytest.mark.parametrize("posed", [Mechanism.problem, multiplier_problem])
def test_lanes_are_the_same_bits_as_single_runs(posed):
    problem = problem_of(with_bowl(), posed)
    method = "TREE_VARIATIONAL" if posed is Mechanism.problem else "RKMK4"
    starts = np.tile(problem.y0, (8, 1))
    starts[:, -3:] += 1e-3 * np.arange(8)[:, None]
    together = integrate(problem.with_start(starts), method, (0, 0.1), H)
    for k in (0, 5):
        assert np.array_equal(together.y[k], integrate(problem.with_start(starts[k]), method, (0, 0.1), H).y)


def test_stabilised_accelerations_pull_back_to_the_surface():
    solution = integrate(problem_of(with_bowl(), multiplier_problem, stabilisation=Baumgarte(20.0)), "RKMK4", (0, 2), H)
    assert np.abs(solution["gap"]).max() < 1e-3


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, R: [], "returned nothing"),
        (lambda x, R: [1.0], "does not depend on the pose"),
        (lambda x, R: [x[0] if x[0] > 0 else x[1]], "select"),
    ],
)
def test_functions_that_cannot_serve_are_refused(function, message):
    with pytest.raises((ModelError, TypeError), match=message):
        holonomic(Frame(None), Frame("lower"), function)


def test_natural_coordinates_refuse_functions():
    with pytest.raises(ModelError, match="given as a function"):
        body_problem(with_bowl())
