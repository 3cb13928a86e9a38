"""Ensembles on a device: one trajectory a thread, by generated code for CUDA."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arguments import fixed_plan
from integrators.codegen.generate import kernels_of
from integrators.engine.collect import described, doubting, with_doubts_of_rows, without_doubts
from integrators.engine.run import Plan
from integrators.engine.winding import circles
from integrators.integrate import integrate
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Doubt, Poses, Problem, pose
from integrators.results.solution import Solution
from integrators.status import EXPLANATIONS, Status
from liegroup.arrays import spread
from liegroup.compile import WIDTH

Array = NDArray[np.float64]
OPTIONS = ("--fmad=false",)
"""For NVRTC: products and sums are rounded one by one, as in the kernels here."""
THREADS = ((0, 64), (2**16, 256))
"""Of a block, from so many trajectories on."""
ASKED, AGAIN = WIDTH, 20_000
"""Trajectories that are integrated here, too, and told what `integrate` doubts; first steps of them."""
SAMPLES, WAYS = 64, 8
"""States from which implicit steps are traced by default; ways through the method that are traced at most."""
LAUNCH, CROWD = 1e11, 20_000
"""Operations of all threads of a launch, after which it ends, so that Ctrl-C is heard; threads that a device takes at
once, in the time of one.
"""


class Device(Protocol):
    """What takes the steps: arrays on a device, and kernels from their source text."""

    def array(self, values: NDArray[Any]) -> Any:
        """A copy on the device."""

    def host(self, values: Any) -> NDArray[Any]:
        """A copy here, when all kernels are done."""

    def kernel(self, text: str, name: str) -> Callable[..., None]:
        """``kernel(count, *arguments)``: `count` threads of a function of the text, up to their end."""


class Cuda:
    """The current device of CuPy.

    Raises
    ------
    RuntimeError
        CuPy is not installed, or finds no device.
    """

    def __init__(self) -> None:
        try:
            import cupy  # type: ignore[import-not-found]
        except ImportError as error:
            raise RuntimeError(
                "on_gpu: needs CuPy, which is not installed (pip install cupy-cuda12x or cupy-cuda13x, by your "
                "driver); integrate(…, workers=n) uses the cores of this machine"
            ) from error
        try:
            found = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise RuntimeError(f"on_gpu: CuPy finds no device ({error})") from error
        if not found:
            raise RuntimeError("on_gpu: CuPy finds no device")
        self._cupy = cupy

    def array(self, values: NDArray[Any]) -> Any:
        with self._failing():
            return self._cupy.asarray(values)

    def host(self, values: Any) -> NDArray[Any]:
        with self._failing():
            return np.asarray(self._cupy.asnumpy(values))

    def kernel(self, text: str, name: str) -> Callable[..., None]:
        compiled = self._cupy.RawKernel(text, name, options=OPTIONS)
        compiled.compile()

        def call(count: int, *arguments: Any) -> None:
            with self._failing():
                threads = max(size for least, size in THREADS if count >= least)
                compiled((-(-count // threads),), (threads,), (np.int64(count), *arguments))
                self._cupy.cuda.get_current_stream().synchronize()

        return call

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What the device cannot do, said as errors of Python."""
        cuda = self._cupy.cuda
        try:
            yield
        except cuda.memory.OutOfMemoryError as error:
            raise MemoryError(
                f"on_gpu: the states do not fit into the memory of the device ({error}); hand the trajectories over in "
                "parts"
            ) from error
        except (cuda.driver.CUDADriverError, cuda.runtime.CUDARuntimeError) as error:
            raise RuntimeError(f"on_gpu: the device fails ({error})") from error


