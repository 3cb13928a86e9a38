"""The page that adds a joint runs and finds the singular one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.slow
def test_the_page_that_adds_a_joint_runs_and_finds_the_singular_one():
    page = (ROOT / "docs" / "howto" / "add_a_joint.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "joint 'hand_joint' moves no inertia" in done.stdout
