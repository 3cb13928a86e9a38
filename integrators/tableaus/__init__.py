"""Coefficients of methods: data that checks itself and computes its own properties."""

from integrators.tableaus.butcher import ButcherTableau, Rounded
from integrators.tableaus.catalogue import (
    COMMUTATOR_FREE,
    COMPOSITIONS,
    CONTROLLERS,
    CROUCH_GROSSMAN,
    DIAGONALLY_IMPLICIT,
    EXPLICIT,
    LINEAR,
    REDUCED_COMMUTATORS,
    ROSENBROCK,
    SPLITTINGS,
    TWO_REGISTER,
    Table,
)
from integrators.tableaus.collocation import (
    FAMILIES,
    GAUSS,
    LOBATTO_IIIA,
    LOBATTO_IIIB,
    LOBATTO_IIIC,
    LOBATTO_IIIC_STAR,
    LOBATTO_IIID,
    LOBATTO_IIIE,
    RADAU_IA,
    RADAU_IIA,
)
from integrators.tableaus.controller import Controller
from integrators.tableaus.exponential import CrouchGrossman, ExponentialScheme, TwoRegister
from integrators.tableaus.partitioned import LOBATTO_IIIA_IIIB, SYMPLECTIC_EULER, PartitionedTableau
from integrators.tableaus.rosenbrock import RosenbrockTableau, Transformed
from integrators.tableaus.splitting import Composition, Splitting
from liegroup.modules import listing

__all__ = [
    "COMMUTATOR_FREE",
    "COMPOSITIONS",
    "CONTROLLERS",
    "CROUCH_GROSSMAN",
    "DIAGONALLY_IMPLICIT",
    "EXPLICIT",
    "FAMILIES",
    "GAUSS",
    "LINEAR",
    "LOBATTO_IIIA",
    "LOBATTO_IIIA_IIIB",
    "LOBATTO_IIIB",
    "LOBATTO_IIIC",
    "LOBATTO_IIIC_STAR",
    "LOBATTO_IIID",
    "LOBATTO_IIIE",
    "RADAU_IA",
    "RADAU_IIA",
    "REDUCED_COMMUTATORS",
    "ROSENBROCK",
    "SPLITTINGS",
    "SYMPLECTIC_EULER",
    "TWO_REGISTER",
    "ButcherTableau",
    "Composition",
    "Controller",
    "CrouchGrossman",
    "ExponentialScheme",
    "PartitionedTableau",
    "RosenbrockTableau",
    "Rounded",
    "Splitting",
    "Table",
    "Transformed",
    "TwoRegister",
]
__dir__ = listing(__all__)
