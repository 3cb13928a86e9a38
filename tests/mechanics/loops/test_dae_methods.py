"""Generalised-α, Radau IIA and augmented Lagrangian on closed loops: orders, the levels they close, how they say that
they failed.
"""

from dataclasses import replace

import numpy as np
import pytest

from integrators import integrate
from integrators.layout import COUNTERS, ITERATIONS
from integrators.problem import holonomic_problem, in_velocities
from integrators.problem.parts import constrained
from integrators.status import Status
from integrators.steppers.augmented_lagrangian import augmented_lagrangian
from integrators.steppers.dae import radau, rows
from integrators.steppers.generalized_alpha import generalized_alpha
from mechanics.closed_trees.packing import Solved, pack_loops
from mechanics.constraints import distance
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.errors import ModelError
from mechanics.forces import joint_spring, motor
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.multiplier_problem import Lagrange
from mechanics.formulations.reactions import acceleration
from mechanics.joints import Motion, Revolute
from mechanics.linear import equilibrium
from mechanics.mechanism import Mechanism
from mechanics.model.frames import Frame
from mechanics.model.inertia import Inertia
from mechanics.model.tree import Body, JointData, Tree
from mechanics.systems.loops import bricard, flyball_governor, four_bar, n_four_bar, rssr, slider_crank, strandbeest_leg
from mechanics.systems.rolling import ball_on_table

METHODS = {name: build() for name, build in rows()} | {"two stages": radau("two stages", stages=2)}


@pytest.fixture(scope="module")
def linkage():
    return four_bar.mechanism()


def steps(problem, method, end, count):
    """The interpreted stepper; the last state, the status and the iterations per step."""
    h, y = end / count, np.array(problem.y0)
    low, counters = np.zeros_like(y), np.zeros(COUNTERS, dtype=np.int64)
    work, field_work = np.zeros(method.work_shape(problem)), np.zeros(problem.work_shape)
    coefficients, options = method.kernel_coefficients(problem), method.kernel_options(problem)
    for k in range(count):
        status = method.step(problem).python(
            method.function(problem).python, k * h, h, y, low, problem.table, coefficients, options, problem.parameters,
            problem.structure, field_work, work, counters,
        )  # fmt: skip
        if status:
            return y, status, counters[ITERATIONS] / (k + 1)
    return y, 0, counters[ITERATIONS] / count


