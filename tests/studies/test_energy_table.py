"""The table of long runs: its verdicts follow from the runs, and Pinocchio moves the same mechanisms."""

import numpy as np
import pytest

from studies.energy_drift.question import EnergyDriftConfig
from studies.energy_drift.question import run as run_one
from studies.energy_table import page
from studies.energy_table.question import STEPS, EnergyTableConfig, common_error, cost_at, records, run
from studies.registry import STUDIES


@pytest.fixture(scope="module")
def found():
    return run(EnergyTableConfig(quick=True, progress=False))


def test_every_mechanism_has_all_its_runs(found):
    rows = records(found)
    assert [(r["model"], r["method"], r["step"]) for r in rows] == [
        (name, method, h)
        for name in ("heavy-top", "floating-chain-10")
        for method in ("TREE_VARIATIONAL", "RKMK4")
        for h in STEPS[name]
    ]
    floating = [r for r in rows if r["model"] == "floating-chain-10"]
    assert max(r["momentum_error"] for r in floating if r["method"] == "TREE_VARIATIONAL") < 1e-11
    assert min(r["momentum_error"] for r in floating if r["method"] == "RKMK4") > 1e-9, (
        "the ruler sees a momentum that is not kept"
    )


def test_the_cost_at_equal_error_lies_between_the_runs_or_is_a_bound(found):
    for _, result in found:
        runs = [r for r in result.runs if r.method == "TREE_VARIATIONAL"]
        cost = sorted(1e6 * r.solution.seconds / result.config.horizon for r in runs)
        bound, value = cost_at(result, "TREE_VARIATIONAL", common_error(result))
        assert bound == ""
        assert 0.999 * cost[0] <= value <= 1.001 * cost[-1]
        assert cost_at(result, "TREE_VARIATIONAL", 1e9)[0] == "≤"
        assert cost_at(result, "TREE_VARIATIONAL", 0.0)[0] == "≥"


def test_the_picture_and_the_data_hold_all_runs(found):
    study = STUDIES["energy-table"]
    assert len(study.figure(found).axes) >= len(found)
    assert len(np.asarray(study.data(found).variables["run"].values)) == 12
    assert len(study.remarks(found)) == 2


def test_of_a_method_that_ran_twice_the_longer_run_stands_in_the_table(found):
    rows = [dict(r) for r in records(found)]
    longer = [{**r, "horizon": 2 * r["horizon"], "energy_band": 0.25} for r in rows if r["method"] == "RKMK4"]
    gathered = page.gathered([*rows, *longer])
    both = ["TREE_VARIATIONAL", "RKMK4"]
    assert {model: list(methods) for model, methods in gathered.items()} == {
        "floating-chain-10": both,
        "heavy-top": both,
    }
    assert page.gathered([*longer, *rows]) == gathered
    table = page.table([*rows, *longer]).splitlines()[2:]
    assert len(table) == 4
    assert "0.25, 0.25, 0.25" in table[1]
    assert "40, 20, 10 ms" in table[1]
    assert "RKMK4" in page.verdicts([*rows, *longer])


def test_a_slope_within_rounding_is_none():
    assert page.drifts({"energy_slope": 1e-13, "energy_slope_sigma": 1e-15, "horizon": 1.0}) is False
    assert page.drifts({"energy_slope": 1e-11, "energy_slope_sigma": 1e-12, "horizon": 1.0}) is True


def test_mechanisms_without_steps_are_named():
    with pytest.raises(ValueError, match="unicycle"):
        run(EnergyTableConfig(models=("unicycle",)))


@pytest.mark.parametrize("model", ["chain-3", "floating-chain-3", "ball-chain-2"])
def test_pinocchio_moves_the_same_mechanism(model):
    """By a method of order one: the gap halves with the step."""
    pytest.importorskip("pinocchio")
    config = EnergyDriftConfig(
        model=model, methods=("RKMK4", "PINOCCHIO_EULER"), steps=(2e-3, 1e-3), horizon=0.2, progress=False
    )
    _, truth, coarse, fine = run_one(config).runs
    gaps = [np.abs(r.solution.y[-1] - truth.solution.y[-1]).max() for r in (coarse, fine)]
    assert 1.8 < gaps[0] / gaps[1] < 2.2
