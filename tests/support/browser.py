"""Debian's Chromium, headless, and what it has to say of a page."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


def need_chromium() -> str:
    """Its path; skips the test where it is not there. tools/install-solvers fails without it."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed: apt-get install chromium")
    pytest.importorskip("playwright", reason="playwright is not installed: pip install 'rbdae[test]'")
    return path


@dataclass
class Opened:
    """A page, and what went wrong in it."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def texts(self, selector: str) -> list[str]:
        """What the elements say."""
        found: list[str] = self.page.locator(selector).all_text_contents()
        return found

    def value(self, script: str) -> Any:
        """The value of an expression of JavaScript."""
        return self.page.evaluate(script)

    def wait(self, script: str) -> None:
        """Until an expression is true; a test fails after ten seconds."""
        self.page.wait_for_function(script, timeout=10_000)


@contextmanager
def browser() -> Iterator[Callable[..., Opened]]:
    """A function that opens a file in a page of its own and waits until all of it is drawn."""
    path = need_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # root in a container has no sandbox
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        contexts: dict[tuple[int, str], Any] = {}

        def opened(file: Path, ready: str = "body[data-ready]", width: int = 1366, scheme: Any = "light") -> Opened:
            if (width, scheme) not in contexts:
                view: Any = {"width": width, "height": 850}
                contexts[width, scheme] = chromium.new_context(viewport=view, offline=True, color_scheme=scheme)
            page = contexts[width, scheme].new_page()
            out = Opened(page)
            page.on("console", lambda m: out.errors.append(m.text) if m.type == "error" else None)
            page.on("pageerror", lambda error: out.errors.append(str(error)))
            page.on("request", lambda request: out.requests.append(request.url))
            page.goto(file.as_uri())
            page.wait_for_selector(ready, timeout=60_000)
            return out

        try:
            yield opened
        finally:
            chromium.close()
