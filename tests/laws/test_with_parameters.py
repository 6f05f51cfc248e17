"""Numbers of a model as inputs of its code: other numbers, the same code, and the results of a model of their own."""

from __future__ import annotations

import gc
import itertools
import weakref
from functools import partial

import cases
import inside
import numpy as np
import pytest
from cases import Pairing

import rbdae

FORMS = (
    Pairing("index-0", "quaternion", "angular"),
    Pairing("index-2", "quaternion", "angular"),
    Pairing("null-space", "quaternion", "angular"),
    Pairing("hamiltonian", "quaternion", "momentum"),
    Pairing("ggl", "directors", "coordinate"),
)

SYSTEMS = {**cases.SYSTEMS, "driven": rbdae.models.driven_pendulum, "governor": rbdae.models.flyball_governor}

TURNS = [(name, FORMS[(k + j) % len(FORMS)]) for k, name in enumerate(SYSTEMS) for j in (0, 2)]
"""Each mechanism in two forms, each form with five mechanisms; the second form of each is for the night."""

LARGE = [[*SYSTEMS].index(name) for name in ("branched", "mixed", "tied", "floating", "loop")]
"""Those for the night altogether: each form has another mechanism."""

STARTS = ("index-0", "index-1", "null-space", "hamiltonian", "hamiltonian-eliminated")


def evaluated(problem, y):
    """What code of the model computes at a state."""
    yd, t = np.cos(np.arange(problem.n)), problem.t0 + 0.1
    out = {"residual": problem.residual(t, y, yd), "jacobian": problem.jacobian(t, y, yd, 1.3)}
    if problem.kind == "ode":
        out |= {"rhs": problem.rhs(t, y), "rhs_jacobian": problem.rhs_jacobian(t, y)}
    energy = problem.energy(t, y)
    return out | {"energy": np.array([energy.kinetic, energy.potential])}


def same(found, expected, level=1e-11):
    for name, value in expected.items():
        scale = np.abs(value).max() + 1e-30
        np.testing.assert_allclose(found[name], value, rtol=0.0, atol=level * scale, err_msg=name)


def changes(problem, rng, n=4):
    """Some numbers, a little larger, that stay what they are for the structure."""
    names = [
        name
        for name, value in problem.parameters.items()
        if value not in (0.0, 1.0, -1.0) and name.partition(".")[2] in ("mass", "stiffness", "damping", "coefficient")
    ]
    chosen = rng.permutation(names)[:n]
    return {str(name): problem.parameters[name] * (1.0 + 0.1 * rng.random()) for name in chosen}


