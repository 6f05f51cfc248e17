"""The ranking: by errors that were reached, whatever the tolerances were; and what a study says in words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from rbdae.adapter import Stats
from rbdae.study import COLUMNS, RANKED, Case, Comparison, Errors, FinalState, Reference, Row


def made_up(*rows: Row, agreement: float = 1e-12) -> Comparison:
    state = FinalState(np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), np.zeros((1, 3)), np.zeros((1, 3)))
    return Comparison(Reference(1.0, (state, state), Errors(agreement, agreement, agreement)), rows)


def row(form: str, tolerance: float, error: float, seconds: float, evaluations: int, **more) -> Row:
    case = Case(form, "quaternion", "angular", "scipy:RK45", tolerance)
    values = {"position_drift": 1e-9, "velocity_drift": 0.0, "energy_error": 1e-7} | more
    return Row(case, Errors(error, 0.0, 0.0), stats=Stats(evaluations=evaluations, steps=5, seconds=seconds), **values)


def failed(form: str, tolerance: float, t: float) -> Row:
    case = Case(form, "quaternion", "angular", "scipy:RK45", tolerance)
    nan = math.nan
    return Row(case, None, nan, nan, nan, Stats(), f"stopped at t = {t:g}: the step became too small", "too small")


def test_work_is_interpolated_between_the_errors_that_were_reached():
    found = made_up(
        # tolerance and error have nothing to do with each other
        row("index-0", 1e-3, 1e-2, 1.0, 100),
        row("index-0", 1e-5, 1e-6, 4.0, 1600),
        row("null-space", 1e-3, 1e-4, 3.0, 200),
    )
    first, second = found.ranking([1e-4]).itertuples()
    # halfway between 1e-2 and 1e-6 in logarithms
    assert first.form.startswith("index-0") and math.isclose(first.seconds, 2.0)
    assert math.isclose(first.evaluations, 400.0) and math.isclose(second.seconds, 3.0)
    reached, beyond = found.ranking([1e-5]).itertuples()
    assert reached.form == "index-0, quaternion, angular" and reached.tolerance == 1e-5
    assert beyond.form == "null-space, quaternion, angular" and beyond.seconds == beyond.evaluations == math.inf
    assert {*found.ranking()} == {*RANKED}


def test_the_words_name_the_best_and_say_what_failed():
    found = made_up(
        row("index-0", 1e-6, 1e-6, 2.0, 100, energy_error=1e-3),
        row("null-space", 1e-6, 1e-6, 1.0, 200, position_drift=1e-5),
        *(failed("index-3", 10.0**-k, 0.1 * k) for k in range(3, 8)),
        failed("index-2", 1e-3, 0.1),
    )
    *words, last = str(found).splitlines()[-4:]
    assert last.startswith("Take null-space, quaternion, angular with scipy:RK45 at a tolerance of 1e-06: an error of")
    assert "in the least time (1 s)" in last and all(line in found._repr_html_() for line in (words[0], last))
    assert "the fastest is null-space, quaternion, angular with scipy:RK45 (1 s)" in words[0]
    assert "the fewest evaluations has index-0, quaternion, angular" in words[0]
    # one reason, one line, with a count and the runs
    assert words[2].startswith("  6: too small (") and str(found).count("too small") == 1
    assert "index-3, quaternion, angular: scipy:RK45 at 1e-03, 1e-04, 1e-05, 1e-06, 1e-07" in words[2]
    assert "8 runs, 6 failed" in str(found)


def test_short_runs_have_call_overhead_in_place_of_a_winner():
    found = made_up(row("index-0", 1e-6, 1e-6, 1e-3, 100), row("null-space", 1e-6, 1e-6, 2e-3, 90))
    *_, words, last = str(found).splitlines()
    assert "the fastest" not in words and "(2 take less than 5 ms: call overhead)" in words
    assert last.startswith("Take null-space, ") and "the fewest evaluations (90; " in last


def test_the_order_is_the_slope_of_errors_above_those_of_the_reference():
    rows = [(row("index-0", 1e-6, max(5.0 * h**2, 3e-7), 1.0, 100), h) for h in (1e-2, 1e-3, 1e-4)]
    found = made_up(*(replace(each, case=replace(each.case, step=h)) for each, h in rows), agreement=5e-7)
    (line,) = found.orders.itertuples()
    assert math.isclose(line.order, 2.0, rel_tol=1e-9) and found.ranking()["order"].tolist()[0] == line.order
    pytest.importorskip("matplotlib")
    figure = found.plot(over=["step", "steps"])
    assert [axis.get_xlabel() for axis in figure.axes] == ["step size [s]", "steps"]
    assert figure.axes[0].lines[0].get_label().endswith("(order 2.00)")
    np.testing.assert_allclose(figure.axes[0].lines[0].get_xdata(), [1e-2, 1e-3, 1e-4])
    with pytest.raises(ValueError, match="no run reached the end with tolerance"):
        found.plot(over=["tolerance"])


def test_a_table_for_a_paper_has_units_and_marks_the_best_of_each_tolerance():
    pytest.importorskip("jinja2")
    found = made_up(
        row("index-0", 1e-6, 2e-6, 4e-3, 100),
        row("null-space", 1e-6, 1e-13, 6e-3, 90),
        row("index-0", 1e-8, 2e-8, 6e-2, 400),
        row("null-space", 1e-8, 3e-8, 5e-2, 500),
        failed("index-3", 1e-8, 0.1),
    )
    head, *lines = [line for line in found.to_latex(caption="x").splitlines() if line.endswith(r"\\")]
    assert [cell.strip(" \\") for cell in head.split(" & ")] == [
        *("formulation", "tolerance", "steps", "error", "evaluations", "drift [SI]", "energy", "time [ms]")
    ]
    assert r"& $2.0 \cdot 10^{-6}$ & $100$ &" in lines[0] and lines[0].endswith(r"& $4$ \\")  # 4 ms are call overhead
    assert r"& $<10^{-12}$ & {\boldmath $90$}" in lines[1] and lines[1].endswith(r"& $6$ \\")
    assert r"{\boldmath $2.0 \cdot 10^{-8}$} & {\boldmath $400$}" in lines[2]
    assert lines[3].endswith(r"{\boldmath $50$} \\") and lines[4].count("--") == 6
    with pytest.raises(ValueError, match="unknown column 'spede'"):
        found.to_latex(["spede"])


def test_errors_below_those_of_the_reference_are_bounds():
    found = made_up(row("index-0", 1e-8, 1e-12, 1.0, 10), row("index-0", 1e-4, 1e-5, 1.0, 5), agreement=1e-11)
    lines = [line for line in str(found).splitlines() if line.startswith("  scipy")]
    assert lines[0].split()[2] == "<1e-11" and lines[1].split()[2] == "1.0e-05"
    assert found.frame["below_reference"].tolist() == [1, 0]


def test_a_comparison_survives_files(tmp_path):
    pandas = pytest.importorskip("pandas")
    found = made_up(row("index-0", 1e-6, 1e-6, 2.0, 100), failed("index-3", 1e-3, 0.1))
    read = Comparison.from_json(found.to_json(tmp_path / "c.json"))
    assert read.frame.equals(found.frame)
    assert read.rows[0] == found.rows[0] and read.rows[1].failure == found.rows[1].failure
    table = pandas.read_csv(found.to_csv(tmp_path / "c.csv"))
    assert list(table.columns) == list(COLUMNS) and table["error"][0] == 1e-6
    assert found.frame["seconds"].tolist()[0] == 2.0
    (tmp_path / "c.json").write_text((tmp_path / "c.json").read_text()[:-40])
    with pytest.raises(ValueError, match=r"c\.json: not a comparison written by to_json, or damaged"):
        Comparison.from_json(tmp_path / "c.json")


def test_a_picture_has_at_most_ten_curves_that_can_be_told_apart():
    pytest.importorskip("matplotlib")
    forms = [f"form-{k}" for k in range(14)]
    found = made_up(
        *(row(f, t, 10 * t, 1.0 + k, 100 + k) for k, f in enumerate(forms) for t in (1e-3, 1e-5)),
        failed("index-3", 1e-3, 0.1),
    )
    figure = found.plot()
    for axis in figure.axes:
        looks = [(line.get_color(), line.get_marker()) for line in axis.lines]
        assert len(axis.lines) == len(set(looks)) == 10
        assert len({color for color, _ in looks}) == len({marker for _, marker in looks}) == 10
    said = figure.get_supxlabel()
    assert "1 of 29 runs failed" in said and "4 more curves" in said
    chosen = [("form-13, quaternion, angular", "scipy:RK45")]
    assert [line.get_label() for line in found.plot(chosen).axes[0].lines] == [
        "form-13, quaternion, angular: scipy:RK45"
    ]
    with pytest.raises(ValueError, match="there is no curve"):
        found.plot([("form-14", "scipy:RK45")])
    with pytest.raises(ValueError, match="1 to 10 pairs, got 14"):
        found.plot([(f"{form}, quaternion, angular", "scipy:RK45") for form in forms])
