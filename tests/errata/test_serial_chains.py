"""Errata of Yaskevich, mass matrix of a serial chain: recursions, counts and claims, printed and corrected."""

import numpy as np
import pytest

from mechanics.constraints.equations import geometry
from mechanics.joints import Revolute
from mechanics.reference.counting import Tally
from mechanics.reference.operation_counts import MASS_MATRIX_OPERATIONS, mass_matrix_operations
from mechanics.reference.serial import serial_chain, stepanenko, yaskevich
from mechanics.reference.serial.chain import Chain
from mechanics.reference.serial.yaskevich import distances
from mechanics.testing import random_tree


def example(N):
    """A chain of N revolute joints, its form in base axes, and its mass matrix from the bodies' Jacobians."""
    generator = np.random.default_rng(N)
    tree = random_tree("chain", N, generator, (Revolute,))
    g = geometry(tree, tree.random_configuration(generator))
    return tree, serial_chain(tree, np.array(g.x), np.array(g.R)), g.mass_matrix(tree)


def whole(rows):
    """A symmetric matrix from its lower triangle."""
    N = len(rows)
    return np.array([[rows[max(i, j)][min(i, j)] for j in range(N)] for i in range(N)], dtype=float)


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def by_the_sums(x, second):
    """A from (13), (15), (16), (20), with M2 given by `second(i, j, r)` from (14), dense."""
    N, r = len(x.m), {k: np.array(v) for k, v in distances(x).items()}
    e, c = np.array(x.e), [skew(v) for v in x.c]
    tensors = [np.array(t).reshape(3, 3) for t in x.inertia]
    A = np.zeros((N, N))
    for j in range(N):
        for i in range(j + 1):
            M = sum(tensors[j:], np.zeros((3, 3))) + (second(i, j, r) if j < N - 1 else 0)
            M = M + sum((c[k] @ skew(r[j, k]).T for k in range(j + 1, N)), np.zeros((3, 3)))
            M = M + sum((c[k] @ skew(r[i, k]).T for k in range(max(j, i + 1), N)), np.zeros((3, 3))).T
            A[i, j] = A[j, i] = e[i] @ M @ e[j]
    return A


@pytest.mark.parametrize(("N", "least"), [(3, 0.05), (6, 0.05), (12, 0.05)])
def test_recursion_14b_lacks_the_accumulated_moment(N, least):
    """m_{j+1} r̃_{i,j+1} r̃ᵀ_{j,j+1} + M2_{i,j+1} is right for two joints only; s̃_{i,j+1}, s_ij = Σ_{k≥j} m_k r_ik, for
    all.
    """

    def corrected(x):
        moment = lambda i, j, r: sum(x.m[k] * r[i, k] for k in range(j, len(x.m)))  # noqa: E731
        return lambda i, j, r: sum(skew(moment(i, k, r)) @ skew(r[k - 1, k]).T for k in range(j + 1, len(x.m)))

    def printed(x):
        return lambda i, j, r: sum(x.m[k] * skew(r[i, k]) @ skew(r[k - 1, k]).T for k in range(j + 1, len(x.m)))

    for count, wrong in ((2, False), (N, True)):
        _, x, true = example(count)
        off = [np.abs(by_the_sums(x, form(x)) - true).max() / np.abs(true).max() for form in (corrected, printed)]
        assert off[0] < 1e-14
        assert off[1] > least if wrong else off[1] < 1e-14
    assert np.abs(whole(yaskevich(x)) - true).max() < 1e-14 * np.abs(true).max()


