"""A campaign against the project: ``python campaign.py --seed 1 --minutes 60`` prints what it tried and what it found.

Kills during runs, saves, checkpoints and compilations; a small full disk; damaged files; damaged caches; bad arguments;
mutated models (`models.attack`).  Every attack draws from one seeded source and can be repeated by its number.  What an
attack returns is what it found: nothing, if all was as it must be.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import importlib.util
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
sys.path[:0] = [str(ROOT)]

from integrators import Problem, Solution, integrate, resume  # noqa: E402
from integrators.engine import checkpoint as checkpoints  # noqa: E402
from integrators.results.storage import StorageError  # noqa: E402
from liegroup.table import RN, SO2, table_of  # noqa: E402

Source = random.Random
EACH = {"bad_arguments": 20, "damaged_files": 80, "mutated_models": 100}
"""How many calls, files and models an attack tries; the others are one."""
WAITING, HANGING = 600.0, 1800.0
"""Seconds for a resumed run to end, where other programs may be using the processor; and for any attack, after which
the campaign says where it hangs and ends."""


def field(t, y):
    return np.array([y[1], -np.sin(y[0])])


def energy(t, y):
    return 0.5 * y[1] ** 2 - np.cos(y[0])


PROBLEM = Problem(table_of([(SO2, 1), (RN, 1)]), [1.0, 0.2], field, invariants={"energy": energy})
CALL = {"method": "RKMK4", "t_span": (0, 200), "step": 1e-2, "save_every": 7}
RUN = """
import sys, numpy as np
sys.path[:0] = [{here!r}, {root!r}]
from campaign import PROBLEM, CALL, integrate, resume, Path
path, out = Path(sys.argv[1]), Path(sys.argv[2])
integrate(PROBLEM, "RKMK4", (0, 0.02), 0.01)
print("ready", flush=True)
go_on = path.exists() or Path(str(path) + ".previous").exists()
solution = resume(path, PROBLEM, every=0.0) if go_on else integrate(PROBLEM, checkpoint=path, every=0.0, **CALL)
if solution.success:
    solution.save(out)
    print("done", flush=True)
    while len(sys.argv) > 3:
        solution.save(out)
