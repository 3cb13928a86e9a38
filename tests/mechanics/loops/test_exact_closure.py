"""Variational steps of closed loops: positions and velocities closed at rounding, reversible, momenta balanced, energy
without slope.
"""

import numpy as np
import pytest

from integrators import integrate
from integrators.layout import COUNTERS
from integrators.methods import METHODS
from integrators.problem.parts import constrained
from liegroup.compile.dense import profile_of
from mechanics import Body, Inertia, Tree, load_mechanism
from mechanics.closed_trees import packing
from mechanics.closed_trees.layout import Reach, closures_of, reach_of
from mechanics.constraints.assembly import moved_by
from mechanics.constraints.equations import geometry
from mechanics.constraints.mobility import mass_matrix
from mechanics.errors import ModelError
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.joints import Compound, Motion, Slide, Turn
from mechanics.mechanism import Mechanism
from mechanics.systems.loops import bricard, flyball_governor, four_bar, n_four_bar, peaucellier, rssr
from mechanics.testing import geared

CRANK = {"crank_joint": 4.0}


def steps(problem, method, count, h, y=None):
    """Interpreted steps."""
    y = np.array(problem.y0 if y is None else y)
    low, counters = np.zeros_like(y), np.zeros(COUNTERS, dtype=np.int64)
    work, field_work = np.zeros(method.work_shape(problem)), np.zeros(problem.work_shape)
    for k in range(count):
        status = method.step(problem).python(
            method.function(problem).python, k * h, h, y, low, problem.table, method.kernel_coefficients(problem),
            method.kernel_options(problem), problem.parameters, problem.structure, field_work, work, counters,
        )  # fmt: skip
        assert status == 0
    return y


