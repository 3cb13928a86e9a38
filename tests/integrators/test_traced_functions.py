"""What users write with ``math``, NumPy and group objects in Lagrangians, constraints, forces, masses and rows poses
the same problems as the formulas of scalars.
"""

import math

import numpy as np
import pytest

from integrators import Problem, generate_code, integrate
from integrators.problem.holonomic import holonomic_problem
from integrators.problem.lagrangian import lagrangian_problem
from integrators.problem.mass_matrix import mass_matrix_problem
from liegroup import product, rn, se3, so3
from liegroup.compile.scalars import sincos
from mechanics.nonholonomic.user import nonholonomic_system

ATTITUDE, SPIN = np.array(so3.exp([0.4, -0.3, 0.2])), [0.5, -0.8, 4.0]


def rate(problem, t=0.3):
    """The field at the start, by its Python source."""
    out = np.zeros(problem.dimension)
    work = np.zeros(problem.work_shape)
    problem.field.python(t, problem.y0, problem.parameters, problem.structure, work, out)
    return out


def same(a, b):
    assert np.array_equal(a.y0, b.y0)
    assert np.allclose(rate(a), rate(b), rtol=1e-14, atol=1e-15)


def test_lagrangians_and_forces_with_math():
    same(
        lagrangian_problem(
            lambda t, q, v, p: 0.5 * v[0] ** 2 + math.cos(q[0]) * math.exp(-max(q[0], 0.1)),
            [0.3], [0.1], force=lambda t, q, v, p: [-0.1 * math.tanh(v[0]) + math.sin(t)],
        ),
        lagrangian_problem(
            lambda t, q, v, p: 0.5 * v[0] ** 2 + sincos(q[0])[1] * np.exp(-q[0]),
            [0.3], [0.1], force=lambda t, q, v, p: [-0.1 * np.tanh(v[0]) + np.sin(t)],
        ),
    )  # fmt: skip


def turned(q, u):
    """The point u by a quaternion, component by component."""
    w, x, y, z = q
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return [sum(a * b for a, b in zip(row, u, strict=True)) for row in rows]


def test_group_objects_in_lagrangians():
    kinetic = lambda v: 0.5 * (v[0] ** 2 + 2.0 * v[1] ** 2 + 3.0 * v[2] ** 2)  # noqa: E731
    by_hand = lagrangian_problem(
        lambda t, q, v, p: kinetic(v) - 9.81 * turned(q, (0.0, 0.1, 1.0))[2], ATTITUDE, SPIN, group=so3
    )
    for height in (
        lambda q: so3.act(q, [0.0, 0.1, 1.0])[2],
        lambda q: (so3.as_matrix(q) @ [0.0, 0.1, 1.0])[2],
        lambda q: so3.act(so3.compose(so3.identity(), so3.inverse(so3.inverse(q))), [0.0, 0.1, 1.0])[2],
        lambda q: so3.adjoint(q, [0.0, 0.1, 1.0])[2],
        lambda q: so3.act(so3.exp(so3.log(q)), [0.0, 0.1, 1.0])[2],
    ):
        found = lagrangian_problem(
            lambda t, q, v, p, height=height: kinetic(v) - 9.81 * height(q), ATTITUDE, SPIN, group=so3
        )
        assert np.allclose(rate(found), rate(by_hand), rtol=1e-13, atol=1e-13)


def test_group_objects_in_constraints():
    """A body on SE(3) whose point stays on a sphere."""
    lagrangian = lambda t, q, v, p: 0.5 * sum(x * x for x in v) - 9.81 * q[2]  # noqa: E731
    start, v0 = [0.6, 0.0, -0.8, 1.0, 0.0, 0.0, 0.0], np.zeros(6)
    same(
        holonomic_problem(
            lagrangian, lambda t, q, p: [math.hypot(*se3.act(q, [0.0, 0.0, 0.0])) - 1.0], start, v0, group=se3
        ),
        holonomic_problem(
            lagrangian, lambda t, q, p: [np.sqrt(q[0] ** 2 + q[1] ** 2 + q[2] ** 2) - 1.0], start, v0, group=se3
        ),
    )


