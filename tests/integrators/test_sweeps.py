"""Sweeps: labelled tables of runs; variants of a model in lanes have the bits that they have alone."""

import itertools
import re
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import integrators
from integrators import Problem, integrate, sweep, sweeps
from integrators.engine.varied_run import likeness, varies
from integrators.integrate import integrate_together
from integrators.methods import find
from liegroup.table import RN, table_of
from mechanics import Body, Frame, Inertia, JointData, Mechanism, Tree, forces, joints, velocity_problem
from mechanics.systems import SYSTEMS
from mechanics.systems.loops import four_bar

SPAN, STEP = (0.0, 1.0), 0.01


def arm(mass, length):
    """Two bars on hinges."""
    bar = Inertia.about_com(mass, (0.0, 0.0, -0.5 * length), np.diag([0.1, 0.1, 0.01]))
    first = Body("first", joints.Revolute((0.0, 1.0, 0.0)), inertia=bar, joint_name="upper")
    second = Body("second", joints.Revolute((0.0, 1.0, 0.0)), "first", (0.0, 0.0, -length), inertia=bar)
    return Tree([first, second], name="arm")


def swinging(mass, length):
    return arm(mass, length).problem([0.5, 0.2])


def end(solution):
    return solution.y[-1]


def decaying(rate):
    return Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -rate * y, model="decay")


def growing(power):
    return Problem(table_of([(RN, 1)]), [1.0], lambda t, y: abs(y) ** power, model="growth")


@pytest.mark.parametrize("method", ["RKMK4", pytest.param("MIDPOINT", marks=pytest.mark.slow)])
def test_variants_in_lanes_have_the_bits_of_one_by_one(method):
    variants = [swinging(mass, length) for mass in (1.0, 2.0, 3.0) for length in (0.5, 0.8)]
    assert len({likeness(variant, find(method), 0.0) for variant in variants}) == 1
    found = integrate_together(variants, find(method), SPAN, STEP)
    for variant, solution in zip(variants, found, strict=True):
        alone = integrate(variant, method, SPAN, STEP)
        for name in ("t", "y", "invariants", "least", "greatest", "mean_since"):
            assert np.array_equal(getattr(solution, name), getattr(alone, name)), name
        assert (solution.status, solution.message, solution.doubts) == (alone.status, alone.message, alone.doubts)
        assert solution.steps == alone.steps


def test_other_structures_do_not_go_together():
    method = find("RKMK4")
    assert likeness(swinging(1.0, 0.5), method, 0.0) != likeness(SYSTEMS["pendulum"].problem(), method, 0.0)
    assert likeness(swinging(1.0, 0.5), find("TREE_VARIATIONAL"), 0.0) is None
    assert likeness(swinging(1.0, 0.5), find("GAUSS8"), 0.0) is None
    assert likeness(decaying(1.0), method, 0.0) is None


def test_units_of_what_is_not_there_are_named():
    problem = Problem(table_of([(RN, 1)]), [1.0], lambda t, y: -y, invariants={"size": lambda t, y: y[0]})
    units = {"step": "s", "size_error": "m", "size": "m"}
    with pytest.warns(RuntimeWarning, match=r"units: 'size', expected names among step, size_error"):
        table = sweep(problem, {"step": [0.1, 0.05]}, "RKMK4", (0.0, 0.2), units=units)
    assert table["size_error"].attrs["units"] == "m"


def test_a_labelled_table():
    axes = {"mass": [1.0, 2.0, 3.0], "length": [0.5, 0.8], "method": ["RKMK4", "MIDPOINT"]}
    table = sweep(swinging, axes, None, SPAN, STEP, quantities={"end": end}, units={"mass": "kg", "length": "m"})
    assert table["end"].dims == ("mass", "length", "method", "end_0")
    assert table["mass"].attrs["units"] == "kg"
    assert (table["status"] == "OK").all()
    assert table.attrs["step"] == STEP
    for mass, length, method in itertools.product(*axes.values()):
        alone = integrate(swinging(mass, length), method, SPAN, STEP)
        assert np.array_equal(table["end"].sel({"mass": mass, "length": length, "method": method}), alone.y[-1])


