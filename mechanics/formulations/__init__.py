"""Closed loops in other variables: multipliers, index one, coordinates of bodies, holonomic constraints, reactions."""
