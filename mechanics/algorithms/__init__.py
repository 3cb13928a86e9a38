"""Classical algorithms of tree dynamics on packed links: one sweep per file, for one trajectory and for lanes."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
