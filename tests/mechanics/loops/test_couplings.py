"""Couplings of joints: exact derivatives, reduced models in closed form and by Pinocchio, closure at rounding, momenta,
bitwise lanes.
"""

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import measured_order
from integrators.layout import COUNTERS
from integrators.methods import find
from liegroup.compile.scalars import select
from mechanics import Body, Frame, Inertia, Tree, compile_model, forces, hamiltonian_rhs
from mechanics.closed_trees.field import closed
from mechanics.closed_trees.layout import WATCHED
from mechanics.closed_trees.projection import closed_invariants, closed_projection
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.couplings import coupling, gear, polynomial
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.constraints.loops import revolute
from mechanics.errors import ModelError
from mechanics.forces import compliant, joint_spring
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.closing_forces import closing_forces
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.index_one import index_one, index_one_projection
from mechanics.formulations.multiplier_problem import AugmentedLagrangian, Baumgarte, Ostermeyer, multiplier_problem
from mechanics.formulations.reactions import reactions
from mechanics.joints import (
    Compound,
    Continuous,
    Fixed,
    Free,
    Helical,
    Motion,
    Prismatic,
    Revolute,
    Rheonomic,
    Spherical,
    Turn,
    Universal,
)
from mechanics.mechanism import Mechanism
from mechanics.reference.closed_system import chain_of, coupled, momentum_rate, motion, prepare

H = 0.01
X, Y, Z = np.eye(3)
LINK = Inertia.about_com(1.2, (0.0, 0.02, -0.2), ((0.02, 0.001, 0.0), (0.001, 0.025, 0.002), (0.0, 0.002, 0.015)))
SEED = np.random.default_rng(7)
ROOT = Revolute((0.0, 1.0, 0.0))


def wheel(moment, mass=1.0):
    return Inertia.about_com(mass, (0.0, 0.0, 0.0), np.diag([moment, moment, moment]))


def three(turn, slide, other):
    return slide - 0.2 * np.sin(other) * np.cos(turn)


def machine(root=ROOT, gravity=(0.0, 0.0, -9.81)):
    """Turns, a slide and a screw on one branch and another, with a ball between them; two couplings, one of three
    joints.
    """
    bodies = [
        Body("a", root, inertia=LINK),
        Body("b", Spherical(), "a", (0.0, 0.0, -0.4), inertia=LINK),
        Body("c", Prismatic((1.0, 0.2, 0.3)), "b", (0.0, 0.1, -0.3), inertia=LINK),
        Body("d", Revolute((1.0, 0.2, 0.0)), "a", (0.0, 0.3, 0.0), inertia=LINK),
        Body("e", Helical((0.3, 0.0, 1.0), 0.1), "c", (0.1, 0.0, 0.0), inertia=LINK),
        Body("f", Revolute((0.0, 1.0, 0.3)), "d", (0.1, 0.0, -0.2), inertia=LINK),
    ]
    tree = Tree(bodies, "machine", gravity=gravity)
    closures = [coupling(["f_joint", "c_joint", "d_joint"], three), gear("e_joint", "d_joint", -2.0, 0.1)]
    guess = tree.neutral()
    guess[tree.q_slice("b_joint")] = (0.9, 0.1, 0.2, 0.3)
    guess[tree.q_slice("f_joint")], guess[tree.q_slice("d_joint")] = 0.3, 0.4
    return Mechanism.assembled(tree, closures, guess)


def moving(made):
    """A velocity that keeps the couplings."""
    v, _ = made.projected_velocity(made.home, np.random.default_rng(1).normal(size=made.tree.nv))
    return v


