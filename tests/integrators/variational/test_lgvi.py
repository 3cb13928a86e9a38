"""Lie group variational integrators of order 2 and their compositions: equations, order, structure, and what cutting
them short costs.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from integrators import integrate
from integrators.analysis import energy_drift, measured_order, symmetry_defect
from integrators.analysis.canonical import canonical_defect
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.steppers.lgvi import lgvi
from integrators.steppers.tree_variational import tree_variational
from integrators.testing import end_state, group_distance
from liegroup.group import so3
from mechanics import Body, Inertia, Tree
from mechanics.joints import Free
from mechanics.problems.tree import hamiltonian_problem
from mechanics.systems.bodies.full_body import full_body

J = np.array([1.0, 1.4, 0.6])
EXACT = [lgvi(), lgvi(map="exp"), lgvi(map="ccsk"), lgvi(form="moser_veselov")]
CUT = [lgvi(form="truncated1"), lgvi(form="truncated2")]
ON_ROTATIONS = pytest.mark.parametrize("method", EXACT, ids=lambda m: m.name)
ANYWHERE = pytest.mark.parametrize("method", EXACT[:3], ids=lambda m: m.name)


@cache
def reference(make):
    """The state at t = 1 of the problem that a fixture makes."""
    return integrate(make(), "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]


def order(make, method, counts):
    problem = make()
    distance = lambda y, z: group_distance(problem.table, y, z)  # noqa: E731
    return measured_order(lambda n: end_state(problem, method, n), counts, reference(make), distance, 1e-12).order


# --- the equations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", EXACT[:2] + EXACT[3:], ids=lambda m: m.name)
def test_one_step_on_so3_satisfies_the_discrete_euler_poincare_equations(problems, method):
    """dτ_right(c)⁻ᵀ J c = h p̂, or J c + ½ c × J c = (1 + |c|²/4) h p̂, with c = τ⁻¹(q₀⁻¹q₁), p̂ = p₀ + (h/2) f₀; p₁ −
    (h/2) f₁ = Ad_τᵀ p̂.
    """
    problem, h = problems.heavy_top(), 0.05
    y = step_map(problem, method, interpreted=True)(problem.y0, h)
    at_rest = [np.concatenate([z[:4], np.zeros(3)]) for z in (problem.y0, y)]
    force = [problem.velocity(0.0, z)[3:] for z in at_rest]
    kicked = problem.y0[4:] + 0.5 * h * force[0]
    f = so3.compose(so3.inverse(problem.y0[:4]), y[:4])
    c = so3.log(f) if method.map == "exp" else so3.cay_inverse(f)
    if method.name == "LGVI_MOSER_VESELOV":
        found = (J * c + 0.5 * np.cross(c, J * c)) / (1 + c @ c / 4)
    else:
        found = (so3.dexpinv_right if method.map == "exp" else so3.dcayinv_right)(c).T @ (J * c)
    assert np.abs(found - h * kicked).max() < 1e-15
    assert np.abs(so3.act(so3.inverse(f), kicked) + 0.5 * h * force[1] - y[4:]).max() < 1e-14


@pytest.mark.parametrize("h", [0.01, 0.1, 0.2])
@pytest.mark.parametrize("method", EXACT[:2] + EXACT[3:], ids=lambda m: m.name)
def test_the_past_changes_the_number_of_iterations_and_rounding_alone(problems, method, h):
    """A run, against steps each of which starts without a past; resolved motion then takes one iteration a step."""
    problem, n = problems.heavy_top(), 40
    solution, one = integrate(problem, method, (0, n * h), h), step_map(problem, method)
    y = problem.y0
    for k in range(n):
        y, before = one(solution.y[k], h), solution.y[k + 1]
        assert np.abs(y - before).max() < 2e-14, k
    if h == 0.01:
        assert solution.iterations < 1.5 * n


@pytest.mark.parametrize("map_name", ["cayley", "exp"])
def test_one_free_body_moves_as_the_tree_of_one_body_does(map_name):
    """Two independent implementations, with weight: the general group and the tree, on SE(3)."""
    body = Body("body", Free(), inertia=Inertia.about_com(2.0, (0.0, 0.0, 0.0), np.diag([0.3, 0.5, 0.4])))
    problem = hamiltonian_problem(
        Tree([body], "body"), [0.1, 0.2, -0.3, 0.9, 0.3, 0.1, 0.3], [-0.5, 0.3, 0.2, 1.0, -2.0, 0.7]
    )
    a, b = (step_map(problem, m) for m in (lgvi(map=map_name), tree_variational(map=map_name)))
    y = z = problem.y0
    for _ in range(20):
        y, z = a(y, 0.05), b(z, 0.05)
    assert np.abs(y - z).max() < 1e-12


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*EXACT, *CUT], ids=lambda m: m.name)
def test_order_two_on_so3(problems, method):
    assert abs(order(problems.heavy_top, method, (100, 200, 400)) - 2) < 0.05


def test_the_bare_second_kind_has_order_one(problems):
    assert abs(order(problems.heavy_top, lgvi(map="ccsk", plain=True), (100, 200, 400)) - 1) < 0.05


@ANYWHERE
def test_order_two_on_se3(problems, method):
    assert abs(order(problems.floating_body, method, (100, 200, 400)) - 2) < 0.05


COMPOSED = {"SUZUKI4": (30, 60), "SOFSPA6": (20, 40), "KAHANLI6": (24, 32), "KAHANLI8": (25, 32), "SOFSPA10": (8, 10)}


@pytest.mark.parametrize("name", [f"LGVI_{f}_{c}" for f in ("MOSER_VESELOV", "CAYLEY") for c in COMPOSED])
def test_compositions_have_their_order(problems, name):
    method, counts = find(name), COMPOSED[name.rsplit("_", 1)[1]]
    assert abs(order(problems.heavy_top, method, counts) - method.order) < 0.35


def test_moser_veselov_has_half_the_error_of_cayley(problems):
    end = reference(problems.heavy_top)
    cayley, chordal = (np.abs(end_state(problems.heavy_top(), m, 400) - end).max() for m in (EXACT[0], EXACT[3]))
    assert chordal / cayley == pytest.approx(0.5, abs=0.02)


# --- structure --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*EXACT, lgvi(map="ccsk", plain=True)], ids=lambda m: m.name)
def test_one_step_preserves_the_canonical_two_form(problems, method):
    assert canonical_defect(problems.heavy_top(), method, "0.05", digits=40) < 1e-14


@pytest.mark.parametrize("method", CUT, ids=lambda m: m.name)
def test_with_a_series_cut_off_it_is_not_preserved(problems, method):
    assert not method.symplectic
    assert canonical_defect(problems.heavy_top(), method, "0.1", digits=40) > 1e-8


@ANYWHERE
@pytest.mark.parametrize("name", ["pendulum", "heavy_top", "floating_body"])
def test_a_step_forward_and_a_step_back_return(problems, name, method):
    problem = getattr(problems, name)()
    step = step_map(problem, method)
    assert symmetry_defect(step, problem.y0, 0.05) < 2e-14 * max(1.0, np.abs(problem.y0).max())


@pytest.mark.parametrize("method", [*EXACT, *CUT], ids=lambda m: m.name)
def test_spatial_momentum_of_a_free_body_is_exact(problems, method):
    solution = integrate(problems.free_body(), method, (0, 500), 0.1)
    for axis in "xyz":
        assert solution.error(f"momentum_{axis}", relative=False) < 3e-14


def test_moser_veselov_keeps_the_energy_of_a_free_body_and_cayley_does_not(problems):
    chordal, cayley = (
        integrate(problems.free_body(), m, (0, 1000), 0.05).error("energy") for m in (EXACT[3], EXACT[0])
    )
    assert chordal < 1e-13
    assert cayley > 1e-4


def test_energy_of_a_top_is_bounded_unless_the_series_is_cut_off(problems):
    """5000 steps of 0.02: exact dτ⁻¹ shows no slope; 1 − ½ ad alone drifts, although its order is 2 and its momenta are
    exact.
    """
    drifts = [
        energy_drift(s.t, s["energy"])
        for s in (integrate(problems.heavy_top(), m, (0, 100), 0.02) for m in (EXACT[1], CUT[0]))
    ]
    exact, cut = drifts
    assert abs(exact.slope) * 100 < 0.05 * exact.band
    assert abs(cut.slope) * 100 > 5e-3


def test_lanes_agree_bitwise_with_one_trajectory(problems):
    problem = problems.heavy_top()
    starts = np.repeat(problem.y0[None, :], 8, 0)
    starts[:, 4:] += 0.1 * np.arange(8)[:, None]
    together = integrate(problem.with_start(starts), EXACT[0], (0, 2), 0.05)
    for k in (0, 5):
        assert np.array_equal(together.y[k], integrate(problem.with_start(starts[k]), EXACT[0], (0, 2), 0.05).y)


@pytest.mark.parametrize("name", ["LGVI_CAYLEY", "LGVI_EXP"])
def test_momenta_of_bodies_that_attract_each_other_are_exact(name):
    """Two clusters of points in a close orbit: total momenta to rounding, the energy in a band without slope, order
    2.
    """
    problem = full_body()
    solution = integrate(problem, name, (0, 100), 0.01)
    drift = energy_drift(solution.t, solution["energy"])
    assert solution.success
    for k in problem.invariant_names[1:]:
        assert solution.error(k, relative=False) < 1e-12
    assert drift.band < 0.01
    assert abs(drift.slope) * 100 < 0.2 * drift.band
    assert abs(order(lambda: problem, find(name), (100, 200, 400)) - 2) < 0.1


# --- what is refused --------------------------------------------------------------------------------------------------


def test_moser_veselov_is_for_rotations(problems):
    with pytest.raises(ValueError, match=r"SO\(3\)"):
        integrate(problems.floating_body(), EXACT[3], (0, 1), 0.1)


@pytest.mark.parametrize(
    ("options", "word"),
    [({"form": "fast"}, "form"),
     ({"form": "moser_veselov", "map": "exp"}, "cayley"), ({"form": "truncated1", "map": "cayley"}, "exp"),
     ({"plain": True}, "ccsk")],
)  # fmt: skip
def test_bad_options_are_refused_by_name(options, word):
    with pytest.raises(ValueError, match=word):
        lgvi(**options)
