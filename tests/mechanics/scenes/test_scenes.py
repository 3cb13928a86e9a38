"""Trees, mechanisms and ready-made systems as they are drawn."""

import pickle
import warnings

import numpy as np
import pytest

import mechanics
from integrators import integrate
from integrators.problem.drawing import scene_of
from integrators.scenes import Surface, box, ellipsoid, record
from mechanics.errors import ModelError, ModelWarning
from mechanics.formulations.body_problem import body_problem
from mechanics.model.visuals import Visual
from mechanics.scenes import tree_scene
from mechanics.systems import SYSTEMS
from mechanics.systems.rolling import rolling_disk, tilting_disk
from mechanics.testing import random_tree

ABSTRACT = {"contact-oscillator", "contact-chain", "driven-pair", "knife-edge-in-bowl"}
"""Systems of mere numbers, without bodies in space."""

ARM = """<robot name="arm">
<material name="blue"><color rgba="0 0 1 1"/></material>
<link name="base"><visual><geometry><box size="1 2 3"/></geometry></visual></link>
<link name="a"><inertial><mass value="1"/><origin xyz="0 0 0.5"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry>
    <material name="blue"/></visual>
  <visual><geometry><cylinder radius="0.1" length="2"/></geometry></visual>
  LOOKS</link>
<link name="tip"><visual><geometry><sphere radius="0.25"/></geometry></visual></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="f" type="fixed"><parent link="a"/><child link="tip"/><origin xyz="0 0 1"/></joint>
</robot>"""


def bounds(surface):
    return surface.vertices.min(axis=0), surface.vertices.max(axis=0)


def start(name):
    """The scene of a system, and its film at the start."""
    problem = SYSTEMS[name].problem()
    return record(scene_of(problem), np.zeros(1), np.atleast_2d(problem.y0)[:1])


LOOPS = {"squeezer", "rigid-governor", "walking-mechanism"}
"""Of the mechanisms with loops, which are all drawn by the same rules: springs, balls, feet."""


@pytest.mark.parametrize("name", [s.name for s in SYSTEMS.values() if s.kind != "loops" or s.name in LOOPS])
def test_every_system_with_bodies_is_drawn(name):
    if name in ABSTRACT:
        assert scene_of(SYSTEMS[name].problem()) is None
        return
    film = start(name)
    assert any(body.shapes for body in film.scene.bodies)
    assert (film.high - film.low).max() > 0.0
    assert np.isfinite(film.positions).all()
    assert np.linalg.norm(film.quaternions_wxyz, axis=-1) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["four-bar", "whipple-bicycle", "rolling-disk", "heavy-top", "kepler"])
def test_problems_with_scenes_pickle(name):
    problem = SYSTEMS[name].problem()
    again = pickle.loads(pickle.dumps(problem))
    found = record(again.scene, np.zeros(1), problem.y0[None])
    assert found.positions == pytest.approx(start(name).positions)


def test_poses_are_those_of_the_tree():
    tree = random_tree("random", 4, np.random.default_rng(2))
    q = np.stack([tree.random_configuration(np.random.default_rng(k)) for k in range(3)])
    film = record(tree_scene(tree), np.arange(3.0), q)
    x, R = mechanics.body_poses(tree, q)
    assert film.positions == pytest.approx(x)
    assert film.rotations == pytest.approx(R, abs=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "rssr"])
def test_formulations_show_the_same(name):
    """The bodies of a mechanism stand in one place in tree coordinates, with multipliers, and one by one."""
    mechanism = SYSTEMS[name].mechanism()
    films = []
    for problem in (mechanism.problem(), SYSTEMS[name].problem("constrained"), body_problem(mechanism)):
        films.append(record(problem.scene, np.zeros(1), problem.y0[None]))
    for film in films[1:]:
        assert film.positions == pytest.approx(films[0].positions, abs=1e-12)
        assert film.rotations == pytest.approx(films[0].rotations, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "radius", "contact"),
    [("rolling-disk", 0.3, rolling_disk.contact_point), ("tilting-disk", 1.0, tilting_disk.contact_point)],
)
def test_disks_touch_the_floor_where_they_roll(name, radius, contact):
    problem = SYSTEMS[name].problem()
    solution = integrate(problem, "RKMK4", (0.0, 1.0), step=0.01, progress=False)
    film = solution.film()
    assert film.scene.trails[0].contact
    path = film.trails[:, 0]
    assert path[:, 2] == pytest.approx(0.0, abs=1e-4)  # the method does not hold the height
    assert path[:, :2] == pytest.approx(contact(solution.y, radius), abs=1e-12)
    assert film.scene.floor == 0.0


