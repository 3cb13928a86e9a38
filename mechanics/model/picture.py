"""A tree of bodies as a drawing (SVG): a box for each body, a line for each joint, a dashed line for what closes loops.

The bodies hang to the right of what carries them; those on the same level of the tree stand below one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechanics.model.tree import Tree

SHOWN = 120
"""Bodies of a drawing; of larger trees those that come first."""
_ROW, _LETTER, _GAP, _HIGH, _BULGE = 26, 6.6, 78, 18, 60
_BASE = "base"


def svg(tree: Tree, closures: Sequence[tuple[str | None, str | None, str]] = ()) -> str:
    """The drawing.

    Parameters
    ----------
    tree : Tree
    closures : sequence of (body, body, name)
        What joins two bodies besides the tree; None is the base.

    Returns
    -------
    str
        An ``<svg>`` element; titles (shown under the mouse) name joints, their kinds and the masses.
    """
    shown = range(min(len(tree), SHOWN))
    rows = _rows(tree, len(shown))
    depth = _depths(tree, len(shown))
    names = {-1: _BASE} | {i: tree.bodies[i].name for i in shown}
    left, wide = _columns(names, depth)

    def box(i: int) -> tuple[float, float]:
        return left[depth[i]], (rows[i] + 0.5) * _ROW

    drawn = [_joint(tree, i, box(int(tree.parents[i])), box(i), len(names[int(tree.parents[i])])) for i in shown]
    for *joined, name in closures:
        ends = [-1 if body is None else tree.body_index(body) for body in joined]
        if max(ends) < len(shown):
            sides = [(box(i)[0] + _width(names[i]), box(i)[1]) for i in ends]
            drawn.append(_closure(sides[0], sides[1], name))
    drawn += [_body(tree, i, *box(i), name) for i, name in names.items()]
    wide += 0.8 * _BULGE * bool(closures)
    high = (max(rows.values()) + 1) * _ROW
    if len(tree) > SHOWN:
        drawn.append(f'<text x="4" y="{high + 12}">… and {len(tree) - SHOWN} more bodies</text>')
        high += _ROW
    style = "font:11px sans-serif;max-width:100%;background:transparent"
    size = f'viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} style="{style}">{"".join(drawn)}</svg>'


def _depths(tree: Tree, shown: int) -> dict[int, int]:
    """How many joints are between a body and the base (−1)."""
    found = {-1: 0}
    for i in range(shown):
        found[i] = found[int(tree.parents[i])] + 1
    return found


def _rows(tree: Tree, shown: int) -> dict[int, float]:
    """Leaves one below the other, every other body in the middle of what it carries."""
    found: dict[int, float] = {}
    carried: dict[int, list[int]] = {i: [] for i in range(-1, shown)}
    for i in range(shown):
        carried[int(tree.parents[i])].append(i)
    todo, order = [-1], list[int]()
    while todo:
        order.append(todo.pop())
        todo += carried[order[-1]][::-1]
    leaves = [i for i in order if not carried[i]]
    found = {i: float(k) for k, i in enumerate(leaves)}
    for i in reversed(order):
        if carried[i]:
            found[i] = 0.5 * (found[carried[i][0]] + found[carried[i][-1]])
    return found


def _columns(names: dict[int, str], depth: dict[int, int]) -> tuple[list[float], float]:
    """Where the boxes of each level begin, as wide as their longest name, and where the last one ends."""
    widths = [max(_width(names[i]) for i in names if depth[i] == k) for k in range(max(depth.values()) + 1)]
    left = [2.0]
    for width in widths:
        left.append(left[-1] + width + _GAP)
    return left[:-1], left[-1] - _GAP + 2.0


def _width(name: str) -> float:
    return _LETTER * len(name) + 10


def _body(tree: Tree, i: int, x: float, y: float, name: str) -> str:
    said = _BASE if i < 0 else f"{name}: {tree.bodies[i].inertia.mass:.4g} kg"
    fill = "#8883" if i < 0 else "#5593d833"
    return (
        f'<g><title>{escape(said)}</title><rect x="{x:.1f}" y="{y - _HIGH / 2:.1f}" width="{_width(name):.1f}" '
        f'height="{_HIGH}" rx="4" fill="{fill}" stroke="#5593d8"/>'
        f'<text x="{x + 5:.1f}" y="{y + 4:.1f}" fill="currentColor">{escape(name)}</text></g>'
    )


def _joint(tree: Tree, i: int, above: tuple[float, float], here: tuple[float, float], letters: int) -> str:
    """A line from the box above to that of the body, with the kind of the joint on it."""
    body = tree.bodies[i]
    x, y = above[0] + _LETTER * letters + 10, above[1]
    bend = here[0] - _GAP + 10
    way = f"M{x:.1f} {y:.1f}H{bend:.1f}L{bend + 8:.1f} {here[1]:.1f}H{here[0]:.1f}"
    line = f'<path d="{way}" fill="none" stroke="#888"/>'
    kind = f'<text x="{here[0] - 4:.1f}" y="{here[1] - 3:.1f}" text-anchor="end" font-size="9" fill="#888">'
    return f"<g><title>{escape(f'{body.joint.kind} {body.joint_name}')}</title>{line}{kind}{body.joint.kind}</text></g>"


def _closure(first: tuple[float, float], second: tuple[float, float], name: str) -> str:
    """An arc between the right sides of two boxes."""
    (x, y), (u, v) = first, second
    way = f"M{x:.1f} {y:.1f}C{x + _BULGE} {y:.1f} {u + _BULGE} {v:.1f} {u:.1f} {v:.1f}"
    path = f'<path d="{way}" fill="none" stroke="#d95f02" stroke-dasharray="4 3"/>'
    return f"<g><title>{escape(name)}</title>{path}</g>"
