"""Campaigns: chunks on any executor or cluster, with the bits of one machine, whatever is lost on the way."""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from integrators import Problem, Status, integrate, sweep
from integrators.ensemble import campaign, draws, joined, submit
from integrators.results import StorageError
from integrators.statistics import Histogram, Moments
from liegroup import rn
from liegroup.table import RN, table_of
from mechanics.systems import SYSTEMS

ARRAYS = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")
TOP = SYSTEMS["heavy-top"].problem()
GIVEN = ("MIDPOINT", (0.0, 0.5), 0.01)


class KilledWorker(RuntimeError):
    """As a cluster says it."""


class Client:
    """Computes at once; the first `lost` chunks are lost with their workers."""

    def __init__(self, lost=0):
        self.lost, self.sent = lost, 0

    def submit(self, function, *arguments):
        self.sent += 1
        future = Future()
        if self.sent <= self.lost:
            future.set_exception(KilledWorker("no worker is left"))
        else:
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
        return future


def states(count):
    start = np.tile(TOP.y0, (count, 1))
    start[:, -1] *= 1.0 + 0.02 * np.arange(count)
    return start


def assert_same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert one.status == other.status
    assert one.doubts == other.doubts


def decay(t, y, parameters):
    return -parameters[0] * y


def decaying(rate):
    return Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -rate * y, model=f"rate {rate}")


@pytest.mark.parametrize("how", [{"step": 0.01}, {"rtol": 1e-6}, {"rtol": 1e-6, "t_eval": [0.1, 0.15, 0.2]}])
def test_chunks_have_the_bits_of_the_whole(how):
    whole = integrate(TOP.with_start(states(20)), "RKMK_DORMAND_PRINCE54", (0.0, 0.2), progress=False, **how)
    with ThreadPoolExecutor(2) as pool:
        campaign = submit(TOP, states(20), "RKMK_DORMAND_PRINCE54", (0.0, 0.2), client=pool, per_chunk=8, **how)
        found = campaign.result(progress=False)
    assert campaign.done == campaign.chunks == 3
    assert_same(found, whole)
    assert found.evaluations == whole.evaluations
    assert found.message == whole.message
    assert found.scene is not None


def test_what_steps_report_is_that_of_all_parts():
    """It was that of the first part."""
    start = states(5)
    start[3, 4:] *= 4.0
    whole = integrate(TOP.with_start(start), "GAUSS8", (0.0, 0.1), 0.01, progress=False)
    parts = [integrate(TOP.with_start(some), "GAUSS8", (0.0, 0.1), 0.01) for some in (start[:2], start[2:])]
    found = joined(parts)
    assert found.levels != parts[0].levels
    assert found.attributes.keys() == whole.attributes.keys()
    for name, value in whole.attributes.items():
        assert found.attributes[name] == (value if name != "sweeps" else pytest.approx(value, rel=1e-15)), name


def test_steps_that_were_divided_are_counted_in_all_parts():
    two = integrate(TOP.with_start(states(2)), *GIVEN, progress=False)
    says = ", into {} substeps: where that happens often the energy is no longer bounded, and a smaller step is better"
    parts = [
        replace(two, message=f"reached the end; {n} of 50 steps were divided{says.format(m)}",
                attributes={"divided_steps": n, "substeps": m})
        for n, m in ((3, 12), (1, 2))
    ]  # fmt: skip
    for given in ([*parts, two], [two, *parts]):
        found = joined(given)
        assert found.message == f"reached the end; 4 steps were divided{says.format(14)}"
        assert found.attributes == {"divided_steps": 4, "substeps": 14}
    assert joined([two, two]).message == "reached the end"


def test_what_cannot_be_sent_to_processes_is_said_at_once():
    with (
        ProcessPoolExecutor(1) as pool,
        pytest.raises(TypeError, match=r"client: an executor of processes, .*named in a module, no lambdas"),
    ):
        submit(lambda x: decaying(x), [1.0, 2.0], "RKMK4", (0.0, 1.0), 0.1, client=pool, per_chunk=1)


def test_a_trial_chooses_full_lanes():
    campaign = submit(TOP, states(100), *GIVEN, client=Client(), seconds=1e-9)
    assert campaign.per_chunk == 8
    assert submit(TOP, states(20), *GIVEN, client=Client(), seconds=1e9).chunks == 1


