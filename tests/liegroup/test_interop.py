"""Rotations and rigid transforms go to SciPy and back, and mean the same there."""

import numpy as np
import pytest
from scipy.spatial import transform

from liegroup import se3, so3
from liegroup.adapters import scipy as door

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(), (7,)])
def test_rotations_mean_the_same_in_scipy(shape):
    q, u = so3.random(1, shape), RNG.normal(size=(*shape, 3))
    rotation = door.rotation_from_quaternion_wxyz(q)
    np.testing.assert_allclose(door.quaternion_wxyz_from_rotation(rotation), q, atol=2e-16)
    np.testing.assert_allclose(rotation.as_matrix(), so3.as_matrix(q), atol=1e-15)
    np.testing.assert_allclose(rotation.apply(u), so3.act(q, u), atol=2e-15)
    np.testing.assert_allclose(rotation.as_rotvec(), so3.log(q), atol=2e-15)


def test_composition_has_the_same_order_in_scipy():
    g, h = so3.random(1, (5,)), so3.random(2, (5,))
    product = door.rotation_from_quaternion_wxyz(g) * door.rotation_from_quaternion_wxyz(h)
    back = door.quaternion_wxyz_from_rotation(product)
    np.testing.assert_allclose(so3.distance(back, so3.compose(g, h)), 0.0, atol=3e-15)


@pytest.mark.skipif(not hasattr(transform, "RigidTransform"), reason="SciPy before 1.16")
@pytest.mark.parametrize("shape", [(), (7,)])
def test_rigid_transforms_mean_the_same_in_scipy(shape):
    g, h, u = se3.random(1, shape), se3.random(2, shape), RNG.normal(size=(*shape, 3))
    theirs = door.rigid_transform_from_position_quaternion_wxyz(g)
    back = door.position_quaternion_wxyz_from_rigid_transform(theirs)
    np.testing.assert_array_equal(back[..., :3], g[..., :3])
    np.testing.assert_allclose(so3.distance(back[..., 3:], g[..., 3:]), 0.0, atol=2e-15)
    np.testing.assert_allclose(theirs.as_matrix(), se3.as_matrix(g), atol=1e-15)
    np.testing.assert_allclose(theirs.apply(u), se3.act(g, u), atol=3e-15)
    product = door.position_quaternion_wxyz_from_rigid_transform(
        theirs * door.rigid_transform_from_position_quaternion_wxyz(h)
    )
    np.testing.assert_allclose(se3.as_matrix(product), se3.as_matrix(se3.compose(g, h)), atol=3e-15)


@pytest.mark.skipif(not hasattr(transform, "RigidTransform"), reason="SciPy before 1.16")
def test_exponential_coordinates_of_scipy_are_the_logarithm_with_the_halves_exchanged():
    g = se3.random(1, (7,))
    coordinates = door.rigid_transform_from_position_quaternion_wxyz(g).as_exp_coords()
    np.testing.assert_allclose(
        door.twist_linear_first_from_exponential_coordinates(coordinates), se3.log(g), atol=5e-14
    )
    x = RNG.normal(size=(7, 6))
    theirs = transform.RigidTransform.from_exp_coords(door.exponential_coordinates_from_twist_linear_first(x))
    np.testing.assert_allclose(theirs.as_matrix(), se3.as_matrix(se3.exp(x)), atol=5e-15)


def test_what_is_not_a_rotation_does_not_reach_scipy():
    with pytest.raises(ValueError, match="project"):
        door.rotation_from_quaternion_wxyz([0.0, 0.0, 0.0, 0.0])


def test_an_old_scipy_is_named_with_the_remedy(monkeypatch):
    monkeypatch.delattr(transform, "RigidTransform", raising=False)
    with pytest.raises(ImportError, match=r"SciPy 1\.16"):
        door.rigid_transform_from_position_quaternion_wxyz(se3.identity())
