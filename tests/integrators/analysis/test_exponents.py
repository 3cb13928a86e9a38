"""Floquet multipliers and Lyapunov exponents against SciPy's solution of the variational equations."""

import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import mechanics.systems
from integrators import Guard, Problem
from integrators.analysis import exponents, floquet_multipliers, lyapunov_exponents
from integrators.step_derivatives import linearised_step, repeated
from integrators.step_derivatives.written import written
from liegroup.group import rn
from mechanics import Body, Inertia, Tree
from mechanics.elastic import Network, Springs
from mechanics.joints import Continuous, Motion, Revolute, Rheonomic, Slide

METHOD = "RKMK_FEAGIN10"


def mathieu(t, y, parameters, structure, work, out):
    out[0], out[1] = y[1], -(parameters[0] + parameters[1] * np.cos(2 * t)) * y[0]


def driven_pendulum(t, y, parameters, structure, work, out):
    """A pendulum on a pivot that shakes along the vertical, damped."""
    out[0] = y[1]
    out[1] = -(parameters[0] + parameters[1] * np.cos(t)) * np.sin(y[0]) - parameters[2] * y[1]


def by_scipy(field, parameters, period, start):
    """Monodromy matrix, the field's derivative by complex steps."""

    def both(t, z):
        y, Y = z[:2], z[2:].reshape(2, 2)
        value, columns = np.zeros(2), []
        field(t, y, parameters, None, None, value)
        for e in np.eye(2):
            out = np.zeros(2, dtype=complex)
            field(t, y + 1e-30j * e, parameters, None, None, out)
            columns.append(out.imag / 1e-30)
        return np.concatenate([value, (np.stack(columns, axis=1) @ Y).ravel()])

    z0 = np.concatenate([start, np.eye(2).ravel()])
    return solve_ivp(both, (0, period), z0, "DOP853", rtol=1e-13, atol=1e-15).y[2:, -1].reshape(2, 2)


@pytest.mark.parametrize(("a", "q"), [(1.3, 0.4), (1.0, 0.5), (0.2, -0.1)])
def test_mathieu(a, q):
    """Stable and unstable tongues; the product is one, as nothing dissipates."""
    problem = Problem(rn(2), [0.0, 0.0], mathieu, parameters=np.array([a, q]))
    found = floquet_multipliers(problem, METHOD, np.pi, 32)
    true = by_scipy(mathieu, [a, q], np.pi, np.zeros(2))
    np.testing.assert_allclose(found.monodromy, true, atol=1e-12)
    assert np.prod(found.multipliers) == pytest.approx(1.0, abs=1e-13)
    np.testing.assert_allclose(np.exp(found.exponents * np.pi), found.multipliers)


@pytest.mark.parametrize(("method", "steps"), [(METHOD, 64), ("GAUSS8", 32), ("RKMK_GAUSS6", 64)])
@pytest.mark.parametrize("angle", [0.0, np.pi])
def test_a_shaken_pendulum(angle, method, steps):
    """Hanging and upright, where nothing moves and iterations end at once but for the derivative; by Liouville the
    product of the multipliers is exp(−cT).
    """
    parameters = np.array([-0.02, 0.35, 0.05])
    problem = Problem(rn(2), [angle, 0.0], driven_pendulum, parameters=parameters)
    found = floquet_multipliers(problem, method, 2 * np.pi, steps)
    true = by_scipy(driven_pendulum, parameters, 2 * np.pi, np.array([angle, 0.0]))
    np.testing.assert_allclose(found.monodromy, true, atol=1e-12)
    assert np.prod(found.multipliers) == pytest.approx(np.exp(-0.05 * 2 * np.pi), rel=1e-12)


def test_a_motion_that_does_not_close():
    problem = Problem(rn(2), [0.3, 0.0], driven_pendulum, parameters=np.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match=r"from its start, expected less than"):
        floquet_multipliers(problem, METHOD, 1.0, 4)
    with pytest.raises(ValueError, match="count: 5, expected at most 2"):
        lyapunov_exponents(problem, METHOD, 0.1, 4, count=5)


