"""Splittings with exact drifts: the free body, orders, symplecticity, known numbers, rounding."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

from integrators import Status, integrate
from integrators.analysis import cotangent_form, measured_order, symplectic_defect
from integrators.arithmetic.free_body import LONGEST, exact_motion, three_rotations
from integrators.method.step_map import step_map
from integrators.methods import METHODS
from integrators.problem import Problem
from integrators.steppers.kinetic import kinetic
from integrators.steppers.splitting import rotations, splitting
from integrators.tableaus import COMPOSITIONS, SPLITTINGS
from integrators.testing import end_state, group_distance, reference_state
from liegroup import rn
from liegroup.table import EXP, RN, SO3, bracket, increment, retract, table_of
from mechanics.systems import SYSTEMS

ALL = {n: m for n, m in METHODS.items() if getattr(m, "family", "") == "splitting"}
SPLIT = [n for n, m in ALL.items() if m.split_order is not None]
ROTATIONS = [n for n, m in ALL.items() if m.split_order is None]
GROUPS = ("R3", "SO3", "SE3", "product")

# --- the free body ----------------------------------------------------------------------------------------------------


def taylor(t: float, m: Any, i: Any) -> tuple[Any, Any]:
    """Momentum and quaternion of the free body in 50 digits, by Taylor series of substeps."""
    m, i, q = [mpmath.mpf(x) for x in m], [mpmath.mpf(x) for x in i], [mpmath.mpf(x) for x in (1, 0, 0, 0)]
    pieces = 6
    for _ in range(pieces):
        M, Q = [[x] for x in m], [[x] for x in q]
        for n in range(44):
            W = [[a * x for x in row] for a, row in zip(i, M, strict=True)]

            def times(a: Any, b: Any, n: int = n) -> Any:
                return sum(a[j] * b[n - j] for j in range(n + 1))

            dm = [
                times(M[1], W[2]) - times(M[2], W[1]),
                times(M[2], W[0]) - times(M[0], W[2]),
                times(M[0], W[1]) - times(M[1], W[0]),
            ]
            dq = [
                -times(Q[1], W[0]) - times(Q[2], W[1]) - times(Q[3], W[2]),
                times(Q[0], W[0]) + times(Q[2], W[2]) - times(Q[3], W[1]),
                times(Q[0], W[1]) + times(Q[3], W[0]) - times(Q[1], W[2]),
                times(Q[0], W[2]) + times(Q[1], W[1]) - times(Q[2], W[0]),
            ]
            for row, x in zip(M, dm, strict=True):
                row.append(x / (n + 1))
            for row, x in zip(Q, dq, strict=True):
                row.append(x / (2 * (n + 1)))
        h = mpmath.mpf(t) / pieces
        m, q = [mpmath.polyval(row[::-1], h) for row in M], [mpmath.polyval(row[::-1], h) for row in Q]
    return m, q


BODIES = {
    "generic": ((1.0, 1.4, 0.6), (0.5, -1.12, 2.4)),
    "axes in no order": ((2.0, 0.7, 1.1), (1.0, 2.0, -1.0)),
    "separatrix": ((1.0, 2.0, 3.0), (1.0, 2.0, 3**0.5)),
    "next to the separatrix": ((1.0, 2.0, 3.0), (1.0, 2.0, 3**0.5 * (1 + 1e-8))),
    "about the middle axis": ((1.0, 2.0, 3.0), (0.0, 2.0, 0.0)),
    "two equal moments": ((1.0, 1.0, 0.5), (1.0, 0.3, 2.0)),
    "two other equal moments": ((2.0, 1.0, 1.0), (1.0, 0.3, 2.0)),
    "almost equal moments": ((1.0, 1.0 + 1e-12, 0.5), (1.0, 0.3, 2.0)),
    "sphere": ((1.0, 1.0, 1.0), (1.0, 0.3, 2.0)),
    "about the first axis": ((1.0, 2.0, 3.0), (1.0, 0.0, 0.0)),
    "thin rod": ((1e-6, 1.0, 1.0), (1e-6, 0.4, 0.3)),
    "slow": ((1.0, 2.0, 3.0), (1e-8, 2e-8, -1e-8)),
    "at rest": ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0)),
}


@pytest.mark.parametrize("body", BODIES)
def test_free_motion_is_exact_to_rounding(body: str) -> None:
    J, m = BODIES[body]
    i = tuple(1.0 / x for x in J)
    speed = float(np.linalg.norm(np.array(i) * m))
    for angle in (1e-3, 0.1, 0.4, -0.7, LONGEST):
        t = angle / speed if speed else angle
        with mpmath.workdps(50):
            momentum, q = taylor(t, m, i)
            dm, w1, v = exact_motion(t, m, i)
            size = max(abs(x) for x in m) or 1.0
            error_m = (
                max(abs(mpmath.mpf(a) + mpmath.mpf(b) - c) for a, b, c in zip(m, dm, momentum, strict=True)) / size
            )
            error_q = max(
                [abs(1 + mpmath.mpf(w1) - q[0]), *(abs(mpmath.mpf(a) - b) for a, b in zip(v, q[1:], strict=True))]
            )
        assert max(error_m, error_q) < (2e-15 if abs(angle) > 0.7 else 6e-16)


@pytest.mark.parametrize("body", ["generic", "axes in no order", "separatrix"])
def test_three_rotations_are_of_second_order_and_symmetric(body: str) -> None:
    J, m = BODIES[body]
    i = tuple(1.0 / x for x in J)
    errors = []
    for t in (0.1, 0.05):
        dm, w1, v = three_rotations(t, m, i)
        exact_dm, exact_w1, exact_v = exact_motion(t, m, i)
        errors.append(max(np.abs(np.array([*dm, w1, *v]) - np.array([*exact_dm, exact_w1, *exact_v]))))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(3, abs=0.2)
    dm, _, _ = three_rotations(0.1, m, i)
    back, _, _ = three_rotations(-0.1, tuple(np.add(m, dm)), i)
    assert np.abs(np.add(dm, back)).max() < 1e-15


def test_free_body_and_heavy_top_pass_through_the_known_states(problems: Any) -> None:
    """States of the test top to 21 digits, from Taylor series in 50 digits."""
    free = [-0.48555615754695012, -0.40556638284258489, -0.47591984252624924, 0.61094306646856493]
    free += [-1.42750485601729715, -0.05441433848651484, 2.28553472207580139]
    top_1 = [-0.50229382939753083, -0.50729938135503325, -0.60478293789616813, 0.35296720053801653]
    top_1 += [-2.45915409058590369, 0.94978048519524670, 2.34574699583237132]
    top_10 = [0.62057337458411673, 0.58386325982295507, -0.37004610596303328, -0.37021380315675638]
    top_10 += [1.55951775282643764, 1.73282454662578203, 2.32614068228334588]
    method = METHODS["SPLIT_SRKN8_17A"]
    for steps in (1, 7):
        assert np.abs(end_state(problems.free_body(), method, steps) - free).max() < 2e-15
    assert np.abs(end_state(problems.heavy_top(), method, 64) - top_1).max() < 3e-15
    assert np.abs(end_state(problems.heavy_top(), method, 500, 10.0) - top_10).max() < 3e-14


def test_the_momentum_of_the_free_body_returns_after_the_known_period(problems: Any) -> None:
    free = problems.free_body()
    for inertia, momentum, period in (
        ((2.0, 1.0, 2 / 3), (np.cos(1.1), 0.0, np.sin(1.1)), 10.731465234882804),
        ((1.0, 2.0, 3.0), (1e-3, 2.0, 3e-3), 55.061681107466372),
    ):
        problem = Problem(
            free.table,
            [1, 0, 0, 0, *momentum],
            free.field,
            parameters=[*inertia, 0, 0, 0],
            canonical=True,
            model="free body",
        )
        end = end_state(problem, METHODS["SPLIT_STRANG"], 1, period)
        assert np.abs(end[4:] - momentum).max() < (
            1e-15 if inertia[0] == 2.0 else 1e-12
        )  # e^(2 λ T/4) amplifies in the second case


# --- order, symplecticity, symmetry -----------------------------------------------------------------------------------


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", SPLIT)
def test_order_is_the_claimed_one_on_every_cotangent_bundle(mechanics: Any, name: str, group: str) -> None:
    """The order without assumptions is 4 only for the Nyström splittings of order 6 and 8: T*G must be of the right
    kind.
    """
    method = METHODS[name]
    counts = {2: (64, 128, 256), 4: (48, 96, 144), 6: (12, 18, 24, 36, 48), 8: (12, 16, 20, 24)}[method.order]
    measured = order_of(mechanics(group), method, counts)
    assert measured.order == pytest.approx(method.order, abs=0.25), measured


@pytest.mark.parametrize("group", ["SO3", "SE3", "product"])
@pytest.mark.parametrize("name", ROTATIONS)
def test_order_with_three_rotations(mechanics: Any, name: str, group: str) -> None:
    method = METHODS[name]
    counts = {4: (32, 64, 96), 6: (24, 36, 48), 8: (16, 20, 24, 32, 48), 10: (6, 8, 10, 12, 16, 20, 24, 28, 32)}[
        method.order
    ]
    measured = order_of(mechanics(group), method, counts)
    if method.order < 10:
        assert measured.order == pytest.approx(method.order, abs=0.25), measured
    else:  # meets rounding before it has settled
        assert measured.order > 8.75, measured


def order_of(problem: Problem, method: Any, counts: Any, end: float = 4.0) -> Any:
    """Measured order at a late time, where steps can be long."""
    return measured_order(
        lambda n: end_state(problem, method, n, end),
        counts,
        reference_state(problem, end),
        lambda y, z: group_distance(problem.table, y, z),
        1e-11,
    )


def jacobian(problem: Problem, step: Any, h: float) -> Any:
    """Derivative of one step in left-trivialised coordinates by central differences of order eight."""
    from integrators.analysis import derivative

    def retracted(y: Any, x: Any) -> Any:
        out = np.zeros(problem.n)
        retract(problem.table, EXP, np.array(y), np.array(x), out)
        return out

    def coordinates(y: Any, z: Any) -> Any:
        out = np.zeros(problem.dimension)
        increment(problem.table, EXP, np.array(y), np.array(z), out)
        return out

    return derivative(lambda y: step(y, h), problem.y0, problem.dimension, retracted, coordinates, delta=2.0**-5)


def form(problem: Problem, y: Any) -> Any:
    n = problem.dimension // 2
    group = np.array([row for row in problem.table if row[1] < problem.n - n])

    def lie(a: Any, b: Any) -> Any:
        out = np.zeros(n)
        bracket(group, np.array(a), np.array(b), out)
        return out

    return cotangent_form(np.array(y[-n:]), lie)


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("name", ["SPLIT_STRANG", "SPLIT_SRKN6_11B", "SPLIT_ABA864", "ROTATIONS_SUZUKI4"])
def test_steps_are_symplectic_and_symmetric_on_every_cotangent_bundle(mechanics: Any, name: str, group: str) -> None:
    problem, method, h = mechanics(group), METHODS[name], 0.1
    step = step_map(problem, method)
    defect = symplectic_defect(
        jacobian(problem, step, h), form(problem, problem.y0), form(problem, step(problem.y0, h))
    )
    assert defect < 2e-11  # the floor of the differences
    assert method.symmetric
    there = step_map(problem, method, t=0.3)(problem.y0, h)
    back = step_map(problem, method, t=0.3 + h)(there, -h)
    assert group_distance(problem.table, problem.y0, back) < 3e-15


def test_a_method_that_is_not_symplectic_shows_it(mechanics: Any) -> None:
    problem = mechanics("SO3")
    step = step_map(problem, METHODS["RKMK4"])
    assert (
        symplectic_defect(jacobian(problem, step, 0.1), form(problem, problem.y0), form(problem, step(problem.y0, 0.1)))
        > 1e-8
    )


def test_inertia_off_centre_and_inclined_gives_the_same_motion_as_any_other_method(mechanics: Any) -> None:
    for general in (False, True):
        problem = mechanics("product", general)
        a, b = end_state(problem, METHODS["SPLIT_SRKN8_17A"], 64), end_state(problem, METHODS["RKMK_DOP853"], 64)
        assert group_distance(problem.table, a, b) < 1e-11


def test_fast_bodies_are_divided_and_stay_exact(problems: Any) -> None:
    free = problems.free_body()
    slow = end_state(free, METHODS["SPLIT_STRANG"], 200, 20.0)
    once = end_state(free, METHODS["SPLIT_STRANG"], 1, 20.0)
    assert np.abs(slow - once).max() < 1e-13


@pytest.mark.parametrize("name", ["SPLIT_SRKN4_6B", "ROTATIONS_SUZUKI4"])
def test_lanes_give_the_same_bits(mechanics: Any, name: str) -> None:
    problem = mechanics("product")
    rng = np.random.default_rng(3)
    starts = np.array([problem.y0] * 8)
    for k, y in enumerate(starts):
        retract(problem.table, EXP, problem.y0, (0.1 + 0.2 * k) * rng.normal(size=problem.dimension), y)
    together = integrate(problem, METHODS[name], (0, 1), step=0.1, y0=starts).y[:, -1]
    one_by_one = np.array([integrate(problem, METHODS[name], (0, 1), step=0.1, y0=y).y[-1] for y in starts])
    assert np.array_equal(together, one_by_one)


@pytest.mark.parametrize("points", [5, 400])
def test_the_drift_is_as_long_as_the_entries_of_the_inverse_inertia(points: int) -> None:
    """Points of different masses: one entry per momentum, found by few calls of the field however many they are."""
    n, calls = 3 * points, []
    inverse = np.linspace(0.5, 2.0, n)

    def field(t: float, y: Any) -> Any:
        calls.append(t)
        return np.concatenate([inverse * y[n:], -y[:n]])

    problem = Problem(table_of([(RN, n), (RN, n)]), np.linspace(-1.0, 1.0, 2 * n), field, canonical=True)
    found = kinetic(problem)
    assert np.array_equal(found.matrix.data, inverse)
    assert np.array_equal(found.matrix.indices, np.arange(n))
    assert len(calls) < 10


def test_a_dense_inverse_inertia_between_bodies_and_points_is_found_by_its_entries() -> None:
    """A lattice of three points whose momenta mix beside a body: every column is asked for by itself."""
    A = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 3.0]])
    J = np.array([1.0, 2.0, 3.0])

    def field(t: float, y: Any) -> Any:
        p, m = y[7:10], y[10:]
        return np.concatenate([A @ p, m / J, -y[:3], np.cross(m, m / J)])

    start = [0.3, -0.2, 0.5, 1, 0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    problem = Problem(table_of([(RN, 3), (SO3, 1), (RN, 6)]), start, field, canonical=True)
    found = kinetic(problem)
    assert np.array_equal(found.matrix.toarray(), np.hstack([A, np.zeros((3, 3))]))
    assert found.matrix.nnz == 5
    a, b = end_state(problem, METHODS["SPLIT_SRKN8_17A"], 40), end_state(problem, METHODS["RKMK_DOP853"], 40)
    assert group_distance(problem.table, a, b) < 1e-11


# --- rounding ---------------------------------------------------------------------------------------------------------


def energy_scatter(problem: Problem, method: Any, steps: int) -> float:
    """Root mean square, over eight trajectories, of the change of the smoothly averaged energy along the run."""
    from integrators.analysis import smooth_average

    rng = np.random.default_rng(0)
    starts = np.array(
        [np.concatenate([problem.y0[:4], problem.y0[4:] * (1 + 1e-3 * rng.normal(size=3))]) for _ in range(8)]
    )
    energy = integrate(problem, method, (0, 0.05 * steps), step=0.05, y0=starts, save_every=1).invariants[:, :, 0]
    fifth = energy.shape[1] // 5
    changes = [(smooth_average(e[-fifth:]) - smooth_average(e[:fifth])) / e[0] for e in energy]
    return float(np.sqrt(np.mean(np.square(changes))))


@pytest.mark.slow
def test_compensation_lowers_the_rounding_error_of_the_energy_by_fifty(problems: Any) -> None:
    top, method = problems.heavy_top(), METHODS["SPLIT_SRKN6_11B"]
    plain, compensated = energy_scatter(top, method.plain(), 2**17), energy_scatter(top, method, 2**17)
    assert compensated < 4e-15
    assert plain > 30 * compensated


# --- what is refused --------------------------------------------------------------------------------------------------


def test_problems_without_a_constant_kinetic_energy_are_refused(problems: Any, mechanics: Any) -> None:
    method = METHODS["SPLIT_STRANG"]
    line = table_of([(RN, 1), (RN, 1)])

    def problem(field: Any, canonical: bool = True, table: Any = line, y0: Any = (0.5, 0.3)) -> Problem:
        return Problem(table, y0, field, canonical=canonical, model="mine")

    cases = [
        (problem(lambda t, y: [y[1], -y[0]], canonical=False), "canonical"),
        (problem(lambda t, y: [y[1] / (1 + y[0] ** 2), -y[0]]), "the inertia depends on the place"),
        (problem(lambda t, y: [y[1] ** 3, -y[0]]), "it is not linear in the momentum"),
        (problem(lambda t, y: [y[1] - 0.2 * y[0], 0.2 * (y[1] - 0.2 * y[0])]), "momenta of zero move"),
        (problem(lambda t, y: [y[1], -y[0] - 0.1 * y[1]]), "depends on the momentum"),
        (problem(lambda t, y: [1e9 * y[1], -y[0] - 0.1 * y[1]], y0=(0.5, 0.0)), "depends on the momentum"),
        (
            problem(
                lambda t, y: [y[3] + 0.5 * y[2], 0.3 * y[2] + y[3], -y[0], -y[1]],
                table=table_of([(RN, 2), (RN, 2)]),
                y0=[0.1, 0.2, 0.3, 0.4],
            ),
            "not symmetric",
        ),
    ]
    for wrong, message in cases:
        with pytest.raises(ValueError, match=message):
            integrate(wrong, method, (0, 1), step=0.1)


def test_bodies_coupled_by_their_inertia_are_refused() -> None:
    K = np.eye(6) + 0.2 * np.ones((6, 6))

    def field(t: float, y: Any) -> Any:
        v = K @ y[8:]
        return np.concatenate([v, np.cross(y[8:11], v[:3]), np.cross(y[11:], v[3:])])

    problem = Problem(
        table_of([(SO3, 2), (RN, 6)]), [1, 0, 0, 0, 1, 0, 0, 0, *range(1, 7)], field, canonical=True, model="coupled"
    )
    with pytest.raises(ValueError, match="kinetic energies do not mix"):
        integrate(problem, METHODS["SPLIT_STRANG"], (0, 1), step=0.1)


def test_composition_with_rotations_needs_a_composition_and_is_named_after_it() -> None:
    method = rotations(COMPOSITIONS["SUZUKI4"])
    assert (method.order, method.symplectic, method.symmetric) == (4, True, True)
    assert splitting(SPLITTINGS["SRKN6_11B"]).order == 6
    assert COMPOSITIONS["SUZUKI4"].strang().order == 4


def test_a_body_thrown_beyond_all_turns_ends_the_run() -> None:
    """A step that is too large throws it; its motion is not followed turn by turn for ever."""
    problem = SYSTEMS["free-rigid-body"].problem()
    start = problem.y0.copy()
    start[-3:] = 1e14, 2e14, -1e14
    assert integrate(problem.with_start(start), "SPLIT_STRANG", (0.0, 1.0), 0.1).status is Status.NON_FINITE


@pytest.mark.parametrize("lasts", [1.0, 0.2, 1e-5])
@pytest.mark.parametrize("name", ["SPLIT_STRANG", "ALPHA", "LGVI_CAYLEY"])
@pytest.mark.parametrize("ends", ["raises", "nan"])
def test_fields_are_asked_within_the_time_for_which_they_are_known(name: str, lasts: float, ends: str) -> None:
    """A push that is recorded from t = 100 s on."""

    def push(t: float) -> float:
        if 100.0 <= t <= 100.0 + lasts:
            return float(np.sin(t))
        if ends == "raises":
            raise ValueError("outside of the record")
        return float("nan")

    problem = Problem(rn(1).cotangent, [0.1, 0.0], lambda t, y: [y[1], -y[0] + push(t)], canonical=True)
    assert integrate(problem, name, (100.0, 100.0 + 0.5 * lasts), 0.05 * lasts).status == Status.OK
