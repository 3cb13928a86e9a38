"""SciPy's own tests of `solve_ivp` with our methods in the place of RK23, RK45 and DOP853, y as plain numbers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import OdeSolver
from scipy.integrate._ivp import ivp
from scipy.integrate._ivp.tests import test_ivp as theirs

from integrators.adapters.scipy import LieDOP853, LieRK23, LieRK45

NOT_OURS = {
    "test_integration_complex": "complex states: elements of groups have real components; refused with SciPy's message",
    "test_inital_maxstep": "error_estimator_order, a private attribute of SciPy's classes, and its private first step",
}
"""Tests of SciPy's that do not apply, and why."""


def plain(name, solver):
    """A class for `solve_ivp` whose solvers take every number of y as a plain one."""

    def new(cls, fun, t0, y0, t_bound, **options):
        return solver(groups=np.size(y0))(fun, t0, y0, t_bound, **options)

    return type(name, (OdeSolver,), {"__new__": new})


OURS = {name: plain(name, solver) for name, solver in (("RK23", LieRK23), ("RK45", LieRK45), ("DOP853", LieDOP853))}


@pytest.fixture
def num_parallel_threads():
    return 1


@pytest.fixture(autouse=True)
def ours(monkeypatch):
    """Their tests find our classes under the names of theirs, and in `solve_ivp`, too."""
    for name, solver in OURS.items():
        monkeypatch.setattr(theirs, name, solver)
        monkeypatch.setitem(ivp.METHODS, name, solver)


globals().update(
    {name: test for name, test in vars(theirs).items() if name.startswith("test_") and name not in NOT_OURS}
)
