"""Blocks of the page that shows the records of benchmarks beside the columns of peers, and says where a peer is faster.

Which peer was given which form: `docs/speed.md`.  What a table says below itself is computed from the record.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from studies.records import BENCHMARKS, markdown, record_of

Record = Mapping[str, Any]


def where(label: str) -> str:
    """Commit and processor of a record."""
    record = record_of(BENCHMARKS, label)
    return f"{record['processor']}, commit `{record['commit']}`; `benchmarks/results/{label}.json`"


def short(value: float | None) -> str:
    """Two digits below ten, whole numbers above; an en dash where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


FUSED_HEADS = "C++ / kernel, fused", "C++ / lanes, fused"


def ratios(ours: float | None, theirs: float | None) -> str:
    """How many times as long the peer takes."""
    return "–" if not ours or not theirs or not math.isfinite(theirs / ours) else f"{theirs / ours:.2g}"


def verdict(cells: Sequence[tuple[str, float | None, float | None]]) -> str:
    """Where a peer is faster: of (what, ours, theirs)."""
    known = [(what, a, b) for what, a, b in cells if a and b and math.isfinite(b / a)]
    faster = [f"{what} ({a / b:.3g} times)" for what, a, b in known if b < a]
    return f"A peer is faster on: {'; '.join(faster)}." if faster else "No peer is faster here."


def _table(title: str, label: str, heads: Sequence[str], rows: Sequence[Sequence[str]], said: str) -> str:
    return f"{title} ({where(label)}):\n\n{markdown(heads, rows)}\n\n{said}"


def _bounds(runs: Sequence[Record]) -> tuple[str, ...]:
    """Columns of what the processor allows, of records that have them."""
    return ("operations", "least_lanes_ns") if any("operations" in r for r in runs) else ()


def _fused(runs: Sequence[Record], *columns: str) -> tuple[str, ...]:
    """Those columns of records that have them once more with products and sums fused."""
    return tuple(f"fused_{name}" for name in columns if any(f"fused_{name}" in r for r in runs))


def trees(runs: Sequence[Record]) -> str:
    """One evaluation of Hamilton's equations beside Pinocchio's `aba`; its additions and multiplications, and the least
    time in lanes that the processor allows for them.
    """
    counts, again = _bounds(runs), _fused(runs, "scalar_ns", "lanes_ns")
    columns = ("scalar_ns", "compiled_ns", "lanes_ns", "compiled_lanes_ns")
    theirs = ("pinocchio_cpp_ns", "pinocchio_cpp_native_ns", "pinocchio_python_ns")
    best = {r["tree"]: min((r[name] for name in theirs[:2] if name in r), default=None) for r in runs}
    rows = [
        [r["tree"], *(short(r.get(name)) for name in (*columns, *theirs)),
         *(ratios(r.get(ours), best[r["tree"]]) for ours in ("scalar_ns", "lanes_ns", *again)),
         *(short(r.get(name)) for name in counts)]
        for r in runs
    ]  # fmt: skip
    heads = [
        "", "kernel", "straight-line", "kernel, lanes", "straight-line, lanes", "`aba`, C++", "C++, native",
        "`aba`, Python", "C++ / kernel", "C++ / lanes", *FUSED_HEADS[: len(again)],
        *(["operations", "least in lanes"] if counts else []),
    ]  # fmt: skip
    said = verdict([(r["tree"], r["scalar_ns"], best[r["tree"]]) for r in runs])
    return _table("Nanoseconds per evaluation and trajectory", "tree_rhs", heads, rows, said)


