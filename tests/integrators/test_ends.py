"""The last step ends at the time that was given, and nothing is asked after it, or before the first."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from integrators import Problem, integrate
from integrators.adapters.scipy import LieRK45
from integrators.engine.ends import begun
from liegroup import rn

SPANS = [(0.0, 0.3, 0.1), (0.0, 0.7, 0.1), (0.0, 1.2, 0.1), (0.1, 0.7, 0.2), (0.3, 0.0, 0.1), (1e3, 1e3 + 0.7, 0.1)]
FIXED = ["RKMK4", "RKMK_DOP853", "CF4", "MIDPOINT", "RKMK_GAUSS2", "RKMK_RADAU_IIA3", "GAUSS8", "BDF2", "RODAS4"]


class Table:
    """cos t on an interval; what is asked beside it is an error."""

    def __init__(self, begin: float, end: float) -> None:
        self.low, self.high = min(begin, end), max(begin, end)

    def __call__(self, t: float) -> float:
        if not self.low <= t <= self.high:
            raise ValueError(f"{t!r} is outside of [{self.low!r}, {self.high!r}]")
        return float(np.cos(t))


def driven(begin: float, end: float) -> Problem:
    force = Table(begin, end)
    return Problem(rn(1), [0.5], lambda t, y: [force(t) - 0.1 * y[0]])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", FIXED)
@pytest.mark.parametrize("span", SPANS)
def test_equal_steps_stay_within_the_interval(method: str, span: tuple[float, float, float]) -> None:
    begin, end, step = span
    found = integrate(driven(begin, end), method, (begin, end), step=step, progress=False)
    assert found.success, found.doubts
    assert found.t[-1] == end
    free = Problem(rn(1), [0.5], lambda t, y: [np.cos(t) - 0.1 * y[0]])
    assert found.y[-1] == pytest.approx(
        integrate(free, method, (begin, end), step=step, progress=False).y[-1], rel=1e-14
    )


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("method", [None, "RKMK_DOP853", "RKMK_RADAU_IIA5", "RODAS4", "BDF5"])
@pytest.mark.parametrize("span", SPANS)
def test_variable_steps_and_the_default_do(method: str | None, span: tuple[float, float, float]) -> None:
    begin, end, _ = span
    options = {} if method is None else {"method": method, "rtol": 1e-8, "atol": 1e-10}
    found = integrate(driven(begin, end), t_span=(begin, end), progress=False, **options)
    assert found.success, found.doubts
    assert found.t[-1] == end


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("span", SPANS)
def test_so_do_lanes_saved_times_and_the_solver_for_scipy(span: tuple[float, float, float]) -> None:
    begin, end, step = span
    problem = driven(begin, end)
    times = np.linspace(begin, end, 7)
    found = integrate(problem, "RKMK4", (begin, end), step=step, t_eval=times, progress=False)
    assert (found.t == times).all()
    many = integrate(problem, "RKMK4", (begin, end), step=step, y0=np.linspace(0, 1, 9)[:, None], progress=False)
    assert many.success
    assert many.t[-1] == end
    force = Table(begin, end)
    for steps in ({"step": step}, {"rtol": 1e-8}):
        run = solve_ivp(lambda t, y: [force(t)], (begin, end), [0.0], method=LieRK45(groups=rn(1)), **steps)
        assert run.success
        assert run.t[-1] == end


def test_a_time_moves_by_a_rounding_only() -> None:
    generator = np.random.default_rng(0)
    for _ in range(2000):
        begin, h = generator.normal(size=2)
        n = int(generator.integers(1, 50))
        end = begin + n * h
        t = begin + (n - 1) * h
        moved = begun(t, h, end)
        assert (end - (moved + h)) * h >= 0.0
        assert abs(moved - t) <= 4.0 * np.spacing(max(abs(begin), abs(end)))
        assert (moved == t) == ((end - (t + h)) * h >= 0.0)
