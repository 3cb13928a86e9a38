"""Group elements as objects for people: immutable, batch-aware, written with ``@``; every formula is the group's.

>>> from liegroup.elements import SE3, SO3
>>> turn = SO3.exp([0.0, 0.0, 0.5])
>>> (turn @ turn).log()
array([0., 0., 1.])
>>> pose = SE3.of([1.0, 2.0, 3.0], turn)
>>> (pose @ pose.inv()).is_close(SE3.identity())
True

An object holds one element or an array of them; leading axes broadcast in every operation.  ``to_dict`` gives plain
lists and names (for JSON, TOML, …), ``from_dict`` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from liegroup import group as groups
from liegroup.arrays import Array, call, check_broadcast, numbers
from liegroup.group import Group
from liegroup.modules import listing

__all__ = [
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "Element",
]
__dir__ = listing(__all__)


class Element:
    """Base of `SO2`, `SO3`, `SE2`, `SE3`: coordinates ``q`` of shape ``(…, n_q)`` in a `Group`.

    Parameters
    ----------
    q : array (…, n_q)
        Coordinates as the group stores them.

    Raises
    ------
    ValueError
        Coordinates that are not in the group; the message names the remedy.

    Examples
    --------
    >>> from liegroup.elements import SE3, SO3
    >>> g = SO3.exp([0.0, 0.0, 0.5])
    >>> (g @ g).log().tolist(), g.inv().is_close(SO3.exp([0.0, 0.0, -0.5]))
    ([0.0, 0.0, 1.0], True)
    >>> g.act([1.0, 0.0, 0.0]).round(6).tolist(), g.adjoint().shape, g.as_matrix().shape
    ([0.877583, 0.479426, 0.0], (3, 3), (3, 3))
    >>> SO3.identity().interpolate(g, 0.5).log().round(12).tolist(), float(SO3.identity().distance(g))
    ([0.0, 0.0, 0.25], 0.5)
    >>> SO3.from_dict(g.to_dict()) == g, SO3.from_matrix(g.as_matrix()).is_close(g), SO3.random(0, 7).shape
    (True, True, (7,))
    """

    __slots__ = ("q",)
    __array_ufunc__ = None  # an array on the left of @ is an error, not an array of objects
    group: ClassVar[Group]
    fields: ClassVar[Mapping[str, slice | int]]
    """Names of the parts of q, for `to_dict` and repr."""
    q: Array

    def __init__(self, q: ArrayLike) -> None:
        self._hold(np.array(self.group.check(q, "q"), dtype=np.float64))

    def _hold(self, coordinates: Array) -> None:
        coordinates.setflags(write=False)
        object.__setattr__(self, "q", coordinates)

    def _verb(self, name: str, *arrays: Array) -> Array:
        """A formula of the group; elements were checked when they were made, so nothing but shapes is checked again."""
        if len(arrays) > 1:
            check_broadcast(**{f"operand {k}": a for k, a in enumerate(arrays, 1)})
        return call(getattr(self.group.factors[0][0], name), arrays)

    @classmethod
    def _trusted(cls, coordinates: Array) -> Self:
        """An element from coordinates that the group itself computed."""
        made = object.__new__(cls)
        made._hold(coordinates)
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable: make a new one instead of setting {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._trusted, (self.q,)  # for copies and other processes: no attribute is set

    # --- making -------------------------------------------------------------------------------------------------------

    @classmethod
    def identity(cls, shape: Sequence[int] | int = ()) -> Self:
        """The identity, repeated over `shape`.

        Parameters
        ----------
        shape : int or sequence of int
            Leading shape.

        Returns
        -------
        Element
            One, or an array of them.
        """
        return cls._trusted(cls.group.identity(shape))

    @classmethod
    def exp(cls, x: ArrayLike) -> Self:
        """exp of algebra elements (…, n_v).

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.

        Returns
        -------
        Element
            One, or an array of them.
        """
        return cls._trusted(cls.group.exp(x))

    @classmethod
    def random(cls, rng: np.random.Generator | int | None = None, shape: Sequence[int] | int = ()) -> Self:
        """Random elements, as `Group.random`.

        Parameters
        ----------
        rng : Generator, seed or None
            Where the numbers come from.
        shape : int or sequence of int
            Leading shape.

        Returns
        -------
        Element
            One, or an array of them.
        """
        return cls._trusted(cls.group.random(rng, shape))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """From matrices (…, n, n).

        Parameters
        ----------
        matrix : array (…, n, n)
            Matrices of the group.

        Returns
        -------
        Element
            One, or an array of them.
        """
        return cls._trusted(cls.group.from_matrix(matrix))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Parameters
        ----------
        data : mapping
            The type's name and the parts.

        Returns
        -------
        Element
            One, or an array of them.
        """
        expected = {"type", *cls.fields}
        if set(data) != expected or data["type"] != cls.__name__:
            raise ValueError(f"data: {dict(data)!r}, expected the keys {sorted(expected)} and type {cls.__name__!r}")
        parts = [np.asarray(data[name], dtype=np.float64) for name in cls.fields]
        return cls(
            np.concatenate(
                [p[..., None] if isinstance(cls.fields[n], int) else p for n, p in zip(cls.fields, parts, strict=True)],
                axis=-1,
            )
        )

    # --- the group ----------------------------------------------------------------------------------------------------

    def __matmul__(self, other: Self) -> Self:
        """g h."""
        if type(other) is not type(self):
            return NotImplemented
        return self._trusted(self._verb("compose", self.q, other.q))

    def inv(self) -> Self:
        """g⁻¹."""
        return self._trusted(self._verb("inverse", self.q))

    def log(self) -> Array:
        """Algebra elements (…, n_v)."""
        return self._verb("log", self.q)

    def act(self, points: ArrayLike) -> Array:
        """The points (…, n) moved by g.

        Parameters
        ----------
        points : array (…, n)
            Points of the plane or of space.

        Returns
        -------
        array (…, n)
            R u, or p + R u.
        """
        return self._verb("act", self.q, numbers(points, "points", (self.group.n_point,)))

    def adjoint(self) -> Array:
        """Ad_g as matrices (…, n_v, n_v)."""
        return self.group.adjoint(self.q)

    def as_matrix(self) -> Array:
        """Matrices (…, n, n)."""
        return self._verb("matrix", self.q)

    def interpolate(self, other: Self, s: ArrayLike) -> Self:
        """From g (s = 0) to the other (s = 1) along a one-parameter subgroup.

        Parameters
        ----------
        other : Element
            The end, of the same type.
        s : array (…)
            Part of the way.

        Returns
        -------
        Element
            g exp(s log(g⁻¹h)).
        """
        return self._trusted(self.group.interpolate(self.q, other.q, s))

    def distance(self, other: Self) -> Array:
        """|log(g⁻¹h)|.

        Parameters
        ----------
        other : Element
            Of the same type.

        Returns
        -------
        array (…)
            Not negative; on SE(n) it adds radians and lengths.
        """
        return self.group.distance(self.q, other.q)

    # --- an array of elements -----------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape; () for a single element."""
        return self.q.shape[:-1]

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"a single {type(self).__name__} has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Self:
        if not self.shape:
            raise TypeError(f"a single {type(self).__name__} has no parts to index")
        index = index if isinstance(index, tuple) else (index,)
        return type(self)(self.q[(*index, Ellipsis, slice(None))])

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def is_close(self, other: Self, tolerance: float = 1e-12) -> bool:
        """Whether all elements are within `tolerance` of the others, by `distance`.

        Parameters
        ----------
        other : Element
            Of the same type.
        tolerance : float
            Greatest distance.

        Returns
        -------
        bool
            Of all elements together.
        """
        return bool((self.distance(other) <= tolerance).all())

    def __eq__(self, other: object) -> bool:
        """Whether all coordinates are the same numbers; `is_close` knows that q and −q are one rotation."""
        return np.array_equal(self.q, other.q) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash((type(self).__name__, (self.q + 0.0).tobytes(), self.shape))  # + 0.0: −0 and 0 are equal

    # --- words --------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain names and (nested lists of) numbers, exact to the last digit."""
        return {"type": type(self).__name__} | {name: self.q[..., part].tolist() for name, part in self.fields.items()}

    def __repr__(self) -> str:
        parts = (
            f"{name}={np.array2string(np.asarray(self.q[..., part]), separator=', ', threshold=12)}"
            for name, part in self.fields.items()
        )
        return (
            f"{type(self).__name__}({', '.join(parts)})"
            if not self.shape
            else f"<{type(self).__name__} array of shape {self.shape}>"
        )