@pytest.mark.parametrize(
    "mechanism, pairing",
    [
        pytest.param(*turn, marks=[pytest.mark.nightly] * (k % 2 == 1 or k // 2 in LARGE))
        for k, turn in enumerate(TURNS)
    ],
    ids=lambda x: x if isinstance(x, str) else x.formulation,
)
def test_open_code_with_other_numbers_is_that_of_a_model_of_its_own(mechanism, pairing, rng):
    system = SYSTEMS[mechanism]()
    try:
        first = cases.formulate(system, pairing)
    except (ValueError, rbdae.ProjectionError) as error:
        pytest.skip(str(error)[:80])
    evaluated(first, first.y0)  # recorded with the first numbers
    values = changes(first, rng)
    other = first.with_parameters(values)
    assert all(other.parameters[name] == value for name, value in values.items())
    expected = cases.formulate(other.system, pairing, code="plain")
    y = other.y0 + 1e-3 * rng.standard_normal(other.n)
    start = expected.y0[expected.differential]  # the given values of some mechanisms are rough: they are assembled
    np.testing.assert_allclose(
        other.y0[expected.differential], start, rtol=0.0, atol=1e-6 * (1.0 + np.abs(start).max())
    )
    same(evaluated(other, y), evaluated(expected, y))
    y1 = first.y0 + 1e-3 * rng.standard_normal(first.n)  # and the first problem has its own numbers still
    same(evaluated(first, y1), evaluated(cases.formulate(system, pairing, code="plain"), y1))


@pytest.mark.parametrize("form", ["index-0", "index-2", "null-space", "hamiltonian"])
def test_nothing_is_recorded_for_further_numbers(form, monkeypatch):
    problem = rbdae.formulate(rbdae.models.linked_bodies(), form)
    rng = np.random.default_rng(3)

    def one():
        masses = {"first.mass": 10.0 + rng.random(), "second.mass": 20.0 + rng.random()}
        return problem.with_parameters(masses | {"bushing-1.stiffness": 1e4 + 100.0 * rng.random()})

    evaluated(one(), problem.y0)

    def refuse():
        raise AssertionError("something is compiled")

    inside.before_compilation(monkeypatch, 0, refuse)
    for _ in range(3):
        found = evaluated(one(), problem.y0)
    assert np.isfinite(found["residual"]).all()


@pytest.mark.parametrize("form", ["index-0", "index-2", "null-space", "hamiltonian"])
def test_a_new_process_records_nothing_of_a_known_structure(form, monkeypatch):
    """Code and pattern are found on disk by the structure alone, for these numbers and for others."""

    def system(mass):
        problem = cases.formulated(rbdae.models.chain(3), "index-0", code="plain")
        return problem.with_parameters({f"{body.name}.mass": mass for body in problem.system.bodies}).system

    problem = rbdae.formulate(system(1.25), form)
    wanted = evaluated(problem, problem.y0)
    inside.forget_code(monkeypatch)
    inside.record_nothing(monkeypatch)
    again = rbdae.formulate(system(1.25), form)
    for name, value in evaluated(again, again.y0).items():
        np.testing.assert_array_equal(value, wanted[name], err_msg=name)
    other = rbdae.formulate(system(1.75), form)  # equal ones are equal here, too
    assert np.isfinite(evaluated(other, other.y0)["residual"]).all()


def test_code_does_not_depend_on_the_model_that_asked_first(monkeypatch):
    """A structure's code has the pivots that its first model needs. A model that needs others has code of its own: the
    same bits as without the first."""
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), "null-space")
    for crank, one, two in (
        (-0.057, -0.549, 0.35),
        (0.611, 0.025, 3.708),
        (0.293, 2.468, -1.175),
        (-0.093, 0.595, -1.4),
    ):
        points = {"crank pin.at_a.x": crank, "springdamper-1.at_a.x": one, "springdamper-1.at_b.x": two}
        other = problem.with_parameters(points)
        after = other.rhs(other.t0, other.y0)
        with monkeypatch.context() as patch:
            inside.forget_code(patch, on_disk=False)
            alone = rbdae.formulate(other.system, "null-space", consistent="project")
            np.testing.assert_array_equal(after, alone.rhs(alone.t0, other.y0))


@pytest.mark.parametrize("k, mechanism", list(enumerate(SYSTEMS)))
def test_masses_that_take_no_search_give_the_same_start(k, mechanism):
    """As a search gives, whether the start is kept or not; reports, too."""
    form = STARTS[k % len(STARTS)]
    velocity = "momentum" if form.startswith("hamiltonian") else "angular"
    try:
        first = cases.formulate(SYSTEMS[mechanism](), Pairing(form, "quaternion", velocity))
    except (ValueError, rbdae.ProjectionError) as error:
        pytest.skip(str(error)[:80])
    names = [name for name, x in first.parameters.items() if name.endswith(".mass") and x not in (0.0, 1.0)]
    if not names:
        pytest.skip("no mass that may change")
    other = first.with_parameters({name: 1.25 * first.parameters[name] for name in names} | {"gravity.y": 0.5})
    searched = cases.formulate(other.system, Pairing(form, "quaternion", velocity))
    for one, two in ((other.y0, searched.y0), (other.yd0, searched.yd0)):
        np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-9 * (1.0 + np.abs(two).max()))
    assert str(other.assembly) == str(searched.assembly)


