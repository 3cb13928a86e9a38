r"""A pair (x, y) driven by a third coordinate s through a nonholonomic constraint: Modin and Verdier's kind of test
problems.

    L = ½ (ẋ² + ẏ² + ṡ²) − U(x, y) − V(s),
    rows   (1, f(s), 0)  variable transmission    or   (sin s, −cos s, 0)  knife edge.

The driver moves alone, s̈ = −V′(s).  With e(s) = (−f, 1)/√(1 + f²) or (cos s, sin s) the pair has one speed u,
(ẋ, ẏ) = e u, and u̇ = −e·∂U: the frame is orthonormal and without gyroscopic terms.  Driver and driven energy,
½ ṡ² + V and ½ u² + U, are two separate integrals.

    f(s) = f₀ s + f₁ sin s + f₂ cos 2s,    V(s) = ½ c₀ s² − c₁ cos s − c₂ sin 2s,
    U = ½ (k x² + k y² + κ x² y²) − g x.

For quadratic U the pair obeys a linear equation with time-dependent coefficients; a symmetric discretisation keeps its
multipliers on the unit circle if a reversal maps the driver's orbit to itself.  A swinging driver always has one, a
rotating driver if V is even and f even or odd (`symmetric_driver`); otherwise the energy of most methods grows or
decays exponentially, and that of some stays.

Source: McLachlan and Perlmutter 2006, section 5.2 (contact oscillator); Modin and Verdier 2020 (the idea of the
perturbed and of the non-reversible members; the numbers here are this project's own).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from integrators.problem import Problem, Variable
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import entry, helper, ld, st
from liegroup.compile.scalars import sincos, sqrt
from liegroup.formulas.so2 import wrap
from liegroup.table import RN, table_of
from mechanics.nonholonomic.system import NonholonomicSystem
from mechanics.nonholonomic.written import Functions
from mechanics.systems.checks import signs


@helper
def _coupling(s: Any, parameters: Any) -> Any:
    """f and f′."""
    f0, f1, f2 = parameters[0], parameters[1], parameters[2]
    sine, cosine = sincos(s)
    return f0 * s + f1 * sine + f2 * (1.0 - 2.0 * sine * sine), f0 + f1 * cosine - 4.0 * f2 * sine * cosine


@helper
def _driver_potential(s: Any, parameters: Any) -> Any:
    """V and V′."""
    c0, c1, c2 = parameters[3], parameters[4], parameters[5]
    sine, cosine = sincos(s)
    return (
        0.5 * c0 * s * s - c1 * cosine - 2.0 * c2 * sine * cosine,
        c0 * s + c1 * sine - 2.0 * c2 * (1.0 - 2.0 * sine * sine),
    )


@helper
def _driven_potential(x: Any, y: Any, parameters: Any) -> Any:
    """U, ∂U/∂x, ∂U/∂y."""
    k, kappa, g = parameters[6], parameters[7], parameters[8]
    u = 0.5 * (k * (x * x + y * y) + kappa * (x * x) * (y * y)) - g * x
    return u, k * x + kappa * x * y * y - g, k * y + kappa * x * x * y


@helper
def _energies(z: Any, kinetic: Any, rate: Any, parameters: Any, out: Any) -> None:
    u, _, _ = _driven_potential(ld(z, 0), ld(z, 1), parameters)
    v, _ = _driver_potential(ld(z, 2), parameters)
    driver, driven = 0.5 * rate * rate + v, kinetic + u
    st(out, 0, driver + driven)
    st(out, 1, driver)
    st(out, 2, driven)


@entry(*FIELD_SIGNATURES)
def coordinate_field(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """State (x, y, s, ẏ, ṡ) of a variable transmission: (1 + f²) ÿ + f f′ ṡ ẏ = f ∂U/∂x − ∂U/∂y."""
    f, slope = _coupling(ld(z, 2), parameters)
    _, u_x, u_y = _driven_potential(ld(z, 0), ld(z, 1), parameters)
    _, v_s = _driver_potential(ld(z, 2), parameters)
    speed, rate = ld(z, 3), ld(z, 4)
    st(out, 0, -(f * speed))
    st(out, 1, speed)
    st(out, 2, rate)
    st(out, 3, (f * u_x - u_y - f * slope * rate * speed) / (1.0 + f * f))
    st(out, 4, -v_s)


@entry(*FIELD_SIGNATURES)
def coordinate_invariants(t: Any, z: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    f, _ = _coupling(ld(z, 2), parameters)
    _energies(z, 0.5 * (1.0 + f * f) * ld(z, 3) * ld(z, 3), ld(z, 4), parameters, out)


def _driver_energy(q: Any, v: Any, p: Any) -> Any:
    return 0.5 * v[2] * v[2] + _driver_potential(q[2], p)[0]


def _driven_energy(q: Any, v: Any, p: Any) -> Any:
    return 0.5 * (v[0] * v[0] + v[1] * v[1]) + _driven_potential(q[0], q[1], p)[0]


def _transmission_frame(q: Any, p: Any) -> Any:
    f, _ = _coupling(q[2], p)
    w = 1.0 / sqrt(1.0 + f * f)
    return [[-(f * w), 0.0], [w, 0.0], [0.0, 1.0]]


def _blade_row(q: Any, p: Any) -> Any:
    sine, cosine = sincos(q[2])
    return [[sine, -cosine, 0.0]]


def _blade_frame(q: Any, p: Any) -> Any:
    sine, cosine = sincos(q[2])
    return [[cosine, 0.0], [sine, 0.0], [0.0, 1.0]]


def _functions(rows: Callable[..., Any], frame: Callable[..., Any]) -> Functions:
    """u = (speed of the pair, ṡ)."""
    return Functions(
        group=table_of([(RN, 3)]),
        mass=lambda q, v, p: 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]),
        rows=rows,
        potential=lambda q, p: _driven_potential(q[0], q[1], p)[0] + _driver_potential(q[2], p)[0],
        frame=frame,
        metric=lambda p: (1.0, 1.0),
        gyro=lambda q, u, p: (0.0, 0.0),
        invariants={"driver_energy": _driver_energy, "driven_energy": _driven_energy},
        parameters=9,
    )


TRANSMISSION = _functions(lambda q, p: [[1.0, _coupling(q[2], p)[0], 0.0]], _transmission_frame)
KNIFE = _functions(_blade_row, _blade_frame)
_NAMES = ("energy", "driver_energy", "driven_energy")


@dataclass(frozen=True)
class Member:
    """One problem of the family: coupling (f₀, f₁, f₂), driver (c₀, c₁, c₂), pair (k, κ, g) and its start.

    `speed` is ẏ at the start for a variable transmission, the speed along the edge for a knife edge.
    """

    coupling: tuple[float, float, float]
    driver: tuple[float, float, float]
    pair: tuple[float, float, float]
    start: tuple[float, float, float]
    speed: float
    rate: float
    symmetric_driver: bool
    """A reversal maps the driver's orbit to itself."""
    rotating: bool
    """The driver turns round and round."""
    knife: bool = False


