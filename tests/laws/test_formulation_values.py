"""Formulations as values: each has the options that it has, and names and keywords mean the same values."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, fields, replace
from typing import Any

import cases
import numpy as np
import pytest

import rbdae
from rbdae import formulations
from rbdae.formulations import (
    FORMULATIONS,
    Baumgarte,
    BaumgarteODE,
    Formulation,
    Hamiltonian,
    Index0,
    Index1,
    Index2,
    NullSpace,
    NullSpaceGGL,
)

VALUES: list[Formulation] = [
    *FORMULATIONS.values(),
    Baumgarte(alpha=3.0, beta=25.0),
    BaumgarteODE(alpha=0.0, gyroscopic="fifth-order"),
    Hamiltonian(constraint="both", director_constraints="columns"),
    Index2(radial_inertia="half-trace", pull_back="moment"),
    Index0(norm="unit"),
    NullSpace(director_constraints="columns"),
    NullSpaceGGL(correction="value"),
]
values = pytest.mark.parametrize("value", VALUES, ids=str)


@values
def test_values_are_values(value: Formulation):
    again = eval(repr(value), vars(formulations))
    for twin in (again, copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value)), replace(value)):
        assert twin == value and hash(twin) == hash(value) and twin.name == value.name
        assert twin.kernels is value.kernels
    assert all(name in repr(value) for name in value.options)
    assert len({*VALUES}) == len(VALUES)
    for option in fields(value):
        with pytest.raises(FrozenInstanceError):
            setattr(value, option.name, None)
    assert value.parameters == {k: v for k, v in value.options.items() if k in ("alpha", "beta")}


KEYWORDS: list[tuple[Formulation, str, dict[str, Any], dict[str, Any]]] = [
    (Index2(), "index-2", {}, {}),
    (Baumgarte(alpha=3.0, beta=25.0), "baumgarte", {"alpha": 3, "beta": np.float64(25.0)}, {}),
    (BaumgarteODE(beta=2.0), "baumgarte-ode", {"beta": 2.0}, {}),
    (Hamiltonian(constraint="momentum"), "hamiltonian", {"constraint": "momentum"}, {}),
    (Hamiltonian(constraint="both"), "hamiltonian-ggl", {}, {}),
    (
        Index1(radial_inertia="half-trace", gyroscopic="fifth-order", pull_back="moment"),
        "index-1",
        {"radial_inertia": "half-trace", "gyroscopic": "fifth-order", "pull_back": "moment"},
        {"velocity": "coordinate"},
    ),
    (Index0(norm="unit"), "index-0", {"norm": "unit"}, {"velocity": "coordinate"}),
    (
        Index0(director_constraints="columns"),
        "ind0",
        {"director_constraints": "columns"},
        {"rotation": "directors", "velocity": "coordinate"},
    ),
]


@pytest.mark.parametrize("value, name, options, more", KEYWORDS, ids=lambda x: str(x) if isinstance(x, str) else "")
def test_names_and_keywords_mean_values(value, name, options, more, rng):
    system = cases.linked_bodies()
    one, other = rbdae.formulate(system, value, **more), rbdae.formulate(system, name, **options, **more)
    y, yd = one.y0 + 0.1 * rng.standard_normal(one.n), rng.standard_normal(one.n)
    np.testing.assert_array_equal(one.residual(0.0, y, yd), other.residual(0.0, y, yd))
    assert one.labels == other.labels and one.formulation == other.formulation == value.name
    if options:
        plain = rbdae.formulate(system, name, **more)
        if plain.n == one.n:
            assert np.abs(plain.residual(0.0, y, yd) - one.residual(0.0, y, yd)).max() > 1e-3


@pytest.mark.parametrize(
    "formulation, options, words",
    [
        (Baumgarte(alpha=3.0), {"alpha": 4.0}, r"alpha=4\.0 .* alpha=3\.0 by Baumgarte\("),
        (Baumgarte(alpha=2.0), {"beta": 4.0}, r"beta=4\.0 .* give one of them"),
        ("hamiltonian-ggl", {"constraint": "momentum"}, "constraint='both' by 'hamiltonian-ggl'; give one of them"),
        (NullSpace(), {"radial_inertia": "half-trace"}, "belongs to .* 'index-3', .*, not to 'null-space'"),
        (Index2(gyroscopic="fifth-order"), {}, "gyroscopic='fifth-order' is a choice .*velocity='coordinate'"),
        (Index2(director_constraints="columns"), {}, "is for rotation='directors', not for 'quaternion'"),
        (Index2, {}, r"the class Index2; pass Index2\(\)"),
        ("index-2", {"wheels": 4}, "wheels=4"),
    ],
    ids=str,
)
def test_what_contradicts_is_refused(formulation, options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        rbdae.formulate(cases.heavy_top(), formulation, **options)


# ---------------------------------------------------------------- parameters belong to one formulation


@dataclass(frozen=True, kw_only=True)
class Weighed(formulations.WithMultipliers, name="weighed", index=1, levels=(2,)):
    """Index 1 with a parameter that no kernel reads."""

    source = "none"
    weight: float = 7.0
    other: float = -3.0


def test_kernels_read_the_parameters_of_their_own_formulation(rng):
    """Those of Baumgarte's form are compiled, and shared: they leave the first two numbers of another one alone."""
    system = cases.linked_bodies()
    stabilised = rbdae.formulate(system, "baumgarte")
    y, yd = stabilised.y0 + 0.1 * rng.standard_normal(stabilised.n), rng.standard_normal(stabilised.n)
    stabilised.residual(0.0, y, yd), stabilised.jacobian(0.0, y, yd, 0.7)
    own, plain = (rbdae.formulate(system, form) for form in (Weighed(), Index1()))
    np.testing.assert_array_equal(own.residual(0.0, y, yd), plain.residual(0.0, y, yd))
    np.testing.assert_array_equal(own.jacobian(0.0, y, yd, 0.7), plain.jacobian(0.0, y, yd, 0.7))


