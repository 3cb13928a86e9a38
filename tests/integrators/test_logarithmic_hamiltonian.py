"""Steps under the logarithmic Hamiltonian: exact conics, no drift, orders, and what is refused."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from integrators import Problem, Status, integrate, resume
from integrators.analysis import energy_drift
from integrators.controllers import IntegratingController, LogarithmicHamiltonian
from integrators.engine.adaptive_run import AdaptiveRun, Steering
from integrators.engine.run import Output
from integrators.events import Event
from integrators.layout import COUNTERS
from integrators.methods import METHODS
from integrators.results.storage import StorageError
from integrators.signatures import FIELD_SIGNATURES
from integrators.steppers.logarithmic import logarithmic
from liegroup.compile import entry, ld, st
from liegroup.compile.scalars import sqrt
from mechanics.systems import full_body

PERIOD = 2 * np.pi


@entry(*FIELD_SIGNATURES)
def newton(t, y, parameters, structure, work, out):
    """V = −1/|q|."""
    x, z = ld(y, 0), ld(y, 1)
    st(out, 0, -1.0 / sqrt(x * x + z * z))


KEPLER = LogarithmicHamiltonian(newton)
EXACT = ("SPLIT_STRANG_DKD", "SPLIT_SUZUKI4", "SPLIT_SOFSPA6")


def solve(problem, method, revolutions, steps, **options):
    """Equal steps of the fictitious time, so many per revolution: ds = dt/r takes 2π of it for a period."""
    solution = integrate(problem, method, (0, PERIOD * revolutions), PERIOD / steps, controller=KEPLER, **options)
    assert solution.success, solution.message
    return solution


@pytest.mark.parametrize("e", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("method", EXACT)
def test_kepler_orbits_are_exact_conics_with_any_step(problems, method, e):
    """r + e x = 1 − e² at every state, with ten steps of drift, kick, drift a revolution; only the time is
    approximate.
    """
    solution = solve(problems.kepler(e), method, 100, 10)
    x, r = solution.y[:, 0], np.hypot(solution.y[:, 0], solution.y[:, 1])
    assert np.abs(r + e * x - (1 - e * e)).max() < 1e-13
    assert np.ptp(solution["energy"]) < 1e-14 / (1 - e) ** 1.5
    assert np.ptp(solution["angular_momentum"]) < 1e-14
    assert np.ptp(x) > 1.8


@pytest.mark.parametrize(
    ("method", "order", "steps"),
    [
        ("SPLIT_STRANG", 2, (200, 400, 800)),
        ("SPLIT_STRANG_DKD", 2, (200, 400, 800)),
        ("SPLIT_SUZUKI4", 4, (40, 80, 160)),
        ("SPLIT_BM4_S6", 4, (40, 80, 160)),
        ("SPLIT_BM6_S10", 6, (20, 30, 40)),
        ("SPLIT_SOFSPA6", 6, (20, 30, 40)),
        ("SPLIT_KAHANLI8", 8, (14, 16, 20)),
        ("SPLIT_SRKN6_11B", 4, (100, 200, 400)),
    ],
)
def test_order_in_time(problems, method, order, steps):
    """Errors of the state after a revolution of e = 0.4; Nyström coefficients of order 6 fall back to 4."""
    assert logarithmic(METHODS[method]).order == order
    problem = problems.kepler(0.4)
    errors = [np.abs(solve(problem, method, 1, n).y[-1] - problem.y0).max() for n in steps]
    slope = -np.polyfit(np.log(steps), np.log(errors), 1)[0]
    assert slope == pytest.approx(order, abs=0.3), errors


def test_energy_does_not_drift_and_exact_conics_beat_the_integrating_controller(problems):
    """e = 0.9, 300 revolutions at equal cost: flat bands all, rounding on the exact conic; the orbit's place is better,
    too.
    """
    problem, span = problems.kepler(0.9), (0, 300 * PERIOD)
    conic, near = (solve(problem, method, 300, n) for method, n in (("SPLIT_SOFSPA6", 50), ("SPLIT_BM6_S10", 55)))
    controller = IntegratingController(problems.kepler_step_size)
    other = integrate(problem, "SPLIT_SOFSPA6", span, 0.15, controller=controller)
    bands = [np.ptp(solution["energy"]) for solution in (conic, near, other)]
    for solution, band in zip((near, other), bands[1:], strict=True):
        energy, tenth = solution["energy"], len(solution.t) // 10
        assert np.ptp(energy[-tenth:]) < 1.1 * np.ptp(energy[:tenth])
        assert abs(energy_drift(solution.t, energy).slope) * solution.t[-1] < 0.05 * band
    assert bands[0] < 1e-12 < 1e-4 * min(bands[1:])
    assert max(conic.evaluations, near.evaluations) < other.evaluations
    assert np.abs(conic.y[-1] - problem.y0).max() < 1e-4 * np.abs(other.y[-1] - problem.y0).max()


def a_step(problem, method, epsilon):
    """One step of ε as a map of the state, with the p_t of the problem's start."""
    run = AdaptiveRun(
        problem,
        METHODS[method],
        Output(),
        Steering((0.0, 1e9), KEPLER, 0.0, np.zeros(4), epsilon, np.inf, 1),
        problem.y0,
    )

    def step(y, h=epsilon):
        new, low, counters = y.copy(), np.zeros_like(y), np.zeros(COUNTERS, dtype=np.int64)
        status = run.step(
            run.field, 0.0, h, new, low, problem.table, run.coefficients, run.options, run.parameters,
            run.structure,
            run.field_work, run.work, counters,
        )  # fmt: skip
        assert status == Status.OK
        return new

    return step


