"""The pages on liegroup: their examples print what they say, their picture is what its script draws."""

import doctest
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_the_examples_on_the_page_print_what_they_say():
    result = doctest.testfile(str(ROOT / "docs" / "liegroup.md"), module_relative=False)
    assert result.attempted > 20
    assert result.failed == 0


@pytest.mark.parametrize("blocks", [7, pytest.param(None, marks=pytest.mark.slow)])
def test_the_page_that_adds_a_group_runs_and_finds_the_planted_mistake(tmp_path, blocks):
    """Its first part is a file, the rest a script of somebody who has the file on the path; with the new group
    everything is compiled anew, so that the methods of its later blocks run with the slow tests.
    """
    page = (ROOT / "docs" / "howto" / "add_a_group.md").read_text(encoding="utf-8")
    parts = page.partition("\n## 2 The group\n")
    formulas, script = (re.findall(r"^```python\n(.*?)^```", p, flags=re.M | re.S) for p in parts[::2])
    (tmp_path / "heisenberg.py").write_text("\n".join(formulas), encoding="utf-8")
    (tmp_path / "script.py").write_text("\n".join(script[:blocks]), encoding="utf-8")
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("H(1): dexp⁻¹ dexp = 1")


def test_the_script_draws_the_picture(tmp_path, monkeypatch):
    script = tmp_path / "trivialisation.py"
    script.write_text((ROOT / "docs" / "figures" / "trivialisation.py").read_text(encoding="utf-8"), encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert (tmp_path / "trivialisation.svg").stat().st_size > 5000
    assert (ROOT / "docs" / "figures" / "trivialisation.svg").exists()
