"""Figures in the documents are those of the records in the repository."""

import json
import re
from pathlib import Path

import pytest

from mechanics.reference.operation_counts import OPERATIONS, star
from studies.efficiency.paper_count import era_count

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = (("liemech", "loop"), ("liemech", "lanes"), ("liemech", "batch"), ("SciPy", "batch"), ("jaxlie", "batch"),
           ("Pinocchio", "call"))  # fmt: skip
OPERATION = {
    "compose": "compose",
    "log": "log",
    "exp": "exp",
    "dexp⁻¹ y": "dexpinv_right",
    "from a matrix": "from matrix",
}


def test_times_of_groups_are_those_of_their_record():
    record = json.loads((ROOT / "benchmarks" / "results" / "liegroup.json").read_text(encoding="utf-8"))
    known = {(r["group"], r["operation"], r["library"], r["use"]): r["nanoseconds"] for r in record["runs"]}
    page = (ROOT / "docs" / "liegroup.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (SO\(3\)|SE\(3\)) (.+?) \|(.*)\|$", page, flags=re.M)
    rows = [row for row in found if row[1] in OPERATION]
    assert len(rows) == 5
    for group, name, cells in rows:
        for column, cell in zip(COLUMNS, cells.split("|"), strict=True):
            if cell.strip() != "–":
                assert float(cell) == pytest.approx(known[group, OPERATION[name], *column], rel=0.03), (group, name)


@pytest.mark.parametrize("page", ["docs/decisions.md", "studies/efficiency/README.md"])
def test_a_body_on_a_hinge_costs_what_the_formula_says(page):
    """Table 1 of Ivanov and Shimanovsky and the count agree on one more body at the end of a chain."""
    short, longer = star(1, 5, 1), star(1, 6, 1)
    dense = OPERATIONS["ERA"](*longer) - OPERATIONS["ERA"](*short)
    assert dense == pytest.approx(era_count(longer) - era_count(short)) == pytest.approx(1104)
    assert re.search(r"(takes?|has) 1104", (ROOT / page).read_text(encoding="utf-8"))


def test_the_readme_counts_the_slopes_of_the_energy_table():
    """Runs of orders 2, 4 and 6 on all mechanisms of the table, and those with a slope beyond three sigma."""
    page = (ROOT / "studies" / "energy_table" / "README.md").read_text(encoding="utf-8")
    runs = slopes = 0
    for line in re.findall(r"^\|(.*)\|$", page, flags=re.M):
        cells = [cell.strip() for cell in line.split("|")]
        if cells[1] in ("order 2", "order 4", "order 6"):
            runs += sum("unstable" not in band for band in cells[4].split(","))
            slopes += len(re.findall(r"± [0-9.e+-]+ \(", cells[5]))
    assert f" {slopes} of {runs} variational runs" in (ROOT / "README.md").read_text(encoding="utf-8")