class SO2(Element):
    """Rotations of the plane; ``q`` is the angle, ``(…, 1)``.

    Examples
    --------
    >>> (SO2.exp([0.2]) @ SO2([0.3])).angle
    array(0.5)
    """

    __slots__ = ()
    group = groups.so2
    fields: ClassVar[Mapping[str, slice | int]] = {"angle": 0}

    @property
    def angle(self) -> Array:
        """rad, (…)."""
        return self.q[..., 0]


class SO3(Element):
    """Rotations of space; ``q`` is a unit quaternion (w, x, y, z).

    Examples
    --------
    >>> SO3.exp([0.0, 0.0, 3.0]).quaternion_wxyz.round(4).tolist()
    [0.0707, 0.0, 0.0, 0.9975]
    """

    __slots__ = ()
    group = groups.so3
    fields: ClassVar[Mapping[str, slice | int]] = {"quaternion_wxyz": slice(0, 4)}

    @property
    def quaternion_wxyz(self) -> Array:
        """The unit quaternion (…, 4)."""
        return self.q


class SE2(Element):
    """Motions of the plane; ``q`` is (x, y, angle).

    Examples
    --------
    >>> pose = SE2.of([1.0, 2.0], SO2([0.5]))
    >>> pose.position.tolist(), pose.rotation
    ([1.0, 2.0], SO2(angle=0.5))
    """

    __slots__ = ()
    group = groups.se2
    fields: ClassVar[Mapping[str, slice | int]] = {"position": slice(0, 2), "angle": 2}

    @classmethod
    def of(cls, position: ArrayLike, rotation: SO2) -> Self:
        """From a position (…, 2) and a rotation.

        Parameters
        ----------
        position : array (…, 2)
            In the axes of the frame outside, m.
        rotation : SO2
            Of the axes.

        Returns
        -------
        SE2
            One, or an array of them.

        Raises
        ------
        ValueError
            Wrong shapes, or numbers that are not finite.
        """
        return cls(_joined(position, rotation.q))

    @property
    def position(self) -> Array:
        """Coordinates (…, 2), m."""
        return self.q[..., :2]

    @property
    def rotation(self) -> SO2:
        """The rotation of the axes."""
        return SO2(self.q[..., 2:])


