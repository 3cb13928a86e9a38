"""What an update of an element costs: ``python -m benchmarks.elastic``.

Springs (a net in the plane, moving in space) and neo-Hookean tetrahedra (a block), all with one step: nanoseconds per
element and step, of ``SPLIT_STRANG`` and ``AVI``, as they are (states in two words) and with plain additions, without
watching the energy.  Beside them the same motion as a C loop over the same arrays, kick and drift, compiled by gcc -O3
where there is one.  Then a graded net: what an element kick costs with levels of steps, and with a queue.
"""

from __future__ import annotations

import argparse
import ctypes
import itertools
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import circumstances, save
from integrators import Problem, integrate
from integrators.methods import METHODS
from mechanics.elastic import NeoHookean, Network, Springs, Tetrahedra

SOURCE = r"""
#include <math.h>
void verlet(long steps, double h, long n, long m, const long *pairs, const double *k, const double *rest,
            const double *inverse, double *x, double *p, double *f)
{
    for (long s = 0; s < steps; s++) {
        for (long i = 0; i < 3 * n; i++) x[i] += 0.5 * h * inverse[i / 3] * p[i];
        for (long i = 0; i < 3 * n; i++) f[i] = 0.0;
        for (long e = 0; e < m; e++) {
            long a = 3 * pairs[2 * e], b = 3 * pairs[2 * e + 1];
            double dx = x[b] - x[a], dy = x[b + 1] - x[a + 1], dz = x[b + 2] - x[a + 2];
            double l = sqrt(dx * dx + dy * dy + dz * dz), g = k[e] - k[e] * rest[e] / l;
            f[a] += g * dx; f[a + 1] += g * dy; f[a + 2] += g * dz;
            f[b] -= g * dx; f[b + 1] -= g * dy; f[b + 2] -= g * dz;
        }
        for (long i = 0; i < 3 * n; i++) { p[i] += h * f[i]; x[i] += 0.5 * h * inverse[i / 3] * p[i]; }
    }
}
"""
"""Drift, kick, drift: springs by their nodes, as anybody would write them."""
METHOD_NAMES = ("SPLIT_STRANG", "AVI")


def net(side: int, refined: float = 1.0) -> tuple[Network, np.ndarray]:
    """A square net of springs with diagonals; `refined`: how much stiffer the springs of a corner are."""
    number = np.arange(side * side).reshape(side, side)
    points = np.array([[i, j, 0.0] for i, j in itertools.product(range(side), repeat=2)])
    pairs = np.concatenate([
        np.stack([number[:-1].ravel(), number[1:].ravel()], 1),
        np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], 1),
        np.stack([number[:-1, :-1].ravel(), number[1:, 1:].ravel()], 1),
    ])  # fmt: skip
    corner = (points[pairs][:, :, :2].max(axis=(1, 2)) < side / 5).astype(float)
    springs = Springs(pairs, 100.0 * refined**corner)
    velocities = 0.1 * np.random.default_rng(0).normal(size=points.shape)
    return Network(points, 1.0, [springs], gravity=(0.0, 0.0, 0.0), name=f"net of {len(springs)} springs"), velocities


def block(cells: int) -> tuple[Network, np.ndarray]:
    """A cube of cells, each in six tetrahedra."""
    line = range(cells + 1)
    points = np.array(list(itertools.product(line, repeat=3)), dtype=float)
    number = {tuple(p): k for k, p in enumerate(itertools.product(line, repeat=3))}
    nodes = []
    for corner in itertools.product(range(cells), repeat=3):
        for axes in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in axes:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            nodes.append([number[tuple(int(c) for c in p)] for p in path])
    solid = Tetrahedra(nodes, NeoHookean(100.0, 0.3))
    velocities = 0.05 * np.random.default_rng(0).normal(size=points.shape)
    network = Network(points, solid.lumped_masses(points, 1.0), [solid], gravity=(0.0, 0.0, 0.0),
                      name=f"block of {len(solid)} tetrahedra")  # fmt: skip
    return network, velocities


def seconds_per_step(problem: Problem, method: Any, h: float, steps: int) -> float:
    """Of the loop: the best of five differences between long and short runs."""

    def elapsed(count: int) -> float:
        return integrate(problem, method, (0.0, h * count), h, save_every=count, progress=False).seconds

    elapsed(2)
    short, long = (min(elapsed(count) for _ in range(5)) for count in (steps, 4 * steps))
    return (long - short) / (3 * steps)


