"""Ensembles on a device: one trajectory a thread, by generated code for CUDA."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.codegen.generate import kernels_of
from integrators.engine.collect import described, with_doubts_of_rows
from integrators.integrate import fixed_plan, integrate
from integrators.method import Method
from integrators.methods import find
from integrators.problem import Poses, Problem, pose
from integrators.results.solution import Solution
from integrators.status import EXPLANATIONS, Status

Array = NDArray[np.float64]
OPTIONS = ("--fmad=false",)
"""For NVRTC: products and sums are rounded one by one, as in the kernels here."""
THREADS, SAMPLES = 64, 64
"""Of a block; initial states from which implicit steps are traced by default."""
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
                compiled((-(-count // THREADS),), (THREADS,), (np.int64(count), *arguments))
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
    methods the states are those of `integrate` to the last bit, but for ``exp``, ``log`` and ``tanh``, which are of
    CUDA; those that hand the field at the end of a step on to the next read the time there with another rounding.
    Implicit ones iterate as often as the slowest sample and agree to rounding.  Trajectories that leave the way of the
    samples, or are not finite, are integrated here instead.

    Parameters
    ----------
    problem : Problem, or what poses one
        With m initial states (m, n), and a field that can be traced (`generate_code`).
    method : str or Method
        A one-step method.
    t_span, step, y0, save_every
        As of `integrate`.
    samples : array (k, n), optional
        States from which implicit steps are traced (`generate_code`); default the initial states, a few of them.
    device : Device, optional
        What runs the kernels; default CuPy's current device.

    Returns
    -------
    Solution
        As from `integrate`; the statistics of invariants are of saved states only, with `stretch` 1.  So are its
        `doubts`: limits of guards, and hypotheses of the method; whether the steps resolve the motion is not asked.

    Raises
    ------
    RuntimeError
        CuPy is not installed, or there is no device.
    ValueError, TypeError, ArithmeticError
        As from `integrate` and `generate_code`: a single start, a method with memory, a field that cannot be traced.

    Notes
    -----
    The project tests the path by NVRTC and by the same kernels compiled for the host; it has not been run on a device.

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
    few = starts[:: max(1, len(starts) // SAMPLES)] if samples is None else samples
    text = kernels_of(posed, chosen, plan.h, few)
    advance = machine.kernel(str(text), "many_steps_each")
    watch = _invariants(posed, machine, str(text), len(starts))
    began = time.perf_counter()
    m, n = starts.shape
    numbers = [*range(0, plan.steps, every), plan.steps]
    y = machine.array(np.ascontiguousarray(np.vstack([starts.T, np.zeros_like(starts.T)])))
    taken, valid = machine.array(np.zeros(m, dtype=np.int64)), np.ones(m, dtype=bool)
    t, states = plan.t0 + np.array(numbers) * plan.h, np.empty((m, len(numbers), n))
    states[:, 0], values, done = starts, [watch(t[0], y)], 0
    most = max(1, int(LAUNCH / (max(m, CROWD) * text.functions[0].operations)))
    for row, number in enumerate(numbers[1:], 1):
        while done < number:
            steps = min(number - done, most)
            advance(m, np.float64(plan.t0), np.float64(plan.h), np.int64(done), np.int64(steps), y, taken)
            done += steps
        states[:, row] = machine.host(y[:n].T)
        values.append(watch(t[row], y))
        valid &= (machine.host(taken) == done) & np.isfinite(states[:, row]).all(axis=1)
    values = np.stack(values, axis=1)
    found = Solution(
        t, states, values, values, values, values, np.ones(len(t), dtype=np.int64), **described(posed, chosen, plan),
        status=(Status.OK,) * m, message=EXPLANATIONS[Status.OK], steps=plan.steps,
        seconds=time.perf_counter() - began, events=({},) * m,
    )  # fmt: skip
    found = with_doubts_of_rows(posed, chosen, plan, found)
    stopping = {guard.name for guard in posed.guards if guard.stops}
    valid[[doubt.trajectory for doubt in found.doubts if doubt.name in stopping]] = False
    return found if valid.all() else _with_others(posed, chosen, found, valid, t_span, step, every)


def _invariants(problem: Problem, machine: Device, text: str, m: int) -> Callable[[float, Any], Array]:
    """What gives those of all states at a time, (m, r), as they lie on the device."""
    if problem.invariants is None:
        return lambda t, y: np.zeros((m, 0))
    kernel, out = machine.kernel(text, "invariants_each"), machine.array(np.zeros((problem.invariant_count, m)))

    def values(t: float, y: Any) -> Array:
        kernel(m, np.float64(t), y, out)
        return np.array(machine.host(out.T))

    return values


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
    whole: Solution = replace(
        done, y=y, invariants=values, least=values, greatest=values, mean_since=values, status=tuple(status),
        message=f"{len(places)} of {len(y)} trajectories were integrated on the host; {here.message}",
        doubts=tuple(sorted(doubts, key=lambda doubt: doubt.trajectory)),
    )  # fmt: skip
    return whole
