"""A blow that is over before the next stage of a step is a doubt; fields that change smoothly are none."""

import numba
import numpy as np
import pytest

from integrators import Problem, Sampled, integrate
from integrators.engine import pulses, tolerances
from liegroup import rn
from mechanics import Body, Frame, Inertia, Mechanism, Tree
from mechanics.constraints.couplings import gear
from mechanics.forces import Sphere, contact, motor
from mechanics.joints import Free, Prismatic, Revolute

BLOW = 50.3


def hammer(t, y):
    """An oscillator, hit for some ten milliseconds."""
    return np.array([y[1], -y[0] + 100.0 * np.exp(-(((t - BLOW) / 0.01) ** 2))])


def switched(t, y):
    """The same blow, even while it lasts."""
    return np.array([y[1], -y[0] + (100.0 if 0.0 < t - BLOW < 0.012 else 0.0)])


def shaken(t, y):
    return np.array([y[1], -y[0] + np.cos(3.0 * t)])


def blind(t, y):
    """It rests until it is hit."""
    return np.array([y[1], 50.0 if 0.0 < t - BLOW < 0.012 else 0.0])


def called(field, form):
    return field if form == "plain" else numba.njit(field)


@pytest.mark.parametrize("form", ["plain", "jitted"])
@pytest.mark.parametrize("field", [hammer, switched])
@pytest.mark.parametrize("way", [("GAUSS8", 0.877), ("MIDPOINT", 0.05)], ids=["GAUSS8", "MIDPOINT"])
def test_a_blow_between_the_stages_is_named(way, field, form):
    run = integrate(Problem(rn(2), [1.0, 0.0], called(field, form)), way[0], (0.0, 114 * 0.877), way[1])
    (doubt,) = run.doubts
    assert doubt.name == "pulse"
    assert abs(doubt.time - BLOW) <= way[1]
    assert doubt.value > doubt.limit
    assert "steps of a fraction of the size lead elsewhere" in run.message


def test_a_blow_that_is_all_of_the_motion_is_named():
    run = integrate(Problem(rn(2), [0.0, 0.0], numba.njit(blind)), "MIDPOINT", (0.0, 100.0), 0.05)
    assert not run.y.any()
    assert [doubt.name for doubt in run.doubts] == ["pulse"]


def test_runs_back_in_time_and_of_few_saved_states_are_asked_too():
    problem = Problem(rn(2), [1.0, 0.0], numba.njit(switched))
    for span in ((0.0, 100.0), (100.0, 0.0)):
        for every in (1, 7, 1000):
            run = integrate(problem, "MIDPOINT", span, 0.05, save_every=every)
            assert [doubt.name for doubt in run.doubts] == ["pulse"], (span, every)
            assert abs(run.doubts[0].time - BLOW) <= 0.06
    times = integrate(problem, "MIDPOINT", (0.0, 100.0), 0.05, t_eval=np.linspace(0.0, 100.0, 30))
    assert [doubt.name for doubt in times.doubts] == ["pulse"]


@pytest.mark.parametrize(("method", "step"), [("GAUSS8", 0.5), ("MIDPOINT", 0.05), ("RKMK4", 0.01)])
def test_a_field_that_changes_smoothly_is_none(method, step):
    assert integrate(Problem(rn(2), [1.0, 0.0], numba.njit(shaken)), method, (0.0, 100.0), step).success


BAR = Inertia.about_com(1.0, (0, 0, -0.5), np.diag([0.1, 0.1, 0.01]))


def arm():
    tree = Tree([Body("arm", Revolute((0, 1, 0)), inertia=BAR, joint_name="shoulder")])
    return Mechanism(tree, elements=[motor("shoulder")]).problem([0.3])


def hoist():
    """A load on the rope of a drum, whose momenta nothing projects: they are known but for impulses of the rope."""
    load = Body("load", Prismatic((0, 0, -1)), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)), joint_name="rope")
    drum = Body("drum", Revolute((0, 1, 0)), inertia=BAR, joint_name="shoulder")
    made = Mechanism(Tree([load, drum]), [gear("rope", "shoulder", 0.02)], elements=[motor("shoulder")])
    return made.problem([0.006, 0.3], projection="none")


@pytest.mark.parametrize("held", [arm, hoist])
@pytest.mark.parametrize("method", ["TREE_VARIATIONAL", "MIDPOINT", "RKMK4"])
def test_a_torque_of_a_motor_that_steps_pass_over(method, held):
    t = np.linspace(0.0, 20.0, 20_001)
    for height, found in ((30.0, ["pulse"]), (0.0, [])):
        torque = np.where((t > 10.0) & (t <= 10.02), height, 0.02 * np.sin(t))
        driven = held().with_inputs({"shoulder": Sampled(t, torque)})
        run = integrate(driven, method, (0.0, 20.0), 0.05)
        assert [doubt.name for doubt in run.doubts] == found