def test_code_of_one_value_is_not_that_of_another(rng):
    """In memory and on disk."""
    system = cases.linked_bodies()
    for form in (Baumgarte(alpha=3.0, beta=25.0), Baumgarte(alpha=4.0, beta=25.0), Index1(), Weighed()):
        found, wanted = (cases.formulated(system, form, code=code) for code in ("auto", "plain"))
        y, yd = wanted.y0 + 0.1 * rng.standard_normal(wanted.n), rng.standard_normal(wanted.n)
        residual = wanted.residual(0.0, y, yd)
        np.testing.assert_allclose(found.residual(0.0, y, yd), residual, rtol=0, atol=1e-12 * np.abs(residual).max())


# ---------------------------------------------------------------- studies


def test_a_study_takes_values_and_remembers_them(tmp_path):
    system = rbdae.models.heavy_top()
    forms = [Baumgarte(alpha=5.0, pull_back="moment"), "baumgarte", Baumgarte(), BaumgarteODE(beta=2.0)]
    chosen = {"rotations": ["quaternion"], "velocities": ["angular", "coordinate"], "tolerances": [1e-4]}
    cases_ = rbdae.study.cases(forms, solvers=["sksundae:ida"], **chosen)
    first = "baumgarte (pull_back='moment'; alpha=5.0)"
    assert [case.form for case in cases_] == [
        "baumgarte, quaternion, angular",
        "baumgarte, quaternion, coordinate",
        f"{first}, quaternion, coordinate",  # a choice of quaternion rates
        "baumgarte-ode (beta=2.0), quaternion, angular",
        "baumgarte-ode (beta=2.0), quaternion, coordinate",
    ]
    path = tmp_path / "runs.jsonl"
    options = {"solvers": ["scipy:RK45"], "resume": path, **chosen}
    found = rbdae.compare(system, 0.05, formulations=[BaumgarteODE(beta=2.0), "baumgarte-ode"], **options)
    labels = ["baumgarte-ode", "baumgarte-ode (beta=2.0)"]
    assert sorted({*found.frame["formulation"]}) == labels
    assert [row.failure for row in found.rows] == [""] * 4
    again = rbdae.compare(system, 0.05, formulations=[BaumgarteODE(beta=2.0), "baumgarte-ode"], **options)
    assert [row.case for row in again.rows] == [row.case for row in found.rows]
    assert [row.stats.seconds for row in again.rows] == [row.stats.seconds for row in found.rows]


@values
def test_records_name_the_options(value: Formulation):
    assert formulations.table.written(str(value)) == value
