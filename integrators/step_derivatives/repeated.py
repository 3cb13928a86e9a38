"""Steps differentiated again and again, for sweeps along a motion: by the fastest exact way there is.

===========================================  =============================================================
trees whose inputs are plain joint forces    directions carried through the compiled step, all in one sweep
compiled kernels                             complex steps of the compiled step (`…compiled`)
variational integrators on Rⁿ                the implicit function theorem (`…linearised`)
everything else                              complex steps of the interpreted step (`…complex_step`)
===========================================  =============================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.arithmetic.slopes import NoSlopeError, slope_and_size
from integrators.method import Method
from integrators.method.step_map import moved
from integrators.problem import Problem
from integrators.problem.jacobian import sizes_of
from integrators.problem.signals import numbers
from integrators.step_derivatives.compiled import is_flat, stepped_kernels
from integrators.step_derivatives.complex_step import (
    by_parameters,
    check_directions,
    controls_as_directions,
    velocities,
)
from integrators.step_derivatives.linearised import OF_FIELDS, linearised_step
from liegroup.arrays import real

Array = NDArray[np.float64]


_FLOAT = np.dtype(np.float64)
MANY = 500
"""Steps from which on their derivatives are worth being compiled."""
SPREAD, HALVINGS = 0.08, 60
"""Of differences for `StepDerivative.second`, to begin with, as a part of what counts as one: momenta of small bodies
are much less.
"""


class Slopes(NamedTuple):
    """The state after a step; its derivatives, in coordinates of the velocities, by the state (d, d) and by inputs and
    parameters (d, m + k).
    """

    y: Array
    A: Array
    B: Array


def _are_floats(x: ArrayLike, size: int) -> bool:
    """Whether they are so many finite numbers as they stand."""
    return type(x) is np.ndarray and x.dtype == _FLOAT and x.shape == (size,) and bool(np.isfinite(x).all())


class StepDerivative:
    """One step with its derivatives, ``derivative(y, u, t)`` → `Slopes`.

    Parameters
    ----------
    problem : Problem
    method : Method
        One that `integrators.step_derivatives.linearised_step` knows.
    step : float
        h, s.
    places : sequence of m integers
        The parameters that are inputs.
    pushes : sequence of m integers
        Of inputs that are nothing but a force along a velocity: its number; -1 of others.
    directions : array (k, parameters)
        Changes of the parameters.
    count : int
        How many steps there will be, more or less: for `MANY` a formula in plain Python is compiled.

    Raises
    ------
    ValueError
        A method that has no derivatives; a direction that changes what the method has computed beforehand.
    """

    def __init__(
        self, problem: Problem, method: Method, step: float, places: Sequence[int], pushes: Sequence[int],
        directions: Array, count: int = 1,
    ) -> None:  # fmt: skip
        self.problem, self.method, self.step = problem, method, step
        self._places, self._pushes = np.array(places, dtype=np.int64), list(pushes)
        own = method.stepper.own
        self._directions = np.vstack([controls_as_directions(problem, places), directions])
        carries = own and f"{own}_tangent" in problem.own_steps and not len(directions)
        self._carries = bool(carries) and min(self._pushes, default=0) >= 0
        by_parts = not own and method.stepper.needs not in OF_FIELDS
        self._touched = np.flatnonzero(self._directions.any(axis=0))
        self._kernels = None if self._carries or by_parts else stepped_kernels(problem, method, count >= MANY)
        self._by_parts = by_parts
        if not by_parts and not self._carries:
            check_directions(problem, method, self._directions)
        self._flat = is_flat(problem)
        self._sizes: Array = np.zeros(0)

    def velocities(self, y: Array) -> Array:
        """(n, d): the rates of the components of a state by its velocity."""
        if self._flat:
            return np.eye(self.problem.n)
        return self._kernels.velocities(y) if self._kernels else velocities(self.problem, y)

    def increments(self, y: Array) -> Array:
        """(d, n): the velocity of given rates of the components; rates that leave the group have none."""
        D = self.velocities(y)
        return D if self._flat else np.asarray(np.linalg.pinv(D))

    def __call__(self, y: ArrayLike, u: ArrayLike, t: float) -> Slopes:
        y, u, t = self._read(y, u, t)
        if self._carries:
            parameters = np.array(self.problem.parameters, dtype=np.float64)
            parameters[self._places] = 0.0  # the forces of the inputs act beside the problem's own
            at_rest = replace(self.problem, parameters=parameters)
            found = linearised_step(at_rest, self.method, y, self.step, u, self._pushes, t)
            return Slopes(found.y, found.A, found.B)
        if self._by_parts:
            parameters = np.array(self.problem.parameters, dtype=np.float64)
            parameters[self._places] = u
            touched = self._touched
            found = linearised_step(self.problem, self.method, y, self.step, parameters[touched], touched.tolist(), t)
            return Slopes(found.y, found.A, found.B @ self._directions[:, touched].T)
        parameters = np.array(self.problem.parameters, dtype=np.float64)
        parameters[self._places] = u
        d = self.problem.dimension
        if self._kernels is None:
            end, J = by_parameters(
                replace(self.problem, parameters=parameters), self.method, y, self.step, self._directions, t
            )
            return Slopes(end, J[:, :d], J[:, d:-1])
        D, touched = self.velocities(y), self._touched
        rows = np.zeros((d + len(self._directions), self.problem.n + len(touched) + 2))
        rows[:d, : self.problem.n] = D.T
        rows[d:, self.problem.n : -2] = self._directions[:, touched]
        end, rates = self._kernels(y, self.step, t, parameters, touched, np.zeros(0), rows)
        J = self.increments(end) @ rates
        return Slopes(end, J[:, :d], J[:, d:])

    def _read(self, y: ArrayLike, u: ArrayLike, t: float) -> tuple[Array, Array, float]:
        """A state, inputs and a time, checked: those of a sweep are looked at alone."""
        n, m = self.problem.n, len(self._places)
        if _are_floats(y, n) and _are_floats(u, m) and type(t) is float and isfinite(t):
            return y, u, t  # type: ignore[return-value]
        state, inputs = self.problem.check_state(y, "y"), self.problem.inputs
        if state.ndim != 1:
            raise ValueError(f"y: shape {state.shape}, expected ({n},): one state")
        given = numbers(u, [inputs.places.index(k) for k in self._places.tolist()], inputs)
        return state, np.array(given, dtype=np.float64), real(t, "t")

    def second(self, y: ArrayLike, u: ArrayLike, t: float) -> Array:
        """How the derivatives of a step change, for Newton's method in optimal control: ∂[A, B]/∂(state, inputs).

        The exact first derivatives along every direction, differenced to order eight over two sizes that agree, in
        whatever units (`integrators.arithmetic.slopes`): errors of 1e-11 of a step whose derivatives are of order one.

        Parameters
        ----------
        y : array (n,)
            The state.
        u : array (m,)
            Inputs.
        t : float
            Time, s.

        Returns
        -------
        array (d, d + m, d + m)
            The last axis counts the directions along which [A, B], with the columns of the inputs, changes: y exp(ξ)
            and u.  On Rⁿ the last two axes may change places.

        Raises
        ------
        ValueError
            Derivatives that do not change smoothly, as where things begin to touch; sizes that do not fit, numbers that
            are not finite.
        TypeError
            What is no real number.
        """
        y, u, t = self._read(y, u, t)
        d, m = self.problem.dimension, len(self._places)
        largest = np.concatenate([sizes_of(self.problem, y), np.maximum(np.abs(u), 1.0)])
        self._sizes = np.minimum(self._sizes, SPREAD * largest) if len(self._sizes) else SPREAD * largest

        def along(k: int) -> Array:
            def first(s: float) -> Array:
                e = s * (np.arange(d + m) == k)
                slopes = self(moved(self.problem, y, e[:d]), u + e[d:], t)
                return np.hstack([slopes.A, slopes.B[:, :m]]).ravel()

            try:
                found, self._sizes[k] = slope_and_size(first, self._sizes[k], HALVINGS)
            except NoSlopeError as error:
                what = f"component {k} of the velocity" if k < d else f"input {k - d}"
                raise ValueError(
                    f"second: the derivatives of the step at t = {t:g} do not change smoothly along {what} ({error}); "
                    "expected a step without kinks of the field, such as a contact that begins"
                ) from None
            return found.reshape(d, d + m)

        return np.stack([along(k) for k in range(d + m)], axis=-1)
