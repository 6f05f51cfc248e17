"""The result of a study: one table as a data frame, text, files, a picture, a page, and in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, final

from rbdae import _check
from rbdae._frozen import notebook
from rbdae.formulations import Formulation
from rbdae.output_files import checked, replacing, write_csv
from rbdae.problem.projection import Projection
from rbdae.study.diagrams import picture, report_comparison
from rbdae.study.one_run import Row
from rbdae.study.published import PUBLISHED, latex
from rbdae.study.ranking import Curve, advice, failures, named, rank, sentences
from rbdae.study.references import Reference
from rbdae.study.stored import packed, unpacked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = "rbdae comparison 2"
_TABLE: Final[dict[str, tuple[str, str, str]]] = {  # the attribute of a row, its type, and its meaning
    "formulation": ("case.formulation", "object", "name, with options that differ from the defaults"),
    "rotation": ("case.rotation", "object", "name"),
    "velocity": ("case.velocity", "object", "name"),
    "solver": ("case.solver", "object", "package:method"),
    "tolerance": ("case.tolerance", "float64", "rtol and atol"),
    "step": ("case.step", "float64", "size of fixed steps, s; empty for methods with step control"),
    "redundant": ("case.redundant", "object", "as given to formulate"),
    "hold": ("case.hold", "object", "as given to formulate, JSON; empty if not given"),
    "projection": ("case.projection", "object", "fields of the Projection, JSON; empty without projection"),
    "options": ("case.options", "object", "the solver's own, JSON; empty without options"),
    "on_singularity": ("case.on_singularity", "object", "as given to solve"),
    "error": ("errors.largest", "float64", "the largest of the three errors below"),
    "error_position": ("errors.position", "float64", "at the end, relative"),
    "error_orientation": ("errors.orientation", "float64", "at the end, rad"),
    "error_velocity": ("errors.velocity", "float64", "at the end, relative"),
    "below_reference": ("", "Int64", "1 if the error is below the reference's accuracy, and only a bound"),
    "energy": ("energy_error", "float64", "largest error of the energy balance over the largest kinetic energy"),
    "drift_position": ("position_drift", "float64", "largest violation of the position constraints, SI units"),
    "drift_velocity": ("velocity_drift", "float64", "largest violation of the velocity constraints, SI units"),
    "seconds": ("stats.seconds", "float64", "processor time of the solver, s"),
    "wall_seconds": ("stats.wall_seconds", "float64", "elapsed time of the solver, s"),
    "timed": ("timed", "Int64", "number of timed runs; both times are their medians"),
    "evaluations": ("stats.evaluations", "Int64", "number of residuals or right-hand sides"),
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
"""Columns of `Comparison.frame` and the meaning of their entries. Results of failed runs and counts that a package does
not report are missing."""

_PRINTED: Final = (
    *("error_position", "error_orientation", "error_velocity", "evaluations", "jacobians", "steps"),
    *("drift_position", "drift_velocity", "energy", "seconds", "wall_seconds", "timed"),
)
_FORMATS: Final = dict.fromkeys(("drift position", "drift velocity", "energy"), "{:.1e}".format) | dict.fromkeys(
    ("seconds", "wall seconds"), "{:.4f}".format
)

_EXPLAINED = """\
Drift is the largest violation of the constraints in SI units; energy is the largest error of its balance relative to
the kinetic energy. Seconds are processor time of the solver, without loading, wall seconds are elapsed time: medians of
timed runs. The work for an error is interpolated between the tolerances."""


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of their cases; printed as a table with a summary.

    Attributes
    ----------
    reference : the reference for the errors
    rows : one for each run
    made : bodies of the mechanism, versions, machine and date by name; empty if put together by hand
    resumed : number of rows taken from the file of an earlier start
    """

    reference: Reference
    rows: tuple[Row, ...]
    made: Mapping[str, str] = field(default_factory=dict)
    resumed: int = 0

    def __str__(self) -> str:
        lines = [preface(self.reference), "", *_table(self), f"{len(self.rows)} runs, {self._failed} failed", ""]
        return "\n".join([*lines, *self._said])

    @property
    def _said(self) -> list[str]:
        ranking, failed = self.ranking(), failures(self.rows)
        reasons = [f"  {len(of)}: {reason} ({named(of)})" for reason, of in failed.items()]
        return [*sentences(ranking), *(["Failed:"] if failed else []), *reasons, *advice(ranking)]

    def _repr_html_(self) -> str:
        table = self.frame[self.frame["failure"] == ""][[*PUBLISHED]].dropna(axis="columns", how="all")
        shown: str = table.to_html(index=False, max_rows=30, na_rep="-")
        return notebook(repr(self), [(each,) for each in self._said]) + shown

    def __repr__(self) -> str:
        return f"Comparison(t_end={self.reference.t_end:g}, {len(self.rows)} runs, {self._failed} failed)"

    @property
    def _failed(self) -> int:
        return sum(bool(row.failure) for row in self.rows)

    @property
    def frame(self) -> Any:
        """The runs as a `pandas.DataFrame` with the columns of `rbdae.study.COLUMNS`; needs pandas."""
        pandas = _check.package("the table", "pandas")
        limit = self.reference.agreement.largest
        columns = {name: [_value(row, path) for row in self.rows] for name, (path, _, _) in _TABLE.items() if path}
        columns["below_reference"] = [None if e is None else int(e < limit) for e in columns["error"]]
        kinds = {name: kind for name, (_, kind, _) in _TABLE.items()}
        return pandas.DataFrame(columns, columns=list(_TABLE), dtype=object).astype(kinds)

    def ranking(self, errors: Iterable[float] | None = None) -> Any:
        """The work of every form and solver for each error, the fastest first: a `pandas.DataFrame` with the columns of
        `rbdae.study.RANKED`. Seconds and evaluations are infinite where no run has so small an error.

        Raises ImportError without pandas, and TypeError or ValueError for errors that are not a list of positive
        numbers.

        Parameters
        ----------
        errors : relative errors of the end state, such as ``[1e-3, 1e-6]``; None for one to three that most runs reach
        """
        return rank(self.rows, errors, self.reference.floor)

    @property
    def orders(self) -> Any:
        """A `pandas.DataFrame` of observed orders: form, solver, and the slope of the error's logarithm over that of
        the step size, or the tolerance, by least squares over runs with errors above the reference's accuracy."""
        return self.ranking([1.0])[["form", "solver", "order"]]

    def plot(
        self,
        curves: Iterable[Curve] | Mapping[str, Iterable[Curve]] | None = None,
        over: Iterable[str] = ("evaluations", "seconds"),
    ) -> Figure:
        """Draw error over evaluations and over seconds, at most ten curves in a panel.

        Raises ImportError without matplotlib, and ValueError if no run reached the end, and for unknown or too many
        curves.

        Parameters
        ----------
        over : a panel for each of ``"evaluations"``, ``"steps"``, ``"seconds"``, ``"tolerance"`` and ``"step"`` (the
            size of fixed steps); with one of the last two the legend has the observed orders
        curves : pairs of form and solver as in `Case.curve`, such as
            ``("index-0, quaternion, angular", "scipy:DOP853")``; None for the best of each formulation. A dict of such
            lists gives a column of panels for each under its heading, with the same colour for a form in all of them
        """
        return picture(self.rows, self.reference, curves, over)

    def report(self, path: str | Path) -> Path:
        """Write one HTML file that opens without a network: a summary, interactive work-precision diagrams, the
        ranking and all runs in tables that can be sorted and filtered, failures by reason, and versions. Its path ends
        with ``.html``, and is returned.

        Raises ImportError without plotly, jinja2 or itables (``pip install plotly jinja2 itables``), and OSError,
        TypeError or ValueError for a path that cannot be written.
        """
        return report_comparison(self, path, preface(self.reference), COLUMNS)

    def to_latex(self, columns: Iterable[str] | None = None, **options: Any) -> str:
        """The runs as a LaTeX table with the rules of booktabs. The best of each tolerance, or step size, is bold, but
        for errors below the reference's accuracy, and times below 5 ms, which are call overhead.

        Parameters
        ----------
        columns : some of `rbdae.study.PUBLISHED`; None for those in which the runs differ
        **options : of pandas' `Styler.to_latex`, such as ``caption`` and ``label``
        """
        whole = self.frame.assign(solver=[row.case.method for row in self.rows])
        return latex(whole, self.reference.floor, columns, **options)

    def to_csv(self, path: str | Path) -> Path:
        """Write `frame` as CSV with a header; returns the path."""
        return write_csv(checked("to_csv: path", path, "results.csv"), self.frame, index=False)

    def to_json(self, path: str | Path) -> Path:
        """Write rows, reference and versions as JSON, for `from_json`; returns the path. Raises ImportError without
        cattrs."""
        target = checked("to_json: path", path, "results.json")
        text = json.dumps({"format": _FORMAT, "columns": COLUMNS, **packed(self)}, indent=1)
        with replacing(target) as new:
            new.write_text(text + "\n", encoding="utf-8")
        return target

    @classmethod
    def from_json(cls, path: str | Path) -> Self:
        """Read a file written by `to_json`. Raises ImportError without cattrs, OSError for a file that cannot be read,
        ValueError for a damaged one or one of another kind."""
        content = checked("from_json: path", path, "results.json").read_bytes()
        try:
            data = json.loads(content)
            if data["format"] != _FORMAT:
                raise ValueError(f"format {data['format']!r}")
            return unpacked(data, cls)
        except ImportError:
            raise
        except Exception as error:  # json, cattrs and our own classes have a dozen kinds for damaged content
            raise ValueError(
                f"{path}: not a comparison written by to_json, or damaged ({str(error)[:300]}); write it again"
            ) from error


