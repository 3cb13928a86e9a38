"""All records in one run: ``python -m benchmarks``, or ``python -m benchmarks NAME …`` for some of them.

One benchmark after the other, each in a process of its own, on a machine that does nothing else meanwhile; the records
are in `benchmarks/results`, and ``python -m studies.pages`` writes the pages from them.  Benchmarks whose peers are not
installed are left out and named; one that fails is named at the end and stops none.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from importlib.util import find_spec
from typing import NamedTuple

from benchmarks.machine import processor


class Benchmark(NamedTuple):
    """How a record is made: arguments of its module, and packages without which it is not."""

    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


def _saved(name: str, *arguments: str) -> tuple[str, ...]:
    return (*arguments, "--save", name)


RECORDS = {
    "tree_rhs": Benchmark(_saved("tree_rhs", "--all-joints"), ("pinocchio",)),
    "derivatives": Benchmark(_saved("derivatives"), ("pinocchio",)),
    "mass_matrix": Benchmark(_saved("mass_matrix"), ("pinocchio",)),
    "closed_loops": Benchmark(_saved("closed_loops"), ("pinocchio", "mujoco")),
    "loops_at_equal_error": Benchmark(_saved("loops_at_equal_error"), ("mujoco",)),
    "variational": Benchmark(_saved("variational", "--lanes")),
    "lie_rk": Benchmark(_saved("lie_rk"), ("exudyn", "mujoco")),
    "nonholonomic": Benchmark(_saved("nonholonomic"), ("exudyn",)),
    "stiff": Benchmark(_saved("stiff"), ("exudyn",)),
    "many_elements": Benchmark(),
    "elastic": Benchmark(),
    "single_calls": Benchmark(_saved("single_calls"), ("pinocchio",)),
    "control": Benchmark(),
    "ensemble": Benchmark((), ("mujoco", "jax")),
    "export": Benchmark(_saved("export"), ("casadi", "jax", "mujoco")),
    "cold_start": Benchmark(),
    "liegroup": Benchmark(_saved("liegroup"), ("jaxlie", "pinocchio")),
    "rods": Benchmark((), ("elastica", "exudyn")),
}
"""By name of module and record, in the order of the page "Speed, beside others"; what is not here (devices, campaigns,
folders of model files) needs a machine or files of its own.
"""


def main() -> int:
    """Run the chosen benchmarks; the number of those that failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="some of: " + ", ".join(RECORDS))
    chosen = parser.parse_args().names or list(RECORDS)
    if unknown := [name for name in chosen if name not in RECORDS]:
        parser.error(f"{', '.join(unknown)}: expected some of {', '.join(RECORDS)}")
    print(f"{len(chosen)} benchmarks on {processor()}", flush=True)
    failed = []
    for name in chosen:
        arguments, needs = RECORDS[name]
        if absent := [package for package in needs if find_spec(package) is None]:
            print(f"{name}: left out, without {', '.join(absent)}", flush=True)
            continue
        began = time.monotonic()
        print(f"{name} …", flush=True)
        code = subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=False).returncode
        print(f"{name}: {'done' if code == 0 else f'failed ({code})'}, {time.monotonic() - began:.0f} s", flush=True)
        failed += [name] if code else []
    if failed:
        print("failed: " + ", ".join(failed), file=sys.stderr)
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
