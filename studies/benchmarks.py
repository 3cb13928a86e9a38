"""What the pages take from the records of benchmarks (`studies.pages` writes them): label of a block is its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mechanics.problems.compiled import LIMIT
from studies import peers
from studies.records import BENCHMARKS, markdown, number, record_of

Record = Mapping[str, Any]

OPERATIONS = (
    ("SO(3)", "compose", "compose"),
    ("SO(3)", "log", "log"),
    ("SE(3)", "exp", "exp"),
    ("SE(3)", "dexpinv_right", "dexp⁻¹ y"),
    ("SO(3)", "from matrix", "from a matrix"),
    ("SE(3)", "from matrix", "from a matrix"),
)
USES = {
    ("liemech", "loop"): "compiled loop",
    ("liemech", "lanes"): "in lanes",
    ("liemech", "batch"): "batch of 10⁶",
    ("SciPy", "batch"): "SciPy, batch",
    ("jaxlie", "batch"): "jaxlie, batch",
    ("liemech", "call"): "call from Python",
    ("Pinocchio", "call"): "Pinocchio, call from Python",
}
"""Columns of the table of groups: (library, use) → head."""
TREES = {
    "7-link arm": "arm of 7 links, axes anywhere",
    "20-link arm": "arm of 20 links, axes anywhere",
    "prismatic 10-chain": "10 slides in a chain",
    "planar 10-chain": "10 planar joints in a chain",
    "free 10-chain": "10 free bodies in a chain",
    "ur5": "UR5",
    "anymal": "ANYmal",
}
LOOPS = {"walker": "walker, two closed legs", "Bricard": "Bricard, overconstrained", "Cassie": "Cassie"}


def _where(label: str) -> str:
    """Commit and processor of a record."""
    record = record_of(BENCHMARKS, label)
    return f"{record['processor']}, commit `{record['commit']}`; `benchmarks/results/{label}.json`"


def _short(value: float) -> str:
    """Two digits below ten, whole numbers above."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def liegroup(runs: Sequence[Record]) -> str:
    """Times of single operations of groups."""
    known = {(r["group"], r["operation"], r["library"], r["use"]): r["nanoseconds"] for r in runs}
    rows = [
        [
            f"{group} {said}",
            *(_short(known[group, name, *use]) if (group, name, *use) in known else "–" for use in USES),
        ]
        for group, name, said in OPERATIONS
    ]
    calls = {
        who: [r["nanoseconds"] / 1000 for r in runs if r["library"] == who and r["use"] == "call"]
        for who in ("liemech", "Pinocchio")
    }
    ours, theirs = (f"{_short(min(calls[who]))} to {_short(max(calls[who]))} µs" for who in calls)
    return (
        f"Nanoseconds per operation ({_where('liegroup')}):\n\n{markdown(['', *USES.values()], rows)}\n\n"
        "To read a matrix jaxlie is faster in batches: ours makes sure that the matrix is a rotation. A single call "
        f"from Python costs {ours}, most of it for checking the arguments; Pinocchio's bindings, which check less, "
        f"take {theirs}."
    )


def single_calls(runs: Sequence[Record]) -> str:
    """Calls from Python, one state at a time, beside Pinocchio's."""
    robots = list(dict.fromkeys(r["robot"] for r in runs))
    known = {(r["function"], r["robot"]): r for r in runs}
    rows = [
        [f"`{name}`", *(_beside(known[name, robot]) for robot in robots)]
        for name in dict.fromkeys(r["function"] for r in runs)
    ]
    dynamics = [r["call_us"] for r in runs if r["robot"] == robots[0] and not r["function"].endswith("_derivatives")]
    return (
        "Microseconds per call from Python, all checks included; behind the stroke Pinocchio's bindings in the same "
        f"run, where they have one call for it ({_where('single_calls')}):\n\n{markdown(['', *robots], rows)}\n\n"
        f"On {robots[0]} no call takes more than {max(dynamics):.1f} µs, derivatives aside. Pinocchio's bindings leave "
        "results in `Data` and check only sizes; its calls for bodies and frames give no arrays, and "
        "`computeJointJacobians` one matrix for all bodies. Beside Hamilton's equations stands `aba`."
    )