def test_steps_of_a_problem_and_the_errors_of_its_invariants():
    table = sweep(SYSTEMS["pendulum"], {"step": [0.1, 0.05, 0.025]}, "MIDPOINT", (0.0, 2.0))
    assert np.allclose(np.diff(np.log2(table["energy_error"])), -2.0, atol=0.1)


@pytest.mark.slow
def test_gains_of_servos_in_lanes():
    def held(stiffness):
        servo = forces.servo("upper", stiffness=stiffness, damping=0.1)
        return Mechanism(arm(1.0, 0.5), elements=[servo]).problem([0.5, 0.2])

    stiffnesses = np.geomspace(1.0, 100.0, 8)
    assert varies(held(1.0), find("RKMK4"))
    table = sweep(held, {"stiffness": stiffnesses}, "RKMK4", SPAN, STEP, quantities={"end": end})
    for stiffness in stiffnesses:
        assert np.array_equal(
            table["end"].sel(stiffness=stiffness), integrate(held(stiffness), "RKMK4", SPAN, STEP).y[-1]
        )


def test_elements_of_other_formulas_do_not_go_together():
    def problem(stop, **law):
        return Mechanism(arm(1.0, 0.5), elements=[stop("upper", **law)]).problem([0.3, 0.2])

    def key(stop, **law):
        return likeness(problem(stop, **law), find("RKMK4"), 0.0)

    stop = {"lower": -0.4, "upper": 0.4}
    hertz = key(forces.joint_stop, stiffness=1.0, law="hertz", **stop)
    assert hertz is not None
    assert hertz == key(forces.joint_stop, stiffness=2.0, law="hertz", **stop)
    assert hertz != key(forces.joint_stop, stiffness=1.0, law="kelvin_voigt", **stop)
    plain = key(forces.dry_friction, force=1.0)
    assert plain == key(forces.dry_friction, force=2.0) != key(forces.dry_friction, force=1.0, static_force=2.0)


def test_a_failed_cell_has_a_name_and_no_number():
    table = sweep(growing, {"power": [0.5, 2.0]}, "RKMK4", (0.0, 2.0), 0.001, quantities={"end": end})
    assert table["status"].values.tolist() == ["OK", "NON_FINITE"]
    assert np.isfinite(table["end"][0]).all()
    assert np.isnan(table["end"][1]).all()
    assert "finite" in str(table["message"][1].values)

    def refused(rate):
        if rate < 0.0:
            raise ValueError(f"rate: {rate}, expected a positive number")
        return decaying(rate)

    table = sweep(refused, {"rate": [1.0, -1.0]}, "RKMK4", SPAN, STEP, quantities={"end": end})
    assert table["status"].values.tolist() == ["OK", "REFUSED"]
    assert "expected a positive number" in str(table["message"][1].values)
    with pytest.raises(ValueError, match="rate"):
        sweep(refused, {"rate": [-2.0, -1.0]}, "RKMK4", SPAN, STEP)


def test_what_a_function_raises_costs_its_cell_alone():
    def late(rate):
        def field(t, y):
            if rate == 2.0 and t > 0.5:
                raise KeyError("no such table")
            return -rate * y

        return Problem(table_of([(RN, 1)]), [1.0], field, model="decay")

    def first(solution):
        if solution.y[-1, 0] < np.exp(-2.5):
            raise IndexError("nothing found")
        return solution.y[-1, 0]

    table = sweep(late, {"rate": [1.0, 2.0, 3.0]}, "RKMK4", SPAN, STEP, quantities={"first": first})
    assert table["status"].values.tolist() == ["OK", "RAISED", "RAISED"]
    assert np.isfinite(table["first"]).values.tolist() == [True, False, False]
    assert "no such table" in str(table["message"][1].values)
    assert "in step" in str(table["message"][1].values)
    assert "nothing found; raised by the quantity 'first'" in str(table["message"][2].values)
    with pytest.raises(IndexError, match="nothing found"):
        sweep(late, {"rate": [3.0, 4.0]}, "RKMK4", SPAN, STEP, quantities={"first": first})


