"""Kernels of trees with closures and force elements: equations of motion, projection, watched numbers."""