def test_a_motion_that_goes_round_closes_where_angles_do_not_count_turns():
    """A pendulum that goes round: by the joint Continuous it returns, with Revolute its angle is a turn away."""
    inertia, rate = 0.1 + 0.25, 12.0
    bar = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))
    (period,) = solve_ivp(
        lambda t, y: [y[1], -0.5 * 9.81 * np.sin(y[0]) / inertia], (0, 2), [0, rate], "DOP853",
        rtol=1e-12, atol=1e-13, events=lambda t, y: y[0] - 2 * np.pi,
    ).t_events[0]  # fmt: skip
    revolving, closing = (Tree([Body("bar", joint((0, 1, 0)), inertia=bar)]) for joint in (Revolute, Continuous))
    for part in (1.0, 0.999):
        with pytest.raises(ValueError, match=r"6\.2. from its start, whole turns of an angle .* besides.*Continuous"):
            floquet_multipliers(revolving.problem([0.0], v=[rate]), "GAUSS8", part * period, 40)
    swinging = Problem(rn(2), [0.0, rate], lambda t, y: [y[1], -0.5 * 9.81 * np.sin(y[0]) / inertia], angles=[0])
    with pytest.raises(ValueError, match=r"or a factor `liegroup\.so2`"):
        floquet_multipliers(swinging, "GAUSS8", period, 40)
    with pytest.raises(ValueError, match=r"4\.\d* from its start, expected less than .*correct start and period"):
        floquet_multipliers(revolving.problem([0.0], v=[rate]), "GAUSS8", 0.7 * period, 40)
    assert floquet_multipliers(closing.problem([0.0], v=[rate]), "GAUSS8", period, 40).gap < 1e-6


@pytest.mark.parametrize("period", [2.0, 3.0, 1.001 * np.pi])
def test_a_rest_returns_after_any_time_but_its_drive_does_not(period):
    problem = Problem(rn(2), [0.0, 0.0], mathieu, parameters=np.array([4.0, 1.5]))
    with pytest.raises(ValueError, match=r"period: .* s, which is not that of what drives"):
        floquet_multipliers(problem, METHOD, period, 16)
    for turns in (1, 2):  # multiples are periods, too
        found = floquet_multipliers(problem, METHOD, turns * np.pi, turns * 16)
        np.testing.assert_allclose(
            found.monodromy, by_scipy(mathieu, [4.0, 1.5], turns * np.pi, np.zeros(2)), atol=1e-9
        )
    still = Problem(rn(2), [0.0, 0.0], mathieu, parameters=np.array([4.0, 0.0]))
    found = floquet_multipliers(still, METHOD, period, 16)
    np.testing.assert_allclose(found.monodromy, by_scipy(mathieu, [4.0, 0.0], period, np.zeros(2)), atol=1e-9)


