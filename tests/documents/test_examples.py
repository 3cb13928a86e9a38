"""Every example is listed on the page of the folder, with a picture and a how-to, a tutorial, a theory or a study.

They are run, all of them, for the gallery of the site (`test_site`).
"""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda p: p.stem)
def test_it_says_what_it_is_and_draws_its_picture(example):
    text = example.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert 'savefig(Path(__file__).with_suffix(".png")' in text.replace("\n    ", "")
    assert PAGE.count(f"[{example.name}]({example.name})") == 1


def test_the_page_lists_nothing_else():
    assert len(re.findall(r"^\| \[\w+\.py\]", PAGE, flags=re.M)) == len(EXAMPLES) >= 20
    for picture in re.findall(r"\]\((\w+\.png)\)", PAGE):
        assert (FOLDER / picture).exists()


def test_every_how_to_has_one():
    linked = set(re.findall(r"\.\./docs/howto/(\w+)\.md", PAGE))
    assert {p.stem for p in (FOLDER.parent / "docs" / "howto").glob("*.md")} - {"index"} == linked
