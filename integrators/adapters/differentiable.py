"""What libraries of automatic differentiation ask of a run, on NumPy arrays: its value, its derivative backwards and
forwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liegroup.arrays import shown

Array = NDArray[np.float64]
FIRST_ALONE = (
    "second derivatives of a run are not known to libraries of automatic differentiation; expected first ones alone, "
    "or those of a step, by run.derivative.second(y, u, t)"
)
"""What is said where such a library asks for more."""


class Host:
    """A run, or runs by the parameters of a model, as a function (start, u, x) → states.

    Parameters
    ----------
    run : DifferentiableRun, or callable
        ``run(x)`` → the run of the model with the parameters x, made with the directions of these parameters.
    states : bool
        Whether the value is all states, (steps + 1, n), or the last one.
    at : array (k,), optional
        Of runs by parameters: some parameters, to know the sizes of a run.  A run that is given has derivatives by
        start and u, whatever it was made with.

    Raises
    ------
    TypeError
        Neither.
    ValueError
        Runs by parameters without such.
    """

    def __init__(self, run: Any, states: bool, at: Any) -> None:
        self.by_parameters = not hasattr(run, "vjp")
        if self.by_parameters and not callable(run):
            raise TypeError(
                f"run: {shown(run)}, expected a DifferentiableRun of integrators.adjoint, or a function of the model's "
                "parameters that makes one"
            )
        self._make: Callable[[Array], Any] = run if self.by_parameters else lambda x: run
        if self.by_parameters and at is None:
            raise ValueError("at: None, expected parameters x of the model at which run(x) can be made")
        self.all_states = states
        self._last: tuple[Array, Any] | None = None
        first = self.run(np.zeros(0) if at is None else at)
        self.shape = (first.steps + 1, first.problem.n) if states else (first.problem.n,)
        self._names, self._steps, self._k = first.names, first.steps, np.size(at) if self.by_parameters else 0

    def check(self, start: Any, u: Any, x: Any) -> None:
        """ValueError unless arguments have the shapes of the run's, before a library calls back, of whose errors little
        would be left; no u: the inputs of the problem.
        """
        n, m = self.shape[-1], len(self._names)
        inputs = f"inputs ({', '.join(self._names) or 'none'})"
        wanted: dict[str, tuple[str, list[tuple[int, ...]]]] = {
            "start": (f"({n},), one state", [(n,)]),
            "u": (f"({m},) or ({self._steps}, {m}), {inputs}", [(0,), (m,), (self._steps, m)]),
            "x": (
                f"({self._k},), the parameters of the model"
                if self.by_parameters
                else "none: the run is no function of parameters; give one that makes it of x, in its place",
                [(self._k,)],
            ),
        }
        for (name, (words, shapes)), given in zip(wanted.items(), (start, u, x), strict=True):
            if (shape := tuple(np.shape(given))) not in shapes:
                raise ValueError(f"{name}: shape {shape}, expected {words}")

    def run(self, x: Any) -> Any:
        """The run with the parameters x; the last one is kept."""
        numbers, last = np.array(x, dtype=np.float64), self._last  # other threads put theirs there
        if last is None or not np.array_equal(last[0], numbers):
            self._last = last = numbers, self._make(numbers)
        return last[1]

    def value(self, start: Any, u: Any, x: Any) -> Array:
        """The states."""
        run, y = self.run(x), np.asarray(start, dtype=np.float64)
        given = self._inputs(u)
        return np.asarray(run.states(y, given) if self.all_states else run(y, given))

    def pulled(self, start: Any, u: Any, x: Any, weights: Any) -> tuple[Array, Array, Array]:
        """The cotangents of start, u and x for that of the states."""
        run, given = self.run(x), np.asarray(u, dtype=np.float64)
        found = run.vjp(np.asarray(start, dtype=np.float64), np.asarray(weights), self._inputs(u))
        by_inputs = found.by_inputs if given.ndim == 2 else found.by_inputs.sum(axis=0)
        if not given.size:
            by_inputs = np.zeros(given.shape)
        by_parameters = found.by_parameters if self.by_parameters else np.zeros(np.shape(x))
        return found.by_start, by_inputs, by_parameters

    def pushed(self, start: Any, u: Any, x: Any, dy: Any, du: Any, dx: Any) -> Array:
        """The change of the states for changes of start, u and x."""
        run = self.run(x)
        _, changes = run.jvp(
            np.asarray(start, dtype=np.float64), np.asarray(dy), self._inputs(u), self._inputs(du),
            np.asarray(dx) if self.by_parameters else None,
        )  # fmt: skip
        return np.asarray(changes if self.all_states else changes[-1])

    @staticmethod
    def _inputs(u: Any) -> Array | None:
        given = np.asarray(u, dtype=np.float64)
        return given if given.size else None
