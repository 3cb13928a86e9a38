"""The cache of kernels cannot hurt: whatever is done to its files, numbers are right and nothing ends the process."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from liegroup.compile import cache, folders, seals

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("cached_kernel.py")
posix = pytest.mark.skipif(os.name != "posix", reason="folders have no owners here")


OF_PROCESSES = ("threads", "fork", "spawn", "vanish")
"""Tasks that look at how processes and threads begin: in one that has begun as any other."""


@pytest.fixture
def run(tmp_path, script):
    """Run a task of `cached_kernel` in a process with a cache, settings and home of its own; returns its words."""

    def run(*task, **variables):
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "LIEMECH_CACHE": str(tmp_path / "cache"),
            "XDG_CONFIG_HOME": str(tmp_path / "settings"),
            **variables,
        }
        begins_anew = task[0] in OF_PROCESSES or any(name.startswith("NUMBA") for name in variables)
        done = script(SCRIPT, *task, folder=tmp_path, environment=environment, anew=begins_anew)
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout.split(), done.stderr

    return run


def kept(folder):
    return [p for p in (folder / "cache").rglob("*") if p.is_file() and p.name != folders.MARK]


@pytest.mark.parametrize("kept_part", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_files_emptied_or_cut_off_are_compiled_again(run, tmp_path, kept_part):
    assert [run("use")[0], run("use")[0]] == [["right", "0"], ["right", "1"]]
    content = {path: path.read_bytes() for path in kept(tmp_path)}
    assert {path.suffix for path in content} == {".nbi", ".nbc", "", ".py"}
    for path, before in content.items():
        path.write_bytes(before[: len(before) // kept_part] if kept_part else b"")
    assert [run("use")[0], run("use")[0]] == [["right", "0"], ["right", "1"]]


def test_files_that_are_valid_but_anothers_are_compiled_again(run, tmp_path):
    run("use")
    for suffix in (".nbi", ".nbc", ""):
        paths = [path for path in kept(tmp_path) if path.suffix == suffix]
        found = [path.read_bytes() for path in paths]
        for path, other in zip(paths, [*found[1:], found[0]], strict=True):
            path.write_bytes(other)
        assert run("use")[0] == ["right", "0"]


@posix
@pytest.mark.parametrize("flips", [10, pytest.param(100, marks=pytest.mark.slow)])
def test_flipped_bits_neither_end_the_process_nor_change_a_number(run, flips):
    words, _ = run("flip", flips, 1)
    assert words == ["right"] * flips


@posix
def test_a_flipped_bit_in_any_file_is_refused_before_it_is_used(run, tmp_path):
    """Many bits of every file, asked within one process; those above are asked in processes of their own."""
    words, _ = run("flip_each", 60, 2)
    assert len(words) == 60 * len(kept(tmp_path)) >= 300
    assert set(words) == {"refused"}
    assert run("use")[0] == ["right", "1"]


def test_an_index_that_names_a_module_that_is_gone_is_compiled_again(run, tmp_path):
    run("use")
    words, _ = run("stale")
    assert words == ["right", "0"]


@posix
def test_entries_of_others_are_not_read_whoever_wrote_them(run, tmp_path):
    """Sealed with another key: what unpickles here would run."""
    run("use")
    (tmp_path / "settings" / "liemech" / "cache-key").unlink()
    assert [run("use")[0], run("use")[0]] == [["right", "0"], ["right", "1"]]
    words, _ = run("forge", tmp_path / "taken")
    assert words == ["right", "0"]
    assert not (tmp_path / "taken").exists()


@posix
def test_the_key_is_private_and_made_anew_if_it_was_not(run, tmp_path):
    run("use")
    key = tmp_path / "settings" / "liemech" / "cache-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    before = key.read_bytes()
    key.chmod(0o644)
    assert run("use")[0] == ["right", "0"]
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_bytes() != before
    key.write_bytes(b"short")
    assert [run("use")[0], run("use")[0]] == [["right", "0"], ["right", "1"]]


@posix
def test_a_folder_that_others_can_write_is_not_used_unless_it_is_trusted(run, tmp_path):
    run("use")
    (tmp_path / "cache").chmod(0o777)
    for _ in range(2):
        words, warned = run("use")
        assert words == ["right", "0"]
        assert warned.count("others can write the folder") == 1
    words, warned = run("use", LIEMECH_CACHE_TRUSTED="1")
    assert (words, warned) == (["right", "0"], "")
    assert run("use", LIEMECH_CACHE_TRUSTED="1")[0] == ["right", "1"]


@pytest.mark.slow
@posix
def test_a_folder_or_a_key_of_another_user_is_not_used(run, tmp_path):
    if os.geteuid():
        pytest.skip("only the system's administrator gives files to others")
    run("use")
    key, other = tmp_path / "settings" / "liemech" / "cache-key", 12345
    for path in (tmp_path / "cache", key):
        os.chown(path, other, -1)
        words, warned = run("use")
        assert words == ["right", "0"]
        assert warned.count(f"belongs to user {other}") == 1
        os.chown(path, os.geteuid(), -1)
    assert run("use")[0] == ["right", "1"]


@pytest.mark.slow
@posix
def test_a_folder_that_can_only_be_read_is_read_without_a_word(run, tmp_path):
    """By a user for whom modes count, and who compiles in memory what is not there."""
    if os.geteuid():
        pytest.skip("only the system's administrator mounts")
    run("use")
    folder = str(tmp_path / "cache")
    for command in (["mount", "--bind", folder, folder], ["mount", "-o", "remount,ro,bind", folder]):
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("no right to mount")
    try:
        assert run("use") == (["right", "1"], "")
        words, warned = run("use", NUMBA_CPU_NAME="generic")
        assert words == ["right", "0"]
        assert warned.count("compiled in memory only") == 1
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.slow
def test_what_another_processor_or_version_has_compiled_is_not_loaded(run):
    other = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    assert [run("use")[0], run("use", **other)[0]] == [["right", "0"], ["right", "0"]]
    assert [run("use")[0], run("use", **other)[0]] == [["right", "1"], ["right", "1"]]
    assert run("older")[0] == ["right", "0"]


@pytest.mark.parametrize("which", ["a file", "under a file", "no place for the key"])
def test_without_a_folder_kernels_are_compiled_in_memory_with_one_warning(run, tmp_path, which):
    (tmp_path / "file").touch()
    variables = {
        "a file": {"LIEMECH_CACHE": str(tmp_path / "file")},
        "under a file": {"LIEMECH_CACHE": str(tmp_path / "file" / "cache")},
        "no place for the key": {"XDG_CONFIG_HOME": str(tmp_path / "file")},
    }[which]
    words, warned = run("use", **variables)
    assert words == ["right", "0"]
    assert warned.count("compiled in memory only") == 1


def test_a_full_disk_means_compiling_in_memory_with_one_warning(run, tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(0o700)
    options = "size=16k,mode=0700"
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, check=False
    )
    if not made or made.returncode:
        pytest.skip("no right to mount a small file system")
    try:
        for _ in range(2):
            words, warned = run("use")
            assert words == ["right", "0"]
            assert warned.count("compiled in memory only") == 1, warned
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_folder_removed_while_it_is_used_is_made_again(run):
    assert run("vanish")[0] == ["right", "right"]


def test_a_key_that_another_process_has_just_made_is_taken(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("LIEMECH_CACHE_TRUSTED", raising=False)
    path = folders.key_file()
    key = seals._made(path)
    assert seals._made(path) == key
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_seal_covers_content_and_name(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    sealed = seals.sealed("name", b"content")
    assert seals.opened("name", sealed) == b"content"
    assert seals.opened("other", sealed) is None
    for bit in range(8 * len(sealed)):
        damaged = bytearray(sealed)
        damaged[bit // 8] ^= 1 << bit % 8
        assert seals.opened("name", bytes(damaged)) is None
    for length in range(len(sealed)):
        assert seals.opened("name", sealed[:length]) is None


# --- threads and processes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_first_use_from_several_threads(run, seed):
    assert run("threads", 6)[0] == ["right"] * 6


@posix
def test_forked_after_use(run):
    assert run("fork", 4)[0] == ["right"] * 4


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_spawned_processes_on_an_empty_cache(run, tmp_path, count):
    assert run("spawn", count)[0] == ["right"] * count
    assert run("use")[0] == ["right", "1"]


def test_packages_in_an_archive_are_named_with_the_remedy():
    """Python imports from archives; the compiler's own words were `no locator available`."""
    with pytest.raises(RuntimeError, match=r"liemech\.whl/liegroup/table\.py: is no file; .*pip install"):
        cache._DigestLocator.from_function(len, "/somewhere/liemech.whl/liegroup/table.py")
