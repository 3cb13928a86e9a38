"""Configurations and velocities of joints in the states of a problem, and how another project writes them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from integrators.problem.problem import Problem
from liegroup.arrays import shown
from liegroup.modules import registered

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointStates:
    """(q, v) from the states of a problem that says of which joints they are (`Problem.joints`): q are the first
    numbers of a state, and v, since q̇ = q·v̂, the first numbers of the field there.
    """

    problem: Problem

    def __call__(self, t: ArrayLike, y: Array) -> tuple[Array, Array]:
        """q (…, nq) and v (…, nv) of states (…, n) at times (…); NaN where a state is."""
        joints = self.problem.joints
        v = np.full((*y.shape[:-1], joints.nv), np.nan)
        times = np.broadcast_to(t, y.shape[:-1])
        for k in np.ndindex(y.shape[:-1]):
            if np.isfinite(y[k]).all():
                v[k] = self.problem.velocity(float(times[k]), y[k])[: joints.nv]
        return y[..., : joints.nq].copy(), v


@singledispatch
def written_for(joints: Any, project: str, model: Any, q: Array, v: Array) -> tuple[Array, Array]:
    """Configurations and velocities of joints as the model of another project has them; packages that know both
    register a function for their kind of joints.
    """
    if (own := registered(written_for, joints)) is not None:
        return own(joints, project, model, q, v)  # type: ignore[no-any-return]
    raise TypeError(f"joints: {shown(joints)}, of which nothing says how {project} writes them")
