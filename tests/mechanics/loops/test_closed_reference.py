"""Every claim of Ivanov (2022) about closed chains, on five mechanisms: what holds, and what the corrections
correct.
"""

from dataclasses import replace

import numpy as np
import pytest

from mechanics.algebra.spatial import momentum_cross, rotation
from mechanics.constraints.equations import geometry
from mechanics.model.links import armature_rate
from mechanics.reference import closed_system as closed

STEP = 1e-30j


def dense(mechanism, q=None, t=0.0):
    """B, M, G_a εᵀ as one matrix each, on any scalar type; assembled from bodies and Jacobians, not from the
    recursions.
    """
    q = mechanism.q if q is None else q
    tree = mechanism.tree
    g = geometry(tree, q, None, t)
    B = np.concatenate(g.J)
    M = np.zeros((6 * len(tree), 6 * len(tree)))
    E = np.zeros((6 * len(tree), 6 * len(mechanism.epsilon)), dtype=B.dtype)
    for i, body in enumerate(tree.bodies):
        at = slice(6 * i, 6 * i + 6)
        M[at, at] = body.inertia.matrix()
        for c, row in enumerate(mechanism.epsilon):
            E[at, 6 * c : 6 * c + 6] = row[i] * np.kron(np.eye(2), g.R[i].T)
    return B, M, E


def mass_matrix(mechanism, q=None, t=0.0):
    B, M, _ = dense(mechanism, q, t)
    return B.T @ M @ B + np.diag(mechanism.tree.armature)


def chain_at(mechanism):
    return closed.chain_of(mechanism.tree, mechanism.epsilon, mechanism.q, mechanism.v)


def start_momentum(mechanism):
    return mass_matrix(mechanism) @ mechanism.v


def random_momentum(mechanism, seed=0):
    return np.random.default_rng(seed).normal(size=mechanism.tree.nv)


# --- section 3: the recursions ----------------------------------------------------------------------------------------


def test_recursions_solve_the_equations_for_given_multipliers(mechanism):
    chain, p = chain_at(mechanism), random_momentum(mechanism)
    eta = np.random.default_rng(1).normal(size=6 * len(mechanism.epsilon))
    now = closed.motion(chain, closed.prepare(chain), p, eta)
    B, _, E = dense(mechanism)
    H = mass_matrix(mechanism)
    rates = np.linalg.solve(H, p + B.T @ E @ eta)
    scale = np.linalg.cond(H)
    assert np.abs(np.concatenate(now.rates) - rates).max() < 1e-15 * scale * (1 + np.abs(rates).max())
    assert np.abs(np.concatenate(now.v) - B @ rates).max() < 1e-15 * scale * (1 + np.abs(rates).max())


def test_loop_matrix_is_the_formula(mechanism):
    chain = chain_at(mechanism)
    B, _, E = dense(mechanism)
    Phi = E.T @ B @ np.linalg.solve(mass_matrix(mechanism), B.T @ E)
    assert np.abs(closed.loop_matrix(chain) - Phi).max() < 1e-11 * np.abs(Phi).max()
    assert np.linalg.matrix_rank(Phi, tol=1e-9 * np.abs(Phi).max()) == mechanism.rank


# --- finding the multipliers ------------------------------------------------------------------------------------------


def iteration_spectrum(chain, W):
    return np.sort(np.linalg.eigvals(np.eye(len(W)) - W @ closed.loop_matrix(chain)).real)


def test_simple_iteration_always_converges_on_the_range(mechanism):
    """Φ ≤ W⁻¹: the eigenvalues of E − W Φ lie in [0, 1], and are 1 on the null space of Φ only."""
    chain = chain_at(mechanism)
    spectrum = iteration_spectrum(chain, closed.split_mass(chain))
    null = 6 * len(mechanism.epsilon) - mechanism.rank
    assert spectrum.min() > -1e-7
    assert np.abs(spectrum[len(spectrum) - null :] - 1.0).max(initial=0.0) < 1e-6
    assert spectrum[len(spectrum) - null - 1] < 0.99

    eta, residuals = closed.simple_iteration(chain, start_momentum(mechanism) + random_momentum(mechanism), 60)
    slowest = spectrum[len(spectrum) - null - 1]
    assert residuals[-1] < 3 * residuals[0] * slowest**55 + 1e-12
    assert np.isfinite(eta).all()


@pytest.mark.parametrize("share", [0.5, 0.3, 0.1])
def test_any_sharing_of_the_mass_converges_with_the_exact_matrix(shared, share):
    chain = chain_at(shared(share))
    spectrum = iteration_spectrum(chain, closed.split_mass(chain))
    assert spectrum.min() > -1e-7
    assert spectrum.max() < 1 + 1e-7