def _beside(row: Record) -> str:
    """Microseconds of ours and, if there are any, Pinocchio's."""
    other = f" / {row['pinocchio_us']:.1f}" if "pinocchio_us" in row else ""
    return f"{row['call_us']:.1f}{other}"


def tree_size(runs: Sequence[Record]) -> str:
    """How the cost of one evaluation grows with the number of bodies."""
    known = {(r["shape"], r["method"], r["bodies"]): r["seconds"] for r in runs}
    largest = max(r["bodies"] for r in runs)
    sizes = (100, 1000, largest)
    rows = []
    for shape in ("chain", "random"):
        for method in dict.fromkeys(r["method"] for r in runs):
            cells = [known.get((shape, method, n)) for n in sizes]
            rows.append([f"{shape}, {method}", *("–" if x is None else _short(1e6 * x) for x in cells)])
    each = 1e6 * known["chain", "ERA", largest] / largest
    return (
        f"Microseconds per evaluation, called from Python ({_where('tree_size')}):\n\n"
        f"{markdown(['', *(f'{n} bodies' for n in sizes)], rows)}\n\n"
        f"ERA is linear to {largest} bodies: {each:.2f} µs per body."
    )


def coordinate_midpoint(runs: Sequence[Record]) -> str:
    """The coordinate midpoint form of the variational step, on the equations of motion."""
    chains = [r for r in runs if "links" in r]
    ratios = [r["midpoint_us"] / r["variational_us"] for r in chains if r["links"] == 10]
    lost = [
        f"{r['links']} links at {1e3 * r['h']:g} ms"
        for r in chains
        if r["midpoint_us"] != r["midpoint_us"] and r["links"] <= 40
    ]
    return (
        f"`MIDPOINT` costs {min(ratios):.1f} to {max(ratios):.1f} times as much as `TREE_VARIATIONAL` on ten links "
        f"that whirl, and does not converge on {', '.join(lost)} ({_where('variational')})."
    )


def compiled_trees(runs: Sequence[Record]) -> str:
    """What a compiled model gains over the kernel of all trees and over Pinocchio."""
    rows = [
        [
            TREES.get(r["tree"], r["tree"]),
            f"{r['scalar_ns'] / r['compiled_ns']:.1f}",
            f"{_short(r['pinocchio_cpp_ns'] / r['compiled_ns'])} / "
            f"{_short(r['pinocchio_cpp_ns'] / r['compiled_lanes_ns'])}",
        ]
        for r in runs
        if "compiled_ns" in r
    ]
    heads = ["tree", "times as fast as the kernel for all trees"]
    last = "times as fast as Pinocchio's `aba` in C++, per trajectory: one / eight in lanes"
    made = f"`python -m benchmarks.tree_rhs --all-joints`, {_where('tree_rhs')}"
    return f"{markdown([*heads, last], rows)}\n\n({made}.)"


def control(runs: Sequence[Record]) -> str:
    """What a step costs from Python and from compiled loops, beside the step itself."""
    rows = [
        [
            f"{TREES.get(r['robot'], r['robot'])}, {r['inputs']} motors, `{r['method']}`",
            f"{r['kernel_us']:.1f}",
            f"{max(0.0, r['compiled_us'] - r['kernel_us']):.1f}",
            f"{max(0.0, r['python_us'] - r['kernel_us']):.1f}",
            f"{r['traced_us']:.0f}",
            f"{r['jitted_us']:.0f}",
            f"{r['plain_us']:.0f}",
        ]
        for r in runs
    ]
    heads = ["robot, method", "step itself", "`take` in a compiled loop: more", "`stepper(y, u)` from Python: more"]
    heads += [f"torques f(t, q, v) {kind}: the step from Python" for kind in ("traced", "jitted", "plain")]
    slow = " and ".join(f"{r['interpreted_us'] / 1000:.1f} ms" for r in runs if "interpreted_us" in r)
    said = f"µs per step; a step of RKMK4 on an interpreted field takes {slow}"
    return f"{markdown(heads, rows)}\n\n({said}; `python -m benchmarks.control`, {_where('control')}.)"


