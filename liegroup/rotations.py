"""Rotations in other coordinates: unit quaternion (w, x, y, z) ↔ matrix, rotation vector, Euler angles, Rodrigues
parameters.

=========================  ===========================================================  ==========================
form                       of a rotation by θ ∈ [0, π] about the unit vector n          not unique
=========================  ===========================================================  ==========================
quaternion_wxyz            (cos θ/2, n sin θ/2)                                         q and −q
quaternion_xyzw            (n sin θ/2, cos θ/2)                                         q and −q
matrix                     R, x_parent = R x_body                                       never
rotation_vector            θ n                                                          n and −n at θ = π
rodrigues                  n tan θ/2 (Gibbs vector)                                     does not exist at θ = π
modified_rodrigues         n tan θ/4, of length ≤ 1                                     n and −n at θ = π
euler_angles               three turns about coordinate axes, one after another         middle angle at its ends
=========================  ===========================================================  ==========================

``A_from_B`` turns an array ``(…, n)`` of one form into an array of the other; between two other forms, go through the
quaternion.  The formulas behind are plain functions of scalars (`helper`): they also run on numbers of many digits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from liegroup.arrays import LARGEST, Array, call, numbers, refuse
from liegroup.compile import helper
from liegroup.compile.scalars import absolute, arctan2, less, maximum, select, sincos, sqrt
from liegroup.formulas import so3
from liegroup.group import so3 as group
from liegroup.modules import listing

__all__ = [
    "LOCKED",
    "euler_angles_from_quaternion_wxyz",
    "euler_from_quaternion",
    "matrix_from_quaternion_wxyz",
    "modified_rodrigues_from_quaternion",
    "modified_rodrigues_from_quaternion_wxyz",
    "positive",
    "quaternion_from_euler",
    "quaternion_from_modified_rodrigues",
    "quaternion_from_rodrigues",
    "quaternion_wxyz_from_euler_angles",
    "quaternion_wxyz_from_matrix",
    "quaternion_wxyz_from_modified_rodrigues",
    "quaternion_wxyz_from_rodrigues",
    "quaternion_wxyz_from_rotation_vector",
    "quaternion_wxyz_from_xyzw",
    "quaternion_xyzw_from_wxyz",
    "rodrigues_from_quaternion",
    "rodrigues_from_quaternion_wxyz",
    "rotation_vector_from_quaternion_wxyz",
]
__dir__ = listing(__all__)

LOCKED = 4 * float(np.finfo(np.float64).eps)
"""Where the sine of the distance to gimbal lock is below, only the sum or the difference of the outer Euler angles
means anything.
"""

# --- formulas -------------------------------------------------------------------------------------------------------


@helper
def positive(q: Any) -> Any:
    """±q, the one with w ≥ 0.

    Parameters
    ----------
    q : tuple of 4 scalars
        Unit quaternion (w, x, y, z).

    Returns
    -------
    tuple of 4 scalars
        The same rotation.

    Examples
    --------
    >>> positive((-1.0, 0.0, 0.0, 0.0))[0]
    1.0
    """
    s = select(less(q[0], 0.0), -1.0, 1.0)
    return s * q[0], s * q[1], s * q[2], s * q[3]


@helper
def rodrigues_from_quaternion(q: Any) -> Any:
    """(x, y, z)/w = n tan θ/2.

    Parameters
    ----------
    q : tuple of 4 scalars
        Unit quaternion (w, x, y, z).

    Returns
    -------
    tuple of 3 scalars
        Gibbs vector; infinite for a rotation by π.

    Examples
    --------
    >>> [round(x, 12) for x in rodrigues_from_quaternion((0.8, 0.6, 0.0, 0.0))]
    [0.75, 0.0, 0.0]
    """
    return q[1] / q[0], q[2] / q[0], q[3] / q[0]


@helper
def quaternion_from_rodrigues(g: Any) -> Any:
    """(1, g)/√(1 + |g|²), scaled so that a large g does not overflow.

    Parameters
    ----------
    g : tuple of 3 scalars
        Gibbs vector n tan θ/2.

    Returns
    -------
    tuple of 4 scalars
        Unit quaternion with w > 0.

    Examples
    --------
    >>> quaternion_from_rodrigues((0.75, 0.0, 0.0))
    (0.8, 0.6, 0.0, 0.0)
    """
    k = _scale(g)
    x, y, z = k * g[0], k * g[1], k * g[2]
    n = sqrt(k * k + x * x + y * y + z * z)
    return k / n, x / n, y / n, z / n


@helper
def modified_rodrigues_from_quaternion(q: Any) -> Any:
    """(x, y, z)/(1 + w) = n tan θ/4, of the quaternion with w ≥ 0.

    Parameters
    ----------
    q : tuple of 4 scalars
        Unit quaternion (w, x, y, z).

    Returns
    -------
    tuple of 3 scalars
        Of length ≤ 1.

    Examples
    --------
    >>> modified_rodrigues_from_quaternion((0.0, 1.0, 0.0, 0.0))
    (1.0, 0.0, 0.0)
    """
    w, x, y, z = positive(q)
    return x / (1.0 + w), y / (1.0 + w), z / (1.0 + w)


@helper
def quaternion_from_modified_rodrigues(sigma: Any) -> Any:
    """(1 − s, 2σ)/(1 + s) with s = |σ|², scaled so that a large σ does not overflow.

    Parameters
    ----------
    sigma : tuple of 3 scalars
        n tan θ/4.

    Returns
    -------
    tuple of 4 scalars
        Unit quaternion with w ≥ 0.

    Examples
    --------
    >>> quaternion_from_modified_rodrigues((1.0, 0.0, 0.0))
    (0.0, 1.0, 0.0, 0.0)
    """
    k = _scale(sigma)
    x, y, z = k * sigma[0], k * sigma[1], k * sigma[2]
    n = sqrt(x * x + y * y + z * z)
    r = 1.0 / (k * k + n * n)
    return positive((r * ((k - n) * (k + n)), 2.0 * k * r * x, 2.0 * k * r * y, 2.0 * k * r * z))


@helper
def _scale(v: Any) -> Any:
    """1, or less where v has a component beyond 1."""
    return 1.0 / maximum(1.0, maximum(absolute(v[0]), maximum(absolute(v[1]), absolute(v[2]))))


@helper
def _orientation(i: Any, j: Any) -> Any:
    """1 if axes i, j and the third one form a right-handed frame, else −1."""
    return 1.0 if (j - i) % 3 == 1 else -1.0


@helper
def _component(n: Any, i: Any, j: Any, along_i: Any, along_j: Any, along_l: Any) -> Any:
    """Component n of a vector given along axes i, j and the third one."""
    return along_i if n == i else (along_j if n == j else along_l)


@helper
def quaternion_from_euler(angles: Any, i: Any, j: Any, k: Any) -> Any:
    """Turn by the first angle about axis i, then by the second about the *new* axis j, then by the third about the new
    axis k.

    The product of three quaternions of half angles; l is the axis beside i and j, σ = ±1 the orientation of (i, j, l).

    Parameters
    ----------
    angles : tuple of 3 scalars
        rad.
    i, j, k : int
        Axes, 0 to 2; neighbours differ.

    Returns
    -------
    tuple of 4 scalars
        Unit quaternion with w ≥ 0.

    Examples
    --------
    >>> quaternion_from_euler((0.0, 0.0, 0.0), 2, 1, 0)
    (1.0, 0.0, 0.0, 0.0)
    """
    sa, ca = sincos(0.5 * angles[0])
    sb, cb = sincos(0.5 * angles[1])
    sc, cc = sincos(0.5 * angles[2])
    sigma = _orientation(i, j)
    if i == k:
        w = cb * (ca * cc - sa * sc)
        along_i = cb * (sa * cc + ca * sc)
        along_j = sb * (ca * cc + sa * sc)
        along_l = sigma * (sb * (sa * cc - ca * sc))
    else:
        w = ca * cb * cc - sigma * (sa * sb * sc)
        along_i = sa * cb * cc + sigma * (ca * sb * sc)
        along_j = ca * sb * cc - sigma * (sa * cb * sc)
        along_l = ca * cb * sc + sigma * (sa * sb * cc)
    x = _component(0, i, j, along_i, along_j, along_l)
    y = _component(1, i, j, along_i, along_j, along_l)
    z = _component(2, i, j, along_i, along_j, along_l)
    return positive((w, x, y, z))


@helper
def euler_from_quaternion(q: Any, i: Any, j: Any, k: Any, zero_first: Any) -> Any:
    """The angles of `quaternion_from_euler`: first and third in (−π, π], middle in [0, π] (i = k) or [−π/2, π/2].

    For i = k, (w, qᵢ, qⱼ, σ qₗ) = (C cos(a + c)/2, C sin(a + c)/2, S cos(a − c)/2, S sin(a − c)/2), where a, b, c are
    the angles and C = cos b/2, S = sin b/2; three different axes are brought to this form by a quarter turn about axis
    j (here times √2). In gimbal lock (C or S below `LOCKED` times the other) c = 0, or a = 0 if `zero_first`.  Source:
    Bernardes and Viollet 2022.

    Parameters
    ----------
    q : tuple of 4 scalars
        Unit quaternion (w, x, y, z).
    i, j, k : int
        Axes, 0 to 2; neighbours differ.
    zero_first : int
        In gimbal lock: 1 makes the first angle zero, 0 the third.

    Returns
    -------
    tuple of 3 scalars
        Angles, rad.

    Examples
    --------
    >>> [round(float(x), 6) for x in euler_from_quaternion((0.8, 0.0, 0.0, 0.6), 2, 1, 0, 0)]
    [1.287002, 0.0, 0.0]
    """
    sigma = _orientation(i, j)
    w, x, y, z = q[0], _pick(q, i), _pick(q, j), sigma * _pick(q, 3 - i - j)
    sine = 2.0 * (w * y + x * z)
    if i != k:
        w, x, y, z = w + sigma * y, x + sigma * z, w - sigma * y, x - sigma * z
    C, S = sqrt(w * w + x * x), sqrt(y * y + z * z)
    b = 2.0 * arctan2(S, C) if i == k else arctan2(sine, C * S)
    a = arctan2(x * y + w * z, w * y - x * z)
    c = arctan2(x * y - w * z, w * y + x * z)
    # in lock one pair is rounding noise; twice the angle of the other is a + c (S = 0) or a − c (C = 0)
    no_sum = less(C, LOCKED * S)
    locked = no_sum | less(S, LOCKED * C)
    u, v = select(no_sum, y, w), select(no_sum, z, x)
    sign = select(no_sum, 1.0 - 2.0 * zero_first, 1.0)
    rest = arctan2(sign * (2.0 * u * v), (u - v) * (u + v))
    return select(locked, (1.0 - zero_first) * rest, a), b, select(locked, zero_first * rest, c)


@helper
def _pick(q: Any, n: Any) -> Any:
    """Component of the vector part along axis n."""
    return q[1] if n == 0 else (q[2] if n == 1 else q[3])


# --- arrays ---------------------------------------------------------------------------------------------------------


def matrix_from_quaternion_wxyz(q: ArrayLike) -> Array:
    """Rotation matrices (…, 3, 3) of unit quaternions (…, 4).

    Parameters
    ----------
    q : array (…, 4)
        Unit quaternions (w, x, y, z).

    Returns
    -------
    array (…, 3, 3)
        R, x_parent = R x_body.

    Raises
    ------
    ValueError
        Wrong shape, numbers that are not finite, or a quaternion that is not of unit norm.

    Examples
    --------
    >>> matrix_from_quaternion_wxyz([0.0, 0.0, 0.0, 1.0])
    array([[-1.,  0.,  0.],
           [ 0., -1.,  0.],
           [ 0.,  0.,  1.]])
    """
    return call(so3.matrix, [group.check(q)])


def quaternion_wxyz_from_matrix(m: ArrayLike) -> Array:
    """Unit quaternions (…, 4) with w ≥ 0 of rotation matrices (…, 3, 3).

    Parameters
    ----------
    m : array (…, 3, 3)
        Rotation matrices.

    Returns
    -------
    array (…, 4)
        Unit quaternions (w, x, y, z) with w ≥ 0.

    Raises
    ------
    ValueError
        A matrix that is no rotation to 1e-8; `so3.project_matrix` gives the nearest.

    Examples
    --------
    >>> quaternion_wxyz_from_matrix(np.eye(3)).tolist()
    [1.0, 0.0, 0.0, 0.0]
    """
    return group.from_matrix(m)


def rotation_vector_from_quaternion_wxyz(q: ArrayLike) -> Array:
    """Rotation vectors θ n (…, 3), 0 ≤ θ ≤ π, of unit quaternions (…, 4).

    Parameters
    ----------
    q : array (…, 4)
        Unit quaternions (w, x, y, z).

    Returns
    -------
    array (…, 3)
        rad.

    Raises
    ------
    ValueError
        Wrong shape, numbers that are not finite, or a quaternion that is not of unit norm.

    Examples
    --------
    >>> rotation_vector_from_quaternion_wxyz([0.0, 0.0, 0.0, 1.0]).round(6).tolist()
    [0.0, 0.0, 3.141593]
    """
    return call(so3.log, [group.check(q)])


@helper
def _positive_exp(x: Any) -> Any:
    return positive(so3.exp(x))


@cache
def _to_euler(i: int, j: int, k: int, fixed: int) -> Any:
    """One function for each sequence of axes: what is remembered of functions is remembered of few."""
    return lambda g: euler_from_quaternion(g, i, j, k, fixed)


@cache
def _from_euler(i: int, j: int, k: int) -> Any:
    return lambda a: quaternion_from_euler(a, i, j, k)


def quaternion_wxyz_from_rotation_vector(vector: ArrayLike) -> Array:
    """Unit quaternions (…, 4) with w ≥ 0 of rotation vectors (…, 3) of any length.

    Parameters
    ----------
    vector : array (…, 3)
        θ n, rad.

    Returns
    -------
    array (…, 4)
        Unit quaternions (w, x, y, z) with w ≥ 0.

    Raises
    ------
    ValueError
        Wrong shape or numbers that are not finite.

    Examples
    --------
    >>> quaternion_wxyz_from_rotation_vector([0.0, 0.0, np.pi / 2]).round(6).tolist()
    [0.707107, 0.0, 0.0, 0.707107]
    """
    return call(_positive_exp, [numbers(vector, "vector", (3,))])


def rodrigues_from_quaternion_wxyz(q: ArrayLike) -> Array:
    """Rodrigues parameters n tan θ/2 (…, 3) of unit quaternions (…, 4).

    Parameters
    ----------
    q : array (…, 4)
        Unit quaternions (w, x, y, z).

    Returns
    -------
    array (…, 3)
        Gibbs vectors.

    Raises
    ------
    ValueError
        A rotation by π, which has none; a quaternion that is not of unit norm.

    Examples
    --------
    >>> rodrigues_from_quaternion_wxyz([0.8, 0.6, 0.0, 0.0]).round(12).tolist()
    [0.75, 0.0, 0.0]
    """
    a = group.check(q)
    remedy = "a rotation by π has no Rodrigues parameters; use a rotation vector or modified Rodrigues parameters"
    refuse(np.abs(a[..., 0]) < 1.0 / LARGEST, a, "q", remedy)
    return call(rodrigues_from_quaternion, [a])


def quaternion_wxyz_from_rodrigues(parameters: ArrayLike) -> Array:
    """Unit quaternions (…, 4) with w > 0 of Rodrigues parameters (…, 3).

    Parameters
    ----------
    parameters : array (…, 3)
        Gibbs vectors n tan θ/2.

    Returns
    -------
    array (…, 4)
        Unit quaternions (w, x, y, z) with w ≥ 0.

    Raises
    ------
    ValueError
        Wrong shape or numbers that are not finite.

    Examples
    --------
    >>> quaternion_wxyz_from_rodrigues([0.75, 0.0, 0.0]).tolist()
    [0.8, 0.6, 0.0, 0.0]
    """
    return call(quaternion_from_rodrigues, [numbers(parameters, "parameters", (3,))])


def modified_rodrigues_from_quaternion_wxyz(q: ArrayLike) -> Array:
    """Modified Rodrigues parameters n tan θ/4 (…, 3) of unit quaternions (…, 4); of the two sets the one of length
    ≤ 1.

    Parameters
    ----------
    q : array (…, 4)
        Unit quaternions (w, x, y, z).

    Returns
    -------
    array (…, 3)
        n tan θ/4.

    Raises
    ------
    ValueError
        Wrong shape, numbers that are not finite, or a quaternion that is not of unit norm.

    Examples
    --------
    >>> modified_rodrigues_from_quaternion_wxyz([0.0, 1.0, 0.0, 0.0]).tolist()
    [1.0, 0.0, 0.0]
    """
    return call(modified_rodrigues_from_quaternion, [group.check(q)])


def quaternion_wxyz_from_modified_rodrigues(parameters: ArrayLike) -> Array:
    """Unit quaternions (…, 4) with w ≥ 0 of modified Rodrigues parameters (…, 3), of either set.

    Parameters
    ----------
    parameters : array (…, 3)
        n tan θ/4.

    Returns
    -------
    array (…, 4)
        Unit quaternions (w, x, y, z) with w ≥ 0.

    Raises
    ------
    ValueError
        Wrong shape or numbers that are not finite.

    Examples
    --------
    >>> quaternion_wxyz_from_modified_rodrigues([1.0, 0.0, 0.0]).tolist()
    [0.0, 1.0, 0.0, 0.0]
    """
    return call(quaternion_from_modified_rodrigues, [numbers(parameters, "parameters", (3,))])


def euler_angles_from_quaternion_wxyz(q: ArrayLike, sequence: str) -> Array:
    """Euler angles (…, 3), in rad, of unit quaternions (…, 4).

    Parameters
    ----------
    q : array (…, 4)
        Unit quaternions (w, x, y, z).
    sequence : str
        The axes in the order of the turns: capitals for axes that turn with the body (intrinsic, ``"ZYX"``: yaw, pitch,
        roll), small letters for axes fixed in space (extrinsic, ``"xyz"``: roll, pitch, yaw).

    Returns
    -------
    array (…, 3)
        First and third in (−π, π]; the middle one in [−π/2, π/2], or in [0, π] if the first and the third axis are the
        same. In gimbal lock, where the middle one is at an end and only the sum or difference of the others means
        anything, the third is 0.

    Raises
    ------
    ValueError
        A sequence that is none; a quaternion that is not of unit norm.

    References
    ----------
    Bernardes and Viollet 2022.

    Examples
    --------
    >>> euler_angles_from_quaternion_wxyz([np.cos(0.2), 0.0, 0.0, np.sin(0.2)], "ZYX")
    array([0.4, 0. , 0. ])
    """
    (i, j, k), intrinsic = _axes(sequence)
    angles = call(_to_euler(i, j, k, 0 if intrinsic else 1), [group.check(q)])
    return angles if intrinsic else angles[..., ::-1].copy()


def quaternion_wxyz_from_euler_angles(angles: ArrayLike, sequence: str) -> Array:
    """Unit quaternions (…, 4) with w ≥ 0 of Euler angles (…, 3).

    Parameters
    ----------
    angles : array (…, 3)
        rad, in the order of the sequence.
    sequence : str
        As in `euler_angles_from_quaternion_wxyz`.

    Returns
    -------
    array (…, 4)
        Unit quaternions (w, x, y, z) with w ≥ 0.

    Raises
    ------
    ValueError
        A sequence that is none; wrong shape, numbers that are not finite.

    Examples
    --------
    >>> quaternion_wxyz_from_euler_angles([0.0, 0.0, np.pi], "xyz").round(15)
    array([0., 0., 0., 1.])
    """
    (i, j, k), intrinsic = _axes(sequence)
    x = numbers(angles, "angles", (3,))
    return call(_from_euler(i, j, k), [x if intrinsic else x[..., ::-1]])


def quaternion_xyzw_from_wxyz(q: ArrayLike) -> Array:
    """(w, x, y, z) → (x, y, z, w), the order of SciPy, ROS and Pinocchio.

    Parameters
    ----------
    q : array (…, 4)
        Quaternions of any norm.

    Returns
    -------
    array (…, 4)
        The same quaternions.

    Raises
    ------
    ValueError
        Wrong shape or numbers that are not finite.

    Examples
    --------
    >>> quaternion_xyzw_from_wxyz([1.0, 2.0, 3.0, 4.0]).tolist()
    [2.0, 3.0, 4.0, 1.0]
    """
    return np.roll(numbers(q, "q", (4,)), -1, axis=-1)


def quaternion_wxyz_from_xyzw(q: ArrayLike) -> Array:
    """(x, y, z, w) → (w, x, y, z), the order of this project.

    Parameters
    ----------
    q : array (…, 4)
        Quaternions of any norm.

    Returns
    -------
    array (…, 4)
        The same quaternions.

    Raises
    ------
    ValueError
        Wrong shape or numbers that are not finite.

    Examples
    --------
    >>> quaternion_wxyz_from_xyzw([1.0, 2.0, 3.0, 4.0]).tolist()
    [4.0, 1.0, 2.0, 3.0]
    """
    return np.roll(numbers(q, "q", (4,)), 1, axis=-1)


def _axes(sequence: str) -> tuple[tuple[int, int, int], bool]:
    """Axes of the equivalent turns about axes of the body, and whether the sequence is given so."""
    axes = ["xyz".find(letter) for letter in str(sequence).lower()]
    if (
        len(axes) != 3
        or -1 in axes
        or axes[0] == axes[1]
        or axes[1] == axes[2]
        or not (sequence.islower() or sequence.isupper())
    ):
        raise ValueError(
            f"sequence: {sequence!r}, expected three of the letters xyz (axes of space) or XYZ (axes of the body), "
            "no two neighbours equal"
        )
    i, j, k = axes if sequence.isupper() else axes[::-1]
    return (i, j, k), sequence.isupper()
