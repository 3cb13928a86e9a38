"""Ready-made systems of another size than a metre are measured by their own."""

import numpy as np
import pytest

from integrators import integrate
from mechanics.systems import SYSTEMS


@pytest.mark.parametrize("unit", [1.0, 1e3])
def test_a_ball_of_millimetres_is_measured_by_itself(unit):
    """A fall of a metre off its plane was "at play": it left the plane by a seventh of its radius with success."""
    radius, mass = 2e-3 * unit, 1e-3
    moments = tuple(mass * (2.0 * radius) ** 2 * np.array([0.06, 0.09, 0.13]))
    made = SYSTEMS["chaplygin-ball"].make(mass=mass, radius=radius, moments=moments, omega=(1.0, 2.5, -0.8))
    for problem in (made.problem(), made.constrained_problem()):
        size = 2.0 * radius * np.sqrt(0.13)
        assert problem.scales[:7] == pytest.approx([size] * 3 + [1.0] * 4)
        (guard,) = (guard for guard in problem.guards if guard.name == "energy")
        assert guard.change < 0.1 * problem.invariant_values(0.0, problem.y0)[0]
    run = integrate(made.problem(), "RKMK_HEUN2", (0.0, 8.0), 0.2, save_every=1)
    assert "energy" in [doubt.name for doubt in run.doubts]
    assert integrate(made.problem(), "RKMK_DOP853", (0.0, 8.0)).success
