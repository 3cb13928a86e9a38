"""The page of errata and its tests correspond one to one."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
FILES = [path for path in sorted(Path(__file__).parent.glob("test_*.py")) if path.name != Path(__file__).name]


def test_every_erratum_names_its_test_and_every_test_its_erratum():
    functions = [
        node.name
        for path in FILES
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert sorted(named) == sorted(functions)


def test_every_row_of_a_table_names_one_test_and_every_file_is_named():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert rows
    for row in rows:
        assert len(re.findall(r"`test_\w+`", row)) == 1, row
    for path in FILES:
        assert f"](../tests/errata/{path.name})" in PAGE
