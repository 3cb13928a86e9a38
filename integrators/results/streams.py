"""Data files that grow while a run goes on: HDF5 through a journal, Zarr by a list of its arrays, replaced whole.

Both have the variables, dimensions and attributes of `Solution.save`; what can grow is stored in compressed chunks.
What is put into a stream is in the file from the next `commit` on, all of it or nothing.
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from integrators.results import digests
from integrators.results.journal import Journalled, journal_of
from integrators.results.replacing import part_of, target_of
from integrators.results.storage import (
    FORMAT,
    Dataset,
    StorageError,
    Variable,
    attributes_of,
    chunks_of,
    dims_of,
    fill_of,
    is_bare_dimension,
    read_variable,
    texts_of,
    write,
)
from liegroup.arrays import path_of


class Stream:
    """A file of a format, open for reading, or for reading and writing."""

    SUFFIXES: tuple[str, ...] = ()

    def __init__(self, path: Path, writing: bool) -> None:
        self.path, self.writing = path, writing
        self._open()

    @classmethod
    def create(cls, path: Path, dataset: Dataset, growing: Mapping[str, int]) -> None:
        """Write a dataset in which the dimensions `growing` can grow, and that many of their places form a chunk."""
        raise NotImplementedError

    def _open(self) -> None:
        raise NotImplementedError

    # --- reading --------------------------------------------------------------------------------------------------

    @cached_property
    def dims(self) -> dict[str, tuple[str, ...]]:
        """The dimensions of every variable."""
        raise NotImplementedError

    def item(self, name: str) -> Any:
        """A variable as the format shows it: with shape, dtype, and parts by index."""
        raise NotImplementedError

    def variable(self, name: str) -> Variable:
        """A variable, read."""
        raise NotImplementedError

    @property
    def variables(self) -> list[str]:
        """Their names."""
        raise NotImplementedError

    @property
    def attributes(self) -> dict[str, Any]:
        """Those of the whole."""
        raise NotImplementedError

    def size(self, dim: str) -> int:
        """How long a dimension is."""
        for name, dims in self.dims.items():
            if dim in dims:
                return int(self.item(name).shape[dims.index(dim)])
        raise StorageError(f"{self.path}: has no dimension {dim!r}")

    # --- writing --------------------------------------------------------------------------------------------------

    def put(self, name: str, values: Any, **first: int) -> None:
        """Write values into a variable, from the places `first` of its dimensions on."""
        starts = [first.get(dim, 0) for dim in self.dims[name]]
        places = tuple(slice(k, k + size) for k, size in zip(starts, np.shape(values), strict=True))
        if np.size(values):
            self.item(name)[places] = values

    def resize(self, dim: str, size: int) -> None:
        """Make a dimension so long."""
        for name, dims in self.dims.items():
            if dim in dims:
                shape = list(self.item(name).shape)
                shape[dims.index(dim)] = size
                self._reshape(name, tuple(shape))

    def _reshape(self, name: str, shape: tuple[int, ...]) -> None:
        self.item(name).resize(shape)

    def say(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes of the whole."""
        raise NotImplementedError

    def commit(self) -> None:
        """Make what has been put the content of the file; OSError leaves the file as it was."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file, without what has not been committed."""
        raise NotImplementedError

    def seal(self) -> None:
        """After the last commit: close the file for good."""
        self.close()


INDEX = 2**21
"""Bytes of an HDF5 file's index of chunks that stay in memory."""


class Hdf5Stream(Stream):
    """HDF5 in the layout of netCDF-4."""

    SUFFIXES = (".h5", ".hdf5", ".nc")

    @classmethod
    def create(cls, path: Path, dataset: Dataset, growing: Mapping[str, int]) -> None:
        write(path, dataset, growing=growing)
        journal_of(path).unlink(missing_ok=True)

    def _open(self) -> None:
        import h5py

        self.raw = None
        if self.writing:
            digests.remove(self.path)
            self.raw = Journalled(self.path)
        elif journal_of(self.path).exists():
            self.raw = Journalled(self.path, reading=True)
        try:
            self.file = h5py.File(self.raw or self.path, "r+" if self.writing else "r")
        except OSError as error:
            if self.raw is not None:
                self.raw.close()
            raise StorageError(f"{self.path}: not a readable HDF5 file ({error})") from error
        self._bound_the_index()

    def _bound_the_index(self) -> None:
        """HDF5 keeps up to 32 MB of where chunks are; who appends needs the end of it."""
        index = self.file.id.get_mdc_config()
        index.set_initial_size, index.initial_size, index.min_size, index.max_size = True, *[INDEX] * 3
        self.file.id.set_mdc_config(index)

    @cached_property
    def dims(self) -> dict[str, tuple[str, ...]]:
        return dims_of(self.file)

    def item(self, name: str) -> Any:
        return self.file[name]

    def variable(self, name: str) -> Variable:
        return read_variable(self.file[name], self.dims[name])

    @property
    def variables(self) -> list[str]:
        return [name for name in self.file if not is_bare_dimension(self.file[name])]

    @property
    def attributes(self) -> dict[str, Any]:
        return {key: x.item() if hasattr(x, "item") else x for key, x in self.file.attrs.items() if key[0] != "_"}

    def say(self, attributes: Mapping[str, Any]) -> None:
        for key, text in attributes.items():
            self.file.attrs[key] = text

    def commit(self) -> None:
        assert self.raw is not None
        self.file.flush()
        self.raw.commit()

    def close(self) -> None:
        if self.raw is not None:
            self.raw.give_up()
        self.file.close()
        if self.raw is not None:
            self.raw.close()

    def seal(self) -> None:
        self.close()
        with open(self.path, "r+b", buffering=0) as file:
            digests.append(file)
            os.fsync(file.fileno())