def test_quantities_that_are_no_real_numbers_are_named():
    with pytest.raises(TypeError, match="quantities: 'root' gives complex128 values, expected real numbers") as caught:
        sweep(decaying, {"rate": [1.0, 2.0]}, "RKMK4", SPAN, STEP, quantities={"root": lambda s: 1j})
    assert "'root'" in caught.value.__notes__[0]


def test_a_variant_that_cannot_begin_does_not_stop_the_others():
    def started(speed):
        return arm(1.0, 0.5).problem([0.5, speed])

    table = sweep(started, {"speed": [0.1, np.nan, 0.3]}, "RKMK4", SPAN, STEP, quantities={"end": end})
    assert table["status"].values.tolist() == ["OK", "REFUSED", "OK"]


def test_a_lane_that_fails_leaves_the_others_alone():
    variants = [swinging(mass, 0.5) for mass in (1.0, 2.0, 3.0)]
    variants[1] = variants[1].with_start(np.array([0.5, 0.2, 1e140, 1e140]))
    found = integrate_together(variants, find("RKMK4"), SPAN, STEP)
    assert [solution.status.name for solution in found] == ["OK", "NON_FINITE", "OK"]
    for variant, solution in zip(variants, found, strict=True):
        alone = integrate(variant, "RKMK4", SPAN, STEP)
        assert np.array_equal(solution.y, alone.y)
        assert (solution.status, solution.message) == (alone.status, alone.message)


def test_any_number_of_workers_gives_the_same_bits():
    axes = {"mass": np.linspace(1.0, 2.0, 5), "length": [0.5, 0.6, 0.7, 0.8]}
    tables = [sweep(swinging, axes, "RKMK4", SPAN, STEP, quantities={"end": end}, workers=k) for k in (1, 2)]
    with ThreadPoolExecutor(2) as pool:
        tables.append(sweep(swinging, axes, "RKMK4", SPAN, STEP, quantities={"end": end}, client=pool, per_chunk=3))
    assert tables[0].identical(tables[1])
    assert tables[0].identical(tables[2])


@pytest.mark.parametrize(
    ("model", "axes", "given", "error", "word"),
    [
        (decaying, {}, {}, ValueError, "parameters"),
        (decaying, {"rate": []}, {}, ValueError, "'rate'"),
        (decaying, {"rate": "fast"}, {}, ValueError, "'rate'"),
        (decaying, {"a b": [1]}, {}, ValueError, "identifier"),
        (SYSTEMS["pendulum"], {"mass": [1.0]}, {}, TypeError, "model"),
        (decaying, {"rate": [1.0]}, {"into": "a.h5"}, TypeError, "into"),
        (decaying, {"rate": [1.0]}, {"quantities": {"end": 1}}, TypeError, "quantities"),
        (decaying, {"rate": [1.0]}, {"client": 1}, TypeError, "client"),
        (decaying, {"rate": [1.0], "method": ["MIDPOINT"]}, {}, TypeError, "^method: among the parameters and besides"),
        (decaying, {"rate": [1.0], "step": [0.1]}, {}, TypeError, "^step: among the parameters and besides"),
    ],
)
def test_what_makes_no_sense_is_refused(model, axes, given, error, word):
    with pytest.raises(error, match=word):
        sweep(model, axes, "RKMK4", SPAN, STEP, **given)


def test_the_name_of_the_package():
    assert integrators.sweep is sweeps.sweep


