"""Every example runs, draws its picture, and is listed on the page with it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_it_runs_and_draws_its_picture(example, tmp_path):
    if "pinocchio" in example.name:
        pytest.importorskip("pinocchio")  # has no wheels for Windows
    script = tmp_path / example.name
    script.write_text(example.read_text(encoding="utf-8"), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(FOLDER.parent), "MPLBACKEND": "Agg"}
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    assert script.with_suffix(".png").exists() == example.with_suffix(".png").exists()


def test_the_page_lists_all_of_them():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    for example in EXAMPLES:
        assert f"[{example.name}]({example.name})" in page
    for picture in FOLDER.glob("*.png"):
        assert f"]({picture.name})" in page
