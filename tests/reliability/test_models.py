"""Model files with errors in them: read as valid models, or refused by name."""

import importlib.util
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import mechanics
from mechanics import ModelError, ModelWarning

SPEC = importlib.util.spec_from_file_location("models_attack", Path(__file__).with_name("models.py"))
models = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(models)


@pytest.mark.parametrize("kind", models.FORMATS)
def test_the_seeds_are_valid(kind, tmp_path):
    name, seed, readers = models.FORMATS[kind]
    (tmp_path / name).write_text(seed(), encoding="utf-8")
    for reader in readers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            models.valid(reader(tmp_path / name))


def attacks(kind, count, seed, folder):
    outcomes = set()
    for k in range(count):
        outcomes.add(models.attack(np.random.default_rng([seed, k]), folder, kind).rsplit(": ", 1)[1])
    assert outcomes == {"read", "refused"}


@pytest.mark.parametrize("kind", models.FORMATS)
def test_mutated_files_are_read_or_refused(kind, tmp_path):
    attacks(kind, 60, 0, tmp_path)


GEARED = """<transmission name="T"><type>transmission_interface/SimpleTransmission</type><joint name="k"/>
<actuator name="A"><mechanicalReduction>5</mechanicalReduction></actuator></transmission></robot>"""
ATTRIBUTES = [
    *[
        ("mjcf", text, text.replace(number, bad), f"{what}.* is .*{said}")
        for text, number, what in (
            ('springref="0.1"', "0.1", "springref"),
            ('damping="0.1"', "0.1", "damping"),
            ('armature="0.1"', "0.1", "armature"),
        )
        for bad, said in (("nan", "nan"), ("inf", "inf"))
    ],
    *[
        (kind, text, text.replace(number, bad), what)
        for kind, text, number, what in (
            ("mjcf", 'damping="0.1"', "0.1", "joint 'k': damping"),
            ("mjcf", 'armature="0.1"', "0.1", "joint 'n': armature"),
            ("sdf", "<damping>0.1", "0.1", "joint .*'j'.*damping"),
            ("sdf", "<friction>0.1", "0.1", "joint .*'j'.*friction"),
            ("sdf", "<spring_stiffness>3", "3", "joint .*'j'.*spring_stiffness"),
            ("urdf", 'damping="0.1"', "0.1", "'k'.*damping"),
            ("urdf", 'friction="0.2"', "0.2", "'k'.*friction"),
        )
        for bad in ("-1", "1e300", *(("nan", "inf") if kind != "mjcf" else ()))
    ],
    ("mjcf", 'stiffness="2"', 'stiffness="nan"', "'j'.*stiffness"),
    ("mjcf", 'stiffness="2"', 'stiffness="1e300"', "JointSpring on joint 'j': stiffness is 1e[+]300"),
    ("mjcf", 'range="-1 1"', 'frictionloss="-1"', "force: is -1"),
    ("mjcf", '<motor joint="n"/>', '<motor joint="n" gear="nan"/>', "<motor>: gear"),
    ("mjcf", '<motor joint="n"/>', '<position joint="n" kp="1e300"/>', "[(]actuator_0[)]: gain is 1e[+]300"),
    ("mjcf", '<motor joint="n"/>', '<motor joint="zz"/>', "'zz'"),
    ("mjcf", 'joint2="j"', 'joint2="zz"', "'zz'"),
    ("mjcf", 'body2="c"', 'body2="zz"', "'zz'"),
    ("mjcf", '<body name="d"', '<body name="d" gravcomp="inf"', "'d'.*gravcomp is inf"),
    ("mjcf", '<body name="d"', '<body name="d" gravcomp="1e300"', "'d'.*gravcomp is 1e[+]300"),
    ("sdf", "<lower>-1</lower>", "<lower>2</lower>", "'j'.*<lower> = 2 above <upper> = 1"),
    ("sdf", 'attached_to="c"', 'attached_to="zz"', "'zz', which is no link, joint or frame"),
    ("sdf", 'expressed_in="f"', 'expressed_in="zz"', "'zz', which is no link, joint or frame"),
    ("urdf", 'lower="-1"', 'lower="2"', "'k'.*lower = 2 above upper = 1"),
    ("urdf", 'joint="k" mult', 'joint="zz" mult', "'zz', which the tree does not have"),
    *[("urdf", "</robot>", GEARED.replace(">5<", f">{bad}<"), "mechanicalReduction") for bad in ("nan", "0", "1e300")],
]


@pytest.mark.filterwarnings("ignore::mechanics.ModelWarning")
@pytest.mark.parametrize(("kind", "text", "changed", "says"), ATTRIBUTES)
def test_a_number_or_name_that_is_none_is_named_with_its_place(kind, text, changed, says, tmp_path):
    name, seed, _ = models.FORMATS[kind]
    assert text in seed()
    (tmp_path / name).write_text(seed().replace(text, changed, 1), encoding="utf-8")
    with pytest.raises(ModelError, match=rf"{name}: (?s:.*){says}"):
        mechanics.load_mechanism(tmp_path / name, stops=True)


@pytest.mark.parametrize("changed", ['<motor joint="n" ctrlrange="1 -1"/>', '<motor joint="n" forcerange="1 -1"/>'])
def test_a_range_from_high_to_low_is_said_to_limit_nothing(changed, tmp_path):
    (tmp_path / "m.xml").write_text(models.MJCF.replace('<motor joint="n"/>', changed), encoding="utf-8")
    with pytest.warns(ModelWarning, match="range of actuators from high to low, which limits nothing: actuator_0"):
        mechanics.load_mechanism(tmp_path / "m.xml")


@pytest.mark.slow
@pytest.mark.parametrize("kind", models.FORMATS)
def test_hundreds_of_mutated_files_are_read_or_refused(kind, tmp_path):
    attacks(kind, 400, int(os.environ.get("LIEMECH_SEED", "1")), tmp_path)


def test_an_attack_sees_what_is_wrong(tmp_path, monkeypatch):
    """A reader that fails without a name is a finding."""

    def broken(path):
        raise KeyError(path)

    monkeypatch.setitem(models.FORMATS, "urdf", ("m.urdf", lambda: models.URDF, (broken,)))
    with pytest.raises(AssertionError, match=r"m\.urdf: KeyError"):
        models.attack(np.random.default_rng(0), tmp_path, "urdf")