@pytest.mark.parametrize(("k", "unit"), [(1e6, 0.0), (1e12, 0.0), (0.0, 1e6)])
def test_a_wrong_period_of_the_drive_is_seen_beside_large_entries(k, unit):
    """A swing on a stiff spring, or beside an oscillator whose momenta are in a smaller unit."""

    def field(t, y):
        push = k * (y[0] - y[2])
        return [y[1], -(1.0 + 0.5 * np.cos(2 * t)) * y[0] - push, y[3] / (unit or 1.0), push - unit * y[2] - 0.1 * y[3]]

    problem = Problem(rn(4), np.zeros(4), field)
    for period in (2.0, 1.001 * np.pi):
        with pytest.raises(ValueError, match="which is not that of what drives"):
            floquet_multipliers(problem, "RKMK_GAUSS4", period, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # steps are too few for the springs
        floquet_multipliers(problem, "RKMK_GAUSS4", np.pi, 6)


def swinging(size):
    """A pendulum whose angle is counted in other units."""
    return lambda y: [y[1], -4.0 * size * np.sin(y[0] / size)]


QUARTER = float(ellipk(np.sin(0.5) ** 2)) / 2.0
"""Of the period of such a pendulum that swings by 1 rad."""


@pytest.mark.parametrize("size", [1.0, 7e6])
def test_a_motion_that_does_not_close_is_seen_beside_large_numbers(size):
    """An oscillator of period 2, as of an orbit in metres, and a pendulum that swings in another one."""
    problem = Problem(rn(4), [size, 0, 1, 0], lambda t, y: [y[1], -(np.pi**2) * y[0], *swinging(1.0)(y[2:])])
    with pytest.raises(ValueError, match=r"component 2 of the motion .* is 1\.83 from its start, expected less than"):
        floquet_multipliers(problem, METHOD, 2.0, 60)
    rate = np.pi / (2 * QUARTER)  # of an oscillator of the same period
    problem = Problem(rn(4), [size, 0, 1, 0], lambda t, y: [y[1], -(rate**2) * y[0], *swinging(1.0)(y[2:])])
    found = floquet_multipliers(problem, METHOD, 4 * QUARTER, 100)
    np.testing.assert_allclose(found.multipliers, 1.0, atol=1e-4)  # double ones: to the square root of rounding


@pytest.mark.parametrize("size", [1.0, 1e-7])
def test_a_motion_that_does_not_close_is_seen_in_any_unit(size):
    problem = Problem(rn(2), [size, 0.0], lambda t, y: swinging(size)(y))
    for period in (2.0, 2 * QUARTER):
        with pytest.raises(ValueError, match=r"from its start, expected less than"):
            floquet_multipliers(problem, METHOD, period, 60)
    found = floquet_multipliers(problem, METHOD, 4 * QUARTER, 100)
    np.testing.assert_allclose(found.multipliers, 1.0, atol=1e-4)


@pytest.mark.parametrize("angle", [0.0, np.pi])
@pytest.mark.parametrize("off", [1e-7, 1e-9, 1e-15])
def test_what_is_off_a_rest_by_little_rests(angle, off):
    """As far as a solver of equilibria leaves it: what it moves is nothing to its multipliers, though it does not come
    back; and a small motion beside a large one.
    """
    start = np.array([angle + off, 0.0])
    parameters = np.array([-0.02, 0.35, 0.05])
    found = floquet_multipliers(Problem(rn(2), start, driven_pendulum, parameters=parameters), METHOD, 2 * np.pi, 64)
    true = by_scipy(driven_pendulum, parameters, 2 * np.pi, np.array([angle, 0.0]))
    np.testing.assert_allclose(found.monodromy, true, atol=1e-6)

    def kepler(t, y):
        return [*y[3:], *(-y[:3] / (y[:3] @ y[:3]) ** 1.5)]

    problem = Problem(rn(6), [1.0, 0.0, off, 0.0, 1.1, 0.0], kepler)
    period = 2 * np.pi / (2.0 - 1.1**2) ** 1.5
    assert floquet_multipliers(problem, METHOD, period, 60).gap < 1e-6


def test_a_drive_that_is_known_over_one_period():
    """Multipliers, with a warning that the period could not be checked; what goes on beyond is named."""
    period = 2 * np.pi / 30

    def shaken(known):
        motion = Motion.from_function(lambda t: 0.05 * np.cos(30 * t), (0, known))
        pivot = Body("p", Rheonomic((Slide((0, 0, 1), motion),)), inertia=Inertia.point(0.2))
        bob = Body("b", Revolute((0, 1, 0)), "p", inertia=Inertia.point(1.0, (0, 0, -0.5)))
        return Tree([pivot, bob]).problem([np.pi])

    known = "the motion of joint 'p_joint' is known from 0 to 0.20944 s"
    for method, steps in (("GAUSS8", 8), ("TREE_VARIATIONAL", 40)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            true = floquet_multipliers(shaken(2 * period), method, period, steps).multipliers
        with pytest.warns(RuntimeWarning, match=f"the period of what drives it is not known, as .* {known}; give"):
            found = floquet_multipliers(shaken(period), method, period, steps).multipliers
        np.testing.assert_allclose(found, true, rtol=1e-6)
        with pytest.raises(ArithmeticError, match=f"cannot be taken: {known}") as raised:
            floquet_multipliers(shaken(period), method, 1.1 * period, steps)
        assert "smaller" not in str(raised.value)
    with pytest.raises(ArithmeticError, match=f"cannot be taken: {known}"):
        lyapunov_exponents(shaken(period), "RKMK4", period / 10, 20)


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_multipliers_of_few_steps_are_warned_of(steps):
    """RKMK4 says that an unstable motion is stable (4 steps), or that it grows eightfold (2)."""
    problem = Problem(rn(2), [0.0, 0.0], mathieu, parameters=np.array([4.0, 1.5]))
    true = np.sort(np.linalg.eigvals(by_scipy(mathieu, [4.0, 1.5], np.pi, np.zeros(2))))[::-1]
    with pytest.warns(RuntimeWarning, match=rf"by {steps} steps of a period are not settled: .* take more steps"):
        found = floquet_multipliers(problem, "RKMK4", np.pi, steps)
    assert np.abs(found.multipliers - true).max() > 0.1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = floquet_multipliers(problem, "RKMK4", np.pi, 32)
    np.testing.assert_allclose(found.multipliers, true, atol=1e-3)


def double_pendulum():
    bob = Inertia.about_com(1.0, (0, 0, -1.0), np.zeros((3, 3)))
    bodies = [Body("a", Revolute((0, 1, 0)), inertia=bob)]
    return Tree([*bodies, Body("b", Revolute((0, 1, 0)), "a", (0, 0, -1.0), inertia=bob)])


def test_exponents_of_a_tree_are_those_of_its_variational_equations():
    """The volume of phase space stays; the exponents of a finite time are those of SciPy."""
    tree, T, h = double_pendulum(), 1.0, 0.005
    problem = tree.problem([2.0, 1.0])
    found = lyapunov_exponents(problem, "TREE_VARIATIONAL_SUZUKI4", h, round(T / h), every=20)
    assert abs(found.exponents.sum()) < 1e-10

    def both(t, z):
        v, p_dot = mechanics.hamiltonian_rhs(tree, z[:2], z[2:4])
        A = mechanics.hamiltonian_rhs_derivatives(tree, z[:2], z[2:4])
        return np.concatenate([v, p_dot, (A @ z[4:].reshape(4, 4)).ravel()])

    start = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    start = np.concatenate([problem.y0, start.ravel()])
    ends = solve_ivp(both, (0, T), start, "DOP853", rtol=1e-9, atol=1e-9).y[:, -1]
    R = np.linalg.qr(ends[4:].reshape(4, 4))[1]
    true = np.log(np.abs(np.diag(R))) / T
    np.testing.assert_allclose(np.sort(found.exponents), np.sort(true), atol=2e-6)
    np.testing.assert_allclose(found.y, ends[:4], atol=2e-5)


def test_an_ordered_motion_and_a_chaotic_one():
    tree = double_pendulum()
    small = lyapunov_exponents(tree.problem([0.1, 0.05]), "TREE_VARIATIONAL", 0.05, 1500, count=1, every=10, skip=100)
    large = lyapunov_exponents(tree.problem([2.0, 1.5]), "TREE_VARIATIONAL", 0.05, 1500, count=1, every=10, skip=100)
    assert small.exponents[0] < 0.1
    assert large.exponents[0] > 0.5


def lorenz(t, y, parameters, structure, work, out):
    out[0] = 10.0 * (y[1] - y[0])
    out[1] = y[0] * (28.0 - y[2]) - y[1]
    out[2] = y[0] * y[1] - 8.0 / 3.0 * y[2]


START = np.array([1.0, 1.0, 20.0])


def test_exponents_of_lorenzs_system_are_those_of_its_variational_equations():
    """All three over ten seconds, in which a distance grows ten thousandfold; the derivative written by hand, SciPy's
    DOP853 and one decomposition a second; their sum is the divergence, −(10 + 1 + 8/3).
    """
    found = lyapunov_exponents(Problem(rn(3), START, lorenz), "RKMK_DOP853", 0.02, 500, every=50)

    def both(t, z):
        x, y, z3 = z[:3]
        A = np.array([[-10.0, 10.0, 0.0], [28.0 - z3, -1.0, -x], [y, x, -8.0 / 3.0]])
        value = np.empty(3)
        lorenz(t, z, None, None, None, value)
        return np.concatenate([value, (A @ z[3:].reshape(3, 3)).ravel()])

    state, Q, sums = START, np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0], np.zeros(3)
    for _ in range(10):
        start = np.concatenate([state, Q.ravel()])
        end = solve_ivp(both, (0, 1), start, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
        state, (Q, R) = end[:3], np.linalg.qr(end[3:].reshape(3, 3))
        sums += np.log(np.abs(np.diag(R)))
    np.testing.assert_allclose(found.exponents, np.sort(sums / 10)[::-1], atol=1e-7)
    assert found.exponents.sum() == pytest.approx(-(11 + 8 / 3), abs=1e-7)


@pytest.mark.slow
def test_exponents_of_lorenzs_system_as_published():
    """0.906, 0 and −14.572, as J. C. Sprott found over a million units of time, as well as 240 can tell."""
    found = lyapunov_exponents(Problem(rn(3), START, lorenz), "RKMK4", 0.02, 12000, every=10, skip=500)
    np.testing.assert_allclose(found.exponents, [0.906, 0.0, -14.572], atol=0.03)


@pytest.mark.parametrize(
    ("step", "steps", "every", "said"),
    [(0.01, 600, 300, "renormalise more often than every 300 steps"), (0.1, 60, 1, "take smaller steps until")],
)
def test_exponents_that_are_not_those_of_the_motion_are_warned_of(step, steps, every, said):
    with pytest.warns(RuntimeWarning, match=said):
        lyapunov_exponents(Problem(rn(3), START, lorenz), "RKMK4", step, steps, every=every)


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5"])
def test_contractions_that_a_step_does_not_resolve_are_warned_of(method):
    """Stiff methods shrink what decays by exp(−10) in a step by a few times as little, and no error of A shows it."""

    def found(rate, step):
        problem = Problem(rn(2), [1.0, 1.0], lambda t, y: [-rate * (y[0] - np.cos(t)), -y[1]])
        return lyapunov_exponents(problem, method, step, 20, skip=10).exponents

    with pytest.warns(RuntimeWarning, match="to the length of direction 2 .* take smaller steps until"):
        assert found(1000.0, 0.01)[1] > -600.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(found(1000.0, 0.001), [-1.0, -1000.0], rtol=0.01)
        np.testing.assert_allclose(found(100.0, 0.01), [-1.0, -100.0], rtol=0.01)


@pytest.mark.filterwarnings("ignore:exponents of")
def test_a_step_that_leads_nowhere_is_named():
    with pytest.raises(ArithmeticError, match=r"the step of 0.3 s at t = .* not finite; use a smaller step"):
        lyapunov_exponents(Problem(rn(3), START, lorenz), "RKMK4", 0.3, 100)


def test_multipliers_below_rounding_are_warned_of():
    def damped(t, y):
        return [y[1], -y[0], -10.0 * y[2]]

    with pytest.warns(RuntimeWarning, match="are rounding of the greatest"):
        floquet_multipliers(Problem(rn(3), [1.0, 0.0, 0.0], damped), METHOD, 2 * np.pi, 200)


@pytest.mark.parametrize(
    "method",
    ["RKMK4", *(pytest.param(name, marks=pytest.mark.slow) for name in ("RKMK_RADAU_IIA3", "VARIATIONAL_GAUSS2"))],
)
def test_many_steps_are_those_of_few(method, monkeypatch):
    """Derivatives that are compiled, where steps are many or slow, against those of the interpreted steps."""
    top, taken = mechanics.systems.SYSTEMS["heavy-top"].problem(), []

    def interpreted(*given, **options):
        taken.append(given)
        return linearised_step(*given, **options)

    monkeypatch.setattr(exponents, "linearised_step", interpreted)
    monkeypatch.setattr(exponents, "WORTH", np.inf)

    def found():
        return lyapunov_exponents(top, method, 0.01, 40, skip=10, every=5)

    few = found()
    assert len(taken) > 10
    for name, value in (("MANY", 50), ("WORTH", 0.0)):
        with monkeypatch.context() as patch:
            patch.setattr(exponents, name, value)
            taken.clear()
            many = found()
        assert len(taken) < 10
        assert many.history == pytest.approx(few.history, abs=1e-10)
        assert many.y == pytest.approx(few.y, abs=1e-12)
    monkeypatch.setattr(exponents, "MANY", 50)
    assert lyapunov_exponents(top, method, 0.01, 39, skip=10, every=5).history[0] == pytest.approx(few.history[0])


def lorenz_in_plain_python(t, y, p):
    return [p[0] * (y[1] - y[0]), y[0] * (p[1] - y[2]) - y[1], y[0] * y[1] - p[2] * y[2]]


def test_a_formula_in_plain_python_is_compiled_for_many_steps(monkeypatch):
    problem = Problem(rn(3), [1.0, 1.0, 20.0], lorenz_in_plain_python, parameters=[10.0, 28.0, 8.0 / 3.0])
    many = lyapunov_exponents(problem, "RKMK4", 0.002, 600)
    monkeypatch.setattr(repeated, "MANY", 601)
    called = lyapunov_exponents(problem, "RKMK4", 0.002, 600)
    assert many.y == pytest.approx(called.y, abs=1e-12)
    assert many.exponents == pytest.approx(called.exponents, abs=1e-11)
    assert many.exponents.sum() == pytest.approx(-11.0 - 8.0 / 3.0, abs=1e-6)


def test_what_is_watched_does_not_keep_a_formula_from_being_compiled():
    """Invariants in plain Python, and guards with functions of their own; what is no formula is left out."""

    def field(t, y):
        return [y[1], -np.sin(y[0])]

    def energy(t, y):
        return 0.5 * y[1] ** 2 - np.cos(y[0])

    def turns(t, y):
        return float(y[0] > np.pi)

    below = Guard("height", "it is high", "push less", greatest=0.5, function=lambda t, y: -np.cos(y[0]))
    for invariants, guards, kept in (
        ({"energy": energy}, (), ("energy",)),
        ({"energy": energy}, (below,), ("energy", "height")),
        ({"energy": energy, "turns": turns}, (), ()),
    ):
        problem = Problem(rn(2), [1.0, 0.0], field, canonical=True, invariants=invariants, guards=guards)
        compiled = written(problem)
        assert compiled is not None
        assert compiled.field.is_compiled
        assert compiled.invariant_names == kept
        if kept:
            assert compiled.invariant_values(0.0, [0.3, 0.2])[0] == pytest.approx(energy(0.0, [0.3, 0.2]), rel=1e-15)


def test_what_is_no_formula_is_not_written_down():
    """An `if` on a value; what changes from call to call; what numbers with derivatives cannot enter."""
    calls = []

    def counts(t, y):
        calls.append(t)
        return [y[1], -y[0] + 1e-9 * len(calls)]

    def chooses(t, y):
        return [y[1], -y[0] if y[0] > 0.0 else -2.0 * y[0]]

    def falls(t, y):
        raise ZeroDivisionError

    assert written(Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -np.sin(y[0]) * np.cos(t)])) is not None
    assert written(Problem(rn(2), [1.0, 0.5], lambda t, y: [y[1], -y[0] / (y[0] ** 2 + 0.3) ** 1.5])) is not None
    for field in (counts, chooses, falls):
        assert written(Problem(rn(2), [1.0, 0.0], field)) is None


