"""Derivatives of the variational step of mechanisms, with loops, wheels and force elements: differences, forty digits,
structure.
"""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from integrators import Problem
from integrators.analysis.symplecticity import cotangent_form, derivative
from integrators.method.step_map import moved, step_map
from integrators.methods import find
from integrators.step_derivatives.linearised import linearised_step
from integrators.steppers.own import substeps
from integrators.steppers.tree_variational import tree_variational
from liegroup import rn
from liegroup.table import EXP, bracket, increment
from mechanics import Body, Frame, Inertia, Tree
from mechanics.constraints.equations import geometry
from mechanics.constraints.loops import revolute
from mechanics.constraints.mobility import mass_matrix
from mechanics.forces import Sphere, bushing, compliant, contact, joint_spring, motor, servo, spring_damper
from mechanics.joints import Free, Motion, Prismatic, Revolute
from mechanics.mechanism import Mechanism
from mechanics.problems.tree import hamiltonian_problem
from mechanics.systems import MECHANISMS, WHEELED
from mechanics.systems.loops import bricard, four_bar, peaucellier, rssr, slider_crank
from mechanics.systems.rolling import mobile_manipulator, wheeled_car
from mechanics.testing import geared
from mechanics.variational import reference

H, T, EPS = 0.01, 0.3, 1e-30
METHOD = find("TREE_VARIATIONAL")
GROUND = Frame.with_axis(None, (0.1, 0.2, -0.4), (0.2, -0.1, 1.0))
HULL, DOOR, TIP = Frame("hull", (0.2, 0.1, -0.3)), Frame("door", (0.4, 0.0, 0.1)), Frame("slider", (0.1, 0.1, 0.2))
BALL = Sphere(HULL, 5.0)
SOFT = {"stiffness": 20.0, "damping": 0.5}
ELEMENTS = {
    "joint spring": joint_spring("arm_joint", 20.0, rest=0.3, damping=0.7),
    "servo": servo("arm_joint", stiffness=20.0, damping=0.7, target=Motion((0.1, 0.4))),
    "motor": motor("slider_joint", Motion((0.5,), ((2.0, 3.0, 0.1),))),
    "spring between bodies": spring_damper(HULL, DOOR, 50.0, damping=3.0, length=0.5),
    "bushing": bushing(HULL, DOOR, (10.0, 20.0, 30.0, 1.0, 2.0, 3.0), damping=0.5),
    "compliant hinge": compliant(revolute(DOOR, TIP), 40.0, damping=2.0),
    "rolling sphere": contact(BALL, GROUND, law="kelvin_voigt", friction=0.5, slip_speed=3.0, **SOFT),
    "Stribeck friction": contact(
        BALL, GROUND, law="kelvin_voigt", friction=0.5, static_friction=0.8, slip_speed=3.0, **SOFT
    ),
    "Hunt and Crossley": contact(BALL, GROUND, stiffness=20.0, damping=0.2, friction=0.4),
    "Hertz": contact(BALL, GROUND, law="hertz", stiffness=20.0, damping=0.2),
}


def tree():
    """A free body that carries an arm of a turn and a slide, and a second body on the base; some with armature."""
    g = np.random.default_rng(0)
    inertia = Inertia.about_com(1.3, (0.1, -0.2, 0.15), np.diag([0.3, 0.4, 0.5]))
    plain = Tree(
        [
            Body("hull", Free(), inertia=inertia),
            Body("arm", Revolute((0.3, 1.0, -0.2)), "hull", g.normal(size=3), inertia=inertia),
            Body("slider", Prismatic((1.0, 0.5, 0.2)), "arm", g.normal(size=3), inertia=inertia),
            Body("door", Revolute((0.0, 0.2, 1.0)), None, g.normal(size=3), inertia=inertia),
        ]
    )
    return geared(plain, g, 0.3)


def loaded(name):
    g, made = np.random.default_rng(1), Mechanism(tree(), elements=[ELEMENTS[name]])
    return made.problem(made.tree.random_configuration(g), g.normal(size=made.tree.nv))


