"""Constraints as objects: refusal, projection, rank, integrability, systems from functions of one's own."""

import inspect

import numpy as np
import pytest

from liegroup import rn
from liegroup.table import RN, SE2, table_of
from mechanics.nonholonomic.integrability import growth_vector, integrable_combinations
from mechanics.nonholonomic.system import ConstraintError
from mechanics.nonholonomic.user import nonholonomic_system
from mechanics.systems import NONHOLONOMIC
from mechanics.systems.rolling.car import car
from mechanics.systems.rolling.chaplygin_sleigh import chaplygin_sleigh
from mechanics.systems.rolling.driven_pair import driven_pair
from mechanics.systems.rolling.roller_racer import roller_racer
from mechanics.systems.rolling.rolling_disk import rolling_disk
from mechanics.systems.rolling.snakeboard import snakeboard
from mechanics.systems.rolling.tilting_disk import tilting_disk
from mechanics.systems.rolling.two_wheeled_pendulum import TwoWheeledPendulum
from mechanics.systems.rolling.wheeled_car import WheeledCar
from mechanics.systems.rolling.whipple_bicycle import Bicycle
from mechanics.systems.rolling.whipple_bicycle import Body as Part


def test_states_off_the_constraints_are_refused_with_the_residual_and_projected_on_request():
    system = chaplygin_sleigh()
    v = np.array([0.5, 0.1, 1.0])
    with pytest.raises(ConstraintError, match=r"row 0 by 0\.1.*project=True"):
        system.constrained_problem(system.q0, v)
    projected, lost = system.project_velocity(system.q0, v)
    np.testing.assert_array_equal(system.constrained_problem(system.q0, v, project=True).y0[3:], projected)
    p = system.parts(system.q0, v)
    defect = p.rows @ v
    assert lost == pytest.approx(
        0.5 * defect @ np.linalg.solve(p.rows @ np.linalg.solve(p.mass, p.rows.T), defect), rel=1e-12
    )
    assert abs(system.residual(system.q0, projected)).max() < 1e-15


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("heading", [np.pi, np.pi / 2])
def test_a_zero_of_the_rows_that_is_rounding_violates_nothing_in_any_unit(heading, unit):
    """A skate along an axis, at 2 m/s in metres, millimetres and micrometres; 1 µm/s across it are refused."""

    def posed(across):
        speeds = 2.0 * np.round(np.exp(1j * heading)) * (1.0 + 1j * across)
        return nonholonomic_system(
            rn(3),
            lambda q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) + 0.1 * p[0] ** 2 * v[2] ** 2,
            lambda q, p: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
            q0=[0.0, 0.0, heading],
            v0=[unit * speeds.real, unit * speeds.imag, 1.1],
            parameters=[unit],
        )

    assert posed(0.0).constrained_problem().n == 6
    with pytest.raises(ConstraintError, match="violates constraint row 0"):
        posed(5e-7)


