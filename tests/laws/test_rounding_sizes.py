"""What `rounding` measures, where it is known: sums that cancel, systems near singular ones, exact numbers."""

from __future__ import annotations

import numpy as np
import pytest
from rounding import Rounded, carried, opened


@pytest.mark.parametrize("big", [1.1, 1e4, 1e8])
def test_terms_that_cancel_are_in_the_size(big):
    x, y = opened(np.array([big, 1.5]))
    total = (x + y) - x
    assert float(total.values[0]) == pytest.approx(1.5)
    # both operations are off: that of x + y by its own size
    assert carried(total) == pytest.approx(np.hypot(big + 1.5, 1.5), rel=0.4)


def test_a_condition_number_is_in_the_size():
    """(x y - 1) z = 1 with x y near 1, where the product is off."""
    x = opened(np.array([1.0 + 2.0**-13]))[0]
    z = 1.0 / (x * x - 1.0)
    assert carried(z) == pytest.approx(float(z.values[0]) ** 2, rel=0.4)


def test_what_is_exact_stays_exact():
    x = opened(np.array([3.7]))[0]
    for same in (x * 1.0, 1.0 * x, x + 0.0, 0.0 + x, x - 0.0, x / 1.0, +x, abs(x)):
        assert isinstance(same, Rounded) and carried(same) == 0.0
    assert 0.0 * x == 0.0 and x * 0.0 == 0.0


def test_functions_carry_their_slope():
    x = opened(np.array([1.5707]))[0] * 3.0  # tan' is large there
    assert carried(np.tan(x / 3.0)) > 1e7
    assert float(np.floor(x).values[3]) == 4.0