def test_parts_are_the_matrices_of_the_mechanism(linkage):
    problem = constrained_problem(linkage, rates={"crank_joint": 4.0})
    q, v = np.split(problem.y0, 2)
    out = np.zeros(problem.parts_size)
    problem.parts.python(0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    n, m, _ = problem.sizes
    at, kept = constrained(n, m, m), linkage.mobility.kept
    scales = linkage.mobility.scales[kept]
    assert np.abs(out[: n * n].reshape(n, n) - mass_matrix(linkage.tree, q)).max() < 1e-15
    G = scales[:, None] * linkage.equations.matrix(q)[kept]
    assert np.abs(out[at.ROWS : at.ROWS + m * n].reshape(m, n) - G).max() < 1e-15
    bias = scales * linkage.equations.bias(geometry(linkage.tree, q, v))[kept]
    assert np.abs(out[at.BIAS : at.BIAS + m] - bias).max() < 1e-13
    assert np.abs(out[at.POSITION : at.POSITION + m]).max() < 1e-15


@pytest.mark.parametrize("name", METHODS)
def test_positions_have_their_order(name, linkage):
    problem, exact = constrained_problem(linkage, rates={"crank_joint": 4.0}), four_bar.exact()
    errors = [abs(steps(problem, METHODS[name], 0.08, count)[0][0] - exact.angle(0.08)) for count in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(METHODS[name].order, abs=0.25)


@pytest.fixture(scope="module")
def true(linkage):
    """Velocities at 0.08 s."""
    problem = constrained_problem(linkage, rates={"crank_joint": 4.0})
    return steps(problem, METHODS["RADAU_GGL"], 0.08, 64)[0][3:]


@pytest.mark.parametrize("name", METHODS)
def test_velocities_have_the_order_that_the_row_states(name, linkage, true):
    problem = constrained_problem(linkage, rates={"crank_joint": 4.0})
    errors = [np.abs(steps(problem, METHODS[name], 0.08, count)[0][3:] - true).max() for count in (4, 8)]
    order = METHODS[name].velocity_order or METHODS[name].order
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.25)


def test_the_row_of_index_3_says_that_its_velocities_have_a_lower_order():
    assert METHODS["RADAU_INDEX3"].velocity_order == 3
    assert "order 5 in positions, 3 in velocities" in repr(METHODS["RADAU_INDEX3"])
    assert {name for name, method in METHODS.items() if method.velocity_order} == {"RADAU_INDEX3"}


@pytest.mark.parametrize("name", METHODS)
def test_drives_are_asked_at_no_time_outside_of_the_run(name, linkage):
    torque = Motion.from_function(np.cos, (0.0, 0.08))
    driven = motor("crank_joint", torque)
    problem = constrained_problem(Mechanism(linkage.tree, linkage.equations.closures, linkage.home, [driven]))
    _, status, _ = steps(problem, METHODS[name], 0.08, 4)
    assert status == Status.OK


@pytest.mark.parametrize("name", METHODS)
def test_each_form_closes_the_levels_it_promises(name, linkage):
    problem = constrained_problem(linkage, rates={"crank_joint": 4.0})
    y, status, _ = steps(problem, METHODS[name], 0.08, 4)
    gap, rate = np.abs(linkage.gap(y[:3])).max(), np.abs(linkage.closing_velocity(y[:3], y[3:])).max()
    assert status == 0
    if "INDEX2" not in name:
        assert gap < 1e-14
    if "INDEX3" not in name:
        assert rate < 1e-13
    assert gap < 1e-8
    assert rate < 1e-2


def test_spherical_joints_are_stepped_on_their_group():
    """The RSSR with a ball in its coordinates: GGL keeps both levels and the spin of the coupler."""
    made = rssr.mechanism()
    problem = constrained_problem(made, *rssr.start())
    y, status, _ = steps(problem, METHODS["RADAU_GGL"], 0.02, 4)
    q, v = y[: made.tree.nq], y[made.tree.nq :]
    assert status == 0
    assert np.abs(made.gap(q)).max() < 1e-14
    assert np.abs(made.closing_velocity(q, v)).max() < 1e-12
    assert abs(rssr.spin(q, v)) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ALPHA_INDEX3", "ALPHA_STABILISED", "AUGMENTED_LAGRANGIAN", "RADAU_INDEX3", "RADAU_GGL"]
)
@pytest.mark.parametrize("pose", [constrained_problem, body_problem])
def test_compiled_runs_are_the_interpreted_bits(name, pose, linkage):
    problem = pose(linkage, rates={"crank_joint": 4.0})
    found = integrate(problem, METHODS[name], (0.0, 0.04), step=0.01)
    assert np.array_equal(found.y[-1], steps(problem, METHODS[name], 0.04, 4)[0])


@pytest.mark.parametrize("pose", [constrained_problem, body_problem])
@pytest.mark.parametrize("name", ["ALPHA_INDEX3", "AUGMENTED_LAGRANGIAN"])
def test_singular_positions_are_passed_within_a_step(name, pose):
    """Two parallelograms in a line at t = 0.71 s, lengths off by 1e-7 m: the rank drops by two and comes back."""
    problem = pose(n_four_bar.mechanism(2, (1.0 + 1e-7, 1.0 - 1e-7)), rates={"V0_joint": -n_four_bar.SPEED})
    y, status, iterations = steps(problem, METHODS[name], 0.8, 80)
    first = 0 if pose is constrained_problem else 2
    assert status == 0
    assert iterations < 7
    assert abs(y[first] - problem.y0[first] - (n_four_bar.angle(2, 0.8) - n_four_bar.angle(2, 0.0))) < 1e-3


def test_augmented_lagrangian_needs_no_independent_rows(linkage):
    """The same closure twice: its matrix stays regular, the positions are those of one closure."""
    doubled = Mechanism(
        linkage.tree, [*linkage.equations.closures, replace(linkage.equations.closures[0], name="again")], linkage.home
    )
    once, twice = (constrained_problem(made, rates={"crank_joint": 4.0}) for made in (linkage, doubled))
    solved = Solved(list(range(len(doubled.equations))), 2, doubled.mobility.scales, np.zeros((0, 0)))
    packed = pack_loops(doubled.tree, doubled.equations, solved, settings=Lagrange().settings())
    structure = np.concatenate([np.array([3, len(doubled.equations), len(doubled.equations)]), packed.structure])
    twice = replace(twice, parameters=packed.parameters, structure=structure, work_shape=packed.work_shape)
    (y, *_), (z, status, _) = (steps(problem, METHODS["AUGMENTED_LAGRANGIAN"], 0.08, 8) for problem in (once, twice))
    assert status == 0
    assert np.abs(y - z).max() < 1e-11