def test_a_disk_above_its_plane_is_refused():
    system = tilting_disk()
    q = system.q0.copy()
    q[2] += 1e-3
    with pytest.raises(ConstraintError, match="position constraints"):
        system.constrained_problem(q, system.velocity(q, system.u0))


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (chaplygin_sleigh, {"mass": -1.0}, "mass: -1.0, expected a positive number"),
        (chaplygin_sleigh, {"inertia_about_com": float("nan")}, "inertia_about_com: nan"),
        (rolling_disk, {"tilt": np.pi / 2}, "lays the disk flat"),
        (tilting_disk, {"tilt": -np.pi / 2}, "lies flat"),
        (snakeboard, {"angles": (0.0, np.pi / 2, 0.0)}, "inside"),
        (snakeboard, {"angles": (0.0, 1.56, -1.56)}, "both trucks across"),
        (car, {"steering_angle": 2.0}, "inside"),
        (roller_racer, {"lengths": (0.3, 0.3), "angle": np.pi}, "axles on one point"),
        (NONHOLONOMIC["suslov"], {"inertia": (1.0, 1.0, 0.1, 0.9, 0.0)}, "positive definite"),
        (NONHOLONOMIC["chaplygin-ball"], {"orientation_wxyz": (1.0, 1.0, 0.0, 0.0)}, "unit quaternion"),
        (NONHOLONOMIC["routh-sphere"], {"offset": 0.6}, "less than the radius"),
        (driven_pair, {"member": "XX"}, "expected one of CO0"),
        (rolling_disk, {"loss": 9}, "loss: 9, expected NO_LOSS"),
        (Bicycle, {"trail": np.inf}, "trail: inf, expected a finite number"),
        (Bicycle, {"rear": Part(2.0, 0.0, -0.3, (0.06, 0.12, 0.09, 0.0))}, "rear: moments .* those of a wheel"),
        (Part, {"mass": -2.0, "x": 0.0, "z": 0.0, "moments": (1.0, 1.0, 1.0, 0.0)}, "mass: -2.0, expected a positive"),
        (TwoWheeledPendulum, {"body_moments": (0.5, 0.4)}, "body_moments: .*, expected 3 finite numbers"),
        (WheeledCar, {"heave_stiffness": np.nan}, "heave_stiffness: nan, expected a finite number"),
    ],
)
def test_bad_input_is_refused_by_name(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        make(**arguments)


@pytest.mark.parametrize("make", [f for f in NONHOLONOMIC.values() if f is not driven_pair])
def test_arguments_that_are_no_numbers_are_refused_by_their_names(make):
    """`u: component 0 is not finite` was said of them, `tuple index out of range`, or nothing of a number too many."""
    for name, parameter in inspect.signature(make).parameters.items():
        default = parameter.default
        wrong: list = [np.nan, "a"] if isinstance(default, float) or default is None else []
        if isinstance(default, tuple):
            wrong = [default[:-1], (*default, 0.1), (np.nan, *default[1:]), 3.0, ("a", *default[1:])]
        for value in wrong:
            with pytest.raises((ValueError, TypeError), match=f"^{name}: .*, expected"):
                make(**{name: value})


def test_states_of_the_wrong_shape_or_not_finite_are_refused():
    system = chaplygin_sleigh()
    with pytest.raises(ValueError, match=r"q: shape \(2,\), expected \(3,\)"):
        system.problem([0.0, 0.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="u: component 1 is not finite"):
        system.problem(system.q0, [1.0, np.nan])


GROWTH = {
    "knife-edge": (2, 3), "chaplygin-sleigh": (2, 3), "suslov": (2, 3), "nonholonomic-particle": (2, 3),
    "contact-chain": (6, 7),
    "vertical-disk": (2, 3, 4), "car": (2, 3, 4), "snakeboard": (4, 6), "roller-racer": (2, 3, 4),
    "rolling-disk": (3, 4, 5),
    "thick-disk": (3, 5, 5), "ball-on-turntable": (3, 5, 5), "tilting-disk": (3, 4, 5, 5),
}  # fmt: skip


@pytest.mark.parametrize("name", GROWTH)
def test_growth_vectors_are_the_known_ones(name):
    assert growth_vector(NONHOLONOMIC[name]()) == GROWTH[name]


def test_a_tractor_with_two_trailers_reaches_every_place():
    """All five velocities as quasi-velocities, of which two span the admissible ones."""

    def axles(q):
        blades = [[np.sin(a), -np.cos(a)] for a in q[2:]]
        hitch = 0.7 * np.cos(q[3] - q[4])
        return [[*blades[0], 0.0, 0.0, 0.0], [*blades[1], 0.0, 0.7, 0.0], [*blades[2], 0.0, hitch, 0.5]]

    start = [0.1, 0.2, 0.3, 0.5, 0.2]
    tractor = nonholonomic_system(rn(5), lambda q, v: 0.5 * v @ v, axles, start, np.zeros(5))
    assert tractor.quasi_velocities.size == 5
    assert growth_vector(tractor) == (2, 3, 4, 5)


@pytest.mark.parametrize("name", ["thick-disk", "ball-on-turntable", "routh-sphere"])
def test_rolling_on_a_plane_restricts_the_height_and_nothing_else(name):
    assert integrable_combinations(NONHOLONOMIC[name]()) == 1


def particle(rows, v0, **options):
    return nonholonomic_system(table_of([(RN, 3)]), lambda q: np.eye(3), rows, [0.3, 0.5, -0.2], v0, **options)


def test_an_integrable_row_is_found_out():
    """x dx + y dy + z dz = 0 keeps the particle on a sphere."""
    sphere = particle(lambda q: [q], [0.5, -0.3, 0.0])
    assert growth_vector(sphere) == (2, 2)
    assert integrable_combinations(sphere) == 1


def test_a_system_from_own_functions_moves_like_the_built_in_one():
    def mass(q):
        return np.array([[1.0, 0, 0], [0, 1.0, 0.3], [0, 0.3, 0.5 + 0.09]])

    own = nonholonomic_system(table_of([(SE2, 1)]), mass, lambda q: [[0.0, 1.0, 0.0]], [0, 0, 0.2], [-0.4, 0, 1.2])
    built_in = chaplygin_sleigh(heading=0.2)
    a, b = own.constrained_problem(), built_in.constrained_problem()
    np.testing.assert_allclose(a.velocity(0, a.y0), b.velocity(0, b.y0), atol=1e-14)
    np.testing.assert_allclose(
        own.problem().velocity(0, own.problem().y0), built_in.problem().velocity(0, built_in.problem().y0), atol=1e-14
    )
    np.testing.assert_allclose(own.parts(own.q0, a.y0[3:]).rate, built_in.parts(own.q0, a.y0[3:]).rate, atol=1e-15)
    np.testing.assert_allclose(
        own.multipliers(own.q0, a.y0[3:])[1], built_in.multipliers(own.q0, a.y0[3:])[1], atol=1e-14
    )


def test_own_potentials_forces_and_moving_supports_enter():
    system = particle(
        lambda q: [[0.0 * q[0] - q[1], 0.0 * q[0], 1.0 + 0.0 * q[0]]],
        [0.9, 0.6, 0.5 * 0.9 + 0.2],
        potential=lambda q: 0.65 * (q[0] ** 2 + q[1] ** 2),
        force=lambda t, q, v: -0.1 * v,
        value=lambda t, q: [0.2 * np.cos(t)],
    )
    q, v = system.q0, np.array([0.9, 0.6, 0.65])
    acceleration, _ = system.multipliers(q, v, t=0.7)
    p = system.parts(q, v, t=0.7)
    np.testing.assert_allclose(p.gradient, [1.3 * 0.3, 1.3 * 0.5, 0.0], atol=1e-15)
    assert p.bias == pytest.approx(-0.6 * 0.9 + 0.2 * np.sin(0.7))
    assert p.rows @ acceleration == pytest.approx(-p.bias)


@pytest.mark.parametrize(("size", "weight"), [(1.0, 1.0), (1e-3, 1e-3), (1.0, 1e6), (1e3, 1e12), (1e-6, 1e-15)])
def test_constraint_forces_know_no_unit(size, weight):
    """Of a skate of this many metres and kilograms: a = g cos θ along it, v ω across."""
    angle, speed, turn = 0.3, 0.7 * size, 2.0
    along, across = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    skate = nonholonomic_system(
        rn(3),
        lambda q, v, p: 0.5 * p[0] * (v[0] ** 2 + v[1] ** 2) + 0.5 * p[1] * v[2] ** 2,
        lambda q, p: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
        q0=[0.0, 0.0, angle],
        v0=[*(speed * along), turn],
        potential=lambda q, p: -p[2] * q[0],
        force=lambda t, q, v, p: [0.0, 0.0, 3.0 * p[1]],
        parameters=[weight, 0.1 * weight * size**2, 5.0 * weight * size],
    )
    acceleration, multipliers = skate.multipliers(skate.q0, skate.velocity(skate.q0, skate.u0))
    expected = 5.0 * size * along[0] * along + speed * turn * across
    np.testing.assert_allclose(acceleration, [*expected, 3.0], rtol=1e-12)
    np.testing.assert_allclose(
        multipliers, weight * (5.0 * size * across[0] - speed * turn), rtol=1e-12, atol=1e-12 * weight * size
    )


def test_rows_that_depend_on_each_other_share_their_force_or_contradict():
    two = particle(
        lambda q: [[1.0, 0.0, 0.0], [np.cos(q[2]), np.sin(q[2]), 0.0]],
        [0.0, 0.0, 0.0],
        force=lambda t, q, v: [2e6, 0.0, 1.0],
    )
    acceleration, multipliers = two.multipliers([0.0, 0.0, 0.0], [0.0, 0.0, 1.0])
    np.testing.assert_allclose(acceleration, [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(multipliers, [-1e6, -1e6], rtol=1e-12)
    with pytest.raises(ConstraintError, match="contradict"):
        two.multipliers([0.0, 0.0, 0.0], [0.0, 1.0, 1.0])


def test_dependent_rows_are_refused_by_name():
    with pytest.raises(ConstraintError, match="row 1 depends on the others"):
        particle(lambda q: [[1.0, 0, 0], [2.0, 0, 0]], [0.0, 1.0, 0.0])
    with pytest.raises(ConstraintError, match="row 0 is zero at the start"):
        particle(lambda q: [[0.0, 0, 0], [1.0, 0, 0]], [0.0, 1.0, 0.0])


def test_configurations_where_the_rows_lose_rank_are_named():
    system = particle(lambda q: [[q[0], 0 * q[0], 0 * q[0]]], [0.0, 1.0, 0.0])
    with pytest.raises(ConstraintError, match="lose rank"):
        system.check([0.0, 0.5, 0.1], [0.0, 1.0, 0.0])
