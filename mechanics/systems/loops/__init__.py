"""Linkages with closed loops."""
