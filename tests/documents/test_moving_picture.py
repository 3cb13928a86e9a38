"""The README shows a picture that moves, small enough for a page, and made by a script of the repository."""

from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "figures" / "rolling-coin.gif"


def test_it_moves_and_is_small():
    assert f"]({PICTURE.relative_to(ROOT).as_posix()})" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert PICTURE.stat().st_size < 1.5e6
    with Image.open(PICTURE) as picture:
        assert picture.n_frames >= 60
        assert picture.info["loop"] == 0
        shown = []
        for frame in (0, picture.n_frames // 2, picture.n_frames - 1):
            picture.seek(frame)
            shown.append(picture.convert("RGB").tobytes())
    assert len(set(shown)) == 3


def test_its_script_says_where_it_goes():
    assert PICTURE.name in (PICTURE.parent / "moving.py").read_text(encoding="utf-8")
