"""What derivatives give: where a mechanism rests, how it moves near a motion, its vibrations and its stability."""

from liegroup.modules import listing
from mechanics.linear.linearised import Linearisation, linearise
from mechanics.linear.rest import Equilibrium, EquilibriumError, equilibrium
from mechanics.linear.steady import Stability, stability
from mechanics.linear.vibrations import Modes, modes

__all__ = [
    "Equilibrium",
    "EquilibriumError",
    "Linearisation",
    "Modes",
    "Stability",
    "equilibrium",
    "linearise",
    "modes",
    "stability",
]
__dir__ = listing(__all__)
