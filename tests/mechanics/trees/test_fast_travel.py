"""On SE(3) implicit rules solve their steps up to a speed of travel: known, and named beyond it; rounding turns what
flies fast.
"""

import numpy as np
import pytest

from integrators import Problem, Status, integrate, suggest_step
from liegroup import product, rn, so3
from mechanics import Body, Inertia, Tree
from mechanics.joints import Free

MASS, INERTIA, STEP = 1.0, 0.005, 0.02


def flight(number):
    """Uniform, slowly turning, with h v sqrt(m/I) as given."""
    inertia = Inertia.about_com(MASS, (0, 0, 0), INERTIA * np.diag([1.0, 1.2, 1.4]))
    tree = Tree([Body("body", Free(), inertia=inertia)], gravity=(0, 0, 0))
    speed = number / STEP * np.sqrt(INERTIA / MASS)
    return tree.problem(tree.neutral(), [speed, 0, 0, 0.1, 0.2, 0.3]), speed


@pytest.mark.parametrize(("method", "number"), [("MIDPOINT", 3.5), ("VARIATIONAL_GAUSS2", 2.4), ("LGVI_CAYLEY", 1.9)])
def test_the_number_of_a_method(method, number):
    slow, speed = flight(0.6 * number)
    run = integrate(slow, method, (0.0, 0.2), STEP)
    assert run.finished
    assert run["q"][-1, 0] == pytest.approx(0.2 * speed, rel=0.1)
    fast, speed = flight(1.5 * number)
    assert integrate(fast, method, (0.0, 0.2), STEP).status in (Status.NOT_CONVERGED, Status.NON_FINITE)


@pytest.mark.parametrize("method", ["GAUSS8", "RKMK_GAUSS2", "TREE_VARIATIONAL"])
def test_others_know_no_such_number(method):
    problem, speed = flight(20.0)
    run = integrate(problem, method, (0.0, 0.2), STEP)
    assert run.success
    assert run["q"][-1, 0] == pytest.approx(0.2 * speed, rel=0.05)


def test_a_satellite_at_orbital_speed_is_turned_by_rounding_and_not_where_its_flight_is_left_out():
    """Ten minutes at 7.5 km/s, against the same body that only turns."""
    centre, turn, tensor = np.array([0.1, 0.05, -0.2]), np.array([0.02, -0.01, 0.03]), np.array([120.0, 100.0, 60.0])
    tree = Tree([Body("body", Free(), inertia=Inertia.about_com(500.0, centre, np.diag(tensor)))], gravity=(0, 0, 0))
    way = np.array([4500.0, 6000.0, 0.0])
    still, flying = (
        tree.problem(tree.neutral(), [*(travel - np.cross(turn, centre)), *turn]) for travel in (0.0 * way, way)
    )
    attitudes = [integrate(problem, "RKMK4", (0.0, 600.0), 1.0)["q"][-1, 3:] for problem in (still, flying)]
    assert 1e-5 < np.abs(attitudes[1] - attitudes[0]).max() < 1e-4
    assert suggest_step(flying) < 1e-3 < 10.0 < suggest_step(still)

    def apart(t, y):
        return [*y[7:10], *y[10:], 0.0, 0.0, 0.0, *(np.cross(tensor * y[10:], y[10:]) / tensor)]

    start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *way, *turn]
    own = integrate(Problem(product(rn(3), so3, rn(3), rn(3)), start, apart), (0.0, 600.0))
    assert own.steps < 100
    exact = integrate(still, "GAUSS8", (0.0, 600.0), 1.0)["q"][-1, 3:]
    assert np.abs(own.y[-1, 3:7] - exact).max() < 1e-12
