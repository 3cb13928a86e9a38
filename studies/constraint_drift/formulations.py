"""The ways to keep loops closed that are compared, each at its own best settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.peers import missing, mujoco, pinocchio
from integrators.problem import Problem
from mechanics.formulations.body_problem import body_problem
from mechanics.formulations.constrained_problem import constrained_problem
from mechanics.formulations.multiplier_problem import (
    AugmentedLagrangian,
    Baumgarte,
    Lagrange,
    Ostermeyer,
    Penalty,
    Stabilisation,
    multiplier_problem,
)
from mechanics.mechanism import Mechanism, Projection

EXPLICIT = "RKMK4"
"""The explicit method of all formulations that are fields."""


@dataclass(frozen=True)
class Formulation:
    """How a mechanism becomes a problem, and the method that solves it."""

    name: str
    family: str
    """What is shown as one curve; formulations of a family differ in a setting, the best is shown."""
    coordinates: str
    method: str
    pose: Callable[..., Problem]
    """``pose(mechanism, **start)``."""
    peer: Callable[..., Any] | None = None
    """Another program in place of `integrate`: ``peer(mechanism, problem, span, step, save_every)``."""


def _multipliers(mechanism: Mechanism, stabilisation: Stabilisation, projection: Any = "none", **start: Any) -> Problem:
    return multiplier_problem(mechanism, **start, stabilisation=stabilisation, projection=projection)


def _penalty(mechanism: Mechanism, frequency: float, **start: Any) -> Problem:
    return multiplier_problem(mechanism, **start, stabilisation=Penalty.of_frequency(mechanism, frequency))


def _hamiltonian(mechanism: Mechanism, projection: Projection, **start: Any) -> Problem:
    return mechanism.problem(**start, projection=projection)


def formulations(
    rate: float, step: float, gains: tuple[float, ...], in_bodies: bool = True, with_peers: bool = True
) -> Iterator[Formulation]:
    """All formulations for a mechanism whose fastest motion has the angular rate `rate`; gains are multiples of it."""

    def explicit(name: str, family: str, pose: Callable[..., Problem]) -> Formulation:
        return Formulation(name, family, "tree", EXPLICIT, pose)

    yield explicit("Lagrange I", "Lagrange I", partial(_multipliers, stabilisation=Lagrange()))
    for gain in gains:
        b = gain * rate
        for zeta in (0.5, 1.0):
            stabilisation = Baumgarte(zeta * b, b)
            yield explicit(
                f"Baumgarte β = {b:.3g}, ζ = {zeta:g}", "Baumgarte", partial(_multipliers, stabilisation=stabilisation)
            )
        yield explicit(f"Ostermeyer s = {b:.3g}", "Ostermeyer", partial(_multipliers, stabilisation=Ostermeyer(b)))
        augmented = AugmentedLagrangian(b)
        yield explicit(f"augmented Ω = {b:.3g}", "augmented Lagrangian", partial(_multipliers, stabilisation=augmented))
    yield explicit("Baumgarte 1/h", "Baumgarte 1/h", partial(_multipliers, stabilisation=Baumgarte(1.0 / step)))
    for part in (0.5, 1.0, 2.0):
        yield explicit(f"penalty hω = {part:g}", "penalty", partial(_penalty, frequency=part / step))
    yield explicit(
        "velocity projection",
        "velocity projection",
        partial(_multipliers, stabilisation=Lagrange(), projection="velocities"),
    )
    yield explicit("projection", "projection", partial(_multipliers, stabilisation=Lagrange(), projection="positions"))
    for projection, name in (
        ("none", "Hamiltonian"),
        ("momenta", "Hamiltonian re-based"),
        ("positions", "Hamiltonian closed"),
    ):
        yield explicit(name, name, partial(_hamiltonian, projection=projection))
    yield Formulation("GAUSS8, closed", "GAUSS8", "tree", "GAUSS8", partial(_hamiltonian, projection="positions"))
    for gain in gains if with_peers else ():
        for peer, solve in (("Pinocchio", pinocchio), ("MuJoCo", mujoco)):
            if peer not in missing():
                pose = partial(_multipliers, stabilisation=Lagrange())
                method = "semi-implicit Euler" if peer == "Pinocchio" else "RK4 of MuJoCo"
                yield Formulation(
                    f"{peer} β = {gain * rate:.3g}", peer, "tree", method, pose, partial(solve, gain * rate)
                )
    for coordinates, pose in (("tree", constrained_problem), ("body", body_problem))[: 1 + in_bodies]:
        yield Formulation(
            f"generalised-α index 3, {coordinates}", "generalised-α index 3", coordinates, "ALPHA_INDEX3", pose
        )
        yield Formulation(f"RATTLE, {coordinates}", f"RATTLE {coordinates}", coordinates, "DLA", pose)
    yield Formulation(
        "generalised-α stabilised", "generalised-α stabilised", "tree", "ALPHA_STABILISED", constrained_problem
    )
    yield Formulation(
        "augmented Lagrangian index 3",
        "augmented Lagrangian index 3",
        "tree",
        "AUGMENTED_LAGRANGIAN",
        constrained_problem,
    )
    yield Formulation("Radau IIA GGL", "Radau IIA GGL", "tree", "RADAU_GGL", constrained_problem)
    yield Formulation("RATTLE order 4", "RATTLE order 4", "tree", "DLA4", constrained_problem)
