"""The package that is only a name, and its command line."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

import liemech
from liemech import warm_up
from mechanics.systems import SYSTEMS


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "liemech", *arguments], capture_output=True, text=True, env=os.environ | environment
    )


def test_it_has_the_version_of_the_distribution():
    assert liemech.__version__ == version("liemech")


def test_help_lists_the_commands():
    assert "warm-up" in command("--help").stdout


def test_an_unknown_task_is_named_with_those_there_are():
    done = command("warm-up", "nonsense")
    assert done.returncode == 1
    assert "no task nonsense; expected some of bodies, robots, loops, rolling, scipy, or all" in done.stderr


def test_every_task_names_systems_and_methods_that_are_there():
    for task, work in warm_up.TASKS.items():
        assert work, task
        for function, arguments in work:
            if function is warm_up._system:
                assert SYSTEMS[arguments[0]].name == arguments[0]


def test_what_fails_is_said_and_the_rest_is_done(capsys, monkeypatch):
    monkeypatch.setitem(warm_up.TASKS, "broken", [(warm_up._system, ("no-such-system", "", "RKMK4"))])
    with pytest.raises(SystemExit, match="no-such-system"):
        warm_up.warm_up(("broken",), workers=1)
    assert "0 of 1 compiled" in capsys.readouterr().out


@pytest.mark.slow
def test_afterwards_a_first_run_compiles_nothing(tmp_path):
    cache = {"LIEMECH_CACHE": str(tmp_path)}
    assert command("warm-up", "bodies", **cache).returncode == 0
    code = (
        "import logging; logging.basicConfig(level=logging.INFO)\n"
        "from liegroup.compile import progress; progress.PATIENCE = 0.0\n"
        "from integrators import integrate; from mechanics.systems import heavy_top\n"
        "print(integrate(heavy_top(), 'MIDPOINT', (0, 0.1), step=1e-3).success)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | cache)
    assert done.stdout.strip() == "True"
    assert "compiling" not in done.stderr
