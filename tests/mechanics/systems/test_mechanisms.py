"""Mechanisms with loops: their freedoms, their published energies, and their motions against what is known of them."""

import numpy as np
import pytest

from integrators import integrate
from mechanics.closed_trees.projection import closed_invariants
from mechanics.constraints.mobility import mass_matrix
from mechanics.systems import MECHANISMS
from mechanics.systems.loops import (
    andrews_squeezer,
    bricard,
    flyball_governor,
    four_bar,
    n_four_bar,
    peaucellier,
    rssr,
    slider_crank,
    strandbeest_leg,
)

FREEDOM = {  # degrees of freedom, rank, equations that change with the position and are redundant
    "four-bar": (four_bar.mechanism, 1, 2, 0),
    "2-four-bar": (lambda: n_four_bar.mechanism(2), 1, 4, 0),
    "10-four-bar": (lambda: n_four_bar.mechanism(10), 1, 20, 0),
    "slider-crank": (slider_crank.mechanism, 1, 2, 0),
    "squeezer": (andrews_squeezer.mechanism, 1, 6, 0),
    "Bricard": (bricard.mechanism, 1, 4, 1),
    "RSSR": (rssr.mechanism, 2, 3, 0),
    "governor": (flyball_governor.mechanism, 4, 0, 0),
    "rigid governor": (lambda: flyball_governor.mechanism(rigid=True), 2, 2, 0),
    "Strandbeest": (strandbeest_leg.mechanism, 1, 6, 0),
    "Peaucellier": (peaucellier.mechanism, 1, 6, 0),
}
SPRING_START = 0.033 * andrews_squeezer.BETA
ENERGIES = {  # energy of the start and the decimals it is known to
    "four-bar": (four_bar.ENERGY, 13),
    "slider-crank": (slider_crank.ENERGY, 11),
    "squeezer": (andrews_squeezer.ENERGY + SPRING_START, 11),
    "bricard": (bricard.ENERGY, 13),
    "rssr": (rssr.ENERGY, 9),
    "rigid-governor": (flyball_governor.RIGID_ENERGY, 9),
    "strandbeest-leg": (strandbeest_leg.ENERGY, 11),
    "peaucellier": (peaucellier.ENERGY, 10),
}
# the reference of the Test Set for IVP Solvers (PSIDE, 1e-14) at t = 0.03: β, Θ, γ, δ, Φ, ε, Ω
SQUEEZER_END = (
    *(15.81077119629904, -15.75637105984298, 0.04082224013073101, 0.5244099658805304),
    *(-0.5347301163226948, 1.048080741042263, 0.5347301163226948),
)


@pytest.mark.parametrize("name", FREEDOM)
def test_freedoms_and_redundancy(name):
    make, dof, rank, changing = FREEDOM[name]
    mobility = make().mobility
    assert (mobility.dof, mobility.rank, len(mobility.kept) - mobility.rank) == (dof, rank, changing)
    assert not mobility.is_doubtful


@pytest.mark.parametrize("name", ENERGIES)
def test_energy_of_the_start_is_the_known_one(name):
    energy, decimals = ENERGIES[name]
    problem, values = MECHANISMS[name](), np.zeros(4)
    closed_invariants.python(
        0.0, problem.y0, problem.parameters, problem.structure, np.zeros(problem.work_shape), values
    )
    assert abs(values[0] - energy) < 0.5 * 10.0**-decimals + 1e-13
    assert values[1] < 1e-14
    assert values[2] < 1e-13


def test_exact_times_of_turning_mechanisms():
    motion = four_bar.exact()
    assert motion.period == pytest.approx(four_bar.PERIOD, rel=1e-13)
    for t in (0.0, 0.3, 1000.0):
        assert motion.time(motion.angle(t)) == pytest.approx(t, abs=1e-12)


def test_assembly_finds_the_strandbeest_from_rough_angles():
    home = np.degrees(strandbeest_leg.mechanism().home)
    assert np.allclose(home, [0, 141.285, 227.333, 70.304, -73.673, -134.739, -137.039], atol=5e-4)


