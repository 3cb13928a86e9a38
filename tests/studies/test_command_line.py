"""Options of all studies: those that are given are kept, and what makes no sense is named."""

import dataclasses
import math
from types import SimpleNamespace

import pytest

from studies.energy_drift.question import EnergyDriftConfig, remarks
from studies.registry import STUDIES
from studies.study import answer, command_line


def another(value):
    """Of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, tuple):
        return value[:-1] if len(value) > 1 else None
    return 2 * value if isinstance(value, int | float) else None


@pytest.mark.parametrize("name", STUDIES)
def test_the_short_version_is_another_one_and_keeps_what_is_given(name):
    config = STUDIES[name].config
    assert config().as_asked() == config()
    assert config(quick=True).as_asked() != config(quick=True)
    for field in dataclasses.fields(config):
        value = another(getattr(config(), field.name))
        if value is not None and field.name != "quick":
            assert getattr(config(quick=True, **{field.name: value}).as_asked(), field.name) == value


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("energy-table --models nosuch --quick", "--models: 'nosuch', expected some of"),
        ("work-precision --systems nosuch --quick", "--systems: 'nosuch', expected some of"),
        ("convergence --groups SO4 --quick", "--groups: 'SO4', expected some of"),
        ("constraint-drift --systems nosuch --quick", "--systems: 'nosuch', expected some of"),
        ("constraint-drift --families nosuch --systems four-bar --quick", "--families: nosuch, none of which"),
        ("rolling-disk --steps 10 --quick", "--steps: 10 s, expected at most the horizon"),
        ("rolling-disk --gravity -9.81 --quick", "--gravity: -9.81, expected a positive"),
        ("rolling-disk --tilt 95deg --quick", "flat or upside down"),
        ("variable-steps --revolutions 0 --quick", "--revolutions: 0, expected a positive"),
        ("variants --masses -3 --quick", "--masses: -3, expected a positive"),
        ("energy-drift --seed -1 --quick", "--seed: -1, expected a number of at least 0"),
    ],
)
def test_options_that_make_no_sense_are_named(arguments, message, tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        command_line(STUDIES, [*arguments.split(), "--out", str(tmp_path)])
    assert message in str(ended.value) + capsys.readouterr().err


def test_runs_that_failed_have_no_slope_that_counts():
    solution = SimpleNamespace(message="the step size fell below ten units", doubts=())
    failed = SimpleNamespace(method="RKMK4", drifts=False, drift=SimpleNamespace(slope=math.nan), solution=solution)
    result = SimpleNamespace(
        config=EnergyDriftConfig(), tree=SimpleNamespace(name="arm", nv=7), energy=1.0, scale=1.0, runs=[failed]
    )
    assert remarks(result)[1:] == ["RKMK4: 1 of 1 runs say nothing (the step size fell below ten units)"]


def test_what_a_run_has_found_is_kept_though_its_table_fails(tmp_path):
    def fails(result):
        raise ArithmeticError("of the table")

    study = dataclasses.replace(STUDIES["stiff"], records=fails)
    with pytest.raises(ArithmeticError, match="of the table"):
        answer(study, study.config(quick=True, out=tmp_path, progress=False))
    assert (tmp_path / "stiff.h5").stat().st_size > 0
