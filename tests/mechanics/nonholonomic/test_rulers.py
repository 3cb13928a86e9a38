"""Three systems have kernels written by hand: what is traced from plain functions has their values."""

import numpy as np
import pytest

from integrators.problem.multipliers import work_rows
from liegroup.compile.scalars import sincos, sqrt
from liegroup.formulas import so3
from liegroup.formulas.vectors import cross, dot
from mechanics.nonholonomic.rolling import smooth_contact, up
from mechanics.nonholonomic.testing import random_states
from mechanics.nonholonomic.written import Functions
from mechanics.systems.rolling.ball_in_cylinder import ball_in_cylinder
from mechanics.systems.rolling.rattleback import rattleback
from mechanics.systems.rolling.rolling_disk import rolling_disk


def free_body(q, v, mass, inertia):
    """½ m V² + ½ ω·J ω with J = (xx, yy, zz, xy, xz, yz)."""
    a, b, c, d, e, f = inertia
    w = v[3:]
    spin = a * w[0] * w[0] + b * w[1] * w[1] + c * w[2] * w[2]
    spin = spin + 2.0 * (d * w[0] * w[1] + e * w[0] * w[2] + f * w[1] * w[2])
    return 0.5 * mass * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + 0.5 * spin


def stone(group):
    """A convex body on a plane at rest (parameters of `rolling_body`)."""

    def contact(q, p):
        gamma = up(tuple(q[3:]))
        return gamma, smooth_contact(gamma, (0.0, 0.0, 0.0), tuple(p[7:10]), tuple(p[10:13]))[0]

    def rows(q, p):
        _, rho = contact(q, p)
        return [[*axis, *cross(rho, axis)] for axis in so3.matrix(tuple(q[3:]))]

    return Functions(
        group=group,
        mass=lambda q, v, p: free_body(q, v, p[0], p[1:7]),
        rows=rows,
        position=lambda q, p: [q[2] + dot(*contact(q, p))],
        potential=lambda q, p: p[0] * p[13] * q[2],
        parameters=16,
    )


def ball(group):
    """A ball inside a cylinder (parameters of `ball_in_cylinder`)."""

    def rows(q, p):
        d = sqrt(q[0] * q[0] + q[1] * q[1])
        c, s = q[0] / d, q[1] / d
        e, z, n = (so3.act_inverse(tuple(q[3:]), x) for x in ((-s, c, 0.0 * c), (0.0, 0.0, 1.0), (c, s, 0.0 * c)))
        return [[*e, *(p[1] * x for x in z)], [*z, *(-p[1] * x for x in e)], [*n, 0.0, 0.0, 0.0]]

    return Functions(
        group=group,
        mass=lambda q, v, p: free_body(q, v, p[0], (p[2], p[2], p[2], 0.0, 0.0, 0.0)),
        rows=rows,
        position=lambda q, p: [sqrt(q[0] * q[0] + q[1] * q[1]) - p[4]],
        potential=lambda q, p: p[0] * p[3] * q[2],
        parameters=5,
    )


def disk(group):
    """A thin disk in angles (parameters of `rolling_disk`)."""

    def kinetic(q, v, p):
        (s, c), (m, r, i1, i3, *_) = sincos(q[3]), p
        roll = v[4] + v[2] * c
        shift = v[0] * v[0] + v[1] * v[1] + r * r * c * c * v[3] * v[3]
        return 0.5 * (m * shift + i1 * (v[3] * v[3] + v[2] * v[2] * s * s) + i3 * roll * roll)

    def rows(q, p):
        (sp, cp), (s, c), r = sincos(q[2]), sincos(q[3]), p[1]
        return [[1.0, 0.0, r * cp * c, -r * sp * s, r * cp], [0.0, 1.0, r * sp * c, r * cp * s, r * sp]]

    return Functions(
        group=group,
        mass=kinetic,
        rows=rows,
        potential=lambda q, p: p[0] * p[4] * p[1] * sincos(q[3])[0],
        parameters=6,
    )


@pytest.mark.parametrize(
    ("system", "write"), [(rattleback(), stone), (ball_in_cylinder(), ball), (rolling_disk(), disk)],
    ids=lambda x: getattr(x, "model", ""),
)  # fmt: skip
def test_traced_functions_have_the_values_of_kernels_written_by_hand(system, write):
    traced = write(system.group).constrained
    for q, u in random_states(system, 3, seed=4):
        v = system.velocity(q, u) + 0.3 * np.cos(np.arange(system.n))  # not admissible
        for name, size in (("parts", system.constrained_problem().parts_size), ("field", 2 * system.n)):
            values = []
            for forms in (system.constrained, traced):
                out, work = np.zeros(size), np.zeros((work_rows(system.n, system.m) + system.scratch + 9, 600))
                getattr(forms, name).python(0.3, np.array([*q, *v]), system.parameters, system.structure, work, out)
                values.append(out)
            np.testing.assert_allclose(values[1], values[0], rtol=0, atol=1e-12 * (1 + np.abs(values[0]).max()))
