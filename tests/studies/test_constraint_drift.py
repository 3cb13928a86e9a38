"""The comparison of loop closures: what it leaves, and that its verdicts can fail."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.peers import PACKAGES
from integrators.results.storage import read
from studies.constraint_drift import CONSTRAINT_DRIFT, question
from studies.constraint_drift.formulations import formulations
from studies.constraint_drift.picture import LOOK
from studies.constraint_drift.question import ConstraintDriftConfig, best, records, remarks, run
from studies.registry import STUDIES
from studies.study import answer


@pytest.fixture(scope="module")
def result():
    return run(ConstraintDriftConfig(quick=True, progress=False))


def greatest(result, family):
    return np.maximum.accumulate(best(result.runs, family).gap)


def test_gaps_grow_where_nothing_holds_them_and_stay_where_something_does(result):
    free, held, closed = (greatest(result, family) for family in ("Lagrange I", "Baumgarte", "Hamiltonian closed"))
    assert free[-1] > 20 * free[len(free) // 10]
    assert held[-1] < 3 * held[len(held) // 2]
    assert held[-1] < 0.1 * free[-1]
    assert closed[-1] < 1e-12


def test_every_record_says_what_was_run(result):
    for record in records(result):
        assert {
            "system",
            "formulation",
            "coordinates",
            "method",
            "step",
            "horizon",
            "gap",
            "energy_band",
            "microseconds_per_step",
        } <= set(record)
    exact = [r for r in records(result) if r["formulation"] == "Hamiltonian closed" and r["system"] == "four-bar"]
    assert exact[0]["angle_error"] < 1e-2


def test_imperfect_lengths_tell_levels_of_closure_apart(result):
    """A millionth of a millionth of a metre: methods that close positions or velocities pass."""
    passed = {r.formulation.family for r in result.imperfect if r.angle_error_or_more < 1e-3}
    assert {"projection", "Hamiltonian closed"} <= passed
    assert any("lengths off by 1e-12" in line for line in remarks(result))


def test_every_family_has_a_look():
    assert {f.family for f in formulations(3.0, 0.01, (0.1, 1.0))} | set(PACKAGES) == set(LOOK)


@pytest.mark.parametrize(("peer", "most"), [("Pinocchio", 0.02), ("MuJoCo", 1e-5)])
def test_peers_move_the_same_mechanism(peer, most):
    """Pinocchio's example steps with an error of the first order, MuJoCo's RK4 down to the softness of its equality
    constraints.
    """
    pytest.importorskip(PACKAGES[peer])
    config = ConstraintDriftConfig(
        systems=("four-bar",),
        families=(peer,),
        steps=(1e-3, 5e-4),
        horizon=0.5,
        gains=(3.0,),
        imperfections=(),
        progress=False,
    )
    coarse, fine = sorted(run(config).runs, key=lambda r: -r.step)
    assert fine.angle_error < most
    assert np.nanmax(fine.gap) < 0.1 * most
    if peer == "Pinocchio":
        assert fine.angle_error == pytest.approx(0.5 * coarse.angle_error, rel=0.2)


def test_peers_are_judged_like_everything_else():
    """Runs of other programs get records and sentences, too: whether they arrived, gaps, energies."""
    pytest.importorskip("mujoco")
    config = ConstraintDriftConfig(
        systems=("four-bar",), families=("MuJoCo",), steps=(0.01,), horizon=0.5, gains=(1.0,), imperfections=(),
        progress=False,
    )  # fmt: skip
    found = run(config)
    (row,) = records(found)
    assert (row["status"], row["reached"]) == ("OK", pytest.approx(0.5))
    assert 0 < row["gap"] < 1e-3
    assert any("MuJoCo" in line for line in remarks(found))


def test_missing_peers_are_named(monkeypatch, result):
    monkeypatch.setattr(question, "missing", lambda: ["MuJoCo"])
    assert any("MuJoCo is not installed" in line for line in remarks(result))


def test_motors_are_in_the_account(result):
    """The squeezer: the energy less the work of its motor."""
    config = ConstraintDriftConfig(
        systems=("squeezer",), families=("projection",), steps=(1e-2,), imperfections=(), horizon=3.0, progress=False
    )
    (found,) = run(config).runs
    assert found.step == 1e-4
    assert found.horizon == pytest.approx(0.03)
    assert found.band < 1e-3 * np.ptp(found.work)


def test_it_leaves_figure_data_and_summary(result, tmp_path, films):
    study = replace(CONSTRAINT_DRIFT, run=lambda config: result)
    out = answer(study, ConstraintDriftConfig(out=tmp_path, quick=True, progress=False))
    summary = json.loads((out / "summary.json").read_text())
    assert len(summary["runs"]) == len(result.runs) + len(result.imperfect)
    data = read(out / "constraint-drift.h5")
    assert data.variables["gap"].values.shape[0] == len(summary["runs"])
    assert (out / "constraint-drift.png").stat().st_size > 10_000
    assert films(out / "motion.html") > 0
    assert STUDIES["constraint-drift"] is CONSTRAINT_DRIFT


def test_unknown_systems_are_named():
    with pytest.raises(ValueError, match="expected some of four-bar"):
        run(ConstraintDriftConfig(systems=("five-bar",)))