@pytest.mark.parametrize("error", [ValueError("nothing is known"), KeyboardInterrupt()])
def test_what_goes_wrong_in_a_look_loses_no_run(monkeypatch, error):
    def fails(*arguments):
        raise error

    why = str(error) or "interrupted"
    monkeypatch.setattr(pulses, "_changes", fails)
    monkeypatch.setattr(tolerances, "_apart", fails)
    problem = Problem(rn(2), [1.0, 0.0], shaken)
    for way in ({"method": "RKMK4", "step": 0.05}, {"method": "RKMK_DOP853", "rtol": 1e-6}):
        with pytest.warns(RuntimeWarning, match=rf"could not be looked at \({why}\)"):
            assert integrate(problem, t_span=(0.0, 1.0), **way).success


@pytest.mark.parametrize("form", ["plain", "jitted"])
@pytest.mark.parametrize(("method", "given"), [
    ("RKMK_DOP853", {"rtol": 1e-6}),
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6}),
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6, "t_eval": [30.0, 60.0, 90.0]}),
    ("RKMK_DORMAND_PRINCE54", {"rtol": 1e-6, "save_every": 20}),
])  # fmt: skip
def test_a_blow_that_variable_steps_pass_over_is_named(method, given, form):
    """Of 0.1 s: with it the amplitude is 8."""

    def blow(t, y):
        return np.array([y[1], -y[0] - 0.3 * y[1] + (100.0 if 0.0 < t - 71.23 < 0.1 else 0.0)])

    run = integrate(Problem(rn(2), [1.0, 0.0], called(blow, form)), method, (0.0, 100.0), **given)
    assert np.abs(run.y[:, 0]).max() < 1.1
    (doubt,) = run.doubts
    assert doubt.name == "pulse"
    assert 60.0 <= doubt.time <= 71.3


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 20.0, 101)])
@pytest.mark.parametrize("method", ["RKMK_RADAU_IIA5", "BDF5", "BDF2", "RKMK_KVAERNO54", "RKMK_KVAERNO43"])
def test_a_switch_forth_and_back_that_variable_steps_pass_over_is_named(method, t_eval):
    """Steep, but smooth, in the state and the time: the rest of the motion is another one, by half of its way.  Which
    tolerances lead past it hangs on the last bits; some do.
    """
    relay = Problem(rn(2), [0.26, 0.49], lambda t, y: [y[1], 1.13 * np.tanh(390.0 * (0.6 * np.sin(5.37 * t) - y[0]))])
    tolerances, named = np.geomspace(1e-4, 1e-7, 25), []
    for k, rtol in enumerate([*tolerances[::4], *np.delete(tolerances, np.s_[::4])]):
        if k > 6 and "pulse" in named:
            break
        run = integrate(relay, method, (0.0, 20.0), rtol=rtol, atol=rtol / 100, t_eval=t_eval)
        wrong = np.abs(run.y[-1] - [1.06237, -0.77349]).max() > 0.1  # RKMK_DOP853 at 1e-12
        assert not (run.success and wrong)
        named += [doubt.name for doubt in run.doubts]
    assert "pulse" in named


@pytest.mark.parametrize("rtol", [1e-4, 3e-5, 1e-6])
def test_given_times_between_the_steps_hide_no_step(rtol):
    """They are more than the steps, and were taken for these."""
    relay = Problem(rn(2), [0.26, 0.49], lambda t, y: [y[1], 1.13 * np.tanh(390.0 * (0.6 * np.sin(5.37 * t) - y[0]))])
    options = {"rtol": rtol, "atol": rtol / 100}
    free, given = (
        integrate(relay, "RKMK_RADAU_IIA5", (0.0, 20.0), t_eval=times, **options)
        for times in (None, np.linspace(0.0, 20.0, 3001))
    )
    assert len(free.t) < 1000
    pulse, same = ([d for d in run.doubts if d.name == "pulse"] for run in (free, given))
    assert pulse == same


@pytest.mark.parametrize("form", ["plain", "jitted"])
def test_variable_steps_of_fields_that_change_smoothly_are_not_doubted(form):
    for method in ("RKMK_DOP853", "RKMK_DORMAND_PRINCE54"):
        for given in ({"rtol": 1e-8}, {"rtol": 1e-8, "t_eval": [50.0]}, {"rtol": 1e-12}):
            assert integrate(Problem(rn(2), [1.0, 0.0], called(shaken, form)), method, (0.0, 100.0), **given).success


