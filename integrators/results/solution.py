"""The result of a run: states and invariants by name, how it went, and its data file."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem import Doubt, Variable
from integrators.problem.guards import doubtful
from integrators.problem.joints import written_for
from integrators.results import storage
from integrators.results.in_use import InUse
from integrators.results.stored import Stored, joined, stacked, stamp_of
from integrators.results.streams import ZarrStream, reading
from integrators.statistics import Statistics
from integrators.statistics.gathered import restored
from integrators.status import EXPLANATIONS, REACHED, Status
from liegroup.arrays import of_kind, path_of, shown

if TYPE_CHECKING:
    from integrators.scenes import Film

Array = NDArray[np.float64]

CONVENTIONS = (
    "body (left) trivialisation; twists, wrenches and momenta linear first, in body axes; "
    "quaternions qw qx qy qz; SI units, radians"
)
_KIND = "solution"
_ROUNDING = 1e-13
_OTHER_KINDS = {".csv", ".json", ".mat", ".npy", ".npz", ".parquet", ".pickle", ".pkl", ".tsv", ".txt", ".xlsx"}
"""Endings that say another kind of file than HDF5."""


@dataclass(frozen=True, eq=False)
class Solution:
    """What a run computed.

    Attributes
    ----------
    t : array (k,), or (m, k) for an ensemble with variable steps and without `t_eval`
        Times of the saved states; without `t_eval` the first is the start.
    y : array (k, n), or (m, k, n) for an ensemble of m trajectories
        Saved states.  Rows that a trajectory of an ensemble did not reach are NaN.
    invariants : array (k, r) or (m, k, r)
        Values of the invariants at the saved states.
    least, greatest, mean_since : array like `invariants`
        Smallest, largest and mean value over **every step** since the previous saved state, this one included; of steps
        behind the last of the times in `t_eval` they say nothing.
    stretch : array (k,), or (m, k) for an ensemble with variable steps
        Number of values in these statistics: steps since the previous saved state (1 for the start).
    variables, invariant_names, invariant_units
        As in the problem.
    model, method : str
        Names of the problem and of the method.
    status : Status, or tuple of Status for an ensemble
        How the run ended.
    message : str
        The status in words, with time and step where a run did not reach the end.
    step : float
        Step size; 0 where the method chose its own.
    steps, evaluations, iterations, rejected : int
        Accepted steps, evaluations of the field, iterations of implicit solvers, rejected steps; of one trajectory, of
        one pack of lanes for ensembles summed over the packs.
    seconds : float
        Wall time of the integration, without compilation: neither that before the first step nor that of what a run
        needs late (Newton's method where iteration ends).  Nor the looks that `doubts` come from, after the end.
    attributes : dict
        Texts and numbers that go into the data file: versions, the processor, how a method divided its steps.
    events : dict, or tuple of dicts for an ensemble
        Name → (times, states) of the zeros that were found.
    doubts : tuple of Doubt
        Limits of the problem's guards, or of what the method presupposes, that the run has passed; empty where nothing
        is doubtful.
    failures : dict
        Of an ensemble: number → why this trajectory did not reach the end, in words, with time and step.
    scene : Scene or callable ``(t, y) → Scene``, or None
        How the motion is drawn, from the problem; data files do not keep it.
    joints : JointStates or None
        Whose joints moved, from the problem, for `joint_states`; data files do not keep it.
    statistics : Statistics or None
        What was gathered on the way, by name.

    Examples
    --------
    >>> import os, tempfile
    >>> from integrators import Problem, Solution, integrate
    >>> from liegroup import rn
    >>> energy = {"energy": lambda t, y: 0.5 * (y[0] ** 2 + y[1] ** 2)}
    >>> oscillator = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]], invariants=energy)
    >>> solution = integrate(oscillator, "RKMK4", (0.0, 1.0), 0.1)
    >>> solution.success, solution["q"].shape, solution["energy"].shape
    (True, (11, 2), (11,))
    >>> bool(solution.error("energy") < 1e-6)
    True
    >>> bool(solution.minimum("energy") <= solution.mean("energy") <= solution.maximum("energy"))
    True
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = Solution.load(solution.save(os.path.join(folder, "run.h5")))
    >>> bool((again.y == solution.y).all())
    True
    """

    t: Array
    y: Array
    invariants: Array
    least: Array
    greatest: Array
    mean_since: Array
    stretch: NDArray[np.int64]
    variables: tuple[Variable, ...]
    invariant_names: tuple[str, ...]
    invariant_units: tuple[str, ...]
    model: str
    method: str
    step: float
    status: Status | tuple[Status, ...]
    message: str
    steps: int = 0
    evaluations: int = 0
    iterations: int = 0
    rejected: int = 0
    seconds: float = 0.0
    attributes: dict[str, str | int | float] = field(default_factory=dict)
    events: Any = field(default_factory=dict)
    doubts: tuple[Doubt, ...] = ()
    failures: Mapping[int, str] = field(default_factory=dict)
    scene: Any = field(default=None, repr=False)
    joints: Any = field(default=None, repr=False)
    statistics: Statistics | None = None

    def __repr__(self) -> str:
        of = "" if isinstance(self.status, Status) else f", {len(self.status)} trajectories"
        return f"<Solution of {self.model!r} by {self.method}{of}: {self.t.shape[-1]} saved states; {self.message}>"

    def _repr_html_(self) -> str:
        from integrators.results.picture import as_card

        return as_card(self)

    @property
    def success(self) -> bool:
        """Whether every trajectory came to its end (or to a terminal event) and nothing is doubtful."""
        return self.finished and not self.doubts

    @property
    def finished(self) -> bool:
        """Whether every trajectory came to its end (or to a terminal event), doubtful or not."""
        return all(s in REACHED for s in ((self.status,) if isinstance(self.status, Status) else self.status))

    @property
    def levels(self) -> tuple[int, ...]:
        """Of a method that divides its steps (`GAUSS8`): how many substeps had the step divided by 1, 2, 4, …; else
        empty.
        """
        return tuple(json.loads(str(self.attributes.get("levels", "[]"))))

    @property
    def recommended_step(self) -> float:
        """The largest step that would not have been divided for the tolerance; NaN for methods without an estimate."""
        return self._number("recommended_step")

    @property
    def smallest_substep(self) -> float:
        """Size of the smallest substep, first taken at the attribute `smallest_at`."""
        return self._number("smallest_substep")

    @property
    def largest_estimate(self) -> float:
        """Largest estimate of the error of a substep: energy for canonical problems, else relative and squared."""
        return self._number("largest_estimate")

    @property
    def estimate_sum(self) -> float:
        """Sum of the estimates of all substeps, which bounds the change of the energy in most runs."""
        return self._number("estimate_sum")

    @property
    def sweeps(self) -> float:
        """Evaluations of all stages per substep, in the mean."""
        return self._number("sweeps")

    def _number(self, name: str) -> float:
        return float(self.attributes.get(name, np.nan))

    def __getitem__(self, name: str) -> Array:
        """A part of the state ``(…, k, size)`` or an invariant ``(…, k)`` by name."""
        if not isinstance(name, str):
            raise TypeError(f"name: {shown(name)}, expected the name of a part of the state or of an invariant")
        if name in self.invariant_names:
            return self.invariants[..., self.invariant_names.index(name)]
        start = 0
        for v in self.variables:
            if v.name == name:
                return self.y[..., start : start + v.size]
            start += v.size
        known = [v.name for v in self.variables] + list(self.invariant_names)
        raise KeyError(f"name {name!r}: expected one of {known}")

    def __contains__(self, name: object) -> bool:
        """Whether there is a part of the state or an invariant of that name."""
        return name in self.invariant_names or any(name == v.name for v in self.variables)

    __iter__ = None
    """Nothing is iterated over: times are `t`, states `y`."""

    def trajectory(self, k: int) -> Solution:
        """One trajectory of an ensemble, up to the last state it saved; counts and seconds stay those of all.

        Where an event ended it between two of them, its state is in `events`; with variable steps it is the last.

        Parameters
        ----------
        k : int
            Its number, from 0.

        Returns
        -------
        Solution
            Of this trajectory alone.

        Raises
        ------
        ValueError
            The solution is that of a single trajectory.
        IndexError
            No such trajectory.
        """
        if isinstance(self.status, Status):
            raise ValueError(f"trajectory({k}): this is the solution of a single trajectory")
        of_kind(k, (int, np.integer), "k", "the number of a trajectory")
        if not 0 <= k < len(self.y):
            raise IndexError(f"trajectory({k}): expected a number from 0 to {len(self.y) - 1}")
        reached = ~np.isnan(self.y[k]).all(axis=-1)
        t, stretch = (x if x.ndim == 1 else x[k] for x in (self.t, self.stretch))
        rows = {
            name: getattr(self, name)[k][reached] for name in ("y", "invariants", "least", "greatest", "mean_since")
        }
        doubts = tuple(replace(doubt, trajectory=0) for doubt in self.doubts if doubt.trajectory == k)
        return replace(
            self, t=t[reached], stretch=stretch[reached], **rows, status=self.status[k],
            message=self.failures.get(k, EXPLANATIONS[self.status[k]]) + doubtful(doubts), events=self.events[k],
            doubts=doubts, failures={},
            statistics=None if self.statistics is None else self.statistics.trajectory(k),
        )  # fmt: skip

    def minimum(self, name: str) -> Any:
        """Smallest value of an invariant over every step of the run.

        Parameters
        ----------
        name : str
            Of the invariant.

        Returns
        -------
        float, or array (m,) for an ensemble
            In the unit of the invariant.
        """
        return np.nanmin(self.least[..., self._invariant(name)], axis=-1)

    def maximum(self, name: str) -> Any:
        """Largest value of an invariant over every step of the run.

        Parameters
        ----------
        name : str
            Of the invariant.

        Returns
        -------
        float, or array (m,) for an ensemble
            In the unit of the invariant.
        """
        return np.nanmax(self.greatest[..., self._invariant(name)], axis=-1)

    def mean(self, name: str) -> Any:
        """Mean of an invariant over every step of the run, up to the last saved state.

        Parameters
        ----------
        name : str
            Of the invariant.

        Returns
        -------
        float, or array (m,) for an ensemble
            In the unit of the invariant.
        """
        values = self.mean_since[..., self._invariant(name)]
        weights = np.where(np.isnan(values), 0, self.stretch)
        return np.sum(np.where(weights == 0, 0.0, values) * weights, axis=-1) / np.sum(weights, axis=-1)

    def error(self, name: str, relative: bool | None = None) -> Any:
        """Largest deviation of an invariant from its initial value over every step, up to the last saved state.

        The initial value is that of the first saved state, with `t_eval` that at the first of these times.  By default
        relative to that value where it is a scale, more than rounding (1e-13 times the largest component of the first
        state); absolute where it is not, as that of a gap, which begins at 1e-16.  True, False: always the one or the
        other.

        Parameters
        ----------
        name : str
            Of the invariant.
        relative : bool, optional
            Relative to the initial value or not; default: where that value is a scale.

        Returns
        -------
        float, or array (m,) for an ensemble
            Not negative.
        """
        of_kind(relative, (bool, np.bool_, type(None)), "relative", "True, False or None")
        first = self.invariants[..., 0, self._invariant(name)]
        deviation = np.maximum(self.maximum(name) - first, first - self.minimum(name))
        if relative is None:
            is_scale = np.abs(first) > _ROUNDING * np.abs(self.y[..., 0, :]).max(axis=-1)
            return deviation / np.where(is_scale, np.abs(first), 1.0)
        return deviation / np.abs(first) if relative else deviation

    def _invariant(self, name: str) -> int:
        if not isinstance(name, str) or name not in self.invariant_names:
            raise KeyError(f"name {shown(name)}: expected one of the invariants {list(self.invariant_names)}")
        if not self.t.shape[-1]:
            raise ValueError(f"{name}: no state was saved, the run ended before the first of the given times (t_eval)")
        return self.invariant_names.index(name)

    # --- to look at -----------------------------------------------------------------------------------------------

    def film(self, frames: int = 1000, scene: Any = None, span: Sequence[float] | None = None) -> Film:
        """The motion as bodies with shapes, and their poses, paths and watched numbers frame by frame.

        Parameters
        ----------
        frames : int
            At most so many of the saved states, those nearest to evenly spaced times; nothing is interpolated.
        scene : Scene or callable ``(t, y) → Scene``, optional
            In the place of that of the problem.
        span : (first, last), optional
            Only saved states between these times.

        Returns
        -------
        Film
            What pages, videos, files and viewers are made of (`integrators.scenes`, `integrators.adapters.viewers`).

        Raises
        ------
        ValueError
            An ensemble, no saved states, or a problem without a scene: with what to do.
        """
        if not isinstance(self.status, Status):
            raise ValueError(
                f"film: {len(self.status)} trajectories; take one, solution.trajectory(k), or show some side by side: "
                "integrators.scenes.animate([solution.trajectory(k) for k in (0, 1)], path)"
            )
        drawn = self.scene if scene is None else scene
        if drawn is None:
            raise ValueError(
                f"film: the problem {self.model!r} has no scene (or the solution is from a file, which keeps none); "
                "pass scene=; for points that are functions of the state: integrators.scenes.points(lambda y: [[…]])"
            )
        from integrators.scenes import Watched, record

        watched = Watched(self.invariant_names, self.invariant_units, self.invariants, self.least, self.greatest)
        step = f", step {self.step:.3g} s" if self.step else ""
        how = f"{self.method}{step}, {self.steps} steps"
        warning = "" if self.success else self.message
        return record(
            drawn, self.t, self.y, watched, frames=frames, span=span, title=self.model, subtitle=how, warning=warning
        )

    def animate(self, path: str | os.PathLike[str] | None = None, **options: Any) -> Any:
        """The motion to look at: a page of HTML that needs nothing else, a video, or a file for Blender.

        Parameters
        ----------
        path : path, optional
            Ends in ``.html``, ``.mp4``, ``.gif`` or ``.glb``.  Default: the page, for a notebook.
        **options
            ``scene``, ``frames``, ``span``, ``title``, as for `integrators.scenes.animate`, which shows several
            solutions side by side.

        Returns
        -------
        Path or Page

        Raises
        ------
        ValueError
            An unknown ending, or what `film` says.
        OSError
            The file cannot be written.

        Examples
        --------
        >>> from integrators import integrate
        >>> from mechanics.systems import SYSTEMS
        >>> solution = integrate(SYSTEMS["rolling-disk"], (0.0, 5.0), step=0.01, progress=False)
        >>> solution.animate("disk.html")  # doctest: +SKIP
        PosixPath('disk.html')
        """
        from integrators.scenes import animate

        return animate(self, path, **options)

    # --- joints, here and in other projects ---------------------------------------------------------------------------

    def joint_states(self) -> tuple[Array, Array]:
        """Configurations and velocities of the joints at the saved times.

        Returns
        -------
        q : array (k, nq), or (m, k, nq) for an ensemble
            rad and m.
        v : array (k, nv), or (m, k, nv)
            rad/s and m/s, from momenta where the states have these.

        Raises
        ------
        ValueError
            The problem has no joints, or the solution is from a file.

        Examples
        --------
        >>> import mechanics
        >>> from integrators import integrate
        >>> tree = mechanics.load_model("double_pendulum")
        >>> solution = integrate(tree.problem([0.5, 0.2]), "TREE_VARIATIONAL", (0.0, 0.1), step=0.01)
        >>> q, v = solution.joint_states()
        >>> q.shape, v.shape
        ((11, 2), (11, 2))
        """
        if self.joints is None:
            raise ValueError(
                f"joint_states: the model {self.model!r} has no joints (or the solution is from a file, which keeps "
                "none); pose it with a tree or a mechanism"
            )
        q, v = self.joints(self.t, self.y)
        return q, v

    def as_mujoco(self, model: Any) -> tuple[Array, Array]:
        """(qpos, qvel) of a MuJoCo model with the same joints at the saved times, for its viewer and its sensors.

        Parameters
        ----------
        model : mujoco.MjModel
            Whose joints have the same names (`mechanics.state_map`).

        Returns
        -------
        qpos : array (k, model.nq), or (m, k, model.nq) for an ensemble
            From its own zero, quaternions (w, x, y, z), rad and m.
        qvel : array (k, model.nv), or (m, k, model.nv)
            The linear velocity of free joints in world axes, rad/s and m/s.

        Raises
        ------
        TypeError
            No model.
        ValueError
            The problem has no joints; joints that only one side has, with their names (ModelError).
        """
        return self._written("MuJoCo", model)

    def as_pinocchio(self, model: Any) -> tuple[Array, Array]:
        """(q, v) of a Pinocchio model with the same joints at the saved times.

        Parameters
        ----------
        model : pinocchio.Model
            Whose joints have the same names (`mechanics.state_map`).

        Returns
        -------
        q : array (k, model.nq), or (m, k, model.nq) for an ensemble
            Quaternions (x, y, z, w), unbounded angles (cos, sin), rad and m.
        v : array (k, model.nv), or (m, k, model.nv)
            rad/s and m/s.

        Raises
        ------
        TypeError
            No model.
        ValueError
            The problem has no joints; joints that only one side has, with their names (ModelError).
        """
        return self._written("Pinocchio", model)

    def _written(self, project: str, model: Any) -> tuple[Array, Array]:
        q, v = self.joint_states()
        return written_for(self.joints.problem.joints, project, model, q, v)

    # --- tables and pictures ------------------------------------------------------------------------------------------

    def to_xarray(self) -> Any:
        """The solution as an ``xarray.Dataset``: what ``xarray.open_dataset`` shows of the file that `save` writes.

        Variables are the parts of the state ``(t, component)``, for ensembles ``(trajectory, t, component)`` (with
        variable steps ``(trajectory, sample, component)``), and every invariant with its ``_least``, ``_greatest`` and
        ``_mean``; units and descriptions are attributes of the variables, the numbers of the run those of the dataset.

        Raises
        ------
        ModuleNotFoundError
            The extra ``xarray`` is not installed.

        Examples
        --------
        >>> import liemech
        >>> solution = liemech.integrate(liemech.SYSTEMS["heavy-top"], "MIDPOINT", (0.0, 0.1), step=1e-2)
        >>> solution.to_xarray()["energy"].attrs["units"]
        'J'
        """
        from integrators.results.tables import as_xarray

        return as_xarray(self)

    def to_pandas(self) -> Any:
        """The saved states and invariants as a ``pandas.DataFrame``: one row per saved time, one column per component
        of the state (``part.label``) and per invariant; the index is t, for ensembles (trajectory, t).

        Rows that a trajectory of an ensemble did not reach are left out.

        Raises
        ------
        ModuleNotFoundError
            The extra ``xarray`` is not installed.

        Examples
        --------
        >>> import liemech
        >>> solution = liemech.integrate(liemech.SYSTEMS["heavy-top"], "MIDPOINT", (0.0, 0.1), step=1e-2)
        >>> solution.to_pandas().shape
        (11, 9)
        """
        from integrators.results.tables import as_pandas

        return as_pandas(self)

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draw parts of the state, and how far invariants go from their start, against the time.

        Parameters
        ----------
        *names : str
            Parts of the state and invariants, one panel each; default all.  The band of an invariant reaches from its
            least to its greatest value over every step since the saved state before.
        axes : matplotlib axes, optional
            As many as there are names; default those of a new figure.

        Returns
        -------
        array of matplotlib axes

        Raises
        ------
        KeyError
            No part of the state and no invariant has such a name.
        ValueError
            Not as many axes as names.

        Examples
        --------
        >>> import liemech
        >>> solution = liemech.integrate(liemech.SYSTEMS["heavy-top"], "MIDPOINT", (0.0, 0.1), step=1e-2)
        >>> [ax.get_title(loc="left") for ax in solution.plot("energy", "momentum")]
        ['energy', 'momentum']
        """
        from integrators.results.picture import plot

        for name in names:
            self[name]
        return plot(self, names, axes)

    # --- data files -----------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the solution to HDF5, atomically; ``xarray.open_dataset(path, engine="h5netcdf")`` shows it by name.

        Links are followed; StorageError if something else than a regular file is there.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced once the new one is complete.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        StorageError
            Something else than a regular file is there, or a file into which a run streams now.
        ValueError
            A name that says another kind of file (.zarr, which `load` takes for a folder; .csv, .npz, .json, ...).
        OSError
            The disk is full, or the folder cannot be written.
        """
        suffix = Path(path_of(path, "path")).suffix
        if suffix in ZarrStream.SUFFIXES:
            raise ValueError(
                f"path: {str(path)!r}, expected the name of an HDF5 file (integrate(…, into=…) writes Zarr)"
            )
        if suffix.lower() in _OTHER_KINDS:
            raise ValueError(
                f"path: {str(path)!r}, expected the name of an HDF5 file, as {Path(path).stem}.h5: that is what is "
                "written (`to_pandas` and `to_xarray` lead to other kinds)"
            )
        in_use = InUse(path, begins=False)
        try:
            return storage.write(path, self._stored())
        finally:
            in_use.give_back()

    @classmethod
    def load(cls, path: str | os.PathLike[str], lazy: bool = False) -> Solution:
        """Read a solution that `save` or ``integrate(…, into=path)`` wrote; StorageError says what is wrong with
        another or a damaged file, and where.

        Parameters
        ----------
        path : path
            The file, or a folder of Zarr.
        lazy : bool
            Leave times, states and invariants in the file: they are read where they are asked for, by index.  Shows
            runs in progress as far as they have come, and those that were killed; does not check digests.

        Returns
        -------
        Solution
            The same numbers, bit by bit.

        Raises
        ------
        StorageError
            Another or a damaged file: what is wrong with it, and where.
        """
        of_kind(lazy, (bool, np.bool_), "lazy", "True or False")
        if lazy or Path(path_of(path, "path")).suffix in ZarrStream.SUFFIXES:
            dataset = _lazily(path)
            return _solution_of(path, dataset) if lazy else _solution_of(path, dataset).in_memory()
        return _solution_of(path, storage.read(path))

    def in_memory(self) -> Solution:
        """The same solution with all its arrays in memory.

        Returns
        -------
        Solution
            Equal to this one; of one that was read as a whole, itself.
        """
        tables = {name: getattr(self, name) for name in _TABLES}
        stored: dict[str, Any] = {name: np.asarray(x) for name, x in tables.items() if isinstance(x, Stored)}
        return replace(self, **stored) if stored else self

    def _stored_variables(self) -> dict[str, storage.Variable]:
        ensemble = () if self.y.ndim == 2 else ("trajectory",)
        # with variable steps, the times of an ensemble are no common coordinate
        times = ("t",) if self.t.ndim == 1 else ("trajectory", "sample")
        rows = (*ensemble, times[-1])
        counted = times if self.stretch.ndim == 1 else rows
        found = {"t": storage.Variable(times, self.t, "s", "time")}
        for v in self.variables:
            component = f"{v.name}_component"
            found[component] = storage.Variable((component,), np.array(v.labels), description=f"components of {v.name}")
            found[v.name] = storage.Variable((*rows, component), self[v.name], v.units, v.description)
        for k, (name, units) in enumerate(zip(self.invariant_names, self.invariant_units, strict=True)):
            for suffix, values, text in self._invariant_tables():
                found[name + suffix] = storage.Variable(rows, values[..., k], units, name + text)
        found["stretch"] = storage.Variable(
            counted, self.stretch, "1", "values in the statistics since the previous saved state"
        )
        if ensemble:
            assert not isinstance(self.status, Status)
            found["trajectory"] = storage.Variable(ensemble, np.arange(len(self.y)))
            found["status"] = storage.Variable(
                ensemble, np.array([s.name for s in self.status]), description="how each trajectory ended"
            )
        return found | self._stored_events() | self._stored_statistics()

    def _stored_statistics(self) -> dict[str, storage.Variable]:
        """The sums of statistics; what is read of them are results again."""
        if self.statistics is None:
            return {}
        return {name: storage.Variable(dims, table) for name, dims, table in self.statistics.stored()}

    def _stored_events(self) -> dict[str, storage.Variable]:
        """Zeros of events, those of all trajectories in one list."""
        each = [self.events] if isinstance(self.events, dict) else list(self.events)
        found = {}
        for name in each[0] if each else ():
            times, states, trajectories, component, occurrence = names_of_event(name)
            t, y = (np.concatenate([events[name][k] for events in each]) for k in (0, 1))
            whose = np.repeat(np.arange(len(each)), [len(events[name][0]) for events in each])
            labels = np.array([f"{v.name} {label}" for v in self.variables for label in v.labels])
            found[times] = storage.Variable((occurrence,), t, "s", f"times of the event {name}")
            found[component] = storage.Variable((component,), labels, description="components of the state")
            found[states] = storage.Variable((occurrence, component), y, "", f"states at the event {name}")
            found[trajectories] = storage.Variable((occurrence,), whose, "1", "trajectory of each occurrence")
        return found

    def _invariant_tables(self) -> Sequence[tuple[str, Array, str]]:
        since = "over every step since the previous saved state"
        return (
            ("", self.invariants, ""),
            ("_least", self.least, f", smallest value {since}"),
            ("_greatest", self.greatest, f", largest value {since}"),
            ("_mean", self.mean_since, f", mean {since}"),
        )

    def _stored(self) -> storage.Dataset:
        return storage.Dataset(self._stored_variables(), self._stored_attributes())

    def _stored_attributes(self) -> dict[str, str | int | float]:
        status = self.status.name if isinstance(self.status, Status) else "per trajectory"
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        events = self.events if isinstance(self.events, dict) else (*self.events, {})[0]
        lists = {"state": [v.name for v in self.variables], "invariants": self.invariant_names, "events": events}
        names = {key: ",".join(names) for key, names in lists.items()}
        known = {"content": _KIND, "model": self.model, "method": self.method, "conventions": CONVENTIONS}
        doubts = json.dumps([asdict(doubt) for doubt in self.doubts])
        ends = {"status": status, "message": self.message, "doubts": doubts}
        if self.y.ndim == 3:
            ends["failures"] = json.dumps(dict(self.failures))
        gathered = {} if self.statistics is None else {"statistics": self.statistics.in_words()}
        return {**self.attributes, **known, **names, **numbers, **ends, **gathered}


def names_of_event(name: str) -> tuple[str, ...]:
    """What data files call the times, states and trajectories of an event, the components and the occurrences."""
    return tuple(f"{name}_{of}" for of in ("t", "state", "trajectory", "state_component", "occurrence"))


_NUMBERS = ("step", "steps", "evaluations", "iterations", "rejected", "seconds")


_TABLES = ("t", "y", "invariants", "least", "greatest", "mean_since", "stretch")


def _lazily(path: str | os.PathLike[str]) -> storage.Dataset:
    """The content of a stream; what has a row for every saved state stays in the file."""
    with reading(path) as stream:
        if "stretch" not in stream.dims:
            raise storage.StorageError(f"{path}: not the content of a {_KIND} ('stretch' is missing)")
        rows, stamp = stream.dims["stretch"][-1], stamp_of(stream)

        def variable(name: str) -> storage.Variable:
            item, dims = stream.item(name), stream.dims[name]
            if rows not in dims:
                return stream.variable(name)
            texts = (str(item.attrs.get(key, "")) for key in ("units", "long_name"))
            table = Stored(str(path), (name,), None, tuple(item.shape), item.dtype, stamp)
            return storage.Variable(dims, table, *texts)

        attributes = {key: text for key, text in stream.attributes.items() if key != "format"}
        return storage.Dataset({name: variable(name) for name in stream.variables}, attributes)


def _solution_of(path: str | os.PathLike[str], dataset: storage.Dataset) -> Solution:
    if dataset.attributes.get("content") != _KIND:
        raise storage.StorageError(f"{path}: contains {dataset.attributes.get('content')!r}, expected a {_KIND}")
    try:
        return _from_dataset(dataset)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise storage.StorageError(f"{path}: not the content of a {_KIND} ({error!r})") from error


def _from_dataset(dataset: storage.Dataset) -> Solution:
    stored, attributes = dataset.variables, dict(dataset.attributes)
    names = [name for name in str(attributes.pop("state")).split(",") if name]
    invariants = [name for name in str(attributes.pop("invariants")).split(",") if name]

    def columns(suffix: str) -> Array:
        shape = np.shape(stored[names[0]].values)[:-1]
        table: Array = stacked([stored[name + suffix].values for name in invariants], shape)
        return table

    doubts = tuple(Doubt(**doubt) for doubt in json.loads(str(attributes.pop("doubts", "[]"))))
    failures = {int(k): str(said) for k, said in json.loads(str(attributes.pop("failures", "{}"))).items()}
    status, events = attributes.pop("status"), [name for name in str(attributes.pop("events", "")).split(",") if name]
    members = len(stored["status"].values) if "status" in stored else None
    words = attributes.pop("statistics", None)
    tables = {} if words is None else {name: variable.values for name, variable in stored.items()}
    taken = {name: attributes.pop(name) for name in (*_NUMBERS, "model", "method", "message")}
    for name in ("content", "conventions"):
        del attributes[name]
    return Solution(
        t=stored["t"].values,
        y=joined([stored[name].values for name in names]),
        invariants=columns(""),
        least=columns("_least"),
        greatest=columns("_greatest"),
        mean_since=columns("_mean"),
        stretch=stored["stretch"].values,
        variables=tuple(
            Variable(name, tuple(stored[f"{name}_component"].values), stored[name].units, stored[name].description)
            for name in names
        ),
        invariant_names=tuple(invariants),
        invariant_units=tuple(stored[name].units for name in invariants),
        status=tuple(Status[s] for s in stored["status"].values) if "status" in stored else Status[str(status)],
        attributes=attributes,
        doubts=doubts,
        failures=failures,
        events=_events(stored, events, 0)
        if members is None
        else tuple(_events(stored, events, k) for k in range(members)),
        statistics=None if words is None else restored(str(words), tables, members is None),
        **taken,  # type: ignore[arg-type]
    )


def _events(
    stored: Mapping[str, storage.Variable], names: Sequence[str], trajectory: int
) -> dict[str, tuple[Array, Array]]:
    def of(name: str) -> tuple[Array, Array]:
        mine = stored[f"{name}_trajectory"].values == trajectory
        return stored[f"{name}_t"].values[mine], stored[f"{name}_state"].values[mine]

    return {name: of(name) for name in names}


def explain(status: Status, t: float, step: int, detail: str = "") -> str:
    """A status in words, with where it happened."""
    text = EXPLANATIONS[status]
    return text if status is Status.OK else f"{text} (at t = {t:.9g}, step {step}{', ' + detail if detail else ''})"