def run(entry, problem, y, size):
    """The interpreted kernel."""
    out = np.zeros(size)
    entry.python(0.0, np.array(y), problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def accelerations(made, q, v):
    """v̇ by the interpreted kernel with multipliers."""
    problem = multiplier_problem(made, q, v)
    return run(index_one, problem, problem.y0, 2 * made.tree.nv)[made.tree.nv :]


# --- rows -------------------------------------------------------------------------------------------------------------


def test_rows_are_the_derivatives_along_the_motion():
    """Every operation that can be played, several numbers, and freedoms of a joint of two."""
    tree = Tree([Body("a", Universal(), inertia=LINK), Body("b", Prismatic(Z), "a", X, inertia=LINK)], "two")

    def everything(x, y, z):
        root = np.sqrt(x**2 + y**2 + 0.5)
        bent = select(z < 0.0, z**3, np.exp(0.1 * z) - 1.0)
        return [root * np.sin(y) / (2.0 + np.cos(z)), bent + np.log(1.5 + x * x), abs(x - y * z)]

    equations = LoopEquations(tree, [coupling([("a_joint", 0), "b_joint", ("a_joint", 1)], everything)])
    q, v = SEED.normal(size=(2, 3))
    turn, slide = q[:2], q[2]
    assert np.allclose(equations.gap(q), everything(turn[0], slide, turn[1]), rtol=0, atol=1e-15)
    assert np.allclose(equations.matrix(q) @ v, equations.gap(q + 1e-30j * v).imag / 1e-30, rtol=0, atol=1e-14)
    assert np.allclose(
        equations.bias(geometry(tree, q, v)), (equations.matrix(q + 1e-30j * v) @ v).imag / 1e-30, rtol=0, atol=1e-13
    )
    assert np.allclose(equations.rate(geometry(tree, q, v)), equations.matrix(q) @ v, rtol=0, atol=1e-15)


def test_accelerations_are_those_of_the_model_that_pinocchio_reduces():
    pin = pytest.importorskip("pinocchio")
    from mechanics import to_pinocchio

    made = machine()
    tree, q, v = made.tree, made.home, moving(made)
    other = to_pinocchio(tree)
    data, theirs = other.model.createData(), (other.configuration(q), other.velocity(v))
    M = other.tree_matrix(pin.crba(other.model, data, theirs[0]))
    b = other.tree_velocity(pin.rnea(other.model, data, *theirs, np.zeros(other.model.nv)))
    (f, c, d, e), (qf, qd) = (
        (tree.v_slice(f"{k}_joint").start for k in "fcde"),
        (q[tree.q_slice(f"{k}_joint")][0] for k in "fd"),
    )
    G = np.zeros((2, tree.nv))
    G[0, [f, c, d]] = 0.2 * np.sin(qd) * np.sin(qf), 1.0, -0.2 * np.cos(qd) * np.cos(qf)
    G[1, [e, d]] = 1.0, 2.0
    bend = 0.2 * np.sin(qd) * np.cos(qf) * (v[f] ** 2 + v[d] ** 2) + 0.4 * np.cos(qd) * np.sin(qf) * v[f] * v[d]
    assert np.abs(G @ v).max() < 1e-14
    offset, free = np.linalg.pinv(G) @ [-bend, 0.0], np.linalg.svd(G)[2][2:].T
    reduced = offset - free @ np.linalg.solve(free.T @ M @ free, free.T @ (b + M @ offset))
    assert np.allclose(accelerations(made, q, v), reduced, rtol=0, atol=1e-12 * np.abs(reduced).max())


@pytest.mark.parametrize("moved", [False, True])
def test_velocities_do_not_depend_on_the_impulses_and_rates_do_as_the_rows_turn(moved):
    """(5), (6): p* − Gᵀη has the velocities of p*, also with a prescribed motion in between, and ṗ* less Ġᵀη."""
    root = Compound((Turn((0.0, 1.0, 0.0)), Turn((1.0, 0.0, 0.0), motion=Motion((0.1, 0.7))))) if moved else ROOT
    made, t = machine(root), 0.4
    tree, packed, q = made.tree, made.packed(), made.home
    v = made.velocities(q, {"f_joint": 0.7, "b_joint": 0.4}, t).v
    p, G = made.momentum(q, v, t), made.equations.matrix(q, t)
    turning = (made.equations.matrix(moved_by(tree, q + 0j, 1e-30j * v), t)).imag / 1e-30

    def rates(eta):
        out, y = np.zeros(2 * tree.nv), np.concatenate([q, p - G.T @ eta])
        closed.python(t, y, packed.parameters, packed.structure, np.zeros(packed.work_shape), out)
        return out[: tree.nv], out[tree.nv :]

    eta = SEED.normal(size=2)
    (s0, r0), (s1, r1) = rates(np.zeros(2)), rates(eta)
    assert np.allclose(s0, v, rtol=0, atol=1e-13)
    assert np.allclose(s1, v, rtol=0, atol=1e-12)
    assert np.allclose(r1, r0 - turning.T @ eta, rtol=0, atol=1e-11)
    if not moved:
        assert np.allclose(r0, hamiltonian_rhs(tree, q, p)[1], rtol=0, atol=1e-11)


@pytest.mark.parametrize("moved", [False, True])
def test_projections_tell_the_invariants_and_the_field_of_couplings(moved):
    """Also at a time of a prescribed motion."""
    root = Compound((Turn((0.0, 1.0, 0.0)), Turn((1.0, 0.0, 0.0), motion=Motion((0.1, 0.7))))) if moved else ROOT
    made, t = machine(root), 0.4
    packed, n = made.packed(), 2 * made.tree.nv
    start = np.concatenate([made.home, np.random.default_rng(7).normal(size=made.tree.nv)])

    def value(entry, y, size):
        out = np.zeros(size)
        entry.python(t, y, packed.parameters, packed.structure, np.zeros(packed.work_shape), out)
        return out

    end, watched, field = np.split(value(closed_projection, start, len(start) + WATCHED + n), [len(start), -n])
    assert np.allclose(watched, value(closed_invariants, end, WATCHED), rtol=1e-12, atol=1e-13)
    assert np.allclose(field, value(closed, end, n), rtol=0, atol=1e-12 * np.abs(field).max())


def test_the_kernel_is_the_readable_reference():
    made = machine()
    tree, packed, q = made.tree, made.packed(), made.home
    p, G, none = SEED.normal(size=tree.nv), made.equations.matrix(q), np.zeros(0)
    found = np.zeros(2 * tree.nv)
    closed.python(0.0, np.concatenate([q, p]), packed.parameters, packed.structure, np.zeros(packed.work_shape), found)
    chain = chain_of(tree, np.zeros((0, len(tree)), dtype=np.int64), q, found[: tree.nv])
    eta = coupled(chain, p, G)
    now = motion(chain, prepare(chain), p + G.T @ eta, none)
    v = np.concatenate(now.rates)
    turning = made.equations.matrix(moved_by(tree, q + 0j, 1e-30j * v)).imag / 1e-30
    assert np.allclose(found[: tree.nv], v, rtol=0, atol=1e-12 * np.abs(v).max())
    rates = momentum_rate(chain, now) - turning.T @ eta
    assert np.allclose(found[tree.nv :], rates, rtol=0, atol=1e-12 * np.abs(rates).max())


# --- closed forms -----------------------------------------------------------------------------------------------------


def pair(ratio, *elements):
    """Two wheels of 0.3 and 0.02 kg m² on fixed axes, q₂ = ratio · q₁."""
    tree = Tree(
        [Body("one", Revolute(Z), inertia=wheel(0.3)), Body("two", Revolute(Z), position=X, inertia=wheel(0.02))],
        "pair",
    )
    return Mechanism(tree, [gear("two_joint", "one_joint", ratio)], elements=elements)


@pytest.mark.parametrize("ratio", [-3.0, 0.4])
def test_two_geared_wheels_are_one_of_the_reduced_inertia(ratio):
    made, reduced = pair(ratio, forces.joint_spring("one_joint", 5.0)), 0.3 + ratio**2 * 0.02
    assert (made.mobility.dof, made.mobility.rank, made.mobility.redundant) == (1, 1, 0)
    q = np.array([0.2, ratio * 0.2])
    assert accelerations(made, q, np.zeros(2)) == pytest.approx([-1.0 / reduced, -ratio / reduced], rel=1e-14)
    found = reactions(made, q)
    assert [*found.values()] == pytest.approx([-ratio * 0.02 / reduced], rel=1e-12)  # the moment on wheel two
    motion = integrate(made.problem(q), "SCIPY_DOP853", (0, 3), rtol=1e-12, atol=1e-13)
    assert motion.y[-1][0] == pytest.approx(0.2 * np.cos(3 * np.sqrt(5.0 / reduced)), abs=1e-10)


def test_a_belt_to_the_ground_keeps_a_wheel_from_turning():
    """A pendulum that carries a wheel, held by a belt of ratio 1: the wheel moves without turning, its moment does not
    count.
    """
    arm = Inertia.about_com(0.5, -0.2 * Z, np.diag([0.01, 0.01, 1e-3]))
    tree = Tree(
        [Body("arm", Revolute(Y), inertia=arm), Body("wheel", Revolute(Y), "arm", -0.4 * Z, inertia=wheel(0.7, 2.0))],
        "belt",
    )
    made = Mechanism.assembled(tree, [gear("wheel_joint", "arm_joint", -1.0)], [1.0, 0.0], ["arm_joint"])
    pull = -9.81 * np.sin(1.0) * (0.5 * 0.2 + 2.0 * 0.4)
    assert accelerations(made, made.home, np.zeros(2))[0] == pytest.approx(
        pull / (0.01 + 0.5 * 0.04 + 2.0 * 0.16), rel=1e-13
    )


def cam(*elements):
    """A shaft of 0.05 kg m² lifts a follower of 2 kg by 0.1 (1 − cos θ) + 0.02 sin 2θ."""
    shaft, follower = (
        Body("shaft", Continuous(X), inertia=wheel(0.05)),
        Body("follower", Prismatic(Z), position=Y, inertia=wheel(1.0, 2.0)),
    )
    tree = Tree([shaft, follower], "cam", gravity=(0.0, 0.0, -9.81))
    lift = coupling(
        ["shaft_joint", "follower_joint"], lambda q, z: z - 0.1 * (1.0 - np.cos(q)) - 0.02 * np.sin(2.0 * q), "cam"
    )
    return Mechanism(tree, [lift], elements=elements)


def cam_acceleration(q, s):
    """(J + m f'²) q̈ + m f' f'' q̇² + m g f' = 0."""
    f1, f2 = 0.1 * np.sin(q) + 0.04 * np.cos(2 * q), 0.1 * np.cos(q) - 0.08 * np.sin(2 * q)
    return -2.0 * f1 * (f2 * s * s + 9.81) / (0.05 + 2.0 * f1 * f1), f1, f2


def cam_start():
    made, f1 = cam(), cam_acceleration(0.0, 0.0)[1]
    return made, np.array([20.0, 20.0 * f1])


def test_a_cam_accelerates_as_its_lagrangian_says():
    made = cam()
    for q in (0.3, 2.0, 40.0):
        at = made.assemble([q, 0.0], ["shaft_joint"]).q
        a, f1, f2 = cam_acceleration(q, 7.0)
        assert accelerations(made, at, np.array([7.0, 7.0 * f1])) == pytest.approx([a, f1 * a + f2 * 49.0], rel=1e-13)


@pytest.fixture(scope="module")
def cam_truth():
    """θ and θ̇ at 0.5 s, by SciPy on the reduced equation."""
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        lambda _, y: [y[1], cam_acceleration(*y)[0]], (0, 0.5), [0.0, 20.0], "DOP853", rtol=1e-13, atol=1e-13
    )
    return found.y[:, -1]


