"""Arithmetic that kernels of every room share: sums in two words, elimination, interpolation."""
