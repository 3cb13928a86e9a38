"""Nonholonomic systems: linear constraints on velocities, reduced and with multipliers."""