def c_loop() -> Callable[..., float] | None:
    """``time(network, velocities, h, steps)`` → seconds per step of the C loop; None without gcc."""
    if shutil.which("gcc") is None:
        return None
    folder = tempfile.mkdtemp()
    source = Path(folder) / "verlet.c"
    source.write_text(SOURCE, encoding="utf-8")
    library = Path(folder) / "verlet.so"
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    subprocess.run(command, check=True)
    verlet = ctypes.CDLL(str(library)).verlet

    def seconds(network: Network, velocities: np.ndarray, h: float, steps: int) -> float:
        springs = network.elements[0]
        numbers = springs.numbers_at(network.points)
        n, m = len(network.points), len(springs)
        arrays = [
            np.ascontiguousarray(a)
            for a in (
                springs.nodes, numbers[:, 0], numbers[:, 1], 1.0 / network.masses, network.points.ravel().copy(),
                (network.masses[:, None] * velocities).ravel(), np.zeros(3 * n),
            )
        ]  # fmt: skip
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        best = np.inf
        for _ in range(7):
            start = time.perf_counter()
            verlet(ctypes.c_long(steps), ctypes.c_double(h), ctypes.c_long(n), ctypes.c_long(m), *pointers)
            best = min(best, (time.perf_counter() - start) / steps)
        return float(best)

    return seconds


def unwatched(problem: Problem) -> Problem:
    """Without invariants and guards, as the C loop."""
    return replace(problem, invariants=None, invariant_names=(), invariant_units=(), guards=())


def synchronous(quick: bool) -> list[dict[str, Any]]:
    """One step for all elements."""
    rows, loop = [], c_loop()
    for network, velocities in (net(20), net(12 if quick else 60), block(3 if quick else 8)):
        count = sum(len(e) for e in network.elements)
        problem, h = unwatched(network.problem(velocities=velocities)), network.step()
        steps = max(20, 3_000_000 // count // (10 if quick else 1))
        for name in METHOD_NAMES:
            for method in (METHODS[name], METHODS[name].plain()):
                ns = 1e9 * seconds_per_step(problem, method, h, steps) / count
                rows.append({"system": network.name, "method": method.name, "ns_per_element": ns})
        if loop is not None and network.elements[0].kind.name == "spring":
            ns = 1e9 * loop(network, velocities, h, steps) / count
            rows.append({"system": network.name, "method": "C, gcc -O3", "ns_per_element": ns})
    return rows


def graded(quick: bool) -> list[dict[str, Any]]:
    """A corner of the net a thousand times as stiff: what one kick of an element costs."""
    network, velocities = net(12 if quick else 60, 1000.0)
    problem, report = unwatched(network.problem(velocities=velocities)), network.steps()
    count = sum(report.elements_per_level)
    rows = []
    for name, kicks in (
        ("AVI", sum(n * 2**k for k, n in enumerate(report.elements_per_level))),
        ("AVI_FREE", float(sum(np.ceil(w / w[w > 0].min()).sum() for w in network.frequencies()))),
    ):
        steps = 4 if quick else 20
        h = report.step
        seconds = seconds_per_step(problem, METHODS[name], h, steps)
        rows.append({"system": f"graded {network.name}", "method": name, "ns_per_kick": 1e9 * seconds / kicks,
                     "us_per_time": 1e6 * seconds / h})  # fmt: skip
    uniform, smallest = unwatched(net(12 if quick else 60)[0].problem(velocities=velocities)), report.verlet_step
    seconds = seconds_per_step(uniform, METHODS["AVI"], smallest, 200)  # as many kicks of springs as stiff
    rows.append({"system": f"graded {network.name}", "method": "AVI, one step", "ns_per_kick": 1e9 * seconds / count,
                 "us_per_time": 1e6 * seconds / smallest})  # fmt: skip
    return rows


def main(arguments: list[str] | None = None) -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small systems; nothing is kept")
    quick = parser.parse_args(arguments).quick
    result = {"synchronous": synchronous(quick), "graded": graded(quick)}
    for row in (*result["synchronous"], *result["graded"]):
        print(json.dumps(row, ensure_ascii=False))
    if not quick:
        save("elastic", circumstances() | result)


if __name__ == "__main__":
    main()
