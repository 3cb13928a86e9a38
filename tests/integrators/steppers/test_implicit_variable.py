"""Variable steps of Radau IIA and diagonally implicit methods: accuracy, effort beside SciPy's Radau, and what a run
that is left and taken up again gives.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Problem, Status, integrate, resume
from integrators.adapters.scipy import lie_solver
from integrators.controllers import CONTROLLERS
from integrators.methods import METHODS, find
from integrators.steppers.implicit import implicit_rkmk, newton_rkmk
from integrators.steppers.to_tolerance import stopping
from integrators.tableaus import GAUSS, LOBATTO_IIIC, RADAU_IIA
from integrators.testing import group_distance
from liegroup import rn

RADAU = ("RKMK_RADAU_IIA3", "RKMK_RADAU_IIA5")
ALL = (*RADAU, "RKMK_SDIRK4_HAIRER_WANNER", "RKMK_KVAERNO54")

# --- accuracy ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("group", ["SO3", "SE3"])
@pytest.mark.parametrize("name", ALL)
def test_the_error_of_a_stiff_body_follows_the_tolerance(stiff: Any, name: str, group: str) -> None:
    problem = stiff.body(group)
    truth = integrate(problem, "SCIPY_DOP853", (0, 1), rtol=1e-13, atol=1e-14).y[-1]
    tolerances, errors = (1e-4, 1e-6, 1e-8), []
    for tolerance in tolerances:
        run = integrate(problem, name, (0, 1), rtol=tolerance, atol=tolerance)
        assert run.success
        errors.append(group_distance(problem.table, truth, run.y[-1]))
        assert errors[-1] < 30 * tolerance
    assert errors[2] < 5e-3 * errors[0]


def test_how_far_stages_are_solved() -> None:
    assert [stopping(x) for x in (1e-2, 1e-4, 1e-6)] == [0.03, 1e-2, 1e-3]
    assert stopping(1e-15) == pytest.approx(10 * 2.0**-52 / 1e-15)


def test_states_within_steps_have_the_order_of_the_polynomial(stiff: Any, monkeypatch: Any) -> None:
    """With steps of one size, which the tolerance does not shorten, and stages solved to 1e-11."""
    monkeypatch.setattr("integrators.steppers.to_tolerance.stopping", lambda tolerance: 1e-13)
    problem, times = stiff.body("SE3", 1.0), np.linspace(0.05, 1.0, 13)
    exact = integrate(problem, "RKMK_DOP853", (0, 1), rtol=1e-13, atol=1e-14, t_eval=times).y
    for name, order, longest in (("RKMK_RADAU_IIA3", 3, 0.125), ("RKMK_RADAU_IIA5", 5, 0.25)):
        errors = []
        for h in (longest, longest / 2):
            options = {"step": h, "max_step": h, "rtol": 1e-3, "atol": 1e2}
            run = integrate(problem, name, (0, 1), t_eval=times, **options)
            assert run.steps == round(1 / h)
            errors.append(np.abs(run.y - exact).max())
        assert np.log2(errors[0] / errors[1]) > order - 0.3
        plain = integrate(problem, name, (0, 1), **options)
        assert np.array_equal(plain.y[-1], run.y[-1])


# --- effort -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6])
def test_van_der_pol_takes_about_the_steps_of_scipy(stiff: Any, tolerance: float) -> None:
    span = (0.0, 2000.0)
    peer = solve_ivp(
        stiff.relaxing, span, [2.0, 0.0], "Radau", rtol=tolerance, atol=tolerance, jac=stiff.relaxing_jacobian
    )
    ours = integrate(stiff.van_der_pol(), RADAU[0], span, rtol=tolerance, atol=tolerance)
    higher = integrate(stiff.van_der_pol(), RADAU[1], span, rtol=tolerance, atol=tolerance)
    assert ours.success
    assert ours.steps <= 1.5 * (len(peer.t) - 1)
    assert ours.evaluations <= 1.5 * peer.nfev
    assert higher.steps <= (len(peer.t) - 1)
    truth = stiff.relaxed()
    assert abs(ours.y[-1, 0] - truth) < 2e2 * tolerance
    assert abs(higher.y[-1, 0] - truth) < 2e2 * tolerance


@pytest.mark.parametrize("name", RADAU)
def test_robertson_takes_about_the_steps_of_scipy(stiff: Any, name: str) -> None:
    span, start, options = (0.0, 1e6), [1.0, 0.0, 0.0], {"rtol": 1e-6, "atol": 1e-11}
    peer = solve_ivp(stiff.robertson, span, start, "Radau", **options)
    ours = integrate(Problem(rn(3), start, stiff.robertson), name, span, **options)
    assert ours.success
    assert ours.steps <= 1.2 * (len(peer.t) - 1)
    truth = solve_ivp(stiff.robertson, span, start, "Radau", rtol=1e-10, atol=1e-15).y[:, -1]
    assert np.abs(ours.y[-1] / truth - 1.0).max() < 1e-4


def test_a_derivative_as_a_band_gives_the_same_steps() -> None:
    """Beads on stiff springs and dampers in a row."""
    count = 12

    def field(t: float, y: Any) -> Any:
        x, v = y[:count], y[count:]
        force = np.zeros(count)
        stretch, rate = np.diff(x, prepend=np.sin(t)), np.diff(v, prepend=0.0)
        pull = 1e4 * stretch + 1e2 * rate
        force -= pull
        force[:-1] += pull[1:]
        return np.concatenate([v, force])

    eye = np.eye(count) + np.eye(count, k=1) + np.eye(count, k=-1)
    pattern = np.block([[np.zeros_like(eye), np.eye(count)], [eye, eye]])
    runs = [
        integrate(Problem(rn(2 * count), np.zeros(2 * count), field, jacobian_sparsity=s), RADAU[0], (0, 1), rtol=1e-6)
        for s in (None, pattern)
    ]
    assert runs[0].success
    assert runs[1].success
    assert runs[0].steps == runs[1].steps
    assert np.abs(runs[0].y[-1] - runs[1].y[-1]).max() < 1e-7


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["RKMK_RADAU_IIA3", "RKMK_KVAERNO43"])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(stiff: Any, name: str, tmp_path: Any) -> None:
    """J, its factors and the polynomial of the step before are in what a checkpoint keeps."""
    problem, path = stiff.van_der_pol(), tmp_path / "run.checkpoint"
    whole = integrate(problem, name, (0, 900), rtol=1e-5, atol=1e-5)
    for chunk in (1, 2, 3):
        times: list[float] = []
        part = integrate(
            problem, name, (0, 900), rtol=1e-5, atol=1e-5, checkpoint=path,
            callback=lambda t, y, times=times, chunk=chunk: times.append(t) or len(times) == chunk,
        )  # fmt: skip
        assert not part.finished
        again = resume(path, problem)
        assert np.array_equal(again.t, whole.t)
        assert np.array_equal(again.y, whole.y)
        path.unlink()


@pytest.mark.parametrize("name", [RADAU[0], "BDF5"])
def test_trajectories_of_an_ensemble_have_the_bits_of_runs_alone(stiff: Any, name: str) -> None:
    problem = stiff.body("SO3")
    starts = np.tile(problem.y0, (9, 1))
    starts[:, -1] = np.linspace(-1.0, 1.0, 9)
    options = {"rtol": 1e-6, "atol": 1e-6, "save_every": 2**40}
    together = integrate(problem, name, (0, 1), y0=starts, **options)
    for k, start in enumerate(starts):
        assert np.array_equal(together.y[k, -1], integrate(problem, name, (0, 1), y0=start, **options).y[-1])


def test_events_and_backward_runs(stiff: Any) -> None:
    problem = stiff.body("SE3", 10.0)
    options = {"rtol": 1e-9, "atol": 1e-9}
    ends = integrate(problem, RADAU[1], (0, 1), events={"x": lambda t, y: y[4] - 0.3}, **options)
    (when,) = ends.events["x"][0]
    exact = integrate(problem, "RKMK_DOP853", (0, 1), events={"x": lambda t, y: y[4] - 0.3}, rtol=1e-12, atol=1e-12)
    assert when == pytest.approx(exact.events["x"][0][0], abs=1e-6)
    back = integrate(problem.with_start(ends.y[-1]), RADAU[1], (1, 0), **options)
    assert group_distance(problem.table, problem.y0, back.y[-1]) < 1e-3


def test_solve_ivp_takes_its_steps(stiff: Any) -> None:
    run = solve_ivp(stiff.relaxing, (0.0, 2000.0), [2.0, 0.0], lie_solver(RADAU[0], rn(2)), rtol=1e-5, atol=1e-5)
    peer = solve_ivp(stiff.relaxing, (0.0, 2000.0), [2.0, 0.0], "Radau", rtol=1e-5, atol=1e-5)
    assert run.success
    assert len(run.t) <= 1.5 * len(peer.t)


def test_interpreted_functions_give_the_bits_of_compiled_ones(stiff: Any, monkeypatch: Any) -> None:
    problem = stiff.body("SO3")
    compiled = integrate(problem, RADAU[0], (0, 0.1), rtol=1e-4, atol=1e-4)
    monkeypatch.setattr("integrators.engine.run.CALL_BACK", False)
    plain = Problem(problem.table, problem.y0, lambda t, y: given(problem, t, y))
    interpreted = integrate(plain, RADAU[0], (0, 0.1), rtol=1e-4, atol=1e-4)
    assert interpreted.steps == compiled.steps
    assert np.abs(interpreted.y - compiled.y).max() < 1e-13


def given(problem: Problem, t: float, y: Any) -> Any:
    out = np.zeros(problem.dimension)
    problem.field.python(t, y, problem.parameters, problem.structure, np.zeros(problem.work_shape), out)
    return out


# --- what is refused, and what ends with a name -----------------------------------------------------------------------


def test_a_wrong_jacobian_is_named_before_the_run(stiff: Any) -> None:
    wrong = Problem(rn(2), [2.0, 0.0], stiff.relaxing, jacobian=lambda t, y: [[0.0, 1.0], [0.0, 3e3]])
    with pytest.raises(ValueError, match="jacobian"):
        integrate(wrong, RADAU[0], (0, 1), rtol=1e-6)


def test_a_derivative_that_is_lost_on_the_way_ends_the_run_by_name(stiff: Any) -> None:
    def lost(t: float, y: Any) -> Any:
        return stiff.relaxing_jacobian(t, y) if t < 0.5 else [[np.nan, 1.0], [0.0, 0.0]]

    run = integrate(Problem(rn(2), [2.0, 0.0], stiff.relaxing, jacobian=lost), RADAU[0], (0, 900), rtol=1e-6)
    assert run.status in (Status.NOT_CONVERGED, Status.STEP_UNDERFLOW)
    assert "the derivative is not finite" in run.message
    assert 0.5 <= run.t[-1] < 900


def test_steps_before_an_infinity_become_too_small() -> None:
    run = integrate(Problem(rn(1), [1.0], lambda t, y: [y[0] ** 2]), RADAU[0], (0, 2), rtol=1e-6)
    assert run.status in (Status.STEP_UNDERFLOW, Status.NOT_CONVERGED, Status.NON_FINITE)
    assert run.t[-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("method", RADAU)
def test_a_field_that_jumps_ends_by_name_or_is_passed(method: str) -> None:
    """Coulomb friction: the slip stops, no derivative tells where, and a step may leave the rest for good."""
    slip = Problem(rn(1), [1.0], lambda t, y: [-1e6 * np.sign(y[0])])
    run = integrate(slip, method, (0, 1), rtol=1e-6, max_steps=1000)
    assert not run.success or np.abs(run.y).max() <= 1.0
    assert run.success or run.status.is_failure or "does not come to the end" in run.doubts[0].says


def test_fixed_steps_are_those_of_the_method_itself() -> None:
    """What variable steps need is told to nobody else."""
    for name in RADAU:
        method, bare = find(name), newton_rkmk(RADAU_IIA(METHODS[name].options[0]))
        assert np.array_equal(method.coefficients, bare.coefficients)
        assert np.array_equal(method.options, bare.options)
        assert method.stepper is bare.stepper
        assert not bare.is_adaptive


def test_an_estimate_needs_a_real_eigenvalue(stiff: Any) -> None:
    even = implicit_rkmk(RADAU_IIA(2), newton=True, embedded_order=2)
    with pytest.raises(ValueError, match="odd number of stages"):
        integrate(stiff.van_der_pol(), even, (0, 1), rtol=1e-6)


@pytest.mark.parametrize(("tableau", "of", "says"), [
    (GAUSS(3), {"embedded_order": 3}, "expected a stiffly accurate tableau and centred=False"),
    (LOBATTO_IIIC(3), {"embedded_order": 3}, "expected Radau IIA"),
])  # fmt: skip
def test_other_tableaus_are_refused_where_the_step_or_the_estimate_would_be_wrong(tableau, of, says) -> None:
    """Lobatto IIIC went on at rtol = 1e-8 with an error of 4e-4, and said success."""
    oscillator = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    with pytest.raises(ValueError, match=says):
        integrate(oscillator, newton_rkmk(tableau, **of), (0, 10), rtol=1e-8)


def test_the_predictive_controller_is_the_usual_one_here(stiff: Any) -> None:
    options = {"rtol": 1e-5, "atol": 1e-5}
    runs = [
        integrate(stiff.van_der_pol(), RADAU[0], (0, 900), controller=c, **options)
        for c in (None, "PREDICTIVE", "PI42")
    ]
    assert np.array_equal(runs[0].t, runs[1].t)
    assert len(runs[0].t) != len(runs[2].t)
    assert CONTROLLERS["PREDICTIVE"].radius < 1e-6


@pytest.mark.parametrize("name", [*ALL, "RKMK_TRBDF2"])
def test_friction_that_sticks_is_no_noise_to_the_estimate(name: str) -> None:
    """h |J| is 1e6: an estimate with the field at the start, as it stands, is that of what is left unsolved."""

    def sliding(t: float, y: Any) -> Any:
        return [y[1], -5.0 * np.tanh(y[1] / 1e-6) - 3.0 * np.sin(t) - y[0]]

    run = integrate(Problem(rn(2), [1.0, 0.0], sliding), name, (0, 20), rtol=1e-6, atol=1e-9)
    assert run.success
    assert run.steps < 300
    assert run.y[-1, 0] == pytest.approx(0.999994409, abs=1e-7)
