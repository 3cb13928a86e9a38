"""Impulses of closures and of the force elements across the tree, found together: springs and dampers are closures that
give way.

A row a of an element has the impulse x_a along its screw L_a, and x_a changes by −R_a·η with the motion.  With the
response J⁻¹ of the tree, whose factors contain the elements along joints and to the base,

    Φ₁ (δ₀ + J⁻¹(Φ₀ᵀ δΛ + Lᵀ δx)) = −φ,        δx + R (η₀ + J⁻¹(Φ₀ᵀ δΛ + Lᵀ δx)) = 0

which is one dense system for the closures and these rows, exact for any stiffness: an impedance without bound gives a
closure.  Source: Woodbury's identity; Lacoursière 2007 (constraints that give way).
"""

from __future__ import annotations

from typing import Any

from integrators.arithmetic.elimination import solve_rows_together
from liegroup.compile import helper, kernel, ld, ld2, select, st2
from liegroup.compile.dense import ld_on, right_of_system, st_on
from liegroup.formulas.vectors import dot
from mechanics.closed_trees.field import add_on
from mechanics.closed_trees.forces import tendon_joint
from mechanics.closed_trees.layout import closures_of, element_of, equation_of, scale_of
from mechanics.forces.element import ON_BODIES, ON_JOINT, ON_TENDON
from mechanics.kernels.links import freedom, vector
from mechanics.model.layout import header_of, link_of
from mechanics.variational.closed_step import (
    add_reactions,
    along_joint,
    clear_path,
    closing,
    deflate,
    lines_of,
    move_path,
    push,
    respond,
    solve_within,
)
from mechanics.variational.elements.lines import AIM, FEEL, IMPULSE_OF, PUSH, element_lines, takes_part
from mechanics.variational.workspace import ALONG_JOINT, ETA, G0, IMPULSE, TARGET


@helper
def rows_in(element: Any) -> Any:
    """How many rows an element that takes part has."""
    return 3 if element.place == ON_BODIES else 1


@helper
def push_row(parameters: Any, structure: Any, work: Any, e: Any, row: Any, x: Any) -> None:
    """The impulse x of a row on its two bodies, or on the joints of its tendon."""
    if e.place == ON_TENDON:
        for k in range(e.first):
            i, a = tendon_joint(structure, e, k).link, ld(parameters, e.equation_numbers + k)
            st2(work, i, ALONG_JOINT, ld2(work, i, ALONG_JOINT) + a * x)
    else:
        i, j = e.first, e.second
        for k in range(6):
            st2(work, i, IMPULSE + k, ld2(work, i, IMPULSE + k) + x * ld2(work, row, PUSH + k))
            st2(work, j, IMPULSE + k, ld2(work, j, IMPULSE + k) + x * ld2(work, row, PUSH + 6 + k))


@helper
def felt(parameters: Any, structure: Any, work: Any, e: Any, row: Any) -> Any:
    """R η of a row."""
    if e.place == ON_TENDON:
        change = 0.0 * ld2(work, row, FEEL)
        for k in range(e.first):
            a = ld(parameters, e.equation_numbers + k)
            change = change + a * along_joint(structure, work, tendon_joint(structure, e, k).link)
        return ld2(work, row, FEEL) * change
    i, j = e.first, e.second
    on_i = dot(vector(work, row, FEEL), vector(work, i, ETA)) + dot(
        vector(work, row, FEEL + 3), vector(work, i, ETA + 3)
    )
    on_j = dot(vector(work, row, FEEL + 6), vector(work, j, ETA)) + dot(
        vector(work, row, FEEL + 9), vector(work, j, ETA + 3)
    )
    return on_i + on_j


@kernel
def add_impulses(parameters: Any, structure: Any, options: Any, work: Any, column: Any, at: Any) -> None:
    """Column <- column + Lᵀ x of all elements, in the axes of a node (at = G0 or G1), with what has been pushed."""
    closures, lines = closures_of(structure), element_lines(structure, work, options)
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options):
            row = lines.rows + e.row
            if e.place == ON_JOINT:
                st2(work, e.link, column, ld2(work, e.link, column) + ld2(work, row, IMPULSE_OF))
            else:
                for k in range(rows_in(e)):
                    push_row(parameters, structure, work, e, row + k, ld2(work, row + k, IMPULSE_OF))
    add_reactions(parameters, structure, work, column, at)


