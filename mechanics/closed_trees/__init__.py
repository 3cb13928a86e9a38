"""Kernels of trees with closures and force elements: equations of motion, projection, watched numbers."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