def test_a_field_that_jumps_is_a_warning_and_a_steep_one_is_not():
    """Neighbours come to the sign of dry friction at other times: the damped motion looked neutral."""

    def rubbed(t, y):
        return [y[1], -y[0] - 0.3 * (1.0 if y[1] > 0.0 else -1.0) + np.cos(1.7 * t)]

    start = [-0.4342821886068622, 0.3032116827404921]
    with pytest.warns(RuntimeWarning, match=r"between t = 1\.57\d* s and 1\.5\d* s its field jumps, by 0\.[56]"):
        found = lyapunov_exponents(Problem(rn(2), start, rubbed), "RKMK4", 0.01, 300)
    assert np.abs(found.exponents).max() < 1e-3  # the motion's are −0.12

    def relaxing(t, y):
        return [y[1], 50.0 * (1.0 - y[0] ** 2) * y[1] - y[0]]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lyapunov_exponents(Problem(rn(2), [2.0, 0.0], relaxing), "RKMK_RADAU_IIA3", 0.02, 2000)


def test_a_drive_that_jumps_at_the_ends_of_steps_is_not_said_to_have_another_period():
    """Meissner's equation: two stretches of constant stiffness.  At 0 the sine is zero, at 2π it is below."""

    def field(t, y):
        return [y[1], -(1.0 + 0.6 * np.sign(np.sin(t))) * y[0]]

    def half(w):
        return np.array([[np.cos(np.pi * w), np.sin(np.pi * w) / w], [-w * np.sin(np.pi * w), np.cos(np.pi * w)]])

    meissner = Problem(rn(2), [0.0, 0.0], field)
    with pytest.raises(ValueError, match=r"jumps where a stage of the step from t = 0 s falls.*RKMK_GAUSS2"):
        floquet_multipliers(meissner, "RKMK4", 2.0 * np.pi, 64)
    with pytest.raises(ValueError, match="is not that of what drives"):
        floquet_multipliers(meissner, "RKMK4", np.pi, 64)
    found = floquet_multipliers(meissner, "RKMK_GAUSS6", 2.0 * np.pi, 16).multipliers
    exact = np.linalg.eigvals(half(0.4**0.5) @ half(1.6**0.5))
    assert max(np.abs(found - x).min() for x in exact) < 1e-12