def test_the_short_matrix_is_exact_for_equal_shares_in_absolute_axes(shared):
    chain = chain_at(shared(0.5))
    W = closed.split_mass(chain)
    assert np.abs(closed.split_mass_remark(chain) - W).max() < 1e-12 * np.abs(W).max()


def test_the_short_matrix_diverges_for_unequal_shares(shared):
    chain = chain_at(shared(0.01))
    assert iteration_spectrum(chain, closed.split_mass_remark(chain)).min() < -1.0


def test_the_short_matrix_in_body_axes_depends_on_the_direction_of_north(planar):
    """As printed, ¼ ε M εᵀ: turn the whole mechanism in space, and the iteration diverges, though nothing has
    changed.
    """

    def slowest(angle, W):
        R = rotation(np.array([0.0, 0.0, 1.0]), angle)
        chain = chain_at(planar)
        turned = replace(chain, G0=[G @ R.T for G in chain.G0])
        return iteration_spectrum(turned, W(turned)).min()

    angles = np.linspace(0.0, np.pi, 9)
    assert min(slowest(a, closed.split_mass_remark) for a in angles) > -1e-7
    assert min(slowest(a, lambda chain: closed.split_mass_remark(chain, absolute=False)) for a in angles) < -1.0


def test_finite_algorithm_and_direct_form_close_the_velocities(mechanism):
    chain, p = chain_at(mechanism), start_momentum(mechanism) + 0.3 * random_momentum(mechanism)
    factors = closed.prepare(chain)

    def residual(eta):
        return np.abs(closed.closing_velocity(chain, closed.motion(chain, factors, p, eta).v)).max()

    open_gap = residual(np.zeros(6 * len(mechanism.epsilon)))
    assert residual(closed.direct(chain, p, mechanism.rank)) < 1e-12 * (1 + open_gap)
    # powers of W Φ are an ill-conditioned basis: six to nine digits are lost
    assert residual(closed.finite_algorithm(chain, p)) < 1e-6 * (1 + open_gap)


def test_the_direct_form_has_the_shortest_multipliers_and_the_printed_one_the_same_motion(overconstrained):
    """(11) is not the pseudo-inverse when Φ is singular: its solution is the shortest in the norm of W⁻¹ only."""
    mechanism = overconstrained
    chain, p = chain_at(mechanism), random_momentum(mechanism)
    factors = closed.prepare(chain)
    short, printed = closed.direct(chain, p, mechanism.rank), closed.finite_algorithm(chain, p)
    weight = np.linalg.inv(closed.split_mass(chain))
    assert np.linalg.norm(printed) > 1.02 * np.linalg.norm(short)
    assert printed @ weight @ printed < short @ weight @ short
    rates = [np.concatenate(closed.motion(chain, factors, p, eta).rates) for eta in (short, printed)]
    assert np.abs(rates[0] - rates[1]).max() < 1e-6


# --- equation (6) -----------------------------------------------------------------------------------------------------


def true_rate(mechanism, eta):
    """ṗ* from accelerations: p* = H v − Bᵀ G_a εᵀ η, with η̇ the closing reactions; no formula of the paper is used."""
    q, v, tree = mechanism.q, mechanism.v, mechanism.tree
    g = geometry(tree, q, v)
    B, M, E = dense(mechanism)
    H, G = mass_matrix(mechanism), E.T @ B
    bias = np.concatenate(g.bias)
    force, turning = [], []
    for i, body in enumerate(tree.bodies):
        V, inertia = g.V[i], body.inertia
        turning.append(armature_rate(body, q[tree.q_slice(i)], v[tree.v_slice(i)]))
        weight = inertia.mass * (g.R[i].T @ tree.gravity)
        gravity = np.concatenate([weight, np.cross(inertia.com, weight)])
        force.append(gravity - momentum_cross(V) @ (inertia.matrix() @ V))
    f = B.T @ (np.concatenate(force) - M @ bias) + np.concatenate(turning)
    moved = lambda s: dense(mechanism, q_along(mechanism, s))  # noqa: E731
    B_s, _, E_s = moved(STEP)
    B_dot, E_dot = B_s.imag / 1e-30, E_s.imag / 1e-30
    G_dot = E_dot.T @ B + E.T @ B_dot
    A = G @ np.linalg.solve(H, G.T)
    lam = np.linalg.pinv(A, rcond=1e-9) @ (-G_dot @ v - G @ np.linalg.solve(H, f))
    a = np.linalg.solve(H, f + G.T @ lam)
    assert np.abs(G @ a + G_dot @ v).max() < 1e-9
    H_dot = B_dot.T @ M @ B + B.T @ M @ B_dot
    p_dot = H_dot @ v + H @ a
    eta_dot = lam.copy()
    for c, row in enumerate(mechanism.epsilon):
        i = int(np.flatnonzero(row == 1)[0])
        velocity = g.R[i] @ g.V[i][:3]
        eta_dot[6 * c + 3 : 6 * c + 6] -= np.cross(velocity, eta[6 * c : 6 * c + 3])
    return p_dot - G_dot.T @ eta - G.T @ eta_dot


