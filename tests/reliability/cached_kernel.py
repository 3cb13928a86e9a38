"""A small entry with kernels, and what can be done to its files in the cache: ``python cached_kernel.py TASK …``."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np

from liegroup.compile import (
    cache_directory,
    entry,
    folders,
    generated,
    helper,
    kernel,
    ld,
    nothing,
    objects,
    seals,
    sources,
    st,
    vector,
)
from liegroup.compile.generated import module_of
from liegroup.compile.scalars import sincos

GENERATED = """
from liegroup.compile import entry, ld, nothing, st, vector

@entry(nothing(vector, vector))
def doubled(x, out):
    st(out, 0, 2.0 * ld(x, 0))
"""


@helper
def shifted(x: Any) -> Any:
    return x + 0.125


@kernel
def turned(x: Any) -> Any:
    s, c = sincos(x)
    return s * c + shifted(x)


@kernel
def outer(x: Any) -> Any:
    return turned(x) * turned(shifted(x))


@entry(nothing(vector, vector))
def run(x: Any, out: Any) -> None:
    st(out, 0, outer(ld(x, 0)))


def use() -> bool:
    """Whether the compiled code gives the numbers of the interpreted."""
    x, found, expected = np.array([0.5]), np.zeros(1), np.zeros(1)
    run(x, found)
    run.python(x, expected)
    doubled = np.zeros(1)
    module_of(GENERATED).doubled(x, doubled)
    return bool(found[0] == expected[0] and doubled[0] == 1.0)


def right() -> str:
    return "right" if use() else "WRONG"


def in_child(task: Any) -> str:
    """What a forked process says, or how it ended."""
    child = os.fork()
    if not child:
        try:
            os._exit(0 if task() else 1)
        except BaseException:
            os._exit(2)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return "right" if status == 0 else f"ended-with-{status}"


def files() -> list[Path]:
    return sorted(p for p in cache_directory().rglob("*") if p.is_file() and p.name != folders.MARK)


def flip(count: str, seed: str) -> None:
    """Flip a bit of a file at a time, and use what is there in a process of its own."""
    source = random.Random(int(seed))
    in_child(use)
    for _ in range(int(count)):
        flip_one(source, source.choice(files()))
        print(in_child(use))


def flip_one(source: random.Random, path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[source.randrange(len(content))] ^= 1 << source.randrange(8)
    path.write_bytes(content)


def flip_each(rounds: str, seed: str) -> None:
    """Flip a bit of every file, one at a time, and ask whether anything of it is taken; the files are then as before.

    What is asked is what loading asks before it looks at the content: no process need be started for each.
    """
    source = random.Random(int(seed))
    in_child(use)
    for path in files() * int(rounds):
        before = path.read_bytes()
        flip_one(source, path)
        print("taken" if is_taken(path) else "refused")
        path.write_bytes(before)
        assert is_taken(path)


def is_taken(path: Path) -> bool:
    """Whether the content of a file in the cache is used as it is."""
    content = path.read_bytes()
    if path.suffix in (".nbi", ".nbc"):  # index and data, sealed under the digest of the sources and their names
        return seals.opened(f"{path.parent.name}/{path.name}", content) is not None
    if path.suffix == ".py":
        return generated._content(path) == GENERATED
    if path.name == sources._KEPT:
        return seals.opened(sources._sealed_name(), content) is not None
    return objects.read(path.name) == content


class Taking:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (Path(self.path),)


def forge(path: str) -> None:
    """Put pickles that run code in the place of all entries."""
    import pickle

    for file in files():
        if file.suffix in (".nbi", ".nbc"):
            file.write_bytes(pickle.dumps(Taking(path)))
    print(right(), hits())


def stale() -> None:
    """Seal, as this user, indices and data that unpickle by importing what is not there."""
    for file in files():
        if file.suffix in (".nbi", ".nbc"):
            gone = b"cgone_module\nGone\n."  # what pickles of a class look like
            file.write_bytes(seals.sealed(f"{file.parent.name}/{file.name}", gone) or b"")
    print(right(), hits())


def older() -> None:
    """Seal, as this user, indices of another version of the compiler."""
    import pickle

    for file in files():
        if file.suffix == ".nbi":
            name = f"{file.parent.name}/{file.name}"
            version, *rest = pickle.loads(seals.opened(name, file.read_bytes()) or b"")
            file.write_bytes(seals.sealed(name, pickle.dumps((f"{version}.older", *rest))) or b"")
    print(right(), hits())


def vanish() -> None:
    print(right())
    shutil.rmtree(cache_directory())
    print(in_child(use) if hasattr(os, "fork") else right())


def hits() -> int:
    return sum(run.compiled.stats.cache_hits.values())


def threads(count: str) -> None:
    found: list[str] = []
    barrier = threading.Barrier(int(count))

    def first() -> None:
        barrier.wait()
        try:
            found.append(right())
        except Exception as error:
            found.append(repr(error).replace(" ", "-"))

    running = [threading.Thread(target=first) for _ in range(int(count))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(*found)


def fork(count: str) -> None:
    assert use()
    print(*(in_child(use) for _ in range(int(count))))


def _of_entry(given: Any) -> str:
    x, found = np.array([0.5]), np.zeros(1)
    given(x, found)
    return right()


def spawn(count: str) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(int(count)) as pool:
        print(*pool.map(_of_entry, [run] * int(count), chunksize=1))


if __name__ == "__main__":
    if sys.argv[1] == "use":
        print(right(), hits())
    else:
        globals()[sys.argv[1]](*sys.argv[2:])
