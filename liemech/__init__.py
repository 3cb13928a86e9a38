"""The packages `liegroup`, `integrators` and `mechanics` under one name: the version, and the command line.

>>> import liemech
>>> liemech.__version__.count(".") >= 1
True
"""

from importlib.metadata import version

from liegroup.modules import listing

__version__ = version("liemech")

__all__ = ["__version__"]
__dir__ = listing(__all__)
