"""Classical algorithms of tree dynamics on packed rows: one sweep per file, for one trajectory and for lanes."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
