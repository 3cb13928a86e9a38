"""Systems from functions of one's own: traced and compiled, no chart that turns singular, clear refusals."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import simpson, solve_ivp
from scipy.spatial.transform import Rotation

from integrators import generate_code, integrate, stepper, traced
from integrators.problem import Inputs, Variable
from liegroup import rn, se2, se3
from liegroup.compile import WIDTH, lane_array
from liegroup.table import SE2, SO3, table_of
from mechanics.nonholonomic.integrability import growth_vector
from mechanics.nonholonomic.system import ConstraintError
from mechanics.nonholonomic.testing import check_system, random_states
from mechanics.nonholonomic.user import nonholonomic_system
from mechanics.nonholonomic.written import Functions
from mechanics.systems.rolling.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.rolling.suslov import suslov

MASS, INERTIA, OFFSET = 1.0, 0.5, 0.3


def kinetic(q, v):
    x, y = v[0] - OFFSET * np.sin(q[2]) * v[2], v[1] + OFFSET * np.cos(q[2]) * v[2]
    return 0.5 * MASS * (x * x + y * y) + 0.5 * INERTIA * v[2] ** 2


def blade(q):
    return [[np.sin(q[2]), -np.cos(q[2]), 0.0]]


def sleigh(heading=0.0, **options):
    """Chaplygin's sleigh in coordinates (x, y, heading) of the skate."""
    v = [-0.4 * np.cos(heading), -0.4 * np.sin(heading), 1.2]
    return nonholonomic_system(rn(3), kinetic, blade, [0.0, 0.0, heading], v, **options)


def sleigh_of(mass):
    return nonholonomic_system(rn(3), mass, blade, [0.0, 0.0, 0.0], [-0.4, 0.0, 1.2])


@pytest.mark.parametrize("heading", [0.0, 0.5 * np.pi, 2.0])
def test_a_sleigh_that_turns_by_more_than_a_right_angle_keeps_its_energy_to_the_order_of_the_method(heading):
    """No choice of two of its three velocities would do: each fails at some heading."""
    own, built_in = sleigh(heading), chaplygin_sleigh(heading=heading)
    runs = [integrate(own.problem(), "RKMK4", (0.0, 8.0), step=h) for h in (0.04, 0.02, 0.01)]
    assert np.ptp(runs[0].y[:, 2]) > 0.5 * np.pi
    errors = np.array([run.error("energy") for run in runs])
    assert errors[0] < 1e-6
    assert (np.log2(errors[:-1] / errors[1:]) > 3.8).all()
    known = integrate(built_in.problem(), "RKMK4", (0.0, 8.0), step=1e-3).y[-1]
    np.testing.assert_allclose(runs[-1].y[-1][:3], known[:3], atol=1e-8)
    rows = np.stack([np.sin(runs[-1].y[:, 2]), -np.cos(runs[-1].y[:, 2])], axis=1)
    assert np.abs((rows * runs[-1].y[:, 3:5]).sum(axis=1)).max() < 1e-14


def test_a_skate_that_turns_round_and_round_keeps_its_energy():
    """Several full turns on an inclined plane: every block of its row is singular twice a turn."""
    skate = nonholonomic_system(
        rn(3),
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2),
        blade,
        [0.0, 0.0, 0.0],
        [0.3, 0.0, 1.0],
        potential=lambda q: -0.5 * q[0],
    )
    errors = [integrate(skate.problem(), "RKMK4", (0.0, 20.0), step=h).error("energy") for h in (0.08, 0.04)]
    assert errors[0] < 1e-5
    assert np.log2(errors[0] / errors[1]) > 3.8


def test_all_velocities_as_quasi_velocities_satisfy_every_identity():
    own = sleigh()
    assert (own.r, own.m) == (3, 1)
    check_system(own)
    assert np.linalg.matrix_rank(own.basis(own.q0)) == 2


@pytest.mark.parametrize("unit", [1e-6, 1e9])
def test_theorems_hold_in_any_unit_of_length(unit):
    """A skate on an inclined plane, in megametres and in nanometres: rounding of terms of 1e9 is no contradiction."""
    skate = nonholonomic_system(
        rn(3),
        lambda q, v, p: v[0] ** 2 + v[1] ** 2 + 0.02 * p[0] ** 2 * v[2] ** 2,
        lambda q, p: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
        [0.1 * unit, 0.2 * unit, 0.3],
        [0.5 * np.cos(0.3) * unit, 0.5 * np.sin(0.3) * unit, 1.1],
        potential=lambda q, p: -4.0 * p[0] * q[0],
        parameters=[unit],
    )
    check_system(skate)


def test_constant_columns_of_the_rows_give_independent_components():
    own = nonholonomic_system(
        table_of([(SO3, 1)]),
        lambda q: np.array([[1.0, 0, 0.3], [0, 1.4, -0.2], [0.3, -0.2, 1.2]]),
        lambda q: [[0.0, 0.0, 1.0]],
        [1.0, 0, 0, 0],
        [0.8, 0.5, 0.0],
    )
    built_in = suslov()
    assert own.quasi_velocities.labels == ("v0", "v1")
    a, b = (integrate(s.problem(), "RKMK4", (0.0, 2.0), step=0.01).y[-1] for s in (own, built_in))
    np.testing.assert_allclose(a, b, atol=1e-13)
    check_system(own)


