"""Contacts of MJCF files: the pairs that MuJoCo looks at, its motion where nothing else acts, and closed forms."""

import warnings

import numpy as np
import pytest

import liemech
import mechanics
from integrators import integrate
from mechanics import ModelError, ModelWarning, element_accounts
from mechanics.adapters.mjcf_compiler import arrays
from mechanics.adapters.mjcf_contacts import candidates
from mechanics.adapters.mjcf_model import as_model
from mechanics.derivatives import generalised_forces

mujoco = pytest.importorskip("mujoco")

CROWD = """<mujoco><option><flag {flag}/></option><worldbody>
 <geom name="floor" type="plane" size="1 1 1"/><geom name="post" type="capsule" size="0.1 0.2"/>
 <body name="still" pos="0.02 0 0" euler="10 20 30"><geom name="kerb" pos="0 0.01 0" size="0.11"/></body>
 <body name="hand" mocap="true"><geom name="hand" pos="0 0.02 0.01" size="0.1"/></body>
 <body name="a" pos="0.01 0.02 0"><freejoint/><geom name="a1" size="0.12"/><geom name="a2" type="box" size=".1 .1 .1"/>
  <body name="b" pos="0 0.01 0.02"><joint/><geom name="b1" type="capsule" size="0.11 0.2" contype="2" conaffinity="1"/>
   <body name="tip" euler="0 90 0"><geom name="tip" size="0.09" pos="0.02 0 0.01"/></body>
   <body name="c" pos="0.01 0 0.01"><joint/><geom name="c1" size="0.1" contype="4" conaffinity="2"/></body>
  </body></body>
 <body name="d" pos="0 -0.02 0"><joint/><geom name="d1" size="0.1" contype="0" conaffinity="1" solmix="3"/>
  <geom name="d2" size="0.1" pos="0.03 0 0" contype="0" conaffinity="0"/></body>
 <body name="e" pos="0.03 -0.02 0"><freejoint/><geom name="e1" type="ellipsoid" size="0.1 0.12 0.14"/></body>
</worldbody><contact><exclude body1="e" body2="a"/><exclude body1="tip" body2="still"/>
 <pair name="named" geom1="d2" geom2="a1" solref="0.05 0.5"/><pair geom1="c1" geom2="b1"/></contact></mujoco>"""
"""Every kind of reason to touch or not to touch, all geoms in one place."""


