"""Screws of equations and wrenches of elements at displaced links, by complex steps: exact derivatives of any formula.

A link of pose (R, x) and twist V that is displaced by the small twist u and whose twist changes by V' is at

    R (E + iε w̃),     x + iε R v,     V + iε V',        u = (v, w),

and what a formula makes of it has the derivative as its imaginary part over ε, without a difference.  Source: Squire
and Trapp 1998.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import COMPLEX_STEP, helper, never, rare
from liegroup.formulas.vectors import cross
from mechanics.algebra.vectors import rotated
from mechanics.closed_trees.forces import wrenches
from mechanics.closed_trees.poses import rates_at, screws_at
from mechanics.forces.element import BodyState

LOOPS = "short"

STEP = 1j * COMPLEX_STEP


@helper
def _stepped(a: Any, d: Any) -> Any:
    return a[0] + STEP * d[0], a[1] + STEP * d[1], a[2] + STEP * d[2]


@helper
def displaced(state: Any, u: Any, change: Any) -> Any:
    """The state of a link that moves by u and whose twist changes, six numbers each."""
    R, w = state.R, (u[3], u[4], u[5])
    a, b, c = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    a, b, c = _stepped(a, cross(a, w)), _stepped(b, cross(b, w)), _stepped(c, cross(c, w))  # rows of R w̃
    return BodyState(
        (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]),
        _stepped(state.x, rotated(R, (u[0], u[1], u[2]))),
        _stepped(state.v, (change[0], change[1], change[2])),
        _stepped(state.w, (change[3], change[4], change[5])),
    )


@rare(never, lambda parameters, structure, e, registers, i, j: ((registers.dtype,) * 6,) * 4)
def stepped_screws(parameters: Any, structure: Any, e: Any, registers: Any, i: Any, j: Any) -> Any:
    """W_i, W_j, N_i, N_j of an equation between two links; its tape plays in line 0 of `registers`."""
    _, W_i, W_j = screws_at(parameters, structure, e, registers, 0, i.R, i.x, j.R, j.x)
    N_i, N_j = rates_at(parameters, structure, e, registers, 0, i.R, i.x, j.R, j.x, i.v, i.w, j.v, j.w)
    return W_i, W_j, N_i, N_j


@rare(never, lambda t, parameters, structure, element, registers, i, j: ((registers.dtype,) * 6,) * 2)
def stepped_wrenches(t: Any, parameters: Any, structure: Any, element: Any, registers: Any, i: Any, j: Any) -> Any:
    """The wrenches of an element on two links."""
    return wrenches(t, parameters, structure, element, registers, 0, i, j)


@helper
def values(a: Any, b: Any) -> Any:
    """Twelve numbers of two times six: what they are without a step."""
    return (
        a[0].real, a[1].real, a[2].real, a[3].real, a[4].real, a[5].real,
        b[0].real, b[1].real, b[2].real, b[3].real, b[4].real, b[5].real,
    )  # fmt: skip


@helper
def slopes(a: Any, b: Any) -> Any:
    """The same of their derivatives."""
    k = 1.0 / COMPLEX_STEP
    return (
        k * a[0].imag, k * a[1].imag, k * a[2].imag, k * a[3].imag, k * a[4].imag, k * a[5].imag,
        k * b[0].imag, k * b[1].imag, k * b[2].imag, k * b[3].imag, k * b[4].imag, k * b[5].imag,
    )  # fmt: skip