"""
_whole: list[Solution] = []


def whole() -> Solution:
    """The run that nobody disturbs."""
    if not _whole:
        _whole.append(integrate(PROBLEM, **CALL))
    return _whole[0]


def same(solution: Solution) -> bool:
    names = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")
    return all(np.array_equal(getattr(solution, n), getattr(whole(), n), equal_nan=True) for n in names)


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    code = RUN.format(here=str(HERE), root=str(ROOT))
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, str(folder / "run.check"), str(folder / "run.h5"), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()[1]
    return process


# --- attacks ----------------------------------------------------------------------------------------------------------


def kills_of_a_run(source: Source, folder: Path) -> str:
    """Ended by a signal, at any moment, up to three times: resumed it is the run that was never ended."""
    for _ in range(source.randint(1, 3)):
        process = started(folder)
        time.sleep(source.uniform(0.0, 1.2))
        process.send_signal(number := source.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        _, err = process.communicate(timeout=WAITING)
        if number != signal.SIGKILL and "Traceback" in err and "KeyboardInterrupt" not in err:
            return f"{number.name}: {err}"
    process = started(folder)
    out, err = process.communicate(timeout=WAITING)
    if "done" not in out:
        return f"not resumed: {out} {err}"
    return "" if same(Solution.load(folder / "run.h5")) else "other numbers"


def kills_of_a_save(source: Source, folder: Path) -> str:
    """Killed while it saves over and over: the file is whole, and nothing is left after the next save."""
    process = started(folder, "save")
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(source.uniform(0.0, 0.4))
    process.kill()
    process.communicate()
    solution = Solution.load(folder / "run.h5")
    solution.save(folder / "run.h5")
    left = [p.name for p in folder.iterdir() if p.name.startswith(".run.h5")]
    return f"left behind: {left}" if left else "" if same(solution) else "other numbers"


def kills_of_a_compilation(source: Source, folder: Path) -> str:
    """Killed while it compiles into an empty cache: what comes next is right."""
    variables = os.environ | {"LIEMECH_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(HERE / "cached_kernel.py"), "use"]
    for _ in range(2):
        process = subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(source.uniform(0.5, 3.0))
        process.send_signal(source.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT]))
        process.communicate()
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    return "" if done.stdout.startswith("right") else f"{done.returncode}: {done.stdout} {done.stderr}"


def damaged_cache(source: Source, folder: Path) -> str:
    """Bits, lengths and contents of files in the cache: right numbers, in every process."""
    variables = os.environ | {"LIEMECH_CACHE": str(folder / "cache"), "PYTHONPATH": str(ROOT)}

    def use() -> str:
        command = [sys.executable, str(HERE / "cached_kernel.py"), "use"]
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
        return "" if done.stdout.startswith("right") else f"{done.returncode}: {done.stdout} {done.stderr}"

    found = use()
    for _ in range(2):
        files = sorted(p for p in (folder / "cache").rglob("*") if p.is_file() and p.name != ".liemech")
        for path in source.sample(files, source.randint(1, len(files))):
            path.write_bytes(damaged(source, path.read_bytes()))
        found = found or use()
    return found


def damaged(source: Source, content: bytes) -> bytes:
    """A content with something wrong."""
    changed, at = bytearray(content), source.randrange(max(1, len(content)))
    kind = source.choice(["flip", "cut", "fill", "zero", "swap", "empty", "longer"])
    if kind == "flip" and content:
        for _ in range(source.choice([1, 1, 1, 8])):
            changed[source.randrange(len(changed))] ^= 1 << source.randrange(8)
    elif kind == "cut":
        changed = changed[:at]
    elif kind == "fill":
        changed[at : at + 64] = source.randbytes(len(changed[at : at + 64]))
    elif kind == "zero":
        changed[at : at + 512] = bytes(len(changed[at : at + 512]))
    elif kind == "swap":
        changed = changed[at:] + changed[:at]
    elif kind == "empty":
        changed = bytearray()
    else:
        changed += source.randbytes(source.randint(1, 100))
    return bytes(changed)


def damaged_files(source: Source, folder: Path) -> str:
    """Solutions and checkpoints: a StorageError with the name of the file, or, changed to what it was, the numbers."""
    solution, check = folder / "run.h5", folder / "run.check"
    whole().save(solution)
    seen: list[float] = []
    integrate(PROBLEM, checkpoint=check, every=0.0, callback=lambda t, y: seen.append(t) or len(seen) == 2, **CALL)
    checkpoints.previous_of(check).unlink(missing_ok=True)
    for path, load in ((solution, Solution.load), (check, checkpoints.load)):
        content = path.read_bytes()
        for _ in range(EACH["damaged_files"] // 2):
            now = damaged(source, content)
            path.write_bytes(now)
            try:
                load(path)
                if now != content:
                    return f"{path.name}: {len(now)} bytes read as if nothing was wrong"
            except StorageError as error:
                if path.name not in str(error):
                    return f"no name in {error}"
        path.write_bytes(content)
    return "" if same(Solution.load(solution)) and same(resume(check, PROBLEM)) else "other numbers"


def full_disk(source: Source, folder: Path) -> str:
    """A small file system of its own that fills up and becomes free again."""
    small, filler = folder / "small", folder / "small" / "filler"
    small.mkdir()
    size = source.randint(100, 600)
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(small)], capture_output=True, check=False
    )
    if not made or made.returncode:
        return SKIPPED + "no right to mount"
    try:
        free = shutil.disk_usage(small).free

        def trouble(t: float, y: object) -> None:
            with contextlib.suppress(OSError):
                if source.random() < 0.5:
                    filler.write_bytes(bytes(source.randint(0, free)))
                else:
                    filler.unlink(missing_ok=True)

        solution = integrate(PROBLEM, checkpoint=small / "run.check", every=0.0, callback=trouble, **CALL)
        if not same(solution):
            return "other numbers"
        filler.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            solution.save(small / "run.h5")
        for path, load in (("run.check", lambda p: resume(p, PROBLEM, every=1e9)), ("run.h5", Solution.load)):
            if (small / path).exists() and not same(load(small / path)):
                return f"{path}: other numbers"
        left = [p.name for p in small.iterdir() if p.name.endswith(".part")]
        return f"left behind: {left}" if left else ""
    finally:
        subprocess.run(["umount", str(small)], check=True)


BAD = (
    None, True, -1, 0, 0.5, 1e300, -1e-300, float("inf"), float("nan"), 10**30, 1j, "a", "", b"a", (), [], {}, [1.0],
    [[]], [[[1.0]]], np.zeros(0), np.zeros((0, 2)), np.zeros((2, 0)), np.full(2, np.nan), np.zeros((3, 2), complex),
    np.array(["a", "b"]), object, lambda: None,
)  # fmt: skip
ARGUMENTS = (
    "method", "t_span", "step", "y0", "rtol", "atol", "controller", "max_step", "max_steps", "save_every", "t_eval",
    "events", "callback", "checkpoint", "every",
)  # fmt: skip


def bad_arguments(source: Source, folder: Path) -> str:
    """One or two arguments of `integrate` that make no sense: a ValueError or TypeError that names one, or a
    result.
    """
    return next(filter(None, (_bad_call(source, folder) for _ in range(EACH["bad_arguments"]))), "")


def _bad_call(source: Source, folder: Path) -> str:
    call = {"method": source.choice(["RKMK4", "RKMK_DORMAND_PRINCE54", "MIDPOINT"]), "t_span": (0, 0.1), "step": 0.05}
    changed = {name: source.choice(BAD) for name in source.sample(ARGUMENTS, source.randint(1, 2))}
    if changed.get("max_steps", 1) is None or "step" in changed:
        changed["max_steps"] = 100
    if isinstance(changed.get("checkpoint"), (str, bytes)):
        changed["checkpoint"], call["overwrite"] = folder / "bad.check", True
    try:
        integrate(PROBLEM, **(call | changed))
    except (ValueError, TypeError) as error:
        named = any(re.search(rf"\b{name.removesuffix('s')}s?\b", str(error)) for name in changed)
        named = named or " argument" in str(error)  # of a function of the user's, in Python's words
        unclear = not named or len(traceback.extract_tb(error.__traceback__)) > 12
        return f"{changed}: unclear {error!r}" if unclear else ""
    except Exception as error:
        return f"{changed}: {error!r}"
    return ""


@functools.cache
def models() -> ModuleType:
    """The module of the attack on models, whose name others may have."""
    spec = importlib.util.spec_from_file_location("reliability_models", HERE / "models.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mutated_models(source: Source, folder: Path) -> str:
    """Files of models, by `models.attack`: it raises AssertionError for what it finds."""
    module = models()
    for _ in range(EACH["mutated_models"]):
        module.attack(np.random.default_rng(source.getrandbits(64)), folder)
    return ""


SKIPPED = "skipped: "
ATTACKS: tuple[Callable[[Source, Path], str], ...] = (
    damaged_files, bad_arguments, kills_of_a_run, full_disk, mutated_models, kills_of_a_save, damaged_cache,
    bad_arguments, kills_of_a_compilation,
)  # fmt: skip


def attack(seed: int, number: int) -> tuple[str, str]:
    """The attack of a number: its name, and what it found."""
    made = ATTACKS[number % len(ATTACKS)]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return made.__name__, made(Source(f"{seed} {number}"), Path(folder))
        except Exception:
            return made.__name__, traceback.format_exc()


def campaign(seed: int, minutes: float, first: int = 0) -> tuple[Counter[str], list[str]]:
    """How often each attack was tried, and what was found."""
    tried, found, number, until = Counter[str](), list[str](), first, time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        faulthandler.dump_traceback_later(HANGING, exit=True)
        name, result = attack(seed, number)
        faulthandler.cancel_dump_traceback_later()
        if result.startswith(SKIPPED):
            tried[f"{name} ({result})"] += 1
        else:
            tried[name] += 1
            if result:
                found.append(f"--seed {seed} --number {number}: {name}: {result}")
                print(found[-1], flush=True)
        number += 1
    return tried, found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--number", type=int, help="only the attack of this number")
    given = parser.parse_args()
    if given.number is not None:
        raise SystemExit("{}: {}".format(*attack(given.seed, given.number)))
    tried, found = campaign(given.seed, given.minutes)
    for name, count in sorted(tried.items()):
        print(f"{count * EACH.get(name, 1):6d}  {name}")
    for end in models().ENDED:
        print(f"compiler of MJCF files: {end}")
    print(f"{len(found)} findings with seed {given.seed} in {given.minutes:g} minutes")
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
