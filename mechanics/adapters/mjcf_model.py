"""MuJoCo's model of an MJCF file, compiled in a process of its own.

The compiler is a library in C, made for files of one's own.  What it must not read is refused before (`mjcf_files`);
whatever else a file does to it, crash it or keep it for ever, ends with that process, within `limits.seconds` of the
processor.  No file meets what another has left behind, and nothing of MuJoCo runs in the process of the caller: the
model comes back as plain arrays with MuJoCo's names for them.
"""

from __future__ import annotations

import io
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from multiprocessing.spawn import get_executable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import BadZipFile

import numpy as np

from liegroup.arrays import path_of
from mechanics.adapters.mjcf_files import check
from mechanics.adapters.reading import Limits, Report, content
from mechanics.errors import ModelError

PROGRAM = Path(__file__).with_name("mjcf_compiler.py")
"""What the process runs."""
PATIENCE = 10.0
"""How much longer it may take by the clock: other programs may be using the processor, or it may wait for ever."""
ADDRESSES = {
    "body": "name_bodyadr",
    "joint": "name_jntadr",
    "geom": "name_geomadr",
    "site": "name_siteadr",
    "tendon": "name_tendonadr",
    "actuator": "name_actuatoradr",
    "equality": "name_eqadr",
    "keyframe": "name_keyadr",
}
"""Where the names of things begin in `names`."""


def compiled(source: str | os.PathLike[str], trusted: bool, limits: Limits) -> tuple[Any, Report]:
    """MuJoCo's model of a file or of its text, which was checked before, and an empty report."""
    if find_spec("mujoco") is None:
        raise ModuleNotFoundError(
            "No module named 'mujoco'; install the model readers: pip install 'liemech[robots]'", name="mujoco"
        )
    path_of(source, "source", "the path of a model file, or its text")
    text = str(source)
    is_text = text.lstrip().startswith("<")
    report = Report("MJCF text" if is_text else text)
    given = text.encode("utf-8", "surrogatepass") if is_text else content(text, limits, "an .xml")
    if len(given) > limits.bytes:
        raise ModelError(report.path, f"is longer than {limits.bytes} bytes", "raise limits.bytes if you trust it")
    check(given, None if is_text else Path(text), limits, trusted)
    return _compiled_apart({"text" if is_text else "file": text}, report.path, limits.seconds), report


def _compiled_apart(asked: Mapping[str, Any], where: str, seconds: float) -> SimpleNamespace:
    """Through `PROGRAM`; what becomes of it is said of the file."""
    command = [get_executable(), "-I", str(PROGRAM)]
    clock = PATIENCE * seconds
    asked = {**asked, "path": sys.path, "processor": seconds, "clock": clock}
    hidden = getattr(subprocess, "CREATE_NO_WINDOW", 0)  # on Windows
    try:
        done = subprocess.run(
            command, input=json.dumps(asked).encode(), capture_output=True, timeout=clock, creationflags=hidden
        )
    except subprocess.TimeoutExpired:
        raise _never_done(where, f"{clock:g} s") from None
    except OSError as error:
        raise ModelError(
            where, f"no process for MuJoCo's compiler: {error}", "see multiprocessing.set_executable"
        ) from None
    if done.returncode == -getattr(signal, "SIGXCPU", math.inf):
        raise _never_done(where, f"{seconds:g} s of the processor")
    if done.returncode:
        raise ModelError(where, f"MuJoCo's compiler {_end(done)}", "correct the file")
    try:
        with np.load(io.BytesIO(done.stdout), allow_pickle=False) as packed:
            made = {name: packed[name][()] for name in packed.files}
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise ModelError(where, f"MuJoCo's compiler gave no model: {error}", "correct the file") from None
    if "error" in made:
        raise ModelError(where, f"MuJoCo's compiler says: {made['error']}", "correct the file")
    return as_model(made | {"names": made["names"].tobytes(), "disabled": made["disabled"].tolist()})


def as_model(made: Mapping[str, Any]) -> SimpleNamespace:
    """What the readers take for a model: the arrays of `mjcf_compiler.arrays` by MuJoCo's names for them."""
    return SimpleNamespace(**{**made, "names": bytes(made["names"]), "disabled": set(made["disabled"])})


def _never_done(where: str, after: str) -> ModelError:
    return ModelError(where, f"MuJoCo's compiler was not done after {after}", "raise limits.seconds if you trust it")


def _end(done: subprocess.CompletedProcess[bytes]) -> str:
    """How a process has ended, with its last word."""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    word = f": {said[-1]}" if said else ""
    if done.returncode < 0:
        names = {int(number): number.name for number in signal.Signals}
        return f"was ended by {names.get(-done.returncode, f'signal {-done.returncode}')}{word}"
    return f"ended with status {done.returncode}{word}"


def named(model: Any, kind: str, number: int) -> str:
    """The name of a thing of the model, or its kind and number."""
    start = int(getattr(model, ADDRESSES[kind])[number])
    return model.names[start : model.names.index(b"\0", start)].decode() or given(model, f"{kind}_{number}")


def given(model: Any, name: str) -> str:
    """A name for what has none in the model, with underscores behind it where something else has it."""
    while f"\0{name}\0".encode() in model.names:
        name += "_"
    return name


def disabled(model: Any, name: str) -> bool:
    """Whether a <flag> of the file is off; versions of MuJoCo that do not know it have it on."""
    return name in model.disabled


LENGTHENED = "with a time constant below two time steps, which MuJoCo takes in its place (refsafe): shorter here"
"""What is said of them."""


def is_lengthened(model: Any, solref: Any) -> bool:
    """Whether MuJoCo takes two time steps in the place of a shorter time constant (the flag refsafe)."""
    return 0.0 < float(solref[0]) < 2.0 * float(model.timestep) and not disabled(model, "mjDSBL_REFSAFE")


def active_equalities(model: Any) -> list[int]:
    """Numbers of the equality constraints that act."""
    off = disabled(model, "mjDSBL_EQUALITY")
    return [] if off else [e for e in range(model.neq) if model.eq_active0[e]]


def stiff_joints(model: Any) -> list[int]:
    """Numbers of the joints with springs that act."""
    stiff = np.asarray(model.jnt_stiffness) != 0.0
    if model.njnt and hasattr(model, "jnt_stiffnesspoly"):
        stiff = stiff | np.reshape(model.jnt_stiffnesspoly, (model.njnt, -1)).any(axis=1)
    return [] if disabled(model, "mjDSBL_SPRING") else np.flatnonzero(stiff).tolist()


def number_of_actuators(model: Any) -> int:
    """Some of which may have several commands in newer versions of MuJoCo."""
    return int(getattr(model, "nactuator", model.nu))