def rolling(name):
    made = WHEELED[name]()
    if name == "wheeled-car":
        return made.problem(*wheeled_car.start(made, speed=5.0, steering=0.2))
    v = np.random.default_rng(2).normal(size=made.tree.nv)
    return made.problem(made.home, made.projected_velocity(made.home, v)[0])


def driven_loop():
    """A wheeled manipulator with a damped spring: rows of wheels, force elements and implicit forces together."""
    plain = mobile_manipulator.mechanism()
    made = Mechanism(
        plain.tree, plain.equations.closures, plain.home, [joint_spring("turret_joint", 5.0, rest=0.2, damping=0.4)]
    )
    v = np.random.default_rng(2).normal(size=made.tree.nv)
    return made.problem(made.home, made.projected_velocity(made.home, v)[0])


LOOPED = ("four-bar", "slider-crank", "bricard", "rssr", "double-four-bar", "peaucellier")
PROBLEMS = (
    {name: MECHANISMS[name] for name in LOOPED}
    | {name: lambda name=name: rolling(name) for name in WHEELED}
    | {name: lambda name=name: loaded(name) for name in ELEMENTS}
    | {"driven manipulator": driven_loop}
)
STIFF = ("rolling sphere", "Stribeck friction", "Hunt and Crossley", "Hertz")


# --- against differences of the step ----------------------------------------------------------------------------------


