"""A run into a file: the numbers of the run in memory, flat memory, and a file that is whole whatever happens."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from integrators import Event, Problem, Solution, Status, integrate, resume
from integrators.engine import checkpoint as checkpoints
from integrators.engine import streaming
from integrators.results import journal, streams
from integrators.results.storage import Dataset, StorageError
from integrators.results.stored import Stored
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn
from liegroup.compile import entry, ld, st
from mechanics.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")
ENERGY = {"energy": lambda t, y: 0.5 * (y[0] * y[0] + y[1] * y[1])}
OSCILLATOR = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], invariants=ENERGY, model="oscillator")
STARTS = np.array([[1.0 + 0.1 * k, 0.0] for k in range(11)])


def equal(a, b):
    for name in TABLES:
        x, y = (np.asarray(getattr(s, name)) for s in (a, b))
        assert x.shape == y.shape, name
        assert np.array_equal(x, y, equal_nan=True), name
    assert (a.status, a.message, a.doubts) == (b.status, b.message, b.doubts)
    assert (a.steps, a.rejected) == (b.steps, b.rejected)
    if a.finished:  # else chunks are repeated one by one, and how long they are is a matter of the clock
        assert a.evaluations == b.evaluations


def content(path):
    """The bytes of a file, or of all those of a folder."""
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    return {file: file.read_bytes() for file in files if file.is_file()}


def shown(path):
    """What xarray makes of a stream, at once in memory."""
    xarray = pytest.importorskip("xarray")
    if Path(path).suffix == ".zarr":
        with xarray.open_zarr(path) as dataset:
            return dataset.load()
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        return dataset.load()


@pytest.fixture(params=[".h5", ".zarr"])
def path(request, tmp_path):
    if request.param == ".zarr":
        pytest.importorskip("zarr")
    return tmp_path / f"run{request.param}"


@pytest.fixture
def narrow(monkeypatch):
    """Windows of few rows, so that short runs have many."""
    monkeypatch.setattr(streaming, "FEWEST", 16)
    monkeypatch.setattr(streaming, "MOST", 100)
    monkeypatch.setattr(streaming, "SECONDS", 0.02)


@entry(*FIELD_SIGNATURES)
def turning(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 1))
    st(out, 1, -ld(y, 0))


@entry(*FIELD_SIGNATURES)
def escaping(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 0) * ld(y, 0))


@entry(*FIELD_SIGNATURES)
def square(t, y, parameters, structure, work, out):
    st(out, 0, ld(y, 0) * ld(y, 0))


SQUARE = {"square": square}
COMPILED = Problem(rn(2), [1.0, 0.0], turning, invariants=SQUARE, model="compiled oscillator")
ESCAPING = Problem(rn(1), [0.1], escaping, invariants=SQUARE)


RUNS = {
    "fixed": (OSCILLATOR, "RKMK4", (0.0, 10.05), 1e-2, {"save_every": 2}),
    "variable": (OSCILLATOR, "RKMK_DORMAND_PRINCE54", (0.0, 30.0), None, {"rtol": 1e-8}),
    "times": (OSCILLATOR, "RKMK4", (0.0, 3.0), 1e-2, {"t_eval": [0.5, 1.003, 3.0]}),
    "events": (OSCILLATOR, "RKMK4", (0.0, 10.0), 1e-2, {"events": {"left": lambda t, y: y[0]}}),
    "lanes": (COMPILED, "RKMK4", (0.0, 3.0), 1e-2, {"y0": STARTS}),
    "variable ensemble": (OSCILLATOR, "RKMK_DORMAND_PRINCE54", (0.0, 9.0), None, {"rtol": 1e-8, "y0": STARTS}),
    "variable ensemble of the same times": (
        OSCILLATOR,
        "RKMK_DOP853",
        (0.0, 3.0),
        None,
        {"max_step": 0.01, "y0": STARTS},
    ),
    "variable ensemble that events end": (
        OSCILLATOR,
        "RKMK_DOP853",
        (0.0, 9.0),
        None,
        {"rtol": 1e-6, "y0": STARTS[:3], "save_every": 6, "events": [Event(lambda t, y: y[0] + 1.05, "far", 0, True)]},
    ),
    "variable times": (
        OSCILLATOR,
        "RKMK_DORMAND_PRINCE54",
        (0.0, 9.0),
        None,
        {"rtol": 1e-8, "y0": STARTS**9, "t_eval": [0.5, 1.003, 9.0]},
    ),
    "lanes that fail": (
        Problem(rn(1), [0.1], escaping, invariants=SQUARE),
        "RKMK4",
        (0.0, 4.0),
        1e-2,
        {"y0": STARTS[:, :1] - 0.95},
    ),
}


@pytest.mark.parametrize("kind", RUNS)
def test_a_stream_holds_the_numbers_of_the_run_in_memory(path, narrow, kind):
    problem, method, span, step, options = RUNS[kind]
    whole = integrate(problem, method, span, step, **options)
    streamed = integrate(problem, method, span, step, **options, into=path)
    equal(whole, streamed)
    equal(whole, Solution.load(path))
    equal(whole, Solution.load(path, lazy=True).in_memory())
    assert np.array_equal(whole.y[..., -3:, 0], streamed.y[..., -3:, 0], equal_nan=True)
    expected, found = whole.to_xarray(), shown(path)
    assert set(expected.variables) == set(found.variables)
    for name in expected.variables:
        assert np.array_equal(expected[name], found[name], equal_nan=expected[name].dtype.kind == "f"), name
        assert expected[name].dims == found[name].dims
    if kind == "events":
        assert np.array_equal(whole.events["left"][1], Solution.load(path).events["left"][1])


def test_opening_a_stream_lazily_reads_none_of_its_rows(path, narrow, monkeypatch):
    whole, read = integrate(COMPILED, "RKMK4", (0.0, 3.0), 1e-2, into=path), []
    plain = Stored.__getitem__
    monkeypatch.setattr(Stored, "__getitem__", lambda self, key: read.append(key) or plain(self, key))
    seen = Solution.load(path, lazy=True)
    assert (seen.y.shape, seen.t.shape, seen.invariant_names) == (whole.y.shape, whole.t.shape, whole.invariant_names)
    assert all(isinstance(getattr(seen, name), Stored) for name in ("t", "y", "invariants"))
    assert not read
    assert np.array_equal(seen.y[3:5], np.asarray(whole.y)[3:5])
    assert read


@pytest.mark.parametrize("kind", ["fixed", pytest.param("lanes that fail", marks=pytest.mark.slow)])
def test_what_lies_on_the_disk_at_any_moment_opens_and_resumes_to_the_same_bits(path, narrow, monkeypatch, kind):
    """Copies of the folder between chunks, and in the middle of commits: what a kill would leave."""
    problem, method, span, step, options = RUNS[kind]
    whole, copies = integrate(problem, method, span, step, **options), []
    apply, calls = journal.recover, []

    def copied():
        calls.append(1)
        if len(calls) in (1, 3, 8, 12):
            copies.append(path.parent / f"copy{len(copies)}")
            copies[-1].mkdir()
            for item in list(path.parent.glob(f"{path.name}*")):
                copy = shutil.copytree if item.is_dir() else shutil.copy
                left = copy(item, copies[-1] / item.name)
                if item.is_dir():  # the store of Zarr writes beside a file, and then replaces it
                    for name in (".zattrs.64d390.partial", "t/0.64d390.partial"):
                        (Path(left) / name).write_bytes(b"{")

    def recovered(target):
        copied()
        apply(target)

    class Look:
        def look(self, stretch):
            copied()

    monkeypatch.setattr(journal, "recover", recovered)
    run = integrate(problem, method, span, step, **options, into=path, callback=Look(), every=0.2)
    monkeypatch.setattr(journal, "recover", apply)
    equal(whole, run)
    assert len(copies) >= 2, f"{len(calls)} looks"
    for copy in copies:
        seen = Solution.load(copy / path.name, lazy=True).in_memory()
        if whole.y.ndim == 2:
            rows = len(seen.t)
            assert np.array_equal(seen.t, whole.t[:rows])
            assert np.array_equal(seen.y, whole.y[:rows])
        equal(whole, resume(copy / path.name, problem))
        assert not list(copy.rglob("*.partial"))
        shown(copy / path.name)


LONG = """
import sys
import numpy as np
from integrators import Problem, integrate, resume
from integrators.engine import checkpoint as checkpoints
from integrators.engine import streaming
from liegroup import rn
streaming.SECONDS = 0.02
problem = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], model="oscillator",
                  invariants={"energy": lambda t, y: 0.5 * (y[0] * y[0] + y[1] * y[1])})
