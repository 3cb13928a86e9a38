"""The packages `liegroup`, `integrators` and `mechanics` under one name: their everyday names, the version, and the
command line ``liemech``.

>>> import liemech
>>> top = liemech.SYSTEMS["heavy-top"]
>>> solution = liemech.integrate(top, "MIDPOINT", (0.0, 0.1), step=1e-2)
>>> solution.success
True

Names are looked up when they are first asked for, so that the import itself takes no time; everything else is in the
three packages.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from integrators import Problem, Solution, integrate, resume, suggest_step
    from integrators.methods import METHODS
    from liegroup import Group, product, rn, se2, se3, so2, so3
    from liemech.mujoco import mujoco_stepper
    from mechanics import (
        Body,
        Inertia,
        Mechanism,
        Tree,
        compile_model,
        hamiltonian_problem,
        joints,
        load_mechanism,
        load_mjcf,
        load_model,
        load_urdf,
        model_names,
    )
    from mechanics.systems import SYSTEMS

    __version__: str

__all__ = [
    "METHODS",
    "SYSTEMS",
    "Body",
    "Group",
    "Inertia",
    "Mechanism",
    "Problem",
    "Solution",
    "Tree",
    "__version__",
    "compile_model",
    "hamiltonian_problem",
    "integrate",
    "joints",
    "load_mechanism",
    "load_mjcf",
    "load_model",
    "load_urdf",
    "model_names",
    "mujoco_stepper",
    "product",
    "resume",
    "rn",
    "se2",
    "se3",
    "so2",
    "so3",
    "suggest_step",
]
_HOMES = ("integrators", "integrators.methods", "liegroup", "mechanics", "mechanics.systems", "liemech.mujoco")
"""Where the names stand, looked through in this order."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version("liemech")
    elif name in __all__:
        found = _found(name)
    else:
        raise AttributeError(f"module 'liemech' has no attribute {name!r}; it has {', '.join(__all__)}")
    globals()[name] = found
    return found


def _found(name: str) -> Any:
    return next(getattr(home, name) for home in map(import_module, _HOMES) if name in home.__all__)


def __dir__() -> list[str]:
    return sorted(__all__)
