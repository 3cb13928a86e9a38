"""MuJoCo's compiler can crash, hang, lie or be missing: the caller has a ModelError, and no process stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import mechanics
from mechanics import ModelError, ModelWarning
from mechanics.adapters import mjcf_model
from mechanics.adapters.mjcf_compiler import OPTIONS
from mechanics.models import Limits

mujoco = pytest.importorskip("mujoco")

PENDULUM = """<mujoco model="p"><worldbody><body name="a"><joint name="j" axis="0 1 0"/>
 <geom size="0.1" pos="0 0 -1" contype="0" conaffinity="0"/></body></worldbody></mujoco>"""
SPINS_IN_C = "import re\nre.match('(a+)+b', 'a' * 100)\n"
"""No signal of Python's ends this, and no other thread runs beside it."""


@pytest.fixture(scope="module", autouse=True)
def mjcf_at_once() -> None:
    """Not here: files are compiled as users compile them."""


@pytest.mark.skipif(sys.platform != "linux", reason="other tests compile as users do")
def test_the_compiler_of_other_tests_gives_what_that_of_users_gives(script):
    command = [sys.executable, "-I", str(mjcf_model.PROGRAM)]
    asked = json.dumps({"text": PENDULUM, "path": sys.path, "processor": 10.0, "clock": 100.0}).encode()
    users = subprocess.run(command, input=asked, capture_output=True, check=True)
    others = script.compiler(command, input=asked)
    assert others.returncode == 0
    assert others.stdout == users.stdout != b""