path, task = sys.argv[1:]
print("ready", flush=True)
if task == "begin":
    integrate(problem, "RKMK4", (0.0, 5000.0), 1e-2, save_every=2, into=path, every=0.1)
elif task == "resume":
    resume(path, problem, every=0.1)
"""


def start(code, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
        text=True,
    )
    assert process.stdout.readline().strip() == "ready", process.stderr.read()
    return process


def test_a_folder_whose_beginning_is_cut_off_is_not_there(tmp_path, monkeypatch):
    """Killed while it is laid out, a stream is absent, not a folder that cannot be read; what was there is whole."""
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "run.zarr"

    def cut(*_, **__):
        assert not path.exists() or before is not None
        raise KeyboardInterrupt

    before = None
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(zarr, "consolidate_metadata", cut)
            with pytest.raises(KeyboardInterrupt):
                streams.ZarrStream.create(path, Dataset({}, {}), {})
        assert not list(tmp_path.glob(".*.part"))
        if before is None:
            assert not path.exists()
            integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1, into=path)
            before = Solution.load(path)
    equal(before, Solution.load(path))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_killed_at_random_moments_it_opens_and_resumes_to_the_same_bits(path, seed):
    source, checkpoint = np.random.default_rng(seed), streaming.checkpoint_of(path)
    for task in ("begin", "resume"):
        before = checkpoint.stat().st_mtime_ns if checkpoint.exists() else None
        process = start(LONG, path, task)
        while process.poll() is None and (not path.exists() or checkpoint.stat().st_mtime_ns == before):
            time.sleep(0.005)
        time.sleep(source.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert np.isfinite(np.asarray(Solution.load(path, lazy=True).y)).all()
    whole = integrate(OSCILLATOR, "RKMK4", (0.0, 5000.0), 1e-2, save_every=2)
    equal(whole, resume(path, OSCILLATOR))


FULL = """
import sys
print("ready", flush=True)
import resource
from integrators import Problem, integrate
from integrators.engine import checkpoint as checkpoints
from integrators.engine import streaming
from liegroup import rn
streaming.MOST = 2000
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
problem = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], model="oscillator",
                  invariants={"energy": lambda t, y: 0.5 * (y[0] * y[0] + y[1] * y[1])})