def q_along(mechanism, s):
    """q(s) along v: numbers add, quaternions turn by exp."""
    tree, q = mechanism.tree, mechanism.q.astype(complex)
    for kind, i, k, n_q, n_v in tree.group.table:
        if kind == 0:
            q[i : i + n_q] += s * mechanism.v[k : k + n_v]
        else:
            x, y, z = s * mechanism.v[k : k + 3] / 2
            w0, x0, y0, z0 = q[i : i + 4]
            q[i : i + 4] = (
                w0 - x0 * x - y0 * y - z0 * z,
                x0 + w0 * x + y0 * z - z0 * y,
                y0 + w0 * y + z0 * x - x0 * z,
                z0 + w0 * z + x0 * y - y0 * x,
            )
    return q


def momentum_rates(mechanism, eta, printed=False):
    """(6) with the momenta that belong to the velocity of the mechanism and to given multipliers."""
    chain = chain_at(mechanism)
    B, _, E = dense(mechanism)
    p_star = start_momentum(mechanism) - B.T @ E @ eta
    now = closed.motion(chain, closed.prepare(chain), p_star, eta)
    assert np.abs(np.concatenate(now.rates) - mechanism.v).max() < 1e-9
    return closed.momentum_rate(chain, now, printed)


def test_corrected_equation_six_is_the_derivative_of_the_momentum(mechanism):
    eta = np.random.default_rng(2).normal(size=6 * len(mechanism.epsilon))
    scale = 1 + np.abs(true_rate(mechanism, eta)).max()
    assert np.abs(momentum_rates(mechanism, eta) - true_rate(mechanism, eta)).max() < 1e-9 * scale


def test_equation_six_as_printed_is_wrong_by_the_order_of_the_multipliers(mechanism):
    eta = np.random.default_rng(2).normal(size=6 * len(mechanism.epsilon))
    assert np.abs(momentum_rates(mechanism, eta, printed=True) - true_rate(mechanism, eta)).max() > 0.1


def test_without_multipliers_both_forms_agree(mechanism):
    """At the start η = 0 and the error of the print is invisible: it grows with the accumulated reaction."""
    zero = np.zeros(6 * len(mechanism.epsilon))
    assert np.array_equal(momentum_rates(mechanism, zero, printed=True), momentum_rates(mechanism, zero))


# --- gauge and re-basing ----------------------------------------------------------------------------------------------


def test_multipliers_are_a_gauge(mechanism):
    """p* = p − Bᵀ G_a εᵀ η₀ finds η₀ back up to the null space of Φ, and the same velocities."""
    chain, p = chain_at(mechanism), start_momentum(mechanism)
    B, _, E = dense(mechanism)
    gauge = np.random.default_rng(4).normal(size=E.shape[1])
    eta = closed.direct(chain, p - B.T @ E @ gauge, mechanism.rank)
    now = closed.motion(chain, closed.prepare(chain), p - B.T @ E @ gauge, eta)
    assert np.abs(np.concatenate(now.rates) - mechanism.v).max() < 1e-9
    assert np.abs(B.T @ E @ (eta - gauge)).max() < 1e-9


def test_rebasing_gives_the_momentum_of_the_motion(mechanism):
    chain = chain_at(mechanism)
    p_star = start_momentum(mechanism) + random_momentum(mechanism, 5)
    factors = closed.prepare(chain)
    now = closed.motion(chain, factors, p_star, closed.direct(chain, p_star, mechanism.rank))
    p = closed.rebased(chain, now)
    again = closed.motion(chain, factors, p, np.zeros(6 * len(mechanism.epsilon)))
    assert np.abs(closed.closing_velocity(chain, again.v)).max() < 1e-10
    assert np.abs(np.concatenate(again.rates) - np.concatenate(now.rates)).max() < 1e-9
    assert np.abs(p - mass_matrix(mechanism) @ np.concatenate(now.rates)).max() < 1e-9


def test_an_inconsistent_momentum_is_projected_like_an_impulse(mechanism):
    """The velocities are those of the closed mechanism nearest in kinetic energy."""
    chain, p = chain_at(mechanism), random_momentum(mechanism, 6)
    B, _, E = dense(mechanism)
    H, G = mass_matrix(mechanism), E.T @ B
    free = np.linalg.solve(H, p)
    nearest = free - np.linalg.solve(H, G.T @ np.linalg.pinv(G @ np.linalg.solve(H, G.T), rcond=1e-9) @ (G @ free))
    now = closed.motion(chain, closed.prepare(chain), p, closed.direct(chain, p, mechanism.rank))
    assert np.abs(np.concatenate(now.rates) - nearest).max() < 1e-8 * (1 + np.abs(free).max())
