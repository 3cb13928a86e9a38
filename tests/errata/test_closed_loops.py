"""Errata of Ivanov (2022), closed kinematic chains: every printed form fails where the corrected one holds."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mechanics.algebra.spatial import rotation
from mechanics.constraints.equations import geometry
from mechanics.reference import closed_system as closed


def chain_of(mechanism, q=None):
    return closed.chain_of(mechanism.tree, mechanism.epsilon, mechanism.q if q is None else q, mechanism.v)


def spectrum(chain, W):
    """Eigenvalues of the simple iteration, E − W Φ."""
    return np.sort(np.linalg.eigvals(np.eye(len(W)) - W @ closed.loop_matrix(chain)).real)


def rates(mechanism, q, p, printed=False):
    """(q̇, ṗ*) of (5) and (6), the motion, and the chain."""
    chain = chain_of(mechanism, q)
    now = closed.motion(chain, closed.prepare(chain), p, closed.direct(chain, p, mechanism.rank))
    return np.concatenate(now.rates), closed.momentum_rate(chain, now, printed), now, chain


def energy(mechanism, q, now):
    """½ Σ vᵀ M v − Σ m g · x."""
    g, total = geometry(mechanism.tree, q), 0.0
    for i, body in enumerate(mechanism.tree.bodies):
        inertia = body.inertia
        height = mechanism.tree.gravity @ (g.x[i] + g.R[i] @ inertia.com)
        total += 0.5 * now.v[i] @ inertia.matrix() @ now.v[i] - inertia.mass * height
    return total


def run(mechanism, h, steps, printed=False, rebase=True):
    """(energy, gap) of the four-bar at every step of RK4; the coordinates are angles only."""
    q = mechanism.q.copy()
    p = geometry(mechanism.tree, q, mechanism.v).momentum(mechanism.tree)
    found = []
    for _ in range(steps):
        *_, now, chain = rates(mechanism, q, p, printed)
        if rebase:
            p = closed.rebased(chain, now)
        found.append((energy(mechanism, q, now), np.abs(mechanism.equations.gap(q)).max()))
        k = [rates(mechanism, q, p, printed)[:2]]
        for c in (0.5, 0.5, 1.0):
            k.append(rates(mechanism, q + c * h * k[-1][0], p + c * h * k[-1][1], printed)[:2])
        q, p = (x + h / 6 * (k[0][n] + 2 * k[1][n] + 2 * k[2][n] + k[3][n]) for n, x in enumerate((q, p)))
    return np.array(found).T


@pytest.mark.slow
def test_equation_6_needs_the_momenta_without_the_multipliers(mechanisms):
    """No motor, no friction: the energy stays. The reaction's time integral is not zero, and the print counts it in."""
    four_bar = mechanisms["four-bar"]()
    true, _ = run(four_bar, 0.01, 200, rebase=False)
    printed, _ = run(four_bar, 0.01, 200, printed=True, rebase=False)
    assert np.abs(true - true[0]).max() < 1e-3
    assert np.abs(printed - printed[0]).max() > 10.0


@pytest.mark.slow
def test_positions_stay_closed_only_if_the_momenta_are_rebased(mechanisms):
    """The gap grows like t² with p* kept, whatever the paper's example shows, and not with p* := Aᵀ μ."""
    four_bar = mechanisms["four-bar"]()
    _, kept = run(four_bar, 0.04, 200, rebase=False)
    _, rebased = run(four_bar, 0.04, 200)
    growth = np.log2(kept[180:].max() / kept[80:100].max())
    assert growth > 1.5
    assert kept[180:].max() > 4 * rebased[180:].max()
    assert rebased[180:].max() < 2 * rebased[80:100].max()


def test_equation_11_is_no_pseudo_inverse_of_a_singular_matrix(mechanisms):
    """Φ⁺ = X ΔF⁺: a third off on Bricard's linkage. The motion is right; the solution is the shortest in W⁻¹ only."""
    bricard = mechanisms["Bricard"]()
    chain = chain_of(bricard)
    Phi, W, factors = closed.loop_matrix(chain), closed.split_mass(chain), closed.prepare(chain)
    p = np.random.default_rng(0).normal(size=bricard.tree.nv)
    printed, short = closed.finite_algorithm(chain, p), closed.direct(chain, p, bricard.rank)
    first = closed.closing_velocity(chain, closed.motion(chain, factors, p, 0 * printed).v)
    pseudo = -np.linalg.pinv(Phi, rcond=1e-9) @ first
    assert np.abs(short - pseudo).max() < 1e-10 * np.abs(pseudo).max()
    assert np.linalg.norm(printed - pseudo) > 0.3 * np.linalg.norm(pseudo)
    inverse = np.linalg.inv(W)
    assert printed @ inverse @ printed < short @ inverse @ short
    moved = [np.concatenate(closed.motion(chain, factors, p, eta).rates) for eta in (printed, short)]
    assert np.abs(moved[0] - moved[1]).max() < 1e-6


