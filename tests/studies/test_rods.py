"""The study of rods: momenta, energy, and what each motion is known for."""

import pytest

from studies.rods.question import RodsConfig, records, run


@pytest.fixture(scope="module")
def found():
    rows = records(run(RodsConfig(quick=True, progress=False)))
    return {row["system"]: row for row in rows}


def test_every_rod_keeps_its_energy_and_the_free_one_its_momenta(found):
    assert all(row["success"] for row in found.values())
    assert all(row["energy_relative"] < 2e-4 for row in found.values())
    assert found["spaghetti"]["momentum_error"] < 1e-13


def test_the_end_of_the_spaghetti_is_where_it_must_be(found):
    assert found["spaghetti"]["feature"] == "loaded end at 3 s (4.04064, 0.79961, -1.62297)"


def test_the_cable_falls_faster_than_a_stone(found):
    assert 5.0 < float(found["cable"]["feature"].split()[-2]) < 25.0
