"""The site: everything public is in its reference, every example in its gallery, its pages look like pages.

The slow tests build it as CI does (what is built already is not built again) and look at pages in a headless browser.
"""

import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from matplotlib.image import imread

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PAGES = {
    "docs/index": 1,
    "docs/start": 0,
    "docs/theory/variational": 1,
    "docs/gallery/index": 20,
    "docs/gallery/bicycle": 1,
    "docs/generated/reference/mechanics": 0,
    "docs/generated/catalogue/methods": 0,
    "studies/stiff/README": 1,
}
"""Pages that are looked at, with the least number of pictures on each."""


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    pytest.importorskip("sphinx_gallery", reason='the site needs pip install -e ".[docs]"')
    folder = ROOT / "build" / "site"
    command = ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs", ".", str(folder)]
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def inventory(folder):
    """Names and pages of everything that the site defines."""
    packed = (folder / "objects.inv").read_bytes().split(b"\n", 4)[4]
    lines = zlib.decompress(packed).decode("utf-8").splitlines()
    return {line.split(" ")[0] for line in lines if " py:" in line}


@pytest.mark.slow
def test_the_reference_has_every_public_name(site):
    sys.path.insert(0, str(ROOT / "docs"))
    import generate

    defined, names = inventory(site), generate.public_names()
    assert sum(map(len, names.values())) > 500
    assert set(generate.homes().values()) - defined == set()
    for module, listed in names.items():
        page = (site / "docs" / "generated" / "reference" / f"{module}.html").read_text(encoding="utf-8")
        shown = set(re.findall(r'<span class="pre">([\w.]+)</span>', page))
        assert set(listed) <= shown, module


@pytest.mark.slow
def test_the_gallery_has_run_every_example(site):
    for example in EXAMPLES:
        page = (site / "docs" / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        (picture,) = set(re.findall(rf'src="[./]*(_images/sphx_glr_{example.stem}_001\.png)"', page))
        assert (site / picture).exists()
        assert "Traceback" not in page


@pytest.mark.slow
def test_nothing_is_fetched_from_a_network(site):
    """Scripts, styles, fonts and pictures are files of the site."""
    for page in site.rglob("*.html"):
        fetched = re.findall(
            r'<(?:script|img|link rel="stylesheet")[^>]*(?:src|href)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert fetched == [], page


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
@pytest.mark.parametrize("page", PAGES)
def test_pages_look_like_pages(site, page, tmp_path):
    """Not blank, with the theme's bar at the top, its pictures drawn, its equations typeset."""
    path, picture = site / f"{page}.html", tmp_path / "page.png"
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={tmp_path / 'profile'}",
    ]
    seen = [*flags, "--window-size=1280,1600", "--virtual-time-budget=20000"]
    subprocess.run(
        [BROWSER, *seen, f"--screenshot={picture}", path.as_uri()], check=True, capture_output=True, timeout=120
    )
    pixels = imread(picture)[..., :3]
    assert pixels.shape == (1600, 1280, 3)
    ink = (pixels < 0.9).any(axis=-1)
    assert 0.005 < ink.mean() < 0.6, "blank, or without its style"
    assert (pixels[:60, :200] < 0.6).any()  # the name of the project
    below_the_bar = (pixels[60:100] < 0.999).all(axis=-1).mean(axis=1)
    assert below_the_bar.max() > 0.9, "no line across the page below the bar: the theme is missing"

    text = path.read_text(encoding="utf-8")
    images = [path.parent / name for name in re.findall(r'<img[^>]*src="([^":]+)"', text)]
    assert len(images) >= PAGES[page]
    assert [image for image in images if not image.exists()] == []
    if 'class="math' in text:
        dump = [*seen, "--dump-dom", path.as_uri()]
        drawn = subprocess.run([BROWSER, *dump], check=True, capture_output=True, text=True, timeout=120).stdout
        assert drawn.count("<mjx-container") >= text.count('class="math')
        assert "mjx-merror" not in drawn