@kernel
def aim_again(parameters: Any, structure: Any, options: Any, work: Any) -> None:
    """What the step aims at: p̂ + Φ₀ᵀ Λ + Lᵀ x."""
    lines = lines_of(structure, work)
    for i in range(header_of(structure).links):
        for j in range(freedom(link_of(structure, i).kind)):
            st2(work, i, TARGET + j, ld2(work, i, AIM + j))
    clear_path(structure, work)
    for c in range(lines.equations):
        push(structure, work, c, ld_on(work, lines.impulse, c))
    add_impulses(parameters, structure, options, work, TARGET, G0)


@helper
def right_in(structure: Any, lines: Any, c: Any) -> Any:
    """Where the right side of equation c of the system is."""
    closures = closures_of(structure)
    if lines.across > 0:
        return c * (lines.equations + 1) + lines.equations
    return right_of_system(structure, closures.profile, closures.kept, c)


@kernel
def fill_column(
    parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, column: Any, sign: Any
) -> None:
    """What all equations feel of the present η, times a sign, in a column of the system, or on its right side (column
    −1).
    """
    closures, own, lines = closures_of(structure), lines_of(structure, work), element_lines(structure, work, options)
    m, width = own.equations, lines.equations + 1
    for c in range(m):
        place = right_in(structure, lines, c) if column < 0 else c * width + column
        st_on(work, lines.system, place, sign * closing(structure, work, field_work, c))
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options) and e.row < lines.across:
            for k in range(rows_in(e)):
                a = e.row + k
                place = right_in(structure, lines, m + a) if column < 0 else (m + a) * width + column
                st_on(work, lines.system, place, sign * felt(parameters, structure, work, e, lines.rows + a))


@kernel
def solve_together(parameters: Any, structure: Any, options: Any, field_work: Any, work: Any) -> None:
    """Corrections of all impulses, in the last column of their equations; elements across the tree couple any."""
    closures, own, lines = closures_of(structure), lines_of(structure, work), element_lines(structure, work, options)
    m, size = own.equations, lines.equations
    for c in range(m):
        clear_path(structure, work)
        push(structure, work, c, 1.0)
        respond(parameters, structure, work, 0, closures.path_length)
        fill_column(parameters, structure, options, field_work, work, c, 1.0)
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options) and e.row < lines.across:
            for k in range(rows_in(e)):
                a = e.row + k
                clear_path(structure, work)
                push_row(parameters, structure, work, e, lines.rows + a, 1.0)
                respond(parameters, structure, work, 0, closures.path_length)
                fill_column(parameters, structure, options, field_work, work, m + a, 1.0)
                add_on(work, lines.system, (m + a) * (size + 2), 1.0)
    deflate(structure, field_work, work, lines.system, size)
    solve_rows_together(work, lines.system, size)


@kernel
def correct_impulses(parameters: Any, structure: Any, options: Any, field_work: Any, work: Any, frozen: Any) -> None:
    """Correct Λ and the impulses of elements across the tree, and what the step aims at with them.

    After `eliminate_loaded`: defects and factors are in the links, poses and screws at node k + 1 in the field's
    workspace.
    """
    closures, own, lines = closures_of(structure), lines_of(structure, work), element_lines(structure, work, options)
    m = own.equations
    move_path(parameters, structure, work, 0, closures.path_length)
    fill_column(parameters, structure, options, field_work, work, -1, -1.0)
    for c in range(m):
        gap = scale_of(parameters, equation_of(structure, closures, c)) * ld_on(field_work, closures.gap, c)
        add_on(work, lines.system, right_in(structure, lines, c), -gap)
    if lines.across:
        solve_together(parameters, structure, options, field_work, work)
    else:
        solve_within(parameters, structure, field_work, work, lines.system)
    clear_path(structure, work)
    for c in range(m):
        x = ld_on(work, lines.system, right_in(structure, lines, c))
        x = select(frozen, 0.0 * x, x)
        st_on(work, own.impulse, c, ld_on(work, own.impulse, c) + x)
        push(structure, work, c, x)
    for n in range(closures.forces):
        e = element_of(structure, closures, n)
        if takes_part(e, options) and e.row < lines.across:
            for k in range(rows_in(e)):
                x = ld_on(work, lines.system, right_in(structure, lines, m + e.row + k))
                push_row(parameters, structure, work, e, lines.rows + e.row + k, select(frozen, 0.0 * x, x))
    add_reactions(parameters, structure, work, TARGET, G0)
