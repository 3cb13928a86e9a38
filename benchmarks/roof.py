"""What the processor allows a kernel: its operations over those that one core does, and the time of writing its
results.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.loops import seconds_in_lanes
from integrators.signatures import FIELD_SIGNATURES
from liegroup.compile import WIDTH, Entry, entry, ld, st
from mechanics.model.tree import Tree
from mechanics.reference.counting import Tally

SUMS = 12
"""Chains of operations that do not wait for each other: more than a processor has in flight."""


@entry(*FIELD_SIGNATURES)
def _multiply_and_add(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """As many multiplications as additions, 2 · `SUMS` a round, on numbers in registers."""
    f, g = ld(y, 0), ld(y, 1)
    a, b, c, d, e, h = ld(y, 2), ld(y, 3), ld(y, 4), ld(y, 5), ld(y, 6), ld(y, 7)
    i, j, k, l, m, n = ld(y, 8), ld(y, 9), ld(y, 10), ld(y, 11), ld(y, 12), ld(y, 13)
    for _ in range(structure[0]):
        a, b, c, d, e, h = a * f + g, b * f + g, c * f + g, d * f + g, e * f + g, h * f + g
        i, j, k, l, m, n = i * f + g, j * f + g, k * f + g, l * f + g, m * f + g, n * f + g
    st(out, 0, (((a + b) + (c + d)) + ((e + h) + (i + j))) + ((k + l) + (m + n)))


@entry(*FIELD_SIGNATURES)
def _write(t: Any, y: Any, parameters: Any, structure: Any, work: Any, out: Any) -> None:
    """Every number of the result, once."""
    for k in range(structure[0]):
        st(out, k, ld(y, 0))


def rate_in_lanes() -> float:
    """Additions and multiplications in lanes, per nanosecond and one core: eight a register."""
    rounds, states = 1000, np.full((WIDTH, 1, 2 + SUMS), 0.5)
    structure = np.array([rounds])
    call = min(seconds_in_lanes(_multiply_and_add, states, np.zeros(0), structure, (1, 1), 1) for _ in range(3))
    return 2e-9 * SUMS * rounds / call


def writing_in_lanes(size: int) -> float:
    """Nanoseconds per trajectory to write so many numbers, eight trajectories at a time."""
    return 1e9 * seconds_in_lanes(_write, np.ones((WIDTH, 1, 1)), np.zeros(0), np.array([size]), (1, 1), size)


def operations(tree: Tree, kernel: Entry, state: Any, work_shape: tuple[int, int], size: int) -> int:
    """Floating-point operations of one evaluation, sines and cosines apart, counted by the kernel itself."""
    tally = Tally()
    y, work, out = (tally.array(x) for x in (state, np.zeros(work_shape), np.zeros(size)))
    kernel.python(0.0, y, tree.parameters, tree.structure, work, out)
    return tally.total
