"""Parameters of functions that are handed away: at other numbers they are the functions of the problem with these."""

from __future__ import annotations

from functools import partial

import cases
import force_cases
import inside
import numpy as np
import pytest

import rbdae
from rbdae.handover.recorded import Handed


def _values(handed, name, y, yd, p):
    """The function at t = 0.3 and c = 1.5, where its guards hold."""
    function = handed.function(name)
    compute = inside.InPython(function.graph, [*function.guards, *function.outputs])
    found = compute({"t": [0.3], "c": [1.5], "y": y, "yd": yd, "u": [*handed.inputs.values()], "p": p})
    n, out = len(function.guards), np.zeros(function.shape)
    assert [bool(x) for x in found[:n]] == [*function.guards.values()]
    out[... if function.pattern is None else (function.pattern.rows, function.pattern.columns)] = found[n:]
    return out


MODELS = {name: getattr(rbdae.models, name) for name in ("heavy_top", "linked_bodies", "planar_slider_crank")}
MODELS |= {kind: partial(force_cases.system_of, kind) for kind in ("torsion", "dry")}
FORMS = [("index-3", "quaternion"), ("index-0", "rotation-vector"), ("null-space", "euler-313")]


@pytest.mark.parametrize("form, rotation", FORMS)
@pytest.mark.parametrize("model", MODELS)
def test_functions_follow_all_their_parameters(model, form, rotation):
    """Those of 0 and of 1 as well; a kept derivative of the same kernel without symbols is another one."""
    reference = "space" if rotation == "quaternion" else "start"
    problem = cases.formulated(MODELS[model](), form, rotation=rotation, reference=reference, code="plain")
    Handed(problem).function("jacobian")
    handed, rng = Handed(problem, parameters=True), np.random.default_rng(3)
    new = {name: x * rng.uniform(1.0, 1.02) if x else rng.uniform(1e-5, 3e-5) for name, x in handed.parameters.items()}
    assert {0.0, 1.0} & {*handed.parameters.values()}
    other = problem.with_parameters(new).workspace.with_selection(problem.workspace.selection)
    y, yd = problem.y0 + 0.02 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    calls = [("residual", (0.3, y, yd)), ("jacobian", (0.3, y, yd, 1.5)), ("rhs", (0.3, y)), ("rhs_jacobian", (0.3, y))]
    for name, given in calls[: 4 if problem.kind == "ode" else 2]:
        wanted = np.zeros(handed.function(name).shape)
        inside.kernel_in_python(other, problem.callbacks._kernel(name))(*given, wanted)
        found = _values(handed, name, y, yd, [*new.values()])
        assert np.max(np.abs(found - wanted)) <= 1e-12 * np.max(np.abs(wanted)), name


def test_names_are_those_of_the_problem_and_structure_is_none():
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-3")
    assert [*Handed(problem, ["gravity.z", "gravity.x"]).parameters] == ["gravity.z", "gravity.x"]
    given = {"gravity.w": "unknown parameter", "bushing-1.rotational_damping.xx": "0 decides on structure"}
    for name, why in {**given, "bushing-1.damping": "leave one of them out"}.items():
        with pytest.raises(ValueError, match=why):
            Handed(problem, ["bushing-1.damping.xx", name])
