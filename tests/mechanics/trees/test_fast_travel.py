"""On SE(3) implicit rules solve their steps up to a speed of travel: known, and named beyond it."""

import numpy as np
import pytest

from integrators import Status, integrate
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