solution = integrate(problem, "RKMK4", (0.0, 1000.0), 1e-2, save_every=2, into=sys.argv[1])
print(solution.status.name, len(solution.t), solution.message, sep="|", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are those of POSIX")
def test_a_full_disk_ends_the_run_and_loses_nothing_that_was_committed(tmp_path):
    path = tmp_path / "run.h5"
    out, err = start(FULL, path).communicate()
    status, rows, message = out.strip().split("|")
    assert (status, int(rows) > 1000) == ("FULL", True), err
    assert "could not be written" in message
    assert "resume" in message
    whole = integrate(OSCILLATOR, "RKMK4", (0.0, 1000.0), 1e-2, save_every=2)
    seen = Solution.load(path, lazy=True).in_memory()
    assert np.array_equal(seen.y, whole.y[: int(rows)])
    equal(whole, resume(path, OSCILLATOR))


@pytest.mark.parametrize("commits", [0, 1])
@pytest.mark.parametrize("start", [OSCILLATOR.y0, STARTS[:2]])
def test_a_disk_that_is_full_at_the_end_is_told_and_what_is_in_memory_returned(tmp_path, monkeypatch, commits, start):
    """The last rows of a run that is over: it has reached its end, and is not a success."""
    commit, left = journal.Journalled.commit, [commits]

    def full(self):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        return commit(self)

    whole = integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1, y0=start)
    monkeypatch.setattr(journal.Journalled, "commit", full)
    run = integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1, y0=start, into=tmp_path / "run.h5")
    assert not run.success
    assert np.shape(run.status) == np.shape(whole.status)
    assert {Status.FULL} == set(np.atleast_1d(np.array(run.status, dtype=object)))
    assert "could not be written" in run.message
    rows = np.asarray(run.y)
    reached = ~np.isnan(rows)
    assert reached[..., 0, :].all() or commits  # of several those that were committed before
    assert reached.any()
    assert np.array_equal(rows[reached], whole.y[..., : rows.shape[-2], :][reached])