def test_parameters_go_through_a_builder():
    solutions = submit(decaying, [0.5, 1.0, 2.0], "RKMK4", (0.0, 1.0), 0.1, client=Client(), per_chunk=2).result()
    assert [solution.model for solution in solutions] == ["rate 0.5", "rate 1.0", "rate 2.0"]
    assert np.array_equal(solutions[2].y, integrate(decaying(2.0), "RKMK4", (0.0, 1.0), 0.1).y)


def test_a_campaign_goes_on_from_its_folder(tmp_path):
    first, again = Client(lost=2), Client()
    begun = submit(TOP, states(20), *GIVEN, client=first, folder=tmp_path, per_chunk=8, retries=0)
    with pytest.raises(KilledWorker):
        begun.result(progress=False)
    assert [path.name for path in sorted(tmp_path.glob("*.h5"))] == ["states-00000016.h5"]
    finished = submit(TOP, states(20), *GIVEN, client=again, folder=tmp_path, per_chunk=5)
    assert (again.sent, finished.per_chunk) == (2, 8)
    whole = integrate(TOP.with_start(states(20)), *GIVEN, progress=False)
    assert_same(finished.result(progress=False), whole)
    for other in ((TOP, states(21), *GIVEN), (TOP, states(20), "MIDPOINT", (0.0, 0.5), 0.005)):
        with pytest.raises(StorageError, match="another problem, method or other cases"):
            submit(*other, client=again, folder=tmp_path)


