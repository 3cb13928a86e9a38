"""Who writes a file: one run at a time.

A lock of the operating system, which ends with its process, on an empty file of the temporary folder that goes by the
path: nothing is left beside the data, and a run that was killed can be resumed.  Other machines are not asked, and
nobody where no lock can be had.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from integrators.results.storage import StorageError

try:
    import fcntl
except ImportError:  # elsewhere than on Unix nobody is asked
    fcntl = None  # type: ignore[assignment]


class InUse:
    """The right to write a file, until it is given back.

    Parameters
    ----------
    path : path
        Of the file.
    begins : bool
        Whether others are to be kept away from now on; else it is enough that nobody has begun.

    Raises
    ------
    StorageError
        Another run writes it now.
    """

    def __init__(self, path: str | os.PathLike[str], begins: bool = True) -> None:
        self._file = -1
        if fcntl is None or not hasattr(os, "getuid"):
            return
        name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:32]
        place = Path(tempfile.gettempdir()) / f"liemech-{os.getuid()}-{name}.lock"
        try:
            made = os.O_CREAT if begins else 0
            file = os.open(place, os.O_RDWR | made | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:  # nobody has written it, or a temporary folder that cannot be written: nobody can be asked
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            other = os.read(file, 32).decode("ascii", "replace").strip()
            os.close(file)
            raise StorageError(
                f"{path}: another run writes it now (process {other or 'unknown'}); give every run a file of its own"
            ) from None
        except OSError:  # a file system without locks
            os.close(file)
            return
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        self._file = file

    def give_back(self) -> None:
        """Let others write it."""
        if self._file >= 0:
            os.close(self._file)  # which ends the lock
            self._file = -1
