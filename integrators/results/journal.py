"""A file whose changes arrive whole or not at all: what HDF5 writes into is what was there at the last commit until the
next one.

What is written behind the committed end goes into the file at once: nothing refers to it yet.  What changes committed
bytes waits in memory.  A commit brings the former to the disk, then a journal, ``NAME.journal``, of the latter with a
digest, then applies it; whoever finds a whole journal applies it again.  Killed at any moment, the file is that of the
last commit, or of the one in progress.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from integrators.results.replacing import part_of, put

PAGE = 4096
MARK = b"liemech-journal1"
_NUMBER, _DIGEST = 8, 32


class Replaced(OSError):
    """What is written is no longer the file of this name."""


def journal_of(path: str | os.PathLike[str]) -> Path:
    """Where the journal of a file is, for as long as a commit takes."""
    return Path(f"{os.fspath(path)}.journal")


class Journalled:
    """An existing file as HDF5 sees it; writes never fail, since HDF5 does not survive that whole, but `commit` does.

    `reading`: a commit that somebody else has begun is seen as done, and nothing is written.
    """

    def __init__(self, path: Path, reading: bool = False) -> None:
        self.path, self.reading = path, reading
        self.pages: dict[int, bytearray] = {}
        pending = _pending(path) if reading else None
        if not reading:
            recover(path)
        self.raw = path.open("rb" if reading else "r+b", buffering=0)
        self.committed = self.end = self.raw.seek(0, os.SEEK_END)
        if pending is not None:
            self.end, self.pages = pending
        self.place = 0
        self.failed: OSError | None = None

    # --- what h5py asks of a file ---------------------------------------------------------------------------------

    def seek(self, offset: int, whence: int = 0) -> int:
        self.place = offset + (0, self.place, self.end)[whence]
        return self.place

    def tell(self) -> int:
        return self.place

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start, size = self.place, len(view)
        data = os.pread(self.raw.fileno(), size, start)
        view[: len(data)] = data
        view[len(data) :] = bytes(size - len(data))
        for number in range(start // PAGE, -(-(start + size) // PAGE)):
            if (page := self.pages.get(number)) is not None:
                first = max(start, number * PAGE)
                last = min(start + size, number * PAGE + len(page), self.committed)
                if last > first:
                    view[first - start : last - start] = page[first - number * PAGE : last - number * PAGE]
        self.place += size
        return size

    def read(self, size: int = -1) -> bytes:
        room = bytearray(self.end - self.place if size < 0 else size)
        self.readinto(room)
        return bytes(room)

    def write(self, data: Any) -> int:
        rest, start = memoryview(data).cast("B"), self.place
        inside = min(len(rest), max(0, self.committed - start))
        self._keep(start, rest[:inside])
        self._extend(start + inside, rest[inside:])
        self.place += len(rest)
        self.end = max(self.end, self.place)
        return len(rest)

    def truncate(self, size: int | None = None) -> int:
        self.end = self.place if size is None else size
        return self.end

    def flush(self) -> None:
        """Nothing waits that a commit does not bring."""

    def _keep(self, start: int, data: memoryview) -> None:
        """Hold back what replaces committed bytes."""
        while len(data):
            number, offset = divmod(start, PAGE)
            if number not in self.pages:
                self.pages[number] = bytearray(os.pread(self.raw.fileno(), PAGE, number * PAGE).ljust(PAGE, b"\0"))
            count = min(len(data), PAGE - offset)
            self.pages[number][offset : offset + count] = data[:count]
            start, data = start + count, data[count:]

    def _extend(self, start: int, data: memoryview) -> None:
        try:
            while len(data) and self.failed is None:
                count = os.pwrite(self.raw.fileno(), data, start)
                start, data = start + count, data[count:]
        except OSError as error:
            self.failed = error

    # --- commits --------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """Make what has been written since the last commit the content of the file; OSError leaves it as it was."""
        if not self._is_here():
            raise Replaced("it is gone, or another file has come in its place")
        if self.failed is not None:
            raise OSError(self.failed.errno, f"{self.failed.strerror}; the file could not be written", str(self.path))
        os.fsync(self.raw.fileno())
        if self.pages or self.end < self.committed:
            self._write_journal()
            recover(self.path)
        os.ftruncate(self.raw.fileno(), self.end)
        self.committed, self.pages = self.end, {}

    def _is_here(self) -> bool:
        """Whether the name is still that of the open file: by the numbers of the system, which some file systems make
        up anew, else by the first bytes.
        """
        try:
            if os.path.samestat(os.fstat(self.raw.fileno()), os.stat(self.path)):
                return True
            with open(self.path, "rb") as file:
                return file.read(PAGE) == os.pread(self.raw.fileno(), PAGE, 0)
        except FileNotFoundError:
            return False

    def _write_journal(self) -> None:
        content = bytearray(MARK + self.end.to_bytes(_NUMBER, "little"))
        for number, page in sorted(self.pages.items()):
            count = min(PAGE, self.committed - number * PAGE)  # what is behind has been written
            content += number.to_bytes(_NUMBER, "little") + count.to_bytes(_NUMBER, "little")
            content += page[:count].ljust(PAGE, b"\0")
        target = journal_of(self.path)
        with part_of(target) as part:
            with open(part, "xb") as file:
                file.write(content + hashlib.sha256(content).digest())
            put(part, target)

    def give_up(self) -> None:
        """From now on nothing is written."""
        self.failed = self.failed or OSError("closed")

    def close(self) -> None:
        """Give up what has not been committed."""
        if not self.reading:
            with suppress(OSError):
                os.ftruncate(self.raw.fileno(), self.committed)
        self.raw.close()


def recover(path: Path) -> None:
    """Apply the journal of a file if there is one that is whole, and remove it; only who writes the file may."""
    pending = _pending(path)
    if pending is not None:
        end, pages = pending
        with open(path, "r+b") as file:
            for number, page in pages.items():
                file.seek(number * PAGE)
                file.write(page)
            file.truncate(end)
            file.flush()
            os.fsync(file.fileno())
    journal_of(path).unlink(missing_ok=True)


def _pending(path: Path) -> tuple[int, dict[int, bytearray]] | None:
    """The length of the file and its pages after the commit that the journal of the file holds, if there is a whole
    one.
    """
    try:
        content = journal_of(path).read_bytes()
    except FileNotFoundError:
        return None
    body, digest = content[:-_DIGEST], content[-_DIGEST:]
    if not body.startswith(MARK) or hashlib.sha256(body).digest() != digest:
        return None
    end, rest = body[len(MARK) :][:_NUMBER], body[len(MARK) + _NUMBER :]
    pages = {}
    for k in range(0, len(rest), 2 * _NUMBER + PAGE):
        number, count = (int.from_bytes(rest[k + j : k + j + _NUMBER], "little") for j in (0, _NUMBER))
        pages[number] = bytearray(rest[k + 2 * _NUMBER :][:count])
    return int.from_bytes(end, "little"), pages