@pytest.mark.parametrize("posed", [Mechanism.problem, multiplier_problem])
def test_a_cam_moves_as_the_reduced_equation(posed, cam_truth):
    made, v = cam_start()
    y = integrate(posed(made, v=v), "SCIPY_DOP853", (0, 0.5), rtol=1e-12, atol=1e-13).y[-1]
    assert y[0] == pytest.approx(cam_truth[0], abs=1e-10)


@pytest.mark.parametrize(
    ("posed", "name"),
    [(Mechanism.problem, "TREE_VARIATIONAL"), pytest.param(constrained_problem, "DLA", marks=pytest.mark.slow)],
)
def test_order_of_the_variational_steps(posed, name, cam_truth):
    made, v = cam_start()
    problem = posed(made, v=v)
    found = measured_order(
        lambda n: integrate(problem, name, (0, 0.5), 0.5 / n).y[-1],
        (200, 400, 800),
        cam_truth,
        lambda y, z: abs(y[0] - z[0]),
        1e-10,
    )
    assert abs(found.order - 2) < 0.1, found


def test_the_impulse_of_a_step_is_the_force_of_the_cam():
    made, v = cam_start()
    problem = made.problem(v=v, projection="momenta")
    fine, coarse = (
        closing_forces(made, problem, find("TREE_VARIATIONAL"), problem.y0, h)["cam: coupling"] for h in (1e-5, 2e-5)
    )
    assert 2 * fine - coarse == pytest.approx(reactions(made, v=v)["cam: coupling"], rel=1e-5)