def test_rounding_at_a_place_of_rest_is_no_jump_of_the_field():
    """L4 of the circular three-body problem: λ⁴ + λ² + 27/4 μ (1 − μ) = 0, and forces that cancel but for rounding."""
    mass, period = 0.01215, 3.0

    def field(t, y):
        left, right = y[0] + mass, y[0] - 1.0 + mass
        a, b = (1.0 - mass) / (left**2 + y[1] ** 2) ** 1.5, mass / (right**2 + y[1] ** 2) ** 1.5
        return [
            y[2], y[3], 2.0 * y[3] + y[0] - a * left - b * right, -2.0 * y[2] + y[1] - a * y[1] - b * y[1]
        ]  # fmt: skip

    triangle = Problem(rn(4), [0.5 - mass, 0.5 * np.sqrt(3.0), 0.0, 0.0], field)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = floquet_multipliers(triangle, "RKMK_FEAGIN10", period, 30).multipliers
    exact = np.exp(period * np.roots([1.0, 0.0, 1.0, 0.0, 6.75 * mass * (1.0 - mass)]))
    assert max(np.abs(found - x).min() for x in exact) < 1e-9


def test_loops_that_steps_do_not_close_are_a_warning():
    """Of short steps the projection has nothing to close, and the derivative keeps directions that open the loop."""
    four_bar = mechanics.systems.SYSTEMS["swinging-four-bar"].problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lyapunov_exponents(four_bar, "RKMK4", 0.005, 40, count=2)
    with pytest.warns(RuntimeWarning, match="the loops had nothing to close"):
        lyapunov_exponents(four_bar, "RKMK4", 0.0002, 20, count=2)
    with (
        pytest.warns(RuntimeWarning, match="multipliers of 'four-bar' .* the loops had nothing to close"),
        pytest.raises(ValueError, match="period"),  # it is none
    ):
        floquet_multipliers(four_bar, "RKMK4", 0.004, 20)