@pytest.mark.parametrize("method", ["RKMK_DOP853", "RKMK_DORMAND_PRINCE54"])
def test_a_blow_that_is_all_of_the_motion_is_named_of_variable_steps_too(method):
    struck = numba.njit(lambda t, y: np.array([y[1], 50.0 if 0.0 < t - 50.3 < 0.1 else 0.0]))
    run = integrate(Problem(rn(2), [0.0, 0.0], struck), method, (0.0, 100.0), rtol=1e-6)
    assert not run.y.any()
    assert [doubt.name for doubt in run.doubts] == ["pulse"]


def test_what_moves_by_less_than_the_tolerances_is_not_asked():
    still = Problem(rn(2), [1.0, 1.0], lambda t, y: [1e-9 * np.cos(t), -y[1]])
    assert integrate(still, "RKMK_BOGACKI_SHAMPINE32", (0.0, 60.0), rtol=1e-6, atol=1e-6).success


def thrown():
    """A ball of 5 mm on its parabola, in which another one stands still: it is thrown back, or flies through to 6 m."""
    radius, speed, hit = 0.005, np.array([6.0, 0.0, 5.0]), 0.5
    place = hit * speed - [0.0, 0.0, 0.5 * 9.81 * hit**2]
    body = Body("ball", Free(), inertia=Inertia.about_com(0.002, (0, 0, 0), 2e-8 * np.eye(3)))
    both = Sphere(Frame("ball"), radius), Sphere(Frame(None, tuple(place)), radius)
    made = Mechanism(Tree([body]), elements=[contact(*both, stiffness=2e4, damping=0.02)])
    return made.problem([0, 0, 0, 1, 0, 0, 0], [*speed, 0, 0, 0])


APART = 0.5 / 24.25
"""A step whose quarter is in the way."""
FLIES = [
    ("RKMK4", {"step": APART}), ("TREE_VARIATIONAL", {"step": APART}), ("BDF2", {"step": APART}),
    ("MIDPOINT", {"step": APART}), ("RKMK_DOP853", {"rtol": 1e-9, "atol": 1e-9}),
    ("RKMK_TSITOURAS54", {"rtol": 1e-4, "atol": 1e-9}), ("RKMK_RADAU_IIA5", {"rtol": 1e-9, "atol": 1e-9}),
    ("BDF5", {"rtol": 1e-6, "atol": 1e-9}),
]  # fmt: skip


@pytest.mark.parametrize("saved", ["all", "given", "some"])
@pytest.mark.parametrize(("method", "way"), FLIES, ids=[method for method, _ in FLIES])
def test_a_ball_that_a_step_leads_through_is_a_doubt(method, way, saved):
    if saved == "some" and "step" not in way:
        pytest.skip("every step of variable size is saved")
    end = 48 * APART
    kept = {"all": {}, "given": {"t_eval": np.linspace(0.0, end, 7)}, "some": {"save_every": 9}}[saved]
    run = integrate(thrown(), method, (0.0, end), **way, **kept)
    assert run.y[-1, 0] == pytest.approx(6.0 * end, abs=1e-6)
    assert "pulse" in [doubt.name for doubt in run.doubts]


@pytest.mark.parametrize("way", [("RKMK_DOP853", {"rtol": 1e-9, "max_step": 0.001}), ("GAUSS8", {"step": 1e-3})])
def test_a_ball_that_is_struck_is_none(way):
    run = integrate(thrown(), way[0], (0.0, 1.0), **way[1])
    assert run.y[-1, 0] < 3.0
    assert run.success


@pytest.mark.parametrize("speed", [0.0, 1.0])
@pytest.mark.parametrize("method", ["RKMK_DOP853", "RKMK_TSITOURAS54"])
@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-6])
def test_what_rests_on_a_contact_is_none(method, rtol, speed):
    """A ball on a cart, pressed in by its weight: steps at the edge of stability shake it by what tolerances leave."""
    inertia = Inertia.about_com(1.0, (0, 0, 0), 1e-2 * np.eye(3))
    bodies = [Body("cart", Prismatic((1, 0, 0)), inertia=inertia)]
    bodies.append(Body("ball", Prismatic((0, 0, 1)), "cart", inertia=inertia))
    pair = Sphere(Frame("ball"), 0.1), Frame(None)
    made = Mechanism(Tree(bodies), elements=[contact(*pair, stiffness=1e4, damping=1.0)])
    run = integrate(made.problem([0.0, 0.1 - 9.81e-4], [speed, 0.0]), method, (0.0, 3.0), rtol=rtol)
    assert run.y[-1, 0] == pytest.approx(3.0 * speed, abs=1e-12)
    assert run.success, run.message