def test_a_quantity_of_another_shape_costs_its_cell_alone():
    quantities = {"some": lambda solution: np.zeros(1 + int(solution.y[-1, 0] < 0.1))}
    table = sweep(decaying, {"rate": [1.0, 3.0, 2.0]}, "RKMK4", SPAN, STEP, quantities=quantities)
    assert table["status"].values.tolist() == ["OK", "RAISED", "OK"]
    assert "quantity 'some': shape (2,), expected (1,)" in str(table["message"][1].values)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"quantities": {"status": end}}, "quantities: name 'status'"),
        ({"quantities": {"rate": end}}, "quantities: name 'rate'"),
        ({"quantities": {"end": end}, "units": {"ende": "m"}}, "units: 'ende'"),
    ],
)
def test_names_that_hide_others_are_refused_before_the_runs(given, words):
    def never(rate):
        raise AssertionError("a run began")

    with pytest.raises(ValueError, match=words):
        sweep(never, {"rate": [1.0]}, "RKMK4", SPAN, STEP, **given)


def test_one_ctrl_c_ends_a_sweep_and_what_was_computed_is_returned():
    pressed = []

    def stops(t, y):
        if t > 0.5 and y[0] < 1.0 and not pressed:
            pressed.append(t)
            signal.raise_signal(signal.SIGINT)
        return -y

    def starting(at):
        return Problem(table_of([(RN, 1)]), [at], stops)

    table = sweep(starting, {"at": [10.0, 1.0, 10.0]}, "RKMK4", (0.0, 1.0), 0.1, quantities={"end": end})
    assert table["status"].values.tolist() == ["OK", "INTERRUPTED", "INTERRUPTED"]
    assert "not run" in str(table["message"].values[2])
    assert np.isnan(table["end"].values[1:]).all()
    assert table["end"].values[0, 0] == integrate(starting(10.0), "RKMK4", (0.0, 1.0), 0.1).y[-1, 0]


def test_ctrl_c_is_no_answer_to_the_search_for_a_step():
    pressed = []

    def stops(t, y):
        if t > 0.0 and not pressed:
            pressed.append(t)
            signal.raise_signal(signal.SIGINT)
        return -y

    with pytest.raises(KeyboardInterrupt):
        integrators.suggest_step(Problem(table_of([(RN, 1)]), [1.0], stops), "RKMK4")


def braced(stiffness, **options):
    """A four-bar linkage with a spring and damper from its coupler to the ground."""
    brace = forces.spring_damper(
        Frame("coupler"), Frame(None, (0.0, 1.0, 0.0)), stiffness, damping=0.1 * stiffness, length=0.5
    )
    closing = four_bar.pin("coupler", (four_bar.COUPLER, 0), "rocker", (four_bar.ROCKER, 0), "C")
    return Mechanism(four_bar.tree(), [closing], four_bar.configuration(four_bar.START), [brace]).problem(**options)


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RODAS4", "BDF2", "MIDPOINT"])
def test_mechanisms_with_derivatives_of_their_own_numbers_go_in_lanes(method):
    """Each lane is differentiated by its own parameters, and at its own time."""
    options = {"projection": "none"} if method == "BDF2" else {}
    problems = [braced(stiffness, **options) for stiffness in np.linspace(10.0, 300.0, 8)]
    together = integrate_together(problems, find(method), SPAN, 0.02)
    for problem, run in zip(problems, together, strict=True):
        assert np.array_equal(run.y, integrate(problem, method, SPAN, 0.02).y)


@pytest.mark.parametrize("method", ["RKMK4", "MIDPOINT"])
@pytest.mark.parametrize("where", ["prescribed", "commanded"])
def test_motions_in_pieces_go_in_lanes(method, where):
    """Each lane finds its piece, among parameters of its own: the rotor's mass, and the amplitude."""

    def posed(mass):
        motion = joints.Motion.from_function(lambda t: 0.05 * mass * np.sin(3.0 * t), (0.0, 1.0))
        slide = (
            joints.Rheonomic((joints.Slide((1, 0, 0), motion),))
            if where == "prescribed"
            else joints.Prismatic((1, 0, 0))
        )
        pivot = Body("pivot", slide, inertia=Inertia.point(0.2))
        bob = Body("bob", joints.Revolute((0, 1, 0)), "pivot", inertia=Inertia.point(mass, (0.0, 0.0, -0.5)))
        drives = (
            [] if where == "prescribed" else [forces.servo("pivot_joint", stiffness=20.0, damping=1.0, target=motion)]
        )
        return Mechanism(Tree([pivot, bob]), elements=drives).problem()

    problems = [posed(mass) for mass in np.linspace(0.5, 2.0, 8)]
    together = integrate_together(problems, find(method), SPAN, 0.02)
    for problem, run in zip(problems, together, strict=True):
        assert run.success
        assert np.array_equal(run.y, integrate(problem, method, SPAN, 0.02).y)