def test_wheels_of_a_tree_touch_the_floor():
    film = start("whipple-bicycle")
    contacts = [k for k, trail in enumerate(film.scene.trails) if trail.contact]
    assert len(contacts) == 2
    assert film.trails[0, contacts, 2] == pytest.approx(0.0, abs=1e-9)
    mechanism = SYSTEMS["whipple-bicycle"].mechanism()
    rims = [c for c in mechanism.equations.closures if c.kind == "wheel"]
    wheels = {c.second.body for c in rims}
    sizes = {b.name: np.ptp(np.concatenate([s.vertices for s in b.shapes]), axis=0).max() for b in film.scene.bodies}
    radii = {c.second.body: float(np.linalg.norm(c.equations[0].b)) for c in rims}
    assert all(sizes[name] >= 2.0 * radii[name] * 0.99 for name in wheels)


def test_gravity_points_down_on_the_page():
    assert start("four-bar").scene.up == pytest.approx([0.0, 1.0, 0.0])
    assert start("whipple-bicycle").scene.up == pytest.approx([0.0, 0.0, 1.0])


# --- visuals ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def load(tmp_path):
    def made(looks=""):
        path = tmp_path / "arm.urdf"
        path.write_text(ARM.replace("LOOKS", looks))
        return mechanics.load_urdf(path)

    return made


def test_a_urdf_file_says_how_its_links_look(load):
    tree = load()
    film = record(tree_scene(tree), np.zeros(1), np.zeros((1, 1)))
    shapes = film.scene.bodies[0].shapes
    assert len(shapes) == 3
    assert bounds(shapes[0])[0] == pytest.approx([-1.0, -0.5, -1.0])
    assert bounds(shapes[0])[1] == pytest.approx([1.0, 0.5, 2.0])
    assert shapes[0].colour == "#0000ff"
    assert bounds(shapes[1])[1] == pytest.approx([0.1, 0.1, 1.0])
    assert bounds(shapes[2])[1] == pytest.approx([0.25, 0.25, 1.25])
    assert bounds(film.scene.still[0])[1] == pytest.approx([0.5, 1.0, 1.5])
    assert len(tree.with_gravity([0, 0, 0]).visuals) == len(tree.with_locked(["j"]).visuals) == 4
    assert len(pickle.loads(pickle.dumps(tree)).visuals) == 4