def blocks(problem, y):
    n, m, k = problem.sizes
    out = np.zeros(problem.parts_size)
    problem.parts.python(0.0, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out, constrained(n, m, k), n


@pytest.mark.parametrize("module", [rssr, bricard, flyball_governor])
def test_parts_are_the_gradients_of_the_energies(module):
    """D and G against complex steps of ½ vᵀM(q) v and of −Σ m g·x; their sum with the rates against the
    accelerations.
    """
    made, rng = module.mechanism(), np.random.default_rng(1)
    if module is rssr:
        made = Mechanism(geared(made.tree, rng, 0.5), made.equations.closures, made.home)
    tree = made.tree
    problem, v = constrained_problem(made), rng.normal(size=made.tree.nv)
    q = moved_by(tree, made.home, 0.3 * rng.normal(size=tree.nv))
    out, at, n = blocks(problem, np.concatenate([q, v]))
    for i in range(n):
        moved = moved_by(tree, q.astype(complex), 1e-30j * np.eye(n)[i])
        kinetic = 0.5 * v @ mass_matrix(tree, moved) @ v
        g = geometry(tree, moved)
        potential = -sum(
            b.inertia.mass * tree.gravity @ (x + R @ b.inertia.com)
            for x, R, b in zip(g.x, g.R, tree.bodies, strict=True)
        )
        assert out[at.KINETIC + i] == pytest.approx(kinetic.imag / 1e-30, abs=1e-12 * (1 + abs(kinetic.real)))
        assert out[at.GRADIENT + i] == pytest.approx(potential.imag / 1e-30, abs=1e-12 * (1 + abs(potential.real)))


def test_tree_and_body_coordinates_close_at_rounding_with_order_two():
    made, exact = four_bar.mechanism(), four_bar.exact()
    for pose, angle in ((constrained_problem, 0), (body_problem, 2)):
        problem, errors = pose(made, rates=CRANK), []
        for count in (4, 8):
            y = steps(problem, METHODS["DLA"], count, 0.08 / count)
            errors.append(abs(y[angle] - exact.angle(0.08)))
            values = problem.invariant_values(0.0, y)
            assert values[1:].max() < 1e-13
        assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("h", [0.01, 0.0025])
def test_steps_converge_however_often_the_crank_has_turned(h):
    """Rounding of an angle of a thousand turns is no reason to iterate for ever, nor to leave the loop open by more."""
    problem = body_problem(four_bar.mechanism(), rates=CRANK)
    start = problem.y0.copy()
    start[2] += 2000.0 * np.pi
    y = steps(problem, METHODS["DLA"], 4, h, start)
    assert problem.invariant_values(0.0, y)[1] < 1e-14 * start[2]


@pytest.mark.parametrize("h", [1e-5, 1e-6])
def test_steps_in_linear_time_begin_from_rest_however_small(h):
    """They move the joints by 1e-11 rad; rounding of positions moves them on by 1e-16 in every iteration."""
    problem = four_bar.mechanism().problem(projection="none")
    y = steps(problem, METHODS["TREE_VARIATIONAL"], 5, h)
    energy, gap, closing, _ = problem.invariant_values(0.0, y) - problem.invariant_values(0.0, problem.y0)
    assert abs(energy) < 1e-14 * 16.0
    assert abs(gap) < 1e-15
    assert abs(closing) < 1e-16


def test_impulses_within_their_reach_have_the_bits_of_impulses_everywhere(monkeypatch):
    problem = n_four_bar.started(5).problem(projection="none")
    closures = closures_of(problem.structure)
    m = int(closures.kept)
    assert any(reach_of(problem.structure, closures, c).end < m for c in range(m))
    monkeypatch.setattr(packing, "_profile", lambda *_: profile_of([0] * m))
    monkeypatch.setattr(packing, "_reaches", lambda *_: [Reach(0, m, 0, int(closures.path_length))] * m)
    whole = n_four_bar.started(5).problem(projection="none")
    method = METHODS["TREE_VARIATIONAL"]
    assert np.array_equal(steps(problem, method, 3, 0.01), steps(whole, method, 3, 0.01))


@pytest.mark.slow
def test_extrapolated_guesses_do_not_lead_to_another_solution():
    """Near a line of crank and rod a step has two; the wrong one costs 1300 J."""
    problem = load_mechanism("cassie", damping=False, springs=False).problem(projection="momenta")
    run = integrate(problem, "TREE_VARIATIONAL", (0.0, 0.4), step=1.25e-4)
    assert run.success
    assert run.error("energy", relative=False) < 0.05


def test_the_composition_has_order_four():
    problem, exact = constrained_problem(four_bar.mechanism(), rates=CRANK), four_bar.exact()
    errors = [abs(steps(problem, METHODS["DLA4"], count, 0.16 / count)[0] - exact.angle(0.16)) for count in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.4)


@pytest.mark.parametrize(
    "make", [four_bar.mechanism, lambda: flyball_governor.mechanism(rigid=True), bricard.mechanism]
)
def test_steps_are_reversible(make):
    made = make()
    v, _ = made.projected_velocity(made.home, np.array([3.0, 1.0, -1.0, 0.5, 2.0])[: made.tree.nv])
    problem = constrained_problem(made, v=v)
    there = steps(problem, METHODS["DLA"], 3, 0.01)
    back = steps(problem, METHODS["DLA"], 3, -0.01, there)
    assert np.abs(there - problem.y0).max() > 1e-2
    assert np.abs(back - problem.y0).max() < 1e-12


def test_a_step_back_loses_the_rounding_of_momenta_and_no_more():
    """Rates of a coupler with moments of 1 : 2500 are that rounding over the smaller one; in oblique axes they lose two
    digits more.
    """
    made = rssr.mechanism()
    problem, n = constrained_problem(made, *rssr.start()), made.tree.nq
    there = steps(problem, METHODS["DLA"], 1, 0.005)
    lost = steps(problem, METHODS["DLA"], 1, -0.005, there) - problem.y0
    assert np.abs(lost[:n]).max() < 1e-13
    assert np.abs(mass_matrix(made.tree, problem.y0[:n]) @ lost[n:]).max() < 1e-13
    assert np.abs(lost).max() < 1e-11


def test_an_overconstrained_loop_moves_on_and_its_dropped_equation_closes_itself():
    made = bricard.mechanism()
    problem = constrained_problem(made)
    y = steps(problem, METHODS["DLA"], 60, 0.01)
    assert abs(y[0]) > 0.1
    assert np.abs(made.gap(y[:5])).max() < 1e-13
    assert abs(problem.invariant_values(0.0, y)[0] - bricard.ENERGY) < 1e-2


def test_the_symmetry_of_the_governor_is_kept():
    """Nothing acts about the shaft: its momentum stays at rounding."""
    made = flyball_governor.mechanism(rigid=True)
    problem = constrained_problem(
        made, v=made.velocities(made.home, {"shaft_joint": flyball_governor.SPEED, "slider_joint": 0.0}).v
    )
    y = steps(problem, METHODS["DLA"], 20, 0.005)
    momentum = mass_matrix(made.tree, y[:4])[0] @ y[4:]
    assert momentum == pytest.approx(flyball_governor.MOMENTUM_Z, abs=1e-10)


def test_prescribed_motions_are_refused():
    lifted = Compound((Slide((0.0, 0.0, 1.0), motion=Motion((0.0, 1.0))), Turn((1.0, 0.0, 0.0))))
    tree = Tree([Body("lifted", lifted, inertia=Inertia.about_com(1.0, (0.0, 0.1, 0.0), np.eye(3)))])
    with pytest.raises(ModelError, match="prescribed motions"):
        constrained_problem(Mechanism(tree))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["DLA", "DLA4"])
def test_loops_stay_closed_and_energy_has_no_slope(method):
    """A hundred turns of the four-bar, and Peaucellier's inversor, whose point D draws its line."""
    problem = constrained_problem(four_bar.mechanism(), rates=CRANK)
    found = integrate(problem, method, (0.0, 100.0), step=0.01, save_every=10)
    assert found.greatest[:, 1].max() < 1e-14 * np.abs(found["q"]).max()
    assert found.greatest[:, 2].max() < 1e-12
    halves = [half.mean() for half in np.array_split(found.mean_since[1:, 0], 2)]
    assert abs(halves[1] - halves[0]) < 0.02 * found.error("energy", relative=False)
    drawn = integrate(
        constrained_problem(peaucellier.mechanism(), rates={"PC_joint": 1.0}), method, (0.0, 100.0), step=0.01
    )
    assert np.abs(peaucellier.line_deviation(drawn["q"])).max() < 1e-13
