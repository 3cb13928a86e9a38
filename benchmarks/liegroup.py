"""Group operations, ns each: one compiled loop, lanes of eight, batches of a million, beside other libraries.

    python -m benchmarks.liegroup [--batch 1000000] [--save liegroup]

Ours: `loop` runs the formula on 1000 elements in a compiled loop, `lanes` the same on eight at a time (ns per element),
`batch` is the public object on arrays (`SO3`, `SE3`), `call` one call of it from Python.  Others, as far as installed:
SciPy's Rotation and RigidTransform (batch, call), jaxlie under jit in float64, with its own batches (batch, call),
Pinocchio's explog and SE3 (call), spatialmath (call). Ratios are theirs to ours: batch to batch, a call to our
compiled loop (what a kernel pays), a call to our call.  Our calls from Python and our batches check their arguments
(finite, on the group; a matrix: orthogonal), of the others only SciPy does.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any, NamedTuple

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

import numpy as np

from benchmarks.machine import circumstances, save
from liegroup import se3, so3
from liegroup.compile import WIDTH, Entry, integer, lane_array, lane_vector, nothing, vector
from liegroup.elements import SE3, SO3
from liegroup.formulas import se3 as se3_formulas
from liegroup.formulas import so3 as so3_formulas
from liegroup.rows import loop_over_rows

ROWS = 1000
PASSES = 20
SECONDS = 0.3
"""Each measurement repeats for about this long and keeps the fastest pass."""


class Record(NamedTuple):
    """One measured time."""

    group: str
    operation: str
    library: str
    use: str
    nanoseconds: float


def measure(call: Callable[[], Any], operations: int, seconds: float = SECONDS) -> float:
    """ns per operation by the process clock (all threads), the fastest of many passes."""
    for _ in range(3):
        call()
    best, stop = math.inf, time.process_time() + seconds
    while time.process_time() < stop:
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best / operations * 1e9


def measure_call(call: Callable[[], Any]) -> float:
    """ns of one call from Python, loop overhead included."""

    def many() -> None:
        for _ in range(1000):
            call()

    return measure(many, 1000)


class Data(NamedTuple):
    """Elements g, h, algebra elements x, y and points u."""

    g: Any
    h: Any
    x: Any
    y: Any
    u: Any


def data(group: Any, n: int) -> Data:
    rng = np.random.default_rng(0)
    x, y = 0.8 * rng.normal(size=(2, n, group.n_v))
    return Data(group.random(1, (n,)), group.random(2, (n,)), x, y, rng.normal(size=(n, 3)))


# --- ours -----------------------------------------------------------------------------------------------------------

OPERATIONS = {
    "compose": "gh",
    "inverse": "g",
    "act": "gu",
    "exp": "x",
    "log": "g",
    "adjoint": "gy",
    "matrix": "g",
    "dexp_right": "xy",
    "dexpinv_right": "xy",
}
"""Names of the formulas and what they take."""


def compiled(group: Any, formulas: Any, name: str) -> Iterator[tuple[str, float]]:
    """The formula in a compiled loop, and on lanes."""
    few = data(group, ROWS * WIDTH)
    arrays = [getattr(few, letter) for letter in OPERATIONS[name]]
    function, sizes = getattr(formulas, name), tuple(a.shape[1] for a in arrays)
    shape = np.shape(function(*(tuple(a[0].tolist()) for a in arrays)))
    m, count = math.prod(shape), len(arrays)
    signatures = [nothing(*(v, integer) * count, v, integer) for v in (vector, lane_vector)]
    loop = Entry(loop_over_rows(function, sizes, shape), tuple(signatures))
    flat = [x for a in arrays for x in (a[:ROWS].ravel().copy(), a.shape[1])]
    out = np.zeros(ROWS * m)
    yield "loop", measure(lambda: [loop(*flat, out, ROWS) for _ in range(PASSES)], ROWS * PASSES)
    lanes: list[Any] = []
    for a in arrays:
        packed = lane_array(ROWS * a.shape[1])
        packed[:] = a.reshape(ROWS, WIDTH, -1).transpose(0, 2, 1).reshape(-1, WIDTH)
        lanes += [packed, a.shape[1]]
    lanes_out = lane_array(ROWS * m)
    yield "lanes", measure(lambda: [loop(*lanes, lanes_out, ROWS) for _ in range(PASSES)], ROWS * WIDTH * PASSES)


def public(element: Any, d: Data, n: int) -> dict[str, Callable[[], Any]]:
    """The objects, on all n elements."""
    g, h, group = element(d.g), element(d.h), element.group
    return {
        "compose": lambda: g @ h,
        "inverse": g.inv,
        "act": lambda: g.act(d.u),
        "exp": lambda: element.exp(d.x),
        "log": g.log,
        "adjoint": lambda: group.adjoint(d.g, d.y),
        "matrix": g.as_matrix,
        "from matrix": _from_matrix(element, g),
        "dexp_right": lambda: group.dexp_right(d.x, d.y),
        "dexpinv_right": lambda: group.dexpinv_right(d.x, d.y),
    }


def _from_matrix(element: Any, g: Any) -> Callable[[], Any]:
    m = g.as_matrix()
    return lambda: element.from_matrix(m)


# --- others ---------------------------------------------------------------------------------------------------------


def scipy_calls(name: str, d: Data) -> dict[str, Callable[[], Any]]:
    """Rotation and RigidTransform, on one or all."""
    from scipy.spatial import transform

    from liegroup.adapters import scipy as door

    if name == "SO(3)":
        cls, make, exp, log = transform.Rotation, door.rotation_from_quaternion_wxyz, "from_rotvec", "as_rotvec"
    else:
        cls, make, exp, log = (
            transform.RigidTransform,
            door.rigid_transform_from_position_quaternion_wxyz,
            "from_exp_coords",
            "as_exp_coords",
        )
    g, h = make(d.g), make(d.h)
    x, m = (d.x if name == "SO(3)" else np.roll(d.x, 3, axis=-1)), g.as_matrix()
    return {
        "compose": lambda: g * h,
        "inverse": g.inv,
        "act": lambda: g.apply(d.u),
        "exp": lambda: getattr(cls, exp)(x),
        "log": getattr(g, log),
        "matrix": g.as_matrix,
        "from matrix": lambda: cls.from_matrix(m),
    }


def jaxlie_calls(name: str, d: Data) -> dict[str, Callable[[], Any]]:
    """Functions under jit, float64; the result is waited for.  Batches are jaxlie's own: its classes take leading axes,
    and where only single matrices are multiplied with vectors an einsum takes them all.
    """
    jax, jaxlie = importlib.import_module("jax"), importlib.import_module("jaxlie")
    jax.config.update("jax_enable_x64", True)
    cls = jaxlie.SO3 if name == "SO(3)" else jaxlie.SE3

    def times(matrices: Any, vectors: Any) -> Any:
        return jax.numpy.einsum("...ij,...j->...i", matrices, vectors)

    functions = {
        "compose": (lambda g, h: cls(g).multiply(cls(h)).parameters(), "gh"),
        "inverse": (lambda g: cls(g).inverse().parameters(), "g"),
        "act": (lambda g, u: cls(g).apply(u), "gu"),
        "exp": (lambda x: cls.exp(x).parameters(), "x"),
        "log": (lambda g: cls(g).log(), "g"),
        "adjoint": (lambda g, y: times(cls(g).adjoint(), y), "gy"),
        "matrix": (lambda g: cls(g).as_matrix(), "g"),
        "from matrix": (lambda m: cls.from_matrix(m).parameters(), "m"),
        "dexpinv_right": (lambda g, y: times(cls(g).jlog(), y), "gy"),
    }
    arrays = {key: jax.numpy.asarray(value) for key, value in _jaxlie_order(name, d).items()}

    def waiting(function: Any, letters: str) -> Callable[[], Any]:
        ready = jax.jit(function)
        given = [arrays[k] for k in letters]
        return lambda: ready(*given).block_until_ready()

    return {operation: waiting(*functions[operation]) for operation in functions}


def _jaxlie_order(name: str, d: Data) -> dict[str, Any]:
    """jaxlie's parameters are quaternion wxyz, then the position."""
    group, turn = (so3, 0) if name == "SO(3)" else (se3, 4)
    return {
        "g": np.roll(d.g, turn, -1),
        "h": np.roll(d.h, turn, -1),
        "x": d.x,
        "y": d.y,
        "u": d.u,
        "m": group.as_matrix(d.g),
    }


