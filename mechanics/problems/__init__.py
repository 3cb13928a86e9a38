"""Motions of trees and mechanisms as problems; straight-line code for one model; watches."""

from typing import TYPE_CHECKING

from liegroup.modules import found_later, listing

if TYPE_CHECKING:
    from mechanics.problems.accounts import Account, element_accounts
    from mechanics.problems.compiled import CompiledModel, compile_model
    from mechanics.problems.live_watch import LiveWatch
    from mechanics.problems.nonsmooth import Nonsmooth
    from mechanics.problems.tree import hamiltonian_problem
    from mechanics.problems.velocity import velocity_problem
    from mechanics.problems.watch import findings, report

__all__ = [
    "Account",
    "CompiledModel",
    "LiveWatch",
    "Nonsmooth",
    "compile_model",
    "element_accounts",
    "findings",
    "hamiltonian_problem",
    "report",
    "velocity_problem",
]
_HOMES = {
    "mechanics.problems.accounts": ("Account", "element_accounts"),
    "mechanics.problems.compiled": ("CompiledModel", "compile_model"),
    "mechanics.problems.live_watch": ("LiveWatch",),
    "mechanics.problems.nonsmooth": ("Nonsmooth",),
    "mechanics.problems.tree": ("hamiltonian_problem",),
    "mechanics.problems.velocity": ("velocity_problem",),
    "mechanics.problems.watch": ("findings", "report"),
}
"""Where the names stand."""
__getattr__ = found_later(__name__, _HOMES)
__dir__ = listing(__all__)
