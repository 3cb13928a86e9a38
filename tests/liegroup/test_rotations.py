"""Every form of a rotation goes to the quaternion and back, near and on its singularities, and agrees with SciPy and 50
digits.
"""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from liegroup import rotations, rows
from liegroup.compile import WIDTH, entry, lane_array, lane_vector, ld, nothing, st, vector
from liegroup.formulas import so3

EPS = np.finfo(float).eps
SEQUENCES = ["".join(s) for s in itertools.product("xyz", repeat=3) if s[0] != s[1] != s[2]]
SEQUENCES += [s.upper() for s in SEQUENCES]
SMALL = np.concatenate([[0.0, 1e-300], 10.0 ** np.arange(-16, 0, 1.0)])


def random_quaternions(n=200, seed=0):
    q = np.random.default_rng(seed).normal(size=(n, 4))
    q *= np.sign(q[:, :1]) / np.linalg.norm(q, axis=1, keepdims=True)
    return q


def same_rotation(a, b, tolerance):
    """Whether two arrays of quaternions are equal up to sign."""
    distance = np.minimum(np.abs(a - b).max(axis=-1), np.abs(a + b).max(axis=-1))
    np.testing.assert_array_less(distance, tolerance)


def singular_quaternions():
    """Rotations by 0, by almost 0, by π and almost π, about axes and about anything."""
    axes = [*np.eye(3), np.array([1.0, 1, 0]) / np.sqrt(2), np.array([0.36, -0.48, 0.8])]
    angles = np.concatenate([SMALL, np.pi - SMALL, np.pi / 2 + SMALL[2:], np.pi / 2 - SMALL[2:]])
    return np.array([[np.cos(a / 2), *(np.sin(a / 2) * axis)] for axis in axes for a in angles])


