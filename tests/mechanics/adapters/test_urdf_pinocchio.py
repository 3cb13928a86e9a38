"""URDF files of real robots give the same model as Pinocchio's own reader: names, placements, axes, inertias, mass
matrix, gravity.
"""

import warnings

import numpy as np
import pytest

import mechanics
from mechanics import ModelWarning, to_pinocchio
from mechanics.algebra.spatial import shift
from mechanics.models import MODELS

pin = pytest.importorskip("pinocchio")


@pytest.fixture(params=MODELS)
def robot(request):
    """The tree, and Pinocchio's model of the same file with the same base."""
    name = request.param
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = mechanics.load_model(name)
    free = (pin.JointModelFreeFlyer(),) if MODELS[name].floating_base else ()
    return tree, pin.buildModelFromUrdf(str(mechanics.model_path(name)), *free)


def pinocchio_configuration(tree, model, q):
    """q in Pinocchio's order: quaternions xyzw, circles as (cos, sin)."""
    result = pin.neutral(model)
    for name in tree.joint_names:
        joint, mine = model.joints[model.getJointId(name)], q[tree.q_slice(name)]
        if joint.nq == 7:
            mine = mine[[0, 1, 2, 4, 5, 6, 3]]
        elif (joint.nq, joint.nv) == (2, 1):
            mine = np.array([np.cos(mine[0]), np.sin(mine[0])])
        result[joint.idx_q : joint.idx_q + joint.nq] = mine
    return result


def velocity_order(tree, model):
    """Pinocchio's number of each component of v."""
    joints = [model.joints[model.getJointId(name)] for name in tree.joint_names]
    return np.concatenate([np.arange(j.idx_v, j.idx_v + j.nv) for j in joints])


def dense_mass_matrix_and_gravity(tree, q):
    """M = Σ JᵀM J and ∂V/∂q = −Σ Jᵀ(weight), body by body, from the joints' own functions."""
    M, gravity = np.zeros((tree.nv, tree.nv)), np.zeros(tree.nv)
    columns, turns = [], []
    for i, body in enumerate(tree.bodies):
        q_i = q[tree.q_offsets[i] : tree.q_offsets[i + 1]]
        state = body.joint.state(q_i, np.zeros(body.joint.n_v))
        R, k = np.asarray(body.rotation), tree.parents[i]
        G, rho = state.G @ R.T, np.asarray(body.position) + R @ state.rho
        J = shift(G, rho) @ columns[k] if k >= 0 else np.zeros((6, tree.nv))
        J[:, tree.v_offsets[i] : tree.v_offsets[i + 1]] += state.A
        columns.append(J)
        turns.append(G @ turns[k] if k >= 0 else G)
        weight = body.inertia.mass * turns[-1] @ tree.gravity
        M += J.T @ body.inertia.matrix() @ J
        gravity -= J.T @ np.concatenate([weight, np.cross(body.inertia.com, weight)])
    return M, gravity


def test_joints_have_the_same_names_and_the_same_order(robot):
    tree, model = robot
    assert set(tree.joint_names) == set(model.names) - {"universe"}
    assert (tree.nv, len(tree)) == (model.nv, model.njoints - 1)


def test_placements_axes_and_inertias_are_those_of_pinocchio(robot):
    tree, model = robot
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for i, body in enumerate(tree.bodies):
        j = model.getJointId(body.joint_name)
        parent = tree.bodies[tree.parents[i]].joint_name if tree.parents[i] >= 0 else "universe"
        assert model.names[model.parents[j]] == parent
        np.testing.assert_allclose(body.position, model.jointPlacements[j].translation, atol=1e-15)
        np.testing.assert_allclose(body.rotation, model.jointPlacements[j].rotation, atol=2e-15)
        columns = slice(model.joints[j].idx_v, model.joints[j].idx_v + model.joints[j].nv)
        subspace = pin.getJointJacobian(model, data, j, pin.LOCAL)[:, columns]
        np.testing.assert_allclose(
            body.joint.state(body.joint.neutral(), np.zeros(body.joint.n_v)).A, subspace, atol=1e-15
        )
        theirs, mine = model.inertias[j], body.inertia
        np.testing.assert_allclose(mine.mass, theirs.mass, rtol=1e-15)
        np.testing.assert_allclose(
            mine.matrix(), theirs.matrix(), rtol=1e-13, atol=1e-15 * np.abs(theirs.matrix()).max()
        )


def test_total_mass_centre_of_mass_mass_matrix_and_gravity_agree_at_random_states(robot):
    tree, model = robot
    data, rng = model.createData(), np.random.default_rng(1)
    order = velocity_order(tree, model)
    np.testing.assert_allclose(tree.mass, pin.computeTotalMass(model), rtol=1e-14)
    for _ in range(3):
        q = tree.random_configuration(rng)
        theirs = pinocchio_configuration(tree, model, q)
        M, gravity = dense_mass_matrix_and_gravity(tree, q)
        crba = pin.crba(model, data, theirs)
        crba = np.triu(crba) + np.triu(crba, 1).T
        np.testing.assert_allclose(M, crba[np.ix_(order, order)], atol=1e-13 * np.abs(crba).max())
        expected = pin.computeGeneralizedGravity(model, data, theirs)
        np.testing.assert_allclose(gravity, expected[order], atol=1e-13 * np.abs(expected).max())
        np.testing.assert_allclose(mechanics.mass_matrix(tree, q), M, atol=1e-13 * np.abs(M).max())
        com = pin.centerOfMass(model, data, theirs)
        np.testing.assert_allclose(mechanics.centre_of_mass(tree, q), com, atol=1e-13 * max(1.0, np.abs(com).max()))


def test_the_frames_of_all_links_are_where_pinocchio_puts_them(robot):
    tree, model = robot
    for name, frame in tree.frames.items():
        theirs = model.frames[model.getFrameId(name, pin.BODY)]
        joint = "universe" if frame.body is None else tree.bodies[tree.body_index(frame.body)].joint_name
        assert model.names[theirs.parentJoint] == joint
        np.testing.assert_allclose(frame.position, theirs.placement.translation, atol=1e-14)
        np.testing.assert_allclose(frame.rotation, theirs.placement.rotation, atol=1e-14)


def test_models_of_every_name_load_and_unknown_ones_are_refused():
    assert mechanics.model_names() == tuple(MODELS)
    with pytest.raises(ValueError, match=r"'pandas': unknown; expected one of .*panda"):
        mechanics.model_path("pandas")
    with pytest.raises(ValueError, match=r"'pandas'.*path of a .urdf, .sdf or .xml file or one of"):
        mechanics.load_model("pandas")


def test_a_file_and_a_name_give_the_same_model():
    path = mechanics.model_path("ur5")
    assert (
        mechanics.load_model(path).joint_names
        == mechanics.load_model("ur5").joint_names
        == mechanics.load_urdf(str(path)).joint_names
    )
    assert mechanics.load_model("ur5", floating_base=True).nv == 12


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch, tmp_path):
    from importlib import metadata

    def absent(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", absent)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'liemech\[robots\]'"):
        mechanics.model_path("panda")


def test_maps_between_states_refuse_other_sizes():
    made = to_pinocchio(mechanics.load_model("double_pendulum"))
    for map_ in (made.configuration, made.tree_configuration, made.velocity, made.tree_velocity, made.tree_matrix):
        with pytest.raises(ValueError, match=r"shape \(1,\), expected \(…, 2\)"):
            map_([1.0])
    with pytest.raises(ValueError, match="one row per body"):
        made.forces(np.zeros((1, 6)))
