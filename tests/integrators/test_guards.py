"""Guards: a run that leaves what its result depends on says so, since when and what to do."""

from dataclasses import replace

import numba
import numpy as np
import pytest

import integrators
from integrators import Doubt, Guard, Problem, Solution, Status, integrate, resume, suggest_step
from integrators.methods import METHODS
from integrators.problem import OwnStep, holonomic_problem, lagrangian_problem
from integrators.problem.guards import energy_guard, momentum_guards
from integrators.steppers.nonholonomic.energy_exact import energy_exact
from liegroup import product, rn, so3
from liegroup.compile.scalars import sqrt
from mechanics import Body, Inertia, Tree
from mechanics.joints import Free, Revolute
from mechanics.nonholonomic import nonholonomic_system
from mechanics.systems import SYSTEMS


@numba.njit
def oscillator(t, y):
    return np.array([y[1], -y[0]])


@numba.njit
def energy(t, y):
    return 0.5 * (y[0] ** 2 + y[1] ** 2)


@numba.njit
def left(t, y):
    return y[0]


def plain(t, y):
    return [y[1], -y[0]]


def problem(*guards, field=oscillator, watched=energy):
    return Problem(rn(2), [1.0, 0.0], field, invariants={"energy": watched}, guards=guards)


def test_a_limit_that_is_passed_is_a_doubt_with_time_value_and_remedy():
    guard = Guard("energy", "the energy is lost", "use a smaller step", change=0.01)
    run = integrate(problem(guard), "RKMK4", (0, 20), 1.0)
    assert run.status is Status.OK
    assert not run.success
    (doubt,) = run.doubts
    first = np.flatnonzero(np.abs(run["energy"] - 0.5) > 0.01)[0]
    assert doubt.time == run.t[first]
    assert doubt.value == run.minimum("energy")
    assert doubt.limit == 0.49
    assert doubt.says == "the energy is lost"
    assert "smaller step" in doubt.remedy
    assert "doubtful" in repr(run)
    assert "the energy is lost" in run.message


def test_nothing_is_doubtful_within_the_limits():
    run = integrate(problem(Guard("energy", change=0.01)), "RKMK4", (0, 20), 0.01)
    assert run.success
    assert run.doubts == ()
    assert "doubtful" not in repr(run)


@pytest.mark.parametrize(
    ("field", "function"), [(oscillator, left), (plain, lambda t, y: y[0])], ids=["jitted", "plain"]
)
def test_a_guard_with_a_function_of_its_own_is_watched_under_its_name(field, function):
    watched = energy if field is oscillator else lambda t, y: 0.5 * (y[0] ** 2 + y[1] ** 2)
    run = integrate(
        problem(Guard("left", least=-0.5, function=function), field=field, watched=watched), "RKMK4", (0, 4), 0.1
    )
    assert run["left"] == pytest.approx(run.y[:, 0], abs=0)
    assert run.doubts[0].name == "left"
    assert run.doubts[0].time == pytest.approx(2.1)


def test_a_guard_can_stop_the_run():
    run = integrate(problem(Guard("energy", "the energy is lost", change=0.01, stops=True)), "RKMK4", (0, 20), 1.0)
    assert run.status is Status.DOUBTFUL
    assert run.status.is_failure
    assert not run.success
    assert run.t[-1] == run.doubts[0].time < 20
    assert "the energy is lost" in run.message


def test_variable_steps_are_guarded():
    made = problem(Guard("left", least=-0.5, function=left, stops=True))
    run = integrate(made, "RKMK_DOP853", (0, 20), max_step=0.1)
    assert run.status is Status.DOUBTFUL
    assert run.t[-1] == pytest.approx(2.1, abs=0.1)


def test_a_number_that_is_none_is_beyond_every_limit():
    root = numba.njit(lambda t, y: np.sqrt(y[0] + 0.5))
    run = integrate(problem(Guard("root", greatest=10.0, function=root)), "RKMK4", (0, 4), 0.1)
    assert run.doubts
    assert np.isnan(run.doubts[0].value)
    assert run.doubts[0].time == pytest.approx(2.1)