@pytest.mark.parametrize("form", ["problem", "constrained_problem"])
def test_compiled_lanes_and_interpreted_agree_bitwise(form):
    own = sleigh()
    problem = getattr(own, form)()
    assert problem.is_compiled
    states = random_states(own, WIDTH, seed=2)
    y = np.stack([np.concatenate(s) for s in states], axis=1)
    lanes = lane_array(len(y))
    lanes[:] = y
    for function, size in ((problem.field, problem.dimension), (problem.projection or problem.invariants, problem.n)):
        out = lane_array(size)
        work = lane_array(*problem.work_shape)
        function.compiled_lanes(0.3, lanes, problem.parameters, problem.structure, work, out)
        for k in range(WIDTH):
            scalar, plain = np.zeros(size), np.zeros(size)
            for call, values in ((function.compiled, scalar), (function.python, plain)):
                call(0.3, y[:, k].copy(), problem.parameters, problem.structure, np.zeros(problem.work_shape), values)
            np.testing.assert_array_equal(plain, scalar)
            np.testing.assert_array_equal(out[:, k], scalar)


def test_one_code_serves_all_parameters():
    def made(numbers):
        return nonholonomic_system(
            table_of([(SE2, 1)]),
            lambda q, v, p: 0.5 * p[0] * (v[0] ** 2 + (v[1] + p[2] * v[2]) ** 2) + 0.5 * p[1] * v[2] ** 2,
            lambda q, p: [[0.0, 1.0, 0.0]],
            [0.0, 0.0, 0.0],
            [-0.4, 0.0, 1.2],
            parameters=numbers,
        )

    a, b = made([MASS, INERTIA, OFFSET]), made([2.0, 0.7, 0.1])
    assert a.reduced.field is b.reduced.field
    for own, mass, inertia, offset in ((a, MASS, INERTIA, OFFSET), (b, 2.0, 0.7, 0.1)):
        known = chaplygin_sleigh(mass, inertia, offset).problem()
        np.testing.assert_allclose(own.problem().velocity(0, own.problem().y0), known.velocity(0, known.y0), atol=1e-14)


def test_a_frame_and_its_metric_give_orthogonal_quasi_velocities_and_methods_that_work_with_them():
    own = nonholonomic_system(
        table_of([(SE2, 1)]),
        lambda q, v: 0.5 * (v[0] ** 2 + (v[1] + 0.3 * v[2]) ** 2) + 0.25 * v[2] ** 2,
        lambda q: [[0.0, 1.0, 0.0]],
        [0.0, 0.0, 0.0],
        [-0.4, 0.0, 1.2],
        frame=lambda q: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
        metric=lambda: (1.0, 0.59),
    )
    known = chaplygin_sleigh().problem()
    a, b = (integrate(p, "ENERGY_EXACT", (0.0, 2.0), step=0.05).y[-1] for p in (own.problem(), known))
    np.testing.assert_allclose(a, b, atol=1e-12)
    check_system(own)


@pytest.mark.parametrize("unit", [1.0, 1e9])
def test_columns_of_a_frame_that_depend_on_each_other_are_named(unit):
    def posed(frame):
        rows = [[0.0, unit, 0.0]]
        return nonholonomic_system(
            rn(3), lambda q, v: 0.5 * v @ v, lambda q: rows, [0.1, 0.0, 0.3], [0.0, 0.0, 0.0], frame=frame
        )

    with pytest.raises(ValueError, match=r"frame: column 1 depends on those before it at q0 = .* 2 independent ones"):
        posed(lambda q: [[1.0, 3.0 * unit], [0.0, 0.0], [0.7 / unit, 2.1]])
    with pytest.raises(ValueError, match="frame: column 0 is zero"):
        posed(lambda q: [[q[1], 0.0], [0.0, 0.0], [0.0, unit]])
    assert posed(lambda q: [[1.0, 0.0], [0.0, 0.0], [0.0, unit]]).problem().dimension == 5


def test_moving_supports_and_rows_that_depend_on_time_satisfy_every_identity():
    """A particle on a plane that swings, ż = s(t) ẋ + y ẏ + 0.1 cos t, with friction."""
    own = nonholonomic_system(
        rn(3),
        lambda q, v: 0.5 * v @ v,
        lambda t, q: [[-np.sin(t), -q[1], 1.0]],
        [0.1, 0.2, 0.3],
        [0.5, -0.4, -0.08 + 0.1],
        value=lambda t, q: [0.1 * np.cos(t)],
        force=lambda t, q, v: -0.2 * v,
        conservative=False,
    )
    check_system(own)


