"""The site: `python -m sphinx -W -b dirhtml docs build/site`, or tools/site."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "examples/papers"), str(ROOT / "docs")]

import rbdae  # noqa: E402

project, author = "rbdae", "the developers of rbdae"
release = version = rbdae.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
html_theme = "pydata_sphinx_theme"
html_title = "rbdae"
html_theme_options = {"navigation_with_keys": False, "show_nav_level": 2, "secondary_sidebar_items": ["page-toc"]}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": "",  # every script runs
    "image_scrapers": ("scraper",),
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}