def derivatives(runs: Sequence[Record]) -> str:
    """Derivatives of the dynamics beside Pinocchio's; additions and multiplications of one evaluation, and the least
    time in lanes that the processor allows for them or for writing the matrices.
    """
    counts, again = _bounds(runs), _fused(runs, "scalar_ns", "lanes_ns")
    rows = [
        [f"{r['tree']}, {r['of']}", *(short(r.get(name)) for name in ("scalar_ns", "lanes_ns", "pinocchio_cpp_ns")),
         *(ratios(r.get(ours), r.get("pinocchio_cpp_ns")) for ours in ("scalar_ns", "lanes_ns", *again)),
         *(short(r.get(name)) for name in counts)]
        for r in runs
    ]  # fmt: skip
    heads = ["", "kernel", "in lanes", "Pinocchio, C++", "C++ / kernel", "C++ / lanes"]
    heads += [*FUSED_HEADS[: len(again)], *(["operations", "least in lanes"] if counts else [])]
    said = verdict([(f"{r['tree']}, {r['of']}", r["scalar_ns"], r.get("pinocchio_cpp_ns")) for r in runs])
    return _table("Nanoseconds per evaluation and trajectory", "derivatives", heads, rows, said)


def mass_matrices(runs: Sequence[Record]) -> str:
    """The joint-space mass matrix beside Pinocchio's `crba` from Python."""
    columns = ("scalar_ns", "lanes_ns", "pinocchio_python_ns")
    rows = [
        [r["tree"], *(short(r.get(name)) for name in columns), ratios(r["scalar_ns"], r["pinocchio_python_ns"])]
        for r in runs
    ]
    said = verdict([(r["tree"], r["scalar_ns"], r["pinocchio_python_ns"]) for r in runs])
    heads = ["", "kernel", "in lanes", "`crba`, Python", "Python / kernel"]
    return _table("Nanoseconds per matrix", "mass_matrix", heads, rows, said)


def loops(runs: Sequence[Record]) -> str:
    """Mechanisms with closed loops beside Pinocchio, MuJoCo and Exudyn."""
    again = _fused(runs, "evaluation_us", "evaluation_in_lanes_us")
    columns = ("evaluation_us", "compiled_evaluation_us", "evaluation_in_lanes_us", *again, "pinocchio_evaluation_us",
               "mujoco_evaluation_us", "step_us", "compiled_step_us", "mujoco_step_us", "cheap_step_us",
               "compiled_cheap_step_us", "mujoco_cheap_step_us", "exudyn_step_us")  # fmt: skip
    rows = [[r["mechanism"], *(short(r.get(name)) for name in columns)] for r in runs]
    heads = [
        "", "evaluation", "straight-line", "in lanes", *("fused", "in lanes, fused")[: len(again)],
        "Pinocchio", "MuJoCo", "step, RK4", "straight-line",
        "MuJoCo, RK4", "step, order 2", "straight-line", "MuJoCo, order 1", "Exudyn",
    ]  # fmt: skip
    names = {"evaluation": "evaluation", "step": "step of RK4", "cheap_step": "cheapest step"}
    cells = []
    for r in runs:
        for what in names:
            for peer in ("Pinocchio", "MuJoCo", "Exudyn"):
                theirs = r.get(f"{peer.lower()}_{what}_us")
                for form, ours in (("", r[f"{what}_us"]), (", straight-line", r.get(f"compiled_{what}_us"))):
                    cells.append((f"{r['mechanism']}, {names[what]}{form}, by {peer}", ours, theirs))
    gaps = [x for r in runs if (x := r.get("mujoco_gap")) and math.isfinite(x)]
    heun = [f"{short(x)} on {r['mechanism']}" for r in runs if (x := r.get("heun_step_us"))]
    without_past = f"Heun's of order 2, which remember none, take {', '.join(heun)}. " if heun else ""
    said = (
        f"{verdict(cells)} Our steps of order 2 remember the one before (`ADAMS_BASHFORTH2`). {without_past}"
        f"Steps end with closed loops to {max(r['gap'] for r in runs):.0e} m here and to {min(gaps):.0e} m and worse "
        "in MuJoCo."
    )
    return _table("Microseconds per evaluation and per step of 1 ms", "closed_loops", heads, rows, said)


