"""Coefficients of methods: data that checks itself and computes its own properties."""

from integrators.tableaus.butcher import ButcherTableau, Rounded
from integrators.tableaus.catalogue import DIAGONALLY_IMPLICIT, EXPLICIT, Table

__all__ = ["DIAGONALLY_IMPLICIT", "EXPLICIT", "ButcherTableau", "Rounded", "Table"]
