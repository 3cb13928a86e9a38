"""Asynchronous variational integrators: every element of its own step; the kernels come with the network or the rod.

The step of a run is the largest step of an element; others take it divided by powers of two (``AVI`` and its
compositions), or any part of it (``AVI_FREE``, by a heap, for comparison).  States are synchronous after every step.
Sources: Lew, Marsden, Ortiz and West 2003, 2004.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from integrators.method import Method
from integrators.steppers.own import by_own_steps, own_stepper
from integrators.tableaus import Composition

ASYNCHRONOUS = replace(own_stepper("asynchronous", "asynchronous"), remembers=True)
ASYNCHRONOUS_FREE = replace(ASYNCHRONOUS, name="asynchronous_free", own="asynchronous_free")
_SOURCE = "Lew, Marsden, Ortiz and West 2003"


def asynchronous(composition: Composition | None = None, name: str = "AVI", **changes: Any) -> Method:
    """Element steps in powers of two below the step of the run; symmetric, of order 2, or of that of a composition.

    Parameters
    ----------
    composition : Composition, optional
        Symmetric weights, for orders above 2.
    """
    return by_own_steps(ASYNCHRONOUS, composition, name, _SOURCE, **changes)


def free(name: str = "AVI_FREE", **changes: Any) -> Method:
    """Element steps of any size below the step of the run, by a heap: of order 2, not symmetric."""
    return Method(
        name=name,
        stepper=ASYNCHRONOUS_FREE,
        order=2,
        coefficients=np.ones(1),
        symplectic=True,
        source=_SOURCE,
        **changes,
    )
