"""Systems that roll, skate or steer: nonholonomic ones, and mechanisms on wheels."""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
