"""Solutions as xarray datasets and pandas tables."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.results.storage import attributes_of, texts_of

if TYPE_CHECKING:
    from integrators.results.solution import Solution


def as_xarray(solution: Solution) -> Any:
    """See `Solution.to_xarray`."""
    xarray = _extra("xarray", "to_xarray")
    stored = solution._stored()
    variables = {name: (v.dims, v.values, texts_of(v)) for name, v in stored.variables.items()}
    return xarray.Dataset(variables, attrs=attributes_of(stored))


def as_pandas(solution: Solution) -> Any:
    """See `Solution.to_pandas`."""
    pandas = _extra("pandas", "to_pandas")
    columns, ensemble = dict(_columns(solution)), solution.y.ndim == 3
    t = np.broadcast_to(solution.t, solution.y.shape[:-1])
    if not ensemble:
        frame = pandas.DataFrame(columns, index=pandas.Index(t, name="t"))
    else:
        reached = ~np.isnan(solution.y).all(axis=-1)
        whose = np.broadcast_to(np.arange(len(t))[:, None], t.shape)
        index = pandas.MultiIndex.from_arrays([whose[reached], t[reached]], names=["trajectory", "t"])
        frame = pandas.DataFrame({name: values[reached] for name, values in columns.items()}, index=index)
    frame.attrs = attributes_of(solution._stored())
    return frame


def _columns(solution: Solution) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Every component of the state, ``part.label``, and every invariant."""
    for v in solution.variables:
        values = solution[v.name]
        for k, label in enumerate(v.labels):
            yield (f"{v.name}.{label}" if v.size > 1 else v.name), values[..., k]
    for name in solution.invariant_names:
        yield name, solution[name]


def _extra(package: str, wanted: str) -> Any:
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"Solution.{wanted} needs {package}, which is not installed: pip install 'liemech[xarray]'", name=package
        ) from error
