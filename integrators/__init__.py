"""Time: methods, the run engine, results.  `integrate(problem, method, t_span, step)` returns a `Solution`."""

from typing import TYPE_CHECKING

from liegroup.modules import found_later, listing, renamed, uncollected

with uncollected():
    from integrators.choice import suggest_step
    from integrators.events import Event
    from integrators.integrate import integrate, resume
    from integrators.problem import Doubt, Guard, Problem, Sampled, Variable, traced
    from integrators.results.solution import Solution
    from integrators.status import Status

if TYPE_CHECKING:
    from integrators.codegen import compile_step, generate_code
    from integrators.modes import integrate_modes
    from integrators.step_function import StepError, StepFunction, stepper
    from integrators.sweeps import sweep

__getattr__ = found_later(
    __name__,
    {
        "integrators.codegen": ("compile_step", "generate_code"),
        "integrators.modes": ("integrate_modes",),
        "integrators.step_function": ("StepError", "StepFunction", "stepper"),
        "integrators.sweeps": ("sweep",),
    },
)
renamed(
    {
        "integrators.analysis.drift": "integrators.statistics.drift",
        "integrators.lagrangian": "integrators.problem.lagrangian",
        "integrators.one_step": "integrators.method.step_map",
        "integrators.parts": "integrators.problem.parts",
        "integrators.solution": "integrators.results.solution",
        "integrators.step_derivative": "integrators.step_derivatives.linearised",
        "integrators.storage": "integrators.results.storage",
    }
)

__all__ = [
    "Doubt",
    "Event",
    "Guard",
    "Problem",
    "Sampled",
    "Solution",
    "Status",
    "StepError",
    "StepFunction",
    "Variable",
    "compile_step",
    "generate_code",
    "integrate",
    "integrate_modes",
    "resume",
    "stepper",
    "suggest_step",
    "sweep",
    "traced",
]
__dir__ = listing(__all__)
