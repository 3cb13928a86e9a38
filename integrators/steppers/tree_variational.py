"""Variational integrators of trees of bodies, in linear time: the rows of the catalogue; the kernel comes with the
tree.

One step solves the discrete Euler–Lagrange equations of a tree in the momenta at the nodes, by recursions over the
bodies (`mechanics.variational`): order 2, symplectic, symmetric, momenta exact.  Where wheels roll the step is that of
the discrete Lagrange–d'Alembert principle: symmetric still, not symplectic.  Higher orders are compositions.  The map
of the bodies' motions is one of

=============  ========================================================================================
``split``      positions and turns apart, about the mass centres; Cayley map: rational, the default
``splitexp``   the same with the exponential map of turns: smaller error constants, 1.5 times the cost
``cayley``     the Cayley map of SE(3), for comparison with the literature
``exp``        the exponential map of SE(3), for comparison with the literature
=============  ========================================================================================

Springs of force elements are taken at the nodes, or, ``springs="midpoint"``, by the midpoint rule, which no stiffness
limits.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from integrators.method import Method, Stepper
from integrators.tableaus import Composition
from integrators.tableaus.numbers import floats

TREE_VARIATIONAL = Stepper(
    "tree_variational",
    None,
    lambda options: 0,
    maps=("split", "splitexp", "cayley", "exp"),
    own="variational",
    before_weights=1,
    evaluates="nothing",
    needs="own step",
)

TREE_VARIATIONAL_IMEX = replace(TREE_VARIATIONAL, name="tree_variational_imex", own="variational_imex")


def tree_variational(
    composition: Composition | None = None,
    name: str = "",
    turn: float = 0.75,
    divisions: int = 10,
    newton: str = "exact",
    map: str = "split",
    springs: str = "trapezoidal",
    **changes: Any,
) -> Method:
    """The variational integrator of a tree.

    Parameters
    ----------
    composition : Composition, optional
        A symmetric composition, for orders above 2.
    turn : float
        Largest turn of a joint in one substep, rad, below π; a step that turns further is divided by two (and
        reported).
    divisions : int
        Largest number of divisions by two; 0: a step is never divided, and one that turns too far fails.
    newton : {"exact", "inertia"}
        The matrix of the iteration: exact, or the inertia at the start of the step (RIQN, for comparison).
    map : {"split", "splitexp", "cayley", "exp"}
        The map of the bodies' motions.
    springs : {"trapezoidal", "midpoint"}
        Of the discrete potential of force elements on joints and along equations.  Trapezoidal: forces at the nodes, as
        explicit as gravity, up to h ω = 2.  Midpoint, h U((φ₀ + φ₁)/2): implicit, without such a limit
        (implicit–explicit, IMEX); frequencies beyond 1/h are then slowed down to (2/h) atan(h ω/2).

    Raises
    ------
    ValueError
    """
    if not 0.0 < turn < math.pi:
        raise ValueError(f"turn: {turn}, expected an angle in rad between 0 and π; 0.75 is the default")
    if isinstance(divisions, bool) or not 0 <= divisions <= 30:
        raise ValueError(f"divisions: {divisions!r}, expected a whole number from 0 to 30")
    if newton not in ("exact", "inertia"):
        raise ValueError(f"newton: {newton!r}, expected 'exact' or 'inertia'")
    if springs not in ("trapezoidal", "midpoint"):
        raise ValueError(f"springs: {springs!r}, expected 'trapezoidal' or 'midpoint'")
    imex = springs == "midpoint"
    family = "TREE_VARIATIONAL_IMEX" if imex else "TREE_VARIATIONAL"
    weights = np.ones(1) if composition is None else floats(composition.weights)
    return Method(
        name=name or (family if composition is None else f"{family}_{composition.name.upper()}"),
        stepper=TREE_VARIATIONAL_IMEX if imex else TREE_VARIATIONAL,
        order=2 if composition is None else composition.order,
        coefficients=np.concatenate([[2 * math.tan(turn / 2)], weights]),
        options=np.array([newton == "exact", divisions, imex]),
        symmetric=True,
        symplectic=True,
        source="Lee, Liu, Park and Srinivasa 2016 (linear time); Bou-Rabee and Marsden 2009 (maps)"
        + ("; Stern and Grinspun 2009 (springs)" if imex else ""),
        map=map,
        **changes,
    )
