"""A problem's projection brings the state back after every step, in every engine, and nothing else changes."""

import numba
import numpy as np
import pytest

from integrators import integrate
from integrators.problem import Problem


def turn(t, y):
    return np.array([-y[1], y[0]])


def to_circle(t, y):
    return y / np.sqrt(y[0] * y[0] + y[1] * y[1])


def problem(jitted, projection, y0=(1.0, 0.0)):
    compile_ = numba.njit if jitted else (lambda f: f)
    return Problem(
        np.array([[0, 0, 0, 2, 2]]),
        y0,
        compile_(turn),
        invariants={"radius": compile_(lambda t, y: np.array([np.sqrt(y[0] ** 2 + y[1] ** 2)]))},
        projection=compile_(projection) if projection else None,
    )


@pytest.mark.parametrize("jitted", [True, False])
def test_the_state_is_on_the_manifold_after_every_step(jitted):
    free = integrate(problem(jitted, None), "RKMK4", (0.0, 20.0), step=0.1)
    kept = integrate(problem(jitted, to_circle), "RKMK4", (0.0, 20.0), step=0.1)
    assert free.error("radius") > 1e-6
    assert kept.error("radius") < 4e-16
    assert np.abs(kept.y[-1] - [np.cos(20.0), np.sin(20.0)]).max() < 2e-5


def test_an_ensemble_is_projected_like_its_members():
    starts = np.random.default_rng(0).normal(size=(3, 2))
    pack = integrate(problem(True, to_circle, starts), "RKMK4", (0.0, 3.0), step=0.1)
    for k, start in enumerate(starts):
        one = integrate(problem(True, to_circle, start), "RKMK4", (0.0, 3.0), step=0.1)
        assert np.array_equal(pack.y[k], one.y)


def test_a_plain_projection_beside_a_jitted_field_is_refused():
    with pytest.raises(TypeError, match="projection"):
        Problem(np.array([[0, 0, 0, 2, 2]]), (1.0, 0.0), numba.njit(turn), projection=to_circle)
