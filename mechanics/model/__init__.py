"""A tree of rigid bodies: bodies, inertias, frames, and the flat arrays that kernels read."""