def test_meshes_are_read_when_the_tree_is_drawn(load, tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "meshes").mkdir()
    mesh = tmp_path / "meshes" / "part.stl"
    mesh.write_bytes(trimesh.creation.box((1.0, 1.0, 1.0)).export(file_type="stl"))
    tree = load('<visual><geometry><mesh filename="meshes/part.stl" scale="1 2 -3"/></geometry></visual>')
    shapes = record(tree_scene(tree), np.zeros(1), np.zeros((1, 1))).scene.bodies[0].shapes
    found = shapes[2]
    assert bounds(found)[1] == pytest.approx([0.5, 1.0, 1.5])
    a, b, c = (found.vertices[found.faces[:, k]] for k in range(3))
    assert np.einsum("ki,ki->k", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(6.0)
    mesh.write_bytes(b"solid nothing")
    with pytest.warns(ModelWarning, match=r"part\.stl: not drawn"):
        record(tree_scene(tree), np.zeros(1), np.zeros((1, 1)))


def test_an_sdf_file_says_how_its_links_look(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    (tmp_path / "part.stl").write_bytes(trimesh.creation.box((1.0, 1.0, 1.0)).export(file_type="stl"))

    def visual(geometry, more=""):
        return f"<visual name='v'><geometry>{geometry}</geometry>{more}</visual>"

    looks = visual("<box><size>1 2 3</size></box>", "<pose>0 0 1 0 0 0</pose>")
    looks += visual("<capsule><radius>0.5</radius><length>2</length></capsule>")
    looks += visual("<ellipsoid><radii>1 2 3</radii></ellipsoid>", "<material><diffuse>0 0 1 1</diffuse></material>")
    looks += visual("<mesh><uri>part.stl</uri><scale>1 2 -3</scale></mesh>")
    wrong = {
        "<mesh><uri>model://gone/x.stl</uri></mesh>": "'model://gone/x.stl' is not there",
        "<heightmap/>": "<heightmap> is not known",
        "<sphere><radius>x</radius></sphere>": "the numbers of <sphere> are wrong",
    }
    for n, geometry in enumerate(wrong):
        looks += visual(geometry).replace("'v'", f"'w{n}'")
    path = tmp_path / "arm.sdf"
    joint = "<joint name='j' type='revolute'><parent>a</parent><child>b</child><pose>0 0 -1 0 0 0</pose>{}</joint>"
    path.write_text(
        f"<sdf version='1.9'><model name='m'><link name='a'/><link name='b'>{looks}</link>"
        + joint.format("<axis><xyz>0 0 1</xyz></axis>")
        + "</model></sdf>"
    )
    with pytest.warns(ModelWarning, match="links without <inertial>"):
        tree = mechanics.load_mechanism(path).tree
    for n, why in enumerate(wrong.values()):
        assert any(note.startswith(f"<link name='b'> <visual name='w{n}'>: not drawn (") and why in note
                   for note in tree.notes)  # fmt: skip
    shapes = record(tree_scene(tree), np.zeros(1), np.zeros((1, 1))).scene.bodies[0].shapes
    highest = [bounds(shape)[1].tolist() for shape in shapes[-4:]]  # the origin of the body is at the joint, 1 m below
    assert highest[0] == pytest.approx([0.5, 1.0, 3.5])
    assert highest[1] == pytest.approx([0.5, 0.5, 2.5], abs=0.01)
    assert highest[2] == pytest.approx([1.0, 2.0, 4.0])
    assert highest[3] == pytest.approx([0.5, 1.0, 2.5])
    assert shapes[-2].colour == "#0000ff"


@pytest.mark.parametrize(
    ("looks", "says"),
    [
        ('<geometry><mesh filename="gone.stl"/></geometry>', "'gone.stl' is not there"),
        ('<geometry><mesh filename="../../../etc/hosts"/></geometry>', "the mesh"),
        ('<geometry><mesh filename="package://nowhere/x.stl"/></geometry>', "is not there"),
        ('<geometry><mesh filename="http://x/y.stl"/></geometry>', "http:// is not opened"),
        ('<geometry><mesh filename="arm.urdf"/></geometry>', "no mesh of a known format"),
        ('<geometry><box size="1 nan 1"/></geometry>', "the numbers of <box> are wrong"),
        ("<geometry><blob/></geometry>", "<blob> is not known"),
    ],
)
def test_looks_that_are_wrong_are_noted_and_spoil_nothing(load, looks, says):
    tree = load(f"<visual>{looks}</visual>")
    assert any("not drawn" in note and says in note for note in tree.notes)
    assert len(tree.visuals) == 4


def test_meshes_outside_of_the_model_are_not_opened(load, tmp_path):
    outside = tmp_path.parent / "outside.stl"
    outside.write_bytes(b"x")
    folder = tmp_path / "robot" / "urdf"
    folder.mkdir(parents=True)
    path = folder / "arm.urdf"
    looks = '<visual><geometry><mesh filename="../../../outside.stl"/></geometry></visual>'
    path.write_text(ARM.replace("LOOKS", looks))
    assert any("lies outside of the folder of the model" in note for note in mechanics.load_urdf(path).notes)
    (folder / "link.stl").symlink_to(outside)
    path.write_text(ARM.replace("LOOKS", looks.replace("../../../outside.stl", "link.stl")))
    assert any("lies outside of the folder of the model" in note for note in mechanics.load_urdf(path).notes)


def test_geoms_of_mujoco_are_drawn():
    pytest.importorskip("mujoco")
    geoms = "<geom type='box' size='0.1 0.2 0.3' pos='0 0 -1' rgba='1 0 0 1'/><geom size='0.2' group='3'/>"
    geoms += "<geom type='capsule' fromto='0 0 0 0 0 -1' size='0.05' contype='0' conaffinity='0'/>"
    text = f"<mujoco><worldbody><body name='b'><joint axis='0 1 0' pos='0 0 0.5'/>{geoms}</body></worldbody></mujoco>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = mechanics.load_mjcf(text)
    shapes = [shape for visual in tree.visuals for shape in visual.drawn()]
    assert len(shapes) == 2
    assert shapes[0].colour == "#ff0000"
    low, high = bounds(shapes[0])  # the origin of the body is the anchor, half a metre above that of the file
    assert (low, high) == (pytest.approx([-0.1, -0.2, -1.8]), pytest.approx([0.1, 0.2, -1.2]))
    assert bounds(shapes[1])[0] == pytest.approx([-0.05, -0.05, -1.55], abs=1e-3)


def test_looks_of_ones_own():
    double = mechanics.load_model("double_pendulum")
    name = double.body_names[0]
    tree = mechanics.Tree(double.bodies, visuals=[Visual(name, [ellipsoid([0.1] * 3)], (0.0, 0.0, 1.0))])
    shapes = record(tree_scene(tree), np.zeros(1), np.zeros((1, 2))).scene.bodies[0].shapes
    assert len(shapes) == 1
    assert isinstance(shapes[0], Surface)
    assert bounds(shapes[0])[1] == pytest.approx([0.1, 0.1, 1.1])
    with pytest.raises(ModelError, match="the body 'x' is unknown"):
        mechanics.Tree(double.bodies, visuals=[Visual("x", [box((1, 1, 1))])])


# --- show -------------------------------------------------------------------------------------------------------------


def test_configurations_to_look_at(tmp_path):
    tree = random_tree("random", 3, np.random.default_rng(0))
    q = tree.random_configuration(np.random.default_rng(1))
    path = tree.show(q, tmp_path / "tree.html")
    assert "One configuration is shown." in path.read_text(encoding="utf-8")
    several = tree.show(np.stack([q, q, q]))
    assert "All 3 saved states are shown." in several.text
    assert "<iframe" in several._repr_html_()
    with pytest.raises(ValueError, match="q: shape"):
        tree.show(q[:-1])
    mechanism = SYSTEMS["four-bar"].mechanism()
    assert mechanism.show(path=tmp_path / "four-bar.glb").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize(("name", "bodies"), [("ur5", 6), ("panda", 9), ("solo12", 13)])
def test_robots_have_their_meshes(name, bodies, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        tree = mechanics.load_model(name)
    assert {visual.body for visual in tree.visuals} >= set(tree.body_names)
    film = record(tree_scene(tree), np.zeros(1), tree.neutral()[None])
    assert len(film.scene.bodies) == bodies
    count = sum(len(s.faces) for b in film.scene.bodies for s in b.shapes)
    assert 5_000 < count < 60_000
    assert 0.1 < (film.high - film.low).max() < 3.0


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_picture_shows_bodies_frames_and_paths():
    """The axes of a frame begin where the frame is; a path is one line."""
    from matplotlib.figure import Figure

    tree = mechanics.load_model("double_pendulum")
    path = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    ax = Figure().add_subplot()
    assert tree.draw([0.3, -0.4], ax, frames=[tree.body_names[-1], mechanics.Frame(None)], paths=[path]) is ax
    origins = [line.get_xydata()[0] for line in ax.lines[1:]]
    assert len(origins) == 6
    assert np.array_equal(origins[0], origins[2])
    assert not np.allclose(origins[0], origins[3])
    x, y = ax.lines[0].get_data()
    assert ax.get_xlim()[0] < min(x) < max(x) < ax.get_xlim()[1]
    assert ax.get_ylim()[0] < min(y) < max(y) < ax.get_ylim()[1]
    assert sum(len(c.get_paths()) for c in ax.collections) > 50


def test_a_mechanism_is_drawn_with_what_closes_it():
    from matplotlib.figure import Figure

    mechanism = SYSTEMS["four-bar"].mechanism()
    ax = mechanism.draw(ax=Figure().add_subplot())
    assert sum(len(c.get_paths()) for c in ax.collections) > 50


def test_pictures_of_nothing_are_refused():
    tree = mechanics.load_model("double_pendulum")
    with pytest.raises(ValueError, match="one configuration"):
        tree.draw(np.zeros((2, 2)))
    with pytest.raises(KeyError, match="no frame or body 'tool'"):
        tree.draw(frames=["tool"])
    for wrong in (np.zeros((3, 2)), [[np.nan, 0.0, 0.0]], np.zeros((0, 3))):
        with pytest.raises(ValueError, match=r"^paths: "):
            tree.draw(paths=[wrong])
