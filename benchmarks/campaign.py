"""What a campaign costs on many cores: overheads measured here, carried on by a simulation: ``python -m
benchmarks.campaign``.

Measured: seconds of Dask's scheduler per task (many empty tasks on a local cluster), bytes per second that solutions
are written with, seconds per step of a trajectory in lanes.  The simulation has one scheduler, which serves one task
after the other, workers, and one store, which writes one file after the other; what waits is what real campaigns wait
for.  It says from which length of chunks on the workers are busy, and where the store is the limit.
"""

from __future__ import annotations

import argparse
import heapq
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import circumstances, save
from integrators import integrate
from integrators.engine.crew import cores
from mechanics.systems import SYSTEMS

WORKERS = (1, 10, 100, 1000, 10000)
CHUNK_SECONDS = (0.1, 1.0, 10.0, 60.0, 600.0)
CHUNKS_PER_WORKER = 8
SPREAD = 0.1
"""Of the lengths of chunks, relative."""
BUSY = 0.9
"""Part of the time that workers should compute."""


@dataclass(frozen=True)
class Costs:
    """What a task costs besides its own time: seconds of the scheduler, bytes, bytes per second of the store."""

    scheduler: float
    bytes_per_chunk: float
    store: float


def simulated(workers: int, chunks: int, seconds: float, costs: Costs, seed: int = 0) -> float:
    """Part of the time, until all is written, that the workers compute.

    A worker asks the scheduler, computes, writes, asks again; scheduler and store serve in the order of asking.
    """
    rng = np.random.default_rng(seed)
    lengths = seconds * (1.0 + SPREAD * rng.uniform(-1.0, 1.0, chunks))
    asking = [(0.0, worker) for worker in range(workers)]
    writing: list[tuple[float, int]] = []
    scheduler, store, given, end = 0.0, 0.0, 0, 0.0
    while asking or writing:
        if asking and (not writing or asking[0][0] <= writing[0][0]):
            now, worker = heapq.heappop(asking)
            if given == chunks:
                continue
            scheduler = max(scheduler, now) + costs.scheduler
            heapq.heappush(writing, (scheduler + lengths[given], worker))
            given += 1
        else:
            now, worker = heapq.heappop(writing)
            store = max(store, now) + costs.bytes_per_chunk / costs.store
            end = max(end, store)
            heapq.heappush(asking, (store, worker))
    return float(lengths.sum() / (workers * end))


# --- measured ---------------------------------------------------------------------------------------------------------


def _nothing(k: int) -> int:
    return k


def seconds_per_task(tasks: int = 2000) -> float:
    """Of an empty task on a local cluster with as many processes as cores."""
    from dask.distributed import Client, LocalCluster, wait

    with (
        LocalCluster(n_workers=cores(), threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.gather(client.map(_nothing, range(100), pure=False))
        times = []
        for _ in range(3):
            began = time.perf_counter()
            wait([client.submit(_nothing, k, pure=False) for k in range(tasks)])
            times.append(time.perf_counter() - began)
    return min(times) / tasks


def bytes_per_second(folder: Path, states: int = 300_000) -> tuple[float, float]:
    """How fast solutions are written, and bytes per state of a heavy top on the disk."""
    top = SYSTEMS["heavy-top"].problem()
    run = integrate(top, "RKMK4", (0.0, 1e-3 * states), 1e-3, save_every=1, progress=False)
    times = []
    for k in range(3):
        began = time.perf_counter()
        path = Path(run.save(folder / f"{k}.h5"))
        times.append(time.perf_counter() - began)
    size = path.stat().st_size
    return size / min(times), size / len(run.t)


def seconds_per_step(system: str, steps: int = 20_000) -> float:
    """Of one trajectory, eight in lanes, on one core."""
    problem = SYSTEMS[system].problem()
    packed = problem.with_start(np.tile(problem.y0, (8, 1)))
    given = (packed, "RKMK4", (0.0, 1e-4 * steps), 1e-4)
    runs = [integrate(*given, save_every=steps, workers=1, progress=False) for _ in range(3)]
    return min(run.seconds for run in runs) / (8 * steps)


def draw(record: dict[str, Any], path: Path) -> None:
    """How busy the workers are, over their number, for each length of chunks."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), sharey=True, layout="constrained")
    for ax, name, title in zip(
        axes, ("busy_without_storage", "busy"), ("one scheduler", "one scheduler, one store"), strict=True
    ):
        for seconds in CHUNK_SECONDS:
            rows = [row for row in record["runs"] if row["chunk_seconds"] == seconds]
            ax.semilogx([r["workers"] for r in rows], [r[name] for r in rows], "o-", label=f"chunks of {seconds:g} s")
        ax.axhline(BUSY, color="0.7", lw=0.8)
        ax.set(title=title, xlabel="cores", ylim=(0.0, 1.05))
    axes[0].set_ylabel("part of the time that cores compute")
    axes[0].legend(fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Measure, simulate, and keep the record."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--states-per-chunk", type=int, default=8000, help="saved: 1000 of each of eight trajectories")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, per_state = bytes_per_second(Path(folder))
    steps = {name: seconds_per_step(name) for name in ("heavy-top", "four-bar")}
    scheduler = seconds_per_task()
    costs = Costs(scheduler, per_state * given.states_per_chunk, store)
    free = Costs(scheduler, 0.0, 1.0)
    runs: list[dict[str, Any]] = []
    for workers in WORKERS:
        for seconds in CHUNK_SECONDS:
            chunks = CHUNKS_PER_WORKER * workers
            row = {"workers": workers, "chunk_seconds": seconds, "chunks": chunks}
            row["busy"] = simulated(workers, chunks, seconds, costs)
            row["busy_without_storage"] = simulated(workers, chunks, seconds, free)
            runs.append(row)
            print(
                f"{workers:6} workers, chunks of {seconds:6.1f} s: "
                f"busy {row['busy']:.2f}, unsaved {row['busy_without_storage']:.2f}"
            )
    facts = {
        "cores": cores(),
        "seconds_per_task": scheduler,
        "store_bytes_per_second": store,
        "bytes_per_state": per_state,
        "states_per_chunk": given.states_per_chunk,
        "seconds_per_step": steps,
        "runs": runs,
    }
    print({name: value for name, value in facts.items() if name != "runs"})
    print(save("campaign", circumstances("distributed", "h5py") | facts))
    draw(facts, Path(__file__).parents[1] / "docs" / "figures" / "campaign.png")


if __name__ == "__main__":
    main()