def on_gpu(
    problem: Problem | Poses,
    method: str | Method,
    t_span: Sequence[float],
    step: float,
    *,
    y0: ArrayLike | None = None,
    save_every: int | None = None,
    samples: ArrayLike | None = None,
    device: Device | None = None,
) -> Solution:
    """Integrate an ensemble by fixed steps on a GPU, one trajectory a thread.

    The source of the kernels is printed for CUDA, compiled with ``--fmad=false`` and run through CuPy.  With explicit
    methods and fields of this package the states are those of `integrate` to the last bit, but for ``exp``, ``log``,
    ``tanh`` and sine and cosine beyond 1e6 rad, which are of CUDA; those that hand the field at the end of a step on to
    the next read the time, and angles that have turned, there with another rounding, and steps that a projection has
    told their field (`Problem.projection_tells`) begin with another rounding of it.  Implicit ones iterate as often as
    the slowest sample and agree to rounding.  Where trajectories leave the way of the samples, another one is traced
    from where they stand; those that leave all, or are not finite, are integrated here instead.

    Parameters
    ----------
    problem : Problem, or what poses one
        With m initial states (m, n), and a field that can be traced (`generate_code`).
    method : str or Method
        A one-step method.
    t_span, step, y0, save_every
        As of `integrate`.
    samples : array (k, n), optional
        States from which implicit steps are traced first (`generate_code`); default the initial states, a few of them.
    device : Device, optional
        What runs the kernels; default CuPy's current device.

    Returns
    -------
    Solution
        As from `integrate`; the statistics of invariants are of saved states only, with `stretch` 1.  So are its
        `doubts`: limits of guards, and hypotheses of the method.  Whether the steps resolve the motion is asked of
        eight trajectories from the first to the last, whose first 20 000 steps are integrated here as well.

    Raises
    ------
    RuntimeError
        CuPy is not installed, or there is no device, or it fails.
    MemoryError
        The states do not fit into its memory.
    ValueError, TypeError, ArithmeticError
        As from `integrate` and `generate_code`: a single start, a method with memory, a field that cannot be traced.

    Notes
    -----
    Measured on an NVIDIA H200: ``benchmarks/results/device.json``, on the page about many cores.  From about 1e5
    trajectories on such a device is full.

    Examples
    --------
    >>> from integrators import Problem
    >>> from integrators.ensemble import on_gpu
    >>> from liegroup import rn
    >>> swing = Problem(rn(2), [[1.0, 0.0], [2.0, 0.0]], lambda t, y: [y[1], -y[0]])
    >>> try:
    ...     solution = on_gpu(swing, "RKMK4", (0.0, 1.0), 0.1)
    ... except RuntimeError as error:
    ...     print(str(error)[:7])
    on_gpu:
    """
    chosen, posed = find(method), pose(problem)
    if not isinstance(chosen, Method):
        raise TypeError(f"method: {chosen.name}, expected a method of integrators.METHODS, not a solver of others")
    posed = posed if y0 is None else posed.with_start(y0)
    starts = np.asarray(posed.y0, dtype=np.float64)
    if starts.ndim != 2:
        raise ValueError(
            f"y0: shape {starts.shape}, expected initial states (m, {posed.n}); one alone is for integrate"
        )
    plan, every = fixed_plan(t_span, step, save_every)
    machine: Device = Cuda() if device is None else device
    m, n = starts.shape
    angles = circles(posed, plan.t0).tolist()
    taking = _Steps(posed, chosen, plan, machine, angles, _few(starts) if samples is None else samples)
    watch, shown = _invariants(posed, machine, taking.text, m), _shown(posed, machine, taking.text, m, bool(angles))
    began = time.perf_counter()
    numbers = [*range(0, plan.steps, every), plan.steps]
    t, states, watched = plan.t0 + np.array(numbers) * plan.h, np.empty((len(numbers), m, n)), []
    y, taken = machine.array(np.zeros((2 * n + len(angles), m))), machine.array(np.zeros(m, dtype=np.int64))
    y[:n], valid = machine.array(starts).T, machine.array(np.ones(m, dtype=bool))
    for row, number in enumerate(numbers):
        taking.until(number, y, taken)
        states[row] = shown(y)
        watched.append(watch(t[row], y))
        valid &= (taken == number) & np.isfinite(y[:n]).all(axis=0)
    valid, values = machine.host(valid), np.swapaxes(np.stack(watched), 0, 1)
    found = Solution(
        t, np.swapaxes(states, 0, 1), values, values, values, values, np.ones(len(t), dtype=np.int64),
        **described(posed, chosen, plan), status=(Status.OK,) * m, message=EXPLANATIONS[Status.OK], steps=plan.steps,
        seconds=time.perf_counter() - began - taking.seconds, events=({},) * m,
    )  # fmt: skip
    found = with_doubts_of_rows(posed, chosen, plan, found)
    found = doubting(found, _doubts_of_steps(posed, chosen, plan, found, valid, every))
    stopping = {guard.name for guard in posed.guards if guard.stops}
    valid[[doubt.trajectory for doubt in found.doubts if doubt.name in stopping]] = False
    return found if valid.all() else _with_others(posed, chosen, found, valid, t_span, step, every)


def _doubts_of_steps(
    problem: Problem, method: Method, plan: Plan, found: Solution, valid: NDArray[np.bool_], every: int
) -> list[Doubt]:  # fmt: skip
    """What `integrate` doubts in the first steps of some trajectories, and the states that were saved do not tell."""
    places = np.flatnonzero(valid)
    places = places[spread(len(places), ASKED)]
    steps = min(plan.steps, AGAIN)
    if not len(places) or not steps:
        return []
    some, end = problem.with_start(np.asarray(problem.y0)[places]), plan.t0 + steps * plan.h
    try:
        here = integrate(some, method, (plan.t0, end), abs(plan.h), save_every=min(every, steps), progress=False)
    except (Exception, KeyboardInterrupt) as error:  # what is said of a run must not lose it
        why = f"{type(error).__name__}: {error}".removesuffix(": ")
        says = f"the run is over, but whether its steps resolve the motion could not be asked ({why})"
        warnings.warn(says, RuntimeWarning, stacklevel=3)
        return []
    known = {(doubt.trajectory, doubt.name) for doubt in found.doubts}
    doubts = [replace(doubt, trajectory=int(places[doubt.trajectory])) for doubt in here.doubts]
    return [doubt for doubt in doubts if (doubt.trajectory, doubt.name) not in known]


