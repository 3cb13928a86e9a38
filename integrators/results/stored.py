"""Arrays that stay in their file and are read where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from integrators.results import digests
from integrators.results.storage import StorageError
from integrators.results.streams import Stream, reading

_ROWS = 4096
"""Which a loop reads at a time."""


@dataclass(frozen=True, eq=False)
class Stored(NDArrayOperatorsMixin):
    """Variables of a file as one array: one of them as it is, vectors joined or scalars stacked along the last axis.

    Indices, slices and ``...`` read what they say and nothing else, a loop over rows some thousands at a time;
    operators and NumPy's functions read all of it.
    """

    path: str
    names: tuple[str, ...]
    widths: tuple[int, ...] | None
    """Columns of each; None: of the only one as it is; 0: those of a scalar, which has no axis for them."""
    shape: tuple[int, ...]
    dtype: Any
    stamp: str = ""
    """Of the run that has written the file, or of its content, which may have been replaced since."""

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> NDArray[Any]:
        """All of it, read, with its axes reversed."""
        return np.asarray(self).T

    def __iter__(self) -> Iterator[Any]:
        for begin in range(0, len(self), _ROWS):
            yield from self[begin : begin + _ROWS]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*(np.asarray(x) if isinstance(x, Stored) else x for x in inputs), **options)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError(f"an array in the file {self.path} cannot be had without a copy")
        return np.asarray(self[...], dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        places = _places(key, self.ndim)
        if places is None:
            return np.asarray(self)[key]
        with reading(self.path) as stream:
            if stamp_of(stream) != self.stamp:
                raise StorageError(
                    f"{self.path}: another run has replaced this file since the solution was read from it; what it "
                    "held is gone, load it anew for that of the other run"
                )
            if self.widths is None:
                return stream.item(self.names[0])[places]
            return self._columns(stream, places[:-1], places[-1])

    def _columns(self, stream: Stream, rows: tuple[Any, ...], wanted: int | slice) -> NDArray[Any]:
        """The wanted columns; only variables that have some of them are read."""
        assert self.widths is not None
        numbers = np.atleast_1d(np.arange(self.shape[-1])[wanted])
        parts, first, start = [], None, 0
        for name, width in zip(self.names, self.widths, strict=True):
            end = start + max(1, width)
            if ((numbers >= start) & (numbers < end)).any():
                first = start if first is None else first
                item = stream.item(name)
                parts.append(item[(*rows, slice(None))] if width else np.asarray(item[rows])[..., None])
            start = end
        if not parts:
            shape = np.broadcast_to(np.False_, self.shape[:-1])[rows].shape
            return np.zeros((*shape, len(numbers)), dtype=self.dtype)
        found = np.concatenate(parts, axis=-1)[..., numbers - (first or 0)]
        return found if isinstance(wanted, slice) else found[..., 0]


def stamp_of(stream: Stream) -> str:
    """Which run has written a file, or, of a saved one, what it holds; nothing where files do not say."""
    return str(stream.attributes.get("stream", "")) or digests.stamp_of(stream.path)


def _places(key: Any, axes: int) -> tuple[Any, ...] | None:
    """An index for every axis, if all are numbers or slices forwards."""
    given = key if isinstance(key, tuple) else (key,)
    if any(item is not Ellipsis and not isinstance(item, (int, np.integer, slice)) for item in given):
        return None
    if any(isinstance(item, slice) and item.step is not None and item.step < 0 for item in given):
        return None
    if Ellipsis not in given:
        given = (*given, Ellipsis)
    at = given.index(Ellipsis)
    rest = axes - len(given) + 1
    return (*given[:at], *[slice(None)] * rest, *given[at + 1 :]) if rest >= 0 else None


def joined(parts: Sequence[Any]) -> Any:
    """Vectors (…, n) side by side (…, Σn), in the file if they are there."""
    if not all(isinstance(part, Stored) for part in parts):
        return np.concatenate(parts, axis=-1)
    return _together(parts, tuple(part.shape[-1] for part in parts), parts[0].shape[:-1])


def stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Arrays of a shape as the columns of one, in the file if they are there."""
    if not parts:
        return np.zeros((*shape, 0))
    if not all(isinstance(part, Stored) for part in parts):
        return np.stack(parts, axis=-1)
    return _together(parts, (0,) * len(parts), parts[0].shape)


def _together(parts: Sequence[Stored], widths: tuple[int, ...], shape: tuple[int, ...]) -> Stored:
    columns = sum(max(1, width) for width in widths)
    names = tuple(part.names[0] for part in parts)
    return Stored(parts[0].path, names, widths, (*shape, columns), parts[0].dtype, parts[0].stamp)