class ZarrStream(Stream):
    """A folder in format 2 of Zarr; what counts is its ``.zmetadata``, which is replaced whole."""

    SUFFIXES = (".zarr",)

    @classmethod
    def create(cls, path: Path, dataset: Dataset, growing: Mapping[str, int]) -> None:
        zarr = _zarr()
        from numcodecs import Blosc

        with part_of(path) as part:
            group = zarr.open_group(part, mode="w-", zarr_format=2)
            compressor = Blosc(cname="zstd", clevel=1, shuffle=Blosc.SHUFFLE)
            for name, variable in dataset.variables.items():
                values = np.asarray(variable.values)
                if values.dtype.kind == "U":  # later texts may be longer
                    values = values.astype(f"U{max(_TEXT, values.dtype.itemsize // 4)}")
                kind = {"dtype": values.dtype, "fill_value": fill_of(values) if values.dtype.kind == "f" else None}
                chunks = chunks_of(variable, growing)
                made = group.create_array(name, shape=values.shape, chunks=chunks, compressors=compressor, **kind)
                made.attrs.update({"_ARRAY_DIMENSIONS": list(variable.dims), **texts_of(variable)})
                if values.size:
                    made[...] = values
            group.attrs.update(attributes_of(dataset))
            zarr.consolidate_metadata(part, zarr_format=2)
            if path.exists():
                shutil.rmtree(path)
            os.rename(part, path)

    def _open(self) -> None:
        zarr = _zarr()
        if self.writing:
            for left in (*self.path.glob("*.partial"), *self.path.glob("*/*.partial")):
                left.unlink(missing_ok=True)  # what a killed process was writing: Zarr takes it for a part of the data
        try:
            self.group = zarr.open_group(
                self.path, mode="r+" if self.writing else "r", zarr_format=2, use_consolidated=True
            )
        except (OSError, ValueError, KeyError) as error:
            raise StorageError(f"{self.path}: not a readable Zarr folder ({error})") from error
        self.items = dict(self.group.arrays())

    @cached_property
    def dims(self) -> dict[str, tuple[str, ...]]:
        return {name: tuple(item.attrs["_ARRAY_DIMENSIONS"]) for name, item in self.items.items()}

    def item(self, name: str) -> Any:
        return self.items[name]

    def variable(self, name: str) -> Variable:
        item = self.items[name]
        texts = item.attrs
        return Variable(self.dims[name], item[...], str(texts.get("units", "")), str(texts.get("long_name", "")))

    @property
    def variables(self) -> list[str]:
        return list(self.items)

    @property
    def attributes(self) -> dict[str, Any]:
        return dict(self.group.attrs)

    def say(self, attributes: Mapping[str, Any]) -> None:
        self.group.attrs.update(attributes)

    def commit(self) -> None:
        _zarr().consolidate_metadata(self.path, zarr_format=2)

    def close(self) -> None:
        """Nothing is open."""


_TEXT = 32
"""Letters for which there is room in texts of Zarr."""
FORMATS: tuple[type[Stream], ...] = (Hdf5Stream, ZarrStream)
"""The formats of streams."""


def format_of(path: str | os.PathLike[str], name: str = "into") -> type[Stream]:
    """The format that the end of a path names."""
    suffix = Path(path_of(path, name)).suffix
    for kind in FORMATS:
        if suffix in kind.SUFFIXES:
            return kind
    known = ", ".join(suffix for kind in FORMATS for suffix in kind.SUFFIXES)
    raise ValueError(f"{name}: {os.fspath(path)!r} ends in {suffix!r}, expected one of {known}")


def place_of(path: str | os.PathLike[str], overwrite: bool) -> Path:
    """Where a new stream is written: its folder can be written, and nothing is there that is not to be replaced."""
    kind = format_of(path)
    target = Path(os.path.realpath(path)) if kind is ZarrStream else target_of(path)
    if kind is ZarrStream:
        _zarr()
    if target.exists() and not overwrite:
        raise FileExistsError(
            f"into: {path} exists; overwrite=True replaces it, integrators.resume({os.fspath(path)!r}, problem) "
            "goes on with it"
        )
    if target.is_dir() and not (target / ".zgroup").is_file():
        raise StorageError(f"into: {path} is a folder, and not one of Zarr; it is not replaced")
    if not target.parent.is_dir():
        raise ValueError(f"into: {target.parent} is not a folder")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"into: nothing can be written into {target.parent}")
    return target


@contextmanager
def reading(path: str | os.PathLike[str]) -> Iterator[Stream]:
    """A stream to read from."""
    kind = format_of(path, "path")
    if not Path(path).exists():
        raise StorageError(f"{path}: no such file")
    stream = kind(Path(path), writing=False)
    try:
        if stream.attributes.get("format") != FORMAT:
            raise StorageError(f"{path}: not a data file of liemech")
        yield stream
    finally:
        stream.close()


def _zarr() -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return import_module("zarr")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "into: folders of Zarr need zarr, which is not installed: pip install 'liemech[zarr]'", name="zarr"
        ) from error
