"""Steps as straight-line code have the bits of the stepper, and leave to it what goes another way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from integrators import Problem, compile_step, integrate
from integrators.engine import fixed_run
from integrators.layout import COUNTERS, STEPS
from integrators.methods import find
from integrators.status import ANOTHER_WAY, OK
from integrators.steppers.common import pass_on_last
from integrators.straight import LIMIT, straight_step
from liegroup import rn
from liegroup.compile import is_jitted
from mechanics.systems import heavy_top, kepler

H = 1e-3
SYSTEMS = {"heavy top": heavy_top, "kepler": kepler}


def run(problem: Problem, method: Any, step: Any, steps: int) -> Any:
    """State, low words and counters after interpreted steps."""
    y, low, counters = problem.y0.copy(), np.zeros(problem.n), np.zeros(COUNTERS, dtype=np.int64)
    work, field_work = np.zeros(method.work_shape(problem)), np.zeros(problem.work_shape)
    for k in range(steps):
        arguments = (
            method.function(problem).python, k * H, H, y, low, problem.table, method.kernel_coefficients(problem),
            method.kernel_options(problem), problem.own_parameters(), problem.structure, field_work, work, counters,
        )  # fmt: skip
        status = step(*arguments)
        if status == ANOTHER_WAY and k == 0:  # what the step before passes on, there is none
            status = method.step(problem).python(*arguments)
        assert status == OK
        pass_on_last(work, counters)
        counters[STEPS] = k + 1
    return y, low, counters


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("name", ["RKMK4", "CF4", "RKMK_DORMAND_PRINCE54", "CG3", "CF3_2N_WILLIAMSON"])
def test_bits_of_the_stepper(system: str, name: str) -> None:
    problem, method = SYSTEMS[system](), find(name)
    made = straight_step(problem, method, H)
    assert made is not None
    assert 0 < made.operations <= LIMIT
    y, low, counters = run(problem, method, method.step(problem).python, 18)
    own = run(problem, method, made.step.python, 18)
    assert np.array_equal(own[0], y)
    assert np.array_equal(own[1], low)
    assert np.array_equal(own[2], counters)
    plain = method.plain()
    uncompensated = straight_step(problem, plain, H)
    assert uncompensated is not None
    assert uncompensated.operations < made.operations
    expected = run(problem, plain, plain.step(problem).python, 10)[0]
    assert np.array_equal(run(problem, plain, uncompensated.step.python, 10)[0], expected)


def test_runs_take_it_bit_by_bit_and_end_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = heavy_top(angular_velocity=(0.0, 0.5, 1.0))
    starts = problem.y0 + np.r_[np.zeros(4), 0.1, 0.1, 0.1] * np.arange(8.0)[:, None]
    every = {
        "single": (problem, H), "lanes": (problem.with_start(starts), H),
        "a chart is left": (problem, 0.5),
    }  # fmt: skip
    expected = {name: integrate(given, "LIE_EULER", (0.0, 400 * h), h) for name, (given, h) in every.items()}
    assert expected["a chart is left"].message != expected["single"].message
    taken: list[Any] = []
    found = fixed_run.FixedRun.straight_code
    monkeypatch.setattr(fixed_run, "LONG", 1)
    monkeypatch.setattr(fixed_run, "LONGER", 1)
    monkeypatch.setattr(fixed_run.FixedRun, "straight_code", lambda run: taken.append(found(run)) or taken[-1])
    for name, (given, h) in every.items():
        solution = integrate(given, "LIE_EULER", (0.0, 400 * h), h)
        assert taken.pop() is not None
        assert np.array_equal(solution.y, expected[name].y), name
        assert solution.message == expected[name].message
        assert np.array_equal(solution.maximum("energy"), expected[name].maximum("energy"))
    taken.clear()
    whole = integrate(problem, "LIE_EULER", (0.0, 0.1), H, t_eval=[0.05])  # looks within steps
    assert taken[0] is None  # before those of what looks at the run
    assert len(whole.t) == 1


def test_what_is_no_straight_line_is_refused() -> None:
    with pytest.raises(ValueError, match=r"heavy top: a step of MIDPOINT is no straight line.*RKMK4"):
        compile_step(heavy_top(), "MIDPOINT", H)
    users = Problem(rn(2), [1.0, 0.0], lambda t, y: [y[1], -y[0]])
    assert not is_jitted(users.field.source)
    with pytest.raises(ValueError, match="the field is not one of this package"):
        compile_step(users, "RKMK4", H)
    with pytest.raises(TypeError, match=r"problem: .*expected a Problem"):
        compile_step(1.0, "RKMK4", H)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="SCIPY_DOP853, expected a method"):
        compile_step(heavy_top(), "SCIPY_DOP853", H)
