"""Errata of Ivanov and Shimanovsky, trees in Hamiltonian variables: printed forms fail where corrected ones hold."""

import numpy as np
import pytest

from mechanics import Body, Inertia, Tree
from mechanics.algebra.sparse import complement, forward, half_solve, in_blocks, ltdl, solve_ltdl, tree_patterns
from mechanics.joints import JOINTS, Compound, Fixed, Revolute, Slide, Turn
from mechanics.reference.counting import Tally
from mechanics.reference.operation_counts import OPERATIONS, clique_sizes, path_freedoms, regions, star
from mechanics.reference.system import System
from mechanics.testing import SHAPES, random_inertia, random_parents, random_tree

MOVING = [joint for joint in JOINTS if joint is not Fixed]


def example(shape="random", joints=MOVING, count=6, seed=1):
    generator = np.random.default_rng(seed)
    tree = random_tree(shape, count, generator, joints)
    return System(tree, tree.random_configuration(generator), generator.normal(size=tree.nv), 0.3)


def scaled(found, true):
    return np.abs(found - true).max() / (1 + np.abs(true).max())


# --- (15), (16), (18) -------------------------------------------------------------------------------------------------


def orthogonal(system):
    """P* of (13) and K P* − Vᴶ, which (15) projects."""
    A, S, M = system.A, system.S, system.M
    Z = system._diagonal([complement(link.A) for link in system.links])
    K = S @ np.linalg.inv(M) @ S.T
    P_0 = A @ np.linalg.solve(A.T @ A, system.p)
    P_star = P_0 + Z @ np.linalg.solve(Z.T @ K @ Z, Z.T @ (system.drift - K @ P_0))
    return P_star, K @ P_star - system.drift


def six_freedoms():
    """A joint of six turns and slides about oblique axes: A is square, and not the unit matrix."""
    axes = np.random.default_rng(3).normal(size=(6, 3))
    return Compound(tuple((Turn if k % 2 else Slide)(tuple(a / np.linalg.norm(a))) for k, a in enumerate(axes)))


def test_equation_15_lacks_a_transposed_basis():
    """(AᵀA)⁻¹ times a vector of 6N does not exist; with six freedoms a joint it does, and is wrong."""
    system = example()
    _, residual = orthogonal(system)
    true, A = system.extended().v, system.A
    with pytest.raises(ValueError, match="mismatch"):
        np.linalg.inv(A.T @ A) @ residual
    assert scaled(np.linalg.solve(A.T @ A, A.T @ residual), true) < 1e-10

    generator = np.random.default_rng(4)
    tree = Tree(
        [
            Body("a", six_freedoms(), inertia=random_inertia(generator)),
            Body("b", six_freedoms(), "a", (0.3, 0.1, 0.2), inertia=random_inertia(generator)),
        ]
    )
    system = System(tree, generator.normal(size=12), generator.normal(size=12))
    true, A, (_, residual) = system.extended().v, system.A, orthogonal(system)
    assert scaled(np.linalg.solve(A.T @ A, residual), true) > 0.1
    assert scaled(np.linalg.solve(A.T @ A, A.T @ residual), true) < 1e-9


def test_equation_16_lacks_the_forces():
    """Without Q the rates of the momenta miss gravity, all of it."""
    system = example(joints=(Revolute,))
    true = system.extended().p_dot
    P_star, _ = orthogonal(system)
    Q = system.B.T @ np.concatenate(system.wrenches_on_bodies)
    printed = System(Tree(system.tree.bodies, gravity=(0, 0, 0)), system.q, system.p, system.t).osp().p_dot
    assert np.abs(Q).max() > 1.0
    assert scaled(system.A.T @ P_star, np.asarray(system.p)) < 1e-10
    assert scaled(printed, true) > 0.1
    assert scaled(printed + Q, true) < 1e-10


