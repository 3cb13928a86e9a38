"""The study of efficiency: its counts are exact where the paper's are, its answer is complete, its verdicts can
fail.
"""

import json

import numpy as np
import pytest

from mechanics.reference.operation_counts import OPERATIONS, clique_sizes, path_freedoms, star
from studies.efficiency import EFFICIENCY
from studies.efficiency.methods import counted
from studies.efficiency.paper_count import era_count, osp_count, tsp_count
from studies.efficiency.question import EfficiencyConfig
from studies.efficiency.trees import JOINTS, branched
from studies.study import answer

TREES = [([-1], [3]), ([-1, 0], [1, 1]), ([-1, 0, 0, 1], [6, 3, 2, 4]), star(2, 3, 5), star(1, 4, 2, 6)]


def triangles(sizes):
    return sum(n * (n + 1) // 2 for n in sizes)


@pytest.mark.parametrize("tree", TREES)
def test_the_formulas_of_the_projections_are_counts_up_to_a_constant_per_body_and_what_the_table_forgets(tree):
    parents, n = tree
    eta, mu, m = path_freedoms(*tree), clique_sizes(*tree), [6 - n_i for n_i in n]
    of_parents = [k for k in parents if k >= 0]
    entries = triangles(eta) - triangles(eta[k] for k in of_parents)
    assert OPERATIONS["TSP"](*tree) - tsp_count(tree) == pytest.approx(entries + 63 + 268 * len(of_parents), abs=1e-6)
    entries = triangles(mu) - triangles(m[1:])
    assert OPERATIONS["OSP"](*tree) - osp_count(tree) == pytest.approx(
        entries - 37 * len(n) - 42 * sum(m[1:]), abs=1e-6
    )


@pytest.mark.parametrize("tree", TREES)
def test_the_formula_of_the_recursion_is_the_count_in_the_papers_own_terms(tree):
    assert era_count(tree) == OPERATIONS["ERA"](*tree)


@pytest.mark.parametrize("freedoms", JOINTS)
def test_joints_have_the_degrees_of_freedom_they_stand_for(freedoms):
    tree = branched(2, 2, freedoms, False)
    assert tree.nv == 5 * freedoms
    assert branched(2, 2, freedoms, True).nv == 6 + 4 * freedoms


def test_counts_of_the_recursion_grow_by_the_same_for_every_body_and_those_of_the_projection_by_more():
    found = [counted(branched(1, length, 1, False)) for length in (4, 5, 6, 7)]
    era, tsp = (np.diff([f[name] for f in found]) for name in ("ERA", "TSP"))
    assert len(set(era)) == 1
    assert (np.diff(tsp) > 0).all()


def test_the_answer_is_a_table_a_picture_a_data_file_and_a_summary(tmp_path, capsys):
    config = EfficiencyConfig(
        freedoms=(1, 3), branches=(1, 2), lengths=(1, 4), chunk=1e-4, repeats=2, out=tmp_path, progress=False,
        links=(10,), methods=("RKMK4",), steps=(4e-3,), horizon=2.0, starts=8,
    )  # fmt: skip
    answer(EFFICIENCY, config)
    printed = capsys.readouterr().out
    assert "Yaskevich, printed" in printed
    summary = json.loads((tmp_path / "summary.json").read_text())
    by_source = {(r["source"], r.get("freedoms"), r.get("free_base")): r for r in summary["runs"]}
    assert by_source["formula", 1, False]["last_length_of_TSP"] == 12
    assert by_source["formula", 3, False]["share_OSP"] > 0.7
    assert by_source["counted", 1, False]["share_ERA"] == 1.0
    assert by_source["Yaskevich, printed", None, None]["operations"] == 2514
    for r in summary["runs"]:
        if "share_TSP" in r:
            assert r["share_TSP"] + r["share_OSP"] + r["share_ERA"] == pytest.approx(1.0)
    (chain,) = (r for r in summary["runs"] if r["source"] == "energy error")
    assert 0.0 < chain["energy_error_momenta"] < 1e-2
    assert 0.0 < chain["energy_error_velocities"] < 1e-2
    for suffix in ("png", "pdf", "h5"):
        assert (tmp_path / f"efficiency.{suffix}").stat().st_size > 1000
