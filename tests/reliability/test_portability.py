"""What works on one system only is asked for before it is used: found by reading the code."""

from __future__ import annotations

import ast
import json
import os
import platform
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from integrators import integrate
from integrators.results import storage
from liegroup.compile import folders, generated, objects
from liemech import warm_up
from mechanics.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
FILES = [p for name in ("liegroup", "integrators", "mechanics", "liemech") for p in sorted((ROOT / name).rglob("*.py"))]
POSIX_ONLY = {
    *(
        "fork",
        "getuid",
        "geteuid",
        "kill",
        "killpg",
        "mkfifo",
        "uname",
        "sysconf",
        "chown",
        "getpgid",
        "register_at_fork",
    ),
    *("SIGKILL", "SIGALRM", "SIGUSR1", "SIGHUP", "setitimer", "getrlimit"),
}
ASKED = ("os.name", "sys.platform", "hasattr(os")


@cache
def text(path):
    return path.read_text(encoding="utf-8")


def with_one_of(*words):
    """The files in which a word occurs at all: few are parsed."""
    return [path for path in FILES if any(word in text(path) for word in words)]


@cache
def parsed(path):
    return ast.parse(text(path))


@cache
def functions(path):
    """Every function of a file, with its source."""
    lines = text(path).splitlines()
    return [
        (node, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]


def calls(node, name):
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and (
            getattr(inner.func, "attr", None) == name or getattr(inner.func, "id", None) == name
        ):
            yield inner


def test_what_only_posix_has_is_asked_for():
    found = []
    for path in with_one_of(*POSIX_ONLY):
        for node, source in functions(path):
            used = {x.attr for x in ast.walk(node) if isinstance(x, ast.Attribute)} & POSIX_ONLY
            if used and not any(word in source for word in ASKED):
                found.append(f"{path.relative_to(ROOT)}: {node.name}: {used}")
    assert not found


def test_only_files_open_for_writing_are_brought_to_the_disk():
    """Windows refuses others; folders cannot be opened there at all."""
    found = []
    for path in with_one_of("fsync"):
        for node, source in functions(path):
            for _ in calls(node, "fsync"):
                modes = [a.value for c in calls(node, "open") for a in c.args[1:2] if isinstance(a, ast.Constant)]
                if "rb" in modes or ("O_RDONLY" in source and "os.name" not in source):
                    found.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert not found


def test_descriptors_for_writing_are_binary():
    for path in with_one_of("O_WRONLY"):
        for node, source in functions(path):
            assert "O_WRONLY" not in source or "O_BINARY" in source, f"{path}: {node.name}"


@pytest.mark.parametrize("name", ["read_text", "write_text"])
def test_texts_have_an_encoding(name):
    """Else it is the system's: not UTF-8 on Windows."""
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in with_one_of(name)
        for call in calls(parsed(path), name)
        if not call.args[name == "write_text" :] and not any(k.arg == "encoding" for k in call.keywords)
    ]
    assert not found


def test_opened_texts_have_an_encoding():
    found = []
    for path in with_one_of("open("):
        for call in calls(parsed(path), "open"):
            if isinstance(call.func, ast.Name):
                mode = next((a.value for a in call.args[1:2] if isinstance(a, ast.Constant)), "r")
                if "b" not in mode and not any(k.arg == "encoding" for k in call.keywords):
                    found.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert not found


# --- other systems, as far as they can be put on ----------------------------------------------------------------------


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A user's home without settings of this package."""
    for name in ("LIEMECH_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "LIEMECH_CACHE_TRUSTED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("system", "kernels", "key"),
    [
        ("linux", ".cache/liemech", ".config/liemech/cache-key"),
        ("darwin", "Library/Caches/liemech", "Library/Application Support/liemech/cache-key"),
        ("win32", "Local/liemech/Cache", "Local/liemech/cache-key"),
    ],
)
def test_kernels_are_kept_where_the_system_keeps_such_things(system, kernels, key, elsewhere, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv("LOCALAPPDATA", str(elsewhere / "Local"))
    assert folders.cache_directory() == elsewhere / kernels
    assert folders.key_file() == elsewhere / key
    monkeypatch.setenv("XDG_CACHE_HOME", str(elsewhere / "own"))
    assert folders.cache_directory() == elsewhere / "own" / "liemech"
    monkeypatch.setenv("LIEMECH_CACHE", str(elsewhere / "mine"))
    assert folders.cache_directory() == elsewhere / "mine"


def refused(*arguments):
    """What Windows says of a file that another program has open."""
    raise PermissionError(13, "the process cannot access the file because it is being used by another process")


def test_code_that_another_process_reads_is_there_already(elsewhere, monkeypatch):
    code, source = b"machine code", "x = 1\n"
    digest = objects.digest_of(code)
    objects.keep(digest, code)
    generated._write(objects.folder(), "made.py", source)
    monkeypatch.setattr(Path, "replace", refused)
    monkeypatch.setattr(generated.os, "replace", refused)
    monkeypatch.setattr(objects.os, "utime", refused)
    objects.keep(digest, code)
    generated._write(objects.folder(), "made.py", source)
    assert {p.name for p in objects.folder().iterdir()} == {digest, "made.py", folders.MARK}
    with pytest.raises(PermissionError):
        objects.keep(objects.digest_of(b"other"), b"other")
    with pytest.raises(PermissionError):
        generated._write(objects.folder(), "made.py", "x = 2\n")


def test_data_files_and_kernels_are_kept_under_names_with_spaces_and_umlauts(tmp_path):
    folder = tmp_path / "Ergebnisse für Łukasz – Übung 1"
    folder.mkdir()
    solution = integrate(SYSTEMS["heavy-top"], "RKMK4", (0.0, 0.01), step=1e-3)
    assert (type(solution).load(solution.save(folder / "größe.h5")).y == solution.y).all()
    code = "from liegroup.compile.folders import is_usable\nprint(is_usable())"
    environment = os.environ | {"LIEMECH_CACHE": str(folder / "kernels")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "True", done.stderr


def test_no_more_processes_than_windows_can_wait_for(monkeypatch):
    asked = []
    monkeypatch.setattr(warm_up, "ProcessPoolExecutor", lambda count, **more: asked.append(count) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        warm_up._all([], 128)
    assert asked == [61]


@pytest.mark.skipif(shutil.which("git") is None, reason="asks git")
def test_an_installed_package_has_no_commit_of_the_repository_around_it(tmp_path, monkeypatch):
    """An environment often lies in the folder of somebody's own project."""
    for arguments in (
        ["init", "-q"],
        ["-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    installed = tmp_path / ".venv" / "storage.py"
    installed.parent.mkdir()
    installed.touch()
    monkeypatch.setattr(storage, "__file__", str(installed))
    assert storage._commit() == "unknown"


@pytest.mark.slow
def test_machine_code_of_kernels_can_be_made_for_other_systems(tmp_path):
    """By LLVM, in the formats of Windows and macOS; loading it there is what `liemech doctor` tries."""
    program = Path(__file__).with_name("object_formats.py")
    environment = os.environ | {"LIEMECH_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["success"]
    count = found["made"].pop("here")
    assert count > 20
    kinds = {"windows": "COFF", "macos": "Mach-O", "macos-arm": "Mach-O"}
    assert {"windows", "macos"} <= set(found["systems"]) or "x86" not in platform.machine()
    assert found["made"] == {f"{system} {kinds[system]}": count for system in found["systems"]}
