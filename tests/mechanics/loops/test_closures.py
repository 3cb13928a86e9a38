"""Closing joints: each leaves exactly the freedom its name promises, and refuses nonsense by name."""

import numpy as np
import pytest
import scipy.linalg

from liegroup import so3
from mechanics import Body, Inertia, Mechanism, Tree
from mechanics.algebra.spatial import skew
from mechanics.constraints import AssemblyError, LoopEquations, assemble
from mechanics.constraints.body_equations import screws_by_kind
from mechanics.constraints.loops import CLOSURES, distance, weld
from mechanics.errors import ModelError
from mechanics.joints import Free
from mechanics.model.frames import Frame

# what the second frame may still do while the frames coincide: unit twists (v, ω) in its own axes
FREEDOM = {
    "weld": [],
    "revolute": [5],
    "prismatic": [2],
    "cylindrical": [2, 5],
    "spherical": [3, 4, 5],
    "planar": [0, 1, 5],
    "point_on_line": [2, 3, 4, 5],
    "point_on_plane": [0, 1, 3, 4, 5],
}


def relative_jacobian(closure, R, x):
    """φ and the rows W_j of the second body, for the first frame at rest at the origin and the second at (R, x)."""
    identity, zero = np.eye(3).ravel(), np.zeros(3)
    rows = [
        screws_by_kind(r.kind, r.a, r.p, r.b, r.q, r.length, identity, zero, R.ravel(), x) for r in closure.equations
    ]
    return np.array([r[0] for r in rows]), np.array([r[2] for r in rows])


@pytest.mark.parametrize("kind", FREEDOM)
def test_closed_frames_keep_exactly_the_freedom_of_the_joint(kind):
    phi, W = relative_jacobian(CLOSURES[kind](Frame("a"), Frame("b")), np.eye(3), np.zeros(3))
    assert np.abs(phi).max() == 0.0
    assert np.linalg.matrix_rank(W) == 6 - len(FREEDOM[kind]) == len(W)
    assert np.abs(W[:, FREEDOM[kind]]).max(initial=0.0) == 0.0


def test_universal_leaves_two_turns():
    R = np.stack([np.eye(3)[1], np.eye(3)[2], np.eye(3)[0]], axis=1)  # x of the second perpendicular to z of the first
    phi, W = relative_jacobian(CLOSURES["universal"](Frame("a"), Frame("b")), R, np.zeros(3))
    assert np.abs(phi).max() == 0.0
    turns = R.T @ np.stack(
        [np.eye(3)[2], R[:, 0]], axis=1
    )  # about z of the first and x of the second, in axes of the second
    assert np.linalg.matrix_rank(W) == 4
    assert np.abs(W[:, 3:] @ turns).max() < 1e-15


def test_finite_motions_of_the_joint_stay_closed():
    turn = scipy.linalg.expm(skew((0, 0, 1.3)))
    assert np.abs(relative_jacobian(CLOSURES["revolute"](Frame("a"), Frame("b")), turn, np.zeros(3))[0]).max() < 1e-15
    assert (
        np.abs(relative_jacobian(CLOSURES["cylindrical"](Frame("a"), Frame("b")), turn, np.array([0, 0, 2.0]))[0]).max()
        < 1e-15
    )
    assert (
        np.abs(relative_jacobian(CLOSURES["planar"](Frame("a"), Frame("b")), turn, np.array([3.0, 2.0, 0]))[0]).max()
        < 1e-15
    )
    assert (
        np.abs(
            relative_jacobian(CLOSURES["prismatic"](Frame("a"), Frame("b")), np.eye(3), np.array([0, 0, 2.0]))[0]
        ).max()
        < 1e-15
    )


def test_distance_measures_the_excess_length():
    closure = distance(Frame("a", (1.0, 0, 0)), Frame("b"), 2.0)
    phi, _ = relative_jacobian(closure, np.eye(3), np.array([1.0, 2.0 + 1e-9, 0.0]))
    assert phi[0] == pytest.approx(1e-9, rel=1e-6)


def test_an_axis_becomes_the_third_direction():
    frame = Frame.with_axis("a", axis=(1.0, -2.0, 0.5))
    R = np.asarray(frame.rotation)
    assert np.abs(R @ R.T - np.eye(3)).max() < 1e-15
    assert np.linalg.det(R) == pytest.approx(1.0)
    assert np.allclose(np.cross(R[:, 2], (1.0, -2.0, 0.5)), 0.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Frame("a", (0.0, np.nan, 0.0)), "finite"),
        (lambda: Frame("a", rotation=np.diag([1.0, 1.0, -1.0])), "not a rotation"),
        (lambda: weld(Frame("a"), Frame("a")), "joins body 'a' to itself"),
        (lambda: distance(Frame("a"), Frame("b"), 0.0), "positive length"),
    ],
)
def test_nonsense_is_refused_with_a_reason(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def turned_by(axis, angle):
    return scipy.linalg.expm(angle * skew(np.array(axis) / np.linalg.norm(axis)))


@pytest.mark.parametrize(
    ("kind", "axis", "angle"),
    [
        ("weld", (0, 0, 1), np.pi),
        ("weld", (1, 1, 1), 2 * np.pi / 3),
        ("prismatic", (1, 0, 0), np.pi),
        ("prismatic", (1, 1, 1), 2 * np.pi / 3),
        ("revolute", (1, 0, 0), np.pi),
        ("cylindrical", (0, 1, 0), np.pi),
        ("planar", (0, 1, 0), np.pi),
    ],
)
def test_frames_turned_away_from_each_other_are_refused_though_all_equations_hold(kind, axis, angle):
    """The equations are products of axes, which are zero there, too; a guess beyond a quarter of a turn ends there."""
    away = CLOSURES[kind](Frame(None), Frame("a", rotation=turned_by(axis, angle)), "joint")
    tree = Tree([Body("a", Free(), inertia=Inertia.about_com(1.0, (0, 0, 0), np.eye(3)))])
    assert np.abs(LoopEquations(tree, [away]).gap(tree.neutral())).max() < 1e-15
    with pytest.raises(ModelError, match=r"'joint'.*degrees from each other"):
        Mechanism(tree, [away])
    closed = CLOSURES[kind](Frame(None), Frame("a"), "joint")
    q = np.concatenate([np.zeros(3), so3.exp(angle * np.array(axis) / np.linalg.norm(axis))])
    with pytest.raises(ModelError, match=r"'joint'.*degrees from each other"):
        Mechanism(tree, [closed]).problem(q)
    with pytest.raises(AssemblyError, match="degrees from each other"):
        assemble(tree, [closed], q)
