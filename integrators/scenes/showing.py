"""What can be looked at without a motion: packages register how it is drawn."""

from __future__ import annotations

import os
from functools import singledispatch
from typing import Any

from liegroup.arrays import shown
from liegroup.modules import registered


@singledispatch
def show(thing: Any, q: Any = None, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
    """One configuration of a thing, or several to step through; packages register how they are drawn."""
    if (own := registered(show, thing)) is not None:
        return own(thing, q, path, **options)
    raise TypeError(f"thing: {shown(thing)}, expected a Tree or a Mechanism; solutions have animate(path)")


@singledispatch
def draw(thing: Any, q: Any, ax: Any = None, **options: Any) -> Any:
    """One configuration of a thing in matplotlib axes; packages register how they are drawn."""
    if (own := registered(draw, thing)) is not None:
        return own(thing, q, ax, **options)
    raise TypeError(f"thing: {shown(thing)}, expected a Tree or a Mechanism; solutions have animate(path)")
