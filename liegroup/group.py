"""Group objects: the verbs of Lie groups and of products of them on arrays; the formulas are in `liegroup.formulas`.

Elements are arrays ``(…, n_q)``, algebra elements and covectors ``(…, n_v)``; leading axes broadcast.

>>> import numpy as np
>>> from liegroup import product, rn, se3, so3
>>> g = so3.exp([0.0, 0.0, np.pi / 2])
>>> np.allclose(so3.act(g, [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])
True
>>> product(so3, rn(3))
SO(3) x R^3
>>> se3.log(se3.exp([1.0, 2.0, 3.0, 0.0, 0.0, 0.0])).tolist()
[1.0, 2.0, 3.0, 0.0, 0.0, 0.0]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from inspect import cleandoc
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup import matrices
from liegroup.arrays import Array, call, check_broadcast, has_values, integer, numbers, refuse, sequence, shown
from liegroup.formulas import REQUIRED, check
from liegroup.formulas import rn as line
from liegroup.formulas import se2 as _se2
from liegroup.formulas import se3 as _se3
from liegroup.formulas import so2 as _so2
from liegroup.formulas import so3 as _so3
from liegroup.group_maps import GroupMap, numbers_of_order
from liegroup.leaves import Leaf, named, operators, scalars, vectors
from liegroup.table import FACTORS, register_installed, table_of
from liegroup.tau import NAMES

TOLERANCE = 1e-8
"""How far from the group an element may be before it is refused."""


_ORDER = """order : sequence of int, optional
    Of the coordinates of the second kind only: the order of the basis, a permutation of 0 … n_v − 1."""


def _tangent(name: str, function: str) -> Callable[..., Array]:
    def method(self: Group, x: ArrayLike, y: ArrayLike | None = None, *, order: Sequence[int] | None = None) -> Array:
        return getattr(self._map(name, order), function)(x, y)  # type: ignore[no-any-return]

    doc = cleandoc(getattr(GroupMap, function).__doc__ or "").replace("τ", name)
    method.__doc__ = doc.replace("\n\nReturns\n", f"\n{_ORDER}\n\nReturns\n")
    return method


def _of_names(factors: tuple[tuple[Any, int], ...]) -> Group:
    """The group of formula files known by their names, in another process too."""
    return Group(tuple((import_module(f) if isinstance(f, str) else f, copies) for f, copies in factors))


def _pairs(factors: Any) -> Iterator[tuple[Any, int]]:
    """Formula files with numbers of copies; TypeError for anything else."""
    wanted = "pairs (formula file, copies); `product` and `rn` make groups from groups"
    for pair in sequence(factors, "factors", wanted):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"factors: {shown(pair)}, expected {wanted}")
        yield pair[0], integer(pair[1], "factors: copies", 1)


@dataclass(frozen=True, repr=False)
class Group:
    """A Lie group, or a direct product of Lie groups.

    Parameters
    ----------
    factors : sequence of (formula file, copies)
        See `liegroup.formulas` for what a formula file contains; `product`, `rn` and ``group ** n`` build groups from
        groups. Groups with the same factors are equal.

    Raises
    ------
    ValueError, TypeError
        From every verb, for arguments of wrong shape, not finite, or off the group: with the argument, its value, what
        was expected and the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from liegroup import product, rn, se2, so2, so3
    >>> g, h = so3.exp([0.0, 0.0, np.pi / 2]), so3.exp([0.1, 0.0, 0.0])
    >>> so3.act(g, [1.0, 0.0, 0.0]).round(12).tolist()
    [0.0, 1.0, 0.0]
    >>> so3.compose(g, so3.inverse(g)).tolist() == so3.identity().tolist()
    True
    >>> so3.log(so3.between(g, so3.compose(g, h))).round(12).tolist()
    [0.1, 0.0, 0.0]
    >>> so3.log(so3.interpolate(g, h, 0.5)).round(4).tolist()
    [0.0555, 0.0, 0.7857]
    >>> round(float(so3.distance(g, so3.identity())), 6), bool(so3.is_element(g))
    (1.570796, True)
    >>> so3.project([2.0, 0.0, 0.0, 0.0]).tolist(), so3.check(h).shape, so3.check_algebra([1, 2, 3]).tolist()
    ([1.0, 0.0, 0.0, 0.0], (4,), [1.0, 2.0, 3.0])
    >>> so3.random(0, shape=5).shape, so3.random(0, near=1e-3).shape
    ((5, 4), (4,))

    The representations on algebra elements and covectors, and matrices:

    >>> so3.adjoint(g, [1.0, 0.0, 0.0]).round(12).tolist(), so3.coadjoint(g, [1.0, 0.0, 0.0]).round(12).tolist()
    ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0])
    >>> so3.ad([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist(), so3.ad_star([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    ([0.0, 0.0, 1.0], [0.0, 0.0, -1.0])
    >>> so3.vee(so3.hat([1.0, 2.0, 3.0])).tolist()
    [1.0, 2.0, 3.0]
    >>> so3.from_matrix(so3.as_matrix(g)).round(4).tolist()
    [0.7071, 0.0, 0.0, 0.7071]
    >>> so3.project_matrix(2.0 * np.eye(3)).tolist() == np.eye(3).tolist()
    True

    The other maps with their inverses, and the tangents of all:

    >>> x = np.array([0.1, -0.2, 0.3])
    >>> bool(np.allclose(so3.cay_inverse(so3.cay(x)), x) and np.allclose(so3.ccsk_inverse(so3.ccsk(x)), x))
    True
    >>> bool(np.allclose(so3.dexp_left(x) @ so3.dexpinv_left(x), np.eye(3)))
    True
    >>> bool(np.allclose(so3.dexp_right(x), so3.adjoint(so3.exp(x)) @ so3.dexp_left(x)))
    True
    >>> bool(np.allclose(so3.dexpinv_right(x, so3.dexp_right(x, x)), x))
    True
    >>> bool(np.allclose(so3.dcay_left(x) @ so3.dcayinv_left(x), so3.dcay_right(x) @ so3.dcayinv_right(x)))
    True
    >>> bool(np.allclose(so3.dccsk_left(x) @ so3.dccskinv_left(x), so3.dccsk_right(x) @ so3.dccskinv_right(x)))
    True

    Products and their sizes:

    >>> both = product(se2, so3, rn(2))
    >>> both, both.n_q, both.n_v, both.n_point, both.matrix_size
    (SE(2) x SO(3) x R^2, 9, 8, 7, 9)
    >>> both.cotangent.n_v, so2**3
    (16, SO(2)^3)
    """

    factors: tuple[tuple[Any, int], ...]

    def __post_init__(self) -> None:
        merged: list[tuple[Any, int]] = []
        for file, copies in _pairs(self.factors):
            check(file, REQUIRED)
            if merged and merged[-1][0] is file:
                copies += merged.pop()[1]
            merged.append((file, copies))
        object.__setattr__(self, "factors", tuple(merged))

    def __repr__(self) -> str:
        return " x ".join(f.NAME if copies == 1 else f"{f.NAME}^{copies}" for f, copies in self.factors)

    def __reduce__(self) -> Any:
        names = ((f.__name__ if isinstance(f, ModuleType) else f, copies) for f, copies in self.factors)
        return _of_names, (tuple(names),)

    def __deepcopy__(self, memo: Any) -> Group:
        return self

    def __pow__(self, n: int) -> Group:
        """The product of n copies."""
        if not isinstance(n, int) or n < 1:
            raise ValueError(f"n={shown(n)}: expected the number of copies, a positive integer")
        return Group(self.factors * n)

    # --- shape ------------------------------------------------------------------------------------------------------

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The factors with their offsets."""
        found, q, v, p = [], 0, 0, 0
        for f, copies in self.factors:
            found.append(Leaf(f, copies, q, v, p))
            q, v, p = q + copies * f.N_Q, v + copies * f.N_V, p + copies * f.N_POINT
        return tuple(found)

    @cached_property
    def n_q(self) -> int:
        """Components of an element."""
        return sum(f.N_Q * copies for f, copies in self.factors)

    @cached_property
    def n_v(self) -> int:
        """Components of an algebra element: the dimension."""
        return sum(f.N_V * copies for f, copies in self.factors)

    @cached_property
    def n_point(self) -> int:
        """Components of the points the group acts on."""
        return sum(f.N_POINT * copies for f, copies in self.factors)

    @cached_property
    def table(self) -> NDArray[np.int64]:
        """int64 array (factors, 5) for compiled loops, see `liegroup.table`."""
        for f, _ in self.factors:
            if f not in FACTORS:
                register_installed()
            if f not in FACTORS:
                raise ValueError(
                    f"{f.NAME} is not among liegroup.table.FACTORS: call liegroup.table.register(file) to use it in "
                    "compiled loops"
                )
        return table_of((FACTORS.index(f), copies) for f, copies in self.factors)

    @property
    def cotangent(self) -> Group:
        """T*G, left-trivialised, as the direct product G x R^n: elements (q, p)."""
        return product(self, rn(self.n_v))

    # --- arguments --------------------------------------------------------------------------------------------------

    def check(self, q: ArrayLike, name: str = "q") -> Array:
        """`q` as an array of group elements; ValueError if one is not in the group.

        Parameters
        ----------
        q : array (…, n_q)
            What should be group elements.
        name : str
            What the message calls it.

        Returns
        -------
        array (…, n_q)
            Group elements.

        Raises
        ------
        ValueError
            Wrong shape, numbers that are not finite, or an element further than `TOLERANCE` from the group.
        """
        a = numbers(q, name, (self.n_q,), self._for)
        if not has_values(a):
            return a
        bad = self._defect(a) > TOLERANCE
        if np.any(bad):
            refuse(
                bad,
                a,
                name,
                f"expected a distance below {TOLERANCE:g} from {self}; project({name}) gives the nearest element",
            )
        return a

    def check_algebra(self, x: ArrayLike, name: str = "x") -> Array:
        """`x` as an array of algebra elements or covectors.

        Parameters
        ----------
        x : array (…, n_v)
            What should be algebra elements or covectors.
        name : str
            What the message calls it.

        Returns
        -------
        array (…, n_v)
            Algebra elements.
        """
        return numbers(x, name, (self.n_v,), self._for)

    @cached_property
    def _for(self) -> str:
        return f" for {self}"

    def _defect(self, a: Array) -> Array:
        return scalars(self.leaves, named("defect"), np.maximum, "q", a)

    # --- the group --------------------------------------------------------------------------------------------------

    def identity(self, shape: Sequence[int] | int = ()) -> Array:
        """e, repeated over the leading `shape`.

        Parameters
        ----------
        shape : int or sequence of int
            Leading shape.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        e = np.concatenate([np.tile(f.identity(0.0), copies) for f, copies in self.factors])
        return np.broadcast_to(e, (*_shape(shape), self.n_q)).copy()

    def compose(self, g: ArrayLike, h: ArrayLike) -> Array:
        """The product g h.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        h : array (…, n_q)
            Group elements; leading axes broadcast with those of g.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        a, b = self.check(g, "g"), self.check(h, "h")
        check_broadcast(g=a, h=b)
        return vectors(self.leaves, named("compose"), "qq", a, b)

    def inverse(self, g: ArrayLike) -> Array:
        """The inverse g⁻¹.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        return vectors(self.leaves, named("inverse"), "q", self.check(g, "g"))

    def act(self, g: ArrayLike, point: ArrayLike) -> Array:
        """The point ``(…, n_point)`` moved by g: R u, p + R u, q + u; factor by factor in a product.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        point : array (…, n_point)
            Points, in the axes of the moved frame.

        Returns
        -------
        array (…, n_point)
            The same points in the axes of the frame that g is given in.
        """
        a, u = self.check(g, "g"), numbers(point, "point", (self.n_point,), f" for {self}")
        check_broadcast(g=a, point=u)
        return vectors(self.leaves, named("act"), "qp", a, u)

    def between(self, g: ArrayLike, h: ArrayLike) -> Array:
        """The way from g to h, g⁻¹ h.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        h : array (…, n_q)
            Group elements; leading axes broadcast with those of g.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        return self.compose(self.inverse(g), h)

    def interpolate(self, g: ArrayLike, h: ArrayLike, s: ArrayLike) -> Array:
        """g exp(s log(g⁻¹h)): from g (s = 0) to h (s = 1) along a one-parameter subgroup; s broadcasts with the leading
        axes.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        h : array (…, n_q)
            Group elements; leading axes broadcast with those of g.
        s : array (…)
            Part of the way; any real number.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        way, part = self.log(self.between(g, h)), numbers(s, "s", ())[..., None]
        check_broadcast(g=way, s=part)
        return self.compose(g, self.exp(part * way))

    def distance(self, g: ArrayLike, h: ArrayLike) -> Array:
        """|log(g⁻¹h)|, Euclidean in algebra coordinates: left-invariant; on SE(n) it adds radians and lengths.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        h : array (…, n_q)
            Group elements; leading axes broadcast with those of g.

        Returns
        -------
        array (…)
            Not negative.
        """
        return np.asarray(np.linalg.norm(self.log(self.between(g, h)), axis=-1))

    def project(self, q: ArrayLike) -> Array:
        """The nearest group element: quaternions to unit norm, angles to [−π, π]; ValueError for a zero quaternion.

        An element that this would change by rounding only is returned as it is: a second projection changes no bit.

        Parameters
        ----------
        q : array (…, n_q)
            Elements that rounding or a guess has taken off the group.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        a = numbers(q, "q", (self.n_q,), f" for {self}")
        if not has_values(a):
            return vectors(self.leaves, named("project"), "q", a)
        leaves = [leaf for leaf in self.leaves if hasattr(leaf.formulas, "project_margin")]
        if leaves:
            lost = scalars(leaves, named("project_margin"), np.minimum, "q", a) == 0.0
            refuse(lost, a, "q", "a zero quaternion is equally far from all rotations; expected another one")
        nearest = vectors(self.leaves, named("project"), "q", a)
        moved = np.abs(nearest - a) > matrices.ROUNDING * np.abs(a)
        return np.where(moved.any(axis=-1, keepdims=True) | np.iscomplexobj(a), nearest, a)

    def is_element(self, q: ArrayLike, tolerance: float = TOLERANCE) -> Any:
        """Whether each element is within the tolerance of the group (False for NaN), an array of the leading shape.

        Parameters
        ----------
        q : array (…, n_q)
            Anything; of another shape, the answer is False.
        tolerance : float
            Greatest distance: of the norm of a quaternion from 1.

        Returns
        -------
        array of bool (…)
            One per element.
        """
        try:
            a = np.asarray(q)
        except ValueError:  # rows of different lengths
            return False
        if a.ndim == 0 or a.shape[-1] != self.n_q or a.dtype.kind not in "fiuc":
            return np.zeros(a.shape[:-1], dtype=bool) if a.ndim > 1 else False
        finite = np.isfinite(a).all(axis=-1)
        return finite & (self._defect(np.where(finite[..., None], a, 0.0)) <= tolerance)

    def random(
        self, rng: np.random.Generator | int | None = None, shape: Sequence[int] | int = (), near: float | None = None
    ) -> Array:
        """Random elements: rotations uniform (Haar), translations standard normal; or around the identity.

        Parameters
        ----------
        rng : Generator, seed or None
        shape : leading shape
        near : float, optional
            Return exp of normal vectors with this standard deviation.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        generator, lead = np.random.default_rng(rng), _shape(shape)
        if near is not None:
            return self.exp(near * generator.normal(size=(*lead, self.n_v)))
        parts = []
        for f, copies in self.factors:
            normals = generator.normal(size=(*lead, copies, getattr(f, "N_NORMALS", f.N_Q)))
            parts.append(call(getattr(f, "uniform", f.project), [normals]).reshape(*lead, copies * f.N_Q))
        return np.concatenate(parts, axis=-1)

    # --- adjoint representation -------------------------------------------------------------------------------------

    def adjoint(self, g: ArrayLike, y: ArrayLike | None = None) -> Array:
        """Ad_g as a matrix ``(…, n, n)``, or Ad_g y: (Ad_g y)^ = g ŷ g⁻¹.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._operator("adjoint", "q", self.check(g, "g"), "g", y, "y")

    def coadjoint(self, g: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """Ad_gᵀ as a matrix, or Ad_gᵀ μ.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._operator("coadjoint", "q", self.check(g, "g"), "g", mu, "mu")

    def ad(self, x: ArrayLike, y: ArrayLike | None = None) -> Array:
        """ad_x as a matrix, or [x, y]: [x, y]^ = x̂ŷ − ŷx̂.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        y : array (…, n_v), optional
            Algebra elements; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._operator("bracket", "v", self.check_algebra(x), "x", y, "y")

    def ad_star(self, x: ArrayLike, mu: ArrayLike | None = None) -> Array:
        """ad_xᵀ as a matrix, or ad_xᵀ μ; Euler–Poincaré equations are μ' = ad_vᵀ μ + f.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        mu : array (…, n_v), optional
            Covectors; without them the matrix.

        Returns
        -------
        array (…, n_v, n_v), or (…, n_v)
            The matrix, or its product with the second argument.
        """
        return self._operator("bracket_transpose", "v", self.check_algebra(x), "x", mu, "mu")

    def _operator(self, formula: str, space: str, a: Array, name_a: str, y: ArrayLike | None, name: str) -> Array:
        if y is None:
            return operators(self.leaves, named(formula), space, a)
        b = self.check_algebra(y, name)
        check_broadcast(**{name_a: a, name: b})
        return vectors(self.leaves, named(formula), space + "v", a, b)

    # --- matrices ---------------------------------------------------------------------------------------------------

    @cached_property
    def matrix_size(self) -> int:
        """Rows of `as_matrix`."""
        return sum(matrices.size(leaf) for leaf in self.leaves)

    def hat(self, x: ArrayLike) -> Array:
        """The matrix x̂ of an algebra element (block-diagonal in a product; on R^n [[0, x], [0, 0]]).

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.

        Returns
        -------
        array (…, matrix_size, matrix_size)
            Matrices of the algebra.
        """
        return matrices.write(self.leaves, "hat", "v", self.check_algebra(x))

    def vee(self, m: ArrayLike) -> Array:
        """Inverse of `hat`; ValueError if the matrix is not in the algebra, to 1e-8, of its largest entry where that is
        above 1.

        Parameters
        ----------
        m : array (…, matrix_size, matrix_size)
            Matrices of the algebra.

        Returns
        -------
        array (…, n_v)
            Algebra elements.
        """
        a = self._check_matrix(m)
        x, distance = matrices.read(self.leaves, "vee", "hat", a)
        refuse(~(distance <= TOLERANCE), a, "m", f"expected a matrix of the algebra of {self}")
        return x

    def as_matrix(self, g: ArrayLike) -> Array:
        """The matrix of a group element (block-diagonal in a product; on R^n [[1, q], [0, 1]]).

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.

        Returns
        -------
        array (…, matrix_size, matrix_size)
            Matrices of the group.
        """
        return matrices.write(self.leaves, "matrix", "q", self.check(g, "g"))

    def from_matrix(self, m: ArrayLike) -> Array:
        """Inverse of `as_matrix`; ValueError if the matrix is not in the group, to 1e-8: rotations by themselves, the
        rest of its largest entry where that is above 1.

        Parameters
        ----------
        m : array (…, matrix_size, matrix_size)
            Matrices of the group.

        Returns
        -------
        array (…, n_q)
            Group elements.
        """
        a = self._check_matrix(m)
        with np.errstate(all="ignore"):
            g, distance = matrices.read(self.leaves, "from_matrix", "matrix", a)
        refuse(~(distance <= TOLERANCE), a, "m", f"expected a matrix of {self}; project_matrix(m) gives the nearest")
        return g

    def project_matrix(self, m: ArrayLike) -> Array:
        """The nearest matrix of the group: rotation blocks by their polar factors, constant entries set.

        A matrix that this would change by rounding only is returned as it is, as by `project`.

        Parameters
        ----------
        m : array (…, matrix_size, matrix_size)
            Matrices near the group.

        Returns
        -------
        array (…, matrix_size, matrix_size)
            Matrices of the group.
        """
        a = self._check_matrix(m)
        nearest = self.as_matrix(matrices.read(self.leaves, "from_matrix", "matrix", a, nearest=True)[0])
        moved = np.abs(nearest - a) > 4 * matrices.ROUNDING
        return np.where(moved.any(axis=(-1, -2), keepdims=True) | np.iscomplexobj(a), nearest, a)

    def _check_matrix(self, m: ArrayLike) -> Array:
        return numbers(m, "m", (self.matrix_size, self.matrix_size), f" for {self}")

    # --- maps -------------------------------------------------------------------------------------------------------

    @cached_property
    def maps(self) -> dict[str, GroupMap]:
        """The maps by name: "exp", "cay", "ccsk"."""
        return {name: GroupMap(self, name) for name in NAMES}

    def _map(self, name: str, order: Sequence[int] | None = None) -> GroupMap:
        if order is None:
            return self.maps[name]
        if name != "ccsk":
            raise TypeError(f"order={order!r}: only coordinates of the second kind depend on an order of the basis")
        return GroupMap(self, name, numbers_of_order(order))

    def exp(self, x: ArrayLike) -> Array:
        """exp(x) = Σ x̂ᵏ/k!, for x of any size (below 1e150).

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.

        Returns
        -------
        array (…, n_q)
            Group elements.

        References
        ----------
        Iserles, Munthe-Kaas, Nørsett, Zanna 2000; closed forms on SE(3): Müller 2021.
        """
        return self.maps["exp"](x)

    def log(self, g: ArrayLike) -> Array:
        """The x of smallest rotation angle, in [0, π], with exp(x) = g; no digits are lost next to π.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.

        Returns
        -------
        array (…, n_v)
            Algebra elements.

        References
        ----------
        Iserles, Munthe-Kaas, Nørsett, Zanna 2000; closed forms on SE(3): Müller 2021.
        """
        return self.maps["exp"].inverse(g)

    def cay(self, x: ArrayLike) -> Array:
        """The Cayley map (e − x̂/2)⁻¹(e + x̂/2); on rotations by 2 atan(θ/2).

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.

        Returns
        -------
        array (…, n_q)
            Group elements.

        References
        ----------
        Kobilarov, Crane, Desbrun 2009.
        """
        return self.maps["cay"](x)

    def cay_inverse(self, g: ArrayLike) -> Array:
        """The x with cay(x) = g; ValueError for rotations by π.

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.

        Returns
        -------
        array (…, n_v)
            Algebra elements.
        """
        return self.maps["cay"].inverse(g)

    def ccsk(self, x: ArrayLike, *, order: Sequence[int] | None = None) -> Array:
        """exp(x_a e_a) exp(x_b e_b)…, (a, b, …) = `order`, natural by default: translations, then rotations about x, y,
        z.

        Parameters
        ----------
        x : array (…, n_v)
            Algebra elements: lengths first, then angles, rad.
        order : sequence of int, optional
            The order of the basis, a permutation of 0 … n_v − 1; default the natural one.

        Returns
        -------
        array (…, n_q)
            Group elements.

        References
        ----------
        Owren and Marthinsen 2001.
        """
        return self._map("ccsk", order)(x)

    def ccsk_inverse(self, g: ArrayLike, *, order: Sequence[int] | None = None) -> Array:
        """The x with ccsk(x) = g, the middle one of three rotations in [−π/2, π/2].

        Parameters
        ----------
        g : array (…, n_q)
            Group elements; quaternions (w, x, y, z), angles in rad.
        order : sequence of int, optional
            The order of the basis, a permutation of 0 … n_v − 1; default the natural one.

        Returns
        -------
        array (…, n_v)
            Algebra elements.
        """
        return self._map("ccsk", order).inverse(g)

    dexp_left = _tangent("exp", "dtau_left")
    dexp_right = _tangent("exp", "dtau_right")
    dexpinv_left = _tangent("exp", "dtau_inverse_left")
    dexpinv_right = _tangent("exp", "dtau_inverse_right")
    dcay_left = _tangent("cay", "dtau_left")
    dcay_right = _tangent("cay", "dtau_right")
    dcayinv_left = _tangent("cay", "dtau_inverse_left")
    dcayinv_right = _tangent("cay", "dtau_inverse_right")
    dccsk_left = _tangent("ccsk", "dtau_left")
    dccsk_right = _tangent("ccsk", "dtau_right")
    dccskinv_left = _tangent("ccsk", "dtau_inverse_left")
    dccskinv_right = _tangent("ccsk", "dtau_inverse_right")


def _shape(shape: Sequence[int] | int) -> tuple[int, ...]:
    return tuple(int(n) for n in np.atleast_1d(np.asarray(shape, dtype=np.int64)))


def product(*groups: Group) -> Group:
    """The direct product of groups, in order; ``product(so3, rn(3))`` is not `se3`: there translations do not turn.

    Parameters
    ----------
    *groups : Group
        The factors, at least one.

    Returns
    -------
    Group
        Its elements are those of the factors, one after the other; so are algebra elements and points.

    Raises
    ------
    TypeError
        Something that is no group.
    ValueError
        No factor.

    Examples
    --------
    >>> product(so3, so3, rn(2)) == product(so3**2, rn(1), rn(1))
    True
    """
    for g in groups:
        if not isinstance(g, Group):
            raise TypeError(f"groups: {g!r} is not a group; expected so2, so3, se2, se3, rn(n) or products of them")
    if not groups:
        raise ValueError("groups is empty: expected at least one")
    return Group(tuple(factor for g in groups for factor in g.factors))


def rn(n: int) -> Group:
    """The group (Rⁿ, +): exp is the identity, composition the sum.

    Parameters
    ----------
    n : int
        The dimension, positive.

    Returns
    -------
    Group
        With elements, algebra elements and points of n components.

    Raises
    ------
    ValueError
        Not a positive integer.

    Examples
    --------
    >>> rn(3).compose([1.0, 2.0, 3.0], [1.0, 1.0, 1.0]).tolist()
    [2.0, 3.0, 4.0]
    """
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n={shown(n)}: expected the dimension, a positive integer")
    integer(n, "n", 1)
    return Group(((line, int(n)),))


so2, so3, se2, se3 = (Group(((f, 1),)) for f in (_so2, _so3, _se2, _se3))