@pytest.mark.parametrize("commits", [0, 1, 3])
def test_a_disk_that_becomes_full_under_trajectories_in_lanes_ends_them_all(path, monkeypatch, commits):
    pendulum = SYSTEMS["pendulum"].problem()
    many = pendulum.with_start(np.asarray(pendulum.y0) * np.linspace(0.5, 1.5, 9)[:, None])
    whole = integrate(many, "RKMK4", (0.0, 5.0), 1e-3, save_every=2)
    monkeypatch.setattr(streaming, "MOST", 256)
    kind, left = streams.format_of(path), [commits]
    commit = kind.commit

    def full(self):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(28, "No space left on device")
        commit(self)

    with monkeypatch.context() as patch:
        patch.setattr(kind, "commit", full)
        run = integrate(many, "RKMK4", (0.0, 5.0), 1e-3, save_every=2, into=path, every=0.0)
    assert set(run.status) == {Status.FULL}
    assert "make room and go on with resume" in run.message
    rows = np.asarray(run.y)
    reached = ~np.isnan(rows)
    assert np.array_equal(rows[reached], whole.y[:, : rows.shape[1]][reached])
    equal(whole, resume(path, many))


def test_nobody_is_sent_to_a_checkpoint_that_could_not_be_written(path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(checkpoints, "write", full)
    monkeypatch.setattr(streams.format_of(path), "commit", full)
    with pytest.warns(RuntimeWarning, match=r"checkpoint: .* could not be written"):
        run = integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1, into=path)
    assert "make room and begin anew, there is no checkpoint yet" in run.message


