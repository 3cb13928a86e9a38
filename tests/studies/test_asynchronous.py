"""The study of asynchronous steps."""

from __future__ import annotations

import numpy as np
import pytest

from studies.asynchronous.question import AsynchronousConfig, growth, records, run, two_springs
from studies.registry import STUDIES


@pytest.fixture(scope="module")
def answer():
    return run(AsynchronousConfig(quick=True, progress=False))


def test_the_map_grows_in_the_known_windows_and_between_them_it_does_not():
    """Steps h₂ = 2 h₁: unstable about ω̂ h₂ = π (ω of both springs), as the closed form of the windows says."""
    problem = two_springs()
    omega = np.sqrt(1.04)
    inside, outside = (2 * 2 / omega * np.sin(phase / 4) for phase in (np.pi, 0.7 * np.pi))
    assert growth(problem, inside / 2, inside, 20) > 0.01
    assert growth(problem, outside / 2, outside, 20) < 1e-7


def test_the_answer_has_its_records_and_its_picture(answer):
    study, rows = STUDIES["asynchronous"], records(answer)
    assert {r["method"] for r in rows} == {"SPLIT_STRANG", "AVI", "AVI_SUZUKI4", "AVI_FREE"}
    kicks = {r["method"]: r["kicks_per_time"] for r in rows if r["system"] == "bar"}
    assert kicks["AVI_FREE"] < kicks["AVI"] < 0.5 * kicks["SPLIT_STRANG"]
    assert max(r["energy_band"] for r in rows if r["system"] == "bar") < 0.02
    assert max(r["momentum_error"] for r in rows if r["system"] == "bar") < 1e-14
    assert len(study.figure(answer).axes) == 4
    assert study.data(answer).variables["growth"].values.shape == (12, 12)
