"""One link eliminated from the equations of motion, by kind of its motion."""
