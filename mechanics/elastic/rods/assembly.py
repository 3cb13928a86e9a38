"""All elements of a rod, compiled: forces of its nodes, their derivatives as a band, and motions of its nodes.

elements
    A row per element: length, C (6), e₀ (6).
loads
    A row per node: the wrench fixed in the world, the wrench that turns with the section.
options
    1 for the Cayley map; the node from which strains are followed, or −1.
"""

from __future__ import annotations

from typing import Any

from liegroup.compile import entry, helper, integers, ld2, matrix, nothing, real, st2, vector
from liegroup.formulas import se3
from liegroup.formulas.vectors import add6, scale6
from mechanics.elastic.rods import element

BAND = 11
"""Diagonals beside the first in the matrix of a rod."""


@helper
def pose(a: Any, i: Any) -> Any:
    return (ld2(a, i, 0), ld2(a, i, 1), ld2(a, i, 2), ld2(a, i, 3), ld2(a, i, 4), ld2(a, i, 5), ld2(a, i, 6))


@helper
def six(a: Any, i: Any, k: Any) -> Any:
    """Six numbers of row i from column k on."""
    return (ld2(a, i, k), ld2(a, i, k + 1), ld2(a, i, k + 2), ld2(a, i, k + 3), ld2(a, i, k + 4), ld2(a, i, k + 5))


@helper
def put(a: Any, i: Any, x: Any) -> None:
    for k in range(6):
        st2(a, i, k, x[k])


@helper
def increase(a: Any, i: Any, x: Any) -> None:
    for k in range(6):
        st2(a, i, k, ld2(a, i, k) + x[k])


@entry(nothing(matrix, matrix, matrix, integers, matrix, matrix, vector))
def balance(poses: Any, elements: Any, loads: Any, options: Any, forces: Any, of_elements: Any, totals: Any) -> None:
    """Wrenches on the nodes (n + 1, 6), those of the elements on their first nodes (n, 6), and the elastic energy."""
    n, cayley = elements.shape[0], options[0]
    for i in range(n + 1):
        put(forces, i, element.load_wrench(pose(poses, i), six(loads, i, 0), six(loads, i, 6)))
    totals[0] = 0.0
    for k in range(n):
        on_a, on_b, energy, _, _ = element.wrenches(
            pose(poses, k), pose(poses, k + 1), elements[k, 0], six(elements, k, 1), six(elements, k, 7), cayley
        )
        increase(forces, k, on_a)
        increase(forces, k + 1, on_b)
        put(of_elements, k, on_a)
        totals[0] += energy


@entry(nothing(matrix, matrix, matrix, integers, matrix))
def band_of_stiffness(poses: Any, elements: Any, loads: Any, options: Any, band: Any) -> None:
    """−∂(wrenches of all nodes)/∂(body increments of all nodes): element (i, j) in [11 + i − j, j]."""
    n, cayley = elements.shape[0], options[0]
    for i in range(band.shape[0]):
        for j in range(band.shape[1]):
            band[i, j] = 0.0
    for k in range(n):
        element.stiffness(
            pose(poses, k), pose(poses, k + 1), elements[k, 0], six(elements, k, 1), six(elements, k, 7), cayley,
            band, BAND, 6 * k,
        )  # fmt: skip
    for i in range(n + 1):
        for j in range(3):
            turn = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            change = element.load_derivative(pose(poses, i), six(loads, i, 0), turn)
            for k in range(6):
                band[BAND + k - 3 - j, 6 * i + 3 + j] -= change[k]


@entry(nothing(matrix, matrix, integers, matrix, matrix))
def strain_changes(poses: Any, elements: Any, options: Any, increments: Any, out: Any) -> None:
    """δX (n, 6) of the elements for body increments (n + 1, 6) of the nodes."""
    cayley = options[0]
    for k in range(elements.shape[0]):
        f = se3.compose(se3.inverse(pose(poses, k)), pose(poses, k + 1))
        X = element.coordinates(f, cayley)
        a, b = six(increments, k, 0), six(increments, k + 1, 0)
        moved = element.difference6(b, se3.adjoint(se3.inverse(f), a))
        put(out, k, element.tangent(X, moved, cayley))


@entry(nothing(matrix, integers, matrix, matrix, real, matrix))
def moved(poses: Any, options: Any, increments: Any, changes: Any, factor: Any, out: Any) -> None:
    """The nodes, moved by factor × increments each, or from the node options[1] on by changes of the strains."""
    root = options[1]
    for i in range(poses.shape[0]):
        if root < 0 or i == root:
            _store(out, i, se3.compose(pose(poses, i), se3.exp(scale6(factor, six(increments, i, 0)))))
    if root >= 0:
        for i in range(root + 1, poses.shape[0]):
            f = _strained(poses, i - 1, options[0], changes, factor)
            _store(out, i, se3.compose(pose(out, i - 1), f))
        for i in range(root - 1, -1, -1):
            f = _strained(poses, i, options[0], changes, factor)
            _store(out, i, se3.compose(pose(out, i + 1), se3.inverse(f)))


@helper
def _strained(poses: Any, k: Any, cayley: Any, changes: Any, factor: Any) -> Any:
    """The relative pose of element k with changed strains."""
    X = element.coordinates(se3.compose(se3.inverse(pose(poses, k)), pose(poses, k + 1)), cayley)
    X = add6(X, scale6(factor, six(changes, k, 0)))
    return se3.cay(X) if cayley else se3.exp(X)


@helper
def _store(a: Any, i: Any, q: Any) -> None:
    unit = se3.project(q)
    for k in range(7):
        st2(a, i, k, unit[k])
