"""The walking mechanism: the paper's tree and geometry, its start, and that it walks."""

import numpy as np
import pytest

from integrators import integrate
from mechanics.constraints.equations import LoopEquations, geometry
from mechanics.systems.loops import walking_mechanism as walker


def test_tree_and_split_bodies_are_those_of_the_paper():
    tree = walker.tree()
    assert [k + 1 for k in tree.parents] == list(walker.PARENTS)
    assert [b.joint.n_v for b in tree.bodies] == [3, 1, 2, 2, 1, 1]
    assert sum(b.inertia.mass for b in tree.bodies) == pytest.approx(25.4)


def test_geometry_is_that_of_the_paper():
    """ρ_i, G_i and A_i as printed (the A_i from the text of the construction)."""
    y, z, phi, alpha, z1, gamma, z2, gamma2, beta, beta2 = q = np.random.default_rng(0).uniform(-0.5, 0.5, 10)
    tree, e1, e2, e3 = walker.tree(), walker.LEG, walker.CRANK, walker.PIN
    rho = [
        (0, y, z + e1 - e3),
        (0, 0, 0),
        (0, 0, z1 + e3),
        (0, 0, z2 + e3),
        (0, -e3 * np.sin(beta), -e2 + e3 * np.cos(beta)),
        (0, -e3 * np.sin(beta2), e2 + e3 * np.cos(beta2)),
    ]
    angles = [phi, alpha, gamma, gamma2, beta, beta2]
    for i, body in enumerate(tree.bodies):
        state = body.joint.state(q[tree.q_offsets[i] : tree.q_offsets[i + 1]], np.zeros(body.joint.n_v))
        c, s = np.cos(angles[i]), np.sin(angles[i])
        assert np.allclose(body.position + state.rho, rho[i], atol=1e-15)
        assert np.allclose(state.G, [[1, 0, 0], [0, c, s], [0, -s, c]], atol=1e-15)
        turn = (0, 0, 0, 1, 0, 0)
        A = {
            0: [(0, c, -s, 0, 0, 0), (0, s, c, 0, 0, 0), turn],
            1: [turn],
            2: [(0, s, c, 0, 0, 0), turn],
            3: [(0, s, c, 0, 0, 0), turn],
            4: [(0, -e3, 0, 1, 0, 0)],
            5: [(0, -e3, 0, 1, 0, 0)],
        }[i]
        assert np.allclose(state.A.T, A, atol=1e-15)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 2.0, -2.5])
def test_the_closed_form_of_the_legs_closes_the_loops(alpha):
    equations = LoopEquations(walker.tree(), walker.closures())
    q = walker.closed_configuration(0.3, 0.1, 0.2, alpha)
    v = walker.closed_rates(alpha, 0.1, 0.2, 0.3, 2.0)
    assert np.abs(equations.gap(q)).max() < 1e-15
    assert np.abs(equations.rate(geometry(equations.tree, q, v))).max() < 1e-15


def test_half_of_the_closure_equations_are_redundant_in_every_position():
    mobility = walker.mechanism().mobility
    assert (mobility.dof, mobility.rank, mobility.redundant, len(mobility.kept)) == (4, 6, 6, 6)
    assert not mobility.is_doubtful


def test_the_start_rolls_without_slip_and_carries_the_weight():
    q, v = walker.start()
    assert q[1] == pytest.approx(0.0475108, abs=5e-8)
    assert v[0] == pytest.approx(-0.329152, abs=5e-7)
    g = geometry(walker.tree(), q, v)
    V = g.V[4]
    foot = V[:3] + np.cross(V[3:], (0, 0, -walker.LEG))
    assert np.abs(foot).max() < 1e-12
    depth = walker.LEG - g.x[4][2]
    assert depth * walker.HARD_GROUND.stiffness == pytest.approx(25.4 * 9.8)


def test_it_walks_on_soft_ground():
    found = integrate(walker.problem(walker.SOFT_GROUND), "RKMK4", (0.0, 20.0), step=2e-4, save_every=50)
    q = found["q"]
    assert found.success
    assert np.abs(q[:, 2]).max() < 0.065
    assert q[-1, 0] == pytest.approx(-7.7, abs=0.15)
    assert found.maximum("gap") < 1e-12
    # one period of the disc is one stride
    stride = np.interp(np.arange(1, 8) * walker.PERIOD, found.t, q[:, 0])
    assert np.allclose(np.diff(stride)[2:], -1.0, atol=0.03)


@pytest.mark.slow
def test_it_walks_on_hard_ground_as_far_as_known():
    found = integrate(walker.problem(), "RKMK4", (0.0, 20.0), step=5e-5, save_every=200)
    q = found["q"]
    assert q[-1, 0] == pytest.approx(-7.72, abs=0.1)
    assert -0.058 < q[:, 2].min() < q[:, 2].max() < 0.058
    assert 0.002 < q[:, 1].min() < q[:, 1].max() < 0.048
    assert np.abs(q[:, [5, 7]]).max() == pytest.approx(0.16745, abs=2e-4)
