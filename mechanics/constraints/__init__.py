"""Closures of a tree: loops, couplings, wheels; their equations, assembly and mobility."""
