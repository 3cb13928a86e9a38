"""Results: a `Solution`, and files of labelled arrays."""

from integrators.results.solution import Solution
from integrators.results.storage import Dataset, StorageError, Variable, read
from liegroup.modules import listing

__all__ = ["Dataset", "Solution", "StorageError", "Variable", "read"]
__dir__ = listing(__all__)
