"""What a study's page of motion shows."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest


def films_that_move(path: Path) -> int:
    """Films on the page with bodies that are somewhere else at the end than at the start."""
    found = re.search(r'<script type="application/json" id="films">(.*?)</script>', path.read_text("utf-8"), re.S)
    assert found
    content, moving = json.loads(found[1]), 0
    for film in content["films"]:
        poses = np.frombuffer(base64.b64decode(content["arrays"][film["poses"]]["data"]), dtype="<f4")
        poses = poses.reshape(-1, len(film["bodies"]), 7)
        assert np.isfinite(poses).all()
        moving += np.abs(poses[-1] - poses[0]).max() > 1e-3
    return moving


@pytest.fixture(scope="session")
def films() -> Callable[[Path], int]:
    return films_that_move