# --- closure, energy, momenta -----------------------------------------------------------------------------------------


def test_ten_thousand_variational_steps_keep_the_couplings_at_rounding_and_the_energy_in_its_band():
    made, v = cam_start()
    for system, start in ((machine(), None), (made, v / 4)):
        start = moving(system) if start is None else start
        solution = integrate(
            system.problem(v=start, projection="momenta"), "TREE_VARIATIONAL", (0, 10), 0.001, save_every=10
        )
        assert solution.success, solution.message
        assert np.abs(solution["gap"]).max() < 1e-13
        assert np.abs(solution["velocity_gap"]).max() < 1e-13 * max(1.0, np.abs(start).max())
        energy = solution["energy"]
        assert np.ptp(energy) < 0.02 * abs(energy[0]) + 0.1
        assert abs(energy[-500:].mean() - energy[:500].mean()) < 0.1 * np.ptp(energy)


def test_internal_couplings_do_not_touch_the_total_momenta():
    from mechanics.algebra.spatial import rotation_from_quaternion

    made = machine(Free(), gravity=(0.0, 0.0, 0.0))
    problem = made.problem(v=moving(made), projection="momenta")
    n, solution = made.tree.nq, integrate(problem, "TREE_VARIATIONAL", (0, 10), H, save_every=10)
    totals = []
    for y in solution.y:
        R, x, p = np.asarray(rotation_from_quaternion(y[3:7])), y[:3], y[n : n + 6]
        totals.append([*(R @ p[:3]), *(R @ p[3:] + np.cross(x, R @ p[:3]))])
    assert solution.success
    assert np.ptp(totals, axis=0).max() < 1e-12 * np.abs(totals).max() * 10
    assert np.abs(solution["gap"]).max() < 1e-13