FORMS = {
    "matrix": (rotations.matrix_from_quaternion_wxyz, rotations.quaternion_wxyz_from_matrix),
    "rotation vector": (rotations.rotation_vector_from_quaternion_wxyz, rotations.quaternion_wxyz_from_rotation_vector),
    "modified Rodrigues": (
        rotations.modified_rodrigues_from_quaternion_wxyz,
        rotations.quaternion_wxyz_from_modified_rodrigues,
    ),
    "xyzw": (rotations.quaternion_xyzw_from_wxyz, rotations.quaternion_wxyz_from_xyzw),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_quaternion_goes_to_every_form_and_back(form):
    there, back = FORMS[form]
    for q in (random_quaternions(), singular_quaternions()):
        same_rotation(back(there(q)), q, 5 * EPS)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_give_the_rotation_back_in_gimbal_lock_and_next_to_it(sequence):
    for q in (random_quaternions(), singular_quaternions(), locked_quaternions(sequence)):
        angles = rotations.euler_angles_from_quaternion_wxyz(q, sequence)
        same_rotation(rotations.quaternion_wxyz_from_euler_angles(angles, sequence), q, 8 * EPS)
        low, high = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
        assert ((angles[:, 1] >= low) & (angles[:, 1] <= high)).all()
        assert (np.abs(angles) <= np.pi).all()


def locked_quaternions(sequence):
    """Middle angle at an end and next to it."""
    ends = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    middles = np.concatenate([ends[0] + SMALL, ends[1] - SMALL])
    angles = np.array([[0.7, middle, -2.1] for middle in middles])
    return rotations.quaternion_wxyz_from_euler_angles(angles, sequence)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_the_third_angle_is_zero_in_gimbal_lock(sequence):
    ends = (0.0, np.pi) if sequence[0] == sequence[2] else (-np.pi / 2, np.pi / 2)
    for end in ends:
        q = rotations.quaternion_wxyz_from_euler_angles([0.7, end, -2.1], sequence)
        angles = rotations.euler_angles_from_quaternion_wxyz(q, sequence)
        assert angles[2] == 0.0
        np.testing.assert_allclose(angles[1], end, atol=4 * EPS)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_euler_angles_are_those_of_scipy(sequence):
    q = random_quaternions()
    theirs = Rotation.from_quat(q, scalar_first=True)
    np.testing.assert_allclose(
        rotations.euler_angles_from_quaternion_wxyz(q, sequence), theirs.as_euler(sequence), atol=2e-13
    )
    angles = np.random.default_rng(1).uniform(-7, 7, (50, 3))
    same_rotation(
        rotations.quaternion_wxyz_from_euler_angles(angles, sequence),
        Rotation.from_euler(sequence, angles).as_quat(scalar_first=True),
        5 * EPS,
    )


def test_the_other_forms_are_those_of_scipy():
    q = random_quaternions()
    theirs = Rotation.from_quat(q, scalar_first=True)
    np.testing.assert_allclose(rotations.matrix_from_quaternion_wxyz(q), theirs.as_matrix(), atol=4 * EPS)
    np.testing.assert_allclose(rotations.rotation_vector_from_quaternion_wxyz(q), theirs.as_rotvec(), atol=8 * EPS)
    np.testing.assert_allclose(rotations.modified_rodrigues_from_quaternion_wxyz(q), theirs.as_mrp(), atol=4 * EPS)
    np.testing.assert_allclose(rotations.quaternion_xyzw_from_wxyz(q), theirs.as_quat(), atol=2 * EPS)


def many_digits(formula, *numbers):
    with mpmath.workdps(50):
        return [float(x) for x in formula(tuple(mpmath.mpf(float(x)) for x in numbers))]


@pytest.mark.parametrize("sequence", ["XYZ", "ZYX", "ZXZ", "YZY"])
def test_euler_angles_keep_their_digits_against_fifty(sequence):
    """Rounding the quaternion moves an angle by ε over the distance to lock, and no more is lost."""
    i, j, k = ("XYZ".index(letter) for letter in sequence)
    for q in np.concatenate([random_quaternions(20), locked_quaternions(sequence)]):
        exact = many_digits(lambda g: rotations.euler_from_quaternion(g, i, j, k, 0), *q)
        got = rotations.euler_angles_from_quaternion_wxyz(q, sequence)
        lock = abs(np.sin(exact[1]) if i == k else np.cos(exact[1]))
        if lock > 1e-14:
            error = np.abs(np.exp(1j * got) - np.exp(1j * np.array(exact)))
            assert error[1] <= 4 * EPS
            assert error.max() <= 8 * EPS / lock
        whole = many_digits(lambda a: rotations.quaternion_from_euler(a, i, j, k), *got)
        same_rotation(np.array(whole), q, 6 * EPS)


def test_rodrigues_parameters_keep_their_digits_from_nothing_to_almost_a_half_turn():
    tangents = np.concatenate([[0.0], 10.0 ** np.arange(-300, 150, 25.0)])
    for t in tangents:
        g = t * np.array([0.36, -0.48, 0.8])
        exact = many_digits(lambda x: [c / mpmath.sqrt(1 + sum(v * v for v in x)) for c in (1, *x)], *g)
        q = rotations.quaternion_wxyz_from_rodrigues(g)
        np.testing.assert_allclose(q, exact, rtol=6 * EPS, atol=1e-320)
        if t > 0.0:
            np.testing.assert_allclose(rotations.rodrigues_from_quaternion_wxyz(q), g, rtol=8 * EPS)


def test_small_modified_rodrigues_parameters_keep_their_relative_digits():
    for t in 10.0 ** np.arange(-300, 150, 25.0):
        sigma = t * np.array([0.36, -0.48, 0.8])
        exact = many_digits(_mrp_reference, *sigma)
        got = rotations.quaternion_wxyz_from_modified_rodrigues(sigma)
        np.testing.assert_allclose(
            got * np.sign(got[1]), np.array(exact) * np.sign(exact[1]), rtol=8 * EPS, atol=EPS * (t == 1.0)
        )


def _mrp_reference(x):
    s = sum(v * v for v in x)
    q = [(1 - s) / (1 + s), *(2 * v / (1 + s) for v in x)]
    return [v if q[0] >= 0 else -v for v in q]


def test_both_sets_of_modified_rodrigues_parameters_are_one_rotation():
    sigma = np.array([0.2, -0.3, 0.1])
    shadow = -sigma / (sigma @ sigma)
    same_rotation(
        rotations.quaternion_wxyz_from_modified_rodrigues(shadow),
        rotations.quaternion_wxyz_from_modified_rodrigues(sigma),
        2 * EPS,
    )
    assert np.linalg.norm(rotations.modified_rodrigues_from_quaternion_wxyz(-random_quaternions()), axis=1).max() <= 1.0


def test_rodrigues_parameters_are_half_the_cayley_coordinates():
    q = random_quaternions()
    expected = 0.5 * np.stack(so3.cay_inverse(tuple(q.T)), axis=1)
    np.testing.assert_allclose(rotations.rodrigues_from_quaternion_wxyz(q), expected, rtol=4 * EPS)


def test_leading_axes_are_batches():
    q = random_quaternions(24).reshape(2, 3, 4, 4)
    for there, back in FORMS.values():
        assert back(there(q)).shape == q.shape
    angles = rotations.euler_angles_from_quaternion_wxyz(q, "ZYX")
    assert angles.shape == (2, 3, 4, 3)
    np.testing.assert_array_equal(angles[1, 2, 3], rotations.euler_angles_from_quaternion_wxyz(q[1, 2, 3], "ZYX"))


@pytest.mark.parametrize("zero_first", [0, 1])
@pytest.mark.parametrize(("i", "j", "k"), [(0, 1, 2), (2, 1, 0), (1, 2, 1)])
def test_formulas_compiled_on_numbers_and_lanes_agree_bit_by_bit_with_python(i, j, k, zero_first):
    @entry(nothing(vector, vector), nothing(lane_vector, lane_vector))
    def there_and_back(x, out):
        q = rotations.quaternion_from_euler((ld(x, 0), ld(x, 1), ld(x, 2)), i, j, k)
        a = rotations.euler_from_quaternion(q, i, j, k, zero_first)
        s = rotations.modified_rodrigues_from_quaternion(q)
        g = rotations.quaternion_from_rodrigues(
            rotations.rodrigues_from_quaternion(rotations.quaternion_from_modified_rodrigues(s))
        )
        st(out, 0, a[0])
        st(out, 1, a[1])
        st(out, 2, a[2])
        st(out, 3, g[0])
        st(out, 4, g[3])

    x = np.random.default_rng(5).uniform(-3, 3, (3, WIDTH))
    x[1, :2] = 0.0, np.pi / 2
    lanes_in, lanes_out = lane_array(3), lane_array(5)
    lanes_in[:] = x
    there_and_back(lanes_in, lanes_out)
    for lane in range(WIDTH):
        compiled, interpreted = np.zeros(5), np.zeros(5)
        there_and_back(np.ascontiguousarray(x[:, lane]), compiled)
        there_and_back.python(np.ascontiguousarray(x[:, lane]), interpreted)
        np.testing.assert_array_equal(compiled, interpreted)
        np.testing.assert_array_equal(lanes_out[:, lane], compiled)


BAD = {
    "wrong shape": (lambda: rotations.matrix_from_quaternion_wxyz([1, 0, 0]), r"has shape \(3,\): expected \(…, 4\)"),
    "no shape": (lambda: rotations.matrix_from_quaternion_wxyz(1.0), r"has shape \(\): expected \(…, 4\)"),
    "zero": (lambda: rotations.modified_rodrigues_from_quaternion_wxyz([0, 0, 0, 0]), "project"),
    "not a unit": (
        lambda: rotations.rotation_vector_from_quaternion_wxyz([[1, 0, 0, 0], [1, 1, 0, 0]]),
        r"\[1\] = .*project",
    ),
    "NaN": (
        lambda: rotations.quaternion_wxyz_from_rotation_vector([[0, 0, 0], [0, np.nan, 0]]),
        r"vector\[1\].*finite numbers",
    ),
    "not orthogonal": (lambda: rotations.quaternion_wxyz_from_matrix(2 * np.eye(3)), "project_matrix"),
    "reflection": (lambda: rotations.quaternion_wxyz_from_matrix(np.diag([1, 1, -1])), "project_matrix"),
    "half turn": (lambda: rotations.rodrigues_from_quaternion_wxyz([0, 1, 0, 0]), "modified Rodrigues"),
    "mixed case": (lambda: rotations.quaternion_wxyz_from_euler_angles([0, 0, 0], "XyZ"), "sequence: 'XyZ'"),
    "repeated axis": (lambda: rotations.quaternion_wxyz_from_euler_angles([0, 0, 0], "xxz"), "no two neighbours equal"),
    "two letters": (lambda: rotations.euler_angles_from_quaternion_wxyz([1, 0, 0, 0], "xy"), "three of the letters"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_the_argument_and_the_remedy(case):
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call()


def test_conversions_remember_no_more_than_their_sequences():
    before = len(rows._served)
    for _ in range(20):
        rotations.quaternion_wxyz_from_rotation_vector([0.0, 0.0, 1.0])
        q = rotations.quaternion_wxyz_from_euler_angles([0.1, 0.2, 0.3], "xyz")
        rotations.euler_angles_from_quaternion_wxyz(q, "xyz")
    assert len(rows._served) - before <= 3