def test_masses_and_rows_with_arrays():
    def mass(t, y, p):
        M = np.eye(2)
        M[1, 1] = 2.0 + math.cos(y[0])
        return M

    same(
        mass_matrix_problem(mass, lambda t, y, p: [y[1], -math.sin(y[0])], [0.5, 0.2]),
        mass_matrix_problem(
            lambda t, y, p: [[1.0, 0.0], [0.0, 2.0 + np.cos(y[0])]], lambda t, y, p: [y[1], -np.sin(y[0])], [0.5, 0.2]
        ),
    )
    skates = [
        nonholonomic_system(
            product(rn(3)), lambda q: np.diag([1.0, 1.0, 0.3]), rows, [0.0, 0.0, 0.2], [0.0, 0.0, 1.0]
        ).constrained_problem([0.0, 0.0, 0.2], [0.0, 0.0, 1.0])
        for rows in (
            lambda q: [[math.sin(q[2]), -math.cos(q[2]), 0.0]],
            lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
        )
    ]
    same(*skates)


def test_fields_that_fill_arrays_have_code():
    def field(t, y):
        out = np.zeros(2)
        out[0] = y[1]
        out[1] = -math.sin(y[0]) + np.where(y < 0.5, y, 0.0)[1]
        return out

    problem = Problem(rn(2), [1.0, 0.2], field)
    found = generate_code(problem, "numpy").load().rhs(0.0, problem.y0)
    assert np.allclose(found, field(0.0, problem.y0), rtol=1e-15)


def test_functions_may_write_into_what_they_are_given_and_add_arrays():
    """Arguments are arrays of their own: what one function writes is not what derivatives are taken by."""

    def doubled(t, q, v, p):
        q *= 2.0
        v[0] = v[0] + 0.0 * q[0]
        return 0.5 * v @ v - 0.5 * np.linalg.norm(q + v - v) ** 2 + p[0]

    def moved(t, q, v, p):
        p[0] = 0.0
        return v - v

    run = integrate(lagrangian_problem(doubled, [0.5], parameters=[3.0], force=moved), "GAUSS8", (0.0, 1.0), 0.01)
    assert run.y[-1, 0] == pytest.approx(0.5 * math.cos(2.0), abs=1e-14)
    assert run["energy"][0] == pytest.approx(0.5 - 3.0, abs=1e-15)

    def scaled(t, q, p):
        q /= 2.0
        return [q @ q - 0.25]

    held = holonomic_problem(lambda t, q, v, p: 0.5 * v @ v - q[1], scaled, [1.0, 0.0])
    assert integrate(held, "RATTLE", (0.0, 1.0), 0.01)["gap"].max() < 1e-14

    def mass(t, y, p):
        y *= 0.0
        return np.eye(2)

    def forcing(t, y, p):
        y[0] = -y[0]
        return [y[1], y[0]]

    swing = integrate(mass_matrix_problem(mass, forcing, [1.0, 0.0]), "GAUSS8", (0.0, 1.0), 0.01)
    assert swing.y[-1] == pytest.approx([math.cos(1.0), -math.sin(1.0)], abs=1e-14)


def test_a_lagrangian_is_one_number():
    """An array without axes is one, too."""
    whole = lagrangian_problem(lambda t, q, v, p: np.array(0.5 * v[0] ** 2 - 0.5 * q[0] ** 2), [1.0])
    assert whole.velocity(0.0, [1.0, 0.0]).tolist() == [0.0, -1.0]
    with pytest.raises(TypeError, match=r"lagrangian: returned an array of shape \(1,\), expected one number .* elem"):
        lagrangian_problem(lambda t, q, v, p: 0.5 * v**2, [1.0])
    with pytest.raises(TypeError, match="lagrangian: returned a list, expected one number"):
        lagrangian_problem(lambda t, q, v, p: [0.5 * v[0] ** 2], [1.0])


