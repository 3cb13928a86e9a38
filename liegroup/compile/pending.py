"""What went wrong below compiled code, where no exception can pass: kept until Python is reached again."""

from __future__ import annotations


class LateBindingError(RuntimeError):
    """A formula that compiled code needed could not be compiled; its results are NaN."""


pending: list[LateBindingError] = []


def raise_pending() -> None:
    """Raise what kept compiled code from a formula it needed, if anything did."""
    if pending:
        error = pending[0]
        pending.clear()
        raise error