def quiet(text, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return mechanics.load_mechanism(text, **options)


@pytest.mark.parametrize("flag", ["", 'filterparent="disable"'])
def test_the_pairs_are_those_of_mujoco(flag):
    model = mujoco.MjModel.from_xml_string(CROWD.format(flag=flag))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    touching = {tuple(sorted(map(int, pair))) for pair in data.contact.geom}
    found = candidates(as_model(arrays(model, mujoco.mjtDisableBit)))
    assert len(touching) > 20
    assert set(found) == touching
    assert sorted(p for p in found.values() if p is not None) == [0, 1]


FALL = """<mujoco><option gravity="0 0 {g}"/><default><geom condim="{condim}" friction="0.7 0 0" solref="{solref}"
  solimp="0.9 0.95 0.002"/></default><worldbody>
 <geom name="ground" type="plane" size="1 1 1"/>
 <body name="ball" pos="0 0 0.1"><freejoint/><geom name="ball" {shape} mass="0.5"/></body>
 {more}</worldbody>{tail}</mujoco>"""
OTHER = '<body name="other" pos="0 0 5"><freejoint/><geom name="other" size="0.2" mass="1.5"/></body>'


def fall(g=-9.81, condim=3, solref="0.02 1", shape='size="0.1"', more="", tail=""):
    return FALL.format(g=g, condim=condim, solref=solref, shape=shape, more=more, tail=tail)


@pytest.mark.parametrize("solref", ["0.02 1", "0.05 0.4", "-900 -20"])
@pytest.mark.parametrize(
    ("shape", "place"),
    [
        ('size="0.1"', (0.0, 0.0, 0.094)),
        ('type="ellipsoid" size="0.2 0.3 0.1"', (0.0, 0.0, 0.094)),
        ('size="0.1"', (0.294 * 0.8, 0.0, 5.0 + 0.294 * 0.6)),
        ('type="capsule" size="0.1 0.2"', (0.294, 0.0, 5.0)),
    ],
    ids=["sphere on plane", "ellipsoid on plane", "sphere on sphere", "capsule on sphere"],
)
def test_beyond_the_width_bodies_without_load_come_apart_as_in_mujoco(shape, place, solref):
    model = mujoco.MjModel.from_xml_string(fall(0.0, 1, solref, shape, OTHER if place[2] > 1.0 else ""))
    data, (made, states) = mujoco.MjData(model), mechanics.from_mujoco(model, contacts=True)
    data.qpos[:3], data.qvel[:3] = place, (-0.05, 0.0, -0.1)
    mujoco.mj_forward(model, data)
    q, v = states.ours(data.qpos, data.qvel)
    found = mechanics.forward_dynamics(made.tree, q, v, generalised_forces(made, q, v).force)
    expected = states.our_acceleration(data.qpos, data.qvel, data.qacc)
    assert data.ncon == 1
    assert np.abs(expected).max() > 1.0
    assert np.abs(found - expected).max() < 1e-6 * np.abs(expected).max()


def test_a_ball_that_falls_comes_to_rest_at_its_weight_over_the_stiffness():
    made = mechanics.load_mechanism(fall(), contacts=True)
    assert not any("contact" in note for note in made.tree.notes)
    run = integrate(made.problem([0, 0, 0.13, 1, 0, 0, 0], np.zeros(6)), "TREE_VARIATIONAL", (0.0, 1.0), step=1e-3)
    assert run["q"][-1, 2] == pytest.approx(0.1 - 9.81 * 0.02**2, abs=1e-7)
    assert np.abs(run["p"][-1]).max() < 1e-6


@pytest.mark.slow
def test_a_ball_that_is_thrown_comes_to_roll_with_the_energy_it_has_lost_to_the_ground():
    """v = 5/7 v₀ in rolling; the work of the contact is the change of the energy."""
    made = mechanics.load_mechanism(fall(), contacts=True)
    start = np.array([0, 0, 0.1 - 9.81 * 0.02**2, 1, 0, 0, 0])
    run = integrate(made.problem(start, [1.0, 0, 0, 0, 0, 0]), "TREE_VARIATIONAL", (0.0, 0.4), step=2e-4)
    (account,) = element_accounts(made, run.t, run["q"], run["p"])
    lost = run["energy"][-1] - run["energy"][0]
    assert lost == pytest.approx(-0.5 * 0.5 * (1.0 - 5.0 / 7.0), rel=0.05)
    assert account.work[-1] == pytest.approx(lost, rel=1e-3)
    assert np.linalg.norm(run["p"][-1, :3]) / 0.5 == pytest.approx(5.0 / 7.0, rel=0.01)


def test_the_loop_of_mujoco_stands_on_its_ground():
    model = mujoco.MjModel.from_xml_string(fall())
    data, step = mujoco.MjData(model), liemech.mujoco_stepper(model, "RKMK4", 1e-3, contacts=True)
    data.qpos[2] = 0.1 - 9.81 * 0.02**2
    for _ in range(20):
        step(data)
    assert data.qpos[2] == pytest.approx(0.1 - 9.81 * 0.02**2, abs=1e-12)
    with pytest.raises(TypeError, match="contacts"):
        liemech.mujoco_stepper(model, contacts=1)


def numbers_of(text, **options):
    """(k, c, w, μ) of the one contact of a text."""
    (contact,) = quiet(text, contacts=True, **options).elements
    return contact.stiffness, contact.damping, contact.width, contact.dynamic


PARAMETERS = {
    "the greatest friction": (fall(shape='size="0.1" friction="0.9 0 0"'), 1.0, 0.002, 0.9),
    "of the higher priority": (fall(shape='size="0.1" friction="0.2 0 0" priority="1"'), 1.0, 0.002, 0.2),
    "no friction with condim 1": (fall(condim=1), 1.0, 0.002, 0.0),
    "mixed by weight": (fall(shape='size="0.1" solmix="3" solref="0.06 1" solimp="0 1 0.006"'), 2.5, 0.005, 0.7),
    "one without weight": (fall(shape='size="0.1" solmix="0" solref="0.06 1"'), 1.0, 0.002, 0.7),
    "of a pair": (
        fall(tail='<contact><pair geom1="ball" geom2="ground" solref="0.04 1" friction="0.1 0.1 0"/></contact>'),
        2.0, 0.001, 0.1,
    ),
    "of the option": (
        fall().replace('.81"/>', '.81" o_solref=".08 1" o_solimp="0 1 3" o_friction="2 2"><flag override="enable"/>'
        "</option>"), 4.0, 3.0, 2.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters_are_mixed_as_in_mujoco(case):
    """k = m/τ² and c = 2 m/τ with τ in units of 0.02 s; MuJoCo's own contact has the same numbers."""
    text, slower, width, friction = PARAMETERS[case]
    tau = 0.02 * slower
    assert numbers_of(text) == pytest.approx((0.5 / tau**2, 1.0 / tau, width, friction))
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[2] = 0.099
    mujoco.mj_forward(model, data)
    (theirs,) = data.contact
    assert (theirs.solref[0], theirs.solimp[2]) == pytest.approx((tau, width))
    assert theirs.friction[0] == pytest.approx(friction) or theirs.dim == 1


def test_a_constant_impedance_and_no_friction_are_taken_as_said():
    assert quiet(fall(), contacts=True, friction=False).elements[0].dynamic == 0.0
    (jumping,) = quiet(fall(shape='size="0.1" priority="1" solimp="0.9 0.9 0"'), contacts=True).elements
    assert (jumping.normal_law, jumping.width) == (0, 1.0)


BEYOND = """<mujoco><default><geom size="0.1 0.1 0.1"/></default><worldbody>
 <geom name="floor" type="plane"/>
 <body name="a"><freejoint/><geom name="foot" type="box"/><geom name="can" type="cylinder"/><geom name="toe"/></body>
 <body name="b"><joint/><geom name="ball" margin="0.01" condim="6" friction="1 0.1 0.1"/></body>
 <body name="c"><freejoint/><geom name="egg" type="ellipsoid"/></body>
</worldbody><contact><pair geom1="foot" geom2="toe"/><pair geom1="toe" geom2="egg"/>
 <pair geom1="egg" geom2="floor" friction="0.4 0.5 0" condim="3"/></contact></mujoco>"""
SAID = [
    "1 × contacts between box and plane: left out: floor–foot",
    "1 × contacts between cylinder and plane: left out: floor–can",
    "1 × contacts between cylinder and sphere: left out: can–ball",
    "1 × contacts between box and ellipsoid: left out: foot–egg",
    "1 × contacts between cylinder and ellipsoid: left out: can–egg",
    "2 × contacts between ellipsoid and sphere: left out: toe–egg, ball–egg",
    "2 × contacts between box and sphere: left out: foot–toe, foot–ball",
    "2 × contacts with a margin or a gap, which is left out: they begin where the geoms touch: floor–ball, toe–ball",
    "2 × contacts with torsional friction, which is left out: floor–ball, toe–ball",
    "2 × contacts with rolling friction, which is left out: floor–ball, toe–ball",
    "1 × contacts with two coefficients of sliding: the smaller one acts in all directions: floor–egg",
]


def test_what_cannot_be_had_is_named():
    with pytest.warns(ModelWarning) as said:
        made = mechanics.load_mechanism(BEYOND, contacts=True)
    assert set(made.tree.notes) == set(SAID)
    assert all(line in str(said[0].message) for line in SAID)
    assert sorted(map(str, made.elements)) == [
        "Contact of 'a' on 'b'", "Contact of 'a' on the base", "Contact of 'b' on the base",
        "Contact of 'c' on the base",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (fall().replace('.81"/>', '.81" o_margin="0.1"><flag override="enable"/></option>'), "with a margin or a gap"),
        (
            fall(tail='<contact><pair geom1="ball" geom2="ground" solreffriction="0.5 1"/></contact>'),
            "whose friction has a solref of its own",
        ),
        (fall(solref="0.003 1"), "with a time constant below two time steps"),
    ],
)
def test_margins_of_all_and_solref_of_friction_are_named(text, said):
    with pytest.warns(ModelWarning, match=f"1 × contacts {said}.*: ground–ball"):
        mechanics.load_mechanism(text, contacts=True)


def test_short_time_constants_are_told_of_where_mujoco_lengthens_them():
    limited = fall(
        more='<body pos="9 0 2"><joint name="j" range="-9 9" solreflimit="0.003 1"/><geom size=".1"/></body>'
    )
    with pytest.warns(ModelWarning, match="1 × limits with a time constant below two time steps, .*refsafe.*: j"):
        mechanics.load_mechanism(limited, contacts=True, stops=True)
    allowed = fall(solref="0.003 1").replace('.81"/>', '.81"><flag refsafe="disable"/></option>')
    for text in (allowed, fall(solref="0.003 1").replace("<option", '<option timestep="0.001"')):
        assert mechanics.load_mechanism(text, contacts=True).tree.notes == ()


def test_contacts_are_left_out_unless_they_are_wanted():
    with pytest.warns(ModelWarning, match="2 × geoms that can touch: contacts are not modelled: ground, ball"):
        assert mechanics.load_mechanism(fall()).elements == ()
    none = fall().replace("<default>", '<option><flag contact="disable"/></option><default>')
    assert mechanics.load_mechanism(none).elements == mechanics.load_mechanism(none, contacts=True).elements == ()
    paired = fall(tail='<contact><pair geom1="ball" geom2="ground"/></contact>').replace("condim", 'contype="0" condim')
    with pytest.warns(ModelWarning, match="2 × geoms that can touch"):
        assert mechanics.load_mechanism(paired).elements == ()


WRONG = {
    "size": (lambda m: m.geom_size.__setitem__((1, 0), -0.1), r"<geom> 'ball': Sphere: radius: -0.1"),
    "friction": (
        lambda m: m.geom_friction.__setitem__((slice(None), 0), -1.0),
        r"contact of the geoms ground–ball: .*friction: is -1",
    ),
    "solref": (lambda m: m.geom_solref.__setitem__((1, 0), np.nan), r"geoms ground–ball: .*solref \[nan, 1.0\]"),
    "solimp": (lambda m: m.geom_solimp.__setitem__((1, 2), np.inf), r"geoms ground–ball: .*solimp"),
    "time": (lambda m: m.geom_solref.__setitem__((slice(None), 0), 1e-30), r"beyond all measure: .*solref \[1e-30"),
}


@pytest.mark.parametrize("case", WRONG)
def test_numbers_that_no_contact_can_have_are_named(case):
    change, message = WRONG[case]
    model = mujoco.MjModel.from_xml_string(fall())
    change(model)
    with pytest.raises(ModelError, match=message):
        mechanics.from_mujoco(model, contacts=True)


def test_contacts_are_for_mjcf_and_either_wanted_or_not():
    for name in ("double_pendulum", "cassie"):
        with pytest.raises(ValueError, match="contacts: for MJCF files only"):
            mechanics.load_mechanism(name, contacts=True)
    with pytest.raises(TypeError, match="contacts"):
        mechanics.load_mechanism(fall(), contacts="plane")
    with pytest.raises(TypeError, match="contacts"):
        mechanics.from_mujoco(mujoco.MjModel.from_xml_string(fall()), contacts=1)
