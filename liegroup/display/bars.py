"""Progress bars on terminals and in notebooks, nothing elsewhere."""

from __future__ import annotations

import warnings
from typing import Any


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
    from tqdm import TqdmWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)  # a notebook without widgets gets the bar in text
        from tqdm.autonotebook import tqdm  # `tqdm.auto` would import asyncio, too

        if shown is None:
            disable = False if _in_notebook(tqdm) else None  # its output is no terminal, and shows bars all the same
        else:
            disable = not shown
        return tqdm(*iterable, **{"leave": False, "disable": disable, **options})


def _in_notebook(kind: Any) -> bool:
    """Whether the bar that `tqdm` has chosen is one of notebooks."""
    return any(base.__module__ == "tqdm.notebook" for base in kind.__mro__)
