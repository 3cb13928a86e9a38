"""Models by name, by file, or from another project: real robots of the package example-robot-data, any URDF, SDF or
MJCF file, models of Pinocchio and of MuJoCo.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from integrators.problem.joints import written_for
from liegroup.arrays import of_kind, path_of, positive, shown
from liegroup.modules import listing
from mechanics.adapters.mesh_files import Mesh, read_mesh
from mechanics.adapters.pinocchio import PinocchioTree
from mechanics.adapters.reading import LIMITS, Limits, inside
from mechanics.adapters.state_map import StateMap, places_of
from mechanics.errors import ModelError, ModelWarning
from mechanics.joints import Continuous
from mechanics.model.tree import Tree

__all__ = [
    "MODELS",
    "Limits",
    "Mesh",
    "Model",
    "PinocchioTree",
    "StateMap",
    "from_mujoco",
    "from_pinocchio",
    "load_mechanism",
    "load_mesh",
    "load_mjcf",
    "load_model",
    "load_urdf",
    "model_names",
    "model_path",
    "state_map",
    "to_pinocchio",
]
__dir__ = listing(__all__)

if TYPE_CHECKING:
    from mechanics.constraints.loops import Closure
    from mechanics.mechanism import Mechanism


class Model(NamedTuple):
    """A robot of the package: its file, and whether it stands free or is bolted to the ground.

    Parameters
    ----------
    file : str
        Below the folder of the package example-robot-data.
    floating_base : bool
        Whether its root link moves freely.

    Examples
    --------
    >>> MODELS["go2"].floating_base, MODELS["panda"].floating_base
    (True, False)
    """

    file: str
    floating_base: bool = False


MODELS: dict[str, Model] = {
    "a1": Model("a1_description/urdf/a1.urdf", True),
    "allegro_left": Model("allegro_hand_description/urdf/allegro_left_hand.urdf"),
    "allegro_right": Model("allegro_hand_description/urdf/allegro_right_hand.urdf"),
    "anymal": Model("anymal_b_simple_description/robots/anymal.urdf", True),
    "anymal_c": Model("anymal_c_simple_description/urdf/anymal.urdf", True),
    "anymal_kinova": Model("anymal_b_simple_description/robots/anymal-kinova.urdf", True),
    "b1": Model("b1_description/urdf/b1.urdf", True),
    "baxter": Model("baxter_description/urdf/baxter.urdf"),
    "bolt": Model("bolt_description/robots/bolt.urdf", True),
    "double_pendulum": Model("double_pendulum_description/urdf/double_pendulum.urdf"),
    "finger_edu": Model("finger_edu_description/robots/finger_edu.urdf"),
    "g1": Model("g1_description/urdf/g1_29dof_rev_1_0.urdf", True),
    "go1": Model("go1_description/urdf/go1.urdf", True),
    "go2": Model("go2_description/urdf/go2.urdf", True),
    "hyq": Model("hyq_description/robots/hyq_no_sensors.urdf", True),
    "icub": Model("icub_description/robots/icub.urdf", True),
    "iris": Model("iris_description/robots/iris.urdf", True),
    "kinova": Model("kinova_description/robots/kinova.urdf"),
    "laikago": Model("laikago_description/urdf/laikago.urdf", True),
    "panda": Model("panda_description/urdf/panda.urdf"),
    "pr2": Model("pr2_description/urdf/pr2.urdf"),
    "romeo": Model("romeo_description/urdf/romeo_small.urdf", True),
    "simple_humanoid": Model("simple_humanoid_description/urdf/simple_humanoid.urdf", True),
    "so101": Model("so_arm_description/urdf/so101.urdf"),
    "solo": Model("solo_description/robots/solo.urdf", True),
    "solo12": Model("solo_description/robots/solo12.urdf", True),
    "talos": Model("talos_data/robots/talos_reduced.urdf", True),
    "talos_arm": Model("talos_data/robots/talos_left_arm.urdf"),
    "talos_full": Model("talos_data/robots/talos_full_v2.urdf", True),
    "tiago": Model("tiago_description/robots/tiago.urdf"),
    "ur3": Model("ur_description/urdf/ur3_robot.urdf"),
    "ur5": Model("ur_description/urdf/ur5_robot.urdf"),
    "ur10": Model("ur_description/urdf/ur10_robot.urdf"),
    "xarm7": Model("xarm_description/urdf/xarm7.urdf"),
    "z1": Model("z1_description/urdf/z1.urdf"),
}
"""Built-in names."""
_FOLDER = Path("share/example-robot-data/robots")


def model_names() -> tuple[str, ...]:
    """The built-in names that `load_model` and `model_path` know.

    Returns
    -------
    tuple of str
        The keys of `MODELS`.

    Examples
    --------
    >>> "panda" in model_names()
    True
    """
    return tuple(MODELS)


def model_path(name: str) -> Path:
    """The URDF file of a built-in model on this machine.

    Parameters
    ----------
    name : str
        One of `model_names`.

    Returns
    -------
    Path
        Of the URDF file.

    Raises
    ------
    ValueError
        An unknown name.
    FileNotFoundError
        The installed version of the package does not have the file.
    ModuleNotFoundError
        The package with the model files is not installed; the message says how to install it.

    Examples
    --------
    >>> model_path("double_pendulum").name
    'double_pendulum.urdf'
    """
    of_kind(name, str, "name", "one of `model_names`")
    if name not in MODELS:
        raise ValueError(f"name: {name!r}: unknown; expected one of {', '.join(MODELS)}, or the path of a .urdf file")
    path = _robots() / MODELS[name].file
    if not path.is_file():
        raise FileNotFoundError(
            f"model {name!r}: {path} is missing; the installed version of example-robot-data does not have it"
        )
    return path


def _robots() -> Path:
    try:
        installed = Path(str(metadata.distribution("example-robot-data").locate_file("cmeel.prefix"))) / _FOLDER
    except metadata.PackageNotFoundError:
        installed = Path(sys.prefix) / _FOLDER  # a conda environment
    if not installed.is_dir():
        raise ModuleNotFoundError(
            "the model files are not installed: pip install 'liemech[robots]'", name="example-robot-data"
        )
    return installed


def load_model(model: str | os.PathLike[str], floating_base: bool | None = None, **options: Any) -> Tree:
    """A tree from a built-in name or from the path of a model file.

    Parameters
    ----------
    model : str or path
        One of `model_names`, or a path ending in ``.urdf``, ``.sdf`` or ``.xml`` (URDF or MJCF).
    floating_base : bool, optional
        Whether the root link moves freely; default: for a built-in robot, whether it does (walkers and drones); for a
        file, no, which is a warning for SDF; MJCF files say it themselves.
    **options
        As for `load_urdf`; of an SDF file `gravity`, `damping` and `limits`; of an MJCF file as for `load_mjcf`.  What
        a tree cannot have (loops, springs, couplings) `load_mechanism` has.

    Returns
    -------
    Tree
        As from `load_urdf`.

    Raises
    ------
    ValueError
        Neither a known name nor the path of a model file; `floating_base` of an MJCF file; ModelError as from
        `load_urdf` and `load_mjcf`, or where an SDF file has loops or couplings.

    Examples
    --------
    >>> import mechanics
    >>> mechanics.load_model("double_pendulum").nv
    2
    """
    path_of(model, "model", "a name or the path of a model file")
    if str(model) not in MODELS and Path(model).suffix.lower() == ".sdf":
        return _sdf_tree(model, floating_base, **options)
    if str(model) not in MODELS and _is_mjcf(model, options.get("limits", LIMITS)):
        if floating_base is not None:
            raise ValueError(_OF_OTHERS)
        return load_mjcf(model, **options)
    path, free = _file(model, floating_base)
    return load_urdf(path, free, **options)


_OF_OTHERS = "floating_base: for SDF and URDF files only; an MJCF file says itself what moves freely"


def _is_mjcf(path: str | os.PathLike[str], limits: Limits) -> bool:
    """Whether an ``.xml`` file is one of MuJoCo: URDF files have that ending, too."""
    if Path(path).suffix.lower() != ".xml":
        return False
    from mechanics.adapters.reading import content, xml

    of_kind(limits, Limits, "limits", "a mechanics.models.Limits")
    return xml(content(path, limits, "a URDF or MJCF"), str(path), limits).tag == "mujoco"


def _sdf_tree(
    path: str | os.PathLike[str],
    floating_base: bool | None,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    damping: bool = True,
    limits: Limits = LIMITS,
) -> Tree:
    """The tree of an SDF file without loops; what acts in it besides damping is left out, and said."""
    from mechanics.adapters.elements import Wanted
    from mechanics.adapters.sdf import load_sdf

    _check(limits, damping=damping)
    made = load_sdf(path, floating_base, gravity, Wanted(damping, stops=None), limits)
    if closed := [closure.name for closure in made.equations.closures]:
        raise ModelError(str(path), f"has loops or couplings ({', '.join(closed)})", "use mechanics.load_mechanism")
    if made.elements:
        names = ", ".join(map(str, made.elements))
        text = f"{path}: force elements are left out of a tree: {names}; load_mechanism has them"
        warnings.warn(ModelWarning(text), stacklevel=4)
    return made.tree


def _file(model: str | os.PathLike[str], floating_base: bool | None) -> tuple[Path, bool]:
    """The URDF file of a model, and whether its root moves freely."""
    path_of(model, "model", "a name or the path of a model file")
    if str(model) in MODELS:
        path, free = model_path(str(model)), MODELS[str(model)].floating_base
    elif Path(model).suffix.lower() in (".urdf", ".xml"):
        path, free = Path(model), False
    else:
        raise ValueError(
            f"model {str(model)!r}: expected the path of a .urdf, .sdf or .xml file or one of {', '.join(MODELS)}"
        )
    return path, free if floating_base is None else floating_base


def load_urdf(
    path: str | os.PathLike[str],
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    strict: bool = False,
    *,
    damping: bool = True,
    allow_massless: bool = False,
    limits: Limits = LIMITS,
) -> Tree:
    """A tree from a URDF file; no meshes are opened and nothing is fetched.

    Links that are fixed to one another become one body, whose frame is that of the link next to the base;
    ``tree.frames`` says where all links are.  Joints come in depth-first order of the file, with its names; a floating
    base comes first, as ``root_joint``. Revolute, continuous, prismatic, planar (across their axis; for z along x and
    y) and floating joints move.  Viscous damping acts; limits are carried as data; everything else in the file is
    listed in ``tree.notes``.

    Parameters
    ----------
    path : str or path
        The file.
    floating_base : bool
        Whether the root link moves freely; otherwise it is the fixed base and its mass does not matter.
    gravity : array (3,)
        Acceleration of gravity in the axes of the root, m/s².
    strict : bool
        Whether inertias that no body can have are an error (the default uses them and warns, as several robots in use
        have them).
    damping : bool
        False leaves out the viscous damping of the joints, for example to watch the energy.
    allow_massless : bool
        Accept moving links without mass that only connect two joints (a ball joint written as three turns).
    limits : Limits
        Greatest length, depth and number of elements of the file; raise them for files you trust.

    Returns
    -------
    Tree

    Raises
    ------
    ModelError
        With the file, the element, the value, what was expected and the remedy: no such file, beyond the `limits`,
        broken XML, a DTD or entities, numbers that are not finite, repeated or unknown names, cycles, several roots,
        two parents, negative masses, moving links without mass, kinetic energy that is not positive, a zero axis, joint
        types that are not supported.
    ModuleNotFoundError
        The extra ``robots`` is not installed.

    Warns
    -----
    ModelWarning
        One summary of what the file says and the tree does differently: mimic joints (they move independently), dry
        friction, unphysical inertias.

    Examples
    --------
    >>> import mechanics
    >>> tree = mechanics.load_urdf(mechanics.model_path("ur5"))
    >>> tree.joint_names[:2]
    ('shoulder_pan_joint', 'shoulder_lift_joint')
    """
    if str(path_of(path, "path")).lstrip().startswith("<"):
        raise ModelError("path", "is the text of a file", "save it, and give the path of a URDF file")
    _check(limits, floating_base=floating_base, strict=strict, damping=damping, allow_massless=allow_massless)
    from mechanics.adapters.urdf import load_urdf as load

    return load(path, floating_base, gravity, strict, damping=damping, allow_massless=allow_massless, limits=limits)


def load_mjcf(
    source: str | os.PathLike[str],
    gravity: ArrayLike | None = None,
    *,
    damping: bool = True,
    trusted: bool = False,
    limits: Limits = LIMITS,
) -> Tree:
    """A tree from an MJCF file, through MuJoCo's own compiler, which runs in a process of its own.

    Bodies, inertias (also those from geometry), free, ball, hinge and slide joints, any number of them on a body, and
    their damping are carried over; limits and dry friction as data.  The origin of a body is the anchor of its last
    joint; ``tree.frames`` has the frames of the bodies and the sites of the file.  Coordinates of hinges and slides
    count from the model's reference; a free joint gives position and quaternion (w, x, y, z) in the world.  Its
    velocity is in body axes, where MuJoCo has the linear part in world axes.

    Parameters
    ----------
    source : str or path
        The file, or its text.
    gravity : array (3,), optional
        Default: that of the file, m/s².
    damping : bool
        False leaves out the damping of the joints, for example to watch the energy.
    trusted : bool
        Whether includes, meshes and other files may lie outside of the folder of the file (of a text: the working
        folder; links are followed first), and plugins may run.  By default they are refused.
    limits : Limits
        Greatest length and depth of the file with its includes, number of elements it makes, and time to compile it.

    Returns
    -------
    Tree

    Raises
    ------
    ModelError
        No such file, a file that leads out of its folder or beyond the `limits`, what MuJoCo's compiler refuses or dies
        of, a model without bodies, a joint that moves no inertia.
    ModuleNotFoundError
        MuJoCo, of the extra ``robots``, is not installed.

    Warns
    -----
    ModelWarning
        What MuJoCo would do and the tree does not, with the names: contacts, …; and what only
        `load_mechanism` has: equality constraints, springs, dry friction, tendons, actuators.

    Examples
    --------
    >>> import mechanics
    >>> text = "<mujoco><worldbody><body><joint axis='0 1 0'/>"
    >>> text += "<geom size='0.1' pos='0 0 -1' contype='0' conaffinity='0'/></body>"
    >>> tree = mechanics.load_mjcf(text + "</worldbody></mujoco>")
    >>> tree.nv
    1
    """
    _check(limits, damping=damping, trusted=trusted)
    from mechanics.adapters.mjcf import load_mjcf as load

    return load(source, gravity, damping=damping, trusted=trusted, limits=limits)


def load_mechanism(
    source: str | os.PathLike[str],
    gravity: ArrayLike | None = None,
    *,
    closures: str | os.PathLike[str] | None = None,
    floating_base: bool | None = None,
    damping: bool = True,
    springs: bool = True,
    friction: bool = True,
    stops: bool | None = None,
    actuators: bool = True,
    contacts: bool = False,
    allow_massless: bool = False,
    trusted: bool = False,
    limits: Limits = LIMITS,
    rank: int | None = None,
) -> Mechanism:
    """A mechanism from an SDF, URDF or MJCF file, with its loops if it has any.

    SDF: one model; joints in the order of the file, and one whose links are already joined closes a loop.  The world is
    the base if a joint names it, else the first link, which moves freely with `floating_base`, as SDF means; without
    that, it is held, which is a warning.  Poses and axes are
    where `relative_to`, `expressed_in`, `attached_to`, `placement_frame` or an old version of the format puts them.
    URDF: the tree of `load_urdf`, with its mimic joints coupled and the closures of a side file
    (`mechanics.adapters.closure_file`), if there are any.  MJCF: equality constraints between bodies, sites, joints and
    fixed tendons, on the tree of `load_mjcf`.

    What acts in the file is a force element: springs, dry friction (regularised), stops, fixed tendons, actuators.
    Actuators have the names of the file, the command 0, and get others by `Mechanism.with_commands`.  What becomes of
    every attribute is listed in the how-to "What is read from files".

    Parameters
    ----------
    source : str or path
        ``cassie``, a name of `model_names`, a path ending in ``.sdf`` or ``.urdf``, or an MJCF file or its text.
    gravity : array (3,), optional
        Default: that of the MJCF file, (0, 0, −9.81) for others, m/s².
    closures : path, optional
        URDF only: TOML or JSON file of the closures; default ``NAME.closures.toml`` or ``NAME.closures.json`` beside
        ``NAME.urdf``.
    floating_base : bool, optional
        SDF and URDF only; default: built-in walkers and drones have one, files not (of SDF with a warning).
    damping, springs, friction, actuators : bool
        False leaves them out.  Dry friction is that of `mechanics.forces.dry_friction`; MJCF says by solref and solimp
        how fast it creeps, for others the slip speed is 0.01 rad/s or m/s.
    stops : bool, optional
        Whether there are stops (`mechanics.forces.joint_stop`) at the limits of joints.  Default: of MJCF, which says
        how stiff they are (solref); with True those of others are as MuJoCo's usual ones, with the time constant 0.02 s
        and critically damped, or as stiff as SDF says.
    contacts : bool
        MJCF only: whether its geoms touch (`mechanics.forces.contact`): planes, spheres, capsules and ellipsoids, of
        the pairs that MuJoCo looks at; see Notes.  Default: not, which is a warning.
    allow_massless : bool
        URDF only, see `load_urdf`.
    trusted : bool
        MJCF only, see `load_mjcf`.
    limits : Limits
        Greatest length, depth and number of elements of the file; raise them for files you trust.
    rank : int, optional
        How many of the closure equations are independent, in the place of the rank that is found, or that a file of
        closures says: where the numbers of the file are rounded.

    Returns
    -------
    Mechanism
        Closed near the pose of the file, its rank decided.

    Raises
    ------
    ValueError
        Options that do not belong to the kind of file.
    ModelError
        With the file, the element and the remedy: no such file, what is refused by `load_urdf` and `load_mjcf`, SDF
        with included models, unknown links, frames or types of joints, loops that do not close.

    Warns
    -----
    ModelWarning
        What the file says and the mechanism does not do, with the names of the elements.

    Notes
    -----
    Contacts have the law "soft" with k = m/(τ ζ)² and c = 2 m/τ beyond a depth w, of solref = (τ, ζ) and the width of
    solimp, which are numbers per mass: m = 1/(w₁ + w₂) with the inverse masses (body_invweight0) that MuJoCo finds for
    both bodies in the reference pose and uses itself.  A body on the ground lies at m g/k, deeper than in MuJoCo, whose
    constraint takes part of the load away.  Friction is that of sliding, with the slip speed 0.01 m/s (none with
    friction=False); torsional and rolling friction, margin and gap, boxes, meshes, cylinders and height fields are left
    out, with their names.  Every pair of geoms costs its part of every evaluation, whether it touches or not.

    Examples
    --------
    >>> import mechanics
    >>> mechanics.load_mechanism("cassie")  # doctest: +SKIP
    <Mechanism 'cassie': 22 bodies, 16 closure equations of rank 14, dof 12>
    """
    path_of(source, "source", "the path or the name of a model, or the text of an MJCF file")
    flags = {"damping": damping, "springs": springs, "friction": friction, "actuators": actuators, "contacts": contacts}
    _check(limits, **flags, allow_massless=allow_massless, trusted=trusted)
    choices = {"stops": stops, "floating_base": floating_base}
    _check(limits, **{name: False if x is None else x for name, x in choices.items()})
    from mechanics.adapters.elements import Wanted

    wanted = Wanted(damping, springs, friction, stops, actuators, contacts)
    if str(source) == "cassie":
        source, floating_base = _robots() / "cassie_description/robots/cassie_v2.sdf", bool(floating_base)
    suffix = Path(str(source)).suffix.lower()
    if contacts and (str(source) in MODELS or suffix in (".urdf", ".sdf")):
        raise ValueError("contacts: for MJCF files only; give others as elements, mechanics.forces.contact")
    if str(source) in MODELS or suffix == ".urdf":
        down = (0.0, 0.0, -9.81) if gravity is None else gravity
        from mechanics.adapters.urdf import load_urdf_with_elements

        path, free = _file(source, floating_base)
        load = partial(
            load_urdf_with_elements, path, free, down, wanted=wanted, allow_massless=allow_massless, limits=limits
        )
        return _closed(load, path, closures, rank)
    if closures is not None or allow_massless:
        raise ValueError(
            "closures, allow_massless: for URDF files only; SDF and MJCF files have their closures in themselves"
        )
    if suffix == ".sdf":
        from mechanics.adapters.sdf import load_sdf

        down = (0.0, 0.0, -9.81) if gravity is None else gravity
        return load_sdf(source, floating_base, down, wanted, limits, rank)
    if floating_base is not None:
        raise ValueError(_OF_OTHERS)
    from mechanics.adapters.mjcf_closures import load_mjcf_mechanism

    return load_mjcf_mechanism(source, gravity, wanted, trusted, limits, rank)


def _check(limits: Limits, **flags: bool) -> None:
    of_kind(limits, Limits, "limits", "a mechanics.models.Limits")
    for name, flag in flags.items():
        of_kind(flag, (bool, np.bool_), name, "True or False")


def _closed(
    load: Callable[..., tuple[Tree, list[Closure], list[Any]]], model: Path, closures: str | os.PathLike[str] | None,
    rank: int | None,
) -> Mechanism:  # fmt: skip
    """A tree with its mimic joints, force elements and the closures of a side file; turns count of the joints that
    these couple.
    """
    from mechanics.adapters.closure_file import read_closures, side_file
    from mechanics.mechanism import Mechanism

    tree, mimics, elements = load()
    path = side_file(model) if closures is None else closures
    with inside(str(model if path is None else path)):
        if path is None:
            return Mechanism.assembled(tree, mimics, elements=elements, rank=rank)
        side = read_closures(path, tree)
        coupled = {
            joint
            for c in side.closures
            for equation in c.equations
            for joint in equation.joints
            if isinstance(joint, str)
        }
        if any(isinstance(tree.joint(name), Continuous) for name in coupled):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)  # said already
                tree, mimics, elements = load(counted=coupled)
        rank = side.rank if rank is None else rank
        return Mechanism.assembled(tree, (*side.closures, *mimics), side.guess, side.hold, elements=elements, rank=rank)


# --- models of other projects -----------------------------------------------------------------------------------------


def load_mesh(path: str | os.PathLike[str], scale: float = 1.0) -> Mesh:
    """A mesh from a file, for the elements of `mechanics.elastic`; read by meshio.

    Parameters
    ----------
    path : path
        A file of Gmsh, VTK, Abaqus, XDMF, … with lines, triangles or tetrahedra of straight edges.  Named parts
        (physical groups) come from Gmsh files; VTK files keep none.
    scale : float
        Metres per unit of the file (a factor): 1e-3 for millimetres.

    Returns
    -------
    Mesh
        Points that are used, cells by kind, named parts.

    Raises
    ------
    ModelError
        A file that cannot be read, without cells, with cells of other kinds (quadrilaterals, edges with nodes in
        between) or a cell twice; meshio not installed (``pip install 'liemech[meshes]'``).
    ValueError
        A scale that is not positive.

    Examples
    --------
    >>> import os, tempfile
    >>> lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "1", '2 7 "glued"', "$EndPhysicalNames",
    ...          "$Nodes", "3", "1 0 0 0", "2 1 0 0", "3 0 1 0", "$EndNodes",
    ...          "$Elements", "1", "1 2 2 7 1 1 2 3", "$EndElements", ""]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "sheet.msh")
    ...     with open(file, "w") as writing:
    ...         _ = writing.write("\\n".join(lines))
    ...     mesh = load_mesh(file)
    >>> mesh.triangles.tolist(), mesh.sets["glued"].tolist()
    ([[0, 1, 2]], [0, 1, 2])
    """
    return read_mesh(path_of(path, "path", "the path of a mesh file"), positive(scale, "scale"))


def from_pinocchio(model: Any, *, damping: bool = True) -> tuple[Tree | Mechanism, StateMap]:
    """A tree from a ``pinocchio.Model``, and the map of states between the two.

    Every joint of the model is one here, in its order: revolute, prismatic and helical ones about any axis, unbounded
    ones (`Continuous`), universal, spherical, spherical ZYX (`Gimbal`), planar, translation and free ones.  A composite
    joint is a chain of joints ``"<joint>.<number>"`` on bodies without mass; a mimic joint is a joint that a coupling
    holds, and the result a mechanism.  ``tree.frames`` has the frames of the model.

    Parameters
    ----------
    model : pinocchio.Model
        For example from ``pinocchio.buildModelFromUrdf``; `load_urdf` takes files.
    damping : bool
        Whether the damping of the joints acts; Pinocchio's ``aba`` leaves it out.

    Returns
    -------
    tree : Tree, or Mechanism if joints mimic others
        With the model's gravity, its limits and dry friction as data.
    states : StateMap
        ``states.ours(q, v)`` and ``states.theirs(q, v)``.

    Raises
    ------
    TypeError
        No model: with what it is and where the model is.
    ModelError
        A kind of joint that has no equal here, or inertias that no tree can have.

    Warns
    -----
    ModelWarning
        What Pinocchio would do and the tree does not, with the names of the joints.

    Examples
    --------
    >>> import mechanics
    >>> import pinocchio
    >>> model = pinocchio.buildModelFromUrdf(str(mechanics.model_path("double_pendulum")))
    >>> tree, states = mechanics.from_pinocchio(model)
    >>> tree.joint_names, states
    (('joint1', 'joint2'), <StateMap of '2dof_planar' (nq = 2, nv = 2) and Pinocchio (nq = 2, nv = 2)>)
    """
    _check(LIMITS, damping=damping)
    from mechanics.adapters.pinocchio_model import from_pinocchio as read

    return read(model, damping)


def from_mujoco(model: Any, *, contacts: bool = False) -> tuple[Tree | Mechanism, StateMap]:
    """A tree from a ``mujoco.MjModel``, or a mechanism, and the map of states between the two.

    It is that of `load_mechanism` for the file of the model, but made of the model as it is now, with whatever was
    changed since it was compiled.

    Parameters
    ----------
    model : mujoco.MjModel
        For example from ``mujoco.MjModel.from_xml_path``; `load_mjcf` and `load_mechanism` take files.
    contacts : bool
        Whether its geoms touch, as with `load_mechanism`.

    Returns
    -------
    tree : Tree, or Mechanism if the model has closures or force elements
        With the model's gravity and damping.
    states : StateMap
        ``states.ours(qpos, qvel)`` and ``states.theirs(q, v)``.

    Raises
    ------
    TypeError
        No model: with what it is and where the model is.
    ModelError
        A model without bodies, a joint that moves no inertia; numbers of a contact that it cannot have.

    Warns
    -----
    ModelWarning
        What MuJoCo would do and the tree does not, with the names.

    Examples
    --------
    >>> import mechanics
    >>> import mujoco
    >>> text = "<mujoco model='swing'><worldbody><body><joint name='hinge' axis='0 1 0' ref='10'/>"
    >>> text += "<geom size='0.1' pos='0 0 -1' contype='0' conaffinity='0'/></body>"
    >>> model = mujoco.MjModel.from_xml_string(text + "</worldbody></mujoco>")
    >>> tree, states = mechanics.from_mujoco(model)
    >>> tree, states.ours(model.qpos0)[0].tolist()
    (<Tree 'swing': 1 bodies, nq = 1, nv = 1>, [0.0])
    """
    _check(LIMITS, contacts=contacts)
    from mechanics.adapters.mujoco_model import from_mujoco as read

    return read(model, contacts)


def to_pinocchio(tree: Tree, like: Any = None) -> PinocchioTree:
    """A Pinocchio model of a tree: gravity, joints, inertias, frames, armature, damping and limits.

    Parameters
    ----------
    tree : Tree
        Without prescribed motions.
    like : pinocchio.Model, optional
        A model with the same joints, whose order of joints and kinds of coordinates (cos, sin) are taken over.

    Returns
    -------
    PinocchioTree
        Its `model`, and the maps between the states (`states`).

    Raises
    ------
    ModuleNotFoundError
        Pinocchio (package ``pin``) is not installed.
    ValueError
        A joint with prescribed motion, which Pinocchio does not have; ModelError for joints that only one of tree and
        `like` has, with their names.

    Notes
    -----
    Pinocchio's armature adds a v̇ to the joint forces and no more; that of a tree turns with the joint, a v̇ − ad_vᵀ(a
    v).  The two differ for planar and free joints with armature along their translations, and for balls with three
    different numbers: a ModelWarning names them.

    Examples
    --------
    >>> import numpy as np
    >>> import mechanics
    >>> import pinocchio
    >>> tree = mechanics.load_model("double_pendulum")
    >>> found = mechanics.to_pinocchio(tree)
    >>> q, _ = found.states.theirs(tree.neutral())
    >>> M = found.states.our_matrix(q, pinocchio.crba(found.model, found.model.createData(), q))
    >>> bool(np.allclose(M, mechanics.mass_matrix(tree, tree.neutral())))
    True
    """
    from mechanics.adapters.pinocchio import to_pinocchio as build

    return build(tree, like)


def state_map(tree: Tree | Mechanism, model: Any, *, partial: bool = False) -> StateMap:
    """The map of states between a tree and a model of another project that has the same joints, by their names.

    Parameters
    ----------
    tree : Tree or Mechanism
        From a file, or built by hand.
    model : pinocchio.Model or mujoco.MjModel
        Of the same robot.
    partial : bool
        Whether joints that only one side has are left out (`StateMap.only_ours`, `StateMap.only_theirs`).

    Returns
    -------
    StateMap
        ``ours(q, v)`` and ``theirs(q, v)``.

    Raises
    ------
    TypeError
        No model, or no tree.
    ModelError
        Joints of one name and different kinds, or planes (axes are not compared); joints that only one side has: with
        their names.

    Examples
    --------
    >>> import mechanics
    >>> import pinocchio
    >>> model = pinocchio.buildModelFromUrdf(str(mechanics.model_path("ur5")))
    >>> mechanics.state_map(mechanics.load_model("ur5"), model)
    <StateMap of 'ur5' (nq = 6, nv = 6) and Pinocchio (nq = 6, nv = 6)>
    """
    from mechanics.mechanism import Mechanism

    of_kind(tree, (Tree, Mechanism), "tree", "a Tree or a Mechanism")
    _check(LIMITS, partial=partial)
    found = tree if isinstance(tree, Tree) else tree.tree
    project = {"pinocchio": "Pinocchio", "mujoco": "MuJoCo"}.get(type(model).__module__.partition(".")[0])
    if project is None:
        raise TypeError(f"model: {shown(model)}, expected a pinocchio.Model or a mujoco.MjModel")
    return _map(found, project, model, partial)


def _map(tree: Tree, project: str, model: Any, partial: bool = False) -> StateMap:
    if project == "Pinocchio":
        from mechanics.adapters.pinocchio_model import side_of as of_pinocchio

        return StateMap(tree, of_pinocchio(model), partial)
    from mechanics.adapters.mujoco_model import side_of as of_mujoco

    return StateMap(tree, of_mujoco(model, places_of(tree)), partial)


@written_for.register
def _written(tree: Tree, project: str, model: Any, q: Any, v: Any) -> Any:
    return _map(tree, project, model).theirs(q, v)