PEAK = """
import resource, sys
print("ready", flush=True)
from integrators import Problem, integrate
from liegroup import rn
problem = Problem(rn(20), [1.0] * 20, lambda t, y: [-y[k] for k in range(20)])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
for saves in (50_000, 400_000):
    integrate(problem, "LIE_EULER", (0.0, 1.0), 1.0 / saves, save_every=1, into=sys.argv[1], overwrite=True)
    print(peak(), flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are counted as Linux counts them")
def test_memory_does_not_grow_with_the_number_of_saved_states(tmp_path):
    """Of 64 MB of states nothing stays."""
    out, err = start(PEAK, tmp_path / "run.h5").communicate()
    few, many = (float(line) for line in out.split())
    assert many - few < 12.0, (few, many, err)


@pytest.mark.parametrize("workers", [1, 3])
def test_workers_put_their_rows_into_one_stream(path, narrow, workers):
    problem, method, span, step, _ = RUNS["lanes"]
    starts = np.concatenate([STARTS, STARTS + 0.05])
    whole = integrate(problem, method, span, step, y0=starts)
    equal(whole, integrate(problem, method, span, step, y0=starts, into=path, workers=workers))


def test_a_callback_sees_every_saved_row_though_they_are_handed_over(tmp_path, narrow):
    class Look:
        rows = 0

        def look(self, stretch):
            Look.rows += len(stretch.t)

    solution = integrate(
        OSCILLATOR, "RKMK4", (0.0, 20.0), 1e-2, into=tmp_path / "run.h5", callback=Look(), save_every=1
    )
    assert Look.rows == len(solution.t)


def test_an_interrupted_run_keeps_its_last_state_and_resumes_without_it(path, narrow):
    method, span, step, options = RUNS["fixed"][1:]
    seen = []
    stopped = integrate(
        OSCILLATOR, method, span, step, **options, into=path, callback=lambda t, y: seen.append(t) or t > 0
    )
    assert stopped.status is Status.STOPPED
    assert stopped.t[-1] == seen[-1]
    assert Solution.load(path).status is Status.STOPPED
    equal(integrate(OSCILLATOR, method, span, step, **options), resume(path, OSCILLATOR))


def test_how_the_method_was_chosen_is_said_of_what_is_resumed_too(path, tmp_path):
    whole = integrate(OSCILLATOR, (0.0, 1.0))
    assert "chosen for want of a method" in whole.message
    integrate(OSCILLATOR, (0.0, 1.0), into=path)
    assert Solution.load(path).message == resume(path, OSCILLATOR).message == whole.message
    stopped = integrate(OSCILLATOR, (0.0, 1.0), checkpoint=tmp_path / "run", callback=lambda t, y: True)
    assert stopped.message.endswith(whole.message[whole.message.index("(GAUSS8") :])
    assert resume(tmp_path / "run", OSCILLATOR).message == whole.message


class TestRefused:
    RUN = (OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1)

    def test_a_file_that_exists(self, path):
        first = integrate(*self.RUN, into=path).in_memory()
        with pytest.raises(FileExistsError, match=r"overwrite=True replaces it, integrators\.resume\(.* goes on"):
            integrate(*self.RUN, into=path)
        equal(first, integrate(*self.RUN, into=path, overwrite=True))

    def test_an_unknown_ending(self, tmp_path):
        with pytest.raises(ValueError, match=r"into: .* ends in '\.csv', expected one of \.h5, .*\.zarr"):
            integrate(*self.RUN, into=tmp_path / "run.csv")

    def test_a_folder_that_is_none(self, tmp_path):
        with pytest.raises(ValueError, match=r"into: .*nowhere is not a folder"):
            integrate(*self.RUN, into=tmp_path / "nowhere" / "run.h5")

    def test_a_folder_of_something_else(self, tmp_path):
        (tmp_path / "run.zarr").mkdir()
        with pytest.raises(StorageError, match="not one of Zarr"):
            integrate(*self.RUN, into=tmp_path / "run.zarr", overwrite=True)

    @pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden here")
    def test_a_folder_where_nothing_can_be_written(self, tmp_path):
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(PermissionError, match="nothing can be written"):
            integrate(*self.RUN, into=tmp_path / "closed" / "run.h5")

    def test_a_checkpoint_of_its_own(self, tmp_path):
        with pytest.raises(TypeError, match="kept beside it"):
            integrate(*self.RUN, into=tmp_path / "run.h5", checkpoint=tmp_path / "run.check")

    def test_another_problem(self, path):
        integrate(*self.RUN, into=path)
        other = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -2 * y[0]], invariants=ENERGY, model="oscillator")
        with pytest.raises(StorageError, match="has other field"):
            resume(path, other)

    def test_the_file_of_another_run_which_stays_as_it_is(self, path):
        integrate(*self.RUN, into=path)
        other = integrate(*self.RUN, into=path.with_stem("other")).in_memory()
        (shutil.rmtree if path.is_dir() else Path.unlink)(path)
        path.with_stem("other").rename(path)
        before = content(path)
        with pytest.raises(StorageError, match="is not the file that belongs to the checkpoint"):
            resume(path, OSCILLATOR)
        assert content(path) == before
        equal(Solution.load(path), other)

    def test_a_stream_without_its_checkpoint(self, path):
        integrate(*self.RUN, into=path)
        beside = streaming.checkpoint_of(path)
        beside.unlink()
        checkpoints.previous_of(beside).unlink(missing_ok=True)
        with pytest.raises(StorageError, match=f"contains results, .*{beside.name}, which is not there"):
            resume(path, OSCILLATOR)

    def test_the_checkpoint_of_a_stream_in_its_place(self, path):
        integrate(*self.RUN, into=path)
        with pytest.raises(StorageError, match=f"give the name of that file, .*{path.name}$"):
            resume(streaming.checkpoint_of(path), OSCILLATOR)

    def test_a_checkpoint_whose_file_is_gone(self, tmp_path):
        integrate(*self.RUN, into=tmp_path / "run.h5")
        (tmp_path / "run.h5").unlink()
        with pytest.raises(StorageError, match="is gone"):
            resume(tmp_path / "run.h5", OSCILLATOR)

    def test_a_file_that_is_no_stream(self, tmp_path):
        (tmp_path / "run.h5").write_bytes(b"something else")
        with pytest.raises(StorageError, match="not a readable HDF5 file"):
            Solution.load(tmp_path / "run.h5", lazy=True)


def test_arrays_in_files_read_what_is_asked_for(path):
    whole, streamed = integrate(*TestRefused.RUN), integrate(*TestRefused.RUN, into=path)
    y = streamed.y
    assert (y.shape, y.ndim, y.size, len(y)) == ((11, 2), 2, 22, 11)
    for key in (3, -1, slice(2, 9, 3), (slice(None), 1), (..., slice(0, 1)), [1, 5], slice(None, None, -1), (2, -1)):
        assert np.array_equal(y[key], whole.y[key]), key
    assert np.array_equal(y[whole.t > 0.55], whole.y[whole.t > 0.55])
    assert streamed["energy"].shape == (11,)
    assert y[:, 5:].shape == (11, 0)
    assert streamed.error("energy") == whole.error("energy")
    for found, expected in ((2.0 * y - 1.0, 2.0 * whole.y - 1.0), (y.T, whole.y.T), (streamed.t > 0.5, whole.t > 0.5)):
        assert np.array_equal(found, expected)
    assert np.array_equal(list(y), whole.y)


_WRITES = """
import sys
from integrators import integrate
from mechanics.systems import SYSTEMS
run = lambda end: integrate(
    SYSTEMS["pendulum"].problem(), "RKMK4", (0.0, end), 1e-3, into=sys.argv[1], overwrite=True, progress=False,
    callback=lambda t, y: print("going", flush=True),
)
print(run(float(sys.argv[2])).success)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no such lock")
def test_two_processes_do_not_write_one_file(tmp_path):
    path = tmp_path / "same.h5"
    command = [sys.executable, "-c", _WRITES, str(path), "1e6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as first:
        try:
            assert first.stdout is not None
            assert first.stdout.readline() == "going\n"
            with pytest.raises(StorageError, match=f"another run writes it now \\(process {first.pid}\\)"):
                integrate(SYSTEMS["pendulum"].problem(), "RKMK4", (0.0, 1.0), 0.01, into=path, overwrite=True)
            with pytest.raises(StorageError, match="another run writes it now"):
                integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1).save(path)
        finally:
            first.kill()
    resumed = resume(path, SYSTEMS["pendulum"].problem(), callback=lambda t, y: True)
    assert resumed.status is Status.STOPPED
    again = integrate(SYSTEMS["pendulum"].problem(), "RKMK4", (0.0, 1.0), 0.01, into=path, overwrite=True)
    assert again.success