def test_an_invariant_that_is_no_number_at_some_step_is_a_doubt():
    """Extremes pass over it, and the states that are saved need not show it."""
    root = numba.njit(lambda t, y: np.sqrt(y[0] + 0.5))
    made = Problem(rn(2), [1.0, 0.0], oscillator, invariants={"energy": energy, "root": root})
    run = integrate(made, "RKMK4", (0, 2 * np.pi), np.pi / 50, save_every=100)
    assert np.isfinite(run["root"]).all()
    (doubt,) = run.doubts
    assert doubt.name == "root"
    assert doubt.time == run.t[-1]
    assert not run.success
    assert "not a number" in run.message


def test_every_trajectory_of_an_ensemble_has_its_own_limits():
    guard = Guard("energy", change=0.01)
    made = problem(guard).with_start([[1.0, 0.0], [0.1, 0.0], [2.0, 0.0]])
    many = integrate(made, "RKMK4", (0, 20), 1.0)
    assert [doubt.trajectory for doubt in many.doubts if doubt.name == "energy"] == [0, 2]
    for k in (0, 1, 2):
        alone = integrate(made.with_start(made.y0[k]), "RKMK4", (0, 20), 1.0)
        assert many.trajectory(k).doubts == alone.doubts
        assert many.trajectory(k).message == alone.message
        assert many.trajectory(k).success == alone.success


def test_a_guard_that_stops_one_trajectory_leaves_the_others():
    made = problem(Guard("energy", greatest=1.0, stops=True)).with_start([[1.0, 0.0], [2.0, 0.0]])
    many = integrate(made, "RKMK4", (0, 2), 0.1)
    assert many.status == (Status.OK, Status.DOUBTFUL)


def test_what_is_said_of_a_run_never_loses_it():
    """Neither an explanation nor a check of hypotheses that fails."""

    def fails(*anything):
        return np.linalg.inv(np.zeros((2, 2)))

    made = replace(problem(Guard("energy", "the energy is lost", change=0.01)), explain=fails)
    run = integrate(made, "RKMK4", (0, 20), 1.0)
    assert len(run.t) == 21
    assert "the energy is lost" in run.doubts[0].says
    assert "Singular matrix" in run.doubts[0].says
    method = METHODS["RKMK4"]
    own = replace(method.stepper, step=None, own="mine")
    step = OwnStep(method.stepper.step, method.work_shape(made), doubts=fails)
    checked = replace(made, own_steps={"mine": step}, guards=(), explain=None)
    run = integrate(checked, replace(method, stepper=own), (0, 20), 0.5)
    assert len(run.t) == 41
    assert run.doubts[0].name == "hypotheses"
    assert "could not be checked" in run.message


def test_doubts_are_saved_and_loaded(tmp_path):
    run = integrate(problem(Guard("energy", "it is lost", "do better", change=0.01)), "RKMK4", (0, 20), 1.0)
    assert Solution.load(run.save(tmp_path / "run.h5")).doubts == run.doubts != ()


def test_doubts_survive_a_checkpoint(tmp_path):
    made = problem(Guard("energy", change=0.01))
    whole = integrate(made, "RKMK4", (0, 2000), 0.5)
    stopped = integrate(
        made, "RKMK4", (0, 2000), 0.5, callback=lambda t, y: t >= 0.5, checkpoint=tmp_path / "run", every=0.0
    )
    assert stopped.status is Status.STOPPED
    assert stopped.t[-1] < 2000
    assert resume(tmp_path / "run", made).doubts == whole.doubts != ()


def test_guards_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="guard 'height': no invariant"):
        problem(Guard("height", least=0.0))
    with pytest.raises(ValueError, match="least ≤ greatest"):
        Guard("energy", least=1.0, greatest=0.0)
    with pytest.raises(TypeError, match=r"integrators\.Guard"):
        problem("energy")