def test_couplings_work_beside_closed_loops_redundant_ones_and_forces():
    """A four-bar whose crank drives a wheel, which drives it back: one equation more than needed, and a loop with two
    more.
    """
    rod = Inertia.about_com(1.0, 0.2 * X, np.diag([1e-3, 0.02, 0.02]))
    bodies = [
        Body("crank", Revolute(Z), inertia=rod),
        Body("coupler", Revolute(Z), "crank", 0.4 * X, inertia=rod),
        Body("rocker", Revolute(Z), None, X, inertia=rod),
        Body("wheel", Revolute(Z), "crank", inertia=wheel(0.05)),
        Body("idler", Revolute(Z), None, Y, inertia=wheel(0.03)),
    ]
    tree = Tree(bodies, "geared four-bar", gravity=(0.0, -9.81, 0.0))
    loop = revolute(Frame("coupler", (0.9, 0.0, 0.0)), Frame("rocker", (0.7, 0.0, 0.0)), "pin")
    gears = [
        gear("wheel_joint", "crank_joint", 2.0),
        gear("idler_joint", "wheel_joint", -0.5),
        gear("crank_joint", "idler_joint", -1.0),
    ]
    spring = forces.joint_spring("idler_joint", 3.0, rest=0.0, damping=0.0)
    made = Mechanism.assembled(
        tree, [gears[0], loop, *gears[1:]], [1.0, -0.6, 1.8, 0.0, 0.0], ["crank_joint"], [spring]
    )
    assert (made.mobility.dof, made.mobility.rank, made.mobility.redundant) == (1, 4, 4)
    assert made.equations.closures[0].name == "pin"
    solution = integrate(made.problem(rates={"crank_joint": 5.0}, projection="momenta"), "TREE_VARIATIONAL", (0, 5), H)
    assert solution.success, solution.message
    assert np.abs(solution["gap"]).max() < 1e-13
    assert np.abs(solution["velocity_gap"]).max() < 1e-12
    assert np.ptp(solution["energy"]) < 0.02 * solution["energy"][0]


