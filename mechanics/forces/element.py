"""What a force element is: where it acts, its numbers, and its law.

An element acts at one of four places.  A kind is a frozen dataclass derived from that place, in a file of its own,
with its law as a formula of scalars (a `helper`):

==============  ==================================================  ================================================
place           the law gets                                        and gives
==============  ==================================================  ================================================
`OnJoint`       numbers, coordinate x of a joint, or length x of a  force along x, energy U, power of what is not U
                `Tendon` over several, rate s
`OnEquation`    numbers, φ of one equation between bodies, rate φ̇   force along φ, U, power
`OnBodies`      numbers, `BodyState` of either body                 force on the first body and its arms, U, power
`OnScrew`       numbers, 0, rate s along a screw of one body        multiple of the screw, U, power
==============  ==================================================  ================================================

A kind with a field `motion`, a function of time, is *driven*: its law gets value and rate of the motion, too.  Where
the motion is None the value is an input of the problem (`integrators.problem.Inputs`), held, and its rate 0.  The
balance d(T + V + U)/dt = P holds exactly, with U the energies stored in all elements and P the power of the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, real, reals, shown
from mechanics.constraints.loops import Equation, check_freedom
from mechanics.errors import ModelError
from mechanics.forces.tendon import Tendon, Transmission
from mechanics.joints import Motion
from mechanics.model.frames import Frame

Array = NDArray[np.float64]
IN_BODY, IN_WORLD = range(2)
"""Whose axes the screw of an `OnScrew` has, in the kernels."""
ON_JOINT, ON_EQUATION, ON_TENDON, ON_BODIES, ON_SCREW = range(5)
"""Where elements act in the kernels, along one number before others; on a tendon are those of `OnJoint` that name one.
"""


class BodyState(NamedTuple):
    """Where a body is and how it moves, as laws get it; the body is the link of the tree that carries the user's body.

    Attributes
    ----------
    R : nine scalars, by rows
        Body → world axes.
    x : three scalars
        Body origin, world axes, m.
    v : three scalars
        Velocity of the body origin, body axes, m/s.
    w : three scalars
        Angular velocity, body axes, rad/s.

    Examples
    --------
    What the law of an `OnBodies` element is handed twice; see `contact`.
    """

    R: Any
    x: Any
    v: Any
    w: Any


@dataclass(frozen=True)
class Element:
    """Base of all force elements.

    Attributes
    ----------
    law : helper
        See the module.  Laws of a joint and of an equation get the fields of the dataclass that are numbers, in order.

    Examples
    --------
    >>> from mechanics import Frame
    >>> from mechanics.forces import joint_spring
    >>> spring = joint_spring("hinge", stiffness=10.0)[0]
    >>> spring.names(), spring.size(), spring.numbers, spring.is_driven(), spring.dissipates
    (['stiffness', 'damping', 'rest'], 3, [10.0, 0.0, 0.0], False, False)
    """

    law: ClassVar[Callable[..., Any]]
    place: ClassVar[int]
    not_numbers: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def names(cls) -> list[str]:
        """The fields that are numbers, in order."""
        return [f.name for f in fields(cls) if f.name not in cls.not_numbers]

    @classmethod
    def size(cls) -> int:
        """How many numbers the law gets."""
        return len(cls.names())

    @classmethod
    def is_driven(cls) -> bool:
        """Whether the law gets a motion."""
        return any(f.name == "motion" for f in fields(cls))

    @property
    def choices(self) -> list[int]:
        """Which formulas its law takes: of a law that asks its numbers, those that it asks (the fields that are `int`).
        Variants that choose otherwise do not run together in lanes, where a law asks with `any_`.
        """
        return [getattr(self, f.name) for f in fields(self) if f.type in (int, "int")]

    @property
    def is_input(self) -> bool:
        """Whether what it follows is an input of the problem."""
        return self.is_driven() and getattr(self, "motion") is None  # noqa: B009

    @property
    def input_name(self) -> str:
        """What the input is called."""
        return str(self)

    def input_unit(self, turns: bool) -> str:
        """Its unit.

        Parameters
        ----------
        turns : bool
            Whether the coordinate that it acts on is an angle.

        Returns
        -------
        str
            For tables.
        """
        return "N m" if turns else "N"

    @property
    def reads_time(self) -> bool:
        """Whether the force depends on time by itself: not as an input."""
        return self.is_driven() and not self.is_input and not getattr(self, "motion").is_constant  # noqa: B009

    @property
    def drives(self) -> bool:
        """Whether it may bring in energy."""
        return self.is_driven()

    @property
    def dissipates(self) -> bool:
        """Whether it may lose energy."""
        return True

    @property
    def smooth(self) -> bool:
        """Whether its force changes smoothly along every motion: nothing hits, sticks or becomes taut."""
        return False

    @property
    def strikes(self) -> bool:
        """Whether there is a force only where something touches or is taut: steps may lead past that."""
        return False

    @property
    def has_kinks(self) -> bool:
        """Whether the force, or its slope, jumps somewhere on the way: methods of high order lose it there."""
        return self.strikes

    @property
    def reads_velocities(self) -> bool:
        """Whether the force depends on velocities; then a variational step finds it together with the motion."""
        return True

    @property
    def numbers(self) -> list[float]:
        """Values of the fields that are numbers, in order."""
        return [float(getattr(self, name)) for name in self.names()]


@dataclass(frozen=True)
class OnJoint(Element):
    """A force on one coordinate of a joint, or along a tendon: ``law(numbers, x, s)`` → force, stored energy, power.

    Attributes
    ----------
    joint : str, (str, int) or Tendon
        Name of a joint of one coordinate, one freedom of a joint of several as (name, number), or a tendon, whose
        length is x and whose rate is s.

    Examples
    --------
    See `joint_spring`.
    """

    place = ON_JOINT
    not_numbers: ClassVar[tuple[str, ...]] = ("joint", "motion", "name")
    linear: ClassVar[bool] = False
    """Whether the force is linear in x and s, whatever the numbers: its derivatives are then found for nothing."""
    joint: Transmission

    def __str__(self) -> str:
        where = str(self.joint) if isinstance(self.joint, Tendon) else f"joint {self.joint!r}"
        return f"{type(self).__name__} on {where}"

    def __post_init__(self) -> None:
        if not isinstance(self.joint, Tendon):
            check_freedom(self.joint, "joint")

    @property
    def counts_turns(self) -> bool:
        """Whether the force depends on x, beyond whole turns: such an element does not act on an angle of a circle."""
        return True


@dataclass(frozen=True, eq=False)
class OnEquation(Element):
    """A force along φ, one equation of a closure that is not kept: ``law(numbers, phi, rate)`` → force, stored energy,
    power.

    Attributes
    ----------
    first, second : str or None
        Names of the bodies; None is the base.
    equation : Equation
        Of a closure (`mechanics.constraints.loops`).

    Raises
    ------
    ModelError
        The equation of a coupling of joints; both ends on one body.

    Examples
    --------
    See `bushing`.
    """

    place = ON_EQUATION
    not_numbers = ("first", "second", "equation")
    first: str | None
    second: str | None
    equation: Equation

    def __post_init__(self) -> None:
        of_kind(self.equation, Equation, f"{type(self).__name__}: equation", "an Equation")
        if self.equation.joints:
            raise ModelError(str(self), "its equation couples joints", "give one of a closing joint")
        if self.first == self.second:
            raise ModelError(str(self), f"joins body {self.first!r} to itself", "name two different bodies")

    def __str__(self) -> str:
        return f"{type(self).__name__} {self.equation.label!r} {between(self.first, self.second)}"


@dataclass(frozen=True, eq=False)
class OnBodies(Element):
    """A force at a point of one body, its opposite at a point of another.

    ``law(numbers, first, second)`` → force on the first (world axes), the point seen from either body's origin (world
    axes), stored energy, power.

    Attributes
    ----------
    first, second : Frame
        On the body that the force acts on, and on the one that its opposite acts on.
    SIZE : int
        How many numbers the law reads; `numbers_of` gives them.

    Examples
    --------
    See `contact`.
    """

    place = ON_BODIES
    first: Frame
    second: Frame

    def __str__(self) -> str:
        return f"{type(self).__name__} {on_which(self.first.body, self.second.body)}"

    SIZE: ClassVar[int]

    @classmethod
    def size(cls) -> int:
        return cls.SIZE

    def numbers_of(self, first: Frame, second: Frame) -> Array:
        """The numbers of the law, which each kind gives, with the element's frames in the axes of the bodies that the
        law gets.

        Parameters
        ----------
        first, second : Frame
            The element's frames, in the axes of the links.

        Returns
        -------
        array (size,)
            What the law reads.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OnScrew(Element):
    """A force and a moment on a body that keep their directions and their ratio: ``law(numbers, 0, s)`` → F, U, power,
    where F times the screw acts, and s is the power of the screw itself.

    Attributes
    ----------
    frame : Frame
        On the body: where the force acts, and, unless `in_world`, the axes.
    force, moment : three floats
        The screw: force and moment at F = 1.
    in_world : bool
        Along the axes of the world.

    Raises
    ------
    ModelError
        A force or moment that is not three finite numbers; both zero.

    Examples
    --------
    See `wrench`.
    """

    place = ON_SCREW
    not_numbers = ("frame", "force", "moment", "in_world", "motion", "name")
    frame: Frame
    force: tuple[float, float, float]
    moment: tuple[float, float, float]
    in_world: bool

    def __post_init__(self) -> None:
        where = type(self).__name__
        of_kind(self.frame, Frame, f"{where}: frame", "a Frame")
        for name in ("force", "moment"):
            object.__setattr__(self, name, three(getattr(self, name), f"{where}: {name}"))
        if not any((*self.force, *self.moment)):
            raise ModelError(str(self), "has neither force nor moment", "give one of them")

    def __str__(self) -> str:
        return f"{type(self).__name__} on {_body(self.frame.body)}"

    @property
    def screw(self) -> Array:
        """Force and moment at F = 1, in the axes of the body or of the world, and the point in those of the body."""
        axes = np.eye(3) if self.in_world else self.frame.rotation
        return np.concatenate([axes @ self.force, axes @ self.moment, self.frame.position])


