"""The pictures of examples/gallery for sphinx-gallery: what a script calls `figure` and `film`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper() -> Any:
    """sphinx-gallery asks a module that is named in `image_scrapers` for this function."""
    return scrape


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Write them, and return the lines that show them; a film is a GIF."""
    found = {name: block_vars["example_globals"].get(name) for name in ("figure", "film")}
    paths = []
    if found["film"] is not None:
        paths.append(Path(next(block_vars["image_path_iterator"])).with_suffix(".gif"))
        found["film"].save(paths[-1])
    if found["figure"] is not None:
        paths.append(Path(next(block_vars["image_path_iterator"])))
        found["figure"].savefig(paths[-1], dpi=100)
    return str(figure_rst([str(path) for path in paths], gallery_conf["src_dir"]))