class Unsendable(Exception):
    """Cannot be made again from what it says."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def refusing(rate):
    if rate == 2.0:
        raise ValueError("rate: too fast")
    if rate == 4.0:
        raise Unsendable(rate, "more")
    return decaying(rate)


@pytest.mark.parametrize("kept", [False, True])
def test_a_case_that_cannot_be_computed_does_not_take_its_chunk_with_it(tmp_path, kept):
    given = {"client": Client(), "per_chunk": 3, "folder": tmp_path if kept else None}
    rates = [1.0, 2.0, 3.0, 4.0, 5.0]
    for _ in range(2):  # the second time from the folder
        campaign = submit(refusing, rates, "RKMK4", (0.0, 1.0), 0.1, **given)
        found = list(campaign.solutions(progress=False, raising=False))
        assert [getattr(one, "model", type(one).__name__) for one in found] == [
            "rate 1.0", "ValueError", "rate 3.0", "RuntimeError", "rate 5.0",
        ]  # fmt: skip
        assert found[3].__notes__ == ["raised by case 3, 4.0"]
        assert np.array_equal(found[2].y, integrate(decaying(3.0), "RKMK4", (0.0, 1.0), 0.1).y)
        with pytest.raises(ValueError, match="too fast") as caught:
            campaign.result(progress=False)
        assert "raised by case 1, 2.0" in caught.value.__notes__
    files = [path.name for path in sorted(tmp_path.glob("*.h5"))]
    assert files == ([f"case-{k:08d}.h5" for k in (0, 2, 4)] if kept else [])


def test_cases_that_are_in_the_folder_are_not_computed_again(tmp_path, monkeypatch):
    given = ("RKMK4", (0.0, 1.0), 0.1)
    submit(decaying, [1.0, 2.0, 3.0], *given, client=Client(), per_chunk=3, folder=tmp_path).result(progress=False)
    (tmp_path / "case-00000001.h5").unlink()  # as if killed between two cases
    computed = []
    monkeypatch.setattr(campaign, "integrate", lambda *a, **k: computed.append(1) or integrate(*a, **k))
    found = submit(decaying, [1.0, 2.0, 3.0], *given, client=Client(), folder=tmp_path).result(progress=False)
    assert len(computed) == 1
    assert [one.model for one in found] == ["rate 1.0", "rate 2.0", "rate 3.0"]


def test_what_a_builder_reads_from_a_file_belongs_to_the_campaign(tmp_path):
    """Results of the old file would come back without a word."""
    model, given = tmp_path / "rate.txt", ("RKMK4", (0.0, 1.0), 0.1)

    def build(case):
        return Problem(rn(1), [case], decay, parameters=[float(model.read_text())])

    def found():
        made = submit(build, [1.0, 2.0], *given, client=Client(), per_chunk=1, folder=tmp_path / "kept")
        return [float(one.y[-1, 0]) for one in made.result(progress=False)]

    model.write_text("1.0")
    first = found()
    assert found() == first == pytest.approx([np.exp(-1.0), 2.0 * np.exp(-1.0)], rel=1e-5)
    model.write_text("2.0")
    with pytest.raises(StorageError, match="holds a campaign of another problem"):
        found()


@pytest.mark.parametrize("what", ["cut off", "another chunk", "another campaign"])
def test_files_that_are_not_those_of_the_campaign_are_computed_again(tmp_path, what):
    whole = integrate(TOP.with_start(states(20)), *GIVEN, progress=False)
    given = {"client": Client(), "per_chunk": 8, "folder": tmp_path / "own"}
    submit(TOP, states(20), *GIVEN, **given).result(progress=False)
    target = tmp_path / "own" / "states-00000008.h5"
    if what == "cut off":
        target.write_bytes(target.read_bytes()[:1000])
    elif what == "another chunk":
        shutil.copy(tmp_path / "own" / "states-00000000.h5", target)
    else:
        other = given | {"folder": tmp_path / "other"}
        submit(TOP, states(20), "MIDPOINT", (0.0, 0.5), 0.005, **other).result(progress=False)
        shutil.copy(tmp_path / "other" / target.name, target)
    with pytest.warns(
        RuntimeWarning, match=r"states-00000008\.h5: missing, damaged, or of another campaign; computed again"
    ):
        found = submit(TOP, states(20), *GIVEN, **given).result(progress=False)
    assert_same(found, whole)
    assert "campaign" not in found.attributes
    assert_same(submit(TOP, states(20), *GIVEN, **given).result(progress=False), whole)


def test_a_folder_that_workers_see_by_another_name_is_named(tmp_path):
    class Elsewhere(Client):
        def submit(self, function, *arguments):
            *others, paths, mark = arguments
            (tmp_path / "elsewhere").mkdir(exist_ok=True)
            return super().submit(function, *others, [path.replace("here", "elsewhere") for path in paths], mark)

    campaign = submit(TOP, states(2), *GIVEN, client=Elsewhere(), per_chunk=8, folder=tmp_path / "here")
    with (
        pytest.warns(RuntimeWarning, match="missing"),
        pytest.raises(StorageError, match="folder: all workers must see it"),
    ):
        campaign.result(progress=False)


def test_a_lost_chunk_of_a_builder_has_a_place_for_each_case():
    campaign = submit(decaying, [1.0, 2.0, 3.0], *GIVEN, client=Client(lost=1), per_chunk=2, retries=0)
    found = list(campaign.solutions(progress=False, raising=False))
    assert [isinstance(one, KilledWorker) for one in found] == [True, True, False]


def test_lost_chunks_are_sent_again():
    client = Client(lost=3)
    assert submit(TOP, states(8), *GIVEN, client=client, per_chunk=8).result(progress=False).success
    assert client.sent == 4


def test_failing_trajectories_keep_their_number_and_say_why(tmp_path):
    start = states(6)
    start[4, 4:] *= 100.0
    how = {"rtol": 1e-6, "max_steps": 500}
    campaign = submit(TOP, start, "RKMK_DORMAND_PRINCE54", (0.0, 0.1), client=Client(), per_chunk=2, **how)
    found = campaign.result(progress=False)
    assert [status is Status.OK for status in found.status] == [True] * 4 + [False, True]
    whole = integrate(TOP.with_start(start), "RKMK_DORMAND_PRINCE54", (0.0, 0.1), progress=False, **how)
    assert_same(found, whole)
    assert found.message == whole.message == f"1 of 6 trajectories did not reach the end; trajectory 4: {why(whole, 4)}"
    assert found.failures == whole.failures
    alone = integrate(TOP.with_start(start[4]), "RKMK_DORMAND_PRINCE54", (0.0, 0.1), progress=False, **how)
    assert why(whole, 4) == alone.message
    assert "(at t = 0.0" in alone.message
    assert whole.trajectory(3).message == "reached the end"
    assert not whole.trajectory(4).failures
    again = type(whole).load(whole.save(tmp_path / "whole.h5"))
    assert again.failures == whole.failures
    assert why(again, 4) == alone.message
    streamed = integrate(
        TOP.with_start(start), "RKMK_DORMAND_PRINCE54", (0.0, 0.1), into=tmp_path / "rows.h5", progress=False, **how
    )
    assert streamed.failures == type(whole).load(tmp_path / "rows.h5").failures == whole.failures


def why(ensemble, k):
    return ensemble.trajectory(k).message


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"client": None}, "client"),
        ({"step": None}, "step: missing"),
        ({"workers": 2}, "workers"),
        ({"into": "run.h5", "overwrite": True}, "into, overwrite: belongs to a run of its own"),
        ({"cases": np.zeros((2, 3))}, "cases: shape"),
        ({"cases": np.zeros((0, 7))}, "cases: none"),
        ({"cases": np.where(np.arange(7) == 5, np.nan, states(2))}, r"cases: component \(0, 5\) is nan"),
        ({"per_chunk": 0}, "per_chunk"),
        ({"seconds": -1.0}, "seconds"),
    ],
)
def test_what_makes_no_sense_is_named(given, says):
    arguments = {"problem": TOP, "cases": states(2), "method": "RKMK4", "t_span": (0, 1), "step": 0.1}
    with pytest.raises((TypeError, ValueError), match=says):
        submit(**arguments | {"client": Client()} | given)


def test_the_method_may_be_left_out():
    campaign = submit(TOP, states(2), (0.0, 0.1), step=0.02, client=Client())
    whole = integrate(TOP.with_start(states(2)), (0.0, 0.1), step=0.02, progress=False)
    found = campaign.result(progress=False)
    assert_same(found, whole)
    assert found.method == "GAUSS8"


def test_only_ensembles_of_one_problem_are_joined():
    one = integrate(TOP, *GIVEN, progress=False)
    two = integrate(TOP.with_start(states(2)), *GIVEN, progress=False)
    other = integrate(TOP.with_start(states(2)), "RKMK4", (0.0, 0.5), 0.01, progress=False)
    for parts, says in (([], "one or more"), ([one], "of ensembles"), ([two, other], "method")):
        with pytest.raises(ValueError, match=says):
            joined(parts)


def killed_at_random(cluster, seed, count):
    """A thread that kills so many workers of a local cluster."""

    def kill():
        moments = random.Random(seed)
        for _ in range(count):
            time.sleep(moments.uniform(0.1, 1.5))
            alive = [nanny.pid for nanny in cluster.workers.values() if nanny.pid]
            os.kill(moments.choice(alive), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_that_loses_workers_gives_the_bits_of_one_machine(tmp_path):
    distributed = pytest.importorskip("dask.distributed")
    runs = int(os.environ.get("LIEMECH_TEST_CLUSTER_RUNS", "2"))
    given = ("MIDPOINT", (0.0, 200.0), 0.001)
    whole = integrate(TOP.with_start(states(32)), *given, progress=False)
    for seed in range(runs):
        with (
            distributed.LocalCluster(3, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            folder = tmp_path / str(seed) if seed % 2 else None
            campaign = submit(TOP, states(32), *given, client=client, folder=folder, per_chunk=8)
            thread = killed_at_random(cluster, seed, 2)
            assert_same(campaign.result(progress=False), whole)
            thread.join()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_statistics_and_sweeps_on_a_cluster_are_those_of_one_machine():
    distributed = pytest.importorskip("dask.distributed")
    asked = [Moments("energy", windows=4), Histogram(lambda t, y: y[..., 0], np.linspace(-1.0, 1.0, 9), name="tip")]
    given = ("MIDPOINT", (0.0, 60.0), 0.001)
    whole = integrate(TOP.with_start(states(24)), *given, statistics=asked, progress=False)

    def lighter(factor):
        return TOP.with_start(TOP.y0 * [1, 1, 1, 1, factor, factor, factor])

    def mean(solution):
        return solution.statistics["energy_moments"]["mean"]

    def table(**where):
        return sweep(lighter, {"factor": np.linspace(0.5, 1.5, 12)}, *given, statistics=asked[:1],
                     quantities={"mean": mean}, per_chunk=3, **where)  # fmt: skip

    with (
        distributed.LocalCluster(2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        thread = killed_at_random(cluster, 3, 1)
        found = submit(TOP, states(24), *given, client=client, per_chunk=8, statistics=asked).result(progress=False)
        labelled = table(client=client)
        thread.join()
    for name in ("energy_moments", "tip"):
        for key, values in whole.statistics[name].items():
            assert np.array_equal(found.statistics[name][key], values, equal_nan=True), (name, key)
    assert labelled.identical(table())


def test_random_cases_do_not_depend_on_chunks():
    def start(random):
        return random.normal(size=random.integers(2, 3))

    whole = draws(start, 50, seed=3)
    assert np.array_equal(np.concatenate([draws(start, range(20), 3), draws(start, range(20, 50), 3)]), whole)
    assert len(np.unique(whole)) == whole.size
    assert not np.array_equal(draws(start, 50, seed=4), whole)
    assert (
        draws(lambda random: {"mass": random.uniform()}, 2, 1)[1] == draws(lambda r: {"mass": r.uniform()}, [1], 1)[0]
    )


def test_random_whole_numbers_stay_whole():
    assert draws(lambda random: random.integers(5), 4, seed=3).dtype == np.int64
    assert draws(lambda random: [random.uniform() < 0.5, True], 4, seed=3).dtype == np.bool_
    assert draws(lambda random: [random.integers(5), 0.5], 4, seed=3).dtype == np.float64
    assert draws(lambda random: "7", 2, seed=3) == ["7", "7"]


UNDER_MPI = """
import numpy as np
from integrators import integrate
from integrators.ensemble import submit
from mechanics.systems import SYSTEMS

