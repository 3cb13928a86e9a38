"""Damaged files are refused with name and place, never read; files of others are never replaced; full disks end no
run.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from integrators import Problem, Solution, Status, integrate, resume
from integrators.engine import checkpoint as checkpoints
from integrators.results import replacing
from integrators.results.storage import Dataset, StorageError, Variable, read, versions, write
from liegroup.table import RN, table_of

ROOT = Path(__file__).resolve().parents[2]


def decay(t, y):
    return -y


PROBLEM = Problem(table_of([(RN, 1)]), [1.0], decay, invariants={"square": lambda t, y: y[0] ** 2})
CALL = {"method": "RKMK4", "t_span": (0, 10), "step": 1e-2}


@pytest.fixture(scope="module")
def whole():
    return integrate(PROBLEM, **CALL)


def same(a, b):
    return np.array_equal(a.y, b.y) and np.array_equal(a.t, b.t) and a.steps == b.steps


def flipped(content, bit):
    damaged = bytearray(content)
    damaged[bit // 8] ^= 1 << bit % 8
    return bytes(damaged)


def refused(path, load):
    with pytest.raises(StorageError, match=str(path)) as found:
        load(path)
    return str(found.value)


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_anywhere_is_noticed_before_anything_is_read(tmp_path, whole, seed):
    path, source = whole.save(tmp_path / "run.h5"), random.Random(seed)
    content = path.read_bytes()
    for _ in range(200):
        path.write_bytes(flipped(content, source.randrange(8 * len(content))))
        words = refused(path, Solution.load)
        assert any(w in words for w in ("damaged between bytes", "no digest", "do not agree")), words
    path.write_bytes(content)
    assert same(Solution.load(path), whole)


def test_every_bit_of_the_digests_at_the_end_counts(tmp_path):
    path = write(tmp_path / "x.h5", Dataset({"x": Variable(("i",), [1.0, 2.0])}))
    content = path.read_bytes()
    for bit in range(8 * (len(content) - 88), 8 * len(content)):
        path.write_bytes(flipped(content, bit))
        refused(path, read)


def test_the_place_of_the_damage_is_told(tmp_path):
    path = write(tmp_path / "x.h5", Dataset({"x": Variable(("i",), np.random.default_rng(0).random(400_000))}))
    content = bytearray(path.read_bytes())
    content[2_000_000] ^= 4
    path.write_bytes(content)
    assert "damaged between bytes 1048576 and 2097152" in refused(path, read)


def test_files_cut_off_filled_up_or_mixed_are_refused(tmp_path, whole):
    path = whole.save(tmp_path / "run.h5")
    content = path.read_bytes()
    for length in [*range(0, 100), *range(len(content) - 100, len(content)), len(content) // 2]:
        path.write_bytes(content[:length])
        refused(path, Solution.load)
    for damaged in (content + b"\0", content[:5000] + bytes(len(content) - 5000), bytes(len(content)), content[1:]):
        path.write_bytes(damaged)
        refused(path, Solution.load)


def test_a_data_file_without_what_a_solution_consists_of_is_refused(tmp_path):
    refused(write(tmp_path / "x.h5", Dataset({}, {"content": "solution"})), Solution.load)
    refused(write(tmp_path / "y.h5", Dataset({}, {"content": "checkpoint"})), lambda path: resume(path, PROBLEM))
    version = {"content": "checkpoint", "checkpoint_version": checkpoints.VERSION}
    refused(write(tmp_path / "z.h5", Dataset({}, version)), lambda path: resume(path, PROBLEM))


def test_a_variable_with_the_name_of_a_dimension_is_not_lost(tmp_path):
    """It was left out of the file, which nobody could read then."""
    variables = {"x": Variable(("row", "column"), np.zeros((2, 3))), "row": Variable(("column",), np.zeros(3))}
    with pytest.raises(ValueError, match="variable 'row': has the name of a dimension"):
        write(tmp_path / "x.h5", Dataset(variables, {}))
    with pytest.raises(ValueError, match="invariant_names: 'sample', expected an identifier"):
        Problem(table_of([(RN, 1)]), [1.0], decay, invariants={"sample": lambda t, y: y[0] ** 2})


@pytest.mark.parametrize("change", ["dropped", "a text", "another shape"])
def test_whole_files_with_other_content_are_refused_by_name(tmp_path, change):
    """Their digests are right: some program has written them."""
    path = stopped(tmp_path / "run.check")
    checkpoints.previous_of(path).unlink()
    found, kept = read(path), ("content", "checkpoint_version")
    for name in ("method", "kernels", "method_fingerprint", "way", "save_every", "events", "runs", "start", "times"):
        variables, attributes = dict(found.variables), dict(found.attributes)
        part = variables if name in variables else attributes
        if change == "dropped":
            del part[name]
        elif part is attributes:
            attributes[name] = "x" if change == "a text" else "[1]"
        else:
            variables[name] = Variable(
                ("a", "b", "c"), np.zeros((2, 3, 1)).astype(str if change == "a text" else float)
            )
        write(path, Dataset(variables, {k: v for k, v in attributes.items() if k in kept or k not in versions()}))
        if name == "method" and change != "dropped":
            with pytest.raises(ValueError, match="is not in the catalogue"):
                resume(path, PROBLEM)
        else:
            refused(path, lambda p: resume(p, PROBLEM))


# --- checkpoints ------------------------------------------------------------------------------------------------------


def stopped(path, chunks=4, **options):
    seen = []

    def stop(t, y):
        seen.append(t)
        return len(seen) == chunks

    integrate(PROBLEM, **CALL, **options, checkpoint=path, every=0.0, callback=stop)
    return path


def test_damaged_checkpoints_are_refused_and_the_one_before_is_used(tmp_path, whole):
    path, source = stopped(tmp_path / "run.check"), random.Random(1)
    previous, content = checkpoints.previous_of(path), path.read_bytes()
    before = previous.read_bytes()
    for _ in range(20):
        path.write_bytes(flipped(content, source.randrange(8 * len(content))))
        with pytest.warns(RuntimeWarning, match=r"run\.check: .*going on from the checkpoint before it"):
            assert same(resume(path, PROBLEM), whole)
        assert same(resume(path, PROBLEM), whole)
        previous.write_bytes(before)
    path.unlink()
    with pytest.warns(RuntimeWarning, match="no such file"):
        assert same(resume(path, PROBLEM), whole)
    for file in (path, previous):
        file.write_bytes(b"nothing")
    assert str(previous) in refused(path, lambda path: resume(path, PROBLEM))


def test_a_damaged_checkpoint_does_not_push_out_the_good_one_before_it(tmp_path, whole):
    path = stopped(tmp_path / "run.check")
    path.write_bytes(b"damaged")
    with pytest.warns(RuntimeWarning, match="going on"):
        resume(path, PROBLEM, every=1e9)
    assert same(resume(checkpoints.previous_of(path), PROBLEM), whole)


def test_a_new_run_leaves_no_earlier_checkpoint_of_another(tmp_path):
    path = stopped(tmp_path / "run.check")
    assert checkpoints.previous_of(path).exists()
    integrate(PROBLEM, **CALL, checkpoint=path, overwrite=True)
    assert not checkpoints.previous_of(path).exists()
    checkpoints.previous_of(path).write_text("mine")
    integrate(PROBLEM, **CALL, checkpoint=path)
    assert checkpoints.previous_of(path).read_text() == "mine"


def test_a_folder_that_goes_and_comes_back_costs_a_warning(tmp_path, whole, monkeypatch):
    monkeypatch.setattr(checkpoints, "_PATIENCE", 0.0)
    folder, seen = tmp_path / "checks", []
    folder.mkdir()

    def trouble(t, y):
        seen.append(t)
        if len(seen) == 1:
            shutil.rmtree(folder)
        if len(seen) == 3:
            folder.mkdir()

    with pytest.warns(RuntimeWarning, match="could not be written") as found:
        solution = integrate(PROBLEM, **CALL, checkpoint=folder / "run.check", every=0.0, callback=trouble)
    assert solution.success
    assert same(solution, whole)
    assert len(found) == 2
    assert same(resume(folder / "run.check", PROBLEM), whole)


def _mounted(folder):
    """A small file system of its own, if this user may make one."""
    folder.mkdir()
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    return bool(made) and made.returncode == 0


def test_a_full_disk_ends_no_run_and_leaves_the_old_file_whole(tmp_path, whole):
    folder = tmp_path / "small"
    if not _mounted(folder):
        pytest.skip("no right to mount a small file system")
    try:
        path = whole.save(folder / "run.h5")
        (folder / "filler").write_bytes(bytes(256 * 1024 - path.stat().st_size - 20_000))
        with pytest.raises(OSError, match="No space left"):
            whole.save(path)
        assert same(Solution.load(path), whole)
        with pytest.warns(RuntimeWarning, match="No space left"):
            solution = integrate(PROBLEM, **CALL, checkpoint=folder / "run.check")
        assert same(solution, whole)
        assert sorted(p.name for p in folder.iterdir()) == ["filler", "run.h5"]
        (folder / "filler").unlink()
        whole.save(path)
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_run_is_resumed_from_a_full_disk_with_a_warning(tmp_path, whole):
    folder = tmp_path / "small"
    if not _mounted(folder):
        pytest.skip("no right to mount a small file system")
    try:
        path = stopped(folder / "run.check")
        before = path.read_bytes()
        with contextlib.suppress(OSError), open(folder / "filler", "wb") as file:
            while True:
                file.write(bytes(4096))
                file.flush()
        with pytest.warns(RuntimeWarning, match="No space left"):
            assert same(resume(path, PROBLEM), whole)
        assert path.read_bytes() == before
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("which", ["folder", "device", "missing", "file in the way"])
def test_an_unusable_checkpoint_is_refused_before_the_first_step(tmp_path, which):
    (tmp_path / "file").touch()
    path = {
        "folder": tmp_path,
        "device": Path(os.devnull),
        "missing": tmp_path / "nowhere" / "run.check",
        "file in the way": tmp_path / "file" / "run.check",
    }[which]
    with pytest.raises(ValueError, match=r"folder|device"):
        integrate(PROBLEM, **CALL, checkpoint=path, callback=lambda t, y: pytest.fail("a step was taken"))


ENDLESS = """
import sys
from integrators import Problem, integrate
from liegroup.table import RN, table_of
problem = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y)
integrate(problem, "RKMK4", (0, 1e-2), 1e-3)
print("ready", flush=True)
solution = integrate(problem, "RKMK4", (0, 1e6), 1e-3, save_every=100, checkpoint=sys.argv[1], every=1e9)
print(solution.status.name, solution.steps, solution.message, sep="|", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_the_checkpoint_and_ends_the_run_with_its_message(tmp_path, number):
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(tmp_path / "run.check")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert process.stdout.readline().strip() == "ready", process.stderr.read()
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    status, steps, message = out.strip().split("|")
    assert status == Status.INTERRUPTED.name
    assert number.name in message
    stored = checkpoints.load(tmp_path / "run.check")
    assert f"step {steps}" in message
    assert int(stored.states[0]["counters"][0]) > 0


# --- files of others --------------------------------------------------------------------------------------------------


def test_only_regular_files_are_replaced_and_links_stay(tmp_path, whole):
    for path in (tmp_path, Path(os.devnull)):
        with pytest.raises(StorageError, match="regular file"):
            whole.save(path)
    assert not Path(os.devnull).is_file()
    assert list(tmp_path.iterdir()) == []
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="device or pipe"):
        whole.save(tmp_path / "pipe")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link.h5").symlink_to(tmp_path / "elsewhere" / "run.h5")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for _ in range(2):
        whole.save(tmp_path / "link.h5")
        assert (tmp_path / "link.h5").is_symlink()
        assert same(Solution.load(tmp_path / "elsewhere" / "run.h5"), whole)
    with pytest.raises(StorageError, match="circle"):
        whole.save(tmp_path / "circle")


