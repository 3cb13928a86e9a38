"""The notebooks: kept without their outputs, and executed."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def name(path):
    return path.stem


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_it_is_kept_without_outputs(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_the_page_of_examples_lists_them():
    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 3
    for path in NOTEBOOKS:
        assert f"(notebooks/{path.name})" in page


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_it_runs(path, tmp_path, monkeypatch):
    """In a kernel of its own, as a reader runs it from above; cards and pictures are shown, and nothing warns."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.delenv("MPLBACKEND", raising=False)  # pictures belong to the notebook
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    shown = {kind for out in outputs for kind in out.get("data", {})}
    assert {"text/html", "image/png"} <= shown
    told = "".join(out.get("text", "") for out in outputs if out.get("name") == "stderr")
    assert "Warning" not in told, told
