"""Settings of the documentation site.  Its source is the whole repository, so that every page is also a page of the
code host:

sphinx-build -W --keep-going -c docs . build/site
"""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]
os.environ.setdefault("PYTHONWARNINGS", "ignore::DeprecationWarning")
matplotlib.use("Agg")

import generate  # noqa: E402

import liemech  # noqa: E402

project, author, copyright = "liemech", "the liemech developers", "the liemech developers"
version = release = liemech.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "studies/*/README.md", "CHANGELOG.md", "CONVENTIONS.md", "CONTRIBUTING.md"]
nitpicky = True

# --- pages ------------------------------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
suppress_warnings = ["bibtex.missing_field"]  # two sources are manuscripts without a year
bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

# --- reference --------------------------------------------------------------------------------------------------------
autodoc_member_order = "bysource"
autodoc_typehints = "none"
default_role = "literal"
python_maximum_signature_line_length = 100

# --- gallery ----------------------------------------------------------------------------------------------------------
sphinx_gallery_conf = {
    "examples_dirs": ["build/examples"],
    "gallery_dirs": ["docs/gallery"],
    "filename_pattern": r".*\.py$",
    "within_subsection_order": "generate.in_the_order_of_the_page",
    "image_scrapers": ("generate",),
    "copyfile_regex": "",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "only_warn_on_example_error": False,
    "abort_on_example_error": False,
    "nested_sections": False,
    "reset_modules": ("matplotlib", "generate.tell_where"),
    "promote_jupyter_magic": False,
    "notebook_extensions": set(),
}

# --- looks ------------------------------------------------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = "liemech"
html_show_sourcelink = False
html_static_path = ["_static", str(files("mathjax") / "static/mathjax/es5/tex-svg-full.js")]
mathjax_path = "tex-svg-full.js"  # one file, so that equations need no network
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_theme_options = {
    "logo": {"text": "liemech"},
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_context = {"default_mode": "light"}


def setup(app: Any) -> None:
    def read(app: Any, page: str, text: list[str]) -> None:
        text[0] = generate.for_the_site(page, text[0])

    app.connect("config-inited", lambda app, config: generate.everything(), priority=1)
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", generate.read_docstring)
