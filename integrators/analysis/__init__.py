"""Rulers: order, symplecticity, reversibility and drift of methods, on plain callables and arrays."""

from integrators.analysis.exponents import Floquet, Lyapunov, floquet_multipliers, lyapunov_exponents
from integrators.analysis.order import MeasuredOrder, measured_local_order, measured_order
from integrators.analysis.reversibility import reversibility_defect, symmetry_defect
from integrators.analysis.symplecticity import (
    canonical_form,
    complex_derivative,
    cotangent_form,
    derivative,
    symplectic_defect,
)
from integrators.statistics.drift import Drift, energy_drift, growth_exponent, smooth_average
from liegroup.modules import listing

__all__ = [
    "Drift",
    "Floquet",
    "Lyapunov",
    "MeasuredOrder",
    "canonical_form",
    "complex_derivative",
    "cotangent_form",
    "derivative",
    "energy_drift",
    "floquet_multipliers",
    "growth_exponent",
    "lyapunov_exponents",
    "measured_local_order",
    "measured_order",
    "reversibility_defect",
    "smooth_average",
    "symmetry_defect",
    "symplectic_defect",
]
__dir__ = listing(__all__)