def test_the_energy_of_a_lagrangian_system_is_guarded_where_it_is_kept():
    def pendulum(t, q, v, p):
        return 0.5 * v[0] ** 2 + np.cos(q[0])

    def driven(t, q, v, p):
        return 0.5 * v[0] ** 2 + np.cos(q[0] - np.sin(t))

    made = integrators.problem.lagrangian_problem
    assert [guard.name for guard in made(pendulum, [2.0]).guards] == ["energy"]
    assert made(driven, [2.0]).guards == ()
    assert made(pendulum, [2.0], force=lambda t, q, v, p: [-0.1 * v[0]]).guards == ()
    assert isinstance(integrate(made(pendulum, [2.0]), "RKMK4", (0, 100), 1.0).doubts[0], Doubt)


@pytest.mark.parametrize("at", [0.5123, 700.0, -3.0])
def test_the_energy_of_a_potential_that_is_switched_is_not_guarded(at):
    """No rate of it shows that it is not kept; runs that are right to rounding were doubtful behind the switch."""

    def switched(t, q, v, p):
        return 0.5 * v[0] ** 2 - np.where(t < at, q[0], 2.0 * q[0])

    made = integrators.problem.lagrangian_problem(switched, [0.7], [0.4])
    assert made.guards == ()
    run = integrate(made, "RKMK_DOP853", (at - 1.0, at + 1.0), rtol=1e-9)
    assert run.success
    assert run.y[-1, 0] == pytest.approx(0.7 + 0.8 - 2.0 - 0.5, abs=1e-6)


def test_momenta_that_a_motion_conserves_are_guarded():
    """Those of the free body, with steps of a twentieth and of 0.8 of half a turn."""
    body = SYSTEMS["free-rigid-body"].problem()
    names = {"momentum_x", "momentum_y", "momentum_z"}
    guards = {guard.name: guard for guard in body.guards}
    assert names < set(guards)
    half_turn = np.pi / np.linalg.norm(body.velocity(0.0, body.y0)[:3])
    assert integrate(body, "RKMK4", (0, 2 * half_turn), 0.05 * half_turn).success
    run = integrate(body, "RKMK4", (0, 32 * half_turn), 0.8 * half_turn)
    found = [doubt for doubt in run.doubts if doubt.name in names]
    assert found
    for doubt in found:
        change = np.abs(run[doubt.name] - run[doubt.name][0])
        limit = guards[doubt.name].change + guards[doubt.name].relative * abs(run[doubt.name][0])
        assert doubt.time == run.t[np.argmax(change > limit)]
        assert abs(doubt.value - run[doubt.name][0]) == pytest.approx(change.max())
        assert abs(doubt.limit - run[doubt.name][0]) == pytest.approx(limit)
        assert doubt.says == "a momentum that should be conserved is not"
        assert "smaller step" in doubt.remedy


@pytest.mark.parametrize(("method", "step"), [("RKMK_GAUSS2", 0.1), ("RKMK4", 0.1)])
@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_momenta_are_guarded_alike_in_all_units(method, step, gravity):
    """Linear and angular ones, of which one is a million times the other where bodies are of micrometres."""

    def doubted(length, mass, time):
        inertia = Inertia.about_com(mass, (0, 0, 0.1 * length), mass * length**2 * np.diag([0.01, 0.02, 0.025]))
        tree = Tree([Body("stone", Free(), inertia=inertia)], gravity=(0.0, 0.0, -gravity * length / time**2))
        twist = np.array([length, 0.0, 0.0, 1.0, 5.0, 0.1]) / time
        run = integrate(tree.problem(tree.neutral(), twist), method, (0.0, 30.0 * time), step * time)
        return {doubt.name for doubt in run.doubts}

    large, small, huge = (doubted(*units) for units in ((1.0, 1.0, 1.0), (1e-6, 1e-15, 1.0), (1e6, 1e18, 1e3)))
    assert any(name.startswith("angular_momentum") for name in large)
    assert small == huge == large


