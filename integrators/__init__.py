"""Time: methods, the run engine, results.  `integrate(problem, method, t_span, step)` returns a `Solution`."""

from integrators.integrate import integrate, resume
from integrators.problem import Problem, Variable
from integrators.solution import Solution
from integrators.status import Status

__all__ = ["Problem", "Solution", "Status", "Variable", "integrate", "resume"]
