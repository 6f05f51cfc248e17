"""The site, by tools/site."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters"), str(ROOT / "examples/papers"), str(ROOT / "docs")]

import rbdae  # noqa: E402

project, author = "rbdae", "the developers of rbdae"
release = version = rbdae.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
default_role = "code"
html_theme = "pydata_sphinx_theme"
html_title = "rbdae"
html_static_path, html_css_files = ["_static"], ["site.css"]
html_theme_options = {"navigation_with_keys": False, "show_nav_level": 2, "secondary_sidebar_items": ["page-toc"]}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_rtype = False
napoleon_use_ivar = True  # what our docstrings say of an attribute is no type
napoleon_custom_sections = [("Attributes of a class", "params_style")]
suppress_warnings = ["ref.python"]  # `t` in a docstring is an argument, no link to one of several attributes
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [
        f"../examples/gallery/{name}" for name in ("bodies", "loops", "machines", "controls", "solvers")
    ],
    "filename_pattern": "",  # every script runs
    "image_scrapers": ("scraper",),
    "capture_repr": (),
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_signature": False,
    "min_reported_time": 1e6,
    "write_computation_times": False,  # their page loads scripts from the network
}


def _as_mathematics(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """|v| in a docstring is a norm, no substitution."""
    lines[:] = [line if "``" in line else line.replace("|", r"\|") for line in lines]


def _without_type(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Napoleon takes what stands before a colon in the first line of a property for its type."""
    if what in ("attribute", "property"):
        lines[:0] = ["..", ""]  # a comment; an empty line would be skipped


def setup(app: Any) -> None:
    app.connect("autodoc-process-docstring", _as_mathematics)
    app.connect("autodoc-process-docstring", _without_type, priority=400)  # before napoleon
