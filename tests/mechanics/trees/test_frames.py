"""Frames on bodies, the centre of mass, distances: derivatives of one another, and those of Pinocchio."""

import warnings

import numpy as np
import pytest

import mechanics
from mechanics import Frame, ModelError, ModelWarning
from mechanics.adapters.pinocchio import to_pinocchio
from mechanics.forces import Capsule, Ellipsoid, Plane, Sphere, Wheel
from mechanics.joints import JOINTS, Free, Helical, Planar, Prismatic, Revolute, Spherical
from mechanics.systems import SYSTEMS
from mechanics.testing import random_rotation, random_tree

AXES = ("frame", "world")
STEP = 1e-4


def case(seed):
    """A tree with every kind of joint, a frame, and a state."""
    generator = np.random.default_rng(seed)
    tree = random_tree("random", 10, generator, JOINTS)
    frame = Frame(tree.body_names[5 + seed % 5], generator.normal(size=3), random_rotation(generator))
    q, v, a = tree.random_configuration(generator), *generator.normal(size=(2, tree.nv))
    return tree, frame, q, v, a


def rate(tree, function, q, v, a, t):
    """The rate of function(q, v, t), by differences of the fourth order."""

    def at(s):
        return function(tree.group.compose(q, tree.group.exp(s * v + 0.5 * s * s * a)), v + s * a, t + s)

    return (8.0 * (at(STEP) - at(-STEP)) - (at(2 * STEP) - at(-2 * STEP))) / (12.0 * STEP)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("seed", range(3))
