"""What is read and compared, and never on the path of a run: dense equations, other algorithms, operation counts."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