def test_projections_bring_a_state_back():
    made = machine()
    q, v, n = made.home, moving(made), made.tree.nq
    off = q.copy()
    off[[made.tree.q_slice(f"{k}_joint").start for k in "cef"]] += (1e-4, -2e-4, 1e-4)
    problem = made.problem(v=v)
    y = run(closed_projection, problem, np.concatenate([off, problem.y0[n:]]), problem.y0.size)
    assert np.abs(made.gap(y[:n])).max() < 1e-13
    rival = multiplier_problem(made, v=v, projection="positions")
    y = run(index_one_projection, rival, np.concatenate([off, v + 0.01]), rival.y0.size)
    assert np.abs(made.gap(y[:n])).max() < 1e-13
    assert np.abs(made.closing_velocity(y[:n], y[n:])).max() < 1e-13


@pytest.mark.parametrize("stabilisation", [Baumgarte(20.0), Ostermeyer(20.0), AugmentedLagrangian(20.0)])
def test_stabilised_accelerations_keep_the_coupling(stabilisation):
    made, v = cam_start()
    solution = integrate(multiplier_problem(made, v=v, stabilisation=stabilisation), "RKMK4", (0, 2), 0.005)
    assert np.abs(solution["gap"]).max() < 1e-4


# --- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow  # of compiling
def test_compiled_and_lanes_are_the_interpreted_bits():
    made = machine()
    for problem, entry in (
        (made.problem(v=moving(made)), closed),
        (multiplier_problem(made, v=moving(made)), index_one),
    ):
        starts = np.tile(problem.y0, (8, 1))
        starts[:, made.tree.nq :] += 1e-3 * SEED.normal(size=(8, made.tree.nv))
        together = integrate(problem.with_start(starts), "RKMK4", (0, 0.1), H)
        for k in (0, 5):
            out = np.zeros(2 * made.tree.nv)
            entry.compiled(0.0, starts[k], problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
            assert np.array_equal(out, run(entry, problem, starts[k], out.size))
            assert np.array_equal(together.y[k], integrate(problem.with_start(starts[k]), "RKMK4", (0, 0.1), H).y)


def test_interpreted_variational_steps_are_the_compiled_bits():
    made, method, ends = machine(), find("TREE_VARIATIONAL"), []
    problem = made.problem(v=moving(made), projection="momenta")
    for path in ("python", "compiled"):
        y, counters = problem.y0.copy(), np.zeros(COUNTERS, dtype=np.int64)
        work, field_work = np.zeros(method.work_shape(problem)), np.zeros(problem.work_shape)
        for k in range(2):
            status = getattr(method.step(problem), path)(
                getattr(method.function(problem), path), k * H, H, y, 0 * y, problem.table,
                method.kernel_coefficients(problem),
                method.kernel_options(problem), problem.parameters, problem.structure, field_work, work, counters,
            )  # fmt: skip
            assert status == 0
        ends.append(y)
    assert np.array_equal(*ends)
    assert np.abs(made.gap(ends[0][: made.tree.nq])).max() < 1e-14


@pytest.mark.slow  # of compiling
def test_lanes_of_variational_steps_are_single_runs():
    made = machine()
    problem = made.problem(v=moving(made), projection="momenta")
    starts = np.tile(problem.y0, (8, 1))
    starts[:, -2:] += 1e-3 * np.arange(8)[:, None]
    together = integrate(problem.with_start(starts), "TREE_VARIATIONAL", (0, 0.1), H)
    for k in (0, 5):
        assert np.array_equal(
            together.y[k], integrate(problem.with_start(starts[k]), "TREE_VARIATIONAL", (0, 0.1), H).y
        )


def test_straight_line_code_has_the_numbers_of_the_kernel():
    made = machine()
    field, problem = compile_model(made, limit=20000).field, made.problem(v=moving(made))
    assert np.array_equal(
        run(field, problem, problem.y0, 2 * made.tree.nv), run(closed, problem, problem.y0, 2 * made.tree.nv)
    )


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: gear("f_joint", "nobody", 2.0), "unknown joint 'nobody'"),
        (lambda: gear("f_joint", "b_joint", 2.0), "Spherical with 3 degrees of freedom"),
        (lambda: gear("f_joint", ("b_joint", 1), 2.0), "couple turns"),
        (lambda: gear("f_joint", "f_joint", 2.0), "every one once"),
        (lambda: gear("f_joint", "d_joint", np.nan), "finite"),
        (lambda: gear("f_joint", "d_joint", 0.0), "not zero"),
        (lambda: polynomial("f_joint", "d_joint", []), "finite numbers"),
        (lambda: polynomial("f_joint", None, [0.3, 1.0]), r"\[0.3, 1.0\] without a second joint; name the joint"),
        (lambda: coupling([], lambda: 0.0), "one or more joints"),
        (lambda: coupling(["f_joint"], lambda q: []), "returned nothing"),
        (lambda: coupling(["f_joint", "d_joint"], lambda q, r: q), "does not depend on joint 'd_joint'"),
        (lambda: coupling(["f_joint"], lambda q: [q, 1.0]), "depends on no joint"),
        (lambda: coupling(["f_joint"], lambda q: q - np.inf), "not finite"),
        (lambda: coupling(["f_joint"], lambda q: q if q > 0 else 2 * q), "select"),
    ],
)
def test_what_cannot_be_coupled_is_refused_by_name(made, message):
    with pytest.raises((ModelError, TypeError), match=message):
        LoopEquations(machine().tree, [made()])