def test_the_short_mass_matrix_belongs_in_absolute_axes(mechanisms):
    """¼ ε M εᵀ diverges when the whole mechanism is turned in space; ¼ ε M_a εᵀ does not see it and equals W."""
    four_bar = mechanisms["four-bar"]()
    chain = chain_of(four_bar)
    least = []
    for angle in np.linspace(0.0, np.pi, 9):
        R = rotation(np.array([0.0, 0.0, 1.0]), angle)
        turned = replace(chain, G0=[G @ R.T for G in chain.G0])
        W = closed.split_mass(turned)
        assert np.abs(closed.split_mass_remark(turned) - W).max() < 1e-12 * np.abs(W).max()
        assert spectrum(turned, W).min() > -1e-7
        least.append(spectrum(turned, closed.split_mass_remark(turned, absolute=False)).min())
    assert min(least) < -1.0


def test_the_short_mass_matrix_needs_equal_halves(mechanisms):
    """W converges with any share of the mass; ¼ ε M_a εᵀ with equal halves only."""
    chain = chain_of(mechanisms["four-bar"](0.01))
    assert spectrum(chain, closed.split_mass(chain)).min() > -1e-7
    assert spectrum(chain, closed.split_mass_remark(chain)).min() < -1.0


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "Bricard", "RSSR"])
def test_the_iteration_converges_by_its_spectrum_and_not_by_a_norm(mechanisms, name):
    """The paper: some norm is less than one. But where Φ is singular none is, and (10) converges on its range."""
    mechanism = mechanisms[name]()
    chain = chain_of(mechanism)
    W = closed.split_mass(chain)
    found = spectrum(chain, W)
    null = len(W) - mechanism.rank
    if null:
        assert found[-1] > 1 - 1e-6  # no norm can be below the spectral radius
    assert found.min() > -1e-7
    assert found[len(W) - null - 1] < 0.99
    p = np.random.default_rng(1).normal(size=mechanism.tree.nv)
    _, residuals = closed.simple_iteration(chain, p, 400)
    assert residuals[-1] < 1e-9 * residuals[0]


def test_the_inverse_of_sigma_needs_a_threshold(mechanisms):
    """Redundant rows are zeros among the singular values: ΔF⁺ = U Σ⁻¹ Vᵀ divides by them; too coarse a cut loses
    equations of RSSR, whose powers of W Φ reach down to 2e-9.
    """

    def opening(name, threshold):
        mechanism = mechanisms[name]()
        chain = chain_of(mechanism)
        p = np.random.default_rng(2).normal(size=mechanism.tree.nv)
        eta = closed.finite_algorithm(chain, p, threshold)
        return np.abs(closed.closing_velocity(chain, closed.motion(chain, closed.prepare(chain), p, eta).v)).max()

    assert opening("Bricard", 0.0) > 0.1
    assert opening("Bricard", 1e-13) < 1e-8
    assert opening("RSSR", 1e-7) > 1e-3
    assert opening("RSSR", 1e-13) < 1e-4


def test_the_threshold_locks_a_redundant_loop_that_is_slightly_open(mechanisms):
    """Open by g, the zero of Bricard's Φ is 6e-4 g² of the largest: cut at 1e-9 it counts as sixth equation, q̇ = 0."""
    bricard = mechanisms["Bricard"]()
    q = bricard.q + 1e-2 * np.array([1.0, -0.3, 0.5, 0.2, -0.7, 0.4])
    chain = chain_of(bricard, q)
    assert 1e-3 < np.abs(bricard.equations.gap(q)).max() < 3e-2
    eigenvalues = np.linalg.eigvalsh(closed.loop_matrix(chain))
    counted = int((eigenvalues > 1e-9 * eigenvalues[-1]).sum())
    assert counted == 6 != bricard.rank
    p = geometry(bricard.tree, q, bricard.v).momentum(bricard.tree)

    def speed(rank):
        now = closed.motion(chain, closed.prepare(chain), p, closed.direct(chain, p, rank))
        return np.linalg.norm(np.concatenate(now.rates))

    assert speed(counted) < 1e-3 * speed(bricard.rank)
    assert speed(bricard.rank) == pytest.approx(np.linalg.norm(bricard.v), rel=0.1)


def test_equation_4_closes_no_attitudes():
    """∫ ω dt is no coordinate: turned about x then y, and about y then x, the integrals agree and the bodies do not."""
    x, y = (rotation(np.eye(3)[k], 0.5) for k in (0, 1))
    first, second = 0.5 * np.eye(3)[0], 0.5 * np.eye(3)[1]  # ∫ ω dt of each turn
    assert np.array_equal(first + second, second + first)
    assert np.abs(y @ x - x @ y).max() > 0.2


def test_baumgarte_is_stiff_with_large_gains_only():
    """The record of the study walking-mechanism: evaluations of LSODA at its finest tolerance, distances of pins."""
    path = Path(__file__).resolve().parents[2] / "studies" / "walking_mechanism" / "summary.json"
    rows = [r for r in json.loads(path.read_text(encoding="utf-8"))["runs"] if r["tolerance"]]
    fine = {r["formulation"]: r for r in rows if r["tolerance"] == min(r["tolerance"] for r in rows)}
    cost = {name: r["evaluations"] / fine["Hamiltonian"]["evaluations"] for name, r in fine.items()}
    for gain in ("Baumgarte 20", "Baumgarte 200"):
        assert cost[gain] < 1.1
        assert fine[gain]["pin_deviation"] < fine["Hamiltonian"]["pin_deviation"]
    assert cost["Baumgarte 2000"] > 5
