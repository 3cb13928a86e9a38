"""Progress bars on terminals and in notebooks, nothing elsewhere."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any


class _Unseen:
    """A bar that nobody sees, without importing `tqdm`: what is asked of a bar, and nothing more."""

    disable = True

    def __init__(self, iterable: Any = (), total: int | None = None) -> None:
        self.n, self.total, self._iterable = 0, total, iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self._iterable)

    def __enter__(self) -> _Unseen:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, n: int = 1) -> None:
        """Count: `n` more are done."""
        self.n += n

    def close(self) -> None:
        """Nothing is to be taken away."""


def bar(*iterable: Any, shown: bool | None = None, **options: Any) -> Any:
    """A bar of `tqdm` that goes away at its end.

    Parameters
    ----------
    *iterable
        What is gone through, if it is not the bar's `update` that counts.
    shown : bool, optional
        Default: on terminals and in notebooks.
    **options
        Of `tqdm`: ``total``, ``desc``, …

    Examples
    --------
    >>> from liegroup.display import bar
    >>> sum(bar([1, 2, 3], shown=False))
    6
    """
    if not (_may_be_seen() if shown is None else shown):
        return _Unseen(iterable[0] if iterable else (), options.get("total"))
    from tqdm import TqdmWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)  # a notebook without widgets gets the bar in text
        from tqdm.autonotebook import tqdm  # `tqdm.auto` would import asyncio, too

        if shown is None:
            disable = False if _in_notebook(tqdm) else None  # its output is no terminal, and shows bars all the same
        else:
            disable = not shown
        return tqdm(*iterable, **{"leave": False, "disable": disable, **options})


def _may_be_seen() -> bool:
    """Whether there is a terminal, or an interactive Python that may be a notebook's."""
    return "IPython" in sys.modules or bool(getattr(sys.stderr, "isatty", bool)())


def _in_notebook(kind: Any) -> bool:
    """Whether the bar that `tqdm` has chosen is one of notebooks."""
    return any(base.__module__ == "tqdm.notebook" for base in kind.__mro__)
