"""Pages as HTML: the template, its style and script, and the libraries that it needs, all in one text."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from rbdae._files import replacing
from rbdae.reports.blocks import Page

_FOLDER = Path(__file__).parent / "page"


def write(page: Page, target: Path) -> Path:
    """Write a page; returns where it was written. What no encoding has, as half of a surrogate pair in a user's
    message, is written as an escape."""
    text = html(page).encode("utf-8", "backslashreplace")
    with replacing(target) as new:
        new.write_bytes(text)
    return target


def html(page: Page) -> str:
    """The text of a page. Names and messages in it are the user's: the template escapes them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    environment = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(
        page=page,
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        style=_file(_FOLDER / "page.css"),
        script=_file(_FOLDER / "page.js"),
        plotly=get_plotlyjs(),
        tables_style=_file(_tables() / "dt_bundle.css"),
        tables_script=_encoded(_tables() / "dt_bundle.js"),
    )


def _tables() -> Path:
    """The folder of DataTables in itables, whose package need not be imported."""
    spec = find_spec("itables")
    assert spec is not None and spec.submodule_search_locations is not None, "check_report has asked for it"
    return Path(spec.submodule_search_locations[0]) / "html"


def _encoded(path: Path) -> str:
    """The script is a module, which a page without a server cannot import from its own text."""
    return base64.b64encode(path.read_bytes()).decode("ascii")


def _file(path: Path) -> str:
    return path.read_text(encoding="utf-8")


__all__ = ["html", "write"]