@pytest.mark.parametrize("reduced", [True, False])
def test_a_start_under_rows_of_time_is_one_at_its_time(reduced):
    """ż = sin t ẋ + 0.1 cos t: a velocity that is admissible at t = 0.5 is so at no other time that is asked for."""

    along, up = 0.5, 0.5 * np.sin(0.5) + 0.1 * np.cos(0.5)

    def system(rows, value, v0):
        made = nonholonomic_system(
            rn(3), lambda q, v: 0.5 * v @ v, rows, [0.1, 0.2, 0.3], v0, value=value, conservative=False, t=0.5
        )
        return made.problem() if reduced else made.constrained_problem()

    posed = system(lambda t, q: [[-np.sin(t), 0.0, 1.0]], lambda t, q: [0.1 * np.cos(t)], [along, -0.4, up])
    assert posed.begins == 0.5
    with pytest.raises(ValueError, match=r"t_span: begins at 0\.0, expected 0\.5: .* pose the problem with t=0\.0"):
        integrate(posed, "GAUSS8", (0.0, 1.0), 0.05)
    run = integrate(posed, "GAUSS8", (0.5, 1.0), 0.05)
    # M v̇ = Aᵀλ, A v̇ = ċ − Ȧ v
    true = solve_ivp(
        lambda t, y: np.array([-np.sin(t), 1.0]) * (np.cos(t) * y[0] - 0.1 * np.sin(t)) / (1.0 + np.sin(t) ** 2),
        (0.5, 1.0), [along, up], "DOP853", rtol=1e-13, atol=1e-14,
    )  # fmt: skip
    assert posed.velocity(1.0, run.y[-1])[[0, 2]] == pytest.approx(true.y[:, -1], abs=1e-11)
    steady = system(lambda q: [[0.0, -q[0], 1.0]], lambda t, q: [0.1 + 0.0 * t], (0.5, -0.4, 0.06))
    assert steady.begins is None
    still = system(lambda t, q: [[-np.sin(t), 0.0, 1.0]], None, (0.0, 0.3, 0.0))
    assert still.begins is None


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"potential": lambda t, q: q[0]}, r"potential: a function of 1 argument is called, this one has \(t, q\)"),
        ({"force": lambda q, v: v}, r"force: a function of 3 arguments .* this one has \(q, v\); .* F\(t, q, v\)"),
        ({"rows": lambda: 0}, r"rows: a function of 1 argument .* \(none\); expected a function A\(q\) or A\(t, q\)"),
        ({"mass": lambda q, v, w: 0}, r"mass: a function of 2 arguments .* expected a function T\(q, v\) or M\(q\)"),
        (
            {"parameters": [1.0]},
            r"mass: a function of 3 .* expected a function T\(q, v, parameters\) or M\(q, parameters\)",
        ),
        ({"metric": lambda q: 1}, r"metric: a function of 0 arguments"),
        ({"invariants": {"one": lambda q: 0}}, r"invariants\['one'\]: a function of 2 arguments"),
        ({"edges": 3}, "edges: 3, expected a mapping of names to functions"),
        ({"rows": None}, "rows: None, expected a function"),
    ],
)
def test_functions_of_another_number_of_arguments_are_named(wrong, message):
    given = {"mass": lambda q: np.eye(3), "rows": lambda q: [[0.0, 0.0, 1.0]], "q0": [0.0] * 3, "v0": [1.0, 0.0, 0.0]}
    with pytest.raises(TypeError, match=message):
        nonholonomic_system(rn(3), **(given | wrong))


@pytest.mark.parametrize("interpreted", [False, True])
def test_arguments_with_a_default_are_those_of_one_form_or_refused(interpreted):
    """Without a word (t, q, p=None) was A(q, parameters): q was the parameters, and t the configuration."""
    given = {"q0": [0.0] * 3, "v0": [0.3, 0.0, 1.0], "parameters": [1.4, 2.0, 0.0], "interpreted": interpreted}

    def energy(q, v, p):
        return 0.5 * p[0] * (v[0] ** 2 + v[1] ** 2) + 0.5 * p[1] * v[2] ** 2

    def matrix(q, p=None):
        return [[p[0], 0.0, 0.0], [0.0, p[0], 0.0], [0.0, 0.0, p[1]]]

    def made(mass, rows):
        return nonholonomic_system(rn(3), mass, rows, potential=lambda q, p=None: -0.5 * q[0], **given).problem()

    for rows in (lambda t, q, p=None: blade(q), lambda q, p, tilt=0.0: blade(q), lambda t=0.0, q=None, p=None: 0):
        with pytest.raises(TypeError, match=r"rows: .* A\(q, parameters\) or A\(t, q, parameters\); give"):
            made(energy, rows)
    with pytest.raises(TypeError, match=r"mass: .*\(q, v, p=None\) .* T\(q, v, parameters\) or M\(q, parameters\)"):
        made(lambda q, v, p=None: energy(q, v, p), lambda q, p: blade(q))
    known = made(energy, lambda t, q, p: blade(q))
    for mass, rows in (
        (matrix, lambda q, p=None: blade(q)),
        (energy, lambda t, q, p, *, tilt=0.0: blade(q)),
        (energy, lambda *x: blade(x[0])),
    ):
        problem = made(mass, rows)
        np.testing.assert_allclose(problem.velocity(0.0, problem.y0), known.velocity(0.0, known.y0), atol=1e-14)