@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.3, 0.4, -1.0)])
def test_right_runs_far_from_the_origin_keep_their_angular_momentum(gravity):
    """A satellite a thousand kilometres away, right to a ten-millionth of its way: momenta, wrong by as much, times the
    distance are more than the satellite has of its own.  What it has of its own is asked there, too.
    """
    inertia = Inertia.about_com(500.0, (0, 0, 0), np.diag([120.0, 100.0, 60.0]))
    tree = Tree([Body("satellite", Free(), inertia=inertia)], gravity=gravity)
    q, v = np.array([1e6, 0, 0, 1, 0, 0, 0]), np.array([6.0, 8.0, 0.0, 0.02, -0.01, 0.03])
    far = tree.problem(q, v)
    run = integrate(far, "RKMK4", (0.0, 600.0), 1.0)
    assert run.success, run.message
    exact = integrate(far, "RKMK_DOP853", (0.0, 600.0), rtol=1e-11)
    assert np.abs(run["q"][-1] - exact["q"][-1]).max() < 0.03
    coarse = integrate(far, "RKMK4", (0.0, 600.0), 20.0)
    assert any(doubt.name.startswith("angular_momentum") for doubt in coarse.doubts)


def test_momenta_are_those_of_the_start_of_the_trajectory():
    """A body with a wheel, posed a thousand times slower than it starts."""
    inertia = Inertia.about_com(5.0, (0.1, 0, 0), np.diag([0.2, 0.35, 0.5]))
    small = Inertia.about_com(1.0, (0, 0, 0), np.diag([0.02, 0.01, 0.01]))
    tree = Tree(
        [Body("bus", Free(), inertia=inertia), Body("wheel", Revolute((1, 0, 0)), "bus", inertia=small)],
        gravity=(0, 0, 0),
    )
    v = np.array([0.2, 0.1, 0.0, 1.0, 0.3, 0.5, 50.0])
    posed, slow = tree.problem(tree.neutral(), v), tree.problem(tree.neutral(), 1e-3 * v)
    for step, right in ((0.3, True), (0.6, False)):
        runs = [integrate(one.with_start(posed.y0), "RKMK4", (0.0, 60.0), step) for one in (posed, slow)]
        assert [run.success for run in runs] == [right, right]
        named = [[doubt.name for doubt in run.doubts if "momentum" in doubt.name] for run in runs]
        assert named[0] == named[1]
    last = integrate(slow.with_start(posed.y0), "RKMK4", (0.0, 60.0), 0.6, t_eval=[60.0])  # the start is not saved
    assert {doubt.name for doubt in last.doubts} >= set(named[0])


def test_energies_and_momenta_may_change_by_a_twentieth_of_what_is_at_play():
    (energy,), (free,), (falls,) = energy_guard(2.0), momentum_guards(["p"], 3.0), energy_guard(2.0, dissipates=True)
    for guard, start, change in ((energy, 10.0, 0.1 + 0.01), (free, 1.0, 0.15 + 0.05)):
        lower, upper = guard.limits(np.array(start))
        assert start - lower == pytest.approx(change)
        assert upper - start == pytest.approx(change)
    lower, upper = falls.limits(np.array(10.0))
    assert lower == -np.inf
    assert upper == pytest.approx(10.11)
    assert energy_guard(0.0) == momentum_guards(["p"], 0.0) == ()


