"""What the documents print must run, and must speak of the project alone."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    p for pattern in ("*.md", "docs/**/*.md", "studies/**/*.md", "examples/*.md") for p in ROOT.glob(pattern)
)
TEXTS = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
).stdout.split()


ELSEWHERE = {"add_a_group.md", "add_a_joint.md"}
"""Run by `tests/liegroup/test_pages.py`, as its first part is a file of its own, and by
`tests/mechanics/trees/test_howto.py`, which looks at what it prints.
"""


LONG = {
    "add_a_force_element.md",
    "bend_a_rod.md",
    "put_wheels_on_a_tree.md",
    "add_a_closure.md",
    "differentiate_a_step.md",
    "drive_and_control.md",
    "see_it_move.md",
    "let_bodies_touch.md",
    "run_for_long_with_gauss8.md",
    "use_sympy_equations.md",
    "ride_a_bicycle.md",
    "join_elastic_elements.md",
    "compile_a_model.md",
    "sweep_parameters.md",
    "add_a_nonholonomic_system.md",
    "add_a_method.md",
    "couple_joints.md",
    "sympy.md",
    "pinocchio.md",
}
"""They compile for seven seconds and more, each what no other test does."""


def python_blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(p, marks=[pytest.mark.slow] if p.name in LONG else [], id=str(p.relative_to(ROOT)))
        for p in PAGES
        if python_blocks(p) and p.name not in ELSEWHERE
    ],
)
def test_python_blocks_run_in_order(page, tmp_path, script):
    code = "import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(python_blocks(page))
    path = tmp_path / "page.py"
    path.write_text(
        code, encoding="utf-8"
    )  # a file, as kernels of a reader's own would be in one: their cache asks for it
    done = script(path, folder=tmp_path, environment={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_to_files_resolve(page):
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: broken link {target}"


def test_texts_speak_of_the_project_alone():
    words = re.compile(r"/work/|/tmp/env|\bsession'?s?\b.{0,20}\b(developer|agent)|issue #\d|file:///|pypi-more", re.I)
    found = []
    for name in TEXTS:
        path = ROOT / name
        if (
            path.suffix in {".py", ".md", ".toml", ".cff", ".bib", ""}
            and path.is_file()
            and path != Path(__file__).resolve()
        ):
            found += [
                f"{name}:{k}: {line.strip()}"
                for k, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
                if words.search(line)
            ]
    assert not found, "\n".join(found)