@pytest.mark.parametrize("mass", [1e-12, 1.0, 1e12])
def test_augmented_lagrangian_knows_no_unit_of_mass(mass):
    """Two masses on rods: with 1e9 kg velocities were off their rods by 1e-4 m/s, and the run said success."""
    problem = in_velocities(
        holonomic_problem(
            lambda t, q, v, p: p[0] * (0.5 * (v @ v) - 9.81 * (q[1] + q[3])),
            lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1.0, (q[2] - q[0]) ** 2 + (q[3] - q[1]) ** 2 - 1.0],
            [1.0, 0.0, 1.0, -1.0], [0.0, 2.0, 3.0, 2.0], [mass],
        )
    )  # fmt: skip
    y, status, iterations = steps(problem, METHODS["AUGMENTED_LAGRANGIAN"], 0.1, 10)
    assert status == 0
    assert iterations < 8
    assert np.abs(problem.invariant_values(0.1, y)[1:]).max() < 1e-14


def test_too_large_a_step_is_reported(linkage):
    problem = constrained_problem(linkage, rates={"crank_joint": 4.0})
    assert integrate(problem, radau("g", iterations=5), (0.0, 0.5), 0.5).status is Status.NOT_CONVERGED


def test_bad_settings_are_refused():
    with pytest.raises(ValueError, match="radius"):
        generalized_alpha("x", 1.0)
    with pytest.raises(ValueError, match="softness"):
        augmented_lagrangian("x", 0.0)
    with pytest.raises(ValueError, match="form"):
        radau("x", "index1")


# --- body coordinates -------------------------------------------------------------------------------------------------

SIZES = {  # velocities and rows in body coordinates
    "four-bar": (four_bar, {"crank_joint": 4.0}, (9, 8)),
    "slider-crank": (slider_crank, {"crank_joint": 6.0}, (9, 8)),
    "Strandbeest": (strandbeest_leg, {"crank_joint": -6.0}, (21, 20)),
    "RSSR": (rssr, None, (18, 16)),
    "Bricard": (bricard, {}, (30, 29)),
}


def both(name):
    module, rates, _ = SIZES[name]
    made = module.mechanism()
    state = rssr.start() if rates is None else (None, None, rates or None)
    return made, constrained_problem(made, *state), body_problem(made, *state)


@pytest.mark.parametrize("name", SIZES)
def test_body_coordinates_describe_the_same_mechanism(name):
    _, _, body = both(name)
    values = np.zeros(3)
    body.invariants.python(0.0, body.y0, body.parameters, body.structure, np.zeros(body.work_shape), values)
    assert tuple(body.sizes[:2]) == SIZES[name][2]
    assert values[0] == pytest.approx(SIZES[name][0].ENERGY, rel=5e-11)
    assert values[1:].max() < 1e-13


@pytest.mark.parametrize("name", SIZES)
def test_body_and_tree_coordinates_move_alike(name):
    """They differ by the truncation errors, of order 5."""
    made, tree, body = both(name)
    width = 3 if len(body.y0) == 6 * len(made.tree) else 7

    def difference(count):
        (q_tree, *_), (q_body, status, _) = (
            steps(problem, METHODS["RADAU_GGL"], 0.04, count) for problem in (tree, body)
        )
        assert status == 0
        at = geometry(made.tree, q_tree[: made.tree.nq])
        centers = [at.x[i] + at.R[i] @ b.inertia.com for i, b in enumerate(made.tree.bodies)]
        return max(np.abs(q_body[width * i : width * i + 2] - center[:2]).max() for i, center in enumerate(centers))

    assert np.log2(difference(2) / difference(4)) == pytest.approx(5, abs=0.6)


def test_body_coordinates_refuse_what_they_do_not_describe():
    with pytest.raises(ValueError, match="force elements"):
        body_problem(flyball_governor.mechanism())
    arm = Body("arm", Revolute((0.0, 0.0, 1.0)), inertia=Inertia.about_com(1.0, (1.0, 0.0, 0.0), np.eye(3)))
    with pytest.raises(ModelError, match="has joints with damping"):
        body_problem(Mechanism(Tree([replace(arm, data=JointData(damping=0.5))])))