def pinocchio_calls(name: str, d: Data) -> dict[str, Callable[[], Any]]:
    """explog and SE3 from Python, one element."""
    pin = importlib.import_module("pinocchio")
    if name == "SO(3)":
        g, h = so3.as_matrix(d.g), so3.as_matrix(d.h)
        return {
            "compose": lambda: g @ h,
            "act": lambda: g @ d.u,
            "exp": lambda: pin.exp3(d.x),
            "log": lambda: pin.log3(g),
            "dexp_right": lambda: pin.Jexp3(d.x) @ d.y,
            "dexpinv_right": lambda: pin.Jlog3(g) @ d.y,
        }
    G, H, y = pin.SE3(se3.as_matrix(d.g)), pin.SE3(se3.as_matrix(d.h)), pin.Motion(d.y)
    return {
        "compose": lambda: G * H,
        "inverse": G.inverse,
        "act": lambda: G * d.u,
        "exp": lambda: pin.exp6(d.x),
        "log": lambda: pin.log6(G),
        "adjoint": lambda: G * y,
        "matrix": lambda: G.homogeneous,
        "dexp_right": lambda: pin.Jexp6(d.x) @ d.y,
        "dexpinv_right": lambda: pin.Jlog6(G) @ d.y,
    }


def spatialmath_calls(name: str, d: Data) -> dict[str, Callable[[], Any]]:
    """SO3 and SE3 of spatialmath, one element."""
    sm = importlib.import_module("spatialmath")
    cls, group = (sm.SO3, so3) if name == "SO(3)" else (sm.SE3, se3)
    m = group.as_matrix(d.g)
    G, H = cls(m), cls(group.as_matrix(d.h))
    return {
        "compose": lambda: G * H,
        "inverse": G.inv,
        "act": lambda: G * d.u,
        "exp": lambda: cls.Exp(d.x),
        "log": G.log,
        "matrix": lambda: G.A,
        "from matrix": lambda: cls(m),
    }


