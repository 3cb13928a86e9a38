"""Force elements whose forces a variational step finds together with the motion: dampers, contacts, springs by the
midpoint rule.
"""

from liegroup.modules import listing

__all__: list[str] = []
__dir__ = listing(__all__)