def recursion(system, sign):
    """q̇ by (18); sign: of the last term of π*."""
    links, V, s = system.links, [], []
    M, pi = [link.M for link in links], [0 * link.drift for link in links]
    factors, U, u = ([None] * len(links) for _ in range(3))
    for i in reversed(range(len(links))):
        k, C, A, drift = links[i][:4]
        y = M[i] @ drift + pi[i]
        factors[i] = ltdl(A.T @ M[i] @ A)
        U[i] = half_solve(factors[i], A.T @ M[i] @ C)
        u[i] = half_solve(factors[i], system.p[links[i].v] - A.T @ y)
        if k >= 0:
            M[k] = M[k] + C.T @ M[i] @ C - (U[i].T * factors[i].D) @ U[i]
            pi[k] = pi[k] + C.T @ y + sign * (U[i].T * factors[i].D) @ u[i]
    for i, link in enumerate(links):
        V_k = V[link.parent] if link.parent >= 0 else np.zeros(6)
        s.append(forward(factors[i], u[i] - U[i] @ V_k))
        V.append(link.C @ V_k + link.A @ s[i] + link.drift)
    return np.concatenate(s)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_recursion_18_adds_to_the_momenta_what_the_joints_keep(shape):
    """π*_i = Σ (C_jᵀ (M*_j Vᴶ_j + π*_j) + U_jᵀ D_j u_j): a plus."""
    system = example(shape)
    true = system.extended().v
    assert scaled(recursion(system, +1), true) < 1e-9
    assert scaled(recursion(system, -1), true) > 0.03


def test_the_tensor_of_inertia_is_about_the_origin_of_the_body():
    """M_i = [[m E, −m r̃], [m r̃, J]] with J about the centre of mass: a turn about the origin misses m r²."""
    inertia = Inertia.about_com(2.0, (0.0, 0.3, 0.0), np.diag([0.1, 0.2, 0.3]))
    spin = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.5])
    speed = 1.5 * 0.3
    true = 0.5 * 2.0 * speed**2 + 0.5 * 0.3 * 1.5**2
    M = inertia.matrix()
    printed = M.copy()
    printed[3:, 3:] = np.diag([0.1, 0.2, 0.3])
    assert 0.5 * spin @ M @ spin == pytest.approx(true, rel=1e-15)
    assert 0.5 * spin @ printed @ spin == pytest.approx(true - 0.5 * 2.0 * speed**2, rel=1e-15)
    assert np.linalg.eigvalsh(M).min() > 0 > np.linalg.eigvalsh(printed).min()  # and no body has such a matrix


# --- Table 1 ----------------------------------------------------------------------------------------------------------


def factor_and_solve(n):
    """Operations of LᵀDL and both solves with a full matrix of n rows."""
    return n**3 / 3 + 5 / 2 * n**2 - 11 / 6 * n


def counted(parents, n):
    """The same on the structure of a tree, counted."""
    pattern, size, tally = in_blocks(tree_patterns(parents)[0], n), sum(n), Tally()
    generator = np.random.default_rng(0)
    W = np.zeros((size, size), dtype=object)
    for i, row in enumerate(pattern):
        for j in (*row, i):
            W[i, j] = W[j, i] = tally.array(generator.normal() + (20.0 if i == j else 0.0))[()]
    solve_ltdl(ltdl(W, pattern), tally.array(generator.normal(size=size)))
    return tally.total - 2 * np.count_nonzero(W)  # `ltdl` begins with E + 0 W


@pytest.mark.parametrize("shape", SHAPES)
def test_table_1_subtracts_the_front_of_the_parent_from_that_of_the_child(shape):
    """In all three powers of η: with the child's in the linear term, as printed for TSP, the count is off."""
    generator = np.random.default_rng(5)
    parents = random_parents(shape, 7, generator)
    n = [int(k) for k in generator.integers(1, 4, size=7)]
    eta = path_freedoms(parents, n)
    fronts = sum(map(factor_and_solve, eta))
    inner = [(eta[i], eta[k]) for i, k in enumerate(parents) if k >= 0]
    right = fronts - sum(factor_and_solve(own) for _, own in inner)
    printed = right - sum(-11 / 6 * (child - parent) for child, parent in inner)
    found = counted(parents, n)
    assert right == pytest.approx(found, abs=1e-6)
    assert abs(printed - found) > 1


