"""Files and names that nobody writes by accident, and a small study whose stored results they are tried on."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import inside
import numpy as np

import rbdae
from rbdae import study

T_END = 0.02


NAMES = (
    "</script><script>alert(1)</script>",
    r"$\frac{$",
    "$x$",
    "=cmd|' /C calc'!A0",
    "@SUM(1)",
    "+1",
    "-1",
    "_hidden",
    "a,b\"c';d",
    "../../etc/passwd",
    "%{x} {y} {{z}} %s",
    "\u202eright to left",
    "größe 📐",
    200 * "x",
    "{{ 7 * 7 }}",
    "\\",
    "$",
    r"\$",
)
"""Names that are fine, whatever some output would make of them."""

_LETTERS = "$={}<>&\"'\\%@+-_^~#;,.:/ \t\n\0\x1b\x7f\x85\u2028\ud800\udfff\u200b\ufeffé漢📐"
_PARTS = (*NAMES, *_LETTERS, "ab", "<b>", "&lt;")


def system(body: str = "ball", joint: str = "pin", force: str = "wind", more: Sequence[str] = ()) -> rbdae.System:
    """A pendulum in a wind, and more of them."""
    out = rbdae.System(gravity=(0.0, 0.0, -9.81))
    for k, name in enumerate((body, *more)):
        one = out.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0, k, 0))
        names = (joint, force) if k == 0 else (name[:199] + "j", name[:199] + "f")
        out.add_joint(rbdae.joints.Spherical(out.ground, one, at_a=(0, k, 0), at_b=(-1.0, 0, 0), name=names[0]))
        out.add_force(rbdae.forces.Force(one, (0.0, 1.0, 0.0), name=names[1]))
    return out


def solved(given: rbdae.System) -> rbdae.Solution:
    """A short run."""
    return rbdae.solve(rbdae.formulate(given, "null-space"), (0.0, 0.1), solver="scipy:RK45", rtol=1e-4)


def drawn_name(rng: np.random.Generator) -> str:
    """Parts put together."""
    count = int(rng.integers(1, 5))
    name = "".join(_PARTS[int(k)] for k in rng.integers(0, len(_PARTS), size=count))
    return name * 30 if rng.random() < 0.05 else name


def check_names(names: Sequence[str], folder: Path, page: bool) -> None:
    """Names come out of tables, files and pictures letter by letter; of a page, too, which takes longer."""
    solution = solved(system(names[0], names[0][:199] + "j", names[0][:199] + "f", names[1:]))
    assert list(solution.states) == list(names) and len(repr(solution)) < 1000
    path = folder / "states.csv"
    inside.write_states(solution, path)
    head = next(csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline="")))
    for column, name in zip(head[1 : 1 + 13 * len(names) : 13], names, strict=True):
        assert column == ("'" if name[0] in "=+-@" else "") + f"{name}.position.x [m]"
    restored = rbdae.load(solution.save(folder / "run.npz"), solution.problem)
    assert list(restored.states) == list(names)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from (current )?font")
        figure = solution.plot(bodies=names, quantities=["position", "reactions"], joints=list(solution.reactions))
        figure.savefig(io.BytesIO(), format="svg")
        solution.animate(bodies=names[:10]).frame(0.0).savefig(io.BytesIO(), format="svg")
    drawn = [shown(axis.get_ylabel()) for axis in figure.axes]
    for name in names:
        assert any(text.strip() == name.strip() for text in drawn), name
        assert any(text.startswith((f"{name[:199]}j\non ", f" {name[:199]}j\non ")) for text in drawn), name
    if page:
        text = solution.report(folder / "run.html").read_text(encoding="utf-8")
        assert "alert(1)</script>" not in text


def shown(label: str) -> str:
    """What matplotlib draws of a label without mathtext."""
    assert (label.count("$") - label.count(r"\$")) == 0, label
    return label.replace(r"\$", "$")


# ---------------------------------------------------------------- results on disk


@dataclass(frozen=True)
class Stored:
    """A study of two runs, and its file."""

    content: bytes
    compared: study.Comparison
    reference: study.Reference

    @property
    def rows(self) -> tuple[study.Row, ...]:
        return self.compared.rows

    def again(self, folder: Path, content: bytes) -> study.Comparison:
        """The same study, resumed from this content."""
        path = folder / "study.jsonl"
        path.write_bytes(content)
        return _compare(path, self.reference)


def stored(path: Path) -> Stored:
    """Run it."""
    exact = study.reference(rbdae.models.heavy_top(), T_END)
    compared = _compare(path, exact)
    return Stored(path.read_bytes(), compared, exact)


def _compare(path: Path, exact: study.Reference) -> study.Comparison:
    cases = [study.Case("null-space", "quaternion", "angular", "rbdae:dopri5", tolerance) for tolerance in (1e-4, 1e-6)]
    return study.compare_cases(rbdae.models.heavy_top(), T_END, cases, reference=exact, resume=path, repeats=1)


def mutated(content: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """What was done, and the content."""
    what = str(rng.choice(["cut", "swapped", "text", "blank", "nested", "doubled"]))
    lines = content.splitlines()
    number = int(rng.integers(0, len(lines)))
    if what == "cut":
        return what, content[: int(rng.integers(0, len(content)))]
    if what == "swapped":
        other = int(rng.integers(0, len(lines)))
        lines[number], lines[other] = lines[other], lines[number]
    elif what == "text":
        lines.insert(number, bytes(rng.choice([b"{}", b"[]", b"null", b"1e999", b"NaN", b'"text"', b"\xff\xfe", b"{"])))
    elif what == "blank":
        lines.insert(number, bytes(rng.choice([b"", b"  ", b"\t"])))
    elif what == "nested":
        depth = int(10.0 ** rng.uniform(1, 5.5))
        lines.insert(number, b"[" * depth + b"]" * depth)
    else:
        lines.insert(number, lines[int(rng.integers(0, len(lines)))])
    return what, b"\n".join(lines) + b"\n"