def test_functions_that_cannot_be_traced_are_named_and_may_be_interpreted():
    with pytest.raises(TypeError, match=r"potential: could not be traced.*interpreted=True"):
        sleigh(potential=lambda q: float(q[0]))
    with pytest.raises(TypeError, match=r"mass: could not be traced.*math"):
        sleigh_of(lambda q: np.eye(3) * (2.0 + math.erf(q[0])))
    with pytest.raises(TypeError, match=r"force: could not be traced.*`if` on a value"):
        sleigh(force=lambda t, q, v: -v if v[0] > 0 else v)
    a, b = sleigh(), sleigh(interpreted=True)
    assert not b.problem().is_compiled
    for q, v in random_states(a, 3):
        y = np.concatenate([q, v])
        np.testing.assert_allclose(a.problem().velocity(0.3, y), b.problem().velocity(0.3, y), atol=1e-14)
        np.testing.assert_allclose(a.parts(q, v).rate, b.parts(q, v).rate, atol=1e-14)
    runs = [integrate(s.problem(), "RKMK4", (0.0, 0.2), step=0.05).y[-1] for s in (a, b)]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-14)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("potential", lambda q: 0.5 * abs(q[0] - 1.0)),
        ("potential", lambda q: np.interp(q[0], [-5.0, 5.0], [0.0, 3.0])),
        ("mass", lambda q: np.eye(3) * (1.0 + np.linalg.norm(q + 1.0))),
        ("rows", lambda q: [[math.sin(q[2]), -math.cos(q[2]), 0.0]]),
    ],
)
def test_interpreted_functions_that_lose_derivatives_are_named(name, function):
    """Their forces were left out, and the motion was another one."""
    given = {"mass": kinetic, "rows": blade, "potential": None} | {name: function}
    with pytest.raises(ValueError, match=f"{name}: complex numbers carry .* but differences give"):
        nonholonomic_system(rn(3), q0=[0.0] * 3, v0=[0.3, 0.0, 1.0], interpreted=True, **given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"force": lambda t, q, v: 1.0}, r"force: returned an array of shape \(\), expected \(3,\)"),
        ({"force": lambda t, q, v: v[:2]}, r"force: returned an array of shape \(2,\), expected \(3,\)"),
        ({"value": lambda t, q: [0.0, 0.0]}, r"value: returned an array of shape \(2,\), expected \(1,\)"),
        ({"potential": lambda q: None}, "potential: returned None, expected numbers; does it end without `return`"),
        ({"mass": lambda q: [1.0, 2.0, 3.0]}, r"mass: returned an array of shape \(3,\), expected \(3, 3\)"),
        ({"rows": lambda q: [[1.0], [0.0], [0.0]]}, r"rows: returned an array of shape \(3, 1\), expected \(m, 3\)"),
        ({"q0": [0.0, 0.0]}, r"q0: shape \(2,\), expected \(3,\)"),
        ({"velocities": 3}, "velocities: 3, expected integrators.Variable"),
        ({"variables": 3}, "variables: 3, expected a sequence of integrators.Variable"),
        ({"conservative": "no"}, "conservative: 'no', expected True or False"),
    ],
)
def test_interpreted_functions_of_other_sizes_are_named(given, words):
    """A force of one number acted on the first component alone, and values beyond the rows on what lies behind them."""
    start = {"mass": kinetic, "rows": blade, "q0": [0.0] * 3, "v0": [0.3, 0.0, 1.0]}
    with pytest.raises((TypeError, ValueError), match=words):
        nonholonomic_system(rn(3), interpreted=True, **start | given).problem()


def test_interpreted_rows_that_become_more_are_named():
    """They were written over what lies behind them."""

    def rows(q):
        return blade(q) if q[2].real < 1.5 else [*blade(q), [0.0, 0.0, 1.0]]

    problem = nonholonomic_system(rn(3), kinetic, rows, [0.0] * 3, [0.3, 0.0, 1.0], interpreted=True).problem()
    with pytest.raises(ValueError, match=r"rows: returned an array of shape \(2, 3\), expected \(1, 3\)"):
        integrate(problem, "RKMK4", (0.0, 20.0), 0.1)


@pytest.mark.parametrize("unit", [1.0, 1e-6])
@pytest.mark.parametrize("start", [0.0, 0.3])
def test_what_loses_derivatives_beside_the_start_alone_is_named(unit, start):
    """At x = 0 the derivative of |x|³ is nothing, with or without it."""
    with pytest.raises(ValueError, match=r"potential: complex numbers carry .* but differences give"):
        nonholonomic_system(
            rn(3), lambda q, v: 0.5 * (v @ v), lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
            potential=lambda q: abs(q[0] / unit) ** 3, q0=[start * unit, 0.0, 0.0], v0=[unit, 0.0, 0.5],
            interpreted=True,
        ).problem()  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mass": lambda q, v: 0.5 * v @ v + 1.0}, "quadratic in v"),
        ({"mass": lambda q, v: 0.5 * v @ v + v[0]}, "quadratic in v"),
        ({"mass": lambda q, v: v[0] ** 3 + v @ v}, "not quadratic in v"),
        ({"mass": lambda q: np.diag([1.0, 0.0, 1.0])}, "positive definite"),
        ({"mass": lambda q: np.eye(2)}, r"mass: returned an array of shape \(2, 2\), expected \(3, 3\)"),
        ({"rows": lambda q: [[0.0, np.nan + q[0], 1.0]]}, r"rows: component 1 of row 0 is nan at the start"),
        ({"rows": lambda q: [[0.0, 0.0, 0.0]]}, "constraint row 0 is zero at the start"),
        ({"rows": lambda q: [[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]]}, "constraint row 1 depends on the others"),
        ({"rows": lambda q: [[1.0, 0.0]]}, r"rows: returned an array of shape \(1, 2\), expected \(m, 3\)"),
        ({"q0": [0.0, 0.0]}, r"q0: shape \(2,\), expected \(3,\)"),
        ({"force": lambda t, q, v: [0.0]}, r"force: returned an array of shape \(1,\), expected \(3,\)"),
        ({"frame": lambda q: np.eye(3)}, r"frame: returned an array of shape \(3, 3\), expected \(3, 2\)"),
        ({"frame": lambda q: np.eye(3)[:, 1:]}, "its columns must satisfy the rows"),
        ({"metric": lambda: (1.0, 1.0)}, "metric: given without a frame"),
    ],
)
def test_bad_functions_are_refused_by_name(change, message):
    given = {"mass": kinetic, "rows": blade, "q0": [0.0, 0.0, 0.0], "v0": [-0.4, 0.0, 1.2], **change}
    with pytest.raises(ValueError, match=message):
        nonholonomic_system(rn(3), **given)


