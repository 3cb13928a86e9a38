"""The printed tables, and what follows from them."""

import numpy as np
import pytest

from mechanics.reference.operation_counts import OPERATIONS, best_method, mass_matrix_operations, regions, star


def boundary(row, method):
    """Longest chain for which the method is the cheapest, counted from the start of the row."""
    other = np.flatnonzero(row != method)
    return len(row) if not len(other) else int(other[0])


def test_one_degree_of_freedom_tsp_up_to_twelve_then_era():
    for row in regions(1):
        assert boundary(row, "TSP") == 12
        assert set(row[12:]) == {"ERA"}


def test_two_degrees_of_freedom_tsp_up_to_five_or_six_then_era():
    for c, row in enumerate(regions(2), 1):
        assert boundary(row, "TSP") == (6 if c <= 3 else 5)
        assert set(row[6:]) == {"ERA"}


def test_three_degrees_of_freedom_have_all_three_regions():
    table = regions(3)
    assert [boundary(row, "TSP") for row in table[[0, 2, 4, 7]]] == [1, 1, 2, 3]
    assert list(np.flatnonzero(table[29] == "ERA") + 1) == list(range(4, 21))
    assert set(table[29][20:]) == {"OSP"}


def test_four_degrees_of_freedom_osp_but_for_the_shortest_chains():
    table = regions(4)
    assert set(table.ravel()) == {"OSP", "TSP"}
    assert {boundary(row, "TSP") for row in table[:10]} == {0}
    assert boundary(table[10], "TSP") == 1
    assert boundary(table[29], "TSP") == 2


@pytest.mark.parametrize("freedoms", [5, 6])
def test_five_and_six_degrees_of_freedom_osp_everywhere(freedoms):
    assert set(regions(freedoms).ravel()) == {"OSP"}


def test_free_base_shortens_the_reach_of_tsp():
    """From three branches on; below, the heavy root joint leaves cells to OSP and shifts the boundary by one."""
    assert {boundary(row, "TSP") for row in regions(1, root_freedoms=6)[2:]} == {3}
    assert {boundary(row, "TSP") for row in regions(2, root_freedoms=6)[2:]} == {2}
    assert regions(1, root_freedoms=6)[0, 0] == regions(2, root_freedoms=6)[0, 0] == "OSP"


def test_costs_of_chains_are_linear_for_era_and_cubic_for_tsp():
    chains = [star(1, length, 1) for length in (2000, 4000)]
    assert OPERATIONS["ERA"](*chains[1]) / OPERATIONS["ERA"](*chains[0]) == pytest.approx(2, rel=0.02)
    assert OPERATIONS["TSP"](*chains[1]) / OPERATIONS["TSP"](*chains[0]) > 7.5
    assert best_method(chains[1]) == "ERA"


@pytest.mark.parametrize(
    ("algorithm", "multiplications", "additions"),
    [("Yaskevich, printed", 1071, 1443), ("kosynka, printed", 1458, 5856), ("Stepanenko, printed", 1596, 1302)],
)
def test_printed_polynomials_give_the_printed_figures_of_the_space_manipulator(algorithm, multiplications, additions):
    """Six joints: totals 2514, 7314 and 2898."""
    assert mass_matrix_operations(algorithm, 6) == (multiplications, additions)


def test_the_printed_advantage_over_stepanenko_ends_at_eight_joints():
    total = {
        N: [sum(mass_matrix_operations(a, N)) for a in ("Yaskevich, printed", "Stepanenko, printed")] for N in (8, 9)
    }
    assert total[8] == [4803, 4968]
    assert total[9] == [6222, 6210]


def test_composite_rigid_body_is_cheaper_from_three_joints_on():
    for N in range(3, 30):
        counts = {
            a: sum(mass_matrix_operations(a, N))
            for a in ("composite rigid body, counted", "Yaskevich corrected, counted")
        }
        assert counts["composite rigid body, counted"] < counts["Yaskevich corrected, counted"]
