"""Compositions of a symmetric method of second order:  y <- S(gₛh) … S(g₂h) S(g₁h) y, order p if the weights g say so.

Symplectic, momentum- or energy-preserving whenever S is; works for every stepper whose step depends on h and t alone.
An implicit S extrapolates nothing from substep to substep, because they differ in length: each starts from the field at
its own start. Sources: Suzuki 1990, Yoshida 1990, McLachlan 1995; Hairer, Lubich and Wanner, Geometric Numerical
Integration, V.3.

coefficients
    weights g (s), then those of S.
options
    substeps s; then a full set of options for S, with the common ones repeated.
own rows
    those of S.
"""

from __future__ import annotations

import inspect
from functools import cache
from typing import Any

import numpy as np

from integrators.layout import HISTORY, OWN_OPTIONS
from integrators.method import Method, Stepper
from integrators.signatures import STEP_SIGNATURES
from integrators.status import OK
from integrators.steppers.common import pass_on_last
from integrators.tableaus import Composition
from liegroup.compile import Entry, entry, helper, kernel

INNER = OWN_OPTIONS + 1
"""Where the options for S begin."""


@helper
def compose(
    inner: Any, weights: Any, past: Any, field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any,
    options: Any, parameters: Any, structure: Any, field_work: Any, work: Any, counters: Any,
) -> Any:  # fmt: skip
    """y <- S(gₛh) … S(g₁h) y by the kernel `inner` of S, with the arguments of a step; returns its status.

    Substeps differ in length: of the steps before, each may use the last `past`.  What is known of the field at the end
    of one is known at the start of the next.
    """
    s, time, status = weights.shape[0], t, OK
    for k in range(s):
        if k > 0:
            pass_on_last(work, counters)
        if s > 1:
            counters[HISTORY] = min(counters[HISTORY], past)
        part = weights[k] * h
        status = inner(
            field, time, part, y, low, table, coefficients, options, parameters, structure, field_work, work, counters
        )
        if status != OK:
            break
        time = time + part
    return status


@cache
def composed(stepper: Stepper) -> Stepper:
    """The stepper that composes the steps of another one."""
    if stepper.step is None:
        raise ValueError(
            f"composition: the stepper {stepper.name} leaves the step to the problem and cannot be composed here"
        )
    return Stepper(
        f"composed {stepper.name}",
        stepper.in_parts or in_parts(stepper.step),
        rows=lambda options: stepper.rows(options[1 + OWN_OPTIONS :]),
        maps=stepper.maps,
        groups=stepper.groups,
        prepare=stepper.prepare,
        prepares_at=stepper.prepares_at,
        evaluates=stepper.evaluates,
        needs=stepper.needs,
        follows=stepper.follows,
        remembers=stepper.remembers,
        shape=None if stepper.shape is None else lambda problem, options: _shape(stepper, problem, options),
        composes=(composed, stepper),
    )


def _shape(stepper: Stepper, problem: Any, options: Any) -> tuple[int, int]:
    assert stepper.shape is not None
    return stepper.shape(problem, options[1 + OWN_OPTIONS :])


def in_parts(base: Entry) -> Entry:
    """A step of substeps of another one, which is written into it with all it calls.

    Where a stepper has it (`Stepper.in_parts`), its own methods take one substep with it: its steps cost up to a
    quarter less than with the kernels of the stepper called by name, and the first of its compositions compiles
    nothing.  Small steps without kernels of their own lose by it.
    """
    inner = kernel(base.python)

    def step(
        field: Any, t: Any, h: Any, y: Any, low: Any, table: Any, coefficients: Any, options: Any, parameters: Any,
        structure: Any,
        field_work: Any, work: Any, counters: Any,
    ) -> Any:  # fmt: skip
        s = options[OWN_OPTIONS]
        own = options[INNER:]
        for i in range(OWN_OPTIONS):
            own[i] = options[i]
        return compose(
            inner, coefficients[:s], 0, field, t, h, y, low, table, coefficients[s:], own, parameters, structure,
            field_work, work, counters,
        )  # fmt: skip

    step.sources = (inspect.getsourcefile(base.python),)  # type: ignore[attr-defined]
    composed = entry(*STEP_SIGNATURES)(step)
    composed.recipe = in_parts, (base,)
    return composed


def composition(method: Method, weights: Composition, name: str = "") -> Method:
    """The composition of a symmetric method of order 2.

    Parameters
    ----------
    method : Method
        Symmetric, of order 2, such as `MIDPOINT`.
    weights : Composition
        For example ``COMPOSITIONS["SUZUKI4"]``.

    Raises
    ------
    ValueError
        If the method is not symmetric or not of order 2: the order would not be that of the weights.

    Examples
    --------
    >>> from integrators.methods import METHODS
    >>> from integrators.tableaus import COMPOSITIONS
    >>> composition(METHODS["MIDPOINT"], COMPOSITIONS["SUZUKI4"]).order
    4
    """
    if not method.symmetric or method.order != 2:
        how = "symmetric" if method.symmetric else "not symmetric"
        raise ValueError(
            f"composition: {method.name} is {how} and of order {method.order}; expected a symmetric method of order 2"
        )
    return Method(
        name=name or f"{method.name}_{weights.name}",
        stepper=composed(method.stepper),
        order=weights.order,
        coefficients=np.concatenate([weights.rounded, method.coefficients]),
        options=np.concatenate([[weights.stages], np.zeros(OWN_OPTIONS, dtype=np.int64), method.options]),
        evaluations=None if method.evaluations is None else weights.stages * method.evaluations,
        symmetric=weights.symmetric,
        symplectic=method.symplectic,
        source=f"{weights.source}; {method.source}",
        map=method.map,
        compensated=method.compensated,
    )
