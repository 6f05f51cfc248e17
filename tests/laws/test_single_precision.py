"""Single precision is precise enough for a rotation, and noise of its size in double precision is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdae_papers import kinematics


def test_single_precision_is_precise_enough_for_a_rotation(rng):
    matrices = Rotation.from_rotvec(rng.normal(size=(50, 3))).as_matrix()
    single = matrices.astype(np.float32)
    for function in (kinematics.half_rotation, kinematics.logarithm):
        found, right = function(single), function(matrices)
        if isinstance(found, Rotation):
            found, right = found.as_matrix(), right.as_matrix()
            assert np.abs(np.swapaxes(found, -1, -2) @ found - np.eye(3)).max() < 1e-14
        assert np.abs(found - right).max() < 1e-6
    with pytest.raises(ValueError, match="not orthonormal"):
        kinematics.half_rotation(single.astype(float) + 1e-7)
    with pytest.raises(ValueError, match="not orthonormal"):
        kinematics.half_rotation(single * np.float32(1.00001))
