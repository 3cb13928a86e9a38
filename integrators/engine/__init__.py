"""Running: compiled loops over steps, and what drives them chunk by chunk."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
