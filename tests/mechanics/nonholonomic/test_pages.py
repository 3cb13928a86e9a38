"""The page on nonholonomic systems lists the systems there are (its code runs in `tests.documents`)."""

import re
from pathlib import Path

from mechanics.systems import NONHOLONOMIC

PAGE = Path(__file__).resolve().parents[3] / "docs" / "howto" / "add_a_nonholonomic_system.md"


def test_the_page_lists_every_system_with_its_rows():
    listed = {}
    for names, rows in re.findall(r"^\| (`[^|]+`) \| [^|]+ \| (\d)[^|]* \|", PAGE.read_text(encoding="utf-8"), re.M):
        listed |= {name: int(rows) for name in re.findall(r"`([^`]+)`", names)}
    assert listed == {name: make().m for name, make in NONHOLONOMIC.items()}
