"""Points, single rigid bodies and trees with known motions."""
