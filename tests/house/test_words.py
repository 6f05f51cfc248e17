"""The words of words.toml do not occur in the program and its documents.

Run as a script it prints what is open, `FOLDER ...` restricts it.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TABLE: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "tests/house/words.toml").read_text(encoding="utf-8"))
CODE = ("rbdae", "adapters", "examples", "benchmarks")
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "docs")


@dataclass(frozen=True)
class Text:
    """A piece of a file: "name" (an identifier), "definition" (one that is defined here) or "prose"."""

    kind: str
    text: str
    line: int


def words_of(identifier: str) -> str:
    """The words of an identifier, lower case, separated by blanks."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_+", " ", identifier).strip().lower()


def _names(tree: ast.AST) -> Iterator[Text]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield Text("definition", name, line)
            case ast.arg(arg=name):
                yield Text("definition", name, line)
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
                yield Text("name", name, line)
            case ast.alias(name=name, asname=asname):
                for part in [*name.split("."), *filter(None, [asname])]:
                    yield Text("name", part, line)
            case ast.ImportFrom(module=str(module)):
                for part in module.split("."):
                    yield Text("name", part, line)
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    yield Text("definition", statement.target.id, statement.lineno)


def python_texts(source: str, stem: str) -> Iterator[Text]:
    yield Text("definition", stem, 1)
    yield from _names(ast.parse(source))
    comments: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.append(token)
        elif token.type in (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", -1)):
            yield Text("prose", token.string, token.start[0])
        if comments and token.type not in (tokenize.COMMENT, tokenize.NL):
            yield Text("prose", "\n".join(comment.string for comment in comments), comments[0].start[0])
            comments.clear()


def texts(path: Path) -> Iterator[Text]:
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from python_texts(source, path.stem)
    else:
        yield Text("prose", source, 1)


def _blank(phrase: str, text: str) -> str:
    """The text with a phrase made blank, line by line."""
    return re.sub(_loose(re.escape(phrase)), lambda m: re.sub(r"\S", " ", m[0]), text, flags=re.IGNORECASE)


def _loose(pattern: str) -> str:
    """A pattern whose blanks also stand for the end of a line, in comments too."""
    return re.sub(r"\\? ", r"[\\s#]+", pattern)


@cache
def _alone(pattern: str) -> re.Pattern[str]:
    """A pattern as words of their own."""
    return re.compile(rf"(?<![a-zA-Z])({_loose(pattern)})(?![a-zA-Z])", re.IGNORECASE)


ANY = _alone("|".join(TABLE["everywhere"]))
"""One search in place of a hundred: most texts have none of the words."""


def _of(section: str) -> str:
    return "|".join(TABLE[section])


_BROKEN = _of("everywhere").replace(" ", r"[\s#_]*")
MAYBE = re.compile(
    rf"{_BROKEN}|(?-i:\b(?:{_of('code')})\b)|\b_*(?:{_of('definitions')})\s*[:=,()]",
    re.IGNORECASE,
)
"""What a file must have for any word to be found in it: one search in place of reading it token by token."""


def _everywhere(pattern: str, entry: dict[str, Any], text: Text) -> list[int]:
    words = text.text if text.kind == "prose" else words_of(text.text)
    wanted = _alone(pattern)
    if wanted.search(words) is None:
        return []
    for phrase in entry.get("except", []):
        words = _blank(phrase, words)
    return [m.start() for m in wanted.finditer(words)]


def _definition(pattern: str, entry: dict[str, Any], text: Text) -> list[int]:
    return [0] if text.kind == "definition" and re.fullmatch(rf"_*({pattern})", text.text, re.IGNORECASE) else []


def _code(pattern: str, entry: dict[str, Any], text: Text) -> list[int]:
    if text.kind != "prose":
        return [0] if text.text == pattern else []
    quoted = rf"`[\w.]*\b{pattern}\b[^`\n]*`|\b(forces|drives|rbdae)\.{pattern}\b"
    return [m.start() for m in re.finditer(quoted, text.text)]


RULES = {"everywhere": _everywhere, "definitions": _definition, "code": _code}


@cache
def _places(kind: str, text: str) -> tuple[tuple[str, str, int], ...]:
    """(section, pattern, start) in a text; identifiers come again and again."""
    piece = Text(kind, text, 0)
    some = ANY.search(text if kind == "prose" else words_of(text)) is not None
    return tuple(
        (section, pattern, start)
        for section, places in RULES.items()
        if some or section != "everywhere"
        for pattern, entry in TABLE[section].items()
        for start in places(pattern, entry, piece)
    )


def found_in(pieces: Iterator[Text]) -> Iterator[tuple[str, int, str]]:
    """(pattern, line, what to take) of every word that should not be there."""
    for text in pieces:
        for section, pattern, start in _places(text.kind, text.text):
            shown = text.text[max(0, start - 30) : start + 50] if text.kind == "prose" else text.text
            line = text.line + (text.text.count("\n", 0, start) if text.kind == "prose" else 0)
            yield pattern, line, f"{' '.join(shown.split())!r}: for {pattern!r} take {TABLE[section][pattern]['use']}"


def _excused(path: str, pattern: str) -> bool:
    words = TABLE["excused"].get(path, {"words": []})["words"]
    return bool(set(pattern.split("|")) & set(words))


def files(*folders: str) -> Iterator[Path]:
    for name in folders or (*CODE, *DOCUMENTS):
        path = ROOT / name
        if path.is_dir():
            yield from sorted(p for suffix in ("*.py", "*.md") for p in path.rglob(suffix))
        elif path.exists():
            yield path


def open_words(*folders: str) -> list[str]:
    found = {}
    for path in files(*folders):
        name = path.relative_to(ROOT).as_posix()
        if MAYBE.search(path.stem + "=" + path.read_text(encoding="utf-8")) is None:
            continue
        for pattern, line, message in found_in(texts(path)):
            if not _excused(name, pattern):
                found[f"{name}:{line}: {message}"] = None
    return list(found)


def test_the_words_of_the_table_do_not_occur():
    found = open_words()
    assert not found, "\n".join(found)


def test_no_file_is_excused_for_nothing():
    for file, entry in TABLE["excused"].items():
        assert entry["reason"].strip(), file
        found = {pattern for pattern, _, _ in found_in(texts(ROOT / file))}
        assert found, f"{file} needs no excuse in words.toml"
        for word in entry["words"]:
            assert any(word in pattern.split("|") for pattern in found), f"{file} has no {word!r} any more"


@pytest.mark.parametrize(
    "source, pattern",
    [
        ("gauge_limit = 1", "gauge|gauges"),
        ("class NewGauge: ...", "gauge|gauges"),
        ("# chosen anew", "anew"),
        ("# left out for the\n    # moment", "for the moment"),
        ('def f():\n    """A foreign function."""', "foreign"),
        ('raise ValueError(f"{x} is left out for the moment")', "for the moment"),
        ("def put(x): ...", "put"),
        ("def f(title): ...", "title"),
        ("class A:\n    lines: int", "lines"),
        ("from rbdae.forces import Slide", "Slide"),
        ("# `forces.User` has no potential", "User"),
    ],
)
def test_a_word_is_found_in(source, pattern):
    assert MAYBE.search(source)
    assert pattern in {found for found, _, _ in found_in(python_texts(source, "file"))}


@pytest.mark.parametrize(
    "source",
    [
        "# a spanning tree of the joints",
        "lines = text.splitlines()",
        "axes.set_title(name)",
        "# put it there; the smallest of all branches; the angle and the displacement",
        "Torsional = 1",
    ],
)
def test_no_word_is_found_in(source):
    assert not list(found_in(python_texts(source, "file")))


if __name__ == "__main__":
    print("\n".join(open_words(*sys.argv[1:])))
