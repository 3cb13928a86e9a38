"""Figures in the documents are those of the records in the repository."""

import re
from pathlib import Path

import pytest

from benchmarks import __main__ as all_of_them
from benchmarks.machine import best_time
from mechanics.reference.operation_counts import OPERATIONS, star
from studies.efficiency.methods import counted
from studies.efficiency.paper_count import era_count
from studies.efficiency.trees import branched

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("page", ["docs/decisions.md", "studies/efficiency/README.md"])
def test_a_body_on_a_hinge_costs_what_the_formula_says(page):
    """Table 1 of Ivanov and Shimanovsky and the count agree on one more body at the end of a chain."""
    short, longer = star(1, 5, 1), star(1, 6, 1)
    dense = OPERATIONS["ERA"](*longer) - OPERATIONS["ERA"](*short)
    assert dense == pytest.approx(era_count(longer) - era_count(short)) == pytest.approx(1104)
    kernels = counted(branched(1, 6, 1, False))["ERA"] - counted(branched(1, 5, 1, False))["ERA"]
    text = (ROOT / page).read_text(encoding="utf-8")
    assert re.search(r"(takes?|has) 1104", text)
    assert re.search(rf"\b{kernels:.0f} operations", text)


def test_no_page_promises_energy_without_drift():
    """Symplectic runs with slopes are counted beside the promise, from their record."""
    for name in ("README.md", "docs/choose_a_method.md"):
        assert not re.search(r"without (a )?drift", (ROOT / name).read_text(encoding="utf-8"))
    assert "<!-- record: slopes of energy-table -->" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_rattle_of_lagrangians_and_of_mechanisms_are_told_apart():
    """Mechanisms need no stepper of RATTLE, Lagrangians have one."""
    from integrators.methods import find

    page = (ROOT / "docs" / "decisions.md").read_text(encoding="utf-8")
    assert "RATTLE needs no stepper of its own" in page.split("On mechanisms ", 1)[1][:60]
    assert "integrators.steppers.rattle" in page
    assert find("RATTLE").stepper.name == "rattle"


def test_what_does_nothing_is_not_timed() -> None:
    with pytest.raises(RuntimeError, match="does nothing"):
        best_time(lambda calls: None)


def test_benchmarks_are_run_by_names_that_there_are(capsys, monkeypatch) -> None:
    """Every one of them is a module; what is none is named, and so are peers that are not installed."""
    for name in all_of_them.RECORDS:
        assert (ROOT / "benchmarks" / f"{name}.py").is_file(), name
    monkeypatch.setattr("sys.argv", ["benchmarks", "trees"])
    with pytest.raises(SystemExit, match="2"):
        all_of_them.main()
    assert "trees: expected some of tree_rhs" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["benchmarks", "rods"])
    monkeypatch.setattr(all_of_them, "find_spec", lambda package: None)
    assert all_of_them.main() == 0
    assert "rods: left out, without elastica, exudyn" in capsys.readouterr().out
