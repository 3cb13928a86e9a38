"""Couplings: equations between joint coordinates, as closures of a mechanism.

=============  =========  ==========================================  ==================================================
closure        equations  equation                                    for
=============  =========  ==========================================  ==================================================
`gear`         1          q_first = ratio · q_second + offset         gears (ratio < 0 if they mesh outside), belts,
                                                                      chains (> 0), racks, lead screws, mimic joints
`polynomial`   1          q_first = a₀ + a₁ q_second + a₂ q_second²…  MJCF's <joint> equalities; a joint held at a₀
`coupling`     any        c(q₁, …, q_k) = 0, a function of your own   cams, differentials, planetary gears, cable drives
=============  =========  ==========================================  ==================================================

A joint is named, or one freedom of a joint of several is given as (name, number): turns, slides and screws, anywhere in
the tree. On `Continuous` joints the equation must be the same after a whole turn (a cam); what counts turns needs
`Revolute`.  Reactions act along the joints and do no work.  Drake calls `gear` a coupler constraint, Modelica an ideal
gear, URDF a mimic joint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from liegroup.arrays import of_kind, real, reals, sequence
from mechanics.constraints.body_equations import COUPLING
from mechanics.constraints.coupling_equations import tapes
from mechanics.constraints.loops import Closure, Equation, JointFreedom, check_freedom
from mechanics.errors import ModelError
from mechanics.model.frames import Frame

MIMIC = "mimic"
"""Kind of the couplings of model files whose first joint follows the second."""


def coupling(
    joints: Sequence[JointFreedom], function: Callable[..., Any], name: str = "", kind: str = "coupling"
) -> Closure:
    """Equations given as a function of joint coordinates.

    Parameters
    ----------
    joints : sequence of str or (str, int)
        Joints of one freedom, or single freedoms of others, every one once.
    function : callable
        ``c(q_1, …, q_k)`` → the number or numbers that the motion keeps at zero, of the size of angles in rad or
        lengths in m.  A plain function of scalars with + − * / ** and the functions of NumPy or
        `liegroup.compile.scalars`, no `if` on a value; it is differentiated exactly, twice.  Where the motion passes a
        corner (of `abs`, `maximum`) the velocities jump as in a plastic blow, and energy is lost without a doubt; where
        it bends sharply, steps must resolve that.
    name : str
        For messages and results; default from the joints.
    kind : str
        What `Closure.kind` says.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    TypeError, ModelError
        The function cannot be traced, returns nothing, does not depend on one of the joints, or holds a number that is
        not finite; a joint is named twice.

    Examples
    --------
    A cam that lifts its follower by 10 mm, and a differential:

    >>> import numpy as np
    >>> coupling(["cam", "follower"], lambda turn, lift: lift - 0.005 * (1 - np.cos(turn)))
    <coupling 'coupling cam–follower': cam – follower, 1 equation>
    >>> coupling(["shaft", "left", "right"], lambda shaft, left, right: shaft - (left + right) / 2, "differential")
    <coupling 'differential': shaft – left – right, 1 equation>
    """
    of_kind(name, str, "name", "a text")
    places = sequence(joints, "joints", "a sequence of names of joints")
    for place in places:
        check_freedom(place, "joints")
    labels = [j if isinstance(j, str) else f"{j[0]}.{j[1]}" for j in places]
    name = name or f"{kind} {'–'.join(labels)}"
    if len(set(places)) < len(places) or not places:
        raise ModelError(
            f"closure {name!r}",
            f"couples the joints {', '.join(labels) or '()'}",
            "name one or more joints, every one once",
        )
    zero = np.zeros(3)
    found = tapes(function, labels, f"closure {name!r}")
    several = len(found) > 1
    equations = [
        Equation(COUPLING, zero, zero, zero, zero, 1.0, f"number {k}" if several else kind, tape, places)
        for k, tape in enumerate(found)
    ]
    return Closure(kind, Frame(None), Frame(None), tuple(equations), (), name)


def gear(first: JointFreedom, second: JointFreedom, ratio: float, offset: float = 0.0, name: str = "") -> Closure:
    """q_first = ratio · q_second + offset: a gear pair, a belt, a rack, a lead screw, a mimic joint.

    Parameters
    ----------
    first, second : str or (str, int)
        Joints of one freedom, or single freedoms of others.
    ratio : float
        Not zero (dimensionless, or m per rad).  Wheels of radii r₁, r₂ that mesh outside have −r₂/r₁, with a belt
        r₂/r₁; a rack on a pinion of radius r has r in m.
    offset : float
        rad or m.
    name : str
        For messages and results; default from the joints.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        A ratio that is zero or not finite, an offset that is not finite.

    Examples
    --------
    >>> gear("left", "right", -0.5)
    <gear 'gear left–right': left – right, 1 equation>
    """
    ratio, offset = (real(x, which, holds=lambda _: True) for which, x in (("ratio", ratio), ("offset", offset)))
    for which, x in (("ratio", ratio), ("offset", offset)):
        if not np.isfinite(x):
            raise ModelError(f"gear {name or first!r}", f"{which} {x}", "give a finite number")
    if ratio == 0.0:
        raise ModelError(
            f"gear {name or first!r}", "ratio 0", "give a ratio that is not zero, or hold the joint with `polynomial`"
        )
    return polynomial(first, second, (offset, ratio), name, "gear")


def polynomial(
    first: JointFreedom,
    second: JointFreedom | None,
    coefficients: Sequence[float],
    name: str = "",
    kind: str = "polynomial",
) -> Closure:
    """q_first = a₀ + a₁ q_second + a₂ q_second² + …; without a second joint q_first = a₀.

    Parameters
    ----------
    first : str or (str, int)
        A joint of one freedom, or a single freedom.
    second : str, (str, int) or None
        The joint it depends on.
    coefficients : sequence of float
        a₀, a₁, … in rad or m over powers of rad or m.
    name : str
        For messages and results; default from the joints.
    kind : str
        What `Closure.kind` says.

    Returns
    -------
    Closure
        For `Mechanism`.

    Raises
    ------
    ModelError
        No coefficients, numbers that are not finite, or powers without a second joint.

    Examples
    --------
    >>> polynomial("finger", "knuckle", (0.1, 0.5, 0.2))
    <polynomial 'polynomial finger–knuckle': finger – knuckle, 1 equation>
    """
    check_freedom(first, "first")
    if second is not None:
        check_freedom(second, "second")
    a = reals(coefficients, "coefficients")
    if a.ndim != 1 or not a.size or not np.isfinite(a).all():
        raise ModelError(
            f"{kind} {name or first!r}", f"coefficients {a.tolist()}", "give one or more finite numbers, a0 first"
        )
    if second is None and a[1:].any():
        raise ModelError(
            f"{kind} {name or first!r}",
            f"coefficients {a.tolist()} without a second joint",
            "name the joint whose powers they multiply, or give a0 alone",
        )
    if second is None or not a[1:].any():
        return coupling([first], lambda y: y - a[0], name, kind)

    def equation(y: Any, x: Any) -> Any:
        value = a[-1]
        for coefficient in a[-2::-1]:
            value = value * x + coefficient
        return y - value

    return coupling([first, second], equation, name, kind)
