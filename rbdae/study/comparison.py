"""The result of a study: one table, as a data frame, text, files, a picture, a page, and in words."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, final

from rbdae._files import checked, harmless, replacing
from rbdae.study.diagrams import picture
from rbdae.study.one_run import Row
from rbdae.study.provenance import Provenance
from rbdae.study.ranking import Curve, Ranking, rank
from rbdae.study.references import Reference
from rbdae.study.stored import packed, signed, unpacked, verified
from rbdae.study.table import COLUMNS, Record, record, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT = "rbdae comparison 1"


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Rows in the order of their cases; prints as a table that ends with the ranking in words.

    Attributes
    ----------
    reference : what the errors are measured against
    rows : one for each run
    provenance : mechanism, versions, machine and date; None for one that was put together by hand
    resumed : how many rows were taken from the file of an earlier start
    """

    reference: Reference
    rows: tuple[Row, ...]
    provenance: Provenance | None = None
    resumed: int = 0

    def __str__(self) -> str:
        return f"{text(self.rows, self.reference)}\n\n{self.ranking()}"

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
            raise ImportError("the table needs pandas: run `pip install pandas`, or use records()") from None
        out = pandas.DataFrame(self.records(), columns=list(COLUMNS))
        # integers though some are missing, and numbers though all are
        kinds = {name: "Int64" for name, about in COLUMNS.items() if about.startswith(("number", "1 if"))}
        floats = dict.fromkeys(("step", "error", "error_quantity", "energy", "given_up_after"), "float64")
        return out.astype(kinds | floats | {"evaluations": "Int64"})

    def to_pandas(self) -> Any:
        """The same as `frame`."""
        return self.frame

    def records(self) -> list[Record]:
        """One flat dict for each row, with the columns of `rbdae.study.COLUMNS`."""
        return [record(row, self.reference) for row in self.rows]

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
        from rbdae.study.page import report_comparison

        return report_comparison(self.rows, self.reference, self.provenance, self.resumed, path)

    def to_csv(self, path: str | Path) -> Path:
        """Write `frame` as CSV, with a line of names; returns the path. A text that a spreadsheet would evaluate has an
        apostrophe before it."""
        target = checked("to_csv: path", path, "results.csv")
        frame = self.frame.map(harmless)
        with replacing(target) as new:
            frame.to_csv(new, index=False, errors="backslashreplace")
        return target

    def to_json(self, path: str | Path) -> Path:
        """Write rows, reference and provenance as JSON, for `from_json`; returns the path.

        Raises
        ------
        ImportError
            without cattrs
        """
        content = {"format": _FORMAT, "columns": COLUMNS, **packed(self)}
        target = checked("to_json: path", path, "results.json")
        text = json.dumps(signed(content), indent=1)
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
            return unpacked(verified(content, _FORMAT), cls)
        except ImportError:
            raise
        except Exception as error:  # json, cattrs and our own classes have a dozen kinds for damaged content
            raise ValueError(
                f"{path}: it is no comparison that to_json wrote, or it is damaged ({str(error)[:300]}); write it again"
            ) from error