@pytest.mark.parametrize("other", ["another file", "nothing"])
def test_a_run_whose_file_is_replaced_ends_and_leaves_the_other_alone(tmp_path, other):
    path, saved = tmp_path / "run.h5", integrate(OSCILLATOR, "RKMK4", (0.0, 2.0), 0.1)

    def replaces(t, y):
        if path.exists() and Solution.load(path, lazy=True).status is Status.INTERRUPTED:
            path.unlink()
            if other == "another file":
                saved.save(tmp_path / "saved.h5").rename(path)

    run = integrate(OSCILLATOR, "RKMK4", (0.0, 50.0), 1e-3, into=path, every=0.0, callback=replaces)
    assert run.status is Status.FULL
    assert "it is gone, or another file has come in its place" in run.message
    assert "begin anew" in run.message
    assert np.isfinite(run.y).all()
    assert path.exists() == (other == "another file")
    if path.exists():
        equal(Solution.load(path), saved)


def test_a_lazy_solution_of_a_saved_file_does_not_show_another(tmp_path):
    path = integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1).save(tmp_path / "run.h5")
    first, same = Solution.load(path, lazy=True), Solution.load(path)
    same.save(path)
    assert np.array_equal(first.y, same.y)
    integrate(OSCILLATOR, "MIDPOINT", (0.0, 1.0), 0.1).save(path)
    with pytest.raises(StorageError, match="has replaced this file"):
        np.asarray(first.y)
    streamed = integrate(OSCILLATOR, "RKMK4", (0.0, 1.0), 0.1, into=path, overwrite=True)
    same.save(path)
    with pytest.raises(StorageError, match="has replaced this file"):
        np.asarray(streamed.y)


@pytest.mark.parametrize("name", ["same.h5", "same.zarr"])
def test_a_lazy_solution_does_not_show_the_rows_of_a_later_run(tmp_path, name):
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    posed, path = SYSTEMS["pendulum"].problem(), tmp_path / name
    first = integrate(posed, "RKMK4", (0.0, 1.0), 0.01, into=path)
    assert len(np.asarray(first.y)) == 101
    second = integrate(posed, "RKMK4", (0.0, 2.0), 0.01, into=path, overwrite=True)
    with pytest.raises(StorageError, match="another run has replaced this file"):
        np.asarray(first.y)
    assert len(np.asarray(second.y)) == 201
