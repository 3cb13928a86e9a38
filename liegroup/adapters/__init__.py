"""Doors to other packages; each module needs one of them, and nothing inside imports these."""