def test_twists_jacobians_and_rates_belong_together(seed, axes):
    """V = J v + β, its rate is the acceleration, that of J is J̇; prescribed motions included."""
    tree, frame, q, v, a = case(seed)
    J = mechanics.frame_jacobian(tree, q, frame, 0.3, axes=axes)
    V = mechanics.frame_twist(tree, q, v, frame, 0.3, axes=axes)
    drift = mechanics.frame_twist(tree, q, 0.0 * v, frame, 0.3, axes=axes)
    np.testing.assert_allclose(J @ v + drift, V, atol=1e-12)
    found = mechanics.frame_acceleration(tree, q, v, a, frame, 0.3, axes=axes)
    expected = rate(tree, lambda q, v, t: mechanics.frame_twist(tree, q, v, frame, t, axes=axes), q, v, a, 0.3)
    np.testing.assert_allclose(found, expected, atol=2e-8)
    found = mechanics.frame_jacobian_rate(tree, q, v, frame, 0.3, axes=axes)
    expected = rate(tree, lambda q, v, t: mechanics.frame_jacobian(tree, q, frame, t, axes=axes), q, v, a, 0.3)
    np.testing.assert_allclose(found, expected, atol=2e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_world_sees_the_velocity_of_the_origin(seed):
    tree, frame, q, v, a = case(seed)
    _, R = mechanics.frame_pose(tree, q, frame, 0.3)
    velocity = rate(tree, lambda q, v, t: mechanics.frame_pose(tree, q, frame, t)[0], q, v, a, 0.3)
    V = mechanics.frame_twist(tree, q, v, frame, 0.3, axes="world")
    np.testing.assert_allclose(V[:3], velocity, atol=1e-9)
    own = mechanics.frame_twist(tree, q, v, frame, 0.3)
    np.testing.assert_allclose(np.concatenate([R @ own[:3], R @ own[3:]]), V, atol=1e-13)


@pytest.mark.parametrize("seed", range(3))
def test_the_centre_of_mass_moves_as_its_jacobian_says(seed):
    tree, _, q, v, a = case(seed)
    velocity = rate(tree, lambda q, v, t: mechanics.centre_of_mass(tree, q, t), q, v, a, 0.3)
    J, at_rest = mechanics.centre_of_mass_jacobian(tree, q, 0.3), mechanics.centroidal_momentum(tree, q, 0 * v, 0.3)
    momentum = mechanics.centroidal_momentum(tree, q, v, 0.3)
    mass = np.linalg.norm(momentum[:3]) / np.linalg.norm(velocity)
    np.testing.assert_allclose(J @ v + at_rest[:3] / mass, velocity, atol=1e-8)
    found = mechanics.centre_of_mass_jacobian_rate(tree, q, v, 0.3)
    expected = rate(tree, lambda q, v, t: mechanics.centre_of_mass_jacobian(tree, q, t), q, v, a, 0.3)
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_bodies_are_frames():
    tree, _, q, v, _ = case(0)
    position, rotation = mechanics.body_poses(tree, q, 0.3)
    for k, name in enumerate(tree.body_names):
        x, R = mechanics.frame_pose(tree, q, name, 0.3)
        assert np.array_equal(x, position[k])
        assert np.array_equal(R, rotation[k])
        np.testing.assert_allclose(
            mechanics.frame_twist(tree, q, v, name, 0.3), mechanics.body_twists(tree, q, v, 0.3)[k], atol=1e-13
        )
        np.testing.assert_allclose(
            mechanics.frame_jacobian(tree, q, name, 0.3), mechanics.body_jacobians(tree, q, 0.3)[k], atol=1e-13
        )


def test_the_base_stays_where_it_is():
    tree, _, q, v, a = case(1)
    fixed = Frame(None, (1.0, 2.0, 3.0), np.diag([1.0, -1.0, -1.0]))
    x, R = mechanics.frame_pose(tree, q, fixed)
    assert x.tolist() == [1.0, 2.0, 3.0]
    assert np.array_equal(R, fixed.rotation)
    for axes in AXES:
        assert not mechanics.frame_jacobian(tree, q, fixed, axes=axes).any()
        assert not mechanics.frame_jacobian_rate(tree, q, v, fixed, axes=axes).any()
        assert not mechanics.frame_twist(tree, q, v, fixed, axes=axes).any()
        np.testing.assert_allclose(mechanics.frame_acceleration(tree, q, v, a, fixed, axes=axes), 0.0, atol=1e-14)


@pytest.mark.parametrize("axes", AXES)
def test_many_states_at_once(axes):
    """Lanes and the rest repeat the bits of one state; a mechanism is its tree."""
    mechanism = SYSTEMS["four-bar"].mechanism()
    tree, generator = mechanism.tree, np.random.default_rng(0)
    frame = Frame(tree.body_names[-1], (0.1, 0.2, 0.3))
    q = np.stack([tree.random_configuration(generator) for _ in range(11)])
    v, a = generator.normal(size=(2, 11, tree.nv))
    for function, given in (
        (mechanics.frame_twist, (q, v)),
        (mechanics.frame_acceleration, (q, v, a)),
        (mechanics.frame_jacobian, (q,)),
        (mechanics.frame_jacobian_rate, (q, v)),
    ):
        many = function(mechanism, *given, frame, axes=axes)
        for k in (0, 7, 10):
            out = np.empty(many.shape[1:])
            assert function(tree, *(x[k] for x in given), frame, axes=axes, out=out) is out
            assert np.array_equal(many[k], out)
    assert mechanics.distance(tree, q, frame, Frame(None)).shape == (11,)


def test_distances_and_their_rates():
    tree, frame, q, v, a = case(2)
    other = Frame(tree.body_names[1], (0.3, 0.0, 0.1))
    apart = mechanics.frame_pose(tree, q, other, 0.3)[0] - mechanics.frame_pose(tree, q, frame, 0.3)[0]
    gap = mechanics.distance(tree, q, frame, other, 0.3, radii=(0.25, 0.5))
    assert gap == pytest.approx(np.linalg.norm(apart) - 0.75, rel=1e-14)
    J = mechanics.distance_jacobian(tree, q, frame, other, 0.3)
    still = rate(tree, lambda q, v, t: mechanics.distance(tree, q, frame, other, t), q, 0 * v, a, 0.3)
    moving = rate(tree, lambda q, v, t: mechanics.distance(tree, q, frame, other, t), q, v, a, 0.3)
    assert J @ v == pytest.approx(moving - still, abs=1e-8)
    with pytest.raises(ValueError, match="coincide"):
        mechanics.distance_jacobian(tree, q, frame, frame)
    for radii in ((-1.0, 0.0), (1.0,), (np.nan, 0.0)):
        with pytest.raises(ValueError, match=r"^radii: "):
            mechanics.distance(tree, q, frame, other, radii=radii)


def test_distances_of_shapes_and_their_rates():
    """Rates against differences along a motion, many states at once, and two shapes whose distance is plain."""
    tree, frame, q, v, a = case(2)
    other, floor = Frame(tree.body_names[1], (0.3, 0.0, 0.1)), Plane(Frame(None, (0, 0, -9.0)))
    pairs = [
        (Sphere(frame, 0.25), Sphere(other, 0.5)),
        (Capsule(frame, 0.1, 0.4), Capsule(other, 0.1, 0.3)),
        (Capsule(frame, 0.1, 0.4), floor),
        (floor, Ellipsoid(other, (0.1, 0.2, 0.3))),
        (Wheel(other, 0.3, 0.05), Plane(frame)),
        (frame, Capsule(other, 0.1, 0.3)),
    ]
    for pair in pairs:
        J = mechanics.distance_jacobian(tree, q, *pair, 0.3)
        still, moving = (
            rate(tree, lambda q, v, t, pair=pair: mechanics.distance(tree, q, *pair, t), q, u, a, 0.3)
            for u in (0 * v, v)
        )
        assert J @ v == pytest.approx(moving - still, abs=1e-7)
        both = np.stack([q, tree.neutral()])
        assert mechanics.distance(tree, both, *pair)[1] == mechanics.distance(tree, tree.neutral(), *pair)
        assert mechanics.distance_jacobian(tree, both, *pair).shape == (2, tree.nv)
    plain = mechanics.distance(tree, q, frame, other, radii=(0.25, 0.5))
    assert mechanics.distance(tree, q, *pairs[0]) == pytest.approx(plain, rel=1e-14)
    high = mechanics.frame_pose(tree, q, frame)[0][2]
    assert mechanics.distance(tree, q, Sphere(frame, 0.25), floor) == pytest.approx(high + 9.0 - 0.25, rel=1e-14)
    with pytest.raises(ValueError, match=r"radii: .*shapes have their own"):
        mechanics.distance(tree, q, *pairs[0], radii=(1.0, 0.0))
    with pytest.raises(ModelError, match="no formula for Wheel and Sphere"):
        mechanics.distance(tree, q, Wheel(frame, 0.1), Sphere(other, 0.1))
    with pytest.raises(ValueError, match="coincide"):
        mechanics.distance_jacobian(tree, q, Sphere(frame, 0.1), frame)


def test_axes_of_few_digits_are_made_exact():
    """As those of bodies are; axes that are exact to rounding keep their bits."""
    R = random_rotation(np.random.default_rng(1))
    few = Frame("a", rotation=np.round(R, 7)).rotation
    np.testing.assert_allclose(few @ few.T, np.eye(3), rtol=0, atol=2e-15)
    np.testing.assert_allclose(few, R, rtol=0, atol=2e-7)
    assert np.array_equal(few, mechanics.Body("b", Free(), rotation=np.round(R, 7)).rotation)
    assert np.array_equal(Frame("a", rotation=R).rotation, R)


def test_what_is_no_frame_is_named():
    tree, frame, q, _, _ = case(0)
    with pytest.raises(KeyError, match="no frame or body 'tool' of tree"):
        mechanics.frame_pose(tree, q, "tool")
    with pytest.raises(KeyError, match="has no such body"):
        mechanics.frame_pose(tree, q, Frame("tool"))
    for wrong in (None, 3, ["a"]):
        with pytest.raises(TypeError, match=r"^frame: "):
            mechanics.frame_pose(tree, q, wrong)
    for wrong in ("local", None, ["world"]):
        with pytest.raises(ValueError, match=r"^axes: "):
            mechanics.frame_jacobian(tree, q, frame, axes=wrong)
    with pytest.raises(ModelError):
        Frame("a", (np.nan, 0.0, 0.0))


# --- Pinocchio --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["ur5", "talos", "joints"])
def robot(request):
    """A tree with frames, Pinocchio's model of it with the same frames, and a state."""
    pin = pytest.importorskip("pinocchio")
    generator = np.random.default_rng(5)
    if request.param == "joints":
        tree = random_tree("random", 12, generator, (Free, Helical, Planar, Prismatic, Revolute, Spherical))
        frames = {"a": Frame(tree.body_names[-1], (0.1, 0.2, 0.3), random_rotation(generator)), "b": Frame(None)}
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            tree = mechanics.load_model(request.param)
        frames = dict(list(tree.frames.items())[-8:])
    theirs = to_pinocchio(tree)
    ids = {}
    for name, frame in frames.items():
        place = pin.SE3(frame.rotation, frame.position)
        joint = 0
        if frame.body is not None:
            on = theirs.places[tree.body_index(frame.body)]
            joint, place = on.joint, pin.SE3(on.rotation, on.position) * place
        ids[name] = theirs.model.addFrame(pin.Frame(f"our {name}", joint, 0, place, pin.FrameType.OP_FRAME))
    q, v, a = tree.random_configuration(generator), *generator.normal(size=(2, tree.nv))
    return pin, tree, frames, theirs, ids, (q, v, a)


def test_frames_are_those_of_pinocchio(robot):
    """Poses, velocities, accelerations, Jacobians and their rates in both axes."""
    pin, tree, frames, theirs, ids, (q, v, a) = robot
    model, data = theirs.model, theirs.model.createData()
    given = theirs.configuration(q), theirs.velocity(v)
    pin.forwardKinematics(model, data, *given, theirs.velocity(a))
    pin.computeJointJacobians(model, data, given[0])
    pin.computeJointJacobiansTimeVariation(model, data, *given)
    pin.updateFramePlacements(model, data)
    kinds = {"frame": pin.ReferenceFrame.LOCAL, "world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED}
    for name, frame in frames.items():
        x, R = mechanics.frame_pose(tree, q, frame)
        np.testing.assert_allclose(x, data.oMf[ids[name]].translation, atol=1e-12)
        np.testing.assert_allclose(R, data.oMf[ids[name]].rotation, atol=1e-12)
        for axes, kind in kinds.items():
            where = ids[name], kind
            J = theirs.tree_velocity(pin.getFrameJacobian(model, data, *where))
            found = mechanics.frame_jacobian(tree, q, frame, axes=axes)
            np.testing.assert_allclose(found, J, atol=1e-12)
            twist = pin.getFrameVelocity(model, data, *where)
            np.testing.assert_allclose(mechanics.frame_twist(tree, q, v, frame, axes=axes), twist, atol=1e-12)
            acceleration = pin.getFrameAcceleration if axes == "frame" else pin.getFrameClassicalAcceleration
            expected = acceleration(model, data, *where).vector
            found = mechanics.frame_acceleration(tree, q, v, a, frame, axes=axes)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())
            rate = theirs.tree_velocity(pin.getFrameJacobianTimeVariation(model, data, *where))
            found = mechanics.frame_jacobian_rate(tree, q, v, frame, axes=axes)
            np.testing.assert_allclose(found, rate, atol=1e-12 * max(np.abs(rate).max(), 1.0))


def test_the_centre_of_mass_is_that_of_pinocchio(robot):
    pin, tree, _, theirs, _, (q, v, a) = robot
    model, data = theirs.model, theirs.model.createData()
    given = theirs.configuration(q), theirs.velocity(v)
    expected = theirs.tree_velocity(pin.jacobianCenterOfMass(model, data, given[0]))
    J = mechanics.centre_of_mass_jacobian(tree, q)
    np.testing.assert_allclose(J, expected, atol=1e-12)
    pin.centerOfMass(model, data, *given, theirs.velocity(a))
    np.testing.assert_allclose(mechanics.centre_of_mass(tree, q), data.com[0], atol=1e-12)
    acceleration = J @ a + mechanics.centre_of_mass_jacobian_rate(tree, q, v) @ v
    np.testing.assert_allclose(acceleration, data.acom[0], atol=1e-12 * max(np.abs(data.acom[0]).max(), 1.0))
