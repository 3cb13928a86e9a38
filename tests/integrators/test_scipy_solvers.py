"""The solvers for `scipy.integrate.solve_ivp` against its own on the same right-hand sides."""

from __future__ import annotations

import pickle
import re
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.integrate import OdeSolution, solve_ivp
from scipy.spatial.transform import Rotation

import liegroup
from integrators.adapters.scipy import GAUSS8, LieDOP853, LieMidpoint, LieRK23, LieRK45, lie_solver, odeint
from integrators.controllers import IntegratingController

INERTIA = np.array([1.0, 2.0, 3.0])
START = np.array([0.1, 2.0, 0.3])
TOP = ["SO3", 3]


def euler(w):
    return np.cross(INERTIA * w, w) / INERTIA


def hat(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def quaternion_rate(q, w):
    """½ q (0, ω), q scalar first; written out, not taken from the package."""
    s, u = q[0], q[1:]
    return 0.5 * np.concatenate([[-u @ w], s * w + np.cross(u, w)])


def body(t, y):
    return np.concatenate([quaternion_rate(y[:4], y[4:]), euler(y[4:])])


def body_xyzw(t, y):
    rate = quaternion_rate(y[[3, 0, 1, 2]], y[4:])
    return np.concatenate([rate[[1, 2, 3, 0]], euler(y[4:])])


def body_matrix(t, y):
    return np.concatenate([(y[:9].reshape(3, 3) @ hat(y[9:])).ravel(), euler(y[9:])])


def moving(t, y):
    """A body that also flies: (position, quaternion, ω, v in the world)."""
    return np.concatenate([y[10:13], quaternion_rate(y[3:7], y[7:10]), euler(y[7:10]), [0.0, 0.0, -9.81]])


def moving_matrix(t, y):
    rate = np.zeros((4, 4))
    rate[:3, :3], rate[:3, 3] = y[:16].reshape(4, 4)[:3, :3] @ hat(y[16:19]), y[19:22]
    return np.concatenate([rate.ravel(), euler(y[16:19]), [0.0, 0.0, -9.81]])


ORIENTATION = Rotation.from_rotvec([0.3, -0.2, 0.5])
XYZW = ORIENTATION.as_quat()
WXYZ = XYZW[[3, 0, 1, 2]]
HOMOGENEOUS = np.block(
    [[ORIENTATION.as_matrix(), np.array([[1.0], [2.0], [3.0]])], [np.zeros((1, 3)), np.ones((1, 1))]]
)
BODIES = {
    "SO3": (body, TOP, np.concatenate([WXYZ, START])),
    "SO3_xyzw": (body_xyzw, ["SO3_xyzw", 3], np.concatenate([XYZW, START])),
    "SO3_matrix": (body_matrix, ["SO3_matrix", 3], np.concatenate([ORIENTATION.as_matrix().ravel(), START])),
    "SE3": (moving, ["SE3", 3, 3], np.concatenate([[1.0, 2.0, 3.0], WXYZ, START, [0.5, 0.0, 4.0]])),
    "SE3_matrix": (moving_matrix, ["SE3_matrix", 6], np.concatenate([HOMOGENEOUS.ravel(), START, [0.5, 0.0, 4.0]])),
    "group of liegroup": (body, [liegroup.product(liegroup.so3, liegroup.rn(3))], np.concatenate([WXYZ, START])),
}


@pytest.fixture(scope="module")
def truth():
    return {
        name: solve_ivp(fun, (0.0, 5.0), y0, method="DOP853", rtol=1e-13, atol=1e-14, dense_output=True)
        for name, (fun, _, y0) in BODIES.items()
    }


@pytest.mark.parametrize("name", BODIES)
def test_agrees_with_scipy_and_stays_on_the_group(name, truth):
    fun, groups, y0 = BODIES[name]
    found = solve_ivp(fun, (0.0, 5.0), y0, method=LieRK45(groups=groups), rtol=1e-9, atol=1e-10, dense_output=True)
    assert found.success
    assert found.status == 0
    assert found.t[0] == 0.0
    assert found.t[-1] == 5.0
    np.testing.assert_array_equal(found.y[:, 0], y0)
    np.testing.assert_allclose(found.y, truth[name].sol(found.t), rtol=0, atol=2e-7)
    between = np.linspace(0.0, 5.0, 101)
    np.testing.assert_allclose(found.sol(between), truth[name].sol(between), rtol=0, atol=2e-7)
    for y in (*found.y.T, *found.sol(between).T):
        if "matrix" in name:
            r = y[:9].reshape(3, 3) if name == "SO3_matrix" else y[:16].reshape(4, 4)[:3, :3]
            np.testing.assert_allclose(r.T @ r, np.eye(3), atol=2e-15)
        else:
            i = 3 if name == "SE3" else 0
            assert abs(np.linalg.norm(y[i : i + 4]) - 1.0) < 1e-15


def test_scipys_own_solver_leaves_the_group():
    """What the solvers are for: at the same tolerance the norm of SciPy's quaternion is wrong by ten orders more."""
    fun, _, y0 = BODIES["SO3"]
    found = solve_ivp(fun, (0.0, 50.0), y0, method="RK45", rtol=1e-6, atol=1e-6)
    assert abs(np.linalg.norm(found.y[:4], axis=0) - 1.0).max() > 1e-6


@pytest.mark.parametrize(
    ("solver", "order", "step"), [(LieRK23, 3, 0.05), (LieDOP853, 8, 0.2)], ids=["LieRK23", "LieDOP853"]
)
def test_other_pairs(solver, order, step, truth):
    fun, groups, y0 = BODIES["SO3"]
    found = solve_ivp(fun, (0.0, 2.0), y0, method=solver(groups=groups), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(found.y, truth["SO3"].sol(found.t), rtol=0, atol=1e-5)
    fine = solve_ivp(fun, (0.0, 2.0), y0, method=solver(groups=groups), step=step)
    coarse = solve_ivp(fun, (0.0, 2.0), y0, method=solver(groups=groups), step=2 * step)
    errors = [np.abs(s.y[:, -1] - truth["SO3"].sol(2.0)).max() for s in (coarse, fine)]
    assert np.log2(errors[0] / errors[1]) > order - 0.6


def test_symplectic_midpoint_in_body_momenta_keeps_the_energy():
    def fun(t, y):
        w = y[4:] / INERTIA
        return np.concatenate([quaternion_rate(y[:4], w), np.cross(y[4:], w)])

    y0 = np.concatenate([WXYZ, INERTIA * START])
    found = solve_ivp(
        fun, (0.0, 60.0), y0, method=LieMidpoint(groups=TOP, canonical=True), step=0.05, t_eval=np.linspace(0, 60, 200)
    )
    energy = 0.5 * (found.y[4:] ** 2 / INERTIA[:, None]).sum(0)
    assert np.ptp(energy) / energy[0] < 2e-3
    spatial = np.array([liegroup.so3.act(y[:4], y[4:]) for y in found.y.T])
    np.testing.assert_allclose(spatial, np.broadcast_to(spatial[0], spatial.shape), atol=1e-12)


def test_the_workflow_of_scipy(truth):
    """Events with directions, terminal ones, t_eval, args, backward integration, dense output, counters, one call
    alone.
    """
    _, groups, y0 = BODIES["SO3"]
    calls = []

    def with_arguments(t, y, factor, offset):
        calls.append(t)
        return factor * body(t, y) + offset

    def falling(t, y, *_):
        return y[4]

    def enough(t, y, *_):
        return y[4] - 0.5

    falling.direction, enough.terminal, enough.direction = -1, True, 1
    solver = LieRK45(groups=groups)
    wanted = np.linspace(0.0, 5.0, 23)
    found = solve_ivp(
        with_arguments,
        (0.0, 5.0),
        y0,
        method=solver,
        args=(1.0, 0.0),
        t_eval=wanted,
        events=[falling],
        rtol=1e-9,
        atol=1e-10,
    )
    reference = solve_ivp(
        with_arguments, (0.0, 5.0), y0, method="DOP853", args=(1.0, 0.0), events=[falling], rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(found.t, wanted)
    np.testing.assert_allclose(found.y, truth["SO3"].sol(wanted), atol=2e-7)
    assert len(reference.t_events[0]) > 0
    np.testing.assert_allclose(found.t_events[0], reference.t_events[0], atol=1e-6)

    calls.clear()
    stopped = solve_ivp(
        with_arguments, (0.0, 50.0), y0, method=solver, args=(1.0, 0.0), events=[enough], rtol=1e-9, atol=1e-10
    )
    assert stopped.status == 1
    assert stopped.t[-1] == stopped.t_events[0][0]
    assert abs(stopped.y_events[0][0][4] - 0.5) < 1e-8
    assert stopped.nfev == len(calls)

    back = solve_ivp(body, (5.0, 0.0), found.y[:, -1], method=solver, rtol=1e-9, atol=1e-10, dense_output=True)
    np.testing.assert_allclose(back.y[:, -1], y0, atol=1e-6)
    assert isinstance(back.sol, OdeSolution)
    np.testing.assert_allclose(back.sol(2.5), truth["SO3"].sol(2.5), atol=1e-6)

    one = solver(body, 0.0, y0, np.inf)
    one.step()
    assert one.t == one.t_old + one.step_size
    assert one.n == 7
    assert one.status == "running"
    assert one.dense_output()(one.t_old).shape == (7,)
    assert solve_ivp(body, (1.0, 1.0), y0, method=solver).success
    vectorized = solve_ivp(
        lambda t, y: np.array([body(t, c) for c in y.T]).T, (0.0, 1.0), y0, method=solver, vectorized=True
    )
    np.testing.assert_allclose(vectorized.y[:, -1], truth["SO3"].sol(1.0), atol=5e-3)
    short = solve_ivp(body, (0.0, 1.0), y0, method=solver, max_step=0.01, first_step=1e-3)
    assert np.diff(short.t).max() <= 0.01 * (1 + 1e-12)
    assert short.t[1] == 1e-3


def test_exceptions_and_interruptions_come_through():
    _, groups, y0 = BODIES["SO3"]
    for error in (ZeroDivisionError("here"), KeyboardInterrupt()):

        def fails(t, y, error=error):
            if t > 0.3:
                raise error
            return body(t, y)

        with pytest.raises(type(error)):
            solve_ivp(fails, (0.0, 1.0), y0, method=LieRK45(groups=groups))
    gone = solve_ivp(
        lambda t, y: body(t, y) * (np.nan if t > 0.3 else 1.0), (0.0, 1.0), y0, method=LieRK45(groups=groups)
    )
    assert not gone.success
    assert gone.status == -1
    assert gone.t[-1] <= 0.3
    assert "at t = 0.3" in gone.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y0": np.ones(8)}, r"y0: 8 numbers, but groups describe 7: SO3 \(4\), R3 \(3\)"),
        ({"y0": np.array([1.0, 1, 0, 0, 0, 0, 0])}, "quaternion"),
        ({"groups": ["SO4", 3]}, "groups: 'SO4', expected one of SO2"),
        ({"groups": []}, "groups: empty"),
        ({"fun": lambda t, y: np.ones(7)}, r"rate of y\[0:4\] \(SO3\).*leaves the group"),
        ({"rtol": 2.0}, "rtol: 2.0"),
        ({"atol": -1.0}, "atol: -1.0"),
        ({"max_step": 0.0}, "max_step: 0.0"),
        ({"first_step": -1.0}, "first_step: -1.0"),
        ({"first_step": 3.0}, "first_step: 3.0 is longer"),
        ({"step": -0.1}, "step: -0.1"),
        ({"step": 0.1, "rtol": 1e-3}, "rtol: options of variable steps"),
        ({"step": 1e-300}, "step: 1e-300 needs 1e[+]300 steps"),
        ({"step": 1e-320}, "step: 1e-320 needs inf steps"),
        ({"step": 0.1, "t_span": (1e16, 1e16 + 10)}, "step: 0.1 s is below the spacing of times near 1e[+]16 s, 2 s"),
        ({"step": 1.0, "t_span": (-1e16, np.inf)}, "step: 1 s is below the spacing of times near -1e[+]16 s, 2 s"),
        ({"controller": IntegratingController(lambda t, y: [1.0, 0.0])}, "keeps the symmetry of a symmetric method"),
        ({"method": "MIDPOINT"}, "fixed steps only; give solve_ivp the option step="),
        ({"method": "SCIPY_DOP853"}, "another library"),
        ({"method": "RK5"}, "RK5"),
    ],
    ids=lambda change: next(iter(change)) if isinstance(change, dict) else None,
)
def test_bad_input(change, message):
    given = {
        "fun": body,
        "t_span": (0.0, 1.0),
        "y0": np.concatenate([WXYZ, START]),
        "groups": TOP,
        "method": "RKMK_DORMAND_PRINCE54",
    } | change
    options = {k: v for k, v in given.items() if k not in ("fun", "t_span", "y0", "groups", "method")}
    how = {"t_span": given["t_span"], "y0": given["y0"]} | options
    with pytest.raises((ValueError, KeyError), match=message):
        solve_ivp(given["fun"], method=lie_solver(given["method"], given["groups"]), **how)


def test_matrices_that_are_no_rotations_are_refused():
    fun, groups, y0 = BODIES["SO3_matrix"]
    with pytest.raises(ValueError, match=r"expected a matrix of SO\(3\)"):
        solve_ivp(fun, (0.0, 1.0), y0 * 1.1, method=LieRK45(groups=groups))
    with pytest.raises(ValueError, match="leaves the group"):
        solve_ivp(lambda t, y: np.ones(12), (0.0, 1.0), y0, method=LieRK45(groups=groups))


def test_equations_of_kane_derived_by_sympy():
    """The usual way of PyDy: symbols → Kane's equations with a quaternion → numbers → solve_ivp.  A heavy top."""
    sympy = pytest.importorskip("sympy")
    from sympy.physics import mechanics as me

    q, u = me.dynamicsymbols("q0:4"), me.dynamicsymbols("u1:4")
    m, g, length, across, along = sympy.symbols("m g l A C")
    world, body_frame, support = me.ReferenceFrame("N"), me.ReferenceFrame("B"), me.Point("O")
    support.set_vel(world, 0)
    body_frame.orient_quaternion(world, q)
    body_frame.set_ang_vel(world, u[0] * body_frame.x + u[1] * body_frame.y + u[2] * body_frame.z)
    centre = support.locatenew("G", length * body_frame.z)
    centre.v2pt_theory(support, world, body_frame)
    top = me.RigidBody("top", centre, body_frame, m, (me.inertia(body_frame, across, across, along), centre))
    kane = me.KanesMethod(world, q_ind=q, u_ind=u, kd_eqs=me.kinematic_equations(u, q, "quaternion"))
    kane.kanes_equations([top], [(centre, -m * g * world.z)])
    values = sympy.lambdify(
        (q + u, (m, g, length, across, along)), (kane.mass_matrix_full, kane.forcing_full), cse=True
    )

    def fun(t, y, p):
        mass, forcing = values(y, p)
        return np.linalg.solve(mass, forcing)[:, 0]

    given = {"y0": [np.cos(0.2), np.sin(0.2), 0, 0, 0, 0, 20.0], "args": ((1.0, 9.81, 0.5, 0.3, 0.1),)}
    found = solve_ivp(fun, (0.0, 1.0), method=LieRK45(groups=TOP), rtol=1e-8, atol=1e-8, **given)
    truth = solve_ivp(fun, (0.0, 1.0), method="DOP853", rtol=1e-12, atol=1e-12, **given)
    np.testing.assert_allclose(found.y[:, -1], truth.y[:, -1], atol=3e-6)
    assert abs(np.linalg.norm(found.y[:4], axis=0) - 1.0).max() < 1e-15


# --- the Gauss method, which divides its steps by its own estimate ----------------------------------------------------


def kepler(t, y):
    r3 = (y[0] ** 2 + y[1] ** 2) ** 1.5
    return np.stack([y[2], y[3], -y[0] / r3, -y[1] / r3])


def predators(t, y):
    return np.stack([y[0] * (1.0 - y[1]), y[1] * (y[0] - 1.0)])


def pushed(t, y):
    return np.stack([y[1], np.cos(2.0 * t) - np.sin(y[0])])


SMOOTH = {
    "kepler": (kepler, [0.4, 0.0, 0.0, 2.0]),
    "predators": (predators, [2.0, 0.5]),
    "pushed": (pushed, [2.0, 0.3]),
}


def kept(name, y):
    """What stays."""
    if name == "kepler":
        return 0.5 * (y[2] ** 2 + y[3] ** 2) - 1.0 / np.hypot(y[0], y[1])
    return y[0] - np.log(y[0]) + y[1] - np.log(y[1])


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("vectorized", [False, True])
def test_gauss_is_near_rounding_without_being_asked(name, vectorized):
    fun, y0 = SMOOTH[name]
    found = solve_ivp(fun, (0.0, 20.0), y0, method=GAUSS8, vectorized=vectorized)
    true = solve_ivp(fun, (0.0, 20.0), y0, method="DOP853", rtol=3e-14, atol=1e-15)
    assert found.success
    assert found.t[-1] == 20.0
    assert np.abs(found.y[:, -1] - true.y[:, -1]).max() < 1e-10
    assert len(found.t) < 0.5 * len(true.t)
    assert name == "pushed" or np.ptp(kept(name, found.y)) < 5e-15


def test_gauss_calls_a_vectorised_field_once_for_all_stages_where_that_does_not_read_the_time():
    def calls(fun, **options):
        shapes = []

        def counting(t, y):
            shapes.append(y.shape)
            return fun(t, y)

        found = solve_ivp(counting, (0.0, 5.0), [2.0, 0.5], method=GAUSS8, vectorized=True, **options)
        assert found.nfev == sum(shape[1] for shape in shapes)
        return found, sum(shape == (2, 8) for shape in shapes), len(shapes)

    _, together, _ = calls(predators)  # `counting` hands the time on, as far as anybody can tell
    assert together == 0
    found, together, all_calls = calls(predators, autonomous=True)
    assert together > 0.9 * all_calls
    with pytest.raises(ValueError, match=r"autonomous: True, but component 1 of the field is .* reads the time"):
        calls(pushed, autonomous=True)
    assert len(solve_ivp(predators, (0.0, 5.0), [2.0, 0.5], method=GAUSS8, vectorized=True).t) == len(found.t)


@pytest.mark.parametrize("method", [GAUSS8, LieRK45(groups=3)])
def test_a_rate_of_another_shape_is_named(method):
    with pytest.raises(ValueError, match=r"fun: shape \(2,\) at t = 0, expected \(3,\)"):
        solve_ivp(lambda t, y: y[:2], (0.0, 1.0), [1.0, 2.0, 3.0], method=method)


@pytest.mark.parametrize("tolerance", [1e-6, 1e-9, 1e-12])
def test_the_tolerance_of_gauss_is_an_error_relative_to_the_components(tolerance):
    fun, y0 = SMOOTH["predators"]
    true = solve_ivp(fun, (0.0, 20.0), y0, method=GAUSS8).y[:, -1]
    found = solve_ivp(fun, (0.0, 20.0), y0, method=GAUSS8, rtol=tolerance, atol=tolerance)
    assert np.abs(found.y[:, -1] - true).max() < 50 * tolerance
    assert len(found.t) < len(solve_ivp(fun, (0.0, 20.0), y0, method=GAUSS8).t)


def test_gauss_in_the_workflow_of_scipy():
    """Events, terminal ones, t_eval, args, backwards, dense output, sizes of steps, an endless interval."""
    fun, y0 = SMOOTH["kepler"]

    def apart(t, y, *_):
        return y[0] * y[2] + y[1] * y[3]

    apart.direction = -1
    wanted = np.linspace(0.0, 20.0, 41)
    found = solve_ivp(
        lambda t, y, mass: np.concatenate([y[2:], mass * fun(t, y)[2:]]), (0.0, 20.0), y0, method=GAUSS8, args=(1.0,),
        t_eval=wanted, events=[apart],
    )  # fmt: skip
    true = solve_ivp(fun, (0.0, 20.0), y0, method="DOP853", rtol=3e-14, atol=1e-15, dense_output=True)
    assert np.array_equal(found.t, wanted)
    assert np.abs(found.y - true.sol(wanted)).max() < 1e-8  # SciPy's interpolant
    assert np.ptp(kept("kepler", found.y)) < 5e-15
    assert np.abs(found.t_events[0] - np.pi * np.array([1.0, 3.0, 5.0])).max() < 1e-12
    apart.terminal = True
    stopped = solve_ivp(fun, (0.0, 20.0), y0, method=GAUSS8, events=[apart], dense_output=True)
    assert stopped.status == 1
    assert abs(stopped.t[-1] - np.pi) < 1e-12
    assert isinstance(stopped.sol, OdeSolution)
    assert np.ptp(kept("kepler", stopped.sol(np.linspace(0.0, 3.1, 50)))) < 5e-15
    back = solve_ivp(fun, (20.0, 0.0), found.y[:, -1], method=GAUSS8)
    assert np.abs(back.y[:, -1] - y0).max() < 1e-11
    short = solve_ivp(fun, (0.0, 1.0), y0, method=GAUSS8, first_step=1e-3, max_step=0.01)
    assert short.t[1] == 1e-3
    assert np.diff(short.t).max() <= 0.01 * (1 + 1e-12)
    one = GAUSS8(fun, 0.0, y0, np.inf)
    one.step()
    assert one.t == one.t_old + one.step_size
    assert one.status == "running"
    assert solve_ivp(lambda t, y: 0.0 * y, (0.0, 1.0), [1.0], method=GAUSS8).y[0, -1] == 1.0
    fixed = solve_ivp(fun, (0.0, 1.0), y0, method=GAUSS8, step=0.1)
    assert np.allclose(np.diff(fixed.t), 0.1)


def test_gauss_on_groups(truth):
    fun, groups, y0 = BODIES["SO3"]
    found = solve_ivp(fun, (0.0, 5.0), y0, method=lie_solver("GAUSS8", groups))
    np.testing.assert_allclose(found.y, truth["SO3"].sol(found.t), rtol=0, atol=1e-8)
    assert np.abs(np.linalg.norm(found.y[:4], axis=0) - 1.0).max() < 1e-15
    assert np.abs(found.y[:, -1] - truth["SO3"].y[:, -1]).max() < 1e-10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": 2.0}, "rtol: 2.0"),
        ({"rtol": [1e-3, 1e-3]}, "rtol"),
        ({"atol": -1.0}, "atol: -1.0"),
        ({"max_step": 0.0}, "max_step: 0.0"),
        ({"first_step": 3.0}, "first_step: 3.0 is longer"),
        ({"controller": "I"}, "controller: 'I', but GAUSS8 divides its steps by its estimate"),
        ({"step": 0.1, "rtol": 1e-3}, "rtol: options of variable steps"),
    ],
    ids=lambda x: next(iter(x)) if isinstance(x, dict) else None,
)
def test_options_that_make_no_sense_for_gauss(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        solve_ivp(predators, (0.0, 1.0), [2.0, 0.5], method=GAUSS8, **options)


@pytest.mark.parametrize("solver", [LieRK23, LieRK45, LieDOP853, LieMidpoint])
def test_solvers_that_want_groups_say_how_they_are_called(solver):
    """Passed as they are SciPy said only that it wants another method."""
    wanted = rf"method: {solver.__name__} without groups; expected method={solver.__name__}\(groups=…\)"
    with pytest.raises(TypeError, match=wanted):
        solve_ivp(predators, (0.0, 1.0), [2.0, 0.5], method=solver, rtol=1e-6)
    with pytest.raises(TypeError, match=wanted):
        solve_ivp(predators, (0.0, 1.0), [2.0, 0.5], method=solver, groups=2)
    with pytest.raises(TypeError, match=wanted):
        solver()
    assert solver(groups=2, canonical=True).canonical
    assert not solver(2).canonical
    assert pickle.loads(pickle.dumps(solver)) is solver


def test_a_field_that_ends_ends_gauss():
    gone = solve_ivp(lambda t, y: -1.0 / y, (0.0, 1.0), [1.0], method=GAUSS8)
    assert gone.status == -1
    assert 0.4 < gone.t[-1] <= 0.5


@pytest.mark.parametrize(
    ("field", "span", "said"),
    [
        (lambda t, y: [np.nan], (0.0, 1.0), "not finite"),
        (lambda t, y: [np.inf], (0.0, 1.0), "not finite|step size is less"),
        (lambda t, y: y * y, (0.0, 2.0), "step size is less than spacing"),
        (lambda t, y: -y, (1e16, 1e16 + 1e4), "step size is less than spacing"),
    ],
)
@pytest.mark.parametrize("method", [GAUSS8, LieRK45(groups=[1])])
def test_steps_that_do_not_move_the_time_end_a_run(method, field, span, said):
    """Gauss took them for ever: after its last try it began anew, and said that this had gone well."""
    gone = solve_ivp(field, span, [1.0], method=method)
    assert gone.status == -1
    assert re.search(said, gone.message)
    assert abs(gone.t[-1] - span[0]) <= (1.0 if span[0] == 0.0 else 1e3)


@pytest.mark.parametrize("options", [{"max_step": 1.0}, {"max_step": 2.0, "first_step": 1.0}])
def test_gauss_keeps_the_largest_step_where_it_does_not_move_the_time(options):
    """Twenty seconds and more were taken where two are allowed, and success was said."""
    gone = solve_ivp(lambda t, y: [1e-9], (1e16, 1e16 + 1e4), [1.0], method=GAUSS8, **options)
    assert gone.status == -1
    assert "step size is less than spacing" in gone.message
    assert gone.t.tolist() == [1e16]


def test_odeint_takes_times_that_come_again_and_none_without_order():
    import scipy.integrate

    for t in ([0.0, 0.5, 0.5, 1.0], [1.0, 0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0]):
        found, theirs = (solve(lambda y, t: -y, [1.0], t) for solve in (odeint, scipy.integrate.odeint))
        assert np.allclose(found, theirs, rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=r"^t: 0\.5 comes after 1, expected times that only grow"):
        odeint(lambda y, t: -y, [1.0], [0.0, 1.0, 0.5, 2.0])
    with pytest.raises(ValueError, match=r"^t: nan comes after 0"):
        odeint(lambda y, t: -y, [1.0], [0.0, np.nan, 1.0])


def test_odeint_takes_fixed_steps():
    """It always failed with tolerances that nobody had given."""
    found = odeint(lambda y, t: [y[1], -y[0]], [1.0, 0.0], [0.0, 0.5, 1.0], method=LieMidpoint(groups=[2]), step=1e-2)
    assert np.allclose(found[:, 0], np.cos([0.0, 0.5, 1.0]), atol=1e-4)
    with pytest.raises(ValueError, match="rtol: options of variable steps"):
        odeint(lambda y, t: -y, [1.0], [0.0, 1.0], method=LieMidpoint(groups=[1]), step=0.1, rtol=1e-3)


@pytest.mark.parametrize("span", [(0.0, np.nan), (np.inf, 0.0)])
def test_spans_that_are_none_are_named(span):
    with pytest.raises(ValueError, match=r"t_span: .*expected two numbers"):
        solve_ivp(predators, span, [2.0, 0.5], method=LieRK45(groups=[2]))


def test_gauss_says_where_a_right_hand_side_is_not_smooth():
    """Its error was 3e-4 where near rounding is promised, and success was all that was said."""
    with pytest.warns(RuntimeWarning, match=r"GAUSS8: doubtful since t = 1\.99.* is not smooth") as said:
        found = solve_ivp(lambda t, y: [1.0 if t < 2.0 else 2.0 if t < 3.0 else 0.0], (0, 5), [0.0], method=GAUSS8)
    assert abs(found.y[0, -1] - 4.0) > 1e-5
    assert len(said) == 1


@pytest.mark.parametrize(
    ("method", "step", "doubt"),
    [("RKMK4", 0.05, "accuracy"), ("ADAMS_BASHFORTH2", 0.02, "stability"), ("BDF3", 0.05, "")],
)
def test_fixed_steps_that_are_doubtful_are_warned_of(method, step, doubt):
    """SciPy knows success and failure alone; what `integrate` doubts is a warning there."""
    calls = []

    def fast(t, y):
        calls.append(t)
        return -100.0 * (y - np.cos(t))

    with pytest.warns(RuntimeWarning, match=f"{method}: doubtful .* {doubt}") if doubt else nullcontext():
        found = solve_ivp(fast, (0.0, 2.0), [1.0], method=lie_solver(method, 1), step=step)
    assert found.success
    assert found.nfev < len(calls)  # the looks at the end are not counted
