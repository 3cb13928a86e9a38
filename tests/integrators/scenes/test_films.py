"""Films show the saved states and nothing else; what cannot be shown is said."""

import json
import shutil
import struct
import subprocess

import numpy as np
import pytest

from integrators import Problem, Solution, Status, integrate
from integrators.scenes import Body, Film, Scene, Tie, Trail, animate, box, picture, points, record
from integrators.scenes.film import chosen
from integrators.scenes.gltf import glb
from integrators.scenes.page import page
from liegroup import rn, se3, so3

STEP = 0.05


def swing(t, y):
    """A pendulum (angle, rate), as a plain function."""
    return np.array([y[1], -np.sin(y[0])])


def bob(y):
    return [[np.sin(y[0]), -np.cos(y[0])]]


@pytest.fixture(scope="module")
def solution():
    problem = Problem(
        rn(2),
        [1.0, 0.0],
        swing,
        invariants={"energy": lambda t, y: np.array([0.5 * y[1] ** 2 - np.cos(y[0])])},
        invariant_units=["J"],
        model="swing",
        scene=points(bob, ["bob"], anchored=True),
    )
    return integrate(problem, "RKMK4", (0.0, 10.0), step=STEP, save_every=2, progress=False)


def content(text):
    """What the page is made of."""
    start = text.index('<script type="application/json" id="films">') + len(
        '<script type="application/json" id="films">'
    )
    return json.loads(text[start : text.index("</script>", start)])


def array(found, number):
    import base64

    entry = found["arrays"][number]
    return np.frombuffer(base64.b64decode(entry["data"]), dtype="<" + entry["type"])


def test_the_page_has_the_saved_states(solution):
    found = content(page([solution.film()]))
    film = found["films"][0]
    assert (array(found, film["t"]) == solution.t).all()
    poses = array(found, film["poses"]).reshape(len(solution.t), 1, 7)
    angle = solution.y[:, 0]
    expected = np.stack([np.sin(angle), -np.cos(angle), 0 * angle], axis=-1)
    assert poses[:, 0, :3] == pytest.approx(expected, abs=1e-6)
    assert poses[:, 0, 3:] == pytest.approx(np.tile([1.0, 0, 0, 0], (len(angle), 1)))
    energy = film["curves"][0]
    assert (energy["name"], energy["units"], energy["first"]) == ("energy", "J", solution["energy"][0])
    change = array(found, energy["change"])
    assert change == pytest.approx(solution["energy"] - solution["energy"][0], abs=1e-6 * float(np.abs(change).max()))


def test_frames_are_saved_states_and_bands_are_of_every_step(solution):
    film = solution.film(frames=11)
    rows = np.searchsorted(solution.t, film.t)
    assert (solution.t[rows] == film.t).all()
    assert len(film.t) == 11
    assert film.t[[0, -1]].tolist() == solution.t[[0, -1]].tolist()
    curve, first = film.curves[0], solution["energy"][0]
    for k in range(1, 11):
        since = slice(rows[k - 1] + 1, rows[k] + 1)
        assert curve.least[k] == solution.least[since, 0].min() - first
        assert curve.greatest[k] == solution.greatest[since, 0].max() - first
    assert any("11 of 101 saved states" in note for note in film.notes)


def test_uneven_times_are_shown_evenly():
    t = np.concatenate([np.linspace(0.0, 1.0, 1000), np.linspace(1.1, 10.0, 90)])
    rows = chosen(t, 50)
    assert len(rows) <= 50
    assert rows[[0, -1]].tolist() == [0, len(t) - 1]
    assert np.diff(t[rows]).max() < 0.35
    assert (chosen(-t, 50) == rows).all()


def test_a_page_is_small_and_names_its_parts(solution, tmp_path):
    path = solution.animate(tmp_path / "swing.html", title="A swing <b>")
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_size < 2_000_000
    assert "<title>A swing &lt;b&gt;</title>" in text
    assert "SPDX-License-Identifier: MIT" in text
    assert not [word for word in ('src="http', 'href="http', "@import") if word in text]
    shown = solution.animate()._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert "</iframe>" in shown


def test_the_second_film_of_the_same_bodies_adds_no_shapes(solution):
    one, two = (content(page([solution.film()] * n)) for n in (1, 2))
    assert len(two["films"]) == 2
    assert len(one["arrays"]) == len(two["arrays"])


def test_names_tell_solutions_apart(solution, tmp_path):
    other = integrate(
        Problem(rn(2), [1.0, 0.0], swing, model="swing", scene=points(bob)),
        "RKMK4",
        (0.0, 5.0),
        step=0.1,
        progress=False,
    )
    found = content(animate([solution, other], tmp_path / "two.html").read_text(encoding="utf-8"))
    assert found["title"] == "swing"
    assert [film["title"] for film in found["films"]] == ["RKMK4, step 0.05 s", "RKMK4, step 0.1 s"]
    named = content(animate([solution, other], names=["a", "b"]).text)
    assert [film["title"] for film in named["films"]] == ["a", "b"]