_BOWL, _START = (1.0, 0.0, 0.0), (0.8, 0.3, 0.2)
_F1, _F2, _V0, _V3 = (0.0, 1.0, 0.0), (0.0, 1.0, 0.5), (0.0, 1.0, 0.0), (0.0, 1.0, 0.3)
_NONE = (0.0, 0.0, 0.0)

MEMBERS: dict[str, Member] = {
    "CO0": Member((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), _BOWL, (1.0, 0.0, 1.0), -0.6, 1.0, True, False),
    "CO3": Member((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.3, 0.0), (1.0, 0.0, 1.0), -0.6, 1.0, True, False),
    "L0": Member(_F1, _V0, _BOWL, _START, 0.5, 1.3, True, False),
    "L3": Member(_F2, _V3, _BOWL, _START, 0.5, 1.0, True, False),
    "R0": Member(_F1, _V0, _BOWL, _START, 0.5, 2.6, True, True),
    "RV": Member(_F1, _V3, _BOWL, _START, 0.5, 2.6, False, True),
    "RVF": Member(_F2, _V3, _BOWL, _START, 0.5, 2.6, False, True),
    "RVF4": Member(_F2, _V3, (1.0, 0.3, 0.0), _START, 0.5, 2.6, False, True),
    "K": Member(_NONE, _NONE, (0.0, 0.0, 0.5), (0.0, 0.0, 0.0), 0.3, 1.0, True, True, knife=True),
    "B0": Member(_NONE, _V0, _BOWL, _START, 0.5, 2.6, True, True, knife=True),
    "B3": Member(_NONE, _V3, _BOWL, _START, 0.5, 2.6, False, True, knife=True),
}
"""CO contact oscillators, L swinging and R rotating drivers of a variable transmission, K knife edge on an incline, B
in a bowl.
"""