def _body(name: str | None) -> str:
    return "the base" if name is None else repr(name)


def between(first: str | None, second: str | None) -> str:
    """The two bodies that an element joins, in words."""
    return f"between {_body(first)} and {_body(second)}"


def on_which(first: str | None, second: str | None) -> str:
    """A body and what it touches, in words."""
    return f"of {_body(first)} on {_body(second)}"


def three(values: ArrayLike, where: str) -> tuple[float, float, float]:
    """Three finite numbers; TypeError, ValueError or ModelError for anything else."""
    x = reals(values, where)
    if x.shape != (3,) or not np.isfinite(x).all():
        raise ModelError(where, f"is {x.tolist()}", "give three finite numbers")
    a, b, c = x.tolist()
    return a, b, c


def motion_or_input(motion: Any, what: str, joint: str) -> Motion | None:
    """A motion, or None for an input; TypeError says where functions of other kinds go."""
    if motion is None or isinstance(motion, Motion):
        return motion
    given = "a function" if callable(motion) else shown(motion)
    raise TypeError(
        f"{what}: {given}, expected a Motion, or nothing: it is then an input, which "
        f"problem.with_inputs({{{joint!r}: …}}) gives as a number or as a function f(t), f(t, q, v)"
    )


def not_negative(x: float, name: str, of: str = "force element") -> float:
    """The number x, checked: finite and not negative.

    Parameters
    ----------
    x : float
        In any unit.
    name : str
        What the message calls it.
    of : str
        Of which element it is, for the message.

    Returns
    -------
    float
        x.

    Raises
    ------
    ModelError
        A negative or infinite number; TypeError for what is none.

    Examples
    --------
    >>> not_negative(2, "stiffness")
    2.0
    """
    x = real(x, name, "a finite number that is not negative", lambda _: True)
    if not (np.isfinite(x) and x >= 0.0):
        raise ModelError(f"{of}: {name}", f"is {x}", "give a finite number that is not negative")
    return x
