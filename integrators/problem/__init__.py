"""Problems: a group, a field or a Lagrangian, what is conserved, and what else a method may ask for."""

from integrators.problem.problem import OwnStep, Problem, Variable

__all__ = ["OwnStep", "Problem", "Variable"]