def fake(folder: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A module `mujoco` for the process of the compiler, which finds modules where its caller does."""
    (folder / "mujoco.py").write_text("import os, sys, time\n" + code)
    monkeypatch.syspath_prepend(folder)


def refused(source: object, match: str, **options: object) -> None:
    for load in (mechanics.load_mjcf, mechanics.load_mechanism):
        with pytest.raises(ModelError, match=match):
            load(source, **options)


@pytest.mark.parametrize("patience", [1.0, 1e3])
@pytest.mark.parametrize("code", ["while True: pass", "time.sleep(1e4)", SPINS_IN_C])
def test_a_compiler_that_is_never_done_is_ended(tmp_path, monkeypatch, code, patience):
    """By the clock, or before that, if it does something, by the processor."""
    if patience > 1.0 and ("sleep" in code or os.name != "posix"):
        pytest.skip("takes nothing of the processor, or that is not counted")
    monkeypatch.setattr(mjcf_model, "PATIENCE", patience)
    fake(tmp_path, monkeypatch, f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{code}")
    (path := tmp_path / "m.xml").write_text(PENDULUM)
    start = time.perf_counter()
    with pytest.raises(
        ModelError,
        match=r"m\.xml: MuJoCo's compiler was not done after [\d.]+ s( of the processor)?; raise limits\.seconds",
    ):
        mechanics.load_mjcf(path, limits=Limits(seconds=2))
    assert time.perf_counter() - start < 300.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL, signal.SIGTERM])
def test_a_compiler_that_dies_of_a_signal_does_not_take_the_caller_along(tmp_path, monkeypatch, number):
    fake(tmp_path, monkeypatch, f"os.kill(os.getpid(), {int(number)})\ntime.sleep(1e4)")
    (path := tmp_path / "m.xml").write_text(PENDULUM)
    refused(path, rf"m\.xml: MuJoCo's compiler was ended by {number.name}; correct the file")
    refused(PENDULUM, rf"^MJCF text: MuJoCo's compiler was ended by {number.name}")


@pytest.mark.skipif(not Path("/proc/self/oom_score_adj").exists(), reason="of Linux")
def test_if_the_memory_is_full_the_compiler_ends_before_its_caller(tmp_path, monkeypatch):
    fake(tmp_path, monkeypatch, "sys.exit(open('/proc/self/oom_score_adj').read())")
    refused(PENDULUM, "ended with status 1: 1000;")


GIVES = "class MjModel:\n def from_xml_string(text): {}\nmjtDisableBit = None\n"
STRANGE = {
    "ends": ("sys.stderr.write('first\\nfatal\\n'); os._exit(3)", "ended with status 3: fatal"),
    "ends well, with nothing": ("os._exit(0)", "gave no model"),
    "raises what is no ValueError": (GIVES.format("raise RuntimeError('unknown')"), "says: unknown"),
    "has no memory": (GIVES.format("raise MemoryError('much')"), "says: much"),
    "gives something else": (GIVES.format("return 3"), "says: 'int' object has no attribute"),
    "cannot be imported": ("import no_such_module", "ended with status 1: ModuleNotFoundError"),
    "prints what looks like a result": ("print('PK'); os._exit(0)", "gave no model"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_whatever_else_the_compiler_does_is_said_of_the_file(tmp_path, monkeypatch, case):
    code, says = STRANGE[case]
    fake(tmp_path, monkeypatch, code)
    refused(PENDULUM, f"^MJCF text: MuJoCo's compiler {says}")


def test_no_pickle_is_read(tmp_path, monkeypatch):
    code = "import numpy, sys\nnumpy.savez(sys.stdout.buffer, names=numpy.array([print], object))"
    (program := tmp_path / "program.py").write_text(code)
    monkeypatch.setattr(mjcf_model, "PROGRAM", program)
    refused(PENDULUM, "gave no model: .*allow_pickle=False")


def test_a_process_that_cannot_be_started_is_said(monkeypatch):
    monkeypatch.setattr(mjcf_model, "get_executable", lambda: "/no/such/python")
    refused(PENDULUM, r"no process for MuJoCo's compiler: .*; see multiprocessing\.set_executable")


@pytest.mark.parametrize("code", ["while True: pass", SPINS_IN_C])
def test_a_compiler_whose_caller_is_gone_ends_by_itself(tmp_path, code):
    (tmp_path / "mujoco.py").write_text(code)
    asked = {"text": PENDULUM, "path": [str(tmp_path), *sys.path], "processor": 1e3, "clock": 1.0}
    done = subprocess.run(
        [sys.executable, "-I", str(mjcf_model.PROGRAM)],
        input=json.dumps(asked).encode(),
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert b"Timeout" in done.stderr


LISTENS = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
"""Programs that a shell starts in the background do not hear Ctrl-C otherwise."""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_the_compiler_with_its_caller(tmp_path):
    started = tmp_path / "started"
    (tmp_path / "mujoco.py").write_text(f"import os\nopen({str(started)!r}, 'w').write(str(os.getpid()))\n{SPINS_IN_C}")
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", f"{LISTENS}import mechanics\nmechanics.load_mjcf({PENDULUM!r})"],
        env=os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"},
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 300.0
    while not (started.exists() and started.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert b"KeyboardInterrupt" in err
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)


def test_nothing_of_mujoco_is_loaded_into_the_process_of_the_caller():
    code = f"import sys, mechanics\nmechanics.load_mjcf({PENDULUM!r})\nassert 'mujoco' not in sys.modules"
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": root}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_the_arrays_are_those_of_mujoco():
    ours, _ = mjcf_model.compiled(PENDULUM, False, Limits())
    theirs = mujoco.MjModel.from_xml_string(PENDULUM)
    known = vars(ours).keys() - {"names", "disabled", *OPTIONS}
    assert len(known) > 40
    for name in known:
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert ours.names == theirs.names
    assert np.array_equal(ours.gravity, theirs.opt.gravity)
    assert mjcf_model.named(ours, "body", 1) == "a"
    assert mjcf_model.named(ours, "geom", 0) == "geom_0"


def test_several_threads_read_at_once():
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(mechanics.load_mjcf(PENDULUM).nv)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 4


def test_paths_and_texts_of_any_letters_are_handed_over(tmp_path):
    folder = tmp_path / "Müller & 子 $(x); 'y'"
    folder.mkdir()
    (path := folder / "m ünd.xml").write_text(PENDULUM.replace('"a"', '"Bär"'), encoding="utf-8")
    assert mechanics.load_mjcf(path).bodies[0].name == "Bär"
    assert mechanics.load_mjcf(path.read_text(encoding="utf-8")).bodies[0].name == "Bär"


def test_relative_paths_are_those_of_the_caller(tmp_path, monkeypatch):
    (tmp_path / "part.xml").write_text(PENDULUM)
    (tmp_path / "m.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    monkeypatch.chdir(tmp_path)
    assert mechanics.load_mjcf("m.xml").nv == 1


def test_warnings_of_the_reader_are_those_of_the_caller():
    with pytest.warns(ModelWarning, match="gravity compensation: left out of a tree; load_mechanism has it: a"):
        mechanics.load_mjcf(PENDULUM.replace('name="a"', 'name="a" gravcomp="1"'))