def model_files(runs: Sequence[Record]) -> str:
    """What of the model files of other projects is read, what is left out, and what is refused."""
    kinds = ("MJCF", "URDF", "SDF")
    rows = [[r["package"], *(str(r.get(kind, 0)) for kind in kinds), str(r["read"]), str(r["whole"])] for r in runs]
    record = record_of(BENCHMARKS, "model_files")
    listed = {
        what: "; ".join(
            f"{reason.replace('<', chr(92) + '<')} ({n})"
            for reason, n in sorted(record[what].items(), key=lambda one: -one[1])
        )
        for what in ("left_out", "refused")
    }
    heads = ["package", *(f"{kind} files" for kind in kinds), "read", "of them nothing left out"]
    findings = record["findings"]
    said = f"{len(findings)} of the files ended otherwise" if findings else "None of the files ended otherwise"
    return (
        f"{markdown(heads, rows)}\n\n"
        f"Left out, with a warning and a line of `tree.notes` (files): {listed['left_out']}.\n\n"
        f"Refused with a `ModelError` (files): {listed['refused']}.\n\n{said}. (`python -m benchmarks.model_files`, "
        f"{_where('model_files')}.)"
    )


def compiled_mechanisms(runs: Sequence[Record]) -> str:
    """What a compiled mechanism gains over the kernel of all mechanisms, Pinocchio, MuJoCo, Exudyn."""
    rows = []
    for r in runs:
        if "compiled_evaluation_us" in r:
            one, lanes = r["compiled_evaluation_us"], r["compiled_evaluation_in_lanes_us"]
            rows.append(
                [
                    LOOPS.get(r["mechanism"], r["mechanism"]),
                    str(r["operations"]),
                    f"{r['evaluation_us'] / one:.1f} / {r['evaluation_in_lanes_us'] / lanes:.1f}",
                    f"{r['pinocchio_evaluation_us'] / one:.0f} / {r['mujoco_evaluation_us'] / one:.0f}",
                ]
            )
    heads = ["mechanism", "operations", "times as fast as the kernel for all mechanisms: one / eight in lanes"]
    steps = next(r for r in runs if "exudyn_step_us" in r)
    return (
        f"{markdown([*heads, 'times as fast as Pinocchio / MuJoCo'], rows)}\n\n(One evaluation; the last column is "
        "`constraintDynamics` and `mj_forward` called from Python. A whole step of the compiled "
        f"{steps['mechanism']} is {steps['exudyn_step_us'] / steps['compiled_step_us']:.1f} times as fast as one of "
        f"Exudyn. `python -m benchmarks.closed_loops`, {_where('closed_loops')}.)"
    )


def fold(runs: Sequence[Record]) -> str:
    """How large a step of a tree can be, map by map."""
    limit = runs[0]["limit"]

    def said(value: float) -> str:
        return f"{value:.2f}" if value < limit else f"none below {limit:g}"

    keys = ("body_least", "chain_least", "chain_median")
    rows = [[f"`{r['map']}`{'' if k else ' (default)'}", *(said(r[key]) for key in keys)] for k, r in enumerate(runs)]
    heads = ["map of `TREE_VARIATIONAL`", "one free body: least h·\\|ω\\|"]
    chain = "chain of ten that whirls, h times the largest joint rate:"
    return (
        f"Where it ended, over {runs[0]['count']} states each (`python -m benchmarks.fold`; {_where('fold')}):\n\n"
        f"{markdown([*heads, f'{chain} least', 'median'], rows)}"
    )


