"""Statistics of samples along trajectories: moments, histograms, slopes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.statistics.drift import LEAST_SAMPLES, Drift, energy_drift
from integrators.statistics.statistic import Samples, Statistic, Sums, check_quantity, named
from liegroup.arrays import integer, reals

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Moments(Statistic):
    """Number, mean, variance and extremes of a quantity along every trajectory, and over all of them.

        mean = Σ xᵢ / n,   variance = Σ (xᵢ − mean)² / n

    Blocks are put together by n = n_a + n_b, mean = mean_a + δ n_b/n, M = M_a + M_b + δ² n_a n_b/n, where δ = mean_b −
    mean_a and M the sum of the squared deviations.

    Parameters
    ----------
    quantity : str or callable
        A watched number (an invariant) by name, a component of the state (``"p.z"``, as `Solution.to_pandas` names it),
        or a function f(t, y): jitted, of one state, or plain Python, of many: t (k,) and y (k, n), components last, to
        (k,) values.
    name : str
        Among the results; default ``quantity_moments``.
    windows : int
        The span is divided into so many windows of equal numbers of samples, each with moments of its own: over an
        ensemble, its mean and variance as functions of time.

    Raises
    ------
    ValueError, TypeError
        No quantity; no name for a function without one; a number of windows that is none.

    References
    ----------
    Chan, Golub, LeVeque 1983.

    Examples
    --------
    >>> from integrators import integrate
    >>> from integrators.statistics import Moments
    >>> from mechanics.systems import SYSTEMS
    >>> run = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0.0, 10.0), 0.01, statistics=[Moments("energy")])
    >>> found = run.statistics["energy_moments"]
    >>> int(found["count"]), bool(found["least"] <= found["mean"] <= found["greatest"])
    (1001, True)
    """

    KIND: ClassVar[str] = "moments"
    OPTIONS: ClassVar[tuple[str, ...]] = ("windows",)

    quantity: str | Callable[..., Any]
    name: str = ""
    windows: int = 1

    def __post_init__(self) -> None:
        check_quantity(self.quantity, self.name, self.KIND)
        integer(self.windows, "windows", 1)

    @property
    def label(self) -> str:
        return named(self.name, self.quantity, self.KIND)

    @property
    def _quantities(self) -> tuple[Any, ...]:
        return (self.quantity,)

    def _start(self, samples: Samples) -> Sums:
        edges = self._edges(samples)
        middle = 0.5 * (edges[:-1] + edges[1:] - 1)
        whole = np.zeros(self.windows)
        return {
            "time": samples.t0 + samples.dt * middle,
            "room": np.diff(edges),
            "count": np.zeros(self.windows, dtype=np.int64),
            "mean": whole.copy(),
            "squares": whole.copy(),
            "least": whole + np.inf,
            "greatest": whole - np.inf,
        }

    def _edges(self, samples: Samples) -> NDArray[np.int64]:
        """Where windows begin and end, in numbers of samples, as `numpy.array_split` divides them."""
        size, more = divmod(samples.count, self.windows)
        return np.concatenate([[0], np.cumsum(size + (np.arange(self.windows) < more))]).astype(np.int64)

    def _fold(self, sums: Sums, samples: Samples, first: int, values: Array) -> None:
        edges = self._edges(samples)
        for window, part in _pieces(edges, first, values):
            with np.errstate(all="ignore"):  # numbers of a trajectory about to fail
                mean = float(part.mean())
                piece = {
                    "count": np.int64(len(part)), "mean": mean, "squares": float(np.square(part - mean).sum()),
                    "least": part.min(), "greatest": part.max(),
                }  # fmt: skip
                merged = _merged({name: sums[name][window] for name in piece}, piece)
            for name, value in merged.items():
                sums[name][window] = value

    def _pooled(self, sums: Sums) -> Sums:
        names = ("count", "mean", "squares", "least", "greatest")
        whole = {name: sums[name][0] for name in names}
        for k in range(1, len(sums["count"])):
            whole = _merged(whole, {name: sums[name][k] for name in names})
        kept = {"time": sums["time"][0], "room": sums["room"].sum(axis=0)}
        return {name: np.asarray(value)[None] for name, value in (kept | whole).items()}

    def _results(self, sums: Sums) -> Sums:
        count = sums["count"]
        empty, n = count == 0, np.maximum(count, 1)
        found = {
            "count": count,
            "mean": np.where(empty, np.nan, sums["mean"]),
            "variance": np.where(empty, np.nan, sums["squares"] / n),
            "least": np.where(empty, np.nan, sums["least"]),
            "greatest": np.where(empty, np.nan, sums["greatest"]),
        }
        if self.windows == 1:
            return {name: table[..., 0] for name, table in found.items()}
        return found | {"time": sums["time"]}

    def _dims(self, name: str) -> tuple[str, ...]:
        return (f"{self.label}_window",)


def _pieces(edges: NDArray[np.int64], first: int, values: Array) -> Iterator[tuple[int, Array]]:
    """The windows that a block of samples reaches into, each with its part of the block."""
    window = int(np.searchsorted(edges, first, side="right")) - 1
    start, end = first, first + len(values)
    while start < end:
        stop = min(end, int(edges[window + 1]))
        if stop > start:
            yield window, values[start - first : stop - first]
        start, window = stop, window + 1


def _merged(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """The moments of two sets of samples together, for numbers and for arrays."""
    n = a["count"] + b["count"]
    part, change = b["count"] / np.maximum(n, 1), b["mean"] - a["mean"]
    return {
        "count": n,
        "mean": np.where(a["count"] == 0, b["mean"], a["mean"] + change * part),
        "squares": a["squares"] + b["squares"] + np.square(change) * (a["count"] * part),
        "least": np.minimum(a["least"], b["least"]),
        "greatest": np.maximum(a["greatest"], b["greatest"]),
    }


@dataclass(frozen=True)
class Slope(Moments):
    """How fast a quantity drifts, with the standard deviation of that: `integrators.analysis.energy_drift` of the means
    of 64 windows.

    Parameters
    ----------
    quantity : str or callable
        As of `Moments`.
    name : str
        Among the results; default ``quantity_slope``.
    windows : int
        Blocks of samples, at least 8.

    Raises
    ------
    ValueError, TypeError
        What `Moments` says; fewer than eight windows.

    Notes
    -----
    Results are ``slope``, ``sigma``, ``mean`` and ``band`` per trajectory, and those of `Moments` window by window.
    Over all trajectories: the slope of the mean over the ensemble.  Windows that a trajectory did not fill are left
    out; with fewer than eight the slope is NaN.

    Examples
    --------
    >>> from integrators import integrate
    >>> from integrators.statistics import Slope
    >>> from mechanics.systems import SYSTEMS
    >>> run = integrate(SYSTEMS["pendulum"], "RKMK4", (0.0, 200.0), 0.1, statistics=[Slope("energy")])
    >>> found = run.statistics["energy_slope"]
    >>> bool(found["slope"] < -5 * found["sigma"])
    True
    """

    KIND: ClassVar[str] = "slope"

    windows: int = 64

    def __post_init__(self) -> None:
        super().__post_init__()
        integer(self.windows, "windows", LEAST_SAMPLES)

    def _results(self, sums: Sums) -> Sums:
        drifts = [_drift(*row) for row in zip(*(sums[k] for k in _OF_SLOPE), strict=True)]
        columns = {
            name: np.array([getattr(drift, name) for drift in drifts]) for name in ("slope", "sigma", "mean", "band")
        }
        windows = {f"window_{name}": table for name, table in super()._results(sums).items()}
        return columns | windows

    def _dims(self, name: str) -> tuple[str, ...]:
        return () if name in ("slope", "sigma", "mean", "band") else super()._dims(name)


_OF_SLOPE = ("time", "room", "count", "mean", "least", "greatest")


def _drift(time: Array, room: Array, count: Array, means: Array, least: Array, greatest: Array) -> Drift:
    """The drift of window means, those that are full (of fewer samples than windows some have no room)."""
    full = (count == room) & (room > 0)
    if full.sum() < LEAST_SAMPLES or not np.isfinite(means[full]).all():
        none = np.zeros(0)
        return Drift(np.nan, np.nan, np.nan, np.nan, np.nan, none, none)
    found = energy_drift(time[full], means[full], int(full.sum()))
    whole, band = float(count[full] @ means[full] / count[full].sum()), float(greatest[full].max() - least[full].min())
    return replace(found, mean=whole, band=band)


@dataclass(frozen=True)
class Histogram(Statistic):
    """How often a quantity lies between given edges, along every trajectory, and over all of them.

    Parameters
    ----------
    quantity : str or callable
        As of `Moments`.
    edges : array (bins + 1,)
        Where bins end, growing, in the unit of the quantity: as of `numpy.histogram`, the last bin with its upper edge.
    name : str
        Among the results; default ``quantity_histogram``.

    Raises
    ------
    ValueError, TypeError
        No quantity; edges that do not grow.

    Notes
    -----
    Results are ``counts``, those ``below`` the first and ``above`` the last edge, and ``edges``.  Samples that are not
    numbers (NaN) are in none of them: their sum is then less than the number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from integrators import integrate
    >>> from integrators.statistics import Histogram
    >>> from mechanics.systems import SYSTEMS
    >>> angles = Histogram("angle", np.linspace(-3.2, 3.2, 9))
    >>> run = integrate(SYSTEMS["pendulum"], "MIDPOINT", (0.0, 10.0), 0.01, statistics=[angles])
    >>> int(run.statistics["angle_histogram"]["counts"].sum())
    1001
    """

    KIND: ClassVar[str] = "histogram"
    OPTIONS: ClassVar[tuple[str, ...]] = ("edges",)
    DIMS: ClassVar[Mapping[str, tuple[str, ...]]] = {"counts": ("bin",), "edges": ("edge",)}

    quantity: str | Callable[..., Any]
    edges: ArrayLike = ()
    name: str = ""

    def __post_init__(self) -> None:
        check_quantity(self.quantity, self.name, self.KIND)
        edges = reals(self.edges, "edges", "growing numbers")
        if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all() or not np.isfinite(edges).all():
            raise ValueError(f"edges: {self.edges!r}, expected two or more finite numbers that grow")
        object.__setattr__(self, "edges", tuple(edges.tolist()))

    @property
    def label(self) -> str:
        return named(self.name, self.quantity, self.KIND)

    @property
    def _quantities(self) -> tuple[Any, ...]:
        return (self.quantity,)

    def _start(self, samples: Samples) -> Sums:
        none = np.zeros((), dtype=np.int64)
        return {
            "counts": np.zeros(len(np.asarray(self.edges)) - 1, dtype=np.int64),
            "below": none.copy(),
            "above": none.copy(),
        }

    def _fold(self, sums: Sums, samples: Samples, first: int, values: Array) -> None:
        edges = np.asarray(self.edges)
        sums["counts"] += np.histogram(values, edges)[0]
        sums["below"] += np.count_nonzero(values < edges[0])
        sums["above"] += np.count_nonzero(values > edges[-1])

    def _pooled(self, sums: Sums) -> Sums:
        return {name: table.sum(axis=0)[None] for name, table in sums.items()}

    def _results(self, sums: Sums) -> Sums:
        return sums | {
            "edges": np.broadcast_to(np.asarray(self.edges), (len(sums["below"]), len(np.asarray(self.edges))))
        }
