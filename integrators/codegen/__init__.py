"""Code in other languages: fields, invariants and whole steps of problems."""

from integrators.codegen.generate import generate_code
from liegroup.modules import listing

__all__ = ["generate_code"]
__dir__ = listing(__all__)
