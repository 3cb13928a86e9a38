"""The seconds of a run are those of its steps: what it compiles on the way is left out."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np
import pytest

from integrators import Problem, integrate
from integrators.signatures import FIELD_SIGNATURES
from liegroup import rn
from liegroup.compile import entry, ld, never, rare, st

late = sys.modules["liegroup.compile.rare"]
PAUSE = 0.6
"""Seconds that every compilation of a kernel takes longer here."""


@rare(never)
def fall(y, out):
    """(v, −1)."""
    st(out, 0, ld(y, 1))
    st(out, 1, -1.0)


@entry(*FIELD_SIGNATURES)
def falling(t, y, parameters, structure, work, out):
    """Calls a kernel that no run asks for before it starts."""
    fall(y, out)


@pytest.mark.parametrize(("starts", "workers"), [(np.zeros(2), 1), (np.zeros((9, 2)), 2)])
def test_what_a_run_compiles_on_the_way_is_not_in_its_seconds(starts, workers, monkeypatch):
    """Of one run, and of two in two threads, both of which wait."""
    bind, waited = late.bind, []

    def slowly(key):
        time.sleep(PAUSE)
        waited.append(key[1])
        return bind(key)

    monkeypatch.setattr(late, "bind", slowly)
    problem = Problem(rn(2), starts, falling)
    began = time.perf_counter()
    solution = integrate(problem, "RKMK4", (0.0, 1.0), step=0.1, workers=workers, progress=False)
    assert "fall" in waited
    assert time.perf_counter() - began > PAUSE > 2.0 * solution.seconds > 0.0


STIFF = """
import time
import numpy as np
from integrators import Problem, integrate
from liegroup import rn

began = time.perf_counter()
problem = Problem(rn(2), np.array([1.0, 0.0]), lambda t, y: np.array([y[1], -1e8 * y[0]]))
solution = integrate(problem, "RKMK_GAUSS2", (0.0, 0.5), step=0.01, progress=False)
assert solution.status == 0 and solution.iterations > 5 * solution.steps, solution
print(time.perf_counter() - began, solution.seconds)
"""


@pytest.mark.slow
def test_a_stiff_run_on_an_empty_cache_says_what_its_steps_took(tmp_path):
    """It goes over to Newton's method."""
    done = subprocess.run(
        [sys.executable, "-c", STIFF], capture_output=True, text=True, check=True,
        env=os.environ | {"LIEMECH_CACHE": str(tmp_path)},
    )  # fmt: skip
    took, seconds = map(float, done.stdout.split())
    assert any(tmp_path.rglob("*.*"))  # it was compiled
    assert 0.0 < seconds < 0.05 * took
