"""The sizes of coordinates and velocities that a run does not know: less than these is drawn as zero."""

from __future__ import annotations

from typing import Any

import numpy as np

_LEAST, _MOST = 1e-12, 1e-6  # of the size of the mechanism, and of a radian


def motion_floors(run: Any) -> dict[str, float]:
    """The floors by unit: "m", "rad", "m/s", "rad/s", and "" for components of quaternions.

    They are the smaller tolerance of the run, in [1e-12, 1e-6], times the size of the mechanism, and times its largest
    velocity, which may be that of its turning. None of a run without a problem.
    """
    scales = getattr(getattr(run.problem, "model", None), "scales", None)
    if scales is None:
        return {}
    part = float(np.clip(min(run.rtol, np.min(run.atol)), _LEAST, _MOST))
    size = float(scales.length)
    speed = max((_largest(state.velocity) for state in run.states.values()), default=0.0)
    spin = max((_largest(state.angular_velocity) for state in run.states.values()), default=0.0)
    speed = max(speed, size * spin)
    return {"": part, "rad": part, "m": part * size, "m/s": part * speed, "rad/s": part * speed / size}


def _largest(values: Any) -> float:
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


__all__ = ["motion_floors"]
