"""A run that would not fit into memory is refused before it starts, or ends with what it has."""

from __future__ import annotations

import numpy as np
import pytest

from integrators import Problem, Status, integrate
from integrators.engine import memory, room
from integrators.engine import run as runs
from liegroup.table import RN, table_of


def decay(t, y):
    return -y


PROBLEM = Problem(table_of([(RN, 1)]), [1.0], decay, invariants={"square": lambda t, y: y[0] ** 2})


def test_a_run_that_does_not_fit_is_refused_with_the_bytes_and_the_remedy():
    with pytest.raises(
        ValueError, match=r"save_every: at least \d+ instead of 1; .*memory: \d+ bytes .*, \d+ are free"
    ) as e:
        integrate(PROBLEM, "RKMK4", (0, 1e12), 1.0, save_every=1)
    least = int(str(e.value).split("at least ")[1].split()[0])
    needed = 2 * 8 * (1 + 10**12) * (2 + 1 + 5)
    assert f"{needed} bytes" in str(e.value)
    assert needed / least == pytest.approx(memory.free_memory(), rel=0.2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 0.1, "save_every": 1}, "save_every: at least 3 instead of 1; 101 states of 1 numbers do not fit"),
        ({"step": 0.1, "t_eval": np.linspace(0, 10, 101)}, "fewer times in t_eval; 101 states"),
        ({"step": 0.1, "save_every": 10, "y0": np.ones((40, 1))}, "for each of 40 trajectories do not fit"),
    ],
)
def test_every_kind_of_run_is_asked(monkeypatch, options, words):
    monkeypatch.setattr(room, "free_memory", lambda: 5000)
    monkeypatch.setattr(room, "_SMALL", 0)
    with pytest.raises(ValueError, match=words):
        integrate(PROBLEM, "RKMK4", (0, 10), **options)


def test_variable_steps_end_with_what_they_have(monkeypatch):
    monkeypatch.setattr(runs, "free_memory", lambda: 300_000)
    solution = integrate(PROBLEM, "RKMK_DORMAND_PRINCE54", (0, 10), rtol=1e-6, max_step=1e-3)
    assert solution.status is Status.FULL
    assert "keep fewer states" in solution.message
    assert 1024 <= len(solution.t) < 5000
    assert solution.y[-1, 0] == pytest.approx(np.exp(-solution.t[-1]), rel=1e-6)


def test_what_is_free_is_known_here():
    free = memory.free_memory()
    assert free is None or 0 < free < 2**50
