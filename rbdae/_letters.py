"""Letters that some output cannot show: pages, pictures, tables, terminals, files."""

from __future__ import annotations

import unicodedata
from typing import Final

LONGEST_NAME: Final = 200
"""Characters of a name."""

_WRONG = {
    "Cc": "control characters, such as line ends",
    "Cs": "half of a surrogate pair",
    "Zl": "line ends",
    "Zp": "line ends",
}
"""By the category of Unicode."""


def wrong_in_name(text: str) -> tuple[str, str] | None:
    """The thing that a name must not be or have, and the remedy; None if it is fine. Markup and formulas of any kind
    are fine: what would take them for its own escapes them."""
    if not text.strip():
        return "be empty", "name it"
    if len(text) > LONGEST_NAME:
        return f"have more than {LONGEST_NAME} characters", f"it has {len(text)}, shorten it"
    for letter in text:
        why = _WRONG.get(unicodedata.category(letter))
        if why is not None:
            return f"have {why}", f"remove {letter!a}"
    return None


def wrong_in_heading(text: str) -> tuple[str, str] | None:
    """The same of a heading, which may have lines."""
    for letter in text:
        if unicodedata.category(letter) == "Cs":
            return f"have {_WRONG['Cs']}", f"remove {letter!a}"
    return None


__all__ = ["LONGEST_NAME", "wrong_in_heading", "wrong_in_name"]