def test_gltf_has_the_poses_and_opens_elsewhere(solution):
    data = glb(solution.film(frames=20))
    magic, version, length = struct.unpack_from("<4sII", data)
    assert (magic, version, length) == (b"glTF", 2, len(data))
    size, kind = struct.unpack_from("<II", data, 12)
    assert kind == 0x4E4F534A
    head = json.loads(data[20 : 20 + size])
    body = data[20 + size + 8 :]
    moves = {
        c["target"]["path"]: head["animations"][0]["samplers"][c["sampler"]]
        for c in head["animations"][0]["channels"][:2]
    }
    assert set(moves) == {"translation", "rotation"}

    def numbers(k):
        accessor = head["accessors"][k]
        view = head["bufferViews"][accessor["bufferView"]]
        return np.frombuffer(body, "<f4", view["byteLength"] // 4, view["byteOffset"])

    film = solution.film(frames=20)
    assert numbers(moves["translation"]["output"]) == pytest.approx(film.positions[:, 0].ravel(), abs=1e-6)
    assert numbers(moves["translation"]["input"]) == pytest.approx(film.t, abs=1e-6)
    trimesh = pytest.importorskip("trimesh")
    import io

    scene = trimesh.load_scene(io.BytesIO(data), file_type="glb")
    assert sum(len(g.faces) for g in scene.geometry.values() if hasattr(g, "faces")) > 0


@pytest.fixture
def short(monkeypatch):
    """A motion of 0.4 s that is shown in as many."""
    monkeypatch.setattr(picture, "SECONDS", 0.4)
    problem = Problem(rn(2), [1.0, 0.0], swing, model="swing", scene=points(bob, anchored=True))
    return integrate(problem, "RKMK4", (0.0, 0.4), step=0.1, progress=False)


def test_a_video_has_the_length_of_the_motion(short, tmp_path):
    if shutil.which("ffmpeg") is None or shutil.which("ffprobe") is None:
        pytest.skip("ffmpeg is not installed")
    path = short.animate(tmp_path / "swing.mp4")
    asked = ["ffprobe", "-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", str(path)]
    seconds = float(subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    assert 0.2 < seconds < 0.7


def test_a_gif_has_frames_that_differ(short, tmp_path):
    from PIL import Image

    path = short.animate(tmp_path / "swing.gif")
    with Image.open(path) as gif:
        assert gif.n_frames >= 4
        first = np.asarray(gif.convert("RGB"))
        gif.seek(gif.n_frames - 1)
        last = np.asarray(gif.convert("RGB"))
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 20
    assert (first != last).any(axis=-1).mean() > 1e-3


def test_the_title_is_in_every_kind_of_file(short, tmp_path):
    """It was in pages only."""
    from PIL import Image

    def frame(shown, **given):
        with Image.open(animate(shown, tmp_path / "x.gif", **given)) as gif:
            return np.asarray(gif.convert("L"), dtype=float)

    film = short.film()
    titled = frame(film, title="A swing")
    assert np.array_equal(titled, frame(film.named("A swing")))
    assert not np.array_equal(titled, frame(film))
    both, plain = frame([film, film.named("b")], title="Two swings"), frame([film, film.named("b")])
    rows = np.flatnonzero((np.abs(both - plain) > 64.0).any(axis=1))  # colours are of a palette for each
    assert len(rows) > 5
    assert rows.max() < 0.1 * len(both)
    assert b"A swing" in animate(film, tmp_path / "x.glb", title="A swing").read_bytes()


# --- what cannot be shown ---------------------------------------------------------------------------------------------


def test_states_that_are_not_finite_end_the_film():
    t, y = np.arange(5.0), np.ones((5, 2))
    y[3:, 1] = np.nan
    film = record(points(bob), t, y)
    assert film.t.tolist() == [0.0, 1.0, 2.0]
    assert any("after t = 2 s are not finite" in note for note in film.notes)
    with pytest.raises(ValueError, match="no saved state"):
        record(points(bob), t, np.full((5, 2), np.nan))
    with pytest.raises(ValueError, match="no saved state"):
        record(points(bob), t[:0], y[:0])


def test_a_run_that_failed_is_shown_until_it_did_and_says_so():
    def ends(t, y):
        return np.array([y[0] if y[0] < 4.0 else np.nan, 0.0])

    problem = Problem(rn(2), [1.0, 0.0], ends, scene=points(lambda y: [[y[0], y[1]]]))
    found = integrate(problem, "RKMK4", (0.0, 2.0), step=0.05, progress=False)
    assert found.status is not Status.OK
    film = found.film()
    assert film.t[-1] < 1.5
    assert film.warning == found.message
    assert content(page([film]))["films"][0]["warning"] == found.message


def test_a_problem_without_a_scene_says_what_to_give(tmp_path):
    problem = Problem(rn(2), [1.0, 0.0], swing, model="bare")
    found = integrate(problem, "RKMK4", (0.0, 1.0), step=0.1, progress=False)
    with pytest.raises(ValueError, match=r"'bare' has no scene.*integrators\.scenes\.points"):
        found.animate(tmp_path / "x.html")
    assert isinstance(found.film(scene=points(bob)), Film)
    with pytest.raises(TypeError, match="expected a Scene, or a function"):
        found.film(scene="a pendulum")


def test_files_keep_no_scene(solution, tmp_path):
    again = Solution.load(solution.save(tmp_path / "run.h5"))
    with pytest.raises(ValueError, match="from a file, which keeps none"):
        again.animate()
    assert len(again.film(scene=solution.scene).t) == len(solution.t)


def test_an_ensemble_names_its_trajectories():
    problem = Problem(rn(2), [[1.0, 0.0], [2.0, 0.0]], swing, scene=points(bob))
    found = integrate(problem, "RKMK4", (0.0, 1.0), step=0.1, progress=False)
    with pytest.raises(ValueError, match=r"2 trajectories; take one, solution\.trajectory\(k\)"):
        found.animate()
    assert len(found.trajectory(1).film().t) == 11


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("run.avi", ValueError, r"expected a name that ends in \.html, \.mp4, \.gif, \.glb"),
        ("run", ValueError, "expected a name that ends in"),
        ("nowhere/run.html", FileNotFoundError, "there is no folder"),
        ("folder.html", IsADirectoryError, "is a folder"),
    ],
)
def test_paths_that_cannot_be_written_are_named(solution, tmp_path, name, error, says):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(error, match=says):
        solution.animate(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.html"]


def still(t, y):
    return np.zeros((len(t), 1, 3)), np.tile(np.eye(3), (len(t), 1, 1, 1))


def test_what_does_not_fit_together_is_refused(solution, tmp_path):
    with pytest.raises(ValueError, match=r"2, expected one for a \.glb"):
        animate([solution, solution], tmp_path / "x.glb")
    with pytest.raises(ValueError, match="1 names for 2 solutions"):
        animate([solution, solution], names=["one"])
    with pytest.raises(ValueError, match="expected 1 to 12"):
        animate([])
    with pytest.raises(TypeError, match="expected a Solution"):
        animate(3.0)
    with pytest.raises(ValueError, match="each with a name of its own"):
        Scene([Body("a"), Body("a")], still)
    with pytest.raises(ValueError, match="'b', expected one of the bodies a"):
        Scene([Body("a")], still, ties=[Tie("a", "b")])
    with pytest.raises(ValueError, match="'c', expected one of the bodies a"):
        Scene([Body("a")], still, trails=[Trail("c")])
    with pytest.raises(ValueError, match=r"poses: shapes .* expected \(2, 1, 3\)"):
        record(
            Scene([Body("a", [box((1, 1, 1))])], lambda t, y: (np.zeros(3), np.eye(3))), np.arange(2.0), np.ones((2, 1))
        )
    with pytest.raises(ValueError, match="expected \\(points, 2 or 3\\)"):
        record(points(lambda y: [1.0, 2.0]), np.arange(2.0), np.ones((2, 1)))


# --- groups -----------------------------------------------------------------------------------------------------------


def test_problems_on_groups_are_drawn_by_their_factors():
    turn = Problem(so3, [1.0, 0.0, 0.0, 0.0], lambda t, y: np.array([0.0, 0.0, 1.0]))
    found = integrate(turn, "RKMK4", (0.0, np.pi / 2), step=np.pi / 40, progress=False)
    film = found.film()
    assert film.rotations[-1, 0] == pytest.approx(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), abs=1e-12)
    fly = Problem(se3, [1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0], lambda t, y: np.array([1.0, 0, 0, 0, 0, 0]))
    film = integrate(fly, "RKMK4", (0.0, 1.0), step=0.1, progress=False).film()
    assert film.positions[-1, 0] == pytest.approx([2.0, 2.0, 3.0])


def test_a_film_ends_where_its_poses_are_not_finite(tmp_path):
    """Not as a file with numbers that are none."""
    t, y = np.arange(4.0), np.array([[1.0], [0.5], [-0.5], [-1.0]])
    root = points(lambda y: [[np.sqrt(y[0]), 0.0]], ["root"])
    with np.errstate(invalid="ignore"):
        film = record(root, t, y)
        assert len(film.t) == 2
        assert any("poses after t = 1 s are not finite" in note for note in film.notes)
        for ending in ("glb", "html"):
            assert animate(film, tmp_path / f"film.{ending}").stat().st_size > 0
        with pytest.raises(ValueError, match="poses: that of 'root' at t = 2 s is not finite"):
            record(root, t[2:], y[2:])
    with pytest.raises(ValueError, match="the largest of glTF"):
        glb(record(root, t[:2], [[1.0], [1e80]]))