def test_bodies_of_the_plane_keep_their_heights():
    """A bar between arms that turn in planes 0.3 m apart."""
    arms = [
        Body(name, Revolute((0.0, 0.0, 1.0)), None, place, inertia=Inertia.about_com(1.0, (0.5, 0.0, 0.2), np.eye(3)))
        for name, place in (("low", (0.0, 0.0, 0.0)), ("high", (1.5, 0.2, 0.3)))
    ]
    bar = distance(Frame("low", (1.0, 0.0, 0.0)), Frame("high", (0.8, 0.0, 0.0)), 1.6)
    made = Mechanism.assembled(Tree(arms, gravity=(0.0, -9.81, 0.0)), [bar], [0.1, 0.3])
    tree, body = (integrate(pose(made), "RADAU_GGL", (0.0, 0.5), 0.01) for pose in (constrained_problem, body_problem))
    assert tree.success, tree.message
    assert body.success, body.message
    assert body["gap"].max() < 1e-12
    assert body.y[-1, [2, 5]] == pytest.approx(tree.y[-1, :2], abs=1e-7)
    for one in (tree, body):
        assert one.film().positions[:, 1, 2] == pytest.approx(0.3, abs=1e-12)


def test_body_coordinates_of_a_ball_that_rolls_move_as_its_tree():
    """v̇ by differences of the bodies' velocities along the motion of the tree; rolling is no rate of a position."""
    made = ball_on_table.started()
    body, (q, v) = body_problem(made), made.start(None, None, None)
    n, m, k = body.sizes
    assert (n, m, k) == (12, 8, 6)
    assert [name.startswith("ball ball: roll") for name in body.row_names] == [True] * 2 + [False] * 6
    out, a = np.zeros(2 * n), acceleration(made, q, v, 0.0)
    body.field.python(0.0, body.y0, body.parameters, body.structure, np.zeros(body.work_shape), out)

    def velocities(s):
        at = geometry(made.tree, moved_by(made.tree, q, s * v), v + s * a)
        return np.concatenate([[*R @ V[:3], *V[3:]] for R, V in zip(at.R, at.V, strict=True)])

    rates = [(velocities(d) - velocities(-d)) / (2.0 * d) for d in (4e-4, 2e-4)]
    np.testing.assert_allclose(out[n:], (4.0 * rates[1] - rates[0]) / 3.0, atol=1e-10)
    assert np.abs(out[n:]).max() > 0.5
    for name in ("ALPHA_INDEX3", "RADAU_INDEX3", "AUGMENTED_LAGRANGIAN"):
        with pytest.raises(ValueError, match=r"2 of the 8 rows of .* are not rates of positions"):
            METHODS[name].kernel_coefficients(body)


@pytest.mark.parametrize("method", ["DLA", "DLA4", "NULL_SPACE"])
@pytest.mark.parametrize("pose", [constrained_problem, body_problem])
def test_what_rounding_makes_of_a_closure_with_a_short_lever_leads_no_iteration_away(method, pose):
    """A rod holds two bars nearly in line: its length changes by 2.5 mm/rad, and their motion is a rigid pendulum's."""
    bar, hinge = Inertia.about_com(1.0, (0.4, 0.0, 0.0), np.diag([0.01, 0.06, 0.06])), Revolute((0.0, 1.0, 0.0))
    tree = Tree([Body("a", hinge, inertia=bar), Body("b", hinge, "a", (0.8, 0.0, 0.0), inertia=bar)])
    turn = 0.01
    length = np.hypot(0.5 + 0.5 * np.cos(turn), 0.5 * np.sin(turn))
    rod = distance(Frame("a", (0.3, 0.0, 0.0)), Frame("b", (0.5, 0.0, 0.0)), length, "rod")
    problem = pose(Mechanism(tree, [rod], [0.3, turn]))
    run = integrate(problem, method, (0.0, 0.2), step=5e-4)
    assert run.success, run.message
    assert run.y[-1] == pytest.approx(integrate(problem, "RADAU_GGL", (0.0, 0.2), step=2e-3).y[-1], abs=1e-5)


@pytest.mark.parametrize("method", ["DLA", "DLA4", "DLA_TRAPEZOID", "NULL_SPACE"])
@pytest.mark.parametrize("step", [1e-2, 2e-3])
def test_a_damped_loop_comes_to_rest(method, step):
    """There forces by velocities are of the rounding of the weight that the closures carry."""
    made = four_bar.mechanism()
    elements = [joint_spring(made.tree.joint_names[0], 0.0, damping=5.0)]
    damped = Mechanism(made.tree, made.equations.closures, made.home, elements=elements)
    run = integrate(constrained_problem(damped), method, (0.0, 16.0), step)
    assert run.success, run.message
    assert abs(run["q"][-1] - equilibrium(damped, run["q"][-1]).q).max() < 1e-4