def modified_energy(runs: Sequence[Record]) -> str:
    """Slopes of energy and modified energy of the chain of ten."""

    def said(r: Record, name: str) -> str:
        return f"({number(r[f'{name}_slope'])} ± {number(r[f'{name}_slope_sigma'], 1)}) J/s"

    variational, rk4 = runs
    r = variational
    return (
        f"A chain of ten at h = {1e3 * r['step']:g} ms. Over {r['horizon']:g} s the slope of the energy is "
        f"{said(variational, 'energy')} for `{variational['method']}` and {said(rk4, 'energy')} for `{rk4['method']}`; "
        f"that of the modified energy of order {r['order']} is {said(variational, 'modified')} for the first and "
        f"{said(rk4, 'modified')} for the second (`python -m benchmarks.modified_energy`)."
    )


def rods(runs: Sequence[Record]) -> str:
    """A rod at equal error: the shortest time of every program."""
    known = {(r["program"], r["error"]): r for r in runs if "program" in r}
    errors = list(dict.fromkeys(error for _, error in known))

    def said(row: Record) -> str:
        return f"{_short(row['ms'])} ({row['elements']})" if "ms" in row else "–"

    programs = list(dict.fromkeys(name for name, _ in known))
    heads = ["", *(f"{1e3 * error:g} mm" for error in errors)]
    table = [[f"`{name}`" if name.isupper() else name, *(said(known[name, e]) for e in errors)] for name in programs]
    text = (
        "Milliseconds of computing for the fall of a rubber cantilever through half a second, by the error of its tip, "
        f"in brackets the elements that gave it soonest ({_where('rods')}):\n\n{markdown(heads, table)}"
    )
    ratios = [
        known["PyElastica", e]["ms"] / known["SPLIT_STRANG", e]["ms"] for e in errors if "ms" in known["PyElastica", e]
    ]
    return (
        f"{text}\n\nPyElastica takes {min(ratios):.0f} to {max(ratios):.0f} times as long: its rods are of first order "
        "in the length of the elements, a step costs about as much per element. Exudyn's beam lives in the plane, with "
        "three numbers per node instead of thirteen; in the plane it is the faster one."
    )


def thin_rods(runs: Sequence[Record]) -> str:
    """Implicit and explicit steps of a steel wire."""
    wire = {(r["method"], r["elements"]): r for r in runs if "method" in r}
    counts = sorted({n for _, n in wire})
    explicit = [wire["SPLIT_STRANG", n] for n in counts]
    (name,) = {name for name, _ in wire} - {"SPLIT_STRANG"}
    implicit = [wire[name, n] for n in counts]
    costs = [r["us_per_element_and_ms"] for r in implicit]
    gains = [b["us_per_element_and_ms"] / a["us_per_element_and_ms"] for a, b in zip(implicit, explicit, strict=True)]
    evaluations = [r["evaluations_per_step"] for r in implicit]
    return (
        f"A steel wire of 1 m by 2 mm: explicit steps must stay below {1e6 * explicit[0]['limit']:.2g} µs. A step of "
        f"`{name}` of {1e3 * implicit[0]['h']:g} ms takes {min(costs):.0f} to {max(costs):.0f} µs per element with "
        f"{counts[0]} to {counts[-1]} elements, and {min(evaluations):.0f} to {max(evaluations):.0f} evaluations "
        f"whatever their number; explicit steps take {min(gains):.0f} to {max(gains):.0f} times as long for the same "
        f"motion ({_where('rods')})."
    )


ALONE = "liemech, the run alone"


