"""Old names work for one release, and warn with the new one."""

from __future__ import annotations

import importlib
import pickle

import pytest

import rbdae

OLD = {
    "rbdae.drives": {"Angle": "PrescribedAngle", "Displacement": "PrescribedDisplacement"},
}
NAMES = [(module, old, new) for module, names in OLD.items() for old, new in names.items()]


@pytest.mark.parametrize("module, old, new", NAMES)
def test_an_old_name_is_the_new_object(module, old, new):
    home = importlib.import_module(module)
    with pytest.warns(DeprecationWarning, match=rf"{module}\.{old} is now {module}\.{new};") as caught:
        found = getattr(home, old)
    assert found is getattr(home, new)
    assert caught[0].filename == __file__


@pytest.mark.parametrize("module, old, new", NAMES)
def test_pickles_with_an_old_name_are_read(module, old, new):
    pickled = pickle.dumps(getattr(importlib.import_module(module), new), protocol=0)
    where = getattr(importlib.import_module(module), new).__module__
    written = pickled.replace(f"c{where}\n{new}".encode(), f"c{module}\n{old}".encode())
    assert written != pickled
    with pytest.warns(DeprecationWarning, match=new):
        assert pickle.loads(written) is getattr(importlib.import_module(module), new)


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
