"""What is installed, where kernels are kept, what they are compiled for, and whether runs come out right."""

from __future__ import annotations

import importlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

CORE = {"numpy": "numpy", "scipy": "scipy", "numba": "numba", "llvmlite": "llvmlite", "matplotlib": "matplotlib",
        "h5py": "h5py", "tqdm": "tqdm", "tyro": "tyro"}  # fmt: skip
"""Packages without which nothing works: name of the distribution → name of the module."""
EXTRAS = {
    "robots": (
        {
            "yourdfpy": "yourdfpy",
            "defusedxml": "defusedxml.ElementTree",
            "mujoco": "mujoco",
            "example-robot-data": "",
            "trimesh": "trimesh",
            "pycollada": "collada",
            "fast-simplification": "fast_simplification",
        },
        "URDF, SDF and MJCF files, and their meshes",
    ),
    "xarray": ({"xarray": "xarray", "pandas": "pandas", "h5netcdf": "h5netcdf"}, "Solution.to_xarray, to_pandas"),
    "sympy": ({"sympy": "sympy"}, "Lagrangians as expressions"),
}
"""Extras that are looked at → their packages, and what they are for."""
OTHERS = {"pin": "pinocchio"}
"""Packages with which trees are exchanged."""


class Finding(NamedTuple):
    """One line: what was looked at, what was found, and what to do where something is wrong (else empty)."""

    what: str
    says: str
    remedy: str = ""


def doctor() -> int:
    """Say what works here: versions, cache, processor, extras, a check run of some seconds.

    Returns the exit code: 1 where something does not work, each with its remedy.
    """
    wrong = 0
    for title, findings in SECTIONS.items():
        print(f"\n{title}")
        for found in _with_its_end(findings):
            wrong += bool(found.remedy)
            print(f"  {'✗' if found.remedy else '✓'} {found.what:22} {found.says}", flush=True)
            if found.remedy:
                print(f"    → {found.remedy}")
    print(f"\n{wrong} of these do not work; what to do stands below each (→)" if wrong else "\nAll of this works.")
    return 1 if wrong else 0


