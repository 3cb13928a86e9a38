"""An iteration that ends in the noise of the field, well above rounding, does not say that it is solved."""

import re

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate
from liegroup import rn


@numba.njit
def pendulum(t, y, noise):
    """With a part of the field that is another one for every state."""
    tremor = 1.0 + noise[0] * np.sin(1e13 * (y[0] + 2.0 * y[1]))
    return np.array([y[1] * tremor, -np.sin(y[0]) * tremor])


def made(noise):
    return Problem(rn(2), [1.0, 0.5], pendulum, parameters=[noise], canonical=True)


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK_GAUSS2", "VARIATIONAL_GAUSS2"])
def test_an_iteration_that_ends_in_noise_stops_the_run_with_its_residual(method):
    assert integrate(made(0.0), method, (0, 0.5), 0.05).success
    run = integrate(made(1e-9), method, (0, 0.5), 0.05)
    assert run.status is Status.NOT_CONVERGED
    (residual,) = re.findall(r"residual ([0-9.e+-]+)", run.message)
    assert 1e-12 < float(residual) < 1e-7


@pytest.mark.parametrize("method", ["MIDPOINT", "RKMK_GAUSS2", "VARIATIONAL_GAUSS2", "GAUSS8"])
def test_noise_of_the_size_of_rounding_does_not(method):
    run = integrate(made(1e-14), method, (0, 0.5), 0.05)
    assert run.success
    assert np.abs(run.y[-1] - integrate(made(0.0), method, (0, 0.5), 0.05).y[-1]).max() < 1e-12


def test_where_steps_are_divided_they_are_until_the_noise_of_the_state_is_rounding():
    run = integrate(made(1e-9), "GAUSS8", (0, 0.5), 0.05)
    assert run.success
    assert run.attributes["smallest_substep"] < 0.05
    assert np.abs(run.y[-1] - integrate(made(0.0), "GAUSS8", (0, 0.5), 0.05).y[-1]).max() < 1e-9
