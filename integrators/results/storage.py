"""Data files: named, labelled variables with units in HDF5, as xarray opens them; written atomically.

A `Dataset` is a dictionary of variables, each with the names of its dimensions; a variable that has the name of its
only dimension is that dimension's coordinate.  The layout follows netCDF-4 (HDF5 dimension scales), so that
``xarray.open_dataset(path, engine="h5netcdf")`` shows names, labels and units.  At the end of the file are digests
(`integrators.results.digests`), which are checked before anything is read.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from integrators.results import digests
from integrators.results.digests import StorageError
from integrators.results.replacing import part_of, put, target_of
from liegroup.arrays import path_of, sequence
from liegroup.compile import WIDTH

__all__ = ["FORMAT", "Dataset", "StorageError", "Variable", "read", "versions", "write"]
FORMAT = "liemech-dataset-2"
"""The attribute by which a data file is known."""


@dataclass(frozen=True)
class Variable:
    """An array with the names of its dimensions, its unit and a description.

    Parameters
    ----------
    dims : tuple of str
        Names of the axes of `values`, one each.
    values : array
        Numbers or texts.
    units : str
        Common unit.
    description : str
        One sentence.

    Raises
    ------
    ValueError
        Another number of axes than of names; rows of different lengths.

    Examples
    --------
    >>> from integrators.results import Variable
    >>> Variable(("t",), [0.0, 0.1], "s", "time").units
    's'
    """

    dims: tuple[str, ...]
    values: Any
    units: str = ""
    description: str = ""

    def __post_init__(self) -> None:
        dims = sequence(self.dims, "dims", "names of the axes of values")
        try:
            axes = np.ndim(self.values)
        except ValueError as error:
            raise ValueError("values: rows of different lengths, expected an array") from error
        if axes != len(dims):
            raise ValueError(f"dims: {len(dims)} names {dims} for values with {axes} axes, expected one for each")


@dataclass(frozen=True)
class Dataset:
    """Variables by name, and attributes (text and numbers) of the whole.

    Parameters
    ----------
    variables : mapping name → Variable
        What the file holds; a variable with the name of its only dimension is that dimension's coordinate.
    attributes : mapping name → text or number
        Of the whole.

    Examples
    --------
    >>> from integrators.results import Dataset, Variable
    >>> list(Dataset({"t": Variable(("t",), [0.0, 0.1], "s")}).variables)
    ['t']
    """

    variables: Mapping[str, Variable]
    attributes: Mapping[str, str | int | float] = field(default_factory=dict)


def write(
    path: str | os.PathLike[str],
    dataset: Dataset,
    previous: Path | None = None,
    growing: Mapping[str, int] | None = None,
) -> Path:
    """Write a dataset to ``path`` as HDF5; an existing file is replaced only once the new one is complete on disk.

    Parameters
    ----------
    path : path
        The file; a link is followed and stays.
    dataset : Dataset
        What is written.
    previous : path, optional
        Where the old content of the file is kept.
    growing : mapping name → int, optional
        Dimensions that can grow later, and how many of their places are stored together; such a file has no digests.

    Returns
    -------
    Path
        The file that was written.

    Raises
    ------
    StorageError
        A folder or a device is there.
    FileNotFoundError
        The folder of the file is not there.
    OSError
        The disk is full or the folder cannot be written, which leaves the file as it was.
    TypeError
        Not a Dataset.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write(Path(folder, "run.h5"), Dataset({"t": Variable(("t",), [0.0, 0.1], "s")}))
    ...     read(path).variables["t"].units
    's'
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"dataset: {dataset!r}, expected a Dataset")
    target = target_of(path_of(path, "path"))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path: {str(path)!r}: there is no folder {str(target.parent)!r}; make it first")
    sizes = _sizes(dataset)
    with part_of(target) as part:  # with the rights a new file has here, unlike a tempfile
        with open(part, "x+b", buffering=0) as raw:
            file = _Sheltered(raw)
            _write_content(file, dataset, sizes, growing or {})
            if not growing:
                digests.append(file)
            file.raise_failure()
        put(part, target, previous)
    return target


