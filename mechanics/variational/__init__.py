"""Variational steps of trees in linear time: discrete Euler–Lagrange equations solved by one recursion per
iteration.
"""
