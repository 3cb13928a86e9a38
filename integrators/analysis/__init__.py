"""Rulers: order, symplecticity, reversibility and drift of methods, on plain callables and arrays."""
