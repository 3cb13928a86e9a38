"""Pinocchio's algorithms in a C++ loop, compiled once against the headers of the installed wheel."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path

import numpy as np

from liegroup.compile import cache_directory
from mechanics import to_pinocchio
from mechanics.algebra.spatial import unit
from mechanics.joints import Ball, Float, Plane, Slide, Turn
from mechanics.model.tree import Tree

SOURCE = Path(__file__).with_name("pinocchio_loop.cpp")
FLAGS = (
    "-std=c++17",
    "-O3",
    "-DNDEBUG",
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
)
"""The wheel's own definitions: Pinocchio as its users get it, for any x86-64."""
NATIVE = ("-march=native",)
"""For the processor at hand besides, with all its vector instructions."""


class NotAvailable(Exception):
    """Why there is no C++ comparison on this machine."""


@cache
def binary(native: bool = False) -> Path:
    """The compiled loop (two minutes, once), of the wheel's kind or for the processor at hand; or `NotAvailable`."""
    flags = FLAGS + NATIVE * native
    compiler = next((found for name in ("g++", "clang++", "c++") if (found := shutil.which(name))), None)
    if compiler is None:
        raise NotAvailable("no C++ compiler")
    prefix = Path(str(metadata.distribution("pin").locate_file("cmeel.prefix")))
    eigen = [
        os.environ.get("EIGEN3_INCLUDE_DIR", ""),
        str(prefix / "include/eigen3"),
        "/usr/include/eigen3",
        "/usr/local/include/eigen3",
    ]
    include = next((path for path in eigen if path and (Path(path) / "Eigen/Core").is_file()), None)
    if include is None:
        raise NotAvailable("no Eigen headers: pip install cmeel-eigen, or set EIGEN3_INCLUDE_DIR")
    key = hashlib.sha256(SOURCE.read_bytes() + f"{compiler}{metadata.version('pin')}{flags}".encode()).hexdigest()[:16]
    target = cache_directory().parent / "liemech-benchmarks" / f"pinocchio-{key}"
    if not target.exists():
        print(
            f"compiling {SOURCE.name} against Pinocchio {metadata.version('pin')} (about two minutes, once) …",
            file=sys.stderr,
        )
        target.parent.mkdir(parents=True, exist_ok=True)
        paths = [f"-I{prefix}/include", f"-I{include}", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
        part = target.with_suffix(".part")
        done = subprocess.run(
            [compiler, *flags, *paths, str(SOURCE), "-o", str(part), "-lboost_serialization"],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            errors = [line for line in done.stderr.splitlines() if "error" in line] or ["the compiler failed"]
            raise NotAvailable(errors[0])
        part.rename(target)
    return target


def nanoseconds(tree: Tree, algorithm: str = "aba", native: bool = False) -> float:
    """Per call of Pinocchio's `aba` or `crba`, or of the derivatives of `aba` or `rnea`, on a tree of joints that are
    one elementary motion each.
    """
    program, generator = binary(native), np.random.default_rng(0)
    lines = [f"{len(tree)}"]
    for body, k in zip(tree.bodies, tree.parents, strict=True):
        inertia, tensor = body.inertia, body.inertia.tensor_about_com[np.triu_indices(3)]
        numbers = (_axis(body.joint.elements), body.rotation, body.position, inertia.mass, inertia.com, tensor)
        lines.append(
            f"{k + 1} {_kind(body.joint.elements)} "
            + " ".join(repr(float(x)) for part in numbers for x in np.ravel(part))
        )
    other = to_pinocchio(tree)
    if not np.array_equal(other.velocity(np.arange(tree.nv)), np.arange(tree.nv)):
        raise ValueError(f"tree {tree.name!r} is not numbered depth first")
    for _ in range(16):
        state = other.configuration(tree.random_configuration(generator)), *generator.normal(size=(2, tree.nv))
        lines += [" ".join(repr(float(x)) for x in part) for part in state]
    calls = max(1, 1500 // len(tree))
    text = "\n".join([f"300 {calls} {algorithm} {lines[0]}", *lines[1:]])
    return float(subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout.split()[0])


def _kind(elements: tuple[object, ...]) -> str:
    (e,) = elements
    if isinstance(e, Turn | Slide):
        letter = next((x for x, d in zip("XYZ", np.eye(3), strict=True) if np.array_equal(unit(e.axis), d)), "U")
        return ("R" if isinstance(e, Turn) else "P") + letter
    return {Ball: "S", Float: "FF", Plane: "PLANAR"}[type(e)]


def _axis(elements: tuple[object, ...]) -> object:
    (e,) = elements
    return unit(e.axis) if isinstance(e, Turn | Slide) else (0.0, 0.0, 1.0)