@pytest.mark.parametrize("which", ["a text", "results", "that of a run into a file", "of this run"])
def test_what_a_new_run_would_be_sorry_to_replace_is_left_where_it_is(tmp_path, whole, which):
    path = tmp_path / "run.check"
    if which == "a text":
        path.write_text("precious")
    elif which == "results":
        whole.save(path)
    elif which == "of this run":
        stopped(path)
        resume(path, PROBLEM, every=0.0, callback=lambda t, y: True)  # further, and still to be known
    else:
        path = tmp_path / "run.h5.checkpoint"
        integrate(PROBLEM, **CALL, into=tmp_path / "run.h5", callback=lambda t, y: True)
    before = path.read_bytes()
    words = "resume.*goes on with it; overwrite=True" if which == "of this run" else "another name; overwrite=True"
    with pytest.raises(FileExistsError, match=f"checkpoint: {path} .*{words}"):
        integrate(PROBLEM, **CALL, checkpoint=path, callback=lambda t, y: pytest.fail("a step was taken"))
    assert path.read_bytes() == before
    assert same(integrate(PROBLEM, **CALL, checkpoint=path, overwrite=True), whole)
    assert same(resume(path, PROBLEM), whole)


def test_runs_that_are_over_or_were_given_up_are_replaced_without_ado(tmp_path, whole):
    path = tmp_path / "run.check"
    path.touch()  # as modules that make temporary files leave it
    for _ in range(2):
        assert same(integrate(PROBLEM, **CALL, checkpoint=path), whole)
    stopped(path, overwrite=True)
    other = CALL | {"t_span": (0, 9)}
    assert same(integrate(PROBLEM, **other, checkpoint=path), integrate(PROBLEM, **other))


