"""The split mechanisms of the tests of closed loops, for these tests as well."""

import importlib.util
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[1] / "mechanics" / "loops" / "conftest.py"


@pytest.fixture(scope="session")
def mechanisms():
    """Name → maker of a mechanism whose loops are opened by splitting a body; makers take the share of its mass."""
    spec = importlib.util.spec_from_file_location("split_mechanisms", PLACE)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.MAKERS
