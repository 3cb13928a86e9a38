"""The simulation of a campaign on a cluster, at the limits where its result is known."""

import pytest

from benchmarks.campaign import Costs, simulated

FREE = Costs(0.0, 0.0, 1.0)


def test_without_overheads_one_core_is_always_busy():
    assert simulated(1, 50, 1.0, FREE) == pytest.approx(1.0)
    assert 0.9 < simulated(100, 4000, 1.0, FREE) <= 1.0


@pytest.mark.parametrize("costs", [Costs(0.01, 0.0, 1.0), Costs(0.0, 20.0, 2000.0)], ids=["scheduler", "store"])
def test_one_server_limits_the_cores_to_its_rate(costs):
    """1000 cores with chunks of a second want a thousand tasks in a second; the server does a hundred."""
    assert simulated(1000, 20000, 1.0, costs) == pytest.approx(0.1, rel=0.02)
    assert simulated(10, 2000, 1.0, costs) > 0.85
