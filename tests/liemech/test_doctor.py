"""The doctor says what works, and of what does not, what to do."""

import importlib
from importlib import metadata

import pytest

from liegroup.compile import folders
from liemech import doctor


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Without runs that compile kernels."""
    monkeypatch.setattr(doctor, "RUNS", {"groups": doctor._groups})


def test_where_everything_works_it_says_so(capsys):
    assert doctor.doctor() == 0
    said = capsys.readouterr().out
    assert "✗" not in said
    assert "All of this works" in said
    for word in ("python", "numba", "vector unit", "lanes", "writable", "log exp x = x"):
        assert word in said


def test_what_cannot_be_imported_is_wrong_and_has_a_remedy(monkeypatch, capsys):
    usual = importlib.import_module

    def broken(name):
        if name == "h5py":
            raise ImportError("no libhdf5")
        return usual(name)

    monkeypatch.setattr(doctor.importlib, "import_module", broken)
    assert doctor.doctor() == 1
    said = capsys.readouterr().out
    assert "cannot be imported: ImportError: no libhdf5" in said
    assert "→ pip install --upgrade h5py" in said


def test_a_section_that_cannot_go_on_is_wrong_and_the_others_follow(monkeypatch, capsys):
    """A traceback was all that came behind a broken package."""

    def broken():
        yield doctor.Finding("folder", "is there")
        raise ImportError("libllvm is missing")

    monkeypatch.setattr(doctor, "SECTIONS", {"Cache": broken, "Check run": doctor.check_run})
    assert doctor.doctor() == 1
    said = capsys.readouterr().out
    assert "✓ folder" in said
    assert "✗ looked no further      ImportError: libllvm is missing" in said
    assert "log exp x = x" in said


def test_files_that_go_while_the_cache_is_looked_at_are_not_counted(monkeypatch, tmp_path):
    (tmp_path / "stays").write_bytes(b"x" * 1000)
    monkeypatch.setattr(folders, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(doctor.os, "walk", lambda folder: [(str(folder), [], ["stays", "went"])])
    assert ": 1 files, 0.0 MB" in next(doctor.cache()).says


def test_an_extra_that_is_not_installed_is_no_fault(monkeypatch):
    usual = metadata.version

    def without(name):
        if name == "sympy":
            raise metadata.PackageNotFoundError(name)
        return usual(name)

    monkeypatch.setattr(doctor.metadata, "version", without)
    found = next(f for f in doctor.extras() if f.what == "sympy")
    assert found.remedy == ""
    assert "pip install 'liemech[sympy]'" in found.says


def test_extras_are_those_of_the_package():
    """Every package of every extra is looked at, but those of tests and documents."""
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    def names(words):
        return {word.split(">")[0].split(";")[0].strip() for word in words}

    extras = project["optional-dependencies"]
    assert {name: names(extras[name]) for name in doctor.EXTRAS} == {
        name: set(packages) for name, (packages, _) in doctor.EXTRAS.items()
    }
    assert names(project["dependencies"]) == set(doctor.CORE) - {"llvmlite"}


def test_a_cache_that_cannot_be_used_is_wrong(monkeypatch):
    monkeypatch.setattr(folders, "trouble", lambda: "the folder belongs to user 7, not to you")
    (found,) = doctor.cache()
    assert "LIEMECH_CACHE" in found.remedy


def test_a_run_that_fails_or_comes_out_wrong_is_wrong(monkeypatch):
    monkeypatch.setattr(doctor, "RUNS", {"breaks": lambda: 1 / 0, "is off": lambda: ("to 1e-3", False)})
    breaks, off = doctor.check_run()
    assert "ZeroDivisionError" in breaks.says
    assert breaks.remedy
    assert off.remedy