def along_the_blade(q):
    return [[np.cos(q[2]), 0.0], [np.sin(q[2]), 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("m", [1.0, 1e-12])
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda m: {"mass": lambda q, v: 0.5 * m * v @ v + m * q[0] * v[2]}, r"T\(q, v\) = .* at q = .*quadratic in v"),
        (
            lambda m: {"mass": lambda q, v: 0.5 * m * v @ v + m * q[0]},
            r"mass: T\(q, v\) = .* at q = .*belong to the potential",
        ),
        (
            lambda m: {"frame": lambda q: [[m, 0.0], [0.0, 0.0], [0.0, m]], "rows": lambda q: m * np.array(blade(q))},
            "A S = 0 is violated by .* at q = ",
        ),
        (
            lambda m: {"frame": along_the_blade, "metric": lambda: (2.0 * m, m)},
            r"metric: SᵀM S = .* at q0, expected diag",
        ),
        (
            lambda m: {
                "frame": along_the_blade, "metric": lambda: (m, m), "gyro": lambda q, u: [m * u[0] * u[1], 0.0 * q[0]],
            },
            r"gyro: \[.*, 0.0\] at q0, u = \[0.5, 1.0\], expected .*\[0.0, 0.0\]",
        ),
    ],
)  # fmt: skip
def test_what_holds_at_the_start_by_chance_or_not_at_all_is_refused(changed, message, m):
    """A frame that leaves the rows, a metric that is not the one of the masses: runs of another system, and no word;
    in any unit.
    """
    given = {"mass": lambda q, v: 0.5 * m * v @ v, "rows": blade, **changed(m)}
    with pytest.raises(ValueError, match=message):
        nonholonomic_system(rn(3), q0=[0.0, 0.0, 0.0], v0=[0.3, 0.0, 1.0], **given)


@pytest.mark.parametrize(("size", "weight"), [(1.0, 1.0), (1e-6, 1e-15), (1e6, 1e12)])
def test_functions_that_agree_are_taken_in_any_unit(size, weight):
    """Where a frame is 1e-16 off zero, and masses and moments are far apart."""
    m, a, j = weight, 0.3 * size, 0.5 * weight * size**2
    made = nonholonomic_system(
        se2,
        lambda q, v: 0.5 * m * (v[0] ** 2 + (v[1] + a * v[2]) ** 2) + 0.5 * j * v[2] ** 2,
        lambda q: [[1e-16, size, 0.0]],
        [0.0, 0.0, 0.0],
        [0.4 * size, 0.0, 1.2],
        frame=lambda q: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
        metric=lambda: (m, j + m * a * a),
        gyro=lambda q, u: [m * a * u[1] ** 2, -m * a * u[0] * u[1]],
    )
    assert made.problem().dimension == 5


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("start", [0.0, 0.3])
def test_a_position_of_which_the_last_rows_are_not_the_rate_is_refused(start, interpreted):
    """φ = y − cos θ, whose rate is ẏ + sin θ θ̇: with twice that sine the motion leaves φ = 0, which was a success."""

    def made(factor):
        rows = {"rows": lambda q: [[1.0, 0.0, -1.0], [0.0, 1.0, factor * np.sin(q[2])]]}
        rate = [1.0, -factor * np.sin(start), 1.0]
        return nonholonomic_system(
            rn(3), lambda q, v: 0.5 * v @ v, **rows, q0=[0.0, np.cos(start), start], v0=rate,
            position=lambda q: [q[1] - np.cos(q[2])], interpreted=interpreted,
        )  # fmt: skip

    with pytest.raises(ValueError, match=r"position: value 0 changes by .* per velocity 2 at q.*, as row 1 has it"):
        made(2.0)
    run = integrate(made(1.0).constrained_problem(), "RKMK4", (0.0, 0.5), step=0.05)
    assert run.y[-1, 1] == pytest.approx(np.cos(run.y[-1, 2]), abs=1e-6)


def test_a_position_is_compared_along_velocities_of_the_body():
    """The height of a free body that leans: its rate is the velocity in body axes along the last row of R."""
    x, y, z, w = Rotation.from_rotvec([0.3, -0.8, 0.5]).as_quat()

    def rows(q):
        w, x, y, z = q[3], q[4], q[5], q[6]
        return [[2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y), 0.0, 0.0, 0.0]]

    given = {"q0": [0.1, 0.2, 0.5, w, x, y, z], "v0": [0.0] * 3 + [0.2, 0.1, -0.3]}
    made = nonholonomic_system(se3, lambda q, v: 0.5 * v @ v, rows, position=lambda q: [q[2] - 0.5], **given)
    assert made.positions == 1
    with pytest.raises(ValueError, match="position: value 0 changes by"):
        nonholonomic_system(se3, lambda q, v: 0.5 * v @ v, rows, position=lambda q: [q[1] - 0.2], **given)


