"""Variational steps of trees in linear time: discrete Euler–Lagrange equations solved by one recursion per
iteration.
"""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
