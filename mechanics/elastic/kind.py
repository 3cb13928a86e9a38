"""What a kind of elastic element is: how many nodes it joins, its numbers, and its law.

A kind is a file with a formula of scalars and one line in `mechanics.elastic.registry`::

    law(numbers, x)  →  potential V,  (∂V/∂x_0, ∂V/∂x_1, …)

with x the positions of its nodes, (x, y, z) each, m, and its numbers in the order of `names`.  From this one source
come forces, energies, and the stiffness ∂²V/∂x∂x by complex steps of the gradient (`stiffness`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.arithmetic.slopes import contradiction
from liegroup.compile import COMPLEX_STEP
from mechanics.errors import ModelError

Array = NDArray[np.float64]
_ELEMENTS = 8
"""Of a set, whose gradients are compared with differences."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of element.

    Parameters
    ----------
    name : str
        For messages: what one element is called.
    nodes : int
        How many nodes one joins.
    names : tuple of str
        Its numbers.
    law : helper
        ``law(numbers, x)`` → potential, J, and its gradients by the positions, N.
    stiffest : callable, optional
        ``stiffest(numbers, x)`` → the numbers (m, size) whose stiffness limits steps, where an element is slack at the
        start and may become taut.

    Examples
    --------
    >>> from mechanics.elastic.springs import SPRING
    >>> SPRING.name, SPRING.nodes, SPRING.names
    ('spring', 2, ('stiffness', 'rest'))
    >>> V, gradients = SPRING.law((100.0, 1.0), ((0.0, 0.0, 0.0), (1.1, 0.0, 0.0)))
    >>> round(V, 12), round(gradients[1][0], 12)
    (0.5, 10.0)
    """

    name: str
    nodes: int
    names: tuple[str, ...]
    law: Callable[..., Any]
    stiffest: Callable[[Array, Array], Array] | None = None

    @property
    def has_kinks(self) -> bool:
        """Whether its force has a kink: where it becomes taut."""
        return self.stiffest is not None

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return len(self.names)

    def __reduce__(self) -> Any:
        """What is copied or sent comes back as the kind that is registered there: compiled loops know no other."""
        from mechanics.elastic.registry import place_of

        place = place_of(self)
        return (super().__reduce__()) if place is None else (_registered, (place, self.name))


def _registered(place: int, name: str) -> Kind:
    from mechanics.elastic.registry import KINDS

    if place >= len(KINDS) or KINDS[place].name != name:
        raise ModelError(
            f"element {name}",
            "its kind is not registered in this process",
            "call mechanics.elastic.register(kind) first",
        )
    return KINDS[place]


def potentials(kind: Kind, numbers: Array, x: Array) -> tuple[Array, Array]:
    """V (m,), J, and its gradients (m, k, 3), N, of m elements at the positions x (m, k, 3)."""
    V, g = kind.law(tuple(numbers.T), tuple(tuple(x[:, i].T) for i in range(kind.nodes)))
    zero = 0.0 * x[:, 0, 0]
    return V + zero, np.stack([np.stack([c + zero for c in node], axis=-1) for node in g], axis=1)


def check_gradients(kind: Kind, numbers: Array, x: Array) -> None:
    """ModelError for a law whose gradients are not those of its potential, by differences, at some elements (m, size)
    and states about their positions x (m, k, 3), m.  What is wrong by less than a thousandth is not found.
    """
    random, size = np.random.default_rng(5), max(float(np.ptp(x)), 1e-300)
    for element in range(min(len(x), _ELEMENTS)):
        own = numbers[element : element + 1]
        place = x[element : element + 1] + 0.1 * size * random.normal(size=x[:1].shape)
        along = size * random.normal(size=place.shape)

        def at(s: float, own: Array = own, place: Array = place, along: Array = along) -> Array:
            return potentials(kind, own, place + s * along)[0]

        with np.errstate(all="ignore"):
            said = np.array([np.sum(potentials(kind, own, place)[1] * along)])
            wrong = contradiction(at, said, 1.0, 1.0)
        if wrong is not None:
            raise ModelError(
                f"element {kind.name}",
                f"has a law whose potential changes by {wrong[1]:.6g} J along a motion, and its gradients say "
                f"{said[0]:.6g} J",
                "let it return the derivatives of V by the positions, not the forces",
            )


def stiffness(kind: Kind, numbers: Array, x: Array) -> Array:
    """∂²V/∂x∂x (m, 3k, 3k), N/m, of m elements at the positions x (m, k, 3): complex steps of the gradient, exact to
    rounding.
    """
    m, k = len(x), kind.nodes
    K = np.empty((m, 3 * k, 3 * k))
    for column in range(3 * k):
        moved = x.astype(complex)
        moved.reshape(m, -1)[:, column] += 1j * COMPLEX_STEP
        K[:, :, column] = potentials(kind, numbers, moved)[1].imag.reshape(m, -1) / COMPLEX_STEP
    return K