def test_supports_that_follow_a_motion_have_the_multiplier_zero_and_no_nan():
    """A mass between a wall and a support that shakes: ±i √(2k/m) along the springs, ±i √(2k(1 − 0.8)/m) across."""
    k, m, a, w = 200.0, 0.3, 0.03, 25.0
    motion = Motion.from_function(lambda t: a * np.sin(w * t), (0.0, 4.4 * np.pi / w))
    springs = Springs([[0, 1], [1, 2]], k, 0.8)
    places = [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]
    net = Network(places, m, [springs], fixed=[0], motions={2: (motion, None, None)}, gravity=(0, 0, 0))
    swing = k / m * a / (2.0 * k / m - w * w) * w
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "multipliers of 'network' below")
        start = net.problem(velocities=[[0, 0, 0], [swing, 0, 0], [0, 0, 0]])
        found = floquet_multipliers(start, "RKMK4", 2.0 * np.pi / w, 60)
    assert not np.isnan(found.exponents).any()
    assert np.isneginf(found.exponents.real).sum() == 3
    along = np.exp(2.0j * np.pi / w * np.sqrt(2.0 * k / m))
    assert np.abs(found.multipliers - along).min() < 1e-4


def test_where_differences_may_reach_too_far_it_is_said_that_scales_say_what_counts_as_one():
    def lost(t, y):
        return [y[1], -np.abs(y[0])]

    for start, hint in (([1e-9, 1.0], True), ([0.1, 1.0], False)):
        with pytest.raises(ValueError, match="complex numbers carry") as raised:
            linearised_step(Problem(rn(2), start, lost), "RKMK4", start, 0.1)
        assert ("`scales`" in str(raised.value)) == hint