def _fastest(
    runs: Sequence[Record], label: str, kinds: Sequence[str]
) -> tuple[list[list[str]], dict[tuple[str, float, str], float]]:
    """At every error of a record the fastest solver of each kind, as rows of a table, and how many times as long those
    of the other kinds take as the first.  A kind `ALONE` has the seconds of our runs alone.
    """
    wanted = record_of(BENCHMARKS, label)["errors"]
    rows, ratios = [], {}
    for system in dict.fromkeys(r["system"] for r in runs):
        for k, error in enumerate(wanted):
            best = {}
            for kind in kinds:
                whose, which = ("liemech", "alone") if kind == ALONE else (kind, "seconds")
                times = [
                    (r[which][k], r["method"])
                    for r in runs
                    if r["system"] == system and r["of"] == whose and r[which][k]
                ]
                if times:
                    best[kind] = min(times)
            for kind in kinds[1:]:
                if kind in best and kinds[0] in best:
                    ratios[system, error, kind] = best[kind][0] / best[kinds[0]][0]
            said = [f"{1e3 * best[kind][0]:.1f} {best[kind][1]}" if kind in best else "–" for kind in kinds]
            rows.append([f"{system}, {number(error)}", *said])
    return rows, ratios


def loops_at_equal_error(runs: Sequence[Record]) -> str:
    """Closed loops: the fastest of ours and of MuJoCo's integrators to an error."""
    kinds = ("liemech", "liemech, straight-line", "MuJoCo")
    rows, ratios = _fastest(runs, "loops_at_equal_error", kinds)
    theirs = {(system, error): x for (system, error, kind), x in ratios.items() if kind == "MuJoCo"}
    wanted = record_of(BENCHMARKS, "loops_at_equal_error")["errors"]
    spans = []
    for error in wanted:
        some = [x for (_, e), x in theirs.items() if e == error]
        missing = len(dict.fromkeys(r["system"] for r in runs)) - len(some)
        said = f"{min(some):.3g} to {max(some):.3g}" if some else ""
        spans.append(f"{number(error)}: {', '.join(filter(None, (said, f'{missing} not reached' if missing else '')))}")
    (horizon,) = {r["horizon"] for r in runs if "horizon" in r}
    return (
        f"Milliseconds of the fastest method for {horizon:g} s to an error of the positions at the end, relative to "
        f"their way ({_where('loops_at_equal_error')}); a stroke: no run of at most three seconds or so reaches it:\n\n"
        f"{markdown(['', *kinds], rows)}\n\n"
        f"MuJoCo takes so many times as long as the kernel for all mechanisms, by errors: {'; '.join(spans)}."
    )


def stiff(runs: Sequence[Record]) -> str:
    """Stiff mechanisms: the fastest solver of each kind to an error."""
    kinds = (ALONE, "liemech", "SciPy", "Exudyn")
    rows, ratios = _fastest(runs, "stiff", kinds)
    near = [
        f"{system} at {number(error)}: {ratio:.1f}"
        for (system, error, kind), ratio in ratios.items()
        if kind == "SciPy" and ratio < 10
    ]
    least = {kind: min(x for (_, _, of), x in ratios.items() if of == kind) for kind in kinds[2:]}
    calls = [x for (_, _, of), x in ratios.items() if of == "liemech"]
    return (
        f"Milliseconds of the fastest solver to an error of the last state ({_where('stiff')}); a stroke: no run of at "
        f"most five seconds or so reaches it:\n\n{markdown(['', *kinds], rows)}\n\n"
        f"The fastest of our runs is at least {least['Exudyn']:.0f} times as fast as Exudyn's, and "
        f"{least['SciPy']:.1f} times as fast as the best of SciPy's, which calls our compiled field and its exact "
        f"Jacobian. Less than ten times it leads SciPy on: {'; '.join(near) or 'none'}. "
        f"A call of `integrate` takes {min(calls):.2g} to {max(calls):.2g} times as long as its run: it has a constant "
        "cost of one to two milliseconds, and looks behind a short run whether tighter tolerances or smaller steps "
        "give the same motion, which no other does. The best of SciPy's, LSODA, changes steps and orders, as of ours "
        "`BDF5` with tolerances alone; fixed steps solve their equations to rounding."
    )


