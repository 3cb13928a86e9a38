"""What went wrong below compiled code, where no exception can pass: kept until Python is reached again."""

from __future__ import annotations

import threading


class LateBindingError(RuntimeError):
    """A formula that compiled code needed could not be compiled; its results are NaN."""


class _Pending(threading.local):
    """The first error in this thread."""

    first: LateBindingError | None = None


pending = _Pending()


def raise_pending() -> None:
    """Raise what kept compiled code from a formula it needed, if anything did."""
    error, pending.first = pending.first, None
    if error is not None:
        raise error