def test_a_file_that_is_no_checkpoint_beside_a_stream_stays(tmp_path):
    beside = tmp_path / "run.h5.checkpoint"
    beside.write_text("precious")
    with pytest.raises(FileExistsError, match="is no checkpoint"):
        integrate(PROBLEM, **CALL, into=tmp_path / "run.h5")
    assert beside.read_text() == "precious"


def test_what_killed_processes_left_unfinished_is_removed_and_nothing_else(tmp_path, whole):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    host = replacing._host()
    left = tmp_path / f".run.h5.{host}.{ended.pid}.0123456789ab.part"
    others = [
        tmp_path / f".run.h5.{host}.{os.getpid()}.0123456789ab.part",
        tmp_path / f".run.h5.elsewhere.{ended.pid}.0123456789ab.part",
        tmp_path / f".other.h5.{host}.{ended.pid}.0123456789ab.part",
        tmp_path / ".run.h5.mine.part",
    ]
    old = tmp_path / ".run.h5.elsewhere.1.0123456789ab.part"
    for path in (left, *others, old):
        path.touch()
    os.utime(old, (0, 0))
    path = whole.save(tmp_path / "run.h5")
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_a_process_killed_while_it_saves_leaves_nothing_behind_for_long(tmp_path, whole):
    code = (
        "import sys, os; from integrators import Solution; from integrators.results import storage\n"
        "s = Solution.load(sys.argv[1]); storage.put = lambda *a: os.kill(os.getpid(), 9); s.save(sys.argv[1])"
    )
    path = whole.save(tmp_path / "run.h5")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code, str(path)], env=environment, check=False)
    assert len(list(tmp_path.iterdir())) == 2
    assert same(Solution.load(path), whole)
    whole.save(path)
    assert list(tmp_path.iterdir()) == [path]