class _Steps:
    """The steps of a run on a device, by one way through the method or several: where trajectories leave those that
    are known, another is traced from the states in which they did.
    """

    def __init__(
        self, problem: Problem, method: Method, plan: Plan, machine: Device, angles: Sequence[int], samples: ArrayLike
    ) -> None:  # fmt: skip
        self._given, self._plan, self._machine, self._angles = (problem, method, plan.h), plan, machine, angles
        self._ways: list[Callable[..., None]] = []
        self._done, self._lost, self._can_grow = 0, 0, True
        self.text = self._another(samples)
        self.seconds = 0.0
        """What tracing and compiling further ways has taken."""

    def _another(self, samples: ArrayLike) -> str:
        text = kernels_of(*self._given, samples, self._angles)
        self._ways.append(self._machine.kernel(str(text), "many_steps_each"))
        step = text.functions[0]
        self._operations, self._can_leave = step.operations, step.graph.value(step.outputs["left"][0]) != 0.0
        return str(text)

    def until(self, number: int, y: Any, taken: Any) -> None:
        """Take the steps up to a number, of those that know a way."""
        most = max(1, int(LAUNCH / (max(len(taken), CROWD) * self._operations)))
        while self._done < number:
            self._done = min(number, self._done + most)
            for way in self._ways:
                self._launch(way, y, taken)
                if not self._can_leave or self._behind(taken) <= self._lost:
                    break
            else:
                self._look_for_ways(y, taken)
                self._lost = self._behind(taken)

    def _behind(self, taken: Any) -> int:
        return int((taken < self._done).sum())

    def _launch(self, way: Callable[..., None], y: Any, taken: Any) -> None:
        way(len(taken), np.float64(self._plan.t0), np.float64(self._plan.h), np.int64(self._done), y, taken)

    def _look_for_ways(self, y: Any, taken: Any) -> None:
        """Ways for those that have left all others, as long as that brings some of them on."""
        before = -1
        while self._can_grow:
            steps = self._machine.host(taken)
            states = self._machine.host(y[: self._given[0].n].T)[steps < self._done]
            states = states[np.isfinite(states).all(axis=1)]
            if not len(states):
                return
            self._can_grow = len(self._ways) < WAYS and int(steps.sum()) > before
            if self._can_grow:
                before, began = int(steps.sum()), time.perf_counter()
                try:
                    self._another(_few(states))
                except ArithmeticError:  # no step from there: `integrate` says why
                    self._can_grow = False
                self.seconds += time.perf_counter() - began
                if self._can_grow:
                    self._launch(self._ways[-1], y, taken)


def _few(states: Array) -> Array:
    return states[:: max(1, len(states) // SAMPLES)]


def _invariants(problem: Problem, machine: Device, text: str, m: int) -> Callable[[float, Any], Array]:
    """What gives those of all states at a time, (m, r), as they lie on the device."""
    if problem.invariants is None:
        return lambda t, y: np.zeros((m, 0))
    kernel, out = machine.kernel(text, "invariants_each"), machine.array(np.zeros((problem.invariant_count, m)))

    def values(t: float, y: Any) -> Array:
        kernel(m, np.float64(t), y, out)
        return np.array(machine.host(out.T))

    return values


def _shown(problem: Problem, machine: Device, text: str, m: int, turns: bool) -> Callable[[Any], Array]:
    """What gives the states (m, n) as results show them: angles with their turns."""
    if not turns:
        return lambda y: machine.host(y[: problem.n].T)
    kernel, out = machine.kernel(text, "unwound_each"), machine.array(np.zeros((problem.n, m)))

    def states(y: Any) -> Array:
        kernel(m, y, out)
        return machine.host(out.T)

    return states


def _with_others(
    problem: Problem, method: Method, done: Solution, valid: NDArray[np.bool_], t_span: Any, step: float, every: int
) -> Solution:  # fmt: skip
    """The trajectories that were not valid integrated here, in their places."""
    places = np.flatnonzero(~valid)
    others = problem.with_start(np.asarray(problem.y0)[places])
    here = integrate(others, method, t_span, step, save_every=every, progress=False)
    y, values, status, came = done.y.copy(), done.invariants.copy(), list(done.status), here.y.shape[1]  # type: ignore[arg-type]
    y[places], values[places] = np.nan, np.nan
    y[places, :came], values[places, :came] = here.y, here.invariants
    for place, ended in zip(places, here.status, strict=True):  # type: ignore[arg-type]
        status[place] = ended
    doubts = [doubt for doubt in done.doubts if valid[doubt.trajectory]]
    doubts += [replace(doubt, trajectory=int(places[doubt.trajectory])) for doubt in here.doubts]
    said = without_doubts(here)
    for k, place in enumerate(places):  # `here` counts from zero
        if f"; trajectory {k}: " in said:
            said = said.replace(f"; trajectory {k}: ", f"; trajectory {place}: ")
            break
    whole: Solution = replace(
        done, y=y, invariants=values, least=values, greatest=values, mean_since=values, status=tuple(status),
        message=f"{len(places)} of {len(y)} trajectories were integrated on the host; {said}", doubts=(),
        failures={int(places[k]): why for k, why in here.failures.items()},
    )  # fmt: skip
    return doubting(whole, doubts)