class _Sheltered:
    """A file as HDF5 sees it: writes never fail, since HDF5 does not survive that whole; what failed is kept."""

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self.failed: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        try:
            while len(rest) and self.failed is None:
                rest = rest[self.raw.write(rest) :]
        except OSError as error:
            self.failed = error
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> Any:
        return self.raw.seek(offset, whence)

    def tell(self) -> Any:
        return self.raw.tell()

    def read(self, size: int = -1) -> Any:
        return self.raw.read(size)

    def readinto(self, buffer: Any) -> Any:
        return len(buffer) if self.failed else self.raw.readinto(buffer)

    def truncate(self, size: int | None = None) -> Any:
        try:
            return size if self.failed else self.raw.truncate(size)
        except OSError as error:
            self.failed = error
            return size

    def flush(self) -> None:
        """Nothing waits to be written."""

    def raise_failure(self) -> None:
        """The error because of which the file is not whole, if there is one."""
        if self.failed is not None:
            raise OSError(self.failed.errno, f"{self.failed.strerror}; the file could not be written", self.raw.name)


def attributes_of(dataset: Dataset) -> dict[str, str | int | float]:
    """What a file of the dataset says of the whole."""
    return {"format": FORMAT, **versions(), **dataset.attributes}


def _write_content(
    sheltered: _Sheltered, dataset: Dataset, sizes: Mapping[str, int], growing: Mapping[str, int]
) -> None:
    import h5py  # slow to import

    try:
        with h5py.File(sheltered, "w", track_order=True) as file:
            for key, text in attributes_of(dataset).items():
                file.attrs[key] = text
            _write_variables(file, dataset, sizes, sheltered, growing)
    except Exception:
        sheltered.raise_failure()
        raise
    sheltered.raise_failure()


def read(path: str | os.PathLike[str]) -> Dataset:
    """Read a dataset that `write` has written; StorageError says what is wrong with any other file, and where.

    Parameters
    ----------
    path : path
        A data file of this project.

    Returns
    -------
    Dataset
        Its variables and attributes.

    Raises
    ------
    StorageError
        No such file, or one that is damaged or of another kind: what is wrong, and where.

    Examples
    --------
    >>> from integrators.results import StorageError, read
    >>> try:
    ...     read("no such file.h5")
    ... except StorageError as error:
    ...     print(error)
    no such file.h5: no such file
    """
    import h5py  # slow to import

    if not path_of(path, "path").is_file():
        raise StorageError(f"{path}: {'a folder, expected a file' if os.path.isdir(path) else 'no such file'}")
    try:
        digests.check(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error})") from error
    try:
        with h5py.File(path, "r") as file:
            return _read_content(path, file)
    except StorageError:
        raise
    except Exception as error:
        raise StorageError(f"{path}: not a readable HDF5 file ({error})") from error


def _read_content(path: str | os.PathLike[str], file: Any) -> Dataset:
    if file.attrs.get("format") != FORMAT:
        raise StorageError(
            f"{path}: attribute 'format' is {file.attrs.get('format')!r}, expected {FORMAT!r}; not a data "
            "file of liemech"
        )
    variables = {
        name: read_variable(file[name], dims)
        for name, dims in dims_of(file).items()
        if not is_bare_dimension(file[name])
    }
    attributes = {
        k: v.item() if hasattr(v, "item") else v
        for k, v in file.attrs.items()
        if k != "format" and not k.startswith("_")
    }
    return Dataset(variables, attributes)


def _sizes(dataset: Dataset) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for name, variable in dataset.variables.items():
        for dim, size in zip(variable.dims, np.shape(variable.values), strict=True):
            if sizes.setdefault(dim, size) != size:
                raise ValueError(f"variable {name!r}: dimension {dim!r} has length {size}, elsewhere {sizes[dim]}")
    for dim in sizes:
        if dim in dataset.variables and tuple(dataset.variables[dim].dims) != (dim,):
            raise ValueError(f"variable {dim!r}: has the name of a dimension of other variables; choose another name")
    return sizes


_BARE = "This is a netCDF dimension but not a netCDF variable. %10d"


