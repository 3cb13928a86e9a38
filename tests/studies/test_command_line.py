"""Options of all studies: those that are given are kept, and what makes no sense is named."""

import dataclasses
import json
import math
import os
import signal
from types import SimpleNamespace

import pytest

from integrators import Problem, Status, integrate
from liegroup import rn
from studies.energy_drift.question import EnergyDriftConfig, remarks
from studies.pages import take
from studies.registry import STUDIES
from studies.study import INTERRUPTED, StudyConfig, answer, command_line


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
        ("energy-drift --speed -0.5 --quick", "--speed: -0.5, expected a number"),
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
        config=EnergyDriftConfig(),
        tree=SimpleNamespace(name="arm", nv=7),
        held=(),
        energy=1.0,
        scale=1.0,
        runs=[failed],
    )
    assert remarks(result)[1:] == ["RKMK4: 1 of 1 runs say nothing (the step size fell below ten units)"]


def test_an_interrupted_study_says_so_and_ends_with_another_status(tmp_path, capsys):
    """Its answer is kept, of what was computed; it had the status of a whole one, and the next run goes on."""
    spring = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])

    def interrupted(config):
        def interrupt(t, y):
            os.kill(os.getpid(), signal.SIGINT)

        ended = integrate(spring, "RKMK4", (0.0, 1e6), 1e-3, callback=interrupt)
        assert ended.status is Status.INTERRUPTED
        assert integrate(spring, "RKMK4", (0.0, 1.0), 0.1).success
        return STUDIES["stiff"].run(config)

    study = dataclasses.replace(STUDIES["stiff"], run=interrupted)
    with pytest.raises(SystemExit) as ended:
        answer(study, study.config(quick=True, out=tmp_path, progress=False))
    assert ended.value.code == 130
    assert INTERRUPTED in capsys.readouterr().out
    assert json.loads((tmp_path / "summary.json").read_text())["interrupted"] is True
    with pytest.raises(SystemExit, match="interrupted; run it again to its end"):
        take("stiff", tmp_path)


@dataclasses.dataclass(frozen=True)
class Open(StudyConfig):
    """Options of a study of one's own that leave a number open, or call for a name."""

    step: float | None = None
    """Step, s."""
    points: str = "few"
    """How many."""


def test_options_that_leave_a_number_open_are_none_that_must_be_positive(tmp_path, capsys):
    asked = []
    study = dataclasses.replace(STUDIES["stiff"], config=Open, run=lambda config: asked.append(config))
    for given, expected in (([], (None, "few")), (["--step", "0.1", "--points", "all"], (0.1, "all"))):
        with pytest.raises(Exception, match="NoneType"):  # of the data of nothing
            command_line({"mine": study, "stiff": STUDIES["stiff"]}, ["mine", *given, "--out", str(tmp_path)])
        assert (asked[-1].step, asked[-1].points) == expected
    with pytest.raises(SystemExit):
        command_line({"mine": study, "stiff": STUDIES["stiff"]}, ["mine", "--step", "0"])
    assert "--step: 0.0, expected a positive number" in capsys.readouterr().err


def test_two_studies_of_one_class_of_options_are_refused():
    """The second was answered by the first."""
    twins = dict.fromkeys(("stiff", "stiffer"), STUDIES["stiff"])
    with pytest.raises(ValueError, match=r"studies: 'stiff' and 'stiffer' have one configuration, \w+; derive"):
        command_line(twins, ["stiffer", "--quick"])


def test_what_a_run_has_found_is_kept_though_its_table_fails(tmp_path):
    def fails(result):
        raise ArithmeticError("of the table")

    study = dataclasses.replace(STUDIES["stiff"], records=fails)
    with pytest.raises(ArithmeticError, match="of the table"):
        answer(study, study.config(quick=True, out=tmp_path, progress=False))
    assert (tmp_path / "stiff.h5").stat().st_size > 0
