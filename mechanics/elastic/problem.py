"""The motion of a network, as a problem for every method."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.layout import OWN_ROWS
from integrators.problem import Guard, OwnStep, Problem, Variable
from integrators.problem.guards import balance_guard, energy_guard, momentum_guards
from integrators.problem.sparsity import meeting
from integrators.scenes import points as scene_of_points
from liegroup.arrays import numbers, real
from liegroup.group import product, rn, se3
from mechanics.elastic.continua import TETRAHEDRA
from mechanics.elastic.doubts import explain, fastest, inside_out
from mechanics.elastic.kernels import field, invariants, smallest_volume
from mechanics.elastic.layout import DAMPERS
from mechanics.elastic.owned import projection
from mechanics.elastic.states import moving, places_at, places_in
from mechanics.elastic.steps import FREE_ROWS, LEVEL_ROWS, free_step, level_step
from mechanics.errors import ModelError

if TYPE_CHECKING:
    from mechanics.elastic.network import Network

Array = NDArray[np.float64]
_STRETCH, _ROUNDING = 1.1, 1e-13
"""A stretch of all elements, and the part of its energy that rounding is."""


def network_problem(
    network: Network,
    positions: ArrayLike | None,
    velocities: ArrayLike | None,
    poses: ArrayLike | None,
    twists: ArrayLike | None,
    time: float,
) -> Problem:
    """The motion from positions and velocities: see `Network.problem`."""
    n, m = len(network.points), len(network.bodies)
    given = network.points if positions is None else numbers(positions, "positions", (n, 3))
    v = np.zeros((n, 3)) if velocities is None else numbers(velocities, "velocities", (n, 3))
    g = network.poses if poses is None else se3.check(numbers(poses, "poses", (m, 7)), "poses")
    xi = np.zeros((m, 6)) if twists is None else numbers(twists, "twists", (m, 6))
    x = places_at(network, real(time, "time"), given, g)
    _check_start(network, given, v, x)
    _check_volumes(network, x)
    p = np.where(network._held[:, None], 0.0, network.masses[:, None] * v)
    inertia = np.array([[*3 * [home.numbers[0]], *home.moments] for _, home in network._mounted]).reshape(m, 6)
    y0 = np.concatenate([x.ravel(), g.ravel(), p.ravel(), (inertia * xi).ravel()])
    dissipates = bool(network.packed.structure[DAMPERS] > 0 or network.drag.any())
    names, units, kept = _watched(network)
    length = _extent(x)
    linear = float(np.linalg.norm([*p.ravel(), *(inertia * xi / ([1.0] * 3 + [length] * 3)).ravel()]))
    guards = (*momentum_guards(kept[:3], linear), *momentum_guards(kept[3:], linear * length))
    at_play = _at_play(network, x, v) + 0.5 * float(np.sum(inertia * xi * xi))
    of_energy = (balance_guard(at_play, dissipates),) if network.motions else energy_guard(at_play, dissipates)
    guards = (*of_energy, *guards)
    if any(kind in TETRAHEDRA for kind, _, _ in network._sets):
        guards += (
            Guard(
                "smallest_volume", "a tetrahedron is turned inside out", "use a smaller step, or StableNeoHookean",
                least=0.0, stops=not any(kind is TETRAHEDRA[-1] for kind, _, _ in network._sets),
                function=smallest_volume,
            ),
        )  # fmt: skip
    wide = max(6 * n + 13 * m, sum(len(nodes) for _, nodes, _ in network._sets))
    owned = bool(network.motions or m)
    steps = {"asynchronous": OwnStep(level_step, (OWN_ROWS + LEVEL_ROWS, wide), doubts=network.doubts)}
    if not (m or network.packed.structure[DAMPERS]):
        steps["asynchronous_free"] = OwnStep(free_step, (OWN_ROWS + FREE_ROWS, wide), doubts=network.doubts)
    return Problem(
        (product(rn(3 * n), se3**m) if m else rn(3 * n)).cotangent,
        y0,
        field,
        parameters=network.packed.parameters,
        structure=network.packed.structure,
        work_shape=(1, 3 * n) if owned else (0, 0),
        variables=_variables(network),
        invariants=invariants,
        invariant_names=names,
        invariant_units=units,
        guards=guards,
        explain=partial(explain, network),
        fastest=partial(fastest, network),
        scales=_scales(network, x, y0, inertia),
        projection=projection if owned else None,
        canonical=True,
        jacobian_sparsity=network._sparsity,
        has_kinks=any(kind.has_kinks for kind, _, _ in network._sets),
        autonomous=not network.motions,
        begins=time if network.motions else None,
        own_steps=steps,
        model=network.name,
        scene=scene_of_points(partial(places_in, network)),
    )


def _extent(x: Array) -> float:
    """How far the points of a network reach, m."""
    return float(np.linalg.norm(np.ptp(x, axis=0))) or 1.0


def _scales(network: Network, x: Array, y: Array, inertia: Array) -> Array:
    """What counts as one of each component: the extent of the network, and the momenta of nodes that go as far, or of
    bodies that turn by one, in the time 1/ω of its fastest vibration.
    """
    n, m, length = len(x), len(inertia), _extent(x)
    rate = fastest(network, y)[0] or float(np.sqrt(np.linalg.norm(network.gravity) / length)) or 1.0
    rate = rate if np.isfinite(rate) else 1.0
    momentum = max(float(network.masses.max()), float(inertia.max(initial=0.0))) * length * rate
    of_nodes = np.full((n, 3), momentum)
    of_nodes[list(network.motions)] *= length * rate  # works
    body = np.array([*3 * [length], *4 * [1.0]])
    twist = rate * np.array([*3 * [length], *3 * [1.0]])
    return np.concatenate([np.full(3 * n, length), np.tile(body, m), of_nodes.ravel(), (inertia * twist).ravel()])


def _watched(network: Network) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names and units of what is watched, and the names of conserved momenta."""
    if network.motions:
        return ("energy", "balance"), ("J", "J"), ()
    if network.fixed.any() or network.gravity.any() or network.drag.any():
        return ("energy",), ("J",), ()
    kept = tuple(f"{kind}_{axis}" for kind in ("momentum", "angular_momentum") for axis in "xyz")
    return ("energy", *kept), ("J", *["kg m/s"] * 3, *["kg m^2/s"] * 3), kept


