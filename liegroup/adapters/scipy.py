"""`scipy.spatial.transform.Rotation` and `RigidTransform`, both ways.

SciPy keeps quaternions as (x, y, z, w) and exponential coordinates of rigid transforms rotation first; here quaternions
are (w, x, y, z) and coordinates linear first.  The names say which order an array has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import transform

from liegroup.arrays import Array
from liegroup.group import se3, so3
from liegroup.rotations import quaternion_wxyz_from_xyzw, quaternion_xyzw_from_wxyz


def rotation_from_quaternion_wxyz(q: ArrayLike) -> Any:
    """A `Rotation` from unit quaternions (…, 4)."""
    return transform.Rotation.from_quat(quaternion_xyzw_from_wxyz(so3.check(q)))


def quaternion_wxyz_from_rotation(rotation: Any) -> Array:
    """Unit quaternions (…, 4) of a `Rotation`."""
    return quaternion_wxyz_from_xyzw(rotation.as_quat())


def rigid_transform_from_position_quaternion_wxyz(g: ArrayLike) -> Any:
    """A `RigidTransform` from elements (…, 7) of SE(3), (x, y, z, qw, qx, qy, qz)."""
    a = se3.check(g, "g")
    return _rigid_transform().from_components(a[..., :3], rotation_from_quaternion_wxyz(a[..., 3:]))


def position_quaternion_wxyz_from_rigid_transform(rigid: Any) -> Array:
    """Elements (…, 7) of SE(3) of a `RigidTransform`, which keeps matrices: the sign of a quaternion does not come
    back.
    """
    return np.concatenate([rigid.translation, quaternion_wxyz_from_rotation(rigid.rotation)], axis=-1)


def twist_linear_first_from_exponential_coordinates(x: ArrayLike) -> Array:
    """SciPy's `RigidTransform.as_exp_coords` (rotation, translation) → (v, ω)."""
    return np.roll(np.asarray(x, dtype=np.float64), 3, axis=-1)


def exponential_coordinates_from_twist_linear_first(x: ArrayLike) -> Array:
    """(v, ω) → the order of SciPy's `RigidTransform.from_exp_coords`."""
    return np.roll(np.asarray(x, dtype=np.float64), 3, axis=-1)


def _rigid_transform() -> Any:
    if not hasattr(transform, "RigidTransform"):
        raise ImportError("scipy.spatial.transform.RigidTransform: needs SciPy 1.16 or later; pip install -U scipy")
    return transform.RigidTransform
