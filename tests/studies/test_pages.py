"""Pages and records: what a page says between its marks is what the record beside it holds."""

import re

import pytest

from studies.pages import BLOCK, FOLDER, blocks_of, number, recorded, runs_of, written


@pytest.mark.parametrize("folder", recorded())
def test_the_page_says_what_the_record_holds(folder):
    page = (FOLDER / folder / "README.md").read_text(encoding="utf-8")
    names = [match[1] for match in BLOCK.findall(page)]
    assert sorted(names) == sorted(blocks_of(folder))
    assert written(folder) == page, "write the pages anew: python -m studies.pages"


@pytest.mark.parametrize("folder", recorded())
def test_numbers_outside_the_marks_describe_the_question_and_not_the_answer(folder):
    """After its title of results a page has no table but those of the record, up to what it calls earlier runs."""
    page = (FOLDER / folder / "README.md").read_text(encoding="utf-8")
    answer = re.split(r"^(?:## What came out|\*\*What came out)", page, flags=re.M)[1].split("\n# Earlier runs")[0]
    assert not re.findall(r"^\|", BLOCK.sub("", answer), flags=re.M)


MEASURED = {
    "gap",
    "constraint_residual",
    "energy_band",
    "energy_slope",
    "path_error",
    "integral_error",
    "pin_deviation",
}


@pytest.mark.parametrize("folder", recorded())
def test_a_record_has_no_results_that_were_not_measured(folder):
    """Errors of exactly zero are written, not measured: None stands for what a run does not have."""
    for run in runs_of(folder):
        assert not [key for key in MEASURED & set(run) if run[key] == 0.0], run


def test_numbers_are_short():
    assert [number(x) for x in (0.0012, 1.2e-13, 0.14, 12.0, 250.0, None, 0)] == [
        "1.2e-3", "1.2e-13", "0.14", "12", "2.5e2", "–", "0",
    ]  # fmt: skip
