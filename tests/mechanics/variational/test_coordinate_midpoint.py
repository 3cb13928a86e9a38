"""The coordinate midpoint form of the discrete Lagrangian on trees of hinges and slides, L_d = h L((q₀ + q₁)/2, (q₁ −
q₀)/h).

With π̄ = ∂L/∂v and φ̄ = ∂L/∂q in the middle, p₀ = π̄ − (h/2) φ̄ and p₁ = π̄ + (h/2) φ̄, so that π̄ is the mean momentum
and the step is the implicit midpoint rule of Hamilton's equations: `MIDPOINT` on the problem of the tree, in linear
time per evaluation.
"""

from __future__ import annotations

import numpy as np
import pytest

from integrators.analysis import derivative, measured_order, symplectic_defect
from integrators.analysis.symplecticity import canonical_form
from integrators.integrate import integrate
from integrators.method.step_map import step_map
from integrators.methods import find
from integrators.problem.lagrangian import lagrangian_problem
from liegroup.compile.scalars import sincos
from mechanics import Body, Inertia, Tree
from mechanics.joints import Prismatic, Revolute
from mechanics.problems.tree import hamiltonian_problem

GRAVITY, START, RATES = 9.81, [0.4, 0.7, -0.3], [0.5, -1.5, 2.0]


def crane() -> Tree:
    """A slide along x with two rods of 1 m that carry 1 kg each, hinged about z; gravity along −y."""
    tip = Inertia.about_com(1.0, (0.0, -1.0, 0.0), 1e-3 * np.eye(3))
    return Tree(
        [
            Body("cart", Prismatic((1, 0, 0)), inertia=Inertia.about_com(2.0, (0.0, 0.0, 0.0), 1e-3 * np.eye(3))),
            Body("upper", Revolute((0, 0, 1)), "cart", inertia=tip),
            Body("lower", Revolute((0, 0, 1)), "upper", (0.0, -1.0, 0.0), inertia=tip),
        ],
        "crane",
        gravity=(0.0, -GRAVITY, 0.0),
    )


def lagrangian(t, q, v, p):
    (s1, c1), (s2, c2) = sincos(q[1]), sincos(q[1] + q[2])
    w1, w2 = v[1], v[1] + v[2]
    x, y = v[0] + c1 * w1, s1 * w1
    u, z = x + c2 * w2, y + s2 * w2
    return (
        v[0] * v[0] + 0.5 * (x * x + y * y + u * u + z * z) + 0.5e-3 * (w1 * w1 + w2 * w2) + GRAVITY * (2.0 * c1 + c2)
    )


def test_the_midpoint_rule_on_the_tree_is_the_coordinate_midpoint_form():
    tree = hamiltonian_problem(crane(), START, RATES)
    coordinates = lagrangian_problem(lagrangian, START, RATES)
    assert np.abs(tree.y0 - coordinates.y0).max() < 1e-14
    for h in (0.02, 0.05):
        ours, theirs = (
            step_map(tree, find("MIDPOINT"))(tree.y0, h),
            step_map(coordinates, find("DEL_MIDPOINT"))(tree.y0, h),
        )
        assert np.abs(ours - theirs).max() < 3e-14 * np.abs(tree.y0).max()


@pytest.mark.parametrize("which", ["crane", "violent"])
def test_it_is_symplectic_and_of_order_two(trees, which):
    problem = hamiltonian_problem(crane(), START, RATES) if which == "crane" else trees.violent(5)
    step, n = step_map(problem, find("MIDPOINT")), problem.dimension // 2
    J = derivative(lambda y: step(y, 0.01), problem.y0, 2 * n, delta=2.0**-6)
    assert symplectic_defect(J, canonical_form(n)) < 3e-11
    truth = integrate(problem, "SCIPY_DOP853", (0, 0.2), rtol=1e-13, atol=1e-14).y[-1]
    found = measured_order(
        lambda k: integrate(problem, "MIDPOINT", (0, 0.2), 0.2 / k).y[-1], (20, 40, 80), truth, floor=1e-11
    )
    assert abs(found.order - 2) < 0.1, found