class SE3(Element):
    """Motions of space; ``q`` is (x, y, z, qw, qx, qy, qz).

    Examples
    --------
    >>> pose = SE3.of([1.0, 2.0, 3.0], SO3.identity())
    >>> pose.position.tolist(), pose.rotation == SO3.identity()
    ([1.0, 2.0, 3.0], True)
    """

    __slots__ = ()
    group = groups.se3
    fields: ClassVar[Mapping[str, slice | int]] = {"position": slice(0, 3), "quaternion_wxyz": slice(3, 7)}

    @classmethod
    def of(cls, position: ArrayLike, rotation: SO3) -> Self:
        """From a position (…, 3) and a rotation.

        Parameters
        ----------
        position : array (…, 3)
            In the axes of the frame outside, m.
        rotation : SO3
            Of the axes.

        Returns
        -------
        SE3
            One, or an array of them.

        Raises
        ------
        ValueError
            Wrong shapes, or numbers that are not finite.
        """
        return cls(_joined(position, rotation.q))

    @property
    def position(self) -> Array:
        """Coordinates (…, 3), m."""
        return self.q[..., :3]

    @property
    def rotation(self) -> SO3:
        """The rotation of the axes."""
        return SO3(self.q[..., 3:])


def _joined(position: ArrayLike, rotation: Array) -> Array:
    p = np.asarray(position, dtype=np.float64)
    shape = np.broadcast_shapes(p.shape[:-1], rotation.shape[:-1])
    return np.concatenate(
        [np.broadcast_to(p, (*shape, p.shape[-1])), np.broadcast_to(rotation, (*shape, rotation.shape[-1]))], axis=-1
    )
