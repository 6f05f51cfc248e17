"""The nearest names that messages give for an unknown one."""

from __future__ import annotations

import pytest
from inside import nearest, unknown

SOLVERS = ["scipy:RK45", "scipy:RK23", "scipy:DOP853", "sksundae:ida", "scikits.odes:ida"]


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("SCIPY:rk45", "did you mean 'scipy:RK45'?"),
        ("sundials:ida", "did you mean 'sksundae:ida' or 'scikits.odes:ida'"),
        ("scipy:RK54", "did you mean 'scipy:RK45'"),
        (3, ""),
        ("!", ""),
    ],
)
def test_the_nearest_names(name, wanted):
    found = nearest(name, SOLVERS)
    assert found.startswith(wanted) if wanted else found == ""


def test_the_error_for_an_unknown_name():
    assert str(unknown("form", "indx-0", ["index-0", "ggl"])) == (
        "unknown form 'indx-0'; did you mean 'index-0'? There are index-0, ggl"
    )
    assert str(unknown("form", "xyz", ["index-0", "ggl"])) == "unknown form 'xyz'; there are index-0, ggl"
