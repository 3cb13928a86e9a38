"""The study of the walking mechanism: its deviations are those of the pins, and formulations differ as they must."""

import numpy as np
import pytest

from mechanics.constraints.equations import geometry
from mechanics.systems.loops import walking_mechanism as walker
from studies.registry import STUDIES
from studies.walking_mechanism import WALKING_MECHANISM
from studies.walking_mechanism.question import WalkingMechanismConfig, pin_deviation, records, remarks, run
from studies.walking_mechanism.scene import shapes


@pytest.fixture(scope="module")
def result():
    return run(WalkingMechanismConfig(quick=True, progress=False))


def test_the_deviation_is_the_distance_of_the_pins():
    q = np.random.default_rng(0).uniform(-0.3, 0.3, 10)
    at = geometry(walker.tree(), q)
    disc = at.x[1] + at.R[1] @ (0.0, 0.0, -walker.CRANK)
    leg = at.x[2] + at.R[2] @ (0.0, 0.0, -walker.PIN)
    assert pin_deviation(q) == pytest.approx(np.linalg.norm(disc - leg), abs=1e-14)
    assert pin_deviation(walker.closed_configuration(0.1, 0.2, 0.3, 0.7)) < 1e-15


def test_it_walks_one_stride_and_the_pins_stay_together(result):
    by_name = {r["formulation"]: r for r in records(result) if r["ground"] == "soft"}
    assert by_name["Hamiltonian closed"]["distance"] == pytest.approx(-0.95, abs=0.15)
    assert by_name["Hamiltonian closed"]["pin_deviation"] < 1e-12
    assert by_name["Hamiltonian"]["pin_deviation"] < 0.1 * by_name["Lagrange I"]["pin_deviation"]
    assert any("walks" in line for line in remarks(result))


def test_the_scene_joins_disc_and_legs():
    lines = shapes(walker.closed_configuration(0.0, 0.05, 0.02, 0.4))
    pin = lines["pins"][0]
    top, foot = lines["leg1"]
    along = (foot - top) / np.linalg.norm(foot - top)
    assert np.allclose(top + walker.PIN * along, pin, atol=1e-14)


def test_it_is_in_the_registry():
    assert STUDIES["walking-mechanism"] is WALKING_MECHANISM
