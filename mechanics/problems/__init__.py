"""Motions of trees and mechanisms as problems; straight-line code for one model; watches."""

from liegroup.modules import listing
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
__dir__ = listing(__all__)