def test_a_method_that_keeps_the_energy_to_rounding_is_held_to_it():
    """Two points of quadrature instead of six lose 5e-6 J of 4.8: much for this method and little for others."""
    pair = SYSTEMS["driven-pair"].problem()
    (guard,) = pair.guards
    poor, good = (energy_exact("mine", points=points) for points in (2, 6))
    assert integrate(pair, good, (0, 5), 0.1).success
    run = integrate(pair, poor, (0, 5), 0.1)
    assert 1e-7 * guard.change < run.error("energy", relative=False) < 1e-3 * guard.change
    (doubt,) = run.doubts
    assert doubt.name == "energy"
    held = 1e-8 / 0.05 * (guard.change + guard.relative * run["energy"][0])
    assert doubt.limit == pytest.approx(run["energy"][0] + held, rel=1e-12)
    assert doubt.value > doubt.limit
    assert doubt.time == run.t[np.argmax(np.abs(run["energy"] - run["energy"][0]) > held)]
    other = integrate(pair, "RKMK4", (0, 5), 0.1)
    assert other.error("energy", relative=False) > held
    assert other.success


@numba.njit
def stiff(t, y):
    return np.array([-50.0 * (y[0] - np.cos(t))])


@numba.njit
def trembling(t, y):
    return np.array([100.0 * np.cos(200.0 * t), 1.0])


@pytest.mark.parametrize(
    ("field", "start", "horizon", "right", "wrong"),
    [(stiff, [1.0], 1.0, 20, 17), (trembling, [0.0, 0.0], np.pi / 5, 400, 20)],
    ids=["beyond stability", "over an oscillation"],
)
def test_steps_that_do_not_resolve_the_motion_are_doubtful(field, start, horizon, right, wrong):
    made = Problem(rn(len(start)), start, field)
    assert integrate(made, "RKMK4", (0, horizon), horizon / right).success
    run = integrate(made, "RKMK4", (0, horizon), horizon / wrong)
    (doubt,) = run.doubts
    assert doubt.name == "resolution"
    assert doubt.time in run.t[:-1]
    assert doubt.value > doubt.limit == 0.5
    assert "do not resolve" in doubt.says
    assert doubt.remedy == "use a smaller step"


def test_steps_of_a_splitting_that_resonate_are_named():
    """Half the period of the nutation of the heavy top is 0.3725 s; `suggest_step` stays far below."""
    top = SYSTEMS["heavy-top"].problem()
    for step, resonates in ((0.34, False), (0.36, True), (0.365, True), (0.4, False)):
        run = integrate(top, "SPLIT_STRANG", (0.0, 1000 * step), step=step)
        assert ("resonance" in {doubt.name for doubt in run.doubts}) == resonates
        assert ("resonance with the free motion" in run.message) == resonates
    assert integrators.suggest_step(top, "SPLIT_STRANG", tolerance=1e-2) < 0.1 * 0.745


@pytest.mark.parametrize(
    ("name", "steps"), [("pendulum", {0.6: False, 0.74: True}), ("lagrange-top", {0.77: False})], ids=lambda x: str(x)
)
def test_resonances_of_other_systems_are_told_from_long_steps(name, steps):
    """Of the pendulum by orders of magnitude; of the Lagrange top steps a tenth shorter are in a dip of the error, and
    its own is less than the order makes of that of short steps.
    """
    problem = SYSTEMS[name].problem()
    for step, resonates in steps.items():
        run = integrate(problem, "SPLIT_STRANG", (0.0, 1000 * step), step=step)
        assert ("resonance" in {doubt.name for doubt in run.doubts}) == resonates


# --- small and large units --------------------------------------------------------------------------------------------


def duffing(size, mass, rate):
    """A hardening spring that swings by `size` (m): beside what lies within a metre its energy is nothing."""

    def lagrangian(t, q, v, p):
        return 0.5 * mass * v[0] ** 2 - mass * rate**2 * (
            q[0] ** 2 / 2 + (3.0 * q[0] / (5.0 * size)) ** 2 * q[0] ** 2 / 4
        )

    return lagrangian_problem(lagrangian, [size])


