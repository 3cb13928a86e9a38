"""Code in other languages: fields, invariants and whole steps of problems; steps as straight-line code."""

from integrators.codegen.generate import compile_step, generate_code
from liegroup.modules import listing

__all__ = ["compile_step", "generate_code"]
__dir__ = listing(__all__)