def ensemble(runs: Sequence[Record]) -> str:
    """Ensembles on all cores at equal error."""
    record = record_of(BENCHMARKS, "ensemble")
    systems = list(dict.fromkeys(r["system"] for r in runs))
    programs = list(dict.fromkeys(r["program"] for r in runs))
    known = {(r["system"], r["program"]): r for r in runs}

    def cell(system: str, program: str) -> str:
        row = known.get((system, program))
        if row is None:
            return "–"
        return f"{row['trajectories_per_second']:.3g} ({row['steps_per_second']:.2g}, {row['method']})"

    def ratio(system: str, program: str) -> float:
        ours, other = known[system, "liemech"], known[system, program]
        return float(ours["trajectories_per_second"] / other["trajectories_per_second"])

    rows = [
        [f"{system}, {record['horizons'][system]:.3g} s", *(cell(system, program) for program in programs)]
        for system in systems
    ]
    others = [p for p in programs if not p.startswith("liemech")]
    over = {p: [ratio(s, p) for s in systems if (s, p) in known] for p in others}
    own = [r["one_by_one_seconds"] / r["seconds"] for r in runs if "one_by_one_seconds" in r]
    alone = (
        f"Variable steps in lanes are {', '.join(f'{x:.2g}' for x in own)} times as fast as one by one. " if own else ""
    )
    said = "; ".join(
        f"{p}: {', '.join(f'{x:.2g}' for x in values)} times" for p, values in over.items() if len(values) > 1
    )
    apart = max(r["acceleration_apart"] for r in runs if "acceleration_apart" in r)
    return (
        f"{runs[0]['trajectories']} trajectories of each on {record['cores']} cores: trajectories per second, in "
        f"brackets steps per second and the method; every program with the longest step of a ladder by halves, or the "
        f"loosest tolerance by tens, that gives {number(record['error'])} in the last configuration "
        f"({_where('ensemble')}):\n\n{markdown(['', *programs], rows)}\n\n"
        f"Ours over the others, in the order of the rows: {said}. {alone}MuJoCo's accelerations at the start differ "
        f"from ours by {number(apart)}: the models are the same. JAX takes our step, printed for it, under `vmap`; of "
        "the top alone, since XLA compiles the steps of the others for minutes. Other programs had the machine, "
        "too, while this ran: the ratios are good for a factor of two."
    )


def campaign(runs: Sequence[Record]) -> str:
    """What a campaign on a cluster waits for."""
    record = record_of(BENCHMARKS, "campaign")
    lengths = list(dict.fromkeys(r["chunk_seconds"] for r in runs))
    known = {(r["workers"], r["chunk_seconds"]): r for r in runs}
    rows = [
        [
            f"{workers:,}",
            *(
                f"{100 * known[workers, s]['busy_without_storage']:.0f} / {100 * known[workers, s]['busy']:.0f}"
                for s in lengths
            ),
        ]
        for workers in dict.fromkeys(r["workers"] for r in runs)
    ]
    task, store = record["seconds_per_task"], record["store_bytes_per_second"]
    size = record["bytes_per_state"] * record["states_per_chunk"]
    steps = record["seconds_per_step"]
    longest = max(lengths)
    return (
        f"Measured here on {record['cores']} cores ({_where('campaign')}): the scheduler of a local Dask cluster takes "
        f"{1e3 * task:.1f} ms per task; `Solution.save` writes {store / 1e6:.0f} MB/s; a saved state of a heavy top "
        f"has {record['bytes_per_state']:.0f} bytes; a step of `RKMK4` in lanes takes a core "
        f"{1e6 * steps['heavy-top']:.2g} µs for the heavy top, {1e6 * steps['four-bar']:.2g} µs for the four-bar.\n\n"
        f"Percent of the time that cores compute, by their number and the length of a chunk; before the stroke the "
        f"scheduler alone, behind it one store as fast as the disk here, with {size / 1e6:.2g} MB per chunk:\n\n"
        f"{markdown(['cores', *(f'{s:g} s' for s in lengths)], rows)}\n\n"
        f"One scheduler serves W cores if a chunk takes longer than W times its {1e3 * task:.1f} ms: "
        f"{1e4 * task:.0f} s for 10,000 cores. One such store serves them if a chunk writes less than its length times "
        f"{store / 1e6:.0f} MB/s over W: {store * longest / 1e4 / 1e6:.2g} MB from chunks of {longest:g} s on 10,000."
    )


