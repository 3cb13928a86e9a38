"""Where the compiled field of a rod finds its numbers.

structure
    Number of elements n; 1 for the Cayley map; loads; strokes; 1 with damping or drag; then per node: kind, place in
    the state, place in the velocity; per load: node, 1 if it turns with the section, times, first parameter; per
    stroke: node, times, first parameter.
parameters
    Gravity (3); per node: mass, 1/mass, J (3), J⁻¹ (3), pose (7), rate of its drag; per element: length, C (6), e₀ (6),
    time τ of its damping; per load: wrench (6), times, factors; per stroke: displacement (3), turn (3), times, factors.
    Strains that are kept have no stiffness.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from integrators.problem.sparsity import meeting
from liegroup.compile import helper
from liegroup.table import RN, SE3, SO3, table_of
from mechanics.elastic.rods.rod import Rod

Array = NDArray[np.float64]
FREE, PINNED, CLAMPED = range(3)
HEAD, PER_NODE, PER_LOAD, PER_STROKE = 5, 3, 4, 3
"""Lengths in the structure."""
NODE, ELEMENT = 16, 14
"""Numbers per node and per element."""


def is_damped(structure: Any, tau: int) -> bool:
    """Whether damping or drag will be asked for."""
    return len(structure) > HEAD and bool(structure[HEAD - 1])


@helper
def has_damping(structure: Any) -> Any:
    return structure[HEAD - 1] != 0


@helper
def kind_of(structure: Any, i: Any) -> Any:
    return structure[HEAD + PER_NODE * i]


@helper
def state_place(structure: Any, i: Any) -> Any:
    return structure[HEAD + PER_NODE * i + 1]


@helper
def velocity_place(structure: Any, i: Any) -> Any:
    return structure[HEAD + PER_NODE * i + 2]


@helper
def node_numbers(i: Any) -> Any:
    """First parameter of a node."""
    return 3 + NODE * i


@helper
def element_numbers(structure: Any, k: Any) -> Any:
    """First parameter of an element."""
    return 3 + NODE * (structure[0] + 1) + ELEMENT * k


@helper
def load_place(structure: Any, k: Any) -> Any:
    return HEAD + PER_NODE * (structure[0] + 1) + PER_LOAD * k


@helper
def stroke_place(structure: Any, k: Any) -> Any:
    return HEAD + PER_NODE * (structure[0] + 1) + PER_LOAD * structure[2] + PER_STROKE * k


@helper
def between(parameters: Any, first: Any, count: Any, t: Any, smooth: Any) -> Any:
    """The factor at time t of `count` times and as many factors, or 1 without any: linear between the times, or
    resting at each (s³ (10 − 15 s + 6 s²)).
    """
    if count == 0:
        return 1.0
    if t <= parameters[first]:
        return parameters[first + count]
    for k in range(1, count):
        if t < parameters[first + k]:
            s = (t - parameters[first + k - 1]) / (parameters[first + k] - parameters[first + k - 1])
            if smooth:
                s = s * s * s * (10.0 - s * (15.0 - 6.0 * s))
            low = parameters[first + count + k - 1]
            return low + s * (parameters[first + count + k] - low)
    return parameters[first + 2 * count - 1]


@helper
def rate_between(parameters: Any, first: Any, count: Any, t: Any) -> Any:
    """The rate of the factor that rests at each of the times: 30 s² (1 − s)² of the change over the time it takes."""
    for k in range(1, count):
        if parameters[first + k - 1] < t and t < parameters[first + k]:
            lasts = parameters[first + k] - parameters[first + k - 1]
            s = (t - parameters[first + k - 1]) / lasts
            change = parameters[first + count + k] - parameters[first + count + k - 1]
            return 30.0 * s * s * (1.0 - s) * (1.0 - s) * change / lasts
    return 0.0


class Packed:
    """The numbers of one rod: `table` of its configuration and momenta, `structure`, `parameters`."""

    def __init__(self, rod: Rod, poses: Array) -> None:
        n = rod.n_elements
        self.kinds = [{"clamped": CLAMPED, "pinned": PINNED}.get(rod.supports.get(i, ""), FREE) for i in range(n + 1)]
        nodes, factors, q, v = [], [], 0, 0
        for kind in self.kinds:
            nodes += [kind, q, v]
            q += (7, 4, 0)[kind]
            v += (6, 3, 0)[kind]
            factors += [[(SE3, 1)], [(SO3, 1)], []][kind]
        self.n_q, self.n_v = q, v
        self.table = table_of([*factors, (RN, v)])
        numbers = [*np.asarray(rod.gravity).tolist()]
        for pose, (mass, *J), drag in zip(poses, rod.inertia.tolist(), rod.drags.tolist(), strict=True):
            numbers += [mass, 1.0 / mass, *J, *(1.0 / j for j in J), *pose, drag]
        elements = rod.elements.copy()
        elements[:, [1 + c for c in rod.kept]] = 0.0
        numbers += np.column_stack([elements, rod.dampings]).ravel().tolist()
        loads: list[int] = []
        for load in rod.loads:
            loads += [load.node % (n + 1), load.axes == "body", len(load.times), len(numbers)]
            numbers += [*load.wrench, *load.times, *load.factors]
        strokes: list[int] = []
        for stroke in rod.strokes:
            strokes += [stroke.node % (n + 1), len(stroke.times), len(numbers)]
            numbers += [*np.asarray(stroke.displacement), *np.asarray(stroke.turn), *stroke.times, *stroke.factors]
        head = [n, rod.strain == "cayley", len(rod.loads), len(rod.strokes), rod.dissipates]
        self.structure = np.array([*head, *nodes, *loads, *strokes], dtype=np.int64)
        self.parameters = np.array(numbers, dtype=np.float64)

    def sparsity(self) -> Any:
        """Which components of the velocity (ξ, ṗ) depend on which: those of neighbours."""
        places = np.append(self.structure[HEAD + 2 : HEAD + PER_NODE * len(self.kinds) : PER_NODE], self.n_v)
        own = [np.arange(a, b) for a, b in itertools.pairwise(places)]
        both = [np.concatenate([v, v + self.n_v]) for v in own]
        return meeting(2 * self.n_v, [np.concatenate(pair) for pair in itertools.pairwise(both)])

    def configuration(self, poses: Array) -> Array:
        """The free parts of poses (n + 1, 7)."""
        parts = [pose[(0, 3, 7)[kind] :] for pose, kind in zip(poses, self.kinds, strict=True)]
        return np.concatenate(parts)

    def momenta(self, inertia: Array, velocities: Array) -> Array:
        """Body momenta of body velocities (n + 1, 6)."""
        p = np.repeat(inertia, [3, 1, 1, 1], axis=1) * velocities
        return np.concatenate([row[(0, 3, 6)[kind] :] for row, kind in zip(p, self.kinds, strict=True)])
