"""The package that is only a name, and its command line."""

import ast
import os
import signal
import subprocess
import sys
import time
import types
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import liemech
from liemech import warm_up
from liemech.__main__ import main
from mechanics.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]


def command(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "liemech", *arguments], capture_output=True, text=True, env=os.environ | environment
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes that are closed are another thing elsewhere")
def test_who_reads_may_have_enough():
    ends, begins = os.pipe()
    os.close(ends)
    run = [sys.executable, "-m", "liemech", "study", "energy-drift", "--help"]
    done = subprocess.run(run, stdout=begins, stderr=subprocess.PIPE, text=True)
    os.close(begins)
    assert (done.returncode, done.stderr) == (1, "")


def test_it_has_the_version_of_the_distribution():
    assert liemech.__version__ == version("liemech")


def test_the_command_line_tells_it(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"liemech {liemech.__version__}\n"


def test_the_everyday_names_are_those_of_the_packages():
    import integrators
    import liegroup
    import mechanics

    assert liemech.integrate is integrators.integrate
    assert liemech.so3 is liegroup.so3
    assert liemech.load_urdf is mechanics.load_urdf
    assert liemech.SYSTEMS is SYSTEMS
    for name in liemech.__all__:
        assert getattr(liemech, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        liemech.nonsense  # noqa: B018


def test_readers_of_the_source_see_the_names_that_are_looked_up():
    """What type checkers read, imports that are never run, and what is looked up are the same names."""
    text = Path(liemech.__file__).read_text(encoding="utf-8")
    unrun = next(node for node in ast.parse(text).body if isinstance(node, ast.If))
    named = {alias.name for node in unrun.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert named == set(liemech.__all__) - {"__version__"}
    assert {node.module for node in unrun.body if isinstance(node, ast.ImportFrom)} == set(liemech._HOMES)


def test_the_import_loads_nothing():
    code = "import liemech, sys; print(sorted({'numpy', 'numba', 'liegroup', 'mechanics'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_help_lists_the_commands():
    said = command("--help").stdout
    assert all(name in said for name in ("warm-up", "doctor", "study"))


def test_another_package_of_studies_is_named(monkeypatch):
    other = types.ModuleType("studies")
    other.__file__ = "/elsewhere/studies/__init__.py"
    monkeypatch.setitem(sys.modules, "studies", other)
    with pytest.raises(SystemExit, match=r"elsewhere.*stands in the way"):
        main(["study", "energy-drift"])


def test_a_study_runs_by_the_command_line_and_writes_into_files_of_any_encoding(tmp_path):
    """Output into a file is in the system's encoding: on Windows one that has no Δ."""
    arguments = ["study", "energy-drift", "--robot", "heavy-top", "--horizon", "0.2", "--methods", "RKMK4"]
    done = subprocess.run(
        [sys.executable, "-m", "liemech", *arguments, "--steps", "0.001", "--no-progress", "--out", str(tmp_path)],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "cp1252"},
    )
    assert done.returncode == 0, done.stderr
    assert b"max |?E|/T*" in done.stdout
    assert (tmp_path / "summary.json").is_file()


@pytest.mark.slow
def test_a_wheel_has_the_studies_and_no_package_of_that_name(tmp_path):
    made = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(tmp_path), str(ROOT)]
    subprocess.run(made, check=True, capture_output=True)
    unpacked = tmp_path / "installed here"
    zipfile.ZipFile(next(tmp_path.glob("*.whl"))).extractall(unpacked)
    assert {p.name for p in unpacked.iterdir() if not p.name.endswith("info")} == {
        "liegroup", "integrators", "mechanics", "liemech",
    }  # fmt: skip
    shown = [sys.executable, "-m", "liemech", "study", "energy-drift", "--help"]
    done = subprocess.run(
        shown, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(unpacked)}
    )
    assert done.returncode == 0, done.stderr
    assert "--robot" in done.stdout


def test_an_unknown_task_is_named_with_those_there_are():
    done = command("warm-up", "nonsense")
    assert done.returncode == 1
    assert "no task nonsense; expected some of bodies, robots, loops, rolling, scipy, or all" in done.stderr


def test_a_number_of_processes_that_is_none_is_named():
    with pytest.raises(SystemExit, match="--workers -3, expected 1 or more"):
        warm_up.warm_up(("scipy",), workers=-3)


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


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_it_without_what_waits(capsys):
    """A pool does all that waits before it passes on what has been raised: it took a minute."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background has it ignored
    signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 3.0)
    began = time.monotonic()
    with pytest.raises(SystemExit) as ended:
        warm_up._all([(time.sleep, (1.0,))] * 60, workers=1)
    assert ended.value.code == 130
    assert time.monotonic() - began < 30.0
    assert "interrupted" in capsys.readouterr().err
