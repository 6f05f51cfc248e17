"""The pictures of examples/gallery for sphinx-gallery: what a script calls `figure` and `film`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from sphinx_gallery.scrapers import figure_rst


def _get_sg_image_scraper() -> Any:
    """sphinx-gallery asks a module that is named in `image_scrapers` for this function."""
    return scrape


def scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Write them, and return the lines that show them, one below the other; a film is a GIF.

    The first picture is the thumbnail. That of a film is a frame, which the page itself does not show.
    """
    found = {name: block_vars["example_globals"].get(name) for name in ("figure", "film")}
    paths = []
    if found["film"] is not None:
        times = found["film"].scene.t
        found["film"].frame(float(times[2 * len(times) // 3])).savefig(next(block_vars["image_path_iterator"]), dpi=100)
        paths.append(Path(next(block_vars["image_path_iterator"])).with_suffix(".gif"))
        found["film"].save(paths[-1])
    if found["figure"] is not None:
        paths.append(Path(next(block_vars["image_path_iterator"])))
        found["figure"].savefig(paths[-1], dpi=100)
    plt.close("all")
    return "".join(str(figure_rst([str(path)], gallery_conf["src_dir"])) for path in paths)