def variational(runs: Sequence[Record]) -> str:
    """Variational steps of chains beside MuJoCo's RK4."""
    columns = ("variational_us", "lanes_us", "midpoint_us", "mujoco_rk4_us")
    runs = [r for r in runs if "mujoco_rk4_us" in r]
    name = {id(r): f"{r['links']} links, {1e3 * r['h']:g} ms" for r in runs}
    rows = [
        [name[id(r)], *(short(r.get(c)) for c in columns), ratios(r["variational_us"], r.get("mujoco_rk4_us"))]
        for r in runs
    ]
    heads = ["", "`TREE_VARIATIONAL`", "in lanes", "`MIDPOINT`", "MuJoCo RK4", "MuJoCo / ours"]
    said = verdict([(name[id(r)], r["variational_us"], r.get("mujoco_rk4_us")) for r in runs])
    return _table("Microseconds per step", "variational", heads, rows, said)


def single_bodies(runs: Sequence[Record]) -> str:
    """Steps of single bodies beside Exudyn, MuJoCo and SciPy."""
    peers = ("Exudyn", "MuJoCo", "SciPy")
    rows, cells = [], []
    for system in dict.fromkeys(r["system"] for r in runs):
        own = [r for r in runs if r["system"] == system]
        theirs = [r for r in own if r["method"].startswith(peers)]
        for r in own:
            rows.append([system, r["method"], short(r["single_ns"]), short(r.get("lanes_ns"))])
            if r not in theirs:
                cells += [
                    (f"{system}, {r['method']}, by {x['method']}", r["single_ns"], x["single_ns"]) for x in theirs
                ]
    heads = ["", "method", "one trajectory", "in lanes"]
    said = f"{verdict(cells)} Steps of higher order do more: this is what a step costs, not what an error costs."
    return _table("Nanoseconds per step", "lie_rk", heads, rows, said)


def nonholonomic(runs: Sequence[Record]) -> str:
    """Rolling bodies and a wheeled tree at equal error beside SciPy and Exudyn."""
    targets = record_of(BENCHMARKS, "nonholonomic")["targets"]
    rows = [[r["system"], r["who"], *map(short, r["at_targets"])] for r in runs]
    said = []
    for system in dict.fromkeys(r["system"] for r in runs):
        own = [r for r in runs if r["system"] == system]

        def least(which: Callable[[str], bool], own: Sequence[Record] = own) -> list[float]:
            found = [[x or math.inf for x in r["at_targets"]] for r in own if which(r["who"])]
            return [min(column) for column in zip(*found, strict=True)]

        peers = least(lambda who: who.startswith(("SciPy", "Exudyn")))
        one = least(lambda who: not who.startswith(("SciPy", "Exudyn")) and "lanes" not in who)
        eight = least(lambda who: "lanes" in who)
        alone, lanes = ([p / x for p, x in zip(peers, ours, strict=True)] for ours in (one, eight))
        said.append(
            f"On the {system} the fastest peer takes {short(min(alone))} to {short(max(alone))} times as long as one "
            f"trajectory here, {short(min(lanes))} to {short(max(lanes))} times as long as one of eight in lanes."
        )
    heads = ["", "who", *(f"error {x:.0e}" for x in targets)]
    return _table("Microseconds per simulated second at equal error", "nonholonomic", heads, rows, " ".join(said))


def many_elements(runs: Sequence[Record]) -> str:
    """Time and memory against the number of bodies with force elements."""
    rows = [
        [r["system"], str(r["bodies"]), short(r["workspace"] / 1000), short(r["with_derivatives"] / 1000),
         short(r["us_per_body_and_step"]), f"{r['relative']:.2f}"]
        for r in runs
    ]  # fmt: skip
    heads = ["", "bodies", "workspace, kB", "with derivatives, kB", "µs per body and step", "relative"]
    said = []
    for name in dict.fromkeys(r["system"] for r in runs):
        own = [r for r in runs if r["system"] == name]
        least, most = min(r["relative"] for r in own), max(r["relative"] for r in own)
        few, many = (r["workspace"] / r["bodies"] for r in (own[0], own[-1]))
        said.append(
            f"From {own[0]['bodies']} to {own[-1]['bodies']} bodies ({name}) a body's step takes {least:.2f} to "
            f"{most:.2f} times as long, and the workspace of a body grows {many / few:.1f} times."
        )
    return _table("RKMK4 at 1 ms, sizes of a system by turns", "many_elements", heads, rows, " ".join(said))