@pytest.mark.parametrize("method", ["RKMK4", "MIDPOINT", "RKMK_RADAU_IIA3"])
def test_trees_by_their_velocities_go_in_lanes(method):
    """Their field keeps what it needs in the last lines of its workspace, behind which the lanes' own numbers lie."""

    def posed(mass):
        rubs = JointData(damping=0.3)
        upper = Body("upper", joints.Revolute((0, 1, 0)), inertia=Inertia.point(mass, (0.0, 0.0, -0.5)), data=rubs)
        hand = Inertia.about_com(0.5, (0.05, 0.0, -0.2), np.diag([0.05, 0.06, 0.07]))
        lower = Body("lower", joints.Revolute((0, 1, 0)), "upper", (0, 0, -0.7), inertia=hand, data=rubs)
        return velocity_problem(Tree([upper, lower]), [0.3, 0.1], [0.1, 0.2])

    problems = [posed(mass) for mass in np.linspace(0.6, 1.8, 8)]
    together = integrate_together(problems, find(method), (0.0, 0.3), 0.02)
    for problem, run in zip(problems, together, strict=True):
        assert np.array_equal(run.y, integrate(problem, method, (0.0, 0.3), 0.02).y)


def test_a_cell_that_is_not_to_be_trusted_says_so():
    table = sweep(SYSTEMS["pendulum"].problem(), {"step": [0.5, 0.01]}, "RKMK4", (0, 20.0))
    assert table["status"].values.tolist() == ["DOUBTFUL", "OK"]
    assert table["doubts"].values.tolist() == [1, 0]
    assert np.isfinite(table["energy_error"].values).all()


def fails_above(rate):
    if rate > 0.25:
        raise RuntimeError("a solver of mine did not converge")
    return decaying(rate)


def test_a_builder_that_raises_anything_loses_its_own_cell():
    table = sweep(fails_above, {"rate": [0.1, 0.2, 0.3]}, "RKMK4", (0, 1), 0.01)
    assert table["status"].values.tolist() == ["OK", "OK", "RAISED"]
    assert "a solver of mine did not converge" in str(table["message"].values[2])
    with pytest.raises(RuntimeError, match="a solver of mine"):
        sweep(fails_above, {"rate": [0.3, 0.4]}, "RKMK4", (0, 1), 0.01)


def test_functions_that_no_process_can_find_are_named():
    with ProcessPoolExecutor(1) as pool, pytest.raises(TypeError, match="cannot be sent to another process"):
        sweep(decaying, {"rate": [0.1]}, "RKMK4", (0, 1), 0.01, client=pool, quantities={"end": lambda s: s.y[-1, 0]})


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["rates"], "parameters: rates, but the model takes rate: missing a required argument: 'rate'"),
        (
            ["rate", "rtol"],
            "parameters: rate, rtol, but the model takes rate: got an unexpected keyword argument 'rtol'",
        ),
        (["step"], "parameters: none, but the model takes rate: missing a required argument: 'rate'"),
    ],
)
def test_parameters_that_a_model_does_not_take_are_named(names, says):
    with pytest.raises(TypeError, match=f"^{re.escape(says)}$"):
        sweep(decaying, {name: [0.1] for name in names}, "RKMK4", (0, 1), None if "step" in names else 0.01)
