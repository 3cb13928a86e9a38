"""Mechanisms in the classical formulations: Lagrange, Baumgarte, Ostermeyer, augmented Lagrangian, penalty, and
projections.

The equations are those of `mechanics.formulations.index_one`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem import Doubt, Problem, Variable
from liegroup.arrays import integer, of_kind, positive, real
from liegroup.group import product, rn
from mechanics import dynamics
from mechanics.algorithms.batch import once
from mechanics.closed_trees.packing import Settings, pack_loops
from mechanics.constraints.assembly import state_units
from mechanics.constraints.mobility import least_pivot
from mechanics.errors import ModelError
from mechanics.formulations.index_one import (
    SPRINGS,
    index_one,
    index_one_invariants,
    index_one_powers,
    index_one_projection,
)
from mechanics.guards import OPEN, STRAINED, closure_guards, pivot_guard, start_guard
from mechanics.mechanism import Mechanism
from mechanics.scenes import mechanism_scene

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Lagrange:
    """Lagrange's equations of the first kind: φ̈ = 0.

    Examples
    --------
    >>> from mechanics.formulations import Lagrange
    >>> Lagrange().settings()
    Settings(numbers=(0.0, 0.0, 0.0, 0.0), rounds=0, integral=False)
    """

    def settings(self) -> Settings:
        """What the kernels read of it."""
        return Settings((0.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True)
class Baumgarte:
    """φ̈ + 2α φ̇ + β² φ = 0, α and β in 1/s; default critical, α = β.

    Good gains follow the time scale of the motion (about its highest angular rate), never the step: 1/h differentiates
    the truncation error of the stages.

    Parameters
    ----------
    alpha : float
        α, 1/s, positive.
    beta : float, optional
        β, 1/s, positive; default α.

    Raises
    ------
    ValueError
        From `settings`: gains that are not positive.

    References
    ----------
    Baumgarte 1972.

    Examples
    --------
    >>> from mechanics.formulations import Baumgarte
    >>> Baumgarte(10.0).settings().numbers
    (20.0, 100.0, 0.0, 0.0)
    """

    alpha: float
    beta: float | None = None

    def settings(self) -> Settings:
        """What the kernels read of it: gains 2α, β², 0."""
        beta = self.alpha if self.beta is None else self.beta
        _check(alpha=self.alpha, beta=beta)
        return Settings((2.0 * self.alpha, beta**2, 0.0, 0.0))


@dataclass(frozen=True)
class Ostermeyer:
    """φ̈ + 3s φ̇ + 3s² φ + s³ z = 0, ż = φ; s in 1/s.

    Parameters
    ----------
    s : float
        1/s, positive: all three roots are at −s.

    References
    ----------
    Ostermeyer 1990.

    Examples
    --------
    >>> from mechanics.formulations import Ostermeyer
    >>> Ostermeyer(10.0).settings().numbers
    (30.0, 300.0, 1000.0, 0.0)
    """

    s: float

    def settings(self) -> Settings:
        """What the kernels read of it: gains 3s, 3s², s³."""
        _check(s=self.s)
        return Settings((3.0 * self.s, 3.0 * self.s**2, self.s**3, 0.0), integral=True)


@dataclass(frozen=True)
class AugmentedLagrangian:
    """Baumgarte's equation with frequency Ω and damping ratio μ, its multipliers by `rounds` of a penalty a (relative
    to 1/Φ).

    Parameters
    ----------
    frequency : float
        Ω, 1/s, positive.
    damping : float
        μ, the ratio to critical damping, positive.
    penalty : float
        a, relative to 1/Φ, positive.
    rounds : int
        Iterations of the multipliers per evaluation, at least one.

    References
    ----------
    Bayo, García de Jalón and Serna 1988.

    Examples
    --------
    >>> from mechanics.formulations import AugmentedLagrangian
    >>> AugmentedLagrangian(rounds=5).settings().rounds
    5
    """

    frequency: float = 10.0
    damping: float = 1.0
    penalty: float = 1e7
    rounds: int = 3

    def settings(self) -> Settings:
        """What the kernels read of it: gains 2μΩ, Ω², 0, the penalty and the rounds."""
        _check(frequency=self.frequency, damping=self.damping, penalty=self.penalty)
        return Settings(
            (2.0 * self.damping * self.frequency, self.frequency**2, 0.0, 1.0 / self.penalty),
            rounds=integer(self.rounds, "rounds", 1),
        )


@dataclass(frozen=True)
class Penalty:
    """Springs and dampers in place of the closures: λ = −(k φ + c φ̇), gaps of λ/k.

    k and c count for closures of comparable sizes (`Mobility.scales`), whose φ̈ answers to unit λ with about 1: k in
    1/s², c in 1/s.

    Parameters
    ----------
    stiffness : float
        k in 1/s² (SI), positive.
    damping : float
        c, 1/s, positive.

    References
    ----------
    Courant 1943.

    Examples
    --------
    >>> from mechanics.formulations import Penalty
    >>> Penalty(1e6, 100.0).settings().numbers
    (100.0, 1000000.0, 0.0, 0.0)
    """

    stiffness: float
    damping: float

    @staticmethod
    def of_frequency(mechanism: Mechanism, frequency: float, ratio: float = 0.3) -> Penalty:
        """The penalty whose fastest vibration at `home` has the angular frequency ω, 1/s, and the damping ratio ζ.

        RK4 with steps h holds it for h ω below about 2.6; the error is 1/ω² of the reactions, so that h ω = 2 is the
        best setting.

        Parameters
        ----------
        mechanism : Mechanism
            Whose closures are to be held.
        frequency : float
            ω, 1/s, positive.
        ratio : float
            ζ, the damping ratio, positive.

        Returns
        -------
        Penalty
            Of that frequency.

        Raises
        ------
        ModelError
            A mechanism without closures.
        """
        of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
        _check(frequency=frequency, ratio=ratio)
        if not mechanism.mobility.rank:
            raise ModelError(
                f"mechanism {mechanism.name!r}", "has no closures that springs could hold", "use Lagrange()"
            )
        greatest = float(mechanism.mobility.spectra[0][0]) ** 2
        return Penalty(frequency**2 / greatest, 2.0 * ratio * frequency / greatest)

    def settings(self) -> Settings:
        """What the kernels read of it: c and k."""
        _check(stiffness=self.stiffness, damping=self.damping)
        return Settings((self.damping, self.stiffness, 0.0, 0.0), rounds=SPRINGS)


Stabilisation = Lagrange | Baumgarte | Ostermeyer | AugmentedLagrangian | Penalty


def _check(**gains: float) -> None:
    for name, value in gains.items():
        positive(value, name)


def multiplier_problem(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    rates: Mapping[str, ArrayLike] | None = None,
    *,
    stabilisation: Stabilisation = Lagrange(),
    projection: Literal["none", "velocities", "positions"] = "none",
    t: float = 0.0,
) -> Problem:
    """The motion of a mechanism with multipliers, y = (q, v) or (q, v, z).

    Parameters
    ----------
    q : array (nq,), optional
        Closed configuration, rad and m; default that of `Mechanism.start`.
    v : array (nv,), optional
        Velocities, rad/s and m/s, that keep it closed; default those of `Mechanism.start`.
    rates : mapping of str to float or array, optional
        Instead of v: rates of joints by name, rad/s and m/s.
    stabilisation : Lagrange, Baumgarte, Ostermeyer, AugmentedLagrangian or Penalty
        What is asked of φ̈.
    projection : {"none", "velocities", "positions"}
        After every step: nothing, velocities only, or positions and velocities.
    t : float
        When runs are to begin, s: it matters with prescribed motions and closures that move, whose start is one at that
        time.
    mechanism : Mechanism
        With loops, couplings, wheels or none.

    Returns
    -------
    Problem
        State (q, v), with z, the integrals of the gaps, behind it for `Ostermeyer`; watches energy, gap and velocity
        gap.

    Raises
    ------
    ValueError
        Another projection, gains that are not positive; TypeError for another stabilisation, ModelError as from
        `Mechanism.problem`.

    Notes
    -----
    φ̈ + K_D φ̇ + K_P φ + K_I z = 0, with multipliers λ from Φ λ = −(G H⁻¹ f + Ġ v + K_D φ̇ + K_P φ + K_I z).

    Examples
    --------
    >>> from mechanics.formulations import Baumgarte, multiplier_problem
    >>> from mechanics.systems import SYSTEMS
    >>> multiplier_problem(SYSTEMS["four-bar"].mechanism(), stabilisation=Baumgarte(10.0))
    <Problem 'four-bar': on SO(2) × SO(2) × SO(2) × R^3, watching energy, gap, velocity_gap>
    """
    if projection not in ("none", "velocities", "positions"):
        raise ValueError(f"projection: {projection!r}, expected 'none', 'velocities' or 'positions'")
    of_kind(mechanism, Mechanism, "mechanism", "a Mechanism")
    of_kind(
        stabilisation,
        get_args(Stabilisation),
        "stabilisation",
        " or ".join(x.__name__ for x in get_args(Stabilisation)),
    )
    tree, mobility, settings = mechanism.tree, mechanism.mobility, stabilisation.settings()
    t = real(t, "t")
    q0, v0 = mechanism.start(q, v, rates, t)
    with once():
        kinetic = float(dynamics.kinetic_energy(mechanism.tree, q0, v0, t))
    integral = len(mobility.kept) if settings.integral else 0
    packed = pack_loops(
        tree,
        mechanism.equations,
        mechanism.solved,
        mechanism.elements,
        mechanism.tolerances,
        projection == "positions",
        settings,
    )
    labels, velocity_labels = mechanism.labels
    variables = [
        Variable("q", labels, mechanism.coordinate_units, "joint coordinates, rad or m"),
        Variable("v", velocity_labels, "", "joint velocities, rad/s or m/s"),
    ]
    if integral:
        names = tuple(mechanism.equations.names[c] for c in mobility.kept)
        variables.append(Variable("z", names, "", "integrals of the gaps"))
    return Problem(
        product(tree.group, rn(tree.nv + integral)),
        np.concatenate([q0, v0, np.zeros(integral)]),
        index_one,
        parameters=packed.parameters,
        numerical=packed.numerical,
        structure=packed.structure,
        work_shape=packed.work_shape,
        variables=variables,
        invariants=index_one_invariants,
        invariant_names=("energy", "gap", "velocity_gap"),
        invariant_units=("J", "m", "m/s"),
        guards=(
            *mechanism.energy_guards(q0, kinetic),
            *start_guard(mechanism.tree, kinetic),
            *closure_guards(mechanism.size, OPEN if projection == "positions" else STRAINED),
        ),
        explain=mechanism.explain,
        doubts=mechanism.state_doubts() if settings.rounds else partial(_doubts, mechanism),
        projection=None if projection == "none" else index_one_projection,
        accumulates=integral > 0,
        begins=mechanism.closes_at(q0, v0, t),
        scales=np.concatenate([state_units(tree, mechanism.size), np.ones(integral)]),
        positions=tree.nv,
        strikes=any(element.strikes for element in mechanism.elements),
        has_kinks=any(element.has_kinks for element in mechanism.elements),
        model=mechanism.name,
        scene=mechanism_scene(mechanism),
        joints=tree,
        inputs=replace(packed.inputs, power=index_one_powers),
    )


def _lost(mechanism: Mechanism, q: Array, t: float = 0.0) -> list[Doubt]:
    """The doubt of a start at a singular position, where nothing determines λ."""
    mobility = mechanism.mobility
    if not mobility.rank or (np.array_equal(q, mechanism.home) and not mobility.is_singular_at_home):
        return []
    pivot, (guard,) = least_pivot(mechanism.equations, mobility, q, t), pivot_guard(mechanism.pivot_at_home)
    if pivot >= guard.least:
        return []
    says = ", ".join(text for text in (guard.says, mechanism.explain(t, q)) if text)
    return [Doubt(guard.name, t, pivot, guard.least, says, guard.remedy)]


def _doubts(mechanism: Mechanism, t: Array, y: Array, u: Callable[[int], Array] | None = None) -> list[Doubt]:
    """Those of saved states, from a start that may be at a singular position."""
    others = mechanism.state_doubts()
    return [*_lost(mechanism, y[0, : mechanism.tree.nq], float(t[0])), *(others(t, y, u) if others else ())]