@pytest.mark.parametrize("form", ["index-0", "index-2", "hamiltonian", "ggl"])
@pytest.mark.parametrize("mechanism", ["A", "chain"])
def test_arrays_are_those_of_a_model_of_its_own(mechanism, form):
    """Masses and inertias of bodies, free ones and those with a pivot, in two steps."""
    rotation = "directors" if form == "ggl" else "quaternion"
    problem = rbdae.formulate(
        (SYSTEMS | {"chain": partial(rbdae.models.chain, 4)})[mechanism](), form, rotation=rotation
    )
    first, last = problem.system.bodies[0].name, problem.system.bodies[-1].name
    numbers = problem.parameters
    steps = (
        {f"{first}.mass": 1.1 * numbers[f"{first}.mass"], f"{first}.inertia.xx": 1.01 * numbers[f"{first}.inertia.xx"]},
        {f"{first}.mass": 1.2 * numbers[f"{first}.mass"], f"{last}.inertia.zz": 0.99 * numbers[f"{last}.inertia.zz"]},
    )
    other = problem.with_parameters(steps[0]).with_parameters(steps[1])
    assert other.system.bodies[0].mass == steps[1][f"{first}.mass"]
    own = cases.formulated(other.system, form, rotation=rotation, code="plain")
    for name in inside.RECORDS:
        found, wanted = other.workspace.arrays[name], own.workspace.arrays[name]
        assert found.tobytes() == wanted.tobytes() or name == "states", name
        assert name != "states" or all(np.array_equal(found[k], wanted[k]) for k in ("x", "B"))
    ours, theirs = other.model.scales, own.model.scales
    for name in ("length", "reach", "mass", "rate", "factors", "lengths", "turning"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
    np.testing.assert_array_equal(other.workspace.memory.metric.scale, own.workspace.memory.metric.scale)


def test_a_run_keeps_no_problem_before_it():
    def run(problem, k):
        out = problem.with_parameters({"first.mass": 10.01 + 0.1 * k, "second.inertia.xx": 41.01 + 0.1 * k})
        assert rbdae.solve(out, (0.0, 0.05), solver="rbdae:dop853").success
        return out

    here, before = run(rbdae.formulate(rbdae.models.linked_bodies(), "index-0"), 0), []
    for k in range(1, 4):
        here = run(here, k)
        before.append(weakref.ref(here))
    gc.collect()
    assert [ref() for ref in before if ref() is not None] == [here]
    assert here.model.bodies["mass"][0] == here.parameters["first.mass"] == 10.01 + 0.1 * 3


def test_numbers_are_loaded_once_where_they_are_equal_by_structure(rng):
    """Within a field of a record, but for their signs, or in all records; not 0, 1, -1, and not what is no number."""
    dtype = np.dtype([("kind", "i8"), ("mass", "f8"), ("inertia", "f8", (2, 2)), ("arm", "f8", (3,))])
    fields = np.repeat([0, 1, 2], [1, 4, 3])
    for _ in range(cases.count(100, 5_000)):
        records = np.zeros(int(rng.integers(2, 4)), dtype)
        for name in ("mass", "inertia", "arm"):
            few = [0.0, 1.0, -1.0, 2.0, -2.0, 3.0, np.nan, np.inf] if rng.random() < 0.5 else [2.0, 3.0, 4.0, 5.0]
            records[name] = rng.choice(few, records[name].shape)
        numbers = np.column_stack([records[name].reshape(len(records), -1) for name in ("mass", "inertia", "arm")])
        found = inside.OpenNumbers({"bodies": records})
        part = found.parts["bodies"]
        loaded = part.places != 0
        np.testing.assert_array_equal(loaded, ~np.isin(np.abs(numbers), (0.0, 1.0)) & ~np.isnan(numbers))
        values = np.append(part.values, 0.0)[np.abs(part.places) - 1] * np.sign(part.places)
        np.testing.assert_array_equal(np.where(loaded, values, part.constants), numbers)
        several = loaded.sum(axis=0) > 1
        same = several & [len(set(np.abs(column[of]))) == 1 for column, of in zip(numbers.T, loaded.T, strict=True)]
        for (i, j), (k, m) in itertools.combinations(np.argwhere(loaded).tolist(), 2):
            group = (same[j] and same[m]) or (not same[j] and not same[m] and i == k and fields[j] == fields[m])
            equal = bool(group and abs(numbers[i, j]) == abs(numbers[k, m]))
            assert (abs(part.places[i, j]) == abs(part.places[k, m])) == equal


def test_other_geometry_is_assembled_anew():
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("body", mass=2.0, inertia=(1.0, 1.5, 2.2))
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_a=(0.3, 0.0, 0.0), at_b=(-0.7, 0.1, 0.0)))
    problem = rbdae.formulate(system, "index-2")
    other = problem.with_parameters({"spherical-1.at_b.x": -0.9})
    assert np.abs(other.constraints(0.0, other.y0).position).max() < 1e-12
    assert other.states(0.0, other.y0)["body"].position[0] == pytest.approx(1.2)
    assert problem.states(0.0, problem.y0)["body"].position[0] == pytest.approx(1.0)
    assert other.with_parameters({"body.mass": 3.0}).parameters["spherical-1.at_b.x"] == -0.9