def test_what_holds_wherever_admissible_motions_lead_is_taken():
    """A point kept on the unit circle by a row: elsewhere the frame has another length.  And a frame with an end."""
    circle = nonholonomic_system(
        rn(2), lambda q, v: 0.5 * v @ v, lambda q: [q], [1.0, 0.0], [0.0, 1.0],
        frame=lambda q: [[-q[1]], [q[0]]], metric=lambda: (1.0,),
    )  # fmt: skip
    assert circle.u0.tolist() == [1.0]
    blade = {"rows": lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]], "edges": {"turned": lambda q: np.sin(q[2])}}
    start = {"q0": [0.0, 0.0, 0.02], "v0": [np.cos(0.02), np.sin(0.02), -1.0]}

    def branch(q):
        return [[np.cos(q[2]), 0.0], [(1.0 - np.cos(q[2]) ** 2) ** 0.5, 0.0], [0.0, 1.0]]

    assert nonholonomic_system(rn(3), lambda q, v: 0.5 * v @ v, frame=branch, **blade, **start).u0.shape == (2,)


def test_velocities_that_violate_the_rows_are_refused():
    with pytest.raises(ConstraintError, match="row 0 by"):
        nonholonomic_system(rn(3), kinetic, blade, [0.0, 0.0, 0.0], [0.0, 0.1, 1.0])


def test_growth_vectors_are_the_same_traced_and_interpreted():
    """With redundant quasi-velocities: a point on a sphere stays there, the skate reaches every configuration."""

    def on_a_sphere(**options):
        return nonholonomic_system(
            rn(3), lambda q: np.eye(3), lambda q: [q], [0.3, 0.5, -0.2], [0.5, -0.3, 0.0], **options
        )

    assert growth_vector(on_a_sphere()) == growth_vector(on_a_sphere(interpreted=True)) == (2, 2)
    assert growth_vector(sleigh()) == (2, 3)


def test_a_skate_is_driven_and_its_energy_is_the_work():
    """Thrust and steering torque: v and ω are their integrals, in both forms; the blade does no work."""
    power = Inputs(("thrust", "steer"), (0, 1), ("N", "N m"), power=lambda t, y, p: [p[0] * y[3], p[1] * y[-1]])
    skate = nonholonomic_system(
        se2,
        lambda q, p: np.diag([2.0, 2.0, 0.5]),
        lambda q, p: [[0.0, 1.0, 0.0]],
        q0=[0.0, 0.0, 0.0],
        v0=[0.3, 0.0, 1.0],
        force=lambda t, q, v, p: [p[0], 0.0, p[1]],
        parameters=[0.0, 0.0],
        inputs=power,
    )
    given = traced(lambda t: [np.cos(t), 0.5 * t])
    for pose, method in ((skate.problem, "RKMK4"), (skate.constrained_problem, "DLA6")):
        problem = pose().with_inputs(given)
        run = integrate(problem, method, (0.0, 1.0), 0.02)
        assert run.success
        np.testing.assert_allclose(run.y[-1][[3, -1]], [0.3 + 0.5 * np.sin(1.0), 1.5], rtol=0, atol=1e-7)
        work = simpson(problem.input_powers(run.t, run.y).sum(axis=1), x=run.t)
        assert run["energy"][-1] - run["energy"][0] == pytest.approx(work, rel=1e-6)
    assert integrate(skate.problem().with_inputs(given).with_work(), "RKMK4", (0.0, 1.0), 0.02).error("balance") < 1e-7


def test_interpreted_functions_read_the_parameters_of_the_problem():
    """They went on with those of the start: inputs, and other parameters, did nothing."""

    def skate(interpreted):
        return nonholonomic_system(
            se2, lambda q, p: np.diag([p[1], p[1], 0.5]), lambda q, p: [[0.0, 1.0, 0.0]], [0.0, 0.0, 0.0],
            [0.3, 0.0, 1.0], force=lambda t, q, v, p: [p[0], 0.0, 0.0], parameters=[0.0, 2.0], inputs={"thrust": 0},
            interpreted=interpreted,
        )  # fmt: skip

    for pose, method in (("problem", "RKMK4"), ("constrained_problem", "DLA")):
        traced_one, other = (getattr(skate(interpreted), pose)() for interpreted in (False, True))
        for change in (
            lambda p: p.with_inputs({"thrust": 1.0}),
            lambda p: p.with_inputs({"thrust": lambda t: np.cos(t)}),
            lambda p: replace(p, parameters=[0.5, 4.0]),
        ):
            ends = [integrate(change(p), method, (0.0, 0.4), 0.1).y[-1] for p in (traced_one, other)]
            assert abs(ends[0][3] - 0.3) > 0.04
            np.testing.assert_allclose(ends[1][:4], ends[0][:4], atol=1e-13)


