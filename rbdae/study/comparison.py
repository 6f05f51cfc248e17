"""The result of a study: one table, as a data frame, text, files, a picture, a page, and in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, final

from rbdae._files import checked, harmless, replacing
from rbdae.formulations import Formulation
from rbdae.problem.projection import Projection
from rbdae.study.diagrams import picture, report_comparison
from rbdae.study.one_run import Row
from rbdae.study.ranking import Curve, Ranking, rank
from rbdae.study.references import Reference
from rbdae.study.stored import packed, unpacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = "rbdae comparison 2"
_TABLE: Final[dict[str, tuple[str, str, str]]] = {  # the attribute of a row, its kind, and what it is
    "formulation": ("case.formulation", "object", "name, with options that are not the default ones"),
    "rotation": ("case.rotation", "object", "name"),
    "velocity": ("case.velocity", "object", "name"),
    "solver": ("case.solver", "object", "package:method"),
    "tolerance": ("case.tolerance", "float64", "rtol and atol"),
    "step": ("case.step", "float64", "size of fixed steps, s; empty for a method that chooses its own"),
    "redundant": ("case.redundant", "object", "as given to formulate"),
    "hold": ("case.hold", "object", "as given to formulate, JSON; empty for nothing"),
    "projection": ("case.projection", "object", "fields of the Projection, JSON; empty for none"),
    "options": ("case.options", "object", "the solver's own, JSON; empty for none"),
    "on_singularity": ("case.on_singularity", "object", "as given to solve"),
    "error": ("errors.largest", "float64", "the largest of the three errors below"),
    "error_position": ("errors.position", "float64", "at the end, relative"),
    "error_orientation": ("errors.orientation", "float64", "at the end, rad"),
    "error_velocity": ("errors.velocity", "float64", "at the end, relative"),
    "below_reference": ("", "Int64", "1 if the error is below what the reference is good for, and a bound on it"),
    "energy": ("energy_error", "float64", "largest error of the energy's balance over the largest kinetic energy"),
    "drift_position": ("position_drift", "float64", "largest violation of the position constraints, SI units"),
    "drift_velocity": ("velocity_drift", "float64", "largest violation of the velocity constraints, SI units"),
    "seconds": ("stats.seconds", "float64", "processor time of the solver, s"),
    "wall_seconds": ("stats.wall_seconds", "float64", "the same by a clock on the wall, s"),
    "timed": ("timed", "Int64", "number of timed runs; both times are their medians"),
    "evaluations": ("stats.evaluations", "Int64", "of residual or right-hand side"),
    "jacobians": ("stats.jacobians", "Int64", "number"),
    "factorisations": ("stats.factorisations", "Int64", "number"),
    "steps": ("stats.steps", "Int64", "number"),
    "rejected": ("stats.rejected", "Int64", "number of steps"),
    "projections": ("stats.projections", "Int64", "number"),
    "restarts": ("stats.restarts", "Int64", "number"),
    "code": ("stats.code", "object", "machine, folded, plain or mixed, see rbdae.formulate; empty without a step"),
    "fallbacks": ("stats.fallbacks", "Int64", "number of states that machine code left to plain Python"),
    "singular": ("singular", "Int64", "number of singular positions of loops that the run passed"),
    "given_up_after": ("given_up_after", "float64", "limit of a run that took too long, s"),
    "failure": ("failure", "object", "why the run did not reach the end; empty if it did"),
    "reason": ("reason", "object", "the same without times and numbers"),
}
COLUMNS: Final[dict[str, str]] = {name: about for name, (_, _, about) in _TABLE.items()}
"""The columns of `Comparison.frame`, with what each entry is. Missing is what a failed run does not have, and counts
that a package does not report."""

_EXPLAINED = """\
Drift is the largest violation of the constraints in SI units; energy is the largest error of its balance relative to
the kinetic energy. Seconds are processor time of the solver, without loading, wall those of a clock: medians of timed
runs. Work that an error takes is interpolated between the tolerances."""


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of their cases; prints as a table that ends with the ranking in words.

    Attributes
    ----------
    reference : what the errors are measured against
    rows : one for each run
    made : the bodies of the mechanism, versions, machine and date by name; empty for one that was put together by hand
    resumed : how many rows were taken from the file of an earlier start
    """

    reference: Reference
    rows: tuple[Row, ...]
    made: Mapping[str, str] = field(default_factory=dict)
    resumed: int = 0

    def __str__(self) -> str:
        failed = sum(bool(row.failure) for row in self.rows)
        table = [preface(self.reference), "", *_lines(self), f"{len(self.rows)} runs, {failed} failed"]
        return "\n".join([*table, "", str(self.ranking())])

    def __repr__(self) -> str:
        failed = sum(bool(row.failure) for row in self.rows)
        return f"Comparison(t_end={self.reference.t_end:g}, {len(self.rows)} runs, {failed} failed)"

    @property
    def frame(self) -> Any:
        """The runs as a `pandas.DataFrame` with the columns of `rbdae.study.COLUMNS`.

        Raises
        ------
        ImportError
            without pandas
        """
        try:
            import pandas
        except ImportError:
            raise ImportError("the table needs pandas: run `pip install pandas`") from None
        limit = self.reference.agreement.largest
        columns = {name: [_value(row, path) for row in self.rows] for name, (path, _, _) in _TABLE.items() if path}
        columns["below_reference"] = [None if e is None else int(e < limit) for e in columns["error"]]
        kinds = {name: kind for name, (_, kind, _) in _TABLE.items()}
        return pandas.DataFrame(columns, columns=list(_TABLE), dtype=object).astype(kinds)

    def ranking(self, errors: Iterable[float] | None = None) -> Ranking:
        """The form and solver that are the best to reach an error; prints in words.

        Parameters
        ----------
        errors : of the end state, relative, such as ``[1e-3, 1e-6]``; None for one to three that most of the runs
            have come to

        Raises
        ------
        TypeError, ValueError
            for errors that are no list of positive numbers
        """
        return rank(self.rows, errors)

    def plot(self, curves: Iterable[Curve] | Mapping[str, Iterable[Curve]] | None = None) -> Figure:
        """Work-precision picture: error over evaluations and over seconds, at most ten curves in a panel.

        Parameters
        ----------
        curves : pairs of form and solver as in `Case.curve`, such as ``("index-0, quaternion, angular",
            "scipy:DOP853")``; None for the best of each formulation. A dict of such lists gives a column of panels for
            each, under its heading; a form has the same colour in all of them

        Raises
        ------
        ImportError
            without matplotlib
        ValueError
            if no run reached the end, and for curves that are not there, or too many
        """
        return picture(self.rows, self.reference, curves)

    def report(self, path: str | Path) -> Path:
        """Write one HTML file that opens without a network: the ranking in words, interactive work-precision diagrams,
        all runs in a table that can be sorted and filtered, failures by reason, and versions.

        Parameters
        ----------
        path : ending with ``.html``

        Returns
        -------
        Path
            where it was written

        Raises
        ------
        ImportError
            without plotly, jinja2 or itables: ``pip install plotly jinja2 itables``
        OSError, TypeError, ValueError
            for a path that it cannot be written to
        """
        return report_comparison(self, path, preface(self.reference), COLUMNS)

    def to_csv(self, path: str | Path) -> Path:
        """Write `frame` as CSV, with a line of names; returns the path. A text that a spreadsheet would evaluate has an
        apostrophe before it."""
        target = checked("to_csv: path", path, "results.csv")
        frame = self.frame.map(harmless)
        with replacing(target) as new:
            frame.to_csv(new, index=False, errors="backslashreplace")
        return target

    def to_json(self, path: str | Path) -> Path:
        """Write rows, reference and versions as JSON, for `from_json`; returns the path.

        Raises
        ------
        ImportError
            without cattrs
        """
        target = checked("to_json: path", path, "results.json")
        text = json.dumps({"format": _FORMAT, "columns": COLUMNS, **packed(self)}, indent=1)
        with replacing(target) as new:
            new.write_text(text + "\n", encoding="utf-8")
        return target

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ImportError
            without cattrs
        OSError
            for a file that cannot be read
        ValueError
            for a file of another kind, or one that is damaged
        """
        content = checked("from_json: path", path, "results.json").read_bytes()
        try:
            given = json.loads(content)
            if given["format"] != _FORMAT:
                raise ValueError(f"format {given['format']!r}")
            return unpacked(given, cls)
        except ImportError:
            raise
        except Exception as error:  # json, cattrs and our own classes have a dozen kinds for damaged content
            raise ValueError(
                f"{path}: it is no comparison that to_json wrote, or it is damaged ({str(error)[:300]}); write it again"
            ) from error


def _value(row: Row, path: str) -> Any:
    """An entry of the table; None for what is no finite number, and for what the run does not have."""
    if row.errors is None and (path.startswith("errors") or (path.startswith("stats") and not row.stats.steps)):
        return None
    value = attrgetter(path)(row)
    if isinstance(value, (int, float)):
        return value if math.isfinite(value) and value >= 0 else None
    if isinstance(value, Projection):
        return json.dumps(asdict(value))
    if isinstance(value, tuple):
        return json.dumps(dict(value) if path == "case.options" else value) if value else ""
    return str(value) if isinstance(value, Formulation) else "" if path == "case.projection" else value


def preface(exact: Reference) -> str:
    """End time, and what the errors are measured against."""
    a, end = exact.agreement, f"End time {exact.t_end:g} s."
    if math.isnan(a.largest):
        errors = "Errors are relative (orientation: rad), against a run of your own; how good that is is not known."
    else:
        errors = (
            f"Errors are relative (orientation: rad), against {exact.about},\nwhich agree to {a.position:.1e} in "
            f"positions, {a.orientation:.1e} in orientations and {a.velocity:.1e} in velocities; errors below are\n"
            "shown as <. The summary speaks of the largest of the three."
        )
    return f"{end} {errors}\n{_EXPLAINED}"


def bounded(value: float, agreement: float | None) -> str:
    """An error; below what the reference is good for, that bound."""
    return f"<{agreement:.0e}" if agreement is not None and value < agreement else f"{value:.1e}"


def _lines(found: Comparison) -> list[str]:
    """One line per run that reached the end, under a heading for each formulation, rotation and velocity."""
    rows, agreement = [row for row in found.rows if row.errors is not None], found.reference.agreement
    if not rows:
        return []
    frame = found.frame[[row.errors is not None for row in found.rows]]
    shown = frame[["tolerance"]].copy()
    width = max(len(row.case.method) for row in rows)
    shown["  solver"] = [f"  {row.case.method:{width}}" for row in rows]
    shown["tolerance"] = [f"{row.case.tolerance:.0e}" if row.case.step is None else row.case.at for row in rows]
    shown = shown[["  solver", "tolerance"]]
    for name in ("position", "orientation", "velocity"):
        limit = getattr(agreement, name)
        shown[f"error {name}"] = [bounded(getattr(row.errors, name), limit) for row in rows]
    for name in ("evaluations", "jacobians", "steps", "drift_position", "drift_velocity", "energy"):
        shown[name.replace("_", " ")] = frame[name]
    shown = shown.astype({"jacobians": object}).fillna({"jacobians": "-"})
    for name in ("seconds", "wall_seconds", "timed"):
        shown[name.replace("_seconds", "")] = frame[name]
    forms = {name: "{:.1e}".format for name in ("drift position", "drift velocity", "energy")}
    forms |= dict.fromkeys(("seconds", "wall"), "{:.4f}".format)
    head, *lines = shown.to_string(index=False, na_rep="-", formatters=forms).splitlines()
    out, at = [head], iter(lines)
    for form, of_form in groupby(rows, key=lambda row: row.case.form):
        out += [form, *(next(at) for _ in of_form)]
    return out
