"""The page that linearises a mechanism runs."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_that_linearises_a_mechanism_runs():
    page = (ROOT / "docs" / "howto" / "linearise_a_mechanism.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, flags=re.M | re.S))
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "left at joint 'trolley_joint'" in done.stdout
