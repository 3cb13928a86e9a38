"""The families of the catalogue: every table of coefficients with the stepper that it feeds, each built when it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from integrators.method import Method
from integrators.steppers.adams import adams_bashforth
from integrators.steppers.asynchronous import asynchronous, free
from integrators.steppers.bdf import HIGHEST, bdf
from integrators.steppers.canonical_alpha import canonical_alpha, newmark
from integrators.steppers.composition import composition
from integrators.steppers.energy_momentum import energy_momentum
from integrators.steppers.exponential import exponential
from integrators.steppers.gauss_in_lanes import gauss_in_lanes_method
from integrators.steppers.implicit import implicit_rkmk, newton_rkmk
from integrators.steppers.lgvi import lgvi
from integrators.steppers.lie_variational import gauss, lobatto
from integrators.steppers.midpoint import midpoint
from integrators.steppers.rattle import rattle, rattle_drift
from integrators.steppers.rkmk import rkmk
from integrators.steppers.rosenbrock import rosenbrock
from integrators.steppers.splitting import composed_flows, rotations, splitting
from integrators.steppers.tree_variational import tree_variational
from integrators.steppers.two_register import two_register
from integrators.steppers.variational import variational
from integrators.steppers.variational_in_lanes import variational_in_lanes
from integrators.tableaus import (
    COMMUTATOR_FREE,
    COMPOSITIONS,
    CROUCH_GROSSMAN,
    DIAGONALLY_IMPLICIT,
    EXPLICIT,
    FAMILIES,
    LINEAR,
    REDUCED_COMMUTATORS,
    ROSENBROCK,
    SPLITTINGS,
    TWO_REGISTER,
    Composition,
    Table,
    galerkin,
)

STAGES = {"GAUSS": range(1, 7), "RADAU_IA": range(2, 6), "RADAU_IIA": range(1, 6)}
"""Numbers of stages in the catalogue; others are one call away: ``implicit_rkmk(GAUSS(9))``."""
LOBATTO_STAGES = range(2, 6)
STIFF = ("RADAU_IA", "RADAU_IIA", "LOBATTO_IIIC")
"""Families with R(∞) = 0, which damp stiff parts: their equations are solved by Newton's method, the others by
iteration where it converges.
"""
COMPOSED = ("SUZUKI4", "SOFSPA6", "KAHANLI6", "KAHANLI8", "SOFSPA10")
"""Compositions in the catalogue, of symmetric steps of order 2: the best of their orders."""
COMPOSED_FLOWS = ("SUZUKI4", "SOFSPA6", "KAHANLI8")
"""Compositions of drift, kick, drift: where T is not quadratic, as under the logarithmic Hamiltonian."""

Row = tuple[str, Callable[[], Method]]


def rows() -> Iterator[Row]:
    """(name, how to build it), family by family."""
    yield from _table("RKMK_", EXPLICIT, rkmk, RKMK_euler="LIE_EULER", RKMK_rk4="RKMK4")
    yield from _table("RKMK_", DIAGONALLY_IMPLICIT, newton_rkmk)
    for family in FAMILIES:
        for s in STAGES.get(family, LOBATTO_STAGES):
            name = f"RKMK_{family}{s}"
            yield name, partial(_collocation, family, s, name)
    yield from _table("", ROSENBROCK, rosenbrock)
    yield from ((f"BDF{k}", partial(bdf, k)) for k in range(1, HIGHEST + 1))
    yield "ADAMS_BASHFORTH2", adams_bashforth
    yield "ALPHA", canonical_alpha
    yield "ALPHA_0", partial(canonical_alpha, 0.0, "ALPHA_0")
    yield "NEWMARK", newmark
    yield "GAUSS8", gauss_in_lanes_method
    yield from _table("", CROUCH_GROSSMAN, exponential)
    yield from _table("", COMMUTATOR_FREE, exponential)
    yield from _table("", TWO_REGISTER, two_register)
    yield from _table("", REDUCED_COMMUTATORS, exponential)
    yield from _table("", LINEAR, exponential)
    yield from _table("SPLIT_", SPLITTINGS, splitting)
    for row in COMPOSED_FLOWS:
        yield _row(f"SPLIT_{row}", COMPOSITIONS, row, composed_flows)
    for row in COMPOSED:
        yield _row(f"ROTATIONS_{row}", COMPOSITIONS, row, rotations)
        yield _row(f"MIDPOINT_{row}", COMPOSITIONS, row, _composed_midpoint)
    yield from ((f"VARIATIONAL_GAUSS{s}", partial(gauss, s)) for s in STAGES["GAUSS"])
    yield "VARIATIONAL_GAUSS8", variational_in_lanes
    yield from ((f"VARIATIONAL_LOBATTO{s}", partial(lobatto, s)) for s in LOBATTO_STAGES)
    yield "DEL_MIDPOINT", lambda: variational(galerkin.midpoint())
    yield "DEL_TRAPEZOIDAL", lambda: variational(galerkin.trapezoidal())
    yield from ((f"DEL_GAUSS{s}", partial(_discrete_lagrangian, galerkin.gauss, s)) for s in STAGES["GAUSS"])
    yield from ((f"DEL_LOBATTO{s}", partial(_discrete_lagrangian, galerkin.lobatto, s)) for s in LOBATTO_STAGES)
    for row in COMPOSED:
        yield _row(f"DEL_MIDPOINT_{row}", COMPOSITIONS, row, _composed_discrete_lagrangian)
    for map in ("cayley", "exp", "ccsk"):
        yield f"LGVI_{map.upper()}", partial(lgvi, map=map)
    for form in ("moser_veselov", "truncated1", "truncated2"):
        yield f"LGVI_{form.upper()}", partial(lgvi, form=form)
    for row in COMPOSED:
        yield _row(f"LGVI_CAYLEY_{row}", COMPOSITIONS, row, partial(_composed_lgvi, "hp"))
        yield _row(f"LGVI_MOSER_VESELOV_{row}", COMPOSITIONS, row, partial(_composed_lgvi, "moser_veselov"))
    yield "RATTLE", rattle
    for row in COMPOSED:
        yield _row(f"RATTLE_{row}", COMPOSITIONS, row, _composed_rattle)
    yield "RATTLE_DRIFT", rattle_drift
    for row in ("SUZUKI4", "KAHANLI6"):
        yield _row(f"RATTLE_DRIFT_{row}", COMPOSITIONS, row, rattle_drift)
    yield "ENERGY_MOMENTUM", energy_momentum
    yield "TREE_VARIATIONAL", tree_variational
    for row in COMPOSED:
        yield _row(f"TREE_VARIATIONAL_{row}", COMPOSITIONS, row, tree_variational)
    yield "TREE_VARIATIONAL_IMEX", partial(tree_variational, springs="midpoint")
    yield "AVI", asynchronous
    for row in ("SUZUKI4", "KAHANLI6"):
        yield _row(f"AVI_{row}", COMPOSITIONS, row, asynchronous)
    yield "AVI_FREE", free


def _collocation(family: str, s: int, name: str) -> Method:
    build = newton_rkmk if family in STIFF else implicit_rkmk
    tableau = FAMILIES[family](s)
    if family == "RADAU_IIA" and s > 1 and s % 2:
        return build(tableau, name, embedded_order=s)
    return build(tableau, name)


def _discrete_lagrangian(build: Callable[[int], galerkin.Galerkin], s: int) -> Method:
    return variational(build(s))


def _composed_discrete_lagrangian(weights: Composition, name: str) -> Method:
    return composition(variational(galerkin.midpoint()), weights, name)


def _composed_rattle(weights: Composition, name: str) -> Method:
    return composition(rattle(), weights, name)


def _composed_lgvi(form: str, weights: Composition, name: str) -> Method:
    return composition(lgvi(form=form), weights, name)


def _composed_midpoint(weights: Composition, name: str) -> Method:
    return composition(midpoint(), weights, name)


def _table(prefix: str, table: Table, build: Callable[..., Method], **names: str) -> Iterator[Row]:
    """One row of the catalogue per row of a table, named after it unless `names` says otherwise."""
    for row in table:
        yield _row(names.get(f"{prefix}{row}", f"{prefix}{row}".upper()), table, row, build)


def _row(name: str, table: Table, row: str, build: Callable[..., Method]) -> Row:
    return name, lambda: build(table[row], name)
