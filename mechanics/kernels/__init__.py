"""Recursions along the links of a tree, link by link."""