def test_the_tensor_of_inertia_is_about_the_joint():
    """I_j about O_j; about the centre of mass the diagonal of A misses m d²."""
    tree, x, true = example(6)
    central = [body.inertia.tensor_about_com for body in tree.bodies]
    about_joint = [np.array(tensor).reshape(3, 3) for tensor in x.inertia]
    moments = [skew(c) @ skew(c).T / m for c, m in zip(x.c, x.m, strict=True)]
    turned = [J - shift for J, shift in zip(about_joint, moments, strict=True)]
    for J, own in zip(turned, central, strict=True):
        assert np.linalg.eigvalsh(J) == pytest.approx(np.linalg.eigvalsh(own), abs=1e-14)
    wrong = whole(yaskevich(x._replace(inertia=[tuple(J.ravel()) for J in turned])))
    assert np.abs(whole(yaskevich(x)) - true).max() < 1e-14 * np.abs(true).max()
    assert np.abs(np.diag(wrong) / np.diag(true) - 1).max() > 0.02


def test_sums_17a_and_18a_start_at_the_last_body():
    """f_j := f_jᴵᴱ for *all* j, as printed, leaves b without the bodies beyond each joint; at rest b is the pull of
    gravity.
    """
    tree, _, _ = example(5)
    gravity = np.array([0.0, 0.0, -9.81])
    g = geometry(tree, np.zeros(5))
    x = serial_chain(tree, np.array(g.x), np.array(g.R))
    pull = np.zeros(5)
    for J, R, body in zip(g.J, g.R, tree.bodies, strict=True):
        weight = body.inertia.mass * (R.T @ gravity)
        pull += J.T @ np.concatenate([weight, np.cross(body.inertia.com, weight)])

    def moment(j, last):
        own = [np.cross(x.c[k], gravity) for k in range(j, last)]
        lever = [np.cross(r[j, k], x.m[k] * gravity) for k in range(j + 1, last)]
        return np.array(x.e[j]) @ sum(own + lever)

    r = distances(x)
    assert [moment(j, 5) for j in range(5)] == pytest.approx(list(pull), abs=1e-12)
    assert np.abs(np.array([moment(j, j + 1) for j in range(5)]) - pull).max() > 1.0


# --- counts -----------------------------------------------------------------------------------------------------------


def total(*rows):
    """Sum of polynomials in N, highest power first."""
    return tuple(float(sum(column)) for column in zip(*rows, strict=True))


FIRST, INNER = (0, 1, -1), (0.5, -1.5, 1)
"""Matrices of (14a), (15a): N − 1; of (14b), (15b): (N² − 3N + 2)/2."""


def times(count, each):
    return tuple(each * c for c in count)


def test_the_multiplications_of_14_add_up_to_another_sum():
    """36 of each matrix: 18 N² − 18 N, where the text and row 7 of the table have 18 N² − 18."""
    right = total(times(FIRST, 36), times(INNER, 36))
    assert right == (18, -18, 0)
    printed = (18, 0, -18)
    assert np.polyval(printed, 6) - np.polyval(right, 6) == 90


def test_row_8_of_the_table_forgets_equation_15a():
    """Row 8 is the cost of (15b) alone."""
    assert (times(INNER, 27), times(INNER, 36)) == ((13.5, -40.5, 27), (18, -54, 36))
    right = total(times(FIRST, 27), times(INNER, 27)), total(times(FIRST, 27), times(INNER, 36))
    assert right == ((13.5, -13.5, 0), (18, -27, 9))


ROWS = {
    1: ((0, 0, 0), (0, 1, 0)),
    2: ((0, 0, 0), (1.5, -4.5, 3)),
    3: ((1.5, -1.5, 0), (0, 0, 0)),
    4: ((0, 0, 0), (1.5, -1.5, 0)),
    6: ((0, 0, 0), (0, 9, -9)),
    7: ((18, 0, -18), (18, -27, 9)),
    8: ((13.5, -40.5, 27), (18, -54, 36)),
    9: ((0, 0, 0), (13.5, -4.5, -9)),
    10: ((3, 3, 0), (3, 3, 0)),
}
"""Table 1 as printed: row → (multiplications, additions); there is no row 5."""