def _with_its_end(findings: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """The findings, and what ended the looking before all was looked at, as a broken package of those above does."""
    try:
        yield from findings()
    except Exception as error:
        yield Finding("looked no further", f"{type(error).__name__}: {error}", f"mend what is above; else {_REPORT}")


def versions() -> Iterator[Finding]:
    """Python, the system, this package, and what it stands on."""
    good = sys.version_info >= (3, 11)
    yield Finding(
        "python", f"{platform.python_version()} on {platform.platform()}", "" if good else "Python 3.11 or later"
    )
    for distribution, module in {"liemech": "liemech", **CORE}.items():
        yield _package(distribution, module, f"pip install --upgrade {distribution}")


def extras() -> Iterator[Finding]:
    """Of the extras for model files, tables and expressions: whether their packages can be imported.  What is not
    installed is said, and is nothing wrong.
    """
    for extra, (packages, use) in EXTRAS.items():
        if missing := [name for name in packages if not _version(name)]:
            yield Finding(extra, f"not installed ({', '.join(missing)}): {use}; pip install 'liemech[{extra}]'")
            continue
        looked = [_package(name, module, f"pip install --upgrade '{name}'") for name, module in packages.items()]
        broken = next((found for found in looked if found.remedy), None)
        said = ", ".join(f"{found.what} {found.says}" for found in looked)
        yield Finding(extra, broken.says if broken else f"{use}: {said}", broken.remedy if broken else "")
    for distribution, module in OTHERS.items():
        if _version(distribution):
            yield _package(distribution, module, f"pip install --upgrade {distribution}")


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _package(distribution: str, module: str, remedy: str) -> Finding:
    """A package: its version, if it can be imported."""
    try:
        if module:
            importlib.import_module(module)
    except Exception as error:  # whatever a broken installation raises
        return Finding(distribution, f"cannot be imported: {type(error).__name__}: {error}", remedy)
    found = _version(distribution)
    return Finding(distribution, found or "not installed", "" if found else remedy)


def cache() -> Iterator[Finding]:
    """Where kernels are kept, how much is there, and whether it can be used."""
    from liegroup.compile.folders import cache_directory, key_file, trouble
    from liegroup.compile.seals import has_key

    folder, remedy = cache_directory(), "set LIEMECH_CACHE to a folder that you can write"
    if reason := trouble():
        yield Finding("folder", reason, remedy)
        return
    sizes = [size for place, _, names in os.walk(folder) for name in names if (size := _size(Path(place, name)))]
    yield Finding("folder", f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"room")
    except OSError as error:
        yield Finding("writable", f"no: {error.strerror}; kernels are compiled anew by every process", remedy)
    else:
        yield Finding("writable", "yes")
    good = has_key()
    yield Finding("key of the seals", str(key_file()), "" if good else f"make {key_file().parent} writable")


def _size(path: Path) -> int:
    """Bytes of a file, 0 of one that another process has removed since."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def machine() -> Iterator[Finding]:
    """The processor, its vector unit, and how eight trajectories lie in it."""
    from integrators.results.storage import versions as recorded
    from liegroup.compile import MODE, WIDTH, processor

    found = processor()
    chosen = ", chosen by NUMBA_CPU_NAME or NUMBA_CPU_FEATURES" if found.chosen else ""
    yield Finding(
        "processor", f"{recorded()['processor']}, {os.cpu_count()} threads; compiled for {found.name}{chosen}"
    )
    yield Finding("vector unit", f"{found.units}, {found.doubles} numbers in a register")
    each = f"{found.registers_per_lanes} register{'s' if found.registers_per_lanes > 1 else ''} for each number"
    yield Finding("lanes", f"{WIDTH} trajectories at a time, {each}")
    yield Finding("kernels", f"{MODE} arithmetic (LIEMECH_KERNELS)")


def check_run() -> Iterator[Finding]:
    """Short runs whose results are known; kernels that are not in the cache are compiled, which takes longer, once."""
    for what, run in RUNS.items():
        began = time.perf_counter()
        try:
            said, good = run()
        except Exception as error:
            yield Finding(what, f"{type(error).__name__}: {error}", _REPORT)
            continue
        seconds = time.perf_counter() - began
        yield Finding(what, f"{said} ({seconds:.1f} s)", "" if good else _REPORT)


_REPORT = "LIEMECH_CACHE=EMPTY_FOLDER liemech doctor; if that does not help, report it with all of these lines"


def _groups() -> tuple[str, bool]:
    import numpy as np

    from liegroup import se3

    x = np.linspace(-1.0, 1.0, 600).reshape(100, 6)
    error = float(np.abs(se3.log(se3.exp(x)) - x).max())
    return f"log exp x = x to {error:.1e}", error < 1e-12


def _single() -> tuple[str, bool]:
    from integrators import integrate
    from mechanics.systems import SYSTEMS

    solution = integrate(SYSTEMS["heavy-top"], (0.0, 10.0), progress=False)
    error = float(solution.error("energy"))
    return f"GAUSS8 keeps the energy of a heavy top to {error:.1e} in 10 s", bool(solution.success) and error < 1e-11


def _lanes() -> tuple[str, bool]:
    import numpy as np

    from integrators import integrate
    from liegroup.compile import MODE, WIDTH
    from mechanics.systems import SYSTEMS

    problem = SYSTEMS["heavy-top"].problem()
    alone = integrate(problem, "MIDPOINT", (0.0, 1.0), step=1e-3, progress=False)
    many = integrate(
        problem.with_start(np.tile(problem.y0, (WIDTH, 1))), "MIDPOINT", (0.0, 1.0), step=1e-3, progress=False
    )
    apart = float(np.abs(many.y - alone.y).max())
    return f"{WIDTH} trajectories at a time differ from one by {apart:.1e}", apart == 0.0 or MODE != "strict"


def _robot() -> tuple[str, bool]:
    import numpy as np

    import mechanics

    try:
        tree = mechanics.load_model("ur5")
    except ModuleNotFoundError:
        return "left out: no extra 'robots'", True
    rng = np.random.default_rng(0)
    q, v = tree.random_configuration(rng), rng.normal(size=tree.nv)
    error = float(np.abs(mechanics.hamiltonian_rhs(tree, q, mechanics.momentum(tree, q, v))[0] - v).max())
    return f"velocities of UR5 from its momenta to {error:.1e}", error < 1e-10


def _file() -> tuple[str, bool]:
    from integrators import Solution, integrate
    from mechanics.systems import SYSTEMS

    solution = integrate(SYSTEMS["heavy-top"], "MIDPOINT", (0.0, 0.1), step=1e-2, progress=False)
    with tempfile.TemporaryDirectory() as folder:
        found = Solution.load(solution.save(Path(folder) / "run.h5"))
    return "a solution is saved and read again", bool((found.y == solution.y).all())


RUNS: dict[str, Callable[[], tuple[str, bool]]] = {
    "groups": _groups,
    "one trajectory": _single,
    "in lanes": _lanes,
    "robot": _robot,
    "data file": _file,
}
"""What is run: functions that return a sentence, and whether it came out right."""
SECTIONS: dict[str, Callable[[], Any]] = {
    "Versions": versions,
    "Cache of compiled kernels": cache,
    "Processor": machine,
    "Extras": extras,
    "Check run (kernels that are not in the cache are compiled first, once)": check_run,
}