@pytest.mark.parametrize("method", ["SPLIT_STRANG", "SPLIT_BM6_S10", "SPLIT_SOFSPA6"])
def test_steps_are_symplectic_and_symmetric(problems, method):
    problem = problems.kepler(0.6)
    step, y0 = a_step(problem, method, 0.3), problem.y0 + np.array([0.1, 0.2, -0.1, 0.05])
    delta, J = 1e-3, np.zeros((4, 4))
    for k, e in enumerate(np.eye(4)):
        differences = [(step(y0 + j * delta * e) - step(y0 - j * delta * e)) / (2 * j * delta) for j in (1, 2, 3)]
        J[:, k] = 1.5 * differences[0] - 0.6 * differences[1] + 0.1 * differences[2]
    omega = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    assert np.abs(J.T @ omega @ J - omega).max() < 1e-9
    assert np.abs(step(step(y0), -0.3) - y0).max() < 1e-14


def test_rigid_bodies_attracting_each_other():
    """T*SE(3)²: an encounter with order 4 and 6, momenta exact, energy in a band; the potential is the energy at
    rest.
    """
    problem = full_body()
    energy = problem.invariants.compiled

    @numba.njit
    def at_rest(t, y, parameters, structure, work, out):
        rest, values = y.copy(), np.zeros(7)
        rest[14:] = 0.0
        energy(t, rest, parameters, structure, work, values)
        out[0] = values[0]

    controller = LogarithmicHamiltonian(at_rest)
    reference = integrate(problem, "SPLIT_SRKN8_17A", (0, 6), 6 / 6000).y[-1]
    for method, order, steps in (("SPLIT_BM4_S6", 4, (0.08, 0.04)), ("SPLIT_SOFSPA6", 6, (0.2, 0.1))):
        errors = [
            np.abs(integrate(problem, method, (0, 6), h, controller=controller).y[-1] - reference).max() for h in steps
        ]
        assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.5), errors
    long = integrate(problem, "SPLIT_SOFSPA6", (0, 400), 0.1, controller=controller)
    assert long.success
    for name in problem.invariant_names[1:]:
        assert np.ptp(long[name]) < 1e-13
    tenth = len(long.t) // 10
    assert np.ptp(long["energy"][-tenth:]) < 3 * np.ptp(long["energy"][:tenth]) < 1e-7


# --- the engine around it ---------------------------------------------------------------------------------------------


def test_end_given_times_and_events_are_states_of_the_motion(problems):
    """The end is hit exactly; states within steps lie on the conic, too; the pericentre is found once a revolution."""
    e, problem = 0.9, problems.kepler(0.9)
    times = np.linspace(0.1, 9.9 * PERIOD, 77)
    peri = Event(numba.njit(lambda t, y: np.array([y[0] * y[2] + y[1] * y[3]])), direction=1)
    solution = solve(problem, "SPLIT_SOFSPA6", 9.95, 60, t_eval=times, events={"pericentre": peri})
    assert np.array_equal(solution.t, times)
    x, r = solution.y[:, 0], np.hypot(solution.y[:, 0], solution.y[:, 1])
    assert np.abs(r + e * x - (1 - e * e)).max() < 1e-13
    found, states = solution.events["pericentre"]
    assert np.abs(found - PERIOD * np.arange(1, 10)).max() < 1e-6
    assert np.abs(np.hypot(states[:, 0], states[:, 1]) - (1 - e)).max() < 1e-14
    whole = solve(problem, "SPLIT_SOFSPA6", 9.95, 60)
    assert whole.t[-1] == PERIOD * 9.95


def test_backwards_in_time_leads_back(problems):
    problem = problems.kepler(0.9)
    there = solve(problem, "SPLIT_BM6_S10", 1.3, 100)
    back = integrate(problem, "SPLIT_BM6_S10", (there.t[-1], 0.0), PERIOD / 100, controller=KEPLER, y0=there.y[-1])
    assert back.t[-1] == 0.0
    assert (np.diff(back.t) < 0).all()
    assert np.abs(back.y[-1] - problem.y0).max() < 1e-6
    assert np.abs(there.y[-1] - problem.y0).max() > 1.0