@pytest.mark.parametrize(("size", "mass", "rate"), [(1e-2, 1.0, 6.0), (1e-4, 1e-3, 6.0), (3e-8, 1e-12, 2e5)])
@pytest.mark.parametrize(("method", "part"), [("BDF1", 0.1), ("RKMK_RADAU_IIA3", 1.7), ("ALPHA", 1.7), ("BDF2", 1.7)])
def test_a_swing_of_any_size_that_loses_its_energy_is_doubted(size, mass, rate, method, part):
    period = 2.0 * np.pi / rate
    run = integrate(duffing(size, mass, rate), method, (0.0, 60.0 * period), part * period)
    assert "energy" in {doubt.name for doubt in run.doubts}
    assert integrate(duffing(size, mass, rate), "MIDPOINT", (0.0, 60.0 * period), 0.02 * period).success


def test_an_ensemble_of_small_swings_has_the_doubts_of_one():
    period = 2.0 * np.pi / 6.0
    problem = duffing(1e-4, 1e-3, 6.0)
    starts = np.array([[x, 0.0] for x in np.linspace(1e-4, 5e-5, 8)])
    ensemble = integrate(problem.with_start(starts), "RKMK_RADAU_IIA1", (0.0, 60.0 * period), 0.1 * period)
    assert {doubt.trajectory for doubt in ensemble.doubts if doubt.name == "energy"} == set(range(8))


def test_the_energy_of_a_mote_is_guarded():
    cantilever = lagrangian_problem(lambda t, q, v, p: 0.5e-11 * v[0] ** 2 - q[0] ** 2, [1e-8])
    assert [guard.name for guard in cantilever.guards] == ["energy"]


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-11])
def test_tolerances_above_all_of_a_state_are_told_of(rtol):
    """The default atol, 1e-9, is far above the momenta of a cantilever of 10 nm."""
    period = 2.0 * np.pi * np.sqrt(0.5e-11)
    cantilever = lagrangian_problem(lambda t, q, v, p: 0.5e-11 * v[0] ** 2 - q[0] ** 2, [1e-8])
    run = integrate(cantilever, "RKMK_DOP853", (0.0, 20.0 * period), rtol=rtol)
    assert not run.success
    fine = integrate(cantilever, "RKMK_DOP853", (0.0, 20.0 * period), rtol=rtol, atol=1e-24)
    assert fine.success
    assert fine.y[-1, 0] == pytest.approx(1e-8, rel=1e-3)


def test_sun_and_earth_in_metres_have_a_step():
    """Of days, whichever component of their state is zero at the start."""
    G, sun, earth, way, speed = 6.6743e-11, 1.989e30, 5.972e24, 1.496e11, 29780.0

    def lagrangian(t, q, v, p):
        r = sqrt((q[0] - q[2]) ** 2 + (q[1] - q[3]) ** 2)
        return 0.5 * sun * (v[0] ** 2 + v[1] ** 2) + 0.5 * earth * (v[2] ** 2 + v[3] ** 2) + G * sun * earth / r

    posed = lagrangian_problem(lagrangian, [0.0, 0.0, way, 0.0], [0.0, -speed * earth / sun, 0.0, speed])
    year = 2.0 * np.pi * way / speed
    run = integrate(posed, (0.0, year))
    assert run.success
    assert run.steps < 100
    assert abs(np.hypot(run["q"][-1, 2], run["q"][-1, 3]) / way - 1.0) < 1e-3
    assert 3600.0 < suggest_step(posed, "RKMK4") < 0.1 * year


