"""Energy, quantities, reactions and projection of C files, beside those of the problem."""

from __future__ import annotations

from ctypes import c_double, c_int, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae.handover.c_file import source
from rbdae.handover.recorded import Handed
from tests.handover.test_c import built, called


def driven_four_bar(**options: Any) -> rbdae.System:
    """A motor at a four-bar, and a body with a pivot above the origin."""
    system = rbdae.models.n_four_bar(1, **options)
    system.add_force(rbdae.forces.Motor(system.joints[0], torque=lambda t, angle, rate: 8.0 - rate, name="motor"))
    system.add_body("top", mass=2.0, inertia=(1.0, 1.0, 1.0), pivot=(0.0, 1.0, 0.0))
    return system


CASES = [
    (rbdae.models.heavy_top, "index-3", "quaternion"),
    (rbdae.models.linked_bodies, "index-1", "directors"),
    (rbdae.models.linked_bodies, "hamiltonian", "directors"),
    (rbdae.models.linked_bodies, "null-space", "quaternion"),
    (driven_four_bar, "index-0", "quaternion"),
]


@pytest.mark.parametrize(("model", "form", "rotation"), CASES)
def test_readings(model: Any, form: str, rotation: str, tmp_path: Path) -> None:
    p = rbdae.formulate(model(), form, rotation=rotation)
    handed, path, rng = Handed(p), tmp_path / "m.c", np.random.default_rng(7)
    path.write_text(source(handed, "m", ["energy", "project", "quantities"]))
    library, t, y = built(path, "-O1"), 0.3, p.y0 + 1e-2 * rng.standard_normal(p.n)
    energy, g, labels = p.energy(t, y), p.constraints(t, y), handed.quantities()[0]
    found = ((label, p.quantity(label.rstrip(".123"), t, y)) for label in labels if " on " not in label)
    wanted = {label: x[int(label[-1]) - 1] if np.ndim(x) else x for label, x in found}
    for joint, sides in p.reactions(t, y).items():
        for body, load in sides.items():
            for what, of in (("force", load.force), ("torque", load.torque)):
                wanted |= {f"{joint} on {body}.{what}.{x}": of[k] for k, x in enumerate("xyz")}
    assert list(wanted) == labels
    numbers = [energy.kinetic, energy.potential], [*g.position, *g.velocity], [*wanted.values()]
    for name, of in zip(("energy", "constraints", "quantities"), numbers, strict=True):
        assert called(library[f"m_{name}"], len(of), t, y) == pytest.approx(of, abs=1e-12 * np.abs(of).max(initial=0.0))
    z, u = y.copy(), np.zeros(1)
    given = (c_double(t), *(x.ctypes.data_as(c_void_p) for x in (z, u, u)), c_double(1e-14))
    assert library.m_project(*given, c_int(10)) == 0
    assert np.abs(z - p.project(t, y)).max() <= 1e-10


def test_what_is_left_out() -> None:
    handed = Handed(rbdae.formulate(driven_four_bar(redundant=True), "index-1", redundant="minimum-norm"))
    assert not any(" on " in label or "accel" in label for label in handed.quantities()[0])
    with pytest.raises(ValueError, match="least norms"):
        handed.quantities([f"{handed.problem.system.joints[0].name}.acceleration"])