def test_compiled_and_interpreted_are_equal_bit_by_bit(problems):
    problem = problems.kepler(0.9)
    field, potential = problem.field.python, newton.python
    source = Problem(
        problem.table,
        problem.y0,
        lambda t, y, parameters, structure, work, out: field(t, y, parameters, structure, work, out),
        canonical=True,
    )
    plain = LogarithmicHamiltonian(
        lambda t, y, parameters, structure, work, out: potential(t, y, parameters, structure, work, out)
    )
    a = integrate(problem, "SPLIT_BM4_S6", (0, 5), 0.2, controller=KEPLER)
    b = integrate(source, "SPLIT_BM4_S6", (0, 5), 0.2, controller=plain)
    assert np.array_equal(a.t, b.t)
    assert np.array_equal(a.y, b.y)


def test_a_stopped_run_goes_on_as_if_nothing_had_happened(problems, tmp_path):
    problem, path = problems.kepler(0.9), tmp_path / "run.check"
    whole = solve(problem, "SPLIT_SOFSPA6", 50, 30)
    chunks = []
    first = integrate(
        problem, "SPLIT_SOFSPA6", (0, 50 * PERIOD), PERIOD / 30, controller=KEPLER, checkpoint=path, every=0.0,
        callback=lambda t, y: chunks.append(t) or len(chunks) == 2,
    )  # fmt: skip
    assert first.status is Status.STOPPED
    resumed = resume(path, problem, controller=KEPLER)
    assert np.array_equal(resumed.t, whole.t)
    assert np.array_equal(resumed.y, whole.y)
    with pytest.raises(StorageError, match="steered by the logarithmic Hamiltonian; give it again"):
        resume(path, problem)
    with pytest.raises(StorageError, match="another function"):
        resume(path, problem, controller=LogarithmicHamiltonian(problems.kepler_step_size))


# --- refused ----------------------------------------------------------------------------------------------------------


def line(potential):
    return LogarithmicHamiltonian(numba.njit(potential))


@pytest.mark.parametrize(
    ("method", "controller", "options", "words"),
    [
        ("MIDPOINT", KEPLER, {}, "follows T and V exactly"),
        ("ROTATIONS_SUZUKI4", KEPLER, {}, "follows T and V exactly"),
        ("RKMK4", KEPLER, {}, "RKMK4 has none"),
        ("SPLIT_STRANG", KEPLER, {"rtol": 1e-6}, "estimates no errors"),
        ("SPLIT_STRANG", KEPLER, {"max_step": 0.1}, "equal in their own time"),
        ("SPLIT_STRANG", line(lambda t, y: np.array([1.0])), {}, "needs V < 0"),
        ("SPLIT_STRANG", line(lambda t, y: np.array([-2.0 / np.sqrt(y[0] ** 2 + y[1] ** 2)])), {}, "not the potential"),
        (
            "SPLIT_STRANG",
            line(lambda t, y: np.array([-1.0 / np.sqrt(y[0] ** 2 + y[1] ** 2) - t])),
            {},
            "depends on the time",
        ),
    ],
)
def test_what_the_theory_does_not_allow_is_refused(problems, method, controller, options, words):
    with pytest.raises(ValueError, match=words):
        integrate(problems.kepler(), method, (0, 1), 0.1, controller=controller, **options)


def test_an_epsilon_is_needed_and_a_separable_problem(problems):
    with pytest.raises(ValueError, match="ε, the step where V = −1"):
        integrate(problems.kepler(), "SPLIT_STRANG", (0, 1), controller=KEPLER)
    y0 = np.array([0.5, 0.0, 0.0, 1.0])
    mixed = Problem(
        problems.kepler().table,
        y0,
        numba.njit(lambda t, y: np.array([y[2] * y[0], y[3], -y[0], -y[1]])),
        canonical=True,
    )
    with pytest.raises(ValueError, match="inertia depends on the place"):
        integrate(mixed, "SPLIT_STRANG", (0, 1), 0.1, controller=KEPLER)


def test_a_potential_that_becomes_positive_ends_the_run_with_the_reason(problems):
    """A spring with V = ½|q|² − 0.1 from the middle outwards: at |q| = 0.447 the fictitious time ends."""
    table = problems.kepler().table
    spring = Problem(
        table, [0.0, 0.0, 1.0, 0.0], numba.njit(lambda t, y: np.array([y[2], y[3], -y[0], -y[1]])), canonical=True
    )
    solution = integrate(
        spring,
        "SPLIT_STRANG",
        (0, 10),
        0.01,
        controller=line(lambda t, y: np.array([0.5 * (y[0] ** 2 + y[1] ** 2) - 0.1])),
    )
    assert solution.status in (Status.NON_FINITE, Status.STEP_UNDERFLOW)
    assert "logarithmic" in solution.message or "singular" in solution.message
    assert 0.3 < solution.y[-1, 0] < 0.4473
