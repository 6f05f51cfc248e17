"""The site's search finds first the page that one wants: `python docs/searched.py build/site`, run by tools/site."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

WANTED = {
    "IDA": ("by-hand.html",),
    "null space": ("null-space.html",),
    "reaction": ("recipes.html", "quantities.html"),
    "install": ("install.html",),
    "cite": ("cite.html",),
    "mass matrix": ("recipes.html",),
    "which formulation": ("which-formulation.html",),
}
DONE = "/found|did not match/.test(document.querySelector('#search-results')?.innerText ?? '')"


def main(site: Path) -> int:
    """The number of words whose first page is another one; 0 without Chromium."""
    chromium = shutil.which("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("searched.py: playwright or Chromium is not installed, the search is not looked at")
        return 0
    wrong = 0
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        for words, wanted in WANTED.items():
            page.goto(f"{(site / 'search.html').resolve().as_uri()}?q={words.replace(' ', '+')}")
            page.wait_for_function(DONE)
            link = page.locator("#search-results ul.search a").first
            first = ((link.get_attribute("href") or "") if link.count() else "").partition("?")[0].partition("#")[0]
            if first not in wanted:
                wrong += 1
                print(f"searched.py: {words!r} finds {first or 'nothing'} first, not {' or '.join(wanted)}")
    return wrong


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