@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA3", "RODAS4", "ROS3P"])
def test_one_step_over_many_swings_of_a_mote_is_told_of(method):
    """By default tolerances, far above all of a damped oscillator of a nanometre, a stiff method takes one step."""
    mass, rate, ratio = 1e-15, 6e6, 0.003
    posed = lagrangian_problem(
        lambda t, q, v, p: 0.5 * mass * (v[0] ** 2 - (rate * q[0]) ** 2),
        [1e-9],
        force=lambda t, q, v, p: [-2.0 * ratio * rate * mass * v[0]],
    )
    run = integrate(posed, method, (0.0, 10.0 * 2.0 * np.pi / rate), rtol=1e-3)
    assert run.y[-1, 0] < 0.3e-9  # truly 0.83e-9
    assert "accuracy" in {doubt.name for doubt in run.doubts}


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1.0])
def test_suggested_steps_of_small_units_are_as_fine(size):
    rate, mass = 6e4, 1e-9
    posed = lagrangian_problem(lambda t, q, v, p: 0.5 * mass * (v[0] ** 2 - (rate * q[0]) ** 2), [size])
    assert 100.0 < 2.0 * np.pi / rate / suggest_step(posed, "MIDPOINT") < 1000.0


@pytest.mark.parametrize("method", ["SPLIT_STRANG", "LGVI_CAYLEY", "DEL_TRAPEZOIDAL"])
@pytest.mark.parametrize("steps", [300, 450, 1000])
def test_what_a_symmetric_method_throws_where_it_is_driven_is_told_of(method, steps):
    """h w = 2.1, of a motion within 1.1 for ever."""
    posed = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 - 50.0 * q[0] ** 2 + q[0] * np.cos(t), [1.0])
    run = integrate(posed, method, (0.0, 0.21 * steps), 0.21)
    assert not run.success
    assert integrate(posed, method, (0.0, 0.021 * steps), 0.021).success


def test_an_energy_that_is_watched_but_not_guarded_hides_nothing():
    def energy_of(t, y):
        return 0.5 * y[1] ** 2 + 50.0 * y[0] ** 2

    for named in (None, {"H": energy_of}, {"energy": energy_of}):
        free = Problem(
            product(rn(1), rn(1)), [1.0, 0.0], lambda t, y: [y[1], -100.0 * y[0]], canonical=True, invariants=named
        )
        assert not integrate(free, "SPLIT_STRANG", (0.0, 94.5), 0.21).success
        assert integrate(free, "SPLIT_STRANG", (0.0, 94.5), 0.02).success


def test_a_drive_without_power_at_the_start_is_no_loss_of_energy():
    """A skate that runs straight while a torque begins to turn it; a pendulum that hangs at rest and is shaken."""
    skate = nonholonomic_system(
        rn(3),
        lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2),
        lambda q: [[np.sin(q[2]), -np.cos(q[2]), 0.0]],
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        force=lambda t, q, v: [0.0, 0.0, 0.3],
    ).problem()
    shaken = holonomic_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + v[1] ** 2) - 9.81 * q[1] + q[0] * np.cos(3 * t),
        lambda t, q, p: [q[0] ** 2 + q[1] ** 2 - 1.0],
        [0.0, -1.0],
    )
    for posed in (skate, shaken):
        assert not any(guard.name == "energy" for guard in posed.guards)
        assert integrate(posed, (0.0, 5.0)).success


def test_a_guard_goes_by_the_start_of_the_run_not_of_its_problem():
    """A body that is posed slow and started fast: beside what it then has a thousandth is nothing."""
    posed = lagrangian_problem(
        lambda t, q, v, p: 0.5 * (v[0] ** 2 + 2.0 * v[1] ** 2 + 3.0 * v[2] ** 2), so3.identity(), [0.01, 0.02, 0.0],
        group=so3,
    )  # fmt: skip
    starts = np.array([[1.0, 0.0, 0.0, 0.0, s, 4.0 * s, 0.3 * s] for s in (0.01, 1.0, 10.0)])
    many = integrate(posed, "MIDPOINT", (0.0, 20.0), 0.01, y0=starts)
    assert many.success
    assert 1e-3 < np.abs(many["energy"][2] / many["energy"][2, 0] - 1.0).max() < 2e-3


