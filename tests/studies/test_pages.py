"""Pages and records: what a page says between its marks is what the records hold."""

import dataclasses
import json
import re
import shlex

import pytest

from studies import pages, records
from studies.pages import BLOCK, MADE, WITHOUT, blocks_of
from studies.records import BENCHMARKS, EVERY, FOLDER, ROOT, labels_of, number, record_of, recorded, runs_of
from studies.registry import STUDIES

NAMES = [path.relative_to(ROOT).as_posix() for path in pages.pages() if BLOCK.search(path.read_text(encoding="utf-8"))]
RECORDS = [(folder, label) for folder in recorded() for label in labels_of(folder)]
SOURCES = [*recorded(), BENCHMARKS]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_what_the_records_hold(name):
    assert pages.written(ROOT / name) == text(name), "write the pages anew: python -m studies.pages"


def test_every_study_has_a_record():
    assert recorded() == sorted(name.replace("-", "_") for name in STUDIES)


@pytest.mark.parametrize("folder", SOURCES)
def test_every_block_stands_on_a_page(folder):
    own = f"studies/{folder}/README.md"
    shown = {
        mark[2] for name in NAMES for mark in BLOCK.finditer(text(name))
        if (mark[3] or "").replace("-", "_") == folder or (name == own and not mark[3])
    }  # fmt: skip
    assert set(blocks_of(folder)) == shown - {MADE}


@pytest.mark.parametrize(("folder", "label"), RECORDS)
def test_the_page_says_how_each_of_its_records_was_made(folder, label):
    page = text(f"studies/{folder}/README.md")
    assert f"<!-- record: made{f' of {label}' if label else ''} -->" in page
    record = record_of(folder, label)
    assert {"commit", "processor"} <= set(record["versions"])


@pytest.mark.parametrize(("folder", "label"), RECORDS)
def test_a_record_can_be_run_again_by_its_own_command(folder, label):
    """The command line on the page, read by the studies' own parser, gives the configuration of the record."""
    import tyro

    record = record_of(folder, label)
    config = pages.config_of(record)
    line = shlex.split(pages.command(record))
    assert line[:4] == ["python", "-m", "studies", folder.replace("_", "-")]
    assert tyro.cli(type(config), args=line[4:]) == config
    plain = json.loads(json.dumps({k: v for k, v in dataclasses.asdict(config).items() if k not in WITHOUT}))
    assert plain == {**plain, **{k: v for k, v in record["config"].items() if k not in WITHOUT}}


@pytest.mark.parametrize("folder", recorded())
def test_numbers_outside_the_marks_describe_the_question_and_not_the_answer(folder):
    """After its title of results a page has no table but those of its records, and no number in scientific notation."""
    answer = re.split(r"^## What came out", text(f"studies/{folder}/README.md"), flags=re.M)[1]
    answer = BLOCK.sub("", answer)
    assert not re.findall(r"^\|", answer, flags=re.M)
    assert not re.findall(r"\d[eE][-+]?\d", answer)


MEASURED = {
    "gap",
    "constraint_residual",
    "energy_band",
    "energy_slope",
    "path_error",
    "integral_error",
    "pin_deviation",
}


@pytest.mark.parametrize(("folder", "label"), RECORDS)
def test_a_record_has_no_results_that_were_not_measured(folder, label):
    """Errors of exactly zero are written, not measured: None stands for what a run does not have."""
    for run in runs_of(folder, label):
        assert not [key for key in MEASURED & set(run) if run[key] == 0.0], run


def test_a_replaced_record_rewrites_its_page(tmp_path, monkeypatch):
    """Every number of a block follows the record: with all energies doubled no line of the table stays."""
    folder, page = "energy_drift", FOLDER / "energy_drift" / "README.md"
    before = pages.block(page, "panda", None)
    record = record_of(folder)
    for run in record["runs"]:
        run["energy_band"] = 2.5 * run["energy_band"] if run["energy_band"] else None
    changed = tmp_path / "summary.json"
    changed.write_text(json.dumps(record), encoding="utf-8")
    monkeypatch.setattr(records, "file_of", lambda folder, label="": changed)
    after = pages.block(page, "panda", None)
    rows = [(a, b) for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if " ms " in a]
    assert len(rows) == 12
    assert all(a != b for a, b in rows)


def test_a_record_runs_again_with_a_further_method():
    config = pages.config_of(record_of("energy_drift"))
    wider = pages.widened(config, ("CF4", "RKMK4"))
    assert wider.methods == (*config.methods, "CF4")
    assert dataclasses.replace(wider, methods=config.methods) == config
    with pytest.raises(ValueError, match="has no list of methods"):
        pages.widened(pages.config_of(record_of("constraint_drift")), ("CF4",))


def test_a_block_that_no_study_has_is_named():
    with pytest.raises(ValueError, match="'nothing' of 'energy_drift', expected one of panda"):
        pages.block(ROOT / "README.md", "nothing", "energy-drift")


def test_a_new_run_agrees_with_the_record_of_long_runs():
    """On the motion that is not chaotic: the heavy top by both methods at the largest step."""
    from studies.energy_drift.question import EnergyDriftConfig
    from studies.energy_drift.question import run as run_one

    recorded_runs = runs_of("energy_table")
    for method in ("TREE_VARIATIONAL", "RKMK4"):
        (row,) = (r for r in recorded_runs if (r["model"], r["method"], r["step"]) == ("heavy-top", method, 0.04))
        config = EnergyDriftConfig(
            model="heavy-top", methods=(method,), steps=(0.04,), horizon=row["horizon"], progress=False
        )
        assert run_one(config).runs[0].band == pytest.approx(row["energy_band"], rel=0.05)


def test_runs_of_every_record_are_put_together():
    folder = "energy_drift"
    assert len(runs_of(folder, EVERY)) == sum(len(runs_of(folder, each)) for each in labels_of(folder))


def test_numbers_are_short():
    assert [number(x) for x in (0.0012, 1.2e-13, 0.14, 12.0, 250.0, None, 0)] == [
        "1.2e-3", "1.2e-13", "0.14", "12", "2.5e2", "–", "0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("study", "words"),
    [
        ("nosuch", "'nosuch': expected one of"),
        ("swing", r"no studies.swing.page\.py; give it one"),
        ("rods", "no summary"),
    ],
)
def test_what_keeps_a_record_from_being_taken_is_named(monkeypatch, tmp_path, study, words):
    monkeypatch.setitem(pages.STUDIES, "swing", STUDIES["rods"])
    with pytest.raises(SystemExit, match=words):
        pages.take(study, tmp_path)
