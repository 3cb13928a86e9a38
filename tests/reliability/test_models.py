"""Model files with errors in them: read as valid models, or refused by name."""

import importlib.util
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from mechanics import ModelWarning

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


@pytest.mark.slow
@pytest.mark.parametrize("kind", models.FORMATS)
def test_hundreds_of_mutated_files_are_read_or_refused(kind, tmp_path):
    attacks(kind, 600, int(os.environ.get("LIEMECH_SEED", "1")), tmp_path)


def test_an_attack_sees_what_is_wrong(tmp_path, monkeypatch):
    """A reader that fails without a name is a finding."""

    def broken(path):
        raise KeyError(path)

    monkeypatch.setitem(models.FORMATS, "urdf", ("m.urdf", lambda: models.URDF, (broken,)))
    with pytest.raises(AssertionError, match=r"m\.urdf: KeyError"):
        models.attack(np.random.default_rng(0), tmp_path, "urdf")
