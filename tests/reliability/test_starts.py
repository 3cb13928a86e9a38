"""A start beside the constraints is refused where a problem is posed, and a doubt where a state is given as it is."""

from dataclasses import replace

import numpy as np
import pytest

from integrators import integrate
from integrators.problem import in_velocities
from integrators.problem.holonomic import holonomic_problem
from liegroup import rn
from mechanics import ModelError
from mechanics.nonholonomic.system import ConstraintError
from mechanics.nonholonomic.user import nonholonomic_system
from mechanics.systems import SYSTEMS
from mechanics.systems.rolling.ball_in_cylinder import ball_in_cylinder
from mechanics.systems.rolling.rattleback import rattleback


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


def skate():
    """On a slope, all three velocities kept admissible."""
    return nonholonomic_system(
        rn(3), lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.25 * v[2] ** 2,
        lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], [0.0] * 3, [0.3, 0.0, 1.0], potential=lambda q: -0.5 * q[0],
    )  # fmt: skip


@pytest.mark.parametrize("options", [{}, {"t_eval": [0.05, 0.1]}, {"step": None, "rtol": 1e-6}])
def test_velocities_that_are_kept_admissible_have_to_be_so_at_the_start(options):
    """A part across the blade went into the speed along it as the skate turned: 0.355 m/s after 10 ms, not 0.305."""
    posed = skate().problem()
    slipping = moved(posed, 4, 5.0)
    method = "RKMK4" if options.get("step", 0.01) else "RKMK_DOP853"
    assert doubts(posed, method, slipping, **options) == "start"
    several = integrate(posed, "RKMK4", (0.0, 0.1), 0.01, y0=np.array([posed.y0, slipping]))
    assert {doubt.trajectory for doubt in several.doubts} == {1}
    for pose in (skate().problem, skate().with_start):
        with pytest.raises(ConstraintError, match=r"the velocity violates constraint row 0 by -5 .* makes one"):
            pose(slipping[:3], slipping[3:])
        assert pose(posed.y0[:3], [0.4, 0.0, 1.0])


@pytest.mark.parametrize(("make", "k"), [(ball_in_cylinder, 0), (rattleback, 2)])
def test_bodies_that_start_off_what_they_roll_on_are_doubtful_though_their_form_knows_no_positions(make, k):
    problem = make().problem()
    for off in (0.0, 0.05):
        start = np.array(problem.y0)
        start[k] += off
        run = integrate(problem, "RKMK4", (0.0, 0.5), step=0.01, y0=start, t_eval=[0.2, 0.5])
        assert [doubt.name for doubt in run.doubts] == ["start"] * (off > 0.0)


def test_whether_a_body_touches_is_asked_by_the_parameters_of_the_problem():
    """Not by those of the system that posed it: a wider cylinder with a start of its own is no doubt."""
    narrow, wide = ball_in_cylinder().problem(), ball_in_cylinder(distance=0.9).problem()
    for y0, right in ((wide.y0, True), (narrow.y0, False)):
        run = integrate(replace(narrow, parameters=wide.parameters, y0=y0), "RKMK4", (0.0, 0.5), step=0.01)
        assert [doubt.name for doubt in run.doubts] == ["start"] * (not right)


@pytest.mark.parametrize(("system", "k"), [("rattleback", 2), ("ball-in-cylinder", 0)])
def test_bodies_that_do_not_touch_what_they_roll_on_are_not_posed(system, k):
    """A ball went round in another cylinder."""
    made = SYSTEMS[system].make()
    off = np.array(made.q0)
    off[k] += 0.05
    for pose in (made.problem, made.with_start):
        with pytest.raises(ConstraintError, match=r"violates its position constraints by \[0.05\]; correct q"):
            pose(off, made.u0)


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