def point(rows, **options):
    """A point on a plane, z = 0."""
    return nonholonomic_system(rn(3), lambda q, v: 0.5 * (v @ v), rows, [0.0] * 3, [1.0, 0.3, 0.0], **options)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (
            lambda t, q: [[np.sin(0.3 * t), 0.0, np.cos(0.3 * t)]],
            {"frame": lambda q: [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]},
            r"frame: A S = 0 is violated by 0.114 at q0, t = 0.38",
        ),
        (
            lambda t, q: [[0.0, np.sin(t), 1.0]],
            {"position": lambda q: [q[2]]},
            r"position: value 0 changes by 0 per velocity 1 at q0, t = 0.38\d*, expected 0.37",
        ),
        (
            lambda q: [[0.0, 0.0, 1.0]],
            {"position": lambda q: [q[2]], "value": lambda t, q: [0.1 * np.sin(t)]},
            r"value: 0.0372\d* in row 0 at q0, t = 0.38\d*, expected 0, as position",
        ),
    ],
)
def test_what_holds_at_the_time_of_the_start_alone_is_refused(rows, options, message):
    """A point slipped by 0.3 m/s, or rose with one method and stayed with another, with success."""
    with pytest.raises(ValueError, match=message):
        point(rows, **options)


def test_functions_of_the_time_that_agree_at_all_times_are_taken():
    """Rows that grow with the time, and end: a system of such was refused for the energy it has later."""

    def rows(t, q):
        if np.real(t) > 1.0:
            raise ValueError("over")
        return [[0.0, 0.0, 1.0 + t]]

    ending = integrate(point(rows, interpreted=True).problem(), "RKMK4", (0.0, 1.0), 0.25)
    assert ending.success
    assert ending.y[-1][:2] == pytest.approx([1.0, 0.3])
    made = point(lambda t, q: [[0.0, 0.0, 1.0 + t]], frame=lambda q: [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert integrate(made.problem(), "RKMK4", (0.0, 1.0), 0.1).y[-1][:2] == pytest.approx([1.0, 0.3])


def car(inputs, **options):
    """Front wheels at an angle p₀ 0.8 m ahead; p₁ is its mass, p₂ how fast its place is moved aside, p₃ a thrust."""
    given = {
        "mass": lambda q, v, p: 0.5 * p[1] * (v[0] ** 2 + (v[1] + 0.3 * v[2]) ** 2) + 0.1 * v[2] ** 2,
        "rows": lambda q, p: [[0.0, 1.0, 0.0], [-np.sin(p[0]), np.cos(p[0]), 0.8 * np.cos(p[0])]],
        "value": lambda t, q, p: [p[2], 0.0],
        "force": lambda t, q, v, p: [p[3], 0.0, 0.0],
    }
    return nonholonomic_system(
        se2, q0=[0.0, 0.0, 0.0], v0=[1.0, 0.0, 0.0], parameters=[0.0, 1.3, 0.0, 0.0], inputs=inputs, **given | options
    )


def test_inputs_on_whose_rates_the_motion_depends_are_for_methods_that_follow_them():
    """A car that is steered by an input: Runge and Kutta's methods and GAUSS8 went elsewhere by as much as the way."""
    places = {"steer": 0, "mass": 1, "slide": 2, "thrust": 3}
    system, steer = car(places), lambda t: 0.5 * np.sin(2.0 * t)
    assert system.problem().inputs.rates == {"steer": "rows", "mass": "mass", "slide": "value"}
    reduced, multipliers = system.problem(), system.constrained_problem()
    for problem in (reduced, multipliers):
        assert integrate(problem.with_inputs({"thrust": np.cos}), "RKMK4", (0.0, 0.1), 0.05).success
        assert integrate(problem.with_inputs({"slide": 0.0}), "RKMK4", (0.0, 0.1), 0.05).success
        for name, where in reduced.inputs.rates.items():
            for method in ("RKMK4", "GAUSS8"):
                with pytest.raises(ValueError, match=f"inputs: '{name}' .* stands in {where}, .* {method} takes"):
                    integrate(problem.with_inputs({name: lambda t: 1.3 + 0.1 * t}), method, (0.0, 0.1), 0.05)
    with pytest.raises(ValueError, match=r"'mass' .* stands in mass, .* MP takes that as zero"):
        integrate(multipliers.with_inputs({"mass": lambda t: 1.3 + 0.1 * t}), "MP", (0.0, 0.1), 0.05)

    def rate(t, y):
        """The wheels do no work, so that the energy is that of the start."""
        turn = np.tan(steer(t)) / 0.8
        v = np.sqrt(1.3 / (1.3 + (0.2 + 1.3 * 0.09) * turn**2))
        return [v * np.cos(y[2]), v * np.sin(y[2]), v * turn]

    true = solve_ivp(rate, (0.0, 2.0), [0.0, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    run = integrate(multipliers.with_inputs({"steer": steer}), "DLA4", (0.0, 2.0), 0.02)
    np.testing.assert_allclose(run.y[-1][:3], true, atol=1e-7)
    heavier = multipliers.with_inputs({"mass": lambda t: 1.3 / (1.0 + t)})  # its momentum stays
    assert integrate(heavier, "DLA", (0.0, 1.0), 0.1).y[-1][3] == pytest.approx(2.0)


def test_code_with_such_inputs_as_an_argument_is_refused():
    with pytest.raises(ValueError, match=r"'steer' .* stands in rows, .* code with inputs as an argument takes"):
        generate_code(car({"steer": 0, "mass": 1, "slide": 2, "thrust": 3}).problem(), "numpy", inputs=True)


def test_steps_with_inputs_on_whose_rates_the_motion_depends():
    """Rows of a step may be other ones where velocities are made admissible, masses may not."""
    only = car({"steer": 0})
    step, y = stepper(only.problem(), "RKMK4", 0.01), only.problem().y0
    for k in range(100):
        y = step(y, [0.5 * np.sin(0.02 * k + 0.01)])
    smooth = only.constrained_problem().with_inputs({"steer": lambda t: 0.5 * np.sin(2.0 * t)})
    assert y == pytest.approx(integrate(smooth, "DLA4", (0.0, 1.0), 0.02).y[-1], abs=0.01)
    with pytest.raises(ValueError, match=r"'steer' .* a step of RKMK4 takes that as zero"):
        stepper(only.constrained_problem(), "RKMK4", 0.01)
    with pytest.raises(ValueError, match=r"'mass' .* a step of DLA takes that as zero"):
        stepper(car({"mass": 1}).constrained_problem(), "DLA", 0.01)


def test_a_frame_that_an_input_turns_is_seen():
    """The reduced form alone reads it."""
    system = nonholonomic_system(
        se2, lambda q, p: np.eye(3), lambda q, p: [[0.0, 1.0, 0.0]], [0.0, 0.0, 0.0], [1.0, 0.0, 0.5],
        frame=lambda q, p: [[1.0 / p[0], 0.0], [0.0, 0.0], [0.0, 1.0]], parameters=[1.0], inputs={"size": 0},
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"'size' .* stands in frame"):
        integrate(system.problem().with_inputs({"size": lambda t: 1.0 + t}), "RKMK4", (0.0, 1.0), 0.1)
    free = system.constrained_problem().with_inputs({"size": lambda t: 1.0 + t})
    assert integrate(free, "RKMK4", (0.0, 1.0), 0.1).y[-1][3] == pytest.approx(1.0, abs=0.2)


def written_sleigh(parameters=3, given=(1.0, 0.5, 0.3), u0=(-0.4, 1.2), **other):
    """Chaplygin's sleigh by its functions, as a file of the package writes it."""
    functions = {
        "mass": lambda q, v, p: 0.5 * p[0] * (v[0] ** 2 + (v[1] + p[2] * v[2]) ** 2) + 0.5 * p[1] * v[2] ** 2,
        "rows": lambda q, p: [[0.0, 1.0, 0.0]],
        "frame": lambda q, p: [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
        "metric": lambda p: (p[0], p[1] + p[0] * p[2] ** 2),
    }
    return Functions(group=se2.table, parameters=parameters, **functions | other).system(
        model="sleigh",
        variables=(Variable("skate", ("x", "y", "heading")),),
        velocities=Variable("v", ("x", "y", "omega")),
        quasi_velocities=Variable("u", ("v", "omega")),
        parameters=given,
        q0=[0.0, 0.0, 0.0],
        u0=u0,
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frame": lambda q, p: [[1.0, 0.0], [0.0, 0.2], [0.0, 1.0]]}, "frame: A S = 0 is violated by 0.2 at q0"),
        ({"metric": lambda p: (p[0], p[1] - p[0] * p[2] ** 2)}, "metric: SᵀM S = .* expected diag"),
        ({"parameters": 2}, "mass: index 2 is out of bounds .* 3 velocities v, and 2 parameters"),
        ({"given": [1.0, 0.5]}, r"parameters: shape \(2,\), expected \(3,\)"),
        ({"u0": [1.0]}, r"u0: shape \(1,\), expected \(2,\)"),
        ({"invariants": {"e": lambda q, v, p: p[5]}}, "invariants or edges: index 5 is out of bounds"),
    ],
)
def test_functions_that_contradict_each_other_make_no_system(given, message):
    with pytest.raises(ValueError, match=message):
        written_sleigh(**given).problem()


def test_functions_that_agree_make_a_system():
    assert integrate(written_sleigh().problem(), "ENERGY_EXACT", (0.0, 1.0), 0.05).error("energy") < 1e-13


@pytest.mark.parametrize("unit", [1.0, 1e-9])
def test_a_mass_matrix_is_judged_in_any_unit_of_length(unit):
    """A body whose mass is aside, by a tenth of its size."""
    inertia, aside = np.array([0.3, 0.5, 0.6]) / unit**2, 0.1 / unit

    def kinetic(q, v):
        moved = (v[0] + v[4] * aside) ** 2 + (v[1] - v[3] * aside) ** 2 + v[2] ** 2
        return 0.5 * (moved + sum(inertia[k] * v[3 + k] ** 2 for k in range(3)))

    start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [1.0 / unit, 0.0, 0.0, 0.0, 0.0, 1.0]
    nonholonomic_system(se3, kinetic, lambda q: [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]], *start)
    with pytest.raises(ValueError, match="expected a symmetric positive definite matrix"):
        nonholonomic_system(se3, lambda q, v: kinetic(q, v) - v[2] ** 2, lambda q: [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]],
                            start[0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0])  # fmt: skip