def _value(row: Row, path: str) -> Any:
    """An entry of the table; None if it is not finite or missing from the run."""
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
    """Sentences on the end time and the reference for the errors."""
    a, end = exact.agreement, f"End time {exact.t_end:g} s."
    if math.isnan(a.largest):
        errors = "Errors are relative (orientation: rad), against your own run, whose accuracy is not known."
    else:
        errors = (
            f"Errors are relative (orientation: rad), against {exact.about},\nwhich agree to {a.position:.1e} in "
            f"positions, {a.orientation:.1e} in orientations and {a.velocity:.1e} in velocities; errors below are\n"
            "shown as <. The summary uses the largest of the three."
        )
    return f"{end} {errors}\n{_EXPLAINED}"


def _table(found: Comparison) -> list[str]:
    """Lines of the runs that reached the end, under a heading for each formulation, rotation and velocity."""
    rows = [row for row in found.rows if row.errors is not None]
    if not rows:
        return []
    frame = found.frame[[row.errors is not None for row in found.rows]]
    shown = frame[list(_PRINTED)].astype({"jacobians": object}).fillna({"jacobians": "-"})
    for name in ("position", "orientation", "velocity"):
        limit = getattr(found.reference.agreement, name)
        shown[f"error_{name}"] = [f"<{limit:.0e}" if e < limit else f"{e:.1e}" for e in frame[f"error_{name}"]]
    width = max(len(row.case.method) for row in rows)
    shown.insert(0, "  solver", [f"  {row.case.method:{width}}" for row in rows])
    shown.insert(1, "tolerance", [row.case.at for row in rows])
    shown = shown.rename(columns=lambda name: name.replace("_", " "))
    head, *lines = shown.to_string(index=False, na_rep="-", formatters=_FORMATS).splitlines()
    out, at = [head], iter(lines)
    for form, of_form in groupby(rows, key=lambda row: row.case.form):
        out += [form, *(next(at) for _ in of_form)]
    return out
