"""Every ready-made system is in one registry, poses its motion in every formulation it lists, and is integrated."""

import importlib
import inspect
import pkgutil
import re
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pytest

from integrators import Status, integrate
from integrators.engine.fixed_run import single_run
from integrators.engine.run import Output, Plan
from integrators.engine.step_again import to_its_end
from integrators.methods import find
from integrators.problem import Problem
from mechanics import systems
from mechanics.mechanism import Mechanism
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.systems import MECHANISMS, NONHOLONOMIC, SYSTEMS, WHEELED, System
from mechanics.systems.system import FORMULATIONS, Registry, UnknownSystemError

MADE = {
    "body": Problem,
    "elastic": Problem, "tree": Problem, "loops": Mechanism, "wheels": Mechanism,
    "nonholonomic": NonholonomicSystem,
}  # fmt: skip
FORMS = [
    pytest.param(name, form, marks=[pytest.mark.slow] if (name, form) == ("ten-four-bar", "body_coordinates") else [])
    for name, system in SYSTEMS.items()
    for form in system.formulations
]
"""Interpreted, hundreds of unknowns of ten loops take minutes to eliminate."""
GENERAL = {"rolling_body", "coordinate_problem"}
"""Functions that pose no system of their own: the body of any shape, a frame for comparison."""


def modules():
    """All modules of the rooms of systems."""
    for room in (systems.bodies, systems.loops, systems.rolling):
        for found in pkgutil.iter_modules(room.__path__):
            yield importlib.import_module(f"{room.__name__}.{found.name}")


def plain(function):
    return plain(function.func) if isinstance(function, partial) else function


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_no_public_system_escapes():
    made = {plain(system.make) for system in SYSTEMS.values()}
    homes = {function.__module__ for function in made}
    escaped = []
    for module in modules():
        for name, f in vars(module).items():
            if not inspect.isfunction(f) or name.startswith("_") or f.__module__ != module.__name__ or name in GENERAL:
                continue
            poses = str(inspect.signature(f).return_annotation) in ("Problem", "Mechanism", "NonholonomicSystem")
            if poses and f not in made and not (name in ("mechanism", "problem") and module.__name__ in homes):
                escaped.append(f"{module.__name__}.{name}")
    assert not escaped


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_row_says_what_it_is(name):
    system = SYSTEMS[name]
    assert system.name == name
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert 5 < len(system.description) < 100
    assert "\n" not in system.description
    assert set(system.without) <= set(FORMULATIONS[system.kind])
    assert isinstance(system.make(), MADE[system.kind])
    assert all(p.default is not p.empty for p in inspect.signature(system.make).parameters.values())


def test_views_are_the_kinds():
    for view, kind in ((MECHANISMS, "loops"), (NONHOLONOMIC, "nonholonomic"), (WHEELED, "wheels")):
        assert list(view) == [name for name, system in SYSTEMS.items() if system.kind == kind]
        assert "heavy-top" not in view
        assert all(callable(make) for make in view.values())
    assert (len(MECHANISMS), len(NONHOLONOMIC), len(WHEELED)) >= (13, 26, 5)
    assert MECHANISMS["four-bar"](projection="none").projection is None
    assert NONHOLONOMIC["rolling-disk"]().model == "rolling-disk"
    rest = WHEELED["wheeled-car"]()
    assert not rest.problem().y0[rest.tree.nq :].any()


def test_earlier_names_are_the_same_objects():
    from mechanics.systems.loops.mechanisms import MECHANISMS as loops
    from mechanics.systems.rolling.nonholonomic import NONHOLONOMIC as rolling
    from mechanics.systems.rolling.wheeled import WHEELED as wheels

    from mechanics.systems import four_bar, heavy_top

    assert (loops, rolling, wheels) == (MECHANISMS, NONHOLONOMIC, WHEELED)
    assert SYSTEMS["heavy_top"].make is heavy_top
    assert np.array_equal(SYSTEMS["heavy_top"]().y0, heavy_top().y0)
    assert np.array_equal(SYSTEMS["four-bar"]().y0, four_bar.problem().y0)


# --- looking up -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["heavy-top", "heavy_top", "Heavy Top", "HEAVY-TOP"])
def test_names_are_found_however_they_are_written(name):
    assert SYSTEMS[name].name == "heavy-top"
    assert name in SYSTEMS


def test_unknown_names_come_with_a_hint():
    with pytest.raises(KeyError, match=r"no system 'fourbar'; did you mean 'four-bar'") as caught:
        SYSTEMS["fourbar"]
    assert isinstance(caught.value, UnknownSystemError)
    assert not str(caught.value).startswith('"')
    with pytest.raises(KeyError, match=r"kind 'body', expected 'loops'"):
        MECHANISMS["heavy-top"]
    assert 3 not in SYSTEMS
    assert SYSTEMS.get("fourbar") is None


def test_a_system_can_be_added_from_outside():
    mine = Registry()
    own = mine.add(System("own-top", "body", systems.heavy_top, "A top of one's own"))
    assert mine["own_top"] is own
    for wrong in ("own-top", "Own Top"):
        with pytest.raises(ValueError, match="name: "):
            mine.add(replace(own, name=wrong))
    with pytest.raises(ValueError, match=r"kind: 'top'.*expected one of body"):
        replace(own, kind="top")