def exported_code(runs: Sequence[Record]) -> str:
    """Generated code beside our kernels, CasADi's code, Pinocchio, JAX; whole steps beside MJX."""

    def cell(row: Record, name: str) -> str:
        return f"{row[f'{name}_ns']:.0f}" if f"{name}_ns" in row else "–"

    def table(runs: Sequence[Record], heads: Mapping[str, str]) -> str:
        rows = [[TREES.get(r["tree"], r["tree"]), *(cell(r, name) for name in heads)] for r in runs]
        return markdown(["tree", *heads.values()], rows)

    fields = table(
        [r | {"operations_ns": r["operations"]} for r in runs],
        {
            "operations": "operations", "kernel": "kernel for all trees", "compiled": "`compile_model`", "c": "our C",
            "casadi": "C by CasADi of the same graph", "pinocchio_cpp": "Pinocchio's `aba`, C++",
            "compiled_lanes": "`compile_model` in lanes", "jax": "JAX, jitted, batch of 4096",
        },
    )  # fmt: skip
    stepped = [r for r in runs if "jax_step_ns" in r]
    steps = table(
        stepped,
        {"lanes_step": "`RKMK4` in lanes", "jax_step": "the same step in JAX", "mjx_step": "`mjx.step` with RK4"},
    )
    least, most = (f(r["casadi_ns"] / r["c_ns"] for r in runs) for f in (min, max))
    jax = [r["jax_ns"] / r["compiled_lanes_ns"] for r in runs if "jax_ns" in r]
    long = [
        f"{r['kernel_ns'] / r['compiled_ns']:.2f} and {r['kernel_ns'] / r['c_ns']:.2f} "
        f"({TREES.get(r['tree'], r['tree'])}, {r['operations']} operations)"
        for r in runs
        if r["operations"] > LIMIT
    ]
    mjx = [r["mjx_step_ns"] / r["jax_step_ns"] for r in stepped if "mjx_step_ns" in r]
    beyond = f" Beyond {LIMIT} operations `compile_model` and C are {', '.join(long)} times as fast as the kernel."
    beside = ""
    if mjx:
        beside = (
            f" MuJoCo's step in JAX, written for GPUs, takes {min(mjx):.0f} to {max(mjx):.0f} times as long as ours."
        )
    return (
        f"{fields}\n\n(Nanoseconds per right-hand side, one core, C by the system's compiler at -O2; "
        f"`taskset -c 0 python -m benchmarks.export`, {_where('export')}. CasADi's C takes {least:.2f} to {most:.2f} "
        f"times as long as ours, JAX {min(jax):.1f} to {max(jax):.1f} times as long as our code in lanes. Pinocchio's "
        f"wheel has no bindings for CasADi: its `aba` is measured in C++ instead.{beyond if long else ''})"
        f"\n\n{steps}\n\n(Nanoseconds per step and state of a batch, one core, without contacts; the step in lanes "
        f"watches the energy, too. The same record.{beside})"
    )