# --- running --------------------------------------------------------------------------------------------------------


def run(batch: int) -> tuple[list[Record], list[str]]:
    """All times, and notes about what was left out."""
    records: list[Record] = []
    notes: list[str] = []
    for name, group, element, formulas in (("SO(3)", so3, SO3, so3_formulas), ("SE(3)", se3, SE3, se3_formulas)):
        one, many = Data(*(a[0] for a in data(group, 2))), data(group, batch)
        for operation in OPERATIONS:
            records += [Record(name, operation, "liemech", use, ns) for use, ns in compiled(group, formulas, operation)]
        sources: list[tuple[str, str, Callable[[], dict[str, Callable[[], Any]]]]] = [
            ("liemech", "batch", lambda e=element, d=many: public(e, d, batch)),
            ("liemech", "call", lambda e=element, d=one: public(e, d, 1)),
            ("SciPy", "batch", lambda n=name, d=many: scipy_calls(n, d)),
            ("SciPy", "call", lambda n=name, d=one: scipy_calls(n, d)),
            ("jaxlie", "batch", lambda n=name, d=many: jaxlie_calls(n, d)),
            ("jaxlie", "call", lambda n=name, d=one: jaxlie_calls(n, d)),
            ("Pinocchio", "call", lambda n=name, d=one: pinocchio_calls(n, d)),
            ("spatialmath", "call", lambda n=name, d=one: spatialmath_calls(n, d)),
        ]
        for library, use, make in sources:
            try:
                calls = make()
            except (ImportError, AttributeError) as error:
                notes.append(f"{library} ({use}, {name}) left out: {error}")
                continue
            for operation, call in calls.items():
                ns = measure(call, batch) if use == "batch" else measure_call(call)
                records.append(Record(name, operation, library, use, ns))
    return records, notes


OURS = (("liemech", "loop"), ("liemech", "lanes"), ("liemech", "batch"), ("liemech", "call"))
BATCHES = (("SciPy", "batch"), ("jaxlie", "batch"))
CALLS = (("SciPy", "call"), ("jaxlie", "call"), ("Pinocchio", "call"), ("spatialmath", "call"))


def table(records: list[Record]) -> str:
    """Times, then ratios theirs / ours: batch to batch, a call to our compiled loop, a call to our call."""
    ns = {(r.group, r.operation, r.library, r.use): r.nanoseconds for r in records}
    rows = list(dict.fromkeys((r.group, r.operation) for r in records))

    def ratios(columns: tuple[tuple[str, str], ...], use: str) -> list[list[float | None]]:
        return [[_ratio(ns.get((*row, *column)), ns.get((*row, "liemech", use))) for column in columns] for row in rows]

    times = [[ns.get((*row, *column)) for column in (*OURS, *BATCHES, *CALLS)] for row in rows]
    parts = [
        ("ns", [" ".join(c) for c in (*OURS, *BATCHES, *CALLS)], times),
        ("batch / our batch", [name for name, _ in BATCHES], ratios(BATCHES, "batch")),
        ("call / our compiled loop", [name for name, _ in CALLS], ratios(CALLS, "loop")),
        ("call / our call", [name for name, _ in CALLS], ratios(CALLS, "call")),
    ]
    return "\n\n".join(_part(rows, *part) for part in parts)


def _part(rows: list[tuple[str, str]], title: str, columns: list[str], values: list[list[float | None]]) -> str:
    lines = [f"{title:26}" + "".join(f"{column:>18}" for column in columns)]
    for row, cells in zip(rows, values, strict=True):
        if any(cell is not None for cell in cells):
            lines.append(f"{' '.join(row):26}" + "".join(_cell(cell) for cell in cells))
    return "\n".join(lines)


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return None if theirs is None or ours is None else theirs / ours


def _cell(value: float | None) -> str:
    return f"{'-' if value is None else f'{value:.3g}' if value < 1000 else f'{value:.0f}':>18}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=10**6, help="elements in a batch")
    parser.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    options = parser.parse_args(arguments)
    records, notes = run(options.batch)
    print(table(records))
    for note in notes:
        print("note:", note)
    if options.save:
        present = [name for name in ("scipy", "jaxlie", "jax", "pin", "spatialmath-python") if _installed(name)]
        record = circumstances(*present) | {
            "batch": options.batch,
            "notes": notes,
            "runs": [r._asdict() for r in records],
        }
        print("written", save(options.save, record))


def _installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    main()
