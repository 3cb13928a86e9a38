"""The table of verdicts: what it says of the clearest cases, and that its words can change."""

import json
from dataclasses import replace

import numpy as np
import pytest

from integrators.results.storage import read
from mechanics.systems.rolling.driven_pair import MEMBERS
from studies.nonholonomic_truth import NONHOLONOMIC_TRUTH
from studies.nonholonomic_truth.question import COLUMNS, TruthConfig, rate_slopes, run
from studies.study import answer

CONFIG = TruthConfig(problems=("L0", "RVF"), steps=4000, rate_steps=(0.2, 0.1), rate_horizon=400.0, progress=False)


@pytest.fixture(scope="module")
def result():
    return run(CONFIG)


def verdicts(result, problem):
    return {r.label: r.verdict for r in result.table if r.problem == problem}


def test_symmetric_methods_are_bounded_on_the_reversible_problem_and_the_others_drift(result):
    found = verdicts(result, "L0")
    assert found.pop("energy-exact") == "exact"
    assert found.pop("DLA left") == "decays"
    assert found.pop("RK4, u = y'") == "linear"
    assert set(found.values()) == {"bounded"}


def test_on_the_rotating_problem_only_orthonormal_frames_and_gni_stay(result):
    found = verdicts(result, "RVF")
    assert found["DLA midpoint"] == found["MP"] == "grows"
    assert found["DLA left"] == "decays"
    assert found["midpoint, orthonormal"] == found["GNI"] == "bounded"
    assert found["energy-exact"] == "exact"
    gni = {r.problem: r.parasitic for r in result.table if r.label == "GNI"}
    assert gni["RVF"] > 3 * gni["L0"]


def test_only_orbits_without_a_reversal_are_marked():
    assert [
        m for m in ("CO0", "CO3", "L0", "L3", "R0", "RV", "RVF", "K", "B0", "B3") if not MEMBERS[m].symmetric_driver
    ] == [
        "RV",
        "RVF",
        "B3",
    ]


def test_growth_rates_fall_with_the_square_of_the_step(result):
    slopes = rate_slopes(result)
    for label in ("DLA midpoint", "DLA trapezoid", "MP"):
        assert slopes[label][0] == pytest.approx(2.0, abs=0.2)
    signs = {r.label: np.sign(r.drift.slope) for r in result.rates if r.step == 0.2 and r.drift}
    assert signs["DLA midpoint"] == 1
    assert signs["DLA trapezoid"] == -1, "the discrete constraint decides between growth and decay"


def test_every_column_meets_every_problem_and_the_answer_is_left(result, tmp_path, films):
    assert [(r.problem, r.label) for r in result.table] == [(p, c) for p in CONFIG.problems for c in COLUMNS]
    study = replace(NONHOLONOMIC_TRUTH, run=lambda config: result)
    out = answer(study, TruthConfig(out=tmp_path / "truth", progress=False))
    runs = json.loads((out / "summary.json").read_text())["runs"]
    assert len(runs) == len(result.table) + len(result.rates)
    assert {"system", "method", "verdict", "energy_error", "growth_rate", "reversible"} <= set(runs[0])
    stored = read(out / "nonholonomic-truth.h5")
    assert "driven_energy_table_0" in stored.variables
    assert (out / "nonholonomic-truth.png").stat().st_size > 10_000
    assert films(out / "motion.html") > 0
