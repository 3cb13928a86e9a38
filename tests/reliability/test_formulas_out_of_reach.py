"""A formula that cannot be compiled is an exception wherever compiled code is called, never NaN without a word."""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import pytest

from integrators import integrate
from integrators.method import step_map
from integrators.methods import find
from liegroup.compile import LateBindingError, late, raise_pending
from mechanics.systems.bodies.heavy_top import heavy_top


@pytest.fixture
def out_of_reach(monkeypatch):
    """No formula can be bound, and none is."""
    monkeypatch.setattr(late, "_bound", {})
    kept = list(late._addresses)
    late._addresses[:] = [ctypes.cast(late._first_calls, ctypes.c_void_p).value] * late.SIZE

    def fails(place, in_lanes):
        raise MemoryError("no room for the formula")

    monkeypatch.setattr(late, "bind", fails)
    yield
    late._addresses[:] = kept


def test_a_step_as_a_map_raises(out_of_reach):
    problem = heavy_top()
    with pytest.raises(LateBindingError, match="no room for the formula"):
        step_map(problem, find("RKMK4"))(problem.y0, 1e-3)
    raise_pending()  # nothing is left


def test_a_run_raises_before_its_first_step(out_of_reach):
    with pytest.raises(MemoryError, match="no room for the formula"):
        integrate(heavy_top(), "RKMK4", (0.0, 0.1), 1e-2)


def test_the_values_of_a_problem_raise(monkeypatch):
    problem = heavy_top()
    problem.velocity(0.0, problem.y0)
    late.pending.first = LateBindingError("no room")  # as compiled code leaves it
    with pytest.raises(LateBindingError, match="no room"):
        problem.velocity(0.0, problem.y0)
    assert np.isfinite(problem.velocity(0.0, problem.y0)).all()


def test_what_one_thread_lacks_is_not_raised_in_another():
    late.pending.first = LateBindingError("of this thread")
    found = []
    thread = threading.Thread(target=lambda: found.append(late.pending.first))
    thread.start()
    thread.join()
    assert found == [None]
    with pytest.raises(LateBindingError, match="of this thread"):
        raise_pending()