def test_a_place_of_rest_where_driven_forces_balance_is_asked_beside_their_rounding():
    """L4 of the elliptic three-body problem: what the forces leave of each other, and its rate, is rounding."""
    mass, eccentricity = 0.01, 0.05

    def field(t, y):
        left, right = y[0] + mass, y[0] - 1.0 + mass
        a, b = (1.0 - mass) / np.sqrt(left**2 + y[1] ** 2) ** 3, mass / np.sqrt(right**2 + y[1] ** 2) ** 3
        k = 1.0 / (1.0 + eccentricity * np.cos(t))
        pull = y[0] - a * left - b * right, y[1] - a * y[1] - b * y[1]
        return [y[2], y[3], 2.0 * y[3] + k * pull[0], -2.0 * y[2] + k * pull[1]]

    def neighbours(t, y):
        """Linear about L4: Ω_xx = 3/4, Ω_yy = 9/4, Ω_xy = 3√3/4 (1 − 2 μ)."""
        k, c = 1.0 / (1.0 + eccentricity * np.cos(t)), 0.75 * np.sqrt(3.0) * (1.0 - 2.0 * mass)
        x = y.reshape(4, 4)
        pull = k * np.array([0.75 * x[0] + c * x[1], c * x[0] + 2.25 * x[1]])
        return np.array([x[2], x[3], 2.0 * x[3] + pull[0], -2.0 * x[2] + pull[1]]).ravel()

    triangle = Problem(rn(4), [0.5 - mass, 0.5 * np.sqrt(3.0), 0.0, 0.0], field)
    found = floquet_multipliers(triangle, "RKMK_FEAGIN10", 2.0 * np.pi, 40)
    exact = solve_ivp(neighbours, (0.0, 2.0 * np.pi), np.eye(4).ravel(), "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    assert np.abs(found.monodromy - exact.reshape(4, 4)).max() < 1e-8


@pytest.mark.parametrize("turns", [3000, 10000, 50000])
def test_a_drive_is_asked_after_many_whole_periods_of_it(turns):
    """Differences over a round part of the time, or of an angle, are over whole periods, and see nothing change."""
    rate, begin = 1.1e-3, turns * 2.0 * np.pi / 1.1e-3
    driven = Problem(rn(2), [0.0, 0.1], lambda t, y: [y[1], np.sin(rate * t) - y[0]])
    found, late = (linearised_step(driven, "RKMK4", driven.y0, 0.05, t=t) for t in (0.0, begin))
    assert np.abs(found.A - late.A).max() < 1e-12
    pendulum = Problem(rn(2), [0.1, 0.1], lambda t, y: [y[1], -np.sin(y[0])])
    found, far = (linearised_step(pendulum, "RKMK4", [0.1 + x, 0.1], 0.05) for x in (0.0, turns * 2.0 * np.pi))
    assert np.abs(found.A - far.A).max() < 1e-9
