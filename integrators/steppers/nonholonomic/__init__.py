"""Steppers for velocities under constraints."""
