"""Where the rows of force elements stand in the workspace of a variational step, and which elements take part.

One line per row behind the lines of the closures (`mechanics.variational.closed_step`), then the equations for the
impulses of closures and of the rows across the tree together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from integrators.layout import OWN_OPTIONS
from liegroup.compile import helper
from mechanics.closed_trees.layout import closures_of, element_of
from mechanics.forces.element import ON_BODIES
from mechanics.variational.closed_step import lines_of
from mechanics.variational.workspace import COLUMNS_DENSE

MIDPOINT = OWN_OPTIONS + 2
"""Option of the method: springs by the midpoint rule (1), or by the trapezoidal rule (0)."""

# --- columns of the line of a row -------------------------------------------------------------------------------------

PUSH = 0
"""L: what a unit of the row's impulse is on its two bodies, six numbers each, axes of node k."""
FEEL = 12
"""R: minus the change of the impulse by the increments η of the two bodies, axes of node k + 1."""
IMPULSE_OF = 24
PHI = 25
"""φ at node k, of an equation."""
POSES = 26
"""Of a force between bodies, on its first row: R and x of both at node k."""
ROW_COLUMNS = POSES + 24

# --- further columns of the lines of the links ------------------------------------------------------------------------

AIM = COLUMNS_DENSE
"""p̂ without impulses of closures and elements."""
DRAG = AIM + 6
"""What elements add to D of a link of one freedom: impedance along its joint."""
LOAD = DRAG + 1
"""What elements to the base add to N of a link: four blocks of nine."""
COLUMNS_LOADED = LOAD + 36


class ElementLines(NamedTuple):
    """First lines of the rows and of the equations for the impulses, on through as many lines as they take; rows across
    the tree that take part; the number of these equations.
    """

    rows: Any
    system: Any
    across: Any
    equations: Any


@helper
def element_lines(structure: Any, work: Any, options: Any) -> Any:
    """The lines behind those of the closures."""
    closures, lines = closures_of(structure), lines_of(structure, work)
    across = closures.across if options[MIDPOINT] else closures.across_reading
    return ElementLines(lines.rows, lines.system, across, closures.kept + across)


@helper
def takes_part(element: Any, options: Any) -> Any:
    """Whether the force of an element is found together with the motion; others are taken at the nodes."""
    return element.reads or (options[MIDPOINT] and element.place < ON_BODIES)


@helper
def any_takes_part(structure: Any, options: Any) -> Any:
    """Whether there is such an element."""
    closures = closures_of(structure)
    return closures.reading > 0 or (options[MIDPOINT] and closures.rows > 0)


@helper
def any_at_nodes(structure: Any, options: Any) -> Any:
    """Whether there is an element whose force is taken at the nodes."""
    closures, found = closures_of(structure), False
    for n in range(closures.forces):
        if not takes_part(element_of(structure, closures, n), options):
            found = True
    return found
