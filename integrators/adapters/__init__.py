"""Doors to other libraries: leaves, imported by nobody inside."""