@pytest.mark.parametrize("method", [None, "GAUSS8", "RKMK4", "MIDPOINT", "SPLIT_STRANG"])
@pytest.mark.parametrize(("potential", "start"), [
    (lambda q: 9.81 * np.cos(q), np.pi),
    (lambda q: 9.81 * (1.0 + np.cos(q)), np.pi),
    (lambda q: 9.81 * (1.0 - np.cos(q)), 1e-8),
    (lambda q: 50.0 * q**2 - 9.81 * q + 0.4811805, 0.0981 + 1e-9),
])  # fmt: skip
def test_what_rounding_does_at_rest_is_no_doubt(potential, start, method):
    """In an equilibrium that numbers do not hold exactly, and where the terms of an energy cancel."""
    posed = lagrangian_problem(lambda t, q, v, p: 0.5 * v[0] ** 2 - potential(q[0]), [start])
    run = integrate(posed, (0.0, 10.0)) if method is None else integrate(posed, method, (0.0, 10.0), 0.05)
    assert run.success
    assert np.abs(run.y[:, 0] - start).max() < 3e-8


@pytest.mark.parametrize("angles", [(0.0, 0.0), (np.pi, 0.0), (0.0, np.pi), (2.0 * np.pi, 0.0)])
def test_a_tree_at_rest_is_no_doubt(angles):
    bar = Inertia.about_com(1.0, (0.0, 0.0, -0.5), np.diag([0.1, 0.1, 0.01]))
    upper = Body("a", Revolute((0.0, 1.0, 0.0)), inertia=bar)
    tree = Tree([upper, Body("b", Revolute((0.0, 1.0, 0.0)), "a", (0.0, 0.0, -1.0), inertia=bar)])
    assert integrate(tree.problem(angles), (0.0, 3.0)).success


@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_what_moves_by_less_than_tolerances_is_at_rest(rtol):
    still = Problem(rn(2), [0.3, 0.0], lambda t, y: [y[1], -100.0 * (y[0] - 0.3) - 30.0 * (y[0] - 0.1) + 6.0])
    assert integrate(still, "RKMK_DOP853", (0.0, 5.0), rtol=rtol).success


def test_beside_is_a_function():
    with pytest.raises(TypeError, match=r"guard 'gap': beside 0\.1, expected a function"):
        Guard("gap", greatest=1.0, beside=0.1)


def test_what_is_said_of_a_trajectory_is_measured_by_its_own_start():
    """The second start is near a singular position of the first; alone it is not, and the doubt is the same."""
    problem = SYSTEMS["rssr"].problem("body_coordinates")
    starts = integrate(problem, "GNI", (0.0, -0.2), 2e-3).y[[0, -1]]
    alone = integrate(problem.with_start(starts[1]), "GNI", (0.0, -0.2), 2e-3)
    both = integrate(problem.with_start(starts), "GNI", (0.0, -0.2), 2e-3)
    assert alone.doubts
    assert [doubt.says for doubt in both.trajectory(1).doubts] == [doubt.says for doubt in alone.doubts]


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e-6])
def test_the_doubts_of_a_motion_know_no_unit_of_length(unit):
    """Two coupled springs that stiffen: RKMK4 loses a fifth of the energy, MIDPOINT its phases within three swings."""

    def lagrangian(t, q, v, parameters):
        x, y = q[0] / unit, q[1] / unit
        square = x * x + y * y
        return 0.5 * (v[0] ** 2 + v[1] ** 2) / unit**2 - 2.0 * square - 3.0 * x * x * y + y**3 - 3.0 * square**2

    problem = lagrangian_problem(lagrangian, [0.3 * unit, 0.4 * unit], [0.5 * unit, -0.6 * unit])
    [guard] = [g for g in problem.guards if g.name == "energy"]
    assert guard.change < 0.2
    for method, step, name in (("RKMK4", 0.25, "energy"), ("MIDPOINT", 0.5, "accuracy")):
        assert name in {doubt.name for doubt in integrate(problem, method, (0.0, 40.0), step).doubts}
    assert integrate(problem, "RKMK4", (0.0, 10.0), 0.01).success
