"""Sets of elements of one kind: the nodes they join, and their numbers."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liegroup.arrays import of_kind, reals, shown
from mechanics.elastic.kind import Kind
from mechanics.errors import ModelError

Array = NDArray[np.float64]


class Elements:
    """Elements of one kind, for a `Network`.

    Parameters
    ----------
    kind : Kind
        Their law.
    nodes : array (m, k) of int
        The nodes that each joins.
    numbers : array (m, size) or (size,), optional
        Their numbers, in the order of ``kind.names``; classes of the package find them from the places of the nodes.

    Raises
    ------
    ModelError
        Nodes that are no whole numbers, or twice in an element; numbers that are not finite.

    Examples
    --------
    >>> from mechanics.elastic import Elements
    >>> from mechanics.elastic.springs import SPRING
    >>> Elements(SPRING, [[0, 1], [1, 2]], [100.0, 1.0])
    <2 elements: spring>
    """

    def __init__(self, kind: Kind, nodes: ArrayLike, numbers: ArrayLike | None = None) -> None:
        of_kind(kind, Kind, "kind", "a Kind")
        self.kind = kind
        self.nodes = _nodes(kind, nodes)
        self._numbers = None if numbers is None else self.each(numbers, "numbers", kind.size)

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"<{len(self)} elements: {self.kind.name}>"

    def each(self, values: ArrayLike, name: str, size: int = 1) -> Array:
        """Numbers of all elements: one for all, or one per element.

        Parameters
        ----------
        values : float or array (m,), (m, size)
            Any unit.
        name : str
            What messages call them.
        size : int
            Numbers per element.

        Returns
        -------
        array (m, size)
            Of all elements.

        Raises
        ------
        ModelError
            Another shape; a number that is not finite, with the element.
        """
        given = reals(values, name)
        shape = (len(self), size)
        try:
            found = np.array(np.broadcast_to(given[:, None] if size == 1 and given.ndim == 1 else given, shape), float)
        except ValueError:
            raise ModelError(
                f"{self.kind.name}: {name}", f"has the shape {given.shape}", f"give one, or one for each of {len(self)}"
            ) from None
        if not np.isfinite(found).all():
            self.wrong(int(np.argwhere(~np.isfinite(found))[0, 0]), f"{name} is not finite", "give finite numbers")
        return found

    def positive(self, values: ArrayLike, name: str, zero: bool = False) -> Array:
        """The same, with a check of the sign.

        Parameters
        ----------
        values : float or array (m,)
            Any unit.
        name : str
            What messages call them.
        zero : bool
            Whether zero is allowed.

        Returns
        -------
        array (m, 1)
            Of all elements.

        Raises
        ------
        ModelError
            A number that is negative, or zero, with the element.
        """
        found = self.each(values, name)
        wrong = found[:, 0] < 0.0 if zero else found[:, 0] <= 0.0
        if wrong.any():
            e = int(np.flatnonzero(wrong)[0])
            self.wrong(e, f"{name} is {found[e, 0]:.6g}", "give a positive number" + (", or zero" if zero else ""))
        return found

    def numbers_at(self, points: Array) -> Array:
        """The numbers of all elements, for the reference places of the nodes.

        Parameters
        ----------
        points : array (n, 3)
            Places of all nodes of the network, m.

        Returns
        -------
        array (m, size)
            What the law gets.

        Raises
        ------
        ModelError
            A degenerate element, by its number and its nodes.
        """
        if self._numbers is None:
            raise ModelError(self.kind.name, "has no numbers", "give them, or derive a class with `numbers_at`")
        return self._numbers

    def lumped_masses(self, points: ArrayLike, density: ArrayLike) -> Array:
        """The masses of the elements at their nodes, in equal parts.

        Parameters
        ----------
        points : array (n, 3)
            Places of all nodes, m.
        density : float or array (m,)
            Mass per content (`content`): kg/m of springs and cables, kg/m² of triangles, kg/m³ of tetrahedra.

        Returns
        -------
        array (n,)
            kg.
        """
        places = reals(points, "points")
        share = self.positive(density, "density")[:, 0] * self.content(places) / self.kind.nodes
        masses = np.zeros(len(places))
        np.add.at(masses, self.nodes, share[:, None])
        return masses

    def content(self, points: Array) -> Array:
        """Length, area or volume of the elements at the places of the nodes.

        Parameters
        ----------
        points : array (n, 3)
            m.

        Returns
        -------
        array (m,)
            m, m² or m³.
        """
        x = points[self.nodes]
        if self.kind.nodes == 2:
            return np.asarray(np.linalg.norm(x[:, 1] - x[:, 0], axis=1))
        raise ModelError(self.kind.name, "has no content of its own", "give masses to the nodes")

    def says(self, e: int) -> str:
        """An element in words.

        Parameters
        ----------
        e : int
            Its number in the set.

        Returns
        -------
        str
            Kind, number and nodes.
        """
        return f"{self.kind.name} {e} (nodes {', '.join(map(str, self.nodes[e]))})"

    def wrong(self, e: int, what: str, remedy: str) -> NoReturn:
        """Raise the error of one element.

        Parameters
        ----------
        e : int
            Its number.
        what, remedy : str
            What is wrong, and what to do.

        Returns
        -------
        NoReturn
            Never.

        Raises
        ------
        ModelError
            Always.
        """
        raise ModelError(self.says(e), what, remedy)


def _nodes(kind: Kind, nodes: ArrayLike) -> NDArray[np.int64]:
    given = reals(nodes, f"{kind.name}: nodes", "an array of whole numbers")
    if given.ndim != 2 or given.shape[1] != kind.nodes or (given != np.floor(given)).any():
        raise ModelError(
            f"{kind.name}: nodes", f"{shown(nodes)}", f"give whole numbers of shape (elements, {kind.nodes})"
        )
    found = given.astype(np.int64)
    ordered = np.sort(found, axis=1)
    if len(same := np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))):
        raise ModelError(f"{kind.name} {same[0]}", f"joins the nodes {found[same[0]].tolist()}", "join different nodes")
    return found
