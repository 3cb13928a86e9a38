"""What works on one system only is asked for before it is used: found by reading the code."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

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
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def functions(path):
    """Every function of a file, with its source."""
    lines = path.read_text(encoding="utf-8").splitlines()
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
    for path in FILES:
        for node, source in functions(path):
            used = {x.attr for x in ast.walk(node) if isinstance(x, ast.Attribute)} & POSIX_ONLY
            if used and not any(word in source for word in ASKED):
                found.append(f"{path.relative_to(ROOT)}: {node.name}: {used}")
    assert not found


def test_only_files_open_for_writing_are_brought_to_the_disk():
    """Windows refuses others; folders cannot be opened there at all."""
    found = []
    for path in FILES:
        for node, source in functions(path):
            for _ in calls(node, "fsync"):
                modes = [a.value for c in calls(node, "open") for a in c.args[1:2] if isinstance(a, ast.Constant)]
                if "rb" in modes or ("O_RDONLY" in source and "os.name" not in source):
                    found.append(f"{path.relative_to(ROOT)}: {node.name}")
    assert not found


def test_descriptors_for_writing_are_binary():
    for path in FILES:
        for node, source in functions(path):
            assert "O_WRONLY" not in source or "O_BINARY" in source, f"{path}: {node.name}"


@pytest.mark.parametrize("name", ["read_text", "write_text"])
def test_texts_have_an_encoding(name):
    """Else it is the system's: not UTF-8 on Windows."""
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}"
        for path in FILES
        for call in calls(parsed(path), name)
        if not call.args[name == "write_text" :] and not any(k.arg == "encoding" for k in call.keywords)
    ]
    assert not found


def test_opened_texts_have_an_encoding():
    found = []
    for path in FILES:
        for call in calls(parsed(path), "open"):
            if isinstance(call.func, ast.Name):
                mode = next((a.value for a in call.args[1:2] if isinstance(a, ast.Constant)), "r")
                if "b" not in mode and not any(k.arg == "encoding" for k in call.keywords):
                    found.append(f"{path.relative_to(ROOT)}:{call.lineno}")
    assert not found