@pytest.mark.parametrize(
    ("joint", "says"),
    [
        (Rheonomic((Turn(Z, Motion((0.0, 2.0))),)), "'one_joint', which moves as told and has no coordinate; give"),
        (Fixed(), "'one_joint', which is fixed; name one of two_joint"),
    ],
)
def test_joints_without_coordinates_are_called_what_they_are(joint, says):
    tree = Tree([Body("one", joint, inertia=wheel(0.3)), Body("two", Revolute(Z), position=X, inertia=wheel(0.02))])
    with pytest.raises(ModelError, match=f"closure 'gears': couples joint {says}"):
        Mechanism(tree, [gear("two_joint", "one_joint", 2.0, name="gears")])
    with pytest.raises(ModelError, match=f"acts on joint {says}"):
        Mechanism(tree, elements=[joint_spring("one_joint", 1.0)]).problem()


def test_turns_that_do_not_count_cannot_be_geared():
    tree = Tree(
        [Body("one", Continuous(Z), inertia=wheel(0.3)), Body("two", Revolute(Z), position=X, inertia=wheel(0.02))],
        "pair",
    )
    with pytest.raises(ModelError, match=r"whole turn of joint 'one_joint'.*make the joint Revolute"):
        Mechanism(tree, [gear("two_joint", "one_joint", 2.0)])


def test_inconsistent_starts_and_formulations_without_joints_are_refused():
    made = pair(2.0)
    with pytest.raises(ModelError, match=r"open by 0\.1: gear two_joint–one_joint"):
        made.problem([0.0, 0.1])
    with pytest.raises(ModelError, match="opens gear"):
        made.problem(v=[1.0, 1.0])
    with pytest.raises(ModelError, match="given as a function"):
        body_problem(pair(2.0))
    with pytest.raises(ModelError, match="springs on joints"):
        compliant(made.equations.closures[0], 10.0)
    with pytest.raises(ModelError, match="stays open"):
        Mechanism.assembled(made.tree, [coupling(["one_joint"], lambda q: q * q + 1.0)])