def test_table_1_as_printed_gives_no_cost_to_the_freedoms_beyond_the_root():
    """With 235/6 η_i in both sums the linear term is that of the first body; TSP then seems to win where ERA does."""

    def printed(parents, n):
        eta = path_freedoms(parents, n)
        return OPERATIONS["TSP"](parents, n) + 235 / 6 * sum(eta[k] - eta[i] for i, k in enumerate(parents) if k >= 0)

    chain = star(1, 13, 1)
    assert OPERATIONS["ERA"](*chain) < OPERATIONS["TSP"](*chain)
    assert printed(*chain) < OPERATIONS["ERA"](*chain)


def test_mu_is_the_size_of_a_clique_and_not_the_length_of_a_row():
    """Row i of ZᵀSM⁻¹SᵀZ: its parent, its lower siblings and itself; μ_i: body i and its children."""
    parents, n = [-1, 0, 0, 0], [1, 2, 3, 4]
    m = [6 - k for k in n]
    rows = [m[i] + sum(m[j] for j in row) for i, row in enumerate(tree_patterns(parents)[1])]
    mu = clique_sizes(parents, n)
    assert rows != mu
    assert rows[-1] == mu[0]  # the last child's row holds the clique of its parent
    assert mu[1:] == m[1:]


def test_osp_leads_for_five_and_six_freedoms_as_well():
    """The text: for joints of three and four freedoms only. Its own table: everywhere for five and six."""
    for freedoms in (5, 6):
        assert set(regions(freedoms).ravel()) == {"OSP"}
    assert "OSP" in regions(4)


# --- "Hamilton's equations behave better numerically" -----------------------------------------------------------------


def mass(q):
    """Double pendulum with rods and masses of one: M(q), (2, 2, …)."""
    c = np.cos(q[0] - q[1])
    return np.array([[2 + 0 * c, c], [c, 1 + 0 * c]])


def solve(M, b):
    det = M[0, 0] * M[1, 1] - M[0, 1] ** 2
    return np.array([M[1, 1] * b[0] - M[0, 1] * b[1], M[0, 0] * b[1] - M[0, 1] * b[0]]) / det


def pull(q):
    return -9.81 * np.array([2 * np.sin(q[0]), np.sin(q[1])])


def lagrange(x):
    q, v = x
    s = np.sin(q[0] - q[1])
    return np.array([v, solve(mass(q), pull(q) + s * np.array([-(v[1] ** 2), v[0] ** 2]))])


def hamilton(x):
    q, p = x
    v = solve(mass(q), p)
    turn = np.sin(q[0] - q[1]) * v[0] * v[1]
    return np.array([v, pull(q) + np.array([-turn, turn])])


def rk4(field, x, h, steps):
    for _ in range(steps):
        a = field(x)
        b = field(x + h / 2 * a)
        c = field(x + h / 2 * b)
        x = x + h / 6 * (a + 2 * b + 2 * c + field(x + h * c))
    return x


def test_hamiltons_equations_are_neither_better_nor_worse_numerically():
    """RK4 on (q, v) and on (q, p), 400 starts: each wins on about half of them, and both have the same limit of
    stability, since q, v → q, M v is a change of coordinates.
    """
    generator = np.random.default_rng(6)
    q, v = generator.uniform(-1.5, 1.5, (2, 400)), generator.uniform(-2, 2, (2, 400))
    starts = {lagrange: np.array([q, v]), hamilton: np.array([q, np.einsum("ijk,jk->ik", mass(q), v)])}
    exact = rk4(lagrange, starts[lagrange], 1e-3, 1000)[0]
    errors = [np.abs(rk4(field, x, 0.02, 50)[0] - exact).max(axis=0) for field, x in starts.items()]
    ratio = errors[0] / errors[1]
    assert 0.4 < (ratio > 1).mean() < 0.6
    assert 0.8 < np.median(ratio) < 1.25

    spectra = []
    for field in (lagrange, hamilton):
        columns = [field(1e-6 * e.reshape(2, 2)).ravel() / 1e-6 for e in np.eye(4)]
        spectra.append(np.sort_complex(np.linalg.eigvals(np.array(columns).T)).imag)
    assert np.sort(spectra[0]) == pytest.approx(np.sort(spectra[1]), abs=1e-6)