def test_row_11_is_not_the_sum_of_its_column():
    """Additions: −97.5 N is printed, −78.5 N with row 1 and −79.5 N without it is the sum."""
    additions = total(*(row[1] for row in ROWS.values()))
    assert additions == (55.5, -78.5, 30)
    assert total(additions, (0, -1, 0)) == (55.5, -79.5, 30)
    assert MASS_MATRIX_OPERATIONS["Yaskevich, printed"][1] == (55.5, -97.5, 30)
    mended = dict(ROWS)
    del mended[1]
    mended[7] = ((18, -18, 0), ROWS[7][1])
    mended[8] = ((13.5, -13.5, 0), (18, -27, 9))
    sums = tuple(total(*(row[k] for row in mended.values())) for k in (0, 1))
    assert sums == MASS_MATRIX_OPERATIONS["Yaskevich, arithmetic repaired"]


def test_an_entry_of_the_matrix_costs_twice_what_row_10_counts():
    """e_iᵀ M e_j: nine and nine for M e_j, three and three for the product: 24 operations, not 12."""
    tally = Tally()
    M, e = tally.array(np.ones((3, 3))), tally.array(np.ones(3))
    zero = tally.array(np.zeros(3))  # the convention of the paper: a cell is cleared, then added to

    def product(a, b):
        found = zero[0]
        for x, y in zip(a, b, strict=True):
            found = found + x * y
        return found

    product(e, [product(row, e) for row in M])
    assert (tally.multiplications, tally.additions) == (12, 12)
    N = 6
    assert np.polyval(ROWS[10][0], N) + np.polyval(ROWS[10][1], N) == 12 * (N * (N + 1) / 2)


def test_stepanenkos_passes_cost_about_half_of_row_16():
    """Counted on the same conventions: 38.5 N² − 12.5 N + 3, against 69 N² + 69 N in print."""
    counted = MASS_MATRIX_OPERATIONS["Stepanenko, counted"]
    for N in (6, 12):
        _, x, true = example(N)
        tally = Tally()
        vectors = {k: [tuple(tally.array(np.array(v))) for v in getattr(x, k)] for k in ("e", "r", "c", "inertia")}
        found = stepanenko(
            Chain(x.rotary, vectors["e"], vectors["r"], list(tally.array(x.m)), vectors["c"], vectors["inertia"])
        )
        assert np.abs(whole(found) - true).max() < 1e-13 * np.abs(true).max()
        assert tally.total == sum(np.polyval(row, N) for row in counted) == 38.5 * N**2 - 12.5 * N + 3
        assert 1.8 * tally.total < 69 * N**2 + 69 * N


def test_the_recursion_leads_by_its_own_table_up_to_eight_joints_only():
    """The printed polynomials cross after N = 8; counted, composite bodies are cheaper for every N ≥ 3."""

    def operations(name, N):
        return sum(mass_matrix_operations(name, N))

    assert (operations("Yaskevich, printed", 8), operations("Stepanenko, printed", 8)) == (4803, 4968)
    assert (operations("Yaskevich, printed", 9), operations("Stepanenko, printed", 9)) == (6222, 6210)
    for N in range(3, 31):
        assert operations("composite rigid body, counted", N) < operations("Yaskevich corrected, counted", N)
    assert operations("Yaskevich corrected, counted", 6) == 1560
    assert operations("composite rigid body, counted", 6) == 709


def test_the_accumulation_of_products_must_begin_on_the_diagonal_of_the_block():
    """For j₁ = i₁ to j_{R,E}, as printed, runs over columns that are not there if those of the right factor begin after
    i₁; j₁ = max(i₁, j_{R,B}) does not.
    """
    left, right = range(0, 2), range(3, 5)
    printed = [(i, j) for i in left for j in range(i, right.stop)]
    mended = [(i, j) for i in left for j in range(max(i, right.start), right.stop)]
    assert mended == [(i, j) for i in left for j in right]
    assert set(printed) - set(mended) == {(0, 0), (0, 1), (0, 2), (1, 1), (1, 2)}