@entry(*FIELD_SIGNATURES)
def turned_back(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """The state with s in [−π, π]: a projection for drivers that turn round and round, where V and f have the period
    2π.

    An angle that grows for ever loses digits: after 10⁴ turns, five of its sixteen.
    """
    for i in range(y.shape[0]):
        st(out, i, ld(y, i))
    st(out, 2, wrap(ld(y, 2)))


def driven_pair(member: str | Member = "L0") -> NonholonomicSystem:
    """A problem of the family by name, or from numbers of your own.

    Parameters
    ----------
    member : str or Member
        A name of `MEMBERS`.

    Returns
    -------
    NonholonomicSystem
        With its start; its `problem` is the reduced form.

    Raises
    ------
    ValueError
        A name that is not in `MEMBERS`.

    Examples
    --------
    >>> system = driven_pair("B3")
    >>> system.n, system.m, system.problem().y0.shape
    (3, 1, (5,))
    """
    name, member = _member(member)
    q0, f = np.array(member.start), 0.0
    if not member.knife:
        f, _ = _coupling(member.start[2], member.coupling)
    return (KNIFE if member.knife else TRANSMISSION).system(
        model=f"driven-pair-{name}",
        variables=(Variable("position", ("x", "y", "s"), "1", "driven pair and driver"),),
        velocities=Variable("v", ("x", "y", "s"), "1/s"),
        quasi_velocities=Variable(
            "u", ("driven", "s"), "1/s", "speed of the pair along its admissible direction, and ṡ"
        ),
        parameters=[*member.coupling, *member.driver, *member.pair],
        q0=q0,
        u0=[member.speed * np.sqrt(1.0 + f * f), member.rate],
        invariant_units=("J", "J"),
        reversal=signs(1, 1, 1, -1, -1),
    )


def coordinate_problem(member: str | Member = "L0") -> Problem:
    """The same motion with the quasi-velocity ẏ, whose metric 1 + f² is not constant: state (x, y, s, ẏ, ṡ).

    For comparison only: what a frame costs that is not orthonormal.  ValueError for a knife edge (ẏ vanishes with sin
    s).
    """
    name, member = _member(member)
    if member.knife:
        raise ValueError(
            f"member: {name} is a knife edge, expected a variable transmission; its frame is orthonormal anyway"
        )
    return Problem(
        group=table_of([(RN, 5)]),
        y0=[*member.start, member.speed, member.rate],
        field=coordinate_field,
        parameters=[*member.coupling, *member.driver, *member.pair],
        structure=[3, 1, 0],
        variables=(Variable("position", ("x", "y", "s"), "1"), Variable("u", ("y", "s"), "1/s", "ẏ and ṡ")),
        invariants=coordinate_invariants,
        invariant_names=_NAMES,
        invariant_units=("J",) * 3,
        model=f"driven-pair-{name}-coordinate",
    )


def _member(member: str | Member) -> tuple[str, Member]:
    if isinstance(member, Member):
        return "own", member
    if member not in MEMBERS:
        raise ValueError(f"member: {member!r}, expected one of {', '.join(MEMBERS)}, or a Member")
    return member, MEMBERS[member]