def test_imperfect_lengths_are_assembled_with_the_first_upright_held():
    lengths = 1.0 + 1e-6 * np.array([1.0, -1.0])
    made = n_four_bar.mechanism(2, lengths)
    assert made.home[0] == 0.0
    assert np.abs(made.gap(made.home)).max() < 1e-14


def run(problem, end, step):
    return integrate(problem, "RKMK4", (0.0, end), step=step)


def test_turning_mechanisms_follow_their_exact_time():
    for module in (four_bar, slider_crank):
        errors = [abs(run(module.problem(), 2.0, h)["q"][-1, 0] - module.exact().angle(2.0)) for h in (0.005, 0.0025)]
        assert errors[1] < 1e-5
        assert np.log2(errors[0] / errors[1]) > 3.5


@pytest.mark.parametrize("n", [2, 10])
def test_parallelograms_pass_their_singular_positions(n):
    found = run(n_four_bar.problem(n), 10.0, 0.005)
    assert abs(found["q"][-1, 0] - n_four_bar.angle(n, 10.0)) < 4e-8
    uprights = found["q"][:, [0, *range(2, 2 * n + 1, 2)]]
    assert np.ptp(uprights, axis=1).max() < 1e-11


def test_the_squeezer_ends_where_it_is_known_to_end():
    found = run(andrews_squeezer.problem(), andrews_squeezer.END, 1e-5)
    assert np.abs(found["q"][-1] - SQUEEZER_END).max() < 1e-8
    account = found["energy"] - andrews_squeezer.TORQUE * found["q"][:, 0]
    assert np.ptp(account) < 1e-8


def test_bricard_goes_through_and_back():
    found = run(bricard.problem(), 5.6, 0.01)
    back = found.t[np.argmin(np.abs(found["q"][400:, 0])) + 400]
    assert back == pytest.approx(5.0, abs=0.02)
    assert np.allclose(found["q"][:, 0], found["q"][:, 2], atol=1e-9)
    o, e = found["q"][:, 0], found["q"][:, 1]
    assert np.abs(np.sin(e) * (1 + np.sin(o)) + np.sin(o)).max() < 1e-8
    assert found.error("energy", relative=False) < 1e-5


def test_the_idle_spin_of_the_coupler_is_conserved():
    made, found = rssr.mechanism(), run(rssr.problem(), 10.0, 0.0025)
    assert found["q"][-1, 0] / (2 * np.pi) == pytest.approx(12.88, abs=5e-3)
    for y in found.y[:: len(found.y) // 5]:
        q, p = y[: made.tree.nq], y[made.tree.nq :]
        assert abs(rssr.spin(q, np.linalg.solve(mass_matrix(made.tree, q), p))) < 3e-10


@pytest.mark.parametrize("rigid", [True, False])
def test_the_governor_keeps_its_angular_momentum(rigid):
    found = run(flyball_governor.problem(rigid), 2.0 if rigid else 0.5, 0.002 if rigid else 2e-5)
    assert np.abs(found["p"][:, 0] - flyball_governor.MOMENTUM_Z).max() < 1e-10
    if not rigid:
        assert found["q"][-1, 1] == pytest.approx(0.74, abs=5e-3)


def test_the_crank_of_the_strandbeest_keeps_turning():
    found = run(strandbeest_leg.problem(), 10.0, 0.005)
    assert found["q"][-1, 0] / (2 * np.pi) == pytest.approx(-8.22, abs=5e-3)
    feet = strandbeest_leg.foot(found["q"])
    assert np.ptp(feet[:, 0]) == pytest.approx(0.679, abs=3e-3)
    assert np.ptp(feet[:, 1]) == pytest.approx(0.225, abs=3e-3)
    assert feet[:, 1].min() == pytest.approx(-0.918, abs=2e-3)


def test_peaucellier_draws_a_straight_line():
    found = run(peaucellier.problem(), 10.0, 0.005)
    assert np.abs(found["q"][:, 2]).max() == pytest.approx(0.5738, abs=2e-4)
    assert np.abs(peaucellier.line_deviation(found["q"])).max() < 1e-12
