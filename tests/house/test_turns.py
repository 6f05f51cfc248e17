"""What the usual run leaves to the long one: combinations, and nothing else (tests/support/codes.py)."""

from __future__ import annotations

from collections import Counter, defaultdict
from types import SimpleNamespace
from typing import Any

import codes
import pytest
import samples
from cases import ALL_PAIRINGS, Pairing

LEAST = 5
"""So many test functions, at least, meet a pairing."""


def _item(name: str, **params: Any) -> Any:
    indices = {key: value if isinstance(value, int) else 0 for key, value in params.items()}
    return SimpleNamespace(nodeid=name, callspec=SimpleNamespace(params=params, indices=indices))


def test_nothing_but_combinations_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "MET", 0)
    forms, charts = ("index-0", "index-1", "index-2"), ("quaternion", "directors", "linear")
    cases = {f"f[{k}]": (Pairing(form, chart, "angular"), solver) for k, (form, chart, solver) in enumerate(
        (form, chart, solver) for form in forms for chart in charts for solver in ("a", "b")
    )}  # fmt: skip
    late = codes.combinations([_item(name, pairing=p, solver=s) for name, (p, s) in cases.items()])
    kept = [case for name, case in cases.items() if name not in late]
    assert 3 <= len(kept) < len(cases) // 2
    assert {p.formulation for p, _ in kept} == set(forms)
    assert {p.rotation for p, _ in kept} == set(charts)
    assert {s for _, s in kept} == {"a", "b"}


def test_a_pairing_that_few_functions_have_is_not_left_out() -> None:
    pairings = [Pairing(form, chart, "angular") for form in "abc" for chart in "xyz"]
    items = [_item(f"f{f}[{k}]", pairing=p) for f in range(codes.MET + 3) for k, p in enumerate(pairings)]
    late = codes.combinations(items)
    for k in range(len(pairings)):
        assert codes.MET <= sum(f"f{f}[{k}]" not in late for f in range(codes.MET + 3)) <= codes.MET + 3
    assert late


def test_what_cannot_be_compared_is_not_left_out() -> None:
    items = [_item(f"f[{k}]", what=object()) for k in range(12)]
    for k, item in enumerate(items):
        item.callspec.indices["what"] = k
    assert codes.combinations(items) == set()


def test_few_cases_are_all_taken() -> None:
    assert codes.combinations([_item(f"f[{k}]", a="same") for k in range(codes.ALL - 1)]) == set()
    assert len(codes.combinations([_item(f"f[{k}]", a="same") for k in range(codes.ALL)])) == codes.ALL - 1


@pytest.mark.slow  # protects the sample of all laws of pairings; needs the collection of the whole suite
def test_every_pairing_is_met(request: pytest.FixtureRequest) -> None:
    functions: dict[Pairing, set[str]] = defaultdict(set)
    for item in request.session.items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            for value in item.callspec.params.values():
                if isinstance(value, Pairing):
                    functions[value].add(item.nodeid.partition("[")[0])
    if len(set().union(*functions.values(), ())) < 40:
        pytest.skip("only a part of the suite is run")
    wanted = [p for p in ALL_PAIRINGS if samples.LONG or p in functions]
    few = Counter({p: len(functions[p]) for p in wanted if len(functions[p]) < LEAST})
    assert not few, f"hardly any test meets {few}"
    assert len(wanted) > 0.95 * len(ALL_PAIRINGS)


def test_what_is_long_stands_for_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever case is left to the long run by its mark, one of the others is run; with users' code, too."""
    monkeypatch.setattr(samples, "LONG", False)
    for mark in ("", "users"):
        for late in range(codes.ALL + 1):
            items = [_item(f"f[{k}]", a="same") for k in range(codes.ALL + 1)]
            for k, item in enumerate(items):
                item.get_closest_marker = {"long": k == late or None, mark: True}.get
            found = codes.assigned(items)
            kept = [k for k in range(codes.ALL + 1) if k != late and found.get(f"f[{k}]") != "long"]
            assert len(kept) == 1
