"""Methods whose step the problem brings: what all of them are, symmetric and symplectic, of order 2 or composed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from integrators.method import Method, Stepper
from integrators.tableaus import Composition
from integrators.tableaus.numbers import floats


def without_data(options: Any) -> int:
    """What a step reads that belongs to the problem alone: nothing of the method's (by name, so that methods copy)."""
    return 0


def own_stepper(name: str, own: str) -> Stepper:
    """The stepper of a kind of own steps, which takes the weights of a composition as its coefficients."""
    return Stepper(name, None, without_data, maps=("exp",), own=own, needs="own step", evaluates="nothing")


def by_own_steps(stepper: Stepper, composition: Composition | None, name: str, source: str, **changes: Any) -> Method:
    """The method of order 2, or that of a symmetric composition of its steps."""
    return Method(
        name=name,
        stepper=stepper,
        order=2 if composition is None else composition.order,
        coefficients=np.ones(1) if composition is None else floats(composition.weights).copy(),
        symmetric=True,
        symplectic=True,
        source=source,
        **changes,
    )


def substeps(method: Method) -> list[tuple[Method, float]]:
    """The parts of a composition of own steps: plain steps, each with its part of the step size."""
    given, weights = np.split(method.coefficients, [method.stepper.before_weights])
    plain = replace(method, coefficients=np.append(given, 1.0), order=2)
    return [(plain, float(weight)) for weight in weights]