def _variables(network: Network) -> tuple[Variable, ...]:
    """The parts of the state; in the place of momenta nodes on supports that move have works."""
    labels = tuple(f"{axis}{a}" for a in range(len(network.points)) for axis in "xyz")
    momenta = [f"{'W' if a in network.motions else 'p'}{axis}{a}" for a in range(len(network.points)) for axis in "xyz"]
    units = ["J" if label[0] == "W" else "kg m/s" for label in momenta]
    units += [*["kg m/s"] * 3, *["kg m^2/s"] * 3] * len(network.bodies)
    says = "momenta, node after node" + (", and works of supports" if network.motions else "")
    pose = ("x", "y", "z", "qw", "qx", "qy", "qz")
    bodies = [f"body{b}" for b in range(len(network.bodies))]
    turned = [f"{c}_{body}" for body in bodies for c in ("lx", "ly", "lz", "kx", "ky", "kz")]
    if bodies:
        says += "; of bodies in their principal axes"
    return (
        Variable("x", labels, "m", "positions, node after node"),
        *(Variable(body, pose, "m, m, m, 1, 1, 1, 1", "pose of the principal axes") for body in bodies),
        Variable("p", (*momenta, *turned), ", ".join(units) if len(set(units)) > 1 else units[0], says),
    )


def _check_start(network: Network, given: Array, v: Array, x: Array) -> None:
    """ModelError for nodes that are given somewhere else than they are, or velocities that they cannot have."""
    if (wrong := moving(network._held[:, None], v)).any():
        a = int(np.argwhere(wrong)[0, 0])
        is_ = "is held" if network.fixed[a] else "is moved by its support or body"
        raise ModelError(
            f"{network.name}: node {a}", f"{is_} and has a velocity", "let it rest" if network.fixed[a] else "give it 0"
        )
    elsewhere = (given != network.points).any(axis=1) & (np.abs(given - x).max(axis=1) > 1e-9 * (1.0 + np.abs(x).max()))
    if elsewhere.any():
        a = int(np.flatnonzero(elsewhere)[0])
        raise ModelError(
            f"{network.name}: node {a}",
            f"is given at {given[a].tolist()}, its support or body has it at {x[a].tolist()}",
            "leave it at its place in the network, or give it that one",
        )  # fmt: skip


def _check_volumes(network: Network, x: Array) -> None:
    """ModelError for a tetrahedron that is inside out."""
    if wrong := inside_out(network, x):
        raise ModelError(network.name, wrong, "give positions where every tetrahedron has its orientation")


def _at_play(network: Network, x: Array, v: Array) -> float:
    """Energy that the motion can exchange, J: kinetic, that of the strains and of their rounding, and of a fall through
    the network.
    """
    energy = 0.5 * float(np.sum(network.masses[~network._held] * np.sum(v[~network._held] ** 2, axis=1)))
    strains, stretched = (sum(float(np.abs(V).sum()) for V in network._potentials(k * x)) for k in (1.0, _STRETCH))
    energy += strains + (_ROUNDING * stretched if np.isfinite(stretched) else 0.0)
    size = float(np.linalg.norm(np.ptp(network.points, axis=0)))
    mass = float(network.masses[~network._held].sum()) + sum(float(home.numbers[0]) for _, home in network._mounted)
    return energy + float(mass * np.linalg.norm(network.gravity)) * size


def sparsity(network: Network) -> Any:
    """Which components of the velocity (v, ṗ) depend on which: those of nodes that an element joins."""
    n, m = len(network.points), len(network.bodies)
    half = 3 * n + 6 * m
    own = [np.array([*range(3 * a, 3 * a + 3), *range(half + 3 * a, half + 3 * a + 3)]) for a in range(n)]
    bodies = []
    for b, body in enumerate(network.bodies):
        first = 3 * n + 6 * b
        bodies.append(np.array([*range(first, first + 6), *range(half + first, half + first + 6)]))
        for a in body.nodes:
            own[a] = bodies[-1]
    joined = [np.unique(np.concatenate([own[a] for a in nodes])) for e in network.elements for nodes in e.nodes]
    return meeting(2 * half, [*joined, *bodies])
