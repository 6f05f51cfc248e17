"""Old names work for one release, and warn with the new one."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rbdae

OLD = {
    "rbdae.drives": {"Angle": "PrescribedAngle", "Displacement": "PrescribedDisplacement"},
    "rbdae.forces": {"Slide": "TranslationalSpringDamper", "Torsion": "TorsionalSpringDamper", "User": "UserForce"},
    "rbdae.forces.element": {"Law": "TimeFunction", "turner": "rbdae.forces.forms.torque"},
    "rbdae.formulations": {"GAUGED": "FORMULATIONS"},
    "rbdae.joints.base": {"ALL_TURNS": "ALL_ROTATIONS"},
}
NAMES = [(module, old, new) for module, names in OLD.items() for old, new in names.items()]


@pytest.mark.parametrize("module, old, new", NAMES)
def test_an_old_name_is_the_new_object(module, old, new):
    path = new if "." in new else f"{module}.{new}"
    with pytest.warns(DeprecationWarning, match=re.escape(f"{module}.{old} is now {path};")) as caught:
        found = getattr(importlib.import_module(module), old)
    assert found is pkgutil.resolve_name(path)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("module, old, new", [row for row in NAMES if row[2][0].isupper() and not row[2].isupper()])
def test_pickles_with_an_old_name_are_read(module, old, new):
    pickled = pickle.dumps(getattr(importlib.import_module(module), new), protocol=0)
    where = getattr(importlib.import_module(module), new).__module__
    written = pickled.replace(f"c{where}\n{new}".encode(), f"c{module}\n{old}".encode())
    assert written != pickled
    with pytest.warns(DeprecationWarning, match=new):
        assert pickle.loads(written) is getattr(importlib.import_module(module), new)


def test_a_pickled_force_of_the_release_before_is_read():
    system = rbdae.System()
    hub = rbdae.joints.Revolute(system.ground, system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0)))
    spring = rbdae.forces.TorsionalSpringDamper(hub, stiffness=2.0, torque=0.5)
    written = pickle.dumps(spring, protocol=0)
    written = written.replace(
        b"crbdae.forces.torsional_spring_damper\nTorsionalSpringDamper", b"crbdae.forces.torsion\nTorsion"
    ).replace(b"crbdae.forces.element\nTimeFunction", b"crbdae.forces.element\nLaw")
    sys.modules.pop("rbdae.forces.torsion", None)
    with pytest.warns(DeprecationWarning, match="is now") as caught:
        found = pickle.loads(written)
    assert len(caught) >= 2
    assert type(found) is rbdae.forces.TorsionalSpringDamper
    assert (found.stiffness, float(found.torque.constant[0])) == (2.0, 0.5)


@pytest.mark.parametrize("module", OLD)
def test_a_name_that_never_was_is_refused(module):
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'Gear'"):
        getattr(importlib.import_module(module), "Gear")  # noqa: B009 - mypy knows that there is none


def test_names_that_systems_choose_stay():
    system = rbdae.System()
    wheel = system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 1.0))
    hub = system.add_joint(rbdae.joints.Cylindrical(system.ground, wheel))
    law = (lambda t: t, lambda t: 1.0, lambda t: 0.0)
    assert system.add_joint(rbdae.drives.PrescribedAngle(hub, law)).name == "angle-1"
    assert system.add_joint(rbdae.drives.PrescribedDisplacement(hub, law)).name == "displacement-1"
    assert system.add_force(rbdae.forces.TorsionalSpringDamper(hub, stiffness=1.0)).name == "torsion-1"
    assert system.add_force(rbdae.forces.TranslationalSpringDamper(hub, stiffness=1.0)).name == "slide-1"
    assert system.add_force(rbdae.forces.UserForce(wheel, max, max)).name == "user-1"


@dataclass(frozen=True, slots=True, eq=False)
class OldForce(rbdae.forces.AbstractForce):
    """As another package may have written it for the release before."""

    body: Any
    name: str | None = None

    @property
    def bodies(self):
        return (self.body,)


def test_methods_with_old_names_are_called_and_overridden():
    system = rbdae.System()
    body = system.add_body("body", mass=1.0, inertia=(1.0, 1.0, 1.0))
    force = rbdae.forces.Force(body, (1.0, 0.0, 0.0))
    with pytest.warns(DeprecationWarning, match=r"Force\.pieces is now Force\.elements"):
        assert len(force.pieces()) == 1
    with pytest.warns(DeprecationWarning, match=r"Force\.kept is now Force\.bound"):
        assert force.kept("push", system.ground).name == "push"
    with pytest.warns(DeprecationWarning, match=r"Spherical\.freedoms is now Spherical\.velocity_rows"):
        assert len(rbdae.joints.Spherical(body, system.ground).freedoms()) == 2
    with pytest.warns(DeprecationWarning, match=r"OlderForce\.pieces is now OlderForce\.elements"):

        class OlderForce(OldForce):
            __slots__ = ()

            def pieces(self):
                return force.elements()

    assert len(OlderForce(body).elements()) == 1
    system.add_force(OlderForce(body))
    assert system.forces[0].name == "olderforce-1"


# ---------------------------------------------------------------- attributes


def _old(thing: Any, name: str, new: str) -> Any:
    with pytest.warns(DeprecationWarning, match=re.escape(f"{type(thing).__name__}.{name} is now ")) as caught:
        found = getattr(thing, name)
    assert caught[0].filename == __file__
    assert f".{new}; the next release drops the old name" in str(caught[0].message)
    return found


def test_problems_are_asked_by_old_names():
    problem = rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")
    t, y = problem.t0, problem.y0
    assert _old(problem, "dropped", "selection.rows.dropped") == problem.selection.rows.dropped != ()
    assert _old(problem, "guarded", "selection.rows.pivot_floor is not None") is True
    assert _old(problem, "has_gauges", "selection.velocities is not None") is False
    assert _old(problem, "joint_volumes", "log_determinant")(t, y) == problem.log_determinant(t, y)
    assert np.array_equal(_old(problem, "pivots", "interpretation.pivots")(t, y), problem.interpretation.pivots(t, y))
    assert _old(problem, "joint_row", "model.row_name")(7) == problem.model.row_name(7)
    loop = rbdae.formulate(rbdae.models.bricard(redundant=False), "null-space")
    assert _old(loop, "has_gauges", "selection.velocities is not None") is True


# (level, momenta, reduced, integral, baumgarte, extra, has_multipliers) of version 0.1
FLAGS = {
    "index-3": (0, False, False, False, False, (), True),
    "index-2": (1, False, False, False, False, (), True),
    "index-1": (2, False, False, False, False, (), True),
    "index-0": (2, False, False, False, False, (), False),
    "ggl": (2, False, False, False, False, (), True),
    "hiller-anantharaman": (2, False, False, True, False, (), True),
    "baumgarte": (2, False, False, False, True, (), True),
    "baumgarte-ode": (2, False, False, False, True, (), False),
    "overdetermined": (1, False, False, False, False, (0,), True),
    "overdetermined-1": (2, False, False, False, False, (0, 1), True),
    "projected-2": (1, False, False, False, False, (), True),
    "projected-1": (2, False, False, False, False, (), True),
    "projected-0": (2, False, False, False, False, (), False),
    "null-space": (2, False, True, False, False, (), False),
    "null-space-overdetermined": (2, False, True, False, False, (0,), False),
    "hamiltonian": (0, True, False, False, False, (), True),
    "hamiltonian-momentum": (1, True, False, False, False, (), True),
    "hamiltonian-differentiated": (2, True, False, False, False, (), True),
    "hamiltonian-eliminated": (2, True, False, False, False, (), False),
    "hamiltonian-ggl": (2, True, False, False, False, (), True),
    "hamiltonian-overdetermined": (1, True, False, False, False, (0,), True),
}


@pytest.mark.parametrize("name", rbdae.formulations.FORMULATIONS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_formulations_have_their_old_flags(name):
    form: Any = rbdae.formulations.FORMULATIONS[name]
    names = ("level", "momenta", "reduced", "integral", "baumgarte", "extra", "has_multipliers")
    assert tuple(getattr(form, flag) for flag in names) == FLAGS[name]


def test_formulations_and_charts_are_asked_by_old_names():
    form: Any = rbdae.formulations.FORMULATIONS["null-space"]
    assert _old(form, "rhs", "kernels.rates") is form.kernels.rates
    assert _old(form, "rhs_jacobian", "kernels.rhs_jacobian") is form.kernels.rhs_jacobian
    assert _old(form, "residual", "kernels.residual") is form.kernels.residual
    assert _old(form, "jacobian", "kernels.jacobian") is form.kernels.jacobian
    assert _old(form, "reduced", 'unknowns == "quasi-velocities"') is True
    other: Any = rbdae.formulations.FORMULATIONS["index-3"]
    assert _old(other, "rhs_jacobian", "kernels.rhs_jacobian") is None
    for chart in rbdae.rotations.CHARTS.values():
        assert _old(chart, "kind", "coordinate_velocities") == chart.coordinate_velocities
