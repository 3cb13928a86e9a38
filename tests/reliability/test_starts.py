"""A start beside the constraints is refused where a problem is posed, and a doubt where a state is given as it is."""

import numpy as np
import pytest

from integrators import integrate
from integrators.problem import in_velocities
from integrators.problem.holonomic import holonomic_problem
from mechanics import ModelError
from mechanics.nonholonomic.system import ConstraintError
from mechanics.systems import SYSTEMS


def moved(problem, k, by):
    y = np.array(problem.y0)
    y[k] += by
    return y


def doubts(problem, method, y, **options):
    run = integrate(problem, method, (0, 0.1), y0=y, **({"step": 0.01} | options))
    assert not run.success
    first = run.doubts[0]
    assert first.time == 0.0
    assert first.value > first.limit
    return first.name


def test_problems_are_not_posed_from_such_starts():
    linkage = SYSTEMS["four-bar"].mechanism()
    with pytest.raises(ModelError):
        linkage.problem(q=np.add(linkage.home, [0.1, 0.0, 0.0]))
    with pytest.raises(ModelError):
        linkage.problem(v=[1.0, 0.0, 0.0])
    with pytest.raises(ConstraintError):
        SYSTEMS["vertical-disk"].make().constrained_problem(v=[1.0, 1.0, 1.0, 1.0])
    top = SYSTEMS["free-rigid-body"].problem()
    with pytest.raises(ValueError, match="norm off by"):
        integrate(top, "RKMK4", (0, 1), 0.1, y0=moved(top, 0, 1e-3))


@pytest.mark.parametrize(
    ("form", "method", "k", "by", "name"),
    [
        ("hamiltonian", "RKMK4", 0, 0.1, "gap"),
        ("hamiltonian", "RKMK4", 0, 1e-4, "gap"),
        ("index_one", "RKMK4", 0, 1e-4, "gap"),
        ("index_one", "RKMK4", -1, 1e-3, "velocity_gap"),
        pytest.param("constrained", "DLA", 0, 1e-4, "start", marks=pytest.mark.slow),
        pytest.param("constrained", "DLA", -1, 1e-3, "start", marks=pytest.mark.slow),
    ],
)
def test_loops_that_are_open_at_the_start_are_doubtful(form, method, k, by, name):
    linkage = SYSTEMS["swinging-four-bar"].problem(form)
    assert integrate(linkage, method, (0, 0.1), 0.01).success
    assert doubts(linkage, method, moved(linkage, k, by)) == name


@pytest.mark.parametrize("system", ["vertical-disk", "chaplygin-sleigh", "tilting-disk"])
@pytest.mark.parametrize("method", ["DLA", "RKMK4"])
def test_wheels_that_slip_at_the_start_are_doubtful(system, method):
    posed = SYSTEMS[system].problem("constrained")
    assert integrate(posed, method, (0, 0.01), 1e-3).success
    y = np.array(posed.y0)
    y[-posed.variables[-1].size :] += 1e-3 * np.cos(np.arange(1.0, posed.variables[-1].size + 1.0))
    assert doubts(posed, method, y) == "start"


def test_with_variable_steps_too():
    posed = SYSTEMS["vertical-disk"].problem("constrained")
    assert doubts(posed, "RKMK_DOP853", moved(posed, -3, 0.1), step=None, rtol=1e-6) == "start"


@pytest.mark.parametrize(("k", "name"), [(0, "gap"), (2, "closing_velocity")])
@pytest.mark.parametrize("method", ["RATTLE", "RKMK4"])
def test_holonomic_constraints_are_looked_at(method, k, name):
    pendulum = holonomic_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - q[1],
        lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1],
        q=[1.0, 0.0],
    )
    assert integrate(pendulum, method, (0, 0.1), 0.01).success
    assert doubts(pendulum, method, moved(pendulum, k, 1e-3)) == name


@pytest.mark.parametrize("unit", [1.0, 1e6])
def test_starts_on_constraints_are_trusted_in_any_unit(unit):
    """A pendulum in metres and in micrometres, where rounding leaves 1e-4 µm² of 1e12."""
    along = unit * np.array([np.cos(0.5), -np.sin(0.5)])
    pendulum = in_velocities(
        holonomic_problem(
            lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - p[0] * q[1],
            lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - p[0] ** 2],
            q=along,
            parameters=[unit],
        )
    )
    assert integrate(pendulum, "DLA", (0, 0.1), 0.01).success
    for gap in (1e-4 * unit, max(1e-6, 1e-9 * unit)):
        assert doubts(pendulum, "DLA", pendulum.y0 + np.array([gap, 0.0, 0.0, 0.0])) == "start"