if __name__ == "__main__":
    from mpi4py.futures import MPIPoolExecutor

    top = SYSTEMS["heavy-top"].problem()
    states = np.tile(top.y0, (20, 1)) * (1.0 + 0.01 * np.arange(20)[:, None] * (np.arange(7) == 6))
    with MPIPoolExecutor(2) as pool:
        found = submit(top, states, "MIDPOINT", (0.0, 0.5), 0.01, client=pool, per_chunk=8).result(progress=False)
    whole = integrate(top.with_start(states), "MIDPOINT", (0.0, 0.5), 0.01)
    print("same bits:", bool((found.y == whole.y).all()), found.message)
"""


@pytest.mark.slow
def test_processes_of_mpi_give_the_bits_of_one(tmp_path):
    pytest.importorskip("mpi4py")
    mpiexec = shutil.which("mpiexec", path=os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]))
    if mpiexec is None:
        pytest.skip("no mpiexec")
    program = tmp_path / "program.py"
    program.write_text(UNDER_MPI, encoding="utf-8")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    allowed["PRTE_MCA_rmaps_default_mapping_policy"] = ":oversubscribe"
    run = subprocess.run(
        [mpiexec, "-n", "3", sys.executable, "-m", "mpi4py.futures", program],
        env=os.environ | allowed | {"PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "same bits: True reached the end" in run.stdout, run.stderr


@pytest.mark.slow
def test_processes_of_joblib_give_the_bits_of_one():
    joblib = pytest.importorskip("joblib")
    whole = integrate(TOP.with_start(states(4)), *GIVEN, progress=False)
    jobs = [joblib.delayed(integrate)(TOP.with_start(y0), *GIVEN, workers=1) for y0 in states(4)]
    found = joblib.Parallel(n_jobs=2)(jobs)
    assert all(np.array_equal(one.y, y) for one, y in zip(found, whole.y, strict=True))
    k = 3.0  # functions without a name are sent as code
    decays = [Problem(table_of([(RN, 1)]), [x], lambda t, y: -k * y) for x in (1.0, 2.0)]
    one, two = joblib.Parallel(n_jobs=2)(joblib.delayed(integrate)(decay, *GIVEN, workers=1) for decay in decays)
    assert one.y[-1, 0] == pytest.approx(np.exp(-1.5), rel=1e-3)
    assert np.array_equal(two.y, 2.0 * one.y)