def _write_variables(
    file: Any, dataset: Dataset, sizes: Mapping[str, int], sheltered: _Sheltered, growing: Mapping[str, int]
) -> None:
    for dim, size in sizes.items():
        variable = dataset.variables.get(dim)
        if variable is not None and variable.dims == (dim,):
            _write_variable(file, dim, variable, growing)
            file[dim].make_scale(dim)
        else:
            most = {"maxshape": (None,), "chunks": (growing[dim],)} if dim in growing else {}
            file.create_dataset(dim, shape=(size,), dtype=">f4", **most)
            file[dim].make_scale(_BARE % size)
    for name, variable in dataset.variables.items():
        sheltered.raise_failure()
        if name not in sizes:
            _write_variable(file, name, variable, growing)
            for axis, dim in enumerate(variable.dims):
                file[name].dims[axis].attach_scale(file[dim])


def _write_variable(file: Any, name: str, variable: Variable, growing: Mapping[str, int]) -> None:
    import h5py

    values, grows = np.asarray(variable.values), any(dim in growing for dim in variable.dims)
    if values.dtype.kind in "US":
        file.create_dataset(name, data=values.astype(object), dtype=h5py.string_dtype())
    elif grows:
        file.create_dataset(
            name, data=values, compression="gzip", compression_opts=1, shuffle=True, fillvalue=fill_of(values),
            maxshape=tuple(None if d in growing else k for d, k in zip(variable.dims, values.shape, strict=True)),
            chunks=chunks_of(variable, growing),
        )  # fmt: skip
    else:
        file.create_dataset(
            name, data=values, compression="gzip" if values.size > 4096 else None, shuffle=values.size > 4096
        )
    for key, text in texts_of(variable).items():
        file[name].attrs[key] = text


def texts_of(variable: Variable) -> dict[str, str]:
    """What a file says of a variable."""
    return {key: text for key, text in (("units", variable.units), ("long_name", variable.description)) if text}


def fill_of(values: Any) -> Any:
    """What stands where nothing has come yet."""
    return np.nan if np.asarray(values).dtype.kind == "f" else 0


def chunks_of(variable: Variable, growing: Mapping[str, int]) -> tuple[int, ...]:
    """How much of a variable is stored together: so many places of a growing dimension, at most eight trajectories."""
    sizes = zip(variable.dims, np.shape(variable.values), strict=True)
    return tuple(growing.get(dim, max(1, min(size, WIDTH) if dim == "trajectory" else size)) for dim, size in sizes)


def dims_of(file: Any) -> dict[str, tuple[str, ...]]:
    """The dimensions of all variables of a file, by the places of these in it: for a name HDF5 searches all of it."""
    import h5py

    def place(item: Any) -> int:
        return int(h5py.h5o.get_info(item.id).addr)

    names = {place(item): name for name, item in file.items()}
    return {
        name: (name,) if item.is_scale else tuple(names[place(item.dims[k][0])] for k in range(item.ndim))
        for name, item in file.items()
    }


def is_bare_dimension(item: Any) -> bool:
    """Whether an item of a file is a dimension without numbers of its own."""
    name = item.attrs.get("NAME", b"")
    return bool(item.is_scale) and bytes(name).startswith(_BARE[:40].encode())


def read_variable(item: Any, dims: tuple[str, ...]) -> Variable:
    """A variable of a file."""
    import h5py

    values = item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]
    return Variable(dims, values, str(item.attrs.get("units", "")), str(item.attrs.get("long_name", "")))


@cache
def versions() -> dict[str, str]:
    """Versions of what computed a result: this package and its commit, Python, NumPy, SciPy, the compiler,
    processor.

    Returns
    -------
    dict of str to str
        What a data file carries as attributes.

    Examples
    --------
    >>> "numpy_version" in versions()
    True
    """
    found = {f"{name}_version": _version(name) for name in ("liemech", "numpy", "scipy", "numba")}
    return {**found, "python_version": platform.python_version(), "processor": _processor(), "commit": _commit()}


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _commit() -> str:
    """The commit of the source tree the package runs from, with ``-dirty`` for uncommitted changes; "unknown" where it
    is installed, also inside of a repository of somebody else.
    """
    here = Path(__file__)
    try:
        _git("ls-files", "--error-unmatch", here.name)
        return _git("describe", "--always", "--dirty", "--abbrev=12")
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def _git(*arguments: str) -> str:
    command, here = ["git", *arguments], Path(__file__).parent
    return subprocess.run(command, cwd=here, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