def test_what_is_missing_is_named_where_it_is_used():
    with pytest.raises(TypeError, match=r"math\.gamma cannot be traced; write it with one of"):
        lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 + math.gamma(q[0]), [0.3])
    with pytest.raises(TypeError, match=r"rows: could not be traced \(np\.linalg\.inv cannot be traced; write it with"):
        nonholonomic_system(
            rn(2), lambda q: np.eye(2), lambda q: [np.linalg.inv(np.array([[q[0], 1.0], [1.0, 2.0]]))[0]],
            [0.3, 0.0], [0.0, 0.0],
        )  # fmt: skip


def test_a_start_by_velocities_belongs_to_its_time():
    """A mass that grows: the momenta of a velocity are others at another time; a run from there is refused."""

    def growing(t, q, v, parameters):
        return 0.5 * (1.0 + t) * v[0] ** 2

    def steady(t, q, v, parameters):
        return 0.5 * v[0] ** 2 - t * q[0]

    problem = lagrangian_problem(growing, [0.5], v=[1.0])
    with pytest.raises(ValueError, match=r"t_span: begins at 1.0, expected 0.0: .* pose the problem with t=1.0"):
        integrate(problem, "RKMK4", (1.0, 2.0), 0.1)
    assert integrate(problem, "RKMK4", (0.0, 1.0), 0.1).success
    assert integrate(problem, "RKMK4", (1.0, 2.0), 0.1, y0=[0.5, 2.0]).success
    assert integrate(lagrangian_problem(growing, [0.5], v=[1.0], t=1.0), "RKMK4", (1.0, 2.0), 0.1).success
    assert integrate(lagrangian_problem(growing, [0.5], p=[1.0]), "RKMK4", (1.0, 2.0), 0.1).success
    assert integrate(lagrangian_problem(steady, [0.5], v=[1.0]), "RKMK4", (1.0, 2.0), 0.1).success
    assert lagrangian_problem(steady, [0.5], v=[1.0]).begins is None
    with pytest.raises(ValueError, match="begins: nan"):
        Problem(rn(1), [1.0], lambda t, y: [0.0], begins=np.nan)


def test_a_lagrangian_that_ends_is_posed():
    """Its momenta are no numbers at later times, without a warning, and its start belongs to its time."""
    problem = lagrangian_problem(lambda t, q, v, p: 0.5 * np.sqrt(1.0 - t) * v[0] ** 2, [0.5], v=[1.0])
    assert problem.begins == 0.0
    assert problem.y0.tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    ("lagrangian", "constraint", "force", "autonomous"),
    [
        (lambda t, q, v, p: 0.5 * v @ v - q[1], None, None, True),
        (lambda t, q, v, p: 0.5 * v @ v - q[1] + 0.0 * t, None, None, True),
        (lambda t, q, v, p: 0.5 * v @ v - q[1] * t, None, None, False),
        (lambda t, q, v, p: 0.5 * v @ v - q[1], None, lambda t, q, v, p: [-v[0], 0.0], True),
        (lambda t, q, v, p: 0.5 * v @ v - q[1], None, lambda t, q, v, p: [np.sin(t), 0.0], False),
        (lambda t, q, v, p: 0.5 * v @ v - q[1], lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1.0], None, True),
        (lambda t, q, v, p: 0.5 * v @ v - q[1], lambda t, q, p: [q[0] - 1.0 - t * t], None, False),
    ],
)
def test_what_was_noted_says_whether_the_time_is_read(lagrangian, constraint, force, autonomous):
    q = [1.0, 0.0]
    problem = (
        lagrangian_problem(lagrangian, q, force=force)
        if constraint is None
        else holonomic_problem(lagrangian, constraint, q, force=force)
    )
    assert problem.is_autonomous == autonomous