def project(problem, y, t):
    if problem.projection is None:  # without loops
        return np.array(y)
    out = np.array(y)
    problem.projection.python(t, np.array(y), problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


def stepped(problem, method, y, h, u, t):
    """Step and projection, interpreted; forces as half kicks at either end of every part."""
    n, time = problem.dimension // 2, t
    for single, part in substeps(method):
        push = np.concatenate([np.zeros(problem.n - n), 0.5 * part * h * u])
        y = step_map(problem, single, time, interpreted=True)(y + push, part * h) + push
        time = time + part * h
    return project(problem, y, time)


def along(problem, start, curve, delta):
    """Velocities of a curve of states at 0, by central differences of order eight."""

    def to(s):
        out = np.zeros(problem.dimension)
        increment(problem.table, EXP, start, curve(s[0]), out)
        return out

    return derivative(to, np.zeros(1), 1, delta=delta)[:, 0]


def check(problem, method=METHOD, h=H, tolerance=1e-9):
    """Along a curve of closed states, with other forces and another step at every point."""
    g, n = np.random.default_rng(3), problem.dimension // 2
    u, d, du, dh = g.normal(size=n), g.normal(size=2 * n), g.normal(size=n), 0.1 * h
    y = np.asarray(problem.y0)
    found = linearised_step(problem, method, y, h, u, range(n), T)

    def start(s):
        return project(problem, moved(problem, y, s * d), T)

    w = along(problem, y, start, 3e-4)
    wanted = along(problem, found.y, lambda s: stepped(problem, method, start(s), h + s * dh, u + s * du, T), 3e-4)
    x = found.A @ w + found.B @ du + found.by_step * dh
    assert np.abs(x).max() > 1e-2
    assert np.abs(x - wanted).max() < tolerance * np.abs(wanted).max()


@pytest.mark.parametrize("name", PROBLEMS)
def test_derivatives_of_every_system(name):
    check(PROBLEMS[name](), h=2e-4 if name in STIFF else H)


@pytest.mark.parametrize(
    "method", [find("TREE_VARIATIONAL_SUZUKI4"), tree_variational(turn=0.02, name="divided")], ids=lambda m: m.name
)
def test_compositions_and_divided_steps(method):
    check(four_bar.problem(), method)


def test_from_rest():
    """Where nothing moves the forces of dampers settle at once; their derivatives have to be found as well."""
    made = Mechanism(tree(), elements=[ELEMENTS["bushing"], ELEMENTS["joint spring"]])
    check(made.problem(made.tree.random_configuration(np.random.default_rng(1))))


# --- against the definition -------------------------------------------------------------------------------------------


def equations_in_digits(made, h, inner):
    """R(q₀, p₀; q₁, Λ) = (p₀ + G₀ᵀΛ + D₁ L_d, φ(q₁)) and p̃₁ = D₂ L_d."""
    rows = made.mobility.independent

    def at(q0, q1):
        return reference.momenta(made.tree, "split", mpmath.mpf(0), h, q0, q1, inner)

    def residual(q0, p0, x):
        q1 = x[: made.tree.nv]
        left = p0 + made.equations.matrix(q0)[rows].T @ x[made.tree.nv :]
        return np.concatenate([left - at(q0, q1)[0], made.equations.gap(q1)[rows]])

    return residual, lambda q0, q1: at(q0, q1)[1]


def projected(made, q, p):
    """p − Gᵀ(G M⁻¹ Gᵀ)⁻¹ G M⁻¹ p."""
    g, G = geometry(made.tree, q), made.equations.matrix(q)[made.mobility.independent]
    M = sum(J.T @ b.inertia.matrix() @ J for J, b in zip(g.J, made.tree.bodies, strict=True))
    Y = solved(M, G.T)
    return p - G.T @ solved(G @ Y, Y.T @ p)


def solved(A, b):
    """A⁻¹ b in mpmath numbers."""
    columns = b.reshape(len(A), -1)
    found = [mpmath.lu_solve(mpmath.matrix(A.tolist()), mpmath.matrix(list(c))) for c in columns.T]
    return np.array([list(c) for c in found]).T.reshape(b.shape)


def test_derivatives_of_a_stiff_contact_under_a_floating_body_are_exact_to_rounding():
    """The guess of the second round has its shift in the axes of the end, so that the iteration goes on from another
    value, and its derivative is one round behind.
    """
    leg = Inertia.about_com(0.4, (0.0, 0.0, -0.12), np.diag([3e-3, 3e-3, 2e-4]))
    bodies = [Body("torso", Free(), inertia=Inertia.about_com(2.0, (0.0, 0.0, 0.0), 2e-3 * np.eye(3)))]
    bodies += [
        Body(name, Revolute((0.0, 1.0, 0.0)), "torso", (x, 0.0, 0.0), inertia=leg)
        for name, x in (("front", 0.1), ("hind", -0.1))
    ]
    ground = Frame(None, (0.0, 0.0, 0.0))
    law = {"law": "kelvin_voigt", "stiffness": 1e4, "damping": 300.0, "friction": 0.8}
    feet = [contact(Sphere(Frame(name, (0.0, 0.0, -0.25)), 0.03), ground, **law) for name in ("front", "hind")]
    problem = Mechanism(Tree(bodies), elements=feet).problem([0.0, 0.0, 0.274, 1.0, 0.0, 0.0, 0.0, 0.1, -0.15])
    h, n = 2e-3, problem.dimension
    found = linearised_step(problem, METHOD, problem.y0, h).A
    step = step_map(problem, METHOD, interpreted=True)
    with mpmath.workdps(50):
        start, e = np.array([mpmath.mpf(x) for x in problem.y0]), mpmath.mpf(10) ** -18
        for k in (n - 1, n // 2 - 1):
            d = np.array([mpmath.mpf(int(i == k)) for i in range(n)])
            ends = [step(moved(problem, start, s * e * d), h) for s in (1, -1)]
            true = ((ends[0] - ends[1]) / (2 * e)).astype(float)[-n // 2 :]  # of the momenta
            assert np.abs(found[-n // 2 :, k] - true).max() < 1e-12 * np.abs(true).max()


@pytest.mark.slow
@pytest.mark.parametrize("system", [four_bar, slider_crank], ids=lambda s: s.__name__.split(".")[-1])
def test_the_step_of_a_loop_and_its_derivative_in_forty_digits(system):
    made, problem = system.mechanism(), system.problem()
    n, y, size = made.tree.nv, np.asarray(problem.y0), made.tree.nv + made.mobility.rank
    found = linearised_step(problem, METHOD, y, H)
    with mpmath.workdps(40):
        residual, momenta = equations_in_digits(made, mpmath.mpf(H), mpmath.mpf(10) ** -13)
        start, step = np.array([mpmath.mpf(x) for x in y]), mpmath.mpf(10) ** -8
        guess = np.array([mpmath.mpf(x) for x in (*found.y[:n], *np.zeros(made.mobility.rank))])
        columns = [
            residual(start[:n], start[n:], guess + step * e) - residual(start[:n], start[n:], guess)
            for e in np.eye(size)
        ]
        R = (np.array(columns).T / step).astype(float)

        def mapped(z):
            x = guess
            for _ in range(4):  # seven digits each
                f = residual(z[:n], z[n:], x)
                largest = max(abs(v) for v in f)
                x = x - np.linalg.solve(R, (f / largest).astype(float)) * largest
            return np.concatenate([x[:n], projected(made, x[:n], momenta(z[:n], x[:n]))])

        assert np.abs((mapped(start) - found.y).astype(float)).max() < 1e-13
        J = np.array(
            [(mapped(start + step * e) - mapped(start - step * e)) / (2 * step) for e in np.eye(2 * n)]
        ).T.astype(float)
    assert np.abs(found.A - J).max() < 1e-12 * np.abs(J).max()


# --- structure --------------------------------------------------------------------------------------------------------


def tangents(made, problem):
    """Directions that keep loops and velocities closed: configurations, each with some momenta, and momenta alone."""
    y, n = np.asarray(problem.y0), made.tree.nv
    G, M = made.equations.matrix(y[: made.tree.nq]), mass_matrix(made.tree, y[: made.tree.nq])
    null = np.linalg.svd(G)[2][made.mobility.rank :].T
    columns = [np.concatenate([np.zeros(n), M @ s]) for s in null.T]
    for s in null.T:
        z = moved(problem, y.astype(complex), 1j * EPS * np.concatenate([s, np.zeros(n)]))
        out, work = z.copy(), np.zeros(problem.work_shape, dtype=complex)
        problem.projection.python(0.0, z, problem.parameters, problem.structure, work, out)
        columns.append(np.concatenate([s, out.imag[-n:] / EPS]))
    return np.array(columns).T


def form(made, p):
    """The canonical two-form at momenta p."""

    def lie(a, b):
        out = np.zeros(made.tree.nv)
        bracket(made.tree.group.table, np.array(a), np.array(b), out)
        return out

    return cotangent_form(np.array(p), lie)


LOOPS = {
    "four-bar": four_bar,
    "slider-crank": slider_crank,
    "bricard": bricard,
    "rssr": rssr,
    "peaucellier": peaucellier,
}


@pytest.mark.parametrize("name", LOOPS)
def test_on_the_constraints_the_derivative_is_symplectic_and_reactions_do_nothing(name):
    made, problem = LOOPS[name].mechanism(), LOOPS[name].problem()
    y, n, nq = np.asarray(problem.y0), made.tree.nv, made.tree.nq
    found = linearised_step(problem, METHOD, y, H)
    D = tangents(made, problem)
    x, before, after = found.A @ D, form(made, y[nq:]), form(made, found.y[nq:])
    defect = np.abs(x.T @ after @ x - D.T @ before @ D).max()
    assert defect < 3e-13 * np.abs(x).max() ** 2 * max(1.0, np.abs(after).max())
    G0, G1 = made.equations.matrix(y[:nq]), made.equations.matrix(found.y[:nq])
    assert np.abs(G1 @ x[:n]).max() < 1e-11 * np.abs(x).max()
    assert np.abs(found.A[:, n:] @ G0.T).max() < 1e-11 * np.abs(found.A).max()


@pytest.mark.slow  # of compiling
def test_values_are_the_bits_of_the_compiled_step():
    problem = four_bar.problem()
    end = step_map(problem, METHOD)(np.asarray(problem.y0), H)
    assert np.array_equal(
        linearised_step(problem, METHOD, problem.y0, H).y, problem.evaluate(problem.projection, H, end, problem.n)
    )
    free = replace(problem, projection=None)
    assert np.array_equal(linearised_step(free, METHOD, problem.y0, H).y, end)


@pytest.mark.slow  # of compiling
def test_of_a_tree_alone_it_is_what_the_tree_says():
    """Two derivations of one derivative: by rows in linear time, and by complex steps."""
    g, plain = np.random.default_rng(5), tree()
    q, v = plain.random_configuration(g), g.normal(size=plain.nv)
    u = g.normal(size=plain.nv)
    one = linearised_step(
        hamiltonian_problem(plain, q, v), METHOD, hamiltonian_problem(plain, q, v).y0, H, u, range(plain.nv)
    )
    problem = replace(Mechanism(plain).problem(q, v), projection=None)
    other = linearised_step(problem, METHOD, problem.y0, H, u, range(plain.nv))
    for a, b in zip(one, other, strict=True):
        assert np.abs(a - b).max() < 1e-12 * np.abs(a).max()


def test_many_states_are_the_same_as_one_by_one():
    made, g = four_bar.mechanism(), np.random.default_rng(0)
    states = np.array([made.problem(rates={"crank_joint": s}).y0 for s in (1.0, 5.0, -2.0)])
    u = g.normal(size=(3, 1))
    many = linearised_step(made.problem(), METHOD, states, H, u, [0])
    for k in range(3):
        one = linearised_step(made.problem(), METHOD, states[k], H, u[k], [0])
        assert all(np.array_equal(found[k], single) for found, single in zip(many, one, strict=True))


def test_what_has_no_derivative_says_so():
    problem = four_bar.problem()
    with pytest.raises(ValueError, match="TREE_VARIATIONAL"):
        linearised_step(problem, "RADAU_INDEX3", problem.y0, H)
    with pytest.raises(ValueError, match="number below 3"):
        linearised_step(problem, METHOD, problem.y0, H, [1.0], [3])
    with pytest.raises(ArithmeticError, match="state 0: CHART_LEFT"):
        linearised_step(problem, tree_variational(turn=1e-4, divisions=0), problem.y0, H)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four-bar", "bricard", "ball-on-a-table"])
def test_the_compiled_step_has_the_derivatives_of_the_interpreted_one(name):
    made = PROBLEMS[name]()
    problem = made if hasattr(made, "own_steps") else made.problem()
    n, y = problem.dimension // 2, np.atleast_2d(problem.y0)[0]
    u = np.random.default_rng(0).normal(size=n)
    found = linearised_step(problem, METHOD, y, H, u, range(n), T, compiled=True)
    true = linearised_step(problem, METHOD, y, H, u, range(n), T)
    for a, b in zip(found, true, strict=True):
        assert np.abs(a - b).max() < 1e-11 * max(1.0, np.abs(b).max())


def test_what_is_not_compiled_for_derivatives_is_named():
    swing = Problem(rn(2), [1.0, 0.0], lambda t, y: np.array([y[1], -y[0] if y[0] > 0.0 else 0.0]))
    with pytest.raises(ValueError, match="compiled: a step of RKMK4 on 'problem' is not compiled"):
        linearised_step(swing, "RKMK4", [1.0, 0.0], H, compiled=True)


def test_a_formula_in_plain_python_is_compiled_for_derivatives():
    swing = Problem(rn(2), [1.0, 0.0], lambda t, y, p: [y[1], -np.sin(y[0]) + p[0]], parameters=[0.3])
    found = linearised_step(swing, "RKMK4", [1.0, 0.2], H, [0.3], [0], compiled=True)
    true = linearised_step(swing, "RKMK4", [1.0, 0.2], H, [0.3], [0])
    for a, b in zip(found, true, strict=True):
        assert a == pytest.approx(b, abs=1e-14)
