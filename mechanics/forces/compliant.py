"""Springs and dampers in the place of the equations of a closure: elastic joints, and a spring between two points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals
from liegroup.compile import helper
from liegroup.compile.scalars import arctan2, horner, less, select, sqrt
from mechanics.constraints.body_equations import DISTANCE, GIVEN
from mechanics.constraints.loops import Closure, Equation, holonomic, spherical, weld
from mechanics.errors import ModelError
from mechanics.forces.element import Element, OnEquation, between, not_negative
from mechanics.model.frames import Frame

TINY = 1e-300
"""Added to the square of a sine under its root: of half a turn."""
SMALL, TERMS = 0.06, 16
"""sin²(θ/2) below which the series of θ/sin θ is taken, and its terms."""
SERIES = tuple(float(np.prod([(2 * k + 2) / (2 * k + 3) for k in range(n)])) for n in range(TERMS))
"""θ/sin θ = Σ cₙ sin²ⁿ(θ/2) with cₙ₊₁ = cₙ (2n + 2)/(2n + 3)."""


@helper
def law(numbers: Any, phi: Any, rate: Any) -> Any:
    """−k φ − c φ̇; stores k φ²/2, loses c φ̇²."""
    stiffness, damping = numbers
    return -(stiffness * phi) - damping * rate, 0.5 * stiffness * phi * phi, -(damping * rate * rate)


@dataclass(frozen=True, eq=False)
class Compliant(OnEquation):
    """k in N/m (N·m/rad), c in N·s/m (N·m·s/rad)."""

    law = staticmethod(law)
    stiffness: float
    damping: float

    @property
    def smooth(self) -> bool:
        return self.equation.kind != GIVEN

    @property
    def dissipates(self) -> bool:
        return self.damping > 0.0

    @property
    def reads_velocities(self) -> bool:
        return self.damping != 0.0


def compliant(closure: Closure, stiffness: ArrayLike, *, damping: ArrayLike = 0.0) -> list[Element]:
    """Springs and dampers in the place of the equations of a closure (in its order): one number, or one per equation.

    Of a closure given as a function, `holonomic`, it is an elastic element of any law: forces −(k c + d ċ) ∂c, energy
    k c²/2, where c is a function of the pose of one frame in the other.

    Parameters
    ----------
    closure : Closure
        Not kept, but held elastically.
    stiffness : float or array (m,)
        k, N/m, and N·m/rad for equations of turns; one number, or one per equation.
    damping : float or array (m,)
        c, N·s/m and N·m·s/rad.

    Returns
    -------
    list of Element
        One per equation, for `Mechanism`: force −k φ − c φ̇, energy k φ²/2.

    Raises
    ------
    ModelError
        A coupling of joints; negative numbers.
    ValueError
        Another number of values.

    Examples
    --------
    >>> from mechanics.constraints import spherical
    >>> len(compliant(spherical(Frame(None), Frame("body")), 1e4, damping=10.0))
    3
    """
    of_kind(closure, Closure, "closure", "a closure, such as weld(first, second)")
    m = len(closure.equations)
    if closure.couples:
        raise ModelError(
            f"compliant {closure.name!r}", "it couples joints", "give a closing joint, or springs on joints"
        )
    k, c = _per_equation(stiffness, m, "stiffness"), _per_equation(damping, m, "damping")
    first, second = closure.first.body, closure.second.body
    ofs = [f"{equation.label!r} of {closure.name!r} {between(first, second)}" for equation in closure.equations]
    pairs = [
        (not_negative(x, "stiffness", of), not_negative(y, "damping", of)) for x, y, of in zip(k, c, ofs, strict=True)
    ]
    return [Compliant(first, second, equation, *pair) for equation, pair in zip(closure.equations, pairs, strict=True)]


def _per_equation(values: ArrayLike, count: int, name: str) -> NDArray[np.float64]:
    x = reals(values, name)
    if x.shape not in ((), (1,), (count,)):
        raise ValueError(f"{name}: shape {x.shape}, expected one number, or {count}, one per equation")
    return np.broadcast_to(x, (count,))


def bushing(first: Frame, second: Frame, stiffness: ArrayLike, *, damping: ArrayLike = 0.0) -> list[Element]:
    """An elastic joint: six stiffnesses (three shifts along the first frame's axes, N/m; turns about z, x, y,
    N·m/rad).

    For small turns: the equations of the weld are products of axes, φ = sin θ of a turn about one axis, whose torque
    k sin θ cos θ is weaker than k θ, has its most at 45° and is none at 90°.  A run that turns it further is doubtful
    (`turn`), also where it is free about that axis: turned by 90°, it holds only one of the two others.  Larger turns:
    `torsion_spring`; free about an axis: ``compliant(revolute(first, second), …)``.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    stiffness : float or array (6,)
        N/m along x, y, z of the first frame, N·m/rad about z, x, y.
    damping : float or array (6,)
        N·s/m and N·m·s/rad, in the same order.

    Returns
    -------
    list of Element
        Six, for `Mechanism`.

    Raises
    ------
    ValueError, ModelError
        Another number of values; negative ones.

    Examples
    --------
    >>> len(bushing(Frame(None), Frame("body"), [1e4, 1e4, 1e4, 10.0, 10.0, 10.0]))
    6
    """
    return compliant(weld(first, second, "bushing"), stiffness, damping=damping)


def spring_damper(
    first: Frame, second: Frame, stiffness: float, *, damping: float = 0.0, length: float = 0.0
) -> list[Element]:
    """Spring and damper between the origins of two frames: force −k (d − l) − c ḋ along their connection, energy k (d −
    l)²/2.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    stiffness : float
        k, N/m.
    damping : float
        c, N·s/m.
    length : float
        l of the relaxed spring, m.

    Returns
    -------
    list of Element
        One, for `Mechanism`; three, −k D along the axes of the first frame, where l = 0 and c = 0.

    Raises
    ------
    ModelError
        Negative numbers, two frames of one body; TypeError for what is no frame.

    Notes
    -----
    Where the two points coincide it has no direction, which is refused, unless l = 0 and c = 0; what is relaxed there,
    and damped in every direction, is ``compliant(spherical(first, second), stiffness, damping=damping)``.

    Examples
    --------
    >>> print(spring_damper(Frame(None), Frame("body"), stiffness=100.0, length=0.2)[0])
    Compliant 'length' between the base and 'body'
    """
    of_kind(first, Frame, "first", "a Frame")
    of_kind(second, Frame, "second", "a Frame")
    of = f"spring_damper {between(first.body, second.body)}"
    zero, length = np.zeros(3), not_negative(length, "length", of)
    equation = Equation(DISTANCE, zero, first.position, zero, second.position, length, "length")
    pair = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    if length == 0.0 and pair[1] == 0.0:  # −k D needs no direction
        return compliant(spherical(first, second, "spring_damper"), pair[0])
    return [Compliant(first.body, second.body, equation, *pair)]


def check_ends(
    elements: Iterable[Element], names: Sequence[str], poses: Callable[[], tuple[NDArray[np.float64], ...]]
) -> None:
    """ModelError where the two points of a spring coincide: it pulls along their connection, which has no direction.

    The poses of the bodies of these names are asked for where there is such a spring.
    """
    springs = [e for e in elements if isinstance(e, Compliant) and e.equation.kind == DISTANCE]
    if not springs:
        return
    at: dict[str | None, tuple[Any, ...]] = dict(zip(names, zip(*poses(), strict=True), strict=True))
    at[None] = np.zeros(3), np.eye(3)
    for spring in springs:
        if unknown := [body for body in (spring.first, spring.second) if body not in at]:
            remedy = f"name one of {', '.join(names)}, or None for the base"
            raise ModelError(str(spring), f"acts on an unknown body {unknown[0]!r}", remedy)
        (x, R), (y, S) = at[spring.first], at[spring.second]
        if not (y + S @ spring.equation.q - x - R @ spring.equation.p).any():
            raise ModelError(
                f"spring_damper {between(spring.first, spring.second)}",
                "joins two points that coincide in this configuration, so that its force has no direction",
                "move one of them, or hold them together by compliant(spherical(first, second), stiffness), which is "
                "relaxed there and pulls in every direction",
            )


def rotation_vector(x: Any, R: Any) -> list[Any]:
    """The rotation vector θ of R = exp θ̃, |θ| ≤ π, as equations of a `holonomic` closure.

    θ = (θ/sin θ) vex((R − Rᵀ)/2), where θ/sin θ is a power series in sin²(θ/2) for small turns.
    """
    trace = R[0][0] + R[1][1] + R[2][2]
    v = [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]
    u = 0.25 * (3.0 - trace)
    small = less(u, SMALL)
    sine = sqrt(select(small, 1.0, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + TINY)
    ratio = select(small, horner(SERIES, select(small, u, 0.0)), arctan2(sine, 0.5 * (trace - 1.0)) / sine)
    return [ratio * a for a in v]


def torsion_spring(first: Frame, second: Frame, stiffness: float, *, damping: float = 0.0) -> list[Element]:
    """Turns the axes of one frame to those of another: the moment −k θ on the second body, energy k |θ|²/2.

    θ is the rotation vector of the second frame in the first, |θ| ≤ π: about it by |θ| the first one turns into the
    second.  It is what MuJoCo calls the stiffness of a ball joint.

    Parameters
    ----------
    first : Frame
        On the first body; ``Frame(None, …)`` is fixed in space.
    second : Frame
        On the second body.
    stiffness : float
        k, N·m/rad.
    damping : float
        c, N·m·s/rad, against the rate of θ.

    Returns
    -------
    list of Element
        Three, one for every component of θ, for `Mechanism`.

    Raises
    ------
    ModelError
        Negative numbers; TypeError for what is no frame.

    Notes
    -----
    The energy has an edge where the frames are half a turn apart: the moment changes its sign there.

    References
    ----------
    MuJoCo, "Computation", passive forces: springs of ball joints.

    Examples
    --------
    >>> len(torsion_spring(Frame("upper"), Frame("lower"), 10.0, damping=0.1))
    3
    """
    of_kind(first, Frame, "first", "a Frame")
    of_kind(second, Frame, "second", "a Frame")
    of = f"torsion_spring {between(first.body, second.body)}"
    k, c = not_negative(stiffness, "stiffness", of), not_negative(damping, "damping", of)
    return compliant(holonomic(first, second, rotation_vector, "torsion spring"), k, damping=c)