@pytest.mark.parametrize("mechanism", ["at rest", "turning"])
def test_masses_have_no_say_in_a_start_at_rest(mechanism):
    """Of bodies whose centre of mass is not their origin, too; where one of them turns it is searched again."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    for k in range(2):
        spin = (0.3, 0.0, 0.0) if mechanism == "turning" and k else None
        at = (float(k), 0.0, 0.0)
        name, inertia, center = f"link{k}", (0.01, 0.1, 0.1), (0.5, 0.0, 0.0)
        system.add_body(name, mass=1.2, inertia=inertia, center_of_mass=center, position=at, angular_velocity=spin)
    first, second = system.bodies
    system.add_joint(rbdae.joints.Spherical(system.ground, first))
    system.add_joint(rbdae.joints.Spherical(first, second, at_a=(1.0, 0.0, 0.0)))
    problem = rbdae.formulate(system, "index-0")
    other = problem.with_parameters({"link1.mass": 1.7})
    assert (other.assembly is problem.assembly) == (mechanism == "at rest")  # without a search
    alone = rbdae.formulate(other.system, "index-0")
    np.testing.assert_allclose(other.y0, alone.y0, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(other.yd0, alone.yd0, rtol=0.0, atol=1e-13 * np.abs(alone.yd0).max())


def searched(monkeypatch, problem, values):
    """The problem with other numbers, and whether a start was searched for."""
    calls = []
    with monkeypatch.context() as patch:
        known = inside.formulating.consistent_state
        patch.setattr(inside.formulating, "consistent_state", lambda *a, **k: (calls.append(1), known(*a, **k))[1])
        return problem.with_parameters(values), bool(calls)


@pytest.mark.parametrize("form", ["index-2", "index-0", "null-space"])
def test_masses_of_redundant_loops_take_no_search(form, monkeypatch):
    """Neither at rest, nor where joints and given velocities determine the others: the start is that of a model of its
    own, with the rows and floors that it has."""
    problem, name = rbdae.formulate(rbdae.models.bricard(), form, redundant="minimum-norm"), "rod2"
    other, search = searched(monkeypatch, problem, {f"{name}.mass": 1.23 * problem.parameters[f"{name}.mass"]})
    alone = rbdae.formulate(other.system, form, redundant="minimum-norm")
    assert not search
    moves = problem.layout.n_differential
    np.testing.assert_allclose(other.y0[:moves], alone.y0[:moves], rtol=0.0, atol=1e-13)
    for one, two in ((other.y0, alone.y0), (other.yd0, alone.yd0)):  # of a linear system, of a condition of some 1e3
        np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-12 * (1.0 + np.abs(two).max()))
    rows, wanted = other.selection.rows, alone.selection.rows
    assert rows.dropped == wanted.dropped and rows.dropped
    if wanted.pivot_floor is not None:
        np.testing.assert_allclose(rows.pivot_floor, wanted.pivot_floor, rtol=1e-9)
    assert str(other.assembly.redundant) == str(alone.assembly.redundant)
    # a mass by which the bar's radius of gyration is the model's length is searched for
    assert searched(monkeypatch, problem, {f"{name}.mass": 1e-4 * problem.parameters[f"{name}.mass"]})[1]


@pytest.mark.parametrize("form", ["index-0", "null-space"])
def test_masses_that_weigh_given_velocities_take_no_search(form, monkeypatch):
    """Those that contradict the joints change in the mass metric, on the plane of velocities that the joints allow."""
    chosen = {"redundant": "minimum-norm", "consistent": "project"}
    problem = rbdae.formulate(cases.turning_four_bar("redundant"), form, **chosen).with_parameters({"a.mass": 1.2})
    other, search = searched(monkeypatch, problem, {"a.mass": 1.7})
    assert not search
    alone = rbdae.formulate(other.system, form, **chosen)
    assert np.abs(other.y0 - problem.y0).max() > 1e-3
    for one, two in ((other.y0, alone.y0), (other.yd0, alone.yd0)):
        np.testing.assert_allclose(one, two, rtol=0.0, atol=1e-12 * (1.0 + np.abs(two).max()))
    assert str(other.assembly) == str(alone.assembly)
    rows, wanted = other.selection.rows, alone.selection.rows
    assert (rows.dropped, rows.strength, rows.closeness) == (wanted.dropped, wanted.strength, wanted.closeness)
    if wanted.pivot_floor is not None:
        np.testing.assert_allclose(rows.pivot_floor, wanted.pivot_floor, rtol=1e-9)


@pytest.mark.parametrize(
    "values, kind, words",
    [
        ({"first.masses": 1.0}, ValueError, r"unknown parameter 'first\.masses'.*first\.mass"),
        ({"first.mass": 0.0}, ValueError, r"first\.mass must be positive, got 0"),
        ({"first.mass": "2"}, TypeError, r"first\.mass"),
        ({"first.mass": np.nan}, ValueError, r"first\.mass"),
        ({"first.inertia.xx": 500.0}, ValueError, "body 'first': inertia .* triangle inequality"),
        ({"bushing-1.stiffness": -1.0}, ValueError, r"bushing-1\.stiffness must not be negative"),
        ([("first.mass", 1.0)], TypeError, "must be a mapping from name to number"),
    ],
)
def test_numbers_that_cannot_be_are_refused_by_name(values, kind, words):
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-0")
    with pytest.raises(kind, match=words):
        problem.with_parameters(values)