def device(runs: Sequence[Record]) -> str:
    """Ensembles on a GPU, beside the cores of its machine and programs in JAX."""
    record, gpu = record_of(BENCHMARKS, "device"), [r for r in runs if r["program"] == "liemech, GPU"]
    ends, facts = [r for r in gpu if r["rows"] == 1], record["device"]
    cores = {(r["system"], r["method"]): r for r in runs if r["program"] == "liemech, cores"}

    def beside(system: str, program: str) -> str:
        rows = [r for r in runs if (r["system"], r["program"]) == (system, program)]
        row = max(rows, key=lambda r: r["steps_per_second"], default=None)
        return "–" if row is None else f"{number(row['steps_per_second'])} ({number(row['error'])})"

    programs = ("JAX, our step", "JAX, by hand", "MJX")
    table = []
    for system, method in cores:
        rows = [r for r in ends if (r["system"], r["method"]) == (system, method)]
        rates = ", ".join(f"{number(r['steps_per_second'])} ({r['trajectories']:.0e})" for r in rows)
        others = [beside(system, program) if method == "RKMK4" else "" for program in programs]
        own = cores[system, method]["steps_per_second"]
        table.append([f"{system}, {method} ({number(rows[0]['error'])})", rates, number(own), *others])
    of_cores = next(iter(cores.values()))
    short = "; most of that is what a trajectory costs besides its steps" if "steps" not in of_cores else ""
    bits = all(r["same_bits"] for r in gpu if r["method"] == "RKMK4")
    apart = max(r["apart"] for r in gpu if r["method"] != "RKMK4")
    several = [r for r in gpu if r["rows"] > 1]
    saved = ", ".join(f"{number(r['steps_per_second'])} ({r['system']})" for r in several)
    before = max(r["before"] for r in gpu)
    return (
        f"Steps of {1e3 * record['step']:g} ms per second in double precision; in brackets numbers of trajectories, "
        "and errors of the configurations at the end. On the GPU and in JAX "
        f"{record['steps']} steps whose ends come back, on one {facts['name']} (driver {facts['driver_version']}, "
        f"CuPy {facts['cupy']}, {facts['clocks.sm']}); on its machine's {record['cores']} cores "
        f"{of_cores['trajectories']} trajectories of {of_cores.get('steps', record['steps'])} steps{short} "
        f"({_where('device')}):\n\n{markdown(['', 'on the GPU', 'on the cores', *programs], table)}\n\n"
        f"With {several[0]['rows']} rows coming back from {several[0]['trajectories']} trajectories: {saved}. RKMK4 "
        f"{'has' if bits else 'does not always have'} the bits of `integrate` in the trajectories compared, implicit "
        f"steps differ by {number(apart)} at most, and every run repeats its bits. What comes before the first step "
        f"(tracing, printing, compiling) took at most {before:.1f} s. By hand, JAX takes the plain step of Runge and "
        "Kutta on seven numbers, products and sums fused; ours is that of the group, with sums in two words: on one "
        "body the plain one is faster. MJX is MuJoCo's step for any model."
    )


BLOCKS = {
    "campaign": ("campaign", campaign),
    "device": ("device", device),
    "ensemble": ("ensemble", ensemble),
    "exported-code": ("export", exported_code),
    "modified-energy": ("modified_energy", modified_energy),
    "liegroup": ("liegroup", liegroup),
    "single-calls": ("single_calls", single_calls),
    "tree-size": ("tree_size", tree_size),
    "coordinate-midpoint": ("variational", coordinate_midpoint),
    "compiled-trees": ("tree_rhs", compiled_trees),
    "control": ("control", control),
    "model-files": ("model_files", model_files),
    "compiled-mechanisms": ("closed_loops", compiled_mechanisms),
    "fold": ("fold", fold),
    "rods-at-equal-error": ("rods", rods),
    "loops-at-equal-error": ("loops_at_equal_error", loops_at_equal_error),
    "stiff": ("stiff", stiff),
    "thin-rods": ("rods", thin_rods),
    "trees-beside-peers": ("tree_rhs", peers.trees),
    "derivatives-beside-peers": ("derivatives", peers.derivatives),
    "mass-matrices-beside-peers": ("mass_matrix", peers.mass_matrices),
    "loops-beside-peers": ("closed_loops", peers.loops),
    "variational-beside-peers": ("variational", peers.variational),
    "single-bodies-beside-peers": ("lie_rk", peers.single_bodies),
    "nonholonomic-beside-peers": ("nonholonomic", peers.nonholonomic),
    "many-elements": ("many_elements", peers.many_elements),
}