# --- posing -----------------------------------------------------------------------------------------------------------


@cache
def posed_as(name, form):
    return SYSTEMS[name].problem(form)


def called_back(problem):
    """The problem with its kernels interpreted, called back by the engine, which then compiles nothing of its own."""

    def plain_form(kernel, size):
        if kernel is None:
            return None

        def f(t, y, parameters, out):
            kernel.python(t, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)

        return f

    return replace(
        problem,
        field=plain_form(problem.field, problem.dimension),
        invariants=plain_form(problem.invariants, problem.invariant_count),
        projection=plain_form(problem.projection, problem.n),
        parts=None,
        parts_layout="",
        own_steps={},
    )


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_every_formulation_is_posed_and_moves(name, form):
    """Steps alone: what `integrate` asks of a run are hundreds of interpreted evaluations."""
    posed = posed_as(name, form)
    assert isinstance(posed, Problem)
    step = 1e-5 if name in ("squeezer", "eulers-disk", "walking-mechanism", "governor", "rubber-rod") else 1e-3
    [found] = to_its_end(single_run(called_back(posed), find("RKMK4"), Output(), Plan(0.0, step, 2), posed.y0))
    assert found.status is Status.OK
    assert found.y.shape == (3, posed.n)
    assert not np.array_equal(found.y[0], found.y[-1])
    assert len(posed.invariant_names) > 0
    assert found.invariants.shape == (3, len(posed.invariant_names))
    assert np.isfinite(found.invariants).all()


@pytest.mark.parametrize("name", SYSTEMS)
def test_formulations_have_one_energy_at_the_start(name):
    energies = [start_values(posed_as(name, form))[0] for form in SYSTEMS[name].formulations]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["heavy-top", "kepler", "pendulum", "vertical-disk", "knife-edge", "four-bar"])
def test_exact_is_the_state_of_the_default_problem_where_it_is_known(name):
    system = SYSTEMS[name]
    assert (system.exact is None) == (name in ("heavy-top", "four-bar"))
    if system.exact is not None:
        np.testing.assert_allclose(system.exact(0.0), system().y0, atol=1e-14)


def start_values(problem):
    out = np.zeros(problem.invariant_count)
    work = np.zeros(problem.work_shape)
    problem.invariants.python(0.0, problem.y0, problem.parameters, problem.structure, work, out)
    return out


def test_options_go_to_the_system_or_to_the_formulation():
    still = SYSTEMS["four-bar"].problem(speed=0.0, projection="none")
    assert still.projection is None
    assert not still.y0[3:].any()
    assert SYSTEMS["four-bar"].problem("index_one", speed=0.0, projection="velocities").projection is not None
    assert SYSTEMS["kepler"](eccentricity=0.0).y0[0] == 1.0
    with pytest.raises(
        TypeError, match=r"sped: no option of 'four-bar' \(speed\) nor of its formulation 'hamiltonian'"
    ):
        SYSTEMS["four-bar"].problem(sped=1.0)
    with pytest.raises(
        ValueError, match=r"formulation: 'index_2' of 'four-bar', expected one of hamiltonian, index_one"
    ):
        SYSTEMS["four-bar"].problem("index_2")


def test_only_those_with_loops_or_wheels_have_a_mechanism():
    assert SYSTEMS["whipple-bicycle"].mechanism(speed=5.0).mobility.dof == 3
    with pytest.raises(TypeError, match="mechanism: 'kepler' is of kind 'body'"):
        SYSTEMS["kepler"].mechanism()


def test_the_formulations_are_explained_in_the_module():
    text = importlib.import_module("mechanics.systems.system").__doc__
    named = {form for forms in FORMULATIONS.values() for form in forms}
    assert set(re.findall(r"^([a-z_]+)  +\(", text, re.M)) == named


def fitting_method(problem):
    """A method of the problem's own family."""
    if "variational" in problem.own_steps:
        return "TREE_VARIATIONAL"
    if problem.canonical:
        return "MIDPOINT"
    return {"constrained": "DLA", "quasi_velocity": "ENERGY_EXACT"}.get(problem.parts_layout, "RKMK4")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "form"), FORMS)
def test_every_formulation_runs_compiled_with_a_method_of_its_family(name, form):
    posed = SYSTEMS[name].problem(form)
    step = 1e-5 if name in ("squeezer", "eulers-disk", "walking-mechanism", "governor", "rubber-rod") else 1e-3
    found = integrate(posed, fitting_method(posed), (0.0, 3 * step), step=step)
    assert found.success, found.message
    assert all(np.isfinite(found[invariant]).all() for invariant in posed.invariant_names)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("four-bar", "speed"),
        ("two-wheeled-pendulum", "pitch"),
        ("wheeled-car", "steering"),
        ("whipple-bicycle", "steer_rate"),
        ("walking-mechanism", "period"),
    ],
)
def test_starts_refuse_numbers_that_are_not_finite(name, option):
    with pytest.raises(ValueError, match=f"{option}: nan, expected"):
        SYSTEMS[name].make(**{option: np.nan})
